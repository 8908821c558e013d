//! The ptywright tool: by its name, by a link, and each of its commands.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Stdio;

use rookery_testkit::{
    Caller, Finished, Home, PATIENCE, TestPty, eventually, rookery_binary, wait_until,
};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::LocalModes;
use serde_json::json;

/// The program under the name of the tool.
fn tool(home: &Home) -> PathBuf {
    let link = home.join("ptywright");
    if !link.exists() {
        symlink(rookery_binary(), &link).unwrap();
    }
    fs::create_dir_all(home.join("tmp")).unwrap();
    link
}

fn command(home: &Home, args: &[&str]) -> std::process::Command {
    let mut command = home.command(tool(home));
    command.env("TMPDIR", home.join("tmp")).args(args);
    command
}

fn ptywright(home: &Home, args: &[&str]) -> Finished {
    Finished::of(command(home, args))
}

fn with_input(home: &Home, args: &[&str], input: &str) -> Finished {
    let file = home.join("input");
    fs::write(&file, input).unwrap();
    let mut command = command(home, args);
    command.stdin(fs::File::open(&file).unwrap());
    Finished::of(command)
}

#[track_caller]
fn assert_nothing_left(home: &Home) {
    home.assert_no_processes_left();
    let is_empty = || fs::read_dir(home.join("tmp")).unwrap().next().is_none();
    wait_until("its directory is gone", PATIENCE, is_empty);
}

#[test]
fn the_name_makes_the_tool() {
    let home = Home::new();
    // That of the protocol.
    let version = "ptywright 0.3.0\n";
    for args in [["--version"], ["-V"]] {
        assert_eq!(ptywright(&home, &args).success(), version);
        assert_eq!(home.rookery(&["ptywright", args[0]]).success(), version);
    }
    let help = ptywright(&home, &[]).success();
    for word in ["run", "serve", "repl", "logs", "completions"] {
        assert!(help.contains(word), "{help}");
    }
    assert_eq!(home.rookery(&["ptywright"]).success(), help);
    let ours = format!("rookery {}", env!("CARGO_PKG_VERSION"));
    assert!(help.contains(&ours), "{help}");
    assert!(ptywright(&home, &["--help"]).success().contains(&ours));
    assert!(home.rookery(&["ptywright", "run", "--help"]).success().contains("--rows"));
    ptywright(&home, &["daemon"]).failure(2);
    let list = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.list\"}\n";
    let said = with_input(&home, &["serve", "--stdio"], list).success();
    assert!(said.contains(r#""sessions":[]"#), "{said}");
}

#[test]
fn completions_are_for_known_shells() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(ptywright(&home, &["completions", shell]).success().contains("ptywright"));
    }
    assert!(ptywright(&home, &["completions", "csh"]).failure(1).starts_with("ptywright: "));
}

#[test]
fn shims_are_made_listed_and_removed_but_never_over_something_else() {
    let home = Home::new();
    let dir = home.join("bin");
    let dir = dir.to_str().unwrap();
    let shims = |action: &str| home.rookery(&["shims", action, dir]);
    let names = ["idx0", "idx0-notify", "ptywright", "roder", "roostctl"];
    let links = names.map(|name| format!("{dir}/{name}\n")).concat();
    assert!(shims("list").success().contains("not installed"));
    for _ in 0..2 {
        assert_eq!(shims("install").success(), links);
    }
    let link = home.join("bin/ptywright");
    assert!(home.run(&link, &["--version"]).success().starts_with("ptywright "));
    assert!(shims("list").success().contains(" installed"));
    assert_eq!(shims("remove").success(), links);
    assert!(!link.exists());

    fs::write(&link, "another file").unwrap();
    assert!(shims("install").failure(1).contains("not one of our links"));
    assert!(shims("list").success().contains("not ours"));
    shims("remove").success();
    assert_eq!(fs::read_to_string(&link).unwrap(), "another file");
}

