//! Commands that a client of the Roder dialect runs, and the terminals in which agents run theirs.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rookery_native::wire::Dump;
use rookery_testkit::{Caller, Home, PATIENCE, TestDaemon, eventually, wait_until};
use rookery_wire::Call as _;
use serde_json::{Value, json};

use crate::roder_link::{Peer, SOON, Told, script};
use crate::roost_link::Link;

/// What streamed of a process so far, if that is told here.
fn streamed(told: &[Told], process: &str) -> String {
    let meant = told
        .iter()
        .filter(|(name, told)| name == "command/exec/output_delta" && told["processId"] == process);
    let bytes: Vec<u8> = meant
        .flat_map(|(_, told)| STANDARD.decode(told["deltaBase64"].as_str().unwrap()).unwrap())
        .collect();
    String::from_utf8(bytes).unwrap()
}

/// Reads on until a process has written this.
#[track_caller]
fn until_streamed(peer: &mut Peer, process: &str, text: &str) -> Vec<Told> {
    let mut all = Vec::new();
    while !streamed(&all, process).contains(text) {
        all.push(peer.next().unwrap());
    }
    all
}

fn runs(home: &Home, command: &str) -> bool {
    home.processes().iter().any(|process| process.command == command)
}

#[track_caller]
fn wait_gone(home: &Home, commands: &[&str]) {
    for command in commands {
        wait_until(&format!("{command} is gone"), SOON, || !runs(home, command));
    }
}

/// A daemon in which everything may run, and a client.
fn start() -> (TestDaemon, Peer) {
    let daemon = TestDaemon::start();
    let mut peer = Peer::to(&daemon);
    peer.set_mode("bypass");
    peer.heard();
    (daemon, peer)
}

#[test]
fn output_streams_while_the_command_runs() {
    let (daemon, mut peer) = start();
    let mut other = Peer::to(&daemon);
    let command = json!(["sh", "-c", "echo one; echo err >&2; read x; echo \"two $x\"; exit 3"]);
    let run = peer.post(
        "command/exec",
        json!({ "command": command, "processId": "p1", "streamStdoutStderr": true, "streamStdin": true }),
    );
    let mut told = until_streamed(&mut peer, "p1", "one");
    // It waits for us, so that this came before its end.
    assert!(!peer.is_answered(run));
    // Nor does anything else wait for it.
    peer.call("initialize", json!({}));
    let again = json!({ "command": ["true"], "processId": "p1", "streamStdoutStderr": true });
    assert_eq!(peer.refused("command/exec", again)["code"], -32602);
    let typed = STANDARD.encode("three\n");
    peer.call("command/exec/write", json!({ "processId": "p1", "deltaBase64": typed }));
    let result = peer.reply(run)["result"].take();
    assert_eq!((&result["stdout"], &result["stderr"]), (&json!(""), &json!("")));
    assert_eq!((&result["exitCode"], &result["timedOut"]), (&json!(3), &json!(false)));
    told.extend(peer.heard());
    let of = |stream: &str| -> Vec<Told> {
        told.iter().filter(|(_, told)| told["stream"] == stream).cloned().collect()
    };
    assert_eq!(streamed(&of("stdout"), "p1"), "one\ntwo three\n");
    assert_eq!(streamed(&of("stderr"), "p1"), "err\n");
    // Under the names of both generations, one after the other.
    let names: Vec<&str> = told
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|name| name.starts_with("command/exec/"))
        .collect();
    assert!(!names.is_empty());
    for pair in names.chunks(2) {
        assert_eq!(pair, ["command/exec/output_delta", "command/exec/outputDelta"]);
    }
    // Other clients do not see it.
    assert!(other.heard().iter().all(|(name, _)| !name.starts_with("command/exec/")));
}

#[test]
fn a_command_that_takes_too_long_ends_with_all_it_started() {
    let (daemon, mut peer) = start();
    let script =
        "echo begun; sleep 1031 & (trap '' TERM HUP; sleep 1032) & setsid sleep 1033 & sleep 1034";
    let run =
        peer.post("command/exec", json!({ "command": ["sh", "-c", script], "timeoutMs": 1500 }));
    let sleeps = ["sleep 1031", "sleep 1032", "sleep 1033", "sleep 1034"];
    wait_until("all run", PATIENCE, || sleeps.iter().all(|sleep| runs(daemon.home(), sleep)));
    let error = peer.reply(run)["error"].take();
    assert_eq!(error["code"], -32000, "{error}");
    assert_eq!(error["message"], "command timed out after 1500ms");
    let data = &error["data"];
    assert_eq!((&data["kind"], &data["timeoutMs"]), (&json!("timeout"), &json!(1500)));
    assert_eq!(data["stdout"], "begun\n");
    wait_gone(daemon.home(), &sleeps);
}

