//! Decisions are safe.

use proptest::prelude::*;
use rookery_term::keys::parse_chord;
use rookery_view::link::{Choice, Question};

use super::*;
use crate::pages::text::Line;

const GUARD: u64 = 400;

fn press(chord: &str) -> KeyPress {
    parse_chord(chord).unwrap()
}

fn card() -> CardPage {
    let mut page = CardPage::default();
    let serial = page.ask();
    page.came(Card {
        request: Some("r1".to_owned()),
        digest: Some("d1".to_owned()),
        state: "pending".to_owned(),
        actions: ["approve", "deny", "remember", "later", "open"].map(str::to_owned).to_vec(),
        lines: vec!["cargo publish".to_owned()],
        ..Card::default()
    });
    page.drawn(serial, true, 1000);
    page
}

#[test]
fn within_the_guard_nothing_is_decided() {
    let mut page = card();
    for key in ["a", "A", "d"] {
        assert_eq!(page.key(&press(key), 1399, GUARD), CardKey::Say(READ_FIRST), "{key}");
    }
    let yes = json!({"approved": true, "id": "r1", "shown": "d1"});
    assert_eq!(page.key(&press("a"), 1400, GUARD), CardKey::Answer(yes));
}

#[test]
fn a_card_that_was_not_drawn_takes_nothing_even_without_a_guard() {
    let mut page = card();
    page.disarm();
    assert_eq!(page.key(&press("a"), 90_000, 0), CardKey::Say(READ_FIRST));
}

#[test]
fn enter_and_digits_and_modifiers_never_approve() {
    let mut page = card();
    for key in ["enter", "1", "2", "y", "ctrl+a", "alt+a", "super+a", "space"] {
        let outcome = page.key(&press(key), 9000, GUARD);
        assert!(!matches!(outcome, CardKey::Answer(_)), "{key}");
    }
    let held = press("a").with_kind(KeyKind::Repeat);
    assert_eq!(page.key(&held, 9000, GUARD), CardKey::Used);
}

#[test]
fn remembering_needs_enter_after_it() {
    let mut page = card();
    assert!(matches!(page.key(&press("A"), 9000, GUARD), CardKey::Say(_)));
    assert_eq!(page.key(&press("x"), 9001, GUARD), CardKey::Free);
    assert!(!matches!(page.key(&press("enter"), 9002, GUARD), CardKey::Answer(_)));
    page.key(&press("A"), 9003, GUARD);
    let CardKey::Answer(params) = page.key(&press("enter"), 9004, GUARD) else { panic!() };
    assert_eq!(params, json!({"approved": true, "remember": true, "id": "r1", "shown": "d1"}));
}

#[test]
fn what_was_not_seen_to_its_end_is_approved_by_the_second_key_only() {
    let mut page = card();
    page.end_is_seen = false;
    assert_eq!(page.key(&press("a"), 9000, GUARD), CardKey::Say(AGAIN));
    // A key that is held does not go on.
    assert_eq!(page.key(&press("a"), 9030, GUARD), CardKey::Say(READ_FIRST));
    page.drawn(page.serial(), true, 9040);
    assert!(matches!(page.key(&press("a"), 9500, GUARD), CardKey::Answer(_)));
}

#[test]
fn what_the_card_has_only_in_part_needs_a_second_key() {
    let mut page = card();
    let notice = "[not shown here: 9 of 99 characters, sha256 of the whole x; `rookery inbox show` prints all of it]";
    page.card.as_mut().unwrap().lines.push(notice.to_owned());
    assert_eq!(page.key(&press("a"), 9000, GUARD), CardKey::Say(UNSEEN));
    assert_eq!(page.key(&press("a"), 9030, GUARD), CardKey::Say(READ_FIRST));
    page.drawn(page.serial(), true, 9040);
    assert_eq!(page.key(&press("a"), 9439, GUARD), CardKey::Say(READ_FIRST));
    assert!(matches!(page.key(&press("a"), 9440, GUARD), CardKey::Answer(_)));
}

