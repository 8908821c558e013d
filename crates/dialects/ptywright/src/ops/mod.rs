//! The methods, one file per noun. Each decodes nothing and decides little: it asks core and
//! answers in the shapes of `wire`.

mod act;
pub(crate) mod adapter;
mod launch;
pub(crate) mod plugin;
pub(crate) mod server;
pub(crate) mod session;

use rookery_model::TerminalId;

use crate::{Cx, wire::process::Process};

/// The process in a terminal, as long as that exists.
fn process_of(cx: &Cx, id: TerminalId) -> Option<Process> {
    cx.core.describe(id).ok().as_ref().map(Process::from)
}
