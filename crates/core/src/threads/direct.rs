//! Tools that a client calls without a turn, through the same gate as in one.

use rookery_agent::policy::{Bound, Judgement, Verdict};
use rookery_agent::tool::{ToolContext, ToolOutput};
use rookery_agent::tools;
use rookery_model::{Error, Mode, RequestId, Result, Thread, ThreadId, ToolKind};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::permit::Permit;
use super::tools::{Job, Turnstile};
use crate::core::Core;
use crate::rooms::Threads;
use crate::world::no_thread;

/// A tool that a client calls without a turn.
#[derive(Clone, Debug)]
pub struct DirectCall {
    pub thread: ThreadId,
    pub tool: String,
    pub arguments: Value,
    /// Whether to wait if approval is needed.
    pub waits: bool,
    /// The connection of the client that calls it; see [`Threads::set_client_mode`].
    pub client: Option<u64>,
}

/// What became of a direct call.
#[derive(Clone, Debug)]
pub enum DirectOutcome {
    Ran(ToolOutput),
    /// It may not run.
    Denied {
        /// Why.
        reason: String,
        mode: Mode,
    },
    /// Approval is needed first.
    NeedsApproval {
        /// Why.
        reason: String,
        mode: Mode,
        /// What waits for that; once it is approved, the same call may be made once.
        approval: RequestId,
    },
    /// There is no such tool.
    Unknown,
    /// It works only within a turn.
    NeedsTurn,
}

impl Threads {
    /// Runs a tool for a client, through the same gate as in a turn.
    ///
    /// # Errors
    /// If there is no such thread.
    pub async fn call_tool(&self, call: DirectCall) -> Result<DirectOutcome> {
        let thread = self.get(call.thread).ok_or_else(|| no_thread(call.thread))?.thread;
        let Some(tool) = tools::find(&call.tool) else { return Ok(DirectOutcome::Unknown) };
        if tool.needs_turn {
            return Ok(DirectOutcome::NeedsTurn);
        }
        let job = Job {
            core: self.core.clone(),
            thread: call.thread,
            turn: None,
            deadline: None,
            allowed: None,
            profile: self.core.inner.agents.profile(),
            name: call.tool,
            arguments: call.arguments.to_string(),
            call_id: uuid::Uuid::now_v7().to_string(),
            stop: CancellationToken::new(),
            turnstile: Turnstile::default(),
            client: call.client,
            shell: self.tool_shell(),
            item: None,
            is_hosted: false,
            keys: Vec::new(),
        };
        let _stop = job.stop.clone().drop_guard();
        let arguments = tools::parse_arguments(&job.arguments)
            .and_then(|arguments| (tool.check)(&arguments).map(|()| arguments));
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err(reason) => return Ok(DirectOutcome::Ran(ToolOutput::error(reason))),
        };
        let touched = job.touched(tool.kind).await;
        let judgement = job.judge(tool.kind, touched.as_deref());
        let (reason, mode) = (judgement.reason.clone(), job.mode());
        match judgement.verdict {
            Verdict::Deny => {
                job.record(tool.kind, &judgement);
                return Ok(DirectOutcome::Denied { reason, mode });
            }
            Verdict::Ask if job.is_granted(tool.kind, &judgement) => {
                job.record(tool.kind, &judgement.granted());
                let shell = job.shell.clone();
                let permit = Permit { shell, approval: Some(true), read_only: false };
                let output = job.execute(tool, &thread, arguments, &permit).await;
                return Ok(DirectOutcome::Ran(output));
            }
            Verdict::Ask if !call.waits => {
                let approval = job.park(tool.kind, &judgement).await?;
                return Ok(DirectOutcome::NeedsApproval { reason, mode, approval });
            }
            Verdict::Allow | Verdict::AutoApprove | Verdict::Ask => {}
        }
        let _waiting = DirectGuard { core: self.core.clone(), call_id: job.call_id.clone() };
        let permit = match job.permitted(tool.kind).await {
            Ok(permit) => permit,
            Err(refused) => return Ok(DirectOutcome::Ran(refused.output)),
        };
        let output = job.execute(tool, &thread, arguments, &permit).await;
        Ok(DirectOutcome::Ran(output))
    }
}

impl Threads {
    /// What work on files of a thread needs that a client asks for: its directory, wherever that is.
    ///
    /// # Errors
    /// If the thread's runner cannot be used.
    pub(crate) async fn file_context(&self, thread: &Thread) -> Result<ToolContext> {
        let runner = self.core.runners().context(thread).await?;
        let job = Job {
            core: self.core.clone(),
            thread: thread.id,
            turn: None,
            deadline: None,
            allowed: None,
            profile: self.core.inner.agents.profile(),
            name: String::new(),
            arguments: String::new(),
            call_id: String::new(),
            stop: CancellationToken::new(),
            turnstile: Turnstile::default(),
            client: None,
            shell: self.tool_shell(),
            item: None,
            is_hosted: false,
            keys: Vec::new(),
        };
        Ok(job.tool_context(thread, None, true, &job.shell, runner))
    }
}

impl Job {
    /// Whether exactly this call was approved for one more time, which is now.
    fn is_granted(&self, kind: ToolKind, judgement: &Judgement) -> bool {
        let asked = self.core.threads().approval(self, kind, judgement, None);
        let bound = Bound::of(&self.name, &asked);
        bound.is_some_and(|bound| self.core.requests().take_grant(Some(self.thread), &bound))
    }

    /// Asks for the call without waiting, unless exactly this is asked for already.
    async fn park(&self, kind: ToolKind, judgement: &Judgement) -> Result<RequestId> {
        let asked = self.core.threads().approval(self, kind, judgement, None);
        let bound = Bound::of(&self.name, &asked)
            .ok_or_else(|| Error::failed("this cannot be approved"))?;
        if let Some(waiting) = self.core.requests().find_parked(Some(self.thread), &bound) {
            return Ok(waiting);
        }
        let asked = self.core.threads().approval(self, kind, judgement, self.preview().await);
        let limit = self.core.inner.agents.approval_timeout();
        self.core.requests().park(self.request(asked, limit), judgement, bound).await
    }
}

/// Takes back what a direct call asked for once its caller is gone.
struct DirectGuard {
    core: Core,
    call_id: String,
}

impl Drop for DirectGuard {
    fn drop(&mut self) {
        let is_waiting = {
            let world = self.core.look();
            world.requests.values().any(|request| request.call_id == self.call_id)
        };
        if is_waiting {
            self.core.requests().cancel_direct(&self.call_id, "gone");
        }
    }
}
