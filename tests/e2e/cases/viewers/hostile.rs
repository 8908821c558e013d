//! Text that is made to deceive and amounts that are made to drown, over the bare link: whoever paints what it
//! gets paints nothing that acts or hides, whatever a viewer says is answered, and no frame is larger than its
//! bound.

use std::fs;

use rookery_testkit::{TestDaemon, git};
use rookery_view::link::bound;
use rookery_view::safe;
use serde_json::{Value, json};

use super::{Link, shows};
use crate::face::agent;
use crate::face::hostile::{everything, texts};
use crate::idx0_link::done;
use crate::roder_link::script;

/// The longest text around terminals that is no page of something.
const LONG: usize = 4096;

/// Every text in a value.
fn all_texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(all) => all.iter().for_each(|one| all_texts(one, found)),
        Value::Object(all) => all.values().for_each(|one| all_texts(one, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Nothing in it acts on a screen, or is there and not seen.
#[track_caller]
fn check(what: &str, value: &Value) {
    let mut found = Vec::new();
    all_texts(value, &mut found);
    for text in found {
        for line in text.split('\n') {
            assert_eq!(safe::exact(line), line, "{what}");
        }
    }
}

/// The same for every frame so far; what programs print is for the emulator.
#[track_caller]
fn check_frames(link: &Link) {
    for frame in &link.frames {
        for part in ["scene", "threads", "cards", "notices"] {
            check(part, &frame[part]);
        }
        let mut around = Vec::new();
        all_texts(&frame["scene"], &mut around);
        let longest = around.iter().map(|text| text.len()).max().unwrap_or(0);
        assert!(longest <= LONG, "{longest} bytes of one text around terminals");
    }
}

#[test]
fn titles_names_and_notifications() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let mut link = Link::open(&daemon, json!({"place": {"page": "inbox"}}));
    link.call("rookery/view/inbox", json!({"from": 0, "count": 200, "all": true}));
    let long = format!("evil{}", "x".repeat(64 << 10));
    for text in texts().iter().chain([&long]) {
        let id = client.open_sh("echo go; exec cat");
        // Whatever is refused is no danger.
        let _ = client.try_call("rookery/terminals/rename", json!({"terminal": id, "title": text}));
        let root = daemon.home().path();
        let _ = client.try_call("rookery/projects/create", json!({"name": text, "root": root}));
        let tab = id.to_string();
        daemon.rookery(&["roostctl", "notify", "--tab", &tab, "--title", text, "--body", text]);
        link.call("rookery/view/go", json!({"page": "workspace", "terminal": id}));
        link.call("rookery/view/act", json!({"action": "rename_tab"}));
        link.call("rookery/view/edit", json!({"cancel": true}));
        link.round_trip();
    }
    for kind in ["commands", "agents", "notifications"] {
        link.call("rookery/view/palette", json!({"open": kind}));
        link.call("rookery/view/palette", json!({"query": "evil"}));
        link.wait_frame(|frame| frame["scene"]["palette"]["query"] == "evil");
        link.call("rookery/view/palette", json!({"close": true}));
    }
    // It is asked about by name, or refused.
    let _ = link.try_call("rookery/view/act", json!({"action": "close_project"}));
    link.round_trip();
    check_frames(&link);
}

#[test]
fn threads_cards_and_diffs() {
    let daemon = TestDaemon::start();
    let (mut roder, thread, dir) = agent(&daemon, "work");
    git(&dir, &["init", "-q"]);
    fs::write(dir.join("a"), "one\n").unwrap();
    git(&dir, &["add", "."]);
    git(&dir, &["commit", "-qm", "first"]);
    for (index, text) in texts().iter().enumerate() {
        let name: String = text.chars().filter(|c| *c != '/' && *c != '\0').take(60).collect();
        let _ = fs::write(dir.join(format!("{index}-{name}")), text);
    }
    let mut command = daemon.home().command(rookery_testkit::rookery_binary());
    command.current_dir(&dir).args(["review", "request", "evil\x1b[2J\u{202e}summary"]);
    let review = rookery_testkit::Finished::of(command).success().trim().to_owned();

    let write = json!({"path": "evil\u{202e}gpj.sh", "content": everything()});
    let option = |label: &str| json!({"label": label, "description": label});
    let options = ["evil\u{1b}[2Jyes", "evil\u{200b}no\u{202e}"].map(option);
    let questions = json!([{
        "header": "evil\u{9b}head", "id": "q", "question": everything(), "options": options,
    }]);
    let steps = json!([
        {"text": everything(), "tool": "write_file", "args": write},
        {"tool": "request_user_input", "args": {"questions": questions}},
        {"text": everything()},
    ]);
    let mut link = Link::open(&daemon, json!({"place": {"page": "inbox"}}));
    roder.turn(&thread, &format!("evil\u{1b}]0;x\u{7}\u{202e}{}", script(&steps)));
    // What is asked for is approved; the question behind it waits on.
    for is_approved in [true, false] {
        link.wait_frame(|frame| frame["scene"]["status"]["waiting"] == 1);
        let asked = link.call("rookery/requests/list", json!({}));
        let request = asked["requests"][0]["id"].as_str().unwrap().to_owned();
        let card = link.call("rookery/view/card", json!({"request": request}));
        check("card", &card);
        check("diff of a request", &link.call("rookery/view/diff", json!({"request": request})));
        if is_approved {
            link.frames.clear();
            daemon.rookery(&["approve", "--unseen", &request]).success();
            link.wait_frame(|frame| frame["cards"][0]["state"] == "approved");
            link.frames.clear();
        }
    }
    let shown = link.call("rookery/view/thread/open", json!({"thread": thread}));
    check("thread", &shown);
    for item in shown["items"].as_array().unwrap() {
        let params = json!({"thread": thread, "item": item["id"]});
        check("item", &link.call("rookery/view/item", params.clone()));
        check("diff of an item", &link.call("rookery/view/diff", params));
    }
    check("threads", &link.call("rookery/view/thread/list", json!({})));
    check("commands", &link.call("rookery/view/thread/commands", json!({"thread": thread})));
    let files = link.call("rookery/view/diff", json!({"review": review}));
    check("files of a review", &files);
    assert!(files["files"].as_array().unwrap().len() > 10, "{files}");
    for file in files["files"].as_array().unwrap() {
        let params = json!({"review": review, "file": file["path"]});
        check("a file of a review", &link.call("rookery/view/diff", params));
    }
    check_frames(&link);
}

#[test]
fn a_line_of_megabytes_a_million_lines_and_a_full_queue_keep_their_bounds() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let t = client.open_sh(
        "echo go; read x; head -c 10000000 /dev/zero | tr '\\0' x; echo; seq 1 1000000; \
         echo million-done; exec cat",
    );
    client.wait_text(t, "go");
    let mut link = Link::open(&daemon, json!({"check": true}));
    link.call("rookery/view/key", json!({"n": 1, "t": t, "k": "enter"}));
    link.wait_frame(|frame| shows(frame, "million-done"));
    for frame in &link.frames {
        let bytes = frame.to_string().len();
        assert!(bytes <= 1 << 20, "a frame of {bytes} bytes");
        let rows = frame["terms"][0]["rows"].to_string().len();
        assert!(rows <= (256 << 10) + 1024, "{rows} bytes of rows");
    }
    for number in 0..1_000 {
        let session = format!("11111111-1111-1111-1111-{:012x}", number % 100);
        let payload = json!({"sessionID": session, "title": format!("item {number}")});
        done(daemon.home(), "notify", payload);
    }
    link.frames.clear();
    link.call("rookery/view/inbox", json!({"from": 0, "count": 200, "all": true}));
    let full = link.wait_frame(|frame| {
        frame["scene"]["inbox"]["rows"].as_array().is_some_and(|rows| rows.len() == 200)
    });
    assert_eq!(full["scene"]["inbox"]["total"], 1_000, "{}", full["scene"]["inbox"]["total"]);
    for frame in &link.frames {
        let bytes = frame.to_string().len();
        assert!(bytes <= 1 << 20, "a frame of {bytes} bytes");
    }
}

