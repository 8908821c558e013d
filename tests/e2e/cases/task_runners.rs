//! Background tasks at runners: they run in the session of the selected destination, or of their thread's,
//! and nowhere else, whatever happens to it.

use std::fs;
use std::path::{Path, PathBuf};

use rookery_testkit::{Home, PATIENCE, TestDaemon, eventually, wait_until};
use serde_json::{Value, json};

use crate::hosted_server::HostedServer;
use crate::roder_link::Peer;
use crate::runners::{repository, shim};

fn peer(daemon: &TestDaemon) -> Peer {
    let mut peer = Peer::to(daemon);
    peer.set_mode("bypass");
    peer
}

fn select(peer: &mut Peer, destination: &str, provider: &str, config: Value) {
    let params = json!({ "destinationId": destination, "providerId": provider, "config": config });
    peer.call("runners/select", params);
}

fn sh(script: &str) -> Value {
    json!({ "command": "sh", "args": ["-c", script] })
}

fn with(mut input: Value, name: &str, value: Value) -> Value {
    input[name] = value;
    input
}

#[track_caller]
fn submit(peer: &mut Peer, input: Value, more: Value) -> String {
    let mut params = json!({ "executorId": "process", "input": input });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    peer.call("tasks/submit", params)["task"]["taskId"].as_str().unwrap().to_owned()
}

fn get(peer: &mut Peer, id: &str) -> Value {
    peer.call("tasks/get", json!({ "taskId": id }))
}

/// The task once it is over.
#[track_caller]
fn ended(peer: &mut Peer, id: &str) -> Value {
    eventually("the task ends", PATIENCE, || {
        let got = get(peer, id);
        let state = &got["task"]["state"];
        (*state != "queued" && *state != "running").then_some(got)
    })
}

#[track_caller]
fn run(peer: &mut Peer, input: Value) -> Value {
    let id = submit(peer, input, json!({}));
    ended(peer, &id)
}

fn log(got: &Value) -> String {
    got["logs"].as_array().unwrap().iter().map(|one| one["chunk"].as_str().unwrap()).collect()
}

/// What came on one stream; the order of two is not known.
fn on(got: &Value, stream: &str) -> String {
    let logs = got["logs"].as_array().unwrap().iter().filter(|one| one["stream"] == stream);
    logs.map(|one| one["chunk"].as_str().unwrap()).collect()
}

fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z")
}

/// A script that notes its number and never ends by itself.
const ENDLESS: &str = "echo $$ >pid.new; mv pid.new pid; echo up; exec sleep 1000";

/// The number that such a script noted.
#[track_caller]
fn noted(dir: &Path) -> String {
    let file = dir.join("pid");
    wait_until("the program runs", PATIENCE, || file.exists());
    let pid = fs::read_to_string(&file).unwrap();
    fs::remove_file(file).unwrap();
    pid
}

fn far_dir(home: &Home, name: &str) -> PathBuf {
    let dir = home.join(name);
    fs::create_dir_all(&dir).unwrap();
    fs::canonicalize(dir).unwrap()
}

#[test]
fn a_task_runs_in_the_one_session_of_the_selected_directory() {
    let daemon = TestDaemon::start();
    let mut peer = peer(&daemon);
    let root = far_dir(daemon.home(), "root");
    fs::create_dir(root.join("sub")).unwrap();
    std::os::unix::fs::symlink("/", root.join("out")).unwrap();
    select(&mut peer, "box", "unix-local", json!({ "root": root }));
    assert_eq!(peer.call("runners/session", json!({}))["session"], Value::Null);
    let first = run(&mut peer, sh("pwd; echo $ROOKERY_RUNNER; echo bad >&2; exit 3"));
    assert_eq!(
        (&first["task"]["state"], &first["task"]["exit_code"]),
        (&json!("completed"), &json!(3))
    );
    assert_eq!(on(&first, "stdout"), format!("{}\nbox\n", root.display()));
    assert_eq!(on(&first, "stderr"), "bad\n");
    let payload = &first["payload"];
    assert_eq!((&payload["cwd"], &payload["runner_destination"]), (&json!(root), &json!("box")));
    let session = peer.call("runners/session", json!({}))["session"]["sessionId"].clone();
    assert_eq!((&payload["runner_session"], &payload["runnerSession"]), (&session, &session));
    // The same session again, in a directory of it.
    let sub = run(&mut peer, with(sh("pwd"), "cwd", json!("sub")));
    assert_eq!(log(&sub), format!("{}/sub\n", root.display()));
    assert_eq!(sub["payload"]["runner_session"], session);
    for cwd in ["..", "/etc", "out", "sub/../../x"] {
        let refused = run(&mut peer, with(sh("echo ran"), "cwd", json!(cwd)));
        let error = refused["task"]["error"].as_str().unwrap();
        assert_eq!(refused["task"]["state"], "failed", "{cwd}");
        let says = error.contains("escapes workspace root") && error.contains("outside workspace");
        assert!(says, "{cwd}: {error}");
    }
    // In a terminal, which everyone sees.
    let id = submit(&mut peer, with(sh(ENDLESS), "pty", json!(true)), json!({}));
    let pid = noted(&root);
    let terminals = daemon.client().terminals();
    assert_eq!(terminals.len(), 1, "{terminals:?}");
    peer.call("tasks/cancel", json!({ "taskId": id }));
    wait_until("the program is gone", PATIENCE, || !is_alive(&pid));
    // When the session ends, so do its tasks: they are lost, not completed.
    let id = submit(&mut peer, sh(ENDLESS), json!({}));
    let pid = noted(&root);
    assert_eq!(peer.call("runners/delete", json!({}))["deleted"], true);
    let lost = ended(&mut peer, &id);
    assert_eq!(lost["task"]["state"], "failed", "{lost}");
    assert!(lost["task"]["error"].as_str().unwrap().contains("lost"), "{lost}");
    assert!(!is_alive(&pid));
}

