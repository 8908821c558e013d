//! The client against a socket that answers byte for byte.

use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{Client, Error, Request};

async fn request_of(socket: &mut TcpStream) -> String {
    let mut seen = Vec::new();
    let mut buffer = [0; 1024];
    while !seen.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = socket.read(&mut buffer).await.unwrap();
        assert!(count > 0, "the client left before its headers were whole");
        seen.extend_from_slice(&buffer[..count]);
    }
    String::from_utf8(seen).unwrap()
}

async fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/x", listener.local_addr().unwrap());
    (listener, url)
}

fn get(url: &str) -> Request {
    Request { url: url.into(), idle: Duration::from_secs(30), ..Request::default() }
}

#[tokio::test]
async fn an_answer_comes_in_pieces_and_has_an_end() {
    let (listener, url) = listener().await;
    let server = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let seen = request_of(&mut socket).await;
        socket
            .write_all(b"HTTP/1.1 200 OK\r\nx-a: b\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
            .await
            .unwrap();
        seen
    });
    let request = Request {
        headers: vec![("X-Key".into(), "one".into()), ("x-key".into(), "two".into())],
        body: Some(Bytes::from_static(b"body")),
        ..get(&url)
    };
    let mut response = Client::new().send(request).await.unwrap();
    assert_eq!((response.status(), response.header("x-a")), (200, Some("b")));
    assert_eq!(response.bytes(4).await.unwrap(), b"abcd");
    let seen = server.await.unwrap();
    assert!(seen.starts_with("POST /x HTTP/1.1\r\n"), "{seen}");
    assert!(seen.contains("x-key: two\r\n") && !seen.contains("one"), "{seen}");
}

#[tokio::test]
async fn silence_ends_at_the_idle_time() {
    let (listener, url) = listener().await;
    let request = Request { idle: Duration::from_millis(20), ..get(&url) };
    let error = Client::new().send(request).await.unwrap_err();
    assert_eq!(error, Error::Idle(Duration::from_millis(20)));
    drop(listener);
}

#[tokio::test]
async fn a_lost_connection_is_no_end() {
    let (listener, url) = listener().await;
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        request_of(&mut socket).await;
        socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc").await.unwrap();
    });
    let mut response = Client::new().send(get(&url)).await.unwrap();
    let error = response.bytes(100).await.unwrap_err();
    assert!(matches!(error, Error::Lost(_)), "{error}");
}

#[tokio::test]
async fn a_refused_connection_is_reported_without_the_address() {
    let (listener, url) = listener().await;
    drop(listener);
    let error = Client::new().send(get(&format!("{url}?key=secret"))).await.unwrap_err();
    assert!(matches!(error, Error::Connect(_)), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (listener, url) = listener().await;
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        request_of(&mut socket).await;
        socket
            .write_all(
                b"HTTP/1.1 307 x\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
            )
            .await
            .unwrap();
    });
    assert_eq!(Client::new().send(get(&url)).await.unwrap().status(), 307);
}

#[tokio::test]
async fn headers_that_cannot_be_sent_are_reported_without_their_value() {
    let request = Request {
        headers: vec![("x-api-key".into(), "sec\nret".into())],
        ..get("http://127.0.0.1:1/")
    };
    assert!(!format!("{request:?}").contains("ret\n") && !format!("{request:?}").contains("sec"));
    let error = Client::new().send(request).await.unwrap_err();
    assert_eq!(error.to_string(), "header x-api-key has characters that no header may have");
    let error = Client::new().send(get("no address")).await.unwrap_err();
    assert!(matches!(error, Error::Invalid(_)), "{error}");
}
