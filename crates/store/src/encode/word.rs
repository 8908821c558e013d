//! The JSON twins of enums without fields: each variant is a word.

use rookery_model as model;
use serde::{Deserialize, Serialize};

/// Declares twins with the same variants, stored in snake case.
macro_rules! words {
    ($($name:ident of $model:ident { $($word:ident),+ $(,)? })+) => {$(
        #[derive(Clone, Copy, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub(super) enum $name {
            $($word),+
        }

        impl $name {
            pub(super) fn of(value: model::$model) -> Self {
                match value {
                    $(model::$model::$word => $name::$word),+
                }
            }

            pub(super) fn into_model(self) -> model::$model {
                match self {
                    $($name::$word => model::$model::$word),+
                }
            }
        }
    )+};
}

words! {
    ProfileJson of Profile { Interactive, NonInteractive, Eval }
    ModeJson of Mode { Default, AcceptAll, Plan, Bypass }
    DecisionVerdictJson of DecisionVerdict {
        Allowed, RequiresApproval, AutoApproved, Denied, Approved, Deferred, ChangesRequested,
        AnsweredAtTerminal, Withdrawn,
    }
    DecisionSourceJson of DecisionSource { Model, Client, Agent }
    ToolKindJson of ToolKind { Read, Internal, Write, Exec, Network, Agents, Unknown }
    GoalStatusJson of GoalStatus {
        Active, Paused, Blocked, UsageLimited, BudgetLimited, Complete,
    }
    TaskStatusJson of TaskStatus { Pending, InProgress, Completed, Blocked }
    TurnStatusJson of TurnStatus { InProgress, Completed, Failed, Interrupted }
    TurnErrorKindJson of TurnErrorKind {
        RuntimeRestart, ReliabilityLimit, DeadlineTimeout, Provider, Shutdown, Other,
    }
    ItemStatusJson of ItemStatus { InProgress, Completed, Failed }
    CategoryJson of Category {
        ApprovalNeeded, ReviewRequested, Error, Blocked, Completed, Informational,
    }
    SourceJson of Source { Protocol, Report, Screen, Program }
    TestStatusJson of TestStatus { Passed, Failed, Unknown }
    ReviewStatusJson of ReviewStatus { Open, Approved, ChangesRequested, Deferred }
    CheckpointSourceJson of CheckpointSource { Manual, AgentEvent, Automatic }
    HandoffStatusJson of HandoffStatus { Pending, Accepted, Resolved }
    TimelineKindJson of TimelineKind {
        SessionCreated, SessionClosed, SessionLaunched, CheckpointCreated, HandoffCreated,
        HandoffUpdated, ReviewRequested, ReviewUpdated, ApprovalRequested, ApprovalUpdated,
        StatusProgress, StatusCompleted, StatusError, StatusBlocked, StatusNeedsInput,
    }
}
