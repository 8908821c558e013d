//! What viewers with less rights may do: every method that the connection speaks is tried.

use std::collections::{BTreeMap, BTreeSet};

use rookery_dialects::{DIALECTS, Dialect};
use rookery_testkit::TestDaemon;
use rookery_wire::rights::Needs;
use serde_json::json;

use super::{Link, shows, size_of, terminal};

const DENIED: i64 = -32012;

/// Every method of our own socket, with what its row needs; whoever may not do everything is refused all of
/// another dialect there.
fn methods() -> BTreeMap<&'static str, Needs> {
    let ours = ["native", "link"];
    let others = ["ptywright", "roder"];
    let spoken = |dialect: &&Dialect| [ours, others].concat().contains(&dialect.name);
    let rows = DIALECTS.iter().filter(spoken).flat_map(|dialect| {
        let least = if ours.contains(&dialect.name) { Needs::Look } else { Needs::Full };
        dialect.ops().0.into_iter().map(move |op| (op.name, op.rights.needs.max(least)))
    });
    rows.collect()
}

#[test]
fn every_method_is_refused_that_changes_more_than_the_viewer_may() {
    let daemon = TestDaemon::start();
    let all = methods();
    // Each right lets through more than the one before it, and not everything.
    let mut before = 0;
    for (rights, most) in [("look", Needs::Look), ("decide", Needs::Decide)] {
        let mut link = Link::open(&daemon, json!({"rights": rights}));
        let mut admitted = BTreeSet::new();
        for method in all.keys() {
            // Without params most are wrong, but rights come first.
            let reply = link.try_call(method, json!({}));
            if reply["error"]["code"] != DENIED {
                admitted.insert(*method);
            }
        }
        let allowed = all.iter().filter(|(_, needs)| **needs <= most).map(|(name, _)| *name);
        assert_eq!(admitted, allowed.collect(), "{rights}");
        assert!(before < admitted.len() && admitted.len() < all.len(), "{rights}");
        before = admitted.len();
    }
}

#[test]
fn params_of_every_method_of_the_link_are_known_by_its_name() {
    for name in methods().keys().filter(|name| name.starts_with("rookery/view/")) {
        assert!(rookery_view::link::reread(name, b"null").is_some(), "{name}");
    }
}

#[test]
fn rights_are_never_more_than_they_were() {
    let daemon = TestDaemon::start();
    let mut link = Link::open(&daemon, json!({"rights": "look"}));
    let again = json!({"versions": [1], "size": {"cols": 80, "rows": 24}, "rights": "full"});
    let refused = link.try_call("rookery/view/open", again);
    assert_eq!(refused["error"]["code"], -32011, "{refused}");
    let status = daemon.rookery(&["status", "--json"]).json();
    let viewers = status["viewers"].as_array().unwrap();
    assert_eq!(viewers.len(), 1);
    let shown = json!({"viewer": viewers[0]["viewer"], "face": "tui", "name": "t", "rights": "look",
        "isDesk": false, "size": {"cols": 80, "rows": 24}, "page": "workspace"});
    assert_eq!(viewers[0], shown);
}

#[test]
fn a_face_keeps_its_prefs_and_who_only_looks_reads_them() {
    let daemon = TestDaemon::start();
    let set = json!({"set": {"sidebar": 30, "all": true, "gone": 1}});
    let mut tui = Link::open(&daemon, json!({}));
    tui.call("rookery/view/prefs", set);
    tui.call("rookery/view/prefs", json!({"set": {"gone": null}}));
    let kept = json!({"prefs": {"all": true, "sidebar": 30}});
    let mut look = Link::open(&daemon, json!({"rights": "look"}));
    assert_eq!(look.call("rookery/view/prefs", json!({"get": true})), kept);
    let mut window = Link::open(&daemon, json!({"face": "window"}));
    let none = json!({"prefs": {}});
    assert_eq!(window.call("rookery/view/prefs", json!({"get": true})), none);
    daemon.rookery(&["restart"]).success();
    let mut tui = Link::open(&daemon, json!({}));
    assert_eq!(tui.call("rookery/view/prefs", json!({"get": true})), kept);
    let much = json!({"set": {"much": "x".repeat(70_000)}});
    let refused = tui.try_call("rookery/view/prefs", much);
    assert_eq!(refused["error"]["data"]["field"], "set", "{refused}");
    daemon.rookery(&["down", "--all"]).success();
}

