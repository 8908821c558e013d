//! Rules for Rust sources: their size, their first line, and text they may not contain.
//!
//! Works on lines, not on syntax: rustfmt has already put everything where it is looked for.

use serde::Deserialize;

use super::Finding;

/// How long a file may be.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Size {
    pub(super) warn: usize,
    pub(super) fail: usize,
}

/// Where files must begin with `//!`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModuleDocs {
    roots: Vec<String>,
}

/// Text that may not occur, and why.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Banned {
    text: String,
    why: String,
    /// Only in tests: files of tests, and the trailing test module of any other file.
    #[serde(default)]
    tests_only: bool,
}

/// Warns about a long file, fails a very long one. Tests do not count.
pub(super) fn check_size(size: &Size, path: &str, text: &str) -> Option<Finding> {
    if is_test_file(path) {
        return None;
    }
    let lines = lines_before_tests(text);
    if lines > size.fail {
        let message = format!("{lines} lines besides tests, more than {}: split it", size.fail);
        Some(Finding::error(path, None, message))
    } else if lines > size.warn {
        let message = format!("{lines} lines besides tests, more than {}", size.warn);
        Some(Finding::warning(path, None, message))
    } else {
        None
    }
}

/// A module says first what it owns.
pub(super) fn check_module_docs(docs: &ModuleDocs, path: &str, text: &str) -> Option<Finding> {
    let in_scope = docs.roots.iter().any(|root| path.starts_with(root));
    (in_scope && !text.starts_with("//!"))
        .then(|| Finding::error(path, 1, "a module begins with //! and what it owns"))
}

/// Finds banned text outside of comments.
pub(super) fn check_banned(banned: &[Banned], path: &str, text: &str) -> Vec<Finding> {
    let tests_begin = if is_test_file(path) { 0 } else { lines_before_tests(text) };
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        let applies = |ban: &&Banned| !ban.tests_only || index >= tests_begin;
        for ban in banned.iter().filter(applies).filter(|ban| line.contains(&ban.text)) {
            let place = if ban.tests_only { " in a test" } else { "" };
            let message = format!("`{}`{place}: {}", ban.text, ban.why);
            findings.push(Finding::error(path, index + 1, message));
        }
    }
    findings
}

/// Whether the whole file is test: in a folder of tests, or the tests of a module kept apart.
pub(super) fn is_test_file(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    parts.next() == Some("tests.rs") || parts.any(|dir| dir == "tests")
}

/// The number of lines before the trailing `#[cfg(test)] mod … { … }`, or of all lines if there is none.
pub(super) fn lines_before_tests(text: &str) -> usize {
    let lines: Vec<_> = text.lines().collect();
    let ends_in_block = lines.iter().rev().find(|line| !line.is_empty()) == Some(&"}");
    let begin = (0..lines.len()).rev().find(|&at| begins_test_module(&lines[at..]));
    begin.filter(|_| ends_in_block).unwrap_or(lines.len())
}

fn begins_test_module(lines: &[&str]) -> bool {
    let is_attribute = |line: &&&str| line.starts_with("#[");
    let Some((&"#[cfg(test)]", rest)) = lines.split_first() else { return false };
    let item = rest.iter().find(|line| !is_attribute(line));
    item.is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTS: &str = "#[cfg(test)]\nmod tests {\n    fn a() {}\n}\n";

    fn long(lines: usize) -> String {
        "// line\n".repeat(lines)
    }

    #[test]
    fn trailing_tests_do_not_count() {
        assert_eq!(lines_before_tests(&(long(7) + TESTS)), 7);
        assert_eq!(lines_before_tests(TESTS), 0);
        let attributed = TESTS.replace("mod", "#[expect(x)]\nmod");
        assert_eq!(lines_before_tests(&(long(7) + &attributed)), 7);
    }

    #[test]
    fn other_tests_count() {
        assert_eq!(lines_before_tests(&long(7)), 7);
        assert_eq!(lines_before_tests(&format!("{TESTS}{}", long(2))), 6);
        assert_eq!(lines_before_tests("#[cfg(test)]\nmod tests;\n"), 2);
        assert_eq!(lines_before_tests("#[cfg(test)]\nuse a::b;\nfn c() {\n}\n"), 4);
    }

    #[test]
    fn size_has_two_limits() {
        let size = Size { warn: 10, fail: 20 };
        let check = |path: &str, lines| check_size(&size, path, &(long(lines) + TESTS));
        assert_eq!(check("a.rs", 10), None);
        let message = "11 lines besides tests, more than 10";
        assert_eq!(check("a.rs", 11), Some(Finding::warning("a.rs", None, message)));
        let message = "21 lines besides tests, more than 20: split it";
        assert_eq!(check("a.rs", 21), Some(Finding::error("a.rs", None, message)));
        assert_eq!(check("crates/a/tests/b.rs", 21), None);
    }

    #[test]
    fn module_docs_come_first_under_the_roots() {
        let docs = ModuleDocs { roots: vec!["crates/".into()] };
        let check = |path: &str, text: &str| check_module_docs(&docs, path, text).is_some();
        assert!(!check("crates/a/src/lib.rs", "//! Owns a.\n"));
        assert!(check("crates/a/src/lib.rs", "/// Owns a.\n"));
        assert!(check("crates/a/src/lib.rs", "\n//! Owns a.\n"));
        assert!(check("crates/a/src/lib.rs", ""));
        assert!(!check("tests/fixtures/a.rs", "fn a() {}\n"));
    }

    fn bans() -> [Banned; 2] {
        let ban = |text: &str, tests_only| Banned {
            text: text.into(),
            why: "because".into(),
            tests_only,
        };
        [ban("never!(", false), ban("nap(", true)]
    }

    fn banned_lines(path: &str, text: &str) -> Vec<Option<usize>> {
        check_banned(&bans(), path, text).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn banned_text_is_found_everywhere_but_in_comments() {
        let text = "fn a() {\n    // never!(\n    never!()\n}\n";
        assert_eq!(banned_lines("src/a.rs", text), [Some(3)]);
        let finding = &check_banned(&bans(), "src/a.rs", text)[0];
        assert_eq!(finding.message, "`never!(`: because");
    }

    #[test]
    fn some_text_is_banned_in_tests_only() {
        let code = "fn a() {\n    nap(1);\n}\n";
        let tests = "#[cfg(test)]\nmod tests {\n    fn b() {\n        nap(2);\n    }\n}\n";
        assert_eq!(banned_lines("src/a.rs", code), []);
        assert_eq!(banned_lines("src/a.rs", &format!("{code}{tests}")), [Some(7)]);
        assert_eq!(banned_lines("crates/a/tests/b.rs", code), [Some(2)]);
        assert_eq!(banned_lines("tests/e2e/b.rs", code), [Some(2)]);
        assert_eq!(banned_lines("src/b/tests.rs", code), [Some(2)]);
    }
}
