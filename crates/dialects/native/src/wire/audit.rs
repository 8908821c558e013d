//! The record of decisions: who decided what, by which rule, and when.

use rookery_model as model;
use rookery_model::NumberedDecision;
use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Mode, Time, format_time};

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecisionVerdict {
    /// It is harmless, or a rule allows it.
    Allowed,
    /// It needs a person's approval.
    RequiresApproval,
    /// The mode, a list, or an earlier answer approves it.
    AutoApproved,
    /// It must not be done.
    Denied,
    /// Approved by a person.
    Approved,
    /// Deferred by a person.
    Deferred,
    /// A review requested changes.
    ChangesRequested,
    /// It was answered at its terminal, and what was chosen there is not known.
    AnsweredAtTerminal,
    /// It needs no answer any more; none was given.
    Withdrawn,
}

impl From<model::DecisionVerdict> for DecisionVerdict {
    fn from(verdict: model::DecisionVerdict) -> Self {
        use model::DecisionVerdict as V;
        match verdict {
            V::Allowed => Self::Allowed,
            V::RequiresApproval => Self::RequiresApproval,
            V::AutoApproved => Self::AutoApproved,
            V::Denied => Self::Denied,
            V::Approved => Self::Approved,
            V::Deferred => Self::Deferred,
            V::ChangesRequested => Self::ChangesRequested,
            V::AnsweredAtTerminal => Self::AnsweredAtTerminal,
            V::Withdrawn => Self::Withdrawn,
        }
    }
}

/// Who wanted something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecisionSource {
    /// A model, within a turn.
    Model,
    /// A client, by itself.
    Client,
    /// An agent that runs elsewhere, or in a terminal.
    Agent,
}

impl From<model::DecisionSource> for DecisionSource {
    fn from(source: model::DecisionSource) -> Self {
        match source {
            model::DecisionSource::Model => Self::Model,
            model::DecisionSource::Client => Self::Client,
            model::DecisionSource::Agent => Self::Agent,
        }
    }
}

/// One decision, as it was made. What has to be asked leads to a second one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// Its number, which rises from one to the next; 0 if it is kept in memory only.
    pub number: u64,
    /// When it was made.
    pub at: Time,
    /// What was decided.
    pub verdict: DecisionVerdict,
    /// Who decided: `policy`, the dialect that answered, or what became of the request.
    pub by: String,
    /// The rule of the configuration that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub tool: String,
    /// What exactly was to be done, without secrets.
    pub subject: String,
    /// The mode of that moment.
    pub mode: Mode,
    /// Who wanted it.
    pub source: DecisionSource,
    /// The conversation, if it was in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The turn, if it was in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The request that was asked or answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The process that decided, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decider: Option<Decider>,
}

/// A process that decided for the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Decider {
    /// Its number at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The name of its program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The terminal of ours that it was in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<u64>,
    /// The endpoint it came by.
    pub endpoint: String,
}

impl From<&model::Decider> for Decider {
    fn from(decider: &model::Decider) -> Self {
        Self {
            pid: decider.pid,
            program: decider.program.clone(),
            terminal: decider.terminal.map(model::TerminalId::get),
            endpoint: decider.endpoint.clone(),
        }
    }
}

/// The name of the policy as the decider.
pub const POLICY: &str = "policy";

impl From<&NumberedDecision> for Decision {
    fn from(numbered: &NumberedDecision) -> Self {
        let decision = &numbered.decision;
        Self {
            number: numbered.number,
            at: format_time(decision.at),
            verdict: decision.verdict.into(),
            by: decision.by.clone().unwrap_or_else(|| POLICY.to_owned()),
            rule: decision.rule.clone(),
            reason: decision.reason.clone(),
            tool: decision.tool.clone(),
            subject: decision.subject.clone(),
            mode: decision.mode.into(),
            source: decision.source.into(),
            thread: decision.thread.map(|id| id.to_string()),
            turn: decision.turn.map(|id| id.to_string()),
            request: decision.request.map(|id| id.to_string()),
            decider: decision.decider.as_ref().map(Into::into),
        }
    }
}

/// Params of `rookery/audit/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditList {
    /// Only decisions made then or later, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Only those of this conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Only those made by this one: `policy`, or a dialect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Only those that came out so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<DecisionVerdict>,
    /// Only those with a smaller number, to go on towards the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// How many at most; 100 if not said, never more than 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

call!("rookery/audit/list" AuditList -> Audit);

/// Result of `rookery/audit/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// The newest that are wanted, oldest first.
    pub decisions: Vec<Decision>,
    /// What to give as `before` to go on; absent if there are no older ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
}
