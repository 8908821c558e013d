//! The commands, as scripts use them: output, JSON, exit codes and words of failure.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use rookery_testkit::{Home, TestDaemon, rookery_binary};
use serde_json::{Value, json};

/// The ids, as `open` prints them.
fn open(home: &Home, args: &[&str]) -> String {
    home.rookery(&[&["open"], args].concat()).success().trim().to_owned()
}

#[test]
fn terminals_from_the_shell() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    let id = open(
        home,
        &[
            "--title",
            "mine",
            "-e",
            "GREETING=hi",
            "--",
            "/bin/sh",
            "-c",
            "echo $GREETING; exec cat",
        ],
    );
    home.rookery(&["wait", &id, "--text", "hi"]).success();

    let list = home.rookery(&["ls"]).success();
    assert!(list.contains("mine") && list.contains("running"), "{list}");
    let list = home.rookery(&["ls", "--json"]).json();
    assert_eq!(list["terminals"][0]["id"].to_string(), id);
    assert_eq!(list["terminals"][0]["title"], "mine");

    home.rookery(&["send", &id, "-e", "some", "words"]).success();
    let waited = home.rookery(&["wait", "mine", "-r", "(wo..s)\\s+some", "--json"]).json();
    assert_eq!(waited["matched"], "regex");
    assert_eq!(waited["capture"], "words");
    assert_eq!(home.rookery(&["dump", &id]).success(), "hi\nsome words\nsome words\n");
    let dumped = home.rookery(&["dump", &format!("s{id}"), "--json"]).json();
    assert_eq!(dumped["text"], "hi\nsome words\nsome words");

    home.rookery(&["send", &id, "--key", "ctrl+d"]).success();
    let waited = home.rookery(&["wait", &id, "--exit", "--json"]).json();
    assert_eq!(waited["exit"], json!({ "code": 0 }));
    home.rookery(&["close", &id]).success();
    let said = home.rookery(&["dump", &id]).failure(1);
    assert!(said.contains("no terminal") && said.contains("rookery ls"), "{said}");
}

#[test]
fn text_goes_in_from_stdin_and_by_paste() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    let id = open(home, &["--", "/bin/cat"]);
    let input = home.join("input");
    std::fs::write(&input, "from a file\n").unwrap();
    let mut command = home.command(rookery_binary());
    command.args(["send", &id, "-"]).stdin(std::fs::File::open(&input).unwrap());
    rookery_testkit::Finished::of(command).success();
    home.rookery(&["wait", &id, "-r", "from a file\\s+from a file"]).success();
    home.rookery(&["send", &id, "--paste", "--enter", "pasted"]).success();
    home.rookery(&["wait", &id, "-r", "pasted\\s+pasted"]).success();
}

#[test]
fn waiting_has_exit_codes() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    let id = open(home, &["--", "/bin/sh", "-c", "read line; exit 1"]);
    home.rookery(&["wait", &id, "--text", "never", "--timeout", "0.05"]).failure(124);
    home.rookery(&["wait", &id, "--stable", "10"]).success();
    home.rookery(&["kill", &id]).success();
    home.rookery(&["wait", &id, "--exit"]).success();
    home.rookery(&["wait", &id, "--text", "never"]).failure(3);
    let usage = home.rookery(&["wait", &id]).failure(2);
    assert!(usage.contains("--text"), "{usage}");
}

#[test]
fn signals_are_sent_by_name() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    let script = "trap 'echo got usr1' USR1; echo ready; while :; do sleep 0.02; done";
    let id = open(home, &["--", "/bin/sh", "-c", script]);
    home.rookery(&["wait", &id, "-t", "ready"]).success();
    home.rookery(&["kill", &id, "--signal", "USR1"]).success();
    // The signal goes to the whole group, so the sleep dies and the shell says so or goes on.
    home.rookery(&["wait", &id, "-t", "got usr1"]).success();
    let said = home.rookery(&["kill", &id, "--signal", "NOPE"]).failure(1);
    assert!(said.contains("no such signal"), "{said}");
}

#[test]
fn events_are_lines_of_json_and_can_be_followed() {
    let mut daemon = TestDaemon::start();
    let id = open(daemon.home(), &["--", "/bin/sh", "-c", "exit 9"]);
    daemon.rookery(&["wait", &id, "--exit"]).success();
    let text = daemon.rookery(&["events"]).success();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    // It ended, and since it was the selected one, nothing is selected any more; that it failed is
    // something to look at.
    let [.., exited, deselected, filed] = events.as_slice() else { panic!("{text}") };
    assert_eq!(
        (&exited["type"], &exited["exit"]),
        (&json!("terminal.exited"), &json!({ "code": 9 }))
    );
    assert_eq!(
        (&deselected["type"], &deselected["terminal"]),
        (&json!("terminal.activated"), &json!(null))
    );
    assert_eq!(
        (&filed["type"], &filed["item"]["category"]),
        (&json!("queue.filed"), &json!("error"))
    );
    let since = (numbers.len() - 1).to_string();
    assert_eq!(daemon.rookery(&["events", "--since", &since]).success().lines().count(), 1);

    // Following goes on through a daemon that is killed and started again.
    let mut command = daemon.home().command(rookery_binary());
    command.args(["events", "--follow", "--since", "0"]).stdout(Stdio::piped());
    let mut follower = command.spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    for number in &numbers {
        assert_eq!(next()["seq"], *number);
    }
    daemon.kill9();
    daemon.restart();
    let started = next();
    assert_eq!(started["seq"], numbers.len() as u64 + 1);
    assert_eq!(started["type"], "daemon.started");
    follower.kill().unwrap();
    follower.wait().unwrap();
}

