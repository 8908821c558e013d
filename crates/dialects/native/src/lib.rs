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
    method!("rookery/status" => ops::daemon::status),
    method!("rookery/shutdown" => ops::daemon::shutdown),
    method!("rookery/events/list" => ops::events::list),
    method!("rookery/events/subscribe" => ops::events::subscribe),
    method!("rookery/events/unsubscribe" => ops::events::unsubscribe),
    method!("rookery/projects/list" => ops::projects::list),
    method!("rookery/projects/create" => ops::projects::create),
    method!("rookery/projects/rename" => ops::projects::rename),
    method!("rookery/projects/delete" => ops::projects::delete),
    method!("rookery/requests/list" => ops::requests::list),
    method!("rookery/requests/answer" => ops::requests::answer),
    method!("rookery/requests/defer" => ops::requests::defer),
    method!("rookery/queue/list" => ops::queue::list),
    method!("rookery/queue/resolve" => ops::queue::resolve),
    method!("rookery/timeline/list" => ops::queue::timeline),
    method!("rookery/sessions/list" => ops::sessions::list),
    method!("rookery/sessions/create" => ops::sessions::create),
    method!("rookery/sessions/close" => ops::sessions::close),
    method!("rookery/reviews/list" => ops::reviews::list),
    method!("rookery/reviews/get" => ops::reviews::get),
    method!("rookery/reviews/request" => ops::reviews::request),
    method!("rookery/reviews/comment" => ops::reviews::comment),
    method!("rookery/reviews/setStatus" => ops::reviews::set_status),
    method!("rookery/reviews/deliver" => ops::reviews::deliver),
    method!("rookery/checkpoints/list" => ops::checkpoints::list),
    method!("rookery/checkpoints/create" => ops::checkpoints::create),
    method!("rookery/checkpoints/show" => ops::checkpoints::show),
    method!("rookery/checkpoints/diff" => ops::checkpoints::diff),
    method!("rookery/checkpoints/restore" => ops::checkpoints::restore),
    method!("rookery/checkpoints/delete" => ops::checkpoints::delete),
    method!("rookery/checkpoints/prune" => ops::checkpoints::prune),
    method!("rookery/worktrees/list" => ops::worktrees::list),
    method!("rookery/worktrees/create" => ops::worktrees::create),
    method!("rookery/worktrees/bootstrap" => ops::worktrees::bootstrap),
    method!("rookery/worktrees/attach" => ops::worktrees::attach),
    method!("rookery/worktrees/land" => ops::worktrees::land),
    method!("rookery/worktrees/remove" => ops::worktrees::remove),
    method!("rookery/handoffs/list" => ops::handoffs::list),
    method!("rookery/handoffs/create" => ops::handoffs::create),
    method!("rookery/handoffs/setStatus" => ops::handoffs::set_status),
    method!("rookery/audit/list" => ops::audit::list),
    method!("rookery/terminals/list" => ops::terminals::list),
    method!("rookery/terminals/get" => ops::terminals::get),
    method!("rookery/terminals/open" => ops::terminals::open),
    method!("rookery/terminals/close" => ops::terminals::close),
    method!("rookery/terminals/rename" => ops::terminals::rename),
    method!("rookery/terminals/activate" => ops::terminals::activate),
    method!("rookery/terminals/move" => ops::terminals::move_to),
    method!("rookery/terminals/write" => ops::input::write),
    method!("rookery/terminals/press" => ops::input::press),
    method!("rookery/terminals/paste" => ops::input::paste),
    method!("rookery/terminals/resize" => ops::input::resize),
    method!("rookery/terminals/signal" => ops::input::signal),
    method!("rookery/terminals/kill" => ops::input::kill),
    method!("rookery/terminals/dump" => ops::screen::dump),
    method!("rookery/terminals/wait" => ops::screen::wait),
    method!("rookery/terminals/attach" => ops::attach::attach),
    method!("rookery/terminals/detach" => ops::attach::detach),
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
