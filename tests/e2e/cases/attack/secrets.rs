//! Secrets go through every channel, and lie in no file afterwards but where `docs/redaction.md` says.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rookery_native::wire::{AnswerRequest, QueueList, RequestList, TerminalClose, TerminalRename};
use rookery_term::redact::Policy;
use rookery_testkit::{Home, PATIENCE, TestDaemon, wait_until};
use rookery_wire::Call as _;
use serde_json::{Value, json};

use crate::idx0_link::{done, list};
use crate::roder_link::{Peer, script};
use crate::roost_link::Link;

const CORPUS: &str = include_str!("../../../../crates/term/tests/redaction_corpus.txt");

/// A secret by the word before it alone.
const PASSWORD: &str = "hunter22-and-more";

/// A line of the corpus that has a secret, and the secret itself.
struct Leak {
    text: String,
    secrets: Vec<String>,
}

/// All lines of the corpus that are one line without control characters.
fn leaks() -> Vec<Leak> {
    let policy = Policy::ptywright_compatible();
    let lines = CORPUS.lines().filter_map(|line| line.strip_prefix("hide "));
    let inputs = lines.map(|line| expand(line.split_once(" ⇒ ").unwrap().0));
    let leaks = inputs.filter(|text| !text.contains(['␊', '␛'])).map(|text| {
        let spans = policy.redact_spans(&text).into_iter();
        // What is short stands in other words as well.
        let secrets = spans.map(|span| text[span].to_owned()).filter(|secret| secret.len() >= 12);
        Leak { secrets: secrets.collect(), text }
    });
    let mut leaks: Vec<Leak> = leaks.filter(|leak| !leak.secrets.is_empty()).collect();
    let text = format!("run --password {PASSWORD}");
    leaks.push(Leak { text, secrets: vec![PASSWORD.to_owned()] });
    assert!(leaks.len() >= 60, "{} shapes", leaks.len());
    leaks
}

/// Replaces the signs of the corpus: 36 letters and digits, capitals, hexadecimal digits.
fn expand(text: &str) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('⟨') {
        let (sign, behind) = behind.split_once('⟩').unwrap();
        let alphabet = match sign.chars().next() {
            Some('U') => "A2BC3DE4FG5HJ6KL7",
            Some('h') => "0f1e2d3c4b5a69788",
            _ => "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8xC0",
        };
        let len = sign.trim_start_matches(['U', 'h']).parse().unwrap();
        expanded.push_str(before);
        expanded.extend(alphabet.chars().cycle().take(len));
        rest = behind;
    }
    expanded + rest
}

fn start_chatty() -> TestDaemon {
    let home = Home::new();
    fs::create_dir_all(home.join("config/rookery")).unwrap();
    fs::write(home.join("config/rookery/config.toml"), "[daemon]\nlog = \"trace\"\n").unwrap();
    TestDaemon::start_in(home)
}

/// Every file below a directory.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files(&entry.path())),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
    found
}

/// Files of a home that have any of these secrets, each with the first one found.
fn leaking(home: &Home, leaks: &[Leak]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for file in files(home.path()) {
        let bytes = fs::read(&file).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let secrets = leaks.iter().flat_map(|leak| &leak.secrets);
        if let Some(secret) = secrets.into_iter().find(|secret| text.contains(secret.as_str())) {
            found.push((file, secret.clone()));
        }
    }
    found
}

#[track_caller]
fn assert_hidden(what: &str, shown: &Value, leaks: &[Leak]) {
    let shown = shown.to_string();
    for secret in leaks.iter().flat_map(|leak| &leak.secrets) {
        assert!(!shown.contains(secret.as_str()), "{what} shows {secret}: {shown}");
    }
}

/// A text as the payload of an operating system command.
fn osc(number: &str, text: &str) -> String {
    format!("\x1b]{number};{text}\x07")
}

/// A terminal and an idx0 session, with the secret in everything that is said of and through it.
fn say_through_terminal(daemon: &TestDaemon, leak: &Leak, number: usize) {
    let text = &leak.text;
    let client = daemon.client();
    let said: String = [
        osc("0", text),
        osc("1", text),
        osc("9", text),
        osc("99", &format!(";{text}")),
        // A semicolon ends the title, so only the body takes any text.
        osc("777", &format!("notify;note;{text}")),
        osc("2", &format!("{text} {number}")),
    ]
    .concat();
    let file = daemon.home().join("said");
    fs::write(&file, format!("{said}ready-{number}\r\n")).unwrap();
    // The words are never run, only passed.
    let program = format!("cat '{}'; read -r _", file.display());
    let argv = json!(["/bin/sh", "-c", program, "sh", text, "--password", PASSWORD]);
    let id = client.open(json!({ "argv": argv, "title": text }));
    client.wait_text(id, &format!("ready-{number}"));
    fs::remove_file(&file).unwrap();
    client.call(TerminalRename::METHOD, json!({ "terminal": id, "title": text }));
    client.call(TerminalRename::METHOD, json!({ "terminal": id, "title": null }));
    let mut roost = Link::to(daemon.home());
    roost.call("tab.set_title", json!({ "tab_id": id.to_string(), "title": text }));
    let project = roost.project(text, daemon.home().path());
    roost.call("project.rename", json!({ "project_id": project, "name": format!("{text}!") }));
    client.call(TerminalClose::METHOD, json!({ "terminal": id }));
}

