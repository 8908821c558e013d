//! Real worktrees: made, taken over, landed and removed.

mod landing;

use std::fs;
use std::path::Path;

use super::*;
use crate::git::testing::{Place, Traps, git_in};

pub(super) fn titled(title: &str) -> NewWorktree {
    NewWorktree { title: title.into(), ..NewWorktree::default() }
}

pub(super) async fn made(place: &Place, title: &str) -> Created {
    create(&place.top, &titled(title)).await.unwrap()
}

/// Changes a file in a worktree and commits it.
pub(super) async fn work(tree: &Path, name: &str, text: &str) {
    fs::write(tree.join(name), text).unwrap();
    git_in(tree, ["add", "--all"]).await;
    git_in(tree, ["commit", "--quiet", "--message", &format!("change {name}")]).await;
}

#[tokio::test]
async fn a_new_worktree_has_a_name_a_branch_and_is_ignored() {
    let place = Place::new().await;
    let one = made(&place, "Fix Prompt Glitch!!! / spaces").await;
    let two = made(&place, "Fix Prompt Glitch!!! / spaces").await;
    let name = one.path.strip_prefix(place.path(".idx0/worktrees")).unwrap().to_str().unwrap();
    assert!(name.starts_with("wt-") && name.len() == 15, "{name}");
    assert!(one.branch.starts_with("idx0/fix-prompt-glitch-spaces-2"), "{}", one.branch);
    assert_ne!((&one.path, &one.branch), (&two.path, &two.branch));
    assert_eq!(fs::read_to_string(one.path.join("kept")).unwrap(), "one\ntwo\nthree\n");
    assert_eq!(place.says(["status", "--porcelain"]).await, "");
    let exclude = place.read(".git/info/exclude");
    assert_eq!(exclude.matches(".idx0/").count(), 1);
    // From inside of a linked worktree the right file is found.
    let inner = create(&one.path, &titled("inner")).await.unwrap();
    assert!(inner.path.starts_with(one.path.join(".idx0/worktrees")));
    assert_eq!(git_in(&one.path, ["status", "--porcelain"]).await, b"");
    let repo = place.repo().await;
    let all = list(&repo).await.unwrap();
    assert_eq!(all.len(), 4);
    assert!(all[0].is_main && !all[1].is_main);
    assert_eq!(current_branch(&repo).await.unwrap().as_deref(), Some("main"));
    assert_eq!(top_level(&place.path("sub")).await.unwrap(), place.top);
}

#[tokio::test]
async fn many_of_the_same_name_do_not_collide() {
    let place = Place::new().await;
    let request = titled("same");
    let all = (0..5).map(|_| create(&place.top, &request));
    let all = futures_util::future::join_all(all).await;
    let mut branches: Vec<_> = all.into_iter().map(|made| made.unwrap().branch).collect();
    branches.sort_unstable();
    branches.dedup();
    assert_eq!(branches.len(), 5);
}

/// A worktree that another git makes just now: what says where its repository is has nothing in it yet. Once
/// git has seen that, the file is whole.
async fn seen_half_made(place: &Place) {
    let half = place.path(".git/worktrees/half");
    fs::create_dir_all(&half).unwrap();
    fs::write(half.join("HEAD"), "ref: refs/heads/half\n").unwrap();
    fs::write(half.join("gitdir"), "/nowhere/half/.git\n").unwrap();
    fs::write(half.join("locked"), "initializing").unwrap();
    let (pipe, whole) = (half.join("commondir"), half.join("whole"));
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    fs::write(&whole, "../..\n").unwrap();
    let seen = tokio::task::spawn_blocking(move || {
        // Waits for a git that reads it, and gives it nothing.
        let open = fs::File::options().write(true).open(&pipe).unwrap();
        fs::rename(&whole, &pipe).unwrap();
        drop(open);
    });
    seen.await.unwrap();
}

#[tokio::test]
async fn a_worktree_that_is_only_half_there_hinders_no_other() {
    let place = Place::new().await;
    let repo = place.repo().await;
    let (listed, ()) = tokio::join!(list(&repo), seen_half_made(&place));
    assert_eq!(listed.unwrap().len(), 2);
    fs::remove_dir_all(place.path(".git/worktrees/half")).unwrap();
    let request = titled("beside");
    let (made, ()) = tokio::join!(create(&place.top, &request), seen_half_made(&place));
    let made = made.unwrap();
    assert_eq!(list(&repo).await.unwrap().len(), 3);
    fs::remove_dir_all(place.path(".git/worktrees/half")).unwrap();
    let gone = RemoveRequest { path: made.path.clone(), force: true, ..RemoveRequest::default() };
    let (removed, ()) = tokio::join!(remove(&repo, &gone), seen_half_made(&place));
    removed.unwrap();
    assert!(!made.path.exists());
}

