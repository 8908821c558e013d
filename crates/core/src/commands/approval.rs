//! What is asked when a client's command needs approval: exactly what would be run.

use rookery_agent::policy::{Bound, Judgement};
use rookery_agent::tools::shown_in_part;
use rookery_model::{
    Answer, Asked, Asker, Decision, Request, RequestId, RequestState, Result, ToolKind,
    shown_destination,
};
use rookery_term::redact::Policy;
use rookery_view::palette::launch::quote;
use serde_json::{Map, Value, json};

use super::request::{ExecRequest, ExecRunner};
use crate::clock;
use crate::requests::decisions;
use crate::rooms::Commands;

/// Whether a command that has to be asked for may run.
pub(super) enum Permission {
    /// It was approved.
    Given,
    Asked(RequestId),
}

impl Commands {
    /// Whether exactly this command was approved; else it is asked for.
    pub(super) async fn exec_permission(
        &self,
        request: &ExecRequest,
        judgement: &Judgement,
    ) -> Result<Permission> {
        let asking = self.exec_asking(request, judgement);
        let Some(bound) = Bound::of(request.words.tool, &asking.asked) else {
            return Ok(Permission::Given);
        };
        let is_remembered = self.core.look().parked.covers(&bound);
        if is_remembered || self.core.requests().take_grant(None, &bound) {
            self.record_exec(request, &judgement.granted());
            return Ok(Permission::Given);
        }
        self.core.requests().park(asking, judgement, bound).await.map(Permission::Asked)
    }

    /// Asks for a command and waits for the answer: whether it may run.
    pub(super) async fn ask_exec(
        &self,
        request: &ExecRequest,
        judgement: &Judgement,
    ) -> Result<bool> {
        let asking = self.exec_asking(request, judgement);
        let Some(bound) = Bound::of(request.words.tool, &asking.asked) else { return Ok(true) };
        let is_remembered = self.core.look().parked.covers(&bound);
        if is_remembered || self.core.requests().take_grant(None, &bound) {
            self.record_exec(request, &judgement.granted());
            return Ok(true);
        }
        let answer = self.core.requests().ask_and_wait(asking, Some(judgement)).await?;
        Ok(matches!(answer, Answer::Approved { .. }))
    }

    /// Records what the policy decided on a command.
    pub(super) fn record_exec(&self, request: &ExecRequest, judgement: &Judgement) {
        let asking = self.exec_asking(request, judgement);
        let mut decision = decisions::asked(
            &asking,
            judgement,
            self.core.threads().mode_for(request.owner, request.thread),
        );
        if judgement.is_read_only() {
            // It changes nothing; what was looked for need not be known later.
            decision.subject = request.command.first().cloned().unwrap_or_default();
        }
        // It was not asked.
        self.core.requests().record(Decision { request: None, ..decision });
    }

    fn exec_asking(&self, request: &ExecRequest, judgement: &Judgement) -> Request {
        Request {
            id: RequestId::new(uuid::Uuid::now_v7().as_u128()),
            asker: request.thread.map_or(Asker::Client, Asker::Caller),
            call_id: uuid::Uuid::now_v7().to_string(),
            tool: request.words.tool.to_owned(),
            asked: self.exec_asked(request, judgement),
            asked_at: clock::wall(),
            deadline: self.core.requests().approval_deadline(),
            is_deferred: false,
            given: Vec::new(),
            state: RequestState::Pending,
        }
    }

    fn exec_asked(&self, request: &ExecRequest, judgement: &Judgement) -> Asked {
        let usual = || self.core.inner.agents.config.cwd.clone();
        let cwd = request.cwd.clone().unwrap_or_else(usual);
        let words: Vec<String> = request.command.iter().map(|word| shown_word(word)).collect();
        let mut input = json!({ "command": request.command, "cwd": cwd.to_string_lossy() });
        if !request.env.is_empty() {
            input["env"] = shown_env(&request.env);
        }
        if let Some(id) = request.process_id.as_deref().filter(|id| !id.is_empty()) {
            input[request.words.process_id] = id.into();
        }
        let mut env = request.env.clone();
        if let Some(runner) = &request.runner {
            input["runner"] = shown_destination(&runner.destination).into();
            // What is approved for one place is not approved for another.
            env.push((ExecRunner::VARIABLE.to_owned(), Some(runner.destination.clone())));
        }
        Asked::Approval {
            kind: ToolKind::Exec,
            reason: judgement.reason.clone(),
            input: input.to_string(),
            argv: request.command.clone(),
            cwd,
            env,
            preview: Some(shown_in_part(&words.join(" "))),
        }
    }
}

/// A word of a command line; plain ones stay plain.
fn shown_word(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._+-=:,@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) { word.to_owned() } else { quote(word) }
}

/// Variables as whoever is asked sees them: what looks like a secret is hidden.
fn shown_env(env: &[(String, Option<String>)]) -> Value {
    let policy = Policy::strict();
    let shown = env.iter().map(|(name, value)| {
        let value = value.as_ref().map(|value| {
            let line = format!("{name}={value}");
            match policy.redact(&line).strip_prefix(&format!("{name}=")) {
                Some(shown) => shown.to_owned(),
                None => policy.replacement().to_owned(),
            }
        });
        (name.clone(), Value::from(value))
    });
    Value::Object(shown.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown_and_the_rest_is() {
        let env = [
            ("LANG".to_owned(), Some("C".to_owned())),
            ("API_KEY".to_owned(), Some("sk-verysecret0123456789".to_owned())),
            ("GONE".to_owned(), None),
        ];
        let shown = shown_env(&env);
        assert_eq!((&shown["LANG"], &shown["GONE"]), (&json!("C"), &Value::Null));
        assert!(!shown.to_string().contains("verysecret"), "{shown}");
    }
}
