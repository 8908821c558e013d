//! Checkpoints, reviews and handoffs of an ordinary git work tree in which no session works.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rookery_native::wire::{CheckpointCreate, CheckpointList};
use rookery_testkit::{Finished, Home, PATIENCE, TestDaemon, git, rookery_binary, wait_until};
use rookery_wire::Call as _;
use serde_json::{Value, json};

use crate::idx0_link::{done, list};
use crate::roder_link::Peer;

/// The name that stands where there is no session, as idx0 writes it.
const NONE: &str = "00000000-0000-0000-0000-000000000000";

/// A repository with a file in a directory, and one commit.
fn repository(daemon: &TestDaemon, name: &str) -> PathBuf {
    let repo = daemon.home().join(name);
    fs::create_dir_all(repo.join("src")).unwrap();
    git(&repo, &["init", "-q"]);
    fs::write(repo.join("src/a"), "one\n").unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "first"]);
    fs::canonicalize(repo).unwrap()
}

fn run_in(daemon: &TestDaemon, dir: &Path, args: &[&str]) -> Finished {
    let mut command = daemon.home().command(rookery_binary());
    command.current_dir(dir).args(args);
    Finished::of(command)
}

/// Nothing was made up to stand for the tree.
#[track_caller]
fn assert_no_session(daemon: &TestDaemon) {
    assert_eq!(daemon.rookery(&["ls", "--json"]).json()["terminals"], json!([]));
    assert_eq!(done(daemon.home(), "listSessions", json!({}))["data"], json!({}));
}

#[test]
fn a_work_tree_without_a_session_is_kept_and_put_back() {
    let mut daemon = TestDaemon::start();
    let repo = repository(&daemon, "repo");
    fs::write(repo.join("src/a"), "one\ntwo\n").unwrap();
    let made = run_in(&daemon, &repo.join("src"), &["checkpoint", "create", "--title", "good"]);
    assert!(made.stderr.contains("1 file, +1 -0"), "{made:?}");
    let id = made.success().trim().to_owned();
    daemon.kill9();
    daemon.restart();

    let run = |args: &[&str]| run_in(&daemon, &repo, args);
    let shown = run(&["checkpoint", "show", "--json", &id]).json();
    let top = repo.to_str().unwrap();
    assert_eq!((&shown["tree"], &shown["repo"]), (&json!(top), &json!(top)), "{shown}");
    assert!(shown.get("session").is_none(), "{shown}");
    assert!(!run(&["checkpoint", "show", &id]).success().contains("session"));
    fs::remove_file(repo.join("src/a")).unwrap();
    fs::write(repo.join("b"), "new\n").unwrap();
    assert!(run(&["checkpoint", "diff", &id]).success().contains("-two"));
    let restored = run(&["checkpoint", "restore", &id[28..]]).success();
    assert!(restored.contains("1 written, 1 removed"), "{restored}");
    assert_eq!(fs::read_to_string(repo.join("src/a")).unwrap(), "one\ntwo\n");
    assert!(!repo.join("b").exists());

    let other = repository(&daemon, "other");
    run_in(&daemon, &other, &["checkpoint", "create"]).success();
    let count = |args: &[&str]| {
        run(&[&["checkpoint", "list", "--json"], args].concat()).json()["checkpoints"]
            .as_array()
            .map(Vec::len)
    };
    assert_eq!(count(&[]), Some(3));
    assert_eq!((count(&["--tree", "src"]), count(&["--tree", "../other"])), (Some(2), Some(1)));
    let kept = list(daemon.home(), "listCheckpoints", json!({}));
    assert!(kept.iter().all(|one| one["sessionID"] == NONE), "{kept:?}");
    assert_eq!(list(daemon.home(), "listTimeline", json!({}))[0]["sessionID"], NONE);
    assert_no_session(&daemon);

    // A session elsewhere, or around the tree, is not taken for it.
    daemon.rookery(&["open", "--title", "home", "--", "cat"]).success();
    let again = run(&["checkpoint", "create", "--json"]).json();
    assert_eq!(again["tree"], top, "{again}");
    run(&["checkpoint", "delete", &id]).success();
}

/// Says when a file was last written to, and nothing else of it.
fn touch(file: &Path) {
    let later = SystemTime::now() + Duration::from_secs(60);
    fs::File::options().append(true).open(file).unwrap().set_modified(later).unwrap();
}