/// What a harness says of its session.
fn say_to_supervision(daemon: &TestDaemon, session: &str, leak: &Leak, number: usize) {
    let text = &leak.text;
    let kinds = [
        ("progress", json!({ "summary": text })),
        (
            "handoff",
            json!({ "title": text, "summary": text, "risks": [text], "nextActions": [text] }),
        ),
        ("reviewRequest", json!({ "summary": text })),
        ("checkpoint", json!({ "title": text, "summary": text })),
        ("blocked", json!({ "summary": text })),
        ("error", json!({ "summary": text })),
        ("completed", json!({ "summary": text })),
    ];
    for (place, (kind, payload)) in kinds.into_iter().enumerate() {
        let envelope = json!({
            "schemaVersion": 1,
            "eventID": format!("0F2F66F2-7C4D-4A96-9C4A-A5F9{:08X}", number * 16 + place),
            "sessionID": session,
            "sessionTitleHint": null,
            "timestamp": "2026-03-22T15:00:00Z",
            "eventType": kind,
            "payload": payload,
        });
        done(daemon.home(), "agentEvent", json!({ "envelope": envelope.to_string() }));
    }
}

#[test]
fn attack_no_secret_of_a_terminal_or_session_is_written_anywhere() {
    let mut daemon = start_chatty();
    let leaks = leaks();
    let new = json!({ "title": "api", "wait": "true" });
    let session = done(daemon.home(), "newSession", new)["data"]["sessionID"].clone();
    for (number, leak) in leaks.iter().enumerate() {
        say_through_terminal(&daemon, leak, number);
        say_to_supervision(&daemon, session.as_str().unwrap(), leak, number);
    }
    let client = daemon.client();
    assert_hidden("events/list", &json!(client.events(0)), &leaks);
    assert_hidden("terminals/list", &json!(client.terminals()), &leaks);
    assert_hidden("queue/list", &client.call(QueueList::METHOD, json!({})), &leaks);
    for command in ["listSessions", "listQueue", "listCheckpoints", "listReviews", "listHandoffs"] {
        assert_hidden(command, &done(daemon.home(), command, json!({})), &leaks);
    }
    let audit: Vec<Value> = (daemon.rookery(&["audit", "--json"]).success().lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_hidden("audit", &json!(audit), &leaks);
    assert_eq!(leaking(daemon.home(), &leaks), [], "while the daemon runs");
    daemon.kill9();
    daemon.restart();
    drop(daemon.rookery(&["down"]).success());
    daemon.wait_ended();
    assert_eq!(leaking(daemon.home(), &leaks), [], "when it has ended");
}

#[test]
fn attack_what_must_be_exact_is_in_the_store_alone_and_settled_requests_are_not() {
    let mut daemon = start_chatty();
    let leak = leaks().into_iter().find(|leak| leak.text.starts_with("ghp_")).unwrap();
    let secret = &leak.secrets[0];
    let mut peer = Peer::to(&daemon);
    let thread = peer.thread(daemon.home().path());
    let args = json!({ "path": "made", "content": secret });
    let steps = json!([{ "tool": "write_file", "args": args }, { "text": "done" }]);
    let turn = peer.turn(&thread, &script(&steps));
    let asked = peer.wait_told("session/approvalRequested");
    assert_eq!(asked["input"]["content"], json!(secret), "what waits is shown exactly");
    // Also by the next daemon.
    drop(peer);
    daemon.kill9();
    daemon.restart();
    let requests = daemon.client().call(RequestList::METHOD, json!({}));
    assert!(requests["requests"][0].to_string().contains(secret.as_str()), "{requests}");
    let mut peer = Peer::to(&daemon);
    let refusal = format!("never with {secret}");
    let answer =
        json!({ "id": requests["requests"][0]["id"], "approved": false, "message": refusal });
    daemon.client().call(AnswerRequest::METHOD, answer);
    peer.until_over(&turn);
    let told = leak;
    let leaks = [told];
    let events = json!(daemon.client().events(0));
    assert!(events.to_string().contains("write_file"), "the request is in the log: {events}");
    assert_hidden("events/list", &events, &leaks);
    assert_hidden("audit", &json!(daemon.rookery(&["audit", "--json"]).success()), &leaks);
    drop(peer);
    daemon.kill9();
    daemon.restart();
    let settled = json!(list(daemon.home(), "listApprovals", json!({})));
    assert_hidden("listApprovals", &settled, &leaks);
    let found = leaking(daemon.home(), &leaks);
    assert!(!found.is_empty(), "what was said in the thread is kept, and this search finds it");
    for (file, secret) in found {
        let is_store = file.starts_with(daemon.home().join("state/rookery"))
            && file.file_name().unwrap().to_string_lossy().contains(".db");
        assert!(is_store, "{} has {secret}", file.display());
        let mode = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.display());
    }
    wait_until("the daemon is well", PATIENCE, || daemon.client().status().is_object());
}
