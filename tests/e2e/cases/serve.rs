//! `rookery serve`: stdio and sockets, both framings, and a world of its own that leaves nothing behind.

mod stdio;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc;
use std::{fs, thread};

use rookery_testkit::{
    Caller, Finished, Home, PATIENCE, TestDaemon, eventually, rookery_binary, wait_until,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"session.list"}"#;
const EMPTY: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"sessions":[]}}"#;

/// Does not care about hanging up, and has started something that left its session.
const STUBBORN: &str = "trap '' HUP; setsid sleep 1000 & echo ready; while :; do sleep 1000; done";

/// A server and what it writes.
struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: mpsc::Receiver<String>,
    stderr: mpsc::Receiver<String>,
}

/// Files that a server makes for itself go to a place that can be looked at.
fn temporary(home: &Home) -> std::path::PathBuf {
    let dir = home.join("tmp");
    fs::create_dir_all(&dir).unwrap();
    dir
}

fn command(home: &Home, args: &[&str]) -> std::process::Command {
    let mut command = home.command(rookery_binary());
    command.env("TMPDIR", temporary(home)).arg("serve").args(args);
    command
}

fn lines(pipe: impl std::io::Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    let lines = BufReader::new(pipe).lines().map_while(Result::ok);
    thread::spawn(move || lines.into_iter().try_for_each(|line| sender.send(line)));
    receiver
}

