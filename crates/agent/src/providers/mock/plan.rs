//! A script cut into model calls, and how far a conversation has come in them. Pure.
//!
//! A call says at most one text after its thoughts and ends with its tools; steps that only add to
//! a call (tokens, why it stopped) belong to the one before them.

use std::time::Duration;

use rookery_model::Usage;
use serde_json::Value;

use super::script::{ScriptCall, ScriptStep};
use crate::provider::{Entry, EntryBody, FailureKind, Stop};
use crate::providers::call::{classify, status_failure};
use crate::providers::settings::Retry;

/// The longest wait of a step.
const DELAY_LIMIT: Duration = Duration::from_secs(600);

/// How many pieces a text can come in.
const PIECE_LIMIT: usize = 1_000_000;

/// One model call: its attempts, all but the last of which fail.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Call {
    pub(super) attempts: Vec<Attempt>,
}

/// What one attempt does.
#[derive(Debug, PartialEq)]
pub(super) struct Attempt {
    pub(super) actions: Vec<Action>,
    pub(super) end: End,
}

/// A thing that is streamed.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    Text { pieces: Vec<String>, delay: Duration },
    Reasoning { text: String, delay: Duration },
    Call { tool: String, arguments: String, id: Option<String>, delay: Duration },
    Usage(Usage),
}

/// How an attempt ends.
#[derive(Debug, PartialEq)]
pub(super) enum End {
    Done(Option<Stop>),
    Error(String),
    Status(u16),
    Hang,
}

impl Attempt {
    /// Whether it streams anything that must not come twice.
    pub(super) fn has_content(&self) -> bool {
        self.actions.iter().any(|action| !matches!(action, Action::Usage(_)))
    }
}

impl Call {
    /// Whether it ends by saying that the conversation is too long.
    pub(super) fn is_too_long(&self, name: &str) -> bool {
        let kind = match self.attempts.last().map(|attempt| &attempt.end) {
            Some(End::Error(message)) => classify(None, &[], message),
            Some(End::Status(status)) => status_failure(name, *status, b"").kind,
            Some(End::Done(_) | End::Hang) | None => return false,
        };
        kind == FailureKind::ContextTooLong
    }

    /// Whether the conversation shows nothing of it once it is over.
    fn leaves_nothing(&self) -> bool {
        self.attempts
            .last()
            .is_none_or(|last| !last.has_content() || !matches!(last.end, End::Done(_)))
    }
}

/// The calls of a script.
pub(super) fn calls(steps: Vec<ScriptStep>, retry: &Retry) -> Vec<Call> {
    let mut planner =
        Planner { retry, calls: Vec::new(), open: Call::default(), actions: Vec::new() };
    for step in steps {
        planner.step(step);
    }
    if !planner.actions.is_empty() {
        planner.end(End::Done(None));
    }
    if !planner.open.attempts.is_empty() {
        planner.calls.push(planner.open);
    }
    planner.calls
}

/// Which call is next, given what came after the script. Each model call that left something is one. A
/// call that leaves nothing was made if the user spoke again while an answer was still owed.
pub(super) fn position(entries: &[Entry], calls: &[Call]) -> usize {
    let (mut position, mut step, mut is_owed) = (0, None, true);
    for entry in entries {
        match &entry.body {
            EntryBody::User { .. } => {
                if is_owed && calls.get(position).is_some_and(Call::leaves_nothing) {
                    position += 1;
                }
                is_owed = true;
            }
            EntryBody::ToolResult { .. } => {}
            body @ (EntryBody::Agent { .. }
            | EntryBody::Reasoning { .. }
            | EntryBody::ToolCall { .. }) => {
                let is_new = step.replace(entry.step) != Some(entry.step);
                position += usize::from(is_new);
                is_owed = matches!(body, EntryBody::ToolCall { .. }) || (is_owed && !is_new);
            }
        }
    }
    position
}

struct Planner<'a> {
    retry: &'a Retry,
    calls: Vec<Call>,
    /// The call whose attempts failed so far.
    open: Call,
    actions: Vec<Action>,
}

impl Planner<'_> {
    fn step(&mut self, step: ScriptStep) {
        let delay = Duration::from_millis(step.delay_ms).min(DELAY_LIMIT);
        let ScriptStep {
            reasoning,
            text,
            chunks,
            call,
            tools,
            usage,
            error,
            status,
            hang,
            stop,
            ..
        } = step;
        let tools: Vec<ScriptCall> =
            std::iter::once(call).chain(tools).filter(|call| call.tool.is_some()).collect();
        let speaks = reasoning.is_some() || text.is_some();
        let acts = speaks || !tools.is_empty() || error.is_some() || status.is_some() || hang;
        let has_call = self.actions.iter().any(|action| matches!(action, Action::Call { .. }));
        let has_text = self.actions.iter().any(|action| matches!(action, Action::Text { .. }));
        // A status comes before anything is said, so that it cannot belong to what was said already.
        if (has_call && acts)
            || (has_text && speaks)
            || (!self.actions.is_empty() && status.is_some())
        {
            self.end(End::Done(None));
        }
        self.actions.extend(
            reasoning.filter(|text| !text.is_empty()).map(|text| Action::Reasoning { text, delay }),
        );
        if let Some(text) = text {
            self.actions.push(Action::Text { pieces: pieces(&text, chunks.unwrap_or(1)), delay });
        }
        self.actions.extend(tools.into_iter().filter_map(|call| action(call, delay)));
        self.actions.extend(usage.map(|usage| {
            let (prompt, completion, cached) = (usage.prompt, usage.completion, usage.cached);
            Action::Usage(Usage { prompt, completion, cached, cache_creation: 0 })
        }));
        let end = match (error, status, hang, stop) {
            (Some(message), ..) => End::Error(message),
            (None, Some(status), ..) => End::Status(status),
            (None, None, true, _) => End::Hang,
            (None, None, false, Some(stop)) => End::Done(Some(reason(&stop))),
            (None, None, false, None) => return,
        };
        self.end(end);
    }

    /// Ends the attempt, and the call as well unless it is tried again.
    fn end(&mut self, end: End) {
        let attempt = Attempt { actions: std::mem::take(&mut self.actions), end };
        let is_listed =
            matches!(attempt.end, End::Status(status) if self.retry.status_codes.contains(&status));
        let is_retryable = is_listed && !attempt.has_content();
        self.open.attempts.push(attempt);
        let made = u32::try_from(self.open.attempts.len()).unwrap_or(u32::MAX);
        if !is_retryable || made >= self.retry.max_attempts {
            self.calls.push(std::mem::take(&mut self.open));
        }
    }
}

fn action(call: ScriptCall, delay: Duration) -> Option<Action> {
    let arguments = match call.args {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) => text,
        Some(value) => value.to_string(),
    };
    Some(Action::Call { tool: call.tool?, arguments, id: call.id, delay })
}

/// Cuts a text into pieces of about the same number of characters.
fn pieces(text: &str, count: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let count = count.clamp(1, PIECE_LIMIT).min(characters.len());
    let bound = |piece: usize| piece * characters.len() / count.max(1);
    (0..count).map(|piece| characters[bound(piece)..bound(piece + 1)].iter().collect()).collect()
}

fn reason(stop: &str) -> Stop {
    match stop {
        "stop" => Stop::Stop,
        "length" => Stop::Length,
        "toolUse" | "tool_use" => Stop::ToolUse,
        "contentFilter" | "content_filter" => Stop::ContentFilter,
        "refusal" => Stop::Refusal,
        "pause" => Stop::Pause,
        other => Stop::Other(other.to_owned()),
    }
}
