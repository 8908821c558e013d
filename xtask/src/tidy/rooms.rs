//! The arrows between the rooms of core: `[rooms]` of `xtask/edges.toml` against what the sources name.
//!
//! A room is a directory or a file of `crates/core/src`. It reaches another by a path (`crate::queue::…`), by
//! the other's handle (`core.queue()`, in `impl Core` also `self.queue()`) or by what the other owns
//! (`inner.queue`). Tests may reach everything.

use std::collections::{BTreeMap, BTreeSet};

use super::{EDGES_FILE, Finding};

/// Where the rooms are.
const ROOT: &str = "crates/core/src/";
/// What only the world itself may name: with these it could be written past `transact`.
const WRITING: &[&str] = &["&mut World", "World::clone", "Held<"];
/// Where they are allowed, and where the world is put together.
const WORLD: &str = "crates/core/src/world/";

/// The row of what every room may reach.
const ALL: &str = "*";

/// For every room the rooms that it may reach.
pub(super) type Rooms = BTreeMap<String, BTreeSet<String>>;

/// Who reaches whom, and where that is seen first.
type Arrows = BTreeMap<(String, String), (String, usize)>;

/// Compares the rows with the sources of core.
pub(super) fn check<'a>(
    rooms: &Rooms,
    sources: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (mut arrows, mut found) = (Arrows::new(), BTreeSet::new());
    for (path, text) in sources {
        let Some(room) = room_of(path) else { continue };
        found.insert(room.to_owned());
        let mut in_core = false;
        for (number, line) in code(path, text) {
            if line.starts_with("impl") {
                in_core = line == "impl Core {";
            }
            for other in reached(rooms, line, in_core).filter(|other| *other != room) {
                let arrow = (room.to_owned(), other.to_owned());
                arrows.entry(arrow).or_insert_with(|| (path.to_owned(), number));
            }
            findings.extend(written(path, number, line));
        }
    }
    findings.extend(compare(rooms, &found, &arrows));
    findings
}

fn compare(rooms: &Rooms, found: &BTreeSet<String>, arrows: &Arrows) -> Vec<Finding> {
    let row = |from: &str, to: &str| rooms.get(from).is_some_and(|allowed| allowed.contains(to));
    let forbidden = arrows.iter().filter(|((from, to), _)| !row(from, to) && !row(ALL, to));
    let forbidden = forbidden.map(|((from, to), (path, line))| {
        let message = format!("{from} reaches {to}, which {EDGES_FILE} does not allow");
        Finding::error(path, *line, message)
    });
    let in_edges = |message: String| Finding::error(EDGES_FILE, None, message);
    let without = found.iter().filter(|room| !rooms.contains_key(*room));
    let without = without.map(|room| in_edges(format!("room {room} has no row")));
    let rows = rooms.iter().filter(|(room, _)| *room != ALL);
    let gone = rows.clone().filter(|(room, _)| !found.contains(*room));
    let gone = gone.map(|(room, _)| in_edges(format!("room {room} has a row but does not exist")));
    let listed = rows.flat_map(|(from, to)| to.iter().map(move |to| (from.clone(), to.clone())));
    let unused = listed.filter(|arrow| !arrows.contains_key(arrow));
    let unused = unused
        .map(|(from, to)| in_edges(format!("room {from} does not reach {to}: drop the arrow")));
    forbidden.chain(without).chain(gone).chain(unused).collect()
}

fn written(path: &str, number: usize, line: &str) -> Option<Finding> {
    let word = WRITING.iter().find(|word| line.contains(**word))?;
    let message = format!("`{word}` outside of world: the world changes in `transact` alone");
    (!path.starts_with(WORLD)).then(|| Finding::error(path, number, message))
}

fn room_of(path: &str) -> Option<&str> {
    let inside = path.strip_prefix(ROOT)?.strip_suffix(".rs")?;
    let room = inside.split('/').next()?;
    (room != "lib").then_some(room)
}

/// The lines of a file that are neither comments nor tests.
fn code<'a>(path: &str, text: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let is_test =
        path.ends_with("/tests.rs") || path.contains("/tests/") || path.ends_with("/attack.rs");
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim_start()));
    let lines = lines.take_while(move |(_, line)| !is_test && *line != "mod tests {");
    lines.filter(|(_, line)| !line.starts_with("//"))
}

/// How a room is named, and the further way of methods of `Core` itself.
const WAYS: [&str; 5] =
    ["crate::ROOM::", "crate::ROOM;", "core.ROOM()", "inner.ROOM.", "self.ROOM()"];

