//! Looking after agents from the command line: checkpoints, worktrees, reviews and handoffs.

use std::fs;
use std::path::{Path, PathBuf};

use rookery_testkit::{Finished, TestDaemon, git, rookery_binary};

/// A repository with one file and one commit.
fn repository(daemon: &TestDaemon) -> PathBuf {
    let repo = daemon.home().join("repo");
    fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "-q"]);
    fs::write(repo.join("a"), "one\n").unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "first"]);
    fs::canonicalize(repo).unwrap()
}

/// Runs a command in a directory, as a user does.
fn run_in(daemon: &TestDaemon, dir: &Path, args: &[&str]) -> Finished {
    let mut command = daemon.home().command(rookery_binary());
    command.current_dir(dir).args(args);
    Finished::of(command)
}

fn open_in(daemon: &TestDaemon, dir: &Path, title: &str) -> String {
    let dir = dir.to_str().unwrap();
    let opened = daemon.rookery(&["open", "-C", dir, "--title", title, "--", "cat"]);
    opened.success().trim().to_owned()
}

#[test]
fn a_checkpoint_is_compared_put_back_and_that_is_undone() {
    let daemon = TestDaemon::start();
    let repo = repository(&daemon);
    open_in(&daemon, &repo, "api");
    let run = |args: &[&str]| run_in(&daemon, &repo, args);

    fs::write(repo.join("a"), "one\ntwo\n").unwrap();
    let id = run(&["checkpoint", "create", "--title", "good"]).success().trim().to_owned();
    let listed = run(&["checkpoint", "list"]).success();
    assert!(listed.contains("good") && listed.contains("1 file, +1 -0"), "{listed}");
    let shown = run(&["checkpoint", "show", &id[28..]]).success();
    assert!(shown.contains(&id) && shown.contains("branch   main"), "{shown}");
    let patch = run(&["checkpoint", "diff", "--head", &id]).success();
    assert!(patch.contains("+++ b/a\n") && patch.contains("\n+two\n"), "{patch}");
    assert_eq!(run(&["checkpoint", "diff", &id]).success(), "");

    fs::remove_file(repo.join("a")).unwrap();
    fs::write(repo.join("b"), "new\n").unwrap();
    let now = run(&["checkpoint", "diff", "--json", &id]).json();
    assert_eq!(now["differences"]["files"].as_array().unwrap().len(), 2, "{now}");
    let restored = run(&["checkpoint", "restore", "--json", &id]).json();
    assert_eq!(fs::read_to_string(repo.join("a")).unwrap(), "one\ntwo\n");
    assert!(!repo.join("b").exists());
    let safety = restored["safety"]["id"].as_str().unwrap();
    let undone = run(&["checkpoint", "restore", safety]).success();
    assert!(undone.contains("undo it with `rookery checkpoint restore"), "{undone}");
    assert!(!repo.join("a").exists());
    assert_eq!(fs::read_to_string(repo.join("b")).unwrap(), "new\n");

    let gone = run(&["checkpoint", "prune", "--keep", "1"]).success();
    assert!(gone.contains(&format!("deleted {id}")), "{gone}");
    let said = run(&["checkpoint", "show", &id]).failure(1);
    assert!(said.contains("no checkpoint") && said.contains("checkpoint list"), "{said}");
}

