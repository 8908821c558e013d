//! Commits that land, and those that do not.

use super::*;

fn onto(tree: &Created, into: &str, how: LandMode) -> LandRequest {
    LandRequest { worktree: tree.path.clone(), into: into.into(), how, ..LandRequest::default() }
}

#[tokio::test]
async fn a_branch_goes_forward_with_its_checkout() {
    let place = Place::new().await;
    let repo = place.repo().await;
    let tree = made(&place, "work").await;
    work(&tree.path, "new", "n\n").await;
    let landed = land(&repo, &onto(&tree, "main", LandMode::Merge)).await.unwrap();
    assert_eq!((landed.commits, landed.removed), (1, false));
    assert_eq!(landed.checkout.as_deref(), Some(place.top.as_path()));
    assert_eq!(place.read("new"), "n\n");
    assert_eq!(place.says(["status", "--porcelain"]).await, "");
    let error = land(&repo, &onto(&tree, "main", LandMode::Merge)).await.unwrap_err();
    assert_eq!(error, WorktreeError::NothingToLand);
}

#[tokio::test]
async fn a_branch_that_is_not_checked_out_is_moved_without_a_checkout() {
    let place = Place::new().await;
    let repo = place.repo().await;
    place.git(["branch", "target"]).await;
    let tree = made(&place, "work").await;
    work(&tree.path, "new", "n\n").await;
    work(&tree.path, "newer", "n\n").await;
    place.git(["switch", "--quiet", "target"]).await;
    place.write("other", "o\n");
    place.commit("meanwhile").await;
    place.git(["switch", "--quiet", "main"]).await;
    place.write("kept", "dirty here\n");
    for (how, commits, parents) in
        [(LandMode::Merge, 3, 2), (LandMode::Squash, 1, 1), (LandMode::Rebase, 2, 1)]
    {
        let start = place.says(["rev-parse", "target"]).await;
        let landed = land(&repo, &onto(&tree, "target", how)).await.unwrap();
        assert_eq!((landed.commits, landed.checkout), (commits, None), "{how:?}");
        let names = place.says(["ls-tree", "--name-only", "target"]).await;
        assert_eq!(names, "kept\nnew\nnewer\nother\nsub", "{how:?}");
        let found = place.says(["log", "-1", "--format=%P", "target"]).await;
        assert_eq!(found.split(' ').count(), parents, "{how:?}");
        let author = place.says(["log", "-1", "--format=%an %s", "target"]).await;
        assert!(author.starts_with("n "), "{author}");
        place.git(["update-ref", "refs/heads/target", &start]).await;
    }
    assert_eq!(place.read("kept"), "dirty here\n");
    assert_eq!(place.says(["status", "--porcelain"]).await, " M kept");
}

#[tokio::test]
async fn conflicts_are_reported_and_nothing_changes() {
    let place = Place::new().await;
    let repo = place.repo().await;
    let tree = made(&place, "work").await;
    work(&tree.path, "kept", "theirs\n").await;
    work(&tree.path, "sub/deep", "theirs\n").await;
    place.write("kept", "ours\n");
    place.remove("sub/deep");
    place.commit("ours").await;
    let before = place.sight().await;
    for how in [LandMode::Merge, LandMode::Squash, LandMode::Rebase] {
        let error = land(&repo, &onto(&tree, "main", how)).await.unwrap_err();
        let WorktreeError::Conflicts(conflicts) = error else { panic!("{error:?}") };
        let first = &conflicts[0];
        assert_eq!(
            (first.path.to_str(), first.kinds.as_slice()),
            (Some("kept"), ["contents".to_owned()].as_slice())
        );
        if how != LandMode::Rebase {
            assert_eq!(conflicts[1].path, Path::new("sub/deep"));
            assert_eq!(conflicts[1].kinds, ["modify/delete"]);
        }
        assert_eq!(place.sight().await, before, "{how:?}");
    }
    assert!(tree.path.exists());
}

