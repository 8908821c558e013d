//! The inbox: the list of what waits, and the card of the selected row.

use rookery_face::app::{App, Cx, Hit};
use rookery_face::cells::{Rect, cut, text_width};
use rookery_face::words::{age, line};
use rookery_view::link::{Inbox, InboxRow};

use super::Brush;
use super::page::{count, first_row, frame, with_back};
use super::text::draw_lines;

/// Columns of the whole face from which on the card lies beside the list.
const BESIDE: u16 = 90;
/// Below this the inbox shows one row at a time, with the card under it.
const ONE_ROW: (u16, u16) = (40, 10);

/// How many items only inform.
fn know(inbox: &Inbox) -> u32 {
    let count = |category| inbox.categories.get(category).copied().unwrap_or(0);
    count("completed") + count("informational")
}

pub(super) fn draw(brush: &mut Brush<'_>, app: &App, cx: &Cx<'_>, area: Rect) {
    let scene = cx.picture.scene();
    let inbox = scene.inbox.clone().unwrap_or_default();
    let waiting = scene.status.as_ref().map_or(0, |status| status.waiting);
    let card_hint = app.pages.card.hint();
    let know = know(&inbox);
    let page = &app.pages.inbox;
    let filter = match &page.filter {
        Some(field) if page.filtering => format!("   / {}▌", field.text()),
        Some(field) => format!("   / {}", field.text()),
        None => String::new(),
    };
    let head = format!("Inbox  {waiting} wait · {know} to know{filter}");
    let rows = u32::try_from(inbox.rows.len()).unwrap_or(u32::MAX);
    let place = match rows < inbox.total && rows > 0 {
        true => format!("{}–{} of {}", inbox.from + 1, inbox.from + rows, inbox.total),
        false => String::new(),
    };
    let hint = if page.filtering {
        "enter done  esc all".to_owned()
    } else if app.pages.inbox.whole || app.pages.card.has_field() {
        with_back(&card_hint)
    } else if card_hint.is_empty() {
        "enter all  i notes  / filter  esc back".to_owned()
    } else {
        format!("{card_hint}  enter all  i notes  / filter  esc back")
    };
    let body = frame(brush, area, &head, &place, &hint);
    if app.pages.inbox.whole {
        return card(
            brush,
            app,
            Rect { col: body.col + 1, cols: body.cols.saturating_sub(2), ..body },
        );
    }
    if app.size.0 < ONE_ROW.0 || app.size.1 < ONE_ROW.1 {
        let (one, rest) = body.split_top(1);
        one_row(brush, app, &inbox.rows, one);
        return card(brush, app, rest);
    }
    let is_beside = brush.canvas.cols() >= BESIDE && !brush.look.plain;
    let (list, rest) = if is_beside {
        body.split_left(area.cols * 45 / 100)
    } else {
        let rows = count(inbox.rows.len() + 1).min(body.rows / 2).max(2);
        body.split_top(rows)
    };
    inbox_rows(brush, app, &inbox.rows, list);
    if rest.is_empty() {
        return;
    }
    if is_beside {
        for row in rest.row..rest.bottom() {
            let (sign, pen) = (brush.look.line(true), brush.look.dim());
            brush.canvas.put(rest, rest.col, row, sign, 1, &pen);
        }
        card(brush, app, Rect { col: rest.col + 2, cols: rest.cols.saturating_sub(3), ..rest });
    } else {
        let (line_at, under) = rest.split_top(1);
        for col in line_at.col..line_at.right() {
            let (sign, pen) = (brush.look.line(false), brush.look.dim());
            brush.canvas.put(line_at, col, line_at.row, sign, 1, &pen);
        }
        card(brush, app, Rect { col: under.col + 1, cols: under.cols.saturating_sub(2), ..under });
    }
}