#[test]
fn a_worktree_is_landed_and_goes_only_when_nothing_is_lost() {
    let daemon = TestDaemon::start();
    let repo = repository(&daemon);
    let run = |args: &[&str]| run_in(&daemon, &repo, args);
    fs::write(repo.join(".worktreeinclude"), ".env\n").unwrap();
    fs::write(repo.join(".env"), "KEY=1\n").unwrap();
    fs::write(repo.join(".gitignore"), ".env\n").unwrap();
    git(&repo, &["add", ".worktreeinclude", ".gitignore"]);
    git(&repo, &["commit", "-qm", "list"]);

    let setup = "cat .env > ../made; echo $ROOKERY_BRANCH";
    let args = ["worktree", "create", "--branch", "work", "--setup", setup, "../tree"];
    let tree = PathBuf::from(run(&args).success().trim());
    assert_eq!(fs::read_to_string(daemon.home().join("made")).unwrap(), "KEY=1\n");
    let failed = ["worktree", "create", "--branch", "other", "--setup", "exit 3", "../other"];
    assert!(run(&failed).failure(1).contains("the setup command failed"));
    run(&["worktree", "remove", "other", "--delete-branch"]).success();

    fs::write(tree.join("a"), "one\ntwo\n").unwrap();
    let said = run(&["worktree", "land", "work"]).failure(1);
    assert!(said.contains("not committed") && said.contains("commit them"), "{said}");
    git(&tree, &["commit", "-qam", "second"]);
    fs::write(tree.join("a"), "one\ntwo\nthree\n").unwrap();
    git(&tree, &["commit", "-qam", "third"]);

    fs::write(repo.join("a"), "other\n").unwrap();
    git(&repo, &["commit", "-qam", "in the way"]);
    let conflict = run(&["worktree", "land", "--squash", "--json", "work"]);
    let said = conflict.failure(5);
    assert!(said.contains("nothing was changed"), "{said}");
    git(&repo, &["reset", "-q", "--hard", "HEAD~1"]);

    let terminal = run(&["worktree", "attach", "work"]).success().trim().to_owned();
    let said = run(&["worktree", "remove", "work"]).failure(1);
    assert!(said.contains(&format!("terminal {terminal}")), "{said}");
    daemon.rookery(&["close", &terminal]).success();
    let said = run(&["worktree", "remove", "work"]).failure(1);
    assert!(said.contains("2 commit(s)") && said.contains("worktree land"), "{said}");
    let landed = run(&["worktree", "land", "--squash", "-m", "both", "work"]).success();
    assert!(landed.starts_with("landed 1 commit on main"), "{landed}");
    assert_eq!(fs::read_to_string(repo.join("a")).unwrap(), "one\ntwo\nthree\n");
    assert_eq!(git(&repo, &["log", "-1", "--format=%s"]).trim(), "both");

    fs::write(tree.join("dirt"), "x").unwrap();
    let said = run(&["worktree", "remove", "work"]).failure(1);
    assert!(said.contains("local changes") && said.contains("--force"), "{said}");
    assert!(tree.join("dirt").exists());
    fs::remove_file(tree.join("dirt")).unwrap();
    // A squash is another commit with the same work, so nothing is lost.
    run(&["worktree", "remove", "--delete-branch", "work"]).success();
    assert!(!tree.exists());
    let left = run(&["worktree", "list", "--json"]).json();
    assert_eq!(left["worktrees"].as_array().unwrap().len(), 1, "{left}");
}

#[test]
fn a_review_goes_back_with_comments_and_a_handoff_is_accepted() {
    let daemon = TestDaemon::start();
    let repo = repository(&daemon);
    let agent = open_in(&daemon, &repo, "api");
    fs::write(repo.join("a"), "two\n").unwrap();
    let run = |args: &[&str]| run_in(&daemon, &repo, args);
    let review = run(&["review", "request", "look", "at", "it"]).success().trim().to_owned();
    run(&["review", "comment", &review[28..], "--file", "a", "--line", "1", "why two"]).success();
    let said = run(&["review", "comment", &review, "--line", "1", "x"]).failure(2);
    assert!(said.contains("--file"), "{said}");
    let page = run(&["review", "show", &review]).success();
    assert!(page.contains("+two\n    ▸ why two\n"), "{page}");
    let told = run(&["review", "deliver", &review, "--json"]).json();
    assert_eq!(told["comments"][0]["delivered"], true);
    daemon.rookery(&["wait", &agent, "--text", "a:1: why two"]).success();
    run(&["review", "approve", &review]).success();

    let handoff = run(&["handoff", "create", "--next", "test it", "go", "on"]).success();
    let handoff = handoff.trim();
    let inbox = run(&["inbox"]).success();
    assert!(inbox.contains("blocked") && inbox.contains("Handoff: Handoff: go on"), "{inbox}");
    run(&["inbox", "resolve", &handoff[28..]]).success();
    run(&["handoff", "accept", handoff]).success();
    assert!(run(&["handoff", "list"]).success().contains("accepted"));
}
