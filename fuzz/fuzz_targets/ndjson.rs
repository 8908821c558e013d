//! One frame per line: cut anywhere, the same bytes give the same frames and complaints, no frame is
//! over the limit, and what is sealed is read back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_wire::framing::{Framing as _, Ndjson};

/// Small, so that the fuzzer meets it.
const LIMIT: usize = 32;

fuzz_target!(|input: &[u8]| {
    let (whole, pieces) = rookery_fuzz::cut(input);
    let outcome = rookery_fuzz::frames(Ndjson::with_limit(LIMIT), [whole]);
    assert_eq!(outcome, rookery_fuzz::frames(Ndjson::with_limit(LIMIT), pieces));
    for frame in outcome.into_iter().flatten() {
        assert!(frame.len() <= LIMIT && !frame.contains(&b'\n') && !frame.trim_ascii().is_empty());
        let mut sealed = Vec::new();
        Ndjson::default().encode(&frame, &mut sealed);
        let again = rookery_fuzz::frames(Ndjson::default(), [sealed.as_slice()]);
        // A carriage return before the newline belongs to the line end.
        let body = frame.strip_suffix(b"\r").unwrap_or(&frame);
        assert_eq!(again.len(), 1);
        assert_eq!(again[0].as_deref(), Ok(body));
    }
});
