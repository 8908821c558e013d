//! Teams outlive the daemon: what was promised is on disk, what was not taken up is said again, and what was
//! delivered is not lost.

use std::collections::BTreeSet;
use std::fs;

use rookery_testkit::{PATIENCE, Random, TestDaemon, eventually};
use serde_json::{Value, json};

use crate::roder_link::{Peer, script};

const HANG: &str = r#"MOCK_SCRIPT:[{"hang": true}]"#;

fn team(daemon: &TestDaemon, names: &[&str]) -> Value {
    let members: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    daemon.client().call("team/start", json!({ "members": members }))["team"].take()
}

fn say(daemon: &TestDaemon, team: &Value, member: &str, text: &str) -> String {
    let params = json!({ "teamId": team["id"], "memberId": member, "text": text });
    let told = daemon.client().call("team/member/message", params);
    told["turnId"].as_str().unwrap().to_owned()
}

fn read(daemon: &TestDaemon, team: &Value) -> Value {
    daemon.client().call("team/read", json!({ "teamId": team["id"] }))
}

fn member<'a>(read: &'a Value, id: &str) -> &'a Value {
    let members = read["team"]["members"].as_array().unwrap();
    members.iter().find(|member| member["id"] == id).unwrap()
}

/// What teammates were told.
fn tasks(messages: &Value) -> Vec<Value> {
    let all = messages.as_array().unwrap().iter();
    all.filter(|one| one["kind"] == "NEW_TASK").cloned().collect()
}

/// What the user said in a thread, in order.
fn said(daemon: &TestDaemon, thread: &Value) -> Vec<String> {
    let params = json!({ "threadId": thread, "includeTurns": true });
    let read = daemon.client().call("thread/read", params);
    let turns = read["thread"]["turns"].as_array().unwrap().clone();
    let items = turns.iter().flat_map(|turn| turn["items"].as_array().unwrap().clone());
    let users = items.filter(|item| item["type"] == "userMessage");
    users.map(|item| item["text"].as_str().unwrap().to_owned()).collect()
}

