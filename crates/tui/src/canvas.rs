//! The picture as cells, before any byte is made of it. Knows nothing of terminals' bytes, of the
//! scene or of what is drawn where.

use std::sync::Arc;

use rookery_face::cells::{Rect, cut, is_unprinted, text_width, width};
use unicode_segmentation::UnicodeSegmentation as _;

/// A color of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ink {
    /// The outer terminal's own.
    #[default]
    Default,
    /// An index of the palette.
    Index(u8),
    /// A color by its parts.
    Rgb(u8, u8, u8),
}

/// How a cell looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pen {
    /// Color of the text.
    pub ink: Ink,
    /// Color behind it.
    pub ground: Ink,
    /// Bits of [`rookery_view::link::attr`].
    pub attrs: u8,
    /// Underline: 0 none, 1 single, 2 double, 3 curl, 4 dotted, 5 dashed.
    pub underline: u8,
    /// Color of the underline, if it has its own.
    pub underline_ink: Option<Ink>,
    /// Where the cell leads; only addresses that may be given to the outer terminal.
    pub link: Option<Arc<str>>,
}

impl Pen {
    /// A pen with these colors.
    pub fn new(ink: Ink, ground: Ink) -> Pen {
        Pen { ink, ground, ..Pen::default() }
    }

    /// The same pen with these attributes added.
    #[must_use]
    pub fn with(mut self, attrs: u8) -> Pen {
        self.attrs |= attrs;
        self
    }

    /// The same pen with another color of text.
    #[must_use]
    pub fn inked(mut self, ink: Ink) -> Pen {
        self.ink = ink;
        self
    }

    /// The same pen on another ground.
    #[must_use]
    pub fn on(mut self, ground: Ink) -> Pen {
        self.ground = ground;
        self
    }
}

/// What a cell shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Glyph {
    /// One character.
    Char(char),
    /// A character with marks on it.
    Cluster(Box<str>),
    /// The right half of the wide character before it.
    Half,
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What it shows.
    pub glyph: Glyph,
    /// How.
    pub pen: Pen,
}

impl Cell {
    /// A blank in a pen.
    pub fn blank(pen: Pen) -> Cell {
        Cell { glyph: Glyph::Char(' '), pen }
    }
}

/// A picture: cells in rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canvas {
    cols: u16,
    rows: u16,
    cells: Vec<Cell>,
}

impl Canvas {
    /// A blank picture.
    pub fn new(cols: u16, rows: u16) -> Canvas {
        let count = usize::from(cols) * usize::from(rows);
        Canvas { cols, rows, cells: vec![Cell::blank(Pen::default()); count] }
    }

    /// Its columns.
    pub fn cols(&self) -> u16 {
        self.cols
    }

    pub fn rows(&self) -> u16 {
        self.rows
    }

    /// All of it.
    pub fn area(&self) -> Rect {
        Rect::new(0, 0, self.cols, self.rows)
    }

    /// The cells of a row.
    pub fn row(&self, row: u16) -> &[Cell] {
        let from = usize::from(row) * usize::from(self.cols);
        self.cells.get(from..from + usize::from(self.cols)).unwrap_or_default()
    }

    /// One cell.
    pub fn cell(&self, col: u16, row: u16) -> Option<&Cell> {
        self.row(row).get(usize::from(col))
    }

    fn cell_mut(&mut self, col: u16, row: u16) -> Option<&mut Cell> {
        if col >= self.cols || row >= self.rows {
            return None;
        }
        let index = self.index(col, row);
        self.cells.get_mut(index)
    }

    fn index(&self, col: u16, row: u16) -> usize {
        usize::from(row) * usize::from(self.cols) + usize::from(col)
    }

    /// Puts one cluster of `cells` cells, of which nothing lies outside of `clip`: a wide one that
    /// an edge would cut is a blank.
    pub fn put(&mut self, clip: Rect, col: u16, row: u16, text: &str, cells: u16, pen: &Pen) {
        let fits = col >= clip.col && col.saturating_add(cells.max(1)) <= clip.right();
        if row < clip.row || row >= clip.bottom() {
            return;
        }
        if !fits {
            for at in col..col.saturating_add(cells.max(1)) {
                if clip.contains(at, row) {
                    self.set(at, row, Cell::blank(pen.clone()));
                }
            }
            return;
        }
        self.set(col, row, Cell { glyph: glyph(text), pen: pen.clone() });
        for at in 1..cells.max(1) {
            let half = Cell { glyph: Glyph::Half, pen: pen.clone() };
            self.set_raw(col + at, row, half);
        }
    }

    /// Sets a cell; what it cuts of a wide character becomes blank.
    fn set(&mut self, col: u16, row: u16, cell: Cell) {
        if matches!(self.cell(col, row), Some(Cell { glyph: Glyph::Half, .. })) {
            let mut before = col;
            while before > 0 {
                before -= 1;
                let was_half =
                    matches!(self.cell(before, row), Some(Cell { glyph: Glyph::Half, .. }));
                if let Some(cell) = self.cell_mut(before, row) {
                    cell.glyph = Glyph::Char(' ');
                }
                if !was_half {
                    break;
                }
            }
        }
        self.set_raw(col, row, cell);
    }

    fn set_raw(&mut self, col: u16, row: u16, cell: Cell) {
        let mut after = col.saturating_add(1);
        if let Some(slot) = self.cell_mut(col, row) {
            *slot = cell;
        }
        // The halves of what stood here have lost their left part.
        while let Some(slot) = self.cell_mut(after, row)
            && slot.glyph == Glyph::Half
        {
            slot.glyph = Glyph::Char(' ');
            after += 1;
        }
    }

