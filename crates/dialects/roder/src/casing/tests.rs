//! Folding, alone and in front of methods.

use proptest::prelude::*;
use rookery_wire::{
    Client, ClientError, Options,
    framing::Ndjson,
    rpc::{JsonRpc, Method, NoParams, Table},
    serve_connection,
    transport::memory,
};
use serde_json::json;

use super::*;
use crate::wire::{
    discovery::ToolSpec, exec::CommandExecParams, provider::ModelSelectParams,
    session::SessionResolveUserInputParams, thread::ThreadStartParams, tool::ToolsCallParams,
    turn::TurnStartParams,
};

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn folded<T: JsonSchema>(text: &str) -> Result<String, String> {
    let raw = raw(text);
    let folded = fold(&raw, &Shape::of::<T>()).map(|folded| folded.get().to_owned());
    folded.map_err(|conflict| conflict.to_string())
}

fn check<T: JsonSchema>(text: &str, want: &str) {
    assert_eq!(folded::<T>(text).as_deref(), Ok(want), "{text}");
}

#[test]
fn known_members_are_folded_at_every_level() {
    check::<TurnStartParams>(
        r#"{"thread_id":"t","input":[{"type":"image","image_url":"u"},{"type":"text","text":"a_b"}],"x_y":1}"#,
        r#"{"threadId":"t","input":[{"type":"image","imageUrl":"u"},{"type":"text","text":"a_b"}],"x_y":1}"#,
    );
    check::<ModelSelectParams>(
        r#"{"selection":{"type":"auto","option_id":"o"},"thread\u005fid":null}"#,
        r#"{"selection":{"type":"auto","optionId":"o"},"threadId":null}"#,
    );
    check::<ThreadStartParams>(
        r#"{"external_tools":[{"name":"a_b","parameters":{"tool_name":1}}],"tool_allowlist":["read_file"]}"#,
        r#"{"externalTools":[{"name":"a_b","parameters":{"tool_name":1}}],"toolAllowlist":["read_file"]}"#,
    );
}

#[test]
fn values_without_members_pass_byte_for_byte() {
    check::<ToolsCallParams>(
        r#"{"tool_name":"x","arguments":{"thread_id":  1.50,"tool_name":[1e400, {"a_b":"\u005f"}]}}"#,
        r#"{"toolName":"x","arguments":{"thread_id":  1.50,"tool_name":[1e400, {"a_b":"\u005f"}]}}"#,
    );
    check::<SessionResolveUserInputParams>(
        r#"{"answers":{"request_id":"z"},"request_id":"r"}"#,
        r#"{"answers":{"request_id":"z"},"requestId":"r"}"#,
    );
    check::<CommandExecParams>(
        r#"{"env":{"process_id":"1","TIMEOUT_MS":null},"timeout_ms":5}"#,
        r#"{"env":{"process_id":"1","TIMEOUT_MS":null},"timeoutMs":5}"#,
    );
    for text in [r#""a_b""#, r#"[{"thread_id":1}]"#, "1", r#"{ "threadId" : 1 }"#] {
        check::<ToolsCallParams>(text, text);
    }
}

