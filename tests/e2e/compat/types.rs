//! Which published type decodes which reply and which notification.

use roder_protocol as published;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The type of one method's result, or of one notification's params.
pub(crate) struct Row {
    /// The method.
    pub(crate) name: &'static str,
    /// Decodes a value with its type.
    pub(crate) decode: fn(&Value) -> Result<(), String>,
}

const fn row(name: &'static str, decode: fn(&Value) -> Result<(), String>) -> Row {
    Row { name, decode }
}

fn of<T: DeserializeOwned>(value: &Value) -> Result<(), String> {
    let decoded = serde_path_to_error::deserialize::<_, T>(value);
    decoded.map(drop).map_err(|error| error.to_string())
}

/// Results of methods; `session/*` are other names of `thread/*`.
pub(crate) const RESULTS: &[Row] = &[
    row("agents/list", of::<published::AgentsListResult>),
    row("command/exec", of::<published::CommandExecResponse>),
    row("commands/expand", of::<published::CommandsExpandResult>),
    row("commands/list", of::<published::CommandsListResult>),
    row("commands/run", of::<published::CommandsRunResult>),
    row("extensions/list", of::<published::ExtensionsListResult>),
    row("fs/readDirectory", of::<published::FsReadDirectoryResponse>),
    row("fs/readFile", of::<published::FsReadFileResponse>),
    row("initialize", of::<published::InitializeResult>),
    row("model/list", of::<published::ModelListResult>),
    row("model/select", of::<published::ModelSelectResult>),
    row("processes/get", of::<published::ProcessesGetResult>),
    row("processes/list", of::<published::ProcessesListResult>),
    row("processes/stop", of::<published::ProcessesStopResult>),
    row("processes/stopAll", of::<published::ProcessesStopAllResult>),
    row("processes/subscribe", of::<published::ProcessesSubscribeResult>),
    row("providers/clear", of::<published::ProviderClearResult>),
    row("providers/configure", of::<published::ProviderConfigureResult>),
    row("providers/list", of::<published::ProvidersListResult>),
    row("providers/select", of::<published::ProviderSelectResult>),
    row("runtime/drain", of::<published::RuntimeDrainResult>),
    row("session/exit_plan", of::<published::ThreadExitPlanResult>),
    row("session/get", of::<published::ThreadStateResult>),
    row("session/resolve_approval", of::<published::ThreadResolveApprovalResult>),
    row("session/resolve_user_input", of::<published::ThreadResolveUserInputResult>),
    row("session/set_mode", of::<published::ThreadSetModeResult>),
    row("settings/get", of::<published::SettingsGetResult>),
    row("settings/set_default_mode", of::<published::SettingsSetDefaultModeResult>),
    row(
        "settings/set_file_backed_dynamic_context",
        of::<published::SettingsSetFileBackedDynamicContextResult>,
    ),
    row("settings/set_search_index", of::<published::SettingsSetSearchIndexResult>),
    row("settings/set_shell", of::<published::SettingsSetShellResult>),
    row("settings/set_web_search", of::<published::SettingsSetWebSearchResult>),
    row("thread/archive", of::<published::ThreadArchiveResult>),
    row("thread/compact", of::<published::ThreadCompactResult>),
    row("thread/exit_plan", of::<published::ThreadExitPlanResult>),
    row("thread/fork", of::<published::ThreadForkResult>),
    row("thread/goal/clear", of::<published::ThreadGoalClearResult>),
    row("thread/goal/get", of::<published::ThreadGoalGetResult>),
    row("thread/goal/set", of::<published::ThreadGoalSetResult>),
    row("thread/history/read", of::<published::ThreadHistoryReadResult>),
    row("thread/list", of::<published::ThreadListResult>),
    row("thread/read", of::<published::ThreadReadResult>),
    row("thread/resolve_approval", of::<published::ThreadResolveApprovalResult>),
    row("thread/resolve_user_input", of::<published::ThreadResolveUserInputResult>),
    row("thread/set_mode", of::<published::ThreadSetModeResult>),
    row("thread/start", of::<published::ThreadStartResult>),
    row("thread/state", of::<published::ThreadStateResult>),
    row("tools/call", of::<published::ToolCallResult>),
    row("tools/list", of::<published::ToolsListResult>),
    row("tools/resolve", of::<published::ToolsResolveResult>),
    row("turn/interrupt", of::<published::TurnInterruptResult>),
    row("turn/start", of::<published::TurnStartResult>),
    row("turn/steer", of::<published::TurnSteerResult>),
    row("workspace/create", of::<published::WorkspaceCreateResult>),
    row("workspace/forget", of::<published::WorkspaceForgetResult>),
    row("workspace/list", of::<published::WorkspaceListResult>),
    row("workspace/update", of::<published::WorkspaceUpdateResult>),
];

/// Params of notifications.
pub(crate) const NOTIFICATIONS: &[Row] = &[
    row("command/exec/outputDelta", of::<published::CommandExecOutputDeltaNotification>),
    row("command/exec/output_delta", of::<published::CommandExecOutputDeltaNotification>),
    row("item/agentMessage/delta", of::<published::ThreadItemEvent>),
    row("item/completed", of::<published::ThreadItemEvent>),
    row("item/reasoning/textDelta", of::<published::ThreadItemEvent>),
    row("item/started", of::<published::ThreadItemEvent>),
    row("session/approvalRequested", of::<published::ApprovalRequestedNotification>),
    row("session/approvalResolved", of::<published::ApprovalResolvedNotification>),
    row("session/planExitRequested", of::<published::PlanExitRequestedNotification>),
    row("session/planExitResolved", of::<published::PlanExitResolvedNotification>),
    row("session/userInputRequested", of::<published::UserInputRequestedNotification>),
    row("session/userInputResolved", of::<published::UserInputResolvedNotification>),
    row("thread/approvalRequested", of::<published::ApprovalRequestedNotification>),
    row("thread/approvalResolved", of::<published::ApprovalResolvedNotification>),
    row("thread/goal/cleared", of::<published::ThreadGoalClearedNotification>),
    row("thread/goal/updated", of::<published::ThreadGoalUpdatedNotification>),
    row("thread/planExitRequested", of::<published::PlanExitRequestedNotification>),
    row("thread/planExitResolved", of::<published::PlanExitResolvedNotification>),
    row("thread/started", of::<published::ThreadStartedNotification>),
    row("thread/status/changed", of::<published::ThreadStatusChangedNotification>),
    row("thread/toolExecutionRequested", of::<published::ToolExecutionRequestedNotification>),
    row("thread/toolExecutionResolved", of::<published::ToolExecutionResolvedNotification>),
    row("thread/userInputRequested", of::<published::UserInputRequestedNotification>),
    row("thread/userInputResolved", of::<published::UserInputResolvedNotification>),
    row("turn/completed", of::<published::TurnCompletedNotification>),
    row("turn/deadlineExceeded", of::<published::TurnDeadlineExceededNotification>),
    row("turn/lifecycleUpdated", of::<published::TurnLifecycleUpdatedNotification>),
    row("turn/partialResult", of::<published::TurnPartialResultNotification>),
    row("turn/started", of::<published::TurnStartedNotification>),
];
