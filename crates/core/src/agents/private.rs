//! Providers that tasks brought with them, kept over restarts in a file of their own.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;

use rookery_agent::providers::{self, Registry, kept_as_json, kept_from_json};
use rookery_host::files;
use rookery_model::{Error, Result};

use super::AgentConfig;
use crate::core::Core;
use crate::rooms::Agents;

/// The file that they are kept in.
const FILE: &str = "task-providers.json";
/// How many are kept.
const MOST: usize = 256;
/// The longest file that is read.
const FILE_LIMIT: usize = 8 << 20;

impl Agents {
    /// Adds a provider that a task brought, and keeps it where settings are kept; its id is returned.
    /// It is chosen by that id like any other, and is in no list. Providers that no thread uses may be
    /// forgotten when there are many, except for those that are pinned.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub async fn add_private_provider(
        &self,
        settings: providers::Settings,
        pinned: Vec<String>,
    ) -> Result<String> {
        self.change_private(move |core| {
            let registry = &core.inner.agents.registry;
            let id = registry.add_private(settings);
            let used = used(core);
            let is_needed = |known: &str| known == id || used.contains(known);
            registry.prune_private(MOST, |known| {
                is_needed(known) || pinned.iter().any(|pin| pin == known)
            });
            id
        })
        .await
    }

    /// Forgets such a provider with its key, unless a thread uses it.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub async fn forget_private_provider(&self, id: String) -> Result<()> {
        self.change_private(move |core| {
            if !used(core).contains(&id) {
                core.inner.agents.registry.remove_private(&id);
            }
        })
        .await
    }

    /// What a provider of a task is, with its key.
    pub fn private_provider(&self, id: &str) -> Option<providers::Settings> {
        let all = self.core.inner.agents.registry.private_settings();
        all.into_iter().find(|settings| settings.id == id)
    }

    /// Changes them, in memory and then in their file; all of it, even if the caller goes away meanwhile.
    async fn change_private<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Core) -> T + Send + 'static,
    ) -> Result<T> {
        let core = self.core.clone();
        let work = self.core.inner.runtime.spawn(async move {
            let agents = &core.inner.agents;
            let _writing = agents.settings_writer.lock().await;
            let before = ids(&agents.registry);
            let value = change(&core);
            if ids(&agents.registry) == before {
                return Ok(value);
            }
            let Some(path) = file(&agents.config) else { return Ok(value) };
            let text = kept_as_json(&agents.registry.private_settings());
            let written =
                tokio::task::spawn_blocking(move || files::replace(&path, text.as_bytes()));
            let written = written.await.map_err(|error| Error::failed(error.to_string()))?;
            written.map_err(|error| {
                // What is not kept is not there, so that the next attempt writes it.
                let added = ids(&agents.registry).into_iter().filter(|id| !before.contains(id));
                added.for_each(|id| agents.registry.remove_private(&id));
                Error::failed(format!("the provider of the task cannot be kept: {error}"))
            })?;
            Ok(value)
        });
        work.await.map_err(|error| Error::failed(error.to_string()))?
    }
}

/// Providers that open threads have chosen. One that was put away long ago may lose its own.
fn used(core: &Core) -> HashSet<String> {
    let world = core.look();
    let open = world.threads.values().filter(|state| !state.thread.archived);
    open.map(|state| state.thread.choice.provider.clone()).collect()
}

/// Adds those that an earlier process kept. A file that cannot be read is left as it is.
pub(super) fn restore(registry: &Registry, config: &AgentConfig) {
    let Some(path) = file(config) else { return };
    let kept = match files::read_start(&path, FILE_LIMIT) {
        Ok(bytes) => kept_from_json(&String::from_utf8_lossy(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "providers of tasks cannot be read");
            return;
        }
    };
    match kept {
        Ok(kept) => kept.into_iter().take(MOST).for_each(|settings| {
            registry.add_private(settings);
        }),
        // What is wrong would quote the file, which has keys.
        Err(error) => {
            let line = error.line();
            tracing::warn!(path = %path.display(), line, "providers of tasks cannot be understood");
        }
    }
}

/// Where they are kept: where nothing of the user's choices is, neither are they.
fn file(config: &AgentConfig) -> Option<PathBuf> {
    let settings = config.settings_file.as_ref()?;
    let dir = config.config_home.as_deref().or_else(|| settings.parent())?;
    Some(dir.join(FILE))
}

fn ids(registry: &Registry) -> Vec<String> {
    registry.private_settings().into_iter().map(|settings| settings.id).collect()
}