/// One row of the inbox at a time: whose it is, what it wants, how old it is.
fn one_row(brush: &mut Brush<'_>, app: &App, rows: &[InboxRow], place: Rect) {
    brush.drawn.page_rows = 1;
    let Some(row) = rows.get(app.pages.inbox.index) else {
        brush.canvas.write_cut(place, " nothing waits", &brush.look.dim());
        return;
    };
    let pen = match app.pages.inbox.selected.as_ref() == Some(&row.item) {
        true => brush.look.selected(),
        false => brush.look.text(),
    };
    brush.canvas.fill(place, &pen);
    let old = format!(" {} ", age(row.at, brush.wall));
    let room = Rect { cols: place.cols.saturating_sub(text_width(&old)), ..place };
    let parts = [&row.session_title, &row.title, &row.subtitle].map(|part| line(part));
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    brush.canvas.write_cut(room, &format!(" {}", parts.join("  ")), &pen);
    brush.canvas.write_right(place, &old, &pen);
    brush.caret_at(place.col, place.row);
    brush.hit(place, Hit::Row(app.pages.inbox.index));
}

fn inbox_rows(brush: &mut Brush<'_>, app: &App, rows: &[InboxRow], area: Rect) {
    let (top, list) = area.split_top(1);
    let words = Rect { cols: top.cols.saturating_sub(5), ..top };
    // What is asked for matters most where there is little room.
    let (kind, session) = if area.cols < 60 { (8, 8) } else { (9, 14) };
    let titles = format!("  {:<kind$} {:<session$} WHAT", "KIND", "SESSION");
    brush.canvas.write_cut(words, &titles, &brush.look.dim());
    let cells = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
    brush.canvas.write_right(top, "AGE ", &brush.look.dim());
    brush.drawn.page_rows = list.rows;
    let index = app.pages.inbox.index;
    let from = first_row(index, list.rows);
    if rows.is_empty() {
        brush.canvas.write_cut(list.line(0), "  nothing waits", &brush.look.dim());
    }
    for (at, row) in rows.iter().enumerate().skip(from).take(usize::from(list.rows)) {
        let place = list.line(count(at - from));
        let is_here = app.pages.inbox.selected.as_ref() == Some(&row.item);
        let pen = if is_here { brush.look.selected() } else { brush.look.text() };
        brush.canvas.fill(place, &pen);
        if is_here {
            brush.canvas.write(place, place.col, place.row, brush.look.signs.pointer(), &pen);
            brush.caret_at(place.col, place.row);
        }
        let what = if row.subtitle.is_empty() {
            line(&row.title)
        } else {
            format!("{}: {}", line(&row.title), line(&row.subtitle))
        };
        let later = if row.deferred { " later" } else { "" };
        let old = format!("{}{later} ", age(row.at, brush.wall));
        let (kind_of, title) = (line(&row.kind), line(&row.session_title));
        let (kind_of, title) = (cut(&kind_of, cells(kind)), cut(&title, cells(session)));
        let text = format!("{kind_of:<kind$} {title:<session$} ");
        let col = brush.canvas.write(place, place.col + 2, place.row, &text, &pen);
        let room = place.right().saturating_sub(col + text_width(&old) + 1);
        brush.canvas.write_cut(Rect::new(col, place.row, room, 1), &what, &pen);
        brush.canvas.write_right(place, &old, &pen);
        brush.hit(place, Hit::Row(at));
    }
}

fn card(brush: &mut Brush<'_>, app: &App, area: Rect) {
    let page = &app.pages.card;
    if !page.is_asked() || area.is_empty() {
        return;
    }
    let lines = page.lines(area.cols, brush.wall);
    let rows = usize::from(area.rows);
    let most = lines.len().saturating_sub(rows);
    let from = page.scroll.min(most);
    draw_lines(&mut brush.canvas, area, brush.look, &lines, from);
    if from < most {
        let more = format!(" {} more lines ", most - from);
        let bottom = area.line(area.rows - 1);
        brush.canvas.write_right(bottom, &more, &brush.look.selected());
    }
    brush.drawn.card = page.card().map(|_| (page.serial(), from >= most));
    brush.drawn.card_most = Some(most);
    if app.pages.inbox.whole {
        brush.drawn.page_rows = area.rows;
    }
}
