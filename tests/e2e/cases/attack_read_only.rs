//! Whoever may only read changes nothing, whichever way it is asked to: as a child agent, as a member of a team,
//! as an agent of a workflow, and at every runner. The corpus of hostile commands goes through all of them, and the
//! directory stays as it is, byte by byte.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rookery_testkit::{Home, TestDaemon, git};
use serde_json::{Value, json};

use crate::roder_link::{Peer, script, turn_of};

/// Commands that must not run unasked.
const HOSTILE: &str = include_str!("../../../crates/agent/tests/policy/hostile.txt");
/// Commands that one agent is made to run.
const BATCH: usize = 60;
/// Notes that it was called, and does what it is asked to.
const SHIM: &str = "#!/bin/sh\necho called >>\"$(dirname \"$0\")/../log\"\nfor last; do :; done\nexec sh -c \"$last\"\n";
/// Knows just enough of docker.
const DOCKER: &str = "#!/bin/sh\ncase \"$1\" in version) echo 27;; run) echo abc;; inspect) echo true;; \
    exec) echo called >>\"$(dirname \"$0\")/../log\";; esac\n";

/// One command a line; one of several lines is written as JSON.
pub(crate) fn corpus() -> Vec<String> {
    let lines = HOSTILE.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    let command = |line: &str| match line.strip_prefix("json:") {
        Some(json) => serde_json::from_str(json).unwrap(),
        None => line.to_owned(),
    };
    lines.map(command).collect()
}

