//! What a hostile repository or model gets to see without asking, and what a person sees before
//! saying yes: keys, our own files, characters that hide, previews that are cut.

use std::fs;

use rookery_testkit::{Home, TestDaemon};
use serde_json::{Value, json};

use crate::roder_link::Peer;

/// A daemon that takes a key from a variable which every child would inherit.
fn start() -> (TestDaemon, Peer) {
    let home = Home::new();
    let config = home.join("config/rookery");
    fs::create_dir_all(&config).unwrap();
    let text = "[providers.work]\nkind = \"openai_chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
                api_key_env = \"LANG\"\n# CONFIG-SECRET\n";
    fs::write(config.join("config.toml"), text).unwrap();
    for (name, text) in [(".ssh/id_rsa", "SSH-SECRET"), ("work/kept", "kept\n")] {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    std::os::unix::fs::symlink("../.ssh/id_rsa", home.join("work/link")).unwrap();
    let daemon = TestDaemon::start_in(home);
    let peer = Peer::to(&daemon);
    (daemon, peer)
}

fn shell(thread: &str, command: &str) -> Value {
    json!({ "threadId": thread, "toolName": "shell", "arguments": { "command": command } })
}

#[test]
fn keys_are_in_no_environment_of_a_tool() {
    let (daemon, mut peer) = start();
    let work = daemon.home().join("work");
    let thread = peer.thread(&work);
    let by_client = peer.call("command/exec", json!({ "command": ["env"], "cwd": work }));
    let by_tool = peer.call("tools/call", shell(&thread, "env"));
    let session = json!({ "cmd": "env", "yield_time_ms": 20_000 });
    let by_session = peer.call(
        "tools/call",
        json!({ "threadId": thread, "toolName": "exec_command", "arguments": session }),
    );
    for said in [by_client, by_tool, by_session] {
        let said = said.to_string();
        assert!(said.contains("HOME="), "{said}");
        assert!(!said.contains("LANG="), "{said}");
    }
    // What a person opens has what the person has.
    let opened = daemon.rookery(&["open", "--", "sh", "-c", "echo [$LANG]; read x"]).success();
    let id = opened.trim().rsplit(' ').next().unwrap().to_owned();
    daemon.rookery(&["wait", &id, "--text", "[C.UTF-8]"]).success();
}

#[test]
fn unasked_commands_do_not_read_keys_or_our_own_files() {
    let (daemon, mut peer) = start();
    if !has_sandbox(&daemon) {
        return;
    }
    let work = daemon.home().join("work");
    let thread = peer.thread(&work);
    let home = daemon.home().path().display().to_string();
    for command in [
        format!("cat {home}/.ssh/id_rsa"),
        "cat ../.ssh/id_rsa".to_owned(),
        "cat link".to_owned(),
        "grep -r SECRET ..".to_owned(),
        format!("cat {home}/config/rookery/config.toml"),
        format!("grep -ra SECRET {home}/state"),
        format!("cat /proc/{}/environ", daemon.pid()),
    ] {
        let said = peer.call("tools/call", shell(&thread, &command)).to_string();
        assert!(!said.contains("SECRET\\n") && !said.contains("-SECRET"), "{command}: {said}");
        assert!(!said.contains("ROOKERY_HOME="), "{command}: {said}");
        let exec = json!({ "command": ["sh", "-c", command], "cwd": work });
        let said = peer.call("command/exec", exec).to_string();
        assert!(!said.contains("-SECRET") && !said.contains("ROOKERY_HOME="), "{command}: {said}");
    }
    let said = peer.call("tools/call", shell(&thread, "cat kept")).to_string();
    assert!(said.contains("kept"), "{said}");
}

/// Whether commands can be held to reading on this machine at all.
pub(super) fn has_sandbox(daemon: &TestDaemon) -> bool {
    daemon.rookery(&["__sandbox", "--read-only", "--", "true"]).status.success()
}

#[test]
fn what_is_hidden_in_a_command_is_shown_everywhere() {
    let (daemon, mut peer) = start();
    let thread = peer.thread(&daemon.home().join("work"));
    let command = "touch \u{200b}a\u{e0041}\u{3164}\u{202e}b\u{fe0f}";
    peer.refused("tools/call", shell(&thread, command));
    let asked = peer.call("session/get", json!({ "threadId": thread })).to_string();
    let inbox = daemon.rookery(&["inbox"]).success();
    for shown in [&asked.replace("\\\\", "\\"), &inbox] {
        for spelled in ["\\u{200b}a", "\\u{e0041}", "\\u{3164}", "\\u{202e}b", "\\u{fe0f}"] {
            assert!(shown.contains(spelled), "{spelled}: {shown}");
        }
        assert!(shown.contains("[runs as /bin/sh -lc in "), "{shown}");
    }
}

#[test]
fn what_was_cut_is_not_approved_by_mistake() {
    let (daemon, mut peer) = start();
    let thread = peer.thread(&daemon.home().join("work"));
    let content = format!("{}THE-MIDDLE\n{}", "x\n".repeat(20_000), "y\n".repeat(20_000));
    let write = json!({ "path": "new.txt", "content": content });
    let call = json!({ "threadId": thread, "toolName": "write_file", "arguments": write });
    peer.refused("tools/call", call.clone());
    let asked = daemon.rookery(&["inbox", "--json"]).json();
    let request = &asked["requests"][0];
    let id = request["id"].as_str().unwrap();
    let preview = request["preview"].as_str().unwrap();
    let hidden = request["unseen"]["characters"].as_u64().unwrap();
    assert!(!preview.contains("THE-MIDDLE"));
    assert!(preview.contains(&format!("[not shown here: {hidden} of ")), "{preview}");
    let refused = daemon.rookery(&["approve", id]).failure(1);
    assert!(refused.contains(&format!("omits {hidden} of")), "{refused}");
    assert!(refused.contains("rookery inbox show"), "{refused}");
    let shown = daemon.rookery(&["inbox", "show", id]).success();
    assert!(shown.contains("THE-MIDDLE"), "the whole text is printed");
    daemon.rookery(&["approve", id, "--unseen"]).success();
    peer.call("tools/call", call);
    let written = fs::read_to_string(daemon.home().join("work/new.txt")).unwrap();
    assert_eq!(written, content);
}
