//! What of the input comes from the terminal itself and not from the user: focus events and answers
//! to questions. The program never asked this terminal anything, so it must not see them.

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

/// Longest sequence held back until its end is seen; longer ones pass.
const LONGEST: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Ground,
    Escape,
    /// After `ESC [`.
    Csi,
    /// Inside OSC, DCS or APC, up to BEL or ST.
    String,
    /// After an escape inside a string.
    StringEscape,
}

/// Passes on what the user typed.
#[derive(Debug, Default)]
pub(super) struct InputFilter {
    state: State,
    held: Vec<u8>,
    is_pasting: bool,
}

impl InputFilter {
    /// Appends to `out` what the user typed of `bytes`.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for byte in bytes {
            self.step(*byte, out);
        }
    }

    /// Whether something is held back. It may be the Escape key, so it must not wait for long.
    pub(super) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Passes on what is held back: its end did not come, so it was typed.
    pub(super) fn release(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.held);
        self.state = State::Ground;
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) {
        match (self.state, byte) {
            (State::Ground, ESC) => self.hold(byte, State::Escape, out),
            (State::Ground, _) => out.push(byte),
            (State::Escape, b'[') => self.hold(byte, State::Csi, out),
            (State::Escape, b']' | b'P' | b'_') => self.hold(byte, State::String, out),
            // Two escapes: the first was a key of its own.
            (State::Escape | State::Csi, ESC) => {
                self.release(out);
                self.hold(byte, State::Escape, out);
            }
            (State::Escape, _) => self.finish(byte, true, out),
            (State::Csi, 0x40..=0x7e) => {
                let is_typed = self.judge(byte);
                self.finish(byte, is_typed, out);
            }
            (State::Csi, 0x20..=0x3f) => self.hold(byte, State::Csi, out),
            (State::Csi, _) => self.finish(byte, true, out),
            (State::String, BEL) => self.finish(byte, self.is_pasting, out),
            (State::String, ESC) => self.hold(byte, State::StringEscape, out),
            (State::String, _) => self.hold(byte, State::String, out),
            (State::StringEscape, b'\\') => self.finish(byte, self.is_pasting, out),
            (State::StringEscape, _) => self.finish(byte, true, out),
        }
    }

    fn hold(&mut self, byte: u8, state: State, out: &mut Vec<u8>) {
        self.held.push(byte);
        self.state = state;
        if self.held.len() > LONGEST {
            self.release(out);
        }
    }

    fn finish(&mut self, byte: u8, is_typed: bool, out: &mut Vec<u8>) {
        self.held.push(byte);
        if !is_typed {
            self.held.clear();
        }
        self.release(out);
    }

    /// Whether the held control sequence with this end was typed.
    fn judge(&mut self, end: u8) -> bool {
        let params = self.held.get(2..).unwrap_or_default();
        if end == b'~' && matches!(params, b"200" | b"201") {
            self.is_pasting = params == b"200";
            return true;
        }
        if self.is_pasting {
            return true;
        }
        let private = params.first().copied().filter(|first| matches!(first, b'?' | b'>' | b'='));
        match (private, end) {
            // Focus.
            (None, b'I' | b'O') => !params.is_empty(),
            // Attributes, status, window reports; position and kitty flags only in their private
            // form, since keys look like the other.
            (_, b'c' | b'n') | (None, b't') | (Some(b'?'), b'R' | b'u') => false,
            // Modes.
            (_, b'y') => !params.ends_with(b"$"),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn typed(bytes: &[u8]) -> Vec<u8> {
        let (mut filter, mut out) = (InputFilter::default(), Vec::new());
        filter.push(bytes, &mut out);
        filter.release(&mut out);
        out
    }

    #[test]
    fn what_the_terminal_says_itself_is_dropped() {
        for said in [
            "\x1b[I",
            "\x1b[O",
            "\x1b[?62;22c",
            "\x1b[>41;354;0c",
            "\x1b[0n",
            "\x1b[?997;1n",
            "\x1b[?12;1R",
            "\x1b[?1u",
            "\x1b[?2026;2$y",
            "\x1b[4;600;800t",
            "\x1b]11;rgb:0000/0000/0000\x1b\\",
            "\x1b]10;rgb:ffff/ffff/ffff\x07",
            "\x1bP>|term 1.0\x1b\\",
            "\x1b_Gi=1;OK\x1b\\",
        ] {
            let around = format!("a{said}b");
            assert_eq!(typed(around.as_bytes()), b"ab", "{said:?}");
        }
    }

    #[test]
    fn keys_and_pastes_pass() {
        for keys in [
            "plain ü 日\r",
            "\x1b",
            "\x1b\x1b",
            "\x1b[",
            "\x1b]x",
            "\x1bOP\x1b[A\x1b[1;5C\x1b[15~\x1b[[A",
            "\x1b[1;2R",
            "\x1b[97;5u",
            "\x1b[<0;10;20M\x1b[<0;10;20m",
            "\x1b[M !!",
            "\x1b[200~text \x1b[I and \x1b]0;x\x07 more\x1b[201~",
            "\x1bx\x1b[Z",
        ] {
            assert_eq!(typed(keys.as_bytes()), keys.as_bytes(), "{keys:?}");
        }
        let long = format!("\x1b]{}", "x".repeat(LONGEST + 10));
        assert_eq!(typed(long.as_bytes()), long.as_bytes());
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same(bytes in "[\x1b\\[\\]?;0-9a-zIO\x07~]{0,40}", at in any::<prop::sample::Index>()) {
            let bytes = bytes.as_bytes();
            let (first, second) = bytes.split_at(at.index(bytes.len() + 1));
            let (mut filter, mut out) = (InputFilter::default(), Vec::new());
            filter.push(first, &mut out);
            filter.push(second, &mut out);
            filter.release(&mut out);
            prop_assert_eq!(out, typed(bytes));
        }
    }
}