#[test]
fn a_streaming_command_ends_with_the_connection_that_wanted_it() {
    let (daemon, mut peer) = start();
    for (number, tty) in [(0, false), (1, true)] {
        let sleeps: Vec<String> = (0..2).map(|n| format!("sleep 104{}", number * 2 + n)).collect();
        let script = format!("{} & echo begun; {}", sleeps[0], sleeps[1]);
        let mut brief = Peer::to(&daemon);
        // A name is taken until what had it has ended altogether.
        let name = format!("p{number}");
        let command = json!(["sh", "-c", script]);
        brief.post(
            "command/exec",
            json!({ "command": command, "processId": name, "streamStdoutStderr": true,
                    "tty": tty, "disableTimeout": true }),
        );
        until_streamed(&mut brief, &name, "begun");
        let sleeps: Vec<&str> = sleeps.iter().map(String::as_str).collect();
        wait_until("both run", PATIENCE, || sleeps.iter().all(|it| runs(daemon.home(), it)));
        drop(brief);
        wait_gone(daemon.home(), &sleeps);
        peer.call("initialize", json!({}));
    }
}

#[test]
fn a_server_on_stdio_takes_its_streaming_commands_along() {
    let (daemon, _peer) = start();
    let mut brief = Peer::stdio(daemon.home(), &[]);
    brief.post(
        "command/exec",
        json!({ "command": ["sh", "-c", "echo begun; sleep 1051"], "processId": "p1",
                "streamStdoutStderr": true, "disableTimeout": true }),
    );
    until_streamed(&mut brief, "p1", "begun");
    wait_until("it runs", PATIENCE, || runs(daemon.home(), "sleep 1051"));
    drop(brief);
    wait_gone(daemon.home(), &["sleep 1051"]);
}

#[test]
fn a_command_in_a_terminal_is_typed_into_resized_and_ended() {
    let (daemon, mut peer) = start();
    let script =
        "stty -echo; stty size; while read x; do echo \"<$x>\"; stty size; done; sleep 1061";
    let size = json!({ "rows": 10, "cols": 40 });
    let run = peer.post(
        "command/exec",
        json!({ "command": ["sh", "-c", script], "processId": "t1", "tty": true, "size": size }),
    );
    until_streamed(&mut peer, "t1", "10 40\r\n");
    let shown = daemon.client().terminals();
    assert_eq!(shown.len(), 1, "{shown:?}");
    let size = json!({ "rows": 33, "cols": 77 });
    peer.call("command/exec/resize", json!({ "processId": "t1", "size": size }));
    let typed = STANDARD.encode("hello\n");
    peer.call("command/exec/write", json!({ "processId": "t1", "deltaBase64": typed }));
    until_streamed(&mut peer, "t1", "<hello>\r\n33 77\r\n");
    assert!(!peer.is_answered(run));
    peer.call("command/exec/terminate", json!({ "processId": "t1" }));
    let result = peer.reply(run)["result"].take();
    assert_ne!(result["exitCode"], 0, "{result}");
    assert_eq!((&result["stdout"], &result["timedOut"]), (&json!(""), &json!(false)));
    for method in ["command/exec/write", "command/exec/terminate"] {
        let error = peer.refused(method, json!({ "processId": "t1" }));
        assert_eq!(error["code"], -32602, "{method}: {error}");
    }
    wait_until("its terminal is gone", PATIENCE, || daemon.client().terminals().is_empty());
}

/// The terminal in which a command runs, once it shows this text.
fn shown(daemon: &TestDaemon, text: &str) -> u64 {
    let client = daemon.client();
    eventually(&format!("a terminal shows {text:?}"), PATIENCE, || {
        let terminals = client.terminals();
        let mut ids = terminals.iter().map(|terminal| terminal["id"].as_u64().unwrap());
        ids.find(|id| {
            let params = json!({ "terminal": id, "redact": false });
            let dumped = client.try_call(Dump::METHOD, params);
            dumped.is_ok_and(|dumped| dumped["text"].as_str().unwrap().contains(text))
        })
    })
}

