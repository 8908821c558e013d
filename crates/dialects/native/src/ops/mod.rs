//! What each method does, a file per noun. Decoding, ids and errors are dealt with around it.

pub(crate) mod attach;
pub(crate) mod daemon;
pub(crate) mod events;
pub(crate) mod input;
pub(crate) mod projects;
pub(crate) mod screen;
pub(crate) mod terminals;

use rookery_core::TerminalHandle;
use rookery_model as model;

use crate::{Cx, TerminalRef};

impl Cx {
    /// The handle of the terminal a request names.
    fn terminal(&self, terminal: TerminalRef) -> model::Result<TerminalHandle> {
        self.core.terminal(terminal.resolve(&self.core)?)
    }
}
