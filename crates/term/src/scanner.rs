//! A state machine that runs ahead of the emulator over the same bytes.
//!
//! It finds what the emulator does not report: OSCs it drops, and the few
//! queries it leaves unanswered. It also knows where no sequence is open, which
//! is where a checkpoint may be taken. State survives any split of the stream.

use memchr::memchr;

/// What an OSC may say after its number; anything longer is cut off there.
pub const MAX_BODY: usize = 1024 * 1024;

/// Payloads longer than this are cut off; the rest of the sequence is passed over. There is room for the
/// number before the body, and for one byte more by which to know that a body was cut off.
pub const MAX_PAYLOAD: usize = MAX_BODY + 16;

/// A control sequence longer than this is none we care for.
const MAX_CSI: usize = 64;

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
/// The one-byte string terminator, which ends the data of a DCS and nothing else.
const C1_ST: u8 = 0x9c;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ground,
    Escape,
    EscapeIntermediate,
    Csi,
    Osc,
    /// After an escape within an OSC, which ends it or breaks it off.
    OscEscape,
    /// SOS, PM or APC: skipped to its end.
    Text,
    /// DCS before any parameter.
    DcsEntry,
    /// DCS in its parameters or intermediates, after which a private marker spoils it.
    DcsHeader,
    /// The data of a DCS, or a spoiled one.
    DcsData,
}

/// What was found, with the number of input bytes up to and including its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Feed this many bytes of the scanned slice to the emulator before handling it.
    pub end: usize,
    /// What it is.
    pub what: Sequence,
}

/// A sequence of interest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// An operating system command with this payload.
    Osc(Vec<u8>),
    /// A control sequence: parameters and intermediates as sent, and its final byte.
    Csi(Vec<u8>, u8),
    /// The introducer of an operating system command, whose text follows.
    OscStart,
    /// An operating system command was broken off by an escape, which begins another sequence.
    OscBroken,
    /// One that is of no interest to us.
    Other,
}

/// Scans a byte stream for sequences of interest.
#[derive(Clone, Debug)]
pub struct Scanner {
    state: State,
    payload: Vec<u8>,
}

impl Default for Scanner {
    fn default() -> Self {
        Self { state: State::Ground, payload: Vec::new() }
    }
}

impl Scanner {
    /// Whether no sequence is half received.
    pub fn is_ground(&self) -> bool {
        self.state == State::Ground
    }

    /// Whether an operating system command is half received.
    pub fn is_in_osc(&self) -> bool {
        matches!(self.state, State::Osc | State::OscEscape)
    }

    /// Scans up to the next sequence of interest, or to the end of `bytes`.
    /// Call again with the rest of the slice after a find.
    pub fn scan(&mut self, bytes: &[u8]) -> Option<Found> {
        self.advance(bytes, false)
    }

    /// Scans to the end of the sequence that is open or begins here, whatever it is, and also stops where
    /// an operating system command begins or is broken off.
    /// Nothing means that it does not end within `bytes`.
    pub fn scan_sequence(&mut self, bytes: &[u8]) -> Option<Found> {
        self.advance(bytes, true)
    }

    fn advance(&mut self, bytes: &[u8], stop_at_ground: bool) -> Option<Found> {
        let mut at = 0;
        while at < bytes.len() {
            let was_escape = self.state == State::Escape;
            match self.state {
                State::Ground => at += self.skip_ground(&bytes[at..]),
                State::Osc => {
                    let (used, ended) = self.take_osc(&bytes[at..]);
                    at += used;
                    if ended {
                        return Some(self.ended_osc(at));
                    }
                }
                State::OscEscape if bytes[at] == b'\\' => {
                    self.state = State::Ground;
                    return Some(self.ended_osc(at + 1));
                }
                State::OscEscape => {
                    // The byte is looked at again, as the one after an escape.
                    self.enter(State::Escape);
                    if stop_at_ground {
                        return Some(Found { end: at, what: Sequence::OscBroken });
                    }
                }
                State::Text | State::DcsData => at += self.skip_text(&bytes[at..]),
                State::Escape
                | State::EscapeIntermediate
                | State::Csi
                | State::DcsEntry
                | State::DcsHeader => {
                    let byte = bytes[at];
                    at += 1;
                    if let Some(what) = self.step(byte) {
                        return Some(Found { end: at, what });
                    }
                }
            }
            if stop_at_ground && self.state == State::Ground {
                return Some(Found { end: at, what: Sequence::Other });
            }
            if stop_at_ground && was_escape && self.state == State::Osc {
                return Some(Found { end: at, what: Sequence::OscStart });
            }
        }
        None
    }

