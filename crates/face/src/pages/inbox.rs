//! The inbox: what waits, the most urgent first, with the card of the selected row.

use rookery_term::keys::{KeyPress, Special};
use rookery_view::link::{CardCall, InboxRow, InboxWindow, Page, Prefs, bound, method};

use super::card::CardKey;
use crate::app::{App, Ask, Cx, Edited, Effect, Field, READ_ONLY, is, plain_char};
use crate::daemon::{self, ById, NewStatus};

/// What of its look this kind of face keeps.
pub(crate) const ALL: &str = "inbox-all";

/// Rows that come this soon after the page was opened count as having been there.
const OPENING: u64 = 1000;

/// The list.
#[derive(Debug, Default)]
pub struct InboxPage {
    /// The selected item.
    pub selected: Option<String>,
    /// Its index, for when it goes.
    pub index: usize,
    /// First row that is shown.
    pub scroll: usize,
    /// The card has the whole page.
    pub whole: bool,
    /// What only informs is listed too.
    pub all: bool,
    /// Rows before the first of those that are here.
    pub from: u32,
    /// The filter, while it is written or in force.
    pub filter: Option<Field>,
    /// Whether letters go into the filter.
    pub filtering: bool,
    /// When the page was opened, until something was selected.
    fresh: Option<u64>,
    /// Other rows were asked for: from this one on, and which of them is selected when they are here.
    wanted: Option<(u32, Goal)>,
}

/// What is selected when other rows came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    First,
    Last,
    /// What is selected now, moved by a step.
    Step(i64),
}

/// Rows that are here before and after others were asked for, so that what is selected stays in sight.
const OVERLAP: u32 = 50;

fn rows<'a>(cx: &Cx<'a>) -> &'a [InboxRow] {
    cx.picture.scene().inbox.as_ref().map_or(&[], |inbox| inbox.rows.as_slice())
}

impl App {
    /// Asks for the rows that are shown: from the first wanted one on, filtered, with or without notes.
    pub(crate) fn ask_inbox(&mut self) {
        let inbox = &self.pages.inbox;
        let query = inbox.filter.as_ref().map(|field| field.text().to_owned()).unwrap_or_default();
        let window = InboxWindow {
            from: inbox.wanted.map_or(inbox.from, |(from, _)| from),
            count: bound::INBOX_ROWS,
            all: inbox.all,
            query,
        };
        self.call(Ask::Quiet, method::INBOX, window);
    }

    /// Other rows of the list, and which of them is selected then.
    fn turn_page(&mut self, cx: &Cx<'_>, goal: Goal) -> bool {
        let Some(shown) = &cx.picture.scene().inbox else { return false };
        let rows = u32::try_from(shown.rows.len()).unwrap_or(0);
        let last = shown.total.saturating_sub(bound::INBOX_ROWS);
        let from = match goal {
            Goal::First => 0,
            Goal::Last => last,
            Goal::Step(1..) => (shown.from + rows).saturating_sub(OVERLAP).min(last),
            Goal::Step(_) => (shown.from + OVERLAP).saturating_sub(bound::INBOX_ROWS),
        };
        if from == shown.from {
            return false;
        }
        self.pages.inbox.wanted = Some((from, goal));
        self.ask_inbox();
        true
    }

    /// Rows that were asked for are here.
    fn page_turned(&mut self, cx: &Cx<'_>) {
        let Some(shown) = &cx.picture.scene().inbox else { return };
        let inbox = &mut self.pages.inbox;
        let before = std::mem::replace(&mut inbox.from, shown.from);
        if shown.rows.is_empty() && shown.from > 0 && inbox.wanted.is_none() {
            // They are gone; there may be others.
            inbox.wanted = Some((0, Goal::First));
            return self.ask_inbox();
        }
        let Some((_, goal)) = inbox.wanted.filter(|(from, _)| *from == shown.from) else { return };
        inbox.wanted = None;
        let last = shown.rows.len().saturating_sub(1);
        let index = match goal {
            Goal::First => 0,
            Goal::Last => last,
            Goal::Step(by) => {
                let at = i64::from(before) + i64::try_from(inbox.index).unwrap_or(0) + by;
                usize::try_from(at - i64::from(shown.from)).unwrap_or(0).min(last)
            }
        };
        inbox.selected = None;
        self.select_row(cx, index);
    }

    /// Keeps the selection at its item. A row that goes leaves nothing selected.
    pub(crate) fn follow_inbox(&mut self, cx: &Cx<'_>, page: &Page) {
        let Page::Inbox { item } = page else {
            self.pages.inbox.fresh = None;
            self.pages.inbox.selected = None;
            self.pages.inbox.whole = false;
            self.pages.inbox.wanted = None;
            self.pages.inbox.filter = None;
            self.pages.inbox.filtering = false;
            return;
        };
        self.page_turned(cx);
        if self.pages.inbox.wanted.is_some() {
            return;
        }
        let inbox = &mut self.pages.inbox;
        let is_new =
            inbox.selected.is_none() && inbox.fresh.is_none() && !self.pages.card.is_asked();
        if is_new {
            inbox.fresh = Some(cx.now);
        }
        if let Some(selected) = &inbox.selected {
            match rows(cx).iter().position(|row| row.item == *selected) {
                Some(index) => inbox.index = index,
                None => {
                    inbox.selected = None;
                    self.pages.card.disarm();
                }
            }
            return;
        }
        let is_opening = inbox.fresh.is_some_and(|at| cx.now < at + OPENING);
        if is_opening && !rows(cx).is_empty() {
            let wanted =
                item.as_ref().and_then(|item| rows(cx).iter().position(|row| row.item == *item));
            self.select_row(cx, wanted.unwrap_or(0));
        }
    }

