//! Holds the conversation of a script with a fresh world.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use rookery_dialects::{Dialect, Frames};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::time::timeout;

use super::pattern::{Bindings, matches, substitute};
use super::script::{Script, Step, StepKind};
use super::viewers::Viewers;
use crate::caller::runtime;
use crate::memory::MemoryDaemon;

/// How long to wait for a message.
const WAIT: Duration = Duration::from_secs(10);

/// How long to wait before something is asked again.
const PAUSE: Duration = Duration::from_millis(10);

/// What was said while a script ran, and how that ended.
#[derive(Debug)]
pub struct Record {
    /// Every message, in the order in which each connection had them.
    pub said: Vec<Message>,
    /// The step that failed, what was expected and what came instead.
    pub outcome: Result<(), String>,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The connection.
    pub on: usize,
    /// Whether it was the client's.
    pub is_sent: bool,
    /// The message as it went over the connection.
    pub line: String,
}

/// Runs a script to its end.
///
/// # Errors
/// The step that failed, what was expected and what came instead.
pub fn run(script: &Script) -> Result<(), String> {
    record(script).outcome
}

/// The same while three viewers look on that do not have the keyboard.
///
/// # Errors
/// The same, and if a viewer was cut off.
pub fn run_before_viewers(script: &Script) -> Result<(), String> {
    recorded(script, true).outcome
}

/// Runs a script to its end, and tells what was said.
pub fn record(script: &Script) -> Record {
    recorded(script, false)
}

fn recorded(script: &Script, has_viewers: bool) -> Record {
    let mut talks: BTreeMap<usize, Client> = BTreeMap::new();
    let mut said = Vec::new();
    let outcome = hold(script, has_viewers, &mut talks, &mut said);
    said.extend(talks.into_values().flat_map(|talk| talk.said));
    Record { said, outcome }
}

/// Holds the conversation; what was said on a connection that hung up goes to `said`.
fn hold(
    script: &Script,
    has_viewers: bool,
    talks: &mut BTreeMap<usize, Client>,
    said: &mut Vec<Message>,
) -> Result<(), String> {
    let daemon = match (script.issuer, script.test_mode) {
        (Some(person), _) => MemoryDaemon::with_issuer(person),
        (None, true) => MemoryDaemon::in_test_mode(),
        (None, false) => MemoryDaemon::start(),
    };
    let mut bindings = Bindings::from([
        ("home".to_owned(), daemon.home().path().to_str().unwrap().into()),
        ("here".to_owned(), script.path.parent().unwrap().to_str().unwrap().into()),
        ("pid".to_owned(), std::process::id().into()),
    ]);
    if let Some(issuer) = daemon.issuer() {
        bindings.insert("issuer".to_owned(), issuer.url().into());
    }
    if let Some(device) = &script.device {
        bindings.insert("device".to_owned(), daemon.pair(device).into());
    }
    runtime().block_on(async {
        let dialect = Dialect::at(&script.endpoint);
        let frames = dialect.map_or(Frames::Lines, |dialect| dialect.frames);
        let is_exchange = frames == Frames::Exchange;
        let viewers = if has_viewers { Some(Viewers::open(&daemon).await) } else { None };
        for step in &script.steps {
            let connect = || daemon.connect(&script.endpoint);
            let talk =
                talks.entry(step.on).or_insert_with(|| Client::over(connect(), step.on, frames));
            let is_asking = matches!(step.kind, StepKind::Send(_) | StepKind::Until { .. });
            if is_asking && is_exchange {
                talk.renew(connect());
            }
            std::mem::swap(&mut talk.bindings, &mut bindings);
            let stepped = match &step.kind {
                StepKind::Until { send, expect } if is_exchange => {
                    talk.until_over(send, expect, connect).await
                }
                _ => talk.step(step).await,
            };
            stepped.map_err(|error| {
                let at = format!("{}:{}", script.path.display(), step.line);
                format!("{at} ({}): {error}\n{}", script.name, talk.so_far())
            })?;
            std::mem::swap(&mut talk.bindings, &mut bindings);
            if step.kind == StepKind::Disconnect(true) {
                said.extend(talks.remove(&step.on).into_iter().flat_map(|talk| talk.said));
            }
        }
        match viewers.is_none_or(|viewers| viewers.are_open() || daemon.is_stopped()) {
            true => Ok(()),
            false => Err(format!("{}: a viewer was cut off", script.name)),
        }
    })
}

/// One connection.
struct Client {
    reader: BufReader<tokio::io::ReadHalf<DuplexStream>>,
    writer: tokio::io::WriteHalf<DuplexStream>,
    bindings: Bindings,
    on: usize,
    said: Vec<Message>,
    /// What ends a message.
    end: u8,
}

