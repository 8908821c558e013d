//! Points and rectangles in logical points, and the size of a cell.

use super::{FontChoice, WindowSize};
use crate::tile;

/// Smallest and largest side of a window.
pub const WINDOW_BOUNDS: (f32, f32) = (1.0, 16384.0);
/// Square points of the largest one, which bound what a picture of it needs.
const MOST_AREA: f32 = 4096.0 * 4096.0;

/// Smallest and largest font size.
pub const FONT_BOUNDS: (f32, f32) = (6.0, 72.0);

/// Advance of the built-in monospace face, as a share of its size.
pub const ADVANCE: f32 = 1233.0 / 2048.0;

/// Height of a row of cells, as a share of the font's size.
const LINE_HEIGHT: f32 = 1.28;

impl WindowSize {
    /// The nearest size a window may have, in whole points.
    pub fn bounded(self) -> WindowSize {
        let width = bounded(self.width, WINDOW_BOUNDS).round();
        let height = bounded(self.height, WINDOW_BOUNDS).round();
        WindowSize { width, height: height.min((MOST_AREA / width).floor()) }
    }
}

/// A value within bounds; the lower bound if it is not a number.
pub(super) fn bounded(value: f32, (low, high): (f32, f32)) -> f32 {
    if value.is_nan() { low } else { value.clamp(low, high) }
}

/// A place in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// From the left.
    pub x: f32,
    /// From the top.
    pub y: f32,
}

/// A part of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f32,
    /// Upper edge.
    pub y: f32,
    /// From left to right; never negative.
    pub width: f32,
    /// From top to bottom; never negative.
    pub height: f32,
}

impl Rect {
    /// A rectangle; negative sides become none.
    pub fn new(x: f32, y: f32, width: f32, height: f32) -> Rect {
        Rect { x, y, width: width.max(0.0), height: height.max(0.0) }
    }

    /// The edge after its last column.
    pub fn right(&self) -> f32 {
        self.x + self.width
    }

    /// The edge below its last row.
    pub fn bottom(&self) -> f32 {
        self.y + self.height
    }

    /// Whether a point lies in it; its right and lower edges do not belong to it.
    pub fn contains(&self, point: Point) -> bool {
        point.x >= self.x && point.x < self.right() && point.y >= self.y && point.y < self.bottom()
    }

    /// The same, smaller at all sides.
    pub fn inset(&self, horizontal: f32, vertical: f32) -> Rect {
        Rect::new(
            self.x + horizontal,
            self.y + vertical,
            self.width - 2.0 * horizontal,
            self.height - 2.0 * vertical,
        )
    }

    /// A rectangle of a size in the middle of this one, on whole points, not larger than it.
    pub fn centered(&self, width: f32, height: f32) -> Rect {
        let (width, height) = (width.min(self.width), height.min(self.height));
        let x = self.x + ((self.width - width) / 2.0).floor();
        let y = self.y + ((self.height - height) / 2.0).floor();
        Rect::new(x, y, width, height)
    }

    /// What two rectangles share; empty if nothing.
    pub fn intersection(&self, other: &Rect) -> Rect {
        let (x, y) = (self.x.max(other.x), self.y.max(other.y));
        let (right, bottom) = (self.right().min(other.right()), self.bottom().min(other.bottom()));
        Rect::new(x, y, right - x, bottom - y)
    }

    /// Whether two rectangles share anything.
    pub fn touches(&self, other: &Rect) -> bool {
        let shared = self.intersection(other);
        shared.width > 0.0 && shared.height > 0.0
    }
}

/// Size of a cell. Whole pixels, so that text, lines and backgrounds of neighbors meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellSize {
    /// From left to right.
    pub width: f32,
    /// From top to bottom.
    pub height: f32,
    /// Size at which the built-in face's advance is exactly the width.
    pub font_size: f32,
}

impl CellSize {
    /// The cell of a font.
    pub fn of(font: &FontChoice) -> CellSize {
        CellSize::at(font, 1.0)
    }

