//! The JSON twins of events.

use std::borrow::Cow;

use rookery_model as model;
use serde::{Deserialize, Serialize};

use super::activity::{ActivityJson, RunStateJson};
use super::record::{
    CheckpointJson, HandoffJson, QueueJson, ReviewJson, session_from_text, session_text,
};
use super::request::RequestJson;
use super::word::{ModeJson, SourceJson, TurnStatusJson};
use super::{DecodeError, ExitJson, PathJson, ProjectJson, SizeJson, TerminalJson, id_from_text};

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum EventJson<'a> {
    DaemonStarted {
        version: Cow<'a, str>,
        restored: u64,
    },
    DaemonStopping,
    ProjectCreated {
        project: ProjectJson<'a>,
    },
    ProjectRenamed {
        id: u64,
        name: Cow<'a, str>,
    },
    ProjectDeleted {
        id: u64,
    },
    TerminalOpened {
        terminal: Box<TerminalJson<'a>>,
        #[serde(default)]
        is_active: bool,
    },
    TerminalTitleChanged {
        id: u64,
        title: Cow<'a, str>,
    },
    TerminalCwdChanged {
        id: u64,
        cwd: PathJson<'a>,
    },
    TerminalResized {
        id: u64,
        size: SizeJson,
    },
    TerminalExited {
        id: u64,
        status: ExitJson,
    },
    TerminalLost {
        id: u64,
    },
    TerminalClosed {
        id: u64,
        #[serde(default)]
        was_alive: bool,
    },
    TerminalMoved {
        id: u64,
        project: u64,
        index: u64,
    },
    TerminalsReordered {
        project: u64,
    },
    LayoutChanged {
        project: u64,
    },
    ProjectsReordered,
    #[serde(rename = "active_terminal_changed")]
    ActiveChanged {
        #[serde(default)]
        project: Option<u64>,
        id: Option<u64>,
    },
    TerminalStateChanged {
        id: u64,
        state: RunStateJson,
    },
    TerminalHooked {
        id: u64,
        is_hooked: bool,
    },
    AgentReported {
        id: u64,
        activity: ActivityJson<'a>,
    },
    TerminalAttention {
        id: u64,
        is_pending: bool,
    },
    TerminalNotified {
        id: u64,
        title: Cow<'a, str>,
        body: Cow<'a, str>,
        /// Stored by older versions without it, for what programs said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<SourceJson>,
    },
    TerminalBell {
        id: u64,
    },
    TerminalCommandFinished {
        id: u64,
        code: Option<i32>,
    },
    ThreadStarted {
        id: Cow<'a, str>,
    },
    ThreadArchived {
        id: Cow<'a, str>,
        is_archived: bool,
    },
    ThreadDeleted {
        id: Cow<'a, str>,
    },
    TurnStarted {
        thread: Cow<'a, str>,
        turn: Cow<'a, str>,
    },
    TurnEnded {
        thread: Cow<'a, str>,
        turn: Cow<'a, str>,
        status: TurnStatusJson,
    },
    RequestOpened {
        request: Box<RequestJson<'a>>,
    },
    RequestSettled {
        request: Box<RequestJson<'a>>,
    },
    ModeChanged {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread: Option<Cow<'a, str>>,
        from: ModeJson,
        to: ModeJson,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "is_zero")]
        settled: u64,
    },
    QueueItemFiled {
        item: Box<QueueJson<'a>>,
    },
    QueueItemResolved {
        id: Cow<'a, str>,
        session: Cow<'a, str>,
    },
    ReviewChanged {
        review: Box<ReviewJson<'a>>,
    },
    CheckpointCreated {
        checkpoint: Box<CheckpointJson<'a>>,
    },
    HandoffChanged {
        handoff: Box<HandoffJson<'a>>,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl<'a> EventJson<'a> {
    pub(super) fn of(event: &'a model::Event) -> Self {
        use model::Event;
        match event {
            Event::DaemonStarted { version, restored } => {
                EventJson::DaemonStarted { version: version.into(), restored: *restored }
            }
            Event::DaemonStopping => EventJson::DaemonStopping,
            Event::ProjectCreated(project) => {
                EventJson::ProjectCreated { project: ProjectJson::of(project) }
            }
            Event::ProjectRenamed { id, name } => {
                EventJson::ProjectRenamed { id: id.get(), name: name.into() }
            }
            Event::ProjectDeleted { id } => EventJson::ProjectDeleted { id: id.get() },
            Event::TerminalOpened { terminal, is_active } => EventJson::TerminalOpened {
                terminal: Box::new(TerminalJson::of(terminal)),
                is_active: *is_active,
            },
            Event::TerminalTitleChanged { id, title } => {
                EventJson::TerminalTitleChanged { id: id.get(), title: title.into() }
            }
            Event::TerminalCwdChanged { id, cwd } => {
                EventJson::TerminalCwdChanged { id: id.get(), cwd: PathJson::of(cwd) }
            }
            Event::TerminalResized { id, size } => {
                EventJson::TerminalResized { id: id.get(), size: SizeJson::of(*size) }
            }
            Event::TerminalExited { id, status } => {
                EventJson::TerminalExited { id: id.get(), status: ExitJson::of(*status) }
            }
            Event::TerminalLost { id } => EventJson::TerminalLost { id: id.get() },
            Event::TerminalClosed { id, was_alive } => {
                EventJson::TerminalClosed { id: id.get(), was_alive: *was_alive }
            }
            Event::TerminalMoved { id, project, index } => EventJson::TerminalMoved {
                id: id.get(),
                project: project.get(),
                index: *index as u64,
            },
            Event::TerminalsReordered { project } => {
                EventJson::TerminalsReordered { project: project.get() }
            }
            Event::LayoutChanged { project } => EventJson::LayoutChanged { project: project.get() },
            Event::ProjectsReordered => EventJson::ProjectsReordered,
            Event::ActiveChanged { project, terminal } => EventJson::ActiveChanged {
                project: project.map(model::ProjectId::get),
                id: terminal.map(model::TerminalId::get),
            },
            Event::TerminalStateChanged { id, state } => {
                EventJson::TerminalStateChanged { id: id.get(), state: RunStateJson::of(*state) }
            }
            Event::TerminalHooked { id, is_hooked } => {
                EventJson::TerminalHooked { id: id.get(), is_hooked: *is_hooked }
            }
            Event::AgentReported { id, activity } => {
                EventJson::AgentReported { id: id.get(), activity: ActivityJson::of(activity) }
            }
            Event::TerminalAttention { id, is_pending } => {
                EventJson::TerminalAttention { id: id.get(), is_pending: *is_pending }
            }
            Event::TerminalNotified { id, text, source } => EventJson::TerminalNotified {
                id: id.get(),
                title: (&text.title).into(),
                body: (&text.body).into(),
                source: Some(SourceJson::of(*source)),
            },
            Event::TerminalBell { id } => EventJson::TerminalBell { id: id.get() },
            Event::TerminalCommandFinished { id, code } => {
                EventJson::TerminalCommandFinished { id: id.get(), code: *code }
            }
            Event::ThreadStarted { id } => EventJson::ThreadStarted { id: id.to_string().into() },
            Event::ThreadArchived { id, is_archived } => {
                EventJson::ThreadArchived { id: id.to_string().into(), is_archived: *is_archived }
            }
            Event::ThreadDeleted { id } => EventJson::ThreadDeleted { id: id.to_string().into() },
            Event::TurnStarted { thread, turn } => EventJson::TurnStarted {
                thread: thread.to_string().into(),
                turn: turn.to_string().into(),
            },
            Event::TurnEnded { thread, turn, status } => EventJson::TurnEnded {
                thread: thread.to_string().into(),
                turn: turn.to_string().into(),
                status: TurnStatusJson::of(*status),
            },
            Event::RequestOpened(request) => {
                EventJson::RequestOpened { request: Box::new(RequestJson::of(request)) }
            }
            Event::RequestSettled(request) => {
                EventJson::RequestSettled { request: Box::new(RequestJson::of(request)) }
            }
            Event::ModeChanged { thread, from, to, reason, settled } => EventJson::ModeChanged {
                thread: thread.map(|id| id.to_string().into()),
                from: ModeJson::of(*from),
                to: ModeJson::of(*to),
                reason: reason.as_ref().map(Cow::from),
                settled: *settled,
            },
            Event::QueueItemFiled(item) => {
                EventJson::QueueItemFiled { item: Box::new(QueueJson::of(item)) }
            }
            Event::QueueItemResolved { id, session } => EventJson::QueueItemResolved {
                id: id.to_string().into(),
                session: session_text(*session).into(),
            },
            Event::ReviewChanged(review) => {
                EventJson::ReviewChanged { review: Box::new(ReviewJson::of(review)) }
            }
            Event::CheckpointCreated(made) => {
                EventJson::CheckpointCreated { checkpoint: Box::new(CheckpointJson::of(made)) }
            }
            Event::HandoffChanged(handoff) => {
                EventJson::HandoffChanged { handoff: Box::new(HandoffJson::of(handoff)) }
            }
        }
    }

    pub(super) fn into_model(self) -> Result<model::Event, DecodeError> {
        use model::{Event, ProjectId, TerminalId};
        Ok(match self {
            EventJson::DaemonStarted { version, restored } => {
                Event::DaemonStarted { version: version.into_owned(), restored }
            }
            EventJson::DaemonStopping => Event::DaemonStopping,
            EventJson::ProjectCreated { project } => Event::ProjectCreated(project.into_model()),
            EventJson::ProjectRenamed { id, name } => {
                Event::ProjectRenamed { id: ProjectId::new(id), name: name.into_owned() }
            }
            EventJson::ProjectDeleted { id } => Event::ProjectDeleted { id: ProjectId::new(id) },
            EventJson::TerminalOpened { terminal, is_active } => {
                Event::TerminalOpened { terminal: Box::new(terminal.into_model()?), is_active }
            }
            EventJson::TerminalTitleChanged { id, title } => {
                Event::TerminalTitleChanged { id: TerminalId::new(id), title: title.into_owned() }
            }
            EventJson::TerminalCwdChanged { id, cwd } => {
                Event::TerminalCwdChanged { id: TerminalId::new(id), cwd: cwd.into_path() }
            }
            EventJson::TerminalResized { id, size } => {
                Event::TerminalResized { id: TerminalId::new(id), size: size.into_model()? }
            }
            EventJson::TerminalExited { id, status } => {
                Event::TerminalExited { id: TerminalId::new(id), status: status.into_model() }
            }
            EventJson::TerminalLost { id } => Event::TerminalLost { id: TerminalId::new(id) },
            EventJson::TerminalClosed { id, was_alive } => {
                Event::TerminalClosed { id: TerminalId::new(id), was_alive }
            }
            EventJson::TerminalMoved { id, project, index } => Event::TerminalMoved {
                id: TerminalId::new(id),
                project: ProjectId::new(project),
                index: usize::try_from(index).map_err(|_| DecodeError::Index(index))?,
            },
            EventJson::TerminalsReordered { project } => {
                Event::TerminalsReordered { project: ProjectId::new(project) }
            }
            EventJson::LayoutChanged { project } => {
                Event::LayoutChanged { project: ProjectId::new(project) }
            }
            EventJson::ProjectsReordered => Event::ProjectsReordered,
            EventJson::ActiveChanged { project, id } => Event::ActiveChanged {
                project: project.map(ProjectId::new),
                terminal: id.map(TerminalId::new),
            },
            EventJson::TerminalStateChanged { id, state } => {
                Event::TerminalStateChanged { id: TerminalId::new(id), state: state.into_model() }
            }
            EventJson::TerminalHooked { id, is_hooked } => {
                Event::TerminalHooked { id: TerminalId::new(id), is_hooked }
            }
            EventJson::AgentReported { id, activity } => {
                Event::AgentReported { id: TerminalId::new(id), activity: activity.into_model() }
            }
            EventJson::TerminalAttention { id, is_pending } => {
                Event::TerminalAttention { id: TerminalId::new(id), is_pending }
            }
            EventJson::TerminalNotified { id, title, body, source } => Event::TerminalNotified {
                id: TerminalId::new(id),
                text: model::NotificationText {
                    title: title.into_owned(),
                    body: body.into_owned(),
                },
                source: source.map_or(model::Source::Program, SourceJson::into_model),
            },
            EventJson::TerminalBell { id } => Event::TerminalBell { id: TerminalId::new(id) },
            EventJson::TerminalCommandFinished { id, code } => {
                Event::TerminalCommandFinished { id: TerminalId::new(id), code }
            }
            EventJson::ThreadStarted { id } => Event::ThreadStarted { id: id_from_text(&id)? },
            EventJson::ThreadArchived { id, is_archived } => {
                Event::ThreadArchived { id: id_from_text(&id)?, is_archived }
            }
            EventJson::ThreadDeleted { id } => Event::ThreadDeleted { id: id_from_text(&id)? },
            EventJson::TurnStarted { thread, turn } => {
                Event::TurnStarted { thread: id_from_text(&thread)?, turn: id_from_text(&turn)? }
            }
            EventJson::TurnEnded { thread, turn, status } => Event::TurnEnded {
                thread: id_from_text(&thread)?,
                turn: id_from_text(&turn)?,
                status: status.into_model(),
            },
            EventJson::RequestOpened { request } => {
                Event::RequestOpened(Box::new(request.into_model()?))
            }
            EventJson::RequestSettled { request } => {
                Event::RequestSettled(Box::new(request.into_model()?))
            }
            EventJson::ModeChanged { thread, from, to, reason, settled } => Event::ModeChanged {
                thread: thread.map(|id| id_from_text(&id)).transpose()?,
                from: from.into_model(),
                to: to.into_model(),
                reason: reason.map(Cow::into_owned),
                settled,
            },
            EventJson::QueueItemFiled { item } => {
                Event::QueueItemFiled(Box::new(item.into_model()?))
            }
            EventJson::QueueItemResolved { id, session } => Event::QueueItemResolved {
                id: id_from_text(&id)?,
                session: session_from_text(&session)?,
            },
            EventJson::ReviewChanged { review } => {
                Event::ReviewChanged(Box::new(review.into_model()?))
            }
            EventJson::CheckpointCreated { checkpoint } => {
                Event::CheckpointCreated(Box::new(checkpoint.into_model()?))
            }
            EventJson::HandoffChanged { handoff } => {
                Event::HandoffChanged(Box::new(handoff.into_model()?))
            }
        })
    }
}
