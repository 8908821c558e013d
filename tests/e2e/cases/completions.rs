//! Completion in real shells: TAB is pressed in a terminal, and a real daemon says what there is.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use rookery_testkit::{Home, PATIENCE, TestDaemon, TestPty, rookery_binary, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

const SHELLS: &[&str] = &["bash", "zsh", "fish"];
const SIZE: (u16, u16) = (24, 120);
const CTRL_U: &[u8] = b"\x15";

/// A title as no friend would choose it.
const HOSTILE: &str = "$(touch pwned)`touch pwned`';touch pwned;'\"x:y z\\ 1  2 %F{red}";

/// The program under its own name, where shells look for it.
fn install(home: &Home) {
    fs::create_dir_all(home.join("bin")).unwrap();
    symlink(rookery_binary(), home.join("bin/rookery")).unwrap();
}

/// The shells that are there; one that is not is named.
fn shells() -> Vec<&'static str> {
    let is_there = |shell: &&str| {
        let found = program(shell).is_some();
        if !found {
            eprintln!("skipped: {shell} is not installed");
        }
        found
    };
    SHELLS.iter().copied().filter(is_there).collect()
}

/// A shell at its prompt, which has sourced the script that the program prints.
fn start(home: &Home, shell: &str) -> TestPty {
    let script = home.join(&format!("completions.{shell}"));
    fs::write(&script, home.rookery(&["completions", shell]).success()).unwrap();
    let script = script.display();
    let rc = home.join(".zshrc").display().to_string();
    let args: Vec<String> = match shell {
        "bash" => {
            fs::write(&rc, format!("PS1='ready> '\nsource {script}\n")).unwrap();
            vec!["--noprofile".into(), "--rcfile".into(), rc, "-i".into()]
        }
        "zsh" => {
            let start = "PS1='ready> '\nautoload -Uz compinit\ncompinit -u -D\n";
            fs::write(&rc, format!("{start}source {script}\n")).unwrap();
            vec!["-d".into(), "-i".into()]
        }
        _ => {
            let prompt = "function fish_prompt; echo -n 'ready> '; end";
            vec!["--init-command".into(), format!("{prompt}; source {script}")]
        }
    };
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let pty = TestPty::spawn(home, &program(shell).unwrap(), &args, SIZE);
    pty.wait_text("ready>");
    pty
}

/// Where a program of the machine is.
fn program(name: &str) -> Option<PathBuf> {
    ["/usr/bin", "/bin"].map(|dir| Path::new(dir).join(name)).into_iter().find(|path| path.exists())
}

fn complete(home: &Home, words: &[&str]) -> String {
    let mut args = vec!["__complete", "rookery"];
    args.extend(words);
    home.rookery(&args).success()
}

#[test]
fn a_terminal_is_completed_at_the_keyboard() {
    let daemon = TestDaemon::start();
    install(daemon.home());
    let client = daemon.client();
    client.open(json!({ "argv": ["cat"], "title": "build" }));
    client.open(json!({ "argv": ["cat"], "title": "other" }));
    for shell in shells() {
        let pty = start(daemon.home(), shell);
        pty.send(b"rookery attach bui\t");
        pty.wait_text("rookery attach build");
        pty.send(CTRL_U);
        pty.send(b"rookery kill --signal=IN\t");
        pty.wait_text("rookery kill --signal=INT");
        pty.send(CTRL_U);
        // What there is, with what it is.
        pty.send(b"rookery dump \t\t");
        pty.wait_text("build · running");
        pty.wait_text("other · running");
    }
}

#[test]
fn a_hostile_title_stays_a_title() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    install(home);
    let client = daemon.client();
    let id = client.open(json!({ "argv": ["sh", "-c", "echo harmless; exec cat"] }));
    client.call("rookery/terminals/rename", json!({ "terminal": id, "title": HOSTILE }));
    client.wait_text(id, "harmless");
    let said = complete(home, &["attach", ""]);
    assert_eq!(said.lines().count(), 2, "{said:?}");
    assert!(said.starts_with(&format!("values\n{id}\t$(touch pwned)")), "{said:?}");
    for typed in ["$", "$(touch", "'$(", "`"] {
        assert_eq!(complete(home, &["attach", typed]), "", "{typed}");
    }
    for shell in shells() {
        let pty = start(home, shell);
        pty.send(b"rookery dump \t");
        pty.wait_text(&format!("rookery dump {id}"));
        pty.send(b"\r");
        pty.wait_text("harmless");
        pty.send(b"rookery dump \t\t");
        pty.send(b"\r");
        wait_until("it was dumped twice", PATIENCE, || pty.text().matches("harmless").count() == 2);
        let made = [home.join("pwned"), Path::new("pwned").to_owned()];
        assert!(!made.iter().any(|file| file.exists()), "{shell}: {}", pty.text());
    }
}

