//! The plugin claude-code over several looks: when a turn ends, and what its events tell.
#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

use std::collections::BTreeMap;

use rookery_plugins::{Context, Instance, Limits, State, split_screen};
use serde_json::{Value, json};

/// An adapter at work: what it is told to do, and what it then sees.
struct Adapter {
    instance: Instance,
    last_intent: Option<String>,
}

impl Adapter {
    fn start() -> Self {
        let plugin = rookery_plugins::shipped()
            .into_iter()
            .find(|plugin| plugin.manifest().name == "claude-code")
            .unwrap();
        let instance = Instance::start(&plugin, Limits::default()).unwrap();
        Self { instance, last_intent: None }
    }

    /// One that was told this prompt.
    fn asked(prompt: &str) -> Self {
        let mut adapter = Self::start();
        adapter.send("send_prompt", prompt);
        adapter
    }

    fn send(&mut self, intent: &str, prompt: &str) {
        let done = self.instance.intent(intent, &json!({ "prompt": prompt })).unwrap();
        self.last_intent = done.last_intent.or(self.last_intent.take());
    }

    /// A screen, classified for a client that has seen the events up to `seen`.
    fn look_after(&mut self, screen: &str, seen: Option<u64>) -> State {
        let (body_text, status_text) = split_screen(screen);
        let context = Context {
            screen,
            body_text,
            status_text,
            transcript: screen,
            sequence: 1,
            completed_turn_stable_ms: 300,
            markers: &BTreeMap::new(),
            cursor: 0,
            last_intent: self.last_intent.as_deref(),
            stable_ms: None,
            exited: false,
            last_event_seq: seen,
            blocks: &[],
        };
        self.instance.classify(&context).unwrap()
    }

    fn look(&mut self, screen: &str) -> State {
        self.look_after(screen, None)
    }

    /// The state and its confidence.
    fn state(&mut self, screen: &str) -> (String, f64) {
        let state = self.look(screen);
        (state.state, state.confidence)
    }
}

fn completed() -> (String, f64) {
    ("completed_turn".to_owned(), 0.7)
}

fn under_way() -> (String, f64) {
    ("thinking".to_owned(), 0.6)
}

/// Events in short: kind and text, or kind and name of the tool.
fn told(state: &State) -> Vec<String> {
    let word = |event: &Value, key: &str| event[key].as_str().unwrap_or_default().to_owned();
    let brief = |event: &Value| {
        let detail = ["text", "name", "status", "summary"].map(|key| word(event, key)).concat();
        format!("{} {detail}", word(event, "kind"))
    };
    state.events.iter().map(brief).collect()
}

fn seqs(state: &State) -> Vec<u64> {
    state.events.iter().map(|event| event["seq"].as_u64().unwrap()).collect()
}

const STEERED: &str =
    "❯ hello\n\n● working on it\n\n❯ also this\n\n● done\n\n✻ Cooked for 5s\n\n❯ ";

#[test]
fn a_turn_that_was_steered_ends_with_its_marker() {
    let mut adapter = Adapter::asked("hello");
    adapter.send("steer", "also this");
    assert_eq!(adapter.state(STEERED), completed());
}

#[test]
fn a_prompt_is_known_again_however_its_spaces_are_drawn() {
    for prompt in ["fix\tthis now", "fix\t\tthis", " fix  this", "fix\u{a0}this"] {
        let mut adapter = Adapter::start();
        adapter.look("❯ old\n\n● answer\n\n✻ Cooked for 5s\n\n❯ ");
        adapter.send("send_prompt", prompt);
        let screen = "❯ fix    this now\n\n● done\n\n✻ Cooked for 5s\n\n❯ ";
        assert_eq!(adapter.state(screen), completed(), "{prompt:?}");
    }
}

#[test]
fn a_prompt_that_is_drawn_in_other_words_ends_its_turn_as_well() {
    let mut adapter = Adapter::asked("\u{1b}[1mhello");
    assert_eq!(adapter.state("❯ hello\n\n● done\n\n✻ Cooked for 5s\n\n❯ "), completed());
    // A user may type into the turn without this plugin.
    let mut adapter = Adapter::asked("hello");
    assert_eq!(adapter.state("❯ hello\n\n● working\n\n❯ "), under_way());
    assert_eq!(adapter.state(STEERED), completed());
}

#[test]
fn the_end_of_the_turn_before_is_not_the_end_of_this_one() {
    let before = "❯ hello\n\n● hi\n\n✻ Cooked for 5s\n\n❯ ";
    let mut adapter = Adapter::asked("hello");
    assert_eq!(adapter.state(before), completed());
    adapter.send("send_prompt", "and now?");
    assert_eq!(adapter.state(before), under_way());
    assert_eq!(adapter.state(&format!("{before}\n❯ and now?\n\n❯ ")), under_way());
    let after = "\n● well\n\n✻ Cooked for 1s\n\n❯ ";
    assert_eq!(adapter.state(&format!("{before}and now?\n{after}")), completed());
}