#[test]
fn up_status_restart_and_down() {
    let home = Home::new();
    let said = home.rookery(&["status"]).failure(1);
    assert!(said.contains("no daemon") && said.contains("rookery up"), "{said}");
    let first = home.rookery(&["up", "--json"]).json();
    let again = home.rookery(&["up", "--json"]).json();
    assert_eq!(first["pid"], again["pid"]);
    assert_eq!(home.rookery(&["status", "--json"]).json()["pid"], first["pid"]);
    let said = home.rookery(&["status"]).success();
    assert!(said.contains(&first["pid"].to_string()), "{said}");
    let next = home.rookery(&["restart", "--json"]).json();
    assert_ne!(first["pid"], next["pid"]);
    home.rookery(&["down"]).success();
    home.rookery(&["down"]).success();
    home.assert_no_processes_left();
}

#[test]
fn open_starts_the_daemon() {
    let home = Home::new();
    let id = open(&home, &["--", "/bin/sh", "-c", "pwd; exec cat"]);
    home.rookery(&["wait", &id, "--stable", "1"]).success();
    home.rookery(&["down", "--all"]).success();
    home.assert_no_processes_left();
}

#[test]
fn without_a_command_the_daemon_starts_and_says_how_it_is() {
    let home = Home::new();
    let said = home.rookery(&[]).success();
    assert!(said.contains("daemon"), "{said}");
    home.rookery(&["down", "--all"]).success();
}

#[test]
fn the_doctor_finds_nothing_wrong_with_a_good_home() {
    let daemon = TestDaemon::start();
    let findings = daemon.rookery(&["doctor", "--json"]).json();
    let findings = findings.as_array().unwrap();
    assert!(!findings.is_empty());
    assert!(findings.iter().all(|finding| finding["verdict"] != "fault"), "{findings:?}");
    assert!(daemon.rookery(&["doctor"]).success().contains("ok"));
}

#[test]
fn the_doctor_names_a_broken_config() {
    let home = Home::new();
    let config = home.join("config/rookery/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(&config, "[terminal]\nscrollback = \"many\"\n").unwrap();
    let said = home.rookery(&["doctor"]);
    assert!(said.stdout.contains("line 2"), "{said:?}");
}

#[test]
fn schemas_name_every_method() {
    let home = Home::new();
    for dialect in rookery_dialects::DIALECTS {
        let schema = home.rookery(&["schema", "--dialect", dialect.name]).success();
        let schema: Value = serde_json::from_str(&schema).unwrap();
        for op in dialect.ops().0.iter().filter(|op| op.schemas.is_some()) {
            assert!(schema["methods"][op.name].is_object(), "{}", op.name);
        }
    }
    assert_eq!(
        home.rookery(&["schema"]).success(),
        home.rookery(&["schema", "--dialect", "native"]).success()
    );
}

#[test]
fn completions_and_manual_pages_are_printed() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = home.rookery(&["completions", shell]).success();
        assert!(script.contains("rookery __complete"), "{shell}");
    }
    for shell in ["elvish", "powershell"] {
        let script = home.rookery(&["completions", shell]).success();
        assert!(script.contains("rookery") && script.contains("attach"), "{shell}");
    }
    assert!(home.rookery(&["man"]).success().contains(".TH"));
    let dir = home.join("man");
    home.rookery(&["man", dir.to_str().unwrap()]).success();
    let pages = std::fs::read_dir(&dir).unwrap().count();
    assert!(pages > 10, "{pages}");
}

#[test]
fn mistakes_are_reported_with_a_code_and_a_way_out() {
    let home = Home::new();
    home.rookery(&["frobnicate"]).failure(2);
    let said = home.rookery(&["ls"]).failure(1);
    assert!(said.contains("no daemon is running") && said.contains("rookery up"), "{said}");
    let said = home.rookery(&["open", "-C", "/no/such/directory"]).failure(1);
    assert!(said.contains("/no/such/directory"), "{said}");
    home.rookery(&["down", "--all"]).success();
}

#[test]
fn a_program_that_does_not_exist_is_reported() {
    let daemon = TestDaemon::start();
    let said = daemon.rookery(&["open", "--", "/no/such/program"]).failure(1);
    assert!(said.contains("/no/such/program"), "{said}");
    assert!(daemon.client().terminals().is_empty());
}
