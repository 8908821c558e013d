//! Clients that mean harm or are broken: everyone else gets replies, and memory stays bounded.

use std::io::ErrorKind;

use rookery_native::wire::Subscribe;
use rookery_testkit::{Caller, Lines, PATIENCE, TestDaemon, memory_of, wait_until};
use rookery_wire::Call as _;
use serde_json::json;

const STATUS: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rookery/status\"}\n";

/// More than any of these attacks may cost at once.
const MEMORY: u64 = 128 << 20;

fn raw(daemon: &TestDaemon) -> Lines {
    Lines::connect(&daemon.socket()).unwrap()
}

fn assert_serves(client: &Caller, id: u64) {
    client.write(id, "ping\n");
    client.wait_text(id, "ping");
    client.status();
}

#[test]
fn a_line_without_end_is_refused_and_costs_little() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("exec cat");
    let before = memory_of(daemon.pid());
    let mut stream = raw(&daemon);
    let chunk = vec![b'x'; 1 << 20];
    let mut sent = 0;
    for _ in 0..40 {
        match stream.send(&chunk) {
            Ok(()) => sent += 1,
            Err(error) => {
                let kind = error.kind();
                assert!(
                    matches!(kind, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset),
                    "{error}"
                );
                break;
            }
        }
        assert!(memory_of(daemon.pid()) < before + MEMORY);
    }
    let _ = stream.send(b"\n");
    let _ = stream.send(STATUS);
    // Told, or cut off: both are fine, silence is not.
    if let Some(reply) = stream.next_json() {
        assert!(reply["error"].is_object(), "{reply}");
    }
    eprintln!("hostile: {sent} MiB of a line were taken, growth {} KiB", {
        memory_of(daemon.pid()).saturating_sub(before) >> 10
    });
    assert_serves(&client, id);
}

#[test]
fn garbage_is_answered_and_the_next_request_too() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("exec cat");
    let deep = "[".repeat(100_000);
    let deep_object = "{\"a\":".repeat(100_000);
    let deep_params =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rookery/status\",\"params\":{deep}}}");
    let attacks: Vec<Vec<u8>> = vec![
        b"\xff\xfe\x00\xc3(".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}".to_vec(),
        deep.into_bytes(),
        deep_object.into_bytes(),
        deep_params.into_bytes(),
        b"}{".to_vec(),
        b"\"\\ud800\"".to_vec(),
        b"[]".to_vec(),
        b"null".to_vec(),
        b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"rookery/status\"}".to_vec(),
    ];
    for attack in attacks {
        let shown = String::from_utf8_lossy(&attack[..attack.len().min(60)]).into_owned();
        let mut stream = raw(&daemon);
        stream.send(&attack).unwrap();
        stream.send(b"\n").unwrap();
        stream.send(STATUS).unwrap();
        let refused = stream.next_json().unwrap_or_else(|| panic!("no answer to {shown}"));
        assert!(refused["error"]["code"].is_i64(), "{shown}: {refused}");
        let served = stream.next_json().unwrap_or_else(|| panic!("no answer after {shown}"));
        assert_eq!(served["result"]["pid"], daemon.pid(), "{shown}: {served}");
    }
    assert_serves(&client, id);
}

#[test]
fn the_strict_endpoint_hangs_up_on_garbage() {
    let daemon = TestDaemon::start();
    let mut stream = Lines::connect(&daemon.ptywright_socket()).unwrap();
    stream.send(b"\xff\xff\n").unwrap();
    let ended = stream.rest();
    assert!(ended.is_ok() || ended.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset));
    let strict = Caller::connect(&daemon.ptywright_socket()).unwrap();
    strict.call("session.list", json!({}));
}

#[test]
fn silent_and_half_spoken_connections_harm_no_other() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("exec cat");
    let before = memory_of(daemon.pid());
    let silent: Vec<Lines> = (0..300).map(|_| raw(&daemon)).collect();
    let mut halves: Vec<Lines> = (0..50).map(|_| raw(&daemon)).collect();
    for half in &mut halves {
        half.send(&STATUS[..STATUS.len() / 2]).unwrap();
    }
    assert_serves(&client, id);
    assert_serves(&daemon.client(), id);
    // Half of them go without a word, the others finish what they said.
    let mut rest = halves.split_off(25);
    drop(halves);
    for half in &mut rest {
        half.send(&STATUS[STATUS.len() / 2..]).unwrap();
    }
    for half in &mut rest {
        let reply = half.next_json().unwrap();
        assert_eq!(reply["result"]["pid"], daemon.pid());
    }
    assert_serves(&client, id);
    assert!(memory_of(daemon.pid()) < before + MEMORY);
    drop(silent);
}

#[test]
fn a_subscriber_that_never_reads_slows_no_other() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("exec cat");
    let before = memory_of(daemon.pid());
    let deaf = raw(&daemon);
    let subscribe = json!({
        "jsonrpc": "2.0", "id": 1, "method": "rookery/events/subscribe", "params": { "since": 0 },
    });
    deaf.send_json(&subscribe).unwrap();
    let noisy = client.open_sh(
        r"i=0; while [ $i -lt 8000 ]; do i=$((i+1)); printf '\033]2;a rather long title, number %d\007' $i; done;
          echo finished; exec cat",
    );
    let attach = json!({
        "jsonrpc": "2.0", "id": 2, "method": "rookery/terminals/attach", "params": { "terminal": noisy },
    });
    deaf.send_json(&attach).unwrap();
    for _ in 0..20 {
        assert_serves(&client, id);
    }
    client.wait_text(noisy, "finished");
    wait_until("the last title is known", PATIENCE, || {
        client.terminal(noisy)["title"] == "a rather long title, number 8000"
    });
    let last_event = || client.status()["lastEvent"].as_u64().unwrap();
    wait_until("all titles are in the log", PATIENCE, || last_event() > 8000);
    let last = last_event();
    let follower = daemon.client();
    follower.call(Subscribe::METHOD, json!({ "since": last - 1 }));
    let (_, told) = follower.notification(PATIENCE).unwrap();
    assert_eq!(told["event"]["seq"], last);
    assert!(memory_of(daemon.pid()) < before + MEMORY);
    drop(deaf);
}

#[test]
fn an_attachment_that_never_reads_slows_no_other() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let id = client.open_sh("exec cat");
    let before = memory_of(daemon.pid());
    let noisy = client.open_sh("read line; head -c 12000000 /dev/zero; echo finished; exec cat");
    let mut deaf = raw(&daemon);
    let attach = json!({
        "jsonrpc": "2.0", "id": 2, "method": "rookery/terminals/attach", "params": { "terminal": noisy },
    });
    deaf.send_json(&attach).unwrap();
    assert!(deaf.next_json().unwrap()["result"]["redraw"].is_string());
    client.write(noisy, "\n");
    for _ in 0..10 {
        assert_serves(&client, id);
    }
    client.wait_text(noisy, "finished");
    let after = memory_of(daemon.pid());
    eprintln!("hostile: an attachment that never reads 12 MB costs {} KiB", {
        after.saturating_sub(before) >> 10
    });
    assert!(after < before + MEMORY);
    // It falls behind, and when it reads at last it is shown the screen as it is.
    let mut output = deaf.next_json().unwrap();
    while output["params"].get("redraw").is_none() {
        output = deaf.next_json().expect("a redraw comes");
    }
}
