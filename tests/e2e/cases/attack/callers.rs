//! What agents run cannot speak for the person, however it leaves its process tree; the person can,
//! from wherever they type.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use rookery_native::wire::{AuditList, QueueList, RequestList};
use rookery_testkit::{Caller, PATIENCE, TestDaemon, eventually, rookery_binary, wait_until};
use rookery_wire::Call as _;
use serde_json::{Value, json};

use crate::roder_link::{Peer, script};

/// Ways to leave the process tree: not at all, an orphan, one in a session of its own, a double fork,
/// and that without any environment.
const WAYS: &[&str] = &["stay", "fork", "setsid", "daemon", "bare"];

/// A daemon with something that waits for an approval, and a shell of the person.
struct World {
    daemon: TestDaemon,
    person: Caller,
    driver: Peer,
    thread: String,
    request: String,
    shell: u64,
}

impl World {
    fn start() -> World {
        let daemon = TestDaemon::start();
        let person = daemon.client();
        let shell = person.open(json!({ "argv": ["/bin/sh"] }));
        let mut driver = Peer::to(&daemon);
        let thread = driver.thread(daemon.home().path());
        let edit = json!({ "path": "note", "content": "done\n" });
        driver.turn(&thread, &script(&json!([{ "tool": "write_file", "args": edit }])));
        let asked = driver.wait_told("session/approvalRequested");
        let request = asked["approvalId"].as_str().unwrap().trim_start_matches("appr_").to_owned();
        World { daemon, person, driver, thread, request, shell }
    }

    /// The hostile program under this name, and the arguments that it gets besides the way.
    fn program(&self, name: &str) -> PathBuf {
        let path = self.daemon.home().join(name);
        let text = format!("#!/usr/bin/env python3\n{}", include_str!("agent.py"));
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        path
    }

    fn arguments(&self, way: &str) -> Vec<String> {
        let rookery = rookery_binary().to_str().unwrap();
        let home = self.daemon.home().path().to_str().unwrap();
        let results = self.results(way);
        let shell = self.shell.to_string();
        let words =
            [home, &self.request, &shell, &self.thread, rookery, results.to_str().unwrap(), way];
        words.map(str::to_owned).to_vec()
    }

    fn results(&self, way: &str) -> PathBuf {
        self.daemon.home().join(&format!("results-{way}"))
    }

    /// Waits for the attack to end, and checks that nothing came of it.
    #[track_caller]
    fn assert_held(&mut self, way: &str, from: &str) {
        let path = self.results(way);
        // Nothing counts as held that was not tried.
        let text = eventually("the attack ends", PATIENCE, || fs::read_to_string(&path).ok());
        fs::remove_file(&path).unwrap();
        let found: Value = serde_json::from_str(&text).unwrap();
        let attacks = found["attacks"].as_object().unwrap();
        assert!(attacks.len() > 40, "{from} {way}");
        let won = attacks.iter().filter(|(_, attack)| attack["refused"] != true);
        let won: Vec<_> = won.collect();
        assert!(won.is_empty(), "{from}, {way}: {won:#?}");
        self.assert_untouched(&format!("{from}, {way}"));
    }

    #[track_caller]
    fn assert_untouched(&mut self, after: &str) {
        let waiting = self.person.call(RequestList::METHOD, json!({}));
        assert_eq!(waiting["requests"][0]["id"], self.request, "{after}");
        assert_eq!(self.driver.call("session/get", json!({}))["mode"], "default", "{after}");
        let screen = self.person.screen(self.shell);
        assert!(!screen.contains("pwned"), "{after}: {screen}");
        assert!(!self.daemon.home().join("note").exists(), "{after}");
    }

    /// Approves as the person does, in a shell of ours.
    #[track_caller]
    fn assert_person_decides(&mut self) -> Value {
        self.person.write(
            self.shell,
            &format!("{} approve {}\n", rookery_binary().display(), self.request),
        );
        let note = self.daemon.home().join("note");
        wait_until("what was approved is done", PATIENCE, || note.exists());
        let audit = self.person.call(AuditList::METHOD, json!({ "by": "rookery" }));
        audit["decisions"].as_array().unwrap().last().unwrap().clone()
    }
}

#[test]
fn a_program_of_an_agent_in_the_persons_shell_decides_nothing() {
    let mut world = World::start();
    let claude = world.program("claude");
    // A shell of its own, so that the other one stays the person's.
    let shell = world.person.open(json!({ "argv": ["/bin/sh"] }));
    for way in WAYS {
        let line = format!("{} {}\n", claude.display(), world.arguments(way).join(" "));
        world.person.write(shell, &line);
        world.assert_held(way, "typed into a shell");
    }
    let decided = world.assert_person_decides();
    assert_eq!(decided["verdict"], "approved", "{decided}");
    assert_eq!(decided["decider"]["terminal"], world.shell, "{decided}");
    assert_eq!(decided["decider"]["endpoint"], "rookery", "{decided}");
    assert!(decided["decider"]["pid"].is_u64(), "{decided}");
}

#[test]
fn an_agent_that_is_the_program_of_a_terminal_decides_nothing() {
    let mut world = World::start();
    let codex = world.program("codex");
    for way in WAYS {
        let mut argv = vec![codex.to_str().unwrap().to_owned()];
        argv.extend(world.arguments(way));
        world.person.open(json!({ "argv": argv }));
        world.assert_held(way, "the program of a terminal");
    }
    world.assert_person_decides();
}

