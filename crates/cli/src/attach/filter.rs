//! What of a program's output may reach this terminal. The daemon has already answered the
//! program's questions to its terminal; if this terminal saw them it would answer once more.
//! Also remembers which modes must be undone when this terminal is given back.

use rookery_term::escape::{ESC, Kind, Machine, Part};

/// Longest control sequence held back until its end is seen; longer ones pass as they come.
const LONGEST: usize = 128;

const CAN: u8 = 0x18;

/// Passes output on without questions.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    machine: Machine,
    /// The sequence so far, while it is held back.
    held: Vec<u8>,
    /// Whether the present sequence is passed on as it comes.
    passing: bool,
    is_alternate: bool,
    used_kitty: bool,
    used_other_keys: bool,
}

impl Filter {
    /// Begins anew, after output was lost; modes are remembered.
    pub(crate) fn resync(&mut self) {
        self.machine = Machine::default();
        self.held.clear();
        self.passing = false;
    }

    /// Appends to `out` what of `bytes` this terminal may see.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let is_text = self.machine.is_ground();
            let run = if is_text { self.machine.run(rest) } else { 0 };
            out.extend_from_slice(&rest[..run]);
            rest = &rest[run..];
            if let Some((&byte, after)) = rest.split_first() {
                self.step(byte, out);
                rest = after;
            }
        }
    }

    fn begin(&mut self) {
        self.held.clear();
        self.held.push(ESC);
        self.passing = false;
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) {
        match self.machine.step(byte) {
            Part::Plain => out.push(byte),
            Part::Begin => {
                self.flush(out);
                self.begin();
            }
            Part::Inside(_) | Part::Control => self.hold(byte, out),
            Part::Cancel | Part::End(Kind::Escape) => self.finish(byte, true, out),
            Part::End(Kind::Csi) => {
                let pass = self.judge_csi(byte);
                self.finish(byte, pass, out);
            }
            Part::End(_) => {
                let pass = !is_string_question(string_of(&self.held));
                self.finish(byte, pass, out);
            }
            Part::BrokenOff(_) => {
                let body = string_of(&self.held);
                if !self.passing && !is_string_question(body) {
                    out.extend_from_slice(body);
                }
                self.begin();
                self.step(byte, out);
            }
        }
    }

    fn hold(&mut self, byte: u8, out: &mut Vec<u8>) {
        if self.passing {
            out.push(byte);
            return;
        }
        self.held.push(byte);
        if self.held.len() > LONGEST {
            self.flush(out);
            self.passing = true;
        }
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.held);
    }

    fn finish(&mut self, byte: u8, pass: bool, out: &mut Vec<u8>) {
        if self.passing || pass {
            self.flush(out);
            out.push(byte);
        }
        self.held.clear();
        self.passing = false;
    }

    /// Whether the held control sequence with this end may pass; notes the modes it sets.
    fn judge_csi(&mut self, end: u8) -> bool {
        let Some(body) = self.held.get(2..).filter(|_| !self.passing) else { return true };
        let (prefix, params) = match body.split_first() {
            Some((&mark @ (b'?' | b'>' | b'=' | b'<'), params)) => (mark, params),
            _ => (0, body),
        };
        match (prefix, end) {
            // Device attributes, status and position, terminal parameters, version, kitty flags.
            (_, b'c') | (0 | b'?', b'n') | (0, b'x') | (b'>', b'q') | (b'?', b'u') => return false,
            // Is a mode set?
            (_, b'p') if params.ends_with(b"$") => return false,
            // Reports of window, screen and title.
            (0, b't') => return !is_report(params),
            (b'?', b'h' | b'l') if sets_alternate(params) => self.is_alternate = end == b'h',
            (b'>' | b'=', b'u') => self.used_kitty = true,
            (b'>', b'm') => self.used_other_keys = true,
            _ => {}
        }
        true
    }

    /// Bytes that give this terminal back as a shell expects it.
    pub(crate) fn undo(&self) -> Vec<u8> {
        let mut out = Vec::new();
        // Ends whatever sequence was cut off.
        out.push(CAN);
        if self.used_kitty {
            out.extend_from_slice(b"\x1b[<32u\x1b[=0u");
        }
        if self.used_other_keys {
            out.extend_from_slice(b"\x1b[>4m");
        }
        out.extend_from_slice(b"\x1b[?1000;1002;1003;1004;1005;1006;1015;1016;2004;2026l");
        if self.is_alternate {
            out.extend_from_slice(b"\x1b[?1049l");
        }
        // The soft reset undoes margins, styles and key modes; not every terminal shows the cursor with it.
        out.extend_from_slice(b"\x1b[!p\x1b[?7h\x1b[?25h\x1b[0m\x1b(B\x0f\r\n");
        out
    }
}

