//! How the engine of a terminal is set up.

use rookery_model::Size;
use rookery_term::{Palette, ScreenConfig, ScreenSize};

/// How an engine is set up.
#[derive(Clone)]
pub(crate) struct EngineSettings {
    pub(crate) size: ScreenSize,
    pub(crate) scrollback: usize,
    pub(crate) transcript_chars: usize,
    pub(crate) palette: Palette,
    pub(crate) wants_raw: bool,
}

impl EngineSettings {
    pub(super) fn screen_config(&self) -> ScreenConfig {
        ScreenConfig { size: self.size, scrollback: self.scrollback, palette: self.palette.clone() }
    }
}

pub(crate) fn screen_size(size: Size) -> ScreenSize {
    ScreenSize {
        rows: size.rows(),
        cols: size.cols(),
        pixel_width: size.pixel_width,
        pixel_height: size.pixel_height,
    }
}
