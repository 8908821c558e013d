//! Resizing with reflow.
//!
//! The primary screen is lifted off the engine's grid, wrapped anew together
//! with the rows of history that belong to it, and laid back; the engine itself
//! only resizes an empty grid. Blank rows at the bottom are used up first. What
//! does not fit goes to history, and a screen that was full is filled up from
//! there, so a text that left comes back when there is room.

use alacritty_terminal::grid::{Cursor, Dimensions, Grid, Row};
use alacritty_terminal::index::{Column, Line, Point};
use alacritty_terminal::term::cell::{Cell, Flags};

use super::prompts::Loose;
use super::reflow::{Mark, rewrap};
use super::{Dims, Emulator};
use crate::row::text_len;
use crate::screen::ScreenSize;

/// Cells of one line that are wrapped anew at most; a longer one is parted where this ends.
const MAX_LINE_CELLS: usize = 256 * 1024;

impl Emulator {
    pub(crate) fn resize(&mut self, size: ScreenSize) {
        let (rows, cols) = (usize::from(size.rows), usize::from(size.cols));
        self.size = size;
        if (rows, cols) == (self.rows(), self.cols()) {
            return;
        }
        let mut page = Page::default();
        self.with_primary(|grid| page = Page::lift(grid));
        page.prompts = self.prompts.take_from(self.history.next());
        let was_full = page.end() == self.rows();
        if cols != self.cols() {
            let above = self.history.take_lines(0, MAX_LINE_CELLS);
            page.put_above(above, self.prompts.take_from(self.history.next()));
            page.rewrap(cols);
        }
        self.term.resize(Dims { rows, cols });
        if was_full {
            let missing = rows.saturating_sub(page.end());
            let (above, prompts) = self.newest_rows(missing, cols);
            page.put_above(above, prompts);
            page.top = 0;
        }
        page.top = page.top.max(page.end().saturating_sub(rows));
        self.prompts.put_back(self.history.next(), std::mem::take(&mut page.prompts));
        for cells in &page.rows[..page.top] {
            self.history.push(cells);
        }
        self.with_primary(|grid| page.lay(grid));
        self.shadow.resize(rows, cols);
        self.dirty.resize(rows);
        self.stamps.renumber(rows, self.sequence);
    }

    /// Takes whole lines out of history, until they are at least `wanted` rows of the given width, and
    /// the shell's marks on them.
    fn newest_rows(&mut self, wanted: usize, cols: usize) -> (Vec<Vec<Cell>>, Vec<Loose>) {
        let mut found = Page::default();
        let mut step = wanted;
        while found.rows.len() < wanted && self.history.len() > 0 {
            let lines = self.history.take_lines(step, MAX_LINE_CELLS);
            let loose = self.prompts.take_from(self.history.next());
            let (mut marks, kinds): (Vec<Mark>, Vec<_>) = loose.into_iter().unzip();
            let rows = rewrap(lines, cols, &mut marks);
            found.put_above(rows, marks.into_iter().zip(kinds).collect());
            step = step.saturating_mul(2);
        }
        (found.rows, found.prompts)
    }

    /// Runs `work` on the primary screen's grid, also while the alternate screen is shown.
    pub(crate) fn with_primary(&mut self, work: impl FnOnce(&mut Grid<Cell>)) {
        if !self.is_alt() {
            return work(self.term.grid_mut());
        }
        // Leaving the alternate screen keeps its cells, entering it again clears them.
        let alternate = self.term.grid().clone();
        self.term.swap_alt();
        let saved = self.term.grid().saved_cursor.clone();
        work(self.term.grid_mut());
        self.term.grid_mut().saved_cursor = saved;
        self.term.swap_alt();
        *self.term.grid_mut() = alternate;
        self.reapply_keyboard_flags();
    }

    pub(crate) fn reapply_keyboard_flags(&mut self) {
        use alacritty_terminal::vte::ansi::{Handler, KeyboardModes, KeyboardModesApplyBehavior};
        let flags = KeyboardModes::from_bits_truncate(self.shadow.keyboard_flags());
        Handler::set_keyboard_mode(&mut self.term, flags, KeyboardModesApplyBehavior::Replace);
    }
}

