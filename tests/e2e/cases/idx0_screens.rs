//! Agents that only have a screen: their dialogs are approvals like all others, and what is decided
//! is typed, but only into the dialog that was decided about.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rookery_native::wire::{Dump, TerminalFilter, TerminalWrite};
use rookery_testkit::{Home, PATIENCE, TestDaemon, eventually};
use rookery_wire::Call as _;
use serde_json::{Value, json};

use crate::idx0_link::{ask, done, list};
use crate::roost_link::Link;

/// Draws a permission dialog as Claude Code does, three times, and notes which keys answer it.
const AGENT: &str = r#"#!/bin/sh
stty -icanon -echo -icrnl min 1
n=0
while [ $n -lt 3 ]; do
  n=$((n + 1))
  printf '\033[2J\033[H'
  cat <<END
❯ run it

⏺ Bash(make step$n)
  ⎿  Waiting…

────────────────────────────────────────────────────────────
 Bash command

   make step$n
   Run step $n

 Do you want to proceed?
 ❯ 1. Yes
   2. No, and tell Claude what to do differently (esc)
END
  key=$(dd bs=1 count=1 2>/dev/null | od -An -tx1 | tr -d ' \n')
  echo "$n:$key" >> "$HOME/answers"
  # A program may take its time to take a dialog away, and draw meanwhile.
  printf '.'; sleep 0.3; printf '.'
done
"#;

/// A daemon that finds this agent.
fn with_agent() -> TestDaemon {
    let home = Home::new();
    let bin = home.join("bin");
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("claude"), AGENT).unwrap();
    fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
    TestDaemon::start_in(home)
}

/// A daemon that finds this agent, and a session in which it was launched.
fn launched() -> (TestDaemon, String) {
    let daemon = with_agent();
    let tools = list(daemon.home(), "listVibeTools", json!({}));
    let claude = tools.iter().find(|tool| tool["id"] == "claude").unwrap();
    assert_eq!(claude["isInstalled"], true, "{claude}");
    let payload = json!({ "title": "agent", "toolID": "claude", "wait": "1" });
    let made = done(daemon.home(), "newSessionWithTool", payload);
    let session = made["data"]["sessionID"].as_str().unwrap().to_owned();
    (daemon, session)
}

/// The approval that waits, once one for this step does.
fn waiting(home: &Home, step: u32) -> Value {
    let what = format!("an approval of step {step}");
    eventually(&what, PATIENCE, || {
        let pending = list(home, "listApprovals", json!({ "status": "pending" }));
        let action = format!("make step{step}");
        pending.into_iter().find(|one| one["requestedAction"].to_string().contains(&action))
    })
}

fn answers(home: &Home) -> String {
    fs::read_to_string(home.join("answers")).unwrap_or_default()
}

fn answered(home: &Home, expected: &str) {
    eventually(expected, PATIENCE, || (answers(home) == expected).then_some(()));
}

fn respond(home: &Home, approval: &Value, status: &str) -> Value {
    ask(home, "respondApproval", json!({ "approvalID": approval["id"], "status": status }))
}

#[test]
fn dialogs_on_a_screen_are_decided_from_the_inbox() {
    let (mut daemon, session) = launched();
    let first = waiting(daemon.home(), 1);
    assert_eq!((&first["title"], &first["sessionID"]), (&json!("Bash"), &json!(session)));
    let queue = list(daemon.home(), "listQueue", json!({}));
    let needed: Vec<&Value> =
        queue.iter().filter(|item| item["category"] == "approvalNeeded").collect();
    assert_eq!(needed.len(), 1, "one matter is one item: {queue:?}");
    assert_eq!(needed[0]["relatedObjectID"], first["id"]);
    let live = daemon.client().call("adapter.live", json!({}));
    assert_eq!(live["adapters"][0]["plugin"], "claude-code");
    let mut roost = Link::to(daemon.home());
    let tabs = roost.call("tab.list", json!({}))["projects"][0]["tabs"].clone();
    assert_eq!(tabs[0]["state"], "needs_input", "{tabs}");

    // It waits through a crash under the same name.
    daemon.kill9();
    daemon.restart();
    assert_eq!(waiting(daemon.home(), 1)["id"], first["id"]);
    assert_eq!(respond(daemon.home(), &first, "approved")["message"], "Approval updated");
    answered(daemon.home(), "1:0d\n");
    let second = waiting(daemon.home(), 2);
    assert_eq!(respond(daemon.home(), &first, "denied")["message"], "Approval already resolved.");
    assert_eq!(respond(daemon.home(), &second, "denied")["message"], "Approval updated");
    answered(daemon.home(), "1:0d\n2:1b\n");

    // What is answered at the terminal is settled, and nothing more is typed for it.
    let third = waiting(daemon.home(), 3);
    let terminals = daemon.client().call(TerminalFilter::METHOD, json!({}));
    let id = terminals["terminals"][0]["id"].clone();
    daemon.client().call(TerminalWrite::METHOD, json!({ "terminal": id, "text": "\r" }));
    answered(daemon.home(), "1:0d\n2:1b\n3:0d\n");
    eventually("nothing waits", PATIENCE, || {
        let pending = list(daemon.home(), "listApprovals", json!({ "status": "pending" }));
        pending.is_empty().then_some(())
    });
    assert_eq!(respond(daemon.home(), &third, "denied")["message"], "Approval already resolved.");
    assert_eq!(answers(daemon.home()), "1:0d\n2:1b\n3:0d\n");
    let all = list(daemon.home(), "listApprovals", json!({}));
    // Enter chose the option that was marked, which is yes.
    let found = all.iter().find(|one| one["id"] == third["id"]).unwrap();
    assert_eq!(found["status"], "approved", "{found}");
    assert_eq!(all.len(), 3, "each dialog was asked about once: {all:?}");
}

