//! Patches applied to real files, and texts that may or may not be patches.

use std::os::unix::fs::PermissionsExt as _;

use proptest::prelude::*;
use similar::{TextDiff, TextDiffConfig};

use super::super::test_world::Bench;
use super::*;

async fn apply(bench: &Bench, patch: &str) -> ToolOutput {
    bench.run("apply_patch", json!({"patch": patch})).await
}

async fn refused(bench: &Bench, patch: &str) -> String {
    let before = bench.names();
    let output = apply(bench, patch).await;
    assert!(output.is_error, "{}", output.text);
    assert_eq!(bench.names(), before);
    output.text
}

#[tokio::test]
async fn all_kinds_of_actions_are_done_at_once() {
    let bench = Bench::new();
    bench.file("src/a.rs", "fn one() {\n    1\n}\n\nfn two() {\n    1\n}\n");
    bench.file("gone.txt", "bye\n");
    let old = bench.file("old.sh", "echo a\necho b\n");
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o755)).unwrap();
    let patch = "*** Begin Patch\n\
                 *** Update File: src/a.rs\n@@ fn two() {\n-    1\n+    2\n }\n\
                 *** Add File: new/b.txt\n+hello\n+\n+world\n\
                 *** Delete File: gone.txt\n\
                 *** Update File: old.sh\n*** Move to: bin/new.sh\n@@\n echo a\n-echo b\n+echo c\n\
                 *** End Patch\n";
    let output = apply(&bench, patch).await;
    assert_eq!(
        output.text,
        "Success. Updated src/a.rs\nAdded new/b.txt\nDeleted gone.txt\nMoved old.sh to bin/new.sh"
    );
    assert_eq!(bench.read("src/a.rs"), "fn one() {\n    1\n}\n\nfn two() {\n    2\n}\n");
    assert_eq!(bench.read("new/b.txt"), "hello\n\nworld\n");
    assert_eq!(bench.read("bin/new.sh"), "echo a\necho c\n");
    let mode = bench.root().join("bin/new.sh").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    assert_eq!(bench.names(), ["bin", "bin/new.sh", "new", "new/b.txt", "src", "src/a.rs"]);
    let operations: Vec<&str> = output.data["hunks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hunk| hunk["fileOp"].as_str().unwrap())
        .collect();
    assert_eq!(operations, ["rename", "delete", "create", "modify"]);
    assert_eq!(output.data["hunks"][3]["oldStart"], 3);
}

#[tokio::test]
async fn reverse_patches_undo_what_was_done() {
    let bench = Bench::new();
    bench.file("a.txt", "1\n2\n3\n4\n5\n");
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@ 2\n-3\n+three\n+more\n*** End Patch";
    let output = apply(&bench, patch).await;
    assert_eq!(bench.read("a.txt"), "1\n2\nthree\nmore\n4\n5\n");
    let reverse = output.data["hunks"][0]["reversePatch"].as_str().unwrap();
    assert!(!apply(&bench, reverse).await.is_error);
    assert_eq!(bench.read("a.txt"), "1\n2\n3\n4\n5\n");
}

#[tokio::test]
async fn one_that_fails_leaves_all_untouched() {
    let bench = Bench::new();
    bench.file("one", "1\n");
    bench.file("two", "2\n");
    bench.file("three", "3\n");
    let patch = "*** Begin Patch\n*** Update File: one\n@@\n-1\n+x\n*** Update File: two\n@@\n-2\n+x\n\
                 *** Add File: made/file\n+x\n*** Update File: three\n@@\n-4\n+x\n*** End Patch";
    let why = refused(&bench, patch).await;
    assert_eq!(why, "three: hunk 1 does not apply: the line \"4\" was not found");
    assert_eq!((bench.read("one").as_str(), bench.read("two").as_str()), ("1\n", "2\n"));
}

#[tokio::test]
async fn a_failure_while_writing_leaves_all_untouched() {
    let bench = Bench::new();
    bench.file("one", "1\n");
    bench.file("two", "2\n");
    // The directory of the third file would have to be where a file is.
    let patch = "*** Begin Patch\n*** Update File: one\n@@\n-1\n+x\n*** Update File: two\n@@\n-2\n+x\n\
                 *** Add File: two/file\n+x\n*** End Patch";
    refused(&bench, patch).await;
    assert_eq!((bench.read("one").as_str(), bench.read("two").as_str()), ("1\n", "2\n"));
}

