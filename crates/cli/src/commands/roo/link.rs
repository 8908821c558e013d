//! A client of Roo Code's protocol, in the shape that the published client knows.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rookery_dialects::Dialect;
use serde_json::{Value, json};

use crate::daemon_process;
use crate::failure::{Failure, Outcome};
use crate::link;

/// The name of the endpoint.
const ENDPOINT: &str = "roo-code";
/// How long a command may take to be answered.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest frame that is read.
const FRAME_LIMIT: usize = 256 << 20;

/// A connection.
pub(super) struct Link {
    stream: UnixStream,
    buffer: Vec<u8>,
    client: String,
    /// Events that came before the reply that was waited for.
    early: std::collections::VecDeque<Value>,
}

impl Link {
    /// Connects, and starts the daemon if it is the usual socket and does not run.
    pub(super) async fn connect(named: Option<PathBuf>) -> Outcome<Link> {
        let path = match named {
            Some(path) => path,
            None => {
                drop(daemon_process::connect_or_start().await?);
                let homes = link::homes()?;
                let dialect = Dialect::named(ENDPOINT);
                let usual = || dialect.map(|dialect| homes.socket(&dialect.endpoint));
                link::endpoint_socket(&homes, ENDPOINT).or_else(usual).ok_or_else(|| {
                    Failure::new("the endpoint roo-code is turned off")
                        .hint("remove `roo-code = false` from [endpoints] in the config")
                })?
            }
        };
        let unreachable = |error| {
            Failure::new(format!("cannot connect to {}: {error}", path.display()))
                .hint("start the daemon with `rookery up`, or name another socket with --socket")
        };
        let stream = UnixStream::connect(&path).map_err(unreachable)?;
        rookery_trust::check_peer(&stream).map_err(unreachable)?;
        let early = std::collections::VecDeque::new();
        let mut link = Link { stream, buffer: Vec::new(), client: String::new(), early };
        let ack = link.receive(Some(Instant::now() + PATIENCE))?;
        let client = ack.pointer("/data/clientId").and_then(Value::as_str);
        let client = client.ok_or_else(|| Failure::new("the server did not introduce itself"))?;
        link.client = client.to_owned();
        Ok(link)
    }

    /// Sends a command and waits for its reply; events that come before it are kept.
    pub(super) fn ask(&mut self, name: &str, data: Option<Value>) -> Outcome<Value> {
        let mut command = json!({ "commandName": name, "requestId": name });
        if let Some(data) = data {
            command["data"] = data;
        }
        let message = json!({
            "type": "message",
            "data": { "type": "TaskCommand", "origin": "client", "clientId": self.client, "data": command },
        });
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0x0c);
        self.stream.write_all(&bytes).map_err(Failure::doing("cannot send"))?;
        let until = Instant::now() + PATIENCE;
        loop {
            let event = self.receive(Some(until))?;
            let is_reply =
                event.pointer("/data/eventName").and_then(Value::as_str) == Some("commandResponse");
            if !is_reply {
                self.early.push_back(event);
                continue;
            }
            let payload = event.pointer("/data/payload/0/payload").cloned().unwrap_or_default();
            return match payload.get("error") {
                None => Ok(payload),
                Some(error) => Err(refused(error)),
            };
        }
    }

    /// The next event; none when the server is gone.
    pub(super) fn event(&mut self) -> Outcome<Option<Value>> {
        if let Some(event) = self.early.pop_front() {
            return Ok(Some(event));
        }
        match self.receive(None) {
            Ok(event) => Ok(Some(event)),
            Err(failure) if failure.message().contains("closed the connection") => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// The next message, unwrapped.
    fn receive(&mut self, until: Option<Instant>) -> Outcome<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == 0x0c) {
                let frame: Vec<u8> = self.buffer.drain(..=end).collect();
                let read: Result<Value, _> = serde_json::from_slice(&frame[..end]);
                let mut wrapper = read.map_err(|error| {
                    Failure::new(format!("the server sent what is no JSON: {error}"))
                })?;
                return Ok(wrapper["data"].take());
            }
            if self.buffer.len() > FRAME_LIMIT {
                return Err(Failure::new("the server sent a frame without an end"));
            }
            let patience = until.map(|until| {
                until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
            });
            let cannot = "cannot receive";
            self.stream.set_read_timeout(patience).map_err(Failure::doing(cannot))?;
            let mut chunk = [0; 64 * 1024];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(Failure::new("the server closed the connection")),
                Ok(count) => self.buffer.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    let message = "the server did not answer in time";
                    return Err(Failure::new(message).code(Failure::TIMED_OUT));
                }
                Err(error) => return Err(Failure::doing(cannot)(error)),
            }
        }
    }
}

/// A command that was refused, and what to do next.
fn refused(error: &Value) -> Failure {
    let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let failure = Failure::new(text("message"));
    match text("code") {
        "task_not_found" | "no_active_task" => failure.hint("see `rookery roo history`"),
        "no_pending_ask" => failure.code(4),
        "profile_not_found" => failure.hint("see `rookery roo profiles`"),
        _ => failure,
    }
}
