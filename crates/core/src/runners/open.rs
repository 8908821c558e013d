//! Sessions: opened at their first use, found again after a restart, closed when they are not needed.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use rookery_host::git::worktree::{Created, NewWorktree};
use rookery_host::http;
use rookery_model::{AcceptedWork, Error, ErrorKind, Result, shown_destination};
use rookery_runners::{Opening, RunnerError, Session, TreeMaker, Work, Wrap, new_session_id};
use tokio::time::Instant;

use super::{Deleted, Opener, RunnerState, failed, refused};
use crate::core::Core;
use crate::rooms::Runners;

/// How long a session that nothing uses stays open.
const IDLE: Duration = Duration::from_secs(3600);
/// How often it is looked whether the connection of a session is still there.
const LOOK: Duration = Duration::from_secs(5);
/// How long the end of a session may hold up a stop of the daemon.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

impl Runners {
    /// The session of a destination, opened if it is not and may be.
    pub(super) fn open<'a>(
        &'a self,
        id: &'a str,
        by: Opener,
    ) -> BoxFuture<'a, Result<Arc<dyn Session>>> {
        Box::pin(self.open_inner(id, by))
    }

    async fn open_inner(&self, id: &str, by: Opener) -> Result<Arc<dyn Session>> {
        self.permit(id, by).await?;
        let gate = {
            let table = self.table();
            let destination = table.destinations.get(id).ok_or_else(|| gone(id))?;
            Arc::clone(&destination.gate)
        };
        let _alone = gate.lock().await;
        let trees = Arc::new(RecordedTrees { core: self.core.detached(), made: Mutex::default() });
        let (opening, provider) = {
            let mut table = self.table();
            let destination = table.destinations.get_mut(id).ok_or_else(|| gone(id))?;
            match destination.state {
                RunnerState::Paused => return Err(refuse(id, "paused", "resume it")),
                RunnerState::Detached => return Err(refuse(id, "detached", "rejoin it")),
                _ => {}
            }
            destination.used = Instant::now();
            // One whose connection is gone is opened anew.
            destination.live = destination.live.take().filter(|live| live.is_open());
            if let Some(live) = &destination.live {
                return Ok(Arc::clone(live));
            }
            if let Some(name) = destination.missing.first() {
                let id = shown_destination(id);
                let message = format!(
                    "the {name} of runner destination {id} is not kept over a restart; select it again with config.{name}"
                );
                return Err(Error::new(ErrorKind::Conflict, message));
            }
            let found = destination.session.clone();
            if found.is_none() && !destination.is_permitted {
                let id = shown_destination(id);
                return Err(Error::conflict(format!(
                    "runner destination {id} was changed meanwhile; try again"
                )));
            }
            let (session, found) = match found {
                Some((session, metadata)) => (session, Some(metadata)),
                None => (new_session_id(), None),
            };
            let opening = Opening {
                session,
                destination: shown_destination(id).to_owned(),
                config: destination.config.clone(),
                manifest: destination.manifest.clone(),
                cwd: destination.cwd.clone(),
                found,
                trees: Arc::clone(&trees) as Arc<dyn TreeMaker>,
                ..self.opening()?
            };
            (opening, destination.provider)
        };
        let opened = provider.open(opening).await;
        let live = self.settle(id, opened, &trees.made()).await?;
        self.watch_idle(id.to_owned());
        Ok(live)
    }

    /// Takes a session in that was opened, or notes that it was not. The worktrees that were made for it
    /// are its own from the same moment on.
    async fn settle(
        &self,
        id: &str,
        opened: std::result::Result<Arc<dyn Session>, RunnerError>,
        made: &[u128],
    ) -> Result<Arc<dyn Session>> {
        if !self.take_in(id, &opened) {
            if let Ok(session) = opened {
                // It was deleted while it was opened.
                let _ = session.close(false).await;
            }
            made.iter().for_each(|tree| self.core.sessions().give_up(*tree));
            return Err(gone(id));
        }
        self.save_with(made).await?;
        self.changed(id);
        opened.map_err(refused)
    }

    /// False if the destination is gone.
    fn take_in(
        &self,
        id: &str,
        opened: &std::result::Result<Arc<dyn Session>, RunnerError>,
    ) -> bool {
        let mut table = self.table();
        let Some(destination) = table.destinations.get_mut(id) else { return false };
        destination.is_permitted = false;
        match opened {
            Ok(session) => {
                let info = session.info();
                destination.session = Some((info.id.clone(), info.metadata.clone()));
                destination.state = RunnerState::Active;
                destination.live = Some(Arc::clone(session));
            }
            Err(_) => destination.state = RunnerState::Failed,
        }
        true
    }

    /// What every session is opened with.
    fn opening(&self) -> Result<Opening> {
        let inner = &self.core.inner;
        let dirs = inner.config.agent.runners.clone();
        let dirs = dirs.ok_or_else(|| Error::failed("this server keeps nothing for runners"))?;
        let core = self.core.detached();
        let wrap: Wrap = Arc::new(move |root: &Path, argv: Vec<OsString>| {
            let Some(seal) = core.inner.agents.seal(&[root]) else { return argv };
            // Words that are no text cannot be handed through; nothing of ours makes such.
            let words: Option<Vec<String>> =
                argv.iter().map(|word| word.to_str().map(str::to_owned)).collect();
            words.map_or(argv, |words| seal(words).into_iter().map(OsString::from).collect())
        });
        Ok(Opening {
            run: dirs.run,
            env: self.environment(),
            wrap: Some(wrap),
            http: http::Client::new(),
            ..Opening::new("", serde_json::Value::Null, inner.config.home.clone(), dirs.data)
        })
    }

    /// What programs of runners find in their environment: all of ours but keys.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        let withheld = self.core.threads().withheld();
        let is_kept = |name: &OsString| !withheld.iter().any(|held| *name == **held);
        let env = &self.core.inner.config.env;
        env.iter().filter(|(name, _)| is_kept(name)).cloned().collect()
    }

    /// Closes a session when nothing has used it for a while.
    fn watch_idle(&self, id: String) {
        let runners = self.core.detached().runners();
        self.core.inner.runtime.spawn(async move {
            loop {
                let due = {
                    let table = runners.table();
                    let Some(it) = table.destinations.get(&id) else { return };
                    let Some(live) = &it.live else { return };
                    // Whoever holds the session uses it.
                    let is_used = Arc::strong_count(live) > 1;
                    if is_used { Instant::now() + IDLE } else { it.used + IDLE }
                };
                let look = Instant::now() + LOOK;
                tokio::select! {
                    () = tokio::time::sleep_until(due.min(look)) => {}
                    () = runners.core.stopping() => return,
                }
                if runners.note_lost(&id) {
                    return;
                }
                let is_idle = {
                    let table = runners.table();
                    table.destinations.get(&id).is_some_and(|it| it.used + IDLE <= Instant::now())
                };
                if is_idle && !runners.is_at_work(&id) {
                    runners.rest(&id).await;
                    return;
                }
            }
        });
    }

    /// Notes that the connection of a session is gone, if it is; its next use opens it anew.
    fn note_lost(&self, id: &str) -> bool {
        {
            let mut table = self.table();
            let Some(it) = table.destinations.get_mut(id) else { return true };
            if it.live.as_ref().is_none_or(|live| live.is_open()) {
                return it.live.is_none();
            }
            (it.live, it.state) = (None, RunnerState::Failed);
        }
        self.changed(id);
        true
    }

    /// Whether a turn works at a destination now.
    fn is_at_work(&self, id: &str) -> bool {
        let world = self.core.look();
        world.threads.values().any(|state| {
            let is_bound = state.thread.runner.as_ref().is_some_and(|it| it.destination == id);
            is_bound && state.active.is_some()
        })
    }

    /// Closes an idle session. What has work in it stays and is found again, and so does what a thread is
    /// bound to: that one is let go of if it can be.
    async fn rest(&self, id: &str) {
        let is_bound =
            self.core.look().threads.values().any(|state| {
                state.thread.runner.as_ref().is_some_and(|bound| bound.destination == id)
            });
        let rested = match is_bound {
            true => self.let_go_of(id).await,
            false => self.end_session(id, false).await.map(drop),
        };
        if let Err(error) = rested {
            tracing::warn!(%error, destination = id, "an idle runner session was not closed");
        }
    }

    /// Lets go of a session that is opened again at its next use.
    async fn let_go_of(&self, id: &str) -> Result<()> {
        let live = {
            let mut table = self.table();
            let destination = table.destinations.get_mut(id);
            let can = |it: &&mut super::Destination| it.provider.capabilities.detachable;
            destination.filter(can).and_then(|it| it.live.take())
        };
        match live {
            Some(live) => live.detach().await.map_err(failed),
            None => Ok(()),
        }
    }

    /// Ends the session of a destination. Gives where work is that was not destroyed.
    async fn end_session(&self, id: &str, force: bool) -> Result<Option<std::path::PathBuf>> {
        let gate = self.table().destinations.get(id).map(|it| Arc::clone(&it.gate));
        let Some(gate) = gate else { return Ok(None) };
        let _alone = gate.lock().await;
        let live = {
            let table = self.table();
            table.destinations.get(id).and_then(|it| it.live.clone())
        };
        let kept = match live {
            Some(live) => live.close(force).await.map_err(failed)?,
            None => None,
        };
        {
            let mut table = self.table();
            if let Some(destination) = table.destinations.get_mut(id) {
                destination.live = None;
                destination.state = match kept {
                    // It is still there, and found again when it is used.
                    Some(_) => RunnerState::Active,
                    None => RunnerState::Configured,
                };
                if kept.is_none() {
                    destination.session = None;
                }
            }
        }
        self.save().await?;
        self.changed(id);
        Ok(kept)
    }

    /// Deletes a destination with its session; the selected one if none is named. Of those of one id it is
    /// the selected one, else the newest.
    ///
    /// # Errors
    /// If its session cannot be ended.
    pub async fn delete(&self, destination: Option<&str>, force: bool) -> Result<Deleted> {
        let id = match destination {
            Some(id) => self.key_of(id),
            None => match self.destination_of(None) {
                Some(id) => id,
                None => return Ok(Deleted::default()),
            },
        };
        let (status, needs_opening) = {
            let table = self.table();
            let Some(it) = table.destinations.get(&id) else { return Ok(Deleted::default()) };
            (it.status(&id), it.live.is_none() && it.session.is_some() && it.missing.is_empty())
        };
        if needs_opening {
            self.wake(&id, &[RunnerState::Detached, RunnerState::Paused]);
            if let Err(error) = self.open(&id, Opener::default()).await {
                tracing::warn!(%error, destination = id, "a runner session could not be found again to be closed");
            }
        }
        let kept = match self.end_session(&id, force).await {
            Ok(kept) => kept,
            // A place that does not answer must not keep its record for ever.
            Err(error) if force => {
                let message =
                    format!("runner destination {id} is deleted without its session: {error}");
                self.core.log().warn(None, message);
                None
            }
            Err(error) => return Err(error),
        };
        {
            let mut table = self.table();
            table.destinations.remove(&id);
            if table.selected.as_deref() == Some(&*id) {
                table.selected = None;
            }
        }
        self.save().await?;
        self.announce(super::RunnerStatus { state: RunnerState::Deleted, session: None, ..status });
        Ok(Deleted { deleted: true, kept })
    }

    /// Lets go of all sessions when the daemon stops; what can be found again stays as it is.
    pub(crate) async fn let_go_of_all(&self) {
        let live: Vec<Arc<dyn Session>> = {
            let mut table = self.table();
            table.destinations.values_mut().filter_map(|it| it.live.take()).collect()
        };
        for session in live {
            let left = tokio::time::timeout(CLOSE_LIMIT, session.detach()).await;
            match left {
                // What cannot be detached is found again as it is.
                Ok(Ok(()) | Err(RunnerError::Unsupported { .. })) => {}
                Ok(Err(error)) => tracing::warn!(%error, "a runner session was not let go of"),
                Err(_) => tracing::warn!("a runner session took too long to be let go of"),
            }
        }
    }
}

pub(super) fn gone(id: &str) -> Error {
    let id = shown_destination(id);
    let message =
        format!("runner destination {id} was deleted; select it again, or start a new thread");
    Error::new(ErrorKind::NotFound, message)
}

fn refuse(id: &str, state: &str, next: &str) -> Error {
    let id = shown_destination(id);
    Error::conflict(format!("runner destination {id} is {state}; {next} first"))
}

/// Makes worktrees as core does: written down first, so that a crash leaves nothing half made. They stay on
/// record until the session that has them is noted.
struct RecordedTrees {
    core: Core,
    made: Mutex<Vec<u128>>,
}

impl RecordedTrees {
    /// The records of what was made.
    fn made(&self) -> Vec<u128> {
        std::mem::take(&mut *self.made.lock())
    }
}

impl TreeMaker for RecordedTrees {
    fn make<'a>(&'a self, repo: &'a Path, new: &'a NewWorktree) -> Work<'a, Created> {
        Box::pin(async move {
            let made = self.core.worktrees().create_held(repo, new).await;
            let (created, tree) = made.map_err(|error| RunnerError::Failed(error.to_string()))?;
            self.made.lock().push(AcceptedWork::Worktree(tree).id());
            Ok(created)
        })
    }
}
