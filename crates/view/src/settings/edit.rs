//! Changing one key of a settings text and leaving every other byte as it is.

use super::line;
use crate::keys::{Keybind, KeybindError};

/// Gives a chord to an action, or to none with `unbind`; without an action the chord is as it is by
/// default.
///
/// `chord` is as a `keybind` line has it, such as `tui:prefix>shift+v`. Lines about the same chord of the
/// same face are taken out; the new one is the last, so that it counts.
///
/// # Errors
/// If chord or action cannot be read.
pub fn bind(text: &str, chord: &str, action: Option<&str>) -> Result<String, KeybindError> {
    let value = format!("{chord} = {}", action.unwrap_or("unbind"));
    let wanted = Keybind::parse(&value)?;
    let is_about = |line: &str| match line::read(line) {
        Ok(Some(entry)) if entry.key == "keybind" => Keybind::parse(entry.unquoted())
            .is_ok_and(|found| Keybind { action: wanted.action, ..found } == wanted),
        _ => false,
    };
    let mut out: String =
        text.split_inclusive('\n').filter(|line| !is_about(line.trim_end_matches('\n'))).collect();
    if action.is_some() {
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        if !out.is_empty() && !out.ends_with('\n') {
            out.push_str(end);
        }
        out.push_str(&format!("keybind = {value}{end}"));
    }
    Ok(out)
}

/// Sets `key` to `value`: in its last line, which is the one that counts, else in a new last line.
///
/// Comments, order, spacing and line ends stay. A line break inside the value cannot be written and
/// becomes a space. Meant for keys that count once, not for `keybind`, `command` or `provider`.
pub fn set(text: &str, key: &str, value: &str) -> String {
    let value = written(key, value);
    match last_entry(text, key) {
        Some(span) => {
            let (before, after) = (&text[..span.start], &text[span.end..]);
            let space = if before.ends_with('=') && !value.is_empty() { " " } else { "" };
            format!("{before}{space}{value}{after}")
        }
        None => {
            let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
            let close = if text.is_empty() || text.ends_with('\n') { "" } else { end };
            format!("{text}{close}{key} = {value}{end}")
        }
    }
}

/// Where the value of the last line with this key stands.
fn last_entry(text: &str, key: &str) -> Option<std::ops::Range<usize>> {
    let mut offset = 0;
    let mut found = None;
    for line in text.split('\n') {
        if let Ok(Some(entry)) = line::read(line)
            && entry.key == key
        {
            found = Some(offset + entry.span.start..offset + entry.span.end);
        }
        offset += line.len() + 1;
    }
    found
}

/// Keys whose values are names with blanks, which stand in quotes as users of the original know them.
const QUOTED: &[&str] = &["font-family"];

