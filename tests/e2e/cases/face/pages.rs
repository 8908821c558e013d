//! What pages show and do: deciding, threads, reviews, checkpoints, work trees, the audit log, help.

use std::{fs, path::Path};

use rookery_testkit::{Caller, Outer, PATIENCE, TestDaemon, git, wait_until};
use serde_json::{Value, json};

use super::{Face, agent, pages, terminals, wait_page, write_steps};
use crate::roder_link::script;

fn requests(client: &Caller) -> Vec<Value> {
    let list = client.call("rookery/requests/list", json!({}));
    list["requests"].as_array().cloned().unwrap_or_default()
}

/// The decisions in the audit log, newest last.
fn verdicts(daemon: &TestDaemon) -> Vec<String> {
    let lines = daemon.rookery(&["audit", "--json"]).success();
    lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|one| one["by"] != "policy")
        .map(|one| one["verdict"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn an_approval_given_here_is_settled_in_every_dialect() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (mut roder, thread, dir) = agent(&daemon, "work");
    let face = Face::open_in(&daemon, &["--page", "inbox"], &Outer::default());
    face.wait("Inbox  0 wait");
    let turn = roder.turn(&thread, &write_steps("yes", "x\n"));
    roder.wait_told("thread/approvalRequested");
    face.wait("Inbox  1 wait");
    let waits = daemon.rookery(&["idx0", "list-approvals", "--status", "pending"]).success();
    assert!(waits.contains("write_file"), "{waits}");
    face.wait("a approve  d deny…  A remember…  s later  o open");
    face.press_until("a", || dir.join("yes").exists());
    let told = roder.until_over(&turn);
    assert!(told.iter().any(|(name, _)| name == "thread/approvalResolved"), "{told:?}");
    wait_until("idx0 sees none", PATIENCE, || {
        !daemon
            .rookery(&["idx0", "list-approvals", "--status", "pending"])
            .success()
            .contains("write_file")
    });
    face.wait("approved");
    assert_eq!(requests(&client), Vec::<Value>::new());
    assert_eq!(verdicts(&daemon), ["approved"]);
    face.send("q");
    face.leave();
}

#[test]
fn a_card_that_another_settles_is_dead_and_says_by_whom() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (mut roder, thread, dir) = agent(&daemon, "work");
    let turn = roder.turn(&thread, &write_steps("no", "x\n"));
    let face = Face::open_in(&daemon, &["--page", "inbox"], &Outer::default());
    face.wait("a approve  d deny…");
    let request = requests(&client)[0]["id"].as_str().unwrap().to_owned();
    daemon.rookery(&["deny", &request]).success();
    roder.until_over(&turn);
    face.wait("denied by");
    for _ in 0..3 {
        face.send("aA\rd");
    }
    face.send("q");
    wait_page(&client, "workspace");
    assert!(!dir.join("no").exists());
    assert_eq!(verdicts(&daemon), ["denied"]);
    face.leave();
}

#[test]
fn what_was_typed_before_a_card_was_seen_decides_nothing() {
    // A guard so long that no test machine outlasts it by chance.
    let home = rookery_testkit::Home::new();
    let dir = home.join("config/roost");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("config.conf"), "answer-guard-ms = 10000\n").unwrap();
    let daemon = TestDaemon::start_in(home);
    let client = daemon.client();
    let (mut roder, thread, dir) = agent(&daemon, "work");
    roder.turn(&thread, &write_steps("never", "x\n"));
    let face = Face::open(&daemon);
    face.wait("1 wait");
    // All at once: the page opens below keys that were meant for something else.
    face.send(b"\x1b\x0faaaaaa");
    wait_page(&client, "inbox");
    face.wait("a approve  d deny…");
    face.send("a");
    face.wait("read it first");
    face.send("d1A\r");
    face.send("q");
    wait_page(&client, "workspace");
    assert!(!dir.join("never").exists());
    assert_eq!(requests(&client).len(), 1);
    assert_eq!(verdicts(&daemon), Vec::<String>::new());
    face.leave();
    daemon.rookery(&["deny", "--all"]);
}

