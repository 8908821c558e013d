//! The byte ring of one terminal: a memfd made by the keeper, mapped by the daemon, kept across daemon generations.
//! File layout: a 4 KiB header, `capacity` bytes of ring, two checkpoint areas, then history block slots.
//! Knows nothing of what the bytes mean. One process writes; nothing the header says is trusted.

mod area;
mod mapping;
#[cfg(test)]
mod tests;

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::Errno;
use thiserror::Error;

pub use area::{BLOCK_BYTES, Blocks, Checkpoint, MAX_BLOCK_SLOTS, MAX_CHECKPOINT};
use mapping::{HEADER_BYTES, Mapping};

/// Capacity used when none is asked for.
pub const DEFAULT_CAPACITY: u64 = 1 << 20;

/// Smallest capacity; a smaller request is raised to it.
pub const MIN_CAPACITY: u64 = 64 << 10;

/// Largest capacity; a larger request is cut to it.
pub const MAX_CAPACITY: u64 = 256 << 20;

/// Most bytes one read takes. This many bytes of the ring always lie zeroed ahead of the end.
pub const WINDOW: u64 = 16 << 10;

const MAGIC: u64 = u64::from_le_bytes(*b"rkryring");
const LAYOUT_VERSION: u64 = 1;

/// Offsets beyond this are taken for damage; it leaves room to add without overflow.
const MAX_OFFSET: u64 = 1 << 62;

// Header words.
const WORD_MAGIC: usize = 0;
const WORD_VERSION: usize = 1;
const WORD_CAPACITY: usize = 2;
const WORD_END: usize = 3;
const WORD_CLEAN: usize = 4;
const WORD_HANDLED: usize = 5;

