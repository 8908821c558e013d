//! What can be set: a name, what it is now, and what it means.

use rookery_view::scene::layout::{Bar, FieldOf, Hit, Rect};
use rookery_view::scene::pages::{Setting, Settings, Value};

use super::parts::{MARGIN, Offer, SMALL, foot, head, key_cap, row};
use crate::brush::{Ink, Side};
use crate::chrome::Look;
use crate::fonts;
use crate::shades::{Shades, color};
use crate::sheet::{Kind, Sheet};

const ROW: f32 = 36.0;
const SECTION: f32 = 40.0;
const NAME: f32 = 200.0;
const VALUE: f32 = 280.0;

pub(super) fn settings(look: &Look<'_>, sheet: &mut Sheet, page: &Settings, area: Rect) {
    let shades = &look.shades;
    let mut body = head(sheet, area, "Settings", &page.file, shades);
    let offer = |(button, label): &(_, String)| Offer::new(*button, label.clone(), Kind::Plain);
    let offers: Vec<Offer> = page.buttons.iter().map(offer).collect();
    body = foot(sheet, body, &offers, &[], None, shades);
    let tops = tops(page.rows.iter().map(|row| !row.section.is_empty()));
    let selected = page.selected.min(page.rows.len().saturating_sub(1));
    let at = |height: f32, view: f32| match page.first {
        Some(first) => tops.get(first).copied().unwrap_or(height),
        None => follow(&tops, selected, view),
    };
    sheet.scrolled(body, Bar::List, shades, at, |sheet, room| {
        let inner = room.inset(MARGIN, 0.0);
        for (index, setting) in page.rows.iter().enumerate() {
            let y = room.y + tops[index];
            if !setting.section.is_empty() {
                let band = Rect { y: y - SECTION + 8.0, height: SECTION - 8.0, ..inner };
                sheet.label(&setting.section, band, Side::Left, Ink::new(shades.faint, SMALL));
            }
            one(sheet, setting, index, selected, Rect { y, height: ROW, ..inner }, shades);
        }
        tops.last().map_or(0.0, |last| last + ROW) + 16.0
    });
}

/// Where rows begin, those with a section lower by its head.
pub(super) fn tops(sections: impl Iterator<Item = bool>) -> Vec<f32> {
    let mut y = 4.0;
    let mut tops = Vec::new();
    for begins in sections {
        y += if begins { SECTION } else { 0.0 };
        tops.push(y);
        y += ROW;
    }
    tops
}

/// How far to scroll so that a row is in view.
pub(super) fn follow(tops: &[f32], selected: usize, view: f32) -> f32 {
    tops.get(selected).map_or(0.0, |top| (top + ROW + 12.0 - view).max(0.0))
}

fn one(
    sheet: &mut Sheet,
    setting: &Setting,
    index: usize,
    selected: usize,
    rect: Rect,
    shades: &Shades,
) {
    let is_chosen = index == selected;
    row(sheet, rect.inset(-10.0, 1.0), is_chosen, shades);
    sheet.hit(rect.inset(-10.0, 0.0), Hit::Row(index));
    let share = (rect.width / (NAME + VALUE + 160.0)).min(1.0);
    let name = Rect { width: NAME * share, ..rect };
    sheet.label(&setting.name, name, Side::Left, Ink::new(shades.text, 13.0));
    let value = Rect { x: name.right() + 8.0, width: VALUE * share, ..rect };
    let used = control(sheet, &setting.value, index, value, shades).max(VALUE * share);
    let hint = Rect { x: value.x + used + 16.0, ..rect };
    let hint = Rect { width: rect.right() - hint.x, ..hint };
    let shade = if is_chosen { shades.soft } else { shades.faint };
    sheet.label(&setting.hint, hint, Side::Left, Ink::new(shade, SMALL));
}

