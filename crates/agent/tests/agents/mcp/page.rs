//! The small server behind HTTP: as much of it as the protocol needs.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio_util::task::AbortOnDropHandle;

use super::answers::{Answer, Server};

/// A page that is served until it is dropped.
pub(crate) struct Page {
    pub(crate) port: u16,
    _serving: AbortOnDropHandle<()>,
}

impl Page {
    /// Serves at a port; 0 is any. Requests without the key are turned away.
    pub(crate) async fn open(port: u16, key: &'static str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Arc::new(Mutex::new(Server::default()));
        let serving = tokio::spawn(async move {
            // Those that are served end with the page.
            let mut served = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                served.spawn(serve(stream, Arc::clone(&server), key));
            }
        });
        Self { port, _serving: AbortOnDropHandle::new(serving) }
    }
}

async fn serve(stream: TcpStream, server: Arc<Mutex<Server>>, key: &str) {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut head, mut length, mut has_key) = (String::new(), 0, false);
        loop {
            let mut line = String::new();
            if !matches!(stream.read_line(&mut line).await, Ok(1..)) {
                return;
            }
            if line.trim().is_empty() {
                break;
            }
            let lower = line.to_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            has_key |= lower.trim() == format!("x-key: {key}");
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        let reply = match head.split(' ').next() {
            _ if !has_key => reply("403 Forbidden", "text/plain", "who are you"),
            Some("POST") => post(&server, &serde_json::from_slice(&body).unwrap()).await,
            Some("DELETE") => reply("200 OK", "text/plain", ""),
            _ => reply("405 Method Not Allowed", "text/plain", ""),
        };
        if stream.write_all(reply.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn post(server: &Mutex<Server>, message: &Value) -> String {
    let id = &message["id"];
    let wrapped = |result| json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
    match server.lock().await.answer(message) {
        Answer::Result(result) => reply("200 OK", "application/json", &wrapped(result)),
        Answer::Error(words) => {
            let error = json!({ "code": -32000, "message": words });
            let body = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
            reply("200 OK", "application/json", &body)
        }
        Answer::Changed(result) => {
            let told = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
            let events = format!("data: {told}\n\ndata: {}\n\n", wrapped(result));
            reply("200 OK", "text/event-stream", &events)
        }
        Answer::None => reply("202 Accepted", "text/plain", ""),
    }
}

fn reply(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}")
}
