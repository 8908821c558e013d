//! What changed since watchers last looked: a span of columns for each row.

use std::ops::Range;

/// Columns that changed in one row; empty when `low >= high`.
#[derive(Clone, Copy, Debug)]
struct Span {
    low: u16,
    high: u16,
}

impl Span {
    const EMPTY: Span = Span { low: u16::MAX, high: 0 };
}

/// Changed columns per row, and the range of rows that have any.
#[derive(Clone, Debug)]
pub(crate) struct Dirty {
    spans: Vec<Span>,
    low: usize,
    high: usize,
}

impl Dirty {
    pub(crate) fn new(rows: usize) -> Dirty {
        Dirty { spans: vec![Span::EMPTY; rows], low: rows, high: 0 }
    }

    /// Range of rows with changes.
    pub(crate) fn rows(&self) -> Range<usize> {
        self.low..self.high.max(self.low)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.low >= self.high
    }

    /// Whether columns `cols` of a row changed.
    pub(crate) fn touches(&self, row: usize, cols: Range<usize>) -> bool {
        self.spans.get(row).is_some_and(|span| {
            usize::from(span.low) < cols.end && cols.start < usize::from(span.high)
        })
    }

    pub(crate) fn mark(&mut self, row: usize, cols: Range<usize>) {
        let Some(span) = self.spans.get_mut(row) else { return };
        span.low = span.low.min(cols.start as u16);
        span.high = span.high.max(cols.end as u16);
        self.low = self.low.min(row);
        self.high = self.high.max(row + 1);
    }

    /// The whole screen moved up; what left it is forgotten.
    pub(crate) fn shift_up(&mut self, lines: usize) {
        if self.is_empty() {
            return;
        }
        let lines = lines.min(self.spans.len());
        self.spans.copy_within(lines.., 0);
        let kept = self.spans.len() - lines;
        self.spans[kept..].fill(Span::EMPTY);
        self.low = self.low.saturating_sub(lines);
        self.high = self.high.saturating_sub(lines);
        if self.high == 0 {
            self.low = self.spans.len();
        }
    }

    /// Watchers have looked.
    pub(crate) fn clear(&mut self) {
        for span in &mut self.spans[self.low.min(self.high)..self.high] {
            *span = Span::EMPTY;
        }
        (self.low, self.high) = (self.spans.len(), 0);
    }

    /// Another number of rows; everything counts as seen.
    pub(crate) fn resize(&mut self, rows: usize) {
        *self = Dirty::new(rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_follow_marks_scrolls_and_looks() {
        let mut dirty = Dirty::new(4);
        assert!(dirty.is_empty());
        dirty.mark(3, 5..8);
        dirty.mark(1, 0..2);
        assert_eq!(dirty.rows(), 1..4);
        assert!(dirty.touches(3, 7..9));
        assert!(!dirty.touches(3, 8..80));
        assert!(!dirty.touches(2, 0..80));
        dirty.shift_up(2);
        assert!(dirty.touches(1, 5..6));
        assert!(!dirty.touches(3, 0..80));
        dirty.clear();
        assert!(dirty.is_empty() && !dirty.touches(1, 0..80));
        dirty.mark(0, 0..1);
        dirty.shift_up(9);
        assert!(dirty.is_empty());
    }
}
