//! The strip of tabs, the status line, and the one line of a face that is too small.

use rookery_face::app::{App, Cx, Hit};
use rookery_face::cells::{Rect, text_width};
use rookery_face::words::line;
use rookery_view::link::attr;
use rookery_view::link::{Group, Mood, Page, Tone};

use super::Brush;

/// Loudest first, as the daemon has it for projects.
const LOUD: [Mood; 5] = [Mood::Failed, Mood::Waiting, Mood::Working, Mood::Done, Mood::Quiet];

pub(super) fn strip(brush: &mut Brush<'_>, app: &App, cx: &Cx<'_>, area: Rect, is_single: bool) {
    if area.is_empty() {
        return;
    }
    let bar = brush.look.bar();
    brush.canvas.fill(area, &bar);
    let scene = cx.picture.scene();
    let Some(strip) = &scene.strip else { return };
    let shown = scene.panes.as_ref().and_then(Option::as_ref).map(|panes| panes.group);
    let is_workspace = matches!(App::page(cx), Page::Workspace { .. });
    let mut col = area.col + 1;
    let active = strip.groups.iter().position(|group| shown == Some(group.id)).unwrap_or(0);
    let widths: Vec<u16> = strip.groups.iter().enumerate().map(pill_width).collect();
    let from = first_pill(&widths, active, area.cols.saturating_sub(3 + MORE));
    for (index, group) in strip.groups.iter().enumerate().skip(from) {
        let focused = group.tabs.iter().find(|tab| tab.id == group.focused).or(group.tabs.first());
        let Some(tab) = focused else { continue };
        let mood = LOUD.into_iter().find(|mood| group.tabs.iter().any(|tab| tab.mood == *mood));
        let mood = mood.unwrap_or_default();
        let title = match (&tab.rename, &app.rename) {
            (Some(_), Some(field)) => format!("{}▌", field.text()),
            (Some(start), None) => format!("{start}▌"),
            (None, _) => line(&tab.title),
        };
        let is_shown = shown == Some(group.id) && is_workspace;
        let mut pen = if is_shown { brush.look.accent() } else { brush.look.text() };
        pen = pen.on(bar.ground);
        if is_shown {
            pen.underline = 1;
            pen.attrs |= attr::BOLD;
        }
        let begin = col;
        let room = Rect::new(area.col, area.row, area.cols.saturating_sub(3), 1);
        let left = strip.groups.len() - index;
        let reserved = if left > 1 { MORE } else { 0 };
        if index > from && col + widths[index] > room.right().saturating_sub(reserved) + 2 {
            let dim = brush.look.dim().on(bar.ground);
            brush.canvas.write_right(room, &format!("{left} more"), &dim);
            let place = Rect::new(room.right().saturating_sub(MORE), area.row, MORE, 1);
            brush.hit(place, Hit::Tab(group.id, tab.id));
            break;
        }
        col = brush.canvas.write(room, col, area.row, &format!("{} ", index + 1), &pen);
        if mood != Mood::Quiet {
            let sign = format!("{} ", brush.look.signs.of(mood));
            let pen = brush.look.mood(mood).on(bar.ground);
            col = brush.canvas.write(room, col, area.row, &sign, &pen);
        }
        col = brush.canvas.write(room, col, area.row, &rookery_face::cells::cut(&title, 24), &pen);
        if group.tabs.len() > 1 {
            let more = match is_single && is_shown {
                true => format!(" {}", dots(brush, group)),
                false => format!(" +{}", group.tabs.len() - 1),
            };
            col = brush.canvas.write(room, col, area.row, &more, &pen);
        }
        if group.tabs.iter().any(|tab| tab.badge) {
            col = brush.canvas.write(room, col, area.row, "!", &pen);
        }
        let place = Rect::new(begin, area.row, col.saturating_sub(begin), 1);
        brush.hit(place, Hit::Tab(group.id, tab.id));
        col += 2;
    }
    let plus = Rect::new(area.right().saturating_sub(3), area.row, 3, 1);
    brush.canvas.write(plus, plus.col + 1, plus.row, "+", &brush.look.accent().on(bar.ground));
    brush.hit(plus, Hit::NewTab);
}

/// One pane of a group is shown: a dot for each, and which of them it is.
fn dots(brush: &Brush<'_>, group: &Group) -> String {
    let (here, other) = if brush.look.signs.utf8 { ('●', '○') } else { ('*', '.') };
    group.tabs.iter().map(|tab| if tab.id == group.focused { here } else { other }).collect()
}

/// Cells at the strip's end for how many pills are not shown.
const MORE: u16 = 8;

/// Cells that a pill takes at most, with the gap after it.
fn pill_width((index, group): (usize, &Group)) -> u16 {
    let tab = group.tabs.iter().find(|tab| tab.id == group.focused).or(group.tabs.first());
    let title = tab.map_or(0, |tab| match &tab.rename {
        Some(_) => 24,
        None => text_width(&line(&tab.title)).min(24),
    });
    let number = if index >= 9 { 3 } else { 2 };
    let more = match group.tabs.len() {
        0 | 1 => 0,
        // A dot for each, if one is shown at a time.
        count => u16::try_from(count + 1).unwrap_or(u16::MAX),
    };
    (number + 2 + title + 1 + 2u16).saturating_add(more)
}

