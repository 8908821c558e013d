//! Requests: what an agent waits for an answer to. Approvals, questions, plans, and calls of tools
//! that a client runs are one kind of object, so that every dialect shows and settles the same one.

use std::path::PathBuf;

use crate::{Mode, RequestId, SessionId, ThreadId, Timestamp, ToolKind, TurnId};

/// Something that waits, or waited, for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its id, never reused.
    pub id: RequestId,
    /// Who asks.
    pub asker: Asker,
    /// The tool call that asks.
    pub call_id: String,
    /// The tool that asks.
    pub tool: String,
    pub asked: Asked,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When it will be denied if it is not answered.
    pub deadline: Option<Timestamp>,
    /// Whether it was deferred.
    pub is_deferred: bool,
    /// Answers to some of its questions, in the order in which they came, while it waits for others.
    pub given: Vec<PartAnswer>,
    /// Whether it waits, or how it was settled.
    pub state: RequestState,
}

/// Who waits for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asker {
    /// A turn of a thread.
    Turn { thread: ThreadId, turn: TurnId },
    /// A client that called a tool of a thread without a turn.
    Caller(ThreadId),
    /// A client that wants to run a command, outside of all threads.
    Client,
    /// A session that is no thread: its harness, or a dialog on its screen.
    Session(SessionId),
}

impl Asker {
    /// The thread that it belongs to.
    pub fn thread(self) -> Option<ThreadId> {
        match self {
            Asker::Turn { thread, .. } | Asker::Caller(thread) => Some(thread),
            Asker::Client | Asker::Session(_) => None,
        }
    }

    /// The turn that waits.
    pub fn turn(self) -> Option<TurnId> {
        match self {
            Asker::Turn { turn, .. } => Some(turn),
            Asker::Caller(_) | Asker::Client | Asker::Session(_) => None,
        }
    }

    /// The session that waits, if it is no thread.
    pub fn session(self) -> Option<SessionId> {
        match self {
            Asker::Session(session) => Some(session),
            Asker::Turn { .. } | Asker::Caller(_) | Asker::Client => None,
        }
    }

    /// Whether a client of this daemon asks by itself: such a request ends with the daemon.
    pub fn is_client(self) -> bool {
        matches!(self, Asker::Caller(_) | Asker::Client)
    }
}

impl Request {
    /// A request of a session that is no thread.
    pub fn of_session(id: RequestId, session: SessionId, asked: Asked, at: Timestamp) -> Request {
        Request {
            id,
            asker: Asker::Session(session),
            call_id: String::new(),
            tool: String::new(),
            asked,
            asked_at: at,
            deadline: None,
            is_deferred: false,
            given: Vec::new(),
            state: RequestState::Pending,
        }
    }

    /// The thread that asks, if there is one.
    pub fn thread(&self) -> Option<ThreadId> {
        self.asker.thread()
    }

    /// The turn that asks, if there is one.
    pub fn turn(&self) -> Option<TurnId> {
        self.asker.turn()
    }

    /// Whether a client of this daemon asks by itself, in the name of a tool.
    pub fn is_of_client(&self, tool: &str) -> bool {
        self.asker.is_client() && self.tool == tool
    }

    /// The session that asks, if it is no thread.
    pub fn session(&self) -> Option<SessionId> {
        self.asker.session()
    }
}

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
    pub question: String,
    /// What may be answered.
    pub options: Vec<QuestionOption>,
}

/// The answer to one of several questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartAnswer {
    /// The id of the question.
    pub question: String,
    /// The answer.
    pub text: String,
    /// When it was given.
    pub at: Timestamp,
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
    Settled(Settled),
}

/// How a request was settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    pub answer: Answer,
    /// Who gave it: a dialect, a rule, or what became of the turn.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

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
