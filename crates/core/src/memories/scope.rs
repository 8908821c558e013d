//! Which scope a request means.

use std::path::Path;

use rookery_host::{current_user_name, project_root};
use rookery_model::{Error, MemoryScope, Result, ScopeName, Thread};

use super::MemoryPlace;
use crate::core::blocking;
use crate::rooms::Memories;

/// The longest id of a scope, in bytes.
const LONGEST_ID: usize = 4096;

impl Memories {
    /// The scope that a name means to who works in a directory.
    pub(super) async fn resolve(&self, name: ScopeName, cwd: &Path) -> Result<MemoryScope> {
        let (id, make): (String, fn(String) -> MemoryScope) = match name {
            ScopeName::Here => return self.project_of(cwd).await,
            ScopeName::Myself => {
                return Ok(MemoryScope::User(blocking(current_user_name).await?));
            }
            ScopeName::Named(MemoryScope::Global) => return Ok(MemoryScope::Global),
            ScopeName::Named(MemoryScope::Project(id)) => (id, MemoryScope::Project),
            ScopeName::Named(MemoryScope::Workspace(id)) => (id, MemoryScope::Workspace),
            ScopeName::Named(MemoryScope::User(id)) => (id, MemoryScope::User),
            ScopeName::Named(MemoryScope::Thread(id)) => (id, MemoryScope::Thread),
        };
        if id.trim().is_empty() || id.len() > LONGEST_ID || id.contains('\0') {
            let message = format!("scope must have an id of 1 to {LONGEST_ID} bytes");
            return Err(Error::invalid("scope", message));
        }
        let is_place =
            matches!(make(String::new()), MemoryScope::Project(_) | MemoryScope::Workspace(_));
        let id = match is_place && Path::new(&id).is_absolute() {
            true => blocking(move || root_text(Path::new(&id))).await?,
            false => id,
        };
        Ok(make(id))
    }

    /// The project of a directory.
    pub(super) async fn project_of(&self, dir: &Path) -> Result<MemoryScope> {
        let dir = dir.to_owned();
        Ok(MemoryScope::Project(blocking(move || root_text(&dir)).await?))
    }

    /// The scopes to look in; none for all.
    pub(super) async fn scopes(
        &self,
        place: &MemoryPlace,
        scope: Option<ScopeName>,
        with_global: bool,
    ) -> Result<Option<Vec<MemoryScope>>> {
        let Some(scope) = scope else { return Ok(None) };
        let mut scopes = vec![self.resolve(scope, &place.cwd).await?];
        if with_global && scopes[0] != MemoryScope::Global {
            scopes.push(MemoryScope::Global);
        }
        Ok(Some(scopes))
    }

    /// The scopes that a thread is given memories of.
    pub(super) async fn scopes_of(&self, thread: &Thread) -> Result<Vec<MemoryScope>> {
        Ok(vec![self.project_of(&thread.cwd).await?, MemoryScope::Global])
    }
}

fn root_text(dir: &Path) -> String {
    project_root(dir).to_string_lossy().into_owned()
}
