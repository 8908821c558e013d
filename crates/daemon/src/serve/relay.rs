//! A connection to the daemon's own world, handed through: only the framing may differ.

use std::path::Path;

use bytes::BytesMut;
use rookery_wire::framing::{self, Framing, Ndjson};
use rookery_wire::transport::{Transport, unix};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

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
