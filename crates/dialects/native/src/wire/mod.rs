//! What goes over the wire, a file per noun. Members are camelCase; unknown members of requests
//! are ignored. Clients use the same types.

mod bytes;
mod daemon;
mod event;
mod project;
mod request;
mod supervision;
mod terminal;
mod time;

pub use bytes::Base64;
pub use daemon::{Keeper, Shutdown, ShutdownReply, Status, TerminalCounts};
pub use event::{
    Event, EventBody, EventList, EventNotification, EventPage, Subscribe, Subscription, Unsubscribe,
};
pub use project::{Project, ProjectCreate, ProjectDelete, ProjectList, ProjectRename};
pub use request::{
    AnswerRequest, Answered, Mode, Question, Request, RequestKind, RequestList, RequestState,
    Requests, TurnStatus,
};
pub use supervision::{
    Category, ChangedFile, Checkpoint, CheckpointSource, Differences, Handoff, HandoffStatus,
    QueueItem, Related, Review, ReviewComment, ReviewStatus, Source, TestStatus, TestSummary,
};
pub use terminal::{
    Attach, Attached, Cursor, Detach, Dump, Dumped, Exit, Output, OutputNotification, RunState,
    Signal, Size, Terminal, TerminalFilter, TerminalList, TerminalMove, TerminalOnly, TerminalOpen,
    TerminalPaste, TerminalPress, TerminalRename, TerminalResize, TerminalSignal, TerminalState,
    TerminalWrite, Wait, WaitKind, Waited,
};
pub use time::{Time, format_time};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of a method that has nothing to say but that it worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Empty {}
