//! Settings files, read and edited.

use proptest::prelude::*;
use rookery_host::SettingsFile;
use toml_edit::DocumentMut;

use super::*;

fn read(text: &str) -> (Settings, Vec<String>) {
    Settings::read(&text.parse::<DocumentMut>().unwrap())
}

#[test]
fn an_empty_file_has_every_default() {
    let (settings, warnings) = read("");
    assert_eq!(settings, Settings::default());
    assert!(warnings.is_empty());
    assert_eq!(settings.reliability.max_consecutive_tool_failures, 5);
    assert_eq!(settings.reliability.provider_retry_backoff_factor, 2.0);
    assert_eq!(settings.policy.default.spelling, "default");
    assert!(settings.context.file_backed_dynamic_context);
    assert_eq!(settings.commands.workspace_dir, PathBuf::from(".roder/commands"));
    assert_eq!(settings.tools.path_scope, PathScope::Workspace);
    assert_eq!(settings.lifecycle.process_grace_timeout, Duration::from_millis(250));
}

const FULL: &str = r#"
provider = " OpenAI "
model = "m"
reasoning = "high"
runtime_profile = "eval"
auto_compact_token_limit = 1000
unknown = 1
[reliability]
max_consecutive_tool_failures = 1
max_tool_failures_per_turn = 2
max_model_calls_per_turn = 3
continue_on_failure_limit = true
empty_tool_call_nudges = 4
provider_retry_max_attempts = 5
provider_retry_initial_backoff_ms = 6
provider_retry_backoff_factor = 1.5
provider_retry_status_codes = [500]
retry_empty_provider_body = false
[speed_policy]
eval_deadline_seconds = 60
[web_search]
mode = "auto"
[context]
file_backed_dynamic_context = false
[policy_modes]
default = "ask"
warn_on_bypass = false
plan_blocks_network = true
exit_plan_requires_summary = false
network = "ask"
seal_sockets = false
approval_timeout_seconds = 30
denied_tools = ["shell"]
allow = ["shell(cargo test)"]
ask = ["read_file"]
deny = ["shell(git push)"]
[policy_modes.auto_approve]
default = ["a"]
accept_all = ["b"]
plan = ["c"]
bypass = ["*"]
[commands]
enabled = false
user_dir = "/u"
workspace_dir = "w"
allow_shell_includes = true
allow_url_includes = true
allowed_url_hosts = ["h"]
include_timeout_seconds = 2
max_include_bytes = 10
live_reload = false
[tools]
path_scope = "global"
shell = "/bin/zsh"
allowlist = ["grep"]
external_timeout_seconds = 8
[subagents]
max_concurrent = 2
timeout_seconds = 11
max_turns = 12
max_result_chars = 13
[subagents.lanes.runner]
max_concurrent = 14
timeout_seconds = 15
[teams]
max_teammates = 16
[dynamic_workflows]
enabled = false
max_concurrent_agents = 17
max_agents_per_run = 18
default_agent_timeout_seconds = 19
default_run_timeout_seconds = 20
default_checkpoint_bytes = 21
max_report_bytes = 22
workspace_workflows_dir = "flows"
user_workflows_dir = "/flows"
[dynamic_workflows.approval]
require_approval = false
allow_always_for_script_and_workspace = false
consent_ttl_seconds = 23
[search_index]
enabled = false
max_file_bytes = 9
ignored_globs = ["*.min.js"]
[lifecycle]
shutdown_drain_timeout_ms = 1
process_grace_timeout_ms = 2
process_kill_timeout_ms = 3
[fs]
roots = ["/srv"]
[auth]
persist = false
[auth.codex]
client_id = "client"
[providers.X-AI]
api_key = "sk-secret"
api_key_env = "XAI_KEY"
base_url = "http://x"
kind = "openai_chat"
auth = "supergrok"
models = ["m1"]
headers = { Authorization = "sk-header" }
max_tokens = 7
http_referer = "r"
app_title = "t"
command = ["agent", "--acp"]
env = { TOKEN = "sk-env" }
[mcp_servers.git]
command = ["git-server", "-v"]
url = "http://s"
env = { A = "sk-a" }
headers = { B = "sk-b" }
kind = "write"
always_allow = ["log", "show"]
enabled = false
startup_timeout_seconds = 3
tool_timeout_seconds = 4
[memory]
recall = false
[memory.providers.house]
base_url = "http://h"
api_key_env = "H_KEY"
model = "hm"
dimensions = 24
[media]
keep = false
[media.providers.painter]
base_url = "http://p"
model = "pm"
"#;

