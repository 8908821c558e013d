//! Escape sequences in raw output: the text without them, and the way back. A secret may be printed
//! with a color for every character, and the payload of a sequence may hold one itself.

use std::ops::Range;

const ESC: u8 = 0x1b;

/// Whether there is any sequence.
pub(super) fn has_any(text: &str) -> bool {
    memchr::memchr(ESC, text.as_bytes()).is_some()
}

/// What a stretch of raw output is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// Changes how text looks, not where it goes.
    Style,
    /// Anything else; text behind it need not stand beside text before it.
    Move,
    /// A string with this payload: titles, links and the like. It takes no place on the screen.
    Payload(Range<usize>),
}

/// A stretch of raw output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
    /// False for a sequence whose end has not arrived.
    pub(super) is_complete: bool,
}

/// The stretches of raw output, without gaps.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = Token> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let token = if rest[0] == ESC {
            sequence(bytes, at)
        } else {
            let len = memchr::memchr(ESC, rest).unwrap_or(rest.len());
            Token { range: at..at + len, kind: Kind::Text, is_complete: true }
        };
        at = token.range.end;
        Some(token)
    })
}

fn sequence(bytes: &[u8], at: usize) -> Token {
    let token = |end, kind, is_complete| Token { range: at..end, kind, is_complete };
    match bytes.get(at + 1) {
        None => token(at + 1, Kind::Style, false),
        Some(b'[') => control(bytes, at),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => string(bytes, at),
        Some(_) => {
            let (end, last) = skip(bytes, at + 1, |b| (0x20..0x30).contains(&b));
            match last {
                None => token(end, Kind::Style, false),
                // A character set for what follows.
                Some(0x30..0x7f) if end > at + 1 => token(end + 1, Kind::Style, true),
                Some(0x30..0x7f) => token(end + 1, Kind::Move, true),
                // Not a sequence; the character that broke it is text.
                Some(_) => token(end, Kind::Style, true),
            }
        }
    }
}

fn control(bytes: &[u8], at: usize) -> Token {
    let (end, last) = skip(bytes, at + 2, |b| (0x20..0x40).contains(&b));
    let (end, kind, is_complete) = match last {
        None => (end, Kind::Style, false),
        Some(b'm') => (end + 1, Kind::Style, true),
        Some(0x40..0x7f) => (end + 1, Kind::Move, true),
        Some(_) => (end, Kind::Move, true),
    };
    Token { range: at..end, kind, is_complete }
}

fn string(bytes: &[u8], at: usize) -> Token {
    let (end, last) = skip(bytes, at + 2, |b| !matches!(b, 0x07 | 0x18 | 0x1a | ESC));
    let payload = Kind::Payload(at + 2..end);
    let (end, is_complete) = match (last, bytes.get(end + 1)) {
        (None, _) => (end, false),
        (Some(ESC), Some(b'\\')) => (end + 2, true),
        // Another sequence, or one half of the terminator.
        (Some(ESC), next) => (end, next.is_some()),
        (Some(_), _) => (end + 1, true),
    };
    Token { range: at..end, kind: payload, is_complete }
}

/// The first place from `at` on where the condition does not hold, and the byte there.
fn skip(bytes: &[u8], at: usize, holds: impl Fn(u8) -> bool) -> (usize, Option<u8>) {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.iter().position(|b| !holds(*b)) {
        Some(len) => (at + len, Some(rest[len])),
        None => (bytes.len(), None),
    }
}

/// Raw output without its sequences, and where every part of it came from.
#[derive(Debug, Default)]
pub(super) struct Plain {
    pub(super) text: String,
    /// Start in the plain text, and where that stretch is in the raw text.
    parts: Vec<(usize, Range<usize>)>,
    /// Payloads of sequences, in the raw text.
    pub(super) payloads: Vec<Range<usize>>,
    pub(super) has_moves: bool,
    /// Where the last sequence begins, if its end is not there.
    pub(super) unfinished: Option<usize>,
}

