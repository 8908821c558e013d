//! What agents are run with: settings, providers, policy, and where their tools work.

pub(crate) mod assigned;
#[cfg(test)]
mod attack;
pub(crate) mod choose;
mod commands;
mod fences;
mod instructions;
mod judging;
mod private;
mod settings;
mod sign_in;
#[cfg(test)]
mod tests;
mod workspaces;

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use rookery_agent::commands::Catalog;
use rookery_agent::definitions::is_for_children;
use rookery_agent::mcp::McpServers;
use rookery_agent::policy::{Action, Rule, Rules};
use rookery_agent::provider::{Provider, ProviderInfo};
use rookery_agent::providers::{self, Environment, Registry, RegistryOptions, Retry};
use rookery_agent::services::Service;
use rookery_agent::settings::{
    Lifecycle, McpServerSettings, ProviderSettings, SearchIndex, Secret, ServiceSettings, Settings,
};
use rookery_agent::tool::{PathScope, SearchBounds};
use rookery_agent::tools::Sessions;
use rookery_agent::turn::Limits;
use rookery_host::http;
use rookery_host::sandbox;
use rookery_model::{Choice, Mode, Profile, Thread, Timestamp, ToolKind};
use rookery_signin::Accounts;
use serde_json::Value;

use crate::log::{Shows, Signals};
use crate::marketplaces::MarketplaceDirs;
use crate::runners::RunnerDirs;

pub use self::choose::{FittedChoice, ModelFacts};
pub use self::settings::ProviderState;
pub use self::sign_in::SigningIn;
pub(crate) use self::workspaces::Places;
pub use self::workspaces::{NewRoot, Place};

/// What answers where nothing can be chosen.
const MOCK: &str = "mock";
/// How full a model's window may get before the conversation is made shorter, in percent.
const FULL: u64 = 90;

/// What core needs to know about agents to start.
#[derive(Clone)]
pub struct AgentConfig {
    /// What the user chose.
    pub settings: Settings,
    /// The file that choices are written back to; none forgets them with this process.
    pub settings_file: Option<PathBuf>,
    /// How variables are looked up.
    pub environment: Environment,
    /// Where threads work that name no directory.
    pub cwd: PathBuf,
    /// Where long results are kept; none cuts them.
    pub artifacts: Option<PathBuf>,
    /// Our own program, which holds commands to reading; none runs them as they are.
    pub sandbox: Option<PathBuf>,
    /// Our own files, which no unasked command reads.
    pub private: Vec<PathBuf>,
    /// Where the user's slash commands are, unless the settings say otherwise.
    pub commands_dir: Option<PathBuf>,
    /// Our own directory of settings.
    pub config_home: Option<PathBuf>,
    /// Where lists of models are kept.
    pub cache_dir: Option<PathBuf>,
    /// Where runs of workflows are kept; none forgets them with this process.
    pub workflows_dir: Option<PathBuf>,
    /// Where teams are kept; none forgets them with this process.
    pub teams_dir: Option<PathBuf>,
    /// Where tokens of accounts are kept; none lets no one sign in.
    pub auth_dir: Option<PathBuf>,
    /// Where memories are kept; none forgets them with this process.
    pub memories_file: Option<PathBuf>,
    /// Where images and other files are kept; none forgets them with this process.
    pub media_dir: Option<PathBuf>,
    /// Where decisions about imports are kept; none forgets them with this process.
    pub imports_file: Option<PathBuf>,
    /// Where marketplaces and plugins are kept; none forgets them with this process.
    pub marketplaces: Option<MarketplaceDirs>,
    /// What is wrong with the settings, to be sent to clients.
    pub warnings: Vec<String>,
    /// Where runners keep what they make; none offers only those that need nothing.
    pub runners: Option<RunnerDirs>,
}

impl std::fmt::Debug for AgentConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentConfig").field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

impl Default for AgentConfig {
    fn default() -> Self {
        AgentConfig {
            settings: Settings::default(),
            settings_file: None,
            environment: Arc::new(|_| None),
            cwd: PathBuf::from("/"),
            artifacts: None,
            sandbox: None,
            private: Vec::new(),
            commands_dir: None,
            config_home: None,
            cache_dir: None,
            workflows_dir: None,
            teams_dir: None,
            auth_dir: None,
            memories_file: None,
            media_dir: None,
            imports_file: None,
            marketplaces: None,
            warnings: Vec::new(),
            runners: None,
        }
    }
}

