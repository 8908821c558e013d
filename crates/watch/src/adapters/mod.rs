//! Adapters: a session joined to a plugin that reads its screen and knows what to type.
//!
//! The registry knows which adapter is which; an [`Adapter`] runs its plugin, one call at a time and
//! never on a runtime thread. What the plugin remembers dies with the daemon, but the adapter itself,
//! its last intent and its marks do not.

mod adapter;
mod saved;

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
use tokio::sync::watch;

use crate::{
    marks::Marks,
    plugins::{Plugins, Version},
    watcher::Readers,
};

pub use adapter::{Adapter, Observation, TURN_STABLE_MS};

/// A call into the plugin of an adapter failed.
#[derive(Debug, thiserror::Error)]
pub enum AdapterError {
    /// The plugin failed, or wanted to do what its manifest does not permit.
    #[error("lua plugin error: {0}")]
    Plugin(#[from] PluginError),
    /// The call was given up halfway.
    #[error("{0}")]
    Stopped(#[from] tokio::task::JoinError),
}

/// The adapters of one world, with the plugins they can be started from and the labels in their
/// transcripts. Made once per world.
#[derive(Default)]
pub struct Adapters {
    plugins: Plugins,
    marks: Marks,
    pub(crate) readers: Readers,
    allows_plugin_load: bool,
    last: AtomicU64,
    /// Every adapter that was started and not closed.
    live: RwLock<BTreeMap<String, Arc<Adapter>>>,
    /// Raised whenever an adapter comes or goes.
    roster: watch::Sender<u64>,
}

impl Adapters {
    /// Lets clients load plugins from files they name.
    #[must_use]
    pub fn allow_plugin_load(mut self, is_allowed: bool) -> Self {
        self.allows_plugin_load = is_allowed;
        self
    }

    /// Whether clients may load plugins.
    pub fn allows_plugin_load(&self) -> bool {
        self.allows_plugin_load
    }

    /// The plugins that adapters can be started from.
    pub fn plugins(&self) -> &Plugins {
        &self.plugins
    }

    /// The labels in transcripts.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Registers an adapter under a new id.
    fn add(
        &self,
        make: impl FnOnce(String) -> Result<Adapter, PluginError>,
    ) -> Result<Arc<Adapter>, PluginError> {
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
    pub fn roster(&self) -> watch::Receiver<u64> {
        self.roster.subscribe()
    }

    /// The adapter of this id, unless its session is gone.
    pub fn get(&self, core: &Core, id: &str) -> Option<Arc<Adapter>> {
        let adapter = self.live.read().get(id).cloned()?;
        if core.terminals().get(adapter.terminal).is_err() {
            self.remove(id);
            return None;
        }
        Some(adapter)
    }

    /// The session of an adapter.
    pub fn terminal_of(&self, id: &str) -> Option<TerminalId> {
        self.live.read().get(id).map(|adapter| adapter.terminal)
    }

    /// All adapters whose sessions exist, in the order of the text of their ids.
    pub fn all(&self, core: &Core) -> Vec<Arc<Adapter>> {
        let mut live = self.live.write();
        live.retain(|_, adapter| core.terminals().get(adapter.terminal).is_ok());
        live.values().cloned().collect()
    }

    /// Forgets an adapter.
    pub fn remove(&self, id: &str) -> Option<Arc<Adapter>> {
        let removed = self.live.write().remove(id);
        self.roster.send_modify(|version| *version += 1);
        removed
    }

    /// Whether any adapter runs this plugin.
    pub fn uses(&self, core: &Core, plugin: &Plugin) -> bool {
        let name = &plugin.manifest().name;
        self.all(core).iter().any(|adapter| adapter.plugin_name() == name)
    }

    /// Joins a session to a plugin. A guest came to a terminal that has another program of its own.
    ///
    /// # Errors
    /// If the plugin does not start.
    pub async fn join(
        self: &Arc<Self>,
        version: Version,
        terminal: TerminalId,
        has_program: bool,
    ) -> Result<Arc<Adapter>, AdapterError> {
        let adapters = Arc::clone(self);
        let starting = tokio::task::spawn_blocking(move || {
            let permissions = version.plugin.manifest().permissions.clone();
            adapters.add(|id| {
                let adapter = Adapter::start(id, terminal, &version, permissions, None)?;
                Ok(adapter.with_program(has_program))
            })
        });
        Ok(starting.await??)
    }
}
