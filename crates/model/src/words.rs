//! The words for values of enums without fields, in our own spelling: one table per enum. What is
//! stored, logged and set by name is read from here in both directions; a dialect that spells them
//! differently has a table of its own.

use crate::{
    AgentState, Category, ChangeKind, CheckpointSource, ChildExit, DecisionSource, DecisionVerdict,
    Fate, FileOperation, FileStatus, GoalStatus, HandoffStatus, ItemStatus, Lane, Lifetime,
    LineKind, LogStream, Lost, Mode, PlanStage, PlanStepStatus, Profile, Reach, RecordKind,
    ReviewStatus, Source, TaskState, TestStatus, TimelineKind, ToolKind, ToolSort, TraceStatus,
    TurnErrorKind, TurnStatus,
};

/// An enum whose values have a word each.
pub trait Words: Copy + Eq + 'static {
    /// Every value with its word, in the order in which they are listed.
    const WORDS: &'static [(Self, &'static str)];

    fn word(self) -> &'static str;

    /// The value that a word means; case and blanks count.
    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(value, _)| *value)
    }
}

/// Declares the table of each enum; a value that is left out does not compile.
#[macro_export]
macro_rules! words {
    ($($name:ident { $($variant:ident = $word:literal),+ $(,)? })+) => {
        $(
            impl $crate::Words for $name {
                const WORDS: &'static [(Self, &'static str)] = &[$((Self::$variant, $word)),+];

                fn word(self) -> &'static str {
                    match self {
                        $(Self::$variant => $word),+
                    }
                }
            }
        )+
    };
}

/// Declares the tables of this crate, and the test of all of them.
macro_rules! tables {
    ($($name:ident $table:tt)+) => {
        words! { $($name $table)+ }

        #[cfg(test)]
        mod tests {
            use super::*;

            fn check<T: Words + std::fmt::Debug>() {
                for (value, word) in T::WORDS {
                    assert_eq!(value.word(), *word);
                    assert_eq!(T::from_word(word), Some(*value), "two values are called {word}");
                }
                assert_eq!(T::from_word(""), None);
            }

            #[test]
            fn a_word_means_the_value_that_it_is_the_word_for() {
                $(check::<$name>();)+
            }
        }
    };
}

