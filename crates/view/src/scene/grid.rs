//! The terminal as cells whose colors are settled: no palette, no inverse, no dim is left to apply.

use std::ops::Range;
use std::sync::Arc;

use rookery_term::{CellRef, Colors, Snapshot, Style, Underline, Width};

use super::{Preedit, Rgb};

/// A terminal's visible part.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Columns of the screen.
    pub cols: u16,
    /// Rows from top to bottom. A painter that gets the same row again draws what it drew.
    pub rows: Vec<Arc<Row>>,
    /// Background of cells that have none of their own.
    pub background: Rgb,
    /// Background of selected cells.
    pub selection_background: Rgb,
    /// Where the cursor is; none if it is off the visible part.
    pub cursor: Option<Cursor>,
    /// How far the user has scrolled back.
    pub scroll: Scroll,
}

/// One row of cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// One per column; may be shorter than the screen is wide.
    pub cells: Vec<Cell>,
    /// Columns that are selected.
    pub selected: Option<Range<u16>>,
    /// Columns that a search found, and whether they are the match that is shown.
    pub found: Vec<(Range<u16>, bool)>,
}

/// What stands in a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Glyph {
    /// Nothing: untouched, erased, concealed, or the second half of a wide character.
    #[default]
    Blank,
    /// One character.
    Char(char),
    /// A character with others that combine with it.
    Cluster(Box<str>),
}

impl From<&str> for Glyph {
    fn from(text: &str) -> Self {
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (None | Some(' '), None) => Glyph::Blank,
            (Some(only), None) => Glyph::Char(only),
            _ => Glyph::Cluster(text.into()),
        }
    }
}

/// One cell, its colors settled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// What stands in it.
    pub glyph: Glyph,
    /// How it looks.
    pub look: Look,
    /// How much room it takes.
    pub width: Width,
}

/// How a cell looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Look {
    /// Color of the text.
    pub fg: Rgb,
    /// Color behind it.
    pub bg: Rgb,
    /// Bold face.
    pub bold: bool,
    /// Italic face.
    pub italic: bool,
    /// Line through it.
    pub strikeout: bool,
    /// Line above it.
    pub overline: bool,
    /// Line below it.
    pub underline: Underline,
    /// Color of the line below it.
    pub underline_color: Rgb,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Row from the top, from 0.
    pub row: u16,
    /// Column from the left, from 0.
    pub col: u16,
    pub shape: CursorShape,
    /// Whether it is drawn.
    pub is_visible: bool,
    pub color: Rgb,
    /// Color of the text under a block.
    pub text_color: Rgb,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CursorShape {
    /// A filled block.
    #[default]
    Block,
    /// The outline of a block: the keyboard goes elsewhere.
    Hollow,
    /// A line under the cell.
    Underline,
    /// A bar before the cell.
    Beam,
}

/// How far the user has scrolled back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scroll {
    /// Rows between the lowest visible row and the newest one; 0 if not scrolled.
    pub back: u64,
    /// Rows above the screen that could be scrolled to.
    pub history: u64,
}

/// What the user has done to a terminal's view, which its snapshot does not know.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ViewState {
    /// Selected columns by visible row.
    pub selected: Vec<(u16, Range<u16>)>,
    /// How far the user has scrolled back.
    pub scroll: Scroll,
    /// Shape of a cursor whose program asked for none.
    pub default_cursor: CursorShape,
    /// Whether keys go to the terminal; if not, a block is drawn hollow.
    pub has_keyboard: bool,
    /// What an input method shows at the cursor.
    pub preedit: Option<Preedit>,
}

impl Grid {
    /// What a snapshot with cells looks like. One with text only gives blank rows.
    pub fn from_snapshot(snapshot: &Snapshot, state: &ViewState) -> Grid {
        let colors = snapshot.colors();
        let mut rows: Vec<Arc<Row>> =
            (0..snapshot.rows).map(|row| Arc::new(Row::of(snapshot.row(row), colors))).collect();
        for (row, columns) in &state.selected {
            if let Some(row) = rows.get_mut(usize::from(*row)) {
                Arc::make_mut(row).selected = Some(columns.clone());
            }
        }
        let mut grid = Grid {
            cols: snapshot.cols,
            rows,
            background: colors.background(),
            selection_background: colors.selection().unwrap_or_else(|| selection_of(colors)),
            cursor: cursor(snapshot, state),
            scroll: state.scroll,
        };
        if let Some(preedit) = &state.preedit {
            grid.lay_over(preedit, Look::of(&Style::default(), colors));
        }
        grid
    }
}

