//! What lies over panes: their headers, the lines between them, find bars, what is cut.

use rookery_view::scene::layout::{Bar, FieldOf, Hit, PaneLayout, Rect};
use rookery_view::scene::pages::Button;
use rookery_view::scene::{Drop, FindBar, Pane};
use rookery_view::tile::Side as PaneSide;

use super::{DOT, Look};
use crate::brush::{Ink, Side};
use crate::fonts;
use crate::shades::{color, faded};
use crate::sheet::{Scroll, Sheet};

/// Draws what lies over the panes.
pub(crate) fn headers(look: &Look<'_>, sheet: &mut Sheet) {
    let panes = look.scene.stage.panes();
    let stage = look.layout.panes.terminal;
    sheet.layer(stage);
    for (pane, place) in panes.iter().zip(&look.layout.terminals) {
        for line in gap_lines(look, place) {
            sheet.fill(line, color(look.shades.line));
        }
        if let Some(band) = place.header {
            header(look, sheet, pane, place, band);
        }
    }
    for (pane, place) in panes.iter().zip(&look.layout.terminals) {
        if pane.is_focused && panes.len() > 1 {
            outline(look, sheet, place);
        }
        notes(look, sheet, pane, place);
        scrollbar(look, sheet, pane, place);
        if let Some(open) = &pane.find {
            find_bar(look, sheet, open, place);
        }
    }
}

/// Thin lines in the middle of the gaps.
fn gap_lines(look: &Look<'_>, place: &PaneLayout) -> Vec<Rect> {
    let thin = 1.0 / look.scene.scale.max(1.0);
    let [right, below] = place.gaps;
    let across = right.map(|gap| Rect { x: gap.x + (gap.width / 2.0).floor(), width: thin, ..gap });
    let down = below.map(|gap| Rect { height: thin, ..gap });
    across.into_iter().chain(down).collect()
}

/// The focused pane's own line.
fn outline(look: &Look<'_>, sheet: &mut Sheet, place: &PaneLayout) {
    let stage = look.layout.panes.terminal;
    let accent = color(look.shades.accent);
    let frame = place.frame;
    let thin = 1.0;
    let sides = [
        (frame.y > stage.y, Rect { height: thin, ..frame }),
        (frame.x > stage.x, Rect { width: thin, ..frame }),
        (frame.right() < stage.right(), Rect { x: frame.right() - thin, width: thin, ..frame }),
        (frame.bottom() < stage.bottom(), Rect { y: frame.bottom() - thin, height: thin, ..frame }),
    ];
    for (_, line) in sides.into_iter().filter(|(is_inside, _)| *is_inside) {
        sheet.fill(line, accent);
    }
    if place.header.is_some() {
        sheet.fill(Rect { height: 2.0, ..frame }, accent);
    }
}

fn header(look: &Look<'_>, sheet: &mut Sheet, pane: &Pane, place: &PaneLayout, band: Rect) {
    let shades = &look.shades;
    let ground = if pane.is_focused { shades.quiet } else { shades.chrome };
    sheet.fill(band, color(ground));
    let middle = band.y + band.height / 2.0;
    let mut left = band.x + 12.0;
    if let Some(rgb) = pane.mood.color() {
        sheet.sign(left + DOT / 2.0, middle, DOT, pane.mood, rgb);
        left += 14.0;
    }
    let close = place.close.unwrap_or(Rect { x: band.right(), width: 0.0, ..band });
    let shade = if pane.is_focused { shades.text } else { shades.soft };
    let mut room = Rect::new(left, band.y, close.x - left - 4.0, band.height);
    if let Some(ended) = &pane.ended {
        room.width -= sheet.label(ended, room, Side::Right, Ink::new(shades.faint, 11.0)) + 8.0;
    }
    sheet.label(&pane.title, room, Side::Left, Ink::new(shade, 11.5));
    let is_hovered = sheet.is_hovered(close);
    let shade = if is_hovered { shades.text } else { shades.faint };
    sheet.label("×", close, Side::Center, Ink::new(shade, 14.0));
}

/// Says what of a terminal is not shown, and that there is news below.
fn notes(look: &Look<'_>, sheet: &mut Sheet, pane: &Pane, place: &PaneLayout) {
    let own_rows = pane.grid.rows.len();
    let part = place.part;
    let mut texts = Vec::new();
    if usize::from(part.rows) < own_rows {
        let (first, last) = (part.row + 1, part.row + part.rows);
        texts.push(format!("rows {first}–{last} of {own_rows}"));
    }
    if part.cols < pane.grid.cols {
        let (first, last) = (part.col + 1, part.col + part.cols);
        texts.push(format!("columns {first}–{last} of {}", pane.grid.cols));
    }
    let mut bottom = place.frame.bottom() - 6.0;
    let mut tag = |sheet: &mut Sheet, text: &str, is_loud: bool| {
        let shades = &look.shades;
        let ink = Ink::new(if is_loud { shades.on_accent } else { shades.text }, 11.0);
        let width = fonts::width(text, ink.font, ink.size) + 18.0;
        let rect = Rect::new(place.frame.right() - width - 18.0, bottom - 20.0, width, 20.0);
        let fill = if is_loud { shades.accent } else { shades.raised };
        sheet.edged(rect, 10.0, color(fill), color(if is_loud { fill } else { shades.panel_edge }));
        sheet.label(text, rect, Side::Center, ink);
        bottom -= 24.0;
        rect
    };
    if !texts.is_empty() {
        tag(sheet, &texts.join(" · "), false);
    }
    if pane.new_rows > 0 {
        let rect = tag(sheet, &format!("↓ {} new", pane.new_rows), true);
        sheet.hit(rect, Hit::PaneNewest(pane.terminal));
    }
}

