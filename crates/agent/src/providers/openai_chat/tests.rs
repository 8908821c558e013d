//! Requests and streams of Chat Completions, compared as a whole.

use expect_test::{Expect, expect};
use rookery_host::http::sse::Frame;
use serde_json::{Value, json};

use super::OpenaiChat;
use super::decode::Chat;
use super::encode::{encode, limit_name};
use crate::provider::{
    Entry, EntryBody, Failure, FailureKind, ModelEvent, ModelRequest, ToolChoice, ToolSpec,
};
use crate::providers::call::{Decoder, Failed, Progress, Protocol, StreamError};
use crate::providers::names::{Names, Spelling};
use crate::providers::transcript::tests::{agent, call, result, thought, user};

fn request(entries: Vec<Entry>) -> ModelRequest {
    let tool = ToolSpec {
        name: "a.b".into(),
        description: "Does".into(),
        parameters: json!({"type": "object"}),
    };
    ModelRequest {
        model: "m".into(),
        instructions: vec!["One.".into(), "Two.".into()],
        entries,
        tools: vec![tool],
        ..ModelRequest::default()
    }
}

fn body(request: &ModelRequest, limit: Option<(&str, u64)>) -> Value {
    encode(request, &Names::new(request, Spelling::Underscore), limit)
}

