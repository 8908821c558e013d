//! A conversation: what was said and done, what is being written, and the composer below it.

use std::cell::Cell;

use rookery_view::link::{Block, ItemKind, Span, ThreadItem};
use rookery_view::scene::layout::{Bar, FieldOf, Hit, Rect};
use rookery_view::scene::pages::{Button, Card, Thread};

use super::diff::{self, Marks};
use super::parts::{
    GAP, MARGIN, MEASURE, Now, SMALL, TEXT, button_width, exact, field, field_height, head,
    status_color, status_mood,
};
use super::{card, prose};
use crate::brush::{Ink, Side};
use crate::chrome::Look;
use crate::fonts;
use crate::shades::{Shades, color, faded};
use crate::sheet::{CardPlace, Kind, Sheet};

/// Height of a tool call that is folded.
const CALL: f32 = 30.0;
/// Lines of a composer.
const MOST_LINES: usize = 6;

pub(super) fn thread(look: &Look<'_>, sheet: &mut Sheet, page: &Thread, area: Rect) {
    let (shades, now) = (&look.shades, Now::of(look.scene));
    let body = title(sheet, page, area, shades);
    let body = composer(sheet, page, body, shades);
    let width = (body.width - 2.0 * MARGIN).min(MEASURE + 60.0);
    let x = body.x + ((body.width - width) / 2.0).floor();
    let chosen = Cell::new(None);
    let scroll = sheet.scrolled(
        body,
        Bar::Text,
        shades,
        |height, view| begin(page, chosen.get(), height, view),
        |sheet, room| items(sheet, page, &chosen, Rect { x, width, ..room }, now, shades),
    );
    if let Some(it) = chosen.get().filter(|it| it.has_card && scroll.view > 0.0) {
        let most = it.beyond(scroll.view);
        // Its begin was in view before: it is read from there on.
        let end_is_seen = it.bottom <= scroll.at + scroll.view + 1.0;
        let y = body.y + it.top - scroll.at;
        let all = Rect { x, y, width, height: it.bottom - it.top };
        let area = all.intersection(&body);
        sheet.card = Some(CardPlace { top: it.top, most, end_is_seen, area });
    }
    if scroll.at < scroll.most - 1.0 {
        let waiting = page.head.waiting.len();
        let label = match waiting {
            0 => "Jump to newest".to_owned(),
            count => format!("{count} waits"),
        };
        let width = button_width(&label);
        let rect = Rect::new(body.right() - width - 24.0, body.bottom() - 42.0, width, 30.0);
        let kind = if waiting > 0 { Kind::Primary } else { Kind::Plain };
        sheet.button(rect, &label, kind, Button::Newest, false, shades);
    }
}

/// Where the selected item lies in the text.
#[derive(Clone, Copy)]
struct Chosen {
    top: f32,
    bottom: f32,
    /// Its card is drawn.
    has_card: bool,
}

impl Chosen {
    /// How much of it does not fit.
    fn beyond(&self, view: f32) -> f32 {
        (self.bottom - self.top - view).max(0.0)
    }
}

/// From where on the text is shown. A card is read from its begin, as in the inbox: what decides is never
/// above or below unseen.
fn begin(page: &Thread, chosen: Option<Chosen>, height: f32, view: f32) -> f32 {
    let own = (height - view - page.scroll).max(0.0);
    let Some(it) = chosen.filter(|it| it.has_card || page.follows) else { return own };
    let beyond = it.beyond(view);
    match &page.card {
        Some(card) if it.has_card && beyond > 0.0 => {
            it.top + if card.scroll.is_nan() { 0.0 } else { card.scroll.clamp(0.0, beyond) }
        }
        _ => {
            let lowest = it.bottom - view;
            own.clamp(lowest.min(it.top), lowest.max(it.top))
        }
    }
}

