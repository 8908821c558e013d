//! Events and subscriptions to them.

use rookery_model as model;
use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::redacted;

use super::supervision::session_or_zeros;
use super::{
    Checkpoint, Empty, Exit, Handoff, Mode, QueueItem, Request, Review, RunState, Size, Terminal,
    Time, TurnStatus, format_time,
};

/// An event with its place in the durable log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Its number: one more than the event before it, across restarts.
    pub seq: u64,
    /// When it was committed.
    pub at: Time,
    /// What happened.
    #[serde(flatten)]
    pub body: EventBody,
}

/// What happened. `terminal` and `project` are always ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the members say what they are, see model::Event")]
pub enum EventBody {
    /// A daemon took charge.
    #[serde(rename = "daemon.started")]
    DaemonStarted { version: String, restored: u64 },
    /// The daemon stops cleanly.
    #[serde(rename = "daemon.stopping")]
    DaemonStopping {},
    /// A project came to be.
    #[serde(rename = "project.created")]
    ProjectCreated { project: u64, name: String, root: String },
    /// A project got another name.
    #[serde(rename = "project.renamed")]
    ProjectRenamed { project: u64, name: String },
    /// A project is gone.
    #[serde(rename = "project.deleted")]
    ProjectDeleted { project: u64 },
    #[serde(rename = "terminal.opened")]
    TerminalOpened {
        terminal: u64,
        uuid: String,
        project: u64,
        title: String,
        argv: Vec<String>,
        cwd: String,
        pid: u32,
        size: Size,
    },
    /// The title to show changed.
    #[serde(rename = "terminal.title_changed")]
    TerminalTitleChanged { terminal: u64, title: String },
    /// The shell reported another directory.
    #[serde(rename = "terminal.cwd_changed")]
    TerminalCwdChanged { terminal: u64, cwd: String },
    /// The terminal got another size.
    #[serde(rename = "terminal.resized")]
    TerminalResized { terminal: u64, size: Size },
    /// The child ended.
    #[serde(rename = "terminal.exited")]
    TerminalExited { terminal: u64, exit: Exit },
    /// The keeper died.
    #[serde(rename = "terminal.lost")]
    TerminalLost { terminal: u64 },
    /// The terminal was closed and forgotten.
    #[serde(rename = "terminal.closed")]
    TerminalClosed { terminal: u64 },
    #[serde(rename = "terminal.moved")]
    TerminalMoved { terminal: u64, project: u64, index: usize },
    /// Another terminal became the active one.
    #[serde(rename = "terminal.activated")]
    TerminalActivated { terminal: Option<u64>, project: Option<u64> },
    /// The terminals of a project are in another order.
    #[serde(rename = "terminals.reordered")]
    TerminalsReordered { project: u64 },
    /// Panes of a project are arranged otherwise.
    #[serde(rename = "layout.changed")]
    LayoutChanged { project: u64 },
    /// Projects are in another order.
    #[serde(rename = "projects.reordered")]
    ProjectsReordered {},
    /// What a terminal looks like to its user changed.
    #[serde(rename = "terminal.state_changed")]
    TerminalStateChanged { terminal: u64, state: RunState },
    /// A hook took a terminal or gave it back.
    #[serde(rename = "terminal.hooked")]
    TerminalHooked { terminal: u64, hooked: bool },
    /// An agent reported what it does.
    #[serde(rename = "terminal.agent_reported")]
    TerminalAgentReported {
        terminal: u64,
        state: RunState,
        source: Option<String>,
        session: Option<String>,
    },
    /// A notification waits to be seen, or no longer does.
    #[serde(rename = "terminal.attention")]
    TerminalAttention { terminal: u64, pending: bool },
    /// A program asked for attention.
    #[serde(rename = "terminal.notified")]
    TerminalNotified { terminal: u64, title: String, body: String },
    /// A program rang the bell.
    #[serde(rename = "terminal.bell")]
    TerminalBell { terminal: u64 },
    /// A shell finished a command.
    #[serde(rename = "terminal.command_finished")]
    TerminalCommandFinished { terminal: u64, code: Option<i32> },
    /// A conversation with an agent began.
    #[serde(rename = "thread.started")]
    ThreadStarted { thread: String },
    /// A thread was archived or restored.
    #[serde(rename = "thread.archived")]
    ThreadArchived { thread: String, archived: bool },
    /// A conversation is gone.
    #[serde(rename = "thread.deleted")]
    ThreadDeleted { thread: String },
    /// A turn began.
    #[serde(rename = "turn.started")]
    TurnStarted { thread: String, turn: String },
    /// A turn came to its end.
    #[serde(rename = "turn.ended")]
    TurnEnded { thread: String, turn: String, status: TurnStatus },
    /// An agent waits for an answer.
    #[serde(rename = "request.opened")]
    RequestOpened { request: Request },
    /// An agent's request was settled.
    #[serde(rename = "request.settled")]
    RequestSettled { request: Request },
    /// Agents may do more or less without asking.
    #[serde(rename = "mode.changed")]
    ModeChanged {
        thread: Option<String>,
        from: Mode,
        to: Mode,
        reason: Option<String>,
        /// How many requests that waited were settled by it.
        #[serde(default)]
        settled: u64,
    },
    /// Something asks for attention.
    #[serde(rename = "queue.filed")]
    QueueFiled { item: QueueItem },
    /// Something that asked for attention was dealt with.
    #[serde(rename = "queue.resolved")]
    QueueResolved { item: String, session: String },
    /// A review was asked for, commented or decided.
    #[serde(rename = "review.changed")]
    ReviewChanged { review: Review },
    /// A checkpoint was made.
    #[serde(rename = "checkpoint.created")]
    CheckpointCreated { checkpoint: Checkpoint },
    /// A handoff was made, taken or done.
    #[serde(rename = "handoff.changed")]
    HandoffChanged { handoff: Handoff },
}

