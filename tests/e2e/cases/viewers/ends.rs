//! How viewers end: each hears why, before its connection is over.

use std::time::Duration;

use rookery_testkit::{Home, MemoryDaemon, TestDaemon};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use super::wires::{Wire, run};
use super::{Link, shows, terminal};
use crate::web_link::{Site, port_of};

/// What a viewer reads last.
fn goodbye(link: &mut Link) -> Value {
    let mut last = Value::Null;
    while let Some(message) = link.lines.next_json() {
        last = message;
    }
    last["params"]["bye"].clone()
}

#[test]
fn a_clean_stop_and_a_restart_are_distinguished() {
    let daemon = TestDaemon::start();
    terminal(&daemon, "cat");
    let mut link = Link::open(&daemon, json!({}));
    let mut inbox = Link::open(&daemon, json!({"place": {"page": "inbox"}}));
    daemon.rookery(&["down"]).success();
    assert_eq!((goodbye(&mut link), goodbye(&mut inbox)), (json!("stopping"), json!("stopping")));

    let daemon = TestDaemon::start_in(Home::new());
    let mut link = Link::open(&daemon, json!({}));
    daemon.rookery(&["restart"]).success();
    assert_eq!(goodbye(&mut link), "restarting");
    daemon.rookery(&["down", "--all"]).success();
}

#[test]
fn who_does_not_paint_is_cut_off() {
    let daemon = MemoryDaemon::configured(|config| {
        config.ui.viewer_patience = Duration::from_millis(50);
    });
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (reader, mut writer) = tokio::io::split(daemon.connect("rookery"));
        let mut lines = BufReader::new(reader).lines();
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "rookery/terminals/open",
            "params": {"argv": ["sh", "-c", "while :; do date; sleep 0.01; done"]}});
        writer.write_all(format!("{call}\n").as_bytes()).await.unwrap();
        let reply: Value =
            serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
        let place = json!({"page": "workspace", "terminal": reply["result"]["id"]});
        let open = json!({"versions": [1], "size": {"cols": 80, "rows": 24}, "place": place});
        let call =
            json!({"jsonrpc": "2.0", "id": 2, "method": "rookery/view/open", "params": open});
        writer.write_all(format!("{call}\n").as_bytes()).await.unwrap();
        let mut frames = Vec::new();
        while let Some(line) = lines.next_line().await.unwrap() {
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] == "rookery/view/frame" {
                frames.push(message["params"].clone());
            }
        }
        assert_eq!(frames.len(), 3, "two that it did not paint, and the last");
        assert_eq!((&frames[2]["bye"], &frames[2]["n"]), (&json!("stalled"), &json!(3)));
    });
}

#[test]
fn a_page_that_does_not_paint_is_closed_with_a_code_of_its_own() {
    let daemon = MemoryDaemon::configured(|config| {
        config.ui.viewer_patience = Duration::from_millis(50);
    });
    let (port, code) = run(async {
        let mut person = Wire::connect(&daemon, "rookery");
        let argv = json!(["sh", "-c", "while :; do date; sleep 0.01; done"]);
        person.call("rookery/terminals/open", json!({"argv": argv})).await;
        let web = person.call("rookery/web/start", json!({})).await;
        let pairing = person.call("rookery/web/pair", json!({"rights": "full"})).await;
        (port_of(&web), pairing["code"].clone())
    });
    let site = Site { daemon, port };
    let credential = site.redeem(&code, "phone");
    let mut link = site.link(&credential);
    link.paints = false;
    link.open();
    assert_eq!(link.read_to_end(), 1013);
    let frames = &link.frames;
    assert_eq!(frames.len(), 3, "two that it did not paint, and the last: {frames:?}");
    assert_eq!((&frames[2]["bye"], &frames[2]["n"]), (&json!("stalled"), &json!(3)));
    // It is still a device, and one that paints is not cut off.
    let mut link = site.link(&credential);
    link.open();
    link.call("rookery/status", json!({}));
}

#[test]
fn as_many_viewers_as_the_config_says() {
    let home = Home::new();
    std::fs::create_dir_all(home.join("config/rookery")).unwrap();
    std::fs::write(home.join("config/rookery/config.toml"), "[faces]\nmax_viewers = 2\n").unwrap();
    let daemon = TestDaemon::start_in(home);
    let one = Link::open(&daemon, json!({}));
    let _two = Link::open(&daemon, json!({}));
    let open = json!({"versions": [1], "size": {"cols": 80, "rows": 24}});
    let mut third = Link::connect(&daemon);
    let refused = third.try_call("rookery/view/open", open.clone());
    assert_eq!(refused["error"]["code"], -32013, "{refused}");
    drop(one);
    rookery_testkit::wait_until("one has left", rookery_testkit::PATIENCE, || {
        let mut next = Link::connect(&daemon);
        next.try_call("rookery/view/open", open.clone()).get("result").is_some()
    });
}

#[test]
fn input_that_a_program_never_reads_is_acknowledged_by_nothing() {
    let daemon = TestDaemon::start();
    let t = terminal(&daemon, "stty raw -echo; echo up; exec sleep 1000000");
    let mut link = Link::open(&daemon, json!({}));
    link.wait_frame(|frame| shows(frame, "up"));
    // Mouse events may have no number.
    let click = json!({"t": t, "kind": "press", "button": "left", "row": 0, "col": 0});
    link.tell("rookery/view/mouse", click);
    link.call("rookery/view/text", json!({"n": 1, "t": t, "text": "x".repeat(300_000)}));
    link.call("rookery/view/text", json!({"n": 2, "t": t, "text": "y"}));
    link.round_trip();
    assert!(link.frames.iter().all(|frame| frame.get("input").is_none()), "{:?}", link.frames);
    // What nothing can read any more is said to be lost.
    daemon.client().call("rookery/terminals/kill", json!({"terminal": t}));
    let is_refusal = |frame: &Value| frame["notices"].to_string().contains("input refused");
    let told = link.wait_frame(is_refusal);
    assert_eq!(told["input"], 2, "with that it is dealt with: {told}");
}
