//! Commands of tools that run at runners: listed while they run and for a while after, and stopped.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use rookery_agent::tool::{RemoteCommand, RemoteCommands, RemoteEnd, WorldFuture};
use rookery_model::{ThreadId, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::clock;
use crate::core::Core;
use crate::log::{ProcessStopping, ProgramName};
use crate::rooms::Runners;

/// Commands that ended and are remembered.
const MAX_ENDED: usize = 64;

/// A command of a tool at a runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerProcess {
    /// What it is called.
    pub id: String,
    /// The thread whose tool runs it.
    pub thread: ThreadId,
    pub destination: String,
    pub session: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Where it runs, there.
    pub cwd: PathBuf,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How it ended; none if it was stopped.
    pub code: Option<i32>,
}

/// Commands at runners.
#[derive(Default)]
pub(super) struct Running {
    now: BTreeMap<String, (RunnerProcess, CancellationToken)>,
    /// The oldest first.
    ended: VecDeque<RunnerProcess>,
}

impl Runners {
    /// Commands of tools that run at runners, and those that ended lately if asked for; the oldest first.
    pub fn processes(&self, includes_ended: bool) -> Vec<RunnerProcess> {
        let running = self.core.inner.runners.running.lock_quietly();
        let ended = running.ended.iter().filter(|_| includes_ended);
        let mut all: Vec<_> =
            ended.chain(running.now.values().map(|(one, _)| one)).cloned().collect();
        all.sort_by(|one, other| (one.started_at, &one.id).cmp(&(other.started_at, &other.id)));
        all
    }

    /// Asks a command at a runner to end, for a reason if there is one. False if it does not run.
    pub fn stop_process(&self, id: &str, reason: Option<String>) -> bool {
        let running = self.core.inner.runners.running.lock_quietly();
        let stop = running.now.get(id).map(|(_, stop)| stop.clone());
        drop(running);
        let Some(stop) = stop else { return false };
        let program = ProgramName::AtRunner(id.to_owned());
        self.core.announce_stopping(ProcessStopping { program, reason });
        stop.cancel();
        true
    }

    /// The same commands, each of which is listed while it runs.
    pub(super) fn listed(
        &self,
        commands: Arc<dyn RemoteCommands>,
        (thread, destination, session): (ThreadId, &str, &str),
    ) -> Arc<dyn RemoteCommands> {
        Arc::new(Listed {
            core: self.core.detached(),
            commands,
            thread,
            destination: destination.to_owned(),
            session: session.to_owned(),
        })
    }
}

struct Listed {
    core: Core,
    commands: Arc<dyn RemoteCommands>,
    thread: ThreadId,
    destination: String,
    session: String,
}

impl Listed {
    fn enter(&self, command: &RemoteCommand, stop: CancellationToken) -> Entry {
        let id = format!("run_{}", uuid::Uuid::now_v7());
        let process = RunnerProcess {
            id: id.clone(),
            thread: self.thread,
            destination: self.destination.clone(),
            session: self.session.clone(),
            command: command.argv.clone(),
            cwd: command.cwd.clone(),
            started_at: clock::wall(),
            ended_at: None,
            code: None,
        };
        self.core.inner.runners.running.lock().now.insert(id.clone(), (process, stop));
        Entry { core: self.core.clone(), id, code: None }
    }
}

/// A command in the list; it has ended when this is dropped.
struct Entry {
    core: Core,
    id: String,
    code: Option<i32>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut running = self.core.inner.runners.running.lock();
        let Some((process, stop)) = running.now.remove(&self.id) else { return };
        let code = self.code.filter(|_| !stop.is_cancelled());
        running.ended.push_back(RunnerProcess { ended_at: Some(clock::wall()), code, ..process });
        let surplus = running.ended.len().saturating_sub(MAX_ENDED);
        running.ended.drain(..surplus);
    }
}

impl RemoteCommands for Listed {
    fn in_terminal(
        &self,
        command: &RemoteCommand,
    ) -> Result<Option<(Vec<String>, String)>, String> {
        self.commands.in_terminal(command)
    }

    fn run(&self, mut command: RemoteCommand) -> WorldFuture<'_, RemoteEnd> {
        Box::pin(async move {
            let stop = command.cancel.child_token();
            let mut entry = self.enter(&command, stop.clone());
            command.cancel = stop;
            let end = self.commands.run(command).await;
            entry.code = end.as_ref().ok().map(|end| end.code);
            end
        })
    }

    fn end<'a>(&'a self, id: &'a str) -> WorldFuture<'a, ()> {
        self.commands.end(id)
    }
}
