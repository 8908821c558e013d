//! Which model answers.

use futures_util::future::BoxFuture;
use rookery_agent::providers::{KeyError, Loan};
use rookery_model::{Choice, Error, Prices, Result};

use crate::rooms::Agents;

/// What answers where nothing was chosen.
const MOCK: &str = "mock";
/// The model of a provider that lists none: whatever it takes for its own choice.
const ANY: &str = "default";

/// A choice that its model can follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedChoice {
    pub choice: Choice,
    /// What is to be said if it is not the one that was wanted.
    pub warning: Option<String>,
}

/// What is known of a model before it is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelFacts {
    /// How many tokens it takes.
    pub context_window: Option<u64>,
    /// How many tokens an answer may have, if that was set.
    pub max_tokens: Option<u64>,
    /// Whether it is sent images.
    pub takes_images: bool,
    /// Whether its provider caches what is sent again.
    pub caches_prompts: bool,
    /// What its tokens cost, if its provider has reported it.
    pub prices: Option<Prices>,
}

impl Agents {
    /// What is known of a chosen model.
    pub fn model_facts(&self, choice: &Choice) -> ModelFacts {
        let registry = &self.core.inner.agents.registry;
        let known = registry.known_model(&choice.provider, &choice.model);
        let able = registry.info(&choice.provider).map(|info| info.capabilities);
        ModelFacts {
            context_window: known.and_then(|model| model.context_window),
            max_tokens: registry.max_tokens(&choice.provider),
            takes_images: able.is_some_and(|able| able.image_input),
            caches_prompts: able.is_some_and(|able| able.prompt_cache),
            prices: registry.prices(&choice.provider, &choice.model),
        }
    }

    /// The choice of new threads.
    pub fn default_choice(&self) -> Choice {
        let settings = self.core.inner.agents.settings();
        let provider = settings.provider.clone().unwrap_or_else(|| MOCK.to_owned());
        let model = settings.model.clone().unwrap_or_else(|| self.first_model(&provider));
        Choice { provider, model, reasoning: settings.reasoning.clone() }
    }

    /// Whether whoever set this up chose who answers; the mock answers otherwise.
    pub fn has_chosen_provider(&self) -> bool {
        self.core.inner.agents.has_chosen_provider()
    }

    /// Takes a key of a client for its own turns; see [`NewTurn::keys`](super::NewTurn::keys).
    ///
    /// # Errors
    /// If there is no such provider, it does not take a key from that variable, or the key is blank.
    pub fn lend_key(&self, provider: &str, variable: Option<&str>, key: &str) -> Result<Loan> {
        let lent = self.core.inner.agents.registry.lend(provider, variable, key);
        lent.map_err(|error| match error {
            KeyError::UnknownProvider(_) | KeyError::NoVariable(_) => {
                Error::invalid("provider", error.to_string())
            }
            KeyError::UnknownVariable(..) => Error::invalid("variable", error.to_string()),
            KeyError::EmptyKey(_) => Error::invalid("key", error.to_string()),
        })
    }

    /// Asks a provider that lists its models itself for one, where none was chosen. One that does not
    /// answer is left to its own choice.
    pub async fn settle_model(&self, choice: Choice, keys: &[Loan]) -> Choice {
        let registry = &self.core.inner.agents.registry;
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
        let known = self.core.inner.agents.registry.default_model(provider);
        let unknown = || if provider == MOCK { MOCK } else { ANY }.to_owned();
        known.unwrap_or_else(unknown)
    }

    /// How hard the chosen model thinks, if that is known.
    pub fn effort_of(&self, choice: &Choice) -> Option<String> {
        let registry = &self.core.inner.agents.registry;
        let usual = || registry.usual_effort(&choice.provider, &choice.model).map(str::to_owned);
        choice.reasoning.clone().or_else(usual)
    }

    /// Fills in what a choice leaves open, and checks it.
    ///
    /// # Errors
    /// If there is no such provider or effort.
    pub fn complete_choice(&self, choice: Choice, usual: &Choice) -> Result<Choice> {
        self.fit_effort(self.fill_choice(choice, usual)?).map(|fitted| fitted.choice)
    }

    /// The same, with what is to be said if the model cannot think as hard as was wanted. A provider
    /// that lists its models is asked for one where none was chosen, with these keys.
    ///
    /// # Errors
    /// If there is no such provider or effort.
    pub fn fit_choice<'a>(
        &'a self,
        choice: Choice,
        usual: &'a Choice,
        keys: &'a [Loan],
    ) -> BoxFuture<'a, Result<FittedChoice>> {
        Box::pin(self.fit_choice_inner(choice, usual, keys))
    }

    async fn fit_choice_inner(
        &self,
        choice: Choice,
        usual: &Choice,
        keys: &[Loan],
    ) -> Result<FittedChoice> {
        let choice = self.settle_model(self.fill_choice(choice, usual)?, keys).await;
        self.fit_effort(choice)
    }

    /// The choice with an effort that its model has.
    fn fit_effort(&self, mut choice: Choice) -> Result<FittedChoice> {
        let Some(effort) = choice.reasoning.take() else {
            return Ok(FittedChoice { choice, warning: None });
        };
        let registry = &self.core.inner.agents.registry;
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
        if self.core.inner.agents.provider(&provider).is_none() {
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
