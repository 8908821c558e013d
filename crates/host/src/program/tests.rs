//! Real programs, whose output is taken piece by piece.

use rustix::process::{Pid, test_kill_process};
use tokio::time::{Instant, timeout};

use super::*;

fn command(text: &str) -> ProgramCommand {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    ProgramCommand {
        argv: ["sh", "-c", text].map(OsString::from).to_vec(),
        env: vec![("PATH".into(), path)],
        cwd: "/".into(),
        has_input: false,
    }
}

async fn sh(text: &str) -> Program {
    Program::start(command(text)).await.unwrap()
}

/// All that it writes from now on.
async fn rest(program: &mut Program) -> (String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    while let Some((stream, bytes)) = program.next().await {
        assert!(bytes.len() <= MAX_CHUNK);
        match stream {
            ProgramStream::Stdout => out.extend_from_slice(&bytes),
            ProgramStream::Stderr => err.extend_from_slice(&bytes),
        }
    }
    (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// What it writes up to the end of a line.
async fn line(program: &mut Program) -> String {
    let mut said = String::new();
    while !said.ends_with('\n') {
        let (_, bytes) = program.next().await.expect("a line");
        said.push_str(std::str::from_utf8(&bytes).unwrap());
    }
    said.trim().to_owned()
}

async fn gone(pid: &str) {
    let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
    let is_alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        test_kill_process(pid).is_ok() && !stat.unwrap_or_default().contains(") Z ")
    };
    let look = async {
        while is_alive() {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(30), look).await.expect("the process is still there");
}

#[tokio::test]
async fn outputs_and_the_end_are_reported() {
    let mut program = sh("echo out; echo err >&2; cat; exit 3").await;
    assert_eq!(rest(&mut program).await, ("out\n".to_owned(), "err\n".to_owned()));
    assert_eq!(program.control().wait().await, ProgramEnd::Exited(3));
    let mut program = sh("kill -7 $$").await;
    assert_eq!(rest(&mut program).await, Default::default());
    assert_eq!(program.control().wait().await, ProgramEnd::Signaled(7));
}

#[tokio::test]
async fn nothing_is_lost_and_nothing_is_read_ahead() {
    let mut program =
        sh("i=0; while [ $i -lt 300 ]; do head -c 10000 /dev/zero; i=$((i+1)); done; \
                          echo end >&2")
        .await;
    // It cannot end before its output is taken.
    let early = timeout(Duration::from_millis(200), program.control().wait()).await;
    assert!(early.is_err());
    let (out, err) = rest(&mut program).await;
    assert_eq!((out.len(), err.as_str()), (3_000_000, "end\n"));
    assert_eq!(program.control().wait().await, ProgramEnd::Exited(0));
}

#[tokio::test]
async fn who_holds_the_outputs_does_not_hold_up_the_end() {
    let mut program = sh("sleep 1000 & echo $!; echo last").await;
    assert_eq!(program.control().wait().await, ProgramEnd::Exited(0));
    let begun = Instant::now();
    let (out, _) = rest(&mut program).await;
    assert!(begun.elapsed() < Duration::from_secs(10));
    let (pid, last) = out.split_once('\n').unwrap();
    assert_eq!(last, "last\n");
    let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn input_is_read_until_it_is_closed() {
    let mut program =
        Program::start(ProgramCommand { has_input: true, ..command("cat; echo end") })
            .await
            .unwrap();
    let control = program.control();
    control.write(b"one\n").await.unwrap();
    assert_eq!(line(&mut program).await, "one");
    control.write(b"two\n").await.unwrap();
    control.close_input().await;
    assert_eq!(rest(&mut program).await.0, "two\nend\n");
    assert_eq!(control.write(b"x").await, Err(WriteError::Closed));
    let program = sh("sleep 1000").await;
    assert_eq!(program.control().write(b"x").await, Err(WriteError::Closed));
}

#[tokio::test]
async fn input_that_is_not_read_is_bounded() {
    let command = ProgramCommand { has_input: true, ..command("exec sleep 1000") };
    let program = Program::start(command).await.unwrap();
    let control = program.control();
    assert_eq!(control.write(&vec![0; 8 << 20]).await, Err(WriteError::Full));
    assert_eq!(control.end().await, ProgramEnd::Signaled(15));
}

#[tokio::test]
async fn all_that_it_started_goes_with_it() {
    // One in the group, one in a session of its own, both deaf to being asked.
    let text = "trap '' TERM; sh -c 'trap \"\" TERM; echo $$; sleep 1000; :' &\n\
                setsid sh -c 'trap \"\" TERM; echo $$; sleep 1000; :' & wait";
    for way in ["end", "kill", "drop"] {
        let mut program = sh(text).await;
        let (mut pids, control) = (Vec::new(), program.control());
        while pids.len() < 2 {
            pids.extend(line(&mut program).await.lines().map(str::to_owned));
        }
        match way {
            "end" => assert_eq!(control.end().await, ProgramEnd::Signaled(9)),
            "kill" => assert_eq!(control.kill().await, ProgramEnd::Signaled(9)),
            _ => drop(program),
        }
        assert_eq!(control.wait().await, ProgramEnd::Signaled(9));
        for pid in pids {
            gone(&pid).await;
        }
    }
}

#[tokio::test]
async fn only_the_given_environment_is_there() {
    let mut command = command("");
    command.argv = vec!["env".into()];
    command.env.push(("A".into(), "b".into()));
    let mut program = Program::start(command).await.unwrap();
    let (out, _) = rest(&mut program).await;
    let mut names: Vec<&str> = out.lines().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    // The last is how we find what it started.
    assert_eq!(names, ["A", "PATH", "ROOKERY_EXEC"]);
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let nothing = Program::start(ProgramCommand { argv: Vec::new(), ..command("") }).await;
    assert_eq!(nothing.unwrap_err(), "no program is named");
    let argv = vec![OsString::from("/nowhere/at/all")];
    let missing = Program::start(ProgramCommand { argv, ..command("") }).await.unwrap_err();
    assert!(missing.starts_with("cannot start /nowhere/at/all: No such file"), "{missing}");
    let elsewhere = ProgramCommand { cwd: "/nowhere".into(), ..command("true") };
    let missing = Program::start(elsewhere).await.unwrap_err();
    assert_eq!(missing, "cannot start sh: /nowhere is not a directory");
}
