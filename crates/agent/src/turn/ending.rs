//! How a turn comes to an end before its model says so: time that runs out, failures, and the user.

use rookery_model::{Item, ItemBody, ItemStatus, Profile, TurnError, TurnErrorKind, TurnStatus};

use super::machine::{State, Turn};
use super::work::close_work;
use super::{Effect, End, Message};

const ANSWER_NOW: &str = "The time is nearly up. Answer now with what you have; tools are no longer \
available.";

/// What is said of a call that was cut off because its turn was interrupted.
pub const INTERRUPTED: &str = "the turn was interrupted";
/// What is said of one whose turn failed meanwhile.
pub const FAILED: &str = "the turn failed";

impl Turn {
    /// What the user said too late for a turn that failed or was stopped, as items to be kept.
    pub fn late(&mut self, messages: Vec<Message>) -> Vec<Item> {
        let mut out = Vec::new();
        self.steers.extend(messages);
        self.drain_steers(&mut out);
        let items = out.into_iter().filter_map(|effect| match effect {
            Effect::Completed(item) => Some(item),
            _ => None,
        });
        items.collect()
    }

    pub(super) fn reserve(&mut self, out: &mut Vec<Effect>) {
        if self.setup.profile != Profile::Eval || self.is_finalizing {
            return;
        }
        self.is_finalizing = true;
        self.reminders.push(ANSWER_NOW.to_owned());
        out.push(Effect::PartialResult(self.partial_result()));
    }

    pub(super) fn deadline(&mut self, out: &mut Vec<Effect>) {
        let summary = self.partial_result();
        out.push(Effect::PartialResult(summary.clone()));
        out.push(Effect::DeadlineExceeded(summary));
        let message = "the turn ran out of time".to_owned();
        self.fail(message, TurnErrorKind::DeadlineTimeout, out);
    }

    fn partial_result(&mut self) -> String {
        if let State::Calling(calling) = &self.state
            && let Some(Item { body: ItemBody::Agent { text, .. }, .. }) = &calling.text
        {
            return text.clone();
        }
        self.last_text.clone()
    }

    pub(super) fn fail(&mut self, message: String, kind: TurnErrorKind, out: &mut Vec<Effect>) {
        self.stop(TurnStatus::Failed, Some(TurnError { message, kind }), out);
    }

    /// Ends the turn from whatever state: everything open is closed, and the items are kept.
    pub(super) fn stop(
        &mut self,
        status: TurnStatus,
        error: Option<TurnError>,
        out: &mut Vec<Effect>,
    ) {
        let why = match status {
            TurnStatus::Interrupted => INTERRUPTED,
            _ => FAILED,
        };
        match std::mem::replace(&mut self.state, State::New) {
            State::Calling(calling) => {
                out.push(Effect::AbortModel);
                self.state = State::Calling(calling);
                self.close_thought(false, None, out);
                self.close_text(true, None, out);
                self.close_hosted(why, out);
                let calling = std::mem::take(self.calling());
                close_work(calling.work, why, out);
                let failed = error.as_ref().map(|error| error.message.clone());
                self.call_over(failed, status == TurnStatus::Interrupted, out);
            }
            State::Working(work) => {
                out.push(Effect::StopTools);
                close_work(work, why, out);
            }
            State::Compacting => out.push(Effect::AbortModel),
            State::New | State::Done => {}
        }
        // Accepted is accepted: what the user said is kept for the next turn.
        self.drain_steers(out);
        if let Some(error) = &error {
            let id = self.names.of_turn("error");
            let body = ItemBody::Error { message: error.message.clone() };
            out.push(Effect::Completed(self.item(id, ItemStatus::Failed, body)));
        }
        self.state = State::Done;
        let usage = self.usage;
        out.push(Effect::Finish(End { status, error, finish_reason: None, usage }));
    }
}
