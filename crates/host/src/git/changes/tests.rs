//! Real repositories, friendly and hostile.

use std::collections::BTreeSet;
use std::fs;

use super::super::testing::{Place, Traps, git_in};
use super::*;

/// Lists a repository: path, status, lines, and where the change lies.
async fn listed(place: &Place) -> Vec<(String, Status, u64, u64, String)> {
    let list = list(&place.top).await.unwrap();
    let row = |file: FileChange| {
        let letters = file.areas.iter().map(|area| match area {
            Area::Committed => 'c',
            Area::Staged => 's',
            Area::Unstaged => 'w',
            Area::Untracked => 'u',
        });
        let path = String::from_utf8_lossy(&file.path).into_owned();
        (path, file.status, file.additions, file.deletions, letters.collect())
    };
    list.files.into_iter().map(row).collect()
}

fn row(
    path: &str,
    status: Status,
    additions: u64,
    deletions: u64,
    areas: &str,
) -> (String, Status, u64, u64, String) {
    (path.to_owned(), status, additions, deletions, areas.to_owned())
}

async fn patch(place: &Place, path: &str) -> Patch {
    read(&place.top, path, PatchOptions::default()).await.unwrap()
}

async fn in_area(place: &Place, path: &str, area: Area) -> String {
    let options = PatchOptions { area: Some(area), ..PatchOptions::default() };
    read(&place.top, path, options).await.unwrap().text
}

/// A branch `work` that left `main` after its first commit.
async fn branched() -> Place {
    let place = Place::new().await;
    place.git(["checkout", "--quiet", "-b", "work"]).await;
    place
}

#[tokio::test]
async fn a_clean_tree_has_no_changes_and_no_tree_is_an_error() {
    let place = Place::new().await;
    let list = super::list(&place.path("sub")).await.unwrap();
    assert_eq!((list.top, list.files), (place.top.clone(), Vec::new()));
    assert_eq!((list.branch.as_deref(), list.base.name.as_deref()), (Some("main"), Some("main")));
    assert_eq!(list.head.as_ref(), Some(&list.base.tree));
    let plain = tempfile::tempdir().unwrap();
    assert!(matches!(super::list(plain.path()).await, Err(GitError::NotARepository(_))));
    let missing = plain.path().join("missing");
    assert_eq!(super::list(&missing).await, Err(GitError::NoSuchPath(missing)));
}

#[tokio::test]
async fn all_areas_are_counted_from_where_the_branch_left() {
    let place = branched().await;
    place.write("committed", "a\nb\n");
    place.write("all", "1\n");
    place.commit("on the branch").await;
    place.write("all", "1\n2\n");
    place.write("staged", "s\n");
    place.git(["add", "all", "staged"]).await;
    place.write("all", "1\n2\n3\n");
    place.write("kept", "one\n2\nthree\n");
    place.remove("sub/deep");
    place.write("unknown/é sp\tand\nline", "x\ny");
    place.write("binary", b"a\0b\n");
    place.write(".gitignore", "ignored\n");
    place.write("ignored", "no\n");
    let (a, m, d, u) = (Status::Added, Status::Modified, Status::Deleted, Status::Untracked);
    assert_eq!(
        listed(&place).await,
        [
            row(".gitignore", u, 1, 0, "u"),
            row("all", a, 3, 0, "csw"),
            row("binary", u, 0, 0, "u"),
            row("committed", a, 2, 0, "c"),
            row("kept", m, 1, 1, "w"),
            row("staged", a, 1, 0, "s"),
            row("sub/deep", d, 0, 1, "w"),
            row("unknown/é sp\tand\nline", u, 2, 0, "u"),
        ]
    );
    let list = list(&place.top).await.unwrap();
    assert_eq!(list.base.name.as_deref(), Some("main"));
    assert_ne!(list.head.as_ref(), Some(&list.base.tree));
    assert!(list.files.iter().any(|file| file.path == b"binary" && file.is_binary));
}