#[test]
fn a_task_in_a_worktree_leaves_the_checkout_alone_and_outlives_the_daemon_in_a_terminal() {
    let mut daemon = TestDaemon::start();
    let repo = repository(&daemon);
    let mut link = peer(&daemon);
    select(&mut link, "tree", "git-worktree", json!({ "repo": repo }));
    let made = run(&mut link, sh("git branch --show-current; echo x >made; pwd"));
    assert!(log(&made).starts_with("rookery/"), "{made}");
    let tree = PathBuf::from(made["payload"]["cwd"].as_str().unwrap());
    assert!(tree.join("made").exists() && !repo.join("made").exists());
    let session = made["payload"]["runner_session"].clone();
    let gate = daemon.home().join("gate");
    let script = format!("pwd; until [ -e '{}' ]; do sleep 0.02; done; exit 7", gate.display());
    let id = submit(&mut link, with(sh(&script), "pty", json!(true)), json!({}));
    let place = format!("{}\n", tree.display());
    wait_until("its first line", PATIENCE, || log(&get(&mut link, &id)) == place);
    daemon.kill9();
    daemon.restart();
    let mut link = peer(&daemon);
    assert_eq!(get(&mut link, &id)["task"]["state"], "running");
    fs::write(&gate, "").unwrap();
    let over = ended(&mut link, &id);
    assert_eq!((&over["task"]["exit_code"], &over["task"]["epoch"]), (&json!(7), &json!(1)));
    assert_eq!(
        (&over["payload"]["cwd"], &over["payload"]["runner_session"]),
        (&json!(tree), &session)
    );
}

#[test]
fn a_thread_s_own_runner_counts_before_the_selected_one() {
    let daemon = TestDaemon::start();
    let mut peer = peer(&daemon);
    let [selected, own] = ["selected", "own"].map(|name| far_dir(daemon.home(), name));
    select(&mut peer, "box", "unix-local", json!({ "root": selected }));
    let runner = json!({ "providerId": "unix-local", "workspace": own });
    let thread = peer.call("thread/start", json!({ "modelProvider": "mock", "runner": runner }));
    let id = submit(&mut peer, sh("pwd"), json!({ "threadId": thread["thread"]["id"] }));
    assert_eq!(log(&ended(&mut peer, &id)), format!("{}\n", own.display()));
    assert_eq!(log(&run(&mut peer, sh("pwd"))), format!("{}\n", selected.display()));
}

