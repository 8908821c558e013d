//! Workflow scripts: JavaScript in a sandbox that starts agents and combines their answers.
//!
//! [`Script::read`] reads a script of either form without starting anything, [`run`] runs it on a thread
//! of its own against a [`Host`]. A script has no files, no network, no clock and no chance; it may only
//! ask its host, and the same answers make it do the same again. Nothing here knows who the host is.

pub mod built_in;
mod engine;
mod error;
mod heap;
mod host;
mod limits;
mod literal;
pub mod names;
mod sandbox;
pub mod schema;
mod script;
pub mod structured;
#[cfg(test)]
mod tests;

pub use engine::{Finished, RunInput, run};
pub use error::{ErrorKind, ScriptError};
pub use host::{AgentEnd, Host, HostError, Launch, LaunchKey, Outcome, Tokens, hash};
pub use limits::{LIMIT_NAMES, Limits};
pub use script::{DeclaredPhase, Form, HOST_API_VERSION, MAX_SOURCE, Script};
