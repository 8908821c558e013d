//! Submitting a task: checked, allowed, recorded, and only then promised.

use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::BoxFuture;
use rookery_agent::providers::Loan;
use rookery_model::{
    Error, Lifetime, Lost, Mode, Origin, Result, Retry, Task, TaskId, TaskRunner, TaskSpec,
    TaskState, TaskTerminal, ThreadId, TurnId,
};
use rookery_tasks::{Submitter, protocol, task_id};
use rookery_term::redact::DEFAULT_REPLACEMENT;
use serde_json::Value;

use super::executors::{self, Executor};
use crate::clock;
use crate::commands::{ExecPermit, ExecWords};
use crate::rooms::Tasks;
use crate::workflows::ClientGrant;

/// Tasks that may wait at once.
const MAX_OPEN: usize = 1000;
/// How large an input may be.
const MAX_INPUT: usize = 1 << 20;
/// How long a key may be.
const MAX_KEY: usize = 256;
/// How long a task may run at most.
const MAX_TIMEOUT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How often a task is done again at most, and how long is waited before that.
const MAX_RETRIES: u32 = 100;
const MAX_BACKOFF: Duration = Duration::from_secs(24 * 60 * 60);

/// A task to be submitted.
#[derive(Clone, Debug)]
pub struct NewTask {
    /// The name of its executor.
    pub executor: String,
    /// The executor's input.
    pub input: Value,
    /// Where it works.
    pub workspace: Option<PathBuf>,
    /// Where its client works, if nothing else is said; where threads work if that is not said either.
    pub usual_workspace: Option<PathBuf>,
    pub thread: Option<ThreadId>,
    pub turn: Option<TurnId>,
    /// With what it ends at the latest; with its turn, else its thread, else itself if not said.
    pub lifetime: Option<Lifetime>,
    /// How long it may run.
    pub timeout: Option<Duration>,
    /// The same key again is the same task; a new one if not said.
    pub key: Option<String>,
    /// When it is done again.
    pub retry: Retry,
    /// What becomes of it when the daemon dies with it.
    pub lost: Lost,
    /// Where its program runs.
    pub site: TaskSite,
    /// How its terminal is opened, if it has one.
    pub terminal: Option<TaskTerminal>,
    /// Whether a person typed it, so that it runs at once and as if in their own terminal. An agent's
    /// caller is asked for all the same.
    pub is_typed: bool,
    /// The connection that submits it, whose mode holds; 0 for none.
    pub client: u64,
    /// Keys that its client lends for it. They are not kept.
    pub keys: Vec<Loan>,
    /// What the client's protocol calls a command where it is asked for.
    pub words: ExecWords,
}

impl Default for NewTask {
    fn default() -> Self {
        NewTask {
            executor: String::new(),
            input: Value::Null,
            workspace: None,
            usual_workspace: None,
            thread: None,
            turn: None,
            lifetime: None,
            timeout: None,
            key: None,
            retry: Retry::default(),
            lost: Lost::Fail,
            site: TaskSite::Here,
            terminal: None,
            is_typed: false,
            client: 0,
            keys: Vec::new(),
            words: ExecWords::default(),
        }
    }
}

/// Where the program of a task runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TaskSite {
    /// On this machine as it is.
    #[default]
    Here,
    /// At the runner of its thread, else at the selected one; here if there is neither.
    Chosen,
    /// At this one.
    At(TaskRunner),
}

impl NewTask {
    /// Whether its program runs in a terminal.
    pub(super) fn wants_terminal(&self) -> bool {
        self.terminal.is_some() || wants_terminal(&self.input).is_some()
    }

    /// For whom it is done.
    pub(super) fn grant(&self) -> ClientGrant {
        let client = Some(self.client).filter(|client| *client != 0);
        ClientGrant { client, keys: self.keys.clone() }
    }

    /// The same as a task that is over, as a new one.
    pub(super) fn again(task: &Task, grant: ClientGrant) -> NewTask {
        NewTask {
            executor: task.spec.executor.clone(),
            input: serde_json::from_str(&task.spec.input).unwrap_or(Value::Null),
            workspace: Some(task.spec.workspace.clone()),
            timeout: task.spec.timeout,
            retry: task.retry,
            lost: task.lost,
            site: task.spec.runner.clone().map_or(TaskSite::Here, TaskSite::At),
            terminal: task.spec.terminal.clone(),
            is_typed: task.spec.is_unasked,
            client: grant.client.unwrap_or_default(),
            keys: grant.keys,
            ..NewTask::default()
        }
    }
}

