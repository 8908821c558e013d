//! Background tasks: what becomes of them when the daemon dies, and what the command line makes of them.

use std::fs;
use std::path::Path;

use rookery_testkit::{Caller, Home, PATIENCE, TestDaemon, wait_until};
use serde_json::{Value, json};

fn with_config(text: &str) -> TestDaemon {
    let home = Home::new();
    let config = home.join("config/rookery/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, text).unwrap();
    TestDaemon::start_in(home)
}

/// Prints, waits for a file, prints again and ends.
fn gated(gate: &Path, code: u8) -> String {
    let gate = gate.display();
    format!("echo before; until [ -e '{gate}' ]; do sleep 0.02; done; echo after; exit {code}")
}

fn detach(daemon: &TestDaemon, script: &str) -> String {
    let id = daemon.rookery(&["run", "--detach", "--", "sh", "-c", script]).success();
    id.trim().to_owned()
}

fn show(daemon: &TestDaemon, id: &str) -> Value {
    daemon.rookery(&["task", "show", "--json", id]).json()
}

fn until_state(daemon: &TestDaemon, id: &str, state: &str) -> Value {
    wait_until(&format!("task {id} to be {state}"), PATIENCE, || {
        show(daemon, id)["state"] == state
    });
    show(daemon, id)
}

fn logs(daemon: &TestDaemon, id: &str) -> String {
    daemon.rookery(&["task", "logs", id]).success()
}

#[test]
fn a_task_in_a_terminal_is_found_again_at_the_same_epoch() {
    let mut daemon = TestDaemon::start();
    let gate = daemon.home().join("gate");
    let id = detach(&daemon, &gated(&gate, 7));
    wait_until("the first line", PATIENCE, || logs(&daemon, &id) == "before\n");
    let terminal = show(&daemon, &id)["terminal"].clone();
    assert!(terminal.is_u64());
    daemon.kill9();
    daemon.restart();
    let found = show(&daemon, &id);
    assert_eq!((&found["state"], &found["epoch"]), (&json!("running"), &json!(1)));
    assert_eq!((&found["terminal"], &found["maybeTwice"]), (&terminal, &json!(false)));
    fs::write(&gate, "").unwrap();
    let over = until_state(&daemon, &id, "done");
    assert_eq!((&over["exitCode"], &over["epoch"]), (&json!(7), &json!(1)));
    assert_eq!(logs(&daemon, &id), "before\nafter\n");
    wait_until("its terminal to be closed", PATIENCE, || show(&daemon, &id)["terminal"].is_null());
}

#[test]
fn what_a_task_did_without_a_daemon_is_known_afterwards() {
    let mut daemon = TestDaemon::start();
    let (gate, done) = (daemon.home().join("gate"), daemon.home().join("done"));
    let ending = format!("touch '{}'; exit 5", done.display());
    let script = gated(&gate, 5).replace("exit 5", &ending);
    let id = detach(&daemon, &script);
    wait_until("the first line", PATIENCE, || logs(&daemon, &id) == "before\n");
    daemon.kill9();
    fs::write(&gate, "").unwrap();
    wait_until("the program to come to its end", PATIENCE, || done.exists());
    daemon.restart();
    let over = until_state(&daemon, &id, "done");
    assert_eq!((&over["exitCode"], &over["epoch"]), (&json!(5), &json!(1)));
    assert_eq!(logs(&daemon, &id), "before\nafter\n");
}

fn roder(daemon: &TestDaemon) -> Caller {
    let client = Caller::connect(&daemon.home().join("run/roder/roder.sock")).unwrap();
    client.call("initialize", json!({}));
    client
}

#[test]
fn a_task_on_pipes_fails_with_the_daemon_and_its_group_is_ended() {
    let mut daemon = TestDaemon::start();
    let client = roder(&daemon);
    client.call("session/set_mode", json!({"mode": "bypass"}));
    let pids = daemon.home().join("pids");
    let script =
        format!("sleep 1000 & echo $$ $! > '{0}.new'; mv '{0}.new' '{0}'; wait", pids.display());
    let input = json!({"command": "sh", "args": ["-c", script]});
    let made = client.call("tasks/submit", json!({"executorId": "process", "input": input}));
    let id = made["task"]["taskId"].as_str().unwrap().to_owned();
    wait_until("the program to run", PATIENCE, || pids.exists());
    daemon.kill9();
    daemon.restart();
    let client = roder(&daemon);
    let found = client.call("tasks/get", json!({"task_id": id}));
    assert_eq!(
        (&found["task"]["state"], &found["task"]["error"]),
        (&json!("failed"), &json!("daemon restarted"))
    );
    assert_eq!(
        (&found["task"]["maybeTwice"], &found["task"]["maybe_twice"]),
        (&json!(true), &json!(true))
    );
    for pid in fs::read_to_string(&pids).unwrap().split_whitespace() {
        let proc = format!("/proc/{pid}");
        wait_until(&format!("process {pid} to be gone"), PATIENCE, || !Path::new(&proc).exists());
    }
}

#[test]
fn a_lost_task_is_done_again_or_waits_for_a_person() {
    let mut daemon = TestDaemon::start();
    let client = roder(&daemon);
    client.call("session/set_mode", json!({"mode": "bypass"}));
    let submit = |name: &str, more: Value| {
        let begun = daemon.home().join(name);
        let script =
            format!("test -e '{0}' || {{ touch '{0}'; sleep 1000; }}; echo again", begun.display());
        let input = json!({"command": "sh", "args": ["-c", script]});
        let mut params = json!({"executorId": "process", "input": input});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let made = client.call("tasks/submit", params);
        wait_until("the program to run", PATIENCE, || begun.exists());
        made["task"]["taskId"].as_str().unwrap().to_owned()
    };
    let moves = submit("moves", json!({"retry": {"max": 1, "on": ["lost"], "backoff_seconds": 0}}));
    let held = submit("held", json!({"lost": "hold"}));
    daemon.kill9();
    daemon.restart();
    let over = until_state(&daemon, &moves, "done");
    assert_eq!((&over["epoch"], &over["maybeTwice"]), (&json!(2), &json!(true)));
    assert_eq!(logs(&daemon, &moves), "again\n");
    let lost = until_state(&daemon, &held, "lost");
    assert_eq!(lost["errorKind"], "node_lost");
    let client = roder(&daemon);
    let seen = client.call("tasks/get", json!({"taskId": held}));
    assert_eq!(
        (&seen["task"]["state"], &seen["task"]["error_kind"]),
        (&json!("failed"), &json!("node_lost"))
    );
    let items = || daemon.rookery(&["inbox", "--json"]).json()["queue"].as_array().unwrap().clone();
    let asked = items();
    assert_eq!(asked.len(), 1, "{asked:?}");
    let text = asked[0].to_string();
    assert!(
        text.contains("Task lost on local") && text.contains(&format!("rookery task retry {held}")),
        "{text}"
    );
    assert_eq!(daemon.rookery(&["task", "retry", &held]).success().trim(), held);
    let over = until_state(&daemon, &held, "done");
    assert_eq!((&over["epoch"], &over["maybeTwice"]), (&json!(2), &json!(true)));
    assert!(items().is_empty());
    let id = daemon.rookery(&[
        "run",
        "--detach",
        "--retries",
        "2",
        "--retry-on",
        "lost",
        "--lost",
        "hold",
        "--",
        "true",
    ]);
    until_state(&daemon, id.success().trim(), "done");
}

#[test]
fn what_waited_runs_after_a_restart() {
    let mut daemon = with_config("[tasks]\nmax_running = 1\n");
    let client = roder(&daemon);
    client.call("session/set_mode", json!({"mode": "bypass"}));
    let gate = daemon.home().join("gate");
    let submit = |client: &Caller, script: &str| {
        let input = json!({"command": "sh", "args": ["-c", script], "pty": true});
        let made = client.call("tasks/submit", json!({"executor_id": "process", "input": input}));
        made["task"]["task_id"].as_str().unwrap().to_owned()
    };
    let first = submit(&client, &gated(&gate, 0));
    until_state(&daemon, &first, "running");
    let waiting: Vec<String> = (1..=2).map(|n| submit(&client, &format!("echo {n}"))).collect();
    assert!(waiting.iter().all(|id| show(&daemon, id)["state"] == "queued"));
    daemon.kill9();
    daemon.restart();
    assert_eq!(show(&daemon, &first)["state"], "running");
    assert!(waiting.iter().all(|id| show(&daemon, id)["state"] == "queued"));
    fs::write(&gate, "").unwrap();
    for (id, said) in waiting.iter().zip(["1\n", "2\n"]) {
        let over = until_state(&daemon, id, "done");
        assert_eq!((&over["exitCode"], &over["attemptCount"]), (&json!(0), &json!(1)));
        assert_eq!(logs(&daemon, id), said);
    }
}

#[test]
fn a_task_is_followed_cancelled_and_done_again_from_the_command_line() {
    let daemon = TestDaemon::start();
    let id = detach(&daemon, "echo one; exit 3");
    let followed = daemon.rookery(&["task", "logs", "--follow", &id]);
    assert_eq!((followed.stdout.as_str(), followed.status.code()), ("one\n", Some(3)));
    let again = daemon.rookery(&["task", "retry", &id]).success();
    assert_ne!(again.trim(), id);
    until_state(&daemon, again.trim(), "done");
    let long = detach(&daemon, "echo up; sleep 1000");
    wait_until("it to run", PATIENCE, || logs(&daemon, &long) == "up\n");
    daemon.rookery(&["task", "cancel", &long, "--reason", "enough"]).success();
    assert_eq!(show(&daemon, &long)["state"], "cancelled");
    daemon.rookery(&["task", "cancel", &long]).failure(4);
    let failure = daemon.rookery(&["task", "show", "none"]).failure(1);
    assert!(failure.contains("rookery task ls"), "{failure}");
    let listed = daemon.rookery(&["task", "ls", "--json"]).json();
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 3);
    assert_eq!(listed["tasks"][0]["id"], long.as_str());
}

