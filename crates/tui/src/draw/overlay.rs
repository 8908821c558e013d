//! What lies over everything: which-key bar, palette, dialogs, menus, toasts, the lost daemon.

use rookery_face::app::{App, Cx, Hit, Lost, Question};
use rookery_face::cells::{Rect, text_width, wrap};
use rookery_face::words::line;
use rookery_view::link::{Dialog, Mood, Palette};

use super::{Brush, Layout};
use crate::canvas::Pen;

/// What the which-key bar names, in its order; the words are short on purpose.
const WHICH: &[(&[&str], &str)] = &[
    (&["new_tab"], "new tab"),
    (&["split_right"], "split right"),
    (&["split_below"], "split below"),
    (&["close_tab"], "close"),
    (&["zoom_pane"], "zoom"),
    (&["switch_tab_1", "switch_tab_9"], "tab"),
    (&["cycle_tab_next", "cycle_tab_prev"], "next/prev"),
    (&["focus_left", "focus_right"], "pane"),
    (&["open_inbox"], "inbox"),
    (&["next_waiting"], "next waiting"),
    (&["command_palette"], "palette"),
    (&["new_thread"], "new thread"),
    (&["find"], "find"),
    (&["copy_mode"], "copy mode"),
    (&["focus_sidebar"], "sidebar"),
    (&["help"], "help"),
    (&["leave"], "leave"),
];

pub(super) fn draw(brush: &mut Brush<'_>, app: &App, cx: &Cx<'_>, layout: &Layout) {
    let scene = cx.picture.scene();
    toasts(brush, app, cx, layout);
    if app.prefix {
        which_key(brush, app, layout);
    }
    if let Some(open) = scene.palette.as_ref().and_then(Option::as_ref) {
        palette(brush, app, open);
    }
    if let Some(menu) = &app.menu {
        let rows: Vec<&str> = menu.rows.iter().map(|(words, _)| words.as_str()).collect();
        menu_box(brush, menu.at, &rows, menu.selected);
    }
    if let Some(dialog) = scene.dialog.as_ref().and_then(Option::as_ref) {
        ask_dialog(brush, dialog);
    }
    if let Some(question) = &app.question {
        ask_question(brush, question);
    }
}

fn which_key(brush: &mut Brush<'_>, app: &App, layout: &Layout) {
    let mut hints: Vec<(String, &str, &str)> = Vec::new();
    for (actions, words) in WHICH {
        let letters: Vec<&str> =
            actions.iter().filter_map(|action| app.keymap.letter(action)).collect();
        if letters.is_empty() {
            continue;
        }
        let joined = match (*words, letters.as_slice()) {
            ("tab", [first, last]) => format!("{first}-{last}"),
            ("pane", _) => if brush.look.signs.utf8 { "←↓↑→" } else { "arrows" }.to_owned(),
            (_, letters) => letters.join("/"),
        };
        hints.push((joined, words, actions[0]));
    }
    let cols = layout.status.cols;
    let mut lines: Vec<Vec<(String, &str, &str)>> = vec![Vec::new()];
    let mut used = 1;
    for hint in hints {
        let room = text_width(&hint.0) + 1 + text_width(hint.1) + 3;
        if used + room > cols {
            lines.push(Vec::new());
            used = 1;
        }
        used += room;
        if let Some(line) = lines.last_mut() {
            line.push(hint);
        }
    }
    let rows = u16::try_from(lines.len()).unwrap_or(1).min(brush.canvas.rows().saturating_sub(1));
    let top = layout.status.row.saturating_sub(rows);
    let bar = brush.look.bar();
    let area = Rect::new(0, top, cols, rows);
    brush.canvas.fill(area, &bar);
    for (index, hints) in lines.into_iter().take(usize::from(rows)).enumerate() {
        let place = area.line(u16::try_from(index).unwrap_or(0));
        let mut col = place.col + 1;
        for (key, words, action) in hints {
            let from = col;
            let accent = brush.look.accent().on(bar.ground);
            col = brush.canvas.write(place, col, place.row, &key, &accent);
            col = brush.canvas.write(place, col, place.row, &format!(" {words}"), &bar);
            let hit = Rect::new(from, place.row, col - from, 1);
            brush.hit(hit, Hit::Action(action.to_owned()));
            col += 3;
        }
    }
}

