//! Cards: what a person decides by, shown once and whole, and how they are settled elsewhere.

use rookery_testkit::TestDaemon;
use serde_json::{Value, json};

use super::Link;
use crate::roder_link::{Peer, script};

/// An agent wants to use a tool; gives the id of the request.
fn ask(peer: &mut Peer, daemon: &TestDaemon, tool: &str, args: &Value) -> String {
    let thread = peer.thread(daemon.home().path());
    peer.turn(&thread, &script(&json!([{"tool": tool, "args": args}])));
    let asked = peer.wait_told("session/approvalRequested");
    asked["approvalId"].as_str().unwrap().trim_start_matches("appr_").to_owned()
}

#[test]
fn one_approval_is_settled_in_every_viewer_and_says_by_whom() {
    let daemon = TestDaemon::start();
    let mut peer = Peer::to(&daemon);
    let write = json!({"path": "made", "content": "one\ntwo\n"});
    let id = ask(&mut peer, &daemon, "write_file", &write);
    let kinds = [
        json!({"face": "tui"}),
        json!({"face": "window"}),
        json!({"face": "web", "fit": "follow", "rights": "decide"}),
    ];
    let mut faces = kinds.map(|kind| Link::open(&daemon, kind));
    let mut cards = Vec::new();
    for face in &mut faces {
        let row = face.call("rookery/view/card", json!({"request": id}));
        assert_eq!((&row["kind"], &row["state"]), (&json!("approval"), &json!("pending")));
        cards.push(row);
    }
    // A new file is shown once: as its diff, and not in lines as well.
    assert_eq!(cards[0]["lines"], json!([]));
    let files = cards[0]["diff"].as_array().unwrap();
    assert_eq!((files.len(), &files[0]["path"]), (1, &json!("made")));
    assert_eq!((&files[0]["status"], &files[0]["added"]), (&json!("added"), &json!(2)));
    assert_eq!(files[0]["hunks"][0]["lines"].as_array().unwrap().len(), 2);
    let [tui, window, phone] = &mut faces;
    // What was not shown is not decided.
    let other = json!({"id": id, "approved": true, "shown": "0".repeat(64)});
    assert_eq!(phone.try_call("rookery/requests/answer", other)["error"]["code"], -32011);
    let answer = json!({"id": id, "approved": true, "shown": cards[2]["digest"]});
    let settled = phone.call("rookery/requests/answer", answer);
    assert_eq!(settled["settled"], true);
    for face in [tui, window, phone] {
        let is_settled = |frame: &Value| frame["cards"][0]["state"] == "approved";
        let news = face.wait_frame(is_settled)["cards"][0].clone();
        assert_eq!((&news["request"], &news["by"]), (&json!(id), &json!("t")), "{news}");
        assert!(news["at"].as_i64().unwrap() > 0);
        // Whoever opens it late sees the same.
        let late = face.call("rookery/view/card", json!({"request": id}));
        assert_eq!((&late["state"], &late["by"]), (&json!("approved"), &json!("t")));
    }
    rookery_testkit::wait_until("the file is there", rookery_testkit::PATIENCE, || {
        daemon.home().join("made").exists()
    });
}

#[test]
fn attack_a_plan_is_not_approved_by_what_it_said_before_it_was_rewritten() {
    let daemon = TestDaemon::start();
    let mut peer = Peer::to(&daemon);
    peer.set_mode("plan");
    let thread = peer.thread(daemon.home().path());
    let plan = json!({"summary": "tidy up", "next_steps": ["look"], "target_mode": "accept_all"});
    peer.turn(&thread, &script(&json!([{"tool": "exit_plan_mode", "args": plan}])));
    let review = peer.wait_told("plan/reviewCreated")["review"]["id"].clone();
    let waiting = daemon.rookery(&["inbox", "--json"]).json();
    let id = waiting["requests"][0]["id"].clone();
    let mut face = Link::open(&daemon, json!({}));
    let seen = face.call("rookery/view/card", json!({"request": id}));
    assert!(seen["lines"].to_string().contains("tidy up"), "{seen}");
    let of =
        json!({"threadId": thread, "reviewId": review, "replacementMarkdown": "remove it all"});
    peer.call("plan/review/rewrite", of);
    let old = json!({"id": id, "approved": true, "shown": seen["digest"]});
    assert_eq!(face.try_call("rookery/requests/answer", old)["error"]["code"], -32011);
    let now = face.call("rookery/view/card", json!({"request": id}));
    let lines = now["lines"].to_string();
    assert!(lines.contains("remove it all") && !lines.contains("look"), "{now}");
    let listed = daemon.rookery(&["inbox", "--json"]).json();
    let requests = listed["requests"].as_array().unwrap();
    assert_eq!((requests.len(), &requests[0]["id"]), (1, &id));
    assert_eq!(requests[0]["summary"], "remove it all", "{listed}");
    let answer = json!({"id": id, "approved": true, "shown": now["digest"]});
    assert_eq!(face.call("rookery/requests/answer", answer)["settled"], true);
}

#[test]
fn attack_a_command_that_looks_like_a_patch_is_shown_as_a_command() {
    let daemon = TestDaemon::start();
    let mut peer = Peer::to(&daemon);
    let command =
        "cargo publish <<'E'\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nE\nrm -rf everything";
    let id = ask(&mut peer, &daemon, "shell", &json!({"command": command}));
    let mut face = Link::open(&daemon, json!({}));
    let card = face.call("rookery/view/card", json!({"request": id}));
    assert_eq!(card.get("diff"), None, "{card}");
    let shown = card["lines"].to_string();
    for line in command.lines() {
        assert!(shown.contains(line), "{line} in {shown}");
    }
}