#[tokio::test]
async fn renames_have_both_names_and_the_patch_is_against_the_old_one() {
    let place = branched().await;
    place.write("d/m.txt", "one\ntwo\nthree\nfour\nfive\n");
    place.git(["checkout", "--quiet", "main"]).await;
    place.commit("first").await;
    place.git(["checkout", "--quiet", "-B", "work"]).await;
    place.git(["mv", "d/m.txt", "d/né w.txt"]).await;
    place.write("d/né w.txt", "one\ntwo\n3\nfour\nfive\n");
    assert_eq!(listed(&place).await, [row("d/né w.txt", Status::Renamed, 1, 1, "sw")]);
    let old = list(&place.top).await.unwrap().files[0].old_path.clone();
    assert_eq!(old.as_deref(), Some(b"d/m.txt".as_slice()));
    let patch = patch(&place, "d/né w.txt").await.text;
    assert!(patch.contains("rename from d/m.txt\nrename to d/né w.txt\n"), "{patch}");
    assert!(patch.contains("\n-three\n+3\n"), "{patch}");
    assert!(!patch.contains("new file mode"), "{patch}");
    assert_eq!(in_area(&place, "d/né w.txt", Area::Unstaged).await.matches("rename").count(), 0);
}

#[tokio::test]
async fn the_base_is_the_upstream_then_origin_then_the_usual_names() {
    let place = Place::new().await;
    let first = place.says(["rev-parse", "HEAD"]).await;
    let base = async || {
        let list = list(&place.top).await.unwrap();
        (list.base.name, list.base.tree.as_str().to_owned())
    };
    place.git(["checkout", "--quiet", "-b", "work"]).await;
    place.write("more", "x\n");
    place.commit("second").await;
    assert_eq!(base().await, (Some("main".into()), first.clone()));
    place.git(["update-ref", "refs/remotes/origin/main", &first]).await;
    assert_eq!(base().await, (Some("origin/main".into()), first.clone()));
    place.git(["update-ref", "refs/remotes/origin/trunk", &first]).await;
    let head = "refs/remotes/origin/HEAD";
    place.git(["symbolic-ref", head, "refs/remotes/origin/trunk"]).await;
    assert_eq!(base().await, (Some("origin/trunk".into()), first.clone()));
    place.git(["config", "branch.work.remote", "."]).await;
    place.git(["config", "branch.work.merge", "refs/heads/feature"]).await;
    // An upstream that is gone is passed over.
    assert_eq!(base().await.0, Some("origin/trunk".into()));
    place.git(["branch", "feature", "main"]).await;
    assert_eq!(base().await, (Some("feature".into()), first.clone()));
    // Detached, there is no branch and so no upstream.
    place.git(["checkout", "--quiet", "--detach"]).await;
    let list = super::list(&place.top).await.unwrap();
    assert_eq!((list.branch, list.base.name), (None, Some("origin/trunk".into())));
    // Without a common past the head itself is the base.
    place.git(["checkout", "--quiet", "--orphan", "alone"]).await;
    place.commit("alone").await;
    for name in [head, "refs/remotes/origin/trunk", "refs/remotes/origin/main", "refs/heads/main"] {
        place.git(["update-ref", "--no-deref", "-d", name]).await;
    }
    assert_eq!(base().await.0, Some("HEAD".into()));
}

#[tokio::test]
async fn a_repository_without_a_commit_is_all_new() {
    let place = Place::empty().await;
    place.write("staged", "a\n");
    place.git(["add", "staged"]).await;
    place.write("unknown", "b\nc\n");
    let list = super::list(&place.top).await.unwrap();
    assert_eq!((list.base.name, list.head), (None, None));
    assert_eq!(list.branch.as_deref(), Some("main"));
    let (a, u) = (Status::Added, Status::Untracked);
    assert_eq!(listed(&place).await, [row("staged", a, 1, 0, "s"), row("unknown", u, 2, 0, "u")]);
    assert!(patch(&place, "staged").await.text.contains("\n+a\n"));
    assert!(in_area(&place, "staged", Area::Staged).await.contains("\n+a\n"));
}

