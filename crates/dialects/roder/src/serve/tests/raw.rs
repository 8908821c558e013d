//! What single lines look like: how long they are, and what is no request.

use rookery_agent::settings::Secret;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use super::*;

/// A client that sees lines.
pub(super) struct Lines {
    stream: BufReader<Box<dyn Both>>,
    number: u64,
    pub(super) told: Vec<Value>,
}

trait Both: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send {}
impl<T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send> Both for T {}

impl Lines {
    pub(super) fn to(world: &World) -> Self {
        let (near, far) = memory::pair();
        let core = world.core.clone();
        tokio::spawn(serve_connection(far, framing(), options(), move |connection| {
            protocol(core, connection, Link::default())
        }));
        Lines { stream: BufReader::new(Box::new(near)), number: 0, told: Vec::new() }
    }

    pub(super) async fn send(&mut self, line: &str) {
        self.stream.get_mut().write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// The next line, which is short enough unless it was asked for.
    async fn take(&mut self) -> Value {
        let mut line = String::new();
        let read = self.stream.read_line(&mut line);
        tokio::time::timeout(Duration::from_secs(60), read).await.unwrap().unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        let is_asked = message.get("id").is_some();
        assert!(is_asked || line.len() <= 1 << 20, "a line of {} bytes", line.len());
        message
    }

    /// What was kept, then what comes.
    pub(super) async fn next(&mut self) -> Value {
        match self.told.is_empty() {
            true => self.take().await,
            false => self.told.remove(0),
        }
    }

    pub(super) async fn call(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        let id = self.number;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request.to_string()).await;
        loop {
            let message = self.take().await;
            if message["id"] == id {
                return message;
            }
            self.told.push(message);
        }
    }

    /// Runs a turn to its end and gives what was reported of it.
    pub(super) async fn turn(&mut self, thread: &str, prompt: &str) -> Vec<Value> {
        let begun = self.call("turn/start", json!({ "threadId": thread, "prompt": prompt })).await;
        assert!(begun["result"]["turnId"].is_string(), "{begun}");
        let mut told = std::mem::take(&mut self.told);
        while told.last().is_none_or(|last| last["method"] != "turn/completed") {
            told.push(self.take().await);
        }
        told
    }

    pub(super) async fn thread(&mut self, world: &World) -> String {
        let started = self
            .call("thread/start", json!({ "cwd": world.path(), "modelProvider": "mock" }))
            .await;
        started["result"]["thread"]["id"].as_str().unwrap().to_owned()
    }

    async fn items(&mut self, thread: &str) -> Vec<Value> {
        let params = json!({ "threadId": thread, "includeTurns": true });
        let read = self.call("thread/read", params).await;
        let turns = read["result"]["thread"]["turns"].as_array().unwrap().clone();
        turns.iter().flat_map(|turn| turn["items"].as_array().unwrap().clone()).collect()
    }
}

pub(super) fn script(steps: &Value) -> String {
    format!("MOCK_SCRIPT:{steps}")
}

fn completed(told: &[Value], kind: &str) -> Value {
    let item =
        |it: &&Value| it["method"] == "item/completed" && it["params"]["item"]["type"] == kind;
    told.iter().find(item).unwrap()["params"].clone()
}

#[tokio::test]
async fn no_line_is_too_long_for_a_client() {
    let world = World::start(|agent, home| agent.artifacts = Some(home.join("artifacts"))).await;
    let mut client = Lines::to(&world);
    let thread = client.thread(&world).await;
    let text = "\u{1}é\"x".repeat(300_000);
    let told = client.turn(&thread, &script(&json!([{ "text": text, "chunks": 2 }]))).await;
    let deltas: String = told.iter().filter_map(|it| it["params"]["delta"].as_str()).collect();
    assert!(deltas == text, "deltas are whole");
    let said = completed(&told, "agentMessage");
    assert_eq!(said["item"], said["event"]["item"]);
    assert_eq!(said["item"]["truncated"], true);
    assert_eq!(said["item"]["fullLength"]["text"], text.len());
    assert!(text.starts_with(said["item"]["text"].as_str().unwrap()));
    assert_eq!(completed(&told, "userMessage")["item"]["truncated"], true);
    let items = client.items(&thread).await;
    assert_eq!(items.len(), 2);
    assert!(items[1]["text"] == text, "what was asked for is whole");
    let ran =
        client.call("command/exec", json!({ "command": ["head", "-c", "900000", "/dev/zero"] }));
    let ran = ran.await["result"].take();
    assert_eq!(ran["stdout"].as_str().unwrap().len(), 900_000);
    let file = world.path().join("big");
    std::fs::write(&file, vec![0; 2 << 20]).unwrap();
    // Bytes that were asked for come as they are.
    let client = world.connect();
    let read = call(&client, "fs/readFile", json!({ "path": file })).await.unwrap();
    assert!(read["dataBase64"].as_str().unwrap().len() > 2 << 20);
}

