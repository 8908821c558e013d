//! Rows by number: what changed, prompts, finding and selecting.

use std::collections::BTreeMap;
use std::ops::Range;

use proptest::prelude::*;

use super::*;
use crate::find::{Case, FindError, Finder, Match};
use crate::osc::ShellMark;
use crate::{Expand, Mark, Place, Selection, SelectionKind};

type Row = (String, bool);

fn changed(screen: &Screen, since: Option<Mark>, view: Range<u64>) -> BTreeMap<u64, Row> {
    let mut found = BTreeMap::new();
    screen.rows_since(since, view, &mut |row| {
        // With styles and blanks as a viewer sees them.
        let shown: String =
            row.cells().map(|cell| format!("{}{:?}", cell.shown(), cell.style())).collect();
        found.insert(row.number, (shown, row.is_wrapped()));
    });
    found
}

fn live(screen: &Screen) -> Range<u64> {
    screen.first_row()..screen.first_row() + u64::from(screen.size().rows)
}

fn numbers(rows: BTreeMap<u64, Row>) -> Vec<u64> {
    rows.into_keys().collect()
}

#[test]
fn only_touched_rows_are_reported() {
    let mut screen = screen(4, 10);
    feed(&mut screen, "one\r\ntwo\r\nthree");
    let mark = screen.mark();
    assert_eq!(numbers(changed(&screen, Some(mark), live(&screen))), []);
    feed(&mut screen, "\x1b[Hx");
    assert_eq!(numbers(changed(&screen, Some(mark), live(&screen))), [0]);
    let mark = screen.mark();
    feed(&mut screen, "\x1b[4;1Hlast\r\nnext");
    assert_eq!(screen.first_row(), 1);
    assert_eq!(numbers(changed(&screen, Some(mark), live(&screen))), [3, 4]);
    assert_eq!(numbers(changed(&screen, Some(mark), 0..3)), [0], "history since then may be news");
    assert_eq!(numbers(changed(&screen, Some(screen.mark()), 0..3)), []);
    let mark = screen.mark();
    feed(&mut screen, "0123456789");
    assert_eq!(numbers(changed(&screen, Some(mark), live(&screen))), [4, 5], "one runs on now");
}

#[test]
fn epochs_end_where_numbers_lose_their_meaning() {
    let mut screen = screen(3, 10);
    let mut last = screen.epoch();
    let mut is_new =
        |screen: &Screen| std::mem::replace(&mut last, screen.epoch()) != screen.epoch();
    feed(&mut screen, "a\r\nb\r\nc\r\nd\x1b[2J\x1b[1;2r\x1b[S\x1b[r");
    assert!(!is_new(&screen));
    for sequence in ["\x1b[?1049h", "\x1b[?1049l", "\x1b[3J", "\x1bc"] {
        feed(&mut screen, sequence);
        assert!(is_new(&screen), "{sequence:?}");
    }
    let mark = screen.mark();
    screen.resize(ScreenSize::new(3, 12), &NoTranscript, Duration::ZERO);
    assert!(is_new(&screen));
    assert_eq!(changed(&screen, Some(mark), live(&screen)).len(), 3);
    screen.resize(ScreenSize { pixel_width: 9, ..screen.size() }, &NoTranscript, Duration::ZERO);
    assert!(!is_new(&screen));
    let checkpoint = screen.checkpoint();
    let back =
        Screen::restore(&checkpoint, config(3, 12), Box::new(MemoryBlocks::default())).unwrap();
    assert!(!is_new(&back));
    assert_eq!(changed(&back, None, live(&back)), changed(&screen, None, live(&screen)));
}

#[test]
fn held_back_output_counts_when_it_shows() {
    let mut screen = screen(3, 10);
    feed(&mut screen, "\x1b[?2026hx");
    let mark = screen.mark();
    screen.stop_sync(&NoTranscript, Duration::ZERO);
    assert_eq!(numbers(changed(&screen, Some(mark), live(&screen))), [0]);
}

