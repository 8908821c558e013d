//! `rookery setup`: what it finds, what it shows, and that it writes nothing else.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rookery_testkit::{Finished, Home, TestPty, rookery_binary};
use serde_json::{Value, json};

use crate::model_server::ModelServer;

const KEY: &str = "sk-never-written-anywhere-0815";

/// A home with an agent that is installed.
fn home() -> Home {
    let home = Home::new();
    let bin = home.join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("goose"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(bin.join("goose"), fs::Permissions::from_mode(0o755)).unwrap();
    home
}

fn setup(home: &Home, args: &[&str], env: &[(&str, &str)]) -> Finished {
    let mut command = home.command(rookery_binary());
    // A port where nothing listens, whatever runs on this machine.
    command.arg("setup").args(args).env("OLLAMA_HOST", "127.0.0.1:1");
    command.envs(env.iter().copied());
    Finished::of(command)
}

fn config(home: &Home) -> String {
    fs::read_to_string(home.join("config/rookery/config.toml")).unwrap_or_default()
}

#[test]
fn a_dry_run_shows_what_was_found_and_writes_nothing() {
    let home = home();
    let ran = setup(&home, &["--dry-run"], &[("ANTHROPIC_API_KEY", KEY)]);
    let shown = ran.stdout.clone();
    for part in ["ANTHROPIC_API_KEY", "Goose", "+provider = \"anthropic\"", "+[providers.goose]"] {
        assert!(shown.contains(part), "{part}: {ran:?}");
    }
    assert!(!shown.contains(KEY) && !ran.stderr.contains(KEY));
    assert_eq!(config(&home), "");
    let refused = setup(&home, &[], &[]).failure(1);
    assert!(refused.contains("nothing was written") && refused.contains("--yes"), "{refused}");
    assert_eq!(config(&home), "");
    setup(&home, &["--json"], &[]).failure(2);
    home.assert_no_processes_left();
}

#[test]
fn what_was_agreed_to_is_written_and_nothing_else() {
    let home = home();
    let env = [("ANTHROPIC_API_KEY", KEY), ("SHELL", "/bin/bash"), ("XDG_DATA_HOME", "")];
    let made = setup(&home, &["--yes", "--json", "--shims", "--shell", "--hooks"], &env).json();
    assert_eq!(made["provider"], "anthropic", "{made}");
    assert_eq!(made["written"], true);
    assert_eq!(made["found"]["keys"][0]["variable"], "ANTHROPIC_API_KEY");
    let written = config(&home);
    assert!(written.contains("provider = \"anthropic\""), "{written}");
    assert!(written.contains("command = [\"goose\", \"acp\"]"), "{written}");
    assert!(!written.contains(KEY), "{written}");
    assert!(home.join(".local/bin/roostctl").is_symlink());
    assert!(home.join(".local/share/bash-completion/completions/rookery").exists());
    let hooks = fs::read_to_string(home.join(".claude/settings.json")).unwrap();
    assert!(hooks.contains("hooks"), "{hooks}");
    // A second time there is nothing to do.
    let again = setup(&home, &["--yes", "--json", "--shims", "--shell", "--hooks"], &env).json();
    assert_eq!((&again["written"], &again["diff"]), (&json!(false), &json!("")), "{again}");
    home.assert_no_processes_left();
}

#[test]
fn a_server_on_this_machine_answers_after_it_was_set_up() {
    let server = ModelServer::start(Vec::new());
    let home = Home::new();
    // The daemon runs already, as after a first try.
    let said = home.rookery(&["chat", "hello"]).failure(1);
    assert!(said.contains("no provider is set up"), "{said}");
    let host = server.url.trim_end_matches("/v1").trim_start_matches("http://");
    let args = ["--yes", "--json", "--provider", "ollama"];
    let made: Value = setup(&home, &args, &[("OLLAMA_HOST", host)]).json();
    assert_eq!(made["found"]["servers"][0]["models"], json!(["house-model"]), "{made}");
    assert_eq!(home.rookery(&["chat", "hello"]).success(), "hello\n");
    let asked = server.asked();
    let call = asked.iter().find(|one| one.head.starts_with("POST")).unwrap();
    assert!(call.body.contains("house-model"), "{}", call.body);
    home.rookery(&["down", "--all"]).success();
    home.assert_no_processes_left();
}

#[test]
fn at_a_terminal_it_asks_before_it_writes() {
    let home = home();
    let spawn = || {
        let args = ["OLLAMA_HOST=127.0.0.1:1", "sh", "-c", "exec \"$0\" setup --provider goose"];
        let program = rookery_binary().to_str().unwrap();
        let args: Vec<&str> = args.into_iter().chain([program]).collect();
        TestPty::spawn(&home, std::path::Path::new("/usr/bin/env"), &args, (40, 100))
    };
    let answers = |pty: &TestPty, last: &[u8]| {
        pty.wait_text("create links");
        pty.send(b"n\r");
        pty.wait_text("[providers.goose]");
        pty.wait_text("write this?");
        assert_eq!(config(&home), "", "nothing is written before the yes");
        pty.send(last);
    };
    let mut pty = spawn();
    answers(&pty, b"\r");
    pty.wait_text("nothing was written");
    assert_eq!(pty.wait_ended().code(), Some(1));
    assert_eq!(config(&home), "");
    let mut pty = spawn();
    answers(&pty, b"y\r");
    assert!(pty.wait_ended().success());
    assert!(config(&home).contains("provider = \"goose\""), "{}", config(&home));
    assert!(!home.join(".local/bin/roostctl").exists());
}