#[test]
fn a_task_over_ssh_is_cancelled_timed_out_and_lost_there_and_never_runs_here() {
    let mut daemon = TestDaemon::start();
    let (shim, far) = shim(&daemon);
    let config = json!({ "host": "far", "root": far, "ssh_command": shim });
    let mut link = peer(&daemon);
    select(&mut link, "far", "ssh", config.clone());
    let done = run(
        &mut link,
        with(
            sh("pwd; echo $A $ROOKERY_RUNNER; echo err >&2; exit 4"),
            "envOverrides",
            json!({ "A": "b c" }),
        ),
    );
    assert_eq!(
        (&done["task"]["state"], &done["task"]["exit_code"]),
        (&json!("completed"), &json!(4)),
        "{done}"
    );
    assert_eq!(on(&done, "stdout"), format!("{}\nb c far\n", far.display()));
    assert_eq!(on(&done, "stderr"), "err\n");
    assert_eq!(done["payload"]["runner_destination"], "far");
    let session = done["payload"]["runner_session"].clone();
    // Cancelled: its group is ended over there.
    let id = submit(&mut link, sh(ENDLESS), json!({}));
    let pid = noted(&far);
    wait_until("its output comes as it is written", PATIENCE, || {
        log(&get(&mut link, &id)) == "up\n"
    });
    assert_eq!(link.call("tasks/cancel", json!({ "taskId": id }))["cancelled"], true);
    wait_until("the program over there is gone", PATIENCE, || !is_alive(&pid));
    // Out of time.
    let id = submit(&mut link, sh(ENDLESS), json!({ "timeoutSeconds": 1 }));
    let pid = noted(&far);
    let late = ended(&mut link, &id);
    assert_eq!(late["task"]["error_kind"], "deadline_timeout", "{late}");
    wait_until("the program over there is gone", PATIENCE, || !is_alive(&pid));
    // In a terminal of this machine, by a client.
    let shown =
        run(&mut link, with(sh("tty >/dev/null && echo tty; pwd; exit 5"), "pty", json!(true)));
    assert_eq!(
        (&shown["task"]["exit_code"], &shown["payload"]["runner_session"]),
        (&json!(5), &session)
    );
    assert!(log(&shown).ends_with(&format!("{}\n", far.display())), "{shown}");
    let id = submit(&mut link, with(sh(ENDLESS), "pty", json!(true)), json!({}));
    let pid = noted(&far);
    link.call("tasks/cancel", json!({ "taskId": id }));
    wait_until("the program over there is gone", PATIENCE, || !is_alive(&pid));
    wait_until("its terminal is gone", PATIENCE, || daemon.client().terminals().is_empty());
    // The daemon dies with both kinds at work: the connection was its own.
    let on_pipes = submit(&mut link, sh(ENDLESS), json!({}));
    let first = noted(&far);
    let in_terminal = submit(&mut link, with(sh(ENDLESS), "pty", json!(true)), json!({}));
    let second = noted(&far);
    daemon.kill9();
    daemon.restart();
    let mut link = peer(&daemon);
    for id in [&on_pipes, &in_terminal] {
        let lost = ended(&mut link, id);
        assert_eq!(lost["task"]["error"], "daemon restarted", "{lost}");
    }
    for pid in [first, second] {
        wait_until("the programs over there are gone", PATIENCE, || !is_alive(&pid));
    }
    wait_until("no terminal is left", PATIENCE, || daemon.client().terminals().is_empty());
    // Found again, and then lost for good: nothing is done here instead.
    let id = submit(&mut link, sh(ENDLESS), json!({}));
    let pid = noted(&far);
    fs::remove_file(&shim).unwrap();
    link.call("runners/delete", json!({}));
    let lost = ended(&mut link, &id);
    assert_eq!(lost["task"]["state"], "failed", "{lost}");
    wait_until("the program over there is gone", PATIENCE, || !is_alive(&pid));
    let here = far_dir(daemon.home(), "here");
    let refused = link.refused(
        "runners/select",
        json!({ "destinationId": "far", "providerId": "ssh", "config": config }),
    );
    assert_eq!(refused["code"], -32602, "{refused}");
    assert_eq!(fs::read_dir(here).unwrap().count(), 0);
}

#[test]
fn a_task_whose_runner_cannot_be_reached_fails_and_runs_nowhere() {
    let daemon = TestDaemon::start();
    let (shim, far) = shim(&daemon);
    let mut peer = peer(&daemon);
    let here = far_dir(daemon.home(), "here");
    let trace = here.join("trace");
    let config = json!({ "host": "far", "root": far, "ssh_command": shim });
    select(&mut peer, "far", "ssh", config);
    fs::write(&shim, "#!/bin/sh\nexit 255\n").unwrap();
    let script = format!("echo here >'{}'", trace.display());
    for input in [sh(&script), with(sh(&script), "pty", json!(true))] {
        let failed = run(&mut peer, input);
        assert_eq!(failed["task"]["state"], "failed", "{failed}");
        assert!(!trace.exists() && failed["task"]["exit_code"].is_null(), "{failed}");
    }
}

