//! Params of notifications that belong to no request, and the names of all of them.

use super::{
    Moment,
    settings::{SearchIndexSettings, ShellSettings, WebSearchSettings},
    thread::ThreadStatus,
    turn::{Lifecycle, Turn},
    upkeep::Goal,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Params of `thread/status/changed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadStatusChanged {
    pub thread_id: String,
    /// Its status now.
    pub status: ThreadStatus,
}

/// Params of `turn/started` and `turn/completed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnNotification {
    pub thread_id: String,
    /// The turn, without its items.
    pub turn: Turn,
}

/// Params of `thread/archived` and `thread/goal/cleared`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadArchived {
    pub thread_id: String,
}

/// Params of `thread/goal/updated`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadGoalUpdated {
    pub thread_id: String,
    /// Its goal now.
    pub goal: Goal,
}

/// Params of `turn/partialResult`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnPartialResult {
    pub thread_id: String,
    pub turn_id: String,
    /// What there is so far.
    pub summary: String,
}

/// Params of `turn/deadlineExceeded`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnDeadlineExceeded {
    pub thread_id: String,
    pub turn_id: String,
    /// When it should have been done.
    pub deadline: Moment,
    /// What there was by then.
    pub partial_result: String,
}

/// Params of `turn/lifecycleUpdated`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnLifecycleUpdated {
    pub thread_id: String,
    pub turn_id: String,
    /// What became of it.
    pub lifecycle: Lifecycle,
}

/// Params of `providers/changed`: what changed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct ProvidersChanged {
    /// The provider used unless a thread says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_model: Option<String>,
    /// How hard it thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_reasoning: Option<String>,
    /// The provider whose key was set or removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Whether it can be called now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authenticated: Option<bool>,
}

/// Params of `settings/changed`: what changed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct SettingsChanged {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_search: Option<WebSearchSettings>,
    /// The index of files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_index: Option<SearchIndexSettings>,
    /// The shell of tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<ShellSettings>,
    /// The policy mode at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_mode: Option<String>,
    /// Whether long outputs are kept in files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_backed_dynamic_context: Option<bool>,
}

/// Params of `warning`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// What is wrong.
    pub message: String,
    /// The thread it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
}

/// Params of `server/notificationsDropped`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotificationsDropped {
    /// How many deltas the client does not get because it was too far behind.
    pub count: u64,
}

