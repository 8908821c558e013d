//! `rookery chat` as a new user meets it: nothing set up, a key in the environment, a conversation at a
//! terminal, and a terminal that goes away.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use rookery_native::wire::RequestList;
use rookery_testkit::{
    Finished, Home, PATIENCE, TestDaemon, TestPty, eventually, rookery_binary, wait_until,
};
use rookery_wire::Call as _;
use serde_json::{Value, json};

use crate::model_server::ModelServer;

const SIZE: (u16, u16) = (40, 100);
const KEY: &str = "sk-only-in-my-shell-4711";

/// A home whose config has one provider of its own, at this address.
fn home_with_provider(server: &ModelServer) -> Home {
    let home = Home::new();
    let dir = home.join("config/rookery");
    fs::create_dir_all(&dir).unwrap();
    let config = format!(
        "provider = \"work\"\n[providers.work]\nbase_url = \"{}\"\napi_key_env = \"WORK_KEY\"\n",
        server.url
    );
    fs::write(dir.join("config.toml"), config).unwrap();
    home
}

fn chat_with_key(home: &Home, args: &[&str]) -> Finished {
    let mut command = home.command(rookery_binary());
    command.arg("chat").args(args).env("WORK_KEY", KEY);
    Finished::of(command)
}

/// A conversation with the mock at a terminal.
fn conversation(home: &Home) -> TestPty {
    let pty = TestPty::spawn(home, rookery_binary(), &["chat", "--provider", "mock"], SIZE);
    pty.wait_text("/help lists the commands");
    pty
}

fn threads(daemon: &TestDaemon) -> Vec<Value> {
    let list = daemon.client().call("thread/list", json!({}));
    list["data"].as_array().unwrap().clone()
}

/// Whether any file below a directory has a text.
fn is_in_files(dir: &Path, text: &str) -> bool {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        let kind = entry.file_type().unwrap();
        let has = |bytes: Vec<u8>| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        if kind.is_dir() {
            is_in_files(&entry.path(), text)
        } else {
            kind.is_file() && fs::read(entry.path()).is_ok_and(has)
        }
    })
}

#[test]
fn without_a_model_it_says_what_to_do() {
    let daemon = TestDaemon::start();
    let said = daemon.rookery(&["chat", "hello"]).failure(1);
    assert!(said.contains("no provider is set up") && said.contains("rookery setup"), "{said}");
    assert_eq!(threads(&daemon), [] as [Value; 0], "nothing was begun");
    // The mock answers every client that selects it.
    let answer = daemon.rookery(&["chat", "--provider", "mock", "hello"]).success();
    assert_eq!(answer, "hello from roder\n");
    daemon.client().call("providers/select", json!({"provider": "mock"}));
    assert_eq!(daemon.rookery(&["chat", "hello"]).success(), "hello from roder\n");
}

#[test]
fn a_key_of_the_caller_counts_for_the_caller_and_is_kept_nowhere() {
    let command = "env; cat /proc/self/environ; echo looked";
    let call = json!({"index": 0, "id": "c1", "type": "function",
        "function": {"name": "shell", "arguments": json!({"command": command}).to_string()}});
    let server =
        ModelServer::start(vec![json!({"tool_calls": [call]}), json!({"content": "done"})]);
    let daemon = TestDaemon::start_in(home_with_provider(&server));
    let home = daemon.home();
    let said = home.rookery(&["chat", "hello"]).failure(1);
    assert!(said.contains("WORK_KEY"), "{said}");
    assert!(server.asked().is_empty(), "nothing is asked without a key");

    let answer = chat_with_key(home, &["--yes", "look around"]).success();
    assert_eq!(answer, "done\n");
    let asked = server.asked();
    let bearer = format!("bearer {KEY}");
    assert!(asked.iter().all(|one| one.head.to_lowercase().contains(&bearer)), "{asked:?}");
    // The model was asked for by the name that the server gives it.
    let calls: Vec<_> = asked.iter().filter(|one| one.head.starts_with("POST")).collect();
    assert_eq!(calls.len(), 2);
    assert!(calls[0].body.contains("\"house-model\""), "{}", calls[0].body);
    // What a tool sees has no key in it, and neither has anything that is kept.
    assert!(calls[1].body.contains("looked"), "{}", calls[1].body);
    assert!(!calls[1].body.contains(KEY), "{}", calls[1].body);
    assert!(!is_in_files(home.path(), KEY), "the key was written to a file");
    // And the next caller has to bring one again.
    home.rookery(&["chat", "hello"]).failure(1);
}