impl Row {
    /// A row of cells as a screen or its history gives them.
    pub fn of<'a>(cells: impl Iterator<Item = CellRef<'a>>, colors: &Colors) -> Row {
        let mut row = Row::default();
        let mut text = String::new();
        let mut last: Option<(CellRef<'a>, Look)> = None;
        for cell in cells {
            let look = match &last {
                Some((before, look)) if before.same_style(&cell) => *look,
                _ => Look::of(&cell.style(), colors),
            };
            text.clear();
            cell.push_text(&mut text);
            row.cells.push(Cell { glyph: text.as_str().into(), look, width: cell.width() });
            last = Some((cell, look));
        }
        row
    }
}

impl Look {
    fn of(style: &Style, colors: &Colors) -> Look {
        let resolved = colors.resolve(style);
        Look {
            fg: resolved.ink,
            bg: resolved.bg,
            bold: style.bold,
            italic: style.italic,
            strikeout: style.strikeout,
            overline: style.overline,
            underline: style.underline,
            underline_color: colors.underline(style),
        }
    }
}

/// The part of a grid that an area shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Its first row and column.
    pub row: u16,
    /// Its first column.
    pub col: u16,
    /// Its rows and columns.
    pub rows: u16,
    /// Its columns.
    pub cols: u16,
}

impl Grid {
    /// The part that an area of cells shows: of a grid that is larger the one with the cursor, or the
    /// one that was asked for.
    pub fn part(&self, rows: u16, cols: u16, pan: Option<(u16, u16)>) -> Part {
        let own_rows = u16::try_from(self.rows.len()).unwrap_or(u16::MAX);
        let cursor = self.cursor.map_or((0, 0), |cursor| (cursor.row, cursor.col));
        let first = |own: u16, room: u16, at: u16, wanted: Option<u16>| {
            let last = own.saturating_sub(room);
            wanted.unwrap_or_else(|| (at + 1).saturating_sub(room)).min(last)
        };
        Part {
            row: first(own_rows, rows, cursor.0, pan.map(|(row, _)| row)),
            col: first(self.cols, cols, cursor.1, pan.map(|(_, col)| col)),
            rows: rows.min(own_rows),
            cols: cols.min(self.cols),
        }
    }
}

/// A quiet background for selected text, for themes that name none.
fn selection_of(colors: &Colors) -> Rgb {
    mix(colors.background(), colors.indexed(4), 0.4)
}

/// A color between two: 0 is the first, 1 the second.
pub fn mix(from: Rgb, to: Rgb, share: f32) -> Rgb {
    let part = |from: u8, to: u8| {
        (f32::from(from) + (f32::from(to) - f32::from(from)) * share).round().clamp(0.0, 255.0)
            as u8
    };
    (part(from.0, to.0), part(from.1, to.1), part(from.2, to.2))
}

fn cursor(snapshot: &Snapshot, state: &ViewState) -> Option<Cursor> {
    let found = snapshot.cursor;
    let row = u16::try_from(u64::from(found.row).saturating_add(state.scroll.back)).ok()?;
    if row >= snapshot.rows {
        return None;
    }
    let shape = match found.shape {
        rookery_term::CursorShape::Default => state.default_cursor,
        rookery_term::CursorShape::Block => CursorShape::Block,
        rookery_term::CursorShape::Underline => CursorShape::Underline,
        rookery_term::CursorShape::Beam => CursorShape::Beam,
    };
    let is_hollow = shape == CursorShape::Block && !state.has_keyboard;
    let colors = snapshot.colors();
    Some(Cursor {
        row,
        // While a wrap is pending the cursor stands on the last column.
        col: found.col.min(snapshot.cols.saturating_sub(1)),
        shape: if is_hollow { CursorShape::Hollow } else { shape },
        is_visible: found.visible,
        color: colors.cursor(),
        text_color: colors.background(),
    })
}