fn check_messages(entries: Vec<Entry>, expected: Expect) {
    let body = body(&request(entries), None);
    let lines: Vec<String> =
        body["messages"].as_array().unwrap().iter().map(Value::to_string).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn a_request_has_everything() {
    let mut request = request(vec![user("hi")]);
    request.reasoning = Some("low".into());
    request.tool_choice = ToolChoice::Tool("a.b".into());
    let limit = Some((limit_name("https://api.openai.com/v1"), 7));
    expect![[r#"{"model":"m","messages":[{"role":"system","content":"One.\n\nTwo."},{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"a_b","description":"Does","parameters":{"type":"object"}}}],"tool_choice":{"type":"function","function":{"name":"a_b"}},"parallel_tool_calls":false,"max_completion_tokens":7,"reasoning_effort":"low"}"#]]
    .assert_eq(&body(&request, limit).to_string());
    request.tools.clear();
    let bare = body(&request, Some((limit_name("http://127.0.0.1/v1"), 7)));
    assert_eq!((bare.get("tool_choice"), &bare["max_tokens"]), (None, &json!(7)));
}

#[test]
fn all_calls_of_a_step_are_one_message() {
    let member = Some(json!({"member": "reasoning_content"}));
    let entries = vec![
        user("go"),
        thought(1, "old", member.clone()),
        call(1, "c0", "a.b", "{}"),
        result(1, "c0", "r0"),
        user("again"),
        thought(2, "hm", member),
        agent(2, "Both."),
        call(2, "c1", "a.b", "{\"x\":1}"),
        result(2, "c1", "r1"),
        call(2, "c2", "a.b", "{\"x\":"),
        agent(3, "Done."),
        thought(4, "alone", None),
    ];
    check_messages(
        entries,
        expect![[r#"
            {"role":"system","content":"One.\n\nTwo."}
            {"role":"user","content":"go"}
            {"role":"assistant","content":null,"tool_calls":[{"id":"c0","type":"function","function":{"name":"a_b","arguments":"{}"}}]}
            {"role":"tool","tool_call_id":"c0","content":"r0"}
            {"role":"user","content":"again"}
            {"role":"assistant","content":"Both.","reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"a_b","arguments":"{\"x\":1}"}},{"id":"c2","type":"function","function":{"name":"a_b","arguments":"{\"arguments\":\"{\\\"x\\\":\"}"}}]}
            {"role":"tool","tool_call_id":"c1","content":"r1"}
            {"role":"tool","tool_call_id":"c2","content":"(no tool result was recorded for this call)"}
            {"role":"assistant","content":"Done."}"#]],
    );
}

#[test]
fn images_are_parts_and_those_of_tools_follow_them() {
    let png = "data:image/png;base64,AA==".to_owned();
    let body = EntryBody::User { text: "see".into(), images: vec![png.clone()] };
    let shot = EntryBody::ToolResult {
        id: "c".into(),
        text: "shot".into(),
        is_error: false,
        images: vec![png],
    };
    check_messages(
        vec![
            Entry { step: 0, body, opaque: None },
            call(1, "c", "view", ""),
            Entry { step: 1, body: shot, opaque: None },
        ],
        expect![[r#"
            {"role":"system","content":"One.\n\nTwo."}
            {"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}
            {"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"view","arguments":"{}"}}]}
            {"role":"tool","tool_call_id":"c","content":"shot"}
            {"role":"user","content":[{"type":"text","text":"Images from the tool results above:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}"#]],
    );
}

#[test]
fn stream_options_are_left_out_once_they_are_refused() {
    let failed = |status, message: &str| Failed {
        failure: Failure { message: message.into(), kind: FailureKind::Rejected },
        status: Some(status),
        is_retryable: false,
        retry_after: None,
    };
    let mut body = json!({"stream_options": {}, "model": "m"});
    assert!(!OpenaiChat.amend(&failed(400, "no such model"), &mut body));
    assert!(!OpenaiChat.amend(&failed(404, "stream_options"), &mut body));
    assert!(OpenaiChat.amend(&failed(400, "unknown: stream_options"), &mut body));
    assert_eq!(body, json!({"model": "m"}));
    assert!(!OpenaiChat.amend(&failed(400, "unknown: stream_options"), &mut body));
}

fn decode(lines: &[&str]) -> (Vec<ModelEvent>, Result<Progress, StreamError>) {
    let mut decoder = Chat::new(Names::new(&request(Vec::new()), Spelling::Underscore));
    let mut events = Vec::new();
    for line in lines {
        let read = decoder.frame(&Frame { data: (*line).into(), ..Frame::default() }, &mut events);
        if read != Ok(Progress::More) {
            return (events, read);
        }
    }
    let closed = decoder.close(&mut events);
    (events, closed.map(|()| Progress::Over))
}

fn check_events(lines: &[&str], expected: Expect) {
    let (events, last) = decode(lines);
    let mut text: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
    text.extend(last.err().map(|error| format!("{error:?}")));
    expected.assert_eq(&text.join("\n"));
}

fn calls(pieces: &[Value]) -> Vec<String> {
    let lines: Vec<String> = pieces
        .iter()
        .map(|piece| json!({"choices": [{"delta": {"tool_calls": [piece]}}]}).to_string())
        .chain([json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}).to_string()])
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let (events, _) = decode(&lines);
    let text = |event: &ModelEvent| match event {
        ModelEvent::ToolCall { id, name, arguments, .. } => {
            Some(format!("{id} {name} {arguments}"))
        }
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

#[test]
fn thought_text_calls_and_tokens() {
    check_events(
        &[
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"reasoning_content":"Hm"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"Hel"}}]}"#,
            r#"{"choices":[{"index":1,"delta":{"content":"other"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"lo","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"a_b","arguments":""}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2}}}"#,
            "[DONE]",
        ],
        expect![[r#"
            Reasoning { text: "Hm", summary: None }
            ReasoningDone { opaque: Some(Object {"member": String("reasoning_content")}) }
            Text { text: "Hel", phase: None }
            Text { text: "lo", phase: None }
            TextDone { opaque: None }
            ToolCall { id: "c1", name: "a.b", arguments: "{}", opaque: None }
            Usage(Usage { prompt: 9, completion: 3, cached: 2, cache_creation: 0 })
            Done { stop: ToolUse }"#]],
    );
}

#[test]
fn calls_are_put_together_however_they_come() {
    let by_index = [
        json!({"index": 0, "id": "x", "function": {"name": "f", "arguments": "{\"a\""}}),
        json!({"index": 1, "id": "y", "function": {"name": "g", "arguments": ""}}),
        json!({"index": 0, "id": "x", "function": {"name": "f", "arguments": ":1}"}}),
    ];
    assert_eq!(calls(&by_index), ["x f {\"a\":1}", "y g {}"]);
    let whole = [
        json!({"function": {"name": "f", "arguments": {"a": 1}}}),
        json!({"function": {"name": "g", "arguments": "{}"}}),
    ];
    assert_eq!(calls(&whole), ["call_0 f {\"a\":1}", "call_1 g {}"]);
    let without_index = [
        json!({"id": "x", "function": {"name": "f", "arguments": "{"}}),
        json!({"function": {"arguments": "}"}}),
        json!({"id": "y", "function": {"name": "f", "arguments": "{}"}}),
    ];
    assert_eq!(calls(&without_index), ["x f {}", "y f {}"]);
    let same_index = [
        json!({"index": 0, "id": "x", "function": {"name": "f", "arguments": "{}"}}),
        json!({"index": 0, "id": "y", "function": {"name": "g", "arguments": "{}"}}),
    ];
    assert_eq!(calls(&same_index), ["x f {}", "y g {}"]);
    let same_id = [
        json!({"index": 0, "id": "x", "function": {"name": "f", "arguments": "{}"}}),
        json!({"index": 1, "id": "x", "function": {"name": "g", "arguments": "{}"}}),
    ];
    assert_eq!(calls(&same_id), ["x f {}", "x_2 g {}"]);
}

#[test]
fn an_end_without_its_last_word_is_an_end_after_a_reason() {
    check_events(
        &[r#"{"choices":[{"delta":{"content":"Hi"},"finish_reason":"length"}]}"#],
        expect![[r#"
            Text { text: "Hi", phase: None }
            TextDone { opaque: None }
            Done { stop: Length }"#]],
    );
    let cut = r#"StreamError { message: "the answer was cut off", kind: Unavailable, is_retryable: true, status: None }"#;
    for lines in [&[r#"{"choices":[{"delta":{"content":""}}]}"#][..], &["[DONE]"], &[]] {
        let (_, last) = decode(lines);
        assert_eq!(format!("{:?}", last.unwrap_err()), cut);
    }
}

#[test]
fn reasons_to_stop() {
    for (reason, stop) in
        [("stop", "Stop"), ("content_filter", "ContentFilter"), ("weird", "Other(\"weird\")")]
    {
        let line = json!({"choices": [{"delta": {}, "finish_reason": reason}]}).to_string();
        assert_eq!(format!("{:?}", decode(&[&line]).0), format!("[Done {{ stop: {stop} }}]"));
    }
    let refused = r#"{"choices":[{"delta":{"refusal":"No."},"finish_reason":"stop"}]}"#;
    assert!(format!("{:?}", decode(&[refused]).0).ends_with("Done { stop: Refusal }]"));
}

#[test]
fn an_error_in_the_stream_keeps_its_status() {
    check_events(
        &[r#"{"error":{"code":502,"message":"upstream died"}}"#],
        expect![[
            r#"StreamError { message: "upstream died", kind: Unavailable, is_retryable: true, status: Some(502) }"#
        ]],
    );
}