#[test]
fn who_may_not_type_changes_nothing_by_looking() {
    let daemon = TestDaemon::start();
    let script = "stty raw -echo; printf '\\033[?1004h\\033]9;look here\\007up'; exec cat -v";
    let t = terminal(&daemon, script);
    let mut full = Link::open(&daemon, json!({}));
    full.wait_frame(|frame| shows(frame, "up"));
    let place = json!({"page": "workspace", "terminal": t});
    let mut others: Vec<Link> = ["look", "decide"]
        .map(|rights| Link::open(&daemon, json!({"rights": rights, "place": place})))
        .into();
    for link in &mut others {
        link.call("rookery/view/focus", json!({"n": 1, "has": true}));
        link.call("rookery/view/go", place.clone());
        link.call("rookery/view/focus", json!({"n": 2, "has": false}));
        link.call("rookery/view/focus", json!({"n": 3, "has": true}));
    }
    // Their focus did not come in between.
    full.call("rookery/view/text", json!({"n": 1, "t": t, "text": "Z"}));
    full.wait_frame(|frame| shows(frame, "upZ"));
    let has_badge = |daemon: &TestDaemon| {
        let mut link = Link::connect(daemon);
        let open = json!({"versions": [1], "face": "tui", "name": "t", "place": place,
            "size": {"cols": 80, "rows": 24}});
        let opened = link.call("rookery/view/open", open);
        opened["scene"]["strip"]["groups"][0]["tabs"][0]["badge"] == true
    };
    assert!(has_badge(&daemon));
    full.call("rookery/view/focus", json!({"n": 2, "has": true}));
    full.wait_frame(|frame| shows(frame, "upZ^[[I"));
    assert!(!has_badge(&daemon));
}

#[test]
fn attack_who_only_looks_gets_no_secret_from_any_side() {
    let daemon = TestDaemon::start();
    let line = "MIIEowIBAAKCAQEAx7Qm2Vf0c3u5tJ9zW8kLd1rNhYpB6sXgE4aFoTiCvUjDqHwS";
    let script = format!(
        "echo '-----BEGIN RSA PRIVATE KEY-----'; for i in $(seq 40); do echo {line}; done; \
         echo '-----END RSA PRIVATE KEY-----'; echo password=hunter2hunter2; echo plain; cat"
    );
    let t = terminal(&daemon, &script);
    let mut look = Link::open(&daemon, json!({"rights": "look"}));
    look.wait_frame(|frame| shows(frame, "plain"));
    let term = look.frames.iter().find_map(|frame| frame["terms"][0]["epoch"].as_u64()).unwrap();
    // Alone, none of these rows says that it is of a key.
    let mut seen = String::new();
    for from in 0..50 {
        let params = json!({"t": t, "epoch": term, "from": from, "count": 1});
        seen += &look.call("rookery/view/rows", params)["rows"].to_string();
    }
    assert!(seen.contains("plain") && seen.contains("***"), "{seen}");
    for row in [20, 42] {
        let ends = json!({"t": t, "anchor": [row, 9], "head": [row, 22]});
        look.call("rookery/view/select", ends);
        let copied = look.call("rookery/view/copy", json!({"t": t, "to": []}));
        assert_eq!(copied["text"], "*".repeat(14), "{row}");
    }
    for text in ["5tJ9zW8k", "hunter2"] {
        let found = look.call("rookery/view/find", json!({"t": t, "text": text}));
        assert_eq!(found["total"], 0, "{text}");
        for guess in
            [json!({"text": text}), json!({"transcriptText": text}), json!({"regex": text})]
        {
            let mut params = json!({"terminal": t, "timeoutMs": 0});
            params.as_object_mut().unwrap().extend(guess.as_object().unwrap().clone());
            let waited = look.try_call("rookery/terminals/wait", params.clone());
            assert_eq!(waited["error"]["code"], -32001, "{params}: {waited}");
            let waited = daemon.client().call("rookery/terminals/wait", params);
            assert!(waited["elapsedMs"].is_u64(), "it is there for others: {waited}");
        }
    }
    let waited = look.call("rookery/terminals/wait", json!({"terminal": t, "text": "plain"}));
    assert_eq!(waited["matched"], "text");
    for history in [0, 10, 100] {
        let dump = look.call("rookery/terminals/dump", json!({"terminal": t, "history": history}));
        seen += dump["text"].as_str().unwrap();
    }
    for frame in &look.frames {
        seen += &frame.to_string();
    }
    for secret in ["5tJ9zW8k", "hunter2"] {
        assert!(!seen.contains(secret), "{secret} in {seen}");
    }
}

#[test]
fn who_decides_follows_a_terminal_and_leaves_its_size() {
    let daemon = TestDaemon::start();
    let t = terminal(&daemon, "cat");
    let before = size_of(&daemon, t);
    let mut decide = Link::open(&daemon, json!({"rights": "decide"}));
    let sized = json!({"terminal": t, "rows": 5, "cols": 20});
    let refused = decide.try_call("rookery/terminals/attach", sized.clone());
    assert_eq!(refused["error"]["code"], DENIED, "{refused}");
    decide.call("rookery/terminals/attach", json!({"terminal": t}));
    assert_eq!(size_of(&daemon, t), before);
    let mut full = Link::open(&daemon, json!({"fit": "follow"}));
    full.call("rookery/terminals/attach", sized);
    assert_eq!(size_of(&daemon, t), (20, 5));
}
