//! The last bytes of a stream, by their offset in the whole of it.

use std::collections::VecDeque;

/// How many bytes are kept.
const CAPACITY: usize = 1 << 20;

/// A buffer that drops its oldest bytes.
#[derive(Debug, Default)]
pub(super) struct Ring {
    bytes: VecDeque<u8>,
    /// The offset of the first byte that is kept.
    start: u64,
}

impl Ring {
    /// Adds bytes at the end.
    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend(chunk);
        let over = self.bytes.len().saturating_sub(CAPACITY);
        self.bytes.drain(..over);
        self.start += over as u64;
    }

    /// The bytes after an offset, where the next ones begin, and how many were lost in between.
    pub(super) fn after(&self, offset: u64) -> (Vec<u8>, u64, u64) {
        let end = self.start + self.bytes.len() as u64;
        let lost = self.start.saturating_sub(offset);
        let skipped = offset.clamp(self.start, end) - self.start;
        let bytes = self.bytes.iter().skip(skipped as usize).copied().collect();
        (bytes, end, lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_bytes_are_dropped_and_counted() {
        let mut ring = Ring::default();
        ring.push(b"hello");
        assert_eq!(ring.after(0), (b"hello".to_vec(), 5, 0));
        assert_eq!(ring.after(3), (b"lo".to_vec(), 5, 0));
        assert_eq!(ring.after(99), (Vec::new(), 5, 0));
        ring.push(&vec![b'x'; CAPACITY]);
        let (bytes, next, lost) = ring.after(2);
        assert_eq!((bytes.len(), next, lost), (CAPACITY, CAPACITY as u64 + 5, 3));
        ring.push(&vec![b'y'; 3 * CAPACITY]);
        assert_eq!(ring.after(0).0, vec![b'y'; CAPACITY]);
    }
}
