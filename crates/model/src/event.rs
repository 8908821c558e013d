//! Everything that can happen, as one closed list.

use std::path::PathBuf;

use crate::{
    Activity, Checkpoint, EventSeq, ExitStatus, Handoff, Mode, NotificationText, Project,
    ProjectId, QueueItem, QueueItemId, Request, Review, RunState, SessionId, Size, Source,
    Terminal, TerminalId, ThreadId, Timestamp, TurnId, TurnStatus,
};

/// Something that happened to the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A daemon took charge; terminals that lived on are counted.
    DaemonStarted {
        /// Version of the daemon.
        version: String,
        /// Terminals found alive.
        restored: u64,
    },
    /// The daemon stops cleanly.
    DaemonStopping,
    /// A project came to be.
    ProjectCreated(Project),
    /// A project got another name.
    ProjectRenamed {
        /// Which project.
        id: ProjectId,
        /// Its new name.
        name: String,
    },
    /// A project is gone, and so are its terminals.
    ProjectDeleted {
        /// Which project.
        id: ProjectId,
    },
    TerminalOpened {
        /// The terminal as it was opened.
        terminal: Box<Terminal>,
        /// Whether it became the active one.
        is_active: bool,
    },
    /// The title to show changed.
    TerminalTitleChanged {
        /// Which terminal.
        id: TerminalId,
        /// The title now shown.
        title: String,
    },
    /// The shell reported another directory.
    TerminalCwdChanged {
        /// Which terminal.
        id: TerminalId,
        /// The directory.
        cwd: PathBuf,
    },
    /// The terminal got another size.
    TerminalResized {
        /// Which terminal.
        id: TerminalId,
        /// The new size.
        size: Size,
    },
    /// The child ended, and all its output was read.
    TerminalExited {
        /// Which terminal.
        id: TerminalId,
        /// How it ended.
        status: ExitStatus,
    },
    /// The keeper died; see [`crate::TerminalState::Lost`].
    TerminalLost {
        /// Which terminal.
        id: TerminalId,
    },
    /// The terminal was closed and forgotten.
    TerminalClosed {
        /// Which terminal.
        id: TerminalId,
        /// Whether its child was alive until then.
        was_alive: bool,
    },
    /// A terminal moved to another place in its project, or to another project.
    TerminalMoved {
        /// Which terminal.
        id: TerminalId,
        /// Its project now.
        project: ProjectId,
        /// Its place there, from 0.
        index: usize,
    },
    /// The terminals of a project were put in another order.
    TerminalsReordered { project: ProjectId },
    /// Panes of a project are arranged otherwise.
    LayoutChanged { project: ProjectId },
    /// Projects were put in another order.
    ProjectsReordered,
    /// Another project or terminal was selected, or the same one again.
    ActiveChanged {
        /// The selected project, if any.
        project: Option<ProjectId>,
        /// The selected terminal, if any.
        terminal: Option<TerminalId>,
    },
    /// What a terminal looks like to its user changed.
    TerminalStateChanged {
        /// Which terminal.
        id: TerminalId,
        /// Its state now.
        state: RunState,
    },
    /// A hook took a terminal or gave it back.
    TerminalHooked {
        /// Which terminal.
        id: TerminalId,
        /// Whether a hook owns it now.
        is_hooked: bool,
    },
    /// An agent reported what it does.
    AgentReported {
        /// Which terminal.
        id: TerminalId,
        /// What goes on in it now.
        activity: Activity,
    },
    /// A notification was raised or taken back.
    TerminalAttention {
        /// Which terminal.
        id: TerminalId,
        /// Whether a notification waits to be seen.
        is_pending: bool,
    },
    /// A program asked for attention.
    TerminalNotified {
        /// Which terminal.
        id: TerminalId,
        /// What it said.
        text: NotificationText,
        /// Who said so.
        source: Source,
    },
    /// A program rang the bell.
    TerminalBell {
        /// Which terminal.
        id: TerminalId,
    },
    /// A shell finished a command (OSC 133;D).
    TerminalCommandFinished {
        /// Which terminal.
        id: TerminalId,
        /// The command's exit code, if the shell reported it.
        code: Option<i32>,
    },
    /// A conversation began.
    ThreadStarted {
        /// Which thread.
        id: ThreadId,
    },
    /// A thread was archived or restored.
    ThreadArchived {
        /// Which thread.
        id: ThreadId,
        /// Whether it is archived now.
        is_archived: bool,
    },
    /// A conversation is gone.
    ThreadDeleted {
        /// Which thread.
        id: ThreadId,
    },
    /// A turn began.
    TurnStarted { thread: ThreadId, turn: TurnId },
    /// A turn came to its end.
    TurnEnded {
        thread: ThreadId,
        turn: TurnId,
        /// How it ended.
        status: TurnStatus,
    },
    /// An agent waits for an answer.
    RequestOpened(Box<Request>),
    /// An agent's request was settled.
    RequestSettled(Box<Request>),
    /// Agents may do more or less without asking.
    ModeChanged {
        /// The thread it holds for; all others if none is named.
        thread: Option<ThreadId>,
        /// What held before.
        from: Mode,
        /// What holds now.
        to: Mode,
        /// The reason, if one was given.
        reason: Option<String>,
        /// How many requests that waited were settled by it.
        settled: u64,
    },
    /// Something asks for attention.
    QueueItemFiled(Box<QueueItem>),
    /// Something that asked for attention was dealt with.
    QueueItemResolved {
        /// Which item.
        id: QueueItemId,
        /// The session it was about, if it was about one.
        session: Option<SessionId>,
    },
    /// A review was asked for, commented or decided.
    ReviewChanged(Box<Review>),
    /// A checkpoint was made.
    CheckpointCreated(Box<Checkpoint>),
    /// A handoff was made, taken or done.
    HandoffChanged(Box<Handoff>),
}

