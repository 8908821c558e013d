//! The dialect over a connection in memory: what needs more than a mapping, from the wire's side.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rookery_core::{AgentConfig, Core, CoreConfig, KeeperLaunch, TerminalLimits, UiConfig};
use rookery_wire::{Client, ClientError, rpc::RpcError, serve_connection, transport::memory};
use serde_json::{Value, json};

use super::*;

mod order;
mod raw;

struct World {
    home: tempfile::TempDir,
    core: Core,
}

impl World {
    async fn start(change: impl FnOnce(&mut AgentConfig, &Path)) -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().canonicalize().unwrap();
        let mut agent = AgentConfig { cwd: path.clone(), ..AgentConfig::default() };
        change(&mut agent, &path);
        let config = CoreConfig {
            state_dir: None,
            keeper: KeeperLaunch {
                exe: "/nonexistent/keeper".into(),
                args: Vec::new(),
                socket: path.join("keeper.sock"),
            },
            home: path,
            env: Vec::new(),
            shell: "/bin/sh".to_owned(),
            child_env: Vec::new(),
            limits: TerminalLimits::default(),
            palette: Default::default(),
            shares_ids: true,
            ui: UiConfig::default(),
            tab_env: Vec::new(),
            resources: None,
            helpers: None,
            default_tool: None,
            max_running_tasks: rookery_core::USUAL_RUNNING_TASKS,
            agent,
        };
        World { home, core: Core::start(config).await.unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.home.path().canonicalize().unwrap()
    }

    fn dir(&self, name: &str) -> PathBuf {
        let dir = self.path().join(name);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }

    fn connect(&self) -> Client {
        let (near, far) = memory::pair();
        let core = self.core.clone();
        tokio::spawn(serve_connection(far, framing(), options(), move |connection| {
            protocol(core, connection, Link::default())
        }));
        Client::over(near, framing())
    }

    async fn thread(&self, client: &Client) -> String {
        let params = json!({"cwd": self.path(), "modelProvider": "mock", "model": "mock"});
        let started = call(client, "thread/start", params).await.unwrap();
        started["thread"]["id"].as_str().unwrap().to_owned()
    }
}

async fn call(client: &Client, method: &str, params: Value) -> Result<Value, RpcError> {
    match client.call::<_, Value>(method, params).await {
        Ok(value) => Ok(value),
        Err(ClientError::Rpc(error)) => Err(error),
        Err(other) => panic!("{method}: {other}"),
    }
}

async fn refused(client: &Client, method: &str, params: Value) -> (i64, String, Value) {
    let error = call(client, method, params).await.unwrap_err();
    (error.code, error.message, error.data.unwrap_or(Value::Null))
}

#[tokio::test]
async fn what_there_is_can_be_listed_without_params() {
    let world = World::start(|_, _| {}).await;
    let client = world.connect();
    let nothing = || Value::Null;
    let listed = call(&client, "providers/list", nothing()).await.unwrap();
    assert_eq!(
        (&listed["active_provider"], &listed["active_model"]),
        (&json!("mock"), &json!("mock"))
    );
    assert_eq!(listed["selectionMode"]["type"], "manual");
    let providers = listed["providers"].as_array().unwrap();
    let key = |it: &Value| (it["sort_order"].as_i64(), it["name"].as_str().map(str::to_owned));
    assert!(providers.is_sorted_by_key(key));
    let openai = providers.iter().find(|it| it["id"] == "openai").unwrap();
    assert_eq!(
        (&openai["auth_type"], &openai["auth_label"]),
        (&json!("api_key"), &json!("OPENAI_API_KEY"))
    );
    assert_eq!(openai["authenticated"], false);
    let models = call(&client, "model/list", nothing()).await.unwrap();
    let usual: Vec<&Value> =
        models["models"].as_array().unwrap().iter().filter(|it| it["isDefault"] == true).collect();
    assert_eq!(usual.len(), 1);
    assert_eq!(usual[0]["modelProvider"], "mock");
    let tools = call(&client, "tools/list", nothing()).await.unwrap();
    for tool in tools["tools"].as_array().unwrap() {
        assert_eq!(tool["parameters"]["type"], "object", "{tool}");
    }
    let agents = call(&client, "agents/list", nothing()).await.unwrap();
    let listed = agents["agents"].as_array().unwrap();
    let explore = listed.iter().find(|agent| agent["agent_type"] == "explore").unwrap();
    assert_eq!(explore["permission_mode"], "read_only");
    assert!(!explore["tools"].as_array().unwrap().contains(&json!("write_file")));
    let extensions = call(&client, "extensions/list", nothing()).await.unwrap();
    assert_eq!(extensions["extensions"][0]["provides"][0], json!({"InferenceEngine": "anthropic"}));
    let started = call(&client, "initialize", nothing()).await.unwrap();
    assert_eq!(started["capabilities"]["methods"].as_array().unwrap().len(), METHODS.len());
}

