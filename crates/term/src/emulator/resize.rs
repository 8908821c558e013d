//! Resizing with reflow.
//!
//! The engine keeps no history of its own, so before a resize the newest rows
//! of ours are laid above its screen, and afterwards whatever ended above the
//! screen comes back to us. That way growing a window pulls lines down again
//! and narrowing one loses none.

use alacritty_terminal::grid::{Dimensions, Grid, Row};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};

use super::{Dims, Emulator};
use crate::row::{self, WRITTEN};
use crate::screen::ScreenSize;

/// More rows than reflowing a screen could ever push out at our largest size.
const HISTORY_ROOM: usize = 100_000;

impl Emulator {
    pub(crate) fn resize(&mut self, size: ScreenSize) {
        let (rows, cols) = (usize::from(size.rows), usize::from(size.cols));
        self.size = size;
        if (rows, cols) == (self.rows(), self.cols()) {
            return;
        }
        let old_cols = self.cols();
        let pulled = rewrap(self.newest_rows(rows.max(self.rows()) + 50), old_cols);
        self.with_primary(|grid| {
            lay_above(grid, &pulled);
            if cols < 2 {
                narrow_wide_cells(grid);
            }
        });
        self.term.resize(Dims { rows, cols });
        let mut pushed = Vec::new();
        self.with_primary(|grid| {
            let kept = grid.history_size() as i32;
            pushed = (-kept..0).map(|line| grid[Line(line)][..].to_vec()).collect();
            grid.update_history(0);
            grid.truncate();
        });
        for cells in &pushed {
            self.history.push(cells);
        }
        self.shadow.resize(rows, cols);
        self.dirty.resize(rows);
    }

    /// Takes the newest rows out of history, up to a line start if one is near.
    fn newest_rows(&mut self, wanted: usize) -> Vec<Vec<Cell>> {
        let next = self.history.next();
        let first = self.history.first();
        let mut from = next.saturating_sub(wanted as u64).max(first);
        for _ in 0..wanted {
            if from <= first {
                break;
            }
            match self.history.rows(from - 1, from).first() {
                Some(above) if row::is_wrapped(above) => from -= 1,
                _ => break,
            }
        }
        self.history.take_newest((next - from) as usize)
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

/// Makes `rows` the grid's history, directly above its screen.
fn lay_above(grid: &mut Grid<Cell>, rows: &[Vec<Cell>]) {
    grid.update_history(HISTORY_ROOM);
    if rows.is_empty() {
        return;
    }
    let (lines, cols) = (grid.screen_lines(), grid.columns());
    let count = rows.len();
    // Scrolling makes room; then the screen's rows move back to where they were.
    for _ in 0..count {
        grid.scroll_up(&(Line(0)..Line(lines as i32)), 1);
    }
    for line in (0..lines as i32).rev() {
        let moved = std::mem::replace(&mut grid[Line(line - count as i32)], Row::new(cols));
        grid[Line(line)] = moved;
    }
    for (index, cells) in rows.iter().enumerate() {
        let line = Line(index as i32 - count as i32);
        grid[line] = row_of(cells, cols);
    }
}

/// The engine never comes to an end when it reflows a wide character onto a single column.
fn narrow_wide_cells(grid: &mut Grid<Cell>) {
    let first = -(grid.history_size() as i32);
    for line in first..grid.screen_lines() as i32 {
        for cell in &mut grid[Line(line)][..] {
            if cell.flags.contains(Flags::WIDE_CHAR) {
                cell.c = char::REPLACEMENT_CHARACTER;
            }
            cell.flags.remove(
                Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER,
            );
        }
    }
}

/// A grid row from stored cells, cut or padded to the width.
pub(crate) fn row_of(cells: &[Cell], cols: usize) -> Row<Cell> {
    let mut row = Row::new(cols);
    for (index, cell) in cells.iter().take(cols).enumerate() {
        row[Column(index)] = cell.clone();
    }
    row
}

/// Lays rows of any width out anew: wrapped rows are joined to lines and cut at `cols`.
pub(crate) fn rewrap(rows: Vec<Vec<Cell>>, cols: usize) -> Vec<Vec<Cell>> {
    let mut out = Vec::with_capacity(rows.len());
    let mut line: Vec<Cell> = Vec::new();
    let mut is_open = false;
    for mut cells in rows {
        is_open = row::is_wrapped(&cells);
        if let Some(last) = cells.last_mut() {
            last.flags.remove(Flags::WRAPLINE);
        }
        cells.retain(|cell| !cell.flags.contains(Flags::LEADING_WIDE_CHAR_SPACER));
        line.append(&mut cells);
        if !is_open {
            cut_line(&mut line, cols, false, &mut out);
        }
    }
    if is_open {
        cut_line(&mut line, cols, true, &mut out);
    }
    out
}

/// Cuts one line into rows of `cols` cells; `runs_on` marks the last row as wrapped, too.
fn cut_line(line: &mut Vec<Cell>, cols: usize, runs_on: bool, out: &mut Vec<Vec<Cell>>) {
    loop {
        let is_last = line.len() <= cols;
        let splits_wide = !is_last && cols > 1 && line[cols - 1].flags.contains(Flags::WIDE_CHAR);
        let take = if is_last { line.len() } else { cols - usize::from(splits_wide) };
        let mut cells: Vec<Cell> = line.drain(..take).collect();
        if !is_last || runs_on {
            cells.resize(cols, Cell::default());
            let edge = &mut cells[cols - 1];
            edge.flags.insert(Flags::WRAPLINE);
            if splits_wide {
                edge.flags.insert(WRITTEN | Flags::LEADING_WIDE_CHAR_SPACER);
            }
        }
        out.push(cells);
        if is_last {
            return;
        }
    }
}
