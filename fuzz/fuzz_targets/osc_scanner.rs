//! The scanner ahead of the emulator: the same bytes, cut anywhere, give the same sequences, and every
//! payload that is found can be read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_term::osc::{Osc, cwd_path};
use rookery_term::scanner::{MAX_PAYLOAD, Scanner, Sequence};

fuzz_target!(|input: &[u8]| {
    let (whole, pieces) = rookery_fuzz::cut(input);
    let (found, ground) = scan([whole]);
    assert_eq!((found.clone(), ground), scan(pieces));
    for sequence in found {
        let Sequence::Osc(payload) = sequence else { continue };
        assert!(payload.len() <= MAX_PAYLOAD);
        for osc in Osc::parse(&payload) {
            if let Osc::Cwd(text) = osc {
                let path = cwd_path(&text, |host| host == "here");
                assert!(path.is_none_or(|path| path.starts_with(b"/")));
            }
        }
    }
});

/// All sequences of interest, and whether none is open at the end.
fn scan<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Sequence>, bool) {
    let mut scanner = Scanner::default();
    let mut sequences = Vec::new();
    for mut piece in pieces {
        while let Some(found) = scanner.scan(piece) {
            piece = &piece[found.end..];
            sequences.push(found.what);
        }
    }
    (sequences, scanner.is_ground())
}