#[test]
fn prompts_keep_their_lines_through_resizes_and_restarts() {
    let mut screen = screen(4, 20);
    for number in 0..6 {
        feed(&mut screen, format!("\x1b]133;A\x07$ command {number} that is long\r\nout\r\n"));
    }
    let text_of = |screen: &Screen, row: u64| {
        let mut text = String::new();
        screen.visit_rows(row..row + 1, &mut |row| text = row.text());
        text
    };
    let check = |screen: &Screen| {
        let marks: Vec<_> = screen.numbered_marks().collect();
        assert_eq!(marks.len(), 6);
        for (number, (row, mark)) in marks.into_iter().enumerate() {
            assert_eq!(mark, ShellMark::PromptStart);
            let text = text_of(screen, row);
            assert!(
                format!("$ command {number} that").starts_with(&text[..9.min(text.len())]),
                "{text}"
            );
        }
    };
    check(&screen);
    for (rows, cols) in [(4, 9), (12, 9), (12, 40), (2, 30), (30, 30), (4, 20)] {
        screen.resize(ScreenSize::new(rows, cols), &NoTranscript, Duration::ZERO);
        check(&screen);
    }
    let checkpoint = screen.checkpoint();
    let mut back =
        Screen::restore(&checkpoint, config(4, 20), Box::new(MemoryBlocks::default())).unwrap();
    check(&back);
    let last = back.numbered_marks().next_back().unwrap().0;
    let before = back.prompt_before(last).unwrap();
    assert_eq!(back.prompt_after(before), Some(last));
    assert_eq!(back.prompt_after(last), None);
    feed(&mut back, "\x1b[?1049h");
    assert_eq!(back.prompt_before(u64::MAX), None);
    feed(&mut back, "\x1b[?1049l\x1b[3J");
    assert_eq!(back.numbered_marks().count(), 0);
}

fn find_all(screen: &Screen, text: &str, is_regex: bool, case: Case) -> Vec<Match> {
    let mut finder = Finder::new(text, is_regex, case, 10_000).unwrap();
    let mut found = Vec::new();
    while !finder.is_done() {
        found.extend(finder.step(screen));
    }
    assert_eq!(finder.total(), found.len());
    found
}

fn places(found: &[Match]) -> Vec<(u64, u16, u32)> {
    found.iter().map(|found| (found.start.row, found.start.col, found.cells)).collect()
}

#[test]
fn matches_come_newest_first_and_across_wraps() {
    let mut screen = screen(3, 10);
    feed(&mut screen, "needle 日本 Needle\r\nxx\r\n\r\nneedle needle");
    assert_eq!(screen.first_row(), 3);
    let smart = find_all(&screen, "needle", false, Case::Smart);
    assert_eq!(places(&smart), [(4, 7, 6), (4, 0, 6), (1, 3, 6), (0, 0, 6)]);
    assert_eq!(places(&find_all(&screen, "Needle", false, Case::Smart)), [(1, 3, 6)]);
    assert_eq!(places(&find_all(&screen, "日本", false, Case::Smart)), [(0, 7, 5)]);
    assert_eq!(places(&find_all(&screen, "本", false, Case::Smart)), [(1, 0, 2)]);
    assert_eq!(places(&find_all(&screen, "^xx$", true, Case::Smart)), [(2, 0, 2)]);
    assert_eq!(places(&find_all(&screen, r"N\S+", true, Case::Insensitive)).len(), 4);
    assert_eq!(places(&find_all(&screen, r"\S+dle", true, Case::Smart)).len(), 4);
    assert_eq!(find_all(&screen, "y*", true, Case::Smart), []);
    let error = |text: &str| Finder::new(text, true, Case::Smart, 9).map(drop).unwrap_err();
    assert_eq!(error(""), FindError::Empty);
    assert_eq!(error(&"x".repeat(2000)), FindError::TooLong);
    assert!(matches!(error("("), FindError::Bad(_)));
    let mut finder = Finder::new("needle", false, Case::Smart, 1).unwrap();
    assert_eq!(finder.step(&screen).len(), 1);
    assert!(finder.is_done());
    let mut finder = Finder::new("needle", false, Case::Smart, 9).unwrap();
    feed(&mut screen, "\x1b[3J");
    finder.step(&screen);
    feed(&mut screen, "\x1b[?1049h");
    assert_eq!(finder.step(&screen), []);
    assert!(finder.is_done());
}

