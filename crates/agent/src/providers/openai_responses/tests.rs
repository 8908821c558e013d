//! Requests and streams of the Responses API, compared as a whole.

use expect_test::{Expect, expect};
use rookery_host::http::sse::Frame;
use serde_json::{Value, json};

use super::decode::Responses;
use super::encode::{encode, without_refused};
use crate::provider::{Entry, EntryBody, ModelEvent, ModelRequest, ToolChoice, ToolSpec};
use crate::providers::call::{Decoder, Progress, StreamError};
use crate::providers::names::{Names, Spelling};
use crate::providers::transcript::tests::{agent, call, result, thought, user};

fn request(entries: Vec<Entry>) -> ModelRequest {
    let name = "task_ledger.update".to_owned();
    let tool =
        ToolSpec { name, description: "Updates".into(), parameters: json!({"type": "object"}) };
    ModelRequest {
        thread: "thread-1".into(),
        model: "gpt-5.5".into(),
        reasoning: Some("high".into()),
        instructions: vec!["Be brief.".into(), " ".into(), "In German.".into()],
        entries,
        tools: vec![tool],
        parallel_tools: true,
        ..ModelRequest::default()
    }
}

fn body(request: &ModelRequest, max_tokens: Option<u64>) -> Value {
    encode(request, &Names::new(request, Spelling::Underscore), max_tokens)
}

