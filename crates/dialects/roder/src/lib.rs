//! The Roder app-server dialect: threads, turns, tools, policy and approvals over JSON-RPC.
//!
//! Owns the shapes, the spellings and the error codes of that protocol, in the superset that both
//! of its generations of clients understand. It keeps no truth of its own and knows no socket.

#![deny(clippy::wildcard_enum_match_arm)]

pub mod casing;
mod errors;
pub mod ids;
pub mod items;
pub mod modes;
pub mod wire;

pub use errors::{Error, IoKind, code, reword};

/// Longest line that is read: 32 MiB. A longer one is answered with a parse error and skipped.
pub const LINE_LIMIT: usize = 32 * 1024 * 1024;

/// The version of the protocol that `initialize` tells.
pub const PROTOCOL_VERSION: u32 = 1;
