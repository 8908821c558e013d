//! Reads settings from a document and from the environment.
//!
//! What has a wrong type, and what is unknown, is reported by its key and ignored. Where that concerns policy,
//! everything is asked for. No message has a value in it, for values can be keys.

mod auth;
mod delegated;
mod services;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use rookery_host::SettingsFile;
use rookery_model::{Mode, Profile, ToolKind, Words as _};
use rookery_signin::Account;
use toml_edit::{DocumentMut, Item, TableLike};

use super::problem::{Problem, ProblemKind};
use super::{
    AutoApprove, CommandSettings, ContextSettings, Kind, Lifecycle, McpServerSettings, PathScope,
    PolicySettings, ProviderSettings, Reliability, SearchIndex, Secret, Settings, Spelled,
    ToolSettings, WebSearchMode, normalize_provider, unknown,
};

/// The longest time that is taken from a file; more is as good as for ever.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);
/// The most bytes of one include that a file may ask for.
const INCLUDE_LIMIT: u64 = 4 << 20;

impl Settings {
    /// Reads a file; one that is broken leaves every default and a warning. Blocks.
    pub fn load(file: &SettingsFile) -> (Self, Vec<String>) {
        match file.read() {
            Ok(document) => Self::read(&document),
            Err(error) => {
                let mut settings = Self::default();
                settings.policy.unreadable = Some(error.to_string());
                (settings, vec![format!("{error}; defaults are used, {ASKED}")])
            }
        }
    }

    /// Reads a document. The second part names the keys whose values do not fit, one sentence each.
    pub fn read(document: &DocumentMut) -> (Self, Vec<String>) {
        let (problems, known) = (RefCell::default(), RefCell::default());
        let root = Section {
            name: String::new(),
            table: Some(document.as_table()),
            problems: &problems,
            known: &known,
        };
        let mut settings = Self {
            provider: root.text("provider").map(|id| normalize_provider(&id)),
            model: root.text("model"),
            reasoning: root.text("reasoning"),
            runtime_profile: root
                .choice("runtime_profile", PROFILES, Profile::from_word)
                .unwrap_or_default(),
            auto_compact_token_limit: root.count("auto_compact_token_limit").filter(|&n| n > 0),
            reliability: reliability(&root.section("reliability")),
            eval_deadline: root.section("speed_policy").time("eval_deadline_seconds", SECOND),
            web_search: root
                .section("web_search")
                .choice("mode", WEB_SEARCH, Spelled::<WebSearchMode>::from_name)
                .unwrap_or_default(),
            context: context(&root.section("context")),
            policy: policy(&root.section("policy_modes")),
            commands: commands(&root.section("commands")),
            tools: tools(&root.section("tools")),
            subagents: delegated::subagents(&root.section("subagents")),
            search_index: search_index(&root.section("search_index")),
            lifecycle: lifecycle(&root.section("lifecycle")),
            workflows: delegated::workflows(&root.section("dynamic_workflows")),
            teams: delegated::teams(&root.section("teams")),
            fs_roots: root.section("fs").absolute_paths("roots"),
            auth: auth::auth(&root.section("auth")),
            providers: providers(&root.section("providers")),
            mcp_servers: mcp_servers(&root.section("mcp_servers")),
            memory: services::memory(&root.section("memory")),
            media: services::media(&root.section("media")),
        };
        let mut problems: Vec<Problem> = problems.into_inner();
        problems.extend(unknown::keys(document.as_table(), &known.into_inner()));
        let concerning = problems.iter().find(|problem| problem.concerns_policy());
        settings.policy.unreadable = concerning.map(Problem::to_string);
        (settings, problems.iter().map(warning).collect())
    }

