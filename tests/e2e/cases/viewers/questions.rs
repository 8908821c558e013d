//! A question that a script asks through the palette is on the desk and in every inbox.

use rookery_testkit::{Lines, TestDaemon};
use serde_json::{Value, json};

use super::{Link, roost, terminal};

const ITEMS: &str =
    r#"[{"id": "y", "title": "Yes", "subtitle": "really"}, {"id": "n", "title": "No"}]"#;

/// Asks, and leaves the answer on its way.
fn ask(daemon: &TestDaemon) -> Lines {
    let lines = Lines::connect(&daemon.home().join("run/roost/roost.sock")).unwrap();
    let items: Value = serde_json::from_str(ITEMS).unwrap();
    let params = json!({"title": "Deploy now?", "items": items});
    lines.send_json(&json!({"id": "7", "op": "palette.present", "params": params})).unwrap();
    lines
}

fn rows(frame: &Value) -> Vec<Value> {
    frame["scene"]["inbox"]["rows"].as_array().cloned().unwrap_or_default()
}

fn is_asked(frame: &Value) -> bool {
    rows(frame).iter().any(|row| row["kind"] == "question" && row["title"] == "Deploy now?")
}

fn is_settled(frame: &Value) -> bool {
    frame["scene"]["inbox"].is_object() && rows(frame).is_empty()
}

/// A desk, another viewer and a phone, all in an empty inbox.
fn viewers(daemon: &TestDaemon) -> [Link; 3] {
    let t = terminal(daemon, "cat");
    let mut desk = Link::open(daemon, json!({}));
    desk.call("rookery/view/key", json!({"n": 1, "t": t, "k": "x"}));
    let other = Link::open(daemon, json!({}));
    let phone = Link::open(daemon, json!({"face": "web", "fit": "follow", "rights": "decide"}));
    [desk, other, phone]
}

#[test]
fn the_desk_answers_and_it_is_gone_everywhere() {
    let daemon = TestDaemon::start();
    let [mut desk, mut other, mut phone] = viewers(&daemon);
    let mut asker = ask(&daemon);
    desk.wait_frame(|frame| frame["scene"]["palette"]["frame"] == "present");
    for link in [&mut desk, &mut other, &mut phone] {
        link.wait_frame(is_asked);
    }
    assert_eq!(other.part("palette"), None, "it opens on the desk alone");
    for link in [&mut desk, &mut other, &mut phone] {
        link.frames.clear();
    }
    desk.call("rookery/view/palette", json!({"activate": 0}));
    let answered = asker.next_json().unwrap();
    assert_eq!(answered["result"], json!({"selected_id": "y", "dismissed": false}));
    for link in [&mut desk, &mut other, &mut phone] {
        link.wait_frame(is_settled);
    }
}

#[test]
fn an_inbox_answers_and_the_palette_closes() {
    let daemon = TestDaemon::start();
    let [mut desk, mut other, mut phone] = viewers(&daemon);
    let mut asker = ask(&daemon);
    let row = rows(&phone.wait_frame(is_asked))[0].clone();
    desk.wait_frame(|frame| frame["scene"]["palette"]["frame"] == "present");
    let card = phone.call("rookery/view/card", json!({"item": row["item"]}));
    assert_eq!((&card["kind"], &card["actions"][0]), (&json!("question"), &json!("answer")));
    let question = &card["questions"][0];
    assert_eq!(question["options"][0], json!({"label": "Yes", "description": "really"}));
    let answer = |words: &str| {
        let choice = question["id"].as_str().unwrap();
        json!({"id": row["request"], "shown": card["digest"], "answers": {choice: words}})
    };
    let refused = phone.try_call("rookery/requests/answer", answer("Maybe"));
    assert_eq!(refused["error"]["data"]["field"], "answers", "{refused}");
    phone.call("rookery/requests/answer", answer("No"));
    let answered = asker.next_json().unwrap();
    assert_eq!(answered["result"], json!({"selected_id": "n", "dismissed": false}));
    desk.wait_frame(|frame| frame["scene"].get("palette").is_some_and(Value::is_null));
    for link in [&mut desk, &mut other, &mut phone] {
        link.wait_frame(is_settled);
    }
    phone.wait_frame(|frame| frame["cards"][0]["state"] == "answered");
}

#[test]
fn what_is_put_away_at_the_desk_is_as_good_as_answered() {
    let daemon = TestDaemon::start();
    let [_desk, mut other, _phone] = viewers(&daemon);
    let mut asker = ask(&daemon);
    other.wait_frame(is_asked);
    other.frames.clear();
    roost(&daemon, "palette.dismiss", &json!({}));
    assert_eq!(asker.next_json().unwrap()["result"], json!({"dismissed": true}));
    other.wait_frame(is_settled);
}

#[test]
fn a_row_behind_those_that_fit_a_frame_is_seen_before_it_is_taken() {
    let daemon = TestDaemon::start();
    let [mut desk, ..] = viewers(&daemon);
    let items: Vec<Value> =
        (0..450).map(|n| json!({"id": format!("r{n}"), "title": format!("row {n}")})).collect();
    let ask = || {
        let lines = Lines::connect(&daemon.home().join("run/roost/roost.sock")).unwrap();
        let params = json!({"title": "Which?", "items": items});
        lines.send_json(&json!({"id": "7", "op": "palette.present", "params": params})).unwrap();
        lines
    };
    let row = |palette: &Value, at: u64| {
        palette["rows"][usize::try_from(at).unwrap()]["id"].as_str().map(str::to_owned)
    };
    let is_at = |frame: &Value, id: &str| {
        let palette = &frame["scene"]["palette"];
        palette["selected"].as_u64().and_then(|at| row(palette, at)).as_deref() == Some(id)
    };
    let chosen = |asker: &mut Lines| asker.next_json().unwrap()["result"]["selected_id"].clone();

    let mut asker = ask();
    desk.wait_frame(|frame| is_at(frame, "r0"));
    desk.call("rookery/view/palette", json!({"move": 199}));
    desk.wait_frame(|frame| is_at(frame, "r199"));
    desk.call("rookery/view/palette", json!({"move": 51}));
    let frame = desk.wait_frame(|frame| is_at(frame, "r250"));
    let rows = frame["scene"]["palette"]["rows"].as_array().unwrap().len();
    assert_eq!((rows, row(&frame["scene"]["palette"], 0).as_deref()), (200, Some("r200")));
    desk.call("rookery/view/palette", json!({"activate": null}));
    assert_eq!(chosen(&mut asker), "r250");

    // A place is counted among the rows that the viewer has.
    desk.frames.clear();
    let mut asker = ask();
    desk.wait_frame(|frame| is_at(frame, "r0"));
    desk.call("rookery/view/palette", json!({"move": 1000}));
    desk.wait_frame(|frame| is_at(frame, "r449"));
    desk.call("rookery/view/palette", json!({"select": 3}));
    desk.wait_frame(|frame| is_at(frame, "r403"));
    desk.call("rookery/view/palette", json!({"activate": 7}));
    assert_eq!(chosen(&mut asker), "r407");
}
