//! Where panes, their headers and the gaps between them lie.

use rookery_model::TerminalId;

use super::{Hit, Panes, Point, Rect};
use crate::scene::geometry::{CellSize, GridArea};
use crate::scene::grid::Part;
use crate::scene::{FontChoice, Pane, Scene, Stage};
use crate::tile;

/// Height of the header of a pane at the upper edge; others have theirs in the gap above them.
pub const HEADER_HEIGHT: f32 = 22.0;
/// Around the cells.
const PADDING: (f32, f32) = (10.0, 6.0);
/// How wide a scrollbar reacts.
const BAR_WIDTH: f32 = 14.0;

impl Panes {
    /// Where the cells lie and how many there are, without headers and at scale 1.
    pub fn grid(&self, font: &FontChoice) -> GridArea {
        self.room(font, 1.0, Headers::None)
    }

    /// Where the cells of all panes lie at a scale.
    pub(super) fn room(&self, font: &FontChoice, scale: f32, headers: Headers) -> GridArea {
        let (horizontal, vertical) = PADDING;
        let all = self.terminal.inset(horizontal, vertical);
        let band = HEADER_HEIGHT + 2.0 - vertical;
        let area = match headers {
            Headers::None => all,
            Headers::Drawn => Rect { y: all.y + band, height: all.height - band, ..all },
            Headers::Kept => Rect { height: all.height - band, ..all },
        };
        GridArea::within(area, CellSize::at(font, scale)).snapped(scale)
    }
}

/// The band for headers of panes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Headers {
    None,
    /// Above the cells.
    Drawn,
    /// As much room is left free below them, so that rows stay as many while the user goes from group to
    /// group.
    Kept,
}

impl Headers {
    pub(super) fn of(scene: &Scene) -> Headers {
        let is_group = matches!(&scene.stage, Stage::Panes(panes) if panes.is_group);
        match is_group {
            true => Headers::Drawn,
            false if scene.strip.pills.iter().any(|pill| pill.more > 0) => Headers::Kept,
            false => Headers::None,
        }
    }
}

/// Where a pane lies.
#[derive(Clone, Debug, PartialEq)]
pub struct PaneLayout {
    pub terminal: TerminalId,
    /// All that is painted for it.
    pub frame: Rect,
    pub cells: GridArea,
    /// The part of its grid that they show.
    pub part: Part,
    /// Its header, if it has one.
    pub header: Option<Rect>,
    /// The sign in it that closes the pane.
    pub close: Option<Rect>,
    /// Where its scrollbar runs.
    pub bar: Rect,
    /// Lines to its right and below, if another pane is there.
    pub gaps: [Option<Rect>; 2],
}

impl PaneLayout {
    pub(super) fn of(pane: &Pane, room: GridArea, stage: Rect, is_group: bool) -> PaneLayout {
        let whole = tile::Rect::room(room.cols, room.rows);
        let area = pane.area.unwrap_or(whole);
        // What the daemon tiled for another size is cut to this one.
        let cells = room.part(area);
        let (col, row) = (area.col.min(room.cols - 1), area.row.min(room.rows - 1));
        let (cols, rows) = (cells.cols, cells.rows);
        let (is_right, is_bottom) = (col + cols >= room.cols, row + rows >= room.rows);
        let inner = cells.rect();
        let left = if col == 0 { stage.x } else { inner.x - (room.cell.width / 2.0).floor() };
        let right = match is_right {
            true => stage.right(),
            false => inner.right() + room.cell.width - (room.cell.width / 2.0).floor(),
        };
        let header_top = if row == 0 { stage.y } else { inner.y - room.cell.height };
        let bottom = if is_bottom { stage.bottom() } else { inner.bottom() };
        let band =
            Rect::new(left, header_top, right - left, HEADER_HEIGHT.min(inner.y - header_top));
        let header = is_group.then_some(band);
        let top = if row == 0 { stage.y } else { header_top };
        let frame = Rect::new(left, top, right - left, bottom - top);
        let close = header.map(|band| Rect::new(band.right() - 24.0, band.y, 20.0, band.height));
        PaneLayout {
            terminal: pane.terminal,
            frame,
            cells,
            part: pane.grid.part(rows, cols, pane.pan),
            header,
            close,
            bar: match is_right {
                true => Rect::new(right - BAR_WIDTH, inner.y, BAR_WIDTH, inner.height),
                // The gap beside it is to be dragged.
                false => Rect::new(inner.right() - 7.0, inner.y, 8.0, inner.height),
            },
            gaps: [
                (!is_right).then(|| {
                    Rect::new(inner.right(), header_top, room.cell.width, bottom - header_top)
                }),
                (!is_bottom)
                    .then(|| Rect::new(left, inner.bottom(), right - left, room.cell.height)),
            ],
        }
    }

    pub(super) fn hit(&self, point: Point) -> Option<Hit> {
        if self.close.is_some_and(|rect| rect.contains(point)) {
            return Some(Hit::PaneClose(self.terminal));
        }
        // A border is easier to grab than a header is to miss.
        let is_border = |rect: &Option<Rect>, inset: (f32, f32)| {
            rect.is_some_and(|rect| rect.inset(inset.0, inset.1).contains(point))
        };
        if is_border(&self.gaps[0], (0.0, 0.0)) {
            return Some(Hit::Gap { terminal: self.terminal, edge: tile::Edge::Right });
        }
        let lower = self.gaps[1].map(|gap| Rect { height: 5.0, ..gap });
        if is_border(&lower, (0.0, 0.0)) {
            return Some(Hit::Gap { terminal: self.terminal, edge: tile::Edge::Down });
        }
        if self.header.is_some_and(|rect| rect.contains(point)) {
            return Some(Hit::PaneHeader(self.terminal));
        }
        if !self.frame.contains(point) {
            return None;
        }
        let cell = self
            .cells
            .cell_at(point)
            .filter(|(row, col)| *row < self.part.rows && *col < self.part.cols);
        Some(match cell {
            Some((row, col)) => Hit::Cell {
                terminal: self.terminal,
                row: row + self.part.row,
                col: col + self.part.col,
            },
            None => Hit::Pane(self.terminal),
        })
    }

    /// Row and column of the terminal's cell nearest to a point, for a drag that left the pane.
    pub fn nearest_cell(&self, point: Point) -> (u16, u16) {
        let (row, col) = self.cells.nearest_cell(point);
        let within = |at: u16, count: u16| at.min(count.saturating_sub(1));
        (within(row, self.part.rows) + self.part.row, within(col, self.part.cols) + self.part.col)
    }

    /// The side of the pane that a point is nearest to, for something that is dropped there; none in
    /// its middle.
    pub fn side_at(&self, point: Point) -> Option<tile::Side> {
        let inner = self.frame;
        if !inner.contains(point) || inner.width <= 0.0 || inner.height <= 0.0 {
            return None;
        }
        let x = (point.x - inner.x) / inner.width;
        let y = (point.y - inner.y) / inner.height;
        let sides = [
            (x, tile::Side::Left),
            (1.0 - x, tile::Side::Right),
            (y, tile::Side::Above),
            (1.0 - y, tile::Side::Below),
        ];
        let nearest = sides.into_iter().min_by(|(a, _), (b, _)| a.total_cmp(b))?;
        (nearest.0 < 0.3).then_some(nearest.1)
    }
}
