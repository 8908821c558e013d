//! One WebSocket as a stream of bytes for the connection loop: every text message is a record of
//! its length and its bytes, in both directions, so that messages keep their bounds whatever they
//! contain. Owns pings, close codes and the refusal of binary messages.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Buf as _, Bytes, BytesMut};
use futures_util::{Sink as _, Stream as _};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        self, Message,
        error::ProtocolError,
        protocol::{CloseFrame, Role, WebSocketConfig, frame::coding::CloseCode},
    },
};

use super::super::{Slot, Transport, http::Carrier, hung_up};
use crate::{
    connection::Outcome,
    framing::{Frame, FrameError, Framing},
};

/// Largest message taken from a peer: 32 MiB.
pub const MAX_MESSAGE: usize = 32 * 1024 * 1024;
/// Bytes of a length.
const PREFIX: usize = 4;
/// Longest reason a close frame can carry.
const MAX_REASON: usize = 123;
const READ_BUFFER: usize = 8 * 1024;
const WRITE_BUFFER: usize = 64 * 1024;

/// The framing that goes with a [`Socket`]: a length of four bytes, then the message.
#[derive(Debug, Clone, Copy, Default)]
pub struct Messages;

impl Framing for Messages {
    fn decode(&mut self, buf: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        let Some(len) = buf.first_chunk::<PREFIX>().map(|bytes| u32::from_be_bytes(*bytes)) else {
            return Ok(None);
        };
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        if len > MAX_MESSAGE {
            return Err(FrameError::LengthOverLimit { limit: MAX_MESSAGE });
        }
        if buf.len() - PREFIX < len {
            return Ok(None);
        }
        buf.advance(PREFIX);
        Ok(Some(buf.split_to(len).freeze()))
    }

    fn decode_eof(&mut self, buf: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        let frame = self.decode(buf)?;
        if frame.is_none() {
            buf.clear();
        }
        Ok(frame)
    }

    fn seal(&self, out: &mut Vec<u8>, start: usize) {
        // No reply comes near four gigabytes: the write buffer would have failed long before.
        let len = u32::try_from(out.len() - start).unwrap_or(u32::MAX);
        out.splice(start..start, len.to_be_bytes());
    }
}

/// A peer that was let in, ready for [`serve_connection`](crate::serve_connection) with
/// [`Messages`] as framing.
pub struct Socket {
    ws: WebSocketStream<Carrier>,
    peer: SocketAddr,
    /// Parts of the message being read.
    incoming: [Bytes; 2],
    outgoing: Outgoing,
    /// The peer said goodbye, or is gone.
    is_over: bool,
    /// What to tell the peer at the end, if it broke a rule.
    fault: Option<CloseCode>,
    close_notice: CloseNotice,
    pings: Option<Pings>,
    _slot: Slot,
}

/// Asks a silent peer whether it is still there.
struct Pings {
    every: Duration,
    next: Pin<Box<Sleep>>,
    /// Pings sent since the peer was last heard.
    unanswered: u32,
}

/// Pings that may stay unanswered.
const MAX_UNANSWERED: u32 = 2;

/// Records on their way out, cut from whatever pieces they are written in.
#[derive(Default)]
struct Outgoing {
    prefix: Vec<u8>,
    body: Vec<u8>,
    /// Complete, and not taken by the WebSocket yet.
    message: Option<Message>,
}

impl Outgoing {
    /// Takes bytes up to the end of one record and tells how many.
    fn take(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let head = bytes.len().min(PREFIX - self.prefix.len());
        self.prefix.extend_from_slice(&bytes[..head]);
        let Some(len) = self.prefix.first_chunk::<PREFIX>() else { return Ok(head) };
        let len = usize::try_from(u32::from_be_bytes(*len)).unwrap_or(usize::MAX);
        let rest = &bytes[head..];
        let missing = len - self.body.len();
        let body = rest.len().min(missing);
        self.body.extend_from_slice(&rest[..body]);
        if body == missing {
            self.prefix.clear();
            let text = String::from_utf8(std::mem::take(&mut self.body));
            self.message = Some(Message::text(text.map_err(io::Error::other)?));
        }
        Ok(head + body)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CloseNotice {
    Pending,
    Sent,
}

impl std::fmt::Debug for Socket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Socket").field("peer", &self.peer).finish_non_exhaustive()
    }
}