fn check_input(entries: Vec<Entry>, expected: Expect) {
    let body = body(&request(entries), None);
    let items = body["input"].as_array().unwrap();
    let lines: Vec<String> = items.iter().map(Value::to_string).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn a_request_has_everything() {
    let mut request = request(vec![user("hi")]);
    request.web_search = true;
    expect![[r#"
        {
          "model": "gpt-5.5",
          "stream": true,
          "store": false,
          "instructions": "Be brief.\n\nIn German.",
          "input": [
            {
              "type": "message",
              "role": "user",
              "content": [
                {
                  "type": "input_text",
                  "text": "hi"
                }
              ]
            }
          ],
          "tools": [
            {
              "type": "function",
              "name": "task_ledger_update",
              "description": "Updates",
              "parameters": {
                "type": "object"
              },
              "strict": false
            },
            {
              "type": "web_search"
            }
          ],
          "tool_choice": "auto",
          "parallel_tool_calls": true,
          "reasoning": {
            "effort": "high",
            "summary": "auto"
          },
          "include": [
            "reasoning.encrypted_content"
          ],
          "max_output_tokens": 900,
          "prompt_cache_key": "thread-1"
        }"#]]
    .assert_eq(&format!("{:#}", body(&request, Some(900))));
}

#[test]
fn only_models_that_think_are_told_how_hard() {
    let mut request = request(vec![user("hi")]);
    request.model = "gpt-4.1".into();
    request.reasoning = Some("none".into());
    assert!(body(&request, None).get("reasoning").is_none());
    request.model = "vendor/unknown".into();
    assert!(body(&request, None).get("reasoning").is_none());
    request.reasoning = Some("ultra".into());
    assert_eq!(body(&request, None)["reasoning"]["effort"], "ultra");
    request.model = "gpt-5.5".into();
    request.reasoning = None;
    assert_eq!(body(&request, None)["reasoning"], json!({"summary": "auto"}));
}

#[test]
fn what_is_refused_about_thoughts_is_left_out() {
    let begin =
        || json!({"model": "m", "reasoning": {"effort": "low", "summary": "auto"}, "include": []});
    let mut body = begin();
    assert!(without_refused(&mut body, "must be verified to generate reasoning summaries"));
    assert_eq!(body, json!({"model": "m", "reasoning": {"effort": "low"}, "include": []}));
    assert!(!without_refused(&mut body, "reasoning summaries"));
    let mut body = begin();
    assert!(without_refused(&mut body, "Unsupported parameter: 'reasoning.effort'"));
    assert_eq!(body, json!({"model": "m"}));
    assert!(!without_refused(&mut begin(), "unsupported parameter: tools"));
}

#[test]
fn a_tool_can_be_forced() {
    let mut request = request(vec![]);
    request.tool_choice = ToolChoice::Tool("task_ledger.update".into());
    assert_eq!(
        body(&request, None)["tool_choice"],
        json!({"type": "function", "name": "task_ledger_update"})
    );
    request.tools.clear();
    assert!(body(&request, None).get("tool_choice").is_none());
}

#[test]
fn a_conversation_keeps_thoughts_before_calls_and_outputs_behind() {
    let secret =
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "xyz"});
    let mut spoken = agent(1, "Looking.");
    spoken.opaque = Some(json!({"phase": "commentary"}));
    let entries = vec![
        user("go"),
        thought(1, "hm", Some(secret.clone())),
        spoken,
        call(1, "c1", "task_ledger.update", "{}"),
        call(1, "c2", "old.tool", "{\"a\":"),
        result(1, "c2", "bad"),
        result(1, "c9", "orphan"),
        thought(2, "lost", Some(secret)),
    ];
    check_input(
        entries,
        expect![[r#"
            {"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}
            {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"xyz"}
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Looking."}],"phase":"commentary"}
            {"type":"function_call","call_id":"c1","name":"task_ledger_update","arguments":"{}"}
            {"type":"function_call","call_id":"c2","name":"old_tool","arguments":"{\"a\":"}
            {"type":"function_call_output","call_id":"c1","output":"(no tool result was recorded for this call)"}
            {"type":"function_call_output","call_id":"c2","output":"bad"}"#]],
    );
}

#[test]
fn images_go_with_the_user_and_with_results() {
    let images = vec!["data:image/png;base64,AA==".to_owned(), "ftp://x".to_owned()];
    let body = EntryBody::User { text: "see".into(), images };
    let shot = EntryBody::ToolResult {
        id: "c1".into(),
        text: "shot".into(),
        is_error: false,
        images: vec!["https://x/y.png".into()],
    };
    let entries = vec![
        Entry { step: 0, body, opaque: None },
        call(1, "c1", "view", "{}"),
        Entry { step: 1, body: shot, opaque: None },
    ];
    check_input(
        entries,
        expect![[r#"
            {"type":"message","role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/png;base64,AA=="},{"type":"input_text","text":"(an image that cannot be sent was left out)"}]}
            {"type":"function_call","call_id":"c1","name":"view","arguments":"{}"}
            {"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"shot"},{"type":"input_image","image_url":"https://x/y.png"}]}"#]],
    );
}

fn decode(lines: &[Value]) -> (Vec<ModelEvent>, Result<Progress, StreamError>) {
    let request = request(Vec::new());
    let mut decoder = Responses::new(Names::new(&request, Spelling::Underscore));
    let mut events = Vec::new();
    let mut last = Ok(Progress::More);
    for line in lines {
        last = decoder.frame(&Frame { data: line.to_string(), ..Frame::default() }, &mut events);
        if last != Ok(Progress::More) {
            break;
        }
    }
    (events, last)
}

fn check_events(lines: &[Value], expected: Expect) {
    let (events, last) = decode(lines);
    let mut text: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
    text.extend(last.err().map(|error| format!("{error:?}")));
    expected.assert_eq(&text.join("\n"));
}

#[test]
fn a_whole_answer_is_reported_once() {
    check_events(
        &[
            json!({"type": "response.created", "response": {"id": "r"}}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "id": "rs_1"}}),
            json!({"type": "response.reasoning_summary_part.added", "item_id": "rs_1", "summary_index": 0}),
            json!({"type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "summary_index": 0, "delta": "Think"}),
            json!({"type": "response.reasoning_summary_text.done", "item_id": "rs_1", "summary_index": 0, "text": "Think"}),
            json!({"type": "response.reasoning_summary_text.done", "item_id": "rs_1", "summary_index": 1, "text": "More"}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "reasoning", "id": "rs_1", "encrypted_content": "x", "summary": [{"text": "Think"}, {"text": "More"}]}}),
            json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "id": "m1", "phase": "final_answer"}}),
            json!({"type": "response.output_text.delta", "item_id": "m1", "output_index": 1, "delta": "Hel"}),
            json!({"type": "response.output_text.delta", "item_id": "m1", "output_index": 1, "delta": "lo"}),
            json!({"type": "response.output_text.done", "item_id": "m1", "output_index": 1, "text": "Hello"}),
            json!({"type": "response.output_item.done", "output_index": 1, "item": {"type": "message", "id": "m1", "phase": "final_answer", "content": [{"type": "output_text", "text": "Hello"}]}}),
            json!({"type": "response.output_item.added", "output_index": 2, "item": {"type": "function_call", "id": "f1", "call_id": "c1", "name": "task_ledger_update", "arguments": ""}}),
            json!({"type": "response.function_call_arguments.delta", "item_id": "f1", "output_index": 2, "delta": "{\"a\""}),
            json!({"type": "response.function_call_arguments.delta", "item_id": "f1", "output_index": 2, "delta": ":1}"}),
            json!({"type": "response.function_call_arguments.done", "item_id": "f1", "output_index": 2, "arguments": "{\"a\":1}"}),
            json!({"type": "response.output_item.done", "output_index": 2, "item": {"type": "function_call", "id": "f1", "call_id": "c1", "name": "task_ledger_update", "arguments": "{\"a\":1}"}}),
            json!({"type": "response.completed", "response": {"id": "r", "status": "completed",
                "output": [{"type": "message", "id": "m1", "content": [{"type": "output_text", "text": "Hello"}]}, {"type": "function_call", "id": "f1", "call_id": "c1", "name": "task_ledger_update", "arguments": "{\"a\":1}"}],
                "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "input_tokens_details": {"cached_tokens": 4}}}}),
        ],
        expect![[r#"
            Reasoning { text: "Think", summary: Some(0) }
            Reasoning { text: "More", summary: Some(1) }
            ReasoningDone { opaque: Some(Object {"type": String("reasoning"), "id": String("rs_1"), "encrypted_content": String("x"), "summary": Array [Object {"text": String("Think")}, Object {"text": String("More")}]}) }
            Text { text: "Hel", phase: Some("final_answer") }
            Text { text: "lo", phase: Some("final_answer") }
            TextDone { opaque: Some(Object {"phase": String("final_answer")}) }
            ToolCall { id: "c1", name: "task_ledger.update", arguments: "{\"a\":1}", opaque: None }
            Usage(Usage { prompt: 10, completion: 5, cached: 4, cache_creation: 0 })
            Done { stop: ToolUse }"#]],
    );
}

#[test]
fn an_answer_without_pieces_is_reported_from_its_end() {
    check_events(
        &[json!({"type": "response.completed", "response": {"output": [
            {"type": "reasoning", "id": "rs", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm"}]},
            {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "Hi"}]},
            {"type": "function_call", "id": "f", "call_id": "c", "name": "x", "arguments": ""},
        ]}})],
        expect![[r#"
            Reasoning { text: "Hm", summary: None }
            ReasoningDone { opaque: Some(Object {"type": String("reasoning"), "id": String("rs"), "summary": Array [], "content": Array [Object {"type": String("reasoning_text"), "text": String("Hm")}]}) }
            Text { text: "Hi", phase: None }
            TextDone { opaque: None }
            ToolCall { id: "c", name: "x", arguments: "{}", opaque: None }
            Done { stop: ToolUse }"#]],
    );
}

#[test]
fn a_call_that_was_never_ended_is_still_made() {
    check_events(
        &[
            json!({"type": "response.output_item.added", "item": {"type": "function_call", "id": "f", "call_id": "c", "name": "x"}}),
            json!({"type": "response.function_call_arguments.delta", "item_id": "f", "delta": "{}"}),
            json!({"type": "response.completed", "response": {}}),
        ],
        expect![[r#"
            ToolCall { id: "c", name: "x", arguments: "{}", opaque: None }
            Done { stop: ToolUse }"#]],
    );
}

#[test]
fn an_incomplete_answer_is_no_error() {
    for (reason, stop) in [
        ("max_output_tokens", "Length"),
        ("content_filter", "ContentFilter"),
        ("x", "Other(\"x\")"),
    ] {
        let (events, last) = decode(&[
            json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": reason}}}),
        ]);
        assert_eq!(format!("{events:?}"), format!("[Done {{ stop: {stop} }}]"));
        assert_eq!(last, Ok(Progress::Over));
    }
}

#[test]
fn failures_are_reported_in_both_shapes() {
    check_events(
        &[
            json!({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "boom"}}}),
        ],
        expect![[
            r#"StreamError { message: "boom", kind: Unavailable, is_retryable: true, status: None }"#
        ]],
    );
    check_events(
        &[json!({"type": "error", "code": "context_length_exceeded", "message": "too much"})],
        expect![[
            r#"StreamError { message: "too much", kind: ContextTooLong, is_retryable: false, status: None }"#
        ]],
    );
}

#[test]
fn a_search_of_the_web_is_shown() {
    check_events(
        &[
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "web_search_call", "id": "ws", "status": "in_progress"}}),
            json!({"type": "response.web_search_call.searching", "output_index": 0, "item_id": "ws"}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search", "query": "q"}}}),
            json!({"type": "response.completed", "response": {}}),
        ],
        expect![[r#"
            HostedTool(HostedTool { id: "ws", name: "web_search", input: Object {}, output: None, is_done: false, is_error: false, kind: Some(Network) })
            HostedTool(HostedTool { id: "ws", name: "web_search", input: Object {"type": String("search"), "query": String("q")}, output: None, is_done: true, is_error: false, kind: Some(Network) })
            Done { stop: Stop }"#]],
    );
}

#[test]
fn a_refusal_is_reported_and_named() {
    check_events(
        &[
            json!({"type": "response.refusal.delta", "item_id": "m", "delta": "No."}),
            json!({"type": "response.completed", "response": {}}),
        ],
        expect![[r#"
            Text { text: "No.", phase: None }
            Done { stop: Refusal }"#]],
    );
}

#[test]
fn the_event_line_stands_in_for_a_missing_type() {
    let mut decoder = Responses::new(Names::default());
    let mut events = Vec::new();
    let frame =
        Frame { event: Some("response.completed".into()), data: "{}".into(), ..Frame::default() };
    assert_eq!(decoder.frame(&frame, &mut events), Ok(Progress::Over));
    let done = Frame { data: "[DONE]".into(), ..Frame::default() };
    assert_eq!(decoder.frame(&done, &mut events), Ok(Progress::More));
    let broken = Frame { data: "{".into(), ..Frame::default() };
    assert!(decoder.frame(&broken, &mut events).is_err());
}
