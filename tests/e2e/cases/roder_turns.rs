//! Many turns in the Roder dialect, plain ones and all kinds of bad days: what is told of each is a
//! whole story with one end, and what is stored is what was told.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use rookery_testkit::{Home, Random, TestDaemon};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::roder_link::{Peer, Told, script, turn_of};

/// What was told of one turn, in order.
#[derive(Default)]
struct Story {
    starts: usize,
    end: Option<Value>,
    started: BTreeMap<String, String>,
    /// Completed items in the order of their completion.
    completed: Vec<Value>,
}

impl Story {
    /// Takes in what was told of it, and sees that it is possible after what was told before.
    #[track_caller]
    fn hear(&mut self, name: &str, told: &Value) {
        assert!(self.end.is_none(), "told after the end of its turn: {name} {told}");
        match name {
            "turn/started" => self.starts += 1,
            "turn/completed" => self.end = Some(told["turn"].clone()),
            "item/started" => {
                let id = told["item"]["id"].as_str().unwrap().to_owned();
                assert_eq!(told["item"]["status"], "inProgress");
                assert!(!self.is_completed(&id), "{id} begins again");
                assert!(self.started.insert(id.clone(), String::new()).is_none(), "{id} began");
            }
            "item/agentMessage/delta" => {
                let id = told["itemId"].as_str().unwrap();
                let text = self.started.get_mut(id).unwrap_or_else(|| panic!("{id}: no start"));
                text.push_str(told["delta"].as_str().unwrap());
            }
            "item/completed" => self.complete(&told["item"]),
            _ => {}
        }
    }

    fn is_completed(&self, id: &str) -> bool {
        self.completed.iter().any(|item| item["id"] == id)
    }

    #[track_caller]
    fn complete(&mut self, item: &Value) {
        let id = item["id"].as_str().unwrap();
        assert!(!self.is_completed(id), "{id} is completed twice");
        assert_ne!(item["status"], "inProgress", "{item}");
        let streamed = self.started.remove(id);
        let text = match item["type"].as_str().unwrap() {
            "agentMessage" => item["text"].as_str().unwrap().to_owned(),
            "reasoning" => {
                let parts = item["content"].as_array().cloned().unwrap_or_default();
                parts.iter().map(|part| part.as_str().unwrap()).collect()
            }
            _ => String::new(),
        };
        assert_eq!(streamed.unwrap_or_default(), text, "what was streamed of {id}");
        self.completed.push(item.clone());
    }

    #[track_caller]
    fn check_end(&self) -> &Value {
        assert_eq!(self.starts, 1);
        assert!(self.started.is_empty(), "never completed: {:?}", self.started);
        self.end.as_ref().expect("a turn has an end")
    }
}

/// All turns of a connection.
#[derive(Default)]
struct Stories {
    of: HashMap<String, Story>,
    /// The last number of each thread.
    seqs: HashMap<String, u64>,
}

impl Stories {
    #[track_caller]
    fn hear(&mut self, (name, told): &Told) {
        if let (Some(seq), Some(thread)) = (told["seq"].as_u64(), told["threadId"].as_str()) {
            let last = self.seqs.insert(thread.to_owned(), seq);
            assert!(last.is_none_or(|last| last + 1 == seq), "{seq} after {last:?} in {thread}");
        }
        // The notice that a thread has begun to work carries no turn of its own.
        if let Some(turn) = turn_of(told) {
            self.of.entry(turn.to_owned()).or_default().hear(name, told);
        }
    }
}

/// Compares turns of a thread as they are stored with what was told of them.
#[track_caller]
fn check_stored(stored: &Value, stories: &Stories, turns: &[String]) {
    let found = stored["turns"].as_array().unwrap();
    let ids: Vec<&str> = found.iter().map(|turn| turn["id"].as_str().unwrap()).collect();
    assert_eq!(ids, turns);
    assert_eq!(stored["status"]["type"], "idle");
    for turn in found {
        let story = &stories.of[turn["id"].as_str().unwrap()];
        let end = story.check_end();
        for key in ["status", "error", "usage", "finishReason", "startedAt", "completedAt"] {
            assert_eq!(turn.get(key), end.get(key), "{key} of {turn}");
        }
        let by_id = |items: &[Value]| -> BTreeMap<String, Value> {
            items
                .iter()
                .map(|item| (item["id"].as_str().unwrap().to_owned(), item.clone()))
                .collect()
        };
        assert_eq!(by_id(turn["items"].as_array().unwrap()), by_id(&story.completed));
    }
}

