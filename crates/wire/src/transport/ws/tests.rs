//! Real sockets on loopback, seen by a client written by hand and by one that others wrote.

mod entry;
mod messages;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use futures_util::{SinkExt as _, StreamExt as _};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    sync::Notify,
    task::JoinHandle,
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest as _, protocol::frame::coding::CloseCode},
};

use super::*;
use crate::{
    ConnectionHandle, Options, Rejected, method,
    outbox::OutboxLimits,
    rights::Rights,
    rpc::{self, Admit, JsonRpc, Method, RpcError, Table},
    serve_connection,
};

const TOKEN: &str = "test-token-0123456789";

#[derive(Deserialize, JsonSchema)]
struct Many {
    count: usize,
    size: usize,
}

/// What the test methods work with.
#[derive(Clone)]
struct Cx {
    connection: ConnectionHandle,
    cut: Arc<Notify>,
}

impl Admit for Cx {
    fn refuse(&self, _name: &'static str, _rights: Rights) -> Option<RpcError> {
        None
    }
}

async fn echo(_cx: Cx, p: Value) -> Result<Value, RpcError> {
    Ok(p)
}

/// Pushes numbered notifications as fast as the peer reads.
async fn push(cx: Cx, p: Many) -> Result<(), RpcError> {
    tokio::spawn(async move {
        for number in 0..p.count {
            let body = rpc::notification("tick", &(number, "x".repeat(p.size))).unwrap();
            if cx.connection.outbox().send(body).await.is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Pushes until the peer falls behind, and then cuts it off.
async fn flood(cx: Cx, p: Many) -> Result<(), RpcError> {
    tokio::spawn(async move {
        let body = rpc::notification("tick", &"x".repeat(p.size)).unwrap();
        loop {
            match cx.connection.outbox().try_send(body.clone()) {
                Ok(()) => tokio::task::yield_now().await,
                Err(Rejected::Full) => {
                    cx.connection.close("client is too slow");
                    return cx.cut.notify_one();
                }
                Err(Rejected::Closed) => return,
            }
        }
    });
    Ok(())
}

async fn finish(cx: Cx, _p: Value) -> Result<(), RpcError> {
    cx.connection.finish();
    Ok(())
}

const METHODS: &[Method<Cx>] = &[
    method!("echo", LOOK, [] => echo),
    method!("push", LOOK, [] => push),
    method!("flood", LOOK, [] => flood),
    method!("finish", LOOK, [] => finish),
];

struct Server {
    address: SocketAddr,
    /// Told when a client was cut off.
    cut: Arc<Notify>,
    accepting: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// What the tests serve with: a backlog that a client of theirs can fill.
fn options() -> Options {
    let outbox = OutboxLimits { messages: 100_000, bytes: 64 * 1024 * 1024 };
    Options { outbox, ..Options::default() }
}

async fn serve_with(gate: Gate, limits: Limits, options: Options) -> Server {
    let address = "127.0.0.1:0".parse().unwrap();
    let mut listener = Listener::bind(address, gate, limits).await.unwrap();
    let address = listener.local_addr().unwrap();
    let cut = Arc::new(Notify::new());
    let theirs = Arc::clone(&cut);
    let accepting = tokio::spawn(async move {
        while let Ok(socket) = listener.accept().await {
            let cut = Arc::clone(&theirs);
            tokio::spawn(serve_connection(socket, Messages, options.clone(), |connection| {
                JsonRpc::new(Table::new([METHODS]), Cx { connection, cut })
            }));
        }
    });
    Server { address, cut, accepting }
}

fn gate() -> Gate {
    Gate::new(Token::new(TOKEN).unwrap())
}

async fn serve() -> Server {
    serve_with(gate(), Limits::default(), options()).await
}

/// Bounds a wait so that a failure is a failure and not a hang.
async fn within<T>(wait: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), wait).await.expect("took over a minute")
}

/// Lets time pass without waiting for it.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// A client that writes every byte itself.
struct Raw {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Raw {
    async fn connect(server: &Server) -> Self {
        Self { stream: TcpStream::connect(server.address).await.unwrap(), read: Vec::new() }
    }

    /// Connects from another loopback address.
    async fn connect_from(server: &Server, from: &str) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(format!("{from}:0").parse().unwrap()).unwrap();
        Self { stream: socket.connect(server.address).await.unwrap(), read: Vec::new() }
    }

    async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// Sends the request of a handshake with these headers in addition.
    async fn ask(&mut self, extra: &str) -> String {
        self.send(handshake("127.0.0.1", extra).as_bytes()).await;
        self.head().await
    }

    async fn more(&mut self) -> usize {
        within(self.stream.read_buf(&mut self.read)).await.unwrap_or(0)
    }

    /// The next head of an answer.
    async fn head(&mut self) -> String {
        loop {
            if let Some(at) = self.read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                let rest = self.read.split_off(at + 4);
                let head = std::mem::replace(&mut self.read, rest);
                return String::from_utf8(head).unwrap();
            }
            assert_ne!(self.more().await, 0, "closed within a head");
        }
    }

    /// What is left up to the end.
    async fn rest(&mut self) -> Vec<u8> {
        while self.more().await > 0 {}
        std::mem::take(&mut self.read)
    }

    /// The next frame: its first byte and its payload.
    async fn frame(&mut self) -> (u8, Vec<u8>) {
        loop {
            if let Some((len, skip)) = frame_len(&self.read)
                && self.read.len() >= skip + len
            {
                let rest = self.read.split_off(skip + len);
                let frame = std::mem::replace(&mut self.read, rest);
                return (frame[0], frame[skip..].to_vec());
            }
            assert_ne!(self.more().await, 0, "closed within a frame");
        }
    }
}

/// Length of the payload and of the header of an unmasked frame.
fn frame_len(bytes: &[u8]) -> Option<(usize, usize)> {
    match *bytes.get(1)? {
        126 => Some((usize::from(u16::from_be_bytes(*bytes.get(2..)?.first_chunk()?)), 4)),
        127 => Some((u64::from_be_bytes(*bytes.get(2..)?.first_chunk()?) as usize, 10)),
        len => Some((usize::from(len), 2)),
    }
}

/// A frame as a client sends it; the mask is all zeros, so the payload stays readable.
fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        len @ 0..=125 => frame.push(0x80 | len as u8),
        len => {
            frame.push(0x80 | 126);
            frame.extend_from_slice(&u16::try_from(len).unwrap().to_be_bytes());
        }
    }
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(payload);
    frame
}

fn handshake(host: &str, extra: &str) -> String {
    format!(
        "GET / HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{extra}\r\n"
    )
}

fn bearer() -> String {
    format!("Authorization: Bearer {TOKEN}\r\n")
}

fn status(head: &str) -> u16 {
    head.split(' ').nth(1).unwrap().parse().unwrap()
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// A client that others wrote, let in.
async fn client(server: &Server) -> WebSocketStream<TcpStream> {
    let mut request = format!("ws://{}/", server.address).into_client_request().unwrap();
    let token = format!("Bearer {TOKEN}").parse().unwrap();
    request.headers_mut().insert("Authorization", token);
    let stream = TcpStream::connect(server.address).await.unwrap();
    within(client_async(request, stream)).await.unwrap().0
}

async fn call(client: &mut WebSocketStream<TcpStream>, method: &str, params: Value) {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    client.send(Message::text(body.to_string())).await.unwrap();
}

async fn next(client: &mut WebSocketStream<TcpStream>) -> Message {
    within(client.next()).await.expect("an end without a close frame").unwrap()
}

async fn reply(client: &mut WebSocketStream<TcpStream>) -> Value {
    serde_json::from_str(next(client).await.to_text().unwrap()).unwrap()
}
