//! What a change did to a file, hunk by hunk, as details for programs.

use serde_json::{Map, Value, json};
use similar::{ChangeTag, TextDiff, TextDiffConfig};
use std::time::Duration;

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// The maximum number of lines of one hunk.
const MAX_LINES: usize = 400;
/// How long a reverse patch may be, in bytes.
const MAX_REVERSE: usize = 256 << 10;
/// How long a good diff may be looked for; after that a worse one has to do.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// What happened to a file. A missing side means that the file was made or removed.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileChange<'a> {
    /// Its name now.
    pub(super) path: &'a str,
    /// Its name before, if that was another.
    pub(super) old_path: Option<&'a str>,
    /// What it contained.
    pub(super) old: Option<&'a str>,
    /// What it contains.
    pub(super) new: Option<&'a str>,
}

impl FileChange<'_> {
    fn operation(&self) -> &'static str {
        match (self.old, self.new, self.old_path) {
            (None, _, _) => "create",
            (_, None, _) => "delete",
            (_, _, Some(_)) => "rename",
            _ => "modify",
        }
    }
}

/// The hunks of a change, in the order of the file.
pub(super) fn hunks(change: FileChange<'_>) -> Vec<Value> {
    let old: Vec<&str> = change.old.unwrap_or_default().split_inclusive('\n').collect();
    let new: Vec<&str> = change.new.unwrap_or_default().split_inclusive('\n').collect();
    let mut config = TextDiffConfig::default();
    let diff: TextDiff<'_, '_, str> = config.timeout(PATIENCE).diff_slices(&old, &new);
    let mut hunks: Vec<Value> = diff
        .grouped_ops(CONTEXT)
        .iter()
        .filter(|group| !group.is_empty())
        .map(|group| {
            let lines: Vec<Line<'_>> = group
                .iter()
                .flat_map(|op| diff.iter_changes(op))
                .map(|change| Line {
                    tag: change.tag(),
                    text: change.value().trim_end_matches('\n'),
                    old: change.old_index(),
                    new: change.new_index(),
                })
                .collect();
            let first = &group[0];
            hunk(change, first.old_range().start, first.new_range().start, &lines)
        })
        .collect();
    if hunks.is_empty() && change.operation() != "modify" {
        // An empty file was made or removed, or a file only got another name.
        hunks.push(hunk(change, 0, 0, &[]));
    }
    hunks
}

/// One line of a hunk, with its place in both files.
struct Line<'a> {
    tag: ChangeTag,
    text: &'a str,
    old: Option<usize>,
    new: Option<usize>,
}

fn hunk(change: FileChange<'_>, old_start: usize, new_start: usize, lines: &[Line<'_>]) -> Value {
    let old_lines = lines.iter().filter(|line| line.old.is_some()).count();
    let new_lines = lines.iter().filter(|line| line.new.is_some()).count();
    // As in a unified diff: a side without lines is named by the line before it.
    let start = |at: usize, count: usize| if count == 0 { at } else { at + 1 };
    let mut hunk = Map::new();
    hunk.insert("path".into(), change.path.into());
    if let Some(old_path) = change.old_path {
        hunk.insert("oldPath".into(), old_path.into());
    }
    hunk.insert("fileOp".into(), change.operation().into());
    hunk.insert("oldStart".into(), start(old_start, old_lines).into());
    hunk.insert("oldLines".into(), old_lines.into());
    hunk.insert("newStart".into(), start(new_start, new_lines).into());
    hunk.insert("newLines".into(), new_lines.into());
    hunk.insert("diff".into(), lines.iter().take(MAX_LINES).map(line_json).collect());
    if let Some(reverse) = reverse(change, lines) {
        hunk.insert("reversePatch".into(), reverse.into());
    }
    Value::Object(hunk)
}

fn line_json(line: &Line<'_>) -> Value {
    let kind = match line.tag {
        ChangeTag::Equal => "context",
        ChangeTag::Insert => "added",
        ChangeTag::Delete => "removed",
    };
    let mut object = json!({"kind": kind, "text": line.text});
    if let Some(old) = line.old {
        object["oldLine"] = (old + 1).into();
    }
    if let Some(new) = line.new {
        object["newLine"] = (new + 1).into();
    }
    object
}

