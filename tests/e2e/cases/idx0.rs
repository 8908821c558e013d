//! The idx0 dialect on the real binary: one approval in every view, sessions of all dialects, silent
//! clients, and what survives `kill -9`.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rookery_native::wire::AuditList;
use rookery_testkit::{PATIENCE, TestDaemon, eventually, git, wait_until};
use rookery_wire::Call as _;
use serde_json::{Value, json};

use crate::idx0_link::{ask, done, list};
use crate::roder_link::{Peer, script};
use crate::roost_link::{Link, encoded};

pub(crate) fn state(roost: &mut Link, tab: &str) -> Value {
    let tabs = roost.call("tab.list", json!({}));
    let projects = tabs["projects"].as_array().unwrap().iter();
    let mut tabs = projects.flat_map(|project| project["tabs"].as_array().unwrap().clone());
    tabs.find(|one| one["id"] == tab).unwrap()
}

fn write_steps(path: &str) -> String {
    let args = json!({ "path": path, "content": "x" });
    script(&json!([{ "tool": "write_file", "args": args }, { "text": "done" }]))
}

#[test]
fn one_approval_is_seen_and_decided_everywhere() {
    let mut daemon = TestDaemon::start();
    let dir = daemon.home().join("work");
    fs::create_dir(&dir).unwrap();
    let mut roost = Link::to(daemon.home());
    let opened = roost.call("tab.open", json!({ "argv": ["cat"], "cwd": dir }));
    let tab = opened["tab"]["id"].as_str().unwrap().to_owned();
    let mut roder = Peer::to(&daemon);
    let thread = roder.thread(&dir);

    for (round, decided_by) in ["idx0", "roder", "cli"].into_iter().enumerate() {
        let file = format!("made-{round}");
        let turn = roder.turn(&thread, &write_steps(&file));
        let asked = roder.wait_told("session/approvalRequested");
        let pending = list(daemon.home(), "listApprovals", json!({ "status": "pending" }));
        assert_eq!(pending.len(), 1, "{pending:?}");
        assert_eq!(pending[0]["title"], "write_file");
        let queue = list(daemon.home(), "listQueue", json!({}));
        assert_eq!(queue[0]["category"], "approvalNeeded");
        assert_eq!(queue[0]["relatedObjectID"], pending[0]["id"]);
        let shown = state(&mut roost, &tab);
        assert_eq!(shown["state"], "needs_input");
        assert_eq!(shown["has_notification"], true);
        // The daemon dies before a decision; the next one waits for the same answer.
        if round == 0 {
            daemon.kill9();
            daemon.restart();
            roder = Peer::to(&daemon);
            roost = Link::to(daemon.home());
            let again = list(daemon.home(), "listApprovals", json!({ "status": "pending" }));
            assert_eq!(again, pending);
            assert_eq!(state(&mut roost, &tab)["state"], "needs_input");
        }
        let id = pending[0]["id"].as_str().unwrap();
        match decided_by {
            "idx0" => {
                let answer = json!({ "approvalID": id, "status": "approved" });
                assert_eq!(
                    done(daemon.home(), "respondApproval", answer)["message"],
                    "Approval updated"
                );
            }
            "roder" => {
                let answer = json!({ "approvalId": asked["approvalId"], "approved": true });
                assert_eq!(roder.call("session/resolve_approval", answer)["resolved"], true);
            }
            _ => drop(daemon.rookery(&["approve", &id_of_cli(&daemon)]).success()),
        }
        let told = roder.until_over(&turn);
        assert_eq!(told.last().unwrap().1["turn"]["status"], "completed");
        assert!(dir.join(&file).exists(), "{decided_by}");
        let open = list(daemon.home(), "listApprovals", json!({ "status": "pending" }));
        assert_eq!(open, Vec::<Value>::new());
        let needed = list(daemon.home(), "listQueue", json!({}));
        assert!(needed.iter().all(|item| item["category"] != "approvalNeeded"), "{needed:?}");
        assert_ne!(state(&mut roost, &tab)["state"], "needs_input");
        let late =
            ask(daemon.home(), "respondApproval", json!({ "approvalID": id, "status": "denied" }));
        assert_eq!(late["message"], "Approval already resolved.");
    }
}

