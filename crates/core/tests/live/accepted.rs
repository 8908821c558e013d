//! Work that the daemon before had accepted, in each state that its death can leave it in.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rookery_core::{ApprovalStatus, NewComment, NewReview, NewSession, Shows};
use rookery_model::{
    AcceptedSession, AcceptedTool, AcceptedWork, Answer, CheckpointId, Differences, Origin,
    PlannedTree, SessionId, WorkPlace,
};

use crate::supervision::{asked, session};
use crate::world::World;

crate::cases! {
    a_half_made_worktree_is_removed_and_told,
    a_session_with_a_half_made_worktree_is_made_anew,
    an_agent_that_was_not_started_yet_is_started,
    an_agent_that_may_have_been_started_is_not_started_twice,
    a_checkpoint_that_was_promised_is_made,
    a_checkpoint_of_a_work_tree_that_was_promised_is_made,
    a_work_tree_that_went_meanwhile_is_reported,
    a_delivery_that_may_have_arrived_is_reported,
    an_answer_that_was_given_counts,
}

#[expect(clippy::disallowed_methods, reason = "a test sets a repository up")]
fn git(dir: &Path, args: &[&str]) -> String {
    let who = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
    let output =
        std::process::Command::new("git").current_dir(dir).args(who).args(args).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn repository(home: &Path) -> PathBuf {
    let repo = home.canonicalize().unwrap().join("repo");
    fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "-q", "-b", "main"]);
    fs::write(repo.join("file"), "text").unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "first"]);
    repo
}

/// A worktree as git leaves it when it is killed on its way.
fn half_made(repo: &Path) -> PlannedTree {
    let path = repo.with_file_name("half");
    let tree = path.to_str().unwrap();
    git(repo, &["worktree", "add", "-q", "--no-checkout", "-b", "half", tree]);
    fs::write(path.join("file"), "te").unwrap();
    let base = git(repo, &["rev-parse", "HEAD"]).trim().to_owned();
    PlannedTree { top: repo.to_owned(), path, branch: "half".into(), base: Some(base) }
}

fn accepted(session: SessionId) -> AcceptedSession {
    AcceptedSession {
        session,
        title: Some("work".into()),
        repo: None,
        branch: None,
        create_worktree: false,
        existing_worktree: None,
        tool: AcceptedTool::None,
        tree: None,
        is_launching: false,
        origin: Origin::default(),
    }
}

/// Waits for something that changes with the world.
async fn until(world: &World, mut is_so: impl FnMut() -> bool) {
    let mut changes = world.core.log().changes(Shows::ALL);
    while !is_so() {
        changes.next().await.unwrap();
    }
}

fn has_item(world: &World, title: &str) -> bool {
    world.core.queue().list().iter().any(|item| item.title.starts_with(title))
}

/// Once told, it is over: the next start finds nothing of it.
async fn assert_over(world: World) {
    let before = world.core.queue().list();
    let world = World::resume(world.pause().await, Vec::new()).await;
    assert_eq!(world.core.queue().list(), before);
    world.stop().await;
}

