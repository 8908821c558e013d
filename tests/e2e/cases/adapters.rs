//! Adapters: they outlive the daemon, can be read while they wait, and take a changed plugin.

use std::{fs, path::Path};

use rookery_testkit::{Caller, Home, TestDaemon, wait_until};
use serde_json::{Value, json};

const PARROT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors/ptywright/plugins/parrot/manifest.toml");

/// A daemon that lets clients load plugins.
fn daemon() -> TestDaemon {
    let home = Home::new();
    let config = home.join("config/rookery/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "[ptywright]\nallow_plugin_load = true\n").unwrap();
    TestDaemon::start_in(home)
}

fn ptywright(daemon: &TestDaemon) -> Caller {
    Caller::connect(&daemon.ptywright_socket()).unwrap()
}

fn load(client: &Caller, manifest: &Path) -> Value {
    client.call("plugin.load", json!({"manifest_path": manifest}))
}

#[test]
fn an_adapter_outlives_the_daemon() {
    let mut daemon = daemon();
    let client = ptywright(&daemon);
    load(&client, Path::new(PARROT));
    let started = client.call("adapter.start", json!({"plugin": "parrot"}));
    let text = json!({"text": "hello"});
    let wait = json!({"intent": "wait_text_matcher", "params": text});
    let said = json!({"intent": "say", "params": text});
    client.call("adapter.turn", json!({"adapter": "e1", "send": said, "wait": wait}));
    let before = client.call("adapter.state", json!({"adapter": "e1"}));
    daemon.kill9();
    daemon.restart();
    let client = ptywright(&daemon);
    let live = client.call("adapter.live", json!({}));
    assert_eq!(live["adapters"][0]["adapter"], "e1");
    assert_eq!(live["adapters"][0]["process"]["pid"], started["process"]["pid"]);
    let after = client.call("adapter.state", json!({"adapter": "e1"}));
    assert_eq!(after["state"]["state"], "asked");
    assert_eq!(after["state"]["evidence"], before["state"]["evidence"]);
    assert_eq!(after["state"]["metadata"]["markers"], before["state"]["metadata"]["markers"]);
    assert!(after["state"]["metadata"]["markers"]["said"].is_u64());
    // Ids are never given twice.
    client.call("adapter.close", json!({"adapter": "e1"}));
    daemon.kill9();
    daemon.restart();
    let again = ptywright(&daemon).call("adapter.start", json!({"plugin": "parrot"}));
    assert_eq!(again["adapter"], "e2");
}

#[test]
fn an_adapter_is_read_and_its_waits_are_cancelled_while_it_waits() {
    let daemon = daemon();
    let client = ptywright(&daemon);
    load(&client, Path::new(PARROT));
    client.call("adapter.start", json!({"plugin": "parrot"}));
    let never = json!({"adapter": "e1", "intent": "wait_text_matcher", "params": {"text": "never"}, "wait_id": "w"});
    let other = ptywright(&daemon);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| other.refused("adapter.wait", never.clone()));
        // The name is taken as soon as the wait is pending.
        wait_until("the wait to be pending", rookery_testkit::PATIENCE, || {
            let mut twice = never.clone();
            twice["timeout_ms"] = json!(1);
            client.refused("adapter.wait", twice).message == "wait_id `w` is already in flight"
        });
        client.call("adapter.state", json!({"adapter": "e1"}));
        client.call("adapter.live", json!({}));
        client.call("adapter.send", json!({"adapter": "e1", "intent": "nothing"}));
        let cancelled = client.call("adapter.cancel_wait", json!({"wait_id": "w"}));
        assert_eq!(cancelled, json!({"cancelled": true, "adapter": "e1", "wait_id": "w"}));
        let refused = waiting.join().unwrap();
        assert_eq!((refused.code, refused.message.as_str()), (-32005, "wait cancelled"));
    });
    assert_eq!(
        client.call("adapter.cancel_wait", json!({"wait_id": "w"})),
        json!({"cancelled": false})
    );
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| other.refused("adapter.wait", never.clone()));
        wait_until("the wait to be pending", rookery_testkit::PATIENCE, || {
            let mut twice = never.clone();
            twice["timeout_ms"] = json!(1);
            client.refused("adapter.wait", twice).code == -32602
        });
        client.call("adapter.close", json!({"adapter": "e1"}));
        assert_eq!(waiting.join().unwrap().code, -32002);
    });
}

#[test]
fn a_changed_plugin_is_loaded_anew_and_widens_nothing() {
    let daemon = daemon();
    let client = ptywright(&daemon);
    let dir = daemon.home().join("plugin");
    fs::create_dir_all(&dir).unwrap();
    let manifest = dir.join("manifest.toml");
    let write = |state: &str, permissions: &str| {
        let head = "name = \"hot\"\nkind = \"adapter\"\nversion = \"1\"\nruntime = \"lua\"\nentrypoint = \"p.lua\"\n";
        fs::write(&manifest, format!("{head}permissions = [{permissions}]\n")).unwrap();
        let code = format!(
            "return {{ classify = function(c) return {{ state = '{state}', confidence = 1, evidence = '', sequence = c.sequence }} end, \
             stop = function() return {{ actions = {{ {{ type = 'kill' }} }} }} end }}"
        );
        fs::write(dir.join("p.lua"), code).unwrap();
    };
    write("cold", "\"session.spawn\", \"screen.read\", \"input.write\"");
    load(&client, &manifest);
    client.call("adapter.start", json!({"plugin": "hot", "program": "/bin/cat"}));
    let state = || client.call("adapter.state", json!({"adapter": "e1"}))["state"]["state"].clone();
    assert_eq!(state(), "cold");
    write("hot", "\"session.spawn\", \"screen.read\", \"input.write\", \"session.kill\"");
    assert_eq!(load(&client, &manifest), json!({"plugin": "hot"}));
    assert_eq!(state(), "hot");
    let refused = client.refused("adapter.send", json!({"adapter": "e1", "intent": "stop"}));
    assert_eq!(
        (refused.code, &refused.data.unwrap()["required_permission"]),
        (-32004, &json!("session.kill"))
    );
    // What is permitted now counts for who starts now, and what is taken away is taken from everyone.
    client.call("adapter.start", json!({"plugin": "hot", "program": "/bin/cat"}));
    client.call("adapter.send", json!({"adapter": "e2", "intent": "stop"}));
    write("deaf", "\"session.spawn\"");
    load(&client, &manifest);
    assert_eq!(client.refused("adapter.state", json!({"adapter": "e1"})).code, -32004);
    // A plugin that does not load changes nothing.
    fs::write(dir.join("p.lua"), "return 7").unwrap();
    assert_eq!(client.refused("plugin.load", json!({"manifest_path": manifest})).code, -32603);
}

#[test]
fn plugins_cannot_be_loaded_unless_the_daemon_allows_it() {
    let daemon = TestDaemon::start();
    let client = ptywright(&daemon);
    for method in ["plugin.load", "plugin.unload"] {
        // Before the params are even looked at.
        let refused = client.refused(method, json!({}));
        assert_eq!(refused.code, -32004);
        let data = json!({"method": method, "reason": "server_did_not_grant_plugin_load"});
        assert_eq!(refused.data, Some(data));
    }
}
