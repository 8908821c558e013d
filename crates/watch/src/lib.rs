//! Adapters and the screen watcher: reads the screens of agents with plugins, tells core which
//! dialog stands there, and types the answers.
//!
//! Owns which plugins there are, which terminal is joined to which of them ([`Adapters`]), and the
//! task that reads their screens ([`watch_screens`]). Every daemon runs it, for every dialect. It
//! knows no protocol: what clients see of adapters is the business of the dialect that shows them.

mod action;
mod adapters;
mod marks;
mod plugins;
mod secrets;
mod typing;
mod watcher;

pub use action::{Action, FullSize, Key, Mark, SignalName};
pub use adapters::{Adapter, AdapterError, Adapters, Observation, TURN_STABLE_MS};
pub use marks::Marks;
pub use plugins::{Plugins, Version};
pub use secrets::{Secrets, redacted};
pub use typing::{apply, kill, type_all};
pub use watcher::watch_screens;