    /// The cell of a font where a point has this many physical pixels: whole points where those are
    /// whole pixels, else whole pixels.
    pub fn at(font: &FontChoice, scale: f32) -> CellSize {
        let size = bounded(font.size, FONT_BOUNDS);
        let grain = grain(scale);
        let whole = |length: f32| (length * grain).round() / grain;
        let width = whole(size * ADVANCE);
        // Rows grow with every step, though columns only do when the advance reaches another point.
        CellSize { width, height: whole(size * LINE_HEIGHT), font_size: width / ADVANCE }
    }
}

/// The nearest place that is a whole pixel at a scale.
pub fn on_pixel(points: f32, scale: f32) -> f32 {
    let scale = if scale.is_finite() { scale.clamp(0.5, 8.0) } else { 1.0 };
    (points * scale).round() / scale
}

/// Into how many parts a point can be cut so that the parts are whole pixels: 1 at whole scales.
pub(super) fn grain(scale: f32) -> f32 {
    let scale = if scale.is_finite() { scale.clamp(0.5, 8.0) } else { 1.0 };
    if scale.fract() == 0.0 { 1.0 } else { scale }
}

/// Where the cells lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridArea {
    /// Upper left corner of the first cell.
    pub origin: Point,
    /// Size of a cell.
    pub cell: CellSize,
    /// Rows that fit; at least 1.
    pub rows: u16,
    /// Columns that fit; at least 1.
    pub cols: u16,
}

impl GridArea {
    /// The cells that fit into a rectangle.
    pub(super) fn within(area: Rect, cell: CellSize) -> GridArea {
        // A hair less than a whole cell is one: sizes at fractional scales are not exact.
        let fitting = |room: f32, size: f32| (room / size + 0.001).floor().max(1.0) as u16;
        GridArea {
            origin: Point { x: area.x, y: area.y },
            cell,
            rows: fitting(area.height, cell.height),
            cols: fitting(area.width, cell.width),
        }
    }

    /// The same, its first cell on a whole pixel of a scale.
    pub(super) fn snapped(self, scale: f32) -> GridArea {
        let grain = grain(scale);
        let whole = |at: f32| (at * grain).round() / grain;
        GridArea { origin: Point { x: whole(self.origin.x), y: whole(self.origin.y) }, ..self }
    }

    /// A part of the cells: first column and row, columns and rows. What lies outside is left off.
    pub fn part(&self, part: tile::Rect) -> GridArea {
        let (col, row) = (part.col.min(self.cols - 1), part.row.min(self.rows - 1));
        let corner = self.columns(row, col, 1);
        GridArea {
            origin: Point { x: corner.x, y: corner.y },
            cell: self.cell,
            rows: part.rows.clamp(1, self.rows - row),
            cols: part.cols.clamp(1, self.cols - col),
        }
    }

    /// The rectangle of all cells.
    pub fn rect(&self) -> Rect {
        self.span(0, 0, self.cols, self.rows)
    }

    /// The rectangle of some columns of one row.
    pub fn columns(&self, row: u16, col: u16, cols: u16) -> Rect {
        self.span(row, col, cols, 1)
    }

    fn span(&self, row: u16, col: u16, cols: u16, rows: u16) -> Rect {
        let cell = self.cell;
        Rect {
            x: self.origin.x + f32::from(col) * cell.width,
            y: self.origin.y + f32::from(row) * cell.height,
            width: f32::from(cols) * cell.width,
            height: f32::from(rows) * cell.height,
        }
    }

    /// Row and column under a point, if it is on a cell.
    pub fn cell_at(&self, point: Point) -> Option<(u16, u16)> {
        self.rect().contains(point).then(|| self.nearest_cell(point))
    }

    /// Row and column of the cell nearest to a point, for a drag that left the grid.
    pub fn nearest_cell(&self, point: Point) -> (u16, u16) {
        let row = (point.y - self.origin.y) / self.cell.height;
        let col = (point.x - self.origin.x) / self.cell.width;
        let index = |value: f32, count: u16| (value.max(0.0) as u16).min(count - 1);
        (index(row, self.rows), index(col, self.cols))
    }
}