    /// Lets variables have their say over the file. `lookup` gives a variable's text.
    pub fn apply_environment(&mut self, lookup: impl Fn(&str) -> Option<String>) -> Vec<String> {
        let mut warnings = Vec::new();
        let text = |name: &str| {
            lookup(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        let texts = [
            ("RODER_PROVIDER", &mut self.provider),
            ("RODER_MODEL", &mut self.model),
            ("RODER_REASONING", &mut self.reasoning),
        ];
        for (name, field) in texts {
            *field = text(name).or(field.take());
        }
        self.provider = self.provider.take().map(|id| normalize_provider(&id));
        if let Some(name) = text("RODER_RUNTIME_PROFILE") {
            match Profile::from_word(&name) {
                Some(profile) => self.runtime_profile = profile,
                None => warnings.push(format!("RODER_RUNTIME_PROFILE must be {PROFILES}")),
            }
        }
        if let Some(number) = text("RODER_AUTO_COMPACT_TOKEN_LIMIT") {
            match number.parse::<u64>() {
                Ok(limit) => self.auto_compact_token_limit = Some(limit).filter(|&n| n > 0),
                Err(_) => {
                    warnings.push("RODER_AUTO_COMPACT_TOKEN_LIMIT must be a whole number".into());
                }
            }
        }
        if let Some(number) = text(EXTERNAL_TIMEOUT) {
            match number.parse::<u32>() {
                Ok(seconds @ 1..) => {
                    self.tools.external_timeout = LONGEST.min(Duration::from_secs(seconds.into()));
                }
                _ => warnings.push(format!("{EXTERNAL_TIMEOUT} must be a whole number above 0")),
            }
        }
        if let Some(switch) = text("RODER_DISABLE_CONTEXT_ARTIFACTS") {
            match switch.to_lowercase().as_str() {
                "1" | "true" | "yes" | "on" => self.context.file_backed_dynamic_context = false,
                "0" | "false" | "no" | "off" => {}
                _ => warnings.push("RODER_DISABLE_CONTEXT_ARTIFACTS must be true or false".into()),
            }
        }
        warnings.extend(self.workflows.apply_environment(text));
        self.auth.apply_environment(text);
        warnings
    }
}

/// What follows from a file that does not say what it was meant to.
const ASKED: &str = "and everything needs approval until it is fixed";

/// A problem in words, with what follows from it.
fn warning(problem: &Problem) -> String {
    match problem.concerns_policy() {
        true => format!("{problem}, {ASKED}"),
        false => problem.to_string(),
    }
}

const EXTERNAL_TIMEOUT: &str = "RODER_EXTERNAL_TOOL_TIMEOUT_SECONDS";
const PROFILES: &str = "interactive, non_interactive or eval";
const WEB_SEARCH: &str = "disabled, cached, live or auto";
const MODES: &str = "default, ask, accept_all, plan or bypass";
const KINDS: &str = "openai_responses, openai_chat, anthropic, acp or mock";
const ACCOUNTS: &str = "codex or supergrok";
const TOOL_KINDS: &str = "read, write, exec or network";
const SECOND: Duration = Duration::from_secs(1);
const MILLISECOND: Duration = Duration::from_millis(1);

fn reliability(section: &Section<'_>) -> Reliability {
    let default = Reliability::default();
    let count = |key, default| section.count(key).unwrap_or(default);
    let flag = |key, default| section.flag(key).unwrap_or(default);
    Reliability {
        max_consecutive_tool_failures: count(
            "max_consecutive_tool_failures",
            default.max_consecutive_tool_failures,
        ),
        max_tool_failures_per_turn: count(
            "max_tool_failures_per_turn",
            default.max_tool_failures_per_turn,
        ),
        max_model_calls_per_turn: count(
            "max_model_calls_per_turn",
            default.max_model_calls_per_turn,
        ),
        continue_on_failure_limit: flag(
            "continue_on_failure_limit",
            default.continue_on_failure_limit,
        ),
        empty_tool_call_nudges: count("empty_tool_call_nudges", default.empty_tool_call_nudges),
        provider_retry_max_attempts: count(
            "provider_retry_max_attempts",
            default.provider_retry_max_attempts,
        ),
        provider_retry_initial_backoff: section
            .time("provider_retry_initial_backoff_ms", MILLISECOND)
            .unwrap_or(default.provider_retry_initial_backoff),
        provider_retry_backoff_factor: section
            .factor("provider_retry_backoff_factor")
            .unwrap_or(default.provider_retry_backoff_factor),
        provider_retry_status_codes: section
            .status_codes("provider_retry_status_codes")
            .unwrap_or(default.provider_retry_status_codes),
        retry_empty_provider_body: flag(
            "retry_empty_provider_body",
            default.retry_empty_provider_body,
        ),
    }
}

fn context(section: &Section<'_>) -> ContextSettings {
    let default = ContextSettings::default().file_backed_dynamic_context;
    let is_on = section.flag("file_backed_dynamic_context");
    ContextSettings { file_backed_dynamic_context: is_on.unwrap_or(default) }
}

fn policy(section: &Section<'_>) -> PolicySettings {
    let default = PolicySettings::default();
    let flag = |key, default| section.flag(key).unwrap_or(default);
    let network = |name: &str| match name {
        "ask" => Some(true),
        "allow" => Some(false),
        _ => None,
    };
    let auto = section.section("auto_approve");
    PolicySettings {
        default: section.choice("default", MODES, Spelled::<Mode>::from_name).unwrap_or_default(),
        warn_on_bypass: flag("warn_on_bypass", default.warn_on_bypass),
        plan_blocks_network: flag("plan_blocks_network", default.plan_blocks_network),
        exit_plan_requires_summary: flag(
            "exit_plan_requires_summary",
            default.exit_plan_requires_summary,
        ),
        network_asks: section
            .choice("network", "allow or ask", network)
            .unwrap_or(default.network_asks),
        unreadable: None,
        seal_sockets: flag("seal_sockets", default.seal_sockets),
        approval_timeout: section
            .time("approval_timeout_seconds", SECOND)
            .filter(|time| !time.is_zero()),
        denied_tools: section.texts("denied_tools"),
        allow: section.texts("allow"),
        ask: section.texts("ask"),
        deny: section.texts("deny"),
        auto_approve: AutoApprove {
            default: auto.texts("default"),
            accept_all: auto.texts("accept_all"),
            plan: auto.texts("plan"),
            bypass: auto.texts("bypass"),
        },
    }
}

fn commands(section: &Section<'_>) -> CommandSettings {
    let default = CommandSettings::default();
    let flag = |key, default| section.flag(key).unwrap_or(default);
    CommandSettings {
        enabled: flag("enabled", default.enabled),
        user_dir: section.text("user_dir").map(PathBuf::from),
        workspace_dir: section.text("workspace_dir").map_or(default.workspace_dir, PathBuf::from),
        allow_shell_includes: flag("allow_shell_includes", default.allow_shell_includes),
        allow_url_includes: flag("allow_url_includes", default.allow_url_includes),
        allowed_url_hosts: section.texts("allowed_url_hosts"),
        include_timeout: section
            .time("include_timeout_seconds", SECOND)
            .filter(|time| !time.is_zero())
            .unwrap_or(default.include_timeout),
        max_include_bytes: section
            .count("max_include_bytes")
            .and_then(|bytes| usize::try_from(bytes.min(INCLUDE_LIMIT)).ok())
            .unwrap_or(default.max_include_bytes),
        live_reload: flag("live_reload", default.live_reload),
    }
}

fn tools(section: &Section<'_>) -> ToolSettings {
    let scope = |name: &str| match name {
        "workspace" => Some(PathScope::Workspace),
        "global" => Some(PathScope::Global),
        _ => None,
    };
    let default = ToolSettings::default();
    let external = section.time("external_timeout_seconds", SECOND);
    ToolSettings {
        external_timeout: external
            .filter(|limit| !limit.is_zero())
            .unwrap_or(default.external_timeout),
        path_scope: section.choice("path_scope", "workspace or global", scope).unwrap_or_default(),
        shell: section.text("shell"),
        allowlist: section.texts("allowlist"),
    }
}

fn search_index(section: &Section<'_>) -> SearchIndex {
    let default = SearchIndex::default();
    SearchIndex {
        enabled: section.flag("enabled").unwrap_or(default.enabled),
        max_file_bytes: section.count("max_file_bytes").unwrap_or(default.max_file_bytes),
        ignored_globs: section.texts("ignored_globs"),
    }
}

fn lifecycle(section: &Section<'_>) -> Lifecycle {
    let default = Lifecycle::default();
    let time = |key, default| section.time(key, MILLISECOND).unwrap_or(default);
    Lifecycle {
        shutdown_drain_timeout: time("shutdown_drain_timeout_ms", default.shutdown_drain_timeout),
        process_grace_timeout: time("process_grace_timeout_ms", default.process_grace_timeout),
        process_kill_timeout: time("process_kill_timeout_ms", default.process_kill_timeout),
    }
}

fn providers(section: &Section<'_>) -> BTreeMap<String, ProviderSettings> {
    let ids: Vec<&str> =
        section.table.iter().flat_map(|table| table.iter()).map(|(id, _)| id).collect();
    let read = |id: &str| (normalize_provider(id), provider(&section.section(id)));
    ids.into_iter().map(read).collect()
}

fn provider(section: &Section<'_>) -> ProviderSettings {
    ProviderSettings {
        api_key: section.text("api_key").map(Secret::new),
        api_key_env: section.text("api_key_env"),
        base_url: section.text("base_url"),
        kind: section.choice("kind", KINDS, Kind::parse),
        auth: section.choice("auth", ACCOUNTS, Account::from_name),
        models: section.texts("models"),
        headers: section.secrets("headers"),
        max_tokens: section.count("max_tokens").filter(|&tokens| tokens > 0),
        http_referer: section.text("http_referer"),
        app_title: section.text("app_title"),
        command: section.texts("command"),
        env: section.secrets("env"),
    }
}

fn mcp_servers(section: &Section<'_>) -> BTreeMap<String, McpServerSettings> {
    let names: Vec<&str> =
        section.table.iter().flat_map(|table| table.iter()).map(|(name, _)| name).collect();
    let read = |name: &str| (name.to_owned(), mcp_server(&section.section(name)));
    names.into_iter().map(read).collect()
}

fn mcp_server(section: &Section<'_>) -> McpServerSettings {
    let default = McpServerSettings::default();
    // The others are for our own tools.
    let can_be = |kind: &ToolKind| {
        matches!(kind, ToolKind::Read | ToolKind::Write | ToolKind::Exec | ToolKind::Network)
    };
    let kind = |name: &str| ToolKind::from_word(name).filter(can_be);
    let time =
        |key, default| section.time(key, SECOND).filter(|time| !time.is_zero()).unwrap_or(default);
    McpServerSettings {
        command: section.texts("command"),
        cwd: None,
        url: section.text("url"),
        env: section.secrets("env"),
        headers: section.secrets("headers"),
        kind: section.choice("kind", TOOL_KINDS, kind),
        always_allow: section.texts("always_allow"),
        enabled: section.flag("enabled").unwrap_or(default.enabled),
        startup_timeout: time("startup_timeout_seconds", default.startup_timeout),
        tool_timeout: time("tool_timeout_seconds", default.tool_timeout),
    }
}

/// A table of the document, with its name.
struct Section<'a> {
    name: String,
    table: Option<&'a dyn TableLike>,
    problems: &'a RefCell<Vec<Problem>>,
    /// Every key that was looked for, whether it is there or not.
    known: &'a RefCell<BTreeSet<String>>,
}

impl<'a> Section<'a> {
    fn item(&self, key: &str) -> Option<&'a Item> {
        self.known.borrow_mut().insert(self.path(key));
        self.table?.get(key).filter(|item| !item.is_none())
    }