async fn a_half_made_worktree_is_removed_and_told() {
    let home = tempfile::tempdir().unwrap();
    let repo = repository(home.path());
    let tree = half_made(&repo);
    let path = tree.path.clone();
    let world = World::resume(home, vec![AcceptedWork::Worktree(tree)]).await;
    until(&world, || has_item(&world, "Worktree ")).await;
    assert!(!path.exists());
    assert_eq!(git(&repo, &["branch", "--list", "half"]), "");
    assert_eq!(git(&repo, &["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    assert_over(world).await;
}

async fn a_session_with_a_half_made_worktree_is_made_anew() {
    let home = tempfile::tempdir().unwrap();
    let repo = repository(home.path());
    let tree = half_made(&repo);
    let id = SessionId::new(77);
    let work = AcceptedSession {
        repo: Some(repo.clone()),
        branch: Some("half".into()),
        create_worktree: true,
        tree: Some(tree.clone()),
        ..accepted(id)
    };
    let world = World::resume(home, vec![AcceptedWork::Session(Box::new(work))]).await;
    until(&world, || {
        world.core.sessions().get(id).is_some() || !world.core.queue().list().is_empty()
    })
    .await;
    assert_eq!(world.core.queue().list(), []);
    let place = world.core.checkpoints().place_of(id).unwrap();
    assert_eq!(fs::read_to_string(place.join("file")).unwrap(), "text");
    assert_eq!(git(&place, &["branch", "--show-current"]).trim(), "half");
    assert!(place == tree.path || !tree.path.exists());
    assert_over(world).await;
}

/// A session that is there, and the record of it as of before its agent.
async fn opened(home: tempfile::TempDir) -> (tempfile::TempDir, SessionId) {
    let bin = home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let started = home.path().join("started");
    let script = format!("#!/bin/sh\necho x >> {}\nexec cat\n", started.display());
    fs::write(bin.join("codex"), script).unwrap();
    fs::set_permissions(bin.join("codex"), fs::Permissions::from_mode(0o755)).unwrap();
    let world = World::resume(home, Vec::new()).await;
    let id = world.core.sessions().new_id();
    let new = NewSession { title: Some("work".into()), ..NewSession::default() };
    world.core.sessions().make(id, new).await.unwrap();
    (world.pause().await, id)
}

async fn an_agent_that_was_not_started_yet_is_started() {
    let (home, id) = opened(tempfile::tempdir().unwrap()).await;
    let work = AcceptedSession { tool: AcceptedTool::Named("codex".into()), ..accepted(id) };
    let started = home.path().join("started");
    let world = World::resume(home, vec![AcceptedWork::Session(Box::new(work))]).await;
    while !started.exists() {
        tokio::task::yield_now().await;
    }
    let failures = ["Agent not started", "Agent start interrupted"];
    assert!(!failures.iter().any(|it| has_item(&world, it)), "{:?}", world.core.queue().list());
    world.stop().await;
    assert_eq!(fs::read_to_string(started).unwrap_or_else(|_| "x\n".into()), "x\n");
}

async fn an_agent_that_may_have_been_started_is_not_started_twice() {
    let (home, id) = opened(tempfile::tempdir().unwrap()).await;
    let tool = AcceptedTool::Named("codex".into());
    let work = AcceptedSession { tool, is_launching: true, ..accepted(id) };
    let world = World::resume(home, vec![AcceptedWork::Session(Box::new(work))]).await;
    until(&world, || has_item(&world, "Agent start interrupted")).await;
    assert!(!world.home.path().join("started").exists());
    assert_over(world).await;
}

async fn a_checkpoint_that_was_promised_is_made() {
    let home = tempfile::tempdir().unwrap();
    let repo = repository(home.path());
    let world = World::resume(home, Vec::new()).await;
    let id = world.core.sessions().new_id();
    let new = NewSession { repo: Some(repo), ..NewSession::default() };
    world.core.sessions().make(id, new).await.unwrap();
    let checkpoint = CheckpointId::new(99);
    let work = AcceptedWork::Checkpoint {
        checkpoint,
        place: id.into(),
        title: "before".into(),
        summary: "the change".into(),
        review: true,
    };
    let world = World::resume(world.pause().await, vec![work]).await;
    until(&world, || has_item(&world, "Review requested")).await;
    assert_eq!(world.core.checkpoints().get(checkpoint).unwrap().title, "before");
    assert_over(world).await;
}

/// What was accepted of a work tree that no session stands for.
fn of_tree(top: &Path, checkpoint: CheckpointId) -> AcceptedWork {
    AcceptedWork::Checkpoint {
        checkpoint,
        place: WorkPlace::Tree(top.to_owned()),
        title: "before".into(),
        summary: "the change".into(),
        review: true,
    }
}

async fn a_checkpoint_of_a_work_tree_that_was_promised_is_made() {
    let home = tempfile::tempdir().unwrap();
    let repo = repository(home.path());
    fs::write(repo.join("file"), "other").unwrap();
    let checkpoint = CheckpointId::new(99);
    let world = World::resume(home, vec![of_tree(&repo, checkpoint)]).await;
    until(&world, || has_item(&world, "Review requested")).await;
    let made = world.core.checkpoints().get(checkpoint).unwrap();
    assert_eq!((made.place.tree(), made.repo.as_deref()), (Some(&*repo), Some(&*repo)));
    assert_eq!(made.differences.files.len(), 1, "{made:?}");
    assert_eq!(world.core.reviews().list()[0].place, made.place);
    assert!(
        world.core.sessions().list().is_empty() && world.core.workspace().projects().is_empty()
    );
    assert_over(world).await;
}

async fn a_work_tree_that_went_meanwhile_is_reported() {
    let home = tempfile::tempdir().unwrap();
    // Around the tree is another one, which is not taken for it.
    let outer = repository(home.path());
    let gone = outer.join("gone");
    fs::create_dir(&gone).unwrap();
    let checkpoint = CheckpointId::new(99);
    let world = World::resume(home, vec![of_tree(&gone, checkpoint)]).await;
    until(&world, || has_item(&world, "Checkpoint failed")).await;
    let item = &world.core.queue().list()[0];
    assert_eq!(item.session, None);
    assert!(item.subtitle.as_deref().unwrap().contains("no longer a git work tree"), "{item:?}");
    assert!(world.core.checkpoints().get(checkpoint).is_err());
    assert_over(world).await;
}

async fn a_delivery_that_may_have_arrived_is_reported() {
    let world = World::resume(tempfile::tempdir().unwrap(), Vec::new()).await;
    let session = session(&world, "api").await;
    let (summary, differences) = ("the parser".to_owned(), Differences::default());
    let new = NewReview { place: session.into(), checkpoint: None, summary, differences };
    let review = world.core.reviews().request(new).await.unwrap();
    let line = NewComment { path: Some("a.rs".into()), line: Some(3), text: "why?".into() };
    world.core.reviews().comment(review.id, vec![line], "idx0").await.unwrap();
    let work = vec![AcceptedWork::Delivery(review.id)];
    let world = World::resume(world.pause().await, work).await;
    until(&world, || has_item(&world, "Review not delivered")).await;
    assert!(!world.core.reviews().get(review.id).unwrap().comments[0].is_delivered);
    assert_over(world).await;
}

async fn an_answer_that_was_given_counts() {
    let world = World::resume(tempfile::tempdir().unwrap(), Vec::new()).await;
    let session = session(&world, "api").await;
    let request = asked(&world, session, 1).await;
    let answer = Answer::Denied { message: Some("not on a Friday".into()) };
    let work = AcceptedWork::Answer { request, answer, by: "idx0".into() };
    let world = World::resume(world.pause().await, vec![work]).await;
    let approval = world.core.requests().approval(request).unwrap();
    assert_eq!(approval.status, ApprovalStatus::Denied);
    assert!(!has_item(&world, "Deploy?"), "{:?}", world.core.queue().list());
    assert_over(world).await;
}
