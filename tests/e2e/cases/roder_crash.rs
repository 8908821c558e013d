//! The daemon is killed in the middle of turns, again and again: what was told is there afterwards, who
//! waited for an answer still waits, and what was under way has failed.

use std::collections::{BTreeMap, BTreeSet};

use rookery_testkit::{Random, TestDaemon};
use serde_json::{Value, json};

use crate::roder_link::{Peer, Told, script};

/// How often the daemon is killed.
const KILLS: usize = 100;

/// After this number of kills other threads are used, so that none becomes too long.
const KILLS_PER_THREAD: usize = 10;

/// What was told of one thread, and so has to be true for ever.
#[derive(Default)]
struct Known {
    items: BTreeMap<String, Value>,
    /// How turns ended.
    ends: BTreeMap<String, Value>,
    /// Turns that began.
    turns: BTreeSet<String>,
    /// The highest number of a notice.
    seq: u64,
}

#[derive(Default)]
struct Book {
    threads: BTreeMap<String, Known>,
    /// Approvals that were asked for and not answered, with their params.
    asked: BTreeMap<String, Value>,
    /// Turns that were lost in a restart, and approvals that outlived one.
    lost: usize,
    outlived: usize,
}

impl Book {
    #[track_caller]
    fn note(&mut self, (name, told): &Told) {
        let Some(thread) = told["threadId"].as_str() else { return };
        let known = self.threads.entry(thread.to_owned()).or_default();
        if let Some(seq) = told["seq"].as_u64() {
            assert!(seq > known.seq, "{seq} comes after {}", known.seq);
            known.seq = seq;
        }
        let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
        match name.as_str() {
            "item/completed" => {
                let again = known.items.insert(id(&told["item"]), told["item"].clone());
                assert_eq!(again, None, "completed twice");
                known.turns.insert(told["turnId"].as_str().unwrap().to_owned());
            }
            "turn/completed" => {
                let again = known.ends.insert(id(&told["turn"]), told["turn"].clone());
                assert_eq!(again, None, "ended twice");
            }
            "session/approvalRequested" => {
                self.asked.insert(told["approvalId"].as_str().unwrap().to_owned(), told.clone());
            }
            "session/approvalResolved" => {
                self.asked.remove(told["approvalId"].as_str().unwrap());
            }
            _ => {}
        }
    }

    /// All that is known is there. Turns whose end was not received have failed, except those that wait.
    #[track_caller]
    fn check(&mut self, peer: &mut Peer, threads: &[String]) {
        let pending = peer.call("session/get", json!({}))["pendingApprovals"].take();
        let pending: BTreeMap<String, Value> = pending
            .as_array()
            .unwrap()
            .iter()
            .map(|asked| (asked["approvalId"].as_str().unwrap().to_owned(), asked.clone()))
            .collect();
        for (id, asked) in &self.asked {
            assert_eq!(pending.get(id), Some(asked), "{id} is not asked for any more");
        }
        for thread in threads {
            let known = self.threads.entry(thread.clone()).or_default();
            let stored = peer.stored(thread);
            let turns = stored["turns"].as_array().unwrap();
            let all: Vec<&Value> =
                turns.iter().flat_map(|turn| turn["items"].as_array().unwrap()).collect();
            for (id, item) in &known.items {
                let found: Vec<_> = all.iter().filter(|found| found["id"] == **id).collect();
                assert_eq!(found.len(), 1, "{id} in {thread}");
                assert_eq!(*found[0], item, "{id} in {thread}");
            }
            for turn in turns {
                let id = turn["id"].as_str().unwrap();
                known.turns.remove(id);
                let is_waiting = pending.values().any(|asked| asked["turnId"] == id);
                match known.ends.get(id) {
                    Some(end) => assert_eq!(
                        (&turn["status"], &turn["error"]),
                        (&end["status"], &end["error"])
                    ),
                    None if is_waiting => assert_eq!(turn["status"], "inProgress"),
                    None => {
                        check_lost(turn);
                        self.lost += usize::from(turn["status"] == "failed");
                    }
                }
            }
            assert!(known.turns.is_empty(), "turns are gone: {:?}", known.turns);
            let is_busy = pending.values().any(|asked| asked["threadId"] == **thread);
            assert_eq!(stored["status"]["type"], if is_busy { "running" } else { "idle" });
            // What happened without a listener is known from now on.
            for item in all.iter().filter(|item| item["status"] != "inProgress") {
                known.items.insert(item["id"].as_str().unwrap().to_owned(), (*item).clone());
            }
            for turn in turns.iter().filter(|turn| turn["status"] != "inProgress") {
                known.ends.insert(turn["id"].as_str().unwrap().to_owned(), turn.clone());
            }
        }
        self.asked = pending;
    }
}

