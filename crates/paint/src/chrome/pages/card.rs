//! The card of a request: everything that a decision is made by, with buttons at its foot.

use rookery_view::link::{Card as Content, Question};
use rookery_view::scene::Tone;
use rookery_view::scene::layout::{Bar, FieldOf, Hit, Rect};
use rookery_view::scene::pages::{Button, Card};

use super::diff::{self, Marks};
use super::parts::{
    GAP, MARGIN, MEASURE, Now, Offer, SMALL, TEXT, age, chip, exact, field, field_height, foot,
    status_color, wrapped,
};
use super::prose;
use crate::brush::{Ink, Side};
use crate::fonts;
use crate::shades::{Shades, color, faded};
use crate::sheet::{CardPlace, Kind, Sheet};

/// Draws a card into a place, its buttons at the foot.
pub(super) fn card(sheet: &mut Sheet, page: &Card, area: Rect, now: Now, shades: &Shades) {
    let body = buttons(sheet, page, area, shades);
    let body = lower_fields(sheet, page, body, shades);
    let inner = Rect { width: body.width - 2.0 * MARGIN, x: body.x + MARGIN, ..body };
    let scroll = sheet.scrolled(
        Rect { width: inner.width + MARGIN - 4.0, ..inner },
        Bar::Text,
        shades,
        |_, _| page.scroll,
        |sheet, room| {
            let room = Rect { width: inner.width.min(MEASURE + 120.0), ..room };
            content(sheet, page, room, now, shades)
        },
    );
    if scroll.view > 0.0 {
        let end_is_seen = scroll.at >= scroll.most - 1.0;
        sheet.card = Some(CardPlace { top: 0.0, most: scroll.most, end_is_seen, area: body });
    }
    if scroll.at < scroll.most - 1.0 {
        // What is below must not be missed.
        let text = "more below ↓";
        let width = fonts::width(text, fonts::SANS, 11.0) + 20.0;
        let x = inner.x + ((inner.width - width) / 2.0).round();
        let tag = Rect::new(x, body.bottom() - 26.0, width, 20.0);
        sheet.edged(tag, 10.0, color(shades.raised), color(shades.panel_edge));
        sheet.label(text, tag, Side::Center, Ink::new(shades.text, 11.0));
    }
}

/// All of a card's text, from a place down; gives its height.
pub(super) fn content(
    sheet: &mut Sheet,
    page: &Card,
    place: Rect,
    now: Now,
    shades: &Shades,
) -> f32 {
    let card = &page.card;
    let mut y = place.y + 16.0;
    y += head(sheet, page, Rect { y, ..place }, now, shades);
    let text = Ink::new(shades.text, TEXT);
    if !card.questions.is_empty() {
        y += questions(sheet, page, Rect { y, ..place }, shades);
    }
    if let Some(blocks) = &card.plan {
        y += prose::blocks(sheet, blocks, Rect { y, ..place }, shades) + GAP;
    }
    if !card.lines.is_empty() {
        let inner = Rect { y: y + 10.0, ..place.inset(14.0, 0.0) };
        // First the ground, whose height is known once the text is broken.
        let code = text.code();
        let count: usize =
            card.lines.iter().map(|line| crate::flow::exact(line, code, inner.width).len()).sum();
        let height = count as f32 * crate::flow::leading(code.size) + 20.0;
        sheet.round(Rect { y, height, ..place }, 7.0, color(shades.code));
        exact(sheet, &card.lines, inner, text);
        y += height + GAP;
    }
    for file in card.diff.iter().flatten() {
        y += framed_file(sheet, file, Rect { y, ..place }, shades) + GAP;
    }
    y += run_context(sheet, card, Rect { y, ..place }, shades);
    y - place.y + 12.0
}

fn framed_file(
    sheet: &mut Sheet,
    file: &rookery_view::link::DiffFile,
    place: Rect,
    shades: &Shades,
) -> f32 {
    diff::file_head(sheet, file, place, shades);
    let inner = Rect { y: place.y + diff::FILE, ..place };
    let (height, _) =
        diff::file_lines(sheet, file, inner, Marks::default(), shades, &mut |_, _, _, _| 0.0);
    let frame = Rect { height: height + diff::FILE, ..place };
    for side in [
        Rect { height: 1.0, ..frame },
        Rect { y: frame.bottom() - 1.0, height: 1.0, ..frame },
        Rect { width: 1.0, ..frame },
        Rect { x: frame.right() - 1.0, width: 1.0, ..frame },
    ] {
        sheet.fill(side, color(shades.panel_edge));
    }
    frame.height
}