/// Shows where the view is in the history: while it is not at the end, or the mouse is near.
fn scrollbar(look: &Look<'_>, sheet: &mut Sheet, pane: &Pane, place: &PaneLayout) {
    let scroll = pane.grid.scroll;
    let is_near = sheet.is_hovered(place.bar);
    if scroll.history == 0 {
        return;
    }
    let row = place.cells.cell.height;
    let view = f32::from(place.cells.rows) * row;
    let most = scroll.history as f32 * row;
    let at = most - (scroll.back.min(scroll.history)) as f32 * row;
    sheet.scrolls.push((Bar::Pane(pane.terminal), Scroll { at, most, view }));
    sheet.hit(place.bar, Hit::Bar(Bar::Pane(pane.terminal), 0.0));
    if scroll.back == 0 && !is_near {
        return;
    }
    let track = place.bar.inset(0.0, 4.0);
    let height =
        (track.height * view / (view + most)).clamp(24.0_f32.min(track.height), track.height);
    let y = track.y + (track.height - height) * at / most;
    let width = if is_near { 6.0 } else { 4.0 };
    let thumb = Rect::new(track.right() - width - 3.0, y, width, height);
    sheet.round(thumb, width / 2.0, faded(look.shades.text, if is_near { 0.5 } else { 0.35 }));
}

fn find_bar(look: &Look<'_>, sheet: &mut Sheet, open: &FindBar, place: &PaneLayout) {
    let shades = &look.shades;
    let top = place.header.map_or(place.frame.y, |band| band.bottom());
    let width = 400.0_f32.min(place.frame.width - 16.0);
    let frame = Rect::new(place.frame.right() - width - 10.0, top + 8.0, width, 36.0);
    sheet.layer(look.layout.panes.window);
    sheet.brush().panel(frame, 8.0, shades.panel, shades.panel_edge);
    sheet.hit(frame, Hit::Nothing);
    let buttons = [
        (Button::Close, "×", false),
        (Button::FindNewer, "↓", false),
        (Button::FindOlder, "↑", false),
        (Button::FindCase, "Aa", open.is_exact_case),
        (Button::FindRegex, ".*", open.is_regex),
    ];
    let mut right = frame.right() - 6.0;
    for (button, label, is_on) in buttons {
        let rect = Rect::new(right - 26.0, frame.y + 6.0, 26.0, 24.0);
        right -= 28.0;
        let is_hovered = sheet.is_hovered(rect);
        if is_on || is_hovered {
            let fill = if is_on { shades.chosen } else { shades.raised };
            sheet.round(rect, 5.0, color(fill));
        }
        let shade = if is_on || is_hovered { shades.text } else { shades.soft };
        sheet.label(label, rect, Side::Center, Ink::new(shade, 12.5));
        sheet.hit(rect, Hit::Button(button));
    }
    let (text, shade) = match open.error.is_empty() {
        true => (open.count.as_str(), shades.faint),
        false => (open.error.as_str(), shades.bad),
    };
    let field = Rect::new(frame.x + 12.0, frame.y, right - frame.x - 16.0, frame.height);
    let count = Rect { x: field.x + field.width * 0.4, width: field.width * 0.6, ..field };
    let taken = sheet.label(text, count, Side::Right, Ink::new(shade, 11.5));
    let room = Rect { width: field.width - taken - 8.0, ..field };
    let ink = Ink::new(shades.text, 13.0);
    sheet.field_line(FieldOf::Find, room, &open.field, "Find", ink, shades);
    sheet.layer(look.layout.panes.terminal);
}

/// Where what is dragged would go.
pub(crate) fn drop_mark(look: &Look<'_>, sheet: &mut Sheet) {
    let Some(drop) = look.scene.drop else { return };
    let accent = look.shades.accent;
    sheet.layer(look.layout.panes.window);
    match drop {
        Drop::Pane(terminal, side) => {
            let Some(place) = look.layout.terminal(terminal) else { return };
            let Rect { x, y, width, height } = place.frame;
            let half = match side {
                PaneSide::Left => Rect::new(x, y, width / 2.0, height),
                PaneSide::Right => Rect::new(x + width / 2.0, y, width / 2.0, height),
                PaneSide::Above => Rect::new(x, y, width, height / 2.0),
                PaneSide::Below => Rect::new(x, y + height / 2.0, width, height / 2.0),
            };
            sheet.edged(half.inset(3.0, 3.0), 6.0, faded(accent, 0.25), color(accent));
        }
        Drop::Pill(index) => {
            let pills = &look.layout.strip.pills;
            let x = match (pills.get(index), pills.last()) {
                (Some((_, rect)), _) => rect.x - 3.0,
                (None, Some((_, rect))) => rect.right() + 1.0,
                (None, None) => return,
            };
            let band = look.layout.panes.strip;
            sheet.round(Rect::new(x, band.y + 4.0, 2.0, band.height - 8.0), 1.0, color(accent));
        }
        Drop::Project(index) => {
            let projects = &look.layout.sidebar.projects;
            let y = match (projects.get(index), projects.last()) {
                (Some(place), _) => place.row.y - 1.0,
                (None, Some(place)) => place.agents.last().unwrap_or(&place.row).bottom() + 1.0,
                (None, None) => return,
            };
            let list = look.layout.sidebar.list;
            sheet.round(Rect::new(6.0, y, list.width - 12.0, 2.0), 1.0, color(accent));
        }
    }
}
