//! Text to decide by: nothing in it is hidden, and what is left out is
//! counted. One place for all who show an approval.

/// What a shortened text says about what it leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unseen {
    /// How many characters are not shown.
    pub characters: u64,
    /// How many there are in all.
    pub of: u64,
    /// The digest of the whole text, as the line that stands for the rest has it.
    pub digest: String,
}

/// What stands around the digest in the line that is put where text is left out.
const OPENING: &str = "[not shown here: ";
const MIDDLE: &str = " characters, sha256 of the whole ";
const CLOSING: &str = "; `rookery inbox show` prints all of it]";

impl Unseen {
    /// The line that is put where text is left out.
    pub fn notice(&self) -> String {
        let Self { characters, of, digest } = self;
        format!("{OPENING}{characters} of {of}{MIDDLE}{digest}{CLOSING}")
    }

    /// What a shown text leaves out; none if it is whole.
    pub fn of(shown: &str) -> Option<Self> {
        shown.lines().find_map(|line| {
            let line = line.strip_prefix(OPENING)?.strip_suffix(CLOSING)?;
            let (counts, digest) = line.split_once(MIDDLE)?;
            let (characters, of) = counts.split_once(" of ")?;
            let (characters, of) = (characters.parse().ok()?, of.parse().ok()?);
            Some(Self { characters, of, digest: digest.to_owned() })
        })
    }
}

/// Ranges of characters that a screen does not show, or shows as something else: what acts on the
/// terminal or turns the order around, what is ignored by default (zero width, tags, fillers,
/// variation selectors), and blanks that are no space.
const UNSEEN: &[(char, char)] = &[
    ('\u{0}', '\u{8}'),
    ('\u{b}', '\u{1f}'),
    ('\u{7f}', '\u{a0}'),
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{2000}', '\u{200f}'),
    ('\u{2028}', '\u{202f}'),
    ('\u{205f}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Whether a character is not seen, or is seen as something that it is not. Line ends and tabs are
/// not among them.
pub fn is_unseen(c: char) -> bool {
    UNSEEN.iter().any(|&(first, last)| (first..=last).contains(&c))
}

/// A text in which every character that would not be seen is spelled, as `\u{200b}`. The ends of
/// lines stay, also those with a carriage return.
pub fn spelled(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let ends_line = c == '\r' && rest.peek() == Some(&'\n');
        if is_unseen(c) && !ends_line {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod attack {
    use super::*;

    #[test]
    fn what_is_not_seen_is_spelled() {
        for (hidden, shown) in [
            ("rm\u{200b} x", "rm\\u{200b} x"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("ls\u{e0072}\u{e006d}", "ls\\u{e0072}\\u{e006d}"),
            ("x\u{3164}=1", "x\\u{3164}=1"),
            ("\u{115f}\u{ffa0}\u{1160}", "\\u{115f}\\u{ffa0}\\u{1160}"),
            ("a\u{fe0f}\u{e0100}", "a\\u{fe0f}\\u{e0100}"),
            ("soft\u{ad}hyphen", "soft\\u{ad}hyphen"),
            ("no\u{a0}break\u{3000}wide", "no\\u{a0}break\\u{3000}wide"),
            ("bom\u{feff}", "bom\\u{feff}"),
            ("\u{2800}\u{2063}\u{180e}", "\\u{2800}\\u{2063}\\u{180e}"),
            ("\x1b[2K\rls", "\\u{1b}[2K\\u{d}ls"),
            ("nul\0", "nul\\u{0}"),
        ] {
            assert_eq!(spelled(hidden), shown);
            assert_eq!(spelled(shown), shown);
        }
        let plain = "two\r\nlines\n\tof 日本語 ü é — 'text'";
        assert_eq!(spelled(plain), plain);
    }

    #[test]
    fn what_is_left_out_can_be_read_back() {
        let unseen = Unseen { characters: 14_000, of: 20_001, digest: "0123abcd".to_owned() };
        let shown = format!("begin\n{}\nend", unseen.notice());
        assert_eq!(Unseen::of(&shown), Some(unseen));
        assert_eq!(Unseen::of("begin\n[not shown here: all of it]\nend"), None);
    }
}
