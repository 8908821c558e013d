//! Text pasted into a child: plain, bracketed, and cleaned when its source is not trusted.
//! Knows nothing of modes: whether to bracket is the caller's decision.

use std::borrow::Cow;

const START: &str = "\x1b[200~";
/// What an application takes for the end of a paste, in both spellings of CSI.
const ENDS: [&str; 2] = ["\x1b[201~", "\u{9b}201~"];

/// Every marker of a paste.
const MARKERS: [&str; 4] = [START, "\u{9b}200~", ENDS[0], ENDS[1]];

/// The text as it is, for a child that did not ask for brackets.
pub fn plain(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

/// The text between paste markers, with every end marker inside it removed, so that nothing in
/// it can be taken for typing.
pub fn bracketed(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(START.len() + text.len() + ENDS[0].len());
    bytes.extend_from_slice(START.as_bytes());
    bytes.extend_from_slice(without_end_markers(text).as_bytes());
    bytes.extend_from_slice(ENDS[0].as_bytes());
    bytes
}

/// Removes escapes and other controls but tab, line feed and carriage return. C1 controls and
/// DEL go as well: U+009B starts a sequence just as ESC does.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    if text.contains(harmful) { text.replace(harmful, "").into() } else { text.into() }
}

/// The text without any paste marker, be it of a beginning or of an end.
pub fn without_markers(text: &str) -> Cow<'_, str> {
    without(text, &MARKERS)
}

fn without_end_markers(text: &str) -> Cow<'_, str> {
    without(text, &ENDS)
}

fn without<'t>(text: &'t str, markers: &[&str]) -> Cow<'t, str> {
    if !markers.iter().any(|marker| text.contains(marker)) {
        return text.into();
    }
    // Checking the output after each character also catches a marker that forms when another one
    // is taken out of its middle, in one pass however deep they are nested.
    let mut kept = String::with_capacity(text.len());
    for c in text.chars() {
        kept.push(c);
        if c == '~'
            && let Some(marker) = markers.iter().find(|marker| kept.ends_with(**marker))
        {
            kept.truncate(kept.len() - marker.len());
        }
    }
    kept.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn inner(text: &str) -> String {
        let bytes = String::from_utf8(bracketed(text)).unwrap();
        let inner = bytes.strip_prefix("\x1b[200~").unwrap().strip_suffix("\x1b[201~").unwrap();
        inner.to_owned()
    }

    #[test]
    fn plain_text_is_unchanged() {
        assert_eq!(bracketed("ls\n"), b"\x1b[200~ls\n\x1b[201~");
        assert_eq!(bracketed(""), b"\x1b[200~\x1b[201~");
        assert_eq!(plain("a\x1b[201~b"), b"a\x1b[201~b");
    }

    #[test]
    fn end_markers_are_removed() {
        assert_eq!(inner("a\x1b[201~rm -rf\n"), "arm -rf\n");
        assert_eq!(inner("a\u{9b}201~b"), "ab");
        assert_eq!(inner("\x1b[20\x1b[201~1~x"), "x");
        assert_eq!(inner("\x1b[2\u{9b}201~01~x"), "x");
        assert_eq!(inner("\u{9b}20\x1b[201~1~x"), "x");
        assert_eq!(inner("\x1b[200~x\x1b[201"), "\x1b[200~x\x1b[201");
    }

    #[test]
    fn every_marker_can_be_removed() {
        assert_eq!(without_markers("a\x1b[200~b\u{9b}200~c\x1b[201~d\u{9b}201~e"), "abcde");
        assert_eq!(without_markers("\x1b[20\x1b[201~0~x"), "x");
        assert!(matches!(without_markers("\x1b[20~plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn deep_nesting_is_one_pass() {
        let deep = format!("{}{}", "\x1b[20".repeat(50_000), "1~".repeat(50_000));
        assert_eq!(inner(&deep), "");
    }

    #[test]
    fn sanitize_keeps_text_and_line_breaks() {
        assert!(matches!(sanitize("a\tb\r\nü日"), Cow::Borrowed(_)));
        assert_eq!(sanitize("a\x1b[31mb\x07\x00\u{9b}1m\x7fc\n"), "a[31mb1mc\n");
    }

    proptest! {
        #[test]
        fn no_end_marker_survives(parts in proptest::collection::vec(
            proptest::sample::select(vec!["\x1b", "[", "2", "0", "1", "~", "\u{9b}", "20", "1~", "é"]), 0..60,
        )) {
            let text = parts.concat();
            let inner = inner(&text);
            for end in ENDS {
                prop_assert!(!inner.contains(end));
            }
            if !ENDS.iter().any(|end| text.contains(end)) {
                prop_assert_eq!(inner, text);
            }
        }
    }
}
