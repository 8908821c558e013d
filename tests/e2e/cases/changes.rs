//! What changed, with the real daemon: rollbacks, `kill -9` with a plan that waits, one review settled from
//! two dialects, hostile repositories, commands that go on, and the command line.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rookery_testkit::{Finished, Home, PATIENCE, TestDaemon, git, rookery_binary, wait_until};
use serde_json::{Value, json};

use crate::idx0_link::{ask, done, list};
use crate::roder_link::{Peer, script};
use crate::traced::Traced;

/// A repository with one commit.
fn repository(daemon: &TestDaemon) -> PathBuf {
    let repo = daemon.home().join("repo");
    fs::create_dir_all(&repo).unwrap();
    git(&repo, &["init", "-q", "-b", "main"]);
    fs::write(repo.join("a"), "one\ntwo\nthree\n").unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "first"]);
    fs::canonicalize(repo).unwrap()
}

fn run_in(daemon: &TestDaemon, dir: &Path, args: &[&str]) -> Finished {
    let mut command = daemon.home().command(rookery_binary());
    command.current_dir(dir).args(args);
    Finished::of(command)
}

fn tool(name: &str, args: Value, id: &str) -> Value {
    json!({"tool": name, "args": args, "id": id})
}

fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn hunks_are_rolled_back_after_kill_9_and_by_the_command_line() {
    let mut daemon = TestDaemon::start();
    let dir = fs::canonicalize(daemon.home().path()).unwrap().join("work");
    fs::create_dir(&dir).unwrap();
    let lines: String = (1..=40).map(|line| format!("{line}\r\n")).collect();
    fs::write(dir.join("f"), &lines).unwrap();
    fs::set_permissions(dir.join("f"), fs::Permissions::from_mode(0o640)).unwrap();
    let mut peer = Peer::to(&daemon);
    peer.set_mode("bypass");
    let thread = peer.thread(&dir);
    let edits = json!([
        {"old_string": "3\r\n4\r\n", "new_string": "three\r\nand more\r\n4\r\n"},
        {"old_string": "30\r\n", "new_string": ""},
    ]);
    let steps =
        json!([tool("multi_edit", json!({"path": "f", "edits": edits}), "c1"), {"text": "ok"}]);
    let turn = peer.turn(&thread, &script(&steps));
    peer.until_over(&turn);
    let hunks = peer.call("hunk/list", json!({"threadId": thread}))["hunks"].take();
    assert_eq!(hunks.as_array().unwrap().len(), 2, "{hunks}");
    daemon.kill9();
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    assert_eq!(peer.call("hunk/list", json!({"threadId": thread}))["hunks"], hunks);
    // Another program moved everything meanwhile.
    let now = text_of(&dir.join("f"));
    fs::write(dir.join("f"), format!("new\r\n{now}")).unwrap();
    let first = json!({"threadId": thread, "hunkId": "c1-hunk-1", "confirmed": true});
    assert_eq!(peer.call("hunk/rollback", first.clone()), json!({"rolledBack": true}));
    let again = peer.call("hunk/rollback", first);
    assert!(again["error"].as_str().unwrap().contains("already"), "{again}");
    let listed = run_in(&daemon, &dir, &["hunk", "ls", &thread, "--json"]).json();
    assert_eq!(listed["hunks"][0]["rollback"], "applied");
    let shown = run_in(&daemon, &dir, &["hunk", "show", &thread, "c1-hunk-2"]).success();
    assert!(shown.contains("-30") && !shown.contains('\u{1b}'), "{shown}");
    let refused = run_in(&daemon, &dir, &["hunk", "rollback", &thread, "c1-hunk-2"]);
    assert!(refused.stderr.contains("--yes"), "{refused:?}");
    run_in(&daemon, &dir, &["hunk", "rollback", "--yes", &thread, "c1-hunk-2"]).success();
    assert_eq!(text_of(&dir.join("f")), format!("new\r\n{lines}"));
    let mode = dir.join("f").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let failed = run_in(&daemon, &dir, &["hunk", "rollback", "--yes", &thread, "c1-hunk-2"]);
    assert!(failed.stderr.contains("already"), "{failed:?}");
    // The thread goes, and what it did with it.
    peer.call("thread/delete", json!({"threadId": thread}));
    assert_eq!(peer.call("hunk/list", json!({"threadId": thread}))["hunks"], json!([]));
}