/// What a setting is now, and what changes it under the mouse. Gives its width.
fn control(sheet: &mut Sheet, value: &Value, row: usize, place: Rect, shades: &Shades) -> f32 {
    let ink = Ink::new(shades.text, 13.0);
    let middle = place.y + place.height / 2.0;
    let width = match value {
        Value::Text(text) => sheet.label(text, place, Side::Left, ink).max(48.0),
        Value::Number(text) => return number(sheet, text, row, place, shades),
        Value::Switch(is_on) => {
            let track = Rect::new(place.x, (middle - 9.0).round(), 32.0, 18.0);
            let fill = if *is_on { shades.accent } else { shades.panel_edge };
            sheet.round(track, 9.0, color(fill));
            let x = if *is_on { track.right() - 9.0 } else { track.x + 9.0 };
            sheet.dot(x, track.y + 9.0, 14.0, shades.on_accent);
            let word = Rect { x: track.right() + 10.0, ..place };
            let word = Rect { width: place.right() - word.x, ..word };
            let text = if *is_on { "on" } else { "off" };
            42.0 + sheet.label(text, word, Side::Left, Ink::new(shades.soft, 12.5))
        }
        Value::Choice(words, chosen) => return choice(sheet, words, *chosen, row, place, shades),
        Value::Keys(keys) => {
            let mut x = place.x;
            for key in keys {
                x += key_cap(sheet, x, place, key, shades) + 6.0;
            }
            x - place.x
        }
        Value::Theme(name, colors) => {
            let mut x = place.x;
            for rgb in colors.iter().take(8) {
                let swatch = Rect::new(x, (middle - 7.0).round(), 14.0, 14.0);
                sheet.edged(swatch, 4.0, color(*rgb), color(shades.panel_edge));
                x += 17.0;
            }
            let word = Rect { x: x + 6.0, width: place.right() - x - 6.0, ..place };
            x - place.x + 6.0 + sheet.label(name, word, Side::Left, ink)
        }
        Value::Field(field) => {
            let rect = place.inset(0.0, 4.0);
            sheet.edged(rect, 6.0, color(shades.field), color(shades.accent));
            let inner = rect.inset(8.0, 0.0);
            sheet.field_line(FieldOf::Setting, inner, field, "", ink, shades);
            return place.width;
        }
    };
    sheet.hit(Rect { width, ..place }, Hit::Setting(row, 0));
    width
}

/// A number between a step down and a step up; pressed itself, it is written.
fn number(sheet: &mut Sheet, text: &str, row: usize, place: Rect, shades: &Shades) -> f32 {
    const STEP: f32 = 26.0;
    let ink = Ink::new(shades.text, 13.0);
    let middle = fonts::width(text, ink.font, ink.size) + 24.0;
    let frame = Rect { width: middle + 2.0 * STEP, ..place }.inset(0.0, 6.0);
    sheet.edged(frame, 6.0, color(shades.field), color(shades.panel_edge));
    let down = Rect { width: STEP, ..frame };
    let value = Rect { x: down.right(), width: middle, ..frame };
    let up = Rect { x: value.right(), ..down };
    let parts = [(down, "−", shades.soft), (up, "+", shades.soft), (value, text, shades.text)];
    for (part, (rect, label, shade)) in parts.into_iter().enumerate() {
        sheet.label(label, rect, Side::Center, Ink { color: shade, ..ink });
        sheet.hit(rect, Hit::Setting(row, part));
    }
    for x in [value.x, value.right() - 1.0] {
        sheet.fill(Rect { x, width: 1.0, ..frame }.inset(0.0, 1.0), color(shades.panel_edge));
    }
    frame.width
}

/// One of a few words beside each other.
fn choice(
    sheet: &mut Sheet,
    words: &[String],
    chosen: usize,
    row: usize,
    place: Rect,
    shades: &Shades,
) -> f32 {
    let ink = Ink::new(shades.soft, 12.5);
    let wide = |word: &String| fonts::width(word, ink.font, ink.size) + 20.0;
    let total: f32 = words.iter().map(wide).sum();
    let frame = Rect { width: total + 4.0, ..place }.inset(0.0, 5.0);
    sheet.edged(frame, 7.0, color(shades.field), color(shades.panel_edge));
    let mut x = frame.x + 2.0;
    for (index, word) in words.iter().enumerate() {
        let width = wide(word);
        let part = Rect { x, width, ..frame }.inset(0.0, 2.0);
        if index == chosen {
            sheet.round(part, 5.0, color(shades.raised));
        }
        let shade = if index == chosen { shades.text } else { ink.color };
        sheet.label(word, part, Side::Center, Ink { color: shade, ..ink });
        sheet.hit(part, Hit::Setting(row, index));
        x += width;
    }
    frame.width
}
