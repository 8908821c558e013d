//! A row of cells as it travels.

use rookery_term::{CellRef, Colors, RowRef, Width};
use unicode_width::UnicodeWidthChar;

use super::super::{Row, RowPart, RowText};
use super::styles::{Numbers, Table};

/// A row with the numbers of its styles.
pub(super) fn encode(
    row: RowRef<'_>,
    cols: u16,
    colors: &Colors,
    table: &mut Table,
    numbers: &mut Numbers,
) -> Row {
    let mut text = Text::default();
    let mut runs = Runs::default();
    let mut last: Option<(CellRef<'_>, u32)> = None;
    let mut cells = row.cells().take(usize::from(cols)).peekable();
    while let Some(cell) = cells.next() {
        let style = match &last {
            Some((before, style)) if before.same_style(&cell) => *style,
            _ => table.id(&cell.style(), colors, numbers),
        };
        last = Some((cell, style));
        let is_whole = cells.peek().is_some_and(|next| next.width() == Width::Continuation);
        match cell.width() {
            Width::Wide if is_whole => {
                cells.next();
                text.push_cluster(&cell.shown(), 2);
                runs.push(2, style);
            }
            // Half of a wide character is a blank.
            Width::Wide | Width::Continuation => {
                text.push_blank(style);
                runs.push(1, style);
            }
            Width::Narrow => {
                text.push_cell(cell, style);
                runs.push(1, style);
            }
        }
    }
    let flags = if row.is_wrapped() { Row::RUNS_ON } else { 0 };
    Row { number: row.number, text: text.finish(), runs: runs.finish(), flags }
}

/// The cells and style of a row in turn.
#[derive(Default)]
struct Runs(Vec<u32>);

impl Runs {
    fn push(&mut self, cells: u32, style: u32) {
        match self.0[..] {
            [.., ref mut count, last] if last == style => *count += cells,
            _ => self.0.extend([cells, style]),
        }
    }

    fn finish(mut self) -> Vec<u32> {
        if self.0.last() == Some(&0) {
            self.0.truncate(self.0.len() - 2);
        }
        self.0
    }
}

/// The text of a row in the making.
#[derive(Default)]
struct Text {
    parts: Vec<RowPart>,
    plain: String,
    /// Default blanks that nothing followed yet.
    blanks: usize,
    buffer: String,
}

impl Text {
    fn push_cell(&mut self, cell: CellRef<'_>, style: u32) {
        let mut shown = std::mem::take(&mut self.buffer);
        shown.clear();
        cell.push_shown(&mut shown);
        let mut chars = shown.chars();
        match (chars.next(), chars.next()) {
            (Some(' '), None) => self.push_blank(style),
            (Some(c), None) => {
                self.flush_blanks();
                self.plain.push(c);
            }
            _ => self.push_cluster(&shown, 1),
        }
        self.buffer = shown;
    }

    fn push_blank(&mut self, style: u32) {
        self.blanks += 1;
        if style != 0 {
            self.flush_blanks();
        }
    }

    fn push_cluster(&mut self, cluster: &str, cells: u16) {
        self.flush_blanks();
        self.flush_plain();
        self.parts.push(RowPart::Cluster(cluster.to_owned(), cells));
    }

    fn flush_blanks(&mut self) {
        self.plain.extend(std::iter::repeat_n(' ', std::mem::take(&mut self.blanks)));
    }

    fn flush_plain(&mut self) {
        if !self.plain.is_empty() {
            self.parts.push(RowPart::Plain(std::mem::take(&mut self.plain)));
        }
    }

    fn finish(mut self) -> RowText {
        if self.parts.is_empty() {
            return RowText::Plain(self.plain);
        }
        self.flush_plain();
        RowText::Parts(self.parts)
    }
}

impl RowText {
    /// A text that was not made by cells, such as a masked one, in at most this number of cells.
    pub fn from_text(text: &str, cols: u16) -> RowText {
        let mut out = Text::default();
        let mut left = cols;
        for c in text.chars() {
            let cells = u16::try_from(c.width().unwrap_or(0)).unwrap_or(0);
            if cells > left {
                break;
            }
            left -= cells;
            match cells {
                // Without a cell of its own it would shift everything after it.
                0 => {}
                1 if c == ' ' => out.push_blank(0),
                1 => {
                    out.flush_blanks();
                    out.plain.push(c);
                }
                _ => out.push_cluster(c.encode_utf8(&mut [0; 4]), cells),
            }
        }
        out.finish()
    }
}