    /// Selects a row and asks for its card.
    pub(crate) fn select_row(&mut self, cx: &Cx<'_>, index: usize) {
        let count = rows(cx).len();
        let Some(row) = rows(cx).get(index.min(count.saturating_sub(1))) else { return };
        let inbox = &mut self.pages.inbox;
        inbox.fresh = None;
        inbox.index = index.min(count - 1);
        if inbox.selected.as_ref() == Some(&row.item) {
            return;
        }
        inbox.selected = Some(row.item.clone());
        let serial = self.pages.card.ask();
        let call = match row.request.clone() {
            Some(request) => CardCall { item: None, request: Some(request) },
            None => CardCall { item: Some(row.item.clone()), request: None },
        };
        self.call(Ask::Card(serial), method::CARD, call);
    }

    /// The card may have changed: it is asked for again.
    pub(crate) fn reload_card(&mut self, cx: &Cx<'_>) {
        if self.pages.thread.card.is_asked() {
            self.ask_item_card();
        }
        if self.pages.inbox.selected.take().is_some() {
            self.select_row(cx, self.pages.inbox.index);
        }
    }

    pub(crate) fn inbox_key(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        let has_field = self.pages.card.has_field();
        if !has_field && self.pages.inbox.filtering && self.inbox_filter(press) {
            return;
        }
        if !has_field && self.inbox_move(cx, press) {
            return;
        }
        if self.card_key(cx, press) || has_field {
            return;
        }
        if is(press, Special::Escape) {
            if self.pages.inbox.whole {
                self.pages.inbox.whole = false;
            } else if self.pages.inbox.filter.take().is_some() {
                self.ask_inbox();
            } else {
                self.leave_inbox();
            }
            return;
        }
        if is(press, Special::Enter) {
            return self.inbox_enter(cx);
        }
        match plain_char(press) {
            Some('q') => self.leave_inbox(),
            Some('i') => {
                self.pages.inbox.all = !self.pages.inbox.all;
                self.pages.inbox.from = 0;
                self.ask_inbox();
                if !self.around.only_inbox && self.may_type() {
                    let set = Prefs::one(ALL, self.pages.inbox.all);
                    self.call(Ask::Quiet, method::PREFS, set);
                }
            }
            Some('/') => {
                self.pages.inbox.filter.get_or_insert_default();
                self.pages.inbox.filtering = true;
                self.say_filter();
            }
            Some('x') => self.dismiss(cx),
            Some('?') => self.go(Page::Help),
            _ => {}
        }
    }

    /// A key of the filter; whether it was one.
    fn inbox_filter(&mut self, press: &KeyPress) -> bool {
        let inbox = &mut self.pages.inbox;
        let Some(field) = &mut inbox.filter else { return false };
        if is(press, Special::Enter) || is(press, Special::Escape) {
            inbox.filtering = false;
            if is(press, Special::Escape) || field.is_empty() {
                inbox.filter = None;
                self.ask_inbox();
            }
            return true;
        }
        // Up and down walk through what is found.
        if field.key(press) == Edited::No {
            return false;
        }
        self.inbox_filtered();
        true
    }

    /// The filter is another: its first row is selected.
    pub(crate) fn inbox_filtered(&mut self) {
        self.pages.inbox.from = 0;
        self.pages.inbox.wanted = None;
        self.ask_inbox();
        self.say_filter();
    }

    /// A window has no field for it beside the list.
    fn say_filter(&mut self) {
        let inbox = &self.pages.inbox;
        if let Some(field) = inbox.filter.as_ref().filter(|_| self.around.is_window) {
            let text = format!("/ {}", field.text());
            self.say(text);
        }
    }

    fn leave_inbox(&mut self) {
        match self.around.only_inbox {
            true => self.push(Effect::Leave),
            false => self.home(),
        }
    }