/// Why a file cannot be used as a ring.
#[derive(Debug, Error)]
pub enum RingError {
    /// The system refused.
    #[error("cannot {action} the ring file")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file could shrink under the mapping, which would kill the process that reads it.
    #[error("ring file cannot be sealed against shrinking")]
    NotSealed(#[source] std::io::Error),
    /// The file is no ring.
    #[error("not a ring file")]
    BadMagic,
    /// A newer layout.
    #[error("ring layout {0} is not understood")]
    UnknownLayout(u64),
    /// The header contradicts itself or the file.
    #[error("ring header is damaged: {0}")]
    Damaged(&'static str),
}

fn failed(action: &'static str) -> impl FnOnce(Errno) -> RingError {
    move |errno| RingError::Io { action, source: errno.into() }
}

/// Makes an empty ring file. It costs no memory until it is written; 0 asks for [`DEFAULT_CAPACITY`].
pub fn create(ring_bytes: u64) -> std::io::Result<OwnedFd> {
    let wanted = if ring_bytes == 0 { DEFAULT_CAPACITY } else { ring_bytes };
    let capacity = wanted.clamp(MIN_CAPACITY, MAX_CAPACITY).next_multiple_of(4096);
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = match rustix::fs::memfd_create(c"rookery-ring", flags | MemfdFlags::NOEXEC_SEAL) {
        // Kernels before 6.3 do not know the flag.
        Err(Errno::INVAL) => rustix::fs::memfd_create(c"rookery-ring", flags)?,
        other => other?,
    };
    rustix::fs::ftruncate(&file, HEADER_BYTES as u64 + capacity)?;
    rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK)?;
    Ok(file)
}

/// A mapped ring. Offsets count all bytes the terminal ever printed.
pub struct Ring {
    file: Arc<OwnedFd>,
    map: Mapping,
    capacity: u64,
    end: u64,
    /// Everything from `end` up to here is zero, except bytes read and not yet published.
    clean: u64,
    fresh: u64,
    recovered: u64,
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring")
            .field("capacity", &self.capacity)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

impl Ring {
    /// Maps a ring file. A fresh file is initialized; in a used one, bytes that were read but not published
    /// by a writer that died are found and published.
    pub fn open(file: OwnedFd) -> Result<Self, RingError> {
        seal(file.as_fd())?;
        let size = rustix::fs::fstat(&file).map_err(failed("examine"))?.st_size.cast_unsigned();
        let mut head = [0; 8 * 8];
        let got = rustix::io::pread(&file, &mut head, 0).map_err(failed("read"))?;
        if got < head.len() {
            return Err(RingError::Damaged("file is too short"));
        }
        let word = |index: usize| -> u64 {
            head[index * 8..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let fresh = word(WORD_MAGIC) == 0 && word(WORD_END) == 0;
        let capacity = if fresh {
            size.saturating_sub(HEADER_BYTES as u64)
        } else if word(WORD_MAGIC) != MAGIC {
            return Err(RingError::BadMagic);
        } else if word(WORD_VERSION) != LAYOUT_VERSION {
            return Err(RingError::UnknownLayout(word(WORD_VERSION)));
        } else {
            word(WORD_CAPACITY)
        };
        if !(MIN_CAPACITY..=MAX_CAPACITY).contains(&capacity) || capacity % 4096 != 0 {
            return Err(RingError::Damaged("impossible capacity"));
        }
        if size < HEADER_BYTES as u64 + capacity {
            return Err(RingError::Damaged("file is shorter than its ring"));
        }
        let map = Mapping::new(file.as_fd(), capacity as usize).map_err(failed("map"))?;
        let mut ring = Self {
            file: Arc::new(file),
            map,
            capacity,
            end: 0,
            clean: capacity,
            fresh: 0,
            recovered: 0,
        };
        if fresh {
            ring.initialize();
        } else {
            ring.recover(word(WORD_END), word(WORD_CLEAN))?;
        }
        Ok(ring)
    }

    fn initialize(&self) {
        self.store(WORD_VERSION, LAYOUT_VERSION);
        self.store(WORD_CAPACITY, self.capacity);
        self.store(WORD_CLEAN, self.clean);
        // Last, so that a half-made header still counts as fresh.
        self.store(WORD_MAGIC, MAGIC);
    }

    fn recover(&mut self, end: u64, clean: u64) -> Result<(), RingError> {
        if end > MAX_OFFSET {
            return Err(RingError::Damaged("impossible end offset"));
        }
        if clean < end || clean > (end + WINDOW).max(self.capacity) {
            return Err(RingError::Damaged("impossible clean offset"));
        }
        (self.end, self.clean) = (end, clean);
        self.recovered = self.scan().map_err(failed("scan"))?;
        self.fresh = self.recovered;
        self.publish();
        // A writer may have noted side effects of trailing NUL bytes, which recovery cannot see.
        self.store(WORD_HANDLED, self.handled().min(self.end));
        self.drop_damaged_checkpoints();
        Ok(())
    }

    /// Length of what was read but not published: up to the last byte that is not zero. Reads through the file,
    /// because touching a hole through the mapping would allocate it.
    fn scan(&self) -> Result<u64, Errno> {
        let span = (self.clean - self.end).min(WINDOW);
        let mut window = vec![0; span as usize];
        let first = self.contiguous(self.end).min(span) as usize;
        let (head, tail) = window.split_at_mut(first);
        area::pread_exact(&self.file, head, HEADER_BYTES as u64 + self.end % self.capacity)?;
        area::pread_exact(&self.file, tail, HEADER_BYTES as u64)?;
        Ok(window.iter().rposition(|byte| *byte != 0).map_or(0, |last| last as u64 + 1))
    }

    /// Bytes of ring. It holds [`WINDOW`] bytes less than that.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Offset behind the newest published byte.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Oldest offset still held.
    pub fn start(&self) -> u64 {
        (self.end + WINDOW).saturating_sub(self.capacity)
    }

    /// Another descriptor of the same file, to hand over.
    pub fn file(&self) -> std::io::Result<OwnedFd> {
        self.file.try_clone()
    }

    /// How many bytes `open` recovered from a writer that died.
    pub fn recovered(&self) -> u64 {
        self.recovered
    }

    /// Offset up to which the daemon has done the side effects of the bytes.
    pub fn handled(&self) -> u64 {
        self.map.word(WORD_HANDLED).load(Ordering::Acquire)
    }

    /// Notes that side effects are done up to `offset`; more than was read is cut.
    pub fn set_handled(&self, offset: u64) {
        self.store(WORD_HANDLED, offset.min(self.end + self.fresh));
    }

    /// Reads once, at most [`WINDOW`] bytes, straight into the ring; 0 is end of file. The bytes are then [`fresh`](Self::fresh)
    /// until [`publish`](Self::publish); fresh bytes of an earlier read are published first.
    pub fn read_from(&mut self, pty: BorrowedFd<'_>) -> std::io::Result<usize> {
        let (at, room) = self.make_room();
        let got = rustix::io::read(pty, self.map.bytes_mut(at, room))?;
        self.fresh = got as u64;
        Ok(got)
    }

    /// The bytes of the last read, if not yet published.
    pub fn fresh(&self) -> &[u8] {
        self.map.bytes(self.position(self.end), self.fresh as usize)
    }

    /// Makes the fresh bytes part of the ring for good.
    pub fn publish(&mut self) {
        self.end += self.fresh;
        self.fresh = 0;
        self.store(WORD_END, self.end);
    }

    /// Appends bytes that did not come from a PTY, and publishes them.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (at, room) = self.make_room();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.map.bytes_mut(at, now.len()).copy_from_slice(now);
            self.fresh = now.len() as u64;
            self.publish();
            bytes = later;
        }
    }

