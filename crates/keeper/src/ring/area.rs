//! What lies behind the ring in the same file: two alternating checkpoints of the emulator, and slots for blocks of history.
//! Written with `pwrite`, so that only what is used exists; every piece carries a checksum.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::io::Errno;

use super::Ring;
use super::mapping::HEADER_BYTES;

/// Longest checkpoint.
pub const MAX_CHECKPOINT: usize = 1 << 20;

/// Longest history block.
pub const BLOCK_BYTES: usize = 64 << 10;

/// How many block slots a ring file can have.
pub const MAX_BLOCK_SLOTS: u32 = 1 << 16;

const BLOCK_HEADER: usize = 32;

/// First header word of each checkpoint descriptor, and the words within it.
const SLOTS: [usize; 2] = [8, 16];
const SEQ: usize = 0;
const STREAM: usize = 1;
const POSITION: usize = 2;
const LENGTH: usize = 3;
const CRC: usize = 4;

/// State of the emulator at a known offset of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The state is that after all bytes before this offset.
    pub stream_offset: u64,
    /// Opaque to the ring.
    pub blob: Vec<u8>,
}

impl Ring {
    /// Stores a checkpoint. The former one stays valid until this one is complete.
    pub fn write_checkpoint(&mut self, stream_offset: u64, blob: &[u8]) -> io::Result<()> {
        if blob.len() > MAX_CHECKPOINT {
            return Err(invalid("checkpoint exceeds its area"));
        }
        if stream_offset > self.end {
            return Err(invalid("checkpoint lies ahead of the published bytes"));
        }
        let [first, second] = SLOTS.map(|slot| self.load(slot + SEQ));
        let area = usize::from(second < first);
        let slot = SLOTS[area];
        let seq = first.max(second).saturating_add(1);
        let position = self.areas() + (area * MAX_CHECKPOINT) as u64;
        // The descriptor is void while its parts change.
        self.store(slot + SEQ, 0);
        pwrite_all(&self.file, blob, position)?;
        self.store(slot + STREAM, stream_offset);
        self.store(slot + POSITION, position);
        self.store(slot + LENGTH, blob.len() as u64);
        self.store(slot + CRC, checkpoint_crc(seq, stream_offset, blob).into());
        self.store(slot + SEQ, seq);
        Ok(())
    }

    /// The newest intact checkpoint from which the ring can be replayed to its end.
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        let mut slots = SLOTS;
        slots.sort_by_key(|slot| std::cmp::Reverse(self.load(slot + SEQ)));
        let held = self.start()..=self.end;
        slots
            .into_iter()
            .filter_map(|slot| self.load_checkpoint(slot))
            .find(|found| held.contains(&found.stream_offset))
    }

    /// A descriptor that does not match its blob must not influence which slot is written next.
    pub(super) fn drop_damaged_checkpoints(&self) {
        for slot in SLOTS {
            if self.load_checkpoint(slot).is_none() {
                self.store(slot + SEQ, 0);
            }
        }
    }

    fn load_checkpoint(&self, slot: usize) -> Option<Checkpoint> {
        let seq = self.load(slot + SEQ);
        let stream_offset = self.load(slot + STREAM);
        let position = self.load(slot + POSITION);
        let length = usize::try_from(self.load(slot + LENGTH)).ok()?;
        if seq == 0
            || length > MAX_CHECKPOINT
            || position < self.areas()
            || position > i64::MAX as u64
        {
            return None;
        }
        let mut blob = vec![0; length];
        pread_exact(&self.file, &mut blob, position).ok()?;
        let crc = u64::from(checkpoint_crc(seq, stream_offset, &blob));
        (crc == self.load(slot + CRC)).then_some(Checkpoint { stream_offset, blob })
    }

    /// File position of the first checkpoint area.
    fn areas(&self) -> u64 {
        HEADER_BYTES as u64 + self.capacity
    }

    /// A handle on the block slots of this file, usable apart from the ring.
    pub fn blocks(&self) -> Blocks {
        let first = self.areas() + (SLOTS.len() * MAX_CHECKPOINT) as u64;
        Blocks { file: Arc::clone(&self.file), first }
    }

    fn load(&self, word: usize) -> u64 {
        self.map.word(word).load(Ordering::Acquire)
    }
}

