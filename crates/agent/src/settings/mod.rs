//! What the user chose: every key of the settings file with its default, typed.
//!
//! Pure but for [`Settings::load`]: [`Settings::read`] takes a document that was read,
//! [`Settings::apply_environment`] a function that looks variables up, [`Edit`] changes a document.

mod auth;
mod edit;
mod problem;
mod read;
mod secret;
mod services;
mod spelled;
mod unknown;
mod workflows;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use rookery_model::{Lane, Mode, Profile, ToolKind};
use rookery_signin::Account;

use crate::definitions::{self, LANES, LaneRow};
use crate::providers::Kind;

pub use crate::providers::normalize as normalize_provider;
pub use crate::tool::PathScope;
pub use auth::AuthSettings;
pub use edit::Edit;
pub use secret::Secret;
pub use services::{MediaSettings, MemorySettings, ServiceSettings};
pub use spelled::{Spelled, WebSearchMode};
pub use unknown::likeliest;
pub use workflows::WorkflowSettings;

/// The keys and sections at the top of the settings file that are read here. Other parts of the
/// program read the rest of the same file.
pub const TOP_LEVEL: &[&str] = &[
    "provider",
    "model",
    "reasoning",
    "runtime_profile",
    "auto_compact_token_limit",
    "reliability",
    "speed_policy",
    "web_search",
    "context",
    "policy_modes",
    "commands",
    "tools",
    "subagents",
    "search_index",
    "lifecycle",
    "teams",
    "fs",
    "auth",
    "providers",
    "mcp_servers",
    "dynamic_workflows",
    "memory",
    "media",
];

/// Everything that the settings file says, or would say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The provider that new threads use.
    pub provider: Option<String>,
    /// The model that new threads use.
    pub model: Option<String>,
    /// How hard models think in new threads.
    pub reasoning: Option<String>,
    /// Whether a person is present.
    pub runtime_profile: Profile,
    /// From how many tokens on a conversation is summed up; none leaves it to the model's window.
    pub auto_compact_token_limit: Option<u64>,
    /// What is borne before a turn is given up.
    pub reliability: Reliability,
    /// Within what time an evaluated turn has to be done.
    pub eval_deadline: Option<Duration>,
    /// Whether models search the web.
    pub web_search: Spelled<WebSearchMode>,
    /// What becomes of long results.
    pub context: ContextSettings,
    /// What is allowed without asking.
    pub policy: PolicySettings,
    /// Slash commands.
    pub commands: CommandSettings,
    /// What tools may do.
    pub tools: ToolSettings,
    /// How much child agents may do.
    pub subagents: SubagentSettings,
    pub search_index: SearchIndex,
    /// How long the end may take.
    pub lifecycle: Lifecycle,
    /// Teams of agents.
    pub teams: TeamSettings,
    /// The only directories whose files clients may read; empty for all.
    pub fs_roots: Vec<PathBuf>,
    /// Accounts that can be signed in to.
    pub auth: AuthSettings,
    /// Providers, by their normalized ids.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// Servers of the Model Context Protocol, by name.
    pub mcp_servers: BTreeMap<String, McpServerSettings>,
    pub workflows: WorkflowSettings,
    pub memory: MemorySettings,
    /// Images and other media.
    pub media: MediaSettings,
}

/// What is borne before a turn is given up.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the keys of the settings file are their own description")]
pub struct Reliability {
    pub max_consecutive_tool_failures: u64,
    pub max_tool_failures_per_turn: u64,
    pub max_model_calls_per_turn: u64,
    pub continue_on_failure_limit: bool,
    pub empty_tool_call_nudges: u64,
    pub provider_retry_max_attempts: u64,
    pub provider_retry_initial_backoff: Duration,
    pub provider_retry_backoff_factor: f64,
    pub provider_retry_status_codes: Vec<u16>,
    pub retry_empty_provider_body: bool,
}

impl Default for Reliability {
    fn default() -> Self {
        Self {
            max_consecutive_tool_failures: 5,
            max_tool_failures_per_turn: 128,
            max_model_calls_per_turn: 512,
            continue_on_failure_limit: false,
            empty_tool_call_nudges: 0,
            provider_retry_max_attempts: 3,
            provider_retry_initial_backoff: Duration::from_millis(1000),
            provider_retry_backoff_factor: 2.0,
            provider_retry_status_codes: vec![408, 409, 429, 500, 502, 503, 504, 529],
            retry_empty_provider_body: true,
        }
    }
}

