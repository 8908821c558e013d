//! The list of projects and their agents.

use rookery_view::scene::layout::{BAND_HEIGHT, FieldOf, Rect};
use rookery_view::scene::pages::Field;
use rookery_view::scene::{ACCENT, AgentRow, ProjectRow};

use super::{DOT, Look, clipped};
use crate::brush::{Brush, Ink, Side};
use crate::shades::{color, faded};
use crate::sheet::Sheet;

/// Width of the stripe that tells a project's loudest mood.
const STRIPE: f32 = 3.0;

/// Draws the sidebar.
pub(crate) fn sidebar(look: &Look<'_>, sheet: &mut Sheet) {
    let pane = look.layout.panes.sidebar;
    if pane.width < 1.0 {
        return;
    }
    clipped(sheet, pane, |brush| frame(look, brush, pane));
    clipped(sheet, look.layout.sidebar.list, |brush| {
        let places = &look.layout.sidebar.projects;
        let mut number = 0;
        let mut chosen = |brush: &mut Brush<'_>, row: Rect| {
            if look.scene.sidebar.chosen == Some(number) {
                let ring = row.inset(6.0, 1.0);
                brush.edged(ring, 6.0, faded(ACCENT, 0.15), color(ACCENT));
            }
            number += 1;
        };
        for (project, place) in look.scene.sidebar.projects.iter().zip(places) {
            project_row(look, brush, project, place.row);
            chosen(brush, place.row);
            for (agent, row) in project.agents.iter().zip(&place.agents) {
                agent_row(look, brush, agent, *row);
                chosen(brush, *row);
            }
        }
        if let Some((head, rows)) = &look.layout.sidebar.elsewhere {
            let words = Rect::new(head.x + 14.0, head.y, head.width - 28.0, head.height);
            brush.label("elsewhere", words, Side::Left, Ink::new(look.shades.faint, 12.5));
            chosen(brush, *head);
            for (agent, row) in look.scene.sidebar.elsewhere.iter().zip(rows) {
                agent_row(look, brush, agent, *row);
                chosen(brush, *row);
            }
        }
    });
    overflow(look, sheet);
}

/// Says that there are rows above or below those that are visible.
fn overflow(look: &Look<'_>, sheet: &mut Sheet) {
    let (list, shades) = (look.layout.sidebar.list, &look.shades);
    let (above, below) = look.layout.sidebar.hidden;
    for (count, sign, y) in [(above, "↑", list.y), (below, "↓", list.bottom() - 18.0)] {
        if count == 0 || list.height < 60.0 {
            continue;
        }
        let band = Rect { y, height: 18.0, width: list.width - 1.0, ..list };
        clipped(sheet, band, |brush| {
            brush.fill(band, color(shades.chrome));
            let text = format!("{sign} {count} more");
            brush.label(&text, band, Side::Center, Ink::new(shades.faint, 11.0));
        });
    }
}

/// A quiet ground under the row that the mouse is over.
fn hovered(look: &Look<'_>, brush: &mut Brush<'_>, row: Rect) {
    let list = look.layout.sidebar.list;
    if look.scene.hover.is_some_and(|point| row.intersection(&list).contains(point)) {
        brush.round(row.inset(6.0, 1.0), 6.0, faded(look.shades.text, 0.05));
    }
}

fn frame(look: &Look<'_>, brush: &mut Brush<'_>, pane: Rect) {
    let shades = &look.shades;
    brush.fill(pane, color(shades.chrome));
    brush.fill(Rect { x: pane.right() - 1.0, width: 1.0, ..pane }, color(shades.line));
    let head = Rect { height: BAND_HEIGHT, ..pane }.inset(14.0, 0.0);
    match &look.scene.sidebar.filter {
        None => brush.label("PROJECTS", head, Side::Left, Ink::new(shades.faint, 10.5)),
        Some(filter) => {
            let cursor = if filter.has_keyboard { "▏" } else { "" };
            let typed = format!("/ {}{cursor}", filter.text);
            let room = Rect { width: head.width - 30.0, ..head };
            brush.label(&typed, room, Side::Left, Ink::new(shades.text, 12.5))
        }
    };
    let inbox = &look.scene.inbox;
    let waiting = inbox.count.unwrap_or(inbox.rows.len());
    let bell = look.layout.sidebar.bell;
    if waiting == 0 {
        self::bell(look, brush, bell);
    } else {
        let count = bell.centered(if waiting > 9 { 24.0 } else { 18.0 }, 16.0);
        brush.round(count, 8.0, color(ACCENT));
        let ink = Ink::new((255, 255, 255), 10.5);
        brush.label(&waiting.to_string(), count, Side::Center, ink);
    }
    let foot = look.layout.sidebar.new_project;
    brush.fill(Rect { height: 1.0, width: foot.width - 1.0, ..foot }, color(shades.line));
    brush.plus(Rect { x: 11.0, width: 16.0, ..foot }, shades.soft);
    let words = Rect { x: 34.0, width: foot.width - 46.0, ..foot };
    brush.label("New Project", words, Side::Left, Ink::new(shades.soft, 12.5));
}

