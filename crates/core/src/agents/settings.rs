//! What the user chose: read everywhere, changed here, and written back to the settings file.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::join_all;
use rookery_agent::provider::{Auth, ModelInfo, ProviderInfo};
use rookery_agent::providers::{self, Loan};
use rookery_agent::settings::{Edit, Secret, Settings, Spelled, WebSearchMode};
use rookery_host::SettingsFile;
use rookery_model::{Choice, Error, Mode, Result};

use crate::agents::choose::FittedChoice;
use crate::log::{NoticeBody, SettingsChange};
use crate::rooms::Agents;

/// Whether a change has to outlive this process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Persistence {
    /// It is refused where nothing is kept.
    Required,
    /// It holds for this process where nothing is kept.
    IfPossible,
}

/// A provider, and whether it can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderState {
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Whether it has what it needs, such as a key.
    pub is_usable: bool,
    /// The variable that may hold its key; none if it wants none.
    pub key_variable: Option<String>,
    /// The variables that it would find keys in and that are not set, if it is a program.
    pub wanted_keys: Vec<String>,
}

impl Agents {
    /// What the user chose, as it is now.
    pub fn settings(&self) -> Arc<Settings> {
        self.core.inner.agents.settings()
    }

    /// Where threads work that name no directory.
    pub fn cwd(&self) -> PathBuf {
        self.core.inner.agents.config.cwd.clone()
    }

    /// The shell that runs agents' commands.
    pub fn shell(&self) -> String {
        self.core.inner.agents.shell(&self.core.inner.config.shell)
    }

    /// The only directories whose files clients may read; empty for all.
    pub fn fs_roots(&self) -> Vec<PathBuf> {
        self.core.inner.agents.settings().fs_roots.clone()
    }

    /// All providers as they are now, in the order of a list.
    pub fn providers(&self) -> Vec<ProviderInfo> {
        self.core.inner.agents.registry.infos()
    }

    /// All providers and what they need, in the order of a list.
    pub fn provider_states(&self) -> Vec<ProviderState> {
        let state = |info: ProviderInfo| ProviderState {
            key_variable: match info.auth {
                Auth::ApiKey(variable) => Some(variable),
                Auth::None | Auth::OAuth(_) => None,
            },
            id: info.id,
            name: info.name,
            is_usable: info.is_authenticated,
            wanted_keys: info.wanted_keys,
        };
        self.providers().into_iter().map(state).collect()
    }

    /// All providers with their models, in the order of a list, for a client that lends these keys.
    /// Never waits long for the network: one that does not tell has none.
    pub async fn model_providers(&self, keys: &[Loan]) -> Vec<(ProviderInfo, Vec<ModelInfo>)> {
        let registry = &self.core.inner.agents.registry;
        let listed = registry.infos().into_iter().map(|mut info| async move {
            let models = registry.models_with(&info.id, keys).await;
            info.is_authenticated |= keys.iter().any(|loan| loan.provider() == info.id);
            (info, models)
        });
        join_all(listed).await
    }

    /// The models of one provider, as [`model_providers`](Self::model_providers) lists them.
    ///
    /// # Errors
    /// If there is no such provider.
    pub async fn models(&self, provider: &str, keys: &[Loan]) -> Result<Vec<ModelInfo>> {
        let registry = &self.core.inner.agents.registry;
        let known = registry
            .info(provider)
            .ok_or_else(|| Error::invalid("provider", format!("unknown provider: {provider}")))?;
        Ok(registry.models_with(&known.id, keys).await)
    }

    /// Sets and keeps the key of a provider, which is used from the next call on; its id is returned.
    ///
    /// # Errors
    /// If there is no such provider, the key is blank, or nothing can be kept.
    pub async fn configure_provider(&self, id: &str, key: &str) -> Result<String> {
        let id = self.known_provider(id)?;
        let key = Secret::key(key)
            .ok_or_else(|| Error::invalid("api_key", format!("api key for {id} is empty")))?;
        self.change_key(id, Some(key)).await
    }

    /// Forgets the key of a provider; the environment may still have one. Its id is returned.
    ///
    /// # Errors
    /// If there is no such provider, or nothing can be kept.
    pub async fn clear_provider(&self, id: &str) -> Result<String> {
        let id = self.known_provider(id)?;
        self.change_key(id, None).await
    }

    fn known_provider(&self, id: &str) -> Result<String> {
        let id = providers::normalize(id);
        let agents = &self.core.inner.agents;
        match agents.provider(&id).filter(|_| !agents.registry.is_private(&id)) {
            Some(_) => Ok(id),
            None if id.is_empty() => Err(Error::invalid("provider", "provider must not be empty")),
            None => Err(Error::invalid("provider", format!("unknown provider: {id}"))),
        }
    }

    async fn change_key(&self, id: String, key: Option<Secret>) -> Result<String> {
        let edit = Edit::ApiKey { provider: id.clone(), key: key.clone() };
        let (core, provider) = (self.core.clone(), id.clone());
        let notice = Some(NoticeBody::Settings(SettingsChange::Providers));
        self.change(Persistence::Required, edit, notice, move |settings| {
            let registry = &core.inner.agents.registry;
            let set = match &key {
                Some(key) => registry.set_key(&provider, key.expose()),
                None => registry.clear_key(&provider),
            };
            settings.providers.entry(provider.clone()).or_default().api_key = key;
            if let Err(error) = set {
                tracing::error!(%error, "a key was kept but cannot be used");
            }
        })
        .await?;
        Ok(id)
    }

