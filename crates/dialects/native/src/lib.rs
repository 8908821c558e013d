//! Rookery's own JSON-RPC methods, `rookery/*`: status, events, projects, terminals, supervision.
//!
//! The command line and scripts speak these. [`METHODS`] is the whole dialect as a table;
//! [`wire`] holds its types, which clients use as well. It knows no socket and no other dialect,
//! and keeps nothing that outlives its connection.

#![deny(clippy::wildcard_enum_match_arm)]

mod context;
mod errors;
mod events;
mod ids;
mod ops;
mod signals;
mod streams;
mod text;
pub mod wire;

use rookery_wire::{method, rpc::Method};

pub use context::{Control, Cx, Ending};
pub use errors::{Error, code};
pub use ids::{ProjectRef, TerminalRef};

use wire::{
    AnswerRequest, Attach, AuditList, CheckpointCreate, CheckpointDelete, CheckpointDiff,
    CheckpointList, CheckpointPrune, CheckpointRestore, CheckpointShow, DeferRequest, Detach, Dump,
    EventList, GetStatus, HandoffCreate, HandoffList, HandoffSetStatus, ListProjects,
    ListProviders, ProjectCreate, ProjectDelete, ProjectRename, QueueList, QueueResolve,
    RequestList, ReviewAddComments, ReviewDeliver, ReviewGet, ReviewList, ReviewRequest,
    ReviewSetStatus, SessionClose, SessionCreate, SessionList, Shutdown, Subscribe,
    TerminalActivate, TerminalClose, TerminalFilter, TerminalGet, TerminalKill, TerminalMove,
    TerminalOpen, TerminalPaste, TerminalPress, TerminalRename, TerminalResize, TerminalSignal,
    TerminalWrite, TimelineList, Unsubscribe, Wait, WorktreeAttach, WorktreeBootstrap,
    WorktreeCreate, WorktreeLand, WorktreeList, WorktreeRemove,
};

/// Every method of this dialect.
///
/// An endpoint that serves them must not write queued messages before replies
/// (`outbox_first`): a subscription's reply comes before its first notification.
pub const METHODS: &[Method<Cx>] = &[
    method!(GetStatus, LOOK => ops::daemon::status),
    method!(Shutdown, OWN => ops::daemon::shutdown),
    method!(EventList, LOOK => ops::events::list),
    method!(Subscribe, LOOK => ops::events::subscribe),
    method!(Unsubscribe, LOOK => ops::events::unsubscribe),
    method!(ListProjects, LOOK => ops::projects::list),
    method!(ProjectCreate, FULL => ops::projects::create),
    method!(ProjectRename, FULL => ops::projects::rename),
    method!(ProjectDelete, FULL => ops::projects::delete),
    method!(RequestList, LOOK => ops::requests::list),
    method!(AnswerRequest, DECIDE => ops::requests::answer),
    method!(DeferRequest, DECIDE => ops::requests::defer),
    method!(QueueList, LOOK => ops::queue::list),
    method!(QueueResolve, DECIDE => ops::queue::resolve),
    method!(TimelineList, LOOK => ops::queue::timeline),
    method!(SessionList, LOOK => ops::sessions::list),
    method!(SessionCreate, INSIDE => ops::sessions::create),
    method!(SessionClose, INSIDE => ops::sessions::close),
    method!(ReviewList, LOOK => ops::reviews::list),
    method!(ReviewGet, LOOK => ops::reviews::get),
    method!(ReviewRequest, REPORT => ops::reviews::request),
    method!(ReviewAddComments, FULL => ops::reviews::comment),
    method!(ReviewSetStatus, DECIDE => ops::reviews::set_status),
    method!(ReviewDeliver, FULL => ops::reviews::deliver),
    method!(CheckpointList, LOOK => ops::checkpoints::list),
    method!(CheckpointCreate, REPORT => ops::checkpoints::create),
    method!(CheckpointShow, LOOK => ops::checkpoints::show),
    method!(CheckpointDiff, LOOK => ops::checkpoints::diff),
    method!(CheckpointRestore, FULL => ops::checkpoints::restore),
    method!(CheckpointDelete, FULL => ops::checkpoints::delete),
    method!(CheckpointPrune, FULL => ops::checkpoints::prune),
    method!(WorktreeList, LOOK => ops::worktrees::list),
    method!(WorktreeCreate, FULL => ops::worktrees::create),
    method!(WorktreeBootstrap, FULL => ops::worktrees::bootstrap),
    method!(WorktreeAttach, FULL => ops::worktrees::attach),
    method!(WorktreeLand, FULL => ops::worktrees::land),
    method!(WorktreeRemove, FULL => ops::worktrees::remove),
    method!(HandoffList, LOOK => ops::handoffs::list),
    method!(HandoffCreate, REPORT => ops::handoffs::create),
    method!(HandoffSetStatus, DECIDE => ops::handoffs::set_status),
    method!(ListProviders, LOOK => ops::agents::providers),
    method!(AuditList, LOOK => ops::audit::list),
    method!(TerminalFilter, LOOK => ops::terminals::list),
    method!(TerminalGet, LOOK => ops::terminals::get),
    method!(TerminalOpen, INSIDE => ops::terminals::open),
    method!(TerminalClose, INSIDE => ops::terminals::close),
    method!(TerminalRename, REPORT => ops::terminals::rename),
    method!(TerminalActivate, FULL => ops::terminals::activate),
    method!(TerminalMove, FULL => ops::terminals::move_to),
    method!(TerminalWrite, INSIDE => ops::input::write),
    method!(TerminalPress, INSIDE => ops::input::press),
    method!(TerminalPaste, INSIDE => ops::input::paste),
    method!(TerminalResize, INSIDE => ops::input::resize),
    method!(TerminalSignal, INSIDE => ops::input::signal),
    method!(TerminalKill, INSIDE => ops::input::kill),
    method!(Dump, LOOK => ops::screen::dump),
    method!(Wait, LOOK => ops::screen::wait),
    method!(Attach, LOOK => ops::attach::attach),
    method!(Detach, LOOK => ops::attach::detach),
];

/// The notifications of this dialect.
pub mod notification {
    /// Carries a [`wire::EventNotification`](crate::wire::EventNotification).
    pub const EVENT: &str = "rookery/event";
    /// Carries a [`wire::OutputNotification`](crate::wire::OutputNotification).
    pub const OUTPUT: &str = "rookery/output";
}

#[cfg(test)]
mod tests;
