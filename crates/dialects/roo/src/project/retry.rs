//! A provider that failed is asked again by itself where nothing is asked of a person: the wait is shown
//! second by second, and doubles with every failure. The wait is not stored: after a restart of the daemon
//! the task asks whether to go on.

use super::Task;
use crate::wire::{ClineMessage, Say};

/// The longest wait, in seconds.
const LONGEST: u64 = 600;

/// How often a call that failed in the middle is made again without a wait, if a person is there.
const AT_ONCE: u32 = 2;

/// A wait for the next attempt.
#[derive(Debug)]
pub(super) struct Retry {
    error: String,
    /// The message that counts down; none if there is no wait.
    message: Option<usize>,
    /// When the next second is shown.
    tick_at: u64,
    /// When the provider is asked again.
    at: u64,
    is_due: bool,
}

impl Task {
    /// Whether a provider that failed is asked again by itself: always where nothing is asked of a
    /// person, else if it failed in the middle of an answer. What failed long ago is not.
    pub(super) fn is_tried_again(&self) -> bool {
        let is_broken_off = self.has_streamed && self.failures < AT_ONCE;
        !self.is_replayed && (self.about.retry_delay.is_some() || is_broken_off)
    }

    pub(super) fn begin_retry(&mut self, error: String, at: u64, now: u64) {
        let Some(base) = self.about.retry_delay else {
            self.failures += 1;
            self.retry = Some(Retry { error, message: None, tick_at: now, at: now, is_due: false });
            return;
        };
        let seconds = base.saturating_mul(1 << self.failures.min(10)).min(LONGEST);
        self.failures += 1;
        let partial = Some(true);
        let text = retry_text(&error, seconds);
        let message = ClineMessage { partial, ..ClineMessage::say(Say::ApiReqRetryDelayed, text) };
        let message = Some(self.create(at, message));
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
        let (text, is_due) = (retry_text(&retry.error, left), retry.is_due);
        if let Some(message) = retry.message {
            self.update(message, |message| {
                (message.text, message.partial) = (Some(text), Some(!is_due));
            });
        }
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
        let waiting = self.retry.take().filter(|retry| !retry.is_due);
        if let Some(message) = waiting.and_then(|retry| retry.message) {
            self.update(message, |message| message.partial = Some(false));
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
