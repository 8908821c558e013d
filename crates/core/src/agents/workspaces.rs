//! Workspaces as core keeps them: found by root without any search, and saved with every change.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rookery_agent::workspaces::canonical_directory;
use rookery_agent::workspaces::{Root, Update, Workspace, WorkspaceError, Workspaces};
use rookery_model::{Error, Result};
use rookery_store::{Change, Store, ValueKey};

use crate::clock;
use crate::rooms::Agents;

/// A directory for a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRoot {
    /// Where it is; absolute, and there.
    pub path: PathBuf,
    /// What users call it.
    pub name: Option<String>,
}

/// Where a thread works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its working directory.
    pub cwd: PathBuf,
    /// The root it lies in.
    pub root: PathBuf,
    pub workspace_id: String,
    /// The root of that workspace.
    pub root_id: String,
}

/// All workspaces, with an index of their roots.
pub(crate) struct Places {
    all: Workspaces,
    /// The workspace that a root is shown with, and the id of the root.
    by_root: HashMap<PathBuf, Known>,
}

struct Known {
    workspace: String,
    root: String,
    /// Whether the workspace has no other root.
    is_only: bool,
}

impl Places {
    /// Those that were kept, and that of the directory threads work in by default. Blocks.
    pub(crate) fn load(store: &Store, home: &Path) -> Self {
        let home = canonical_directory("cwd", home).unwrap_or_else(|_| home.to_owned());
        let now = now();
        let text = store.kept(&ValueKey::Workspaces).ok().flatten();
        let kept = text.and_then(|text| {
            let read = Workspaces::from_json(&text, home.clone(), now);
            read.inspect_err(|error| tracing::error!(%error, "workspaces cannot be read")).ok()
        });
        Places::new(kept.unwrap_or_else(|| Workspaces::new(home, now)))
    }

    pub(super) fn new(all: Workspaces) -> Self {
        let mut by_root: HashMap<PathBuf, Known> = HashMap::new();
        for workspace in all.list() {
            let is_only = workspace.roots.len() == 1;
            for root in workspace.roots {
                // A root alone is what a thread means that names only its directory; otherwise the
                // first counts, which is the newest.
                let is_better = by_root.get(&root.path).is_none_or(|it| is_only && !it.is_only);
                if is_better {
                    let known = Known { workspace: workspace.id.clone(), root: root.id, is_only };
                    by_root.insert(root.path, known);
                }
            }
        }
        Places { all, by_root }
    }

    fn shown_with(&self, root: &Path) -> Option<(String, String)> {
        self.by_root.get(root).map(|known| (known.workspace.clone(), known.root.clone()))
    }

    /// The workspace that has just this directory.
    fn only(&self, root: &Path) -> Option<(String, String)> {
        self.by_root.get(root).filter(|known| known.is_only)?;
        self.shown_with(root)
    }

    /// The root that was selected, with its workspace; without a workspace any that has the root.
    fn selected(&self, workspace: Option<&str>, root: Option<&str>) -> Result<(String, Root)> {
        if let Some(id) = workspace {
            return Ok((id.to_owned(), self.all.get(id)?.root(root)?.clone()));
        }
        let wanted = root.unwrap_or_default();
        let having = self.all.list().into_iter().find_map(|workspace| {
            let root = workspace.root(Some(wanted)).ok()?.clone();
            Some((workspace.id, root))
        });
        Ok(having.ok_or_else(|| WorkspaceError::UnknownRoot(wanted.to_owned()))?)
    }
}

impl Agents {
    /// All workspaces: the server's own first, then the newest.
    pub fn workspaces(&self) -> Vec<Workspace> {
        self.core.inner.agents.places.read().all.list()
    }

    /// The workspace and root that a thread with this root is shown with.
    pub fn workspace_of(&self, root: &Path) -> Option<(String, String)> {
        self.core.inner.agents.places.read().shown_with(root)
    }

    /// Makes a workspace of these directories, or finds the one that has just them.
    ///
    /// # Errors
    /// If one of them is no directory, or the default is none of them.
    pub async fn create_workspace(
        &self,
        name: Option<String>,
        roots: Vec<NewRoot>,
        default: Option<PathBuf>,
    ) -> Result<Workspace> {
        let roots = canonical_roots(roots).await?;
        let default = match default {
            Some(path) => Some(canonical("default_root_path", path).await?),
            None => None,
        };
        self.change_workspaces(|all| all.create(name.as_deref(), roots, default.as_deref(), now()))
            .await
    }

    /// Changes a workspace; what is none stays.
    ///
    /// # Errors
    /// If there is no such workspace or root, or one of the directories is none.
    pub async fn update_workspace(
        &self,
        id: &str,
        name: Option<String>,
        roots: Option<Vec<NewRoot>>,
        default_root: Option<String>,
    ) -> Result<Workspace> {
        let roots = match roots {
            Some(roots) => Some(canonical_roots(roots).await?),
            None => None,
        };
        self.change_workspaces(|all| {
            let (name, default_root) = (name.as_deref(), default_root.as_deref());
            all.update(id, Update { name, roots, default_root }, now())
        })
        .await
    }

