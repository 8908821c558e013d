//! Which model answers.

use rookery_model::{Choice, Error, Result};

use crate::core::Core;

/// What answers where nothing was chosen.
const MOCK: &str = "mock";
/// The model of a provider that lists none: whatever it takes for its own choice.
const ANY: &str = "default";

/// A choice that its model can follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedChoice {
    /// The choice.
    pub choice: Choice,
    /// What is to be said if it is not the one that was wanted.
    pub warning: Option<String>,
}

impl Core {
    /// The choice of new threads.
    pub fn default_choice(&self) -> Choice {
        let settings = self.inner.agents.settings();
        let provider = settings.provider.clone().unwrap_or_else(|| MOCK.to_owned());
        let model = settings.model.clone().unwrap_or_else(|| self.first_model(&provider));
        Choice { provider, model, reasoning: settings.reasoning.clone() }
    }

    fn first_model(&self, provider: &str) -> String {
        let known = self.inner.agents.registry.default_model(provider);
        let unknown = || if provider == MOCK { MOCK } else { ANY }.to_owned();
        known.unwrap_or_else(unknown)
    }

    /// How hard the chosen model thinks, if that is known.
    pub fn effort_of(&self, choice: &Choice) -> Option<String> {
        let registry = &self.inner.agents.registry;
        let usual = || registry.usual_effort(&choice.provider, &choice.model).map(str::to_owned);
        choice.reasoning.clone().or_else(usual)
    }

    /// Fills in what a choice leaves open, and checks it.
    ///
    /// # Errors
    /// If there is no such provider or effort.
    pub fn complete_choice(&self, choice: Choice, usual: &Choice) -> Result<Choice> {
        self.fit_choice(choice, usual).map(|fitted| fitted.choice)
    }

    /// The same, with what is to be said if the model cannot think as hard as was wanted.
    ///
    /// # Errors
    /// If there is no such provider or effort.
    pub fn fit_choice(&self, choice: Choice, usual: &Choice) -> Result<FittedChoice> {
        let mut choice = self.fill_choice(choice, usual)?;
        let Some(effort) = choice.reasoning.take() else {
            return Ok(FittedChoice { choice, warning: None });
        };
        let registry = &self.inner.agents.registry;
        let fitted = registry.fit_effort(&choice.provider, &choice.model, &effort);
        let fitted = fitted.map_err(|error| Error::failed(error.to_string()))?;
        choice.reasoning = Some(fitted.effort);
        Ok(FittedChoice { choice, warning: fitted.warning })
    }

    /// Fills in what a choice leaves open, whether or not the model can follow it.
    ///
    /// # Errors
    /// If there is no such provider.
    pub fn fill_choice(&self, choice: Choice, usual: &Choice) -> Result<Choice> {
        let named = rookery_agent::providers::normalize(&choice.provider);
        let provider = if named.is_empty() { usual.provider.clone() } else { named };
        if self.inner.agents.provider(&provider).is_none() {
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
        Ok(Choice { provider, model, reasoning })
    }
}
