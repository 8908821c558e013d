//! Keys of a thread: the composer, walking through items, and a request that takes keys only after
//! Tab went to it.

use rookery_term::keys::{Key, KeyPress, Mods, Special};
use rookery_view::link::{CardCall, ItemCall, Page, ThreadOlder, ThreadRef, ThreadSend, method};

use crate::app::{App, Ask, Cx, Edited, Field, is, plain_char};
use crate::pages::card::{AGAIN, CardKey};
use crate::pages::keys::{moved, text_step};

/// Within this time a second Esc stops the turn.
const TWICE: u64 = 1500;

impl App {
    pub(crate) fn thread_key(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        if is(press, Special::Escape) {
            return self.thread_escape(cx, press);
        }
        self.pages.thread.escaped_at = None;
        let has_card = self.pages.thread.at.is_some() && self.pages.thread.card.card().is_some();
        match press.key {
            Key::Special(Special::PageUp | Special::PageDown) if has_card => {
                let by = text_step(press, self.drawn.page_rows);
                return self.pages.thread.card.scroll_by(by);
            }
            Key::Special(Special::PageUp) => return self.thread_up(10),
            Key::Special(Special::PageDown) => return self.pages.thread.scroll_by(10),
            Key::Special(Special::Tab) if self.complete_command() => return,
            Key::Special(Special::Tab) => return self.thread_tab(press),
            _ => {}
        }
        if self.pages.thread.at.is_some() {
            return self.thread_item_key(cx, press);
        }
        let is_line = press.key == Key::Special(Special::Enter)
            && press.mods.intersects(Mods::SHIFT | Mods::ALT);
        if is_line {
            return self.pages.thread.composer.insert("\n");
        }
        if is(press, Special::Enter) {
            return self.thread_send();
        }
        if is(press, Special::Backspace) && self.take_off_image() {
            return;
        }
        if self.pages.thread.composer.key(press) == Edited::No
            && press.key == Key::Special(Special::Up)
        {
            self.thread_up(1);
        }
    }

    /// Completes the command that is being written; whether there was one.
    fn complete_command(&mut self) -> bool {
        self.take_command(0)
    }

    /// Takes one of the commands that fit what is being written; whether there was one.
    pub fn take_command(&mut self, index: usize) -> bool {
        let page = &mut self.pages.thread;
        let Some(name) = page.fitting_commands().get(index).map(|row| row.name.clone()) else {
            return false;
        };
        page.composer = Field::new(format!("/{name} "));
        true
    }

    fn thread_up(&mut self, by: i64) {
        self.pages.thread.scroll_by(-by);
        let rows = usize::from(self.drawn.page_rows);
        let at_top = self.pages.thread.scroll + rows >= self.drawn.page_lines;
        self.load_older(at_top);
    }

    pub(crate) fn load_older(&mut self, at_top: bool) {
        let page = &self.pages.thread;
        if let Some(oldest) = page.items.first().filter(|_| page.more && at_top) {
            let call = ThreadOlder {
                thread: Some(page.thread.clone()),
                before: oldest.id.clone(),
                limit: Some(100),
            };
            self.call(Ask::Older, method::THREAD_OLDER, call);
        }
    }

    /// Esc twice stops a running turn; once leaves the items, or the page.
    fn thread_escape(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        let page = &mut self.pages.thread;
        if page.at.is_some() && (page.card.has_field() || page.card.would_remember()) {
            // Only what was begun on the card ends; the card stays.
            let guard = u64::from(self.settings.guard);
            page.card.key(press, cx.now, guard);
            return;
        }
        if page.at.take().is_some() {
            page.card.clear();
            return;
        }
        if !page.is_running() {
            return self.home();
        }
        let twice = page.escaped_at.take().is_some_and(|at| cx.now < at + TWICE);
        if twice {
            return self.thread_stop();
        }
        page.escaped_at = Some(cx.now);
        self.say("esc again stops the turn; q after tab leaves");
    }

