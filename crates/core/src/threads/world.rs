//! What tools may do to the world: terminals that a user can watch, and what belongs to their thread.

use std::time::Duration;

use rookery_agent::tool::{TerminalCommand, TerminalOutput, ToolContext, ToolWorld, WorldFuture};
use rookery_agent::tools::{MemoryAnswer, MemoryCall, SkillText};
use rookery_model::{
    ExitStatus, Goal, GoalStatus, ItemId, OnExit, Origin, PlanStep, Terminal, TerminalId, ThreadId,
    TurnId,
};

use super::goal::GoalChange;
use super::output::end_of;
use crate::core::Core;
use crate::log::{ProcessStopping, ProgramName};
use crate::rooms::Threads;
use crate::terminals::OpenTerminal;

/// How much output of a tool's terminal is kept: characters for those who watch, bytes for the tool.
pub(super) const KEPT_OUTPUT: usize = 1 << 20;

/// The signal that asks.
const TERM: i32 = rustix::process::Signal::TERM.as_raw();

/// The world as tools see it.
pub(super) struct ThreadWorld {
    pub(super) core: Core,
    pub(super) thread: ThreadId,
    /// The item that shows what commands print, if a turn runs them.
    pub(super) item: Option<(TurnId, ItemId)>,
    /// The session of a runner that its programs belong to.
    pub(super) runner: Option<String>,
}

impl ToolWorld for ThreadWorld {
    fn open(&self, command: TerminalCommand) -> WorldFuture<'_, TerminalId> {
        Box::pin(async move {
            let TerminalCommand { argv, cwd, mut env, without, title } = command;
            let tag = rookery_host::ProcessTag::fresh();
            env.push((rookery_host::ProcessTag::VARIABLE.to_owned(), tag.value().to_owned()));
            let runner = self.runner.clone();
            env.extend(runner.map(|id| (rookery_host::SessionMark::VARIABLE.to_owned(), id)));
            let request = OpenTerminal {
                argv,
                cwd: Some(cwd),
                env,
                env_remove: without,
                first_title: Some(title),
                on_exit: OnExit::Keep,
                transcript_chars: Some(KEPT_OUTPUT),
                origin: Some(Origin::Tool(self.thread)),
                ..OpenTerminal::default()
            };
            let opened =
                self.core.terminals().open(request).await.map_err(|error| error.to_string())?;
            Ok(opened.id)
        })
    }

    fn output(
        &self,
        id: TerminalId,
        offset: u64,
        wait: Duration,
    ) -> WorldFuture<'_, TerminalOutput> {
        Box::pin(async move {
            let terminal = self.core.terminals().get(id).map_err(|error| error.to_string())?;
            let mut progress = terminal.progress();
            let ended = async {
                match &self.item {
                    Some(item) => self.follow(&terminal, &mut progress, offset, item).await,
                    None => end_of(&mut progress).await,
                }
            };
            // Time that runs out is no failure: there may be output all the same.
            let status = tokio::time::timeout(wait, ended).await.ok();
            let (bytes, from) = terminal.last_bytes_since(offset, KEPT_OUTPUT);
            if status.is_some() {
                // All that is wanted of it was read; its item keeps the output.
                let core = self.core.clone();
                self.core.inner.background.spawn(async move {
                    if let Err(error) = core.terminals().close_soon(id).await {
                        tracing::debug!(%error, "a tool's terminal was closed before");
                    }
                });
            }
            Ok(TerminalOutput {
                next: from + bytes.len() as u64,
                lost: from.saturating_sub(offset),
                bytes,
                ended: status.map(exit_number),
            })
        })
    }

    fn write(&self, id: TerminalId, bytes: Vec<u8>) -> WorldFuture<'_, ()> {
        Box::pin(async move {
            let terminal = self.core.terminals().get(id).map_err(|error| error.to_string())?;
            terminal.write_all(&bytes).await.map_err(|error| error.to_string())
        })
    }

    fn end(&self, id: TerminalId) -> WorldFuture<'_, ()> {
        Box::pin(async move {
            self.core.threads().end_tool_terminal(id).await.map_err(|error| error.to_string())
        })
    }

    fn goal(&self, thread: ThreadId) -> Option<Goal> {
        self.core.threads().get(thread)?.thread.goal
    }

    fn set_goal(
        &self,
        thread: ThreadId,
        objective: String,
        budget: Option<u64>,
    ) -> WorldFuture<'_, Goal> {
        let change = GoalChange {
            objective: Some(objective),
            status: Some(GoalStatus::Active),
            token_budget: Some(budget),
        };
        Box::pin(async move {
            self.core.threads().set_goal(thread, change).await.map_err(|error| error.to_string())
        })
    }

    fn update_goal(&self, thread: ThreadId, status: GoalStatus) -> WorldFuture<'_, Goal> {
        let change = GoalChange { status: Some(status), ..GoalChange::default() };
        Box::pin(async move {
            self.core.threads().set_goal(thread, change).await.map_err(|error| error.to_string())
        })
    }

    fn set_plan(&self, thread: ThreadId, plan: Vec<PlanStep>) -> WorldFuture<'_, ()> {
        Box::pin(async move {
            self.core
                .threads()
                .set_tasks(thread, plan, false)
                .await
                .map_err(|error| error.to_string())
        })
    }

    fn set_ledger(&self, thread: ThreadId, ledger: Vec<PlanStep>) -> WorldFuture<'_, ()> {
        Box::pin(async move {
            self.core
                .threads()
                .set_tasks(thread, ledger, true)
                .await
                .map_err(|error| error.to_string())
        })
    }

    fn memory<'a>(
        &'a self,
        context: &'a ToolContext,
        call: MemoryCall,
    ) -> WorldFuture<'a, MemoryAnswer> {
        let turn = context.turn.map(|turn| (self.thread, turn));
        Box::pin(async move {
            let done = self.core.memories().for_tool(self.thread, turn, call).await;
            done.map_err(|error| error.message().to_owned())
        })
    }

    fn skill(&self, name: String) -> WorldFuture<'_, SkillText> {
        Box::pin(async move {
            let seen = self.core.threads().get(self.thread).ok_or("the thread is gone")?;
            self.core.imports().skill(&seen.thread, &name).await
        })
    }
}

