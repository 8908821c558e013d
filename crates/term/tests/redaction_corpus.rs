//! The corpus of secrets and near misses, through text and through cells.

use std::fmt::Write as _;

use rookery_term::redact::{DEFAULT_REPLACEMENT, Policy, StreamRedactor};

const CORPUS: &str = include_str!("redaction_corpus.txt");

/// What a line of the corpus expects.
struct Case {
    input: String,
    /// None if it must stay as it is.
    output: Option<String>,
}

/// Replaces the signs of the corpus by what they stand for.
fn expand(text: &str) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('⟨') {
        let (sign, behind) = behind.split_once('⟩').expect("a closing sign");
        let digits = sign.trim_start_matches(['U', 'h']);
        let alphabet = match sign.chars().next() {
            Some('U') => "A2BC3DE4FG5HJ6KL7",
            Some('h') => "0f1e2d3c4b5a69788",
            _ => "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8xC0",
        };
        let len = digits.parse().expect("a number");
        expanded.push_str(before);
        expanded.extend(alphabet.chars().cycle().take(len));
        rest = behind;
    }
    expanded.push_str(rest);
    expanded.replace('␊', "\n").replace('␛', "\x1b").replace('•', DEFAULT_REPLACEMENT)
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for line in CORPUS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        cases.push(match line.split_once(' ') {
            Some(("hide", case)) => {
                let (input, output) = case.split_once(" ⇒ ").expect("an output");
                Case { input: expand(input), output: Some(expand(output)) }
            }
            Some(("keep", input)) => Case { input: expand(input), output: None },
            _ => panic!("neither hide nor keep: {line}"),
        });
    }
    cases
}

#[test]
fn the_corpus_is_large_enough() {
    let cases = cases();
    let positives = cases.iter().filter(|case| case.output.is_some()).count();
    assert!(positives >= 60, "{positives} positives");
    assert!(cases.len() - positives >= 60, "{} near misses", cases.len() - positives);
}

#[test]
fn every_line_of_the_corpus_comes_out_as_expected() {
    let policy = Policy::ptywright_compatible();
    let mut wrong = String::new();
    for case in cases() {
        let expected = case.output.as_ref().unwrap_or(&case.input);
        let shown = policy.redact(&case.input);
        if shown != *expected {
            writeln!(wrong, "{:?}\n   gives {shown:?}\nexpected {expected:?}", case.input).unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn surroundings_do_not_matter() {
    let policy = Policy::ptywright_compatible();
    // A name with nothing behind it takes its value from the next line; that is in the contract.
    for case in cases().into_iter().filter(|case| !case.input.ends_with(':')) {
        let expected = case.output.as_ref().unwrap_or(&case.input);
        let text = format!("first line\n\n{}\n\n$ ls -l\n", case.input);
        assert_eq!(policy.redact(&text), format!("first line\n\n{expected}\n\n$ ls -l\n"));
    }
}

#[test]
fn another_replacement_is_used_for_everything() {
    let none: [&str; 0] = [];
    let policy = Policy::ptywright_compatible().customize("<gone>", none, none).unwrap();
    for case in cases().into_iter().filter(|case| case.output.is_some()) {
        let shown = policy.redact(&case.input);
        assert!(shown.contains("<gone>") && !shown.contains(DEFAULT_REPLACEMENT), "{shown}");
    }
}

#[test]
fn the_strict_policy_hides_at_least_as_much() {
    let (strict, usual) = (Policy::strict(), Policy::ptywright_compatible());
    for case in cases() {
        let spans = strict.redact_spans(&case.input);
        for span in usual.redact_spans(&case.input) {
            let is_hidden = |at| spans.iter().any(|span| span.contains(&at));
            assert!(span.into_iter().all(is_hidden), "{}", case.input);
        }
    }
}

#[test]
fn cells_show_what_the_text_shows() {
    let policy = Policy::ptywright_compatible();
    for case in cases().into_iter().filter(|case| !case.input.contains('\x1b')) {
        let mut lines: Vec<&str> = case.input.split('\n').collect();
        let rows = (0..).map(|row| row..row + 1).take(lines.len());
        let masked = policy.redact_screen("", &case.input, rows);
        for line in &masked {
            let shown: String = line.cells(1000).map(|cell| cell.text).collect();
            assert_eq!(shown, line.text());
            lines[usize::from(line.rows().start)] = line.text();
        }
        let expected = case.output.as_ref().unwrap_or(&case.input);
        if expected.matches('\n').count() + 1 == lines.len() {
            assert_eq!(lines.join("\n"), *expected);
        } else {
            // The lines of a secret stay where they are, though the text joins them.
            assert_eq!(lines.concat(), expected.replace('\n', ""));
        }
    }
}

#[test]
fn no_way_of_cutting_a_stream_reveals_more() {
    let policy = Policy::ptywright_compatible();
    for case in cases() {
        let whole = policy.redact_spans(&case.input);
        for (cut, _) in case.input.char_indices() {
            let (early, late) = case.input.split_at(cut);
            let safe = policy.safe_len(early);
            let shown = policy.redact_spans(&early[..safe]);
            let is_in =
                |spans: &[std::ops::Range<usize>], at| spans.iter().any(|span| span.contains(&at));
            let is_early = |at: &usize| is_in(&whole, *at) && !is_in(&shown, *at);
            let revealed = (0..safe).find(is_early);
            assert_eq!(revealed, None, "of {:?} before {late:?} arrives", case.input);
            let mut stream = StreamRedactor::new(&policy);
            let shown = stream.push(early) + &stream.push(late) + &stream.flush();
            if !case.input.contains('\x1b') && case.output.is_none() {
                assert_eq!(shown, case.input);
            }
        }
    }
}