impl Socket {
    /// A WebSocket over a stream on which the handshake is done; `rest` came behind it.
    pub(crate) async fn new(stream: Carrier, rest: Vec<u8>, peer: SocketAddr, slot: Slot) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER)
            .write_buffer_size(WRITE_BUFFER)
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE));
        let ws =
            WebSocketStream::from_partially_read(stream, rest, Role::Server, Some(config)).await;
        Self {
            ws,
            peer,
            incoming: [Bytes::new(), Bytes::new()],
            outgoing: Outgoing::default(),
            is_over: false,
            fault: None,
            close_notice: CloseNotice::Pending,
            pings: None,
            _slot: slot,
        }
    }

    /// Sends a ping this often, and takes a peer that leaves several unanswered to be gone.
    #[must_use]
    pub fn with_pings(mut self, every: Duration) -> Self {
        let next = Box::pin(tokio::time::sleep(every));
        self.pings = Some(Pings { every, next, unanswered: 0 });
        self
    }

    /// Sends a ping if it is time; true if the peer left too many unanswered.
    fn poll_pings(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(pings) = &mut self.pings else { return false };
        while pings.next.as_mut().poll(cx).is_ready() {
            if pings.unanswered >= MAX_UNANSWERED {
                return true;
            }
            pings.unanswered += 1;
            pings.next.as_mut().reset(Instant::now() + pings.every);
            // Where there is no room, a peer that reads again is heard anyway.
            let ws = Pin::new(&mut self.ws);
            if let Poll::Ready(Ok(())) = ws.poll_ready(cx)
                && Pin::new(&mut self.ws).start_send(Message::Ping(Bytes::new())).is_ok()
            {
                let _ = Pin::new(&mut self.ws).poll_flush(cx);
            }
        }
        false
    }

    /// The address of the other side.
    #[must_use]
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Waits for the next text message; false at the end.
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        loop {
            let next = ready!(Pin::new(&mut self.ws).poll_next(cx));
            if let (Some(Ok(_)), Some(pings)) = (&next, &mut self.pings) {
                pings.unanswered = 0;
            }
            let text = match next {
                Some(Ok(Message::Text(text))) => Bytes::from(text),
                Some(Ok(Message::Binary(_))) => {
                    self.fault = Some(CloseCode::Unsupported);
                    return Poll::Ready(Err(bad_data("binary WebSocket message")));
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
                Some(Ok(Message::Close(_))) | None => {
                    self.is_over = true;
                    return Poll::Ready(Ok(false));
                }
                Some(Err(error)) => return Poll::Ready(self.failed(error)),
            };
            let len = u32::try_from(text.len()).map_err(io::Error::other)?;
            self.incoming = [Bytes::copy_from_slice(&len.to_be_bytes()), text];
            return Poll::Ready(Ok(true));
        }
    }

    /// Sorts an error of reading into the end of the stream, a fault of the peer's, or neither.
    fn failed(&mut self, error: tungstenite::Error) -> io::Result<bool> {
        use tungstenite::Error;
        self.fault = match error {
            Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => {
                self.is_over = true;
                return Ok(false);
            }
            Error::Io(error) => {
                self.is_over = true;
                return Err(error);
            }
            Error::Capacity(_) => Some(CloseCode::Size),
            Error::Utf8(_) => Some(CloseCode::Invalid),
            _ => Some(CloseCode::Protocol),
        };
        Err(bad_data(error))
    }

    /// Hands a complete record to the WebSocket.
    fn poll_push(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.outgoing.message.is_none() {
            return Poll::Ready(Ok(()));
        }
        ready!(Pin::new(&mut self.ws).poll_ready(cx)).map_err(into_io)?;
        if let Some(message) = self.outgoing.message.take() {
            Pin::new(&mut self.ws).start_send(message).map_err(into_io)?;
        }
        Poll::Ready(Ok(()))
    }

    fn close_frame(&self, outcome: &Outcome) -> CloseFrame {
        let code = self.fault.unwrap_or(match outcome {
            Outcome::PeerClosed => CloseCode::Normal,
            Outcome::Finished => CloseCode::Away,
            Outcome::Dismissed(code) => CloseCode::from(*code),
            Outcome::Cut(_) => CloseCode::Again,
            Outcome::Framing(_) => CloseCode::Protocol,
            Outcome::Io(_) => CloseCode::Error,
        });
        let reason = match outcome {
            Outcome::Cut(reason) => cut_to(reason, MAX_REASON).to_owned(),
            _ => String::new(),
        };
        CloseFrame { code, reason: reason.into() }
    }
}

fn cut_to(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

fn bad_data(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, cause)
}

