//! Real commands, run by the tools.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::test_world::Bench;
use super::*;
use crate::tool::{CommandLimit, ToolContext, ToolOutput};

/// The lines after `Output:`.
fn said(output: &ToolOutput) -> &str {
    output.text.split_once("\nOutput:\n").map_or("", |(_, said)| said)
}

/// Starts a command that goes on, and gives its number.
async fn started(bench: &Bench, mut arguments: Value) -> u64 {
    arguments["yield_time_ms"] = json!(0);
    let output = bench.run("exec_command", arguments).await;
    assert_eq!(output.data["status"], "running", "{}", output.text);
    output.data["session_id"].as_u64().unwrap()
}

/// Asks until a command has said something, or has ended.
async fn until(bench: &Bench, id: u64, wanted: &str) -> ToolOutput {
    let mut all = String::new();
    loop {
        let output = bench.run("write_stdin", json!({"session_id": id, "yield_time_ms": 20})).await;
        all.push_str(said(&output));
        if all.contains(wanted) || output.data["status"] != "running" {
            return ToolOutput { text: all, ..output };
        }
    }
}

#[tokio::test]
async fn shell_has_nothing_to_read_and_no_editor() {
    let bench = Bench::new();
    let command = "cat; read -r x || echo end; test -t 0 || echo none; echo $GIT_EDITOR $EDITOR";
    let output = bench.run("shell", json!({"command": command, "timeout_seconds": 60})).await;
    assert_eq!(said(&output), "end\nnone\ntrue true\n");
    assert_eq!(output.exit_code, Some(0));
    // What is a conversation keeps its input.
    let id = started(&bench, json!({"cmd": "read -r x; echo got $x"})).await;
    let typed = json!({"session_id": id, "chars": "hi\n", "yield_time_ms": 60_000});
    assert_eq!(said(&bench.run("write_stdin", typed).await), "got hi\n");
}

#[tokio::test]
async fn what_is_dropped_is_counted_and_a_nul_is_kept() {
    let bench = Bench::new();
    let output = bench.run("shell", json!({"command": "printf 'a\\0b\\0'"})).await;
    assert_eq!((said(&output), &output.data["dropped_bytes"]), ("a\0b\0", &json!(0)));
    let command = "head -c 3000000 /dev/zero | tr '\\0' x";
    let output = bench.run("shell", json!({"command": command})).await;
    let lost = 3_000_000 - (1 << 20);
    assert_eq!(output.data["dropped_bytes"], json!(lost));
    assert!(said(&output).starts_with(&format!("[{lost} bytes of output were dropped]\nx")));
}

#[tokio::test]
async fn shell_runs_to_the_end() {
    let bench = Bench::new();
    bench.file("sub/x", "");
    let command = "printf '\\033[31mred\\033[0m\\r\\n'; echo $PAGER $GIT_PAGER $NO_COLOR; (echo e >&2) 2>&1; pwd";
    let output = bench.run("shell", json!({"command": command, "workdir": "sub"})).await;
    let dir = bench.root().join("sub").display().to_string();
    assert!(output.text.starts_with("Exit code: 0\nWall time: 0."), "{}", output.text);
    assert_eq!(said(&output), format!("red\ncat cat 1\ne\n{dir}\n"));
    assert_eq!((output.is_error, output.exit_code), (false, Some(0)));
    assert!(output.terminal.is_some());
    let data = &output.data;
    assert_eq!(
        (&data["command"], &data["cwd"], &data["shell"]),
        (&json!(command), &json!(dir), &json!("/bin/sh"))
    );
    assert_eq!(
        (&data["exit_code"], &data["status"], &data["timed_out"]),
        (&json!(0), &json!("completed"), &json!(false))
    );
    assert_eq!(data["aggregated_output"], said(&output));
    assert_eq!(
        (&data["requested_timeout_seconds"], &data["effective_timeout_seconds"]),
        (&json!(120), &json!(120))
    );
    assert!(data["duration_ms"].is_u64());
    let opened = &bench.world.commands()[0];
    assert_eq!(opened.argv[4..], ["/bin/sh", "-lc", command]);
}

#[tokio::test]
async fn shell_failures_are_errors() {
    let bench = Bench::new();
    let output = bench.run("shell", json!({"command": "echo no; exit 3"})).await;
    assert!(output.text.starts_with("Exit code: 3\nWall time: "), "{}", output.text);
    assert_eq!((output.is_error, &output.data["status"]), (true, &json!("failed")));
    let output = bench.run("shell", json!({"command": "kill -9 $$"})).await;
    assert_eq!(output.exit_code, Some(137));
    for (arguments, why) in [
        (json!({"command": " "}), "invalid tool call arguments: command: must not be blank"),
        (json!({"command": "ls", "workdir": "/etc"}), "path is outside workspace: /etc"),
        (json!({"command": "ls", "workdir": "none"}), "no such directory: none"),
        (json!({"command": "a\u{0}b"}), "the command contains a NUL character"),
        (json!({"command": ["ls"]}), "invalid tool call arguments: command: "),
    ] {
        let output = bench.run("shell", arguments).await;
        assert!(output.is_error && output.text.starts_with(why), "{}", output.text);
    }
}

