//! A runner as tools see it: commands that run there, and files that are only there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rookery_agent::tool::{
    RemoteCommand, RemoteCommands, RemoteEnd, RemoteFiles, RemoteKind, WorldFuture,
};
use rookery_model::{Result, Thread};
use rookery_runners::{Command, ExitCause, Location, RunnerError, Session, TerminalLaunch};

use super::{Opener, RunnerState, find};
use crate::rooms::Runners;

/// How much of a command's output is kept.
const OUTPUT: usize = 1 << 20;

/// What the tools of a thread work with, if it works at a runner.
#[derive(Clone, Default)]
pub(crate) struct RunnerContext {
    /// The directory that relative paths begin at, if it is not the thread's own.
    pub(crate) root: Option<PathBuf>,
    /// How commands run, if not on this machine.
    pub(crate) commands: Option<Arc<dyn RemoteCommands>>,
    /// Where files are, if not on this machine.
    pub(crate) files: Option<Arc<dyn RemoteFiles>>,
    /// The session that commands of this machine belong to.
    pub(crate) session: Option<String>,
}

impl Runners {
    /// Whether commands of a thread run where no sandbox of ours holds them.
    pub(crate) fn is_elsewhere(&self, thread: rookery_model::ThreadId) -> bool {
        let world = self.core.look();
        let bound = world.threads.get(&thread).and_then(|it| it.thread.runner.as_ref());
        bound.is_some_and(|it| whereabouts(&it.provider) != Location::Here)
    }

    /// What is known of a thread's place before one of its tools may run, for those who judge a call or
    /// show what it would do. Nothing is opened for it: without an open session no file over there is read.
    pub(crate) fn context_at_hand(&self, thread: &Thread) -> RunnerContext {
        let Some(bound) = &thread.runner else { return RunnerContext::default() };
        match whereabouts(&bound.provider) {
            Location::Here | Location::FilesHere => RunnerContext::default(),
            Location::Away => {
                let live = self.live(&bound.destination);
                let files: Arc<dyn RemoteFiles> = match live {
                    Some(session) => Arc::new(Remote { session, local_root: None }),
                    None => Arc::new(Unopened),
                };
                let root = Some(bound.workspace.clone());
                RunnerContext { root, files: Some(files), ..RunnerContext::default() }
            }
        }
    }

    /// The session of a destination, if it is open and in use.
    fn live(&self, id: &str) -> Option<Arc<dyn Session>> {
        let table = self.table();
        let destination = table.destinations.get(id)?;
        let live = destination.live.as_ref().filter(|live| live.is_open())?;
        (destination.state == RunnerState::Active).then(|| Arc::clone(live))
    }

    /// What the tools of a thread work with. Opens the session if it has to be.
    ///
    /// # Errors
    /// If the runner cannot be used: then no tool may run here instead.
    pub(crate) async fn context(&self, thread: &Thread) -> Result<RunnerContext> {
        let Some(bound) = &thread.runner else { return Ok(RunnerContext::default()) };
        let client = {
            let world = self.core.look();
            let active = world.threads.get(&thread.id).and_then(|state| state.active.as_ref());
            active.and_then(|active| active.client).unwrap_or_default()
        };
        let by = Opener { client, thread: Some(thread.id) };
        let session = self.open(&bound.destination, by).await?;
        let info = session.info();
        let mut context =
            RunnerContext { session: Some(info.id.clone()), ..RunnerContext::default() };
        if info.runs_here {
            return Ok(context);
        }
        let remote =
            Arc::new(Remote { local_root: info.local_root.clone(), session: Arc::clone(&session) });
        if info.local_root.is_none() {
            context.root = Some(bound.workspace.clone());
            context.files = Some(remote.clone());
        }
        let of = (thread.id, bound.destination.as_str(), info.id.as_str());
        context.commands = Some(self.listed(remote, of));
        Ok(context)
    }
}

/// Where sessions of a provider are. One that is not known is not here.
fn whereabouts(provider: &str) -> Location {
    find(provider).map_or(Location::Away, |provider| provider.whereabouts)
}

/// Files of a session that is not open.
struct Unopened;

impl Unopened {
    fn refuse<'a, T: Send + 'a>() -> WorldFuture<'a, T> {
        let why = "the runner's session is not open".to_owned();
        Box::pin(std::future::ready(Err(why)))
    }
}

impl RemoteFiles for Unopened {
    fn kind<'a>(&'a self, _: &'a Path) -> WorldFuture<'a, Option<RemoteKind>> {
        Self::refuse()
    }

    fn read<'a>(&'a self, _: &'a Path, _: u64) -> WorldFuture<'a, Vec<u8>> {
        Self::refuse()
    }

    fn mode<'a>(&'a self, _: &'a Path) -> WorldFuture<'a, Option<u32>> {
        Self::refuse()
    }

    fn write<'a>(&'a self, _: &'a Path, _: Vec<u8>, _: Option<u32>) -> WorldFuture<'a, ()> {
        Self::refuse()
    }

