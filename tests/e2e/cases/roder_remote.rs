//! The Roder dialect through its WebSocket: who may come in, and that all see the same; and a reader on
//! stdio that takes its time.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use rookery_testkit::{PATIENCE, TestDaemon, eventually, wait_until};
use serde_json::{Value, json};

use crate::roder_link::{Peer, Told, parse, roder, script};
use crate::roder_ws::{Remote, TOKEN};

/// A path, headers, the expected status, and the subprotocol that is echoed.
type Attempt<'a> = (&'a str, &'a [(&'a str, &'a str)], u16, Option<&'a str>);

#[test]
fn only_who_has_the_token_comes_in() {
    let daemon = TestDaemon::start();
    let remote = Remote::start(daemon.home(), &[]);
    let good = format!("Bearer {TOKEN}");
    let offered = format!("roder.remote.v1, bearer.{TOKEN}");
    let protocol = "Sec-WebSocket-Protocol";
    let with_query = format!("/?token={TOKEN}&access_token={TOKEN}");
    let matrix: &[Attempt<'_>] = &[
        ("/", &[], 401, None),
        ("/", &[("Authorization", &good)], 101, None),
        (&with_query, &[], 401, None),
        ("/", &[("Authorization", &good.replace("Bearer", "bEARER"))], 101, None),
        ("/", &[("Authorization", &good.replace("Bearer", "Basic"))], 401, None),
        ("/", &[(protocol, &offered)], 101, Some("roder.remote.v1")),
        ("/", &[("Authorization", "Bearer wrong")], 401, None),
        // The element with the token is never said back.
        ("/", &[(protocol, &format!("bearer.{TOKEN}"))], 101, None),
        ("/", &[(protocol, "roder.remote.v1, bearer.wrong")], 401, None),
        (
            "/",
            &[("Authorization", &good), (protocol, "other, roder.remote.v1")],
            101,
            Some("roder.remote.v1"),
        ),
    ];
    for (path, headers, status, echoed) in matrix {
        let answer = remote.upgrade(path, headers);
        assert_eq!(answer.status, *status, "{path} {headers:?}");
        assert_eq!(answer.header("sec-websocket-protocol"), *echoed, "{path} {headers:?}");
    }
    let accepted = remote.upgrade("/", &[("Authorization", &good)]);
    assert_eq!(accepted.header("sec-websocket-accept"), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    assert_eq!(accepted.close_code_for_binary(), 1003);
    for path in ["/readyz", "/healthz"] {
        let answer = remote.get(path, &[]);
        assert_eq!((answer.status, answer.body().as_str()), (200, "ok\n"), "{path}");
    }
    assert!(remote.get("/pair", &[]).body().to_lowercase().contains("<html"));
    assert_eq!(remote.get("/else", &[]).status, 404);
    let said = remote.said.join("\n");
    assert!(said.contains("token: toke...4711"), "{said}");
    assert!(!said.contains(TOKEN), "the token is only in the link: {said}");
}

#[test]
fn pages_of_other_origins_stay_outside() {
    let daemon = TestDaemon::start();
    let remote = Remote::start(daemon.home(), &["--allowed-origin", "https://app.example"]);
    let good = format!("Bearer {TOKEN}");
    for (origin, status) in [
        (Some("https://app.example"), 101),
        (Some("https://evil.example"), 403),
        (Some("https://app.example.evil.example"), 403),
        (None, 101),
    ] {
        let mut headers = vec![("Authorization", good.as_str())];
        headers.extend(origin.map(|origin| ("Origin", origin)));
        assert_eq!(remote.upgrade("/", &headers).status, status, "{origin:?}");
    }
}

#[test]
fn who_guesses_has_to_wait() {
    let daemon = TestDaemon::start();
    let remote = Remote::start(daemon.home(), &[]);
    let guess = || remote.upgrade("/", &[("Authorization", "Bearer guess")]);
    let good = format!("Bearer {TOKEN}");
    let enter = || remote.upgrade("/", &[("Authorization", &good)]);
    // Success makes up for failures.
    for _ in 0..3 {
        let statuses = [guess().status, guess().status, enter().status];
        assert_eq!(statuses, [401, 401, 101]);
    }
    let third_failure = || {
        assert_eq!([guess().status, guess().status], [401, 401]);
        let third = guess();
        assert_eq!((third.status, third.header("retry-after")), (401, Some("1")));
    };
    third_failure();
    // A client with the token waits as well; a probe needs none.
    let early = enter();
    assert_eq!((early.status, early.header("retry-after")), (429, Some("1")));
    assert_eq!(remote.get("/readyz", &[]).status, 200);
    wait_until("the wait is over", PATIENCE, || enter().status == 101);
    third_failure();
    // The next failure that is looked at costs twice as much.
    let fourth = eventually("guesses are looked at again", PATIENCE, || {
        Some(guess()).filter(|answer| answer.status != 429)
    });
    assert_eq!((fourth.status, fourth.header("retry-after")), (401, Some("2")));
}

/// What is told of a thread, whatever else happens.
fn of_thread(told: Vec<Told>, thread: &str) -> Vec<Told> {
    let is_meant = |told: &Value| told["threadId"] == thread || told["thread"]["id"] == thread;
    told.into_iter().filter(|(_, told)| is_meant(told)).collect()
}

#[test]
fn every_client_sees_the_same_stream() {
    let daemon = TestDaemon::start();
    let remote = Remote::start(daemon.home(), &[]);
    let (mut first, mut second) = (remote.peer(), remote.peer());
    let mut third = Peer::stdio(daemon.home(), &[]);
    for peer in [&mut first, &mut second, &mut third] {
        peer.call("session/get", json!({}));
    }
    let thread = first.thread(daemon.home().path());
    let text = "Ein Satz mit 🦀. ".repeat(200);
    let write = json!({ "path": "made", "content": "x" });
    let steps = json!([
        { "reasoning": "hm" },
        { "tool": "write_file", "args": write },
        { "text": text, "chunks": 500 },
    ]);
    let turn = first.turn(&thread, &script(&steps));
    let asked = second.until(|name, _| name == "thread/approvalRequested");
    let answer = json!({ "approvalId": asked.last().unwrap().1["approvalId"], "approved": true });
    assert_eq!(second.call("session/resolve_approval", answer.clone())["resolved"], true);
    assert_eq!(first.call("session/resolve_approval", answer)["resolved"], false);
    let is_over = |name: &str, told: &Value| {
        name == "thread/status/changed"
            && told["threadId"] == thread
            && told["status"]["type"] == "idle"
    };
    let seen = of_thread(first.until(is_over), &thread);
    assert_eq!(of_thread([asked, second.until(is_over)].concat(), &thread), seen);
    assert_eq!(of_thread(third.until(is_over), &thread), seen);
    let said: String = seen
        .iter()
        .filter(|(name, told)| name == "item/agentMessage/delta" && told["phase"] != "reasoning")
        .map(|(_, told)| told["delta"].as_str().unwrap())
        .collect();
    assert_eq!(said, text);
    let ends = seen.iter().filter(|(name, _)| name == "turn/completed");
    let ends: Vec<&Value> = ends.map(|(_, told)| &told["turn"]["id"]).collect();
    assert_eq!(ends, [&json!(turn)]);
}

#[test]
fn a_slow_reader_on_stdio_loses_nothing() {
    let daemon = TestDaemon::start();
    let mut command = roder(daemon.home(), &["app-server"]);
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut to_server = server.stdin.take().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut read = move || parse(lines.next().unwrap().unwrap().as_bytes());
    to_server.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/get\"}\n").unwrap();
    assert_eq!(read()["id"], 1);
    // From now on it reads nothing, while another client has a long conversation.
    let mut other = Peer::to(&daemon);
    let thread = other.thread(daemon.home().path());
    let text = "All of this has to arrive, sooner or later. ".repeat(40_000);
    let steps =
        json!([{ "text": text, "chunks": 4000 }, { "tool": "echo", "args": { "text": "so" } }]);
    let turn = other.turn(&thread, &script(&steps));
    // It does not block other clients.
    other.until_over(&turn);
    let mut said = String::new();
    let mut last = 0;
    loop {
        let message = read();
        let (name, told) = (message["method"].as_str().unwrap(), &message["params"]);
        if let Some(seq) = told["seq"].as_u64() {
            assert_eq!(seq, last + 1, "something is missing");
            last = seq;
        }
        match name {
            "item/agentMessage/delta" if told["itemId"] == format!("{turn}-agent-final_answer") => {
                said.push_str(told["delta"].as_str().unwrap());
            }
            "turn/completed" => break assert_eq!(told["turn"]["id"], turn),
            _ => {}
        }
    }
    assert!(said == text, "{} of {} bytes", said.len(), text.len());
    // It ends when it is told that no request will follow.
    drop(to_server);
    wait_until("the server ends", PATIENCE, || server.try_wait().unwrap().is_some());
}
