//! What idx0's own world meets in ours: shells that report agents, its helper, its variables, and
//! its files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rookery_testkit::{
    Finished, Home, PATIENCE, TestDaemon, eventually, rookery_binary, wait_until,
};
use serde_json::{Value, json};

use crate::idx0_link::{ask, done, list};
use crate::roost_link::Link;

/// The shells of this machine that report agents.
fn shells() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap();
    let found = |name: &str| {
        std::env::split_paths(&path).map(|dir| dir.join(name)).find(|place| place.is_file())
    };
    let shells: Vec<PathBuf> = ["bash", "zsh", "fish"].into_iter().filter_map(found).collect();
    assert!(!shells.is_empty(), "there is no shell to try");
    shells
}

/// An agent that works until it is told with which code to end.
fn add_agent(home: &Home) {
    // Without a file of its own, zsh greets a new user with a menu.
    fs::write(home.join(".zshrc"), "").unwrap();
    fs::create_dir(home.join("bin")).unwrap();
    let agent = home.join("bin/claude");
    fs::write(&agent, "#!/bin/sh\nread code\nexit \"$code\"\n").unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o700)).unwrap();
}

/// Waits for a word in the queue, and deals with it.
fn wait_word(home: &Home, title: &str) -> Value {
    let item = eventually(title, PATIENCE, || {
        let queue = list(home, "listQueue", json!({}));
        queue.into_iter().find(|item| item["title"] == title)
    });
    done(home, "markQueueResolved", json!({ "queueID": item["id"] }));
    item
}

#[test]
fn shells_report_the_start_and_the_end_of_agents() {
    let home = Home::new();
    add_agent(&home);
    let daemon = TestDaemon::start_in(home);
    for shell in shells() {
        let who = shell.display().to_string();
        let mut link = Link::to(daemon.home());
        let tab = link.open(json!({ "argv": [shell] }));
        let at_prompt = json!("at_prompt");
        link.wait_tab(&tab, "shell_state", &at_prompt);
        link.write(&tab, b"X=1 ~/bin/claude --flag\r");
        let started = wait_word(daemon.home(), "claude started");
        assert_eq!(started["category"], "informational", "{who}");
        assert_eq!(started["subtitle"], "Running: X=1 ~/bin/claude --flag", "{who}");
        link.wait_tab(&tab, "state", &json!("running"));
        link.write(&tab, b"0\r");
        let finished = wait_word(daemon.home(), "claude finished");
        assert_eq!(finished["category"], "completed", "{who}");
        assert_eq!(finished["sessionID"], started["sessionID"], "{who}");
        let took = finished["subtitle"].as_str().unwrap();
        assert!(took.starts_with("Completed in ") && took.ends_with('s'), "{who}: {took}");
        // A shell alone would say `none`.
        link.wait_tab(&tab, "state", &json!("idle"));
        link.wait_tab(&tab, "shell_state", &at_prompt);
        link.write(&tab, b"~/bin/claude\r");
        wait_word(daemon.home(), "claude started");
        link.wait_tab(&tab, "state", &json!("running"));
        link.write(&tab, b"3\r");
        let failed = wait_word(daemon.home(), "claude failed");
        assert_eq!(failed["category"], "error", "{who}");
        let took = failed["subtitle"].as_str().unwrap();
        assert!(took.starts_with("Exit code 3 after ") && took.ends_with('s'), "{who}: {took}");
        link.wait_tab(&tab, "state", &json!("idle"));
        link.wait_tab(&tab, "shell_state", &at_prompt);
        let rows = link.rows(&tab).join("\n");
        assert!(!rows.contains("[1]") && !rows.contains("Done"), "{who}: {rows}");
        // However quickly one follows the other, they are heard in order.
        link.write(&tab, b"echo 0 | ~/bin/claude\r~/bin/claude </dev/null\r");
        wait_word(daemon.home(), "claude failed");
        link.wait_tab(&tab, "state", &json!("idle"));
        link.call("tab.close", json!({ "tab_id": tab }));
        wait_until("the tab goes", PATIENCE, || link.tab(&tab).is_none());
    }
}