    fn warn(&self, key: &str, wanted: &str) {
        let name = self.path(key);
        let kind = ProblemKind::WrongValue(wanted.to_owned());
        self.problems.borrow_mut().push(Problem { key: name, kind });
    }

    fn path(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    /// What is at a key, if it is as wanted. What is there and is not is warned of.
    fn get<T>(
        &self,
        key: &str,
        wanted: &str,
        read: impl FnOnce(&'a Item) -> Option<T>,
    ) -> Option<T> {
        let found = read(self.item(key)?);
        if found.is_none() {
            self.warn(key, wanted);
        }
        found
    }

    fn section(&self, key: &str) -> Self {
        let table = self.get(key, "a table", Item::as_table_like);
        Self { name: self.path(key), table, problems: self.problems, known: self.known }
    }

    /// A text; one that is blank is as good as none.
    fn text(&self, key: &str) -> Option<String> {
        let text = self.get(key, "a text", Item::as_str)?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn flag(&self, key: &str) -> Option<bool> {
        self.get(key, "true or false", Item::as_bool)
    }

    fn count(&self, key: &str) -> Option<u64> {
        let read = |item: &Item| item.as_integer().and_then(|number| u64::try_from(number).ok());
        self.get(key, "a whole number that is not negative", read)
    }

    fn time(&self, key: &str, unit: Duration) -> Option<Duration> {
        let count = u32::try_from(self.count(key)?).unwrap_or(u32::MAX);
        Some(unit.saturating_mul(count).min(LONGEST))
    }

    fn factor(&self, key: &str) -> Option<f64> {
        self.get(key, "a number from 1 to 100", |item| {
            let number =
                item.as_float().or_else(|| item.as_integer().map(|number| number as f64))?;
            (1.0..=100.0).contains(&number).then_some(number)
        })
    }

    fn status_codes(&self, key: &str) -> Option<Vec<u16>> {
        self.get(key, "a list of numbers from 100 to 999", |item| {
            let code = |value: &toml_edit::Value| {
                let code = u16::try_from(value.as_integer()?).ok()?;
                (100..=999).contains(&code).then_some(code)
            };
            item.as_array()?.iter().map(code).collect()
        })
    }

    fn texts(&self, key: &str) -> Vec<String> {
        let read = |item: &Item| -> Option<Vec<String>> {
            item.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect()
        };
        self.get(key, "a list of texts", read).unwrap_or_default()
    }

    fn absolute_paths(&self, key: &str) -> Vec<PathBuf> {
        let (good, bad): (Vec<_>, Vec<_>) =
            self.texts(key).into_iter().map(PathBuf::from).partition(|path| path.is_absolute());
        if !bad.is_empty() {
            self.warn(key, "a list of absolute paths");
        }
        good
    }

    fn choice<T>(
        &self,
        key: &str,
        wanted: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        self.get(key, wanted, |item| read(item.as_str()?.trim()))
    }

    fn secrets(&self, key: &str) -> BTreeMap<String, Secret> {
        let section = self.section(key);
        let names = section.table.iter().flat_map(|table| table.iter()).map(|(name, _)| name);
        names
            .filter_map(|name| {
                let value = section.get(name, "a text", Item::as_str)?;
                Some((name.to_owned(), Secret::new(value)))
            })
            .collect()
    }
}
