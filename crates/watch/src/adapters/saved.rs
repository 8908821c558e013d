//! Adapters over a restart: what is written down of them, and how they come back.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, atomic::Ordering},
};

use rookery_core::Core;
use rookery_model::TerminalId;
use rookery_plugins::Permission;
use serde::{Deserialize, Serialize};

use super::{Adapter, Adapters};

/// The name under which core keeps this, from when adapters were that dialect's own.
const NAME: &str = "ptywright.adapters";

/// What is written down.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Saved {
    #[serde(default)]
    last: u64,
    #[serde(default)]
    adapters: Vec<SavedAdapter>,
    /// Manifests of plugins that were loaded.
    #[serde(default)]
    plugins: Vec<PathBuf>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedAdapter {
    id: String,
    plugin: String,
    terminal: u64,
    #[serde(default)]
    guest: bool,
    permissions: Vec<Permission>,
    #[serde(default)]
    last_intent: Option<String>,
    #[serde(default)]
    marks: BTreeMap<String, u64>,
}

impl Adapters {
    /// Writes down which adapters there are and what is remembered for them.
    pub async fn save(&self, core: &Core) {
        let adapters = self.all(core);
        let saved = Saved {
            last: self.last.load(Ordering::Relaxed),
            adapters: adapters.iter().map(|adapter| self.describe(adapter)).collect(),
            plugins: self.plugins.loaded_from(),
        };
        let written = match serde_json::to_string(&saved) {
            Ok(text) => core.remember(NAME, Some(text)).await.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = written {
            tracing::warn!(error, "adapters would not survive a restart");
        }
    }

    fn describe(&self, adapter: &Adapter) -> SavedAdapter {
        SavedAdapter {
            id: adapter.id.clone(),
            plugin: adapter.plugin_name().to_owned(),
            terminal: adapter.terminal.get(),
            guest: adapter.has_program,
            permissions: adapter.permissions.clone(),
            last_intent: adapter.last_intent(),
            marks: self.marks.of(adapter.terminal),
        }
    }

    /// Brings back the adapters whose sessions live on. What cannot be brought back is left out.
    pub async fn restore(self: &Arc<Self>, core: &Core) {
        let saved: Saved = match core.remembered(NAME).await {
            Ok(Some(text)) => serde_json::from_str(&text).unwrap_or_default(),
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "cannot read which adapters there were");
                return;
            }
        };
        let (adapters, core) = (Arc::clone(self), core.clone());
        let restoring =
            tokio::task::spawn_blocking(move || adapters.bring_back(&core, saved)).await;
        if restoring.is_err() {
            tracing::error!("bringing adapters back failed halfway");
        }
    }

    /// Reads files and runs Lua.
    fn bring_back(&self, core: &Core, saved: Saved) {
        if self.allows_plugin_load {
            for path in &saved.plugins {
                if let Err(error) = self.plugins.load(path) {
                    tracing::warn!(%error, path = %path.display(), "a plugin cannot be loaded again");
                }
            }
        }
        self.last.fetch_max(saved.last, Ordering::Relaxed);
        for adapter in saved.adapters {
            let terminal = TerminalId::new(adapter.terminal);
            let Some(version) = self.plugins.get(&adapter.plugin) else { continue };
            if core.terminals().get(terminal).is_err() {
                continue;
            }
            for (label, cursor) in adapter.marks {
                self.marks.set(terminal, label, cursor);
            }
            let (id, has_program) = (adapter.id, adapter.guest);
            let (permissions, intent) = (adapter.permissions, adapter.last_intent);
            match Adapter::start(id, terminal, &version, permissions, intent) {
                Ok(adapter) => {
                    self.put(Arc::new(adapter.with_program(has_program)));
                }
                Err(error) => tracing::warn!(%error, "an adapter cannot be brought back"),
            }
        }
    }
}
