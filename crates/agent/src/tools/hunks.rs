//! Hunks of an edit as details for programs.

use rookery_changes::{SHOWN_LINES, reverse_patch};
use rookery_model::{Edit, LineKind, Words as _};
use serde_json::{Map, Value, json};

/// A hunk as programs read it.
pub(super) fn hunk(edit: &Edit) -> Value {
    let mut hunk = Map::new();
    hunk.insert("path".into(), edit.path.as_str().into());
    if let Some(old_path) = &edit.old_path {
        hunk.insert("oldPath".into(), old_path.as_str().into());
    }
    hunk.insert("fileOp".into(), edit.operation.word().into());
    hunk.insert("oldStart".into(), edit.old_start.into());
    hunk.insert("oldLines".into(), edit.old_lines.into());
    hunk.insert("newStart".into(), edit.new_start.into());
    hunk.insert("newLines".into(), edit.new_lines.into());
    hunk.insert("diff".into(), lines(edit));
    if let Some(reverse) = reverse_patch(edit) {
        hunk.insert("reversePatch".into(), reverse.into());
    }
    Value::Object(hunk)
}

fn lines(edit: &Edit) -> Value {
    let first = |start: u64, count: u64| if count == 0 { start + 1 } else { start };
    let mut old = first(edit.old_start, edit.old_lines);
    let mut new = first(edit.new_start, edit.new_lines);
    let line = |line: &rookery_model::HunkLine| {
        let text = line.text.strip_suffix('\n').unwrap_or(&line.text);
        let mut object = json!({"kind": line.kind.word(), "text": text});
        if line.kind != LineKind::Added {
            object["oldLine"] = old.into();
            old += 1;
        }
        if line.kind != LineKind::Removed {
            object["newLine"] = new.into();
            new += 1;
        }
        object
    };
    edit.lines.iter().take(SHOWN_LINES).map(line).collect()
}

#[cfg(test)]
mod tests {
    use rookery_changes::{FileEdit, edits};

    use super::*;

    #[test]
    fn lines_are_numbered_on_both_sides() {
        let old: String = (1..=30).map(|number| format!("{number}\n")).collect();
        let new = old.replace("10\n", "ten\n");
        let file = FileEdit { path: "a", old: Some(&old), new: Some(&new), ..FileEdit::default() };
        let hunk = hunk(&edits(file)[0]);
        assert_eq!((&hunk["oldStart"], &hunk["oldLines"]), (&json!(7), &json!(7)));
        assert_eq!((&hunk["fileOp"], &hunk["path"]), (&json!("modify"), &json!("a")));
        let line = json!({"kind": "context", "text": "7", "oldLine": 7, "newLine": 7});
        assert_eq!(hunk["diff"][0], line);
        assert_eq!(hunk["diff"][3], json!({"kind": "removed", "text": "10", "oldLine": 10}));
        assert_eq!(hunk["diff"][4], json!({"kind": "added", "text": "ten", "newLine": 10}));
        assert!(hunk["reversePatch"].as_str().unwrap().contains("+10\n-ten\n"));
    }

    #[test]
    fn long_hunks_are_reported_in_part() {
        let new: String = (1..=1000).map(|number| format!("{number}\n")).collect();
        let file = FileEdit { path: "a", new: Some(&new), ..FileEdit::default() };
        let hunk = hunk(&edits(file)[0]);
        assert_eq!(hunk["diff"].as_array().unwrap().len(), SHOWN_LINES);
        assert_eq!((&hunk["newLines"], &hunk["fileOp"]), (&json!(1000), &json!("create")));
    }
}
