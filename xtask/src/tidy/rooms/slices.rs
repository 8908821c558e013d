//! Whose a part of the world is: `[slices]` of `xtask/edges.toml` against the fields of `World`.
//!
//! A room that names a field of another's (`world.threads`, `tx.world.threads`) reaches that room, and so does
//! one that calls a method which the other adds to `World` or `Tx` (`tx.announce_status(…)`). The world itself
//! puts all fields together; the methods of its own room are for all.

use std::collections::{BTreeMap, BTreeSet};

use super::{EDGES_FILE, Finding, Line, Slices};

/// The room of the world.
const ROOM: &str = "world";
/// Where a field of the world is declared.
const FIELDS: &str = "crates/core/src/world/mod.rs";
/// How the methods are declared that rooms add to the world, and to transactions.
const ADDED: [&str; 3] = ["impl World {", "impl Tx<'_> {", "impl<'a> Tx<'a> {"];
/// By what a line names the world, or a transaction.
const WORLD: [&str; 6] = ["world.", "tx.", "held.", "before.", "look().", "hold()."];

/// Who owns what of the world.
pub(super) struct Owners<'a> {
    slices: &'a Slices,
    fields: BTreeMap<&'a str, usize>,
    /// The methods that rooms add, each with its rooms: more than one only if two types have it.
    methods: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// All other functions.
    others: BTreeSet<&'a str>,
}

impl<'a> Owners<'a> {
    pub(super) fn new(slices: &'a Slices, lines: &[Line<'a>]) -> Self {
        let (mut methods, mut others) = (BTreeMap::<_, BTreeSet<_>>::new(), BTreeSet::new());
        for line in lines {
            let Some(name) = declared(line.text) else { continue };
            match line.block {
                Some(block) if ADDED.contains(&block) => {
                    methods.entry(name).or_default().insert(line.room);
                }
                _ => drop(others.insert(name)),
            }
        }
        Owners { slices, fields: fields(lines), methods, others }
    }

    /// The rooms that a line reaches through the world.
    pub(super) fn reached(&self, line: &Line<'a>) -> Vec<&str> {
        let text = line.joined();
        let is_world = line.block == Some(ADDED[0]);
        let is_either = line.block.is_some_and(|block| ADDED.contains(&block));
        let own = is_either.then_some("self.");
        let words = WORLD.iter().copied().chain(own);
        let named = words.flat_map(|word| named(&text, word).map(move |name| (word, name)));
        let owner = |(word, name): (&str, &str)| {
            // In a transaction, its own fields are not the world's.
            let field = (word != "self." || is_world).then(|| self.slices.get(name)).flatten();
            let field = field.filter(|_| line.room != ROOM).map(String::as_str);
            field.or_else(|| match self.methods.get(name)?.iter().next() {
                Some(room) if *room != ROOM => Some(*room),
                _ => None,
            })
        };
        named.filter_map(owner).collect()
    }

    /// What is wrong with the rows, and with the names of methods.
    pub(super) fn findings(&self, rooms: &BTreeSet<String>) -> Vec<Finding> {
        let without = self.fields.iter().filter(|(field, _)| !self.slices.contains_key(**field));
        let without = without.map(|(field, number)| {
            let message =
                format!("no room owns {field}: it has no row in [slices] of {EDGES_FILE}");
            Finding::error(FIELDS, *number, message)
        });
        let strange = self.slices.iter().filter(|(field, room)| {
            let exists = self.fields.contains_key(field.as_str())
                || self.methods.contains_key(field.as_str())
                || self.others.contains(field.as_str());
            !exists || !rooms.contains(room.as_str())
        });
        let strange = strange.map(|(field, room)| {
            let message = format!("[slices]: there is no {field} of the world, or no room {room}");
            Finding::error(EDGES_FILE, None, message)
        });
        let twice = self.methods.iter().filter(|(_, rooms)| rooms.len() > 1);
        let twice = twice.map(|(name, rooms)| {
            let rooms: Vec<_> = rooms.iter().copied().collect();
            let message = format!("{} each add a method {name} to the world", rooms.join(" and "));
            Finding::error(EDGES_FILE, None, message)
        });
        without.chain(strange).chain(twice).collect()
    }
}

/// What follows a word in a line: `viewers` in `world.viewers.len()`.
fn named<'a>(line: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(word).filter_map(move |(at, _)| {
        let after = &line[at + word.len()..];
        let end = after.find(|next: char| !is_name(next)).unwrap_or(after.len());
        (!line[..at].ends_with(is_name)).then(|| &after[..end])
    })
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// The function that a line declares, if it does.
fn declared(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_function = before.split_whitespace().all(|word| {
        matches!(word, "async" | "const" | "unsafe" | "pub") || word.starts_with("pub(")
    });
    let end = after.find(|next: char| !is_name(next)).unwrap_or(after.len());
    (is_function && end > 0).then(|| &after[..end])
}