/// The block slots of a ring file.
#[derive(Debug, Clone)]
pub struct Blocks {
    file: Arc<OwnedFd>,
    /// File position of the first slot.
    first: u64,
}

impl Blocks {
    /// Stores a block of history in a slot, in place of what the slot held.
    pub fn write(&self, slot: u32, serial: u64, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() > BLOCK_BYTES {
            return Err(invalid("history block exceeds its slot"));
        }
        let position = self.block_position(slot)?;
        let mut header = [0; BLOCK_HEADER];
        header[..8].copy_from_slice(&serial.to_le_bytes());
        header[8..12].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        header[12..16].copy_from_slice(&block_crc(serial, bytes).to_le_bytes());
        pwrite_all(&self.file, bytes, position + BLOCK_HEADER as u64)?;
        pwrite_all(&self.file, &header, position)?;
        Ok(())
    }

    /// The block with this serial, or `None` if the slot now holds another one or a torn one.
    pub fn read(&self, slot: u32, serial: u64) -> io::Result<Option<Vec<u8>>> {
        let position = self.block_position(slot)?;
        let mut header = [0; BLOCK_HEADER];
        match pread_exact(&self.file, &mut header, position) {
            Err(Errno::NODATA) => return Ok(None),
            other => other?,
        }
        let [s0, s1, s2, s3, s4, s5, s6, s7, l0, l1, l2, l3, c0, c1, c2, c3, ..] = header;
        let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        if u64::from_le_bytes([s0, s1, s2, s3, s4, s5, s6, s7]) != serial || length > BLOCK_BYTES {
            return Ok(None);
        }
        let mut bytes = vec![0; length];
        match pread_exact(&self.file, &mut bytes, position + BLOCK_HEADER as u64) {
            Err(Errno::NODATA) => return Ok(None),
            other => other?,
        }
        Ok((block_crc(serial, &bytes) == u32::from_le_bytes([c0, c1, c2, c3])).then_some(bytes))
    }

    pub(super) fn block_position(&self, slot: u32) -> io::Result<u64> {
        if slot >= MAX_BLOCK_SLOTS {
            return Err(invalid("no such block slot"));
        }
        Ok(self.first + u64::from(slot) * (BLOCK_HEADER + BLOCK_BYTES) as u64)
    }
}

/// Fills `buffer` or fails with `NODATA` where the file ends.
pub(super) fn pread_exact(
    file: &OwnedFd,
    mut buffer: &mut [u8],
    mut position: u64,
) -> Result<(), Errno> {
    while !buffer.is_empty() {
        match rustix::io::pread(file, &mut *buffer, position) {
            Ok(0) => return Err(Errno::NODATA),
            Ok(got) => {
                buffer = &mut buffer[got..];
                position += got as u64;
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

fn pwrite_all(file: &OwnedFd, mut bytes: &[u8], mut position: u64) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match rustix::io::pwrite(file, bytes, position) {
            Ok(0) => return Err(Errno::NOSPC),
            Ok(put) => {
                bytes = &bytes[put..];
                position += put as u64;
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

fn checkpoint_crc(seq: u64, stream_offset: u64, blob: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&seq.to_le_bytes());
    crc.update(&stream_offset.to_le_bytes());
    crc.update(&(blob.len() as u64).to_le_bytes());
    crc.update(blob);
    crc.finalize()
}

fn block_crc(serial: u64, bytes: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&serial.to_le_bytes());
    crc.update(&(bytes.len() as u64).to_le_bytes());
    crc.update(bytes);
    crc.finalize()
}

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}
