//! Every request that the documentation of the Roder protocol shows, over stdio, the socket and a
//! WebSocket, in both spellings of its params; and every method that it names.

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
    (r#"{"jsonrpc":"2.0","id":64,"method":"tasks/list"}"#, &["tasks"]),
    (
        r#"{"jsonrpc":"2.0","id":70,"method":"team/start","params":{"leadThreadId":"THREAD_ID","members":[{"name":"reviewer"}]}}"#,
        &["team"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":71,"method":"team/list","params":{"limit":10}}"#,
        &["data", "nextCursor"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":72,"method":"turn/subagentTraces/list","params":{"threadId":"THREAD_ID","turnId":"TURN_ID"}}"#,
        &["traces"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":80,"method":"memory/query","params":{"scope":"project","text":"release process","limit":5,"includeGlobal":true}}"#,
        &["results"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":81,"method":"media/list","params":{"threadId":"THREAD_ID"}}"#,
        &["artifacts"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":82,"method":"hunk/list","params":{"threadId":"THREAD_ID","turnId":"TURN_ID"}}"#,
        &["hunks"],
    ),
    (
        r#"{"jsonrpc":"2.0","id":83,"method":"git/changes/list","params":{"workspace":"/absolute/path/to/workspace"}}"#,
        &[
            "repositoryRoot",
            "branch",
            "baseRef",
            "baseSha",
            "headSha",
            "files",
            "totals",
            "truncated",
        ],
    ),
    (r#"{"jsonrpc":"2.0","id":84,"method":"workflows/list","params":{"limit":10}}"#, &["runs"]),
    (r#"{"jsonrpc":"2.0","id":90,"method":"marketplaces/list"}"#, &["marketplaces"]),
    (
        r#"{"jsonrpc":"2.0","id":91,"method":"marketplaces/search","params":{"query":"rust"}}"#,
        &["plugins"],
    ),
    (r#"{"jsonrpc":"2.0","id":92,"method":"plugins/list_installed"}"#, &["plugins"]),
];

/// The methods that the documentation names, by area; the last four are what it calls the script methods
/// of `workflows/*`.
const METHODS: &str = "
    initialize
    extensions/list providers/list model/list tools/list agents/list
    providers/configure providers/select
    auth/codex/login auth/codex/status auth/codex/logout
    auth/supergrok/login auth/supergrok/status auth/supergrok/logout
    settings/get settings/set_web_search settings/set_default_mode
    thread/start thread/list thread/read turn/start turn/steer turn/interrupt
    session/get session/set_mode session/exit_plan session/resolve_approval session/resolve_user_input
    fs/readFile fs/readDirectory command/exec commands/list commands/expand commands/run tools/call
    runners/list runners/select runners/session runners/snapshot runners/delete runners/ports
    tasks/submit tasks/list tasks/get tasks/cancel tasks/subscribe
    team/start team/list team/read team/member/start team/member/message team/member/interrupt
    team/member/focus team/cleanup team/pane/focus team/pane/cleanup
    turn/subagentTraces/list turn/subagentTrace/read
    plan/review/read plan/review/comment plan/review/rewrite plan/review/approve plan/review/reject
    git/changes/list git/changes/read workspace/changes/list hunk/list hunk/read hunk/rollback
    workflow/scan workflow/preview workflow/enable workflow/ignore workflow/refresh workflow/remove
    workflows/plan workflows/approve workflows/list workflows/get workflows/pause workflows/resume
    workflows/stop workflows/restartAgent
    marketplaces/list marketplaces/install_default marketplaces/add marketplaces/remove
    marketplaces/refresh marketplaces/search marketplaces/plugin
    plugins/preview_install plugins/install plugins/install_all_variants plugins/list_installed
    plugins/disable plugins/uninstall
    media/list media/read media/thumbnail media/delete media/attachToTurn
    memory/list memory/read memory/save memory/update memory/delete memory/query
    memory/provider/list memory/provider/set memory/recall/preview
    workflows/save workflows/scripts/list workflows/scripts/read workflows/scripts/delete";

/// Those of them that are always refused here, with what to call instead.
const REFUSED: &[&str] = &["team/pane/focus", "team/pane/cleanup"];

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
        70 => {
            let names = result["team"]["members"].as_array().unwrap().iter();
            let names: Vec<&Value> = names.map(|member| &member["name"]).collect();
            assert_eq!(names, ["lead", "reviewer"]);
        }
        83 => assert_eq!(result["files"][0]["status"], "untracked", "{result}"),
        90 => assert_eq!(result["marketplaces"].as_array().unwrap().len(), 3, "{result}"),
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

#[test]
fn every_method_that_the_documentation_names_is_served_and_described() {
    let daemon = TestDaemon::start();
    let named: Vec<&str> = METHODS.split_whitespace().collect();
    assert_eq!(named.len(), 110 + 4);
    let schema = daemon.rookery(&["schema", "--dialect", "roder"]).json();
    let mut peer = Peer::to(&daemon);
    for (id, method) in (1000..).zip(named) {
        let described = &schema["methods"][method];
        assert!(described["params"].is_object() && described["result"].is_object(), "{method}");
        // Without params: what needs some says so.
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        let reply = peer.ask_literally(&request);
        let is_refused = REFUSED.contains(&method);
        assert_eq!(reply["error"]["code"] == -32601, is_refused, "{method}: {reply}");
        if is_refused {
            let instead = &reply["error"]["data"]["supportedAlternative"];
            assert_eq!(instead, "team/member/focus", "{reply}");
        }
    }
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
fn every_request_of_the_documentation_works_on_the_socket() {
    let daemon = TestDaemon::start();
    let dir = workspace(daemon.home());
    for spelling in SPELLINGS {
        all_requests(&mut Peer::to(&daemon), &dir, spelling);
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
