//! The newest input of a terminal, as clients sent it: what a dialog was answered with.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Bytes that are kept; dialogs are answered with fewer.
const KEPT: usize = 256;
/// What was sent this long before a look may not have reached the screen yet.
const UNSEEN: Duration = Duration::from_millis(250);

/// A place in the input of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyMark {
    at: u64,
    /// Whether the screen shows what all input before did.
    pub(crate) is_settled: bool,
}

#[derive(Default)]
pub(crate) struct Keys(Mutex<KeyBuffer>);

#[derive(Default)]
struct KeyBuffer {
    bytes: VecDeque<u8>,
    total: u64,
    last: Option<Instant>,
}

impl Keys {
    /// Notes what is sent.
    pub(crate) fn add(&self, bytes: &[u8]) {
        let mut kept = self.0.lock();
        kept.total += bytes.len() as u64;
        kept.last = Some(Instant::now());
        kept.bytes.extend(&bytes[bytes.len().saturating_sub(KEPT)..]);
        let excess = kept.bytes.len().saturating_sub(KEPT);
        kept.bytes.drain(..excess);
    }

    /// The place of now.
    pub(crate) fn mark(&self) -> KeyMark {
        let kept = self.0.lock();
        let is_settled = kept.last.is_none_or(|last| last.elapsed() > UNSEEN);
        KeyMark { at: kept.total, is_settled }
    }

    /// What was sent since then; none if that is more than is kept.
    pub(crate) fn since(&self, mark: KeyMark) -> Option<Vec<u8>> {
        let kept = self.0.lock();
        let count = usize::try_from(kept.total.checked_sub(mark.at)?).ok()?;
        let start = kept.bytes.len().checked_sub(count)?;
        Some(kept.bytes.range(start..).copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_since_a_mark_is_given_unless_it_is_too_much() {
        let keys = Keys::default();
        assert!(keys.mark().is_settled);
        keys.add(b"before");
        let mark = keys.mark();
        assert!(!mark.is_settled);
        assert_eq!(keys.since(mark), Some(Vec::new()));
        keys.add(b"\x1b[B");
        keys.add(b"\r");
        assert_eq!(keys.since(mark).unwrap(), b"\x1b[B\r");
        keys.add(&[b'x'; 1_000]);
        assert_eq!(keys.since(mark), None);
    }
}
