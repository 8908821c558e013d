//! Text that an input method shows before it is entered, laid over the cells at the cursor.

use std::sync::Arc;

use rookery_term::{Underline, Width};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::grid::{Cell, Glyph, Grid, Look};

/// Text that is not entered yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preedit {
    pub text: String,
    /// Where its cursor is, in bytes; at its end if it does not say.
    pub cursor: Option<usize>,
}

impl Grid {
    /// Shows a text at the cursor, underlined, in place of the cells there. One that does not fit
    /// before the edge begins further left; of one that is longer than the row, the end is shown.
    pub fn lay_over(&mut self, preedit: &Preedit, look: Look) {
        let Some(cursor) = self.cursor else { return };
        let Some(row) = self.rows.get_mut(usize::from(cursor.row)) else { return };
        let row = Arc::make_mut(row);
        let cols = usize::from(self.cols);
        let cells = cells_of(&preedit.text, Look { underline: Underline::Single, ..look });
        let cut = cells.len().saturating_sub(cols);
        let start = usize::from(cursor.col).min(cols.saturating_sub(cells.len()));
        let blank = Cell { glyph: Glyph::Blank, look, width: Width::Narrow };
        row.cells.resize(cols.max(row.cells.len()), blank.clone());
        let end = start + cells.len() - cut;
        // Halves of wide characters that stick out on either side go with their other half.
        if row.cells.get(start).is_some_and(|cell| cell.width == Width::Continuation) && start > 0 {
            row.cells[start - 1] = blank.clone();
        }
        if row.cells.get(end).is_some_and(|cell| cell.width == Width::Continuation) {
            row.cells[end] = blank;
        }
        let before = preedit.cursor.and_then(|at| preedit.text.get(..at));
        let col = start + before.unwrap_or(&preedit.text).width().saturating_sub(cut);
        row.cells.splice(start..end, cells.into_iter().skip(cut));
        if let Some(cursor) = &mut self.cursor {
            cursor.col = u16::try_from(col.min(cols.saturating_sub(1))).unwrap_or(cursor.col);
        }
    }
}

/// A cell for each column that a text takes.
fn cells_of(text: &str, look: Look) -> Vec<Cell> {
    let mut cells = Vec::new();
    for grapheme in text.graphemes(true).filter(|grapheme| !grapheme.contains(char::is_control)) {
        let width = match grapheme.width() {
            0 => continue,
            1 => Width::Narrow,
            _ => Width::Wide,
        };
        cells.push(Cell { glyph: grapheme.into(), look, width });
        if width == Width::Wide {
            cells.push(Cell { glyph: Glyph::Blank, look, width: Width::Continuation });
        }
    }
    cells
}
