//! What clients may assume of each method: how settled it is, whether it may be repeated, what it
//! touches, and what they are told because of it.

use crate::wire::auth;
use crate::wire::notification::{name, twin};
use crate::wire::{import, marketplace, media, memory};

/// How settled a method is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stability {
    /// It stays as it is.
    Stable,
    /// It may change.
    Experimental,
}

/// Whether doing it twice is the same as doing it once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// It is.
    Idempotent,
    /// It is not.
    NonIdempotent,
}

/// What a method touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    ReadOnly,
    /// What the server keeps.
    LocalState,
    /// Programs, or servers elsewhere.
    ExternalProcess,
}

impl Stability {
    /// Its word in the manifest.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Experimental => "experimental",
        }
    }
}

impl Repeat {
    /// Its word in the manifest.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Idempotent => "idempotent",
            Self::NonIdempotent => "nonIdempotent",
        }
    }
}

impl Effect {
    /// Its word in the manifest.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "readOnly",
            Self::LocalState => "localState",
            Self::ExternalProcess => "externalProcess",
        }
    }
}

/// What clients may assume of a method.
#[derive(Debug, Clone, Copy)]
pub struct Traits {
    pub method: &'static str,
    /// The feature it belongs to.
    pub group: &'static str,
    /// How settled it is.
    pub stability: Stability,
    /// Whether it may be repeated.
    pub repeat: Repeat,
    /// What it touches.
    pub effect: Effect,
    /// What it may cause to be told.
    pub notifications: Notifications,
}

