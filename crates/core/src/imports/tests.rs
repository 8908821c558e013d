//! Imports over a whole core: what an enabled item does to turns, and that it stops when it is disabled.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rookery_agent::settings::{ProviderSettings, Settings};
use rookery_imports::{DecisionKind, Item, PluginRoot, State};
use rookery_model::{
    Caller, ErrorKind, Home, ItemBody, Mode, Standing, ThreadId, Turn, TurnStatus,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::{EnabledImport, ImportChange, NewImport, SkillSelector};
use crate::core::Core;
use crate::log::{News, NoticeBody, Topics};
use crate::threads::tests::{core_with, run, says, script, thread_in};

const PATIENCE: Duration = Duration::from_secs(20);

struct Bench {
    dir: tempfile::TempDir,
    core: Core,
    /// What a model was asked, if one listens.
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Bench {
    async fn new() -> Self {
        let asked = Arc::<Mutex<Vec<Value>>>::default();
        let dir = tempfile::tempdir().unwrap();
        let address = model(Arc::clone(&asked)).await;
        let mut settings = Settings::default();
        let provider = ProviderSettings {
            base_url: Some(format!("http://{address}")),
            api_key: Some(rookery_agent::settings::Secret::new("sk-of-a-test")),
            models: vec!["m".to_owned()],
            ..ProviderSettings::default()
        };
        settings.providers.insert("listener".to_owned(), provider);
        let core = core_with(dir.path(), settings).await;
        let bench = Self { dir, core, asked };
        std::fs::create_dir(bench.root()).unwrap();
        bench
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("work")
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    async fn item(&self, path: &str, name: Option<&str>) -> Item {
        let scan = self.core.imports().scan(&self.root(), true).await.unwrap();
        let is_it = |item: &&Item| item.source.path == path && item.source.name.as_deref() == name;
        scan.items.iter().find(is_it).unwrap_or_else(|| panic!("{path}: {scan:#?}")).clone()
    }

    async fn enable(&self, path: &str, name: Option<&str>) -> Item {
        let id = self.item(path, name).await.id;
        let new = NewImport { id, approves: true, hash: None };
        match self.core.imports().enable(&self.root(), new).await.unwrap() {
            EnabledImport::Done(item, _) => *item,
            EnabledImport::NeedsApproval(item) => panic!("{item:?} was approved"),
        }
    }

    async fn remove(&self, item: &Item) {
        self.core.imports().remove(&self.root(), &item.id).await.unwrap();
    }

    /// What a turn in the workspace asks a model, as text.
    async fn asked(&self) -> String {
        let new = crate::threads::NewThread {
            cwd: self.root(),
            choice: rookery_model::Choice {
                provider: "listener".into(),
                model: "m".into(),
                reasoning: None,
            },
            ..crate::threads::NewThread::default()
        };
        let thread = self.core.threads().start(new).await.unwrap().thread.id;
        self.asked.lock().clear();
        let turn = run(&self.core, thread, says("hello")).await;
        assert_eq!(turn.status, TurnStatus::Completed, "{:?}", turn.error);
        let asked = self.asked.lock().clone();
        asked.first().expect("the model was asked").to_string()
    }

    async fn thread(&self) -> ThreadId {
        thread_in(&self.core, &self.root()).await
    }

    /// The results of the tools of a turn.
    async fn results(&self, thread: ThreadId, turn: &Turn) -> Vec<String> {
        let live = self.core.threads().live(thread).await.unwrap();
        let items = live.read().items_of(turn.id);
        let texts = items.into_iter().filter_map(|item| match item.body {
            ItemBody::Tool(call) => Some(call.error.or(call.output).unwrap_or_default()),
            _ => None,
        });
        texts.collect()
    }

    async fn calls(&self, name: &str, arguments: Value) -> Vec<String> {
        self.core.threads().set_mode(None, Mode::Bypass, None, None).await.unwrap();
        let thread = self.thread().await;
        let turn = run(
            &self.core,
            thread,
            script(json!([{"tool": name, "args": arguments}, {"text": "done"}])),
        );
        let turn = turn.await;
        self.results(thread, &turn).await
    }
}

/// A server that speaks Chat Completions, keeps what it is asked, and says `ok`.
async fn model(asked: Arc<Mutex<Vec<Value>>>) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut peer, _)) = listener.accept().await {
            let asked = Arc::clone(&asked);
            tokio::spawn(async move {
                let mut request = Vec::new();
                let mut piece = [0; 8192];
                let body = loop {
                    let got = peer.read(&mut piece).await.unwrap_or(0);
                    request.extend_from_slice(&piece[..got]);
                    let text = String::from_utf8_lossy(&request).into_owned();
                    if got == 0 {
                        return;
                    }
                    let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                    let length = head.to_lowercase();
                    let length =
                        length.lines().find_map(|line| line.strip_prefix("content-length: "));
                    let length: usize = length.and_then(|text| text.parse().ok()).unwrap_or(0);
                    if body.len() >= length {
                        break body.to_owned();
                    }
                };
                if let Ok(value) = serde_json::from_str(&body) {
                    asked.lock().push(value);
                }
                let said = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},\
                            \"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\n\
                     Connection: close\r\n\r\n{said}",
                    said.len()
                );
                let _ = peer.write_all(answer.as_bytes()).await;
            });
        }
    });
    address
}