#[test]
fn threads_requests_models_and_projects_are_known() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    home.rookery(&["chat", "--provider", "mock", "--name", "fix-tests", "hi"]).success();
    let said = complete(home, &["chat", "--thread", "fi"]);
    assert!(said.starts_with("values\nfix-tests\tfix-tests · idle · mock/"), "{said}");
    let said = complete(home, &["threads", "show", ""]);
    let id = said.lines().nth(1).and_then(|line| line.split('\t').next()).unwrap();
    assert!(home.rookery(&["threads", "show", id]).success().contains("hi"), "{said}");
    assert_eq!(complete(home, &["threads", "unarchive", ""]), "");
    home.rookery(&["threads", "archive", id]).success();
    assert!(complete(home, &["threads", "unarchive", ""]).contains(id));

    let said = complete(home, &["chat", "--provider", "mo"]);
    assert!(said.starts_with("values\nmock\t"), "{said}");
    let said = complete(home, &["chat", "--provider", "mock", "--model=m"]);
    assert!(said.starts_with("values\n--model=mock"), "{said}");
    assert_eq!(complete(home, &["chat", "--provider", "none-such", "--model", ""]), "");
    daemon.client().open(json!({ "argv": ["cat"] }));
    let said = complete(home, &["open", "--project", "D"]);
    assert!(said.starts_with("values\nDefault\tDefault · /"), "{said}");
    let said = complete(home, &["open", "--project", ""]);
    assert!(said.contains("\tDefault · /"), "{said}");

    let script = r#"MOCK_SCRIPT:[{"tool":"write_file","args":{"path":"x","content":"y"}}]"#;
    let mut chat = home.command(rookery_binary());
    chat.args(["chat", "--provider", "mock", script]).current_dir(home.path());
    chat.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut chat = chat.spawn().unwrap();
    wait_until("a request is offered", PATIENCE, || {
        complete(home, &["approve", ""]).contains("\tapproval · write_file: x")
    });
    let said = complete(home, &["deny", ""]);
    let id = said.lines().nth(1).and_then(|line| line.split('\t').next()).unwrap();
    home.rookery(&["deny", id]).success();
    assert!(chat.wait().unwrap().success());
    assert_eq!(complete(home, &["approve", ""]), "");
}

#[test]
fn no_daemon_is_started_and_none_is_waited_for() {
    let home = Home::new();
    assert_eq!(complete(&home, &["attach", ""]), "");
    assert!(complete(&home, &["att"]).contains("attach"));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    home.assert_no_processes_left();

    let daemon = TestDaemon::start();
    daemon.client().open(json!({ "argv": ["cat"] }));
    let pid = Pid::from_raw(i32::try_from(daemon.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    let said = complete(daemon.home(), &["attach", ""]);
    kill_process(pid, Signal::CONT).unwrap();
    assert_eq!(said, "");
    assert!(complete(daemon.home(), &["attach", ""]).starts_with("values\n1\t"));
}

/// The scripts were installed with another version: only what the program says to them counts.
#[test]
fn scripts_take_what_any_version_says() {
    let home = Home::new();
    fs::create_dir_all(home.join("bin")).unwrap();
    fs::create_dir_all(home.join("some-directory")).unwrap();
    let program = home.join("bin/rookery");
    let say = |text: &str| {
        fs::write(&program, format!("#!/bin/sh\ncat <<'END'\n{text}END\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&program, mode).unwrap();
    };
    for shell in shells() {
        let pty = start(&home, shell);
        say("values\n--model=local:8b\tA model\n");
        pty.send(b"rookery chat --model=local:\t");
        pty.wait_text("rookery chat --model=local:8b");
        pty.send(CTRL_U);
        say("directories\n");
        let typed = format!("rookery open --cwd={}/some-\t", home.path().display());
        pty.send(typed.as_bytes());
        pty.wait_text("/some-directory");
        pty.send(CTRL_U);
        // A word of a later version, and no word at all, are nothing to offer.
        for text in ["something-new\nx\n", ""] {
            say(text);
            pty.send(b"rookery dump a\tb");
            pty.wait_text("rookery dump ab");
            pty.send(CTRL_U);
            pty.send(b"echo gone\r");
        }
    }
}

#[test]
fn bash_completes_without_a_keyboard() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    install(home);
    daemon.client().open(json!({ "argv": ["cat"], "title": "build" }));
    let driver = r#"
        source <(rookery completions bash)
        complete -p rookery
        COMP_LINE='rookery attach b' COMP_POINT=16 COMP_CWORD=2 COMP_TYPE=9
        COMP_WORDS=(rookery attach b)
        _rookery rookery b attach
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let said = home.run(Path::new("bash"), &["-c", driver]).success();
    assert_eq!(said, "complete -F _rookery rookery\nbuild\n");
}
