//! Messages after the handshake.

use super::*;

#[tokio::test]
async fn one_document_per_text_message() {
    let server = serve().await;
    let mut client = client(&server).await;
    let spread =
        "{\n\"jsonrpc\":\"2.0\",\n\"id\":\"a\\nb\",\"method\":\"echo\",\"params\":[1,\n2]}\n";
    client.send(Message::text(spread)).await.unwrap();
    let want = r#"{"jsonrpc":"2.0","id":"a\nb","result":[1,2]}"#;
    assert_eq!(next(&mut client).await, Message::text(want));
    // A line break inside a string is no JSON, and no message may repair it.
    for bad in ["", "{\"a\":\"x\ny\"}", "{} {}", "nonsense"] {
        client.send(Message::text(bad)).await.unwrap();
        let reply = reply(&mut client).await;
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&Value::Null, &json!(-32700)));
    }
    let large = "é".repeat(3_000_000);
    call(&mut client, "echo", json!(large)).await;
    assert_eq!(reply(&mut client).await["result"], json!(large));
}

#[tokio::test]
async fn messages_may_be_split_anywhere_with_pings_between() {
    let server = serve().await;
    let mut raw = Raw::connect(&server).await;
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":"zwölf"}"#.as_bytes();
    let mut bytes = handshake("localhost", &bearer()).into_bytes();
    // The first message comes right behind the handshake, in pieces that cut a character.
    for (at, piece) in text.chunks(7).enumerate() {
        let is_last = (at + 1) * 7 >= text.len();
        let opcode = u8::from(at == 0);
        bytes.extend(masked(if is_last { 0x80 | opcode } else { opcode }, piece));
        if at == 2 {
            bytes.extend(masked(0x89, b"hello"));
        }
    }
    for piece in bytes.chunks(5) {
        raw.send(piece).await;
    }
    assert_eq!(status(&raw.head().await), 101);
    assert_eq!(raw.frame().await, (0x8a, b"hello".to_vec()));
    let want = r#"{"jsonrpc":"2.0","id":1,"result":"zwölf"}"#;
    assert_eq!(raw.frame().await, (0x81, want.as_bytes().to_vec()));
    raw.send(&masked(0x88, &1000u16.to_be_bytes())).await;
    assert_eq!(raw.frame().await, (0x88, 1000u16.to_be_bytes().to_vec()));
    assert_eq!(raw.rest().await, b"");
}

#[tokio::test]
async fn broken_rules_are_closed_with_their_codes() {
    let server = serve().await;
    let too_long = [&[0x81, 0xff][..], &(33u64 << 20).to_be_bytes(), &[0; 4]].concat();
    for (bytes, code) in [
        (masked(0x82, b"{}"), 1003u16),
        (masked(0x81, b"\xff"), 1007),
        (too_long, 1009),
        (masked(0x80, b"x"), 1002),
        (vec![0x81, 0x01, b'x'], 1002),
    ] {
        let mut raw = Raw::connect(&server).await;
        assert_eq!(status(&raw.ask(&bearer()).await), 101);
        raw.send(&bytes).await;
        let (first, payload) = raw.frame().await;
        assert_eq!((first, &payload[..2]), (0x88, &code.to_be_bytes()[..]), "{bytes:?}");
        assert_eq!(raw.rest().await, b"");
    }
}

#[tokio::test]
async fn replies_owed_come_before_the_goodbye() {
    let server = serve().await;
    let mut client = client(&server).await;
    call(&mut client, "finish", json!({})).await;
    assert_eq!(reply(&mut client).await["result"], Value::Null);
    let Message::Close(Some(frame)) = next(&mut client).await else { panic!("no close frame") };
    assert_eq!(frame.code, CloseCode::Away);
}

#[tokio::test]
async fn a_client_too_slow_is_told_to_come_again() {
    let server = serve().await;
    let mut client = client(&server).await;
    call(&mut client, "flood", json!({"count": 0, "size": 1_000_000})).await;
    within(server.cut.notified()).await;
    loop {
        match next(&mut client).await {
            Message::Text(_) => {}
            Message::Close(Some(frame)) => {
                assert_eq!(frame.code, CloseCode::Again);
                assert_eq!(frame.reason.as_str(), "client is too slow");
                return;
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn fifty_clients_lose_nothing() {
    let server = serve().await;
    let clients = (0..50).map(async |_| {
        let mut client = client(&server).await;
        call(&mut client, "push", json!({"count": 200, "size": 100})).await;
        let mut seen = 0;
        while seen < 200 {
            let message = reply(&mut client).await;
            if message["method"] == "tick" {
                assert_eq!(message["params"][0], seen);
                seen += 1;
            }
        }
        client.close(None).await.unwrap();
        while let Some(message) = within(client.next()).await {
            assert!(matches!(message.unwrap(), Message::Close(_)));
        }
    });
    futures_util::future::join_all(clients).await;
}

#[tokio::test]
async fn abrupt_ends_at_any_byte_leave_the_server_well() {
    let limits = Limits { connections: 2, ..Limits::default() };
    let server = serve_with(gate(), limits, options()).await;
    let mut bytes = handshake("localhost", &bearer()).into_bytes();
    let head = bytes.len();
    bytes.extend(masked(0x81, br#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{}}"#));
    for cut in (0..head).step_by(29).chain(head..bytes.len()) {
        let mut raw = Raw::connect(&server).await;
        raw.send(&bytes[..cut]).await;
    }
    let mut raw = Raw::connect(&server).await;
    while status(&raw.ask(&bearer()).await) != 101 {
        raw = Raw::connect(&server).await;
    }
    raw.send(&bytes[head..]).await;
    assert_eq!(raw.frame().await.1, br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
}
