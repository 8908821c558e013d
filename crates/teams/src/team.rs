//! A team and what becomes of it as its members work.

use rookery_model::{PlanStep, PlanStepStatus, TeamId, ThreadId, Timestamp, TurnId};

use crate::mailbox::Message;
use crate::member::{Member, MemberId, MemberStatus, Role};

/// How a client wants to see the members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DisplayMode {
    /// As it likes.
    #[default]
    Auto,
    /// Within one window.
    InProcess,
    /// In panes of tmux.
    Tmux,
    /// In panes of iTerm2.
    Iterm2,
}

/// Where a task of a team stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TeamTaskStatus {
    /// Not begun.
    Pending,
    /// Worked on.
    InProgress,
    /// Done.
    Completed,
    /// It cannot be done.
    Failed,
}

impl From<PlanStepStatus> for TeamTaskStatus {
    fn from(status: PlanStepStatus) -> Self {
        match status {
            PlanStepStatus::Pending => TeamTaskStatus::Pending,
            PlanStepStatus::InProgress => TeamTaskStatus::InProgress,
            PlanStepStatus::Completed => TeamTaskStatus::Completed,
            PlanStepStatus::Blocked => TeamTaskStatus::Failed,
        }
    }
}

/// A task of the lead's ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamTask {
    /// Its name in the ledger.
    pub id: String,
    /// What is to be done.
    pub title: String,
    /// Where it stands.
    pub status: TeamTaskStatus,
    /// Who does it.
    pub assignee: Option<MemberId>,
}

/// A lead with its teammates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Team {
    /// Its id, never reused.
    pub id: TeamId,
    /// The thread of the lead.
    pub lead: ThreadId,
    /// How a client wants to see it.
    pub display: DisplayMode,
    /// The members, the lead first.
    pub members: Vec<Member>,
    /// What members were sent.
    pub mailbox: Vec<Message>,
    /// The lead's tasks.
    pub tasks: Vec<TeamTask>,
    /// When it began.
    pub created_at: Timestamp,
    /// When something last happened to it.
    pub updated_at: Timestamp,
}

/// How a member's turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnEnd {
    /// [`MemberStatus::Completed`], `Failed` or `Interrupted`.
    pub status: MemberStatus,
    /// What it said last.
    pub message: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
}

/// Something that happened to a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It began.
    Started(Box<Team>),
    /// Clients are to show it in another way.
    Display(TeamId, DisplayMode),
    /// It got another teammate.
    MemberStarted(TeamId, Box<Member>),
    /// A member does something else.
    Status(TeamId, MemberId, MemberStatus),
    /// A member's turn says more.
    Text {
        team: TeamId,
        /// Who speaks.
        member: MemberId,
        turn: TurnId,
        /// The words.
        text: String,
    },
    /// A member's turn is over.
    Ended {
        team: TeamId,
        /// Whose turn it was.
        member: MemberId,
        turn: Option<TurnId>,
        /// How it ended.
        end: TurnEnd,
    },
    /// A task is new, or changed.
    Task(TeamId, TeamTask),
    /// It was taken apart; its threads stay.
    Cleaned {
        team: TeamId,
        /// Whether members were interrupted for it.
        forced: bool,
    },
}

