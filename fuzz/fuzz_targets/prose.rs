//! Markdown of agents: nothing panics, nothing that a terminal acts upon comes through, and a
//! text that grows ends as the whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_view::prose;

fuzz_target!(|input: &[u8]| {
    let Some((cut, bytes)) = input.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    let whole = prose::blocks(&text);
    let shown = serde_json::to_string(&whole).unwrap_or_default();
    assert!(!shown.contains("\\u001b") && !shown.contains('\u{9b}'));
    let mut growing = prose::Prose::default();
    let mut rest = &*text;
    while !rest.is_empty() {
        let (now, later) =
            rest.split_at(rest.ceil_char_boundary(usize::from(*cut).clamp(1, rest.len())));
        growing.push(now);
        rest = later;
    }
    // Links may be used before they are defined, which only the whole can know.
    if !text.contains("]:") {
        assert_eq!(growing.blocks(), whole);
    }
});
