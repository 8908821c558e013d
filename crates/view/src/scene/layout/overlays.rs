//! Where palette, inbox and toasts lie.

use super::{BAND_HEIGHT, Hit, MARGIN, PALETTE_HEIGHT, PALETTE_WIDTH, Point, Rect};
use crate::scene::{Corner, Inbox, PaletteOverlay};

const PALETTE_HEAD: f32 = 46.0;
const PALETTE_ROW: f32 = 34.0;
const PALETTE_PADDING: f32 = 6.0;
const TOAST: (f32, f32) = (300.0, 56.0);
const MAX_TOASTS: usize = 4;
/// What is left free above and below toasts: a page's head and its foot, or the header of a pane.
const PAGE: (f32, f32) = (52.0, 54.0);
const PANE: (f32, f32) = (24.0, 0.0);
const INBOX_WIDTH: f32 = 340.0;
const INBOX_ROW: f32 = 50.0;

/// Where the palette lies.
#[derive(Clone, Debug, PartialEq)]
pub struct PaletteLayout {
    /// The box.
    pub frame: Rect,
    /// The line with the query.
    pub query: Rect,
    /// Visible rows with their index in the scene. The selected one is among them.
    pub rows: Vec<(usize, Rect)>,
    /// Rows above and below those.
    pub hidden: (usize, usize),
}

impl PaletteLayout {
    pub(super) fn of(palette: &PaletteOverlay, window: Rect) -> PaletteLayout {
        let room = window.inset(2.0 * MARGIN, 2.0 * MARGIN);
        let most = room.height.min(PALETTE_HEIGHT) - PALETTE_HEAD - 2.0 * PALETTE_PADDING;
        let fitting = (most / PALETTE_ROW).floor().max(1.0) as usize;
        let shown = palette.rows.len().min(fitting);
        let first = (palette.selected() + 1).saturating_sub(fitting);
        let rows_height = shown.max(1) as f32 * PALETTE_ROW + 2.0 * PALETTE_PADDING;
        // Its head stays where it is while rows come and go.
        let tallest = room.centered(PALETTE_WIDTH, PALETTE_HEIGHT);
        let frame = Rect::new(tallest.x, tallest.y, tallest.width, PALETTE_HEAD + rows_height);
        let frame = frame.intersection(&room);
        let top = frame.y + PALETTE_HEAD + PALETTE_PADDING;
        let row = |index: usize| {
            let y = top + (index - first) as f32 * PALETTE_ROW;
            let width = frame.width - 2.0 * PALETTE_PADDING;
            (index, Rect::new(frame.x + PALETTE_PADDING, y, width, PALETTE_ROW))
        };
        PaletteLayout {
            frame,
            query: Rect::new(frame.x, frame.y, frame.width, PALETTE_HEAD),
            rows: (first..first + shown).map(row).collect(),
            hidden: (first, palette.rows.len() - first - shown),
        }
    }

    pub(super) fn hit(&self, point: Point) -> Hit {
        if let Some((index, _)) = self.rows.iter().find(|(_, rect)| rect.contains(point)) {
            return Hit::PaletteRow(*index);
        }
        if self.frame.contains(point) { Hit::Nothing } else { Hit::Backdrop }
    }
}

/// Where the inbox lies.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxLayout {
    /// The box.
    pub frame: Rect,
    pub heading: Rect,
    /// Entries in the scene's order, as many as fit.
    pub rows: Vec<Rect>,
}

impl InboxLayout {
    pub(super) fn of(inbox: &Inbox, terminal: Rect) -> InboxLayout {
        let room = terminal.inset(MARGIN, MARGIN);
        let fitting = ((room.height - BAND_HEIGHT - MARGIN) / INBOX_ROW).floor().max(0.0) as usize;
        let shown = inbox.rows.len().min(fitting);
        let height = BAND_HEIGHT + shown.max(1) as f32 * INBOX_ROW + MARGIN;
        let width = INBOX_WIDTH.min(room.width);
        let frame = Rect::new(room.x, room.y, width, height);
        let row = |index: usize| {
            let y = frame.y + BAND_HEIGHT + index as f32 * INBOX_ROW;
            Rect::new(frame.x, y, width, INBOX_ROW).inset(PALETTE_PADDING, 0.0)
        };
        InboxLayout {
            frame,
            heading: Rect::new(frame.x, frame.y, width, BAND_HEIGHT),
            rows: (0..shown).map(row).collect(),
        }
    }

    pub(super) fn hit(&self, point: Point) -> Option<Hit> {
        let row = self.rows.iter().position(|row| row.contains(point)).map(Hit::InboxRow);
        row.or(self.frame.contains(point).then_some(Hit::Nothing))
    }
}

/// Toasts stand in a corner, newest lowest.
pub(super) fn toasts(count: usize, corner: Corner, is_page: bool, terminal: Rect) -> Vec<Rect> {
    let shown = count.min(MAX_TOASTS);
    let width = TOAST.0.min(terminal.width - 2.0 * MARGIN);
    let (head, foot) = if is_page { PAGE } else { PANE };
    let x = match corner {
        Corner::LowerRight | Corner::UpperRight => terminal.right() - 2.0 * MARGIN - width,
        Corner::LowerLeft => terminal.x + 2.0 * MARGIN,
    };
    let step = TOAST.1 + MARGIN;
    let place = |index: usize| {
        let y = match corner {
            Corner::LowerRight | Corner::LowerLeft => {
                terminal.bottom() - foot - MARGIN - (shown - index) as f32 * step
            }
            Corner::UpperRight => terminal.y + head + MARGIN + index as f32 * step,
        };
        Rect::new(x, y, width, TOAST.1)
    };
    (0..shown).map(place).collect()
}
