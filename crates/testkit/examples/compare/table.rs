//! The table for people: one row per difference, made of what the rules say.

use std::fmt::Write as _;

use crate::rules::{Explained, Rules, Words};

const HEAD: &str = "\
# Rookery beside ptywright 0.3.0

Every conversation of [tests/vectors/ptywright](../tests/vectors/ptywright) was held with Rookery \
(`rookery ptywright serve --stdio`) and with ptywright 0.3.0 (`ptywright serve --stdio`).
Where the two do not answer alike, a row below says how and why; everything else is the same.

`cargo xtask compare ptywright` repeats the comparison and writes this file, from the words in \
[tests/compare/ptywright.toml](../tests/compare/ptywright.toml).
It fails for a difference without a row, and for a row without a difference.

";

/// The whole file.
pub(crate) fn markdown(rules: &Rules, explained: &Explained, steps: usize) -> String {
    let mut text = HEAD.to_owned();
    let members = rules.members.iter().enumerate();
    let members = members.map(|(row, rule)| (&rule.words, explained.by_member(row)));
    let single = rules.steps.iter().enumerate();
    let single = single.map(|(row, rule)| (&rule.words, explained.by_step(row)));
    let rows: Vec<(&Words, usize)> = members.chain(single).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{steps} replies and notifications were compared; {} differences, of {} kinds.\n",
        explained.count(),
        rows.len()
    );
    text.push_str("| ptywright 0.3.0 | Rookery | ruling | why | times |\n|---|---|---|---|---:|\n");
    for (Words { ptywright, rookery, ruling, reason }, count) in rows {
        let ruling = ruling.words();
        let _ = writeln!(text, "| {ptywright} | {rookery} | {ruling} | {reason} | {count} |");
    }
    text
}
