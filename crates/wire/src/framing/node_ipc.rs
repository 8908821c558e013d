//! The framing of node-ipc: one JSON document, wrapped in an object that names a channel, and one form
//! feed. Owns finding frames and answering in the form that was last received; knows no message.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use bytes::BytesMut;
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

/// Where a frame ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct End {
    /// Bytes of the frame.
    length: usize,
    /// Where the next one begins.
    next: usize,
    is_line: bool,
}

/// Where in a document the bytes looked at so far end; only counted where newlines may end a frame.
#[derive(Debug, Clone, Copy, Default)]
struct Nesting {
    depth: u32,
    /// A bit for each level, the innermost one last: whether it is a list. Deeper documents than it has bits are
    /// not read anyway.
    lists: u128,
    in_string: bool,
    is_escaped: bool,
    /// The last byte that means something, outside of strings; none before the first one.
    last: Option<u8>,
    /// The last byte of all was a newline within a document that is not whole.
    is_after_newline: bool,
}

/// What a byte comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByteStep {
    /// A part of the document.
    Inside,
    /// The newline that ends it.
    Ends,
    /// The first byte of the next one: what came before is broken, and ended with the newline before this.
    Begins,
}

impl Nesting {
    fn feed(&mut self, byte: u8) -> ByteStep {
        let was_newline = std::mem::take(&mut self.is_after_newline);
        if was_newline && byte == b'{' && !self.may_be_followed_by_object() {
            return ByteStep::Begins;
        }
        if byte == b'\n' {
            let is_whole = self.depth == 0 && !self.in_string;
            if is_whole && self.last.is_some() {
                return ByteStep::Ends;
            }
            self.is_after_newline = !is_whole;
        }
        match self.in_string {
            true => self.feed_string(byte),
            false => self.feed_structure(byte),
        }
        ByteStep::Inside
    }

    fn feed_string(&mut self, byte: u8) {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = true,
            b'"' => self.in_string = false,
            _ => {}
        }
    }

    fn feed_structure(&mut self, byte: u8) {
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => {
                self.depth += 1;
                self.lists = self.lists << 1 | u128::from(byte == b'[');
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.lists >>= 1;
            }
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            self.last = Some(byte);
        }
    }

    /// Whether an object can stand here in a document. Within a string, or behind a value, it cannot: one line
    /// with a quote or a brace too many must not swallow those after it.
    fn may_be_followed_by_object(&self) -> bool {
        let in_list = self.lists & 1 == 1;
        match self.last {
            _ if self.in_string => false,
            Some(b'[' | b':') | None => true,
            Some(b',') => in_list,
            Some(_) => false,
        }
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

    /// Where the next frame ends.
    fn find_end(&mut self, bytes: &[u8]) -> Option<End> {
        let at_end = |at: usize, is_line| End { length: at, next: at + 1, is_line };
        if !self.takes_lines {
            let offset = memchr(FORM_FEED, &bytes[self.scanned..])?;
            return Some(at_end(self.scanned + offset, false));
        }
        for (at, &byte) in bytes.iter().enumerate().skip(self.scanned) {
            if byte == FORM_FEED {
                return Some(at_end(at, false));
            }
            match self.nesting.feed(byte) {
                ByteStep::Inside => {}
                ByteStep::Ends => return Some(at_end(at, true)),
                // The newline is gone already if the frame is being thrown away.
                ByteStep::Begins => {
                    return Some(End { length: at.saturating_sub(1), next: at, is_line: true });
                }
            }
        }
        None
    }

    fn take(&mut self, buf: &mut BytesMut, end: End) -> Result<Option<Frame>, FrameError> {
        self.scanned = 0;
        self.nesting = Nesting::default();
        let mut frame = buf.split_to(end.next);
        if std::mem::take(&mut self.discarding) {
            return Ok(None);
        }
        if end.length > self.limit {
            return Err(FrameError::TooLong { limit: self.limit });
        }
        frame.truncate(end.length);
        Ok((!frame.trim_ascii().is_empty()).then(|| frame.freeze()))
    }

    /// Bytes of a frame without an end, not counting a newline that may turn out to be it.
    fn unended(&self, buf: &BytesMut) -> usize {
        buf.len() - usize::from(self.nesting.is_after_newline && !buf.is_empty())
    }
}

