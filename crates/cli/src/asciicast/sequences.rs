//! Terminal output in pieces: characters, controls and whole escape sequences, however it is split.
//! Which of them are wanted is decided by others.

/// The longest sequence; longer ones are dropped whole.
const LONGEST: usize = 4096;

const ESC: char = '\x1b';
const BEL: char = '\x07';
const CAN: char = '\x18';
const SUB: char = '\x1a';

/// A piece of terminal output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A character that is shown.
    Text(char),
    /// A control character, C1 included.
    Control(char),
    /// A sequence of two or three characters, without its escape.
    Escape(&'a str),
    /// A control sequence, without `ESC [`.
    Csi(&'a str),
    /// A string with its introducer and without its end: `]` for OSC, `P` for DCS and so on.
    String(&'a str),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    Csi,
    String,
    /// After an escape in a string: its end, if a backslash follows.
    StringEscape,
}

/// Cuts output into pieces.
#[derive(Debug, Default)]
pub(super) struct Sequences {
    state: State,
    held: String,
    is_too_long: bool,
}

impl Sequences {
    /// Adds output; gives every piece that is whole.
    pub(super) fn push(&mut self, text: &str, take: &mut impl FnMut(Piece<'_>)) {
        for c in text.chars() {
            self.step(c, take);
        }
    }

    fn step(&mut self, c: char, take: &mut impl FnMut(Piece<'_>)) {
        match (self.state, c) {
            (State::String, ESC) => self.state = State::StringEscape,
            (State::StringEscape, '\\') => self.end_string(take),
            (State::StringEscape, _) => {
                // Any other escape ends the string as well and begins its own sequence.
                self.end_string(take);
                self.begin();
                self.step(c, take);
            }
            (_, ESC) => self.begin(),
            (State::Ground, c) if c.is_control() => take(Piece::Control(c)),
            (State::Ground, c) => take(Piece::Text(c)),
            (_, CAN | SUB) => self.state = State::Ground,
            (State::String, BEL) if self.held.starts_with(']') => self.end_string(take),
            (State::String, c) => self.hold(c),
            // Controls inside of a sequence work as if they stood before it.
            (_, c) if c.is_control() => take(Piece::Control(c)),
            (State::Escape, ' '..='/') => self.hold(c),
            (State::Escape, '[') if self.held.is_empty() => self.state = State::Csi,
            (State::Escape, ']' | 'P' | 'X' | '^' | '_') if self.held.is_empty() => {
                self.hold(c);
                self.state = State::String;
            }
            (State::Escape, '0'..='~') => {
                self.hold(c);
                self.end(take, |held| Piece::Escape(held));
            }
            (State::Csi, ' '..='?') => self.hold(c),
            (State::Csi, '@'..='~') => {
                self.hold(c);
                self.end(take, |held| Piece::Csi(held));
            }
            // Not a sequence; the character that broke it is text.
            (State::Escape | State::Csi, c) => {
                self.state = State::Ground;
                take(Piece::Text(c));
            }
        }
    }

    fn begin(&mut self) {
        self.held.clear();
        self.is_too_long = false;
        self.state = State::Escape;
    }

    fn hold(&mut self, c: char) {
        if self.held.len() < LONGEST {
            self.held.push(c);
        } else {
            self.is_too_long = true;
        }
    }

    fn end_string(&mut self, take: &mut impl FnMut(Piece<'_>)) {
        self.end(take, |held| Piece::String(held));
    }

    fn end(
        &mut self,
        take: &mut impl FnMut(Piece<'_>),
        piece: impl for<'h> FnOnce(&'h str) -> Piece<'h>,
    ) {
        self.state = State::Ground;
        if !self.is_too_long {
            take(piece(&self.held));
        }
    }
}