/// Names of notifications, in groups.
type Notifications = &'static [&'static [&'static str]];

const NOTHING: Notifications = &[];
const WARNED: Notifications = &[&[name::WARNING]];
const PROCESSES: Notifications = &[&[
    name::PROCESS_STARTED,
    name::PROCESS_OUTPUT,
    name::PROCESS_EXITED,
    name::PROCESS_STOPPING,
    name::PROCESS_STOPPED,
    name::PROCESS_FAILED,
    name::PROCESSES_UPDATED,
]];
const PROVIDERS: Notifications = &[&[name::PROVIDERS_CHANGED]];
const LOGIN: Notifications =
    &[&[auth::name::LOGIN_PENDING, auth::name::LOGIN_COMPLETED], &[name::PROVIDERS_CHANGED]];
const RUNNERS: Notifications = &[&[name::RUNNER_LIFECYCLE]];
const SETTINGS: Notifications = &[&[name::SETTINGS_CHANGED]];
const STATUS: &[&str] = &[name::THREAD_STATUS_CHANGED];
const MARKETPLACE: Notifications = &[&[marketplace::name::UPDATED]];
const INSTALLED: Notifications = &[&[marketplace::name::INSTALLED]];
const PLUGIN: Notifications = &[&[marketplace::name::CHANGED]];
const MODE: &[&str] = &[name::MODE_CHANGED];
const STARTED: Notifications = &[&[name::THREAD_STARTED]];
const ENDED: Notifications = &[&[name::TURN_COMPLETED], STATUS];
const ITEMS: &[&str] = &[name::ITEM_STARTED, name::ITEM_DELTA, name::ITEM_COMPLETED];
const TRACES: &[&str] = &[
    name::TRACE_CREATED,
    name::TRACE_DELTA,
    name::TRACE_STATUS_CHANGED,
    name::TRACE_COMPLETED,
    name::TRACE_FAILED,
];
const CHANGES: &[&str] = &[name::HUNK_RECORDED, name::CHANGE_OBSERVED];
const PLANS: &[&str] = &[name::PLAN_CREATED, name::PLAN_STATUS_CHANGED];
const TURN: Notifications = &[
    &[name::TURN_STARTED],
    STATUS,
    &[memory::name::RECALL_READY, memory::name::OBSERVATION_RECORDED, media::name::CREATED],
    &[import::name::FAILED],
    ITEMS,
    TRACES,
    &twin::APPROVAL_REQUESTED,
    &twin::USER_INPUT_REQUESTED,
    &twin::PLAN_EXIT_REQUESTED,
    &[name::TOOL_EXECUTION_REQUESTED, name::TURN_PARTIAL_RESULT, name::TURN_DEADLINE_EXCEEDED],
    CHANGES,
    PLANS,
    &[name::TURN_COMPLETED],
];

/// What subscribers hear of a task.
const TASK: Notifications = &[&[
    name::TASK_STARTED,
    name::TASK_OUTPUT,
    name::TASK_COMPLETED,
    name::TASK_FAILED,
    name::TASK_CANCELLED,
]];
const TEAM: &[&str] = &[
    name::TEAM_MEMBER_STATUS_CHANGED,
    name::TEAM_MEMBER_MESSAGE_DELTA,
    name::TEAM_MEMBER_COMPLETED,
    name::TEAM_TASK_CHANGED,
];

/// One row.
const fn row(
    method: &'static str,
    group: &'static str,
    traits: (Stability, Repeat, Effect),
    notifications: Notifications,
) -> Traits {
    let (stability, repeat, effect) = traits;
    Traits { method, group, stability, repeat, effect, notifications }
}

const S: Stability = Stability::Stable;
const X: Stability = Stability::Experimental;
const SAME: Repeat = Repeat::Idempotent;
const AGAIN: Repeat = Repeat::NonIdempotent;
const READS: Effect = Effect::ReadOnly;
const KEEPS: Effect = Effect::LocalState;
const RUNS: Effect = Effect::ExternalProcess;

/// The traits of every method, by name.
pub const TRAITS: &[Traits] = &[
    row("agents/list", "discovery", (S, SAME, READS), NOTHING),
    row("auth/codex/login", "auth", (S, AGAIN, RUNS), LOGIN),
    row("auth/codex/logout", "auth", (S, AGAIN, KEEPS), PROVIDERS),
    row("auth/codex/status", "auth", (S, SAME, READS), NOTHING),
    row("auth/supergrok/login", "auth", (S, AGAIN, RUNS), LOGIN),
    row("auth/supergrok/logout", "auth", (S, AGAIN, KEEPS), PROVIDERS),
    row("auth/supergrok/status", "auth", (S, SAME, READS), NOTHING),
    row("command/exec", "exec", (S, AGAIN, RUNS), &[&twin::COMMAND_OUTPUT_DELTA]),
    row("command/exec/resize", "exec", (X, SAME, RUNS), NOTHING),
    row("command/exec/terminate", "exec", (X, SAME, RUNS), NOTHING),
    row("command/exec/write", "exec", (X, AGAIN, RUNS), NOTHING),
    row("commands/expand", "commands", (S, SAME, RUNS), WARNED),
    row("commands/list", "commands", (S, SAME, READS), WARNED),
    row("commands/run", "commands", (S, AGAIN, RUNS), TURN),
    row("extensions/list", "discovery", (S, SAME, READS), NOTHING),
    row("fs/readDirectory", "fs", (S, SAME, READS), NOTHING),
    row("fs/readFile", "fs", (S, SAME, READS), NOTHING),
    row("git/changes/list", "git", (S, SAME, READS), NOTHING),
    row("git/changes/read", "git", (S, SAME, READS), NOTHING),
    row("hunk/list", "plan-review", (S, SAME, READS), NOTHING),
    row("hunk/read", "plan-review", (S, SAME, READS), NOTHING),
    row(
        "hunk/rollback",
        "plan-review",
        (S, AGAIN, KEEPS),
        &[&[name::HUNK_ROLLBACK_REQUESTED, name::HUNK_ROLLBACK_COMPLETED]],
    ),
    row("initialize", "connection", (S, SAME, KEEPS), NOTHING),
    row("initialized", "connection", (S, SAME, READS), NOTHING),
    row("marketplaces/add", "marketplaces", (S, AGAIN, KEEPS), MARKETPLACE),
    row("marketplaces/install_default", "marketplaces", (S, SAME, KEEPS), MARKETPLACE),
    row("marketplaces/list", "marketplaces", (S, SAME, READS), NOTHING),
    row("marketplaces/plugin", "marketplaces", (S, SAME, READS), NOTHING),
    row("marketplaces/refresh", "marketplaces", (S, AGAIN, RUNS), MARKETPLACE),
    row("marketplaces/remove", "marketplaces", (S, SAME, KEEPS), MARKETPLACE),
    row("marketplaces/search", "marketplaces", (S, SAME, READS), NOTHING),
    row("media/attachToTurn", "media", (X, SAME, KEEPS), NOTHING),
    row("media/delete", "media", (X, SAME, KEEPS), &[&[media::name::DELETED]]),
    row("media/image/generate", "media", (X, AGAIN, RUNS), &[&[media::name::CREATED]]),
    row("media/image/providers/list", "media", (X, SAME, READS), NOTHING),
    row("media/import", "media", (X, AGAIN, KEEPS), &[&[media::name::CREATED]]),
    row("media/list", "media", (X, SAME, READS), NOTHING),
    row("media/read", "media", (X, SAME, READS), NOTHING),
    row(
        "media/thumbnail",
        "media",
        (X, SAME, KEEPS),
        &[&[media::name::UPDATED, media::name::PREVIEW_READY]],
    ),
    row("memory/delete", "memory", (X, SAME, KEEPS), &[&[memory::name::DELETED]]),
    row("memory/list", "memory", (X, SAME, READS), NOTHING),
    row("memory/provider/list", "memory", (X, SAME, READS), NOTHING),
    row(
        "memory/provider/set",
        "memory",
        (X, SAME, KEEPS),
        &[&[memory::name::PROVIDER_CHANGED, memory::name::REEMBED_QUEUED]],
    ),
    row("memory/query", "memory", (X, SAME, READS), &[&[memory::name::QUERIED]]),
    row("memory/read", "memory", (X, SAME, READS), NOTHING),
    row("memory/recall/preview", "memory", (X, SAME, READS), NOTHING),
    row("memory/save", "memory", (X, SAME, KEEPS), &[&[memory::name::SAVED]]),
    row("memory/update", "memory", (X, SAME, KEEPS), &[&[memory::name::UPDATED]]),
    row("model/list", "providers", (S, SAME, READS), NOTHING),
    row("model/select", "providers", (X, SAME, KEEPS), PROVIDERS),
    row(
        "plan/review/approve",
        "plan-review",
        (S, AGAIN, KEEPS),
        &[&[name::PLAN_STATUS_CHANGED, name::PLAN_APPROVED], &twin::PLAN_EXIT_RESOLVED, MODE],
    ),
    row("plan/review/comment", "plan-review", (S, AGAIN, KEEPS), &[&[name::PLAN_COMMENT_ADDED]]),
    row("plan/review/read", "plan-review", (S, SAME, READS), NOTHING),
    row(
        "plan/review/reject",
        "plan-review",
        (S, AGAIN, KEEPS),
        &[&[name::PLAN_STATUS_CHANGED, name::PLAN_REJECTED], &twin::PLAN_EXIT_RESOLVED],
    ),
    row(
        "plan/review/rewrite",
        "plan-review",
        (S, AGAIN, KEEPS),
        &[&[name::PLAN_STATUS_CHANGED, name::PLAN_REWRITTEN]],
    ),
    row("plugins/disable", "plugins", (S, SAME, KEEPS), PLUGIN),
    row("plugins/enable", "plugins", (X, SAME, KEEPS), PLUGIN),
    row("plugins/install", "plugins", (S, AGAIN, RUNS), INSTALLED),
    row("plugins/install_all_variants", "plugins", (S, AGAIN, RUNS), INSTALLED),
    row("plugins/list_installed", "plugins", (S, SAME, READS), NOTHING),
    row("plugins/preview_install", "plugins", (S, SAME, RUNS), NOTHING),
    row("plugins/uninstall", "plugins", (S, SAME, KEEPS), PLUGIN),
    row("processes/get", "processes", (X, SAME, READS), NOTHING),
    row("processes/list", "processes", (X, SAME, READS), NOTHING),
    row("processes/stop", "processes", (X, SAME, RUNS), PROCESSES),
    row("processes/stopAll", "processes", (X, SAME, RUNS), PROCESSES),
    row("processes/subscribe", "processes", (X, SAME, KEEPS), PROCESSES),
    row("providers/clear", "providers", (X, SAME, KEEPS), PROVIDERS),
    row("providers/configure", "providers", (S, SAME, KEEPS), PROVIDERS),
    row("providers/list", "providers", (S, SAME, READS), NOTHING),
    row("providers/select", "providers", (S, SAME, KEEPS), PROVIDERS),
    row("runners/delete", "runners", (X, SAME, RUNS), RUNNERS),
    row("runners/detach", "runners", (X, SAME, RUNS), RUNNERS),
    row("runners/export", "runners", (X, AGAIN, RUNS), RUNNERS),
    row("runners/list", "runners", (X, SAME, READS), NOTHING),
    row("runners/pause", "runners", (X, SAME, RUNS), RUNNERS),
    row("runners/ports", "runners", (X, SAME, RUNS), NOTHING),
    row("runners/rejoin", "runners", (X, SAME, RUNS), RUNNERS),
    row("runners/resume", "runners", (X, SAME, RUNS), RUNNERS),
    row("runners/select", "runners", (X, SAME, KEEPS), RUNNERS),
    row("runners/session", "runners", (X, SAME, RUNS), RUNNERS),
    row("runners/snapshot", "runners", (X, AGAIN, RUNS), NOTHING),
    row("runtime/drain", "turns", (X, SAME, KEEPS), ENDED),
    row(
        "session/exit_plan",
        "session",
        (S, SAME, KEEPS),
        &[&twin::PLAN_EXIT_RESOLVED, MODE, STATUS],
    ),
    row("session/get", "session", (S, SAME, READS), NOTHING),
    row(
        "session/resolve_approval",
        "session",
        (S, SAME, KEEPS),
        &[&twin::APPROVAL_RESOLVED, STATUS],
    ),
    row(
        "session/resolve_user_input",
        "session",
        (S, SAME, KEEPS),
        &[&twin::USER_INPUT_RESOLVED, STATUS],
    ),
    row("session/set_mode", "session", (S, SAME, KEEPS), &[MODE, &twin::APPROVAL_RESOLVED, STATUS]),
    row("settings/get", "settings", (S, SAME, READS), NOTHING),
    row(
        "settings/set_default_mode",
        "settings",
        (S, SAME, KEEPS),
        &[&[name::SETTINGS_CHANGED], MODE],
    ),
    row("settings/set_file_backed_dynamic_context", "settings", (X, SAME, KEEPS), SETTINGS),
    row("settings/set_search_index", "settings", (X, SAME, KEEPS), SETTINGS),
    row("settings/set_shell", "settings", (X, SAME, KEEPS), SETTINGS),
    row("settings/set_web_search", "settings", (S, SAME, KEEPS), SETTINGS),
    row("skills/list", "skills", (X, SAME, READS), NOTHING),
    row("skills/read", "skills", (X, SAME, READS), NOTHING),
    row(
        "skills/setEnabled",
        "skills",
        (X, AGAIN, KEEPS),
        &[&[import::name::ENABLED, import::name::DISABLED]],
    ),
    row("tasks/cancel", "tasks", (S, SAME, RUNS), &[&[name::TASK_CANCELLED]]),
    row("tasks/get", "tasks", (S, SAME, READS), NOTHING),
    row("tasks/list", "tasks", (S, SAME, READS), NOTHING),
    row("tasks/submit", "tasks", (S, AGAIN, RUNS), TASK),
    row("tasks/subscribe", "tasks", (S, AGAIN, READS), TASK),
    row("tasks/unsubscribe", "tasks", (X, SAME, READS), NOTHING),
    row("team/cleanup", "teams", (S, AGAIN, KEEPS), &[&[name::TEAM_CLEANUP_COMPLETED], TEAM]),
    row("team/list", "teams", (S, SAME, READS), NOTHING),
    row("team/member/focus", "teams", (S, AGAIN, KEEPS), NOTHING),
    row(
        "team/member/interrupt",
        "teams",
        (S, AGAIN, KEEPS),
        &[TEAM, &[name::TURN_COMPLETED], STATUS],
    ),
    row(
        "team/member/message",
        "teams",
        (S, AGAIN, KEEPS),
        &[TEAM, &[name::TURN_STARTED], STATUS, ITEMS],
    ),
    row(
        "team/member/start",
        "teams",
        (S, AGAIN, KEEPS),
        &[&[name::TEAM_MEMBER_STARTED, name::THREAD_STARTED]],
    ),
    row("team/pane/cleanup", "teams", (S, AGAIN, KEEPS), NOTHING),
    row("team/pane/focus", "teams", (S, AGAIN, KEEPS), NOTHING),
    row("team/read", "teams", (S, SAME, READS), NOTHING),
    row(
        "team/start",
        "teams",
        (S, AGAIN, KEEPS),
        &[&[
            name::TEAM_STARTED,
            name::TEAM_DISPLAY_MODE_CHANGED,
            name::TEAM_MEMBER_STARTED,
            name::THREAD_STARTED,
        ]],
    ),
    row("thread/archive", "threads", (X, SAME, KEEPS), &[&[name::THREAD_ARCHIVED]]),
    row(
        "thread/compact",
        "threads",
        (X, AGAIN, RUNS),
        &[&[name::ITEM_STARTED, name::ITEM_COMPLETED]],
    ),
    row("thread/delete", "threads", (X, SAME, KEEPS), NOTHING),
    row(
        "thread/exit_plan",
        "session",
        (S, SAME, KEEPS),
        &[&twin::PLAN_EXIT_RESOLVED, MODE, STATUS],
    ),
    row("thread/fork", "threads", (X, AGAIN, KEEPS), STARTED),
    row("thread/goal/clear", "threads", (X, SAME, KEEPS), &[&[name::THREAD_GOAL_CLEARED]]),
    row("thread/goal/get", "threads", (X, SAME, READS), NOTHING),
    row("thread/goal/set", "threads", (X, SAME, KEEPS), &[&[name::THREAD_GOAL_UPDATED]]),
    row("thread/history/read", "threads", (X, SAME, READS), NOTHING),
    row("thread/list", "threads", (S, SAME, READS), NOTHING),
    row("thread/name/set", "threads", (X, SAME, KEEPS), &[&[name::THREAD_NAME_UPDATED]]),
    row("thread/read", "threads", (S, SAME, READS), NOTHING),
    row(
        "thread/resolve_approval",
        "session",
        (S, SAME, KEEPS),
        &[&twin::APPROVAL_RESOLVED, STATUS],
    ),
    row(
        "thread/resolve_user_input",
        "session",
        (S, SAME, KEEPS),
        &[&twin::USER_INPUT_RESOLVED, STATUS],
    ),
    row("thread/rollback", "threads", (X, AGAIN, KEEPS), NOTHING),
    row("thread/set_mode", "session", (S, SAME, KEEPS), &[MODE, &twin::APPROVAL_RESOLVED, STATUS]),
    row("thread/start", "threads", (S, AGAIN, KEEPS), STARTED),
    row("thread/state", "session", (S, SAME, READS), NOTHING),
    row("thread/unarchive", "threads", (X, SAME, KEEPS), NOTHING),
    row(
        "tools/call",
        "tools",
        (S, AGAIN, RUNS),
        &[&twin::APPROVAL_REQUESTED, &twin::APPROVAL_RESOLVED],
    ),
    row("tools/list", "tools", (S, SAME, READS), NOTHING),
    row("tools/resolve", "tools", (X, SAME, KEEPS), &[&[name::TOOL_EXECUTION_RESOLVED], STATUS]),
    row("turn/interrupt", "turns", (S, SAME, KEEPS), ENDED),
    row("turn/start", "turns", (S, AGAIN, RUNS), TURN),
    row("turn/steer", "turns", (S, AGAIN, KEEPS), &[&[name::ITEM_COMPLETED]]),
    row("turn/subagentTrace/read", "turns", (X, SAME, READS), NOTHING),
    row("turn/subagentTraces/list", "turns", (X, SAME, READS), NOTHING),
    row("vcs/changes/list", "vcs", (X, SAME, READS), NOTHING),
    row("vcs/changes/read", "vcs", (X, SAME, READS), NOTHING),
    row("vcs/status", "vcs", (X, SAME, READS), NOTHING),
    row(
        "workflow/enable",
        "workflow",
        (X, AGAIN, KEEPS),
        &[&[import::name::ENABLED, import::name::FAILED]],
    ),
    row("workflow/ignore", "workflow", (X, AGAIN, KEEPS), &[&[import::name::DISABLED]]),
    row("workflow/preview", "workflow", (X, SAME, READS), &[&[import::name::PREVIEWED]]),
    row("workflow/refresh", "workflow", (X, AGAIN, KEEPS), &[&[import::name::STALE]]),
    row("workflow/remove", "workflow", (X, AGAIN, KEEPS), &[&[import::name::DISABLED]]),
    row("workflow/scan", "workflow", (X, SAME, READS), &[&[import::name::DETECTED]]),
    row(
        "workflows/approve",
        "workflows",
        (X, AGAIN, RUNS),
        &[&[
            name::WORKFLOW_APPROVED,
            name::WORKFLOW_DENIED,
            name::WORKFLOW_QUEUED,
            name::WORKFLOW_STARTED,
        ]],
    ),
    row("workflows/get", "workflows", (X, SAME, READS), NOTHING),
    row("workflows/list", "workflows", (X, SAME, READS), NOTHING),
    row("workflows/pause", "workflows", (X, SAME, KEEPS), &[&[name::WORKFLOW_PAUSED]]),
    row(
        "workflows/plan",
        "workflows",
        (X, AGAIN, KEEPS),
        &[&[name::WORKFLOW_DRAFTED, name::WORKFLOW_APPROVAL_REQUESTED]],
    ),
    row(
        "workflows/restartAgent",
        "workflows",
        (X, AGAIN, RUNS),
        &[&[
            name::WORKFLOW_AGENT_QUEUED,
            name::WORKFLOW_AGENT_STARTED,
            name::WORKFLOW_AGENT_COMPLETED,
            name::WORKFLOW_AGENT_FAILED,
        ]],
    ),
    row("workflows/resume", "workflows", (X, AGAIN, RUNS), &[&[name::WORKFLOW_RESUMED]]),
    row("workflows/save", "workflows", (X, AGAIN, KEEPS), NOTHING),
    row("workflows/scripts/delete", "workflows", (X, AGAIN, KEEPS), NOTHING),
    row("workflows/scripts/list", "workflows", (X, SAME, READS), NOTHING),
    row("workflows/scripts/read", "workflows", (X, SAME, READS), NOTHING),
    row("workflows/stop", "workflows", (X, SAME, KEEPS), &[&[name::WORKFLOW_STOPPED]]),
    row("workspace/changes/list", "workspace", (S, SAME, READS), &[&[name::CHANGE_OBSERVED]]),
    row("workspace/create", "workspaces", (X, SAME, KEEPS), NOTHING),
    row("workspace/forget", "workspaces", (X, SAME, KEEPS), NOTHING),
    row("workspace/list", "workspaces", (X, SAME, READS), NOTHING),
    row("workspace/update", "workspaces", (X, SAME, KEEPS), NOTHING),
];
