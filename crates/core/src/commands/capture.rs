//! What is kept of one output, and how much of it is handed on: memory stays bounded whatever comes.

use std::path::PathBuf;

use bytes::Bytes;
use rookery_agent::tools::Spool;

use super::execution::Artifact;
use crate::clock;

/// How much of an output is kept in memory at most, whatever was asked for.
const MAX_KEPT: usize = 16 << 20;

/// An output that is kept until its command ends.
pub(super) struct Capture {
    cap: usize,
    kept: Vec<u8>,
    overflow: Overflow,
    artifacts: Option<PathBuf>,
}

/// What becomes of an output beyond its cap.
enum Overflow {
    /// It is not over it.
    None,
    /// All of it goes to a file.
    Spooled(Spool),
    /// It is dropped, for there is no place or no room for a file.
    Dropped,
}

impl Capture {
    pub(super) fn new(cap: Option<usize>, artifacts: Option<PathBuf>) -> Self {
        let cap = cap.unwrap_or(MAX_KEPT).min(MAX_KEPT);
        Capture { cap, kept: Vec::new(), overflow: Overflow::None, artifacts }
    }

    pub(super) async fn take(&mut self, bytes: Bytes) {
        let room = (self.cap - self.kept.len()).min(bytes.len());
        if room < bytes.len() && matches!(self.overflow, Overflow::None) {
            self.overflow = begin(self.artifacts.take(), self.kept.clone()).await;
        }
        self.kept.extend_from_slice(&bytes[..room]);
        self.overflow = match std::mem::replace(&mut self.overflow, Overflow::Dropped) {
            Overflow::Spooled(spool) => add(spool, bytes).await,
            other => other,
        };
    }

    /// What is kept in memory.
    pub(super) fn kept(&self) -> &[u8] {
        &self.kept
    }

    /// Shows no more than this; all of it goes to a file.
    pub(super) async fn cut(&mut self, length: usize) {
        if length >= self.kept.len() {
            return;
        }
        if matches!(self.overflow, Overflow::None) {
            self.overflow = begin(self.artifacts.take(), self.kept.clone()).await;
        }
        self.kept.truncate(length);
    }

    pub(super) async fn finish(mut self) -> (Vec<u8>, Option<Artifact>) {
        if !matches!(self.overflow, Overflow::None) {
            let whole = self.kept.len() - partial_end(&self.kept);
            self.kept.truncate(whole);
        }
        let Overflow::Spooled(spool) = self.overflow else { return (self.kept, None) };
        let finished = tokio::task::spawn_blocking(move || spool.finish()).await;
        let artifact = finished.ok().map(|kept| Artifact {
            id: kept.id,
            byte_count: kept.byte_count,
            line_count: kept.line_count,
            dropped_bytes: kept.dropped_bytes,
            created_at: clock::wall(),
        });
        (self.kept, artifact)
    }
}

/// Begins a file with what was kept so far.
async fn begin(artifacts: Option<PathBuf>, kept: Vec<u8>) -> Overflow {
    let Some(artifacts) = artifacts else { return Overflow::Dropped };
    let work = tokio::task::spawn_blocking(move || {
        let mut spool = Spool::create(&artifacts)?;
        spool.write(&kept)?;
        Ok(spool)
    });
    spooled(work.await)
}

async fn add(mut spool: Spool, bytes: Bytes) -> Overflow {
    let work = tokio::task::spawn_blocking(move || spool.write(&bytes).map(|()| spool));
    spooled(work.await)
}

type Worked = Result<std::io::Result<Spool>, tokio::task::JoinError>;

fn spooled(worked: Worked) -> Overflow {
    match worked {
        Ok(Ok(spool)) => Overflow::Spooled(spool),
        Ok(Err(error)) => {
            tracing::warn!(%error, "a long output cannot be kept");
            Overflow::Dropped
        }
        Err(_) => Overflow::Dropped,
    }
}

/// How many bytes at the end begin a character that is not whole.
fn partial_end(bytes: &[u8]) -> usize {
    match bytes.utf8_chunks().last().map(|chunk| chunk.invalid()) {
        Some(rest @ [first, ..]) if rest.len() < char_len(*first) => rest.len(),
        _ => 0,
    }
}