    /// The bytes from `from` to `to`, as far as they are held; two pieces where the ring wraps.
    pub fn slices(&self, from: u64, to: u64) -> (&[u8], &[u8]) {
        let to = to.clamp(self.start(), self.end);
        let from = from.clamp(self.start(), to);
        let length = to - from;
        let first = self.contiguous(from).min(length);
        (
            self.map.bytes(self.position(from), first as usize),
            self.map.bytes(0, (length - first) as usize),
        )
    }

    /// Zeroes what is missing of the window behind `end` and says where in the ring to write, and how much.
    ///
    /// Only bytes older than `start()` are zeroed, and `clean` is raised only afterwards, so a writer that dies anywhere
    /// in here loses nothing and leaves nothing that recovery could mistake for fresh bytes.
    fn make_room(&mut self) -> (usize, usize) {
        if self.fresh > 0 {
            self.publish();
        }
        let goal = self.end + WINDOW;
        while self.clean < goal {
            let length = self.contiguous(self.clean).min(goal - self.clean);
            let at = self.position(self.clean);
            self.map.bytes_mut(at, length as usize).fill(0);
            self.clean += length;
        }
        self.store(WORD_CLEAN, self.clean);
        (self.position(self.end), self.contiguous(self.end).min(WINDOW) as usize)
    }

    fn position(&self, offset: u64) -> usize {
        (offset % self.capacity) as usize
    }

    fn contiguous(&self, offset: u64) -> u64 {
        self.capacity - offset % self.capacity
    }

    /// Release, so that bytes written before are in place before the word that announces them.
    fn store(&self, word: usize, value: u64) {
        self.map.word(word).store(value, Ordering::Release);
    }
}

/// Without the seal a shrinking file would turn every access through the mapping into a fatal signal.
fn seal(file: BorrowedFd<'_>) -> Result<(), RingError> {
    let sealed =
        rustix::fs::fcntl_get_seals(file).is_ok_and(|seals| seals.contains(SealFlags::SHRINK));
    if sealed {
        return Ok(());
    }
    rustix::fs::fcntl_add_seals(file, SealFlags::SHRINK)
        .map_err(|errno| RingError::NotSealed(errno.into()))
}
