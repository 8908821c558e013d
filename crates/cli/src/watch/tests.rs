//! The list without a daemon: what keys mean, what happens when the world changes, what is drawn.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use ratatui::{Terminal, backend::TestBackend};
use rookery_native::wire::{QueueEntry, Request};
use serde_json::json;

use super::draw::draw;
use super::list::{Action, List, View};
use crate::output::{Colors, Tone};

fn entry(id: &str, category: &str, related: Option<(&str, &str)>, title: &str) -> QueueEntry {
    serde_json::from_value(json!({
        "id": id, "session": "s", "sessionTitle": "api", "category": category, "title": title,
        "subtitle": "more", "source": "protocol", "createdAt": "1970-01-01T00:01:00Z",
        "related": related.map(|(kind, id)| json!({"kind": kind, "id": id})),
    }))
    .unwrap()
}

fn request(id: &str, kind: &str) -> Request {
    serde_json::from_value(json!({
        "id": id, "kind": kind, "thread": "t", "turn": "u", "tool": "shell", "summary": "rm x",
        "argv": ["rm", "x\u{1b}[8m"], "cwd": "/srv", "preview": "rm x\u{1b}[8m",
        "askedAt": "", "state": "pending",
    }))
    .unwrap()
}

fn queue() -> Vec<QueueEntry> {
    vec![
        entry("item-000001", "approval_needed", Some(("request", "REQ-AAAAAA")), "shell"),
        entry("item-000002", "approval_needed", Some(("request", "REQ-BBBBBB")), "ask"),
        entry(
            "item-000003",
            "review_requested",
            Some(("review", "rev-CCCCCC")),
            "Review requested",
        ),
        entry("item-000004", "blocked", Some(("handoff", "han-DDDDDD")), "Handoff: x"),
        entry("item-000005", "error", None, "Terminal\u{1b}[2J error"),
        entry("item-000006", "informational", None, "Note"),
    ]
}

fn requests() -> Vec<Request> {
    vec![request("REQ-AAAAAA", "approval"), request("REQ-BBBBBB", "input")]
}

fn list() -> List {
    let mut list = List::new(false);
    list.update(queue(), requests());
    list
}

fn press(list: &mut List, keys: &str) -> Vec<Action> {
    let code = |key: char| match key {
        '\n' => KeyCode::Enter,
        '\x1b' => KeyCode::Esc,
        '\x08' => KeyCode::Backspace,
        '↓' => KeyCode::Down,
        '↑' => KeyCode::Up,
        other => KeyCode::Char(other),
    };
    keys.chars()
        .filter_map(|key| list.press(KeyEvent::new(code(key), KeyModifiers::NONE), 10))
        .collect()
}

fn message(list: &List) -> &str {
    list.message.as_ref().map_or("", |(_, text)| text)
}

fn drawn(list: &mut List, rows: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(76, rows)).unwrap();
    terminal.draw(|frame| draw(frame, list, 180, Colors::none())).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let row = |y: u16| (0..76).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..rows).map(|y| row(y).trim_end().to_owned() + "\n").collect()
}

fn check(list: &mut List, rows: u16, expected: &Expect) {
    expected.assert_eq(&drawn(list, rows));
}

