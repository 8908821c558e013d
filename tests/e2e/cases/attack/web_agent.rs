//! The server of the page and programs of this machine: what an agent runs is no device, whatever it has read, and
//! what the opener of the browser was started with is of use to this user alone.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rookery_testkit::{Finished, PATIENCE, eventually, rookery_binary};
use serde_json::{Value, json};

use crate::web_link::Site;

/// Tries to become a device with a code, and to be one with a credential; says how each ended, in a file or, for `-`,
/// on stdout. A further argument makes it another user first.
const CLIENT: &str = r#"
import json, os, socket, subprocess, sys

port, code, credential, rookery, results = int(sys.argv[1]), *sys.argv[2:6]
if len(sys.argv) > 6:
    os.setuid(int(sys.argv[6]))
host = f"127.0.0.1:{port}"


def ask(method, path, body="", **headers):
    head = {"Host": host, "Origin": f"http://{host}", "Content-Length": len(body), **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in head.items())
    with socket.socket() as link:
        link.settimeout(30)
        link.connect(("127.0.0.1", port))
        link.sendall(f"{method} {path} HTTP/1.1\r\n{lines}\r\n{body}".encode())
        return int(link.recv(65536).split()[1])


def pair(text):
    return ask("POST", "/pair", json.dumps({"code": text, "name": "evil"}), Content_Type="application/json")


def link(**headers):
    return ask(
        "GET", "/link", Connection="Upgrade", Upgrade="websocket", Sec_WebSocket_Version="13",
        Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==", Sec_WebSocket_Protocol="rookery.link.v1", **headers)


said = {"pair": pair(code), "link": link(Cookie=f"rookery={credential}")}
if rookery != "-":
    for words in ("", "--pair", "--open", "devices", "rename x y", "revoke all", "stop"):
        run = subprocess.run([rookery, "web", *words.split()], capture_output=True, text=True)
        said["web " + words] = [run.returncode, run.stderr]
if results == "-":
    print(json.dumps(said))
else:
    with open(results + ".part", "w") as file:
        json.dump(said, file)
    os.rename(results + ".part", results)
"#;

fn client(dir: &Path, name: &str) -> String {
    let path = dir.join(name);
    fs::write(&path, format!("#!/usr/bin/env python3\n{CLIENT}")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn an_agent_is_no_device_and_turns_nothing_on_or_off() {
    let site = Site::start();
    let credential = site.device("full");
    let code = site.pairing(&[])["code"].as_str().unwrap().to_owned();
    let results = site.daemon.home().join("results");
    let rookery = rookery_binary().to_str().unwrap();
    let argv = json!([
        client(site.daemon.home().path(), "claude"),
        site.port.to_string(),
        code,
        credential,
        rookery,
        results
    ]);
    site.daemon.client().open(json!({ "argv": argv }));
    let said = eventually("the agent is done", PATIENCE, || fs::read_to_string(&results).ok());
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&said["pair"], &said["link"]), (&json!(403), &json!(403)), "{said}");
    let commands = said.as_object().unwrap().iter().filter(|(name, _)| name.starts_with("web "));
    let commands: Vec<_> = commands.collect();
    assert_eq!(commands.len(), 7);
    for (command, said) in commands {
        let refusal = said[1].as_str().unwrap();
        assert!(
            said[0] == 1 && refusal.contains("a program that an agent runs"),
            "{command}: {said}"
        );
    }
    // Nothing was used up, and the person does all of it.
    assert_eq!(site.post("/pair", &[], &json!({"code": code, "name": "x"})).status, 200);
    site.link(&credential).open();
    let listed = site.daemon.rookery(&["web", "devices", "--json"]).json();
    assert_eq!(listed["devices"].as_array().unwrap().len(), 2);
}

#[test]
fn another_user_reads_a_code_for_this_one_in_vain() {
    if !super::planted::is_root() {
        return;
    }
    let site = Site::start();
    // As the opener of the browser would have it, without opening one.
    let params = json!({"rights": "full", "here": true});
    let code = site.daemon.client().call("rookery/web/pair", params)["code"].clone();
    let mut command = site.daemon.home().command("python3");
    let port = site.port.to_string();
    command.args(["-c", CLIENT, &port, code.as_str().unwrap(), "no.one", "-", "-", "65534"]);
    let said: Value = serde_json::from_str(&Finished::of(command).success()).unwrap();
    assert_eq!(said, json!({"pair": 401, "link": 401}));
    assert_eq!(site.post("/pair", &[], &json!({"code": code, "name": "mine"})).status, 200);
}