/// What is said about the thread as a whole.
fn title(sheet: &mut Sheet, page: &Thread, area: Rect, shades: &Shades) -> Rect {
    let said = &page.head;
    let tokens = if said.usage.total > 0 {
        format!("{} tokens", grouped(said.usage.total))
    } else {
        String::new()
    };
    let body = head(sheet, area, "", &tokens, shades);
    let band = Rect { height: body.y - area.y, ..area }.inset(MARGIN, 0.0);
    let mut room =
        Rect { width: band.width - fonts::width(&tokens, fonts::SANS, SMALL) - 16.0, ..band };
    let rgb = status_color(&said.status, shades);
    let ink = Ink::new(shades.text, super::parts::TITLE).bold();
    let most = Rect { width: room.width * 0.55, ..room };
    let taken = sheet.label(&said.title, most, Side::Left, ink) + 12.0;
    room = Rect { x: room.x + taken, width: room.width - taken, ..room };
    for (text, button) in [(&said.model, Button::Model), (&said.mode, Button::Mode)] {
        let ink = Ink::new(shades.soft, SMALL);
        let width = fonts::width(text, ink.font, ink.size) + 18.0;
        if text.is_empty() || width > room.width {
            continue;
        }
        let rect = Rect { width, ..room }.inset(0.0, 14.0);
        let is_hovered = sheet.is_hovered(rect);
        if is_hovered {
            sheet.round(rect, 6.0, color(shades.raised));
        }
        sheet.label(text, rect, Side::Center, ink);
        sheet.hit(rect, Hit::Button(button));
        room = Rect { x: room.x + width + 2.0, width: room.width - width - 2.0, ..room };
    }
    if !said.status.is_empty() && room.width > 60.0 {
        super::parts::chip(sheet, room.x + 8.0, room, &said.status, rgb);
    }
    body
}

/// A number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

fn items(
    sheet: &mut Sheet,
    page: &Thread,
    chosen: &Cell<Option<Chosen>>,
    place: Rect,
    now: Now,
    shades: &Shades,
) -> f32 {
    let mut y = place.y + 14.0;
    if page.has_older {
        let row = Rect { y, height: 26.0, ..place };
        sheet.label("Show older items", row, Side::Center, Ink::new(shades.matched, SMALL));
        sheet.hit(row, Hit::Button(Button::Older));
        y += 34.0;
    }
    for (index, item) in page.items.iter().enumerate() {
        let top = y;
        y += one(sheet, page, index, item, Rect { y, ..place }, now, shades);
        if page.at == Some(index) {
            let has_card = page.card.is_some() && waits(item);
            chosen.set(Some(Chosen { top: top - place.y, bottom: y - place.y, has_card }));
            let mark = Rect::new(place.x - 12.0, top, 3.0, (y - top).max(CALL));
            sheet.round(mark, 1.5, color(shades.accent));
        }
        y += GAP + 3.0;
    }
    for text in &page.steers {
        y += steer(sheet, text, Rect { y, ..place }, shades) + GAP + 3.0;
    }
    y - place.y + 8.0
}

fn one(
    sheet: &mut Sheet,
    page: &Thread,
    index: usize,
    item: &ThreadItem,
    place: Rect,
    now: Now,
    shades: &Shades,
) -> f32 {
    let blocks = item.blocks.as_deref().unwrap_or_default();
    match item.kind {
        ItemKind::User => user(sheet, index, item, place, shades),
        // A plan that is asked about is decided where it stands.
        _ if is_call(item) => call(sheet, page, index, item, place, now, shades),
        ItemKind::Thought => {
            let inner = Rect { x: place.x + 14.0, width: place.width - 14.0, ..place };
            let ink = Ink::new(shades.faint, 13.0);
            let height = prose::prose(sheet, blocks, inner, ink, shades);
            sheet.fill(Rect { width: 1.0, height, ..place }, color(shades.panel_edge));
            sheet.hit(Rect { height, ..place }, Hit::Item(index));
            height
        }
        ItemKind::Error => {
            let inner = Rect { y: place.y + 9.0, ..place.inset(14.0, 0.0) };
            let ink = Ink::new(shades.bad, TEXT);
            let height = prose::prose(sheet, blocks, inner, ink, shades) + 18.0;
            sheet.round(Rect { height, ..place }, 7.0, faded(shades.bad, 0.1));
            height
        }
        ItemKind::Compaction => {
            let row = Rect { height: 22.0, ..place };
            let text = "earlier items were summed up";
            let width = sheet.label(text, row, Side::Center, Ink::new(shades.faint, SMALL)) + 24.0;
            let side = (place.width - width) / 2.0;
            let line = Rect { y: row.y + 11.0, height: 1.0, width: side, ..row };
            sheet.fill(line, color(shades.line));
            sheet.fill(Rect { x: place.right() - side, ..line }, color(shades.line));
            22.0
        }
        _ => {
            let mut height = prose::blocks(sheet, blocks, place, shades);
            if item.status == "working" {
                // It is still being written.
                let row = Rect { y: place.y + height, height: 16.0, ..place };
                sheet.dot(row.x + 5.0, row.y + 8.0, 7.0, shades.matched);
                height += 16.0;
            }
            height
        }
    }
}