impl Client {
    fn over(stream: DuplexStream, on: usize, frames: Frames) -> Client {
        let (reader, writer) = tokio::io::split(stream);
        let reader = BufReader::new(reader);
        let end = match frames {
            Frames::Lines | Frames::Exchange => b'\n',
            Frames::FormFeeds => 0x0c,
        };
        Client { reader, writer, bindings: Bindings::new(), on, said: Vec::new(), end }
    }

    /// Goes on over another connection.
    fn renew(&mut self, stream: DuplexStream) {
        let (reader, writer) = tokio::io::split(stream);
        self.reader = BufReader::new(reader);
        self.writer = writer;
    }

    async fn step(&mut self, step: &Step) -> Result<(), String> {
        match &step.kind {
            StepKind::Comment(_) | StepKind::Disconnect(_) => Ok(()),
            StepKind::Send(message) => self.send(message).await,
            StepKind::Expect(pattern) => {
                let message = self.receive().await?;
                matches(pattern, &message, &mut self.bindings)
            }
            StepKind::ExpectUnordered(patterns) => self.expect_unordered(patterns).await,
            StepKind::Until { send, expect } => self.until(send, expect).await,
            StepKind::ExpectEof(_) => match self.receive_line().await? {
                None => Ok(()),
                Some(line) => Err(format!("expected the end of the connection, got {line}")),
            },
        }
    }

    async fn send(&mut self, message: &Value) -> Result<(), String> {
        let line = match substitute(message, &self.bindings) {
            Value::String(raw) => raw,
            json => json.to_string(),
        };
        self.said.push(Message { on: self.on, is_sent: true, line: line.clone() });
        let sending = async {
            self.writer.write_all(line.as_bytes()).await?;
            self.writer.write_all(&[self.end]).await
        };
        match timeout(WAIT, sending).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(format!("cannot send: {error}")),
            Err(_) => Err(format!("the server takes nothing for {WAIT:?}")),
        }
    }

    async fn until(&mut self, message: &Value, pattern: &Value) -> Result<(), String> {
        let until = tokio::time::Instant::now() + WAIT;
        loop {
            self.send(message).await?;
            let reply = self.receive().await?;
            match matches(pattern, &reply, &mut self.bindings) {
                Err(error) if tokio::time::Instant::now() >= until => return Err(error),
                Err(_) => tokio::time::sleep(PAUSE).await,
                Ok(()) => return Ok(()),
            }
        }
    }

    /// The same with a connection for each time.
    async fn until_over(
        &mut self,
        message: &Value,
        pattern: &Value,
        connect: impl Fn() -> DuplexStream,
    ) -> Result<(), String> {
        let until = tokio::time::Instant::now() + WAIT;
        loop {
            self.renew(connect());
            self.send(message).await?;
            let reply = self.receive().await?;
            match matches(pattern, &reply, &mut self.bindings) {
                Err(error) if tokio::time::Instant::now() >= until => return Err(error),
                Err(_) => tokio::time::sleep(PAUSE).await,
                Ok(()) => return Ok(()),
            }
        }
    }

    async fn receive_line(&mut self) -> Result<Option<String>, String> {
        let mut line = Vec::new();
        match timeout(WAIT, self.reader.read_until(self.end, &mut line)).await {
            Ok(Ok(0)) => Ok(None),
            Ok(Ok(_)) => {
                let mut line = String::from_utf8(line).map_err(|error| error.to_string())?;
                line.truncate(line.trim_end_matches(char::from(self.end)).len());
                self.said.push(Message { on: self.on, is_sent: false, line: line.clone() });
                Ok(Some(line))
            }
            Ok(Err(error)) => Err(format!("cannot receive: {error}")),
            Err(_) => Err(format!("no message within {WAIT:?}")),
        }
    }

    async fn receive(&mut self) -> Result<Value, String> {
        let line = self.receive_line().await?.ok_or("the connection ended")?;
        serde_json::from_str(&line).map_err(|error| format!("{error} in {line}"))
    }

    async fn expect_unordered(&mut self, patterns: &[Value]) -> Result<(), String> {
        let mut open: Vec<&Value> = patterns.iter().collect();
        while !open.is_empty() {
            let message = self.receive().await?;
            let mut reasons = Vec::new();
            let found = open.iter().position(|pattern| {
                let mut bindings = self.bindings.clone();
                match matches(pattern, &message, &mut bindings) {
                    Ok(()) => {
                        self.bindings = bindings;
                        true
                    }
                    Err(reason) => {
                        reasons.push(reason);
                        false
                    }
                }
            });
            match found {
                Some(index) => drop(open.remove(index)),
                None => return Err(format!("{message} fits none: {}", reasons.join("; "))),
            }
        }
        Ok(())
    }

    /// The last messages of both sides, shortened.
    fn so_far(&self) -> String {
        let mut out = String::new();
        for said in &self.said[self.said.len().saturating_sub(12)..] {
            let arrow = if said.is_sent { "->" } else { "<-" };
            let short: String = said.line.chars().take(600).collect();
            let _ = writeln!(out, "    {arrow} {short}");
        }
        out
    }
}