/// The rooms that a line names; `in_core` says that it is one of `impl Core`.
fn reached<'a>(rooms: &'a Rooms, line: &'a str, in_core: bool) -> impl Iterator<Item = &'a str> {
    let names = rooms.keys().map(String::as_str).filter(|room| *room != ALL);
    let ways = if in_core { &WAYS[..] } else { &WAYS[..4] };
    names.filter(move |room| {
        ways.iter().any(|way| names_whole(line, &way.replace("ROOM", room)))
            || in_group(line, room)
            || line.strip_prefix('.').and_then(|line| line.strip_suffix("()")) == Some(*room)
    })
}

/// Whether a text occurs, and not as the end of a longer name.
fn names_whole(line: &str, text: &str) -> bool {
    line.match_indices(text)
        .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

/// Whether a room is in `use crate::{…}`.
fn in_group(line: &str, room: &str) -> bool {
    let Some(group) = line.strip_prefix("use crate::{") else { return false };
    let names = group.trim_end_matches("};").split(',');
    names.map(str::trim).any(|name| name == room || name.starts_with(&format!("{room}::")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: &str = "crates/core/src/queue/mod.rs";
    const WORLD_FILE: &str = "crates/core/src/world/mod.rs";

    fn said(rows: &str, sources: &[(&str, &str)]) -> Vec<String> {
        let rooms: Rooms = toml::from_str(rows).unwrap();
        check(&rooms, sources.iter().copied()).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn listed_arrows_pass() {
        let rows = "queue = [\"world\"]\nworld = []";
        let sources = [(QUEUE, "use crate::world::Tx;\n"), (WORLD_FILE, "struct World;\n")];
        assert_eq!(said(rows, &sources), [""; 0]);
    }

    #[test]
    fn a_new_arrow_fails_however_it_is_drawn() {
        let rows = "queue = []\nworld = []";
        for line in [
            "use crate::world::Tx;",
            "use crate::{clock, world};",
            "    self.core.world().open();",
            "    core.inner.world.lock();",
            "        .world()",
        ] {
            let expected =
                format!("error: {QUEUE}:1: queue reaches world, which {EDGES_FILE} does not allow");
            assert_eq!(said(rows, &[(QUEUE, line), (WORLD_FILE, "")]), [expected], "{line}");
        }
        for line in [
            "// crate::world::Tx",
            "use crate::worldly::Tx;",
            "    score.world();",
            "    self.world();",
            "impl Core {\n}\nimpl Queue {\n    self.world();",
        ] {
            assert_eq!(said(rows, &[(QUEUE, line), (WORLD_FILE, "")]), [""; 0], "{line}");
        }
    }

    #[test]
    fn methods_of_core_reach_by_themselves() {
        let text = "impl Core {\n    fn a(&self) {\n        self.world().open();\n    }\n}\n";
        let expected =
            format!("error: {QUEUE}:3: queue reaches world, which {EDGES_FILE} does not allow");
        let sources = [(QUEUE, text), (WORLD_FILE, "")];
        assert_eq!(said("queue = []\nworld = []", &sources), [expected]);
    }

    #[test]
    fn foundations_are_for_all() {
        let rows = "queue = []\nworld = []\n\"*\" = [\"world\"]";
        assert_eq!(said(rows, &[(QUEUE, "use crate::world::Tx;"), (WORLD_FILE, "")]), [""; 0]);
    }

    #[test]
    fn tests_may_reach_everything() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    use crate::world::Tx;\n}\n";
        let sources = [
            (QUEUE, text),
            (WORLD_FILE, ""),
            ("crates/core/src/queue/tests.rs", "crate::world::Tx"),
        ];
        assert_eq!(said("queue = []\nworld = []", &sources), [""; 0]);
    }

    #[test]
    fn an_arrow_that_is_not_used_fails() {
        let expected =
            format!("error: {EDGES_FILE}: room queue does not reach world: drop the arrow");
        assert_eq!(
            said("queue = [\"world\"]\nworld = []", &[(QUEUE, ""), (WORLD_FILE, "")]),
            [expected]
        );
    }

    #[test]
    fn rooms_and_rows_belong_together() {
        let expected = [
            format!("error: {EDGES_FILE}: room queue has no row"),
            format!("error: {EDGES_FILE}: room log has a row but does not exist"),
        ];
        assert_eq!(said("log = []", &[(QUEUE, "")]), expected);
    }

    #[test]
    fn the_world_is_written_in_its_own_room_alone() {
        let rows = "queue = []\nworld = []";
        let line = "fn change(world: &mut World) {}";
        let message = "`&mut World` outside of world: the world changes in `transact` alone";
        let sources = [(QUEUE, line), (WORLD_FILE, line)];
        assert_eq!(said(rows, &sources), [format!("error: {QUEUE}:1: {message}")]);
    }
}
