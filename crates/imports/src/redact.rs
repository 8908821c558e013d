//! Values without secrets: what is shown of a structured file before it is enabled. Pure.

use serde_json::{Map, Value};

/// What stands in the place of a secret.
const REDACTED: &str = "[redacted]";
/// Words that make a key look as if it held a secret, wherever they are in it.
const SECRET_WORDS: [&str; 9] = [
    "token",
    "secret",
    "password",
    "passwd",
    "api_key",
    "apikey",
    "api-key",
    "authorization",
    "credential",
];
/// Keys whose values are secret whatever is in them.
const SECRET_KEYS: [&str; 4] = ["env", "environment", "headers", "http_headers"];

/// The same value with secrets left out: values of secret-looking keys, users and passwords in addresses,
/// and arguments that follow a secret-looking option.
pub fn redacted(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(redacted_text(text)),
        Value::Array(values) => Value::Array(redacted_list(values)),
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| {
                let value = match is_secret_key(key) && !value.is_null() {
                    true => Value::String(REDACTED.to_owned()),
                    false => redacted(value),
                };
                (key.clone(), value)
            };
            Value::Object(members.iter().map(member).collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// A list, which may be the arguments of a program.
fn redacted_list(values: &[Value]) -> Vec<Value> {
    let mut is_value = false;
    let one = |value: &Value| {
        let text = value.as_str();
        let hides =
            std::mem::take(&mut is_value) && text.is_some_and(|text| !text.starts_with('-'));
        is_value = text
            .is_some_and(|text| text.starts_with('-') && !text.contains('=') && looks_secret(text));
        match hides {
            true => Value::String(REDACTED.to_owned()),
            false => redacted(value),
        }
    };
    values.iter().map(one).collect()
}

/// A text without users and passwords in addresses, and without what is assigned to a secret-looking name.
pub(crate) fn redacted_text(text: &str) -> String {
    without_assigned(&without_userinfo(text))
}

fn without_userinfo(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let end =
            after.find(|c: char| matches!(c, '/' | '?' | '#' | '"' | '\'') || c.is_whitespace());
        let (authority, following) = after.split_at(end.unwrap_or(after.len()));
        match authority.rfind('@') {
            Some(host) => {
                out.push_str(REDACTED);
                out.push_str(&authority[host..]);
            }
            None => out.push_str(authority),
        }
        rest = following;
    }
    out.push_str(rest);
    out
}

/// Leaves out what follows `NAME=` or `Bearer ` if the name looks secret.
fn without_assigned(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('=') {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        out.push('=');
        let after = &after[1..];
        let start = before
            .rfind(|c: char| !is_name_part(c))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        rest = match looks_secret(&before[start..]) {
            true => {
                let end = after.find(|c: char| c.is_whitespace() || matches!(c, '&' | ';'));
                let end = end.unwrap_or(after.len());
                if end > 0 {
                    out.push_str(REDACTED);
                }
                &after[end..]
            }
            false => after,
        };
    }
    out.push_str(rest);
    without_bearer(&out)
}

fn without_bearer(text: &str) -> String {
    const BEARER: &str = "Bearer ";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(BEARER) {
        let (before, after) = rest.split_at(at + BEARER.len());
        out.push_str(before);
        let end = after.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\''));
        let (token, following) = after.split_at(end.unwrap_or(after.len()));
        out.push_str(if token.is_empty() { "" } else { REDACTED });
        rest = following;
    }
    out.push_str(rest);
    out
}

fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn is_secret_key(key: &str) -> bool {
    let key = key.to_lowercase();
    SECRET_KEYS.contains(&key.as_str()) || looks_secret(&key)
}

fn looks_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_left_out_wherever_they_are() {
        let value = json!({
            "command": "npx",
            "args": ["--token", "t1", "--api-key=t2", "-v", "https://me:t3@host/x?access_token=t4&b=1"],
            "env": {"HOME": "t5"},
            "ENV": "t6",
            "Headers": {"X": "t7"},
            "nested": [{"clientSecret": "t8", "PASSWORD": 9, "apikey": null}],
            "run": "curl -H 'Authorization: Bearer t10' ftp://u@h",
        });
        let shown = redacted(&value).to_string();
        for number in 1..=10 {
            assert!(!shown.contains(&format!("t{number}")), "t{number} in {shown}");
        }
        assert_eq!(redacted(&value)["nested"][0]["PASSWORD"], "[redacted]");
        assert_eq!(redacted(&value)["nested"][0]["apikey"], Value::Null);
        assert_eq!(redacted(&value)["args"][3], "-v");
        assert_eq!(
            redacted(&value)["args"][4],
            "https://[redacted]@host/x?access_token=[redacted]&b=1"
        );
        assert_eq!(redacted(&json!("a=b c==d")), "a=b c==d");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_redacted_without_a_panic(text in ".{0,200}") {
            let _ = redacted_text(&text);
        }

        #[test]
        fn no_value_of_a_secret_key_is_shown(
            key in "[a-z]{0,4}(token|SECRET|Password|api_key|ApiKey)[a-z]{0,4}",
            value in "[A-Z]{12}",
        ) {
            let shown = redacted(&json!({"a": [{key.clone(): {"deep": value.clone()}}]})).to_string();
            proptest::prop_assert!(!shown.contains(&value));
            let shown = redacted_text(&format!("x --{key}={value} https://u:{value}@h/"));
            proptest::prop_assert!(!shown.contains(&value), "{}", shown);
        }
    }
}