#[test]
fn a_program_runs_with_its_exit_code() {
    let home = Home::new();
    let run = |args: &[&str]| ptywright(&home, &[&["run"], args].concat());
    run(&["--", "/bin/sh", "-c", "exit 7"]).failure(7);
    run(&["--", "/bin/sh", "-c", "kill -9 $$"]).failure(1);
    let said = run(&["--", "/no/such/program"]).failure(1);
    assert!(
        said.starts_with("ptywright: pty backend error: ") && said.contains("/no/such/program")
    );
    run(&[]).failure(2);
    let said = run(&["--", "/bin/sh", "-c", "stty size; test -t 0 && test -t 1 && echo tty"]);
    assert!(said.stdout.contains("24 80\r\n") && said.stdout.contains("tty\r\n"), "{said:?}");
    let said = run(&["--rows", "7", "--cols", "9", "stty", "size"]).success();
    assert!(said.contains("7 9\r\n"), "{said}");
    assert_nothing_left(&home);
    assert!(!home.join(".ptywright").exists());
}

#[test]
fn the_end_of_stdin_is_the_end_of_input() {
    let home = Home::new();
    let said = with_input(&home, &["run", "--", "cat"], "hello\n").success();
    assert_eq!(said.matches("hello\r\n").count(), 2, "{said:?}");
    assert!(said.ends_with("\r\n\r\n"), "an empty line is left: {said:?}");
    let said = with_input(&home, &["run", "--", "wc", "-l"], &"line\n".repeat(20_000)).success();
    assert!(said.contains("20001\r\n"), "{}", said.len());
}

#[test]
fn output_arrives_whole() {
    let home = Home::new();
    let said = ptywright(&home, &["run", "--", "seq", "50000"]).success();
    // The newline that ends the input is echoed wherever the output is at that moment.
    let digits: String = said.split(['\r', '\n']).collect();
    let wanted: String = (1..=50_000).map(|number| number.to_string()).collect();
    assert!(digits == wanted, "{} of {}", digits.len(), wanted.len());
}

#[test]
fn questions_are_answered_where_there_is_no_terminal() {
    let home = Home::new();
    let script = "stty raw -echo; printf '\\033[6n'; dd bs=1 count=6 2>/dev/null | od -An -c";
    let mut command = command(&home, &["run", "--", "/bin/sh", "-c", script]);
    command.stdin(Stdio::piped());
    let said = Finished::of(command).success();
    assert!(said.contains("[   1   ;   1   R"), "{said:?}");
}

#[test]
fn in_a_terminal_keys_go_in_raw_and_sizes_follow() {
    let home = Home::new();
    let script = "while :; do stty size; read -r line && echo \"<$line>\"; \
                  test \"$line\" = end && exit 5; done";
    let args = ["run", "--", "/bin/sh", "-c", script];
    let mut pty = TestPty::spawn(&home, &tool(&home), &args, (30, 100));
    pty.wait_text("30 100");
    assert!(!pty.settings().local_modes.contains(LocalModes::ICANON));
    pty.send(b"one\x1b[I\x1b[O\x1b[?62;22c\x1b]11;rgb:0/0/0\x07two\r");
    pty.wait_text("<onetwo>");
    pty.resize((20, 70));
    wait_until("the size has come through", PATIENCE, || {
        pty.send(b"\r");
        pty.text().contains("20 70")
    });
    pty.send(b"end\r");
    assert_eq!(pty.wait_ended().code(), Some(5));
    assert!(pty.settings().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO));
}

