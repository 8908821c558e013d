//! Every provider there is: the built-in ones and those that settings add, with their keys.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use rookery_host::http::Client;
use serde_json::Value;

use super::acp::{self, Acp};
use super::anthropic::Anthropic;
use super::builtin::{self, ADDED_SORT_ORDER, BUILTINS, Builtin, capabilities};
use super::call::{Endpoint, Keys, Protocol, Remote};
use super::catalog::{self, Known};
use super::efforts::{self, Fitted, UnsupportedEffort};
use super::listing::Cache;
use super::loans::{Loan, Loans};
use super::mock::Mock;
use super::openai_chat::OpenaiChat;
use super::openai_responses::OpenaiResponses;
use super::settings::{Environment, Kind, Retry, Settings, idle_timeout, mask, variable_part};
use crate::provider::{Auth, ModelInfo, Provider, ProviderInfo};
use crate::settings::Secret;
use crate::tool::ToolOutput;

/// What OpenRouter is told about us by default.
const REFERER: &str = "http://localhost";
const TITLE: &str = "Rookery";

/// Headers that carry a key.
const KEY_HEADERS: [&str; 3] = ["authorization", "api-key", "x-api-key"];

/// What all providers share.
#[derive(Clone)]
pub struct RegistryOptions {
    /// The way out.
    pub client: Client,
    /// Where variables are looked up.
    pub environment: Environment,
    /// When failed calls are tried again.
    pub retry: Retry,
    /// Where lists of models are kept across restarts.
    pub cache_file: Option<PathBuf>,
}

/// A key cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// There is no such provider.
    #[error("unknown provider: {0}")]
    UnknownProvider(String),
    /// The key has nothing in it.
    #[error("api key for {0} is empty")]
    EmptyKey(String),
    /// It does not take a key by that name.
    #[error("{0} takes no key from {1}")]
    UnknownVariable(String, String),
    /// It is a program, and nothing says where it finds a key.
    #[error("{0} takes no key: name its variable with `api_key_env` in its settings")]
    NoVariable(String),
}

/// All providers. Keys change while it is in use; everything else is as it was built.
pub struct Registry {
    providers: BTreeMap<String, Registered>,
    keys: Keys,
    loans: Loans,
    variables: BTreeSet<String>,
    listings: Arc<Cache>,
}

/// Shorter keys are not looked for in what tools find.
const SHORTEST_SECRET: usize = 8;

fn mask_text(text: &mut String, secrets: &[String]) {
    // Looked for first: hardly any text has one, and then nothing is copied.
    if secrets.iter().any(|secret| text.contains(secret.as_str())) {
        *text = mask(text, secrets);
    }
}