impl Event {
    /// The terminal this is about, if it is about one.
    pub fn terminal(&self) -> Option<TerminalId> {
        match self {
            Event::TerminalOpened { terminal, .. } => Some(terminal.id),
            Event::TerminalTitleChanged { id, .. }
            | Event::TerminalCwdChanged { id, .. }
            | Event::TerminalResized { id, .. }
            | Event::TerminalExited { id, .. }
            | Event::TerminalLost { id }
            | Event::TerminalClosed { id, .. }
            | Event::TerminalMoved { id, .. }
            | Event::TerminalStateChanged { id, .. }
            | Event::TerminalHooked { id, .. }
            | Event::AgentReported { id, .. }
            | Event::TerminalAttention { id, .. }
            | Event::TerminalNotified { id, .. }
            | Event::TerminalBell { id }
            | Event::TerminalCommandFinished { id, .. } => Some(*id),
            Event::ActiveChanged { terminal, .. } => *terminal,
            Event::DaemonStarted { .. }
            | Event::DaemonStopping
            | Event::ProjectCreated(_)
            | Event::ProjectRenamed { .. }
            | Event::ProjectDeleted { .. }
            | Event::ProjectsReordered
            | Event::TerminalsReordered { .. }
            | Event::LayoutChanged { .. }
            | Event::ThreadStarted { .. }
            | Event::ThreadArchived { .. }
            | Event::ThreadDeleted { .. }
            | Event::TurnStarted { .. }
            | Event::TurnEnded { .. }
            | Event::RequestOpened(_)
            | Event::RequestSettled(_)
            | Event::ModeChanged { .. }
            | Event::QueueItemFiled(_)
            | Event::QueueItemResolved { .. }
            | Event::ReviewChanged(_)
            | Event::CheckpointCreated(_)
            | Event::HandoffChanged(_) => None,
        }
    }
}

/// An event with its place in the durable log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedEvent {
    /// Its number: one more than the event before it, across restarts.
    pub seq: EventSeq,
    /// When it was committed.
    pub at: Timestamp,
    /// What happened.
    pub event: Event,
}