#[tokio::test]
async fn landing_refuses_what_would_lose_or_hide_work() {
    let place = Place::new().await;
    let repo = place.repo().await;
    let tree = made(&place, "work").await;
    work(&tree.path, "kept", "changed\n").await;
    let request = onto(&tree, "main", LandMode::Merge);
    let error = land(&repo, &onto(&tree, "nowhere", LandMode::Merge)).await.unwrap_err();
    assert_eq!(error, WorktreeError::NoSuchBranch("nowhere".into()));
    place.write("kept", "dirty\n");
    let error = land(&repo, &request).await.unwrap_err();
    assert_eq!(error, WorktreeError::TargetDirty(place.top.clone()));
    place.git(["checkout", "--quiet", "--", "kept"]).await;
    fs::write(tree.path.join("loose"), "l\n").unwrap();
    assert_eq!(land(&repo, &request).await.unwrap_err(), WorktreeError::SourceDirty);
    fs::remove_file(tree.path.join("loose")).unwrap();
    let running = LandRequest { delete_after: true, is_running: true, ..request.clone() };
    assert_eq!(land(&repo, &running).await.unwrap_err(), WorktreeError::Running);
    let error = land(&repo, &LandRequest { worktree: place.path("sub"), ..request.clone() }).await;
    assert_eq!(error.unwrap_err(), WorktreeError::Foreign);
    // An untracked or ignored file that the landing would overwrite stops it.
    work(&tree.path, "new", "tracked there\n").await;
    place.write("new", "untracked here\n");
    let old = place.says(["rev-parse", "main"]).await;
    let in_the_way = WorktreeError::InTheWay(vec!["new".into()]);
    assert_eq!(land(&repo, &request).await.unwrap_err(), in_the_way);
    fs::write(place.path(".git/info/exclude"), "new\n").unwrap();
    assert_eq!(land(&repo, &request).await.unwrap_err(), in_the_way);
    assert_eq!(place.read("new"), "untracked here\n");
    assert_eq!(place.says(["rev-parse", "main"]).await, old);
    place.remove("new");
    let done = LandRequest { delete_after: true, ..onto(&tree, "main", LandMode::Squash) };
    // Found through the worktree that goes.
    let inside = crate::git::Repository::discover(&tree.path).await.unwrap();
    assert!(land(&inside, &done).await.unwrap().removed);
    assert!(!tree.path.exists());
    assert_eq!(place.says(["branch", "--format=%(refname:short)"]).await, "main");
    assert_eq!(place.read("new"), "tracked there\n");
}

#[tokio::test]
async fn nothing_of_the_repository_runs_while_landing() {
    let place = Place::empty().await;
    place.write(".gitattributes", "*.m merge=m\n*.f filter=f\n");
    place.write("a.m", "1\n2\n3\n4\n5\n");
    place.write("b.f", "x\n");
    place.commit("base").await;
    let tree = made(&place, "work").await;
    work(&tree.path, "a.m", "one\n2\n3\n4\n5\n").await;
    work(&tree.path, "b.f", "y\n").await;
    place.write("a.m", "1\n2\n3\n4\nfive\n");
    place.commit("ours").await;
    let traps = Traps::set(&place);
    let repo = place.repo().await;
    let request =
        LandRequest { message: Some("landed".into()), ..onto(&tree, "main", LandMode::Merge) };
    land(&repo, &request).await.unwrap();
    assert_eq!(traps.sprung(), "");
    assert_eq!(place.read("a.m"), "one\n2\n3\n4\nfive\n");
}

#[tokio::test]
async fn what_landed_in_another_form_can_be_removed() {
    for how in [LandMode::Squash, LandMode::Rebase] {
        let place = Place::new().await;
        let repo = place.repo().await;
        let tree = made(&place, "work").await;
        work(&tree.path, "kept", "theirs\n").await;
        work(&tree.path, "new", "n\n").await;
        place.write("other", "meanwhile\n");
        place.commit("meanwhile").await;
        let request = RemoveRequest { path: tree.path.clone(), ..RemoveRequest::default() };
        let lost = remove(&repo, &request).await.unwrap_err();
        assert_eq!(lost, WorktreeError::Unpushed { commits: 2 });
        land(&repo, &onto(&tree, "main", how)).await.unwrap();
        // The branch goes on, also where the work was.
        place.write("kept", "another way\n");
        place.commit("later").await;
        // What comes on top of it is not landed.
        work(&tree.path, "newer", "n\n").await;
        let lost = remove(&repo, &request).await.unwrap_err();
        assert_eq!(lost, WorktreeError::Unpushed { commits: 3 }, "{how:?}");
        git_in(&tree.path, ["reset", "--quiet", "--hard", "HEAD~1"]).await;
        remove(&repo, &request).await.unwrap();
        assert!(!tree.path.exists());
    }
}