    /// Plain text up to an escape.
    fn skip_ground(&mut self, bytes: &[u8]) -> usize {
        let Some(escape) = memchr(ESC, bytes) else { return bytes.len() };
        self.state = State::Escape;
        escape + 1
    }

    fn take_osc(&mut self, bytes: &[u8]) -> (usize, bool) {
        let end = bytes.iter().position(|byte| matches!(*byte, BEL | ESC | CAN | SUB));
        let text = &bytes[..end.unwrap_or(bytes.len())];
        let room = MAX_PAYLOAD.saturating_sub(self.payload.len());
        self.payload.extend_from_slice(&text[..text.len().min(room)]);
        let Some(end) = end else { return (bytes.len(), false) };
        let ended = match bytes[end] {
            BEL => {
                self.state = State::Ground;
                true
            }
            ESC => {
                self.state = State::OscEscape;
                false
            }
            _ => {
                self.enter(State::Ground);
                false
            }
        };
        (end + 1, ended)
    }

    fn ended_osc(&mut self, end: usize) -> Found {
        Found { end, what: Sequence::Osc(std::mem::take(&mut self.payload)) }
    }

    fn skip_text(&mut self, bytes: &[u8]) -> usize {
        let is_dcs = self.state == State::DcsData;
        let ends = |byte: &u8| matches!(*byte, ESC | CAN | SUB) || (is_dcs && *byte == C1_ST);
        let Some(end) = bytes.iter().position(ends) else { return bytes.len() };
        self.enter(if bytes[end] == ESC { State::Escape } else { State::Ground });
        end + 1
    }

    /// One byte inside an escape or control sequence.
    fn step(&mut self, byte: u8) -> Option<Sequence> {
        match byte {
            CAN | SUB => {
                self.enter(State::Ground);
                return None;
            }
            ESC => {
                self.enter(State::Escape);
                return None;
            }
            // Other controls act at once and leave the sequence open; the rest is ignored.
            0x00..=0x1f | 0x7f.. => return None,
            _ => {}
        }
        match (self.state, byte) {
            (State::Escape, b'[') => self.enter(State::Csi),
            (State::Escape, b']') => self.enter(State::Osc),
            (State::Escape, b'P') => self.enter(State::DcsEntry),
            (State::Escape, b'X' | b'^' | b'_') => self.enter(State::Text),
            (State::DcsEntry | State::DcsHeader, 0x20..=0x3b) => self.state = State::DcsHeader,
            (State::DcsEntry, 0x3c..=0x3f) => self.state = State::DcsHeader,
            (State::DcsEntry | State::DcsHeader, _) => self.enter(State::DcsData),
            (State::Escape | State::EscapeIntermediate, 0x20..=0x2f) => {
                self.state = State::EscapeIntermediate;
            }
            (State::Csi, 0x20..=0x3f) => {
                if self.payload.len() < MAX_CSI {
                    self.payload.push(byte);
                }
            }
            (State::Csi, 0x40..=0x7e) => {
                let params = std::mem::take(&mut self.payload);
                self.state = State::Ground;
                if is_interesting(&params, byte) {
                    return Some(Sequence::Csi(params, byte));
                }
                self.payload = params;
                self.payload.clear();
            }
            _ => self.enter(State::Ground),
        }
        None
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.payload.clear();
    }
}

/// What the emulator leaves unanswered or does not know, REP, and the brackets of synchronized output.
fn is_interesting(params: &[u8], last: u8) -> bool {
    match (params, last) {
        ([b'>', ..], b'q') | (b"!", b'p') | (b"?2026", b'h' | b'l') => true,
        (b"16" | b"21" | b"22" | b"23", b't') => true,
        ([b'2', b'2' | b'3', b';', rest @ ..], b't') => {
            rest.iter().all(|byte| byte.is_ascii_digit() || *byte == b';')
        }
        (count, b'b') => count.iter().all(|byte| byte.is_ascii_digit() || *byte == b';'),
        _ => false,
    }
}

