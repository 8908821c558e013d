//! Saves the rows of a damaged database, page by page, so that a bad page costs what was on it.
//!
//! Tables are walked from their roots. Pages that no walk reaches, because the page above them is
//! gone, are taken by the look of their rows, unless the database lists them as free. Indexes are
//! not read at all: they are made anew.

mod pages;
mod stand_in;
mod table;
mod tree;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, params_from_iter};

use crate::schema;

use pages::{Pages, be32};
use table::Table;
use tree::{Kind, Node, Row};

/// Levels of a tree at most; SQLite's own have fewer.
const MAX_DEPTH: usize = 24;

/// What was saved and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvage {
    /// Rows that were saved.
    pub rows: u64,
    /// Rows and pages that could not be read, by table; `unknown` where that is not known.
    pub lost: BTreeMap<String, u64>,
    /// Conversations, or parts of them, whose head was lost and was made anew.
    pub stand_ins: u64,
}

impl Salvage {
    /// In words for people.
    pub(crate) fn summary(&self) -> String {
        let mut text = format!("{} rows were saved", self.rows);
        if !self.lost.is_empty() {
            let lost: Vec<String> =
                self.lost.iter().map(|(table, count)| format!("{count} of {table}")).collect();
            text += &format!("; rows or pages lost: {}", lost.join(", "));
        }
        if self.stand_ins > 0 {
            text += &format!("; {} heads of conversations were made anew", self.stand_ins);
        }
        text
    }
}

/// Copies what can be read of a damaged database into a new one of the newest format.
pub(crate) fn salvage(damaged: &Path, into: &mut Connection) -> rusqlite::Result<Salvage> {
    let Ok(pages) = Pages::open(damaged) else { return Ok(Salvage::default()) };
    into.pragma_update(None, "foreign_keys", false)?;
    let transaction = into.transaction()?;
    let mut walk =
        Walk { pages: &pages, into: &transaction, seen: HashSet::new(), found: Salvage::default() };
    walk.free_pages();
    walk.known_trees()?;
    walk.left_pages()?;
    let mut found = walk.found;
    found.stand_ins = stand_in::fill(&transaction)?;
    schema::move_values(&transaction)?;
    transaction.commit()?;
    into.pragma_update(None, "foreign_keys", true)?;
    Ok(found)
}

struct Walk<'a> {
    pages: &'a Pages,
    into: &'a Transaction<'a>,
    /// Pages whose use is known.
    seen: HashSet<u32>,
    found: Salvage,
}

/// Whose rows a tree holds.
#[derive(Clone, Copy)]
enum Owner {
    Table(&'static Table),
    /// An index, or a table that is not ours.
    Other,
}

impl Walk<'_> {
    /// What was deleted stays deleted.
    fn free_pages(&mut self) {
        let Some(first) = self.pages.page(1) else { return };
        let mut trunk = be32(&first, 32);
        while trunk != 0 && self.seen.insert(trunk) {
            let Some(page) = self.pages.page(trunk) else { return };
            let leaves = (be32(&page, 4) as usize).min(self.pages.usable() / 4);
            self.seen.extend((0..leaves).map(|place| be32(&page, 8 + 4 * place)));
            trunk = be32(&page, 0);
        }
    }

    /// Walks all trees that the list of tables names.
    fn known_trees(&mut self) -> rusqlite::Result<()> {
        let mut roots = Vec::new();
        self.schema(1, 0, &mut roots);
        for (owner, root) in roots {
            self.tree(owner, root, 0)?;
        }
        Ok(())
    }

    /// Reads the list of tables and indexes.
    fn schema(&mut self, number: u32, depth: usize, roots: &mut Vec<(Owner, u32)>) {
        if depth > MAX_DEPTH || !self.seen.insert(number) {
            return;
        }
        let node = tree::node(self.pages, number);
        let Some(node) =
            node.filter(|node| matches!(node.kind, Kind::TableLeaf | Kind::TableInner))
        else {
            *self.found.lost.entry("the list of tables".to_owned()).or_default() += 1;
            return;
        };
        for row in node.rows {
            let [Value::Text(kind), Value::Text(name), _, Value::Integer(root), ..] =
                &row.values[..]
            else {
                continue;
            };
            let Some(root) = u32::try_from(*root).ok().filter(|root| *root > 1) else { continue };
            let table = Table::named(name).filter(|_| kind == "table");
            roots.push((table.map_or(Owner::Other, Owner::Table), root));
        }
        for child in node.children {
            self.schema(child, depth + 1, roots);
        }
    }

    fn tree(&mut self, owner: Owner, number: u32, depth: usize) -> rusqlite::Result<()> {
        if depth > MAX_DEPTH || !self.seen.insert(number) {
            return Ok(());
        }
        let node = tree::node(self.pages, number);
        let Owner::Table(table) = owner else {
            for child in node.map(|node| node.children).unwrap_or_default() {
                self.tree(owner, child, depth + 1)?;
            }
            return Ok(());
        };
        let Some(node) = node.filter(|node| is_of(table, node)) else {
            self.lose(table.name, 1);
            return Ok(());
        };
        self.lose(table.name, node.unreadable as u64);
        for row in node.rows {
            match table.fits(row.number, &row.values) {
                true => self.save(table, row)?,
                false => self.lose(table.name, 1),
            }
        }
        for child in node.children {
            self.tree(owner, child, depth + 1)?;
        }
        Ok(())
    }

    /// Pages that belong to no tree any more: their rows tell where they belong.
    fn left_pages(&mut self) -> rusqlite::Result<()> {
        for number in 1..=self.pages.count() {
            if !self.seen.insert(number) {
                continue;
            }
            for row in tree::node(self.pages, number).map(|node| node.rows).unwrap_or_default() {
                if let Some(table) = Table::of(row.number, &row.values) {
                    self.save(table, row)?;
                }
            }
        }
        Ok(())
    }

    fn save(&mut self, table: &Table, row: Row) -> rusqlite::Result<()> {
        let values = table.values(row.number, row.values);
        let saved = self.into.prepare_cached(&table.insert())?.execute(params_from_iter(values))?;
        self.found.rows += saved as u64;
        Ok(())
    }

    fn lose(&mut self, table: &str, count: u64) {
        if count > 0 {
            *self.found.lost.entry(table.to_owned()).or_default() += count;
        }
    }
}

/// Whether a page can be of this table.
fn is_of(table: &Table, node: &Node) -> bool {
    let has_numbers = matches!(node.kind, Kind::TableLeaf | Kind::TableInner);
    has_numbers == table.has_numbers
}
