//! Conversations read well, and nothing in them reaches the terminal.

use expect_test::expect;
use serde_json::json;

use super::*;

fn thread() -> Thread {
    serde_json::from_value(json!({
        "id": "0192d3c4-0000-7abc-8def-0123456789ab", "sessionId": "s", "preview": "make\n\x1b]0;x\x07it",
        "modelProvider": "mock", "model": "mock", "createdAt": 1, "updatedAt": 2,
        "status": {"type": "running", "activeTurnId": "t2", "activeFlags": ["approvalRequired"]},
        "cwd": "/srv/app", "messageCount": 2, "ephemeral": false,
        "turns": [
            {"id": "t1", "itemsView": "default", "status": "failed", "error": {"message": "no\x1b[2J key"},
             "items": [
                {"type": "userMessage", "id": "u", "text": "make it\nwork", "images": [{"image_url": "data:"}]},
                {"type": "reasoning", "id": "r", "summary": ["first\u{9b}", "second"]},
                {"type": "agentMessage", "id": "a", "text": "On \x1b[31mit.\n"},
                {"type": "toolExecution", "id": "x", "toolCallId": "c", "toolName": "shell",
                 "status": "failed", "input": {"command": "ls\n -l\x07"}, "exitCode": 2, "durationMs": 1500},
                {"type": "toolExecution", "id": "y", "toolCallId": "d", "toolName": "write_file",
                 "status": "failed", "input": {"path": "x", "content": "y"}, "approval": "denied"},
             ]},
            {"id": "t2", "itemsView": "default", "status": "inProgress", "items": []},
        ],
    }))
    .unwrap()
}

#[test]
fn a_conversation_is_readable_and_harmless() {
    let shown = conversation(&thread(), false, Colors::none());
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
    let whole = conversation(&thread(), true, Colors::none());
    assert!(whole.contains("first\n\nsecond\n"), "{whole}");
    assert!(!whole.contains(|c: char| c.is_control() && c != '\n'));
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