    /// Writes a text from a column on and returns the column after it. Widths are those of Unicode:
    /// for text of our own, never for rows of terminals.
    pub fn write(&mut self, clip: Rect, col: u16, row: u16, text: &str, pen: &Pen) -> u16 {
        let mut at = col;
        for cluster in text.graphemes(true) {
            let cells = width(cluster);
            if cells == 0 {
                continue;
            }
            if at.saturating_add(cells) > clip.right() {
                break;
            }
            self.put(clip, at, row, cluster, cells, pen);
            at += cells;
        }
        at
    }

    /// Writes a text into a row of its own; one that is too long ends with `…`.
    pub fn write_cut(&mut self, area: Rect, text: &str, pen: &Pen) -> u16 {
        self.write(area, area.col, area.row, &cut(text, area.cols), pen)
    }

    /// Writes a text so that it ends at the right edge of a row.
    pub fn write_right(&mut self, area: Rect, text: &str, pen: &Pen) {
        let shown = cut(text, area.cols);
        let from = area.right().saturating_sub(text_width(&shown));
        self.write(area, from, area.row, &shown, pen);
    }

    /// Fills a part with blanks.
    pub fn fill(&mut self, area: Rect, pen: &Pen) {
        let area = area.within(self.area());
        if area.cols == 0 {
            return;
        }
        let blank = Cell::blank(pen.clone());
        for row in area.row..area.bottom() {
            // Only at its edges can a part cut wide characters.
            for col in [area.col, area.right() - 1] {
                self.set(col, row, blank.clone());
            }
            let (from, to) = (self.index(area.col, row), self.index(area.right(), row));
            self.cells[from..to].fill(blank.clone());
        }
    }

    /// Changes the pen of every cell of a part.
    pub fn restyle(&mut self, area: Rect, change: impl Fn(&mut Pen)) {
        let area = area.within(self.area());
        for row in area.row..area.bottom() {
            for col in area.col..area.right() {
                if let Some(cell) = self.cell_mut(col, row) {
                    change(&mut cell.pen);
                }
            }
        }
    }

    /// The text of a row, without blanks at its end.
    pub fn text(&self, row: u16) -> String {
        let mut text = String::new();
        for cell in self.row(row) {
            match &cell.glyph {
                Glyph::Char(c) => text.push(*c),
                Glyph::Cluster(cluster) => text.push_str(cluster),
                Glyph::Half => {}
            }
        }
        text.truncate(text.trim_end().len());
        text
    }

    /// The text of all rows, for tests and for `--plain`.
    pub fn texts(&self) -> Vec<String> {
        (0..self.rows).map(|row| self.text(row)).collect()
    }
}

/// What is printed of a cluster: its first character and the marks on it. Joiners, selectors and
/// whatever turns text around are left off, since terminals disagree about them.
fn glyph(text: &str) -> Glyph {
    let mut chars = text.chars();
    let first = match chars.next() {
        None => ' ',
        Some(c) if c.is_control() || is_unprinted(c) => ' ',
        Some(c) => c,
    };
    let marks: String = chars.filter(|c| is_mark(*c)).collect();
    if marks.is_empty() {
        return Glyph::Char(first);
    }
    Glyph::Cluster(format!("{first}{marks}").into())
}

/// Whether a character takes no room and is a mark on the one before it.
fn is_mark(c: char) -> bool {
    !c.is_control()
        && !is_unprinted(c)
        && unicode_width::UnicodeWidthChar::width(c).unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pen() -> Pen {
        Pen::default()
    }

    #[test]
    fn a_wide_character_cut_by_an_edge_is_blank() {
        let mut canvas = Canvas::new(6, 1);
        let clip = Rect::new(0, 0, 3, 1);
        canvas.put(clip, 2, 0, "日", 2, &pen());
        assert_eq!(canvas.text(0), "");
        canvas.put(clip, 1, 0, "日", 2, &pen());
        assert_eq!(canvas.text(0), " 日");
        canvas.put(clip, 2, 0, "x", 1, &pen());
        assert_eq!(canvas.text(0), "  x");
    }

    #[test]
    fn what_a_filled_part_cuts_is_blank() {
        let mut canvas = Canvas::new(6, 2);
        let all = canvas.area();
        canvas.write(all, 0, 0, "日本語", &pen());
        canvas.fill(Rect::new(1, 0, 4, 1), &pen());
        assert_eq!(canvas.texts(), ["", ""]);
        assert!(canvas.row(0).iter().all(|cell| cell.glyph == Glyph::Char(' ')));
        canvas.write(all, 0, 0, "abcdef", &pen());
        canvas.fill(Rect::new(3, 0, 1, 1), &pen());
        canvas.fill(Rect::new(2, 0, 0, 2), &pen());
        assert_eq!(canvas.text(0), "abc ef");
    }

    #[test]
    fn overwriting_the_left_half_blanks_the_right_one() {
        let mut canvas = Canvas::new(4, 1);
        let all = canvas.area();
        canvas.write(all, 0, 0, "日本", &pen());
        canvas.put(all, 0, 0, "a", 1, &pen());
        assert_eq!(canvas.row(0)[1].glyph, Glyph::Char(' '));
        assert_eq!(canvas.text(0), "a 本");
    }

    #[test]
    fn joiners_and_selectors_are_left_off_and_marks_stay() {
        assert_eq!(glyph("e\u{301}"), Glyph::Cluster("e\u{301}".into()));
        assert_eq!(glyph("❤\u{fe0f}"), Glyph::Char('❤'));
        assert_eq!(glyph("👩\u{200d}"), Glyph::Char('👩'));
        assert_eq!(glyph("\u{1b}"), Glyph::Char(' '));
        assert_eq!(glyph("\u{202e}"), Glyph::Char(' '));
    }
}
