//! The pipes of an agent as lines: what is no message is left out, and nothing queues without a bound.
//!
//! Updates are taken off here and go into a bounded queue, so that an agent that says more than is read
//! has to wait: the library's own queue has no end.

use std::borrow::Cow;
use std::io::{Error, ErrorKind};
use std::sync::Arc;

use agent_client_protocol::v1::schema::SessionNotification;
use futures_util::{Sink, Stream};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::sync::{Semaphore, mpsc};

/// The longest message.
const LONGEST: u64 = 16 << 20;

/// How many questions that we do not answer anyway an agent may ask in its life.
const REFUSED: u32 = 1000;

/// How much of a line that is no message is shown in a log.
const SHOWN: usize = 200;

/// What a line is about, as far as it has to be known here.
#[derive(Deserialize)]
struct Probe<'a> {
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

/// Where the lines of an agent go.
pub(super) struct LineRouter {
    /// The agent's name, for logs.
    pub(super) name: String,
    /// Takes updates.
    pub(super) updates: mpsc::Sender<SessionNotification>,
    /// Has a permit for each question that may be open.
    pub(super) gate: Arc<Semaphore>,
}

/// The messages that an agent writes, without its updates.
pub(super) fn incoming(
    pipe: impl AsyncRead + Unpin + Send + 'static,
    sorter: LineRouter,
) -> impl Stream<Item = std::io::Result<String>> + Send + 'static {
    let state = Some((BufReader::new(pipe), sorter, REFUSED));
    futures_util::stream::unfold(state, async |state| {
        let (mut pipe, sorter, mut refused) = state?;
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            match (&mut pipe).take(LONGEST + 1).read_until(b'\n', &mut bytes).await {
                Ok(0) => return None,
                Ok(_) if bytes.len() as u64 > LONGEST => {
                    let error = Error::new(ErrorKind::InvalidData, "a message is too long");
                    return Some((Err(error), None));
                }
                Ok(_) => {}
                Err(error) => return Some((Err(error), None)),
            }
            match sorter.sort(&bytes, &mut refused).await {
                Sorted::Message(line) => return Some((Ok(line), Some((pipe, sorter, refused)))),
                Sorted::Taken => {}
                Sorted::End => return None,
            }
        }
    })
}

/// What became of a line.
#[derive(Debug, PartialEq, Eq)]
enum Sorted {
    /// It is for the library.
    Message(String),
    /// It is done with.
    Taken,
    /// The receiver is gone.
    End,
}

impl LineRouter {
    async fn sort(&self, line: &[u8], refused: &mut u32) -> Sorted {
        let Ok(text) = std::str::from_utf8(line) else { return self.leave_out(line) };
        let text = text.trim();
        if text.is_empty() {
            return Sorted::Taken;
        }
        let probe = serde_json::from_str::<Probe<'_>>(text).ok();
        let Some(probe) = probe.filter(|_| text.starts_with('{')) else {
            return self.leave_out(line);
        };
        match (probe.method.as_deref(), probe.id) {
            (Some("session/update"), None) => return self.update(probe.params).await,
            (Some("session/request_permission"), Some(_)) => match self.gate.acquire().await {
                Ok(permit) => permit.forget(),
                Err(_) => return Sorted::End,
            },
            (Some(_), Some(_)) => match refused.checked_sub(1) {
                Some(left) => *refused = left,
                None => return Sorted::End,
            },
            _ => {}
        }
        Sorted::Message(text.to_owned())
    }

    async fn update(&self, params: Option<&RawValue>) -> Sorted {
        let params = params.map_or("null", RawValue::get);
        match serde_json::from_str::<SessionNotification>(params) {
            Ok(update) => match self.updates.send(update).await {
                Ok(()) => Sorted::Taken,
                Err(_) => Sorted::End,
            },
            Err(error) => {
                tracing::debug!(agent = self.name, "left out an unknown update: {error}");
                Sorted::Taken
            }
        }
    }

    fn leave_out(&self, line: &[u8]) -> Sorted {
        let shown = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]);
        tracing::debug!(agent = self.name, "left out what is no message: {}", shown.trim_end());
        Sorted::Taken
    }
}

/// Where messages for an agent are written.
pub(super) fn outgoing(
    pipe: impl AsyncWrite + Unpin + Send + 'static,
) -> impl Sink<String, Error = Error> + Send + 'static {
    futures_util::sink::unfold(pipe, async |mut pipe, line: String| {
        let mut bytes = line.into_bytes();
        bytes.push(b'\n');
        pipe.write_all(&bytes).await?;
        pipe.flush().await?;
        Ok(pipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::StreamExt as _;
    use proptest::prelude::*;

    async fn sorted(text: &[u8]) -> (Vec<std::io::Result<String>>, usize) {
        let (updates, mut received) = mpsc::channel(64);
        let gate = Arc::new(Semaphore::new(16));
        let sorter = LineRouter { name: "test".into(), updates, gate };
        let lines = incoming(std::io::Cursor::new(text.to_vec()), sorter).collect().await;
        let mut count = 0;
        while received.recv().await.is_some() {
            count += 1;
        }
        (lines, count)
    }

    #[tokio::test]
    async fn only_messages_get_through_and_updates_are_taken_off() {
        let text = "hello\n\n{broken\n\u{1b}[31mred\n[1]\n\
            {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\
            {\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":\
            {\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"a\"}}}}\n\
            {\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":\
            {\"sessionUpdate\":\"from_the_future\"}}}\n";
        let (lines, updates) = sorted(text.as_bytes()).await;
        let lines: Vec<String> = lines.into_iter().map(Result::unwrap).collect();
        assert_eq!(lines, [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
        assert_eq!(updates, 1);
    }

    #[tokio::test]
    async fn endless_lines_and_endless_questions_end_it() {
        let (lines, _) = sorted(&vec![b'x'; LONGEST as usize + 5]).await;
        assert!(matches!(lines.as_slice(), [Err(_)]));
        let question = "{\"id\":1,\"method\":\"fs/read_text_file\"}\n";
        let (lines, _) = sorted(question.repeat(REFUSED as usize + 9).as_bytes()).await;
        assert_eq!(lines.len(), REFUSED as usize);
    }

    proptest! {
        #[test]
        fn nothing_that_is_written_breaks_it(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let (lines, _) = runtime.block_on(sorted(&bytes));
            for line in lines {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&line.unwrap()).is_ok());
            }
        }
    }
}
