//! Workspaces as a text. What is stored has its own types, so that the others can change.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Root, Workspace, Workspaces};

#[derive(Serialize, Deserialize)]
struct StoredWorkspaces {
    workspaces: Vec<StoredWorkspace>,
}

#[derive(Serialize, Deserialize)]
struct StoredWorkspace {
    id: String,
    name: String,
    roots: Vec<StoredRoot>,
    default_root: String,
    updated_at: i64,
}

#[derive(Serialize, Deserialize)]
struct StoredRoot {
    path: String,
    name: String,
}

impl Workspaces {
    /// All of them as a text.
    pub fn to_json(&self) -> String {
        let workspaces = self.known.iter().map(store).collect();
        // Maps with keys of text cannot fail to be written.
        serde_json::to_string(&StoredWorkspaces { workspaces }).unwrap_or_default()
    }

    /// Those of a text, and that of the directory the server was started in, which is canonical.
    /// Single ones that make no sense are left out; a text that is none of ours is an error.
    pub fn from_json(text: &str, home: PathBuf, now: i64) -> Result<Self, String> {
        let stored: StoredWorkspaces = serde_json::from_str(text)
            .map_err(|error| format!("the stored workspaces cannot be read: {error}"))?;
        let mut workspaces = Self { home: Root::new(home, None), known: Vec::new() };
        for workspace in stored.workspaces.into_iter().filter_map(restore) {
            let is_new = workspaces
                .known
                .iter()
                .all(|known| known.id != workspace.id && !known.has_just(&workspace.roots));
            if is_new {
                workspaces.known.push(workspace);
            }
        }
        workspaces.ensure_home(now);
        Ok(workspaces)
    }
}

fn store(workspace: &Workspace) -> StoredWorkspace {
    let root = |root: &Root| StoredRoot {
        path: root.path.to_string_lossy().into_owned(),
        name: root.name.clone(),
    };
    StoredWorkspace {
        id: workspace.id.clone(),
        name: workspace.name.clone(),
        roots: workspace.roots.iter().map(root).collect(),
        default_root: workspace.default_root.clone(),
        updated_at: workspace.updated_at,
    }
}

fn restore(stored: StoredWorkspace) -> Option<Workspace> {
    let root = |root: StoredRoot| Root::new(root.path.into(), Some(&root.name));
    let roots = super::distinct(stored.roots.into_iter().map(root).collect()).ok()?;
    let is_sound = roots.iter().all(|root| root.path.is_absolute())
        && roots.iter().any(|root| root.id == stored.default_root)
        && stored.id.starts_with("ws_");
    is_sound.then_some(Workspace {
        id: stored.id,
        name: stored.name,
        roots,
        default_root: stored.default_root,
        updated_at: stored.updated_at,
    })
}
