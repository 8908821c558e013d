//! The tabs of the active project.

use rookery_view::scene::layout::Rect;
use rookery_view::scene::{ACCENT, Pill};

use super::{DOT, Look, clipped};
use crate::brush::{Brush, Ink, Side};
use crate::shades::color;
use crate::sheet::Sheet;

/// Draws the strip of pills.
pub(crate) fn strip(look: &Look<'_>, sheet: &mut Sheet) {
    let band = look.layout.panes.strip;
    let places = &look.layout.strip;
    clipped(sheet, band, |brush| {
        let shades = &look.shades;
        brush.fill(band, color(shades.chrome));
        let line = Rect { y: band.bottom() - 1.0, height: 1.0, ..band };
        brush.fill(line, color(shades.line));
        brush.plus(places.new_tab, shades.soft);
        if let Some(title) = places.title {
            brush.label(&look.scene.title, title, Side::Right, Ink::new(shades.faint, 12.0));
        }
    });
    clipped(sheet, places.visible, |brush| {
        for (tab, (_, place)) in look.scene.strip.pills.iter().zip(&places.pills) {
            if place.right() > places.visible.x && place.x < places.visible.right() {
                pill(look, brush, tab, *place);
            }
        }
    });
    for is_right in [false, true] {
        if let Some(sign) = places.more(is_right) {
            clipped(sheet, sign, |brush| more(look, brush, sign, is_right));
        }
    }
}

/// The sign for pills that are not visible.
fn more(look: &Look<'_>, brush: &mut Brush<'_>, sign: Rect, is_right: bool) {
    let shades = &look.shades;
    let (before, behind) = look.layout.strip.hidden;
    let band = Rect { height: sign.height - 1.0, ..sign };
    brush.fill(band, color(shades.chrome));
    let text = if is_right { format!("{behind} ›") } else { format!("‹ {before}") };
    brush.label(&text, band, Side::Center, Ink::new(shades.soft, 12.0));
}

fn pill(look: &Look<'_>, brush: &mut Brush<'_>, tab: &Pill, place: Rect) {
    let shades = &look.shades;
    let fill = if tab.is_active { shades.raised } else { shades.quiet };
    let is_hovered = look.scene.hover.is_some_and(|point| place.contains(point));
    let fill = if is_hovered { shades.lifted(fill) } else { fill };
    brush.round(place, place.height / 2.0, color(fill));
    let middle = place.y + place.height / 2.0;
    let mut left = place.x + 12.0;
    if let Some(rgb) = tab.mood.color() {
        brush.sign(place.x + 13.5, middle, DOT, tab.mood, rgb);
        left = place.x + 23.0;
    }
    let mut right = place.right() - if tab.has_badge { 24.0 } else { 12.0 };
    if tab.more > 0 {
        let count = Rect::new(right - 26.0, place.y, 26.0, place.height);
        let ink = Ink::new(shades.faint, 11.0);
        let taken = brush.label(&format!("+{}", tab.more), count, Side::Right, ink);
        right -= taken + 6.0;
    }
    let text = Rect::new(left, place.y, right - left, place.height);
    if tab.rename.is_some() {
        return;
    }
    let shade = if tab.is_active { shades.text } else { shades.soft };
    brush.label(&tab.title, text, Side::Left, Ink::new(shade, 12.5));
    if tab.has_badge {
        brush.dot(place.right() - 14.5, middle, DOT, ACCENT);
    }
}

/// Where the name of a pill stands.
pub(super) fn words(tab: &Pill, place: Rect) -> Rect {
    let left = if tab.mood.color().is_some() { 23.0 } else { 12.0 };
    let right = if tab.has_badge { 24.0 } else { 12.0 } + if tab.more > 0 { 26.0 } else { 0.0 };
    Rect { x: place.x + left, width: place.width - left - right, ..place }
}