#[test]
fn attack_a_secret_is_not_found_by_those_who_may_not_see_it() {
    let mut screen = screen(4, 20);
    let secret = "sk-ant-REDACTED";
    feed(&mut screen, format!("token: {secret}\r\nplain text\r\n\r\nend"));
    let blind = |text: &str| {
        let mut finder = Finder::new(text, true, Case::Smart, 100).unwrap().without_secrets();
        finder.step(&screen).len()
    };
    assert_eq!(find_all(&screen, "sk-ant-", false, Case::Smart).len(), 1, "it is there");
    assert_eq!((blind("plain"), blind("^end$")), (1, 1));
    // Neither whole nor piece by piece, nor by what else a guess would match.
    for guess in
        [secret, "sk-ant-api", "sk-ant-a", r"tok.*Aa\b", "Z9y8", r"(?:token: sk-[a-m])|qqq"]
    {
        assert_eq!(blind(guess), 0, "{guess}");
    }
    assert_eq!(blind("token: sk|token:"), blind("token: zz|token:"));
}

/// A private key of this many lines, without a word that would tell one line from another.
fn private_key(lines: usize) -> String {
    let body = "MIIEowIBAAKCAQEAx7Qm2Vf0c3u5tJ9zW8kLd1rNhYpB6sXgE4aFoTiCvUjDqHwS\r\n".repeat(lines);
    format!("-----BEGIN RSA PRIVATE KEY-----\r\n{body}-----END RSA PRIVATE KEY-----\r\n")
}

#[test]
fn attack_the_middle_of_a_private_key_is_not_found_either() {
    let mut screen = screen(4, 80);
    feed(&mut screen, format!("{}{}", private_key(60), "line\r\n".repeat(230)));
    let mut finder = Finder::new("5tJ9zW8k", false, Case::Smart, 100).unwrap().without_secrets();
    let mut found = Vec::new();
    while !finder.is_done() {
        found.extend(finder.step(&screen));
    }
    assert_eq!(found, []);
    assert_eq!(find_all(&screen, "5tJ9zW8k", false, Case::Smart).len(), 60, "it is there");
}

#[test]
fn ends_of_a_selection_are_settled() {
    let mut screen = screen(3, 10);
    feed(&mut screen, "ab 日本 foo-bar baz");
    let place = |row, col| Place { row, col };
    let settled = |anchor, head, expand| {
        let kind = SelectionKind::Text;
        let selection = screen.settle(&Selection { anchor, head, kind }, expand, "-");
        (selection.anchor, selection.head)
    };
    assert_eq!(settled(place(0, 4), place(0, 5), Expand::Character), (place(0, 3), place(0, 6)));
    assert_eq!(settled(place(0, 5), place(0, 4), Expand::Character), (place(0, 6), place(0, 3)));
    assert_eq!(settled(place(0, 9), place(0, 9), Expand::Word), (place(0, 8), place(1, 4)));
    assert_eq!(settled(place(1, 0), place(1, 0), Expand::Line), (place(0, 0), place(1, 8)));
    assert_eq!(settled(place(0, 2), place(9, 99), Expand::Word), (place(0, 2), place(2, 9)));
    let all = Selection { anchor: place(0, 0), head: place(1, 9), kind: SelectionKind::Text };
    assert_eq!(screen.selected_text_within(&all, 100), ("ab 日本 foo-bar baz".to_owned(), false));
    assert_eq!(screen.selected_text_within(&all, 5), ("ab ".to_owned(), true));
}

