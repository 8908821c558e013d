//! Patches line by line, with the comments on their lines. What is in them is not trusted.

use rookery_native::wire::ReviewComment;
use rookery_view::safe;

use crate::output::{Colors, Tone};

/// A line to show.
pub(crate) type Line = (Tone, String);

/// Where a patch is being read.
#[derive(Default)]
struct Place {
    /// The file on the new side.
    file: Option<String>,
    /// Lines of the hunk that are still to come on the old and the new side.
    left: (u64, u64),
    /// The number of the next line on the new side.
    next: u64,
}

/// The lines of a patch, with comments below the lines that they are about. Those about nothing that
/// the patch shows come at the end.
pub(crate) fn lines(patch: &str, comments: &[ReviewComment]) -> Vec<Line> {
    let mut shown = Vec::new();
    let mut place = Place::default();
    let mut is_placed = vec![false; comments.len()];
    for line in patch.lines() {
        let (tone, number) = place.read(line);
        shown.push((tone, safe::exact(line)));
        let Some(number) = number else { continue };
        for (comment, is_placed) in comments.iter().zip(&mut is_placed) {
            let is_here = comment.line.is_some_and(|line| u64::from(line) == number)
                && comment.path == place.file;
            if is_here && !*is_placed {
                *is_placed = true;
                shown.extend(comment_lines(comment, "    ▸ "));
            }
        }
    }
    let rest = comments.iter().zip(is_placed).filter(|(_, is_placed)| !is_placed);
    for (comment, _) in rest {
        let at = match (&comment.path, comment.line) {
            (Some(path), Some(line)) => format!("▸ {}:{line}: ", safe::exact(path)),
            (Some(path), None) => format!("▸ {}: ", safe::exact(path)),
            _ => "▸ ".to_owned(),
        };
        shown.extend(comment_lines(comment, &at));
    }
    shown
}

/// A comment, its further lines indented as its first.
fn comment_lines(comment: &ReviewComment, start: &str) -> Vec<Line> {
    let blank = " ".repeat(start.chars().count());
    // Those made by commands are the person's own.
    let by = match &*comment.by {
        "" | "rookery" => String::new(),
        by => format!("{by}: "),
    };
    let text = safe::text(&format!("{by}{}", comment.text));
    let mut lines: Vec<Line> = text
        .lines()
        .enumerate()
        .map(|(at, line)| {
            (Tone::Warning, format!("{}{line}", if at == 0 { start } else { &blank }))
        })
        .collect();
    if let Some((_, last)) = lines.last_mut().filter(|_| comment.delivered) {
        last.push_str("  (delivered)");
    }
    lines
}

impl Place {
    /// What a line is, and its number on the new side if it has one.
    fn read(&mut self, line: &str) -> (Tone, Option<u64>) {
        if self.left != (0, 0) {
            let number = self.next;
            match line.as_bytes().first() {
                Some(b'+') => {
                    self.left.1 = self.left.1.saturating_sub(1);
                    self.next += 1;
                    return (Tone::Good, Some(number));
                }
                Some(b'-') => {
                    self.left.0 = self.left.0.saturating_sub(1);
                    return (Tone::Bad, None);
                }
                Some(b' ') | None => {
                    self.left = (self.left.0.saturating_sub(1), self.left.1.saturating_sub(1));
                    self.next += 1;
                    return (Tone::Plain, Some(number));
                }
                Some(_) => return (Tone::Faint, None),
            }
        }
        if let Some((old, start, new)) = hunk(line) {
            (self.left, self.next) = ((old, new), start);
            return (Tone::Faint, None);
        }
        if line.starts_with("diff ") {
            self.file = None;
            return (Tone::Strong, None);
        }
        if let Some(file) = line.strip_prefix("+++ b/") {
            self.file = Some(file.trim_end_matches('\t').to_owned());
        }
        (Tone::Faint, None)
    }
}

/// Of `@@ -1,2 +3,4 @@`: lines of the old side, first line and lines of the new side.
fn hunk(line: &str) -> Option<(u64, u64, u64)> {
    let rest = line.strip_prefix("@@ -")?;
    let (ranges, _) = rest.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse::<u64>().ok()?, count.parse::<u64>().ok()?))
    };
    let ((_, old), (start, new)) = (range(old)?, range(new)?);
    Some((old, start, new))
}

/// Lines as text.
pub(crate) fn painted(lines: &[Line], colors: Colors) -> String {
    lines.iter().map(|(tone, line)| colors.paint(*tone, line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const PATCH: &str = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n-two\n+2\x1b[2J\n three\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -0,0 +1 @@\n+++ b/z\n";

    fn comments() -> Vec<ReviewComment> {
        serde_json::from_value(json!([
            {"path": "x", "line": 2, "text": "why?\nreally", "by": "pts/3", "at": "", "delivered": true},
            {"path": "y", "line": 1, "text": "no", "at": "", "delivered": false},
            {"path": "x", "line": 99, "text": "gone", "at": "", "delivered": false},
            {"text": "good\u{1b}[2J", "at": "", "delivered": false},
        ]))
        .unwrap()
    }

    #[test]
    fn comments_stand_below_their_lines() {
        expect![[r#"
            diff --git a/x b/x
            index 1..2 100644
            --- a/x
            +++ b/x
            @@ -1,3 +1,3 @@
             one
            -two
            +2\u{1b}[2J
                ▸ pts/3: why?
                  really  (delivered)
             three
            diff --git a/y b/y
            --- a/y
            +++ b/y
            @@ -0,0 +1 @@
            +++ b/z
                ▸ no
            ▸ x:99: gone
            ▸ good[2J
        "#]]
        .assert_eq(&painted(&lines(PATCH, &comments()), Colors::none()));
    }

    proptest! {
        #[test]
        fn every_comment_is_shown_once_and_nothing_acts(patch in "(?s)([-+ @]|@@ -[0-9],[0-9] \\+[0-9] @@\n|\\+\\+\\+ b/x\n|.|\n){0,60}") {
            let shown = painted(&lines(&patch, &comments()), Colors::none());
            prop_assert_eq!(shown.matches("really").count(), 1);
            prop_assert_eq!(shown.matches("gone").count(), 1);
            prop_assert!(!shown.contains('\x1b'));
        }
    }
}
