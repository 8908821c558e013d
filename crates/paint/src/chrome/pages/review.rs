//! A review: files at the left, the diff of one at the right, comments below its lines.

use rookery_view::link::DiffLine;
use rookery_view::scene::layout::{Bar, FieldOf, Hit, Rect};
use rookery_view::scene::pages::{Button, Comment, Review};

use super::diff::{self, Marks};
use super::parts::{
    HEAD, MARGIN, Offer, SMALL, TEXT, chip, field, field_height, foot, head, row, status_color,
    window, wrapped,
};
use crate::brush::{Ink, Side};
use crate::chrome::Look;
use crate::fonts;
use crate::shades::{Shades, color, faded};
use crate::sheet::{Kind, Scroll, Sheet};

const ROW: f32 = 40.0;
/// From this width on the files lie beside the diff.
const BESIDE: f32 = 640.0;

pub(super) fn review(look: &Look<'_>, sheet: &mut Sheet, page: &Review, area: Rect) {
    let shades = &look.shades;
    let sum =
        |of: fn(&rookery_view::link::DiffFile) -> u32| -> u32 { page.files.iter().map(of).sum() };
    let noun = if page.files.len() == 1 { "file" } else { "files" };
    let aside = format!(
        "{} {noun}   +{} −{}",
        page.files.len(),
        sum(|file| file.added),
        sum(|file| file.removed)
    );
    let body = head(sheet, area, &page.title, &aside, shades);
    if !page.status.is_empty() {
        let width = fonts::width(&page.title, fonts::BOLD, super::parts::TITLE);
        let band = Rect { height: HEAD, ..area };
        let x = (area.x + MARGIN + width + 12.0).min(area.right() - 220.0);
        let status = page.status.replace('_', " ");
        chip(sheet, x, band, &status, status_color(&page.status, shades));
    }
    let body = buttons(sheet, page, body, shades);
    if body.width < BESIDE {
        let height = (page.files.len().clamp(1, 4) as f32 * ROW + 10.0).min(body.height * 0.4);
        files(sheet, page, Rect { height, ..body }, shades);
        let rest = Rect { y: body.y + height, height: body.height - height, ..body };
        sheet.fill(Rect { height: 1.0, ..rest }, color(shades.line));
        return shown(sheet, page, rest, shades);
    }
    let width = (body.width * 0.3).clamp(220.0, 340.0).round();
    files(sheet, page, Rect { width, ..body }, shades);
    let rest = Rect { x: body.x + width, width: body.width - width, ..body };
    sheet.fill(Rect { width: 1.0, ..rest }, color(shades.line));
    shown(sheet, page, Rect { x: rest.x + 1.0, width: rest.width - 1.0, ..rest }, shades);
}

fn buttons(sheet: &mut Sheet, page: &Review, area: Rect, shades: &Shades) -> Rect {
    if page.is_checkpoint {
        let left = [Offer::new(Button::Back, "Back", Kind::Plain)];
        let right = [Offer::new(Button::Restore, "Restore…", Kind::Danger)];
        return foot(sheet, area, &left, &right, page.focus, shades);
    }
    let left = [
        Offer::new(Button::Comment, "Comment", Kind::Plain),
        Offer::new(Button::Later, "Later", Kind::Plain),
    ];
    let right = [
        Offer::new(Button::RequestChanges, "Request Changes", Kind::Plain),
        Offer::new(Button::Approve, "Approve", Kind::Primary),
    ];
    foot(sheet, area, &left, &right, page.focus, shades)
}

fn files(sheet: &mut Sheet, page: &Review, area: Rect, shades: &Shades) {
    let body = area.inset(0.0, 5.0);
    let fitting = (body.height / ROW).floor().max(1.0) as usize;
    let first = window(page.files.len(), fitting, Some(page.file), None);
    for (index, file) in page.files.iter().enumerate().skip(first).take(fitting) {
        let y = body.y + (index - first) as f32 * ROW;
        let rect = Rect { y, height: ROW, ..body }.inset(8.0, 1.0);
        row(sheet, rect, index == page.file, shades);
        sheet.hit(rect, Hit::Row(index));
        let inner = rect.inset(12.0, 2.0);
        let upper = Rect { height: 18.0, ..inner };
        let lower = Rect { y: inner.y + 18.0, height: 16.0, ..inner };
        let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
        let taken = diff::counts(sheet, file, upper, shades);
        let room = Rect { width: upper.width - taken - 8.0, ..upper };
        sheet.label(name, room, Side::Left, Ink::new(shades.text, 13.0));
        let comments = page.comments.iter().filter(|comment| comment.path == file.path).count();
        let noted = match comments {
            0 => String::new(),
            1 => "1 comment".to_owned(),
            count => format!("{count} comments"),
        };
        let taken = sheet.label(&noted, lower, Side::Right, Ink::new(shades.matched, 11.0));
        let room = Rect { width: lower.width - taken - 8.0, ..lower };
        sheet.label(folder, room, Side::Left, Ink::new(shades.faint, 11.0));
    }
    let most = page.files.len().saturating_sub(fitting) as f32 * ROW;
    let scroll = Scroll { at: first as f32 * ROW, most, view: body.height };
    sheet.scrolls.push((Bar::List, scroll));
    sheet.bar(body, Bar::List, scroll, shades);
}