#[test]
fn of_two_who_decide_at_once_one_wins_and_the_turn_follows_it() {
    let daemon = TestDaemon::start();
    let dir = daemon.home().join("work");
    fs::create_dir(&dir).unwrap();
    let mut roder = Peer::to(&daemon);
    let thread = roder.thread(&dir);
    let mut won = (0, 0);
    for round in 0..8 {
        let file = format!("made-{round}");
        let command = json!({ "command": format!("touch {file}") });
        let steps = script(&json!([{ "tool": "shell", "args": command }, { "text": "done" }]));
        let turn = roder.turn(&thread, &steps);
        let asked = roder.wait_told("session/approvalRequested");
        let pending = list(daemon.home(), "listApprovals", json!({ "status": "pending" }));
        assert!(pending[0]["requestedAction"].as_str().unwrap().contains(&file), "{pending:?}");
        let approve = json!({ "approvalID": pending[0]["id"], "status": "approved" });
        let deny = json!({ "approvalId": asked["approvalId"], "approved": false });
        let (approved, denied) = std::thread::scope(|scope| {
            let home = daemon.home();
            let approving = scope.spawn(move || ask(home, "respondApproval", approve));
            let denied = roder.call("session/resolve_approval", deny);
            (approving.join().unwrap(), denied["resolved"] == true)
        });
        let is_approved = approved["success"] == true;
        assert!(is_approved != denied, "one of them wins: {approved} {denied}");
        if !is_approved {
            assert_eq!(approved["message"], "Approval already resolved.");
        }
        roder.until_over(&turn);
        assert_eq!(dir.join(&file).exists(), is_approved);
        won = if is_approved { (won.0 + 1, won.1) } else { (won.0, won.1 + 1) };
    }
    let audit = daemon.client().call(AuditList::METHOD, json!({ "limit": 1_000 }));
    let settled = audit["decisions"].as_array().unwrap().iter().filter(|one| one["by"].is_string());
    let by = |who: &str| settled.clone().filter(|one| one["by"] == who).count();
    assert_eq!((by("idx0"), by("roder")), won, "{audit}");
}

pub(crate) fn id_of_cli(daemon: &TestDaemon) -> String {
    let inbox = daemon.rookery(&["inbox", "--json"]).json();
    let rows = inbox.as_array().cloned().or_else(|| inbox["requests"].as_array().cloned());
    rows.unwrap()[0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn sessions_of_all_dialects_have_one_name_for_ever() {
    let mut daemon = TestDaemon::start();
    let home = daemon.home().path().to_owned();
    let tell = |file: &str| {
        let file = home.join(file);
        format!(
            "printf %s \"$IDX0_SESSION_ID\" > {0}.new && mv {0}.new {0}; exec cat",
            file.display()
        )
    };
    let mut roost = Link::to(daemon.home());
    roost.call("tab.open", json!({ "argv": ["sh", "-c", tell("from-roost")] }));
    let client = daemon.client();
    client
        .call("session.create", json!({ "program": "sh", "args": ["-c", tell("from-ptywright")] }));
    let names: Vec<String> = ["from-roost", "from-ptywright"]
        .map(|file| eventually(file, PATIENCE, || fs::read_to_string(home.join(file)).ok()))
        .to_vec();
    let known =
        |daemon: &TestDaemon| done(daemon.home(), "listSessions", json!({}))["data"].clone();
    let before = known(&daemon);
    for name in &names {
        assert!(before[name].is_string(), "{name} in {before}");
    }
    daemon.kill9();
    daemon.restart();
    assert_eq!(known(&daemon), before);
}

#[test]
fn silent_clients_block_no_other_and_replies_survive_a_kill() {
    let mut daemon = TestDaemon::start();
    let connect = || UnixStream::connect(daemon.home().join("run/idx0/idx0.sock")).unwrap();
    let silent: Vec<UnixStream> = (0..20).map(|_| connect()).collect();
    let mut half: Vec<UnixStream> = (0..5).map(|_| connect()).collect();
    for stream in &mut half {
        stream.write_all(br#"{"command":"listQu"#).unwrap();
    }
    let made = done(daemon.home(), "newSession", json!({ "title": "api", "wait": "1" }));
    let session = made["data"]["sessionID"].clone();
    let said = json!({ "sessionID": session, "title": "remember me" });
    done(daemon.home(), "notify", said);
    daemon.kill9();
    drop((silent, half));
    daemon.restart();
    let queue = list(daemon.home(), "listQueue", json!({}));
    assert!(queue.iter().any(|item| item["title"] == "remember me"), "{queue:?}");
    assert_eq!(
        done(daemon.home(), "listSessions", json!({}))["data"][session.as_str().unwrap()],
        "api"
    );
}

#[test]
fn a_session_works_in_a_worktree_of_its_own_and_is_captured() {
    let daemon = TestDaemon::start();
    let repo = daemon.home().join("repo");
    fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "-q"]);
    fs::write(repo.join("a"), "one\n").unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "first"]);
    let made =
        json!({ "title": "Fix it!", "repoPath": repo, "createWorktree": "true", "wait": "1" });
    done(daemon.home(), "newSession", made);
    let trees = git(&repo, &["worktree", "list", "--porcelain"]);
    let tree = trees.lines().filter_map(|line| line.strip_prefix("worktree ")).nth(1).unwrap();
    let tree = Path::new(tree).to_owned();
    assert!(trees.contains("refs/heads/idx0/fix-it-"), "{trees}");
    fs::write(tree.join("a"), "two\n").unwrap();
    fs::write(tree.join("née"), "new\n").unwrap();
    let asked = json!({ "session": "Fix it!", "requestReview": "1" });
    done(daemon.home(), "createCheckpoint", asked);
    wait_until("the checkpoint is made", PATIENCE, || {
        !list(daemon.home(), "listCheckpoints", json!({})).is_empty()
    });
    let made = list(daemon.home(), "listCheckpoints", json!({})).remove(0);
    assert_eq!(made["diffStat"], json!({ "additions": 2, "deletions": 1, "filesChanged": 2 }));
    assert_eq!(made["worktreePath"], tree.to_str().unwrap());
    let review = list(daemon.home(), "listReviews", json!({})).remove(0);
    assert_eq!(review["changedFiles"], made["changedFiles"]);
    let refs = git(&repo, &["for-each-ref", "refs/rookery/checkpoints"]);
    assert_eq!(refs.lines().count(), 1);
    let refused = ask(daemon.home(), "removeWorktree", json!({ "session": "Fix it!" }));
    assert_eq!(refused["message"], "Worktree has local changes. Clean it before deletion.");
    done(daemon.home(), "removeWorktree", json!({ "session": "Fix it!", "force": "1" }));
    assert!(!tree.exists());
}