#[tokio::test]
async fn shell_ends_what_takes_too_long() {
    let bench = Bench::new();
    let arguments = json!({"command": "echo begun; sleep 1000", "timeout_seconds": 1});
    let output = bench.run("shell", arguments).await;
    assert_eq!(
        (&output.data["status"], &output.data["timed_out"]),
        (&json!("timed_out"), &json!(true))
    );
    assert!(output.is_error);
    assert!(said(&output).ends_with("[timed out after 1 seconds]"), "{}", output.text);
    assert!(output.text.starts_with("Exit code: -1\n"));
}

#[tokio::test]
async fn timeouts_are_clamped_to_what_the_turn_has() {
    let bench = Bench::new();
    let effective = async |asked: u64, left: Option<u64>| {
        let context = ToolContext { time_left: left.map(Duration::from_secs), ..bench.context() };
        let arguments = json!({"command": "true", "timeout_seconds": asked});
        let output = bench.run_in(context, "shell", arguments).await;
        assert_eq!(output.data["requested_timeout_seconds"], asked);
        output.data["effective_timeout_seconds"].as_u64().unwrap()
    };
    assert_eq!(effective(5, None).await, 5);
    assert_eq!(effective(0, None).await, 1);
    assert_eq!(effective(9999, None).await, 600);
    assert_eq!(effective(120, Some(90)).await, 60);
    assert_eq!(effective(120, Some(10)).await, 1);
    let context = ToolContext { time_left: Some(Duration::from_secs(50)), ..bench.context() };
    let output = bench.run_in(context, "exec_command", json!({"cmd": "true"})).await;
    assert_eq!(output.data["effective_timeout_ms"], 20_000);
}

#[tokio::test]
async fn commands_are_held_to_the_limit_of_their_thread_unless_they_may_take_longer() {
    let bench = Bench::new();
    let limit = Duration::from_secs(7);
    let long_commands = vec![" true long".to_owned(), " ".to_owned()];
    let set = Some(CommandLimit { limit, long_commands });
    let effective = async |tool: &str, arguments: serde_json::Value| {
        let context = ToolContext { command_limit: set.clone(), ..bench.context() };
        bench.run_in(context, tool, arguments).await.data
    };
    for (command, asked, expected) in [
        ("true", None, 7),
        ("true", Some(5), 5),
        ("true", Some(500), 7),
        ("true long; true", None, 600),
        ("true long", Some(500), 500),
    ] {
        let arguments = json!({"command": command, "timeout_seconds": asked});
        let data = effective("shell", arguments).await;
        assert_eq!(data["effective_timeout_seconds"], expected, "{command} {asked:?}");
    }
    for (command, expected) in [("true", json!(7000)), ("true long", json!(null))] {
        let data = effective("exec_command", json!({"cmd": command})).await;
        assert_eq!(data["effective_timeout_ms"], expected, "{command}");
        let data = effective("unified_exec", json!({"input": command})).await;
        assert_eq!(data["effective_timeout_ms"], expected, "{command}");
    }
}

/// A command that starts another one and tells its number in a file.
const NESTED: &str = "sleep 1000 & echo $! >pid; wait";

/// The number that the command told.
async fn told_pid(bench: &Bench) -> String {
    let file = bench.root().join("pid");
    loop {
        match std::fs::read_to_string(&file) {
            Ok(pid) if pid.ends_with('\n') => {
                std::fs::remove_file(&file).unwrap();
                return pid.trim().to_owned();
            }
            _ => tokio::task::yield_now().await,
        }
    }
}