/// What becomes of long results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextSettings {
    /// Whether they are kept whole in files.
    pub file_backed_dynamic_context: bool,
}

impl Default for ContextSettings {
    fn default() -> Self {
        Self { file_backed_dynamic_context: true }
    }
}

/// What is allowed without asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicySettings {
    /// The mode to begin in.
    pub default: Spelled<Mode>,
    /// Whether to warn when everything is approved.
    pub warn_on_bypass: bool,
    /// Whether plans are made without the network.
    pub plan_blocks_network: bool,
    /// Whether a plan needs a summary to be left.
    pub exit_plan_requires_summary: bool,
    /// Whether network tools ask in the default mode.
    pub network_asks: bool,
    /// Why the file cannot be trusted to say all that it was meant to, if it cannot: everything is asked
    /// for then, whatever else is set.
    pub unreadable: Option<String>,
    /// Whether approved commands are kept off our control sockets where the kernel can do that. They
    /// gain no privileges then, so that `sudo` does not work in them.
    pub seal_sockets: bool,
    /// After how long an unanswered approval is denied.
    pub approval_timeout: Option<Duration>,
    /// Tools that never run.
    pub denied_tools: Vec<String>,
    /// Tools and commands that are approved at once, such as `shell(cargo test)`.
    pub allow: Vec<String>,
    /// Tools and commands that are always asked for.
    pub ask: Vec<String>,
    /// Tools and commands that never run.
    pub deny: Vec<String>,
    /// Tools that are approved at once, by mode; `*` is any run of characters.
    pub auto_approve: AutoApprove,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self {
            default: Spelled::default(),
            warn_on_bypass: true,
            plan_blocks_network: false,
            exit_plan_requires_summary: true,
            network_asks: false,
            unreadable: None,
            seal_sockets: true,
            approval_timeout: None,
            denied_tools: Vec::new(),
            allow: Vec::new(),
            ask: Vec::new(),
            deny: Vec::new(),
            auto_approve: AutoApprove::default(),
        }
    }
}

/// Tools that are approved at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "one list for each mode")]
pub struct AutoApprove {
    pub default: Vec<String>,
    pub accept_all: Vec<String>,
    pub plan: Vec<String>,
    pub bypass: Vec<String>,
}

impl AutoApprove {
    /// The list for a mode.
    pub fn of(&self, mode: Mode) -> &[String] {
        match mode {
            Mode::Default => &self.default,
            Mode::AcceptAll => &self.accept_all,
            Mode::Plan => &self.plan,
            Mode::Bypass => &self.bypass,
        }
    }
}

/// Slash commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSettings {
    /// Whether there are any.
    pub enabled: bool,
    /// Where the user's are; none leaves it to the caller to name `<config dir>/commands`.
    pub user_dir: Option<PathBuf>,
    /// Where a workspace's are, below its root.
    pub workspace_dir: PathBuf,
    /// Whether they may include what programs print.
    pub allow_shell_includes: bool,
    /// Whether they may include pages.
    pub allow_url_includes: bool,
    /// Hosts that pages may come from.
    pub allowed_url_hosts: Vec<String>,
    /// How long an include may take.
    pub include_timeout: Duration,
    /// How much of an include is kept.
    pub max_include_bytes: usize,
    /// Whether files are looked at each time.
    pub live_reload: bool,
}

impl Default for CommandSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            user_dir: None,
            workspace_dir: PathBuf::from(".roder/commands"),
            allow_shell_includes: false,
            allow_url_includes: false,
            allowed_url_hosts: Vec::new(),
            include_timeout: Duration::from_secs(5),
            max_include_bytes: 65_536,
            live_reload: true,
        }
    }
}

/// What tools may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSettings {
    /// Which files they may touch.
    pub path_scope: PathScope,
    /// The shell that runs commands; none for the user's.
    pub shell: Option<String>,
    /// The only tools there are; empty for all.
    pub allowlist: Vec<String>,
    /// How long a client may take to run a tool of its own.
    pub external_timeout: Duration,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            path_scope: PathScope::default(),
            shell: None,
            allowlist: Vec::new(),
            external_timeout: Duration::from_secs(300),
        }
    }
}

/// How much child agents may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubagentSettings {
    /// How many work at once.
    pub max_concurrent: u32,
    /// How long one may work; what it waits for a person does not count.
    pub timeout: Duration,
    /// How many calls of the model one may make, unless its definition says otherwise.
    pub max_turns: u32,
    /// How many characters of an answer its parent gets, unless its definition says otherwise.
    pub max_result_chars: u32,
    /// How many of each lane work at once, and for how long, in the order of the table of lanes.
    pub lanes: [LaneBounds; 4],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneBounds {
    /// How many work at once.
    pub max_concurrent: u32,
    /// How long one may work.
    pub timeout: Duration,
}

