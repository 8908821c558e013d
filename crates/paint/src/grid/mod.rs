//! The terminal: cells as backgrounds, words, drawn characters and lines.

mod boxes;
mod lines;
mod shapes;

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use iced_core::text::{Alignment, LineHeight, Renderer as _, Shaping, Text, Wrapping};
use iced_core::widget::{Tree, tree};
use iced_core::{
    Font, Length, Pixels, Point, Rectangle, Renderer as _, Size, Widget, alignment, layout, mouse,
    renderer,
};
use rookery_term::{Underline, Width};
use rookery_view::scene::grid::{Cell, Cursor, CursorShape, Glyph, Grid, Row};
use rookery_view::scene::layout::{GridArea, Rect};
use rookery_view::scene::{FontChoice, Rgb};

use crate::brush::{Brush, rectangle};
use crate::cost;
use crate::fonts::{self, Mono};
use crate::shades::{color, faded};
use crate::tree::Renderer;

/// Rows that may change before the whole grid counts as changed: beyond that, a window repaints
/// faster in one piece.
const FEW_ROWS: usize = 3;

/// Shows the terminal.
pub(crate) struct GridWidget {
    grid: Arc<Grid>,
    area: GridArea,
    mono: Mono,
}

impl GridWidget {
    pub(crate) fn new(grid: Arc<Grid>, area: GridArea, font: &FontChoice) -> GridWidget {
        GridWidget { grid, area, mono: Mono::of(&font.family, area.cell) }
    }
}

/// What a window drew last, row by row.
#[derive(Default)]
struct Drawn {
    rows: RefCell<Vec<u64>>,
}

impl Drawn {
    /// Whether few rows look different from what was drawn last; remembers how they look now.
    fn is_small_change(&self, now: Vec<u64>) -> bool {
        let before = self.rows.replace(now);
        let now = self.rows.borrow();
        let changed = before.iter().zip(now.iter()).filter(|(old, new)| old != new).count();
        before.len() == now.len() && changed <= FEW_ROWS
    }
}

impl<Message, Theme> Widget<Message, Theme, Renderer> for GridWidget {
    fn size(&self) -> Size<Length> {
        Size::new(Length::Fill, Length::Fill)
    }

    fn tag(&self) -> tree::Tag {
        tree::Tag::of::<Drawn>()
    }

    fn state(&self) -> tree::State {
        tree::State::new(Drawn::default())
    }

    fn layout(
        &mut self,
        _tree: &mut Tree,
        _renderer: &Renderer,
        limits: &layout::Limits,
    ) -> layout::Node {
        layout::Node::new(limits.max())
    }

    fn draw(
        &self,
        tree: &Tree,
        renderer: &mut Renderer,
        _theme: &Theme,
        _style: &renderer::Style,
        layout: layout::Layout<'_>,
        _cursor: mouse::Cursor,
        _viewport: &Rectangle,
    ) {
        let bounds = layout.bounds();
        let pane = Rect::new(bounds.x, bounds.y, bounds.width, bounds.height);
        let drawn: &Drawn = tree.state.downcast_ref();
        let is_small_change = drawn.is_small_change(self.hashes());
        renderer.with_layer(bounds, |renderer| {
            let brush = Brush { renderer };
            Drawing { widget: self, brush, pane, is_small_change, word: String::new() }.all();
        });
    }
}

impl GridWidget {
    fn visible_rows(&self) -> impl Iterator<Item = (u16, &Row)> {
        (0..self.area.rows).zip(&self.grid.rows)
    }

    /// The cursor, if it is drawn on a row.
    fn cursor_on(&self, row: u16) -> Option<Cursor> {
        let cursor = self.grid.cursor.filter(|cursor| cursor.is_visible)?;
        (cursor.row == row && cursor.col < self.area.cols).then_some(cursor)
    }

    fn hashes(&self) -> Vec<u64> {
        let hash = |(number, row): (u16, &Row)| {
            let mut hasher = DefaultHasher::new();
            row.cells.hash(&mut hasher);
            row.selected.hash(&mut hasher);
            let cursor = self.cursor_on(number);
            cursor.map(|at| (at.col, at.shape as u8, at.color)).hash(&mut hasher);
            hasher.finish()
        };
        self.visible_rows().map(hash).collect()
    }
}

