//! Amounts that are made to drown: no frame and no answer is larger than its bound, and a viewer is shown the
//! rest when it asks for it.

use std::fmt::Write as _;
use std::fs;

use rookery_testkit::{MemoryDaemon, PATIENCE, TestDaemon, git, wait_until};
use rookery_view::link::bound;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::Link;
use super::wires::{Wire, run};
use crate::face::agent;

/// Terminals, and items of the queue.
const TABS: usize = 500;
const ITEMS: usize = 10_000;

/// What scene, rows and the rest of a frame may come to.
const FRAME: usize = bound::SCENE_BYTES + bound::FRAME_ROW_BYTES + (64 << 10);

#[test]
fn five_hundred_tabs() {
    let daemon = MemoryDaemon::start();
    run(async {
        let mut other = Wire::connect(&daemon, "rookery");
        for _ in 0..TABS {
            other.call("rookery/terminals/open", json!({"argv": ["cat"]})).await;
        }
        let first = other.call("rookery/terminals/list", json!({})).await["terminals"][0].clone();
        let mut link = Wire::viewer(&daemon, json!({})).await;
        let tabs = |frame: &Value| {
            let groups = frame["scene"]["strip"]["groups"].as_array();
            groups.map(|groups| {
                groups.iter().map(|it| it["tabs"].as_array().map_or(0, Vec::len)).sum()
            })
        };
        other
            .call("rookery/terminals/rename", json!({"terminal": first["id"], "title": "one"}))
            .await;
        link.wait_frame(|frame| tabs(frame) == Some(TABS)).await;
        for page in ["inbox", "workspace"] {
            link.call("rookery/view/go", json!({"page": page})).await;
        }
        link.call("rookery/view/act", json!({"action": "cycle_tab_next"})).await;
        link.call("rookery/view/palette", json!({"open": "commands"})).await;
        link.wait_frame(|frame| frame["scene"]["palette"]["frame"] == "commands").await;
        assert!(link.largest <= FRAME, "a frame of {} bytes", link.largest);
    });
}

#[test]
fn ten_thousand_items_in_the_inbox() {
    let daemon = MemoryDaemon::start();
    run(async {
        let mut link = Wire::viewer(&daemon, json!({"place": {"page": "inbox"}})).await;
        for number in 0..ITEMS {
            let mut idx0 = daemon.connect("idx0");
            let session = format!("11111111-1111-1111-1111-{:012x}", number % 100);
            let payload = json!({"sessionID": session, "title": format!("item {number}")});
            let request = json!({"command": "notify", "payload": payload});
            idx0.write_all(request.to_string().as_bytes()).await.unwrap();
            let mut reply = String::new();
            idx0.read_to_string(&mut reply).await.unwrap();
            assert!(reply.contains("true"), "{reply}");
        }
        link.frames.clear();
        for from in [0, ITEMS - 10] {
            link.call("rookery/view/inbox", json!({"from": from, "count": 200, "all": true})).await;
            let rows = (ITEMS - from).min(200);
            let shown = link.wait_frame(|frame| {
                let inbox = &frame["scene"]["inbox"];
                inbox["from"] == from && inbox["rows"].as_array().is_some_and(|it| it.len() == rows)
            });
            assert_eq!(shown.await["scene"]["inbox"]["total"], ITEMS);
        }
        assert!(link.largest <= FRAME, "a frame of {} bytes", link.largest);
    });
}