/// How long a character is that begins like this; 0 if none does.
const fn char_len(first: u8) -> usize {
    match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 0,
    }
}

/// How much of an output may still be handed on.
pub(super) struct Meter {
    left: Option<usize>,
    is_reached: bool,
}

impl Meter {
    pub(super) fn new(cap: Option<usize>) -> Self {
        Meter { left: cap, is_reached: false }
    }

    /// What may be handed on of a piece, and whether it is the last; none when nothing may be.
    pub(super) fn pass(&mut self, mut bytes: Bytes) -> Option<(Bytes, bool)> {
        if self.is_reached {
            return None;
        }
        if let Some(left) = &mut self.left {
            bytes.truncate(*left);
            *left -= bytes.len();
            self.is_reached = *left == 0;
        }
        Some((bytes, self.is_reached))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_says_which_piece_is_the_last() {
        let mut meter = Meter::new(Some(5));
        let mut pass = |text: &'static str| meter.pass(Bytes::from_static(text.as_bytes()));
        assert_eq!(pass("abc"), Some((Bytes::from_static(b"abc"), false)));
        assert_eq!(pass("def"), Some((Bytes::from_static(b"de"), true)));
        assert_eq!(pass("g"), None);
        let mut free = Meter::new(None);
        assert_eq!(free.pass(Bytes::from_static(b"x")), Some((Bytes::from_static(b"x"), false)));
        let mut none = Meter::new(Some(0));
        assert_eq!(none.pass(Bytes::from_static(b"x")), Some((Bytes::new(), true)));
        assert_eq!(none.pass(Bytes::from_static(b"x")), None);
    }

    #[test]
    fn only_the_beginning_of_a_character_is_a_partial_end() {
        let cases: [(&[u8], usize); 8] = [
            (b"", 0),
            (b"abc", 0),
            ("é".as_bytes(), 0),
            (b"a\xc3", 1),
            (b"a\xf0\x9f\x98", 3),
            (b"a\xff", 0),
            (b"a\x80", 0),
            (b"\xc3(", 0),
        ];
        for (bytes, partial) in cases {
            assert_eq!(partial_end(bytes), partial, "{bytes:?}");
        }
    }

    #[tokio::test]
    async fn what_is_over_the_cap_is_cut_and_kept_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        for place in [Some(dir.path().to_owned()), None] {
            let mut capture = Capture::new(Some(4), place.clone());
            for piece in ["ab", "c", "é\n", "f"] {
                capture.take(Bytes::from_static(piece.as_bytes())).await;
            }
            let (kept, artifact) = capture.finish().await;
            assert_eq!(kept, b"abc");
            assert_eq!(artifact.is_some(), place.is_some());
            let Some(artifact) = artifact else { continue };
            assert_eq!((artifact.byte_count, artifact.line_count), (7, 2));
            let file = dir.path().join("app-server").join(format!("{}.txt", artifact.id));
            assert_eq!(std::fs::read_to_string(file).unwrap(), "abcé\nf");
        }
        let mut shown = Capture::new(None, Some(dir.path().to_owned()));
        shown.take(Bytes::from_static(b"abcdef")).await;
        shown.cut(6).await;
        shown.cut(2).await;
        assert_eq!(shown.kept(), b"ab");
        assert_eq!(shown.finish().await.1.unwrap().byte_count, 6);
        let mut exact = Capture::new(Some(4), Some(dir.path().to_owned()));
        exact.take(Bytes::from_static(b"abcd")).await;
        assert_eq!(exact.finish().await, (b"abcd".to_vec(), None));
    }

    #[tokio::test]
    async fn memory_is_bounded_without_a_cap() {
        let dir = tempfile::tempdir().unwrap();
        let mut capture = Capture::new(None, Some(dir.path().to_owned()));
        let piece = Bytes::from(vec![b'x'; 1 << 20]);
        for _ in 0..20 {
            capture.take(piece.clone()).await;
        }
        let (kept, artifact) = capture.finish().await;
        assert_eq!((kept.len(), artifact.unwrap().byte_count), (MAX_KEPT, 20 << 20));
    }
}
