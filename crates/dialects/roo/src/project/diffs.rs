//! Unified diffs as asks show them: one part for each file, and what a call that ran has changed.

use serde_json::Value;

use crate::wire::DiffStats;

/// The files of a unified diff, each with its part. Lines of hunks are counted, since a removed line may
/// look like the head of a file.
pub(super) fn files(diff: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    let (mut before, mut left) = (String::new(), (0_u64, 0_u64));
    for line in diff.split_inclusive('\n') {
        if left != (0, 0) {
            match line.as_bytes().first() {
                Some(b'-') => left.0 = left.0.saturating_sub(1),
                Some(b'+') => left.1 = left.1.saturating_sub(1),
                Some(b'\\') => {}
                _ => left = (left.0.saturating_sub(1), left.1.saturating_sub(1)),
            }
        } else if let Some(path) = line.strip_prefix("--- ") {
            before = path.trim_end().to_owned();
            files.push((String::new(), String::new()));
        } else if let (Some(path), Some(file)) = (line.strip_prefix("+++ "), files.last_mut()) {
            let path = path.trim_end();
            let named = if path == "/dev/null" { before.as_str() } else { path };
            let plain = named.strip_prefix("a/").or(named.strip_prefix("b/")).unwrap_or(named);
            plain.clone_into(&mut file.0);
        } else if let Some(counts) = line.strip_prefix("@@ ") {
            left = counted(counts);
        }
        if let Some((_, part)) = files.last_mut() {
            part.push_str(line);
        }
    }
    files
}

/// How many lines a hunk has of either side, by its head.
fn counted(head: &str) -> (u64, u64) {
    let count = |sign: char| {
        let range = head.split(' ').find_map(|word| word.strip_prefix(sign)).unwrap_or_default();
        range.split_once(',').map_or(1, |(_, count)| count.parse().unwrap_or(0))
    };
    (count('-'), count('+'))
}

/// Lines that a diff adds and removes.
pub(super) fn stats(diff: &str) -> DiffStats {
    let (mut stats, mut left) = (DiffStats { added: 0, removed: 0 }, (0_u64, 0_u64));
    for line in diff.lines() {
        if left == (0, 0) {
            if let Some(head) = line.strip_prefix("@@ ") {
                left = counted(head);
            }
            continue;
        }
        match line.as_bytes().first() {
            Some(b'-') => (stats.removed, left.0) = (stats.removed + 1, left.0.saturating_sub(1)),
            Some(b'+') => (stats.added, left.1) = (stats.added + 1, left.1.saturating_sub(1)),
            Some(b'\\') => {}
            _ => left = (left.0.saturating_sub(1), left.1.saturating_sub(1)),
        }
    }
    stats
}

/// What a call has changed, from the details that it left; none if it left none.
pub(super) fn of_details(data: Option<&str>) -> Option<String> {
    let data: Value = serde_json::from_str(data?).ok()?;
    let mut diff = String::new();
    let mut last = None;
    for hunk in data.get("hunks")?.as_array()? {
        let path = hunk.get("path")?.as_str()?;
        if last.replace(path) != Some(path) {
            diff.push_str(&heads(hunk, path));
        }
        diff.push_str(&body(hunk));
    }
    (!diff.is_empty()).then_some(diff)
}

fn heads(hunk: &Value, path: &str) -> String {
    let (old, new) = match hunk.get("fileOp").and_then(Value::as_str) {
        Some("create") => ("/dev/null".to_owned(), format!("b/{path}")),
        Some("delete") => (format!("a/{path}"), "/dev/null".to_owned()),
        _ => {
            let old = hunk.get("oldPath").and_then(Value::as_str).unwrap_or(path);
            (format!("a/{old}"), format!("b/{path}"))
        }
    };
    format!("--- {old}\n+++ {new}\n")
}

fn body(hunk: &Value) -> String {
    let number = |name: &str| hunk.get(name).and_then(Value::as_u64).unwrap_or(0);
    let lines = hunk.get("diff").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let kind =
        |line: &Value| line.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    // A long hunk is cut, so that its lines are counted anew.
    let of =
        |side: &str| lines.iter().filter(|line| [side, "context"].contains(&&*kind(line))).count();
    if lines.is_empty() {
        return String::new();
    }
    let (old, new) = (number("oldStart"), number("newStart"));
    let mut text = format!("@@ -{old},{} +{new},{} @@\n", of("removed"), of("added"));
    for line in lines {
        text.push(match kind(line).as_str() {
            "added" => '+',
            "removed" => '-',
            _ => ' ',
        });
        text.push_str(line.get("text").and_then(Value::as_str).unwrap_or_default());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_removed_line_that_looks_like_a_head_belongs_to_its_file() {
        let first = "--- a/q.sql\n+++ b/q.sql\n@@ -1,3 +1,2 @@\n a\n--- drop it\n-b\n+++ c\n";
        let second = "--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+c\n\\ No newline at end of file\n";
        let both = format!("{first}{second}");
        let expected =
            vec![("q.sql".to_owned(), first.to_owned()), ("y".to_owned(), second.to_owned())];
        assert_eq!(files(&both), expected);
        assert_eq!(stats(first), DiffStats { added: 1, removed: 2 });
        assert_eq!(files("nothing"), []);
    }

    #[test]
    fn what_a_call_has_changed_is_reported_by_its_details() {
        let line = |kind: &str, text: &str| json!({ "kind": kind, "text": text });
        let details = json!({ "hunks": [
            { "path": "x", "fileOp": "modify", "oldStart": 1, "newStart": 1,
              "diff": [line("context", "a"), line("removed", "b"), line("added", "c")] },
            { "path": "y", "fileOp": "create", "oldStart": 0, "newStart": 1, "diff": [line("added", "d")] },
        ] });
        let diff = of_details(Some(&details.to_string())).unwrap();
        assert_eq!(
            diff,
            "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n--- /dev/null\n+++ b/y\n@@ -0,0 +1,1 @@\n+d\n"
        );
        assert_eq!(files(&diff).len(), 2);
        assert_eq!(of_details(Some("{}")), None);
    }
}