/// A turn whose end was not received: it failed, unless it was over before it could be reported.
#[track_caller]
fn check_lost(turn: &Value) {
    let is_over = turn["status"] == "completed";
    let has_failed = turn["status"] == "failed" && turn["error"]["kind"] == "runtime_restart";
    assert!(is_over || has_failed, "{turn}");
    let items = turn["items"].as_array().unwrap();
    assert!(items.iter().all(|item| item["status"] != "inProgress"), "{turn}");
    let hangs = items.iter().any(|item| {
        item["type"] == "userMessage" && item["text"].as_str().unwrap().contains("hang")
    });
    assert!(!(hangs && is_over), "a turn without end ended: {turn}");
}

/// Three threads at work: one that streams and never ends, one that asks, one that ends and begins.
struct Threads {
    streams: String,
    asks: String,
    repeats: String,
}

impl Threads {
    fn new(peer: &mut Peer, daemon: &TestDaemon) -> Threads {
        let mut thread = || peer.thread(daemon.home().path());
        Threads { streams: thread(), asks: thread(), repeats: thread() }
    }

    fn all(&self) -> [String; 3] {
        [self.streams.clone(), self.asks.clone(), self.repeats.clone()]
    }
}

/// Sets all three to work, and kills the daemon after a number of notices.
fn work_until_killed(
    daemon: &mut TestDaemon,
    mut peer: Peer,
    threads: &Threads,
    round: usize,
    notices: u64,
    book: &mut Book,
) {
    let text = "piece by piece ".repeat(20);
    let streams = script(&json!([
        { "reasoning": "let me see" },
        { "tool": "echo", "args": { "text": "first" } },
        { "text": text, "chunks": 60, "delayMs": 1 },
        { "hang": true },
    ]));
    let write = json!({ "path": format!("file-{round}"), "content": round.to_string() });
    let asks = script(&json!([
        { "text": "may I?", "chunks": 3 },
        { "tool": "write_file", "args": write },
        { "text": "written" },
    ]));
    let begin = |peer: &mut Peer, thread: &str, prompt: &str| {
        peer.post("turn/start", json!({ "threadId": thread, "prompt": prompt }))
    };
    begin(&mut peer, &threads.streams, &streams);
    begin(&mut peer, &threads.asks, &asks);
    begin(&mut peer, &threads.repeats, "again");
    for _ in 0..notices {
        let told = peer.next().unwrap();
        book.note(&told);
        if told.0 == "turn/completed" && told.1["threadId"] == threads.repeats {
            begin(&mut peer, &threads.repeats, "again");
        }
    }
    daemon.kill9();
    // It was sent, and so it counts.
    peer.rest().iter().for_each(|told| book.note(told));
}