/// A script whose first agent answers, and whose second does not.
fn half_done() -> Value {
    let mock = |steps: Value| json!(format!("MOCK_SCRIPT:{steps}"));
    let (first, hangs) = (mock(json!([{ "text": "one" }])), mock(json!([{ "hang": true }])));
    let body = format!(
        "export const meta = {{ name: 'half', description: 'd' }}\n\
         const first = await agent({first})\n\
         return first + await agent({hangs})"
    );
    json!({ "name": "half", "body": body })
}

#[test]
fn a_workflow_task_fails_with_the_daemon_and_its_run_is_paused_and_taken_up_again() {
    let mut daemon = TestDaemon::start();
    let client = roder(&daemon);
    client.call("session/set_mode", json!({"mode": "bypass"}));
    let run = |client: &Caller| {
        let params = json!({"runId": "half", "includeAgents": true});
        client.call("workflows/get", params)["run"].clone()
    };
    let submit = |client: &Caller| {
        let input = json!({"runId": "half", "script": half_done()});
        let params = json!({"executorId": "dynamic-workflow", "input": input});
        client.call("tasks/submit", params)["task"]["taskId"].as_str().unwrap().to_owned()
    };
    let id = submit(&client);
    until_state(&daemon, &id, "running");
    let waits_for_second = |client: &Caller| {
        wait_until("the second agent works", PATIENCE, || {
            let shown = run(client);
            shown["agents"][1]["status"] == "running"
        });
    };
    waits_for_second(&client);
    daemon.kill9();
    daemon.restart();
    let client = roder(&daemon);
    let found = client.call("tasks/get", json!({"taskId": id}));
    assert_eq!(
        (&found["task"]["state"], &found["task"]["error"]),
        (&json!("failed"), &json!("daemon restarted"))
    );
    let left = run(&client);
    assert_eq!((&left["status"], &left["reason"]), (&json!("paused"), &json!("daemon restarted")));
    assert_eq!(client.call("session/get", json!({}))["pendingApprovals"], json!([]));
    // The same again: the run goes on, and who answered is not asked twice.
    client.call("session/set_mode", json!({"mode": "bypass"}));
    let again = submit(&client);
    waits_for_second(&client);
    assert_eq!(run(&client)["agents"][0]["cached"], json!(true));
    client.call("tasks/cancel", json!({"taskId": again}));
    wait_until("the run is stopped with its task", PATIENCE, || {
        run(&client)["status"] == "stopped"
    });
    assert_eq!(show(&daemon, &again)["state"], "cancelled");
}

