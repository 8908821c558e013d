//! Workspaces: named sets of directories that threads work in.
//!
//! Plain data; only [`canonical_directory`] looks at the disk, everything else gets paths that went
//! through it. Kept as one text, which [`Workspaces::to_json`] writes.

mod stored;

use std::path::{Path, PathBuf};

use uuid::Uuid;

/// How many roots a workspace may have.
const ROOTS_LIMIT: usize = 64;
/// How many workspaces are remembered; beyond that the oldest are forgotten.
const WORKSPACES_LIMIT: usize = 4096;
/// The longest name.
const NAME_LIMIT: usize = 256;
/// What ids are derived from. Never to be changed: clients keep ids.
const NAMESPACE: Uuid = Uuid::from_u128(0x9c0d_8f0e_6a55_4f6d_9a4b_3f8e_21c7_5d10);

/// A set of directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// Its id, from the directories it was made of.
    pub id: String,
    /// What users call it.
    pub name: String,
    /// Its directories, at least one, each once.
    pub roots: Vec<Root>,
    /// The id of the directory that threads work in by default.
    pub default_root: String,
    /// When it was changed, in milliseconds since 1970.
    pub updated_at: i64,
}

impl Workspace {
    /// The root of this id, or the default one.
    pub fn root(&self, id: Option<&str>) -> Result<&Root, WorkspaceError> {
        let wanted = id.unwrap_or(&self.default_root);
        let found = self.roots.iter().find(|root| root.id == wanted);
        found.ok_or_else(|| WorkspaceError::UnknownRoot(wanted.to_owned()))
    }

    fn has_just(&self, roots: &[Root]) -> bool {
        self.roots.len() == roots.len() && roots.iter().all(|root| self.has(&root.id))
    }

    fn has(&self, root: &str) -> bool {
        self.roots.iter().any(|own| own.id == root)
    }
}

/// A directory of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Its id, from its path.
    pub id: String,
    /// Where it is; canonical.
    pub path: PathBuf,
    /// What users call it.
    pub name: String,
}

impl Root {
    /// A root at a canonical path, called as its directory unless it has a name.
    pub fn new(path: PathBuf, name: Option<&str>) -> Self {
        let id = format!("root_{}", hash(path.as_os_str().as_encoded_bytes()));
        let name = filled(name).unwrap_or_else(|| directory_name(&path));
        Self { id, path, name }
    }

    /// Checks that a thread may work there. `cwd` is canonical.
    pub fn check_cwd(&self, cwd: &Path) -> Result<(), WorkspaceError> {
        cwd.starts_with(&self.path).then_some(()).ok_or(WorkspaceError::OutsideRoot)
    }
}

