//! How much an agent may do without asking, and what sorts of things it does.

/// A policy mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Reading is allowed; whatever changes something is asked for.
    #[default]
    Default,
    /// Whatever changes something is approved at once.
    AcceptAll,
    /// Nothing may be changed: the agent makes a plan.
    Plan,
    /// Everything is approved.
    Bypass,
}

impl Mode {
    /// The one of two that allows less.
    #[must_use]
    pub fn stricter(self, other: Mode) -> Mode {
        let rank = |mode| match mode {
            Mode::Plan => 0,
            Mode::Default => 1,
            Mode::AcceptAll => 2,
            Mode::Bypass => 3,
        };
        if rank(other) < rank(self) { other } else { self }
    }
}

/// What a tool does, as it declares itself. Policy judges by this, never by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolKind {
    /// Looks at files, searches, lists.
    Read,
    /// Touches only what belongs to the thread: plan, goal, ledger, questions.
    Internal,
    /// Changes files.
    Write,
    /// Changes what is kept beside the files, for other threads as well: memories.
    State,
    /// Runs programs.
    Exec,
    /// Speaks to the network.
    Network,
    /// Starts and steers other agents.
    Agents,
    /// Came from outside and did not say.
    Unknown,
}

/// Who is there to answer while a turn runs, and what counts at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// A person is present.
    #[default]
    Interactive,
    /// No person is there to answer.
    NonInteractive,
    /// No person is there to answer, and the state at the deadline counts.
    Eval,
}

impl Profile {
    /// Whether no person is there to answer.
    pub fn is_unattended(self) -> bool {
        self != Profile::Interactive
    }
}
