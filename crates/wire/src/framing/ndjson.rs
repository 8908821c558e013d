//! One document per line. Owns the line limit and finding the way back after an overlong line.

use bytes::{Buf, BytesMut};
use memchr::memchr;

use super::{DEFAULT_FRAME_LIMIT, Frame, FrameError, Framing};

/// Newline-delimited JSON: one frame per line, a trailing CR ignored.
///
/// Blank lines are skipped and a last line without a newline counts, unless it is
/// [strict](Self::strict).
#[derive(Debug, Clone)]
pub struct Ndjson {
    limit: usize,
    /// Whether only a newline ends a line, and every newline does.
    strict: bool,
    /// Bytes at the front of the buffer that are known to hold no newline.
    scanned: usize,
    /// True while the rest of an overlong line is thrown away.
    discarding: bool,
}

impl Default for Ndjson {
    fn default() -> Self {
        Self::with_limit(DEFAULT_FRAME_LIMIT)
    }
}

impl Ndjson {
    /// A framing whose lines hold at most `limit` bytes, not counting the newline.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { limit, strict: false, scanned: 0, discarding: false }
    }

    /// The framing that takes newlines at their word: a blank line is a frame, and bytes without a
    /// newline at the end of the stream are dropped.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { strict: true, ..self }
    }

    fn take_line(&mut self, buf: &mut BytesMut, end: usize) -> Result<Option<Frame>, FrameError> {
        self.scanned = 0;
        if self.discarding {
            self.discarding = false;
            buf.advance(end + 1);
            return Ok(None);
        }
        if end > self.limit {
            buf.advance(end + 1);
            return Err(FrameError::TooLong { limit: self.limit });
        }
        if !self.strict && buf[..end].trim_ascii().is_empty() {
            buf.advance(end + 1);
            return Ok(None);
        }
        let mut line = buf.split_to(end + 1);
        line.truncate(end);
        strip_cr(&mut line);
        Ok(Some(line.freeze()))
    }
}

fn strip_cr(line: &mut BytesMut) {
    if line.last() == Some(&b'\r') {
        line.truncate(line.len() - 1);
    }
}

impl Framing for Ndjson {
    fn decode(&mut self, buf: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        while let Some(offset) = memchr(b'\n', &buf[self.scanned..]) {
            let end = self.scanned + offset;
            if let Some(frame) = self.take_line(buf, end)? {
                return Ok(Some(frame));
            }
        }
        self.scanned = buf.len();
        if self.discarding {
            buf.clear();
            self.scanned = 0;
        } else if buf.len() > self.limit {
            buf.clear();
            self.scanned = 0;
            self.discarding = true;
            return Err(FrameError::TooLong { limit: self.limit });
        }
        Ok(None)
    }

    fn decode_eof(&mut self, buf: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        if let Some(frame) = self.decode(buf)? {
            return Ok(Some(frame));
        }
        self.scanned = 0;
        let mut line = buf.split();
        if self.strict {
            return Ok(None);
        }
        strip_cr(&mut line);
        Ok((!line.trim_ascii().is_empty()).then(|| line.freeze()))
    }

    fn seal(&self, out: &mut Vec<u8>, start: usize) {
        // In valid JSON a raw newline is only ever white space between tokens, so a blank is the same document.
        let mut at = start;
        while let Some(offset) = memchr(b'\n', &out[at..]) {
            out[at + offset] = b' ';
            at += offset + 1;
        }
        out.push(b'\n');
    }
}
