//! Clients that mean no good change nothing for others.

use super::*;

const COUNT: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"t.count\"}\n";

#[tokio::test]
async fn an_overlong_line_gets_one_error_and_the_connection_goes_on() {
    let mut input = vec![b'x'; 40 * 1024 * 1024];
    input.push(b'\n');
    input.extend_from_slice(COUNT.as_bytes());
    let (got, outcome) = serve(Options::default()).exchange(&input).await;
    let lines: Vec<&str> = got.lines().collect();
    assert_eq!(
        lines,
        [
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error: frame is longer than 16777216 bytes"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":1}"#
        ]
    );
    assert!(matches!(outcome, Outcome::PeerClosed));
}

#[tokio::test]
async fn deep_nesting_is_a_parse_error() {
    for depth in [128, 100_000] {
        let mut input = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"t.echo\",\"params\":{}{}}}\n",
            "[".repeat(depth),
            "]".repeat(depth)
        );
        input += &"[".repeat(depth);
        input += "\n";
        input += COUNT;
        let (got, _) = serve(Options::default()).exchange(input.as_bytes()).await;
        let lines: Vec<&str> = got.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[0].contains("-32700") && lines[0].contains("recursion limit exceeded"));
        assert!(lines[1].contains("-32700"));
        assert!(lines[2].contains("\"result\":1"));
    }
}