/// A server of the Model Context Protocol with one tool, as a program.
const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    if m["method"] == "initialize":
        r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}},
             "serverInfo": {"name": "s", "version": "1"}}
    elif m["method"] == "tools/list":
        r = {"tools": [{"name": "greet", "description": "Greets.", "inputSchema": {"type": "object"}}]}
    else:
        r = {"content": [{"type": "text", "text": "greetings from " + sys.argv[1]}]}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"#;

#[tokio::test]
async fn texts_are_told_to_the_model_while_they_are_enabled() {
    let bench = Bench::new().await;
    bench.write("AGENTS.md", "project words");
    bench.write("GEMINI.md", "foreign words");
    bench.write(".cursor/rules/r.mdc", "---\nglobs: \"*.rs\"\n---\nrule words");
    let asked = bench.asked().await;
    assert!(asked.contains("project words") && !asked.contains("foreign words"), "{asked}");
    let item = bench.enable("GEMINI.md", None).await;
    assert_eq!(item.state, State::Enabled);
    let rule = bench.enable(".cursor/rules/r.mdc", None).await;
    let asked = bench.asked().await;
    assert!(asked.contains("From GEMINI.md of this project:\\nforeign words"), "{asked}");
    assert!(asked.contains("files that match *.rs:\\nrule words"), "{asked}");
    bench.write("GEMINI.md", "new words");
    assert!(bench.asked().await.contains("new words"), "a text is told as it is now");
    bench.remove(&item).await;
    bench.remove(&rule).await;
    let asked = bench.asked().await;
    assert!(!asked.contains("new words") && !asked.contains("rule words"), "{asked}");
    let own = bench.item("AGENTS.md", None).await;
    bench.core.imports().ignore(&bench.root(), &own.id).await.unwrap();
    assert!(!bench.asked().await.contains("project words"), "ignored");
    bench.remove(&own).await;
    assert!(bench.asked().await.contains("project words"));
    bench.write("CLAUDE.md", "words for another");
    assert!(bench.asked().await.contains("words for another"), "it is read beside AGENTS.md");
    let other = bench.item("CLAUDE.md", None).await;
    bench.core.imports().ignore(&bench.root(), &other.id).await.unwrap();
    assert!(!bench.asked().await.contains("words for another"), "ignored");
}

#[tokio::test]
async fn skills_are_listed_and_read_while_they_are_enabled() {
    let bench = Bench::new().await;
    bench.write(
        ".claude/skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Makes PDFs\n---\nFold the paper.",
    );
    assert!(!bench.asked().await.contains("\"skill\""), "there is nothing to read");
    let imports = bench.core.imports();
    let name = SkillSelector::Name("pdf".into());
    let skills = imports.set_skill(&bench.root(), &name, true).await.unwrap().skills;
    assert_eq!(skills[0].state, State::Enabled);
    let asked = bench.asked().await;
    assert!(asked.contains("- pdf: Makes PDFs") && !asked.contains("Fold the paper"), "{asked}");
    assert!(asked.contains("\"skill\""), "the tool is offered");
    let read = bench.calls("skill", json!({"name": "pdf"})).await;
    assert!(read[0].contains("Fold the paper."), "{read:?}");
    let read = bench.calls("skill", json!({"name": "nope"})).await;
    assert_eq!(read, ["there is no such skill; there are pdf"]);
    imports.set_skill(&bench.root(), &name, false).await.unwrap();
    assert!(!bench.asked().await.contains("Makes PDFs"));
    let read = bench.calls("skill", json!({"name": "pdf"})).await;
    assert_eq!(read, ["there are no skills here"]);
}

