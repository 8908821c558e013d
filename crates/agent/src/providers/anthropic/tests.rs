//! Requests and streams of the Messages API, compared as a whole.

use expect_test::{Expect, expect};
use rookery_host::http::sse::Frame;
use serde_json::{Value, json};

use super::decode::Messages;
use super::encode::encode;
use super::versioned;
use crate::provider::{Entry, EntryBody, ModelEvent, ModelRequest, ToolChoice, ToolSpec};
use crate::providers::call::{Decoder, Progress, StreamError};
use crate::providers::names::{Names, Spelling};
use crate::providers::transcript::tests::{agent, call, result, thought, user};

fn request(entries: Vec<Entry>) -> ModelRequest {
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: "Does".into(),
        parameters: json!({}),
    };
    ModelRequest {
        model: "claude-sonnet-4-5".into(),
        instructions: vec!["One.".into(), "Two.".into()],
        entries,
        tools: vec![tool("grep"), tool("a.b")],
        parallel_tools: true,
        ..ModelRequest::default()
    }
}

fn body(request: &ModelRequest) -> Value {
    encode(request, &Names::new(request, Spelling::DotAsTwo), None)
}

fn check_messages(entries: Vec<Entry>, expected: Expect) {
    let body = body(&request(entries));
    let lines: Vec<String> =
        body["messages"].as_array().unwrap().iter().map(Value::to_string).collect();
    expected.assert_eq(&lines.join("\n"));
}

fn signed() -> Option<Value> {
    Some(json!({"type": "thinking", "thinking": "hm", "signature": "sig"}))
}

#[test]
fn a_request_has_everything() {
    let mut request = request(vec![user("hi")]);
    request.reasoning = Some("low".into());
    expect![[r#"{"model":"claude-sonnet-4-5","max_tokens":32000,"thinking":{"type":"enabled","budget_tokens":4096},"stream":true,"system":[{"type":"text","text":"One."},{"type":"text","text":"Two.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}],"tools":[{"name":"grep","description":"Does","input_schema":{}},{"name":"a__b","description":"Does","input_schema":{},"cache_control":{"type":"ephemeral"}}],"tool_choice":{"type":"auto"}}"#]]
    .assert_eq(&body(&request).to_string());
}

#[test]
fn choices_of_tools() {
    let mut request = request(vec![user("hi")]);
    let table = [
        (ToolChoice::None, json!({"type": "none"})),
        (ToolChoice::Required, json!({"type": "any", "disable_parallel_tool_use": true})),
        (
            ToolChoice::Tool("a.b".into()),
            json!({"type": "tool", "name": "a__b", "disable_parallel_tool_use": true}),
        ),
    ];
    request.parallel_tools = false;
    for (choice, expected) in table {
        request.tool_choice = choice;
        assert_eq!(body(&request)["tool_choice"], expected);
    }
}

#[test]
fn roles_alternate_and_results_come_together() {
    let entries = vec![
        user("go"),
        user("on"),
        thought(1, "hm", signed()),
        thought(1, "unsigned", Some(json!({"type": "thinking", "thinking": "x", "signature": ""}))),
        agent(1, "Both."),
        call(1, "c:1", "a.b", "{\"x\":1}"),
        result(1, "c:1", "r1"),
        call(1, "c2", "grep", "nonsense"),
        user("steer"),
        agent(2, "Done. "),
    ];
    check_messages(
        entries,
        expect![[r#"
            {"role":"user","content":[{"type":"text","text":"go"},{"type":"text","text":"on"}]}
            {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"text","text":"Both."},{"type":"tool_use","id":"c_1","name":"a__b","input":{"x":1}},{"type":"tool_use","id":"c2","name":"grep","input":{"arguments":"nonsense"}}]}
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"c_1","content":"r1","is_error":false},{"type":"tool_result","tool_use_id":"c2","content":"(no tool result was recorded for this call)","is_error":true},{"type":"text","text":"steer"}]}
            {"role":"assistant","content":[{"type":"text","text":"Done.","cache_control":{"type":"ephemeral"}}]}"#]],
    );
}

#[test]
fn a_conversation_begins_with_the_user() {
    check_messages(
        vec![agent(1, "Summary."), thought(2, "alone", signed())],
        expect![[r#"
            {"role":"user","content":[{"type":"text","text":"(the conversation goes on)"}]}
            {"role":"assistant","content":[{"type":"text","text":"Summary.","cache_control":{"type":"ephemeral"}}]}"#]],
    );
}

#[test]
fn images_are_data_or_addresses() {
    let images =
        vec!["data:image/png;base64,AA==".into(), "https://x/y.png".into(), "nonsense".into()];
    let shot = EntryBody::ToolResult {
        id: "c".into(),
        text: String::new(),
        is_error: false,
        images: vec!["data:image/gif;base64,BB==".into()],
    };
    check_messages(
        vec![
            Entry { step: 0, body: EntryBody::User { text: "see".into(), images }, opaque: None },
            call(1, "c", "grep", ""),
            Entry { step: 1, body: shot, opaque: None },
        ],
        expect![[r#"
            {"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}},{"type":"image","source":{"type":"url","url":"https://x/y.png"}},{"type":"text","text":"(an image that cannot be sent was left out)"},{"type":"text","text":"see"}]}
            {"role":"assistant","content":[{"type":"tool_use","id":"c","name":"grep","input":{}}]}
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"BB=="}}],"is_error":false,"cache_control":{"type":"ephemeral"}}]}"#]],
    );
}

