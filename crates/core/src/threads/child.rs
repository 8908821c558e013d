//! The tool `task`: a turn starts a child agent and waits for its answer. And what a child may do.

use rookery_agent::policy::{Class, Judgement, Verdict};
use rookery_agent::tool::ToolOutput;
use rookery_agent::tools::{self, TaskCall};
use rookery_agent::turn::ToolDone;
use rookery_model::{ChildExit, ChildOf, Result, Thread, ThreadId, ToolKind, Words as _};
use serde_json::{Value, json};

use super::tools::{Job, tool_done};
use crate::children::{Child, ChildDone, NewChild, has_kind};

/// Why something is denied to a child that is held to reading.
const READS: &str = "this child agent may only read";
/// Why something is denied to a child whose lane has no such tools.
const OUT_OF_LANE: &str = "the lane of this child agent has no such tools";

impl Job {
    /// The agent starts a child, if it may, and waits for its answer.
    pub(super) async fn start_child(&self, thread: &Thread, arguments: Value) -> ToolDone {
        if let Some(child) = self.handed_on_before().await {
            self.turnstile.pass();
            return tool_done(self.rejoined(child).await);
        }
        let call = match tools::task_call(arguments) {
            Ok(call) => call,
            Err(reason) => return tool_done(ToolOutput::error(reason)),
        };
        let permit = match self.permitted(ToolKind::Agents).await {
            Ok(permit) => permit,
            Err(refused) => return *refused,
        };
        self.announce_run();
        let output = match self.child(thread, call).await {
            Ok(child) => self.answer_of(child).await,
            Err(error) => ToolOutput::error(format!("no child agent was started: {error}")),
        };
        ToolDone { output, approval: permit.approval, duration_ms: None }
    }

    async fn child(&self, thread: &Thread, call: TaskCall) -> Result<Child> {
        let turn = self.turn.ok_or_else(|| {
            rookery_model::Error::failed("there is no turn that could wait for it")
        })?;
        let TaskCall { description, prompt, agent, model, lane } = call;
        let id = ThreadId::new(uuid::Uuid::now_v7().as_u128());
        // First, so that a daemon that takes this up again finds what it waits for.
        self.note_child(id).await?;
        let new = NewChild {
            parent: Some((thread.id, turn)),
            description,
            prompt,
            agent_type: agent,
            lane,
            model,
            client: self.core.look().client_of(thread.id, turn),
            keys: self.keys.clone(),
            ..NewChild::default()
        };
        self.core.children().start_as(id, new).await
    }

    /// The answer of a child that was started before a restart.
    async fn rejoined(&self, child: ThreadId) -> ToolOutput {
        match self.core.children().rejoin(child).await {
            Ok(child) => self.answer_of(child).await,
            Err(error) => ToolOutput::error(format!("the child agent was lost: {error}")),
        }
    }

    async fn answer_of(&self, child: Child) -> ToolOutput {
        let (id, trace) = (child.thread(), child.trace());
        self.note_awaited(|awaited| awaited.push(id));
        let stop = child.canceller();
        let done = child.wait();
        tokio::pin!(done);
        let done = tokio::select! {
            done = &mut done => done,
            () = self.stop.cancelled() => {
                stop.cancel();
                done.await
            }
        };
        self.note_awaited(|awaited| awaited.retain(|other| *other != id));
        let output = output_of(done, trace.map(|trace| trace.to_string()));
        self.core.inner.agents.registry.mask(output)
    }

    /// What is done with a call, if it is one of a child: never more than its definition and its lane
    /// allow, whatever the mode is.
    pub(super) fn confined(&self, judged: Judgement, kind: ToolKind) -> Judgement {
        let Some(child) = self.child_of_thread().filter(|_| judged.verdict != Verdict::Deny) else {
            return judged;
        };
        let deny = |reason: &str| Judgement {
            verdict: Verdict::Deny,
            reason: reason.to_owned(),
            rule: None,
            ..judged.clone()
        };
        if !has_kind(&child, kind) {
            let reads = child.read_only && !matches!(kind, ToolKind::Read | ToolKind::Exec);
            return deny(if reads { READS } else { OUT_OF_LANE });
        }
        let is_command = kind == ToolKind::Exec;
        match child.read_only && is_command && judged.class != Some(Class::ReadOnly) {
            true => deny(READS),
            false => judged,
        }
    }

    /// Whether the call is one of a child that is held to reading.
    pub(super) fn is_held_to_reading(&self) -> bool {
        self.child_of_thread().is_some_and(|child| child.read_only)
    }

    fn child_of_thread(&self) -> Option<Box<ChildOf>> {
        self.core.look().threads.get(&self.thread)?.thread.child.clone()
    }
}

/// What a child came to, as its parent's model reads it.
fn output_of(done: ChildDone, trace: Option<String>) -> ToolOutput {
    let ChildDone { thread, turn, agent_type, message, exit, error, .. } = done;
    let data = json!({
        "thread": thread.to_string(),
        "turn": turn.map(|turn| turn.to_string()),
        "trace": trace,
        "agent": agent_type,
        "exit": exit.word(),
    });
    if exit == ChildExit::Completed {
        return ToolOutput::new(message, data);
    }
    let mut text = error.unwrap_or_else(|| exit.word().to_owned());
    if !message.is_empty() {
        text.push_str("\nWhat it said last:\n");
        text.push_str(&message);
    }
    ToolOutput { data, ..ToolOutput::error(text) }
}