    /// Stops the turn that runs.
    pub(crate) fn thread_stop(&mut self) {
        let of = ThreadRef { thread: self.pages.thread.thread.clone() };
        self.call(Ask::Say("stopped".to_owned()), method::THREAD_STOP, of);
    }

    /// Tab goes to the request that waits, else into the items; there it folds.
    fn thread_tab(&mut self, press: &KeyPress) {
        let page = &mut self.pages.thread;
        if press.mods.contains(Mods::SHIFT) {
            return page.leave_items();
        }
        match page.at {
            Some(at) => {
                page.follows = true;
                page.fold(at);
            }
            None => {
                let last = page.items.len().checked_sub(1);
                page.at = page.waiting().or(last);
                page.follows = true;
                self.ask_item_card();
            }
        }
    }

    /// Asks for the card of the request under the cursor.
    pub(crate) fn ask_item_card(&mut self) {
        let page = &mut self.pages.thread;
        let item = page.at.and_then(|at| page.items.get(at));
        let Some(request) = item.and_then(|item| item.request.clone()) else {
            page.card.clear();
            return;
        };
        let serial = page.card.ask();
        let call = CardCall { item: None, request: Some(request) };
        self.call(Ask::Card(serial), method::CARD, call);
    }

    fn thread_item_key(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        let guard = u64::from(self.settings.guard);
        if self.pages.thread.card.is_asked() {
            let key = self.pages.thread.card.key(press, cx.now, guard);
            // The session of this card is the thread that is shown.
            let key = if key == CardKey::Open { CardKey::Used } else { key };
            let may = self.may_decide();
            let is_answer = matches!(key, CardKey::Answer(_));
            if key == CardKey::Say(AGAIN) {
                // The end of the card is near the end of the thread.
                self.pages.thread.scroll = 0;
            }
            if self.carry_out(cx, key, may) {
                if is_answer && may {
                    self.pages.thread.card.disarm();
                }
                return;
            }
        }
        let count = self.pages.thread.items.len();
        let at = self.pages.thread.at.unwrap_or(0);
        if let Some(to) = moved(press, at, count, 5) {
            if at == 0 && to == 0 {
                self.load_older(true);
            }
            self.pages.thread.at = Some(to);
            self.pages.thread.follows = true;
            return self.ask_item_card();
        }
        if is(press, Special::Enter) {
            return self.thread_item_enter(at);
        }
        match plain_char(press) {
            Some('q') => self.home(),
            Some('?') => self.go(Page::Help),
            _ => {}
        }
    }

    pub(crate) fn thread_item_enter(&mut self, at: usize) {
        let page = &mut self.pages.thread;
        let Some(item) = page.items.get(at) else { return };
        // Prose is never folded; of a call, the first Enter shows what there is.
        let is_open = item.tool.is_none() || page.open.contains(&item.id);
        if let Some(from) = page.next_page(item).filter(|_| is_open) {
            let (thread, item) = (page.thread.clone(), item.id.clone());
            let params = ItemCall { thread, item, from: Some(from) };
            return self.call(Ask::Item(from), method::ITEM, params);
        }
        page.fold(at);
    }

    pub(crate) fn thread_send(&mut self) {
        if !self.may_decide() {
            return self.warn("read-only: nothing is sent or decided here");
        }
        let page = &mut self.pages.thread;
        if page.composer.text().trim().is_empty() && page.images.is_empty() {
            return;
        }
        let text = page.composer.take();
        let attached = std::mem::take(&mut page.images);
        let images = attached.iter().map(|it| it.image.clone()).collect();
        page.scroll = 0;
        page.sending = Some((text.clone(), attached));
        let thread = page.thread.clone();
        let send = ThreadSend { thread: thread.clone(), text, images };
        self.call(Ask::Sent(thread), method::THREAD_SEND, send);
    }
}
