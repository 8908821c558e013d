//! Framing: a fixed header, then a body. Owns the limits on what one peer may make the other hold in memory.

use thiserror::Error;

/// Bytes of the fixed header: body length `u32`, kind `u16`, descriptor count `u16`, tag `u64`, all little endian.
pub const HEADER_LEN: usize = 16;

/// Longest body a frame may have.
pub const MAX_BODY: usize = 4 << 20;

/// Most descriptors that may ride with one frame.
pub const MAX_FDS: usize = 8;

/// One message on the wire, not yet interpreted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// What the body means; see [`super::Request`] and [`super::Reply`].
    pub kind: u16,
    /// How many descriptors ride with this frame.
    pub fds: u16,
    /// Chosen by the asking side and repeated in the answer; 0 marks a notice.
    pub tag: u64,
    /// Fields, each `u16` id, `u32` length, bytes.
    pub body: Vec<u8>,
}

/// Why a byte stream cannot be a sequence of frames. The stream is lost from here on.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum FrameError {
    /// The header announces, or the sender built, more than [`MAX_BODY`].
    #[error("frame body of {0} bytes exceeds the limit of {MAX_BODY}")]
    BodyTooLong(usize),
    /// The header announces more than [`MAX_FDS`].
    #[error("frame with {0} descriptors exceeds the limit of {MAX_FDS}")]
    TooManyFds(usize),
}

impl Frame {
    /// The bytes to send.
    pub fn encode(&self) -> Result<Vec<u8>, FrameError> {
        if self.body.len() > MAX_BODY {
            return Err(FrameError::BodyTooLong(self.body.len()));
        }
        if usize::from(self.fds) > MAX_FDS {
            return Err(FrameError::TooManyFds(usize::from(self.fds)));
        }
        let mut bytes = Vec::with_capacity(HEADER_LEN + self.body.len());
        bytes.extend_from_slice(&(self.body.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&self.kind.to_le_bytes());
        bytes.extend_from_slice(&self.fds.to_le_bytes());
        bytes.extend_from_slice(&self.tag.to_le_bytes());
        bytes.extend_from_slice(&self.body);
        Ok(bytes)
    }
}

/// Collects bytes as they arrive and yields whole frames.
#[derive(Debug, Default)]
pub struct FrameReader {
    buffer: Vec<u8>,
    taken: usize,
}

impl FrameReader {
    /// An empty reader.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends bytes as they came from the peer, cut anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.taken > 0 {
            self.buffer.drain(..self.taken);
            self.taken = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole frame, or `None` until more bytes arrive. An error is final: the stream has no further frame.
    #[expect(
        clippy::should_implement_trait,
        reason = "a reader that needs more bytes is not an exhausted iterator"
    )]
    pub fn next(&mut self) -> Result<Option<Frame>, FrameError> {
        let rest = &self.buffer[self.taken..];
        let Some((header, rest)) = rest.split_first_chunk::<HEADER_LEN>() else {
            return Ok(None);
        };
        let [l0, l1, l2, l3, k0, k1, f0, f1, tag @ ..] = *header;
        let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        let fds = u16::from_le_bytes([f0, f1]);
        if length > MAX_BODY {
            return Err(FrameError::BodyTooLong(length));
        }
        if usize::from(fds) > MAX_FDS {
            return Err(FrameError::TooManyFds(usize::from(fds)));
        }
        let Some(body) = rest.get(..length) else {
            return Ok(None);
        };
        let frame = Frame {
            kind: u16::from_le_bytes([k0, k1]),
            fds,
            tag: u64::from_le_bytes(tag),
            body: body.to_vec(),
        };
        self.taken += HEADER_LEN + length;
        if self.taken == self.buffer.len() {
            self.buffer.clear();
            self.taken = 0;
            // One large frame must not pin its memory for the life of the connection.
            self.buffer.shrink_to(64 << 10);
        }
        Ok(Some(frame))
    }
}