#[test]
fn a_handoff_is_accepted_after_the_guard() {
    let mut page = CardPage::default();
    let serial = page.ask();
    page.came(Card {
        item: Some("i".to_owned()),
        about: Some(rookery_view::link::About { kind: "handoff".to_owned(), id: "h".to_owned() }),
        actions: vec!["accept".to_owned()],
        ..Card::default()
    });
    page.drawn(serial, true, 0);
    assert_eq!(page.key(&press("a"), 100, GUARD), CardKey::Say(READ_FIRST));
    assert_eq!(page.key(&press("a"), 500, GUARD), CardKey::Accept("h".to_owned()));
    assert!(page.hint().starts_with("a accept"));
}

#[test]
fn a_denial_takes_a_reason() {
    let mut page = card();
    page.key(&press("d"), 9000, GUARD);
    for key in ["n", "o", "t", "space", "a"] {
        assert_eq!(page.key(&press(key), 9001, GUARD), CardKey::Used);
    }
    let CardKey::Answer(params) = page.key(&press("enter"), 9002, GUARD) else { panic!() };
    assert_eq!(params["approved"], json!(false));
    assert_eq!(params["message"], json!("not a"));
}

#[test]
fn a_settled_card_is_dead_and_says_by_whom() {
    let mut page = card();
    let news = CardNews {
        request: "r1".to_owned(),
        state: "approved".to_owned(),
        by: Some("idx0".to_owned()),
        at: Some(43_424_000),
    };
    page.news(&news);
    for key in ["a", "A", "d", "s"] {
        assert_eq!(page.key(&press(key), 90_000, GUARD), CardKey::Free, "{key}");
    }
    let text: Vec<String> = page.lines(60, 0).iter().map(Line::text).collect();
    assert!(text.iter().any(|line| line.contains("approved by idx0 12:03:44")), "{text:?}");
}

#[test]
fn questions_take_digits_and_own_words() {
    let mut page = card();
    let serial = page.ask();
    let choice = |label: &str| Choice { label: label.to_owned(), ..Choice::default() };
    page.came(Card {
        request: Some("q".to_owned()),
        state: "pending".to_owned(),
        questions: vec![
            Question {
                id: "f".to_owned(),
                options: vec![choice("mdBook"), choice("rustdoc")],
                ..Question::default()
            },
            Question { id: "g".to_owned(), options: vec![choice("x")], ..Question::default() },
        ],
        ..Card::default()
    });
    page.drawn(serial, true, 0);
    assert_eq!(page.key(&press("2"), 100, GUARD), CardKey::Say(READ_FIRST));
    assert_eq!(page.key(&press("2"), 500, GUARD), CardKey::Used);
    // A key that was pressed twice does not answer the question that follows.
    assert_eq!(page.key(&press("1"), 501, GUARD), CardKey::Say(READ_FIRST));
    page.drawn(serial, true, 501);
    assert!(matches!(page.key(&press("2"), 901, GUARD), CardKey::Say(_)));
    for key in ["h", "i"] {
        page.key(&press(key), 902, GUARD);
    }
    let CardKey::Answer(params) = page.key(&press("enter"), 903, GUARD) else { panic!() };
    assert_eq!(params["answers"], json!({"f": "rustdoc", "g": "hi"}));
}

