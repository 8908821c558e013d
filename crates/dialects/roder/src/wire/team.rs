//! Teams: members, their mailbox and tasks, and what is reported of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A lead with its teammates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Team {
    pub id: String,
    pub lead_thread_id: String,
    pub display_mode: DisplayMode,
    /// The members, the lead first.
    pub members: Vec<Member>,
    pub tasks: Vec<TeamTask>,
}

/// How a client wants to see the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DisplayMode {
    #[default]
    Auto,
    #[serde(alias = "in-process", alias = "inprocess")]
    InProcess,
    Tmux,
    #[serde(alias = "iterm")]
    Iterm2,
}

/// One member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    pub id: String,
    pub role: MemberRole,
    pub name: String,
    /// What it works on.
    #[serde(default)]
    pub task_name: Option<String>,
    /// Its place in the tree of agents.
    #[serde(default)]
    pub agent_path: Option<String>,
    pub thread_id: String,
    #[serde(default)]
    pub parent_thread_id: Option<String>,
    #[serde(default)]
    pub current_turn_id: Option<String>,
    #[serde(default)]
    pub model_provider: Option<String>,
    #[serde(default)]
    pub model: Option<String>,
    pub policy_mode: String,
    pub status: MemberStatus,
    /// What its last turn said at its end.
    #[serde(default)]
    pub final_message: Option<String>,
    /// Why its last turn failed.
    #[serde(default)]
    pub terminal_error: Option<String>,
    #[serde(default)]
    pub pane_id: Option<String>,
}

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemberRole {
    Lead,
    Teammate,
}

/// What a member does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemberStatus {
    Idle,
    Running,
    /// A request of its thread waits for an answer.
    Blocked,
    Completed,
    Failed,
    Interrupted,
    /// Its thread was archived or deleted.
    Closed,
}

/// Message to a member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MailboxMessage {
    pub id: String,
    pub team_id: String,
    #[serde(default)]
    pub from_member_id: Option<String>,
    pub to_member_id: String,
    pub kind: MessageKind,
    pub text: String,
    /// Whether a turn has taken it up.
    pub delivered: bool,
    pub timestamp: String,
}

/// What kind of message it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MessageKind {
    Message,
    NewTask,
    FinalAnswer,
}

/// A task of the lead's ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamTask {
    pub id: String,
    pub title: String,
    pub status: TeamTaskStatus,
    #[serde(default)]
    pub assignee_member_id: Option<String>,
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TeamTaskStatus {
    Pending,
    InProgress,
    Completed,
    /// It cannot be done: the lead calls it blocked.
    Failed,
}

/// Params of `team/start`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamStartParams {
    /// The thread of the lead; a new one if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead_thread_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_mode: Option<DisplayMode>,
    /// The first teammates.
    #[serde(default, deserialize_with = "super::or_default")]
    pub members: Vec<NewMember>,
}

/// A teammate to be started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewMember {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Result of `team/start`, and params of `team/started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamResult {
    pub team: Team,
}

/// Params of `team/list`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamListParams {
    /// How many at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// Result of `team/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamListResult {
    /// The team that something last happened to first.
    pub data: Vec<Team>,
    /// Always null: all teams fit on a page.
    pub next_cursor: Option<String>,
}

/// Params of `team/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamReadParams {
    pub team_id: String,
}

/// Result of `team/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamReadResult {
    /// Null if there is none.
    pub team: Option<Team>,
    pub messages: Vec<MailboxMessage>,
}

/// Params of `team/member/start`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamMemberStartParams {
    pub team_id: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Result of `team/member/start`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamMemberStartResult {
    pub member: Member,
}

/// Params of `team/member/message`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamMemberMessageParams {
    pub team_id: String,
    pub member_id: String,
    pub text: String,
    /// The turn that is expected to run; nothing is sent if another does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_turn_id: Option<String>,
}

/// Result of `team/member/message`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamMemberMessageResult {
    /// Turn that receives it.
    pub turn_id: String,
}

/// Params of `team/member/interrupt`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamMemberInterruptParams {
    pub team_id: String,
    pub member_id: String,
    /// Only this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
}

/// Result of `team/member/interrupt`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamMemberInterruptResult {
    /// Whether a turn ran.
    pub interrupted: bool,
    pub turn_id: Option<String>,
}

/// Params of `team/member/focus`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamMemberFocusParams {
    pub team_id: String,
    pub member_id: String,
}

/// Result of `team/member/focus`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamMemberFocusResult {
    pub focused_member_id: String,
}

/// Params of `team/cleanup`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamCleanupParams {
    pub team_id: String,
    /// Whether teammates at work are interrupted.
    #[serde(default, deserialize_with = "super::or_default")]
    pub force: bool,
}

/// Result of `team/cleanup`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamCleanupResult {
    /// Whether there was such a team.
    pub cleaned: bool,
}

/// Params of `team/pane/focus` and `team/pane/cleanup`, which no server without panes reads.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct TeamPaneParams {}

impl<'de> Deserialize<'de> for TeamPaneParams {
    /// Whatever is sent: the answer is the same.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| TeamPaneParams {})
    }
}

/// Params of `team/member/started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamMemberStarted {
    pub team_id: String,
    pub member: Member,
}

/// Params of `team/member/statusChanged`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamMemberStatusChanged {
    pub team_id: String,
    pub member_id: String,
    pub status: MemberStatus,
}

/// Params of `team/member/messageDelta`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamMemberMessageDelta {
    pub team_id: String,
    pub member_id: String,
    pub turn_id: String,
    pub delta: String,
}

/// Params of `team/member/completed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamMemberCompleted {
    pub team_id: String,
    pub member_id: String,
    pub turn_id: Option<String>,
    pub status: MemberStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Params of `team/displayModeChanged`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamDisplayModeChanged {
    pub team_id: String,
    pub display_mode: DisplayMode,
}

/// Params of `team/taskChanged`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamTaskChanged {
    pub team_id: String,
    pub task: TeamTask,
}

/// Params of `team/cleanupCompleted`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamCleanupCompleted {
    pub team_id: String,
    pub forced: bool,
}
