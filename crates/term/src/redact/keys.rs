//! Private keys in blocks of base64, in a text of many lines: whole, without their end because it
//! has not been printed yet, or without their beginning because it has left the screen.

use std::ops::Range;

use memchr::memmem;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";
const LINES: &str = "Private-Lines: ";

/// One of these is in every text that has something of a key.
pub(super) const TRIGGERS: &[&str] = &["PRIVATE KEY", LINES];

/// How far from its beginning the end of a block is looked for. Everything in between is hidden,
/// whatever it is; of longer blocks, the lines that look like base64.
pub(super) const BLOCK_BYTES: usize = 4096;

/// Longest label, such as `ENCRYPTED PRIVATE KEY`.
const LABEL_BYTES: usize = 64;

/// Lines of this length may be the rest of a block whose end is still to come.
const LONG_LINE: usize = 20;

/// The parts of `text` that are private keys, in order; markers stay.
pub(super) fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut done = 0;
    for start in markers(text) {
        if start.at < done {
            continue;
        }
        let body = match start.kind {
            Kind::End => before_end(text, done..start.at),
            Kind::Begin => start.end..end_of_body(text, &start),
            Kind::Lines => start.end..end_of_lines(text, start.end),
        };
        done = body.end.max(start.end);
        let body = trimmed(text, body);
        if !body.is_empty() {
            found.push(body);
        }
    }
    found
}

/// Where to stop showing `text` because a block may go on: what is behind may be hidden by what
/// comes next.
pub(super) fn open_from(text: &str) -> Option<usize> {
    let last = markers(text).last();
    let open = last.filter(|last| last.kind == Kind::Begin && text.len() - last.at < BLOCK_BYTES);
    open.map(|begin| begin.end).or_else(|| rest_of_block(text))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Begin,
    End,
    /// The head of the secret lines of a PuTTY key.
    Lines,
}

struct Marker {
    at: usize,
    end: usize,
    kind: Kind,
}

fn markers(text: &str) -> impl Iterator<Item = Marker> {
    let dashed = memmem::find_iter(text.as_bytes(), DASHES).filter_map(|at| dashed(text, at));
    let lines = memmem::find_iter(text.as_bytes(), LINES).map(|at| {
        let rest = &text.as_bytes()[at + LINES.len()..];
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        Marker { at, end: at + LINES.len() + digits, kind: Kind::Lines }
    });
    let mut all: Vec<Marker> = dashed.chain(lines).collect();
    all.sort_by_key(|marker| marker.at);
    all.into_iter()
}

fn dashed(text: &str, at: usize) -> Option<Marker> {
    let (kind, start) = match &text[at..] {
        rest if rest.starts_with(BEGIN) => (Kind::Begin, at + BEGIN.len()),
        rest if rest.starts_with(END) => (Kind::End, at + END.len()),
        _ => return None,
    };
    let rest = &text.as_bytes()[start..];
    let is_label = |b: &&u8| b.is_ascii_uppercase() || b.is_ascii_digit() || **b == b' ';
    let len = rest.iter().take(LABEL_BYTES).take_while(is_label).count();
    let label = text[start..start + len].trim_end();
    let is_private = label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK");
    // The dashes at the end of a marker may be cut off by the edge of the screen.
    let dashes = text[start + len..].bytes().take(DASHES.len()).take_while(|b| *b == b'-').count();
    is_private.then_some(Marker { at, end: start + len + dashes, kind })
}

/// Where the body behind a marker ends.
fn end_of_body(text: &str, begin: &Marker) -> usize {
    let limit = text.floor_char_boundary(begin.at.saturating_add(BLOCK_BYTES));
    let near = &text[begin.end..limit.max(begin.end)];
    let next = memmem::find_iter(near.as_bytes(), DASHES)
        .filter_map(|at| dashed(near, at))
        .find(|marker| begin.end + marker.end <= limit);
    match next {
        Some(next) => begin.end + next.at,
        None => end_of_lines(text, begin.end),
    }
}

/// Where the lines end that look like the body of a block. The last one may not be complete.
fn end_of_lines(text: &str, start: usize) -> usize {
    let mut end = start;
    let mut may_be_blank = true;
    for (number, line) in text[start..].split_inclusive('\n').enumerate() {
        let content = undecorated(line);
        // Behind the marker itself a whole block may follow in one line, its line ends written out.
        let is_body = |b: u8| is_base64(b) || (number == 0 && b == b'\\');
        if content.is_empty() {
            if !may_be_blank {
                return end;
            }
        } else if content.bytes().all(is_body) {
            may_be_blank = false;
        } else if !is_header(content) {
            let is_written_out = number == 0 && content.starts_with('\\');
            let len = content.bytes().take_while(|b| is_body(*b)).count();
            let before = line.find(content).unwrap_or(0);
            return if is_written_out { end + before + len } else { end };
        }
        end += line.len();
    }
    end
}

/// What looks like the body of a block right before an end marker.
fn before_end(text: &str, before: Range<usize>) -> Range<usize> {
    let head = &text[before.clone()];
    let own = head.rfind('\n').map_or(0, |end| end + 1);
    let in_line = undecorated(&head[own..]);
    let mut start = head.len();
    if in_line.is_empty() {
        let mut rest = &head[..own];
        while let Some(body) = rest.strip_suffix('\n') {
            let from = body.rfind('\n').map_or(0, |end| end + 1);
            let content = undecorated(&body[from..]);
            if content.len() < 4 || !content.bytes().all(is_base64) {
                break;
            }
            start = from;
            rest = &rest[..from];
        }
    } else {
        let is_body = |b: &u8| is_base64(*b) || *b == b'\\';
        let len = head.bytes().rev().take_while(is_body).count();
        start -= if len >= LONG_LINE { len } else { 0 };
    }
    before.start + start..before.end
}

/// Where a run of long lines of base64 begins that reaches to the end of the text. Its last line
/// may be short, and the beginning of an end marker may follow.
fn rest_of_block(text: &str) -> Option<usize> {
    let floor = text.floor_char_boundary(text.len().saturating_sub(BLOCK_BYTES));
    let mut start = None;
    let mut end = text.len();
    let mut may_be_short = true;
    for (number, line) in text[floor..].rsplit('\n').enumerate() {
        let from = end - line.len();
        let content = undecorated(line);
        let is_marker = END.starts_with(content) || content.starts_with(END);
        if number > 0 || !is_marker {
            if content.is_empty() || !content.bytes().all(is_base64) {
                break;
            }
            if content.len() >= LONG_LINE {
                start = Some(from);
            } else if !std::mem::take(&mut may_be_short) {
                break;
            }
        }
        end = from.saturating_sub(1);
    }
    start
}

fn is_base64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')
}

/// Names of lines before the body.
fn is_header(line: &str) -> bool {
    ["Proc-Type:", "DEK-Info:", "Comment:", "Version:", "Hash:"]
        .iter()
        .any(|name| line.starts_with(name) || (!line.is_empty() && name.starts_with(line)))
}

/// A line without blanks, frames and line numbers around it.
fn undecorated(line: &str) -> &str {
    let is_frame = |c: char| c.is_whitespace() || matches!(c, '|' | '│' | '┃' | '>' | '║' | '~');
    let line = line.trim_matches(is_frame);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    let behind = rest.trim_start_matches(|c| is_frame(c) || c == ':');
    if digits > 0 && behind.len() < rest.len() { behind } else { line }
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = &text[range.clone()];
    let start = range.start + (inner.len() - inner.trim_start().len());
    let end = range.end - (inner.len() - inner.trim_end().len());
    start..end.max(start)
}
