//! What commands of tools are held to: to reading, off our sockets, away from their terminal, and away
//! from secrets.

use std::path::Path;
use std::sync::Arc;

use rookery_agent::tool::{PathScope, Sandbox};
use rookery_host::sandbox;

use super::{Room, has_sandbox};

impl Room {
    /// How a command is held to reading, where that can be done: what `read_file` may read from
    /// these directories, what belongs to the system, and no secret.
    pub(crate) fn sandbox(&self, home: &Path, open: &[&Path]) -> Option<Sandbox> {
        let program = self.config.sandbox.clone().filter(|_| has_sandbox(&self.config))?;
        let is_global = self.path_scope() == PathScope::Global;
        let around: Vec<&Path> = open.to_vec();
        let open = open.iter().copied().chain(is_global.then_some(home));
        let reads = sandbox::Reads {
            home: Some(home.to_owned()),
            open: open.map(Path::to_owned).collect(),
            hidden: sandbox::hidden_around(&self.config.private, &around),
        };
        let sandbox = sandbox::Sandbox { reads: Some(reads), ..sandbox::Sandbox::reading() };
        Some(Arc::new(move |argv: Vec<String>| sandbox::wrap(&program, &sandbox, &argv)))
    }

    /// How a command that may do more than read is kept off the control sockets, where that is wanted
    /// and the kernel can do it.
    pub(crate) fn seal(&self, open: &[&Path]) -> Option<Sandbox> {
        let is_wanted = self.settings().policy.seal_sockets;
        let program = self.config.sandbox.clone();
        let program = program.filter(|_| is_wanted && sandbox::support().seals_sockets())?;
        let sealed = sandbox::hidden_around(&self.config.private, open);
        Some(Arc::new(move |argv: Vec<String>| sandbox::wrap_sealed(&program, &sealed, &argv)))
    }

    /// How a command that no one types into is kept from asking at its terminal.
    pub(crate) fn unattended(&self) -> Option<Sandbox> {
        let program = self.config.sandbox.clone()?;
        Some(Arc::new(move |argv: Vec<String>| sandbox::wrap_unattended(&program, &argv)))
    }

    /// What no tool of a thread touches, wherever it works.
    pub(crate) fn secrets(&self, home: &Path, root: &Path) -> sandbox::Secrets {
        sandbox::Secrets::of(Some(home), &self.config.private).around(root)
    }
}
