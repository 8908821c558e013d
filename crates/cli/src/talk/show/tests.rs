//! Conversations read well, and nothing in them reaches the terminal.

use expect_test::expect;
use serde_json::json;

use super::*;

fn whole() -> Conversation {
    let thread = serde_json::from_value(json!({
        "id": "0192d3c4-0000-7abc-8def-0123456789ab", "preview": "make\n\x1b]0;x\x07it",
        "choice": {"provider": "mock", "model": "mock"}, "mode": "default", "cwd": "/srv/app",
        "status": {"turn": "t2", "waits": ["approval"]}, "ephemeral": false, "archived": false,
        "createdAt": "", "updatedAt": "", "messages": 2,
        "usage": {"prompt": 0, "completion": 0, "cached": 0, "cacheCreation": 0},
    }));
    let turn = |id: &str, status: &str, error: Option<&str>| {
        serde_json::from_value(json!({
            "id": id, "status": status, "choice": {"provider": "mock", "model": "mock"},
            "error": error, "startedAt": "",
            "usage": {"prompt": 0, "completion": 0, "cached": 0, "cacheCreation": 0},
        }))
        .unwrap()
    };
    let items = json!([
        {"turn": "t1", "id": "u", "status": "completed", "type": "user", "text": "make it\nwork",
         "images": ["data:"]},
        {"turn": "t1", "id": "r", "status": "completed", "type": "reasoning",
         "summary": ["first\u{9b}", "second"]},
        {"turn": "t1", "id": "a", "status": "completed", "type": "agent", "text": "On \x1b[31mit.\n"},
        {"turn": "t1", "id": "x", "status": "failed", "type": "tool", "call": "c", "name": "shell",
         "input": {"command": "ls\n -l\x07"}, "exitCode": 2, "durationMs": 1500},
        {"turn": "t1", "id": "y", "status": "failed", "type": "tool", "call": "d",
         "name": "write_file", "input": {"path": "x", "content": "y"}, "approval": "denied"},
    ]);
    Conversation {
        thread: thread.unwrap(),
        turns: vec![turn("t1", "failed", Some("no\x1b[2J key")), turn("t2", "in_progress", None)],
        items: serde_json::from_value(items).unwrap(),
    }
}

#[test]
fn a_conversation_is_readable_and_harmless() {
    let shown = conversation(&whole(), false, Colors::none());
    expect![[r#"
        make ]0;xit
        0192d3c4-0000-7abc-8def-0123456789ab · mock/mock · /srv/app · approval

        > make it
        > work
        > [image]

        On [31mit.

        • shell ls -l · failed · exit 2 · 1.5 s
        • write_file path=x content=y · denied

        failed: no[2J key

        …
    "#]]
    .assert_eq(&shown);
    let all = conversation(&whole(), true, Colors::none());
    assert!(all.contains("first\n\nsecond\n"), "{all}");
    assert!(!all.contains(|c: char| c.is_control() && c != '\n'));
}

#[test]
fn inputs_are_short() {
    assert_eq!(input(&json!({"path": "a b"})), "a b");
    assert_eq!(input(&json!({"a": 1, "b": [true]})), "a=1 b=[true]");
    assert_eq!(input(&json!("broken {")), "broken {");
    assert_eq!(input(&json!({})), "");
    assert_eq!(input(&json!({"x": "y".repeat(500)})).chars().count(), INPUT_WIDTH);
}

#[test]
fn ids_are_shortened_to_their_end() {
    assert_eq!(short_id("0192d3c4-0000-7abc-8def-0123456789ab"), "456789ab");
    assert_eq!(short_id("ab"), "ab");
    assert_eq!(short_id(""), "");
    assert_eq!(short_id("ééééééééé"), "éééééééé");
}
