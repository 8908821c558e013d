//! What every method is called with: the world, the connection, and the little that connections of
//! this dialect share. Knows no method.

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use parking_lot::Mutex;
use rookery_core::{Core, TerminalHandle};
use rookery_model::{Error, ErrorKind, TerminalId};
use rookery_watch::{Adapter, Adapters};
use rookery_wire::{
    ConnectionHandle,
    rights::{self, Rights},
    rpc::{Admit, Companion, RpcError},
};

use crate::{cache::CellCache, errors, ids, notify::Notifier, waits::Waits};

/// The context of a call; cheap to clone.
#[derive(Clone)]
pub struct Cx {
    pub(crate) core: Core,
    pub(crate) shared: Arc<Shared>,
    pub(crate) notifier: Arc<Notifier>,
    /// The last event of each adapter that this connection was sent.
    pub(crate) sent_events: Arc<Mutex<HashMap<String, u64>>>,
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
        Self { core, shared, notifier, sent_events: Arc::default() }
    }

    /// What goes out in step with the replies of this connection.
    pub fn companion(&self) -> Arc<dyn Companion> {
        Arc::clone(&self.notifier) as Arc<dyn Companion>
    }

    /// The terminal that a request names.
    pub(crate) fn session(&self, name: &str) -> Result<TerminalHandle, RpcError> {
        let unknown = || errors::unknown_session(name);
        let id = ids::parse(name).ok_or_else(unknown)?;
        self.core.terminals().get(id).map_err(|_| unknown())
    }

    /// The adapter that a request names, with its session.
    pub(crate) fn adapter(&self, name: &str) -> Result<(Arc<Adapter>, TerminalHandle), RpcError> {
        let unknown = || errors::unknown("adapter", name);
        let adapter = self.shared.adapters.get(&self.core, name).ok_or_else(unknown)?;
        let session = self.core.terminals().get(adapter.terminal).map_err(|_| unknown())?;
        Ok((adapter, session))
    }
}

/// What all connections to one world share. Made once per world.
///
/// Nothing here is a second truth about terminals: a cache, the names of waits, the adapters, which
/// are not this dialect's alone, and the home directory.
pub struct Shared {
    pub(crate) home: PathBuf,
    pub(crate) cells: CellCache,
    pub(crate) waits: Waits,
    pub(crate) adapters: Arc<Adapters>,
}

impl Shared {
    /// `home` is where a session starts that names no directory, or one that does not exist.
    pub fn new(home: PathBuf, adapters: Arc<Adapters>) -> Self {
        Self { home, cells: CellCache::default(), waits: Waits::default(), adapters }
    }

    pub(crate) fn terminal_of_adapter(&self, adapter: &str) -> Option<TerminalId> {
        self.adapters.terminal_of(adapter)
    }
}
