//! Names people type for keys: `ctrl+shift+a`, tmux's `C-a` and `PPage`, `^C`, `Enter`, and the
//! snake_case names of the ptywright dialect.

use super::{Key, KeyPress, Mods, NamedKey, Special, unshifted};
use std::fmt;

/// Why a chord could not be read. It names the bad part and what may have been meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyNameError {
    /// Nothing was given.
    #[error("key name is empty")]
    Empty,
    /// Modifiers without a key.
    #[error("no key after the modifiers in `{chord}`")]
    MissingKey {
        /// The whole chord.
        chord: String,
    },
    /// A part before a separator is no modifier.
    #[error("unknown modifier `{part}` in key `{chord}`{}", Hint(suggestions))]
    UnknownModifier {
        /// The bad part.
        part: String,
        /// The whole chord.
        chord: String,
        /// Near names, best first.
        suggestions: Vec<&'static str>,
    },
    /// The last part is no key.
    #[error("unknown key `{part}`{}", Hint(suggestions))]
    UnknownKey {
        /// The bad part.
        part: String,
        /// Near names, best first.
        suggestions: Vec<&'static str>,
    },
}

struct Hint<'a>(&'a [&'static str]);

impl fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, name) in self.0.iter().enumerate() {
            let lead = if position == 0 { "; did you mean " } else { " or " };
            write!(f, "{lead}`{name}`")?;
        }
        Ok(())
    }
}

const MODIFIERS: [(&str, Mods); 13] = [
    ("shift", Mods::SHIFT),
    ("alt", Mods::ALT),
    ("option", Mods::ALT),
    ("opt", Mods::ALT),
    ("ctrl", Mods::CTRL),
    ("control", Mods::CTRL),
    ("super", Mods::SUPER),
    ("cmd", Mods::SUPER),
    ("command", Mods::SUPER),
    ("win", Mods::SUPER),
    ("hyper", Mods::HYPER),
    ("meta", Mods::META),
    // Last, so that the canonical names win when suggesting.
    ("windows", Mods::SUPER),
];

/// tmux and emacs write one letter and a dash, and mean alt by M.
const LETTER_MODIFIERS: [(char, Mods); 3] =
    [('C', Mods::CTRL), ('M', Mods::ALT), ('S', Mods::SHIFT)];

/// Further spellings, compared without case, dashes, underscores and spaces.
const ALIASES: &[(&str, Key)] = &[
    ("esc", Key::Special(Special::Escape)),
    ("return", Key::Special(Special::Enter)),
    ("cr", Key::Special(Special::Enter)),
    ("bspace", Key::Special(Special::Backspace)),
    ("bs", Key::Special(Special::Backspace)),
    ("del", Key::Special(Special::Delete)),
    ("dc", Key::Special(Special::Delete)),
    ("ins", Key::Special(Special::Insert)),
    ("ic", Key::Special(Special::Insert)),
    ("pgup", Key::Special(Special::PageUp)),
    ("ppage", Key::Special(Special::PageUp)),
    ("pgdn", Key::Special(Special::PageDown)),
    ("pgdown", Key::Special(Special::PageDown)),
    ("npage", Key::Special(Special::PageDown)),
    ("arrowup", Key::Special(Special::Up)),
    ("arrowdown", Key::Special(Special::Down)),
    ("arrowleft", Key::Special(Special::Left)),
    ("arrowright", Key::Special(Special::Right)),
    ("space", Key::Char(' ')),
    ("spc", Key::Char(' ')),
    ("plus", Key::Char('+')),
    ("minus", Key::Char('-')),
    ("underscore", Key::Char('_')),
    ("comma", Key::Char(',')),
    ("period", Key::Char('.')),
    ("slash", Key::Char('/')),
    ("backslash", Key::Char('\\')),
    ("tilde", Key::Char('~')),
];

/// Reads one chord.
///
/// An upper-case letter means shift (`A`, `alt+A`), except beside control, where both `C-A` and
/// `ctrl+A` are the usual way to write control with the plain letter; `ctrl+shift+a` is explicit.
pub fn parse_chord(chord: &str) -> Result<KeyPress, KeyNameError> {
    if chord.is_empty() {
        return Err(KeyNameError::Empty);
    }
    if let Some(named) = NamedKey::from_name(chord) {
        return Ok(named.into());
    }
    let mut mods = Mods::NONE;
    let mut rest = chord;
    while let Some((modifier, after)) = split_modifier(rest) {
        mods |= modifier;
        rest = after;
    }
    if rest.is_empty() {
        return Err(KeyNameError::MissingKey { chord: shorten(chord) });
    }
    let (key, implied) = find_key(rest, mods).ok_or_else(|| unknown(rest, chord))?;
    Ok(KeyPress::new(key).with_mods(mods | implied))
}