#[tokio::test]
async fn ids_and_params_are_of_their_kinds() {
    let world = World::start(|_, _| {}).await;
    let mut client = Lines::to(&world);
    for id in ["1.5", "true", "{}", "[]", "1e2"] {
        client.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"session/get"}}"#)).await;
        let refused = client.take().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&Value::Null, &json!(-32600)));
    }
    for method in ["session/get", "thread/list", "thread/read", "initialize", "tools/list"] {
        for params in [json!([]), json!(["x"]), json!(5), json!("x"), json!(true)] {
            let error = client.call(method, params.clone()).await["error"].take();
            assert_eq!(error["code"], -32602, "{method} {params}");
            let message = error["message"].as_str().unwrap();
            assert!(message.starts_with("Invalid params: "), "{message}");
        }
    }
}

#[tokio::test]
async fn names_of_items_never_come_again() {
    let world = World::start(|_, _| {}).await;
    let mut client = Lines::to(&world);
    let thread = client.thread(&world).await;
    let prompt =
        script(&json!([{ "tool": "echo", "args": { "text": "a" }, "id": "x" }, { "text": "ok" }]));
    let mut names = Vec::new();
    for _ in 0..3 {
        let told = client.turn(&thread, &prompt).await;
        names.push(completed(&told, "toolExecution")["item"]["id"].as_str().unwrap().to_owned());
        let params = json!({ "threadId": thread, "numTurns": 1 });
        let back = client.call("thread/rollback", params).await;
        assert!(back["result"].is_object(), "{back}");
    }
    assert_eq!(names, ["x", "x-2", "x-3"]);
}

#[tokio::test]
async fn a_thread_stays_in_the_workspace_it_was_started_in() {
    let world = World::start(|_, _| {}).await;
    let mut client = Lines::to(&world);
    let (one, two) = (world.dir("one"), world.dir("two"));
    let mut made = Vec::new();
    for roots in [json!([{ "path": one }, { "path": two }]), json!([{ "path": two }])] {
        let created = client.call("workspace/create", json!({ "roots": roots })).await;
        made.push(created["result"]["workspace"].clone());
    }
    let (id, root) = (&made[0]["id"], &made[0]["roots"][1]["id"]);
    let started =
        client.call("thread/start", json!({ "workspaceId": id, "rootId": root })).await["result"]
            .take();
    let thread = &started["thread"];
    let listed = client.call("thread/list", json!({})).await["result"]["data"][0].take();
    let read = client.call("thread/read", json!({ "threadId": thread["id"] })).await;
    let told = client.told.iter().find(|it| it["method"] == "thread/started").unwrap().clone();
    let seen = [&started, thread, &listed, &read["result"]["thread"], &told["params"]["thread"]];
    for shown in seen {
        assert_eq!((&shown["workspaceId"], &shown["rootId"]), (id, root), "{shown}");
    }
}

#[tokio::test]
async fn what_streams_is_typed_into_by_its_own_connection() {
    let world = World::start(|_, _| {}).await;
    let (mut owner, mut other) = (Lines::to(&world), Lines::to(&world));
    owner.call("session/set_mode", json!({ "mode": "bypass" })).await;
    let params = json!({
        "command": ["cat"], "processId": "p", "streamStdin": true, "streamStdoutStderr": true,
    });
    let request =
        json!({ "jsonrpc": "2.0", "id": "run", "method": "command/exec", "params": params });
    owner.send(&request.to_string()).await;
    let write = json!({ "processId": "p", "deltaBase64": "aGkK" });
    while owner.call("command/exec/write", write.clone()).await["error"].is_object() {}
    let size = json!({ "processId": "p", "size": { "rows": 2, "cols": 2 } });
    for (method, params) in [
        ("command/exec/write", write.clone()),
        ("command/exec/resize", size),
        ("command/exec/terminate", json!({ "processId": "p" })),
    ] {
        let error = other.call(method, params).await["error"].take();
        assert_eq!(error["code"], -32602, "{method}");
        assert_eq!(error["message"], "unknown processId: p", "{method}");
    }
    let listed = other.call("processes/list", json!({})).await["result"].take();
    assert_eq!(listed["processes"][0]["processId"], "p");
    let stopped = other.call("processes/stop", json!({ "processId": "p" })).await["result"].take();
    assert_eq!(stopped["stopped"], true);
}

#[tokio::test]
async fn keys_are_not_told_by_tools() {
    let key = "sk-known-0123456789";
    let world = World::start(|agent, _| {
        let openai = agent.settings.providers.entry("openai".to_owned()).or_default();
        openai.api_key = Some(Secret::new(key.to_owned()));
    })
    .await;
    std::fs::write(world.path().join("config.toml"), format!("api_key = \"{key}\"\n")).unwrap();
    let mut client = Lines::to(&world);
    let thread = client.thread(&world).await;
    let steps = json!([
        { "tools": [
            { "tool": "read_file", "args": { "path": "config.toml" } },
            { "tool": "grep", "args": { "query": "api_key" } },
        ] },
        { "text": "ok" },
    ]);
    let told = client.turn(&thread, &script(&steps)).await;
    let items = client.items(&thread).await;
    let outputs: Vec<&str> = items.iter().filter_map(|item| item["output"].as_str()).collect();
    assert_eq!(outputs.len(), 2);
    assert!(outputs.iter().all(|output| output.contains("api_key = ")), "{outputs:?}");
    let params = json!({ "threadId": thread, "toolName": "read_file", "arguments": { "path": "config.toml" } });
    let direct = client.call("tools/call", params).await;
    for text in [json!(told).to_string(), json!(items).to_string(), direct.to_string()] {
        assert!(!text.contains(key), "{text}");
    }
}