#[test]
fn a_program_ends_with_its_runner() {
    for (signal, code) in [(Signal::KILL, None), (Signal::TERM, Some(143))] {
        let home = Home::new();
        let script =
            "trap '' HUP TERM; setsid sleep 1000 & echo ready; while :; do sleep 1000; done";
        let mut command = command(&home, &["run", "--", "/bin/sh", "-c", script]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\r\n");
        kill_process(Pid::from_raw(child.id().try_into().unwrap()).unwrap(), signal).unwrap();
        let status = eventually("the tool ends", PATIENCE, || child.try_wait().unwrap());
        assert_eq!(status.code(), code);
        assert_nothing_left(&home);
    }
}

#[test]
fn logs_are_written_shown_filtered_and_followed() {
    let home = Home::new();
    let logs = home.join("elsewhere/logs");
    let set = |mut command: std::process::Command, level: &str| {
        command.env("PTYWRIGHT_HOME", home.join("elsewhere")).env("PTYWRIGHT_LOG", level);
        command
    };
    let served = Finished::of(set(command(&home, &["serve", "--stdio"]), "debug"));
    assert!(served.stderr.contains("connection ended"), "{}", served.stderr);
    assert_eq!(served.success(), "");
    let files: Vec<_> = fs::read_dir(&logs).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("ptywright.20") && name.ends_with(".log"), "{name}");
    let ran = Finished::of(set(command(&home, &["run", "true"]), "info"));
    assert_eq!(ran.stderr, "");
    assert!(fs::read_to_string(file).unwrap().contains("started"));

    fs::write(file, "one\ntwo keep\nthree\nfour keep\n").unwrap();
    let follow = set(command(&home, &["logs", "--lines", "1", "--filter", "keep"]), "");
    let mut follow = { follow };
    let mut child = follow.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert_eq!(next(), "four keep");
    let append = |path: &std::path::Path, text: &str| {
        let mut file = fs::File::options().create(true).append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    append(file, "five\nsix keep\n");
    assert_eq!(next(), "six keep");
    append(&logs.join("ptywright.2999-01-01.log"), "seven keep\n");
    assert_eq!(next(), "seven keep");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn without_a_log_it_is_told_where_it_was_looked_for() {
    let home = Home::new();
    let said = ptywright(&home, &["logs"]).failure(1);
    let dir = home.join(".ptywright/logs");
    let wanted = format!("ptywright: io error: no log file in {}\n", dir.display());
    assert!(said.starts_with(&wanted), "{said}");
    with_input(&home, &["serve", "--stdio"], "").success();
    let mut child = command(&home, &["logs"]).stdout(Stdio::piped()).spawn().unwrap();
    let file = fs::read_dir(&dir).unwrap().next().unwrap().unwrap().path();
    fs::File::options().append(true).open(file).unwrap().write_all(b"a line\n").unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "a line\n");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn old_logs_go_and_the_config_has_a_say() {
    let home = Home::new();
    let logs = home.join(".ptywright/logs");
    fs::create_dir_all(&logs).unwrap();
    let old = logs.join("ptywright.2020-01-01.log");
    fs::write(&old, "old\n").unwrap();
    let config = "[logging]\nlevel = \"info\"\nformat = \"json\"\nother = 1\n";
    fs::write(home.join(".ptywright/config.toml"), config).unwrap();
    ptywright(&home, &["run", "true"]).success();
    assert!(!old.exists());
    let file = fs::read_dir(&logs).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(file).unwrap();
    let line: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(line["fields"]["message"], "started");

    fs::remove_dir_all(&logs).unwrap();
    fs::write(home.join(".ptywright/config.toml"), "[logging]\nfile = false\nlevel = \"trace\"\n")
        .unwrap();
    ptywright(&home, &["run", "true"]).success();
    assert!(!logs.exists());
}

#[test]
fn the_console_runs_lua_against_a_command() {
    let home = Home::new();
    let script = r#"
        local unused = 1
        s = session.create{program="/bin/sh", args={"-c", "echo from the session; exec cat"}}
        s.session
        w = session.wait{session=s.session, matcher={type="contains_text", value="from the session"}, cells=false}
        for i = 1, 2 do
            print("line", i, w.matched)
        end
        call("session.list")
        session.kill{session="s9"}
        1 +
        1
    "#;
    let tool = tool(&home);
    let args = ["repl", "--framing", "lsp", "--stdio", "--", tool.to_str().unwrap()];
    let args = [&args[..], &["serve", "--stdio", "--framing", "lsp"]].concat();
    let done = with_input(&home, &args, script);
    let said = done.stdout.clone();
    let wanted = "s1\nline\t1\ttrue\nline\t2\ttrue\n{\n  \"sessions\": [\n    \"s1\"\n  ]\n}\n2\n";
    assert_eq!(said, wanted);
    let said = done.failure(1);
    assert!(said.contains("unknown session: s9 (-32602)"), "{said}");
    assert_nothing_left(&home);
}

#[test]
fn the_console_starts_a_server_that_stays() {
    let home = Home::new();
    let first = r#"session.create{program="cat"}.session"#;
    assert_eq!(with_input(&home, &["repl"], first).success(), "s1\n");
    let second = r#"#session.list().sessions"#;
    assert_eq!(with_input(&home, &["repl"], second).success(), "1\n");
    let socket = home.join(".ptywright/socket");
    let path = socket.to_str().unwrap();
    assert_eq!(with_input(&home, &["repl", "--socket", path], second).success(), "1\n");
    let client = Caller::connect(&socket).unwrap();
    client.call("session.close", json!({ "session": "s1" }));
    drop(client);
    let servers: Vec<_> = home
        .processes()
        .into_iter()
        .filter(|process| process.command.contains("serve --background"))
        .collect();
    let [server] = servers.as_slice() else { panic!("{servers:?}") };
    kill_process(Pid::from_raw(server.pid.try_into().unwrap()).unwrap(), Signal::TERM).unwrap();
    assert_nothing_left(&home);
    assert!(!socket.exists());
    let said = with_input(&home, &["repl", "--socket", path], second).failure(1);
    assert!(said.starts_with("ptywright: io error: "), "{said}");
}

#[test]
fn the_console_has_words_for_help_and_leaving() {
    let home = Home::new();
    let tool = tool(&home);
    let args = ["repl", "--stdio", "--", tool.to_str().unwrap(), "serve", "--stdio"];
    for word in [":quit", ":q", ":exit", "quit", " exit "] {
        let script = format!("1 + 1\n{word}\nerror('never')\n");
        assert_eq!(with_input(&home, &args, &script).success(), "2\n", "{word}");
    }
    let help = with_input(&home, &args, ":help\n").success();
    let usage = ptywright(&home, &["repl", "--help"]).success();
    for word in [":help", ":quit", ":q,", ":exit", "call(", "pp("] {
        assert!(help.contains(word) && usage.contains(word), "{help}{usage}");
    }
    let said = with_input(&home, &args, ":nothing\n:quit\n").failure(1);
    assert_eq!(said, "error: unknown command :nothing; :help lists the commands\n");

    let mut pty = TestPty::spawn(&home, &tool, &args, (24, 80));
    pty.wait_text("> ");
    pty.send(b":help\r");
    pty.wait_text("call a method");
    pty.send(b":q\r");
    assert_eq!(pty.wait_ended().code(), Some(0));
    assert_nothing_left(&home);
}

#[test]
fn the_console_edits_lines_in_a_terminal_and_remembers_them() {
    let home = Home::new();
    let tool = tool(&home);
    let args = ["repl", "--stdio", "--", tool.to_str().unwrap(), "serve", "--stdio"];
    let mut pty = TestPty::spawn(&home, &tool, &args, (24, 80));
    pty.wait_text("> ");
    pty.send(b"for i = 41, 42 do\r");
    pty.wait_text(">> ");
    pty.send(b"last = i end\r");
    pty.wait_text("last = i end\n>");
    pty.send(b"last .. ' is it'\r");
    pty.wait_text("\n42 is it");
    pty.send(b"\x04");
    assert_eq!(pty.wait_ended().code(), Some(0));
    let history = fs::read_to_string(home.join(".ptywright/repl-history")).unwrap();
    assert!(history.contains("is it"), "{history}");
}
