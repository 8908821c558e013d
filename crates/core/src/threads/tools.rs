//! Tools at work: judged, asked for if need be, and run. For turns, and for clients that call one
//! directly.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use parking_lot::Mutex;
use rookery_agent::mcp::McpServers;
use rookery_agent::provider::{HostedTool, PermissionAnswer};
use rookery_agent::providers::Loan;
use rookery_agent::tool::{CommandLimit, Tool, ToolContext, ToolOutput};
use rookery_agent::tools;
use rookery_agent::turn::ToolDone;
use rookery_model::{
    Answer, Bounds, ItemId, Mode, PlanKey, Profile, RequestId, Thread, ThreadId, Timestamp,
    ToolKind, TurnId,
};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::permit::Permit;
use super::run::{Runner, panicked};
use super::world::ThreadWorld;
use crate::children::has_kind;
use crate::clock;
use crate::core::Core;
use crate::file_changes::{EditsMade, ObservedBy};
use crate::log::TurnChange;
use crate::reviews::BlockedEdit;
use crate::runners::RunnerContext;

/// The result for the model of a call that policy denied; the reason follows.
pub const POLICY_DENIED: &str = "policy denied tool call: ";
/// The result of one that a person denied; after a colon, that person's words may follow.
pub const APPROVAL_DENIED: &str = "policy rejected tool call: approval denied";
/// What stands in the place of those words if no person answered.
pub const NO_ANSWER: &str = "no answer came in time";

/// A request that outlived a daemon, with the place where its answer will come.
pub(crate) struct Resumed {
    pub(crate) id: RequestId,
    pub(crate) deadline: Option<Timestamp>,
    pub(crate) answer: tokio::sync::oneshot::Receiver<Answer>,
}

/// One call on its way.
pub(super) struct Job {
    pub(super) core: Core,
    pub(super) thread: ThreadId,
    /// The turn that calls; none for a client that calls by itself.
    pub(super) turn: Option<TurnId>,
    pub(super) deadline: Option<Timestamp>,
    pub(super) allowed: Option<Vec<String>>,
    pub(super) profile: Profile,
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) call_id: String,
    pub(super) stop: CancellationToken,
    pub(super) turnstile: Turnstile,
    /// The connection of the client that calls it without a turn.
    pub(super) client: Option<u64>,
    /// The user's shell when the call was made: what is shown, approved and run is one.
    pub(super) shell: String,
    /// The item of the call, if a turn made it.
    pub(super) item: Option<ItemId>,
    /// Whether an agent behind the provider runs it by itself, in a way that we do not know.
    pub(super) is_hosted: bool,
    /// Keys that were lent for the turn.
    pub(super) keys: Vec<Loan>,
}

/// Keeps the calls of one step in order up to the moment when each was asked for, or need not be.
#[derive(Default)]
pub(super) struct Turnstile {
    before: Mutex<Option<oneshot::Receiver<()>>>,
    after: Mutex<Option<oneshot::Sender<()>>>,
}

impl Turnstile {
    /// Waits for the calls before this one.
    pub(super) async fn wait(&self) {
        let before = self.before.lock().take();
        if let Some(before) = before {
            // A call that is gone is in no one's way.
            let _ = before.await;
        }
    }

    /// Lets the next call come.
    pub(super) fn pass(&self) {
        drop(self.after.lock().take());
    }
}

impl Runner {
    /// Begins to run a tool; the set of tools at work gives what comes of it.
    pub(super) fn run_tool(
        &mut self,
        item: ItemId,
        name: String,
        arguments: String,
        call_id: String,
    ) {
        let mut job = self.job(name, arguments, call_id);
        job.item = Some(item.clone());
        let (after, next) = oneshot::channel();
        let before = self.last_call.replace(next);
        job.turnstile = Turnstile { before: Mutex::new(before), after: Mutex::new(Some(after)) };
        self.tools.spawn(async move {
            let began = Instant::now();
            let done = AssertUnwindSafe(job.run()).catch_unwind().await;
            let mut done = done.unwrap_or_else(|_| panicked());
            done.duration_ms = Some(began.elapsed().as_millis() as u64);
            (item, done)
        });
    }

