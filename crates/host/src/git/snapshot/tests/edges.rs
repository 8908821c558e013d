//! Repositories at the edge: without commits, in conflict, with parts elsewhere, or hostile.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use super::*;
use crate::git::Repository;
use crate::git::testing::git_in;

async fn moved_back(place: &Place, name: &str, safety: &str) -> Restored {
    let options = RestoreOptions { head: HeadChange::Move, ..RestoreOptions::default() };
    restore(&place.repo().await, &id(name), &id(safety), &options).await.unwrap()
}

#[tokio::test]
async fn a_repository_without_a_commit_is_kept_and_restored() {
    let place = Place::empty().await;
    place.write("private", "p\n");
    place.mode("private", 0o600);
    let private = place.sight().await;
    checkpoint(&place, "private").await;
    place.remove("private");
    back(&place, "private").await;
    assert_eq!(place.sight().await, private);
    place.remove("private");
    let nothing = checkpoint(&place, "nothing").await;
    assert_eq!(
        (nothing.head, nothing.branch.as_deref(), nothing.stat.files),
        (None, Some("main"), 0)
    );
    place.write("staged", "s\n");
    place.git(["add", "staged"]).await;
    place.write("loose", "l\n");
    let before = place.sight().await;
    let some = checkpoint(&place, "some").await;
    let letters: Vec<_> = some.changed_files.iter().map(|file| file.status).collect();
    assert_eq!(letters, ['A', 'A']);
    back(&place, "nothing").await;
    assert_eq!(place.sight().await.files.len(), 0);
    assert!(!place.path(".git/index").exists(), "there was none");
    back(&place, "some").await;
    assert_eq!(place.sight().await, before);
    place.commit("first").await;
    let moved = moved_back(&place, "some", "undo").await;
    assert!(moved.moved_head);
    let after = place.sight().await;
    assert_eq!((after.files, after.status), (before.files, before.status));
    assert!(moved_back(&place, "undo", "undo-2").await.moved_head);
    assert_eq!(place.says(["log", "--format=%s"]).await, "first");
    assert_eq!(place.says(["status", "--porcelain"]).await, "");
}

#[tokio::test]
async fn head_and_branch_go_back_only_when_asked() {
    let place = Place::new().await;
    let first = place.says(["rev-parse", "HEAD"]).await;
    place.write("kept", "changed\n");
    checkpoint(&place, "one").await;
    place.commit("second").await;
    let second = place.says(["rev-parse", "HEAD"]).await;
    assert!(!back(&place, "one").await.moved_head);
    assert_eq!(place.says(["rev-parse", "main"]).await, second);
    assert!(moved_back(&place, "one", "safe").await.moved_head);
    assert_eq!(place.says(["rev-parse", "main"]).await, first);
    assert_eq!(place.says(["status", "--porcelain"]).await, " M kept");
    moved_back(&place, "safe", "safe-2").await;
    assert_eq!(place.says(["rev-parse", "main"]).await, second);
    // Another branch is checked out and the one of the checkpoint went on: it is left alone.
    place.git(["switch", "--quiet", "--create", "other", &first]).await;
    moved_back(&place, "one", "safe-3").await;
    assert_eq!(place.says(["rev-parse", "main"]).await, second);
    assert_eq!(place.says(["rev-parse", "HEAD"]).await, first);
    assert_eq!(place.says(["branch", "--show-current"]).await, "");
    moved_back(&place, "safe-3", "safe-4").await;
    assert_eq!(place.says(["branch", "--show-current"]).await, "other");
}

#[tokio::test]
async fn a_conflict_is_kept_with_all_its_sides() {
    let place = Place::new().await;
    place.git(["switch", "--quiet", "--create", "side"]).await;
    place.write("kept", "side\n");
    place.remove("sub/deep");
    place.commit("side").await;
    place.git(["switch", "--quiet", "main"]).await;
    place.write("kept", "main\n");
    place.write("sub/deep", "changed\n");
    place.commit("main").await;
    let script = crate::Script {
        cwd: Some(place.top.clone()),
        ..crate::Script::new(["git", "merge", "side"])
    };
    assert!(!script.run().await.is_success());
    let before = place.sight().await;
    let captured = checkpoint(&place, "one").await;
    assert_eq!(captured.in_progress.as_deref(), Some("merge"));
    place.write("kept", "resolved\n");
    place.git(["add", "--all"]).await;
    place.git(["gc", "--quiet", "--prune=now"]).await;
    back(&place, "one").await;
    assert_eq!(place.sight().await, before);
    assert_eq!(place.git(["cat-file", "blob", ":2:kept"]).await, b"main\n");
}

