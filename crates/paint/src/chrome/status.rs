//! The line below everything: what waits, what happened, where this is, whose size it has.

use rookery_view::scene::Tone;
use rookery_view::scene::layout::{Hit, Rect, StatusPart};

use super::Look;
use crate::brush::{Ink, Side};
use crate::fonts;
use crate::shades::{color, faded};
use crate::sheet::Sheet;

const SIZE: f32 = 11.5;
const GAP: f32 = 14.0;
/// A line that is narrower has no hints but that for keys.
const ROOM_FOR_HINTS: f32 = 560.0;

/// Draws the status line.
pub(crate) fn status(look: &Look<'_>, sheet: &mut Sheet) {
    let (line, shades, said) = (look.layout.panes.status, &look.shades, &look.scene.status);
    if line.height < 1.0 {
        return;
    }
    sheet.layer(line);
    let ground = if said.is_flashing { faded(shades.warn, 0.35) } else { color(shades.chrome) };
    sheet.fill(line, ground);
    sheet.fill(Rect { height: 1.0, ..line }, color(shades.line));
    let mut left = line.x + 12.0;
    let mut put = |sheet: &mut Sheet, text: &str, ink: Ink, part: StatusPart| {
        let width = fonts::width(text, ink.font, ink.size);
        let place = Rect::new(left, line.y, width, line.height);
        let is_hovered = sheet.is_hovered(place.inset(-GAP / 2.0, 0.0));
        let shade = if is_hovered { shades.text } else { ink.color };
        sheet.label(
            text,
            Rect { width: width + 1.0, ..place },
            Side::Left,
            Ink { color: shade, ..ink },
        );
        sheet.hit(place.inset(-GAP / 2.0, 0.0), Hit::Status(part));
        left += width + GAP;
    };
    if !said.help_key.is_empty() {
        let text = format!("{} keys", said.help_key);
        put(sheet, &text, Ink::new(shades.faint, SIZE), StatusPart::Help);
    }
    if said.waiting > 0 {
        let key =
            if said.inbox_key.is_empty() { String::new() } else { format!(": {}", said.inbox_key) };
        let text = format!("{} wait{key}", said.waiting);
        put(sheet, &text, Ink::new(shades.warn, SIZE), StatusPart::Waiting);
    }
    // What a newcomer needs, as long as there is nothing else to say.
    if said.message.is_none() && line.width >= ROOM_FOR_HINTS {
        let ink = Ink::new(shades.faint, SIZE);
        let hints = [
            (&said.inbox_key, "inbox", StatusPart::Waiting, said.waiting == 0),
            (&said.palette_key, "commands", StatusPart::Palette, true),
        ];
        for (key, word, part, _) in hints.into_iter().filter(|it| it.3 && !it.0.is_empty()) {
            put(sheet, &format!("{key} {word}"), ink, part);
        }
    }
    let right = parts_at_right(look, sheet, left);
    if let Some((tone, text)) = &said.message {
        let shade = match tone {
            Tone::Info => shades.text,
            Tone::Warn => shades.warn,
            Tone::Error => shades.bad,
        };
        let room = Rect::new(left, line.y, right - GAP - left, line.height);
        sheet.label(text, room, Side::Left, Ink::new(shade, SIZE));
    }
}

/// Place, size and rights, as far as there is room for them; gives where they begin.
fn parts_at_right(look: &Look<'_>, sheet: &mut Sheet, left: f32) -> f32 {
    let (line, shades, said) = (look.layout.panes.status, &look.shades, &look.scene.status);
    let size = match &said.owner {
        Some(owner) => format!("{} by {owner} · fit here", said.size),
        None => said.size.clone(),
    };
    let has_message = said.message.is_some();
    let parts = [
        (said.rights.as_str(), shades.faint, None),
        (said.mode.as_str(), shades.faint, None),
        (size.as_str(), shades.soft, Some(StatusPart::Size)),
        (said.place.as_str(), shades.faint, None),
    ];
    let mut right = line.right() - 12.0;
    // A message has at least half of what is left.
    let least = if has_message { left + (right - left) / 2.0 } else { left };
    for (text, shade, part) in parts {
        let ink = Ink::new(shade, SIZE);
        let width = fonts::width(text, ink.font, ink.size);
        if text.is_empty() || right - width < least {
            continue;
        }
        let place = Rect::new(right - width, line.y, width + 1.0, line.height);
        sheet.label(text, place, Side::Left, ink);
        if let Some(part) = part {
            sheet.hit(place.inset(-GAP / 2.0, 0.0), Hit::Status(part));
        }
        right -= width + GAP;
    }
    right
}
