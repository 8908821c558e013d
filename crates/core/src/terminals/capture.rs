//! What the terminal itself sent to its child, kept for those who check it.

use std::collections::VecDeque;

use parking_lot::Mutex;

/// Bytes sent by keys, pastes, mouse, focus and answers; the oldest go when there are too many.
#[derive(Default)]
pub(crate) struct Capture {
    limit: usize,
    bytes: Mutex<VecDeque<u8>>,
}

impl Capture {
    /// Keeps this number of bytes; 0 keeps none.
    pub(crate) fn new(limit: usize) -> Capture {
        Capture { limit, bytes: Mutex::default() }
    }

    pub(crate) fn add(&self, sent: &[u8]) {
        if self.limit == 0 {
            return;
        }
        let mut bytes = self.bytes.lock();
        bytes.extend(sent);
        let excess = bytes.len().saturating_sub(self.limit);
        bytes.drain(..excess);
    }

    /// What was sent since it was last drained.
    pub(crate) fn read(&self, drain: bool) -> Vec<u8> {
        let mut bytes = self.bytes.lock();
        if drain { std::mem::take(&mut *bytes).into() } else { bytes.iter().copied().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_when_there_is_too_much() {
        let capture = Capture::new(3);
        capture.add(b"ab");
        capture.add(b"cde");
        assert_eq!(capture.read(false), b"cde");
        assert_eq!(capture.read(true), b"cde");
        assert_eq!(capture.read(false), b"");
        let off = Capture::new(0);
        off.add(b"x");
        assert_eq!(off.read(true), b"");
    }
}
