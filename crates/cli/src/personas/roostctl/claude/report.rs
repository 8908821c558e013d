//! What an event of Claude Code means to a Roost server, in both generations of its protocol.

use std::collections::BTreeMap;

use rookery_roost::wire::{
    Int64,
    agent::{AgentReport, Attention, Lifecycle, OwnershipAction, Severity},
    tab::TabState,
};
use serde_json::Value;

/// Who reports.
const SOURCE: &str = "claude";
/// Title of notifications that have none.
const TITLE: &str = "Claude Code";
/// Body of a notification without a message.
const NEEDS_INPUT: &str = "Claude needs input";
/// Body of the notification at the end of a turn.
const TURN_COMPLETE: &str = "Turn complete";
/// Notifications that mean that nothing goes on without the user.
const BLOCKING: [&str; 3] = ["permission_prompt", "agent_needs_input", "elicitation_dialog"];

/// An event that is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    SessionStart,
    UserPromptSubmit,
    Notification,
    Stop,
    StopFailure,
    SessionEnd,
}

/// The spellings of events, without case and punctuation.
const SPELLINGS: &[(&str, Event)] = &[
    ("sessionstart", Event::SessionStart),
    ("userpromptsubmit", Event::UserPromptSubmit),
    ("promptsubmit", Event::UserPromptSubmit),
    ("notification", Event::Notification),
    ("stop", Event::Stop),
    ("stopfailure", Event::StopFailure),
    ("sessionend", Event::SessionEnd),
];

impl Event {
    pub(super) fn read(name: &str) -> Option<Self> {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        let plain: String = letters.map(|c| c.to_ascii_lowercase()).collect();
        SPELLINGS.iter().find(|(spelling, _)| *spelling == plain).map(|(_, event)| *event)
    }
}

/// A text of the payload that says something.
fn text<'a>(payload: &'a Value, key: &str) -> Option<&'a str> {
    payload.get(key)?.as_str().filter(|text| !text.trim().is_empty())
}

/// How many things a list of the payload has.
fn count(payload: &Value, key: &str) -> usize {
    payload.get(key).and_then(Value::as_array).map_or(0, Vec::len)
}

/// Whether a subagent speaks; it owns nothing, so only its notifications count.
fn is_subagent(payload: &Value) -> bool {
    payload.get("agent_id").is_some_and(|id| !id.is_null())
}

/// The report of an event, if there is anything to report.
pub(super) fn current(event: Event, payload: &Value, tab: i64) -> Option<AgentReport> {
    let session = text(payload, "session_id").map(str::to_owned);
    let silent = AgentReport {
        tab_id: Int64(tab),
        source: SOURCE.to_owned(),
        session_id: session.unwrap_or_else(|| format!("manual:{tab}")),
        ownership_action: OwnershipAction::Preserve,
        lifecycle: None,
        attention: Attention::Preserve,
        severity: Severity::Info,
        title: String::new(),
        body: String::new(),
        detail: String::new(),
        metadata: BTreeMap::new(),
    };
    let report = match event {
        Event::SessionStart => session_start(silent, payload),
        Event::UserPromptSubmit => AgentReport {
            lifecycle: Some(Lifecycle::Working),
            attention: Attention::Clear,
            detail: "prompt_submit".to_owned(),
            ..silent
        },
        Event::Notification => notification(silent, payload),
        Event::Stop => stop(silent, payload),
        Event::StopFailure => stop_failure(silent, payload),
        Event::SessionEnd => AgentReport {
            ownership_action: OwnershipAction::Release,
            lifecycle: Some(Lifecycle::Inactive),
            attention: Attention::Clear,
            ..silent
        },
    };
    if !is_subagent(payload) {
        return Some(report);
    }
    let only_told =
        AgentReport { lifecycle: None, detail: String::new(), metadata: BTreeMap::new(), ..report };
    (only_told.attention == Attention::Set).then_some(only_told)
}

