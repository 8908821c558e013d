//! Where the lines of a hunk are by now, as far as the changes since then are known.

use std::collections::HashMap;

use rookery_model::{Edit, FileOperation, Hunk, LineKind, Undone};

/// Lines of context in front of what an edit changes.
#[must_use]
pub fn begins(edit: &Edit) -> u64 {
    edit.lines.iter().take_while(|line| line.kind == LineKind::Context).count() as u64
}

/// The first line of the new side, from 0 on.
fn first(start: u64, count: u64) -> u64 {
    if count == 0 { start } else { start.saturating_sub(1) }
}

/// A change of lines: where it begins, how many went and how many came.
#[derive(Clone, Copy)]
struct Shift {
    at: u64,
    removed: u64,
    added: u64,
}

impl Shift {
    fn of(edit: &Edit) -> Self {
        let before = begins(edit);
        let behind = edit.lines.iter().rev().take_while(|it| it.kind == LineKind::Context).count();
        let context = (before + behind as u64).min(edit.old_lines);
        Shift {
            at: first(edit.old_start, edit.old_lines) + before,
            removed: edit.old_lines - context,
            added: edit.new_lines.saturating_sub(context),
        }
    }

    /// By how much a line moves; one that the change itself is about stays.
    fn moves(self, line: u64) -> i128 {
        match self.at + self.removed <= line {
            true => i128::from(self.added) - i128::from(self.removed),
            false => 0,
        }
    }
}

impl From<Undone> for Shift {
    fn from(undone: Undone) -> Self {
        Shift { at: undone.at, removed: undone.removed, added: undone.added }
    }
}

/// Something that happened to the file since.
struct Event<'a> {
    number: u64,
    hunk: &'a Hunk,
    /// Whether the hunk was taken back then; otherwise it was made.
    is_undone: bool,
}

/// Where the new lines of a hunk should be, from 0 on, after all later changes of its file among `all`,
/// the hunks of its thread in the order of their numbers. Changes that others made are not known here.
#[must_use]
pub fn expected(hunk: &Hunk, all: &[&Hunk]) -> u64 {
    let mut line = first(hunk.edit.new_start, hunk.edit.new_lines);
    // By how much each later edit moved it, so that taking that edit back moves it back.
    let mut moved: HashMap<&str, i128> = HashMap::new();
    let mut events = events(hunk, all).into_iter().peekable();
    while let Some(event) = events.next() {
        if event.is_undone {
            let by = match moved.get(event.hunk.id.as_str()) {
                Some(by) => -by,
                None => event.hunk.undone.map_or(0, |undone| Shift::from(undone).moves(line)),
            };
            line = at(line, by);
            continue;
        }
        // The hunks of one call are counted from the same lines, so that they move it together.
        let call = &event.hunk.call;
        let mut by = Shift::of(&event.hunk.edit).moves(line);
        moved.insert(&event.hunk.id, by);
        while let Some(next) = events.next_if(|next| !next.is_undone && next.hunk.call == *call) {
            let further = Shift::of(&next.hunk.edit).moves(line);
            moved.insert(&next.hunk.id, further);
            by += further;
        }
        line = at(line, by);
    }
    line
}

fn at(line: u64, by: i128) -> u64 {
    u64::try_from(i128::from(line) + by).unwrap_or(0)
}

/// What happened to the file of a hunk since, in order: later edits, and hunks that were taken back.
fn events<'a>(hunk: &Hunk, all: &[&'a Hunk]) -> Vec<Event<'a>> {
    let names = |edit: &Edit| [Some(edit.path.clone()), edit.old_path.clone()];
    let known = names(&hunk.edit);
    let concerns = |other: &&&Hunk| {
        let mut names = names(&other.edit).into_iter().flatten();
        other.id != hunk.id && names.any(|name| known.iter().flatten().any(|it| *it == name))
    };
    let mut events = Vec::new();
    for other in all.iter().filter(concerns) {
        let operation = other.edit.operation;
        let has_lines = !matches!(operation, FileOperation::Create | FileOperation::Delete);
        if other.number > hunk.number && other.call != hunk.call && has_lines {
            events.push(Event { number: other.number, hunk: other, is_undone: false });
        }
        if let Some(undone) = other.undone.filter(|undone| undone.number > hunk.number) {
            events.push(Event { number: undone.number, hunk: other, is_undone: true });
        }
    }
    events.sort_by_key(|event| event.number);
    events
}
