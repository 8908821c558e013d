//! The members of a team.

use std::fmt;

use rookery_model::{Mode, ThreadId, TurnId};

/// The name of a member within its team: `lead`, then `member-1`, `member-2` and so on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberId(String);

impl MemberId {
    /// The lead of every team.
    pub const LEAD: &'static str = "lead";

    pub fn lead() -> Self {
        Self(Self::LEAD.to_owned())
    }

    /// The teammate with this number, from one on.
    pub fn teammate(number: usize) -> Self {
        Self(format!("member-{number}"))
    }

    /// A name as it was written down.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The name itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number of a teammate.
    pub(crate) fn number(&self) -> Option<usize> {
        self.0.strip_prefix("member-")?.parse().ok()
    }
}

impl fmt::Display for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a member is in its team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Its thread was there first, or was made for the team.
    Lead,
    /// Works on what the lead hands on.
    Teammate,
}

/// What a member does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberStatus {
    /// It has done nothing yet, or its turn was lost with a daemon.
    Idle,
    /// A turn of its thread runs.
    Running,
    /// That turn waits for an answer.
    Blocked,
    /// Its last turn came to its end.
    Completed,
    /// Its last turn failed.
    Failed,
    /// Its last turn was stopped.
    Interrupted,
    /// Its thread was put away or deleted.
    Closed,
}

impl MemberStatus {
    /// Whether a turn of its thread is open.
    pub fn is_active(self) -> bool {
        matches!(self, MemberStatus::Running | MemberStatus::Blocked)
    }
}

/// One member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name for programs.
    pub id: MemberId,
    /// What it is.
    pub role: Role,
    /// Its name for people; no other of the team has it.
    pub name: String,
    /// What it works on, in a line.
    pub task_name: Option<String>,
    /// Where it stands in the tree of agents, such as `/root/reviewer`; no path of a file.
    pub agent_path: Option<String>,
    pub thread: ThreadId,
    /// The thread that it works for.
    pub parent: Option<ThreadId>,
    /// The turn that runs.
    pub turn: Option<TurnId>,
    /// Who answers in it.
    pub provider: Option<String>,
    /// The model that does.
    pub model: Option<String>,
    /// How much it may do without asking.
    pub mode: Mode,
    /// What it does.
    pub status: MemberStatus,
    /// What its last turn said at its end.
    pub final_message: Option<String>,
    /// Why its last turn failed.
    pub terminal_error: Option<String>,
    /// Where it is shown; no display of ours has panes.
    pub pane: Option<String>,
}
