//! One row of cells as strokes, which are kept until it changes.

use iced_core::text::Shaping;
use iced_core::{Color, Font, renderer};
use rookery_term::{Underline, Width};
use rookery_view::scene::Rgb;
use rookery_view::scene::grid::{Cell, Cursor, CursorShape, Glyph, Part, Row};
use rookery_view::scene::layout::{GridArea, Rect};

use super::{lines, shapes};
use crate::brush::{Brush, Op};
use crate::fonts::{self, Fit, Mono};
use crate::shades::{color, faded};

/// What a match that is shown stands on, and others.
const FOUND: [(Rgb, f32); 2] = [((0xe5, 0xc0, 0x3a), 0.35), ((0xff, 0x9f, 0x1c), 0.75)];

/// What all rows of a terminal are drawn by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Geometry {
    pub(super) area: GridArea,
    pub(super) part: Part,
    pub(super) mono: Mono,
    pub(super) scale: f32,
    pub(super) background: Rgb,
    pub(super) selection: Rgb,
}

/// What all letters of a word share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ink {
    pub(super) face: Font,
    pub(super) color: Rgb,
}

/// A stroke of a row.
#[derive(Clone, Debug)]
pub(super) enum Stroke {
    /// A rectangle.
    Quad(renderer::Quad, Color),
    /// A word or a cluster.
    Text { content: String, x: f32, y: f32, size: f32, ink: Ink, shaping: Shaping },
}

/// One drawing of a row.
pub(super) struct RowDrawing<'a> {
    by: &'a Geometry,
    /// Its number in the area.
    number: u16,
    row: &'a Row,
    cells: &'a [Cell],
    cursor: Option<Cursor>,
    ops: Vec<Op>,
    texts: Vec<Stroke>,
    /// Letters of the word being gathered.
    word: String,
}

