//! Which rooms may touch what is outside: the environment, files, and other programs.
//! The lists are data, in `xtask/tidy.toml`.

use serde::Deserialize;

use super::{Finding, rust};

/// One thing outside, and who may touch it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Access {
    /// What it is.
    what: String,
    /// What a line that touches it contains; parts with ` & ` between them stand on the same line.
    texts: Vec<String>,
    /// Files and folders that may, each with its reason in the list.
    rooms: Vec<String>,
}

/// Finds lines of the product that touch what their room may not, tests and comments excepted.
pub(super) fn check(all: &[Access], path: &str, text: &str) -> Vec<Finding> {
    if !path.starts_with("crates/") || rust::is_test_file(path) || is_support(path) {
        return Vec::new();
    }
    let barred = all.iter().filter(|one| !one.rooms.iter().any(|room| path.starts_with(room)));
    let barred: Vec<&Access> = barred.collect();
    let lines = text.lines().take(rust::lines_before_tests(text)).enumerate();
    let code = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
    let found = code.flat_map(|(at, line)| {
        let touched = barred.iter().filter(move |one| one.texts.iter().any(|text| has(line, text)));
        touched.map(move |one| {
            let message = format!(
                "touches {}: only the rooms that xtask/tidy.toml lists may; take it as an argument",
                one.what
            );
            Finding::error(path, at + 1, message)
        })
    });
    found.collect()
}

/// Rooms of the lists in which no file is.
pub(super) fn check_rooms<'a>(
    all: &[Access],
    list: &str,
    files: impl Iterator<Item = &'a String> + Clone,
) -> Vec<Finding> {
    let rooms = all.iter().flat_map(|one| one.rooms.iter());
    let empty = rooms.filter(|room| !files.clone().any(|file| file.starts_with(room.as_str())));
    empty.map(|room| Finding::error(list, None, format!("there is no {room}"))).collect()
}

/// Support for tests, and programs that only a build runs.
fn is_support(path: &str) -> bool {
    let is_part = |part: &str| path.contains(&format!("/{part}/"));
    path.starts_with("crates/testkit/")
        || path.ends_with("/build.rs")
        || is_part("examples")
        || ["attack.rs", "testing.rs", "test_world.rs"].iter().any(|name| path.ends_with(name))
}

fn has(line: &str, text: &str) -> bool {
    text.split(" & ").all(|part| line.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Access {
        Access {
            what: "files".into(),
            texts: vec!["std::fs".into(), "process:: & Command".into()],
            rooms: vec!["crates/host/".into(), "crates/core/src/raw_log.rs".into()],
        }
    }

    #[test]
    fn only_rooms_of_the_list_touch_what_is_outside() {
        let count = |path: &str, text: &str| check(&[files()], path, text).len();
        let line = "use std::fs::File;\n";
        assert_eq!(count("crates/core/src/world/mod.rs", line), 1);
        assert_eq!(count("crates/core/src/world/mod.rs", "use std::process::{Child, Command};"), 1);
        assert_eq!(count("crates/core/src/world/mod.rs", "use std::process::ExitCode;"), 0);
        for path in [
            "crates/host/src/files.rs",
            "crates/core/src/raw_log.rs",
            "crates/core/src/world/tests.rs",
            "crates/testkit/src/daemon.rs",
            "crates/plugins/build.rs",
            "xtask/src/main.rs",
        ] {
            assert_eq!(count(path, line), 0, "{path}");
        }
        assert_eq!(count("crates/a/src/b.rs", "// use std::fs;\n"), 0);
        let tests = "fn a() {}\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        assert_eq!(count("crates/a/src/b.rs", tests), 0);
    }

    #[test]
    fn a_room_that_is_gone_leaves_the_list() {
        let there = ["crates/host/src/files.rs".to_owned()];
        let found = check_rooms(&[files()], "list", there.iter());
        assert_eq!(found, [Finding::error("list", None, "there is no crates/core/src/raw_log.rs")]);
    }
}