    /// Judges a tool that an agent behind the provider wants to run by itself.
    pub(super) fn judge_hosted(&mut self, permission: String, _item: ItemId, tool: HostedTool) {
        let mut job = self.job(tool.name.clone(), tool.input.to_string(), tool.id.clone());
        job.is_hosted = true;
        let kind = tool.kind.unwrap_or(ToolKind::Unknown);
        self.judged.spawn(async move {
            let permitted = job.permitted(kind).await;
            PermissionAnswer { id: permission, is_allowed: permitted.is_ok() }
        });
    }

    fn job(&self, name: String, arguments: String, call_id: String) -> Job {
        Job {
            core: self.core.clone(),
            thread: self.live.id,
            turn: Some(self.turn.id),
            deadline: self.turn.settings.deadline,
            allowed: self.turn.settings.allowed_tools.clone(),
            profile: self.turn.settings.profile,
            name,
            arguments,
            call_id,
            stop: self.stop.clone(),
            turnstile: Turnstile::default(),
            client: None,
            shell: self.core.threads().tool_shell(),
            item: None,
            is_hosted: false,
            keys: self.keys.clone(),
        }
    }
}

impl Job {
    pub(super) async fn run_between_hooks(&self, thread: &Thread) -> ToolDone {
        if thread.external_tools.iter().any(|tool| tool.name == self.name) {
            return tool_done(self.external().await);
        }
        let is_allowed =
            self.core.inner.agents.may_use(&self.name, thread, self.allowed.as_deref());
        let foreign = self.core.inner.agents.mcp.kind(&self.name).filter(|_| is_allowed);
        if let Some(kind) = foreign {
            return self.foreign(kind, None).await;
        }
        if let Some(server) = self.imported_server(thread).await.filter(|_| is_allowed) {
            let kind = server.kind(&self.name).unwrap_or(ToolKind::Unknown);
            return self.foreign(kind, Some(&server)).await;
        }
        let is_there = |tool: &&Tool| {
            (!tool.needs_assignment || thread.assignment.is_some())
                && thread.child.as_deref().is_none_or(|child| has_kind(child, tool.kind))
        };
        let found = tools::find(&self.name).filter(|_| is_allowed);
        let Some(tool) = found.filter(is_there) else {
            return tool_done(ToolOutput::error("tool not found"));
        };
        let arguments = match tools::parse_arguments(&self.arguments) {
            Ok(arguments) => arguments,
            Err(reason) => return tool_done(ToolOutput::error(reason)),
        };
        if let Err(reason) = (tool.check)(&arguments) {
            return tool_done(ToolOutput::error(reason));
        }
        match tool.name {
            "request_user_input" => return tool_done(self.user_input(arguments).await),
            "exit_plan_mode" => return tool_done(self.plan_exit(arguments).await),
            tools::COMPLETION => return tool_done(self.completed(arguments)),
            tools::ROLE_SWITCH => return self.switch_role(thread, arguments).await,
            tools::DELEGATION => return self.hand_on(thread, arguments).await,
            tools::CHILD => return self.start_child(thread, arguments).await,
            _ => {}
        }
        let permit = match self.permitted(tool.kind).await {
            Ok(permit) => permit,
            Err(refused) => return *refused,
        };
        self.announce_run();
        let output = self.execute(tool, thread, arguments, &permit).await;
        ToolDone { output, approval: permit.approval, duration_ms: None }
    }