#[test]
fn sixteen_panes_that_all_flood() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let ids: Vec<u64> =
        (0..16).map(|_| client.open_sh("echo up; read x; exec yes 'all of it'")).collect();
    for id in &ids {
        client.wait_text(*id, "up");
    }
    let typed = client.open_sh("stty -echo; echo up; read x; echo got-$x; exec cat");
    client.wait_text(typed, "up");
    let mut link = Link::open(&daemon, json!({"size": {"cols": 300, "rows": 100}, "check": true}));
    for (at, id) in ids.iter().enumerate().skip(1) {
        let (to, depth) = (ids[(at - 1) / 2], (at + 1).ilog2());
        let side = if depth % 2 == 0 { "right" } else { "below" };
        link.call("rookery/view/pane", json!({"move": id, "to": to, "side": side}));
    }
    link.call("rookery/view/go", json!({"page": "workspace", "terminal": ids[0]}));
    let areas = |frame: &Value| frame["scene"]["panes"]["areas"].as_array().map_or(0, Vec::len);
    link.wait_frame(|frame| areas(frame) == 16);
    for (n, id) in ids.iter().enumerate() {
        link.call("rookery/view/key", json!({"n": n + 1, "t": id, "k": "enter"}));
    }
    link.frames.clear();
    let is_flooded = |frame: &Value, id: u64| {
        let terms = frame["terms"].as_array().into_iter().flatten();
        terms
            .into_iter()
            .any(|term| term["t"] == id && term["rows"].to_string().contains("all of it"))
    };
    for id in &ids {
        link.wait_frame(|frame| is_flooded(frame, *id));
    }
    // Meanwhile another program is typed to, and what it answers is seen.
    link.call("rookery/view/go", json!({"page": "workspace", "terminal": typed}));
    link.call("rookery/view/text", json!({"n": 17, "t": typed, "text": "it"}));
    link.call("rookery/view/key", json!({"n": 18, "t": typed, "k": "enter"}));
    link.wait_frame(|frame| super::shows(frame, "got-it"));
    for frame in &link.frames {
        let bytes = frame.to_string().len();
        assert!(bytes <= FRAME, "a frame of {bytes} bytes");
    }
    for id in ids {
        client.call("rookery/terminals/kill", json!({"terminal": id}));
    }
    wait_until("all have ended", PATIENCE, || {
        let running = client.terminals().iter().filter(|it| it["state"] == "running").count();
        running == 1
    });
}

#[test]
fn a_diff_of_fifty_megabytes_is_shown_in_part() {
    let daemon = TestDaemon::start();
    let (_roder, _thread, dir) = agent(&daemon, "work");
    git(&dir, &["init", "-q"]);
    fs::write(dir.join("a"), "one\n").unwrap();
    git(&dir, &["add", "."]);
    git(&dir, &["commit", "-qm", "first"]);
    let mut large = String::with_capacity(51 << 20);
    for number in 0.. {
        if large.len() > 50 << 20 {
            break;
        }
        writeln!(large, "line {number} of what a program wrote into a file by mistake").unwrap();
    }
    fs::write(dir.join("large"), large).unwrap();
    fs::write(dir.join("small"), "two\n").unwrap();
    let mut command = daemon.home().command(rookery_testkit::rookery_binary());
    command.current_dir(&dir).args(["review", "request", "large"]);
    let review = rookery_testkit::Finished::of(command).success().trim().to_owned();
    let mut link = Link::open(&daemon, json!({"place": {"page": "reviews"}}));
    let listed = link.call("rookery/view/diff", json!({"review": review}));
    let files = listed["files"].as_array().unwrap();
    let file = |name: &str| files.iter().find(|file| file["path"] == name);
    assert_eq!(file("large").unwrap()["cut"], true);
    assert!(file("small").is_some(), "{listed}");
    let mut from = json!(null);
    let mut lines = 0;
    loop {
        let params = json!({"review": review, "file": "large", "from": from});
        let page = link.call("rookery/view/diff", params);
        assert!(page.to_string().len() < bound::DIFF_BYTES, "{} bytes", page.to_string().len());
        let file = &page["files"][0];
        assert_eq!(file["cut"], true);
        let hunks = file["hunks"].as_array().into_iter().flatten();
        let here: usize = hunks.map(|hunk| hunk["lines"].as_array().unwrap().len()).sum();
        assert!(here <= bound::DIFF_PAGE_LINES);
        lines += here;
        from = page["next"].clone();
        if from.is_null() {
            break;
        }
    }
    assert!(lines <= bound::DIFF_LINES, "{lines} lines");
}