/// Everything below a directory: what it is, its permissions, when it was changed, and what is in it.
fn state(dir: &Path) -> BTreeMap<PathBuf, (u32, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut ahead = vec![dir.to_owned()];
    while let Some(path) = ahead.pop() {
        let kind = fs::symlink_metadata(&path).unwrap();
        let mut bytes = Vec::new();
        if kind.is_dir() {
            ahead.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if kind.is_file() {
            fs::File::open(&path).unwrap().read_to_end(&mut bytes).unwrap();
        }
        let at = kind.mtime() * 1_000_000_000 + kind.mtime_nsec();
        found.insert(path, (kind.mode(), at, bytes));
    }
    found
}

struct World {
    daemon: TestDaemon,
    /// What must not change.
    work: PathBuf,
}

impl World {
    fn new() -> World {
        let home = Home::new();
        let config = home.join("config/rookery");
        fs::create_dir_all(&config).unwrap();
        let limits = "[reliability]\nmax_tool_failures_per_turn = 100000\ncontinue_on_failure_limit = true\n\
            [subagents]\nmax_turns = 100\n";
        fs::write(config.join("config.toml"), limits).unwrap();
        for (name, text) in [("bin/far", SHIM), ("bin/docker", DOCKER)] {
            let path = home.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let work = home.join("work");
        fs::create_dir_all(work.join(".roder/agents")).unwrap();
        // It has every tool, and may only read.
        let reader = "---\nname: reader\ndescription: d\npermission_mode: read_only\nmax_turns: 100\n---\nRead.\n";
        fs::write(work.join(".roder/agents/reader.md"), reader).unwrap();
        fs::write(work.join("file"), "one\n").unwrap();
        git(&work, &["init", "-q"]);
        git(&work, &["add", "."]);
        git(&work, &["commit", "-qm", "first"]);
        let work = fs::canonicalize(work).unwrap();
        World { daemon: TestDaemon::start_in(home), work }
    }

    fn peer(&self) -> Peer {
        Peer::to(&self.daemon)
    }

    fn calls(&self) -> usize {
        fs::read_to_string(self.daemon.home().join("log")).unwrap_or_default().lines().count()
    }
}

/// Calls that change files, whatever policy says of commands.
fn edits() -> Vec<Value> {
    let patch = "*** Begin Patch\n*** Delete File: file\n*** Add File: made\n+x\n*** End Patch";
    vec![
        json!({"tool": "write_file", "args": {"path": "file", "content": "x"}}),
        json!({"tool": "edit", "args": {"path": "file", "old_string": "one", "new_string": "2"}}),
        json!({"tool": "apply_patch", "args": {"patch": patch}}),
    ]
}

/// Prompts whose agents try the whole corpus, by each tool that runs commands.
fn prompts() -> Vec<String> {
    let mut calls: Vec<Value> = Vec::new();
    for (at, line) in corpus().into_iter().enumerate() {
        // In turns, so that each of them has its part of every kind of command.
        calls.push(match at % 3 {
            0 => json!({"tool": "exec_command", "args": {"cmd": line}}),
            1 => json!({"tool": "unified_exec", "args": {"input": line}}),
            _ => json!({"tool": "shell", "args": {"command": line}}),
        });
    }
    let batch = |calls: &[Value]| {
        let mut steps: Vec<Value> = calls.chunks(20).map(|part| json!({"tools": part})).collect();
        steps.push(json!({"tools": edits()}));
        steps.push(json!({"text": "tried"}));
        script(&Value::from(steps))
    };
    calls.chunks(BATCH).map(batch).collect()
}

/// A prompt that hands each of these to a child of a kind.
fn delegating(kind: &str, prompts: &[String]) -> String {
    let call = |(at, prompt): (usize, &String)| {
        let args =
            json!({"description": format!("part {at}"), "prompt": prompt, "subagent_type": kind});
        json!({"tool": "task", "args": args, "id": format!("part-{at}")})
    };
    let calls: Vec<Value> = prompts.iter().enumerate().map(call).collect();
    script(&json!([{"tools": calls}, {"text": "all tried"}]))
}

/// Says no to whatever is asked until something happens.
fn refuse_until(peer: &mut Peer, is_over: impl Fn(&str, &Value) -> bool) {
    loop {
        let (name, told) = peer.next().unwrap();
        if name == "session/approvalRequested" {
            let answer = json!({"approvalId": told["approvalId"], "approved": false});
            peer.call("session/resolve_approval", answer);
        }
        if is_over(&name, &told) {
            return;
        }
    }
}

/// The same, until a turn is over.
fn refuse_in(peer: &mut Peer, turn: &str) {
    refuse_until(peer, |name, told| name == "turn/completed" && turn_of(told) == Some(turn));
}

/// What the tools of a thread came to: how many there were, and those that were not refused.
fn outcomes(peer: &mut Peer, thread: &str) -> (usize, Vec<Value>) {
    let turns = peer.stored(thread)["turns"].as_array().unwrap().clone();
    let items = turns.iter().flat_map(|turn| turn["items"].as_array().unwrap().clone());
    let tools: Vec<Value> = items.filter(|item| item["toolName"].is_string()).collect();
    let ran = tools.iter().filter(|item| item["status"] == "completed").cloned().collect();
    (tools.len(), ran)
}

#[test]
fn attack_child_agents_that_may_only_read_change_nothing() {
    let world = World::new();
    let mut peer = world.peer();
    peer.set_mode("bypass");
    let thread = peer.thread(&world.work);
    let before = state(&world.work);
    let prompts = prompts();
    for kind in ["explore", "reader"] {
        let turn = peer.turn(&thread, &delegating(kind, &prompts));
        refuse_in(&mut peer, &turn);
        let params = json!({"threadId": thread, "turnId": turn});
        let traces = peer.call("turn/subagentTraces/list", params)["traces"].take();
        let mut tried = 0;
        for trace in traces.as_array().unwrap() {
            assert_eq!(trace["status"], "completed", "{kind}: {trace}");
            let (count, ran) = outcomes(&mut peer, trace["childThreadId"].as_str().unwrap());
            assert!(ran.is_empty(), "{kind} ran {ran:?}");
            tried += count;
        }
        assert!(tried > corpus().len(), "{kind} tried {tried}");
        assert_eq!(state(&world.work), before, "{kind}");
    }
}

#[test]
fn attack_a_team_member_in_plan_mode_changes_nothing() {
    let world = World::new();
    let mut peer = world.peer();
    peer.set_mode("bypass");
    let lead = peer.thread(&world.work);
    peer.call("session/set_mode", json!({"mode": "plan", "threadId": lead}));
    let start = json!({"leadThreadId": lead, "members": [{"name": "one"}]});
    let team = peer.call("team/start", start)["team"].take();
    assert_eq!(team["members"][1]["policyMode"], "plan");
    let member = team["members"][1]["threadId"].as_str().unwrap().to_owned();
    let before = state(&world.work);
    for prompt in prompts() {
        let message = json!({"teamId": team["id"], "memberId": "member-1", "text": prompt});
        let turn = peer.call("team/member/message", message)["turnId"].as_str().unwrap().to_owned();
        refuse_in(&mut peer, &turn);
    }
    let (tried, ran) = outcomes(&mut peer, &member);
    assert!(tried > corpus().len(), "tried {tried}");
    assert!(ran.is_empty(), "it ran {ran:?}");
    assert_eq!(state(&world.work), before);
}

#[test]
fn attack_agents_of_workflows_that_may_only_read_change_nothing() {
    let world = World::new();
    let mut peer = world.peer();
    // The world allows everything; the thread of the run, and the kind of the agent, do not.
    peer.set_mode("bypass");
    let planning = peer.thread(&world.work);
    peer.call("session/set_mode", json!({"mode": "plan", "threadId": planning}));
    let before = state(&world.work);
    let prompts = json!(prompts());
    for (thread, options) in [
        (Some(&planning), "{}"),
        (Some(&planning), "{ isolation: 'worktree' }"),
        (None, "{ agentType: 'reader' }"),
        (None, "{ agentType: 'explore', isolation: 'worktree' }"),
        (None, "{ lane: 'scout' }"),
        (None, "{ lane: 'reviewer' }"),
    ] {
        let text = format!(
            "export const meta = {{ name: 'test', description: 'd' }}\n\
             return await parallel({prompts}.map((prompt) => () => agent(prompt, {options})))"
        );
        let plan =
            json!({"prompt": "p", "script": text, "workspace": world.work, "threadId": thread});
        let run = peer.call("workflows/plan", plan)["run"]["runId"].as_str().unwrap().to_owned();
        peer.call("workflows/approve", json!({"runId": run, "decision": "runOnce"}));
        refuse_until(&mut peer, |name, _| name == "workflows/completed");
        let get = json!({"runId": run, "includeAgents": true});
        let found = peer.call("workflows/get", get)["run"].take();
        for agent in found["agents"].as_array().unwrap() {
            let Some(thread) = agent["threadId"].as_str() else {
                // No worktree is made for it.
                assert!(agent["error"].as_str().unwrap().contains("plan mode"), "{agent}");
                continue;
            };
            assert_eq!(agent["status"], "completed", "{options}: {agent}");
            let (_, ran) = outcomes(&mut peer, thread);
            assert!(ran.is_empty(), "{options} ran {ran:?}");
        }
        assert_eq!(state(&world.work), before, "{options}");
    }
}

#[test]
fn attack_plan_mode_changes_nothing_at_any_runner() {
    let world = World::new();
    let mut peer = world.peer();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let box_url = format!("http://{}", listener.local_addr().unwrap());
    let far = world.daemon.home().join("far");
    fs::create_dir_all(&far).unwrap();
    let shim = world.daemon.home().join("bin/far");
    let runners = [
        ("unix-local", json!({"root": world.work}), world.work.clone()),
        ("git-worktree", json!({"repo": world.work}), world.work.clone()),
        ("docker", json!({"root": world.work}), PathBuf::from("/workspace")),
        ("ssh", json!({"host": "far", "root": far, "ssh_command": shim}), far.clone()),
        ("hosted-http", json!({"base_url": box_url, "token": "t"}), PathBuf::from("/box")),
    ];
    for (provider, config, workspace) in runners {
        let runner = json!({"providerId": provider, "config": config, "workspace": workspace});
        let params = json!({"modelProvider": "mock", "cwd": world.work, "runner": runner});
        let thread = peer.call("thread/start", params)["thread"].clone();
        let id = thread["id"].as_str().unwrap().to_owned();
        let tree = PathBuf::from(thread["cwd"].as_str().unwrap());
        peer.set_mode("plan");
        let places = [world.work.clone(), far.clone(), tree];
        let before: Vec<_> = places.iter().map(|place| state(place)).collect();
        let calls = world.calls();
        let commands = corpus().into_iter().map(|line| ("shell", json!({"command": line})));
        let edits = edits();
        let edits = edits.iter().map(|one| (one["tool"].as_str().unwrap(), one["args"].clone()));
        for (name, arguments) in commands.chain(edits) {
            let call = json!({"threadId": id, "toolName": name, "arguments": arguments});
            let error = peer.refused("tools/call", call);
            assert_eq!(error["code"], -32004, "{provider}: {arguments}: {error}");
        }
        // A child of such a thread works at the same runner, and is held to the same.
        let prompts = prompts();
        let turn = peer.turn(&id, &delegating("general", &prompts[..1]));
        refuse_in(&mut peer, &turn);
        let after: Vec<_> = places.iter().map(|place| state(place)).collect();
        assert_eq!(after, before, "{provider}");
        assert_eq!(world.calls(), calls, "{provider} ran something");
        peer.set_mode("default");
    }
    assert!(listener.accept().is_err(), "the server of the hosted runner was called");
}