#[test]
fn every_terminal_finds_the_helper_and_knows_its_project() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    let out = home.join("told");
    let script = format!(
        "{{ echo \"$PATH\"; echo \"$IDX0_SHELL_INTEGRATION\"; echo \"$IDX0_PROJECT_ID\"; \
         idx0-notify -c blocked --activity waiting 'a \"b\"' 'line
two'; echo $?; }} > {0}.new 2>&1; mv {0}.new {0}; exec cat",
        out.display()
    );
    let told = |mut open: Box<dyn FnMut(&str) + '_>| -> Vec<String> {
        open(&script);
        let text = eventually("the terminal has told", PATIENCE, || fs::read_to_string(&out).ok());
        fs::remove_file(&out).unwrap();
        text.lines().map(str::to_owned).collect()
    };
    let bin = home.join("data/rookery/bin").display().to_string();
    let first = told(Box::new(|script| drop(Link::to(home).open_sh(script))));
    let second = told(Box::new(|script| {
        daemon.client().open_sh(script);
    }));
    for lines in [&first, &second] {
        assert_eq!(lines[0].split(':').next(), Some(bin.as_str()), "{lines:?}");
        assert_eq!(lines[1], bin);
        let project = &lines[2];
        assert_eq!(project.len(), 36, "{project}");
        assert_eq!(*project, project.to_uppercase());
        assert_eq!(lines[3], "0", "{lines:?}");
        let item = wait_word(home, "a \"b\"");
        assert_eq!(item["category"], "blocked");
        assert_eq!(item["subtitle"], "line\ntwo");
    }
    assert_eq!(first[2], second[2], "both are in the first project");

    // Outside a session it says nothing, and with a server that is gone it ends all the same.
    assert_eq!(home.run(&home.join("data/rookery/bin/idx0-notify"), &["x"]).success(), "");
    let mut command = home.command(home.join("data/rookery/bin/idx0-notify"));
    command.env("IDX0_SESSION_ID", "11111111-1111-1111-1111-111111111111");
    command.env("IDX0_IPC_SOCKET", home.join("nowhere.sock"));
    let message = Finished::of(command).failure(1);
    assert!(message.starts_with("idx0-notify: Could not connect"), "{message}");
}

/// The socket that a daemon which was started like this listens at, as its tool finds it.
#[track_caller]
fn listens_at(home: &Home, socket: &Path, variable: Option<&Path>) {
    let command = |args: &[&str]| {
        let mut command = home.command(rookery_binary());
        command.args(args);
        if let Some(path) = variable {
            command.env("IDX0_IPC_SOCKET", path);
        }
        Finished::of(command).success()
    };
    command(&["up"]);
    assert!(socket.exists(), "{}", socket.display());
    let script = format!(
        "printf %s \"$IDX0_IPC_SOCKET\" > {0}/told.new; mv {0}/told.new {0}/told; exec cat",
        home.path().display()
    );
    command(&["open", "--", "sh", "-c", &script]);
    let told = eventually("told", PATIENCE, || fs::read_to_string(home.join("told")).ok());
    assert_eq!(told, socket.display().to_string());
    assert!(command(&["idx0", "list-sessions"]).contains('\t'));
    command(&["down", "--all"]);
}

#[test]
fn the_socket_moves_by_its_variable_and_by_the_config() {
    let home = Home::new();
    let socket = home.join("i/x.sock");
    listens_at(&home, &socket, Some(&socket));
    let home = Home::new();
    let socket = home.join("j/y.sock");
    fs::create_dir_all(home.join("config/rookery")).unwrap();
    let config = format!("[endpoints]\nidx0 = \"{}\"\n", socket.display());
    fs::write(home.join("config/rookery/config.toml"), config).unwrap();
    listens_at(&home, &socket, None);
}

fn event(id: u32, session: &str) -> Value {
    let envelope = json!({
        "schemaVersion": 1, "eventID": event_id(id), "sessionID": session,
        "timestamp": "2026-03-22T15:00:00Z", "eventType": "progress", "payload": {},
    });
    json!({ "envelope": envelope.to_string() })
}

fn event_id(id: u32) -> String {
    format!("0F2F66F2-7C4D-4A96-9C4A-{id:012X}")
}

