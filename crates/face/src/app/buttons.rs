//! Buttons and fields under a mouse. A button that decides goes the way of its key, guard included; a
//! letter of a button is never typed into a field that happens to be open.

use rookery_term::keys::{KeyPress, parse_chord};
use rookery_view::link::{Done, Page, ThreadSet, method};
use rookery_view::scene::layout::FieldOf;
use rookery_view::scene::pages::Button;

use super::{App, Ask, Choice, Cx, Effect, Field, Menu};
use crate::pages::card::{CardPage, READ_FIRST};
use crate::pages::new_thread::MODES;

/// What is said when a button is pressed while something is written.
const WRITTEN: &str = "something is written here: enter takes it, esc drops it";

impl App {
    /// A button of the page, of the find bar, or of the box that says the daemon is away.
    pub fn press_button(&mut self, cx: &Cx<'_>, button: Button) {
        if self.lost.is_some() {
            if button == Button::StartDaemon {
                self.push(Effect::StartDaemon);
            }
            return;
        }
        self.note = None;
        if self.find.is_some() && self.press_in_find(cx, button) {
            return;
        }
        if self.pages.new_thread.is_open {
            return self.press_in_new_thread(cx, button);
        }
        match App::page(cx) {
            Page::Workspace { .. } => self.press_in_workspace(cx, button),
            Page::Inbox { .. } => self.press_in_inbox(cx, button),
            Page::Thread { .. } => self.press_in_thread(button),
            Page::Review { .. } => self.press_in_review(cx, button),
            Page::Checkpoints { .. } if self.pages.review.is_checkpoint() => {
                self.press_in_review(cx, button);
            }
            page => self.press_in_list(cx, &page, button),
        }
    }

    fn press_in_find(&mut self, cx: &Cx<'_>, button: Button) -> bool {
        let chord = match button {
            Button::FindOlder => "up",
            Button::FindNewer => "down",
            Button::FindRegex => "alt+r",
            Button::FindCase => "alt+c",
            Button::Close => "escape",
            _ => return false,
        };
        if let Some(press) = key(chord) {
            self.find_key(cx, &press);
        }
        true
    }

    fn press_in_workspace(&mut self, cx: &Cx<'_>, button: Button) {
        let action = match button {
            Button::Shell => "new_tab",
            Button::Agent => return self.start_agent(cx),
            Button::Thread => "new_thread",
            Button::Help => "help",
            Button::Palette => "command_palette",
            _ => return,
        };
        self.run(cx, action);
    }

    fn press_in_new_thread(&mut self, cx: &Cx<'_>, button: Button) {
        match button {
            Button::Send => self.start_thread(),
            Button::Project | Button::Model | Button::Mode => {
                self.pages.new_thread.press(cx, button);
            }
            _ => {}
        }
    }

    fn press_in_inbox(&mut self, cx: &Cx<'_>, button: Button) {
        // A button is no letter of the filter.
        self.pages.inbox.filtering = false;
        let card = &mut self.pages.card;
        let (denies, answers) = (card.denial().is_some(), card.own_answer().is_some());
        let chord = match button {
            Button::Deny if denies => "enter",
            Button::Send if answers => "enter",
            Button::Remember if card.would_remember() => "enter",
            Button::Back => "escape",
            _ if !leave_fields(card) => return self.warn(WRITTEN),
            Button::Approve => "a",
            Button::Deny => "d",
            Button::Remember => "A",
            Button::Later => "s",
            Button::Open => "o",
            Button::Next => "enter",
            Button::Notes => "i",
            Button::Dismiss => "x",
            _ => return,
        };
        if let Some(press) = key(chord) {
            self.inbox_key(cx, &press);
        }
    }

    fn press_in_thread(&mut self, button: Button) {
        match button {
            Button::Send => {
                self.pages.thread.leave_items();
                self.thread_send();
            }
            Button::Stop => self.thread_stop(),
            Button::Newest => self.thread_newest(),
            Button::Older => self.load_older(true),
            Button::Mode => self.menu = Some(self.mode_menu()),
            Button::Model => self.call(Ask::ModelMenu, method::THREAD_MODELS, Done {}),
            _ => {}
        }
    }

    /// Goes to what waits, as Tab does, else to the end.
    fn thread_newest(&mut self) {
        let page = &mut self.pages.thread;
        page.scroll = 0;
        page.follows = false;
        let waiting = page.waiting();
        if page.at == waiting && page.card.is_asked() {
            page.follows = true;
        } else if waiting.is_some() {
            page.at = waiting;
            page.follows = true;
            self.ask_item_card();
        } else {
            page.leave_items();
        }
    }

