//! Items and their notifications, compared with the contract byte by byte.

use serde_json::json;

use super::*;

fn model_item(body: model::ItemBody, status: model::ItemStatus) -> model::Item {
    let (id, at) = (model::ItemId::new("i"), model::Timestamp::default());
    model::Item { id, status, step: 0, at, body, opaque: Some("{}".into()) }
}

fn done(body: model::ItemBody) -> model::Item {
    model_item(body, model::ItemStatus::Completed)
}

fn check(body: model::ItemBody, want: &str) {
    let wire = item(&done(body));
    let text = serde_json::to_string(&wire).unwrap();
    assert_eq!(text, want);
    assert_eq!(serde_json::from_str::<Item>(&text).unwrap(), wire);
}

fn stamp() -> Stamp {
    Stamp {
        seq: 12,
        thread: model::ThreadId::new(1),
        turn: model::TurnId::new(2),
        at: model::Timestamp::from_micros(1_779_883_200_000_000),
    }
}

const HEAD: &str = concat!(
    r#"{"seq":12,"eventId":"00000000-0000-0000-0000-000000000002-item-event-12","#,
    r#""threadId":"00000000-0000-0000-0000-000000000001","#,
    r#""turnId":"00000000-0000-0000-0000-000000000002","#,
    r#""timestamp":"2026-05-27T12:00:00.000000Z","#
);

#[test]
fn every_body_has_one_of_the_known_types() {
    use model::ItemBody;
    check(
        ItemBody::User { text: "hi".into(), images: vec![], context: vec!["hidden".into()] },
        r#"{"type":"userMessage","id":"i","text":"hi","status":"completed"}"#,
    );
    check(
        ItemBody::User { text: String::new(), images: vec!["data:x".into()], context: vec![] },
        r#"{"type":"userMessage","id":"i","text":"","images":[{"image_url":"data:x"}],"status":"completed"}"#,
    );
    check(
        ItemBody::Agent { text: "a".into(), phase: "final_answer".into(), partial: false },
        r#"{"type":"agentMessage","id":"i","text":"a","phase":"final_answer","status":"completed"}"#,
    );
    check(
        ItemBody::Agent { text: "a".into(), phase: String::new(), partial: true },
        r#"{"type":"agentMessage","id":"i","text":"a","status":"completed","partial":true}"#,
    );
    check(
        ItemBody::Reasoning { summary: vec!["s".into()], content: vec![] },
        r#"{"type":"reasoning","id":"i","summary":["s"],"status":"completed"}"#,
    );
    check(
        ItemBody::Compaction { summary: "s".into(), pruning: model::Pruning::Before(None) },
        r#"{"type":"compaction","id":"i","summary":"s","status":"completed"}"#,
    );
    check(
        ItemBody::Error { message: "m".into() },
        r#"{"type":"error","id":"i","message":"m","status":"completed"}"#,
    );
    check(
        ItemBody::Raw { payload: r#"{"a":1}"#.into() },
        r#"{"type":"raw","id":"i","payload":{"a":1},"status":"completed"}"#,
    );
}

#[test]
fn a_tool_has_what_is_known_of_it() {
    let mut call = model::ToolItem {
        call_id: "c".into(),
        name: "shell".into(),
        input: r#"{"command":"ls"}"#.into(),
        ..model::ToolItem::default()
    };
    check(
        model::ItemBody::Tool(Box::new(call.clone())),
        r#"{"type":"toolExecution","id":"i","toolCallId":"c","toolName":"shell","status":"completed","input":{"command":"ls"}}"#,
    );
    call.input = r#"{"comm"#.into();
    call.output = Some("o".into());
    call.error = Some("e".into());
    call.exit_code = Some(1);
    call.duration_ms = Some(5);
    call.terminal = Some(model::TerminalId::new(3));
    for (approval, word) in [(None, "requested"), (Some(true), "approved"), (Some(false), "denied")]
    {
        call.approval = Some(approval);
        let want = concat!(
            r#"{"type":"toolExecution","id":"i","toolCallId":"c","toolName":"shell","status":"completed","#,
            r#""input":"{\"comm","output":"o","error":"e","exitCode":1,"durationMs":5,"terminalId":"3","#,
            r#""approval":"WORD"}"#
        );
        check(model::ItemBody::Tool(Box::new(call.clone())), &want.replace("WORD", word));
    }
}

#[test]
fn a_delta_is_told_to_both_generations_in_one() {
    let id = model::ItemId::new("t-agent-final_answer");
    let told =
        delta(stamp(), &id, &Delta::Text { text: "Hello".into(), phase: "final_answer".into() });
    let want = concat!(
        r#""itemId":"t-agent-final_answer","delta":"Hello","phase":"final_answer","#,
        r#""event":{"type":"itemDelta","itemId":"t-agent-final_answer","#,
        r#""delta":{"type":"agentMessageText","delta":"Hello","phase":"final_answer"}}}"#
    );
    assert_eq!(serde_json::to_string(&told).unwrap(), format!("{HEAD}{want}"));
    // What the older generation was promised (seed 001, streaming notifications) is all there.
    let told = serde_json::to_value(told).unwrap();
    for member in ["threadId", "turnId", "itemId", "delta"] {
        assert!(told[member].is_string(), "{member}");
    }
}

#[test]
fn reasoning_looks_like_text_to_the_older_generation() {
    let id = model::ItemId::new("t-agent-reasoning");
    for (added, flat, typed, own) in [
        (
            Delta::Thought { text: "h".into() },
            "h",
            json!({"type": "reasoningText", "delta": "h", "contentIndex": 0}),
            "item/reasoning/textDelta",
        ),
        (
            Delta::Summary { text: "s".into(), index: 2 },
            "s",
            json!({"type": "reasoningSummaryText", "delta": "s", "summaryIndex": 2}),
            "item/reasoning/summaryTextDelta",
        ),
        (
            Delta::SummaryPart { index: 1 },
            "",
            json!({"type": "reasoningSummaryPartAdded", "summaryIndex": 1}),
            "item/reasoning/summaryPartAdded",
        ),
    ] {
        let told = serde_json::to_value(delta(stamp(), &id, &added)).unwrap();
        assert_eq!((&told["delta"], &told["phase"]), (&json!(flat), &json!("reasoning")));
        assert_eq!(told["event"]["delta"], typed);
        assert_eq!(method(&added, true), own);
        assert_eq!(method(&added, false), "item/agentMessage/delta");
    }
    let words = Delta::Text { text: "x".into(), phase: "commentary".into() };
    assert_eq!(method(&words, true), "item/agentMessage/delta");
}

#[test]
fn beginning_and_end_carry_the_item_twice() {
    let begun =
        model_item(model::ItemBody::Error { message: "m".into() }, model::ItemStatus::InProgress);
    let object = r#"{"type":"error","id":"i","message":"m","status":"inProgress"}"#;
    let told = serde_json::to_string(&started(stamp(), &begun)).unwrap();
    let want =
        format!(r#"{HEAD}"item":{object},"event":{{"type":"itemStarted","item":{object}}}}}"#);
    assert_eq!(told, want);
    let told = serde_json::to_string(&completed(stamp(), &begun)).unwrap();
    assert_eq!(told, want.replace("itemStarted", "itemCompleted"));
}
