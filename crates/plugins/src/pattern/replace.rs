//! Replacing what a pattern finds.

use super::{Capture, Found, Outcome, PatternError, Search};

/// Replaces matches by `replacement`, in which `%1` is a capture; gives the new text and how many there were.
pub(crate) fn replace(
    search: &mut Search<'_>,
    replacement: &[u8],
    most: u64,
    longest: usize,
) -> Outcome<(Vec<u8>, u64)> {
    let text = search.text;
    let anchored = search.is_anchored();
    let mut result = Vec::new();
    let (mut at, mut last, mut count) = (0, None, 0);
    while count < most {
        let Some(found) = search.next(at, last, anchored)? else { break };
        count += 1;
        result.extend_from_slice(&text[at..found.start]);
        expand(&mut result, text, &found, replacement, longest)?;
        search.pay_for_bytes(replacement.len())?;
        (at, last) = (found.end, Some(found.end));
        if anchored {
            break;
        }
    }
    result.extend_from_slice(&text[at..]);
    Ok((result, count))
}

/// Adds a replacement for one match.
fn expand(
    result: &mut Vec<u8>,
    text: &[u8],
    found: &Found,
    replacement: &[u8],
    longest: usize,
) -> Outcome<()> {
    let mut rest = replacement;
    while let Some(at) = memchr::memchr(b'%', rest) {
        result.extend_from_slice(&rest[..at]);
        match rest.get(at + 1) {
            Some(b'%') => result.push(b'%'),
            Some(b'0') => result.extend_from_slice(&text[found.start..found.end]),
            Some(digit @ b'1'..=b'9') => match found.value(usize::from(digit - b'1')) {
                Some(Capture::Span(start, end)) => result.extend_from_slice(&text[start..end]),
                Some(Capture::Position(at)) => {
                    result.extend_from_slice((at + 1).to_string().as_bytes())
                }
                Some(Capture::Open(_)) => return PatternError::malformed("unfinished capture"),
                None => {
                    let why = format!("invalid capture index %{}", digit - b'0');
                    return PatternError::malformed(&why);
                }
            },
            _ => return PatternError::malformed("invalid use of '%' in replacement string"),
        }
        if result.len() > longest {
            return Err(PatternError::TooLong);
        }
        rest = &rest[at + 2..];
    }
    result.extend_from_slice(rest);
    if result.len() > longest { Err(PatternError::TooLong) } else { Ok(()) }
}