/// One drawing of the grid.
struct Drawing<'a> {
    widget: &'a GridWidget,
    brush: Brush<'a>,
    pane: Rect,
    is_small_change: bool,
    /// Letters of the word being gathered.
    word: String,
}

/// What all letters of a word share.
#[derive(Clone, Copy, PartialEq)]
struct Ink {
    face: Font,
    color: Rgb,
}

impl Drawing<'_> {
    fn all(&mut self) {
        let widget = self.widget;
        self.brush.fill(self.pane, color(widget.grid.background));
        for (number, row) in widget.visible_rows() {
            self.backgrounds(number, row);
            let cursor = widget.cursor_on(number);
            if let Some(cursor) = cursor {
                self.cursor(number, row, cursor);
            }
            self.lines(number, row);
            self.texts(number, row, cursor);
        }
        self.scrollbar();
    }

    /// Cells of a row that are in view.
    fn cells<'r>(&self, row: &'r Row) -> &'r [Cell] {
        &row.cells[..row.cells.len().min(usize::from(self.widget.area.cols))]
    }

    fn columns(&self, row: u16, col: usize, cols: usize) -> Rect {
        // Both are bounded by the number of columns, which fits.
        self.widget.area.columns(row, col as u16, cols as u16)
    }

    fn backgrounds(&mut self, number: u16, row: &Row) {
        let cells = self.cells(row);
        let plain = self.widget.grid.background;
        for (start, len, bg) in stretches(cells, |cell| cell.look.bg) {
            if bg != plain {
                self.brush.fill(self.columns(number, start, len), color(bg));
            }
        }
        if let Some(selected) = &row.selected {
            let end = selected.end.min(self.widget.area.cols);
            let start = selected.start.min(end);
            let rect = self.widget.area.columns(number, start, end - start);
            self.brush.fill(rect, color(self.widget.grid.selection_background));
        }
    }

    fn cursor(&mut self, number: u16, row: &Row, cursor: Cursor) {
        let is_wide =
            row.cells.get(usize::from(cursor.col)).is_some_and(|c| c.width == Width::Wide);
        let rect = self.widget.area.columns(number, cursor.col, if is_wide { 2 } else { 1 });
        let thick = (rect.height / 8.0).round().max(2.0);
        let ink = color(cursor.color);
        match cursor.shape {
            CursorShape::Block => self.brush.fill(rect, ink),
            CursorShape::Beam => self.brush.fill(Rect { width: thick, ..rect }, ink),
            CursorShape::Underline => {
                self.brush.fill(Rect { y: rect.bottom() - thick, height: thick, ..rect }, ink);
            }
            CursorShape::Hollow => {
                let edge = 1.0;
                self.brush.fill(Rect { height: edge, ..rect }, ink);
                self.brush.fill(Rect { y: rect.bottom() - edge, height: edge, ..rect }, ink);
                self.brush.fill(Rect { width: edge, ..rect }, ink);
                self.brush.fill(Rect { x: rect.right() - edge, width: edge, ..rect }, ink);
            }
        }
    }

    fn lines(&mut self, number: u16, row: &Row) {
        let cells = self.cells(row);
        let underlined = |cell: &Cell| (cell.look.underline, cell.look.underline_color);
        for (start, len, (underline, rgb)) in stretches(cells, underlined) {
            if underline != Underline::None {
                let rect = self.columns(number, start, len);
                lines::underline(&mut self.brush, rect, self.widget.mono.size, underline, rgb);
            }
        }
        let struck = |cell: &Cell| cell.look.strikeout.then_some(cell.look.fg);
        for (start, len, rgb) in stretches(cells, struck) {
            if let Some(rgb) = rgb {
                let rect = self.columns(number, start, len);
                lines::strikeout(&mut self.brush, rect, self.widget.mono.size, rgb);
            }
        }
    }

    fn texts(&mut self, number: u16, row: &Row, cursor: Option<Cursor>) {
        let block = cursor.filter(|cursor| cursor.shape == CursorShape::Block);
        let mut begun: Option<(usize, Ink)> = None;
        for (col, cell) in self.cells(row).iter().enumerate() {
            let under = block.filter(|cursor| usize::from(cursor.col) == col);
            let ink = Ink {
                face: self.widget.mono.face(cell.look.bold, cell.look.italic),
                color: under.map_or(cell.look.fg, |cursor| cursor.text_color),
            };
            let letter = match &cell.glyph {
                Glyph::Char(c) if c.is_ascii_graphic() => Some(*c),
                _ => None,
            };
            if begun.is_some_and(|(_, before)| letter.is_none() || before != ink) {
                self.flush(number, begun.take());
            }
            match (letter, &cell.glyph) {
                (Some(letter), _) => {
                    begun.get_or_insert((col, ink));
                    self.word.push(letter);
                }
                (None, Glyph::Blank) => {}
                (None, Glyph::Char(c)) => self.single(number, col, cell, *c, ink),
                (None, Glyph::Cluster(text)) => self.cluster(number, col, cell, text, ink),
            }
        }
        self.flush(number, begun);
    }

    /// Draws the word gathered so far.
    fn flush(&mut self, number: u16, begun: Option<(usize, Ink)>) {
        let Some((col, ink)) = begun else { return };
        let at = self.columns(number, col, 1);
        let word = std::mem::take(&mut self.word);
        self.write(word, at.x, at, ink, self.widget.mono.size, Shaping::Basic);
    }

    fn single(&mut self, number: u16, col: usize, cell: &Cell, c: char, ink: Ink) {
        if c.is_whitespace() || c.is_control() {
            return;
        }
        let rect = self.span(number, col, cell);
        if !shapes::draw(&mut self.brush, c, rect, ink.color) {
            self.cluster(number, col, cell, c.encode_utf8(&mut [0; 4]), ink);
        }
    }

    fn span(&self, number: u16, col: usize, cell: &Cell) -> Rect {
        self.columns(number, col, if cell.width == Width::Wide { 2 } else { 1 })
    }

    /// A character or cluster on its own, in the middle of its cells.
    fn cluster(&mut self, number: u16, col: usize, cell: &Cell, text: &str, ink: Ink) {
        let rect = self.span(number, col, cell);
        let fit = fonts::fit(text, ink.face, self.widget.mono.size, rect.width);
        if fit.is_missing {
            return lines::missing(&mut self.brush, rect, ink.color);
        }
        // A letter of a script that runs to the left would be put at the right end of the line.
        let text = match text.chars().next() {
            Some('\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}') => {
                format!("\u{200e}{text}")
            }
            _ => text.to_owned(),
        };
        self.write(text, rect.x + fit.left, rect, ink, fit.size, Shaping::Advanced);
    }

    fn write(&mut self, content: String, x: f32, row: Rect, ink: Ink, size: f32, shaping: Shaping) {
        let pane = self.pane;
        // Always as large as the grid, so that a word is shaped once wherever it stands. What a
        // window must repaint is decided by the clip: few rows one by one, or all in one piece.
        let clip =
            if self.is_small_change { Rect { x: pane.x, width: pane.width, ..row } } else { pane };
        let text = Text {
            content,
            bounds: Size::new(pane.width + row.width, pane.height),
            size: Pixels(size),
            line_height: LineHeight::Absolute(Pixels(self.widget.mono.line_height)),
            font: ink.face,
            align_x: Alignment::Left,
            align_y: alignment::Vertical::Top,
            shaping,
            wrapping: Wrapping::None,
        };
        let clip = rectangle(clip.intersection(&pane));
        cost::text();
        self.brush.renderer.fill_text(text, Point::new(x, row.y), color(ink.color), clip);
    }

    /// Shows where the view is in the history, while it is not at the end.
    fn scrollbar(&mut self) {
        let scroll = self.widget.grid.scroll;
        if scroll.back == 0 || scroll.history == 0 {
            return;
        }
        let visible = f32::from(self.widget.area.rows);
        let total = scroll.history as f32 + visible;
        let track = self.pane.inset(0.0, 4.0);
        let height = (track.height * visible / total).clamp(24.0, track.height.max(24.0));
        let above = 1.0 - (scroll.back as f32 / scroll.history as f32).min(1.0);
        let y = track.y + (track.height - height) * above;
        let rect = Rect::new(track.right() - 8.0, y, 4.0, height);
        let ink = self.widget.grid.cursor.map_or((128, 128, 128), |cursor| cursor.color);
        self.brush.round(rect, 2.0, faded(ink, 0.45));
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