impl Team {
    /// The member of this name.
    pub fn member(&self, id: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.id.as_str() == id)
    }

    /// The member that a thread is.
    pub fn of_thread(&self, thread: ThreadId) -> Option<&Member> {
        self.members.iter().find(|member| member.thread == thread)
    }

    pub fn teammates(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.role == Role::Teammate)
    }

    /// The name of the next teammate.
    pub fn next_member(&self) -> MemberId {
        let last = self.members.iter().filter_map(|member| member.id.number()).max();
        MemberId::teammate(last.unwrap_or(0) + 1)
    }

    /// A turn of a member's thread runs.
    pub fn begin_turn(&mut self, thread: ThreadId, turn: TurnId, at: Timestamp) -> Vec<Change> {
        let id = self.id;
        let Some(member) = self.member_of(thread) else { return Vec::new() };
        if member.turn == Some(turn) || member.status == MemberStatus::Closed {
            return Vec::new();
        }
        member.turn = Some(turn);
        (member.final_message, member.terminal_error) = (None, None);
        let changed = set_status(id, member, MemberStatus::Running);
        self.updated_at = at;
        changed
    }

    /// The turn of a member's thread waits for an answer, or has it.
    pub fn set_blocked(&mut self, thread: ThreadId, blocked: bool, at: Timestamp) -> Vec<Change> {
        let id = self.id;
        let Some(member) = self.member_of(thread) else { return Vec::new() };
        if !member.status.is_active() {
            return Vec::new();
        }
        let status = if blocked { MemberStatus::Blocked } else { MemberStatus::Running };
        let changed = set_status(id, member, status);
        if !changed.is_empty() {
            self.updated_at = at;
        }
        changed
    }

    /// A turn of a member's thread is over.
    pub fn end_turn(
        &mut self,
        thread: ThreadId,
        turn: TurnId,
        end: TurnEnd,
        at: Timestamp,
    ) -> Vec<Change> {
        let team = self.id;
        let Some(member) = self.member_of(thread) else { return Vec::new() };
        // Told once, however often it is said.
        if member.turn != Some(turn) || member.status == MemberStatus::Closed {
            return Vec::new();
        }
        (member.turn, member.status) = (None, end.status);
        member.final_message.clone_from(&end.message);
        member.terminal_error.clone_from(&end.error);
        let (member, role) = (member.id.clone(), member.role);
        if role == Role::Teammate {
            self.answer(&member, turn, &end, at);
        }
        self.updated_at = at;
        vec![Change::Ended { team, member, turn: Some(turn), end }]
    }

    /// A member's thread is not there any more.
    pub fn close(&mut self, thread: ThreadId, at: Timestamp) -> Vec<Change> {
        let id = self.id;
        let Some(member) = self.member_of(thread) else { return Vec::new() };
        member.turn = None;
        let changed = set_status(id, member, MemberStatus::Closed);
        if !changed.is_empty() {
            self.updated_at = at;
        }
        changed
    }

    /// A member's thread is there again.
    pub fn reopen(&mut self, thread: ThreadId, at: Timestamp) -> Vec<Change> {
        let id = self.id;
        let is_closed = |member: &&mut Member| member.status == MemberStatus::Closed;
        let Some(member) = self.member_of(thread).filter(is_closed) else { return Vec::new() };
        let changed = set_status(id, member, MemberStatus::Idle);
        self.updated_at = at;
        changed
    }

    /// The lead's ledger has these tasks now.
    pub fn set_tasks(&mut self, ledger: &[PlanStep], at: Timestamp) -> Vec<Change> {
        let fresh: Vec<TeamTask> = ledger.iter().map(|task| self.task(task)).collect();
        let changed = fresh.iter().filter(|task| !self.tasks.contains(task)).cloned();
        let changed: Vec<Change> = changed.map(|task| Change::Task(self.id, task)).collect();
        if self.tasks != fresh {
            (self.tasks, self.updated_at) = (fresh, at);
        }
        changed
    }

    fn task(&self, task: &PlanStep) -> TeamTask {
        let known = self.tasks.iter().find(|known| known.id == task.id);
        TeamTask {
            id: task.id.clone(),
            title: task.content.clone(),
            status: task.status.into(),
            assignee: known.and_then(|known| known.assignee.clone()),
        }
    }

    /// Puts every member as a daemon that has just started finds it: with the turn that its thread really
    /// has, blocked or not.
    pub fn recover(&mut self, now: impl Fn(ThreadId) -> Option<(Option<TurnId>, bool)>) {
        for member in &mut self.members {
            let Some((turn, waits)) = now(member.thread) else {
                (member.turn, member.status) = (None, MemberStatus::Closed);
                continue;
            };
            member.turn = turn;
            member.status = match (turn, waits, member.status) {
                (Some(_), true, _) => MemberStatus::Blocked,
                (Some(_), false, _) => MemberStatus::Running,
                (None, _, MemberStatus::Running | MemberStatus::Blocked | MemberStatus::Closed) => {
                    MemberStatus::Idle
                }
                (None, _, settled) => settled,
            };
        }
    }

    fn member_of(&mut self, thread: ThreadId) -> Option<&mut Member> {
        self.members.iter_mut().find(|member| member.thread == thread)
    }
}

fn set_status(team: TeamId, member: &mut Member, status: MemberStatus) -> Vec<Change> {
    if member.status == status {
        return Vec::new();
    }
    member.status = status;
    vec![Change::Status(team, member.id.clone(), status)]
}
