//! What trees are drawn with: the processor, or with the feature `gpu` either that or the GPU.

use iced_core::Pixels;

use crate::fonts;

/// Draws with the processor.
pub type Software = iced_tiny_skia::Renderer;

/// The renderer the tree is drawn with.
#[cfg(not(feature = "gpu"))]
pub type Renderer = Software;
/// The renderer the tree is drawn with.
#[cfg(feature = "gpu")]
pub type Renderer = iced_renderer::fallback::Renderer<iced_wgpu::Renderer, Software>;

/// The size of text that has none of its own.
pub(crate) const TEXT: Pixels = Pixels(13.0);

/// One that draws with the processor, with the fonts that the tree needs.
pub fn renderer() -> Renderer {
    fonts::load();
    let software = Software::new(fonts::SANS, TEXT);
    #[cfg(feature = "gpu")]
    let software = Renderer::Secondary(software);
    software
}

/// The one that draws with the processor, if it is that.
#[cfg(not(feature = "gpu"))]
pub fn software(renderer: &mut Renderer) -> Option<&mut Software> {
    Some(renderer)
}

/// The one that draws with the processor, if it is that.
#[cfg(feature = "gpu")]
pub fn software(renderer: &mut Renderer) -> Option<&mut Software> {
    match renderer {
        Renderer::Secondary(software) => Some(software),
        Renderer::Primary(_) => None,
    }
}