fn mask_value(value: &mut Value, secrets: &[String]) {
    match value {
        Value::String(text) => mask_text(text, secrets),
        Value::Array(values) => values.iter_mut().for_each(|value| mask_value(value, secrets)),
        Value::Object(members) => {
            members.values_mut().for_each(|value| mask_value(value, secrets));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

struct Registered {
    provider: Arc<dyn Provider>,
    /// None for one without a network.
    endpoint: Option<Arc<Endpoint>>,
    /// Only for one that is a program.
    acp: Option<Acp>,
    info: ProviderInfo,
    /// The models that are known without asking.
    models: Vec<ModelInfo>,
    known: &'static [Known],
    /// The variables that its keys are found in.
    variables: Vec<String>,
    environment: Environment,
}

impl Registry {
    /// Every built-in provider, changed by the settings of its id, and those that only settings know.
    pub fn new(settings: Vec<Settings>, options: &RegistryOptions) -> Self {
        let keys = Keys::default();
        let mut all: BTreeMap<String, Settings> = BUILTINS
            .iter()
            .map(|builtin| {
                (
                    builtin.id.to_owned(),
                    Settings { id: builtin.id.to_owned(), ..Settings::default() },
                )
            })
            .collect();
        for mut one in settings {
            one.id = builtin::normalize(&one.id);
            all.insert(one.id.clone(), one);
        }
        all.remove("");
        for one in all.values() {
            keys.write().extend(one.api_key.clone().map(|key| (one.id.clone(), key)));
        }
        let variables = all.values().flat_map(|one| {
            let usual = key_variables(one, builtin::find(&one.id));
            usual.into_iter().chain(program_keys(one))
        });
        let variables = variables.chain(builtin::OTHER_KEYS.map(str::to_owned)).collect();
        let register = |one: Settings| (one.id.clone(), Registered::new(one, &keys, options));
        let providers = all.into_values().map(register).collect();
        let listings = Cache::new(options.cache_file.clone());
        Self { providers, keys, loans: Loans::default(), variables, listings }
    }

    /// An id as we spell it.
    pub fn normalize(&self, id: &str) -> String {
        builtin::normalize(id)
    }

    /// A provider, by any spelling of its id.
    pub fn get(&self, id: &str) -> Option<Arc<dyn Provider>> {
        self.find(id).map(|registered| Arc::clone(&registered.provider))
    }

    /// A provider as clients see it now.
    pub fn info(&self, id: &str) -> Option<ProviderInfo> {
        self.find(id).map(Registered::info)
    }

    /// All providers as clients see them now, in the order of a list.
    pub fn infos(&self) -> Vec<ProviderInfo> {
        let mut infos: Vec<ProviderInfo> = self.providers.values().map(Registered::info).collect();
        infos.sort_by(|one, other| {
            (one.sort_order, &one.name).cmp(&(other.sort_order, &other.name))
        });
        infos
    }

    /// A provider's models; empty if it is unknown or does not tell. Never waits long for the network.
    pub async fn models(&self, id: &str) -> Vec<ModelInfo> {
        let Some(registered) = self.find(id) else { return Vec::new() };
        if !registered.models.is_empty() {
            return registered.models.clone();
        }
        self.listings.models(&registered.info.id, Arc::clone(&registered.provider)).await
    }

    /// The models that are available with these lent keys.
    pub async fn models_with(&self, id: &str, keys: &[Loan]) -> Vec<ModelInfo> {
        let Some(registered) = self.find(id) else { return Vec::new() };
        match keys.iter().find(|loan| loan.provider() == registered.info.id) {
            Some(loan) if registered.models.is_empty() => {
                self.listings.lent(Arc::clone(&registered.provider), loan.clone()).await
            }
            _ => self.models(id).await,
        }
    }

    /// Takes a key for the calls that it is handed to, and for nothing else. It is never stored, and
    /// forgotten when the loan is dropped. A provider that is a program may find keys in more than one
    /// variable, the usual one first.
    ///
    /// # Errors
    /// If there is no such provider, it knows no such variable, or the key is blank.
    pub fn lend(&self, id: &str, variable: Option<&str>, key: &str) -> Result<Loan, KeyError> {
        let id = self.known_id(id)?;
        let key = Secret::key(key).ok_or_else(|| KeyError::EmptyKey(id.clone()))?;
        let Some(Registered { acp, variables, .. }) = self.providers.get(&id) else {
            return Err(KeyError::UnknownProvider(id));
        };
        let variable = match variable {
            Some(name) if variables.iter().any(|known| known == name) => Some(name.to_owned()),
            Some(name) => return Err(KeyError::UnknownVariable(id, name.to_owned())),
            None if acp.is_none() => None,
            None => Some(variables.first().cloned().ok_or(KeyError::NoVariable(id.clone()))?),
        };
        Ok(self.loans.lend(id, variable, key))
    }

    /// A model of a provider that is known without asking.
    pub fn known_model(&self, id: &str, model: &str) -> Option<ModelInfo> {
        let registered = self.find(id)?;
        let listed = registered.models.iter().find(|info| info.id == model);
        listed.cloned().or_else(|| catalog::find(registered.known, model).map(Known::info))
    }

    /// The model to begin with: the first that is known without asking.
    pub fn default_model(&self, id: &str) -> Option<String> {
        self.find(id)?.models.first().map(|model| model.id.clone())
    }

    /// The effort of a model that is nearest to the one wanted. An unknown model is not judged.
    ///
    /// # Errors
    /// If a known model is asked for what is no effort at all.
    pub fn fit_effort(
        &self,
        id: &str,
        model: &str,
        effort: &str,
    ) -> Result<Fitted, UnsupportedEffort> {
        let known = self.find(id).and_then(|registered| catalog::find(registered.known, model));
        let wanted = || Ok(Fitted::wanted(effort));
        known.map_or_else(wanted, |known| efforts::fit(&known.info(), effort))
    }

    /// The default effort of a known model.
    pub fn usual_effort(&self, id: &str, model: &str) -> Option<&'static str> {
        catalog::find(self.find(id)?.known, model)?.default_reasoning
    }

    /// Sets a provider's key from the next call on.
    pub fn set_key(&self, id: &str, key: &str) -> Result<(), KeyError> {
        let id = self.known_id(id)?;
        let key = Secret::key(key).ok_or_else(|| KeyError::EmptyKey(id.clone()))?;
        self.keys.write().insert(id.clone(), key);
        self.listings.forget_age(&id);
        Ok(())
    }

    /// Forgets a provider's key from the next call on; the environment may still have one.
    pub fn clear_key(&self, id: &str) -> Result<(), KeyError> {
        let id = self.known_id(id)?;
        self.keys.write().remove(&id);
        self.listings.forget_age(&id);
        Ok(())
    }

    /// Takes every key that is known now, set or from the environment, out of what a tool found, so
    /// that no conversation has it.
    #[must_use]
    pub fn mask(&self, mut output: ToolOutput) -> ToolOutput {
        let secrets = self.secrets();
        if !secrets.is_empty() {
            mask_text(&mut output.text, &secrets);
            mask_value(&mut output.data, &secrets);
        }
        output
    }

    /// The variables that keys are taken from, whether or not they are set.
    pub fn key_variables(&self) -> &BTreeSet<String> {
        &self.variables
    }

    /// Whether a text has a key in it that is known now.
    pub fn has_key(&self, text: &str) -> bool {
        self.secrets().iter().any(|secret| text.contains(secret))
    }

    /// Keys that are long enough to differ from ordinary words.
    fn secrets(&self) -> Vec<String> {
        let set = self.keys.read().values().map(|key| key.expose().to_owned()).collect::<Vec<_>>();
        let endpoints =
            self.providers.values().filter_map(|registered| registered.endpoint.as_ref());
        let used =
            endpoints.flat_map(|endpoint| endpoint.secrets(endpoint.key().ok().flatten().as_ref()));
        let mut all: Vec<String> = set.into_iter().chain(used).chain(self.loans.keys()).collect();
        all.retain(|secret| secret.len() >= SHORTEST_SECRET);
        // The longest first: one may be the beginning of another.
        all.sort_by(|one, other| (other.len(), other).cmp(&(one.len(), one)));
        all.dedup();
        all
    }

    fn find(&self, id: &str) -> Option<&Registered> {
        self.providers.get(&builtin::normalize(id))
    }

    fn known_id(&self, id: &str) -> Result<String, KeyError> {
        let id = builtin::normalize(id);
        if self.providers.contains_key(&id) { Ok(id) } else { Err(KeyError::UnknownProvider(id)) }
    }
}

impl Registered {
    fn new(settings: Settings, keys: &Keys, shared: &RegistryOptions) -> Self {
        let builtin = builtin::find(&settings.id);
        let kind = settings.kind.or(builtin.map(|builtin| builtin.kind)).unwrap_or_default();
        let known = known_models(builtin, kind);
        let info = info(&settings, builtin, kind);
        let models = models(&settings, builtin, known, kind);
        let retry = settings.retry.clone().unwrap_or_else(|| shared.retry.clone());
        let variables = match kind {
            Kind::Acp => program_keys(&settings),
            _ => key_variables(&settings, builtin),
        };
        let environment = Arc::clone(&shared.environment);
        let registered = |provider: Arc<dyn Provider>, endpoint, acp| Self {
            provider,
            endpoint,
            acp,
            info: info.clone(),
            models: models.clone(),
            known,
            variables: variables.clone(),
            environment,
        };
        let protocol: Arc<dyn Protocol> = match kind {
            Kind::Mock => {
                let provider = Arc::new(Mock::new(&info.id, &info.name, retry));
                return registered(provider, None, None);
            }
            Kind::Acp => {
                let mut options = acp::Options::new(&info.id, settings.command, settings.env);
                let silence = settings.idle_timeout.unwrap_or(options.silence);
                options.silence = idle_timeout(&info.id, Some(silence), &shared.environment);
                let acp = Acp::new(options);
                let provider = Arc::new(acp.clone());
                return registered(provider, None, Some(acp));
            }
            Kind::OpenaiResponses => Arc::new(OpenaiResponses),
            Kind::OpenaiChat => Arc::new(OpenaiChat),
            Kind::Anthropic => Arc::new(Anthropic),
        };
        let endpoint = Arc::new(Endpoint {
            id: info.id.clone(),
            name: info.name.clone(),
            base_url: base_url(&settings, builtin, kind),
            key_variables: variables.clone(),
            needs_key: needs_key(&settings, builtin),
            headers: headers(&settings),
            max_tokens: settings.max_tokens,
            retry,
            idle: settings.idle_timeout,
            keys: Arc::clone(keys),
            environment: Arc::clone(&shared.environment),
            client: shared.client.clone(),
        });
        let provider = Arc::new(Remote { endpoint: Arc::clone(&endpoint), protocol });
        registered(provider, Some(endpoint), None)
    }

    fn info(&self) -> ProviderInfo {
        let is_authenticated = self.endpoint.as_ref().is_none_or(|endpoint| endpoint.key().is_ok());
        let mut info = ProviderInfo { is_authenticated, ..self.info.clone() };
        if let Some(acp) = &self.acp {
            info.capabilities.image_input = acp.takes_images();
            let is_wanted = |name: &&String| (self.environment)(name).is_none();
            info.wanted_keys = self.variables.iter().filter(is_wanted).cloned().collect();
        }
        info
    }
}

/// The catalog of a provider: its own, or that of the protocol's maker.
fn known_models(builtin: Option<&Builtin>, kind: Kind) -> &'static [Known] {
    match (builtin, kind) {
        (Some(builtin), kind) if builtin.kind == kind => builtin.models,
        (_, Kind::OpenaiResponses) => &catalog::OPENAI,
        (_, Kind::Anthropic) => &catalog::ANTHROPIC,
        (_, Kind::Mock) => &catalog::MOCK,
        (_, Kind::OpenaiChat | Kind::Acp) => &[],
    }
}

/// The models that need not be asked for: those of the settings, or a built-in provider's own.
fn models(
    settings: &Settings,
    builtin: Option<&Builtin>,
    known: &[Known],
    kind: Kind,
) -> Vec<ModelInfo> {
    let named = |id: &String| {
        let facts = catalog::find(known, id).map(Known::info).unwrap_or_default();
        let name = if facts.id == *id { facts.name.clone() } else { id.clone() };
        ModelInfo { id: id.clone(), name, ..facts }
    };
    let is_own = builtin.is_some_and(|builtin| !builtin.models.is_empty())
        || settings.kind == Some(Kind::Mock);
    match settings.models.is_empty() {
        false => settings.models.iter().map(named).collect(),
        true if kind == Kind::Acp => acp::default_models(),
        true if is_own => known.iter().map(Known::info).collect(),
        true => Vec::new(),
    }
}

fn info(settings: &Settings, builtin: Option<&Builtin>, kind: Kind) -> ProviderInfo {
    let name = settings.name.clone().or_else(|| builtin.map(|builtin| builtin.name.to_owned()));
    let has_key = needs_key(settings, builtin) || settings.api_key.is_some();
    let auth = match key_variables(settings, builtin).into_iter().next() {
        Some(variable) if has_key && !matches!(kind, Kind::Mock | Kind::Acp) => {
            Auth::ApiKey(variable)
        }
        _ => Auth::None,
    };
    ProviderInfo {
        id: settings.id.clone(),
        name: name.unwrap_or_else(|| settings.id.clone()),
        description: builtin.map(|builtin| builtin.description.to_owned()),
        auth,
        is_authenticated: false,
        is_recommended: builtin.is_some_and(|builtin| builtin.is_recommended),
        sort_order: builtin.map_or(ADDED_SORT_ORDER, |builtin| builtin.sort_order),
        capabilities: capabilities(kind),
        has_open_catalog: kind != Kind::Mock,
        wanted_keys: Vec::new(),
    }
}

/// Where a provider is. One that only settings know is where its protocol is at home, unless it says.
fn base_url(settings: &Settings, builtin: Option<&Builtin>, kind: Kind) -> String {
    let home = || {
        let same =
            |candidate: &&Builtin| candidate.kind == kind && candidate.key_variable.is_some();
        BUILTINS.iter().find(same)
    };
    let default = builtin.or_else(home).map_or("", |builtin| builtin.base_url);
    let set = settings.base_url.as_deref().map(str::trim).filter(|url| !url.is_empty());
    set.unwrap_or(default).trim_end_matches('/').to_owned()
}

/// The variables that may hold a key: the one that was named, then the usual one. A provider that only
/// settings know has a variable of its own, so that no key goes to a server that it is not for.
fn key_variables(settings: &Settings, builtin: Option<&Builtin>) -> Vec<String> {
    let usual = match builtin {
        Some(builtin) => builtin.key_variable.map(str::to_owned),
        None => Some(format!("{}_API_KEY", variable_part(&settings.id))),
    };
    let named = settings.api_key_env.clone().filter(|name| !name.trim().is_empty());
    let mut all: Vec<String> = named.into_iter().chain(usual).collect();
    all.dedup();
    all
}

/// The variables that a program finds keys in: the one that was named, then those of the agent that it
/// is. What its settings set stays as they set it.
fn program_keys(settings: &Settings) -> Vec<String> {
    let named = settings.api_key_env.clone().filter(|name| !name.trim().is_empty());
    let program = settings.command.first().map_or("", String::as_str);
    let usual = match settings.kind {
        Some(Kind::Acp) => rookery_host::agent_keys(&settings.id, program),
        _ => &[],
    };
    let mut all: Vec<String> = named.into_iter().collect();
    all.extend(usual.iter().filter(|name| !all.contains(name)).cloned().collect::<Vec<_>>());
    all.retain(|name| settings.env.iter().all(|(set, _)| set != name));
    all
}

fn needs_key(settings: &Settings, builtin: Option<&Builtin>) -> bool {
    let is_named = settings.api_key_env.as_ref().is_some_and(|name| !name.trim().is_empty());
    // A header of the settings can carry a key as well, as some servers want it.
    let is_in_header = settings
        .headers
        .iter()
        .any(|(name, _)| KEY_HEADERS.contains(&name.to_lowercase().as_str()));
    !is_in_header && (is_named || builtin.is_some_and(|builtin| builtin.key_variable.is_some()))
}

fn headers(settings: &Settings) -> Vec<(String, String)> {
    let is_openrouter = settings.id == "openrouter";
    let default = |text: &str| is_openrouter.then(|| text.to_owned());
    let referer = settings.http_referer.clone().or_else(|| default(REFERER));
    let title = settings.app_title.clone().or_else(|| default(TITLE));
    let mut headers: Vec<(String, String)> = Vec::new();
    headers.extend(referer.map(|value| ("http-referer".to_owned(), value)));
    headers.extend(title.map(|value| ("x-title".to_owned(), value)));
    headers.extend(settings.headers.iter().cloned());
    headers
}
