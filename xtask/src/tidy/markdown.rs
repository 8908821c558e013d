//! Rules for Markdown: clean line ends, no tabs, and links that lead somewhere inside the tree.
//!
//! Looks at relative links only; what is on the network is not checked.

use std::collections::BTreeSet;

use super::Finding;

/// No line ends in white space, none contains a tab.
pub(super) fn check_whitespace(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        if line.ends_with(char::is_whitespace) {
            findings.push(Finding::error(path, index + 1, "white space at the end of the line"));
        }
        if line.contains('\t') {
            findings.push(Finding::error(path, index + 1, "a tab"));
        }
    }
    findings
}

/// Every relative link leads to one of `files` or to a folder that holds one.
pub(super) fn check_links(path: &str, text: &str, files: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, target) in links(text) {
        let Some(relative) = relative_part(target) else { continue };
        let found = resolve(path, relative).is_some_and(|path| exists(&path, files));
        if !found {
            findings.push(Finding::error(path, line, format!("link to {relative} leads nowhere")));
        }
    }
    findings
}

/// The targets of all links outside of code, with their line.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut fence = None;
    for (index, line) in text.lines().enumerate() {
        let mark = fence_mark(line);
        match fence {
            Some(open) => {
                if mark == Some(open) {
                    fence = None;
                }
            }
            None if mark.is_some() => fence = mark,
            None => links.extend(links_in_line(line).map(|target| (index + 1, target))),
        }
    }
    links
}

fn fence_mark(line: &str) -> Option<&'static str> {
    let line = line.trim_start();
    ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark))
}

/// `[text](target)`, `![text](target)` and `[name]: target`, but nothing between backticks.
fn links_in_line(line: &str) -> impl Iterator<Item = &str> {
    let inline = line
        .match_indices("](")
        .filter(|(at, _)| line[..*at].matches('`').count().is_multiple_of(2))
        .filter_map(|(at, open)| target_at(&line[at + open.len()..], true));
    let definition = line
        .trim_start()
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "))
        .filter(|(name, _)| !name.contains(']'))
        .and_then(|(_, rest)| target_at(rest, false));
    inline.chain(definition)
}

/// The target that `rest` begins with; a title after it is left out.
fn target_at(rest: &str, parenthesized: bool) -> Option<&str> {
    if let Some(angled) = rest.strip_prefix('<') {
        return angled.split_once('>').map(|(target, _)| target);
    }
    let rest = if parenthesized { rest.split_once(')')?.0 } else { rest };
    rest.split_whitespace().next()
}

/// The path of a relative link without query and anchor; none for other links.
fn relative_part(target: &str) -> Option<&str> {
    let path = target.split(['#', '?']).next().unwrap_or(target);
    let has_scheme = path.split('/').next().is_some_and(|first| first.contains(':'));
    (!path.is_empty() && !has_scheme && !path.starts_with("//")).then_some(path)
}

/// The path from the top of the tree that a link in `from` means; none if it leaves the tree.
pub(super) fn resolve(from: &str, link: &str) -> Option<String> {
    let link = link.replace("%20", " ");
    let mut parts: Vec<&str> = match link.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => from.split('/').collect(),
    };
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

fn exists(path: &str, files: &BTreeSet<String>) -> bool {
    let folder = format!("{path}/");
    let first_inside = files.range(folder.clone()..).next();
    path.is_empty()
        || files.contains(path)
        || first_inside.is_some_and(|file| file.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> BTreeSet<String> {
        ["README.md", "docs/a.md", "docs/my file.md", "docs-old/b.md"]
            .into_iter()
            .map(str::to_owned)
            .collect()
    }

    fn dead(path: &str, text: &str) -> Vec<(usize, String)> {
        let findings = check_links(path, text, &files());
        findings.into_iter().map(|finding| (finding.line.unwrap(), finding.message)).collect()
    }

    #[test]
    fn white_space_is_seen_at_line_ends_only() {
        let lines = |text| -> Vec<_> {
            check_whitespace("a.md", text).into_iter().map(|finding| finding.line).collect()
        };
        assert_eq!(lines("a b\n  c\n"), []);
        assert_eq!(lines("a\nb \n"), [Some(2)]);
        assert_eq!(lines("a\r\nb\n"), [Some(1)]);
        assert_eq!(lines("a\n\tb\n"), [Some(2)]);
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        let text = "[a](docs/a.md) ![b](./docs/../README.md#top) [c](docs) [d](docs/ \"title\")\n\
                    [e](/docs/a.md) [f](<docs/my file.md>) [g](docs/my%20file.md) [h](.)\n\
                    [i](https://example.org/x) [j](mailto:a@example.org) [k](#below)\n\
                    \n[l]: docs/a.md\n";
        assert_eq!(dead("README.md", text), []);
        assert_eq!(dead("docs/a.md", "[up](../README.md) [me](a.md)"), []);
    }

    #[test]
    fn links_that_lead_nowhere_fail() {
        let gone = |link: &str| format!("link to {link} leads nowhere");
        let text = "fine\n[a](gone.md#x) and [b](docs/a.md)\n[c]: docs/gone.md\n";
        assert_eq!(dead("README.md", text), [(2, gone("gone.md")), (3, gone("docs/gone.md"))]);
        assert_eq!(dead("docs/a.md", "[a](README.md)"), [(1, gone("README.md"))]);
        assert_eq!(dead("docs/a.md", "[a](../../x.md)"), [(1, gone("../../x.md"))]);
        assert_eq!(dead("README.md", "[a](doc)"), [(1, gone("doc"))]);
    }

    #[test]
    fn code_is_not_searched() {
        let text = "```\n[a](gone.md)\n~~~\n[a](gone.md)\n```\n`[b](gone.md)`\n";
        assert_eq!(dead("README.md", text), []);
        let text = "~~~\n```\n~~~\n[a](gone.md)\n";
        assert_eq!(dead("README.md", text).len(), 1);
    }
}