fn question(id: &str) -> Value {
    let option = |label: &str| json!({ "label": label, "description": format!("about {label}") });
    json!({
        "header": "Format", "id": id, "question": format!("Which {id}?"),
        "options": [option("mdBook"), option("rustdoc")],
    })
}

#[test]
fn questions_are_answered_by_digit_and_by_text() {
    let home = rookery_testkit::Home::new();
    let dir = home.join("config/roost");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("config.conf"), "answer-guard-ms = 0\n").unwrap();
    let daemon = TestDaemon::start_in(home);
    let (mut roder, thread, _) = agent(&daemon, "work");
    let args = json!({ "questions": [question("format"), question("place")] });
    let steps = json!([{ "tool": "request_user_input", "args": args }, { "text": "thanks" }]);
    let turn = roder.turn(&thread, &script(&steps));
    let face = Face::open_in(&daemon, &["--page", "inbox"], &Outer::default());
    face.wait("Which format?");
    face.wait("2 rustdoc — about rustdoc");
    face.wait("3 something else…");
    face.wait("1-3 choose");
    face.send("2");
    // The second question follows, and takes a digit once it is drawn; its answer is written.
    face.press_until("3", || face.pty.text().contains("your own answer"));
    face.send("in the attic\r");
    roder.until_over(&turn);
    let stored = roder.stored(&thread).to_string();
    assert!(stored.contains("in the attic"), "{stored}");
    assert!(stored.contains("rustdoc"), "{stored}");
    face.send("q");
    face.leave();
}

#[test]
fn an_inbox_is_filtered_and_a_session_is_gone_to_from_its_card() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (mut roder, thread, _) = agent(&daemon, "work");
    roder.turn(&thread, &write_steps("named-so", "x\n"));
    let face = Face::open_in(&daemon, &["--page", "inbox"], &Outer::default());
    face.wait("s later  o open");
    face.send("/");
    face.wait("enter done");
    // Letters that decide are letters here.
    face.send("a no such words d");
    face.wait("nothing waits");
    face.send("\x15named");
    face.wait("write_file");
    face.send("\x1b");
    face.wait("s later  o open");
    assert_eq!(requests(&client).len(), 1, "nothing was decided");
    face.press_until("o", || pages(&client) == [json!("thread")]);
    face.wait("waits: tab, then");
    face.leave();
}

#[test]
fn remembering_needs_enter_and_later_keeps_the_request() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (mut roder, thread, dir) = agent(&daemon, "work");
    let turn = roder.turn(&thread, &write_steps("kept", "x\n"));
    let face = Face::open_in(&daemon, &["--page", "inbox"], &Outer::default());
    face.wait("a approve  d deny…");
    let is_later = || face.pty.text().contains(" later");
    face.press_until("s", || {
        let list = requests(&client);
        list.len() == 1 && is_later()
    });
    assert!(!dir.join("kept").exists());
    face.send("g");
    face.wait("a approve  d deny…");
    face.press_until("A", || face.pty.text().contains("enter approve and remember"));
    // Another key does not.
    face.send("j");
    face.wait("a approve  d deny…");
    face.send("\r");
    assert!(!dir.join("kept").exists());
    face.press_until("A", || face.pty.text().contains("enter approve and remember"));
    face.send("\r");
    roder.until_over(&turn);
    assert!(dir.join("kept").exists());
    face.send("q");
    wait_page(&client, "workspace");
    face.leave();
}

