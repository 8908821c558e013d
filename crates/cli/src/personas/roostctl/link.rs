//! A connection to a server: calls, and the events that arrive between.

use std::{collections::VecDeque, fmt, io, time::Duration};

use rookery_roost::{
    errors::Code,
    wire::{
        Call,
        envelope::{Incoming, Request, Response},
    },
};
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::timeout,
};

use crate::{failure::Failure, output};

/// How long a server may take to answer, unless the answer depends on a person.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest line of the protocol.
const LONGEST_LINE: usize = 16 * 1024 * 1024;
/// Events kept that arrived while an answer was awaited.
const MOST_EVENTS: usize = 10_000;

/// Why a call gave no result.
#[derive(Debug)]
pub(super) enum LinkError {
    /// The server refused.
    Refused { code: String, message: String },
    /// The connection ended.
    Closed,
    /// The server took too long.
    Late,
    /// Reading or writing failed.
    Io(io::Error),
    /// The server said what it should not.
    Strange(String),
}

impl LinkError {
    /// Whether the server refused for this reason.
    pub(super) fn is(&self, expected: Code) -> bool {
        matches!(self, Self::Refused { code, .. } if code == expected.as_str())
    }
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { code, message } if message.is_empty() => f.write_str(code),
            Self::Refused { code, message } => write!(f, "{code}: {message}"),
            Self::Closed => f.write_str("the server closed the connection"),
            Self::Late => f.write_str("the server does not answer"),
            Self::Io(error) => write!(f, "lost the connection to the server: {error}"),
            Self::Strange(what) => write!(f, "unexpected answer from the server: {what}"),
        }
    }
}

impl From<io::Error> for LinkError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Self::Closed,
            _ => Self::Io(error),
        }
    }
}

impl From<serde_json::Error> for LinkError {
    fn from(error: serde_json::Error) -> Self {
        Self::Strange(error.to_string())
    }
}

impl From<LinkError> for Failure {
    fn from(trouble: LinkError) -> Self {
        // An error is one line, whatever the server wrote.
        let text = trouble.to_string().replace(['\n', '\r', '\t'], " ");
        Self::new(output::printable(&text))
    }
}

/// A connection.
pub(super) struct Link {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    /// What was read of a line that is not complete.
    partial: Vec<u8>,
    events: VecDeque<Vec<u8>>,
    last_id: i64,
}

impl Link {
    pub(super) fn over(stream: UnixStream) -> Self {
        let (reader, writer) = stream.into_split();
        let reader = BufReader::new(reader);
        Self { reader, writer, partial: Vec::new(), events: VecDeque::new(), last_id: 0 }
    }

    /// Calls an operation.
    pub(super) async fn call<P: Call>(&mut self, params: P) -> Result<P::Reply, LinkError> {
        Ok(serde_json::from_str(self.call_raw(params).await?.get())?)
    }

    /// Calls an operation whose result is passed on with all it has.
    pub(super) async fn call_raw<P: Call>(
        &mut self,
        params: P,
    ) -> Result<Box<RawValue>, LinkError> {
        timeout(PATIENCE, self.exchange(params)).await.map_err(|_| LinkError::Late)?
    }

    /// Calls an operation that is answered when a person has acted.
    pub(super) async fn call_patiently<P: Call>(
        &mut self,
        params: P,
    ) -> Result<Box<RawValue>, LinkError> {
        self.exchange(params).await
    }

    async fn exchange<P: Call>(&mut self, params: P) -> Result<Box<RawValue>, LinkError> {
        self.last_id += 1;
        let id = self.last_id;
        let mut line = serde_json::to_vec(&Request::new(id, params))?;
        line.push(b'\n');
        self.writer.write_all(&line).await?;
        loop {
            let line = self.line().await?;
            match Incoming::parse(&line)? {
                Incoming::Response(response) if is_for(&response, id) => return result(response),
                // Late for a call that was given up.
                Incoming::Response(_) => {}
                Incoming::Event(_) | Incoming::UnknownEvent(_) => {
                    if self.events.len() >= MOST_EVENTS {
                        return Err(LinkError::Strange("too many events before an answer".into()));
                    }
                    self.events.push_back(line);
                }
            }
        }
    }

