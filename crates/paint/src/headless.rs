//! Draws a scene without a display.

use std::sync::Arc;

use iced_core::renderer::Style;
use iced_core::{Color, Rectangle, Size, mouse};
use iced_graphics::Viewport;
use iced_runtime::UserInterface;
use iced_runtime::user_interface::Cache;
use rookery_view::scene::Scene;
use tiny_skia::{Mask, PixmapMut};

use crate::cost::{self, Cost};
use crate::painter::PaintError;
use crate::renderer::{Renderer, renderer, software};
use crate::tree::{background, view};

/// A finished picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The encoded image.
    pub png: Vec<u8>,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// What it took to draw it.
    pub cost: Cost,
}

/// Bytes of canvas kept from one picture to the next; a larger canvas is given back.
const MAX_KEPT: usize = 32 << 20;

/// A renderer with what it remembers from one picture to the next.
pub(crate) struct HeadlessRenderer {
    renderer: Renderer,
    cache: Cache,
    /// What the renderer draws on, four bytes a pixel, blue first.
    canvas: Vec<u8>,
    mask: Option<Mask>,
    /// The same without transparency, three bytes a pixel, red first.
    opaque: Vec<u8>,
}

impl HeadlessRenderer {
    pub(crate) fn new() -> HeadlessRenderer {
        HeadlessRenderer {
            renderer: renderer(),
            cache: Cache::new(),
            canvas: Vec::new(),
            mask: None,
            opaque: Vec::new(),
        }
    }

    /// Draws and encodes a scene.
    pub(crate) fn picture(
        &mut self,
        scene: &Arc<Scene>,
        scale: f32,
    ) -> Result<Picture, PaintError> {
        let scene = &at_scale(scene, scale);
        let window = scene.window.bounded();
        let logical = Size::new(window.width, window.height);
        let pixels = |points: f32| (points * scale).round() as u32;
        let size = Size::new(pixels(window.width), pixels(window.height));
        // What a picture that failed had cost is not this one's.
        cost::take();
        let root = cost::viewing(|| view::<(), ()>(scene));
        let cache = std::mem::take(&mut self.cache);
        let mut interface = UserInterface::build(root, logical, cache, &mut self.renderer);
        let style = Style { text_color: Color::WHITE };
        interface.draw(&mut self.renderer, &(), &style, mouse::Cursor::Unavailable);
        self.cache = interface.into_cache();
        self.render(logical, size, scale, background(scene))?;
        let png = encode(&self.opaque, size);
        if self.canvas.len() > MAX_KEPT {
            (self.canvas, self.mask, self.opaque) = (Vec::new(), None, Vec::new());
        }
        let png = png.map_err(|error| PaintError::Encoding(error.to_string()))?;
        Ok(Picture { png, width: size.width, height: size.height, cost: cost::take() })
    }

    /// Turns what was drawn into pixels.
    ///
    /// The renderer has a function for this, but it takes and returns fresh memory each time, which
    /// costs more than drawing.
    fn render(
        &mut self,
        logical: Size,
        size: Size<u32>,
        scale: f32,
        background: Color,
    ) -> Result<(), PaintError> {
        let too_large = || PaintError::Drawing("the picture is too large".to_owned());
        let pixels = size.width as usize * size.height as usize;
        self.canvas.resize(pixels * 4, 0);
        let kept = self.mask.take();
        let fits = |mask: &Mask| (mask.width(), mask.height()) == (size.width, size.height);
        let fresh = || Mask::new(size.width, size.height);
        let mut mask = kept.filter(fits).or_else(fresh).ok_or_else(too_large)?;
        let mut canvas = PixmapMut::from_bytes(&mut self.canvas, size.width, size.height)
            .ok_or_else(too_large)?;
        let viewport = Viewport::with_physical_size(size, scale);
        let all = [Rectangle::with_size(logical)];
        let renderer = software(&mut self.renderer)
            .ok_or_else(|| PaintError::Drawing("the renderer is the GPU's".to_owned()))?;
        renderer.draw(&mut canvas, &mut mask, &viewport, &all, background);
        self.mask = Some(mask);
        self.opaque.resize(pixels * 3, 0);
        for (rgb, bgra) in self.opaque.chunks_exact_mut(3).zip(self.canvas.chunks_exact(4)) {
            rgb.copy_from_slice(&[bgra[2], bgra[1], bgra[0]]);
        }
        Ok(())
    }
}

/// The scene for a scale: where lines lie depends on it.
fn at_scale(scene: &Arc<Scene>, scale: f32) -> Arc<Scene> {
    if scene.scale == scale {
        return Arc::clone(scene);
    }
    Arc::new(Scene { scale, ..Scene::clone(scene) })
}

fn encode(opaque: &[u8], size: Size<u32>) -> Result<Vec<u8>, png::EncodingError> {
    let mut out = Vec::with_capacity(opaque.len() / 8);
    let mut encoder = png::Encoder::new(&mut out, size.width, size.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(opaque)?;
    writer.finish()?;
    Ok(out)
}
