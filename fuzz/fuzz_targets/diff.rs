//! Patches of agents: nothing panics, nothing that a terminal acts upon comes through, and pages are the
//! whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rookery_view::diff;
use rookery_view::link::DiffFile;

fn lines(file: &DiffFile) -> usize {
    file.hunks.iter().flatten().map(|hunk| hunk.lines.len()).sum()
}

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let files = diff::parse(&text);
    let shown = serde_json::to_string(&files).unwrap_or_default();
    assert!(!shown.contains("\\u001b") && !shown.contains('\u{9b}'));
    for file in &files {
        let (mut from, mut seen) = (0, 0);
        loop {
            let (part, next) = diff::page(file, from, 7);
            seen += lines(&part);
            match next {
                Some(next) if next > from => from = next,
                Some(_) => panic!("a page does not go on"),
                None => break,
            }
        }
        assert_eq!(seen, lines(file));
    }
});
