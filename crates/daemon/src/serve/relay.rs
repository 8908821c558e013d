//! A connection to the daemon's own world, handed through: only the framing may differ.

use std::path::Path;

use bytes::BytesMut;
use rookery_wire::Outcome;
use rookery_wire::framing::{self, Framing, Ndjson};
use rookery_wire::transport::{Transport, unix};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::UnixStream;

use super::{FramingKind, ServeError};

/// Longest reply of the daemon that is passed on; a transcript may be longer than any request.
const LONGEST_REPLY: usize = 256 << 20;

/// Hands a connection through to its end.
pub(super) async fn relay(
    client: impl Transport,
    framing: FramingKind,
    daemon: &Path,
) -> Result<(), ServeError> {
    let (mut from_daemon, mut to_daemon) = unix::connect(daemon).await?.into_split();
    let (mut from_client, mut to_client) = tokio::io::split(client);
    let up = async {
        let sent = match framing {
            // The daemon judges the lines itself.
            FramingKind::Ndjson => copy(&mut from_client, &mut to_daemon).await,
            FramingKind::Lsp => {
                reframe(&mut from_client, framing.decoder(), &mut to_daemon, Ndjson::default())
                    .await
            }
        };
        // What was sent before is still answered.
        let _ = to_daemon.shutdown().await;
        sent
    };
    let down = async {
        match framing {
            FramingKind::Ndjson => copy(&mut from_daemon, &mut to_client).await,
            FramingKind::Lsp => {
                reframe(
                    &mut from_daemon,
                    Ndjson::with_limit(LONGEST_REPLY),
                    &mut to_client,
                    framing.decoder(),
                )
                .await
            }
        }
    };
    tokio::pin!(up, down);
    tokio::select! {
        sent = &mut up => down.await.and(sent),
        received = &mut down => received.and_then(|()| {
            Err(std::io::Error::other("the daemon closed the connection").into())
        }),
    }
}

async fn copy(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
) -> Result<(), ServeError> {
    tokio::io::copy(from, to).await?;
    Ok(to.flush().await?)
}

/// Passes frames on in another framing.
async fn reframe(
    from: &mut (impl AsyncRead + Unpin),
    mut decoder: impl Framing,
    to: &mut (impl AsyncWrite + Unpin),
    encoder: impl Framing,
) -> Result<(), ServeError> {
    let (mut input, mut output) = (BytesMut::new(), Vec::new());
    loop {
        let is_eof = from.read_buf(&mut input).await? == 0;
        let mut next = |input: &mut BytesMut| match is_eof {
            true => decoder.decode_eof(input),
            false => decoder.decode(input),
        };
        loop {
            let frame = match next(&mut input) {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(error) => return Err(error.into()),
            };
            framing::text(&frame)?;
            output.clear();
            encoder.encode(&frame, &mut output);
            to.write_all(&output).await?;
        }
        to.flush().await?;
        if is_eof {
            return Ok(());
        }
    }
}

/// Hands lines through in both directions, until the client has said everything and the daemon has
/// answered it, or either is gone.
pub(crate) async fn lines(client: impl Transport, daemon: UnixStream) -> std::io::Result<()> {
    let (mut from_daemon, mut to_daemon) = daemon.into_split();
    let (mut from_client, mut to_client) = tokio::io::split(client);
    let up = async {
        let sent = tokio::io::copy(&mut from_client, &mut to_daemon).await;
        let _ = to_daemon.shutdown().await;
        sent
    };
    let down = copy_lines(&mut from_daemon, &mut to_client);
    tokio::pin!(up, down);
    tokio::select! {
        sent = &mut up => {
            sent?;
            down.await
        }
        received = &mut down => {
            received?;
            Err(std::io::Error::other(format!("{ENDED}; restart to continue")))
        }
    }
}

