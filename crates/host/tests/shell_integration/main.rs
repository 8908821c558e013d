//! The scripts in real shells on real terminals.

#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod bash;
mod driver;
mod fish;
mod zsh;

use driver::{Home, marks, reports};

/// What must be so in every shell, as one function that each shell's tests call.
///
/// `argv` starts it; `fail` is its way to say that a command ends with a code.
fn tells_what_happens(argv: &[&str], fail: impl Fn(u8) -> String) {
    let home = Home::new();
    let mut shell = home.start(argv);
    assert_eq!(marks(&shell.prompt()), ["A", "B"], "no command has run yet");
    assert_eq!(marks(&shell.run("true")), ["C", "D;0", "A", "B"]);
    assert_eq!(marks(&shell.run("false")), ["C", "D;1", "A", "B"]);
    assert_eq!(marks(&shell.run(&fail(130))), ["C", "D;130", "A", "B"]);
    assert_eq!(marks(&shell.run("")).last().unwrap(), "B");
    shell.send("sh -c 'echo rea\"\"dy; exec sleep 100'\r");
    shell.until("ready");
    shell.send("\x03");
    assert_eq!(marks(&shell.prompt()), ["D;130", "A", "B"]);
}

fn tells_where_it_is(argv: &[&str], home: Home) {
    let mut shell = home.start(argv);
    let place = |path: &str| {
        let host = rookery_host::host_name();
        format!("7;file://{host}{}{path}", home.path().display())
    };
    let first = reports(&shell.prompt());
    assert!(first.contains(&place("")), "{first:?}");
    assert!(first.contains(&"0;~".to_owned()), "{first:?}");

    std::fs::create_dir(home.path().join("a b%c-ü")).unwrap();
    let moved = reports(&shell.run("cd 'a b%c-ü'"));
    assert!(moved.contains(&place("/a%20b%25c-%C3%BC")), "{moved:?}");
    assert!(moved.contains(&"0;~/a b%c-ü".to_owned()), "{moved:?}");

    std::fs::create_dir(home.path().join("x\x1b]9;y\x07")).unwrap();
    let moved = reports(&shell.run("cd ../x*"));
    assert!(moved.contains(&place("/x%1B%5D9%3By%07")), "{moved:?}");
    assert!(moved.contains(&"0;~/x?]9;y?".to_owned()), "{moved:?}");

    let moved = reports(&shell.run("cd /"));
    assert!(moved.contains(&"0;/".to_owned()), "{moved:?}");
}

/// A shell inside the shell says nothing, and the one outside goes on.
fn is_alone(argv: &[&str], leave: &str) {
    let home = Home::new();
    let mut shell = home.start(argv);
    shell.prompt();
    shell.send(&format!("{}\r", argv[0]));
    shell.until("\x1b]133;C\x07");
    let inner = shell.run_unmarked("cd /tmp");
    assert_eq!(marks(&inner), [""; 0], "{inner:?}");
    assert!(!inner.contains("not found") && !inner.contains("nknown command"), "{inner:?}");
    assert_eq!(marks(&shell.run(leave)), ["D;0", "A", "B"]);
}

fn loading_again_changes_nothing(argv: &[&str], extension: &str) {
    let home = Home::new();
    let mut shell = home.start(argv);
    shell.prompt();
    let load = format!("source \"$ROOST_RESOURCES_DIR/shell-integration/roost.{extension}\"");
    assert_eq!(marks(&shell.run(&load)), ["C", "D;0", "A", "B"]);
    assert_eq!(marks(&shell.run("false")), ["C", "D;1", "A", "B"]);
}

/// With everything switched off there is nothing but the shell.
fn keeps_silent_when_told(argv: &[&str]) {
    let all = "no-cwd,no-title, no-marks,no-prompt,no-ssh-env";
    let home = Home::new().env("ROOST_SHELL_FEATURES", all);
    let text = home.start(argv).run_unmarked("cd /tmp");
    assert_eq!(marks(&text), [""; 0]);
    assert!(!text.contains("\x1b]7;"), "{text:?}");
    // Only fish writes a title of its own.
    assert!(argv[0] == "fish" || reports(&text).is_empty(), "{text:?}");
    let home = Home::new().env("ROOST_TAB_ID", "");
    assert_eq!(marks(&home.start(argv).run_unmarked("cd /tmp")), [""; 0], "no terminal of ours");
}