/// Output that does all kinds of things to rows.
fn output() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => "[a-z日é ]{1,30}",
        6 => Just("\r\n".to_owned()),
        2 => (1..8u16, 1..14u16).prop_map(|(row, col)| format!("\x1b[{row};{col}H")),
        2 => (30..38u16).prop_map(|color| format!("\x1b[{color}m")),
        1 => (0..4u16).prop_map(|what| format!("\x1b[{what}J")),
        1 => (0..3u16).prop_map(|what| format!("\x1b[{what}K")),
        1 => (1..5u16).prop_map(|count| format!("\x1b[{count}S")),
        1 => (1..5u16).prop_map(|count| format!("\x1b[{count}T")),
        1 => (1..5u16).prop_map(|count| format!("\x1b[{count}L")),
        1 => (1..5u16).prop_map(|count| format!("\x1b[{count}M")),
        1 => (1..5u16).prop_map(|count| format!("\x1b[{count}P")),
        1 => (1..5u16).prop_map(|count| format!("\x1b[{count}@")),
        1 => (1..5u16).prop_map(|count| format!("\x1b[{count}X")),
        1 => (1..4u16, 4..7u16).prop_map(|(top, bottom)| format!("\x1b[{top};{bottom}r")),
        1 => prop_oneof![Just("\x1b[r"), Just("\x1bM"), Just("\x1bD"), Just("\x1bE"), Just("\t"), Just("\x08"),
            Just("\x1b[?1049h"), Just("\x1b[?1049l"), Just("\x1bc"), Just("\x1b#8"), Just("\x1b[4h"),
            Just("\x1b[4l"), Just("\x1b[?7l"), Just("\x1b[?7h"), Just("\x1b[3b"), Just("e\u{301}"),
            Just("\x1b[?2026h"), Just("\x1b[?2026l"), Just("\x1b[?3h")].prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat())
}

#[derive(Clone, Debug)]
enum Step {
    Feed(String),
    Resize(u16, u16),
    Look(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => output().prop_map(Step::Feed),
        1 => (1..8u16, 1..14u16).prop_map(|(rows, cols)| Step::Resize(rows, cols)),
        4 => (0..12u64).prop_map(Step::Look),
    ];
    prop::collection::vec(step, 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// A reader that takes what changed, and keeps the rest, always has what is there.
    #[test]
    fn what_changed_is_enough(steps in steps()) {
        let mut screen = screen(6, 12);
        let mut mark = None;
        let mut known: BTreeMap<u64, Row> = BTreeMap::new();
        let mut viewed = 0..0;
        for step in steps {
            match step {
                Step::Feed(text) => drop(feed(&mut screen, text)),
                Step::Resize(rows, cols) => {
                    screen.resize(ScreenSize::new(rows, cols), &NoTranscript, Duration::ZERO);
                }
                Step::Look(back) => {
                    let top = screen.first_row().saturating_sub(back).max(screen.oldest_shown());
                    let view = top..top + u64::from(screen.size().rows);
                    if mark.is_some_and(|mark: Mark| mark.epoch != screen.epoch()) {
                        known.clear();
                    }
                    known.extend(changed(&screen, mark, view.clone()));
                    // Rows that came into view are asked for apart from those that changed.
                    for number in view.clone().filter(|number| !viewed.contains(number)) {
                        known.extend(changed(&screen, None, number..number + 1));
                    }
                    known.retain(|number, _| view.contains(number));
                    prop_assert_eq!(&known, &changed(&screen, None, view.clone()));
                    (mark, viewed) = (Some(screen.mark()), view);
                }
            }
        }
    }

    /// A search finds what the same expression finds in a dump, line by line.
    #[test]
    fn finding_agrees_with_a_dump(pieces in prop::collection::vec("[ab日 ]{0,40}", 1..40), cols in 2..20u16) {
        let mut screen = screen(4, cols);
        feed(&mut screen, pieces.join("\r\n"));
        let dump = screen.text_with_history(usize::MAX);
        for (text, is_regex) in [("ab", false), ("a+", true), ("日", false), ("^b", true)] {
            let pattern = if is_regex { text.to_owned() } else { regex::escape(text) };
            let pattern = regex::Regex::new(&pattern).unwrap();
            let expected: usize = dump.lines().map(|line| pattern.find_iter(line).count()).sum();
            let found = find_all(&screen, text, is_regex, Case::Smart);
            prop_assert_eq!(found.len(), expected);
            prop_assert!(found.windows(2).all(|pair| pair[0].start > pair[1].start));
            if !is_regex {
                for found in found {
                    let end = u64::from(found.start.col) + u64::from(found.cells) - 1;
                    let head = Place { row: found.start.row + end / u64::from(cols), col: (end % u64::from(cols)) as u16 };
                    let selection = Selection { anchor: found.start, head, kind: SelectionKind::Text };
                    prop_assert_eq!(screen.selected_text(&selection), text);
                }
            }
        }
    }
}
