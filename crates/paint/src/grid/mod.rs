//! A terminal: cells as backgrounds, words, drawn characters and lines.

mod boxes;
mod lines;
mod row;
mod shapes;
mod smooth;

use std::sync::Arc;

use iced_core::text::{Alignment, LineHeight, Renderer as _, Text, Wrapping};
use iced_core::{Pixels, Point, Renderer as _, Size, alignment};
use rookery_view::scene::grid::{Cursor, Grid, Part, Row};
use rookery_view::scene::layout::{GridArea, PaneLayout, Rect};
use rookery_view::scene::{FontChoice, Pane, Rgb};

use self::row::{Geometry, RowDrawing, Stroke};
use crate::brush::{Brush, rectangle};
use crate::cost;
use crate::fonts::Mono;
use crate::renderer::Renderer;
use crate::shades::{color, faded};

/// Rows that may change before the whole grid counts as changed: beyond that, a window repaints
/// faster in one piece.
const FEW_ROWS: usize = 3;

/// Shows a terminal.
pub(crate) struct GridView {
    grid: Arc<Grid>,
    /// All that is painted.
    frame: Rect,
    area: GridArea,
    part: Part,
    mono: Mono,
    scale: f32,
}

impl GridView {
    pub(crate) fn new(pane: &Pane, place: &PaneLayout, font: &FontChoice, scale: f32) -> GridView {
        let top = place.header.map_or(place.frame.y, |band| band.bottom());
        let frame = Rect { y: top, height: place.frame.bottom() - top, ..place.frame };
        GridView {
            grid: Arc::clone(&pane.grid),
            frame,
            area: place.cells,
            part: place.part,
            mono: Mono::of(&font.family, place.cells.cell),
            scale,
        }
    }
}

/// A row as it was drawn last.
struct Drawn {
    row: Arc<Row>,
    cursor: Option<Cursor>,
    strokes: Vec<Stroke>,
}

/// What was drawn last, row by row; strokes of rows that did not change are used again.
#[derive(Default)]
pub(crate) struct Memory {
    rows: Vec<Drawn>,
    geometry: Option<Geometry>,
}

impl GridView {
    pub(crate) fn draw(&self, memory: &mut Memory, renderer: &mut Renderer) {
        let is_small_change = self.refresh(memory);
        renderer.with_layer(rectangle(self.frame), |renderer| {
            self.ground(&mut Brush::on(renderer, self.scale));
            for (number, drawn) in memory.rows.iter().enumerate() {
                for stroke in &drawn.strokes {
                    self.show(renderer, stroke, number as u16, is_small_change);
                }
            }
        });
    }

    /// Draws anew whatever changed. Says whether that is little.
    fn refresh(&self, memory: &mut Memory) -> bool {
        let geometry = Geometry {
            area: self.area,
            part: self.part,
            mono: self.mono,
            scale: self.scale,
            background: self.grid.background,
            selection: self.grid.selection_background,
        };
        let rows = &mut memory.rows;
        let is_known = memory.geometry.as_ref() == Some(&geometry);
        if !is_known {
            rows.clear();
        }
        let mut changed = 0;
        let shown = self.grid.rows.iter().skip(usize::from(self.part.row));
        for (index, row) in shown.take(usize::from(self.part.rows)).enumerate() {
            let cursor = self.cursor_on(index as u16);
            let is_same = rows.get(index).is_some_and(|drawn| {
                drawn.cursor == cursor && (Arc::ptr_eq(&drawn.row, row) || drawn.row == *row)
            });
            if is_same {
                // The newer pointer is the one that comes again.
                rows[index].row = Arc::clone(row);
                continue;
            }
            changed += 1;
            let strokes = RowDrawing::new(&geometry, index as u16, row, cursor).strokes();
            let drawn = Drawn { row: Arc::clone(row), cursor, strokes };
            match rows.get_mut(index) {
                Some(old) => *old = drawn,
                None => rows.push(drawn),
            }
        }
        let count = usize::from(self.part.rows);
        let is_shorter = rows.len() > count;
        rows.truncate(count);
        memory.geometry = Some(geometry);
        is_known && !is_shorter && changed <= FEW_ROWS
    }

    /// The cursor, if it is drawn on a row of the area.
    fn cursor_on(&self, row: u16) -> Option<Cursor> {
        let cursor = self.grid.cursor.filter(|cursor| cursor.is_visible)?;
        let col = cursor.col.checked_sub(self.part.col).filter(|col| *col < self.part.cols)?;
        (cursor.row.checked_sub(self.part.row) == Some(row)).then_some(Cursor {
            row,
            col,
            ..cursor
        })
    }

    /// What is behind the cells, and dots where the terminal has none.
    fn ground(&self, brush: &mut Brush<'_>) {
        brush.fill(self.frame, color(self.grid.background));
        let (area, part) = (self.area, self.part);
        if part.rows >= area.rows && part.cols >= area.cols {
            return;
        }
        let ink = faded(self.dot_color(), 0.28);
        let dot = (2.0 / self.scale).max(1.0);
        for row in (0..area.rows).step_by(2) {
            for col in (0..area.cols).step_by(4) {
                if row < part.rows && col < part.cols {
                    continue;
                }
                let cell = area.columns(row, col, 1);
                let x = cell.x + (cell.width / 2.0).floor();
                let y = cell.y + (cell.height / 2.0).floor();
                brush.fill(Rect::new(x, y, dot, dot), ink);
            }
        }
    }

