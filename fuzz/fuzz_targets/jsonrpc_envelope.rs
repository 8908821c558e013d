//! The JSON-RPC endpoint: whatever a frame holds, the reply is one well-formed envelope under the id
//! that was sent, and a notification gets none.
#![no_main]

use std::collections::BTreeMap;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use libfuzzer_sys::fuzz_target;
use rookery_wire::rpc::{Id, JsonRpc, Method, Request, RpcError, Table};
use rookery_wire::{Protocol as _, Step, method};
use serde_json::Value;
use serde_json::value::RawValue;

const METHODS: &[Method<()>] = &[method!("echo" => echo)];

async fn echo(_context: (), params: Value) -> Result<Value, RpcError> {
    Ok(params)
}

fuzz_target!(|frame: &[u8]| {
    let request = std::str::from_utf8(frame).ok().and_then(|text| Request::parse(text).ok());
    let id = request.as_ref().and_then(|request| request.id);
    if let Some(id) = id {
        assert_eq!(Id::new(id).as_str(), id.get());
    }
    match (reply(frame), request.is_some()) {
        (Some(reply), true) => check(&reply, id.expect("a notification is not answered").get()),
        (Some(reply), false) => check(&reply, "null"),
        (None, parsed) => assert!(parsed && id.is_none(), "a request stays without a reply"),
    }
});

/// What the endpoint answers, if anything.
fn reply(frame: &[u8]) -> Option<Vec<u8>> {
    let mut endpoint = JsonRpc::new(Table::new([METHODS]), ());
    let reply = match endpoint.accept(frame) {
        Step::Skip => return None,
        Step::Reply(reply) => reply,
        Step::Call(call) => match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(reply) => reply,
            Poll::Pending => panic!("echo has nothing to wait for"),
        },
        Step::Close(reply, _) => reply?,
    };
    let mut out = Vec::new();
    endpoint.encode(reply, &mut out);
    (!out.is_empty()).then_some(out)
}

fn check(reply: &[u8], id: &str) {
    let members: BTreeMap<String, &RawValue> =
        serde_json::from_slice(reply).expect("a reply is a JSON object");
    assert_eq!(members["jsonrpc"].get(), r#""2.0""#);
    assert_eq!(members["id"].get(), id);
    assert!(members.contains_key("result") != members.contains_key("error"));
}
