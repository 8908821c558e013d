//! Text of models and tools as a terminal may see it. None of it is trusted: what a terminal would act
//! upon is left out, and where a decision depends on the text it is spelled out instead.

/// Whether a character makes a terminal do something, or turns the order of others around.
fn acts(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character is there but not seen, or seen as something that it is not.
fn hides(c: char) -> bool {
    rookery_model::is_unseen(c)
}

/// Lines of text: nothing that acts but line ends and tabs.
pub fn text(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !acts(*c)).collect()
}

/// Lines of text in which everything is seen: what acts and what hides is left out.
pub fn seen(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !(acts(*c) || hides(*c))).collect()
}

/// One line of text: every gap is one space.
pub fn line(text: &str) -> String {
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| word.chars().filter(|c| !acts(*c)).collect())
        .filter(|word: &String| !word.is_empty())
        .collect();
    words.join(" ")
}

/// A line exactly as it is: control and invisible characters are escaped, so that approvals are based on the real text.
pub fn exact(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for c in line.chars() {
        if c != '\t' && (acts(c) || hides(c)) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// JSON on one line, with every control character escaped; outside of texts JSON needs none.
pub fn json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => shown.push(' '),
            _ if c.is_control() => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_never_come_through() {
        let evil = "a\x1b[2J\x1b]52;c;eA==\x07b\u{9b}1m\r\nc\td\u{202e}e";
        assert_eq!(text(evil), "a[2J]52;c;eA==b1m\nc\tde");
        assert_eq!(line(evil), "a[2J]52;c;eA==b1m c de");
        assert_eq!(exact("rm\u{200b} -rf\x1b[8m x\ty"), "rm\\u{200b} -rf\\u{1b}[8m x\ty");
        assert_eq!(exact("日本 ü 'x'"), "日本 ü 'x'");
        assert_eq!(exact("ls\u{3164}\u{e0041}\u{fe0f}"), "ls\\u{3164}\\u{e0041}\\u{fe0f}");
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = serde_json::json!({"a": "x\u{9b}\u{7f}\x1b\n", "b": [1, "ü"]});
        let shown = json(&value.to_string());
        assert!(!shown.contains(char::is_control));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        let pretty = json(&serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(serde_json::from_str::<serde_json::Value>(&pretty).unwrap(), value);
    }

    proptest! {
        #[test]
        fn nothing_that_acts_is_ever_shown(given in any::<String>()) {
            prop_assert!(!text(&given).contains(|c| acts(c) && c != '\n' && c != '\t'));
            prop_assert!(!line(&given).contains(acts));
            prop_assert_eq!(exact(&seen(&given).replace(['\n', '\t'], " ")), seen(&given).replace(['\n', '\t'], " "));
            prop_assert!(!exact(&given).contains(|c| (acts(c) || hides(c)) && c != '\t'));
            prop_assert!(!json(&given).contains(char::is_control));
        }
    }
}
