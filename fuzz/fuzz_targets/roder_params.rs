//! Lines of the Roder dialect: whatever a line holds, its reply is one envelope with the id that was
//! sent, and params in either spelling fold into one document that folds no further.
#![no_main]

use std::cell::LazyCell;
use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use rookery_fuzz::reply;
use rookery_roder::casing::{Shape, fold};
use rookery_roder::wire::exec::CommandExecParams;
use rookery_roder::wire::provider::ModelSelectParams;
use rookery_roder::wire::session::SessionResolveUserInputParams;
use rookery_roder::wire::thread::ThreadStartParams;
use rookery_roder::wire::tool::ToolsCallParams;
use rookery_roder::wire::turn::TurnStartParams;
use rookery_roder::{folding_method, reword};
use rookery_wire::rpc::{JsonRpc, Method, RpcError, Table};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

const METHODS: &[Method<()>] = &[folding_method!("echo", LOOK, [] => echo)];

async fn echo(_context: (), params: TurnStartParams) -> Result<TurnStartParams, RpcError> {
    Ok(params)
}

/// Folds params and decodes them.
type Check = fn(&RawValue, &Shape);

thread_local! {
    static SHAPES: LazyCell<[(Shape, Check); 6]> = LazyCell::new(|| {
        [
            (Shape::of::<CommandExecParams>(), check::<CommandExecParams>),
            (Shape::of::<ModelSelectParams>(), check::<ModelSelectParams>),
            (Shape::of::<SessionResolveUserInputParams>(), check::<SessionResolveUserInputParams>),
            (Shape::of::<ThreadStartParams>(), check::<ThreadStartParams>),
            (Shape::of::<ToolsCallParams>(), check::<ToolsCallParams>),
            (Shape::of::<TurnStartParams>(), check::<TurnStartParams>),
        ]
    });
}

fuzz_target!(|input: &[u8]| {
    let endpoint = JsonRpc::new(Table::new([METHODS]), ()).lenient().reword(reword);
    if let Some(reply) = reply(endpoint, input) {
        check_reply(input, &reply);
    }
    let Ok(params) = serde_json::from_slice::<&RawValue>(input) else { return };
    assert_eq!(
        fold(params, &Shape::Opaque).expect("nothing is known to differ").get(),
        params.get()
    );
    SHAPES.with(|shapes| shapes.iter().for_each(|(shape, check)| check(params, shape)));
});

fn check<T: DeserializeOwned>(params: &RawValue, shape: &Shape) {
    let Ok(folded) = fold(params, shape) else { return };
    let again = fold(&folded, shape).expect("what was folded has one spelling");
    assert_eq!(again.get(), folded.get());
    let _ = serde_json::from_str::<T>(folded.get());
}

fn check_reply(frame: &[u8], reply: &[u8]) {
    let members: BTreeMap<String, &RawValue> =
        serde_json::from_slice(reply).expect("a reply is a JSON object");
    assert_eq!(members["jsonrpc"].get(), r#""2.0""#);
    assert!(members.contains_key("result") != members.contains_key("error"));
    let sent = serde_json::from_slice::<Value>(frame).ok();
    let id: Value = serde_json::from_str(members["id"].get()).expect("an id is JSON");
    let is_sent = sent.as_ref().and_then(|sent| sent.get("id")).is_some_and(|sent| *sent == id);
    assert!(id.is_null() || is_sent, "{id} was not sent");
    if let Some(error) = members.get("error") {
        let error: Value = serde_json::from_str(error.get()).expect("an error is JSON");
        assert!(error["code"].is_i64() && error["message"].is_string());
    }
}