impl Framing for NodeIpc {
    fn decode(&mut self, buf: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        while let Some(end) = self.find_end(buf) {
            if let Some(frame) = self.take(buf, end)? {
                self.form.note_end(end.is_line);
                return Ok(Some(frame));
            }
        }
        self.scanned = buf.len();
        if self.discarding || self.unended(buf) > self.limit {
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
    fn attack_a_broken_line_does_not_swallow_those_after_it() {
        for broken in [
            "{\"a\":1",
            "{\"a\":\"x",
            "{\"a\":\"x\\",
            "{\"a\":{}",
            "{\"a\"",
            "[1",
            "\"",
            "{\"a\":[{},",
        ] {
            let text = format!("{broken}\n{{\"b\":2}}\n{{\"c\":3}}\n");
            let frames = decoded(&mut NodeIpc::with_limit(64).with_lines(), text.as_bytes());
            let last = [broken, "{\"b\":2}", "{\"c\":3}"];
            match broken.ends_with(',') {
                // An object may well follow: it is only the one after it that cannot.
                true => assert_eq!(frames[1..], last[2..], "{broken}"),
                false => assert_eq!(frames, last, "{broken}"),
            }
            // The same where the broken line is too long.
            let mut framing = NodeIpc::with_limit(16).with_lines();
            let mut buf = BytesMut::from(format!("{broken}{}", " ".repeat(32)).as_bytes());
            assert_eq!(framing.decode(&mut buf), Err(FrameError::TooLong { limit: 16 }));
            buf.extend_from_slice(b"\n");
            assert_eq!(framing.decode(&mut buf), Ok(None));
            buf.extend_from_slice(b"{\"b\":2}\n{\"c\":3}\n");
            let mut frames = Vec::new();
            while let Ok(Some(frame)) = framing.decode(&mut buf) {
                frames.push(frame);
            }
            assert_eq!(frames.last().unwrap(), &b"{\"c\":3}"[..], "{broken}");
        }
    }

    #[test]
    fn a_document_may_have_objects_at_the_beginning_of_its_lines() {
        let document = "{\"a\":\n{\"b\":\n[\n{},\n{\"c\":\",[\"}\n]},\"d\":[[\n{}\n],\n{}]}";
        for end in ["\n", "\x0c"] {
            let text = format!("{document}{end}{{}}{end}");
            let frames = decoded(&mut NodeIpc::with_limit(256).with_lines(), text.as_bytes());
            assert_eq!(frames, [document, "{}"]);
        }
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

    /// A document with line breaks wherever JSON allows them.
    fn document() -> impl Strategy<Value = String> {
        let space = || proptest::sample::select(vec!["", "\n", " \n", "\n\t"]);
        let leaf =
            proptest::sample::select(vec!["1", "null", "\"\"", "\"{\\\"[,:\\\\\"", "{}", "[]"]);
        leaf.prop_map(str::to_owned).prop_recursive(4, 24, 4, move |inner| {
            let items = proptest::collection::vec((space(), inner, space()), 1..4);
            (items, any::<bool>()).prop_map(|(items, is_list)| {
                let key = if is_list { "" } else { "\"k\":" };
                let items = items.iter().map(|(a, item, b)| match is_list {
                    true => format!("{a}{item}{b}"),
                    false => format!("{a}{key}{b}{item}"),
                });
                let joined = items.collect::<Vec<_>>().join(",");
                if is_list { format!("[{joined}]") } else { format!("{{{joined}}}") }
            })
        })
    }

    proptest! {
        #[test]
        fn documents_are_whole_however_they_are_laid_out(
            documents in proptest::collection::vec(document(), 1..5),
            ends in proptest::collection::vec(proptest::sample::select(vec!["\n", "\x0c"]), 5),
        ) {
            let text: String =
                documents.iter().zip(ends).map(|(document, end)| format!("{document}{end}")).collect();
            let frames = decoded(&mut NodeIpc::with_limit(1 << 16).with_lines(), text.as_bytes());
            prop_assert_eq!(frames, documents);
        }

        #[test]
        fn attack_commands_are_found_behind_anything(
            garbage in "[a-z{}\\[\\]\",:\\\\\n\x0c ]{0,60}",
            limit in 8_usize..80,
        ) {
            let text = format!("{garbage}\n{{\"a\":1}}\n{{\"b\":2}}\n");
            let (mut framing, mut buf) =
                (NodeIpc::with_limit(limit).with_lines(), BytesMut::from(text.as_bytes()));
            let mut last = None;
            loop {
                match framing.decode(&mut buf) {
                    Ok(None) => break,
                    Ok(Some(frame)) => last = Some(frame),
                    Err(_) => {}
                }
            }
            prop_assert_eq!(last.as_deref(), Some(&b"{\"b\":2}"[..]));
        }

        #[test]
        fn frames_do_not_depend_on_how_the_bytes_are_cut(
            parts in proptest::collection::vec("[a-z{}\\[\\]\",:\\\\\n \u{e4}]{0,12}", 0..6),
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
