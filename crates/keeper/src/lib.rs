//! The keeper: parent of every PTY child, holder of PTY masters and byte rings, which it hands to authorized clients.
//! It outlives the daemon, so it stays tiny: one thread, no parsing of terminal output, no I/O on a PTY.
//! The daemon uses [`client`], [`ring`] and [`start()`]; only [`run_main`] runs inside the keeper's own process.

pub mod client;
mod listener;
mod peer;
pub mod protocol;
pub mod ring;
mod server;
mod spawn;
mod start;
mod sys;
mod terminals;
mod transport;

pub use listener::Listener;
pub use server::serve;
pub use start::{NOFILE, run_main, start};
