//! Keys go where they are meant to.

mod lists;
mod places;

use rookery_face::app::*;
use rookery_face::keymap::Keymap;
use rookery_face::picture::fixed::{Fixed, default_keys, workspace};
use rookery_term::keys::{KeyKind, parse_chord};
use rookery_term::mouse::{MouseButton, MouseEvent, MouseKind, MouseMods};
use rookery_view::link;
use rookery_view::link::*;
use serde_json::{Value, json};

use crate::draw::draw;
use crate::look::Look;
use crate::out::Depth;

fn json(params: impl serde::Serialize) -> Value {
    serde_json::to_value(params).unwrap()
}

struct Bench {
    app: App,
    fixed: Fixed,
    now: u64,
}

impl Bench {
    fn new() -> Bench {
        let mut app = App::new((100, 30), Environment::default());
        let settings = link::Settings {
            prefix: Some("ctrl+\\".to_owned()),
            guard: 400,
            wheel_rows: 3,
            ..link::Settings::default()
        };
        app.keymap = Keymap::new(&default_keys(), settings.prefix.as_deref());
        app.settings = settings;
        app.rights = Rights::Full;
        Bench { app, fixed: workspace(78, 28), now: 1000 }
    }

    fn step<R>(&mut self, act: impl FnOnce(&mut App, &Cx<'_>) -> R) -> R {
        let cx = Cx { picture: &self.fixed, now: self.now, wall: 0 };
        act(&mut self.app, &cx)
    }

    fn keys(&mut self, chords: &[&str]) -> Vec<Effect> {
        for chord in chords {
            let press = parse_chord(chord).unwrap();
            self.step(|app, cx| app.key(cx, &press));
            // As if the daemon had answered at once.
            self.step(|app, cx| app.arrive(cx));
        }
        self.app.take_effects()
    }

    fn draw(&mut self) -> Vec<String> {
        let look = Look::new(None, "none", Depth::None, false, false);
        let cx = Cx { picture: &self.fixed, now: self.now, wall: 0 };
        let picture = draw(&self.app, &cx, &look);
        self.app.drawn(picture.drawn, self.now);
        picture.canvas.texts()
    }

    fn note(&self) -> &str {
        self.app.note.as_ref().map_or("", |(_, text)| text)
    }

    fn inbox(&mut self) {
        self.fixed.scene.page = Some(Page::Inbox { item: None });
        let row = InboxRow {
            item: "i1".to_owned(),
            request: Some("r1".to_owned()),
            kind: "approval".to_owned(),
            ..InboxRow::default()
        };
        self.fixed.scene.inbox = Some(Inbox { rows: vec![row], total: 1, ..Inbox::default() });
        self.step(|app, cx| app.changed(cx));
        let card = Card {
            request: Some("r1".to_owned()),
            digest: Some("d".to_owned()),
            state: "pending".to_owned(),
            actions: vec!["approve".to_owned(), "deny".to_owned(), "remember".to_owned()],
            ..Card::default()
        };
        let serial = self.app.pages.card.serial();
        self.step(|app, cx| app.reply(cx, Ask::Card(serial), Ok(json(card))));
        self.app.take_effects();
    }
}

fn typed_keys(effects: &[Effect]) -> Vec<String> {
    let key = |effect: &Effect| match effect {
        Effect::Input(Input::Key(3, press)) => Some(press.to_string()),
        _ => None,
    };
    effects.iter().filter_map(key).collect()
}

fn calls(effects: &[Effect]) -> Vec<(&'static str, serde_json::Value)> {
    let call = |effect: &Effect| match effect {
        Effect::Call(_, method, params) => Some((*method, params.clone())),
        _ => None,
    };
    effects.iter().filter_map(call).collect()
}

#[test]
fn the_card_of_an_earlier_visit_is_not_shown_again() {
    let mut bench = Bench::new();
    bench.inbox();
    assert!(bench.app.pages.card.card().is_some());
    bench.fixed.scene.page = Some(Page::Workspace { terminal: Some(3) });
    bench.step(|app, cx| app.changed(cx));
    bench.fixed.scene.page = Some(Page::Inbox { item: None });
    let row =
        InboxRow { item: "i2".to_owned(), request: Some("r2".to_owned()), ..InboxRow::default() };
    bench.fixed.scene.inbox = Some(Inbox { rows: vec![row], total: 1, ..Inbox::default() });
    bench.step(|app, cx| app.changed(cx));
    let effects = bench.app.take_effects();
    assert!(bench.app.pages.card.card().is_none());
    let asked = calls(&effects).into_iter().find(|(name, _)| *name == method::CARD.name);
    assert_eq!(asked.unwrap().1["request"], "r2");
}

#[test]
fn free_keys_reach_the_program() {
    let mut bench = Bench::new();
    let effects = bench.keys(&["l", "s", "enter", "ctrl+c", "alt+x", "f5", "shift+tab", "escape"]);
    assert_eq!(
        typed_keys(&effects),
        ["l", "s", "enter", "ctrl+c", "alt+x", "f5", "shift+tab", "escape"]
    );
    assert_eq!(effects.len(), 8);
}

#[test]
fn a_key_that_only_goes_to_a_program_changes_no_picture() {
    let mut bench = Bench::new();
    let shows = |bench: &mut Bench, chord: &str| {
        let press = parse_chord(chord).unwrap();
        bench.step(|app, cx| app.shows_key(cx, &press))
    };
    assert!(!shows(&mut bench, "l") && !shows(&mut bench, "enter"));
    assert_eq!(typed_keys(&bench.app.take_effects()), ["l", "enter"]);
    // What is said goes with the next key, and so does what is selected.
    bench.app.say("done");
    assert!(shows(&mut bench, "l") && !shows(&mut bench, "l"));
    bench.app.selection =
        Some(Selection { terminal: 3, anchor: (0, 0), head: (0, 1), kind: SelectKind::Text });
    assert!(shows(&mut bench, "l") && !shows(&mut bench, "l"));
    // The prefix is shown, and the key after it is not the program's.
    assert!(shows(&mut bench, "ctrl+\\") && shows(&mut bench, "ctrl+\\"));
    bench.app.rights = Rights::Look;
    assert!(shows(&mut bench, "l"));
    assert_eq!(bench.note(), "read-only: nothing is sent or decided here");
}

#[test]
fn the_prefix_is_kept_and_twice_is_sent_once() {
    let mut bench = Bench::new();
    assert!(bench.keys(&["ctrl+\\"]).is_empty());
    assert_eq!(typed_keys(&bench.keys(&["ctrl+\\"])), ["ctrl+\\"]);
    assert_eq!(typed_keys(&bench.keys(&["x"])), ["x"]);
    let effects = bench.keys(&["ctrl+\\", "c"]);
    assert_eq!(calls(&effects), [(method::ACT.name, json!({"action": "new_tab"}))]);
    assert!(bench.keys(&["ctrl+\\", "y"]).is_empty());
    assert!(bench.note().contains("does nothing"), "{}", bench.note());
    assert!(bench.keys(&["ctrl+\\", "escape"]).is_empty());
}

#[test]
fn panes_are_split_moved_and_zoomed() {
    let mut bench = Bench::new();
    let effects = bench.keys(&["ctrl+alt+v", "ctrl+\\", "left", "ctrl+\\", "z"]);
    assert_eq!(
        calls(&effects),
        [
            (method::PANE.name, json!({"split": "right"})),
            (method::PANE.name, json!({"focus": "left"})),
            (method::ACT.name, json!({"action": "zoom_pane"})),
        ]
    );
    let effects = bench.keys(&["ctrl+\\", "alt+left"]);
    assert_eq!(calls(&effects), [(method::PANE.name, json!({"resize": "left", "by": 2}))]);
}

#[test]
fn letters_go_to_the_terminal_while_a_request_arrives() {
    let mut bench = Bench::new();
    let before = typed_keys(&bench.keys(&["a", "d"]));
    bench.fixed.scene.status.as_mut().unwrap().waiting = 4;
    bench.fixed.scene.toasts = Some(vec![Toast { title: "asks".to_owned(), ..Toast::default() }]);
    bench.step(|app, cx| app.changed(cx));
    let after = typed_keys(&bench.keys(&["a", "A", "d", "enter", "1"]));
    assert_eq!((before.len(), after.len()), (2, 5));
}

#[test]
fn approving_needs_a_card_that_was_read() {
    let mut bench = Bench::new();
    bench.inbox();
    assert!(calls(&bench.keys(&["a"])).is_empty(), "it was not drawn yet");
    assert_eq!(bench.note(), "read it first");
    bench.draw();
    bench.now += 399;
    assert!(calls(&bench.keys(&["a", "enter", "1"])).is_empty());
    bench.now += 1;
    bench.app.pages.inbox.whole = false;
    let effects = bench.keys(&["a"]);
    let params = json!({"approved": true, "id": "r1", "shown": "d"});
    assert_eq!(calls(&effects), [("rookery/requests/answer", params)]);
    // Only once.
    bench.now += 10;
    assert!(calls(&bench.keys(&["a"])).is_empty());
}

#[test]
fn a_row_that_goes_takes_the_selection_with_it() {
    let mut bench = Bench::new();
    bench.inbox();
    bench.draw();
    bench.now += 5000;
    let other =
        InboxRow { item: "i2".to_owned(), request: Some("r2".to_owned()), ..InboxRow::default() };
    bench.fixed.scene.inbox.as_mut().unwrap().rows = vec![other];
    bench.step(|app, cx| app.changed(cx));
    assert_eq!(bench.app.pages.inbox.selected, None);
    assert!(calls(&bench.keys(&["a"])).is_empty());
}

#[test]
fn a_viewer_that_only_looks_sends_no_key_and_no_answer() {
    let mut bench = Bench::new();
    bench.app.rights = Rights::Look;
    assert!(bench.keys(&["l", "s", "enter"]).is_empty());
    bench.step(|app, cx| app.paste(cx, "x".to_owned(), false));
    assert!(bench.app.take_effects().is_empty());
    bench.inbox();
    bench.draw();
    bench.now += 1000;
    assert!(calls(&bench.keys(&["a"])).is_empty());
}

#[test]
fn keys_while_the_daemon_is_away_are_refused_aloud() {
    let mut bench = Bench::new();
    bench.app.lose(Lost::default());
    let effects = bench.keys(&["l", "s"]);
    assert_eq!(effects, vec![Effect::Bell; 2]);
    assert_eq!(bench.note(), "not sent");
    bench.now += 1000;
    assert_eq!(bench.keys(&["u"]), [Effect::StartDaemon]);
    assert_eq!(bench.keys(&["ctrl+\\", "q"]), [Effect::Leave]);
    bench.app.regain();
    assert_eq!(typed_keys(&bench.keys(&["l"])), ["l"]);
}

#[test]
fn how_long_the_daemon_is_away_is_said_and_a_word_starts_none() {
    let mut bench = Bench::new();
    bench.app.lose(Lost { since: 1000, ..Lost::default() });
    bench.now = 4200;
    let shown = bench.draw().join("\n");
    assert!(shown.contains("connecting again, 3 s      u start it now"), "{shown}");
    // The `u` of `sudo` is a letter like its others.
    assert_eq!(bench.keys(&["s", "u"]), [Effect::Bell, Effect::Bell]);
    assert_eq!(bench.note(), "not sent");
    bench.now += 1000;
    assert_eq!(bench.keys(&["u"]), [Effect::StartDaemon]);
}

#[test]
fn the_pill_of_a_group_has_the_mood_that_the_daemon_finds_loudest() {
    let mut bench = Bench::new();
    let tab = |id, mood| Tab { id, mood, title: "t".to_owned(), ..Tab::default() };
    let tabs = vec![tab(3, Mood::Waiting), tab(4, Mood::Failed)];
    let strip = bench.fixed.scene.strip.get_or_insert_default();
    strip.groups = vec![Group { id: 3, tabs, focused: 3 }];
    let strip = bench.draw()[0].clone();
    assert!(strip.contains("1 x t +1"), "{strip}");
}

#[test]
fn copy_mode_pans_by_half_of_the_pane() {
    let mut bench = Bench::new();
    bench.draw();
    bench.keys(&["ctrl+\\", "[", "g"]);
    let at = |bench: &Bench| bench.app.copy.as_ref().unwrap().at;
    let (oldest, begin) = at(&bench);
    assert_eq!(begin, 0);
    let place = bench.app.drawn.panes.iter().find(|(t, ..)| *t == 3).unwrap().1;
    bench.keys(&["shift+right"]);
    assert_eq!(at(&bench), (oldest, place.cols / 2));
    bench.keys(&["shift+down"]);
    assert_eq!(at(&bench), (oldest + u64::from(place.rows / 2), place.cols / 2));
    for _ in 0..2 {
        // Not beyond the first row and column.
        bench.keys(&["shift+left", "shift+up"]);
        assert_eq!(at(&bench), (oldest, 0));
    }
}

#[test]
fn an_approval_pressed_while_away_is_not_sent_later() {
    let mut bench = Bench::new();
    bench.inbox();
    bench.draw();
    bench.now += 1000;
    bench.app.lose(Lost::default());
    bench.keys(&["a", "A", "enter"]);
    bench.app.regain();
    bench.step(|app, cx| app.changed(cx));
    assert!(calls(&bench.app.take_effects()).iter().all(|(method, _)| !method.contains("answer")));
    // The guard begins anew after the return.
    bench.draw();
    assert!(calls(&bench.keys(&["a"])).is_empty());
}

#[test]
fn pastes_that_would_run_are_asked_about() {
    let mut bench = Bench::new();
    bench.step(|app, cx| app.paste(cx, "ls\nrm x\n".to_owned(), false));
    let Some(Effect::Call(ask, name, _)) = bench.app.take_effects().pop() else { panic!() };
    assert_eq!(name, method::PASTE.name);
    let doubt = json!({"pasted": false, "why": "lines", "lines": 2});
    bench.step(|app, cx| app.reply(cx, ask.clone(), Ok(doubt.clone())));
    let text = bench.draw().join("\n");
    assert!(text.contains("Paste 2 lines?") && text.contains("rm x"), "{text}");
    assert!(bench.keys(&["a", "x", "escape"]).is_empty());
    bench.step(|app, cx| app.reply(cx, ask, Ok(doubt)));
    let effects = bench.keys(&["enter"]);
    assert_eq!(calls(&effects)[0].1["sure"], json!(true));
    assert_eq!(typed_keys(&bench.keys(&["enter"])), ["enter"]);
}

#[test]
fn a_paste_onto_a_page_without_a_field_is_refused() {
    let mut bench = Bench::new();
    bench.inbox();
    bench.step(|app, cx| app.paste(cx, "a".to_owned(), false));
    assert!(bench.app.take_effects().is_empty());
    assert_eq!(bench.note(), "cannot paste here");
}

#[test]
fn find_searches_while_it_is_written() {
    let mut bench = Bench::new();
    let effects = bench.keys(&["ctrl+\\", "/", "r", "e"]);
    let (method, params) = &calls(&effects)[1];
    assert_eq!((*method, &params["text"]), (method::FIND.name, &json!("re")));
    let ask = effects.iter().rev().find_map(|effect| match effect {
        Effect::Call(ask @ Ask::Find(_), ..) => Some(ask.clone()),
        _ => None,
    });
    let found = Found { matches: vec![(2, 5, 2), (0, 1, 2)], total: 7, ..Found::default() };
    bench.step(|app, cx| app.reply(cx, ask.unwrap(), Ok(json(found))));
    assert!(bench.draw().join("\n").contains("1 of 7"));
    bench.keys(&["enter"]);
    assert!(bench.draw().join("\n").contains("2 of 7"));
    bench.keys(&["escape"]);
    assert!(bench.app.find.is_none());
    assert_eq!(typed_keys(&bench.keys(&["x"])), ["x"]);
}

#[test]
fn copy_mode_walks_selects_and_copies() {
    let mut bench = Bench::new();
    bench.keys(&["ctrl+\\", "[", "w", "v", "e", "j", "0"]);
    let selection = bench.app.selection.unwrap();
    assert_eq!((selection.anchor, selection.head), ((0, 2), (1, 0)));
    let effects = bench.keys(&["y"]);
    assert!(calls(&effects).iter().any(|(method, _)| *method == method::COPY.name));
    assert!(bench.app.copy.is_none());
    let copied = json!({"text": "cargo", "cut": false});
    bench.step(|app, cx| app.reply(cx, Ask::Copy, Ok(copied)));
    let copied = Copied { text: "cargo".to_owned(), cut: false };
    assert_eq!(bench.app.take_effects(), [Effect::Copy(copied.clone())]);
    bench.app.has_copied(&copied, "copied");
    assert_eq!(bench.note(), "copied");
}

fn mouse(kind: MouseKind, button: MouseButton, col: u16, row: u16) -> MouseEvent {
    let mods = MouseMods { shift: false, ctrl: false, alt: false };
    MouseEvent { kind, button, col, row, mods }
}

#[test]
fn clicks_drags_and_the_wheel() {
    use MouseButton::{Left, WheelUp};
    use MouseKind::{Motion, Press, Release};
    let mut bench = Bench::new();
    bench.draw();
    // A pill.
    bench.step(|app, cx| app.mouse(cx, &mouse(Press, Left, 25, 0)));
    assert_eq!(calls(&bench.app.take_effects()), []);
    bench.step(|app, cx| app.mouse(cx, &mouse(Release, Left, 25, 0)));
    let effects = bench.app.take_effects();
    assert_eq!(calls(&effects)[0], (method::GO.name, json!({"page": "workspace", "terminal": 7})));
    bench.step(|app, cx| app.arrive(cx));
    // Selecting by drag.
    bench.now += 1000;
    bench.step(|app, cx| app.mouse(cx, &mouse(Press, Left, 24, 1)));
    bench.step(|app, cx| app.mouse(cx, &mouse(Motion, Left, 28, 2)));
    let selection = bench.app.selection.unwrap();
    assert_eq!((selection.anchor, selection.head), ((0, 2), (1, 6)));
    bench.step(|app, cx| app.mouse(cx, &mouse(Release, Left, 28, 2)));
    let effects = bench.app.take_effects();
    assert!(calls(&effects).iter().any(|(method, _)| *method == method::COPY.name));
    // The wheel scrolls where no program wants it.
    bench.step(|app, cx| app.mouse(cx, &mouse(Press, WheelUp, 24, 5)));
    let scroll = json!({"t": 3, "by": -3});
    assert_eq!(bench.app.take_effects(), [Effect::Notify(method::SCROLL.name, scroll)]);
    // A program that asked for the mouse gets it.
    bench.fixed.terms.get_mut(&3).unwrap().modes = modes::MOUSE;
    bench.step(|app, cx| app.mouse(cx, &mouse(Press, Left, 23, 4)));
    let effects = bench.app.take_effects();
    let Effect::Input(Input::Mouse(report)) = &effects[0] else { panic!("{effects:?}") };
    assert_eq!((report.t, report.row, report.col), (3, 3, 1));
    // A click on a hint is its key.
    bench.step(|app, cx| app.mouse(cx, &mouse(Press, Left, 3, 29)));
    assert!(bench.app.prefix);
}

#[test]
fn releases_go_to_programs_only() {
    let mut bench = Bench::new();
    let release = parse_chord("x").unwrap().with_kind(KeyKind::Release);
    bench.step(|app, cx| app.key(cx, &release));
    assert_eq!(bench.app.take_effects().len(), 1);
    bench.inbox();
    bench.step(|app, cx| app.key(cx, &release));
    assert!(bench.app.take_effects().is_empty());
}

#[test]
fn help_lists_and_runs_every_action() {
    let mut bench = Bench::new();
    bench.fixed.scene.page = Some(Page::Help);
    bench.step(|app, cx| app.changed(cx));
    let rows = bench.app.list_rows(&Page::Help, 0);
    for row in rookery_view::keys::ACTIONS {
        assert!(rows.iter().any(|listed| listed.id == row.id), "{}", row.id);
    }
    bench.keys(&["s", "p", "l", "i", "t"]);
    let text = bench.draw().join("\n");
    assert!(text.contains("ctrl+alt+v") && text.contains("Split Right"), "{text}");
    let effects = bench.keys(&["enter"]);
    assert!(
        calls(&effects)
            .iter()
            .any(|(method, params)| *method == method::PANE.name
                && params["split"] == json!("right"))
    );
}

#[test]
fn palette_rows_of_this_face_are_run_here() {
    let mut bench = Bench::new();
    let row = |id: &str| PaletteRow { id: id.to_owned(), ..PaletteRow::default() };
    let palette = Palette { rows: vec![row("find"), row("new_tab")], ..Palette::default() };
    bench.fixed.scene.palette = Some(Some(palette.clone()));
    let effects = bench.keys(&["x", "enter"]);
    let names = calls(&effects);
    assert_eq!(names[0], (method::PALETTE.name, json!({"query": "x"})));
    assert_eq!(names[1], (method::PALETTE.name, json!({"close": true})));
    assert!(bench.app.find.is_some());
    bench.app.find = None;
    bench.fixed.scene.palette = Some(Some(Palette { selected: 1, ..palette }));
    let effects = bench.keys(&["enter"]);
    assert_eq!(calls(&effects)[0].0, method::PALETTE.name);
}

#[test]
fn own_terminal_is_not_typed_into() {
    let mut bench = Bench::new();
    bench.app.around.own_terminal = Some(3);
    assert!(bench.keys(&["x"]).is_empty());
    assert!(bench.draw().join("\n").contains("this terminal"));
}

/// The one call to write settings among effects.
fn settings_calls(effects: &[Effect]) -> Vec<Value> {
    let of_settings = |effect: &Effect| match effect {
        Effect::Call(_, method, params) if *method == method::SETTINGS.name => Some(params.clone()),
        _ => None,
    };
    effects.iter().filter_map(of_settings).collect()
}

impl Bench {
    fn settings_page(&mut self) {
        let keymap = rookery_view::keys::Keymap::for_face(
            rookery_view::keys::FaceKind::Tui,
            rookery_view::keys::Platform::Linux,
            rookery_view::keys::KeyPreset::Default,
            None,
            &[],
        );
        let settings = link::Settings {
            prefix: Some("ctrl+\\".to_owned()),
            key_preset: "default".to_owned(),
            confirm_close: "busy".to_owned(),
            colors: "auto".to_owned(),
            mouse: true,
            guard: 400,
            ..link::Settings::default()
        };
        self.fixed.scene.chosen = Some(Chosen { settings, keys: keymap.entries() });
        self.fixed.scene.page = Some(Page::Settings);
        self.step(|app, cx| app.changed(cx));
        self.app.take_effects();
        self.draw();
    }