/// Takes one modifier and its separator off the front.
fn split_modifier(rest: &str) -> Option<(Mods, &str)> {
    for (name, mods) in MODIFIERS {
        if let Some(head) = rest.get(..name.len())
            && head.eq_ignore_ascii_case(name)
            && let Some(after) = rest[name.len()..].strip_prefix(['+', '-', '_'])
        {
            return Some((mods, after));
        }
    }
    let mut chars = rest.chars();
    let letter = chars.next()?.to_ascii_uppercase();
    let after = chars.as_str().strip_prefix('-')?;
    // `C-` alone reads as modifier without key, which the caller reports.
    LETTER_MODIFIERS.iter().find(|(name, _)| *name == letter).map(|(_, mods)| (*mods, after))
}

/// The key called `name`, and the modifiers its spelling implies.
fn find_key(name: &str, mods: Mods) -> Option<(Key, Mods)> {
    let mut chars = name.chars();
    let first = chars.next()?;
    if chars.as_str().is_empty() {
        return char_key(first, mods);
    }
    if first == '^'
        && let Some(controlled) = super::single(chars)
    {
        let (key, implied) = char_key(controlled, mods | Mods::CTRL)?;
        return Some((key, implied | Mods::CTRL));
    }
    let folded = fold(name);
    if folded == "btab" || folded == "backtab" {
        return Some((Key::Special(Special::Tab), Mods::SHIFT));
    }
    let special = Special::ALL.iter().find(|special| fold(special.name()) == folded);
    special
        .map(|special| Key::Special(*special))
        .or_else(|| ALIASES.iter().find(|(alias, _)| *alias == folded).map(|(_, key)| *key))
        .map(|key| (key, Mods::NONE))
}

fn char_key(c: char, mods: Mods) -> Option<(Key, Mods)> {
    if c.is_control() {
        return None;
    }
    let plain = unshifted(c);
    let shifted = plain != c && !mods.contains(Mods::CTRL);
    Some((Key::Char(plain), if shifted { Mods::SHIFT } else { Mods::NONE }))
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).map(|c| c.to_ascii_lowercase()).collect()
}

fn unknown(rest: &str, chord: &str) -> KeyNameError {
    let modifier = rest.split_once(['+', '-']).map(|(before, _)| before);
    if let Some(part) = modifier.filter(|part| !part.is_empty()) {
        let suggestions = nearest(part, MODIFIERS.iter().map(|(name, _)| *name));
        if rest.contains('+') || !suggestions.is_empty() {
            let (part, chord) = (shorten(part), shorten(chord));
            return KeyNameError::UnknownModifier { part, chord, suggestions };
        }
    }
    let names = NamedKey::ALL.iter().map(|key| key.name());
    let names = names.chain(Special::ALL.iter().map(|key| key.name()));
    KeyNameError::UnknownKey { part: shorten(rest), suggestions: nearest(rest, names) }
}

/// Bounded and printable, since it goes into a message.
fn shorten(part: &str) -> String {
    const LIMIT: usize = 40;
    let cut: String = part.chars().take(LIMIT).flat_map(char::escape_debug).collect();
    if part.chars().nth(LIMIT).is_some() { cut + "..." } else { cut }
}

