//! What comes later by itself: states that are announced after a while, counts that are held back.

use super::Task;
use crate::wire::{Change, Event, Waiting};

/// After how many milliseconds a task that waits is said to wait.
pub(crate) const STATE_DELAY: u64 = 2000;
/// The shortest time between two events of counts, in milliseconds.
const USAGE_PACE: u64 = 2000;

impl Task {
    /// When something is due by itself.
    pub(crate) fn due(&self) -> Option<u64> {
        if self.is_closed {
            return None;
        }
        let state = self.state_due.map(|(at, _)| at);
        [state, self.usage_due, self.streams_due(), self.retry_due()].into_iter().flatten().min()
    }

    /// Does what is due.
    pub(crate) fn tick(&mut self, now: u64) {
        self.emit_streams(now);
        self.tick_retry(now);
        if self.usage_due.is_some_and(|at| at <= now) {
            self.flush_usage(now);
        }
        if let Some((at, waiting)) = self.state_due
            && at <= now
        {
            self.state_due = None;
            self.waiting = Some(waiting);
            self.change(match waiting {
                Waiting::Interactive => Change::Interactive,
                Waiting::Resumable => Change::Resumable,
                Waiting::Idle => Change::Idle,
            });
        }
    }

    /// Something waits for an answer from now on.
    pub(super) fn wait(&mut self, waiting: Option<Waiting>, now: u64) {
        self.state_due = waiting.map(|waiting| (now + STATE_DELAY, waiting));
    }

    /// What waited when it was read waits from now on.
    pub(crate) fn wait_again(&mut self, now: u64) {
        if self.has_ask() {
            self.wait(Some(Waiting::Interactive), now);
        }
    }

    /// Nothing waits any more.
    pub(super) fn stop_waiting(&mut self) {
        (self.state_due, self.waiting) = (None, None);
    }

    /// What waited was answered.
    pub(super) fn responded(&mut self) {
        self.state_due = None;
        if self.waiting.take().is_some() {
            self.change(Change::Active);
        }
        self.change(Change::AskResponded);
    }

    /// Counts have changed: sends them, at once or when the last ones are old enough.
    pub(super) fn counted(&mut self, now: u64) {
        if !self.tally.is_new() {
            return;
        }
        match self.tally.sent_at.map(|at| at + USAGE_PACE) {
            Some(due) if due > now => self.usage_due = Some(due),
            _ => self.emit_usage(now),
        }
    }

    /// Sends counts if they have changed since they were sent.
    pub(super) fn flush_usage(&mut self, now: u64) {
        self.usage_due = None;
        if self.tally.is_new() {
            self.emit_usage(now);
        }
    }

    /// Sends counts.
    pub(super) fn emit_usage(&mut self, now: u64) {
        self.usage_due = None;
        let (usage, tools) = (self.tally.usage(), self.tally.tools().clone());
        self.tally.sent = Some((usage, tools.clone()));
        self.tally.sent_at = Some(now);
        self.out.push(Event::Usage { task: self.about.id.clone(), usage, tools });
    }
}