    /// Forgets a workspace, never its files. False if there is none, or it is the server's own.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub async fn forget_workspace(&self, id: &str) -> Result<bool> {
        self.change_workspaces(|all| Ok(all.forget(id))).await
    }

    /// Where a thread works that asks for this: in `cwd`, else in the selected root, else in `usual`. A
    /// directory without a workspace gets one of its own.
    ///
    /// # Errors
    /// If there is no such directory, workspace or root, or the directory is not in the root.
    pub async fn place_for(
        &self,
        cwd: Option<&Path>,
        workspace_id: Option<&str>,
        root_id: Option<&str>,
        usual: &Path,
    ) -> Result<Place> {
        if workspace_id.is_none() && root_id.is_none() {
            return self.place_at(cwd.unwrap_or(usual)).await;
        }
        let (workspace_id, root) =
            self.core.inner.agents.places.read().selected(workspace_id, root_id)?;
        let cwd = cwd.unwrap_or(&root.path).to_owned();
        root.check_cwd(&canonical("cwd", cwd.clone()).await?)?;
        Ok(Place { cwd, root: root.path, workspace_id, root_id: root.id })
    }

    async fn place_at(&self, cwd: &Path) -> Result<Place> {
        let root = canonical("cwd", cwd.to_owned()).await?;
        let known = self.core.inner.agents.places.read().only(&root);
        let (workspace_id, root_id) = match known {
            Some(known) => known,
            None => {
                let made = self.change_workspaces(|all| all.for_cwd(root.clone(), now())).await?;
                (made.id, made.default_root)
            }
        };
        Ok(Place { cwd: cwd.to_owned(), root, workspace_id, root_id })
    }

    /// Changes workspaces and keeps them, if anything changed.
    async fn change_workspaces<T>(
        &self,
        change: impl FnOnce(&mut Workspaces) -> std::result::Result<T, WorkspaceError>,
    ) -> Result<T> {
        self.core
            .transact_durably(|tx| {
                let mut places = self.core.inner.agents.places.write();
                let mut all = places.all.clone();
                let value = change(&mut all)?;
                if all != places.all {
                    let (what, value) = (ValueKey::Workspaces, Some(all.to_json()));
                    tx.save(Change::KeptSet { what, value });
                    *places = Places::new(all);
                }
                Ok(value)
            })
            .await
    }
}

async fn canonical(noun: &'static str, path: PathBuf) -> Result<PathBuf> {
    let found = tokio::task::spawn_blocking(move || canonical_directory(noun, &path)).await;
    Ok(found.map_err(|error| Error::failed(error.to_string()))??)
}

async fn canonical_roots(roots: Vec<NewRoot>) -> Result<Vec<Root>> {
    let found = tokio::task::spawn_blocking(move || {
        let root = |new: NewRoot| {
            canonical_directory("root path", &new.path)
                .map(|path| Root::new(path, new.name.as_deref()))
        };
        roots.into_iter().map(root).collect::<std::result::Result<Vec<_>, _>>()
    });
    Ok(found.await.map_err(|error| Error::failed(error.to_string()))??)
}

fn now() -> i64 {
    clock::wall().as_micros() / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(path: &str) -> Root {
        Root::new(path.into(), None)
    }

    #[test]
    fn a_root_is_shown_with_the_workspace_that_has_nothing_else() {
        let mut all = Workspaces::new("/home".into(), 1);
        let both = all.create(None, vec![root("/a"), root("/b")], None, 2).unwrap();
        let places = Places::new(all.clone());
        assert_eq!(places.shown_with(Path::new("/b")).unwrap().0, both.id);
        assert_eq!(places.only(Path::new("/b")), None);
        let alone = all.for_cwd("/b".into(), 3).unwrap();
        let places = Places::new(all);
        let expected = Some((alone.id, alone.default_root));
        assert_eq!(places.only(Path::new("/b")), expected);
        assert_eq!(places.shown_with(Path::new("/b")), expected);
        assert_eq!(places.shown_with(Path::new("/a")).unwrap().0, both.id);
        assert_eq!(places.shown_with(Path::new("/a/below")), None);
    }

    #[test]
    fn a_root_is_selected_by_its_workspace_or_alone() {
        let mut all = Workspaces::new("/home".into(), 1);
        let both = all.create(None, vec![root("/a"), root("/b")], None, 2).unwrap();
        let places = Places::new(all);
        let (a, b) = (root("/a"), root("/b"));
        let pick = |workspace, root| places.selected(workspace, root);
        assert_eq!(pick(Some(&both.id), None).unwrap().1, a);
        assert_eq!(pick(Some(&both.id), Some(&b.id)).unwrap().1, b);
        assert_eq!(pick(None, Some(&b.id)).unwrap(), (both.id.clone(), b.clone()));
        let unknown = pick(Some("ws_x"), None).unwrap_err();
        assert_eq!(unknown.message(), "unknown workspace \"ws_x\"");
        assert_eq!(pick(Some(&both.id), Some("r")).unwrap_err().message(), "unknown root \"r\"");
        assert_eq!(pick(None, Some("r")).unwrap_err().message(), "unknown root \"r\"");
    }
}
