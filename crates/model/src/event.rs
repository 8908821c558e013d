//! Everything that can happen, as one closed list.

use std::path::PathBuf;

use crate::{
    EventSeq, ExitStatus, NotificationText, Project, ProjectId, Size, Terminal, TerminalId,
    Timestamp,
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
    /// A terminal was opened.
    TerminalOpened(Terminal),
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
    /// Another terminal became the active one.
    ActiveTerminalChanged {
        /// The active terminal, if any.
        id: Option<TerminalId>,
    },
    /// A program asked for attention.
    TerminalNotified {
        /// Which terminal.
        id: TerminalId,
        /// What it said.
        text: NotificationText,
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
        /// The command's exit code, if the shell told it.
        code: Option<i32>,
    },
}

impl Event {
    /// The terminal this is about, if it is about one.
    pub fn terminal(&self) -> Option<TerminalId> {
        match self {
            Event::TerminalOpened(terminal) => Some(terminal.id),
            Event::TerminalTitleChanged { id, .. }
            | Event::TerminalCwdChanged { id, .. }
            | Event::TerminalResized { id, .. }
            | Event::TerminalExited { id, .. }
            | Event::TerminalLost { id }
            | Event::TerminalClosed { id }
            | Event::TerminalMoved { id, .. }
            | Event::TerminalNotified { id, .. }
            | Event::TerminalBell { id }
            | Event::TerminalCommandFinished { id, .. } => Some(*id),
            Event::ActiveTerminalChanged { id } => *id,
            Event::DaemonStarted { .. }
            | Event::DaemonStopping
            | Event::ProjectCreated(_)
            | Event::ProjectRenamed { .. }
            | Event::ProjectDeleted { .. } => None,
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
