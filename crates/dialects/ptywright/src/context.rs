//! What every method is called with: the world, and the little that connections of this dialect
//! share. Knows no method.

use std::{path::PathBuf, sync::Arc};

use rookery_core::{Core, TerminalHandle};
use rookery_wire::rpc::RpcError;

use crate::{cache::CellCache, errors, ids, marks::Marks};

/// The context of a call; cheap to clone.
#[derive(Clone)]
pub struct Cx {
    pub(crate) core: Core,
    pub(crate) shared: Arc<Shared>,
}

impl Cx {
    /// A context in which every terminal of the world that `core` keeps is a session.
    pub fn new(core: Core, shared: Arc<Shared>) -> Self {
        Self { core, shared }
    }

    /// The terminal that a request names.
    pub(crate) fn session(&self, name: &str) -> Result<TerminalHandle, RpcError> {
        let unknown = || errors::unknown_session(name);
        let id = ids::parse(name).ok_or_else(unknown)?;
        self.core.terminal(id).map_err(|_| unknown())
    }
}

/// What all connections to one world share. Made once per world.
///
/// Nothing here is a second truth: a cache, labels that only this dialect knows, and the home directory.
pub struct Shared {
    pub(crate) home: PathBuf,
    pub(crate) cells: CellCache,
    pub(crate) marks: Marks,
}

impl Shared {
    /// `home` is where a session starts that names no directory, or one that does not exist.
    pub fn new(home: PathBuf) -> Self {
        Self { home, cells: CellCache::default(), marks: Marks::default() }
    }
}