#[test]
fn a_task_at_a_hosted_runner_is_cancelled_and_lost_there() {
    let mut daemon = TestDaemon::start();
    let far = far_dir(daemon.home(), "far");
    let server = HostedServer::start(far.clone());
    let mut link = peer(&daemon);
    select(&mut link, "cloud", "hosted-http", json!({ "base_url": server.url }));
    let terminal =
        json!({ "executorId": "process", "input": with(sh("true"), "pty", json!(true)) });
    let refused = link.refused("tasks/submit", terminal);
    assert_eq!(refused["code"], -32602, "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("input.pty"), "{refused}");
    let done = run(&mut link, sh("pwd; echo $ROOKERY_TASK_EPOCH; echo err >&2; exit 6"));
    assert_eq!(
        (&done["task"]["state"], &done["task"]["exit_code"]),
        (&json!("completed"), &json!(6)),
        "{done}"
    );
    assert_eq!(on(&done, "stdout"), format!("{}\n1\n", far.display()));
    assert_eq!(on(&done, "stderr"), "err\n");
    run(&mut link, sh("true"));
    assert_eq!(server.count("POST /sessions HTTP"), 1, "one session for all");
    let id = submit(&mut link, sh(ENDLESS), json!({}));
    let pid = noted(&far);
    link.call("tasks/cancel", json!({ "taskId": id }));
    wait_until("the command was cancelled there", PATIENCE, || !is_alive(&pid));
    // The command of a daemon that died is ended by the next one.
    let id = submit(&mut link, sh(ENDLESS), json!({}));
    let pid = noted(&far);
    daemon.kill9();
    daemon.restart();
    let mut link = peer(&daemon);
    assert_eq!(ended(&mut link, &id)["task"]["error"], "daemon restarted");
    wait_until("the command was ended there", PATIENCE, || !is_alive(&pid));
    // A server that is gone is a lost runner.
    let id = submit(&mut link, sh(ENDLESS), json!({}));
    noted(&far);
    server.vanish();
    let lost = ended(&mut link, &id);
    assert_eq!(lost["task"]["state"], "failed", "{lost}");
}

#[test]
fn what_runs_at_a_runner_is_in_the_one_list_of_processes() {
    let daemon = TestDaemon::start();
    let far = far_dir(daemon.home(), "far");
    let server = HostedServer::start(far.clone());
    let mut peer = peer(&daemon);
    let config = json!({ "base_url": server.url });
    select(&mut peer, "cloud", "hosted-http", config.clone());
    // A task there.
    let id = submit(&mut peer, sh(ENDLESS), json!({}));
    let pid = noted(&far);
    let listed = peer.call("processes/list", json!({}))["processes"].clone();
    let shown = &listed[0];
    assert_eq!((&shown["processId"], &shown["taskId"]), (&json!(id), &json!(id)), "{listed}");
    assert_eq!((&shown["origin"], &shown["state"]), (&json!("remote_runner"), &json!("running")));
    assert_eq!(shown["runnerDestinationId"], "cloud");
    let session = peer.call("runners/session", json!({}))["session"]["session_id"].clone();
    assert_eq!(shown["runnerSessionId"], session);
    let stopped = peer.call("processes/stop", json!({ "processId": id }));
    assert_eq!(stopped["result"]["process"]["state"], "stopped", "{stopped}");
    wait_until("the command is gone there", PATIENCE, || !is_alive(&pid));
    // A tool of a thread there.
    let runner = json!({ "providerId": "hosted-http", "config": config, "workspace": far });
    let thread = peer.call("thread/start", json!({ "modelProvider": "mock", "runner": runner }));
    let thread = thread["thread"]["id"].clone();
    let call =
        json!({ "threadId": thread, "toolName": "shell", "arguments": { "command": ENDLESS } });
    let call = peer.post("tools/call", call);
    let pid = noted(&far);
    let listed = peer.call("processes/list", json!({}))["processes"].clone();
    let shown = &listed[0];
    assert_eq!(
        (&shown["origin"], &shown["threadId"]),
        (&json!("remote_runner"), &thread),
        "{listed}"
    );
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let all = peer.call("processes/stopAll", json!({}));
    assert_eq!(all["stoppedProcessIds"], json!([shown["processId"]]));
    wait_until("the command is gone there", PATIENCE, || !is_alive(&pid));
    let ended = peer.reply(call);
    assert_eq!(ended["result"]["is_error"], true, "{ended}");
    // A tool of a thread on this machine, in a terminal.
    let here = far_dir(daemon.home(), "here");
    let thread = peer.thread(&here);
    let call =
        json!({ "threadId": thread, "toolName": "shell", "arguments": { "command": ENDLESS } });
    let call = peer.post("tools/call", call);
    let pid = noted(&here);
    let listed = peer.call("processes/list", json!({}))["processes"].clone();
    assert_eq!((&listed[0]["origin"], &listed[0]["tty"]), (&json!("shell_tool"), &json!(true)));
    let stopped = peer.call("processes/stop", json!({ "processId": listed[0]["processId"] }));
    assert_eq!(stopped["stopped"], true, "{stopped}");
    wait_until("the command is gone", PATIENCE, || !is_alive(&pid));
    peer.reply(call);
}
