//! What pages are made of: heads, feet with buttons, rows, fields, chips, lines of text.

use rookery_view::scene::layout::{FieldOf, Hit, Rect};
use rookery_view::scene::pages::{Button, Field};
use rookery_view::scene::{Mood, Rgb};

use crate::brush::{Ink, Side, line_height};
use crate::flow::{self, Line, Run};
use crate::fonts;
use crate::shades::{Shades, color, faded};
use crate::sheet::{FieldLine, Kind, Sheet, floor};

/// Left and right of a page.
pub(super) const MARGIN: f32 = 22.0;
/// Height of a page's head and foot.
pub(super) const HEAD: f32 = 52.0;
pub(super) const FOOT: f32 = 54.0;
/// Size of running text, of what is beside it, and of a page's title.
pub(super) const TEXT: f32 = 13.5;
pub(super) const SMALL: f32 = 12.0;
pub(super) const TITLE: f32 = 18.0;
/// Between two paragraphs.
pub(super) const GAP: f32 = 9.0;
/// Text is not set wider than this.
pub(super) const MEASURE: f32 = 760.0;

/// Draws a line of text.
pub(crate) fn line(sheet: &mut Sheet, line: &Line, x: f32, y: f32, shades: &Shades) {
    for piece in &line.pieces {
        let run = &piece.run;
        let height = line_height(run.ink.size);
        let top = y + ((line.height - height) / 2.0).round();
        let place = Rect::new(x + piece.x, top, piece.width, height);
        if run.is_boxed {
            sheet.round(place.inset(-2.5, 0.0), 3.0, color(shades.code));
        }
        sheet.brush().text(&run.text, place, run.ink);
        if run.is_struck {
            let middle = Rect { y: place.y + (height * 0.54).round(), height: 1.0, ..place };
            sheet.fill(middle, color(run.ink.color));
        }
        if let Some(link) = run.link {
            let under = Rect { y: place.bottom() - 2.0, height: 1.0, ..place };
            sheet.fill(under, faded(run.ink.color, 0.6));
            sheet.hit(place, Hit::Link(link));
        }
    }
}

/// Draws lines from a point down; gives their height.
pub(super) fn lines(sheet: &mut Sheet, all: &[Line], x: f32, y: f32, shades: &Shades) -> f32 {
    let mut height = 0.0;
    for one in all {
        line(sheet, one, x, y + height, shades);
        height += one.height;
    }
    height
}

/// Draws a text in lines of a width; gives its height.
pub(super) fn wrapped(
    sheet: &mut Sheet,
    text: &str,
    place: Rect,
    ink: Ink,
    shades: &Shades,
) -> f32 {
    let broken = flow::lines(&[Run::new(text, ink)], place.width);
    lines(sheet, &broken, place.x, place.y, shades)
}

/// Draws lines exactly as they are, in the face for code; gives their height.
pub(super) fn exact(sheet: &mut Sheet, texts: &[String], place: Rect, ink: Ink) -> f32 {
    let ink = ink.code();
    let step = flow::leading(ink.size);
    let mut y = place.y;
    for text in texts {
        for part in flow::exact(text, ink, place.width) {
            let row = flow::middle(Rect { y, height: step, ..place }, ink.size);
            sheet.brush().text(&part, row, ink);
            y += step;
        }
    }
    y - place.y
}

/// A page's title at the left and more about it at the right. Gives the room below.
pub(super) fn head(
    sheet: &mut Sheet,
    area: Rect,
    title: &str,
    aside: &str,
    shades: &Shades,
) -> Rect {
    let band = Rect { height: HEAD, ..area };
    let inner = band.inset(MARGIN, 0.0);
    let room = Rect { x: inner.x + inner.width * 0.4, width: inner.width * 0.6, ..inner };
    let taken = sheet.label(aside, room, Side::Right, Ink::new(shades.faint, SMALL));
    let rest = Rect { width: inner.width - taken - 16.0, ..inner };
    sheet.label(title, rest, Side::Left, Ink::new(shades.text, TITLE).bold());
    sheet.fill(Rect { y: band.bottom() - 1.0, height: 1.0, ..band }, color(shades.line));
    Rect { y: band.bottom(), height: area.height - HEAD, ..area }
}

/// A button of a foot.
pub(super) struct Offer {
    pub(super) button: Button,
    pub(super) label: String,
    pub(super) kind: Kind,
}

impl Offer {
    pub(super) fn new(button: Button, label: impl Into<String>, kind: Kind) -> Offer {
        Offer { button, label: label.into(), kind }
    }
}

/// Width of a button with a label.
pub(super) fn button_width(label: &str) -> f32 {
    (fonts::width(label, fonts::SANS, 13.0) + 30.0).round().max(72.0)
}

