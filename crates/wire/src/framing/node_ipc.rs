//! The framing of node-ipc: one JSON document, wrapped in an object that names a channel, and one form
//! feed. Owns finding frames and answering in the form that was last received; knows no message.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use bytes::{Buf, BytesMut};
use memchr::memchr;

use super::{Frame, FrameError, Framing};

/// What ends a frame. JSON has no raw one, since it is written `\f` within strings.
const FORM_FEED: u8 = 0x0c;
/// What stands before a message and after it.
const WRAPPER: (&[u8], &[u8]) = (b"{\"type\":\"message\",\"data\":", b"}");

/// The form that frames are sent in: shared by the framing and by whoever reads what they hold.
#[derive(Debug, Clone, Default)]
pub struct Form(Arc<AtomicU8>);

impl Form {
    const BARE: u8 = 1;
    const LINE: u8 = 2;
    /// The frame that was read last ended with a newline.
    const READ_LINE: u8 = 4;

    /// Sends what follows as the last message came: wrapped or not, ended as it was.
    pub fn answer_in_kind(&self, is_wrapped: bool) {
        let read = self.0.load(Ordering::Acquire) & Self::READ_LINE;
        let bare = if is_wrapped { 0 } else { Self::BARE };
        let line = if read == 0 { 0 } else { Self::LINE };
        self.0.store(read | bare | line, Ordering::Release);
    }

    fn has(&self, bit: u8) -> bool {
        self.0.load(Ordering::Acquire) & bit != 0
    }

    fn note_end(&self, is_line: bool) {
        let bit = Self::READ_LINE;
        match is_line {
            true => self.0.fetch_or(bit, Ordering::AcqRel),
            false => self.0.fetch_and(!bit, Ordering::AcqRel),
        };
    }
}

/// Frames that end with a form feed and, if [lines](Self::with_lines) are taken too, with a newline
/// after a whole document.
///
/// Empty frames are skipped, and bytes without an end are dropped with the stream.
#[derive(Debug, Clone)]
pub struct NodeIpc {
    limit: usize,
    takes_lines: bool,
    form: Form,
    /// Bytes at the front of the buffer that are known to hold no end.
    scanned: usize,
    nesting: Nesting,
    /// True while the rest of an overlong frame is thrown away.
    discarding: bool,
}

/// Where in a document the bytes looked at so far end; only counted where newlines may end a frame.
#[derive(Debug, Clone, Copy, Default)]
struct Nesting {
    depth: u32,
    in_string: bool,
    is_escaped: bool,
    has_begun: bool,
}

impl Nesting {
    /// Takes one byte; true if a newline here ends the document.
    fn feed(&mut self, byte: u8) -> bool {
        if self.in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'\n' => return self.depth == 0 && self.has_begun,
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.has_begun |= !byte.is_ascii_whitespace();
        false
    }
}

impl NodeIpc {
    /// A framing whose frames hold at most `limit` bytes, not counting their end.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        let form = Form::default();
        let nesting = Nesting::default();
        Self { limit, takes_lines: false, form, scanned: 0, nesting, discarding: false }
    }

    /// The same, where a newline ends a frame as well once a document is whole.
    #[must_use]
    pub fn with_lines(self) -> Self {
        Self { takes_lines: true, ..self }
    }

    /// The form that frames are sent in.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form.clone()
    }

    /// Where the next frame ends, and whether with a newline.
    fn find_end(&mut self, bytes: &[u8]) -> Option<(usize, bool)> {
        if !self.takes_lines {
            let offset = memchr(FORM_FEED, &bytes[self.scanned..])?;
            return Some((self.scanned + offset, false));
        }
        for (at, &byte) in bytes.iter().enumerate().skip(self.scanned) {
            if byte == FORM_FEED {
                return Some((at, false));
            }
            if self.nesting.feed(byte) {
                return Some((at, true));
            }
        }
        None
    }

    fn take(&mut self, buf: &mut BytesMut, end: usize) -> Result<Option<Frame>, FrameError> {
        self.scanned = 0;
        self.nesting = Nesting::default();
        if std::mem::take(&mut self.discarding) {
            buf.advance(end + 1);
            return Ok(None);
        }
        if end > self.limit {
            buf.advance(end + 1);
            return Err(FrameError::TooLong { limit: self.limit });
        }
        if buf[..end].trim_ascii().is_empty() {
            buf.advance(end + 1);
            return Ok(None);
        }
        let mut frame = buf.split_to(end + 1);
        frame.truncate(end);
        Ok(Some(frame.freeze()))
    }
}

impl Framing for NodeIpc {
    fn decode(&mut self, buf: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        while let Some((end, is_line)) = self.find_end(buf) {
            if let Some(frame) = self.take(buf, end)? {
                self.form.note_end(is_line);
                return Ok(Some(frame));
            }
        }
        self.scanned = buf.len();
        if self.discarding || buf.len() > self.limit {
            buf.clear();
            self.scanned = 0;
            if !std::mem::replace(&mut self.discarding, true) {
                return Err(FrameError::TooLong { limit: self.limit });
            }
        }
        Ok(None)
    }

    fn decode_eof(&mut self, buf: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        let frame = self.decode(buf)?;
        if frame.is_none() {
            buf.clear();
        }
        Ok(frame)
    }

    fn seal(&self, out: &mut Vec<u8>, start: usize) {
        if !self.form.has(Form::BARE) {
            out.splice(start..start, WRAPPER.0.iter().copied());
            out.extend_from_slice(WRAPPER.1);
        }
        out.push(if self.form.has(Form::LINE) { b'\n' } else { FORM_FEED });
    }