#[tokio::test]
async fn unknown_files_are_shown_as_added() {
    let place = Place::new().await;
    place.write("text", "one\ntwo");
    place.write("bytes", b"a\0b");
    place.write("latin", b"\xe9t\xe9\n");
    place.write("empty", "");
    place.write("run", "#!/bin/sh\n");
    place.mode("run", 0o755);
    let text = "diff --git a/text b/text\nnew file mode 100644\n--- /dev/null\n+++ b/text\n\
                @@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n";
    assert_eq!(patch(&place, "text").await.text, text);
    let bytes = "diff --git a/bytes b/bytes\nnew file mode 100644\nBinary files /dev/null and b/bytes differ\n";
    let read = patch(&place, "bytes").await;
    assert_eq!((read.text.as_str(), read.is_binary), (bytes, true));
    assert!(patch(&place, "latin").await.is_binary);
    let read = patch(&place, "empty").await;
    assert_eq!(read.text, "diff --git a/empty b/empty\nnew file mode 100644\n");
    assert!(patch(&place, "run").await.text.contains("new file mode 100755\n"));
    assert_eq!(in_area(&place, "text", Area::Untracked).await, text);
    assert_eq!(in_area(&place, "text", Area::Staged).await, "");
    assert_eq!(patch(&place, "none").await, Patch::default());
    assert_eq!(patch(&place, "kept").await, Patch::default());
    // A directory is no file, and a pattern is a name.
    place.write("dir/a", "x\n");
    assert_eq!(patch(&place, "dir").await, Patch::default());
    assert_eq!(patch(&place, "*").await, Patch::default());
    assert_eq!(patch(&place, ":/text").await, Patch::default());
}

#[tokio::test]
async fn a_large_unknown_file_is_listed_and_not_read() {
    let place = Place::new().await;
    fs::File::create(place.path("large")).unwrap().set_len(MAX_UNTRACKED + 1).unwrap();
    fs::File::create(place.path("fits")).unwrap().set_len(MAX_UNTRACKED).unwrap();
    let files = list(&place.top).await.unwrap().files;
    let large = files.iter().find(|file| file.path == b"large").unwrap();
    assert_eq!((large.is_too_large, large.is_binary, large.additions), (true, false, 0));
    let fits = files.iter().find(|file| file.path == b"fits").unwrap();
    assert_eq!((fits.is_too_large, fits.is_binary), (false, true));
    let read = patch(&place, "large").await;
    assert!(read.is_too_large && read.text.ends_with("b/large differ\n"));
}

#[tokio::test]
async fn links_and_submodules_are_listed_and_not_followed() {
    let place = Place::new().await;
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "the secret\n").unwrap();
    let secret = outside.path().join("secret").display().to_string();
    place.link("link", &secret);
    place.link("way", &outside.path().display().to_string());
    let inner = place.path("inner");
    fs::create_dir(&inner).unwrap();
    git_in(&inner, ["init", "--quiet"]).await;
    fs::write(inner.join("hidden"), "x\n").unwrap();
    let u = Status::Untracked;
    assert_eq!(
        listed(&place).await,
        [row("inner", u, 0, 0, "u"), row("link", u, 1, 0, "u"), row("way", u, 1, 0, "u")]
    );
    let read = patch(&place, "link").await.text;
    assert!(read.contains("new file mode 120000\n"), "{read}");
    assert!(read.contains(&format!("+{secret}\n")) && !read.contains("the secret"), "{read}");
    assert_eq!(patch(&place, "way/secret").await, Patch::default());
    // Known to git, a repository in the repository is one entry.
    git_in(
        &inner,
        ["-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "m"],
    )
    .await;
    place.git(["add", "inner"]).await;
    fs::write(inner.join(".git/config"), "[core]\n\tfsmonitor = /bin/false\n").unwrap();
    let files = list(&place.top).await.unwrap().files;
    let inner = files.iter().find(|file| file.path == b"inner").unwrap();
    assert_eq!((inner.status, inner.additions), (Status::Added, 1));
    assert!(patch(&place, "inner").await.text.contains("+Subproject commit "));
}

