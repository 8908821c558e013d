//! The record of what the policy, and whoever it asks, decided. Written with the change it belongs
//! to where there is one; what is to be decided is no business of this file.

use rookery_agent::policy::{Judgement, Verdict};
use rookery_model::{
    Answer, Asked, Decision, DecisionQuery, DecisionSource, DecisionVerdict, Mode,
    NumberedDecision, Request, Result, Review, ReviewStatus, Settled,
};
use rookery_store::Change;
use serde_json::json;

use crate::clock;
use crate::rooms::Requests;
use crate::secrets;
use crate::world::Tx;

/// Decisions that are remembered of a thread that is kept in memory only.
pub(crate) const MAX_REMEMBERED: usize = 200;

impl Requests {
    /// The newest decisions that are wanted, at most `limit`, oldest first. Those of threads that are
    /// kept in memory only are sent for such a thread alone, and have no numbers to go on from.
    ///
    /// # Errors
    /// If they cannot be read.
    pub async fn decisions(
        &self,
        query: DecisionQuery,
        limit: usize,
    ) -> Result<Vec<NumberedDecision>> {
        if let Some(remembered) = self.remembered_decisions(&query, limit) {
            return Ok(remembered);
        }
        // What was decided a moment ago may still be on its way.
        self.core.saved().await?;
        let store = self.core.inner.store.clone();
        let read = tokio::task::spawn_blocking(move || store.decisions(&query, limit)).await;
        let read = read.map_err(|error| rookery_model::Error::failed(error.to_string()))?;
        Ok(read?)
    }

    fn remembered_decisions(
        &self,
        query: &DecisionQuery,
        limit: usize,
    ) -> Option<Vec<NumberedDecision>> {
        let world = self.core.look();
        let state = world.threads.get(&query.thread?).filter(|state| state.thread.ephemeral)?;
        let since = query.since.unwrap_or(rookery_model::Timestamp::from_micros(i64::MIN));
        let wanted = state.decisions.iter().filter(|decision| decision.at >= since);
        let wanted: Vec<NumberedDecision> = wanted
            .map(|decision| NumberedDecision { number: 0, decision: decision.clone() })
            .collect();
        Some(wanted[wanted.len().saturating_sub(limit)..].to_vec())
    }

    /// Records a decision that belongs to no other change. The disk is not waited for: whatever
    /// follows from it is stored after it.
    pub(crate) fn record(&self, decision: Decision) {
        let recorded = self.core.transact(|tx| {
            tx.record(decision);
            Ok(())
        });
        if let Err(error) = recorded {
            tracing::error!(%error, "a decision was not recorded");
        }
    }
}

impl Tx<'_> {
    /// Records a decision, in memory only if its thread is.
    pub(crate) fn record(&mut self, mut decision: Decision) {
        // The policy decides by itself, whoever's transaction it is.
        if decision.by.is_some() && decision.decider.is_none() {
            decision.decider.clone_from(&self.decider);
        }
        secrets::hide_in_decision(&mut decision);
        let state = decision.thread.and_then(|thread| self.world.threads.get_mut(&thread));
        if let Some(state) = state.filter(|state| state.thread.ephemeral) {
            if state.decisions.len() == MAX_REMEMBERED {
                state.decisions.pop_front();
            }
            state.decisions.push_back(decision);
            return;
        }
        self.save(Change::DecisionMade(Box::new(decision)));
    }

    /// Records how an approval, or a plan, was settled.
    pub(crate) fn record_settled(&mut self, request: &Request, settled: &Settled, mode: Mode) {
        if matches!(request.asked, Asked::Input { .. } | Asked::External(_)) {
            return;
        }
        let (verdict, reason) = match &settled.answer {
            Answer::Approved { .. } => (DecisionVerdict::Approved, None),
            Answer::Denied { message } => (DecisionVerdict::Denied, message.clone()),
            Answer::TimedOut => (DecisionVerdict::Denied, Some("no answer came in time".into())),
            Answer::AtTerminal => (
                DecisionVerdict::AnsweredAtTerminal,
                Some("answered at the terminal; what was chosen there is not known".into()),
            ),
            Answer::Cancelled if matches!(request.asked, Asked::Dialog { .. }) => (
                DecisionVerdict::Withdrawn,
                Some("the dialog went away without an answer that is known".into()),
            ),
            Answer::Cancelled | Answer::Given(_) | Answer::Output { .. } => {
                (DecisionVerdict::Denied, Some("it was withdrawn".into()))
            }
        };
        self.record(Decision {
            at: settled.at,
            verdict,
            by: Some(settled.by.clone()),
            reason,
            ..of_request(request, mode)
        });
    }
}

