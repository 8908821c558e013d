//! Requests as published clients write them: their own types, with every member that these write for
//! what was left out, among them many a `null`.

use std::path::Path;

use roder_protocol as published;
use rookery_testkit::vectors::{Script, run};
use serde::Serialize;
use serde_json::{Value, json};

/// A conversation in which every request has to be answered with a result.
struct Talk {
    lines: Vec<Value>,
}

impl Talk {
    fn new() -> Talk {
        let head = json!({"name": "requests of published clients", "endpoint": "roder"});
        let mut talk = Talk { lines: vec![head] };
        // What is told besides is decoded elsewhere.
        let unwanted: Vec<&str> = crate::types::NOTIFICATIONS.iter().map(|row| row.name).collect();
        let others = [
            "session/modeChanged",
            "providers/changed",
            "settings/changed",
            "warning",
            "thread/archived",
        ];
        let unwanted: Vec<&str> = unwanted.into_iter().chain(others).collect();
        let params = json!({"capabilities": {"optOutNotificationMethods": unwanted}});
        talk.ask("initialize", params, json!({"...": true}));
        talk
    }

    /// Sends a request and expects a result like this.
    fn ask(&mut self, method: &str, params: impl Serialize, result: Value) {
        let id = self.lines.len();
        let params = serde_json::to_value(params).unwrap();
        self.lines.push(
            json!({"send": {"jsonrpc": "2.0", "id": id, "method": method, "params": params}}),
        );
        self.lines.push(json!({"expect": {"jsonrpc": "2.0", "id": id, "result": result}}));
    }

    fn hold(&self) {
        let lines: Vec<String> = self.lines.iter().map(Value::to_string).collect();
        run(&Script::parse(Path::new("/compat"), &lines.join("\n")).unwrap()).unwrap();
    }
}

/// Anything.
fn any() -> Value {
    json!({"...": true})
}

fn thread_start() -> published::ThreadStartParams {
    published::ThreadStartParams {
        service_tier: None,
        selection: None,
        model: None,
        model_provider: None,
        // The desktop never asks for less, whatever the model can do.
        reasoning: Some("low".to_owned()),
        workspace_id: "$workspace".to_owned(),
        root_id: None,
        cwd: None,
        tool_allowlist: None,
        developer_instructions: None,
        external_tools: None,
        mcp_auth_token: None,
        runner: None,
        ephemeral: false,
    }
}

fn turn_start(prompt: &str) -> published::TurnStartParams {
    let input = published::TurnInputItem {
        kind: "text".to_owned(),
        text: Some(prompt.to_owned()),
        path: None,
        image_url: None,
    };
    published::TurnStartParams {
        service_tier: None,
        thread_id: "$thread".to_owned(),
        input: vec![input],
        prompt: None,
        model_provider: None,
        model: None,
        reasoning: None,
        developer_context: None,
        mcp_auth_token: None,
        policy_mode: None,
        task_ledger_required: false,
    }
}

fn command(words: &[&str]) -> published::CommandExecParams {
    published::CommandExecParams {
        command: words.iter().map(|word| (*word).to_owned()).collect(),
        process_id: None,
        tty: false,
        stream_stdin: false,
        stream_stdout_stderr: false,
        output_bytes_cap: None,
        disable_output_cap: false,
        disable_timeout: false,
        timeout_ms: None,
        cwd: None,
        env: None,
        size: None,
        sandbox_policy: None,
    }
}

#[test]
fn threads_and_turns_are_asked_for_with_the_published_types() {
    let mut talk = Talk::new();
    let thread = || "$thread".to_owned();
    let root = published::WorkspaceRootInput { path: "$home".to_owned(), name: None };
    let create =
        published::WorkspaceCreateParams { name: None, roots: vec![root], default_root_path: None };
    let made = json!({"workspace": {"id": {"$bind": "workspace"}, "...": true}});
    talk.ask("workspace/create", create, made);
    talk.ask("workspace/list", published::WorkspaceListParams {}, any());
    let started = json!({"thread": {"id": {"$bind": "thread"}, "...": true}, "reasoning": "none", "...": true});
    talk.ask("thread/start", thread_start(), started);
    talk.ask("turn/start", turn_start("hello"), any());
    talk.ask("thread/state", published::ThreadStateParams::default(), any());
    let list = published::ThreadListParams { limit: None, cursor: None };
    talk.ask("thread/list", list, json!({"data": ["<any>"], "...": true}));
    let read = published::ThreadReadParams { thread_id: thread(), include_turns: true };
    talk.ask("thread/read", read, any());
    let history = published::ThreadHistoryReadParams {
        thread_id: thread(),
        before: None,
        limit: None,
        max_bytes: None,
    };
    talk.ask("thread/history/read", history, any());
    let mode =
        published::ThreadSetModeParams { thread_id: None, mode: Default::default(), reason: None };
    talk.ask("thread/set_mode", mode, json!({"mode": "default"}));
    let goal = published::ThreadGoalSetParams {
        thread_id: thread(),
        objective: Some("done".to_owned()),
        status: Some(published::ThreadGoalStatus::Active),
        token_budget: None,
    };
    talk.ask("thread/goal/set", goal, any());
    let fork = published::ThreadForkParams {
        thread_id: thread(),
        name: "branch".to_owned(),
        from_turn_id: None,
        provider: None,
        provider_config: None,
    };
    talk.ask("thread/fork", fork, any());
    talk.ask("thread/archive", published::ThreadArchiveParams { thread_id: thread() }, any());
    talk.hold();
}

