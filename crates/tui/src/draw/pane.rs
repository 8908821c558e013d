//! Terminals: their rows are copied cell by cell, in the columns that the emulator gave them.

use std::collections::HashMap;
use std::sync::Arc;

use rookery_face::app::{App, Cx, Hit};
use rookery_face::cells::Rect;
use rookery_face::picture::Term;
use rookery_view::link::attr;
use rookery_view::link::{Area, Cursor, Hex, Panes, RawStyle, Style, Tint};

use super::Brush;
use crate::canvas::{Ink, Pen};
use crate::look::ColorMode;
use crate::out::Caret;

pub(super) fn draw_all(brush: &mut Brush<'_>, app: &App, cx: &Cx<'_>, room: Rect, panes: &Panes) {
    for area in &panes.areas {
        let place = Rect::new(room.col + area.col, room.row + area.row, area.cols, area.rows);
        let place = place.within(room);
        if place.is_empty() {
            continue;
        }
        let is_focused = area.t == panes.focused;
        draw_one(brush, app, cx, area.t, place, is_focused);
        lines_beside(brush, room, area, is_focused && panes.areas.len() > 1);
    }
}

/// The cell between neighbors: a line, in the accent's color beside the focused pane.
fn lines_beside(brush: &mut Brush<'_>, room: Rect, area: &Area, is_focused: bool) {
    let right = room.col + area.col + area.cols;
    let below = room.row + area.row + area.rows;
    let pen = if is_focused { brush.look.accent() } else { brush.look.dim() };
    if right < room.right() {
        for row in room.row + area.row..below.min(room.bottom()) {
            let sign = brush.look.line(true);
            brush.canvas.put(room, right, row, sign, 1, &pen);
        }
    }
    if below < room.bottom() {
        for col in room.col + area.col..right.min(room.right()) {
            let sign = brush.look.line(false);
            brush.canvas.put(room, col, below, sign, 1, &pen);
        }
    }
    if is_focused && area.col > 0 {
        let left = room.col + area.col - 1;
        for row in room.row + area.row..below.min(room.bottom()) {
            let sign = brush.look.line(true);
            brush.canvas.put(room, left, row, sign, 1, &pen);
        }
    }
    if is_focused && area.row > 0 {
        let above = room.row + area.row - 1;
        for col in room.col + area.col..right.min(room.right()) {
            let sign = brush.look.line(false);
            brush.canvas.put(room, col, above, sign, 1, &pen);
        }
    }
}

fn draw_one(brush: &mut Brush<'_>, app: &App, cx: &Cx<'_>, t: u64, place: Rect, is_focused: bool) {
    brush.hit(place, Hit::Pane(t));
    if app.around.own_terminal == Some(t) {
        brush.canvas.write_cut(place.line(place.rows / 2), " this terminal", &brush.look.dim());
        return;
    }
    let Some(term) = cx.picture.term(t) else { return };
    let size = term.size();
    let first = first_cell(term, place, app.copy.as_ref().filter(|copy| copy.terminal == t));
    brush.drawn.panes.push((t, place, first));
    let mut pens = HashMap::new();
    for row in 0..place.rows {
        let index = row + first.0;
        let line = place.line(row);
        let used = if index < size.rows {
            draw_row(brush, app, t, term, line, index, first.1, &mut pens);
            size.cols.saturating_sub(first.1)
        } else {
            0
        };
        for col in used..place.cols {
            let (dot, pen) = (brush.look.dot(), brush.look.dim());
            brush.canvas.put(line, place.col + col, line.row, dot, 1, &pen);
        }
    }
    marks(brush, app, term, t, place);
    if is_focused {
        put_caret(brush, app, cx, term, t, place, first);
    }
    if let Some(find) = app.find.as_ref().filter(|find| find.terminal == t) {
        find_bar(brush, find, app.copy.is_some(), place);
    }
}

