//! Everything around the terminals, in place of them, and above them.

mod floats;
mod headers;
mod overlays;
pub(crate) mod pages;
mod question;
mod sidebar;
mod status;
mod strip;

use rookery_view::scene::Scene;
use rookery_view::scene::layout::{Layout, Rect};

use crate::brush::Brush;
use crate::shades::Shades;
use crate::sheet::Sheet;

pub(crate) use floats::{lost, menu};
pub(crate) use headers::{drop_mark, headers};
pub(crate) use overlays::overlays;
pub(crate) use sidebar::{renames, sidebar};
pub(crate) use status::status;
pub(crate) use strip::strip;

/// Diameter of the dots that tell how an agent fares.
const DOT: f32 = 7.0;

/// What a part is drawn from.
pub(crate) struct Look<'a> {
    pub(crate) scene: &'a Scene,
    pub(crate) layout: &'a Layout,
    pub(crate) shades: Shades,
}

/// Draws on a layer of its own, clipped to a rectangle.
fn clipped(sheet: &mut Sheet, clip: Rect, draw: impl FnOnce(&mut Brush<'_>)) {
    sheet.layer(clip);
    draw(&mut sheet.brush());
}
