//! What an outer terminal sends: nothing panics, and however it is cut, it is the same input.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_term::keys::decode::Decoder;

fuzz_target!(|input: &[u8]| {
    let Some((cut, bytes)) = input.split_first() else { return };
    let mut whole = Decoder::default();
    let mut expected = whole.feed(bytes);
    expected.extend(whole.timeout());
    let mut parts = Decoder::default();
    let pieces = bytes.chunks(usize::from(*cut).max(1));
    let mut found: Vec<_> = pieces.flat_map(|piece| parts.feed(piece)).collect();
    found.extend(parts.timeout());
    assert_eq!(found, expected);
});
