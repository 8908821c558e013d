//! Menus, and the box that says that the daemon is away.

use rookery_view::scene::layout::{Hit, Rect};
use rookery_view::scene::pages::Button;
use rookery_view::scene::{Lost, Menu, MenuRow};

use super::Look;
use crate::brush::{Ink, Side};
use crate::flow::{Run, lines};
use crate::fonts;
use crate::shades::{color, faded};
use crate::sheet::{Kind, Sheet};

const ROW: f32 = 28.0;
const RULE: f32 = 9.0;
const PADDING: f32 = 5.0;

/// Draws a menu near the point where it was asked for, within the window.
pub(crate) fn menu(look: &Look<'_>, sheet: &mut Sheet, open: &Menu) {
    let (window, shades) = (look.layout.panes.window, &look.shades);
    let ink = Ink::new(shades.text, 13.0);
    let wide = |row: &MenuRow| {
        let key = fonts::width(&row.key, ink.font, 11.5);
        fonts::width(&row.title, ink.font, ink.size) + if key > 0.0 { key + 28.0 } else { 0.0 }
    };
    let width = open.rows.iter().map(wide).fold(120.0, f32::max) + 32.0;
    let high = |row: &MenuRow| if row.title.is_empty() { RULE } else { ROW };
    let height = open.rows.iter().map(high).sum::<f32>() + 2.0 * PADDING;
    let (width, height) = (width.min(window.width), height.min(window.height));
    let x = open.at.x.min(window.right() - width - 4.0).max(0.0);
    let y = match open.at.y + height > window.bottom() - 4.0 {
        true => (open.at.y - height).max(0.0),
        false => open.at.y,
    };
    let frame = Rect::new(x.round(), y.round(), width, height);
    sheet.layer(window);
    sheet.brush().panel(frame, 8.0, shades.panel, shades.panel_edge);
    sheet.hit(window, Hit::Backdrop);
    sheet.hit(frame, Hit::Nothing);
    let mut top = frame.y + PADDING;
    for (index, row) in open.rows.iter().enumerate() {
        let place = Rect::new(frame.x, top, frame.width, high(row));
        top += high(row);
        if row.title.is_empty() {
            let line = Rect { y: (place.y + RULE / 2.0).floor(), height: 1.0, ..place };
            sheet.fill(line.inset(PADDING, 0.0), color(shades.panel_edge));
            continue;
        }
        let is_chosen = open.selected == Some(index) || sheet.is_hovered(place);
        if is_chosen && !row.is_disabled {
            sheet.round(place.inset(PADDING, 0.0), 5.0, color(shades.chosen));
        }
        let shade = match (row.is_disabled, row.is_destructive) {
            (true, _) => shades.faint,
            (false, true) => shades.bad,
            (false, false) => shades.text,
        };
        let inner = place.inset(16.0, 0.0);
        let taken = sheet.label(&row.key, inner, Side::Right, Ink::new(shades.faint, 11.5));
        let title = Rect { width: inner.width - taken, ..inner };
        sheet.label(&row.title, title, Side::Left, Ink { color: shade, ..ink });
        let hit = if row.is_disabled { Hit::Nothing } else { Hit::MenuRow(index) };
        sheet.hit(place, hit);
    }
}

/// Dims the last picture and says that the daemon is away.
pub(crate) fn lost(look: &Look<'_>, sheet: &mut Sheet, lost: &Lost) {
    let (window, shades) = (look.layout.panes.window, &look.shades);
    sheet.layer(window);
    sheet.fill(window, faded(shades.terminal, 0.55));
    sheet.hit(window, Hit::Backdrop);
    sheet.layer(window);
    let width = 460.0_f32.min(window.width - 16.0);
    let plain = Ink::new(shades.soft, 13.0);
    let unsent = match lost.unsent.is_empty() {
        true => Vec::new(),
        false => lines(&[Run::new(&*lost.unsent, Ink::new(shades.warn, 12.5))], width - 44.0),
    };
    let shown = unsent.iter().take(4).collect::<Vec<_>>();
    let more: f32 = shown.iter().map(|line| line.height).sum();
    let foot = if lost.can_start { 46.0 } else { 0.0 };
    let frame = window.centered(width, 92.0 + more + foot);
    sheet.brush().panel(frame, 10.0, shades.panel, shades.panel_edge);
    sheet.hit(frame, Hit::Nothing);
    let text = frame.inset(22.0, 18.0);
    let title = Rect { height: 22.0, ..text };
    sheet.dot(title.x + 4.0, title.y + 11.0, 8.0, shades.warn);
    let words = Rect { x: title.x + 18.0, width: title.width - 18.0, ..title };
    sheet.label("The daemon is away", words, Side::Left, Ink::new(shades.text, 15.0));
    let second = Rect { y: title.bottom() + 8.0, height: 20.0, ..text };
    let taken = sheet.label(&lost.trying, second, Side::Right, Ink::new(shades.faint, 12.5));
    let rest = Rect { width: second.width - taken - 12.0, ..second };
    sheet.label("Programs go on running.", rest, Side::Left, plain);
    let mut y = second.bottom() + 6.0;
    for line in shown {
        super::pages::line(sheet, line, text.x, y, shades);
        y += line.height;
    }
    if lost.can_start {
        let button = Rect::new(text.right() - 148.0, frame.bottom() - 46.0, 148.0, 30.0);
        sheet.button(button, "Start It Now (u)", Kind::Primary, Button::StartDaemon, false, shades);
        let said = Rect { x: text.x, width: button.x - text.x - 12.0, ..button };
        sheet.label(&lost.note, said, Side::Left, Ink::new(shades.warn, 12.5));
    }
}
