//! What is open stays what it was: across requests in a thread, visits of a page, and a daemon that
//! dies.

use rookery_term::keys::{Key, KeyPress, Special};
use rookery_view::link::*;
use serde_json::json;

use super::*;

impl Bench {
    /// A thread with two requests that wait.
    fn thread(&mut self) {
        self.fixed.scene.page = Some(Page::Thread { thread: "t1".to_owned() });
        self.step(|app, cx| app.changed(cx));
        let item = |id: &str, request: Option<&str>| ThreadItem {
            id: id.to_owned(),
            kind: ItemKind::Tool,
            status: request.map_or("done", |_| "waiting").to_owned(),
            request: request.map(str::to_owned),
            ..ThreadItem::default()
        };
        let shown = ThreadShown {
            items: vec![item("i1", None), item("i2", Some("r1")), item("i3", Some("r2"))],
            ..ThreadShown::default()
        };
        self.step(|app, cx| app.reply(cx, Ask::Thread("t1".to_owned()), Ok(json(shown))));
        self.app.take_effects();
    }

    /// The card of a request in the thread comes, is drawn, and the guard is over.
    fn card_comes(&mut self, request: &str) {
        let card = Card {
            request: Some(request.to_owned()),
            digest: Some(format!("digest of {request}")),
            state: "pending".to_owned(),
            actions: vec!["approve".to_owned(), "deny".to_owned()],
            ..Card::default()
        };
        let serial = self.app.pages.thread.card.serial();
        self.step(|app, cx| app.reply(cx, Ask::Card(serial), Ok(json(card))));
        self.draw();
        self.now += 1000;
        self.app.take_effects();
    }

    fn come_back(&mut self) {
        self.app.lose(Lost::default());
        let opened = Opened {
            version: 1,
            viewer: 2,
            rights: Rights::Full,
            is_desk: true,
            daemon: Daemon::default(),
            settings: self.app.settings.clone(),
            keys: default_keys(),
            scene: Scene::default(),
        };
        self.app.opened(&opened);
        self.app.regain();
        self.step(|app, cx| app.changed(cx));
    }
}

fn asked(effects: &[Effect]) -> Vec<String> {
    let of_card = |(name, params): &(&str, Value)| {
        (*name == method::CARD.name)
            .then(|| params["request"].as_str().unwrap_or_default().to_owned())
    };
    calls(effects).iter().filter_map(of_card).collect()
}

fn answers(effects: &[Effect]) -> Vec<Value> {
    let found = calls(effects).into_iter().filter(|(name, _)| name.ends_with("/answer"));
    found.map(|(_, params)| params["id"].clone()).collect()
}

#[test]
fn a_click_on_another_request_makes_keys_that_ones() {
    let mut bench = Bench::new();
    bench.thread();
    assert_eq!(asked(&bench.keys(&["tab"])), ["r1"]);
    bench.card_comes("r1");
    bench.step(|app, cx| app.click_row(cx, 2, 1));
    assert_eq!(asked(&bench.app.take_effects()), ["r2"]);
    assert!(answers(&bench.keys(&["a"])).is_empty(), "its card is not here yet");
    bench.card_comes("r2");
    assert_eq!(answers(&bench.keys(&["a"])), ["r2"]);
    bench.step(|app, cx| app.click_row(cx, 0, 1));
    assert!(answers(&bench.keys(&["a"])).is_empty(), "nothing waits there");
}

#[test]
fn a_request_of_an_earlier_visit_takes_no_key() {
    let mut bench = Bench::new();
    bench.thread();
    bench.keys(&["tab"]);
    bench.card_comes("r1");
    bench.fixed.scene.page = Some(Page::Workspace { terminal: Some(3) });
    bench.step(|app, cx| app.changed(cx));
    bench.thread();
    assert!(answers(&bench.keys(&["a"])).is_empty());
    assert_eq!(bench.app.pages.thread.composer.text(), "a");
}

#[test]
fn after_a_return_a_request_has_to_be_read_again_and_is_followed() {
    let mut bench = Bench::new();
    bench.thread();
    bench.keys(&["tab"]);
    bench.card_comes("r1");
    bench.come_back();
    assert_eq!(asked(&bench.app.take_effects()), ["r1"]);
    assert!(answers(&bench.keys(&["a"])).is_empty());
    assert_eq!(bench.note(), "read it first");
    bench.thread();
    bench.card_comes("r1");
    assert_eq!(answers(&bench.keys(&["a"])), ["r1"]);
}

#[test]
fn after_a_return_the_card_of_the_inbox_is_followed_and_its_reason_kept() {
    let mut bench = Bench::new();
    bench.inbox();
    bench.draw();
    bench.now += 1000;
    bench.keys(&["d", "n", "o"]);
    bench.come_back();
    assert_eq!(asked(&bench.app.take_effects()), ["r1"]);
    let denial = bench.app.pages.card.denial().map(|field| field.text().to_owned());
    assert_eq!(denial.as_deref(), Some("no"));
}

