//! What every method is called with: the world, the connection, and the little that connections of
//! this dialect share. Knows no method.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use rookery_core::{Core, TerminalHandle};
use rookery_model::{Error, ErrorKind, TerminalId};
use rookery_plugins::LoadError;
use rookery_wire::{
    ConnectionHandle,
    rights::{self, Rights},
    rpc::{Admit, Companion, RpcError},
};

use crate::{
    adapters::{Adapter, Adapters},
    cache::CellCache,
    errors, ids,
    lookout::Lookout,
    marks::Marks,
    notify::Notifier,
    plugins::Plugins,
};

/// The context of a call; cheap to clone.
#[derive(Clone)]
pub struct Cx {
    pub(crate) core: Core,
    pub(crate) shared: Arc<Shared>,
    pub(crate) notifier: Arc<Notifier>,
    /// The last event of each adapter that this connection was told of.
    pub(crate) told_events: Arc<Mutex<HashMap<String, u64>>>,
}

impl Admit for Cx {
    fn refuse(&self, name: &'static str, rights: Rights) -> Option<RpcError> {
        let is_admitted = rights.admits(self.core.caller().is_agent());
        let denied = || Error::new(ErrorKind::Denied, rights::refusal(name));
        (!is_admitted).then(|| errors::rpc(errors::Origin::Pty, &denied()))
    }
}

impl Cx {
    /// A context for one connection, in which every terminal of the world that `core` keeps is a
    /// session.
    pub fn new(core: Core, shared: Arc<Shared>, connection: ConnectionHandle) -> Self {
        let notifier = Notifier::new(core.clone(), Arc::clone(&shared), connection);
        Self { core, shared, notifier, told_events: Arc::default() }
    }

    /// What goes out in step with the replies of this connection.
    pub fn companion(&self) -> Arc<dyn Companion> {
        Arc::clone(&self.notifier) as Arc<dyn Companion>
    }

    /// The terminal that a request names.
    pub(crate) fn session(&self, name: &str) -> Result<TerminalHandle, RpcError> {
        let unknown = || errors::unknown_session(name);
        let id = ids::parse(name).ok_or_else(unknown)?;
        self.core.terminal(id).map_err(|_| unknown())
    }

    /// The adapter that a request names, with its session.
    pub(crate) fn adapter(&self, name: &str) -> Result<(Arc<Adapter>, TerminalHandle), RpcError> {
        let unknown = || errors::unknown("adapter", name);
        let adapter = self.shared.adapters.get(&self.core, name).ok_or_else(unknown)?;
        let session = self.core.terminal(adapter.terminal).map_err(|_| unknown())?;
        Ok((adapter, session))
    }
}

/// What all connections to one world share. Made once per world.
///
/// Nothing here is a second truth about terminals: a cache, plugins and adapters, labels that only
/// this dialect knows, and the home directory.
pub struct Shared {
    pub(crate) home: PathBuf,
    pub(crate) cells: CellCache,
    pub(crate) marks: Marks,
    pub(crate) plugins: Plugins,
    pub(crate) adapters: Adapters,
    pub(crate) lookout: Lookout,
    pub(crate) allows_loading: bool,
}

impl Shared {
    /// `home` is where a session starts that names no directory, or one that does not exist.
    pub fn new(home: PathBuf) -> Self {
        Self {
            home,
            cells: CellCache::default(),
            marks: Marks::default(),
            plugins: Plugins::default(),
            adapters: Adapters::default(),
            lookout: Lookout::default(),
            allows_loading: false,
        }
    }

    /// Lets clients load plugins from files they name.
    #[must_use]
    pub fn allow_plugin_load(mut self, allowed: bool) -> Self {
        self.allows_loading = allowed;
        self
    }

    /// Loads a plugin that the server's user trusts. Reads files and runs Lua, so it may block.
    ///
    /// # Errors
    /// If manifest or code are not what they must be.
    pub fn load_plugin(&self, manifest_path: &Path) -> Result<String, LoadError> {
        self.plugins.load(manifest_path)
    }

    /// The terminal of an adapter.
    pub(crate) fn terminal_of_adapter(&self, adapter: &str) -> Option<TerminalId> {
        self.adapters.terminal_of(adapter)
    }
}