#[test]
fn a_thousand_turns_have_one_end_each_and_are_all_stored() {
    const THREADS: usize = 4;
    const TURNS: usize = 250;
    let mut daemon = TestDaemon::start();
    let mut peer = Peer::to(&daemon);
    let threads: Vec<String> = (0..THREADS).map(|_| peer.thread(daemon.home().path())).collect();
    let mut turns: HashMap<String, Vec<String>> = HashMap::new();
    let mut stories = Stories::default();
    let begin =
        |peer: &mut Peer, thread: &str, count: usize| peer.turn(thread, &format!("turn {count}"));
    for thread in &threads {
        turns.insert(thread.clone(), vec![begin(&mut peer, thread, 0)]);
    }
    let mut left = THREADS;
    while left > 0 {
        let told = peer.next().unwrap();
        stories.hear(&told);
        if told.0 != "turn/completed" {
            continue;
        }
        // The next one begins the moment the last one is over.
        let thread = told.1["threadId"].as_str().unwrap();
        let turns = turns.get_mut(thread).unwrap();
        assert_eq!(told.1["turn"]["id"], *turns.last().unwrap());
        if turns.len() == TURNS {
            left -= 1;
        } else {
            turns.push(begin(&mut peer, thread, turns.len()));
        }
    }
    peer.heard().iter().for_each(|told| stories.hear(told));
    assert_eq!(stories.of.len(), THREADS * TURNS);
    daemon.kill9();
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    for thread in &threads {
        let stored = peer.stored(thread);
        check_stored(&stored, &stories, &turns[thread]);
        for turn in stored["turns"].as_array().unwrap() {
            assert_eq!(
                (&turn["status"], &turn["finishReason"]),
                (&json!("completed"), &json!("stop"))
            );
            let texts: Vec<&Value> =
                turn["items"].as_array().unwrap().iter().map(|item| &item["text"]).collect();
            assert_eq!(texts[1..], ["hello from roder"], "{turn}");
        }
    }
}

/// After this the model says nothing until it is interrupted.
const LAST_WORDS: &str = "and so on";

/// What a turn is about to go through.
struct Fate {
    prompt: String,
    /// How it may end.
    ends: &'static [&'static str],
    /// After how many notices it is interrupted or steered.
    interrupt_at: Option<usize>,
    steer_at: Option<usize>,
}

fn fate(random: &mut Random, number: usize) -> Fate {
    let mut steps = Vec::new();
    for step in 0..random.below(4) {
        let long = "Wörter und 🦀 ".repeat(1 + random.below(40) as usize);
        let file = json!({ "path": format!("file-{number}-{step}"), "content": "x" });
        // What is said before a tool belongs to the same answer, which goes on.
        match random.below(4) {
            0 => steps.push(json!({ "text": long, "chunks": 1 + random.below(60) })),
            1 => steps.push(json!({ "text": long, "chunks": 5, "delayMs": 1 })),
            2 => steps.push(json!({ "reasoning": long })),
            _ => {}
        }
        steps.push(match random.below(5) {
            0 => json!({ "tool": "echo", "args": { "text": long } }),
            1 => json!({ "tool": "write_file", "args": file }),
            2 => json!({ "tool": "no_such_tool" }),
            3 => json!({ "tool": "read_file", "args": "{\"path\": \"cut o" }),
            _ => json!({ "tools": [
                { "tool": "write_file", "args": file },
                { "tool": "echo", "args": { "text": "beside it" } },
                { "tool": "read_file", "args": { "path": "not there" } },
            ] }),
        });
    }
    let some_time = |random: &mut Random| Some(random.below(30) as usize);
    let (mut interrupt_at, mut steer_at) = (None, None);
    let ends: &[&str] = match random.below(6) {
        0 => {
            steps.push(json!({ "text": "then", "error": "the line is dead" }));
            &["failed"]
        }
        1 => {
            steps.push(json!({ "status": 400 }));
            &["failed"]
        }
        2 => {
            steps.push(json!({ "text": LAST_WORDS, "chunks": 4 }));
            steps.push(json!({ "hang": true }));
            interrupt_at = some_time(random);
            &["interrupted"]
        }
        3 => {
            interrupt_at = some_time(random);
            &["interrupted", "completed"]
        }
        4 => {
            steer_at = some_time(random);
            &["completed"]
        }
        _ => &["completed"],
    };
    Fate { prompt: script(&Value::Array(steps)), ends, interrupt_at, steer_at }
}