impl<'a> RowDrawing<'a> {
    pub(super) fn new(
        by: &'a Geometry,
        number: u16,
        row: &'a Row,
        cursor: Option<Cursor>,
    ) -> RowDrawing<'a> {
        let first = usize::from(by.part.col).min(row.cells.len());
        let last = (first + usize::from(by.part.cols)).min(row.cells.len());
        let cells = &row.cells[first..last];
        let (ops, texts) = (Vec::new(), Vec::new());
        RowDrawing { by, number, row, cells, cursor, ops, texts, word: String::new() }
    }

    pub(super) fn strokes(mut self) -> Vec<Stroke> {
        self.backgrounds();
        self.draw_cursor();
        self.lines();
        self.letters();
        let quad = |op| match op {
            Op::Quad(quad, fill) => Some(Stroke::Quad(quad, fill)),
            Op::Words(..) => None,
        };
        self.ops.into_iter().filter_map(quad).chain(self.texts).collect()
    }

    fn brush(&mut self) -> Brush<'_> {
        Brush::kept(&mut self.ops, self.by.scale)
    }

    fn columns(&self, col: usize, cols: usize) -> Rect {
        // Both are bounded by the number of columns, which fits.
        self.by.area.columns(self.number, col as u16, cols as u16)
    }

    /// Columns of the terminal as columns of the area.
    fn shown(&self, columns: &std::ops::Range<u16>) -> (usize, usize) {
        let part = self.by.part;
        let start = columns.start.saturating_sub(part.col).min(part.cols);
        let end = columns.end.saturating_sub(part.col).min(part.cols);
        (usize::from(start), usize::from(end.saturating_sub(start)))
    }

    fn backgrounds(&mut self) {
        let cells = self.cells;
        for (start, len, bg) in stretches(cells, |cell| cell.look.bg) {
            if bg != self.by.background {
                let rect = self.columns(start, len);
                self.brush().fill(rect, color(bg));
            }
        }
        if let Some(columns) = &self.row.selected {
            let (start, len) = self.shown(columns);
            if len > 0 {
                let (rect, ground) = (self.columns(start, len), color(self.by.selection));
                self.brush().fill(rect, ground);
            }
        }
        for (columns, is_current) in &self.row.found {
            let (start, len) = self.shown(columns);
            if len > 0 {
                let (rgb, strength) = FOUND[usize::from(*is_current)];
                let rect = self.columns(start, len);
                self.brush().fill(rect, faded(rgb, strength));
            }
        }
    }

    fn draw_cursor(&mut self) {
        let Some(cursor) = self.cursor else { return };
        let col = usize::from(cursor.col);
        let is_wide = self.cells.get(col).is_some_and(|cell| cell.width == Width::Wide);
        let rect = self.columns(col, if is_wide { 2 } else { 1 });
        let thick = (rect.height / 8.0).round().max(2.0);
        let edge = 1.0;
        let ink = color(cursor.color);
        let mut brush = self.brush();
        match cursor.shape {
            CursorShape::Block => brush.fill(rect, ink),
            CursorShape::Beam => brush.fill(Rect { width: thick, ..rect }, ink),
            CursorShape::Underline => {
                brush.fill(Rect { y: rect.bottom() - thick, height: thick, ..rect }, ink);
            }
            CursorShape::Hollow => {
                brush.fill(Rect { height: edge, ..rect }, ink);
                brush.fill(Rect { y: rect.bottom() - edge, height: edge, ..rect }, ink);
                brush.fill(Rect { width: edge, ..rect }, ink);
                brush.fill(Rect { x: rect.right() - edge, width: edge, ..rect }, ink);
            }
        }
    }

    fn lines(&mut self) {
        let (cells, size) = (self.cells, self.by.mono.size);
        let underlined = |cell: &Cell| (cell.look.underline, cell.look.underline_color);
        for (start, len, (underline, rgb)) in stretches(cells, underlined) {
            if underline != Underline::None {
                let rect = self.columns(start, len);
                lines::underline(&mut self.brush(), rect, size, underline, rgb);
            }
        }
        let struck = |cell: &Cell| cell.look.strikeout.then_some(cell.look.fg);
        for (start, len, rgb) in stretches(cells, struck) {
            if let Some(rgb) = rgb {
                let rect = self.columns(start, len);
                lines::strikeout(&mut self.brush(), rect, size, rgb);
            }
        }
        let overlined = |cell: &Cell| cell.look.overline.then_some(cell.look.fg);
        for (start, len, rgb) in stretches(cells, overlined) {
            if let Some(rgb) = rgb {
                let rect = Rect { height: lines::thickness(size), ..self.columns(start, len) };
                self.brush().fill(rect, color(rgb));
            }
        }
    }

    fn letters(&mut self) {
        let cells = self.cells;
        let block = self.cursor.filter(|cursor| cursor.shape == CursorShape::Block);
        let mut begun: Option<(usize, Ink)> = None;
        let mut done = 0;
        for (col, cell) in cells.iter().enumerate() {
            if col < done {
                continue;
            }
            let under = block.filter(|cursor| usize::from(cursor.col) == col);
            let ink = Ink {
                face: self.by.mono.face(cell.look.bold, cell.look.italic),
                color: under.map_or(cell.look.fg, |cursor| cursor.text_color),
            };
            let letter = match &cell.glyph {
                Glyph::Char(c) if c.is_ascii_graphic() => Some(*c),
                _ => None,
            };
            if begun.is_some_and(|(_, before)| letter.is_none() || before != ink) {
                self.flush(begun.take());
            }
            let joined = if may_join(cell) { self.joined(col) } else { None };
            if let Some((text, count)) = joined {
                done = col + count;
                self.cluster_in(self.columns(col, count), &text, true, ink);
                continue;
            }
            match (letter, &cell.glyph) {
                (Some(letter), _) => {
                    begun.get_or_insert((col, ink));
                    self.word.push(letter);
                }
                (None, Glyph::Blank) => {}
                (None, Glyph::Char(c)) => self.single(col, cell, *c, ink),
                (None, Glyph::Cluster(text)) => self.cluster(col, cell, text, ink),
            }
        }
        self.flush(begun);
    }

    /// What belongs together although the terminal gave each part cells of its own: the letters of a
    /// flag, and emoji that are joined. Gives the text and the cells it takes.
    fn joined(&self, col: usize) -> Option<(String, usize)> {
        let text = |cell: &Cell| match &cell.glyph {
            Glyph::Char(c) => c.to_string(),
            Glyph::Cluster(text) => text.to_string(),
            Glyph::Blank => String::new(),
        };
        let is_flag = |text: &str| matches!(text.chars().next(), Some('\u{1f1e6}'..='\u{1f1ff}'));
        let cells = |cell: &Cell| if cell.width == Width::Wide { 2 } else { 1 };
        let mut all = text(self.cells.get(col)?);
        let mut end = col + cells(&self.cells[col]);
        if is_flag(&all) && all.chars().count() == 1 {
            let second = self.cells.get(end)?;
            all.push_str(&text(second));
            let is_pair = all.chars().count() == 2
                && all.chars().all(|c| is_flag(c.encode_utf8(&mut [0; 4])));
            return is_pair.then(|| (all, end + cells(second) - col));
        }
        let is_tone = |text: &str| matches!(text.chars().next(), Some('\u{1f3fb}'..='\u{1f3ff}'));
        while let Some(next) = self.cells.get(end).filter(|cell| cell.glyph != Glyph::Blank) {
            let more = text(next);
            if !all.ends_with('\u{200d}') && !is_tone(&more) {
                break;
            }
            all.push_str(&more);
            end += cells(next);
        }
        (end > col + cells(&self.cells[col])).then_some((all, end - col))
    }

    /// Draws the word gathered so far.
    fn flush(&mut self, begun: Option<(usize, Ink)>) {
        let Some((col, ink)) = begun else { return };
        let at = self.columns(col, 1);
        let word = std::mem::take(&mut self.word);
        self.write(word, at.x, at.y, ink, self.by.mono.size, Shaping::Basic);
    }

    fn single(&mut self, col: usize, cell: &Cell, c: char, ink: Ink) {
        if c.is_whitespace() || c.is_control() {
            return;
        }
        let (rect, scale) = (self.span(col, cell), self.by.scale);
        if !shapes::draw(&mut self.brush(), c, rect, ink.color, scale) {
            self.cluster(col, cell, c.encode_utf8(&mut [0; 4]), ink);
        }
    }

    fn span(&self, col: usize, cell: &Cell) -> Rect {
        self.columns(col, if cell.width == Width::Wide { 2 } else { 1 })
    }

    /// A character or cluster on its own, in the middle of its cells.
    fn cluster(&mut self, col: usize, cell: &Cell, text: &str, ink: Ink) {
        let rect = self.span(col, cell);
        let is_wide = cell.width == Width::Wide;
        self.cluster_in(rect, text, is_wide, ink);
    }

    fn cluster_in(&mut self, rect: Rect, text: &str, is_wide: bool, ink: Ink) {
        let size = self.by.mono.size;
        let in_color = fonts::is_emoji(text, is_wide).then(fonts::emoji).flatten();
        let colored = in_color.map(|face| (face, fonts::fit(text, face, size, rect.width)));
        let (face, fit) = match colored.filter(|(_, fit)| !fit.is_missing) {
            Some(found) => found,
            None => (ink.face, fonts::fit(text, ink.face, size, rect.width)),
        };
        let ink = Ink { face, ..ink };
        let without_tone = fonts::without_tone(text);
        if let (true, Some(plain)) = (fit.is_missing, &without_tone) {
            // A person of no color in particular says more than an empty box.
            let width = rect.width.min(2.0 * self.columns(0, 1).width);
            return self.cluster_in(Rect { width, ..rect }, plain, is_wide, ink);
        }
        if fit.is_missing {
            return lines::missing(&mut self.brush(), rect, ink.color);
        }
        if fit.has_marks_beside {
            return self.marked(rect, text, fit, ink);
        }
        // A letter of a script that runs to the left would be put at the right end of the line.
        let text = match text.chars().next() {
            Some('\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}') => {
                format!("\u{200e}{text}")
            }
            _ => text.to_owned(),
        };
        self.write(text, rect.x + fit.left, rect.y, ink, fit.size, Shaping::Advanced);
    }

    /// A letter, and marks that its font does not have over it: where another one has them they would
    /// stand beside it. Each is put over the middle of the letter, above those that are there already.
    fn marked(&mut self, rect: Rect, text: &str, fit: Fit, ink: Ink) {
        let (letter, marks) = fonts::composed(text, ink.face, fit.size);
        let mut above = if letter.chars().count() > 1 { 1.0 } else { 0.0 };
        self.write(letter.to_owned(), rect.x + fit.left, rect.y, ink, fit.size, Shaping::Advanced);
        for mark in marks.chars() {
            let mark = mark.to_string();
            let Some(drawn) = fonts::drawn(&mark, ink.face, fit.size) else { continue };
            let x = rect.x + (rect.width - drawn.width) / 2.0 - drawn.left;
            let y = if drawn.is_above { rect.y - above * (drawn.height + 1.0) } else { rect.y };
            above += if drawn.is_above { 1.0 } else { 0.0 };
            self.write(mark, x, y, ink, fit.size, Shaping::Advanced);
        }
    }

    fn write(&mut self, content: String, x: f32, y: f32, ink: Ink, size: f32, shaping: Shaping) {
        self.texts.push(Stroke::Text { content, x, y, size, ink, shaping });
    }
}

/// Whether a cell may be the first part of something.
fn may_join(cell: &Cell) -> bool {
    match &cell.glyph {
        Glyph::Char(c) => ('\u{1f1e6}'..='\u{1faff}').contains(c),
        Glyph::Cluster(text) => fonts::is_emoji(text, cell.width == Width::Wide),
        Glyph::Blank => false,
    }
}

/// Stretches of cells that agree in something: where they begin, how many they are, and what it is.
fn stretches<T: PartialEq>(
    cells: &[Cell],
    of: impl Fn(&Cell) -> T,
) -> impl Iterator<Item = (usize, usize, T)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let first = of(cells.get(start)?);
        let len = cells[start..].iter().take_while(|cell| of(cell) == first).count();
        let stretch = (start, len, first);
        start += len;
        Some(stretch)
    })
}
