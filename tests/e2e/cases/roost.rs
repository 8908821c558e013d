//! The Roost dialect over its real socket.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rookery_testkit::{Home, Lines, PATIENCE, TestDaemon, wait_until};
use serde_json::{Value, json};

/// A connection that asks and waits, one request at a time.
struct Roost(Lines);

impl Roost {
    fn connect(socket: &Path) -> Roost {
        Roost(Lines::connect(socket).unwrap())
    }

    fn line(&mut self) -> Option<Value> {
        self.0.next_json()
    }

    #[track_caller]
    fn ask(&mut self, op: &str, params: &Value) -> Value {
        let request = json!({ "id": "1", "op": op, "params": params });
        self.0.send_json(&request).unwrap();
        self.line().expect("the connection is open")
    }

    #[track_caller]
    fn call(&mut self, op: &str, params: Value) -> Value {
        let reply = self.ask(op, &params);
        assert_eq!(reply["ok"], true, "{op} {params}: {reply}");
        reply["result"].clone()
    }

    #[track_caller]
    fn open(&mut self, argv: &[&str]) -> String {
        let opened = self.call("tab.open", json!({ "argv": argv }));
        opened["tab"]["id"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn wait_row(&mut self, tab: &str, text: &str) {
        wait_until(&format!("tab {tab} shows {text}"), PATIENCE, || {
            let dump = self.call("tab.dump", json!({ "tab_id": tab }));
            dump["rows_text"].as_array().unwrap().iter().any(|row| row == text)
        });
    }
}

fn socket(daemon: &TestDaemon) -> PathBuf {
    daemon.home().join("run/roost/roost.sock")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_socket_is_private_and_goes_with_the_daemon() {
    let mut daemon = TestDaemon::start();
    let socket = socket(&daemon);
    assert_eq!(daemon.ready()["endpoints"]["roost"], socket.to_str().unwrap());
    assert_eq!((mode(&socket), mode(socket.parent().unwrap())), (0o600, 0o700));
    assert!(socket.with_file_name("roost.lock").exists());
    let identity = Roost::connect(&socket).call("identify", json!({}));
    assert_eq!(identity["socket_path"], socket.to_str().unwrap());
    assert_eq!(identity["pid"], daemon.pid());
    assert_eq!(identity["app_id"], "ai.stridelabs.Roost");
    let refused = Roost::connect(&socket).ask("tab.feed_pty_bytes", &json!({}));
    assert_eq!(refused["error"]["code"], "not-enabled");
    daemon.rookery(&["down"]).success();
    assert!(daemon.wait_ended().success());
    assert!(!socket.exists());
}

#[test]
fn the_config_names_moves_and_turns_off() {
    let home = Home::new();
    let place = home.join("elsewhere.sock");
    fs::create_dir_all(home.join("config/rookery")).unwrap();
    let config = home.join("config/rookery/config.toml");
    let text = format!(
        "[endpoints]\nroost = {place:?}\n[roost]\napp_label = \"Mine\"\napp_id = \"org.mine\"\n"
    );
    fs::write(&config, text).unwrap();
    let mut daemon = TestDaemon::start_in(home);
    let identity = Roost::connect(&place).call("identify", json!({}));
    assert_eq!((&identity["app_label"], &identity["app_id"]), (&json!("Mine"), &json!("org.mine")));
    fs::write(&config, "[endpoints]\nroost = false\n").unwrap();
    daemon.kill9();
    daemon.restart();
    assert_eq!(daemon.ready()["endpoints"].get("roost"), None);
}

#[test]
fn a_child_that_ignores_the_hangup_is_gone_a_second_after_its_tab() {
    let daemon = TestDaemon::start();
    let mut roost = Roost::connect(&socket(&daemon));
    let script = "trap '' HUP TERM INT; echo ready; while :; do sleep 1007; done";
    let tab = roost.open(&["/bin/sh", "-c", script]);
    roost.wait_row(&tab, "ready");
    let runs = || daemon.home().processes().iter().any(|it| it.command.contains("sleep 1007"));
    wait_until("the child sleeps", PATIENCE, runs);
    roost.call("tab.close", json!({ "tab_id": tab }));
    assert_eq!(roost.call("tab.list", json!({})), json!({ "projects": [] }));
    wait_until("the child is gone", Duration::from_secs(1), || !runs());
}

#[test]
fn terminals_of_every_origin_are_tabs_and_outlive_the_daemon() {
    let mut daemon = TestDaemon::start();
    let ours = daemon.client().open_sh("echo \"$ROOST_SOCKET $ROOST_TAB_ID\"; exec cat");
    let mut roost = Roost::connect(&socket(&daemon));
    let told = format!("{} {ours}", socket(&daemon).display());
    roost.wait_row(&ours.to_string(), &told);
    let theirs = roost.open(&["/bin/cat"]);
    roost.call("tab.set_title", json!({ "tab_id": theirs, "title": "mine" }));
    let before = roost.call("tab.list", json!({}));
    assert_eq!(before["projects"][0]["tabs"].as_array().unwrap().len(), 2);
    daemon.kill9();
    daemon.restart();
    let mut roost = Roost::connect(&socket(&daemon));
    assert_eq!(roost.call("tab.list", json!({})), before);
    roost.wait_row(&ours.to_string(), &told);
}

#[test]
fn a_line_that_is_too_long_is_answered_before_the_end() {
    let daemon = TestDaemon::start();
    let mut roost = Roost::connect(&socket(&daemon));
    let blanks = vec![b' '; 1 << 20];
    for _ in 0..16 {
        roost.0.send(&blanks).unwrap();
    }
    roost.0.send(b" ").unwrap();
    let reply = roost.line().unwrap();
    assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!("0"), &json!("frame-too-large")));
    assert_eq!(roost.line(), None);
}

#[test]
fn many_connections_are_served_at_once() {
    let daemon = TestDaemon::start();
    let socket = socket(&daemon);
    let mut all: Vec<Roost> = (0..300).map(|_| Roost::connect(&socket)).collect();
    for roost in &mut all {
        assert_eq!(roost.call("tab.list", json!({})), json!({ "projects": [] }));
    }
}

#[test]
fn a_question_goes_with_the_connection_that_asked_it() {
    let daemon = TestDaemon::start();
    let mut roost = Roost::connect(&socket(&daemon));
    let asker = Roost::connect(&socket(&daemon));
    let items = json!([{ "id": "x", "title": "X" }]);
    let request = json!({ "id": "1", "op": "palette.present", "params": { "items": items } });
    asker.0.send_json(&request).unwrap();
    let mut is_open = || roost.call("palette.state", json!({}))["open"] == true;
    wait_until("the question is shown", PATIENCE, &mut is_open);
    drop(asker);
    wait_until("the question is gone", PATIENCE, || !is_open());
}