#[test]
fn a_worktree_session_without_a_title_keeps_the_one_that_it_gets() {
    let daemon = TestDaemon::start();
    let repo = daemon.home().join("repo");
    fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "-q"]);
    git(&repo, &["commit", "-qm", "first", "--allow-empty"]);
    let branch = json!({
        "repoPath": repo, "branchName": "topic", "createWorktree": "true", "wait": "1",
    });
    let made = done(daemon.home(), "newSession", branch);
    let id = made["data"]["sessionID"].as_str().unwrap().to_owned();
    let mut roost = Link::to(daemon.home());
    let tab = roost.call("identify", json!({}))["active_tab_id"].clone();
    // What a shell calls itself is not what the session is called.
    let line = b"printf '\\033]0;elsewhere\\007'; echo do''ne\n";
    roost.call("tab.write", json!({ "tab_id": tab, "data": encoded(line) }));
    wait_until("the shell has spoken", PATIENCE, || {
        roost.call("tab.dump", json!({ "tab_id": tab }))["rows_text"].to_string().contains("done")
    });
    let titles = done(daemon.home(), "listSessions", json!({}))["data"].clone();
    assert_eq!(titles[id.as_str()], "repo: topic", "{titles}");
}

#[test]
fn the_tool_speaks_as_the_original_does() {
    let daemon = TestDaemon::start();
    let idx0 = |args: &[&str]| daemon.rookery(&[&["idx0"], args].concat());
    assert_eq!(idx0(&["list-sessions"]).success().trim_end(), "No sessions");
    assert_eq!(idx0(&["queue"]).success().trim_end(), "Queue empty");
    assert_eq!(
        idx0(&["new-session", "--title", "api"]).success().trim_end(),
        "Session creation requested"
    );
    wait_until("the session is there", PATIENCE, || {
        idx0(&["list-sessions"]).success().trim_end().ends_with("\tapi")
    });
    assert_eq!(idx0(&["focus", "--session", "api"]).success().trim_end(), "Focused 'api'");
    assert_eq!(
        idx0(&["focus"]).failure(1).trim_end(),
        "idx0: focus requires --session <id-or-title>"
    );
    assert_eq!(
        idx0(&["focus", "--session=nope"]).failure(1).trim_end(),
        "idx0: No session matched 'nope'"
    );
    assert!(idx0(&["help"]).success().contains("respond-approval"));
    let mut stream = UnixStream::connect(daemon.home().join("run/idx0/idx0.sock")).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert_eq!(reply, r#"{"success":false,"message":"Invalid IPC request: the request is empty"}"#);
}