#[tokio::test]
async fn selecting_and_configuring_answer_as_promised() {
    let world = World::start(|_, _| {}).await;
    let client = world.connect();
    let thread = world.thread(&client).await;
    let params = json!({"provider": "ollama", "model": "m", "threadId": thread});
    let chosen = call(&client, "providers/select", params).await.unwrap();
    assert_eq!((&chosen["provider"], &chosen["reasoning"]), (&json!("ollama"), &json!("none")));
    let read = call(&client, "thread/read", json!({"threadId": thread})).await.unwrap();
    assert_eq!(read["thread"]["model"], "m");
    let settings = call(&client, "settings/get", Value::Null).await.unwrap();
    assert_eq!(settings["default_provider"], "mock");
    let selection = json!({"type": "manual", "provider": "X-AI", "model": "g"});
    let chosen = call(&client, "model/select", json!({"selection": selection})).await.unwrap();
    assert_eq!(chosen["selectionMode"]["provider"], "xai");
    let settings = call(&client, "settings/get", Value::Null).await.unwrap();
    assert_eq!(
        (&settings["default_provider"], &settings["default_model"]),
        (&json!("xai"), &json!("g"))
    );
    let unknown = refused(&client, "providers/select", json!({"provider": "unknown"})).await;
    assert_eq!((unknown.0, &unknown.2["details"]), (-32000, &json!("unknown provider: unknown")));
    let auto = json!({"selection": {"type": "auto", "optionId": "x"}});
    assert_eq!(refused(&client, "model/select", auto).await.0, -32602);
    for (provider, key, code) in
        [("unknown", "k", -32602), ("openai", " ", -32602), ("openai", "k", -32000)]
    {
        let params = json!({"provider": provider, "api_key": key});
        assert_eq!(refused(&client, "providers/configure", params).await.0, code, "{provider}");
    }
}

#[tokio::test]
async fn modes_are_reported_in_the_words_they_were_set_by() {
    let world = World::start(|_, _| {}).await;
    let client = world.connect();
    let mut told = client.notifications().unwrap();
    let mode = |settings: &Value| settings["default_mode"].clone();
    assert_eq!(mode(&call(&client, "settings/get", Value::Null).await.unwrap()), "default");
    let set = call(&client, "settings/set_default_mode", json!({"mode": "ask"})).await.unwrap();
    assert_eq!(mode(&set), "ask");
    let message =
        tokio::time::timeout(Duration::from_secs(20), told.recv()).await.unwrap().unwrap();
    let changed: Value = serde_json::from_str(message.params.get()).unwrap();
    assert_eq!((message.method.as_str(), mode(&changed)), ("settings/changed", json!("ask")));
    let got = call(&client, "session/get", Value::Null).await.unwrap();
    assert_eq!(got["mode"], "ask");
    let set =
        call(&client, "settings/set_default_mode", json!({"mode": "accept-edits"})).await.unwrap();
    assert_eq!(mode(&set), "accept_all");
    assert_eq!(call(&client, "session/get", Value::Null).await.unwrap()["mode"], "accept_all");
    assert_eq!(
        refused(&client, "settings/set_default_mode", json!({"mode": "yolo"})).await.0,
        -32602
    );
    let web = call(&client, "settings/set_web_search", json!({"mode": "auto"})).await.unwrap();
    assert_eq!(web["web_search"]["mode"], "auto");
    assert_eq!(refused(&client, "settings/set_shell", json!({"shell": " "})).await.0, -32602);
    let shell = call(&client, "settings/set_shell", json!({"shell": "/x/sh"})).await.unwrap();
    assert!(shell["shell"]["options"].as_array().unwrap().contains(&json!("/x/sh")));
}