/// Whether an item has the line of a call, below which its card opens.
fn is_call(item: &ThreadItem) -> bool {
    match item.kind {
        ItemKind::Tool | ItemKind::Edit | ItemKind::Command | ItemKind::Question => true,
        ItemKind::Plan => item.blocks.is_none() || item.request.is_some(),
        _ => false,
    }
}

/// What a person said stands at the right, in a bubble.
fn user(sheet: &mut Sheet, index: usize, item: &ThreadItem, place: Rect, shades: &Shades) -> f32 {
    let blocks = item.blocks.as_deref().unwrap_or_default();
    let rect = bubble(sheet, blocks, place, shades);
    sheet.hit(rect, Hit::Item(index));
    rect.height
}

/// A message that the turn has not taken up yet: the same bubble, and that it was sent.
fn steer(sheet: &mut Sheet, text: &str, place: Rect, shades: &Shades) -> f32 {
    let spans = vec![Span { text: text.to_owned(), ..Span::default() }];
    let rect = bubble(sheet, &[Block::Paragraph { spans }], place, shades);
    let below = Rect { y: rect.bottom() + 2.0, height: 16.0, ..place };
    sheet.label("sent", below, Side::Right, Ink::new(shades.faint, SMALL));
    rect.height + 18.0
}

fn bubble(sheet: &mut Sheet, blocks: &[Block], place: Rect, shades: &Shades) -> Rect {
    let most = (place.width * 0.8).round();
    // As wide as what is in it: drawn once to one side to learn that.
    let widest = |blocks: &[Block]| -> f32 {
        let line = |block: &Block| match block {
            Block::Paragraph { spans } => {
                let text: String = spans.iter().map(|span| span.text.as_str()).collect();
                text.lines().map(|line| fonts::width(line, fonts::SANS, TEXT)).fold(0.0, f32::max)
            }
            _ => most,
        };
        blocks.iter().map(line).fold(24.0, f32::max)
    };
    let width = (widest(blocks) + 30.0).min(most).ceil();
    let bubble = Rect::new(place.right() - width, place.y, width, 0.0);
    let inner = Rect { y: place.y + 9.0, ..bubble.inset(14.0, 0.0) };
    let mut probe = Sheet::default();
    let text = prose::blocks(&mut probe, blocks, Rect { y: 0.0, ..inner }, shades);
    let rect = Rect { height: text + 18.0, ..bubble };
    sheet.round(rect, 10.0, color(shades.raised));
    prose::blocks(sheet, blocks, inner, shades);
    rect
}

