//! The Roo Code dialect over TCP: who comes is told by the process that holds the socket, whatever address it binds
//! and whatever token it has.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;

use rookery_testkit::{Finished, PATIENCE, TestDaemon, eventually};
use serde_json::{Value, json};

use crate::roo::{free_port, home_with};

/// Connects from an address, with a token or `-`, and asks for what only a person may have; says how that ended, in
/// a file or, for `-`, on stdout. A further argument makes it another user first.
const CLIENT: &str = r#"
import json, os, socket, sys

address, port, token, results = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
if len(sys.argv) > 5:
    os.setuid(int(sys.argv[5]))


def outcome():
    with socket.socket() as link:
        link.settimeout(30)
        link.bind((address, 0))
        link.connect(("127.0.0.1", port))
        messages = [{"type": "TaskCommand", "origin": "client", "data": {
            "commandName": "SetConfiguration", "data": {"mode": "code"}, "requestId": "r"}}]
        if token != "-":
            messages.insert(0, {"type": "Auth", "origin": "client", "data": {"token": token}})
        heard = b""
        try:
            for message in messages:
                link.sendall(json.dumps({"type": "message", "data": message}).encode() + b"\x0c")
            while b"commandResponse" not in heard or not heard.endswith(b"\x0c"):
                chunk = link.recv(65536)
                if not chunk:
                    return "hung up"
                heard += chunk
        except ConnectionError:
            return "hung up"
    reply = json.loads(heard[:-1].split(b"\x0c")[-1])["data"]["data"]["payload"][0]["payload"]
    return reply.get("error", {}).get("code", "done")


said = outcome()
if results == "-":
    print(said)
else:
    with open(results + ".part", "w") as file:
        file.write(said)
    os.rename(results + ".part", results)
"#;

/// A daemon with a listener without a token and one with it, and their ports.
fn daemon() -> (TestDaemon, [(u16, &'static str); 2]) {
    let ports = [(free_port(), "-"), (free_port(), "sesame")];
    let config = format!(
        "[[roo.listeners]]\nname = \"open\"\ntcp = \"127.0.0.1:{}\"\n\
         [[roo.listeners]]\nname = \"closed\"\ntcp = \"127.0.0.1:{}\"\ntoken = \"sesame\"\n",
        ports[0].0, ports[1].0
    );
    let home = home_with(&config);
    let client = home.join("claude");
    fs::write(&client, format!("#!/usr/bin/env python3\n{CLIENT}")).unwrap();
    fs::set_permissions(&client, fs::Permissions::from_mode(0o700)).unwrap();
    (TestDaemon::start_in(home), ports)
}

const ADDRESSES: [&str; 2] = ["127.0.0.1", "127.0.0.5"];

#[test]
fn the_person_is_served_from_whatever_address_of_this_machine() {
    let (daemon, ports) = daemon();
    for address in ADDRESSES {
        for (port, token) in ports {
            let mut client = daemon.home().command("python3");
            client.args(["-c", CLIENT, address, &port.to_string(), token, "-"]);
            assert_eq!(Finished::of(client).success().trim(), "done", "{address} {token}");
        }
    }
}

#[test]
fn an_agent_is_one_whatever_address_it_binds_and_token_it_has() {
    let (daemon, ports) = daemon();
    let person = daemon.client();
    for address in ADDRESSES {
        for (port, token) in ports {
            let results = daemon.home().join(&format!("results-{address}-{token}"));
            let argv =
                json!([daemon.home().join("claude"), address, port.to_string(), token, results]);
            person.open(json!({ "argv": argv }));
            let said =
                eventually("the agent is done", PATIENCE, || fs::read_to_string(&results).ok());
            assert_eq!(said, "permission_denied", "{address} {token}");
        }
    }
}

#[test]
fn another_user_of_this_machine_is_refused_with_a_token_as_well() {
    if !super::planted::is_root() {
        return;
    }
    let (daemon, ports) = daemon();
    for address in ADDRESSES {
        for (port, token) in ports {
            let mut client = daemon.home().command("python3");
            client.args(["-c", CLIENT, address, &port.to_string(), token, "-", "65534"]);
            assert_eq!(Finished::of(client).success().trim(), "hung up", "{address} {token}");
        }
    }
    let mut roo = crate::roo_link::Roo::to(&daemon);
    let configuration = roo.ask("GetConfiguration", Value::Null);
    assert!(configuration["mode"].is_null(), "{configuration}");
}

/// Whether the server hangs up on a client, without a word.
fn is_hung_up_on(client: &mut TcpStream) -> bool {
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    match client.read(&mut [0]) {
        Ok(count) => count == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn clients_without_the_token_hold_neither_places_nor_memory() {
    let (daemon, [_, (port, token)]) = daemon();
    // Longer than a token may be, and without an end.
    let mut long = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let _ = long.write_all(&vec![b' '; 1 << 20]);
    assert!(is_hung_up_on(&mut long));
    let mut silent: Vec<_> =
        (0..40).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    assert!(is_hung_up_on(silent.last_mut().unwrap()), "there are few places for one address");
    let mut client = daemon.home().command("python3");
    client.args(["-c", CLIENT, "127.0.0.5", &port.to_string(), token, "-"]);
    assert_eq!(Finished::of(client).success().trim(), "done", "others have theirs");
    // In the end the silent ones are gone, too.
    assert!(silent.iter_mut().all(is_hung_up_on));
}
