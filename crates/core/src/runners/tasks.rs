//! Background tasks at runners: which destination is theirs, and where in its session they work.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rookery_model::{Error, Result, TaskRunner, ThreadId};
use rookery_runners::{Command, InTerminals, Session};
use serde_json::Value;

use super::bind::Place;
use super::{Opener, refused};
use crate::rooms::Runners;

/// How long a runner may take to show that it is there.
const PROBE_LIMIT: Duration = Duration::from_secs(5);
/// Exit codes from here on may be those of a client that has lost its other side.
const SUSPICIOUS: i32 = 125;

/// Where a task works.
#[derive(Clone)]
pub(crate) struct TaskPlace {
    pub(crate) destination: String,
    /// Its session; whoever holds it keeps it from being closed as idle.
    pub(crate) session: Arc<dyn Session>,
    /// The directory, there.
    pub(crate) cwd: PathBuf,
}

impl TaskPlace {
    /// Whether programs run on this machine as they do everywhere else.
    pub(crate) fn is_here(&self) -> bool {
        self.session.info().runs_here
    }

    /// The name of the session.
    pub(crate) fn session_id(&self) -> &str {
        &self.session.info().id
    }
}

impl Runners {
    /// The runner of a new task: that of its thread, else the selected one.
    pub(crate) fn for_task(
        &self,
        thread: Option<ThreadId>,
        workspace: Option<&Path>,
    ) -> Option<TaskRunner> {
        let bound = thread.and_then(|thread| {
            let world = self.core.look();
            world.threads.get(&thread)?.thread.runner.clone()
        });
        let (destination, usual) = match bound {
            Some(bound) => (bound.destination, Some(bound.workspace)),
            None => (self.destination_of(None)?, None),
        };
        Some(TaskRunner { destination, workspace: workspace.map(Path::to_owned).or(usual) })
    }

    /// How programs at a destination run in terminals.
    ///
    /// # Errors
    /// If it was deleted.
    pub(crate) fn in_terminals(&self, destination: &str) -> Result<InTerminals> {
        let table = self.table();
        let found = table.destinations.get(destination);
        found.map(|it| it.provider.in_terminals).ok_or_else(|| super::open::gone(destination))
    }

    /// The directory by which a destination is known before its session is open.
    pub(crate) fn shown_root(&self, destination: &str) -> PathBuf {
        let table = self.table();
        let Some(it) = table.destinations.get(destination) else { return PathBuf::from("/") };
        let of = |value: &Value, name: &str| Some(PathBuf::from(value.get(name)?.as_str()?));
        let opened = it.session.as_ref().and_then(|(_, metadata)| of(metadata, "root"));
        let configured = || of(&it.config, "root").or_else(|| of(&it.config, "repo"));
        let usual = || match it.provider.in_terminals {
            InTerminals::Here => it.cwd.clone(),
            InTerminals::Lasting | InTerminals::WithDaemon | InTerminals::Never => "/".into(),
        };
        opened.or_else(configured).unwrap_or_else(usual)
    }

    /// Whether programs at a destination run on another machine or in a container.
    pub fn runs_elsewhere(&self, destination: &str) -> bool {
        self.in_terminals(destination).is_ok_and(|way| way != InTerminals::Here)
    }

    /// The session of a destination by its name, also of one that is not open now.
    pub fn session_of(&self, destination: &str) -> Option<String> {
        self.table().status(destination)?.session
    }

    /// Where a task works: opens the session if it has to be.
    ///
    /// # Errors
    /// If the runner cannot be used, or the directory lies outside of it. Then nothing may be run
    /// elsewhere instead.
    pub(crate) async fn task_place(
        &self,
        runner: &TaskRunner,
        cwd: Option<&Path>,
        thread: Option<ThreadId>,
    ) -> Result<TaskPlace> {
        let destination = runner.destination.clone();
        let by = Opener { thread, ..Opener::default() };
        let session = self.open(&destination, by).await?;
        let info = session.info();
        let base = Place::of(info, runner.workspace.as_deref())?.there;
        let wanted = match cwd {
            None => base.clone(),
            Some(cwd) if cwd.is_absolute() => {
                let named = Place::of(info, Some(cwd)).map(|place| place.there);
                named.unwrap_or_else(|_| cwd.to_owned())
            }
            Some(cwd) => base.join(cwd),
        };
        let cwd = normal(&wanted)
            .filter(|path| path.starts_with(&base))
            .ok_or_else(|| escapes(&wanted, &base))?;
        if info.local_root.is_some() {
            let shown = cwd.to_string_lossy().into_owned();
            session.list(&shown).await.map_err(|error| match refused(error) {
                error if error.message().contains("outside workspace") => escapes(&cwd, &base),
                _ => Error::failed(format!("{shown} is not a directory of the runner")),
            })?;
        }
        Ok(TaskPlace { destination, session, cwd })
    }

    /// Whether a program that ended with this code ended because its runner is gone.
    pub(crate) async fn is_lost(&self, place: &TaskPlace, code: Option<i32>) -> bool {
        // Whoever ends the session ends its programs first.
        let gate = self.gate(&place.destination);
        let is_live = {
            let _settled = match &gate {
                Some(gate) => Some(gate.lock().await),
                None => None,
            };
            let table = self.table();
            let live = table.destinations.get(&place.destination).and_then(|it| it.live.clone());
            live.is_some_and(|live| Arc::ptr_eq(&live, &place.session) && live.is_open())
        };
        if !is_live || place.is_here() {
            return !is_live;
        }
        if code.is_some_and(|code| (0..SUSPICIOUS).contains(&code)) {
            return false;
        }
        let mut probe = Command::new(["true"]);
        probe.timeout = Some(PROBE_LIMIT);
        let probed = tokio::time::timeout(PROBE_LIMIT * 2, place.session.exec(probe)).await;
        !matches!(probed, Ok(Ok(end)) if end.exit_code == Some(0))
    }
}

/// A path without `.` and `..`; none if it leads above the root.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if clean.parent().is_some() => drop(clean.pop()),
            Component::ParentDir | Component::Prefix(_) => return None,
            Component::CurDir => {}
            Component::RootDir | Component::Normal(_) => clean.push(part),
        }
    }
    Some(clean)
}

fn escapes(wanted: &Path, root: &Path) -> Error {
    let (wanted, root) = (wanted.display(), root.display());
    Error::failed(format!("cwd {wanted} escapes workspace root {root}: it is outside workspace"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_plain_and_stay_absolute() {
        let plain = |path: &str| normal(Path::new(path)).map(|path| path.display().to_string());
        assert_eq!(plain("/a/./b/../c").as_deref(), Some("/a/c"));
        assert_eq!(plain("/a/b/../..").as_deref(), Some("/"));
        assert_eq!(plain("/a/../.."), None);
    }
}