#[tokio::test]
async fn submodules_are_noted_and_left_alone() {
    let place = Place::new().await;
    let other = Place::new().await;
    let url = other.top.to_str().unwrap();
    place
        .git(["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "module"])
        .await;
    place.commit("with a submodule").await;
    let clean = checkpoint(&place, "one").await;
    let head = other.says(["rev-parse", "HEAD"]).await;
    let seen = &clean.submodules[0];
    assert_eq!((seen.path.as_path(), seen.is_dirty), (Path::new("module"), false));
    assert_eq!(seen.head.as_ref().unwrap().as_str(), head);
    place.write("module/kept", "dirty\n");
    git_in(
        &place.path("module"),
        ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qam", "m"],
    )
    .await;
    place.write("module/kept", "dirtier\n");
    place.write("kept", "x\n");
    let dirty = checkpoint(&place, "two").await;
    assert!(dirty.submodules[0].is_dirty);
    let letters: Vec<_> = dirty.changed_files.iter().map(|f| f.path.to_str().unwrap()).collect();
    assert_eq!(letters, ["kept", "module"]);
    let restored = back(&place, "one").await;
    assert_eq!(restored.untouched, [PathBuf::from("module")]);
    assert_eq!(place.read("module/kept"), "dirtier\n");
    assert_eq!(place.read("kept"), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn a_linked_worktree_has_checkpoints_of_its_own_state() {
    let place = Place::new().await;
    let linked = place.top.with_file_name("linked");
    place.git(["worktree", "add", "--quiet", "-b", "side", linked.to_str().unwrap()]).await;
    fs::write(linked.join("kept"), "linked\n").unwrap();
    git_in(&linked, ["add", "kept"]).await;
    fs::write(linked.join("loose"), "l\n").unwrap();
    let repo = Repository::discover(&linked).await.unwrap();
    assert!(repo.is_linked());
    let captured = capture(&repo, &id("one"), &CaptureOptions::titled("t")).await.unwrap();
    assert_eq!(captured.branch.as_deref(), Some("side"));
    fs::write(linked.join("kept"), "other\n").unwrap();
    fs::remove_file(linked.join("loose")).unwrap();
    restore(&repo, &id("one"), &id("safe"), &RestoreOptions::default()).await.unwrap();
    assert_eq!(fs::read_to_string(linked.join("loose")).unwrap(), "l\n");
    let status = git_in(&linked, ["status", "--porcelain"]).await;
    assert_eq!(String::from_utf8(status).unwrap(), "M  kept\n?? loose\n");
    assert_eq!(place.says(["status", "--porcelain"]).await, "", "the main one is not touched");
    assert_eq!(list(&place.repo().await).await.unwrap().len(), 2);
}

#[tokio::test]
async fn what_cannot_be_kept_is_listed_and_not_touched() {
    let place = Place::new().await;
    place.write("huge", vec![b'h'; 5000]);
    rustix::fs::mkfifoat(rustix::fs::CWD, place.path("pipe"), rustix::fs::Mode::RWXU).unwrap();
    place.remove("kept");
    rustix::fs::mkfifoat(rustix::fs::CWD, place.path("kept"), rustix::fs::Mode::RWXU).unwrap();
    fs::create_dir(place.path("nested")).unwrap();
    git_in(&place.path("nested"), ["init", "--quiet"]).await;
    place.write("nested/file", "n\n");
    let options = CaptureOptions { title: String::new(), max_file: 4096 };
    let repo = place.repo().await;
    let captured = capture(&repo, &id("one"), &options).await.unwrap();
    let mut skipped: Vec<_> =
        captured.skipped.iter().map(|s| (s.path.to_str().unwrap(), s.reason.as_str())).collect();
    skipped.sort_unstable();
    let expected = [("huge", "too-large"), ("kept", "special"), ("nested", "nested-repository")];
    assert_eq!(skipped, expected);
    assert_eq!(list(&repo).await.unwrap()[0].skipped, captured.skipped);
    place.write("sub/deep", "changed\n");
    place.remove("huge");
    back(&place, "one").await;
    assert_eq!(place.read("sub/deep"), "x\n");
    assert_eq!(place.read("nested/file"), "n\n");
    assert!(place.path("pipe").exists());
}

#[tokio::test]
async fn what_is_not_saved_is_never_overwritten() {
    let place = Place::new().await;
    place.write("wanted", "w\n");
    place.write("folder/wanted", "w\n");
    checkpoint(&place, "one").await;
    place.remove("wanted");
    fs::remove_dir_all(place.path("folder")).unwrap();
    place.write(".gitignore", "wanted\nfolder\n");
    place.write("wanted", "precious and ignored\n");
    place.link("folder", "sub");
    place.write("kept", "changed\n");
    let before = place.sight().await;
    let repo = place.repo().await;
    let options = RestoreOptions::default();
    let error = restore(&repo, &id("one"), &id("safe"), &options).await.unwrap_err();
    assert_eq!(error, CheckpointError::Blocked(vec!["folder".into(), "wanted".into()]));
    assert_eq!(place.sight().await, before);
    assert!(!place.path(".git/index.lock").exists());
    // A git at work is not disturbed either.
    place.remove("wanted");
    place.remove("folder");
    place.write(".git/index.lock", "");
    let error = restore(&repo, &id("one"), &id("safe"), &options).await.unwrap_err();
    assert_eq!(error, CheckpointError::IndexLocked(place.path(".git/index.lock")));
    assert_eq!(place.read("kept"), "changed\n");
    place.remove(".git/index.lock");
    assert_eq!(list(&repo).await.unwrap().len(), 1, "no checkpoint of what did not happen");
    back(&place, "one").await;
    assert_eq!(place.read("folder/wanted"), "w\n");
}

#[tokio::test]
async fn only_the_paths_asked_for_come_back() {
    let place = Place::new().await;
    place.write("sub/more", "m\n");
    place.git(["add", "sub/more"]).await;
    checkpoint(&place, "one").await;
    place.write("kept", "changed\n");
    place.write("sub/deep", "changed\n");
    place.write("sub/new", "new\n");
    place.git(["rm", "--quiet", "--cached", "sub/more"]).await;
    place.remove("sub/more");
    let repo = place.repo().await;
    let options =
        RestoreOptions { what: RestoreScope::Paths(vec!["sub".into()]), head: HeadChange::Keep };
    restore(&repo, &id("one"), &id("safe"), &options).await.unwrap();
    assert_eq!(place.says(["status", "--porcelain"]).await, " M kept\nA  sub/more");
    let options = RestoreOptions {
        what: RestoreScope::Paths(vec!["nowhere".into()]),
        head: HeadChange::Keep,
    };
    let error = restore(&repo, &id("one"), &id("safe-2"), &options).await.unwrap_err();
    assert_eq!(error, CheckpointError::NoSuchPaths(vec!["nowhere".into()]));
}

#[tokio::test]
async fn a_forged_checkpoint_writes_nothing_outside() {
    let place = Place::new().await;
    let repo = place.repo().await;
    checkpoint(&place, "real").await;
    let notes = place.says(["rev-parse", "refs/rookery/checkpoints/real^2"]).await;
    let blob = place.says(["hash-object", "-w", "kept"]).await;
    for (number, name) in ["..", ".git", ".GIT"].into_iter().enumerate() {
        let inner = format!("100644 blob {blob}\tpwned\0");
        let inner = repo.git.call(["mktree", "-z"]).stdin(inner).line().await.unwrap();
        let outer = format!("040000 tree {inner}\t{name}\0");
        let outer = repo.git.call(["mktree", "-z"]).stdin(outer).line().await.unwrap();
        let forged = ["commit-tree", &outer, "-p", "HEAD", "-p", &notes, "-m", "x"];
        let forged = place.says(forged).await;
        let forged_id = id(&format!("forged-{number}"));
        place.git(["update-ref", &forged_id.reference(), &forged]).await;
        let safety = id(&format!("safe-{number}"));
        let before = place.sight().await;
        let error =
            restore(&repo, &forged_id, &safety, &RestoreOptions::default()).await.unwrap_err();
        assert!(matches!(error, CheckpointError::UnsafePath(_)), "{name}: {error}");
        assert_eq!(place.sight().await, before);
        assert!(!place.path(".git/pwned").exists() && !place.top.with_file_name("pwned").exists());
    }
    place.git(["update-ref", "refs/rookery/checkpoints/odd", "HEAD"]).await;
    let error = show(&repo, &id("odd")).await.unwrap_err();
    assert_eq!(error, CheckpointError::Broken(id("odd")));
    assert!(list(&repo).await.unwrap().iter().all(|details| details.id != id("odd")));
}

#[tokio::test]
async fn a_sparse_or_split_index_is_understood() {
    let place = Place::new().await;
    place.write("out/hidden", "h\n");
    place.commit("more").await;
    place.git(["sparse-checkout", "set", "--cone", "sub"]).await;
    assert!(!place.path("out").exists());
    let captured = checkpoint(&place, "sparse").await;
    assert_eq!(captured.changed_files, [], "what is left out is not deleted");
    let before = place.sight().await;
    place.write("sub/deep", "changed\n");
    back(&place, "sparse").await;
    assert_eq!(place.sight().await, before);
    assert!(!place.path("out").exists());
    place.git(["sparse-checkout", "disable"]).await;
    checkpoint(&place, "full").await;
    place.git(["sparse-checkout", "set", "--cone", "sub"]).await;
    back(&place, "full").await;
    assert_eq!(place.read("out/hidden"), "h\n");
    place.git(["update-index", "--split-index"]).await;
    place.write("kept", "staged\n");
    place.git(["add", "kept"]).await;
    let before = place.sight().await;
    checkpoint(&place, "split").await;
    place.git(["read-tree", "HEAD"]).await;
    place.write("kept", "messed up\n");
    for entry in fs::read_dir(place.path(".git")).unwrap().flatten() {
        if entry.file_name().as_bytes().starts_with(b"sharedindex.") {
            fs::write(entry.path(), "gone").unwrap();
        }
    }
    place.remove(".git/index");
    back(&place, "split").await;
    assert_eq!(place.sight().await, before);
}

#[tokio::test]
async fn what_was_known_of_files_may_be_wrong() {
    let place = Place::new().await;
    let repo = place.repo().await;
    for number in 0..80 {
        place.write(format!("many/{number}"), format!("{number}\n"));
    }
    checkpoint(&place, "one").await;
    delete(&repo, &id("one")).await.unwrap();
    place.git(["gc", "--quiet", "--prune=now"]).await;
    assert!(place.path(".git/rookery/stat-cache").exists());
    let again = checkpoint(&place, "two").await;
    assert_eq!(again.stat.files, 80);
    fs::remove_dir_all(place.path("many")).unwrap();
    back(&place, "two").await;
    assert_eq!(place.read("many/79"), "79\n");
    // Nothing but what is kept for the next time is left lying about.
    drop(repo);
    let left = || -> Vec<_> {
        let entries = fs::read_dir(place.path(".git/rookery")).unwrap().flatten();
        entries
            .map(|entry| entry.file_name())
            .filter(|n| n != "lock" && n != "stat-cache")
            .collect()
    };
    while !left().is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn many_at_once_wait_for_each_other() {
    let place = Place::new().await;
    place.write("kept", "changed\n");
    let repo = place.repo().await;
    let options = CaptureOptions::titled("t");
    // One whose caller has gone does not block the next.
    let (given_up, name) = (place.repo().await, id("given-up"));
    let running = tokio::spawn(async move {
        capture(&given_up, &name, &CaptureOptions::titled("t")).await.is_ok()
    });
    tokio::task::yield_now().await;
    running.abort();
    let names: Vec<_> = (0..4).map(|number| id(&format!("n{number}"))).collect();
    let all =
        futures_util::future::join_all(names.iter().map(|name| capture(&repo, name, &options)));
    for captured in all.await {
        assert_eq!(captured.unwrap().stat.files, 1);
    }
    let kept = list(&repo).await.unwrap();
    assert_eq!(kept.iter().filter(|details| details.id.as_str().starts_with('n')).count(), 4);
}

#[tokio::test]
async fn long_names_of_objects_work_too() {
    let place = Place::empty().await;
    fs::remove_dir_all(place.path(".git")).unwrap();
    place.git(["init", "--quiet", "--object-format=sha256"]).await;
    place.write("file", "one\n");
    let captured = checkpoint(&place, "one").await;
    assert_eq!(captured.commit.as_str().len(), 64);
    place.write("file", "two\n");
    back(&place, "one").await;
    assert_eq!(place.read("file"), "one\n");
}

#[tokio::test]
async fn large_files_go_in_and_come_out_in_pieces() {
    let place = Place::new().await;
    let large: Vec<u8> = (0_u32..9 << 20).flat_map(|number| (number / 999).to_le_bytes()).collect();
    place.write("large", &large);
    place.write("half", &large[..5 << 20]);
    checkpoint(&place, "one").await;
    place.write("large", "small now\n");
    place.remove("half");
    back(&place, "one").await;
    assert!(fs::read(place.path("large")).unwrap() == large);
    assert!(fs::read(place.path("half")).unwrap() == large[..5 << 20]);
}
