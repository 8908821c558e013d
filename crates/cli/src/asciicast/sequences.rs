//! Terminal output in pieces: characters, controls and whole escape sequences, however it is split.
//! Which of them are wanted is decided by others.

use rookery_term::escape::{Kind, Machine, Part};

/// The longest sequence; longer ones are dropped whole.
const LONGEST: usize = 4096;

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

/// Cuts output into pieces.
#[derive(Debug, Default)]
pub(super) struct Sequences {
    machine: Machine,
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
        match self.machine.step_char(c) {
            Part::Plain if c.is_control() => take(Piece::Control(c)),
            Part::Plain => take(Piece::Text(c)),
            // Works as if it stood before the sequence.
            Part::Control => take(Piece::Control(c)),
            Part::Begin => self.begin(),
            // What is no part of it is ignored, as terminals do.
            Part::Inside(Kind::Escape | Kind::Csi) if !matches!(c, ' '..='?') => {}
            Part::Inside(_) => self.hold(c),
            Part::End(Kind::Escape) => {
                self.hold(c);
                self.end(take, |held| Piece::Escape(held));
            }
            Part::End(Kind::Csi) => {
                self.hold(c);
                self.end(take, |held| Piece::Csi(held));
            }
            Part::End(_) => self.end_string(take),
            Part::BrokenOff(_) => {
                // It ends its string as well, and begins its own sequence.
                self.end_string(take);
                self.begin();
                self.step(c, take);
            }
            Part::Cancel => {}
        }
    }

    fn begin(&mut self) {
        self.held.clear();
        self.is_too_long = false;
    }

    fn hold(&mut self, c: char) {
        if self.held.len() < LONGEST {
            self.held.push(c);
        } else {
            self.is_too_long = true;
        }
    }

    fn end_string(&mut self, take: &mut impl FnMut(Piece<'_>)) {
        self.end(take, |held| Piece::String(held.strip_suffix('\x1b').unwrap_or(held)));
    }

    fn end(
        &mut self,
        take: &mut impl FnMut(Piece<'_>),
        piece: impl for<'h> FnOnce(&'h str) -> Piece<'h>,
    ) {
        if !self.is_too_long {
            take(piece(&self.held));
        }
    }
}
