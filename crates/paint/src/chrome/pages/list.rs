//! Lists: threads, reviews, checkpoints, worktrees, the audit.

use rookery_view::scene::Rgb;
use rookery_view::scene::layout::{Bar, FieldOf, Hit, Rect};
use rookery_view::scene::pages::{List, ListCell, ListRow, Weight};

use super::parts::{MARGIN, Offer, SMALL, TEXT, foot, head, row, window};
use crate::brush::{Ink, Side};
use crate::chrome::Look;
use crate::fonts;
use crate::shades::{Shades, color};
use crate::sheet::{Kind, Scroll, Sheet};

const ROW: f32 = 34.0;
/// Between two columns.
const GAP: f32 = 20.0;

pub(super) fn list(look: &Look<'_>, sheet: &mut Sheet, page: &List, area: Rect) {
    let shades = &look.shades;
    let aside = if page.is_loading { "loading…" } else { &page.aside };
    let mut body = head(sheet, area, &page.title, aside, shades);
    let offers: Vec<Offer> = page
        .buttons
        .iter()
        .map(|(button, label)| Offer::new(*button, label.clone(), Kind::Plain))
        .collect();
    body = foot(sheet, body, &offers, &[], page.focus, shades);
    if let Some(filter) = &page.filter {
        let rect = Rect { y: body.y + 10.0, height: 32.0, ..body.inset(MARGIN, 0.0) };
        let rect = Rect { width: rect.width.min(420.0), ..rect };
        filter_field(sheet, filter, rect, shades);
        body = Rect { y: body.y + 48.0, height: body.height - 48.0, ..body };
    }
    if page.rows.is_empty() {
        let text = match (page.is_loading, page.nothing.is_empty()) {
            (true, _) => "",
            (false, true) => "Nothing here",
            (false, false) => &page.nothing,
        };
        sheet.label(text, body, Side::Center, Ink::new(shades.faint, TEXT));
        return;
    }
    let inner = body.inset(MARGIN, 6.0);
    let widths = widths(page, inner.width);
    let mut rows = inner;
    if !page.columns.is_empty() {
        let band = Rect { height: 26.0, ..inner };
        titles(sheet, page, &widths, band, shades);
        rows = Rect { y: band.bottom() + 4.0, height: inner.height - 30.0, ..inner };
    }
    let fitting = (rows.height / ROW).floor().max(1.0) as usize;
    let first = window(page.rows.len(), fitting, page.selected, page.first);
    for (index, item) in page.rows.iter().enumerate().skip(first).take(fitting) {
        let y = rows.y + (index - first) as f32 * ROW;
        let rect = Rect { y, height: ROW, ..rows };
        row(sheet, rect.inset(-10.0, 1.0), page.selected == Some(index), shades);
        cells(sheet, item, &widths, rect, page.selected == Some(index), shades);
        sheet.hit(rect.inset(-10.0, 0.0), Hit::Row(index));
    }
    let most = page.rows.len().saturating_sub(fitting) as f32 * ROW;
    let scroll = Scroll { at: first as f32 * ROW, most, view: rows.height };
    sheet.scrolls.push((Bar::List, scroll));
    sheet.bar(Rect { width: body.right() - rows.x, ..rows }, Bar::List, scroll, shades);
}

pub(super) fn filter_field(
    sheet: &mut Sheet,
    filter: &rookery_view::scene::pages::Field,
    rect: Rect,
    shades: &Shades,
) {
    let edge = if filter.has_keyboard { shades.accent } else { shades.panel_edge };
    sheet.edged(rect, 7.0, color(shades.field), color(edge));
    let ink = Ink::new(shades.text, 13.0);
    sheet.field_line(FieldOf::Filter, rect.inset(12.0, 0.0), filter, "Filter", ink, shades);
}

fn is_dotted(page: &List) -> bool {
    page.rows.iter().any(|row| row.mood.is_some())
}

/// Columns as wide as what is in them; the first has whatever is left.
fn widths(page: &List, room: f32) -> Vec<f32> {
    let count = page.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let mut widths = vec![0.0_f32; count];
    for row in page.rows.iter() {
        for (index, cell) in row.cells.iter().enumerate() {
            let ink = ink(cell, (0, 0, 0));
            widths[index] = widths[index].max(fonts::width(&cell.text, ink.font, ink.size));
        }
    }
    for (index, title) in page.columns.iter().enumerate().take(count) {
        widths[index] = widths[index].max(fonts::width(title, fonts::SANS, SMALL));
    }
    let room = room - if is_dotted(page) { 18.0 } else { 0.0 };
    let others: f32 = widths.iter().skip(1).map(|width| width + GAP).sum();
    let least = room * 0.3;
    if let Some(first) = widths.first_mut() {
        // A short first column does not push the others to the far edge.
        let wanted = *first + GAP;
        *first = (room - others).clamp(least, wanted.max(least).max(room * 0.42));
    }
    let first = widths.first().copied().unwrap_or(0.0);
    if others > room - first {
        let share = (room - first) / others.max(1.0);
        widths.iter_mut().skip(1).for_each(|width| *width = (*width + GAP) * share - GAP);
    }
    widths
}

fn titles(sheet: &mut Sheet, page: &List, widths: &[f32], band: Rect, shades: &Shades) {
    let mut x = band.x + if is_dotted(page) { 18.0 } else { 0.0 };
    for (title, width) in page.columns.iter().zip(widths) {
        let rect = Rect { x, width: *width, ..band };
        sheet.label(title, rect, Side::Left, Ink::new(shades.faint, SMALL));
        x += width + GAP;
    }
    sheet.fill(Rect { y: band.bottom(), height: 1.0, ..band }, color(shades.line));
}

fn ink(cell: &ListCell, rgb: Rgb) -> Ink {
    let ink = Ink::new(rgb, 13.0);
    if cell.is_code { Ink { size: 13.5, ..ink }.code() } else { ink }
}

fn cells(
    sheet: &mut Sheet,
    item: &ListRow,
    widths: &[f32],
    rect: Rect,
    is_chosen: bool,
    shades: &Shades,
) {
    let mut x = rect.x;
    if let Some(mood) = item.mood {
        let rgb = mood.color().unwrap_or(shades.line);
        sheet.sign(x + 4.0, rect.y + rect.height / 2.0, 8.0, mood, rgb);
        x += 18.0;
    }
    for (cell, width) in item.cells.iter().zip(widths) {
        let rgb = match cell.weight {
            Weight::Text => shades.text,
            Weight::Soft => shades.soft,
            Weight::Faint if is_chosen => shades.soft,
            Weight::Faint => shades.faint,
            Weight::Good => shades.good,
            Weight::Bad => shades.bad,
        };
        let place = Rect { x, width: *width, ..rect };
        sheet.label(&cell.text, place, Side::Left, ink(cell, rgb));
        x += width + GAP;
    }
}
