//! SGR in its everyday form, read without the parser.
//!
//! Colored output is mostly `ESC [ n ; n … m`. Sequences of that form that are
//! whole in one chunk are applied directly; whatever is unusual about one (colons,
//! private markers, odd colors, a cut) leaves it to the parser, with the same result.

use alacritty_terminal::vte::ansi::{Attr, Color, Handler, NamedColor, Rgb};

use super::FeedContext;

/// More parameters than this are unusual.
const MAX_PARAMS: usize = 16;

const NAMED: [NamedColor; 16] = [
    NamedColor::Black,
    NamedColor::Red,
    NamedColor::Green,
    NamedColor::Yellow,
    NamedColor::Blue,
    NamedColor::Magenta,
    NamedColor::Cyan,
    NamedColor::White,
    NamedColor::BrightBlack,
    NamedColor::BrightRed,
    NamedColor::BrightGreen,
    NamedColor::BrightYellow,
    NamedColor::BrightBlue,
    NamedColor::BrightMagenta,
    NamedColor::BrightCyan,
    NamedColor::BrightWhite,
];

impl FeedContext<'_> {
    /// Applies the SGR that `bytes` begin with and gives its length, or nothing if it is not an everyday one.
    pub(crate) fn everyday_sgr(&mut self, bytes: &[u8]) -> Option<usize> {
        let body = bytes.strip_prefix(b"\x1b[")?;
        let mut numbers = [0u16; MAX_PARAMS];
        let mut count = 0;
        let mut digits = 0;
        for (index, &byte) in body.iter().enumerate() {
            match byte {
                b'0'..=b'9' if digits < 3 => {
                    numbers[count] = numbers[count] * 10 + u16::from(byte - b'0');
                    digits += 1;
                }
                b';' if count + 1 < MAX_PARAMS => {
                    count += 1;
                    digits = 0;
                }
                b'm' => {
                    let numbers = &numbers[..=count];
                    is_everyday(numbers).then(|| self.apply(numbers))?;
                    return Some(index + 3);
                }
                _ => return None,
            }
        }
        None
    }

    fn apply(&mut self, mut numbers: &[u16]) {
        while let Some((&number, rest)) = numbers.split_first() {
            numbers = rest;
            let attr = match number {
                38 | 48 | 58 => {
                    let (color, after) = extended(rest);
                    numbers = after;
                    Some(match number {
                        38 => Attr::Foreground(color),
                        48 => Attr::Background(color),
                        _ => Attr::UnderlineColor(Some(color)),
                    })
                }
                53 | 55 => {
                    self.set_overline(number == 53);
                    None
                }
                _ => simple(number),
            };
            if let Some(attr) = attr {
                self.terminal_attribute(attr);
            }
        }
    }
}

/// Whether every extended color is complete and in range, so that [`extended`] can read it.
fn is_everyday(mut numbers: &[u16]) -> bool {
    while let Some((&number, rest)) = numbers.split_first() {
        numbers = rest;
        if matches!(number, 38 | 48 | 58) {
            numbers = match rest {
                [5, index, after @ ..] if *index < 256 => after,
                [2, r, g, b, after @ ..] if *r < 256 && *g < 256 && *b < 256 => after,
                _ => return false,
            };
        }
    }
    true
}

/// The color behind 38, 48 or 58, and what follows it. Checked by [`is_everyday`].
fn extended(numbers: &[u16]) -> (Color, &[u16]) {
    match numbers {
        [2, r, g, b, after @ ..] => {
            (Color::Spec(Rgb { r: *r as u8, g: *g as u8, b: *b as u8 }), after)
        }
        [_, index, after @ ..] => (Color::Indexed(*index as u8), after),
        _ => (Color::Named(NamedColor::Foreground), &[]),
    }
}

fn simple(number: u16) -> Option<Attr> {
    let named = |index: u16| Color::Named(NAMED[usize::from(index)]);
    Some(match number {
        0 => Attr::Reset,
        1 => Attr::Bold,
        2 => Attr::Dim,
        3 => Attr::Italic,
        4 => Attr::Underline,
        5 => Attr::BlinkSlow,
        6 => Attr::BlinkFast,
        7 => Attr::Reverse,
        8 => Attr::Hidden,
        9 => Attr::Strike,
        21 => Attr::CancelBold,
        22 => Attr::CancelBoldDim,
        23 => Attr::CancelItalic,
        24 => Attr::CancelUnderline,
        25 => Attr::CancelBlink,
        27 => Attr::CancelReverse,
        28 => Attr::CancelHidden,
        29 => Attr::CancelStrike,
        30..=37 => Attr::Foreground(named(number - 30)),
        39 => Attr::Foreground(Color::Named(NamedColor::Foreground)),
        40..=47 => Attr::Background(named(number - 40)),
        49 => Attr::Background(Color::Named(NamedColor::Background)),
        59 => Attr::UnderlineColor(None),
        90..=97 => Attr::Foreground(named(number - 90 + 8)),
        100..=107 => Attr::Background(named(number - 100 + 8)),
        _ => return None,
    })
}
