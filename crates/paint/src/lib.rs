//! Turns a scene into a picture.
//!
//! [`Plan`] gives everything its place, [`view_plan`] makes the tree of widgets that a window shows, and
//! [`Painter`] draws the same tree without a display. Neither knows where a scene comes from, nor who looks at it.
//!
//! ```
//! use std::sync::Arc;
//! use rookery_paint::Painter;
//! use rookery_view::{scene::Scene, theme::Theme};
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let painter = Painter::start()?;
//! let scene = Arc::new(Scene::new(Theme::fallback()));
//! let picture = painter.screenshot(scene, 1).await?;
//! assert_eq!((picture.width, picture.height), (1100, 720));
//! # Ok::<_, rookery_paint::PaintError>(())
//! # })?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod brush;
mod chrome;
mod cost;
mod flow;
mod fonts;
#[cfg(feature = "gpu")]
pub mod gpu;
mod grid;
mod headless;
mod painter;
mod plan;
mod renderer;
mod shades;
mod sheet;
mod tree;

pub use cost::Cost;
pub use fonts::{families as font_families, has as has_font};
pub use headless::Picture;
pub use painter::{PaintError, Painter};
pub use plan::Plan;
pub use renderer::{Renderer, Software, renderer, software};
pub use sheet::{CardPlace, Scroll};
pub use tree::{background, view, view_plan};
