//! The Roost dialect over the one world: projects, tabs, palette, notifications and events as
//! lines of JSON.
//!
//! [`OPS`] is the whole dialect as a table; [`wire`] holds its types, which clients use as well.
//! [`serve`] makes the protocol of one connection. It knows no socket and no other dialect, and
//! keeps nothing that outlives its connection.
//!
//! Without the feature `server` only what reads and writes lines is here, for clients and for
//! those who test the parsers.

#![deny(clippy::wildcard_enum_match_arm)]

#[cfg(feature = "server")]
mod connection;
#[cfg(feature = "server")]
mod context;
#[cfg(feature = "server")]
mod convert;
#[cfg(feature = "server")]
mod dialect;
pub mod envelope;
pub mod errors;
#[cfg(feature = "server")]
mod events;
#[cfg(feature = "server")]
mod ids;
#[cfg(feature = "server")]
mod lane;
#[cfg(feature = "server")]
mod ops;
#[cfg(feature = "server")]
mod painter;
pub mod params;
#[cfg(feature = "server")]
mod subscription;
#[cfg(feature = "server")]
mod table;
pub mod wire;

#[cfg(feature = "server")]
pub use connection::{Call, Reply, Roost, framing, options};
#[cfg(feature = "server")]
pub use context::{Cx, Settings};
#[cfg(feature = "server")]
pub use dialect::{OPS, serve};
#[cfg(feature = "server")]
pub use lane::Turn;
#[cfg(feature = "server")]
pub use ops::tab::tab_env;
#[cfg(feature = "server")]
pub use painter::{DrawCounts, Drawing, Painter, Picture};
#[cfg(feature = "server")]
pub use table::{Decode, Describe, Op, OpResult, Ready, Table, Terms, Work};

#[cfg(test)]
#[cfg(feature = "server")]
mod tests;
