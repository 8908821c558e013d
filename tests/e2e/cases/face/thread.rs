//! The page of a thread: begun here, followed while it is written, steered, stopped, folded, and a
//! request decided where it stands.

use rookery_testkit::{Caller, Outer, PATIENCE, TestDaemon, wait_until};
use serde_json::{Value, json};

use super::{Face, agent, pages, wait_page};
use crate::roder_link::script;

/// A face at the only thread.
fn at_thread(daemon: &TestDaemon, client: &Caller) -> Face {
    let face = Face::open_in(daemon, &["--page", "threads"], &Outer::default());
    wait_page(client, "threads");
    face.press_until("\r", || pages(client) == [json!("thread")]);
    face.wait("enter s");
    face
}

fn requests(client: &Caller) -> usize {
    let list = client.call("rookery/requests/list", json!({}));
    list["requests"].as_array().unwrap().len()
}

#[test]
fn a_thread_is_begun_with_a_model_and_a_mode() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let root = daemon.home().path();
    client.call("rookery/projects/create", json!({ "name": "work", "root": root }));
    let face = Face::open(&daemon);
    face.prefix("t");
    face.wait("What should the agent do?");
    face.wait("the usual one");
    // Letters are letters.
    face.send("say adA1 hello");
    face.wait("> say adA1 hello");
    face.wait_gone("asking which there are");
    face.send("\t\t");
    // Any of its models is right: it is the provider that counts.
    face.step_until("\x1b[C", || face.pty.text().contains("mock/mock"));
    face.send("\t");
    face.step_until("\x1b[C", || face.pty.text().contains("plans first"));
    face.send("\r");
    wait_page(&client, "thread");
    face.wait("say adA1 hello");
    face.wait("hello from roder");
    face.wait("plan");
    face.leave();
}

#[test]
fn what_is_written_is_shown_before_it_ends_and_can_be_stopped() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (mut roder, thread, _) = agent(&daemon, "work");
    let steps = json!([{ "text": "first words of many", "chunks": 4 }, { "hang": true }]);
    let turn = roder.turn(&thread, &script(&steps));
    let face = at_thread(&daemon, &client);
    // The turn never ends by itself.
    face.wait("first words of many");
    face.wait("enter steer");
    face.send("\x1b");
    face.wait("esc again stops");
    face.send("\x1b");
    let told = roder.until_over(&turn);
    assert_eq!(told.last().unwrap().1["turn"]["status"], "interrupted");
    face.wait("enter send");
    face.wait("first words of many");
    face.leave();
}

#[test]
fn a_running_turn_is_steered_and_its_request_decided_in_place() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (mut roder, thread, dir) = agent(&daemon, "work");
    let write = json!({ "path": "made", "content": "x\n" });
    let steps = json!([
        { "text": "I will write it." , "tool": "write_file", "args": write },
        { "text": "it is written" },
    ]);
    let turn = roder.turn(&thread, &script(&steps));
    let face = at_thread(&daemon, &client);
    face.wait("waits: tab, then a approve");
    // Letters are the message's, whatever waits; Enter steers.
    face.send("ad A1 also this\r");
    face.wait("you  ad A1 also this");
    assert!(!dir.join("made").exists());
    assert_eq!(requests(&client), 1);
    face.send("\t");
    face.wait("a approve  d deny…");
    face.press_until("a", || dir.join("made").exists());
    roder.until_over(&turn);
    face.wait("it is written");
    let stored = roder.stored(&thread);
    assert_eq!(stored["turns"].as_array().unwrap().len(), 1, "{stored}");
    assert!(stored.to_string().contains("ad A1 also this"), "{stored}");
    face.send("\x1b");
    face.wait("enter send");
    face.leave();
}

#[test]
fn a_request_is_denied_in_place_with_a_reason() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (mut roder, thread, dir) = agent(&daemon, "work");
    let turn = roder.turn(&thread, &super::write_steps("made", "x\n"));
    let face = at_thread(&daemon, &client);
    face.wait("waits: tab");
    face.send("\t");
    face.wait("a approve  d deny…");
    face.press_until("d", || face.pty.text().contains("deny, because:"));
    face.send("not here\r");
    roder.until_over(&turn);
    assert!(!dir.join("made").exists());
    assert!(roder.stored(&thread).to_string().contains("not here"));
    face.leave();
}

