//! Patterns of plugins: whatever the text, the pattern and the replacement are, the search ends within its
//! budget, and what it finds lies inside of the text.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    // The pattern, the replacement and the text, each ended by a line break; the text may contain more.
    let mut parts = input.splitn(3, |byte| *byte == b'\n');
    let pattern = parts.next().unwrap_or_default();
    let replacement = parts.next().unwrap_or_default();
    let text = parts.next().unwrap_or_default();
    rookery_plugins::fuzzing::patterns(text, pattern, replacement);
});
