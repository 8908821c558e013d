//! Completion in real shells: TAB is pressed in a terminal, and a real daemon says what there is.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rookery_native::wire::{TerminalClose, TerminalRename};
use rookery_testkit::{
    Finished, Home, PATIENCE, TestDaemon, TestPty, eventually, rookery_binary, wait_until,
};
use rookery_wire::Call as _;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

const SHELLS: &[&str] = &["bash", "zsh", "fish"];
const SIZE: (u16, u16) = (24, 120);
const CTRL_U: &[u8] = b"\x15";
const TRY: Duration = Duration::from_secs(5);
const TRIES: usize = 6;

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

/// What is offered for the last of the words, in the home.
fn complete(home: &Home, words: &[&str]) -> String {
    complete_in(home, home.path(), words)
}

fn complete_in(home: &Home, dir: &Path, words: &[&str]) -> String {
    let mut command = home.command(rookery_binary());
    command.current_dir(dir).args(["__complete", "rookery"]).args(words);
    Finished::of(command).success()
}

/// The same once something is offered: a machine with much to do may not answer in time.
#[track_caller]
fn offered(home: &Home, words: &[&str]) -> String {
    offered_in(home, home.path(), words)
}

#[track_caller]
fn offered_in(home: &Home, dir: &Path, words: &[&str]) -> String {
    let look = || Some(complete_in(home, dir, words)).filter(|said| said.starts_with("values\n"));
    eventually(&format!("something is offered for {words:?}"), PATIENCE, look)
}

/// The first value of an answer.
fn first(answer: &str) -> &str {
    answer.lines().nth(1).and_then(|line| line.split('\t').next()).unwrap_or_default()
}