/// Agents as core runs them.
pub(crate) struct Room {
    /// Workspaces. Locked after the world is held, if both are.
    places: RwLock<Places>,
    pub(crate) config: AgentConfig,
    /// The user's home.
    home: PathBuf,
    settings: RwLock<Arc<Settings>>,
    rules: RwLock<Arc<Rules>>,
    pub(crate) registry: Registry,
    /// Accounts that can be signed in to.
    accounts: Accounts,
    sessions: Arc<Sessions>,
    /// Servers whose tools agents may call.
    pub(crate) mcp: McpServers,
    /// The way to the web, which providers share.
    client: http::Client,
    commands: Arc<Catalog>,
    /// Complaints about files that were made.
    warned: Mutex<HashSet<String>>,
    signals: Signals,
    is_draining: AtomicBool,
    has_chosen_provider: AtomicBool,
    /// Held while the settings file is changed.
    pub(crate) settings_writer: tokio::sync::Mutex<()>,
}

impl Room {
    /// A room whose workspaces are in no store.
    #[cfg(test)]
    fn alone(config: AgentConfig) -> Self {
        let home = rookery_agent::workspaces::Workspaces::new(config.cwd.clone(), 0);
        let places = Places::new(home);
        Room::new(config, PathBuf::from("/"), places, Signals::default())
    }

    pub(crate) fn new(
        config: AgentConfig,
        home: PathBuf,
        places: Places,
        signals: Signals,
    ) -> Self {
        let mut settings = config.settings.clone();
        let client = http::Client::new();
        let accounts = sign_in::accounts(&config, &client);
        let registry = registry(&config, client.clone(), &accounts);
        private::restore(&registry, &config);
        let withheld = registry.key_variables().iter().chain(config.settings.service_keys());
        let withheld: Vec<String> = withheld.cloned().collect();
        let mcp = McpServers::new(&config.settings.mcp_servers, &client, &withheld);
        // Settled once: a key that comes later makes a provider usable, and chooses nothing.
        let provider = settings.provider.clone().or_else(|| first_provider(&registry));
        let has_chosen_provider = AtomicBool::new(provider.is_some());
        settings.provider = Some(provider.unwrap_or_else(|| MOCK.to_owned()));
        let settings = Arc::new(settings);
        Room {
            places: RwLock::new(places),
            rules: RwLock::new(Arc::new(rules(&settings, has_sandbox(&config)))),
            settings: RwLock::new(settings),
            registry,
            accounts,
            sessions: Arc::default(),
            mcp,
            client,
            commands: Arc::new(commands::catalog(&config, &home)),
            warned: Mutex::default(),
            signals,
            is_draining: AtomicBool::new(false),
            has_chosen_provider,
            settings_writer: tokio::sync::Mutex::new(()),
            config,
            home,
        }
    }

