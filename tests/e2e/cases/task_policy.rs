//! Background tasks against the corpus of commands: neither plan mode nor an agent that only reads lets one
//! change anything, by whichever executor and at whichever runner.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rookery_testkit::{PATIENCE, TestDaemon, eventually};
use serde_json::{Value, json};

use crate::hosted_server::HostedServer;
use crate::roder_link::{Peer, script};
use crate::roder_policy::{HOSTILE, Scratch, corpus};
use crate::runners::{repository, shim};

/// Tools that one step of an agent calls at once.
const AT_ONCE: usize = 25;

/// A person who denies whatever is asked, except that a workflow may run.
struct Denier {
    is_over: Arc<AtomicBool>,
    at_work: Option<JoinHandle<()>>,
}

impl Denier {
    fn new(daemon: &TestDaemon) -> Denier {
        let mut peer = Peer::to(daemon);
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let at_work = thread::spawn(move || {
            while let Some((name, told)) = peer.next() {
                if over.load(Ordering::Acquire) {
                    return;
                }
                if name == "session/approvalRequested" {
                    let approved = told["toolName"] == "workflow";
                    let answer = json!({ "approvalId": told["approvalId"], "approved": approved });
                    peer.call("session/resolve_approval", answer);
                }
            }
        });
        Denier { is_over, at_work: Some(at_work) }
    }

    /// Ends with the next notification, which this makes happen.
    fn end(mut self, peer: &mut Peer) {
        self.is_over.store(true, Ordering::Release);
        peer.set_mode("default");
        peer.set_mode("plan");
        self.at_work.take().unwrap().join().unwrap();
    }
}

#[track_caller]
fn assert_denied(peer: &mut Peer, input: Value, scratch: &Scratch, mode: &str) {
    let shown = input.to_string();
    let params = json!({ "executorId": "process", "input": input, "workspace": scratch.work });
    let error = peer.refused("tasks/submit", params);
    assert_eq!(error["code"], -32004, "{shown}: {error}");
    let kind = error["data"]["kind"].as_str().unwrap();
    assert!(["policy_denied", "approval_denied"].contains(&kind), "{shown}: {error}");
    assert_eq!(error["data"]["mode"], mode, "{shown}: {error}");
}

fn shell(command: &str) -> Value {
    json!({ "command": "sh", "args": ["-c", command] })
}

/// The answer of an agent's task, once it is over.
#[track_caller]
fn run_task(peer: &mut Peer, executor: &str, input: Value, scratch: &Scratch) -> Value {
    let params = json!({ "executorId": executor, "input": input, "workspace": scratch.work });
    submitted(peer, params)
}

/// What came of a task, once it is over.
#[track_caller]
fn submitted(peer: &mut Peer, params: Value) -> Value {
    let id = peer.call("tasks/submit", params)["task"]["taskId"].take();
    eventually("the task ends", PATIENCE, || {
        let got = peer.call("tasks/get", json!({ "taskId": id }));
        (!matches!(got["task"]["state"].as_str(), Some("queued" | "running"))).then_some(got)
    })
}

/// Prompts of agents that try all these commands, and to write files.
fn prompts(commands: &[String]) -> Vec<String> {
    let call = |command: &String| json!({ "tool": "shell", "args": { "command": command } });
    let write = json!({ "tool": "write_file", "args": { "path": "new", "content": "x" } });
    let edit = json!({ "tool": "edit", "args": { "path": "a.txt", "old_string": "a:1", "new_string": "b" } });
    let chunks = commands.chunks(AT_ONCE).map(|some| {
        let mut calls: Vec<Value> = some.iter().map(call).collect();
        calls.extend([write.clone(), edit.clone()]);
        script(&json!([{ "tools": calls }, { "text": "done" }]))
    });
    chunks.collect()
}