#[tokio::test]
async fn binaries_white_space_and_conflicts_are_distinguished() {
    let place = Place::new().await;
    place.write("kept", b"one\0\n");
    let read = patch(&place, "kept").await;
    assert!(read.is_binary && read.text.contains("Binary files a/kept and b/kept differ"));
    place.write("kept", "one\n  two\nthree\n");
    let options = PatchOptions { ignores_whitespace: true, ..PatchOptions::default() };
    assert!(patch(&place, "kept").await.text.contains("\n-two\n+  two\n"));
    assert_eq!(
        super::read(&place.top, "kept", options).await.unwrap().text.matches("@@").count(),
        0
    );
    place.commit("mine").await;
    place.git(["checkout", "--quiet", "-b", "other", "HEAD~1"]).await;
    place.write("kept", "theirs\n");
    place.commit("theirs").await;
    let merge = crate::Script {
        cwd: Some(place.top.clone()),
        ..crate::Script::new(["git", "-c", "user.name=n", "-c", "user.email=e", "merge", "main"])
    };
    assert!(!merge.run().await.is_success(), "there is a conflict");
    let files = listed(&place).await;
    assert_eq!(files.len(), 1);
    assert_eq!((files[0].0.as_str(), files[0].1), ("kept", Status::Modified));
    assert!(patch(&place, "kept").await.text.contains("<<<<<<<"));
}

#[tokio::test]
async fn what_is_gone_from_the_index_and_still_there_is_listed_once() {
    let place = Place::new().await;
    place.git(["rm", "--quiet", "--cached", "kept"]).await;
    assert_eq!(listed(&place).await, [row("kept", Status::Deleted, 0, 3, "su")]);
}

#[tokio::test]
async fn the_users_taste_in_diffs_does_not_matter() {
    let place = Place::new().await;
    place.write("sub/deep", "x\n\ny\n");
    place.git(["mv", "kept", "moved"]).await;
    let before = (listed(&place).await, patch(&place, "sub/deep").await);
    for (key, value) in [
        ("diff.renames", "false"),
        ("diff.relative", "true"),
        ("diff.orderFile", "nowhere"),
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.suppressBlankEmpty", "true"),
        ("diff.submodule", "log"),
        ("diff.context", "0"),
        ("diff.interHunkContext", "9"),
        ("color.ui", "always"),
        ("status.renames", "copies"),
        ("status.showUntrackedFiles", "no"),
        ("status.relativePaths", "true"),
        ("core.quotePath", "true"),
    ] {
        place.git(["config", key, value]).await;
    }
    assert_eq!((listed(&place).await, patch(&place, "sub/deep").await), before);
    assert_eq!(super::list(&place.path("sub")).await.unwrap().files.len(), before.0.len());
}

#[tokio::test]
async fn attack_nothing_that_a_repository_names_is_run_and_nothing_is_written() {
    let place = Place::new().await;
    place.write("a.f", "x\n");
    place.write("b.p", "x\n");
    place.commit("files").await;
    place.write(".gitattributes", "*.f filter=f diff=d merge=m\n*.p filter=p\nkept diff=d\n");
    place.write("a.f", "x\ny\n");
    place.write("b.p", "x\ny\n");
    place.write("kept", "one\n");
    place.write("new.f", "n\n");
    let traps = Traps::set(&place);
    // Hooks and programs that only reading could set off.
    let config = place.path(".git/config");
    let text = fs::read_to_string(&config).unwrap();
    let trap = fs::read_to_string(place.path(".git/hooks/post-commit")).unwrap();
    fs::write(place.path("trap.sh"), &trap).unwrap();
    place.mode("trap.sh", 0o755);
    let trap = place.path("trap.sh").display().to_string();
    let more = format!(
        "[core]\n\tsshCommand = {trap}\n\tgitProxy = {trap}\n\taskPass = {trap}\n\teditor = {trap}\n\
         [pager]\n\tdiff = {trap}\n\tstatus = {trap}\n[credential]\n\thelper = {trap}\n\
         [alias]\n\tdiff = !{trap}\n\tstatus = !{trap}\n[extensions]\n\tpartialClone = evil\n\
         [remote \"evil\"]\n\turl = ext::{trap}\n\tpromisor = true\n[interactive]\n\tdiffFilter = {trap}\n"
    );
    fs::write(&config, text + &more).unwrap();
    let before = (fs::read(place.path(".git/index")).unwrap(), names(&place));
    let files = list(&place.top).await.unwrap().files;
    assert!(files.len() >= 5, "{files:?}");
    for path in ["a.f", "b.p", "kept", "new.f", ".gitattributes"] {
        for area in [None, Some(Area::Unstaged), Some(Area::Staged), Some(Area::Untracked)] {
            let options = PatchOptions { area, ..PatchOptions::default() };
            read(&place.top, path, options).await.unwrap();
        }
    }
    state(&place.top, Vec::new(), limits()).await.unwrap();
    assert_eq!(traps.sprung(), "");
    assert_eq!((fs::read(place.path(".git/index")).unwrap(), names(&place)), before);
}

