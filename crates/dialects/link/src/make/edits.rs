//! What tools of a thread changed in files, call by call, as diffs.

use std::collections::HashMap;

use rookery_core::{Core, HunkQuery};
use rookery_model::{self as model, ThreadId, TurnId};
use rookery_view::link::{DiffFile, DiffLine, FileStatus, Hunk, LineKind};
use rookery_view::safe;

/// Diffs by turn and call.
#[derive(Default)]
pub(crate) struct Edits(HashMap<(TurnId, String), Vec<DiffFile>>);

impl Edits {
    /// Those of a thread, or of one of its turns.
    pub(crate) async fn read(core: &Core, thread: ThreadId, turn: Option<TurnId>) -> Edits {
        let query = HunkQuery { turn, ..HunkQuery::default() };
        let mut edits = Edits::default();
        for hunk in core.file_changes().hunks(thread, &query).await {
            if let Some(turn) = hunk.turn {
                add(edits.0.entry((turn, hunk.call)).or_default(), &hunk.edit);
            }
        }
        edits
    }

    /// Takes over what is known of further turns.
    pub(crate) fn extend(&mut self, more: Edits) {
        self.0.extend(more.0);
    }

    /// What a call changed, if it changed anything.
    pub(crate) fn of(&self, turn: TurnId, call: &str) -> Option<&Vec<DiffFile>> {
        self.0.get(&(turn, call.to_owned()))
    }
}

/// Hunks of a file follow one another.
fn add(files: &mut Vec<DiffFile>, edit: &model::Edit) {
    let path = safe::exact(&edit.path);
    let hunk = hunk(edit);
    let count = |kind| u32::try_from(hunk.lines.iter().filter(|line| line.kind == kind).count());
    let (added, removed) = (count(LineKind::Added), count(LineKind::Removed));
    let (added, removed) = (added.unwrap_or(u32::MAX), removed.unwrap_or(u32::MAX));
    let known = |side: usize, all: u64| u64::try_from(side).is_ok_and(|side| side >= all);
    let is_cut = !known(edit.old_side().count(), edit.old_lines)
        || !known(edit.new_side().count(), edit.new_lines);
    let file = match files.last_mut().filter(|file| file.path == path) {
        Some(file) => file,
        None => {
            files.push(DiffFile {
                path,
                old: edit.old_path.as_deref().map(safe::exact),
                status: match edit.operation {
                    model::FileOperation::Modify => FileStatus::Changed,
                    model::FileOperation::Create => FileStatus::Added,
                    model::FileOperation::Delete => FileStatus::Removed,
                    model::FileOperation::Rename => FileStatus::Renamed,
                },
                hunks: Some(Vec::new()),
                ..DiffFile::default()
            });
            let Some(file) = files.last_mut() else { return };
            file
        }
    };
    file.added = file.added.saturating_add(added);
    file.removed = file.removed.saturating_add(removed);
    file.cut |= is_cut;
    file.hunks.get_or_insert_default().push(hunk);
}

fn hunk(edit: &model::Edit) -> Hunk {
    let number = |at: u64| u32::try_from(at).unwrap_or(u32::MAX);
    let (mut old, mut new) = (number(edit.old_start), number(edit.new_start));
    let mut lines = Vec::with_capacity(edit.lines.len());
    let step = |side: &mut u32| {
        let at = *side;
        *side = side.saturating_add(1);
        Some(at)
    };
    for line in &edit.lines {
        let (kind, old, new) = match line.kind {
            model::LineKind::Context => (LineKind::Same, step(&mut old), step(&mut new)),
            model::LineKind::Added => (LineKind::Added, None, step(&mut new)),
            model::LineKind::Removed => (LineKind::Removed, step(&mut old), None),
        };
        let text = line.text.trim_end_matches(['\n', '\r']);
        lines.push(DiffLine { kind, old, new, text: safe::exact(text) });
    }
    Hunk { old: number(edit.old_start), new: number(edit.new_start), lines, ..Hunk::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(path: &str, start: u64, lines: &[(model::LineKind, &str)]) -> model::Edit {
        let lines: Vec<_> = lines
            .iter()
            .map(|(kind, text)| model::HunkLine { kind: *kind, text: format!("{text}\n") })
            .collect();
        let side = |not| lines.iter().filter(|line| line.kind != not).count() as u64;
        model::Edit {
            path: path.to_owned(),
            old_path: None,
            operation: model::FileOperation::Modify,
            old_start: start,
            old_lines: side(model::LineKind::Added),
            new_start: start,
            new_lines: side(model::LineKind::Removed),
            lines,
            mode: None,
            obstacle: None,
        }
    }

    #[test]
    fn hunks_of_a_file_are_one_diff_with_numbered_and_spelled_lines() {
        use model::LineKind::{Added, Context, Removed};
        let mut files = Vec::new();
        add(
            &mut files,
            &edit("a", 4, &[(Context, "same"), (Removed, "old"), (Added, "n\u{202e}w")]),
        );
        add(&mut files, &edit("a", 40, &[(Added, "more")]));
        let mut cut = edit("b", 1, &[(Added, "first")]);
        cut.new_lines = 2;
        add(&mut files, &cut);
        let heads: Vec<_> =
            files.iter().map(|file| (&*file.path, file.added, file.removed, file.cut)).collect();
        assert_eq!(heads, [("a", 2, 1, false), ("b", 1, 0, true)]);
        let lines = &files[0].hunks.as_ref().unwrap()[0].lines;
        let numbers: Vec<_> = lines.iter().map(|line| (line.old, line.new)).collect();
        assert_eq!(numbers, [(Some(4), Some(4)), (Some(5), None), (None, Some(5))]);
        assert_eq!(lines[2].text, "n\\u{202e}w");
    }
}