/// What became of a submission.
#[derive(Clone, Debug)]
pub enum Submitted {
    /// It is recorded and will be done.
    Task(Box<Task>),
    /// It must not be done.
    Denied {
        /// Why not.
        reason: String,
        /// The mode that says so.
        mode: Mode,
        /// Whether it was asked for, and not approved.
        was_asked: bool,
    },
}

impl Tasks {
    /// Submits a task. If it has to be asked for, this waits for the answer.
    ///
    /// # Errors
    /// `Invalid` if something is wrong with it, `Busy` if too many wait, `Closed` if the daemon stops.
    pub fn submit(&self, new: NewTask) -> BoxFuture<'_, Result<Submitted>> {
        Box::pin(self.submit_inner(new))
    }

    async fn submit_inner(&self, new: NewTask) -> Result<Submitted> {
        let executor = executors::find(&new.executor).ok_or_else(|| {
            let known: Vec<&str> = executors::all().iter().map(|one| one.id).collect();
            let (name, known) = (&new.executor, known.join(", "));
            Error::invalid(
                "executor_id",
                format!("unknown executor \"{name}\"; there are: {known}"),
            )
        })?;
        self.check(&new, executor)?;
        if self.core.inner.agents.is_draining() {
            return Err(Error::closed("the server is shutting down and takes no new tasks"));
        }
        let origin = self.core.caller().origin();
        let key = new.key.clone().unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        let by = origin.to_string();
        let id = task_id(Submitter { cluster: "local", space: "local", by: &by }, &key);
        if let Ok(there) = self.get(id) {
            return Ok(Submitted::Task(Box::new(Task::clone(&there))));
        }
        let is_unasked = new.is_typed && origin == Origin::Person;
        let runner = self.runner_of(executor, &new);
        let workspace = self.workspace(executor, &new, runner.as_ref());
        let place = (workspace.as_path(), runner.as_ref());
        let is_reading = match self.permit(executor, &new, place, is_unasked).await? {
            ExecPermit::Given { is_reading } => is_reading,
            ExecPermit::Denied { reason, mode } => {
                return Ok(Submitted::Denied { reason, mode, was_asked: false });
            }
            ExecPermit::Refused { reason, mode } => {
                return Ok(Submitted::Denied { reason, mode, was_asked: true });
            }
        };
        self.core.sessions().ensure_saving()?;
        let grant = new.grant();
        let spec = TaskSpec { is_reading, is_unasked, runner, ..spec_of(&new, workspace) };
        let task = record_of(new, spec, id, key, origin);
        self.core.inner.tasks.state.lock().grants.insert(id, grant);
        let submitted = protocol::submit(self, self, task).await;
        if submitted.as_ref().map_or(true, |task| task.state.is_over()) {
            self.core.inner.tasks.state.lock().grants.remove(&id);
        }
        let task = submitted?;
        self.hand_out();
        Ok(Submitted::Task(Box::new(task)))
    }

    fn runner_of(&self, executor: &Executor, new: &NewTask) -> Option<TaskRunner> {
        match &new.site {
            TaskSite::Chosen if executor.at_runners => {
                self.core.runners().for_task(new.thread, new.workspace.as_deref())
            }
            TaskSite::At(runner) if executor.at_runners => Some(runner.clone()),
            TaskSite::Here | TaskSite::Chosen | TaskSite::At(_) => None,
        }
    }

    fn workspace(
        &self,
        executor: &Executor,
        new: &NewTask,
        runner: Option<&TaskRunner>,
    ) -> PathBuf {
        if let Some(TaskRunner { destination, workspace }) = runner {
            let root = || self.core.runners().shown_root(destination);
            return workspace.clone().unwrap_or_else(root);
        }
        let of_thread = || {
            let thread = (executor.thread)(new)?;
            Some(self.core.look().threads.get(&thread)?.thread.cwd.clone())
        };
        let usual = || self.core.inner.agents.config.cwd.clone();
        let said = new.workspace.clone().or_else(of_thread);
        said.or_else(|| new.usual_workspace.clone()).unwrap_or_else(usual)
    }

    fn check(&self, new: &NewTask, executor: &Executor) -> Result<()> {
        let wrong = |field, message: &str| Err(Error::invalid(field, message));
        if new.input.to_string().len() > MAX_INPUT {
            return wrong("input", "input must not be larger than 1 MiB");
        }
        if new.input.to_string().contains(DEFAULT_REPLACEMENT) {
            return wrong("input", "secrets in the input were not kept; submit the task again");
        }
        (executor.check)(&new.input)?;
        if new.key.as_ref().is_some_and(|key| key.is_empty() || key.len() > MAX_KEY) {
            return wrong("key", "key must have from 1 to 256 bytes");
        }
        if new.timeout.is_some_and(|limit| limit.is_zero() || limit > MAX_TIMEOUT) {
            return wrong("timeout_seconds", "timeout_seconds must be from 1 to 2592000");
        }
        if new.retry.max > MAX_RETRIES {
            return wrong("retry", "a task is done again 100 times at most");
        }
        if new.retry.backoff > MAX_BACKOFF {
            return wrong("retry", "the backoff of a task must be one day at most");
        }
        if new.workspace.as_ref().is_some_and(|path| !path.is_absolute()) {
            return wrong("workspace", "workspace must be an absolute path");
        }
        let world = self.core.look();
        if world.tasks.open() >= MAX_OPEN {
            return Err(Error::busy(format!("{MAX_OPEN} tasks wait or run already; cancel some")));
        }
        let Some(thread) = new.thread else {
            let needs_thread = matches!(lifetime(new), Lifetime::Turn | Lifetime::Thread);
            return match needs_thread || new.turn.is_some() {
                true => wrong("thread_id", "thread_id is needed by turn_id and by this lifetime"),
                false => Ok(()),
            };
        };
        let state = world.threads.get(&thread);
        let state = state
            .ok_or_else(|| Error::invalid("thread_id", format!("thread not found: {thread}")))?;
        let active = state.active.as_ref().map(|active| active.turn);
        match lifetime(new) {
            Lifetime::Turn if new.turn.is_none() => {
                wrong("turn_id", "turn_id is needed by this lifetime")
            }
            Lifetime::Turn if active != new.turn => wrong("turn_id", "that turn does not run"),
            Lifetime::Thread if state.thread.archived => {
                wrong("thread_id", "the thread is archived")
            }
            Lifetime::Turn | Lifetime::Thread | Lifetime::Server => Ok(()),
        }
    }
}

