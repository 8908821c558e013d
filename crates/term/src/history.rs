//! Scrollback in compact blocks, bounded by rows.
//!
//! Full blocks go to a [`BlockStore`], which may lie outside this process'
//! memory; only the newest, open block is held here. Rows are numbered from
//! the first one that ever scrolled off, so a number never changes its row.

use std::collections::VecDeque;

use alacritty_terminal::term::cell::Cell;

use crate::bin::{Damaged, Read, Reader, Writer};
use crate::row;

/// A block is sealed when it reaches this size; one slot of a store must hold it.
pub const BLOCK_BYTES: usize = 64 * 1024;

/// A row that would not fit is stored as bare text; this many bytes always suffice for that.
const MAX_ROW_BYTES: usize = 32 * 1024;

/// Blocks kept at most, however few rows fit into each; a store needs this many slots.
pub const MAX_BLOCKS: usize = 256;

/// Rows are at most this wide when read back.
const MAX_CELLS: usize = 4096;

/// Where sealed history blocks are kept.
pub trait BlockStore: Send {
    /// Keeps a block under its serial number. Serials only grow.
    fn put(&mut self, serial: u64, block: &[u8]);
    /// Gives a block back, or nothing if it was overwritten or lost.
    fn get(&self, serial: u64) -> Option<Vec<u8>>;
    /// A block that will not be asked for again.
    fn forget(&mut self, serial: u64);
}

/// Keeps sealed blocks in memory: for tests and for terminals without a ring.
#[derive(Debug, Default)]
pub struct MemoryBlocks(VecDeque<(u64, Vec<u8>)>);

impl BlockStore for MemoryBlocks {
    fn put(&mut self, serial: u64, block: &[u8]) {
        self.0.push_back((serial, block.to_vec()));
    }

    fn get(&self, serial: u64) -> Option<Vec<u8>> {
        self.0.iter().find(|(key, _)| *key == serial).map(|(_, block)| block.clone())
    }

