//! Addresses within text: where they begin and where they end.

use std::ops::Range;

/// Schemes that are followed by a host or path, and those that are not.
const SCHEMES: [(&str, bool); 9] = [
    ("http", true),
    ("https", true),
    ("ftp", true),
    ("file", true),
    ("ssh", true),
    ("git+ssh", true),
    ("mailto", false),
    ("tel", false),
    ("news", false),
];

/// What ends a sentence rather than an address.
const TRAILING: &str = ".,;:!?'*";

const BRACKETS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];

/// The addresses in a text, in order, as byte ranges: no punctuation or unpaired bracket at the end.
pub fn find(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    for colon in memchr::memchr_iter(b':', text.as_bytes()) {
        if colon < from {
            continue;
        }
        if let Some(range) = address_around(text, from, colon) {
            from = range.end;
            found.push(range);
        }
    }
    found
}

/// The address whose scheme ends at a colon and does not begin before `from`.
fn address_around(text: &str, from: usize, colon: usize) -> Option<Range<usize>> {
    let before = &text[from..colon];
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '+' | '-' | '.');
    let name = before.rfind(|c| !is_name(c)).map_or(before, |at| {
        let width = before[at..].chars().next().map_or(1, char::len_utf8);
        &before[at + width..]
    });
    let (_, has_host) = SCHEMES.iter().find(|(scheme, _)| name.eq_ignore_ascii_case(scheme))?;
    let body = colon + 1 + if *has_host { 2 } else { 0 };
    if *has_host && !text[colon + 1..].starts_with("//") {
        return None;
    }
    let rest = &text[body..];
    let rest = &rest[..rest.find(is_outside).unwrap_or(rest.len())];
    let length = trimmed(rest).len();
    (length > 0).then(|| colon - name.len()..body + length)
}

/// Characters that no address contains.
fn is_outside(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '`' | '|' | '\\' | '^')
}

/// Without what belongs to the sentence around it.
fn trimmed(text: &str) -> &str {
    // Counted once and kept up to date, so that a long run of brackets is not counted anew for each.
    let count = |wanted: char| text.chars().filter(|c| *c == wanted).count();
    let mut counts = BRACKETS.map(|(open, close)| (count(open), count(close)));
    let mut rest = text;
    while let Some(last) = rest.chars().next_back() {
        let bracket = BRACKETS.iter().position(|(open, close)| last == *open || last == *close);
        match bracket {
            Some(kind) if last == BRACKETS[kind].0 => counts[kind].0 -= 1,
            Some(kind) if counts[kind].1 > counts[kind].0 => counts[kind].1 -= 1,
            None if TRAILING.contains(last) => {}
            _ => break,
        }
        rest = &rest[..rest.len() - last.len_utf8()];
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<&str> {
        find(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn every_scheme_is_known_and_no_other() {
        for address in [
            "http://a.b/c?d=e#f",
            "https://a.b",
            "ftp://a.b/c",
            "file:///etc/hosts",
            "ssh://me@host:22/x",
            "git+ssh://host/repo.git",
            "mailto:me@host.example",
            "tel:+49-123",
            "news:comp.lang",
            "HTTPS://A.B/",
            "https://a.b/ü/日本",
            "http://[::1]:80/",
        ] {
            assert_eq!(found(address), [address]);
            assert_eq!(found(&format!("see ({address}), or")), [address], "{address}");
            assert_eq!(found(&format!("<{address}>\"{address}\"")), [address, address]);
        }
        for text in ["gopher://a", "xhttp://a", "http:/a", "http://", "mailto:", "a:b", "git+ssh:x"]
        {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn punctuation_and_unpaired_brackets_are_cut() {
        for (text, expected) in [
            ("http://a/b.", "http://a/b"),
            ("http://a/b...", "http://a/b"),
            ("http://a/b?!", "http://a/b"),
            ("http://a/b).", "http://a/b"),
            ("http://a/b_(c)", "http://a/b_(c)"),
            ("http://a/b_(c))", "http://a/b_(c)"),
            ("(http://a/b_(c).)", "http://a/b_(c)"),
            ("[http://a/b]", "http://a/b"),
            ("{http://a/b},", "http://a/b"),
            ("http://a/b(", "http://a/b"),
            ("**http://a/b**", "http://a/b"),
            ("http://a/;b;", "http://a/;b"),
            ("http://a/?u=http://b/", "http://a/?u=http://b/"),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
    }

    #[test]
    fn several_addresses_are_distinguished() {
        assert_eq!(found("http://a/ tel:1, http://b/"), ["http://a/", "tel:1", "http://b/"]);
        assert_eq!(
            found("日http://a/ x"),
            [""; 0],
            "a letter before the scheme is part of its name"
        );
        assert_eq!(found("→http://a/ x"), ["http://a/"]);
    }

    #[test]
    fn long_runs_take_no_long_time() {
        let text = format!("http://a/{}{}", "(".repeat(200_000), ")".repeat(400_000));
        assert_eq!(found(&text)[0].len(), 9 + 400_000);
        assert_eq!(found(&"http:".repeat(100_000)), [""; 0]);
    }

    proptest! {
        #[test]
        fn ranges_are_in_order_and_on_characters(
            parts in prop::collection::vec(prop::sample::select(vec![
                "http", "://", ":", "/", "mailto:", "tel:", "é", "日", "(", ")", "]", ".", " ", "+", "a", "git+ssh",
            ]), 0..40),
        ) {
            let text = parts.concat();
            let mut last = 0;
            for range in find(&text) {
                prop_assert!(range.start >= last && range.end > range.start);
                prop_assert!(text.get(range.clone()).is_some());
                last = range.end;
            }
        }

        #[test]
        fn any_text_is_survived(text: String) {
            find(&text);
        }
    }
}
