//! Scripts that can be run by name: those that ship with us, of the user, and of a workspace.
//!
//! Files of a workspace are read below it only, whatever its links say. One that is broken hides no other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rookery_host::{Beneath, EntryKind};
use rookery_model::{Error, Result, Timestamp, Words as _};
use rookery_scripts::names::{ENDING, OF_OTHERS, OF_WORKSPACE, OTHER_ENDING};
use rookery_scripts::{Limits, MAX_SOURCE, Script, built_in, hash};

use super::files::is_name;
use super::scan::{self, Scan};
use super::types::{ScriptInfo, ScriptKind};
use crate::clock;
use crate::core::blocking;
use crate::rooms::Workflows;

/// Files that are looked at in one folder.
const MAX_FILES: usize = 500;
/// How deep folders may lie in each other.
const DEEPEST: usize = 8;

/// Which scripts are wanted.
#[derive(Clone, Debug, Default)]
pub struct ScriptQuery {
    /// Those of this workspace.
    pub workspace: Option<PathBuf>,
    /// Those of the user.
    pub with_user: bool,
    /// Those that ship with us.
    pub with_built_in: bool,
}

/// Scripts that were found.
#[derive(Clone, Debug, Default)]
pub struct Scripts {
    /// Those that can be run, by name and place.
    pub scripts: Vec<ScriptInfo>,
    /// Those that cannot.
    pub problems: Vec<ScriptProblem>,
}

/// A file that is no script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptProblem {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub message: String,
}

/// A folder of scripts.
#[derive(Clone, Debug)]
struct Folder {
    /// The directory that nothing leads out of.
    root: PathBuf,
    /// The folder in it.
    path: PathBuf,
    kind: ScriptKind,
    is_ours: bool,
}

impl Workflows {
    fn workspace_folders(&self, workspace: &Path) -> Vec<Folder> {
        let set = self.settings().workspace_dir.unwrap_or_else(|| PathBuf::from(OF_WORKSPACE));
        let folder = |path: PathBuf, is_ours: bool| {
            let kind = ScriptKind::Workspace;
            // A folder that the settings name may be elsewhere.
            let is_inside = path.is_relative();
            let root = if is_inside { workspace.to_owned() } else { path.clone() };
            let path = if is_inside { path } else { PathBuf::new() };
            Folder { root, path, kind, is_ours }
        };
        vec![folder(set, true), folder(PathBuf::from(OF_OTHERS), false)]
    }

    fn user_folders(&self) -> Vec<Folder> {
        let agents = &self.core.inner.agents.config;
        let usual = agents.config_home.as_ref().map(|dir| dir.join("workflows"));
        let own = self.settings().user_dir.or(usual);
        let others = self.core.inner.config.home.join(OF_OTHERS);
        let folder = |root: PathBuf, is_ours| Folder {
            root,
            path: PathBuf::new(),
            kind: ScriptKind::User,
            is_ours,
        };
        own.map(|own| folder(own, true)).into_iter().chain([folder(others, false)]).collect()
    }

    /// Scripts that can be run.
    ///
    /// # Errors
    /// If the workspace is not named by an absolute path.
    pub async fn scripts(&self, query: ScriptQuery) -> Result<Scripts> {
        self.ensure_enabled()?;
        let mut folders = Vec::new();
        if let Some(workspace) = &query.workspace {
            if !workspace.is_absolute() {
                return Err(Error::invalid("workspace", "workspace must be an absolute path"));
            }
            folders.extend(self.workspace_folders(workspace));
        }
        if query.with_user {
            folders.extend(self.user_folders());
        }
        let (limits, known) = (self.limits(), Arc::clone(&self.room().scripts));
        blocking(move || {
            let mut found = Scripts::default();
            if query.with_built_in {
                found.scripts.extend(shipped(limits));
            }
            let scan = known.scan();
            folders.iter().for_each(|folder| folder.read(&scan, limits, &mut found));
            found
                .scripts
                .sort_by(|one, other| (&one.name, &one.path).cmp(&(&other.name, &other.path)));
            found
        })
        .await
    }

    /// All scripts that a workspace can run: its own first, then the user's, then ours.
    pub(super) async fn all(&self, workspace: Option<PathBuf>) -> Result<Vec<ScriptInfo>> {
        let query = ScriptQuery { workspace, with_user: true, with_built_in: true };
        let mut all = self.scripts(query).await?.scripts;
        all.sort_by_key(|script| std::cmp::Reverse(script.kind));
        Ok(all)
    }

