//! Doors for the fuzz targets; not for anybody else.

use crate::pattern::{Search, replace};

/// Looks for a pattern and replaces it, on a small budget.
pub fn patterns(text: &[u8], pattern: &[u8], replacement: &[u8]) {
    let late = || false;
    let mut search = Search::new(text, pattern, 100_000, &late);
    if let Ok(Some(found)) = search.find(0) {
        assert!(found.start <= found.end && found.end <= text.len());
    }
    let longest = 1 << 16;
    if let Ok((result, count)) = replace(&mut search, replacement, u64::MAX, longest) {
        assert!(count <= text.len() as u64 + 1);
        assert!(result.len() <= longest + text.len());
    }
}
