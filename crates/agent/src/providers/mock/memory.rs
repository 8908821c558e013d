//! How far the scripts have come of threads that were asked to become shorter: that may take the
//! script out of the conversation, and a call that failed leaves nothing there.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::provider::{Entry, EntryBody};
use crate::turn::SUMMARY_INSTRUCTION;

/// Threads that are kept in mind.
const MAX_THREADS: usize = 256;

/// A script and its next call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) script: String,
    pub(super) next: usize,
    /// Whether the call before this one is made again, in the same turn.
    pub(super) is_retried: bool,
}

/// Places in scripts, by thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory(Arc<Mutex<HashMap<String, Place>>>);

impl Memory {
    /// Where the thread's script goes on, if that cannot be read from the conversation; `found` is the
    /// script that can.
    pub(super) fn recall(
        &self,
        thread: &str,
        entries: &[Entry],
        found: Option<(usize, &str)>,
    ) -> Option<Place> {
        let mut places = self.0.lock();
        let place = places.get(thread)?;
        let is_same = found.is_none_or(|(_, text)| text == place.script);
        let is_begun_anew = found.is_some_and(|(after, _)| after == entries.len());
        if !is_same || (is_begun_anew && !place.is_retried) {
            places.remove(thread);
            return None;
        }
        // A summary of what came before the script is none of its business.
        (found.is_some() || !is_summary(entries)).then(|| place.clone())
    }

    pub(super) fn keep(&self, thread: &str, place: Place) {
        let mut places = self.0.lock();
        if places.len() >= MAX_THREADS && !places.contains_key(thread) {
            places.clear();
        }
        places.insert(thread.to_owned(), place);
    }
}

/// Whether the model is asked to sum the conversation up.
pub(super) fn is_summary(entries: &[Entry]) -> bool {
    matches!(entries.last().map(|entry| &entry.body),
        Some(EntryBody::User { text, .. }) if text.starts_with(SUMMARY_INSTRUCTION))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> Entry {
        let body = EntryBody::User { text: text.to_owned(), images: Vec::new() };
        Entry { step: 0, body, opaque: None }
    }

    #[test]
    fn a_script_goes_on_after_it_was_summed_up() {
        let memory = Memory::default();
        let place = Place { script: "[1]".to_owned(), next: 1, is_retried: true };
        memory.keep("t", place.clone());
        let short = [user("in short")];
        assert_eq!(memory.recall("other", &short, None), None);
        assert_eq!(memory.recall("t", &[user(SUMMARY_INSTRUCTION)], None), None);
        assert_eq!(memory.recall("t", &short, None), Some(place.clone()));
        let with_script = [user("in short"), user("MOCK_SCRIPT:[1]")];
        assert_eq!(memory.recall("t", &with_script, Some((2, "[1]"))), Some(place.clone()));
        memory.keep("t", Place { is_retried: false, ..place.clone() });
        assert_eq!(memory.recall("t", &with_script, Some((2, "[1]"))), None, "it is said again");
        memory.keep("t", place);
        assert_eq!(memory.recall("t", &with_script, Some((2, "[2]"))), None, "it is another one");
        assert_eq!(memory.recall("t", &short, None), None);
    }
}