#[tokio::test]
async fn commands_and_agents_are_there_while_they_are_enabled() {
    let bench = Bench::new().await;
    bench.write(
        ".claude/commands/git/fix.md",
        "---\ndescription: Fixes\n---\nFix $1 of $ARGUMENTS, $HOME",
    );
    bench.write(".opencode/agent/helper.md", "---\ndescription: Helps\n---\nHelp.");
    let root = bench.root();
    let expand = |name: &'static str| {
        let (agents, root) = (bench.core.agents(), root.clone());
        async move { agents.expand_command(name, "a b", &root, None, None).await }
    };
    assert_eq!(expand("git:fix").await.unwrap_err().kind(), ErrorKind::NotFound);
    let command = bench.enable(".claude/commands/git/fix.md", Some("git:fix")).await;
    let agent = bench.enable(".opencode/agent/helper.md", Some("helper")).await;
    assert_eq!(expand("git:fix").await.unwrap().message, "Fix a of a b, $HOME");
    let names = || async {
        let (found, _) = bench.core.children().definitions(root.clone()).await;
        found.into_iter().map(|one| one.name).collect::<Vec<_>>()
    };
    assert!(names().await.contains(&"helper".to_owned()));
    bench.remove(&command).await;
    bench.remove(&agent).await;
    assert!(expand("git:fix").await.is_err());
    assert!(!names().await.contains(&"helper".to_owned()));
}

#[tokio::test]
async fn servers_are_started_for_a_turn_and_end_when_they_are_disabled() {
    let bench = Bench::new().await;
    bench.write("server.py", SERVER);
    let named = |who: &str| {
        json!({"mcpServers": {"hi": {"command": "python3", "args": ["server.py", who], "alwaysAllow": ["greet"]}}})
            .to_string()
    };
    bench.write(".mcp.json", &named("one"));
    assert!(!bench.asked().await.contains("mcp__hi__greet"));
    let item = bench.item(".mcp.json", Some("hi")).await;
    let new = NewImport { id: item.id.clone(), ..NewImport::default() };
    let refused = bench.core.imports().enable(&bench.root(), new).await.unwrap();
    assert!(matches!(refused, EnabledImport::NeedsApproval(_)));
    bench.enable(".mcp.json", Some("hi")).await;
    assert!(bench.core.inner.imports.servers.lock().is_empty(), "no turn needs it yet");
    assert!(bench.asked().await.contains("mcp__hi__greet"));
    assert_eq!(bench.calls("mcp__hi__greet", json!({})).await, ["greetings from one"]);
    // Another workspace has no such tool.
    let other = bench.dir.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let thread = thread_in(&bench.core, &other).await;
    let calls = script(json!([{"tool": "mcp__hi__greet", "args": {}}, {"text": "done"}]));
    let turn = run(&bench.core, thread, calls).await;
    assert_eq!(bench.results(thread, &turn).await, ["tool not found"]);
    bench.write(".mcp.json", &named("two"));
    assert_eq!(bench.calls("mcp__hi__greet", json!({})).await, ["tool not found"], "stale");
    assert!(bench.core.inner.imports.servers.lock().is_empty());
    let refreshed = bench.core.imports().refresh(&bench.root()).await.unwrap();
    assert_eq!(refreshed.stale.len(), 1);
    let item = bench.enable(".mcp.json", Some("hi")).await;
    assert_eq!(bench.calls("mcp__hi__greet", json!({})).await, ["greetings from two"]);
    bench.remove(&item).await;
    assert!(bench.core.inner.imports.servers.lock().is_empty(), "at once");
    assert_eq!(bench.calls("mcp__hi__greet", json!({})).await, ["tool not found"]);
}

