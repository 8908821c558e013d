//! What is on the screen: the pixels of the window, of which only those are drawn anew that changed.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::Arc;

use iced_core::{Color, Rectangle, Size};
use iced_graphics::{Viewport, damage};
use iced_tiny_skia::Layer;
use rookery_paint::Software;
use softbuffer::{Context, Rect, SoftBufferError, Surface};
use tiny_skia::{Mask, PixmapMut};
use winit::window::Window;

/// Pictures that are remembered to find out what changed since; a surface has no more buffers.
const MOST_BUFFERS: usize = 4;

/// The pixels of one window.
pub(crate) struct Canvas {
    surface: Surface<Arc<Window>, Arc<Window>>,
    size: Size<u32>,
    mask: Mask,
    /// What was drawn, newest first.
    drawn: VecDeque<Vec<Layer>>,
    ground: Option<Color>,
    scale: f64,
}

/// Why nothing can be drawn.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CanvasError {
    /// The window system refuses.
    #[error("cannot draw into the window: {0}")]
    Surface(#[from] SoftBufferError),
    /// The window is too large.
    #[error("the window is too large to draw")]
    Size,
}

impl Canvas {
    pub(crate) fn new(window: &Arc<Window>) -> Result<Canvas, CanvasError> {
        let context = Context::new(Arc::clone(window))?;
        let surface = Surface::new(&context, Arc::clone(window))?;
        Ok(Canvas {
            surface,
            size: Size::new(0, 0),
            mask: Mask::new(1, 1).ok_or(CanvasError::Size)?,
            drawn: VecDeque::new(),
            ground: None,
            scale: 0.0,
        })
    }

    /// Makes it as large as the window.
    fn fit(&mut self, size: Size<u32>) -> Result<(), CanvasError> {
        if self.size == size {
            return Ok(());
        }
        let (Some(width), Some(height)) =
            (NonZeroU32::new(size.width), NonZeroU32::new(size.height))
        else {
            return Err(CanvasError::Size);
        };
        self.surface.resize(width, height)?;
        self.mask = Mask::new(size.width, size.height).ok_or(CanvasError::Size)?;
        self.drawn.clear();
        self.size = size;
        Ok(())
    }

    /// Shows what the renderer was told to draw: what changed since, or all of it if the window system
    /// may have lost what was there.
    pub(crate) fn present(
        &mut self,
        renderer: &mut Software,
        viewport: &Viewport,
        ground: Color,
        is_whole: bool,
        before: impl FnOnce(),
    ) -> Result<(), CanvasError> {
        self.fit(viewport.physical_size())?;
        let scale = f64::from(viewport.scale_factor());
        if self.ground.replace(ground) != Some(ground) || self.scale != scale {
            self.scale = scale;
            self.drawn.clear();
        }
        let all = Rectangle::with_size(viewport.logical_size());
        let mut buffer = self.surface.buffer_mut()?;
        let age = usize::from(buffer.age());
        let before_this = age.checked_sub(1).and_then(|index| self.drawn.get(index));
        let changed = match before_this {
            Some(old) => {
                let bounds = |layer: &Layer| vec![layer.bounds];
                let changed = damage::diff(old, renderer.layers(), bounds, Layer::damage);
                damage::group(changed, all)
            }
            None => vec![all],
        };
        if !changed.is_empty() {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut buffer);
            let mut pixels = PixmapMut::from_bytes(bytes, self.size.width, self.size.height)
                .ok_or(CanvasError::Size)?;
            renderer.draw(&mut pixels, &mut self.mask, viewport, &changed, ground);
        }
        let rects = rects(&changed, is_whole, viewport.scale_factor(), self.size);
        before();
        let presented = buffer.present_with_damage(&rects);
        match presented {
            Ok(()) => {
                self.drawn.push_front(renderer.layers().to_vec());
                self.drawn.truncate(MOST_BUFFERS);
                Ok(())
            }
            Err(error) => {
                // What is on the screen is not known any more.
                self.drawn.clear();
                Err(error.into())
            }
        }
    }
}

/// What the window system is to show anew; never nothing, since it waits for that before it asks again.
fn rects(changed: &[Rectangle], is_whole: bool, scale: f32, size: Size<u32>) -> Vec<Rect> {
    let all = Rectangle { x: 0.0, y: 0.0, width: size.width as f32, height: size.height as f32 };
    if is_whole {
        return in_pixels(all, size).into_iter().collect();
    }
    let rects: Vec<Rect> =
        changed.iter().filter_map(|rect| in_pixels(*rect * scale, size)).collect();
    if !rects.is_empty() {
        return rects;
    }
    let corner = NonZeroU32::MIN;
    vec![Rect { x: 0, y: 0, width: corner, height: corner }]
}

/// Whole pixels that a rectangle touches, within the window.
fn in_pixels(rect: Rectangle, size: Size<u32>) -> Option<Rect> {
    let left = rect.x.floor().max(0.0) as u32;
    let top = rect.y.floor().max(0.0) as u32;
    let right = ((rect.x + rect.width).ceil().max(0.0) as u32).min(size.width);
    let bottom = ((rect.y + rect.height).ceil().max(0.0) as u32).min(size.height);
    Some(Rect {
        x: left,
        y: top,
        width: NonZeroU32::new(right.checked_sub(left)?)?,
        height: NonZeroU32::new(bottom.checked_sub(top)?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_whole_and_within_the_window() {
        let size = Size::new(100, 50);
        let rect = |x, y, width, height| Rectangle { x, y, width, height };
        let at = |rect: Rectangle| {
            in_pixels(rect, size).map(|it| (it.x, it.y, it.width.get(), it.height.get()))
        };
        assert_eq!(at(rect(1.5, 2.0, 3.0, 4.5)), Some((1, 2, 4, 5)));
        assert_eq!(at(rect(-5.0, 40.0, 200.0, 40.0)), Some((0, 40, 100, 10)));
        assert_eq!(at(rect(120.0, 0.0, 5.0, 5.0)), None);
    }

    #[test]
    fn all_is_shown_anew_when_the_window_system_asks_for_it() {
        let size = Size::new(100, 50);
        let one = Rectangle { x: 1.0, y: 2.0, width: 3.0, height: 4.0 };
        let sides = |changed: &[Rectangle], is_whole| -> Vec<(u32, u32)> {
            let rects = rects(changed, is_whole, 2.0, size);
            rects.iter().map(|it| (it.width.get(), it.height.get())).collect()
        };
        assert_eq!(sides(&[one], false), [(6, 8)]);
        assert_eq!(sides(&[], false), [(1, 1)]);
        for changed in [&[][..], &[one]] {
            assert_eq!(sides(changed, true), [(100, 50)]);
        }
    }
}