fn file(daemon: &TestDaemon, team: &Value) -> Value {
    let name = format!("data/rookery/teams/{}.json", team["id"].as_str().unwrap());
    let text = fs::read_to_string(daemon.home().join(&name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn what_members_were_told_survives_kill_9() {
    let mut daemon = TestDaemon::start();
    let team = team(&daemon, &["one", "two"]);
    let thread = member(&read(&daemon, &team), "member-1")["threadId"].clone();
    let turn = say(&daemon, &team, "member-1", HANG);
    // The turn hangs in its model, so it cannot take this up.
    let later = r#"MOCK_SCRIPT:[{"text": "after all"}]"#;
    assert_eq!(say(&daemon, &team, "member-1", later), turn);
    let kept = file(&daemon, &team);
    let delivered = |kept: &Value| {
        let tasks = tasks(&kept["mailbox"]);
        tasks.iter().map(|one| one["delivered"].as_bool().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(delivered(&kept), [true, false]);
    daemon.kill9();
    daemon.restart();
    let after = eventually("the message is delivered after all", PATIENCE, || {
        let now = read(&daemon, &team);
        let is_done = member(&now, "member-1")["finalMessage"] == "after all";
        is_done.then_some(now)
    });
    assert_eq!(said(&daemon, &thread), [HANG, later], "each once");
    assert!(tasks(&after["messages"]).iter().all(|one| one["delivered"] == true));
    assert_eq!(member(&after, "member-2"), &team["members"][2]);
    // A second restart has nothing left to say, once it is known that all was delivered.
    eventually("that is on disk", PATIENCE, || {
        delivered(&file(&daemon, &team)).iter().all(|is_delivered| *is_delivered).then_some(())
    });
    daemon.kill9();
    daemon.restart();
    let again = read(&daemon, &team);
    assert_eq!(said(&daemon, &thread), [HANG, later]);
    assert_eq!(member(&again, "member-1")["status"], "completed");
    assert_eq!(daemon.client().call("team/list", json!({}))["data"][0]["id"], team["id"]);
}

#[test]
fn a_member_that_waits_still_waits_and_hears_what_it_was_told_once() {
    let mut daemon = TestDaemon::start();
    let team = team(&daemon, &["one"]);
    let thread = member(&read(&daemon, &team), "member-1")["threadId"].clone();
    let write = r#"MOCK_SCRIPT:[{"tool": "write_file", "args": {"path": "a", "content": "b"}}, {"text": "ok"}]"#;
    let turn = say(&daemon, &team, "member-1", write);
    let is_blocked = |daemon: &TestDaemon| {
        (member(&read(daemon, &team), "member-1")["status"] == "blocked").then_some(())
    };
    eventually("the member is blocked", PATIENCE, || is_blocked(&daemon));
    assert_eq!(say(&daemon, &team, "member-1", "and be quick"), turn);
    daemon.kill9();
    daemon.restart();
    is_blocked(&daemon).unwrap();
    assert_eq!(member(&read(&daemon, &team), "member-1")["currentTurnId"], json!(turn));
    let pending = daemon.client().call("session/get", json!({}))["pendingApprovals"].take();
    // Denied: a teammate works where the daemon was started, which is not this test's to write to.
    let answer = json!({ "approvalId": pending[0]["approvalId"], "approved": false });
    daemon.client().call("session/resolve_approval", answer);
    eventually("the member is done", PATIENCE, || {
        let now = read(&daemon, &team);
        let all = tasks(&now["messages"]).iter().all(|one| one["delivered"] == true);
        (all && member(&now, "member-1")["status"] == "completed").then_some(())
    });
    assert_eq!(said(&daemon, &thread), [write, "and be quick"], "each once");
}

#[test]
fn a_damaged_file_is_moved_aside_and_a_team_that_was_cleaned_up_stays_gone() {
    let mut daemon = TestDaemon::start();
    let (kept, broken, gone) =
        (team(&daemon, &[]), team(&daemon, &["one"]), team(&daemon, &["two"]));
    daemon.client().call("team/cleanup", json!({ "teamId": gone["id"] }));
    let path = |team: &Value| {
        let name = format!("data/rookery/teams/{}.json", team["id"].as_str().unwrap());
        daemon.home().join(&name)
    };
    let (dir, broken_path) = (path(&kept).parent().unwrap().to_owned(), path(&broken));
    fs::write(&broken_path, "{\"id\": 1").unwrap();
    daemon.kill9();
    daemon.restart();
    let list = daemon.client().call("team/list", json!({}));
    let ids: Vec<&Value> = list["data"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, [&kept["id"]]);
    let aside = fs::read_dir(dir).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name().into_string().unwrap();
        name.starts_with(broken["id"].as_str().unwrap()) && name.contains(".corrupt-")
    });
    assert_eq!(aside.count(), 1);
    let thread = &broken["members"][1]["threadId"];
    let read = daemon.client().call("thread/read", json!({ "threadId": thread }));
    assert_eq!(read["thread"]["name"], "one", "its threads are there");
}

#[test]
fn an_answer_for_the_lead_survives_kill_9_and_comes_with_its_next_turn() {
    let mut daemon = TestDaemon::start();
    let team = team(&daemon, &["one"]);
    say(&daemon, &team, "member-1", r#"MOCK_SCRIPT:[{"text": "it is red"}]"#);
    eventually("the member is done", PATIENCE, || {
        (member(&read(&daemon, &team), "member-1")["status"] == "completed").then_some(())
    });
    daemon.kill9();
    daemon.restart();
    let answer = |daemon: &TestDaemon| {
        let all = read(daemon, &team)["messages"].as_array().unwrap().clone();
        let mut answers = all.into_iter().filter(|one| one["kind"] == "FINAL_ANSWER");
        let first = answers.next().unwrap();
        assert!(answers.next().is_none(), "one answer");
        first
    };
    let waiting = answer(&daemon);
    assert_eq!(
        (&waiting["fromMemberId"], &waiting["toMemberId"]),
        (&json!("member-1"), &json!("lead"))
    );
    assert_eq!((&waiting["text"], &waiting["delivered"]), (&json!("it is red"), &json!(false)));
    let lead = &team["leadThreadId"];
    let input = json!([{ "type": "text", "text": "what is new?" }]);
    daemon.client().call("turn/start", json!({ "threadId": lead, "input": input }));
    eventually("the lead has heard it", PATIENCE, || {
        (answer(&daemon)["delivered"] == true).then_some(())
    });
    assert_eq!(said(&daemon, lead), ["what is new?", "[Answer of teammate one]\nit is red"]);
}

#[test]
fn a_kill_in_the_middle_of_a_start_leaves_no_thread_without_a_team() {
    let seed = Random::seed("ROOKERY_TEAM_CRASH_SEED");
    eprintln!("teams: ROOKERY_TEAM_CRASH_SEED={seed}");
    let mut random = Random::new(seed);
    let mut daemon = TestDaemon::start();
    // Its words are the clock.
    let ticks = script(&json!([{ "text": "tick ".repeat(200), "chunks": 200, "delayMs": 1 }]));
    let ticker = Peer::to(&daemon).thread(daemon.home().path());
    for _ in 0..12 {
        let mut peer = Peer::to(&daemon);
        peer.turn(&ticker, &ticks);
        peer.wait_told("item/agentMessage/delta");
        let names = ["one", "two", "three", "four"].map(|name| json!({ "name": name }));
        peer.post("team/start", json!({ "members": names }));
        for _ in 0..random.below(8) {
            peer.wait_told("item/agentMessage/delta");
        }
        daemon.kill9();
        daemon.restart();
        let mut peer = Peer::to(&daemon);
        let threads = peer.call("thread/list", json!({ "limit": 200 }))["data"].take();
        let teams = peer.call("team/list", json!({}))["data"].take();
        let ids = |all: &Value, name: &str| -> BTreeSet<String> {
            let all = all.as_array().unwrap().iter();
            all.map(|one| one[name].as_str().unwrap().to_owned()).collect()
        };
        let teams = teams.as_array().unwrap().iter();
        let members = teams.flat_map(|team| ids(&team["members"], "threadId"));
        let expected: BTreeSet<String> = members.chain([ticker.clone()]).collect();
        assert_eq!(ids(&threads, "id"), expected);
    }
}
