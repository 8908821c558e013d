//! Marks of the shell with the rows they were made on, for jumping from prompt to prompt.

use std::collections::VecDeque;

use super::reflow::Mark;
use crate::bin::{Damaged, Read, Reader, Writer};
use crate::osc::ShellMark;

/// Marks that are remembered, the newest.
pub(crate) const MAX_PROMPTS: usize = 1000;

/// Marks with the numbers of their rows, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prompts(VecDeque<(u64, ShellMark)>);

/// A mark on rows that are being wrapped anew.
pub(super) type Loose = (Mark, ShellMark);

impl Prompts {
    pub(crate) fn push(&mut self, row: u64, mark: ShellMark) {
        // A cursor that went up makes what is below it obsolete.
        while self.0.back().is_some_and(|(last, _)| *last > row) {
            self.0.pop_back();
        }
        if self.0.len() == MAX_PROMPTS {
            self.0.pop_front();
        }
        self.0.push_back((row, mark));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, ShellMark)> + '_ {
        self.0.iter().copied()
    }

    /// Takes out the marks from a row on, by their place below it.
    pub(super) fn take_from(&mut self, first: u64) -> Vec<Loose> {
        let at = self.0.partition_point(|(row, _)| *row < first);
        let taken = self.0.drain(at..);
        let loose = |(row, mark): (u64, ShellMark)| {
            (Mark { row: usize::try_from(row - first).unwrap_or(usize::MAX), col: 0 }, mark)
        };
        taken.map(loose).collect()
    }

    /// Puts marks back whose rows begin at a number.
    pub(super) fn put_back(&mut self, first: u64, marks: Vec<Loose>) {
        for (place, mark) in marks {
            self.push(first + place.row as u64, mark);
        }
    }

    pub(crate) fn save(&self, writer: &mut Writer<'_>) {
        writer.uint(self.0.len() as u64);
        let mut before = 0;
        for (row, mark) in &self.0 {
            writer.uint(row - before);
            before = *row;
            match mark {
                ShellMark::PromptStart => writer.uint(0),
                ShellMark::InputStart => writer.uint(1),
                ShellMark::OutputStart => writer.uint(2),
                ShellMark::CommandEnd { code: None } => writer.uint(3),
                ShellMark::CommandEnd { code: Some(code) } => {
                    writer.uint(4 + u64::from(u32::from_ne_bytes(code.to_ne_bytes())));
                }
            }
        }
    }

    pub(crate) fn load(reader: &mut Reader<'_>) -> Read<Prompts> {
        let mut row = 0u64;
        let marks = (0..reader.uint_to(MAX_PROMPTS as u64)?).map(|_| {
            row = row.checked_add(reader.uint()?).ok_or(Damaged)?;
            let mark = match reader.uint()? {
                0 => ShellMark::PromptStart,
                1 => ShellMark::InputStart,
                2 => ShellMark::OutputStart,
                3 => ShellMark::CommandEnd { code: None },
                code => {
                    let code = u32::try_from(code - 4).map_err(|_| Damaged)?;
                    ShellMark::CommandEnd { code: Some(i32::from_ne_bytes(code.to_ne_bytes())) }
                }
            };
            Ok((row, mark))
        });
        Ok(Prompts(marks.collect::<Read<_>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_survive_and_only_the_newest_are_kept() {
        let mut prompts = Prompts::default();
        for row in 0..2000 {
            prompts.push(row, ShellMark::PromptStart);
        }
        prompts.push(2000, ShellMark::CommandEnd { code: Some(-1) });
        assert_eq!(prompts.iter().next(), Some((1001, ShellMark::PromptStart)));
        let mut bytes = Vec::new();
        prompts.save(&mut Writer(&mut bytes));
        assert!(bytes.len() < 2100);
        assert_eq!(Prompts::load(&mut Reader(&bytes)).ok(), Some(prompts.clone()));
        prompts.push(1500, ShellMark::InputStart);
        assert_eq!(prompts.iter().next_back(), Some((1500, ShellMark::InputStart)));
        assert_eq!(prompts.take_from(1499).len(), 3);
        assert_eq!(prompts.iter().next_back(), Some((1498, ShellMark::PromptStart)));
    }
}
