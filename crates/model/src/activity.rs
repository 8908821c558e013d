//! What goes on in a terminal: the shell's word, an agent's word, and who speaks for it.
//!
//! Two axes are kept apart and joined only when asked: marks of the shell say whether a command
//! runs, reports of an agent say how far its turn is. An agent that died without a word must not
//! mute its terminal for ever, so a prompt of the shell takes back what the agent last said.

use std::collections::{BTreeMap, BTreeSet};

use crate::{NotificationText, RequestId, Timestamp};

/// What the shell's marks say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ShellState {
    /// No mark was seen.
    #[default]
    Unknown,
    /// The shell waits for a command.
    AtPrompt,
    /// A command runs.
    Foreground,
}

/// How far an agent says its turn is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lifecycle {
    /// No turn.
    #[default]
    Inactive,
    /// At work.
    Working,
    /// Waits for its user.
    Waiting,
    /// The turn is over.
    Finished,
    /// The turn ended badly.
    Failed,
}

/// What an agent is at, as its screen shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AgentState {
    /// It runs; its screen says no more, or is not understood.
    #[default]
    Running,
    /// Waits for its next prompt.
    Idle,
    /// Works on a prompt.
    Working,
    /// Asks for something: a permission, a choice, trust.
    Waiting,
    /// Has to be logged in first.
    Login,
    /// Shows an error.
    Failed,
}

impl AgentState {
    fn lifecycle(self) -> Lifecycle {
        match self {
            Self::Running => Lifecycle::Inactive,
            Self::Idle => Lifecycle::Finished,
            Self::Working => Lifecycle::Working,
            Self::Waiting | Self::Login => Lifecycle::Waiting,
            Self::Failed => Lifecycle::Failed,
        }
    }
}

/// An agent that was recognised by its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningAgent {
    /// Which of the known ones.
    pub tool: String,
    /// What it is at.
    pub state: AgentState,
}

/// What a terminal looks like to its user, from both axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RunState {
    /// Nothing is known to run.
    #[default]
    Quiet,
    /// Something runs.
    Running,
    /// It waits for a person.
    NeedsInput,
    /// A turn is over and was not looked at.
    Idle,
}

/// Who speaks for a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// Kind of agent or hook.
    pub source: String,
    pub session: String,
    /// A word on what it does.
    pub detail: String,
    /// Further facts.
    pub metadata: BTreeMap<String, String>,
    /// When it last spoke.
    pub last_event_at: Timestamp,
}

impl Owner {
    /// The source of plain hooks that only claim and release.
    pub const LEGACY: &'static str = "legacy";
    /// The source of what shells and scripts report from outside the agent.
    pub const NOTICE: &'static str = "notify";
    /// The source of a state set by hand.
    pub const MANUAL: &'static str = "manual";

    /// Whether an agent speaks, and no plain hook and no hand.
    pub fn is_agent(&self) -> bool {
        self.source != Owner::LEGACY && self.source != Owner::MANUAL
    }
}

/// A notification that waits to be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// What it says.
    pub text: NotificationText,
    /// When it was raised.
    pub at: Timestamp,
}

/// What goes on in a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// The shell's word.
    pub shell: ShellState,
    /// The agent's word.
    pub lifecycle: Lifecycle,
    /// Who speaks.
    pub owner: Option<Owner>,
    /// Whether the owner has spoken since the last prompt, so that what the program itself
    /// announces would be told twice.
    pub has_spoken: bool,
    /// The newest notification that waits to be seen.
    pub pending: Option<Pending>,
    /// What waits for an answer and is shown here.
    pub requests: BTreeSet<RequestId>,
    /// The agent that runs in the foreground, whether or not it reports anything.
    pub agent: Option<RunningAgent>,
}

impl Activity {
    /// Both axes as one.
    pub fn state(&self) -> RunState {
        let by_shell =
            if self.shell == ShellState::Foreground { RunState::Running } else { RunState::Quiet };
        match self.lifecycle() {
            _ if !self.requests.is_empty() => RunState::NeedsInput,
            Lifecycle::Inactive if self.runs_silent_agent() => RunState::Running,
            Lifecycle::Inactive => by_shell,
            Lifecycle::Working => RunState::Running,
            Lifecycle::Waiting | Lifecycle::Failed => RunState::NeedsInput,
            Lifecycle::Finished => RunState::Idle,
        }
    }

    /// How far the agent's turn is: by its own word, else as its screen shows it.
    pub fn lifecycle(&self) -> Lifecycle {
        match (&self.owner, &self.agent) {
            (Some(_), _) => self.lifecycle,
            (None, Some(agent)) => agent.state.lifecycle(),
            (None, None) => Lifecycle::Inactive,
        }
    }

    /// Whether an agent runs of which nothing more is known.
    fn runs_silent_agent(&self) -> bool {
        self.owner.is_none() && self.agent.is_some()
    }

    /// Whether a hook or an agent owns the terminal; a state set by hand is no owner.
    pub fn is_hooked(&self) -> bool {
        self.owner.as_ref().is_some_and(|owner| owner.source != Owner::MANUAL)
    }

    /// Whether notifications of the program itself are dropped, because the owner gives its own.
    pub fn mutes_program(&self) -> bool {
        self.is_hooked() && self.has_spoken
    }

    /// Whether a plain hook owns the terminal.
    pub fn is_legacy(&self) -> bool {
        self.owner.as_ref().is_some_and(|owner| owner.source == Owner::LEGACY)
    }