    fn forget(&mut self, serial: u64) {
        self.0.retain(|(key, _)| *key != serial);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sealed {
    serial: u64,
    rows: u32,
}

/// The scrollback of one terminal.
pub(crate) struct History {
    blocks: Box<dyn BlockStore>,
    sealed: VecDeque<Sealed>,
    next_serial: u64,
    open: Vec<u8>,
    /// Where each row of the open block starts.
    open_rows: Vec<u32>,
    /// Number of the oldest row kept.
    first: u64,
    /// Number of the next row to come.
    next: u64,
    /// Whether the newest row runs on into the first one of the screen.
    runs_on: bool,
    limit: usize,
}

impl History {
    pub(crate) fn new(limit: usize, blocks: Box<dyn BlockStore>) -> History {
        History {
            blocks,
            sealed: VecDeque::new(),
            next_serial: 0,
            open: Vec::new(),
            open_rows: Vec::new(),
            first: 0,
            next: 0,
            runs_on: false,
            limit,
        }
    }

    /// Number that the next row will get; also the number of the first row on the screen.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn len(&self) -> usize {
        (self.next - self.first) as usize
    }

    pub(crate) fn push(&mut self, cells: &[Cell]) {
        if self.limit == 0 {
            self.next += 1;
            self.first = self.next;
            return;
        }
        let start = self.open.len();
        row::encode(cells, &mut self.open);
        if self.open.len() - start > MAX_ROW_BYTES {
            self.open.truncate(start);
            row::encode(&bare(cells), &mut self.open);
        }
        self.open_rows.push(start as u32);
        self.next += 1;
        self.runs_on = row::is_wrapped(cells);
        if self.open.len() >= BLOCK_BYTES - MAX_ROW_BYTES {
            self.seal();
        }
        self.trim();
    }

    fn seal(&mut self) {
        let serial = self.next_serial;
        self.next_serial += 1;
        self.blocks.put(serial, &self.open);
        self.sealed.push_back(Sealed { serial, rows: self.open_rows.len() as u32 });
        self.open.clear();
        self.open_rows.clear();
    }

    /// Forgets whole blocks off the old end; then only the first row's number moves on.
    fn trim(&mut self) {
        if self.len() > self.limit {
            self.first = self.next - self.limit as u64;
        }
        if self.sealed.len() >= MAX_BLOCKS
            && let Some(oldest) = self.sealed.front()
        {
            self.first = self.first.max(self.oldest_held() + u64::from(oldest.rows));
        }
        while let Some(oldest) = self.sealed.front() {
            if self.oldest_held() + u64::from(oldest.rows) > self.first {
                break;
            }
            self.blocks.forget(oldest.serial);
            self.sealed.pop_front();
        }
    }

    /// Number of the oldest row that still has bytes.
    fn oldest_held(&self) -> u64 {
        let sealed: u64 = self.sealed.iter().map(|block| u64::from(block.rows)).sum();
        self.next - self.open_rows.len() as u64 - sealed
    }

    pub(crate) fn clear(&mut self) {
        for block in self.sealed.drain(..) {
            self.blocks.forget(block.serial);
        }
        self.open.clear();
        self.open_rows.clear();
        self.first = self.next;
        self.runs_on = false;
    }

    /// Frees what an idle terminal does not need.
    pub(crate) fn shrink(&mut self) {
        self.open.shrink_to_fit();
        self.open_rows.shrink_to_fit();
    }

    /// Rows from number `from` up to `to`, oldest first. Rows no longer held are left out.
    pub(crate) fn rows(&self, from: u64, to: u64) -> Vec<Vec<Cell>> {
        let from = from.max(self.first);
        let to = to.min(self.next);
        let mut found = Vec::new();
        let mut start = self.oldest_held();
        for block in &self.sealed {
            let end = start + u64::from(block.rows);
            if end > from
                && start < to
                && let Some(bytes) = self.blocks.get(block.serial)
            {
                collect_rows(&bytes, start, from, to, &mut found);
            }
            start = end;
        }
        let skipped = from.saturating_sub(start);
        if let Some(&at) = self.open_rows.get(skipped as usize) {
            collect_rows(&self.open[at as usize..], start + skipped, from, to, &mut found);
        }
        found
    }

    /// Rows before number `to` that run on into it, oldest first, until there are `enough` cells.
    fn running_on(&self, mut to: u64, enough: usize) -> Vec<Vec<Cell>> {
        let mut found = Vec::new();
        let mut cells = 0;
        let mut step = 16;
        let mut more = to < self.next || self.runs_on;
        while more && to > self.first {
            let from = to.saturating_sub(step).max(self.first);
            let rows = self.rows(from, to);
            more = rows.len() as u64 == to - from;
            for row in rows.into_iter().rev() {
                more &= row::is_wrapped(&row) && cells < enough;
                if !more {
                    break;
                }
                cells += row.len();
                found.push(row);
            }
            to = from;
            step *= 2;
        }
        found.reverse();
        found
    }

    /// Text of the line that runs on into the first row of the screen: its last `max_chars` characters.
    pub(crate) fn unfinished_line(&self, max_chars: usize) -> String {
        let mut text = String::new();
        if !self.runs_on {
            return text;
        }
        // A character takes two cells at most.
        for cells in self.running_on(self.next, max_chars * 2) {
            row::push_text(&cells, &mut text);
        }
        if let Some((excess, _)) = text.char_indices().rev().nth(max_chars.saturating_sub(1)) {
            text.drain(..excess);
        }
        text
    }

    /// Takes out the newest `count` rows and those that run on into the first of them, oldest first. A
    /// line may begin yet before that, if it has more than `enough` cells.
    pub(crate) fn take_lines(&mut self, count: usize, enough: usize) -> Vec<Vec<Cell>> {
        let count = count.min(self.len());
        let before = self.running_on(self.next - count as u64, enough).len();
        self.take_newest(count + before)
    }

    /// Takes the newest `count` rows out again, oldest first, to lay them back into a grid.
    fn take_newest(&mut self, count: usize) -> Vec<Vec<Cell>> {
        let count = count.min(self.len());
        let keep_to = self.next - count as u64;
        let taken = self.rows(keep_to, self.next);
        let mut open_start = self.next - self.open_rows.len() as u64;
        while open_start > keep_to {
            let Some(block) = self.sealed.pop_back() else { break };
            let bytes = self.blocks.get(block.serial).unwrap_or_default();
            self.blocks.forget(block.serial);
            open_start -= u64::from(block.rows);
            self.open_rows = row_starts(&bytes);
            self.open = bytes;
        }
        let keep = (keep_to.saturating_sub(open_start) as usize).min(self.open_rows.len());
        if let Some(&cut) = self.open_rows.get(keep) {
            self.open.truncate(cut as usize);
            self.open_rows.truncate(keep);
        }
        self.next = keep_to;
        self.first = self.first.min(self.next);
        self.runs_on = self.newest_runs_on();
        taken
    }

    fn newest_runs_on(&self) -> bool {
        let newest = self.rows(self.next.saturating_sub(1), self.next);
        newest.last().is_some_and(|cells| row::is_wrapped(cells))
    }

    pub(crate) fn save(&self, writer: &mut Writer<'_>) {
        writer.uint(self.first);
        writer.uint(self.next);
        writer.uint(self.next_serial);
        writer.uint(self.sealed.len() as u64);
        for block in &self.sealed {
            writer.uint(block.serial);
            writer.uint(u64::from(block.rows));
        }
        writer.bytes(&self.open);
    }

    /// Rebuilds from what [`History::save`] wrote. Blocks that the store lost meanwhile were the oldest ones.
    pub(crate) fn load(
        reader: &mut Reader<'_>,
        limit: usize,
        blocks: Box<dyn BlockStore>,
    ) -> Read<History> {
        let first = reader.uint()?;
        let next = reader.uint()?;
        let next_serial = reader.uint()?;
        let count = reader.uint_to(1 << 20)?;
        let mut sealed = VecDeque::new();
        for _ in 0..count {
            let serial = reader.uint()?;
            let rows = reader.uint_to(BLOCK_BYTES as u64)? as u32;
            sealed.push_back(Sealed { serial, rows });
        }
        let open = reader.bytes()?.to_vec();
        let open_rows = row_starts(&open);
        let held =
            open_rows.len() as u64 + sealed.iter().map(|block| u64::from(block.rows)).sum::<u64>();
        if first > next || held > next || (next - first) > held {
            return Err(Damaged);
        }
        let mut history = History {
            blocks,
            sealed,
            next_serial,
            open,
            open_rows,
            first,
            next,
            runs_on: false,
            limit,
        };
        history.drop_lost_blocks();
        history.runs_on = history.newest_runs_on();
        Ok(history)
    }

    fn drop_lost_blocks(&mut self) {
        while let Some(oldest) = self.sealed.front() {
            if self.blocks.get(oldest.serial).is_some() {
                break;
            }
            self.first = self.first.max(self.oldest_held() + u64::from(oldest.rows));
            self.sealed.pop_front();
        }
    }
}

/// A row without styles, links and combining marks, for the rare row too large to keep whole.
fn bare(cells: &[Cell]) -> Vec<Cell> {
    cells.iter().map(|cell| Cell { c: cell.c, flags: cell.flags, ..Cell::default() }).collect()
}

fn row_starts(block: &[u8]) -> Vec<u32> {
    let mut reader = Reader(block);
    let mut starts = Vec::new();
    while !reader.0.is_empty() {
        let start = (block.len() - reader.0.len()) as u32;
        if row::decode(&mut reader, MAX_CELLS).is_err() {
            break;
        }
        starts.push(start);
    }
    starts
}

fn collect_rows(block: &[u8], start: u64, from: u64, to: u64, found: &mut Vec<Vec<Cell>>) {
    let mut reader = Reader(block);
    let mut number = start;
    while !reader.0.is_empty() && number < to {
        let Ok(cells) = row::decode(&mut reader, MAX_CELLS) else { return };
        if number >= from {
            found.push(cells);
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::WRITTEN;

    fn line(text: &str) -> Vec<Cell> {
        text.chars().map(|c| Cell { c, flags: WRITTEN, ..Cell::default() }).collect()
    }

    fn text(cells: &[Cell]) -> String {
        let mut out = String::new();
        row::push_text(cells, &mut out);
        out
    }

    #[test]
    fn the_oldest_rows_go_first_and_numbers_stay() {
        let mut history = History::new(3000, Box::new(MemoryBlocks::default()));
        for number in 0..10_000 {
            history.push(&line(&format!("line {number} {}", "x".repeat(60))));
        }
        assert_eq!(history.len(), 3000);
        assert_eq!(history.first, 7000);
        let rows = history.rows(6990, 7002);
        assert_eq!(rows.len(), 2);
        assert!(text(&rows[0]).starts_with("line 7000 "));
        assert!(text(&history.rows(9999, 10_000)[0]).starts_with("line 9999 "));
    }

    #[test]
    fn rows_can_be_taken_back_across_blocks() {
        let mut history = History::new(10_000, Box::new(MemoryBlocks::default()));
        for number in 0..2_000 {
            history.push(&line(&format!("{number} {}", "y".repeat(70))));
        }
        let taken = history.take_newest(1_500);
        assert_eq!(taken.len(), 1_500);
        assert!(text(&taken[0]).starts_with("500 "));
        assert_eq!(history.next(), 500);
        history.push(&line("again"));
        assert_eq!(text(&history.rows(500, 501)[0]), "again");
        assert!(text(&history.rows(499, 500)[0]).starts_with("499 "));
    }

    #[test]
    fn saved_history_loads_and_lost_blocks_only_shorten_it() {
        let mut history = History::new(10_000, Box::new(MemoryBlocks::default()));
        for number in 0..3_000 {
            history.push(&line(&format!("{number} {}", "z".repeat(70))));
        }
        let mut bytes = Vec::new();
        history.save(&mut Writer(&mut bytes));
        let lost =
            History::load(&mut Reader(&bytes), 10_000, Box::new(MemoryBlocks::default())).unwrap();
        assert!(lost.len() < 3_000);
        assert!(text(&lost.rows(2_999, 3_000)[0]).starts_with("2999 "));
    }

    #[test]
    fn a_line_is_followed_upward_across_blocks_and_only_to_its_start() {
        let mut history = History::new(10_000, Box::new(MemoryBlocks::default()));
        history.push(&line("another"));
        for number in 0..2_000 {
            let mut cells = line(&format!("{number:070}"));
            cells[69].flags.insert(alacritty_terminal::term::cell::Flags::WRAPLINE);
            history.push(&cells);
        }
        assert!(history.sealed.len() > 1, "the line must not fit into one block");
        assert_eq!(history.unfinished_line(140), format!("{:070}{:070}", 1998, 1999));
        assert_eq!(history.running_on(history.next, usize::MAX).len(), 2_000);
        assert_eq!(history.take_lines(5, 700).len(), 15);
        assert!(history.unfinished_line(70).ends_with("1984"));
        assert_eq!(history.take_lines(0, usize::MAX).len(), 1_985);
        assert_eq!(history.unfinished_line(70), "");
        assert_eq!(text(&history.take_lines(9, 1)[0]), "another");
    }
}
