//! Which model answers.

use rookery_agent::providers::{KeyError, Loan};
use rookery_model::{Choice, Error, Result};

use crate::core::Core;

/// What answers where nothing was chosen.
const MOCK: &str = "mock";
/// The model of a provider that lists none: whatever it takes for its own choice.
const ANY: &str = "default";

impl Core {
    /// The choice of new threads.
    pub fn default_choice(&self) -> Choice {
        let settings = self.inner.agents.settings();
        let provider = settings.provider.clone().unwrap_or_else(|| MOCK.to_owned());
        let model = settings.model.clone().unwrap_or_else(|| self.first_model(&provider));
        Choice { provider, model, reasoning: settings.reasoning.clone() }
    }

    /// Whether whoever set this up chose who answers; the mock answers otherwise.
    pub fn has_chosen_provider(&self) -> bool {
        self.inner.agents.has_chosen_provider()
    }

    /// Takes a key of a client for its own turns; see [`NewTurn::keys`](super::NewTurn::keys).
    ///
    /// # Errors
    /// If there is no such provider, or the key is blank.
    pub fn lend_key(&self, provider: &str, key: &str) -> Result<Loan> {
        self.inner.agents.registry.lend(provider, key).map_err(|error| match error {
            KeyError::UnknownProvider(_) => Error::invalid("provider", error.to_string()),
            KeyError::EmptyKey(_) => Error::invalid("key", error.to_string()),
        })
    }

    /// Asks a provider that lists its models itself for one, where none was chosen. One that does not
    /// answer is left to its own choice.
    pub async fn settle_model(&self, choice: Choice, keys: &[Loan]) -> Choice {
        let registry = &self.inner.agents.registry;
        let is_open = choice.model == ANY && registry.default_model(&choice.provider).is_none();
        if !is_open {
            return choice;
        }
        let models = registry.models_with(&choice.provider, keys).await;
        match models.first() {
            Some(first) if models.iter().all(|model| model.id != ANY) => {
                Choice { model: first.id.clone(), ..choice }
            }
            _ => choice,
        }
    }

    fn first_model(&self, provider: &str) -> String {
        let known = self.inner.agents.registry.default_model(provider);
        let unknown = || if provider == MOCK { MOCK } else { ANY }.to_owned();
        known.unwrap_or_else(unknown)
    }

    /// Fills in what a choice leaves open, and checks it.
    ///
    /// # Errors
    /// If there is no such provider, or its model cannot think so hard.
    pub fn complete_choice(&self, choice: Choice, usual: &Choice) -> Result<Choice> {
        let agents = &self.inner.agents;
        let named = rookery_agent::providers::normalize(&choice.provider);
        let provider = if named.is_empty() { usual.provider.clone() } else { named };
        if agents.provider(&provider).is_none() {
            return Err(Error::failed(format!("unknown provider: {provider}")));
        }
        let is_usual = provider == usual.provider;
        let model = match choice.model.trim() {
            "" if is_usual && !usual.model.is_empty() => usual.model.clone(),
            "" => self.first_model(&provider),
            model => model.to_owned(),
        };
        let reasoning = match choice.reasoning {
            Some(effort) => Some(effort),
            None if is_usual && model == usual.model => usual.reasoning.clone(),
            None => None,
        };
        if let Some(effort) = &reasoning {
            let checked = agents.registry.check_effort(&provider, &model, effort);
            checked.map_err(|error| Error::failed(error.to_string()))?;
        }
        Ok(Choice { provider, model, reasoning })
    }
}
