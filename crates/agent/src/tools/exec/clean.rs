//! What a program writes to a terminal, as plain text for a model.
//!
//! Escape sequences are removed, and what was written over within a line is gone. Bytes may be cut
//! anywhere: what is begun in one piece ends in the next.

use rookery_term::escape::{Kind, Machine, Part};

/// How far a sequence may move within a line, so that a few bytes cannot make a huge one.
const MAX_COLUMN: usize = 4096;

/// Turns pieces of output into plain text.
#[derive(Debug, Default)]
pub struct Cleaner {
    machine: Machine,
    /// The number in the current control sequence; further ones do not matter.
    number: Option<usize>,
    has_more_numbers: bool,
    /// A character that is not whole yet.
    partial: Vec<u8>,
    done: String,
    line: Vec<char>,
    column: usize,
}

impl Cleaner {
    /// Reads a piece of output.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut all = std::mem::take(&mut self.partial);
        all.extend_from_slice(bytes);
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            match str::from_utf8(rest) {
                Ok(text) => {
                    text.chars().for_each(|c| self.take_char(c));
                    break;
                }
                Err(error) => {
                    let (good, bad) = rest.split_at(error.valid_up_to());
                    String::from_utf8_lossy(good).chars().for_each(|c| self.take_char(c));
                    let Some(length) = error.error_len() else {
                        self.partial = bad.to_vec();
                        break;
                    };
                    self.take_char(char::REPLACEMENT_CHARACTER);
                    rest = &bad[length..];
                }
            }
        }
    }

    /// The lines since text was last taken; the one that may still be written to stays.
    pub fn take_lines(&mut self) -> String {
        std::mem::take(&mut self.done)
    }

    /// The text since it was last taken, with the line that may still be written to.
    pub(super) fn take(&mut self) -> String {
        let mut text = std::mem::take(&mut self.done);
        text.extend(self.line.drain(..));
        self.column = 0;
        text
    }

    fn take_char(&mut self, c: char) {
        match c {
            // The one-character forms of what begins and ends sequences.
            '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}' if self.machine.is_ground() => {
                self.step('\u{1b}');
                self.step(char::from(c as u8 - 0x40));
            }
            '\u{9c}' if matches!(self.machine.open(), Some(Kind::Osc | Kind::Dcs | Kind::Text)) => {
                self.step('\u{1b}');
                self.step('\\');
            }
            c => self.step(c),
        }
    }

    fn step(&mut self, c: char) {
        match self.machine.step_char(c) {
            Part::Begin => self.begin(),
            Part::BrokenOff(_) => {
                self.begin();
                self.step(c);
            }
            // A line break within a sequence is done at once, as terminals do.
            Part::Plain | Part::Control => self.plain(c),
            Part::Inside(Kind::Csi) => self.parameter(c),
            Part::End(Kind::Csi) => self.perform(c),
            Part::Inside(_) | Part::End(_) | Part::Cancel => {}
        }
    }

    fn begin(&mut self) {
        self.number = None;
        self.has_more_numbers = false;
    }

    fn plain(&mut self, c: char) {
        match c {
            '\n' => {
                self.done.extend(self.line.drain(..));
                self.done.push('\n');
                self.column = 0;
            }
            '\r' => self.column = 0,
            '\u{8}' => self.column = self.column.saturating_sub(1),
            // A NUL separates where names are listed; without it two of them would be one.
            '\t' | '\0' => self.put(c),
            c if c.is_control() => {}
            c => self.put(c),
        }
    }

    fn put(&mut self, c: char) {
        if self.column < self.line.len() {
            self.line[self.column] = c;
        } else {
            self.line.resize(self.column, ' ');
            self.line.push(c);
        }
        self.column += 1;
    }

    /// A character within a control sequence.
    fn parameter(&mut self, c: char) {
        match c {
            '0'..='9' if !self.has_more_numbers => {
                let digit = c as usize - '0' as usize;
                let number = self.number.unwrap_or(0).saturating_mul(10).saturating_add(digit);
                self.number = Some(number);
            }
            ';' | ':' => self.has_more_numbers = true,
            _ => {}
        }
    }

    /// What of control sequences shows within a line.
    fn perform(&mut self, name: char) {
        let steps = self.number.unwrap_or(1).max(1);
        match name {
            'C' => {
                self.column = self.column.saturating_add(steps).min(MAX_COLUMN.max(self.line.len()))
            }
            'D' => self.column = self.column.saturating_sub(steps),
            'G' => self.column = (steps - 1).min(MAX_COLUMN.max(self.line.len())),
            'K' => match self.number.unwrap_or(0) {
                0 => self.line.truncate(self.column),
                1 => {
                    let end = (self.column + 1).min(self.line.len());
                    self.line[..end].fill(' ');
                }
                _ => self.line.clear(),
            },
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clean(bytes: &[u8]) -> String {
        let mut cleaner = Cleaner::default();
        cleaner.push(bytes);
        cleaner.take()
    }

    #[test]
    fn sequences_are_removed() {
        for (bytes, expected) in [
            (&b"plain\r\ntext\n"[..], "plain\ntext\n"),
            (b"\x1b[1;31mred\x1b[0m \x1b[38;5;196mx\x1b[m", "red x"),
            (b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink"),
            (b"\x1b(B\x1b=a\x1b>\x1b7\x1b8\x1b[?2004hb\x1b[?25l", "ab"),
            (b"\x1bP1$r0m\x1b\\x\x1b_apc\x1b\\y\x1b^pm\x1b\\z", "xyz"),
            (b"bell\x07 \x0e\x0f", "bell "),
            (b"a\0b\0", "a\0b\0"),
            (b"tab\tkept", "tab\tkept"),
            ("é\u{9b}31mü".as_bytes(), "éü"),
            (b"bad \xff\xfe end", "bad \u{fffd}\u{fffd} end"),
            (b"cut \x1b[31", "cut "),
            (b"\x1b[3\x18x", "x"),
        ] {
            assert_eq!(clean(bytes), expected, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_return_writes_over_the_line() {
        for (bytes, expected) in [
            (&b"10%\r20%\r100%\n"[..], "100%\n"),
            (b"abc\rX", "Xbc"),
            (b"abc\r\x1b[KX\n", "X\n"),
            (b"abc\x1b[2K\rX", "X"),
            (b"abc\x08\x08X", "aXc"),
            (b"abc\x1b[2DX", "aXc"),
            (b"a\x1b[3Cb", "a   b"),
            (b"abc\x1b[2GX", "aXc"),
            (b"a\x1b[1Kb", " b"),
            (b"one\r\r\ntwo", "one\ntwo"),
        ] {
            assert_eq!(clean(bytes), expected, "{:?}", String::from_utf8_lossy(bytes));
        }
        assert!(clean(b"\x1b[99999999999999999999Cx").len() <= MAX_COLUMN + 1);
    }

    #[test]
    fn text_can_be_taken_in_between() {
        let mut cleaner = Cleaner::default();
        cleaner.push(b"10%");
        assert_eq!(cleaner.take(), "10%");
        cleaner.push(b"\r20%\n\xc3");
        assert_eq!(cleaner.take(), "20%\n");
        cleaner.push(b"\xa9\x1b[3");
        assert_eq!(cleaner.take(), "é");
        cleaner.push(b"1mred");
        assert_eq!(cleaner.take(), "red");
        assert_eq!(cleaner.take(), "");
    }

    #[test]
    fn lines_can_be_taken_while_the_last_one_is_written() {
        let mut cleaner = Cleaner::default();
        cleaner.push(b"one\ntw");
        assert_eq!(cleaner.take_lines(), "one\n");
        cleaner.push(b"o\r\nthr");
        assert_eq!(cleaner.take_lines(), "two\n");
        assert_eq!(cleaner.take_lines(), "");
        assert_eq!(cleaner.take(), "thr");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_or_leave_escapes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let text = clean(&bytes);
            prop_assert!(!text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\0')));
        }

        #[test]
        fn sequences_never_show(
            parts in prop::collection::vec(
                "(\\x1b\\[[0-9;?]{0,5}[a-zA-Z]|\\x1b\\][0-9];t(\\x07|\\x1b\\\\)|\\x1b[()][AB0]|\\r|\\x08|é|w|\\n)", 0..30)
        ) {
            let text = clean(parts.concat().as_bytes());
            prop_assert!(text.chars().all(|c| matches!(c, 'é' | 'w' | '\n' | ' ')), "{text:?}");
        }

        #[test]
        fn where_bytes_are_cut_does_not_matter(
            bytes in prop::collection::vec(prop_oneof![Just(0x1b), Just(b'['), Just(b'\r'), any::<u8>()], 0..100),
            at in any::<prop::sample::Index>(),
        ) {
            let at = at.index(bytes.len() + 1);
            let mut cleaner = Cleaner::default();
            cleaner.push(&bytes[..at]);
            cleaner.push(&bytes[at..]);
            prop_assert_eq!(cleaner.take(), clean(&bytes));
        }
    }
}
