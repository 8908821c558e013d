//! From state and picture to cells. Pure: the same state gives the same cells.

mod bars;
mod layout;
mod overlay;
mod page;
mod pane;
mod sidebar;
#[cfg(test)]
mod tests;
mod text;

pub use layout::Layout;

use rookery_face::app::{App, Cx, Drawn, Hit};
use rookery_face::cells::Rect;
use rookery_view::link::attr;
use rookery_view::link::{self, Page};

use crate::canvas::{Canvas, Pen};
use crate::look::Look;
use crate::out::Caret;

/// A picture with everything that belongs to it.
pub struct Picture {
    /// The cells.
    pub canvas: Canvas,
    /// Where typing happens.
    pub caret: Option<Caret>,
    /// What lies where.
    pub drawn: Drawn,
    /// The room that panes have.
    pub room: link::Size,
    /// Whether a group shows one pane at a time.
    pub is_single: bool,
}

/// What is drawn with.
pub(crate) struct Brush<'a> {
    pub(crate) canvas: Canvas,
    pub(crate) look: &'a Look,
    pub(crate) drawn: Drawn,
    pub(crate) caret: Option<Caret>,
    pub(crate) wall: i64,
}

impl Brush<'_> {
    pub(crate) fn hit(&mut self, area: Rect, hit: Hit) {
        if !area.is_empty() {
            self.drawn.hits.push((area, hit));
        }
    }

    /// Writes hints such as `a approve  d deny…`: each can be clicked, as if its key were pressed.
    pub(crate) fn hints(&mut self, area: Rect, hints: &str) {
        let mut col = area.col;
        for hint in hints.split("  ").filter(|hint| !hint.is_empty()) {
            if col > area.col {
                col += 2;
            }
            let (key, words) = hint.split_once(' ').unwrap_or((hint, ""));
            let from = col;
            col = self.canvas.write(area, col, area.row, key, &self.look.accent());
            col = self.canvas.write(area, col, area.row, &format!(" {words}"), &self.look.text());
            let first = key.split(['/', '-']).next().unwrap_or(key);
            let place = Rect::new(from, area.row, col.saturating_sub(from), 1);
            // A range of digits names no key of its own, and a click must not choose for the user.
            if !first.starts_with(|c: char| c.is_ascii_digit()) {
                self.hit(place, Hit::Key(first.to_owned()));
            }
        }
    }

    pub(crate) fn caret_at(&mut self, col: u16, row: u16) {
        self.caret = Some(Caret { col, row, shape: 0 });
    }
}

/// Draws everything.
pub fn draw(app: &App, cx: &Cx<'_>, look: &Look) -> Picture {
    let (cols, rows) = app.size;
    let layout = Layout::new(app, cx);
    let mut brush = Brush {
        canvas: Canvas::new(cols, rows),
        look,
        drawn: Drawn::default(),
        caret: None,
        wall: cx.wall,
    };
    brush.canvas.fill(Rect::new(0, 0, cols, rows), &look.text());
    if layout.is_tiny {
        bars::tiny(&mut brush, app, cx);
    } else {
        sidebar::draw(&mut brush, app, cx, layout.sidebar);
        bars::strip(&mut brush, app, cx, layout.strip);
        body(&mut brush, app, cx, &layout);
        bars::status(&mut brush, app, cx, layout.status);
        overlay::draw(&mut brush, app, cx, &layout);
    }
    if let Some(lost) = &app.lost {
        dim_all(&mut brush);
        overlay::lost(&mut brush, app, lost, layout.status);
    }
    let Brush { canvas, drawn, caret, .. } = brush;
    let room = link::Size { cols: layout.panes.cols, rows: layout.panes.rows };
    Picture { canvas, caret, drawn, room, is_single: layout.is_single }
}

fn body(brush: &mut Brush<'_>, app: &App, cx: &Cx<'_>, layout: &Layout) {
    let area = layout.panes;
    if app.pages.new_thread.is_open {
        return page::new_thread(brush, app, cx, area);
    }
    match App::page(cx) {
        Page::Workspace { .. } => {
            match cx.picture.scene().panes.as_ref().and_then(Option::as_ref) {
                Some(panes) if !panes.areas.is_empty() => {
                    pane::draw_all(brush, app, cx, area, panes)
                }
                _ => page::empty(brush, app, cx, area),
            }
        }
        Page::Inbox { .. } => page::inbox(brush, app, cx, area),
        Page::Thread { .. } => page::thread(brush, app, cx, area),
        Page::Review { .. } => page::review(brush, app, area),
        Page::Checkpoints { .. } if app.pages.review.is_checkpoint() => {
            page::review(brush, app, area);
        }
        page => page::list(brush, app, &page, area),
    }
}

/// The last picture stays, dimmed.
fn dim_all(brush: &mut Brush<'_>) {
    let (all, dim) = (brush.canvas.area(), brush.look.dim());
    brush.canvas.restyle(all, |pen: &mut Pen| {
        pen.attrs |= attr::DIM;
        pen.attrs &= !attr::BOLD;
        pen.ink = dim.ink;
    });
    brush.caret = None;
}
