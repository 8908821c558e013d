//! What runs ahead of the emulator over the same bytes, by the machine of [`crate::escape`].
//!
//! It finds what the emulator does not report: OSCs it drops, and the few
//! queries it leaves unanswered. It also knows where no sequence is open, which
//! is where a checkpoint may be taken. State survives any split of the stream.

use crate::escape::{Kind, Machine, Part};

/// What an OSC may say after its number; anything longer is cut off there.
pub const MAX_BODY: usize = 1024 * 1024;

/// Payloads longer than this are cut off; the rest of the sequence is passed over. There is room for the
/// number before the body, and for one byte more by which to know that a body was cut off.
pub const MAX_PAYLOAD: usize = MAX_BODY + 16;

/// A control sequence longer than this is none we care for.
const MAX_CSI: usize = 64;

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
#[derive(Clone, Debug, Default)]
pub struct Scanner {
    machine: Machine,
    payload: Vec<u8>,
}

impl Scanner {
    /// Whether no sequence is half received.
    pub fn is_ground(&self) -> bool {
        self.machine.is_ground()
    }

    /// Whether an operating system command is half received.
    pub fn is_in_osc(&self) -> bool {
        self.machine.open() == Some(Kind::Osc)
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

    fn advance(&mut self, bytes: &[u8], stops_at_ground: bool) -> Option<Found> {
        let mut at = 0;
        while at < bytes.len() {
            let run = self.machine.run(&bytes[at..]);
            self.keep(&bytes[at..at + run]);
            at += run;
            let byte = bytes.get(at).copied();
            // Text that goes on to the end is the one run after which there is nothing to take.
            let Some(byte) = byte else {
                let is_text = stops_at_ground && self.is_ground();
                return is_text.then_some(Found { end: at, what: Sequence::Other });
            };
            let was_in_osc = self.is_in_osc();
            let part = self.machine.step(byte);
            if part == Part::BrokenOff(Kind::Osc) && stops_at_ground {
                self.payload.clear();
                return Some(Found { end: at, what: Sequence::OscBroken });
            }
            if !matches!(part, Part::BrokenOff(_)) {
                at += 1;
            }
            if let Some(what) = self.take(part, byte) {
                return Some(Found { end: at, what });
            }
            if stops_at_ground && self.is_ground() {
                return Some(Found { end: at, what: Sequence::Other });
            }
            if stops_at_ground && self.is_in_osc() && !was_in_osc {
                return Some(Found { end: at, what: Sequence::OscStart });
            }
        }
        None
    }

    /// Keeps a part of an OSC, as far as there is room.
    fn keep(&mut self, text: &[u8]) {
        if self.is_in_osc() {
            let room = MAX_PAYLOAD.saturating_sub(self.payload.len());
            self.payload.extend_from_slice(&text[..text.len().min(room)]);
        }
    }

    /// What one byte that is no part of a run means.
    fn take(&mut self, part: Part, byte: u8) -> Option<Sequence> {
        match part {
            Part::Inside(Kind::Csi) => {
                if matches!(byte, 0x20..=0x3f) && self.payload.len() < MAX_CSI {
                    self.payload.push(byte);
                }
            }
            Part::End(Kind::Osc) => return Some(Sequence::Osc(std::mem::take(&mut self.payload))),
            Part::End(Kind::Csi) if is_interesting(&self.payload, byte) => {
                return Some(Sequence::Csi(std::mem::take(&mut self.payload), byte));
            }
            Part::Begin | Part::End(_) | Part::Cancel | Part::BrokenOff(_) => self.payload.clear(),
            Part::Plain | Part::Control | Part::Inside(_) => {}
        }
        None
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
        // What may be about lines above text.
        (b"" | [b'0'..=b'9' | b';' | b':', ..], b'm') => {
            params.windows(2).any(|pair| pair == b"53" || pair == b"55")
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
