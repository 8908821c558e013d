//! Plugins that mean harm: each gets its error, nothing hangs, other clients are not affected.

use std::fs;

use rookery_testkit::{Caller, Home, TestDaemon, is_alive, memory_of};
use serde_json::{Value, json};

const CODE: &str = r#"
local plugin = {}
function plugin.classify(c)
  return { state = "ok", confidence = 1, evidence = "", sequence = c.sequence }
end
function plugin.loop() while true do end end
function plugin.stubborn() while true do pcall(function() while true do end end) end end
function plugin.pattern() return ("a"):rep(20000):find((".-"):rep(8) .. "b") end
function plugin.finalizer()
  setmetatable({}, { __gc = function() while true do end end })
  return { actions = {} }
end
function plugin.allocate()
  local all = {}
  for i = 1, 1000 do all[i] = ("x"):rep(1 << 20) .. i end
  return { actions = {} }
end
function plugin.huge() return { actions = { { type = "text", value = ("x"):rep(1 << 40) } } } end
function plugin.deep()
  local t = {}
  for _ = 1, 100000 do t = { t } end
  return { actions = t }
end
function plugin.cycle()
  local t = {}
  t[1] = t
  return { actions = t }
end
function plugin.recurse() return plugin.recurse() .. "x" end
function plugin.talk() print("leaked to the protocol") return { actions = {} } end
function plugin.file() return dofile("/etc/hostname") end
function plugin.io() return io.open("/etc/hostname") end
function plugin.os() return os.execute("true") end
function plugin.binary() return load("\27Lua")() end
function plugin.forge() return { actions = { { type = "text", value = "typed" }, { type = "kill" } } } end
return plugin
"#;

fn daemon() -> TestDaemon {
    let home = Home::new();
    let dir = home.join("plugin");
    fs::create_dir_all(&dir).unwrap();
    let manifest = dir.join("manifest.toml");
    let head = "name = \"bad\"\nkind = \"adapter\"\nversion = \"1\"\nruntime = \"lua\"\nentrypoint = \"p.lua\"\n";
    let permissions = "permissions = [\"session.spawn\", \"screen.read\", \"input.write\"]\n";
    fs::write(&manifest, format!("{head}{permissions}")).unwrap();
    fs::write(dir.join("p.lua"), CODE).unwrap();
    let config = home.join("config/rookery/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, format!("[ptywright]\nplugins = [{manifest:?}]\n")).unwrap();
    TestDaemon::start_in(home)
}

#[test]
fn each_gets_its_error_and_other_clients_are_not_affected() {
    let daemon = daemon();
    let client = Caller::connect(&daemon.ptywright_socket()).unwrap();
    let started = client.call("adapter.start", json!({"plugin": "bad", "program": "/bin/cat"}));
    let pid = started["process"]["pid"].as_u64().unwrap() as u32;
    let bystander = Caller::connect(&daemon.ptywright_socket()).unwrap();
    bystander.call("adapter.start", json!({"plugin": "bad", "program": "/bin/cat"}));
    let before = memory_of(daemon.pid());
    let fails = [
        ("loop", "instruction limit"),
        ("stubborn", "limit"),
        ("pattern", "limit"),
        ("finalizer", "__gc"),
        ("allocate", "memory limit"),
        ("huge", ""),
        ("deep", ""),
        ("cycle", ""),
        ("recurse", ""),
        ("file", ""),
        ("io", ""),
        ("os", ""),
        ("binary", ""),
    ];
    for (intent, why) in fails {
        let (client, send) = (&client, json!({"adapter": "e1", "intent": intent}));
        let refused = std::thread::scope(|scope| {
            let bad = scope.spawn(move || client.refused("adapter.send", send));
            // Meanwhile others are served, by the same plugin too.
            let state = bystander.call("adapter.state", json!({"adapter": "e2"}));
            assert_eq!(state["state"]["state"], "ok");
            bad.join().unwrap()
        });
        assert_eq!(refused.code, -32603, "{intent}: {}", refused.message);
        assert!(refused.message.contains(why), "{intent}: {}", refused.message);
        // And the plugin itself is as before.
        assert_eq!(client.call("adapter.state", json!({"adapter": "e1"}))["state"]["state"], "ok");
    }
    assert!(memory_of(daemon.pid()) < before + (192 << 20));
    // Print goes to the log; the reply is a reply.
    let said: Value = client.call("adapter.send", json!({"adapter": "e1", "intent": "talk"}));
    assert_eq!(said["state"]["state"], "ok");
    // What the manifest does not permit is not done, and nothing before it either.
    let refused = client.refused("adapter.send", json!({"adapter": "e1", "intent": "forge"}));
    assert_eq!(
        (refused.code, &refused.data.unwrap()["required_permission"]),
        (-32004, &json!("session.kill"))
    );
    let snapshot = client.call("adapter.snapshot", json!({"adapter": "e1", "cells": false}));
    assert_eq!(snapshot["plain_text"], "");
    assert!(is_alive(pid));
}