/// What a client got wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkspaceError {
    /// A path is relative.
    #[error("{0} must be absolute")]
    Relative(&'static str),
    /// There is no such directory.
    #[error("{noun} is not an existing directory: {path}", path = .path.display())]
    NoDirectory {
        /// What the path is for.
        noun: &'static str,
        path: PathBuf,
    },
    /// A path that cannot be sent to clients.
    #[error("{0} is not UTF-8")]
    NotUtf8(&'static str),
    /// No roots were given.
    #[error("a workspace needs at least one root")]
    NoRoots,
    /// Too many roots were given.
    #[error("a workspace has at most {ROOTS_LIMIT} roots")]
    TooManyRoots,
    /// There is no such workspace.
    #[error("unknown workspace \"{0}\"")]
    Unknown(String),
    /// The workspace has no such root.
    #[error("unknown root \"{0}\"")]
    UnknownRoot(String),
    /// The default is none of the roots.
    #[error("the default root is not one of the roots")]
    DefaultNotARoot,
    /// Another workspace has exactly these roots.
    #[error("workspace {0} already has these roots")]
    Taken(String),
    /// The workspace of the server's own directory keeps it.
    #[error("the workspace of the server's directory keeps its root")]
    Home,
    /// The directory is not below the root.
    #[error("cwd must be the selected root or a child path")]
    OutsideRoot,
}

impl From<WorkspaceError> for rookery_model::Error {
    fn from(error: WorkspaceError) -> Self {
        let message = error.to_string();
        match error {
            WorkspaceError::Unknown(_) | WorkspaceError::UnknownRoot(_) => Self::not_found(message),
            WorkspaceError::Taken(_) => Self::conflict(message),
            WorkspaceError::OutsideRoot => Self::invalid("cwd", message),
            WorkspaceError::Relative(noun)
            | WorkspaceError::NoDirectory { noun, .. }
            | WorkspaceError::NotUtf8(noun) => Self::invalid(noun, message),
            WorkspaceError::NoRoots
            | WorkspaceError::TooManyRoots
            | WorkspaceError::DefaultNotARoot
            | WorkspaceError::Home => Self::invalid("roots", message),
        }
    }
}

/// The path of a directory without links and dots. `noun` says in errors what it is for. Blocks.
pub fn canonical_directory(noun: &'static str, path: &Path) -> Result<PathBuf, WorkspaceError> {
    if !path.is_absolute() {
        return Err(WorkspaceError::Relative(noun));
    }
    let real = path.canonicalize().ok().filter(|real| real.is_dir());
    let real = real.ok_or_else(|| WorkspaceError::NoDirectory { noun, path: path.to_owned() })?;
    if real.to_str().is_none() {
        return Err(WorkspaceError::NotUtf8(noun));
    }
    Ok(real)
}

/// A change to a workspace; what is none stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update<'a> {
    pub name: Option<&'a str>,
    /// All roots.
    pub roots: Option<Vec<Root>>,
    /// The id of the default root.
    pub default_root: Option<&'a str>,
}

/// All workspaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspaces {
    home: Root,
    known: Vec<Workspace>,
}

impl Workspaces {
    /// Only that of the directory the server was started in, which is canonical.
    pub fn new(home: PathBuf, now: i64) -> Self {
        let mut workspaces = Self { home: Root::new(home, None), known: Vec::new() };
        workspaces.ensure_home(now);
        workspaces
    }

    /// All of them: the server's own first, then the newest.
    pub fn list(&self) -> Vec<Workspace> {
        let mut all = self.known.clone();
        all.sort_by(|a, b| {
            let key = |one: &Workspace| (!self.is_home(one), std::cmp::Reverse(one.updated_at));
            key(a).cmp(&key(b)).then_with(|| a.id.cmp(&b.id))
        });
        all
    }

    /// The workspace of this id.
    pub fn get(&self, id: &str) -> Result<&Workspace, WorkspaceError> {
        let found = self.known.iter().find(|workspace| workspace.id == id);
        found.ok_or_else(|| WorkspaceError::Unknown(id.to_owned()))
    }

    /// Makes a workspace of these roots. If there is one, it gets the name and the default root, if
    /// such are given, and keeps its id.
    pub fn create(
        &mut self,
        name: Option<&str>,
        roots: Vec<Root>,
        default: Option<&Path>,
        now: i64,
    ) -> Result<Workspace, WorkspaceError> {
        let roots = distinct(roots)?;
        let default = match default {
            Some(path) => Some(
                roots
                    .iter()
                    .find(|root| root.path == path)
                    .map(|root| root.id.clone())
                    .ok_or(WorkspaceError::DefaultNotARoot)?,
            ),
            None => None,
        };
        if let Some(known) = self.known.iter().find(|known| known.has_just(&roots)) {
            let id = known.id.clone();
            let update = Update { name, roots: None, default_root: default.as_deref() };
            return self.update(&id, update, now);
        }
        let default_root = default.unwrap_or_else(|| roots[0].id.clone());
        let named = roots.iter().find(|root| root.id == default_root).unwrap_or(&roots[0]);
        let workspace = Workspace {
            id: self.free_id(&roots),
            name: filled(name).unwrap_or_else(|| named.name.clone()),
            default_root,
            roots,
            updated_at: now,
        };
        self.known.push(workspace.clone());
        self.forget_oldest(&workspace.id);
        Ok(workspace)
    }