#[test]
fn only_filters_of_the_users_own_settings_say_what_changed() {
    let daemon = TestDaemon::start();
    let trap = daemon.home().join("trap");
    let sprung = daemon.home().join("sprung");
    fs::write(&trap, format!("#!/bin/sh\ntouch {}\ntr a-z A-Z\n", sprung.display())).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let repo = repository(&daemon, "repo");
    fs::write(repo.join(".gitattributes"), "*.own filter=own\n*.its filter=its\n").unwrap();
    for name in ["plain", "text.own", "text.its"] {
        fs::write(repo.join(name), "text\n").unwrap();
    }
    git(&repo, &["config", "filter.own.clean", "tr a-z A-Z"]);
    git(&repo, &["config", "filter.its.clean", "tr a-z A-Z"]);
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "filtered"]);
    // From now on the user's settings name one of them, and the repository's name both otherwise.
    fs::write(daemon.home().join(".gitconfig"), "[filter \"own\"]\n\tclean = tr a-z A-Z\n")
        .unwrap();
    git(&repo, &["config", "filter.own.clean", trap.to_str().unwrap()]);
    git(&repo, &["config", "filter.own.process", trap.to_str().unwrap()]);
    git(&repo, &["config", "filter.its.clean", trap.to_str().unwrap()]);

    let changed = || {
        let made = run_in(&daemon, &repo, &["checkpoint", "create", "--json"]).json();
        made["differences"]["files"].as_array().unwrap_or_else(|| panic!("{made}")).len()
    };
    for name in ["plain", "text.own"] {
        touch(&repo.join(name));
        assert_eq!(changed(), 0, "{name} was only touched");
    }
    fs::write(repo.join("text.own"), "else\n").unwrap();
    assert_eq!(changed(), 1);
    fs::write(repo.join("text.own"), "text\n").unwrap();
    assert_eq!(changed(), 0, "it is again what it was");
    // What only a filter of the repository could tell counts as changed.
    touch(&repo.join("text.its"));
    assert_eq!(changed(), 1);
    assert!(!sprung.exists(), "a program that the repository names was run");
}

#[test]
fn a_checkpoint_of_a_work_tree_that_was_begun_is_finished_after_a_kill() {
    let mut daemon = TestDaemon::start();
    let repo = repository(&daemon, "repo");
    let count = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten().count();
    let (scratch, refs) = (repo.join(".git/rookery"), repo.join(".git/refs/rookery/checkpoints"));
    for round in 0..4 {
        fs::write(repo.join("changing"), format!("{round}\n").repeat(2_000)).unwrap();
        let (known, client) = (count(&refs), daemon.client());
        let before = count(&scratch);
        let title = format!("round {round}");
        let wanted = json!({ "tree": repo, "title": title });
        let begun = client.begin(CheckpointCreate::METHOD, wanted);
        // It is recorded before anything of it is in the repository.
        wait_until("it is begun", PATIENCE, || count(&scratch) > before || count(&refs) > known);
        daemon.kill9();
        drop(begun.end());
        daemon.restart();
        let params = json!({ "tree": repo });
        wait_until("it is there", PATIENCE, || {
            let all = daemon.client().call(CheckpointList::METHOD, params.clone());
            all["checkpoints"].as_array().unwrap().iter().any(|one| one["title"] == title)
        });
    }
    let kept = daemon.client().call(CheckpointList::METHOD, json!({}));
    assert_eq!(kept["checkpoints"].as_array().map(Vec::len), Some(4), "each was made once");
    assert_eq!(git(&repo, &["for-each-ref", "refs/rookery"]).lines().count(), 4);
    git(&repo, &["fsck", "--strict"]);
    assert_no_session(&daemon);
}