/// The fields of the world, and where they are declared.
fn fields<'a>(lines: &[Line<'a>]) -> BTreeMap<&'a str, usize> {
    let world = lines.iter().filter(|line| line.path == FIELDS);
    let fields = world
        .skip_while(|line| line.text != "pub(crate) struct World {")
        .skip(1)
        .take_while(|line| line.text != "}");
    let fields = fields.filter_map(|line| {
        let (name, _) = line.text.trim_start_matches("pub(crate) ").split_once(':')?;
        name.chars().all(is_name).then_some((name, line.number))
    });
    fields.collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Rooms, check};
    use super::*;

    const QUEUE: &str = "crates/core/src/queue/mod.rs";
    const SEATS: &str = "crates/core/src/seats/mod.rs";
    const WORLD_TEXT: &str = "pub(crate) struct World {\n    pub(crate) viewers: u64,\n}\n";
    const ROWS: &str = "queue = []\nseats = []\nworld = []";

    fn said(rows: &str, slices: &str, sources: &[(&str, &str)]) -> Vec<String> {
        let rooms: Rooms = toml::from_str(rows).unwrap();
        let slices: Slices = toml::from_str(slices).unwrap();
        let world = (FIELDS, WORLD_TEXT);
        let sources = sources.iter().copied().chain([world]);
        check(&rooms, &slices, sources).iter().map(Finding::to_string).collect()
    }

    fn forbidden(line: usize) -> String {
        format!("error: {QUEUE}:{line}: queue reaches seats, which {EDGES_FILE} does not allow")
    }

    #[test]
    fn a_table_of_the_world_belongs_to_a_room() {
        let seats = (SEATS, "fn a(world: &World) { world.viewers.len() }");
        for line in [
            "    tx.world.viewers.insert(1);",
            "    let viewers = &core.look().viewers;",
            "    self.core.hold().viewers",
            "    if world.viewers == before.viewers {",
        ] {
            let sources = [(QUEUE, line), seats];
            assert_eq!(said(ROWS, "viewers = \"seats\"", &sources), [forbidden(1)], "{line}");
        }
        let own = "impl World {\n    fn a(&self) -> u64 {\n        self.viewers\n    }\n}\n";
        let sources = [(QUEUE, own), seats];
        assert_eq!(said(ROWS, "viewers = \"seats\"", &sources), [forbidden(3)]);
        for line in [
            "    world.viewers_of(1);",
            "    underworld.viewers",
            "    self.viewers",
            "    // tx.world.viewers",
            "impl World {\n}\nimpl Queue {\n    self.viewers",
        ] {
            let sources = [(QUEUE, line), seats];
            assert_eq!(said(ROWS, "viewers = \"seats\"", &sources), [""; 0], "{line}");
        }
        let chain = "    let all = world\n        .viewers\n        .values();\n";
        let sources = [(QUEUE, chain), seats];
        assert_eq!(said(ROWS, "viewers = \"seats\"", &sources), [forbidden(2)]);
        let drawn = "queue = [\"seats\"]\nseats = []\nworld = []";
        let sources = [(QUEUE, "    world.viewers;"), seats];
        assert_eq!(said(drawn, "viewers = \"seats\"", &sources), [""; 0]);
    }

    #[test]
    fn a_method_of_a_transaction_is_its_rooms() {
        let seats = "impl Tx<'_> {\n    pub(crate) fn raise(&mut self) {}\n}\nimpl World {\n    \
                     pub(crate) fn is_seen(&self) -> bool { true }\n}\n";
        for line in [
            "    tx.raise();",
            "    if tx.world.is_seen() {",
            "    core.look().is_seen()",
            "    core.look().is_seen() && true",
        ] {
            let sources = [(QUEUE, line), (SEATS, seats)];
            assert_eq!(said(ROWS, "viewers = \"seats\"", &sources), [forbidden(1)], "{line}");
        }
        let own = "impl Tx<'_> {\n    fn a(&mut self) {\n        self.raise();\n    }\n}\n";
        let sources = [(QUEUE, own), (SEATS, seats)];
        assert_eq!(said(ROWS, "viewers = \"seats\"", &sources), [forbidden(3)]);
        for line in
            ["    flag.raise();", "    self.raise();", "    tx.raise_all();", "    .raise()"]
        {
            let sources = [(QUEUE, line), (SEATS, seats)];
            assert_eq!(said(ROWS, "viewers = \"seats\"", &sources), [""; 0], "{line}");
        }
        let chain = "    core\n        .look()\n        .is_seen()\n";
        let sources = [(QUEUE, chain), (SEATS, seats)];
        assert_eq!(said(ROWS, "viewers = \"seats\"", &sources), [forbidden(3)]);
    }

    #[test]
    fn every_table_has_one_owner_that_exists() {
        let sources = [(QUEUE, ""), (SEATS, "")];
        let expected = format!(
            "error: {FIELDS}:2: no room owns viewers: it has no row in [slices] of {EDGES_FILE}"
        );
        assert_eq!(said(ROWS, "", &sources), [expected]);
        let expected = |field, room| {
            format!(
                "error: {EDGES_FILE}: [slices]: there is no {field} of the world, or no room {room}"
            )
        };
        let rows = "viewers = \"seats\"\ndesk = \"seats\"";
        assert_eq!(said(ROWS, rows, &sources), [expected("desk", "seats")]);
        assert_eq!(said(ROWS, "viewers = \"sofa\"", &sources), [expected("viewers", "sofa")]);
    }

    #[test]
    fn two_rooms_do_not_share_the_name_of_a_method() {
        let queue = "impl Tx<'_> {\n    fn settle(&mut self) {}\n}\n";
        let seats = "impl World {\n    fn settle(&self) {}\n}\n";
        let expected =
            format!("error: {EDGES_FILE}: queue and seats each add a method settle to the world");
        let sources = [(QUEUE, queue), (SEATS, seats)];
        assert_eq!(said(ROWS, "viewers = \"seats\"", &sources), [expected]);
    }
}