#[test]
fn an_agent_that_is_the_program_of_a_tab_is_looked_after_too() {
    let daemon = with_agent();
    let argv = json!([daemon.home().join("bin/claude")]);
    let opened = Link::to(daemon.home()).call("tab.open", json!({ "argv": argv }));
    let first = waiting(daemon.home(), 1);
    let live = daemon.client().call("adapter.live", json!({}));
    assert_eq!(live["adapters"][0]["plugin"], "claude-code", "{live}");
    // The inbox says what is asked, and not twice who asks.
    let inbox = daemon.rookery(&["inbox"]).success();
    assert!(inbox.contains("Bash: make step1"), "{inbox}");
    assert_eq!(respond(daemon.home(), &first, "approved")["message"], "Approval updated");
    answered(daemon.home(), "1:0d\n");
    waiting(daemon.home(), 2);
    // With the tab its adapter goes, and what it asked.
    Link::to(daemon.home()).call("tab.close", json!({ "tab_id": opened["tab"]["id"] }));
    eventually("nothing is left", PATIENCE, || {
        let live = daemon.client().call("adapter.live", json!({}));
        let open = list(daemon.home(), "listApprovals", json!({ "status": "pending" }));
        (live["adapters"] == json!([]) && open.is_empty()).then_some(())
    });
}

#[test]
fn an_agent_that_ended_is_not_answered() {
    let (daemon, _) = launched();
    let first = waiting(daemon.home(), 1);
    // The dialog stays on the screen; behind it is a shell, which would run what is typed.
    let found = daemon.home().processes();
    let agent = found.iter().find(|one| one.command.contains("bin/claude")).unwrap();
    daemon.kill_process(agent.pid);
    eventually("it is taken back", PATIENCE, || {
        let open = list(daemon.home(), "listApprovals", json!({ "status": "pending" }));
        open.is_empty().then_some(())
    });
    assert_eq!(respond(daemon.home(), &first, "approved")["message"], "Approval already resolved.");
    assert_eq!(answers(daemon.home()), "");
}

/// Asks for pastes in brackets, and notes what comes first.
const LISTENER: &str = r#"#!/bin/sh
stty -icanon -echo -icrnl min 1
printf '\033[?2004h> '
dd bs=4096 count=1 of="$HOME/heard.new" 2>/dev/null
mv "$HOME/heard.new" "$HOME/heard"
sleep 60
"#;

#[test]
fn what_is_said_about_changes_reaches_the_agent_in_its_terminal() {
    let home = Home::new();
    fs::create_dir_all(home.join("bin")).unwrap();
    fs::write(home.join("bin/codex"), LISTENER).unwrap();
    fs::set_permissions(home.join("bin/codex"), fs::Permissions::from_mode(0o755)).unwrap();
    let daemon = TestDaemon::start_in(home);
    let home = daemon.home();
    let made = done(home, "newSession", json!({ "title": "api", "wait": "1" }));
    let session = made["data"]["sessionID"].clone();
    let asked = done(home, "requestReview", json!({ "session": session, "summary": "parser" }));
    let review = asked["data"]["reviewID"].clone();
    let changes = json!({ "reviewID": review, "status": "changesRequested", "comment": "name it" });
    // At a prompt it would be run as a command; so it is not typed, and that is told.
    assert_eq!(done(home, "setReviewStatus", changes)["message"], "Review updated");
    let failure = eventually("a failure in the queue", PATIENCE, || {
        let queue = list(home, "listQueue", json!({}));
        queue.into_iter().find(|item| item["title"] == "Review not delivered")
    });
    assert!(failure["subtitle"].as_str().unwrap().contains("no agent runs"), "{failure}");

    let payload = json!({ "title": "agent", "toolID": "codex", "wait": "1" });
    let made = done(home, "newSessionWithTool", payload);
    let session = made["data"]["sessionID"].clone();
    eventually("the agent listens", PATIENCE, || {
        let terminals = daemon.client().call(TerminalFilter::METHOD, json!({}));
        let terminals = terminals["terminals"].as_array().unwrap().clone();
        let id = terminals.iter().find(|one| one["title"] == "agent").unwrap()["id"].clone();
        let dump = daemon.client().call(Dump::METHOD, json!({ "terminal": id }));
        dump.to_string().contains("\\n> ").then_some(())
    });
    let asked = done(home, "requestReview", json!({ "session": session, "summary": "parser" }));
    let review = asked["data"]["reviewID"].clone();
    let changes = json!({ "reviewID": review, "status": "changesRequested", "comment": "name it" });
    done(home, "setReviewStatus", changes);
    let heard = eventually("the comment", PATIENCE, || fs::read_to_string(home.join("heard")).ok());
    assert!(heard.contains("Review of your changes (parser):\n- name it"), "{heard:?}");
    assert!(heard.contains("\u{1b}[200~"), "pasted, not typed: {heard:?}");
}