    /// Changes a workspace, which keeps its id.
    pub fn update(
        &mut self,
        id: &str,
        update: Update<'_>,
        now: i64,
    ) -> Result<Workspace, WorkspaceError> {
        let mut changed = self.get(id)?.clone();
        if let Some(roots) = update.roots {
            let roots = distinct(roots)?;
            if let Some(other) =
                self.known.iter().find(|other| other.id != id && other.has_just(&roots))
            {
                return Err(WorkspaceError::Taken(other.id.clone()));
            }
            if self.is_home(&changed) && !changed.has_just(&roots) {
                return Err(WorkspaceError::Home);
            }
            changed.roots = roots;
        }
        if let Some(root) = update.default_root {
            changed.default_root = changed.root(Some(root))?.id.clone();
        } else if !changed.has(&changed.default_root) {
            changed.default_root = changed.roots[0].id.clone();
        }
        if let Some(name) = filled(update.name) {
            changed.name = name;
        }
        if let Some(known) = self.known.iter_mut().find(|known| known.id == id)
            && *known != changed
        {
            changed.updated_at = now;
            *known = changed.clone();
        }
        Ok(changed)
    }

    /// Forgets a workspace, never its files. False if there is none, or if it is the server's own,
    /// which is always listed.
    pub fn forget(&mut self, id: &str) -> bool {
        let Some(at) = self.known.iter().position(|workspace| workspace.id == id) else {
            return false;
        };
        if self.is_home(&self.known[at]) {
            return false;
        }
        self.known.remove(at);
        true
    }

    /// The workspace that has just this directory, made if there is none. `cwd` is canonical.
    pub fn for_cwd(&mut self, cwd: PathBuf, now: i64) -> Result<Workspace, WorkspaceError> {
        self.create(None, vec![Root::new(cwd, None)], None, now)
    }

    fn is_home(&self, workspace: &Workspace) -> bool {
        workspace.has_just(std::slice::from_ref(&self.home))
    }

    fn ensure_home(&mut self, now: i64) {
        if !self.known.iter().any(|workspace| self.is_home(workspace)) {
            let roots = vec![self.home.clone()];
            self.known.push(Workspace {
                id: self.free_id(&roots),
                name: self.home.name.clone(),
                default_root: self.home.id.clone(),
                roots,
                updated_at: now,
            });
        }
    }

    /// The id of a set of roots, whatever their order. A workspace that was given other roots
    /// keeps the id of its first ones, which is then not free.
    fn free_id(&self, roots: &[Root]) -> String {
        let mut ids: Vec<&str> = roots.iter().map(|root| root.id.as_str()).collect();
        ids.sort_unstable();
        let mut text = ids.join("\n");
        loop {
            let id = format!("ws_{}", hash(text.as_bytes()));
            if self.get(&id).is_err() {
                return id;
            }
            text.push('\n');
        }
    }

    fn forget_oldest(&mut self, but: &str) {
        while self.known.len() > WORKSPACES_LIMIT {
            let others = self.known.iter().enumerate();
            let oldest = others
                .filter(|(_, one)| one.id != but && !self.is_home(one))
                .min_by_key(|(_, one)| one.updated_at);
            let Some((at, _)) = oldest else { return };
            self.known.remove(at);
        }
    }
}

/// The roots without those that are there twice; the first of them counts.
fn distinct(roots: Vec<Root>) -> Result<Vec<Root>, WorkspaceError> {
    let mut found: Vec<Root> = Vec::new();
    for root in roots {
        if found.iter().all(|known| known.id != root.id) {
            found.push(root);
        }
        if found.len() > ROOTS_LIMIT {
            return Err(WorkspaceError::TooManyRoots);
        }
    }
    if found.is_empty() { Err(WorkspaceError::NoRoots) } else { Ok(found) }
}

fn hash(bytes: &[u8]) -> String {
    Uuid::new_v5(&NAMESPACE, bytes).simple().to_string()
}

fn directory_name(path: &Path) -> String {
    path.file_name().map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn filled(name: Option<&str>) -> Option<String> {
    let name: String = name?.trim().chars().take(NAME_LIMIT).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests;
