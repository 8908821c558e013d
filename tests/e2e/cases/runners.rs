//! Threads that work at runners: a worktree, and another machine behind a shim. The daemon is killed meanwhile.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rookery_testkit::{PATIENCE, TestDaemon, git, wait_until};
use serde_json::{Value, json};

use crate::attack_read_only::corpus;
use crate::roder_link::Peer;

/// Runs what it is given in a shell of this machine, as the other side would.
const SHIM: &str = "#!/bin/sh\necho called >>\"$(dirname \"$0\")/log\"\nfor last; do :; done\nexec sh -c \"$last\"\n";

pub(crate) fn repository(daemon: &TestDaemon) -> PathBuf {
    let repo = daemon.home().join("repo");
    fs::create_dir_all(&repo).unwrap();
    git(&repo, &["init", "-q"]);
    fs::write(repo.join("file"), "one\n").unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "first"]);
    fs::canonicalize(repo).unwrap()
}

/// A client of ssh that goes nowhere, and the directory it leads to.
pub(crate) fn shim(daemon: &TestDaemon) -> (PathBuf, PathBuf) {
    let far = daemon.home().join("far");
    fs::create_dir_all(&far).unwrap();
    let far = fs::canonicalize(far).unwrap();
    let shim = daemon.home().join("ssh-shim");
    fs::write(&shim, SHIM).unwrap();
    fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
    (shim, far)
}

fn start(peer: &mut Peer, runner: Value) -> Value {
    peer.call("thread/start", json!({"modelProvider": "mock", "runner": runner}))["thread"].clone()
}

fn tool(peer: &mut Peer, thread: &str, name: &str, arguments: Value) -> Value {
    peer.call("tools/call", json!({"threadId": thread, "toolName": name, "arguments": arguments}))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[track_caller]
fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z")
}

/// Starts a command that never ends by itself, and gives its number.
fn endless(peer: &mut Peer, thread: &str, place: &Path) -> String {
    let command = json!({"command": "echo $$ >pid.new; mv pid.new pid; exec sleep 1000"});
    peer.post("tools/call", json!({"threadId": thread, "toolName": "shell", "arguments": command}));
    let file = place.join("pid");
    wait_until("the command runs", PATIENCE, || file.exists());
    fs::read_to_string(file).unwrap()
}

#[test]
fn a_worktree_is_found_again_after_a_kill_and_no_command_outlives_it() {
    let mut daemon = TestDaemon::start();
    let repo = repository(&daemon);
    let mut peer = Peer::to(&daemon);
    peer.set_mode("bypass");
    let runner = json!({"providerId": "git-worktree", "config": {"repo": repo}, "workspace": repo});
    let thread = start(&mut peer, runner);
    let id = text(&thread["id"]).to_owned();
    let tree = PathBuf::from(text(&thread["cwd"]));
    assert_ne!(tree, repo);
    tool(&mut peer, &id, "write_file", json!({"path": "made", "content": "there"}));
    assert_eq!(fs::read_to_string(tree.join("made")).unwrap(), "there");
    assert!(!repo.join("made").exists());
    let listed =
        tool(&mut peer, &id, "shell", json!({"command": "git branch --show-current; pwd"}));
    let said = listed.to_string();
    assert!(said.contains("rookery/") && said.contains(text(&thread["cwd"])), "{said}");
    let pid = endless(&mut peer, &id, &tree);
    daemon.kill9();
    daemon.restart();
    wait_until("the command is gone", PATIENCE, || !is_alive(&pid));
    let mut peer = Peer::to(&daemon);
    peer.set_mode("bypass");
    let again = peer.call("thread/read", json!({"threadId": id}))["thread"].clone();
    assert_eq!(again["runner"]["sessionId"], thread["runner"]["sessionId"]);
    let read = tool(&mut peer, &id, "read_file", json!({"path": "made"}));
    assert!(read.to_string().contains("there"), "{read}");
    // Uncommitted work stays when the thread goes, and is told of.
    peer.call("thread/delete", json!({"threadId": id}));
    assert_eq!(fs::read_to_string(tree.join("made")).unwrap(), "there");
    assert_eq!(peer.call("runners/list", json!({}))["sessions"], json!([]));
}

