//! Threads and the runners that they work at.

use std::path::{Path, PathBuf};

use futures_util::future::BoxFuture;
use rookery_host::git::worktree;
use rookery_model::{Error, Result, RunnerBinding, ThreadId};
use rookery_runners::{Location, SessionInfo, sweep_artifacts};
use serde_json::Value;

use super::{Deleted, NewDestination, Opener, RunnerStatus, find, refused};
use crate::rooms::Runners;

/// What the id of a destination begins with that was made for one thread alone.
const OWN: &str = "thread:";

/// Whether a destination was made for one thread alone.
pub(super) fn is_own(id: &str) -> bool {
    id.strip_prefix(OWN).is_some_and(|thread| thread.parse::<ThreadId>().is_ok())
}

/// A runner for one thread alone.
#[derive(Clone, Debug, PartialEq)]
pub struct RunnerRequest {
    pub provider: String,
    /// Its configuration.
    pub config: Value,
    /// The directory that tools work in, on the runner; its root if none is named and it has one.
    pub workspace: Option<PathBuf>,
    /// Further directories that tools read; they have to lie in the workspace.
    pub read_roots: Vec<PathBuf>,
}

/// Where the tools of a new thread run.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RunnerUse {
    /// On this machine, in its directory.
    #[default]
    None,
    /// At the selected destination, if its provider has a directory of its own to offer.
    Selected,
    /// At one for it alone.
    New(RunnerRequest),
    /// Where those of another thread run.
    Like(ThreadId),
}

/// A new thread's place at a runner.
pub(crate) struct Bound {
    /// What is kept with the thread.
    pub(crate) binding: RunnerBinding,
    /// Its directory on this machine, if it has one there.
    pub(crate) cwd: Option<PathBuf>,
    /// The directory around that which tools may work in.
    pub(crate) root: PathBuf,
    /// Whether the destination was made for it.
    pub(crate) is_new: bool,
}

impl Runners {
    /// Finds or makes the runner of a new thread.
    ///
    /// # Errors
    /// If it cannot be had as it was asked for. Then nothing is left of it.
    pub(crate) async fn bind(
        &self,
        thread: ThreadId,
        (wanted, client): (RunnerUse, u64),
        cwd: &Path,
    ) -> Result<Option<Bound>> {
        // The thread is not there yet.
        let by = Opener { client, thread: None };
        match wanted {
            RunnerUse::None => Ok(None),
            RunnerUse::Selected => self.bind_selected(by).await,
            RunnerUse::New(request) => self.bind_new(thread, (request, by), cwd).await.map(Some),
            RunnerUse::Like(other) => {
                let binding =
                    self.core.look().threads.get(&other).and_then(|it| it.thread.runner.clone());
                let bound = |binding: Box<RunnerBinding>| Bound {
                    binding: *binding,
                    cwd: None,
                    root: PathBuf::new(),
                    is_new: false,
                };
                Ok(binding.map(bound))
            }
        }
    }

    async fn bind_selected(&self, by: Opener) -> Result<Option<Bound>> {
        let selected = {
            let table = self.table();
            let selected = table.selected.as_ref();
            selected.and_then(|key| Some((key.clone(), table.destinations.get(key)?.provider)))
        };
        let Some((destination, provider)) = selected.filter(|(_, it)| it.has_default_workspace)
        else {
            return Ok(None);
        };
        let session = self.open(&destination, by).await?;
        let place = Place::of(session.info(), None)?;
        let binding = RunnerBinding {
            destination,
            provider: provider.id.to_owned(),
            workspace: place.there,
            read_roots: Vec::new(),
        };
        Ok(Some(Bound { binding, cwd: place.here, root: place.root, is_new: false }))
    }

    async fn bind_new(
        &self,
        thread: ThreadId,
        (request, by): (RunnerRequest, Opener),
        cwd: &Path,
    ) -> Result<Bound> {
        let provider = find(&request.provider).ok_or_else(|| {
            let shown: String = request.provider.chars().take(128).collect();
            Error::invalid("runner", format!("runner provider {shown:?} is not installed"))
        })?;
        check_workspace(&request, provider.has_default_workspace)?;
        let id = format!("{OWN}{thread}");
        let mut config = request.config.clone();
        // A directory of this machine is its own root unless one around it is named.
        if provider.id == "unix-local" && config.get("root").is_none_or(Value::is_null) {
            config = serde_json::json!({"root": request.workspace});
        }
        let new = NewDestination {
            id: id.clone(),
            provider: request.provider.clone(),
            config,
            manifest: Value::Null,
            cwd: cwd.to_owned(),
        };
        self.configure(&id, provider, new).await?;
        let placed = self.place(&id, &request, by).await;
        let place = match placed {
            Ok(place) => place,
            Err(error) => {
                self.abandon(&id).await;
                return Err(error);
            }
        };
        self.save().await?;
        self.changed(&id);
        let binding = RunnerBinding {
            destination: id,
            provider: provider.id.to_owned(),
            workspace: place.there,
            read_roots: request.read_roots,
        };
        Ok(Bound { binding, cwd: place.here, root: place.root, is_new: true })
    }