impl Server {
    fn start(home: &Home, args: &[&str]) -> Server {
        let mut command = command(home, args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Server {
            stdin: child.stdin.take(),
            stdout: lines(child.stdout.take().unwrap()),
            stderr: lines(child.stderr.take().unwrap()),
            child,
        }
    }

    /// A server that listens.
    fn listen(home: &Home, socket: &Path, args: &[&str]) -> Server {
        let server = Server::start(home, &[&["--socket", socket.to_str().unwrap()], args].concat());
        wait_until("the server listens", PATIENCE, || UnixStream::connect(socket).is_ok());
        server
    }

    fn send(&mut self, text: &str) {
        self.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[track_caller]
    fn line(&self) -> Value {
        serde_json::from_str(&self.stdout.recv_timeout(PATIENCE).unwrap()).unwrap()
    }

    #[track_caller]
    fn reply(&mut self, method: &str, params: Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        self.send(&format!("{request}\n"));
        self.line()
    }

    #[track_caller]
    fn call(&mut self, method: &str, params: Value) -> Value {
        self.reply(method, params)["result"].clone()
    }

    /// A session whose program is not easily ended.
    #[track_caller]
    fn start_stubborn(&mut self) {
        let program = json!({ "program": "/bin/sh", "args": ["-c", STUBBORN] });
        assert_eq!(self.call("session.create", program), json!({ "session": "s1" }));
        let ready = json!({ "type": "contains_text", "value": "ready" });
        let wait = json!({ "session": "s1", "matcher": ready, "cells": false });
        assert_eq!(self.call("session.wait", wait)["matched"], true);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    #[track_caller]
    fn ended(&mut self) -> ExitStatus {
        eventually("the server ends", PATIENCE, || self.child.try_wait().unwrap())
    }

    /// Everything it said on stderr, once it has ended.
    fn said(&self) -> String {
        self.stderr.iter().collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a server on stdio with this input to its end.
fn feed(home: &Home, args: &[&str], input: &[u8]) -> Finished {
    let file = home.join("input");
    fs::write(&file, input).unwrap();
    let mut command = command(home, &[&["--stdio"], args].concat());
    command.stdin(fs::File::open(&file).unwrap());
    Finished::of(command)
}

#[track_caller]
fn assert_nothing_left(home: &Home) {
    home.assert_no_processes_left();
    let left = || fs::read_dir(temporary(home)).unwrap().map(|entry| entry.unwrap().path());
    wait_until("its directory is gone", PATIENCE, || left().next().is_none());
}

fn lsp(body: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn a_server_on_stdio_has_an_empty_world_and_ends_with_its_input() {
    let home = Home::new();
    let done = feed(&home, &[], format!("{LIST}\r\n\n  \n{LIST}").as_bytes());
    assert_eq!(done.stderr, "");
    assert_eq!(done.success(), format!("{EMPTY}\n{EMPTY}\n"));
    assert_nothing_left(&home);
}

#[test]
fn a_log_is_there_from_the_start_unless_it_cannot_be() {
    let home = Home::new();
    feed(&home, &[], b"").success();
    let logs = home.join(".ptywright/logs");
    let files: Vec<_> = fs::read_dir(&logs).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    assert_eq!(fs::read_to_string(file).unwrap(), "");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    fs::remove_dir_all(&logs).unwrap();
    fs::write(&logs, "in the way").unwrap();
    let done = feed(&home, &[], LIST.as_bytes());
    assert!(done.stderr.contains("cannot log to "), "{}", done.stderr);
    assert_eq!(done.stderr.lines().count(), 1);
    assert_eq!(done.success(), format!("{EMPTY}\n"));
}

#[test]
fn the_request_in_progress_is_finished_at_the_end_of_input() {
    let home = Home::new();
    let create = r#"{"jsonrpc":"2.0","id":1,"method":"session.create","params":{"program":"cat"}}"#;
    let never = r#"{"type":"contains_text","value":"never"}"#;
    let wait = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"session.wait","params":{{"session":"s1","timeout_ms":300,"matcher":{never}}}}}"#
    );
    let done = feed(&home, &[], format!("{create}\n{wait}\n{LIST}").as_bytes()).success();
    let replies: Vec<Value> =
        done.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(replies[0]["result"], json!({ "session": "s1" }));
    assert_eq!(replies[1]["error"]["code"], -32001);
    assert_eq!(replies[2]["result"], json!({ "sessions": ["s1"] }));
    assert_nothing_left(&home);
}

#[test]
fn sessions_end_with_the_input() {
    let home = Home::new();
    let mut server = Server::start(&home, &["--stdio"]);
    server.start_stubborn();
    server.stdin = None;
    assert_eq!(server.ended().code(), Some(0));
    assert_nothing_left(&home);
}

#[test]
fn sessions_end_with_a_signal() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let home = Home::new();
        let mut server = Server::start(&home, &["--stdio"]);
        server.start_stubborn();
        server.signal(signal);
        assert_eq!(server.ended().code(), Some(code));
        assert_nothing_left(&home);
    }
}

#[test]
fn sessions_end_with_a_server_that_is_killed() {
    let home = Home::new();
    let mut server = Server::start(&home, &["--stdio"]);
    server.start_stubborn();
    assert_eq!(fs::read_dir(temporary(&home)).unwrap().count(), 1);
    server.signal(Signal::KILL);
    assert_eq!(server.ended().code(), None);
    assert_nothing_left(&home);
}

#[test]
fn a_client_that_is_gone_does_not_keep_a_server_waiting() {
    let home = Home::new();
    let mut command = command(&home, &["--stdio"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let create = r#"{"jsonrpc":"2.0","id":1,"method":"session.create","params":{"program":"cat"}}"#;
    let wait = r#"{"jsonrpc":"2.0","id":2,"method":"session.wait","params":{"session":"s1","timeout_ms":3600000,"matcher":{"type":"process_exited"}}}"#;
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{create}\n{wait}\n").as_bytes()).unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    drop((stdin, stdout));
    eventually("the server ends", PATIENCE, || child.try_wait().unwrap());
    assert_nothing_left(&home);
}

#[test]
fn mistakes_on_the_command_line_have_their_codes_and_words() {
    let home = Home::new();
    let said = home.rookery(&["serve", "--stdio", "--socket", "x"]).failure(1);
    let wanted =
        "ptywright: rpc error: serve accepts only one transport: use either --stdio or --socket\n";
    assert_eq!(said, wanted);
    home.rookery(&["serve", "--stdio", "--framing", "xx"]).failure(2);
    let said = home.rookery(&["serve", "--stdio", "--plugin", "/no/such/plugin.toml"]).failure(1);
    let wanted = "ptywright: config error: failed to read plugin manifest `/no/such/plugin.toml`";
    assert!(said.starts_with(wanted), "{said}");
    let broken = home.join("broken.toml");
    fs::write(&broken, "name = [").unwrap();
    let said = home.rookery(&["serve", "--stdio", "--plugin", broken.to_str().unwrap()]).failure(1);
    assert!(said.starts_with("ptywright: config error: "), "{said}");
}

#[test]
fn plugins_are_loaded_at_the_start_and_later_only_with_permission() {
    let home = Home::new();
    let manifest =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors/ptywright/plugins/parrot/manifest.toml");
    let names = |listed: &Value| listed.to_string().contains("\"parrot\"");
    let mut server = Server::start(&home, &["--stdio", "--plugin", manifest]);
    assert!(names(&server.call("adapter.list", json!({}))));
    let load = json!({ "manifest_path": manifest });
    assert_eq!(server.reply("plugin.load", load.clone())["error"]["code"], -32004);
    let mut server = Server::start(&home, &["--stdio", "--allow-plugin-load"]);
    assert!(!names(&server.call("adapter.list", json!({}))));
    assert_ne!(server.call("plugin.load", load), Value::Null);
    assert!(names(&server.call("adapter.list", json!({}))));
}

#[test]
fn diagnostics_do_not_give_secrets_away() {
    let home = Home::new();
    let secret = "abcdefghijklmnopqrstuvwxyz123456";
    for args in [
        ["serve", "--plugin", &format!("/no/api_key={secret}")],
        ["serve", "--stdio", &format!("--api_key={secret}")],
        ["ptywright", "serve", &format!("--api_key={secret}")],
    ] {
        let said = home.rookery(&args);
        assert!(!said.status.success());
        assert!(!said.stderr.contains(secret) && !said.stderr.is_empty(), "{}", said.stderr);
    }
}

#[test]
fn diagnostics_are_redacted_once() {
    let home = Home::new();
    let said = "ptywright: config error: failed to read plugin manifest `/none/token=[REDACTED] \
                No such file or directory (os error 2)\n";
    let args = ["serve", "--stdio", "--plugin", "/none/token=abcdef"];
    assert_eq!(home.rookery(&args).failure(1), said);
    assert_eq!(home.rookery(&[&["ptywright"], &args[..]].concat()).failure(1), said);
    let said = home.rookery(&["serve", "token=abcdef"]).failure(2);
    assert!(said.contains("[REDACTED]") && !said.contains("[REDACTED]]"), "{said}");
}

#[test]
fn without_a_transport_the_usual_socket_is_served_and_named() {
    let home = Home::new();
    let mut server = Server::start(&home, &[]);
    let said = server.stderr.recv_timeout(PATIENCE).unwrap();
    let socket = home.join(".ptywright/socket");
    let wanted = format!("ptywright: serving on {} (override with --socket)", socket.display());
    assert_eq!(said, wanted);
    assert_eq!(socket.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let client = Caller::connect(&socket).unwrap();
    assert_eq!(client.call("session.list", json!({})), json!({ "sessions": [] }));
    server.signal(Signal::INT);
    assert_eq!(server.ended().code(), Some(130));
    assert!(!socket.exists());
}

#[test]
fn two_clients_share_the_sessions_and_do_not_wait_for_each_other() {
    let home = Home::new();
    let socket = home.join("made/for/it.sock");
    let mut server = Server::listen(&home, &socket, &[]);
    let first = Caller::connect(&socket).unwrap();
    let second = Caller::connect(&socket).unwrap();
    let session = first.call("session.create", json!({ "program": "cat" }))["session"].clone();
    let text = json!({ "type": "contains_text", "value": "from the other" });
    // Both at once and in this order: the kill comes after the wait, so the session still lives.
    let wait = json!({ "session": session, "matcher": text, "cells": false });
    let requests = [("session.wait", wait), ("session.kill", json!({ "session": session }))];
    let lines = requests.map(|(method, params)| {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        format!("{request}\n")
    });
    let mut third = UnixStream::connect(&socket).unwrap();
    third.write_all(lines.concat().as_bytes()).unwrap();
    assert_eq!(second.call("session.list", json!({})), json!({ "sessions": ["s1"] }));
    let action = json!({ "type": "text", "value": "from the other\r" });
    second.call("session.input", json!({ "session": session, "action": action }));
    let exited =
        json!({ "session": session, "matcher": { "type": "process_exited" }, "cells": false });
    assert_eq!(second.call("session.wait", exited)["matched"], true);
    drop(first);
    assert_eq!(second.call("session.list", json!({})), json!({ "sessions": ["s1"] }));
    server.signal(Signal::TERM);
    assert_eq!(server.ended().code(), Some(143));
    assert!(!socket.exists());
    assert_eq!(server.said(), "");
    assert_nothing_left(&home);
}

#[test]
fn a_live_socket_and_a_file_are_left_alone_and_a_dead_socket_is_replaced() {
    let home = Home::new();
    let socket = home.join("s.sock");
    drop(UnixListener::bind(&socket).unwrap());
    let _server = Server::listen(&home, &socket, &[]);
    let said = Finished::of(command(&home, &["--socket", socket.to_str().unwrap()])).failure(1);
    assert!(said.starts_with("ptywright: io error: another process is listening on"), "{said}");
    let client = Caller::connect(&socket).unwrap();
    assert_eq!(client.call("session.list", json!({})), json!({ "sessions": [] }));

    let file = home.join("precious");
    fs::write(&file, "text").unwrap();
    let said = Finished::of(command(&home, &["--socket", file.to_str().unwrap()])).failure(1);
    assert!(
        said.starts_with("ptywright: rpc error: refusing to replace non-socket path: "),
        "{said}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "text");
}

#[test]
fn invalid_utf_8_ends_the_connection() {
    let home = Home::new();
    let done = feed(&home, &[], &[LIST.as_bytes(), b"\n\"\xff\"\n", LIST.as_bytes()].concat());
    assert_eq!(done.stdout, format!("{EMPTY}\n"));
    let said = done.failure(1);
    assert_eq!(said, "ptywright: io error: stream did not contain valid UTF-8\n");

    let socket = home.join("s.sock");
    let _server = Server::listen(&home, &socket, &[]);
    let mut bad = UnixStream::connect(&socket).unwrap();
    bad.set_read_timeout(Some(PATIENCE)).unwrap();
    bad.write_all(b"\xff\n").unwrap();
    assert_eq!(bad.read(&mut [0; 16]).unwrap(), 0);
    Caller::connect(&socket).unwrap().call("session.list", json!({}));
}

#[test]
fn lsp_frames_go_in_and_out() {
    let home = Home::new();
    let input = format!(
        "content-length:  {}\nContent-Type: x\n\n{LIST}{}{}{}",
        LIST.len(),
        lsp(" "),
        lsp("{bad"),
        lsp(LIST)
    );
    let said = feed(&home, &["--framing", "lsp"], input.as_bytes()).success();
    let frame = lsp(EMPTY);
    let rest = said.strip_prefix(&frame).and_then(|rest| rest.strip_suffix(&frame)).unwrap();
    assert!(rest.contains("-32700") && rest.starts_with("Content-Length: "), "{said}");
}

#[test]
fn broken_lsp_frames_end_a_server_on_stdio_with_a_word() {
    let home = Home::new();
    for (input, word) in [
        ("X: y\r\n\r\n", "missing Content-Length header"),
        ("Content-Length: 3", "unexpected EOF in LSP headers"),
        ("Content-Length: 3\r\n\r\n{", "unexpected EOF"),
        ("Content-Length: -3\r\n\r\n{}", "invalid Content-Length"),
        ("Content-Length: 99999999999999\r\n\r\n{}", "Content-Length is over the limit"),
    ] {
        let done = feed(&home, &["--framing", "lsp"], (lsp(LIST) + input).as_bytes());
        assert_eq!(done.stdout, lsp(EMPTY), "{input:?}");
        let said = done.failure(1);
        assert!(said.starts_with("ptywright: ") && said.contains(word), "{input:?}: {said}");
    }
    let done = feed(&home, &["--framing", "lsp"], b"Content-Length: 1\r\n\r\n\xff");
    assert_eq!(done.failure(1), "ptywright: io error: stream did not contain valid UTF-8\n");
}

#[test]
fn an_absurd_length_closes_its_own_connection_only() {
    let home = Home::new();
    let socket = home.join("s.sock");
    let _server = Server::listen(&home, &socket, &["--framing", "lsp"]);
    let connect = || {
        let stream = UnixStream::connect(&socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    };
    let mut good = connect();
    let mut bad = connect();
    bad.write_all(b"Content-Length: 99999999999999\r\n\r\n").unwrap();
    assert_eq!(bad.read(&mut [0; 16]).unwrap(), 0);
    for client in [&mut good, &mut connect()] {
        client.write_all(lsp(LIST).as_bytes()).unwrap();
        let mut reply = vec![0; lsp(EMPTY).len()];
        client.read_exact(&mut reply).unwrap();
        assert_eq!(reply, lsp(EMPTY).into_bytes());
    }
}

#[test]
fn a_shared_server_speaks_for_the_daemon() {
    let daemon = TestDaemon::start();
    let id = daemon.client().open_sh("exec cat");
    let listed = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"sessions":["s{id}"]}}}}"#);
    let said = feed(daemon.home(), &["--shared"], LIST.as_bytes()).success();
    assert_eq!(said, format!("{listed}\n"));
    let said = feed(daemon.home(), &["--shared", "--framing", "lsp"], lsp(LIST).as_bytes());
    assert_eq!(said.success(), lsp(&listed));
    let said = feed(daemon.home(), &["--shared", "--framing", "lsp"], b"X: y\n\n").failure(1);
    assert!(said.contains("missing Content-Length header"), "{said}");

    let socket = daemon.home().join("s.sock");
    let mut server = Server::listen(daemon.home(), &socket, &["--shared"]);
    let client = Caller::connect(&socket).unwrap();
    client.call("session.close", json!({ "session": format!("s{id}") }));
    assert_eq!(daemon.client().terminals(), Vec::<Value>::new());
    server.signal(Signal::TERM);
    assert_eq!(server.ended().code(), Some(143));
    assert!(!socket.exists());
}

#[test]
fn a_shared_server_starts_the_daemon_and_leaves_it_running() {
    let home = Home::new();
    assert_eq!(feed(&home, &["--shared"], LIST.as_bytes()).success(), format!("{EMPTY}\n"));
    home.rookery(&["status"]).success();
    home.rookery(&["down", "--all"]).success();
    assert_nothing_left(&home);
}
