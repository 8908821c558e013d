//! The Roo Code dialect on the real binary: its published client, one approval in every view, what
//! survives `kill -9`, and clients that mean no good.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread;

use rookery_native::wire::{AnswerRequest, AuditList, RequestList};
use rookery_testkit::{Finished, Home, PATIENCE, TestDaemon, eventually, wait_until};
use rookery_wire::Call as _;
use serde_json::{Value, json};

use crate::idx0::{id_of_cli, state};
use crate::idx0_link::{ask, list};
use crate::roder_link::Peer;
use crate::roo_link::{Roo, script};
use crate::roost_link::Link;

/// A home whose listeners are set up by these lines.
pub(crate) fn home_with(config: &str) -> Home {
    let home = Home::new();
    let dir = home.join("config/rookery");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("config.toml"), config).unwrap();
    home
}

/// A daemon whose tasks work in a directory of their own, with these further lines for their listener.
pub(crate) fn daemon_with_work(more: &str) -> (TestDaemon, PathBuf) {
    let home = Home::new();
    let work = home.join("work");
    fs::create_dir(&work).unwrap();
    let dir = home.join("config/rookery");
    fs::create_dir_all(&dir).unwrap();
    let config = format!(
        "[[roo.listeners]]\nname = \"roo-code\"\nworkspace = \"{}\"\n{more}",
        work.display()
    );
    fs::write(dir.join("config.toml"), config).unwrap();
    (TestDaemon::start_in(home), work)
}

/// Where the packages of the published client are; none where they could not be installed.
fn node_packages() -> Option<PathBuf> {
    let target = std::env::current_exe().ok()?.ancestors().nth(3)?.to_owned();
    let place = target.join("node-clients");
    let found = place.join("node_modules/node-ipc/package.json").is_file();
    if !found {
        eprintln!("skipped: the Node packages of clients/roo-check are not installed");
    }
    found.then_some(place)
}

/// Runs a script of the published client's.
fn published(daemon: &TestDaemon, packages: &PathBuf, name: &str, args: &[&str]) -> Value {
    let scripts = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../clients/roo-check");
    let mut node = daemon.home().command("node");
    node.arg(scripts.join(name)).arg(daemon.home().join("run/roo/roo-code.sock")).args(args);
    node.env("ROO_CHECK_MODULES", packages);
    let done = Finished::within(node, PATIENCE * 6);
    assert!(done.status.success(), "{name}: {}\n{}", done.stderr, done.stdout);
    serde_json::from_str(done.stdout.trim()).unwrap()
}

#[test]
fn the_published_client_drops_nothing_of_a_long_session() {
    let Some(packages) = node_packages() else { return };
    let (daemon, _work) = daemon_with_work("");
    let summary = published(&daemon, &packages, "session.mjs", &[]);
    assert_eq!(summary["dropped"], json!([]), "{summary}");
    let kinds = summary["kinds"].as_array().unwrap();
    for kind in
        ["taskToolFailed", "taskSpawned", "taskResumable", "taskIdle", "queuedMessagesUpdated"]
    {
        assert!(kinds.contains(&json!(kind)), "{kind}: {summary}");
    }
}

#[test]
fn a_runner_of_evaluations_completes_a_hundred_of_a_hundred() {
    let Some(packages) = node_packages() else { return };
    let (daemon, work) = daemon_with_work("mode = \"bypass\"\n");
    let summary = published(&daemon, &packages, "evals.mjs", &["100", "20"]);
    assert_eq!(summary, json!({ "completed": 100, "dropped": 0, "foreign": 0, "errors": [] }));
    assert_eq!(fs::read_dir(work).unwrap().count(), 100);
}

