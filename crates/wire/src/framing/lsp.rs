//! The Language Server Protocol's framing: a header block with `Content-Length`, then the body.
//! Owns the limits on both and the texts of their errors.

use std::io::Write as _;

use bytes::{Buf, BytesMut};
use memchr::memchr;

use super::{DEFAULT_FRAME_LIMIT, Frame, FrameError, Framing};

/// Largest header block accepted: 8 KiB.
pub(super) const HEADER_LIMIT: usize = 8 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Headers { consumed: usize, length: Option<usize> },
    Body { length: usize },
    Failed,
}

impl State {
    const START: Self = Self::Headers { consumed: 0, length: None };
}

/// `Content-Length` framing; every malformed header is fatal, because the next frame cannot be found.
#[derive(Debug, Clone)]
pub struct Lsp {
    limit: usize,
    state: State,
    /// Bytes at the front of the buffer that are known to hold no line end.
    scanned: usize,
}

impl Default for Lsp {
    fn default() -> Self {
        Self::with_limit(DEFAULT_FRAME_LIMIT)
    }
}

impl Lsp {
    /// A framing whose bodies hold at most `limit` bytes.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { limit, state: State::START, scanned: 0 }
    }

    fn fail(&mut self, buf: &mut BytesMut, error: FrameError) -> FrameError {
        self.state = State::Failed;
        buf.clear();
        error
    }

    /// Reads header lines until the block is complete; `None` asks for more bytes.
    fn headers(
        &mut self,
        buf: &mut BytesMut,
        mut consumed: usize,
        mut length: Option<usize>,
    ) -> Result<Option<usize>, FrameError> {
        while let Some(offset) = memchr(b'\n', &buf[self.scanned..]) {
            let end = self.scanned + offset;
            self.scanned = 0;
            consumed += end + 1;
            if consumed > HEADER_LIMIT {
                return Err(FrameError::HeadersTooLong { limit: HEADER_LIMIT });
            }
            let line = buf[..end].strip_suffix(b"\r").unwrap_or(&buf[..end]);
            let blank = line.is_empty();
            if let Some(announced) = content_length(line, self.limit)? {
                length = Some(announced);
            }
            buf.advance(end + 1);
            if blank {
                return length.map(Some).ok_or(FrameError::MissingLength);
            }
        }
        self.scanned = buf.len();
        if consumed + buf.len() > HEADER_LIMIT {
            return Err(FrameError::HeadersTooLong { limit: HEADER_LIMIT });
        }
        self.state = State::Headers { consumed, length };
        Ok(None)
    }
}

/// The length announced by a header line, `None` for any other header.
fn content_length(line: &[u8], limit: usize) -> Result<Option<usize>, FrameError> {
    let Some(colon) = memchr(b':', line) else { return Ok(None) };
    if !line[..colon].trim_ascii().eq_ignore_ascii_case(b"content-length") {
        return Ok(None);
    }
    let digits = line[colon + 1..].trim_ascii();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(FrameError::InvalidLength);
    }
    let length = digits.iter().fold(0_usize, |sum, digit| {
        sum.saturating_mul(10).saturating_add(usize::from(digit - b'0'))
    });
    if length > limit {
        return Err(FrameError::LengthOverLimit { limit });
    }
    Ok(Some(length))
}

impl Framing for Lsp {
    fn decode(&mut self, buf: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        loop {
            match self.state {
                State::Headers { consumed, length } => match self.headers(buf, consumed, length) {
                    Ok(Some(length)) => self.state = State::Body { length },
                    Ok(None) => return Ok(None),
                    Err(error) => return Err(self.fail(buf, error)),
                },
                State::Body { length } if buf.len() < length => return Ok(None),
                State::Body { length } => {
                    self.state = State::START;
                    let body = buf.split_to(length);
                    if !body.trim_ascii().is_empty() {
                        return Ok(Some(body.freeze()));
                    }
                }
                State::Failed => {
                    buf.clear();
                    return Ok(None);
                }
            }
        }
    }

    fn decode_eof(&mut self, buf: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        if let Some(frame) = self.decode(buf)? {
            return Ok(Some(frame));
        }
        match self.state {
            State::Failed => Ok(None),
            State::Body { .. } => Err(self.fail(buf, FrameError::EofInBody)),
            State::Headers { consumed: 0, .. } if buf.is_empty() => Ok(None),
            State::Headers { .. } => Err(self.fail(buf, FrameError::EofInHeaders)),
        }
    }

    fn seal(&self, out: &mut Vec<u8>, start: usize) {
        let mut header = [0_u8; 48];
        let length = out.len() - start;
        let mut rest = &mut header[..];
        write!(rest, "Content-Length: {length}\r\n\r\n")
            .expect("a header with 20 digits fits 48 bytes");
        let used = 48 - rest.len();
        out.splice(start..start, header[..used].iter().copied());
    }
}