fn sends_its_environment_over_ssh(argv: &[&str], home: Home, with_user: &[&str]) {
    let home = home.with_ssh();
    let mut shell = home.start(argv);
    shell.prompt();
    shell.run("ssh 'a host' -v");
    let sent = "ssh:SendEnv COLORTERM TERM_PROGRAM TERM_PROGRAM_VERSION FORCE_HYPERLINK";
    assert_eq!(home.log(), [&["ssh:-o", sent][..], with_user, &["ssh:a host", "ssh:-v"]].concat());
}

fn writes_nothing_into_a_file(argv: &[&str]) {
    let home = Home::new();
    let (prepared, set) = home.prepared(argv);
    let mut line: Vec<_> = ["sh", "-c", "exec \"$0\" \"$@\" >out"].map(str::to_owned).into();
    line.extend(prepared);
    let mut shell = driver::Shell::spawn(&home, &line, set);
    shell.send("cd /tmp\recho 'it is '\"done\" >&2\r");
    shell.until("it is done");
    let written = std::fs::read_to_string(home.path().join("out")).unwrap();
    assert_eq!(marks(&written), [""; 0], "{written:?}");
    assert!(!written.contains("\x1b]7;"), "{written:?}");
    // Only fish writes a title of its own.
    assert!(argv[0] == "fish" || reports(&written).is_empty(), "{written:?}");
}

/// Agents are reported at their start and their end, in this order, and nothing else is.
fn reports_agents(argv: &[&str], home: Home) {
    let home = home.with_agents();
    let mut shell = home.start(argv);
    shell.prompt();
    let started = |name: &str, line: &str| {
        format!("-a|active|-c|informational|{name} started|Running: {line}|")
    };
    let finished = |name: &str| format!("-a|completed|-c|completed|{name} finished|Completed in |");
    let failed =
        |name: &str, code: u8| format!("-a|error|-c|error|{name} failed|Exit code {code} after |");
    for (line, name, code) in [
        ("claude 0", "claude", 0),
        ("claude 3", "claude", 3),
        ("A='x y' B=\"p \\\" q\" claude", "claude", 0),
        ("command cursor-agent 130", "cursor-agent", 130),
        ("~/bin/roo", "roo", 0),
    ] {
        let shown = shell.run(line);
        let end = if code == 0 { finished(name) } else { failed(name, code) };
        let told = home.logged(2);
        // bash writes the command anew, with the quotes it prefers and paths as they are typed.
        let tells = told[0] == started(name, line);
        assert!(tells, "{line}: {told:?}");
        assert_eq!(timeless(&told[1]), end, "{line}");
        assert!(!shown.contains("[1]") && !shown.contains("Done"), "{shown:?}");
        assert_eq!(marks(&shown), ["C", &format!("D;{code}"), "A", "B"], "{line}");
    }
    // Neither what is not started, nor what only begins like an agent, nor what comes later.
    for line in ["echo claude", "command -v claude", "rookery", "true && claude", "cat roo", ""] {
        shell.run(line);
    }
    let long = format!("claude 0 {}", "ü".repeat(100));
    shell.run(&long);
    let cut: String = long.chars().take(80).collect();
    let told = home.logged(2);
    assert_eq!(
        [told[0].clone(), timeless(&told[1])],
        [started("claude", &cut), finished("claude")]
    );
}

/// The word of an end without how many seconds it took, which is one more where a second ends.
fn timeless(told: &str) -> String {
    let seconds = told.trim_end_matches("s|");
    let before = seconds.trim_end_matches(|digit: char| digit.is_ascii_digit());
    assert!(before.len() < seconds.len(), "no time in {told:?}");
    format!("{before}|")
}

/// Whatever the startup files do to PATH, our programs are found.
fn finds_our_programs(argv: &[&str], home: Home) {
    let home = home.with_agents();
    let mut shell = home.start(argv);
    shell.prompt();
    shell.run("echo $PATH >\"$LOG\"");
    let path = home.logged(1).remove(0);
    let ours = home.path().join("ours").display().to_string();
    assert_eq!(path.split([':', ' ']).filter(|dir| *dir == ours).count(), 1, "{path}");
    assert!(path.starts_with(&ours), "{path}");
}

/// Without a session to report to, or when told so, agents are like any other program.
fn keeps_agents_to_itself(argv: &[&str]) {
    for (key, value) in
        [("IDX0_SESSION_ID", ""), ("IDX0_IPC_SOCKET", ""), ("ROOST_SHELL_FEATURES", "no-agents")]
    {
        let home = Home::new().with_agents().env(key, value);
        let mut shell = home.start(argv);
        shell.prompt();
        shell.run("claude");
        // What was told would have been written before this.
        shell.run("idx0-notify done");
        assert_eq!(home.logged(1), ["done|"], "{key}");
    }
}