impl Plain {
    /// Takes the sequences out, or puts line ends in place of what moves the cursor.
    pub(super) fn new(raw: &str, moves_are_lines: bool) -> Self {
        let mut plain = Self { text: String::with_capacity(raw.len()), ..Self::default() };
        for token in tokens(raw) {
            plain.unfinished = (!token.is_complete).then_some(token.range.start);
            match token.kind {
                Kind::Text => {
                    plain.text.push_str(&raw[token.range.clone()]);
                    plain.parts.push((plain.text.len() - token.range.len(), token.range));
                }
                Kind::Move => {
                    plain.has_moves = true;
                    if moves_are_lines {
                        plain.text.push('\n');
                    }
                }
                Kind::Payload(payload) => plain.payloads.push(payload),
                Kind::Style => {}
            }
        }
        plain
    }

    /// The stretch of raw output that a stretch of plain text spans.
    pub(super) fn to_raw(&self, span: &Range<usize>) -> Range<usize> {
        let start = self.start_in_raw(span.start);
        let last = self.parts.partition_point(|(at, _)| *at < span.end);
        let end = match last.checked_sub(1).and_then(|last| self.parts.get(last)) {
            Some((at, raw)) => raw.end.min(raw.start + (span.end - at)),
            None => 0,
        };
        start..end.max(start)
    }

    /// Where the character at this place of the plain text is in the raw output.
    pub(super) fn start_in_raw(&self, at: usize) -> usize {
        let next = self.parts.partition_point(|(start, _)| *start <= at);
        let inside = next
            .checked_sub(1)
            .and_then(|part| self.parts.get(part))
            .and_then(|(start, raw)| (at - start < raw.len()).then(|| raw.start + (at - start)));
        let behind = || self.parts.get(next).map(|(_, raw)| raw.start);
        let end = || self.parts.last().map_or(0, |(_, raw)| raw.end);
        inside.or_else(behind).unwrap_or_else(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(raw: &str) -> String {
        Plain::new(raw, false).text
    }

    #[test]
    fn sequences_are_taken_out() {
        for (raw, expected) in [
            ("\x1b[31ms\x1b[0mk-", "sk-"),
            ("a\x1b]0;title\x07b\x1b]8;;http://x\x1b\\c", "abc"),
            ("a\x1b(Bb\x1b7c\x1b[?25ld\x1b[1;2He", "abcde"),
            ("a\x1bPq#0\x1b\\b", "ab"),
            ("a\x1b[3é", "aé"),
            ("a\x1b", "a"),
            ("a\x1b[31", "a"),
            ("a\x1b]0;abc", "a"),
            ("\x1bé", "é"),
        ] {
            assert_eq!(plain(raw), expected, "{raw:?}");
        }
    }

    #[test]
    fn what_has_not_ended_is_reported() {
        for (raw, is_complete) in [
            ("\x1b", false),
            ("\x1b[3", false),
            ("\x1b]0;t", false),
            ("\x1b]0;t\x1b", false),
            ("\x1b(", false),
            ("\x1b]0;t\x07", true),
            ("\x1b[m", true),
            ("\x1bM", true),
        ] {
            assert_eq!(tokens(raw).last().unwrap().is_complete, is_complete, "{raw:?}");
        }
    }

    proptest! {
        #[test]
        fn tokens_cover_everything_and_the_way_back_is_exact(
            raw in "(\\PC|\x1b|\\[|\\]|m|H|\x07|\\\\|[0-9;]){0,30}",
            moves_are_lines: bool,
        ) {
            let covered: String = tokens(&raw).map(|token| &raw[token.range]).collect();
            prop_assert_eq!(&covered, &raw);
            let plain = Plain::new(&raw, moves_are_lines);
            for (at, c) in plain.text.char_indices() {
                let span = plain.to_raw(&(at..at + c.len_utf8()));
                prop_assert!(span.is_empty() || raw[span.clone()].starts_with(c) || c == '\n');
            }
        }
    }
}
