//! Cutting a byte stream into frames and back. Decoders are pure and incremental: they see only
//! the buffer, never a socket, and know nothing of what a frame contains.

mod lsp;
mod ndjson;
mod node_ipc;

use bytes::{Bytes, BytesMut};

pub use lsp::Lsp;
pub use ndjson::Ndjson;
pub use node_ipc::{Form, NodeIpc};

/// Largest frame accepted unless a framing is built with another limit: 16 MiB.
pub const DEFAULT_FRAME_LIMIT: usize = 16 * 1024 * 1024;

/// The body of one frame, without delimiters or headers.
pub type Frame = Bytes;

/// Why a frame could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A line is longer than the limit; its rest is discarded and reading goes on behind it.
    #[error("frame is longer than {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// A frame is not UTF-8; whether that ends the connection is the protocol's choice.
    #[error("stream did not contain valid UTF-8")]
    NotUtf8,
    /// A header block has no `Content-Length`.
    #[error("missing Content-Length header")]
    MissingLength,
    /// The `Content-Length` is not a plain decimal number.
    #[error("invalid Content-Length header")]
    InvalidLength,
    /// The announced length is over the limit.
    #[error("Content-Length is over the limit of {limit} bytes")]
    LengthOverLimit {
        /// The limit in bytes.
        limit: usize,
    },
    /// The header block does not end within its limit.
    #[error("LSP headers are longer than {limit} bytes")]
    HeadersTooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The stream ended inside a header block.
    #[error("unexpected EOF in LSP headers")]
    EofInHeaders,
    /// The stream ended inside a body.
    #[error("unexpected EOF in LSP body")]
    EofInBody,
}

impl FrameError {
    /// True if the decoder cannot find the next frame, so that the connection must end.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        !matches!(self, Self::TooLong { .. } | Self::NotUtf8)
    }
}

/// One way of marking where a frame begins and ends.
///
/// Between two calls the caller may only append to the buffer, because decoders remember how far
/// they have looked.
pub trait Framing: Send + 'static {
    /// Takes the next complete frame off the front of `buf`; `None` asks for more bytes.
    ///
    /// # Errors
    /// After an error that is not [fatal](FrameError::is_fatal) decoding may go on.
    fn decode(&mut self, buf: &mut BytesMut) -> Result<Option<Frame>, FrameError>;

    /// Like [`decode`](Self::decode) when no more bytes will come; `None` means all is consumed.
    ///
    /// # Errors
    /// As for [`decode`](Self::decode), and if the stream ended inside a frame.
    fn decode_eof(&mut self, buf: &mut BytesMut) -> Result<Option<Frame>, FrameError>;

    /// Turns the body at `out[start..]` into a frame in place.
    fn seal(&self, out: &mut Vec<u8>, start: usize);

    /// Appends `body` to `out` as one frame.
    fn encode(&self, body: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(body);
        self.seal(out, start);
    }
}

impl Framing for Box<dyn Framing> {
    fn decode(&mut self, buf: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        (**self).decode(buf)
    }

    fn decode_eof(&mut self, buf: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        (**self).decode_eof(buf)
    }

    fn seal(&self, out: &mut Vec<u8>, start: usize) {
        (**self).seal(out, start);
    }
}

/// The frame as text.
///
/// # Errors
/// [`FrameError::NotUtf8`].
pub fn text(frame: &[u8]) -> Result<&str, FrameError> {
    std::str::from_utf8(frame).map_err(|_| FrameError::NotUtf8)
}

#[cfg(test)]
mod tests;