#[test]
fn attack_params_of_any_kind_are_answered_and_change_nothing_else() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let t = client.open_sh("seq 1 100; exec cat");
    client.wait_text(t, "100");
    let mut link = Link::connect(&daemon);
    for (params, code) in [
        (json!({"versions": [99], "size": {"cols": 80, "rows": 24}}), -32011),
        (json!({"versions": [], "size": {"cols": 80, "rows": 24}}), -32011),
        (json!({"versions": [1], "size": {"cols": 0, "rows": 24}}), -32602),
        (json!({"versions": [1], "size": {"cols": 65535, "rows": 65535}}), -32602),
        (json!({"versions": [1], "size": {"cols": 1e9, "rows": 24}}), -32602),
        (json!({"versions": [1], "size": "large"}), -32602),
        (json!({"versions": [1], "size": {"cols": 80, "rows": 24}, "fps": 0}), -32602),
        (json!({"versions": [1], "size": {"cols": 80, "rows": 24}, "fps": 121}), -32602),
        (
            json!({"versions": [1], "size": {"cols": 80, "rows": 24}, "name": "n".repeat(65)}),
            -32602,
        ),
        (json!([1, 2, 3]), -32602),
    ] {
        let reply = link.try_call("rookery/view/open", params.clone());
        assert_eq!(reply["error"]["code"], code, "{params}: {reply}");
    }
    let before = link.try_call("rookery/view/go", json!({"page": "inbox"}));
    assert_eq!(before["error"]["code"], -32011, "nothing before open: {before}");
    link.call("rookery/view/open", json!({"versions": [1], "size": {"cols": 80, "rows": 24}}));
    let again = json!({"versions": [1], "size": {"cols": 80, "rows": 24}});
    assert_eq!(link.try_call("rookery/view/open", again)["error"]["code"], -32011);
    let most = u64::MAX;
    for (method, params) in [
        ("scroll", json!({"t": t, "by": i64::MIN})),
        ("scroll", json!({"t": t, "by": i64::MAX})),
        ("scroll", json!({"t": t, "to": "row", "row": most})),
        ("scroll", json!({"t": t, "to": "promptBefore"})),
        ("rows", json!({"t": t, "epoch": most, "from": most, "count": 1})),
        ("rows", json!({"t": t, "epoch": 0, "from": 0, "count": 1000})),
        ("select", json!({"t": t, "anchor": [most, 65535], "head": [0, 0], "kind": "block"})),
        ("copy", json!({"t": t, "to": ["clipboard", "selection", "clipboard"]})),
        ("linkAt", json!({"t": t, "at": [most, 65535]})),
        ("find", json!({"t": t, "text": "(((((a*)*)*)*)*)*$", "regex": true, "limit": most >> 32})),
        ("ack", json!({"n": most})),
        ("ack", json!({"n": 0})),
        ("resync", json!({"terms": (0..10_000).collect::<Vec<u64>>(), "scene": true})),
        ("mouse", json!({"t": t, "kind": "press", "button": "left", "row": 65535, "col": 65535})),
        ("pane", json!({"resize": "left", "by": i32::MIN})),
        ("pane", json!({"move": t, "to": t, "side": "left"})),
        ("palette", json!({"open": "commands"})),
        ("palette", json!({"move": i64::MIN})),
        ("palette", json!({"select": u32::MAX})),
        ("palette", json!({"activate": u32::MAX})),
        ("palette", json!({"close": true})),
        ("resize", json!({"size": {"cols": 1, "rows": 1}})),
        (
            "resize",
            json!({"pixels": {"width": 1e300, "height": -1.0, "cell": [1e300, -5.0], "scale": 0.0}}),
        ),
        ("focus", json!({"has": true, "visible": true})),
    ] {
        // It is done or refused, and either is said.
        let reply = link.try_call(&format!("rookery/view/{method}"), params.clone());
        let code = reply["error"]["code"].as_i64();
        assert!(reply.get("result").is_some() || code.is_some(), "{method} {params}: {reply}");
        assert_ne!(code, Some(-32603), "a fault of the daemon: {method} {params}: {reply}");
    }
    for (method, params, code) in [
        ("key", json!({"n": 1, "t": most, "k": "a"}), -32010),
        ("key", json!({"n": 1, "t": t, "k": "no such key"}), -32602),
        ("key", json!({"n": -1, "t": t, "k": "a"}), -32602),
        ("rows", json!({"t": t, "epoch": 0, "from": 0, "count": 1001}), -32602),
        ("find", json!({"t": t, "text": "("  , "regex": true}), -32602),
        ("find", json!({"t": t, "text": "x".repeat(bound::PATTERN_BYTES + 1)}), -32602),
        ("inbox", json!({"from": 0, "count": 201}), -32602),
        ("go", json!({"page": "nowhere"}), -32602),
        ("go", json!({"page": "thread", "thread": "\u{1b}[2J"}), -32602),
        ("act", json!({"action": "\u{1b}[2J"}), -32602),
        ("palette", json!({"query": "x".repeat(bound::PATTERN_BYTES + 1)}), -32602),
        ("go", json!({"page": "worktrees", "repo": "/".repeat(4097)}), -32602),
        ("palette", json!({}), -32602),
        ("palette", json!({"open": "commands", "close": true, "query": 5}), -32602),
        ("pane", json!({"split": "sideways"}), -32602),
        ("edit", json!({}), -32602),
        ("scroll", json!({"t": t}), -32602),
        ("card", json!({}), -32602),
        ("diff", json!({}), -32602),
        ("thread/open", json!({"thread": "x", "limit": 201}), -32602),
        ("prefs", json!({"get": true, "set": {}}), -32602),
        ("nothing", json!({}), -32601),
    ] {
        let reply = link.try_call(&format!("rookery/view/{method}"), params.clone());
        assert_eq!(reply["error"]["code"], code, "{method} {params}: {reply}");
        check("what an error says", &reply["error"]["message"]);
    }
    // Refused input without an id is reported in a frame, and the link goes on.
    link.frames.clear();
    link.tell("rookery/view/key", json!({"n": 7, "t": most, "k": "a"}));
    let told = link.wait_frame(|frame| frame["notices"].is_array());
    assert!(told["notices"][0]["title"].as_str().unwrap().starts_with("input refused: "), "{told}");
    link.call("rookery/view/resize", json!({"size": {"cols": 80, "rows": 24}}));
    link.call("rookery/view/go", json!({"page": "workspace", "terminal": t}));
    link.call("rookery/view/key", json!({"n": 8, "t": t, "k": "z"}));
    link.wait_frame(|frame| shows(frame, "z"));
    link.wait_frame(|frame| frame["input"] == 8);
}