/// Buttons at the foot of a page: those that go elsewhere at the left, those that decide at the right.
/// Gives the room above.
pub(super) fn foot(
    sheet: &mut Sheet,
    area: Rect,
    left: &[Offer],
    right: &[Offer],
    focus: Option<Button>,
    shades: &Shades,
) -> Rect {
    if left.is_empty() && right.is_empty() {
        return area;
    }
    let band = Rect { y: area.bottom() - FOOT, height: FOOT, ..area };
    sheet.fill(Rect { height: 1.0, ..band }, color(shades.line));
    let inner = band.inset(MARGIN, 12.0);
    // Where they do not fit, all give way alike.
    let wanted = |offers: &[Offer]| -> f32 {
        offers.iter().map(|offer| button_width(&offer.label) + 8.0).sum()
    };
    let share = (inner.width / (wanted(left) + wanted(right) + 8.0)).min(1.0);
    let mut x = inner.x;
    for offer in left {
        let width = (button_width(&offer.label) * share).floor();
        let rect = Rect { x, width, ..inner };
        let is_focused = focus == Some(offer.button);
        sheet.button(rect, &offer.label, offer.kind, offer.button, is_focused, shades);
        x += width + 8.0 * share;
    }
    let mut x = inner.right();
    for offer in right.iter().rev() {
        let width = (button_width(&offer.label) * share).floor();
        x -= width;
        let rect = Rect { x, width, ..inner };
        let is_focused = focus == Some(offer.button);
        sheet.button(rect, &offer.label, offer.kind, offer.button, is_focused, shades);
        x -= 8.0 * share;
    }
    Rect { height: area.height - FOOT, ..area }
}

/// The ground of a row that is chosen, or that the mouse is over.
pub(super) fn row(sheet: &mut Sheet, rect: Rect, is_chosen: bool, shades: &Shades) {
    if is_chosen {
        sheet.round(rect, 6.0, color(shades.chosen));
    } else if sheet.is_hovered(rect) {
        sheet.round(rect, 6.0, faded(shades.text, 0.05));
    }
}

/// A word in a small box. Gives its width.
pub(super) fn chip(sheet: &mut Sheet, x: f32, row: Rect, text: &str, rgb: Rgb) -> f32 {
    let ink = Ink::new(rgb, 11.0);
    let width = fonts::width(text, ink.font, ink.size) + 14.0;
    let rect = Rect::new(x, row.y + ((row.height - 18.0) / 2.0).round(), width, 18.0);
    sheet.round(rect, 9.0, faded(rgb, 0.14));
    sheet.label(text, rect, Side::Center, ink);
    width
}

/// A key, as it is on a keyboard. Gives its width.
pub(super) fn key_cap(sheet: &mut Sheet, x: f32, row: Rect, text: &str, shades: &Shades) -> f32 {
    let ink = Ink::new(shades.soft, 11.5);
    let width = (fonts::width(text, ink.font, ink.size) + 14.0).max(24.0);
    let rect = Rect::new(x, row.y + ((row.height - 20.0) / 2.0).round(), width, 20.0);
    sheet.edged(rect, 5.0, color(shades.raised), color(shades.panel_edge));
    sheet.label(text, rect, Side::Center, ink);
    width
}

/// A field of several lines that grows with its text; how high it is for a width.
pub(super) fn field_height(field: &Field, width: f32, most: usize) -> f32 {
    let count = field_lines(field, width - 24.0).len().clamp(1, most);
    count as f32 * flow::leading(TEXT) + 16.0
}

/// A line of a field: its first byte, and its text.
fn field_lines(field: &Field, width: f32) -> Vec<(usize, String)> {
    let ink = Ink::new((0, 0, 0), TEXT);
    let mut all = Vec::new();
    let mut start = 0;
    for line in field.text.split('\n') {
        let mut at = start;
        let broken = flow::lines(&[Run::new(line, ink)], width);
        for part in &broken {
            let text: String = part.pieces.iter().map(|piece| piece.run.text.as_str()).collect();
            // Blanks at the end of a line are left out there, not in the field.
            let found = field.text[at..start + line.len()].find(&text).unwrap_or(0);
            all.push((at + found, text.clone()));
            at += found + text.len();
        }
        start += line.len() + 1;
    }
    all
}

