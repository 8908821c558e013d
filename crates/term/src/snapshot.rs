//! A screen at one moment: cheap to take under a lock, read at leisure.

use std::sync::{Arc, OnceLock};

use alacritty_terminal::term::cell::Cell;

use crate::cell::CellRef;
use crate::colors::Colors;
use crate::pointer::PointerShape;
use crate::row;
use crate::selection::Place;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Row from the top, from 0.
    pub row: u16,
    /// Column from the left, from 0; equals the width while a wrap is pending.
    pub col: u16,
    /// Whether programs want it shown.
    pub visible: bool,
    /// Its shape as last requested.
    pub shape: CursorShape,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CursorShape {
    /// Whatever the user's default is.
    #[default]
    Default,
    /// A filled block.
    Block,
    /// A line under the cell.
    Underline,
    /// A bar before the cell.
    Beam,
}

/// Modes a program has turned on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// The alternate screen is shown.
    pub alternate_screen: bool,
    /// Cursor keys send application sequences.
    pub application_cursor: bool,
    /// The keypad sends application sequences.
    pub application_keypad: bool,
    /// Pastes are wanted in brackets.
    pub bracketed_paste: bool,
    /// Focus changes are wanted.
    pub focus_events: bool,
    /// Mouse clicks are wanted.
    pub mouse_clicks: bool,
    /// Mouse motion with a button held is wanted.
    pub mouse_drag: bool,
    /// All mouse motion is wanted.
    pub mouse_motion: bool,
    /// Mouse reports use the SGR form.
    pub mouse_sgr: bool,
    /// The wheel sends arrow keys on the alternate screen.
    pub alternate_scroll: bool,
    /// Mouse reports write large coordinates in UTF-8.
    pub mouse_utf8: bool,
    /// Changes of the theme are wanted.
    pub theme_reports: bool,
    /// Changes of the size are wanted.
    pub size_reports: bool,
    /// Long lines wrap.
    pub line_wrap: bool,
    /// Kitty keyboard flags.
    pub kitty_keyboard: u8,
    /// xterm's modifyOtherKeys level.
    pub modify_other_keys: u8,
}

/// A screen at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Raised by every chunk of output and every resize.
    pub sequence: u64,
    /// Rows of the screen.
    pub rows: u16,
    /// Columns of the screen.
    pub cols: u16,
    /// Where the cursor is on the live screen; see [`Snapshot::cursor_in_view`] for a scrolled one.
    pub cursor: Cursor,
    /// Modes a program has turned on.
    pub modes: Modes,
    /// Title as set by OSC 0 or 2; none until the first.
    pub title: Option<String>,
    /// The pointer's shape as the program wants it.
    pub pointer: PointerShape,
    /// Number of the first row it shows, as [`crate::Screen::first_row`] counts.
    pub first_row: u64,
    /// Rows it is scrolled back; 0 shows the live screen.
    pub offset: usize,
    /// Rows of history above the live screen.
    pub history_len: usize,
    pub(crate) colors: Arc<Colors>,
    /// None of them if only the text was wanted.
    pub(crate) cells: Vec<Cell>,
    /// Made when first read, unless it was known before.
    pub(crate) text: OnceLock<String>,
    /// At most [`MAX_ABOVE`] characters.
    pub(crate) above: String,
}

/// Characters kept of a line that runs on into the first row.
pub(crate) const MAX_ABOVE: usize = 4096;

/// How much of a screen is wanted. Cells cost more than all the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Text, cursor, modes and title.
    Text,
    /// The cells as well.
    Cells,
}

impl Snapshot {
    /// How much of the screen is in it.
    pub fn detail(&self) -> Detail {
        if self.cells.is_empty() { Detail::Text } else { Detail::Cells }
    }

    /// The cells of one row, left to right; none if only the text was wanted.
    pub fn row(&self, row: u16) -> impl ExactSizeIterator<Item = CellRef<'_>> {
        self.row_cells(row).iter().map(CellRef)
    }

    /// The colors it shows: what the program set, over the theme.
    pub fn colors(&self) -> &Colors {
        &self.colors
    }

    /// The same colors to keep; shared, so that taking them costs nothing.
    pub fn shared_colors(&self) -> Arc<Colors> {
        Arc::clone(&self.colors)
    }

    fn row_cells(&self, row: u16) -> &[Cell] {
        let cols = usize::from(self.cols);
        let start = usize::from(row) * cols;
        self.cells.get(start..start + cols).unwrap_or(&[])
    }

    /// Whether a row continues on the next because its text wrapped.
    pub fn is_wrapped(&self, row: u16) -> bool {
        row::is_wrapped(self.row_cells(row))
    }

    /// What scrolled off of the line that runs on into the first row, or the end of it if that is long;
    /// empty if the first row begins a line of its own.
    pub fn above(&self) -> &str {
        &self.above
    }

    /// Where the cursor is in what is shown, or none if it is scrolled out of sight.
    pub fn cursor_in_view(&self) -> Option<Cursor> {
        let row = usize::from(self.cursor.row) + self.offset;
        let row = u16::try_from(row).ok().filter(|row| *row < self.rows)?;
        Some(Cursor { row, ..self.cursor })
    }

    /// The place of a cell that is shown, which stays with its text.
    pub fn place(&self, row: u16, col: u16) -> Place {
        Place { row: self.first_row + u64::from(row), col }
    }

    /// One string a row: each cell its character, a blank cell and the second half of a wide character
    /// a space, without the spaces at the end. Needs the cells.
    pub fn row_texts(&self) -> Vec<String> {
        (0..self.rows)
            .map(|row| {
                let mut out = String::with_capacity(usize::from(self.cols));
                self.row(row).for_each(|cell| cell.push_shown(&mut out));
                out.truncate(out.trim_end_matches(' ').len());
                out
            })
            .collect()
    }

    /// The screen as text: wrapped rows joined, trailing blank rows dropped.
    pub fn plain_text(&self) -> &str {
        self.text.get_or_init(|| {
            let mut out = String::with_capacity(self.cells.len() / 2);
            join_rows((0..self.rows).map(|row| self.row_cells(row)), &mut out);
            out.truncate(out.trim_end_matches('\n').len());
            out
        })
    }
}

/// Appends rows as lines; a wrapped row runs on into the next.
pub(crate) fn join_rows<'a>(rows: impl Iterator<Item = &'a [Cell]>, out: &mut String) {
    for cells in rows {
        row::push_text(cells, out);
        if !row::is_wrapped(cells) {
            out.push('\n');
        }
    }
}