/// An agent that says how long the key is that it was started with.
const AGENT: &str = r#"#!/bin/sh
while read -r line; do
    id=$(printf %s "$line" | sed 's/.*"id":\([^,}]*\).*/\1/')
    answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
    case $line in
        *'"initialize"'*) answer '{"protocolVersion":1,"agentCapabilities":{}}' ;;
        *'"session/new"'*) answer '{"sessionId":"s"}' ;;
        *'"session/prompt"'*)
            text="a key of ${#GEMINI_API_KEY}"
            update='{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'$text'"}}'
            echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'$update'}}'
            answer '{"stopReason":"end_turn"}' ;;
    esac
done
"#;

#[test]
fn a_key_of_the_caller_reaches_an_agent_that_is_a_program() {
    let home = Home::new();
    let agent = home.join("agent");
    fs::write(&agent, AGENT).unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    let dir = home.join("config/rookery");
    fs::create_dir_all(&dir).unwrap();
    // Known by its name; which variables it reads is in the list of agents.
    let config = format!(
        "provider = \"gemini\"\n[providers.gemini]\nkind = \"acp\"\ncommand = [{:?}]\n",
        agent.display().to_string()
    );
    fs::write(dir.join("config.toml"), config).unwrap();
    let daemon = TestDaemon::start_in(home);
    let chat = |key: Option<&str>, args: &[&str]| {
        let mut command = daemon.home().command(rookery_binary());
        command.arg("chat").args(args).envs(key.map(|key| ("GEMINI_API_KEY", key)));
        Finished::of(command)
    };
    assert_eq!(chat(Some(KEY), &["hello"]).success(), format!("a key of {}\n", KEY.len()));
    assert_eq!(chat(None, &["hello"]).success(), "a key of 0\n");
    // Also not in the thread of the first one.
    assert_eq!(chat(Some("short-key"), &["hello"]).success(), "a key of 9\n");
    assert_eq!(chat(None, &["--last", "hello"]).success(), "a key of 0\n");
    assert!(!is_in_files(daemon.home().path(), KEY), "the key was written to a file");
}

#[test]
fn a_turn_that_lost_its_key_in_a_restart_says_what_to_do() {
    let call = json!({"index": 0, "id": "c1", "type": "function",
        "function": {"name": "shell", "arguments": json!({"command": "touch there"}).to_string()}});
    let server = ModelServer::start(vec![json!({"tool_calls": [call]})]);
    let mut daemon = TestDaemon::start_in(home_with_provider(&server));
    let client = daemon.client();
    client.call("rookery/keys/lend", json!({ "provider": "work", "key": KEY }));
    let started = client.call("thread/start", json!({ "cwd": daemon.home().path() }));
    let thread = started["thread"]["id"].as_str().unwrap().to_owned();
    let input = json!([{ "type": "text", "text": "begin" }]);
    client.call("turn/start", json!({ "threadId": thread, "input": input }));
    let waits = |daemon: &TestDaemon| {
        let asked = daemon.client().call("session/get", json!({}))["pendingApprovals"].take();
        asked.as_array().and_then(|all| all.first().cloned())
    };
    eventually("it asks", PATIENCE, || waits(&daemon));
    daemon.kill9();
    daemon.restart();
    let asked = eventually("it still asks", PATIENCE, || waits(&daemon));
    let id = &asked["approvalId"];
    let answer = json!({ "threadId": thread, "approvalId": id, "approved": true });
    daemon.client().call("session/resolve_approval", answer);
    let error = eventually("the turn fails", PATIENCE, || {
        let read = daemon
            .client()
            .call("thread/read", json!({ "threadId": thread, "includeTurns": true }));
        let turn = read["thread"]["turns"].as_array()?.first()?.clone();
        (turn["status"] == "failed").then(|| turn["error"].to_string())
    });
    assert!(error.contains("run the prompt again from a shell that has WORK_KEY"), "{error}");
}

#[test]
fn what_is_piped_in_is_part_of_the_prompt() {
    let server = ModelServer::start(Vec::new());
    let daemon = TestDaemon::start_in(home_with_provider(&server));
    let mut command = daemon.home().command(rookery_binary());
    command.args(["chat", "explain", "this"]).env("WORK_KEY", KEY);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"error: it broke\n").unwrap();
    drop(stdin);
    let status = eventually("chat ends", PATIENCE, || child.try_wait().unwrap());
    assert!(status.success());
    let asked = server.asked();
    let call = asked.iter().find(|one| one.head.starts_with("POST")).unwrap();
    let body: Value = serde_json::from_str(&call.body).unwrap();
    let said = body["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
    assert!(said.contains("explain this\\n\\nerror: it broke"), "{said}");
}