#[tokio::test]
async fn invalid_utf8_is_answered_or_closes() {
    let mut input = COUNT.as_bytes().to_vec();
    input.extend_from_slice(b"{\"x\":\"\xff\"}\n");
    input.extend_from_slice(COUNT.as_bytes());

    let (got, outcome) = serve(Options::default()).exchange(&input).await;
    assert_eq!(got.lines().count(), 3);
    assert!(got.contains("valid UTF-8"));
    assert!(matches!(outcome, Outcome::PeerClosed));

    let strict = serve_with(Ndjson::default(), Options::default(), |rpc| {
        rpc.on_bad_frame(OnBadFrame::Close)
    });
    let (got, outcome) = strict.exchange(&input).await;
    assert_eq!(got, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n");
    assert_eq!(outcome.to_string(), "stream did not contain valid UTF-8");
}

#[tokio::test]
async fn broken_headers_end_the_connection() {
    for (policy, replies) in [(OnBadFrame::Answer, 1), (OnBadFrame::Close, 0)] {
        for input in
            ["\r\n", "Content-Length: 99999999999999\r\n\r\n", "Content-Length: 9\r\n\r\n{"]
        {
            let peer =
                serve_with(Lsp::default(), Options::default(), move |rpc| rpc.on_bad_frame(policy));
            let (got, outcome) = peer.exchange(input.as_bytes()).await;
            assert!(matches!(outcome, Outcome::Framing(_)), "{input:?}: {outcome}");
            assert_eq!(got.matches("-32700").count(), replies, "{input:?}");
        }
    }
}

#[tokio::test]
async fn half_a_request_is_nothing_until_the_end() {
    let mut peer = serve(Options::default());
    for piece in ["{\"jsonrpc\":\"2.0\",", "\"id\":1,\"method\":", "\"t.count\"}"] {
        peer.send(piece).await;
        tokio::task::yield_now().await;
        assert_eq!(peer.world.runs.load(Ordering::SeqCst), 0);
    }
    let world = Arc::clone(&peer.world);
    let (got, _) = peer.exchange(b"").await;
    assert_eq!(got, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n");
    assert_eq!(world.runs.load(Ordering::SeqCst), 1);
    let (got, _) = serve(Options::default()).exchange(b"{\"jsonrpc\":").await;
    assert!(got.contains("-32700"));
}

#[tokio::test]
async fn a_subscriber_that_never_reads_is_cut_off() {
    let mut peer = serve(Options::default());
    peer.request(1, "t.flood", json!({"bytes": 10_000})).await;
    let outcome = within(&mut peer.served).await.unwrap();
    assert_eq!(outcome.to_string(), "connection cut off: subscriber is too slow");
    let sent = peer.world.sent.load(Ordering::SeqCst) * 10_000;
    // High-water mark, queue and the buffer in between.
    assert!(sent < 13 * 1024 * 1024, "{sent}");
}

#[tokio::test]
async fn a_stream_waits_for_a_reader() {
    let mut peer = serve(Options::default());
    peer.request(1, "t.stream", json!({"bytes": 100_000})).await;
    assert_eq!(peer.line().await, r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
    let full = 12 * 1024 * 1024 / 100_000;
    let world = Arc::clone(&peer.world);
    until(|| world.sent.load(Ordering::SeqCst) >= full).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let sent = peer.world.sent.load(Ordering::SeqCst);
    assert!(sent < full + 10, "{sent}");
    for _ in 0..sent + 10 {
        assert!(peer.line().await.contains("tick"));
    }
    drop(peer.io);
    assert!(matches!(within(peer.served).await.unwrap(), Outcome::Io(_)));
    until(|| world.dropped.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test(start_paused = true)]
async fn requests_are_not_read_while_replies_are_not() {
    let mut peer = serve(Options::default());
    let request = "{\"jsonrpc\":\"2.0\",\"method\":\"t.count\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"t.big\",\"params\":{\"bytes\":100000}}\n";
    let flood = async {
        loop {
            peer.io.write_all(request.as_bytes()).await.unwrap();
        }
    };
    // The clock is stopped and moves only when no task can do anything.
    let stalled = tokio::time::timeout(Duration::from_secs(1), flood).await;
    assert!(stalled.is_err());
    let runs = peer.world.runs.load(Ordering::SeqCst);
    assert!((40..60).contains(&runs), "{runs}");
    // The connection is stopped, not broken.
    for _ in 0..runs {
        assert!(peer.line().await.len() > 100_000);
    }
}

#[tokio::test]
async fn requests_in_flight_are_bounded() {
    let mut peer = serve(Options { max_pending: 3, ..Options::default() });
    for id in 0..5 {
        peer.request(id, "t.gate", json!({})).await;
    }
    for id in 3..5 {
        let reply = peer.reply().await;
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!(id), &json!(-32000)));
    }
    peer.world.gate.add_permits(3);
    for _ in 0..3 {
        assert_eq!(peer.reply().await["result"], "passed");
    }
    assert_eq!(peer.call("t.count", json!({})).await["result"], 4);
}

#[tokio::test]
async fn bytes_in_flight_are_bounded() {
    let mut peer = serve(Options { max_pending_bytes: 1000, ..Options::default() });
    let padding = "x".repeat(600);
    for id in 0..2 {
        peer.request(id, "t.gate", json!({ "padding": padding })).await;
    }
    assert_eq!(peer.reply().await["error"]["code"], -32000);
    peer.world.gate.add_permits(1);
    assert_eq!(peer.reply().await["id"], 0);
}

#[tokio::test]
async fn calls_are_dropped_with_the_connection() {
    let mut peer = serve(Options::default());
    peer.request(1, "t.gate", json!({})).await;
    let world = Arc::clone(&peer.world);
    until(|| world.runs.load(Ordering::SeqCst) == 1).await;
    peer.served.abort();
    until(|| world.dropped.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_is_wholly_gone_does_not_keep_its_calls() {
    for order in [Order::Concurrent, Order::Sequential] {
        let (mut near, far) = tokio::net::UnixStream::pair().unwrap();
        let world = Arc::new(World::default());
        let theirs = Arc::clone(&world);
        let options = Options { order, ..Options::default() };
        let served =
            tokio::spawn(serve_connection(far, Ndjson::default(), options, move |connection| {
                JsonRpc::new(Table::new([METHODS]), Cx { connection, world: theirs })
            }));
        near.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"t.gate\"}\n").await.unwrap();
        until(|| world.runs.load(Ordering::SeqCst) == 1).await;
        drop(near);
        assert!(matches!(within(served).await.unwrap(), Outcome::PeerClosed));
        assert_eq!(world.dropped.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn last_bytes_are_not_offered_forever() {
    let mut peer = serve(Options::default());
    peer.request(1, "t.big", json!({"bytes": 1_000_000})).await;
    peer.io.shutdown().await.unwrap();
    let outcome = within(&mut peer.served).await.unwrap();
    assert!(matches!(outcome, Outcome::Cut(_)), "{outcome}");
}