async fn gone(pid: &str) {
    let stat = format!("/proc/{pid}/stat");
    while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_cancelled_command_ends_with_all_that_it_started() {
    let bench = Bench::new();
    for (tool, arguments) in [
        ("shell", json!({"command": NESTED})),
        ("exec_command", json!({"cmd": NESTED, "yield_time_ms": 600_000})),
        ("unified_exec", json!({"input": NESTED, "timeout_ms": 600_000})),
    ] {
        let context = bench.context();
        let cancel = context.cancel.clone();
        let running = tokio::spawn((super::super::find(tool).unwrap().run)(context, arguments));
        let pid = told_pid(&bench).await;
        cancel.cancel();
        let output = running.await.unwrap();
        assert!(output.is_error, "{tool}");
        assert_eq!(output.text, "the command was cancelled");
        gone(&pid).await;
    }
}

#[tokio::test]
async fn a_command_whose_caller_has_gone_ends() {
    let bench = Bench::new();
    let shell = super::super::find("shell").unwrap();
    let running = tokio::spawn((shell.run)(bench.context(), json!({"command": NESTED})));
    let pid = told_pid(&bench).await;
    running.abort();
    gone(&pid).await;
}

#[tokio::test]
async fn only_shells_are_taken_for_shells() {
    let bench = Bench::new();
    for shell in ["sh", "/bin/sh", " "] {
        let arguments = json!({"cmd": "echo ok", "shell": shell, "yield_time_ms": 60_000});
        assert_eq!(said(&bench.run("exec_command", arguments).await), "ok\n", "{shell}");
    }
    for shell in ["rm", "/tmp/sh", "./bash", "bash/../rm", "/usr/bin/env"] {
        let output = bench.run("exec_command", json!({"cmd": "ls", "shell": shell})).await;
        let why = format!("invalid tool call arguments: shell: {shell:?} is not a known shell");
        assert_eq!((output.is_error, output.text), (true, why));
    }
}

#[tokio::test]
async fn exec_command_returns_as_soon_as_the_command_ends() {
    let bench = Bench::new();
    let begun = Instant::now();
    let arguments =
        json!({"cmd": "echo out; echo err >&2; exit 2", "yield_time_ms": 60_000, "login": false});
    let output = bench.run("exec_command", arguments).await;
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert!(output.text.starts_with("Exit code: 2\nWall time: "), "{}", output.text);
    assert!(said(&output).contains("out\n") && said(&output).contains("err\n"));
    let data = &output.data;
    assert_eq!(
        (&data["status"], &data["exit_code"], &data["tty"]),
        (&json!("failed"), &json!(2), &json!(false))
    );
    assert_eq!((&data["effective_timeout_ms"], &data["timed_out"]), (&Value::Null, &json!(false)));
    assert!(output.is_error && output.terminal.is_none());
    assert!(bench.world.commands().is_empty(), "no terminal without tty");
    let id = data["session_id"].as_u64().unwrap();
    let gone = bench.run("write_stdin", json!({"session_id": id})).await;
    assert_eq!(
        (gone.is_error, &gone.data),
        (true, &json!({"session_id": id, "status": "not_found"}))
    );
}

#[tokio::test]
async fn a_session_is_written_to_and_read() {
    let bench = Bench::new();
    for tty in [false, true] {
        let id =
            started(&bench, json!({"cmd": "echo ready; read a; echo got $a", "tty": tty})).await;
        let waiting = until(&bench, id, "ready\n").await;
        assert_eq!(
            (&waiting.data["status"], &waiting.data["exit_code"]),
            (&json!("running"), &Value::Null)
        );
        assert_eq!((&waiting.data["tty"], waiting.is_error), (&json!(tty), false));
        assert_eq!(waiting.terminal.is_some(), tty);
        let arguments = json!({"session_id": id, "chars": "you\n", "yield_time_ms": 60_000});
        let done = bench.run("write_stdin", arguments).await;
        assert_eq!((said(&done), &done.data["status"]), ("got you\n", &json!("completed")));
        assert!(done.text.starts_with("Exit code: 0\n"));
    }
    let first = &bench.world.commands()[0];
    assert_eq!(first.title, "echo ready; read a; echo got $a");
}

#[tokio::test]
async fn running_commands_name_their_session() {
    let bench = Bench::new();
    let output = bench.run("exec_command", json!({"cmd": "sleep 1000", "yield_time_ms": 0})).await;
    let id = output.data["session_id"].as_u64().unwrap();
    assert!(output.text.starts_with(&format!("Session id: {id}\nWall time: ")), "{}", output.text);
    let other = ToolContext { thread: rookery_model::ThreadId::new(8), ..bench.context() };
    let foreign = bench.run_in(other, "write_stdin", json!({"session_id": id})).await;
    assert_eq!(foreign.data["status"], "not_found", "sessions belong to their thread");
    bench.sessions.end_thread(bench.context().thread).await;
    let gone = bench.run("write_stdin", json!({"session_id": id})).await;
    assert_eq!(gone.data["status"], "not_found");
}

#[tokio::test]
async fn keys_work_without_a_terminal() {
    let bench = Bench::new();
    let id = started(&bench, json!({"cmd": "cat; echo end"})).await;
    let arguments = json!({"session_id": id, "chars": "text\n\u{4}", "yield_time_ms": 60_000});
    let output = bench.run("write_stdin", arguments).await;
    assert_eq!((said(&output), output.exit_code), ("text\nend\n", Some(0)));
    let id = started(&bench, json!({"cmd": "exec sleep 1000"})).await;
    let arguments = json!({"session_id": id, "chars": "\u{3}", "yield_time_ms": 60_000});
    assert_eq!(bench.run("write_stdin", arguments).await.exit_code, Some(143));
}

#[tokio::test]
async fn a_session_has_its_time() {
    let bench = Bench::new();
    let arguments = json!({"cmd": "exec sleep 1000", "timeout_ms": 300, "yield_time_ms": 60_000});
    let output = bench.run("exec_command", arguments).await;
    assert_eq!(
        (&output.data["status"], &output.data["timed_out"]),
        (&json!("timed_out"), &json!(true))
    );
    assert_eq!(output.data["effective_timeout_ms"], 300);
    assert!(output.is_error);
}

#[tokio::test]
async fn too_many_commands_are_refused() {
    let bench = Bench::new();
    for _ in 0..16 {
        started(&bench, json!({"cmd": "exec sleep 1000", "login": false})).await;
    }
    let output = bench.run("exec_command", json!({"cmd": "true"})).await;
    assert!(output.text.starts_with("too many commands are running"), "{}", output.text);
    bench.sessions.end_all().await;
    assert!(
        !bench.run("exec_command", json!({"cmd": "true", "yield_time_ms": 60_000})).await.is_error
    );
}

#[tokio::test]
async fn output_is_cut_to_the_tokens_wanted() {
    let bench = Bench::new();
    let arguments =
        json!({"cmd": "seq 1 10000", "max_output_tokens": 100, "yield_time_ms": 60_000});
    let output = bench.run("exec_command", arguments).await;
    assert!(said(&output).starts_with("1\n2\n") && said(&output).ends_with("9999\n10000\n"));
    assert!(said(&output).contains(" bytes omitted]\n"));
    assert!(said(&output).len() < 500);
    assert_eq!(within_tokens("éééé", 1), "é\n[4 bytes omitted]\né");
    let much = bench
        .run(
            "exec_command",
            json!({"cmd": "head -c 3000000 /dev/zero | tr '\\0' x", "yield_time_ms": 60_000}),
        )
        .await;
    assert!(
        said(&much).starts_with("[1951424 bytes of output were dropped]\n"),
        "{}",
        &much.text[..200]
    );
}

#[tokio::test]
async fn unified_exec_does_both() {
    let bench = Bench::new();
    let first =
        bench.run("unified_exec", json!({"input": "read a; echo got $a", "timeout_ms": 0})).await;
    assert_eq!(first.data["status"], "running");
    let id = first.data["session_id"].as_str().unwrap().to_owned();
    assert!(first.terminal.is_some() && first.text.starts_with(&format!("Session id: {id}\n")));
    let arguments = json!({"input": "x\n", "session_id": id, "timeout_ms": 60_000});
    let second = bench.run("unified_exec", arguments).await;
    assert_eq!((said(&second), second.exit_code), ("got x\n", Some(0)));
    for id in [json!("77"), json!(77), json!("seven")] {
        let gone = bench.run("unified_exec", json!({"input": "", "session_id": id})).await;
        assert_eq!((gone.is_error, &gone.data["status"]), (true, &json!("not_found")));
        assert!(gone.data["session_id"].is_string());
    }
    let third =
        bench.run("unified_exec", json!({"input": "read a; echo $a", "timeout_ms": 0})).await;
    let number: u64 = third.data["session_id"].as_str().unwrap().parse().unwrap();
    let arguments = json!({"input": "y\n", "session_id": number, "timeout_ms": 60_000});
    assert_eq!(said(&bench.run("unified_exec", arguments).await), "y\n");
    let blank = bench.run("unified_exec", json!({"input": " "})).await;
    assert!(blank.text.starts_with("invalid tool call arguments: input: "));
}

#[tokio::test]
async fn commands_that_may_only_read_are_wrapped() {
    let bench = Bench::new();
    let wrap: crate::tool::Sandbox = Arc::new(|argv: Vec<String>| {
        let mut wrapped = vec!["/usr/bin/env".to_owned(), "WRAPPED=yes".to_owned()];
        wrapped.extend(argv);
        wrapped
    });
    for read_only in [true, false] {
        let context = ToolContext { read_only, sandbox: Some(wrap.clone()), ..bench.context() };
        let expected = if read_only { "yes\n" } else { "no\n" };
        for (tool, arguments) in [
            ("shell", json!({"command": "echo ${WRAPPED-no}"})),
            ("exec_command", json!({"cmd": "echo ${WRAPPED-no}", "yield_time_ms": 60_000})),
            ("unified_exec", json!({"input": "echo ${WRAPPED-no}", "timeout_ms": 60_000})),
        ] {
            let output = bench.run_in(context.clone(), tool, arguments).await;
            assert_eq!(said(&output), expected, "{tool}");
        }
    }
}