/// Length of the incomplete character at the end of plain text, 0 if there is none.
pub fn partial_char_len(text: &[u8]) -> usize {
    (1..=text.len().min(3))
        .rev()
        .find(|&len| {
            std::str::from_utf8(&text[text.len() - len..])
                .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scan_in_pieces(bytes: &[u8], piece: usize) -> (Vec<Sequence>, bool) {
        let mut scanner = Scanner::default();
        let mut found = Vec::new();
        for mut chunk in bytes.chunks(piece.max(1)) {
            while let Some(hit) = scanner.scan(chunk) {
                found.push(hit.what);
                chunk = &chunk[hit.end..];
            }
        }
        (found, scanner.is_ground())
    }

    #[test]
    fn finds_sequences_however_they_are_split() {
        let stream = "plain é\x1b]0;title\x07 text\x1b]7;file:///tmp\x1b\\\x1b[31mred\x1b[>0q\x1bPdcs]0;no\x07\x1b\\\x1b[16t"
            .as_bytes();
        let whole = scan_in_pieces(stream, stream.len());
        assert_eq!(
            whole.0,
            [
                Sequence::Osc(b"0;title".to_vec()),
                Sequence::Osc(b"7;file:///tmp".to_vec()),
                Sequence::Csi(b">0".to_vec(), b'q'),
                Sequence::Csi(b"16".to_vec(), b't'),
            ]
        );
        for piece in 1..stream.len() {
            assert_eq!(scan_in_pieces(stream, piece), whole, "pieces of {piece}");
        }
    }

    #[test]
    fn cancel_aborts_and_long_payloads_are_cut() {
        assert_eq!(scan_in_pieces(b"\x1b]0;abc\x18\x07", 3).0, []);
        let mut long = b"\x1b]0;".to_vec();
        long.resize(2 * MAX_PAYLOAD, b'x');
        long.push(7);
        let (found, ground) = scan_in_pieces(&long, 4096);
        let [Sequence::Osc(payload)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(payload.len(), MAX_PAYLOAD);
        assert!(ground);
    }

    #[test]
    fn an_escape_breaks_an_osc_off_and_what_it_begins_is_not_lost() {
        for (stream, expected) in [
            (&b"\x1b]0;lost\x1b]0;kept\x07"[..], &[&b"0;kept"[..]][..]),
            (b"\x1b]0;lost\x1b\x1b]2;kept\x1b\\", &[b"2;kept"]),
            (b"\x1b]0;lost\x1b[31m\x1b]2;kept\x1b\\", &[b"2;kept"]),
            (b"\x1b]0;lost\x1bx\x07", &[]),
            (b"\x1b]0;lost\x1b\x18\\", &[]),
            (b"\x1b]0;a\x1b\\\x1b]0;b\x1b\\", &[b"0;a", b"0;b"]),
        ] {
            let expected: Vec<_> =
                expected.iter().map(|body| Sequence::Osc(body.to_vec())).collect();
            for piece in 1..=stream.len() {
                assert_eq!(scan_in_pieces(stream, piece), (expected.clone(), true), "{stream:?}");
            }
        }
    }

    #[test]
    fn sequence_by_sequence_an_osc_is_announced_and_its_end_told() {
        let mut scanner = Scanner::default();
        let stream = b"\x1b[3\x1b]0;a\x1b]0;b\x1b\\";
        let mut found = Vec::new();
        let mut rest = &stream[..];
        while let Some(hit) = scanner.scan_sequence(rest) {
            rest = &rest[hit.end..];
            found.push((stream.len() - rest.len(), hit.what));
        }
        assert_eq!(
            found,
            [
                (5, Sequence::OscStart),
                (9, Sequence::OscBroken),
                (10, Sequence::OscStart),
                (15, Sequence::Osc(b"0;b".to_vec())),
            ]
        );
    }

    #[test]
    fn a_cut_character_is_measured() {
        for (bytes, len) in [
            (&b"abc"[..], 0),
            ("é".as_bytes(), 0),
            (&"aé".as_bytes()[..2], 1),
            (&"a😀".as_bytes()[..4], 3),
            (b"\xe0\x80", 0),
            (b"\xf0", 1),
            (b"\x80", 0),
        ] {
            assert_eq!(partial_char_len(bytes), len, "{bytes:?}");
        }
    }

    #[test]
    fn half_a_sequence_is_not_ground() {
        for (bytes, ground) in [
            (&b"abc"[..], true),
            (b"\x1b", false),
            (b"\x1b[3", false),
            (b"\x1b]0;x", false),
            (b"\x1b(B", true),
        ] {
            assert_eq!(scan_in_pieces(bytes, 100).1, ground, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn splitting_changes_nothing(
            bytes in prop::collection::vec(prop_oneof![
                Just(0x1b), Just(b']'), Just(b'['), Just(7), Just(b'\\'), Just(b';'), Just(0x18), any::<u8>()
            ], 0..200),
            piece in 1usize..20,
        ) {
            prop_assert_eq!(scan_in_pieces(&bytes, piece), scan_in_pieces(&bytes, 1000));
        }
    }
}