#[tokio::test]
async fn what_cannot_be_activated_is_said_once() {
    let bench = Bench::new().await;
    bench.write(".mcp.json", r#"{"mcpServers": {"gone": {"command": "/nonexistent/server"}}}"#);
    let mut news = bench.core.log().subscribe(Topics::NOTICES, None);
    let item = bench.enable(".mcp.json", Some("gone")).await;
    bench.calls("echo", json!({"text": "x"})).await;
    let failed = async {
        loop {
            let batch = news.next().await.unwrap();
            for notice in batch.iter().filter_map(News::notice) {
                if let NoticeBody::Import(change) = &notice.body
                    && let ImportChange::Failed { item, message, .. } = &**change
                {
                    return (item.clone(), message.clone());
                }
            }
        }
    };
    let (failed, message) = tokio::time::timeout(PATIENCE, failed).await.unwrap();
    assert_eq!(failed, item.id);
    assert!(message.contains("/nonexistent/server"), "{message}");
    assert_eq!(bench.item(".mcp.json", Some("gone")).await.state, State::Failed);
    let errors = bench.core.imports().scan(&bench.root(), false).await.unwrap().errors;
    let told: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
    assert!(told[0].starts_with("MCP server gone: ") && told.len() == 1, "{told:?}");
}

#[tokio::test]
async fn a_server_that_speaks_sse_fails_as_soon_as_it_is_enabled() {
    let bench = Bench::new().await;
    let server = r#"{"mcpServers": {"old": {"type": "sse", "url": "http://127.0.0.1:9/sse"}}}"#;
    bench.write(".mcp.json", server);
    let item = bench.enable(".mcp.json", Some("old")).await;
    assert_eq!(item.state, State::Failed);
    let errors = bench.core.imports().scan(&bench.root(), false).await.unwrap().errors;
    assert!(errors[0].message.contains("SSE are not supported"), "{errors:?}");
}

#[tokio::test]
async fn hooks_run_at_their_events_and_can_prevent_them() {
    let bench = Bench::new().await;
    let hooks = json!({"hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [
            {"type": "command", "command": "cat > seen.json; echo no shell here >&2; exit 2"},
        ]}],
        "PostToolUse": [{"matcher": "echo", "hooks": [{"type": "command", "command": "echo odd >&2; exit 2"}]}],
        "UserPromptSubmit": [{"hooks": [{"type": "command",
            "command": "if grep -q forbidden; then echo not that >&2; exit 2; fi; echo it is raining"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "test -e stopped && exit 0; touch stopped; echo once more >&2; exit 2"}]}],
    }});
    bench.write(".claude/settings.json", &hooks.to_string());
    let item = bench.item(".claude/settings.json", None).await;
    assert!(item.is_command_capable && item.needs_approval);
    bench.enable(".claude/settings.json", None).await;
    let denied = bench.calls("shell", json!({"command": "echo ran > ran"})).await;
    assert_eq!(denied, ["a hook denied the tool call: no shell here"]);
    assert!(!bench.root().join("ran").exists());
    let seen: Value =
        serde_json::from_slice(&std::fs::read(bench.root().join("seen.json")).unwrap()).unwrap();
    assert_eq!(seen["tool_name"], "Bash");
    assert_eq!(seen["tool_input"]["command"], "echo ran > ran");
    assert!(bench.root().join("stopped").exists(), "the turn came to its end, and went on once");
    let told = bench.calls("echo", json!({"text": "x"})).await;
    assert!(told[0].ends_with("[hook: odd]"), "{told:?}");
    assert!(bench.asked().await.contains("it is raining"));
    let thread = bench.thread().await;
    let refused = bench.core.threads().start_turn(thread, says("a forbidden thing")).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Denied);
    assert_eq!(refused.message(), "a hook denied the prompt: not that");
    bench.remove(&item).await;
    let told = bench.calls("shell", json!({"command": "true"})).await;
    assert!(!told[0].contains("hook"), "it does not run any more: {told:?}");
    assert!(!bench.asked().await.contains("it is raining"));
}