fn full() -> Settings {
    let texts = |text: &str| vec![text.to_owned()];
    Settings {
        provider: Some("openai".into()),
        model: Some("m".into()),
        reasoning: Some("high".into()),
        runtime_profile: Profile::Eval,
        auto_compact_token_limit: Some(1000),
        reliability: Reliability {
            max_consecutive_tool_failures: 1,
            max_tool_failures_per_turn: 2,
            max_model_calls_per_turn: 3,
            continue_on_failure_limit: true,
            empty_tool_call_nudges: 4,
            provider_retry_max_attempts: 5,
            provider_retry_initial_backoff: Duration::from_millis(6),
            provider_retry_backoff_factor: 1.5,
            provider_retry_status_codes: vec![500],
            retry_empty_provider_body: false,
        },
        eval_deadline: Some(Duration::from_secs(60)),
        web_search: Spelled { value: WebSearchMode::Cached, spelling: "auto" },
        context: ContextSettings { file_backed_dynamic_context: false },
        policy: PolicySettings {
            default: Spelled { value: Mode::Default, spelling: "ask" },
            warn_on_bypass: false,
            plan_blocks_network: true,
            exit_plan_requires_summary: false,
            network_asks: true,
            unreadable: None,
            seal_sockets: false,
            approval_timeout: Some(Duration::from_secs(30)),
            denied_tools: texts("shell"),
            allow: texts("shell(cargo test)"),
            ask: texts("read_file"),
            deny: texts("shell(git push)"),
            auto_approve: AutoApprove {
                default: texts("a"),
                accept_all: texts("b"),
                plan: texts("c"),
                bypass: texts("*"),
            },
        },
        commands: CommandSettings {
            enabled: false,
            user_dir: Some("/u".into()),
            workspace_dir: "w".into(),
            allow_shell_includes: true,
            allow_url_includes: true,
            allowed_url_hosts: texts("h"),
            include_timeout: Duration::from_secs(2),
            max_include_bytes: 10,
            live_reload: false,
        },
        subagents: SubagentSettings {
            max_concurrent: 2,
            timeout: Duration::from_secs(11),
            max_turns: 12,
            max_result_chars: 13,
            lanes: {
                let mut lanes = SubagentSettings::default().lanes;
                lanes[3] = LaneBounds { max_concurrent: 14, timeout: Duration::from_secs(15) };
                lanes
            },
        },
        teams: TeamSettings { max_teammates: 16 },
        workflows: WorkflowSettings {
            is_enabled: false,
            max_concurrent_agents: 17,
            max_agents_per_run: 18,
            agent_timeout_seconds: 19,
            run_timeout_seconds: 20,
            checkpoint_bytes: 21,
            report_bytes: 22,
            workspace_dir: Some("flows".into()),
            user_dir: Some("/flows".into()),
            requires_approval: false,
            allows_always: false,
            consent_ttl: Some(Duration::from_secs(23)),
        },
        tools: ToolSettings {
            path_scope: PathScope::Global,
            shell: Some("/bin/zsh".into()),
            allowlist: texts("grep"),
            external_timeout: Duration::from_secs(8),
        },
        search_index: SearchIndex {
            enabled: false,
            max_file_bytes: 9,
            ignored_globs: texts("*.min.js"),
        },
        lifecycle: Lifecycle {
            shutdown_drain_timeout: Duration::from_millis(1),
            process_grace_timeout: Duration::from_millis(2),
            process_kill_timeout: Duration::from_millis(3),
        },
        fs_roots: vec!["/srv".into()],
        auth: auth(),
        providers: BTreeMap::from([("xai".to_owned(), xai())]),
        mcp_servers: BTreeMap::from([("git".to_owned(), git_server())]),
        memory: MemorySettings {
            recalls: false,
            providers: BTreeMap::from([(
                "house".to_owned(),
                ServiceSettings {
                    base_url: "http://h".into(),
                    api_key_env: Some("H_KEY".into()),
                    model: "hm".into(),
                    dimensions: Some(24),
                },
            )]),
        },
        media: MediaSettings {
            keeps: false,
            providers: BTreeMap::from([(
                "painter".to_owned(),
                ServiceSettings {
                    base_url: "http://p".into(),
                    model: "pm".into(),
                    ..ServiceSettings::default()
                },
            )]),
        },
    }
}

