//! Histories of edits, taken back one by one.

use proptest::prelude::*;
use rookery_model::{Edit, FileOperation, Hunk, LineKind, Rollback, ThreadId, Timestamp, Undone};

use super::*;

fn modified(old: &str, new: &str) -> Vec<Edit> {
    edits(FileEdit { path: "a", old: Some(old), new: Some(new), ..FileEdit::default() })
}

fn numbered(range: std::ops::RangeInclusive<u32>) -> String {
    range.map(|number| format!("{number}\n")).collect()
}

fn first_line(edit: &Edit) -> u64 {
    if edit.new_lines == 0 { edit.new_start } else { edit.new_start - 1 }
}

/// Takes a hunk back that is where it was recorded.
fn undone(text: &str, edit: &Edit) -> Result<String, Conflict> {
    undo(text, edit, first_line(edit)).map(|reverted| reverted.text)
}

#[test]
fn hunks_have_real_lines_and_three_of_context() {
    let old = numbered(1..=30);
    let new = old.replace("10\n", "ten\n").replace("25\n", "");
    let edits = modified(&old, &new);
    assert_eq!(edits.len(), 2);
    let shape = |edit: &Edit| (edit.old_start, edit.old_lines, edit.new_start, edit.new_lines);
    assert_eq!((shape(&edits[0]), shape(&edits[1])), ((7, 7, 7, 7), (22, 7, 22, 6)));
    assert_eq!(edits[0].lines[0].text, "7\n");
    assert_eq!(
        (edits[0].lines[3].kind, edits[0].lines[4].kind),
        (LineKind::Removed, LineKind::Added)
    );
    let reverse = reverse_patch(&edits[0]).unwrap();
    assert!(reverse.contains("\n 9\n+10\n-ten\n 11\n"), "{reverse}");
    assert_eq!(undone(&undone(&new, &edits[1]).unwrap(), &edits[0]).unwrap(), old);
}

#[test]
fn made_removed_and_renamed_files_are_hunks_as_well() {
    let of = |old_path, old, new| {
        edits(FileEdit { path: "a", old_path, old, new, ..FileEdit::default() })
    };
    let made = of(None, None, Some("x\n"));
    assert_eq!((made.len(), made[0].operation, made[0].old_start), (1, FileOperation::Create, 0));
    assert_eq!((made[0].new_start, made[0].new_lines), (1, 1));
    let gone = of(None, Some(""), None);
    assert_eq!((gone.len(), gone[0].operation), (1, FileOperation::Delete));
    let moved = of(Some("b"), Some("x\n"), Some("x\n"));
    assert_eq!((moved.len(), moved[0].operation), (1, FileOperation::Rename));
    let reverse = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch\n";
    assert_eq!(reverse_patch(&moved[0]).as_deref(), Some(reverse));
    let old = numbered(1..=30);
    let new = old.replace("3\n", "x\n").replace("29\n", "y\n");
    let both = of(Some("b"), Some(&old), Some(&new));
    let operations: Vec<_> = both.iter().map(|edit| edit.operation).collect();
    assert_eq!(operations[0], FileOperation::Rename);
    assert!(operations[1..].iter().all(|it| *it == FileOperation::Modify) && operations.len() > 1);
    assert!(both.iter().all(|edit| edit.old_path.as_deref() == Some("b")));
    assert!(of(None, Some("x\n"), Some("x\n")).is_empty());
}

#[test]
fn what_is_too_large_is_kept_in_part_and_says_so() {
    let new = "é".repeat(MAX_BYTES);
    let long = edits(FileEdit { path: "a", new: Some(&new), ..FileEdit::default() });
    assert!(long[0].len() <= MAX_BYTES && long[0].obstacle.is_some());
    assert_eq!(reverse_patch(&long[0]), None);
    let new = numbered(1..=1_000_000);
    let many = edits(FileEdit { path: "a", new: Some(&new), ..FileEdit::default() });
    assert_eq!((many[0].lines.len(), many[0].new_lines), (SHOWN_LINES, 1_000_000));
    let binary = FileEdit {
        path: "a",
        old: Some(""),
        new: Some("x\n"),
        was_binary: true,
        ..FileEdit::default()
    };
    assert_eq!(edits(binary)[0].obstacle.as_deref(), Some("the file was not text before"));
}