/// All tool calls of the thread of an agent: each was refused.
#[track_caller]
fn assert_all_refused(peer: &mut Peer, payload: &Value) {
    let thread = payload["thread_id"].as_str().unwrap();
    let stored = peer.stored(thread);
    let turns = stored["turns"].as_array().unwrap();
    let items = turns.iter().flat_map(|turn| turn["items"].as_array().unwrap());
    let tools: Vec<&Value> = items.filter(|item| item["type"] == "toolExecution").collect();
    assert!(tools.len() > 2, "{stored}");
    for tool in tools {
        assert_eq!(tool["status"], "failed", "{tool}");
    }
}

#[test]
fn attack_no_task_changes_anything_in_plan_mode() {
    let daemon = TestDaemon::start();
    let scratch = Scratch::new(daemon.home());
    let mut peer = Peer::to(&daemon);
    let denier = Denier::new(&daemon);
    let before = scratch.state();
    peer.set_mode("plan");
    let commands = corpus(HOSTILE);
    for command in &commands {
        assert_denied(&mut peer, shell(command), &scratch, "plan");
    }
    for command in commands.iter().step_by(9) {
        let mut input = shell(command);
        input["pty"] = json!(true);
        assert_denied(&mut peer, input, &scratch, "plan");
        assert_denied(
            &mut peer,
            json!({ "command": "bash", "args": ["-lc", command] }),
            &scratch,
            "plan",
        );
    }
    assert_eq!(peer.call("tasks/list", json!({}))["tasks"], json!([]), "nothing was accepted");
    assert_eq!(daemon.client().terminals(), Vec::<Value>::new(), "nothing was even started");
    assert!(scratch.state() == before, "something changed");
    // Agents of tasks and of workflows may look, and no more.
    for (number, prompt) in prompts(&commands).into_iter().enumerate() {
        let input = json!({ "description": "try it", "prompt": prompt });
        let done = run_task(&mut peer, "subagent", input, &scratch);
        assert_eq!(done["task"]["state"], "completed", "{done}");
        assert_all_refused(&mut peer, &done["payload"]);
        let body = format!(
            "export const meta = {{ name: 'try', description: 'd' }}\nreturn await agent({})",
            json!(prompt)
        );
        let input = json!({ "runId": format!("try-{number}"), "script": { "body": body } });
        let done = run_task(&mut peer, "dynamic-workflow", input, &scratch);
        assert_eq!(done["payload"]["report"], "done", "{done}");
    }
    denier.end(&mut peer);
    assert!(scratch.state() == before, "an agent changed something");
}

#[test]
fn attack_an_agent_of_a_task_has_the_mode_of_the_thread_it_is_for() {
    let daemon = TestDaemon::start();
    let scratch = Scratch::new(daemon.home());
    let mut peer = Peer::to(&daemon);
    let before = scratch.state();
    peer.set_mode("bypass");
    let thread = peer.thread(&scratch.work);
    peer.call("session/set_mode", json!({ "threadId": thread, "mode": "plan" }));
    let write = json!({ "tool": "write_file", "args": { "path": "new", "content": "x" } });
    let prompt =
        script(&json!([{ "tools": [write.clone(), write.clone(), write] }, { "text": "done" }]));
    let input = json!({ "description": "try it", "prompt": prompt });
    for lifetime in ["thread", "server"] {
        let params = json!({ "executorId": "subagent", "input": input, "workspace": scratch.work,
            "threadId": thread, "lifetime": lifetime });
        let done = submitted(&mut peer, params);
        assert_eq!(done["task"]["state"], "completed", "{done}");
        assert_all_refused(&mut peer, &done["payload"]);
    }
    assert!(scratch.state() == before, "plan mode of a thread did not hold for its task");
}