/// The names of notifications.
pub mod name {
    /// Carries a [`ThreadResult`](crate::wire::upkeep::ThreadResult).
    pub const THREAD_STARTED: &str = "thread/started";
    /// Carries a [`ThreadStatusChanged`](super::ThreadStatusChanged).
    pub const THREAD_STATUS_CHANGED: &str = "thread/status/changed";
    /// Carries a [`ThreadArchived`](super::ThreadArchived).
    pub const THREAD_ARCHIVED: &str = "thread/archived";
    /// Carries a [`ThreadNameResult`](crate::wire::upkeep::ThreadNameResult).
    pub const THREAD_NAME_UPDATED: &str = "thread/name/updated";
    /// Carries a [`ThreadGoalUpdated`](super::ThreadGoalUpdated).
    pub const THREAD_GOAL_UPDATED: &str = "thread/goal/updated";
    /// Carries a [`ThreadArchived`](super::ThreadArchived).
    pub const THREAD_GOAL_CLEARED: &str = "thread/goal/cleared";
    /// Carries a [`TurnNotification`](super::TurnNotification).
    pub const TURN_STARTED: &str = "turn/started";
    /// Carries a [`TurnNotification`](super::TurnNotification).
    pub const TURN_COMPLETED: &str = "turn/completed";
    /// Carries a [`TurnPartialResult`](super::TurnPartialResult).
    pub const TURN_PARTIAL_RESULT: &str = "turn/partialResult";
    /// Carries a [`TurnDeadlineExceeded`](super::TurnDeadlineExceeded).
    pub const TURN_DEADLINE_EXCEEDED: &str = "turn/deadlineExceeded";
    /// Carries a [`TurnLifecycleUpdated`](super::TurnLifecycleUpdated).
    pub const TURN_LIFECYCLE_UPDATED: &str = "turn/lifecycleUpdated";
    /// Carries a [`TraceCreated`](crate::wire::trace::TraceCreated).
    pub const TRACE_CREATED: &str = "turn/subagentTraceCreated";
    /// Carries a [`TraceDeltaSent`](crate::wire::trace::TraceDeltaSent).
    pub const TRACE_DELTA: &str = "turn/subagentTraceDelta";
    /// Carries a [`TraceStatusChanged`](crate::wire::trace::TraceStatusChanged).
    pub const TRACE_STATUS_CHANGED: &str = "turn/subagentTraceStatusChanged";
    /// Carries a [`TraceCreated`](crate::wire::trace::TraceCreated).
    pub const TRACE_COMPLETED: &str = "turn/subagentTraceCompleted";
    /// Carries a [`TraceFailed`](crate::wire::trace::TraceFailed).
    pub const TRACE_FAILED: &str = "turn/subagentTraceFailed";
    /// Carries an [`ItemNotification`](crate::wire::item::ItemNotification).
    pub const ITEM_STARTED: &str = "item/started";
    /// Carries an [`ItemNotification`](crate::wire::item::ItemNotification).
    pub const ITEM_COMPLETED: &str = "item/completed";
    /// Carries an [`ItemNotification`](crate::wire::item::ItemNotification).
    pub const ITEM_DELTA: &str = "item/agentMessage/delta";
    /// Carries an [`ItemNotification`](crate::wire::item::ItemNotification), on demand.
    pub const REASONING_TEXT_DELTA: &str = "item/reasoning/textDelta";
    /// Carries an [`ItemNotification`](crate::wire::item::ItemNotification), on demand.
    pub const REASONING_SUMMARY_TEXT_DELTA: &str = "item/reasoning/summaryTextDelta";
    /// Carries an [`ItemNotification`](crate::wire::item::ItemNotification), on demand.
    pub const REASONING_SUMMARY_PART_ADDED: &str = "item/reasoning/summaryPartAdded";
    /// Carries a [`HunkRecorded`](crate::wire::hunk::HunkRecorded).
    pub const HUNK_RECORDED: &str = "hunk/recorded";
    /// Carries a [`HunkRollback`](crate::wire::hunk::HunkRollback).
    pub const HUNK_ROLLBACK_REQUESTED: &str = "hunk/rollbackRequested";
    /// Carries a [`HunkRollback`](crate::wire::hunk::HunkRollback).
    pub const HUNK_ROLLBACK_COMPLETED: &str = "hunk/rollbackCompleted";
    /// Carries a [`WorkspaceChangeObserved`](crate::wire::hunk::WorkspaceChangeObserved).
    pub const CHANGE_OBSERVED: &str = "workspace/changeObserved";
    /// Carries a [`PlanReviewCreated`](crate::wire::plan::PlanReviewCreated).
    pub const PLAN_CREATED: &str = "plan/reviewCreated";
    /// Carries a [`PlanReviewChanged`](crate::wire::plan::PlanReviewChanged).
    pub const PLAN_STATUS_CHANGED: &str = "plan/reviewStatusChanged";
    /// Carries a [`PlanReviewChanged`](crate::wire::plan::PlanReviewChanged).
    pub const PLAN_COMMENT_ADDED: &str = "plan/reviewCommentAdded";
    /// Carries a [`PlanReviewChanged`](crate::wire::plan::PlanReviewChanged).
    pub const PLAN_REWRITTEN: &str = "plan/reviewRewritten";
    /// Carries a [`PlanReviewChanged`](crate::wire::plan::PlanReviewChanged).
    pub const PLAN_APPROVED: &str = "plan/reviewApproved";
    /// Carries a [`PlanReviewChanged`](crate::wire::plan::PlanReviewChanged).
    pub const PLAN_REJECTED: &str = "plan/reviewRejected";
    /// Carries a [`ToolExecutionRequested`](crate::wire::tool::ToolExecutionRequested).
    pub const TOOL_EXECUTION_REQUESTED: &str = "thread/toolExecutionRequested";
    /// Carries a [`ToolExecutionResolved`](crate::wire::tool::ToolExecutionResolved).
    pub const TOOL_EXECUTION_RESOLVED: &str = "thread/toolExecutionResolved";
    /// Carries a [`ModeChanged`](crate::wire::session::ModeChanged).
    pub const MODE_CHANGED: &str = "session/modeChanged";
    /// Carries a [`ProvidersChanged`](super::ProvidersChanged).
    pub const PROVIDERS_CHANGED: &str = "providers/changed";
    /// Carries a [`SettingsChanged`](super::SettingsChanged).
    pub const SETTINGS_CHANGED: &str = "settings/changed";
    /// Carries a [`RunnerLifecycle`](crate::wire::runner::RunnerLifecycle).
    pub const RUNNER_LIFECYCLE: &str = "runner/lifecycle";
    /// Carries a [`ProcessStarted`](crate::wire::process::ProcessStarted), to subscribers.
    pub const PROCESS_STARTED: &str = "process.started";
    /// Carries a [`ProcessOutput`](crate::wire::process::ProcessOutput), to subscribers.
    pub const PROCESS_OUTPUT: &str = "process.output";
    /// Carries a [`ProcessExited`](crate::wire::process::ProcessExited), to subscribers.
    pub const PROCESS_EXITED: &str = "process.exited";
    /// Carries a [`ProcessStopping`](crate::wire::process::ProcessStopping), to subscribers.
    pub const PROCESS_STOPPING: &str = "process.stopping";
    /// Carries a [`ProcessStopped`](crate::wire::process::ProcessStopped), to subscribers.
    pub const PROCESS_STOPPED: &str = "process.stopped";
    /// Carries a [`ProcessFailed`](crate::wire::process::ProcessFailed), to subscribers.
    pub const PROCESS_FAILED: &str = "process.failed";
    /// Carries a [`ProcessesUpdated`](crate::wire::process::ProcessesUpdated).
    pub const PROCESSES_UPDATED: &str = "processes/updated";
    /// Carries a [`TaskStarted`](crate::wire::task::TaskStarted), to subscribers.
    pub const TASK_STARTED: &str = "task.started";
    /// Carries a [`TaskOutput`](crate::wire::task::TaskOutput), to subscribers.
    pub const TASK_OUTPUT: &str = "task.output";
    /// Carries a [`TaskCompleted`](crate::wire::task::TaskCompleted), to subscribers.
    pub const TASK_COMPLETED: &str = "task.completed";
    /// Carries a [`TaskFailed`](crate::wire::task::TaskFailed), to subscribers.
    pub const TASK_FAILED: &str = "task.failed";
    /// Carries a [`TaskCancelled`](crate::wire::task::TaskCancelled), to subscribers.
    pub const TASK_CANCELLED: &str = "task.cancelled";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_DRAFTED: &str = "workflows/drafted";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_APPROVAL_REQUESTED: &str = "workflows/approvalRequested";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_APPROVED: &str = "workflows/approved";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_DENIED: &str = "workflows/denied";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_QUEUED: &str = "workflows/queued";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_STARTED: &str = "workflows/started";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_PHASE_STARTED: &str = "workflows/phaseStarted";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_PHASE_COMPLETED: &str = "workflows/phaseCompleted";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_AGENT_QUEUED: &str = "workflows/agentQueued";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_AGENT_STARTED: &str = "workflows/agentStarted";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_AGENT_COMPLETED: &str = "workflows/agentCompleted";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_AGENT_FAILED: &str = "workflows/agentFailed";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_OUTPUT_RECORDED: &str = "workflows/outputRecorded";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_CHECKPOINT_RECORDED: &str = "workflows/checkpointRecorded";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_PAUSED: &str = "workflows/paused";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_RESUMED: &str = "workflows/resumed";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_STOPPED: &str = "workflows/stopped";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_COMPLETED: &str = "workflows/completed";
    /// Carries a [`WorkflowNotification`](crate::wire::workflow::WorkflowNotification).
    pub const WORKFLOW_FAILED: &str = "workflows/failed";
    /// Carries a [`TeamResult`](crate::wire::team::TeamResult).
    pub const TEAM_STARTED: &str = "team/started";
    /// Carries a [`TeamMemberStarted`](crate::wire::team::TeamMemberStarted).
    pub const TEAM_MEMBER_STARTED: &str = "team/member/started";
    /// Carries a [`TeamMemberStatusChanged`](crate::wire::team::TeamMemberStatusChanged).
    pub const TEAM_MEMBER_STATUS_CHANGED: &str = "team/member/statusChanged";
    /// Carries a [`TeamMemberMessageDelta`](crate::wire::team::TeamMemberMessageDelta).
    pub const TEAM_MEMBER_MESSAGE_DELTA: &str = "team/member/messageDelta";
    /// Carries a [`TeamMemberCompleted`](crate::wire::team::TeamMemberCompleted).
    pub const TEAM_MEMBER_COMPLETED: &str = "team/member/completed";
    /// Carries a [`TeamDisplayModeChanged`](crate::wire::team::TeamDisplayModeChanged).
    pub const TEAM_DISPLAY_MODE_CHANGED: &str = "team/displayModeChanged";
    /// Carries a [`TeamTaskChanged`](crate::wire::team::TeamTaskChanged).
    pub const TEAM_TASK_CHANGED: &str = "team/taskChanged";
    /// Carries a [`TeamCleanupCompleted`](crate::wire::team::TeamCleanupCompleted).
    pub const TEAM_CLEANUP_COMPLETED: &str = "team/cleanupCompleted";
    /// Carries a [`Warning`](super::Warning).
    pub const WARNING: &str = "warning";
    /// Carries a [`NotificationsDropped`](super::NotificationsDropped).
    pub const NOTIFICATIONS_DROPPED: &str = "server/notificationsDropped";
}