#[test]
fn a_review_of_a_work_tree_is_kept_until_there_is_an_agent_to_tell() {
    let mut daemon = TestDaemon::start();
    let repo = repository(&daemon, "repo");
    fs::write(repo.join("src/a"), "two\n").unwrap();
    let asked = run_in(&daemon, &repo, &["review", "request", "look", "at", "it"]);
    let id = asked.success().trim().to_owned();
    let asked =
        run_in(&daemon, &repo, &["review", "comment", &id, "-f", "src/a", "-l", "1", "why"]);
    asked.success();
    daemon.kill9();
    daemon.restart();
    let run = |args: &[&str]| run_in(&daemon, &repo, args);

    let page = run(&["review", "show", &id]).success();
    assert!(page.contains("+two\n    ▸ why\n"), "{page}");
    let inbox = run(&["inbox"]).success();
    assert!(inbox.contains("review") && inbox.contains("repo"), "{inbox}");
    let changes = run(&["review", "changes", &id, "make it three"]);
    assert!(changes.stderr.contains("the review was saved"), "{changes:?}");
    assert!(changes.stderr.contains("no agent works in"), "{changes:?}");
    assert!(changes.stderr.contains("--to SESSION"), "{changes:?}");
    changes.success();
    let reviews = run(&["review", "list", "--tree", ".", "--json"]).json();
    let review = &reviews["reviews"][0];
    assert_eq!((&review["status"], review.get("session")), (&json!("changes_requested"), None));
    assert_eq!(review["comments"][1]["delivered"], false, "{review}");
    let said = run(&["review", "deliver", &id]).failure(1);
    assert!(said.contains("no agent works in") && said.contains("with --to"), "{said}");
    assert!(run(&["review", "deliver", &id, "--to", "unknown"]).failure(1).contains("no session"));
    assert_no_session(&daemon);
    let listed = list(daemon.home(), "listReviews", json!({}));
    assert_eq!(listed[0]["sourceSessionID"], NONE, "{listed:?}");
    let again = json!({ "reviewID": listed[0]["id"], "status": "changesRequested" });
    let updated = done(daemon.home(), "setReviewStatus", again);
    assert!(updated["data"]["warning"].as_str().unwrap().contains("they are kept"), "{updated}");
    assert!(!run(&["inbox"]).success().contains("not delivered"));

    let agent = daemon.rookery(&["open", "--title", "api", "--", "cat"]).success();
    let told = run(&["review", "deliver", &id, "--to", "api", "--json"]).json();
    assert_eq!(told["comments"][0]["delivered"], true, "{told}");
    daemon.rookery(&["wait", agent.trim(), "--text", "src/a:1: why"]).success();

    // One agent works in the tree, so it is told without being named.
    Peer::to(&daemon).thread(&repo.join("src"));
    let changes = run(&["review", "changes", &id, "--json", "and four"]);
    assert_eq!(changes.stderr, "");
    assert_eq!(changes.json()["comments"][2]["delivered"], true);
    Peer::to(&daemon).thread(&repo);
    run(&["review", "comment", &id, "last"]).success();
    assert!(run(&["review", "deliver", &id]).failure(1).contains("2 agents work in"));
    run(&["review", "approve", &id]).success();
    let audit = run(&["audit", "--json", "--verdict", "approved"]).success();
    let decision: Value = serde_json::from_str(audit.lines().last().unwrap()).unwrap();
    assert_eq!(decision["tool"], "review", "{decision}");
}

#[test]
fn an_agent_in_a_terminal_of_the_tree_is_reported() {
    let daemon = TestDaemon::start();
    let repo = repository(&daemon, "repo");
    let run = |args: &[&str]| run_in(&daemon, &repo, args);
    let id = run(&["review", "request"]).success().trim().to_owned();
    let program = daemon.home().join("codex");
    fs::write(
        &program,
        "#!/bin/sh\nstty -echo\necho ready\nwhile read -r line; do echo \"$line\"; done\n",
    )
    .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    // What else runs there is not told: an editor would take the words for commands.
    run(&["open", "--title", "editor", "--", "cat"]).success();
    let agent = run(&["open", "-C", "src", "--", program.to_str().unwrap()]).success();
    wait_until("the agent is recognised", PATIENCE, || {
        let all = daemon.rookery(&["ls", "--json"]).json();
        all["terminals"].as_array().unwrap().iter().any(|one| one["agent"]["kind"] == "codex")
    });
    let changes = run(&["review", "changes", &id, "--json", "not like this"]);
    assert_eq!(changes.stderr, "");
    assert_eq!(changes.json()["comments"][0]["delivered"], true);
    daemon.rookery(&["wait", agent.trim(), "--text", "not like this"]).success();
}

