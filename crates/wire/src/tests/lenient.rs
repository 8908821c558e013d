//! The lenient envelope and its other words, row by row.

use super::*;
use crate::rpc::Fault;

fn reword(fault: Fault, error: RpcError) -> RpcError {
    match fault {
        Fault::Parse => RpcError { message: error.message.replacen('p', "P", 1), ..error },
        Fault::UnknownMethod => RpcError { message: "Method not found".into(), ..error },
        Fault::Overloaded => RpcError { code: -32001, ..error },
        Fault::Internal => RpcError { code: -32000, ..error },
    }
}

async fn check(input: &str, reply: &str) {
    let peer =
        serve_with(Ndjson::with_limit(200), Options::default(), |rpc| rpc.lenient().reword(reword));
    let (got, _) = peer.exchange(format!("{input}\n").as_bytes()).await;
    let want = if reply.is_empty() { String::new() } else { format!("{reply}\n") };
    assert_eq!(got, want, "{input}");
}

async fn check_error(input: &str, id: &str, code: i64, message: &str) {
    let message = json!(message);
    let error = format!(r#"{{"code":{code},"message":{message}}}"#);
    check(input, &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)).await;
}

#[tokio::test]
async fn the_version_may_be_absent_but_not_wrong() {
    check(r#"{"id":1,"method":"t.echo","params":5}"#, r#"{"jsonrpc":"2.0","id":1,"result":5}"#)
        .await;
    check(
        r#"{"jsonrpc":"2\u002e0","id":"1","method":"t\u002eecho","params":5}"#,
        r#"{"jsonrpc":"2.0","id":"1","result":5}"#,
    )
    .await;
    for version in ["null", "2.0", "\"1.0\"", "\"\"", "[]"] {
        let input = format!(r#"{{"jsonrpc":{version},"id":7,"method":"t.echo"}}"#);
        check_error(&input, "7", -32600, "jsonrpc must be \"2.0\"").await;
    }
}

#[tokio::test]
async fn an_id_of_null_is_answered_and_none_is_not() {
    check(r#"{"id":null,"method":"t.count"}"#, r#"{"jsonrpc":"2.0","id":null,"result":1}"#).await;
    check_error(r#"{"id":null,"method":"x"}"#, "null", -32601, "Method not found").await;
    for input in [r#"{"method":"t.count"}"#, r#"{"method":"x"}"#] {
        check(input, "").await;
    }
}

#[tokio::test]
async fn an_id_is_a_string_an_integer_or_null() {
    for id in ["1.5", "1.0", "1e3", "-1E2", "true", "false", "{}", "[]", "[1]", r#"{"a":1}"#] {
        for rest in [r#""method":"t.count""#, r#""method":5"#, r#""jsonrpc":"1.0""#] {
            let message = "id must be a string, an integer or null";
            check_error(&format!(r#"{{"id":{id},{rest}}}"#), "null", -32600, message).await;
        }
    }
    for id in ["0", "-7", "123456789012345678901234567890", r#""""#, r#""1.5""#] {
        let reply = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":5}}"#);
        check(&format!(r#"{{"id":{id},"method":"t.echo","params":5}}"#), &reply).await;
    }
}

#[tokio::test]
async fn json_that_is_no_request_is_an_invalid_request() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"t.count"}]"#;
    check_error(batch, "null", -32600, "batches are not supported").await;
    check_error("[]", "null", -32600, "batches are not supported").await;
    for input in ["1", "null", r#""text""#, "true"] {
        check_error(input, "null", -32600, "not a request object").await;
    }
    check_error(r#"{"id":"a"}"#, r#""a""#, -32600, "method is required").await;
    // What is no request is no notification either.
    for input in ["{}", r#"{"jsonrpc":"2.0"}"#, r#"{"params":{}}"#, r#"{"result":1}"#] {
        check_error(input, "null", -32600, "method is required").await;
    }
    check_error(r#"{"method":5}"#, "null", -32600, "method must be a string").await;
    check_error(r#"{"jsonrpc":"1.0","method":"x"}"#, "null", -32600, "jsonrpc must be \"2.0\"")
        .await;
    for method in ["5", "null", "{}"] {
        let input = format!(r#"{{"id":"a","method":{method}}}"#);
        check_error(&input, r#""a""#, -32600, "method must be a string").await;
    }
}

#[tokio::test]
async fn what_is_no_json_is_a_parse_error_and_the_stream_goes_on() {
    let good = r#"{"id":1,"method":"t.count"}"#;
    for bad in ["{bad", "{} {}", "nonsense", "[1,", r#"{"id":1,"id":2}"#, r#"{"id":"\ud800"}"#] {
        let peer =
            serve_with(Ndjson::default(), Options::default(), |rpc| rpc.lenient().reword(reword));
        let (got, _) = peer.exchange(format!("{bad}\n{good}\n").as_bytes()).await;
        let (first, second) = got.split_once('\n').unwrap();
        let first: Value = serde_json::from_str(first).unwrap();
        assert_eq!((&first["id"], &first["error"]["code"]), (&Value::Null, &json!(-32700)));
        let message = first["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("Parse error: "), "{message}");
        assert_eq!(second, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n");
    }
    let long = format!(r#"{{"id":1,"method":"t.echo","params":"{}"}}"#, "x".repeat(200));
    check_error(&long, "null", -32700, "Parse error: frame is longer than 200 bytes").await;
    let deep = format!(r#"{{"id":1,"params":{}{}}}"#, "[".repeat(90), "]".repeat(90));
    check_error(&deep, "1", -32600, "method is required").await;
}

#[tokio::test]
async fn faults_of_ours_have_the_dialects_code() {
    let id = "\"x\"";
    for (method, message) in [
        ("t.panic_now", "internal error"),
        ("t.panic_later", "internal error"),
        ("t.unwritable", "result cannot be written: no way"),
    ] {
        let input = format!(r#"{{"id":{id},"method":"{method}"}}"#);
        check_error(&input, id, -32000, message).await;
    }
    // A dialect's own errors are its own affair.
    let input = r#"{"id":1,"method":"t.big"}"#;
    check_error(input, "1", -32602, "missing field `bytes`").await;
}

#[tokio::test]
async fn too_many_requests_are_told_so() {
    let options = Options { max_pending: 1, ..Options::default() };
    let mut peer = serve_with(Ndjson::default(), options, |rpc| rpc.lenient().reword(reword));
    peer.request(1, "t.gate", json!({})).await;
    peer.request(2, "t.count", json!({})).await;
    let refused = peer.reply().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(2), &json!(-32001)));
}
