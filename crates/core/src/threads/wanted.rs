//! What an assignment says about calls of tools: which are offered, and which are asked for or denied
//! beside what policy says.

use rookery_agent::policy::Judgement;
use rookery_agent::policy::unasked::{self, Call, TouchedPath};
use rookery_agent::tools;
use rookery_model::{Thread, ToolKind};

use super::tools::Job;
use crate::agents::assigned::stricter;
use crate::children::has_kind;

impl Job {
    /// The paths that the call touches, if anything is decided by them and they are known.
    pub(super) async fn touched(&self, kind: ToolKind) -> Option<Vec<TouchedPath>> {
        if self.is_hosted || !matches!(kind, ToolKind::Read | ToolKind::Write) {
            return None;
        }
        self.core.threads().get(self.thread)?.thread.assignment.as_ref()?;
        self.paths().await
    }

    /// The paths that the call touches, if they are known.
    pub(super) async fn paths(&self) -> Option<Vec<TouchedPath>> {
        let thread = self.core.threads().get(self.thread)?.thread;
        let arguments = tools::parse_arguments(&self.arguments).ok()?;
        let runner = self.core.runners().context_at_hand(&thread);
        let context = self.tool_context(&thread, None, true, &self.shell, runner);
        let name = self.name.clone();
        let found =
            tokio::task::spawn_blocking(move || tools::touched(&context, &name, &arguments));
        found.await.ok().flatten()
    }

    /// The stricter of what policy judged and of what the thread's assignment wants.
    pub(super) fn assigned(
        &self,
        judged: Judgement,
        kind: ToolKind,
        touched: Option<&[TouchedPath]>,
    ) -> Judgement {
        let assignment = {
            let world = self.core.look();
            let state = world.threads.get(&self.thread);
            state.and_then(|state| state.thread.assignment.clone())
        };
        let Some(assignment) = assignment else { return judged };
        let agents = &self.core.inner.agents;
        let command = agents.command_of(&self.name, kind, &self.arguments);
        let call = Call {
            // A name that an agent behind the provider gave means nothing here.
            tool: if self.is_hosted { "" } else { &self.name },
            kind,
            // Every tool of a server is named so, wherever the server comes from.
            is_foreign: !self.is_hosted && self.name.starts_with(rookery_agent::mcp::PREFIX),
            is_always_allowed: !self.is_hosted && agents.mcp.is_always_allowed(&self.name),
            command: command.as_deref(),
            paths: touched,
        };
        stricter(judged, &assignment, &call, self.profile.is_unattended())
    }
}

/// Whether the role that a thread works in has a tool, and its lane if it is a child agent.
pub(super) fn has_tool(thread: &Thread, tool: &str, kind: ToolKind, is_foreign: bool) -> bool {
    if thread.child.as_deref().is_some_and(|child| !has_kind(child, kind)) {
        return false;
    }
    let role = thread.assignment.as_ref().and_then(|assignment| assignment.role.as_ref());
    role.is_none_or(|role| {
        let (command, paths, is_always_allowed) = (None, None, false);
        unasked::has_tool(role, &Call { tool, kind, is_foreign, is_always_allowed, command, paths })
    })
}
