//! Connections that carry one JSON request and one reply and are then over. Owns where a request
//! ends and how long everything may take; knows no command.

mod end;

use std::{future::Future, io, time::Duration};

use bytes::{Bytes, BytesMut};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::{Instant, timeout, timeout_at},
};

use crate::transport::Transport;

pub use end::RequestEnd;

/// Bounds of one exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a request.
    pub request: usize,
    /// From the first moment to a whole request.
    pub read: Duration,
    /// For a peer to take the reply.
    pub write: Duration,
    /// For a peer to stop sending after it was answered.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request: 16 * 1024 * 1024,
            read: Duration::from_secs(10),
            write: Duration::from_secs(10),
            drain: Duration::from_millis(250),
        }
    }
}

/// Why there is no whole request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoRequest {
    /// The request is longer than the limit.
    #[error("the request is longer than {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The rest of the request did not come in time.
    #[error("the request was not complete after {} s", .limit.as_secs())]
    TooSlow {
        /// How long was waited.
        limit: Duration,
    },
}

/// How an exchange ended.
#[derive(Debug, thiserror::Error)]
pub enum Outcome {
    /// The reply was written.
    #[error("answered")]
    Answered,
    /// The peer sent nothing.
    #[error("no request came")]
    Silent,
    /// Reading or writing failed, or the peer did not take the reply.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Serves one exchange: reads a request, has it answered, writes the reply and closes.
///
/// `answer` gets the bytes of the request, or why there are none; what is not JSON is its business.
pub async fn serve_exchange<T, A, F>(mut io: T, limits: Limits, answer: A) -> Outcome
where
    T: Transport,
    A: FnOnce(Result<Bytes, NoRequest>) -> F,
    F: Future<Output = Vec<u8>>,
{
    let request = match read_request(&mut io, limits).await {
        Ok(Some(request)) => request,
        Ok(None) => return Outcome::Silent,
        Err(error) => return Outcome::Io(error),
    };
    let reply = answer(request).await;
    match timeout(limits.write, write_reply(&mut io, &reply)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Outcome::Io(error),
        Err(_) => return Outcome::Io(io::ErrorKind::TimedOut.into()),
    }
    // A socket that is closed with unread bytes resets the peer, which then loses the reply.
    let _ = timeout(limits.drain, drain(&mut io)).await;
    Outcome::Answered
}

/// `None` if the peer went or said nothing.
async fn read_request(
    io: &mut impl Transport,
    limits: Limits,
) -> io::Result<Option<Result<Bytes, NoRequest>>> {
    let deadline = Instant::now() + limits.read;
    let mut bytes = BytesMut::new();
    let mut end = RequestEnd::default();
    loop {
        let seen = bytes.len();
        let read = match timeout_at(deadline, io.read_buf(&mut bytes)).await {
            Ok(read) => read?,
            Err(_) if bytes.is_empty() => return Ok(None),
            Err(_) => return Ok(Some(Err(NoRequest::TooSlow { limit: limits.read }))),
        };
        if bytes.len() > limits.request {
            return Ok(Some(Err(NoRequest::TooLong { limit: limits.request })));
        }
        let is_over = read == 0 || end.find(&bytes[seen..]);
        if is_over {
            return Ok(Some(Ok(bytes.freeze())));
        }
    }
}

async fn write_reply(io: &mut impl Transport, reply: &[u8]) -> io::Result<()> {
    io.write_all(reply).await?;
    io.flush().await?;
    io.shutdown().await
}

async fn drain(io: &mut impl Transport) {
    let mut waste = [0; 4096];
    while matches!(io.read(&mut waste).await, Ok(1..)) {}
}

#[cfg(test)]
mod tests;
