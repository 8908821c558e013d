//! Core speaks no wire: its texts name no method, no member and no thing as a protocol spells them. Of
//! what is visible only the link does, and faces call methods by types and not by names.

use super::{Finding, rust};

/// Where no such word may stand.
const ROOM: &str = "crates/core/src/";
/// What looks like a member or a method and is none.
const EXCEPT: &[&str] = &[
    // What becomes the name of a project's UUID; it must never change.
    "rookery/project/{id}",
];
/// Files whose format a contract spells member by member: records of a workflow's run, which others read.
const FORMATS: &[&str] = &[
    "crates/core/src/workflows/encode.rs",
    "crates/core/src/workflows/encode/kept.rs",
    "crates/core/src/workflows/files.rs",
];
/// Words of one protocol alone: its name, and what only it calls so.
const OWN: &[&str] =
    &["idx0", "Idx0", "ptywright", "Ptywright", "roder", "Roder", "Roost", "Roo", "Vibe"];
/// Spellings of policy modes that only clients use.
const MODES: &[&str] = &["ask", "accept-all", "accept-edits", "accept_edits"];
/// Endings of files; a name before one is no method.
const FILES: &[&str] = &["json", "jsonl", "md", "png", "sock", "toml", "txt"];

/// Who calls the daemon, and the tables by which they do.
const CALLERS: &[&str] =
    &["crates/cli/src/", "crates/face/src/", "crates/tui/src/", "crates/window/src/"];
const CALLS: &str = "crates/face/src/daemon.rs";

/// Where serde is only for the link, and where the link is.
const SEEN: &str = "crates/view/src/";
const LINK: &str = "crates/view/src/link/";

/// Finds words of wires in the texts of core, and serde beside the link, tests excepted.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    if path.starts_with(SEEN) && !path.starts_with(LINK) && !rust::is_test_file(path) {
        return serde_types(path, text);
    }
    if CALLERS.iter().any(|room| path.starts_with(room)) && path != CALLS {
        return if rust::is_test_file(path) { Vec::new() } else { named_calls(path, text) };
    }
    if !path.starts_with(ROOM) || rust::is_test_file(path) || path.ends_with("/attack.rs") {
        return Vec::new();
    }
    if FORMATS.contains(&path) {
        return Vec::new();
    }
    let lines = text.lines().take(rust::lines_before_tests(text)).enumerate();
    let code = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
    let found = code.filter_map(|(at, line)| {
        let word = literals(line).filter(|text| !EXCEPT.contains(text)).find_map(wire_word)?;
        let message =
            format!("`{word}` is a word of a wire: say it in snake_case, the dialect spells it");
        Some(Finding::error(path, at + 1, message))
    });
    found.collect()
}

/// Lines that use serde itself; values of JSON are no wire.
fn serde_types(path: &str, text: &str) -> Vec<Finding> {
    let lines = text.lines().take(rust::lines_before_tests(text)).enumerate();
    let named = |line: &str| line.contains("serde::") || line.contains("schemars::");
    let found = lines.filter(|(_, line)| named(line) && !line.trim_start().starts_with("//"));
    let message = format!("types for a wire belong to {LINK}");
    found.map(|(at, _)| Finding::error(path, at + 1, message.clone())).collect()
}

/// Methods that are called by a name and not by a type.
fn named_calls(path: &str, text: &str) -> Vec<Finding> {
    let lines = text.lines().take(rust::lines_before_tests(text)).enumerate();
    let code = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
    let is_method = |text: &&str| {
        let rest = text.strip_prefix("rookery/").unwrap_or_default();
        !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'/')
    };
    let found = code.filter_map(|(at, line)| {
        let name = literals(line).find(is_method)?;
        let message = format!(
            "`{name}` is called by its name: call it by type, from `view::link::method`, {CALLS} or the \
             types of its dialect"
        );
        Some(Finding::error(path, at + 1, message))
    });
    found.collect()
}

/// The texts between quotes on a line.
fn literals(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2)
}

/// A word like `camelCase`, `noun/verb` or `noun.verb`, one of a protocol, or how clients spell a mode.
fn wire_word(text: &str) -> Option<&str> {
    if MODES.contains(&text) {
        return Some(text);
    }
    let own = text.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| OWN.contains(word));
    if own.is_some() {
        return own;
    }
    let is_edge = |c: char| !c.is_ascii_alphanumeric() && !"_/.".contains(c);
    text.split(is_edge)
        .map(|word| word.trim_matches('.'))
        .find(|word| is_camel(word) || is_method(word))
}

fn is_camel(word: &str) -> bool {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_plain
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.bytes().zip(word.bytes().skip(1)).any(|(one, next)| {
            one.is_ascii_lowercase() && next.is_ascii_uppercase()
        })
        // An escape such as `\n` before a word.
        && !(word.starts_with(['n', 'r', 't']) && word[1..].starts_with(|c: char| c.is_ascii_uppercase()))
}

fn is_method(word: &str) -> bool {
    let is_name = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    let by = |mark: char| {
        let parts: Vec<&str> = word.split(mark).collect();
        parts.len() > 1
            && parts.iter().all(|part| is_name(part))
            && !FILES.contains(&parts[parts.len() - 1])
    };
    by('/') || by('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_wires_are_found_in_core() {
        let path = "crates/core/src/commands/request.rs";
        for line in [
            r#"    Error::invalid("processId", "it is taken")"#,
            r#"    Error::invalid("id", "disableTimeout excludes it")"#,
            r#"const EXEC: &str = "command/exec";"#,
            r#"    tool: "tab.open".to_owned(),"#,
            r#"    title: "Vibe Tool Started".to_owned(),"#,
            r#"    matches!(word, "ask" | "default")"#,
            r#"    Error::failed("Roder asks twice")"#,
        ] {
            assert_eq!(check(path, line).len(), 1, "{line}");
            assert_eq!(check("crates/dialects/roder/src/lib.rs", line).len(), 0, "{line}");
            assert_eq!(check("crates/core/src/commands/tests.rs", line).len(), 0, "{line}");
        }
        for line in [
            r#"    Error::invalid("process_id", "process_id is taken")"#,
            r#"    // What Roder calls "processId"."#,
            r#"    dir.join("models.json")"#,
            r#"    text.push_str("\nKeep in particular: ");"#,
            r#"    Error::failed("it failed. Try again")"#,
            r#"    "/proc/self/exe""#,
            r#"    Error::failed("ask again later")"#,
        ] {
            assert_eq!(check(path, line), [], "{line}");
        }
    }

    #[test]
    fn methods_are_called_by_their_types() {
        let line = r#"    self.call(Ask::Quiet, "rookery/queue/resolve", params);"#;
        for path in ["crates/face/src/pages/inbox.rs", "crates/window/src/lib.rs"] {
            assert_eq!(check(path, line).len(), 1, "{path}");
        }
        for path in [CALLS, "crates/face/src/app/tests.rs", "crates/view/src/link/method.rs"] {
            assert_eq!(check(path, line), [], "{path}");
        }
        let socket = r#"    dir.join("rookery/rookery.sock")"#;
        assert_eq!(check("crates/cli/src/personas/roostctl/wait.rs", socket), []);
    }

    #[test]
    fn serde_is_for_the_link_alone() {
        let line = "use serde::{Deserialize, Serialize};";
        assert_eq!(check("crates/view/src/keys/mod.rs", line).len(), 1);
        assert_eq!(check("crates/view/src/link/open.rs", line), []);
        assert_eq!(check("crates/view/src/palette/row.rs", "use serde_json::Value;"), []);
    }
}
