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

/// Every method of this dialect.
///
/// An endpoint that serves them must not write queued messages before replies
/// (`outbox_first`): a subscription's reply comes before its first notification.
pub const METHODS: &[Method<Cx>] = &[
    method!("rookery/status", LOOK => ops::daemon::status),
    method!("rookery/shutdown", OWN => ops::daemon::shutdown),
    method!("rookery/events/list", LOOK => ops::events::list),
    method!("rookery/events/subscribe", LOOK => ops::events::subscribe),
    method!("rookery/events/unsubscribe", LOOK => ops::events::unsubscribe),
    method!("rookery/projects/list", LOOK => ops::projects::list),
    method!("rookery/projects/create", FULL => ops::projects::create),
    method!("rookery/projects/rename", FULL => ops::projects::rename),
    method!("rookery/projects/delete", FULL => ops::projects::delete),
    method!("rookery/requests/list", LOOK => ops::requests::list),
    method!("rookery/requests/answer", DECIDE => ops::requests::answer),
    method!("rookery/requests/defer", DECIDE => ops::requests::defer),
    method!("rookery/queue/list", LOOK => ops::queue::list),
    method!("rookery/queue/resolve", DECIDE => ops::queue::resolve),
    method!("rookery/timeline/list", LOOK => ops::queue::timeline),
    method!("rookery/sessions/list", LOOK => ops::sessions::list),
    method!("rookery/sessions/create", INSIDE => ops::sessions::create),
    method!("rookery/sessions/close", INSIDE => ops::sessions::close),
    method!("rookery/reviews/list", LOOK => ops::reviews::list),
    method!("rookery/reviews/get", LOOK => ops::reviews::get),
    method!("rookery/reviews/request", REPORT => ops::reviews::request),
    method!("rookery/reviews/comment", FULL => ops::reviews::comment),
    method!("rookery/reviews/setStatus", DECIDE => ops::reviews::set_status),
    method!("rookery/reviews/deliver", FULL => ops::reviews::deliver),
    method!("rookery/checkpoints/list", LOOK => ops::checkpoints::list),
    method!("rookery/checkpoints/create", REPORT => ops::checkpoints::create),
    method!("rookery/checkpoints/show", LOOK => ops::checkpoints::show),
    method!("rookery/checkpoints/diff", LOOK => ops::checkpoints::diff),
    method!("rookery/checkpoints/restore", FULL => ops::checkpoints::restore),
    method!("rookery/checkpoints/delete", FULL => ops::checkpoints::delete),
    method!("rookery/checkpoints/prune", FULL => ops::checkpoints::prune),
    method!("rookery/worktrees/list", LOOK => ops::worktrees::list),
    method!("rookery/worktrees/create", FULL => ops::worktrees::create),
    method!("rookery/worktrees/bootstrap", FULL => ops::worktrees::bootstrap),
    method!("rookery/worktrees/attach", FULL => ops::worktrees::attach),
    method!("rookery/worktrees/land", FULL => ops::worktrees::land),
    method!("rookery/worktrees/remove", FULL => ops::worktrees::remove),
    method!("rookery/handoffs/list", LOOK => ops::handoffs::list),
    method!("rookery/handoffs/create", REPORT => ops::handoffs::create),
    method!("rookery/handoffs/setStatus", DECIDE => ops::handoffs::set_status),
    method!("rookery/agents/providers", LOOK => ops::agents::providers),
    method!("rookery/audit/list", LOOK => ops::audit::list),
    method!("rookery/terminals/list", LOOK => ops::terminals::list),
    method!("rookery/terminals/get", LOOK => ops::terminals::get),
    method!("rookery/terminals/open", INSIDE => ops::terminals::open),
    method!("rookery/terminals/close", INSIDE => ops::terminals::close),
    method!("rookery/terminals/rename", REPORT => ops::terminals::rename),
    method!("rookery/terminals/activate", FULL => ops::terminals::activate),
    method!("rookery/terminals/move", FULL => ops::terminals::move_to),
    method!("rookery/terminals/write", INSIDE => ops::input::write),
    method!("rookery/terminals/press", INSIDE => ops::input::press),
    method!("rookery/terminals/paste", INSIDE => ops::input::paste),
    method!("rookery/terminals/resize", INSIDE => ops::input::resize),
    method!("rookery/terminals/signal", INSIDE => ops::input::signal),
    method!("rookery/terminals/kill", INSIDE => ops::input::kill),
    method!("rookery/terminals/dump", LOOK => ops::screen::dump),
    method!("rookery/terminals/wait", LOOK => ops::screen::wait),
    method!("rookery/terminals/attach", LOOK => ops::attach::attach),
    method!("rookery/terminals/detach", LOOK => ops::attach::detach),
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
