//! What each method does, a file per noun. Decoding, ids and errors are dealt with around it.

pub(crate) mod agents;
pub(crate) mod attach;
pub(crate) mod audit;
pub(crate) mod auth;
pub(crate) mod changes;
pub(crate) mod checkpoints;
pub(crate) mod commands;
pub(crate) mod daemon;
pub(crate) mod events;
pub(crate) mod handoffs;
pub(crate) mod imports;
pub(crate) mod input;
pub(crate) mod marketplaces;
pub(crate) mod media;
pub(crate) mod memories;
mod named;
pub(crate) mod projects;
pub(crate) mod queue;
pub(crate) mod requests;
pub(crate) mod reviews;
pub(crate) mod screen;
pub(crate) mod sessions;
pub(crate) mod tasks;
pub(crate) mod terminals;
pub(crate) mod thread_news;
pub(crate) mod threads;
pub(crate) mod turns;
pub(crate) mod web;
pub(crate) mod workflows;
pub(crate) mod worktrees;

use rookery_core::TerminalHandle;
use rookery_model as model;

use crate::{Cx, TerminalRef};

impl Cx {
    /// The handle of the terminal a request names.
    fn terminal(&self, terminal: TerminalRef) -> model::Result<TerminalHandle> {
        self.core.terminals().get(terminal.resolve(&self.core)?)
    }
}

/// Longest name or title a client of ours may give.
const MAX_NAME: usize = 1_000;

/// Names and titles are shown in lists, so they are short and of one line.
fn check_name(field: &'static str, name: &str) -> model::Result<()> {
    if name.is_empty() || name.len() > MAX_NAME {
        let message = format!("{field} must have between 1 and {MAX_NAME} bytes");
        return Err(model::Error::invalid(field, message));
    }
    if name.chars().any(char::is_control) {
        let message = format!("{field} must not contain control characters");
        return Err(model::Error::invalid(field, message));
    }
    Ok(())
}