#[test]
fn the_terminal_of_a_task_that_was_cancelled_is_ended_by_the_next_daemon() {
    let mut daemon = TestDaemon::start();
    let pid = daemon.home().join("pid");
    let script = format!(
        "trap '' TERM HUP; echo $$ >'{0}.new'; mv '{0}.new' '{0}'; while :; do sleep 1; done",
        pid.display()
    );
    let id = detach(&daemon, &script);
    wait_until("the program to run", PATIENCE, || pid.exists());
    // It does not end when it is asked to, so that it is still there when the daemon dies.
    let client = roder(&daemon);
    assert_eq!(client.call("tasks/cancel", json!({"taskId": id}))["cancelled"], true);
    daemon.kill9();
    daemon.restart();
    assert_eq!(show(&daemon, &id)["state"], "cancelled");
    let number = fs::read_to_string(&pid).unwrap();
    let proc = format!("/proc/{}", number.trim());
    wait_until("the program to be gone", PATIENCE, || !Path::new(&proc).exists());
    wait_until("no terminal to be left", PATIENCE, || show(&daemon, &id)["terminal"].is_null());
}

/// Submits a program of a script and waits for its end.
fn run_to_end(client: &Caller, script: &str) -> Value {
    let input = json!({"command": "sh", "args": ["-c", script]});
    let made = client.call("tasks/submit", json!({"executorId": "process", "input": input}));
    let id = made["task"]["taskId"].clone();
    rookery_testkit::eventually("the task ends", PATIENCE, || {
        let got = client.call("tasks/get", json!({"taskId": id}));
        (!matches!(got["task"]["state"].as_str(), Some("queued" | "running"))).then_some(got)
    })
}

