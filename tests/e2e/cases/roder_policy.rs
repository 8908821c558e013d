//! Modes of the Roder dialect against the corpus of commands: what is hostile never runs unasked, by
//! whatever way it comes, and what is harmless does.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rookery_testkit::{Finished, Home, TestDaemon};
use serde_json::{Value, json};

use crate::roder_link::{Peer, script};

pub(crate) const HOSTILE: &str = include_str!("../../../crates/agent/tests/policy/hostile.txt");
const HARMLESS: &str = include_str!("../../../crates/agent/tests/policy/harmless.txt");

/// The commands of a corpus.
pub(crate) fn corpus(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    let commands = lines.map(|line| match line.strip_prefix("json:") {
        Some(json) => serde_json::from_str(json).unwrap(),
        None => line.to_owned(),
    });
    // What has a NUL in it is no command at all.
    commands.filter(|command| !command.contains('\0')).collect()
}

/// Programs that not every machine has.
fn is_common(command: &str) -> bool {
    let words = || command.split([' ', '|', ';']);
    !["rg", "fd", "tree", "jq", "cargo", "file"].iter().any(|name| words().any(|it| it == *name))
}

/// A file as it was found: name, mode, time of change, content or target.
pub(crate) type Found = (PathBuf, u32, i64, i64, Vec<u8>);

/// A repository with a change in it, and a directory outside of it that links lead to.
pub(crate) struct Scratch {
    pub(crate) dir: PathBuf,
    pub(crate) work: PathBuf,
}

