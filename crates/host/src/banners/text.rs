//! Text as servers of banners take it.

/// The longest title, in characters.
const TITLE_LIMIT: usize = 200;
/// The longest body, in characters.
const BODY_LIMIT: usize = 2000;

/// A title: one line without control characters.
pub(super) fn title(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(TITLE_LIMIT).collect()
}

/// A body: lines without control characters.
pub(super) fn body(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || !c.is_control()).take(BODY_LIMIT).collect()
}

/// The same text for a server that takes markup in a body.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_tamed() {
        assert_eq!(title("a\nb\0c"), "a b c");
        assert_eq!(body("a\nb\0\x1b[1m"), "a\nb[1m");
        assert_eq!(body(&"é".repeat(5000)).chars().count(), BODY_LIMIT);
        assert_eq!(escaped("<b>&amp;</b>"), "&lt;b&gt;&amp;amp;&lt;/b&gt;");
    }
}
