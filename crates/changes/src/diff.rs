//! A file before and after, hunk by hunk.

use std::time::Duration;

use rookery_model::{Edit, FileOperation, HunkLine, LineKind};
use similar::{ChangeTag, TextDiff, TextDiffConfig};

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// How many lines of a hunk are shown, and kept of one that is too large to be undone.
pub const SHOWN_LINES: usize = 400;
/// How many bytes of a hunk are kept; one that has more cannot be undone.
pub const MAX_BYTES: usize = 1 << 20;
/// How long a good comparison may be looked for; after that a worse one has to do.
const PATIENCE: Duration = Duration::from_secs(1);

/// What happened to a file. A missing side means that it was made or removed.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileEdit<'a> {
    /// Its name now.
    pub path: &'a str,
    /// Its name before, if that was another.
    pub old_path: Option<&'a str>,
    /// What it contained.
    pub old: Option<&'a str>,
    /// What it contains.
    pub new: Option<&'a str>,
    /// Its permissions before, where they are known.
    pub mode: Option<u32>,
    /// Whether it was something else than text, so that no lines of it can be brought back.
    pub was_binary: bool,
}

impl FileEdit<'_> {
    fn operation(&self) -> FileOperation {
        match (self.old, self.new, self.old_path) {
            (None, _, _) => FileOperation::Create,
            (_, None, _) => FileOperation::Delete,
            (_, _, Some(_)) => FileOperation::Rename,
            _ => FileOperation::Modify,
        }
    }
}

/// The hunks of a change, in the order of the file. Of a renamed file the first one is the renaming.
#[must_use]
pub fn edits(file: FileEdit<'_>) -> Vec<Edit> {
    let old: Vec<&str> = file.old.unwrap_or_default().split_inclusive('\n').collect();
    let new: Vec<&str> = file.new.unwrap_or_default().split_inclusive('\n').collect();
    let mut config = TextDiffConfig::default();
    let diff: TextDiff<'_, '_, str> = config.timeout(PATIENCE).diff_slices(&old, &new);
    let groups = diff.grouped_ops(CONTEXT);
    let mut edits: Vec<Edit> = Vec::new();
    for group in groups.iter().filter(|group| !group.is_empty()) {
        let lines = group.iter().flat_map(|op| diff.iter_changes(op)).map(|change| {
            let kind = match change.tag() {
                ChangeTag::Equal => LineKind::Context,
                ChangeTag::Insert => LineKind::Added,
                ChangeTag::Delete => LineKind::Removed,
            };
            (kind, change.value())
        });
        let starts = (group[0].old_range().start, group[0].new_range().start);
        edits.push(edit(file, edits.is_empty(), starts, lines.collect()));
    }
    if edits.is_empty() && file.operation() != FileOperation::Modify {
        // An empty file was made or removed, or a file only got another name.
        edits.push(edit(file, true, (0, 0), Vec::new()));
    }
    edits
}

fn edit(
    file: FileEdit<'_>,
    is_first: bool,
    starts: (usize, usize),
    lines: Vec<(LineKind, &str)>,
) -> Edit {
    let on = |other: LineKind| lines.iter().filter(|(kind, _)| *kind != other).count();
    let (old_lines, new_lines) = (on(LineKind::Added), on(LineKind::Removed));
    // As in a unified diff: a side without lines is named by the line before it.
    let start = |at: usize, count: usize| if count == 0 { at } else { at + 1 } as u64;
    let is_whole = lines.iter().map(|(_, text)| text.len()).sum::<usize>() <= MAX_BYTES;
    let operation = match file.operation() {
        // The name goes back with the first one; the others are found under either name.
        FileOperation::Rename if !is_first => FileOperation::Modify,
        operation => operation,
    };
    let obstacle = match (is_whole, file.was_binary) {
        (false, _) => Some("the change is too large to be undone"),
        (true, true) => Some("the file was not text before"),
        (true, false) => None,
    };
    Edit {
        path: file.path.to_owned(),
        old_path: file.old_path.map(str::to_owned),
        operation,
        old_start: start(starts.0, old_lines),
        old_lines: old_lines as u64,
        new_start: start(starts.1, new_lines),
        new_lines: new_lines as u64,
        lines: kept(lines, is_whole),
        mode: file.mode.filter(|_| operation == FileOperation::Delete),
        obstacle: obstacle.map(str::to_owned),
    }
}

/// All lines, or the first ones of too many.
fn kept(lines: Vec<(LineKind, &str)>, is_whole: bool) -> Vec<HunkLine> {
    let line = |(kind, text): (LineKind, &str)| HunkLine { kind, text: text.to_owned() };
    if is_whole {
        return lines.into_iter().map(line).collect();
    }
    let mut room = MAX_BYTES;
    let cut = |(kind, text): (LineKind, &'_ str)| {
        let end = text.floor_char_boundary(room.min(text.len()));
        room -= end;
        line((kind, &text[..end]))
    };
    lines.into_iter().take(SHOWN_LINES).map(cut).collect()
}