    fn remove<'a>(&'a self, _: &'a Path) -> WorldFuture<'a, ()> {
        Self::refuse()
    }

    fn list<'a>(&'a self, _: &'a Path) -> WorldFuture<'a, Vec<(String, bool)>> {
        Self::refuse()
    }

    fn find<'a>(&'a self, _: &'a Path, _: usize) -> WorldFuture<'a, Vec<String>> {
        Self::refuse()
    }
}

/// A session as tools see it.
struct Remote {
    session: Arc<dyn Session>,
    local_root: Option<PathBuf>,
}

impl Remote {
    fn text(path: &Path) -> String {
        path.to_string_lossy().into_owned()
    }

    /// A directory by its path there.
    fn cwd(&self, path: &Path) -> String {
        let there = self.local_root.as_ref().and_then(|root| path.strip_prefix(root).ok());
        let there = there.map(|below| self.session.info().root.join(below));
        Self::text(there.as_deref().unwrap_or(path))
    }
}

fn error_text(error: RunnerError) -> String {
    error.to_string()
}

impl RemoteCommands for Remote {
    fn in_terminal(
        &self,
        command: &RemoteCommand,
    ) -> std::result::Result<Option<(Vec<String>, String)>, String> {
        let launch = TerminalLaunch {
            id: None,
            argv: command.argv.clone(),
            cwd: Some(self.cwd(&command.cwd)),
            env: command.env.clone(),
            has_terminal: command.has_terminal,
        };
        let wrapped = self.session.in_terminal(&launch).map_err(error_text)?;
        Ok(wrapped.map(|wrapped| (wrapped.argv, wrapped.id)))
    }

    fn run(&self, command: RemoteCommand) -> WorldFuture<'_, RemoteEnd> {
        Box::pin(async move {
            let mut run = Command::new(command.argv);
            run.cwd = Some(self.cwd(&command.cwd));
            run.env = command.env;
            run.output_limit = OUTPUT;
            run.cancel = command.cancel;
            let end = self.session.exec(run).await.map_err(error_text)?;
            let code = match end.how {
                ExitCause::Exited => end.exit_code.unwrap_or(-1),
                ExitCause::Cancelled | ExitCause::TimedOut => -1,
            };
            let output = [end.stdout, end.stderr].concat();
            Ok(RemoteEnd { output, code, dropped: end.dropped })
        })
    }

    fn end<'a>(&'a self, id: &'a str) -> WorldFuture<'a, ()> {
        Box::pin(async move { self.session.end_command(id).await.map_err(error_text) })
    }
}

impl RemoteFiles for Remote {
    fn kind<'a>(&'a self, path: &'a Path) -> WorldFuture<'a, Option<RemoteKind>> {
        Box::pin(async move {
            let text = Self::text(path);
            match self.session.list(&text).await {
                Ok(_) => return Ok(Some(RemoteKind::Dir)),
                Err(error @ RunnerError::Outside(_)) => return Err(error_text(error)),
                Err(_) => {}
            }
            match self.session.read_file(&text, 0).await {
                Ok(_) | Err(RunnerError::TooLarge { .. }) => Ok(Some(RemoteKind::File)),
                Err(RunnerError::NotFound(_)) => Ok(None),
                Err(error) => Err(error_text(error)),
            }
        })
    }

    fn read<'a>(&'a self, path: &'a Path, limit: u64) -> WorldFuture<'a, Vec<u8>> {
        Box::pin(async move {
            self.session.read_file(&Self::text(path), limit).await.map_err(error_text)
        })
    }

    fn mode<'a>(&'a self, path: &'a Path) -> WorldFuture<'a, Option<u32>> {
        Box::pin(async move { self.session.mode(&Self::text(path)).await.map_err(error_text) })
    }

    fn write<'a>(
        &'a self,
        path: &'a Path,
        bytes: Vec<u8>,
        mode: Option<u32>,
    ) -> WorldFuture<'a, ()> {
        Box::pin(async move {
            let text = Self::text(path);
            let is_made = mode.is_some() && self.kind(path).await?.is_none();
            let written = match mode.filter(|_| is_made) {
                Some(mode) => self.session.make_file(&text, bytes, mode).await,
                None => self.session.write_file(&text, bytes).await,
            };
            written.map_err(error_text)
        })
    }

    fn remove<'a>(&'a self, path: &'a Path) -> WorldFuture<'a, ()> {
        Box::pin(
            async move { self.session.remove_file(&Self::text(path)).await.map_err(error_text) },
        )
    }

    fn list<'a>(&'a self, path: &'a Path) -> WorldFuture<'a, Vec<(String, bool)>> {
        Box::pin(async move {
            let entries = self.session.list(&Self::text(path)).await.map_err(error_text)?;
            Ok(entries.into_iter().map(|entry| (entry.name, entry.is_dir)).collect())
        })
    }

    fn find<'a>(&'a self, path: &'a Path, most: usize) -> WorldFuture<'a, Vec<String>> {
        Box::pin(
            async move { self.session.find(&Self::text(path), most).await.map_err(error_text) },
        )
    }
}