#[test]
fn a_turn_is_stopped_by_escape_twice() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (mut roder, thread, _) = agent(&daemon, "work");
    let steps = json!([{ "text": "thinking", "chunks": 8, "delayMs": 10 }, { "hang": true }]);
    let turn = roder.turn(&thread, &script(&steps));
    let face = Face::open(&daemon);
    face.prefix("T");
    wait_page(&client, "threads");
    face.press_until("\r", || super::pages(&client) == [json!("thread")]);
    face.wait("enter steer");
    face.send("\x1b");
    face.wait("esc again stops");
    face.send("\x1b");
    let told = roder.until_over(&turn);
    let (_, last) = told.last().unwrap();
    assert_eq!(last["turn"]["status"], "interrupted", "{last}");
    face.leave();
}

fn repository(daemon: &TestDaemon) -> std::path::PathBuf {
    let repo = daemon.home().join("repo");
    fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "-q", "-b", "main"]);
    fs::write(repo.join("a"), "one\n").unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "first"]);
    fs::canonicalize(repo).unwrap()
}

fn run_in(daemon: &TestDaemon, dir: &Path, args: &[&str]) -> String {
    let mut command = daemon.home().command(rookery_testkit::rookery_binary());
    command.current_dir(dir).args(args);
    rookery_testkit::Finished::of(command).success()
}

#[test]
fn a_review_is_commented_and_the_agent_is_notified() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let repo = repository(&daemon);
    client.call("rookery/projects/create", json!({ "name": "repo", "root": repo }));
    // What stands for an agent: it shows whatever it is sent.
    let dir = repo.to_str().unwrap();
    let opened = daemon.rookery(&["open", "-C", dir, "--title", "api", "--", "cat"]).success();
    let agent: u64 = opened.trim().parse().unwrap();
    fs::write(repo.join("a"), "two\n").unwrap();
    let review = run_in(&daemon, &repo, &["review", "request", "look", "at", "it"]);
    let review = review.trim();
    run_in(&daemon, &repo, &["review", "comment", review, "-f", "a", "-l", "1", "by", "command"]);
    daemon.rookery(&["review", "comment", review, "of", "the", "whole"]).success();
    let face = Face::open_in(&daemon, &["--page", "inbox"], &Outer::default());
    face.wait("look at it");
    face.wait("enter show");
    face.send("\r");
    wait_page(&client, "review");
    face.wait("+ two");
    face.wait("> rookery: by command");
    face.wait("> rookery: of the whole");
    face.send("j");
    face.send("c");
    face.wait("enter comment");
    face.send("why ad two\r");
    face.wait("you: why ad two");
    face.press_until("r", || {
        let review = client.call("rookery/reviews/get", json!({ "id": review }));
        review["status"] == "changes_requested"
    });
    face.wait("changes requested; the agent has your comments");
    client.wait_text(agent, "why ad two");
    let told = client.call("rookery/reviews/get", json!({ "id": review }));
    assert_eq!(told["comments"][2]["line"], 1, "{told}");
    assert_eq!(told["comments"][2]["path"], "a", "{told}");
    assert_eq!(told["comments"][2]["delivered"], true, "{told}");
    assert!(told["comments"][2]["by"].as_str().unwrap().starts_with("tui"), "{told}");
    face.press_until("a", || {
        client.call("rookery/reviews/get", json!({ "id": review }))["status"] == "approved"
    });
    face.send("q");
    wait_page(&client, "workspace");
    face.leave();
}

#[test]
fn a_diff_of_thousands_of_lines_is_read_to_its_end_before_it_is_approved() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let repo = repository(&daemon);
    client.call("rookery/projects/create", json!({ "name": "repo", "root": repo }));
    let lines: String = (1..=4500).map(|number| format!("line-{number}\n")).collect();
    fs::write(repo.join("a"), lines).unwrap();
    let review = run_in(&daemon, &repo, &["review", "request", "a", "long", "one"]);
    let review = review.trim();
    let status = || {
        let review = client.call("rookery/reviews/get", json!({ "id": review }));
        review["status"].as_str().unwrap().to_owned()
    };
    let face = Face::open_in(&daemon, &["--page", "reviews"], &Outer::default());
    face.wait("a long one");
    face.send("\r");
    wait_page(&client, "review");
    face.wait("line-1");
    // The first press only goes on to what was not seen.
    face.decide_until("a", || face.pty.text().contains("a again approves"));
    assert_eq!(status(), "open");
    face.press_until("G", || face.pty.text().contains("line-4500"));
    assert!(!face.pty.text().contains("more lines follow"), "{}", face.pty.text());
    face.decide_until("a", || status() == "approved");
    face.send("q");
    wait_page(&client, "workspace");
    face.leave();
}