    fn mode_menu(&self) -> Menu {
        let row = |(mode, words): &(&str, &str)| {
            let set = ThreadSet { mode: Some((*mode).to_owned()), ..self.pages.thread.set() };
            (format!("{mode}: {words}"), Choice::Set(Box::new(set)))
        };
        Menu { at: self.middle(), rows: MODES.iter().map(row).collect(), selected: 0 }
    }

    /// Models came for the thread that is shown: one of them is chosen in a menu.
    pub(super) fn model_menu(&mut self, models: &[rookery_view::link::ModelRow]) {
        let row = |row: &rookery_view::link::ModelRow| {
            let name = format!("{}/{}", row.provider, row.model);
            let set = ThreadSet { model: Some(name.clone()), ..self.pages.thread.set() };
            (crate::words::line(&name), Choice::Set(Box::new(set)))
        };
        let rows: Vec<_> = models.iter().map(row).collect();
        match rows.is_empty() {
            true => self.warn("there is no other model"),
            false => self.menu = Some(Menu { at: self.middle(), rows, selected: 0 }),
        }
    }

    /// A button of a request in its place in a thread. The first press goes there, as Tab does; it
    /// decides only on the card that is under it, once that could be read.
    pub fn press_item(&mut self, cx: &Cx<'_>, item: &str, button: Button) {
        self.note = None;
        let page = &mut self.pages.thread;
        let Some(index) = page.items().iter().position(|it| it.id == item) else { return };
        if button == Button::Whole {
            page.at = Some(index);
            page.follows = true;
            self.ask_item_card();
            return self.thread_item_enter(index);
        }
        if page.at != Some(index) || page.card.card().is_none() {
            page.at = Some(index);
            page.follows = true;
            self.ask_item_card();
            return self.say(READ_FIRST);
        }
        let (denies, answers) = (page.card.denial().is_some(), page.card.own_answer().is_some());
        let chord = match button {
            Button::Deny if denies => "enter",
            Button::Send if answers => "enter",
            Button::Back => "escape",
            _ if !leave_fields(&mut page.card) => return self.warn(WRITTEN),
            Button::Approve => "a",
            Button::Deny => "d",
            _ => return,
        };
        if let Some(press) = key(chord) {
            self.thread_key(cx, &press);
        }
    }

    fn press_in_review(&mut self, cx: &Cx<'_>, button: Button) {
        let chord = match button {
            Button::Back => "escape",
            Button::Restore => return self.ask_restore_shown(),
            _ if !self.pages.review.leave_comment() => return self.warn(WRITTEN),
            Button::Comment => "c",
            Button::Approve => "a",
            Button::RequestChanges => "r",
            Button::Later => "s",
            _ => return,
        };
        if let Some(press) = key(chord) {
            self.review_key(cx, &press);
        }
    }

    fn press_in_list(&mut self, cx: &Cx<'_>, page: &Page, button: Button) {
        if matches!(page, Page::Settings) {
            self.leave_setting();
            let chord = match button {
                Button::Open => "enter",
                Button::New => "n",
                Button::Restore => "r",
                Button::Remove => "delete",
                Button::Back => "escape",
                _ => return,
            };
            return self.press_in_settings(cx, chord);
        }
        let letter = match button {
            Button::Open => return self.list_enter(cx, page),
            Button::New => 'n',
            Button::Restore => 'R',
            Button::Land => 'l',
            Button::Remove => 'x',
            _ => return,
        };
        self.list_letter(cx, page, letter);
    }

    /// An option of a question, by index; the one behind the last is an own answer.
    pub fn press_option(&mut self, cx: &Cx<'_>, index: usize) {
        self.note = None;
        let guard = u64::from(self.settings.guard);
        let is_thread = matches!(App::page(cx), Page::Thread { .. });
        let card = if is_thread { &mut self.pages.thread.card } else { &mut self.pages.card };
        if !leave_fields(card) {
            return self.warn(WRITTEN);
        }
        let key = card.press_option(index, cx.now, guard);
        let may = self.may_decide();
        self.carry_out(cx, key, may);
    }