#[tokio::test]
async fn what_a_hook_guards_is_not_done_where_policy_denies_the_hook() {
    let bench = Bench::new().await;
    let guard = json!([{"hooks": [{"type": "command", "command": "touch guarded"}]}]);
    let tools = json!({"hooks": {"PreToolUse": guard.clone(), "PostToolUse": guard.clone(),
        "Stop": guard.clone(), "SessionStart": guard.clone()}});
    bench.write("a.txt", "words\n");
    bench.write(".claude/settings.json", &tools.to_string());
    let item = bench.enable(".claude/settings.json", None).await;
    bench.core.threads().set_mode(None, Mode::Plan, None, None).await.unwrap();
    let thread = bench.thread().await;
    let reads = json!([{"tool": "read_file", "args": {"path": "a.txt"}}, {"text": "done"}]);
    let turn = run(&bench.core, thread, script(reads)).await;
    assert_eq!(turn.status, TurnStatus::Completed, "{:?}", turn.error);
    let told = bench.results(thread, &turn).await.join("\n");
    assert!(
        told.starts_with(
            "a hook denied the tool call: its hook in .claude/settings.json cannot run"
        ),
        "{told}"
    );
    assert!(told.contains("policy denied the hook") && !told.contains("words"), "{told}");
    assert!(!bench.root().join("guarded").exists());
    assert_eq!(bench.item(".claude/settings.json", None).await.state, State::Failed);
    bench.remove(&item).await;
    bench
        .write(".claude/settings.json", &json!({"hooks": {"UserPromptSubmit": guard}}).to_string());
    bench.enable(".claude/settings.json", None).await;
    let refused = bench.core.threads().start_turn(thread, says("hello")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Denied);
    assert!(refused.message().starts_with("a hook denied the prompt: its hook in"), "{refused}");
}