/// Copies whole lines. What is left of one when its writer dies is no message.
async fn copy_lines(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
) -> std::io::Result<()> {
    let mut input = BytesMut::new();
    while from.read_buf(&mut input).await? > 0 {
        if let Some(end) = input.iter().rposition(|byte| *byte == b'\n') {
            to.write_all(&input.split_to(end + 1)).await?;
            to.flush().await?;
        }
    }
    Ok(())
}

/// How long a client may take to read the final message.
const FAREWELL: std::time::Duration = std::time::Duration::from_secs(2);

/// Hands messages through in both directions: each is one of the client's messages and one of the
/// daemon's lines. Tells the client why it ends.
pub(crate) async fn messages<T: Transport>(
    client: T,
    framing: impl Framing + Clone,
    daemon: UnixStream,
) -> std::io::Result<()> {
    let (mut from_daemon, mut to_daemon) = daemon.into_split();
    let (mut from_client, mut to_client) = tokio::io::split(client);
    let lines = Ndjson::with_limit(LONGEST_REPLY);
    let ended = {
        let up = async {
            let sent =
                reframe(&mut from_client, framing.clone(), &mut to_daemon, OneLine(lines.clone()))
                    .await;
            let _ = to_daemon.shutdown().await;
            sent
        };
        let whole = WholeLines(lines.clone());
        let down = reframe(&mut from_daemon, whole, &mut to_client, framing.clone());
        tokio::pin!(up, down);
        tokio::select! {
            sent = &mut up => match sent {
                Ok(()) => down.await.map(|()| Outcome::PeerClosed),
                Err(error) => Err(error),
            },
            // The daemon ends a connection that does not keep up, or itself.
            received = &mut down => received.map(|()| Outcome::Cut(ENDED.into())),
        }
    };
    let outcome = ended.unwrap_or_else(|error| Outcome::Io(std::io::Error::other(error)));
    let mut client = from_client.unsplit(to_client);
    let farewell = std::future::poll_fn(|cx| client.poll_farewell(cx, &outcome));
    let _ = tokio::time::timeout(FAREWELL, farewell).await;
    match outcome {
        Outcome::Io(error) => Err(error),
        Outcome::PeerClosed
        | Outcome::Finished
        | Outcome::Dismissed(_)
        | Outcome::Cut(_)
        | Outcome::Framing(_) => Ok(()),
    }
}

/// The error for a client whose daemon closed the connection.
const ENDED: &str = "the daemon ended, or the client is too far behind";

/// Lines of a writer that may die within one; then there is nothing left to read.
#[derive(Clone)]
struct WholeLines(Ndjson);

impl Framing for WholeLines {
    fn decode(
        &mut self,
        buf: &mut BytesMut,
    ) -> Result<Option<framing::Frame>, framing::FrameError> {
        self.0.decode(buf)
    }

    fn decode_eof(
        &mut self,
        buf: &mut BytesMut,
    ) -> Result<Option<framing::Frame>, framing::FrameError> {
        let frame = self.0.decode(buf)?;
        if frame.is_none() {
            buf.clear();
        }
        Ok(frame)
    }

    fn seal(&self, out: &mut Vec<u8>, start: usize) {
        self.0.seal(out, start);
    }
}

/// Lines whose message may have had line breaks between its tokens. JSON has none within them, so
/// blanks in their place change nothing.
#[derive(Clone)]
struct OneLine(Ndjson);

impl Framing for OneLine {
    fn decode(
        &mut self,
        buf: &mut BytesMut,
    ) -> Result<Option<framing::Frame>, framing::FrameError> {
        self.0.decode(buf)
    }

    fn decode_eof(
        &mut self,
        buf: &mut BytesMut,
    ) -> Result<Option<framing::Frame>, framing::FrameError> {
        self.0.decode_eof(buf)
    }

    fn seal(&self, out: &mut Vec<u8>, start: usize) {
        for byte in &mut out[start..] {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        self.0.seal(out, start);
    }
}