#[test]
fn choices_commands_and_tools_are_asked_for_with_the_published_types() {
    let mut talk = Talk::new();
    let select = published::ProviderSelectParams {
        provider: "mock".to_owned(),
        model: None,
        reasoning: None,
        thread_id: None,
    };
    talk.ask("providers/select", select, json!({"provider": "mock", "...": true}));
    let selection = published::ModelSelectChoice::Manual {
        provider: "mock".to_owned(),
        model: Some("mock".to_owned()),
        reasoning: None,
    };
    let select = published::ModelSelectParams { selection, thread_id: None };
    talk.ask("model/select", select, json!({"model": "mock", "...": true}));
    let expand = published::CommandsExpandParams {
        name: "review".to_owned(),
        arguments: String::new(),
        workspace: None,
    };
    talk.ask("commands/expand", expand, any());
    talk.ask("command/exec", command(&["true"]), json!({"exitCode": 0, "...": true}));
    let list = published::ProcessesListParams { include_completed: true };
    talk.ask("processes/list", list, json!({"processes": ["<any>"]}));
    talk.ask("processes/stopAll", published::ProcessesStopAllParams { reason: None }, any());
    talk.ask(
        "fs/readDirectory",
        published::FsReadDirectoryParams { path: "$home".to_owned() },
        any(),
    );
    talk.ask("runtime/drain", published::RuntimeDrainParams { timeout_ms: None }, any());
    talk.hold();
}

#[test]
fn changes_and_knowledge_are_asked_for_with_the_published_types() {
    let mut talk = Talk::new();
    let root = published::WorkspaceRootInput { path: "$home".to_owned(), name: None };
    let create =
        published::WorkspaceCreateParams { name: None, roots: vec![root], default_root_path: None };
    let made = json!({"workspace": {"id": {"$bind": "workspace"}, "...": true}});
    talk.ask("workspace/create", create, made);
    talk.ask(
        "thread/start",
        thread_start(),
        json!({"thread": {"id": {"$bind": "thread"}, "...": true}, "...": true}),
    );
    let thread = || "$thread".to_owned();
    let hunks = published::HunkListParams { thread_id: thread(), turn_id: None, review_id: None };
    talk.ask("hunk/list", hunks, json!({"hunks": []}));
    let plan =
        published::PlanReviewReadParams { thread_id: thread(), review_id: "none".to_owned() };
    talk.ask("plan/review/read", plan, any());
    let changes = published::WorkspaceChangesListParams { thread_id: thread(), turn_id: None };
    talk.ask("workspace/changes/list", changes, json!({"changes": []}));
    let save = published::MemorySaveParams {
        scope: roder_api::memory::MemoryScope::Global,
        text: "tests run with nextest".to_owned(),
        metadata: Value::Null,
    };
    talk.ask("memory/save", save, json!({"memoryId": {"$bind": "memory"}, "...": true}));
    let list = published::MemoryListParams { scope: None, limit: None };
    talk.ask("memory/list", list, json!({"memories": ["<any>"]}));
    let query = published::MemoryQueryParams {
        scope: None,
        text: "nextest".to_owned(),
        limit: None,
        include_global: false,
    };
    talk.ask("memory/query", query, json!({"results": ["<any>"]}));
    let read = published::MemoryReadParams { memory_id: "$memory".to_owned() };
    talk.ask("memory/read", read, any());
    talk.ask("media/list", published::MediaListParams { thread_id: None, kind: None }, any());
    let providers = published::MediaImageProvidersListParams {};
    talk.ask("media/image/providers/list", providers, any());
    let scan =
        published::WorkflowScanParams { workspace: Some("$home".to_owned()), include_user: false };
    talk.ask("workflow/scan", scan, any());
    let skills = published::SkillsListParams {
        workspace_id: Some("$workspace".to_owned()),
        root_id: None,
        cwd: None,
    };
    talk.ask("skills/list", skills, json!({"skills": [], "diagnostics": []}));
    talk.ask("marketplaces/search", published::MarketplacesSearchParams { query: None }, any());
    let get = published::ProcessesGetParams { process_id: "none".to_owned(), output_bytes: None };
    talk.ask("processes/get", get, any());
    talk.hold();
}