/// The first cell that is shown of a terminal with more than fits: the part with the cursor.
fn first_cell(
    term: &dyn Term,
    place: Rect,
    copy: Option<&rookery_face::app::CopyMode>,
) -> (u16, u16) {
    let size = term.size();
    let (row, col) = copy.map_or((term.cursor().row, term.cursor().col), |copy| copy.at);
    let row = u16::try_from(row.saturating_sub(term.view().top)).unwrap_or(0).min(size.rows);
    let most_rows = size.rows.saturating_sub(place.rows);
    let most_cols = size.cols.saturating_sub(place.cols);
    let first_row = (row + 1).saturating_sub(place.rows).min(most_rows);
    let first_col = (col + 1).saturating_sub(place.cols).min(most_cols);
    (first_row, first_col)
}

#[expect(clippy::too_many_arguments, reason = "one row needs all of its surroundings")]
fn draw_row(
    brush: &mut Brush<'_>,
    app: &App,
    t: u64,
    term: &dyn Term,
    line: Rect,
    index: u16,
    first_col: u16,
    pens: &mut HashMap<u32, Pen>,
) {
    let number = term.view().top + u64::from(index);
    let base = brush.look.text();
    let width = term.size().cols.saturating_sub(first_col).min(line.cols);
    let visible = Rect::new(line.col, line.row, width, 1);
    let Some(row) = term.row(number) else { return };
    let mut runs = row.runs.chunks_exact(2).map(|run| (run[0], run[1]));
    let (mut left, mut style) = runs.next().unwrap_or((u32::MAX, 0));
    let mut col: u16 = 0;
    let mut clusters = row.text.clusters();
    let selection = app.selection.filter(|selection| selection.terminal == t);
    let searched = app.copy.as_ref().and_then(|copy| copy.search.as_ref()).map(|(bar, _)| bar);
    let find = app.find.as_ref().or(searched).filter(|find| find.terminal == t);
    while col < first_col.saturating_add(width) {
        while left == 0 {
            (left, style) = runs.next().unwrap_or((u32::MAX, 0));
        }
        let (text, cells) = clusters.next().unwrap_or((" ", 1));
        let cells = cells.max(1);
        let mut pen = pens.entry(style).or_insert_with(|| pen_of(brush, term, style)).clone();
        if selection.is_some_and(|selection| selection.contains(number, col)) {
            brush.look.marked(&mut pen, false);
        } else if let Some(is_current) = find.and_then(|find| find.marks(number, col)) {
            brush.look.marked(&mut pen, is_current);
        }
        if col >= first_col {
            brush.canvas.put(visible, line.col + col - first_col, line.row, text, cells, &pen);
        } else if col + cells > first_col {
            // The left half lies outside.
            brush.canvas.put(visible, line.col, line.row, " ", 1, &base);
        }
        left = left.saturating_sub(u32::from(cells));
        col += cells;
    }
}

fn hex(color: Hex) -> Ink {
    let (r, g, b) = color.0;
    Ink::Rgb(r, g, b)
}

fn tint(tint: Tint) -> Ink {
    match tint {
        Tint::Index(index) => Ink::Index(index),
        Tint::Rgb(color) => hex(color),
    }
}

fn pen_of(brush: &Brush<'_>, term: &dyn Term, id: u32) -> Pen {
    let Some(Style { raw, ink, ground, .. }) = term.style(id).filter(|_| id > 0) else {
        return brush.look.text();
    };
    let RawStyle { f, b, a, u, uc, l } = *raw;
    let mut pen = match brush.look.mode {
        ColorMode::Theme => {
            // Resolved colors have these in them already.
            let kept = a & !(attr::INVERSE | attr::DIM | attr::HIDDEN);
            Pen { attrs: kept, ..Pen::new(hex(*ink), hex(*ground)) }
        }
        ColorMode::Terminal => {
            let ink = f.map(tint).unwrap_or_default();
            let ground = b.map(tint).unwrap_or_default();
            Pen { attrs: a, ..Pen::new(ink, ground) }
        }
    };
    pen.underline = u;
    pen.underline_ink = uc.map(tint);
    pen.link = l.and_then(|id| term.link(id)).and_then(allowed_link);
    pen
}

