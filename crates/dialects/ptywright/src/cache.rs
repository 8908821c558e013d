//! Serialized cells of recent screens, shared between requests. Bounded in number and bytes.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use rookery_term::Snapshot;

use crate::wire::snapshot::Cells;

const MAX_ENTRIES: usize = 16;
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// What was done to the cells of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavor {
    /// Nothing.
    Exposed,
    /// The default policy hides something in them.
    Redacted,
}

/// The least recently used entry goes first.
///
/// The key is the very snapshot, not its sequence number: a wait may come true in the middle of a
/// chunk of output, so two different screens can have the same number.
#[derive(Default)]
pub(crate) struct CellCache(Mutex<Vec<Entry>>);

struct Entry {
    /// Keeps the address from being used again, and reports when no caller is left.
    snapshot: Weak<Snapshot>,
    flavor: Flavor,
    cells: Cells,
}

impl CellCache {
    /// The cells of a snapshot, written by `make` unless they are known.
    pub(crate) fn get_or(
        &self,
        snapshot: &Arc<Snapshot>,
        flavor: Flavor,
        make: impl FnOnce() -> Cells,
    ) -> Cells {
        if let Some(cells) = self.get(snapshot, flavor) {
            return cells;
        }
        // Not under the lock: others need not wait for a large screen.
        let cells = make();
        self.put(Entry { snapshot: Arc::downgrade(snapshot), flavor, cells: cells.clone() });
        cells
    }

    fn get(&self, snapshot: &Arc<Snapshot>, flavor: Flavor) -> Option<Cells> {
        let mut entries = self.0.lock();
        let is_it = |entry: &Entry| {
            entry.flavor == flavor && std::ptr::eq(entry.snapshot.as_ptr(), Arc::as_ptr(snapshot))
        };
        let at = entries.iter().position(is_it)?;
        let entry = entries.remove(at);
        let cells = entry.cells.clone();
        entries.push(entry);
        Some(cells)
    }

    fn put(&self, entry: Entry) {
        let size = |entry: &Entry| entry.cells.as_json().len();
        let mut room = MAX_BYTES.saturating_sub(size(&entry));
        let mut entries = self.0.lock();
        entries.retain(|old| old.snapshot.strong_count() > 0);
        entries.push(entry);
        let kept = entries.iter().rev().skip(1).take(MAX_ENTRIES - 1).take_while(|old| {
            let fits = size(old) <= room;
            room = room.saturating_sub(size(old));
            fits
        });
        let surplus = entries.len() - 1 - kept.count();
        entries.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{cells, screen::testing::screen};

    #[test]
    fn cells_are_written_once_per_snapshot_and_flavor() {
        let cache = CellCache::default();
        let one = Arc::new(screen(1, 2, b"a"));
        // The same number and the same text, but another screen.
        let two = Arc::new(screen(1, 2, b"a"));
        let written = Cell::new(0);
        let get = |snapshot: &Arc<Snapshot>, flavor| {
            cache.get_or(snapshot, flavor, || {
                written.set(written.get() + 1);
                cells::json(snapshot, &[])
            })
        };
        for _ in 0..3 {
            get(&one, Flavor::Exposed);
            get(&one, Flavor::Redacted);
            get(&two, Flavor::Exposed);
        }
        assert_eq!(written.get(), 3);
    }

    #[test]
    fn the_oldest_and_the_dead_go_first() {
        let cache = CellCache::default();
        let make = |snapshot: &Arc<Snapshot>| {
            cache.get_or(snapshot, Flavor::Exposed, || cells::json(snapshot, &[]));
        };
        let alive: Vec<_> = (0..MAX_ENTRIES + 4).map(|_| Arc::new(screen(1, 1, b"a"))).collect();
        alive.iter().for_each(make);
        assert_eq!(cache.0.lock().len(), MAX_ENTRIES);
        assert!(cache.get(&alive[3], Flavor::Exposed).is_none());
        assert!(cache.get(&alive[4], Flavor::Exposed).is_some());
        drop(alive);
        make(&Arc::new(screen(1, 1, b"a")));
        assert_eq!(cache.0.lock().len(), 1);
    }
}
