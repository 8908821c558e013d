//! Who draws: the dialect asks for pictures and does not know how they are made.

use std::{future::Future, pin::Pin, sync::Arc};

use rookery_view::scene::Scene;

/// A picture of a scene.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The file, as PNG.
    pub png: Vec<u8>,
    /// Its width in pixels.
    pub width: u32,
    /// Its height in pixels.
    pub height: u32,
}

/// What drawing has cost since the counters were last reset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DrawCounts {
    /// Pictures drawn.
    pub draws: u64,
    /// Time that took, in nanoseconds.
    pub draw_nanos: u64,
    /// Pieces of text put on them.
    pub texts: u64,
    /// View trees built.
    pub views: u64,
    /// Time that took, in nanoseconds.
    pub view_nanos: u64,
    /// Texts that were cut anew to the room they have.
    pub elides: u64,
    /// Time that took, in nanoseconds.
    pub elide_nanos: u64,
}

/// A picture that is being drawn.
pub type Drawing = Pin<Box<dyn Future<Output = Result<Picture, String>> + Send>>;

/// Draws scenes.
pub trait Painter: std::fmt::Debug + Send + Sync {
    /// Draws a scene at a scale of 1 or 2.
    fn draw(&self, scene: Arc<Scene>, scale: u32) -> Drawing;

    /// Draws a scene unless it is the one that was drawn last since the counters were reset. Where
    /// there is no window, this is the frame that it would show.
    fn present(&self, scene: Arc<Scene>) -> Pin<Box<dyn Future<Output = ()> + Send>>;

    /// What drawing has cost; the counters are reset after that if asked for.
    fn counts(&self, reset: bool) -> DrawCounts;
}