#[test]
fn a_turn_that_still_runs_when_the_next_prompt_is_sent_does_not_end_it() {
    let mut adapter = Adapter::asked("hello");
    adapter.look("❯ hello\n\n● one\n\n❯ ");
    adapter.send("send_prompt", "and now?");
    let first = "❯ hello\n\n● one two\n\n✻ Cooked for 5s\n\n❯ ";
    assert_eq!(adapter.state(first), under_way());
    let second = format!("{first}and now?\n\n● three\n\n✻ Cooked for 1s\n\n❯ ");
    assert_eq!(adapter.state(&second), completed());
}

#[test]
fn what_a_steered_turn_says_is_reported_from_its_first_prompt_on() {
    let mut adapter = Adapter::asked("hello");
    adapter.look("❯ hello\n\n● working on it\n\n❯ ");
    adapter.send("steer", "also this");
    let state = adapter.look(STEERED);
    assert_eq!(
        told(&state),
        ["text_delta working on", "text_delta  it\n\ndone", "turn_complete working on it\n\ndone"]
    );
    // Its first prompt may have scrolled away.
    let mut adapter = Adapter::asked("hello");
    adapter.look("❯ hello\n\n● one\n  two\n\n● Bash(ls)\n  ⎿  a\n\n❯ ");
    adapter.send("steer", "also this");
    let state = adapter
        .look("  two\n\n● Bash(ls)\n  ⎿  a\n\n❯ also this\n\n● three\n\n✻ Cooked for 5s\n\n❯ ");
    assert_eq!(
        told(&state),
        [
            "text_delta one\ntwo",
            "tool_started Bash",
            "tool_completed completed",
            "text_delta \n\nthree",
            "turn_complete one\ntwo\n\nthree"
        ]
    );
}

#[test]
fn events_come_in_the_order_of_the_screen() {
    let mut adapter = Adapter::asked("go");
    let state = adapter.look("❯ go\n\n● Bash(ls)\n  ⎿  a\n\n● done now\n\n✻ Cooked for 5s\n\n❯ ");
    let expected = [
        "tool_started Bash",
        "tool_completed completed",
        "text_delta done now",
        "turn_complete done now",
    ];
    assert_eq!(told(&state), expected);

    let mut adapter = Adapter::asked("go");
    let state = adapter.look(
        "❯ go\n\n● first\n\n● Bash(ls)\n  ⎿  a\n\n● then\n\n● Read(b)\n  ⎿  Running…\n\n✽ Thinking… (2s)\n\n❯ ",
    );
    let expected = [
        "text_delta first",
        "tool_started Bash",
        "tool_completed completed",
        "text_delta \n\nthen",
        "tool_started Read",
        "tool_progress Running…",
    ];
    assert_eq!(told(&state), expected);
    // A tool that was known ends before what stands below it is told.
    let seen = seqs(&state).last().copied();
    let state = adapter.look_after(
        "❯ go\n\n● first\n\n● Bash(ls)\n  ⎿  a\n\n● then\n\n● Read(b)\n  ⎿  c\n\n● end\n\n✻ Cooked for 5s\n\n❯ ",
        seen,
    );
    let expected =
        ["tool_completed completed", "text_delta \n\nend", "turn_complete first\n\nthen\n\nend"];
    assert_eq!(told(&state), expected);
}

#[test]
fn events_are_repeated_for_a_client_that_has_not_seen_them() {
    let mut adapter = Adapter::asked("go");
    let screen = "❯ go\n\n● Bash(ls)\n  ⎿  a\n\n● done now\n\n✻ Cooked for 5s\n\n❯ ";
    assert_eq!(seqs(&adapter.look(screen)), [1, 2, 3, 4]);
    assert_eq!(seqs(&adapter.look_after(screen, Some(4))), [0; 0]);
    assert_eq!(seqs(&adapter.look_after(screen, Some(99))), [0; 0]);
    assert_eq!(seqs(&adapter.look_after(screen, Some(2))), [3, 4]);
    assert_eq!(seqs(&adapter.look_after(screen, Some(0))), [1, 2, 3, 4]);
    assert_eq!(seqs(&adapter.look(screen)), [1, 2, 3, 4]);
}

#[test]
fn the_last_1024_events_are_kept() {
    let mut adapter = Adapter::start();
    for turn in 0..600 {
        adapter.send("send_prompt", &format!("prompt {turn}"));
        let screen = format!("❯ prompt {turn}\n\n● answer\n\n✻ Cooked for 5s\n\n❯ ");
        assert_eq!(seqs(&adapter.look_after(&screen, Some(turn * 2))).len(), 2);
    }
    let kept = seqs(&adapter.look(""));
    assert_eq!(kept, (177..=1200).collect::<Vec<u64>>());
}

#[test]
fn many_long_replies_can_still_be_told() {
    let mut adapter = Adapter::start();
    let line = format!("  {}\n", "x".repeat(196));
    for turn in 0..300 {
        adapter.send("send_prompt", &format!("prompt {turn}"));
        let screen = format!("❯ prompt {turn}\n\n● a\n{}\n✻ Cooked for 5s\n\n❯ ", line.repeat(55));
        assert_eq!(adapter.state(&screen), completed());
    }
    let state = adapter.look("");
    assert_eq!(seqs(&state).last(), Some(&600));
    assert!(told(&state).iter().all(|event| event.len() > 10_000));
}