    /// A click into a field: it has the keyboard, the cursor before this byte. Nothing else has the
    /// keyboard then, also no request.
    pub fn press_field(&mut self, cx: &Cx<'_>, of: FieldOf, byte: usize) {
        let is_thread = matches!(App::page(cx), Page::Thread { .. });
        let pages = &mut self.pages;
        let field: Option<&mut Field> = match of {
            FieldOf::Composer if pages.new_thread.is_open => Some(pages.new_thread.go_to_text()),
            FieldOf::Composer => {
                pages.thread.leave_items();
                Some(&mut pages.thread.composer)
            }
            FieldOf::Reason | FieldOf::Answer if is_thread => pages.thread.card.field(),
            FieldOf::Reason | FieldOf::Answer => pages.card.field(),
            FieldOf::Comment => pages.review.comment.as_mut(),
            FieldOf::Setting => pages.settings.field(),
            FieldOf::Filter => {
                pages.list.filtering = true;
                Some(pages.list.filter.get_or_insert_default())
            }
            FieldOf::Query => {
                let open = cx.picture.scene().palette.as_ref().and_then(Option::as_ref);
                let query = open.map(|open| open.query.clone()).unwrap_or_default();
                Some(self.palette.get_or_insert_with(|| Field::new(query)))
            }
            FieldOf::Find => self.find.as_mut().map(|find| &mut find.field),
            FieldOf::Question => self.question.as_mut().and_then(|asked| asked.field.as_mut()),
            FieldOf::Name => {
                let start = super::renamed(cx).unwrap_or_default();
                Some(self.rename.get_or_insert_with(|| Field::new(start)))
            }
        };
        if let Some(field) = field {
            field.put_cursor(byte);
        }
        self.note = None;
        self.sidebar = None;
    }

    fn middle(&self) -> (u16, u16) {
        (self.size.0 / 3, self.size.1 / 3)
    }
}

/// Closes a field in which nothing is written; whether letters go to the card now.
fn leave_fields(card: &mut CardPage) -> bool {
    if card.field().is_some_and(|field| !field.is_empty()) {
        return false;
    }
    card.close_field();
    true
}

fn key(chord: &str) -> Option<KeyPress> {
    parse_chord(chord).ok()
}

#[cfg(test)]
mod tests {
    use rookery_view::link::{Card, InboxRow, ItemKind, Rights, Scene, ThreadItem, ThreadShown};

    use super::*;
    use crate::app::Environment;
    use crate::daemon;
    use crate::picture::fixed::Fixed;

    /// A thread with two requests that wait, in an app that may do everything.
    fn thread() -> (Fixed, App) {
        let page = Some(Page::Thread { thread: "t".to_owned() });
        let fixed = Fixed { scene: Scene { page, ..Scene::default() }, ..Fixed::default() };
        let mut app = App::new((80, 24), Environment { is_window: true, ..Default::default() });
        app.rights = Rights::Full;
        app.settings.guard = 0;
        app.pages.thread.begin("t");
        let item = |id: &str, request: &str| ThreadItem {
            id: id.to_owned(),
            kind: ItemKind::Tool,
            status: "waiting".to_owned(),
            request: Some(request.to_owned()),
            ..ThreadItem::default()
        };
        let items = vec![item("i1", "R1"), item("i2", "R2")];
        app.pages.thread.opened("t", ThreadShown { items, ..ThreadShown::default() });
        app.take_effects();
        (fixed, app)
    }

    fn answers(app: &mut App) -> Vec<String> {
        let answered = |effect| match effect {
            Effect::Call(_, method, params) if method == daemon::REQUESTS_ANSWER.name => {
                Some(params["id"].as_str().unwrap_or_default().to_owned())
            }
            _ => None,
        };
        app.take_effects().into_iter().filter_map(answered).collect()
    }

    /// The card that was asked for last comes and is drawn.
    fn show_card(app: &mut App, request: &str) {
        let card = Card {
            request: Some(request.to_owned()),
            state: "pending".to_owned(),
            ..Card::default()
        };
        let card_page = &mut app.pages.thread.card;
        card_page.came(card);
        card_page.drawn(card_page.serial(), true, 1);
    }

    #[test]
    fn a_button_decides_the_request_that_it_belongs_to_and_only_after_its_card_was_there() {
        let (fixed, mut app) = thread();
        let cx = Cx { picture: &fixed, now: 10, wall: 0 };
        app.press_item(&cx, "i1", Button::Approve);
        assert_eq!(answers(&mut app), [""; 0], "the first press only goes there");
        show_card(&mut app, "R1");
        app.press_item(&cx, "i2", Button::Approve);
        assert_eq!(answers(&mut app), [""; 0], "that was another one");
        app.press_item(&cx, "i2", Button::Approve);
        assert_eq!(answers(&mut app), [""; 0], "its card has not come");
        show_card(&mut app, "R2");
        app.press_item(&cx, "i2", Button::Approve);
        assert_eq!(answers(&mut app), ["R2"]);
        assert_eq!(app.pages.thread.composer.text(), "");
    }

    #[test]
    fn the_wheel_reads_a_long_card_and_leaves_a_short_one() {
        let (fixed, mut app) = thread();
        let cx = Cx { picture: &fixed, now: 10, wall: 0 };
        for (most, at, (card, text)) in [(10, Some(0), (3, 0)), (0, None, (0, 3))] {
            app.press_item(&cx, "i1", Button::Approve);
            show_card(&mut app, "R1");
            let page = &mut app.pages.thread;
            page.card.bounded(page.card.serial(), most);
            app.scroll_page(&cx, if at.is_some() { 3 } else { -3 });
            let page = &app.pages.thread;
            assert_eq!((page.at, page.card.scroll, page.scroll), (at, card, text));
            app.pages.thread.leave_items();
        }
    }

