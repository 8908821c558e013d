//! What a command prints while it runs, sent line by line to those who follow its thread.
//!
//! Whole lines only: a key that is cut in two by chunks would not be recognized and masked.

use std::time::Duration;

use rookery_agent::tool::ToolOutput;
use rookery_agent::tools::Cleaner;
use rookery_model::{ExitStatus, ItemId, TurnId};
use tokio::sync::watch;

use super::world::{KEPT_OUTPUT, ThreadWorld};
use crate::log::{ItemChange, NoticeBody};
use crate::terminals::{Progress, TerminalHandle};

/// The shortest time between two notices of output.
const PACE: Duration = Duration::from_millis(100);

/// Waits for the end of a terminal's program.
pub(super) async fn end_of(progress: &mut watch::Receiver<Progress>) -> ExitStatus {
    let ended = progress.wait_for(|progress| progress.exit.is_some() || progress.is_closed).await;
    ended.map_or(ExitStatus::Unknown, |progress| progress.exit.unwrap_or(ExitStatus::Unknown))
}

impl ThreadWorld {
    /// The same, and sends what the program prints until then.
    pub(super) async fn follow(
        &self,
        terminal: &TerminalHandle,
        progress: &mut watch::Receiver<Progress>,
        offset: u64,
        item: &(TurnId, ItemId),
    ) -> ExitStatus {
        let mut cleaner = Cleaner::default();
        let mut at = offset;
        loop {
            // The item itself has all output of a program that ends at once.
            if let Ok(status) = tokio::time::timeout(PACE, end_of(progress)).await {
                return status;
            }
            let (bytes, from) = terminal.last_bytes_since(at, KEPT_OUTPUT);
            at = from + bytes.len() as u64;
            cleaner.push(&bytes);
            self.send_output(item, cleaner.take_lines());
            let seen = progress.borrow_and_update().sequence;
            let news = |now: &Progress| now.sequence != seen || now.exit.is_some() || now.is_closed;
            if progress.wait_for(news).await.is_err() {
                return ExitStatus::Unknown;
            }
        }
    }

    fn send_output(&self, (turn, item): &(TurnId, ItemId), lines: String) {
        if lines.is_empty() {
            return;
        }
        let output = ToolOutput { text: lines, ..ToolOutput::default() };
        let masked = self.core.inner.agents.registry.mask(output).text;
        let notice = NoticeBody::Item(*turn, ItemChange::Output(item.clone(), masked));
        self.core.inner.log.spine().send(Some(self.thread), [notice]);
    }
}
