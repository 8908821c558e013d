//! Server-sent events: bytes go in as they come, whole frames come out.
//!
//! Pure. Text is decoded when a frame is whole, so that a character may be torn between two reads.

#[cfg(test)]
mod tests;

/// How long one frame may be.
pub const FRAME_LIMIT: usize = 8 * 1024 * 1024;

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// What sort of event it is, if the stream says so.
    pub event: Option<String>,
    /// The event's name, if it has one.
    pub id: Option<String>,
    /// Its data, lines joined by line feeds.
    pub data: String,
}

/// A frame was longer than [`FRAME_LIMIT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event is longer than {FRAME_LIMIT} bytes")]
pub struct TooLong;

/// Cuts a stream into frames.
#[derive(Debug)]
pub struct Parser {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, whose line feed may still come.
    was_return: bool,
    is_first_line: bool,
    data: Vec<u8>,
    has_data: bool,
    event: Option<Vec<u8>>,
    id: Option<Vec<u8>>,
    limit: usize,
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

impl Parser {
    /// A parser at the beginning of a stream.
    pub fn new() -> Self {
        Self::with_limit(FRAME_LIMIT)
    }

    /// A parser that takes frames of at most this many bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            was_return: false,
            is_first_line: true,
            data: Vec::new(),
            has_data: false,
            event: None,
            id: None,
            limit,
        }
    }

    /// Takes bytes and adds the frames that they complete. After an error the stream is of no use.
    pub fn push(&mut self, mut bytes: &[u8], frames: &mut Vec<Frame>) -> Result<(), TooLong> {
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.was_return) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(bytes);
                return self.check();
            };
            self.line.extend_from_slice(&bytes[..end]);
            self.check()?;
            self.was_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.end_line(frames);
        }
        Ok(())
    }

    /// What was left when the stream ended: a frame without the empty line behind it, which some
    /// servers forget. Whether it is whole only its reader can tell.
    pub fn finish(&mut self) -> Option<Frame> {
        let mut frames = Vec::new();
        if !self.line.is_empty() {
            self.end_line(&mut frames);
        }
        self.end_frame(&mut frames);
        frames.pop()
    }

    fn check(&self) -> Result<(), TooLong> {
        let names = self.event.as_ref().map_or(0, Vec::len) + self.id.as_ref().map_or(0, Vec::len);
        if self.line.len() + self.data.len() + names > self.limit { Err(TooLong) } else { Ok(()) }
    }

    fn end_line(&mut self, frames: &mut Vec<Frame>) {
        let line = std::mem::take(&mut self.line);
        let mut text = line.as_slice();
        if std::mem::take(&mut self.is_first_line) {
            text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        }
        if text.is_empty() {
            return self.end_frame(frames);
        }
        let (field, value) = match text.iter().position(|byte| *byte == b':') {
            // A comment keeps a connection alive and says nothing.
            Some(0) => return,
            Some(colon) => (&text[..colon], &text[colon + 1..]),
            None => (text, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"event" => self.event = Some(value.to_vec()),
            b"id" => self.id = Some(value.to_vec()),
            _ => {}
        }
    }

    fn end_frame(&mut self, frames: &mut Vec<Frame>) {
        let data = std::mem::take(&mut self.data);
        let (event, id) = (self.event.take(), self.id.take());
        if std::mem::take(&mut self.has_data) {
            frames.push(Frame { event: event.map(text), id: id.map(text), data: text(data) });
        }
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