tables! {
    AgentState {
        Running = "running",
        Idle = "idle",
        Working = "working",
        Waiting = "waiting",
        Login = "login",
        Failed = "failed",
    }
    Category {
        ApprovalNeeded = "approval_needed",
        ReviewRequested = "review_requested",
        Error = "error",
        Blocked = "blocked",
        Completed = "completed",
        Informational = "informational",
    }
    ChangeKind {
        Hunk = "hunk",
        Observation = "observation",
    }
    FileOperation {
        Modify = "modify",
        Create = "create",
        Delete = "delete",
        Rename = "rename",
    }
    FileStatus {
        Added = "added",
        Modified = "modified",
        Deleted = "deleted",
        Renamed = "renamed",
        Untracked = "untracked",
    }
    PlanStage {
        Drafted = "drafted",
        AwaitingReview = "awaiting_review",
        Rewritten = "rewritten",
        Approved = "approved",
        Executing = "executing",
        Completed = "completed",
        Rejected = "rejected",
    }
    LineKind {
        Context = "context",
        Added = "added",
        Removed = "removed",
    }
    CheckpointSource {
        Manual = "manual",
        AgentEvent = "agent_event",
        Automatic = "automatic",
    }
    ChildExit {
        Completed = "completed",
        MaxTurns = "max_turns",
        Timeout = "timeout",
        Cancelled = "cancelled",
        Failed = "failed",
    }
    DecisionSource {
        Model = "model",
        Client = "client",
        Agent = "agent",
    }
    DecisionVerdict {
        Allowed = "allowed",
        RequiresApproval = "requires_approval",
        AutoApproved = "auto_approved",
        Denied = "denied",
        Approved = "approved",
        Deferred = "deferred",
        ChangesRequested = "changes_requested",
        AnsweredAtTerminal = "answered_at_terminal",
        Withdrawn = "withdrawn",
    }
    GoalStatus {
        Active = "active",
        Paused = "paused",
        Blocked = "blocked",
        UsageLimited = "usage_limited",
        BudgetLimited = "budget_limited",
        Complete = "complete",
    }
    HandoffStatus {
        Pending = "pending",
        Accepted = "accepted",
        Resolved = "resolved",
    }
    ItemStatus {
        InProgress = "in_progress",
        Completed = "completed",
        Failed = "failed",
    }
    Lane { Scout = "scout", Editor = "editor", Reviewer = "reviewer", Runner = "runner" }
    Mode {
        Default = "default",
        AcceptAll = "accept_all",
        Plan = "plan",
        Bypass = "bypass",
    }
    Profile {
        Interactive = "interactive",
        NonInteractive = "non_interactive",
        Eval = "eval",
    }
    RecordKind {
        Queue = "queue",
        Review = "review",
        Checkpoint = "checkpoint",
        Handoff = "handoff",
        Timeline = "timeline",
        Handled = "handled",
        Accepted = "accepted",
    }
    ReviewStatus {
        Open = "open",
        Approved = "approved",
        ChangesRequested = "changes_requested",
        Deferred = "deferred",
    }
    Source {
        Protocol = "protocol",
        Report = "report",
        Screen = "screen",
        Program = "program",
    }
    PlanStepStatus {
        Pending = "pending",
        InProgress = "in_progress",
        Completed = "completed",
        Blocked = "blocked",
    }
    TaskState {
        Queued = "queued",
        Claimed = "claimed",
        Running = "running",
        Done = "done",
        Failed = "failed",
        Cancelled = "cancelled",
        Lost = "lost",
    }
    Fate {
        Running = "running",
        Done = "done",
        Failed = "failed",
        Cancelled = "cancelled",
        Released = "released",
        Unknown = "unknown",
    }
    Lost {
        Hold = "hold",
        Fail = "fail",
    }
    Lifetime {
        Turn = "turn",
        Thread = "thread",
        Server = "server",
    }
    LogStream {
        Stdout = "stdout",
        Stderr = "stderr",
        Log = "log",
    }
    TestStatus {
        Passed = "passed",
        Failed = "failed",
        Unknown = "unknown",
    }
    TimelineKind {
        SessionCreated = "session_created",
        SessionClosed = "session_closed",
        SessionLaunched = "session_launched",
        CheckpointCreated = "checkpoint_created",
        HandoffCreated = "handoff_created",
        HandoffUpdated = "handoff_updated",
        ReviewRequested = "review_requested",
        ReviewUpdated = "review_updated",
        ApprovalRequested = "approval_requested",
        ApprovalUpdated = "approval_updated",
        StatusProgress = "status_progress",
        StatusCompleted = "status_completed",
        StatusError = "status_error",
        StatusBlocked = "status_blocked",
        StatusNeedsInput = "status_needs_input",
    }
    ToolKind {
        Read = "read",
        Internal = "internal",
        Write = "write",
        State = "state",
        Exec = "exec",
        Network = "network",
        Agents = "agents",
        Unknown = "unknown",
    }
    Reach { Nowhere = "nowhere", Workspace = "workspace", Anywhere = "anywhere" }
    ToolSort { Read = "read", Edit = "edit", Command = "command", Mcp = "mcp", Roles = "roles" }
    TraceStatus {
        Queued = "queued",
        Running = "running",
        Waiting = "waiting_for_approval",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
    }
    TurnErrorKind {
        RuntimeRestart = "runtime_restart",
        ReliabilityLimit = "reliability_limit",
        DeadlineTimeout = "deadline_timeout",
        Provider = "provider",
        Shutdown = "shutdown",
        Other = "other",
    }
    TurnStatus {
        InProgress = "in_progress",
        Completed = "completed",
        Failed = "failed",
        Interrupted = "interrupted",
    }
}