#[test]
fn threads_of_one_id_work_each_where_it_meant_when_they_began() {
    let mut daemon = TestDaemon::start();
    let mut peer = Peer::to(&daemon);
    peer.set_mode("bypass");
    let repo = repository(&daemon);
    let other = daemon.home().join("other");
    git(daemon.home().path(), &["clone", "-q", text(&json!(repo)), text(&json!(other))]);
    fs::write(other.join("file"), "elsewhere\n").unwrap();
    git(&other, &["commit", "-qam", "second"]);
    let threads: Vec<String> = [&repo, &other]
        .iter()
        .map(|repo| {
            let select = json!({"destinationId": "git-worktree", "config": {"repo": repo}});
            assert_eq!(peer.call("runners/select", select)["active"]["sessionId"], json!(null));
            let new = peer.call("thread/start", json!({"modelProvider": "mock"}));
            assert_eq!(new["thread"]["runner"]["destinationId"], "git-worktree", "{new}");
            text(&new["thread"]["id"]).to_owned()
        })
        .collect();
    let are_in_other = |peer: &mut Peer| -> Vec<bool> {
        let mut read = |thread: &String| tool(peer, thread, "read_file", json!({"path": "file"}));
        threads.iter().map(|thread| read(thread).to_string().contains("elsewhere")).collect()
    };
    assert_eq!(are_in_other(&mut peer), [false, true]);
    let listed = peer.call("runners/list", json!({}));
    let sessions: Vec<&Value> =
        listed["sessions"].as_array().unwrap().iter().map(|it| &it["destinationId"]).collect();
    assert_eq!(sessions, ["git-worktree"; 2]);
    daemon.kill9();
    drop(peer);
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    assert_eq!(are_in_other(&mut peer), [false, true]);
    // Selected as it was first, it is the first again.
    let select = json!({"destinationId": "git-worktree", "config": {"repo": repo}});
    let again = peer.call("runners/select", select);
    assert_eq!(again["active"]["sessionId"], listed["sessions"][0]["sessionId"], "{again}");
    assert_eq!(are_in_other(&mut peer), [false, true]);
}

#[test]
fn a_worktree_without_its_thread_goes_after_a_kill_unless_there_is_work_in_it() {
    let mut daemon = TestDaemon::start();
    let repo = repository(&daemon);
    let mut peer = Peer::to(&daemon);
    // Kept in memory only, so that a kill leaves the runner alone.
    let mut begin = || {
        let runner =
            json!({"providerId": "git-worktree", "config": {"repo": repo}, "workspace": repo});
        let params = json!({"modelProvider": "mock", "ephemeral": true, "runner": runner});
        PathBuf::from(text(&peer.call("thread/start", params)["thread"]["cwd"]))
    };
    let (unchanged, changed) = (begin(), begin());
    fs::write(changed.join("made"), "x").unwrap();
    daemon.kill9();
    drop(peer);
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    wait_until("the unchanged one is gone", PATIENCE, || !unchanged.exists());
    wait_until("no session is left", PATIENCE, || {
        peer.call("runners/list", json!({}))["sessions"] == json!([])
    });
    assert_eq!(fs::read_to_string(changed.join("made")).unwrap(), "x");
    wait_until("its branch is gone too", PATIENCE, || {
        git(&repo, &["branch", "--list", "rookery/*"]).lines().count() == 1
    });
    let trees = git(&repo, &["worktree", "list", "--porcelain"]);
    assert!(trees.contains(changed.to_str().unwrap()), "{trees}");
}