/// A box with a title; returns its inside.
fn boxed(brush: &mut Brush<'_>, area: Rect, title: &str) -> Rect {
    let pen = brush.look.text();
    brush.canvas.fill(area, &pen);
    let (corners, across, down) = if brush.look.plain {
        (["", "", "", ""], " ", " ")
    } else if brush.look.signs.utf8 {
        (["┌", "┐", "└", "┘"], "─", "│")
    } else {
        (["+", "+", "+", "+"], "-", "|")
    };
    let accent = brush.look.dim();
    for col in area.col..area.right() {
        brush.canvas.put(area, col, area.row, across, 1, &accent);
        brush.canvas.put(area, col, area.bottom() - 1, across, 1, &accent);
    }
    for row in area.row..area.bottom() {
        brush.canvas.put(area, area.col, row, down, 1, &accent);
        brush.canvas.put(area, area.right() - 1, row, down, 1, &accent);
    }
    let (last_col, last_row) = (area.right() - 1, area.bottom() - 1);
    let places =
        [(area.col, area.row), (last_col, area.row), (area.col, last_row), (last_col, last_row)];
    for ((col, row), corner) in places.into_iter().zip(corners) {
        if !corner.is_empty() {
            brush.canvas.put(area, col, row, corner, 1, &accent);
        }
    }
    let head = Rect::new(area.col + 1, area.row, area.cols.saturating_sub(2), 1);
    if !title.is_empty() {
        brush.canvas.write_cut(head, &format!(" {title} "), &brush.look.bold());
    }
    Rect::new(area.col + 1, area.row + 1, area.cols.saturating_sub(2), area.rows.saturating_sub(2))
}

fn centered(brush: &Brush<'_>, cols: u16, rows: u16, from_top: u16) -> Rect {
    let all = brush.canvas.area();
    let (cols, rows) = (cols.min(all.cols), rows.min(all.rows));
    let row = from_top.min(all.rows - rows);
    Rect::new((all.cols - cols) / 2, row, cols, rows)
}

fn palette(brush: &mut Brush<'_>, app: &App, open: &Palette) {
    let all = brush.canvas.area();
    let cols = (all.cols * 2 / 3).clamp(30, 90).min(all.cols);
    let fit = usize::from(all.rows.saturating_sub(4)).min(open.rows.len()).clamp(1, 16);
    let area = centered(brush, cols, u16::try_from(fit).unwrap_or(1) + 2, all.rows / 6);
    let query = app.palette.as_ref().map_or(open.query.as_str(), |field| field.text());
    let inner = boxed(brush, area, "");
    let head = Rect::new(area.col + 1, area.row, area.cols.saturating_sub(2), 1);
    let (text, pen) = if query.is_empty() {
        (line(&open.placeholder), brush.look.dim())
    } else {
        (query.to_owned(), brush.look.bold())
    };
    let end = brush.canvas.write_cut(head, &format!(" {text}"), &pen);
    let caret = if query.is_empty() { head.col + 1 } else { end };
    brush.caret_at(caret.min(head.right().saturating_sub(1)), head.row);
    let selected = open.selected as usize;
    let from = (selected + 1).saturating_sub(usize::from(inner.rows.max(1)));
    brush.drawn.page_rows = inner.rows;
    for (index, row) in open.rows.iter().enumerate().skip(from).take(usize::from(inner.rows)) {
        let place = inner.line(u16::try_from(index - from).unwrap_or(0));
        let is_here = index == selected;
        let pen = if is_here { brush.look.selected() } else { brush.look.text() };
        brush.canvas.fill(place, &pen);
        let keys = if row.keys.is_empty() {
            app.keymap.keys_of(&row.id).first().map(|keys| (*keys).to_owned()).unwrap_or_default()
        } else {
            row.keys.join(" ")
        };
        let lead = if is_here { brush.look.signs.pointer() } else { " " };
        let mut text = format!("{lead} {}", line(&row.title));
        if !row.subtitle.is_empty() {
            text = format!("{text}  {}", line(&row.subtitle));
        }
        let room = place.cols.saturating_sub(text_width(&keys) + 2);
        brush.canvas.write_cut(Rect { cols: room, ..place }, &text, &pen);
        let dim: Pen = if is_here { pen } else { brush.look.dim() };
        brush.canvas.write_right(place, &format!("{keys} "), &dim);
        brush.hit(place, Hit::PaletteRow(u32::try_from(index).unwrap_or(0)));
    }
}

fn menu_box(brush: &mut Brush<'_>, at: (u16, u16), rows: &[&str], selected: usize) {
    let all = brush.canvas.area();
    let cols = rows.iter().map(|row| text_width(row)).max().unwrap_or(0) + 4;
    let height = u16::try_from(rows.len()).unwrap_or(1) + 2;
    let col = at.0.min(all.cols.saturating_sub(cols));
    let row = at.1.min(all.rows.saturating_sub(height));
    let inner = boxed(brush, Rect::new(col, row, cols, height).within(all), "");
    for (index, words) in rows.iter().enumerate() {
        let place = inner.line(u16::try_from(index).unwrap_or(0));
        let pen = if index == selected { brush.look.selected() } else { brush.look.text() };
        brush.canvas.fill(place, &pen);
        brush.canvas.write_cut(place, &format!(" {words}"), &pen);
        brush.hit(place, Hit::MenuRow(index));
    }
}

