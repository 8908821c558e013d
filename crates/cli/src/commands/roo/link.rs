//! A client of Roo Code's protocol, in the shape that the published client knows.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rookery_dialects::Dialect;
use rookery_wire::transport::unix;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::time::timeout;

use crate::daemon_process;
use crate::failure::{Failure, Outcome};
use crate::link;

/// The name of the endpoint.
const ENDPOINT: &str = "roo-code";
/// How long a command may take to be answered.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest frame that is read.
const FRAME_LIMIT: usize = 256 << 20;
/// The exit code of an answer that came too late.
const SETTLED: u8 = 4;
/// Room made for each read.
const CHUNK: usize = 64 << 10;

/// A connection.
pub(super) struct Link {
    stream: UnixStream,
    buffer: Vec<u8>,
    /// Bytes of the buffer that are known to hold no end of a frame.
    scanned: usize,
    client: String,
    /// Events that came before the reply that was waited for.
    early: VecDeque<Value>,
}

/// A command that the server refused.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: String,
    pub(super) message: String,
}

impl Link {
    /// Connects to a socket, or to the daemon's; that is started first if the command makes something.
    pub(super) async fn connect(named: Option<PathBuf>, starts: bool) -> Outcome<Link> {
        if let Some(path) = named {
            let hint = "name the socket of a listener: see `path` in [[roo.listeners]]";
            return Link::open(&path).await.map_err(|failure| failure.hint(hint));
        }
        match starts {
            true => drop(daemon_process::connect_or_start().await?),
            false => drop(link::connect().await?),
        }
        let path = usual_socket()?.ok_or_else(|| {
            Failure::new("the endpoint roo-code is turned off")
                .hint("remove `roo-code = false` from [endpoints] in the config")
        })?;
        let hint = "`rookery doctor` says why it is not served";
        Link::open(&path).await.map_err(|failure| failure.hint(hint))
    }

    /// Connects to the daemon's socket if it is there; nothing is started, and nothing waited for.
    pub(super) async fn reach() -> Option<Link> {
        let path = usual_socket().ok()??;
        Link::open(&path).await.ok()
    }

    async fn open(path: &Path) -> Outcome<Link> {
        let stream = unix::connect(path).await.map_err(Failure::doing("cannot connect"))?;
        let (buffer, client, early) = (Vec::new(), String::new(), VecDeque::new());
        let mut link = Link { stream, buffer, scanned: 0, client, early };
        let ack = link.receive_in_time().await?;
        let client = ack.pointer("/data/clientId").and_then(Value::as_str);
        let client = client.ok_or_else(|| {
            Failure::new(format!("{} does not speak Roo Code's protocol", path.display()))
        })?;
        link.client = client.to_owned();
        Ok(link)
    }

    /// Sends a command and waits for its reply; events that come before it are kept.
    pub(super) async fn ask(&mut self, name: &str, data: Option<Value>) -> Outcome<Value> {
        self.request(name, data).await?.map_err(Failure::from)
    }

    /// The same where a refusal is no failure yet.
    pub(super) async fn request(
        &mut self,
        name: &str,
        data: Option<Value>,
    ) -> Outcome<Result<Value, Refusal>> {
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
        self.stream.write_all(&bytes).await.map_err(Failure::doing("cannot send"))?;
        loop {
            let event = self.receive_in_time().await?;
            let is_reply =
                event.pointer("/data/eventName").and_then(Value::as_str) == Some("commandResponse");
            if !is_reply {
                self.early.push_back(event);
                continue;
            }
            let payload = event.pointer("/data/payload/0/payload").cloned().unwrap_or_default();
            return Ok(match payload.get("error") {
                None => Ok(payload),
                Some(error) => Err(Refusal::read(error)),
            });
        }
    }

    /// The next event; none when the server is gone.
    pub(super) async fn event(&mut self) -> Outcome<Option<Value>> {
        match self.early.pop_front() {
            Some(event) => Ok(Some(event)),
            None => self.receive().await,
        }
    }

    async fn receive_in_time(&mut self) -> Outcome<Value> {
        let received = timeout(PATIENCE, self.receive()).await.map_err(|_| {
            Failure::new("the daemon did not answer in time")
                .hint("see its log; `rookery doctor` shows its path")
                .code(Failure::TIMED_OUT)
        })?;
        received?.ok_or_else(|| {
            Failure::new("the daemon closed the connection").hint("check it with `rookery status`")
        })
    }

    /// The next message, unwrapped; none at the end. Nothing is lost if it is not waited for any longer.
    async fn receive(&mut self) -> Outcome<Option<Value>> {
        loop {
            let unseen = &self.buffer[self.scanned..];
            if let Some(offset) = unseen.iter().position(|byte| *byte == 0x0c) {
                let end = self.scanned + offset;
                self.scanned = 0;
                let frame: Vec<u8> = self.buffer.drain(..=end).collect();
                let read: Result<Value, _> = serde_json::from_slice(&frame[..end]);
                let mut wrapper = read.map_err(|error| {
                    Failure::new(format!("the server sent invalid JSON: {error}"))
                })?;
                return Ok(Some(wrapper["data"].take()));
            }
            self.scanned = self.buffer.len();
            if self.buffer.len() > FRAME_LIMIT {
                return Err(Failure::new("the server sent a frame without an end"));
            }
            self.buffer.reserve(CHUNK);
            match self.stream.read_buf(&mut self.buffer).await {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {
                    return Ok(None);
                }
                Err(error) => return Err(Failure::doing("cannot receive")(error)),
            }
        }
    }
}

/// Where the daemon's socket is; none if it is turned off.
fn usual_socket() -> Outcome<Option<PathBuf>> {
    let homes = link::homes()?;
    Ok(Dialect::at(ENDPOINT).and_then(|_| link::endpoint_socket(&homes, ENDPOINT)))
}

impl Refusal {
    fn read(error: &Value) -> Refusal {
        let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        Refusal { code: text("code").to_owned(), message: text("message").to_owned() }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        let Refusal { code, message } = refusal;
        let hint = match code.as_str() {
            "task_not_found" if message.contains("was closed") => {
                "bring it back with `rookery roo resume`"
            }
            "task_not_found" | "no_active_task" => "see `rookery roo history`",
            "no_pending_ask" => "it was answered already; see `rookery roo messages`",
            "profile_not_found" => "see `rookery roo profiles`",
            "profile_exists" => "change it with `rookery roo profiles update`",
            "last_profile" => "create another one first with `rookery roo profiles create`",
            "invalid_parameter" if message.contains("configuration.mode") => {
                "see `rookery roo modes`"
            }
            "permission_denied" if message.contains("workspace") => {
                "name a directory inside of it with --cwd, or set `workspace` of a listener in [[roo.listeners]]"
            }
            "internal_error" => "see the daemon's log; `rookery doctor` shows its path",
            "unknown_command" => {
                "the daemon has a different version; replace it with `rookery restart`"
            }
            _ => "",
        };
        let code = if code == "no_pending_ask" { SETTLED } else { 1 };
        let failure = Failure::new(message).code(code);
        if hint.is_empty() { failure } else { failure.hint(hint) }
    }
}