    /// A tool of a server, through the same gate.
    async fn foreign(&self, kind: ToolKind, imported: Option<&McpServers>) -> ToolDone {
        let arguments = match tools::parse_arguments(&self.arguments) {
            Ok(arguments) => arguments,
            Err(reason) => return tool_done(ToolOutput::error(reason)),
        };
        let permit = match self.permitted(kind).await {
            Ok(permit) => permit,
            Err(refused) => return *refused,
        };
        self.announce_run();
        let mcp = imported.unwrap_or(&self.core.inner.agents.mcp);
        let output = mcp.call(&self.name, arguments, self.stop.clone()).await;
        let output = self.core.inner.agents.registry.mask(output);
        ToolDone { output, approval: permit.approval, duration_ms: None }
    }

    pub(super) async fn execute(
        &self,
        tool: &'static Tool,
        thread: &Thread,
        arguments: Value,
        permit: &Permit,
    ) -> ToolOutput {
        let runner_context = match tools::is_placed(tool) {
            true => self.core.runners().context(thread).await,
            false => Ok(RunnerContext::default()),
        };
        let runner_context = match runner_context {
            Ok(runner_context) => runner_context,
            // Never done here instead.
            Err(error) => {
                return ToolOutput::error(format!("the thread's runner cannot be used: {error}"));
            }
        };
        let (read_only, shell) = (permit.read_only, &permit.shell);
        let context = self.tool_context(thread, self.turn, read_only, shell, runner_context);
        let output = match tool.kind {
            ToolKind::Write => self.edit(tool, context.clone(), arguments).await,
            ToolKind::Exec => self.run_command(tool, &context, arguments).await,
            _ => {
                let output = (tool.run)(context.clone(), arguments).await;
                // Before it is kept anywhere.
                self.core.inner.agents.registry.mask(output)
            }
        };
        tools::finish(&context, output).await
    }

    /// Runs a tool that runs a command, and keeps what that was seen to change.
    async fn run_command(
        &self,
        tool: &'static Tool,
        context: &ToolContext,
        arguments: Value,
    ) -> ToolOutput {
        let changes = self.core.file_changes();
        let window = changes.before_command(tool.name, &arguments, context).await;
        let output = (tool.run)(context.clone(), arguments.clone()).await;
        let by = ObservedBy {
            thread: self.thread,
            turn: self.turn,
            call: self.call_id.clone(),
            item: self.item.clone(),
            tool: tool.name.to_owned(),
        };
        changes.after_command(by, window, &arguments, &output).await;
        self.core.inner.agents.registry.mask(output)
    }

    /// Runs a tool that changes files, and keeps what it changed. A caller that goes away meanwhile stops
    /// neither.
    async fn edit(
        &self,
        tool: &'static Tool,
        context: ToolContext,
        arguments: Value,
    ) -> ToolOutput {
        self.begin_plan().await;
        let core = self.core.detached();
        let (thread, turn) = (self.thread, self.turn);
        let (call, item) = (self.call_id.clone(), self.item.clone());
        let work = tokio::spawn(async move {
            let editing = core.file_changes().editing(&context.root);
            let output = (tool.run)(context, arguments).await;
            drop(editing);
            let mut output = core.inner.agents.registry.mask(output);
            let edits = std::mem::take(&mut output.edits);
            if !edits.is_empty() {
                let tool = tool.name.to_owned();
                let made = EditsMade { thread, turn, call, item, tool, edits };
                core.file_changes().record(made).await;
            }
            output
        });
        work.await.unwrap_or_else(|_| panicked().output)
    }

    /// Files change now: a plan of this turn that may be carried out is.
    async fn begin_plan(&self) {
        let Some(turn) = self.turn else { return };
        if !self.core.look().has_approved_plan(self.thread, turn) {
            return;
        }
        let begun = self.core.transact_durably(|tx| {
            tx.begin_plan(self.thread, turn);
            Ok(())
        });
        if let Err(error) = begun.await {
            tracing::error!(%error, "that a plan is carried out was not recorded");
        }
    }