fn auth() -> AuthSettings {
    let mut auth = AuthSettings { persist: false, ..AuthSettings::default() };
    auth.accounts.entry(Account::Codex).or_default().client_id = Some("client".into());
    auth
}

fn xai() -> ProviderSettings {
    ProviderSettings {
        api_key: Some(Secret::new("sk-secret")),
        api_key_env: Some("XAI_KEY".into()),
        base_url: Some("http://x".into()),
        kind: Some(Kind::OpenaiChat),
        auth: Some(Account::Supergrok),
        models: vec!["m1".into()],
        headers: BTreeMap::from([("Authorization".to_owned(), Secret::new("sk-header"))]),
        max_tokens: Some(7),
        http_referer: Some("r".into()),
        app_title: Some("t".into()),
        command: vec!["agent".into(), "--acp".into()],
        env: BTreeMap::from([("TOKEN".to_owned(), Secret::new("sk-env"))]),
    }
}

fn git_server() -> McpServerSettings {
    McpServerSettings {
        cwd: None,
        command: vec!["git-server".into(), "-v".into()],
        url: Some("http://s".into()),
        env: BTreeMap::from([("A".to_owned(), Secret::new("sk-a"))]),
        headers: BTreeMap::from([("B".to_owned(), Secret::new("sk-b"))]),
        kind: Some(ToolKind::Write),
        always_allow: vec!["log".into(), "show".into()],
        enabled: false,
        startup_timeout: Duration::from_secs(3),
        tool_timeout: Duration::from_secs(4),
    }
}

#[test]
fn every_key_is_read() {
    assert_eq!(read(FULL), (full(), vec![]));
}

#[test]
fn keys_are_never_shown() {
    let shown = format!("{:?}", full());
    assert!(!shown.contains("sk-"), "{shown}");
    let edit = Edit::ApiKey { provider: "x".into(), key: Some(Secret::new("sk-1")) };
    assert!(!format!("{edit:?}").contains("sk-"));
}

#[test]
fn what_does_not_fit_is_named_and_left_at_its_default() {
    let text = "provider = 1\nmodel = ' '\nruntime_profile = 'fast'\nauto_compact_token_limit = -1\n\
                commands = 3\n[reliability]\nmax_model_calls_per_turn = 'many'\n\
                provider_retry_backoff_factor = 0\nprovider_retry_status_codes = [5]\n\
                [policy_modes]\ndefault = 'sk-oops'\ndenied_tools = [1]\n[fs]\nroots = ['here']\n\
                [providers]\nx = 1\n[providers.y]\napi_key = 5\nheaders = {a = 1}\nkind = 'z'\n\
                [mcp_servers.m]\nkind = 'internal'\ntool_timeout_seconds = 0\n";
    let (settings, warnings) = read(text);
    let mut expected = Settings::default();
    expected.providers.insert("x".into(), ProviderSettings::default());
    expected.providers.insert("y".into(), ProviderSettings::default());
    expected.mcp_servers.insert("m".into(), McpServerSettings::default());
    expected.policy.unreadable = Some(
        "setting policy_modes.default must be default, ask, accept_all, plan or bypass".to_owned(),
    );
    assert_eq!(settings, expected);
    let keys: Vec<_> = warnings.iter().map(|line| line.split(' ').nth(1).unwrap()).collect();
    let wanted = [
        "provider",
        "runtime_profile",
        "auto_compact_token_limit",
        "reliability.max_model_calls_per_turn",
        "reliability.provider_retry_backoff_factor",
        "reliability.provider_retry_status_codes",
        "policy_modes.default",
        "policy_modes.denied_tools",
        "commands",
        "fs.roots",
        "providers.x",
        "providers.y.api_key",
        "providers.y.kind",
        "providers.y.headers.a",
        "mcp_servers.m.kind",
    ];
    assert_eq!(keys, wanted);
    assert_eq!(
        warnings[6],
        "setting policy_modes.default must be default, ask, accept_all, plan or bypass, \
         and everything needs approval until it is fixed"
    );
}