/// Who asks, where, since when and why; or how it was settled.
fn head(sheet: &mut Sheet, page: &Card, place: Rect, now: Now, shades: &Shades) -> f32 {
    let card = &page.card;
    let title = if card.tool.is_empty() { &card.title } else { &card.tool };
    let row = Rect { height: 26.0, ..place };
    let asked = age(card.at, now);
    let asked = if asked.is_empty() { asked } else { format!("asked {asked} ago") };
    let taken = sheet.label(&asked, row, Side::Right, Ink::new(shades.faint, SMALL));
    let room = Rect { width: row.width - taken - 12.0, ..row };
    let taken = sheet.label(title, room, Side::Left, Ink::new(shades.text, 17.0).bold());
    let rest = Rect { x: room.x + taken + 12.0, width: room.width - taken - 12.0, ..room };
    sheet.label(&card.session_title, rest, Side::Left, Ink::new(shades.soft, TEXT));
    let mut y = row.bottom() + 2.0;
    let mut why: Vec<String> = Vec::new();
    let parts = [("", card.reason.as_str()), ("mode ", &card.mode), ("by ", &card.source)];
    why.extend(
        parts
            .iter()
            .filter(|(_, text)| !text.is_empty())
            .map(|(lead, text)| format!("{lead}{text}")),
    );
    if let Some(rule) = &card.rule {
        why.push(format!("rule {rule}"));
    }
    if let Some(deadline) = card.deadline {
        why.push(format!("refused if no answer comes by {}", now.clock(deadline)));
    }
    if !why.is_empty() {
        let ink = Ink::new(shades.soft, SMALL);
        y += wrapped(sheet, &why.join(" · "), Rect { y, ..place }, ink, shades);
    }
    if !page.is_pending() && !card.state.is_empty() {
        let row = Rect { y: y + 4.0, height: 24.0, ..place };
        let rgb = status_color(&card.state, shades);
        let taken = chip(sheet, row.x, row, &card.state, rgb);
        let by = match (&card.by, card.settled_at) {
            (Some(by), Some(at)) => format!("by {by} at {}", now.clock(at)),
            (Some(by), None) => format!("by {by}"),
            _ => String::new(),
        };
        let rest = Rect { x: row.x + taken + 8.0, ..row };
        sheet.label(&by, rest, Side::Left, Ink::new(shades.soft, SMALL));
        y = row.bottom();
    }
    y - place.y + 12.0
}

/// What a command would run with.
fn run_context(sheet: &mut Sheet, card: &Content, place: Rect, shades: &Shades) -> f32 {
    let mut rows: Vec<(&str, String)> = Vec::new();
    if !card.argv.is_empty() {
        rows.push(("runs", format!("{:?}", card.argv)));
    }
    if let Some(cwd) = &card.cwd {
        rows.push(("in", cwd.clone()));
    }
    for (name, value) in &card.env {
        rows.push(match value {
            Some(value) => ("with", format!("{name}={value}")),
            None => ("without", name.clone()),
        });
    }
    let mut y = place.y;
    for (word, text) in rows {
        let row = Rect { y, height: crate::flow::leading(SMALL), ..place };
        let lead = Rect { width: 56.0, ..row };
        sheet.label(word, lead, Side::Left, Ink::new(shades.faint, SMALL));
        let inner = Rect { x: place.x + 56.0, width: place.width - 56.0, y, ..place };
        y += exact(sheet, &[text], inner, Ink::new(shades.soft, TEXT)).max(row.height);
    }
    y - place.y
}

fn questions(sheet: &mut Sheet, page: &Card, place: Rect, shades: &Shades) -> f32 {
    let mut y = place.y;
    let all = &page.card.questions;
    for (index, question) in all.iter().enumerate() {
        let is_here = index == page.question && page.is_pending();
        let shade = if is_here || all.len() == 1 { shades.text } else { shades.faint };
        let ink = Ink::new(shade, 15.0);
        if !question.title.is_empty() && all.len() > 1 {
            let row = Rect { y, height: 20.0, ..place };
            let text = format!("{} of {} · {}", index + 1, all.len(), question.title);
            sheet.label(&text, row, Side::Left, Ink::new(shades.faint, SMALL));
            y += 20.0;
        }
        y += wrapped(sheet, &question.text, Rect { y, ..place }, ink, shades) + 8.0;
        if is_here || all.len() == 1 {
            y += options(sheet, page, question, Rect { y, ..place }, shades);
        }
        y += GAP;
    }
    y - place.y
}

fn options(
    sheet: &mut Sheet,
    page: &Card,
    question: &Question,
    place: Rect,
    shades: &Shades,
) -> f32 {
    let mut y = place.y;
    let own = question.free.then_some(("Something else…", ""));
    let known = question.options.iter().map(|it| (it.label.as_str(), it.description.as_str()));
    for (index, (label, about)) in known.chain(own).enumerate() {
        let inner_width = place.width - 64.0;
        let ink = Ink::new(shades.text, TEXT);
        let about_ink = Ink::new(shades.soft, SMALL);
        let label_lines = crate::flow::lines(&[crate::flow::Run::new(label, ink)], inner_width);
        let about_lines = match about.is_empty() {
            true => Vec::new(),
            false => crate::flow::lines(&[crate::flow::Run::new(about, about_ink)], inner_width),
        };
        let text: f32 = label_lines.iter().chain(&about_lines).map(|line| line.height).sum();
        let rect = Rect { y, height: text + 18.0, ..place };
        let is_chosen = page.chosen.contains(&index);
        let (fill, edge) = match is_chosen {
            true => (faded(shades.accent, 0.22), color(shades.accent)),
            false => (color(shades.code), color(shades.panel_edge)),
        };
        sheet.edged(rect, 8.0, fill, edge);
        let cap =
            Rect { height: label_lines.first().map_or(20.0, |line| line.height) + 18.0, ..rect };
        super::parts::key_cap(sheet, rect.x + 14.0, cap, &(index + 1).to_string(), shades);
        let mut top = rect.y + 9.0;
        for line in label_lines.iter().chain(&about_lines) {
            super::parts::line(sheet, line, rect.x + 50.0, top, shades);
            top += line.height;
        }
        if page.is_pending() {
            sheet.hit(rect, Hit::Choice(index));
        }
        y += rect.height + 8.0;
    }
    y - place.y
}