    /// A script by its name, with its text.
    pub(crate) async fn find_script(
        &self,
        name: &str,
        workspace: Option<PathBuf>,
    ) -> Result<ScriptInfo> {
        let found = self.all(workspace).await?.into_iter().find(|script| script.name == name);
        found.ok_or_else(|| no_script(name))
    }

    /// A script by its id, or by its name and where it comes from.
    ///
    /// # Errors
    /// If neither is given, or there is none.
    pub async fn script(
        &self,
        id: Option<&str>,
        name: Option<&str>,
        kind: Option<ScriptKind>,
        workspace: Option<PathBuf>,
    ) -> Result<ScriptInfo> {
        if id.is_none() && name.is_none() {
            return Err(Error::invalid("script_id", "script_id or name is needed"));
        }
        let all = match kind {
            // Nothing else can be meant.
            Some(ScriptKind::BuiltIn) => {
                let query = ScriptQuery { with_built_in: true, ..ScriptQuery::default() };
                self.scripts(query).await?.scripts
            }
            _ => self.all(workspace.or_else(|| Some(self.core.agents().cwd()))).await?,
        };
        let found = all.into_iter().find(|script| {
            id.is_none_or(|id| script.id == id)
                && name.is_none_or(|name| script.name == name)
                && kind.is_none_or(|kind| script.kind == kind)
        });
        found.ok_or_else(|| no_script(id.or(name).unwrap_or_default()))
    }

    /// Saves the script of a run under its name, for the user or for the run's workspace.
    ///
    /// # Errors
    /// If the name is not the script's own, or is taken and may not be replaced.
    pub async fn save(
        &self,
        run: &str,
        name: &str,
        kind: ScriptKind,
        replaces: bool,
    ) -> Result<ScriptInfo> {
        let run = self.read(run).await?;
        if !is_name(name) {
            let message = "name must consist of letters, digits, and . _ : - and begin with a letter or digit";
            return Err(Error::invalid("name", message));
        }
        if run.script.name != name {
            let message =
                format!("the script calls itself {}: save it under that name", run.script.name);
            return Err(Error::failed(message));
        }
        let folder = match (kind, run.workspace) {
            (ScriptKind::Workspace, Some(workspace)) => {
                self.workspace_folders(&workspace).remove(0)
            }
            (ScriptKind::User, _) => {
                self.user_folders().into_iter().find(|folder| folder.is_ours).ok_or_else(|| {
                    Error::failed("there is no directory of settings to save the script in")
                })?
            }
            _ => return Err(Error::invalid("scope", "scope must be user or workspace")),
        };
        let body = run.script.body.unwrap_or_default();
        let limits = self.limits();
        let name = name.to_owned();
        blocking(move || folder.write(&name, &body, replaces, limits)).await?
    }

    /// Forgets a script; with `and_file` its file is deleted. Gives whether that went.
    ///
    /// # Errors
    /// If there is none, or it ships with us.
    pub async fn delete_script(
        &self,
        id: &str,
        and_file: bool,
        workspace: Option<PathBuf>,
    ) -> Result<bool> {
        let workspace = workspace.unwrap_or_else(|| self.core.agents().cwd());
        let script = self.script(Some(id), None, None, Some(workspace.clone())).await?;
        if script.kind == ScriptKind::BuiltIn {
            return Err(Error::failed("a workflow that ships with the program cannot be deleted"));
        }
        let Some(path) = script.path.filter(|_| and_file) else { return Ok(false) };
        let mut folders = self.workspace_folders(&workspace);
        folders.extend(self.user_folders());
        blocking(move || {
            let folder = folders.iter().find_map(|folder| {
                path.strip_prefix(&folder.root).ok().map(|inner| (folder, inner))
            });
            let Some((folder, inner)) = folder else {
                return Err(Error::failed("the file is in none of the folders of workflows"));
            };
            let removed = Beneath::new(&folder.root).and_then(|root| root.remove(inner));
            removed.map_err(|error| Error::failed(format!("{}: {error}", path.display())))?;
            Ok(true)
        })
        .await?
    }
}