fn spec_of(new: &NewTask, workspace: PathBuf) -> TaskSpec {
    TaskSpec {
        executor: new.executor.clone(),
        input: new.input.to_string(),
        workspace,
        timeout: new.timeout,
        terminal: new.terminal.clone().or_else(|| wants_terminal(&new.input)),
        runner: None,
        is_reading: false,
        is_unasked: false,
    }
}

fn record_of(new: NewTask, spec: TaskSpec, id: TaskId, key: String, origin: Origin) -> Task {
    Task {
        id,
        space: "local".to_owned(),
        by: origin.to_string(),
        key,
        needs: Vec::new(),
        lifetime: lifetime(&new),
        spec,
        thread: new.thread,
        turn: new.turn,
        origin,
        retry: new.retry,
        lost: new.lost,
        state: TaskState::Queued,
        epoch: 0,
        message: 0,
        holder: None,
        maybe_twice: false,
        attempts: Vec::new(),
        attempt_count: 0,
        cancel: None,
        created_at: clock::wall(),
        started_at: None,
        ended_at: None,
        result: None,
        revision: 1,
    }
}

fn lifetime(new: &NewTask) -> Lifetime {
    new.lifetime.unwrap_or(match (new.thread, new.turn) {
        (_, Some(_)) => Lifetime::Turn,
        (Some(_), None) => Lifetime::Thread,
        (None, None) => Lifetime::Server,
    })
}

fn wants_terminal(input: &Value) -> Option<TaskTerminal> {
    (input.get("pty") == Some(&Value::Bool(true))).then(TaskTerminal::default)
}
