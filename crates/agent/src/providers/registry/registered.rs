//! One provider put together: settings and the built-in table.

use std::sync::Arc;

use super::RegistryOptions;
use crate::provider::{Auth, ModelInfo, Provider, ProviderInfo};
use crate::providers::acp::{self, Acp};
use crate::providers::anthropic::Anthropic;
use crate::providers::builtin::{self, ADDED_SORT_ORDER, BUILTINS, Builtin, capabilities};
use crate::providers::call::{Endpoint, Keys, Protocol, Remote, SignIn};
use crate::providers::catalog::{self, Known};
use crate::providers::mock::Mock;
use crate::providers::openai_chat::OpenaiChat;
use crate::providers::openai_responses::OpenaiResponses;
use crate::providers::settings::{Environment, Kind, Settings, idle_timeout, variable_part};

/// What OpenRouter receives about us by default.
const REFERER: &str = "http://localhost";
const TITLE: &str = "Rookery";

/// Headers that carry a key.
const KEY_HEADERS: [&str; 3] = ["authorization", "api-key", "x-api-key"];

/// A provider that can be called.
pub(super) struct Registered {
    pub(super) provider: Arc<dyn Provider>,
    /// None for one without a network.
    pub(super) endpoint: Option<Arc<Endpoint>>,
    /// Only for one that is a program.
    pub(super) acp: Option<Acp>,
    pub(super) info: ProviderInfo,
    /// The models that are known without asking.
    pub(super) models: Vec<ModelInfo>,
    pub(super) known: &'static [Known],
    /// The variables that its keys are found in.
    pub(super) variables: Vec<String>,
    pub(super) environment: Environment,
}

impl Registered {
    pub(super) fn new(settings: Settings, keys: &Keys, shared: &RegistryOptions) -> Self {
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
            temperature: settings.temperature,
            retry,
            idle: settings.idle_timeout,
            keys: Arc::clone(keys),
            environment: Arc::clone(&shared.environment),
            client: shared.client.clone(),
            sign_in: sign_in(&settings, shared),
        });
        let provider = Arc::new(Remote { endpoint: Arc::clone(&endpoint), protocol });
        registered(provider, Some(endpoint), None)
    }

    pub(super) fn info(&self) -> ProviderInfo {
        let is_authenticated = self.endpoint.as_ref().is_none_or(|endpoint| endpoint.is_usable());
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
    let is_program = matches!(kind, Kind::Mock | Kind::Acp);
    let auth = match (settings.account, key_variables(settings, builtin).into_iter().next()) {
        (Some(account), _) if !is_program => Auth::OAuth(account),
        (_, Some(variable)) if has_key && !is_program => Auth::ApiKey(variable),
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

/// The account whose token a provider is sent.
fn sign_in(settings: &Settings, shared: &RegistryOptions) -> Option<SignIn> {
    let account = settings.account?;
    Some(SignIn { accounts: shared.accounts.clone(), account })
}

/// Where a provider is. One that only settings know is where its protocol is at home, unless it says.
fn base_url(settings: &Settings, builtin: Option<&Builtin>, kind: Kind) -> String {
    let home = || {
        let same =
            |candidate: &&Builtin| candidate.kind == kind && candidate.key_variable.is_some();
        BUILTINS.iter().find(same)
    };
    // A token is for one server alone, so that one has to be named.
    let home = || home().filter(|_| settings.account.is_none());
    let default = builtin.or_else(home).map_or("", |builtin| builtin.base_url);
    let set = settings.base_url.as_deref().map(str::trim).filter(|url| !url.is_empty());
    set.unwrap_or(default).trim_end_matches('/').to_owned()
}

/// The variables that may hold a key: the one that was named, then the usual one. A provider that only
/// settings know has a variable of its own, so that no key goes to a server that it is not for.
pub(super) fn key_variables(settings: &Settings, builtin: Option<&Builtin>) -> Vec<String> {
    let usual = match builtin {
        Some(builtin) => builtin.key_variable.map(str::to_owned),
        // What a task brings has its own key or none.
        None if settings.is_private => None,
        None => Some(format!("{}_API_KEY", variable_part(&settings.id))),
    };
    let named = settings.api_key_env.clone().filter(|name| !name.trim().is_empty());
    let mut all: Vec<String> = named.into_iter().chain(usual).collect();
    all.dedup();
    all
}

/// The variables that a program finds keys in: the one that was named, then those of the agent that it
/// is. What its settings set stays as they set it.
pub(super) fn program_keys(settings: &Settings) -> Vec<String> {
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
    settings.account.is_none()
        && !is_in_header
        && (is_named || builtin.is_some_and(|builtin| builtin.key_variable.is_some()))
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
