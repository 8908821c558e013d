//! The tabs of the active project.

use rookery_view::scene::layout::Rect;
use rookery_view::scene::{ACCENT, Pill};

use super::sidebar::rename;
use super::{DOT, Look, clipped};
use crate::brush::{Brush, Ink, Side};
use crate::shades::color;
use crate::tree::Renderer;

/// Draws the strip of pills.
pub(crate) fn strip(look: &Look<'_>, renderer: &mut Renderer) {
    let band = look.layout.panes.strip;
    let places = &look.layout.strip;
    clipped(renderer, band, |brush| {
        let shades = &look.shades;
        brush.fill(band, color(shades.chrome));
        let line = Rect { y: band.bottom() - 1.0, height: 1.0, ..band };
        brush.fill(line, color(shades.line));
        brush.plus(places.new_tab, shades.soft);
        if let Some(title) = places.title {
            brush.label(&look.scene.title, title, Side::Right, Ink::new(shades.faint, 12.0));
        }
    });
    clipped(renderer, places.visible, |brush| {
        for (tab, (_, place)) in look.scene.strip.pills.iter().zip(&places.pills) {
            if place.right() > places.visible.x && place.x < places.visible.right() {
                pill(look, brush, tab, *place);
            }
        }
    });
}

fn pill(look: &Look<'_>, brush: &mut Brush<'_>, tab: &Pill, place: Rect) {
    let shades = &look.shades;
    let fill = if tab.is_active { shades.raised } else { shades.quiet };
    brush.round(place, place.height / 2.0, color(fill));
    let middle = place.y + place.height / 2.0;
    let mut left = place.x + 12.0;
    if let Some(mood) = tab.mood.color() {
        brush.dot(place.x + 13.5, middle, DOT, mood);
        left = place.x + 23.0;
    }
    let right = place.right() - if tab.has_badge { 24.0 } else { 12.0 };
    let text = Rect::new(left, place.y, right - left, place.height);
    if let Some(typed) = &tab.rename {
        return rename(look, brush, typed, text);
    }
    let shade = if tab.is_active { shades.text } else { shades.soft };
    brush.label(&tab.title, text, Side::Left, Ink::new(shade, 12.5));
    if tab.has_badge {
        brush.dot(place.right() - 14.5, middle, DOT, ACCENT);
    }
}