/// Answers all that is asked for; the turns go on to their end.
#[track_caller]
fn answer_all(peer: &mut Peer, daemon: &TestDaemon, random: &mut Random, book: &mut Book) {
    for (id, asked) in std::mem::take(&mut book.asked) {
        book.outlived += 1;
        let approved = random.below(3) > 0;
        let answer = json!({ "approvalId": id, "approved": approved });
        assert_eq!(peer.call("session/resolve_approval", answer.clone())["resolved"], true);
        assert_eq!(peer.call("session/resolve_approval", answer)["resolved"], false);
        let turn = asked["turnId"].as_str().unwrap();
        let told = peer.until_over(turn);
        assert_eq!(told.last().unwrap().1["turn"]["status"], "completed");
        told.iter().for_each(|told| book.note(told));
        let file = daemon.home().join(asked["input"]["path"].as_str().unwrap());
        assert_eq!(file.exists(), approved, "{}", file.display());
    }
}

#[test]
fn a_hundred_kills_lose_nothing_that_was_reported() {
    let seed = Random::seed("ROOKERY_RODER_CRASH_SEED");
    eprintln!("crash: ROOKERY_RODER_CRASH_SEED={seed}");
    let mut random = Random::new(seed);
    let mut daemon = TestDaemon::start();
    let mut peer = Peer::to(&daemon);
    let mut book = Book::default();
    let mut threads = Threads::new(&mut peer, &daemon);
    let mut all = threads.all().to_vec();
    for round in 0..KILLS {
        if round > 0 && round % KILLS_PER_THREAD == 0 {
            threads = Threads::new(&mut peer, &daemon);
            all.extend(threads.all());
        }
        let notices = random.below(150);
        work_until_killed(&mut daemon, peer, &threads, round, notices, &mut book);
        daemon.restart();
        peer = Peer::to(&daemon);
        book.check(&mut peer, &threads.all());
        answer_all(&mut peer, &daemon, &mut random, &mut book);
    }
    let (lost, outlived) = (book.lost, book.outlived);
    assert!(lost > KILLS / 4 && outlived > KILLS / 4, "{lost} turns and {outlived} approvals");
    // None is unreadable, also of those that were left long ago.
    book.check(&mut peer, &all);
    let listed = peer.call("thread/list", json!({ "limit": 500 }));
    let listed: BTreeSet<&str> =
        listed["data"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(listed, all.iter().map(String::as_str).collect());
}

#[test]
fn a_thread_keeps_its_workspace_and_its_used_names() {
    let mut daemon = TestDaemon::start();
    let mut peer = Peer::to(&daemon);
    let dirs = ["one", "two"].map(|name| daemon.home().join(name));
    dirs.iter().for_each(|dir| std::fs::create_dir(dir).unwrap());
    let roots = json!([{ "path": dirs[0] }, { "path": dirs[1] }]);
    let made = peer.call("workspace/create", json!({ "roots": roots }))["workspace"].take();
    peer.call("workspace/create", json!({ "roots": [{ "path": dirs[1] }] }));
    let (id, root) = (&made["id"], &made["roots"][1]["id"]);
    let params = json!({ "workspaceId": id, "rootId": root, "modelProvider": "mock" });
    let thread = peer.call("thread/start", params)["thread"]["id"].as_str().unwrap().to_owned();
    let steps = json!([{ "tool": "echo", "args": { "text": "a" }, "id": "x" }, { "text": "ok" }]);
    let tool_name = |peer: &mut Peer| {
        let turn = peer.turn(&thread, &script(&steps));
        let told = peer.until_over(&turn);
        let is_tool = |told: &&Told| told.1["item"]["type"] == "toolExecution";
        told.iter().rev().find(is_tool).unwrap().1["item"]["id"].as_str().unwrap().to_owned()
    };
    assert_eq!(tool_name(&mut peer), "x");
    peer.call("thread/rollback", json!({ "threadId": thread, "numTurns": 1 }));
    daemon.kill9();
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    let listed = peer.call("thread/list", json!({}))["data"][0].take();
    for shown in [listed, peer.stored(&thread)] {
        assert_eq!((&shown["workspaceId"], &shown["rootId"]), (id, root), "{shown}");
    }
    assert_eq!(tool_name(&mut peer), "x-2");
}
