//! Where imports meet a turn: hooks before and after what happens in it, and servers that have its tools.

use std::sync::Arc;

use rookery_agent::definitions::claude_name;
use rookery_agent::mcp::{self, McpServers};
use rookery_agent::tool::ToolOutput;
use rookery_agent::turn::{Message, ToolDone};
use rookery_imports::HookEvent;
use rookery_model::{Asked, Thread, ThreadId};

use super::run::Runner;
use super::tools::{Job, tool_done};
use crate::core::Core;
use crate::imports::{HookInput, ToolCall};

/// The result of a call that a hook denied; the reason follows.
const HOOK_DENIED: &str = "a hook denied the tool call: ";
/// How often hooks may object to the end of one turn.
const MOST_STOP_HOOKS: u32 = 3;

impl Job {
    /// Runs the call between the hooks that are for it.
    pub(super) async fn run(&self) -> ToolDone {
        let Some(seen) = self.core.threads().get(self.thread) else {
            return tool_done(ToolOutput::error("the thread is gone"));
        };
        let thread = seen.thread;
        if let Some(reason) = self.hooked(&thread, None).await {
            return tool_done(ToolOutput::error(format!("{HOOK_DENIED}{reason}")));
        }
        let mut done = self.run_between_hooks(&thread).await;
        let output = &done.output;
        if let Some(reason) = self.hooked(&thread, Some((&output.text, output.is_error))).await {
            done.output.text += &format!("\n[hook: {reason}]");
        }
        done
    }

    /// Why a hook of an import objects to the call, or to what came of it.
    async fn hooked(&self, thread: &Thread, result: Option<(&str, bool)>) -> Option<String> {
        let call = ToolCall { name: &self.name, arguments: &self.arguments, result };
        let imports = self.core.imports();
        imports.run_tool_hooks(thread, self.mode(), call, &self.stop).await.blocked
    }

    /// The server of an import that has the tool. Those of a turn that another daemon began are started.
    pub(super) async fn imported_server(&self, thread: &Thread) -> Option<Arc<McpServers>> {
        if !self.name.starts_with(mcp::PREFIX) {
            return None;
        }
        let imports = self.core.imports();
        if let Some(server) = imports.server_of(thread, &self.name) {
            return Some(server);
        }
        imports.prepare(thread).await;
        imports.server_of(thread, &self.name)
    }
}

impl Job {
    /// Tells hooks of imports that a person is waited for.
    pub(super) async fn hook_asked(&self, asked: &Asked) {
        let message = match asked {
            Asked::Approval { .. } | Asked::Permission { .. } | Asked::Dialog { .. } => {
                let name = claude_name(&self.name).unwrap_or(&self.name);
                format!("The agent needs your permission to use {name}")
            }
            Asked::Input { .. } => "The agent is waiting for your input".to_owned(),
            Asked::PlanExit(_) => "The agent's plan waits for your approval".to_owned(),
            // A client answers that, no person.
            Asked::External(_) => return,
        };
        let Some(seen) = self.core.threads().get(self.thread) else { return };
        let imports = self.core.imports();
        imports.run_notice_hooks(&seen.thread, HookEvent::Notification, &message).await;
    }
}

/// Runs the hooks of imports that are for a conversation which is about to be made shorter.
pub(super) async fn hook_compaction(core: &Core, id: ThreadId, why: &str, hint: Option<&str>) {
    let Some(thread) = core.threads().get(id).map(|seen| seen.thread) else { return };
    let event = HookEvent::PreCompact;
    let happened = HookInput { prompt: hint, detail: Some(why), ..HookInput::of(event) };
    let mode = core.threads().mode(Some(id));
    // What they say prevents nothing.
    core.imports().run_event_hooks(&thread, mode, happened).await;
}

impl Runner {
    /// Lets hooks of imports object to the end of the turn; what they say is heard before it ends.
    pub(super) async fn hook_stop(&mut self) {
        let seen = self.core.threads().get(self.live.id);
        let Some(thread) = seen.map(|seen| seen.thread) else { return };
        let event = match &thread.child {
            None => HookEvent::Stop,
            Some(_) => HookEvent::SubagentStop,
        };
        if self.stop_hooks >= MOST_STOP_HOOKS {
            return;
        }
        let mode = self.core.look().mode_in(self.live.id, self.turn.id);
        let is_repeated = self.stop_hooks > 0;
        let imports = self.core.imports();
        let happened = HookInput { is_repeated, ..HookInput::of(event) };
        let end = imports.run_event_hooks(&thread, mode, happened).await;
        let Some(reason) = end.blocked else { return };
        self.stop_hooks += 1;
        let text = format!("A hook wants you to go on: {reason}");
        let outcome = self.core.transact_durably(|tx| {
            tx.steer_active(self.live.id, Message { text, ..Message::default() });
            Ok(())
        });
        if let Err(error) = outcome.await {
            tracing::error!(%error, "what a hook said was not recorded");
        }
    }
}
