//! Draws a scene without a display.

use std::sync::Arc;

use iced_core::renderer::Style;
use iced_core::{Color, Pixels, Rectangle, Size, mouse};
use iced_graphics::Viewport;
use iced_runtime::UserInterface;
use iced_runtime::user_interface::Cache;
use rookery_view::scene::Scene;
use tiny_skia::{Mask, PixmapMut};

use crate::cost::{self, Cost};
use crate::fonts;
use crate::painter::PaintError;
use crate::shades::color;
use crate::tree::{Renderer, view};

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
pub(crate) struct Studio {
    renderer: Renderer,
    cache: Cache,
    /// What the renderer draws on, four bytes a pixel, blue first.
    canvas: Vec<u8>,
    mask: Option<Mask>,
    /// The same without transparency, three bytes a pixel, red first.
    opaque: Vec<u8>,
}

impl Studio {
    pub(crate) fn new() -> Studio {
        fonts::load();
        Studio {
            renderer: Renderer::new(fonts::SANS, Pixels(13.0)),
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
        scale: u32,
    ) -> Result<Picture, PaintError> {
        let window = scene.window.bounded();
        let logical = Size::new(window.width, window.height);
        let size = Size::new(window.width as u32 * scale, window.height as u32 * scale);
        // What a picture that failed had cost is not this one's.
        cost::take();
        let root = cost::viewing(|| view::<(), ()>(Arc::clone(scene)));
        let cache = std::mem::take(&mut self.cache);
        let mut interface = UserInterface::build(root, logical, cache, &mut self.renderer);
        let style = Style { text_color: Color::WHITE };
        interface.draw(&mut self.renderer, &(), &style, mouse::Cursor::Unavailable);
        self.cache = interface.into_cache();
        self.render(logical, size, scale, color(scene.theme.palette.background))?;
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
        scale: u32,
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
        let viewport = Viewport::with_physical_size(size, scale as f32);
        let all = [Rectangle::with_size(logical)];
        self.renderer.draw(&mut canvas, &mut mask, &viewport, &all, background);
        self.mask = Some(mask);
        self.opaque.resize(pixels * 3, 0);
        for (rgb, bgra) in self.opaque.chunks_exact_mut(3).zip(self.canvas.chunks_exact(4)) {
            rgb.copy_from_slice(&[bgra[2], bgra[1], bgra[0]]);
        }
        Ok(())
    }
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
