//! Server-sent events: cut anywhere, the same bytes give the same frames and the same end, and no frame
//! is longer than allowed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_host::http::sse::{Frame, Parser, TooLong};

/// Small, so that the fuzzer meets it.
const LIMIT: usize = 48;

fuzz_target!(|input: &[u8]| {
    let (whole, pieces) = rookery_fuzz::cut(input);
    let pieces: Vec<&[u8]> = pieces.collect();
    check(LIMIT, whole, &pieces);
    check(usize::MAX, whole, &pieces);
});

fn check(limit: usize, whole: &[u8], pieces: &[&[u8]]) {
    let (frames, end) = read(limit, [whole]);
    for frame in &frames {
        let parts = [frame.event.as_ref(), frame.id.as_ref(), Some(&frame.data)];
        let length: usize = parts.into_iter().flatten().map(|part| bytes_behind(part)).sum();
        assert!(length <= limit, "{frame:?}");
        assert!(!frame.data.contains('\r'));
    }
    assert_eq!((frames, end), read(limit, pieces.iter().copied()));
}

/// At least as many bytes stood for a text: what was no UTF-8 takes three bytes and stood for one.
fn bytes_behind(text: &str) -> usize {
    text.chars().map(|c| if c == char::REPLACEMENT_CHARACTER { 1 } else { c.len_utf8() }).sum()
}

/// All frames of a stream that comes in `pieces`, and how it ended: with a last frame, or too long.
fn read<'a>(
    limit: usize,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Frame>, Result<Option<Frame>, TooLong>) {
    let mut parser = Parser::with_limit(limit);
    let mut frames = Vec::new();
    for piece in pieces {
        if let Err(error) = parser.push(piece, &mut frames) {
            return (frames, Err(error));
        }
    }
    let last = parser.finish();
    (frames, Ok(last))
}