    /// Keeps a change that an agent wants to make while it plans, to be looked at.
    pub(super) async fn block_edit(&self, kind: ToolKind) {
        let (Some(turn), Some(item)) = (self.turn, self.item.clone()) else { return };
        let is_edit = kind == ToolKind::Write && tools::find(&self.name).is_some();
        if !is_edit || self.mode() != Mode::Plan {
            return;
        }
        let touched = self.paths().await.unwrap_or_default();
        let paths = touched.into_iter().map(|path| path.shown);
        let edit = BlockedEdit {
            thread: self.thread,
            turn,
            key: PlanKey::Call(item),
            tool: self.name.clone(),
            paths: paths.collect(),
            preview: self.preview().await,
        };
        if let Err(error) = self.core.reviews().block(edit).await {
            tracing::error!(%error, "a change that was blocked was not recorded");
        }
    }

    /// Tells those who follow a task that its tool runs. Others learn of tools by their items.
    pub(super) fn announce_run(&self) {
        let (Some(turn), Some(item)) = (self.turn, &self.item) else { return };
        if self.core.threads().is_assigned(self.thread) {
            let runs = TurnChange::ToolRuns(turn, item.clone());
            self.core.inner.log.spine().send(Some(self.thread), [runs.into()]);
        }
    }

    /// What would change, as a diff or a command line.
    pub(super) async fn preview(&self) -> Option<String> {
        let thread = self.core.threads().get(self.thread)?.thread;
        let arguments = tools::parse_arguments(&self.arguments).ok()?;
        let runner_context = self.core.runners().context_at_hand(&thread);
        let context = self.tool_context(&thread, None, true, &self.shell, runner_context);
        tools::preview(context, &self.name, arguments).await
    }

    fn world(&self, thread: ThreadId, turn: Option<TurnId>, runner: Option<String>) -> ThreadWorld {
        let item = turn.zip(self.item.clone());
        ThreadWorld { core: self.core.detached(), thread, item, runner }
    }

    pub(super) fn tool_context(
        &self,
        thread: &Thread,
        turn: Option<TurnId>,
        read_only: bool,
        shell: &str,
        runner_context: RunnerContext,
    ) -> ToolContext {
        let inner = &self.core.inner;
        let agents = &inner.agents;
        let left = self.deadline.map(|deadline| {
            let left = deadline.as_micros().saturating_sub(clock::wall().as_micros()).max(0);
            Duration::from_micros(left as u64)
        });
        ToolContext {
            thread: thread.id,
            turn,
            root: runner_context.root.unwrap_or_else(|| thread.cwd.clone()),
            home: inner.config.home.clone(),
            scope: agents.path_scope(),
            secrets: agents.secrets(&inner.config.home, &thread.cwd),
            search: agents.search_bounds(),
            artifacts: agents.artifacts(),
            writes: inner.config.writes(),
            read_only,
            cancel: self.stop.clone(),
            time_left: left,
            commands: runner_context.commands,
            files: runner_context.files,
            session: runner_context.session.clone(),
            world: Arc::new(self.world(thread.id, turn, runner_context.session)),
            sessions: agents.sessions(),
            sandbox: agents.sandbox(&inner.config.home, &[&thread.cwd, &thread.root]),
            seal: agents.seal(&[&thread.cwd, &thread.root]),
            unattended: agents.unattended(),
            shell: shell.to_owned(),
            withheld: self.core.threads().withheld(),
            command_limit: thread.assignment.as_deref().and_then(|set| command_limit(&set.bounds)),
        }
    }
}

/// How long commands of a task may take, if that was set.
fn command_limit(bounds: &Bounds) -> Option<CommandLimit> {
    let seconds = bounds.command_seconds.filter(|seconds| *seconds > 0)?;
    let long_commands = bounds.long_commands.clone();
    Some(CommandLimit { limit: Duration::from_secs(seconds), long_commands })
}

pub(super) fn tool_done(output: ToolOutput) -> ToolDone {
    ToolDone { output, ..ToolDone::default() }
}