/// The diff of the chosen file.
fn shown(sheet: &mut Sheet, page: &Review, area: Rect, shades: &Shades) {
    let Some(file) = page.files.get(page.file) else {
        sheet.label("Nothing changed", area, Side::Center, Ink::new(shades.faint, TEXT));
        return;
    };
    diff::file_head(sheet, file, area, shades);
    let body = Rect { y: area.y + diff::FILE, height: area.height - diff::FILE, ..area };
    if file.hunks.is_none() && !file.binary {
        sheet.label("Loading…", body, Side::Center, Ink::new(shades.faint, TEXT));
        return;
    }
    let place = std::cell::Cell::new(None);
    sheet.scrolled(
        body,
        Bar::Text,
        shades,
        |_, view| match (page.scroll, place.get()) {
            (Some(scroll), _) => scroll,
            (None, Some((top, bottom))) => (top + bottom - view) / 2.0,
            (None, None) => 0.0,
        },
        |sheet, room| {
            let mut told = vec![false; page.comments.len()];
            let marks = Marks { selected: Some(page.line), can_hit: true };
            let mut under = |sheet: &mut Sheet, index: usize, line: &DiffLine, at: Rect| {
                below(sheet, page, &mut told, (index, line), at, shades)
            };
            let (height, selected) = diff::file_lines(sheet, file, room, marks, shades, &mut under);
            place.set(selected);
            let mut y = height;
            for (comment, told) in page.comments.iter().zip(&told) {
                if comment.path == file.path && !told {
                    y += note(sheet, comment, Rect { y: room.y + y, ..room }, shades);
                }
            }
            y + 12.0
        },
    );
}

/// Comments on a line, and the one that is being written there.
fn below(
    sheet: &mut Sheet,
    page: &Review,
    told: &mut [bool],
    (index, line): (usize, &DiffLine),
    place: Rect,
    shades: &Shades,
) -> f32 {
    let mut y = place.y;
    let path = page.files.get(page.file).map(|file| file.path.as_str());
    for (comment, told) in page.comments.iter().zip(told) {
        // A number is one of the new side, unless that has no such line.
        let is_new = comment.line.is_some() && line.new == comment.line;
        let is_old = line.new.is_none() && line.old.is_some() && line.old == comment.line;
        let is_here = !*told && (is_new || is_old && !on_new_side(page, comment));
        if is_here && Some(comment.path.as_str()) == path {
            *told = true;
            y += note(sheet, comment, Rect { y, ..place }, shades);
        }
    }
    if let (true, Some(open)) = (index == page.line, &page.comment) {
        let inner = Rect { x: place.x + 62.0, width: (place.width - 86.0).min(620.0), ..place };
        let height = field_height(open, inner.width, 6);
        let rect = Rect { y: y + 6.0, height, ..inner };
        field(sheet, FieldOf::Comment, rect, open, "Comment on this line. Enter keeps it.", shades);
        y += height + 12.0;
    }
    y - place.y
}

/// Whether the new side of the shown file has the line of a comment.
fn on_new_side(page: &Review, comment: &Comment) -> bool {
    let hunks = page.files.get(page.file).and_then(|file| file.hunks.as_ref());
    let mut lines = hunks.into_iter().flatten().flat_map(|hunk| &hunk.lines);
    lines.any(|line| line.new == comment.line)
}

fn note(sheet: &mut Sheet, comment: &Comment, place: Rect, shades: &Shades) -> f32 {
    let inner = Rect { x: place.x + 62.0, width: (place.width - 86.0).min(620.0), ..place };
    let text = Rect { y: inner.y + 28.0, ..inner.inset(12.0, 0.0) };
    let ink = Ink::new(shades.text, 13.0);
    let mut probe = Sheet::default();
    let height = wrapped(&mut probe, &comment.text, Rect { y: 0.0, ..text }, ink, shades) + 33.0;
    let rect = Rect { y: inner.y + 4.0, height, ..inner };
    sheet.edged(rect, 8.0, faded(shades.accent, 0.1), color(shades.panel_edge));
    let head = Rect { y: rect.y + 5.0, height: 18.0, ..text };
    let by = if comment.by.is_empty() { "you" } else { &comment.by };
    sheet.label(by, head, Side::Left, Ink::new(shades.matched, SMALL));
    wrapped(sheet, &comment.text, text, ink, shades);
    height + 8.0
}
