//! What models are told by files: of a project, of the user, and by the role that a thread works in.

use std::path::{Path, PathBuf};

use rookery_agent::roles;
use rookery_model::{Assignment, Error, Result, Role};

use super::Room;
use crate::rooms::Agents;

/// The file with which a project tells agents how to work in it. Those of other agents are imports.
const PROJECT_FILE: &str = "AGENTS.md";
/// How much of it is told.
const PROJECT_LIMIT: usize = 32 << 10;
/// Complaints about files that are remembered, so that each is made once.
const WARNED_LIMIT: usize = 4096;

impl Agents {
    /// The roles of a workspace, with these that a client has beside them. What is wrong with a file is
    /// said once.
    ///
    /// # Errors
    /// If this process is ending.
    pub async fn roles(&self, workspace: &Path, extra: &[Role]) -> Result<Vec<Role>> {
        let (workspace, extra) = (workspace.to_owned(), extra.to_vec());
        let config_home = self.core.inner.agents.config.config_home.clone();
        let listed = tokio::task::spawn_blocking(move || {
            roles::list(&workspace, config_home.as_deref(), &extra)
        });
        let (roles, warnings) = listed.await.map_err(|error| Error::failed(error.to_string()))?;
        warnings.into_iter().for_each(|warning| self.warn_once(warning));
        Ok(roles)
    }

    /// The role of a slug in a workspace.
    ///
    /// # Errors
    /// If there is none.
    pub async fn role(&self, workspace: &Path, extra: &[Role], slug: &str) -> Result<Role> {
        let roles = self.roles(workspace, extra).await?;
        let names: Vec<&str> = roles.iter().map(|role| role.slug.as_str()).collect();
        let unknown = format!("unknown role: {slug}; expected one of {}", names.join(", "));
        let found = roles.iter().find(|role| role.slug == slug).cloned();
        found.ok_or_else(|| Error::invalid("role", unknown))
    }

    /// Says what is wrong with a file, unless that was said before.
    pub(super) fn warn_once(&self, warning: String) {
        let mut warned = self.core.inner.agents.warned.lock();
        if warned.len() >= WARNED_LIMIT {
            warned.clear();
        }
        if warned.insert(warning.clone()) {
            drop(warned);
            self.core.log().warn(None, warning);
        }
    }
}

impl Room {
    /// What a thread with an assignment is told beside what others are.
    pub(crate) fn guidance(&self, assignment: &Assignment, root: &Path) -> Vec<String> {
        let config_home = self.config.config_home.as_deref();
        roles::guidance(assignment, root, &self.home, config_home)
    }

    /// What a project tells agents. Links out of it are not followed: it is sent to a model.
    pub(crate) fn project_instructions(&self, root: &Path) -> Option<String> {
        let tree = rookery_host::Beneath::new(root).ok()?;
        let bytes = tree.read_start(Path::new(PROJECT_FILE), PROJECT_LIMIT).ok()?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        (!text.is_empty()).then(|| format!("From {PROJECT_FILE} of this project:\n{text}"))
    }

    /// The file of a project that is told without an import.
    pub(crate) fn project_file(&self, root: &Path) -> PathBuf {
        root.join(PROJECT_FILE)
    }
}
