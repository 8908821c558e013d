//! Random histories of a real file: an edit of one is taken back byte for byte, or the file stays as it is.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rookery_changes::{FileEdit, edits};

use super::super::test_world::Bench;
use super::*;

const HISTORIES: usize = 10_000;
/// Few, so that the same lines come up again and again, and end in more than one way.
const LINES: [&str; 5] = ["a\n", "b\n", "\n", "a\r\n", "é\n"];
const MODE: u32 = 0o640;

/// Numbers that look drawn, the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) as usize) % end
    }

    fn text(&mut self, most: usize) -> String {
        let count = self.below(most);
        let mut text: String = (0..count).map(|_| LINES[self.below(LINES.len())]).collect();
        if self.below(4) == 0 {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text
    }

    /// The same text with some of its lines replaced.
    fn changed(&mut self, text: &str) -> String {
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        let at = self.below(lines.len() + 1);
        let until = (at + self.below(3)).min(lines.len());
        let new = self.text(4);
        lines.splice(at..until, [new.as_str()]);
        lines.concat()
    }
}

fn put(path: &Path, text: Option<&str>) {
    match text {
        Some(text) => {
            std::fs::write(path, text).unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(MODE)).unwrap();
        }
        None => drop(std::fs::remove_file(path)),
    }
}

fn found(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

fn at(edit: &Edit) -> u64 {
    if edit.new_lines == 0 { edit.new_start } else { edit.new_start - 1 }
}

/// What a file was before an edit, and the hunks of that.
type Step = (Option<String>, Vec<Edit>);

/// A history, and what the file is in the end.
fn history(draw: &mut Draw) -> (Vec<Step>, Option<String>) {
    let (mut now, mut steps) = (Some(draw.text(14)), Vec::new());
    for _ in 0..=draw.below(3) {
        let next = match (&now, draw.below(8)) {
            (None, _) => Some(draw.text(6)),
            (Some(_), 0) => None,
            (Some(text), _) => Some(draw.changed(text)),
        };
        let file = FileEdit {
            path: "f",
            old: now.as_deref(),
            new: next.as_deref(),
            mode: Some(MODE),
            ..FileEdit::default()
        };
        let made = edits(file);
        if !made.is_empty() {
            steps.push((std::mem::replace(&mut now, next), made));
        }
    }
    (steps, now)
}

#[test]
fn an_edit_of_any_history_is_taken_back_or_the_file_stays() {
    let bench = Bench::new();
    let (context, path) = (bench.context(), bench.root().join("f"));
    let mut draw = Draw(20_261_119);
    let (mut whole, mut alone, mut refused) = (0, 0, 0);
    for _ in 0..HISTORIES {
        let (steps, now) = history(&mut draw);
        let Some((before, made)) = steps.last() else { continue };
        if draw.below(2) == 0 {
            // The last step, as long as nothing else happened to the file.
            put(&path, now.as_deref());
            for edit in made.iter().rev() {
                reverted(&context, edit, at(edit), false).unwrap();
            }
            assert_eq!(found(&path), *before, "{made:?}");
            whole += 1;
        } else {
            // Any hunk of it, after another program wrote the file.
            let now = now.map(|text| draw.changed(&text));
            put(&path, now.as_deref());
            let (_, made) = &steps[draw.below(steps.len())];
            let edit = &made[draw.below(made.len())];
            match reverted(&context, edit, at(edit), false) {
                Ok(done) => {
                    let is_gone = edit.operation == FileOperation::Create;
                    assert_eq!(found(&path), (!is_gone).then_some(done.text));
                    alone += 1;
                }
                Err(RollbackError::Conflict(_)) => {
                    assert_eq!(found(&path), now);
                    refused += 1;
                }
                Err(other) => panic!("{other:?}"),
            }
        }
        if let Ok(metadata) = path.metadata() {
            assert_eq!(metadata.permissions().mode() & 0o777, MODE);
        }
        put(&path, None);
    }
    assert!(whole > 1_000 && alone > 500 && refused > 500, "{whole} {alone} {refused}");
}
