//! A listener on this machine alone, for the one answer that a browser brings back: each request is read up to
//! the end of its head, handed out, and answered with a short page.
//!
//! It knows neither what is waited for nor what a query means. What visitors may hold up is bounded.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::reason;

/// The longest head that is read.
const MAX_HEAD: usize = 16 << 10;
const MAX_HEADERS: usize = 64;
/// Visitors at the same time; others wait until one is gone.
const VISITORS: usize = 16;
/// How long a visitor may take to say what it wants, and to take its answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A listener on 127.0.0.1. Dropping it closes the port and lets every visitor go.
pub struct Loopback {
    port: u16,
    visits: mpsc::Receiver<Visit>,
    _open: DropGuard,
}

/// One request that waits for its answer.
#[derive(Debug)]
pub struct Visit {
    /// What is asked for, as `GET`.
    pub method: String,
    /// The path, as it came.
    pub path: String,
    /// What follows the question mark, as it came.
    pub query: String,
    stream: TcpStream,
    /// Its place among the visitors, until it has its answer.
    _place: OwnedSemaphorePermit,
}

impl Loopback {
    /// Listens on a port, or on any that is free if that one is taken; 0 is any.
    ///
    /// # Errors
    /// If there is no free port.
    pub async fn bind(port: u16) -> io::Result<Self> {
        let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            Ok(listener) => listener,
            Err(_) if port != 0 => TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?,
            Err(error) => return Err(error),
        };
        let port = listener.local_addr()?.port();
        let (sender, visits) = mpsc::channel(VISITORS);
        let token = CancellationToken::new();
        tokio::spawn(token.clone().run_until_cancelled_owned(accept(
            listener,
            sender,
            token.clone(),
        )));
        Ok(Self { port, visits, _open: token.drop_guard() })
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The next request; none if nothing can be accepted any more.
    pub async fn next(&mut self) -> Option<Visit> {
        self.visits.recv().await
    }
}

async fn accept(listener: TcpListener, visits: mpsc::Sender<Visit>, over: CancellationToken) {
    let places = Arc::new(Semaphore::new(VISITORS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of descriptors, most likely: others are closed meanwhile.
                tracing::debug!(%error, "a visitor of a sign-in cannot be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let visits = visits.clone();
        let work = async move {
            if let Ok(Some(visit)) = tokio::time::timeout(PATIENCE, read(stream, place)).await {
                // A receiver that is gone waits for no visitor.
                let _ = visits.send(visit).await;
            }
        };
        tokio::spawn(over.clone().run_until_cancelled_owned(work));
    }
}

/// Reads a head; none if it is no request. One that cannot be read gets an error.
async fn read(mut stream: TcpStream, place: OwnedSemaphorePermit) -> Option<Visit> {
    let mut bytes = Vec::with_capacity(1024);
    loop {
        match parse(&bytes) {
            Ok(Some(Head { method, path, query })) => {
                return Some(Visit { method, path, query, stream, _place: place });
            }
            Ok(None) if bytes.len() < MAX_HEAD => {}
            Ok(None) | Err(Malformed) => {
                write(stream, 400, "this is not a request that can be read").await;
                return None;
            }
        }
        let room = (MAX_HEAD - bytes.len()) as u64;
        let count = (&mut stream).take(room).read_buf(&mut bytes).await.ok()?;
        if count == 0 {
            return None;
        }
    }
}

struct Head {
    method: String,
    path: String,
    query: String,
}

/// What was sent is no HTTP/1.
struct Malformed;

fn parse(bytes: &[u8]) -> Result<Option<Head>, Malformed> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    if request.parse(bytes).map_err(|_| Malformed)?.is_partial() {
        return Ok(None);
    }
    let (Some(method), Some(target)) = (request.method, request.path) else {
        return Err(Malformed);
    };
    let target = target.split('#').next().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Ok(Some(Head { method: method.to_owned(), path: path.to_owned(), query: query.to_owned() }))
}

impl Visit {
    /// Answers with a page of one sentence, which must be plain text.
    pub async fn answer(self, status: u16, sentence: &str) {
        write(self.stream, status, sentence).await;
    }
}

/// Writes an answer and waits, within a bound, until it has gone out.
async fn write(mut stream: TcpStream, status: u16, sentence: &str) {
    let escaped = sentence.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let body = format!(
        "<!doctype html><meta charset=\"utf-8\"><title>Rookery</title>\
         <body style=\"font-family:sans-serif;margin:4em\"><p>{escaped}</p>\n"
    );
    let head = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n\
         Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        reason(status).unwrap_or("Error"),
        body.len()
    );
    let sent = async {
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body.as_bytes()).await?;
        stream.shutdown().await?;
        // A socket that is closed with unread bytes in it takes its answer back.
        let mut rest = [0; 1024];
        for _ in 0..MAX_HEAD / rest.len() {
            if stream.read(&mut rest).await? == 0 {
                break;
            }
        }
        io::Result::Ok(())
    };
    // A visitor that does not take its answer has none.
    let _ = tokio::time::timeout(PATIENCE, sent).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn visit(port: u16, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn requests_are_handed_out_and_answered_one_by_one() {
        let mut door = Loopback::bind(0).await.unwrap();
        let port = door.port();
        let asks = tokio::spawn(async move {
            visit(port, "GET /a/b?code=1&x=%20#y HTTP/1.1\r\nHost: h\r\n\r\n").await
        });
        let visit = door.next().await.unwrap();
        assert_eq!((visit.method.as_str(), visit.path.as_str()), ("GET", "/a/b"));
        assert_eq!(visit.query, "code=1&x=%20");
        visit.answer(200, "a <b> & c").await;
        let answer = asks.await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.contains("a &lt;b&gt; &amp; c"), "{answer}");
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_replaced_by_a_free_one_and_closed_at_the_end() {
        let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = taken.local_addr().unwrap().port();
        let door = Loopback::bind(port).await.unwrap();
        assert_ne!(door.port(), port);
        let free = door.port();
        drop(door);
        // The task that holds the port ends when it is next polled.
        while TcpListener::bind((Ipv4Addr::LOCALHOST, free)).await.is_err() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn what_is_no_request_is_refused_and_holds_no_one_up() {
        let mut door = Loopback::bind(0).await.unwrap();
        let port = door.port();
        let nonsense = visit(port, "\u{1}\u{2} nonsense\r\n\r\n").await;
        assert!(nonsense.starts_with("HTTP/1.1 400 "), "{nonsense}");
        let endless = visit(port, &format!("GET /{} HTTP/1.1\r\n", "a".repeat(MAX_HEAD))).await;
        assert!(endless.starts_with("HTTP/1.1 400 "), "{endless}");
        let silent: Vec<TcpStream> =
            futures_util::future::join_all((1..VISITORS).map(|_| async move {
                TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap()
            }))
            .await;
        let asks = tokio::spawn(visit_static(port));
        let visit = door.next().await.unwrap();
        assert_eq!(visit.path, "/x");
        visit.answer(404, "no").await;
        assert!(asks.await.unwrap().starts_with("HTTP/1.1 404 Not Found\r\n"));
        drop(silent);
    }

    async fn visit_static(port: u16) -> String {
        visit(port, "GET /x HTTP/1.1\r\n\r\n").await
    }
}