impl From<&model::NumberedEvent> for Event {
    fn from(numbered: &model::NumberedEvent) -> Self {
        Self { seq: numbered.seq.get(), at: format_time(numbered.at), body: body(&numbered.event) }
    }
}

/// What happened as this dialect says it. Text that programs wrote leaves redacted.
fn body(event: &model::Event) -> EventBody {
    match event {
        model::Event::DaemonStarted { version, restored } => {
            EventBody::DaemonStarted { version: version.clone(), restored: *restored }
        }
        model::Event::DaemonStopping => EventBody::DaemonStopping {},
        model::Event::ProjectCreated(project) => EventBody::ProjectCreated {
            project: project.id.get(),
            name: project.name.clone(),
            root: project.root.to_string_lossy().into_owned(),
        },
        model::Event::ProjectRenamed { id, name } => {
            EventBody::ProjectRenamed { project: id.get(), name: name.clone() }
        }
        model::Event::ProjectDeleted { id } => EventBody::ProjectDeleted { project: id.get() },
        model::Event::TerminalOpened { terminal, .. } => opened(terminal),
        model::Event::TerminalTitleChanged { id, title } => EventBody::TerminalTitleChanged {
            terminal: id.get(),
            title: redacted(title).into_owned(),
        },
        model::Event::TerminalCwdChanged { id, cwd } => EventBody::TerminalCwdChanged {
            terminal: id.get(),
            cwd: cwd.to_string_lossy().into_owned(),
        },
        model::Event::TerminalResized { id, size } => {
            EventBody::TerminalResized { terminal: id.get(), size: (*size).into() }
        }
        model::Event::TerminalExited { id, status } => {
            EventBody::TerminalExited { terminal: id.get(), exit: (*status).into() }
        }
        model::Event::TerminalLost { id } => EventBody::TerminalLost { terminal: id.get() },
        model::Event::TerminalClosed { id, .. } => EventBody::TerminalClosed { terminal: id.get() },
        model::Event::TerminalMoved { id, project, index } => {
            EventBody::TerminalMoved { terminal: id.get(), project: project.get(), index: *index }
        }
        model::Event::TerminalsReordered { project } => {
            EventBody::TerminalsReordered { project: project.get() }
        }
        model::Event::LayoutChanged { project } => {
            EventBody::LayoutChanged { project: project.get() }
        }
        model::Event::ProjectsReordered => EventBody::ProjectsReordered {},
        model::Event::ActiveChanged { project, terminal } => EventBody::TerminalActivated {
            terminal: terminal.map(model::TerminalId::get),
            project: project.map(model::ProjectId::get),
        },
        model::Event::TerminalStateChanged { id, state } => {
            EventBody::TerminalStateChanged { terminal: id.get(), state: (*state).into() }
        }
        model::Event::TerminalHooked { id, is_hooked } => {
            EventBody::TerminalHooked { terminal: id.get(), hooked: *is_hooked }
        }
        model::Event::AgentReported { id, activity } => EventBody::TerminalAgentReported {
            terminal: id.get(),
            state: activity.state().into(),
            source: activity.owner.as_ref().map(|owner| owner.source.clone()),
            session: activity.owner.as_ref().map(|owner| owner.session.clone()),
        },
        model::Event::TerminalAttention { id, is_pending } => {
            EventBody::TerminalAttention { terminal: id.get(), pending: *is_pending }
        }
        model::Event::TerminalNotified { id, text, .. } => EventBody::TerminalNotified {
            terminal: id.get(),
            title: redacted(&text.title).into_owned(),
            body: redacted(&text.body).into_owned(),
        },
        model::Event::TerminalBell { id } => EventBody::TerminalBell { terminal: id.get() },
        model::Event::TerminalCommandFinished { id, code } => {
            EventBody::TerminalCommandFinished { terminal: id.get(), code: *code }
        }
        model::Event::ThreadStarted { id } => EventBody::ThreadStarted { thread: id.to_string() },
        model::Event::ThreadArchived { id, is_archived } => {
            EventBody::ThreadArchived { thread: id.to_string(), archived: *is_archived }
        }
        model::Event::ThreadDeleted { id } => EventBody::ThreadDeleted { thread: id.to_string() },
        model::Event::TurnStarted { thread, turn } => {
            EventBody::TurnStarted { thread: thread.to_string(), turn: turn.to_string() }
        }
        model::Event::TurnEnded { thread, turn, status } => EventBody::TurnEnded {
            thread: thread.to_string(),
            turn: turn.to_string(),
            status: (*status).into(),
        },
        model::Event::RequestOpened(request) => {
            EventBody::RequestOpened { request: (&**request).into() }
        }
        model::Event::RequestSettled(request) => {
            EventBody::RequestSettled { request: (&**request).into() }
        }
        model::Event::ModeChanged { thread, from, to, reason, settled } => EventBody::ModeChanged {
            thread: thread.map(|thread| thread.to_string()),
            from: (*from).into(),
            to: (*to).into(),
            reason: reason.clone(),
            settled: *settled,
        },
        model::Event::QueueItemFiled(item) => EventBody::QueueFiled { item: (&**item).into() },
        model::Event::QueueItemResolved { id, session } => {
            EventBody::QueueResolved { item: id.to_string(), session: session_or_zeros(*session) }
        }
        model::Event::ReviewChanged(review) => {
            EventBody::ReviewChanged { review: (&**review).into() }
        }
        model::Event::CheckpointCreated(checkpoint) => {
            EventBody::CheckpointCreated { checkpoint: (&**checkpoint).into() }
        }
        model::Event::HandoffChanged(handoff) => {
            EventBody::HandoffChanged { handoff: (&**handoff).into() }
        }
    }
}