#[test]
fn arrows_move_and_letters_decide_the_selected_item() {
    let mut list = list();
    assert_eq!(press(&mut list, "a"), [Action::Approve("REQ-AAAAAA".into())]);
    assert_eq!(press(&mut list, "d"), [Action::Deny("REQ-AAAAAA".into())]);
    assert_eq!(press(&mut list, "s"), [Action::Defer("REQ-AAAAAA".into())]);
    assert_eq!(press(&mut list, "r"), [Action::Resolve("item-000001".into())]);
    assert_eq!(press(&mut list, "↓\n"), [Action::Show("item-000002".into())]);
    assert_eq!(press(&mut list, "ad"), []);
    assert!(message(&list).contains("rookery answer REQ-BBBBBB"), "{}", message(&list));
    assert_eq!(press(&mut list, "ja"), [Action::ApproveReview("rev-CCCCCC".into())]);
    assert_eq!(press(&mut list, "s"), [Action::DeferReview("rev-CCCCCC".into())]);
    assert_eq!(press(&mut list, "ja"), [Action::Accept("han-DDDDDD".into())]);
    assert_eq!(press(&mut list, "jjjja"), []);
    assert!(message(&list).contains("nothing to decide"));
    assert_eq!(press(&mut list, "↑ka"), [Action::ApproveReview("rev-CCCCCC".into())]);
    assert_eq!(press(&mut list, "g\n"), [Action::Show("item-000001".into())]);
    assert_eq!(press(&mut list, "q"), [Action::Leave]);
    assert_eq!(press(&mut list, "\x1b"), [Action::Leave]);
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(list.press(interrupt, 10), Some(Action::Leave));
    let other = KeyEvent::new(KeyCode::Char('a'), KeyModifiers::CONTROL);
    assert_eq!(list.press(other, 10), None);
}

#[test]
fn attack_what_was_cut_is_shown_before_it_is_approved() {
    let mut list = List::new(false);
    let mut cut = requests();
    cut[0].unseen =
        serde_json::from_value(json!({"characters": 9, "of": 20, "digest": "00"})).unwrap();
    list.update(queue(), cut);
    assert_eq!(press(&mut list, "a"), [Action::Show("item-000001".into())]);
    assert!(message(&list).starts_with("9 characters were not shown"), "{}", message(&list));
    list.view = View::Details { item: "item-000001".into(), lines: Vec::new(), top: 0 };
    assert_eq!(press(&mut list, "a"), [Action::Approve("REQ-AAAAAA".into())]);
}

