//! What the room holds: decisions, installed plugins, what is active where, and servers that run.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use rookery_agent::mcp::McpServers;
use rookery_imports::{Decision, Decisions, PluginRoot};
use rookery_model::Result;
use tokio::sync::{OnceCell, Semaphore};

use super::Active;
use crate::clock;
use crate::core::blocking;
use crate::rooms::Imports;

/// Directories whose imports are remembered.
const REMEMBERED: usize = 512;

/// Events whose hooks run in the background at the same time.
const NOTICE_HOOKS: usize = 32;

/// A server of an item: the workspace, the item's id and what its file was like.
pub(super) type ServerKey = (PathBuf, String, String);

/// Decisions and what they come to.
pub(crate) struct Room {
    /// The file of decisions; none forgets them with this process.
    path: Option<PathBuf>,
    decisions: OnceCell<Arc<Mutex<Decisions>>>,
    pub(super) plugins: RwLock<Vec<PluginRoot>>,
    /// What is active, by the root of threads, each with the number of its evaluation.
    active: Mutex<HashMap<PathBuf, (u64, Arc<Active>)>>,
    /// Servers that were started.
    pub(super) servers: Mutex<HashMap<ServerKey, Arc<McpServers>>>,
    /// Items that could not be put into effect, and why.
    failed: Mutex<HashMap<ServerKey, String>>,
    /// Held while decisions change or are evaluated, so that an older evaluation never wins.
    pub(super) evaluating: tokio::sync::Mutex<()>,
    /// Places for hooks that run in the background.
    pub(super) notice_hooks: Arc<Semaphore>,
}

impl Room {
    pub(crate) fn new(path: Option<PathBuf>) -> Room {
        Room {
            path,
            decisions: OnceCell::new(),
            plugins: RwLock::default(),
            active: Mutex::default(),
            servers: Mutex::default(),
            failed: Mutex::default(),
            evaluating: tokio::sync::Mutex::default(),
            notice_hooks: Arc::new(Semaphore::new(NOTICE_HOOKS)),
        }
    }

    /// What is active for threads with this root, as it was last evaluated.
    pub(crate) fn active(&self, root: &Path) -> Option<Arc<Active>> {
        self.active.lock().get(root).map(|(_, active)| Arc::clone(active))
    }

    pub(super) fn set_active(&self, root: PathBuf, active: Arc<Active>) {
        let mut all = self.active.lock();
        let number = all.values().map(|(number, _)| number + 1).max().unwrap_or(0);
        if all.len() >= REMEMBERED && !all.contains_key(&root) {
            // One without servers, so that none ends that another thread needs; of these the one that was
            // evaluated the longest ago.
            let order =
                |(number, active): &(u64, Arc<Active>)| (!active.servers.is_empty(), *number);
            let oldest = all.iter().min_by_key(|(_, one)| order(one)).map(|(root, _)| root.clone());
            oldest.and_then(|oldest| all.remove(&oldest));
        }
        all.insert(root, (number, active));
    }

    /// Everything that is active.
    pub(super) fn all_active(&self) -> Vec<Arc<Active>> {
        self.active.lock().values().map(|(_, active)| Arc::clone(active)).collect()
    }

    /// Roots of threads that were evaluated; those of one workspace, or all.
    pub(super) fn roots(&self, workspace: Option<&Path>) -> Vec<PathBuf> {
        let is_of = |root: &Path, active: &Active| {
            workspace.is_none_or(|workspace| {
                active.workspace.as_deref() == Some(workspace) || root.starts_with(workspace)
            })
        };
        let all = self.active.lock();
        all.iter()
            .filter(|(root, (_, one))| is_of(root, one))
            .map(|(root, _)| root.clone())
            .collect()
    }

    /// Why items of a workspace failed, by their ids and what their files were like.
    pub(super) fn failures(&self, workspace: &Path) -> HashMap<(String, String), String> {
        let failed = self.failed.lock();
        let of = failed.iter().filter(|((of, ..), _)| of == workspace);
        of.map(|((_, item, hash), why)| ((item.clone(), hash.clone()), why.clone())).collect()
    }

    /// Notes that an item failed; true if that was not known.
    pub(super) fn note_failure(&self, key: ServerKey, reason: &str) -> bool {
        let mut failed = self.failed.lock();
        if failed.len() >= REMEMBERED {
            failed.clear();
        }
        failed.insert(key, reason.to_owned()).as_deref() != Some(reason)
    }

    /// An item that works after all, or was decided on again.
    pub(super) fn clear_failure(&self, workspace: &Path, item: &str) {
        self.failed.lock().retain(|(of, id, _), _| of != workspace || id != item);
    }
}

impl Imports {
    pub(super) fn room(&self) -> &Room {
        &self.core.inner.imports
    }

    /// Works with the decisions, off the runtime's threads. Their file is read when it is first needed.
    pub(super) async fn with_decisions<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Decisions) -> T + Send + 'static,
    ) -> Result<T> {
        let room = self.room();
        let opened = room.decisions.get_or_try_init(async || {
            let path = room.path.clone();
            let (decisions, warning) =
                blocking(move || Decisions::load(path, clock::wall())).await?;
            if let Some(warning) = warning {
                tracing::warn!("{warning}");
                self.core.log().warn(None, warning);
            }
            Ok::<_, rookery_model::Error>(Arc::new(Mutex::new(decisions)))
        });
        let decisions = Arc::clone(opened.await?);
        blocking(move || work(&mut decisions.lock())).await
    }

    /// What was decided in a workspace.
    pub(super) async fn decisions_of(&self, workspace: &Path) -> Result<Vec<Decision>> {
        let workspace = workspace.to_string_lossy().into_owned();
        self.with_decisions(move |all| all.of(&workspace)).await
    }
}

#[cfg(test)]
mod tests {
    use rookery_imports::McpServer;

    use super::super::active::{ActiveServer, Origin};
    use super::*;

    #[test]
    fn of_many_roots_one_without_servers_is_forgotten() {
        let room = Room::new(None);
        let root = |number: usize| PathBuf::from(format!("/w/{number}"));
        let origin = Origin { item: "i".into(), hash: "h".into(), path: ".mcp.json".into() };
        let server = ActiveServer { server: McpServer::default(), origin, plugin: None };
        let with_server = Arc::new(Active { servers: vec![server], ..Active::default() });
        room.set_active(root(0), Arc::clone(&with_server));
        for number in 1..=REMEMBERED + 10 {
            room.set_active(root(number), Arc::default());
        }
        assert_eq!(room.all_active().len(), REMEMBERED);
        assert_eq!(room.active(&root(0)).unwrap().servers.len(), 1);
        assert!(room.active(&root(11)).is_none() && room.active(&root(12)).is_some());
        assert!(room.active(&root(REMEMBERED + 10)).is_some());
        // Where all have some, the oldest is forgotten.
        for number in 0..=REMEMBERED {
            room.set_active(root(number), Arc::clone(&with_server));
        }
        assert_eq!(room.all_active().len(), REMEMBERED);
        assert!(room.active(&root(REMEMBERED)).is_some());
    }
}