    pub(crate) fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read())
    }

    /// Changes what the user chose, in memory.
    pub(crate) fn change_settings(&self, change: impl FnOnce(&mut Settings)) {
        let mut current = self.settings.write();
        let mut changed = Settings::clone(&current);
        change(&mut changed);
        *self.rules.write() = Arc::new(rules(&changed, has_sandbox(&self.config)));
        *current = Arc::new(changed);
        drop(current);
        self.signals.raise(Shows::Agents);
    }

    /// Begins to look after servers that are not in the settings.
    pub(crate) fn start_servers(
        &self,
        servers: &BTreeMap<String, McpServerSettings>,
        withheld: &[String],
    ) -> McpServers {
        McpServers::new(servers, &self.client, withheld)
    }

    /// A server that makes vectors or images.
    pub(crate) fn service(&self, set: &ServiceSettings) -> Service {
        let environment = Arc::clone(&self.config.environment);
        Service::new(set.clone(), environment, self.client.clone())
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Acquire)
    }

    pub(crate) fn drain(&self, is_draining: bool) {
        self.is_draining.store(is_draining, Ordering::Release);
    }

    pub(crate) fn has_chosen_provider(&self) -> bool {
        self.has_chosen_provider.load(Ordering::Acquire)
    }

    /// A provider is chosen from now on, whichever it is.
    pub(crate) fn choose_provider(&self) {
        self.has_chosen_provider.store(true, Ordering::Release);
    }

    pub(crate) fn profile(&self) -> Profile {
        self.settings().runtime_profile
    }

    pub(crate) fn limits(&self) -> Limits {
        let settings = self.settings();
        let set = &settings.reliability;
        let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Limits {
            model_calls: number(set.max_model_calls_per_turn),
            tool_failures: number(set.max_tool_failures_per_turn),
            consecutive_failures: number(set.max_consecutive_tool_failures),
            continues_on_failures: set.continue_on_failure_limit,
            nudges: number(set.empty_tool_call_nudges),
            ..Limits::default()
        }
    }

    /// When a turn that begins now has to be done.
    pub(crate) fn deadline(
        &self,
        seconds: Option<u64>,
        profile: Profile,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let usual = || match profile {
            Profile::Eval => self.settings().eval_deadline,
            Profile::Interactive | Profile::NonInteractive => None,
        };
        let limit = seconds.map(Duration::from_secs).or_else(usual)?;
        let micros = i64::try_from(limit.as_micros()).unwrap_or(i64::MAX);
        Some(Timestamp::from_micros(now.as_micros().saturating_add(micros)))
    }

    /// From how many tokens on a conversation with this model is made shorter.
    pub(crate) fn compact_at(&self, choice: &Choice) -> Option<u64> {
        let set = self.settings().auto_compact_token_limit;
        set.or_else(|| {
            let window =
                self.registry.known_model(&choice.provider, &choice.model)?.context_window?;
            Some(window * FULL / 100)
        })
    }

    pub(crate) fn provider(&self, id: &str) -> Option<Arc<dyn Provider>> {
        self.registry.get(id)
    }

    pub(crate) fn info(&self, id: &str) -> Option<ProviderInfo> {
        self.registry.info(id)
    }

    pub(crate) fn has_parallel_tools(&self, provider: &str) -> bool {
        self.info(provider).is_some_and(|info| info.capabilities.parallel_tool_calls)
    }

    pub(crate) fn takes_images(&self, provider: &str) -> bool {
        self.info(provider).is_some_and(|info| info.capabilities.image_input)
    }

    pub(crate) fn searches_web(&self) -> bool {
        use rookery_agent::settings::WebSearchMode;
        self.settings().web_search.value != WebSearchMode::Disabled
    }

    /// Whether a thread may use a tool.
    pub(crate) fn may_use(&self, name: &str, thread: &Thread, allowed: Option<&[String]>) -> bool {
        let settings = self.settings();
        let is_in = |list: &[String]| list.iter().any(|known| known == name);
        if let Some(bounds) = thread.assignment.as_deref().map(|set| &set.bounds) {
            // Every tool of a server is named so, whether or not it is there now.
            let is_off = bounds.no_mcp && name.starts_with(rookery_agent::mcp::PREFIX);
            if is_off || is_in(&bounds.disabled_tools) {
                return false;
            }
        }
        if let Some(child) = thread.child.as_deref() {
            let is_listed = child.tools.as_deref().is_none_or(is_in);
            if !is_listed || !is_for_children(name) {
                return false;
            }
        }
        let general = &settings.tools.allowlist;
        (general.is_empty() || is_in(general))
            && thread.tool_allowlist.as_deref().is_none_or(is_in)
            && allowed.is_none_or(is_in)
    }

    pub(crate) fn path_scope(&self) -> PathScope {
        self.settings().tools.path_scope
    }

    /// What the settings leave out of searches. There is no index whose own bound could count, so
    /// only one that was set does.
    pub(crate) fn search_bounds(&self) -> SearchBounds {
        let set = self.settings().search_index.clone();
        let is_set = set.max_file_bytes != SearchIndex::default().max_file_bytes;
        SearchBounds {
            max_file_bytes: is_set.then_some(set.max_file_bytes),
            ignored_globs: set.ignored_globs,
        }
    }

    pub(crate) fn artifacts(&self) -> Option<PathBuf> {
        let is_kept = self.settings().context.file_backed_dynamic_context;
        self.config.artifacts.clone().filter(|_| is_kept)
    }

    pub(crate) fn sessions(&self) -> Arc<Sessions> {
        Arc::clone(&self.sessions)
    }

    pub(crate) fn shell(&self, usual: &str) -> String {
        self.settings().tools.shell.clone().unwrap_or_else(|| usual.to_owned())
    }

    /// How long the end of turns and programs may take.
    pub(crate) fn lifecycle(&self) -> Lifecycle {
        self.settings().lifecycle.clone()
    }

    pub(crate) fn approval_timeout(&self) -> Option<Duration> {
        self.settings().policy.approval_timeout
    }

    /// The shell command in a tool's arguments, if it runs one.
    pub(crate) fn command_of(&self, tool: &str, kind: ToolKind, input: &str) -> Option<String> {
        if kind != ToolKind::Exec {
            return None;
        }
        let input: Value = serde_json::from_str(input).ok()?;
        let name = match tool {
            "exec_command" => "cmd",
            "unified_exec" => "input",
            "write_stdin" => "chars",
            _ => "command",
        };
        input.get(name).and_then(Value::as_str).map(str::to_owned)
    }

    /// The variables that no program of a tool inherits: those that keys are taken from, those that
    /// have one, and tokens of our own.
    pub(crate) fn withheld(&self, env: &[(OsString, OsString)]) -> Vec<String> {
        let mut names = self.registry.key_variables().clone();
        names.extend(self.settings().service_keys().cloned());
        let secret = env.iter().filter_map(|(name, value)| {
            let (name, value) = (name.to_str()?, value.to_string_lossy());
            (is_own_token(name) || self.registry.has_key(&value)).then(|| name.to_owned())
        });
        names.extend(secret);
        names.into_iter().collect()
    }
}