#[test]
fn output_of_tools_folds_and_long_output_is_read_whole() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (mut roder, thread, _) = agent(&daemon, "work");
    let command = json!({ "command": "seq -f output-%g 1 100" });
    let steps = json!([{ "tool": "shell", "args": command }, { "text": "counted" }]);
    let turn = roder.turn(&thread, &script(&steps));
    roder.until_over(&turn);
    let face = at_thread(&daemon, &client);
    face.wait("counted");
    face.wait("lines]");
    assert!(!face.pty.text().contains("output-100"));
    // Tab goes to the newest item; the call lies above it.
    face.send("\t");
    let is_at_call =
        || face.pty.text().lines().any(|line| line.contains('›') && line.contains("seq"));
    face.step_until("k", is_at_call);
    face.send("\t");
    face.wait("output-100");
    face.send("\t");
    face.wait_gone("output-100");
    face.send("\r");
    face.wait("output-100");
    face.send("\x1b");
    face.wait("enter send");
    face.leave();
}

#[test]
fn commands_are_completed_and_lines_are_broken() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (mut roder, thread, _) = agent(&daemon, "work");
    let turn = roder.turn(&thread, &script(&json!([{ "text": "ready" }])));
    roder.until_over(&turn);
    let face = at_thread(&daemon, &client);
    face.wait("ready");
    face.send("/");
    face.wait("tab take");
    face.send("\x15one");
    face.send("\x1b\r");
    face.send("two");
    face.wait("> one");
    face.wait("   two");
    face.send("\r");
    face.wait("hello from roder");
    let users = |thread: &Value| thread.to_string().contains("one\\ntwo");
    wait_until("both lines are one message", PATIENCE, || users(&roder.stored(&thread)));
    face.leave();
}

#[test]
fn letters_behind_a_thread_that_is_opened_twice_are_its_message() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (mut roder, thread, _) = agent(&daemon, "work");
    let turn = roder.turn(&thread, &script(&json!([{ "text": "ready" }])));
    roder.until_over(&turn);
    let face = Face::open_in(&daemon, &["--page", "threads"], &Outer::default());
    wait_page(&client, "threads");
    face.wait("idle");
    // All at once, as someone types who knows the way.
    face.send("\r\rtyped behind it");
    wait_page(&client, "thread");
    face.wait("> typed behind it");
    face.send("\r");
    let is_said = |thread: &Value| thread.to_string().contains("typed behind it");
    wait_until("it is a message", PATIENCE, || is_said(&roder.stored(&thread)));
    face.leave();
}

#[test]
fn output_of_thousands_of_lines_is_read_page_by_page() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (mut roder, thread, dir) = agent(&daemon, "work");
    let numbers: String = (1..=4500).map(|number| format!("row-{number}\n")).collect();
    std::fs::write(dir.join("numbers"), numbers).unwrap();
    let read = json!({ "command": "cat numbers" });
    let steps = json!([{ "tool": "shell", "args": read }, { "text": "read" }]);
    let turn = roder.turn(&thread, &script(&steps));
    roder.until_over(&turn);
    let stored = roder.stored(&thread).to_string();
    let tall = Outer { size: (90, 100), ..Outer::default() };
    let face = Face::open_in(&daemon, &["--page", "threads"], &tall);
    wait_page(&client, "threads");
    face.press_until("\r", || pages(&client) == [json!("thread")]);
    face.wait("lines]");
    face.send("\t");
    let is_at_call =
        || face.pty.text().lines().any(|line| line.contains('›') && line.contains("cat"));
    face.step_until("k", is_at_call);
    face.send("\r");
    face.wait("more lines: enter");
    // What the model got may be cut itself; all of that is there in the end.
    let has_middle = stored.contains("row-2200");
    let is_whole = || !face.pty.text().contains("more lines: enter");
    face.send("\r");
    face.press_until("\r", || is_whole() || !has_middle);
    face.send("\x1b");
    face.wait("enter send");
    face.leave();
}
