//! The end of what a task writes, within its bound: the oldest whole pieces go first.

use std::collections::VecDeque;

use rookery_model::{LogChunk, LogStream, TaskLog, Timestamp};

/// Bytes of a log that are kept.
pub(super) const MAX_LOG: usize = 64 << 10;

/// A log that grows at its end.
#[derive(Debug, Default)]
pub(super) struct LogRing {
    /// The oldest first: lines may be short, so there may be many.
    chunks: VecDeque<LogChunk>,
    bytes: usize,
    dropped: u64,
    last_seq: u64,
    offset: u64,
}

impl LogRing {
    pub(super) fn new(log: TaskLog) -> Self {
        let TaskLog { chunks, dropped, last_seq, offset } = log;
        let bytes = chunks.iter().map(|chunk| chunk.text.len()).sum();
        LogRing { chunks: chunks.into(), bytes, dropped, last_seq, offset }
    }

    /// Adds a piece. Of one that is larger than the whole ring only the end is kept.
    pub(super) fn push(&mut self, stream: LogStream, text: &str, at: Timestamp) -> LogChunk {
        let mut kept = text.len().saturating_sub(MAX_LOG);
        while !text.is_char_boundary(kept) {
            kept += 1;
        }
        self.dropped += kept as u64;
        let text = &text[kept..];
        while self.bytes + text.len() > MAX_LOG
            && let Some(gone) = self.chunks.pop_front()
        {
            self.bytes -= gone.text.len();
            self.dropped += gone.text.len() as u64;
        }
        self.bytes += text.len();
        self.last_seq += 1;
        let chunk = LogChunk { seq: self.last_seq, stream, at, text: text.to_owned() };
        self.chunks.push_back(chunk.clone());
        chunk
    }

    /// Bytes that were never seen.
    pub(super) fn skip(&mut self, bytes: u64) {
        self.dropped += bytes;
    }

    /// All that is kept.
    pub(super) fn log(&self) -> TaskLog {
        TaskLog {
            chunks: self.chunks.iter().cloned().collect(),
            dropped: self.dropped,
            last_seq: self.last_seq,
            offset: self.offset,
        }
    }

    /// How many bytes are gone.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// How much of its terminal's output is in it.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn set_offset(&mut self, offset: u64) {
        self.offset = offset;
    }

    /// The last pieces, trimmed and joined.
    pub(super) fn last_words(&self, pieces: usize) -> String {
        let first = self.chunks.len().saturating_sub(pieces);
        let words: Vec<&str> =
            self.chunks.iter().skip(first).map(|chunk| chunk.text.trim()).collect();
        words.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1);

    #[test]
    fn the_oldest_whole_pieces_go_first() {
        let mut ring = LogRing::default();
        for _ in 0..5 {
            ring.push(LogStream::Stdout, &"x".repeat(20_000), NOW);
        }
        assert_eq!((ring.log().chunks.len(), ring.log().dropped), (3, 40_000));
        assert_eq!(ring.log().chunks[0].seq, 3);
        ring.push(LogStream::Stdout, "a\n", NOW);
        ring.push(LogStream::Stderr, " b\n", NOW);
        ring.push(LogStream::Log, "c", NOW);
        assert_eq!(ring.last_words(3), "a\nb\nc");
    }

    #[test]
    fn of_a_large_piece_the_end_is_kept_on_a_boundary() {
        let mut ring = LogRing::default();
        let text = format!("a{}", "é".repeat(MAX_LOG));
        let chunk = ring.push(LogStream::Stdout, &text, NOW);
        assert!(chunk.text.len() <= MAX_LOG && chunk.text.starts_with('é'));
        assert_eq!(ring.log().dropped as usize + chunk.text.len(), text.len());
    }

    proptest! {
        #[test]
        fn it_is_bounded_and_counts_what_it_lost(
            pieces in proptest::collection::vec((".{0,9}", 0..20_000_usize), 0..40),
        ) {
            let (mut ring, mut total) = (LogRing::default(), 0);
            for (text, times) in &pieces {
                let text = text.repeat(*times / 9);
                total += text.len();
                ring.push(LogStream::Stdout, &text, NOW);
            }
            let kept: usize = ring.log().chunks.iter().map(|chunk| chunk.text.len()).sum();
            prop_assert!(kept <= MAX_LOG);
            prop_assert_eq!(kept + ring.log().dropped as usize, total);
            let again = LogRing::new(ring.log());
            prop_assert_eq!((again.bytes, again.log()), (ring.bytes, ring.log()));
        }
    }
}