fn into_io(error: tungstenite::Error) -> io::Error {
    match error {
        tungstenite::Error::Io(error) => error,
        other => io::Error::new(io::ErrorKind::BrokenPipe, other),
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.is_over {
            return Poll::Ready(Ok(()));
        }
        if this.poll_pings(cx) {
            this.is_over = true;
            return Poll::Ready(Ok(()));
        }
        if this.incoming.iter().all(Bytes::is_empty) && !ready!(this.poll_message(cx))? {
            return Poll::Ready(Ok(()));
        }
        for part in &mut this.incoming {
            let count = part.len().min(buf.remaining());
            buf.put_slice(&part.split_to(count));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.is_over {
            // It will not be read; requests at work end without an error of ours.
            return Poll::Ready(Ok(buf.len()));
        }
        let mut taken = 0;
        loop {
            match this.poll_push(cx)? {
                Poll::Pending if taken == 0 => return Poll::Pending,
                Poll::Pending => return Poll::Ready(Ok(taken)),
                Poll::Ready(()) if taken == buf.len() => return Poll::Ready(Ok(taken)),
                Poll::Ready(()) => taken += this.outgoing.take(&buf[taken..])?,
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_over {
            return Poll::Ready(Ok(()));
        }
        ready!(self.poll_push(cx))?;
        Pin::new(&mut self.ws).poll_flush(cx).map_err(into_io)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(cx))?;
        Pin::new(&mut self.ws).poll_close(cx).map_err(into_io)
    }
}

impl Transport for Socket {
    fn peer_gone(&self) -> bool {
        self.is_over || hung_up(self.ws.get_ref().tcp())
    }

    /// Says goodbye with the code that fits, and reads until the peer has seen it: closing with
    /// unread bytes would take the close frame back.
    fn poll_farewell(&mut self, cx: &mut Context<'_>, outcome: &Outcome) -> Poll<()> {
        if self.close_notice == CloseNotice::Pending && !self.is_over {
            // Polled once or twice before there is room; what was not handed over is given up.
            let Ok(()) = ready!(Pin::new(&mut self.ws).poll_ready(cx)) else {
                return Poll::Ready(());
            };
            let frame = self.close_frame(outcome);
            if Pin::new(&mut self.ws).start_send(Message::Close(Some(frame))).is_err() {
                return Poll::Ready(());
            }
        }
        self.close_notice = CloseNotice::Sent;
        if ready!(Pin::new(&mut self.ws).poll_flush(cx)).is_err() {
            return Poll::Ready(());
        }
        self.poll_drain(cx)
    }
}

impl Socket {
    /// Throws away what still comes, up to the peer's own goodbye.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.fault.is_some() {
            // The WebSocket reads no more after a fault, so the bytes below it are read; the peer
            // ends them when it sees the end of ours.
            if ready!(Pin::new(self.ws.get_mut()).poll_shutdown(cx)).is_err() {
                return Poll::Ready(());
            }
            let mut scrap = [0; 4096];
            loop {
                let mut buf = ReadBuf::new(&mut scrap);
                match ready!(Pin::new(self.ws.get_mut()).poll_read(cx, &mut buf)) {
                    Ok(()) if !buf.filled().is_empty() => {}
                    _ => return Poll::Ready(()),
                }
            }
        }
        while let Some(Ok(_)) = ready!(Pin::new(&mut self.ws).poll_next(cx)) {}
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reasons_are_cut_between_characters() {
        assert_eq!(cut_to("zwölf", 3), "zw");
        assert_eq!(cut_to("zwölf", 99), "zwölf");
    }

    #[test]
    fn a_length_over_the_limit_is_fatal() {
        let mut buf = BytesMut::from(&u32::MAX.to_be_bytes()[..]);
        let error = Messages.decode(&mut buf).unwrap_err();
        assert!(error.is_fatal());
    }

    proptest! {
        #[test]
        fn messages_keep_their_bounds(texts in proptest::collection::vec("\\PC{0,20}\n?", 0..8), cut in 1usize..9) {
            let mut bytes = Vec::new();
            for text in &texts {
                Messages.encode(text.as_bytes(), &mut bytes);
            }
            let mut buf = BytesMut::new();
            let mut outgoing = Outgoing::default();
            let (mut read, mut written) = (Vec::new(), Vec::new());
            for mut piece in bytes.chunks(cut) {
                buf.extend_from_slice(piece);
                while let Some(frame) = Messages.decode(&mut buf).unwrap() {
                    read.push(String::from_utf8(frame.to_vec()).unwrap());
                }
                while !piece.is_empty() {
                    piece = &piece[outgoing.take(piece).unwrap()..];
                    written.extend(outgoing.message.take().map(|m| m.into_text().unwrap().to_string()));
                }
            }
            prop_assert_eq!(&read, &texts);
            prop_assert_eq!(&written, &texts);
            prop_assert!(Messages.decode_eof(&mut buf).unwrap().is_none());
        }
    }
}
