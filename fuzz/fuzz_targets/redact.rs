//! Redaction: for any text, finds are in order and in bounds, the text and its cells agree with them,
//! whatever the text is.
#![no_main]

use std::cell::LazyCell;

use libfuzzer_sys::fuzz_target;
use rookery_term::redact::Policy;

thread_local! {
    static POLICIES: LazyCell<[Policy; 2]> =
        LazyCell::new(|| [Policy::strict(), Policy::ptywright_compatible()]);
}

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    POLICIES.with(|policies| {
        policies.iter().for_each(|policy| check(policy, &text));
    });
});

fn check(policy: &Policy, text: &str) {
    let mut rebuilt = String::new();
    let mut copied = 0;
    for redaction in policy.redactions(text) {
        rebuilt.push_str(&text[copied..redaction.range.start]);
        rebuilt.push_str(&redaction.text);
        copied = redaction.range.end;
    }
    rebuilt.push_str(&text[copied..]);
    assert_eq!(policy.redact(text), rebuilt);
    check_cells(policy, text);
}

/// The lines that change, on rows of their own: their cells are what the redacted text has of them.
fn check_cells(policy: &Policy, text: &str) {
    let text: String = text.chars().filter(|char| *char == '\n' || !char.is_control()).collect();
    let mut lines: Vec<&str> = text.split('\n').take(usize::from(u16::MAX)).collect();
    let rows = (0..u16::MAX).map(|row| row..row + 1).take(lines.len());
    let masked = policy.redact_screen("", &text, rows);
    for line in &masked {
        for cols in [1, 2, 7] {
            let shown: String = line.cells(cols).map(|cell| cell.text).collect();
            assert!(line.text().starts_with(&shown), "{shown:?} of {:?}", line.text());
        }
        lines[usize::from(line.rows().start)] = line.text();
    }
    if lines.len() == text.split('\n').count() {
        assert_eq!(lines.concat(), policy.redact(&text).replace('\n', ""));
    }
}
