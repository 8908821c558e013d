//! Pages in place of the panes.

use rookery_face::app::{App, Cx, Field, Hit};
use rookery_face::cells::{Rect, cut, text_width};
use rookery_face::pages::list::head_and_hint;
use rookery_face::words::{age, line};
use rookery_view::link::Page;

use super::Brush;
use super::text::{draw_lines, pen_of};

pub(super) fn count(rows: usize) -> u16 {
    u16::try_from(rows).unwrap_or(u16::MAX)
}

/// The first row of a list that keeps the selected one in view.
pub(super) fn first_row(selected: usize, rows: u16) -> usize {
    (selected + 1).saturating_sub(usize::from(rows.max(1)))
}

/// Hints that end with the way back, once.
pub(super) fn with_back(hint: &str) -> String {
    if hint.contains("esc ") { hint.to_owned() } else { format!("{hint}  esc back") }
}

/// Head, body and hint of a page.
pub(super) fn frame(
    brush: &mut Brush<'_>,
    area: Rect,
    head: &str,
    right: &str,
    hint: &str,
) -> Rect {
    let (top, rest) = area.split_top(1);
    let (body, foot) = rest.split_bottom(1);
    brush.canvas.write_cut(top, &format!(" {head}"), &brush.look.bold());
    let used = text_width(head) + 3;
    let left = Rect::new(top.col + used, top.row, top.cols.saturating_sub(used), top.rows);
    brush.canvas.write_right(left, &format!("{right} "), &brush.look.dim());
    let hints = Rect::new(foot.col + 1, foot.row, foot.cols.saturating_sub(1), foot.rows);
    brush.hints(hints, hint);
    body
}

pub(super) fn empty(brush: &mut Brush<'_>, app: &App, cx: &Cx<'_>, area: Rect) {
    let root = rookery_face::pages::load::active_root(cx).unwrap_or_else(|| "~".to_owned());
    let found = app.around.agents.join(" · ");
    let agents = if found.is_empty() {
        "start a command".to_owned()
    } else {
        format!("start {found}            found on this machine")
    };
    let rows = [
        ("c", format!("a shell in {}", app.place_name(&root))),
        ("t", "a thread with an agent".to_owned()),
        ("g", agents),
        ("?", "every key          space   palette".to_owned()),
    ];
    let start = area.rows.saturating_sub(6) / 3;
    let text = brush.look.bold();
    brush.canvas.write_cut(area.line(start), "   Nothing runs here yet.", &text);
    for (index, (key, words)) in rows.iter().enumerate() {
        let place = area.line(start + 1 + count(index));
        let col = brush.canvas.write(place, place.col + 5, place.row, key, &brush.look.accent());
        brush.canvas.write(place, col + 3, place.row, words, &brush.look.text());
        brush.hit(place, Hit::Key((*key).to_owned()));
    }
}

