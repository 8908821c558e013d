//! Servers of imports: started when a turn needs them, ended when they are not active any more.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rookery_agent::mcp::{McpServers, McpState};
use rookery_agent::settings::{McpServerSettings, Secret};
use rookery_imports::{McpServer, PLUGIN_ROOT};
use rookery_model::Thread;

use super::Active;
use super::active::ActiveServer;
use super::room::ServerKey;
use crate::rooms::Imports;

/// How long a turn waits for servers that are started for it.
const PATIENCE: Duration = Duration::from_secs(10);

impl Imports {
    /// Makes ready what a turn of a thread needs: looks at the files again, and starts servers.
    pub(crate) async fn prepare(&self, thread: &Thread) -> Arc<Active> {
        let active = self.evaluate(&thread.root).await;
        if active.servers.is_empty() || self.core.runners().is_elsewhere(thread.id) {
            return active;
        }
        self.start_servers(&active);
        self.settle(&active).await;
        active
    }

    /// The servers of a thread that were started.
    pub(crate) fn servers(&self, thread: &Thread) -> Vec<Arc<McpServers>> {
        let active = self.active(thread);
        if active.servers.is_empty() || self.core.runners().is_elsewhere(thread.id) {
            return Vec::new();
        }
        let running = self.room().servers.lock();
        active.servers.iter().filter_map(|one| running.get(&key(&active, one)).cloned()).collect()
    }

    /// The server of a thread that has a tool of this name.
    pub(crate) fn server_of(&self, thread: &Thread, tool: &str) -> Option<Arc<McpServers>> {
        self.servers(thread).into_iter().find(|server| server.kind(tool).is_some())
    }

    fn start_servers(&self, active: &Active) {
        let Some(workspace) = &active.workspace else { return };
        for one in &active.servers {
            let key = key(active, one);
            if self.room().servers.lock().contains_key(&key) {
                continue;
            }
            match self.settings_of(workspace, one) {
                Ok(settings) => {
                    let withheld = self.core.threads().withheld();
                    let named = BTreeMap::from([(one.server.name.clone(), settings)]);
                    let server = self.core.inner.agents.start_servers(&named, &withheld);
                    self.room().servers.lock().insert(key, Arc::new(server));
                }
                Err(reason) => self.fail(workspace, &one.origin, &reason),
            }
        }
    }

    /// Waits until each server can be used or cannot, and says which cannot.
    async fn settle(&self, active: &Active) {
        let Some(workspace) = &active.workspace else { return };
        let started: Vec<(&ActiveServer, Arc<McpServers>)> = {
            let running = self.room().servers.lock();
            let server = |one| Some((one, running.get(&key(active, one)).cloned()?));
            active.servers.iter().filter_map(server).collect()
        };
        let settled = async {
            for (_, server) in &started {
                let mut changes = server.changes();
                while is_starting(server) {
                    if changes.changed().await.is_err() {
                        break;
                    }
                }
            }
        };
        // One that takes longer is there for the next call of the model.
        let _ = tokio::time::timeout(PATIENCE, settled).await;
        for (one, server) in started {
            for status in server.statuses() {
                match status.state {
                    McpState::Failed(reason) => self.fail(workspace, &one.origin, &reason),
                    McpState::Ready => self.room().clear_failure(workspace, &one.origin.item),
                    McpState::Starting => {}
                }
            }
        }
    }

    /// Ends the servers that are not active anywhere any more.
    pub(super) fn end_unwanted_servers(&self) {
        let wanted: HashSet<ServerKey> = self
            .room()
            .all_active()
            .iter()
            .flat_map(|active| active.servers.iter().map(|one| key(active, one)))
            .collect();
        self.room().servers.lock().retain(|key, _| wanted.contains(key));
    }

    fn settings_of(
        &self,
        workspace: &Path,
        one: &ActiveServer,
    ) -> Result<McpServerSettings, String> {
        if self.core.agents().settings().mcp_servers.contains_key(&one.server.name) {
            return Err(format!("the settings name a server {} already", one.server.name));
        }
        let withheld = self.core.threads().withheld();
        let value = |name: &str| match (name == PLUGIN_ROOT, &one.plugin) {
            (true, Some(root)) => Some(root.to_string_lossy().into_owned()),
            // Keys of providers are for providers.
            _ if withheld.iter().any(|key| key == name) => None,
            _ => (self.core.inner.agents.config.environment)(name),
        };
        let server = one.server.expanded(&value)?;
        let mut settings = settings(workspace, server, one.plugin.as_deref());
        let open: Vec<&Path> =
            [Some(workspace), one.plugin.as_deref()].into_iter().flatten().collect();
        // It was approved, and still cannot speak for the person.
        let seal = self.core.inner.agents.seal(&open).filter(|_| !settings.command.is_empty());
        if let Some(seal) = seal {
            settings.command = seal(settings.command);
        }
        Ok(settings)
    }
}

fn settings(workspace: &Path, server: McpServer, plugin: Option<&Path>) -> McpServerSettings {
    let secret = |(name, value): (String, String)| (name, Secret::new(value));
    let mut env: BTreeMap<String, Secret> = server.env.into_iter().map(secret).collect();
    if let Some(root) = plugin {
        let root = Secret::new(root.to_string_lossy().into_owned());
        env.entry(PLUGIN_ROOT.to_owned()).or_insert(root);
    }
    let cwd = server.cwd.map_or_else(|| workspace.to_owned(), |cwd| workspace.join(cwd));
    McpServerSettings {
        command: server.command,
        cwd: Some(cwd),
        url: server.url,
        env,
        headers: server.headers.into_iter().map(secret).collect(),
        ..McpServerSettings::default()
    }
}

fn is_starting(server: &McpServers) -> bool {
    server.statuses().iter().any(|status| status.state == McpState::Starting)
}

fn key(active: &Active, one: &ActiveServer) -> ServerKey {
    let workspace = active.workspace.clone().unwrap_or_default();
    (workspace, one.origin.item.clone(), one.origin.hash.clone())
}