#[test]
fn attack_an_agent_that_only_reads_changes_nothing_in_any_mode() {
    let daemon = TestDaemon::start();
    let scratch = Scratch::new(daemon.home());
    let mut peer = Peer::to(&daemon);
    let before = scratch.state();
    peer.set_mode("bypass");
    let commands = corpus(HOSTILE);
    for prompt in prompts(&commands) {
        // One has no shell at all, the others are held to reading.
        for more in [
            json!({ "subagent_type": "explore" }),
            json!({ "lane": "scout" }),
            json!({ "lane": "reviewer" }),
        ] {
            let mut input = json!({ "description": "try it", "prompt": prompt });
            input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let done = run_task(&mut peer, "subagent", input, &scratch);
            assert_eq!(done["task"]["state"], "completed", "{done}");
            assert_all_refused(&mut peer, &done["payload"]);
        }
    }
    // The same for children that a turn starts.
    let thread = peer.thread(&scratch.work);
    for prompt in prompts(&commands).into_iter().take(3) {
        let args = json!({ "description": "try it", "prompt": prompt, "subagent_type": "explore" });
        let turn = peer
            .turn(&thread, &script(&json!([{ "tool": "task", "args": args }, { "text": "so" }])));
        peer.until_over(&turn);
    }
    assert!(scratch.state() == before, "an agent that only reads changed something");
}

/// A client of docker whose daemon seems to be there; gives the file that exists once it was asked for more.
fn docker(daemon: &TestDaemon) -> PathBuf {
    let (bin, asked) = (daemon.home().join("bin"), daemon.home().join("docked"));
    fs::create_dir_all(&bin).unwrap();
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = version ] && echo 27.0 && exit 0\ntouch '{}'\nexit 1\n",
        asked.display()
    );
    let client = bin.join("docker");
    fs::write(&client, text).unwrap();
    fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
    asked
}

#[test]
fn attack_no_task_reaches_a_runner_in_plan_mode() {
    let daemon = TestDaemon::start();
    let scratch = Scratch::new(daemon.home());
    let mut peer = Peer::to(&daemon);
    let denier = Denier::new(&daemon);
    let (shim, far) = shim(&daemon);
    let repo = repository(&daemon);
    let server = HostedServer::start(far.clone());
    let docked = docker(&daemon);
    let before = scratch.state();
    peer.set_mode("plan");
    let runners = [
        ("unix-local", json!({ "root": scratch.work })),
        ("git-worktree", json!({ "repo": repo })),
        ("ssh", json!({ "host": "far", "root": far, "ssh_command": shim })),
        ("docker", json!({ "image": "alpine:3", "root": scratch.work })),
        ("hosted-http", json!({ "base_url": server.url })),
    ];
    for (provider, config) in runners {
        let select = json!({ "destinationId": provider, "config": config });
        peer.call("runners/select", select);
        for command in &corpus(HOSTILE) {
            let params = json!({ "executorId": "process", "input": shell(command) });
            let error = peer.refused("tasks/submit", params);
            assert_eq!(error["code"], -32004, "{provider}: {command}: {error}");
        }
        assert_eq!(peer.call("runners/list", json!({}))["sessions"], json!([]), "{provider}");
    }
    denier.end(&mut peer);
    assert!(scratch.state() == before);
    assert_eq!(fs::read_dir(&far).unwrap().count(), 0);
    assert!(!daemon.home().join("log").exists(), "the other machine was reached");
    assert!(!docked.exists(), "a container was started");
    assert_eq!(server.count(""), 0, "the server was reached");
}

#[test]
fn attack_a_thread_in_plan_mode_holds_its_tasks_to_it() {
    let daemon = TestDaemon::start();
    let scratch = Scratch::new(daemon.home());
    let mut peer = Peer::to(&daemon);
    peer.set_mode("bypass");
    let thread = peer.thread(&scratch.work);
    peer.call("session/set_mode", json!({ "mode": "plan", "threadId": thread }));
    let before = scratch.state();
    let params = json!({
        "executorId": "process", "input": { "command": "touch", "args": ["new"] },
        "workspace": scratch.work, "threadId": thread,
    });
    let error = peer.refused("tasks/submit", params);
    assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32004), &json!("policy_denied")));
    assert!(scratch.state() == before);
}
