//! A model without a network: answers come from the conversation alone, always the same ones.
//!
//! How far a script has come is read from the conversation, so that a restart changes nothing. Only
//! when a script says that the conversation is too long is that kept in mind: what is made shorter then
//! may be the script itself.

mod memory;
mod plan;
mod script;
#[cfg(test)]
mod tests;
mod triggers;

use std::time::Duration;

use self::memory::{Memory, Place, is_summary};
use self::plan::{Action, Attempt, Call, End};
use super::call::{
    EventSink, Failed, ReceiverClosed, classify, delay, retrying, status_failure, stream,
};
use super::catalog;
use super::loans::Loan;
use super::settings::Retry;
use crate::provider::{
    Entry, EntryBody, Failure, FailureKind, Listing, ModelEvent, ModelRequest, ModelStream,
    Provider, Stop,
};

/// What it says by default, piece by piece.
const DEFAULT_REPLY: [&str; 3] = ["hello", " from", " roder"];

/// Whether a prompt is written for the mock: it has a script, or a word that makes it do something.
pub fn is_scripted(prompt: &str) -> bool {
    prompt.contains(script::MARK) || triggers::is_word_in(prompt)
}

/// The scripted model.
#[derive(Clone, Debug)]
pub struct Mock {
    id: String,
    name: String,
    retry: Retry,
    memory: Memory,
}

impl Mock {
    /// A mock of this id and name that tries again as others do.
    pub fn new(id: &str, name: &str, retry: Retry) -> Self {
        Self { id: id.to_owned(), name: name.to_owned(), retry, memory: Memory::default() }
    }

    /// What the conversation makes it do next.
    fn next(&self, thread: &str, entries: &[Entry]) -> Result<Call, Failure> {
        let found = script::find(entries);
        let remembered = self.memory.recall(thread, entries, found);
        let script = remembered.as_ref().map(|place| place.script.as_str());
        if let Some(text) = script.or(found.map(|(_, text)| text)) {
            let steps = script::parse(text)
                .map_err(|message| Failure { message, kind: FailureKind::Rejected })?;
            let mut calls = plan::calls(steps, &self.retry);
            let position = match (&remembered, found) {
                (Some(place), _) => place.next,
                (None, Some((after, _))) => plan::position(&entries[after..], &calls),
                (None, None) => 0,
            };
            if position < calls.len() {
                let call = calls.swap_remove(position);
                let is_too_long = call.is_too_long(&self.name);
                if remembered.is_some() || is_too_long {
                    let is_retried = is_too_long || is_summary(entries);
                    let script = text.to_owned();
                    self.memory.keep(thread, Place { script, next: position + 1, is_retried });
                }
                return Ok(call);
            }
        } else if newest(entries).iter().any(has_images) {
            let message = format!("provider {} does not support image input", self.id);
            return Err(Failure { message, kind: FailureKind::NoImages });
        }
        Ok(Call { attempts: triggers::fire(entries).into_iter().collect() })
    }

    async fn run(self, request: ModelRequest, out: EventSink) -> Result<(), ReceiverClosed> {
        let call = match self.next(&request.thread, &request.entries) {
            Ok(call) => call,
            Err(failure) => return out.send(ModelEvent::Failed(failure)).await,
        };
        let prefix = format!("mock-call-{}", next_step(&request.entries));
        let mut attempts = call.attempts.into_iter();
        let mut number = 1;
        loop {
            let attempt = attempts.next().unwrap_or_else(default_reply);
            let has_content = attempt.has_content();
            let Err((failure, status)) = perform(attempt, &prefix, &self.name, &out).await? else {
                return Ok(());
            };
            let is_retryable = !has_content
                && status.is_some_and(|status| self.retry.status_codes.contains(&status));
            let failed = Failed { failure, status, is_retryable, retry_after: None };
            // Always the same waits: nothing here is left to chance.
            let Some(wait) = delay(&self.retry, number, &failed, 0.5) else {
                return out.send(ModelEvent::Failed(failed.failure)).await;
            };
            number += 1;
            retrying(&out, number, wait, failed.failure.message).await?;
        }
    }
}

impl Provider for Mock {
    fn call(&self, request: ModelRequest) -> ModelStream {
        let mock = self.clone();
        stream(|out| async move { mock.run(request, out).await })
    }

    fn models(&self, _key: Option<Loan>) -> Listing<'_> {
        Box::pin(async { Ok(catalog::MOCK.iter().map(catalog::Known::info).collect()) })
    }
}

/// What the user said last, and what came of it.
fn newest(entries: &[Entry]) -> &[Entry] {
    let is_user = |entry: &Entry| matches!(entry.body, EntryBody::User { .. });
    &entries[entries.iter().rposition(is_user).unwrap_or(0)..]
}

fn has_images(entry: &Entry) -> bool {
    matches!(&entry.body, EntryBody::User { images, .. } | EntryBody::ToolResult { images, .. } if !images.is_empty())
}

/// The number of the model call to come, for names that are new to the conversation.
fn next_step(entries: &[Entry]) -> u64 {
    entries.iter().map(|entry| entry.step).max().unwrap_or(0).saturating_add(1)
}

fn default_reply() -> Attempt {
    let pieces = DEFAULT_REPLY.iter().map(|piece| (*piece).to_owned()).collect();
    Attempt { actions: vec![Action::Text { pieces, delay: Duration::ZERO }], end: End::Done(None) }
}

/// Does what an attempt says. A failure comes with its status, if it has one.
async fn perform(
    attempt: Attempt,
    prefix: &str,
    name: &str,
    out: &EventSink,
) -> Result<Result<(), (Failure, Option<u16>)>, ReceiverClosed> {
    let mut calls = 0_usize;
    for action in attempt.actions {
        match action {
            Action::Text { pieces, delay } => {
                for text in pieces {
                    wait(delay).await;
                    out.send(ModelEvent::Text { text, phase: None }).await?;
                }
                // Not said to be over: whatever follows ends it, or cuts it off.
            }
            Action::Reasoning { text, delay } => {
                wait(delay).await;
                out.send(ModelEvent::Reasoning { text, summary: None }).await?;
                out.send(ModelEvent::ReasoningDone { opaque: None }).await?;
            }
            Action::Call { tool, arguments, id, delay } => {
                wait(delay).await;
                calls += 1;
                let id = id.unwrap_or_else(|| format!("{prefix}-{calls}"));
                out.send(ModelEvent::ToolCall { id, name: tool, arguments, opaque: None }).await?;
            }
            Action::Usage(usage) => out.send(ModelEvent::Usage(usage)).await?,
        }
    }
    let failure = match attempt.end {
        End::Done(stop) => {
            let stop = stop.unwrap_or(if calls > 0 { Stop::ToolUse } else { Stop::Stop });
            out.send(ModelEvent::Done { stop }).await?;
            return Ok(Ok(()));
        }
        End::Hang => return std::future::pending().await,
        End::Status(status) => (status_failure(name, status, b""), Some(status)),
        End::Error(message) => {
            let kind = classify(None, &[], &message);
            (Failure { message, kind }, None)
        }
    };
    Ok(Err(failure))
}

async fn wait(delay: Duration) {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}