#[test]
fn the_environment_beats_the_file() {
    let lookup = |name: &str| {
        let text = match name {
            "RODER_PROVIDER" => "X-AI",
            "RODER_MODEL" => " ",
            "RODER_REASONING" => "low",
            "RODER_RUNTIME_PROFILE" => "non_interactive",
            "RODER_AUTO_COMPACT_TOKEN_LIMIT" => "7",
            "RODER_DISABLE_CONTEXT_ARTIFACTS" => "1",
            "RODER_EXTERNAL_TOOL_TIMEOUT_SECONDS" => "9",
            _ => return None,
        };
        Some(text.to_owned())
    };
    let (mut settings, _) = read("provider = 'mock'\nmodel = 'kept'\nreasoning = 'high'");
    assert_eq!(settings.apply_environment(lookup), Vec::<String>::new());
    assert_eq!(settings.provider.as_deref(), Some("xai"));
    assert_eq!(settings.model.as_deref(), Some("kept"));
    assert_eq!(settings.reasoning.as_deref(), Some("low"));
    assert_eq!(settings.runtime_profile, Profile::NonInteractive);
    assert_eq!(settings.auto_compact_token_limit, Some(7));
    assert!(!settings.context.file_backed_dynamic_context);
    assert_eq!(settings.tools.external_timeout, Duration::from_secs(9));
    let before = settings.clone();
    assert_eq!(settings.apply_environment(|_| None), Vec::<String>::new());
    assert_eq!(settings, before);
    let warnings = settings.apply_environment(|name| {
        let is_text = matches!(name, "RODER_PROVIDER" | "RODER_MODEL" | "RODER_REASONING")
            || name.ends_with("_WORKFLOWS_DIR")
            || name.ends_with("_ISSUER");
        (!is_text).then(|| "what".to_owned())
    });
    assert_eq!(warnings.len(), 14, "{warnings:?}");
    assert_eq!(settings, before);
}

#[test]
fn a_client_has_some_time_for_its_own_tools() {
    let limit = |text: &str| read(text).0.tools.external_timeout.as_secs();
    assert_eq!(limit(""), 300);
    assert_eq!(limit("[tools]\nexternal_timeout_seconds = 5"), 5);
    assert_eq!(limit("[tools]\nexternal_timeout_seconds = 0"), 300);
    let (mut settings, _) = read("");
    for nonsense in ["0", "-1", "soon", "1.5"] {
        let warnings = settings.apply_environment(|name| {
            (name == "RODER_EXTERNAL_TOOL_TIMEOUT_SECONDS").then(|| nonsense.to_owned())
        });
        assert_eq!(
            warnings,
            ["RODER_EXTERNAL_TOOL_TIMEOUT_SECONDS must be a whole number above 0"]
        );
        assert_eq!(settings.tools.external_timeout.as_secs(), 300);
    }
}

fn edited(text: &str, edit: &Edit) -> String {
    let mut document: DocumentMut = text.parse().unwrap();
    edit.apply(&mut document).unwrap();
    document.to_string()
}

#[test]
fn edits_go_where_they_are_read() {
    let selection =
        Edit::Selection { provider: "Mock".into(), model: None, reasoning: Some("low".into()) };
    assert_eq!(
        edited("model = \"m\" # x\n", &selection),
        "provider = \"mock\"\nreasoning = \"low\"\n"
    );
    let edits = [
        selection,
        Edit::WebSearch(Spelled::<WebSearchMode>::from_name("auto").unwrap()),
        Edit::DefaultMode(Spelled::<Mode>::from_name("ask").unwrap()),
        Edit::Shell("/bin/fish".into()),
        Edit::SearchIndex(false),
        Edit::DynamicContext(false),
        Edit::ApiKey { provider: "openai".into(), key: Some(Secret::new("k")) },
    ];
    let mut document = DocumentMut::new();
    for edit in &edits {
        edit.apply(&mut document).unwrap();
    }
    let (settings, warnings) = Settings::read(&document);
    assert!(warnings.is_empty());
    let mut expected = Settings {
        provider: Some("mock".into()),
        reasoning: Some("low".into()),
        web_search: Spelled { value: WebSearchMode::Cached, spelling: "auto" },
        ..Settings::default()
    };
    expected.policy.default.spelling = "ask";
    expected.tools.shell = Some("/bin/fish".into());
    expected.search_index.enabled = false;
    expected.context.file_backed_dynamic_context = false;
    let api_key = Some(Secret::new("k"));
    expected.providers.insert("openai".into(), ProviderSettings { api_key, ..Default::default() });
    assert_eq!(settings, expected);
}