fn ask(brush: &mut Brush<'_>, title: &str, lines: &[String], hint: &str) -> Rect {
    let all = brush.canvas.area();
    let widest = lines.iter().map(|line| text_width(line)).max().unwrap_or(0);
    let cols =
        (widest.max(text_width(title)).max(text_width(hint)) + 6).clamp(24, 90).min(all.cols);
    let inner_cols = cols.saturating_sub(4);
    let wrapped: Vec<String> = lines.iter().flat_map(|line| wrap(line, inner_cols)).collect();
    let rows = u16::try_from(wrapped.len()).unwrap_or(1) + 4;
    let area = centered(brush, cols, rows, all.rows / 4);
    let inner = boxed(brush, area, title);
    let (body, foot) = inner.split_bottom(1);
    for (index, text) in wrapped.iter().enumerate() {
        let place = body.line(u16::try_from(index).unwrap_or(0));
        brush.canvas.write_cut(place, &format!(" {text}"), &brush.look.text());
    }
    let hints = Rect::new(foot.col + 1, foot.row, foot.cols.saturating_sub(1), foot.rows);
    brush.hints(hints, hint);
    inner
}

fn ask_dialog(brush: &mut Brush<'_>, dialog: &Dialog) {
    let lines = if dialog.body.is_empty() { vec![] } else { vec![line(&dialog.body)] };
    let hint = format!("enter {}  esc {}", line(&dialog.confirm), line(&dialog.cancel));
    ask(brush, &line(&dialog.title), &lines, &hint);
}

fn ask_question(brush: &mut Brush<'_>, question: &Question) {
    let mut lines = question.lines.clone();
    if let Some(field) = &question.field {
        lines.push(format!("> {}▌", field.text()));
    }
    ask(brush, &question.title, &lines, &question.hint());
}

/// Short messages at the upper right edge; they take no key and cover no text that is typed.
/// What the daemon and others have to tell, at the upper edge; never where something is typed.
fn toasts(brush: &mut Brush<'_>, app: &App, cx: &Cx<'_>, layout: &Layout) {
    let told = cx.picture.scene().toasts.iter().flatten().map(|toast| {
        let body = line(&toast.body);
        let title = line(&toast.title);
        let text = if body.is_empty() { title } else { format!("{title}: {body}") };
        (toast.mood, text)
    });
    let own = app.toasts().iter().map(|toast| {
        (if toast.is_urgent { Mood::Waiting } else { Mood::Quiet }, toast.text.clone())
    });
    for (index, (mood, text)) in told.chain(own).take(3).enumerate() {
        let row = layout.panes.row + u16::try_from(index).unwrap_or(0);
        let caret_row = brush.caret.map(|caret| caret.row);
        if row >= layout.panes.bottom() || caret_row == Some(row) {
            continue;
        }
        let room = Rect::new(layout.panes.col, row, layout.panes.cols, 1);
        let shown =
            format!(" {} {} ", brush.look.signs.of(mood), rookery_face::cells::cut(&text, 50));
        let pen = brush.look.selected();
        brush.canvas.write_right(room, &shown, &pen);
    }
}

/// The daemon is away: what goes on, and what can be done.
pub(super) fn lost(brush: &mut Brush<'_>, app: &App, lost: &Lost, now: u64, status: Rect) {
    let all = brush.canvas.area();
    let mut texts = vec![];
    let first = if lost.stopping {
        "The daemon is away: it was stopped. Programs go on running.".to_owned()
    } else {
        "The daemon is away. Programs go on running.".to_owned()
    };
    let next = match lost.stopping {
        true => "u start it now".to_owned(),
        false => format!("connecting again, {} s      u start it now", lost.away(now)),
    };
    texts.push(format!(" {first}   {next}"));
    if let Some(unsure) = lost.unsure_line() {
        texts.push(format!(" {unsure}"));
    }
    if let Some((_, note)) = &app.note {
        texts.push(format!(" {note}"));
    }
    let lines: Vec<String> = texts.iter().flat_map(|text| wrap(text, all.cols)).collect();
    let rows = u16::try_from(lines.len()).unwrap_or(1).min(all.rows);
    let bottom = if status.is_empty() { all.bottom() } else { status.bottom() };
    let area = Rect::new(0, bottom.saturating_sub(rows), all.cols, rows);
    let pen = brush.look.bar().with(rookery_view::link::attr::BOLD);
    brush.canvas.fill(area, &pen);
    for (index, text) in lines.iter().enumerate() {
        let place = area.line(u16::try_from(index).unwrap_or(0));
        if !place.is_empty() {
            brush.canvas.write_cut(place, text, &pen);
        }
    }
    brush.hit(area, Hit::Key("u".to_owned()));
}
