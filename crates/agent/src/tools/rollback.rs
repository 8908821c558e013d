//! Takes an edit of a tool back, under the same lock and by the same means as the tools that edit.
//!
//! Paths are taken by their word: what leads anywhere else by a link, or out of the workspace, is refused.

use std::path::{Component, Path};

use rookery_changes::{Reverted, has_old_side, is_taken_back, undo};
use rookery_model::{Edit, FileOperation};

use super::paths::{self, Place};
use super::planned::Planned;
use super::writing::{self, Change};
use crate::tool::{PathScope, ToolContext};

/// Lines that are read at once.
const MOST_LINES: u32 = 200;
/// The largest file that is read.
const MAX_FILE: u64 = 64 << 20;

/// Why an edit was not taken back. The files are as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RollbackError {
    /// The file is another by now.
    Conflict(String),
    /// It was taken back before, by a daemon that could not note it any more.
    Already,
    /// It could not be done, which says nothing of the file.
    Failed(String),
}

/// Takes an edit back, whose new lines should be at `at`. `was_begun` says that this was tried before,
/// and that it is not known whether it was done.
///
/// # Errors
/// If the file does not fit, or cannot be read or written.
pub async fn roll_back(
    context: ToolContext,
    edit: Edit,
    at: u64,
    was_begun: bool,
) -> Result<Reverted, RollbackError> {
    let work = tokio::task::spawn_blocking(move || {
        let context = ToolContext { scope: PathScope::Workspace, ..context };
        let named: Vec<String> =
            std::iter::once(edit.path.clone()).chain(edit.old_path.clone()).collect();
        let _alone = writing::exclusive(&context, &named);
        reverted(&context, &edit, at, was_begun)
    });
    work.await.unwrap_or_else(|error| Err(RollbackError::Failed(error.to_string())))
}

fn conflict<T>(reason: impl Into<String>) -> Result<T, RollbackError> {
    Err(RollbackError::Conflict(reason.into()))
}

fn reverted(
    context: &ToolContext,
    edit: &Edit,
    at: u64,
    was_begun: bool,
) -> Result<Reverted, RollbackError> {
    let place = place(context, &edit.path)?;
    match edit.operation {
        FileOperation::Create => remove(context, edit, &place, was_begun),
        FileOperation::Delete => recreate(context, edit, &place, was_begun),
        FileOperation::Modify => modify(context, edit, place, at, was_begun),
        FileOperation::Rename => rename(context, edit, &place, at, was_begun),
    }
}

/// Where a file of a hunk is, if its name still leads there.
fn place(context: &ToolContext, shown: &str) -> Result<Place, RollbackError> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if !Path::new(shown).components().all(is_plain) {
        return conflict(format!("{shown} is outside of the workspace"));
    }
    let place = paths::resolve(context, shown).map_err(RollbackError::Conflict)?;
    match place.shown == shown {
        true => Ok(place),
        false => conflict(format!("{shown} leads to {} by a link now", place.shown)),
    }
}

fn exists(context: &ToolContext, place: &Place) -> Result<bool, RollbackError> {
    paths::exists(context, place).map_err(RollbackError::Failed)
}

/// What a file contains.
fn read(context: &ToolContext, place: &Place) -> Result<Vec<u8>, RollbackError> {
    if !exists(context, place)? {
        return conflict(format!("{} is not there any more", place.shown));
    }
    paths::read(context, place, MAX_FILE).map_err(|why| match context.files {
        // A machine that does not answer says nothing of the file.
        Some(_) => RollbackError::Failed(why),
        None => RollbackError::Conflict(why),
    })
}

fn commit(context: &ToolContext, changes: Vec<Change>) -> Result<(), RollbackError> {
    let planned = Planned { changes, files: Vec::new() };
    planned.commit(context).map_err(RollbackError::Failed)
}