fn opened(terminal: &model::Terminal) -> EventBody {
    let Terminal { id, uuid, project, title, argv, cwd, pid, size, .. } = terminal.into();
    EventBody::TerminalOpened { terminal: id, uuid, project, title, argv, cwd, pid, size }
}

/// Params of `rookery/events/list`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct EventList {
    /// Only events with a higher number; 0 and absent mean from the oldest kept.
    #[serde(default)]
    pub after: u64,
    /// At most this many, 100 unless given and never more than 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

call!("rookery/events/list" EventList -> EventPage);

/// Result of `rookery/events/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventPage {
    /// The events, oldest first.
    pub events: Vec<Event>,
    /// How many events between `after` and the first one here are no longer kept.
    pub missed: u64,
    /// What to send as `after` for the next page.
    pub next: u64,
    /// Number of the newest event.
    pub last: u64,
}

/// Params of `rookery/events/subscribe`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Subscribe {
    /// The number of the last event seen: every later one is sent. Absent: only what comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
}

call!("rookery/events/subscribe" Subscribe -> Subscription);

/// Result of `rookery/events/subscribe`; `rookery/event` notifications follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subscription {
    /// Its number on this connection.
    pub subscription: u64,
    /// Number of the newest event when the subscription began.
    pub last: u64,
}

/// Params of `rookery/events/unsubscribe`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unsubscribe {
    /// Which subscription of this connection.
    pub subscription: u64,
}

call!("rookery/events/unsubscribe" Unsubscribe -> Empty);

/// Params of the notification `rookery/event`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventNotification {
    /// Which subscription it belongs to.
    pub subscription: u64,
    /// How many events before this one were asked for but are no longer kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missed: u64,
    /// What happened.
    pub event: Event,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests;