    /// The next event as it was written. May be given up at any point; nothing is lost.
    pub(super) async fn event(&mut self) -> Result<Vec<u8>, LinkError> {
        loop {
            if let Some(line) = self.events.pop_front() {
                return Ok(line);
            }
            let line = self.line().await?;
            if !matches!(Incoming::parse(&line)?, Incoming::Response(_)) {
                return Ok(line);
            }
        }
    }

    async fn line(&mut self) -> Result<Vec<u8>, LinkError> {
        loop {
            let chunk = self.reader.fill_buf().await?;
            if chunk.is_empty() {
                return Err(LinkError::Closed);
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let taken = &chunk[..end.unwrap_or(chunk.len())];
            if self.partial.len() + taken.len() > LONGEST_LINE {
                return Err(LinkError::Strange("a line is too long".into()));
            }
            self.partial.extend_from_slice(taken);
            let used = taken.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                return Ok(std::mem::take(&mut self.partial));
            }
        }
    }
}

/// Whether a response is for a request; a server that could not read its id says 0.
fn is_for(response: &Response, id: i64) -> bool {
    response.id.0 == id || (response.id.0 == 0 && !response.ok)
}

fn result(response: Response) -> Result<Box<RawValue>, LinkError> {
    match (response.ok, response.result, response.error) {
        (true, Some(result), _) => Ok(result),
        (false, _, Some(error)) => {
            Err(LinkError::Refused { code: error.code, message: error.message })
        }
        _ => Err(LinkError::Strange("a response with neither result nor error".into())),
    }
}

#[cfg(test)]
mod tests {
    use rookery_roost::wire::{app::Identify, tab::TabList};

    use super::*;
    use crate::personas::roostctl::fake::{Fake, Step};

    fn identify() -> Identify {
        Identify { client_name: String::new(), client_version: String::new() }
    }

    #[tokio::test]
    async fn answers_are_found_among_events() {
        let event = r#"{"event":"tab.closed","data":{"tab_id":"3"}}"#;
        let unknown = r#"{"event":"tab.painted","data":{}}"#;
        let stray = r#"{"id":"99","ok":true,"result":{}}"#;
        let mut link = Fake::link(vec![
            Step::answer("tab.list", r#"{"projects":[]}"#).before(&[event, stray, unknown]),
        ]);
        assert!(link.call(TabList {}).await.unwrap().projects.is_empty());
        assert_eq!(link.event().await.unwrap(), event.as_bytes());
        assert_eq!(link.event().await.unwrap(), unknown.as_bytes());
        assert!(matches!(link.event().await, Err(LinkError::Closed)));
    }

    #[tokio::test]
    async fn what_the_server_refuses_is_reported_on_one_line() {
        let mut link = Fake::link(vec![Step::refuse("identify", "not-found", "no\\ntab\\u001b 3")]);
        let trouble = link.call(identify()).await.unwrap_err();
        assert!(trouble.is(Code::NotFound) && !trouble.is(Code::UnknownOp));
        let told = format!("{:?}", Failure::from(trouble));
        assert!(told.contains("not-found: no tab 3"), "{told}");
    }

    #[tokio::test]
    async fn a_server_that_talks_nonsense_is_no_panic() {
        for line in ["", "7", "[]", "{}", r#"{"id":"1"}"#, r#"{"id":"1","ok":true}"#, "\u{1b}["] {
            let mut link = Fake::link(vec![Step::raw("identify", line)]);
            assert!(matches!(link.call(identify()).await, Err(LinkError::Strange(_))), "{line}");
        }
        let mut link = Fake::link(vec![]);
        assert!(matches!(link.call(identify()).await, Err(LinkError::Closed)));
    }
}