#[tokio::test]
async fn hunks_follow_each_other_and_may_name_the_end() {
    let bench = Bench::new();
    bench.file("a", "x\ny\nx\ny\n");
    let twice = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+1\n@@\n-x\n+2\n*** End Patch";
    assert!(!apply(&bench, twice).await.is_error);
    assert_eq!(bench.read("a"), "1\ny\n2\ny\n");
    let last = "*** Begin Patch\n*** Update File: a\n@@\n-y\n+end\n*** End of File\n*** End Patch";
    assert!(!apply(&bench, last).await.is_error);
    assert_eq!(bench.read("a"), "1\ny\n2\nend\n");
    let append = "*** Begin Patch\n*** Update File: a\n@@\n+more\n*** End Patch";
    assert!(!apply(&bench, append).await.is_error);
    assert_eq!(bench.read("a"), "1\ny\n2\nend\nmore\n");
    let nested = "*** Begin Patch\n*** Update File: a\n@@ 1\n@@ 2\n+in\n*** End Patch";
    assert!(!apply(&bench, nested).await.is_error);
    assert_eq!(bench.read("a"), "1\ny\n2\nin\nend\nmore\n");
}

#[tokio::test]
async fn one_file_may_be_touched_twice() {
    let bench = Bench::new();
    bench.file("a", "1\n");
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** Update File: ./a\n@@\n-2\n+3\n\
                 *** Add File: b\n+x\n*** Delete File: b\n*** End Patch";
    assert_eq!(
        apply(&bench, patch).await.text,
        "Success. Updated a\nUpdated a\nAdded b\nDeleted b"
    );
    assert_eq!(bench.names(), ["a"]);
    assert_eq!(bench.read("a"), "3\n");
}

#[tokio::test]
async fn line_breaks_and_ends_stay_as_they_were() {
    let bench = Bench::new();
    bench.file("dos", "a\r\nb\r\nc\r\n");
    bench.file("open", "a\nb");
    let patch = "*** Begin Patch\n*** Update File: dos\n@@\n a\n-b\n+B\n*** Update File: open\n@@\n-a\n+A\n\
                 *** End Patch";
    assert!(!apply(&bench, patch).await.is_error);
    assert_eq!(bench.read("dos"), "a\r\nB\r\nc\r\n");
    assert_eq!(bench.read("open"), "A\nb");
    let crlf = "*** Begin Patch\r\n*** Update File: open\r\n@@\r\n-A\r\n+C\r\n*** End Patch\r\n";
    assert!(!apply(&bench, crlf).await.is_error);
    assert_eq!(bench.read("open"), "C\nb");
}

#[tokio::test]
async fn patches_that_make_no_sense_are_refused() {
    let bench = Bench::new();
    bench.file("a", "1\n1\n");
    bench.file("b", "2\n");
    let begin = |body: &str| format!("*** Begin Patch\n{body}\n*** End Patch");
    for (patch, why) in [
        (String::new(), "the patch is empty"),
        ("nonsense".into(), "the patch changes nothing"),
        ("*** Update File: a".into(), "expected a unified diff or *** Begin Patch"),
        (begin(""), "the patch changes nothing"),
        ("*** Begin Patch\n*** Add File: x\n+1".into(), "the patch does not end"),
        (begin("*** Add File: x\nno plus"), "x: a line of a new file must begin with +"),
        (begin("*** Add File: a\n+x"), "cannot add a: the file exists"),
        (begin("*** Delete File: none"), "cannot delete none: no such file"),
        (begin("*** Update File: none\n@@\n-1"), "cannot update none: no such file"),
        (begin("*** Update File: a"), "a: *** Update File has no hunk"),
        (begin("*** Update File: a\n@@"), "a: hunk 1 has no lines"),
        (begin("*** Update File: a\n@@\n?1"), "a: hunk 1: a line must begin with"),
        (begin("*** Update File: a\n@@ 7\n-1"), "a: hunk 1 does not apply: the line \"7\""),
        (begin("*** Update File: a\n@@\n-1\n-1\n-1"), "a: hunk 1 does not apply: its lines do not"),
        (
            begin("*** Update File: a\n*** Move to: b\n@@\n-1"),
            "cannot move a to b: the file exists",
        ),
        (begin("*** Update File: ../a\n@@\n-1"), "path is outside workspace: ../a"),
        (begin("*** Add File: /etc/x\n+1"), "path is outside workspace: /etc/x"),
        (begin("*** Rename File: a"), "expected *** Add File"),
        ("--- a/a\n".into(), "a/a: a line with +++ must follow"),
        ("--- a/a\n+++ b/a\n".into(), "b/a: no hunk follows"),
        (
            "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n".into(),
            "b/a: hunk 1: its header names 1 old and 1 new",
        ),
        ("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n+3\n".into(), "b/a: hunk 1: it has more lines"),
        (
            "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-9\n+2\n".into(),
            "a: hunk 1 does not apply: the line \"9\"",
        ),
        ("@@ -1 +1 @@\n-1\n+2\n".into(), "a hunk without a file"),
    ] {
        let told = refused(&bench, &patch).await;
        assert!(told.starts_with(why), "{patch:?}: {told}");
    }
    let wrong = bench.run("apply_patch", json!({"input": "x"})).await;
    assert!(wrong.text.starts_with("invalid tool call arguments: "));
}

