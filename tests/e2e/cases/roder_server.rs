//! What the command that starts a Roder server is told, and what its clients see of it.

use rookery_native::wire::Shutdown;
use rookery_testkit::{Home, TestDaemon};
use serde_json::{Value, json};

use crate::roder_link::{Peer, roder, script};

/// The paths of all roots, in the order in which workspaces are listed.
fn listed(peer: &mut Peer) -> Vec<Value> {
    let list = peer.call("workspace/list", json!({}));
    let workspaces = list["workspaces"].as_array().unwrap();
    workspaces.iter().map(|workspace| workspace["roots"][0]["path"].clone()).collect()
}

#[test]
fn workspaces_begin_with_where_the_server_was_started() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    for name in ["one", "two"] {
        std::fs::create_dir(home.join(name)).unwrap();
    }
    let here = |name: &str| json!(home.join(name).canonicalize().unwrap());
    for (first, second) in [("one", "two"), ("two", "one")] {
        let mut peer = Peer::stdio(home, &["--cwd", first]);
        // Another one that is newer.
        let roots = json!([{ "path": here(second) }]);
        peer.call("workspace/create", json!({ "roots": roots }));
        let paths = listed(&mut peer);
        assert_eq!(paths[0], here(first), "{paths:?}");
        assert!(paths.contains(&here(second)), "{paths:?}");
    }
}

#[test]
fn a_token_that_is_not_there_is_reported_by_the_name_of_its_place() {
    let home = Home::new();
    for (setting, value) in [("env:NO_SUCH_TOKEN", None), ("env:NO_SUCH_TOKEN", Some(" "))] {
        for more in [&[][..], &["--standalone"]] {
            let mut command = roder(&home, &["app-server", "--remote", "--auth-token", setting]);
            command.args(more).env_remove("NO_SUCH_TOKEN");
            command.envs(value.map(|value| ("NO_SUCH_TOKEN", value)));
            let ended = command.output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert_eq!(ended.status.code(), Some(2), "{said}");
            let wanted = "environment variable NO_SUCH_TOKEN is not set or blank";
            assert!(said.contains(wanted) && !said.contains("REDACTED"), "{said}");
        }
    }
    let file = home.join("no-such-token");
    let mut command = roder(&home, &["app-server", "--remote", "--auth-token-file"]);
    let ended = command.arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(said.contains(file.to_str().unwrap()), "{said}");
}

#[test]
fn an_effort_of_the_environment_that_the_model_does_not_have_is_reported() {
    let home = Home::new();
    let mut command = roder(&home, &["app-server", "--standalone", "--provider", "mock"]);
    command.env("RODER_REASONING", "high");
    let mut peer = Peer::of(command);
    let started = peer.call("thread/start", json!({ "cwd": home.path() }));
    assert_eq!(started["reasoning"], "none", "{started}");
    let warning = peer.wait_told("warning");
    let wanted = "model mock does not support reasoning effort high; none is used instead";
    assert_eq!(warning["message"], wanted);
    assert_eq!(warning["threadId"], started["thread"]["id"]);
}

#[test]
fn a_turn_that_ends_with_the_daemon_is_distinguished_from_one_that_someone_stopped() {
    let mut daemon = TestDaemon::start();
    let mut peer = Peer::to(&daemon);
    let thread = peer.thread(daemon.home().path());
    let hanging = script(&json!([{ "hang": true }]));
    let stopped = peer.turn(&thread, &hanging);
    peer.call("turn/interrupt", json!({ "threadId": thread }));
    peer.until_over(&stopped);
    peer.turn(&thread, &hanging);
    daemon.client().send(Shutdown::default());
    daemon.wait_ended();
    daemon.restart();
    let mut peer = Peer::to(&daemon);
    let read = peer.call("thread/read", json!({ "threadId": thread, "includeTurns": true }));
    let records = read["lifecycle"]["records"].as_array().unwrap();
    let reasons: Vec<&Value> = records.iter().map(|record| &record["reason"]).collect();
    assert_eq!(reasons, ["user_interrupt", "shutdown"], "{records:?}");
    let turns = read["thread"]["turns"].as_array().unwrap();
    assert!(turns.iter().all(|turn| turn["status"] == "interrupted" && turn["error"].is_null()));
}

#[test]
fn a_client_has_as_long_for_its_own_tools_as_the_variable_says() {
    let home = Home::new();
    let mut command = roder(&home, &["app-server", "--standalone"]);
    command.env("RODER_EXTERNAL_TOOL_TIMEOUT_SECONDS", "1");
    let mut peer = Peer::of(command);
    let tool =
        json!({ "name": "acme_lookup", "description": "", "parameters": { "type": "object" } });
    let started = peer.call("thread/start", json!({ "cwd": home.path(), "externalTools": [tool] }));
    let thread = started["thread"]["id"].as_str().unwrap().to_owned();
    let turn = peer.turn(&thread, "FAKE_EXTERNAL_TOOL");
    let resolved = peer.wait_told("thread/toolExecutionResolved");
    assert_eq!((&resolved["outcome"], &resolved["isError"]), (&json!("timedOut"), &json!(true)));
    peer.until_over(&turn);
}