/// What answers where nothing was chosen: the first provider with a key or a token.
fn first_provider(registry: &Registry) -> Option<String> {
    let infos = registry.infos();
    let usable = infos.iter().find(|info| {
        info.is_authenticated && !matches!(info.auth, rookery_agent::provider::Auth::None)
    });
    usable.map(|info| info.id.clone())
}

/// Whether a variable is one of ours and holds something that lets others in.
fn is_own_token(name: &str) -> bool {
    let is_ours = ["ROOKERY_", "RODER_"].iter().any(|ours| name.starts_with(ours));
    is_ours && ["TOKEN", "KEY", "SECRET", "PASSWORD"].iter().any(|word| name.ends_with(word))
}

fn has_sandbox(config: &AgentConfig) -> bool {
    config.sandbox.is_some() && sandbox::support().is_complete()
}

/// What the settings say about policy; commands are held to reading where the kernel can do that.
fn rules(settings: &Settings, has_sandbox: bool) -> Rules {
    let set = &settings.policy;
    let modes = [Mode::Default, Mode::AcceptAll, Mode::Plan, Mode::Bypass];
    let lists = [(Action::Allow, &set.allow), (Action::Ask, &set.ask), (Action::Deny, &set.deny)];
    let rules = lists
        .into_iter()
        .flat_map(|(action, texts)| texts.iter().filter_map(move |text| Rule::parse(action, text)));
    Rules {
        denied_tools: set.denied_tools.clone(),
        auto_approve: modes.map(|mode| (mode, set.auto_approve.of(mode).to_vec())).to_vec(),
        rules: rules.collect(),
        network_asks: set.network_asks,
        plan_blocks_network: set.plan_blocks_network,
        sandboxed: has_sandbox,
        asks_everything: set.unreadable.is_some(),
    }
}

fn registry(config: &AgentConfig, client: http::Client, accounts: &Accounts) -> Registry {
    let set = &config.settings.reliability;
    let retry = Retry {
        max_attempts: u32::try_from(set.provider_retry_max_attempts).unwrap_or(u32::MAX),
        initial_backoff: set.provider_retry_initial_backoff,
        backoff_factor: set.provider_retry_backoff_factor,
        status_codes: set.provider_retry_status_codes.clone(),
        retry_empty_body: set.retry_empty_provider_body,
    };
    let options = RegistryOptions {
        client,
        environment: Arc::clone(&config.environment),
        retry,
        cache_file: config.cache_dir.as_ref().map(|dir| dir.join("models.json")),
        accounts: accounts.clone(),
    };
    let providers = config.settings.providers.iter().map(|(id, set)| provider(id, set));
    Registry::new(providers.collect(), &options)
}

fn provider(id: &str, set: &ProviderSettings) -> providers::Settings {
    let header = |(name, value): (&String, &Secret)| (name.clone(), value.expose().to_owned());
    providers::Settings {
        id: id.to_owned(),
        kind: set.kind,
        account: set.auth,
        base_url: set.base_url.clone(),
        api_key: set.api_key.as_ref().and_then(|key| Secret::key(key.expose())),
        api_key_env: set.api_key_env.clone(),
        headers: set.headers.iter().map(header).collect(),
        models: set.models.clone(),
        max_tokens: set.max_tokens,
        http_referer: set.http_referer.clone(),
        app_title: set.app_title.clone(),
        command: set.command.clone(),
        env: set.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        ..providers::Settings::default()
    }
}