#[test]
fn what_a_tool_runs_decides_nothing() {
    let mut world = World::start();
    // Not named like an agent: what is below a tool needs no name.
    let program = world.program("helper");
    let cwd = world.daemon.home().path().to_owned();
    let mut other = Peer::to(&world.daemon);
    let thread = other.thread(&cwd);
    for way in WAYS {
        // Its own output closed, so that the tool does not wait for what left.
        let words = world.arguments(way).join(" ");
        let line = format!("{} {words} >/dev/null 2>&1", program.display());
        // On pipes: what a tool's terminal leaves behind ends with it, and tries nothing.
        let args = json!({ "cmd": line, "tty": false });
        let turn = other.turn(&thread, &script(&json!([{ "tool": "exec_command", "args": args }])));
        let asked = other.until(|name, told| {
            let of_world = format!("appr_{}", world.request);
            name == "session/approvalRequested" && told["approvalId"] != of_world
        });
        let id = asked.last().unwrap().1["approvalId"].clone();
        other.call("session/resolve_approval", json!({ "approvalId": id, "approved": true }));
        other.until_over(&turn);
        world.assert_held(way, "run by a tool");
    }
    world.assert_person_decides();
}

#[test]
fn what_a_tool_left_behind_decides_nothing_after_the_daemon_was_killed() {
    let mut world = World::start();
    let program = world.program("helper");
    let sign = world.daemon.home().join("sign");
    let cwd = world.daemon.home().path().to_owned();
    let mut other = Peer::to(&world.daemon);
    let thread = other.thread(&cwd);
    let words = world.arguments("daemon").join(" ");
    // Its own output closed, so that the tool does not wait for it.
    let line = format!("{} {words} {} >/dev/null 2>&1", program.display(), sign.display());
    let turn = other.turn(
        &thread,
        &script(&json!([{ "tool": "exec_command", "args": { "cmd": line, "tty": false } }])),
    );
    let of_world = format!("appr_{}", world.request);
    let asked = other
        .until(|name, told| name == "session/approvalRequested" && told["approvalId"] != of_world);
    let id = asked.last().unwrap().1["approvalId"].clone();
    other.call("session/resolve_approval", json!({ "approvalId": id, "approved": true }));
    other.until_over(&turn);
    world.daemon.kill9();
    world.daemon.restart();
    world.person = world.daemon.client();
    world.driver = Peer::to(&world.daemon);
    fs::write(&sign, "").unwrap();
    world.assert_held("daemon", "left behind by a tool of a dead daemon");
    world.assert_person_decides();
}

/// What an agent may do: open, use what it opened, say what it does, read what it is shown.
const OWN: &str = r#"
import base64, json, os, socket, sys

def talk(name, message):
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(30)
        link.connect(os.path.join(os.environ["ROOKERY_HOME"], "run", name, name + ".sock"))
        link.sendall(json.dumps(message).encode() + b"\n")
        if name == "idx0":
            link.shutdown(socket.SHUT_WR)
        return json.loads(link.makefile().readline())

def rpc(method, **params):
    reply = talk("rookery", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    return reply.get("result", reply)

own = rpc("rookery/terminals/open", argv=["/bin/cat"])["id"]
tab, session = os.environ["ROOST_TAB_ID"], os.environ["IDX0_SESSION_ID"]
title = {"id": "1", "op": "tab.set_title", "params": {"tab_id": tab, "title": "mine"}}
word = {"command": "notify", "payload": {"sessionID": session, "title": "at work"}}
found = {
    "write": rpc("rookery/terminals/write", terminal=own, text="hello\n"),
    "wait": rpc("rookery/terminals/wait", terminal=own, text="hello", timeoutMs=20000),
    "list": rpc("rookery/terminals/list"),
    "requests": rpc("rookery/requests/list"),
    "title": talk("roost", title),
    "notify": talk("idx0", word),
    "close": rpc("rookery/terminals/close", terminal=own),
}
with open(sys.argv[1] + ".part", "w") as file:
    json.dump(found, file)
os.rename(sys.argv[1] + ".part", sys.argv[1])
sys.stdin.readline()
"#;

#[test]
fn an_agent_uses_what_it_opened_and_reports_where_it_works() {
    let daemon = TestDaemon::start();
    let person = daemon.client();
    let claude = daemon.home().join("claude");
    fs::write(&claude, format!("#!/usr/bin/env python3\n{OWN}")).unwrap();
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o700)).unwrap();
    let results = daemon.home().join("results");
    let terminal = person.open(json!({ "argv": [claude, results] }));
    let text = eventually("the agent is done", PATIENCE, || fs::read_to_string(&results).ok());
    let found: Value = serde_json::from_str(&text).unwrap();
    for step in ["write", "wait", "list", "requests", "close"] {
        assert!(found[step]["error"].is_null(), "{step}: {found:#}");
    }
    assert_eq!(found["title"]["ok"], true, "{found:#}");
    assert_eq!(found["notify"]["success"], true, "{found:#}");
    assert_eq!(person.terminal(terminal)["title"], "mine");
    let queue = person.call(QueueList::METHOD, json!({}));
    assert!(queue.to_string().contains("at work"), "{queue}");
}