/// A patch that undoes the hunk. A file whose last line is not ended cannot be said in one.
fn reverse(change: FileChange<'_>, lines: &[Line<'_>]) -> Option<String> {
    let is_ended =
        |text: Option<&str>| text.is_none_or(|text| text.is_empty() || text.ends_with('\n'));
    if !is_ended(change.old) || !is_ended(change.new) {
        return None;
    }
    let path = change.path;
    let mut patch = String::from("*** Begin Patch\n");
    match (change.operation(), change.old_path) {
        ("create", _) => patch.push_str(&format!("*** Delete File: {path}\n")),
        ("delete", _) => {
            patch.push_str(&format!("*** Add File: {path}\n"));
            lines.iter().for_each(|line| patch.push_str(&format!("+{}\n", line.text)));
        }
        (_, moved) => {
            patch.push_str(&format!("*** Update File: {path}\n"));
            if let Some(old_path) = moved {
                patch.push_str(&format!("*** Move to: {old_path}\n"));
            }
            // A file that only got another name has no lines to tell.
            if !lines.is_empty() {
                patch.push_str("@@\n");
            }
            for line in lines {
                let sign = match line.tag {
                    ChangeTag::Equal => ' ',
                    ChangeTag::Insert => '-',
                    ChangeTag::Delete => '+',
                };
                patch.push_str(&format!("{sign}{}\n", line.text));
            }
        }
    }
    patch.push_str("*** End Patch\n");
    (patch.len() <= MAX_REVERSE).then_some(patch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(range: std::ops::RangeInclusive<u32>) -> String {
        range.map(|number| format!("{number}\n")).collect()
    }

    #[test]
    fn hunks_have_real_lines_and_three_of_context() {
        let old = numbered(1..=30);
        let new = old.replace("10\n", "ten\n").replace("25\n", "");
        let change = FileChange { path: "a", old_path: None, old: Some(&old), new: Some(&new) };
        let hunks = hunks(change);
        assert_eq!(hunks.len(), 2);
        let first = &hunks[0];
        assert_eq!((&first["oldStart"], &first["oldLines"]), (&json!(7), &json!(7)));
        assert_eq!((&first["newStart"], &first["newLines"]), (&json!(7), &json!(7)));
        assert_eq!(
            first["diff"][0],
            json!({"kind": "context", "text": "7", "oldLine": 7, "newLine": 7})
        );
        assert_eq!(first["diff"][3], json!({"kind": "removed", "text": "10", "oldLine": 10}));
        assert_eq!(first["diff"][4], json!({"kind": "added", "text": "ten", "newLine": 10}));
        assert_eq!((&hunks[1]["oldStart"], &hunks[1]["newLines"]), (&json!(22), &json!(6)));
        assert_eq!(first["fileOp"], "modify");
        let reverse = first["reversePatch"].as_str().unwrap();
        assert!(reverse.contains("\n 9\n+10\n-ten\n 11\n"), "{reverse}");
    }

    #[test]
    fn made_removed_and_renamed_files_are_hunks_as_well() {
        let made = hunks(FileChange { path: "a", old_path: None, old: None, new: Some("x\n") });
        assert_eq!((&made[0]["fileOp"], &made[0]["oldStart"]), (&json!("create"), &json!(0)));
        assert_eq!(made[0]["newStart"], 1);
        let gone = hunks(FileChange { path: "a", old_path: None, old: Some(""), new: None });
        assert_eq!((gone.len(), &gone[0]["fileOp"]), (1, &json!("delete")));
        let same = Some("x");
        let moved = hunks(FileChange { path: "b", old_path: Some("a"), old: same, new: same });
        assert_eq!((&moved[0]["fileOp"], &moved[0]["oldPath"]), (&json!("rename"), &json!("a")));
        assert_eq!(moved[0]["reversePatch"], Value::Null, "its last line is not ended");
        let same = Some("x\n");
        let moved = hunks(FileChange { path: "b", old_path: Some("a"), old: same, new: same });
        let reverse = "*** Begin Patch\n*** Update File: b\n*** Move to: a\n*** End Patch\n";
        assert_eq!(moved[0]["reversePatch"], reverse);
        assert!(hunks(FileChange { path: "a", old_path: None, old: same, new: same }).is_empty());
    }

    #[test]
    fn long_hunks_are_told_in_part() {
        let new = numbered(1..=1000);
        let hunks = hunks(FileChange { path: "a", old_path: None, old: None, new: Some(&new) });
        assert_eq!(hunks[0]["diff"].as_array().unwrap().len(), MAX_LINES);
        assert_eq!(hunks[0]["newLines"], 1000);
    }
}