/// Lives through a turn and gives its id.
#[track_caller]
fn live_through(
    peer: &mut Peer,
    thread: &str,
    fate: &Fate,
    random: &mut Random,
    stories: &mut Stories,
) -> String {
    let turn = peer.turn(thread, &fate.prompt);
    let mut count = 0;
    let mut posts = Vec::new();
    let mut is_over = false;
    while !is_over {
        let told = peer.next().unwrap();
        stories.hear(&told);
        let (name, told) = told;
        is_over = name == "turn/completed";
        let is_stuck = stories.of.get(&turn).is_some_and(|story| {
            name == "item/agentMessage/delta"
                && story.started.values().any(|text| text.ends_with(LAST_WORDS))
        });
        count += 1;
        if name == "session/approvalRequested" && random.below(8) > 0 {
            let approved = random.below(3) > 0;
            let answer = json!({ "approvalId": told["approvalId"], "approved": approved });
            posts.push(peer.post("session/resolve_approval", answer));
        } else if name == "session/approvalRequested" {
            // It is not answered.
            let params = json!({ "threadId": thread, "turnId": turn });
            posts.push(peer.post("turn/interrupt", params));
        }
        if fate.interrupt_at.is_some_and(|at| count == at + 1) || is_stuck {
            let params = json!({ "threadId": thread, "turnId": turn });
            posts.push(peer.post("turn/interrupt", params));
        }
        if fate.steer_at.is_some_and(|at| count == at + 1) {
            let params = json!({ "threadId": thread, "expectedTurnId": turn, "prompt": "or else" });
            posts.push(peer.post("turn/steer", params));
        }
    }
    // Too late is no misfortune, but it is answered.
    posts.into_iter().for_each(|id| drop(peer.reply(id)));
    turn
}

fn a_life(daemon: &TestDaemon, dir: &Path, seed: u64) -> (String, Vec<String>, Stories) {
    let mut random = Random::new(seed);
    let mut peer = Peer::to(daemon);
    // Each life hears only of itself, as there is one connection per thread to look at.
    let thread = peer.thread(dir);
    let (mut turns, mut stories) = (Vec::new(), Stories::default());
    for number in 0..50 {
        let fate = fate(&mut random, number);
        let turn = live_through(&mut peer, &thread, &fate, &mut random, &mut stories);
        peer.heard().iter().for_each(|told| stories.hear(told));
        let end = stories.of[&turn].check_end();
        let status = end["status"].as_str().unwrap();
        let was_left_alone = fate.ends.contains(&status) || status == "interrupted";
        assert!(was_left_alone, "{status} is no end of {}", fate.prompt);
        turns.push(turn);
    }
    (thread, turns, stories)
}

#[test]
fn turns_with_failures_denials_steers_and_interrupts_are_reported_and_stored_alike() {
    let seed = Random::seed("ROOKERY_TURNS_SEED");
    eprintln!("turns: ROOKERY_TURNS_SEED={seed}");
    for number in 0..4 {
        let mut daemon = TestDaemon::start();
        let dir: PathBuf = daemon.home().path().to_owned();
        let (thread, turns, stories) = a_life(&daemon, &dir, seed.wrapping_add(number));
        let mut peer = Peer::to(&daemon);
        check_stored(&peer.stored(&thread), &stories, &turns);
        daemon.kill9();
        daemon.restart();
        let mut peer = Peer::to(&daemon);
        check_stored(&peer.stored(&thread), &stories, &turns);
    }
}

#[test]
fn a_server_that_is_told_to_end_tells_what_becomes_of_its_turns() {
    let home = Home::new();
    for signal in [Signal::TERM, Signal::INT] {
        let mut peer = Peer::stdio(&home, &["--standalone"]);
        let thread = peer.thread(home.path());
        let steps = json!([{ "text": "so far" }, { "hang": true }]);
        let turn = peer.turn(&thread, &script(&steps));
        peer.wait_told("item/agentMessage/delta");
        peer.signal_server(signal);
        let told = peer.until_over(&turn);
        assert_eq!(told.last().unwrap().1["turn"]["status"], "interrupted");
        let kept = told.iter().find(|(name, _)| name == "item/completed").unwrap();
        assert_eq!(kept.1["item"]["partial"], true, "{kept:?}");
        peer.wait_server_ended();
    }
}