#[test]
fn slash_commands_are_carried_out_and_not_said() {
    let daemon = TestDaemon::start();
    let mut pty = conversation(daemon.home());
    pty.send(b"/help\r");
    pty.wait_text("/compact [WHAT TO KEEP]");
    pty.send(b"/model\r");
    pty.wait_text("current model: mock/mock");
    pty.send(b"/provider\r");
    pty.wait_text("needs ANTHROPIC_API_KEY");
    pty.send(b"/mode plan\r");
    pty.wait_text("the mode is plan");
    pty.send(b"/compact\r");
    pty.wait_text("nothing was summarized");
    pty.send(b"/clear\r");
    pty.wait_text("return to the previous one");
    pty.send(b"/mode\r");
    wait_until("the new thread has the mode", PATIENCE, || {
        pty.text().matches("the mode is plan").count() == 2
    });
    pty.send(b"/threads\r");
    pty.wait_text("/threads ID continues another");
    pty.send(b"/quit\r");
    assert!(pty.wait_ended().success());
    let threads = threads(&daemon);
    assert_eq!(threads.len(), 2);
    assert!(threads.iter().all(|thread| thread["messageCount"] == 0), "{threads:?}");
}

#[test]
fn commands_of_a_conversation_alone_make_no_thread() {
    let daemon = TestDaemon::start();
    let said = daemon.rookery(&["chat", "/clear"]).failure(2);
    assert!(said.contains("inside a conversation"), "{said}");
    let listed = daemon.rookery(&["chat", "/help"]);
    assert!(listed.stderr.contains("/model [MODEL]"), "{listed:?}");
    assert_eq!(threads(&daemon), [] as [Value; 0]);
}

