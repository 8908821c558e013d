//! The store cannot save, as on a full disk: what is refused does not happen, neither then nor later.

use std::fs;

use rookery_native::wire::TerminalOpen;
use rookery_testkit::{Home, PATIENCE, TestDaemon, wait_until};
use rookery_wire::Call as _;
use rusqlite::Connection;
use serde_json::json;

use crate::idx0_link::{ask, done, list};
use crate::roder_link::{Peer, script};

/// Keeps the daemon from saving until it is dropped.
struct Full(Connection);

impl Full {
    fn new(home: &Home) -> Full {
        let database = home.join("state/rookery/rookery.db");
        let connection = Connection::open(database).unwrap();
        connection.busy_timeout(PATIENCE).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        Full(connection)
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        self.0.execute_batch("ROLLBACK").unwrap();
    }
}

/// Waits until the store saves again: everything that waited is saved by then.
fn saves_again(daemon: &TestDaemon) {
    wait_until("the store saves again", PATIENCE, || {
        let asked = json!({ "title": "does it save?" });
        ask(daemon.home(), "newSession", asked)["success"] == true
    });
    wait_until("nothing waits to be saved", PATIENCE, || {
        daemon.client().status()["storeQueue"] == 0
    });
}

#[test]
fn an_answer_that_was_refused_has_no_effect_later() {
    let mut daemon = TestDaemon::start();
    let dir = daemon.home().join("work");
    fs::create_dir(&dir).unwrap();
    let mut roder = Peer::to(&daemon);
    let thread = roder.thread(&dir);
    let args = json!({ "path": "made", "content": "x" });
    let steps = script(&json!([{ "tool": "write_file", "args": args }, { "text": "done" }]));
    roder.turn(&thread, &steps);
    let asked = roder.wait_told("session/approvalRequested");
    let pending = list(daemon.home(), "listApprovals", json!({ "status": "pending" }));
    let approve = json!({ "approvalID": pending[0]["id"], "status": "approved" });

    let full = Full::new(daemon.home());
    for _ in 0..2 {
        let refused = ask(daemon.home(), "respondApproval", approve.clone());
        assert_eq!(refused["success"], false, "{refused}");
        let message = refused["message"].as_str().unwrap();
        assert!(message.contains("the store cannot save"), "{message}");
    }
    drop(full);
    saves_again(&daemon);
    let still = list(daemon.home(), "listApprovals", json!({ "status": "pending" }));
    assert_eq!(still, pending);
    assert!(!dir.join("made").exists());

    daemon.kill9();
    daemon.restart();
    let still = list(daemon.home(), "listApprovals", json!({ "status": "pending" }));
    assert_eq!(still, pending);
    assert!(!dir.join("made").exists());
    let mut roder = Peer::to(&daemon);
    let approve = json!({ "approvalId": asked["approvalId"], "approved": true });
    assert_eq!(roder.call("session/resolve_approval", approve)["resolved"], true);
    wait_until("what was approved is done", PATIENCE, || dir.join("made").exists());
}

#[test]
fn a_terminal_that_was_refused_leaves_no_process() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    client.open_sh("read line");
    let before = client.terminals();
    let full = Full::new(daemon.home());
    let argv = json!(["sh", "-c", "echo $$ > refused.pid; exec sleep 100000"]);
    let dir = daemon.home().join("work");
    fs::create_dir(&dir).unwrap();
    for _ in 0..2 {
        let refused = client.refused(TerminalOpen::METHOD, json!({ "argv": argv, "cwd": dir }));
        assert!(refused.message.contains("the store cannot save"), "{}", refused.message);
    }
    if let Ok(pid) = fs::read_to_string(dir.join("refused.pid")) {
        let pid = pid.trim().to_owned();
        wait_until("the refused program is gone", PATIENCE, || {
            !std::path::Path::new("/proc").join(&pid).exists()
        });
    }
    assert_eq!(client.terminals().len(), before.len());
    drop(full);
    saves_again(&daemon);
    let sleeps = |process: &rookery_testkit::Process| process.command.contains("100000");
    assert!(!daemon.home().processes().iter().any(sleeps));
    assert!(client.terminals().iter().all(|one| !one.to_string().contains("100000")));
    done(daemon.home(), "listSessions", json!({}));
}
