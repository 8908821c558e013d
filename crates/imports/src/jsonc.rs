//! JSON as people edit it: comments and trailing commas are left out before it is read. Pure.

use serde_json::Value;

/// Reads JSON, with comments if need be.
///
/// # Errors
/// If it is no JSON, with the place.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let strict = match serde_json::from_str(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    serde_json::from_str(&plain(text)).map_err(|_| format!("it is not valid JSON: {strict}"))
}

/// The text without comments, and without commas before a closing bracket.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut is_quoted = false;
    while let Some(c) = rest.next() {
        match c {
            '"' => {
                is_quoted = !is_quoted;
                out.push(c);
            }
            '\\' if is_quoted => {
                out.push(c);
                out.extend(rest.next());
            }
            '/' if !is_quoted && rest.peek() == Some(&'/') => {
                while rest.peek().is_some_and(|c| *c != '\n') {
                    rest.next();
                }
            }
            '/' if !is_quoted && rest.peek() == Some(&'*') => {
                rest.next();
                let mut last = ' ';
                for c in rest.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
                out.push(' ');
            }
            ']' | '}' if !is_quoted => {
                let end = out.trim_end().len();
                if out[..end].ends_with(',') {
                    out.truncate(end - 1);
                }
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_left_out() {
        let text =
            "{ // one\n \"a\": [1, 2,], /* two */ \"url\": \"http://x/*y*/\", \"q\": \"\\\"//\", }";
        let read = parse(text).unwrap();
        assert_eq!(read, json!({"a": [1, 2], "url": "http://x/*y*/", "q": "\"//"}));
        assert!(parse("{ nope }").unwrap_err().starts_with("it is not valid JSON: "));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[\\[\\]{}\",:/*\\\\a1 \n]{0,120}") {
            let _ = parse(&text);
        }
    }
}