/// The value as it must stand in the file to be read back.
fn written(key: &str, value: &str) -> String {
    let value: String =
        value.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }).collect();
    let is_name = QUOTED.contains(&key) && !value.is_empty();
    if !is_name && value.trim() == value && line::unquote(&value) == value {
        value
    } else {
        format!("\"{value}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Platform;
    use crate::settings::Settings;
    use proptest::prelude::*;

    #[test]
    fn a_value_changes_in_place_and_the_rest_stays() {
        let text = "# top\n\ntheme   =  \"nord\"  \nfont-size=12\n# theme = old\n";
        assert_eq!(
            set(text, "theme", "dracula"),
            "# top\n\ntheme   =  dracula  \nfont-size=12\n# theme = old\n"
        );
        assert_eq!(
            set(text, "font-size", "14"),
            "# top\n\ntheme   =  \"nord\"  \nfont-size= 14\n# theme = old\n"
        );
    }

    #[test]
    fn a_missing_key_is_appended() {
        assert_eq!(set("", "theme", "nord"), "theme = nord\n");
        assert_eq!(set("a = 1", "theme", "nord"), "a = 1\ntheme = nord\n");
        assert_eq!(set("a = 1\n", "theme", "nord"), "a = 1\ntheme = nord\n");
    }

    #[test]
    fn windows_line_ends_stay() {
        assert_eq!(
            set("a = 1\r\ntheme = x\r\nb = 2\r\n", "theme", "nord"),
            "a = 1\r\ntheme = nord\r\nb = 2\r\n"
        );
        assert_eq!(set("a = 1\r\n", "theme", "nord"), "a = 1\r\ntheme = nord\r\n");
        assert_eq!(set("a = 1\r\nb", "theme", "nord"), "a = 1\r\nb\r\ntheme = nord\r\n");
    }

    #[test]
    fn the_last_of_several_lines_changes_because_it_counts() {
        assert_eq!(set("theme = a\ntheme = b\n", "theme", "c"), "theme = a\ntheme = c\n");
    }

    #[test]
    fn an_empty_value_gets_room() {
        assert_eq!(set("theme =\n", "theme", "nord"), "theme = nord\n");
        assert_eq!(set("theme = \n", "theme", "nord"), "theme = nord\n");
        assert_eq!(set("theme =\r\nb = 1\r\n", "theme", "nord"), "theme = nord\r\nb = 1\r\n");
    }

    #[test]
    fn values_that_need_quotes_get_them() {
        assert_eq!(set("", "font-family", " a "), "font-family = \" a \"\n");
        assert_eq!(set("", "font-family", "\"a\""), "font-family = \"\"a\"\"\n");
        assert_eq!(set("", "font-family", "a\nb"), "font-family = \"a b\"\n");
        assert_eq!(set("", "font-family", ""), "font-family = \n");
    }

    #[test]
    fn a_chord_is_bound_freed_and_given_back() {
        let text = "# keys\nkeybind = ctrl+t = new_tab\nkeybind = tui:prefix>v = zoom_pane\n";
        let bound = bind(text, "tui:prefix>v", Some("split_below")).unwrap();
        assert_eq!(
            bound,
            "# keys\nkeybind = ctrl+t = new_tab\nkeybind = tui:prefix>v = split_below\n"
        );
        // The case of a letter counts after the prefix.
        let other = bind(&bound, "tui:prefix>shift+v", Some("unbind")).unwrap();
        assert!(other.ends_with("split_below\nkeybind = tui:prefix>shift+v = unbind\n"), "{other}");
        let back = bind(&other, "tui:prefix>V", None).unwrap();
        assert_eq!(back, bound);
        assert_eq!(bind("a", "ctrl+x", Some("copy")).unwrap(), "a\nkeybind = ctrl+x = copy\n");
        assert!(bind(text, "nokey", Some("copy")).is_err());
        assert!(bind(text, "ctrl+x", Some("no_action")).is_err());
    }

    fn family(text: &str) -> Option<String> {
        Settings::parse(text, Platform::Linux).0.font_family
    }

    proptest! {
        #[test]
        fn what_is_set_is_read_back(text in "(?s).{0,200}", value in "\\PC{1,30}") {
            prop_assert_eq!(family(&set(&text, "font-family", &value)), Some(value));
        }

        #[test]
        fn lines_of_other_keys_stay_byte_for_byte(
            lines in prop::collection::vec("(theme|font-size|# x|junk) ?=? ?[a-z\"']{0,8}", 0..8),
            crlf in any::<bool>(),
            value in "[ -~]{0,12}",
        ) {
            let end = if crlf { "\r\n" } else { "\n" };
            let text = lines.join(end) + end;
            let edited = set(&text, "font-family", &value);
            prop_assert!(edited.starts_with(&text));
            let again = set(&edited, "font-family", "x");
            prop_assert!(again.starts_with(&text));
            prop_assert_eq!(family(&again), Some("x".to_owned()));
        }

        #[test]
        fn setting_the_same_value_twice_changes_nothing(text in "(?s).{0,120}", value in ".{0,12}") {
            let once = set(&text, "theme", &value);
            prop_assert_eq!(set(&once, "theme", &value), once);
        }
    }
}