/// A call of a tool: one line, and what came of it while it is unfolded.
fn call(
    sheet: &mut Sheet,
    page: &Thread,
    index: usize,
    item: &ThreadItem,
    place: Rect,
    now: Now,
    shades: &Shades,
) -> f32 {
    let is_open = page.open.contains(&item.id);
    let waits = waits(item);
    let row = Rect { height: CALL, ..place };
    let ground = if waits { faded(shades.warn, 0.1) } else { color(shades.code) };
    sheet.round(row, 7.0, ground);
    sheet.hit(row, Hit::Item(index));
    let middle = row.y + CALL / 2.0;
    let mood = status_mood(&item.status);
    sheet.sign(row.x + 15.0, middle, 8.0, mood, status_color(&item.status, shades));
    let mut room = Rect { x: row.x + 28.0, width: row.width - 38.0, ..row };
    if waits {
        let open = page.card.as_ref().filter(|_| page.at == Some(index));
        room = decide(sheet, index, open, room, shades);
    } else {
        let sign = if is_open { "▾" } else { "▸" };
        room.width -= sheet.label(sign, room, Side::Right, Ink::new(shades.faint, 11.0)) + 10.0;
    }
    if let Some(tool) = &item.tool {
        let mut told = Vec::new();
        if tool.lines > 0 && !is_open {
            told.push(match tool.lines {
                1 => "1 line".to_owned(),
                lines => format!("{lines} lines"),
            });
        }
        if let Some(exit) = tool.exit.filter(|exit| *exit != 0) {
            told.push(format!("exit {exit}"));
        }
        if let Some(ms) = tool.ms {
            told.push(format!("{}.{} s", ms / 1000, ms % 1000 / 100));
        }
        let said = told.join(" · ");
        room.width -= sheet.label(&said, room, Side::Right, Ink::new(shades.faint, SMALL)) + 12.0;
        let taken = sheet.label(&tool.name, room, Side::Left, Ink::new(shades.text, 13.0).bold());
        let rest = Rect { x: room.x + taken + 10.0, width: room.width - taken - 10.0, ..room };
        sheet.label(&tool.title, rest, Side::Left, Ink::new(shades.soft, 13.5).code());
    } else {
        let word = match item.kind {
            ItemKind::Question => "question",
            ItemKind::Plan => "plan",
            _ => "tool",
        };
        sheet.label(word, room, Side::Left, Ink::new(shades.text, 13.0).bold());
    }
    let mut y = row.bottom();
    let is_here = page.at == Some(index);
    if let (true, Some(open)) = (is_here && waits, &page.card) {
        let inner = Rect { y: y + 2.0, ..place.inset(12.0, 0.0) };
        y += card::content(sheet, open, inner, now, shades) + 2.0;
        y += card::written(sheet, open, Rect { y, ..inner }, shades);
    } else {
        if is_open {
            y += output(sheet, index, item, Rect { y: y + 6.0, ..place }, shades) + 6.0;
        }
        if let Some(plan) = item.blocks.as_deref().filter(|_| item.kind == ItemKind::Plan) {
            y += prose::blocks(sheet, plan, Rect { y: y + 6.0, ..place }, shades) + 6.0;
        }
    }
    y - place.y
}

fn waits(item: &ThreadItem) -> bool {
    item.status == "waiting" && item.request.is_some() && is_call(item)
}

/// The two buttons of a request in its place. Gives what is left of the row.
fn decide(
    sheet: &mut Sheet,
    index: usize,
    open: Option<&Card>,
    row: Rect,
    shades: &Shades,
) -> Rect {
    let asks = open.is_some_and(|open| !open.card.questions.is_empty());
    let offers: &[(Button, &str, Kind)] = match open {
        Some(open) if open.deny.is_some() => {
            &[(Button::Deny, "Deny", Kind::Danger), (Button::Back, "Cancel", Kind::Plain)]
        }
        Some(open) if open.own.is_some() => {
            &[(Button::Send, "Send", Kind::Primary), (Button::Back, "Cancel", Kind::Plain)]
        }
        _ if asks => &[],
        _ => &[(Button::Approve, "Approve", Kind::Primary), (Button::Deny, "Deny…", Kind::Danger)],
    };
    let mut rest = row;
    for (button, label, kind) in offers {
        let width = 76.0;
        let rect = Rect { x: rest.right() - width, width, ..rest }.inset(0.0, 3.0);
        sheet.button(rect, label, *kind, *button, false, shades);
        sheet.hit(rect, Hit::ItemButton(index, *button));
        rest.width -= width + 8.0;
    }
    rest
}

fn output(sheet: &mut Sheet, index: usize, item: &ThreadItem, place: Rect, shades: &Shades) -> f32 {
    let mut y = place.y;
    if let Some(tool) = &item.tool {
        let ink = Ink::new(shades.soft, TEXT);
        let inner = Rect { x: place.x + 28.0, width: place.width - 40.0, ..place };
        y += exact(sheet, &tool.head, Rect { y, ..inner }, ink);
        let left = (tool.lines as usize).saturating_sub(tool.head.len() + tool.tail.len());
        if left > 0 {
            let row = Rect { y, height: 22.0, ..inner };
            let text = match left {
                1 => "··· 1 more line".to_owned(),
                left => format!("··· {left} more lines"),
            };
            sheet.label(&text, row, Side::Left, Ink::new(shades.matched, SMALL));
            sheet.hit(row, Hit::ItemButton(index, Button::Whole));
            y += 22.0;
        }
        y += exact(sheet, &tool.tail, Rect { y, ..inner }, ink);
    }
    for file in item.diff.iter().flatten() {
        let inner = Rect { y, ..place.inset(12.0, 0.0) };
        diff::file_head(sheet, file, inner, shades);
        let lines = Rect { y: y + diff::FILE, ..inner };
        let (height, _) =
            diff::file_lines(sheet, file, lines, Marks::default(), shades, &mut |_, _, _, _| 0.0);
        y += diff::FILE + height + 6.0;
    }
    y - place.y
}