#[tokio::test]
async fn hooks_hear_of_waiting_children_compaction_and_the_end() {
    let bench = Bench::new().await;
    let note = |name: &str| json!([{"hooks": [{"type": "command", "command": format!("cat > {name}.tmp; mv {name}.tmp {name}.json")}]}]);
    let stop = json!([{"hooks": [{"type": "command",
        "command": "cat > child.json; test -e sent && exit 0; touch sent; echo look again >&2; exit 2"}]}]);
    let hooks = json!({"hooks": {
        "Notification": note("asked"), "SubagentStop": stop, "PreCompact": note("short"), "SessionEnd": note("end"),
    }});
    bench.write(".claude/settings.json", &hooks.to_string());
    bench.enable(".claude/settings.json", None).await;
    let noted = async |name: &str| -> Value {
        let path = bench.root().join(format!("{name}.json"));
        let there = async {
            loop {
                if let Ok(text) = std::fs::read(&path) {
                    return serde_json::from_slice(&text).unwrap();
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, there).await.unwrap()
    };
    // A child agent is held back once, and its parent gets its answer all the same.
    let task = json!({"description": "d", "prompt": "MOCK_SCRIPT:[{\"text\": \"one\"}]", "subagent_type": "general"});
    let told = bench.calls("task", task).await;
    assert_eq!(told.len(), 1, "{told:?}");
    let seen = noted("child").await;
    assert_eq!(seen["hook_event_name"], "SubagentStop");
    assert!(bench.root().join("sent").exists());
    let thread = bench.thread().await;
    bench.core.threads().set_mode(Some(thread), Mode::Default, None, None).await.unwrap();
    let writes =
        json!([{"tool": "write_file", "args": {"path": "a", "content": "x"}}, {"text": ""}]);
    bench.core.threads().start_turn(thread, script(writes)).await.unwrap();
    let seen = noted("asked").await;
    assert_eq!(seen["message"], "The agent needs your permission to use Write");
    let idle = bench.thread().await;
    bench.core.threads().archive(idle, true).await.unwrap();
    let seen = noted("end").await;
    assert_eq!((&seen["reason"], &seen["session_id"]), (&json!("other"), &json!(idle.to_string())));
}

#[tokio::test]
async fn a_hook_that_changed_does_not_run() {
    let bench = Bench::new().await;
    let hook = |what: &str| {
        json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": what}]}]}})
            .to_string()
    };
    bench.write(".claude/settings.json", &hook("touch approved"));
    bench.enable(".claude/settings.json", None).await;
    bench.write(".claude/settings.json", &hook("touch evil"));
    bench.calls("echo", json!({"text": "x"})).await;
    assert!(!bench.root().join("evil").exists() && !bench.root().join("approved").exists());
    assert_eq!(bench.item(".claude/settings.json", None).await.state, State::Stale);
}

#[tokio::test]
async fn installed_plugins_are_the_users_and_go_when_they_are_disabled() {
    let bench = Bench::new().await;
    let plugin = bench.dir.path().canonicalize().unwrap().join("plugins/p");
    std::fs::create_dir_all(plugin.join("commands")).unwrap();
    std::fs::write(plugin.join("commands/do.md"), "Run ${CLAUDE_PLUGIN_ROOT}/x").unwrap();
    let imports = bench.core.imports();
    let root =
        PluginRoot { variant_key: "m:p".into(), plugin_id: "p".into(), root: plugin.clone() };
    imports.set_plugin_roots(vec![root.clone()]).await;
    let path = plugin.join("commands/do.md").to_str().unwrap().to_owned();
    bench.enable(&path, Some("p:do")).await;
    let (agents, work) = (bench.core.agents(), bench.root());
    let expand = async || agents.expand_command("p:do", "", &work, None, None).await;
    let message = expand().await.unwrap().message;
    assert!(message.starts_with(&format!("Run {}/x", plugin.display())), "{message}");
    imports.set_plugin_roots(Vec::new()).await;
    assert!(expand().await.is_err(), "at once");
    imports.set_plugin_roots(vec![root]).await;
    assert!(expand().await.is_ok(), "the decision is kept");
    imports.forget_plugin(&plugin).await.unwrap();
    assert!(expand().await.is_err());
    let missing = imports.refresh(&bench.root()).await.unwrap().missing;
    assert_eq!(missing, []);
}

#[tokio::test]
async fn decisions_are_refused_to_agents_and_checked() {
    let bench = Bench::new().await;
    let file = bench.write("CLAUDE.md", "words");
    let item = bench.item("CLAUDE.md", None).await;
    let imports = bench.core.imports();
    let standing = Standing::Agent(Home::Unknown);
    let caller = Caller { standing, pid: None, program: None, endpoint: String::new() };
    let agent = bench.core.on_behalf_of(caller).imports();
    let new = NewImport { id: item.id.clone(), ..NewImport::default() };
    for refused in [
        agent.enable(&bench.root(), new.clone()).await.map(drop),
        agent.ignore(&bench.root(), &item.id).await.map(drop),
        agent.remove(&bench.root(), &item.id).await.map(drop),
        agent.set_skill(&bench.root(), &SkillSelector::Name("x".into()), true).await.map(drop),
    ] {
        let error = refused.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Denied | ErrorKind::Invalid), "{error}");
    }
    assert_eq!(agent.scan(&bench.root(), false).await.unwrap().items.len(), 1);
    let stale = NewImport { hash: Some("other".into()), ..new };
    assert_eq!(imports.enable(&bench.root(), stale).await.unwrap_err().kind(), ErrorKind::Conflict);
    let unknown = NewImport { id: "workflow-0".into(), ..NewImport::default() };
    let error = imports.enable(&bench.root(), unknown).await.unwrap_err();
    assert_eq!(error.message(), "unknown item_id: workflow-0");
    assert!(imports.scan(Path::new("relative"), false).await.is_err());
    assert!(imports.scan(&bench.root().join("nope"), false).await.is_err());
    bench.enable("CLAUDE.md", None).await;
    std::fs::remove_file(file).unwrap();
    let missing = imports.refresh(&bench.root()).await.unwrap().missing;
    assert_eq!(missing[0].item_id, item.id);
    let removed = imports.remove(&bench.root(), &item.id).await.unwrap();
    assert_eq!(removed.kind, DecisionKind::Remove);
    assert!(imports.remove(&bench.root(), "workflow-0").await.is_err());
}