#[test]
fn a_hunk_names_its_call_and_the_newest_checkpoint_of_its_thread() {
    let mut daemon = TestDaemon::start();
    let repo = repository(&daemon);
    let mut peer = Peer::to(&daemon);
    peer.set_mode("bypass");
    let thread = peer.thread(&repo);
    let edit = |peer: &mut Peer, content: &str| {
        let write = tool("write_file", json!({"path": "made", "content": content}), "c1");
        let turn = peer.turn(&thread, &script(&json!([write, {"text": "ok"}])));
        peer.until_over(&turn);
        let listed = peer.call("hunk/list", json!({"threadId": thread, "turnId": turn}));
        listed["hunks"][0].clone()
    };
    let first = edit(&mut peer, "1\n");
    assert_eq!(first["timelineEventId"], "c1", "{first}");
    assert!(first.get("checkpointId").is_none() && first.get("planStepId").is_none(), "{first}");
    let make = ["checkpoint", "create", "--session", &thread, "--json"];
    let made = [(); 2].map(|()| run_in(&daemon, &repo, &make).json()["id"].clone());
    let second = edit(&mut peer, "2\n");
    assert_eq!(second["checkpointId"], made[1], "{second}");
    assert_ne!(second["timelineEventId"], first["timelineEventId"]);
    let other = peer.thread(&repo);
    let args = json!({"path": "made", "content": "3\n"});
    let call = json!({"threadId": other, "toolName": "write_file", "arguments": args});
    peer.call("tools/call", call);
    let others = peer.call("hunk/list", json!({"threadId": other}))["hunks"][0].clone();
    for absent in ["checkpointId", "timelineEventId"] {
        assert!(others.get(absent).is_none(), "{absent}: {others}");
    }
    daemon.kill9();
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    let kept = peer.call("hunk/list", json!({"threadId": thread}))["hunks"].take();
    assert_eq!(kept, json!([first, second]));
}

/// A turn in plan mode that presents a plan, and then edits a file.
fn planning(peer: &mut Peer, dir: &Path) -> (String, String, String) {
    peer.set_mode("plan");
    let thread = peer.thread(dir);
    let plan = json!({"summary": "do it", "next_steps": ["first"], "target_mode": "accept_all"});
    let steps = json!([
        tool("exit_plan_mode", plan, "c1"),
        tool("write_file", json!({"path": "made", "content": "x\n"}), "c2"),
        {"text": "done"},
    ]);
    let turn = peer.turn(&thread, &script(&steps));
    let review = peer.wait_told("plan/reviewCreated")["review"]["id"].as_str().unwrap().to_owned();
    (thread, turn, review)
}

