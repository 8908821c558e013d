//! Rows of a palette, and what stands behind each.

use rookery_model::{Lifecycle, TerminalId};

use super::Frame;
use crate::keys::Action;
use crate::settings::{Command, Provider};

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub id: String,
    pub title: String,
    pub subtitle: Option<String>,
    pub agent: Option<AgentDetail>,
    pub target: Target,
}

/// What an agent's row shows besides its title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentDetail {
    /// Its state.
    pub effective_lifecycle: Lifecycle,
    /// Its project's name.
    pub project: String,
    /// Its own name.
    pub name: String,
    /// Its state in words.
    pub status_text: String,
    /// How long ago it was heard of.
    pub time_text: String,
    /// What it changed; none while that is being found out.
    pub metrics_text: Option<String>,
}

/// What activating a row means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Nothing: the row only tells something.
    Still,
    Run(Action),
    Drill(Frame),
    Theme(String),
    Font(String),
    Tab(TerminalId),
    Launch(Box<Command>),
    /// A provider in the list of providers.
    List(Box<Provider>),
    /// A row that a provider gave; the frame knows which provider.
    ProviderItem,
    /// A row of a client's question.
    Pick,
}

impl Row {
    pub(super) fn new(id: impl Into<String>, title: impl Into<String>, target: Target) -> Self {
        Self { id: id.into(), title: title.into(), subtitle: None, agent: None, target }
    }

    /// A row that only tells something.
    pub(super) fn still(id: &str, title: impl Into<String>) -> Self {
        Self::new(id, title, Target::Still)
    }

    pub(super) fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = Some(subtitle.into()).filter(|subtitle| !subtitle.is_empty());
        self
    }

    pub(super) fn agent(mut self, detail: AgentDetail) -> Self {
        self.agent = Some(detail);
        self
    }

    /// The second line as it is drawn: an agent has its words there.
    pub(super) fn line_below(&self) -> String {
        let Some(agent) = &self.agent else {
            return self.subtitle.clone().unwrap_or_default();
        };
        let metrics = agent.metrics_text.as_deref().unwrap_or_default();
        let parts = [agent.status_text.as_str(), agent.time_text.as_str(), metrics];
        let said: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        said.join("  ")
    }

    pub(super) fn is_actionable(&self) -> bool {
        self.target != Target::Still
    }
}