impl Threads {
    /// Ends a tool's program with all it started: asked first, by force after a grace.
    pub(crate) async fn end_tool_terminal(&self, id: TerminalId) -> rookery_model::Result<()> {
        let terminal = self.core.terminals().get(id)?;
        let pid = terminal.pid();
        let find = move || (rookery_host::Strays::of(pid), rookery_host::ProcessTag::from_pid(pid));
        let found = tokio::task::spawn_blocking(find).await;
        let _asked = terminal.signal(TERM, true);
        let mut progress = terminal.progress();
        let grace = self.core.inner.agents.lifecycle().process_grace_timeout;
        // One that takes its time is ended by closing.
        let _ = tokio::time::timeout(grace, end_of(&mut progress)).await;
        let closed = self.core.terminals().close(id).await;
        if let Ok((strays, tag)) = found {
            let kill = move || {
                strays.kill();
                tag.into_iter().for_each(|tag| tag.kill());
            };
            let _ = tokio::task::spawn_blocking(kill).await;
        }
        closed
    }

    /// Terminals in which tools run programs, with their threads; the oldest first.
    pub fn tool_terminals(&self) -> Vec<(ThreadId, Terminal)> {
        let world = self.core.look();
        let tools = world.terminals.values().filter_map(|terminal| match terminal.origin {
            Origin::Tool(thread) => Some((thread, terminal.clone())),
            _ => None,
        });
        let mut tools: Vec<(ThreadId, Terminal)> = tools.collect();
        tools.sort_by_key(|(_, terminal)| (terminal.created_at, terminal.id));
        tools
    }

    /// Ends the program of a tool, for a reason if there is one. False if it had ended before.
    ///
    /// # Errors
    /// If that is no terminal of a tool.
    pub async fn stop_tool(
        &self,
        id: TerminalId,
        reason: Option<String>,
    ) -> rookery_model::Result<bool> {
        let found = self.tool_terminals().into_iter().find(|(_, terminal)| terminal.id == id);
        let (_, terminal) = found.ok_or_else(|| {
            rookery_model::Error::not_found(format!("no tool runs in terminal {id}"))
        })?;
        if terminal.is_alive() {
            let program = ProgramName::Terminal(id);
            self.core.announce_stopping(ProcessStopping { program, reason });
        }
        match self.end_tool_terminal(id).await {
            // Whoever waited for its end has closed it.
            Err(error) if error.kind() != rookery_model::ErrorKind::NotFound => Err(error),
            _ => Ok(terminal.is_alive()),
        }
    }

    /// Ends what tools of the last daemon left running: nothing waits for it any more.
    pub(crate) async fn end_left_tools(&self) {
        let left: Vec<TerminalId> = {
            let world = self.core.look();
            let is_tools = |terminal: &&Terminal| matches!(terminal.origin, Origin::Tool(_));
            world.terminals.values().filter(is_tools).map(|terminal| terminal.id).collect()
        };
        for id in left {
            if let Err(error) = self.end_tool_terminal(id).await {
                tracing::debug!(%error, "a tool's terminal was gone already");
            }
        }
    }
}

fn exit_number(status: ExitStatus) -> i32 {
    match status {
        ExitStatus::Code(code) => code,
        ExitStatus::Signal(signal) => -signal,
        ExitStatus::Unknown => -1,
    }
}
