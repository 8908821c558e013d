//! Envelopes of agents' events: any text is an envelope or a complaint, and whatever belongs to an
//! event is read without more than it holds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_idx0::agent_event;

fuzz_target!(|input: &str| {
    let Ok(envelope) = agent_event::parse(input) else { return };
    let payload = envelope.payload;
    let differences = payload.differences();
    assert!(differences.files.len() <= input.len());
    let _ = (payload.text("summary"), payload.checkpoint(), payload.session("targetSessionID"));
    assert!(payload.texts("risks").len() <= input.len());
});
