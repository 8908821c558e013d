//! Requests: what an agent waits for an answer to. Approvals, questions, plans, and calls of tools
//! that a client runs are one kind of object, so that every dialect shows and settles the same one.

use std::path::PathBuf;

use crate::{Mode, RequestId, SessionId, ThreadId, Timestamp, ToolKind, TurnId};

/// Something that waits, or waited, for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its id, never reused.
    pub id: RequestId,
    /// The thread that asks; [`Request::NO_THREAD`] if there is none.
    pub thread: ThreadId,
    /// The turn that asks; [`Request::NO_TURN`] if there is none.
    pub turn: TurnId,
    /// The session that asks, if no thread does.
    pub session: Option<SessionId>,
    /// The tool call that asks.
    pub call_id: String,
    /// The tool that asks.
    pub tool: String,
    /// What is asked.
    pub asked: Asked,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When it will be denied if it is not answered.
    pub deadline: Option<Timestamp>,
    /// Whether it was deferred.
    pub is_deferred: bool,
    /// Whether it waits, or how it was settled.
    pub state: RequestState,
}

impl Request {
    /// The thread of requests that belong to none: a client wants to run a command.
    pub const NO_THREAD: ThreadId = ThreadId::new(0);
    /// The turn of requests that belong to none: a client wants to do something by itself.
    pub const NO_TURN: TurnId = TurnId::new(0);

    /// A request of a session that is no thread.
    pub fn of_session(id: RequestId, session: SessionId, asked: Asked, at: Timestamp) -> Request {
        Request {
            id,
            thread: Self::NO_THREAD,
            turn: Self::NO_TURN,
            session: Some(session),
            call_id: String::new(),
            tool: String::new(),
            asked,
            asked_at: at,
            deadline: None,
            is_deferred: false,
            state: RequestState::Pending,
        }
    }

    /// The thread that asks, if there is one.
    pub fn thread(&self) -> Option<ThreadId> {
        Some(self.thread).filter(|thread| *thread != Self::NO_THREAD)
    }

    /// The turn that asks, if there is one.
    pub fn turn(&self) -> Option<TurnId> {
        Some(self.turn).filter(|turn| *turn != Self::NO_TURN)
    }
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// May this be done?
    Approval {
        /// What the tool does.
        kind: ToolKind,
        /// The rule that asks, in words for people.
        reason: String,
        /// The arguments: JSON text.
        input: String,
        /// Program and arguments, if it is a command.
        argv: Vec<String>,
        /// Where it runs.
        cwd: PathBuf,
        /// What it changes in the environment.
        env: Vec<(String, Option<String>)>,
        /// What would change, as a diff or a command line.
        preview: Option<String>,
    },
    /// Questions to the user.
    Input {
        /// One to three of them.
        questions: Vec<Question>,
    },
    /// May the plan be carried out?
    PlanExit(Plan),
    /// A tool that a client runs.
    External(ExternalCall),
    /// A harness wants something to be allowed, in its own words.
    Permission {
        /// In a few words.
        title: String,
        /// In a few more.
        summary: String,
        /// What exactly.
        action: String,
        /// How far it reaches.
        scope: Option<String>,
    },
    /// A dialog that was read from a screen; the answer is typed there.
    Dialog {
        /// What tells this dialog from the next.
        dialog: String,
        /// In a few words.
        title: String,
        /// What it says.
        text: String,
    },
}

/// A question with a few answers to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// A word or two.
    pub header: String,
    /// The name of the answer.
    pub id: String,
    /// The question.
    pub question: String,
    /// What may be answered.
    pub options: Vec<QuestionOption>,
}

/// One answer to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionOption {
    /// In a few words.
    pub label: String,
    /// What it means.
    pub description: String,
}

/// A plan that waits to be allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The mode it asks for.
    pub target: Mode,
    /// What it is.
    pub summary: String,
    /// What comes first.
    pub next_steps: Vec<String>,
}

/// A call of a tool that a client runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalCall {
    /// The arguments: JSON text.
    pub arguments: String,
}

/// Whether a request waits, or how it was settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestState {
    /// Not answered yet.
    Pending,
    /// It was settled.
    Settled(Settled),
}

/// How a request was settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The answer.
    pub answer: Answer,
    /// Who gave it: a dialect, a rule, or what became of the turn.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    Approved {
        /// Whether the same may be done again in this thread without asking.
        remember: bool,
    },
    /// No.
    Denied {
        /// Why.
        message: Option<String>,
    },
    /// Answers to questions: JSON text.
    Given(String),
    /// What a client's tool came to.
    Output {
        /// Its output.
        text: String,
        /// Whether that tells of a failure.
        is_error: bool,
    },
    /// It is not waited for any more.
    Cancelled,
    /// It was not answered in time.
    TimedOut,
    /// It was answered at its terminal, and what was chosen there is not known.
    AtTerminal,
}