impl Scratch {
    pub(crate) fn new(home: &Home) -> Scratch {
        let dir = home.join("scratch");
        let work = dir.join("work");
        fs::create_dir_all(work.join("src")).unwrap();
        fs::create_dir_all(dir.join("outside")).unwrap();
        let files = [
            ("../outside/kept", "kept\n"),
            ("a.txt", "a:1\nb:2\na:3\n"),
            ("README.md", "# Scratch\n"),
            ("src/main.rs", "fn main() {}\n"),
            ("src/lib.rs", "pub fn one() -> u8 {\n    1\n}\n"),
            ("evil.sh", "touch new\n"),
            ("evil.sed", "w new\n"),
            ("evil.awk", "BEGIN { system(\"touch new\") }\n"),
            ("ls", "#!/bin/sh\ntouch new\n"),
            ("evil", "#!/bin/sh\ntouch new\n"),
        ];
        for (name, text) in files {
            fs::write(work.join(name), text).unwrap();
        }
        for name in ["ls", "evil", "evil.sh"] {
            fs::set_permissions(work.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        symlink("../outside/kept", work.join("link")).unwrap();
        symlink("../outside", work.join("dirlink")).unwrap();
        let scratch = Scratch { dir, work };
        scratch.git(home, &["init", "-q", "-b", "main"]);
        scratch.git(home, &["add", "."]);
        scratch.git(home, &["commit", "-q", "-m", "one"]);
        // What git would run for everyone who only looks.
        for key in ["core.fsmonitor", "core.pager", "core.sshCommand"] {
            scratch.git(home, &["config", key, "touch new; false"]);
        }
        fs::write(scratch.work.join("a.txt"), "a:1\nb:2\na:3\nc:4\n").unwrap();
        scratch
    }

    fn git(&self, home: &Home, args: &[&str]) {
        let mut command = home.command("git");
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        command.current_dir(&self.work).args(who).args(["-c", "core.fsmonitor=false"]).args(args);
        Finished::of(command).success();
    }

    /// All that is there; links are not followed.
    pub(crate) fn state(&self) -> Vec<Found> {
        let mut found = Vec::new();
        let mut open = vec![self.dir.clone()];
        while let Some(path) = open.pop() {
            let metadata = fs::symlink_metadata(&path).unwrap();
            let mut content = Vec::new();
            if metadata.is_symlink() {
                content = fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes();
            } else if metadata.is_file() {
                content = fs::read(&path).unwrap();
            } else {
                open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            found.push((path, metadata.mode(), metadata.mtime(), metadata.mtime_nsec(), content));
        }
        found.sort();
        found
    }
}

/// Each way of a client to run a command by itself; the last two are refused alike.
fn requests(command: &str, cwd: &Path, thread: &str) -> [(&'static str, Value); 3] {
    let exec = |argv: Value| ("command/exec", json!({ "command": argv, "cwd": cwd }));
    let arguments = json!({ "command": command });
    let call = json!({ "threadId": thread, "toolName": "shell", "arguments": arguments });
    [
        exec(json!(["sh", "-c", command])),
        exec(json!(["bash", "-lc", command])),
        ("tools/call", call),
    ]
}

/// Makes the model run all these commands in one turn, and gives what became of each. Whatever is
/// asked is denied.
#[track_caller]
fn run_in_turn(peer: &mut Peer, thread: &str, commands: &[String]) -> (Vec<Value>, usize) {
    let shell = |command: &String| json!({ "tool": "shell", "args": { "command": command } });
    let turn = peer.turn(thread, &script(&commands.iter().map(shell).collect::<Value>()));
    let (mut items, mut asked) = (Vec::new(), 0);
    loop {
        let (name, told) = peer.next().unwrap();
        match name.as_str() {
            "session/approvalRequested" if told["turnId"] == turn => {
                asked += 1;
                let answer = json!({ "approvalId": told["approvalId"], "approved": false });
                peer.call("session/resolve_approval", answer);
            }
            "item/completed" if told["item"]["type"] == "toolExecution" => {
                items.push(told["item"].clone());
            }
            "turn/completed" if told["turn"]["id"] == turn => {
                assert_eq!(told["turn"]["status"], "completed", "{told}");
                return (items, asked);
            }
            _ => {}
        }
    }
}

#[test]
fn hostile_commands_never_run_unasked_in_plan_and_ask_mode() {
    let daemon = TestDaemon::start();
    let scratch = Scratch::new(daemon.home());
    let mut peer = Peer::to(&daemon);
    let before = scratch.state();
    for (mode, offset) in [("plan", 0), ("ask", 5)] {
        peer.set_mode(mode);
        let thread = peer.thread(&scratch.work);
        let commands: Vec<String> = corpus(HOSTILE).into_iter().skip(offset).step_by(11).collect();
        assert!(commands.len() > 40, "a few dozen");
        for command in &commands {
            for (method, params) in requests(command, &scratch.work, &thread) {
                let error = peer.refused(method, params);
                assert_eq!(error["code"], -32004, "{command}: {error}");
                let kind = error["data"]["kind"].as_str().unwrap();
                let kinds = ["policy_denied", "approval_required"];
                assert!(kinds.contains(&kind) && (mode, kind) != ("ask", kinds[0]), "{error}");
                assert_eq!(error["data"]["mode"], mode);
            }
        }
        let (items, asked) = run_in_turn(&mut peer, &thread, &commands);
        assert_eq!(items.len(), commands.len());
        assert!(if mode == "ask" { asked == commands.len() } else { asked < commands.len() });
        for (item, command) in items.iter().zip(&commands) {
            assert_eq!(
                (&item["input"]["command"], &item["status"]),
                (&json!(command), &json!("failed"))
            );
            let text = item["error"].as_str().or(item["output"].as_str()).unwrap();
            assert!(text.starts_with("policy "), "{item}");
        }
        assert!(scratch.state() == before, "something changed in {mode} mode");
        assert_eq!(daemon.client().terminals(), Vec::<Value>::new(), "nothing was even started");
    }
}

#[test]
fn no_arguments_and_no_environment_make_a_reader_a_writer() {
    let daemon = TestDaemon::start();
    let scratch = Scratch::new(daemon.home());
    let mut peer = Peer::to(&daemon);
    let before = scratch.state();
    let hostile: &[(&[&str], Value)] = &[
        (&["rm", "a.txt"], json!({})),
        (&["/bin/rm", "-rf", "."], json!({})),
        (&["./ls"], json!({})),
        (&["env", "touch", "new"], json!({})),
        (&["find", ".", "-delete"], json!({})),
        (&["find", ".", "-exec", "touch", "new", ";"], json!({})),
        (&["sort", "a.txt", "-o", "a.txt"], json!({})),
        (&["sed", "-i", "s/a/b/", "a.txt"], json!({})),
        (&["git", "-c", "core.pager=touch new", "-p", "log"], json!({})),
        (&["git", "diff", "--output=new"], json!({})),
        (&["git", "checkout", "--", "a.txt"], json!({})),
        (&["git", "diff"], json!({ "GIT_EXTERNAL_DIFF": "./evil" })),
        (&["git", "status"], json!({ "GIT_DIR": "evil" })),
        (&["ls"], json!({ "PATH": "." })),
        (&["ls"], json!({ "LD_PRELOAD": "./evil.so" })),
        (&["bash", "-c", "ls"], json!({ "BASH_ENV": "evil.sh" })),
        (&["sh", "-c", "touch \"$1\"", "sh", "new"], json!({})),
        (&["xargs", "touch"], json!({})),
        (&["tee", "new"], json!({})),
    ];
    for mode in ["plan", "ask"] {
        peer.set_mode(mode);
        for (command, env) in hostile {
            let params = json!({ "command": command, "env": env, "cwd": scratch.work });
            let error = peer.refused("command/exec", params);
            assert_eq!(error["code"], -32004, "{command:?} {env}: {error}");
        }
        assert!(scratch.state() == before, "something changed in {mode} mode");
    }
}

#[test]
fn harmless_commands_run_unasked_and_change_nothing() {
    let daemon = TestDaemon::start();
    let scratch = Scratch::new(daemon.home());
    let mut peer = Peer::to(&daemon);
    let before = scratch.state();
    for (mode, offset) in [("plan", 0), ("ask", 2)] {
        peer.set_mode(mode);
        let thread = peer.thread(&scratch.work);
        let common = corpus(HARMLESS).into_iter().filter(|command| is_common(command));
        let commands: Vec<String> = common.skip(offset).step_by(4).collect();
        assert!(commands.len() > 24, "a few dozen");
        for command in &commands {
            let [(exec, params), _, (tool, call)] = requests(command, &scratch.work, &thread);
            let ran = peer.call(exec, params);
            assert_eq!(ran["exitCode"], 0, "{command}: {ran}");
            let ran = peer.call(tool, call);
            assert_eq!(ran["is_error"], false, "{command}: {ran}");
        }
        let (items, asked) = run_in_turn(&mut peer, &thread, &commands);
        assert_eq!((items.len(), asked), (commands.len(), 0));
        for item in &items {
            assert_eq!(
                (&item["status"], &item["exitCode"]),
                (&json!("completed"), &json!(0)),
                "{item}"
            );
        }
        assert!(scratch.state() == before, "something changed in {mode} mode");
    }
}

#[test]
fn a_plan_is_left_only_after_approval_and_then_writes_are_asked_for() {
    let daemon = TestDaemon::start();
    let mut peer = Peer::to(&daemon);
    peer.set_mode("plan");
    let thread = peer.thread(daemon.home().path());
    let write = json!({ "tool": "write_file", "args": { "path": "made", "content": "x" } });
    let exit = json!({ "tool": "exit_plan_mode", "args": { "summary": "write it" } });
    let turn = peer.turn(&thread, &script(&json!([write, exit, write, { "text": "done" }])));
    let mut statuses = Vec::new();
    loop {
        let (name, told) = peer.next().unwrap();
        match name.as_str() {
            "session/planExitRequested" => {
                assert!(!daemon.home().join("made").exists());
                let answer = json!({ "requestId": told["requestId"], "approved": true });
                let left = peer.call("session/exit_plan", answer);
                assert_eq!((&left["resolved"], &left["mode"]), (&json!(true), &json!("default")));
            }
            "session/approvalRequested" => {
                let answer = json!({ "approvalId": told["approvalId"], "approved": true });
                assert_eq!(peer.call("session/resolve_approval", answer)["resolved"], true);
            }
            "item/completed" if told["item"]["type"] == "toolExecution" => {
                statuses.push(told["item"]["status"].as_str().unwrap().to_owned());
            }
            "turn/completed" => break assert_eq!(told["turn"]["id"], turn),
            _ => {}
        }
    }
    assert_eq!(statuses, ["failed", "completed", "completed"]);
    assert!(daemon.home().join("made").exists());
}
