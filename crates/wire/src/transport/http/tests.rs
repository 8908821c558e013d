//! A site on loopback: connections that go on asking, bodies, and encryption.

use std::{sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinHandle,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject as _},
    },
};

use super::*;

const ONE: (&[u8], &[u8]) =
    (include_bytes!("fixtures/one.pem"), include_bytes!("fixtures/one.key"));
const TWO: (&[u8], &[u8]) =
    (include_bytes!("fixtures/two.pem"), include_bytes!("fixtures/two.key"));

/// Says what it was asked.
struct Echo;

impl Site for Echo {
    type Guest = ();

    async fn answer(&self, request: Request) -> Reply<()> {
        let Request { head, body, is_encrypted, .. } = request;
        let body = String::from_utf8_lossy(&body).into_owned();
        let text = format!("{} {} {body} {is_encrypted}", head.method, head.path);
        Answer::new(200, "text/plain", text).into()
    }
}

struct Running {
    address: SocketAddr,
    accepting: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(tls: Option<Tls>) -> Running {
    let limits = Limits { stay: Some(Duration::from_secs(60)), body: 64, ..Limits::default() };
    let mut server = Server::bind("127.0.0.1:0".parse().unwrap(), Echo, limits, tls).await.unwrap();
    let address = server.local_addr().unwrap();
    let accepting = tokio::spawn(async move { while server.accept().await.is_ok() {} });
    Running { address, accepting }
}

/// Sends a request and reads its whole answer: status and body.
async fn ask(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), request: &str) -> (u16, String) {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut read = Vec::new();
    // One byte at a time, so that nothing of the next answer is taken.
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let status = head.split(' ').nth(1).unwrap().parse().unwrap();
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            let length = length.map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                return (status, body.to_owned());
            }
        }
        let byte = stream.read_u8().await;
        read.push(byte.unwrap_or_else(|error| panic!("{error} after {text:?} for {request:?}")));
    }
}

#[tokio::test]
async fn one_connection_may_ask_several_times() {
    let server = serve(None).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let get = "GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n";
    for _ in 0..3 {
        assert_eq!(ask(&mut stream, get).await, (200, "GET /a  false".to_owned()));
    }
    let post = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";
    assert_eq!(ask(&mut stream, post).await, (200, "POST /b hi false".to_owned()));
    assert_eq!(ask(&mut stream, get).await.0, 200);
}

#[tokio::test]
async fn attack_bodies_are_bounded_and_only_where_they_belong() {
    let server = serve(None).await;
    let long = "x".repeat(65);
    for (request, status) in [
        (format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 65\r\n\r\n{long}"), 413),
        ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi".to_owned(), 400),
        ("GET / HTTP/1.0\r\nHost: x\r\n\r\n".to_owned(), 400),
        ("GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(), 400),
    ] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        assert_eq!(ask(&mut stream, &request).await.0, status, "{request}");
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap_or(0), 0, "it ends: {request}");
    }
}

#[tokio::test]
async fn requests_that_come_at_once_are_answered_in_order() {
    let server = serve(None).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let post = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n";
    let all = format!("GET /a HTTP/1.1\r\nHost: x\r\n\r\n{post}hiGET /c HTTP/1.1\r\n\r\n");
    assert_eq!(ask(&mut stream, &all).await, (200, "GET /a  false".to_owned()));
    assert_eq!(ask(&mut stream, "").await, (200, "POST /b hi false".to_owned()));
    assert_eq!(ask(&mut stream, "").await, (200, "GET /c  false".to_owned()));
    assert_eq!(ask(&mut stream, "GET /d HTTP/1.1\r\n\r\n").await.0, 200);
}

#[tokio::test]
async fn attack_heads_that_readers_disagree_about_are_the_last_word() {
    let server = serve(None).await;
    let inner = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
    let chunk = format!("{:x}\r\n{inner}\r\n0\r\n\r\n", inner.len());
    let post = "POST / HTTP/1.1\r\nHost: x\r\n";
    let get = "GET / HTTP/1.1\r\nHost: x\r\n";
    for request in [
        format!("{post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}"),
        format!("{post}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n{chunk}"),
        format!("{post}Transfer-Encoding: chunked\r\n\r\n{chunk}"),
        format!("{post}Transfer-Encoding: xchunked\r\nContent-Length: 0\r\n\r\n{inner}"),
        format!("{post}Content-Length: 0\r\nContent-Length: 4\r\n\r\n{inner}"),
        format!("{post}Content-Length: 4\r\nContent-Length: 4\r\n\r\n{inner}"),
        format!("{post}Content-Length: 4,4\r\n\r\n{inner}"),
        format!("{post}Content-Length: +4\r\n\r\n{inner}"),
        format!("{get}Host: y\r\n\r\n{inner}"),
        format!("{get}Host: x\r\n\r\n{inner}"),
        format!("{get}X: a\r\n b\r\n\r\n{inner}"),
        format!("{get}X : a\r\n\r\n{inner}"),
        format!("{get}X: a\nY: b\r\n\r\n{inner}"),
        format!("{get}X: a\rY: b\r\n\r\n{inner}"),
        format!("{get}X: a\0b\r\n\r\n{inner}"),
        format!("GET / HTTP/1.1\nHost: x\n\n{inner}"),
        format!("\r\n{get}\r\n{inner}"),
        format!("GET / HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n{inner}"),
        format!("GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n{inner}"),
        format!("GET x HTTP/1.1\r\nHost: x\r\n\r\n{inner}"),
    ] {
        // Also behind one that is right.
        for before in ["", "GET /first HTTP/1.1\r\nHost: x\r\n\r\n"] {
            let mut stream = TcpStream::connect(server.address).await.unwrap();
            let mut all = format!("{before}{request}");
            if !before.is_empty() {
                assert_eq!(ask(&mut stream, &all).await.0, 200);
                all.clear();
            }
            assert_eq!(ask(&mut stream, &all).await.0, 400, "{request:?}");
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
            assert!(rest.is_empty(), "a second answer to {request:?}");
        }
    }
}

/// A client that trusts this certificate alone.
async fn encrypted(
    address: SocketAddr,
    trusted: &[u8],
) -> std::io::Result<tokio_rustls::client::TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(trusted).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

#[tokio::test]
async fn certificates_are_replaced_while_it_listens() {
    let tls = Tls::new(ONE.0, ONE.1).unwrap();
    let server = serve(Some(tls.clone())).await;
    let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut before = encrypted(server.address, ONE.0).await.unwrap();
    assert_eq!(ask(&mut before, get).await, (200, "GET /  true".to_owned()));
    assert!(encrypted(server.address, TWO.0).await.is_err());
    // What is broken, or does not belong together, changes nothing.
    assert!(tls.replace(TWO.0, ONE.1).is_err());
    assert!(tls.replace(b"", TWO.1).is_err());
    assert!(encrypted(server.address, ONE.0).await.is_ok());
    tls.replace(TWO.0, TWO.1).unwrap();
    let mut after = encrypted(server.address, TWO.0).await.unwrap();
    assert_eq!(ask(&mut after, get).await.0, 200);
    assert_eq!(ask(&mut before, get).await.0, 200, "those that are there stay");
    // Who does not speak it gets nothing.
    let mut plain = TcpStream::connect(server.address).await.unwrap();
    plain.write_all(get.as_bytes()).await.unwrap();
    let mut read = Vec::new();
    let _ = plain.read_to_end(&mut read).await;
    assert!(!read.starts_with(b"HTTP"), "{read:?}");
}