    fn go_to_row(&mut self, name: &str) {
        self.keys(&["g"]);
        for _ in 0..200 {
            let row = self.draw().into_iter().find(|line| line.contains("> ")).unwrap_or_default();
            if row.contains(name) {
                return;
            }
            self.keys(&["j"]);
        }
        panic!("there is no row {name}");
    }
}

#[test]
fn settings_are_changed_by_their_row() {
    let mut bench = Bench::new();
    bench.settings_page();
    bench.go_to_row("Colors");
    let set = |key: &str, value: &str| json!({"set": key, "value": value});
    assert_eq!(settings_calls(&bench.keys(&["enter"])), [set("tui-colors", "theme")]);
    assert_eq!(settings_calls(&bench.keys(&["left"])), [set("tui-colors", "none")]);
    bench.go_to_row("Guard");
    let effects = bench.keys(&["enter", "ctrl+u", "5", "0", "enter"]);
    assert_eq!(settings_calls(&effects), [set("answer-guard-ms", "50")]);
    bench.go_to_row("Prefix");
    assert_eq!(settings_calls(&bench.keys(&["enter", "a"])), Vec::<Value>::new());
    assert!(bench.note().contains("is text"));
    // Whatever the chord does otherwise, it becomes the prefix.
    assert_eq!(
        settings_calls(&bench.keys(&["enter", "ctrl+alt+p"])),
        [set("prefix", "ctrl+alt+p")]
    );
    assert_eq!(settings_calls(&bench.keys(&["enter", "escape"])), Vec::<Value>::new());
}

#[test]
fn keys_are_bound_by_pressing_them() {
    let mut bench = Bench::new();
    bench.settings_page();
    bench.go_to_row("Keys");
    bench.keys(&["enter"]);
    assert!(bench.draw()[1].contains("Settings · Keys"));
    bench.go_to_row("Split Below");
    let bind = |chord: &str, action: &str| json!({"bind": chord, "action": action});
    let effects = bench.keys(&["enter", "ctrl+\\", "ctrl+s"]);
    assert_eq!(
        settings_calls(&effects),
        [bind("ctrl+alt+b", "unbind"), bind("prefix>ctrl+s", "split_below")]
    );
    let effects = bench.keys(&["n", "f7"]);
    assert_eq!(settings_calls(&effects), [bind("f7", "split_below")]);
    let effects = bench.keys(&["delete"]);
    assert_eq!(settings_calls(&effects), [bind("ctrl+alt+b", "unbind")]);
    let effects = bench.keys(&["r"]);
    assert!(settings_calls(&effects).iter().all(|call| call.get("action").is_none()));
    bench.keys(&["escape"]);
    assert!(!bench.app.pages.settings.keys);
}

#[test]
fn settings_that_change_elsewhere_are_in_force() {
    let mut bench = Bench::new();
    bench.settings_page();
    let chosen = bench.fixed.scene.chosen.as_mut().unwrap();
    chosen.settings.prefix = Some("ctrl+a".to_owned());
    let key = |chord: &str| (chord.to_owned(), "open_inbox".to_owned(), "Open Inbox".to_owned());
    chosen.keys = vec![key("f5"), key("prefix>i")];
    bench.step(|app, cx| app.changed(cx));
    bench.app.take_effects();
    let effects = bench.keys(&["f5"]);
    assert_eq!(calls(&effects)[0].0, method::GO.name);
    bench.keys(&["ctrl+a"]);
    assert!(bench.app.prefix);
}

#[test]
fn a_tab_with_an_agent_at_work_is_closed_after_a_question() {
    let mut bench = Bench::new();
    // In the fixed picture an agent works in the focused tab.
    assert!(calls(&bench.keys(&["ctrl+\\", "x"])).is_empty());
    assert!(bench.draw().join("\n").contains("An agent works there."));
    assert!(calls(&bench.keys(&["escape"])).is_empty());
    let effects = bench.keys(&["ctrl+\\", "x", "enter"]);
    assert_eq!(calls(&effects)[0].1["action"], json!("close_tab"));
    bench.app.settings.confirm_close = "never".to_owned();
    assert_eq!(calls(&bench.keys(&["ctrl+\\", "x"]))[0].1["action"], json!("close_tab"));
}

#[test]
fn pastes_ask_as_the_user_chose() {
    let mut bench = Bench::new();
    bench.app.settings.paste_warning = "always".to_owned();
    bench.step(|app, cx| app.paste(cx, "one".to_owned(), false));
    assert!(bench.app.take_effects().is_empty());
    assert_eq!(calls(&bench.keys(&["enter"]))[0].1["sure"], json!(true));
    bench.app.settings.paste_warning = "never".to_owned();
    bench.step(|app, cx| app.paste(cx, "a\nb".to_owned(), false));
    assert_eq!(calls(&bench.app.take_effects())[0].1["sure"], json!(true));
}

#[test]
fn copy_mode_searches_onward_and_back() {
    let mut bench = Bench::new();
    let effects = bench.keys(&["ctrl+\\", "[", "/", "t", "enter"]);
    let ask = effects.iter().rev().find_map(|effect| match effect {
        Effect::Call(ask @ Ask::Find(_), ..) => Some(ask.clone()),
        _ => None,
    });
    assert!(bench.app.find.is_none(), "the bar is done");
    let found =
        Found { matches: vec![(2, 5, 1), (1, 0, 1), (0, 4, 1)], total: 3, ..Found::default() };
    bench.step(|app, cx| app.reply(cx, ask.unwrap(), Ok(json(found))));
    let at = |bench: &Bench| bench.app.copy.as_ref().map(|copy| copy.at);
    assert_eq!(at(&bench), Some((0, 4)));
    bench.keys(&["n"]);
    assert_eq!(at(&bench), Some((1, 0)));
    bench.keys(&["N", "N"]);
    assert_eq!(at(&bench), Some((2, 5)), "around the beginning");
}

#[test]
fn after_a_return_a_terminal_is_scrolled_to_where_it_was() {
    let mut bench = Bench::new();
    let term = bench.fixed.terms.get_mut(&3).unwrap();
    term.view = View { top: 40, first: 100, oldest: 0 };
    bench.step(|app, cx| app.changed(cx));
    bench.step(|app, _| app.lose(Lost::default()));
    bench.app.opened(&link::Opened {
        version: 1,
        viewer: 1,
        rights: Rights::Full,
        is_desk: true,
        daemon: link::Daemon::default(),
        settings: bench.app.settings.clone(),
        keys: default_keys(),
        scene: Scene::default(),
    });
    bench.app.take_effects();
    let term = bench.fixed.terms.get_mut(&3).unwrap();
    term.view = View { top: 100, first: 100, oldest: 0 };
    bench.step(|app, cx| app.changed(cx));
    let effects = bench.app.take_effects();
    let scrolled = effects.iter().find_map(|effect| match effect {
        Effect::Notify(name, params) if *name == method::SCROLL.name => Some(params.clone()),
        _ => None,
    });
    assert_eq!(scrolled, Some(json!({"t": 3, "by": -60})));
    bench.step(|app, cx| app.changed(cx));
    assert!(!bench.app.take_effects().iter().any(|effect| matches!(effect, Effect::Notify(..))));
}

#[test]
fn nothing_lies_between_remembering_and_its_enter() {
    for between in ["down", "up", "j", "G", "pagedown", "x", "i"] {
        let mut bench = Bench::new();
        bench.inbox();
        bench.draw();
        bench.now += 1000;
        bench.keys(&["A"]);
        assert!(bench.app.pages.card.would_remember(), "{between}");
        let made = bench.keys(&[between, "enter"]);
        let answers = calls(&made).iter().any(|(method, _)| method.contains("answer"));
        assert!(!answers, "{between}: {made:?}");
    }
    let mut bench = Bench::new();
    bench.inbox();
    bench.draw();
    bench.now += 1000;
    bench.keys(&["A"]);
    let click = MouseEvent {
        kind: MouseKind::Press,
        button: MouseButton::Left,
        row: 10,
        col: 30,
        mods: MouseMods::default(),
    };
    bench.step(|app, cx| app.mouse(cx, &click));
    let made = bench.keys(&["enter"]);
    assert!(!calls(&made).iter().any(|(method, _)| method.contains("answer")), "{made:?}");
}

#[test]
fn a_long_card_in_a_thread_is_read_from_its_begin() {
    let mut bench = Bench::new();
    bench.fixed.scene.page = Some(Page::Thread { thread: "t1".to_owned() });
    bench.step(|app, cx| app.changed(cx));
    let item = ThreadItem {
        id: "i1".to_owned(),
        kind: ItemKind::Edit,
        status: "waiting".to_owned(),
        request: Some("r1".to_owned()),
        ..ThreadItem::default()
    };
    let shown = ThreadShown { items: vec![item], ..ThreadShown::default() };
    bench.step(|app, cx| app.reply(cx, Ask::Thread("t1".to_owned()), Ok(json(shown))));
    bench.keys(&["tab"]);
    let card = Card {
        request: Some("r1".to_owned()),
        state: "pending".to_owned(),
        actions: vec!["approve".to_owned()],
        lines: (1..=100).map(|at| format!("line {at} of it")).collect(),
        ..Card::default()
    };
    let serial = bench.app.pages.thread.card.serial();
    bench.step(|app, cx| app.reply(cx, Ask::Card(serial), Ok(json(card))));
    let text = bench.draw().join("\n");
    assert!(text.contains("line 1 of it") && !text.contains("line 100 of it"), "{text}");
    bench.now += 1000;
    let made = bench.keys(&["a"]);
    assert!(calls(&made).is_empty(), "{made:?}");
    assert!(bench.note().contains("again"), "{}", bench.note());
    let text = bench.draw().join("\n");
    assert!(text.contains("line 100 of it"), "{text}");
    bench.keys(&["pageup"]);
    let text = bench.draw().join("\n");
    assert!(!text.contains("line 100 of it"), "{text}");
    bench.now += 1000;
    let made = bench.keys(&["a"]);
    assert_eq!(calls(&made)[0].1["approved"], true, "{made:?}");
}

/// Types without an answer of the daemon between the keys.
fn ahead(bench: &mut Bench, chords: &[&str]) -> Vec<Effect> {
    for chord in chords {
        let press = parse_chord(chord).unwrap();
        bench.step(|app, cx| app.key(cx, &press));
    }
    bench.app.take_effects()
}

fn answer(bench: &mut Bench) -> Vec<Effect> {
    let done = Ask::Moving(Box::new(Ask::Quiet));
    bench.step(|app, cx| app.reply(cx, done, Ok(Value::Null)));
    bench.app.take_effects()
}

#[test]
fn keys_behind_a_change_of_place_wait_for_it() {
    let mut bench = Bench::new();
    let made = ahead(&mut bench, &["ctrl+\\", "v", "l", "s", "enter"]);
    assert_eq!(calls(&made).len(), 1, "{made:?}");
    assert_eq!(typed_keys(&made), Vec::<String>::new());
    let made = answer(&mut bench);
    assert_eq!(made, [Effect::Input(Input::Fence)]);
    bench.app.fenced(7);
    // A frame from before does not have the place yet.
    bench.step(|app, cx| app.accepted(cx, 6));
    assert_eq!(bench.app.take_effects(), []);
    bench.step(|app, cx| app.accepted(cx, 7));
    let made = bench.app.take_effects();
    assert_eq!(typed_keys(&made), ["l", "s", "enter"], "{made:?}");
    let made = ahead(&mut bench, &["x"]);
    assert_eq!(typed_keys(&made), ["x"]);
}

#[test]
fn keys_typed_before_a_page_was_seen_are_dropped() {
    let mut bench = Bench::new();
    bench.step(|app, cx| app.changed(cx));
    bench.app.take_effects();
    ahead(&mut bench, &["ctrl+\\", "i", "a", "A", "enter", "d"]);
    bench.inbox();
    bench.draw();
    bench.now += 1000;
    answer(&mut bench);
    bench.app.fenced(1);
    bench.step(|app, cx| app.accepted(cx, 1));
    assert_eq!(calls(&bench.app.take_effects()), []);
    assert!(!bench.app.pages.card.has_field() && !bench.app.pages.card.would_remember());
    let made = ahead(&mut bench, &["a"]);
    assert_eq!(calls(&made).len(), 1, "{made:?}");
}

#[test]
fn keys_that_waited_are_named_when_the_daemon_goes() {
    let mut bench = Bench::new();
    ahead(&mut bench, &["ctrl+\\", "v", "l", "s", "ctrl+c"]);
    bench.app.lose(Lost { stopping: true, ..Lost::default() });
    let lost = bench.app.lost.clone().unwrap();
    assert_eq!((lost.unsure, lost.text.as_str()), (3, "ls\u{3}"));
    // A word does not start what was stopped on purpose.
    let made = ahead(&mut bench, &["r", "u", "n"]);
    assert!(!made.contains(&Effect::StartDaemon), "{made:?}");
    bench.now += 2000;
    let made = ahead(&mut bench, &["u"]);
    assert!(made.contains(&Effect::StartDaemon), "{made:?}");
}

#[test]
fn a_click_on_an_action_ends_the_prefix() {
    let mut bench = Bench::new();
    bench.keys(&["ctrl+\\"]);
    assert!(bench.app.prefix);
    bench.app.drawn.hits =
        vec![(rookery_face::cells::Rect::new(0, 0, 5, 1), Hit::Action("new_tab".to_owned()))];
    let click = MouseEvent {
        kind: MouseKind::Press,
        button: MouseButton::Left,
        row: 0,
        col: 1,
        mods: MouseMods::default(),
    };
    bench.step(|app, cx| app.mouse(cx, &click));
    assert!(!bench.app.prefix);
}

#[test]
fn a_paste_by_key_is_asked_about_like_any_other() {
    let mut bench = Bench::new();
    bench.step(|app, cx| app.run(cx, "paste"));
    let made = bench.app.take_effects();
    assert_eq!(
        calls(&made),
        [(method::PASTE.name, json!({"t": 3, "text": "", "from": "clipboard"}))]
    );
    let doubt = json!({"pasted": false, "why": "lines", "lines": 2, "text": "one\ntwo"});
    let ask = Ask::Paste(3, String::new());
    bench.step(|app, cx| app.reply(cx, ask, Ok(doubt)));
    let text = bench.draw().join("\n");
    assert!(text.contains("Paste 2 lines?") && text.contains("one"), "{text}");
    let made = bench.keys(&["enter"]);
    let sure = json!({"t": 3, "text": "one\ntwo", "sure": true});
    assert_eq!(calls(&made), [(method::PASTE.name, sure)]);
    bench.app.lose(Lost::default());
    assert_eq!(bench.app.lost.as_ref().unwrap().text, "one\ntwo");
}

#[test]
fn the_sidebar_is_seen_while_it_has_the_keyboard() {
    for (size, plain) in [((60, 20), false), ((38, 9), false), ((100, 30), true)] {
        let mut bench = Bench::new();
        bench.app.size = size;
        bench.app.around.plain = plain;
        let without = bench.draw().join("\n");
        bench.keys(&["ctrl+\\", "w"]);
        let text = bench.draw().join("\n");
        assert!(text.contains("+ new project"), "{size:?}\n{text}");
        assert!(!without.contains("+ new project"), "{size:?}\n{without}");
    }
}

#[test]
fn the_active_pill_is_on_the_strip() {
    let mut bench = Bench::new();
    let strip = bench.fixed.scene.strip.as_mut().unwrap();
    let first = strip.groups[0].clone();
    strip.groups = (0..17)
        .map(|at| {
            let mut group = first.clone();
            group.id = 100 + at;
            group.focused = 100 + at;
            group.tabs.truncate(1);
            group.tabs[0].id = 100 + at;
            group.tabs[0].title = format!("title-{at}");
            group
        })
        .collect();
    for active in [0, 8, 16] {
        bench.fixed.scene.panes.as_mut().unwrap().as_mut().unwrap().group = 100 + active;
        let text = bench.draw();
        assert!(text[0].contains(&format!("title-{active}")), "{active}: {}", text[0]);
    }
    assert!(bench.draw()[0].contains("title-16"));
}

#[test]
fn a_device_is_paired_from_the_settings() {
    let mut bench = Bench::new();
    bench.step(|app, cx| app.reply(cx, Ask::WebOn, Ok(json!({"url": "http://127.0.0.1:7665/"}))));
    let made = bench.app.take_effects();
    assert_eq!(calls(&made), [("rookery/web/pair", json!({}))]);
    let pairing = json!({"url": "http://127.0.0.1:7665/#pair=abc", "short": "XKCD-7Q2M"});
    bench.step(|app, cx| app.reply(cx, Ask::WebPaired, Ok(pairing)));
    let text = bench.draw().join("\n");
    assert!(text.contains("#pair=abc") && text.contains("XKCD-7Q2M"), "{text}");
}

#[test]
fn places_below_the_home_directory_are_short() {
    let mut bench = Bench::new();
    bench.app.around.home = "/home/ada".to_owned();
    assert_eq!(bench.app.place_name("/home/ada/src/api"), "~/src/api");
    assert_eq!(bench.app.place_name("/home/ada"), "~");
    assert_eq!(bench.app.place_name("/home/adam"), "/home/adam");
    bench.app.around.home = String::new();
    assert_eq!(bench.app.place_name("/home/ada"), "/home/ada");
}

#[test]
fn enter_takes_the_row_of_what_was_typed() {
    let mut bench = Bench::new();
    let row = |id: &str| PaletteRow { id: id.to_owned(), ..PaletteRow::default() };
    let palette = Palette { rows: vec![row("find"), row("new_tab")], ..Palette::default() };
    bench.fixed.scene.palette = Some(Some(palette.clone()));
    let made = ahead(&mut bench, &["n", "e", "enter", "x"]);
    // Letters do not wait for each other; Enter waits for the rows, and what follows for Enter.
    let asked: Vec<Value> = calls(&made).into_iter().map(|(_, params)| params).collect();
    assert_eq!(asked, [json!({"query": "n"}), json!({"query": "ne"})]);
    assert_eq!(answer(&mut bench), []);
    assert_eq!(answer(&mut bench), [Effect::Input(Input::Fence)]);
    bench.app.fenced(7);
    let found = Palette { rows: vec![row("new_tab")], query: "ne".to_owned(), ..palette };
    bench.fixed.scene.palette = Some(Some(found));
    bench.step(|app, cx| app.accepted(cx, 7));
    let made = bench.app.take_effects();
    assert_eq!(calls(&made)[0].1, json!({"activate": null}), "{made:?}");
    assert_eq!(typed_keys(&made), Vec::<String>::new());
}

#[test]
fn a_message_typed_before_its_thread_was_seen_is_kept_and_not_sent() {
    let mut bench = Bench::new();
    bench.step(|app, cx| app.changed(cx));
    bench.app.go(Page::Thread { thread: "t1".to_owned() });
    ahead(&mut bench, &["h", "i", "enter", "!"]);
    bench.fixed.scene.page = Some(Page::Thread { thread: "t1".to_owned() });
    bench.step(|app, cx| app.changed(cx));
    answer(&mut bench);
    bench.app.fenced(1);
    bench.step(|app, cx| app.accepted(cx, 1));
    let made = bench.app.take_effects();
    assert!(calls(&made).iter().all(|(name, _)| *name != method::THREAD_SEND.name), "{made:?}");
    assert_eq!(bench.app.pages.thread.composer.text(), "hi!");
}