#[test]
fn what_an_agent_runs_is_a_terminal_for_every_client_that_may_type_into_it() {
    let (daemon, mut peer) = start();
    let home = daemon.home();
    let thread = peer.thread(home.path());
    let command = "printf 'who is %s\\n' there; read x; echo \"it is $x\"";
    let args = json!({ "cmd": command, "tty": true, "yield_time_ms": 60_000 });
    let shell = json!({ "tool": "exec_command", "args": args });
    // Typed by each dialect in turn.
    let writers: [fn(&TestDaemon, u64, &str); 3] = [
        |daemon, terminal, text| {
            daemon.rookery(&["send", &terminal.to_string(), "--enter", text]).success();
        },
        |daemon, terminal, text| {
            let client = Caller::connect(&daemon.ptywright_socket()).unwrap();
            let action = json!({ "type": "text", "value": format!("{text}\n") });
            let session = format!("s{terminal}");
            client.call("session.input", json!({ "session": session, "action": action }));
        },
        |daemon, terminal, text| {
            let line = format!("{text}\r");
            Link::to(daemon.home()).write(&terminal.to_string(), line.as_bytes());
        },
    ];
    for (number, writer) in writers.into_iter().enumerate() {
        let turn = peer.turn(&thread, &script(&json!([shell, { "text": "done" }])));
        let terminal = shown(&daemon, "who is there");
        let listed = home.rookery(&["ls", "--json"]).json();
        assert_eq!(listed["terminals"].as_array().unwrap().len(), 1, "{listed}");
        assert_eq!(listed["terminals"][0]["id"], terminal);
        let sessions = Caller::connect(&daemon.ptywright_socket()).unwrap();
        let sessions = sessions.call("session.list", json!({}));
        assert!(sessions.to_string().contains(&format!("\"s{terminal}\"")), "{sessions}");
        let mut roost = Link::to(home);
        assert!(roost.tab(&terminal.to_string()).is_some());
        let rows = roost.rows(&terminal.to_string());
        assert_eq!(rows[0], "who is there");
        writer(&daemon, terminal, &format!("number {number}"));
        let told = peer.until_over(&turn);
        let items = told.iter().filter(|(name, _)| name == "item/completed");
        let item =
            items.map(|(_, told)| &told["item"]).find(|item| item["type"] == "toolExecution");
        let item: &Value = item.unwrap();
        assert_eq!((&item["status"], &item["exitCode"]), (&json!("completed"), &json!(0)));
        let output = item["output"].as_str().unwrap();
        assert!(output.contains(&format!("it is number {number}\n")), "{output}");
        assert!(item["terminalId"].to_string().contains(&terminal.to_string()), "{item}");
        wait_until("the terminal goes with it", PATIENCE, || {
            daemon.client().terminals().is_empty()
        });
    }
}

/// What a tool of a turn came to, by its item.
fn tool_item(peer: &mut Peer, thread: &str, step: &Value) -> Value {
    let turn = peer.turn(thread, &script(&json!([step, { "text": "done" }])));
    let told = peer.until_over(&turn);
    let items = told.iter().filter(|(name, _)| name == "item/completed");
    let mut items = items.map(|(_, told)| &told["item"]);
    items.find(|item| item["type"] == "toolExecution").unwrap().clone()
}

#[test]
fn a_shell_command_can_be_watched_but_has_nothing_to_wait_for() {
    let (daemon, mut peer) = start();
    let thread = peer.thread(daemon.home().path());
    let command = "git init -q . && git config user.name a && git config user.email a@b.c && \
                   touch f && git add f && cat && test ! -t 0 && test -t 1 && echo watched && \
                   { read -r x || echo end; } && git commit -q; echo commit $?";
    let step = json!({ "tool": "shell", "args": { "command": command } });
    let item = tool_item(&mut peer, &thread, &step);
    let output = item["output"].as_str().unwrap();
    assert!(output.contains("Output:\nwatched\nend\n"), "{output}");
    assert!(output.contains("Aborting commit") && output.ends_with("commit 1\n"), "{output}");
    assert!(item["terminalId"].is_string(), "{item}");
}

#[test]
fn what_asks_at_the_terminal_itself_fails_at_once() {
    let (daemon, mut peer) = start();
    let thread = peer.thread(daemon.home().path());
    // Neither by the terminal's name nor through an output.
    let asks = "sh -c 'read x </dev/tty' || echo refused; read x <&2 || echo deaf; \
                test -t 1 && echo watched";
    let step = json!({ "tool": "shell", "args": { "command": asks, "timeout_seconds": 600 } });
    let item = tool_item(&mut peer, &thread, &step);
    let output = item["output"].as_str().unwrap_or_else(|| panic!("{item}"));
    for said in ["/dev/tty", "refused\n", "deaf\n", "watched\n"] {
        assert!(output.contains(said), "{output}");
    }
    assert!(output.starts_with("Exit code: 0\n"), "{output}");
}

