//! Viewers over the real socket, beside Roost's clients and across `kill -9`.

mod amounts;
mod cards;
mod command;
mod desk;
mod ends;
mod find;
mod hostile;
pub(crate) mod idle;
mod mirror;
mod notices;
mod pastes;
mod questions;
mod rights;
mod sizes;
mod threads;
mod wires;

use std::path::Path;

use rookery_testkit::{Home, Lines, PATIENCE, TestDaemon, wait_until};
use serde_json::{Value, json};

/// A connection to one of our sockets, one request at a time. Frames are kept.
struct Link {
    lines: Lines,
    last: u64,
    frames: Vec<Value>,
}

impl Link {
    fn connect(daemon: &TestDaemon) -> Link {
        let socket = daemon.home().join("run/rookery/rookery.sock");
        Link { lines: Lines::connect(&socket).unwrap(), last: 0, frames: Vec::new() }
    }

    /// A viewer that has not said anything yet but how large it is.
    fn open(daemon: &TestDaemon, params: Value) -> Link {
        let mut link = Link::connect(daemon);
        let mut all =
            json!({"versions": [1], "face": "tui", "name": "t", "size": {"cols": 80, "rows": 24}});
        let members = params.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(members);
        link.call("rookery/view/open", all);
        link
    }

    #[track_caller]
    fn call(&mut self, method: &str, params: Value) -> Value {
        let reply = self.try_call(method, params.clone());
        assert!(reply.get("error").is_none(), "{method} {params}: {reply}");
        reply["result"].clone()
    }

    /// The whole reply, whatever it is.
    #[track_caller]
    fn try_call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.lines.send_json(&request).unwrap();
        loop {
            let message = self.lines.next_json().expect("the connection is open");
            if message["id"] == id {
                return message;
            }
            self.take(message);
        }
    }

    /// Says something to which there is no reply.
    fn tell(&mut self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.lines.send_json(&message).unwrap();
    }

    /// Everything that the daemon sent before it read this call is here afterwards.
    fn round_trip(&mut self) {
        self.call("rookery/status", json!({}));
    }

    /// What the last frame that had this part of the scene said of it.
    fn part(&self, name: &str) -> Option<Value> {
        let part = |frame: &Value| frame["scene"].get(name).cloned();
        self.frames.iter().rev().find_map(part)
    }

    fn take(&mut self, message: Value) {
        if message["method"] == "rookery/view/frame" {
            let n = message["params"]["n"].clone();
            let ack = json!({"jsonrpc": "2.0", "method": "rookery/view/ack", "params": {"n": n}});
            self.lines.send_json(&ack).unwrap();
            self.frames.push(message["params"].clone());
        }
    }

    /// Reads frames until one of all that came fits.
    #[track_caller]
    fn wait_frame(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(found) = self.frames.iter().find(|frame| is_it(frame)) {
                return found.clone();
            }
            let message = self.lines.next_json().expect("the connection is open");
            self.take(message);
        }
    }
}

fn roost(daemon: &TestDaemon, op: &str, params: &Value) -> Value {
    let mut lines = Lines::connect(&daemon.home().join("run/roost/roost.sock")).unwrap();
    lines.send_json(&json!({"id": "1", "op": op, "params": params})).unwrap();
    let reply = lines.next_json().unwrap();
    assert_eq!(reply["ok"], true, "{op} {params}: {reply}");
    reply["result"].clone()
}

/// A terminal that runs this; it is the active tab.
fn terminal(daemon: &TestDaemon, script: &str) -> u64 {
    let opened = roost(daemon, "tab.open", &json!({"argv": ["sh", "-c", script]}));
    opened["tab"]["id"].as_str().unwrap().parse().unwrap()
}

fn size_of(daemon: &TestDaemon, t: u64) -> (u64, u64) {
    let found = daemon.client().call("rookery/terminals/get", json!({"terminal": t}));
    (found["size"]["cols"].as_u64().unwrap(), found["size"]["rows"].as_u64().unwrap())
}