/// The rows of the primary screen off their grid, with rows of history above them.
#[derive(Default)]
struct Page {
    rows: Vec<Vec<Cell>>,
    cursor: Mark,
    saved: Mark,
    /// The first row that the screen shows.
    top: usize,
    /// The shell's marks.
    prompts: Vec<Loose>,
}

impl Page {
    /// Takes everything off the grid and leaves it blank.
    fn lift(grid: &mut Grid<Cell>) -> Page {
        let cols = grid.columns();
        let rows = (0..grid.screen_lines() as i32)
            .map(|line| std::mem::replace(&mut grid[Line(line)], Row::new(cols))[..].to_vec())
            .collect();
        let (cursor, saved) = (lift_cursor(&mut grid.cursor), lift_cursor(&mut grid.saved_cursor));
        Page { rows, cursor, saved, top: 0, prompts: Vec::new() }
    }

    /// Number of rows up to the last one that must not get lost.
    fn end(&self) -> usize {
        let text = self.rows.iter().rposition(|cells| text_len(cells) > 0);
        text.map_or(0, |last| last + 1).max(self.cursor.row + 1)
    }

    /// Puts rows above those that are there, with the shell's marks on them.
    fn put_above(&mut self, mut rows: Vec<Vec<Cell>>, mut prompts: Vec<Loose>) {
        let count = rows.len();
        rows.append(&mut self.rows);
        self.rows = rows;
        let below = self.prompts.drain(..);
        prompts.extend(below.map(|(mark, kind)| (Mark { row: mark.row + count, ..mark }, kind)));
        self.prompts = prompts;
        self.cursor.row += count;
        self.saved.row += count;
        self.top += count;
    }

    /// Wraps everything anew.
    fn rewrap(&mut self, cols: usize) {
        // There is nothing for the last row to run on into.
        if let Some(edge) = self.rows.last_mut().and_then(|cells| cells.last_mut()) {
            edge.flags.remove(Flags::WRAPLINE);
        }
        let mut marks = vec![self.cursor, self.saved, Mark { row: self.top, col: 0 }];
        marks.extend(self.prompts.iter().map(|(mark, _)| *mark));
        self.rows = rewrap(std::mem::take(&mut self.rows), cols, &mut marks);
        let prompts = marks.split_off(3);
        self.prompts.iter_mut().zip(prompts).for_each(|((mark, _), moved)| *mark = moved);
        (self.cursor, self.saved, self.top) = (marks[0], marks[1], marks[2].row);
    }

    /// Fills a blank grid. A cursor whose row does not fit stays on the first.
    fn lay(&self, grid: &mut Grid<Cell>) {
        let (lines, cols) = (grid.screen_lines(), grid.columns());
        for (line, cells) in self.rows[self.top..].iter().take(lines).enumerate() {
            grid[Line(line as i32)] = row_of(cells, cols);
        }
        let below_top =
            |mark: Mark| Mark { row: mark.row.saturating_sub(self.top).min(lines - 1), ..mark };
        lay_cursor(&mut grid.cursor, below_top(self.cursor), cols);
        lay_cursor(&mut grid.saved_cursor, below_top(self.saved), cols);
        grid.truncate();
    }
}

fn lift_cursor(cursor: &mut Cursor<Cell>) -> Mark {
    let point = std::mem::take(&mut cursor.point);
    let pending = usize::from(std::mem::take(&mut cursor.input_needs_wrap));
    Mark { row: point.line.0.max(0) as usize, col: point.column.0 + pending }
}

fn lay_cursor(cursor: &mut Cursor<Cell>, mark: Mark, cols: usize) {
    cursor.point = Point::new(Line(mark.row as i32), Column(mark.col.min(cols - 1)));
    cursor.input_needs_wrap = mark.col >= cols;
}

/// A grid row from stored cells, cut or padded to the width.
pub(crate) fn row_of(cells: &[Cell], cols: usize) -> Row<Cell> {
    let mut row = Row::new(cols);
    for (index, cell) in cells.iter().take(cols).enumerate() {
        row[Column(index)] = cell.clone();
    }
    row
}
