//! Commands that go on after the call that started them: what they change meanwhile is seen when they
//! are looked at again, or when the turn ends.

use std::path::PathBuf;

use rookery_agent::tool::{ToolContext, ToolOutput};
use rookery_model::ThreadId;
use serde_json::Value;

use super::observe::{ObservedBy, Window};
use crate::rooms::FileChanges;

/// Tools that run commands.
const COMMANDS: &[&str] = &["shell", "exec_command", "write_stdin", "unified_exec"];

/// A command that still runs.
pub(super) struct RunningCommand {
    thread: ThreadId,
    /// Its number among the thread's commands.
    session: u64,
    /// Who started it.
    by: ObservedBy,
    window: Window,
}

impl FileChanges {
    /// Looks at the work tree before a tool runs a command, if it is to be looked at.
    pub(crate) async fn before_command(
        &self,
        tool: &str,
        arguments: &Value,
        context: &ToolContext,
    ) -> Option<Window> {
        // What is held to reading changes nothing; what is elsewhere is not seen.
        let is_held = context.read_only && context.sandbox.is_some();
        if !COMMANDS.contains(&tool) || is_held || context.files.is_some() {
            return None;
        }
        if session(arguments).is_some() {
            // Watched since it was started.
            return None;
        }
        let workdir = arguments.get("workdir").and_then(Value::as_str).unwrap_or_default();
        let workdir = workdir.strip_prefix("workspace://").unwrap_or(workdir);
        let directory: PathBuf = context.root.join(workdir);
        self.watch(&directory).await
    }

    /// Looks again after it, and keeps what differs.
    pub(crate) async fn after_command(
        &self,
        by: ObservedBy,
        window: Option<Window>,
        arguments: &Value,
        output: &ToolOutput,
    ) {
        let named = session(arguments);
        let is_running = output.data.get("status").and_then(Value::as_str) == Some("running");
        let started = output.data.get("session_id").and_then(number).filter(|_| is_running);
        let known = named.and_then(|session| self.take_going(by.thread, session));
        let (by, mut window, began) = match (known, window) {
            // What it changed since it was last looked at was seen by this call.
            (Some(going), _) => (by, going.window, Some(going.by)),
            (None, Some(window)) => (by, window, None),
            (None, None) => return,
        };
        if self.observe(&mut window, &by, true).await.is_none() {
            return;
        }
        if let Some(session) = named.or(started).filter(|_| is_running) {
            let (thread, by) = (by.thread, began.unwrap_or(by));
            self.keep_going(RunningCommand { thread, session, by, window });
        }
    }

    fn take_going(&self, thread: ThreadId, session: u64) -> Option<RunningCommand> {
        let mut going = self.core.inner.file_changes.going.lock();
        let place = going.iter().position(|it| it.thread == thread && it.session == session)?;
        Some(going.swap_remove(place))
    }

    fn keep_going(&self, one: RunningCommand) {
        let sessions = self.core.inner.agents.sessions();
        let mut going = self.core.inner.file_changes.going.lock();
        // Those that are over and were never looked at again are let go.
        going.retain(|it| sessions.has(it.thread, it.session));
        going.push(one);
    }

    /// A turn ends: what its commands changed since they were last looked at is kept with them.
    pub(crate) async fn turn_ends(&self, thread: ThreadId) {
        let of_thread: Vec<RunningCommand> = {
            let mut going = self.core.inner.file_changes.going.lock();
            let (mine, others) = going.drain(..).partition(|it| it.thread == thread);
            *going = others;
            mine
        };
        for mut one in of_thread {
            let seen = self.observe(&mut one.window, &one.by, true).await;
            let sessions = self.core.inner.agents.sessions();
            if seen.is_some() && sessions.has(thread, one.session) {
                self.keep_going(one);
            }
        }
    }
}

/// The command that a call goes on with.
fn session(arguments: &Value) -> Option<u64> {
    arguments.get("session_id").and_then(number)
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
}
