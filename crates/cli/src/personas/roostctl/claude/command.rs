//! The command of a hook: how it is written, and how it is found again.

use std::path::{Path, PathBuf};

use crate::{daemon_process, failure::Outcome, personas::roostctl::NAME};

/// A word as a shell reads it back.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The command that reports an event: the words of a program, then ours.
pub(crate) fn hook_command(program: &[String], event: &str) -> String {
    let words = program.iter().map(String::as_str).chain(["claude-hook", event]);
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

/// A command of a hook that reports to a Roost server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Called {
    pub(crate) program: PathBuf,
    /// Whether it is called as `rookery roostctl`, rather than under another name.
    pub(crate) is_rookery: bool,
    /// What it reports.
    pub(crate) event: String,
}

/// Reads a command back, if it is one that reports an event.
pub(crate) fn read_hook_command(command: &str) -> Option<Called> {
    let words = split(command)?;
    let (program, rest) = words.split_first()?;
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let (is_rookery, event) = match rest[..] {
        [name, "claude-hook", event] if name == NAME => (true, event),
        ["claude-hook", event] => (false, event),
        _ => return None,
    };
    Some(Called { program: program.into(), is_rookery, event: event.to_owned() })
}

/// The words of a simple command; none if it needs more than quotes.
fn split(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        end if end == c => break,
                        '\\' | '$' | '`' if c == '"' => return None,
                        other => word.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            '$' | '`' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | '*' | '?' => return None,
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

/// The words by which this program is called as roostctl from anywhere: the link it was called
/// by, else its own path and the name.
pub(in crate::personas::roostctl) fn own_program() -> Outcome<Vec<String>> {
    let exe = daemon_process::executable()?;
    let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let is_ours = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name == NAME)
            && path.canonicalize().is_ok_and(|path| path == exe)
    };
    let text = |path: &Path| path.to_string_lossy().into_owned();
    Ok(match found(&called).filter(is_ours) {
        Some(link) => vec![text(&link)],
        None if exe.file_name().is_some_and(|name| name == NAME) => vec![text(&exe)],
        None => vec![text(&exe), NAME.to_owned()],
    })
}

/// Where a program of this name is, as a shell would find it.
fn found(called: &Path) -> Option<PathBuf> {
    if called.components().count() > 1 {
        return std::path::absolute(called).ok();
    }
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).filter(|dir| dir.is_absolute());
    places.find_map(|dir| Some(dir.join(called)).filter(|path| path.is_file()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(command: &str) -> Option<(String, bool, String)> {
        let called = read_hook_command(command)?;
        Some((called.program.to_str().unwrap().to_owned(), called.is_rookery, called.event))
    }

    #[test]
    fn commands_of_both_shapes_are_read() {
        let found = |path: &str, is_rookery| Some((path.to_owned(), is_rookery, "Stop".to_owned()));
        assert_eq!(read("/b/rookery roostctl claude-hook Stop"), found("/b/rookery", true));
        assert_eq!(read("/b/roostctl  claude-hook Stop "), found("/b/roostctl", false));
        assert_eq!(read("'/a b/it'\\''s' claude-hook Stop"), found("/a b/it's", false));
        assert_eq!(read("\"/a b/r\" claude-hook Stop"), found("/a b/r", false));
        for other in [
            "",
            "claude-hook Stop",
            "/b/roostctl claude-hook",
            "/b/roostctl claude-hook Stop more",
            "/b/roostctl claude-hook Stop; rm x",
            "/b/roostctl claude-hook $X",
            "'/b/roostctl claude-hook Stop",
            "echo claude-hook",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(program in "\\PC{1,20}", as_rookery: bool) {
            let mut words = vec![program.clone()];
            words.extend(as_rookery.then(|| NAME.to_owned()));
            let command = hook_command(&words, "Stop");
            prop_assert_eq!(read(&command), Some((program, as_rookery, "Stop".to_owned())));
        }

        #[test]
        fn no_command_makes_it_panic(command in "\\PC*") {
            read_hook_command(&command);
        }
    }
}