    fn encode(&self, body: &[u8], out: &mut Vec<u8>) {
        let is_wrapped = !self.form.has(Form::BARE);
        if is_wrapped {
            out.extend_from_slice(WRAPPER.0);
        }
        out.extend_from_slice(body);
        if is_wrapped {
            out.extend_from_slice(WRAPPER.1);
        }
        out.push(if self.form.has(Form::LINE) { b'\n' } else { FORM_FEED });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(framing: &mut NodeIpc, bytes: &[u8]) -> Vec<String> {
        let mut buf = BytesMut::from(bytes);
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = framing.decode(&mut buf) {
            frames.push(String::from_utf8_lossy(&frame).into_owned());
        }
        frames
    }

    #[test]
    fn whole_frames_are_taken_at_once_and_the_tail_is_kept() {
        let mut framing = NodeIpc::with_limit(64);
        let mut buf = BytesMut::from(&b"{\"a\":1}\x0c\x0c \n\x0c{\"b\":2}\x0c{\"c\""[..]);
        assert_eq!(framing.decode(&mut buf).unwrap().unwrap(), &b"{\"a\":1}"[..]);
        assert_eq!(framing.decode(&mut buf).unwrap().unwrap(), &b"{\"b\":2}"[..]);
        assert_eq!(framing.decode(&mut buf), Ok(None));
        buf.extend_from_slice(b":3}\x0c");
        assert_eq!(framing.decode(&mut buf).unwrap().unwrap(), &b"{\"c\":3}"[..]);
    }

    #[test]
    fn a_newline_ends_nothing_unless_lines_are_taken() {
        let mut framing = NodeIpc::with_limit(64);
        assert!(decoded(&mut framing, b"{\"a\":1}\n").is_empty());
        let mut framing = NodeIpc::with_limit(64).with_lines();
        let text = b"{\"a\":1}\n{\n \"b\": \"}\\\"\n\"\n}\n\n[\n]\x0cnonsense\n";
        let expected = ["{\"a\":1}", "{\n \"b\": \"}\\\"\n\"\n}", "[\n]", "nonsense"];
        assert_eq!(
            decoded(&mut framing, text).iter().map(|it| it.trim()).collect::<Vec<_>>(),
            expected
        );
    }

    #[test]
    fn answers_come_in_the_form_that_was_last_received() {
        let mut framing = NodeIpc::with_limit(64).with_lines();
        let form = framing.form();
        let sent = |framing: &NodeIpc| {
            let (mut out, mut sealed) = (Vec::new(), b"1".to_vec());
            framing.encode(b"1", &mut out);
            framing.seal(&mut sealed, 0);
            assert_eq!(out, sealed);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(sent(&framing), "{\"type\":\"message\",\"data\":1}\x0c");
        decoded(&mut framing, b"{}\n");
        assert_eq!(sent(&framing), "{\"type\":\"message\",\"data\":1}\x0c", "nothing was said yet");
        form.answer_in_kind(false);
        assert_eq!(sent(&framing), "1\n");
        decoded(&mut framing, b"{}\x0c");
        form.answer_in_kind(false);
        assert_eq!(sent(&framing), "1\x0c");
        form.answer_in_kind(true);
        assert_eq!(sent(&framing), "{\"type\":\"message\",\"data\":1}\x0c");
    }

    #[test]
    fn a_frame_over_the_limit_is_an_error_once() {
        let mut framing = NodeIpc::with_limit(4);
        let mut buf = BytesMut::from(&b"12345"[..]);
        assert_eq!(framing.decode(&mut buf), Err(FrameError::TooLong { limit: 4 }));
        buf.extend_from_slice(b"678\x0c12\x0c");
        assert_eq!(framing.decode(&mut buf).unwrap().unwrap(), &b"12"[..]);
    }

    #[test]
    fn what_has_no_end_is_dropped_with_the_stream() {
        let mut framing = NodeIpc::with_limit(64);
        let mut buf = BytesMut::from(&b"{}\x0c{\"a\""[..]);
        assert_eq!(framing.decode_eof(&mut buf).unwrap().unwrap(), &b"{}"[..]);
        assert_eq!(framing.decode_eof(&mut buf), Ok(None));
        assert!(buf.is_empty());
    }

    proptest! {
        #[test]
        fn frames_do_not_depend_on_how_the_bytes_are_cut(
            parts in proptest::collection::vec("[a-z{}\\[\\]\"\\\\\n \u{e4}]{0,12}", 0..6),
            cuts in proptest::collection::vec(0_usize..40, 0..6),
            takes_lines: bool,
        ) {
            let text = parts.iter().map(|part| format!("{part}\x0c")).collect::<String>();
            let make = || {
                let framing = NodeIpc::with_limit(1024);
                if takes_lines { framing.with_lines() } else { framing }
            };
            let whole = decoded(&mut make(), text.as_bytes());
            let (mut framing, mut buf, mut frames) = (make(), BytesMut::new(), Vec::new());
            let mut rest = text.as_bytes();
            for cut in cuts.into_iter().chain([usize::MAX]) {
                let (now, later) = rest.split_at(cut.min(rest.len()));
                buf.extend_from_slice(now);
                rest = later;
                while let Ok(Some(frame)) = framing.decode(&mut buf) {
                    frames.push(String::from_utf8_lossy(&frame).into_owned());
                }
            }
            prop_assert_eq!(whole, frames);
        }
    }
}
