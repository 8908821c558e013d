//! Projects and what runs in them, with the moods by sign.

use rookery_face::app::{App, Cx, Hit};
use rookery_face::cells::Rect;
use rookery_face::pages::sidebar::Row;
use rookery_face::words::{age, line};
use rookery_view::link::attr;

use super::Brush;

pub(super) fn draw(brush: &mut Brush<'_>, app: &App, cx: &Cx<'_>, area: Rect) {
    if area.is_empty() {
        return;
    }
    let scene = cx.picture.scene();
    let Some(sidebar) = &scene.sidebar else { return };
    let rows = app.sidebar_rows(sidebar);
    if area.cols == 1 {
        return rail(brush, &rows, area);
    }
    let inner = Rect::new(area.col, area.row, area.cols - 1, area.rows);
    edge(brush, area);
    head(brush, cx, inner.line(0));
    let (list, foot) =
        Rect::new(inner.col, inner.row + 1, inner.cols, inner.rows - 1).split_bottom(1);
    let fit = usize::from(list.rows);
    let at = app.sidebar.unwrap_or(0);
    let from = if at >= fit { at + 1 - fit } else { 0 };
    for (index, row) in rows.iter().enumerate().skip(from).take(fit) {
        let place = list.line(u16::try_from(index - from).unwrap_or(0));
        let is_here = app.sidebar == Some(index);
        draw_row(brush, app, cx, place, row, is_here);
    }
    let page = &app.pages.sidebar;
    if let Some(field) = page.filter.as_ref().filter(|_| app.sidebar.is_some()) {
        let end = brush.canvas.write_cut(foot, &format!(" / {}", field.text()), &brush.look.text());
        if page.filtering {
            brush.caret_at(end.min(foot.right().saturating_sub(1)), foot.row);
        }
        return;
    }
    brush.canvas.write_cut(foot, " + new project", &brush.look.dim());
    brush.hit(foot, Hit::Action("new_project".to_owned()));
}

fn edge(brush: &mut Brush<'_>, area: Rect) {
    let col = area.right() - 1;
    for row in area.row..area.bottom() {
        let (sign, pen) = (brush.look.line(true), brush.look.dim());
        brush.canvas.put(area, col, row, sign, 1, &pen);
    }
    brush.hit(Rect::new(col, area.row, 1, area.rows), Hit::SidebarEdge);
}

fn head(brush: &mut Brush<'_>, cx: &Cx<'_>, area: Rect) {
    brush.canvas.write_cut(area, " rookery", &brush.look.bold());
    let waiting = cx.picture.scene().status.as_ref().map_or(0, |status| status.waiting);
    if waiting > 0 {
        let mood = rookery_view::link::Mood::Waiting;
        let text = format!("{}{waiting} ", brush.look.signs.of(mood));
        let pen = brush.look.mood(mood);
        brush.canvas.write_right(area, &text, &pen);
        brush.hit(area, Hit::Action("open_inbox".to_owned()));
    }
}

/// One column: the loudest of each row.
fn rail(brush: &mut Brush<'_>, rows: &[Row<'_>], area: Rect) {
    for (index, row) in rows.iter().take(usize::from(area.rows)).enumerate() {
        let (mood, hit) = match row {
            Row::Project(project) => (project.mood, Hit::Project(project.id)),
            Row::Agent(agent) => (agent.mood, Hit::Agent(agent.terminal, agent.thread.clone())),
            Row::Elsewhere => continue,
        };
        let place = area.line(u16::try_from(index).unwrap_or(0));
        let (sign, pen) = (brush.look.signs.of(mood), brush.look.mood(mood));
        brush.canvas.write(place, place.col, place.row, sign, &pen);
        brush.hit(place, hit);
    }
}

fn draw_row(
    brush: &mut Brush<'_>,
    app: &App,
    cx: &Cx<'_>,
    area: Rect,
    row: &Row<'_>,
    is_here: bool,
) {
    if is_here {
        brush.canvas.fill(area, &brush.look.selected());
        brush.caret_at(area.col, area.row);
    }
    let ground = if is_here { brush.look.selected() } else { brush.look.text() };
    let on = |pen: crate::canvas::Pen| {
        let mut pen = pen.on(ground.ground);
        pen.attrs |= ground.attrs & attr::INVERSE;
        pen
    };
    match row {
        Row::Project(project) => {
            let mark = match (project.active, brush.look.signs.utf8) {
                (true, true) => "▌",
                (true, false) => ">",
                (false, _) => " ",
            };
            let pen = on(if project.active { brush.look.bold() } else { brush.look.text() });
            let accent = on(brush.look.accent());
            let mut col = brush.canvas.write(area, area.col, area.row, mark, &accent);
            let name = match (&project.rename, &app.rename) {
                (Some(_), Some(field)) => format!("{}▌", field.text()),
                (Some(start), None) => format!("{start}▌"),
                (None, _) => line(&project.name),
            };
            let room = Rect::new(col, area.row, area.right().saturating_sub(col + 5), 1);
            col = brush.canvas.write_cut(room, &name, &pen);
            if let Some(branch) = project.branch.as_ref().filter(|_| project.rename.is_none()) {
                let left = Rect::new(col + 1, area.row, room.right().saturating_sub(col + 1), 1);
                brush.canvas.write_cut(left, &line(branch), &on(brush.look.dim()));
            }
            let mut tail = brush.look.signs.of(project.mood).to_owned();
            if project.waiting > 0 {
                tail = format!("{tail} {}", project.waiting);
            }
            if project.badge {
                tail.push('!');
            }
            let pen = on(brush.look.mood(project.mood));
            brush.canvas.write_right(area, &format!("{tail} "), &pen);
            brush.hit(area, Hit::Project(project.id));
        }
        Row::Elsewhere => {
            let dim = on(brush.look.dim());
            brush.canvas.write_cut(area, " elsewhere", &dim);
        }
        Row::Agent(agent) => {
            let sign = if agent.thread.is_some() && agent.terminal.is_none() {
                format!("{}>", brush.look.signs.of(agent.mood))
            } else {
                format!("{} ", brush.look.signs.of(agent.mood))
            };
            let pen = on(brush.look.mood(agent.mood));
            let col = brush.canvas.write(area, area.col + 2, area.row, &sign, &pen);
            let old = age(agent.at, cx.wall);
            let room = u16::try_from(old.len() + 1).unwrap_or(0);
            let name = Rect::new(col, area.row, area.right().saturating_sub(col + room + 1), 1);
            brush.canvas.write_cut(name, &line(&agent.name), &on(brush.look.text()));
            brush.canvas.write_right(area, &format!("{old} "), &on(brush.look.dim()));
            brush.hit(area, Hit::Agent(agent.terminal, agent.thread.clone()));
        }
    }
}
