//! What an issuer said, as it may be shown: short, in one line, and without tokens.

use serde_json::Value;

/// How much is shown.
const LIMIT: usize = 300;

/// What stands where a token stood.
const BLANK: &str = "***";

/// Members that are never shown, whatever they hold.
const SECRETS: [&str; 12] = [
    "access_token",
    "refresh_token",
    "id_token",
    "access",
    "refresh",
    "code",
    "authorization_code",
    "code_verifier",
    "code_challenge",
    "device_code",
    "device_auth_id",
    "client_secret",
];

/// Words that give away that a text has a token in it.
const TRACES: [&str; 6] =
    ["access_token", "refresh_token", "id_token", "code_verifier", "device_code", "eyJ"];

/// A body of an issuer as it may be shown. `sent` are secrets that it was sent, and may have repeated.
pub fn quote(body: &[u8], sent: &[&str]) -> String {
    let text = match serde_json::from_slice::<Value>(body) {
        Ok(mut value @ (Value::Object(_) | Value::Array(_))) => {
            blank(&mut value);
            value.to_string()
        }
        _ => shown(&String::from_utf8_lossy(body)).to_owned(),
    };
    line(&text, sent)
}

/// A text of an issuer as it may be shown.
pub(crate) fn words(text: &str, sent: &[&str]) -> String {
    line(shown(text), sent)
}

/// A text that gives a token away is not shown at all: it cannot be determined where the token ends.
fn shown(text: &str) -> &str {
    match TRACES.iter().any(|trace| text.contains(trace)) {
        true => BLANK,
        false => text,
    }
}

fn blank(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                let name = name.to_ascii_lowercase();
                // An error has a code as well, which is a word or a number.
                let is_error =
                    name == "code" && !matches!(member, Value::String(text) if text.len() > 40);
                if SECRETS.contains(&name.as_str()) && !is_error {
                    *member = Value::from(BLANK);
                } else {
                    blank(member);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(blank),
        Value::String(text) => {
            if shown(text) == BLANK {
                *value = Value::from(BLANK);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn line(text: &str, sent: &[&str]) -> String {
    let mut text = text.to_owned();
    for secret in sent.iter().filter(|secret| secret.len() >= 4) {
        text = text.replace(secret, BLANK);
    }
    let plain = |character: char| match character.is_control() {
        true => ' ',
        false => character,
    };
    let text: String = text.trim().chars().map(plain).collect();
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_blanked_wherever_they_are() {
        let body = br#"{"error":"bad","access_token":"tok-1","x":[{"Refresh":"tok-2","id_token":["tok-3"]}],
            "note":"{\"access_token\":\"tok-4\"}","code":7,"deep":{"device_code":"tok-5"}}"#;
        let shown = quote(body, &[]);
        assert!(!shown.contains("tok-"), "{shown}");
        assert!(shown.contains(r#""error":"bad""#) && shown.contains(r#""code":7"#), "{shown}");
    }

    #[test]
    fn a_text_that_is_no_json_is_shown_only_if_it_has_no_token() {
        assert_eq!(quote(b"  go\taway\n", &[]), "go away");
        assert_eq!(quote(b"access_token=tok-1&x=y", &[]), "***");
        assert_eq!(quote(b"{\"access_token\": \"tok-1\"", &[]), "***");
        assert_eq!(quote(b"no such code abcd-1", &["abcd-1"]), "no such code ***");
        assert_eq!(words("bad eyJhbGciOi", &[]), "***");
    }

    #[test]
    fn much_is_cut_between_characters() {
        let shown = quote("ä".repeat(1000).as_bytes(), &[]);
        assert_eq!(shown.chars().count(), LIMIT + 1);
    }
}
