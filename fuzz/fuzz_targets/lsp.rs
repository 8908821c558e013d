//! `Content-Length` frames: cut anywhere, the same bytes give the same frames and the same end, no
//! frame is over the limit, and what is sealed is read back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_wire::framing::{Framing as _, Lsp};

/// Small, so that the fuzzer meets it.
const LIMIT: usize = 32;

fuzz_target!(|input: &[u8]| {
    let (whole, pieces) = rookery_fuzz::cut(input);
    let outcome = rookery_fuzz::frames(Lsp::with_limit(LIMIT), [whole]);
    assert_eq!(outcome, rookery_fuzz::frames(Lsp::with_limit(LIMIT), pieces));
    for frame in outcome.into_iter().flatten() {
        assert!(frame.len() <= LIMIT && !frame.trim_ascii().is_empty());
        let mut sealed = Vec::new();
        Lsp::default().encode(&frame, &mut sealed);
        let again = rookery_fuzz::frames(Lsp::default(), [sealed.as_slice()]);
        assert_eq!(again, [Ok(frame)]);
    }
});
