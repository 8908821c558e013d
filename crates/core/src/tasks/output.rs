//! What an attempt writes: kept at its end, sent to those who follow it, and saved now and then.
//!
//! Whole lines only, and nothing that looks like a secret: a key that is cut in two would not be
//! recognized. Sending never waits for a reader.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rookery_agent::tool::ToolOutput;
use rookery_model::{LogStream, Task, TaskId, TaskLog, ThreadId, TurnId};
use rookery_store::Change;

use super::log_ring::LogRing;
use crate::clock;
use crate::core::Core;
use crate::log::{NoticeBody, TaskChange, TaskOutput};
use crate::secrets;

/// The longest time that a piece of a log is not saved.
const SAVED_AFTER: Duration = Duration::from_millis(500);
/// A line that is longer is cut into pieces.
pub(super) const MAX_LINE: usize = 16 << 10;
/// The pieces that say how far a task came that ran out of time.
const LAST_WORDS: usize = 3;

/// The output of one attempt.
pub(super) struct Output {
    core: Core,
    task: TaskId,
    thread: Option<ThreadId>,
    turn: Option<TurnId>,
    state: Mutex<Written>,
}

#[derive(Default)]
struct Written {
    ring: LogRing,
    is_closed: bool,
    /// Whether it will be saved in a moment.
    is_saving: bool,
}

impl Output {
    /// Goes on with what an earlier attempt, or the last daemon, has saved.
    pub(super) fn new(core: Core, task: &Task, log: TaskLog) -> Self {
        let (id, thread, turn) = (task.id, task.thread, task.turn);
        let state = Written { ring: LogRing::new(log), ..Written::default() };
        Output { core, task: id, thread, turn, state: Mutex::new(state) }
    }

    /// Writes a piece, unless the attempt is over.
    pub(super) fn push(self: &Arc<Self>, stream: LogStream, text: &str) {
        if text.is_empty() {
            return;
        }
        let output =
            ToolOutput { text: secrets::hidden(text).into_owned(), ..ToolOutput::default() };
        let text = self.core.inner.agents.registry.mask(output).text;
        let mut state = self.state.lock();
        if state.is_closed {
            return;
        }
        let chunk = state.ring.push(stream, &text, clock::wall());
        let dropped = state.ring.dropped();
        let (task, thread, turn) = (self.task, self.thread, self.turn);
        let output = TaskOutput { task, thread, turn, chunk, dropped };
        // Within the lock, so that pieces are sent in order and none after the end.
        let notice = NoticeBody::Task(TaskChange::Output(output));
        self.core.inner.log.spine().send(self.thread, [notice]);
        if !std::mem::replace(&mut state.is_saving, true) {
            let this = Arc::clone(self);
            self.core.inner.runtime.spawn(async move {
                tokio::time::sleep(SAVED_AFTER).await;
                this.save().await;
            });
        }
    }

    /// Some of its terminal's output was never seen.
    pub(super) fn skip(&self, bytes: u64) {
        self.state.lock().ring.skip(bytes);
    }

    /// How much of its terminal's output was taken.
    pub(super) fn offset(&self) -> u64 {
        self.state.lock().ring.offset()
    }

    pub(super) fn set_offset(&self, offset: u64) {
        self.state.lock().ring.set_offset(offset);
    }

    pub(super) fn log(&self) -> TaskLog {
        self.state.lock().ring.log()
    }

    /// The end of what was written, in a few words.
    pub(super) fn last_words(&self) -> String {
        self.state.lock().ring.last_words(LAST_WORDS)
    }

    /// Nothing is written any more.
    pub(super) fn close(&self) {
        self.state.lock().is_closed = true;
    }

    /// It goes on after all.
    pub(super) fn reopen(&self) {
        self.state.lock().is_closed = false;
    }

    /// Saves what there is.
    pub(super) async fn save(&self) {
        let log = {
            let mut state = self.state.lock();
            state.is_saving = false;
            state.ring.log()
        };
        let change = Change::TaskLogged(self.task, Box::new(log));
        if let Err(error) = self.core.store_alone(change).await {
            tracing::warn!(%error, task = %self.task, "the log of a task is not saved");
        }
    }
}

/// Cuts bytes into lines, and what is no text into replacement characters.
#[derive(Default)]
pub(super) struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    /// Adds bytes; gives the lines that are whole now, each with its end.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        self.rest.extend_from_slice(bytes);
        let mut lines = Vec::new();
        while let Some(length) = whole_line(&self.rest) {
            let line: Vec<u8> = self.rest.drain(..length).collect();
            lines.push(String::from_utf8_lossy(&line).into_owned());
        }
        lines
    }

    /// What is left at the end.
    pub(super) fn finish(self) -> String {
        String::from_utf8_lossy(&self.rest).into_owned()
    }
}

/// How long the first line is; none while it is not whole. A long one is cut, but not in a character.
pub(super) fn whole_line(bytes: &[u8]) -> Option<usize> {
    let end = bytes.iter().take(MAX_LINE).position(|byte| *byte == b'\n');
    if let Some(end) = end {
        return Some(end + 1);
    }
    if bytes.len() < MAX_LINE {
        return None;
    }
    let is_start = |place: &usize| bytes[*place] & 0xc0 != 0x80;
    Some((MAX_LINE - 3..MAX_LINE).rev().find(is_start).unwrap_or(MAX_LINE))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_whole_and_long_ones_are_cut_between_characters() {
        let mut lines = Lines::default();
        assert_eq!(lines.push(b"a\nb"), ["a\n"]);
        assert_eq!(lines.push(b"c\n\nd\xff"), ["bc\n", "\n"]);
        assert_eq!(lines.finish(), "d\u{fffd}");
        let long = "é".repeat(MAX_LINE);
        let mut lines = Lines::default();
        let cut = lines.push(format!("x{long}").as_bytes());
        assert!(cut.iter().all(|line| !line.contains('\u{fffd}')));
        assert_eq!(format!("{}{}", cut.concat(), lines.finish()), format!("x{long}"));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_however_it_is_cut(text in "[a-zé\n]{0,200}", cuts in proptest::collection::vec(0..200_usize, 0..6)) {
            let (mut lines, mut whole, mut from) = (Lines::default(), String::new(), 0);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            cuts.push(text.len());
            for cut in cuts {
                whole.extend(lines.push(&text.as_bytes()[from..cut]));
                from = cut;
            }
            prop_assert!(whole.is_empty() || whole.ends_with('\n'));
            whole += &lines.finish();
            prop_assert_eq!(whole, text);
        }
    }
}