#[test]
fn lines_are_remembered_for_the_next_conversation() {
    let daemon = TestDaemon::start();
    let mut pty = conversation(daemon.home());
    pty.send(b"remember this line\r");
    pty.wait_text("hello from roder");
    pty.send(b" but not this one\r");
    wait_until("both were answered", PATIENCE, || {
        pty.text().matches("hello from roder").count() == 2
    });
    pty.send(b"/quit\r");
    assert!(pty.wait_ended().success());
    let file = daemon.home().join("state/rookery/chat_history");
    let kept = fs::read_to_string(&file).unwrap();
    assert!(kept.contains("remember this line") && !kept.contains("not this one"), "{kept}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o077, 0, "only its owner reads it");
    let mut pty = conversation(daemon.home());
    pty.send(b"\x1b[A\x1b[A\r");
    pty.wait_text("remember this line");
    pty.wait_text("hello from roder");
    pty.send(b"/quit\r");
    assert!(pty.wait_ended().success());
}

#[test]
fn a_terminal_that_goes_away_does_not_end_the_turn() {
    let daemon = TestDaemon::start();
    let script =
        r#"MOCK_SCRIPT:[{"tool":"write_file","args":{"path":"x","content":"y"}},{"text":"done"}]"#;
    let dir = daemon.home().join("work");
    fs::create_dir(&dir).unwrap();
    let at = dir.to_str().unwrap();
    let args = ["chat", "--provider", "mock", "--cwd", at, script];
    let mut pty = TestPty::spawn(daemon.home(), rookery_binary(), &args, SIZE);
    pty.wait_text("allow?");
    let is_chat = |command: &str| command.contains(" chat ") && !command.starts_with("setsid");
    let processes = daemon.home().processes();
    let chat = processes.iter().find(|one| is_chat(&one.command)).unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(chat.pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
    assert_eq!(pty.wait_ended().code(), Some(129));
    // It still waits for its answer, and comes to its end with it.
    let asked = daemon.rookery(&["inbox", "--json"]).success();
    let client = daemon.client();
    let pending = client.call(RequestList::METHOD, json!({}));
    let id = pending["requests"][0]["id"].as_str().unwrap_or_else(|| panic!("{asked}"));
    daemon.rookery(&["approve", id]).success();
    wait_until("the turn did its work", PATIENCE, || dir.join("x").exists());
    let id = threads(&daemon)[0]["id"].clone();
    wait_until("the turn is completed", PATIENCE, || {
        let read = client.call("thread/read", json!({"threadId": id, "includeTurns": true}));
        read["thread"]["turns"][0]["status"] == "completed"
    });
}

#[test]
fn words_are_drawn_on_a_terminal_and_left_alone_in_a_pipe() {
    let daemon = TestDaemon::start();
    let text = format!("# Title\n- {}", "word ".repeat(30));
    let script =
        format!("MOCK_SCRIPT:{}", json!([{"text": text, "usage": {"prompt": 7, "completion": 2}}]));
    let args = ["chat", "--provider", "mock", &script];
    let piped = daemon.rookery(&args).success();
    assert_eq!(piped.trim_end(), text.trim_end(), "as the model wrote it");
    let mut pty = TestPty::spawn(daemon.home(), rookery_binary(), &args, SIZE);
    pty.wait_text("continue with");
    assert!(pty.wait_ended().success());
    let shown = pty.text();
    assert!(shown.contains("\nTitle\n• word") || shown.starts_with("Title\n• word"), "{shown}");
    assert!(shown.contains("\n  word"), "wrapped below its words: {shown}");
    assert!(shown.contains("tokens in"), "{shown}");
}

#[test]
fn a_tool_that_fails_says_why() {
    let daemon = TestDaemon::start();
    let script =
        r#"MOCK_SCRIPT:[{"tool":"read_file","args":{"path":"nowhere.txt"}},{"text":"done"}]"#;
    let ran = daemon.rookery(&["chat", "--provider", "mock", script]);
    let line = ran.stderr.lines().find(|line| line.contains("read_file")).unwrap_or_default();
    assert!(line.contains("failed") && line.matches("nowhere.txt").count() > 1, "{ran:?}");
}

#[test]
fn files_and_images_are_taken_along() {
    let server = ModelServer::start(Vec::new());
    let daemon = TestDaemon::start_in(home_with_provider(&server));
    let dir = daemon.home().join("work");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("notes.txt"), "inside").unwrap();
    fs::write(dir.join("picture.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    fs::write(daemon.home().join("other.txt"), "from outside").unwrap();
    let mut command = daemon.home().command(rookery_binary());
    command.args(["chat", "compare @notes.txt with @../other.txt and @picture.png, @unknown"]);
    Finished::of({
        command.current_dir(&dir).env("WORK_KEY", KEY);
        command
    })
    .success();
    let asked = server.asked();
    let call = asked.iter().find(|one| one.head.starts_with("POST")).unwrap();
    let body = &call.body;
    assert!(body.contains("work/notes.txt"), "{body}");
    assert!(body.contains("from outside"), "{body}");
    assert!(body.contains("data:image/png;base64,"), "{body}");
}

#[test]
fn without_colors_markdown_stays_as_it_is() {
    let daemon = TestDaemon::start();
    let script = format!("MOCK_SCRIPT:{}", json!([{"text": "# Title\nsay **it** now"}]));
    let program = rookery_binary().to_str().unwrap();
    let args = ["NO_COLOR=1", program, "chat", "--provider", "mock", &script];
    let mut pty = TestPty::spawn(daemon.home(), Path::new("/usr/bin/env"), &args, SIZE);
    pty.wait_text("continue with");
    assert!(pty.wait_ended().success());
    assert!(pty.text().contains("# Title\nsay **it** now"), "{}", pty.text());
}

#[test]
fn models_are_listed_by_the_key_of_the_caller() {
    let server = ModelServer::start(Vec::new());
    let daemon = TestDaemon::start_in(home_with_provider(&server));
    let key = format!("WORK_KEY={KEY}");
    let args = [&key, rookery_binary().to_str().unwrap(), "chat"];
    let mut pty = TestPty::spawn(daemon.home(), Path::new("/usr/bin/env"), &args, SIZE);
    pty.wait_text("with work/house-model");
    pty.send(b"/model\r");
    pty.wait_text("* house-model");
    pty.send(b"/model another\r");
    pty.wait_text("this thread now uses work/another");
    pty.send(b"hello there\r");
    pty.wait_text("12 tokens in, 3 out");
    pty.send(b"/quit\r");
    assert!(pty.wait_ended().success());
    let call = server.asked().into_iter().rfind(|one| one.head.starts_with("POST")).unwrap();
    assert!(call.body.contains("\"another\""), "{}", call.body);
}
