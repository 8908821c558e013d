//! Where a window opens: where it was, as far as there is a screen there now.

use crate::Place;

/// A screen, in physical pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    pub(crate) at: (i32, i32),
    pub(crate) size: (u32, u32),
    /// Pixels of a point.
    pub(crate) scale: f64,
}

/// What of a title bar has to be on a screen so that it can be taken.
const HANDLE: (i32, i32) = (40, 10);

impl Screen {
    fn has(&self, at: (i32, i32)) -> bool {
        let within = |at: i32, from: i32, size: u32| {
            (i64::from(from)..i64::from(from) + i64::from(size)).contains(&i64::from(at))
        };
        within(at.0 + HANDLE.0, self.at.0, self.size.0)
            && within(at.1 + HANDLE.1, self.at.1, self.size.1)
    }
}

/// The same place, no larger than its screen and within it. Of one that is on no screen only the size is left.
pub(crate) fn fit(place: Place, screens: &[Screen]) -> Place {
    let at = place.at.filter(|at| screens.iter().any(|screen| screen.has(*at)));
    let own = at.and_then(|at| screens.iter().find(|screen| screen.has(at)));
    let Some(screen) = own.or(screens.first()) else { return place };
    let most = |pixels: u32| (f64::from(pixels) / screen.scale) as f32;
    let (width, height) = (most(screen.size.0), most(screen.size.1));
    let size = place.size.map(|size| (size.0.min(width), size.1.min(height)));
    let pixels = |points: f32| (f64::from(points) * screen.scale) as i32;
    let inside = |at: i32, from: i32, room: u32, size: i32| {
        let last = from + i32::try_from(room).unwrap_or(i32::MAX) - size;
        at.min(last).max(from)
    };
    let at = at.map(|(x, y)| match size {
        Some((width, height)) => (
            inside(x, screen.at.0, screen.size.0, pixels(width)),
            inside(y, screen.at.1, screen.size.1, pixels(height)),
        ),
        None => (x, y),
    });
    Place { size, at, ..place }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(size: (f32, f32), at: (i32, i32)) -> Place {
        Place { size: Some(size), at: Some(at), is_maximized: false }
    }

    #[test]
    fn a_window_opens_where_there_is_a_screen_and_no_larger_than_that() {
        let small = Screen { at: (0, 0), size: (1500, 950), scale: 1.0 };
        let right = Screen { at: (1500, 0), size: (3840, 2160), scale: 2.0 };
        let kept = place((1100.0, 720.0), (200, 100));
        assert_eq!(fit(kept, &[small, right]), kept);
        assert_eq!(fit(kept, &[]), kept, "nothing is known of screens");
        let beside = place((1900.0, 1000.0), (1600, 50));
        assert_eq!(fit(beside, &[small, right]), place((1900.0, 1000.0), (1540, 50)));
        // The large screen is gone.
        let left = fit(beside, &[small]);
        assert_eq!((left.size, left.at), (Some((1500.0, 950.0)), None));
        // Points have become larger.
        let dense = Screen { scale: 2.0, ..small };
        assert_eq!(fit(kept, &[dense]), place((750.0, 475.0), (0, 0)));
    }
}