#[test]
fn of_many_options_each_has_a_number() {
    let choice = |at: usize| Choice { label: format!("o{at}"), ..Choice::default() };
    let asked = |count: usize| {
        let mut page = card();
        let serial = page.ask();
        page.came(Card {
            request: Some("q".to_owned()),
            state: "pending".to_owned(),
            questions: vec![Question {
                id: "f".to_owned(),
                options: (1..=count).map(choice).collect(),
                ..Question::default()
            }],
            ..Card::default()
        });
        page.drawn(serial, true, 0);
        page
    };
    let answered = |count: usize, keys: &[&str]| {
        let mut page = asked(count);
        let keys = keys.iter().map(|key| page.key(&press(key), 500, GUARD));
        match keys.collect::<Vec<_>>().pop() {
            Some(CardKey::Answer(params)) => params["answers"]["f"].as_str().map(str::to_owned),
            _ => None,
        }
    };
    let is = |label: &str| Some(label.to_owned());
    assert_eq!(answered(8, &["1"]), is("o1"));
    // A digit that may be the first of two waits for the second, or for Enter.
    assert_eq!(answered(12, &["1"]), None);
    assert_eq!(answered(12, &["1", "enter"]), is("o1"));
    assert_eq!(answered(12, &["1", "0"]), is("o10"));
    assert_eq!(answered(12, &["1", "2"]), is("o12"));
    assert_eq!(answered(12, &["2"]), is("o2"));
    assert_eq!(answered(50, &["5", "0"]), is("o50"));
    // Another key takes it back, and what there is not is not chosen.
    assert_eq!(answered(12, &["1", "escape", "enter"]), None);
    assert_eq!(answered(12, &["1", "x", "2"]), is("o2"));
    assert_eq!(answered(12, &["1", "9"]), None);
    assert_eq!(answered(12, &["0"]), None);
    // The own answer is behind the last.
    assert_eq!(answered(12, &["1", "3", "h", "i", "enter"]), is("hi"));
    assert_eq!(answered(9, &["1", "0", "h", "enter"]), is("h"));
    let mut page = asked(12);
    assert_eq!(page.key(&press("1"), 100, GUARD), CardKey::Say(READ_FIRST));
}

#[test]
fn the_guard_begins_when_the_screen_has_the_card() {
    let news =
        CardNews { request: "r1".to_owned(), state: "pending".to_owned(), ..CardNews::default() };
    let mut page = card();
    let serial = page.ask();
    page.came(Card {
        request: Some("r1".to_owned()),
        state: "pending".to_owned(),
        questions: vec![Question { id: "f".to_owned(), ..Question::default() }],
        ..Card::default()
    });
    // Its state is reported right behind it, while the terminal still takes the picture before.
    page.news(&news);
    for key in ["1", "d", "a"] {
        assert_eq!(page.key(&press(key), 90_000, GUARD), CardKey::Say(READ_FIRST), "{key}");
    }
    page.drawn(serial, true, 90_000);
    assert_eq!(page.key(&press("1"), 90_399, GUARD), CardKey::Say(READ_FIRST));
    assert_eq!(
        page.key(&press("1"), 90_400, GUARD),
        CardKey::Say("your own answer; enter sends it")
    );
    // And it begins anew when what is shown is another.
    page.close_field();
    page.news(&news);
    assert_eq!(page.key(&press("1"), 99_000, GUARD), CardKey::Say(READ_FIRST));
}

proptest! {
    /// Whatever is typed before the card is drawn, nothing is sent.
    #[test]
    fn type_ahead_decides_nothing(keys in "[a-zA-Z0-9]{0,40}") {
        let mut page = CardPage::default();
        page.ask();
        page.came(Card {
            request: Some("r".to_owned()),
            state: "pending".to_owned(),
            ..Card::default()
        });
        for key in keys.chars() {
            let outcome = page.key(&press(&key.to_string()), 99_999, 0);
            prop_assert!(!matches!(outcome, CardKey::Answer(_)));
        }
    }
}

#[test]
fn a_card_is_scrolled_from_where_its_end_is() {
    let mut page = card();
    page.scroll_by(1_000_000);
    page.bounded(page.serial(), 30);
    page.scroll_by(-1);
    assert_eq!(page.scroll, 29);
    page.scroll_by(-1_000_000);
    assert_eq!(page.scroll, 0);
    page.scroll_by(50);
    assert_eq!(page.scroll, 30);
}

#[test]
fn escape_takes_back_remembering_and_nothing_more() {
    let mut page = card();
    page.key(&press("A"), 9000, GUARD);
    assert!(page.would_remember());
    assert_eq!(page.key(&press("escape"), 9000, GUARD), CardKey::Used);
    assert!(!page.would_remember());
}
