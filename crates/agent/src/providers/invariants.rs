//! What holds for every conversation and every stream, whatever is in it.

use std::collections::HashSet;

use proptest::prelude::*;
use rookery_host::http::sse::Frame;
use serde_json::{Value, json};

use super::anthropic::Anthropic;
use super::call::{Endpoint, Keys, Progress, Protocol};
use super::names::Names;
use super::openai_chat::OpenaiChat;
use super::openai_responses::OpenaiResponses;
use super::settings::Retry;
use super::transcript::tests::{agent, call, result, thought, user};
use crate::provider::{Entry, ModelEvent, ModelRequest};

fn endpoint() -> Endpoint {
    Endpoint {
        id: "x".into(),
        name: "X".into(),
        base_url: "http://127.0.0.1:1".into(),
        key_variables: Vec::new(),
        needs_key: false,
        sign_in: None,
        headers: Vec::new(),
        max_tokens: None,
        temperature: None,
        retry: Retry::default(),
        idle: None,
        keys: Keys::default(),
        environment: std::sync::Arc::new(|_| None),
        client: rookery_host::http::Client::new(),
    }
}

thread_local! {
    static ENDPOINT: Endpoint = endpoint();
}

fn encode(protocol: &dyn Protocol, entries: Vec<Entry>) -> Value {
    let request = ModelRequest { model: "m".into(), entries, ..ModelRequest::default() };
    ENDPOINT.with(|endpoint| {
        protocol.encode(&request, &Names::new(&request, protocol.spelling()), endpoint)
    })
}

fn entry() -> impl Strategy<Value = Entry> {
    let id = || prop_oneof![Just("a"), Just("b"), Just("c d"), Just("")];
    let step = || 1..4_u64;
    prop_oneof![
        "[a ]{0,2}".prop_map(|text| user(&text)),
        (step(), "[a ]{0,2}").prop_map(|(step, text)| agent(step, &text)),
        (step(), any::<bool>()).prop_map(|(step, is_signed)| {
            let block = json!({ "type": "thinking", "thinking": "t", "signature": "s" });
            thought(step, "t", is_signed.then_some(block))
        }),
        (step(), id(), prop_oneof![Just("{}"), Just("{"), Just("[]")])
            .prop_map(|(step, id, arguments)| call(step, id, "some.tool", arguments)),
        (step(), id()).prop_map(|(step, id)| result(step, id, "r")),
    ]
}

fn texts<'a>(list: &'a Value, kind: &str, key: &str) -> Vec<&'a str> {
    let is_kind = |value: &&Value| value["type"] == kind;
    list.as_array()
        .into_iter()
        .flatten()
        .filter(is_kind)
        .filter_map(|value| value[key].as_str())
        .collect()
}

fn is_unique(ids: &[&str]) -> bool {
    ids.iter().collect::<HashSet<_>>().len() == ids.len()
}

fn is_end(event: &ModelEvent) -> bool {
    matches!(event, ModelEvent::Done { .. })
}

/// Members and values as streams have them, in any combination.
fn frame() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec![
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.output_text.done",
        "response.reasoning_summary_text.done",
        "response.function_call_arguments.delta",
        "response.web_search_call.searching",
        "response.completed",
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "error",
        "",
    ]);
    let part = prop::sample::select(vec![
        json!({"type": "message", "id": "i", "content": [{"type": "output_text", "text": "x"}]}),
        json!({"type": "function_call", "id": "i", "call_id": "c", "name": "n", "arguments": "{"}),
        json!({"type": "reasoning", "id": "j", "summary": [{"text": "s"}]}),
        json!({"type": "web_search_call"}),
        json!({"type": "tool_use", "id": "t", "name": "n", "input": 7}),
        json!({"type": "thinking", "thinking": "t"}),
        json!({"type": "thinking_delta", "thinking": "t"}),
        json!({"type": "input_json_delta", "partial_json": "{"}),
        json!({"type": "text_delta", "text": "x"}),
        json!({"content": "x", "tool_calls": [{"index": 0, "id": "c", "function": {"name": "n", "arguments": "{"}}]}),
        json!({"tool_calls": [{"function": {"name": "n", "arguments": {}}}, {"id": 7}, "x"]}),
        json!(["x"]),
        json!("x"),
        json!(null),
    ]);
    let finish = prop::sample::select(vec![json!("stop"), json!(null), json!(3)]);
    (kind, part, prop::option::of(0..3_u64), finish).prop_map(|(kind, part, index, finish)| {
        json!({
            "type": kind, "item": part, "content_block": part, "delta": part, "index": index,
            "output_index": index, "item_id": "i", "text": "x", "usage": part, "response": { "output": [part] },
            "choices": [{ "delta": part, "finish_reason": finish }],
        })
    })
}

proptest! {
    #[test]
    fn responses_have_a_call_for_each_output(entries in prop::collection::vec(entry(), 0..20)) {
        let body = encode(&OpenaiResponses, entries);
        let mut calls = texts(&body["input"], "function_call", "call_id");
        let mut outputs = texts(&body["input"], "function_call_output", "call_id");
        prop_assert!(is_unique(&calls));
        calls.sort_unstable();
        outputs.sort_unstable();
        prop_assert_eq!(calls, outputs);
    }

    #[test]
    fn chats_answer_each_call_at_once(entries in prop::collection::vec(entry(), 0..20)) {
        let body = encode(&OpenaiChat, entries);
        let messages = body["messages"].as_array().unwrap();
        let mut open: Vec<&str> = Vec::new();
        let mut all = HashSet::new();
        for message in messages {
            if message["role"] == "tool" {
                prop_assert!(!open.is_empty());
                prop_assert_eq!(message["tool_call_id"].as_str(), Some(open.remove(0)));
                continue;
            }
            prop_assert!(open.is_empty(), "{message}");
            open = texts(&message["tool_calls"], "function", "id");
            for id in &open {
                prop_assert!(all.insert(*id));
            }
        }
        prop_assert!(open.is_empty());
    }

    #[test]
    fn messages_alternate_and_answer_each_call_next(entries in prop::collection::vec(entry(), 0..20)) {
        let body = encode(&Anthropic, entries);
        let messages = body["messages"].as_array().unwrap();
        prop_assert!(messages.first().is_none_or(|first| first["role"] == "user"));
        for pair in messages.windows(2) {
            prop_assert_ne!(&pair[0]["role"], &pair[1]["role"]);
        }
        let mut called: Vec<&str> = Vec::new();
        for message in messages {
            prop_assert!(message["content"].as_array().is_some_and(|blocks| !blocks.is_empty()));
            prop_assert_eq!(&texts(&message["content"], "tool_result", "tool_use_id"), &called);
            called = texts(&message["content"], "tool_use", "id");
            prop_assert!(is_unique(&called));
        }
        prop_assert!(called.is_empty());
    }

    #[test]
    fn no_stream_is_too_strange(frames in prop::collection::vec(frame(), 0..12)) {
        let protocols: [&dyn Protocol; 3] = [&OpenaiResponses, &OpenaiChat, &Anthropic];
        for protocol in protocols {
            let mut decoder = protocol.decoder(Names::default());
            let mut events = Vec::new();
            for frame in &frames {
                let frame = Frame { data: frame.to_string(), ..Frame::default() };
                if decoder.frame(&frame, &mut events) == Ok(Progress::Over) {
                    prop_assert!(events.last().is_some_and(is_end));
                    break;
                }
            }
            let ends = events.iter().filter(|event| is_end(event)).count();
            prop_assert!(ends <= 1);
        }
    }
}
