//! Labels that clients put on places of a transcript. Bounded, and forgotten with their terminal.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use rookery_model::TerminalId;

/// Labels per terminal; one more is dropped silently.
const MAX_LABELS: usize = 64;
/// Bytes of one label; a longer one is dropped as if there were too many.
const MAX_LABEL_BYTES: usize = 1024;

/// The labels of every terminal, each with the number of characters written before it.
#[derive(Default)]
pub struct Marks(Mutex<BTreeMap<TerminalId, BTreeMap<String, u64>>>);

impl Marks {
    /// Sets a label, moving it if it is known already.
    pub fn set(&self, terminal: TerminalId, label: String, cursor: u64) {
        let mut terminals = self.0.lock();
        let labels = terminals.entry(terminal).or_default();
        let fits = labels.len() < MAX_LABELS && label.len() <= MAX_LABEL_BYTES;
        if fits || labels.contains_key(&label) {
            labels.insert(label, cursor);
        }
    }

    /// The labels of one terminal.
    pub fn of(&self, terminal: TerminalId) -> BTreeMap<String, u64> {
        self.0.lock().get(&terminal).cloned().unwrap_or_default()
    }

    /// Forgets the labels of terminals that are not there any more.
    pub fn retain(&self, exists: impl Fn(TerminalId) -> bool) {
        self.0.lock().retain(|terminal, _| exists(*terminal));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(marks: &Marks, terminal: TerminalId, label: &str) -> Option<u64> {
        marks.0.lock().get(&terminal)?.get(label).copied()
    }

    #[test]
    fn labels_move_and_are_bounded() {
        let (marks, one) = (Marks::default(), TerminalId::new(1));
        for at in 0..70 {
            marks.set(one, format!("l{at}"), at);
        }
        assert_eq!(get(&marks, one, "l63"), Some(63));
        assert_eq!(get(&marks, one, "l64"), None);
        marks.set(one, "l0".into(), 99);
        assert_eq!(get(&marks, one, "l0"), Some(99));
        let two = TerminalId::new(2);
        marks.set(two, "x".repeat(MAX_LABEL_BYTES + 1), 1);
        marks.set(two, "y".into(), 1);
        assert_eq!(marks.0.lock()[&two].len(), 1);
    }

    #[test]
    fn labels_go_with_their_terminal() {
        let marks = Marks::default();
        marks.set(TerminalId::new(1), "a".into(), 1);
        marks.set(TerminalId::new(2), "a".into(), 1);
        marks.retain(|id| id == TerminalId::new(2));
        assert_eq!(get(&marks, TerminalId::new(1), "a"), None);
        assert_eq!(get(&marks, TerminalId::new(2), "a"), Some(1));
    }
}
