//! What is shown of an item before it is enabled. Pure.

use serde_json::{Value, json};

use crate::redact::redacted_text;

/// Characters of a text that are shown.
pub(crate) const TEXT_LIMIT: usize = 1200;
/// Characters of a README that are shown and used.
pub(crate) const EXCERPT_LIMIT: usize = 500;
/// Characters of a summary.
const SUMMARY_LIMIT: usize = 200;

/// The beginning of a text, and whether that is not all.
pub(crate) fn text(text: &str) -> Value {
    let (shown, is_cut) = cut(text.trim(), TEXT_LIMIT);
    json!({ "text": redacted_text(shown), "truncated": is_cut })
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
    fn a_readme_counts_where_it_speaks_of_agents() {
        assert_eq!(
            excerpt("# Tool\n\nFor all AGENTS: run make.\n"),
            Some("For all AGENTS: run make.")
        );
        assert_eq!(excerpt("nothing"), None);
        assert_eq!(summary("---\n# Title\nx"), "Title");
    }
}
