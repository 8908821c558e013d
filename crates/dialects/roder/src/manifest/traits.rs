//! What clients may assume of each method: how settled it is, whether it may be repeated, what it
//! touches, and what they are told because of it.

use crate::wire::notification::{name, twin};

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
    /// The method.
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
    pub notifications: Told,
}

/// Names of notifications, in groups.
type Told = &'static [&'static [&'static str]];

const NOTHING: Told = &[];
const WARNED: Told = &[&[name::WARNING]];
const PROVIDERS: Told = &[&[name::PROVIDERS_CHANGED]];
const SETTINGS: Told = &[&[name::SETTINGS_CHANGED]];
const STATUS: &[&str] = &[name::THREAD_STATUS_CHANGED];
const MODE: &[&str] = &[name::MODE_CHANGED];
const STARTED: Told = &[&[name::THREAD_STARTED]];
const ENDED: Told = &[&[name::TURN_COMPLETED], STATUS];
const ITEMS: &[&str] = &[name::ITEM_STARTED, name::ITEM_DELTA, name::ITEM_COMPLETED];
const TURN: Told = &[
    &[name::TURN_STARTED],
    STATUS,
    ITEMS,
    &twin::APPROVAL_REQUESTED,
    &twin::USER_INPUT_REQUESTED,
    &twin::PLAN_EXIT_REQUESTED,
    &[name::TOOL_EXECUTION_REQUESTED, name::TURN_PARTIAL_RESULT, name::TURN_DEADLINE_EXCEEDED],
    &[name::TURN_COMPLETED],
];

/// One row.
const fn row(
    method: &'static str,
    group: &'static str,
    traits: (Stability, Repeat, Effect),
    notifications: Told,
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
    row("initialize", "connection", (S, SAME, KEEPS), NOTHING),
    row("initialized", "connection", (S, SAME, READS), NOTHING),
    row("model/list", "providers", (S, SAME, READS), NOTHING),
    row("model/select", "providers", (X, SAME, KEEPS), PROVIDERS),
    row("processes/get", "processes", (X, SAME, READS), NOTHING),
    row("processes/list", "processes", (X, SAME, READS), NOTHING),
    row("processes/stop", "processes", (X, SAME, RUNS), &[&[name::PROCESSES_UPDATED]]),
    row("processes/stopAll", "processes", (X, SAME, RUNS), &[&[name::PROCESSES_UPDATED]]),
    row("processes/subscribe", "processes", (X, SAME, KEEPS), &[&[name::PROCESSES_UPDATED]]),
    row("providers/clear", "providers", (X, SAME, KEEPS), PROVIDERS),
    row("providers/configure", "providers", (S, SAME, KEEPS), PROVIDERS),
    row("providers/list", "providers", (S, SAME, READS), NOTHING),
    row("providers/select", "providers", (S, SAME, KEEPS), PROVIDERS),
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
    row("workspace/create", "workspaces", (X, SAME, KEEPS), NOTHING),
    row("workspace/forget", "workspaces", (X, SAME, KEEPS), NOTHING),
    row("workspace/list", "workspaces", (X, SAME, READS), NOTHING),
    row("workspace/update", "workspaces", (X, SAME, KEEPS), NOTHING),
];
