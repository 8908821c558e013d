//! The pages of a damaged database, read without SQLite: the file itself, and over it what whole
//! transactions of its write-ahead log say.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::files;

const MAGIC: &[u8] = b"SQLite format 3\0";
/// What our databases have, where a header does not tell.
const USUAL_SIZE: usize = 4_096;
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// The last bit says in which byte order the checksums were made.
const LOG_MAGIC: u32 = 0x377f_0682;

/// Where pages are found, by their number from 1.
pub(super) struct Pages {
    file: File,
    log: Option<File>,
    size: usize,
    reserved: usize,
    count: u32,
    /// Where the log has a newer version of a page.
    newer: HashMap<u32, u64>,
}

impl Pages {
    /// Opens a database and the log beside it. Nothing is changed.
    pub(super) fn open(database: &Path) -> io::Result<Pages> {
        let file = File::open(database)?;
        let mut header = [0; 100];
        let has_header = file.read_exact_at(&mut header, 0).is_ok() && header.starts_with(MAGIC);
        let own = has_header.then(|| page_size(u32::from(be16(&header, 16)))).flatten();
        let log = File::open(files::beside(database, "-wal")).ok();
        let frames = log.as_ref().and_then(|log| Frames::read(log).ok().flatten());
        let of_log = frames.as_ref().map(|frames| frames.size);
        let size = own.or(of_log).unwrap_or(USUAL_SIZE);
        let frames = frames.filter(|frames| frames.size == size);
        let reserved = if has_header { usize::from(header[20]).min(size / 4) } else { 0 };
        let in_file = u32::try_from(file.metadata()?.len() / size as u64).unwrap_or(u32::MAX);
        let in_log = frames.as_ref().map_or(0, |frames| frames.pages);
        let newer = frames.map(|frames| frames.newer).unwrap_or_default();
        Ok(Pages { file, log, size, reserved, count: in_file.max(in_log), newer })
    }

    /// How many pages there are.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Bytes of a page that hold content.
    pub(super) fn usable(&self) -> usize {
        self.size - self.reserved
    }

    /// A page; none if it does not exist or the disk does not give it.
    pub(super) fn page(&self, number: u32) -> Option<Vec<u8>> {
        if number == 0 || number > self.count {
            return None;
        }
        let mut page = vec![0; self.size];
        let read = match (self.newer.get(&number), &self.log) {
            (Some(at), Some(log)) => log.read_exact_at(&mut page, *at),
            _ => self.file.read_exact_at(&mut page, u64::from(number - 1) * self.size as u64),
        };
        read.ok().map(|()| page)
    }
}

/// What the whole transactions of a log hold.
struct Frames {
    size: usize,
    /// How many pages the database has after the last of them.
    pages: u32,
    newer: HashMap<u32, u64>,
}

impl Frames {
    /// Reads a log up to the first frame that is torn; none if it is no log at all.
    fn read(log: &File) -> io::Result<Option<Frames>> {
        let mut header = [0; LOG_HEADER];
        if log.read_exact_at(&mut header, 0).is_err() {
            return Ok(None);
        }
        let magic = be32(&header, 0);
        let Some(size) = page_size(be32(&header, 8)) else { return Ok(None) };
        let is_big_endian = magic == LOG_MAGIC | 1;
        let sums = checksum((0, 0), &header[..24], is_big_endian);
        if magic & !1 != LOG_MAGIC || sums != (be32(&header, 24), be32(&header, 28)) {
            return Ok(None);
        }
        let mut frames = Frames { size, pages: 0, newer: HashMap::new() };
        let mut unfinished = Vec::new();
        let (mut sums, mut at) = (sums, LOG_HEADER as u64);
        let mut frame = vec![0; FRAME_HEADER + size];
        while log.read_exact_at(&mut frame, at).is_ok() {
            sums = checksum(sums, &frame[..8], is_big_endian);
            sums = checksum(sums, &frame[FRAME_HEADER..], is_big_endian);
            let is_of_log = frame[8..16] == header[16..24];
            if !is_of_log || sums != (be32(&frame, 16), be32(&frame, 20)) {
                break;
            }
            unfinished.push((be32(&frame, 0), at + FRAME_HEADER as u64));
            let pages = be32(&frame, 4);
            if pages != 0 {
                frames.pages = pages;
                frames.newer.extend(unfinished.drain(..));
            }
            at += frame.len() as u64;
        }
        Ok(Some(frames))
    }
}

/// The checksum of a log, carried on over more of it.
fn checksum(sums: (u32, u32), bytes: &[u8], is_big_endian: bool) -> (u32, u32) {
    let word = |bytes: &[u8]| match is_big_endian {
        true => be32(bytes, 0),
        false => be32(bytes, 0).swap_bytes(),
    };
    bytes.chunks_exact(8).fold(sums, |(first, second), pair| {
        let first = first.wrapping_add(word(&pair[..4])).wrapping_add(second);
        (first, second.wrapping_add(word(&pair[4..])).wrapping_add(first))
    })
}

/// A size that pages can have; 1 stands for the largest.
fn page_size(said: u32) -> Option<usize> {
    let size = if said == 1 { 65_536 } else { said };
    (size.is_power_of_two() && (512..=65_536).contains(&size)).then_some(size as usize)
}

/// Two bytes as a number; 0 beyond the end.
pub(super) fn be16(bytes: &[u8], at: usize) -> u16 {
    let found = bytes.get(at..at + 2).and_then(|found| found.try_into().ok());
    found.map_or(0, u16::from_be_bytes)
}

/// Four bytes as a number; 0 beyond the end.
pub(super) fn be32(bytes: &[u8], at: usize) -> u32 {
    let found = bytes.get(at..at + 4).and_then(|found| found.try_into().ok());
    found.map_or(0, u32::from_be_bytes)
}
