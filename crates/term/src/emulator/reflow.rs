//! Wrapped rows joined to lines, and lines cut into rows of another width.

use alacritty_terminal::term::cell::{Cell, Flags};

use crate::row::{self, WRITTEN};

/// A place among rows of cells. While a wrap is pending it is one column past the end of its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) row: usize,
    pub(super) col: usize,
}

/// Lays rows of any width out anew, and moves the marks along with the cells they stand at.
pub(super) fn rewrap(rows: Vec<Vec<Cell>>, cols: usize, marks: &mut [Mark]) -> Vec<Vec<Cell>> {
    let mut out = Vec::with_capacity(rows.len());
    let old_marks = marks.to_vec();
    let mut line: Vec<Cell> = Vec::new();
    // Marks on the line so far: which one, and how many cells stand before it.
    let mut offsets: Vec<(usize, usize)> = Vec::new();
    let count = rows.len();
    for (index, mut cells) in rows.into_iter().enumerate() {
        let runs_on = loosen(&mut cells, cols);
        let text = row::text_len(&cells);
        for (number, mark) in old_marks.iter().enumerate().filter(|(_, mark)| mark.row == index) {
            let col = if runs_on { mark.col.min(text) } else { mark.col };
            offsets.push((number, line.len() + col));
        }
        if runs_on {
            cells.truncate(text);
        }
        let text_end = line.len() + text;
        line.append(&mut cells);
        if runs_on && index + 1 < count {
            continue;
        }
        let first = out.len();
        let starts = cut(&line, text_end, cols, runs_on, &mut out);
        for (number, offset) in offsets.drain(..) {
            let (piece, col) = find(&starts, text_end, offset, cols);
            marks[number] = Mark { row: first + piece, col };
        }
        line.clear();
    }
    out
}

/// Takes off what only holds at the old width; gives whether the row runs on into the next.
fn loosen(cells: &mut Vec<Cell>, cols: usize) -> bool {
    let runs_on = row::is_wrapped(cells);
    let leads = |cell: &mut Cell| cell.flags.contains(Flags::LEADING_WIDE_CHAR_SPACER);
    if runs_on
        && let Some(spacer) = cells.pop_if(leads)
        && let Some(edge) = cells.last_mut()
    {
        // A gap before it was text because of the spacer.
        edge.flags.insert(spacer.flags & WRITTEN);
    }
    for cell in cells {
        // Deletions can carry the mark of a wrap away from the edge, where it would mean something again.
        cell.flags.remove(Flags::WRAPLINE);
        if cols < 2 {
            narrow(cell);
        }
    }
    runs_on
}

/// A wide character has no place on a single column.
fn narrow(cell: &mut Cell) {
    if cell.flags.contains(Flags::WIDE_CHAR) {
        cell.c = char::REPLACEMENT_CHARACTER;
    }
    cell.flags.remove(Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER);
}

/// Cuts one line into rows and gives the offset at which each begins. Blank cells behind the text take
/// no further row. `runs_on` marks the last row as wrapped, too.
fn cut(
    line: &[Cell],
    text_end: usize,
    cols: usize,
    runs_on: bool,
    out: &mut Vec<Vec<Cell>>,
) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut start = 0;
    loop {
        starts.push(start);
        let is_last = text_end <= start + cols;
        let splits_wide =
            !is_last && cols > 1 && line[start + cols - 1].flags.contains(Flags::WIDE_CHAR);
        let end = line.len().min(start + cols) - usize::from(splits_wide);
        let mut cells = line[start..end].to_vec();
        if !is_last || runs_on {
            cells.resize(cols, Cell::default());
            cells[cols - 1].flags.insert(Flags::WRAPLINE);
        }
        if !is_last {
            // Text follows, so a gap at the edge is as good as written; untouched it would not be text.
            cells[cols - 1].flags.insert(WRITTEN);
        }
        if splits_wide {
            cells[cols - 1].flags.insert(Flags::LEADING_WIDE_CHAR_SPACER);
        }
        out.push(cells);
        if is_last {
            return starts;
        }
        start = end;
    }
}

/// Row and column of an offset into a line. Behind the text there is only the last row to be on.
fn find(starts: &[usize], text_end: usize, offset: usize, cols: usize) -> (usize, usize) {
    let piece = starts.partition_point(|start| *start <= offset).saturating_sub(1);
    let col = offset - starts[piece];
    let rightmost = if offset == text_end { cols } else { cols - 1 };
    (piece, col.min(rightmost))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Vec<Cell> {
        text.chars().map(|c| Cell { c, flags: WRITTEN, ..Cell::default() }).collect()
    }

    fn texts(rows: &[Vec<Cell>]) -> Vec<String> {
        let text = |cells: &Vec<Cell>| {
            let mut out = String::new();
            row::push_text(cells, &mut out);
            if row::is_wrapped(cells) {
                out.push('+');
            }
            out
        };
        rows.iter().map(text).collect()
    }

    #[test]
    fn marks_keep_their_cells() {
        let mut marks = [0, 4, 5, 9, 10, 12].map(|col| Mark { row: 0, col });
        let rows = rewrap(vec![written("0123456789"), written("next")], 5, &mut marks);
        assert_eq!(texts(&rows), ["01234+", "56789", "next"]);
        let places = marks.map(|mark| (mark.row, mark.col));
        assert_eq!(places, [(0, 0), (0, 4), (1, 0), (1, 4), (1, 5), (1, 4)]);
        let rows = rewrap(rows, 20, &mut marks[..5]);
        assert_eq!(texts(&rows), ["0123456789", "next"]);
        assert_eq!(marks[..5].iter().map(|mark| mark.col).collect::<Vec<_>>(), [0, 4, 5, 9, 10]);
    }

    #[test]
    fn a_piece_of_a_line_runs_on_and_joins_again_without_a_gap() {
        let mut piece = written("abcdefg");
        piece[6].flags.insert(Flags::WRAPLINE);
        let mut rows = rewrap(vec![piece], 5, &mut []);
        assert_eq!(texts(&rows), ["abcde+", "fg+"]);
        rows.push(written("hij"));
        assert_eq!(texts(&rewrap(rows, 20, &mut [])), ["abcdefghij"]);
    }
}