/// What a request is about, as a decision on which nothing is decided yet.
pub(crate) fn of_request(request: &Request, mode: Mode) -> Decision {
    Decision {
        at: request.asked_at,
        thread: request.thread(),
        turn: request.turn(),
        session: request.session(),
        request: Some(request.id),
        tool_id: request.call_id.clone(),
        tool: request.tool.clone(),
        mode,
        verdict: DecisionVerdict::RequiresApproval,
        by: None,
        reason: None,
        rule: None,
        source: match (request.turn(), request.session()) {
            (Some(_), _) => DecisionSource::Model,
            (None, None) => DecisionSource::Client,
            (None, Some(_)) => DecisionSource::Agent,
        },
        subject: subject(&request.asked),
        decider: None,
    }
}

/// The record of a decision that is put off.
pub(crate) fn deferred(request: &Request, mode: Mode, by: &str) -> Decision {
    Decision {
        at: clock::wall(),
        verdict: DecisionVerdict::Deferred,
        by: Some(by.to_owned()),
        ..of_request(request, mode)
    }
}

/// The record of what a review came to; none if it came to nothing yet.
pub(crate) fn of_review(review: &Review, mode: Mode, by: &str) -> Option<Decision> {
    let verdict = match review.status {
        ReviewStatus::Open => return None,
        ReviewStatus::Approved => DecisionVerdict::Approved,
        ReviewStatus::ChangesRequested => DecisionVerdict::ChangesRequested,
        ReviewStatus::Deferred => DecisionVerdict::Deferred,
    };
    Some(Decision {
        at: clock::wall(),
        thread: None,
        turn: None,
        session: review.place.session(),
        request: None,
        tool_id: review.id.to_string(),
        tool: "review".to_owned(),
        mode,
        verdict,
        by: Some(by.to_owned()),
        reason: None,
        rule: None,
        source: DecisionSource::Agent,
        subject: hidden(&review.summary),
        decider: None,
    })
}

/// A request that the policy asks for.
pub(crate) fn asked(request: &Request, judgement: &Judgement, mode: Mode) -> Decision {
    judged(of_request(request, mode), judgement)
}

/// What the policy decided on something.
pub(crate) fn judged(about: Decision, judgement: &Judgement) -> Decision {
    Decision {
        at: clock::wall(),
        verdict: match judgement.verdict {
            Verdict::Allow => DecisionVerdict::Allowed,
            Verdict::AutoApprove => DecisionVerdict::AutoApproved,
            Verdict::Ask => DecisionVerdict::RequiresApproval,
            Verdict::Deny => DecisionVerdict::Denied,
        },
        reason: Some(judgement.reason.clone()),
        rule: judgement.rule.clone(),
        ..about
    }
}

/// What exactly was to be done, without secrets and within bounds.
pub(crate) fn subject(asked: &Asked) -> String {
    let text = match asked {
        Asked::Approval { input, argv, .. } if argv.is_empty() => cut(input, 2).to_owned(),
        Asked::Approval { argv, cwd, env, .. } => {
            let names: Vec<&String> = env.iter().map(|(name, _)| name).collect();
            let mut shown = json!({ "argv": argv, "cwd": cwd.to_string_lossy() });
            if !names.is_empty() {
                shown["env"] = json!(names);
            }
            shown.to_string()
        }
        Asked::PlanExit(plan) => plan.summary.clone(),
        Asked::Permission { action, .. } => action.clone(),
        Asked::Dialog { text, .. } => text.clone(),
        Asked::Input { .. } | Asked::External(_) => String::new(),
    };
    hidden(&text)
}

/// A text without secrets.
pub(crate) fn without_secrets(text: &str) -> String {
    secrets::hidden(text).into_owned()
}

/// A text without secrets and within bounds.
fn hidden(text: &str) -> String {
    cut(&secrets::hidden(cut(text, 2)), 1).to_owned()
}

/// The beginning of a text, up to this many times what is kept.
fn cut(text: &str, times: usize) -> &str {
    &text[..text.floor_char_boundary(Decision::MAX_SUBJECT * times)]
}

#[cfg(test)]
mod tests {
    use rookery_model::ToolKind;

    use super::*;

    fn approval(input: &str, argv: &[&str]) -> Asked {
        Asked::Approval {
            kind: ToolKind::Exec,
            reason: String::new(),
            input: input.to_owned(),
            argv: argv.iter().map(ToString::to_string).collect(),
            cwd: "/w".into(),
            env: vec![("TOKEN".into(), Some("hidden".into()))],
            preview: None,
        }
    }

    #[test]
    fn a_subject_tells_what_was_to_be_done_and_no_secret() {
        let shown = subject(&approval("{}", &["make", "x"]));
        assert_eq!(shown, r#"{"argv":["make","x"],"cwd":"/w","env":["TOKEN"]}"#);
        let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let input = format!(r#"{{"content":"{secret}","path":"a"}}"#);
        let shown = subject(&approval(&input, &[]));
        assert!(!shown.contains(secret) && shown.contains("path"), "{shown}");
    }

    #[test]
    fn a_subject_is_short() {
        let long = "ä".repeat(Decision::MAX_SUBJECT);
        assert!(subject(&approval(&long, &[])).len() <= Decision::MAX_SUBJECT);
        assert!(subject(&approval("", &["echo", &long])).len() <= Decision::MAX_SUBJECT);
    }
}