/// Notifications with a name in each generation; both are sent, the older first.
pub mod twin {
    /// Carries an [`ApprovalRequested`](crate::wire::session::ApprovalRequested).
    pub const APPROVAL_REQUESTED: [&str; 2] =
        ["session/approvalRequested", "thread/approvalRequested"];
    /// Carries an [`ApprovalResolved`](crate::wire::session::ApprovalResolved).
    pub const APPROVAL_RESOLVED: [&str; 2] =
        ["session/approvalResolved", "thread/approvalResolved"];
    /// Carries a [`UserInputRequested`](crate::wire::session::UserInputRequested).
    pub const USER_INPUT_REQUESTED: [&str; 2] =
        ["session/userInputRequested", "thread/userInputRequested"];
    /// Carries a [`UserInputResolved`](crate::wire::session::UserInputResolved).
    pub const USER_INPUT_RESOLVED: [&str; 2] =
        ["session/userInputResolved", "thread/userInputResolved"];
    /// Carries a [`PlanExitRequested`](crate::wire::session::PlanExitRequested).
    pub const PLAN_EXIT_REQUESTED: [&str; 2] =
        ["session/planExitRequested", "thread/planExitRequested"];
    /// Carries a [`PlanExitResolved`](crate::wire::session::PlanExitResolved).
    pub const PLAN_EXIT_RESOLVED: [&str; 2] =
        ["session/planExitResolved", "thread/planExitResolved"];
    /// Carries a [`CommandExecOutputDelta`](crate::wire::exec::CommandExecOutputDelta).
    pub const COMMAND_OUTPUT_DELTA: [&str; 2] =
        ["command/exec/output_delta", "command/exec/outputDelta"];
}