#[tokio::test]
async fn files_are_read_and_refused_in_kind() {
    let world = World::start(|_, _| {}).await;
    let client = world.connect();
    let file = world.path().join("f");
    std::fs::write(&file, b"\x00\xff0123").unwrap();
    let read = call(&client, "fs/readFile", json!({"path": file})).await.unwrap();
    assert_eq!(read["dataBase64"], "AP8wMTIz");
    let part = call(&client, "fs/readFile", json!({"path": file, "offset": 2, "limit": 2})).await;
    assert_eq!(part.unwrap()["dataBase64"], "MDE=");
    let listed = call(&client, "fs/readDirectory", json!({"path": world.path()})).await.unwrap();
    let entry = json!({"fileName": "f", "isDirectory": false, "isFile": true});
    assert!(listed["entries"].as_array().unwrap().contains(&entry));
    let relative = refused(&client, "fs/readFile", json!({"path": "f"})).await;
    assert_eq!((relative.0, relative.1.as_str()), (-32602, "path must be absolute"));
    for (method, path, kind) in [
        ("fs/readFile", world.path().join("none"), "not_found"),
        ("fs/readFile", world.path(), "is_a_directory"),
        ("fs/readDirectory", file, "not_a_directory"),
    ] {
        let (code, message, data) = refused(&client, method, json!({"path": path})).await;
        assert_eq!(
            (code, &data["ioKind"], &data["details"]),
            (-32000, &json!(kind), &json!(message))
        );
    }
    let big = world.path().join("big");
    std::fs::File::create(&big).unwrap().set_len((64 << 20) + 1).unwrap();
    let (code, _, data) = refused(&client, "fs/readFile", json!({"path": big})).await;
    assert_eq!((code, &data["kind"]), (-32000, &json!("too_large")));
}

#[tokio::test]
async fn workspaces_are_found_again_by_their_roots() {
    let world = World::start(|_, _| {}).await;
    let client = world.connect();
    let (a, b) = (world.dir("a"), world.dir("b"));
    let roots = json!({"roots": [{"path": b}, {"path": a, "name": "mine"}], "defaultRootPath": a});
    let made = call(&client, "workspace/create", roots).await.unwrap()["workspace"].clone();
    assert_eq!(made["name"], "mine");
    let again = json!({"roots": [{"path": a}, {"path": b}, {"path": a}]});
    let again = call(&client, "workspace/create", again).await.unwrap();
    assert_eq!(again["workspace"]["id"], made["id"]);
    let started = json!({"workspaceId": made["id"]});
    let started = call(&client, "thread/start", started).await.unwrap();
    assert_eq!(started["cwd"], json!(a));
    assert_eq!(started["thread"]["workspaceId"], made["id"]);
    let outside = json!({"workspaceId": made["id"], "cwd": b});
    let outside = refused(&client, "thread/start", outside).await;
    assert_eq!(
        (outside.0, outside.1.as_str()),
        (-32602, "cwd must be the selected root or a child path")
    );
    for wrong in [
        json!({"roots": []}),
        json!({"roots": [{"path": "a"}]}),
        json!({"roots": [{"path": "/none"}]}),
    ] {
        assert_eq!(refused(&client, "workspace/create", wrong).await.0, -32602);
    }
    let listed = call(&client, "workspace/list", Value::Null).await.unwrap();
    assert_eq!(listed["workspaces"][0]["roots"][0]["path"], json!(world.path()));
    let forget = json!({"workspaceId": made["id"]});
    for forgotten in [true, false] {
        let answer = call(&client, "workspace/forget", forget.clone()).await.unwrap();
        assert_eq!(answer, json!({"workspaceId": made["id"], "forgotten": forgotten}));
    }
}