#[test]
fn lines_that_moved_are_found_if_they_are_there_once() {
    let old = numbered(1..=9);
    let edit = modified(&old, &old.replace("5\n", "five\n")).remove(0);
    let now = format!("new\nlines\n{}", old.replace("5\n", "five\n"));
    assert_eq!(undone(&now, &edit).unwrap(), format!("new\nlines\n{old}"));
    // Twice, and neither is where it was.
    let twice = format!("x\n{0}{0}", old.replace("5\n", "five\n"));
    assert_eq!(undone(&twice, &edit), Err(Conflict::Several));
    // At its place it counts, however often it is elsewhere.
    let twice = format!("{0}{0}", old.replace("5\n", "five\n"));
    assert_eq!(undone(&twice, &edit).unwrap(), format!("{old}{}", old.replace("5\n", "five\n")));
    assert_eq!(undone(&old, &edit), Err(Conflict::Missing));
    assert_eq!(undone("", &edit), Err(Conflict::Missing));
    let context_changed = old.replace("5\n", "five\n").replace("4\n", "four\n");
    assert_eq!(undone(&context_changed, &edit), Err(Conflict::Missing));
}

#[test]
fn deleted_lines_come_back_between_their_neighbors() {
    let old = numbered(1..=9);
    let edit = modified(&old, &old.replace("5\n", "")).remove(0);
    let now = format!("0\n{}", old.replace("5\n", ""));
    assert_eq!(undone(&now, &edit).unwrap(), format!("0\n{old}"));
    // With nothing left of the file only an empty one fits.
    let all = modified("a\nb\n", "").remove(0);
    assert_eq!(undone("", &all).unwrap(), "a\nb\n");
    assert_eq!(undone("other\n", &all), Err(Conflict::Missing));
}

#[test]
fn line_ends_stay_as_the_file_has_them() {
    let old = "1\r\n2\r\n3\r\n";
    let edit = modified(old, "1\r\ntwo\r\n3\r\n").remove(0);
    assert_eq!(undone("1\r\ntwo\r\n3\r\n", &edit).unwrap(), old);
    // Converted since.
    assert_eq!(undone("1\ntwo\n3\n", &edit).unwrap(), "1\n2\n3\n");
    let edit = modified("1\n2\n3\n", "1\ntwo\n3\n").remove(0);
    assert_eq!(undone("1\r\ntwo\r\n3\r\n", &edit).unwrap(), old);
    assert_eq!(undone("1\ntwo\r\n3\n", &edit), Err(Conflict::LineEnds));
    // An edit of nothing but the ends.
    let edit = modified("1\n2\n", "1\r\n2\r\n").remove(0);
    assert_eq!(undone("1\r\n2\r\n", &edit).unwrap(), "1\n2\n");
}

#[test]
fn the_end_of_the_file_is_kept() {
    // Without a line end before, with one after, and back.
    let edit = modified("a\nb", "a\nb\nc\n").remove(0);
    assert_eq!(undone("a\nb\nc\n", &edit).unwrap(), "a\nb");
    // Others came behind it.
    assert_eq!(undone("a\nb\nc\nd\n", &edit).unwrap(), "a\nb\nd\n");
    // The end was taken away, or added, since.
    let edit = modified("a\nb\n", "a\nc\n").remove(0);
    assert_eq!(undone("a\nc", &edit).unwrap(), "a\nb");
    let edit = modified("a\nb", "a\nc").remove(0);
    assert_eq!(undone("a\nc\n", &edit).unwrap(), "a\nb\n");
    // A line in front of the last one, which has got an end since.
    let edit = modified("a\nb", "x\nb").remove(0);
    assert_eq!(undone("x\nb\nc", &edit).unwrap(), "a\nb\nc");
    assert_eq!(undone("x\nb\n", &edit).unwrap(), "a\nb\n");
    let edit = modified("a\nb\n", "x\nb\n").remove(0);
    assert_eq!(undone("x\nb", &edit).unwrap(), "a\nb");
}

/// A file with all that was done to it by one thread.
struct History {
    text: String,
    hunks: Vec<Hunk>,
    numbers: u64,
}

