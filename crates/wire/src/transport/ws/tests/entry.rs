//! Which clients are accepted, and the errors of the others.

use super::*;

async fn status_of(server: &Server, extra: &str) -> u16 {
    status(&Raw::connect(server).await.ask(extra).await)
}

#[tokio::test]
async fn the_token_opens_in_either_way_and_nothing_else_does() {
    let server = serve().await;
    for (extra, want) in [
        (format!("Authorization: Bearer {TOKEN}\r\n"), 101),
        (format!("authorization: bEARER   {TOKEN} \r\n"), 101),
        (format!("Sec-WebSocket-Protocol: bearer.{TOKEN}\r\n"), 101),
        (format!("Sec-WebSocket-Protocol: a , roder.remote.v1,bearer.{TOKEN}\r\n"), 101),
        (format!("Sec-WebSocket-Protocol: a\r\nSec-WebSocket-Protocol: bearer.{TOKEN}\r\n"), 101),
        (format!("Authorization: Bearer x\r\nSec-WebSocket-Protocol: bearer.{TOKEN}\r\n"), 101),
        (String::new(), 401),
        ("Authorization: Bearer\r\n".into(), 401),
        ("Authorization: Bearer wrong\r\n".into(), 401),
        (format!("Authorization: Basic {TOKEN}\r\n"), 401),
        (format!("Authorization: {TOKEN}\r\n"), 401),
        (format!("Authorization: Bearer {TOKEN}x\r\n"), 401),
        (format!("Sec-WebSocket-Protocol: {TOKEN}\r\n"), 401),
        (format!("Sec-WebSocket-Protocol: Bearer.{TOKEN}\r\n"), 401),
        ("Sec-WebSocket-Protocol: roder.remote.v1\r\n".into(), 401),
        (format!("X-Token: {TOKEN}\r\n"), 401),
    ] {
        // Each success resets the count of failures.
        assert_eq!(status_of(&server, &bearer()).await, 101);
        assert_eq!(status_of(&server, &extra).await, want, "{extra}");
    }
}

#[tokio::test]
async fn the_url_is_no_place_for_a_token() {
    let server = serve().await;
    let mut raw = Raw::connect(&server).await;
    let request = handshake("localhost", "");
    let target = format!("GET /?token={TOKEN}&access_token={TOKEN}&bearer={TOKEN} ");
    raw.send(request.replacen("GET / ", &target, 1).as_bytes()).await;
    assert_eq!(status(&raw.head().await), 401);
}