#[tokio::test]
async fn a_command_runs_as_a_turn_of_its_own() {
    let world = World::start(|agent, _| agent.settings.commands.allow_shell_includes = true).await;
    let client = world.connect();
    let mut told = client.notifications().unwrap();
    let dir = world.dir(".roder/commands");
    let greet = "---\nallowed-tools: [echo]\ninclude:\n  shell:\n    - {id: say, command: echo included}\n\
                 ---\nsee {{include.shell.say}} {{arguments}}";
    std::fs::write(dir.join("greet.md"), greet).unwrap();
    std::fs::write(dir.join("make.md"), "---\ninclude: {shell: [{id: m, command: make}]}\n---\nx")
        .unwrap();
    let slow = "MOCK_SCRIPT:[{\"hang\":true}] {{arguments}}";
    std::fs::write(dir.join("slow.md"), slow).unwrap();
    let expanded = json!({"name": "greet", "arguments": "now"});
    let expanded = call(&client, "commands/expand", expanded).await.unwrap();
    assert_eq!(expanded["message"], "see [context:command.greet.shell.say] now");
    let block = &expanded["context_blocks"][0];
    assert_eq!((&block["kind"], &block["text"]), (&json!("Environment"), &json!("included\n")));
    let denied = refused(&client, "commands/expand", json!({"name": "make"})).await;
    assert_eq!(
        (denied.0, &denied.2["kind"], &denied.2["mode"]),
        (-32004, &json!("policy_denied"), &json!("default"))
    );
    let unknown = refused(&client, "commands/expand", json!({"name": "none"})).await;
    assert_eq!((unknown.0, unknown.1.as_str()), (-32602, "unknown command \"none\""));
    let relative = json!({"workspace": "x"});
    assert_eq!(refused(&client, "commands/list", relative).await.0, -32602);
    let thread = world.thread(&client).await;
    let run = json!({"threadId": thread, "name": "greet", "arguments": "now"});
    let ran = call(&client, "commands/run", run.clone()).await.unwrap();
    assert_eq!(ran["turn_id"], ran["turnId"]);
    assert_eq!(ran["expanded"]["allowed_tools"], json!(["echo"]));
    let ended = async {
        loop {
            let message = told.recv().await.unwrap();
            if message.method == "turn/completed" {
                return message;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended).await.unwrap();
    let slow = json!({"threadId": thread, "name": "slow"});
    let running = call(&client, "commands/run", slow).await.unwrap();
    let (code, _, data) = refused(&client, "commands/run", run).await;
    assert_eq!((code, &data["kind"]), (-32602, &json!("turn_active")));
    assert_eq!(data["activeTurnId"], running["turnId"]);
}

#[tokio::test]
async fn tools_are_called_through_the_gate() {
    let world = World::start(|_, _| {}).await;
    let client = world.connect();
    let thread = world.thread(&client).await;
    let params = |tool: &str, arguments: Value| json!({"threadId": thread, "toolName": tool, "arguments": arguments});
    let echoed = call(&client, "tools/call", params("echo", json!({"text": "hi"}))).await.unwrap();
    assert_eq!((&echoed["text"], &echoed["is_error"]), (&json!("hi"), &json!(false)));
    let wrong = call(&client, "tools/call", params("echo", json!({"x": 1}))).await.unwrap();
    assert_eq!(wrong["is_error"], true);
    let wrong = call(&client, "tools/call", params("write_file", json!({"x": 1}))).await.unwrap();
    assert_eq!(wrong["is_error"], true, "arguments are checked before a person is asked");
    let write = params("write_file", json!({"path": "x", "content": "y"}));
    let asked = refused(&client, "tools/call", write.clone()).await;
    assert_eq!((asked.0, &asked.2["kind"]), (-32004, &json!("approval_required")));
    assert_eq!(asked.1, "tools/call requires approval: side-effecting tool call");
    call(&client, "session/set_mode", json!({"mode": "plan"})).await.unwrap();
    let denied = refused(&client, "tools/call", write).await;
    assert_eq!(
        (denied.0, &denied.2["kind"], &denied.2["mode"]),
        (-32004, &json!("policy_denied"), &json!("plan"))
    );
    assert!(denied.1.starts_with("tools/call denied by policy: "), "{}", denied.1);
    let unknown = refused(&client, "tools/call", params("nope", json!({}))).await;
    assert_eq!((unknown.0, unknown.1.as_str()), (-32602, "unknown tool: nope"));
    let waiting = refused(&client, "tools/call", params("exit_plan_mode", json!({}))).await;
    assert_eq!(waiting.1, "tool cannot be called directly: exit_plan_mode");
    let resolve = json!({"requestId": "exttool-x", "output": {}});
    assert_eq!(call(&client, "tools/resolve", resolve).await.unwrap(), json!({"resolved": false}));
}