#[test]
fn a_review_is_sent_back_with_a_comment() {
    let mut list = list();
    assert_eq!(press(&mut list, "jjd"), []);
    assert_eq!(press(&mut list, "add teq\x08sts"), []);
    list.paste(" now\x1b[2J\n");
    check(
        &mut list,
        9,
        &expect![[r#"
            Inbox  5 waiting  1 more to know
            Requested changes (review rev-CCCCCC)

            > add tests now[2J▏




            enter send  esc cancel
        "#]],
    );
    let sent = Action::RequestChanges("rev-CCCCCC".into(), "add tests now[2J".into());
    assert_eq!(press(&mut list, "\n"), [sent]);
    assert_eq!(list.view, View::Items);
    assert_eq!(press(&mut list, "dno\x1b"), []);
    assert_eq!(message(&list), "nothing was sent");
}

#[test]
fn what_was_settled_elsewhere_takes_no_key_meant_for_it() {
    let mut list = list();
    list.update(queue()[1..].to_vec(), requests()[1..].to_vec());
    assert!(
        message(&list).starts_with("settled by another client: shell: rm x"),
        "{}",
        message(&list)
    );
    assert_eq!(press(&mut list, "a"), []);
    assert_eq!(message(&list), "nothing is selected");
    assert_eq!(press(&mut list, "j\n"), [Action::Show("item-000002".into())]);
}

#[test]
fn what_is_decided_here_makes_room_for_the_next() {
    let mut list = list();
    let action = press(&mut list, "a").remove(0);
    for id in list.ids_about(&action) {
        list.mark_resolved(&id);
    }
    list.say(Tone::Good, "approved");
    list.update(queue()[1..].to_vec(), requests()[1..].to_vec());
    assert_eq!(message(&list), "approved");
    assert_eq!(press(&mut list, "\n"), [Action::Show("item-000002".into())]);
}

#[test]
fn the_selection_stays_on_its_item_when_others_come() {
    let mut list = list();
    press(&mut list, "jj");
    let mut more = vec![entry("item-000000", "approval_needed", None, "first")];
    more.extend(queue());
    list.update(more, requests());
    assert_eq!(press(&mut list, "\n"), [Action::Show("item-000003".into())]);
}

#[test]
fn an_item_that_is_shown_is_the_one_that_is_decided() {
    let mut list = list();
    list.open("item-000001".into(), vec![(Tone::Plain, "x".into()); 30]);
    assert_eq!(press(&mut list, "jja"), [Action::Approve("REQ-AAAAAA".into())]);
    list.update(queue()[1..].to_vec(), requests()[1..].to_vec());
    assert_eq!(press(&mut list, "a"), []);
    assert_eq!(message(&list), "already settled");
    assert_eq!(press(&mut list, "q"), []);
    assert_eq!(list.view, View::Items);
}

#[test]
fn pasted_text_decides_nothing() {
    let mut list = list();
    list.paste("aaadddq");
    assert_eq!(message(&list), "pasted text is ignored here");
}

#[test]
fn the_list_is_drawn_with_exactly_what_the_selected_item_would_do() {
    check(
        &mut list(),
        17,
        &expect![[r#"
            Inbox  5 waiting  1 more to know
            › AAAAAA   approval      2m   api                shell: rm x        protocol
              BBBBBB   question      2m   api                rm x               protocol
              CCCCCC   review        2m   api                Review requested:  protocol
              DDDDDD   blocked       2m   api                Handoff: x: more   protocol
              000005   error         2m   api                Terminal[2J error: protocol





            ────────────────────────────────────────────────────────────────────────────
                rm x\u{1b}[8m
              runs ["rm","x\u001b[8m"]
              in /srv

            ↑↓ move  enter show  a approve  d deny  s later  r resolve  i notes  q quit
        "#]],
    );
    check(
        &mut list(),
        8,
        &expect![[r#"
            Inbox  5 waiting  1 more to know
            › AAAAAA   approval      2m   api                shell: rm x        protocol
              BBBBBB   question      2m   api                rm x               protocol
              CCCCCC   review        2m   api                Review requested:  protocol
              DDDDDD   blocked       2m   api                Handoff: x: more   protocol
              000005   error         2m   api                Terminal[2J error: protocol

            ↑↓ move  enter show  a approve  d deny  s later  r resolve  i notes  q quit
        "#]],
    );
    let mut empty = List::new(false);
    empty.update(Vec::new(), Vec::new());
    check(
        &mut empty,
        5,
        &expect![[r#"
            Inbox  0 waiting
            nothing needs attention


            ↑↓ move  enter show  a approve  d deny  s later  r resolve  i notes  q quit
        "#]],
    );
}

#[test]
fn details_scroll_to_their_end_and_no_further() {
    let mut list = list();
    let lines = (0..9).map(|n| (Tone::Plain, format!("line {n} {}", "x".repeat(n * 12))));
    list.open("item-000001".into(), lines.collect());
    check(
        &mut list,
        8,
        &expect![[r#"
            Inbox  5 waiting  1 more to know
            line 0
            line 1 xxxxxxxxxxxx
            line 2 xxxxxxxxxxxxxxxxxxxxxxxx
            line 3 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            line 4 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx

            ↑↓ scroll  a approve  d deny  s later  r resolve  q back
        "#]],
    );
    press(&mut list, "G");
    check(
        &mut list,
        8,
        &expect![[r#"
            Inbox  5 waiting  1 more to know
            xxx
            line 7 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            xxxxxxxxxxxxxxx
            line 8 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            xxxxxxxxxxxxxxxxxxxxxxxxxxx

            ↑↓ scroll  a approve  d deny  s later  r resolve  q back
        "#]],
    );
}

proptest! {
    #[test]
    fn no_keys_and_no_size_make_it_fail(
        keys in "[adrsijkgGq \n\x1b\x08↑↓]{0,40}",
        (rows, columns) in (1_u16..30, 1_u16..100),
        gone in 0_usize..6,
    ) {
        let mut list = list();
        press(&mut list, &keys);
        list.update(queue()[gone..].to_vec(), requests());
        press(&mut list, &keys);
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        terminal.draw(|frame| draw(frame, &mut list, 180, Colors::none())).unwrap();
        let buffer = terminal.backend().buffer();
        prop_assert!(buffer.content().iter().all(|cell| !cell.symbol().contains(char::is_control)));
    }
}