#[tokio::test]
async fn only_the_known_subprotocol_is_echoed() {
    let server = serve().await;
    for (offered, echoed) in [
        (format!("bearer.{TOKEN}"), None),
        (format!("roder.remote.v1, bearer.{TOKEN}"), Some("roder.remote.v1")),
        (format!("bearer.{TOKEN},roder.remote.v1"), Some("roder.remote.v1")),
        (format!("bearer.{TOKEN}, roder.remote.v2"), None),
    ] {
        let extra = format!("Sec-WebSocket-Protocol: {offered}\r\n");
        let head = Raw::connect(&server).await.ask(&extra).await;
        assert_eq!(status(&head), 101);
        assert_eq!(header(&head, "Sec-WebSocket-Protocol"), echoed, "{offered}");
        // The key is the one of RFC 6455, section 1.3, and so is what it comes to.
        let accept = header(&head, "Sec-WebSocket-Accept");
        assert_eq!(accept, Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    }
}

#[tokio::test]
async fn a_refusal_says_how_to_enter_and_closes() {
    let server = serve().await;
    let mut raw = Raw::connect(&server).await;
    let head = raw.ask("").await;
    assert_eq!(header(&head, "WWW-Authenticate"), Some("Bearer"));
    assert_eq!(header(&head, "Retry-After"), None);
    assert_eq!(header(&head, "Upgrade"), None);
    assert_eq!(raw.rest().await, b"unauthorized\n");
}

#[tokio::test]
async fn other_requests_get_pages_or_nothing() {
    let server = serve().await;
    for (request, want, kind, body) in [
        ("GET /readyz", 200, "text/plain", "ok\n"),
        ("GET /healthz", 200, "text/plain", "ok\n"),
        ("GET /readyz?verbose", 200, "text/plain", "ok\n"),
        ("GET /pair", 200, "text/html; charset=utf-8", "<!doctype html>"),
        ("GET /", 404, "text/plain; charset=utf-8", "not found\n"),
        ("GET /readyz/", 404, "text/plain; charset=utf-8", "not found\n"),
        ("POST /readyz", 404, "text/plain; charset=utf-8", "not found\n"),
    ] {
        let mut raw = Raw::connect(&server).await;
        raw.send(format!("{request} HTTP/1.1\r\nHost: whatever\r\n\r\n").as_bytes()).await;
        let head = raw.head().await;
        assert_eq!((status(&head), header(&head, "Content-Type")), (want, Some(kind)), "{request}");
        let got = String::from_utf8(raw.rest().await).unwrap();
        assert!(got.starts_with(body), "{request}: {got}");
        assert_eq!(header(&head, "Content-Length"), Some(got.len().to_string().as_str()));
        assert!(!got.contains(TOKEN));
    }
}

#[tokio::test]
async fn broken_handshakes_are_told_what_is_wrong() {
    let server = serve().await;
    let good = handshake("localhost", &bearer());
    for (from, to, want) in [
        ("GET /", "POST /", 400),
        ("Connection: Upgrade", "Connection: close", 400),
        ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 8", 426),
        ("Sec-WebSocket-Key: dGhl", "Sec-WebSocket-Key: ", 400),
        ("Sec-WebSocket-Key", "X", 400),
        ("Host: localhost\r\n", "", 400),
        ("Host: localhost", "Host: localhost\r\nHost: localhost", 400),
        ("HTTP/1.1", "HTTP/9", 400),
        ("Connection: Upgrade", "Connection: keep-alive, UPGRADE", 101),
    ] {
        let mut raw = Raw::connect(&server).await;
        raw.send(good.replacen(from, to, 1).as_bytes()).await;
        assert_eq!(status(&raw.head().await), want, "{to}");
    }
    let mut raw = Raw::connect(&server).await;
    raw.send(format!("GET / HTTP/1.1\r\nX: {}", "a".repeat(20_000)).as_bytes()).await;
    assert_eq!(status(&raw.head().await), 431);
}

#[tokio::test]
async fn foreign_hosts_and_pages_are_refused_even_with_the_token() {
    let gate = gate().allow_origin("https://app.example");
    let server = serve_with(gate, Limits::default(), options()).await;
    let port = server.address.port();
    for (host, origin, want) in [
        (format!("127.0.0.1:{port}"), None, 101),
        (format!("localhost:{port}"), None, 101),
        ("[::1]".into(), None, 101),
        ("evil.example".into(), None, 403),
        ("192.168.1.2".into(), None, 403),
        ("localhost".into(), Some("https://app.example"), 101),
        ("localhost".into(), Some("http://localhost:3000"), 101),
        ("127.0.0.1".into(), Some("http://127.0.0.1"), 101),
        ("localhost".into(), Some("https://evil.example"), 403),
        ("localhost".into(), Some("null"), 403),
        ("evil.example".into(), Some("http://evil.example"), 403),
    ] {
        let origin = origin.map(|origin| format!("Origin: {origin}\r\n")).unwrap_or_default();
        let extra = format!("{origin}{}", bearer());
        let mut raw = Raw::connect(&server).await;
        raw.send(handshake(&host, &extra).as_bytes()).await;
        assert_eq!(status(&raw.head().await), want, "{host} {origin}");
    }
    // A page that guesses is refused for what it is and does not lock its user out.
    for _ in 0..5 {
        assert_eq!(status_of(&server, "Origin: https://evil.example\r\n").await, 403);
    }
    assert_eq!(status_of(&server, &bearer()).await, 101);
}

#[tokio::test]
async fn guessing_costs_time_by_address() {
    let server = serve().await;
    let wrong = "Authorization: Bearer wrong\r\n";
    let attempt = async |from: &str, extra: &str| {
        let head = Raw::connect_from(&server, from).await.ask(extra).await;
        (status(&head), header(&head, "Retry-After").map(str::to_owned))
    };
    let some = |seconds: &str| Some(seconds.to_owned());
    assert_eq!(attempt("127.0.0.2", wrong).await, (401, None));
    assert_eq!(attempt("127.0.0.2", wrong).await, (401, None));
    assert_eq!(attempt("127.0.0.2", wrong).await, (401, some("1")));
    assert_eq!(attempt("127.0.0.2", wrong).await, (429, some("1")));
    assert_eq!(attempt("127.0.0.2", &bearer()).await, (429, some("1")));
    assert_eq!(attempt("127.0.0.3", &bearer()).await, (101, None));
    pass(Duration::from_secs(1)).await;
    assert_eq!(attempt("127.0.0.2", wrong).await, (401, some("2")));
    pass(Duration::from_secs(2)).await;
    assert_eq!(attempt("127.0.0.2", &bearer()).await, (101, None));
    assert_eq!(attempt("127.0.0.2", wrong).await, (401, None));
}

#[tokio::test]
async fn a_token_that_expired_opens_no_more_but_closes_nothing() {
    let gate = gate().expires_in(Duration::from_secs(600));
    let server = serve_with(gate, Limits::default(), options()).await;
    let mut inside = client(&server).await;
    pass(Duration::from_secs(600)).await;
    assert_eq!(status_of(&server, &bearer()).await, 401);
    call(&mut inside, "echo", json!([1])).await;
    assert_eq!(reply(&mut inside).await["result"], json!([1]));
}

#[tokio::test]
async fn slow_handshakes_are_given_up() {
    let server = serve().await;
    let mut silent = Raw::connect(&server).await;
    let mut half = Raw::connect(&server).await;
    half.send(b"GET / HTTP/1.1\r\nHost: ").await;
    // Both were accepted once a later one was answered.
    assert_eq!(status_of(&server, &bearer()).await, 101);
    pass(Duration::from_secs(11)).await;
    assert_eq!(silent.rest().await, b"");
    assert_eq!(half.rest().await, b"");
}

#[tokio::test]
async fn a_handshake_may_come_byte_by_byte() {
    let server = serve().await;
    let mut raw = Raw::connect(&server).await;
    raw.stream.set_nodelay(true).unwrap();
    for byte in handshake("localhost", &bearer()).bytes() {
        raw.send(&[byte]).await;
    }
    assert_eq!(status(&raw.head().await), 101);
}

#[tokio::test]
async fn connections_are_bounded() {
    let limits = Limits { connections: 1, ..Limits::default() };
    let server = serve_with(gate(), limits, options()).await;
    let inside = client(&server).await;
    let head = Raw::connect(&server).await.ask(&bearer()).await;
    assert_eq!((status(&head), header(&head, "Retry-After")), (503, Some("1")));
    // Abruptly: no goodbye, but the place is free again.
    drop(inside);
    while status_of(&server, &bearer()).await != 101 {}
}

#[tokio::test]
async fn attack_half_open_connections_do_not_block_others() {
    let server = serve().await;
    let mut silent = Vec::new();
    for host in 2..10 {
        for _ in 0..100 {
            let mut one = Raw::connect_from(&server, &format!("127.0.0.{host}")).await;
            one.send(b"GET / HTTP/1.1\r\nHost: ").await;
            silent.push(one);
        }
        assert_eq!(status_of(&server, &bearer()).await, 101);
    }
    // Also from the address of those who are silent.
    let mut right = Raw::connect_from(&server, "127.0.0.9").await;
    assert_eq!(status(&right.ask(&bearer()).await), 101);
    // The oldest had to go for it.
    assert_eq!(silent[0].rest().await, b"");
}

#[tokio::test]
async fn attack_a_short_token_opens_no_listener() {
    let gate = |token: &str| Gate::new(Token::new(token).unwrap());
    let everywhere = "0.0.0.0:0".parse().unwrap();
    let refused = Listener::bind(everywhere, gate("dev-token"), Limits::default()).await;
    assert_eq!(refused.unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    let local = "127.0.0.1:0".parse().unwrap();
    assert!(Listener::bind(local, gate("dev-token"), Limits::default()).await.is_ok());
    assert!(Listener::bind(local, gate("dev"), Limits::default()).await.is_err());
}

#[test]
fn addresses_are_read_strictly() {
    assert_eq!(parse_address("ws://0.0.0.0:0").unwrap().to_string(), "0.0.0.0:0");
    assert_eq!(parse_address("ws://[::1]:9786/").unwrap().to_string(), "[::1]:9786");
    for bad in [
        "wss://1.2.3.4:5",
        "1.2.3.4:5",
        "ws://localhost:5",
        "ws://1.2.3.4",
        "ws://::1:5",
        "stdio://",
    ] {
        assert!(parse_address(bad).is_err(), "{bad}");
    }
}
