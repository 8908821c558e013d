//! Lines below and through cells, and the box for a character no font has.

use rookery_term::Underline;
use rookery_view::scene::Rgb;
use rookery_view::scene::layout::Rect;

use crate::brush::Brush;
use crate::shades::{color, faded};

/// How thick a line is at a font size.
pub(super) fn thickness(size: f32) -> f32 {
    (size / 14.0).round().max(1.0)
}

/// Draws the line below some cells.
pub(super) fn underline(brush: &mut Brush<'_>, rect: Rect, size: f32, kind: Underline, rgb: Rgb) {
    let thick = thickness(size);
    let lowest = rect.bottom() - thick;
    let y = (lowest - (rect.height * 0.06).floor()).floor();
    let line = Rect { y, height: thick, ..rect };
    match kind {
        Underline::None => {}
        Underline::Single => brush.fill(line, color(rgb)),
        Underline::Double => {
            brush.fill(Rect { y: lowest - 2.0 * thick, ..line }, color(rgb));
            brush.fill(Rect { y: lowest, ..line }, color(rgb));
        }
        Underline::Dotted => dashes(brush, line, thick, thick, rgb),
        Underline::Dashed => dashes(brush, line, 3.0 * thick, 2.0 * thick, rgb),
        Underline::Curl => curl(brush, Rect { y: lowest - 2.0 * thick, ..line }, thick, rgb),
    }
}

fn dashes(brush: &mut Brush<'_>, line: Rect, dash: f32, gap: f32, rgb: Rgb) {
    // Counted from the window's edge, so that dashes of neighboring stretches go on evenly.
    let mut x = (line.x / (dash + gap)).floor() * (dash + gap);
    while x < line.right() {
        let piece = Rect { x, width: dash, ..line };
        brush.fill(piece.intersection(&line), color(rgb));
        x += dash + gap;
    }
}

/// A wave of three levels, eight steps a period.
fn curl(brush: &mut Brush<'_>, line: Rect, thick: f32, rgb: Rgb) {
    const LEVELS: [f32; 8] = [2.0, 1.5, 0.5, 0.0, 0.0, 0.5, 1.5, 2.0];
    let steps = (line.width / thick).ceil() as usize;
    let first = (line.x / thick).floor() as usize;
    for step in 0..steps {
        let level = LEVELS[(first + step) % LEVELS.len()];
        let x = line.x + step as f32 * thick;
        let piece = Rect::new(x, line.y + level * thick, thick, thick);
        brush.fill(piece.intersection(&Rect { height: 4.0 * thick, ..line }), color(rgb));
    }
}

/// Draws the line through some cells.
pub(super) fn strikeout(brush: &mut Brush<'_>, rect: Rect, size: f32, rgb: Rgb) {
    let y = (rect.y + rect.height * 0.54).floor();
    brush.fill(Rect { y, height: thickness(size), ..rect }, color(rgb));
}

/// Stands for a character that no font has, as wide as the character would be.
pub(super) fn missing(brush: &mut Brush<'_>, rect: Rect, rgb: Rgb) {
    let frame = rect.inset(1.0, (rect.height * 0.18).round());
    let ink = faded(rgb, 0.5);
    for side in [
        Rect { height: 1.0, ..frame },
        Rect { y: frame.bottom() - 1.0, height: 1.0, ..frame },
        Rect { width: 1.0, ..frame }.inset(0.0, 1.0),
        Rect { x: frame.right() - 1.0, width: 1.0, ..frame }.inset(0.0, 1.0),
    ] {
        brush.fill(side, ink);
    }
}
