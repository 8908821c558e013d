//! What viewers with less rights may do: every method that the connection speaks is tried.

use std::collections::BTreeSet;

use rookery_dialects::DIALECTS;
use rookery_testkit::TestDaemon;
use serde_json::json;

use super::Link;

const DENIED: i64 = -32012;

/// What whoever looks may call. Whatever is not here must be refused.
const LOOK: &[&str] = &[
    "rookery/agents/models",
    "rookery/agents/providers",
    "rookery/audit/list",
    "rookery/checkpoints/diff",
    "rookery/checkpoints/list",
    "rookery/checkpoints/show",
    "rookery/commands/list",
    "rookery/events/list",
    "rookery/events/subscribe",
    "rookery/events/unsubscribe",
    "rookery/handoffs/list",
    "rookery/hunks/list",
    "rookery/hunks/show",
    "rookery/import/get",
    "rookery/import/refresh",
    "rookery/import/scan",
    "rookery/marketplace/list",
    "rookery/marketplace/search",
    "rookery/marketplace/show",
    "rookery/media/get",
    "rookery/media/list",
    "rookery/memory/get",
    "rookery/memory/list",
    "rookery/memory/query",
    "rookery/plugin/list",
    "rookery/plugin/preview",
    "rookery/projects/list",
    "rookery/queue/list",
    "rookery/requests/list",
    "rookery/reviews/get",
    "rookery/reviews/list",
    "rookery/sessions/list",
    "rookery/skill/get",
    "rookery/skill/list",
    "rookery/status",
    "rookery/tasks/list",
    "rookery/tasks/logs",
    "rookery/tasks/show",
    "rookery/terminals/detach",
    "rookery/terminals/dump",
    "rookery/terminals/get",
    "rookery/terminals/list",
    "rookery/terminals/wait",
    "rookery/threads/get",
    "rookery/threads/list",
    "rookery/threads/read",
    "rookery/threads/subscribe",
    "rookery/threads/unsubscribe",
    "rookery/timeline/list",
    "rookery/view/ack",
    "rookery/view/card",
    "rookery/view/copy",
    "rookery/view/diff",
    "rookery/view/find",
    "rookery/view/focus",
    "rookery/view/go",
    "rookery/view/inbox",
    "rookery/view/item",
    "rookery/view/linkAt",
    "rookery/view/open",
    "rookery/view/prefs",
    "rookery/view/resize",
    "rookery/view/resync",
    "rookery/view/rows",
    "rookery/view/scroll",
    "rookery/view/select",
    "rookery/view/thread/commands",
    "rookery/view/thread/list",
    "rookery/view/thread/models",
    "rookery/view/thread/older",
    "rookery/view/thread/open",
    "rookery/workflows/get",
    "rookery/workflows/list",
    "rookery/workflows/wait",
    "rookery/worktrees/list",
];

/// What is added for who decides.
const DECIDE: &[&str] = &[
    "rookery/handoffs/setStatus",
    "rookery/queue/resolve",
    "rookery/requests/answer",
    "rookery/requests/defer",
    "rookery/reviews/comment",
    "rookery/reviews/deliver",
    "rookery/reviews/setStatus",
    "rookery/terminals/attach",
    "rookery/view/thread/new",
    "rookery/view/thread/send",
    "rookery/view/thread/stop",
    "rookery/workflows/approve",
];

/// Every method of our own socket.
fn methods() -> BTreeSet<&'static str> {
    let dialects = ["native", "link", "ptywright", "roder"];
    let rows = DIALECTS.iter().filter(|dialect| dialects.contains(&dialect.name));
    rows.flat_map(|dialect| dialect.ops().0).map(|op| op.name).collect()
}

#[test]
fn every_method_is_refused_that_changes_more_than_the_viewer_may() {
    let daemon = TestDaemon::start();
    let all = methods();
    for (rights, allowed) in [("look", LOOK.to_vec()), ("decide", [LOOK, DECIDE].concat())] {
        let mut link = Link::open(&daemon, json!({"rights": rights}));
        let mut admitted = BTreeSet::new();
        for method in &all {
            // Without params most are wrong, but rights come first.
            let reply = link.try_call(method, json!({}));
            if reply["error"]["code"] != DENIED {
                admitted.insert(*method);
            }
        }
        let allowed: BTreeSet<&str> = allowed.into_iter().collect();
        assert_eq!(admitted, allowed, "{rights}");
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
