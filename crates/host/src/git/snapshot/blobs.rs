//! Puts bytes into the object store as they are, many at a time and without holding a file in
//! memory. Git never sees a path, so no attribute can make it convert or run anything.

use std::io::{self, Read};

use bytes::Bytes;
use rustix::fs::FileType;
use tokio::sync::mpsc;

use super::SkipReason;
use super::beneath::Beneath;
use super::cache::Stamp;
use super::scratch::Scratch;
use crate::git::run::blocking;
use crate::git::stream::{WAITING, fed};
use crate::git::{GitError, Oid, Repository};

/// How often a file is read that changes meanwhile.
const TRIES: usize = 3;
/// Above this many bytes nothing is written a second time to be taken out of a pack.
const WORTH_A_PACK: u64 = 16 << 20;
const PIECE: usize = 64 << 10;

/// Something to be stored.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// A file of the work tree.
    File(Vec<u8>),
    /// These bytes.
    Bytes(Vec<u8>),
}

/// What became of it: its name, and for a file what it was when it was read.
pub(super) type Stored = Result<(Oid, Option<Stamp>), SkipReason>;

/// How one source was handed over.
enum StoredSource {
    Mark(usize, Option<Stamp>),
    Skipped(SkipReason),
}

/// Stores all of it, in order. `size` is about how many bytes it has.
pub(super) async fn store(
    repo: &Repository,
    scratch: &Scratch,
    sources: Vec<Source>,
    size: u64,
) -> Result<Vec<Stored>, GitError> {
    if sources.is_empty() {
        return Ok(Vec::new());
    }
    let marks = scratch.file("marks");
    // What is small becomes single objects, as git makes them, so that packs do not pile up.
    let unpack = if size > WORTH_A_PACK { "0" } else { "100" };
    let unpack = format!("fastimport.unpackLimit={unpack}");
    let settings = ["-c", "pack.compression=1", "-c", "core.bigFileThreshold=32m", "-c", &unpack];
    let options = ["fast-import", "--quiet", "--depth=0", "--done"];
    let mut export = std::ffi::OsString::from("--export-marks=");
    export.push(&marks);
    let call = repo.git.call(settings.iter().chain(&options)).args([export]);
    let (sender, receiver) = mpsc::channel(WAITING);
    let top = repo.top().to_owned();
    let reading = blocking(move || {
        let tree = Beneath::new(&top).map_err(|error| GitError::file(&top, error))?;
        Ok(Feed { tree, sender, mark: 0 }.all(sources))
    });
    let (handed, ()) = tokio::try_join!(reading, fed(call, receiver))?;
    let handed = handed.map_err(|_| GitError::Unreadable("fast-import".into()))?;
    let names =
        blocking(move || std::fs::read(&marks).map_err(|error| GitError::file(&marks, error)));
    let names = read_marks(&names.await?);
    let stored = handed.into_iter().map(|handed| match handed {
        StoredSource::Skipped(reason) => Ok(Err(reason)),
        StoredSource::Mark(mark, stamp) => match names.get(mark).cloned().flatten() {
            Some(oid) => Ok(Ok((oid, stamp))),
            None => Err(GitError::Unreadable("fast-import".into())),
        },
    });
    stored.collect()
}

/// Names by mark, from lines of `:MARK NAME`.
fn read_marks(text: &[u8]) -> Vec<Option<Oid>> {
    let mut names = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let line = str::from_utf8(line).ok().and_then(|line| line.strip_prefix(':'));
        let Some((mark, oid)) = line.and_then(|line| line.split_once(' ')) else { continue };
        let Ok(mark) = mark.parse::<usize>() else { continue };
        // Marks are handed out in order, from 1.
        if mark >= names.len() && mark <= text.len() {
            names.resize(mark + 1, None);
        }
        if let Some(place) = names.get_mut(mark) {
            *place = Oid::parse(oid);
        }
    }
    names
}

/// The reader is gone.
struct Closed;

/// Writes the stream that `fast-import` reads.
struct Feed {
    tree: Beneath,
    sender: mpsc::Sender<Bytes>,
    mark: usize,
}

impl Feed {
    fn all(mut self, sources: Vec<Source>) -> Result<Vec<StoredSource>, Closed> {
        let mut handed = Vec::with_capacity(sources.len());
        for source in sources {
            handed.push(match source {
                Source::Bytes(bytes) => self.bytes(bytes)?,
                Source::File(path) => self.file(&path)?,
            });
        }
        self.send(Bytes::from_static(b"done\n"))?;
        Ok(handed)
    }

    fn send(&mut self, bytes: Bytes) -> Result<(), Closed> {
        self.sender.blocking_send(bytes).map_err(|_| Closed)
    }

    fn begin(&mut self, size: u64) -> Result<usize, Closed> {
        self.mark += 1;
        let header = format!("blob\nmark :{}\ndata {size}\n", self.mark);
        self.send(header.into())?;
        Ok(self.mark)
    }

    fn bytes(&mut self, bytes: Vec<u8>) -> Result<StoredSource, Closed> {
        let mark = self.begin(bytes.len() as u64)?;
        self.send(bytes.into())?;
        self.send(Bytes::from_static(b"\n"))?;
        Ok(StoredSource::Mark(mark, None))
    }

    fn file(&mut self, path: &[u8]) -> Result<StoredSource, Closed> {
        for _ in 0..TRIES {
            let opened = self.tree.open(path).and_then(|file| {
                let stat = rustix::fs::fstat(&file)?;
                Ok((file, stat))
            });
            let Ok((mut file, stat)) = opened else {
                return Ok(StoredSource::Skipped(SkipReason::Unreadable));
            };
            if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
                return Ok(StoredSource::Skipped(SkipReason::Changing));
            }
            let stamp = Stamp::of(&stat);
            let mark = self.begin(stamp.size())?;
            let is_whole = self.content(&mut file, stamp.size())?;
            self.send(Bytes::from_static(b"\n"))?;
            let after = rustix::fs::fstat(&file).map(|stat| Stamp::of(&stat));
            if is_whole && after == Ok(stamp) {
                return Ok(StoredSource::Mark(mark, Some(stamp)));
            }
        }
        Ok(StoredSource::Skipped(SkipReason::Changing))
    }

    /// Sends that many bytes, whatever the file holds; false if it held fewer.
    fn content(&mut self, file: &mut std::fs::File, size: u64) -> Result<bool, Closed> {
        let (mut left, mut is_whole) = (size, true);
        while left > 0 {
            let room = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
            let mut piece = vec![0; room];
            let got = match is_whole {
                true => read_full(file, &mut piece),
                false => room,
            };
            // The stream promised that many; what is missing is made up and thrown away.
            is_whole &= got == room;
            left -= room as u64;
            self.send(piece.into())?;
        }
        Ok(is_whole)
    }
}

/// Fills a buffer as far as the file reaches.
fn read_full(file: &mut std::fs::File, buffer: &mut [u8]) -> usize {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(got) => filled += got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_in_any_order() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let names = read_marks(format!(":2 {b}\nnonsense\n:1 {a}\n:99999999999 {a}\n").as_bytes());
        assert_eq!(names, [None, Oid::parse(&a), Oid::parse(&b)]);
    }
}