/// The first pill that is shown, so that the active one is.
fn first_pill(widths: &[u16], active: usize, cols: u16) -> usize {
    let mut from = 0;
    let sum = |from: usize| {
        let pills = widths.get(from..=active).unwrap_or_default();
        pills.iter().fold(0, |sum: u16, width| sum.saturating_add(*width))
    };
    while from < active && sum(from) > cols {
        from += 1;
    }
    from
}

fn waiting(cx: &Cx<'_>) -> u32 {
    cx.picture.scene().status.as_ref().map_or(0, |status| status.waiting)
}

pub(super) fn status(brush: &mut Brush<'_>, app: &App, cx: &Cx<'_>, area: Rect) {
    let bar = brush.look.bar();
    brush.canvas.fill(area, &bar);
    let prefix = app.keymap.prefix().unwrap_or_else(|| "no prefix".to_owned());
    let accent = brush.look.accent().on(bar.ground);
    let mut col = brush.canvas.write(area, area.col + 1, area.row, &prefix, &accent);
    col = brush.canvas.write(area, col, area.row, " keys", &bar);
    let place = Rect::new(area.col, area.row, col - area.col, 1);
    brush.hit(place, Hit::Key(prefix));
    let count = waiting(cx);
    if count > 0 {
        let keys = app.keymap.keys_of("open_inbox").first().map(|keys| format!(": {keys}"));
        let text = format!("  {count} wait{}", keys.unwrap_or_default());
        let pen = brush.look.mood(Mood::Waiting).on(bar.ground);
        let from = col;
        col = brush.canvas.write(area, col, area.row, &text, &pen);
        brush.hit(Rect::new(from, area.row, col - from, 1), Hit::Action("open_inbox".to_owned()));
    }
    let right = right_part(app, cx);
    let width = text_width(&right) + 1;
    let message = message(app, cx);
    let left = area.right().saturating_sub(col + 2);
    let (text, pen) = match message {
        Some((tone, text)) => {
            let pen = match tone {
                Tone::Error => brush.look.error(),
                Tone::Warn => brush.look.mood(Mood::Waiting),
                Tone::Info => brush.look.bold(),
            };
            (text, pen.on(bar.ground))
        }
        None => (String::new(), bar.clone()),
    };
    let needed = text_width(&text) + if text.is_empty() { 0 } else { 2 };
    brush.canvas.write_cut(Rect::new(col + 2, area.row, left, 1), &text, &pen);
    if left >= needed + width {
        let place = Rect::new(area.right() - width, area.row, width, 1);
        brush.canvas.write_cut(place, &right, &brush.look.dim().on(bar.ground));
    }
}

fn message(app: &App, cx: &Cx<'_>) -> Option<(Tone, String)> {
    if let Some(note) = &app.note {
        return Some(note.clone());
    }
    if app.prefix {
        return Some((Tone::Info, "…".to_owned()));
    }
    let told = cx.picture.scene().status.as_ref()?.message.as_ref()?;
    Some((told.tone, line(&told.text)))
}

/// Place, owner of the size, rights.
fn right_part(app: &App, cx: &Cx<'_>) -> String {
    let scene = cx.picture.scene();
    let mut parts = Vec::new();
    let projects = scene.sidebar.iter().flat_map(|sidebar| &sidebar.projects);
    if let Some(project) = projects.into_iter().find(|project| project.active) {
        parts.push(format!("{} {}", line(&project.name), app.place_name(&project.root)));
    }
    if let Some(term) = App::focused(cx).and_then(|t| cx.picture.term(t)) {
        let size = term.size();
        match term.owner() {
            Some(owner) if !owner.mine => {
                let take = app.keymap.letter("take_size").unwrap_or("S");
                let name = line(&owner.name);
                let text =
                    format!("{}x{} by {name} · prefix {take} fits it here", size.cols, size.rows);
                parts.push(text);
            }
            _ => parts.push(format!("{}x{}", size.cols, size.rows)),
        }
    }
    parts.push(app.rights.word().to_owned());
    parts.join("  ")
}

/// What a face says that is too small for anything else.
pub(super) fn tiny(brush: &mut Brush<'_>, _app: &App, cx: &Cx<'_>) {
    let all = brush.canvas.area();
    let text = format!("rookery: {} wait, make this larger", waiting(cx));
    for (index, part) in rookery_face::cells::wrap(&text, all.cols).iter().enumerate() {
        let place = all.line(u16::try_from(index).unwrap_or(0));
        if place.is_empty() {
            break;
        }
        brush.canvas.write(place, place.col, place.row, part, &brush.look.text());
    }
}