#[tokio::test]
async fn unified_diffs_work_as_git_writes_them() {
    let bench = Bench::new();
    bench.file("a.txt", "1\n2\n3\n");
    bench.file("from.txt", "x\ny\n");
    bench.file("pure", "same\n");
    bench.file("dead", "-- a\n");
    let patch = "diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n\
                 @@ -1,3 +1,3 @@ fn x\n 1\n-2\n+two\n 3\n\
                 diff --git a/from.txt b/to.txt\nsimilarity index 50%\nrename from from.txt\n\
                 rename to to.txt\n--- a/from.txt\n+++ b/to.txt\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n\
                 diff --git a/pure b/moved\nsimilarity index 100%\nrename from pure\nrename to moved\n\
                 diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n\
                 diff --git a/dead b/dead\ndeleted file mode 100644\n--- a/dead\n+++ /dev/null\n\
                 @@ -1 +0,0 @@\n--- a\n\
                 --- /dev/null\n+++ b/new.txt\t2026-01-01\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n";
    let output = apply(&bench, patch).await;
    assert_eq!(
        output.text,
        "Success. Updated a.txt\nMoved from.txt to to.txt\nMoved pure to moved\nAdded empty\n\
         Deleted dead\nAdded new.txt"
    );
    assert_eq!(bench.read("a.txt"), "1\ntwo\n3\n");
    assert_eq!(bench.read("to.txt"), "x\nz\n");
    assert_eq!(bench.read("new.txt"), "a\nb");
    assert_eq!(bench.names(), ["a.txt", "empty", "moved", "new.txt", "to.txt"]);
}

#[tokio::test]
async fn a_diff_with_wrong_line_numbers_fits_where_its_lines_are() {
    let bench = Bench::new();
    bench.file("a", "0\n1\n2\n3\n");
    let patch = "--- a\n+++ a\n@@ -9,2 +9,2 @@\n 2\n-3\n+three\n";
    assert!(!apply(&bench, patch).await.is_error);
    assert_eq!(bench.read("a"), "0\n1\n2\nthree\n");
    let bare = "--- a/a\n+++ b/a\n@@\n-1\n+one\n";
    assert!(!apply(&bench, bare).await.is_error);
    assert_eq!(bench.read("a"), "0\none\n2\nthree\n");
}

fn text() -> impl Strategy<Value = String> {
    let line = "(a|b|c|-- x|\\+\\+ y|@@|\\*\\*\\* End Patch| |é|\\\\ n|)";
    (prop::collection::vec(line, 0..14), any::<bool>()).prop_map(|(lines, is_ended)| {
        let mut text = lines.join("\n");
        if is_ended && !lines.is_empty() {
            text.push('\n');
        }
        text
    })
}

proptest! {
    #[test]
    fn no_text_makes_the_parsers_panic(patch in "(?s).{0,200}", text in text()) {
        for actions in [parse(&patch), begin::parse(&patch), unified::parse(&patch)] {
            for action in actions.into_iter().flatten() {
                if let Action::Update { path, hunks, .. } = action {
                    let _ = fit::apply(&path, &text, &hunks);
                }
            }
        }
    }

    #[test]
    fn patches_like_texts_do_not_panic(
        lines in prop::collection::vec(
            "(\\*\\*\\* (Begin Patch|End Patch|Add File: a|Update File: b|Move to: c|End of File)|@@( -[0-9]{1,20}(,[0-9]{1,3})? \\+[0-9],?[0-9]? @@)?|--- a|\\+\\+\\+ b|[-+ \\\\]x?|)", 0..20),
        text in text(),
    ) {
        for actions in [parse(&lines.join("\n")), unified::parse(&lines.join("\n"))] {
            for action in actions.into_iter().flatten() {
                if let Action::Update { path, hunks, .. } | Action::Delete { path, hunks } = action {
                    let _ = fit::apply(&path, &text, &hunks);
                }
            }
        }
    }

    #[test]
    fn a_diff_leads_from_the_old_text_to_the_new(old in text(), new in text(), context in 0_usize..4) {
        let (olds, news): (Vec<&str>, Vec<&str>) =
            (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
        let diff: TextDiff<'_, '_, str> =
            TextDiffConfig::default().newline_terminated(true).diff_slices(&olds, &news);
        let patch = diff.unified_diff().context_radius(context).header("a/f", "b/f").to_string();
        prop_assume!(old != new);
        let actions = parse(&patch).map_err(|why| TestCaseError::fail(format!("{why}\n{patch}")))?;
        let [Action::Update { path, to: None, hunks }] = &actions[..] else {
            return Err(TestCaseError::fail(format!("{actions:?}\n{patch}")));
        };
        let made = fit::apply(path, &old, hunks);
        prop_assert_eq!(made.as_deref(), Ok(new.as_str()), "{}", patch);
    }
}
