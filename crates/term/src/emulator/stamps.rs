//! When each row of the screen last changed, so that a viewer is sent only what is new to it.
//!
//! The hot path stores one number per run of text. What moves or clears many rows at once costs one
//! number as well: a viewer that is informed of too many rows compares them with what it has.

/// The sequence number of each row's last change, and what row numbers are worth.
#[derive(Clone, Debug)]
pub(crate) struct Stamps {
    /// A ring, so that scrolling moves no numbers.
    slots: Vec<u64>,
    /// The slot of the first row.
    base: usize,
    /// When all rows last changed.
    all: u64,
    /// Raised whenever row numbers lose their meaning.
    epoch: u64,
}

impl Stamps {
    pub(crate) fn new(rows: usize) -> Stamps {
        Stamps { slots: vec![0; rows], base: 0, all: 0, epoch: 1 }
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Sets the epoch as a checkpoint has it; everything counts as changed by then.
    pub(crate) fn restore(&mut self, epoch: u64, sequence: u64) {
        (self.epoch, self.all) = (epoch, sequence);
    }

    #[inline]
    pub(crate) fn touch(&mut self, row: usize, sequence: u64) {
        let slot = self.slot(row);
        if let Some(stamp) = self.slots.get_mut(slot) {
            *stamp = sequence;
        }
    }

    pub(crate) fn touch_all(&mut self, sequence: u64) {
        self.all = sequence;
    }

    /// The whole screen moved up and its rows kept their numbers; those below are new.
    #[inline]
    pub(crate) fn shift_up(&mut self, lines: usize, sequence: u64) {
        let rows = self.slots.len();
        if lines >= rows {
            return self.touch_all(sequence);
        }
        self.base += lines;
        if self.base >= rows {
            self.base -= rows;
        }
        (rows - lines..rows).for_each(|row| self.touch(row, sequence));
    }

    /// Row numbers mean something else from now on.
    pub(crate) fn renumber(&mut self, rows: usize, sequence: u64) {
        self.epoch += 1;
        self.all = sequence;
        if rows != self.slots.len() {
            self.slots = vec![0; rows];
            self.base = 0;
        }
    }

    /// The sequence number of a row's last change.
    pub(crate) fn changed_at(&self, row: usize) -> u64 {
        self.slots.get(self.slot(row)).map_or(self.all, |stamp| self.all.max(*stamp))
    }

    #[inline]
    fn slot(&self, row: usize) -> usize {
        let slot = self.base + row;
        if slot >= self.slots.len() { slot - self.slots.len() } else { slot }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_follow_their_rows() {
        let mut stamps = Stamps::new(3);
        stamps.touch(2, 5);
        stamps.shift_up(1, 6);
        let all = |stamps: &Stamps| [0, 1, 2].map(|row| stamps.changed_at(row));
        assert_eq!(all(&stamps), [0, 5, 6]);
        stamps.shift_up(2, 7);
        assert_eq!(all(&stamps), [6, 7, 7]);
        stamps.shift_up(9, 8);
        assert_eq!(all(&stamps), [8, 8, 8]);
        stamps.touch(0, 9);
        stamps.renumber(2, 9);
        assert_eq!((stamps.epoch(), stamps.changed_at(0), stamps.changed_at(7)), (2, 9, 9));
    }
}
