//! The arrows between the rooms of core: `[rooms]` of `xtask/edges.toml` against what the sources name.
//!
//! A room is a directory or a file of `crates/core/src`. It reaches another by a path (`crate::queue::…`), by
//! the other's handle (`core.queue()`, in `impl Core` also `self.queue()`), by what the other owns
//! (`inner.queue`), by its part of the world (`world.queue`) or by a method that it adds to the world
//! (`tx.observe_work(…)`); the last two are [`slices`]. Tests may reach everything.

mod slices;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use self::slices::Owners;
use super::{EDGES_FILE, Finding};

/// Where the rooms are.
const ROOT: &str = "crates/core/src/";
/// What only the world itself may name, and why: with these it or the store could be written past `transact`.
const WRITING: &[(&str, &str)] = &[
    ("&mut World", CHANGES),
    ("World::clone", CHANGES),
    ("Held<", CHANGES),
    ("store.commit", STORES),
    ("store.keep(", STORES),
];
const CHANGES: &str = "the world changes in `transact` alone";
const STORES: &str = "the store is written by `transact` and by what `world/promise.rs` offers";
/// Where they are allowed, and where the world is put together.
const WORLD: &str = "crates/core/src/world/";

/// The row of what every room may reach.
const ALL: &str = "*";

/// For every room the rooms that it may reach.
pub(super) type Rooms = BTreeMap<String, BTreeSet<String>>;

/// For every part of the world the room that owns it.
pub(super) type Slices = BTreeMap<String, String>;

/// Who reaches whom, and where that is seen first.
type Arrows = BTreeMap<(String, String), (String, usize)>;

/// A line of code, and where it stands.
#[derive(Clone, Copy)]
struct Line<'a> {
    room: &'a str,
    path: &'a str,
    /// Counted from one.
    number: usize,
    text: &'a str,
    /// The line before it: a chain of calls may go on from there.
    before: &'a str,
    /// The first line of the `impl` that it is in, if any.
    block: Option<&'a str>,
}

impl<'a> Line<'a> {
    /// The line, with the one before it if it goes on from there.
    fn joined(&self) -> Cow<'a, str> {
        match self.text.starts_with('.') {
            true => Cow::Owned(format!("{}{}", self.before, self.text)),
            false => Cow::Borrowed(self.text),
        }
    }
}

/// Compares the rows with the sources of core.
pub(super) fn check<'a>(
    rooms: &Rooms,
    slices: &Slices,
    sources: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<Finding> {
    let sources = sources.filter_map(|(path, text)| Some((room_of(path)?, path, text)));
    let sources: Vec<_> = sources.collect();
    let found: BTreeSet<_> = sources.iter().map(|(room, ..)| (*room).to_owned()).collect();
    let lines = sources.iter().flat_map(|(room, path, text)| code(room, path, text));
    let lines: Vec<_> = lines.collect();
    let owners = Owners::new(slices, &lines);
    let mut arrows = Arrows::new();
    for line in &lines {
        let others = reached(rooms, line).chain(owners.reached(line));
        for other in others.filter(|other| *other != line.room) {
            let arrow = (line.room.to_owned(), other.to_owned());
            arrows.entry(arrow).or_insert_with(|| (line.path.to_owned(), line.number));
        }
    }
    let mut findings: Vec<_> = lines.iter().filter_map(written).collect();
    findings.extend(owners.findings(&found));
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

fn written(line: &Line<'_>) -> Option<Finding> {
    let text = line.joined();
    let (word, why) = WRITING.iter().find(|(word, _)| text.contains(word))?;
    let message = format!("`{word}` outside of world: {why}");
    (!line.path.starts_with(WORLD)).then(|| Finding::error(line.path, line.number, message))
}

fn room_of(path: &str) -> Option<&str> {
    let inside = path.strip_prefix(ROOT)?.strip_suffix(".rs")?;
    let room = inside.split('/').next()?;
    (room != "lib").then_some(room)
}

/// The lines of a file that are neither comments nor tests.
fn code<'a>(room: &'a str, path: &'a str, text: &'a str) -> impl Iterator<Item = Line<'a>> {
    let is_test =
        path.ends_with("/tests.rs") || path.contains("/tests/") || path.ends_with("/attack.rs");
    let (mut block, mut last) = (None, "");
    let lines = text.lines().enumerate().map(move |(at, line)| {
        match line.starts_with("impl") {
            true => block = Some(line),
            false if line.starts_with('}') => block = None,
            false => {}
        }
        let text = line.trim();
        let before = std::mem::replace(&mut last, text);
        Line { room, path, number: at + 1, text, before, block }
    });
    let lines = lines.take_while(move |line| !is_test && line.text != "mod tests {");
    lines.filter(|line| !line.text.starts_with("//"))
}

/// How a room is named, and the further way of methods of `Core` itself.
const WAYS: [&str; 5] =
    ["crate::ROOM::", "crate::ROOM;", "core.ROOM()", "inner.ROOM.", "self.ROOM()"];

/// The rooms that a line names.
fn reached<'a>(rooms: &'a Rooms, line: &Line<'a>) -> impl Iterator<Item = &'a str> {
    let (line, in_core) = (line.text, line.block == Some("impl Core {"));
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
        check(&rooms, &Slices::new(), sources.iter().copied())
            .iter()
            .map(Finding::to_string)
            .collect()
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

    #[test]
    fn the_store_is_written_by_the_world_alone() {
        let rows = "queue = []\nworld = []";
        for (line, word, at) in [
            ("self.core.inner.store.commit(batch).await", "store.commit", 1),
            ("inner.store.commit_or_forget(vec![change])", "store.commit", 1),
            ("self.core.inner.store\n    .commit_then(batch, after)", "store.commit", 2),
            ("store.keep(what, None)", "store.keep(", 1),
        ] {
            let why = "the store is written by `transact` and by what `world/promise.rs` offers";
            let expected = format!("error: {QUEUE}:{at}: `{word}` outside of world: {why}");
            let promise = ("crates/core/src/world/promise.rs", line);
            assert_eq!(said(rows, &[(QUEUE, line), promise]), [expected], "{line}");
        }
        let read = "let kept = self.core.inner.store.kept(&what);";
        assert_eq!(said(rows, &[(QUEUE, read), (WORLD_FILE, "")]), [""; 0]);
    }
}
