//! Files and lines of diffs.

use rookery_view::link::{DiffFile, DiffLine, FileStatus, LineKind};
use rookery_view::scene::layout::{Hit, Rect};

use super::parts::{SMALL, TEXT};
use crate::brush::{Ink, Side};
use crate::flow;
use crate::shades::{Shades, color, faded};
use crate::sheet::Sheet;

/// Height of a file's head.
pub(super) const FILE: f32 = 30.0;
/// Width of a line's number and sign.
const NUMBER: f32 = 44.0;
const SIGN: f32 = 18.0;

/// What is drawn below a line of a diff, such as comments: gets the line and its index, and gives the
/// height of what it drew.
pub(super) type Below<'a> = &'a mut dyn FnMut(&mut Sheet, usize, &DiffLine, Rect) -> f32;

/// Where the line that was asked for is drawn, from the top of all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    pub(super) selected: Option<usize>,
    pub(super) can_hit: bool,
}

/// `+12 −4` and what happened to the file. Gives the width.
pub(super) fn counts(sheet: &mut Sheet, file: &DiffFile, room: Rect, shades: &Shades) -> f32 {
    let removed = format!("−{}", file.removed);
    let mut taken = sheet.label(&removed, room, Side::Right, Ink::new(shades.bad, SMALL)) + 6.0;
    let rest = Rect { width: room.width - taken, ..room };
    let added = format!("+{}", file.added);
    taken += sheet.label(&added, rest, Side::Right, Ink::new(shades.good, SMALL)) + 10.0;
    let word = match file.status {
        FileStatus::Added => "new",
        FileStatus::Removed => "removed",
        FileStatus::Renamed => "renamed",
        FileStatus::Copied => "copied",
        FileStatus::Changed => return taken,
    };
    let rest = Rect { width: room.width - taken, ..room };
    taken + sheet.label(word, rest, Side::Right, Ink::new(shades.faint, SMALL)) + 10.0
}

/// The head of a file: its path and what it came to.
pub(super) fn file_head(sheet: &mut Sheet, file: &DiffFile, place: Rect, shades: &Shades) {
    let row = Rect { height: FILE, ..place };
    sheet.fill(row, color(shades.raised));
    let inner = row.inset(12.0, 0.0);
    let taken = counts(sheet, file, inner, shades);
    let room = Rect { width: inner.width - taken - 8.0, ..inner };
    let path = match &file.old {
        Some(old) => format!("{old} → {}", file.path),
        None => file.path.clone(),
    };
    sheet.label(&path, room, Side::Left, Ink::new(shades.text, TEXT).code());
}

/// The lines of a file with what is below them. Gives the height, and where the selected one lies.
pub(super) fn file_lines(
    sheet: &mut Sheet,
    file: &DiffFile,
    place: Rect,
    marks: Marks,
    shades: &Shades,
    below: Below<'_>,
) -> (f32, Option<(f32, f32)>) {
    let mut y = place.y;
    let mut selected = None;
    if file.binary {
        y += note(sheet, "binary file", Rect { y, ..place }, shades);
    }
    let mut index = 0;
    for (at, hunk) in file.hunks.iter().flatten().enumerate() {
        if at > 0 || !hunk.head.is_empty() {
            let head = format!("··· {}", hunk.head);
            y += note(sheet, head.trim_end(), Rect { y, ..place }, shades);
        }
        for line in &hunk.lines {
            let top = y;
            let is_selected = marks.selected == Some(index);
            y += diff_line(sheet, line, Rect { y, ..place }, is_selected, shades);
            let row = Rect { y: top, height: y - top, ..place };
            if marks.can_hit {
                sheet.hit(row, Hit::Line(index));
            }
            y += below(sheet, index, line, Rect { y, ..place });
            if is_selected {
                selected = Some((top - place.y, y - place.y));
            }
            index += 1;
        }
    }
    if file.cut {
        y += note(sheet, "more lines are not shown", Rect { y, ..place }, shades);
    }
    (y - place.y, selected)
}

fn note(sheet: &mut Sheet, text: &str, place: Rect, shades: &Shades) -> f32 {
    let row = Rect { height: 22.0, ..place };
    sheet.fill(row, faded(shades.text, 0.03));
    sheet.label(text, row.inset(12.0, 0.0), Side::Left, Ink::new(shades.faint, SMALL).code());
    row.height
}

fn diff_line(
    sheet: &mut Sheet,
    line: &DiffLine,
    place: Rect,
    is_selected: bool,
    shades: &Shades,
) -> f32 {
    let ink = Ink::new(shades.text, TEXT).code();
    let step = flow::leading(ink.size);
    let (sign, ground, shade) = match line.kind {
        LineKind::Same => ("", None, shades.faint),
        LineKind::Added => ("+", Some(shades.added), shades.good),
        LineKind::Removed => ("−", Some(shades.removed), shades.bad),
        LineKind::Note => ("", None, shades.faint),
    };
    let room = place.width - NUMBER - SIGN - 10.0;
    let parts = flow::exact(&line.text, ink, room);
    let height = parts.len() as f32 * step;
    if let Some(ground) = ground {
        sheet.fill(Rect { height, ..place }, color(ground));
    }
    if is_selected {
        sheet.fill(Rect { height, ..place }, faded(shades.accent, 0.18));
        sheet.fill(Rect { height, width: 3.0, ..place }, color(shades.accent));
    }
    let row = Rect { height: step, ..place };
    let number = line.new.or(line.old).map(|number| number.to_string()).unwrap_or_default();
    let gutter = Rect { width: NUMBER - 6.0, ..row };
    sheet.label(&number, gutter, Side::Right, Ink::new(shades.faint, SMALL).code());
    let mark = Rect { x: row.x + NUMBER, width: SIGN, ..row };
    sheet.label(sign, mark, Side::Left, Ink { color: shade, ..ink });
    let words = if line.kind == LineKind::Note { shades.faint } else { shades.text };
    for (index, part) in parts.iter().enumerate() {
        let y = place.y + index as f32 * step;
        let row = flow::middle(Rect { y, height: step, ..place }, ink.size);
        let row = Rect { x: place.x + NUMBER + SIGN, width: room, ..row };
        sheet.brush().text(part, row, Ink { color: words, ..ink });
    }
    height
}