/// What is written before a decision: a reason, an own answer; and what was said of the last key.
fn lower_fields(sheet: &mut Sheet, page: &Card, area: Rect, shades: &Shades) -> Rect {
    let mut rest = area;
    let mut put = |sheet: &mut Sheet, of, shown: &rookery_view::scene::pages::Field, hint: &str| {
        let height = field_height(shown, rest.width - 2.0 * MARGIN, 4);
        let y = rest.bottom() - height - 10.0;
        let rect = Rect { y, height, ..rest.inset(MARGIN, 0.0) };
        field(sheet, of, rect, shown, hint, shades);
        rest.height -= height + 16.0;
    };
    if let Some(reason) = &page.deny {
        put(sheet, FieldOf::Reason, reason, "Why not? The agent reads this. Enter denies.");
    }
    if let Some(own) = &page.own {
        put(sheet, FieldOf::Answer, own, "Your answer");
    }
    let said = match (&page.message, page.remember) {
        (Some((tone, text)), _) => Some((*tone, text.clone())),
        (None, true) => Some((Tone::Warn, "Enter approves and remembers exactly this".to_owned())),
        (None, false) => None,
    };
    if let Some((tone, text)) = said {
        let shade = match tone {
            Tone::Info => shades.text,
            Tone::Warn => shades.warn,
            Tone::Error => shades.bad,
        };
        let row = Rect { y: rest.bottom() - 28.0, height: 24.0, ..rest.inset(MARGIN, 0.0) };
        sheet.label(&text, row, Side::Left, Ink::new(shade, TEXT));
        rest.height -= 32.0;
    }
    rest
}

/// The same where a card stands within a longer text: from a place down. Gives its height.
pub(super) fn written(sheet: &mut Sheet, page: &Card, place: Rect, shades: &Shades) -> f32 {
    let shown = match (&page.deny, &page.own) {
        (Some(reason), _) => (FieldOf::Reason, reason, "Why not? The agent reads this."),
        (None, Some(own)) => (FieldOf::Answer, own, "Your answer"),
        (None, None) => return 0.0,
    };
    let height = field_height(shown.1, place.width, 4);
    field(sheet, shown.0, Rect { height, ..place }, shown.1, shown.2, shades);
    height + GAP
}

/// Buttons of what can be done.
fn buttons(sheet: &mut Sheet, page: &Card, area: Rect, shades: &Shades) -> Rect {
    let mut left = Vec::new();
    let mut right = Vec::new();
    if !page.is_pending() {
        left.push(Offer::new(Button::Open, "Open Session", Kind::Plain));
        if page.card.actions.iter().any(|action| action == "accept") {
            right.push(Offer::new(Button::Approve, "Accept", Kind::Primary));
            return foot(sheet, area, &left, &right, page.focus, shades);
        }
        right.push(Offer::new(Button::Next, "Next", Kind::Primary));
        return foot(sheet, area, &left, &right, page.focus, shades);
    }
    if page.deny.is_some() {
        left.push(Offer::new(Button::Back, "Cancel", Kind::Plain));
        right.push(Offer::new(Button::Deny, "Deny", Kind::Danger));
        return foot(sheet, area, &left, &right, page.focus, shades);
    }
    if page.own.is_some() {
        left.push(Offer::new(Button::Back, "Cancel", Kind::Plain));
        right.push(Offer::new(Button::Send, "Send", Kind::Primary));
        return foot(sheet, area, &left, &right, page.focus, shades);
    }
    left.push(Offer::new(Button::Open, "Open", Kind::Plain));
    if page.allows("later") {
        left.push(Offer::new(Button::Later, "Later", Kind::Plain));
    }
    if page.allows("remember") {
        right.push(Offer::new(Button::Remember, "Remember…", Kind::Plain));
    }
    if page.allows("deny") {
        right.push(Offer::new(Button::Deny, "Deny…", Kind::Danger));
    }
    if page.allows("approve") {
        right.push(Offer::new(Button::Approve, "Approve", Kind::Primary));
    }
    foot(sheet, area, &left, &right, page.focus, shades)
}
