//! Where the parts lie on a screen of a size.

use rookery_face::app::{App, Cx};
use rookery_face::cells::Rect;

/// Below this a face is one line.
const TINY: (u16, u16) = (20, 6);
/// Below this it has neither sidebar nor strip.
const SMALL: (u16, u16) = (40, 10);
/// Columns below which the sidebar is a rail of moods.
const RAIL: u16 = 70;
/// Rows below which there is no strip.
const NO_STRIP: u16 = 8;
/// Columns below which a group shows one pane at a time.
const SINGLE: u16 = 60;
/// Columns of the sidebar: usual, fewest, most.
const SIDEBAR: (u16, u16, u16) = (22, 16, 40);

/// Where the parts lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The sidebar, or the rail; may be empty.
    pub sidebar: Rect,
    /// The strip; may be empty.
    pub strip: Rect,
    /// Panes or a page.
    pub panes: Rect,
    /// The status line.
    pub status: Rect,
    /// Only one line fits.
    pub is_tiny: bool,
    /// One pane at a time.
    pub is_single: bool,
    /// The sidebar lies over the rest.
    pub is_over: bool,
}

impl Layout {
    /// The layout for a state.
    pub fn new(app: &App, cx: &Cx<'_>) -> Layout {
        let sidebar = cx.picture.scene().sidebar.as_ref();
        let collapsed = sidebar.is_some_and(|sidebar| sidebar.collapsed);
        let told = sidebar.map_or(0.0, |sidebar| sidebar.width);
        // The daemon may know a width in columns; a window's in points is of no use here.
        let told = if (16.0..=40.0).contains(&told) { told as u16 } else { SIDEBAR.0 };
        let width = app.pages.sidebar_width.unwrap_or(told).clamp(SIDEBAR.1, SIDEBAR.2);
        if app.around.only_inbox {
            return Layout::bare(app.size);
        }
        let layout =
            Layout::of(app.size, width, collapsed && app.sidebar.is_none(), app.around.plain);
        match app.sidebar {
            Some(_) => layout.with_sidebar(width),
            None => layout,
        }
    }

    /// While the keyboard is in the sidebar it is shown: over the panes, if it has no room of its own.
    fn with_sidebar(mut self, width: u16) -> Layout {
        if self.sidebar.cols <= 1 && !self.is_tiny {
            let rows = self.strip.rows + self.panes.rows;
            let cols = width.min(self.sidebar.cols + self.panes.cols);
            self.sidebar = Rect::new(0, 0, cols, rows);
            self.is_over = true;
        }
        self
    }

    /// A page and the status line, and nothing else.
    pub fn bare((cols, rows): (u16, u16)) -> Layout {
        let (panes, status) = Rect::new(0, 0, cols, rows).split_bottom(1);
        let is_tiny = cols < TINY.0 || rows < TINY.1;
        Layout { panes, status, is_tiny, is_single: true, ..Layout::default() }
    }

    /// The layout for a size.
    pub fn of((cols, rows): (u16, u16), width: u16, collapsed: bool, plain: bool) -> Layout {
        let all = Rect::new(0, 0, cols, rows);
        let is_single = cols < SINGLE || rows < SMALL.1 || plain;
        if cols < TINY.0 || rows < TINY.1 {
            return Layout { panes: all, is_tiny: true, is_single, ..Layout::default() };
        }
        let (above, status) = all.split_bottom(1);
        if cols < SMALL.0 || rows < SMALL.1 {
            return Layout { panes: above, status, is_single, ..Layout::default() };
        }
        let width = match (collapsed || plain, cols < RAIL) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => width.min(cols / 2),
        };
        let (sidebar, rest) = above.split_left(width);
        let strip_rows = u16::from(rows >= NO_STRIP);
        let (strip, panes) = rest.split_top(strip_rows);
        Layout { sidebar, strip, panes, status, is_tiny: false, is_single, is_over: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_screen() {
        for (cols, rows) in [(100, 30), (80, 24), (40, 12), (39, 24), (20, 6), (300, 100), (69, 9)]
        {
            let layout = Layout::of((cols, rows), 22, false, false);
            let area = |rect: Rect| u32::from(rect.cols) * u32::from(rect.rows);
            let parts = [layout.sidebar, layout.strip, layout.panes, layout.status];
            let sum: u32 = parts.into_iter().map(area).sum();
            assert_eq!(sum, u32::from(cols) * u32::from(rows), "{cols}x{rows}");
        }
    }

    #[test]
    fn what_does_not_fit_is_left_off() {
        assert_eq!(Layout::of((100, 30), 22, false, false).panes, Rect::new(22, 1, 78, 28));
        assert_eq!(Layout::of((60, 30), 22, false, false).panes, Rect::new(1, 1, 59, 28));
        assert_eq!(Layout::of((39, 30), 22, false, false).panes, Rect::new(0, 0, 39, 29));
        assert_eq!(Layout::of((80, 24), 22, true, false).panes, Rect::new(0, 1, 80, 22));
        assert!(Layout::of((19, 30), 22, false, false).is_tiny);
        assert!(!Layout::of((20, 6), 22, false, false).is_tiny);
        assert!(Layout::of((59, 30), 22, false, false).is_single);
        assert!(Layout::of((100, 9), 22, false, false).is_single);
    }
}
