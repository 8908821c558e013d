//! The payloads of all commands: which keys each reads, and what for. One place for the dialect, its
//! clients and its description.

use rookery_wire::ids::{IdKind, Named};
use serde_json::{Map, Value, json};

/// A key of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    pub name: &'static str,
    /// Whether the command fails without it.
    pub is_required: bool,
    /// What it is.
    pub meaning: &'static str,
    /// What it names, if it is an id.
    pub id: Option<IdKind>,
}

impl Key {
    /// The same, as an id of that kind.
    const fn of(self, kind: IdKind) -> Key {
        Key { id: Some(kind), ..self }
    }
}

const fn need(name: &'static str, meaning: &'static str) -> Key {
    Key { name, is_required: true, meaning, id: None }
}

const fn may(name: &'static str, meaning: &'static str) -> Key {
    Key { name, is_required: false, meaning, id: None }
}

const SESSION: Key = need("session", "id or title of a session").of(IdKind::Session);
const SOME_SESSION: Key = may("session", "id or title of a session").of(IdKind::Session);
const WAIT: Key = may("wait", "bool: answer when it is done, not when it was taken");

/// Keys of `newSession` and `newSessionWithTool`.
pub const NEW_SESSION: &[Key] = &[
    may("title", "title that the shell does not change"),
    may("repoPath", "absolute directory, `~` allowed"),
    may("branchName", "branch of the worktree, or label"),
    may("createWorktree", "bool: work in a worktree of its own"),
    may("existingWorktreePath", "worktree of the repository to work in").of(IdKind::Worktree),
    may("toolID", "tool to launch in it").of(IdKind::NoId),
    WAIT,
];
/// Keys of `importDirectory`.
pub const IMPORT: &[Key] = &[
    need("path", "absolute directory with the files of idx0"),
    may("dryRun", "bool: only tell what would be taken over"),
];
/// Keys of `focusSession` and `closeSession`.
pub const ONE_SESSION: &[Key] = &[SESSION];
/// Keys of `createCheckpoint`.
pub const CHECKPOINT: &[Key] = &[
    SESSION,
    may("title", "default Checkpoint"),
    may("summary", "default Manual checkpoint"),
    may("requestReview", "bool: ask for a review of it"),
    WAIT,
];
/// Keys of `createHandoff`.
pub const HANDOFF: &[Key] = &[
    SESSION,
    may("targetSession", "id or title of the session that takes over").of(IdKind::Session),
    may("checkpointID", "checkpoint to go on from").of(IdKind::Checkpoint),
    may("title", "default Handoff"),
    may("summary", "default Handoff requested"),
    may("risks", "comma list"),
    may("nextActions", "comma list"),
];
/// Keys of `requestReview`.
pub const REVIEW: &[Key] = &[
    SESSION,
    may("checkpointID", "checkpoint to look at").of(IdKind::Checkpoint),
    may("summary", "default Review requested"),
];
/// Keys of `listApprovals`.
pub const APPROVALS: &[Key] =
    &[SOME_SESSION, may("status", "pending, approved, denied or deferred")];
/// Keys of `respondApproval`.
pub const RESPOND: &[Key] = &[
    need("approvalID", "which approval").of(IdKind::Request),
    need("status", "approved, denied or deferred"),
    may("message", "reason, sent to the agent"),
];
/// Keys of `waitApproval`.
pub const WAIT_APPROVAL: &[Key] = &[
    need("approvalID", "which approval").of(IdKind::Request),
    may("timeoutMs", "how long to wait, default and at most 600000"),
];
/// Keys of `agentEvent`.
pub const EVENT: &[Key] = &[need("envelope", "the event as JSON")];
/// Keys of `setReviewStatus`.
pub const REVIEW_STATUS: &[Key] = &[
    need("reviewID", "which review").of(IdKind::Review),
    need("status", "approved, changesRequested or deferred"),
    may("comment", "comment that is sent to the agent"),
];
/// Keys of `setHandoffStatus`.
pub const HANDOFF_STATUS: &[Key] = &[
    need("handoffID", "which handoff").of(IdKind::Handoff),
    need("status", "pending, accepted or resolved"),
];
/// Keys of `markQueueResolved`.
pub const QUEUE_ITEM: &[Key] = &[need("queueID", "which queue item").of(IdKind::QueueItem)];
/// Keys of `notify`.
pub const NOTIFY: &[Key] = &[
    need("sessionID", "id of a session").of(IdKind::Session),
    may("title", "default Activity"),
    may("summary", "a few words more"),
    may("category", "default informational"),
    may("activity", "active, waiting, completed, error or clear"),
    may("activityDescription", "default the title"),
];
/// Keys of lists that may be narrowed to a session.
pub const LISTING: &[Key] = &[SOME_SESSION];
/// Keys of `listTimeline`.
pub const TIMELINE: &[Key] = &[SOME_SESSION, may("limit", "how many, default 100")];
/// Keys of `removeWorktree`.
pub const REMOVE_WORKTREE: &[Key] = &[SESSION, may("force", "bool: even if work would be lost")];
/// No keys.
pub const NONE: &[Key] = &[];

/// Which keys carry ids.
pub fn names(keys: &[Key]) -> Vec<Named> {
    let named = |key: &Key| Some(Named { member: key.name, kind: key.id? });
    keys.iter().filter_map(named).collect()
}

/// The JSON Schema of a payload.
pub fn schema(keys: &[Key]) -> Value {
    let described = keys
        .iter()
        .map(|key| (key.name.to_owned(), json!({ "type": "string", "description": key.meaning })));
    let required: Vec<&str> =
        keys.iter().filter(|key| key.is_required).map(|key| key.name).collect();
    json!({
        "type": "object",
        "properties": described.collect::<Map<String, Value>>(),
        "required": required,
        "additionalProperties": { "type": "string" },
    })
}
