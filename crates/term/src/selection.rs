//! Selections by row number, so that they stay on their text while it scrolls.

use std::ops::Range;

use alacritty_terminal::term::cell::{Cell, Flags};

use crate::row;
use crate::screen::Screen;
use crate::snapshot::Snapshot;

/// A place in the terminal's text: a row number that never changes, and a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Row number as [`Screen::first_row`] counts.
    pub row: u64,
    /// Column from 0.
    pub col: u16,
}

/// What shape a selection has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionKind {
    /// From place to place, reading order.
    Text,
    /// Whole lines.
    Lines,
    /// A rectangle.
    Block,
}

/// A selection between two places, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Where it began.
    pub anchor: Place,
    /// Where it ends.
    pub head: Place,
    /// Its shape.
    pub kind: SelectionKind,
}

/// What the ends of a selection grow to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expand {
    /// Whole characters.
    Character,
    /// Words, where there are any.
    Word,
    /// Lines as they were before they wrapped.
    Line,
}

/// Rows of history that are read at a time.
const ROWS_AT_A_TIME: u64 = 256;

impl Selection {
    /// Its first and its last place.
    pub fn ends(&self) -> (Place, Place) {
        if self.anchor <= self.head { (self.anchor, self.head) } else { (self.head, self.anchor) }
    }

    /// The columns it covers on a row of this width, if any.
    pub fn columns_on(&self, row: u64, width: u16) -> Option<Range<u16>> {
        let (start, end) = self.ends();
        if !(start.row..=end.row).contains(&row) {
            return None;
        }
        let (from, to) = self.columns(row, start, end);
        let clip = |col: usize| u16::try_from(col).unwrap_or(u16::MAX).min(width);
        let covered = clip(from)..clip(to);
        (!covered.is_empty()).then_some(covered)
    }

    /// The text it covers. Rows that left the history are left out.
    ///
    /// Rows that wrapped are joined, blanks at the end of a line are dropped, and so are blank lines at
    /// the end, except that whole lines end with a line feed each.
    pub(crate) fn text(&self, screen: &Screen) -> String {
        self.text_within(screen, usize::MAX).0
    }

    /// The same up to about a number of bytes, and whether that cut it.
    pub(crate) fn text_within(&self, screen: &Screen, most: usize) -> (String, bool) {
        let (start, end) = self.ends();
        let last = end.row.min(screen.first_row() + u64::from(screen.size().rows) - 1);
        let mut text = Text { selection: self, start, end, last, out: String::new(), line: 0 };
        let mut from = start.row.max(screen.oldest_row());
        while from < screen.first_row() && from <= last {
            if text.out.len() > most {
                return text.cut(most);
            }
            let to = (from + ROWS_AT_A_TIME).min(screen.first_row()).min(last + 1);
            let rows = screen.history_rows(from, to);
            // What got lost is older than what is there.
            let lost = to - from - (rows.len() as u64).min(to - from);
            (from + lost..).zip(&rows).for_each(|(number, cells)| text.push_row(number, cells));
            from = to;
        }
        for number in from..=last {
            text.push_row(number, screen.emulator.row((number - screen.first_row()) as usize));
        }
        if text.out.len() > most { text.cut(most) } else { (text.finish(), false) }
    }

    /// The half-open column range it covers on a row.
    fn columns(&self, row: u64, start: Place, end: Place) -> (usize, usize) {
        match self.kind {
            SelectionKind::Lines => (0, usize::MAX),
            SelectionKind::Block => {
                let (low, high) =
                    (self.anchor.col.min(self.head.col), self.anchor.col.max(self.head.col));
                (usize::from(low), usize::from(high) + 1)
            }
            SelectionKind::Text => {
                let from = if row == start.row { usize::from(start.col) } else { 0 };
                let to = if row == end.row { usize::from(end.col) + 1 } else { usize::MAX };
                (from, to)
            }
        }
    }
}

impl Screen {
    /// The text a selection covers up to about `most` bytes, and whether there was more.
    pub fn selected_text_within(&self, selection: &Selection, most: usize) -> (String, bool) {
        selection.text_within(self, most)
    }

    /// A selection with both ends moved outward to whole characters, words or lines, and inward to rows
    /// that are there. `word_chars` belong to words besides letters and digits.
    pub fn settle(&self, selection: &Selection, expand: Expand, word_chars: &str) -> Selection {
        let newest = self.first_row() + u64::from(self.size().rows) - 1;
        let clamp = |place: Place| Place {
            row: place.row.clamp(self.oldest_shown(), newest),
            col: place.col.min(self.size().cols.saturating_sub(1)),
        };
        let (start, end) = selection.ends();
        let (start, end) = (clamp(start), clamp(end));
        let span = |place: Place| match expand {
            Expand::Character => None,
            Expand::Word => self.word_at(place, word_chars),
            Expand::Line => self.line_at(place.row),
        };
        let settled_start = match span(start) {
            Some(span) => span.start,
            None => Place { col: self.whole_char(start.row, start.col).0, ..start },
        };
        let settled_end = match span(end) {
            Some(span) => span.end,
            None => Place { col: self.whole_char(end.row, end.col).1, ..end },
        };
        let is_forward = selection.anchor <= selection.head;
        let (anchor, head) =
            if is_forward { (settled_start, settled_end) } else { (settled_end, settled_start) };
        Selection { anchor, head, kind: selection.kind }
    }
}

impl Place {
    /// Whether the row is among those that are shown.
    pub fn is_in(&self, view: &Snapshot) -> bool {
        (view.first_row..view.first_row + u64::from(view.rows)).contains(&self.row)
    }
}

/// A selection's text in the making.
struct Text<'a> {
    selection: &'a Selection,
    start: Place,
    end: Place,
    last: u64,
    out: String,
    /// Where the line begins that is being put together.
    line: usize,
}

impl Text<'_> {
    fn push_row(&mut self, number: u64, cells: &[Cell]) {
        let (from, to) = self.selection.columns(number, self.start, self.end);
        let mut from = from.min(cells.len());
        let to = to.min(cells.len()).max(from);
        // The second half of a wide character stands for all of it.
        let is_half = |col: usize| {
            cells.get(col).is_some_and(|cell| cell.flags.contains(Flags::WIDE_CHAR_SPACER))
        };
        if from > 0 && from < to && is_half(from) {
            from -= 1;
        }
        row::push_text(&cells[from..to], &mut self.out);
        let runs_on = row::is_wrapped(cells) && self.selection.kind != SelectionKind::Block;
        if !runs_on {
            self.end_line();
            if number != self.last || self.selection.kind == SelectionKind::Lines {
                self.out.push('\n');
            }
            self.line = self.out.len();
        }
    }

    fn end_line(&mut self) {
        let kept = self.out[self.line..].trim_end_matches(' ').len();
        self.out.truncate(self.line + kept);
    }

    fn cut(self, most: usize) -> (String, bool) {
        let mut out = self.out;
        out.truncate(out.floor_char_boundary(most));
        (out, true)
    }

    fn finish(mut self) -> String {
        self.end_line();
        if self.selection.kind == SelectionKind::Text {
            self.out.truncate(self.out.trim_end_matches('\n').len());
        }
        self.out
    }
}