    #[test]
    fn what_waits_is_gone_to_by_its_button() {
        let (fixed, mut app) = thread();
        let cx = Cx { picture: &fixed, now: 10, wall: 0 };
        app.pages.thread.scroll_by(-30);
        app.press_button(&cx, Button::Newest);
        let page = &app.pages.thread;
        assert_eq!((page.at, page.scroll, page.follows), (Some(0), 0, true));
        assert!(page.card.is_asked(), "its card is on its way");
    }

    #[test]
    fn a_click_into_the_message_takes_letters_away_from_the_request() {
        let (fixed, mut app) = thread();
        let cx = Cx { picture: &fixed, now: 10, wall: 0 };
        app.press_item(&cx, "i1", Button::Approve);
        show_card(&mut app, "R1");
        app.press_field(&cx, FieldOf::Composer, 0);
        for letter in ["a", "d"] {
            app.key(&cx, &key(letter).unwrap());
        }
        assert_eq!(answers(&mut app), [""; 0]);
        assert_eq!(app.pages.thread.composer.text(), "ad");
        app.press_field(&cx, FieldOf::Composer, 1);
        app.key(&cx, &key("d").unwrap());
        assert_eq!(app.pages.thread.composer.text(), "add");
        app.press_button(&cx, Button::Send);
        let sent = app.take_effects();
        assert!(matches!(&sent[..], [Effect::Call(Ask::Sent(_), ..)]), "{sent:?}");
    }

    #[test]
    fn a_reason_is_written_ended_and_dropped_by_buttons() {
        let (fixed, mut app) = thread();
        let cx = Cx { picture: &fixed, now: 10, wall: 0 };
        app.press_item(&cx, "i1", Button::Deny);
        show_card(&mut app, "R1");
        app.press_item(&cx, "i1", Button::Deny);
        app.key(&cx, &key("n").unwrap());
        // Nothing is decided beside what is written.
        app.press_item(&cx, "i1", Button::Approve);
        assert_eq!(answers(&mut app), [""; 0]);
        assert_eq!(app.pages.thread.card.denial().unwrap().text(), "n");
        app.press_item(&cx, "i1", Button::Deny);
        assert_eq!(answers(&mut app), ["R1"]);
    }

    #[test]
    fn what_is_begun_elsewhere_is_left_when_a_page_is_gone_to_and_kept() {
        let fixed = Fixed::default();
        let cx = Cx { picture: &fixed, now: 10, wall: 0 };
        let mut app = App::new((80, 24), Environment::default());
        app.press_button(&cx, Button::Thread);
        assert!(app.pages.new_thread.is_open);
        app.key(&cx, &key("x").unwrap());
        app.press_button(&cx, Button::Mode);
        assert_eq!(app.pages.new_thread.mode().0, "plan");
        app.go(Page::Inbox { item: None });
        assert!(!app.pages.new_thread.is_open);
        app.run(&cx, "new_thread");
        assert_eq!(app.pages.new_thread.text.text(), "x");
    }

    #[test]
    fn a_note_is_dismissed_by_its_button() {
        let mut fixed = Fixed::default();
        fixed.scene.page = Some(Page::Inbox { item: None });
        let row = InboxRow { item: "Q1".to_owned(), ..InboxRow::default() };
        fixed.scene.inbox =
            Some(rookery_view::link::Inbox { rows: vec![row], ..Default::default() });
        let cx = Cx { picture: &fixed, now: 10, wall: 0 };
        let mut app = App::new((80, 24), Environment::default());
        app.rights = Rights::Full;
        app.click_row(&cx, 0, 1);
        app.take_effects();
        app.press_button(&cx, Button::Dismiss);
        let called = app.take_effects();
        let resolve = daemon::QUEUE_RESOLVE.name;
        assert!(
            matches!(&called[..], [Effect::Call(_, name, _)] if *name == resolve),
            "{called:?}"
        );
    }

    #[test]
    fn the_daemon_is_started_while_it_is_away_and_nothing_else_is_pressed() {
        let (fixed, mut app) = thread();
        let cx = Cx { picture: &fixed, now: 10, wall: 0 };
        app.lose(crate::app::Lost::default());
        app.take_effects();
        app.press_button(&cx, Button::Stop);
        assert_eq!(app.take_effects(), []);
        app.press_button(&cx, Button::StartDaemon);
        assert_eq!(app.take_effects(), [Effect::StartDaemon]);
    }
}