    fn dot_color(&self) -> Rgb {
        let (r, g, b) = self.grid.background;
        if u16::from(r) + u16::from(g) + u16::from(b) > 384 { (0, 0, 0) } else { (255, 255, 255) }
    }

    fn show(&self, renderer: &mut Renderer, stroke: &Stroke, row: u16, is_small_change: bool) {
        match stroke {
            Stroke::Quad(quad, fill) => renderer.fill_quad(*quad, *fill),
            Stroke::Text { content, x, y, size, ink, shaping } => {
                // Always as large as the grid, so that a word is shaped once wherever it stands. What
                // a window must repaint is decided by the clip: few rows one by one, or all in one
                // piece.
                let clip = match is_small_change {
                    true => {
                        let line = self.area.columns(row, 0, 1);
                        Rect { x: self.frame.x, width: self.frame.width, ..line }
                    }
                    false => self.frame,
                };
                let text = Text {
                    content: content.clone(),
                    bounds: Size::new(self.frame.width * 2.0, self.frame.height),
                    size: Pixels(*size),
                    line_height: LineHeight::Absolute(Pixels(self.mono.line_height)),
                    font: ink.face,
                    align_x: Alignment::Left,
                    align_y: alignment::Vertical::Top,
                    shaping: *shaping,
                    wrapping: Wrapping::None,
                };
                cost::text();
                let clip = rectangle(clip.intersection(&self.frame));
                // The renderer cuts fractions of a pixel off, and a row that begins at one may be a
                // hair above it as a number.
                let y = ((*y * self.scale).round() + 0.01) / self.scale;
                renderer.fill_text(text, Point::new(*x, y), color(ink.color), clip);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rookery_model::TerminalId;
    use rookery_term::{Palette, Width};
    use rookery_view::scene::grid::{Cell, CursorShape, Glyph, Look, Scroll};
    use rookery_view::scene::{Layout, Scene, Stage};
    use rookery_view::theme::Theme;

    use super::*;

    fn row(text: &str) -> Arc<Row> {
        let palette = Palette::default();
        let look = Look {
            fg: palette.foreground,
            bg: palette.background,
            bold: false,
            italic: false,
            strikeout: false,
            overline: false,
            underline: rookery_term::Underline::None,
            underline_color: palette.foreground,
        };
        let cell = |c| Cell { glyph: Glyph::Char(c), look, width: Width::Narrow };
        Arc::new(Row { cells: text.chars().map(cell).collect(), ..Row::default() })
    }

    fn widget(rows: Vec<Arc<Row>>, cursor: Option<(u16, u16)>) -> GridView {
        let palette = Palette::default();
        let cursor = cursor.map(|(row, col)| Cursor {
            row,
            col,
            shape: CursorShape::Block,
            is_visible: true,
            color: palette.cursor,
            text_color: palette.background,
        });
        let grid = Grid {
            cols: 80,
            rows,
            background: palette.background,
            selection_background: (1, 2, 3),
            cursor,
            scroll: Scroll::default(),
        };
        let mut scene = Scene::new(Theme::fallback());
        scene.stage = Stage::terminal(TerminalId::new(1), Arc::new(grid));
        let layout = Layout::of(&scene);
        let pane = &scene.stage.panes()[0];
        GridView::new(pane, &layout.terminals[0], &scene.font, 1.0)
    }

    /// Where the strokes of each row are kept.
    fn kept(memory: &Memory) -> Vec<*const Stroke> {
        memory.rows.iter().map(|drawn| drawn.strokes.as_ptr()).collect()
    }

    #[test]
    fn rows_that_did_not_change_are_not_drawn_anew() {
        let mut memory = Memory::default();
        let rows: Vec<_> = (0..10).map(|n| row(&format!("row {n}"))).collect();
        assert!(!widget(rows.clone(), Some((0, 0))).refresh(&mut memory), "all is new at first");
        let before = kept(&memory);
        assert!(widget(rows.clone(), Some((0, 0))).refresh(&mut memory));
        assert_eq!(kept(&memory), before, "nothing changed");
        let mut next = rows.clone();
        next[4] = row("something else");
        assert!(widget(next.clone(), Some((0, 0))).refresh(&mut memory), "one row is little");
        let after = kept(&memory);
        let changed: Vec<usize> = (0..10).filter(|at| before[*at] != after[*at]).collect();
        assert_eq!(changed, [4]);
        // The same row made anew looks the same; the cursor changes the rows it leaves and enters.
        next[7] = row("row 7");
        assert!(widget(next.clone(), Some((2, 3))).refresh(&mut memory));
        let moved = kept(&memory);
        let changed: Vec<usize> = (0..10).filter(|at| after[*at] != moved[*at]).collect();
        assert_eq!(changed, [0, 2]);
        let all: Vec<_> = (0..10).map(|n| row(&format!("other {n}"))).collect();
        assert!(!widget(all, None).refresh(&mut memory), "all rows are much");
        assert!(!widget(rows[..3].to_vec(), None).refresh(&mut memory), "so are fewer rows");
        assert_eq!(kept(&memory).len(), 3);
    }
}
