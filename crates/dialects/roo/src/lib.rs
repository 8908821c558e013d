//! The Roo Code dialect: tasks, messages and asks over the framing of node-ipc.
//!
//! A task is a thread that is driven as a piece of work. Clients of two generations speak it in two shapes:
//! as the published client validates events, and as the schema document writes them.

#[cfg(feature = "server")]
mod assign;
#[cfg(feature = "server")]
mod connection;
#[cfg(feature = "server")]
mod context;
mod errors;
#[cfg(feature = "server")]
mod hub;
#[cfg(feature = "server")]
mod listener;
#[cfg(feature = "server")]
mod ops;
#[cfg(feature = "server")]
mod profiles;
#[cfg(feature = "server")]
mod project;
#[cfg(feature = "server")]
mod provider;
#[cfg(feature = "server")]
mod table;
pub mod wire;

#[cfg(feature = "server")]
pub use connection::{Roo, framing, options, serve};
pub use errors::{Code, Failure};
#[cfg(feature = "server")]
pub use hub::Hub;
#[cfg(feature = "server")]
pub use listener::{Delivery, Listener, Token};
#[cfg(feature = "server")]
pub use table::{COMMANDS, Command, find};