/// Up to three names within a third of the length in edits.
fn nearest(part: &str, names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    const LONGEST: usize = 24;
    let folded: Vec<char> = fold(part).chars().take(LONGEST + 1).collect();
    if folded.len() > LONGEST {
        return Vec::new();
    }
    let limit = (folded.len() / 3).max(1);
    let mut found: Vec<(usize, &'static str)> = Vec::new();
    for name in names {
        let distance = edit_distance(&folded, &fold(name).chars().collect::<Vec<_>>());
        if distance <= limit && !found.iter().any(|(_, known)| *known == name) {
            found.push((distance, name));
        }
    }
    found.sort_by_key(|(distance, _)| *distance);
    found.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Edits between two words; two swapped neighbors count once.
fn edit_distance(left: &[char], right: &[char]) -> usize {
    let mut before_last = vec![0; right.len() + 1];
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut current = vec![i + 1; right.len() + 1];
        for (j, b) in right.iter().enumerate() {
            let changed = last[j] + usize::from(a != b);
            current[j + 1] = changed.min(last[j + 1] + 1).min(current[j] + 1);
            if i > 0 && j > 0 && left[i - 1] == *b && *a == right[j - 1] {
                current[j + 1] = current[j + 1].min(before_last[j - 1] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[right.len()]
}

/// The canonical chord, which [`parse_chord`] reads back.
impl fmt::Display for KeyPress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Mods::CTRL, "ctrl"),
            (Mods::ALT, "alt"),
            (Mods::SHIFT, "shift"),
            (Mods::SUPER, "super"),
            (Mods::HYPER, "hyper"),
            (Mods::META, "meta"),
        ];
        for (modifier, name) in names {
            if self.mods.contains(modifier) {
                write!(f, "{name}+")?;
            }
        }
        match self.key {
            Key::Char(' ') => f.write_str("space"),
            Key::Char(c) => write!(f, "{c}"),
            Key::Special(special) => f.write_str(special.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(chord: &str, key: Key, mods: Mods) {
        let press = parse_chord(chord).unwrap_or_else(|error| panic!("{chord}: {error}"));
        assert_eq!((press.key, press.mods), (key, mods), "{chord}");
    }

    #[test]
    fn chords() {
        use Key::{Char, Special as S};
        let ctrl_shift = Mods::CTRL | Mods::SHIFT;
        check("ctrl+shift+a", Char('a'), ctrl_shift);
        check("Ctrl+Shift+A", Char('a'), ctrl_shift);
        check("C-a", Char('a'), Mods::CTRL);
        check("C-A", Char('a'), Mods::CTRL);
        check("c-a", Char('a'), Mods::CTRL);
        check("ctrl-c", Char('c'), Mods::CTRL);
        check("ctrl_h", Char('h'), Mods::CTRL);
        check("C-M-x", Char('x'), Mods::CTRL | Mods::ALT);
        check("M-A", Char('a'), Mods::ALT | Mods::SHIFT);
        check("S-Tab", S(Special::Tab), Mods::SHIFT);
        check("BTab", S(Special::Tab), Mods::SHIFT);
        check("shift_tab", S(Special::Tab), Mods::SHIFT);
        check("Enter", S(Special::Enter), Mods::NONE);
        check("RETURN", S(Special::Enter), Mods::NONE);
        check("alt+enter", S(Special::Enter), Mods::ALT);
        check("PageUp", S(Special::PageUp), Mods::NONE);
        check("page-up", S(Special::PageUp), Mods::NONE);
        check("PPage", S(Special::PageUp), Mods::NONE);
        check("C-F12", S(Special::F12), Mods::CTRL);
        check("F35", S(Special::F35), Mods::NONE);
        check("kp_5", S(Special::Kp5), Mods::NONE);
        check("KP5", S(Special::Kp5), Mods::NONE);
        check("a", Char('a'), Mods::NONE);
        check("A", Char('a'), Mods::SHIFT);
        check("É", Char('é'), Mods::SHIFT);
        check("日", Char('日'), Mods::NONE);
        check("+", Char('+'), Mods::NONE);
        check("-", Char('-'), Mods::NONE);
        check("^", Char('^'), Mods::NONE);
        check("ctrl++", Char('+'), Mods::CTRL);
        check("C--", Char('-'), Mods::CTRL);
        check("ctrl+-", Char('-'), Mods::CTRL);
        check("ctrl+space", Char(' '), Mods::CTRL);
        check(" ", Char(' '), Mods::NONE);
        check("^C", Char('c'), Mods::CTRL);
        check("^[", Char('['), Mods::CTRL);
        check("cmd+k", Char('k'), Mods::SUPER);
        check("hyper+meta+up", S(Special::Up), Mods::HYPER | Mods::META);
        check("left_shift", S(Special::LeftShift), Mods::NONE);
    }

    fn fails(chord: &str, message: &str) {
        match parse_chord(chord) {
            Ok(press) => panic!("{chord} was read as {press:?}"),
            Err(error) => assert_eq!(error.to_string(), message, "{chord}"),
        }
    }

    #[test]
    fn errors_name_the_bad_part() {
        fails("", "key name is empty");
        fails("ctrl+", "no key after the modifiers in `ctrl+`");
        fails("C-", "no key after the modifiers in `C-`");
        fails("entr", "unknown key `entr`; did you mean `enter`");
        fails("ctrl+entre", "unknown key `entre`; did you mean `enter`");
        fails("crtl+a", "unknown modifier `crtl` in key `crtl+a`; did you mean `ctrl`");
        fails("shfit-tab", "unknown modifier `shfit` in key `shfit-tab`; did you mean `shift`");
        fails("bogus+a", "unknown modifier `bogus` in key `bogus+a`");
        fails("xyzzy-plugh", "unknown key `xyzzy-plugh`");
        fails("pageup2", "unknown key `pageup2`; did you mean `page_up`");
        fails("\u{7}", "unknown key `\\u{7}`");
        fails("f36", "unknown key `f36`; did you mean `f3` or `f6` or `f16`");
        let long = "q".repeat(5000);
        fails(&long, &format!("unknown key `{}...`", "q".repeat(40)));
    }

    #[test]
    fn every_name_is_read_back() {
        for key in NamedKey::ALL {
            assert_eq!(parse_chord(key.name()).unwrap(), KeyPress::from(*key));
        }
        for special in Special::ALL {
            check(special.name(), Key::Special(*special), Mods::NONE);
        }
    }

    fn any_key() -> impl Strategy<Value = Key> {
        prop_oneof![
            proptest::sample::select(Special::ALL).prop_map(Key::Special),
            any::<char>()
                .prop_filter("typeable", |c| !c.is_control())
                .prop_map(|c| Key::Char(unshifted(c))),
        ]
    }

    proptest! {
        #[test]
        fn never_panics(chord in "\\PC*|(ctrl|C|alt|M|\\^|shift|S)?[-+_]?.{0,6}") {
            if let Err(error) = parse_chord(&chord) {
                prop_assert!(!error.to_string().is_empty());
            }
        }

        #[test]
        fn display_reads_back(key in any_key(), bits in 0u8..64) {
            let press = KeyPress::new(key).with_mods(Mods::from_bits(bits));
            prop_assert_eq!(parse_chord(&press.to_string()), Ok(press));
        }
    }
}
