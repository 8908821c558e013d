//! Decisions: what was let through, asked for or refused, by which rule or by whom.
//! Records of what happened; nothing is decided here.

use crate::{Mode, RequestId, SessionId, TerminalId, ThreadId, Timestamp, TurnId};

/// One decision, as it was made. A request for approval leads to a second one, by the person who answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// When it was made.
    pub at: Timestamp,
    /// The thread it was made in; none if a client runs a command by itself.
    pub thread: Option<ThreadId>,
    /// The turn it was made in; none if a client called the tool.
    pub turn: Option<TurnId>,
    /// The session it was made for, if no thread wanted it.
    pub session: Option<SessionId>,
    /// What was asked, or what was answered.
    pub request: Option<RequestId>,
    /// The call.
    pub tool_id: String,
    pub tool: String,
    /// The mode of that moment.
    pub mode: Mode,
    /// What was decided.
    pub verdict: DecisionVerdict,
    /// Who decided: none for the policy, else a dialect or what became of the request.
    pub by: Option<String>,
    /// Why, in words for people.
    pub reason: Option<String>,
    /// The rule of the configuration that decided.
    pub rule: Option<String>,
    /// Who wanted it.
    pub source: DecisionSource,
    /// What exactly was to be done, without secrets and not longer than [`Decision::MAX_SUBJECT`].
    pub subject: String,
    /// The process that decided, if one did.
    pub decider: Option<Decider>,
}

/// A process that decided for the person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decider {
    /// Its number at that time, if the transport tells.
    pub pid: Option<u32>,
    /// The name of its program.
    pub program: Option<String>,
    /// The terminal of ours that it was in, if it was in one.
    pub terminal: Option<TerminalId>,
    /// The endpoint it came by.
    pub endpoint: String,
}

impl Decision {
    /// Bytes of a subject.
    pub const MAX_SUBJECT: usize = 4096;
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Who wanted something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionSource {
    /// A model, within a turn.
    Model,
    /// A client, by itself.
    Client,
    /// An agent that runs elsewhere, or in a terminal.
    Agent,
}

/// Which decisions are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecisionQuery {
    /// Only those of this thread.
    pub thread: Option<ThreadId>,
    /// Only those made then or later.
    pub since: Option<Timestamp>,
    /// Only those with a smaller number, to go on reading towards the beginning.
    pub before: Option<u64>,
}

/// A decision with its number, which rises from one to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedDecision {
    pub number: u64,
    pub decision: Decision,
}
