//! Bytes to keys: the inverse of [`encode`](super::encode), for a program that is itself in a terminal.
//!
//! Reads legacy keys, modifyOtherKeys, the kitty protocol, SGR mouse reports, focus, bracketed paste and
//! the answers to two questions, however the bytes are cut. What it does not know it drops whole. It has
//! no clock: a lone ESC is a key only when its owner says that nothing followed for [`ESC_WAIT`].

mod csi;
#[cfg(test)]
mod tests;

use std::time::Duration;

use super::{Key, KeyPress, Mods, Special, unshifted};
use crate::mouse::MouseEvent;

/// How long a lone ESC waits for what may follow it.
pub const ESC_WAIT: Duration = Duration::from_millis(25);

/// Bytes of one paste; what is beyond is dropped.
pub const MAX_PASTE: usize = 16 * 1024 * 1024;

/// Bytes of one control sequence; a longer one is none.
const MAX_SEQUENCE: usize = 256;

const ESC: u8 = 0x1b;
const PASTE_END: &[u8] = b"\x1b[201~";

/// Something that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    Key(KeyPress),
    Mouse(MouseEvent),
    /// The terminal got the keyboard, or lost it.
    Focus(bool),
    /// Text that was pasted.
    Paste {
        text: String,
        /// Whether it was longer.
        is_cut: bool,
    },
    /// An answer of the terminal.
    Reply(Reply),
}

/// An answer of the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// What it can do (DA1).
    Attributes(Vec<u16>),
    /// Flags of the kitty keyboard protocol that are on: it knows that protocol.
    KeyboardFlags(u8),
}

/// What is being read.
#[derive(Debug, Default)]
enum Mode {
    /// Keys and sequences.
    #[default]
    Ground,
    /// Text that is pasted.
    Paste { text: Vec<u8>, is_cut: bool },
    /// A string that is not for us: OSC, DCS and their like.
    Skip { after_esc: bool },
}

/// Turns bytes into input.
#[derive(Debug, Default)]
pub struct Decoder {
    mode: Mode,
    /// What has begun and is not whole yet.
    held: Vec<u8>,
}

/// What the beginning of some bytes is.
enum Parsed {
    /// This many bytes are this input, or nothing that is known.
    Whole(usize, Option<Input>),
    /// This many bytes begin a paste.
    PasteBegins(usize),
    /// This many bytes begin a string.
    StringBegins(usize),
    /// More is needed.
    Partial,
}

impl Decoder {
    /// Reads some bytes and gives what became whole.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Input> {
        let mut out = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = match &mut self.mode {
                Mode::Ground => self.ground(rest, &mut out),
                Mode::Paste { .. } => self.paste(rest, &mut out),
                Mode::Skip { .. } => self.skip(rest),
            };
        }
        out
    }

    /// Whether silence would decide something; call [`Decoder::timeout`] after [`ESC_WAIT`] of it.
    pub fn is_waiting(&self) -> bool {
        match self.mode {
            Mode::Ground => {
                matches!(self.held[..], [ESC] | [ESC, ESC] | [ESC, ESC, b'[' | b'O'])
                    || matches!(self.held[..], [ESC, second] if is_introducer(second))
            }
            Mode::Skip { .. } => true,
            Mode::Paste { .. } => false,
        }
    }

    /// Nothing came for a while: what began with ESC was typed with Alt, or is the Escape key.
    pub fn timeout(&mut self) -> Vec<Input> {
        if !self.is_waiting() {
            return Vec::new();
        }
        self.mode = Mode::Ground;
        let held = std::mem::take(&mut self.held);
        let escape = KeyPress::new(Key::Special(Special::Escape));
        let keys = match held[..] {
            [ESC] => vec![escape],
            [ESC, ESC] => vec![escape.with_mods(Mods::ALT)],
            [ESC, second] => vec![typed(char::from(second), Mods::ALT)],
            [ESC, ESC, third] => vec![escape, typed(char::from(third), Mods::ALT)],
            _ => Vec::new(),
        };
        keys.into_iter().map(Input::Key).collect()
    }

    /// Reads keys and sequences until the mode changes; gives what is left.
    fn ground<'b>(&mut self, bytes: &'b [u8], out: &mut Vec<Input>) -> &'b [u8] {
        let held = self.held.len();
        let joined: Vec<u8>;
        let all = if held == 0 {
            bytes
        } else {
            joined = [&self.held[..], bytes].concat();
            &joined
        };
        let mut at = 0;
        while at < all.len() {
            let (length, mode) = match parse(&all[at..]) {
                Parsed::Whole(length, input) => {
                    out.extend(input);
                    (length, None)
                }
                Parsed::PasteBegins(length) => {
                    (length, Some(Mode::Paste { text: Vec::new(), is_cut: false }))
                }
                Parsed::StringBegins(length) => (length, Some(Mode::Skip { after_esc: false })),
                Parsed::Partial => {
                    self.held = all[at..].to_vec();
                    return &[];
                }
            };
            at += length;
            if let Some(mode) = mode {
                (self.mode, self.held) = (mode, Vec::new());
                return &bytes[(at - held.min(at)).min(bytes.len())..];
            }
        }
        self.held.clear();
        &[]
    }

    fn paste<'b>(&mut self, bytes: &'b [u8], out: &mut Vec<Input>) -> &'b [u8] {
        let Mode::Paste { text, is_cut } = &mut self.mode else { return bytes };
        for (at, byte) in bytes.iter().enumerate() {
            text.push(*byte);
            if *byte == b'~' && text.ends_with(PASTE_END) {
                text.truncate((text.len() - PASTE_END.len()).min(MAX_PASTE));
                let text = String::from_utf8_lossy(text).into_owned();
                out.push(Input::Paste { text, is_cut: *is_cut });
                self.mode = Mode::Ground;
                return &bytes[at + 1..];
            }
            // The end is still looked for in what is dropped.
            if text.len() >= MAX_PASTE + 2 * PASTE_END.len() {
                let end = text.split_off(text.len() - PASTE_END.len());
                text.truncate(MAX_PASTE);
                text.extend(end);
                *is_cut = true;
            }
        }
        &[]
    }

    fn skip<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        for (at, byte) in bytes.iter().enumerate() {
            let Mode::Skip { after_esc } = &mut self.mode else { return &bytes[at..] };
            match (*after_esc, *byte) {
                (true, b'\\') | (false, 0x07 | 0x18 | 0x1a) => {
                    self.mode = Mode::Ground;
                    return &bytes[at + 1..];
                }
                (false, ESC) => *after_esc = true,
                (true, _) => {
                    // Another sequence began, which ends the string.
                    self.mode = Mode::Ground;
                    self.held = vec![ESC];
                    return &bytes[at..];
                }
                (false, _) => {}
            }
        }
        &[]
    }
}

