//! Where vectors come from: nowhere, or a server that the settings name.

use rookery_model::{Error, Result};
use rookery_store::MemoryProvider;

use super::MemoryChange;
use crate::rooms::Memories;

/// The provider that needs no server: words alone count.
const LOCAL: &str = "local";
/// Its model.
const WORDS: &str = "bm25";

/// A provider and a model of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryChoice {
    /// The provider's id.
    pub provider: String,
    pub model: String,
}

impl From<MemoryProvider> for MemoryChoice {
    fn from(stored: MemoryProvider) -> Self {
        Self { provider: stored.provider, model: stored.model }
    }
}

impl From<MemoryChoice> for MemoryProvider {
    fn from(choice: MemoryChoice) -> Self {
        Self { provider: choice.provider, model: choice.model }
    }
}

/// A provider as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryProviderView {
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Its models; the first is the usual one.
    pub models: Vec<MemoryModel>,
}

/// A model of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryModel {
    /// Its name.
    pub id: String,
    /// How many numbers its vectors have; 0 if it makes none, or that is not known.
    pub dimensions: u32,
}

impl Memories {
    /// All providers, the one that needs no server first.
    pub fn providers(&self) -> Vec<MemoryProviderView> {
        let local = MemoryProviderView {
            id: LOCAL.to_owned(),
            name: "Local (words only)".to_owned(),
            models: vec![MemoryModel { id: WORDS.to_owned(), dimensions: 0 }],
        };
        let settings = self.core.agents().settings();
        let served = settings.memory.providers.iter().map(|(id, set)| MemoryProviderView {
            id: id.clone(),
            name: format!("{id} (OpenAI-compatible)"),
            models: vec![MemoryModel {
                id: set.model.clone(),
                dimensions: set.dimensions.unwrap_or(0),
            }],
        });
        std::iter::once(local).chain(served).collect()
    }

    /// The provider and the model that are used.
    ///
    /// # Errors
    /// If memories cannot be read.
    pub async fn chosen(&self) -> Result<MemoryChoice> {
        self.with(|_| Ok(())).await?;
        let local = || MemoryChoice { provider: LOCAL.to_owned(), model: WORDS.to_owned() };
        Ok(self.usable_choice().unwrap_or_else(local))
    }

    /// The choice, if it is a server that the settings still have.
    pub(super) fn usable_choice(&self) -> Option<MemoryChoice> {
        let choice = self.room().chosen.read().clone()?;
        let settings = self.core.agents().settings();
        let set = settings.memory.providers.get(&choice.provider);
        set.filter(|set| set.model == choice.model).is_some().then_some(choice)
    }

    /// Chooses a provider and a model. Vectors of another are forgotten, and made anew in the background.
    ///
    /// # Errors
    /// If there is no such provider or model, or the choice cannot be kept.
    pub async fn choose(&self, provider: &str, model: &str) -> Result<MemoryChoice> {
        let shown = |text: &str| text.chars().take(64).collect::<String>();
        let all = self.providers();
        let known = all.iter().find(|known| known.id == provider).ok_or_else(|| {
            let ids: Vec<&str> = all.iter().map(|known| known.id.as_str()).collect();
            let there = ids.join(", ");
            let message = format!("unknown provider_id: {}; there is {there}", shown(provider));
            Error::invalid("provider_id", message)
        })?;
        if !known.models.iter().any(|known| known.id == model) {
            let ids: Vec<&str> = known.models.iter().map(|known| known.id.as_str()).collect();
            let there = ids.join(", ");
            let message = format!("unknown model: {}; {provider} has {there}", shown(model));
            return Err(Error::invalid("model", message));
        }
        let choice = MemoryChoice { provider: provider.to_owned(), model: model.to_owned() };
        let kept = (provider != LOCAL).then(|| choice.clone());
        let stored = kept.clone().map(MemoryProvider::from);
        self.with(move |database| database.set_provider(stored.as_ref())).await?;
        let makes_vectors = kept.is_some();
        *self.room().chosen.write() = kept;
        self.notify(MemoryChange::ProviderChanged(choice.clone()));
        if makes_vectors {
            self.notify(MemoryChange::ReembedQueued(choice.clone()));
            self.embed_soon();
        }
        Ok(choice)
    }
}
