//! Words that only clients of the older generation use: `ask` for the mode `default`, `auto` for the
//! web search `cached`. A server says them only after such a client did, and the published types do
//! not know them.

use serde_json::Value;

/// The older word, and the one that the published types know.
const WORDS: [(&str, &str); 2] = [("ask", "default"), ("auto", "cached")];

/// Whether a client uses one of those words for a mode.
pub(crate) fn is_of_the_seed(line: &str) -> bool {
    let Ok(mut message) = serde_json::from_str::<Value>(line) else { return false };
    modernize(&mut message)
}

/// Puts the newer word in the place of each older one, and says whether there was any.
pub(crate) fn modernize(value: &mut Value) -> bool {
    let mut found = false;
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let is_mode = name.to_ascii_lowercase().ends_with("mode");
                let word = WORDS.iter().find(|(older, _)| is_mode && member == older);
                if let Some((_, newer)) = word {
                    *member = Value::from(*newer);
                    found = true;
                }
                found |= modernize(member);
            }
        }
        Value::Array(items) => {
            for item in items {
                found |= modernize(item);
            }
        }
        _ => {}
    }
    found
}

#[test]
fn only_modes_are_respelled() {
    let mut message =
        serde_json::json!({"mode": "ask", "text": "ask", "a": [{"targetMode": "ask"}]});
    assert!(modernize(&mut message));
    let want =
        serde_json::json!({"mode": "default", "text": "ask", "a": [{"targetMode": "default"}]});
    assert_eq!(message, want);
    assert!(!is_of_the_seed(r#"{"method": "ask"}"#) && is_of_the_seed(r#"{"mode": "auto"}"#));
}
