//! Files with a head: YAML between two lines of dashes, and a text below it.
//!
//! Pure. What the keys of a head are is up to its reader.

use serde::de::DeserializeOwned;

/// Splits a file into its head and its body. A file without a head is all body.
pub(crate) fn split<Head: DeserializeOwned + Default>(
    text: &str,
) -> Result<(Head, String), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else {
        return Ok((Head::default(), text));
    };
    let mut end = first.len();
    for line in lines {
        if is_fence(line) {
            let head = read(&text[first.len()..end])?;
            return Ok((head, text[end + line.len()..].to_owned()));
        }
        end += line.len();
    }
    Err("its front matter has no closing --- line".into())
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

fn read<Head: DeserializeOwned + Default>(yaml: &str) -> Result<Head, String> {
    if yaml.trim().is_empty() {
        return Ok(Head::default());
    }
    let options = serde_saphyr::options! { with_snippet: false };
    serde_saphyr::from_str_with_options::<Option<Head>>(yaml, options)
        .map(Option::unwrap_or_default)
        .map_err(|error| {
            let text = error.to_string();
            format!("its front matter is wrong: {}", text.lines().next().unwrap_or_default())
        })
}
