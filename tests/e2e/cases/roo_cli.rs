//! `rookery roo` as a user has it: without a daemon, outside of the workspace, interrupted, and wrong.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use rookery_testkit::{Finished, Home, PATIENCE, TestDaemon, eventually, rookery_binary};
use serde_json::{Value, json};

use crate::roo::{daemon_with_work, writing};
use crate::roo_link::script;

const CONFIG: &str = r#"{"apiProvider":"fake-ai"}"#;

/// A command in this directory.
fn command(home: &Home, dir: &std::path::Path, args: &[&str]) -> Command {
    let mut command = home.command(rookery_binary());
    command.args(args).current_dir(dir);
    command
}

fn history(daemon: &TestDaemon) -> Value {
    daemon.rookery(&["roo", "history", "--json"]).json()
}

#[test]
fn only_what_creates_something_starts_the_daemon() {
    let home = Home::new();
    for args in [&["roo", "history"][..], &["roo", "approve", "abcd"], &["roo", "watch"]] {
        let said = home.rookery(args).failure(1);
        assert!(said.contains("no daemon is running") && said.contains("rookery up"), "{said}");
    }
    let said = script(&json!([{ "text": "All done." }]));
    let args = ["roo", "start", "--config", CONFIG, &said];
    let printed = Finished::of(command(&home, home.path(), &args)).success();
    assert_eq!(printed, format!("> {said}\nAll done.\n"));
    home.rookery(&["down"]).success();
}

#[test]
fn the_mock_answers_only_if_it_was_chosen() {
    let daemon = TestDaemon::start();
    let said = daemon.rookery(&["roo", "start", "hello"]).failure(1);
    assert!(said.contains("no provider is set up") && said.contains("rookery setup"), "{said}");
    assert_eq!(history(&daemon), json!([]), "nothing was started");
    let create = ["roo", "profiles", "create", "fast", "--config", CONFIG, "--activate"];
    daemon.rookery(&create).success();
    daemon.rookery(&["roo", "start", "hello"]).success();
}

#[test]
fn a_task_works_where_it_was_started_if_that_is_in_the_workspace() {
    let (daemon, work) = daemon_with_work("");
    fs::create_dir(work.join("inner")).unwrap();
    let text = script(&json!([{ "text": "done" }]));
    let args = ["roo", "start", "--config", CONFIG, &text];
    let workspace = |daemon: &TestDaemon| history(daemon)[0]["workspace"].clone();
    let inside = Finished::of(command(daemon.home(), &work.join("inner"), &args));
    assert_eq!(inside.stderr, "");
    assert_eq!(workspace(&daemon), json!(work.join("inner")));
    let outside = Finished::of(command(daemon.home(), daemon.home().path(), &args));
    assert!(outside.status.success(), "{outside:?}");
    let told = format!("works in {}", work.display());
    assert!(outside.stderr.contains(&told), "{}", outside.stderr);
    assert_eq!(workspace(&daemon), json!(work));
    // What was asked for by name is not replaced by something else.
    let named = ["roo", "start", "--cwd", "/etc", "--config", CONFIG, &text];
    let refused = Finished::of(command(daemon.home(), &work, &named)).failure(1);
    assert!(refused.contains("outside of the workspace") && refused.contains("--cwd"), "{refused}");
}

#[test]
fn an_interrupted_start_leaves_the_task_running_and_says_so() {
    let (daemon, work) = daemon_with_work("");
    let text = script(&json!([{ "hang": true }]));
    let mut start = command(daemon.home(), &work, &["roo", "start", "--config", CONFIG, &text]);
    let mut child = start.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It follows the task once it has printed something of it.
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("> MOCK_SCRIPT"), "{first}");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let status = eventually("it ends", PATIENCE, || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(130));
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(
        said.contains("the task keeps running") && said.contains("rookery roo cancel"),
        "{said}"
    );
    let task = history(&daemon)[0]["id"].as_str().unwrap().to_owned();
    let thread = daemon.rookery(&["threads", "--json"]).stdout;
    assert!(thread.contains(&task), "{thread}");
    // By the end of its id.
    daemon.rookery(&["roo", "cancel", &task[task.len() - 8..]]).success();
}

#[test]
fn a_reader_that_goes_away_ends_the_following_and_not_the_task() {
    let (daemon, work) = daemon_with_work("");
    let text = script(&json!([{ "text": "one two three", "chunks": 3 }]));
    let start = ["roo", "start", "--config", CONFIG, &text];
    let mut start = command(daemon.home(), &work, &start);
    let mut child = start.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    let status = eventually("it ends", PATIENCE, || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(141));
    let task = eventually("it was started", PATIENCE, || {
        history(&daemon)[0]["id"].as_str().map(str::to_owned)
    });
    eventually("it is done", PATIENCE, || {
        let printed = daemon.rookery(&["roo", "messages", &task]).success();
        printed.contains("one two three").then_some(())
    });
}

#[test]
fn failures_say_what_to_do_next() {
    let (daemon, _) = daemon_with_work("");
    let task = {
        let asks = script(&writing("asked"));
        daemon.rookery(&["roo", "start", "--config", CONFIG, &asks]).failure(3);
        history(&daemon)[0]["id"].as_str().unwrap().to_owned()
    };
    let end = &task[task.len() - 8..];
    for (args, code, words) in [
        (&["messages", "nothing"][..], 1, &["no task nothing", "rookery roo history"][..]),
        (&["start", "--mode", "nowhere", "--config", CONFIG, "x"], 1, &["nowhere", "roo modes"]),
        (&["start", "--profile", "none", "x"], 1, &["no profile none", "roo profiles"]),
        (&["start", "--config", "{", "x"], 2, &["not valid JSON", "@FILE"]),
        (&["start", "--config", "[]", "x"], 2, &["must be a JSON object", "apiProvider"]),
        (&["profiles", "create", "default"], 1, &["already", "profiles update"]),
        (&["profiles", "delete", "default"], 1, &["last profile", "profiles create"]),
        (&["--socket", "/none", "history"], 1, &["/none", "[[roo.listeners]]"]),
    ] {
        let said = daemon.rookery(&[&["roo"], args].concat()).failure(code);
        assert!(words.iter().all(|word| said.contains(word)), "{args:?}: {said}");
    }
    daemon.rookery(&["roo", "close", end]).success();
    let said = daemon.rookery(&["roo", "send", end, "hello"]).failure(1);
    assert!(said.contains("was closed") && said.contains("roo resume"), "{said}");
    let said = daemon.rookery(&["roo", "resume", end]);
    assert!(said.stderr.contains(&format!("rookery roo approve {end}")), "{said:?}");
}
