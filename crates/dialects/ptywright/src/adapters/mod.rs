//! Adapters: a session joined to a plugin that reads its screen and knows what to type.
//!
//! The registry knows which adapter is which; an [`Adapter`] runs its plugin, one call at a time and
//! never on a runtime thread. What the plugin remembers dies with the daemon, but the adapter itself,
//! its last intent and its marks do not.

mod adapter;
mod saved;
mod until;
mod waits;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::RwLock;
use rookery_core::Core;
use rookery_model::TerminalId;
use rookery_plugins::{Plugin, PluginError};
use rookery_wire::rpc::RpcError;
use tokio::sync::watch;

use crate::{context::Shared, errors, plugins::Version};

pub(crate) use adapter::{Adapter, Outlook, TURN_STABLE_MS};
pub(crate) use until::{Found, until};
pub(crate) use waits::{Ticket, Waits, Who};

/// Every adapter that was started and not closed.
#[derive(Default)]
pub(crate) struct Adapters {
    last: AtomicU64,
    live: RwLock<BTreeMap<String, Arc<Adapter>>>,
    pub(crate) waits: Waits,
    /// Raised whenever an adapter comes or goes.
    roster: watch::Sender<u64>,
}

impl Adapters {
    /// Registers an adapter under a new id.
    pub(crate) fn add<E>(
        &self,
        make: impl FnOnce(String) -> Result<Adapter, E>,
    ) -> Result<Arc<Adapter>, E> {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let adapter = Arc::new(make(format!("e{number}"))?);
        self.put(Arc::clone(&adapter));
        Ok(adapter)
    }

    fn put(&self, adapter: Arc<Adapter>) {
        self.live.write().insert(adapter.id.clone(), adapter);
        self.roster.send_modify(|version| *version += 1);
    }

    /// Changes whenever an adapter comes or goes.
    pub(crate) fn roster(&self) -> watch::Receiver<u64> {
        self.roster.subscribe()
    }

    /// The adapter of this id, unless its session is gone.
    pub(crate) fn get(&self, core: &Core, id: &str) -> Option<Arc<Adapter>> {
        let adapter = self.live.read().get(id).cloned()?;
        if core.terminals().get(adapter.terminal).is_err() {
            self.remove(id);
            return None;
        }
        Some(adapter)
    }

    /// The session of an adapter.
    pub(crate) fn terminal_of(&self, id: &str) -> Option<TerminalId> {
        self.live.read().get(id).map(|adapter| adapter.terminal)
    }

    /// All adapters whose sessions exist, in the order of the text of their ids.
    pub(crate) fn all(&self, core: &Core) -> Vec<Arc<Adapter>> {
        let mut live = self.live.write();
        live.retain(|_, adapter| core.terminals().get(adapter.terminal).is_ok());
        live.values().cloned().collect()
    }

    /// Forgets an adapter.
    pub(crate) fn remove(&self, id: &str) -> Option<Arc<Adapter>> {
        let removed = self.live.write().remove(id);
        self.roster.send_modify(|version| *version += 1);
        removed
    }

    /// Whether any adapter runs this plugin.
    pub(crate) fn uses(&self, core: &Core, plugin: &Plugin) -> bool {
        let name = &plugin.manifest().name;
        self.all(core).iter().any(|adapter| adapter.plugin_name() == name)
    }
}

impl Shared {
    /// Joins a session to a plugin. A guest came to a terminal that has another program of its own.
    pub(crate) async fn join(
        self: &Arc<Self>,
        version: Version,
        terminal: TerminalId,
        is_guest: bool,
    ) -> Result<Arc<Adapter>, RpcError> {
        let shared = Arc::clone(self);
        let starting = tokio::task::spawn_blocking(move || {
            let permissions = version.plugin.manifest().permissions.clone();
            shared.adapters.add(|id| {
                let adapter = Adapter::start(id, terminal, &version, permissions, None)?;
                Ok(adapter.with_guest(is_guest))
            })
        });
        let started = starting.await.map_err(|error| RpcError::internal(error.to_string()))?;
        started.map_err(|error: PluginError| errors::lua(&error))
    }
}
