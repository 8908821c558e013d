//! Plugins of any text: the sandbox holds, the limits end every call, and nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Ok(text) = std::str::from_utf8(input) {
        rookery_plugins::fuzzing::source(text);
    }
});
