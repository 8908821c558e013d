//! Where turns begin and end: results, failures and interruptions as asks that the next turn answers.

use rookery_model::{QueuedMessage, Turn, TurnErrorKind, TurnStatus};

use super::{Task, millis};
use crate::wire::{Ask, Change, ClineMessage, Event, Say};

/// What a task waits for between its turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// It came to a result.
    Completed,
    ProviderFailed,
    /// It made too many calls or mistakes.
    LimitReached,
    /// It was stopped, or failed for reasons of ours.
    Stopped,
    /// It was resumed after a result.
    CompletedAgain,
}

impl Boundary {
    /// Where a turn that is over leaves its task; none for one that runs.
    pub(crate) fn after(turn: &Turn) -> Option<Boundary> {
        let kind = turn.error.as_ref().map(|error| error.kind);
        Some(match (turn.status, kind) {
            (TurnStatus::InProgress, _) => return None,
            (TurnStatus::Completed, _) => Boundary::Completed,
            (TurnStatus::Failed, Some(TurnErrorKind::Provider)) => Boundary::ProviderFailed,
            (TurnStatus::Failed, Some(TurnErrorKind::ReliabilityLimit)) => Boundary::LimitReached,
            (TurnStatus::Failed | TurnStatus::Interrupted, _) => Boundary::Stopped,
        })
    }

    fn ask(self) -> Ask {
        match self {
            Boundary::Completed => Ask::CompletionResult,
            Boundary::ProviderFailed => Ask::ApiReqFailed,
            Boundary::LimitReached => Ask::MistakeLimitReached,
            Boundary::Stopped => Ask::ResumeTask,
            Boundary::CompletedAgain => Ask::ResumeCompletedTask,
        }
    }
}

impl Task {
    pub(super) fn turn_started(&mut self, turn: &Turn) {
        if self.turns.insert(turn.id, false).is_some() {
            return;
        }
        (self.result, self.last_text) = (None, None);
        self.end_retry();
        let Some(boundary) = self.boundary.take() else { return };
        self.responded();
        match boundary {
            Boundary::ProviderFailed => {
                let message =
                    ClineMessage { text: None, ..ClineMessage::say(Say::ApiReqRetried, "") };
                self.create(millis(turn.started_at), message);
            }
            Boundary::Stopped | Boundary::CompletedAgain => self.is_start_due = true,
            Boundary::Completed | Boundary::LimitReached => {}
        }
    }

    pub(super) fn turn_ended(&mut self, turn: &Turn, now: u64) {
        if self.turns.insert(turn.id, true) == Some(true) {
            return;
        }
        self.close_streams();
        self.shown.clear();
        self.asks.clear();
        self.stop_waiting();
        if self.is_closed {
            return;
        }
        let at = turn.completed_at.map_or(now, millis);
        let error = turn.error.as_ref().map(|error| error.message.clone()).unwrap_or_default();
        match Boundary::after(turn) {
            Some(Boundary::Completed) => self.completed(at, now),
            Some(Boundary::Stopped) if turn.status == TurnStatus::Interrupted => {
                self.interrupted(at, now);
            }
            Some(Boundary::Stopped) => {
                self.create(at, ClineMessage::say(Say::Error, error));
                self.flush_usage(now);
                self.raise(Boundary::Stopped, None, at, now);
            }
            Some(Boundary::ProviderFailed) if self.is_tried_again() => {
                self.flush_usage(now);
                self.begin_retry(error, at, now);
            }
            Some(boundary) => {
                self.flush_usage(now);
                self.raise(boundary, Some(error), at, now);
            }
            None => {}
        }
    }

    /// It was stopped: it ends and is there again, and can be resumed.
    pub(super) fn interrupted(&mut self, at: u64, now: u64) {
        self.flush_usage(now);
        self.change(Change::Aborted);
        self.announce();
        self.emit_usage(now);
        self.raise(Boundary::Stopped, None, at, now);
    }

    /// The work is done: first the result, then the counts, then the end, and only then the ask.
    fn completed(&mut self, at: u64, now: u64) {
        let result = self.result().unwrap_or_default().to_owned();
        let partial = Some(true);
        let message = ClineMessage::say(Say::CompletionResult, result);
        let index = self.create(at, ClineMessage { partial, ..message });
        self.update(index, |message| message.partial = Some(false));
        self.flush_usage(now);
        let (usage, tools) = (self.usage(), self.tools().clone());
        let is_subtask = self.about.lead.is_some();
        self.out.push(Event::Completed { task: self.about.id.clone(), usage, tools, is_subtask });
        if is_subtask {
            // The task that waits for it goes on.
            return self.change(Change::Unfocused);
        }
        self.raise(Boundary::Completed, Some(String::new()), at, now);
    }

    /// Raises an ask that the next turn answers.
    fn raise(&mut self, boundary: Boundary, text: Option<String>, at: u64, now: u64) {
        self.boundary = Some(boundary);
        let ask = boundary.ask();
        self.create(at, ClineMessage::ask(ask, text));
        self.wait(ask.waiting(), now);
    }

    /// Its client comes back to it: repeats what waits, or asks whether to go on.
    pub(crate) fn resume(&mut self, is_running: bool, queued: &[QueuedMessage], now: u64) {
        self.stop_waiting();
        self.announce();
        self.emit_usage(now);
        if !queued.is_empty() {
            let messages = queued.iter().map(super::queued).collect();
            self.out.push(Event::Queued { task: self.about.id.clone(), messages });
        }
        if self.has_ask() {
            return self.repeat_ask(now);
        }
        if is_running {
            return;
        }
        let last = self.messages.iter().rev().find_map(ClineMessage::asks);
        let was_completed = matches!(last, Some(Ask::CompletionResult | Ask::ResumeCompletedTask));
        let is_resume = |message: &ClineMessage| {
            matches!(message.asks(), Some(Ask::ResumeTask | Ask::ResumeCompletedTask))
        };
        while self.messages.last().is_some_and(is_resume) {
            self.messages.pop();
        }
        let boundary = if was_completed { Boundary::CompletedAgain } else { Boundary::Stopped };
        self.raise(boundary, None, now, now);
    }
}
