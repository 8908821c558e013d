//! Input that was sent: its numbers, and what of it the kernel has not accepted yet.

use std::collections::VecDeque;

/// Bytes of text that are remembered of what may not have arrived.
const MOST_TEXT: usize = 4096;

/// The numbers of one viewer's input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    last: u64,
    waiting: VecDeque<(u64, String)>,
    bytes: usize,
}

impl Inputs {
    /// A number for something that is about to be sent; `text` is what it types, for telling the user
    /// should it get lost.
    pub fn number(&mut self, text: &str) -> u64 {
        self.last += 1;
        // A long paste is named by its beginning.
        let text = &text[..text.floor_char_boundary(64)];
        if self.bytes + text.len() <= MOST_TEXT {
            self.bytes += text.len();
            self.waiting.push_back((self.last, text.to_owned()));
        } else {
            self.waiting.push_back((self.last, String::new()));
        }
        self.last
    }

    /// The kernel has accepted everything up to this number.
    pub fn accepted(&mut self, n: u64) {
        while self.waiting.front().is_some_and(|(number, _)| *number <= n) {
            if let Some((_, text)) = self.waiting.pop_front() {
                self.bytes -= text.len();
            }
        }
    }

    /// How many are not known to have arrived.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The connection is gone: gives how many may not have arrived and what they type, and begins anew.
    pub fn lose(&mut self) -> (usize, String) {
        let lost = std::mem::take(self);
        let text = lost.waiting.iter().map(|(_, text)| text.as_str()).collect();
        (lost.waiting.len(), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_not_accepted_is_reported() {
        let mut inputs = Inputs::default();
        assert_eq!((1..=4).map(|_| inputs.number("x")).collect::<Vec<_>>(), [1, 2, 3, 4]);
        inputs.accepted(2);
        assert_eq!(inputs.waiting(), 2);
        assert_eq!(inputs.lose(), (2, "xx".to_owned()));
        assert_eq!(inputs.lose(), (0, String::new()));
        assert_eq!(inputs.number("ls\r"), 1);
    }

    #[test]
    fn memory_is_bounded_and_numbers_go_on() {
        let mut inputs = Inputs::default();
        for _ in 0..10_000 {
            inputs.number(&"日".repeat(100));
        }
        let (count, text) = inputs.lose();
        assert_eq!(count, 10_000);
        assert!(text.len() <= MOST_TEXT);
    }
}
