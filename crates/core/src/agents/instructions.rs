//! What models are given by files: of a project, of the user, and by the role that a thread works in.

use std::path::Path;

use rookery_agent::roles;
use rookery_model::{Assignment, Error, Result, Role};

use super::Room;
use crate::rooms::Agents;

/// The files with which a project tells agents how to work in it; others are imports.
const PROJECT_FILES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// How much of each is sent.
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
    /// What a thread with an assignment is sent beside what others are.
    pub(crate) fn guidance(&self, assignment: &Assignment, root: &Path) -> Vec<String> {
        let config_home = self.config.config_home.as_deref();
        roles::guidance(assignment, root, &self.home, config_home)
    }

    /// What a project tells agents, but for files that are ignored. Links out of it are not followed: it
    /// is sent to a model.
    pub(crate) fn project_instructions(
        &self,
        root: &Path,
        is_ignored: impl Fn(&Path) -> bool,
    ) -> Option<String> {
        let tree = rookery_host::Beneath::new(root).ok()?;
        let mut texts: Vec<String> = Vec::new();
        let mut joined = String::new();
        for name in PROJECT_FILES.into_iter().filter(|name| !is_ignored(&root.join(name))) {
            let Ok(bytes) = tree.read_start(Path::new(name), PROJECT_LIMIT) else { continue };
            let text = String::from_utf8_lossy(&bytes).trim().to_owned();
            // Many projects have the same text under both names.
            if text.is_empty() || texts.contains(&text) {
                continue;
            }
            let gap = if joined.is_empty() { "" } else { "\n\n" };
            joined += &format!("{gap}From {name} of this project:\n{text}");
            texts.push(text);
        }
        (!joined.is_empty()).then_some(joined)
    }
}
