//! The idx0 dialect over the one world: sessions, checkpoints, handoffs, reviews, approvals and the
//! queue; one JSON request and one reply per connection, and nothing but strings in both.
//!
//! [`COMMANDS`] is the whole dialect as a table; [`wire`] holds the objects inside its replies, which
//! clients use as well. [`serve`] answers one request. It knows no socket and no other dialect.
//!
//! Without the feature `server` only what reads and writes is here, for clients and for those who
//! test the parsers.

#![deny(clippy::wildcard_enum_match_arm)]

pub mod agent_event;
#[cfg(feature = "server")]
mod context;
pub mod envelope;
#[cfg(feature = "server")]
mod errors;
#[cfg(feature = "server")]
mod files;
#[cfg(feature = "server")]
mod ids;
pub mod keys;
#[cfg(feature = "server")]
mod ops;
#[cfg(feature = "server")]
mod table;
pub mod values;
pub mod wire;

#[cfg(feature = "server")]
pub use errors::Failure;
#[cfg(feature = "server")]
pub use files::Mirror;
#[cfg(feature = "server")]
pub use table::{COMMANDS, Command, serve};
