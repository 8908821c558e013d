//! The desk, the tabs that were shown before, and windows that come to the front.

use rookery_testkit::TestDaemon;
use serde_json::json;

use super::{Link, active, roost, shows, tabs, terminal};

#[test]
fn the_last_tab_is_that_of_each_viewer_and_goes_by_pills() {
    let daemon = TestDaemon::start();
    let tabs: Vec<u64> = (0..3).map(|_| terminal(&daemon, "cat")).collect();
    let [a, b, c] = tabs[..] else { panic!("three tabs") };
    let mut desk = Link::open(&daemon, json!({"size": {"cols": 100, "rows": 30}}));
    let last = |link: &mut Link| link.call("rookery/view/act", json!({"action": "last_tab"}));
    desk.call("rookery/view/act", json!({"action": "switch_tab_1"}));
    assert_eq!(active(&daemon), a.to_string());
    desk.call("rookery/view/act", json!({"action": "switch_tab_3"}));
    last(&mut desk);
    assert_eq!(active(&daemon), a.to_string());
    last(&mut desk);
    assert_eq!(active(&daemon), c.to_string());
    // Panes of one pill are not gone through.
    desk.call("rookery/view/pane", json!({"split": "right"}));
    let split = active(&daemon);
    desk.call("rookery/view/pane", json!({"focus": "left"}));
    desk.call("rookery/view/pane", json!({"focus": "right"}));
    last(&mut desk);
    assert_eq!(active(&daemon), a.to_string());
    last(&mut desk);
    assert_eq!(active(&daemon), split);
    // Another viewer comes from somewhere else.
    let place = json!({"page": "workspace", "terminal": b});
    let mut other = Link::open(&daemon, json!({"place": place}));
    other.call("rookery/view/act", json!({"action": "switch_tab_3"}));
    assert_eq!(active(&daemon), split);
    last(&mut other);
    assert_eq!(active(&daemon), b.to_string());
    // One that is closed is passed over.
    other.call("rookery/view/act", json!({"action": "switch_tab_1"}));
    roost(&daemon, "tab.close", &json!({"tab_id": b.to_string()}));
    last(&mut other);
    assert_eq!(active(&daemon), split);
}

#[test]
fn whoever_wants_a_window_raises_the_newest() {
    let daemon = TestDaemon::start();
    let mut tui = Link::open(&daemon, json!({}));
    let mut old = Link::open(&daemon, json!({"face": "window"}));
    let mut new = Link::open(&daemon, json!({"face": "window"}));
    for link in [&mut tui, &mut old, &mut new] {
        link.round_trip();
        link.wait_frame(|frame| frame["n"] == 1);
    }
    roost(&daemon, "app.activate", &json!({}));
    new.wait_frame(|frame| frame["raise"] == true);
    new.frames.clear();
    daemon.rookery(&["idx0", "open"]).success();
    new.wait_frame(|frame| frame["raise"] == true);
    for link in [&mut tui, &mut old] {
        link.round_trip();
        assert!(!link.frames.iter().any(|frame| frame["raise"] == true));
    }
}

#[test]
fn a_new_project_of_one_that_follows_leaves_the_desk_where_it_is() {
    let daemon = TestDaemon::start();
    let tab = terminal(&daemon, "cat");
    let mut desk = Link::open(&daemon, json!({}));
    desk.call("rookery/view/focus", json!({"n": 1, "has": true}));
    let mut phone = Link::open(&daemon, json!({"face": "web", "fit": "follow"}));
    phone.call("rookery/view/act", json!({"action": "new_project"}));
    phone.wait_frame(|frame| {
        let shown = &frame["scene"]["panes"]["focused"];
        shown.is_u64() && *shown != tab
    });
    assert_eq!(active(&daemon), tab.to_string());
    // Nor does going to a project without tabs.
    let empty =
        daemon.client().call("rookery/projects/create", json!({"name": "empty", "root": "/"}));
    phone.call("rookery/view/act", json!({"action": "switch_project_3"}));
    phone.wait_frame(|frame| frame["scene"]["strip"]["project"] == empty["id"]);
    assert_eq!(active(&daemon), tab.to_string());
}

#[test]
fn a_tab_is_closed_by_its_number_whatever_is_shown_by_then() {
    let daemon = TestDaemon::start();
    let [a, b] = [terminal(&daemon, "cat"), terminal(&daemon, "cat")];
    let mut desk = Link::open(&daemon, json!({}));
    assert_eq!(active(&daemon), b.to_string());
    desk.call("rookery/view/act", json!({"action": "close_tab", "args": {"t": a}}));
    assert_eq!(tabs(&daemon), [b.to_string()]);
    let other = json!({"action": "new_tab", "args": {"t": b}});
    assert_eq!(desk.try_call("rookery/view/act", other)["error"]["code"], -32602);
    let bad = json!({"action": "close_tab", "args": {"t": "x"}});
    assert_eq!(desk.try_call("rookery/view/act", bad)["error"]["data"]["field"], "args");
    assert_eq!(tabs(&daemon), [b.to_string()]);
}

#[test]
fn whoever_came_to_an_empty_world_is_shown_what_is_opened_first_and_stays_there() {
    let daemon = TestDaemon::start();
    let mut looks = Link::open(&daemon, json!({"face": "web", "rights": "look"}));
    let mut follows = Link::open(&daemon, json!({"face": "web", "fit": "follow"}));
    let first = terminal(&daemon, "echo fi''rst; exec cat");
    for link in [&mut looks, &mut follows] {
        link.wait_frame(|frame| frame["scene"]["panes"]["focused"] == first);
        link.wait_frame(|frame| shows(frame, "first"));
    }
    // What others select from then on moves none of them.
    let second = terminal(&daemon, "exec cat");
    assert_eq!(active(&daemon), second.to_string());
    for link in [&mut looks, &mut follows] {
        link.wait_frame(|frame| {
            let groups = frame["scene"]["strip"]["groups"].as_array();
            groups.is_some_and(|groups| groups.len() == 2)
        });
        link.round_trip();
        assert_eq!(link.part("panes").unwrap()["focused"], first);
    }
    // Nor when what they showed is closed: they are where there is something, and stay.
    roost(&daemon, "tab.close", &json!({"tab_id": first.to_string()}));
    let third = terminal(&daemon, "exec cat");
    for link in [&mut looks, &mut follows] {
        link.wait_frame(|frame| frame["scene"]["panes"]["focused"] == second);
        link.round_trip();
        assert_eq!(link.part("panes").unwrap()["focused"], second);
    }
    assert_eq!(active(&daemon), third.to_string());
}
