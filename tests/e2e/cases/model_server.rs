//! A server of models for tests: it lists one model, answers each call with the next of its answers, and
//! remembers what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

/// One request, as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The first line and the headers.
    pub(crate) head: String,
    pub(crate) body: String,
}

/// The server. It ends with the test.
pub(crate) struct ModelServer {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl ModelServer {
    /// A server with these answers, which are deltas of Chat Completions.
    pub(crate) fn start(answers: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let answers = Arc::new(Mutex::new(answers.into_iter()));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (seen, answers) = (Arc::clone(&seen), Arc::clone(&answers));
                thread::spawn(move || {
                    let Some(request) = read(&stream) else { return };
                    let is_list = request.head.starts_with("GET ");
                    seen.lock().unwrap_or_else(PoisonError::into_inner).push(request);
                    let next = || answers.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let body = match is_list {
                        true => json!({"data": [{"id": "house-model"}]}).to_string(),
                        false => events(&next().unwrap_or_else(|| json!({"content": "hello"}))),
                    };
                    let kind = if is_list { "application/json" } else { "text/event-stream" };
                    let length = body.len();
                    let _ = write!(
                        &stream,
                        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
                         Connection: close\r\n\r\n{body}"
                    );
                });
            }
        });
        ModelServer { url, asked }
    }

    /// What it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn events(delta: &Value) -> String {
    let stop = if delta.get("tool_calls").is_some() { "tool_calls" } else { "stop" };
    let first = json!({"choices": [{"index": 0, "delta": delta}]});
    let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": stop}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}});
    format!("data: {first}\n\ndata: {last}\n\ndata: [DONE]\n\n")
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { head, body: String::from_utf8(body).ok()? })
}
