//! Keys of pages: which page gets them, and how lists are walked.

use rookery_term::keys::{Key, KeyPress, Mods, Special};
use rookery_view::link::Page;

use crate::app::{App, Cx, plain_char};

/// Where a key moves in a list of `count` rows; none if it moves nothing.
pub fn moved(press: &KeyPress, at: usize, count: usize, page: usize) -> Option<usize> {
    let last = count.saturating_sub(1);
    let plain = press.mods.without(Mods::CAPS | Mods::NUM | Mods::SHIFT).is_empty();
    match press.key {
        Key::Special(Special::Up) if plain => Some(at.saturating_sub(1)),
        Key::Special(Special::Down) if plain => Some((at + 1).min(last)),
        Key::Special(Special::PageUp) if plain => Some(at.saturating_sub(page)),
        Key::Special(Special::PageDown) if plain => Some((at + page).min(last)),
        Key::Special(Special::Home) if plain => Some(0),
        Key::Special(Special::End) if plain => Some(last),
        _ => match plain_char(press)? {
            'k' => Some(at.saturating_sub(1)),
            'j' => Some((at + 1).min(last)),
            'g' => Some(0),
            'G' => Some(last),
            _ => None,
        },
    }
}

/// The same keys as rows of text to go.
pub fn direction(press: &KeyPress) -> i64 {
    match (press.key, plain_char(press)) {
        (Key::Special(Special::Up), _) | (_, Some('k')) => -1,
        (Key::Special(Special::Down), _) | (_, Some('j')) => 1,
        (Key::Special(Special::PageUp), _) => -10,
        (Key::Special(Special::PageDown), _) => 10,
        (Key::Special(Special::Home), _) | (_, Some('g')) => -1_000_000,
        (Key::Special(Special::End), _) | (_, Some('G')) => 1_000_000,
        _ => 0,
    }
}

/// The same for a text of which `rows` lines are shown: a page is all of them but one.
pub fn text_step(press: &KeyPress, rows: u16) -> i64 {
    let page = i64::from(rows.saturating_sub(1).max(1));
    match direction(press) {
        10 => page,
        -10 => -page,
        by => by,
    }
}

impl App {
    /// A key for the page that is shown.
    pub(crate) fn page_key(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        if self.pages.new_thread.is_open {
            return self.new_thread_key(cx, press);
        }
        match App::page(cx) {
            Page::Inbox { .. } => self.inbox_key(cx, press),
            Page::Thread { .. } => self.thread_key(cx, press),
            Page::Review { .. } => self.review_key(cx, press),
            Page::Workspace { .. } => {}
            page => self.list_key(cx, &page, press),
        }
    }

    /// A click on a row of the page.
    pub fn click_row(&mut self, cx: &Cx<'_>, index: usize, clicks: u8) {
        match App::page(cx) {
            Page::Inbox { .. } => {
                self.select_row(cx, index);
                if clicks == 2 {
                    self.pages.inbox.whole = true;
                }
            }
            Page::Thread { .. } => {
                self.pages.thread.click(index);
                // Keys are for the request that was clicked, never for one that is elsewhere.
                self.ask_item_card();
            }
            Page::Review { .. } => self.review_click(index),
            page => {
                self.leave_setting();
                self.pages.list.selected = index;
                if clicks == 2 {
                    self.list_enter(cx, &page);
                }
            }
        }
    }

    /// The wheel over a page.
    pub(crate) fn scroll_page(&mut self, cx: &Cx<'_>, by: i64) {
        match App::page(cx) {
            Page::Inbox { .. } => self.pages.card.scroll_by(by),
            Page::Thread { .. } => {
                let thread = &mut self.pages.thread;
                if thread.card.card().is_some() {
                    if thread.card.can_scroll() || thread.card.has_field() {
                        return thread.card.scroll_by(by);
                    }
                    // An open card is kept in view, so who looks elsewhere is not at it any more.
                    thread.leave_items();
                }
                thread.scroll_by(by);
            }
            Page::Review { .. } => self.review_move(by),
            Page::Workspace { .. } => {}
            _ => {
                self.pages.list.move_by(by);
                self.load_more_threads();
            }
        }
    }
}