#[test]
fn events_that_were_taken_are_mirrored_and_read_at_the_start() {
    let home = Home::new();
    let file = home.join("data/idx0/agent-events.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let theirs = json!({ "schemaVersion": 3, "handledEventIDs": [event_id(1).to_lowercase()] });
    fs::write(&file, theirs.to_string()).unwrap();
    let mut daemon = TestDaemon::start_in(home);
    Link::to(daemon.home()).open_sh("exec cat");
    let sessions = done(daemon.home(), "listSessions", json!({}));
    let session = sessions["data"].as_object().unwrap().keys().next().unwrap().clone();
    let told = |home: &Home, id| {
        ask(home, "agentEvent", event(id, &session))["message"].as_str().unwrap().to_owned()
    };
    let say = |daemon: &TestDaemon, id| told(daemon.home(), id);
    assert_eq!(say(&daemon, 1), "Duplicate event ignored.");
    assert_eq!(say(&daemon, 2), "Event ingested");
    // It is there before the reply is.
    let mirrored: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(mirrored["handledEventIDs"], json!([event_id(1), event_id(2)]));
    assert_eq!(mirrored["schemaVersion"], 3);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // Many at once: each finds its own id in the file when it is answered.
    std::thread::scope(|scope| {
        for id in 10..40 {
            let (home, file, told) = (daemon.home(), &file, &told);
            scope.spawn(move || {
                assert_eq!(told(home, id), "Event ingested");
                assert!(fs::read_to_string(file).unwrap().contains(&event_id(id)));
            });
        }
    });
    // Without the file the store knows them all the same; what is broken is put aside.
    daemon.kill9();
    fs::write(&file, "{").unwrap();
    daemon.restart();
    assert_eq!(say(&daemon, 1), "Duplicate event ignored.");
    assert_eq!(say(&daemon, 20), "Duplicate event ignored.");
    assert_eq!(say(&daemon, 3), "Event ingested");
    let names = fs::read_dir(file.parent().unwrap()).unwrap();
    let names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("agent-events.corrupt.")), "{names:?}");
    // What a later program wrote is not touched.
    daemon.kill9();
    let newer = r#"{"handledEventIDs":[],"schemaVersion":4}"#;
    fs::write(&file, newer).unwrap();
    daemon.restart();
    assert_eq!(say(&daemon, 4), "Event ingested");
    assert_eq!(fs::read_to_string(&file).unwrap(), newer);
}

/// The files of an idx0 that was used for a while.
fn write_files(dir: &Path) {
    let session = "AAAAAAAA-0000-4000-8000-000000000001";
    let id = |number: u32| format!("BBBBBBBB-0000-4000-8000-{number:012}");
    let at = |minute: u32| format!("2026-03-22T15:{minute:02}:00Z");
    let approval = |number: u32, status: &str| {
        json!({ "id": id(number), "sessionID": session, "createdAt": at(number), "status": status,
                "title": format!("approval {number}"), "summary": "s", "requestedAction": "rm" })
    };
    let item = |number: u32, category: &str, related: Option<String>| {
        json!({ "id": id(number), "sessionID": session, "createdAt": at(number), "isPinned": false,
                "category": category, "title": format!("item {number}"), "isResolved": false,
                "relatedObjectID": related })
    };
    let line = |number: u32| {
        json!({ "id": id(number), "sessionID": session, "createdAt": at(number),
                "type": "statusProgress", "title": format!("line {number}") })
    };
    let files = [
        ("approvals.json", "approvals", json!([approval(1, "pending"), approval(2, "approved")])),
        (
            "queue.json",
            "items",
            json!([item(10, "error", None), item(11, "approvalNeeded", Some(id(1))), { "id": 1 }]),
        ),
        ("timeline.json", "items", json!([line(20), line(21)])),
        (
            "checkpoints.json",
            "checkpoints",
            json!([{ "id": id(30), "sessionID": session,
            "title": "c", "summary": "s", "createdAt": at(30), "source": "autoCommit", "changedFiles": [] }]),
        ),
        (
            "reviews.json",
            "reviews",
            json!([{ "id": id(31), "sourceSessionID": session,
            "checkpointID": id(30), "createdAt": at(31), "summary": "r", "changedFiles": [],
            "status": "changesRequested" }]),
        ),
        ("agent-events.json", "handledEventIDs", json!([event_id(77)])),
        ("sessions.json", "sessions", json!([{ "id": session, "title": "api" }])),
    ];
    fs::create_dir_all(dir).unwrap();
    for (name, list, records) in files {
        let file = json!({ list: records, "schemaVersion": 3 });
        fs::write(dir.join(name), file.to_string()).unwrap();
    }
    fs::write(dir.join("handoffs.json"), "{").unwrap();
}

