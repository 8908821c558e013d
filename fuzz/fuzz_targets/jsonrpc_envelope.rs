//! The JSON-RPC endpoint: whatever a frame holds, the reply is one well-formed envelope under the id
//! that was sent, and a notification gets none.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use rookery_fuzz::reply;
use rookery_wire::method;
use rookery_wire::rpc::{Id, JsonRpc, Method, Request, RpcError, Table};
use serde_json::Value;
use serde_json::value::RawValue;

const METHODS: &[Method<()>] = &[method!("echo", LOOK, [] => echo)];

async fn echo(_context: (), params: Value) -> Result<Value, RpcError> {
    Ok(params)
}

fuzz_target!(|frame: &[u8]| {
    let request = std::str::from_utf8(frame).ok().and_then(|text| Request::parse(text).ok());
    let id = request.as_ref().and_then(|request| request.id);
    if let Some(id) = id {
        assert_eq!(Id::new(id).as_str(), id.get());
    }
    match (reply(JsonRpc::new(Table::new([METHODS]), ()), frame), request.is_some()) {
        (Some(reply), true) => check(&reply, id.expect("a notification is not answered").get()),
        (Some(reply), false) => check(&reply, "null"),
        (None, parsed) => assert!(parsed && id.is_none(), "a request stays without a reply"),
    }
});

fn check(reply: &[u8], id: &str) {
    let members: BTreeMap<String, &RawValue> =
        serde_json::from_slice(reply).expect("a reply is a JSON object");
    assert_eq!(members["jsonrpc"].get(), r#""2.0""#);
    assert_eq!(members["id"].get(), id);
    assert!(members.contains_key("result") != members.contains_key("error"));
}