#[test]
fn a_plan_review_that_waits_survives_kill_9_and_is_settled_then() {
    let mut daemon = TestDaemon::start();
    let dir = daemon.home().path().to_owned();
    let (thread, turn, review) = planning(&mut Peer::to(&daemon), &dir);
    let of = json!({"threadId": thread, "reviewId": review});
    let mut peer = Peer::to(&daemon);
    let body = json!({"threadId": thread, "reviewId": review, "anchor": {"step": {"stepId": "step-1"}}, "body": "carefully"});
    peer.call("plan/review/comment", body);
    let before = peer.call("plan/review/read", of.clone());
    daemon.kill9();
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    assert_eq!(peer.call("plan/review/read", of.clone()), before);
    assert_eq!(before["review"]["status"], "awaitingReview");
    assert_eq!(peer.call("plan/review/approve", of.clone())["approved"], true);
    let told = peer.until_over(&turn);
    let statuses: Vec<&str> = told
        .iter()
        .filter(|(name, _)| name == "plan/reviewStatusChanged")
        .map(|(_, told)| told["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["approved", "executing", "completed"]);
    let hunk = &told.iter().find(|(name, _)| name == "hunk/recorded").unwrap().1["hunk"];
    assert_eq!(hunk["planReviewId"], *review);
    assert_eq!(text_of(&dir.join("made")), "x\n");
    // The comment was accepted by the daemon that died, and reached the agent all the same.
    let stored = peer.stored(&thread);
    let said = stored["turns"][0]["items"].as_array().unwrap().iter();
    let said: Vec<&str> = said.filter_map(|item| item["text"].as_str()).collect();
    let comment = "Plan review comment: carefully\n\nThis is about step \"first\"";
    assert!(said.contains(&comment), "{said:?}");
    assert_eq!(peer.call("plan/review/read", of)["review"]["status"], "completed");
}

#[test]
fn one_review_is_settled_from_whichever_dialect_is_first() {
    let daemon = TestDaemon::start();
    let dir = daemon.home().path().to_owned();
    let mut peer = Peer::to(&daemon);
    let (thread, turn, review) = planning(&mut peer, &dir);
    let of = json!({"threadId": thread, "reviewId": review});
    let listed = list(daemon.home(), "listReviews", json!({}));
    assert_eq!((listed.len(), &listed[0]["status"]), (1, &json!("open")));
    let id = listed[0]["id"].as_str().unwrap();
    let shown = daemon.rookery(&["review", "show", id]).success();
    assert!(shown.contains("do it") && shown.contains("- first"), "{shown}");
    let approve = json!({"reviewID": id, "status": "approved"});
    done(daemon.home(), "setReviewStatus", approve.clone());
    let told = peer.until_over(&turn);
    for name in ["session/planExitResolved", "plan/reviewApproved"] {
        assert_eq!(told.iter().filter(|(told, _)| told == name).count(), 1, "{name}");
    }
    let late = peer.refused("plan/review/approve", of.clone());
    assert_eq!(late["message"], "the plan was already approved");
    assert_eq!(ask(daemon.home(), "setReviewStatus", approve)["success"], false);
    // The other way round: refused here, seen there.
    let (thread, turn, review) = planning(&mut peer, &dir);
    let reject = json!({"threadId": thread, "reviewId": review, "reason": "no"});
    assert_eq!(peer.call("plan/review/reject", reject)["rejected"], true);
    peer.until_over(&turn);
    let listed = list(daemon.home(), "listReviews", json!({}));
    let statuses: Vec<&Value> = listed.iter().map(|review| &review["status"]).collect();
    assert!(statuses.contains(&&json!("changesRequested")), "{statuses:?}");
    // And by the request that every client sees.
    let (_, turn, _) = planning(&mut peer, &dir);
    let requests = daemon.rookery(&["inbox", "--json"]).json();
    let request = requests["requests"][0]["id"].as_str().unwrap().to_owned();
    daemon.rookery(&["approve", &request]).success();
    let told = peer.until_over(&turn);
    assert!(told.iter().any(|(name, _)| name == "plan/reviewApproved"));
}

#[test]
fn kill_9_while_files_are_written_leaves_nothing_half_made() {
    let mut daemon = TestDaemon::start();
    let dir = daemon.home().join("written");
    fs::create_dir_all(&dir).unwrap();
    let body = "line\n".repeat(2_000);
    let write = |number: usize| {
        let content = format!("{number}\n{body}");
        let args = json!({"path": format!("deep/{}", number % 3), "content": content});
        tool("write_file", args, &format!("c{number}"))
    };
    let steps: Vec<Value> = (0..40).map(write).collect();
    for round in 1..=6 {
        let mut peer = Peer::to(&daemon);
        peer.set_mode("bypass");
        let thread = peer.thread(&dir);
        peer.turn(&thread, &script(&json!(steps)));
        for _ in 0..round {
            peer.wait_told("hunk/recorded");
        }
        daemon.kill9();
        daemon.restart();
        let names = || {
            let entries = fs::read_dir(dir.join("deep")).unwrap().flatten();
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect::<Vec<_>>()
        };
        // A turn that goes on may write at this very moment.
        wait_until("nothing of ours is left", PATIENCE, || {
            names().iter().all(|name| !name.starts_with(".rookery-"))
        });
        for name in names().iter().filter(|name| !name.starts_with('.')) {
            let text = text_of(&dir.join("deep").join(name));
            assert!(text.ends_with(&body) && text.len() < body.len() + 8, "{name}");
        }
    }
}

/// Settings of a repository that would start a program wherever git starts one.
fn arm(config: &Path, trap: &Path) {
    let (text, dir, trap) = (text_of(config), config.parent().unwrap().display(), trap.display());
    let more = format!(
        "[core]\n\tfsmonitor = {trap}\n\tpager = {trap}\n\thooksPath = {dir}\n[filter \"f\"]\n\tclean = {trap}\n\
         \tsmudge = {trap}\n\tprocess = {trap}\n\trequired = true\n[diff \"d\"]\n\tcommand = {trap}\n\
         \ttextconv = {trap}\n[diff]\n\texternal = {trap}\n[alias]\n\tdiff = !{trap}\n\tstatus = !{trap}\n"
    );
    fs::write(config, text + &more).unwrap();
    for hook in ["post-index-change", "fsmonitor-watchman"] {
        fs::copy(trap.to_string(), config.parent().unwrap().join(hook)).unwrap();
    }
}

#[test]
fn attack_a_hostile_repository_starts_nothing() {
    let traced = Traced::start();
    let daemon = &traced.daemon;
    let repo = repository(daemon);
    let sprung = daemon.home().join("sprung");
    let trap = daemon.home().join("trap");
    fs::write(&trap, format!("#!/bin/sh\necho $0 $@ >>{}\ncat\n", sprung.display())).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    // Another repository inside, which git would look into by itself.
    let sub = repo.join("sub");
    fs::create_dir(&sub).unwrap();
    git(&sub, &["init", "-q", "-b", "main"]);
    fs::write(sub.join("s"), "s\n").unwrap();
    git(&sub, &["add", "."]);
    git(&sub, &["commit", "-qm", "sub"]);
    git(&repo, &["-c", "advice.addEmbeddedRepo=false", "add", "sub"]);
    git(&repo, &["commit", "-qm", "second"]);
    fs::write(sub.join("s"), "later\n").unwrap();
    git(&sub, &["commit", "-qam", "later"]);
    fs::write(sub.join("s"), "dirty\n").unwrap();
    let modules = format!(
        "[submodule \"sub\"]\n\tpath = sub\n\turl = http://127.0.0.1:9/x\n\tupdate = !{}\n",
        trap.display()
    );
    fs::write(repo.join(".gitmodules"), modules).unwrap();
    fs::write(repo.join(".gitattributes"), "* filter=f diff=d\n").unwrap();
    fs::write(sub.join(".gitattributes"), "* filter=f diff=d\n").unwrap();
    arm(&repo.join(".git/config"), &trap);
    arm(&sub.join(".git/config"), &trap);
    fs::write(repo.join("a"), "one\n2\nthree\n").unwrap();
    let names =
        ["--output=owned", "$(touch owned)", "new\nline", "\u{1b}]0;owned\u{7}", "-", ":(top)x"];
    for name in names {
        fs::write(repo.join(name), "x\n").unwrap();
    }
    std::os::unix::fs::symlink("/etc/passwd", repo.join("link")).unwrap();
    let mut peer = Peer::to(daemon);
    peer.set_mode("bypass");
    traced.begin();
    let workspace = json!({"workspace": repo});
    let listed = peer.call("git/changes/list", workspace);
    let paths: Vec<&str> = listed["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    for path in ["a", "link", "sub"].iter().chain(&names) {
        assert!(paths.contains(path), "{path:?} in {paths:?}");
    }
    for path in paths {
        let params = json!({"workspace": repo, "path": path});
        match path.starts_with(':') {
            true => drop(peer.refused("git/changes/read", params)),
            false => {
                let read = peer.call("git/changes/read", params);
                assert!(!read["patch"].as_str().unwrap().contains("root:"), "{read}");
            }
        }
    }
    let seen = traced.seen();
    assert!(seen.iter().any(|line| line.contains("\"git\"")), "git is in the trace: {seen:?}");
    let seen = traced.seen_beside_git();
    assert_eq!(seen, [] as [&str; 0], "by tracing, nothing but git started and nothing connected");
    let thread = peer.thread(&repo);
    let exec = json!({"command": ["sh", "-c", "echo x > new"], "threadId": thread});
    assert_eq!(peer.call("command/exec", exec)["exitCode"], 0);
    let seen = peer.call("workspace/changes/list", json!({"threadId": thread}));
    assert_eq!(seen["changes"][0]["files"][0]["path"], "new", "{seen}");
    assert!(!sprung.exists(), "{}", text_of(&sprung));
    assert!(!repo.join("owned").exists() && !daemon.home().join("owned").exists());
}

#[test]
fn attack_a_repository_that_names_another_work_tree_shows_nothing_of_it() {
    let daemon = TestDaemon::start();
    let (repo, outside) = (repository(&daemon), daemon.home().join("outside"));
    fs::create_dir(&outside).unwrap();
    git(&outside, &["init", "-q"]);
    fs::write(outside.join("secret"), "geheim\n").unwrap();
    let mut peer = Peer::to(&daemon);
    peer.set_mode("bypass");
    for named in [outside.as_path(), repo.parent().unwrap(), Path::new("/")] {
        git(&repo, &["config", "core.worktree", named.to_str().unwrap()]);
        let refused = peer.refused("git/changes/list", json!({"workspace": repo}));
        assert!(refused["message"].as_str().unwrap().starts_with("git failed: "), "{refused}");
        let params = json!({"workspace": repo, "path": "secret"});
        peer.refused("git/changes/read", params);
        let thread = peer.thread(&repo);
        let exec =
            json!({"command": ["sh", "-c", "echo more >> ../outside/secret"], "threadId": thread});
        assert_eq!(peer.call("command/exec", exec)["exitCode"], 0, "work goes on");
        let seen = peer.call("workspace/changes/list", json!({"threadId": thread}));
        assert_eq!(seen["changes"], json!([]));
        let ended = run_in(&daemon, &repo, &["changes", "ls"]);
        assert!(!ended.status.success() && !ended.stdout.contains("secret"), "{ended:?}");
        let ended = run_in(&daemon, &repo, &["checkpoint", "create"]);
        assert!(!ended.status.success(), "{ended:?}");
    }
}

#[test]
fn work_trees_that_are_not_whole_within_the_roots_are_not_looked_at() {
    let home = Home::new();
    let (repo, other) = (home.join("repo"), home.join("other"));
    let dir = home.join("config/rookery");
    fs::create_dir_all(&dir).unwrap();
    let roots = format!("[fs]\nroots = [\"{}/sub\", \"{}\"]\n", repo.display(), other.display());
    fs::write(dir.join("config.toml"), roots).unwrap();
    let daemon = TestDaemon::start_in(home);
    let (repo, sub) = (repository(&daemon), repo.join("sub"));
    fs::write(repo.join("a"), "geheim\n").unwrap();
    for dir in [&sub, &other] {
        fs::create_dir(dir).unwrap();
    }
    git(&other, &["init", "-q"]);
    fs::write(other.join("b"), "b\n").unwrap();
    let mut peer = Peer::to(&daemon);
    peer.refused("git/changes/list", json!({"workspace": sub}));
    peer.refused("git/changes/read", json!({"workspace": sub, "path": "a"}));
    let made = peer.call("workspace/create", json!({"roots": [{"path": sub}]}));
    let id = &made["workspace"]["id"];
    peer.refused("vcs/status", json!({"workspaceId": id}));
    peer.refused("vcs/changes/list", json!({"workspaceId": id}));
    peer.refused("vcs/changes/read", json!({"workspaceId": id, "path": "a"}));
    for command in [["changes", "ls"].as_slice(), &["changes", "show", "a"]] {
        let ended = run_in(&daemon, &sub, command);
        assert!(!ended.status.success() && !ended.stdout.contains("geheim"), "{ended:?}");
    }
    let listed = peer.call("git/changes/list", json!({"workspace": other}));
    assert_eq!(listed["files"][0]["path"], "b");
}

#[test]
fn commands_that_go_on_and_run_at_once_are_seen() {
    let daemon = TestDaemon::start();
    let repo = repository(&daemon);
    let mut peer = Peer::to(&daemon);
    peer.set_mode("bypass");
    let thread = peer.thread(&repo);
    let going = json!({"cmd": "read x; echo y > late; read x; echo z > later", "tty": true, "yield_time_ms": 10});
    let steps = json!([
        tool("exec_command", going, "c1"),
        tool("write_stdin", json!({"session_id": 1, "chars": "go\n", "yield_time_ms": 500}), "c2"),
        {"text": "ok"},
    ]);
    let turn = peer.turn(&thread, &script(&steps));
    peer.until_over(&turn);
    let read = |peer: &mut Peer| {
        let seen = peer.call("workspace/changes/list", json!({"threadId": thread}));
        seen["changes"].as_array().unwrap().clone()
    };
    wait_until("the command was seen", PATIENCE, || !read(&mut peer).is_empty());
    let seen = read(&mut peer);
    let paths: Vec<&Value> = seen
        .iter()
        .flat_map(|one| one["files"].as_array().unwrap())
        .map(|file| &file["path"])
        .collect();
    assert_eq!(paths, [&json!("late")], "{seen:?}");
    assert!(seen.iter().all(|one| one["toolCallId"] == "c1" || one["toolCallId"] == "c2"));
    // Two at once: neither can be told from the other.
    let both = json!([
        {"tools": [
            {"name": "shell", "args": {"command": "while [ ! -e second ]; do :; done; echo 1 > first"}, "id": "p1"},
            {"name": "shell", "args": {"command": "echo 2 > second; while [ ! -e first ]; do :; done"}, "id": "p2"},
        ]},
        {"text": "ok"},
    ]);
    let turn = peer.turn(&thread, &script(&both));
    let told = peer.until_over(&turn);
    let shared: Vec<&Value> = told
        .iter()
        .filter(|(name, _)| name == "workspace/changeObserved")
        .map(|(_, told)| &told["change"]["shared"])
        .collect();
    assert!(!shared.is_empty() && shared.iter().all(|it| **it == json!(true)), "{told:?}");
    let listed = run_in(&daemon, &repo, &["changes", "ls", "--thread", &thread, "--json"]).json();
    assert!(listed["observed"].as_array().unwrap().len() >= 2, "{listed}");
}

#[test]
fn the_command_line_lists_and_shows_changes() {
    let daemon = TestDaemon::start();
    let repo = repository(&daemon);
    fs::write(repo.join("a"), "one\n2\nthree\n").unwrap();
    fs::write(repo.join("é new"), "n\n").unwrap();
    let table = run_in(&daemon, &repo, &["changes", "ls"]).success();
    assert!(table.contains("2 files, +2 -1"), "{table}");
    assert!(table.contains("é new") && !table.contains('\u{1b}'), "{table}");
    let json = run_in(&daemon, &repo, &["changes", "ls", "--json"]).json();
    assert_eq!(json["tree"]["files"][0]["path"], "a", "{json}");
    let patch = run_in(&daemon, &repo, &["changes", "show", "a"]).success();
    assert!(patch.contains("-two\n+2\n"), "{patch}");
    let none = run_in(&daemon, &repo, &["changes", "show", "a", "--area", "staged"]);
    assert!(none.stderr.contains("nothing changed in a; `rookery changes ls`"), "{none:?}");
    let outside = run_in(&daemon, daemon.home().path(), &["changes", "ls"]);
    assert!(outside.stderr.contains("not a git repository"), "{outside:?}");
    assert!(outside.stderr.contains("--workspace"), "it says what to do: {outside:?}");
}
