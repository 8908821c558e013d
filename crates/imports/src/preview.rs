//! What is shown of an item before it is enabled. Pure.

use serde_json::{Map, Value, json};

use crate::redact::redacted_text;

/// Characters of a text that are shown.
pub(crate) const TEXT_LIMIT: usize = 1200;
/// Characters of a README that are shown and used.
pub(crate) const EXCERPT_LIMIT: usize = 500;
/// About how many bytes are shown of an item.
const PREVIEW_LIMIT: usize = 16 << 10;
/// What a value takes besides its text.
const VALUE_SIZE: usize = 8;
/// Characters of a summary.
const SUMMARY_LIMIT: usize = 200;

/// The beginning of a text, and whether that is not all.
pub(crate) fn text(text: &str) -> Value {
    let (shown, is_cut) = cut(text.trim(), TEXT_LIMIT);
    json!({ "text": redacted_text(shown), "truncated": is_cut })
}

/// As much of what a structured file holds as is shown. What is cut says so by its member `truncated`.
pub(crate) fn bounded(mut shown: Value) -> Value {
    let mut room = PREVIEW_LIMIT;
    let is_whole = fit(&mut shown, &mut room);
    if !is_whole && let Value::Object(members) = &mut shown {
        members.insert("truncated".to_owned(), true.into());
    }
    shown
}

/// Cuts a value down to the room that is left; false if there was not enough.
fn fit(value: &mut Value, room: &mut usize) -> bool {
    *room = room.saturating_sub(VALUE_SIZE);
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => {
            let end = text.floor_char_boundary(*room);
            let is_whole = end == text.len();
            text.truncate(end);
            *room -= end;
            is_whole
        }
        Value::Array(values) => {
            let count = values.len();
            let mut is_whole = true;
            values.retain_mut(|value| {
                let has_room = *room > VALUE_SIZE;
                is_whole &= has_room && fit(value, room);
                has_room
            });
            is_whole && values.len() == count
        }
        Value::Object(members) => {
            let mut kept = Map::new();
            let mut is_whole = true;
            for (key, mut value) in std::mem::take(members) {
                let left = room.checked_sub(key.len() + VALUE_SIZE).filter(|left| *left > 0);
                let Some(left) = left else {
                    is_whole = false;
                    break;
                };
                *room = left;
                is_whole &= fit(&mut value, room);
                kept.insert(key, value);
            }
            *members = kept;
            is_whole
        }
    }
}

/// At most this number of characters of a text.
pub(crate) fn cut(text: &str, limit: usize) -> (&str, bool) {
    match text.char_indices().nth(limit) {
        Some((end, _)) => (&text[..end], true),
        None => (text, false),
    }
}

/// The first line of a text that says something.
pub(crate) fn summary(text: &str) -> String {
    let mut lines = text.lines().map(|line| line.trim().trim_start_matches('#').trim());
    one_line(lines.find(|line| !line.is_empty() && *line != "---").unwrap_or_default())
}

/// A text as one short line without secrets.
pub(crate) fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    cut(redacted_text(plain.trim()).trim(), SUMMARY_LIMIT).0.to_owned()
}

/// The part of a README that speaks of agents, from the beginning of its line on; none if there is none.
pub(crate) fn excerpt(text: &str) -> Option<&str> {
    let lower = text.to_ascii_lowercase();
    let at = lower.find("agent")?;
    let start = lower[..at].rfind('\n').map_or(0, |end| end + 1);
    Some(cut(text[start..].trim(), EXCERPT_LIMIT).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_characters() {
        let shown = text(&"ä".repeat(TEXT_LIMIT + 1));
        assert_eq!(shown["text"].as_str().unwrap().chars().count(), TEXT_LIMIT);
        assert_eq!(shown["truncated"], true);
        assert_eq!(text("x")["truncated"], false);
    }

    #[test]
    fn structured_files_are_shown_up_to_a_bound() {
        let small = json!({"a": [1, {"b": "x"}], "c": null, "d": "y"});
        assert_eq!(bounded(small.clone()), small);
        let long = "ä".repeat(PREVIEW_LIMIT);
        let of_list = json!({ "list": vec!["word"; PREVIEW_LIMIT] });
        let keys: Map<String, Value> =
            (0..PREVIEW_LIMIT).map(|number| (format!("key{number}"), 1.into())).collect();
        for large in [json!({"text": long}), of_list, json!({"keys": keys})] {
            let shown = bounded(large);
            assert_eq!(shown["truncated"], true);
            let size = shown.to_string().len();
            assert!((PREVIEW_LIMIT / 4..2 * PREVIEW_LIMIT).contains(&size), "{size}");
        }
    }

    #[test]
    fn a_readme_counts_where_it_speaks_of_agents() {
        assert_eq!(
            excerpt("# Tool\n\nFor all AGENTS: run make.\n"),
            Some("For all AGENTS: run make.")
        );
        assert_eq!(excerpt("nothing"), None);
        assert_eq!(summary("---\n# Title\nx"), "Title");
    }
}