/// Types a line and presses keys until the screen shows what they complete it to. A machine with much to do may need
/// another try: the shell is not kept waiting, and offers nothing.
#[track_caller]
fn press(pty: &TestPty, line: &str, keys: &str, shown: &str) {
    let is_shown = |_| {
        pty.send(CTRL_U);
        pty.send(line.as_bytes());
        pty.send(keys.as_bytes());
        let until = Instant::now() + TRY;
        while Instant::now() < until && !pty.text().contains(shown) {
            std::thread::park_timeout(Duration::from_millis(5));
        }
        pty.text().contains(shown)
    };
    assert!((0..TRIES).any(is_shown), "{line:?} does not become {shown:?}:\n{}", pty.text());
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
        press(&pty, "rookery attach bui", "\t", "rookery attach build");
        press(&pty, "rookery kill --signal=IN", "\t", "rookery kill --signal=INT");
        // What there is, with what it is.
        press(&pty, "rookery dump ", "\t\t", "build · running");
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
    client.call(TerminalRename::METHOD, json!({ "terminal": id, "title": HOSTILE }));
    client.wait_text(id, "harmless");
    // A program's own title may have anything in it but what ends it.
    let script = "printf '\\033]2;a\\tb\\n$(touch pwned)\\033[31m\\342\\200\\256c:d\\007'; echo set; exec cat";
    let other = client.open_sh(script);
    client.wait_text(other, "set");
    let said = offered(home, &["attach", ""]);
    assert_eq!(said.lines().count(), 3, "{said:?}");
    assert!(said.starts_with(&format!("values\n{id}\t$(touch pwned)")), "{said:?}");
    let is_plain =
        |line: &str| line.matches('\t').count() == 1 && !line.contains(['\u{1b}', '\u{202e}']);
    assert!(said.lines().skip(1).all(is_plain), "{said:?}");
    client.call(TerminalClose::METHOD, json!({ "terminal": other }));
    for typed in ["$", "$(touch", "'$(", "`"] {
        assert_eq!(complete(home, &["attach", typed]), "", "{typed}");
    }
    for shell in shells() {
        let pty = start(home, shell);
        press(&pty, "rookery dump ", "\t", &format!("rookery dump {id}"));
        pty.send(b"\r");
        pty.wait_text("harmless");
        // Whatever a list shows, enter runs what was typed.
        press(&pty, "rookery dump ", "\t\t\t", &format!("rookery dump {id}"));
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
    let said = offered(home, &["chat", "--thread", "fi"]);
    assert!(said.starts_with("values\nfix-tests\tfix-tests · idle · mock/"), "{said}");
    let said = offered(home, &["threads", "show", ""]);
    let id = first(&said);
    assert!(home.rookery(&["threads", "show", id]).success().contains("hi"), "{said}");
    assert_eq!(complete(home, &["threads", "unarchive", ""]), "");
    home.rookery(&["threads", "archive", id]).success();
    assert_eq!(first(&offered(home, &["threads", "unarchive", ""])), id);

    let said = offered(home, &["chat", "--provider", "mo"]);
    assert!(said.starts_with("values\nmock\t"), "{said}");
    let said = offered(home, &["chat", "--provider", "mock", "--model=m"]);
    assert!(said.starts_with("values\n--model=mock"), "{said}");
    assert_eq!(complete(home, &["chat", "--provider", "none-such", "--model", ""]), "");
    daemon.client().open(json!({ "argv": ["cat"] }));
    let said = offered(home, &["open", "--project", "D"]);
    assert!(said.starts_with("values\nDefault\tDefault · /"), "{said}");
    let said = offered(home, &["open", "--project", ""]);
    assert!(said.contains("\tDefault · /"), "{said}");

    let script = r#"MOCK_SCRIPT:[{"tool":"write_file","args":{"path":"x","content":"y"}}]"#;
    let mut chat = home.command(rookery_binary());
    chat.args(["chat", "--provider", "mock", script]).current_dir(home.path());
    chat.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut chat = chat.spawn().unwrap();
    wait_until("a request is offered", PATIENCE, || {
        complete(home, &["approve", ""]).contains("\tapproval · write_file: x")
    });
    let said = offered(home, &["deny", ""]);
    home.rookery(&["deny", first(&said)]).success();
    assert!(chat.wait().unwrap().success());
    assert_eq!(complete(home, &["approve", ""]), "");
}

#[test]
fn work_in_a_repository_is_known() {
    let daemon = TestDaemon::start();
    let home = daemon.home();
    let repo = home.join("repo");
    let git = "git init -q -b main repo && cd repo && git -c user.name=me -c user.email=me@here \
               commit -q --allow-empty -m first && echo a > a";
    let mut make = home.command("sh");
    make.args(["-c", git]).current_dir(home.path());
    Finished::of(make).success();
    let run = |args: &[&str]| {
        let mut command = home.command(rookery_binary());
        command.args(args).current_dir(&repo);
        Finished::of(command).success()
    };
    let said = |words: &[&str]| offered_in(home, &repo, words);
    run(&["worktree", "create", "--branch", "feature", "../other"]);
    let branches = said(&["worktree", "land", ""]);
    assert_eq!((first(&branches), branches.lines().count()), ("feature", 2), "{branches}");
    assert!(said(&["worktree", "land", "--into", ""]).contains("\nmain\t"));
    assert_eq!(complete(home, &["worktree", "land", ""]), "directories\n");

    run(&["open", "--title", "at-work", "--", "cat"]);
    assert_eq!(first(&said(&["checkpoint", "create", "--session", "at"])), "at-work");
    let session = said(&["review", "list", "-s", ""]);
    assert!(session.contains("\tat-work · "), "{session}");
    run(&["checkpoint", "create", "-s", first(&session), "--title", "good"]);
    let checkpoint = said(&["checkpoint", "show", ""]);
    assert!(checkpoint.ends_with("\tgood · main\n"), "{checkpoint}");
    assert!(run(&["checkpoint", "show", first(&checkpoint)]).contains("good"));
    run(&["review", "request", "-s", "at-work", "-c", first(&checkpoint), "look at this"]);
    let review = said(&["review", "show", ""]);
    assert!(review.ends_with("\tlook at this\n"), "{review}");
    assert!(said(&["inbox", "resolve", ""]).contains("look at this"));
    run(&["handoff", "create", "-s", "at-work", "--title", "go on"]);
    let handoff = said(&["handoff", "accept", ""]);
    assert!(handoff.ends_with("\tgo on\n"), "{handoff}");
    run(&["review", "approve", first(&review)]);
    assert_eq!(complete(home, &["review", "show", ""]), "");
}

/// Where packages and `rookery setup` put the scripts, shells find them by themselves.
#[test]
fn installed_scripts_are_found() {
    let home = Home::new();
    install(&home);
    for (shell, file) in
        [("zsh", "functions/_rookery"), ("fish", ".config/fish/completions/rookery.fish")]
    {
        let Some(program) = program(shell) else {
            eprintln!("skipped: {shell} is not installed");
            continue;
        };
        let file = home.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, home.rookery(&["completions", shell]).success()).unwrap();
        let start = "fpath+=(~/functions)\nautoload -Uz compinit\ncompinit -u -D\nPS1='ready> '\n";
        fs::write(home.join(".zshrc"), start).unwrap();
        let prompt = "function fish_prompt; echo -n 'ready> '; end";
        let args = if shell == "zsh" { vec!["-d", "-i"] } else { vec!["--init-command", prompt] };
        let pty = TestPty::spawn(&home, &program, &args, SIZE);
        pty.wait_text("ready>");
        // The first time loads the script, the second has it.
        press(&pty, "rookery thr", "\t", "rookery threads");
        press(&pty, "rookery chat --eph", "\t", "rookery chat --ephemeral");
    }
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
    wait_until("the daemon stands still", PATIENCE, || is_stopped(daemon.pid()));
    let said = complete(daemon.home(), &["attach", ""]);
    kill_process(pid, Signal::CONT).unwrap();
    assert_eq!(said, "");
    assert!(offered(daemon.home(), &["attach", ""]).starts_with("values\n1\t"));
}

/// Whether every thread of a process was stopped.
fn is_stopped(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    threads.flatten().all(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
    })
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
        press(&pty, "rookery chat --model=local:", "\t", "rookery chat --model=local:8b");
        say("directories\n");
        let typed = format!("rookery open --cwd={}/some-", home.path().display());
        press(&pty, &typed, "\t", "/some-directory");
        // A word of a later version, and no word at all, are nothing to offer.
        for (text, word) in [("something-new\nx\n", "ab"), ("", "cd")] {
            say(text);
            let (begin, end) = word.split_at(1);
            let line = format!("rookery dump {begin}");
            press(&pty, &line, &format!("\t{end}"), &format!("rookery dump {word}"));
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
        until [[ ${#COMPREPLY[@]} -gt 0 ]]; do _rookery rookery b attach; done
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let said = home.run(Path::new("bash"), &["-c", driver]).success();
    assert_eq!(said, "complete -F _rookery rookery\nbuild\n");
}