impl SubagentSettings {
    /// The bounds of a lane.
    pub fn lane(&self, lane: Lane) -> LaneBounds {
        let at = LANES.iter().position(|row| row.lane == lane);
        at.map_or(LaneBounds::of(definitions::lane(lane)), |at| self.lanes[at])
    }
}

impl LaneBounds {
    fn of(row: &LaneRow) -> Self {
        LaneBounds { max_concurrent: row.concurrent, timeout: row.timeout }
    }
}

impl Default for SubagentSettings {
    fn default() -> Self {
        Self {
            max_concurrent: 16,
            timeout: Duration::from_secs(180),
            max_turns: 8,
            max_result_chars: 4000,
            lanes: LANES.each_ref().map(LaneBounds::of),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchIndex {
    /// Whether there is one.
    pub enabled: bool,
    /// Files longer than this are left out.
    pub max_file_bytes: u64,
    /// Files that match one of these are left out.
    pub ignored_globs: Vec<String>,
}

impl Default for SearchIndex {
    fn default() -> Self {
        Self { enabled: true, max_file_bytes: 1_048_576, ignored_globs: Vec::new() }
    }
}

/// Teams of agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamSettings {
    /// How many teammates a lead may have.
    pub max_teammates: usize,
}

impl Default for TeamSettings {
    fn default() -> Self {
        Self { max_teammates: 5 }
    }
}

/// How long the end may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifecycle {
    /// For turns that run when we stop.
    pub shutdown_drain_timeout: Duration,
    /// For a program between being asked to end and being killed.
    pub process_grace_timeout: Duration,
    /// For a program between being killed and being gone.
    pub process_kill_timeout: Duration,
}

impl Default for Lifecycle {
    fn default() -> Self {
        Self {
            shutdown_drain_timeout: Duration::from_millis(5000),
            process_grace_timeout: Duration::from_millis(250),
            process_kill_timeout: Duration::from_millis(1000),
        }
    }
}

/// A provider of models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderSettings {
    /// The key itself.
    pub api_key: Option<Secret>,
    /// The variable that has the key.
    pub api_key_env: Option<String>,
    /// Where it is.
    pub base_url: Option<String>,
    /// Which API it speaks; none for what its id says.
    pub kind: Option<Kind>,
    /// The account whose token it is sent in place of a key.
    pub auth: Option<Account>,
    /// Models that it has beside those it lists.
    pub models: Vec<String>,
    /// Headers that go with each request; they may carry keys as well.
    pub headers: BTreeMap<String, Secret>,
    /// How long an answer may become.
    pub max_tokens: Option<u64>,
    /// The `HTTP-Referer` that names us.
    pub http_referer: Option<String>,
    /// The title that names us.
    pub app_title: Option<String>,
    /// The program that is the provider, with its arguments.
    pub command: Vec<String>,
    /// Variables that the program gets; they may be keys as well.
    pub env: BTreeMap<String, Secret>,
}

/// A server of the Model Context Protocol: a program, or a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServerSettings {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where the program runs; our own directory if none is named.
    pub cwd: Option<PathBuf>,
    /// Where it is, if it is no program of ours.
    pub url: Option<String>,
    /// Variables that the program gets; they may be keys.
    pub env: BTreeMap<String, Secret>,
    /// Headers that go with each request; they may be keys.
    pub headers: BTreeMap<String, Secret>,
    /// What its tools do; none leaves it to what they say of themselves.
    pub kind: Option<ToolKind>,
    /// Tools, by the names that the server has for them, that a task may use without asking if it may use
    /// any tool of a server so.
    pub always_allow: Vec<String>,
    /// Whether it is used.
    pub enabled: bool,
    /// How long it may take until its tools are known.
    pub startup_timeout: Duration,
    /// How long a tool may take.
    pub tool_timeout: Duration,
}

impl Default for McpServerSettings {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            cwd: None,
            url: None,
            env: BTreeMap::new(),
            headers: BTreeMap::new(),
            kind: None,
            always_allow: Vec::new(),
            enabled: true,
            startup_timeout: Duration::from_secs(10),
            tool_timeout: Duration::from_secs(60),
        }
    }
}

#[cfg(test)]
mod tests;
