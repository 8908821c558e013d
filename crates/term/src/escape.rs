//! Where escape sequences begin and end in a stream of bytes: the one machine under everything that
//! looks for them.
//!
//! It takes one byte at a time and keeps nothing but its state, so it is bounded, and a stream may be
//! cut anywhere. What is done with a sequence, and how much of it is kept, is decided by others. It
//! agrees with the parser of the emulator about what is text and which controls act; a property test
//! compares them.

use memchr::memchr;

/// The byte that begins every sequence.
pub const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
/// The one-byte string terminator, which ends the data of a DCS and nothing else.
const C1_ST: u8 = 0x9c;

/// What sort of sequence it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An escape and what follows it, such as `ESC ( B`.
    Escape,
    /// A control sequence: `ESC [`.
    Csi,
    /// An operating system command: `ESC ]`, ended by BEL or `ESC \`.
    Osc,
    /// A device control string: `ESC P`.
    Dcs,
    /// Any other string (SOS, PM, APC), which no terminal shows.
    Text,
}

/// What a byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text or a control outside of any sequence.
    Plain,
    /// A control that acts at once, though a sequence is open and stays so.
    Control,
    /// The escape that begins a sequence. One that was open is broken off.
    Begin,
    /// A byte of the sequence that is open.
    Inside(Kind),
    /// The last byte of a sequence.
    End(Kind),
    /// A control that broke off the sequence that was open.
    Cancel,
    /// The escape before this byte did not end its string but broke it off, and began another
    /// sequence. The byte was not taken yet: it comes next.
    BrokenOff(Kind),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    EscapeIntermediate,
    Csi,
    /// DCS before any parameter.
    DcsEntry,
    /// DCS in its parameters or intermediates, after which a private marker spoils it.
    DcsHeader,
    /// A string up to its end: an OSC, the data of a DCS (or a spoiled one), or one that is skipped.
    String(Kind),
    /// After an escape within a string, which ends it or breaks it off.
    StringEscape(Kind),
}

/// The state between two bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Machine(State);

impl Machine {
    /// Whether no sequence is half received.
    pub fn is_ground(self) -> bool {
        self.0 == State::Ground
    }

    /// The sequence that is half received, if any.
    pub fn open(self) -> Option<Kind> {
        match self.0 {
            State::Ground => None,
            State::Escape | State::EscapeIntermediate => Some(Kind::Escape),
            State::Csi => Some(Kind::Csi),
            State::DcsEntry | State::DcsHeader => Some(Kind::Dcs),
            State::String(kind) | State::StringEscape(kind) => Some(kind),
        }
    }

    /// How many of the first bytes change nothing: plain text, or the inside of a string.
    pub fn run(self, bytes: &[u8]) -> usize {
        match self.0 {
            State::Ground => memchr(ESC, bytes).unwrap_or(bytes.len()),
            State::String(kind) => {
                bytes.iter().position(|byte| ends_run(kind, *byte)).unwrap_or(bytes.len())
            }
            _ => 0,
        }
    }

    /// Takes one byte; says what it is.
    pub fn step(&mut self, byte: u8) -> Part {
        let (state, part) = next(self.0, byte);
        self.0 = state;
        part
    }

    /// Takes one character. Those beyond ASCII mean nothing in a sequence, whatever their bytes are.
    pub fn step_char(&mut self, c: char) -> Part {
        self.step(u8::try_from(c).ok().filter(u8::is_ascii).unwrap_or(u8::MAX))
    }
}

fn ends_run(kind: Kind, byte: u8) -> bool {
    match byte {
        ESC | CAN | SUB => true,
        BEL => kind == Kind::Osc,
        C1_ST => kind == Kind::Dcs,
        _ => false,
    }
}

fn next(state: State, byte: u8) -> (State, Part) {
    match (state, byte) {
        (State::Ground, ESC) => (State::Escape, Part::Begin),
        (State::Ground, _) => (State::Ground, Part::Plain),
        (State::StringEscape(kind), b'\\') => (State::Ground, Part::End(kind)),
        (State::StringEscape(kind), _) => (State::Escape, Part::BrokenOff(kind)),
        (_, CAN | SUB) => (State::Ground, Part::Cancel),
        (State::String(kind), ESC) => (State::StringEscape(kind), Part::Inside(kind)),
        (State::DcsEntry | State::DcsHeader, ESC) => {
            (State::StringEscape(Kind::Dcs), Part::Inside(Kind::Dcs))
        }
        (_, ESC) => (State::Escape, Part::Begin),
        (State::String(Kind::Osc), BEL) => (State::Ground, Part::End(Kind::Osc)),
        (State::String(Kind::Dcs), C1_ST) => (State::Ground, Part::End(Kind::Dcs)),
        (State::String(kind), _) => (state, Part::Inside(kind)),
        (State::DcsEntry | State::DcsHeader, _) => {
            (dcs_header(state, byte), Part::Inside(Kind::Dcs))
        }
        (State::Escape | State::EscapeIntermediate | State::Csi, 0x00..=0x1f) => {
            (state, Part::Control)
        }
        (State::Csi, 0x40..=0x7e) => (State::Ground, Part::End(Kind::Csi)),
        // What is no part of it is ignored.
        (State::Csi, _) => (State::Csi, Part::Inside(Kind::Csi)),
        (State::Escape, _) => escape(byte),
        (State::EscapeIntermediate, 0x30..=0x7e) => (State::Ground, Part::End(Kind::Escape)),
        (State::EscapeIntermediate, _) => (state, Part::Inside(Kind::Escape)),
    }
}