/// Draws a field of several lines; of one that is longer the part with the cursor.
pub(super) fn field(
    sheet: &mut Sheet,
    of: FieldOf,
    rect: Rect,
    field: &Field,
    hint: &str,
    shades: &Shades,
) {
    let edge = if field.has_keyboard { shades.accent } else { shades.panel_edge };
    sheet.edged(rect, 8.0, color(shades.field), color(edge));
    sheet.hit(rect, Hit::Field(of, 0));
    let inner = rect.inset(12.0, 8.0);
    let ink = Ink::new(shades.text, TEXT);
    let step = flow::leading(TEXT);
    let all = field_lines(field, inner.width);
    let cursor = floor(&field.text, field.cursor);
    let at = all.iter().rposition(|(start, _)| *start <= cursor).unwrap_or(0);
    let fitting = ((inner.height / step).round() as usize).max(1);
    let first = (at + 1).saturating_sub(fitting);
    if field.text.is_empty() && field.preedit.is_empty() {
        // Beside the cursor, not under it.
        let row = Rect { x: inner.x + 4.0, width: inner.width - 4.0, height: step, ..inner };
        sheet.label(hint, row, Side::Left, Ink { color: shades.faint, ..ink });
    }
    for (index, (start, text)) in all.iter().enumerate().skip(first).take(fitting) {
        let y = inner.y + (index - first) as f32 * step;
        let row = flow::middle(Rect { y, height: step, ..inner }, TEXT);
        if let Some(chosen) = &field.selected {
            let from = floor(text, chosen.start.saturating_sub(*start));
            let to = floor(text, chosen.end.saturating_sub(*start));
            if from < to {
                let left = fonts::width(&text[..from], ink.font, ink.size);
                let width = fonts::width(&text[..to], ink.font, ink.size) - left;
                sheet.fill(Rect { x: row.x + left, width, ..row }, faded(shades.accent, 0.4));
            }
        }
        let before = if index == at { floor(text, cursor - start) } else { text.len() };
        let is_here = index == at;
        let shown = match is_here {
            true => format!("{}{}{}", &text[..before], field.preedit, &text[before..]),
            false => text.clone(),
        };
        sheet.brush().text(&shown, row, ink);
        let kept = FieldLine { of, rect: row, start: *start, text: text.clone(), ink };
        sheet.fields.push(kept);
        if !is_here {
            continue;
        }
        let x = row.x + fonts::width(&text[..before], ink.font, ink.size);
        let width = fonts::width(&field.preedit, ink.font, ink.size);
        if width > 0.0 {
            let under = Rect::new(x, row.bottom() - 1.0, width, 1.0);
            sheet.fill(under, color(ink.color));
        }
        if field.has_keyboard {
            let caret = Rect::new((x + width).round(), row.y, 1.5, row.height);
            sheet.fill(caret, color(shades.matched));
            sheet.caret = Some(caret);
        }
    }
}

/// What time it is for the person who looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    /// Milliseconds since 1970; 0 if that is not said.
    at: i64,
    /// Seconds ahead of UTC.
    offset: i32,
}

impl Now {
    pub(super) fn of(scene: &rookery_view::scene::Scene) -> Now {
        Now { at: scene.now, offset: scene.utc_offset }
    }

    /// The time of day, on the clock of the person.
    pub(super) fn clock(self, at: i64) -> String {
        let seconds = at.div_euclid(1000) + i64::from(self.offset);
        let seconds = seconds.rem_euclid(86_400);
        format!("{:02}:{:02}", seconds / 3600, seconds / 60 % 60)
    }
}

/// How long ago something was: `<1m`, `4m`, `2h`, `3d`; empty if unknown.
pub(super) fn age(at: i64, now: Now) -> String {
    let now = now.at;
    if at <= 0 || now <= 0 {
        return String::new();
    }
    match (now - at).max(0) / 60_000 {
        0 => "<1m".to_owned(),
        minutes @ 1..60 => format!("{minutes}m"),
        minutes @ 60..1440 => format!("{}h", minutes / 60),
        minutes => format!("{}d", minutes / 1440),
    }
}

/// First row that is shown, and how many fit: the selected one is among them unless the user scrolled.
pub(super) fn window(
    count: usize,
    fitting: usize,
    selected: Option<usize>,
    first: Option<usize>,
) -> usize {
    let last = count.saturating_sub(fitting);
    let follow = selected.map_or(0, |at| (at + 1).saturating_sub(fitting));
    first.unwrap_or(follow).min(last)
}

/// The mood of how something stands, for its sign.
pub(super) fn status_mood(status: &str) -> Mood {
    match status {
        "waiting" | "pending" | "open" | "changes_requested" => Mood::Waiting,
        "failed" | "stopped" | "denied" | "error" => Mood::Failed,
        "done" | "approved" => Mood::Finished,
        _ => Mood::Working,
    }
}

/// A color for how something stands.
pub(super) fn status_color(status: &str, shades: &Shades) -> Rgb {
    match status {
        "waiting" | "pending" | "open" | "changes_requested" => shades.warn,
        "failed" | "stopped" | "denied" | "error" => shades.bad,
        "working" | "running" => shades.matched,
        "done" | "approved" => shades.good,
        _ => shades.soft,
    }
}