#[test]
fn work_in_a_tree_is_handed_over() {
    let mut daemon = TestDaemon::start();
    let repo = repository(&daemon, "repo");
    let checkpoint = run_in(&daemon, &repo, &["checkpoint", "create"]).success();
    let args = ["handoff", "create", "-c", checkpoint.trim(), "--next", "test it", "go", "on"];
    let id = run_in(&daemon, &repo, &args).success().trim().to_owned();
    daemon.kill9();
    daemon.restart();
    let run = |args: &[&str]| run_in(&daemon, &repo, args);
    let inbox = run(&["inbox"]).success();
    assert!(inbox.contains("blocked") && inbox.contains("Handoff: Handoff: go on"), "{inbox}");
    let handoffs = run(&["handoff", "list", "--tree", "src", "--json"]).json();
    let handoff = &handoffs["handoffs"][0];
    assert_eq!((&handoff["tree"], handoff.get("from")), (&json!(repo.to_str().unwrap()), None));
    assert_eq!(list(daemon.home(), "listHandoffs", json!({}))[0]["sourceSessionID"], NONE);
    let said = run(&["handoff", "create", "--to", "unknown", "x"]).failure(1);
    assert!(said.contains("no session is called") && said.contains("list-sessions"), "{said}");
    assert_no_session(&daemon);
    run(&["handoff", "accept", &id]).success();
    run(&["handoff", "resolve", &id]).success();
    daemon.rookery(&["open", "--title", "api", "--", "cat"]).success();
    let given = run(&["handoff", "create", "--to", "api", "--json", "yours"]).json();
    assert!(given["to"].is_string() && given["tree"].is_string(), "{given}");
}

#[test]
fn the_first_checkpoint_of_a_work_tree_starts_the_daemon() {
    let home = Home::new();
    git(home.path(), &["init", "-q", "repo"]);
    let repo = home.join("repo");
    fs::write(repo.join("a"), "one\n").unwrap();
    let run = |args: &[&str]| {
        let mut command = home.command(rookery_binary());
        command.current_dir(&repo).args(args);
        Finished::of(command)
    };
    assert!(run(&["checkpoint", "list"]).failure(1).contains("no daemon is running"));
    // Nothing is committed yet, which is no reason not to keep it.
    let id = run(&["checkpoint", "create", "--title", "first"]).success();
    fs::remove_file(repo.join("a")).unwrap();
    run(&["checkpoint", "restore", id.trim()]).success();
    assert_eq!(fs::read_to_string(repo.join("a")).unwrap(), "one\n");
    run(&["down", "--all"]).success();
    for args in [["review", "request"], ["handoff", "create"]] {
        run(&args).success();
        run(&["down", "--all"]).success();
    }
    home.assert_no_processes_left();
}

#[test]
fn only_work_trees_that_are_there_are_kept() {
    let daemon = TestDaemon::start();
    let plain = daemon.home().join("plain");
    fs::create_dir(&plain).unwrap();
    let create = |dir: &Path, more: &[&str]| {
        run_in(&daemon, dir, &[&["checkpoint", "create", "--json"], more].concat())
    };
    let said = create(&plain, &[]).failure(1);
    assert!(said.contains("not a git work tree") && said.contains("rookery open"), "{said}");
    let said = create(&plain, &["--tree", "."]).failure(1);
    assert!(said.contains("no git work tree") && said.contains("git init"), "{said}");
    let said = create(&plain, &["--tree", "gone"]).failure(1);
    assert!(said.contains("no directory gone"), "{said}");
    create(&plain, &["--tree", ".", "--session", "x"]).failure(2);
    let bare = daemon.home().join("bare.git");
    git(&plain, &["init", "-q", "--bare", bare.to_str().unwrap()]);
    assert!(create(&bare, &["--tree", "."]).failure(1).contains("no git work tree"));

    let repo = repository(&daemon, "repo");
    let linked = repo.with_file_name("linked");
    git(&repo, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    let made = create(&linked.join("src"), &[]).json();
    assert_eq!(made["tree"], linked.to_str().unwrap(), "{made}");
    assert_eq!((&made["worktree"], &made["repo"]), (&made["tree"], &json!(repo.to_str().unwrap())));
    let link = daemon.home().join("link");
    std::os::unix::fs::symlink(&repo, &link).unwrap();
    assert_eq!(create(&link, &[]).json()["tree"], repo.to_str().unwrap());

    // Its snapshot is in the repository, which is still there.
    let id = made["id"].as_str().unwrap();
    fs::remove_dir_all(&linked).unwrap();
    let said = run_in(&daemon, &repo, &["checkpoint", "restore", id]).failure(1);
    assert!(said.contains("is no longer a git work tree"), "{said}");
    run_in(&daemon, &repo, &["checkpoint", "delete", id]).success();
    assert_eq!(git(&repo, &["for-each-ref", "refs/rookery"]).lines().count(), 1);
    let left = run_in(&daemon, &repo, &["checkpoint", "list", "--json"]).json();
    let id = left["checkpoints"][0]["id"].as_str().unwrap();
    fs::remove_dir_all(&repo).unwrap();
    daemon.rookery(&["checkpoint", "delete", id]).success();
    assert_eq!(daemon.rookery(&["checkpoint", "list", "--json"]).json()["checkpoints"], json!([]));
}
