//! What the stream of a terminal has brought so far besides its screen: how many characters, and
//! which marks the shell made. Survives a restart within the checkpoint.

use std::collections::VecDeque;

use crate::bin::{Damaged, Read, Reader, Writer};
use crate::osc::ShellMark;
use crate::screen::ScreenEvent;

/// Shell marks that are remembered, the newest.
const MAX_MARKS: usize = 64;

/// The counts of one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    chars: u64,
    marks: VecDeque<ShellMark>,
}

impl Tally {
    /// Counts the characters of a chunk: every byte that begins one.
    pub(crate) fn count(&mut self, bytes: &[u8]) {
        let begins = |byte: &&u8| (**byte as i8) >= -0x40;
        self.chars += bytes.iter().filter(begins).count() as u64;
    }

    /// Remembers the marks among what happened.
    pub(crate) fn note(&mut self, events: &[ScreenEvent]) {
        for event in events {
            if let ScreenEvent::Mark(mark, _) = event {
                if self.marks.len() == MAX_MARKS {
                    self.marks.pop_front();
                }
                self.marks.push_back(*mark);
            }
        }
    }

    /// Characters ever written. Exact for valid UTF-8; of bytes that are none, only those that look
    /// like the beginning of a character are counted.
    pub(crate) fn chars(&self) -> u64 {
        self.chars
    }

    /// The newest shell marks, oldest first.
    pub(crate) fn marks(&self) -> Vec<ShellMark> {
        self.marks.iter().copied().collect()
    }

    pub(crate) fn save(&self, writer: &mut Writer<'_>) {
        writer.uint(self.chars);
        writer.uint(self.marks.len() as u64);
        for mark in &self.marks {
            let (kind, code) = match mark {
                ShellMark::PromptStart => (0, None),
                ShellMark::InputStart => (1, None),
                ShellMark::OutputStart => (2, None),
                ShellMark::CommandEnd { code } => (3, *code),
            };
            writer.u8(kind);
            writer.optional_text(code.map(|code| code.to_string()).as_deref());
        }
    }

    /// A checkpoint of an older version ends before these counts.
    pub(crate) fn load(reader: &mut Reader<'_>) -> Read<Tally> {
        if reader.0.is_empty() {
            return Ok(Tally::default());
        }
        let chars = reader.uint()?;
        let marks = (0..reader.uint_to(MAX_MARKS as u64)?)
            .map(|_| {
                let kind = reader.u8()?;
                let code = reader.optional_text()?.and_then(|code| code.parse().ok());
                match kind {
                    0 => Ok(ShellMark::PromptStart),
                    1 => Ok(ShellMark::InputStart),
                    2 => Ok(ShellMark::OutputStart),
                    3 => Ok(ShellMark::CommandEnd { code }),
                    _ => Err(Damaged),
                }
            })
            .collect::<Read<_>>()?;
        Ok(Tally { chars, marks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_however_they_are_cut() {
        let text = "aé日👩\r\n";
        let mut whole = Tally::default();
        whole.count(text.as_bytes());
        assert_eq!(whole.chars(), text.chars().count() as u64);
        let mut cut = Tally::default();
        text.as_bytes().iter().for_each(|byte| cut.count(&[*byte]));
        assert_eq!(cut, whole);
    }

    #[test]
    fn counts_survive_and_old_checkpoints_have_none() {
        let mut tally = Tally::default();
        tally.count(b"hello");
        let ended = ScreenEvent::Mark(ShellMark::CommandEnd { code: Some(-7) }, 0);
        tally.note(&[ScreenEvent::Mark(ShellMark::OutputStart, 0), ScreenEvent::Bell, ended]);
        let mut bytes = Vec::new();
        tally.save(&mut Writer(&mut bytes));
        assert_eq!(Tally::load(&mut Reader(&bytes)).ok(), Some(tally));
        assert_eq!(Tally::load(&mut Reader(&[])).ok(), Some(Tally::default()));
        assert!(Tally::load(&mut Reader(&bytes[..bytes.len() - 1])).is_err());
    }

    #[test]
    fn only_the_newest_marks_are_remembered() {
        let mut tally = Tally::default();
        for code in 0..100 {
            tally.note(&[ScreenEvent::Mark(ShellMark::CommandEnd { code: Some(code) }, 0)]);
        }
        let marks = tally.marks();
        assert_eq!(marks.len(), MAX_MARKS);
        assert_eq!(marks.last(), Some(&ShellMark::CommandEnd { code: Some(99) }));
    }
}
