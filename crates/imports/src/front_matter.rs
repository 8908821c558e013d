//! Files with a head: YAML between two lines of dashes, and a text below it. Pure.

use serde_json::{Map, Value};

/// Splits a file into its head and its body. A file without a head is all body; a head that is no YAML, or
/// no map, is tried again with quotes around values that need them.
///
/// # Errors
/// If the head cannot be read, with the reason.
pub fn split(text: &str) -> Result<(Map<String, Value>, String), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else {
        return Ok((Map::new(), text));
    };
    let mut end = first.len();
    for line in lines {
        if is_fence(line) {
            let yaml = &text[first.len()..end];
            let head = read(yaml).or_else(|error| read(&quoted(yaml)).map_err(|_| error))?;
            return Ok((head, text[end + line.len()..].to_owned()));
        }
        end += line.len();
    }
    Err("its front matter has no closing --- line".to_owned())
}

/// A text of a head, trimmed; none if it is blank or no text.
pub(crate) fn text_of(head: &Map<String, Value>, key: &str) -> Option<String> {
    let text = head.get(key)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A list of a head: a list, or a text with commas.
pub(crate) fn list_of(head: &Map<String, Value>, key: &str) -> Vec<String> {
    let parts: Vec<&str> = match head.get(key) {
        Some(Value::String(text)) => text.split(',').collect(),
        Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

fn read(yaml: &str) -> Result<Map<String, Value>, String> {
    if yaml.trim().is_empty() {
        return Ok(Map::new());
    }
    match yaml_value(yaml)? {
        Value::Object(head) => Ok(head),
        Value::Null => Ok(Map::new()),
        _ => Err("its front matter is no map".to_owned()),
    }
}

/// YAML as a JSON value.
pub(crate) fn yaml_value(yaml: &str) -> Result<Value, String> {
    let options = serde_saphyr::options! { with_snippet: false };
    serde_saphyr::from_str_with_options::<Value>(yaml, options).map_err(|error| {
        let text = error.to_string();
        format!("it is not valid YAML: {}", text.lines().next().unwrap_or_default())
    })
}

/// The same head with its plain values between quotes: descriptions have colons, globs have stars.
fn quoted(yaml: &str) -> String {
    let line = |line: &str| match line.split_once(": ") {
        Some((key, value))
            if !key.starts_with([' ', '-', '#'])
                && !value.trim().is_empty()
                && !value.trim_start().starts_with(['"', '\'', '|', '>', '[', '{']) =>
        {
            let escaped = value.trim().replace('\\', "\\\\").replace('"', "\\\"");
            format!("{key}: \"{escaped}\"")
        }
        _ => line.to_owned(),
    };
    yaml.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_split_off() {
        let (head, body) =
            split("\u{feff}---\r\nname: a\r\ntags: x, y\r\n---\r\nbody\r\n").unwrap();
        assert_eq!((text_of(&head, "name").as_deref(), body.as_str()), (Some("a"), "body\n"));
        assert_eq!(list_of(&head, "tags"), ["x", "y"]);
        assert_eq!(split("no head").unwrap(), (Map::new(), "no head".to_owned()));
        assert!(split("---\nname: a\n").unwrap_err().contains("no closing"));
        assert!(split("---\n- a\n---\n").unwrap_err().contains("no map"));
    }

    #[test]
    fn values_that_need_quotes_are_read_all_the_same() {
        let (head, _) = split("---\ndescription: Use it: often\nglobs: *.rs\n---\n").unwrap();
        assert_eq!(text_of(&head, "description").as_deref(), Some("Use it: often"));
        assert_eq!(list_of(&head, "globs"), ["*.rs"]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_split_or_refused(text in ".{0,400}") {
            let _ = split(&text);
            let _ = split(&format!("---\n{text}\n---\nx"));
        }
    }
}