#[test]
fn tools_work_on_the_other_machine_and_never_here_instead() {
    let mut daemon = TestDaemon::start();
    let (shim, far) = shim(&daemon);
    let mut peer = Peer::to(&daemon);
    peer.set_mode("bypass");
    let runner = json!({
        "providerId": "ssh", "workspace": far,
        "config": {"host": "far", "root": far, "ssh_command": shim},
    });
    let thread = start(&mut peer, runner);
    let id = text(&thread["id"]).to_owned();
    let here = PathBuf::from(text(&thread["cwd"]));
    tool(&mut peer, &id, "write_file", json!({"path": "src/a.txt", "content": "one\ntwo\n"}));
    tool(
        &mut peer,
        &id,
        "edit",
        json!({"path": "src/a.txt", "old_string": "two", "new_string": "2"}),
    );
    assert_eq!(fs::read_to_string(far.join("src/a.txt")).unwrap(), "one\n2\n");
    assert!(!here.join("src/a.txt").exists());
    let found = tool(&mut peer, &id, "grep", json!({"query": "one"}));
    assert!(found.to_string().contains("src/a.txt:1:one"), "{found}");
    let ran = tool(&mut peer, &id, "shell", json!({"command": "pwd; ls src"}));
    assert!(ran.to_string().contains(far.to_str().unwrap()), "{ran}");
    let outside = tool(&mut peer, &id, "read_file", json!({"path": "/etc/passwd"}));
    assert!(outside.to_string().contains("outside workspace"), "{outside}");
    let pid = endless(&mut peer, &id, &far);
    daemon.kill9();
    daemon.restart();
    wait_until("the command over there is gone", PATIENCE, || !is_alive(&pid));
    let mut peer = Peer::to(&daemon);
    peer.set_mode("bypass");
    let read = tool(&mut peer, &id, "read_file", json!({"path": "src/a.txt"}));
    assert!(read.to_string().contains("one"), "{read}");
    // Without its client nothing is done here.
    fs::remove_file(&shim).unwrap();
    peer.call("runners/detach", json!({"threadId": id}));
    peer.refused("runners/rejoin", json!({"threadId": id}));
    let failed = tool(&mut peer, &id, "shell", json!({"command": "echo here >trace"}));
    assert!(failed.to_string().contains("runner cannot be used"), "{failed}");
    assert!(!here.join("trace").exists());
}

#[test]
fn attack_no_hostile_command_reaches_a_runner_unasked() {
    let daemon = TestDaemon::start();
    let (shim, far) = shim(&daemon);
    let mut peer = Peer::to(&daemon);
    let runner = json!({
        "providerId": "ssh", "workspace": far,
        "config": {"host": "far", "root": far, "ssh_command": shim},
    });
    let id = text(&start(&mut peer, runner)["id"]).to_owned();
    let calls =
        || fs::read_to_string(daemon.home().join("log")).unwrap_or_default().lines().count();
    for mode in ["plan", "default"] {
        peer.set_mode(mode);
        let some = if mode == "plan" { usize::MAX } else { 40 };
        let lines = corpus().into_iter().take(some);
        let commands = lines.map(|line| ("shell", json!({"command": line})));
        // Those over there cannot be compared with what they would become.
        let edit = json!({"path": "a", "old_string": "x", "new_string": "y"});
        let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
        let edits = [
            ("write_file", json!({"path": "a", "content": "x"})),
            ("edit", edit),
            ("apply_patch", json!({"patch": patch})),
        ];
        for (name, arguments) in commands.chain(edits) {
            let call = json!({"threadId": id, "toolName": name, "arguments": arguments});
            let error = peer.refused("tools/call", call);
            assert_eq!(error["code"], -32004, "{mode}: {arguments}: {error}");
            assert_eq!(calls(), 0, "{mode}: {arguments} reached the other machine");
        }
        let listed = peer.call("runners/list", json!({}));
        assert_eq!(listed["sessions"], json!([]), "{mode}: a session was opened");
    }
    // What is really run opens it.
    peer.set_mode("bypass");
    tool(&mut peer, &id, "shell", json!({"command": "echo there >trace"}));
    assert_eq!(fs::read_to_string(far.join("trace")).unwrap(), "there\n");
    assert!(calls() > 0);
}