#[test]
fn a_key_goes_to_the_provider_as_the_file_spells_it() {
    let text = "# keys\n[providers.X-AI] # theirs\nbase_url = \"u\"\n";
    let set = Edit::ApiKey { provider: " xAI".into(), key: Some(Secret::new("k")) };
    let with = edited(text, &set);
    assert_eq!(with, format!("{text}api_key = \"k\"\n"));
    let clear = Edit::ApiKey { provider: "x-ai".into(), key: None };
    assert_eq!(edited(&with, &clear), text);
    assert_eq!(edited("", &clear), "");
}

#[test]
fn edits_reach_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = SettingsFile::new(dir.path().join("config.toml"));
    let document = file.edit(|document| Edit::Shell("/bin/sh".into()).apply(document)).unwrap();
    assert_eq!(Settings::read(&document).0.tools.shell.as_deref(), Some("/bin/sh"));
    assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "[tools]\nshell = \"/bin/sh\"\n");
}

#[test]
fn a_broken_file_leaves_the_defaults_and_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let file = SettingsFile::new(dir.path().join("config.toml"));
    assert_eq!(Settings::load(&file), (Settings::default(), vec![]));
    std::fs::write(file.path(), "provider = \"mock\"\nmodel = 1\n").unwrap();
    let (settings, warnings) = Settings::load(&file);
    assert_eq!(settings.provider.as_deref(), Some("mock"));
    assert_eq!(warnings, ["setting model must be a text"]);
    std::fs::write(file.path(), "provider = ").unwrap();
    let (settings, warnings) = Settings::load(&file);
    assert!(warnings[0].contains("is broken at line 1"), "{warnings:?}");
    assert!(settings.policy.unreadable.is_some());
    let policy = PolicySettings { unreadable: None, ..settings.policy.clone() };
    assert_eq!(Settings { policy, ..settings }, Settings::default());
}

#[test]
fn what_is_wrong_about_policy_has_everything_asked_for() {
    for (text, warning) in [
        ("deny = \"shell\"", "setting policy_modes.deny must be a list of texts"),
        (
            "denny = [\"shell\"]",
            "unknown setting policy_modes.denny is ignored; did you mean `deny`?",
        ),
        ("network = \"never\"", "setting policy_modes.network must be allow or ask"),
    ] {
        let (settings, warnings) = read(&format!("[policy_modes]\n{text}\n"));
        assert_eq!(settings.policy.unreadable.as_deref(), Some(warning));
        assert_eq!(
            warnings,
            [format!("{warning}, and everything needs approval until it is fixed")]
        );
    }
    // What another version knows, and what is not about policy, is told and no more.
    for (text, warning) in [
        ("[policy_modes]\ncolours = 1\n", "unknown setting policy_modes.colours is ignored"),
        ("[context]\nfile_backed = 1\n", "unknown setting context.file_backed is ignored"),
        (
            "[providers.x]\napikey = \"\"\n",
            "unknown setting providers.x.apikey is ignored; did you mean `api_key`?",
        ),
    ] {
        let (settings, warnings) = read(text);
        assert_eq!((settings.policy.unreadable, warnings), (None, vec![warning.to_owned()]));
    }
}