/// The bell while nothing waits: the inbox is behind it all the same.
fn bell(look: &Look<'_>, brush: &mut Brush<'_>, place: Rect) {
    let is_hovered = look.scene.hover.is_some_and(|point| place.contains(point));
    let shade = if is_hovered { look.shades.text } else { look.shades.faint };
    let (x, y) = (place.x + place.width / 2.0, place.y + place.height / 2.0);
    brush.round(Rect::new(x - 4.0, y - 6.0, 8.0, 9.0), 4.0, color(shade));
    brush.fill(Rect::new(x - 4.0, y - 1.0, 8.0, 3.0), color(shade));
    brush.fill(Rect::new(x - 6.0, y + 2.0, 12.0, 2.0), color(shade));
    brush.dot(x, y + 5.5, 3.0, shade);
}

fn project_row(look: &Look<'_>, brush: &mut Brush<'_>, project: &ProjectRow, row: Rect) {
    let shades = &look.shades;
    hovered(look, brush, row);
    if project.is_active {
        brush.round(row.inset(6.0, 1.0), 6.0, color(shades.raised));
    }
    if let Some(mood) = project.mood.color() {
        let stripe = Rect { width: STRIPE, ..row.inset(0.0, 4.0) };
        brush.fill(stripe, color(mood));
    }
    if project.rename.is_some() {
        return;
    }
    let middle = row.y + row.height / 2.0;
    // From the right, each in a column of its own: how it fares, what is new, how many wait.
    let mut right = row.right() - 15.0;
    let column = |right: f32| right - DOT / 2.0;
    if let Some(mood) = project.mood.color() {
        brush.sign(column(right), middle, DOT, project.mood, mood);
    }
    if project.mood.color().is_some() || project.has_badge {
        right -= DOT + 7.0;
    }
    if project.has_badge {
        brush.dot(column(right), middle, DOT, ACCENT);
        right -= DOT + 6.0;
    }
    if project.waiting > 1 {
        let count = Rect::new(right - 30.0, row.y, 30.0, row.height);
        let ink = Ink::new(shades.warn, 11.0);
        right -= brush.label(&project.waiting.to_string(), count, Side::Right, ink) + 6.0;
    }
    let left = row.x + 14.0;
    let text = Rect::new(left, row.y, (right - left).max(0.0), row.height);
    let shade = if project.is_active { shades.text } else { shades.soft };
    let taken = brush.label(&project.name, text, Side::Left, Ink::new(shade, 13.5)) + 8.0;
    // A name that is cut leaves no room.
    if text.width - taken > 24.0 {
        let rest = Rect { x: text.x + taken, width: text.width - taken, ..text };
        brush.label(&project.branch, rest, Side::Left, Ink::new(shades.faint, 11.5));
    }
}

fn agent_row(look: &Look<'_>, brush: &mut Brush<'_>, agent: &AgentRow, row: Rect) {
    let shades = &look.shades;
    hovered(look, brush, row);
    if agent.is_active {
        brush.round(row.inset(6.0, 1.0), 5.0, color(shades.quiet));
    }
    let middle = row.y + row.height / 2.0;
    let mood = agent.mood.color().unwrap_or(shades.line);
    brush.sign(row.x + 25.5, middle, DOT, agent.mood, mood);
    let time = Rect::new(row.right() - 50.0, row.y, 35.0, row.height);
    let taken = brush.label(&agent.time_text, time, Side::Right, Ink::new(shades.faint, 11.0));
    let mut left = row.x + 38.0;
    if agent.thread.is_some() {
        // A conversation, not a program in a terminal.
        let bubble = Rect::new(left, middle - 4.0, 8.0, 6.0);
        brush.round(bubble, 2.0, color(shades.faint));
        brush.fill(Rect::new(left + 1.0, bubble.bottom() - 1.0, 2.0, 3.0), color(shades.faint));
        left += 14.0;
    }
    let name = Rect::new(left, row.y, row.right() - 21.0 - taken - left, row.height);
    let shade = if agent.is_active { shades.text } else { shades.soft };
    brush.label(&agent.name, name, Side::Left, Ink::new(shade, 12.5));
}

/// Names that are edited in place, over the rows and pills that have them.
pub(crate) fn renames(look: &Look<'_>, sheet: &mut Sheet) {
    let (scene, layout) = (look.scene, look.layout);
    for (project, place) in scene.sidebar.projects.iter().zip(&layout.sidebar.projects) {
        if let Some(typed) = &project.rename {
            let row = place.row;
            let text = Rect::new(row.x + 14.0, row.y, row.width - 24.0, row.height);
            rename(look, sheet, typed, text, layout.sidebar.list);
        }
    }
    for (tab, (_, place)) in scene.strip.pills.iter().zip(&layout.strip.pills) {
        if let Some(typed) = &tab.rename {
            rename(look, sheet, typed, super::strip::words(tab, *place), layout.strip.visible);
        }
    }
}

/// A field with what was typed so far.
fn rename(look: &Look<'_>, sheet: &mut Sheet, typed: &Field, rect: Rect, clip: Rect) {
    let field = Rect::new(rect.x - 6.0, rect.y, rect.width + 6.0, rect.height).inset(0.0, 2.0);
    sheet.layer(clip);
    sheet.edged(field, 5.0, color(look.shades.terminal), color(ACCENT));
    let ink = Ink::new(look.shades.text, 12.5);
    sheet.field_line(FieldOf::Name, field.inset(6.0, 0.0), typed, "", ink, &look.shades);
}
