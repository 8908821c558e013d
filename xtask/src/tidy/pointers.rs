//! Tables that say where to begin reading: what stands before a link is declared where the link leads.
//!
//! ``` `Requests::resolve` in [resolve.rs](…) ``` needs a function of that name in that file, and the word before
//! it somewhere there; of a folder, any file will do. Whether the file exists is [`super::markdown`]'s.

use std::collections::BTreeSet;

use super::doc_links::{DECLARING, words};
use super::{Finding, markdown};

/// The pages with such tables.
pub(super) const PAGES: [&str; 2] = ["ARCHITECTURE.md", "docs/entry-points.md"];

/// What declares a name in the page's scripts.
const IN_SCRIPTS: [&str; 2] = ["class", "function"];

/// A piece of a cell: a name as code, or where a link leads.
enum Piece<'a> {
    Name(&'a str),
    Link(&'a str),
}

/// Finds names that are declared elsewhere; `texts` gives the files at a path or below it.
pub(super) fn check(
    page: &str,
    text: &str,
    texts: impl Fn(&str) -> Vec<(String, String)>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| line.starts_with("| ")) {
        for (name, link) in pointers(line) {
            let Some(path) = markdown::resolve(page, link) else { continue };
            if !texts(&path).iter().any(|(path, text)| declares(path, text, name)) {
                let message = format!("{name} is not declared in {path}");
                findings.push(Finding::error(page, at + 1, message));
            }
        }
    }
    findings
}

/// The names of a row, each with where it is said to be.
fn pointers(line: &str) -> Vec<(&str, &str)> {
    let (mut found, mut names, mut after_link) = (Vec::new(), Vec::new(), true);
    for (between, piece) in pieces(line) {
        let goes_on = matches!(between, ", " | " and ");
        match piece {
            Piece::Name(name) => {
                if after_link || !goes_on {
                    names.clear();
                }
                names.push(name);
            }
            Piece::Link(link) => {
                if !(if after_link { goes_on } else { between == " in " }) {
                    names.clear();
                }
                found.extend(names.iter().map(|name| (*name, link)));
            }
        }
        after_link = matches!(piece, Piece::Link(_));
    }
    found
}

/// The pieces of a line, each with the text before it.
fn pieces(line: &str) -> Vec<(&str, Piece<'_>)> {
    let (mut found, mut rest) = (Vec::new(), line);
    while let Some(at) = rest.find(['`', '[']) {
        let (between, piece) = rest.split_at(at);
        let name = piece.strip_prefix('`').and_then(|piece| piece.split_once('`'));
        let link = piece.split_once("](").and_then(|(_, link)| link.split_once(')'));
        match (name, link) {
            (Some((name, after)), _) => {
                found.push((between, Piece::Name(name)));
                rest = after;
            }
            (None, Some((link, after))) => {
                found.push((between, Piece::Link(link)));
                rest = after;
            }
            (None, None) => break,
        }
    }
    found
}

/// Whether a file declares a name, or is called so.
fn declares(path: &str, text: &str, name: &str) -> bool {
    if path.rsplit('/').next() == Some(name) {
        return true;
    }
    let mut parts = name.rsplit("::");
    let last = parts.next().unwrap_or(name);
    let found: Vec<&str> = words(text).collect();
    let is_declaring = |word: &str| DECLARING.contains(&word) || IN_SCRIPTS.contains(&word);
    let is_declared = found
        .windows(2)
        .any(|pair| matches!(pair, [before, word] if *word == last && is_declaring(before)));
    let found: BTreeSet<&str> = found.into_iter().collect();
    is_declared && parts.all(|part| found.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(&str, &str); 3] = [
        ("crates/a/src/lib.rs", "pub struct Hub;\nimpl Hub {\n    pub fn resolve(&self) {}\n}\n"),
        ("crates/a/src/rules.rs", "fn judge() {}\n"),
        ("crates/web/guard.js", "export class Guard {}\n"),
    ];

    fn said(row: &str) -> Vec<String> {
        let texts = |path: &str| {
            let there = FILES.iter().filter(|(file, _)| file.starts_with(path));
            there.map(|(file, text)| (file.to_string(), text.to_string())).collect()
        };
        let row = format!("| a question | {row} |\n");
        check("docs/a.md", &row, texts).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_name_is_declared_where_its_link_leads() {
        for row in [
            "`Hub::resolve` and `Hub` in [a](../crates/a/src/lib.rs), driven by [b](../crates/web)",
            "`Hub` in [a](../crates/a/src/lib.rs), `judge` in [b](../crates/a/src/rules.rs): one",
            "`rules.rs` and `judge` in [crates/a/src](../crates/a/src)",
            "`Guard` in [the page](../crates/web/guard.js)",
            "[a](../crates/a/src/lib.rs), which `is_elsewhere`",
        ] {
            assert_eq!(said(row), [""; 0], "{row}");
        }
        for (row, wrong) in [
            ("`Hub::judge` in [a](../crates/a/src/lib.rs)", "Hub::judge"),
            ("`Gate::resolve` in [a](../crates/a/src/lib.rs)", "Gate::resolve"),
            ("`Hub` and `gone` in [a](../crates/a/src/lib.rs)", "gone"),
        ] {
            let expected =
                format!("error: docs/a.md:1: {wrong} is not declared in crates/a/src/lib.rs");
            assert_eq!(said(row), [expected], "{row}");
        }
        let both = "`Hub` in [a](../crates/a/src/lib.rs) and [b](../crates/a/src/rules.rs)";
        let expected = "error: docs/a.md:1: Hub is not declared in crates/a/src/rules.rs";
        assert_eq!(said(both), [expected]);
    }
}
