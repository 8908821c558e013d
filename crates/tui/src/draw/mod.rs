//! From state and picture to cells. Pure: the same state gives the same cells.

mod bars;
mod inbox;
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
use rookery_face::cells::{Rect, text_width};
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
        for hint in fitting(hints, area.cols) {
            if col > area.col {
                col += 2;
            }
            let (key, words) = hint.split_once(' ').unwrap_or((hint, ""));
            let from = col;
            col = self.canvas.write(area, col, area.row, key, &self.look.accent());
            if !words.is_empty() {
                let words = format!(" {words}");
                col = self.canvas.write(area, col, area.row, &words, &self.look.text());
            }
            // A slash alone is a key, between two it parts them.
            let first = key.split(['/', '-']).next().filter(|key| !key.is_empty()).unwrap_or(key);
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

/// The hints that fit. The last one says how to leave: it stays, if need be as its key alone.
fn fitting(hints: &str, cols: u16) -> Vec<&str> {
    let mut all: Vec<&str> = hints.split("  ").filter(|hint| !hint.is_empty()).collect();
    let width = |hints: &[&str]| hints.iter().map(|hint| text_width(hint) + 2).sum::<u16>();
    if width(&all) <= cols.saturating_add(2) {
        return all;
    }
    let Some(last) = all.pop() else { return all };
    let key = if last.starts_with("esc ") { "esc" } else { last };
    let room = cols.saturating_sub(text_width(key));
    while width(&all) > room {
        all.pop();
    }
    let is_whole = width(&all).saturating_add(text_width(last)) <= cols;
    all.push(if is_whole { last } else { key });
    all
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
        if !layout.is_over {
            sidebar::draw(&mut brush, app, cx, layout.sidebar);
        }
        bars::strip(&mut brush, app, cx, layout.strip, layout.is_single);
        body(&mut brush, app, cx, &layout);
        if layout.is_over {
            let text = look.text();
            brush.canvas.fill(layout.sidebar, &text);
            sidebar::draw(&mut brush, app, cx, layout.sidebar);
        }
        bars::status(&mut brush, app, cx, layout.status);
        overlay::draw(&mut brush, app, cx, &layout);
    }
    caret_in_field(&mut brush, app, cx, &layout);
    if let Some(lost) = &app.lost {
        dim_all(&mut brush);
        overlay::lost(&mut brush, app, lost, cx.now, layout.status);
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
        Page::Inbox { .. } => inbox::draw(brush, app, cx, area),
        Page::Thread { .. } => page::thread(brush, app, cx, area),
        Page::Review { .. } => page::review(brush, app, area),
        Page::Checkpoints { .. } if app.pages.review.is_checkpoint() => {
            page::review(brush, app, area);
        }
        page => page::list(brush, app, &page, area),
    }
}

/// Input methods show what is composed at the real cursor, so it is where a field is written.
fn caret_in_field(brush: &mut Brush<'_>, app: &App, cx: &Cx<'_>, layout: &Layout) {
    let scene = cx.picture.scene();
    if scene.palette.as_ref().is_some_and(Option::is_some) || layout.is_tiny {
        return;
    }
    let pages = &app.pages;
    let has_field = match App::page(cx) {
        Page::Inbox { .. } => pages.card.has_field() || pages.inbox.filtering,
        Page::Thread { .. } => pages.thread.at.is_some() && pages.thread.card.has_field(),
        Page::Review { .. } => pages.review.comment.is_some(),
        Page::Workspace { .. } => false,
        Page::Settings => pages.list.filtering || pages.settings.has_field(),
        Page::Help => true,
        _ => pages.list.filtering,
    };
    let is_mark = |brush: &Brush<'_>, col, row| {
        let cell = brush.canvas.cell(col, row);
        cell.is_some_and(|cell| cell.glyph == crate::canvas::Glyph::Char('▌'))
    };
    let find = |brush: &Brush<'_>, area: Rect| {
        let cells = (area.row..area.bottom())
            .flat_map(|row| (area.col..area.right()).map(move |col| (col, row)));
        cells.rev().find(|(col, row)| is_mark(brush, *col, *row))
    };
    let found = if app.question.as_ref().is_some_and(|question| question.field.is_some()) {
        find(brush, layout.panes)
    } else if app.question.is_some() {
        None
    } else if rookery_face::app::renamed(cx).is_some() {
        // The first column of the sidebar marks the project that is shown.
        let (_, sidebar) = layout.sidebar.split_left(1);
        find(brush, layout.strip).or_else(|| find(brush, sidebar))
    } else if has_field && !pages.new_thread.is_open {
        find(brush, layout.panes)
    } else {
        None
    };
    if let Some((col, row)) = found {
        brush.caret_at(col, row);
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