fn tabs(daemon: &TestDaemon) -> Vec<String> {
    let listed = roost(daemon, "tab.list", &json!({}));
    let projects = listed["projects"].as_array().unwrap().iter();
    let tabs = projects.flat_map(|project| project["tabs"].as_array().unwrap());
    tabs.map(|tab| tab["id"].as_str().unwrap().to_owned()).collect()
}

fn active(daemon: &TestDaemon) -> String {
    roost(daemon, "identify", &json!({}))["active_tab_id"].as_str().unwrap().to_owned()
}

fn shows(frame: &Value, text: &str) -> bool {
    let rows = frame["terms"].as_array().into_iter().flatten();
    let mut rows = rows.flat_map(|term| term["rows"].as_array().cloned().unwrap_or_default());
    rows.any(|row| row[1].to_string().contains(text))
}

#[test]
fn two_viewers_see_what_a_program_prints_and_keys_are_acknowledged() {
    let daemon = TestDaemon::start();
    let opened = roost(&daemon, "tab.open", &json!({"argv": ["cat"]}));
    let tab: u64 = opened["tab"]["id"].as_str().unwrap().parse().unwrap();
    let mut one = Link::open(&daemon, json!({"check": true}));
    let mut two = Link::open(&daemon, json!({"fit": "follow"}));
    one.call("rookery/view/text", json!({"n": 1, "t": tab, "text": "hello viewers"}));
    for link in [&mut one, &mut two] {
        link.wait_frame(|frame| shows(frame, "hello viewers"));
    }
    one.wait_frame(|frame| frame["input"] == 1);
    assert_eq!(active(&daemon), tab.to_string());
}

