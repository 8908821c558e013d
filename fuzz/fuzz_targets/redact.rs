//! Redaction: for any text, finds are in order and in bounds, the text and its cells agree with them,
//! whatever the text is.
#![no_main]

use std::cell::LazyCell;

use libfuzzer_sys::fuzz_target;
use rookery_term::redact::{CellText, Policy};

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

/// A line of single cells: every span of the text is masked from its first column to its last.
fn check_cells(policy: &Policy, text: &str) {
    let line: String =
        text.chars().filter(|char| !char.is_control()).take(usize::from(u16::MAX)).collect();
    let cells = line.char_indices().zip(0_u16..).map(|((at, char), col)| CellText {
        row: 0,
        col,
        width: 1,
        text: &line[at..at + char.len_utf8()],
    });
    let masked = policy.redact_cells(&[cells.collect()]);
    let columns: Vec<_> = masked.iter().map(|cell| usize::from(cell.col)).collect();
    for span in policy.redact_spans(&line) {
        for (col, _) in line.char_indices().enumerate().filter(|(_, (at, _))| span.contains(at)) {
            assert!(columns.contains(&col), "column {col} of {line:?} still shows a secret");
        }
    }
}
