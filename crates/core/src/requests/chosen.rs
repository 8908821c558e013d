//! What was chosen in a dialog, as far as the keys tell that were sent to its terminal.
//!
//! Every key passes through us, whichever client sends it. Together with the options of the dialog
//! and the one that was marked when it appeared they often tell what was chosen. Where they do not,
//! that is the answer: a guess must never become a record.

/// What came of a dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    /// An option that says yes.
    Yes,
    /// An option that says no, or the dialog was dismissed.
    No,
    /// Something was sent, and what it chose cannot be determined.
    Unknown,
    /// Nothing was sent.
    Nothing,
}

/// How labels begin that say yes, and those that say no.
const YES: &[&str] = &["yes", "allow", "approve", "accept", "proceed", "trust", "ok", "run"];
const NO: &[&str] =
    &["no", "deny", "reject", "refuse", "don't", "do not", "cancel", "exit", "quit"];

/// What one piece of input does in a menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Up,
    Down,
    Enter,
    Dismiss,
    Digit(usize),
    Letter(u8),
    /// No key at all: the terminal says that it gained or lost the focus.
    Report,
    Other,
}

/// What these keys chose in a dialog with these options, of which `focus` (from 1) was marked.
pub(super) fn chosen(options: &[String], mut focus: Option<usize>, keys: &[u8]) -> Chosen {
    let mut rest = keys;
    let mut is_touched = false;
    while let Some((key, length)) = next_key(rest) {
        rest = &rest[length..];
        is_touched |= key != Key::Report;
        match key {
            Key::Report => {}
            Key::Up => focus = focus.and_then(|at| at.checked_sub(1)).filter(|at| *at > 0),
            Key::Down => focus = focus.map(|at| at + 1).filter(|at| *at <= options.len()),
            Key::Enter => return option(options, focus),
            Key::Digit(number) => return option(options, Some(number)),
            Key::Dismiss => return Chosen::No,
            Key::Letter(b'y') if options.is_empty() => return Chosen::Yes,
            Key::Letter(b'n') if options.is_empty() => return Chosen::No,
            Key::Letter(_) | Key::Other => return Chosen::Unknown,
        }
    }
    if is_touched { Chosen::Unknown } else { Chosen::Nothing }
}

/// What an option says.
fn option(options: &[String], number: Option<usize>) -> Chosen {
    let label = number.and_then(|number| options.get(number.checked_sub(1)?));
    let Some(label) = label.map(|label| label.trim().to_lowercase()) else {
        return Chosen::Unknown;
    };
    let begins = |words: &[&str]| {
        words.iter().any(|word| {
            label.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        })
    };
    match (begins(YES), begins(NO)) {
        (true, false) => Chosen::Yes,
        (false, true) => Chosen::No,
        _ => Chosen::Unknown,
    }
}

/// The next key and how many bytes it has.
fn next_key(bytes: &[u8]) -> Option<(Key, usize)> {
    const CTRL_C: u8 = 3;
    const ESCAPE: u8 = 0x1b;
    Some(match bytes {
        [] => return None,
        [ESCAPE, b'[' | b'O', b'A', ..] => (Key::Up, 3),
        [ESCAPE, b'[' | b'O', b'B', ..] => (Key::Down, 3),
        [ESCAPE, b'[', b'I' | b'O', ..] => (Key::Report, 3),
        [ESCAPE, b'[' | b'O', ..] => (Key::Other, bytes.len()),
        [ESCAPE, ..] | [CTRL_C, ..] => (Key::Dismiss, 1),
        [b'\r' | b'\n', ..] => (Key::Enter, 1),
        [digit @ b'1'..=b'9', ..] => (Key::Digit(usize::from(digit - b'0')), 1),
        [letter, ..] if letter.is_ascii_alphabetic() => {
            (Key::Letter(letter.to_ascii_lowercase()), 1)
        }
        _ => (Key::Other, 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Vec<String> {
        let labels = ["Yes", "Yes, and don't ask again", "No, and tell it what to do (esc)"];
        labels.map(str::to_owned).to_vec()
    }

    #[test]
    fn numbers_enter_and_escape_tell_what_was_chosen() {
        let chosen = |keys: &str| chosen(&options(), Some(1), keys.as_bytes());
        assert_eq!(chosen("1"), Chosen::Yes);
        assert_eq!(chosen("2"), Chosen::Yes);
        assert_eq!(chosen("3"), Chosen::No);
        assert_eq!(chosen("\r"), Chosen::Yes);
        assert_eq!(chosen("\x1b[B\x1bOB\r"), Chosen::No);
        assert_eq!(chosen("\x1b[B\x1b[A\r"), Chosen::Yes);
        assert_eq!(chosen("\x1b"), Chosen::No);
        assert_eq!(chosen("\x03"), Chosen::No);
    }

    #[test]
    fn what_cannot_be_told_is_not_guessed() {
        let with = |focus, keys: &str| chosen(&options(), focus, keys.as_bytes());
        assert_eq!(with(Some(1), ""), Chosen::Nothing);
        assert_eq!(with(Some(1), "\x1b[I"), Chosen::Nothing);
        assert_eq!(with(None, "\r"), Chosen::Unknown);
        assert_eq!(with(Some(1), "9"), Chosen::Unknown);
        // Menus may wrap around or not.
        assert_eq!(with(Some(1), "\x1b[A\r"), Chosen::Unknown);
        assert_eq!(with(Some(3), "\x1b[B\r"), Chosen::Unknown);
        assert_eq!(with(Some(1), "\x1b[<0;3;4M"), Chosen::Unknown);
        assert_eq!(with(Some(1), "q\r"), Chosen::Unknown);
        assert_eq!(with(Some(1), "\x1b[B"), Chosen::Unknown);
        let strange = ["Maybe".to_owned(), "Nothing of that".to_owned()];
        assert_eq!(chosen(&strange, Some(1), b"\r"), Chosen::Unknown);
        assert_eq!(chosen(&strange, Some(1), b"2"), Chosen::Unknown);
    }

    #[test]
    fn letters_answer_where_there_is_no_menu() {
        assert_eq!(chosen(&[], None, b"Y\r"), Chosen::Yes);
        assert_eq!(chosen(&[], None, b"n"), Chosen::No);
        assert_eq!(chosen(&[], None, b"x"), Chosen::Unknown);
        assert_eq!(chosen(&[], None, b"\r"), Chosen::Unknown);
    }
}
