//! A provider that failed is asked again by itself where nothing is asked of a person: the wait is shown
//! second by second, and doubles with every failure.

use super::Task;
use crate::wire::{ClineMessage, Say};

/// The longest wait, in seconds.
const LONGEST: u64 = 600;

/// A wait for the next attempt.
#[derive(Debug)]
pub(super) struct Retry {
    error: String,
    message: usize,
    /// When the next second is shown.
    tick_at: u64,
    /// When the provider is asked again.
    at: u64,
    is_due: bool,
}

impl Task {
    pub(super) fn begin_retry(&mut self, error: String, at: u64, now: u64) {
        let base = self.about.retry_delay.unwrap_or_default();
        let seconds = base.saturating_mul(1 << self.failures.min(10)).min(LONGEST);
        self.failures += 1;
        let partial = Some(true);
        let text = retry_text(&error, seconds);
        let message = ClineMessage { partial, ..ClineMessage::say(Say::ApiReqRetryDelayed, text) };
        let message = self.create(at, message);
        let at = now + seconds * 1000;
        self.retry = Some(Retry { error, message, tick_at: now + 1000, at, is_due: false });
    }

    pub(super) fn retry_due(&self) -> Option<u64> {
        let retry = self.retry.as_ref().filter(|retry| !retry.is_due)?;
        Some(retry.tick_at.min(retry.at))
    }

    pub(super) fn tick_retry(&mut self, now: u64) {
        let Some(retry) = self.retry.as_mut().filter(|retry| !retry.is_due) else { return };
        if now < retry.tick_at.min(retry.at) {
            return;
        }
        retry.tick_at = now + 1000;
        retry.is_due = retry.at <= now;
        let left = retry.at.saturating_sub(now).div_ceil(1000);
        let (message, text, is_due) = (retry.message, retry_text(&retry.error, left), retry.is_due);
        self.update(message, |message| {
            (message.text, message.partial) = (Some(text), Some(!is_due))
        });
    }

    /// Whether the provider is to be asked again now; true once for every wait.
    pub(crate) fn takes_retry(&mut self) -> bool {
        let is_due = self.retry.as_ref().is_some_and(|retry| retry.is_due);
        if is_due {
            self.retry = None;
        }
        is_due
    }

    /// The wait is over, because the task goes on.
    pub(super) fn end_retry(&mut self) {
        if let Some(retry) = self.retry.take().filter(|retry| !retry.is_due) {
            self.update(retry.message, |message| message.partial = Some(false));
        }
    }

    /// The wait was called off.
    pub(crate) fn stop_retrying(&mut self, now: u64) {
        if self.retry.is_some() {
            self.end_retry();
            self.interrupted(now, now);
        }
    }
}

fn retry_text(error: &str, seconds: u64) -> String {
    format!("{error}\n<retry_timer>{seconds}</retry_timer>")
}