#[test]
fn both_spellings_may_agree_but_not_differ() {
    check::<ToolsCallParams>(
        r#"{"thread_id":"t","threadId":"t","tool_name":"x"}"#,
        r#"{"threadId":"t","toolName":"x"}"#,
    );
    check::<CommandExecParams>(
        r#"{"size":{"rows":1, "cols":2},"timeoutMs":10,"timeout_ms": 10}"#,
        r#"{"size":{"rows":1,"cols":2},"timeoutMs":10}"#,
    );
    for (text, member) in [
        (r#"{"thread_id":"a","threadId":"b"}"#, "`threadId` and `thread_id` differ"),
        (r#"{"threadId":"a","thread_id":null}"#, "`threadId` and `thread_id` differ"),
        (
            r#"{"input":[{"type":"image","imageUrl":"a","image_url":"b"}]}"#,
            "`imageUrl` and `image_url` differ",
        ),
    ] {
        assert_eq!(folded::<TurnStartParams>(text), Err(member.to_owned()), "{text}");
    }
    // The same spelling twice is left for the decoder to refuse.
    check::<ToolsCallParams>(
        r#"{"thread_id":"a","thread_id":"b"}"#,
        r#"{"threadId":"a","threadId":"b"}"#,
    );
}

async fn start(_cx: (), p: TurnStartParams) -> Result<String, RpcError> {
    Ok(p.thread_id)
}

async fn list(_cx: (), p: ThreadStartParams) -> Result<Option<String>, RpcError> {
    Ok(p.model_provider)
}

async fn none(_cx: (), _p: NoParams) -> Result<u8, RpcError> {
    Ok(1)
}

const METHODS: &[Method<()>] = &[
    folding_method!("t/start", LOOK, [] => start),
    folding_method!("t/list", LOOK, [] => list),
    folding_method!("t/none", LOOK, [] => none),
];

#[tokio::test]
async fn methods_take_both_spellings_and_say_what_is_missing() {
    let (near, far) = memory::pair();
    tokio::spawn(serve_connection(far, Ndjson::default(), Options::default(), |_| {
        JsonRpc::new(Table::new([METHODS]), ()).lenient().reword(crate::reword)
    }));
    let client = Client::over(near, Ndjson::default());
    let call = async |method: &str, params: Value| {
        client.call::<Value, Value>(method, params).await.map_err(|error| {
            let ClientError::Rpc(error) = error else { panic!("{error}") };
            (error.code, error.message)
        })
    };
    let missing = Err((-32602, "Missing params".to_owned()));
    let invalid = |why: &str| Err((-32602, format!("Invalid params: {why}")));
    for params in [json!({"threadId": "t"}), json!({"thread_id": "t", "input": null})] {
        assert_eq!(call("t/start", params).await, Ok(json!("t")));
    }
    assert_eq!(call("t/start", Value::Null).await, missing);
    assert_eq!(call("t/start", json!({})).await, invalid("missing field `threadId`"));
    let both = json!({"threadId": "a", "thread_id": "b"});
    assert_eq!(call("t/start", both).await, invalid("`threadId` and `thread_id` differ"));
    let unknown = json!({"threadId": "t", "input": [{"type": "smell"}]});
    let why = "unknown input type `smell`, at input[0]";
    assert_eq!(call("t/start", unknown).await, invalid(why));
    for params in [Value::Null, json!({}), json!({"unknown_member": 1})] {
        assert_eq!(call("t/list", params.clone()).await, Ok(Value::Null));
        assert_eq!(call("t/none", params).await, Ok(json!(1)));
    }
    assert_eq!(call("t/list", json!({"model_provider": "mock"})).await, Ok(json!("mock")));
}

/// A document for [`TurnStartParams`] or [`ThreadStartParams`], with members that neither knows.
fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z_]{0,6}".prop_map(Value::from),
    ];
    let name = prop_oneof![
        Just("threadId"),
        Just("thread_id"),
        Just("input"),
        Just("imageUrl"),
        Just("image_url"),
        Just("externalTools"),
        Just("external_tools"),
        Just("parameters"),
        Just("developer_context"),
        Just("other_thing"),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((name.clone(), inner), 0..5)
                .prop_map(|members| members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    })
}

/// Every known member in its other spelling; what is opaque is left alone.
fn respell(value: &mut Value, shape: &Shape, flip: &mut impl FnMut() -> bool) {
    match (value, shape) {
        (Value::Object(members), Shape::Object(known)) => {
            for (name, mut value) in std::mem::take(members) {
                let Some(member) = known.get(&name) else {
                    members.insert(name, value);
                    continue;
                };
                respell(&mut value, &member.shape, flip);
                let name = if flip() { snake(&member.name) } else { member.name.clone() };
                members.insert(name, value);
            }
        }
        (Value::Array(elements), Shape::Array(items)) => {
            elements.iter_mut().for_each(|element| respell(element, items, flip));
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn folding_is_idempotent_and_never_panics(document in documents()) {
        for shape in [Shape::of::<TurnStartParams>(), Shape::of::<ThreadStartParams>()] {
            let text = raw(&document.to_string());
            if let Ok(once) = fold(&text, &shape) {
                let again = fold(&once, &shape).unwrap();
                prop_assert_eq!(once.get(), again.get());
            }
        }
    }

    #[test]
    fn any_mixture_of_spellings_is_the_same(document in documents(), flips in any::<u64>()) {
        let shape = Shape::of::<ThreadStartParams>();
        // Only what has no conflict of its own can be respelled without one.
        let text = raw(&document.to_string());
        if let Ok(want) = fold(&text, &shape) {
            let want: Value = serde_json::from_str(want.get()).unwrap();
            let mut other = want.clone();
            let mut bits = flips;
            respell(&mut other, &shape, &mut || {
                bits = bits.rotate_left(1);
                bits & 1 == 1
            });
            let other = raw(&other.to_string());
            let got = fold(&other, &shape).unwrap();
            prop_assert_eq!(serde_json::from_str::<Value>(got.get()).unwrap(), want);
        }
    }

    #[test]
    fn schemas_of_tools_are_never_touched(schema in documents()) {
        let tool = json!({"name": "a", "description": "b", "parameters": schema});
        let raw_tools = raw(&json!({"external_tools": [tool]}).to_string());
        let folded = fold(&raw_tools, &Shape::of::<ThreadStartParams>()).unwrap();
        let params: ThreadStartParams = serde_json::from_str(folded.get()).unwrap();
        let want = ToolSpec { name: "a".into(), description: "b".into(), parameters: schema };
        prop_assert_eq!(params.external_tools, Some(vec![want]));
    }
}