fn names(place: &Place) -> BTreeSet<String> {
    let entries = fs::read_dir(place.path(".git")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[tokio::test]
async fn a_filter_does_not_make_files_look_changed() {
    let place = Place::filtered().await;
    assert_eq!(listed(&place).await, []);
    place.write("plain", "more\n");
    assert_eq!(listed(&place).await, [row("plain", Status::Modified, 1, 1, "w")]);
}

fn limits() -> StateLimits {
    StateLimits { time: LIMIT, files: 5000, file: 1 << 20, bytes: 64 << 20 }
}

async fn seen(place: &Place) -> State {
    state(&place.top, Vec::new(), limits()).await.unwrap()
}

/// What differs from a state that was seen before.
async fn since(place: &Place, before: &State) -> Vec<String> {
    let also = before.listed().map(<[u8]>::to_vec).collect();
    let after = state(&place.top, also, limits()).await.unwrap();
    let moved = moved(before, &after, limits()).await.unwrap();
    let found = before.differing(&after, &moved);
    found.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect()
}

#[tokio::test]
async fn two_moments_differ_by_content_alone() {
    let place = Place::new().await;
    let clean = seen(&place).await;
    assert_eq!(since(&place, &clean).await, Vec::<String>::new());
    place.write("kept", "one\nTWO\nthree\n");
    place.write("new", "n\n");
    assert_eq!(since(&place, &clean).await, ["kept", "new"]);
    let dirty = seen(&place).await;
    // Written again with the same content, and put into the index.
    place.write("kept", "one\nTWO\nthree\n");
    place.git(["add", "kept"]).await;
    assert_eq!(since(&place, &dirty).await, Vec::<String>::new());
    // As long as before.
    place.write("kept", "one\nTOW\nthree\n");
    place.mode("new", 0o755);
    assert_eq!(since(&place, &dirty).await, ["kept", "new"]);
    // Back to what was committed, and gone.
    place.git(["checkout", "--quiet", "HEAD", "kept"]).await;
    place.remove("new");
    assert_eq!(since(&place, &dirty).await, ["kept", "new"]);
    // A commit changes no file, a checkout does.
    place.write("kept", "other\n");
    let dirty = seen(&place).await;
    place.commit("second").await;
    assert_eq!(since(&place, &dirty).await, Vec::<String>::new());
    let clean = seen(&place).await;
    place.git(["checkout", "--quiet", "HEAD~1"]).await;
    assert_eq!(since(&place, &clean).await, ["kept"]);
}

#[tokio::test]
async fn looking_has_its_bounds() {
    let place = Place::new().await;
    for number in 0..4 {
        place.write(format!("n{number}"), "x".repeat(100));
    }
    let few = StateLimits { files: 3, ..limits() };
    let refused = state(&place.top, Vec::new(), few).await;
    assert_eq!(refused, Err(GitError::TooMuchOutput("status".into())));
    let late = StateLimits { time: Duration::ZERO, ..limits() };
    assert_eq!(state(&place.top, Vec::new(), late).await, Err(GitError::TimedOut("diff".into())));
    // Beyond the bytes that are hashed, sizes and times count.
    let short = StateLimits { bytes: 250, ..limits() };
    let before = state(&place.top, Vec::new(), short).await.unwrap();
    place.write("n3", "y".repeat(101));
    let after = state(&place.top, Vec::new(), short).await.unwrap();
    let found = before.differing(&after, &BTreeSet::new());
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [b"n3".to_vec()]);
}
