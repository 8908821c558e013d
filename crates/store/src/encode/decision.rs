//! The JSON twins of decisions.

use std::borrow::Cow;

use rookery_model as model;
use serde::{Deserialize, Serialize};

use super::word::{DecisionSourceJson, DecisionVerdictJson, ModeJson};
use super::{DecodeError, id_from_text};

#[derive(Serialize, Deserialize)]
pub(super) struct DecisionJson<'a> {
    at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thread: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<Cow<'a, str>>,
    tool_id: Cow<'a, str>,
    tool: Cow<'a, str>,
    mode: ModeJson,
    verdict: DecisionVerdictJson,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rule: Option<Cow<'a, str>>,
    source: DecisionSourceJson,
    subject: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decider: Option<DeciderJson<'a>>,
}

#[derive(Serialize, Deserialize)]
struct DeciderJson<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    terminal: Option<u64>,
    endpoint: Cow<'a, str>,
}

impl<'a> DeciderJson<'a> {
    fn of(decider: &'a model::Decider) -> Self {
        let model::Decider { pid, program, terminal, endpoint } = decider;
        DeciderJson {
            pid: *pid,
            program: program.as_ref().map(Into::into),
            terminal: terminal.map(model::TerminalId::get),
            endpoint: endpoint.into(),
        }
    }

    fn into_model(self) -> model::Decider {
        model::Decider {
            pid: self.pid,
            program: self.program.map(Cow::into_owned),
            terminal: self.terminal.map(model::TerminalId::new),
            endpoint: self.endpoint.into_owned(),
        }
    }
}

impl<'a> DecisionJson<'a> {
    pub(super) fn of(decision: &'a model::Decision) -> Self {
        let model::Decision {
            at,
            thread,
            turn,
            session,
            request,
            tool_id,
            tool,
            mode,
            verdict,
            by,
            reason,
            rule,
            source,
            subject,
            decider,
        } = decision;
        DecisionJson {
            at: at.as_micros(),
            thread: thread.map(|id| id.to_string().into()),
            turn: turn.map(|id| id.to_string().into()),
            session: session.map(|id| id.to_string().into()),
            request: request.map(|id| id.to_string().into()),
            tool_id: tool_id.into(),
            tool: tool.into(),
            mode: ModeJson::of(*mode),
            verdict: DecisionVerdictJson::of(*verdict),
            by: by.as_ref().map(Into::into),
            reason: reason.as_ref().map(Into::into),
            rule: rule.as_ref().map(Into::into),
            source: DecisionSourceJson::of(*source),
            subject: subject.into(),
            decider: decider.as_ref().map(DeciderJson::of),
        }
    }

    pub(super) fn into_model(self) -> Result<model::Decision, DecodeError> {
        Ok(model::Decision {
            at: model::Timestamp::from_micros(self.at),
            thread: self.thread.map(|text| id_from_text(&text)).transpose()?,
            turn: self.turn.map(|text| id_from_text(&text)).transpose()?,
            session: self.session.map(|text| id_from_text(&text)).transpose()?,
            request: self.request.map(|text| id_from_text(&text)).transpose()?,
            tool_id: self.tool_id.into_owned(),
            tool: self.tool.into_owned(),
            mode: self.mode.into_model(),
            verdict: self.verdict.into_model(),
            by: self.by.map(Cow::into_owned),
            reason: self.reason.map(Cow::into_owned),
            rule: self.rule.map(Cow::into_owned),
            source: self.source.into_model(),
            subject: self.subject.into_owned(),
            decider: self.decider.map(DeciderJson::into_model),
        })
    }
}
