//! Whether a call of a tool may be made: judged by policy, and asked for if need be.

use std::time::Duration;

use rookery_agent::policy::unasked::TouchedPath;
use rookery_agent::policy::{Bound, Class, Judgement, Verdict};
use rookery_agent::tool::ToolOutput;
use rookery_agent::turn::ToolDone;
use rookery_model::{
    Answer, Asked, Asker, Decision, Mode, Request, RequestId, RequestState, ToolKind,
};

use super::approval::approved_shell;
use super::tools::{APPROVAL_DENIED, Job, NO_ANSWER, POLICY_DENIED, tool_done};
use crate::clock;
use crate::requests::decisions;

/// A call that may be made.
pub(super) struct Permit {
    /// The shell that it was permitted with.
    pub(super) shell: String,
    /// Whether a person was asked.
    pub(super) approval: Option<bool>,
    /// Whether it is held to reading.
    pub(super) read_only: bool,
}

impl Job {
    /// Whether the call may be made: by policy, or because it was approved.
    pub(super) async fn permitted(
        &self,
        kind: ToolKind,
    ) -> std::result::Result<Permit, Box<ToolDone>> {
        let denied = |judgement: &Judgement| {
            let text = format!("{POLICY_DENIED}{}", judgement.reason);
            Box::new(tool_done(ToolOutput::error(text)))
        };
        let touched = self.touched(kind).await;
        let judgement = self.judge(kind, touched.as_deref());
        if judgement.verdict != Verdict::Ask {
            self.record(kind, &judgement);
        }
        match judgement.verdict {
            Verdict::Allow | Verdict::AutoApprove => {
                self.turnstile.pass();
                let read_only = judgement.class == Some(Class::ReadOnly)
                    && (self.mode() != Mode::Bypass || self.is_held_to_reading());
                return Ok(Permit { shell: self.shell.clone(), approval: None, read_only });
            }
            Verdict::Deny => {
                self.block_edit(kind).await;
                return Err(denied(&judgement));
            }
            Verdict::Ask => {}
        }
        let asked = match self.asked_before() {
            Some(asked) => asked,
            None => self.core.threads().approval(self, kind, &judgement, self.preview().await),
        };
        let shell = approved_shell(&asked).unwrap_or_else(|| self.shell.clone());
        let limit = self.core.inner.agents.approval_timeout();
        let answer = self.answer(asked, Some(&judgement), limit).await;
        let refused = |message: Option<String>| {
            let mut text = APPROVAL_DENIED.to_owned();
            if let Some(message) = message.filter(|message| !message.trim().is_empty()) {
                text.push_str(": ");
                text.push_str(&message);
            }
            let output = ToolOutput::error(text);
            Box::new(ToolDone { output, approval: Some(false), duration_ms: None })
        };
        match answer {
            Ok(Answer::Approved { .. }) => {}
            Ok(Answer::Denied { message }) => return Err(refused(message)),
            Ok(Answer::TimedOut) => {
                return Err(refused(Some(NO_ANSWER.to_owned())));
            }
            Ok(
                Answer::Cancelled | Answer::Given(_) | Answer::Output { .. } | Answer::AtTerminal,
            )
            | Err(_) => {
                return Err(refused(Some("it was withdrawn".to_owned())));
            }
        }
        // The mode may have become stricter meanwhile.
        match self.judge(kind, touched.as_deref()) {
            judgement if judgement.verdict == Verdict::Deny => {
                self.record(kind, &judgement);
                Err(denied(&judgement))
            }
            _ => Ok(Permit { shell, approval: Some(true), read_only: self.is_held_to_reading() }),
        }
    }

    pub(super) fn asker(&self) -> Asker {
        match self.turn {
            Some(turn) => Asker::Turn { thread: self.thread, turn },
            None => Asker::Caller(self.thread),
        }
    }

    /// What was asked about this call before a restart, and waits still.
    fn asked_before(&self) -> Option<Asked> {
        let call = (self.turn?, self.call_id.clone());
        let id = self.core.inner.threads.resumed.lock().get(&call)?.id;
        self.core.look().requests.get(id).map(|request| request.asked.clone())
    }

    pub(super) fn mode(&self) -> Mode {
        match (self.turn, self.client) {
            (None, Some(client)) => self.core.threads().mode_for(client, Some(self.thread)),
            _ => self.core.look().mode_of_asker(self.asker()),
        }
    }

    /// What is done with the call, which touches these paths.
    pub(super) fn judge(&self, kind: ToolKind, touched: Option<&[TouchedPath]>) -> Judgement {
        let mode = self.mode();
        let judged =
            self.core.inner.agents.judge(&self.name, kind, &self.arguments, mode, self.profile);
        let judged = match self.core.runners().is_elsewhere(self.thread) {
            // No sandbox of ours holds it there.
            true => self.core.inner.agents.judge_unheld(
                &self.name,
                kind,
                &self.arguments,
                mode,
                self.profile,
            ),
            false => judged,
        };
        let judged = self.confined(judged, kind);
        let mut judgement = self.assigned(judged, kind, touched);
        if judgement.verdict != Verdict::Ask {
            return judgement;
        }
        let bound =
            Bound::of(&self.name, &self.core.threads().approval(self, kind, &judgement, None));
        let world = self.core.look();
        let state = world.threads.get(&self.thread);
        if let (Some(state), Some(bound)) = (state, bound)
            && state.remembered.covers(&bound)
        {
            judgement.verdict = Verdict::AutoApprove;
            judgement.rule = Some("approved for this session".to_owned());
        }
        judgement
    }

    /// Records what the policy decided on this call.
    pub(super) fn record(&self, kind: ToolKind, judgement: &Judgement) {
        let request = self.request(self.core.threads().approval(self, kind, judgement, None), None);
        let decision = decisions::asked(&request, judgement, self.mode());
        // It was not asked.
        self.core.requests().record(Decision { request: None, ..decision });
    }

    /// What is to be asked, from now on for so long.
    pub(super) fn request(&self, asked: Asked, limit: Option<Duration>) -> Request {
        Request {
            id: RequestId::new(uuid::Uuid::now_v7().as_u128()),
            asker: self.asker(),
            call_id: self.call_id.clone(),
            tool: self.name.clone(),
            asked,
            asked_at: clock::wall(),
            deadline: limit.map(clock::after),
            is_deferred: false,
            given: Vec::new(),
            state: RequestState::Pending,
        }
    }
}
