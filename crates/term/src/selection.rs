//! Selections by row number, so that they stay on their text while it scrolls.

use crate::row;
use crate::screen::Screen;

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

impl Selection {
    /// The text it covers. Rows that left the history are left out.
    pub(crate) fn text(&self, screen: &Screen) -> String {
        let (start, end) = if self.anchor <= self.head {
            (self.anchor, self.head)
        } else {
            (self.head, self.anchor)
        };
        let mut out = String::new();
        let last = end.row.min(screen.first_row() + u64::from(screen.size().rows) - 1);
        for number in start.row..=last {
            let stored = screen.history_rows(number, number + 1);
            let on_screen = number.checked_sub(screen.first_row());
            let cells = match (&stored[..], on_screen) {
                ([cells, ..], _) => cells.as_slice(),
                ([], Some(row)) => screen.emulator.row(row as usize),
                ([], None) => continue,
            };
            let (from, to) = self.columns(number, start, end);
            let from = from.min(cells.len());
            let to = to.min(cells.len()).max(from);
            let before = out.len();
            row::push_text(&cells[from..to], &mut out);
            let is_wrapped = row::is_wrapped(cells) && self.kind != SelectionKind::Block;
            if !is_wrapped {
                let trimmed = out[before..].trim_end_matches(' ').len();
                out.truncate(before + trimmed);
                if number != last || self.kind == SelectionKind::Lines {
                    out.push('\n');
                }
            }
        }
        out
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
