//! Every page of a store is damaged in turn: it costs what was on that page, and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rookery_store::{Batch, Store};
use rusqlite::Connection;

use crate::common::*;
use crate::talk;

const TABLES: &[&str] = &[
    "projects",
    "terminals",
    "events",
    "threads",
    "turns",
    "items",
    "requests",
    "decisions",
    "records",
    "tasks",
];

/// A store with trees of several levels, rows in free pages, and rows larger than a page.
fn grown(dir: &Path) {
    let (store, loaded) = Store::open(dir).unwrap();
    let mut next = loaded.next_event;
    let mut wanted = vec![put_project(1, 0), put_project(2, 1)];
    wanted.extend((1..=40).map(|id| put_terminal(id, 1 + id % 2, 0)));
    // Numbers whose turns differ.
    for number in (101..=130).filter(|number| number % 10 != 0) {
        wanted.extend(talk::conversation(number));
        let (turn, first) = (11 * number, 4);
        wanted.extend((first..first + 8).map(|place| talk::put_item(number, turn, place)));
    }
    wanted.extend((1..=12).flat_map(crate::tasks::put));
    store.commit(changes(wanted)).wait_blocking().unwrap();
    ring(&store, &mut next, 600);
    let gone =
        (125..=129).map(|number| rookery_store::Change::ThreadDeleted(talk::thread_id(number)));
    store.commit(changes(gone.collect())).wait_blocking().unwrap();
    store.commit(Batch::default()).wait_blocking().unwrap();
    store.close().unwrap();
}

fn counts(connection: &Connection) -> BTreeMap<&'static str, i64> {
    let count = |table: &str| {
        connection
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
            .unwrap()
    };
    TABLES.iter().map(|table| (*table, count(table))).collect()
}

/// What lies on each page: the tree, how many rows, and what kind of page it is.
fn layout(connection: &Connection) -> BTreeMap<u32, (String, i64, String)> {
    let mut statement =
        connection.prepare("SELECT pageno, name, ncell, pagetype FROM dbstat").unwrap();
    let rows =
        statement.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?))));
    rows.unwrap().map(Result::unwrap).collect()
}

fn damage_each_page(scribble: impl Fn(&mut [u8])) {
    let dir = scratch();
    grown(dir.path());
    let database = dir.path().join("rookery.db");
    let connection = Connection::open(&database).unwrap();
    let (before, layout) = (counts(&connection), layout(&connection));
    drop(connection);
    let whole = fs::read(&database).unwrap();
    let sidecar = fs::read(dir.path().join("reserved")).unwrap();
    assert!(whole.len() / 4_096 > 60, "{} bytes", whole.len());
    for page in 1..=(whole.len() / 4_096) as u32 {
        let dir = scratch();
        let mut bad = whole.clone();
        let start = (page as usize - 1) * 4_096;
        scribble(&mut bad[start..start + 4_096]);
        fs::write(dir.path().join("rookery.db"), &bad).unwrap();
        fs::write(dir.path().join("reserved"), &sidecar).unwrap();
        let (store, loaded) = Store::open(dir.path()).unwrap();
        store.close().unwrap();
        let after = counts(&Connection::open(dir.path().join("rookery.db")).unwrap());
        let (name, cells, kind) = layout.get(&page).cloned().unwrap_or_default();
        // Where the page that lists free pages is gone, what was deleted may come back.
        let what = format!("page {page}: {kind} of {name:?} with {cells} rows");
        for table in TABLES {
            let lost = before[table] - after[table];
            // A page of overflow holds a part of one row.
            let allowed = match (name == *table, kind.as_str()) {
                (true, "overflow") => 1,
                (true, _) => cells,
                (false, _) => 0,
            };
            assert!(lost <= allowed, "{what}: {lost} rows of {table} are lost");
        }
        if let Some(damage) = loaded.damage {
            let moved_to = damage.moved_to.expect("the whole file is kept");
            assert_eq!(fs::read(moved_to).unwrap(), bad, "{what}");
            assert!(damage.salvage.unwrap().rows > 500, "{what}");
        }
    }
}

#[test]
fn a_page_of_zeros_costs_what_was_on_it() {
    damage_each_page(|page| page.fill(0));
}

#[test]
fn a_scribbled_page_costs_what_was_on_it() {
    damage_each_page(|page| page.fill(0xa5));
}

#[test]
fn a_page_of_noise_costs_what_was_on_it() {
    damage_each_page(|page| {
        let mut state = 0x2545_f491_u32;
        for byte in page {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = (state >> 24) as u8;
        }
    });
}

#[test]
fn what_is_lost_is_reported_and_numbers_do_not_come_back() {
    let dir = scratch();
    grown(dir.path());
    let database = dir.path().join("rookery.db");
    let connection = Connection::open(&database).unwrap();
    let layout = layout(&connection);
    drop(connection);
    let leaf = |table: &str| {
        let is_leaf = |(name, _, kind): &(String, i64, String)| name == table && kind == "leaf";
        *layout.iter().rfind(|(_, page)| is_leaf(page)).unwrap().0
    };
    let mut bytes = fs::read(&database).unwrap();
    // The newest events, and the heads of threads.
    for page in [leaf("events"), leaf("threads")] {
        let start = (page as usize - 1) * 4_096;
        bytes[start..start + 4_096].fill(0);
    }
    fs::write(&database, bytes).unwrap();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    let damage = loaded.damage.clone().unwrap();
    let salvage = damage.salvage.unwrap();
    assert_eq!((salvage.lost["events"], salvage.lost["threads"]), (1, 1));
    assert!(salvage.stand_ins > 0);
    assert!(damage.reason.contains("events") && damage.reason.contains("rows were saved"));
    assert!(loaded.next_event.get() > 600);
    assert_eq!(loaded.threads.len(), 22, "heads that were lost are made anew");
    let recovered = loaded.threads.iter().find(|thread| thread.name() == "Recovered thread");
    let contents = store.thread_contents(recovered.unwrap().id).unwrap();
    assert!(!contents.items.is_empty() && contents.skipped == 0);
    drop(store);
    let (_, again) = Store::open(dir.path()).unwrap();
    assert_eq!(again.damage, None);
    assert_eq!(again.threads, loaded.threads);
}

#[test]
fn dying_while_rows_are_saved_loses_none_of_them() {
    let dir = scratch();
    grown(dir.path());
    let database = dir.path().join("rookery.db");
    let mut bytes = fs::read(&database).unwrap();
    bytes[4_096..8_192].fill(0);
    fs::write(&database, &bytes).unwrap();
    // A process died while it saved: its work is half done, and the damaged file still in place.
    fs::write(dir.path().join("rookery.db.salvaged"), &bytes[..9_000]).unwrap();
    let (store, loaded) = Store::open(dir.path()).unwrap();
    store.close().unwrap();
    drop(store);
    assert_eq!(loaded.threads.len(), 22);
    assert!(!dir.path().join("rookery.db.salvaged").exists());
    // Another one died when all was saved and the damaged file was moved away.
    fs::rename(&database, dir.path().join("rookery.db.salvaged")).unwrap();
    let (_, again) = Store::open(dir.path()).unwrap();
    assert_eq!(again.threads, loaded.threads);
    assert!(again.next_event >= loaded.next_event);
}

trait Named {
    fn name(&self) -> &str;
}

impl Named for rookery_model::Thread {
    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
}