    /// The shell said where it is.
    pub fn mark(&mut self, shell: ShellState) {
        self.shell = shell;
        match shell {
            ShellState::AtPrompt => {
                self.has_spoken = false;
                self.agent = None;
                if !self.shows_reported_end() {
                    self.lifecycle = Lifecycle::Inactive;
                }
            }
            // What comes next is no news of the one before it.
            ShellState::Foreground if self.shows_reported_end() => self.release(),
            ShellState::Foreground | ShellState::Unknown => {}
        }
    }

    /// Whether a shell reported that an agent has ended. Its prompt comes with that word, before it
    /// or after it, and takes nothing back.
    fn shows_reported_end(&self) -> bool {
        self.lifecycle == Lifecycle::Finished
            && self.owner.as_ref().is_some_and(|owner| owner.source == Owner::NOTICE)
    }

    /// A plain hook takes or gives back the terminal; the lifecycle of a taken one is left alone.
    pub fn set_hooked(&mut self, is_hooked: bool, at: Timestamp) {
        if is_hooked {
            let source = Owner::LEGACY.to_owned();
            self.owner = Some(Owner { source, last_event_at: at, ..Owner::default() });
            self.has_spoken = true;
        } else if self.is_legacy() {
            self.release();
        }
    }

    /// The state is set by hand. A plain hook keeps the terminal, because hooks drive the
    /// state this way between taking and giving back.
    pub fn set_state(&mut self, state: RunState, at: Timestamp) {
        let lifecycle = match state {
            RunState::Quiet => Lifecycle::Inactive,
            RunState::Running => Lifecycle::Working,
            RunState::NeedsInput => Lifecycle::Waiting,
            RunState::Idle => Lifecycle::Finished,
        };
        if self.is_legacy() {
            self.lifecycle = lifecycle;
            self.has_spoken = true;
        } else if state == RunState::Quiet {
            self.release();
        } else {
            let source = Owner::MANUAL.to_owned();
            self.owner = Some(Owner { source, last_event_at: at, ..Owner::default() });
            self.lifecycle = lifecycle;
        }
    }

    /// The terminal has no owner any more.
    pub fn release(&mut self) {
        self.owner = None;
        self.lifecycle = Lifecycle::Inactive;
        self.has_spoken = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(7);

    #[test]
    fn an_agents_word_wins_over_the_shells_until_the_next_prompt() {
        let mut activity = Activity::default();
        activity.mark(ShellState::Foreground);
        assert_eq!(activity.state(), RunState::Running);
        activity.set_hooked(true, NOW);
        activity.set_state(RunState::NeedsInput, NOW);
        assert_eq!(activity.state(), RunState::NeedsInput);
        assert!(activity.is_hooked() && activity.mutes_program());
        activity.mark(ShellState::AtPrompt);
        assert_eq!(activity.state(), RunState::Quiet);
        assert!(activity.is_hooked() && !activity.mutes_program());
        activity.set_state(RunState::Running, NOW);
        assert!(activity.mutes_program());
        activity.set_hooked(false, NOW);
        assert_eq!(activity.owner, None);
    }

    #[test]
    fn the_prompt_after_an_agent_does_not_hide_that_it_has_ended() {
        let owner = Owner { source: Owner::NOTICE.to_owned(), ..Owner::default() };
        let ended =
            Activity { owner: Some(owner), lifecycle: Lifecycle::Finished, ..Activity::default() };
        let mut activity = ended.clone();
        activity.mark(ShellState::AtPrompt);
        activity.mark(ShellState::AtPrompt);
        assert_eq!(activity.state(), RunState::Idle);
        activity.mark(ShellState::Foreground);
        assert_eq!((activity.state(), &activity.owner), (RunState::Running, &None));
        let mut lost = Activity { lifecycle: Lifecycle::Working, ..ended };
        lost.mark(ShellState::AtPrompt);
        assert_eq!(lost.state(), RunState::Quiet, "its end was not reported");
    }

    #[test]
    fn an_agent_that_reports_nothing_is_known_by_its_screen() {
        let agent = |state| Some(RunningAgent { tool: "codex".to_owned(), state });
        let mut activity = Activity::default();
        for (state, shown) in [
            (AgentState::Running, RunState::Running),
            (AgentState::Working, RunState::Running),
            (AgentState::Waiting, RunState::NeedsInput),
            (AgentState::Login, RunState::NeedsInput),
            (AgentState::Failed, RunState::NeedsInput),
            (AgentState::Idle, RunState::Idle),
        ] {
            activity.agent = agent(state);
            assert_eq!(activity.state(), shown, "{state:?}");
            assert!(!activity.is_hooked());
        }
        activity.set_hooked(true, NOW);
        activity.set_state(RunState::Running, NOW);
        assert_eq!(activity.state(), RunState::Running, "its own word counts more");
        activity.set_hooked(false, NOW);
        assert_eq!(activity.state(), RunState::Idle);
        activity.mark(ShellState::AtPrompt);
        assert_eq!(activity, Activity { shell: ShellState::AtPrompt, ..Activity::default() });
    }

    #[test]
    fn a_state_set_by_hand_hooks_nothing() {
        let mut activity = Activity::default();
        activity.set_state(RunState::Idle, NOW);
        assert_eq!(activity.state(), RunState::Idle);
        assert!(!activity.is_hooked());
        activity.set_hooked(false, NOW);
        assert_eq!(activity.state(), RunState::Idle);
        activity.set_state(RunState::Quiet, NOW);
        assert_eq!(activity, Activity::default());
    }
}