#[test]
fn a_shell_command_that_ends_takes_its_background_along() {
    let (daemon, mut peer) = start();
    let thread = peer.thread(daemon.home().path());
    let step = json!({ "tool": "shell", "args": { "command": "sleep 1081 & echo begun" } });
    let item = tool_item(&mut peer, &thread, &step);
    assert!(item["output"].as_str().unwrap().contains("begun"), "{item}");
    wait_gone(daemon.home(), &["sleep 1081"]);
}

#[test]
fn what_a_shell_command_writes_is_reported_byte_by_byte_and_what_is_dropped_counted() {
    let (daemon, mut peer) = start();
    let thread = peer.thread(daemon.home().path());
    let step = json!({ "tool": "shell", "args": { "command": "printf 'a\\0b\\0'" } });
    let item = tool_item(&mut peer, &thread, &step);
    assert!(item["output"].as_str().unwrap().ends_with("Output:\na\0b\0"), "{item}");
    let params = |command: &str| json!({ "threadId": thread, "toolName": "shell", "arguments": { "command": command } });
    let long = peer.call("tools/call", params("head -c 3000000 /dev/zero | tr '\\0' x"));
    let lost = 3_000_000 - (1 << 20);
    assert_eq!(long["data"]["dropped_bytes"], json!(lost), "{}", long["data"]);
    let text = long["text"].as_str().unwrap();
    assert!(text.contains(&format!("[{lost} bytes of output were dropped]")), "{text}");
    let artifact = &long["data"]["artifact"];
    assert_eq!((&artifact["truncated"], &artifact["droppedBytes"]), (&json!(true), &json!(lost)));
    assert!(text.contains(&format!("without its first {lost} bytes")), "{text}");
}

#[test]
fn an_interrupt_ends_what_the_agent_runs() {
    let (daemon, mut peer) = start();
    let thread = peer.thread(daemon.home().path());
    let command = "trap '' TERM HUP INT; echo here; sleep 1071 & sleep 1072; sleep 1073";
    let turn =
        peer.turn(&thread, &script(&json!([{ "tool": "shell", "args": { "command": command } }])));
    shown(&daemon, "here");
    let sleeps = ["sleep 1071", "sleep 1072"];
    wait_until("all run", PATIENCE, || sleeps.iter().all(|sleep| runs(daemon.home(), sleep)));
    let began = std::time::Instant::now();
    peer.call("turn/interrupt", json!({ "threadId": thread, "turnId": turn }));
    let told = peer.until_over(&turn);
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    assert_eq!(told.last().unwrap().1["turn"]["status"], "interrupted");
    wait_gone(daemon.home(), &["sleep 1071", "sleep 1072", "sleep 1073"]);
}

#[test]
fn files_are_read_byte_by_byte_and_only_by_absolute_paths() {
    let (daemon, mut peer) = start();
    let path: PathBuf = daemon.home().join("bytes");
    let bytes: Vec<u8> = (0..=255).collect();
    std::fs::write(&path, &bytes).unwrap();
    let read = peer.call("fs/readFile", json!({ "path": path }));
    assert_eq!(STANDARD.decode(read["dataBase64"].as_str().unwrap()).unwrap(), bytes);
    let listed = peer.call("fs/readDirectory", json!({ "path": daemon.home().path() }));
    let entries = listed["entries"].as_array().unwrap();
    let entry = json!({ "fileName": "bytes", "isDirectory": false, "isFile": true });
    assert!(entries.contains(&entry), "{listed}");
    for (path, code) in [(Path::new("bytes"), -32602), (&daemon.home().join("none"), -32000)] {
        assert_eq!(peer.refused("fs/readFile", json!({ "path": path }))["code"], code);
    }
}

#[test]
fn a_tool_that_is_late_takes_along_who_left_it() {
    let (daemon, mut peer) = start();
    let thread = peer.thread(daemon.home().path());
    let text = "(setsid sh -c 'exec sleep 98765' >/dev/null 2>&1 &); sleep 98764";
    let steps = json!([
        { "tool": "shell", "args": { "command": text, "timeout_seconds": 2 } },
        { "text": "done" },
    ]);
    let turn = peer.turn(&thread, &script(&steps));
    wait_until("it runs", PATIENCE, || runs(daemon.home(), "sleep 98765"));
    peer.until_over(&turn);
    wait_gone(daemon.home(), &["sleep 98765", "sleep 98764"]);
}
