//! The daemon: homes, config, sockets, start and stop. The one room that joins all others.

mod agent;
pub mod app_server;
pub mod config;
mod desktop;
mod endpoints;
pub mod homes;
mod interface;
mod listening;
mod lock;
mod logs;
mod notify;
mod pictures;
mod roo;
mod run;
pub mod running;
pub mod serve;
pub mod setup;
mod web;

pub use endpoints::socket;
pub use pictures::Pictures;
pub use run::{Ready, RunOptions, run};
pub use web::Web;
