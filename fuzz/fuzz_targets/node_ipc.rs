//! Frames of node-ipc: cut anywhere, the same bytes give the same frames and complaints, no frame is over
//! the limit, what is framed is read back, in whichever form, and where lines are taken, whatever came before costs
//! at most one of them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_wire::framing::{Framing as _, NodeIpc};

/// Small, so that the fuzzer meets it.
const LIMIT: usize = 32;

fuzz_target!(|input: &[u8]| {
    for takes_lines in [false, true] {
        let make = || match takes_lines {
            true => NodeIpc::with_limit(LIMIT).with_lines(),
            false => NodeIpc::with_limit(LIMIT),
        };
        if takes_lines {
            let (first, second) = (r#"{"a":1}"#, r#"{"b":2}"#);
            let text = [input, format!("\n{first}\n{second}\n").as_bytes()].concat();
            let found = rookery_fuzz::frames(make(), [text.as_slice()]);
            assert_eq!(found.last(), Some(&Ok(second.into())));
        }
        let (whole, pieces) = rookery_fuzz::cut(input);
        let outcome = rookery_fuzz::frames(make(), [whole]);
        assert_eq!(outcome, rookery_fuzz::frames(make(), pieces));
        for frame in outcome.into_iter().flatten() {
            assert!(frame.len() <= LIMIT && !frame.contains(&0x0c));
            assert!(!frame.trim_ascii().is_empty());
            let mut framed = Vec::new();
            let framing = make();
            framing.form().answer_in_kind(false);
            framing.encode(&frame, &mut framed);
            let again = rookery_fuzz::frames(NodeIpc::with_limit(LIMIT), [framed.as_slice()]);
            assert_eq!(again.len(), 1);
            assert_eq!(again[0].as_deref(), Ok(&*frame));
        }
    }
});
