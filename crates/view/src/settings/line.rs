//! One line of a settings or theme file: `key = value`, a comment, or nothing.

use std::ops::Range;

/// A `key = value` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    /// The key, trimmed.
    pub key: &'a str,
    /// The value, trimmed, quotes kept.
    pub value: &'a str,
    /// Where the value stands in the line it was read from.
    pub span: Range<usize>,
}

impl<'a> Entry<'a> {
    /// The value without the one pair of quotes it may have.
    pub(crate) fn unquoted(&self) -> &'a str {
        unquote(self.value)
    }
}

/// Takes one pair of quotes off.
pub(super) fn unquote(value: &str) -> &str {
    for quote in ['"', '\''] {
        let inner = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner {
            return inner;
        }
    }
    value
}

/// Reads one line without its line break. `Ok(None)` is a comment or a blank.
pub(super) fn read(line: &str) -> Result<Option<Entry<'_>>, String> {
    // Half of a line break must not count as space before an empty value.
    let line = line.strip_suffix('\r').unwrap_or(line);
    // A byte order mark can only open the first line, and is no part of a key anywhere.
    let content = line.trim_start_matches('\u{feff}').trim();
    if content.is_empty() || content.starts_with('#') {
        return Ok(None);
    }
    let Some((before, after)) = line.split_once('=') else {
        return Err("a line is written `key = value`".to_owned());
    };
    let key = before.trim_start_matches('\u{feff}').trim();
    if key.is_empty() {
        return Err("there is no key before `=`".to_owned());
    }
    let value = after.trim();
    let start = before.len() + 1 + (after.len() - after.trim_start().len());
    Ok(Some(Entry { key, value, span: start..start + value.len() }))
}

/// The entries of a text with their line numbers, from 1.
pub(crate) fn entries(text: &str) -> impl Iterator<Item = (usize, Result<Entry<'_>, String>)> {
    text.split('\n').enumerate().filter_map(|(index, line)| match read(line) {
        Ok(None) => None,
        Ok(Some(entry)) => Some((index + 1, Ok(entry))),
        Err(error) => Some((index + 1, Err(error))),
    })
}