#[test]
fn thoughts_are_not_asked_for_where_they_would_be_refused() {
    let asks = |entries: Vec<Entry>, choice: ToolChoice| {
        let mut request = request(entries);
        request.reasoning = Some("high".into());
        request.tool_choice = choice;
        body(&request).get("thinking").is_some()
    };
    let tools = |opaque: Option<Value>| {
        vec![user("go"), thought(1, "hm", opaque), call(1, "c", "grep", "{}"), result(1, "c", "r")]
    };
    assert!(asks(vec![user("go")], ToolChoice::Auto));
    assert!(!asks(vec![user("go")], ToolChoice::Required));
    assert!(asks(tools(signed()), ToolChoice::Auto));
    assert!(!asks(tools(None), ToolChoice::Auto));
}

#[test]
fn the_version_is_in_the_address_once() {
    assert_eq!(versioned("https://x", "messages"), "https://x/v1/messages");
    assert_eq!(versioned("https://x/v1", "messages"), "https://x/v1/messages");
}

fn decode(lines: &[Value]) -> (Vec<ModelEvent>, Result<Progress, StreamError>) {
    let mut decoder = Messages::new(Names::new(&request(Vec::new()), Spelling::DotAsTwo));
    let mut events = Vec::new();
    for line in lines {
        let read =
            decoder.frame(&Frame { data: line.to_string(), ..Frame::default() }, &mut events);
        if read != Ok(Progress::More) {
            return (events, read);
        }
    }
    let closed = decoder.close(&mut events);
    (events, closed.map(|()| Progress::Over))
}

fn check_events(lines: &[Value], expected: Expect) {
    let (events, last) = decode(lines);
    let mut text: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
    text.extend(last.err().map(|error| format!("{error:?}")));
    expected.assert_eq(&text.join("\n"));
}

#[test]
fn a_whole_answer() {
    check_events(
        &[
            json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 5, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3, "output_tokens": 1}}}),
            json!({"type": "ping"}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm"}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "si"}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "g"}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": "xx"}}),
            json!({"type": "content_block_stop", "index": 1}),
            json!({"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 2, "delta": {"type": "text_delta", "text": "Hi"}}),
            json!({"type": "content_block_delta", "index": 2, "delta": {"type": "citations_delta", "citation": {}}}),
            json!({"type": "content_block_stop", "index": 2}),
            json!({"type": "content_block_start", "index": 3, "content_block": {"type": "tool_use", "id": "t1", "name": "a__b", "input": {}}}),
            json!({"type": "content_block_delta", "index": 3, "delta": {"type": "input_json_delta", "partial_json": ""}}),
            json!({"type": "content_block_stop", "index": 3}),
            json!({"type": "content_block_start", "index": 4, "content_block": {"type": "tool_use", "id": "t2", "name": "grep", "input": {}}}),
            json!({"type": "content_block_delta", "index": 4, "delta": {"type": "input_json_delta", "partial_json": "{\"q\":"}}),
            json!({"type": "content_block_stop", "index": 4}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9, "input_tokens": null}}),
            json!({"type": "message_stop"}),
        ],
        expect![[r#"
            Usage(Usage { prompt: 10, completion: 1, cached: 3, cache_creation: 2 })
            Reasoning { text: "Hm", summary: None }
            ReasoningDone { opaque: Some(Object {"type": String("thinking"), "thinking": String("Hm"), "signature": String("sig")}) }
            ReasoningDone { opaque: Some(Object {"type": String("redacted_thinking"), "data": String("xx")}) }
            Text { text: "Hi", phase: None }
            TextDone { opaque: None }
            ToolCall { id: "t1", name: "a.b", arguments: "{}", opaque: None }
            ToolCall { id: "t2", name: "grep", arguments: "{\"q\":", opaque: None }
            Usage(Usage { prompt: 10, completion: 9, cached: 3, cache_creation: 2 })
            Done { stop: ToolUse }"#]],
    );
}

#[test]
fn reasons_to_stop() {
    let table = [
        ("end_turn", "Stop"),
        ("stop_sequence", "Stop"),
        ("max_tokens", "Length"),
        ("refusal", "Refusal"),
        ("pause_turn", "Pause"),
        ("weird", "Other(\"weird\")"),
    ];
    for (reason, stop) in table {
        let (events, _) = decode(&[
            json!({"type": "message_delta", "delta": {"stop_reason": reason}}),
            json!({"type": "message_stop"}),
        ]);
        assert_eq!(format!("{events:?}"), format!("[Done {{ stop: {stop} }}]"));
    }
}

#[test]
fn errors_and_early_ends() {
    check_events(
        &[json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})],
        expect![[
            r#"StreamError { message: "Overloaded", kind: Unavailable, is_retryable: true, status: None }"#
        ]],
    );
    check_events(
        &[json!({"type": "error", "error": {"type": "invalid_request_error", "message": "no"}})],
        expect![[
            r#"StreamError { message: "no", kind: Rejected, is_retryable: false, status: None }"#
        ]],
    );
    check_events(
        &[json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})],
        expect![[
            r#"StreamError { message: "the answer was cut off", kind: Unavailable, is_retryable: true, status: None }"#
        ]],
    );
}