#[tokio::test]
async fn a_branch_that_looks_like_an_option_changes_nothing() {
    let place = Place::new().await;
    let refs = || place.says(["for-each-ref", "--format=%(refname) %(objectname)"]);
    let (before, head) = (refs().await, place.says(["symbolic-ref", "HEAD"]).await);
    let names = ["-m", "-M", "-q", "-D", "--track", "--help", "a..b", "a b", "a\0b", ".x", "HEAD"];
    for name in names {
        let wanted = NewWorktree { branch: Some(name.into()), ..titled("x") };
        let error = create(&place.top, &wanted).await.unwrap_err();
        assert_eq!(error, WorktreeError::BadBranchName(name.into()));
        assert_eq!(error.to_string(), format!("'{name}' is not a valid branch name"));
    }
    assert_eq!((refs().await, place.says(["symbolic-ref", "HEAD"]).await), (before, head));
    assert_eq!(list(&place.repo().await).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_place_that_is_taken_leaves_no_branch() {
    let place = Place::new().await;
    let path = Some(place.path("kept"));
    let wanted = NewWorktree { branch: Some("mine".into()), path, ..titled("x") };
    let error = create(&place.top, &wanted).await.unwrap_err();
    assert!(matches!(error, WorktreeError::NotCreated(_)), "{error}");
    assert_eq!(place.says(["branch", "--list", "mine"]).await, "");
    assert_eq!(fs::read_to_string(place.path("kept")).unwrap(), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn what_cannot_be_made_says_so_in_the_words_of_idx0_and_leaves_nothing() {
    let place = Place::new().await;
    let plain = tempfile::tempdir().unwrap();
    let gone = plain.path().join("gone");
    let error = create(&gone, &titled("x")).await.unwrap_err();
    assert_eq!(error.to_string(), format!("The path does not exist: {}", gone.display()));
    let error = create(plain.path(), &titled("x")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "This folder is not a Git repository. Choose another folder or turn off worktree creation."
    );
    let taken = NewWorktree { branch: Some(" main ".into()), ..titled("x") };
    let error = create(&place.top, &taken).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Branch already exists. Choose a different branch name or attach an existing worktree."
    );
    let before = place.says(["for-each-ref"]).await;
    for bad in ["-x", "a..b", "with space", "end.lock"] {
        let bad = NewWorktree { branch: Some(bad.into()), ..titled("x") };
        let error = create(&place.top, &bad).await.unwrap_err();
        assert!(matches!(error, WorktreeError::BadBranchName(_)), "{error:?}");
    }
    let bad = NewWorktree { base: Base::Ref("nowhere".into()), ..titled("x") };
    let error = create(&place.top, &bad).await.unwrap_err();
    assert_eq!(error, WorktreeError::NoSuchBranch("nowhere".into()));
    let error = create(&place.top, &NewWorktree { base: Base::RemoteDefault, ..titled("x") }).await;
    assert_eq!(error.unwrap_err(), WorktreeError::NoRemote);
    // A place that cannot be written to.
    place.write("file", "x");
    let bad =
        NewWorktree { path: Some("file/inside".into()), branch: Some("b".into()), ..titled("x") };
    assert!(create(&place.top, &bad).await.is_err());
    assert_eq!(place.says(["for-each-ref"]).await, before, "no branch is left");
    assert_eq!(list(&place.repo().await).await.unwrap().len(), 1);
    assert!(!place.path(".idx0/worktrees").exists_with_content());
}

trait Content {
    fn exists_with_content(&self) -> bool;
}

impl Content for std::path::PathBuf {
    fn exists_with_content(&self) -> bool {
        fs::read_dir(self).is_ok_and(|mut entries| entries.next().is_some())
    }
}

#[tokio::test]
async fn the_base_can_be_chosen_and_fetched() {
    let origin = Place::new().await;
    let place = Place::new().await;
    place.git(["remote", "add", "origin", origin.top.to_str().unwrap()]).await;
    let there = origin.says(["rev-parse", "HEAD"]).await;
    let request = NewWorktree { base: Base::RemoteDefault, fetch: true, ..titled("remote") };
    let created = create(&place.top, &request).await.unwrap();
    assert_eq!(created.base.unwrap().as_str(), there);
    let upstream = place.says(["for-each-ref", "--format=%(upstream)", "refs/heads"]).await;
    assert_eq!(upstream, "", "no tracking");
    let first = place.says(["rev-parse", "HEAD"]).await;
    place.write("kept", "more\n");
    place.commit("second").await;
    let request = NewWorktree { base: Base::Ref("HEAD~1".into()), ..titled("older") };
    let created = create(&place.top, &request).await.unwrap();
    assert_eq!(created.base.unwrap().as_str(), first);
    fs::rename(&origin.top, origin.top.with_file_name("away")).unwrap();
    let request = NewWorktree { fetch: true, ..titled("offline") };
    let error = create(&place.top, &request).await.unwrap_err();
    assert!(matches!(error, WorktreeError::Fetch(_)), "{error:?}");
}

#[tokio::test]
async fn a_repository_without_a_commit_gets_a_worktree_too() {
    let place = Place::empty().await;
    let created = made(&place, "fresh").await;
    assert_eq!(created.base, None);
    let branch = git_in(&created.path, ["branch", "--show-current"]).await;
    assert_eq!(String::from_utf8(branch).unwrap().trim(), created.branch);
}

#[tokio::test]
async fn listed_files_are_copied_and_the_setup_is_handed_back() {
    let place = Place::new().await;
    place.write(".gitignore", "*.env\nbuild/\ncache/\n");
    place.write(".worktreeinclude", "*.env\n!skipped.env\nbuild/\nkept\nloose\nway\n");
    place.commit("rules").await;
    place.write("local.env", "SECRET=1\n");
    place.mode("local.env", 0o600);
    place.write("skipped.env", "no\n");
    place.write("sub/deep.env", "yes\n");
    place.write("build/out/a", "a\n");
    place.write("cache/big", "no\n");
    place.write("loose", "untracked\n");
    place.write("kept", "tracked and changed\n");
    place.link("way", "/etc/passwd");
    let request = NewWorktree { setup: Some("make deps".into()), ..titled("boot") };
    let created = create(&place.top, &request).await.unwrap();
    let mut copied: Vec<_> = created.copied.iter().map(|path| path.to_str().unwrap()).collect();
    copied.sort_unstable();
    assert_eq!(copied, ["build/out/a", "local.env", "loose", "sub/deep.env", "way"]);
    let at = |name: &str| created.path.join(name);
    assert_eq!(fs::read_to_string(at("local.env")).unwrap(), "SECRET=1\n");
    let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(at("local.env")).unwrap());
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(fs::read_link(at("way")).unwrap(), Path::new("/etc/passwd"));
    assert_eq!(fs::read_to_string(at("kept")).unwrap(), "one\ntwo\nthree\n");
    let setup = created.setup.unwrap();
    assert_eq!((setup.command.as_str(), &setup.cwd), ("make deps", &created.path));
}

#[tokio::test]
async fn hooks_and_filters_run_only_where_they_are_trusted() {
    let place = Place::empty().await;
    place.write(".gitattributes", "*.f filter=f\n");
    place.write("a.f", "x\n");
    place.commit("base").await;
    let traps = Traps::set(&place);
    made(&place, "plain").await;
    assert_eq!(traps.sprung(), "");
    let trusting = NewWorktree { is_trusted: true, ..titled("trusted") };
    create(&place.top, &trusting).await.unwrap();
    assert_ne!(traps.sprung(), "");
}

#[tokio::test]
async fn only_worktrees_of_the_repository_on_a_branch_are_taken_over() {
    let place = Place::new().await;
    let other = Place::new().await;
    let created = made(&place, "mine").await;
    let repo = place.repo().await;
    let attached = attach(&repo, &created.path).await.unwrap();
    assert_eq!(attached.branch, Some(created.branch.clone()));
    let invalid = "The selected worktree path is invalid.";
    for path in [place.path("gone"), place.path("kept")] {
        assert_eq!(attach(&repo, &path).await.unwrap_err().to_string(), invalid);
    }
    let foreign = "That worktree does not belong to the selected repository.";
    assert_eq!(attach(&repo, &other.top).await.unwrap_err().to_string(), foreign);
    assert_eq!(attach(&repo, &created.path.join("sub")).await.unwrap_err().to_string(), foreign);
    git_in(&created.path, ["switch", "--quiet", "--detach"]).await;
    assert_eq!(attach(&repo, &created.path).await.unwrap_err().to_string(), foreign);
}

#[tokio::test]
async fn work_is_not_lost_by_removing() {
    let place = Place::new().await;
    let repo = place.repo().await;
    let tree = made(&place, "precious").await;
    let request = RemoveRequest { path: tree.path.clone(), ..RemoveRequest::default() };
    assert_eq!(inspect(&tree.path).await.unwrap(), State::Clean);
    fs::write(tree.path.join("untracked"), "u\n").unwrap();
    assert_eq!(inspect(&tree.path).await.unwrap(), State::Dirty);
    let error = remove(&repo, &request).await.unwrap_err();
    assert_eq!(error.to_string(), "Worktree has local changes. Clean it before deletion.");
    work(&tree.path, "untracked", "committed\n").await;
    let error = remove(&repo, &request).await.unwrap_err();
    assert_eq!(error, WorktreeError::Unpushed { commits: 1 });
    let running = RemoveRequest { is_running: true, force: true, ..request.clone() };
    assert_eq!(remove(&repo, &running).await.unwrap_err(), WorktreeError::Running);
    place.git(["worktree", "lock", "--reason", "on a stick", tree.path.to_str().unwrap()]).await;
    let forced = RemoveRequest { force: true, ..request.clone() };
    assert_eq!(
        remove(&repo, &forced).await.unwrap_err(),
        WorktreeError::Locked("on a stick".into())
    );
    place.git(["worktree", "unlock", tree.path.to_str().unwrap()]).await;
    let main = RemoveRequest { path: place.top.clone(), force: true, ..RemoveRequest::default() };
    assert_eq!(remove(&repo, &main).await.unwrap_err(), WorktreeError::Main);
    let foreign = RemoveRequest { path: place.path("sub"), ..RemoveRequest::default() };
    assert_eq!(remove(&repo, &foreign).await.unwrap_err(), WorktreeError::Foreign);
    // Another branch holds the commit: then it may go.
    place.git(["branch", "copy", &tree.branch]).await;
    let with_branch = RemoveRequest { delete_branch: true, ..request.clone() };
    remove(&repo, &with_branch).await.unwrap();
    assert!(!tree.path.exists());
    assert_eq!(place.says(["branch", "--list", &tree.branch]).await, "");
    assert_eq!(inspect(&tree.path).await.unwrap(), State::MissingOnDisk);
    // One that was deleted by hand is forgotten.
    let gone = made(&place, "gone").await;
    fs::remove_dir_all(&gone.path).unwrap();
    remove(&repo, &RemoveRequest { path: gone.path, ..RemoveRequest::default() }).await.unwrap();
    assert_eq!(list(&repo).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_was_lent_goes_with_its_branch_unless_there_is_work_in_it() {
    let place = Place::new().await;
    let lent = async |name: &str| {
        let path = place.top.parent().unwrap().join(format!("lent-{name}"));
        let request = NewWorktree {
            path: Some(path),
            branch: Some(format!("rookery/{name}")),
            ..titled(name)
        };
        let planned = plan(&place.top, &request, "token").await.unwrap();
        create(&place.top, &request).await.unwrap();
        planned
    };
    let has =
        async |planned: &Planned| place.repo().await.has_branch(&planned.branch).await.unwrap();
    let kept = |planned: &Planned| Ok(ReturnOutcome::Kept(Some(planned.branch.clone())));

    let unchanged = lent("unchanged").await;
    assert_eq!(give_back(&unchanged).await, Ok(ReturnOutcome::Removed));
    assert!(!unchanged.path.exists() && !has(&unchanged).await);
    // A second time there is nothing left to do.
    assert_eq!(give_back(&unchanged).await, Ok(ReturnOutcome::Removed));

    let dirty = lent("dirty").await;
    fs::write(dirty.path.join("new"), "x").unwrap();
    assert_eq!(give_back(&dirty).await, kept(&dirty));
    assert!(dirty.path.join("new").exists() && has(&dirty).await);

    let committed = lent("committed").await;
    work(&committed.path, "kept", "other").await;
    assert_eq!(give_back(&committed).await, kept(&committed));

    let moved = lent("moved").await;
    git_in(&moved.path, ["switch", "--quiet", "--create", "elsewhere"]).await;
    assert_eq!(give_back(&moved).await, Ok(ReturnOutcome::Kept(Some("elsewhere".into()))));

    // The directory is gone, and what git remembers of it goes too.
    let lost = lent("lost").await;
    fs::remove_dir_all(&lost.path).unwrap();
    assert_eq!(give_back(&lost).await, Ok(ReturnOutcome::Removed));
    assert!(!has(&lost).await);
}