impl History {
    fn new(text: String) -> Self {
        Self { text, hunks: Vec::new(), numbers: 0 }
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// An edit tool writes this; gives the numbers of its hunks.
    fn edit(&mut self, new: &str) -> Vec<usize> {
        let (call, from) = (format!("c{}", self.numbers), self.hunks.len());
        for (index, edit) in modified(&self.text, new).into_iter().enumerate() {
            let hunk = Hunk {
                number: self.number(),
                id: format!("{call}-hunk-{}", index + 1),
                thread: ThreadId::new(1),
                turn: None,
                call: call.clone(),
                tool: "edit".to_owned(),
                edit,
                plan: None,
                step: None,
                checkpoint: None,
                rollback: Rollback::Available,
                is_begun: false,
                undone: None,
                at: Timestamp::default(),
            };
            self.hunks.push(hunk);
        }
        new.clone_into(&mut self.text);
        (from..self.hunks.len()).collect()
    }

    /// Takes a hunk back, or leaves the file alone. Gives where.
    fn undo(&mut self, index: usize) -> Result<Reverted, Conflict> {
        let all: Vec<&Hunk> = self.hunks.iter().collect();
        let at = expected(&self.hunks[index], &all);
        let reverted = undo(&self.text, &self.hunks[index].edit, at)?;
        let number = self.number();
        let (at, removed, added) = (reverted.at, reverted.removed, reverted.added);
        self.hunks[index].undone = Some(Undone { number, at, removed, added });
        self.text.clone_from(&reverted.text);
        Ok(reverted)
    }
}

/// A line of few words, so that lines often occur again.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(vec!["a", "b", "", "}", " x"]).prop_map(str::to_owned),
        1 => "[a-z]{1,6}é?",
    ]
}

fn text() -> impl Strategy<Value = String> {
    let lines = prop::collection::vec(line(), 0..40);
    let ends = prop_oneof![6 => Just("\n"), 1 => Just("\r\n")];
    (lines, ends, any::<bool>()).prop_map(|(lines, end, is_ended)| {
        let text = lines.join(end);
        if is_ended && !lines.is_empty() { text + end } else { text }
    })
}

/// One change of lines: where, how many go, and which come.
#[derive(Clone, Debug)]
struct Splice {
    at: prop::sample::Index,
    removed: usize,
    added: Vec<String>,
    loses_end: bool,
}

fn splice() -> impl Strategy<Value = Splice> {
    let parts = (any::<prop::sample::Index>(), 0..4_usize, prop::collection::vec(line(), 0..4));
    (parts, prop::bool::weighted(0.1)).prop_map(|((at, removed, added), loses_end)| Splice {
        at,
        removed,
        added,
        loses_end,
    })
}

fn spliced(text: &str, splices: &[Splice]) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    for splice in splices {
        let at = splice.at.index(lines.len() + 1);
        let until = (at + splice.removed).min(lines.len());
        let added = splice.added.iter().map(|line| format!("{line}{end}"));
        // Behind a last line without an end another one can only begin with that end.
        if at == lines.len()
            && !splice.added.is_empty()
            && let Some(last) = lines.last_mut()
            && !last.ends_with('\n')
        {
            last.push_str(end);
        }
        lines.splice(at..until, added);
    }
    let mut text = lines.concat();
    if splices.iter().any(|splice| splice.loses_end) {
        text.truncate(text.trim_end_matches(['\r', '\n']).len());
    }
    text
}