#[test]
fn of_a_long_log_the_end_is_kept_and_the_rest_is_counted() {
    let daemon = TestDaemon::start();
    let client = roder(&daemon);
    client.call("session/set_mode", json!({"mode": "bypass"}));
    let kept = |got: &Value| -> String {
        got["logs"].as_array().unwrap().iter().map(|one| one["chunk"].as_str().unwrap()).collect()
    };
    let got = run_to_end(&client, "seq 1 20000");
    let (text, dropped) = (kept(&got), got["dropped_bytes"].as_u64().unwrap());
    assert_eq!(text.len() as u64 + dropped, 108_894);
    assert!(text.len() <= 65_536 && text.len() > 65_000, "{}", text.len());
    assert!(text.ends_with("19999\n20000\n") && text.starts_with(|it: char| it.is_ascii_digit()));
    // One line that is longer than all of it: cut between characters.
    let got = run_to_end(
        &client,
        "i=0; while [ $i -lt 5000 ]; do printf 'ééééééééééé'; i=$((i+1)); done",
    );
    let (text, dropped) = (kept(&got), got["dropped_bytes"].as_u64().unwrap());
    assert_eq!(text.len() as u64 + dropped, 110_000);
    assert!(text.chars().all(|letter| letter == 'é') && text.len() <= 65_536);
}

#[test]
fn a_program_that_ignores_the_request_is_killed_with_what_it_started() {
    let daemon = TestDaemon::start();
    let client = roder(&daemon);
    client.call("session/set_mode", json!({"mode": "bypass"}));
    let pids = daemon.home().join("pids");
    let script = format!(
        "trap '' TERM HUP INT; (trap '' TERM; while :; do sleep 1; done) & echo $$ $! >'{0}.new'; mv '{0}.new' '{0}'; while :; do sleep 1; done",
        pids.display()
    );
    let input = json!({"command": "sh", "args": ["-c", script]});
    let made = client.call("tasks/submit", json!({"executorId": "process", "input": input}));
    let id = made["task"]["taskId"].clone();
    wait_until("the program to run", PATIENCE, || pids.exists());
    assert_eq!(client.call("tasks/cancel", json!({"taskId": id}))["cancelled"], true);
    assert_eq!(client.call("tasks/get", json!({"taskId": id}))["task"]["state"], "cancelled");
    for pid in fs::read_to_string(&pids).unwrap().split_whitespace() {
        let proc = format!("/proc/{pid}");
        wait_until(&format!("process {pid} to be gone"), PATIENCE, || !Path::new(&proc).exists());
    }
}

#[test]
fn the_newest_two_hundred_that_are_over_are_kept() {
    let mut daemon = TestDaemon::start();
    let client = roder(&daemon);
    client.call("session/set_mode", json!({"mode": "bypass"}));
    let input = json!({"command": "true"});
    let ids: Vec<Value> = (0..210)
        .map(|_| {
            let params = json!({"executorId": "process", "input": input});
            client.call("tasks/submit", params)["task"]["taskId"].clone()
        })
        .collect();
    let listed =
        |client: &Caller| client.call("tasks/list", json!({}))["tasks"].as_array().unwrap().clone();
    wait_until("all to be over", PATIENCE, || {
        let tasks = listed(&client);
        tasks.len() == 200 && tasks.iter().all(|task| task["state"] == "completed")
    });
    assert_eq!(listed(&client)[0]["taskId"], ids[209]);
    daemon.kill9();
    daemon.restart();
    assert_eq!(listed(&roder(&daemon)).len(), 200);
}
