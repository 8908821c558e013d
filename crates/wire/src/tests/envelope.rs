//! The envelope rules, row by row.

use super::*;

/// What is answered to `input`, a line per frame.
async fn answers(input: &str) -> String {
    let (got, outcome) = serve(Options::default()).exchange(input.as_bytes()).await;
    assert!(matches!(outcome, Outcome::PeerClosed), "{outcome}");
    got
}

async fn check(input: &str, reply: &str) {
    let want = if reply.is_empty() { String::new() } else { format!("{reply}\n") };
    assert_eq!(answers(&format!("{input}\n")).await, want, "{input}");
}

async fn check_code(input: &str, code: i64) {
    let got = answers(&format!("{input}\n")).await;
    let reply: Value = serde_json::from_str(&got).unwrap_or_else(|_| panic!("{input}: {got:?}"));
    assert_eq!(reply["error"]["code"], code, "{input}");
    assert_eq!(reply["id"], Value::Null, "{input}");
    assert!(got.contains("\"id\":null"));
}

#[tokio::test]
async fn success_is_compact_and_in_order() {
    check(
        r#" { "jsonrpc" : "2.0", "id" : 1, "method" : "t.echo", "params" : {"a": [1, "é"]}, "x": 0 } "#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"a":[1,"é"]}}"#,
    )
    .await;
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"t.raw"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"a":  1.0}}"#,
    )
    .await;
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"t.open"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
    )
    .await;
}

#[tokio::test]
async fn version_and_method_are_required() {
    let version = r#""error":{"code":-32600,"message":"jsonrpc must be \"2.0\""}}"#;
    for input in [
        r#"{"id":5,"method":"t.echo"}"#,
        r#"{"jsonrpc":"1.0","id":5,"method":"t.echo"}"#,
        r#"{"jsonrpc":null,"id":5,"method":"t.echo"}"#,
    ] {
        check(input, &format!(r#"{{"jsonrpc":"2.0","id":5,{version}"#)).await;
    }
    for input in [r#"{"jsonrpc":"2.0","id":5}"#, r#"{"jsonrpc":"2.0","id":5,"method":null}"#] {
        check(
            input,
            r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32600,"message":"method is required"}}"#,
        )
        .await;
    }
    check(
        r#"{"jsonrpc":"2.0","id":5,"method":"x.y"}"#,
        r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"unknown method: x.y"}}"#,
    )
    .await;
}

#[tokio::test]
async fn mistyped_or_repeated_members_are_parse_errors() {
    for input in [
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":2.0,"id":1,"method":"t.echo"}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"t.echo"}"#,
        r#"{"jsonrpc":"2.0","id":null,"id":2,"method":"t.echo"}"#,
        r#"{"jsonrpc":"2.0","method":"t.echo","id":1,"method":"t.echo"}"#,
        r#"{"jsonrpc":"2.0","id":1,"params":{},"params":{},"method":"t.echo"}"#,
    ] {
        check_code(input, -32700).await;
    }
}

#[tokio::test]
async fn other_documents_are_parse_errors() {
    for input in [
        r#"[{"jsonrpc":"2.0","id":1,"method":"t.count"}]"#,
        r#"["2.0", 7, "t.count", null]"#,
        "[]",
        "1",
        "null",
        r#""text""#,
        "{bad",
        "{} {}",
        r#"{"jsonrpc":"2.0","id":1,"method":"t.echo"} x"#,
        "\u{feff}{}",
    ] {
        check_code(input, -32700).await;
    }
    check(
        "{bad",
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error: key must be a string at line 1 column 2"}}"#,
    )
    .await;
}

#[tokio::test]
async fn a_batch_runs_nothing() {
    let peer = serve(Options::default());
    let world = Arc::clone(&peer.world);
    peer.exchange(b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"t.count\"}]\n").await;
    assert_eq!(world.runs.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn notifications_run_without_reply() {
    let input = concat!(
        r#"{"jsonrpc":"2.0","method":"t.count"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":null,"method":"t.count"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"t.fail"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"t.panic_now"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"no.such"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"t.big"}"#,
        "\n{}\n",
        r#"{"method":"t.count"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"t.count"}"#,
    );
    assert_eq!(answers(input).await, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":3}\n");
}

#[tokio::test]
async fn ids_come_back_byte_for_byte() {
    for id in [
        "0",
        "-7",
        "1.50",
        "1e3",
        "123456789012345678901234567890",
        "true",
        r#""a\u0062 long string that does not fit inline""#,
        r#"{"a":  [1, 2]}"#,
        "[]",
        r#""""#,
    ] {
        let input = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"t.echo","params":1}}"#);
        check(&input, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":1}}"#)).await;
    }
}

#[tokio::test]
async fn an_id_that_cannot_be_read_is_a_parse_error() {
    for id in [r#""\ud800""#, "1e400", r#"["\udfff"]"#] {
        let input = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"t.echo","params":1}}"#);
        check_code(&input, -32700).await;
    }
}

#[tokio::test]
async fn absent_and_null_params_are_an_empty_object() {
    for params in ["", r#","params":null"#, r#","params":{}"#] {
        let input = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"t.echo"{params}}}"#);
        check(&input, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    }
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"t.big"}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"missing field `bytes`"}}"#,
    )
    .await;
}

#[tokio::test]
async fn error_data_is_sent_and_messages_are_filtered() {
    let peer = serve_with(Ndjson::default(), Options::default(), |rpc| {
        rpc.error_filter(|message| message.replace("secret", "[gone]"))
    });
    let input = concat!(
        r#"{"jsonrpc":"2.0","id":"secret","method":"t.fail"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"secret"}"#
    );
    let want = concat!(
        r#"{"jsonrpc":"2.0","id":"secret","error":{"code":-32004,"message":"[gone]: denied","data":{"method":"t.fail"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"unknown method: [gone]"}}"#,
        "\n"
    );
    assert_eq!(peer.exchange(input.as_bytes()).await.0, want);
}

#[tokio::test]
async fn a_panic_is_an_internal_error_and_the_connection_goes_on() {
    let mut peer = serve(Options::default());
    for method in ["t.panic_now", "t.panic_later"] {
        let reply = peer.call(method, json!({})).await;
        assert_eq!(reply["error"], json!({"code": -32603, "message": "internal error"}));
    }
    let reply = peer.call("t.unwritable", json!({})).await;
    assert_eq!(reply["error"]["message"], "result cannot be written: no way");
    assert_eq!(peer.call("t.count", json!({})).await["result"], 1);
}

#[tokio::test]
async fn lsp_framing_carries_the_same_envelope() {
    let mut input = Vec::new();
    Lsp::default().encode(b"{\"jsonrpc\":\"2.0\",\"id\":1,\n\"method\":\"t.count\"}", &mut input);
    input.extend_from_slice(b"content-length:2\n\n{]");
    let peer = serve_with(Lsp::default(), Options::default(), |rpc| rpc);
    let (got, outcome) = peer.exchange(&input).await;
    let first = "Content-Length: 35\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}";
    assert!(got.starts_with(first), "{got}");
    assert!(got[first.len()..].contains("-32700"), "{got}");
    assert!(matches!(outcome, Outcome::PeerClosed));
}