#[test]
fn modes_are_told_back_as_they_were_said() {
    for (said, value, told) in [
        ("ask", Mode::Default, "ask"),
        ("default", Mode::Default, "default"),
        ("accept-edits", Mode::AcceptAll, "accept_all"),
        ("bypass", Mode::Bypass, "bypass"),
    ] {
        assert_eq!(Spelled::<Mode>::from_flag(said), Spelled::<Mode>::from_name(said));
        assert_eq!(Spelled::<Mode>::from_name(said), Some(Spelled { value, spelling: told }));
    }
    assert_eq!(Spelled::<Mode>::from_name("Ask"), None);
    assert_eq!(Spelled::<Mode>::from_name("yolo"), None);
    assert_eq!(Spelled::<Mode>::from_flag("yolo"), Spelled::<Mode>::from_name("bypass"));
}

proptest! {
    #[test]
    fn no_document_panics(text in "([a-z_.]{1,12}( = ([0-9-]{1,22}|'[a-z]*'|\\[\\]|\\{\\}|true))?\n|\\[[a-z_.]{1,20}\\]\n){0,8}") {
        if let Ok(document) = text.parse::<DocumentMut>() {
            let _ = Settings::read(&document);
        }
    }

    #[test]
    fn texts_come_back(provider in "[a-z][a-z0-9-]{0,8}", key in "\\S.*\\S", shell in "\\S.*\\S") {
        prop_assume!(key.trim() == key && shell.trim() == shell);
        let mut document: DocumentMut = FULL.parse().unwrap();
        Edit::ApiKey { provider: provider.clone(), key: Some(Secret::new(&*key)) }.apply(&mut document).unwrap();
        Edit::Shell(shell.clone()).apply(&mut document).unwrap();
        let (settings, warnings) = read(&document.to_string());
        prop_assert!(warnings.is_empty());
        prop_assert_eq!(settings.tools.shell, Some(shell));
        let stored = &settings.providers[&normalize_provider(&provider)];
        prop_assert_eq!(stored.api_key.as_ref().map(Secret::expose), Some(&*key));
    }
}

#[test]
fn servers_of_vectors_and_images_are_read_by_their_names() {
    let (settings, warnings) = read(
        r#"
        [memory]
        recall = false
        [memory.providers.house]
        base_url = "http://127.0.0.1:1/v1/"
        api_key_env = "HOUSE_KEY"
        model = "tiny"
        dimensions = 8
        [media]
        keep = false
        [media.providers.painter]
        base_url = "https://images.example/v1"
        model = "brush"
        "#,
    );
    assert_eq!(warnings, Vec::<String>::new());
    let house = &settings.memory.providers["house"];
    assert_eq!((house.base_url.as_str(), house.dimensions), ("http://127.0.0.1:1/v1", Some(8)));
    assert_eq!(house.api_key_env.as_deref(), Some("HOUSE_KEY"));
    assert!(!settings.memory.recalls && !settings.media.keeps);
    assert_eq!(settings.media.providers["painter"].model, "brush");
    let default = Settings::default();
    assert!(default.memory.recalls && default.media.keeps);
}

#[test]
fn servers_that_cannot_be_asked_are_left_out_and_named() {
    for (text, warning) in [
        ("[memory.providers.x]\nmodel = \"m\"", "setting memory.providers.x.base_url must be set"),
        (
            "[memory.providers.x]\nbase_url = \"ftp://h\"\nmodel = \"m\"",
            "setting memory.providers.x.base_url must be an address that begins with http",
        ),
        (
            "[memory.providers.x]\nbase_url = \"http://h\"",
            "setting memory.providers.x.model must be set",
        ),
        (
            "[memory.providers.local]\nbase_url = \"http://h\"\nmodel = \"m\"",
            "setting memory.providers.local must be named by letters, digits, - and _, and not as a built-in one",
        ),
        (
            "[media.providers.\"a b\"]\nbase_url = \"http://h\"\nmodel = \"m\"",
            "setting media.providers.a b must be named by letters, digits, - and _, and not as a built-in one",
        ),
    ] {
        let (settings, warnings) = read(text);
        assert_eq!(warnings, [warning], "{text}");
        assert!(settings.memory.providers.is_empty() && settings.media.providers.is_empty());
    }
    let (settings, warnings) =
        read("[memory.providers.x]\nbase_url = \"http://h\"\nmodel = \"m\"\ndimensions = 0");
    assert_eq!(warnings.len(), 1);
    assert_eq!(settings.memory.providers["x"].dimensions, None);
}