#[test]
fn a_message_that_may_not_have_arrived_is_in_the_field_again() {
    let mut bench = Bench::new();
    bench.thread();
    let effects = bench.keys(&["h", "i", "enter"]);
    assert_eq!(calls(&effects)[0].0, method::THREAD_SEND.name);
    assert_eq!(bench.app.pages.thread.composer.text(), "");
    bench.keys(&["x"]);
    bench.come_back();
    assert_eq!(bench.app.pages.thread.composer.text(), "hi\nx");
    assert!(bench.note().contains("may not have arrived"), "{}", bench.note());

    // One that was refused is, too; one that was taken is not.
    let effects = bench.keys(&["enter"]);
    let ask = effects.iter().find_map(|effect| match effect {
        Effect::Call(ask @ Ask::Sent(_), ..) => Some(ask.clone()),
        _ => None,
    });
    let refused = CallError { code: -32000, message: "no such thread".to_owned() };
    bench.step(|app, cx| app.reply(cx, ask.clone().unwrap(), Err(refused)));
    assert_eq!(bench.app.pages.thread.composer.text(), "hi\nx");
    bench.keys(&["enter"]);
    bench.step(|app, cx| app.reply(cx, ask.unwrap(), Ok(json!({}))));
    bench.come_back();
    assert_eq!(bench.app.pages.thread.composer.text(), "");
}

impl Bench {
    /// A key behind which others follow before anything is answered.
    fn press(&mut self, chord: &str) {
        let press = parse_chord(chord).unwrap();
        self.step(|app, cx| app.key(cx, &press));
    }

    fn show_empty_workspace(&mut self) {
        self.fixed.scene.page = Some(Page::Workspace { terminal: None });
        self.fixed.scene.panes = Some(None);
        self.step(|app, cx| app.changed(cx));
        self.step(|app, cx| app.arrive(cx));
    }
}

#[test]
fn keys_right_behind_a_page_are_those_of_the_empty_workspace() {
    let mut bench = Bench::new();
    bench.inbox();
    bench.draw();
    bench.press("q");
    bench.press("c");
    bench.app.take_effects();
    bench.show_empty_workspace();
    let effects = bench.app.take_effects();
    assert_eq!(calls(&effects), [(method::ACT.name, json!({"action": "new_tab"}))]);
}

#[test]
fn what_was_typed_for_a_program_that_is_gone_opens_nothing_and_is_not_lost_in_silence() {
    let mut bench = Bench::new();
    bench.step(|app, cx| app.run(cx, "last_tab"));
    bench.press("c");
    bench.app.take_effects();
    bench.show_empty_workspace();
    let effects = bench.app.take_effects();
    assert_eq!(calls(&effects), []);
    assert!(effects.contains(&Effect::Bell), "{effects:?}");
    assert_eq!(bench.note(), "not sent");
}

#[test]
fn a_modifier_alone_ends_no_prefix() {
    let mut bench = Bench::new();
    bench.keys(&["ctrl+\\"]);
    let shift = KeyPress::new(Key::Special(Special::LeftShift));
    bench.step(|app, cx| app.key(cx, &shift));
    assert!(bench.app.prefix && bench.note().is_empty());
    let effects = bench.keys(&["V"]);
    assert_eq!(calls(&effects)[0], (method::GO.name, json!({"page": "reviews"})));
    // A program that asked for them gets them.
    bench.step(|app, cx| app.key(cx, &shift));
    assert_eq!(typed_keys(&bench.app.take_effects()), ["left_shift"]);
}

#[test]
fn a_page_is_the_panes_own() {
    let mut bench = Bench::new();
    bench.fixed.terms.get_mut(&3).unwrap().size.rows = 12;
    bench.step(|app, cx| app.run(cx, "scroll_page_up"));
    let scroll = json!({"t": 3, "by": -11});
    assert_eq!(bench.app.take_effects(), [Effect::Notify(method::SCROLL.name, scroll)]);
}

#[test]
fn projects_after_the_ninth_are_reached() {
    let mut bench = Bench::new();
    let project = |id: u64, terminal: Option<u64>| Project {
        id,
        agents: terminal
            .map(|terminal| Agent { terminal: Some(terminal), ..Agent::default() })
            .into_iter()
            .collect(),
        ..Project::default()
    };
    let projects = (1..=12).map(|id| project(id, (id != 12).then_some(id + 100))).collect();
    bench.fixed.scene.sidebar.as_mut().unwrap().projects = projects;
    // One with a terminal in the sidebar, one without, and one of the first nine.
    for wanted in [9, 11, 12] {
        bench.step(|app, cx| app.go_to_project(cx, wanted));
        let effects = bench.app.take_effects();
        let args = json!({"action": "switch_project_1", "args": {"project": wanted}});
        assert_eq!(calls(&effects)[0].1, args);
    }
    assert!(!bench.step(|app, cx| app.go_to_project(cx, 99)));
    assert_eq!(calls(&bench.app.take_effects()), []);
}