#[test]
fn attack_no_configuration_of_a_runner_runs_a_program_unasked() {
    let daemon = TestDaemon::start();
    let (shim, far) = shim(&daemon);
    let repo = repository(&daemon);
    let trace = daemon.home().join("trace");
    let touch = format!("touch '{}'", trace.display());
    let mut peer = Peer::to(&daemon);
    let far = |more: Value| {
        let mut config = json!({"host": "far", "root": far});
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        config
    };
    let proxy = format!("ProxyCommand={touch}");
    let configs = [
        ("git-worktree", json!({"repo": repo})),
        ("git-worktree", json!({"repo": repo, "setup": [touch]})),
        ("ssh", far(json!({"ssh_command": shim}))),
        ("ssh", far(json!({"options": [proxy]}))),
    ];
    peer.set_mode("plan");
    for (number, (provider, config)) in configs.iter().enumerate() {
        let id = format!("d{number}");
        let select = json!({"destinationId": id, "providerId": provider, "config": config});
        peer.call("runners/select", select);
        let input = json!({"command": "pwd"});
        for (method, params) in [
            ("runners/session", json!({"ensure": true})),
            ("tasks/submit", json!({"executorId": "process", "input": input})),
        ] {
            if *provider == "git-worktree" {
                let error = peer.refused(method, params);
                assert_eq!(error["code"], -32004, "{method}: {config}: {error}");
                continue;
            }
            // As with any program that is not known: it is asked about, and a denial is the end of it.
            let id = peer.post(method, params);
            let asked = peer.wait_told("session/approvalRequested");
            let answer = json!({"approvalId": asked["approvalId"], "approved": false});
            peer.call("session/resolve_approval", answer);
            let refused = peer.reply(id);
            assert!(refused["error"].is_object(), "{method}: {config}: {refused}");
        }
    }
    let runner = json!({"providerId": "git-worktree", "config": {"repo": repo, "setup": [touch]}});
    let error = peer.refused("thread/start", json!({"modelProvider": "mock", "runner": runner}));
    assert_eq!(error["code"], -32004, "{error}");
    assert!(!trace.exists() && !daemon.home().join("log").exists());
    assert_eq!(git(&repo, &["worktree", "list"]).lines().count(), 1);
    // In a mode that asks, the request waits for the answer.
    peer.set_mode("default");
    let id = peer.post("thread/start", json!({"modelProvider": "mock", "runner": runner}));
    let asked = peer.wait_told("session/approvalRequested");
    assert!(asked.to_string().contains("touch"), "{asked}");
    assert!(!trace.exists());
    let answer = json!({"approvalId": asked["approvalId"], "approved": true});
    peer.call("session/resolve_approval", answer);
    let started = peer.reply(id);
    assert!(started["result"]["thread"]["id"].is_string(), "{started}");
    assert!(trace.exists());
}

#[test]
fn attack_a_token_is_in_no_file_and_in_no_answer() {
    let mut daemon = TestDaemon::start();
    let mut peer = Peer::to(&daemon);
    let token = "rookery-e2e-token-3f9a";
    let config = json!({"base_url": "http://127.0.0.1:1", "token": token});
    let select = json!({"destinationId": "box", "providerId": "hosted-http", "config": config});
    let answers = [
        peer.call("runners/select", select),
        peer.refused("runners/session", json!({"ensure": true})),
        peer.call("runners/list", json!({})),
    ];
    daemon.kill9();
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    let error = peer.refused("runners/session", json!({"ensure": true}));
    assert!(error["message"].as_str().unwrap().contains("config.token"), "{error}");
    assert!(!answers.iter().any(|answer| answer.to_string().contains(token)), "{answers:?}");
    let mut ahead = vec![daemon.home().path().to_owned()];
    while let Some(dir) = ahead.pop() {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                ahead.push(entry.path());
            } else if kind.is_file() {
                let bytes = fs::read(entry.path()).unwrap();
                let has = bytes.windows(token.len()).any(|part| part == token.as_bytes());
                assert!(!has, "{}", entry.path().display());
            }
        }
    }
}
