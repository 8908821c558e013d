//! Who owns the size of a terminal, where other dialects have a say in it.

use rookery_testkit::{PATIENCE, TestDaemon, wait_until};
use serde_json::json;

use super::{Link, roost, size_of, terminal};

#[test]
fn sizes_of_other_clients_hold_until_the_owner_or_its_room_is_another() {
    let daemon = TestDaemon::start();
    let t = terminal(&daemon, "cat");
    let mut own = Link::open(&daemon, json!({"size": {"cols": 90, "rows": 30}}));
    assert_eq!(size_of(&daemon, t), (90, 30));
    let resize = json!({"tab_id": t.to_string(), "rows": 11, "cols": 41});
    roost(&daemon, "tab.resize", &resize);
    assert_eq!(size_of(&daemon, t), (41, 11));
    own.call("rookery/view/key", json!({"n": 1, "t": t, "k": "x"}));
    own.round_trip();
    assert_eq!(size_of(&daemon, t), (41, 11), "a key of its owner does not change it");
    let session = json!({"session": format!("s{t}"), "rows": 12, "cols": 42});
    daemon.client().call("session.resize", session);
    assert_eq!(size_of(&daemon, t), (42, 12));
    own.call("rookery/view/resize", json!({"n": 2, "size": {"cols": 91, "rows": 31}}));
    assert_eq!(size_of(&daemon, t), (91, 31));
}

#[test]
fn a_size_is_taken_by_hand_and_passes_on_when_its_owner_leaves() {
    let daemon = TestDaemon::start();
    let t = terminal(&daemon, "cat");
    let mut one = Link::open(&daemon, json!({"name": "one", "size": {"cols": 90, "rows": 30}}));
    let mut two = Link::open(&daemon, json!({"name": "two", "size": {"cols": 60, "rows": 20}}));
    let mut phone = Link::open(
        &daemon,
        json!({"name": "phone", "size": {"cols": 40, "rows": 50}, "fit": "follow"}),
    );
    assert_eq!(size_of(&daemon, t), (90, 30), "the first that shows it");
    two.call("rookery/view/act", json!({"action": "take_size"}));
    assert_eq!(size_of(&daemon, t), (60, 20));
    let is_twos = |frame: &serde_json::Value| frame["terms"][0]["owner"]["name"] == "two";
    assert_eq!(one.wait_frame(is_twos)["terms"][0]["owner"]["mine"], false);
    assert_eq!(two.wait_frame(is_twos)["terms"][0]["owner"]["mine"], true);
    // Typing in a phone never takes it, asking for it does.
    phone.call("rookery/view/key", json!({"n": 1, "t": t, "k": "x"}));
    assert_eq!(size_of(&daemon, t), (60, 20));
    phone.call("rookery/view/act", json!({"action": "take_size"}));
    assert_eq!(size_of(&daemon, t), (40, 50));
    drop(phone);
    wait_until("it passes on to the one before", PATIENCE, || size_of(&daemon, t) == (60, 20));
    two.call("rookery/view/go", json!({"page": "inbox"}));
    assert_eq!(size_of(&daemon, t), (90, 30));
    one.call("rookery/view/resize", json!({"n": 1, "fit": "follow"}));
    one.round_trip();
    assert_eq!(size_of(&daemon, t), (90, 30), "with no owner it stays");
}

#[test]
fn a_viewer_with_less_room_still_has_every_row() {
    let daemon = TestDaemon::start();
    let t = terminal(&daemon, "seq 1 29; echo the end; cat");
    let mut own = Link::open(&daemon, json!({"size": {"cols": 90, "rows": 30}}));
    own.wait_frame(|frame| super::shows(frame, "the end"));
    let mut small = Link::open(&daemon, json!({"size": {"cols": 20, "rows": 6}, "fit": "follow"}));
    let full = small.wait_frame(|frame| frame["terms"][0]["full"] == true);
    let term = &full["terms"][0];
    assert_eq!((term["t"].as_u64(), &term["size"]), (Some(t), &json!([30, 90])));
    assert_eq!(term["rows"].as_array().unwrap().len(), 30);
}
