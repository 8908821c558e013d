//! The inbox: what waits, with the card of the selected row beside or below it.

use rookery_view::link::InboxRow;
use rookery_view::scene::Mood;
use rookery_view::scene::layout::{Bar, Hit, Rect};
use rookery_view::scene::pages::{Button, Inbox};

use super::card::card;
use super::parts::{Now, Offer, SMALL, TEXT, age, foot, head, row, window};
use crate::brush::{Ink, Side};
use crate::chrome::Look;
use crate::fonts;
use crate::shades::{Shades, color};
use crate::sheet::{Kind, Scroll, Sheet};

const ROW: f32 = 52.0;
/// From this width on the card lies beside the list.
const BESIDE: f32 = 720.0;

pub(super) fn inbox(look: &Look<'_>, sheet: &mut Sheet, page: &Inbox, area: Rect) {
    let (shades, now) = (&look.shades, Now::of(look.scene));
    if let (true, Some(open)) = (page.is_whole, &page.card) {
        return card(sheet, open, area, now, shades);
    }
    let aside = format!("{} wait · {} to know", page.waiting, page.notes);
    let body = head(sheet, area, "Inbox", &aside, shades);
    if body.width < BESIDE {
        let wanted = page.rows.len().max(1) as f32 * ROW + 12.0;
        let height = if page.card.is_some() { wanted.min(body.height * 0.45) } else { body.height };
        list(sheet, page, Rect { height, ..body }, now, shades);
        let rest = Rect { y: body.y + height, height: body.height - height, ..body };
        if let Some(open) = &page.card {
            sheet.fill(Rect { height: 1.0, ..rest }, color(shades.line));
            card(sheet, open, rest, now, shades);
        }
        return;
    }
    let width = (body.width * 0.38).clamp(280.0, 420.0).round();
    list(sheet, page, Rect { width, ..body }, now, shades);
    let rest = Rect { x: body.x + width, width: body.width - width, ..body };
    sheet.fill(Rect { width: 1.0, ..rest }, color(shades.line));
    match &page.card {
        Some(open) => card(sheet, open, rest, now, shades),
        None => {
            let text = if page.rows.is_empty() { "" } else { "Nothing is selected" };
            sheet.label(text, rest, Side::Center, Ink::new(shades.faint, TEXT));
        }
    }
}

fn list(sheet: &mut Sheet, page: &Inbox, area: Rect, now: Now, shades: &Shades) {
    let label = if page.all { "Hide Notes" } else { "Show Notes" };
    let mut offers = vec![Offer::new(Button::Notes, label, Kind::Plain)];
    let chosen = page.selected.and_then(|at| page.rows.get(at));
    if chosen.is_some_and(|row| row.request.is_none()) {
        offers.push(Offer::new(Button::Dismiss, "Dismiss", Kind::Plain));
    }
    let body = foot(sheet, area, &offers, &[], None, shades);
    let body = Rect { y: body.y + 6.0, height: body.height - 8.0, ..body };
    if page.rows.is_empty() {
        sheet.label("Nothing waits", body, Side::Center, Ink::new(shades.faint, TEXT));
        return;
    }
    let fitting = (body.height / ROW).floor().max(1.0) as usize;
    let first = window(page.rows.len(), fitting, page.selected, page.first);
    for (index, item) in page.rows.iter().enumerate().skip(first).take(fitting + 1) {
        let y = body.y + (index - first) as f32 * ROW;
        let rect = Rect { y, height: ROW, ..body }.inset(8.0, 1.0);
        if rect.bottom() > body.bottom() + 1.0 {
            break;
        }
        one(sheet, item, rect, page.selected == Some(index), now, shades);
        sheet.hit(rect, Hit::Row(index));
    }
    let most = page.rows.len().saturating_sub(fitting) as f32 * ROW;
    let scroll = Scroll { at: first as f32 * ROW, most, view: body.height };
    sheet.scrolls.push((Bar::List, scroll));
    sheet.bar(body, Bar::List, scroll, shades);
}

fn one(sheet: &mut Sheet, item: &InboxRow, rect: Rect, is_chosen: bool, now: Now, shades: &Shades) {
    row(sheet, rect, is_chosen, shades);
    let inner = rect.inset(14.0, 0.0);
    let upper = Rect { y: rect.y + 5.0, height: 20.0, ..inner };
    let lower = Rect { y: rect.y + 25.0, height: 20.0, ..inner };
    let waits = matches!(item.category.as_str(), "approval_needed" | "review_requested");
    let mood = match (item.category.as_str(), waits) {
        ("error" | "blocked", _) => Mood::Failed,
        (_, true) => Mood::Waiting,
        _ => Mood::Inactive,
    };
    let rgb = mood.color().unwrap_or(shades.faint);
    sheet.sign(inner.x + 4.0, upper.y + 10.0, 8.0, mood, rgb);
    let faint = Ink::new(if is_chosen { shades.soft } else { shades.faint }, SMALL);
    let mut old = age(item.at, now);
    if item.deferred {
        old = format!("later · {old}");
    }
    if let Some(deadline) = item.deadline {
        old = format!("until {} · {old}", now.clock(deadline));
    }
    let taken = sheet.label(&old, upper, Side::Right, faint);
    let words = Rect { x: inner.x + 18.0, width: inner.width - 18.0 - taken - 10.0, ..upper };
    // A long name leaves room for what kind of thing waits.
    let kind = fonts::width(&item.kind, faint.font, faint.size) + 10.0;
    let name = Rect { width: (words.width - kind).max(words.width / 2.0), ..words };
    let taken = sheet.label(&item.session_title, name, Side::Left, Ink::new(shades.text, TEXT));
    let taken = if taken > 0.0 { taken + 8.0 } else { 0.0 };
    let kind = Rect { x: words.x + taken, width: words.width - taken, ..words };
    sheet.label(&item.kind, kind, Side::Left, faint);
    let what = match item.subtitle.is_empty() {
        true => item.title.clone(),
        false => format!("{}: {}", item.title, item.subtitle),
    };
    let lower = Rect { x: inner.x + 18.0, width: inner.width - 18.0, ..lower };
    sheet.label(&what, lower, Side::Left, Ink::new(shades.soft, 12.5));
}