pub(super) fn thread(brush: &mut Brush<'_>, app: &App, cx: &Cx<'_>, area: Rect) {
    let page = &app.pages.thread;
    let head = &page.head;
    let tokens = match head.usage.total {
        0 => String::new(),
        total => format!("{} tokens", grouped(total)),
    };
    let mut right = format!("{}   {tokens}", line(&head.status));
    if let Some(turn) = &head.turn {
        right = format!("{} {}   {tokens}", line(&head.status), age(turn.at, brush.wall));
    }
    let projects = cx.picture.scene().sidebar.iter().flat_map(|sidebar| &sidebar.projects);
    let project = projects.into_iter().find(|project| Some(project.id) == head.project);
    let parts = [
        project.map(|project| line(&project.name)).unwrap_or_default(),
        line(&head.model),
        line(&head.mode),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let about = parts.join(" · ");
    // The title gives way, so that model, mode, status and tokens are seen.
    let room = area.cols.saturating_sub(text_width(&about) + text_width(&right) + 8).max(8);
    let title = format!("{}   {about}", cut(&line(&head.title), room));
    let waiting = head.waiting.len();
    let hint = if page.at.is_some() && page.card.is_asked() {
        // The session that could be opened is the thread itself.
        with_back(&page.card.hint().replace("  o open", ""))
    } else if !page.fitting_commands().is_empty() {
        "tab take  esc back".to_owned()
    } else if page.at.is_some() {
        "tab fold  enter all  esc write  q leave".to_owned()
    } else if page.is_running() && waiting > 0 {
        format!("{waiting} waits: a approve d deny (after tab)  enter steer  esc stop (twice)")
    } else if page.is_running() {
        "enter steer  esc stop (twice)  alt+enter line  tab items (q leaves)".to_owned()
    } else {
        "enter send  alt+enter line  tab items  / commands  esc back".to_owned()
    };
    let body = frame(brush, area, &title, &right, &hint);
    let fields = count(page.composer.text().split('\n').count()).clamp(1, 5);
    let (items, below) = body.split_bottom(fields + 1);
    let lines = page.lines(items.cols, brush.wall, brush.look.signs);
    let rows = usize::from(items.rows);
    let most = lines.len().saturating_sub(rows);
    let mut from = most.saturating_sub(page.scroll);
    if let Some(at) = page.at {
        let begin = lines.iter().position(|line| line.of == Some(at)).unwrap_or(0);
        let end = lines.iter().rposition(|line| line.of == Some(at)).map_or(begin, |end| end + 1);
        let lowest = end.saturating_sub(rows);
        if page.card.card().is_some() {
            // Read from its begin, as in the inbox: what decides is never below or above unseen.
            let beyond = lowest.saturating_sub(begin);
            let scrolled = page.card.scroll.min(beyond);
            from = if beyond > 0 { begin + scrolled } else { from.clamp(lowest, begin).min(most) };
            brush.drawn.card = Some((page.card.serial(), scrolled >= beyond));
            brush.drawn.card_most = Some(beyond);
        } else {
            from = from.clamp(lowest.min(begin), begin.max(lowest)).min(most);
        }
    }
    brush.drawn.page_rows = items.rows;
    brush.drawn.page_lines = lines.len();
    draw_lines(&mut brush.canvas, items, brush.look, &lines, from);
    for (index, line) in lines.iter().enumerate().skip(from).take(rows) {
        if let Some(of) = line.of {
            brush.hit(items.line(count(index - from)), Hit::Row(of));
        }
    }
    if from < most {
        let text =
            if waiting > 0 { format!(" {waiting} waits ") } else { " newest below ".to_owned() };
        let bottom = items.line(items.rows.saturating_sub(1));
        brush.canvas.write_right(bottom, &text, &brush.look.selected());
    }
    composer(brush, below, &page.composer, page.at.is_none());
    let fitting = page.fitting_commands();
    let shown = fitting.len().min(5).min(usize::from(items.rows));
    for (index, row) in fitting.into_iter().take(shown).enumerate() {
        let place = items.line(items.rows - count(shown) + count(index));
        let pen = brush.look.selected();
        brush.canvas.fill(place, &pen);
        let text = format!("   /{}  {}", line(&row.name), line(&row.description));
        brush.canvas.write_cut(place, &text, &pen);
    }
}

/// A number with its thousands apart: `1,204`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

fn composer(brush: &mut Brush<'_>, area: Rect, field: &Field, has_keys: bool) {
    let (rule, body) = area.split_top(1);
    for col in rule.col..rule.right() {
        let (sign, pen) = (brush.look.line(false), brush.look.dim());
        brush.canvas.put(rule, col, rule.row, sign, 1, &pen);
    }
    let (line_at, cells) = field.caret();
    let from = (line_at + 1).saturating_sub(usize::from(body.rows));
    for (index, text) in
        field.text().split('\n').skip(from).take(usize::from(body.rows)).enumerate()
    {
        let place = body.line(count(index));
        let lead = if index + from == 0 { " > " } else { "   " };
        let col = brush.canvas.write(place, place.col, place.row, lead, &brush.look.accent());
        let room = place.right().saturating_sub(col + 1);
        // A long line shows its part with the cursor.
        let skip = if index + from == line_at { cells.saturating_sub(room) } else { 0 };
        let (shown, before) = rookery_face::cells::skip(text, skip);
        brush.canvas.write(place, col + before, place.row, shown, &brush.look.text());
        if has_keys && index + from == line_at {
            brush.caret_at((col + cells - skip).min(place.right().saturating_sub(1)), place.row);
        }
    }
}

pub(super) fn new_thread(brush: &mut Brush<'_>, app: &App, cx: &Cx<'_>, area: Rect) {
    let page = &app.pages.new_thread;
    let hint = match page.has_text() {
        true => "enter start  tab project, model, mode  alt+enter line  esc back",
        false => "left/right choose  tab next  enter start  esc back",
    };
    let body = frame(brush, area, "New thread", "", hint);
    let lines = page.lines(cx, &app.around.cwd, brush.look.signs);
    let (choices, rest) = body.split_top(count(lines.len()) + 1);
    draw_lines(&mut brush.canvas, choices, brush.look, &lines, 0);
    let (ask, field) = rest.split_top(1);
    brush.canvas.write_cut(ask, "  What should the agent do?", &brush.look.text());
    composer(brush, field.split_top(6).0, &page.text, page.has_text());
}

pub(super) fn review(brush: &mut Brush<'_>, app: &App, area: Rect) {
    let page = &app.pages.review;
    let status = page.info["status"].as_str().unwrap_or_default();
    let summary = page.info["summary"].as_str().unwrap_or_default();
    let (added, removed) =
        page.files.iter().fold((0, 0), |sum, file| (sum.0 + file.added, sum.1 + file.removed));
    let kind = if page.is_checkpoint() { "Checkpoint" } else { "Review" };
    let head = format!(
        "{kind} {}   {} +{added} -{removed}   {}",
        line(summary),
        rookery_face::words::files(page.files.len()),
        line(status)
    );
    let hint = if page.comment.is_some() {
        "enter comment  esc back"
    } else if page.is_checkpoint() {
        "]/[ file  j/k line  esc back"
    } else {
        "c comment  a approve  r request changes  s later  ]/[ file  j/k line  esc back"
    };
    let body = frame(brush, area, &head, "", hint);
    let is_beside = area.cols >= 70 && !brush.look.plain;
    let (files, diff) = if is_beside {
        body.split_left(body.cols * 35 / 100)
    } else {
        body.split_top(3.min(body.rows))
    };
    let from = first_row(page.file, files.rows);
    for (index, file) in page.files.iter().enumerate().skip(from).take(usize::from(files.rows)) {
        let place = files.line(count(index - from));
        let is_here = index == page.file;
        let pen = if is_here { brush.look.selected() } else { brush.look.text() };
        brush.canvas.fill(place, &pen);
        let lead = if is_here { brush.look.signs.pointer() } else { " " };
        let comments = page.comment_count(&file.path);
        let noted = if comments > 0 { format!("  {comments} comment") } else { String::new() };
        let tail = format!(" +{} -{}{noted} ", file.added, file.removed);
        let room = place.cols.saturating_sub(text_width(&tail));
        let text = format!("{lead} {}", rookery_face::app::exact(&file.path));
        brush.canvas.write_cut(Rect { cols: room, ..place }, &text, &pen);
        brush.canvas.write_right(place, &tail, &pen);
        brush.hit(place, Hit::Row(index));
    }
    let inner = Rect { col: diff.col + 1, cols: diff.cols.saturating_sub(1), ..diff };
    let lines = page.lines(inner.cols);
    let at = lines.iter().position(|line| line.of == Some(page.line)).unwrap_or(0);
    let rows = usize::from(inner.rows);
    let from = at.saturating_sub(rows / 2).min(lines.len().saturating_sub(rows));
    draw_lines(&mut brush.canvas, inner, brush.look, &lines, from);
    for (index, shown) in lines.iter().enumerate().skip(from).take(rows) {
        if shown.of == Some(page.line) && !page.files.is_empty() {
            let place = inner.line(count(index - from));
            brush.canvas.write(
                place,
                place.col,
                place.row,
                brush.look.signs.pointer(),
                &brush.look.accent(),
            );
            brush.caret_at(place.col, place.row);
            break;
        }
    }
    brush.drawn.review_end = page.end_of(from + rows >= lines.len());
    brush.drawn.page_rows = inner.rows;
}

/// Makes columns fit, the widest first; the last one has whatever is left.
fn share(widths: &mut [u16], cols: u16) {
    let gaps = count(widths.len().saturating_sub(1)) * 2;
    while widths.iter().fold(gaps, |sum, width| sum.saturating_add(*width)) > cols {
        match widths.iter_mut().max().filter(|widest| **widest > 8) {
            Some(widest) => *widest -= 1,
            None => break,
        }
    }
    if let Some(last) = widths.last_mut() {
        *last = u16::MAX;
    }
}

pub(super) fn list(brush: &mut Brush<'_>, app: &App, page: &Page, area: Rect) {
    let (mut head, mut hint) = head_and_hint(page);
    if matches!(page, Page::Settings) {
        hint = app.settings_hint();
        if app.pages.settings.keys {
            head = "Settings · Keys";
        }
    }
    let filter = app.pages.list.filter.as_ref();
    let is_help = matches!(page, Page::Help);
    let head = match filter {
        Some(field) if app.pages.list.filtering || is_help => format!("{head}   {}▌", field.text()),
        Some(field) if !field.is_empty() => format!("{head}   {}", field.text()),
        _ => head.to_owned(),
    };
    let right = match page {
        Page::Settings => app.around.settings_file.clone(),
        _ if app.pages.list.is_loading => "…".to_owned(),
        _ => String::new(),
    };
    let body = frame(brush, area, &head, &right, hint);
    brush.drawn.page_rows = body.rows;
    let rows = app.list_rows(page, brush.wall);
    if rows.is_empty() && !app.pages.list.is_loading {
        brush.canvas.write_cut(body.line(0), "  nothing here", &brush.look.dim());
    }
    let selected = app.pages.list.selected.min(rows.len().saturating_sub(1));
    let from = first_row(selected, body.rows);
    let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let mut widths: Vec<u16> = (0..columns)
        .map(|at| {
            let widest = rows.iter().filter_map(|row| row.cells.get(at));
            widest.map(|(text, _)| text_width(text)).max().unwrap_or(0).min(body.cols)
        })
        .collect();
    share(&mut widths, body.cols.saturating_sub(2));
    for (index, row) in rows.iter().enumerate().skip(from).take(usize::from(body.rows)) {
        let place = body.line(count(index - from));
        let is_here = index == selected;
        if is_here {
            brush.canvas.fill(place, &brush.look.selected());
            brush.caret_at(place.col, place.row);
        }
        let lead = if is_here { brush.look.signs.pointer() } else { " " };
        let accent = brush.look.accent();
        let mut col = brush.canvas.write(place, place.col, place.row, &format!("{lead} "), &accent);
        for ((text, tint), width) in row.cells.iter().zip(&widths) {
            let pen = if is_here { brush.look.selected() } else { pen_of(*tint, brush.look) };
            let room = (*width).min(place.right().saturating_sub(col));
            brush.canvas.write_cut(Rect::new(col, place.row, room, 1), text, &pen);
            col = col.saturating_add(room).saturating_add(2);
            if col >= place.right() {
                break;
            }
        }
        brush.hit(place, Hit::Row(index));
    }
}