/// Whether a byte after ESC begins a sequence.
fn is_introducer(byte: u8) -> bool {
    matches!(byte, b'[' | b'O') || is_string(byte)
}

/// Whether a byte after ESC begins a string.
fn is_string(byte: u8) -> bool {
    matches!(byte, b'P' | b']' | b'_' | b'^' | b'X')
}

fn parse(bytes: &[u8]) -> Parsed {
    match bytes {
        [] => Parsed::Partial,
        [ESC, rest @ ..] => parse_escape(rest),
        [byte @ (0..0x20 | 0x7f), ..] => Parsed::Whole(1, Some(Input::Key(control(*byte)))),
        _ => parse_char(bytes, Mods::NONE, 0),
    }
}

/// What follows an ESC.
fn parse_escape(rest: &[u8]) -> Parsed {
    match rest {
        [] => Parsed::Partial,
        [b'[', rest @ ..] => csi::parse(rest, Mods::NONE, 2),
        [b'O', rest @ ..] => csi::parse_ss3(rest, Mods::NONE, 2),
        [byte, rest @ ..] if is_string(*byte) => {
            if rest.is_empty() {
                Parsed::Partial
            } else {
                Parsed::StringBegins(2)
            }
        }
        // Alt before a key that is a sequence itself.
        [ESC] => Parsed::Partial,
        [ESC, b'[', rest @ ..] => match csi::parse(rest, Mods::ALT, 3) {
            // No key, so there is no Alt before it either.
            Parsed::PasteBegins(_)
            | Parsed::Whole(_, Some(Input::Mouse(_) | Input::Focus(_) | Input::Reply(_))) => {
                Parsed::Whole(1, Some(Input::Key(KeyPress::new(Key::Special(Special::Escape)))))
            }
            parsed => parsed,
        },
        [ESC, b'O', rest @ ..] => csi::parse_ss3(rest, Mods::ALT, 3),
        [ESC, ..] => {
            // Two of them and something else: the first stands alone.
            Parsed::Whole(1, Some(Input::Key(KeyPress::new(Key::Special(Special::Escape)))))
        }
        [byte @ (0..0x20 | 0x7f), ..] => {
            let key = control(*byte);
            let mods = key.mods | Mods::ALT;
            Parsed::Whole(2, Some(Input::Key(key.with_mods(mods))))
        }
        _ => parse_char(rest, Mods::ALT, 1),
    }
}

/// A character in UTF-8, after `before` bytes. Bytes that are none are dropped.
fn parse_char(bytes: &[u8], mods: Mods, before: usize) -> Parsed {
    let length = match bytes[0] {
        0..0x80 => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Parsed::Whole(before + 1, None),
    };
    let given = &bytes[..length.min(bytes.len())];
    match std::str::from_utf8(given) {
        Ok(text) => {
            let key = text.chars().next().map(|c| Input::Key(typed(c, mods)));
            Parsed::Whole(before + length, key)
        }
        Err(error) if error.error_len().is_none() => Parsed::Partial,
        Err(error) => Parsed::Whole(before + error.error_len().unwrap_or(1), None),
    }
}

/// The key that types a character, as far as that can be known.
fn typed(c: char, mods: Mods) -> KeyPress {
    let plain = unshifted(c);
    let shift = if plain == c { Mods::NONE } else { Mods::SHIFT };
    let types_text = !mods.intersects(Mods::COMMAND);
    KeyPress {
        text: types_text.then(|| c.to_string()),
        shifted: (plain != c).then_some(c),
        ..KeyPress::new(Key::Char(plain)).with_mods(mods | shift)
    }
}

/// The key of a control byte. Where two keys send the same, it is the one that has a cap of its own.
fn control(byte: u8) -> KeyPress {
    let special = |key| KeyPress::new(Key::Special(key));
    match byte {
        b'\r' => special(Special::Enter),
        b'\t' => special(Special::Tab),
        0x7f => special(Special::Backspace),
        ESC => special(Special::Escape),
        0 => KeyPress::new(Key::Char(' ')).with_mods(Mods::CTRL),
        0x1c => KeyPress::new(Key::Char('\\')).with_mods(Mods::CTRL),
        0x1d => KeyPress::new(Key::Char(']')).with_mods(Mods::CTRL),
        0x1e => KeyPress::new(Key::Char('6')).with_mods(Mods::CTRL),
        0x1f => KeyPress::new(Key::Char('/')).with_mods(Mods::CTRL),
        _ => KeyPress::new(Key::Char(char::from(byte - 1 + b'a'))).with_mods(Mods::CTRL),
    }
}
