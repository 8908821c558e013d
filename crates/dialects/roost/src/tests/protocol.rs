//! Ids, errors, order and bounds.

use super::*;

const ITEMS: &str = r#"{"items":[{"id":"a","title":"A"}]}"#;

#[tokio::test]
async fn ids_are_answered_in_their_plain_form() {
    let mut world = World::new();
    let params = r#"{"tab_id":"1","title":""}"#;
    for (id, want) in [("+5", 5), ("-9223372036854775808", i64::MIN), ("007", 7)] {
        let line = format!("{{\"id\":\"{id}\",\"op\":\"tab.set_title\",\"params\":{params}}}\r\n");
        world.send(&line).await;
        world.expect_done(want).await;
    }
}

#[tokio::test]
async fn a_line_that_is_no_request_leaves_the_connection_open() {
    let mut world = World::new();
    for (line, id) in [
        ("", 0),
        ("x", 0),
        ("[]", 0),
        (r#"{"op":"tab.list"}"#, 0),
        (r#"{"id":7,"op":"tab.list"}"#, 7),
        (r#"{"id":"7"}"#, 7),
        (r#"{"id":"7","op":"tab.list","params":{},"x":1}"#, 7),
        (r#"{"id":"7","op":"tab.list","op":"tab.list"}"#, 7),
    ] {
        world.send(&format!("{line}\n")).await;
        world.expect_error(id, "parse-error").await;
    }
    world.ask(8, "tab.set_title", r#"{"tab_id":"1","title":""}"#).await;
    world.expect_done(8).await;
}

#[tokio::test]
async fn the_error_that_wins_is_reported() {
    let mut world = World::new();
    for (op, params, code) in [
        ("tab.Focus", "null", "unknown-op"),
        ("tab.write", r#"{"x":1}"#, "not-enabled"),
        ("app.dock_badge", "{}", "not-enabled"),
        ("tab.dump", "[]", "invalid-param"),
        ("tab.dump", "null", "invalid-param"),
        ("tab.dump", r#"{"scrollback":true}"#, "unknown-field"),
        ("tab.dump", "{}", "missing-param"),
        ("tab.dump", r#"{"tab_id":3}"#, "invalid-param"),
        ("tab.dump", r#"{"tab_id":"3"}"#, "not-found"),
    ] {
        world.ask(1, op, params).await;
        world.expect_error(1, code).await;
    }
    let mut world = Setup { test_mode: true, ..Setup::default() }.start();
    world.ask(1, "tab.write", r#"{"tab_id":"1","data":""}"#).await;
    world.expect_done(1).await;
    world.ask(2, "app.dock_badge", r#"{"x":1}"#).await;
    world.expect_error(2, "not-implemented").await;
}

#[tokio::test]
async fn requests_touch_the_world_in_the_order_they_came() {
    let mut world = World::new();
    for (id, title) in [(1, "wait 1"), (2, "2"), (3, "wait 3"), (4, "4")] {
        let params = format!(r#"{{"tab_id":"1","title":"{title}"}}"#);
        world.ask(id, "tab.set_title", &params).await;
    }
    // Answered at once, because it touches nothing.
    world.ask(5, "tab.none", "{}").await;
    world.expect_error(5, "unknown-op").await;
    assert!(world.done.lock().is_empty());
    world.gate.add_permits(2);
    for id in 1..=4 {
        world.expect_done(id).await;
    }
    assert_eq!(*world.done.lock(), ["wait 1", "2", "wait 3", "4"]);
}

#[tokio::test]
async fn a_request_that_waits_for_a_person_delays_no_other_and_keeps_its_id() {
    let mut world = World::new();
    world.ask(1, "palette.present", ITEMS).await;
    world.ask(2, "tab.set_title", r#"{"tab_id":"1","title":""}"#).await;
    world.expect_done(2).await;
    world.ask(1, "tab.none", "{}").await;
    world.expect_error(1, "duplicate-id").await;
    world.gate.add_permits(1);
    world.expect(r#"{"id":"1","ok":true,"result":{"selected_id":"a","dismissed":false}}"#).await;
    world.ask(1, "tab.set_title", r#"{"tab_id":"1","title":""}"#).await;
    world.expect_done(1).await;
}

#[tokio::test]
async fn a_panic_fails_its_own_request_only() {
    let mut world = World::new();
    world.ask(1, "palette.present", ITEMS).await;
    world.ask(2, "tab.close", r#"{"tab_id":"1"}"#).await;
    world.expect_error(2, "internal").await;
    world.ask(2, "tab.set_title", r#"{"tab_id":"1","title":""}"#).await;
    world.expect_done(2).await;
    world.gate.add_permits(1);
    assert!(world.line().await.starts_with(r#"{"id":"1","ok":true"#));
}

#[tokio::test]
async fn a_reply_that_is_too_large_becomes_an_error() {
    let frame = r#"{"id":"1","ok":true,"result":{"data":""}}"#.len();
    let mut world = Setup { longest: frame + 400, ..Setup::default() }.start();
    world.ask(1, "tab.capture_pty_input", r#"{"tab_id":"1"}"#).await;
    assert_eq!(world.line().await.len(), frame + 400);
    world.ask(2, "tab.capture_pty_input", r#"{"tab_id":"1","drain":true}"#).await;
    world.expect_error(2, "internal").await;
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_too_long_is_answered_and_ends_the_connection() {
    let framing = Ndjson::with_limit(200).strict();
    let mut world = Setup { framing, ..Setup::default() }.start();
    world.ask(1, "palette.present", ITEMS).await;
    let params = r#"{"tab_id":"1","title":"wait"}"#;
    world.ask(2, "tab.set_title", params).await;
    world.send(&format!("{}\n", "x".repeat(1000))).await;
    world.expect_error(0, "frame-too-large").await;
    // What was at work is still answered, but nothing is taken any more.
    world.expect(r#"{"id":"1","ok":true,"result":{"dismissed":true}}"#).await;
    world.ask(3, "tab.set_title", params).await;
    world.gate.add_permits(2);
    world.expect_done(2).await;
    world.expect("").await;
    assert!(matches!(world.served.await.unwrap(), Outcome::Finished));
    assert_eq!(world.done.lock().len(), 1);
}

#[tokio::test]
async fn a_line_of_the_largest_size_is_taken() {
    let framing = Ndjson::with_limit(200).strict();
    let mut world = Setup { framing, ..Setup::default() }.start();
    let line = r#"{"id":"1","op":"tab.set_title","params":{"tab_id":"1","title":""}}"#;
    world.send(&format!("{line:200}\n")).await;
    world.expect_done(1).await;
}

#[tokio::test]
async fn more_requests_than_allowed_are_refused() {
    let bounds = Options { max_pending: 1, ..options() };
    let mut world = Setup { options: bounds, ..Setup::default() }.start();
    world.ask(1, "palette.present", ITEMS).await;
    world.ask(2, "tab.set_title", r#"{"tab_id":"1","title":""}"#).await;
    world.expect_error(2, "internal").await;
    world.ask(1, "palette.present", ITEMS).await;
    world.expect_error(1, "duplicate-id").await;
    world.send("x\n").await;
    world.expect_error(0, "parse-error").await;
}

#[tokio::test]
async fn an_unfinished_last_line_is_dropped() {
    let mut world = World::new();
    world.send(r#"{"id":"1","op":"tab.none"}"#).await;
    world.writer.shutdown().await.unwrap();
    world.expect("").await;
    assert!(matches!(world.served.await.unwrap(), Outcome::PeerClosed));
}
