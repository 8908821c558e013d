//! A server that answers byte for byte what it is told to, one connection after another.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// What one connection is answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    bytes: Vec<u8>,
    is_held: bool,
}

impl Reply {
    /// An answer with a status, headers and a body.
    pub(crate) fn status(status: u16, headers: &str, body: &str) -> Self {
        let head = format!(
            "HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n",
            body.len()
        );
        Self { bytes: [head.as_bytes(), body.as_bytes()].concat(), is_held: false }
    }

    /// A stream that comes in these pieces and ends cleanly.
    pub(crate) fn stream<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut reply = Self::open(pieces);
        reply.bytes.extend_from_slice(b"0\r\n\r\n");
        reply
    }

    /// A stream that breaks off.
    pub(crate) fn broken(bytes: &[u8]) -> Self {
        Self::open([bytes])
    }

    /// A stream that neither goes on nor ends.
    pub(crate) fn held(bytes: &[u8]) -> Self {
        Self { is_held: true, ..Self::open([bytes]) }
    }

    /// No answer at all.
    pub(crate) fn silence() -> Self {
        Self { bytes: Vec::new(), is_held: true }
    }

    fn open<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut bytes = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
            bytes.extend_from_slice(piece);
            bytes.extend_from_slice(b"\r\n");
        }
        Self { bytes, is_held: false }
    }
}

/// A server at work.
pub(crate) struct Server {
    pub(crate) address: String,
    /// What it was asked, head and body.
    pub(crate) seen: Arc<Mutex<Vec<(String, String)>>>,
    /// Told whenever the other side of a held connection is gone.
    pub(crate) gone: mpsc::UnboundedReceiver<()>,
}

/// A server that gives these answers in turn, and the last one for ever.
pub(crate) async fn serve(replies: Vec<Reply>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (gone_sender, gone) = mpsc::unbounded_channel();
    let record = Arc::clone(&seen);
    tokio::spawn(async move {
        for number in 0.. {
            let Ok((socket, _)) = listener.accept().await else { return };
            let reply = replies[number.min(replies.len() - 1)].clone();
            tokio::spawn(answer(socket, reply, Arc::clone(&record), gone_sender.clone()));
        }
    });
    Server { address, seen, gone }
}

async fn answer(
    mut socket: TcpStream,
    reply: Reply,
    seen: Arc<Mutex<Vec<(String, String)>>>,
    gone: mpsc::UnboundedSender<()>,
) {
    let Some(request) = read_request(&mut socket).await else { return };
    seen.lock().push(request);
    if socket.write_all(&reply.bytes).await.is_err() || !reply.is_held {
        return;
    }
    let mut rest = [0; 64];
    while socket.read(&mut rest).await.is_ok_and(|count| count > 0) {}
    // A test that is over does not listen any more.
    let _ = gone.send(());
}

async fn read_request(socket: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            let body = &bytes[end + 4..];
            if body.len() >= length.unwrap_or(0) {
                return Some((head, String::from_utf8_lossy(body).into_owned()));
            }
        }
        let count = socket.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
    }
}
