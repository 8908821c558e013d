//! Threads: conversations with agents, and the turns they consist of.

use std::path::PathBuf;

use crate::{Assignment, ChildOf, Mode, Profile, RunnerBinding, ThreadId, Timestamp, TurnId};

/// Which model answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Id of the provider.
    pub provider: String,
    /// The model's name there.
    pub model: String,
    /// Reasoning effort, if chosen.
    pub reasoning: Option<String>,
}

/// Tokens, as providers count them. Cached ones and those written to the cache are part of the prompt's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read.
    pub prompt: u64,
    /// Tokens written.
    pub completion: u64,
    /// Tokens read from the cache.
    pub cached: u64,
    /// Tokens written to the cache.
    pub cache_creation: u64,
}

impl Usage {
    /// Adds another count.
    pub fn add(&mut self, other: Usage) {
        self.prompt = self.prompt.saturating_add(other.prompt);
        self.completion = self.completion.saturating_add(other.completion);
        self.cached = self.cached.saturating_add(other.cached);
        self.cache_creation = self.cache_creation.saturating_add(other.cache_creation);
    }

    /// Whether nothing was counted.
    pub fn is_zero(&self) -> bool {
        *self == Usage::default()
    }
}

/// A tool that a client runs for us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalTool {
    pub name: String,
    /// What it is for.
    pub description: String,
    /// JSON Schema of its arguments, as text.
    pub parameters: String,
}

impl Thread {
    /// The title to show: its name, else how it began.
    pub fn title(&self) -> &str {
        match self.name.as_deref() {
            Some(name) if !name.is_empty() => name,
            _ if self.preview.is_empty() => "Untitled thread",
            _ => &self.preview,
        }
    }

    /// The thread that waits for what comes of this one.
    pub fn lead(&self) -> Option<ThreadId> {
        let parent = self.child.as_deref().and_then(|child| child.parent);
        let lead = self.assignment.as_deref().and_then(|assignment| assignment.lead);
        lead.or(parent.map(|parent| parent.thread))
    }
}

/// Where a goal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GoalStatus {
    /// Worked on.
    Active,
    /// Set aside by the user.
    Paused,
    /// The agent cannot go on.
    Blocked,
    /// The provider's limit was reached.
    UsageLimited,
    /// The budget is spent.
    BudgetLimited,
    /// Reached.
    Complete,
}

/// What a thread is meant to reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// In words; 4,000 characters at most.
    pub objective: String,
    /// Where it stands.
    pub status: GoalStatus,
    /// Tokens it may cost.
    pub token_budget: Option<u64>,
    /// Tokens it has cost.
    pub tokens_used: u64,
    /// Seconds of turns it has cost.
    pub seconds_used: u64,
    /// When it was set.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Where a step of a plan or an entry of the ledger stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlanStepStatus {
    /// Not begun.
    Pending,
    /// Worked on; at most one is.
    InProgress,
    /// Done.
    Completed,
    /// Cannot be done now.
    Blocked,
}

/// A step of a plan, or an entry of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanStep {
    /// Its name in the ledger; empty in a plan.
    pub id: String,
    /// Assignment: what the task should do.
    pub content: String,
    /// Where it stands.
    pub status: PlanStepStatus,
    /// What shows that it is done.
    pub evidence: Option<String>,
}

/// A conversation with an agent, without its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its id, never reused.
    pub id: ThreadId,
    /// When it was started.
    pub created_at: Timestamp,
    /// When something last happened in it.
    pub updated_at: Timestamp,
    /// The name that a user gave it.
    pub name: Option<String>,
    /// The beginning of what the user first said; empty before that.
    pub preview: String,
    /// Which model answers, where a turn does not say otherwise.
    pub choice: Choice,
    /// Its working directory; absolute.
    pub cwd: PathBuf,
    /// The directory that its tools may work in; absolute, and `cwd` lies in it.
    pub root: PathBuf,
    /// Whether it is kept in memory only.
    pub ephemeral: bool,
    /// Whether it was archived.
    pub archived: bool,
    /// Its own mode; without one it has the world's.
    pub mode: Option<Mode>,
    /// The tools it may use; all if there is no list.
    pub tool_allowlist: Option<Vec<String>>,
    /// What its developer tells the model beside the system's instructions.
    pub developer_instructions: Option<String>,
    /// Tools that a client runs.
    pub external_tools: Vec<ExternalTool>,
    /// The thread that this one was forked from.
    pub parent: Option<ThreadId>,
    /// All tokens of all its turns.
    pub usage: Usage,
    /// Messages of users and agents in it.
    pub message_count: u64,
    /// What it is meant to reach.
    pub goal: Option<Goal>,
    /// The agent's plan.
    pub plan: Vec<PlanStep>,
    /// The agent's ledger of tasks.
    pub ledger: Vec<PlanStep>,
    /// Up to which number its notifications may have been counted.
    pub seq_reserved: u64,
    /// The workspace it was started in, and the root of that; none if it was not given.
    pub place: Option<(String, String)>,
    /// Names of items that were taken away again, which no later one may have.
    pub retired: Vec<String>,
    /// What its client set for it, if it is driven as a piece of work.
    pub assignment: Option<Box<Assignment>>,
    /// Where its tools run, if that is a runner.
    pub runner: Option<Box<RunnerBinding>>,
    /// What makes it a child agent, if it is one.
    pub child: Option<Box<ChildOf>>,
}

/// Where a turn is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TurnStatus {
    /// It runs, or waits for an answer.
    InProgress,
    /// It came to its end.
    Completed,
    Failed,
    Interrupted,
}

/// Why a turn failed, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TurnErrorKind {
    /// The daemon ended while it ran.
    RuntimeRestart,
    /// It made too many calls or mistakes.
    ReliabilityLimit,
    /// Its time ran out.
    DeadlineTimeout,
    /// The provider failed.
    Provider,
    /// It was stopped because the daemon was about to end, or was drained.
    Shutdown,
    /// Something else.
    Other,
}

/// Why a turn failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnError {
    /// In words for people.
    pub message: String,
    /// For programs.
    pub kind: TurnErrorKind,
}

/// What was asked of a turn beside its words; kept so that it can go on after a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnSettings {
    /// Which model answers.
    pub choice: Choice,
    /// What the client tells the model for this turn only.
    pub developer_context: Option<String>,
    /// The only tools it may use, beside the thread's own list.
    pub allowed_tools: Option<Vec<String>>,
    /// Whether the ledger has to be kept.
    pub needs_ledger: bool,
    /// Until when it has to be done.
    pub deadline: Option<Timestamp>,
    /// Who is there.
    pub profile: Profile,
    /// Whether it is the work that a child agent was started for: who started it waits for the turn.
    pub is_given: bool,
}

/// One call of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelCall {
    /// When it began.
    pub at: Timestamp,
    /// Its tokens.
    pub usage: Usage,
    /// Why it failed.
    pub error: Option<String>,
    /// Whether it is over.
    pub is_done: bool,
    /// Whether it was cut off because its turn was to stop.
    pub was_cut: bool,
}

/// One turn, without its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its id, never reused.
    pub id: TurnId,
    /// The thread it belongs to.
    pub thread: ThreadId,
    /// Where it is in its life.
    pub status: TurnStatus,
    /// Why it failed, or why it was stopped if no one asked for that.
    pub error: Option<TurnError>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Its tokens.
    pub usage: Usage,
    /// Why the model stopped, in its last word about it.
    pub finish_reason: Option<String>,
    /// What was asked of it.
    pub settings: TurnSettings,
    /// Its calls of the model, in order.
    pub calls: Vec<ModelCall>,
}
