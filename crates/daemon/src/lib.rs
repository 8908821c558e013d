//! The daemon: homes, config, sockets, start and stop. The one room that joins all others.

pub mod config;
mod endpoints;
pub mod homes;
mod lock;
mod logs;
mod run;
pub mod serve;

pub use endpoints::{ENDPOINTS, Endpoint, Served};
pub use run::{Ready, RunOptions, run};
