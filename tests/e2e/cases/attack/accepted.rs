//! The daemon is killed after it accepted something: that is finished, and nothing half-made is left.

use std::fs;
use std::path::{Path, PathBuf};

use rookery_testkit::{PATIENCE, Random, TestDaemon, git, wait_until};
use serde_json::{Value, json};

use crate::idx0_link::{done, list};

/// A repository with enough in it that work on it takes a while.
fn repository(daemon: &TestDaemon) -> PathBuf {
    let repo = daemon.home().join("repo");
    fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "-q"]);
    for number in 0..200 {
        fs::write(repo.join(format!("file-{number}")), format!("{number}\n").repeat(50)).unwrap();
    }
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "first"]);
    repo
}

/// What begins with this in a directory.
fn named(dir: &Path, start: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(start)).collect()
}

/// The moment of the kill: at once, when something is seen, or after some steps of looking.
fn kill_when(daemon: &mut TestDaemon, mut is_time: impl FnMut() -> bool) {
    // Bounded by how often it is looked and not by time: a fast daemon may be done before.
    for _ in 0..20_000 {
        if is_time() {
            break;
        }
    }
    daemon.kill9();
}

#[test]
fn checkpoints_survive_a_kill_at_any_moment() {
    let mut daemon = TestDaemon::start();
    let repo = repository(&daemon);
    let made = json!({ "title": "work", "repoPath": repo, "wait": "1" });
    done(daemon.home(), "newSession", made);
    let mut random = Random::new(Random::seed("ROOKERY_CRASH_SEED"));
    let scratch = repo.join(".git/rookery");
    let refs = repo.join(".git/refs/rookery/checkpoints");
    let mut accepted = Vec::new();
    for round in 0..8 {
        fs::write(repo.join("changing"), format!("{round}\n").repeat(2_000)).unwrap();
        let asked = json!({ "session": "work", "title": format!("round {round}") });
        let reply = done(daemon.home(), "createCheckpoint", asked);
        accepted.push(reply["data"]["checkpointID"].clone());
        let known = named(&refs, "").len();
        let mut steps = random.below(40);
        kill_when(&mut daemon, || match round % 4 {
            0 => true,
            1 => !named(&scratch, "work-").is_empty(),
            2 => named(&refs, "").len() > known,
            _ => {
                steps = steps.saturating_sub(1);
                named(&scratch, "work-").len() == 99 || steps == 0
            }
        });
        daemon.restart();
        wait_until("all that was accepted is there", PATIENCE, || {
            let made = list(daemon.home(), "listCheckpoints", json!({}));
            let ids: Vec<&Value> = made.iter().map(|one| &one["id"]).collect();
            accepted.iter().all(|id| ids.contains(&id))
        });
    }
    let made = list(daemon.home(), "listCheckpoints", json!({}));
    assert_eq!(made.len(), accepted.len(), "each was made once");
    assert_eq!(git(&repo, &["for-each-ref", "refs/rookery"]).lines().count(), accepted.len());
    wait_until("nothing half-made is left", PATIENCE, || {
        named(&scratch, "work-").is_empty()
            && named(&repo.join(".git/objects/pack"), "tmp_").is_empty()
            && named(&repo.join(".git"), "fast_import_crash_").is_empty()
    });
    git(&repo, &["fsck", "--strict"]);
}

#[test]
fn sessions_with_worktrees_survive_a_kill_at_any_moment() {
    let mut daemon = TestDaemon::start();
    let repo = repository(&daemon);
    let trees = repo.join(".idx0/worktrees");
    let branches = repo.join(".git/refs/heads/idx0");
    let mut random = Random::new(Random::seed("ROOKERY_CRASH_SEED"));
    let mut accepted: Vec<String> = Vec::new();
    for round in 0..8 {
        let title = format!("work {round}");
        let asked = json!({ "title": title, "repoPath": repo, "createWorktree": "1" });
        let reply = done(daemon.home(), "newSession", asked);
        accepted.push(reply["data"]["sessionID"].as_str().unwrap().to_owned());
        let (known, old) = (named(&trees, "wt-").len(), named(&branches, "").len());
        let mut steps = random.below(40);
        kill_when(&mut daemon, || match round % 4 {
            0 => true,
            1 => named(&branches, "").len() > old,
            2 => named(&trees, "wt-").len() > known,
            _ => {
                steps = steps.saturating_sub(1);
                named(&trees, "wt-").len() == 99 || steps == 0
            }
        });
        daemon.restart();
        wait_until("all that was accepted is there", PATIENCE, || {
            let sessions = done(daemon.home(), "listSessions", json!({}));
            accepted.iter().all(|id| sessions["data"][id].is_string())
        });
        let listed = git(&repo, &["worktree", "list", "--porcelain"]);
        assert_eq!(listed.matches("worktree ").count(), 1 + accepted.len(), "{listed}");
        assert!(!listed.contains("prunable"), "{listed}");
    }
    assert_eq!(named(&trees, "wt-").len(), accepted.len(), "no half-made worktree is left");
    assert_eq!(git(&repo, &["branch", "--list", "idx0/*"]).lines().count(), accepted.len());
    for tree in named(&trees, "wt-") {
        assert_eq!(git(&tree, &["status", "--porcelain"]), "", "{}", tree.display());
    }
}

#[test]
fn what_cannot_be_finished_is_reported() {
    let mut daemon = TestDaemon::start();
    let repo = repository(&daemon);
    let asked = json!({ "title": "lost", "repoPath": repo, "createWorktree": "1" });
    let reply = done(daemon.home(), "newSession", asked);
    let session = reply["data"]["sessionID"].as_str().unwrap().to_owned();
    daemon.kill9();
    // The repository is removed while the daemon is down.
    let away = daemon.home().join("away");
    fs::rename(&repo, &away).unwrap();
    daemon.restart();
    let is_over = || {
        let sessions = done(daemon.home(), "listSessions", json!({}));
        let queue = list(daemon.home(), "listQueue", json!({}));
        let is_told = queue.iter().any(|item| item["title"] == "Session creation failed");
        sessions["data"][&session].is_string() || is_told
    };
    wait_until("it is made or reported", PATIENCE, is_over);
}