    /// Chooses the model of new threads. What is left open is filled in: the model by the provider's
    /// own, the effort by what was chosen before only if the model was not chosen anew.
    ///
    /// # Errors
    /// If there is no such provider or effort, it is a task's own, or the file cannot be written.
    pub async fn select_default(&self, choice: Choice) -> Result<Choice> {
        if !choice.provider.trim().is_empty() {
            self.known_provider(&choice.provider)
                .map_err(|error| Error::failed(error.message()))?;
        }
        let mut usual = self.default_choice();
        if !choice.model.trim().is_empty() {
            usual.reasoning = None;
        }
        let FittedChoice { choice: chosen, warning } = self.fit_choice(choice, &usual, &[]).await?;
        let edit = Edit::Selection {
            provider: chosen.provider.clone(),
            model: Some(chosen.model.clone()),
            reasoning: chosen.reasoning.clone(),
        };
        let new = chosen.clone();
        let notice = Some(NoticeBody::Settings(SettingsChange::Providers));
        let core = self.core.clone();
        self.change(Persistence::IfPossible, edit, notice, move |settings| {
            core.inner.agents.choose_provider();
            settings.provider = Some(new.provider);
            settings.model = Some(new.model);
            settings.reasoning = new.reasoning;
        })
        .await?;
        if let Some(warning) = warning {
            self.core.log().warn(None, warning);
        }
        Ok(chosen)
    }

    /// Whether models search the web, in the words of a client.
    ///
    /// # Errors
    /// If that is no mode, or the file cannot be written.
    pub async fn set_web_search(&self, word: &str) -> Result<()> {
        let mode = Spelled::<WebSearchMode>::from_name(word).ok_or_else(|| {
            let accepted = "disabled, cached, auto, live";
            Error::invalid("mode", format!("unknown mode: {word}; expected one of {accepted}"))
        })?;
        self.set(Edit::WebSearch(mode), move |settings| settings.web_search = mode).await
    }

    /// The mode to begin in, in the words of a client. It holds from now on as well.
    ///
    /// # Errors
    /// If that is no mode, or it cannot be kept.
    pub async fn set_default_mode(&self, word: &str) -> Result<()> {
        let mode = Spelled::<Mode>::from_name(word)
            .ok_or_else(|| Error::invalid("mode", format!("unknown mode: {word}")))?;
        let edit = Edit::DefaultMode(mode);
        self.change(Persistence::IfPossible, edit, None, move |settings| {
            settings.policy.default = mode
        })
        .await?;
        let reason = Some("default mode".to_owned());
        self.core
            .threads()
            .set_mode(None, mode.value, Some(mode.spelling.to_owned()), reason)
            .await?;
        // Told last: by then the word for it is the one that was used.
        self.core.inner.log.spine().send(None, [NoticeBody::Settings(SettingsChange::Other)]);
        Ok(())
    }

    /// The shell that runs agents' commands.
    ///
    /// # Errors
    /// If it is blank, or the file cannot be written.
    pub async fn set_shell(&self, shell: &str) -> Result<()> {
        let shell = shell.trim().to_owned();
        if shell.is_empty() || shell.contains('\0') {
            return Err(Error::invalid("shell", "shell must not be blank"));
        }
        let edit = Edit::Shell(shell.clone());
        self.set(edit, move |settings| settings.tools.shell = Some(shell)).await
    }

    /// Whether there is a search index.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn set_search_index(&self, is_on: bool) -> Result<()> {
        self.set(Edit::SearchIndex(is_on), move |settings| settings.search_index.enabled = is_on)
            .await
    }

    /// Whether long results are kept whole in files.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn set_dynamic_context(&self, is_on: bool) -> Result<()> {
        self.set(Edit::DynamicContext(is_on), move |settings| {
            settings.context.file_backed_dynamic_context = is_on;
        })
        .await
    }

    async fn set(
        &self,
        edit: Edit,
        apply: impl FnOnce(&mut Settings) + Send + 'static,
    ) -> Result<()> {
        let notice = Some(NoticeBody::Settings(SettingsChange::Other));
        self.change(Persistence::IfPossible, edit, notice, apply).await
    }

    /// Writes a change to the file, lets it take effect, and tells of it; all of it or nothing, even
    /// if whoever asked goes away meanwhile.
    async fn change(
        &self,
        persistence: Persistence,
        edit: Edit,
        notice: Option<NoticeBody>,
        apply: impl FnOnce(&mut Settings) + Send + 'static,
    ) -> Result<()> {
        let core = self.core.clone();
        let work = self.core.inner.runtime.spawn(async move {
            let agents = &core.inner.agents;
            let _writing = agents.settings_writer.lock().await;
            match agents.config.settings_file.clone() {
                Some(path) => write(path, edit).await?,
                None if persistence == Persistence::Required => {
                    return Err(Error::failed("persistence is disabled"));
                }
                None => {}
            }
            agents.change_settings(apply);
            core.inner.log.spine().send(None, notice);
            Ok(())
        });
        work.await.map_err(|error| Error::failed(error.to_string()))?
    }
}

async fn write(path: PathBuf, edit: Edit) -> Result<()> {
    let written = tokio::task::spawn_blocking(move || {
        SettingsFile::new(path).edit(|document| edit.apply(document)).map(drop)
    });
    let written = written.await.map_err(|error| Error::failed(error.to_string()))?;
    written.map_err(|error| Error::failed(error.to_string()))
}