/// An address that may be given to the outer terminal: a known scheme, and nothing that acts.
fn allowed_link(uri: &str) -> Option<Arc<str>> {
    let is_known = ["http://", "https://", "mailto:"].iter().any(|scheme| uri.starts_with(scheme));
    let is_plain = uri.bytes().all(|byte| byte.is_ascii_graphic());
    (is_known && is_plain).then(|| uri.into())
}

/// How far it is scrolled, and whether the program ended.
fn marks(brush: &mut Brush<'_>, app: &App, term: &dyn Term, t: u64, place: Rect) {
    let view = term.view();
    let top = place.line(0);
    if !view.follows() {
        let below = view.first.saturating_sub(view.top);
        let new = app.new_rows(t, view.first);
        let arrow = if brush.look.signs.utf8 { "↓" } else { "v" };
        let text =
            if new > 0 { format!(" {arrow} {new} new ") } else { format!(" {arrow} {below} ") };
        let pen = brush.look.selected();
        let bottom = place.line(place.rows.saturating_sub(1));
        brush.canvas.write_right(bottom, &text, &pen);
    }
    if let Some(ended) = term.ended() {
        let how = match (ended.code, ended.signal) {
            (Some(code), _) => format!(" ended with {code} "),
            (None, Some(signal)) => format!(" ended by signal {signal} "),
            (None, None) => " ended ".to_owned(),
        };
        brush.canvas.write_right(top, &how, &brush.look.selected());
    }
    if app.copy.as_ref().is_some_and(|copy| copy.terminal == t) {
        brush.canvas.write_right(top, " copy mode ", &brush.look.selected());
    }
}

fn put_caret(
    brush: &mut Brush<'_>,
    app: &App,
    cx: &Cx<'_>,
    term: &dyn Term,
    t: u64,
    place: Rect,
    first: (u16, u16),
) {
    let copy = app.copy.as_ref().filter(|copy| copy.terminal == t);
    let Cursor { row, col, shape, is_visible } = match copy {
        Some(copy) => Cursor { row: copy.at.0, col: copy.at.1, shape: 1, is_visible: true },
        None => term.cursor(),
    };
    let types = copy.is_some() || app.is_typing_into_program(cx);
    let row = row.checked_sub(term.view().top).and_then(|row| u16::try_from(row).ok());
    let Some(row) = row.and_then(|row| row.checked_sub(first.0)) else { return };
    let Some(col) = col.checked_sub(first.1) else { return };
    if is_visible && types && row < place.rows && col < place.cols {
        brush.caret = Some(Caret { col: place.col + col, row: place.row + row, shape });
    }
}

fn find_bar(
    brush: &mut Brush<'_>,
    find: &rookery_face::app::FindBar,
    is_copying: bool,
    place: Rect,
) {
    let line = place.line(place.rows.saturating_sub(1));
    let pen = brush.look.selected();
    brush.canvas.fill(line, &pen);
    let on = |word: &str, on: bool| if on { format!("[{word}]") } else { word.to_owned() };
    let arrows = if brush.look.signs.utf8 { "↑↓" } else { "^v" };
    let tail = format!(
        "{}  {arrows}  {} {}  esc ",
        find.count(),
        on(".*", find.regex),
        on("Aa", find.exact_case)
    );
    let room = line.cols.saturating_sub(rookery_face::cells::text_width(&tail) + 1);
    let lead = if find.newer || !is_copying { "/" } else { "?" };
    let text = format!("{lead} {}", find.field.text());
    let end = brush.canvas.write_cut(Rect { cols: room, ..line }, &text, &pen);
    brush.canvas.write_right(line, &tail, &pen);
    brush.caret_at(end.min(line.right().saturating_sub(1)), line.row);
}