/// The field for a message with its buttons. Gives the room above.
fn composer(sheet: &mut Sheet, page: &Thread, area: Rect, shades: &Shades) -> Rect {
    let width = (area.width - 2.0 * MARGIN).min(MEASURE + 60.0);
    let x = area.x + ((area.width - width) / 2.0).floor();
    let is_running = page.is_running();
    // What is written while a turn runs can be sent, and the turn can be stopped all the same.
    let offers: &[(&str, Kind, Button)] = match (is_running, page.composer.text.is_empty()) {
        (true, true) => &[("Stop", Kind::Danger, Button::Stop)],
        (true, false) => {
            &[("Stop", Kind::Danger, Button::Stop), ("Send", Kind::Primary, Button::Send)]
        }
        (false, _) => &[("Send", Kind::Primary, Button::Send)],
    };
    let beside = 84.0 * offers.len() as f32;
    let inner = width - beside;
    let height = field_height(&page.composer, inner, MOST_LINES).max(38.0);
    let lower = area.bottom() - 16.0;
    let rect = Rect::new(x, lower - height, inner, height);
    let mut top = rect.y;
    if !page.images.is_empty() {
        let row = Rect { y: top - 26.0, height: 22.0, ..rect };
        let mut left = row.x;
        for name in &page.images {
            left += super::parts::chip(sheet, left, row, name, shades.soft) + 6.0;
        }
        top = row.y;
    }
    let hint = if is_running { "Say more while it works" } else { "Message" };
    field(sheet, FieldOf::Composer, rect, &page.composer, hint, shades);
    let mut left = rect.right() + 10.0;
    for (label, kind, what) in offers {
        let button = Rect::new(left, lower - 38.0, 74.0, 38.0);
        sheet.button(button, label, *kind, *what, page.focus == Some(*what), shades);
        left += 84.0;
    }
    sheet.fill(Rect { y: top - 12.0, height: 1.0, ..area }, color(shades.line));
    let above = Rect { height: top - 12.0 - area.y, ..area };
    commands(sheet, page, Rect { x, width: inner, ..above }, shades);
    above
}

/// Slash commands that match, above the composer.
fn commands(sheet: &mut Sheet, page: &Thread, area: Rect, shades: &Shades) {
    const ROW: f32 = 28.0;
    const MOST: usize = 8;
    if page.commands.is_empty() {
        return;
    }
    let shown = page.commands.len().min(MOST);
    let first = (page.command + 1).saturating_sub(shown);
    let height = shown as f32 * ROW + 10.0;
    let frame = Rect::new(area.x, area.bottom() - height - 4.0, area.width.min(520.0), height);
    sheet.layer(area);
    sheet.brush().panel(frame, 8.0, shades.panel, shades.panel_edge);
    for (index, (name, about)) in page.commands.iter().enumerate().skip(first).take(shown) {
        let y = frame.y + 5.0 + (index - first) as f32 * ROW;
        let rect = Rect { y, height: ROW, ..frame }.inset(5.0, 0.0);
        super::parts::row(sheet, rect, index == page.command, shades);
        let inner = rect.inset(10.0, 0.0);
        let taken =
            sheet.label(&format!("/{name}"), inner, Side::Left, Ink::new(shades.text, 13.0));
        let rest = Rect { x: inner.x + taken + 12.0, width: inner.width - taken - 12.0, ..inner };
        sheet.label(about, rest, Side::Left, Ink::new(shades.faint, SMALL));
        sheet.hit(rect, Hit::Row(index));
    }
}