#[test]
fn what_another_idx0_kept_is_taken_over_once() {
    let mut daemon = TestDaemon::start();
    let dir = daemon.home().join("their idx0");
    write_files(&dir);
    let before: Vec<_> = fs::read_dir(&dir).unwrap().map(|it| it.unwrap().file_name()).collect();
    let place = dir.to_str().unwrap().to_owned();
    let import = |daemon: &TestDaemon, more: &[&str]| {
        let args = [&["import", "idx0", &place, "--json"][..], more].concat();
        daemon.rookery(&args).json()
    };
    let counts = |report: &Value, name: &str| {
        let files = report["files"].as_array().unwrap();
        let file = files.iter().find(|file| file["file"] == name).unwrap();
        ["taken", "known", "unreadable"].map(|key| file[key].as_u64().unwrap())
    };
    for (args, taken) in [(&["--dry-run"][..], true), (&[], true), (&[], false)] {
        let report = import(&daemon, args);
        let expect = |count: u64| if taken { [count, 0, 0] } else { [0, count, 0] };
        for (name, count) in [
            ("approvals.json", 2),
            ("timeline.json", 2),
            ("checkpoints.json", 1),
            ("reviews.json", 1),
            ("agent-events.json", 1),
        ] {
            assert_eq!(counts(&report, name), expect(count), "{name} {args:?}: {report}");
        }
        let [new, known, unreadable] = counts(&report, "queue.json");
        assert_eq!((new + known, unreadable), (2, 1));
        assert_eq!(report["sessions"][0]["title"], "api");
        let handoffs = report["files"].as_array().unwrap();
        let handoffs = handoffs.iter().find(|file| file["file"] == "handoffs.json").unwrap();
        assert_eq!(handoffs["state"], "corrupt");
        let queue = list(daemon.home(), "listQueue", json!({}));
        assert_eq!(queue.len(), if args.is_empty() { 2 } else { 0 }, "{queue:?}");
    }
    let after: Vec<_> = fs::read_dir(&dir).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(after, before, "nothing of theirs changes");
    daemon.kill9();
    daemon.restart();
    let home = daemon.home();
    let pending = list(home, "listApprovals", json!({ "status": "pending" }));
    assert_eq!(pending.len(), 1, "{pending:?}");
    assert_eq!(pending[0]["createdAt"], "2026-03-22T15:01:00Z");
    let queue = list(home, "listQueue", json!({}));
    assert_eq!(queue[0]["relatedObjectID"], pending[0]["id"]);
    assert_eq!(queue[1]["title"], "item 10");
    let lines = list(home, "listTimeline", json!({}));
    assert_eq!([&lines[0]["title"], &lines[1]["title"]], ["line 21", "line 20"]);
    assert_eq!(list(home, "listReviews", json!({}))[0]["status"], "changesRequested");
    assert_eq!(list(home, "listCheckpoints", json!({}))[0]["source"], "autoCommit");
    done(home, "respondApproval", json!({ "approvalID": pending[0]["id"], "status": "denied" }));
    let queue = list(home, "listQueue", json!({}));
    assert_eq!(queue.len(), 1, "the item about it is resolved: {queue:?}");
    let mirror = fs::read_to_string(home.join("data/idx0/agent-events.json")).unwrap();
    assert!(mirror.contains(&event_id(77)), "{mirror}");
    let message = daemon.rookery(&["import", "idx0", "/nowhere/at/all"]).failure(1);
    assert!(message.contains("does not exist"), "{message}");
}