    /// The directory of a new thread. What lies on this machine is opened now, since the thread works in
    /// it; what is elsewhere is opened when it is first used.
    async fn place(&self, id: &str, request: &RunnerRequest, by: Opener) -> Result<Place> {
        let workspace = request.workspace.as_deref();
        let provider = find(&request.provider);
        if provider.is_none_or(|provider| provider.whereabouts == Location::Away) {
            let there = workspace.unwrap_or(Path::new("/")).to_owned();
            let root = request.config.get("root").and_then(Value::as_str).map(Path::new);
            if root.is_some_and(|root| !there.starts_with(root)) {
                return Err(outside(&there));
            }
            return Ok(Place { there, here: None, root: PathBuf::new() });
        }
        let session = self.open(id, by).await?;
        let place = Place::of(session.info(), workspace)?;
        let shown = place.there.to_string_lossy().into_owned();
        session.list(&shown).await.map_err(|error| match refused(error) {
            error if error.message().contains("outside workspace") => error,
            _ => Error::invalid(
                "runner",
                format!("workspace of the runner is not a directory: {shown}"),
            ),
        })?;
        Ok(place)
    }

    /// Takes back a destination that was made for a thread that did not come about.
    pub(crate) fn abandon<'a>(&'a self, id: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(self.abandon_inner(id))
    }

    async fn abandon_inner(&self, id: &str) {
        self.undo(id, true).await;
    }

    /// Deletes a destination with what was made for it, its branch included if nothing was committed on it.
    async fn undo(&self, id: &str, force: bool) {
        let tree = self.tree_of(id);
        match self.delete(Some(id), force).await {
            Ok(deleted) => self.report_kept(deleted),
            Err(error) => {
                tracing::warn!(%error, destination = id, "a runner of a thread that is not there is left");
            }
        }
        let Some(tree) = tree else { return };
        match worktree::give_back(&tree).await {
            Ok(_) => self.core.worktrees().raise_changed(),
            Err(error) => {
                tracing::warn!(%error, destination = id, "the worktree of a thread that is not there is left");
            }
        }
    }

    fn report_kept(&self, deleted: Deleted) {
        if let Some(kept) = deleted.kept {
            let message = format!("uncommitted work was kept: {}", kept.display());
            self.core.log().warn(None, message);
        }
    }

    /// The worktree that was made for the session of a destination, if it is one of that kind.
    fn tree_of(&self, id: &str) -> Option<worktree::Planned> {
        let table = self.table();
        let (_, metadata) = table.destinations.get(id)?.session.as_ref()?;
        let text = |name: &str| metadata.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(worktree::Planned {
            top: text("repo")?.into(),
            path: text("path")?.into(),
            branch: text("branch")?,
            base: text("base"),
        })
    }

    /// Takes back what was made for threads that are not there: they did not come about before the last
    /// daemon ended, or were kept in its memory only. Work stays.
    pub(crate) fn sweep_soon(&self) {
        let lost: Vec<String> = {
            let world = self.core.look();
            let is_lost = |id: &&String| {
                let thread = id.strip_prefix(OWN).and_then(|id| id.parse::<ThreadId>().ok());
                thread.is_some_and(|thread| !world.threads.contains_key(&thread))
            };
            self.table().destinations.keys().filter(is_lost).cloned().collect()
        };
        let (runners, artifacts) = (self.core.detached().runners(), self.artifacts());
        self.core.inner.runtime.spawn(async move {
            if let Ok(artifacts) = artifacts {
                let swept = crate::core::blocking(move || sweep_artifacts(&artifacts)).await;
                swept.unwrap_or_else(|error| tracing::debug!(%error, "artifacts were not swept"));
            }
            for id in lost {
                runners.undo(&id, false).await;
            }
        });
    }

    /// A thread is gone: what was made for it alone is closed, unless another thread works there.
    pub(crate) async fn released(&self, thread: ThreadId, destination: &str) {
        let is_own = destination == format!("{OWN}{thread}");
        let is_used = self.core.look().threads.values().any(|state| {
            state.thread.runner.as_ref().is_some_and(|it| it.destination == destination)
        });
        if !is_own || is_used {
            return;
        }
        match self.delete(Some(destination), false).await {
            Ok(deleted) => self.report_kept(deleted),
            Err(error) => tracing::warn!(%error, destination, "a runner session was not closed"),
        }
    }

    /// Where a thread's runner stands.
    pub fn status_of(&self, binding: &RunnerBinding) -> Option<RunnerStatus> {
        self.table().status(&binding.destination)
    }
}

