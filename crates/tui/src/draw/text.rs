//! Lines of pages as cells.

use rookery_face::cells::Rect;
use rookery_face::pages::text::{Line, Tint};
use rookery_view::link::attr;

use crate::canvas::{Canvas, Pen};
use crate::look::Look;

/// The pen of a tint.
pub(crate) fn pen_of(tint: Tint, look: &Look) -> Pen {
    match tint {
        Tint::Text => look.text(),
        Tint::Dim => look.dim(),
        Tint::Bold => look.bold(),
        Tint::Italic => look.text().with(attr::ITALIC),
        Tint::Strike => look.text().with(attr::STRIKEOUT),
        Tint::Accent | Tint::Code => look.accent(),
        Tint::Error => look.error(),
        Tint::Added => look.added(),
        Tint::Removed => look.removed(),
        Tint::Mood(mood) => look.mood(mood),
    }
}

/// Draws a line into a row.
pub(crate) fn draw_line(canvas: &mut Canvas, area: Rect, look: &Look, line: &Line) {
    let mut col = area.col;
    for (text, tint) in &line.pieces {
        col = canvas.write(area, col, area.row, text, &pen_of(*tint, look));
    }
}

/// Draws lines from a given one on; returns how many fit.
pub(crate) fn draw_lines(
    canvas: &mut Canvas,
    area: Rect,
    look: &Look,
    lines: &[Line],
    from: usize,
) -> usize {
    let shown = lines.iter().skip(from).take(usize::from(area.rows));
    for (index, line) in shown.enumerate() {
        draw_line(canvas, area.line(u16::try_from(index).unwrap_or(0)), look, line);
    }
    usize::from(area.rows)
}