/// The first byte after an escape.
fn escape(byte: u8) -> (State, Part) {
    match byte {
        b'[' => (State::Csi, Part::Inside(Kind::Csi)),
        b']' => (State::String(Kind::Osc), Part::Inside(Kind::Osc)),
        b'P' => (State::DcsEntry, Part::Inside(Kind::Dcs)),
        b'X' | b'^' | b'_' => (State::String(Kind::Text), Part::Inside(Kind::Text)),
        0x20..=0x2f => (State::EscapeIntermediate, Part::Inside(Kind::Escape)),
        0x30..=0x7e => (State::Ground, Part::End(Kind::Escape)),
        _ => (State::Escape, Part::Inside(Kind::Escape)),
    }
}

fn dcs_header(state: State, byte: u8) -> State {
    match byte {
        // Controls and what is no part of it are ignored.
        0x00..=0x1f | 0x7f.. => state,
        0x20..=0x3b => State::DcsHeader,
        0x3c..=0x3f if state == State::DcsEntry => State::DcsHeader,
        _ => State::String(Kind::Dcs),
    }
}

#[cfg(test)]
mod tests {
    use alacritty_terminal::vte;
    use proptest::prelude::*;

    use super::*;

    /// The parts of a stream, a letter each: text, controls, the rest of sequences and their ends.
    fn parts(bytes: &[u8]) -> String {
        let mut machine = Machine::default();
        let mut out = String::new();
        for byte in bytes {
            let mut part = machine.step(*byte);
            if matches!(part, Part::BrokenOff(_)) {
                out.push('!');
                part = machine.step(*byte);
            }
            out.push(match part {
                Part::Plain => 't',
                Part::Control => 'c',
                Part::Begin => '<',
                Part::Inside(_) => '.',
                Part::End(_) => '>',
                Part::Cancel => 'x',
                Part::BrokenOff(_) => unreachable!("an escape was begun just now"),
            });
        }
        out
    }

    #[test]
    fn sequences_have_a_beginning_and_an_end() {
        for (stream, expected) in [
            (&b"a\x1b[31mb"[..], "t<...>t"),
            (b"\x1b(B\x1b7x", "<.><>t"),
            (b"\x1b]0;t\x07x", "<....>t"),
            (b"\x1b]0;t\x1b\\x", "<.....>t"),
            (b"\x1b]0;t\x1b[mx", "<.....!.>t"),
            (b"\x1bP1q\x07\x1b\\x", "<.....>t"),
            (b"\x1bPq\x9cx", "<..>t"),
            (b"\x1b_a\x07\x1b\\x", "<....>t"),
            (b"\x1b[3\n1mx", "<..c.>t"),
            (b"\x1b[3\x18x", "<..xt"),
            (b"\x1b[3\x1b[mx", "<..<.>t"),
            (b"\x1b\x1b\\x", "<<>t"),
        ] {
            assert_eq!(parts(stream), expected, "{stream:?}");
        }
    }

    #[test]
    fn what_is_open_has_a_kind() {
        for (stream, expected) in [
            (&b"x"[..], None),
            (b"\x1b", Some(Kind::Escape)),
            (b"\x1b[3", Some(Kind::Csi)),
            (b"\x1b]0;", Some(Kind::Osc)),
            (b"\x1bP1", Some(Kind::Dcs)),
            (b"\x1b^x\x1b", Some(Kind::Text)),
        ] {
            let mut machine = Machine::default();
            for byte in stream {
                machine.step(*byte);
            }
            assert_eq!((machine.open(), machine.is_ground()), (expected, expected.is_none()));
        }
    }

    /// Counts what the emulator's parser prints and executes.
    #[derive(Default)]
    struct Shown(usize);

    impl vte::Perform for Shown {
        fn print(&mut self, _: char) {
            self.0 += 1;
        }
        fn execute(&mut self, _: u8) {
            self.0 += 1;
        }
    }

    fn soup() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            4 => Just(ESC),
            4 => proptest::sample::select(&b"[]P_^X\\;?>:!$ (m0qhB\x07\x18\x1a\n"[..]),
            2 => 0u8..0x7f,
        ];
        proptest::collection::vec(byte, 0..60)
    }

    proptest! {
        #[test]
        fn text_and_controls_are_those_of_the_emulator(bytes in soup()) {
            let (mut parser, mut shown) = (vte::Parser::new(), Shown::default());
            let ours = parts(&bytes);
            let ours = ours.chars().filter(|part| *part != '!');
            for (at, part) in ours.enumerate() {
                let before = shown.0;
                parser.advance(&mut shown, &bytes[at..=at]);
                let is_shown = shown.0 > before;
                prop_assert_eq!(is_shown, matches!(part, 't' | 'c' | 'x'), "byte {} of {:?}", at, bytes);
            }
        }

        #[test]
        fn a_run_is_what_single_bytes_are(bytes in proptest::collection::vec(any::<u8>(), 0..80), soup in soup()) {
            let bytes = [soup, bytes].concat();
            let mut machine = Machine::default();
            let mut at = 0;
            while at < bytes.len() {
                let (before, run) = (machine, machine.run(&bytes[at..]));
                for byte in &bytes[at..at + run] {
                    prop_assert!(matches!(machine.step(*byte), Part::Plain | Part::Inside(_)));
                    prop_assert_eq!(machine, before);
                }
                at += run;
                if let Some(byte) = bytes.get(at)
                    && !matches!(machine.step(*byte), Part::BrokenOff(_))
                {
                    at += 1;
                }
            }
        }
    }
}
