//! The WebSocket of a remote server: who cannot be kept out, which tokens guard nothing, and where a
//! token is not seen.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};

use rookery_testkit::{Finished, Home, TestDaemon};
use serde_json::{Value, json};

use crate::roder_link::{parse, roder};
use crate::roder_ws::{Remote, TOKEN};

#[test]
fn half_open_connections_do_not_keep_the_right_client_out() {
    let daemon = TestDaemon::start();
    let remote = Remote::start(daemon.home(), &[]);
    let mut silent = Vec::new();
    for _ in 0..400 {
        let mut stream = TcpStream::connect(("127.0.0.1", remote.port)).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
        silent.push(stream);
    }
    let mut peer = remote.peer();
    assert_eq!(peer.call("session/get", json!({}))["mode"], "default");
    assert_eq!(remote.get("/readyz", &[]).status, 200);
}

/// What a server says that must not start.
#[track_caller]
fn refused(home: &Home, args: &[&str]) -> String {
    let mut command = roder(home, &["app-server", "--remote", "--print-qr=false"]);
    command.args(args).stdin(Stdio::null());
    Finished::of(command).failure(2)
}

#[test]
fn short_tokens_are_refused() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    for args in [
        &["--auth-token", "x7Qp"][..],
        &["--auth-token=x7Qp"],
        &["--listen", "ws://0.0.0.0:0", "--auth-token", "x7Qp-x7Qp"],
        &["--listen", "ws://[::]:0", "--auth-token", "x7Qp-x7Qp-x7Qp"],
    ] {
        let said = refused(home, args);
        assert!(said.contains("characters") && said.contains("at least"), "{args:?}: {said}");
        assert!(!said.contains("x7Qp"), "the token is not repeated: {said}");
    }
    let file = home.join("token");
    fs::write(&file, TOKEN).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let said = refused(home, &["--auth-token-file", file.to_str().unwrap()]);
    assert!(said.contains("chmod 600"), "{said}");
}

/// A server that prints where it listens, ended with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a server that has its token in one of the ways, and gives what it printed on stdout.
#[track_caller]
fn listening(home: &Home, args: &[&str], stdin: &str) -> (Server, Value) {
    let mut command = roder(home, &["app-server", "--remote", "--print-qr=false", "--print-json"]);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Server(command.spawn().unwrap());
    server.0.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (server, parse(line.as_bytes()))
}

#[test]
fn a_token_is_not_seen_among_the_processes() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    let file = home.join("token");
    fs::write(&file, format!("{TOKEN}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let joined = format!("--auth-token={TOKEN}");
    for (args, stdin) in [
        (&["--auth-token", TOKEN][..], ""),
        (&[joined.as_str()][..], ""),
        (&["--auth-token", "-"][..], TOKEN),
        (&["--auth-token-file", file.to_str().unwrap()][..], ""),
    ] {
        let (server, told) = listening(home, args, stdin);
        assert_eq!(told["token"], "toke...4711", "{args:?}");
        for file in ["cmdline", "environ"] {
            let seen = fs::read(format!("/proc/{}/{file}", server.0.id())).unwrap();
            let seen = String::from_utf8_lossy(&seen).into_owned();
            assert!(!seen.contains(TOKEN), "{args:?} in {file}");
            assert!(file != "cmdline" || seen.contains("--remote"), "{seen}");
        }
        // It is the token that was meant.
        let port = told["urls"][0].as_str().unwrap().rsplit(':').next().unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
        let request = format!(
            "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Authorization: Bearer {TOKEN}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut status = String::new();
        BufReader::new(stream).read_line(&mut status).unwrap();
        assert!(status.contains("101"), "{args:?}: {status}");
    }
}

#[test]
fn every_address_is_printed() {
    let daemon = TestDaemon::start();
    let args = ["--listen", "ws://0.0.0.0:0", "--auth-token", "-"];
    let (_server, told) = listening(daemon.home(), &args, TOKEN);
    let urls: Vec<&str> =
        told["urls"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let host =
        |url: &&str| url.rsplit_once(':').unwrap().0.strip_prefix("ws://").unwrap().to_owned();
    let mut hosts: Vec<String> = urls.iter().map(host).collect();
    let addresses = rookery_wire::transport::ws::pairing::interfaces().unwrap();
    let v4 = addresses.iter().filter(|address| address.is_ipv4());
    let mut expected: Vec<String> = v4.map(ToString::to_string).collect();
    hosts.sort();
    expected.sort();
    expected.dedup();
    assert_eq!(hosts, expected);
    assert!(told["connect"].as_str().unwrap().starts_with("roder://connect?payload="));
}