#[test]
fn a_checkpoint_is_made_compared_and_restored() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let repo = repository(&daemon);
    client.call("rookery/projects/create", json!({ "name": "repo", "root": repo }));
    let face = Face::open_in(&daemon, &["--page", "checkpoints"], &Outer::default());
    face.wait("nothing here");
    fs::write(repo.join("a"), "kept\n").unwrap();
    face.send("n");
    face.wait("its title");
    face.send("before the rest\r");
    face.wait("checkpoint made");
    face.wait("before the rest");
    fs::write(repo.join("a"), "spoiled\n").unwrap();
    face.send("\r");
    face.wait("spoiled");
    face.wait("kept");
    face.send("\x1b");
    face.wait("Checkpoints");
    face.send("R");
    face.wait("What is there now becomes a safety checkpoint first.");
    face.send("\r");
    face.wait("restored; what was there is checkpoint");
    assert_eq!(fs::read_to_string(repo.join("a")).unwrap(), "kept\n");
    let list = client.call("rookery/checkpoints/list", json!({}));
    assert_eq!(list["checkpoints"].as_array().unwrap().len(), 2, "{list}");
    face.send("q");
    face.leave();
}

#[test]
fn a_work_tree_is_landed_and_removed() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let repo = repository(&daemon);
    client.call("rookery/projects/create", json!({ "name": "repo", "root": repo }));
    run_in(&daemon, &repo, &["worktree", "create", "--branch", "work", "../tree"]);
    let list = client.call("rookery/worktrees/list", json!({ "repo": repo }));
    let of_work = |tree: &&Value| tree["branch"].as_str().is_some_and(|it| it.contains("work"));
    let tree = list["worktrees"].as_array().unwrap().iter().find(of_work).unwrap().clone();
    let tree = std::path::PathBuf::from(tree["path"].as_str().unwrap());
    fs::write(tree.join("b"), "new\n").unwrap();
    let face = Face::open_in(&daemon, &["--page", "worktrees"], &Outer::default());
    face.wait("work");
    let on_work = || {
        let text = face.pty.text();
        text.lines().any(|line| line.contains('›') && line.contains("work"))
    };
    face.step_until("j", on_work);
    face.send("x");
    face.wait("Remove this worktree?");
    face.send("\r");
    // It says why not.
    face.wait("changes");
    assert!(tree.join("b").exists());
    git(&tree, &["add", "."]);
    git(&tree, &["commit", "-qm", "work"]);
    face.send("l");
    face.wait("m merge");
    face.send("s");
    face.wait("landed 1 commits");
    wait_until("it is there", PATIENCE, || repo.join("b").exists());
    face.step_until("j", on_work);
    face.send("x");
    face.wait("Remove this worktree?");
    face.send("\r");
    wait_until("it is gone", PATIENCE, || !tree.exists());
    face.send("q");
    face.leave();
}

