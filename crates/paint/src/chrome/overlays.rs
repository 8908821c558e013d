//! What floats above the rest: inbox, toasts, palette; and questions, which have a file of their own.

use rookery_view::scene::layout::{FieldOf, Hit, InboxLayout, PaletteLayout, Rect};
use rookery_view::scene::pages::Field;
use rookery_view::scene::{ACCENT, PaletteOverlay, PaletteRow};

use super::{DOT, Look, clipped};
use crate::brush::{Brush, Ink, Side};
use crate::fonts;
use crate::shades::{color, faded};
use crate::sheet::Sheet;

const RADIUS: f32 = 10.0;

/// Draws whatever floats, the uppermost last.
pub(crate) fn overlays(look: &Look<'_>, sheet: &mut Sheet) {
    let (scene, window) = (look.scene, look.layout.panes.window);
    // Each has a layer of its own: within a layer text is above everything.
    if let Some(place) = &look.layout.inbox {
        clipped(sheet, window, |brush| inbox(look, brush, place));
    }
    if !look.layout.toasts.is_empty() {
        clipped(sheet, window, |brush| toasts(look, brush));
        let shown = &look.layout.toasts;
        let hidden = scene.toasts.len().saturating_sub(shown.len());
        for (index, rect) in shown.iter().enumerate() {
            sheet.hit(*rect, Hit::Toast(hidden + index));
        }
    }
    if let (Some(open), Some(place)) = (&scene.palette, &look.layout.palette) {
        clipped(sheet, window, |brush| palette(look, brush, open, place));
        let (field, rect) = query(open, place);
        let ink = Ink::new(look.shades.text, 15.0);
        sheet.field_line(FieldOf::Query, rect, &field, &open.placeholder, ink, &look.shades);
    }
    if let Some(open) = &scene.dialog {
        super::question::question(look, sheet, open);
    }
}

fn palette(look: &Look<'_>, brush: &mut Brush<'_>, open: &PaletteOverlay, place: &PaletteLayout) {
    let shades = &look.shades;
    brush.veil(look.layout.panes.window);
    brush.panel(place.frame, RADIUS, shades.panel, shades.panel_edge);
    let tag = Rect { x: place.query.right() - 178.0, width: 160.0, ..place.query };
    brush.label(&open.frame, tag, Side::Right, Ink::new(shades.faint, 11.5));
    let under = Rect { y: place.query.bottom() - 1.0, height: 1.0, ..place.query };
    brush.fill(under.inset(1.0, 0.0), color(shades.panel_edge));
    if open.rows.is_empty() {
        let room =
            Rect { y: under.bottom(), height: place.frame.bottom() - under.bottom(), ..under };
        brush.label("Nothing matches", room, Side::Center, Ink::new(shades.faint, 13.0));
    }
    for (index, rect) in &place.rows {
        if let Some(row) = open.rows.get(*index) {
            palette_row(look, brush, row, *rect);
        }
    }
    more_rows(look, brush, place);
}

/// What is typed in the palette, and where.
fn query(open: &PaletteOverlay, place: &PaletteLayout) -> (Field, Rect) {
    let field = Field {
        cursor: open.cursor.unwrap_or(open.query.len()),
        preedit: open.preedit.clone(),
        ..Field::of(&open.query)
    };
    let taken = fonts::width(&open.frame, fonts::SANS, 11.5);
    let rect = place.query.inset(18.0, 0.0);
    (field, Rect { width: rect.width - taken - 16.0, ..rect })
}

/// How many rows are above and below those that are visible, and where those stand among all.
fn more_rows(look: &Look<'_>, brush: &mut Brush<'_>, place: &PaletteLayout) {
    let (above, below) = place.hidden;
    let (Some((_, first)), Some((_, last))) = (place.rows.first(), place.rows.last()) else {
        return;
    };
    if above + below == 0 {
        return;
    }
    let track = Rect::new(place.frame.right() - 6.0, first.y, 3.0, last.bottom() - first.y);
    let all = (above + below + place.rows.len()) as f32;
    let height = (track.height * place.rows.len() as f32 / all).max(16.0);
    let y = track.y + (track.height - height) * above as f32 / (above + below) as f32;
    brush.round(Rect { y, height, ..track }, 1.5, faded(look.shades.soft, 0.5));
}

fn palette_row(look: &Look<'_>, brush: &mut Brush<'_>, row: &PaletteRow, rect: Rect) {
    let shades = &look.shades;
    if row.is_selected {
        brush.round(rect.inset(0.0, 1.0), 6.0, color(shades.chosen));
    }
    let is_hovered = look.scene.hover.is_some_and(|point| rect.contains(point));
    if is_hovered && !row.is_selected {
        brush.round(rect.inset(0.0, 1.0), 6.0, faded(shades.text, 0.05));
    }
    let mut inner = rect.inset(12.0, 0.0);
    if let Some(mood) = row.mood {
        let dot = mood.color().unwrap_or(shades.line);
        brush.sign(inner.x + 3.5, inner.y + inner.height / 2.0, DOT, mood, dot);
        inner = Rect::new(inner.x + 16.0, inner.y, inner.width - 16.0, inner.height);
    }
    let half = Rect { x: inner.x + inner.width * 0.5, width: inner.width * 0.5, ..inner };
    let shade = if row.is_selected { shades.soft } else { shades.faint };
    let taken = brush.label(&row.subtitle, half, Side::Right, Ink::new(shade, 12.0));
    let title = Rect { width: inner.width - taken - 16.0, ..inner };
    matched_title(look, brush, row, title);
}