impl Folder {
    fn read(&self, scan: &Scan<'_>, limits: Limits, found: &mut Scripts) {
        let Ok(root) = Beneath::new(&self.root) else { return };
        let mut files = Vec::new();
        self.gather(&root, &self.path, 0, &mut files);
        files.sort();
        for inner in files {
            let path = self.root.join(&inner);
            match self.script(&root, &inner, scan, limits) {
                Ok(script) => found.scripts.push(script),
                Err(message) => found.problems.push(ScriptProblem { path, message }),
            }
        }
    }

    fn gather(&self, root: &Beneath, dir: &Path, depth: usize, files: &mut Vec<PathBuf>) {
        let Ok(entries) = root.list(dir, MAX_FILES) else { return };
        for (name, kind) in entries {
            let path = dir.join(&name);
            let ending = if self.is_ours { ENDING } else { OTHER_ENDING };
            match kind {
                EntryKind::Dir if self.is_ours && depth < DEEPEST => {
                    self.gather(root, &path, depth + 1, files);
                }
                EntryKind::File | EntryKind::Link
                    if name.to_string_lossy().ends_with(ending) && files.len() < MAX_FILES =>
                {
                    files.push(path);
                }
                _ => {}
            }
        }
    }

    fn script(
        &self,
        root: &Beneath,
        inner: &Path,
        scan: &Scan<'_>,
        limits: Limits,
    ) -> std::result::Result<ScriptInfo, String> {
        scan.check()?;
        let path = self.root.join(inner);
        let file = root.open(inner).map_err(|error| error.to_string())?;
        let modified = file.metadata().and_then(|known| known.modified()).ok();
        let modified = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let at = modified.and_then(|since| i64::try_from(since.as_micros()).ok());
        let at = at.map_or_else(clock::wall, Timestamp::from_micros);
        let bytes = root.read_start(inner, MAX_SOURCE + 1).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|_| "the file is no UTF-8".to_owned())?;
        let script = scan.read(&text)?;
        let place = hash(path.as_os_str().as_encoded_bytes());
        let id = format!("{}:{}", self.kind.word(), &place[..16]);
        let limits = limits.lowered(script.limits.as_ref()).unwrap_or(limits);
        Ok(info(id, self.kind, Some(path), script, limits, (at, at)))
    }

    fn write(&self, name: &str, body: &str, replaces: bool, limits: Limits) -> Result<ScriptInfo> {
        let inner = self.path.join(format!("{name}{ENDING}"));
        let path = self.root.join(&inner);
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Error::failed(format!(
                "{} exists: say that it may be overwritten (`overwrite`), or save the script under another name",
                path.display()
            )),
            _ => Error::failed(format!("{}: {error}", path.display())),
        };
        if self.kind == ScriptKind::User {
            rookery_host::files::make_private_dir(&self.root).map_err(failed)?;
        }
        let root = Beneath::new(&self.root).map_err(failed)?;
        root.put(&inner, body.as_bytes(), replaces).map_err(failed)?;
        self.script(&root, &inner, &scan::Scripts::default().scan(), limits).map_err(Error::failed)
    }
}

fn shipped(limits: Limits) -> Vec<ScriptInfo> {
    let scripts = built_in::BUILT_IN.iter().filter_map(|(name, text)| {
        // A test reads all of them.
        let script = Script::read(text).ok()?;
        let limits = limits.lowered(script.limits.as_ref()).unwrap_or(limits);
        let begin = Timestamp::from_micros(0);
        Some(info(
            format!("builtin:{name}"),
            ScriptKind::BuiltIn,
            None,
            script,
            limits,
            (begin, begin),
        ))
    });
    scripts.collect()
}

/// A script as it is shown.
pub(super) fn info(
    id: String,
    kind: ScriptKind,
    path: Option<PathBuf>,
    script: Script,
    limits: Limits,
    (created_at, updated_at): (Timestamp, Timestamp),
) -> ScriptInfo {
    ScriptInfo {
        id,
        name: script.name,
        description: script.description,
        kind,
        path,
        hash: script.hash,
        arguments_schema: script.arguments_schema,
        body: Some(script.source),
        limits,
        created_at,
        updated_at,
    }
}

fn no_script(name: &str) -> Error {
    let shown: String = name.chars().take(128).collect();
    Error::failed(format!("no workflow {shown}: list the scripts to see their names"))
}
