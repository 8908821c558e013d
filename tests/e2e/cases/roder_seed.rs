//! Every request that the documentation of the Roder protocol shows, over both of its transports and
//! in both spellings of its params.

use std::fs;
use std::path::{Path, PathBuf};

use rookery_testkit::{Home, TestDaemon};
use serde_json::{Value, json};

use crate::roder_link::{Peer, script};
use crate::roder_ws::Remote;

/// The requests as they are printed, and what a result has.
const REQUESTS: &[(&str, &[&str])] = &[
    (r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#, &["provider", "model", "cwd"]),
    (r#"{"jsonrpc":"2.0","id":2,"method":"extensions/list"}"#, &["extensions"]),
    (r#"{"jsonrpc":"2.0","id":3,"method":"providers/list"}"#, &["active_provider", "providers"]),
    (r#"{"jsonrpc":"2.0","id":4,"method":"model/list"}"#, &["models"]),
    (r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#, &["tools"]),
    (r#"{"jsonrpc":"2.0","id":6,"method":"agents/list"}"#, &["agents"]),
    (
        r#"{"jsonrpc":"2.0","id":10,"method":"thread/start","params":{
            "cwd":"/absolute/path/to/workspace","modelProvider":"mock","model":"mock","ephemeral":false}}"#,
        &["thread", "model", "modelProvider", "cwd"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":11,"method":"thread/list","params":{"limit":20}}"#,
        &["data", "nextCursor", "backwardsCursor"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":12,"method":"thread/read","params":{"threadId":"THREAD_ID","includeTurns":true}}"#,
        &["thread", "lifecycle"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":20,"method":"turn/start","params":{"threadId":"THREAD_ID",
            "prompt":"summarize this repository and list the main crates","taskLedgerRequired":false}}"#,
        &["turnId"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":21,"method":"turn/steer","params":{"threadId":"THREAD_ID",
            "expectedTurnId":"TURN_ID","prompt":"focus on app-server code paths"}}"#,
        &["turnId"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":22,"method":"turn/interrupt","params":{"threadId":"THREAD_ID","turnId":"TURN_ID"}}"#,
        &["turnId"],
    ),
    (r#"{"jsonrpc":"2.0","id":30,"method":"session/get"}"#, &["mode", "pending_plan_exit"]),
    (
        r#"{"jsonrpc":"2.0","id":31,"method":"session/set_mode","params":{"mode":"ask","reason":"desktop toggle"}}"#,
        &["mode"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":32,"method":"session/resolve_approval","params":{"approvalId":"APPROVAL_ID","approved":true}}"#,
        &["resolved"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":33,"method":"session/resolve_user_input","params":{"requestId":"REQUEST_ID","answers":{"choice":"yes"}}}"#,
        &["resolved"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":34,"method":"session/exit_plan","params":{"requestId":"PLAN_REQUEST_ID","approved":true}}"#,
        &["resolved", "mode"],
    ),
    (r#"{"jsonrpc":"2.0","id":40,"method":"providers/list"}"#, &["active_provider"]),
    (
        r#"{"jsonrpc":"2.0","id":41,"method":"providers/select","params":{"provider":"openai","model":"gpt-5.1","reasoning":null}}"#,
        &["provider", "model", "reasoning"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":42,"method":"providers/configure","params":{"provider":"openrouter","api_key":"sk-..."}}"#,
        &["provider", "authenticated"],
    ),
    (r#"{"jsonrpc":"2.0","id":43,"method":"settings/get"}"#, &["web_search", "default_mode"]),
    (
        r#"{"jsonrpc":"2.0","id":44,"method":"settings/set_web_search","params":{"mode":"auto"}}"#,
        &["web_search"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":45,"method":"settings/set_default_mode","params":{"mode":"ask"}}"#,
        &["default_mode"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":50,"method":"fs/readDirectory","params":{"path":"/absolute/path/to/workspace"}}"#,
        &["entries"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":51,"method":"fs/readFile","params":{"path":"/absolute/path/to/file.rs"}}"#,
        &["dataBase64"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":52,"method":"command/exec","params":{"command":["git","status","--short"],
            "cwd":"/absolute/path/to/workspace","timeoutMs":30000,"outputBytesCap":20000}}"#,
        &["exitCode", "stdout", "stderr"],
    ),
    (r#"{"jsonrpc":"2.0","id":60,"method":"commands/list"}"#, &["commands"]),
    (
        r#"{"jsonrpc":"2.0","id":61,"method":"commands/expand","params":{"name":"review","arguments":"src/main.rs","workspace":"/absolute/path"}}"#,
        &["command", "message", "context_blocks", "allowed_tools"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":62,"method":"commands/run","params":{"threadId":"THREAD_ID","name":"review","arguments":"src/main.rs"}}"#,
        &["turn_id", "expanded"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":63,"method":"tools/call","params":{"threadId":"THREAD_ID","toolName":"example_tool","arguments":{}}}"#,
        &["text", "data", "is_error"],
    ),
];

/// How the members of params are spelled.
#[derive(Clone, Copy, Debug)]
enum Spelling {
    AsPrinted,
    Camel,
    Snake,
}

impl Spelling {
    fn respell(self, key: &str) -> String {
        match self {
            Spelling::AsPrinted => key.to_owned(),
            Spelling::Snake => key.chars().fold(String::new(), |mut out, letter| {
                if letter.is_ascii_uppercase() {
                    out.push('_');
                }
                out.push(letter.to_ascii_lowercase());
                out
            }),
            Spelling::Camel => {
                let mut words = key.split('_');
                let mut out = words.next().unwrap().to_owned();
                for word in words {
                    let (first, rest) = word.split_at(1);
                    out.push_str(&first.to_uppercase());
                    out.push_str(rest);
                }
                out
            }
        }
    }

    fn apply(self, request: &mut Value) {
        let Some(params) = request.get_mut("params").and_then(Value::as_object_mut) else { return };
        *params = std::mem::take(params)
            .into_iter()
            .map(|(key, value)| (self.respell(&key), value))
            .collect();
    }
}

/// What stands in the requests, and what it really is.
struct Placeholders(Vec<(&'static str, String)>);

impl Placeholders {
    fn set(&mut self, name: &'static str, real: &str) {
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, real.to_owned()));
    }

    fn get(&self, name: &str) -> &str {
        &self.0.iter().find(|(known, _)| *known == name).unwrap().1
    }

    fn fill(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some((_, real)) = self.0.iter().find(|(name, _)| text == name) {
                    *text = real.clone();
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.fill(value)),
            Value::Object(members) => members.values_mut().for_each(|value| self.fill(value)),
            _ => {}
        }
    }
}

/// A repository with a file.
fn workspace(home: &Home) -> PathBuf {
    let dir = home.join("workspace");
    fs::create_dir_all(dir.join("src")).unwrap();
    fs::write(dir.join("src/main.rs"), "fn main() {}\n").unwrap();
    let dir_name = dir.to_str().unwrap();
    home.run(Path::new("git"), &["-C", dir_name, "init", "-q"]).success();
    dir
}

/// Does what has to be done so that the ids of a request are real.
fn prepare(peer: &mut Peer, id: u64, real: &mut Placeholders) {
    let thread = real.0.iter().find(|(name, _)| *name == "THREAD_ID").map(|(_, id)| id.clone());
    let begin =
        |peer: &mut Peer, steps: Value| peer.turn(thread.as_deref().unwrap(), &script(&steps));
    match id {
        21 => {
            let turn = begin(peer, json!([{ "text": "wait" }, { "hang": true }]));
            real.set("TURN_ID", &turn);
        }
        32 => {
            let write = json!({ "path": "made", "content": "by the agent" });
            begin(peer, json!([{ "tool": "write_file", "args": write }, { "text": "done" }]));
            let asked = peer.wait_told("session/approvalRequested");
            real.set("APPROVAL_ID", asked["approvalId"].as_str().unwrap());
        }
        33 => {
            peer.turn(thread.as_deref().unwrap(), "FAKE_REQUEST_USER_INPUT MOCK_SCRIPT:[]");
            let asked = peer.wait_told("session/userInputRequested");
            assert_eq!(asked["questions"][0]["id"], "choice");
            real.set("REQUEST_ID", asked["requestId"].as_str().unwrap());
        }
        34 => {
            peer.set_mode("plan");
            let plan = json!({ "summary": "do it" });
            begin(peer, json!([{ "tool": "exit_plan_mode", "args": plan }, { "text": "done" }]));
            let asked = peer.wait_told("session/planExitRequested");
            real.set("PLAN_REQUEST_ID", asked["requestId"].as_str().unwrap());
        }
        _ => {}
    }
}

/// Looks at what came of a request, and waits for the end of the turn it belongs to.
fn follow_up(peer: &mut Peer, id: u64, result: &Value, real: &mut Placeholders) {
    match id {
        10 => real.set("THREAD_ID", result["thread"]["id"].as_str().unwrap()),
        20 => {
            let told = peer.until_over(result["turnId"].as_str().unwrap());
            assert_eq!(told.last().unwrap().1["turn"]["status"], "completed");
        }
        22 => {
            let told = peer.until_over(result["turnId"].as_str().unwrap());
            assert_eq!(told.last().unwrap().1["turn"]["status"], "interrupted");
        }
        31 | 45 => {
            let key = if id == 31 { "mode" } else { "default_mode" };
            assert_eq!(result[key], "ask");
        }
        32..=34 => {
            assert_eq!(result["resolved"], true, "{result}");
            let over = peer.wait_told("turn/completed");
            assert_eq!(over["turn"]["status"], "completed", "{over}");
        }
        51 => assert_eq!(result["dataBase64"], "Zm4gbWFpbigpIHt9Cg=="),
        52 => assert_eq!((&result["exitCode"], &result["stderr"]), (&json!(0), &json!(""))),
        62 => {
            let told = peer.until_over(result["turn_id"].as_str().unwrap());
            assert_eq!(told.last().unwrap().1["turn"]["status"], "completed");
        }
        63 => assert_eq!((&result["text"], &result["is_error"]), (&json!("said"), &json!(false))),
        _ => {}
    }
}

#[track_caller]
fn all_requests(peer: &mut Peer, workspace: &Path, spelling: Spelling) {
    let dir = workspace.to_str().unwrap();
    let mut real = Placeholders(Vec::new());
    real.set("/absolute/path/to/workspace", dir);
    real.set("/absolute/path", dir);
    real.set("/absolute/path/to/file.rs", workspace.join("src/main.rs").to_str().unwrap());
    real.set("example_tool", "echo");
    for (text, members) in REQUESTS {
        let mut request: Value = serde_json::from_str(text).unwrap();
        let id = request["id"].as_u64().unwrap();
        prepare(peer, id, &mut real);
        real.fill(&mut request);
        if id == 63 {
            request["params"]["arguments"] = json!({ "text": "said" });
        }
        spelling.apply(&mut request);
        let mut reply = peer.ask_literally(&request);
        assert!(reply.get("error").is_none(), "{spelling:?} {request}: {reply}");
        let result = reply["result"].take();
        for member in *members {
            assert!(result.get(member).is_some(), "{request} has no {member}: {result}");
        }
        follow_up(peer, id, &result, &mut real);
    }
    assert_eq!(fs::read_to_string(workspace.join("made")).unwrap(), "by the agent");
    let turns = peer.stored(real.get("THREAD_ID"))["turns"].as_array().unwrap().len();
    assert_eq!(turns, 6);
}

const SPELLINGS: [Spelling; 3] = [Spelling::AsPrinted, Spelling::Camel, Spelling::Snake];

#[test]
fn every_request_of_the_documentation_works_on_stdio() {
    let daemon = TestDaemon::start();
    let dir = workspace(daemon.home());
    for spelling in SPELLINGS {
        let mut peer = Peer::stdio(daemon.home(), &[]);
        all_requests(&mut peer, &dir, spelling);
        // The server ends when its last client is gone.
        peer.stop_talking();
        peer.wait_server_ended();
    }
}

#[test]
fn every_request_of_the_documentation_works_through_a_websocket() {
    let daemon = TestDaemon::start();
    let dir = workspace(daemon.home());
    let remote = Remote::start(daemon.home(), &[]);
    for spelling in SPELLINGS {
        let mut peer = remote.peer();
        let greeting = peer.call("initialize", json!({}));
        assert_eq!(greeting["remote"]["authenticated"], true, "{greeting}");
        all_requests(&mut peer, &dir, spelling);
    }
}

#[test]
fn a_server_starts_the_daemon_and_answers_what_it_was_asked_before_its_input_ended() {
    let home = Home::new();
    let input = home.join("input");
    fs::write(&input, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n\nnonsense\n")
        .unwrap();
    let mut command = crate::roder_link::roder(&home, &["app-server"]);
    command.stdin(fs::File::open(&input).unwrap());
    let said = rookery_testkit::Finished::of(command).success();
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{said}");
    let answer = |id: Value| lines.iter().find(|line| line["id"] == id).unwrap();
    assert_eq!(answer(json!(1))["result"]["serverInfo"]["name"], "rookery");
    assert_eq!(answer(Value::Null)["error"]["code"], -32700);
    assert!(home.rookery(&["status"]).status.success(), "the daemon goes on");
}
