//! What goes on in a terminal: its agent, and what it looks like to its user.

use rookery_model::{self as model, Words as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A coding agent in a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Agent {
    /// Which one: the name of its program, or what it calls itself.
    pub kind: String,
    /// What it is at: `running`, `idle`, `working`, `waiting`, `login` or `failed`.
    pub state: String,
}

impl Agent {
    /// By its own word, if it speaks for the terminal; else as its program and screen show it.
    pub(super) fn of(activity: &model::Activity) -> Option<Self> {
        let owner = activity.owner.as_ref().filter(|owner| owner.is_agent());
        let kind = activity.agent.as_ref().map(|agent| &agent.tool);
        let kind = kind.or(owner.map(|owner| &owner.source))?.clone();
        let by_lifecycle = match activity.lifecycle() {
            model::Lifecycle::Inactive => model::AgentState::Running,
            model::Lifecycle::Working => model::AgentState::Working,
            model::Lifecycle::Waiting => model::AgentState::Waiting,
            model::Lifecycle::Finished => model::AgentState::Idle,
            model::Lifecycle::Failed => model::AgentState::Failed,
        };
        let by_screen = activity.agent.as_ref().filter(|_| owner.is_none());
        let state = by_screen.map_or(by_lifecycle, |agent| agent.state);
        let state = if activity.requests.is_empty() { state } else { model::AgentState::Waiting };
        Some(Self { kind, state: state.word().to_owned() })
    }
}

/// What a terminal looks like to its user.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Nothing is known to run.
    #[default]
    None,
    /// Something runs.
    Running,
    /// It waits for a person.
    NeedsInput,
    /// A turn is over.
    Idle,
}

impl RunState {
    /// Whether there is nothing to tell.
    pub(super) fn is_none(&self) -> bool {
        *self == RunState::None
    }
}

impl From<model::RunState> for RunState {
    fn from(state: model::RunState) -> Self {
        match state {
            model::RunState::Quiet => RunState::None,
            model::RunState::Running => RunState::Running,
            model::RunState::NeedsInput => RunState::NeedsInput,
            model::RunState::Idle => RunState::Idle,
        }
    }
}
