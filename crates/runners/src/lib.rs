//! Runners: places where tools and background tasks run.
//!
//! A *provider* is a kind of place, a *destination* a configured one, and a *session* a live use of it.
//! One file for each provider in [`providers`]; all of them answer to the trait [`Session`]. Nothing here
//! knows threads, tasks or wires, and nothing is remembered: whoever opens a session keeps its
//! [`SessionInfo`] to find it again.

mod artifacts;
mod config;
mod error;
mod local;
mod manifest;
mod provider;
mod providers;
pub mod replies;
mod session;

pub use artifacts::{Artifact, sweep_artifacts};
pub use error::RunnerError;
pub use manifest::{Manifest, ManifestEntry, Mount, MountKind};
pub use provider::{
    Capabilities, InTerminals, Location, MountSupport, Opening, PROVIDERS, Provider, TreeMaker,
    Wrap, find,
};
pub use providers::git_worktree::worktrees_of;
pub use session::{
    Chunk, Command, CommandEnd, Entry, ExitCause, Port, Session, SessionInfo, Snapshot, Stream,
    TerminalLaunch, Work, Wrapped, new_session_id,
};
