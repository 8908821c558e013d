//! Every method of extensions, agents, tasks, traces, runners, teams and workflows, and each request of
//! theirs that the documentation shows: over the socket, stdio and a WebSocket, in both spellings, with
//! the same replies.

use std::fs;
use std::path::{Path, PathBuf};

use rookery_testkit::{Home, PATIENCE, TestDaemon, eventually};
use serde_json::{Value, json};

use crate::roder_link::{Peer, script};
use crate::roder_ws::Remote;

/// The methods that have to be called; what is not called fails the test.
const METHODS: &[&str] = &[
    "extensions/list",
    "agents/list",
    "tasks/submit",
    "tasks/list",
    "tasks/get",
    "tasks/cancel",
    "tasks/subscribe",
    "tasks/unsubscribe",
    "turn/subagentTraces/list",
    "turn/subagentTrace/read",
    "runners/list",
    "runners/select",
    "runners/session",
    "runners/snapshot",
    "runners/delete",
    "runners/ports",
    "runners/pause",
    "runners/resume",
    "runners/detach",
    "runners/rejoin",
    "team/start",
    "team/list",
    "team/read",
    "team/member/start",
    "team/member/message",
    "team/member/interrupt",
    "team/member/focus",
    "team/cleanup",
    "team/pane/focus",
    "team/pane/cleanup",
    "workflows/plan",
    "workflows/approve",
    "workflows/list",
    "workflows/get",
    "workflows/pause",
    "workflows/resume",
    "workflows/stop",
    "workflows/restartAgent",
    "workflows/save",
    "workflows/scripts/list",
    "workflows/scripts/read",
    "workflows/scripts/delete",
];

/// Members whose values differ from run to run.
const VOLATILE: &[&str] = &[
    "timestamp",
    "createdAt",
    "updatedAt",
    "startedAt",
    "completedAt",
    "finishedAt",
    "decidedAt",
    "elapsedMs",
    "latestActivity",
    "pid",
    "from",
    "to",
];

/// Members below which names are not ours.
const FOREIGN: &[&str] = &["arguments", "envOverrides", "config"];

/// How the members of params are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    Camel,
    Snake,
}

fn snake(name: &str) -> String {
    name.chars().fold(String::new(), |mut out, letter| {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
        out
    })
}

impl Spelling {
    /// Params, which are written in camelCase here, in this spelling.
    fn of(self, value: Value) -> Value {
        match value {
            Value::Object(members) if self == Spelling::Snake => {
                let members = members.into_iter().map(|(name, value)| {
                    let value = match FOREIGN.contains(&name.as_str()) {
                        true => value,
                        false => self.of(value),
                    };
                    (snake(&name), value)
                });
                Value::Object(members.collect())
            }
            Value::Array(values) => values.into_iter().map(|value| self.of(value)).collect(),
            plain => plain,
        }
    }
}

/// A conversation: what was asked, and what was answered, without what differs from run to run.
struct Talk {
    peer: Peer,
    spelling: Spelling,
    home: PathBuf,
    /// Ids in the order in which they were seen first.
    ids: Vec<String>,
    said: Vec<(String, Value)>,
}

