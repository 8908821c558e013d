//! What faces ask of the daemon beside the link: methods of its own dialect, with the types of what they
//! take. A test of the whole holds them against that dialect's table.

use rookery_view::link::Done;
use rookery_view::link::method::Method;
use serde::Serialize;
use serde_json::{Value, json};

/// Something by its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ById {
    pub id: String,
}

/// A worktree by its path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ByPath {
    pub path: String,
}

/// Something by its id, and the status that it gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewStatus {
    pub id: String,
    pub status: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditList {
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckpointList {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckpointCreate {
    pub tree: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProjectOrder {
    pub projects: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReviewComments {
    pub id: String,
    pub comments: Vec<Comment>,
}

/// A comment on a line of a file, or on the whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comment {
    pub path: Option<String>,
    pub line: Option<u32>,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TerminalMove {
    pub terminal: u64,
    pub index: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TerminalOpen {
    pub argv: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorktreeList {
    pub repo: String,
}

macro_rules! methods {
    ($($NAME:ident = $name:literal: $Params:ty, $sample:expr;)*) => {
        $(pub const $NAME: Method<$Params> = Method::new($name);)*

        /// Each method with params as a face may send them, for tests.
        pub fn samples() -> Vec<(&'static str, Value)> {
            vec![$({
                let call = $NAME.with($sample);
                (call.method, call.params)
            },)*]
        }
    };
}

methods! {
    AUDIT_LIST = "rookery/audit/list": AuditList, AuditList { limit: 500 };
    CHECKPOINTS_CREATE = "rookery/checkpoints/create": CheckpointCreate,
        CheckpointCreate { tree: "/".to_owned() };
    CHECKPOINTS_LIST = "rookery/checkpoints/list": CheckpointList,
        CheckpointList { session: Some("s".to_owned()) };
    CHECKPOINTS_RESTORE = "rookery/checkpoints/restore": ById, ById { id: "c".to_owned() };
    HANDOFFS_SET_STATUS = "rookery/handoffs/setStatus": NewStatus,
        NewStatus { id: "h".to_owned(), status: "accepted".to_owned() };
    PROJECTS_REORDER = "rookery/projects/reorder": ProjectOrder, ProjectOrder { projects: vec![1] };
    QUEUE_RESOLVE = "rookery/queue/resolve": ById, ById { id: "q".to_owned() };
    // What a card is answered with depends on what it asks.
    REQUESTS_ANSWER = "rookery/requests/answer": Value, json!({"id": "r", "approved": true});
    REQUESTS_DEFER = "rookery/requests/defer": ById, ById { id: "r".to_owned() };
    REVIEWS_COMMENT = "rookery/reviews/comment": ReviewComments, ReviewComments {
        id: "r".to_owned(),
        comments: vec![Comment { path: Some("a".to_owned()), line: Some(1), text: "t".to_owned() }],
    };
    REVIEWS_DELIVER = "rookery/reviews/deliver": ById, ById { id: "r".to_owned() };
    REVIEWS_GET = "rookery/reviews/get": ById, ById { id: "r".to_owned() };
    REVIEWS_LIST = "rookery/reviews/list": Done, Done {};
    REVIEWS_SET_STATUS = "rookery/reviews/setStatus": NewStatus,
        NewStatus { id: "r".to_owned(), status: "changes_requested".to_owned() };
    TERMINALS_MOVE = "rookery/terminals/move": TerminalMove, TerminalMove { terminal: 1, index: 0 };
    TERMINALS_OPEN = "rookery/terminals/open": TerminalOpen,
        TerminalOpen { argv: vec!["sh".to_owned()], project: Some(1) };
    WEB_PAIR = "rookery/web/pair": Done, Done {};
    WEB_START = "rookery/web/start": Done, Done {};
    WORKTREES_ATTACH = "rookery/worktrees/attach": ByPath, ByPath { path: "/".to_owned() };
    WORKTREES_LAND = "rookery/worktrees/land": ByPath, ByPath { path: "/".to_owned() };
    WORKTREES_LIST = "rookery/worktrees/list": WorktreeList, WorktreeList { repo: "/".to_owned() };
    WORKTREES_REMOVE = "rookery/worktrees/remove": ByPath, ByPath { path: "/".to_owned() };
}