#[test]
fn the_examples_of_the_schema_document_work_literally() {
    let daemon = TestDaemon::start();
    let socket = daemon.home().join("run/roo/roo.sock");
    let mut roo = Roo::at(&socket);
    // As the document writes it, but for a mock that answers.
    let command = json!({
        "type": "TaskCommand", "origin": "client", "clientId": "unique-client-id",
        "data": { "commandName": "StartNewTask", "data": {
            "configuration": { "apiProvider": "fake-ai" }, "text": "Write a Python function...", "images": [],
        } },
    });
    roo.raw(format!("{}\u{c}", json!({ "type": "message", "data": command })).as_bytes());
    let created = roo.event("TaskCreated");
    let task = created["payload"]["taskId"].as_str().unwrap().to_owned();
    assert!(created["taskId"].is_u64(), "{created}");
    let message = roo.event("Message");
    assert_eq!(message["payload"]["action"], "created");
    assert_eq!(message["payload"]["message"]["say"], "text");
    let completed = roo.event("TaskCompleted");
    assert_eq!(completed["payload"]["taskId"], task.as_str());
    assert!(completed["payload"]["usage"]["totalTokensIn"].is_u64());
    assert_eq!(roo.ask("IsReady", Value::Null), true);
    assert_eq!(roo.ask("GetCurrentTaskStack", Value::Null), json!([task]));
    assert_eq!(roo.ask("IsTaskInHistory", json!(task)), true);
    assert_eq!(roo.ask("IsTaskInHistory", json!("123")), false);
    assert_eq!(roo.ask("getActiveProfile", Value::Null), "default");
}

