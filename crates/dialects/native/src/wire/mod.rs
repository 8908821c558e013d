//! What goes over the wire, a file per noun. Members are camelCase; unknown members of requests
//! are ignored. Clients use the same types.
#![expect(
    missing_docs,
    reason = "a member needs words only where its name does not say what it means"
)]

mod activity;
mod agent;
mod audit;
mod auth;
mod bytes;
mod change;
mod checkpoint;
mod command;
mod daemon;
mod ended;
mod event;
mod import;
mod marketplace;
mod media;
mod memory;
mod project;
mod queue;
mod request;
mod review;
mod screen;
mod session;
mod supervision;
mod task;
mod terminal;
mod thread;
mod thread_news;
mod time;
mod turn;
mod web;
mod workflow;
mod worktree;

pub use activity::*;
pub use agent::*;
pub use audit::*;
pub use auth::*;
pub use bytes::*;
pub use change::*;
pub use checkpoint::*;
pub use command::*;
pub use daemon::*;
pub use ended::*;
pub use event::*;
pub use import::*;
pub use marketplace::*;
pub use media::*;
pub use memory::*;
pub use project::*;
pub use queue::*;
pub use request::*;
pub use review::*;
pub use screen::*;
pub use session::*;
pub use supervision::*;
pub use task::*;
pub use terminal::*;
pub use thread::*;
pub use thread_news::*;
pub use time::*;
pub use turn::*;
pub use web::*;
pub use workflow::*;
pub use worktree::*;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of a method that has nothing to say but that it worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Empty {}
