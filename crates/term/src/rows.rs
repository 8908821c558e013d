//! Rows by their numbers: those that changed, those of history, and the shell's marks on them.
//!
//! Row numbers hold as long as [`Screen::epoch`] stays the same.

use std::ops::Range;

use alacritty_terminal::term::cell::{Cell, Flags};

use crate::cell::CellRef;
use crate::osc::ShellMark;
use crate::row;
use crate::screen::Screen;

/// Lines that a private key and what stands around it may take.
const KEY_LINES: u64 = 80;
/// Characters of a line of one.
const KEY_LINE: u64 = 64;

/// Up to where a reader knows a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// [`Screen::epoch`] then.
    pub epoch: u64,
    /// [`Screen::sequence`] then.
    pub sequence: u64,
    /// [`Screen::first_row`] then.
    pub first: u64,
}

/// One row, borrowed from a screen.
#[derive(Clone, Copy)]
pub struct RowRef<'a> {
    pub number: u64,
    cells: &'a [Cell],
}

impl RowRef<'_> {
    /// Its cells from the left; a row of history may have fewer than the screen has columns.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = CellRef<'_>> {
        self.cells.iter().map(CellRef)
    }

    /// Whether its line runs on in the next row.
    pub fn is_wrapped(&self) -> bool {
        row::is_wrapped(self.cells)
    }

    /// Its text as a dump has it.
    pub fn text(&self) -> String {
        let mut text = String::new();
        row::push_text(self.cells, &mut text);
        text
    }
}

impl Screen {
    /// Raised whenever row numbers lose their meaning: after a change of the size, on entering and
    /// leaving the alternate screen, when history is cleared, and after a full reset.
    pub fn epoch(&self) -> u64 {
        self.emulator.stamps.epoch()
    }

    /// This moment, for [`Screen::rows_since`].
    pub fn mark(&self) -> Mark {
        Mark { epoch: self.epoch(), sequence: self.sequence(), first: self.first_row() }
    }

    /// Number of the oldest row that can be shown: the alternate screen has no history.
    pub fn oldest_shown(&self) -> u64 {
        self.first_row() - self.emulator.history_len() as u64
    }

    /// Visits the rows of a view that may have changed since a mark, in order; all of them without one.
    /// Rows that are neither on the screen nor in history are left out. A visited row need not differ:
    /// whoever has it compares.
    pub fn rows_since(
        &self,
        since: Option<Mark>,
        view: Range<u64>,
        visit: &mut dyn FnMut(RowRef<'_>),
    ) {
        let first = self.first_row();
        let since = since.filter(|mark| mark.epoch == self.epoch());
        // What was history then has not changed; what has become history since may have before it did.
        let old = since.map_or(0, |mark| mark.first);
        let from = view.start.max(self.oldest_shown()).max(old.min(first));
        self.visit_history(from..view.end.min(first), visit);
        let end = (first + u64::from(self.size().rows)).min(view.end);
        for number in view.start.max(first)..end {
            let row = (number - first) as usize;
            let changed = self.emulator.stamps.changed_at(row);
            if since.is_none_or(|mark| changed > mark.sequence) {
                visit(RowRef { number, cells: self.emulator.row(row) });
            }
        }
    }

    /// Visits rows of history and of the screen by their numbers, in order. Those that are gone are left
    /// out.
    pub fn visit_rows(&self, rows: Range<u64>, visit: &mut dyn FnMut(RowRef<'_>)) {
        self.rows_since(None, rows, visit);
    }

    /// Rows together with those around them in which a secret may begin or end that is on them: as many as
    /// a private key takes.
    pub fn around_secrets(&self, rows: Range<u64>) -> Range<u64> {
        let cols = u64::from(self.size().cols.max(1));
        let more = KEY_LINES * KEY_LINE.div_ceil(cols);
        rows.start.saturating_sub(more).max(self.oldest_shown())..rows.end.saturating_add(more)
    }

    fn visit_history(&self, rows: Range<u64>, visit: &mut dyn FnMut(RowRef<'_>)) {
        if rows.is_empty() {
            return;
        }
        let stored = self.history_rows(rows.start, rows.end);
        // What got lost is older than what is there.
        let lost = (rows.end - rows.start).saturating_sub(stored.len() as u64);
        for (number, cells) in (rows.start + lost..).zip(&stored) {
            visit(RowRef { number, cells });
        }
    }

    /// The shell's marks with the numbers of their rows, oldest first: the newest thousand that are on
    /// the primary screen or in its history.
    pub fn numbered_marks(&self) -> impl DoubleEndedIterator<Item = (u64, ShellMark)> + '_ {
        let oldest = self.oldest_row();
        self.emulator.prompts.iter().filter(move |(row, _)| *row >= oldest)
    }

    /// The row of the last prompt above a row; none on the alternate screen.
    pub fn prompt_before(&self, row: u64) -> Option<u64> {
        self.prompts().rev().find(|prompt| *prompt < row)
    }

    /// The row of the first prompt below a row; none on the alternate screen.
    pub fn prompt_after(&self, row: u64) -> Option<u64> {
        self.prompts().find(|prompt| *prompt > row)
    }

    fn prompts(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
        let is_primary = !self.emulator.is_alt();
        let marks = self.numbered_marks().filter(move |_| is_primary);
        marks.filter(|(_, mark)| *mark == ShellMark::PromptStart).map(|(row, _)| row)
    }

    /// Visits the cells of rows by their numbers, in order.
    pub(crate) fn visit_cells(&self, rows: Range<u64>, visit: &mut dyn FnMut(u64, &[Cell])) {
        self.visit_rows(rows, &mut |row| visit(row.number, row.cells));
    }

    /// The first and the last column of the character at a cell.
    pub(crate) fn whole_char(&self, row: u64, col: u16) -> (u16, u16) {
        let mut ends = (col, col);
        self.visit_rows(row..row + 1, &mut |found| {
            let flags = |col: u16| found.cells.get(usize::from(col)).map(|cell| cell.flags);
            if flags(col).is_some_and(|flags| flags.contains(Flags::WIDE_CHAR_SPACER)) {
                ends.0 = col.saturating_sub(1);
            }
            if flags(col).is_some_and(|flags| flags.contains(Flags::WIDE_CHAR)) {
                ends.1 = col + 1;
            }
        });
        ends
    }
}