#[test]
fn panes_are_tabs_for_roost_and_survive_a_kill() {
    let home = Home::new();
    let mut daemon = TestDaemon::start_in(home);
    let first = roost(&daemon, "tab.open", &json!({"argv": ["cat"]}))["tab"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut link = Link::open(&daemon, json!({"size": {"cols": 81, "rows": 24}}));
    link.call("rookery/view/pane", json!({"split": "right"}));
    let both = tabs(&daemon);
    assert_eq!((both.len(), &both[0]), (2, &first));
    assert_eq!(active(&daemon), both[1], "the new pane has the keys");
    let panes = link.wait_frame(|frame| {
        frame["scene"]["panes"]["areas"].as_array().is_some_and(|it| it.len() == 2)
    });
    assert_eq!(panes["scene"]["panes"]["tree"]["split"], "right");
    roost(&daemon, "tab.focus", &json!({"tab_id": first}));
    link.wait_frame(|frame| frame["scene"]["panes"]["focused"].as_u64() == first.parse().ok());

    daemon.kill9();
    daemon.restart();
    assert_eq!(tabs(&daemon), both);
    let mut link = Link::open(&daemon, json!({"size": {"cols": 81, "rows": 24}}));
    link.call("rookery/view/inbox", json!({"from": 0, "count": 1}));
    let status = link.call("rookery/view/pane", json!({"focus": "right"}));
    assert_eq!(status, json!({}));
    assert_eq!(active(&daemon), both[1], "the layout is there: the right pane has the keys");

    roost(&daemon, "tab.close", &json!({"tab_id": both[1]}));
    wait_until("the sibling has its room", PATIENCE, || {
        let listed = roost(&daemon, "tab.list", &json!({}));
        tabs(&daemon).len() == 1 && listed["projects"][0]["tabs"][0]["id"] == first
    });
    assert_eq!(active(&daemon), first);
}

#[test]
fn what_a_program_copies_reaches_the_desk_once() {
    let daemon = TestDaemon::start();
    let opened = roost(
        &daemon,
        "tab.open",
        &json!({"argv": ["sh", "-c", "read x; printf '\\033]52;c;aGk=\\007'; cat"]}),
    );
    let tab: u64 = opened["tab"]["id"].as_str().unwrap().parse().unwrap();
    let mut desk = Link::open(&daemon, json!({}));
    let mut other = Link::open(&daemon, json!({}));
    desk.call("rookery/view/text", json!({"n": 1, "t": tab, "text": "go\r"}));
    let frame = desk.wait_frame(|frame| frame.get("clip").is_some());
    assert_eq!(frame["clip"], json!({"target": "clipboard", "text": "hi"}));
    desk.call("rookery/view/text", json!({"n": 2, "t": tab, "text": "after\r"}));
    desk.wait_frame(|frame| shows(frame, "after"));
    other.wait_frame(|frame| shows(frame, "after"));
    let clips =
        |link: &Link| link.frames.iter().filter(|frame| frame.get("clip").is_some()).count();
    assert_eq!((clips(&desk), clips(&other)), (1, 0));
}

#[test]
fn a_viewer_that_never_acknowledges_gets_two_frames_and_slows_no_one() {
    let daemon = TestDaemon::start();
    let opened = roost(
        &daemon,
        "tab.open",
        &json!({"argv": ["sh", "-c", "read x; seq 1 20000; echo the end; cat"]}),
    );
    let tab: u64 = opened["tab"]["id"].as_str().unwrap().parse().unwrap();
    let socket = daemon.home().join("run/rookery/rookery.sock");
    let mut silent = silent(&socket);
    let mut link = Link::open(&daemon, json!({}));
    link.call("rookery/view/text", json!({"n": 1, "t": tab, "text": "go\r"}));
    link.wait_frame(|frame| shows(frame, "the end"));
    let status = json!({"jsonrpc": "2.0", "id": 9, "method": "rookery/status"});
    silent.send_json(&status).unwrap();
    let mut frames = 0;
    while let Some(message) = silent.next_json() {
        if message["id"] == 9 {
            break;
        }
        frames += u64::from(message["method"] == "rookery/view/frame");
    }
    assert!(frames <= 2, "{frames}");
}

fn silent(socket: &Path) -> Lines {
    let mut lines = Lines::connect(socket).unwrap();
    let params = json!({"versions": [1], "size": {"cols": 80, "rows": 24}});
    let open = json!({"jsonrpc": "2.0", "id": 1, "method": "rookery/view/open", "params": params});
    lines.send_json(&open).unwrap();
    assert_eq!(lines.next_json().unwrap()["id"], 1);
    lines
}

#[test]
fn a_face_is_told_the_keys_and_settings_that_the_user_chose() {
    let home = Home::new();
    let dir = home.join("config/roost");
    std::fs::create_dir_all(&dir).unwrap();
    let chosen = "key-preset = tmux\nanswer-guard-ms = 250\ntui-mouse = off\ntui-notify = bell\n\
        keybind = tui:prefix>g = zoom_pane\n";
    std::fs::write(dir.join("config.conf"), chosen).unwrap();
    let daemon = TestDaemon::start_in(home);
    let mut link = Link::connect(&daemon);
    let params =
        json!({"versions": [1], "face": "tui", "name": "t", "size": {"cols": 80, "rows": 24}});
    let opened = link.call("rookery/view/open", params);
    let settings = &opened["settings"];
    assert_eq!(settings["prefix"], "ctrl+b", "{settings}");
    assert_eq!((&settings["guard"], &settings["mouse"]), (&json!(250), &json!(false)));
    assert_eq!(settings["notify"], "bell");
    let keys = opened["keys"].as_array().unwrap();
    let has =
        |trigger: &str, action: &str| keys.iter().any(|key| key[0] == trigger && key[1] == action);
    assert!(has("prefix>g", "zoom_pane"), "{keys:?}");
    assert!(!has("ctrl+alt+p", "command_palette"), "the preset has no direct chords");
}