fn check_workspace(request: &RunnerRequest, has_default: bool) -> Result<()> {
    match &request.workspace {
        Some(workspace) if !workspace.is_absolute() => {
            return Err(Error::invalid(
                "runner",
                "workspace of the runner must be an absolute path",
            ));
        }
        None if !has_default => {
            return Err(Error::invalid("runner", "workspace of the runner is missing"));
        }
        _ => {}
    }
    let is_inside = |root: &PathBuf| {
        let is_plain = root.components().all(|part| part != std::path::Component::ParentDir);
        is_plain && request.workspace.as_ref().is_some_and(|workspace| root.starts_with(workspace))
    };
    match request.read_roots.iter().all(is_inside) {
        true => Ok(()),
        false => {
            Err(Error::invalid("runner", "read_roots of the runner must lie in its workspace"))
        }
    }
}

fn outside(path: &Path) -> Error {
    Error::invalid(
        "runner",
        format!("workspace of the runner: path is outside workspace: {}", path.display()),
    )
}

/// A directory on a runner, and on this machine.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) there: PathBuf,
    here: Option<PathBuf>,
    root: PathBuf,
}

impl Place {
    /// The directory of a session that a client means. It may also be named by its path in the checkout
    /// that a worktree was made from.
    pub(super) fn of(info: &SessionInfo, workspace: Option<&Path>) -> Result<Self> {
        let named = |name: &str| info.metadata.get(name).and_then(Value::as_str).map(PathBuf::from);
        let tops = [Some(info.root.clone()), info.local_root.clone(), named("repo")];
        let below = match workspace {
            None => Path::new(""),
            Some(workspace) => tops
                .iter()
                .flatten()
                .find_map(|top| workspace.strip_prefix(top).ok())
                .filter(|below| {
                    below.components().all(|part| matches!(part, std::path::Component::Normal(_)))
                })
                .ok_or_else(|| outside(workspace))?,
        };
        let join = |top: &Path| match below.as_os_str().is_empty() {
            true => top.to_owned(),
            false => top.join(below),
        };
        Ok(Self {
            there: join(&info.root),
            here: info.local_root.as_deref().map(join),
            root: info.local_root.clone().unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info() -> SessionInfo {
        SessionInfo {
            id: "rs-1".into(),
            provider: "git-worktree",
            root: "/data/tree".into(),
            local_root: Some("/data/tree".into()),
            runs_here: true,
            metadata: serde_json::json!({"repo": "/src/repo"}),
        }
    }

    #[test]
    fn a_destination_of_one_thread_is_distinguished_from_a_named_one() {
        assert!(is_own(&format!("{OWN}{}", ThreadId::new(7))));
        assert!(!is_own("box") && !is_own("thread:") && !is_own("thread:box"));
    }

    #[test]
    fn a_workspace_is_found_by_any_of_its_names() {
        let place = |workspace: Option<&str>| {
            Place::of(&info(), workspace.map(Path::new)).map(|place| place.there)
        };
        assert_eq!(place(None).unwrap(), Path::new("/data/tree"));
        assert_eq!(place(Some("/data/tree/sub")).unwrap(), Path::new("/data/tree/sub"));
        assert_eq!(place(Some("/src/repo/sub")).unwrap(), Path::new("/data/tree/sub"));
        for path in ["/src", "/data/tree2", "/src/repo/../../etc", "/"] {
            assert!(
                place(Some(path)).unwrap_err().message().contains("outside workspace"),
                "{path}"
            );
        }
    }

    #[test]
    fn a_workspace_is_absolute_and_its_read_roots_lie_in_it() {
        let request = |workspace: Option<&str>, read: &[&str]| RunnerRequest {
            provider: "ssh".into(),
            config: Value::Null,
            workspace: workspace.map(PathBuf::from),
            read_roots: read.iter().map(PathBuf::from).collect(),
        };
        assert!(check_workspace(&request(Some("/w"), &["/w/a"]), false).is_ok());
        assert!(check_workspace(&request(None, &[]), true).is_ok());
        for (wrong, why) in [
            (request(None, &[]), "is missing"),
            (request(Some("w"), &[]), "absolute"),
            (request(Some("/w"), &["/x"]), "read_roots"),
            (request(Some("/w"), &["/w/../x"]), "read_roots"),
        ] {
            assert!(check_workspace(&wrong, false).unwrap_err().message().contains(why));
        }
    }
}
