//! The closed lists of this dialect: kinds of asks and says, tools, and events. Clients drop whatever
//! holds another word, so that there are enums for all of them and no free text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// A question with suggestions.
    Followup,
    /// May this command be run?
    Command,
    /// A command runs; answered by itself.
    CommandOutput,
    /// The work is done.
    CompletionResult,
    /// May this tool be used?
    Tool,
    /// The provider failed.
    ApiReqFailed,
    /// Shall the task go on?
    ResumeTask,
    /// Shall a task that was done go on?
    ResumeCompletedTask,
    /// Too many mistakes were made.
    MistakeLimitReached,
    /// May this tool of a server be used?
    UseMcpServer,
    /// A limit on what is done without asking was reached.
    AutoApprovalMaxReqReached,
}

/// What a task does while an ask of a kind waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Waiting {
    /// It waits for an answer.
    Interactive,
    /// It can be resumed.
    Resumable,
    /// It has nothing to do.
    Idle,
}

impl Ask {
    /// What a task does while it waits; none if it does not wait.
    #[must_use]
    pub fn waiting(self) -> Option<Waiting> {
        Some(match self {
            Ask::Followup | Ask::Command | Ask::Tool | Ask::UseMcpServer => Waiting::Interactive,
            Ask::ResumeTask => Waiting::Resumable,
            Ask::CompletionResult
            | Ask::ApiReqFailed
            | Ask::ResumeCompletedTask
            | Ask::MistakeLimitReached
            | Ask::AutoApprovalMaxReqReached => Waiting::Idle,
            Ask::CommandOutput => return None,
        })
    }
}

/// What is said. Some are words of the original that Rookery has no reason to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum Say {
    Error,
    ApiReqStarted,
    ApiReqFinished,
    ApiReqRetried,
    ApiReqRetryDelayed,
    ApiReqRateLimitWait,
    ApiReqDeleted,
    Text,
    Image,
    Reasoning,
    CompletionResult,
    UserFeedback,
    UserFeedbackDiff,
    CommandOutput,
    ShellIntegrationWarning,
    McpServerRequestStarted,
    McpServerResponse,
    SubtaskResult,
    CheckpointSaved,
    RooignoreError,
    DiffError,
    CondenseContext,
    CondenseContextError,
    SlidingWindowTruncation,
    CodebaseSearchResult,
    UserEditTodos,
    TooManyToolsWarning,
    Tool,
}

/// Tools by the names that counts and failures go by.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum ToolName {
    ExecuteCommand,
    ReadFile,
    ReadCommandOutput,
    WriteToFile,
    ApplyDiff,
    Edit,
    SearchAndReplace,
    SearchReplace,
    EditFile,
    ApplyPatch,
    SearchFiles,
    ListFiles,
    UseMcpTool,
    AccessMcpResource,
    AskFollowupQuestion,
    AttemptCompletion,
    SwitchMode,
    NewTask,
    CodebaseSearch,
    UpdateTodoList,
    RunSlashCommand,
    Skill,
    GenerateImage,
    CustomTool,
}

/// Tools by the names that asks about them go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the words say it")]
pub enum SayTool {
    EditedExistingFile,
    AppliedDiff,
    NewFileCreated,
    CodebaseSearch,
    ReadFile,
    ReadCommandOutput,
    ListFilesTopLevel,
    ListFilesRecursive,
    SearchFiles,
    SwitchMode,
    NewTask,
    FinishTask,
    GenerateImage,
    ImageGenerated,
    RunSlashCommand,
    UpdateTodoList,
    Skill,
}