    /// Moving in the list, or in the card where that has the whole page.
    fn inbox_move(&mut self, cx: &Cx<'_>, press: &KeyPress) -> bool {
        if self.pages.inbox.whole {
            // The whole page is the card's: the same keys walk through its text.
            let by = super::keys::text_step(press, self.drawn.page_rows);
            self.pages.card.scroll_by(by);
            return by != 0;
        }
        let page = usize::from(self.drawn.page_rows.max(1));
        let Some(to) = super::keys::moved(press, self.pages.inbox.index, rows(cx).len(), page)
        else {
            return false;
        };
        // The first step after a surprise only shows where one is.
        let is_step = super::keys::direction(press).abs() == 1;
        if self.pages.inbox.selected.is_none() && is_step {
            self.select_row(cx, self.pages.inbox.index);
            return true;
        }
        let (at, last) = (self.pages.inbox.index, rows(cx).len().saturating_sub(1));
        let ends = |special, letter| is(press, special) || plain_char(press) == Some(letter);
        let step = i64::try_from(if is_step { 1 } else { page }).unwrap_or(1);
        let direction = super::keys::direction(press);
        let goal = if ends(Special::Home, 'g') {
            Some(Goal::First)
        } else if ends(Special::End, 'G') {
            Some(Goal::Last)
        } else if to == last && direction > 0 {
            Some(Goal::Step(step))
        } else if to == 0 && direction < 0 {
            Some(Goal::Step(-step))
        } else {
            None
        };
        // A step within the rows that are here needs no others.
        let stays = is_step && to != at;
        if let Some(goal) = goal.filter(|_| !stays)
            && self.turn_page(cx, goal)
        {
            return true;
        }
        self.select_row(cx, to);
        true
    }

    fn inbox_enter(&mut self, cx: &Cx<'_>) {
        let settled = self.pages.card.card().is_some() && !self.pages.card.is_pending();
        let row = rows(cx).get(self.pages.inbox.index).cloned();
        match row {
            Some(row) if row.about.as_ref().is_some_and(|about| about.kind == "review") => {
                let review = row.about.map(|about| about.id).unwrap_or_default();
                self.go(Page::Review { review, file: None });
            }
            Some(row) if row.about.as_ref().is_some_and(|about| about.kind == "checkpoint") => {
                self.pages.wanted_checkpoint = row.about.map(|about| about.id);
                self.go(Page::Checkpoints { session: None });
            }
            _ if settled && self.pages.inbox.selected.is_none() => {
                self.pages.inbox.whole = false;
                self.pages.card.clear();
                self.select_row(cx, self.pages.inbox.index);
            }
            Some(_) if self.pages.inbox.selected.is_some() => self.pages.inbox.whole = true,
            _ => {}
        }
    }

    /// Takes a note off the list.
    fn dismiss(&mut self, cx: &Cx<'_>) {
        let selected = self.pages.inbox.selected.clone();
        let row = rows(cx).iter().find(|row| Some(&row.item) == selected.as_ref());
        match row {
            Some(row) if row.request.is_none() => {
                let id = row.item.clone();
                self.call(Ask::Quiet, daemon::QUEUE_RESOLVE, ById { id });
            }
            Some(_) => self.warn("a request is decided, not dismissed"),
            None => {}
        }
    }

    /// A key on the card of the inbox; whether it was the card's.
    fn card_key(&mut self, cx: &Cx<'_>, press: &KeyPress) -> bool {
        let guard = u64::from(self.settings.guard);
        let may_decide = self.may_decide();
        if !may_decide && matches!(plain_char(press), Some('a' | 'A' | 'd')) {
            self.warn(READ_ONLY);
            return true;
        }
        let key = self.pages.card.key(press, cx.now, guard);
        self.carry_out(cx, key, may_decide)
    }

    /// Does what a key on a card came to.
    pub(crate) fn carry_out(&mut self, cx: &Cx<'_>, key: CardKey, may_decide: bool) -> bool {
        match key {
            CardKey::Free => return false,
            CardKey::Used => {}
            CardKey::Say(text) => self.say(text),
            CardKey::Answer(_) | CardKey::Later(_) if !may_decide => {
                self.warn(READ_ONLY);
            }
            CardKey::Answer(params) => {
                self.pages.card.disarm();
                let done = match params["approved"].as_bool() {
                    Some(true) => "approved",
                    Some(false) => "denied",
                    None => "answered",
                };
                self.call(Ask::Decide(done), daemon::REQUESTS_ANSWER, params);
            }
            CardKey::Later(id) => {
                self.call(Ask::Quiet, daemon::REQUESTS_DEFER, ById { id });
            }
            CardKey::Accept(_) if !may_decide => self.warn(READ_ONLY),
            CardKey::Accept(id) => {
                let to = NewStatus { id, status: "accepted".to_owned() };
                self.call(Ask::Say("accepted".to_owned()), daemon::HANDOFFS_SET_STATUS, to);
            }
            CardKey::Open => self.open_session(cx),
        }
        true
    }

    /// Opens the session that the selected row is about.
    fn open_session(&mut self, cx: &Cx<'_>) {
        let row = rows(cx).get(self.pages.inbox.index);
        let page = match (self.pages.card.card(), row) {
            (Some(card), _) if !card.session.is_empty() => {
                session_page(&card.session, card.terminal)
            }
            (_, Some(row)) if !row.session.is_empty() => session_page(&row.session, row.terminal),
            _ => return self.warn("it belongs to no session"),
        };
        self.go(page);
    }
}

/// The page of a session: that of its terminal; a session without one is a thread of the same id.
fn session_page(session: &str, terminal: Option<u64>) -> Page {
    match terminal {
        Some(terminal) => Page::Workspace { terminal: Some(terminal) },
        None => Page::Thread { thread: session.to_owned() },
    }
}
