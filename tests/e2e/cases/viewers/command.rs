//! `rookery view --json`: the reference viewer as a command, and what Roost's clients see beside it.

use rookery_testkit::TestDaemon;
use serde_json::{Value, json};

use super::{roost, terminal};

/// What the command prints, one JSON per frame.
fn view(daemon: &TestDaemon, args: &[&str]) -> Vec<Value> {
    let args: Vec<&str> = ["view", "--json"].iter().chain(args).copied().collect();
    let printed = daemon.rookery(&args).success();
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn rows(frame: &Value, t: u64) -> Vec<String> {
    let rows = frame["terms"][t.to_string()]["rows"].as_array().cloned().unwrap_or_default();
    rows.iter().map(|row| row.as_str().unwrap().trim_end().to_owned()).collect()
}

#[test]
fn it_prints_the_mirror_after_each_frame_and_ends_after_as_many_as_asked_for() {
    let daemon = TestDaemon::start();
    let t = terminal(&daemon, "printf 'one\\n日本 two\\n'; exec cat");
    daemon.client().wait_text(t, "two");
    let frames = view(&daemon, &["--frames", "1", "--terminal", &t.to_string()]);
    assert_eq!(frames.len(), 1);
    let frame = &frames[0];
    assert_eq!((&frame["n"], &frame["page"]["page"]), (&json!(1), &json!("workspace")));
    assert_eq!(rows(frame, t)[..2], ["one", "日本 two"]);
    assert_eq!(frame["terms"][t.to_string()]["size"], json!([24, 80]));
    for member in ["strip", "panes", "inbox"] {
        assert!(frame.get(member).is_some(), "{member}: {frame}");
    }
    let inbox = view(&daemon, &["--frames", "1", "--page", "inbox"]);
    assert_eq!(inbox[0]["page"]["page"], "inbox");
    assert_eq!(inbox[0]["terms"], json!({}), "only terminals in view are sent");
    daemon.rookery(&["view", "--json", "--page", "nowhere"]).failure(1);
}

#[test]
fn two_viewers_have_the_rows_that_roost_dumps() {
    let daemon = TestDaemon::start();
    let t =
        terminal(&daemon, "seq -f 'line %g é' 40; printf '\\033[1;31mred\\033[0m ö '; exec cat");
    daemon.client().wait_text(t, "red");
    let dumped = roost(&daemon, "tab.dump", &json!({ "tab_id": t.to_string() }));
    let dumped: Vec<String> = serde_json::from_value(dumped["rows_text"].clone()).unwrap();
    assert!(dumped.iter().any(|line| line.starts_with("red ö")), "{dumped:?}");
    let both = [(); 2].map(|()| view(&daemon, &["--frames", "1", "--terminal", &t.to_string()]));
    for frames in both {
        assert_eq!(rows(&frames[0], t), dumped);
    }
}