/// A title with the letters that the query matched in another color.
fn matched_title(look: &Look<'_>, brush: &mut Brush<'_>, row: &PaletteRow, rect: Rect) {
    const SIZE: f32 = 13.5;
    let plain = Ink::new(look.shades.text, SIZE);
    if row.matched.is_empty() {
        brush.label(&row.title, rect, Side::Left, plain);
        return;
    }
    let shown = fonts::elided(&row.title, plain.font, SIZE, rect.width);
    for (start, end, is_matched) in runs(&shown, &row.matched) {
        let ink = if is_matched { Ink { color: look.shades.matched, ..plain } } else { plain };
        // Measured from the beginning, so that kerning and rounding do not add up.
        let left = rect.x + fonts::width(&shown[..start], plain.font, SIZE);
        let piece = Rect { x: left, width: rect.right() - left + SIZE, ..rect };
        brush.label(&shown[start..end], piece, Side::Left, ink);
        if is_matched {
            let right = rect.x + fonts::width(&shown[..end], plain.font, SIZE);
            let y = rect.y + rect.height / 2.0 + 8.0;
            let under = Rect::new(left.round(), y, (right - left).round(), 1.0);
            brush.fill(under, faded(look.shades.matched, 0.7));
        }
    }
}

/// The byte ranges of a text that are matched throughout or not at all.
fn runs(text: &str, matched: &[usize]) -> Vec<(usize, usize, bool)> {
    let mut runs: Vec<(usize, usize, bool)> = Vec::new();
    for (index, (start, c)) in text.char_indices().enumerate() {
        let is_matched = c != '…' && matched.binary_search(&index).is_ok();
        match runs.last_mut() {
            Some((_, end, same)) if *same == is_matched => *end = start + c.len_utf8(),
            _ => runs.push((start, start + c.len_utf8(), is_matched)),
        }
    }
    runs
}

fn inbox(look: &Look<'_>, brush: &mut Brush<'_>, place: &InboxLayout) {
    let shades = &look.shades;
    brush.panel(place.frame, RADIUS, shades.panel, shades.panel_edge);
    let heading = place.heading.inset(16.0, 0.0);
    brush.label("NOTIFICATIONS", heading, Side::Left, Ink::new(shades.faint, 10.5));
    if place.rows.is_empty() {
        let y = place.heading.bottom();
        let room = Rect { y, height: place.frame.bottom() - y, ..place.frame };
        brush.label("No notifications", room, Side::Center, Ink::new(shades.faint, 13.0));
    }
    for (row, rect) in look.scene.inbox.rows.iter().zip(&place.rows) {
        let inner = rect.inset(10.0, 0.0);
        brush.dot(inner.x + 3.5, inner.y + 17.0, DOT, ACCENT);
        let line = Rect::new(inner.x + 18.0, inner.y + 6.0, inner.width - 18.0, 20.0);
        let time = Ink::new(shades.faint, 11.0);
        let taken = brush.label(&row.time_text, line, Side::Right, time);
        let title = Rect { width: line.width - taken - 10.0, ..line };
        brush.label(&row.title, title, Side::Left, Ink::new(shades.text, 13.0));
        let body = Rect { y: line.bottom() - 1.0, ..line };
        brush.label(&row.body, body, Side::Left, Ink::new(shades.soft, 12.0));
    }
}

fn toasts(look: &Look<'_>, brush: &mut Brush<'_>) {
    let shades = &look.shades;
    let hidden = look.scene.toasts.len() - look.layout.toasts.len().min(look.scene.toasts.len());
    for (toast, rect) in look.scene.toasts.iter().skip(hidden).zip(&look.layout.toasts) {
        brush.panel(*rect, 8.0, shades.panel, shades.panel_edge);
        let edge = Rect { x: rect.x + 8.0, width: 3.0, ..rect.inset(0.0, 10.0) };
        brush.round(edge, 1.5, color(toast.mood.color().unwrap_or(shades.faint)));
        let text = Rect::new(rect.x + 22.0, rect.y, rect.width - 36.0, rect.height);
        let ink = Ink::new(shades.text, 13.0);
        if toast.body.is_empty() {
            brush.label(&toast.title, text, Side::Left, ink);
            continue;
        }
        let first = Rect { y: rect.y + 8.0, height: 20.0, ..text };
        brush.label(&toast.title, first, Side::Left, ink);
        let second = Rect { y: first.bottom(), ..first };
        brush.label(&toast.body, second, Side::Left, Ink::new(shades.soft, 12.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces of a text, the matched ones in brackets.
    fn marked(text: &str, matched: &[usize]) -> String {
        let mark = |(start, end, is_matched): &(usize, usize, bool)| match is_matched {
            true => format!("[{}]", &text[*start..*end]),
            false => text[*start..*end].to_owned(),
        };
        runs(text, matched).iter().map(mark).collect()
    }

    #[test]
    fn matched_letters_are_cut_out_by_character_not_by_byte() {
        assert_eq!(marked("new", &[0, 2]), "[n]e[w]");
        assert_eq!(marked("ßéa", &[1]), "ß[é]a");
        assert_eq!(marked("ab…", &[0, 1, 2]), "[ab]…");
        assert_eq!(marked("", &[3]), "");
    }
}