fn sets_alternate(params: &[u8]) -> bool {
    params.split(|byte| *byte == b';').any(|mode| matches!(mode, b"47" | b"1047" | b"1049"))
}

/// Window operations that make the terminal answer.
fn is_report(params: &[u8]) -> bool {
    let first = params.split(|byte| *byte == b';').next().unwrap_or(params);
    matches!(first, b"11" | b"13" | b"14" | b"15" | b"16" | b"18" | b"19" | b"20" | b"21")
}

/// Whether an OSC or DCS without its end asks something: a color, the clipboard, a capability or
/// a setting.
fn is_string_question(held: &[u8]) -> bool {
    match held.get(..2) {
        Some(b"\x1b]") => held.ends_with(b";?"),
        Some(b"\x1bP") => held[2..].starts_with(b"+q") || held[2..].starts_with(b"$q"),
        _ => false,
    }
}

/// A string without the escape that ended it.
fn string_of(held: &[u8]) -> &[u8] {
    held.strip_suffix(&[ESC]).unwrap_or(held)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seen(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Filter::default().push(bytes, &mut out);
        out
    }

    #[test]
    fn questions_are_held_back() {
        for question in [
            "\x1b[c",
            "\x1b[0c",
            "\x1b[>c",
            "\x1b[=c",
            "\x1b[5n",
            "\x1b[6n",
            "\x1b[?6n",
            "\x1b[?2026$p",
            "\x1b[20$p",
            "\x1b[>0q",
            "\x1b[?u",
            "\x1b[14t",
            "\x1b[18t",
            "\x1b[21t",
            "\x1b]11;?\x07",
            "\x1b]4;1;?\x1b\\",
            "\x1b]52;c;?\x07",
            "\x1bP+q544e\x1b\\",
            "\x1bP$qm\x1b\\",
        ] {
            let around = format!("a{question}b");
            assert_eq!(seen(around.as_bytes()), b"ab", "{question:?}");
        }
    }

    #[test]
    fn everything_else_passes() {
        for text in [
            "plain ü 日\r\n",
            "\x1b[31;1mred\x1b[0m",
            "\x1b[?25l\x1b[2J\x1b[H",
            "\x1b7\x1b8\x1b=\x1b>",
            "\x1b(0\x1b(B",
            "\x1b]0;title?\x07",
            "\x1b]8;;http://x/?a\x1b\\link\x1b]8;;\x1b\\",
            "\x1b[22;0t\x1b[8;24;80t",
            "\x1b[ q\x1b[2 q",
            "\x1b[!p",
            "\x1bP0;1|17/ab\x1b\\",
            "\x1b]133;A\x07",
            "\x1b[\x1b[1m",
            "\x1b[1\x18x",
            "\x1b]52;c;aGk=\x07",
        ] {
            assert_eq!(seen(text.as_bytes()), text.as_bytes(), "{text:?}");
        }
        let long = format!("\x1b]52;c;{}\x07", "A".repeat(1000));
        assert_eq!(seen(long.as_bytes()), long.as_bytes());
    }

    #[test]
    fn only_modes_that_were_set_are_undone() {
        let undo = |bytes: &str| {
            let mut filter = Filter::default();
            filter.push(bytes.as_bytes(), &mut Vec::new());
            String::from_utf8(filter.undo()).unwrap()
        };
        assert!(!undo("plain").contains("1049l"));
        assert!(undo("\x1b[?1049h").contains("1049l"));
        assert!(undo("\x1b[?25;1049h").contains("1049l"));
        assert!(!undo("\x1b[?1049h\x1b[?1049l").contains("1049l"));
        assert!(undo("\x1b[>1u").contains("\x1b[<"));
        assert!(!undo("\x1b[1u").contains("\x1b[<"));
    }

    fn soup() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            "\x1b\\[[?>=<]?[0-9;$]{0,5}[a-zA-Z]".prop_map(String::into_bytes),
            "\x1b[\\]P_][0-9a-z;?$+]{0,8}(\x07|\x1b\\\\|\x1b\\[m)".prop_map(String::into_bytes),
            "[a-z\x18\x1b\\[\\]]{0,4}".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..4),
        ];
        prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same(bytes in soup(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            places.sort_unstable();
            places.push(bytes.len());
            let mut filter = Filter::default();
            let mut out = Vec::new();
            let mut from = 0;
            for to in places {
                filter.push(&bytes[from..to], &mut out);
                from = to;
            }
            prop_assert_eq!(out, seen(&bytes));
        }

        #[test]
        fn text_without_escapes_is_untouched(bytes in prop::collection::vec(any::<u8>().prop_filter("no escape", |byte| *byte != ESC), 0..200)) {
            prop_assert_eq!(seen(&bytes), bytes);
        }
    }
}