fn session_start(report: AgentReport, payload: &Value) -> AgentReport {
    let known = ["model", "source", "session_title"];
    let metadata =
        known.iter().filter_map(|key| Some(((*key).to_owned(), text(payload, key)?.to_owned())));
    AgentReport {
        ownership_action: OwnershipAction::Claim,
        lifecycle: Some(Lifecycle::Inactive),
        detail: text(payload, "source").unwrap_or("session_start").to_owned(),
        metadata: metadata.collect(),
        ..report
    }
}

fn with_notification(report: AgentReport, title: &str, body: String) -> AgentReport {
    AgentReport { attention: Attention::Set, title: title.to_owned(), body, ..report }
}

fn notification(report: AgentReport, payload: &Value) -> AgentReport {
    let kind = text(payload, "notification_type").unwrap_or("notification");
    let body = text(payload, "message").unwrap_or(NEEDS_INPUT).to_owned();
    let report = with_notification(report, text(payload, "title").unwrap_or(TITLE), body);
    let is_blocking = BLOCKING.contains(&kind);
    AgentReport {
        lifecycle: is_blocking.then_some(Lifecycle::Waiting),
        severity: if is_blocking { Severity::Warn } else { Severity::Info },
        detail: kind.to_owned(),
        ..report
    }
}

fn stop(report: AgentReport, payload: &Value) -> AgentReport {
    let tasks = count(payload, "background_tasks");
    let (lifecycle, body, detail) = match tasks {
        0 => (Lifecycle::Finished, TURN_COMPLETE.to_owned(), "stop".to_owned()),
        _ => {
            let plural = if tasks == 1 { "" } else { "s" };
            let body = format!("Waiting on {tasks} background task{plural}");
            (Lifecycle::Working, body, format!("background_tasks:{tasks}"))
        }
    };
    // Written each time, so that no old number stays.
    let counts = ["background_tasks", "session_crons"];
    let counts = counts.map(|key| (key.to_owned(), count(payload, key).to_string()));
    AgentReport {
        lifecycle: Some(lifecycle),
        detail,
        metadata: counts.into(),
        ..with_notification(report, TITLE, body)
    }
}

fn stop_failure(report: AgentReport, payload: &Value) -> AgentReport {
    let error = text(payload, "error").unwrap_or("unknown");
    let details = text(payload, "error_details").map(str::to_owned);
    AgentReport {
        lifecycle: Some(Lifecycle::Failed),
        severity: Severity::Error,
        detail: error.to_owned(),
        ..with_notification(report, TITLE, details.unwrap_or_else(|| format!("Stopped: {error}")))
    }
}

/// A step of the older generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OldStep {
    HookActive(bool),
    State(TabState),
    ClearNotification,
    Notify { title: String, body: String },
}

/// The steps of an event for a server that takes no reports.
pub(super) fn old(event: Event, payload: &Value) -> Vec<OldStep> {
    let notify = |body: &str| OldStep::Notify { title: TITLE.to_owned(), body: body.to_owned() };
    let steps = match event {
        Event::SessionStart => vec![OldStep::HookActive(true)],
        Event::UserPromptSubmit => {
            vec![OldStep::ClearNotification, OldStep::State(TabState::Running)]
        }
        Event::Notification => vec![
            OldStep::State(TabState::NeedsInput),
            notify(text(payload, "message").unwrap_or(NEEDS_INPUT)),
        ],
        Event::Stop => vec![OldStep::State(TabState::Idle), notify(TURN_COMPLETE)],
        Event::StopFailure => Vec::new(),
        Event::SessionEnd => vec![
            OldStep::HookActive(false),
            OldStep::State(TabState::None),
            OldStep::ClearNotification,
        ],
    };
    let counts = |step: &OldStep| !is_subagent(payload) || matches!(step, OldStep::Notify { .. });
    steps.into_iter().filter(counts).collect()
}

#[cfg(test)]
mod tests;