#[test]
fn bare_lines_are_answered_as_bare_lines() {
    let daemon = TestDaemon::start();
    let mut stream = UnixStream::connect(daemon.home().join("run/roo/roo.sock")).unwrap();
    let command = json!({
        "type": "TaskCommand", "origin": "client", "clientId": "c",
        "data": { "commandName": "IsReady", "data": null },
    });
    stream.write_all(format!("{command}\n").as_bytes()).unwrap();
    let mut bytes = Vec::new();
    eventually("the reply", PATIENCE, || {
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).unwrap();
        bytes.extend_from_slice(&chunk[..count]);
        bytes.ends_with(b"}\n").then_some(())
    });
    let text = String::from_utf8(bytes).unwrap();
    let (ack, reply) = text.split_once('\u{c}').unwrap();
    assert!(ack.starts_with(r#"{"type":"message","data":{"type":"Ack""#), "{ack}");
    let reply: Value = serde_json::from_str(reply).unwrap();
    assert_eq!(reply["data"]["eventName"], "CommandResponse");
    assert_eq!(
        reply["data"]["payload"],
        json!({ "commandName": "IsReady", "requestId": "", "payload": true })
    );
}

/// Steps that ask for a file and then say so.
pub(crate) fn writing(path: &str) -> Value {
    json!([{ "tool": "write_file", "args": { "path": path, "content": "x\n" } }, { "text": "done" }])
}

#[test]
fn one_approval_is_seen_and_decided_everywhere() {
    let (mut daemon, work) = daemon_with_work("");
    let mut roost = Link::to(daemon.home());
    let opened = roost.call("tab.open", json!({ "argv": ["cat"], "cwd": work }));
    let tab = opened["tab"]["id"].as_str().unwrap().to_owned();
    for round in ["roo", "roder", "idx0", "native", "cli", "roo, after a kill", "cli, after a kill"]
    {
        let (decided_by, was_killed) = match round.split_once(", ") {
            Some((who, _)) => (who, true),
            None => (round, false),
        };
        let file = round.replace([',', ' '], "-");
        let (mut roo, mut roder) = (Roo::to(&daemon), Peer::to(&daemon));
        let task = roo.start(&writing(&file));
        let shown = roo.asked("tool");
        assert!(shown["text"].as_str().unwrap().contains("newFileCreated"), "{shown}");
        let pending = list(daemon.home(), "listApprovals", json!({ "status": "pending" }));
        assert_eq!(pending.len(), 1, "{pending:?}");
        assert_eq!(state(&mut roost, &tab)["state"], "needs_input");
        assert!(!work.join(&file).exists(), "nothing is touched before it is approved");
        if was_killed {
            daemon.kill9();
            daemon.restart();
            roost = Link::to(daemon.home());
            roo = Roo::to(&daemon);
            roo.done("ResumeTask", json!(task));
            let again = roo.asked("tool");
            assert_eq!((&again["text"], &again["ts"]), (&shown["text"], &shown["ts"]));
        }
        match decided_by {
            "roo" => roo.done("PressPrimaryButton", Value::Null),
            "roder" => {
                let asked = roder.wait_told("session/approvalRequested");
                let answer = json!({ "approvalId": asked["approvalId"], "approved": true });
                assert_eq!(roder.call("session/resolve_approval", answer)["resolved"], true);
            }
            _ => decide(&daemon, decided_by, &pending[0]["id"]),
        }
        let answered =
            roo.until("the answer", |event| event["payload"][0]["message"]["isAnswered"] == true);
        assert_eq!(answered["payload"][0]["message"]["ts"], shown["ts"]);
        roo.event("taskCompleted");
        assert!(work.join(&file).exists());
        // It was settled: a late answer is none, in any view.
        assert!(list(daemon.home(), "listApprovals", json!({ "status": "pending" })).is_empty());
        assert_ne!(state(&mut roost, &tab)["state"], "needs_input");
        let late = json!({ "approvalID": pending[0]["id"], "status": "denied" });
        assert_eq!(ask(daemon.home(), "respondApproval", late)["success"], false);
        roo.done("CloseTask", json!(task));
    }
}

/// Approves the one thing that waits, by those who need no connection of their own.
fn decide(daemon: &TestDaemon, by: &str, idx0_id: &Value) {
    match by {
        "idx0" => {
            let answer = json!({ "approvalID": idx0_id, "status": "approved" });
            assert_eq!(ask(daemon.home(), "respondApproval", answer)["success"], true);
        }
        "native" => {
            let client = daemon.client();
            let waiting = client.call(RequestList::METHOD, json!({}));
            let answer = json!({ "id": waiting["requests"][0]["id"], "approved": true });
            client.call(AnswerRequest::METHOD, answer);
        }
        _ => drop(daemon.rookery(&["approve", &id_of_cli(daemon)]).success()),
    }
}

#[test]
fn questions_that_were_answered_are_not_asked_again_after_a_kill() {
    let mut daemon = TestDaemon::start();
    let mut roo = Roo::to(&daemon);
    let question = |id: &str| {
        let option = |label: &str| json!({ "label": label, "description": "" });
        json!({ "header": "H", "id": id, "question": format!("{id}?"), "options": [option("x"), option("y")] })
    };
    let args = json!({ "questions": [question("one"), question("two")] });
    let steps = json!([{ "tool": "request_user_input", "args": args }, { "text": "done" }]);
    let task = roo.start(&steps);
    let asks = |message: &Value, id: &str| message["text"].as_str().unwrap().contains(id);
    assert!(asks(&roo.asked("followup"), "one?"));
    roo.done("SendMessage", json!({ "text": "first" }));
    assert!(asks(&roo.asked("followup"), "two?"));
    daemon.kill9();
    daemon.restart();
    let mut roo = Roo::to(&daemon);
    roo.done("ResumeTask", json!(task));
    assert!(asks(&roo.asked("followup"), "two?"), "the first was answered");
    roo.done("SendMessage", json!({ "text": "second" }));
    roo.event("taskCompleted");
    let messages = roo.ask("GetMessages", json!(task));
    let said = messages.as_array().unwrap().iter().filter(|one| one["say"] == "user_feedback");
    let said: Vec<_> = said.map(|one| one["text"].as_str().unwrap()).collect();
    assert_eq!(said, ["first", "second"]);
}

#[test]
fn a_client_that_comes_back_finds_what_a_subtask_asks() {
    let (mut daemon, work) = daemon_with_work("");
    let mut roo = Roo::to(&daemon);
    let (task, child) = with_subtask(&mut roo);
    daemon.kill9();
    daemon.restart();
    let mut roo = Roo::to(&daemon);
    roo.done("ResumeTask", json!(task));
    let asked = roo.until("the ask", |event| event["payload"][0]["message"]["ask"] == "tool");
    assert_eq!(asked["payload"][0]["taskId"], child.as_str());
    assert_eq!(roo.ask("GetCurrentTaskStack", Value::Null), json!([task, child]));
    roo.done("PressPrimaryButton", Value::Null);
    let completed = roo.until("the result", |event| {
        event["eventName"] == "taskCompleted" && event["payload"][0] == task.as_str()
    });
    assert_eq!(completed["payload"][3], json!({ "isSubtask": false }));
    assert!(work.join("part").exists());
}

/// Starts a task whose subtask asks for a file; gives both ids.
fn with_subtask(roo: &mut Roo) -> (String, String) {
    let part = script(&writing("part"));
    let new_task = json!({ "tool": "new_task", "args": { "mode": "code", "message": part } });
    let task = roo.start(&json!([new_task, { "text": "all done" }]));
    roo.asked("tool");
    roo.done("PressPrimaryButton", Value::Null);
    let child = roo.event("taskSpawned")["payload"][1].as_str().unwrap().to_owned();
    roo.until("its ask", |event| {
        let payload = &event["payload"][0];
        payload["taskId"] == child.as_str()
            && payload["message"]["ask"] == "tool"
            && payload["message"]["partial"] == false
    });
    (task, child)
}

#[test]
fn a_subtask_that_was_cancelled_can_be_resumed_and_its_parent_goes_on() {
    let (daemon, work) = daemon_with_work("");
    let mut roo = Roo::to(&daemon);
    let (task, child) = with_subtask(&mut roo);
    roo.done("CancelTask", Value::Null);
    roo.until("it can be resumed", |event| {
        event["eventName"] == "taskResumable" && event["payload"][0] == child.as_str()
    });
    roo.done("ResumeTask", json!(child));
    assert_eq!(roo.ask("GetCurrentTaskStack", Value::Null), json!([task, child]));
    roo.done("SendMessage", json!({ "text": script(&json!([{ "text": "without the file" }])) }));
    let handed = roo.event("taskDelegationCompleted");
    assert_eq!(handed["payload"], json!([task, child, "without the file"]));
    roo.until("the end", |event| {
        event["eventName"] == "taskCompleted" && event["payload"][0] == task.as_str()
    });
    assert!(!work.join("part").exists());
}

#[test]
fn a_connection_whose_task_is_closed_touches_no_task_of_others() {
    let (daemon, _work) = daemon_with_work("");
    let (mut first, mut second) = (Roo::to(&daemon), Roo::to(&daemon));
    first.start(&json!([{ "text": "done" }]));
    first.event("taskCompleted");
    let other = second.start(&writing("asked"));
    second.asked("tool");
    first.done("CloseTask", Value::Null);
    first.done("CloseTask", Value::Null);
    first.done("CancelTask", Value::Null);
    assert_eq!(first.refused("SendMessage", json!({ "text": "x" })), "no_active_task");
    assert_eq!(second.ask("GetCurrentTaskStack", Value::Null), json!([other]));
    second.done("PressPrimaryButton", Value::Null);
    second.event("taskCompleted");
}

#[test]
fn a_thread_of_another_dialect_is_no_task_before_it_is_resumed() {
    let (daemon, work) = daemon_with_work("");
    let mut roder = Peer::to(&daemon);
    let thread = roder.thread(&work);
    let turn = roder.turn(&thread, &script(&json!([{ "text": "private" }])));
    roder.until_over(&turn);
    let mut roo = Roo::to(&daemon);
    for command in ["CancelTask", "CloseTask"] {
        assert_eq!(roo.refused(command, json!(thread)), "task_not_found");
    }
    let send = json!({ "text": "x", "taskId": thread });
    assert_eq!(roo.refused("SendMessage", send), "task_not_found");
    let messages = roo.ask("GetMessages", json!(thread));
    assert!(messages.to_string().contains("private"), "it can be read: {messages}");
    let turn = roder.turn(&thread, &script(&json!([{ "text": "more" }])));
    roder.until_over(&turn);
    assert_eq!(roo.ask("IsReady", Value::Null), true);
    assert!(roo.told.is_empty(), "{:?}", roo.told);
    roo.done("ResumeTask", json!(thread));
    roo.event("taskCreated");
    roo.done("SendMessage", json!({ "text": script(&json!([{ "text": "as a task" }])) }));
    roo.event("taskCompleted");
}

#[test]
fn closing_a_task_closes_those_that_work_for_it() {
    let (daemon, work) = daemon_with_work("");
    let mut roo = Roo::to(&daemon);
    let (task, child) = with_subtask(&mut roo);
    roo.done("CloseTask", Value::Null);
    for closed in [&child, &task] {
        roo.until("the end", |event| {
            event["eventName"] == "taskAborted" && event["payload"][0] == closed.as_str()
        });
    }
    assert_eq!(roo.ask("GetCurrentTaskStack", Value::Null), json!([]));
    assert!(list(daemon.home(), "listApprovals", json!({ "status": "pending" })).is_empty());
    // Nothing goes on behind it.
    assert_eq!(roo.ask("IsReady", Value::Null), true);
    let late: Vec<_> = roo.told.iter().map(|event| event["eventName"].clone()).collect();
    assert!(late.is_empty(), "{late:?}");
    assert!(!work.join("part").exists());
}

#[test]
fn of_two_answers_at_once_one_counts() {
    let (daemon, work) = daemon_with_work("");
    for round in 0..8 {
        let mut roo = Roo::to(&daemon);
        let file = format!("race-{round}");
        roo.start(&writing(&file));
        roo.asked("tool");
        let pending = list(daemon.home(), "listApprovals", json!({ "status": "pending" }));
        let denial = json!({ "approvalID": pending[0]["id"], "status": "denied" });
        let home = daemon.home();
        let was_denied = thread::scope(|scope| {
            let denying = scope.spawn(move || ask(home, "respondApproval", denial));
            roo.ask("PressPrimaryButton", Value::Null);
            denying.join().unwrap()["success"] == true
        });
        roo.event("taskCompleted");
        assert_eq!(work.join(&file).exists(), !was_denied, "round {round}");
        let audit = daemon.client().call(AuditList::METHOD, json!({ "limit": 2 }));
        let settled = audit["decisions"].as_array().unwrap();
        let by = settled.iter().filter_map(|one| one["by"].as_str());
        let by: Vec<_> = by.filter(|by| *by != "policy").collect();
        assert_eq!(by, [if was_denied { "idx0" } else { "roo" }], "{audit}");
        roo.done("CloseTask", Value::Null);
    }
}

#[test]
fn frames_that_are_no_messages_change_nothing() {
    let daemon = TestDaemon::start();
    let mut roo = Roo::to(&daemon);
    for bad in [
        "",
        "nonsense",
        "[]",
        "{}",
        r#"{"type":"connect","data":{}}"#,
        r#"{"type":"message"}"#,
        r#"{"type":"message","data":null}"#,
        r#"{"type":"TaskCommand","origin":"client","data":{"commandName":"StartNewTask","data":{"text":"x"}}}"#,
        r#"{"type":"message","data":{"type":"TaskCommand","origin":"server","data":{"commandName":"IsReady"}}}"#,
        r#"{"type":"disconnect","data":{"type":"TaskCommand","origin":"client","data":{"commandName":"CancelTask"}}}"#,
        "\u{0}\u{1}",
        "{\"type\":\"message\",\"data\":{\"type\":\"TaskCommand\"",
    ] {
        roo.raw(format!("{bad}\u{c}").as_bytes());
    }
    roo.raw(b"\xff\xfe\x0c");
    assert_eq!(roo.ask("IsReady", Value::Null), true);
    assert!(roo.told.is_empty(), "{:?}", roo.told);
    // Cut anywhere, several at once.
    let frame = json!({ "type": "message", "data": { "type": "TaskCommand", "origin": "client", "data": { "commandName": "IsReady", "requestId": "ü" } } });
    let bytes = format!("{frame}\u{c}{frame}\u{c}").into_bytes();
    for byte in &bytes {
        roo.raw(std::slice::from_ref(byte));
    }
    for _ in 0..2 {
        assert_eq!(roo.next("a reply")["data"]["payload"][0]["requestId"], "ü");
    }
}

#[test]
fn a_frame_that_never_ends_is_cut_off_and_others_go_on() {
    let daemon = TestDaemon::start();
    let (mut endless, mut other) = (Roo::to(&daemon), Roo::to(&daemon));
    let chunk = vec![b'a'; 1 << 20];
    // The server may hang up before all of it is written.
    (0..66).take_while(|_| endless.try_raw(&chunk)).for_each(drop);
    assert!(endless.is_cut_off());
    assert_eq!(other.ask("IsReady", Value::Null), true);
}

#[test]
fn wrong_commands_are_answered_and_change_nothing() {
    let daemon = TestDaemon::start();
    let mut roo = Roo::to(&daemon);
    for (name, data, code) in [
        ("", Value::Null, "invalid_command"),
        ("Fly", Value::Null, "unknown_command"),
        ("StartNewTask", json!({}), "missing_parameter"),
        (
            "StartNewTask",
            json!({ "text": "x", "configuration": { "autoApprovalEnabled": "yes" } }),
            "invalid_parameter",
        ),
        (
            "StartNewTask",
            json!({ "text": "x", "configuration": { "mode": "nowhere" } }),
            "invalid_parameter",
        ),
        (
            "StartNewTask",
            json!({ "text": "x", "configuration": { "workingDirectory": "/etc" } }),
            "permission_denied",
        ),
        ("ResumeTask", json!("nothing"), "task_not_found"),
        ("CancelTask", json!("0190a1b2-0000-7000-8000-000000000000"), "task_not_found"),
        ("SendMessage", json!({ "text": "x" }), "no_active_task"),
        ("GetMessages", json!("x"), "task_not_found"),
        ("DeleteProfile", json!("default"), "last_profile"),
        ("SetActiveProfile", json!("other"), "profile_not_found"),
        ("CreateProfile", json!("default"), "profile_exists"),
    ] {
        assert_eq!(roo.refused(name, data), code, "{name}");
    }
    assert_eq!(roo.ask("GetTaskHistory", Value::Null), json!([]));
    // Without a request's name the published client gets a message that it can read.
    roo.send("ResumeTask", json!("nothing"));
    let message = roo.event("message");
    assert_eq!(message["payload"][0]["message"]["say"], "error");
    let text = message["payload"][0]["message"]["text"].as_str().unwrap();
    assert!(text.starts_with("task_not_found: "), "{text}");
}

#[test]
fn sockets_are_the_users_alone_and_moved_by_the_originals_variable() {
    let home = Home::new();
    let moved = home.join("moved.sock");
    let mut command = home.command(rookery_testkit::rookery_binary());
    command.arg("daemon").env("ROO_CODE_IPC_SOCKET_PATH", &moved);
    let mut child = command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the socket is there", PATIENCE, || UnixStream::connect(&moved).is_ok());
    for path in [moved.clone(), home.join("run/roo/roo.sock")] {
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
    assert!(!home.join("run/roo/roo-code.sock").exists());
    assert_eq!(Roo::at(&moved).ask("IsReady", Value::Null), true);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_socket_of_another_server_is_left_alone() {
    let home = Home::new();
    let place = home.join("run/roo");
    fs::create_dir_all(&place).unwrap();
    fs::set_permissions(home.join("run"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o700)).unwrap();
    let other = UnixListener::bind(place.join("roo-code.sock")).unwrap();
    let daemon = TestDaemon::start_in(home);
    assert!(daemon.ready()["endpoints"].get("roo-code").is_none(), "{}", daemon.ready());
    let _client = UnixStream::connect(daemon.home().join("run/roo/roo-code.sock")).unwrap();
    other.set_nonblocking(true).unwrap();
    wait_until("the other server is asked", PATIENCE, || other.accept().is_ok());
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn over_tcp_a_web_page_smuggles_nothing() {
    let port = free_port();
    let config = format!("[[roo.listeners]]\nname = \"web\"\ntcp = \"127.0.0.1:{port}\"\n");
    let daemon = TestDaemon::start_in(home_with(&config));
    let command = json!({ "type": "message", "data": { "type": "TaskCommand", "origin": "client",
        "data": { "commandName": "StartNewTask", "data": { "text": "smuggled", "configuration": { "apiProvider": "fake-ai" } } } } });
    let mut page = TcpStream::connect(("127.0.0.1", port)).unwrap();
    page.write_all(format!("POST / HTTP/1.1\r\nHost: x\r\n\r\n\u{c}{command}\u{c}").as_bytes())
        .unwrap();
    let mut rest = Vec::new();
    page.read_to_end(&mut rest).unwrap_or_default();
    let mut roo = Roo::to(&daemon);
    assert_eq!(roo.ask("GetTaskHistory", Value::Null), json!([]), "nothing was started");
    // A client of the protocol is served.
    let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let ready = json!({ "type": "message", "data": { "type": "TaskCommand", "origin": "client", "data": { "commandName": "IsReady" } } });
    client.write_all(format!("{ready}\u{c}").as_bytes()).unwrap();
    let mut heard = String::new();
    eventually("the reply", PATIENCE, || {
        let mut chunk = [0; 4096];
        let count = client.read(&mut chunk).unwrap();
        heard.push_str(&String::from_utf8_lossy(&chunk[..count]));
        heard.contains("commandResponse").then_some(())
    });
}

#[test]
fn over_tcp_a_token_comes_first_where_there_is_one() {
    let port = free_port();
    let config = format!(
        "[[roo.listeners]]\nname = \"web\"\ntcp = \"127.0.0.1:{port}\"\ntoken = \"open sesame\"\n"
    );
    let _daemon = TestDaemon::start_in(home_with(&config));
    let exchange = |token: &str| {
        let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let auth = json!({ "type": "message", "data": { "type": "Auth", "origin": "client", "data": { "token": token } } });
        let ready = json!({ "type": "message", "data": { "type": "TaskCommand", "origin": "client", "data": { "commandName": "IsReady" } } });
        client.write_all(format!("{auth}\u{c}{ready}\u{c}").as_bytes()).unwrap();
        let mut heard = String::new();
        let mut chunk = [0; 4096];
        while let Ok(count @ 1..) = client.read(&mut chunk) {
            heard.push_str(&String::from_utf8_lossy(&chunk[..count]));
            if heard.contains("commandResponse") {
                break;
            }
        }
        heard
    };
    let heard = exchange("open sesame");
    assert!(heard.contains("\"Ack\"") && heard.contains("commandResponse"), "{heard}");
    assert_eq!(exchange("wrong"), "");
}

#[test]
fn tasks_are_started_watched_and_listed_from_the_shell() {
    let (daemon, _work) = daemon_with_work("");
    let run = |args: &[&str]| daemon.rookery(args);
    let said = script(&json!([{ "text": "All done." }]));
    let config = r#"{"apiProvider":"fake-ai"}"#;
    let printed = run(&["roo", "start", "--config", config, &said]).success();
    assert!(printed.contains("All done."), "{printed}");
    let asks = script(&writing("asked"));
    let waiting = run(&["roo", "start", "--config", config, &asks]);
    assert_eq!(waiting.status.code(), Some(3), "{waiting:?}");
    let listed = run(&["roo", "history", "--json"]).json();
    let task = listed[0]["id"].as_str().unwrap().to_owned();
    run(&["roo", "approve", &task]).success();
    eventually("it is done", PATIENCE, || {
        let messages = run(&["roo", "messages", &task, "--json"]).json();
        let messages = messages.as_array().unwrap().clone();
        messages.iter().any(|one| one["say"] == "completion_result").then_some(())
    });
    run(&[
        "roo",
        "profiles",
        "create",
        "fast",
        "--config",
        r#"{"apiProvider":"fake-ai"}"#,
        "--activate",
    ])
    .success();
    let profiles = run(&["roo", "profiles", "--json"]).json();
    assert_eq!(profiles, json!({ "profiles": ["default", "fast"], "active": "fast" }));
    let missing = run(&["roo", "approve", "nothing"]).failure(1);
    assert!(missing.contains("rookery roo history"), "{missing}");
}

#[test]
fn keys_of_a_client_are_used_and_never_given_back() {
    let daemon = TestDaemon::start();
    let mut roo = Roo::to(&daemon);
    let key = "sk-very-secret-key-of-the-test";
    let profile = json!({ "apiProvider": "openai", "openAiBaseUrl": "http://127.0.0.1:9/v1", "openAiApiKey": key, "openAiModelId": "m" });
    let created =
        roo.ask("CreateProfile", json!({ "name": "mine", "profile": profile, "activate": true }));
    assert_eq!(created["success"], true, "{created}");
    roo.done(
        "SetConfiguration",
        json!({ "openAiApiKey": key, "apiProvider": "openai", "mode": "code", "theirs": [1] }),
    );
    for answer in [
        roo.ask("GetConfiguration", Value::Null),
        roo.ask("GetProfile", json!("mine")),
        roo.ask("GetProfiles", Value::Null),
    ] {
        assert!(!answer.to_string().contains(key), "{answer}");
    }
    let configuration = roo.ask("GetConfiguration", Value::Null);
    assert_eq!((&configuration["mode"], &configuration["theirs"]), (&json!("code"), &json!([1])));
    let log = fs::read_to_string(daemon.log()).unwrap();
    assert!(!log.contains(key));
}