#[test]
fn the_audit_log_is_filtered() {
    let daemon = TestDaemon::start();
    let (mut roder, thread, dir) = agent(&daemon, "work");
    for (name, verdict) in [("good", "approve"), ("bad", "deny")] {
        let turn = roder.turn(&thread, &write_steps(name, "x\n"));
        roder.wait_told("thread/approvalRequested");
        let list = daemon.client().call("rookery/requests/list", json!({}));
        let request = list["requests"][0]["id"].as_str().unwrap().to_owned();
        daemon.rookery(&[verdict, &request]).success();
        roder.until_over(&turn);
    }
    assert!(dir.join("good").exists());
    let face = Face::open_in(&daemon, &["--page", "audit"], &Outer::default());
    face.wait("approved");
    face.wait("denied");
    face.send("/denied");
    face.wait_gone("approved");
    face.send("\r");
    face.send("\x1b");
    face.wait("approved");
    face.send("q");
    face.leave();
}

/// A key after the prefix as people write it.
fn spoken(trigger: &rookery_view::keys::Trigger) -> String {
    let shown = trigger.shown();
    match shown.strip_prefix("shift+") {
        Some(letter) if letter.len() == 1 => letter.to_uppercase(),
        _ => shown,
    }
}

#[test]
fn help_lists_every_action_with_the_keys_that_it_has_now() {
    let home = rookery_testkit::Home::new();
    let dir = home.join("config/roost");
    fs::create_dir_all(&dir).unwrap();
    let lines = "keybind = tui:f7 = rename_tab\nkeybind = prefix>shift+z = rename_tab\n";
    fs::write(dir.join("config.conf"), lines).unwrap();
    let daemon = TestDaemon::start_in(home);
    let outer = Outer { size: (110, 160), ..Outer::default() };
    let face = Face::open_in(&daemon, &["--page", "help"], &outer);
    face.wait("typing filters");
    let of = |words: &str| -> Option<String> {
        let text = face.pty.text();
        // Rows end with their last letter.
        text.lines()
            .map(|line| format!("{line}  "))
            .find(|line| line.contains(&format!("{words}  ")))
    };
    for row in rookery_view::keys::ACTIONS {
        let words = row.title.map_or_else(|| row.action.words(), str::to_owned);
        wait_until(&format!("{words} is listed"), PATIENCE, || of(&words).is_some());
        let line = of(&words).unwrap();
        for chord in row.direct() {
            assert!(line.contains(&format!(" {chord}  ")), "{chord}: {line}");
        }
        for key in row.prefixed() {
            assert!(line.contains(&format!(" prefix {}  ", spoken(&key))), "{key}: {line}");
        }
    }
    let line = of("Rename Tab").unwrap();
    assert!(line.contains(" f7 ") && line.contains(" prefix Z "), "{line}");
    face.send("rename tab");
    face.wait_gone("Split Right");
    face.send("\x1b");
    face.wait("Split Right");
    face.send("\x1b");
    face.wait("Nothing runs here yet.");
    face.leave();
}

#[test]
fn the_empty_page_offers_agents_that_are_found() {
    use std::os::unix::fs::PermissionsExt as _;
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let bin = daemon.home().join("bin");
    fs::create_dir(&bin).unwrap();
    let program = bin.join("claude");
    fs::write(&program, "#!/bin/sh\necho I am found; exec cat\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let outer = Outer { env: &[("PATH", &path)], ..Outer::default() };
    let face = Face::open_in(&daemon, &[], &outer);
    face.wait("start claude");
    face.wait("found on this machine");
    assert_eq!(terminals(&client), Vec::<u64>::new());
    face.leave();
}

#[test]
fn in_one_column_changes_are_said_in_the_last_line() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("echo go; exec cat");
    client.wait_text(id, "go");
    let face = Face::open_in(&daemon, &["--plain"], &Outer::default());
    face.wait("go");
    let text = face.pty.text();
    assert!(!text.contains('│') && !text.contains('─') && !text.contains('┌'), "{text}");
    let tab = id.to_string();
    daemon
        .rookery(&["roostctl", "tab", "set-state", "--tab", &tab, "--state", "running"])
        .success();
    face.wait("works");
    daemon
        .rookery(&["roostctl", "tab", "set-state", "--tab", &tab, "--state", "needs_input"])
        .success();
    face.wait("waits");
    face.leave();
}
