//! Which rows changed since watchers last looked.

use std::ops::Range;

/// Changed rows, and the range they lie in.
#[derive(Clone, Debug)]
pub(crate) struct Dirty {
    marks: Vec<bool>,
    low: usize,
    high: usize,
}

impl Dirty {
    pub(crate) fn new(rows: usize) -> Dirty {
        Dirty { marks: vec![false; rows], low: rows, high: 0 }
    }

    /// Range that all changed rows lie in.
    pub(crate) fn rows(&self) -> Range<usize> {
        self.low..self.high.max(self.low)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.low >= self.high
    }

    pub(crate) fn contains(&self, row: usize) -> bool {
        self.marks.get(row).is_some_and(|mark| *mark)
    }

    pub(crate) fn mark(&mut self, row: usize) {
        let Some(mark) = self.marks.get_mut(row) else { return };
        *mark = true;
        self.low = self.low.min(row);
        self.high = self.high.max(row + 1);
    }

    pub(crate) fn mark_all(&mut self) {
        self.marks.fill(true);
        (self.low, self.high) = (0, self.marks.len());
    }

    /// The whole screen moved up; what left it is forgotten.
    pub(crate) fn shift_up(&mut self, lines: usize) {
        if self.is_empty() {
            return;
        }
        let lines = lines.min(self.marks.len());
        self.marks.copy_within(lines.., 0);
        let kept = self.marks.len() - lines;
        self.marks[kept..].fill(false);
        self.low = self.low.saturating_sub(lines);
        self.high = self.high.saturating_sub(lines);
        if self.high == 0 {
            self.low = self.marks.len();
        }
    }

    /// Watchers have looked.
    pub(crate) fn clear(&mut self) {
        let range = self.rows();
        self.marks[range].fill(false);
        (self.low, self.high) = (self.marks.len(), 0);
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
    fn rows_follow_marks_scrolls_and_looks() {
        let mut dirty = Dirty::new(4);
        assert!(dirty.is_empty());
        dirty.mark(3);
        dirty.mark(1);
        assert_eq!(dirty.rows(), 1..4);
        assert!(dirty.contains(3) && !dirty.contains(2));
        dirty.shift_up(2);
        assert!(dirty.contains(1) && !dirty.contains(3));
        dirty.clear();
        assert!(dirty.is_empty() && !dirty.contains(1));
        dirty.mark(0);
        dirty.shift_up(9);
        assert!(dirty.is_empty());
        dirty.mark_all();
        assert_eq!(dirty.rows(), 0..4);
    }
}
