//! Frames of any kind against the mirror of a face: nothing panics, what cannot be is asked for again,
//! and what is kept can be painted.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_face::Mirror;
use rookery_view::link::{Frame, RowsFound};

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let mut mirror = Mirror::default();
    for line in text.lines() {
        if let Ok(frame) = serde_json::from_str::<Frame>(line) {
            let changed = mirror.apply(frame);
            assert!(changed.terms.iter().all(|terminal| mirror.term(*terminal).is_some()));
        }
        if let Ok(found) = serde_json::from_str::<RowsFound>(line) {
            mirror.take_rows(3, &found);
        }
    }
    for (_, term) in mirror.terms() {
        assert_eq!(term.texts().len(), usize::from(term.size.rows));
        for row in term.rows() {
            assert!(row.styles().all(|id| id == 0 || term.style(id).is_some()));
            assert_eq!(
                row.text.clusters().map(|(_, cells)| usize::from(cells)).sum::<usize>(),
                row.text.cells()
            );
        }
    }
});
