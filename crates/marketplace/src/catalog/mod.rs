//! Catalogs: bytes in, entries out. One bad entry costs only itself. Pure.

mod entry;
mod kind;
mod list;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub(crate) use self::entry::Owner;
pub use self::kind::infer_kind_from_words;
pub(crate) use self::kind::{CODEX_MANIFEST, catalog_file, infer_kind};
pub use self::list::read_list;
pub(crate) use self::list::{read, read_folders};
use crate::types::Entry;

pub const LARGEST_CATALOG: usize = 4 << 20;
/// Plugins of one catalog.
pub const MOST_ENTRIES: usize = 5000;
/// What is said of entries that are left out.
const MOST_DIAGNOSTICS: usize = 100;

/// What a catalog says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Catalog {
    /// Whose it is.
    pub owner_name: Option<String>,
    /// How they are reached.
    pub owner_email: Option<String>,
    /// What it says of itself.
    pub description: Option<String>,
    /// Its plugins, in the order of their ids; each id is there once.
    pub entries: Vec<Entry>,
    /// What is wrong with entries that were left out.
    pub diagnostics: Vec<String>,
    /// Ids that it has more than once; the first counts.
    pub duplicates: Vec<String>,
}

impl Catalog {
    /// A plugin by its id.
    pub fn plugin(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.plugin_id == id)
    }

    fn add(&mut self, entry: Result<Entry, String>) {
        match entry {
            Err(why) => self.note(why),
            Ok(entry) if self.entries.len() >= MOST_ENTRIES => {
                self.note(format!("{}: more than {MOST_ENTRIES} plugins", entry.plugin_id));
            }
            Ok(entry) => self.entries.push(entry),
        }
    }

    fn note(&mut self, why: String) {
        if self.diagnostics.len() < MOST_DIAGNOSTICS {
            self.diagnostics.push(why);
        }
    }

    /// Puts entries into order, the first of each id.
    fn finish(mut self) -> Self {
        self.entries.sort_by(|one, two| one.plugin_id.cmp(&two.plugin_id));
        let mut again = Vec::new();
        self.entries.dedup_by(|next, kept| {
            let is_same = next.plugin_id == kept.plugin_id;
            if is_same {
                again.push(next.plugin_id.clone());
            }
            is_same
        });
        again.dedup();
        for id in &again {
            self.note(format!("{id}: duplicate plugin; only the first counts"));
        }
        self.duplicates = again;
        self
    }
}