impl Talk {
    /// Asks, notes the answer, and gives it as it is.
    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let mut request = json!({ "jsonrpc": "2.0", "id": 1, "method": method });
        if !params.is_null() {
            request["params"] = self.spelling.of(params);
        }
        self.literally(&request)
    }

    /// The same with a request as the documentation prints it.
    #[track_caller]
    fn literally(&mut self, request: &Value) -> Value {
        let method = request["method"].as_str().unwrap().to_owned();
        let reply = self.peer.ask_literally(request);
        let mut shown = reply.clone();
        shown.as_object_mut().unwrap().remove("id");
        self.plain(None, &mut shown);
        self.said.push((method, shown));
        reply
    }

    #[track_caller]
    fn call(&mut self, method: &str, params: Value) -> Value {
        let mut reply = self.ask(method, params);
        assert!(reply.get("result").is_some(), "{method}: {reply}");
        reply["result"].take()
    }

    #[track_caller]
    fn refused(&mut self, method: &str, params: Value, code: i64) {
        let reply = self.ask(method, params);
        assert_eq!(reply["error"]["code"], code, "{method}: {reply}");
    }

    /// Asks, without noting it, until something is so.
    #[track_caller]
    fn until(&mut self, method: &str, params: &Value, is: impl Fn(&Value) -> bool) -> Value {
        eventually(method, PATIENCE, || {
            let got = self.peer.call(method, params.clone());
            is(&got).then_some(got)
        })
    }

    /// Takes out what differs from run to run.
    fn plain(&mut self, name: Option<&str>, value: &mut Value) {
        let is_volatile = |name: &str| VOLATILE.iter().any(|it| *it == name || snake(it) == name);
        match value {
            _ if name.is_some_and(is_volatile) && !value.is_null() => *value = json!("*"),
            Value::String(text) => *text = self.named(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.plain(None, value)),
            Value::Object(members) => {
                members.iter_mut().for_each(|(name, value)| self.plain(Some(name), value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A text with a name for the home and a number for each id.
    fn named(&mut self, text: &str) -> String {
        let mut text = text.replace(self.home.to_str().unwrap(), "$home");
        let mut from = 0;
        while let Some((at, length)) = id_in(&text[from..]) {
            let at = from + at;
            let id = text[at..at + length].to_owned();
            let number = self.ids.iter().position(|known| *known == id).unwrap_or_else(|| {
                self.ids.push(id);
                self.ids.len() - 1
            });
            let shown = format!("<{number}>");
            text.replace_range(at..at + length, &shown);
            from = at + shown.len();
        }
        text
    }
}

/// Where the first id in a text is: a UUID, 32 hexadecimal digits, or the 16 of a script.
fn id_in(text: &str) -> Option<(usize, usize)> {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let bytes = text.as_bytes();
    let fits = |at: usize, length: usize, is: &dyn Fn(usize, u8) -> bool| {
        let end = at + length;
        end <= bytes.len()
            && bytes[at..end].iter().enumerate().all(|(place, byte)| is(place, *byte))
            && bytes.get(end).is_none_or(|after| !is_hex(*after))
            && (at == 0 || !is_hex(bytes[at - 1]))
    };
    let is_uuid = |place: usize, byte: u8| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => is_hex(byte),
    };
    (0..bytes.len()).find_map(|at| {
        if fits(at, 36, &is_uuid) {
            return Some((at, 36));
        }
        let digits = |length: usize| fits(at, length, &|_, byte| is_hex(byte));
        let is_script = at > 0 && bytes[at - 1] == b':' && digits(16);
        is_script.then_some((at, 16)).or_else(|| digits(32).then_some((at, 32)))
    })
}

fn mock(steps: &Value) -> String {
    script(steps)
}

/// Everything, in one order.
fn converse(peer: Peer, spelling: Spelling, home: &Home) -> Vec<(String, Value)> {
    let dir = home.join("work");
    fs::create_dir_all(&dir).unwrap();
    let (home, dir) = (home.path().to_owned(), fs::canonicalize(dir).unwrap());
    let mut talk = Talk { peer, spelling, home, ids: Vec::new(), said: Vec::new() };
    talk.peer.set_mode("bypass");
    talk.literally(&json!({ "jsonrpc": "2.0", "id": 2, "method": "extensions/list" }));
    talk.literally(&json!({ "jsonrpc": "2.0", "id": 6, "method": "agents/list" }));
    talk.ask("agents/list", json!({ "workspace": dir }));
    tasks(&mut talk, &dir);
    let thread = talk.peer.thread(&dir);
    traces(&mut talk, &thread);
    runners(&mut talk, &dir);
    teams(&mut talk, &thread);
    workflows(&mut talk, &dir);
    let called: Vec<&str> = talk.said.iter().map(|(method, _)| method.as_str()).collect();
    for method in METHODS {
        assert!(called.contains(method), "{method} was not called");
    }
    talk.said
}

fn tasks(talk: &mut Talk, dir: &Path) {
    talk.literally(&json!({ "jsonrpc": "2.0", "id": 64, "method": "tasks/list" }));
    let subscribed = talk.call("tasks/subscribe", json!({ "eventKinds": ["task.completed"] }));
    let inputs = [
        (
            "process",
            json!({ "command": "sh", "args": ["-c", "echo $A"], "envOverrides": { "A": "b" } }),
        ),
        ("process", json!({ "command": "echo", "args": ["shown"], "pty": true })),
        (
            "subagent",
            json!({ "description": "d", "prompt": mock(&json!([{ "text": "done" }])), "subagentType": "explore" }),
        ),
        (
            "dynamic-workflow",
            json!({ "runId": "of-a-task", "arguments": { "myKey": 1 }, "script": {
            "hostApiVersion": 1,
            "body": "export const meta = { name: 'of-a-task', description: 'd' }\nreturn 'got ' + args.myKey",
        } }),
        ),
    ];
    for (executor, input) in inputs {
        let params = json!({ "executorId": executor, "input": input, "workspace": dir, "timeoutSeconds": 60 });
        let id = talk.call("tasks/submit", params)["task"]["taskId"].take();
        let told = talk.peer.until(|name, told| name == "task.completed" && told["taskId"] == id);
        assert!(told.last().is_some());
        // Its terminal is closed once its end is recorded.
        let shown = json!({ "taskId": id });
        talk.until("tasks/get", &shown, |got| got["task"]["terminalId"].is_null());
        talk.call("tasks/get", json!({ "taskId": id, "afterSeq": 0 }));
        talk.call("tasks/cancel", json!({ "taskId": id }));
    }
    talk.call("tasks/list", json!({ "state": "completed", "limit": 2 }));
    talk.refused("tasks/get", json!({ "taskId": "none" }), -32602);
    talk.call("tasks/unsubscribe", json!({ "subscriptionId": subscribed["subscriptionId"] }));
}

fn traces(talk: &mut Talk, thread: &str) {
    let child = mock(&json!([{ "text": "found" }]));
    let args = json!({ "description": "look", "prompt": child, "subagent_type": "explore" });
    let steps = json!([{ "tool": "task", "args": args, "id": "part" }, { "text": "so" }]);
    let turn = talk.peer.turn(thread, &mock(&steps));
    talk.peer.until_over(&turn);
    let params = json!({ "threadId": thread, "turnId": turn });
    let listed = talk.literally(&json!({ "jsonrpc": "2.0", "id": 72, "method": "turn/subagentTraces/list", "params": params }));
    let listed = talk.spelled_again("turn/subagentTraces/list", params, &listed);
    let trace = listed["result"]["traces"][0]["traceId"].clone();
    let params = json!({ "threadId": thread, "traceId": trace, "itemIndex": 0, "textOffset": 0 });
    talk.call("turn/subagentTrace/read", json!({ "threadId": thread, "traceId": trace }));
    talk.call("turn/subagentTrace/read", params);
}

impl Talk {
    /// Asks the same in this conversation's spelling, and expects the same.
    #[track_caller]
    fn spelled_again(&mut self, method: &str, params: Value, reply: &Value) -> Value {
        let again = self.ask(method, params);
        assert_eq!(again["result"], reply["result"], "{method}");
        again
    }
}

fn runners(talk: &mut Talk, dir: &Path) {
    talk.call("runners/list", Value::Null);
    talk.call("runners/session", Value::Null);
    talk.call("runners/snapshot", Value::Null);
    talk.call("runners/ports", Value::Null);
    talk.refused("runners/select", json!({ "destinationId": "box", "providerId": "none" }), -32602);
    let select =
        json!({ "destinationId": "box", "providerId": "unix-local", "config": { "root": dir } });
    talk.call("runners/select", select);
    talk.call("runners/session", json!({ "ensure": true }));
    talk.call("runners/snapshot", json!({ "label": "now" }));
    talk.call("runners/ports", json!({ "action": "expose", "port": 4711, "label": "web" }));
    talk.call("runners/ports", json!({ "action": "close", "port": 4711 }));
    talk.call("runners/delete", json!({ "destinationId": "box", "force": false }));
    let runner = json!({ "providerId": "unix-local", "workspace": dir });
    let started =
        talk.peer.call("thread/start", json!({ "modelProvider": "mock", "runner": runner }));
    let thread = json!({ "threadId": started["thread"]["id"] });
    talk.call("runners/pause", thread.clone());
    talk.call("runners/resume", thread.clone());
    talk.refused("runners/detach", thread.clone(), -32602);
    talk.refused("runners/rejoin", thread.clone(), -32602);
    talk.peer.call("thread/delete", thread);
}

fn teams(talk: &mut Talk, lead: &str) {
    let params = json!({ "leadThreadId": lead, "members": [{ "name": "reviewer" }] });
    let request = json!({ "jsonrpc": "2.0", "id": 70, "method": "team/start", "params": params });
    let team = talk.literally(&request)["result"]["team"]["id"].take();
    talk.literally(
        &json!({ "jsonrpc": "2.0", "id": 71, "method": "team/list", "params": { "limit": 10 } }),
    );
    let other = talk.call("team/start", json!({ "members": [], "displayMode": "in-process" }));
    talk.call("team/cleanup", json!({ "teamId": other["team"]["id"], "force": true }));
    let member = talk.call(
        "team/member/start",
        json!({ "teamId": team, "name": "second", "modelProvider": "mock" }),
    );
    let member = member["member"]["id"].clone();
    let of_member = json!({ "teamId": team, "memberId": member });
    let mut message = of_member.clone();
    message["text"] = json!(mock(&json!([{ "text": "answered" }])));
    talk.call("team/member/message", message);
    let one = json!({ "teamId": team });
    talk.until("team/read", &one, |read| read["team"]["members"][2]["status"] == "completed");
    talk.call("team/read", one.clone());
    talk.call("team/member/interrupt", of_member.clone());
    talk.call("team/member/focus", of_member);
    talk.refused("team/pane/focus", one.clone(), -32601);
    talk.refused("team/pane/cleanup", one.clone(), -32601);
    talk.call("team/cleanup", one);
}

fn workflows(talk: &mut Talk, dir: &Path) {
    talk.literally(&json!({ "jsonrpc": "2.0", "id": 84, "method": "workflows/list", "params": { "limit": 10 } }));
    let [answers, hangs] =
        [json!([{ "text": "one" }]), json!([{ "hang": true }])].map(|steps| json!(mock(&steps)));
    let text = |name: &str, body: &str| {
        format!("export const meta = {{ name: '{name}', description: 'd' }}\n{body}")
    };
    let plan = |name: &str, body: &str| json!({ "prompt": "go", "workspace": dir, "arguments": { "myKey": 1 }, "script": text(name, body) });
    let planned =
        talk.call("workflows/plan", plan("short", &format!("return await agent({answers})")));
    let run = json!({ "runId": planned["run"]["runId"] });
    let decided = json!({ "runId": run["runId"], "decision": "alwaysForScriptAndWorkspace", "reason": "fine" });
    talk.ask_settled("workflows/approve", decided);
    talk.until("workflows/get", &run, |got| got["run"]["status"] == "completed");
    talk.call(
        "workflows/get",
        json!({ "runId": run["runId"], "includeScriptBody": true, "includeAgents": true }),
    );
    talk.ask_settled(
        "workflows/restartAgent",
        json!({ "runId": run["runId"], "agentId": "agent-1" }),
    );
    talk.until("workflows/get", &run, |got| got["run"]["status"] == "completed");
    talk.call(
        "workflows/save",
        json!({ "runId": run["runId"], "name": "short", "scope": "user", "overwrite": true }),
    );
    let listed = talk.call(
        "workflows/scripts/list",
        json!({ "workspace": dir, "includeUser": true, "includeBuiltin": true }),
    );
    assert!(listed["scripts"].as_array().unwrap().len() >= 2, "{listed}");
    let read = talk.call(
        "workflows/scripts/read",
        json!({ "name": "short", "source": "user", "workspace": dir, "includeBody": true }),
    );
    talk.call(
        "workflows/scripts/delete",
        json!({ "scriptId": read["script"]["scriptId"], "deleteFile": true }),
    );
    let planned =
        talk.call("workflows/plan", plan("long", &format!("return await agent({hangs})")));
    let run = json!({ "runId": planned["run"]["runId"] });
    talk.ask_settled("workflows/approve", json!({ "runId": run["runId"], "decision": "runOnce" }));
    let agents = json!({ "runId": run["runId"], "includeAgents": true });
    let works = |got: &Value| got["run"]["agents"][0]["status"] == "running";
    talk.until("workflows/get", &agents, works);
    talk.call(
        "workflows/pause",
        json!({ "runId": run["runId"], "cancelRunningAgents": false, "reason": "wait" }),
    );
    talk.call("workflows/resume", run.clone());
    talk.call("workflows/stop", json!({ "runId": run["runId"], "reason": "enough" }));
    talk.refused("workflows/resume", run.clone(), -32000);
    talk.call("workflows/list", json!({ "includeTerminal": true, "limit": 10 }));
}

impl Talk {
    /// Asks something whose reply shows a run that goes on meanwhile: only that it was done is noted.
    #[track_caller]
    fn ask_settled(&mut self, method: &str, params: Value) {
        let reply = self.ask(method, params);
        assert!(reply.get("result").is_some(), "{method}: {reply}");
        self.said.last_mut().unwrap().1 = json!("done");
    }
}

/// The same conversation, each time with a daemon of its own.
fn over(transport: &str, spelling: Spelling) -> Vec<(String, Value)> {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    match transport {
        "socket" => converse(Peer::to(&daemon), spelling, home),
        "stdio" => converse(Peer::stdio(home, &[]), spelling, home),
        _ => {
            let remote = Remote::start(home, &[]);
            converse(remote.peer(), spelling, home)
        }
    }
}

#[test]
fn every_family_says_the_same_over_every_transport_and_in_both_spellings() {
    let first = over("socket", Spelling::Camel);
    for (transport, spelling) in [
        ("socket", Spelling::Snake),
        ("stdio", Spelling::Camel),
        ("stdio", Spelling::Snake),
        ("websocket", Spelling::Camel),
        ("websocket", Spelling::Snake),
    ] {
        let other = over(transport, spelling);
        assert_eq!(first.len(), other.len(), "{transport} {spelling:?}");
        for ((method, one), (_, another)) in first.iter().zip(&other) {
            assert_eq!(one, another, "{method} over {transport}, {spelling:?}");
        }
    }
}