/// Removes a file that was made, if it is as it was made.
fn remove(
    context: &ToolContext,
    edit: &Edit,
    place: &Place,
    was_begun: bool,
) -> Result<Reverted, RollbackError> {
    if was_begun && !exists(context, place)? {
        return Err(RollbackError::Already);
    }
    let made: String = edit.new_side().collect();
    if read(context, place)? != made.as_bytes() {
        return conflict(format!("{} was changed since it was made", place.shown));
    }
    commit(context, vec![Change { path: place.path.clone(), content: None, mode: None }])?;
    Ok(Reverted { text: String::new(), at: 0, removed: edit.new_lines, added: 0 })
}

/// Makes a file again that was removed.
fn recreate(
    context: &ToolContext,
    edit: &Edit,
    place: &Place,
    was_begun: bool,
) -> Result<Reverted, RollbackError> {
    let text: String = edit.old_side().collect();
    if exists(context, place)? {
        let is_same = || read(context, place).is_ok_and(|bytes| bytes == text.as_bytes());
        return match was_begun && is_same() {
            true => Err(RollbackError::Already),
            false => conflict(format!("{} is there again", place.shown)),
        };
    }
    let content = Some(text.clone().into_bytes());
    commit(context, vec![Change { path: place.path.clone(), content, mode: edit.mode }])?;
    Ok(Reverted { text, at: 0, removed: 0, added: edit.old_lines })
}

/// Puts old lines in the place of new ones. A file that was renamed in between may have its name back.
fn modify(
    context: &ToolContext,
    edit: &Edit,
    place: Place,
    at: u64,
    was_begun: bool,
) -> Result<Reverted, RollbackError> {
    let is_there = exists(context, &place)?;
    let place = match edit.old_path.as_deref().filter(|_| !is_there) {
        Some(old_path) => self::place(context, old_path)?,
        None => place,
    };
    let reverted = undone(&read(context, &place)?, &place, edit, at, was_begun)?;
    let content = Some(reverted.text.clone().into_bytes());
    commit(context, vec![Change { path: place.path, content, mode: None }])?;
    Ok(reverted)
}

fn undone(
    bytes: &[u8],
    place: &Place,
    edit: &Edit,
    at: u64,
    was_begun: bool,
) -> Result<Reverted, RollbackError> {
    let Ok(text) = str::from_utf8(bytes) else {
        return conflict(format!("{} is not text any more", place.shown));
    };
    // Looked at first: the new lines may be elsewhere as well, where the edit never was.
    if was_begun && is_taken_back(text, edit, at) {
        return Err(RollbackError::Already);
    }
    undo(text, edit, at).map_err(|why| match was_begun && has_old_side(text, edit, at) {
        true => RollbackError::Already,
        false => RollbackError::Conflict(format!("{}: {why}", place.shown)),
    })
}

/// Gives a file its old name back, and its old lines.
fn rename(
    context: &ToolContext,
    edit: &Edit,
    place: &Place,
    at: u64,
    was_begun: bool,
) -> Result<Reverted, RollbackError> {
    let Some(old_path) = edit.old_path.as_deref() else {
        return conflict("the old name is not known");
    };
    let old = self::place(context, old_path)?;
    if exists(context, &old)? {
        return match was_begun && !exists(context, place)? {
            true => Err(RollbackError::Already),
            false => conflict(format!("{old_path} is there again")),
        };
    }
    let bytes = read(context, place)?;
    let (reverted, content) = match edit.lines.is_empty() {
        true => (Reverted { text: String::new(), at: 0, removed: 0, added: 0 }, bytes),
        false => {
            let reverted = undone(&bytes, place, edit, at, was_begun)?;
            let content = reverted.text.clone().into_bytes();
            (reverted, content)
        }
    };
    let changes = vec![
        Change { path: old.path, content: Some(content), mode: paths::mode(context, place) },
        Change { path: place.path.clone(), content: None, mode: None },
    ];
    commit(context, changes)?;
    Ok(reverted)
}

/// Lines of a file, from 1 on, both included; none if they cannot be read.
pub async fn read_lines(
    context: ToolContext,
    path: String,
    first: u32,
    last: u32,
) -> Option<String> {
    let work = tokio::task::spawn_blocking(move || {
        let context = ToolContext { scope: PathScope::Workspace, ..context };
        let place = paths::resolve(&context, &path).ok()?;
        let text = paths::read_text(&context, &place).ok()?;
        let count = last.checked_sub(first)?.min(MOST_LINES) as usize + 1;
        let lines = text.lines().skip(first.checked_sub(1)? as usize).take(count);
        let lines: Vec<&str> = lines.collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    });
    work.await.ok()?
}