fn histories() -> impl Strategy<Value = (String, Vec<Vec<Splice>>)> {
    (text(), prop::collection::vec(prop::collection::vec(splice(), 1..4), 1..5))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    /// Whatever was edited: hunks that are taken back newest first, those of one edit in any order, give
    /// every state before byte for byte.
    #[test]
    fn a_history_is_taken_back_byte_for_byte(
        (text, steps) in histories(),
        seed in any::<u64>(),
    ) {
        let mut history = History::new(text);
        let mut states = Vec::new();
        for splices in &steps {
            let before = history.text.clone();
            let new = spliced(&before, splices);
            let hunks = history.edit(&new);
            prop_assert_eq!(hunks.is_empty(), before == new);
            if let Some(first) = hunks.first() {
                states.push((history.hunks[*first].call.clone(), before));
            }
        }
        for (call, before) in states.iter().rev() {
            let mut of_call: Vec<usize> =
                (0..history.hunks.len()).filter(|index| history.hunks[*index].call == *call).collect();
            // Some order.
            let turn = (seed as usize) % of_call.len();
            of_call.rotate_left(turn);
            if seed % 2 == 0 {
                of_call.reverse();
            }
            for index in of_call {
                prop_assert!(history.undo(index).is_ok(), "{:?} in {:?}", history.hunks[index], history.text);
            }
            prop_assert_eq!(&history.text, before);
        }
    }

    /// Any hunk of a history, with anything done to the file meanwhile: its lines are replaced by what was
    /// there before it and all others stay, or the file is left alone.
    #[test]
    fn a_hunk_is_taken_back_alone_or_not_at_all(
        (text, steps) in histories(),
        chosen in any::<prop::sample::Index>(),
        foreign in prop::collection::vec(splice(), 0..3),
    ) {
        let mut history = History::new(text);
        for splices in &steps {
            let new = spliced(&history.text, splices);
            history.edit(&new);
        }
        if history.hunks.is_empty() {
            return Ok(());
        }
        // What another program did is not known.
        history.text = spliced(&history.text, &foreign);
        let before = history.text.clone();
        let index = chosen.index(history.hunks.len());
        match history.undo(index) {
            Err(_) => prop_assert_eq!(&history.text, &before),
            Ok(reverted) => {
                let said = |text: &str| -> Vec<String> {
                    text.lines().map(str::to_owned).collect()
                };
                let (was, is) = (said(&before), said(&reverted.text));
                let (at, removed, added) =
                    (reverted.at as usize, reverted.removed as usize, reverted.added as usize);
                prop_assert_eq!(&was[..at], &is[..at]);
                prop_assert_eq!(&was[at + removed..], &is[at + added..]);
                let edit = &history.hunks[index].edit;
                // Outside of the hunk and its context not even the end of a line is another.
                let ended = |text: &str| -> Vec<String> {
                    text.split_inclusive('\n').map(str::to_owned).collect()
                };
                let (was_ended, is_ended) = (ended(&before), ended(&reverted.text));
                let start = at - begins(edit) as usize;
                let (new, old) = (edit.new_side().count(), edit.old_side().count());
                prop_assert_eq!(&was_ended[..start], &is_ended[..start]);
                prop_assert_eq!(&was_ended[start + new..], &is_ended[start + old..]);
                let changed = edit.lines.iter().skip(begins(edit) as usize);
                let old: Vec<String> = changed
                    .filter(|line| line.kind != LineKind::Added)
                    .map(|line| line.text.trim_end_matches(['\r', '\n']).to_owned())
                    .take(added)
                    .collect();
                prop_assert_eq!(&is[at..at + added], &old[..]);
                prop_assert!(!is.is_empty() || reverted.text.is_empty());
            }
        }
    }

    /// Where every line is another, a hunk that later edits left alone can be taken back, and what comes of it
    /// is the history without it.
    #[test]
    fn what_later_edits_left_alone_can_be_taken_back(
        lines in 60..90_usize,
        first in 0..20_usize,
        later in prop::collection::vec((30..58_usize, any::<bool>()), 0..4),
        above in any::<bool>(),
    ) {
        let base: Vec<String> = (0..lines).map(|line| format!("line {line}\n")).collect();
        let edited = |changes: &[(usize, Option<&str>)]| -> String {
            let one = |(index, line): (usize, &String)| {
                match changes.iter().find(|(at, _)| *at == index) {
                    Some((_, Some(new))) => format!("{new}{line}"),
                    Some((_, None)) => String::new(),
                    None => line.clone(),
                }
            };
            base.iter().enumerate().map(one).collect()
        };
        let mut history = History::new(base.concat());
        let mut all = vec![(first, Some("x\ny\n"))];
        let hunk = history.edit(&edited(&all))[0];
        let mut others = Vec::new();
        for (index, (at, inserts)) in later.iter().enumerate() {
            let change = (*at + index * 2, if *inserts { Some("z\n") } else { None });
            if all.iter().any(|(known, _)| *known == change.0) {
                continue;
            }
            all.push(change);
            others.push(change);
            history.edit(&edited(&all));
        }
        let mut expected = edited(&others);
        if above {
            history.text.insert_str(0, "foreign\n");
            expected.insert_str(0, "foreign\n");
        }
        history.undo(hunk).unwrap();
        prop_assert_eq!(&history.text, &expected);
    }

    #[test]
    fn nothing_panics(text in ".{0,60}", old in "(.|\n|\r\n){0,40}", new in "(.|\n|\r\n){0,40}", at in any::<u64>()) {
        for edit in modified(&old, &new) {
            let _ = (undo(&text, &edit, at), has_old_side(&text, &edit, at), reverse_patch(&edit));
        }
    }
}