#[cfg(test)]
mod histories;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use rookery_changes::expected;
    use rookery_model::{Hunk, Rollback, ThreadId, Timestamp};
    use serde_json::{Value, json};

    use super::super::test_world::Bench;
    use super::*;

    /// Runs an edit tool and gives what it did.
    async fn edits(bench: &Bench, tool: &str, arguments: Value) -> Vec<Edit> {
        let output = bench.run(tool, arguments).await;
        assert!(!output.is_error, "{}", output.text);
        assert!(!output.edits.is_empty());
        output.edits
    }

    async fn patch(bench: &Bench, patch: &str) -> Vec<Edit> {
        edits(bench, "apply_patch", json!({"patch": patch})).await
    }

    fn at(edit: &Edit) -> u64 {
        if edit.new_lines == 0 { edit.new_start } else { edit.new_start - 1 }
    }

    async fn back(bench: &Bench, edit: &Edit) -> Result<Reverted, RollbackError> {
        roll_back(bench.context(), edit.clone(), at(edit), false).await
    }

    #[tokio::test]
    async fn every_tool_is_undone() {
        let bench = Bench::new();
        let script = bench.file("run.sh", "one\r\ntwo\r\nthree");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o751)).unwrap();
        let edit = json!({"path": "run.sh", "old_string": "two", "new_string": "2\r\n2.5"});
        let edit = edits(&bench, "edit", edit).await;
        back(&bench, &edit[0]).await.unwrap();
        assert_eq!(bench.read("run.sh"), "one\r\ntwo\r\nthree");
        let mode = || script.metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode(), 0o751);
        let both = [
            json!({"old_string": "one", "new_string": "1"}),
            json!({"old_string": "three", "new_string": "3"}),
        ];
        let edit = edits(&bench, "multi_edit", json!({"path": "run.sh", "edits": both})).await;
        back(&bench, &edit[0]).await.unwrap();
        assert_eq!(bench.read("run.sh"), "one\r\ntwo\r\nthree");
        let edit =
            edits(&bench, "write_file", json!({"path": "run.sh", "content": "all new"})).await;
        back(&bench, &edit[0]).await.unwrap();
        assert_eq!(bench.read("run.sh"), "one\r\ntwo\r\nthree");
        let edit = edits(&bench, "write_file", json!({"path": "new/file", "content": "x"})).await;
        back(&bench, &edit[0]).await.unwrap();
        assert!(!bench.root().join("new/file").exists());
        let edit = patch(&bench, "*** Begin Patch\n*** Delete File: run.sh\n*** End Patch").await;
        assert!(!script.exists());
        back(&bench, &edit[0]).await.unwrap();
        assert_eq!((bench.read("run.sh").as_str(), mode()), ("one\r\ntwo\r\nthree", 0o751));
    }

    #[tokio::test]
    async fn a_renamed_file_gets_its_name_back_in_any_order() {
        let lines: String = (1..=30).map(|number| format!("{number}\n")).collect();
        let change = "*** Begin Patch\n*** Update File: a\n*** Move to: b/c\n@@\n-2\n+two\n 3\n@@ 28\n-29\n+last\n*** End Patch";
        for order in [[0, 1], [1, 0]] {
            let bench = Bench::new();
            let path = bench.file("a", &lines);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
            let edit = patch(&bench, change).await;
            assert_eq!((edit.len(), edit[0].operation), (2, FileOperation::Rename));
            assert!(!path.exists());
            for index in order {
                back(&bench, &edit[index]).await.unwrap();
            }
            assert_eq!(bench.read("a"), lines);
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o600);
            assert!(!bench.root().join("b/c").exists());
        }
        let bench = Bench::new();
        std::fs::write(bench.root().join("bytes"), b"\xff").unwrap();
        bench.file("x", "x");
        let edit =
            patch(&bench, "*** Begin Patch\n*** Update File: x\n*** Move to: y\n*** End Patch")
                .await;
        bench.file("x", "another");
        let refused = back(&bench, &edit[0]).await;
        assert_eq!(refused, Err(RollbackError::Conflict("x is there again".into())));
        assert_eq!((bench.read("x").as_str(), bench.read("y").as_str()), ("another", "x"));
    }

    #[tokio::test]
    async fn what_does_not_fit_leaves_the_file_alone() {
        let bench = Bench::new();
        bench.file("a", "one\ntwo\n");
        let edit = edits(&bench, "write_file", json!({"path": "a", "content": "1\ntwo\n"})).await;
        for now in ["1!\ntwo\n", "", "2\n"] {
            bench.file("a", now);
            let Err(RollbackError::Conflict(why)) = back(&bench, &edit[0]).await else { panic!() };
            assert_eq!(why, "a: the changed lines are not in the file any more");
            assert_eq!(bench.read("a"), now);
        }
        std::fs::write(bench.root().join("a"), b"1\n\xff").unwrap();
        assert!(matches!(back(&bench, &edit[0]).await, Err(RollbackError::Conflict(_))));
        std::fs::remove_file(bench.root().join("a")).unwrap();
        let Err(RollbackError::Conflict(why)) = back(&bench, &edit[0]).await else { panic!() };
        assert_eq!(why, "a is not there any more");
        let made = edits(&bench, "write_file", json!({"path": "m", "content": "m"})).await;
        bench.file("m", "m\n");
        let Err(RollbackError::Conflict(why)) = back(&bench, &made[0]).await else { panic!() };
        assert_eq!(why, "m was changed since it was made");
    }

    #[tokio::test]
    async fn attack_no_path_leads_out() {
        let bench = Bench::new();
        let outside = tempfile::tempdir().unwrap();
        bench.file("dir/a", "one\n");
        let edit = edits(&bench, "write_file", json!({"path": "dir/a", "content": "1\n"})).await;
        let target = outside.path().join("a");
        std::fs::write(&target, "1\n").unwrap();
        std::fs::remove_dir_all(bench.root().join("dir")).unwrap();
        symlink(outside.path(), bench.root().join("dir")).unwrap();
        assert!(matches!(back(&bench, &edit[0]).await, Err(RollbackError::Conflict(_))));
        // A link that stays inside leads elsewhere as well.
        std::fs::remove_file(bench.root().join("dir")).unwrap();
        bench.file("real/a", "1\n");
        symlink("real", bench.root().join("dir")).unwrap();
        let Err(RollbackError::Conflict(why)) = back(&bench, &edit[0]).await else { panic!() };
        assert_eq!(why, "dir/a leads to real/a by a link now");
        for path in ["../a", "/etc/hostname", "a/../../b", "."] {
            let edit = Edit { path: path.to_owned(), ..edit[0].clone() };
            assert!(matches!(back(&bench, &edit).await, Err(RollbackError::Conflict(_))), "{path}");
        }
        assert_eq!(std::fs::read_to_string(target).unwrap(), "1\n");
        assert_eq!(bench.read("real/a"), "1\n");
    }

    fn contents() -> impl proptest::strategy::Strategy<Value = String> {
        use proptest::prelude::*;
        let line = prop::sample::select(vec!["a", "b", "", "}", " x", "é"]);
        let parts = (prop::collection::vec(line, 0..16), any::<bool>(), prop::bool::weighted(0.2));
        parts.prop_map(|(lines, is_ended, has_returns)| {
            let end = if has_returns { "\r\n" } else { "\n" };
            let text = lines.join(end);
            if is_ended { text + end } else { text }
        })
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config {
            cases: 200,
            ..proptest::test_runner::Config::default()
        })]

        /// What is written is what the lines of the file come to, byte for byte, or nothing is.
        #[test]
        fn histories_of_a_file_are_taken_back_byte_for_byte_or_not_at_all(
            texts in proptest::collection::vec(contents(), 2..6),
            foreign in contents(),
            chosen in proptest::prelude::any::<proptest::sample::Index>(),
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let bench = Bench::new();
                bench.file("f", &texts[0]);
                let mut hunks: Vec<Hunk> = Vec::new();
                for (call, text) in texts.iter().enumerate().skip(1) {
                    let output = bench.run("write_file", json!({"path": "f", "content": text})).await;
                    assert!(!output.is_error, "{}", output.text);
                    for edit in output.edits {
                        hunks.push(hunk(hunks.len() as u64, call, edit));
                    }
                }
                if hunks.is_empty() {
                    return;
                }
                // What another program wrote in front of it.
                let before = format!("{foreign}{}", bench.read("f"));
                bench.file("f", &before);
                let hunk = &hunks[chosen.index(hunks.len())];
                let at = expected(hunk, &hunks.iter().collect::<Vec<_>>());
                let wanted = undo(&before, &hunk.edit, at).ok();
                let done = roll_back(bench.context(), hunk.edit.clone(), at, false).await;
                assert_eq!(done.as_ref().ok(), wanted.as_ref());
                assert_eq!(bench.read("f"), wanted.map_or(before, |reverted| reverted.text));
            });
        }
    }

    fn hunk(number: u64, call: usize, edit: Edit) -> Hunk {
        Hunk {
            number,
            id: format!("h{number}"),
            thread: ThreadId::new(1),
            turn: None,
            call: format!("c{call}"),
            tool: "write_file".to_owned(),
            edit,
            plan: None,
            step: None,
            checkpoint: None,
            rollback: Rollback::Available,
            is_begun: false,
            undone: None,
            at: Timestamp::default(),
        }
    }

    #[tokio::test]
    async fn what_a_daemon_did_before_it_died_is_recognized() {
        let bench = Bench::new();
        bench.file("a", "one\ntwo\n");
        let again =
            async |edit: &Edit| roll_back(bench.context(), edit.clone(), at(edit), true).await;
        let edit = edits(&bench, "write_file", json!({"path": "a", "content": "1\ntwo\n"})).await;
        back(&bench, &edit[0]).await.unwrap();
        assert_eq!(again(&edit[0]).await, Err(RollbackError::Already));
        bench.file("a", "neither\n");
        assert!(matches!(again(&edit[0]).await, Err(RollbackError::Conflict(_))));
        let made = edits(&bench, "write_file", json!({"path": "m", "content": "m"})).await;
        back(&bench, &made[0]).await.unwrap();
        assert_eq!(again(&made[0]).await, Err(RollbackError::Already));
        let gone = patch(&bench, "*** Begin Patch\n*** Delete File: a\n*** End Patch").await;
        back(&bench, &gone[0]).await.unwrap();
        assert_eq!(again(&gone[0]).await, Err(RollbackError::Already));
        let moved =
            patch(&bench, "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch")
                .await;
        back(&bench, &moved[0]).await.unwrap();
        assert_eq!(again(&moved[0]).await, Err(RollbackError::Already));
        // What the edit was about may be elsewhere as well, and stays there.
        let copied = "x\n1\n2\n3\n4\n5\n6\nelse\n1\n2\n3\nX\n4\n5\n6\n";
        let before = copied.replacen("3\n4", "3\nX\n4", 1);
        bench.file("c", copied);
        let edit =
            edits(&bench, "write_file", json!({"path": "c", "content": before})).await.remove(0);
        assert_eq!(edit.lines.len(), 7);
        bench.file("c", copied);
        assert_eq!(again(&edit).await, Err(RollbackError::Already));
        assert_eq!(bench.read("c"), copied);
        // The last line of a file, removed.
        bench.file("d", "1\n2\n3\n4\n");
        let edit = edits(&bench, "write_file", json!({"path": "d", "content": "1\n2\n3\n"})).await;
        back(&bench, &edit[0]).await.unwrap();
        assert_eq!(again(&edit[0]).await, Err(RollbackError::Already));
        assert_eq!(bench.read("d"), "1\n2\n3\n4\n");
        // Begun and not done, it is done now.
        let made = edits(&bench, "write_file", json!({"path": "m", "content": "m"})).await;
        again(&made[0]).await.unwrap();
    }
}
