//! Real programs, run to their end or killed before it.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::unix::pipe;

use super::*;

fn sh(text: &str) -> Script {
    Script { timeout: Duration::from_secs(60), ..Script::new(["sh", "-c", text]) }
}

fn output(outcome: &Outcome) -> &str {
    str::from_utf8(&outcome.stdout).unwrap()
}

#[tokio::test]
async fn input_goes_in_and_output_comes_back() {
    let script = Script { stdin: b"hello\n".into(), ..sh("cat; echo ' two ' >&2; echo >&2") };
    let outcome = script.run().await;
    assert_eq!(outcome.end, End::Exited(0));
    assert_eq!(output(&outcome), "hello\n");
    assert_eq!(outcome.last_error_line.as_deref(), Some("two"));
    assert_eq!(outcome.failure(), None);
}

#[tokio::test]
async fn environment_and_directory_are_as_asked() {
    let dir = tempfile::tempdir().unwrap();
    let script = Script {
        env: vec![("ADDED".into(), "yes".into()), ("PATH_OF_MINE".into(), "kept".into())],
        env_remove: vec!["HOME".into(), "PATH_OF_MINE".into()],
        cwd: Some(dir.path().to_owned()),
        ..sh("echo \"$ADDED ${HOME-none} $PATH_OF_MINE\"; pwd -P")
    };
    let outcome = script.run().await;
    let real = dir.path().canonicalize().unwrap();
    assert_eq!(output(&outcome), format!("yes none kept\n{}\n", real.display()));
}

#[tokio::test]
async fn failures_say_why() {
    let outcome = sh("echo first >&2; printf 'no such branch' >&2; exit 3").run().await;
    assert_eq!(outcome.end, End::Exited(3));
    assert_eq!(outcome.failure().as_deref(), Some("no such branch"));
    assert_eq!(sh("exit 4").run().await.failure().as_deref(), Some("exit status 4"));
    assert_eq!(sh("kill -9 $$").run().await.failure().as_deref(), Some("killed by signal 9"));
    let missing = Script::new(["/nowhere/at/all"]).run().await.failure().unwrap();
    assert!(missing.starts_with("cannot start /nowhere/at/all: "), "{missing}");
    assert!(!Script::new([] as [&str; 0]).run().await.is_success());
    assert!(!Script::new(["a\0b"]).run().await.is_success());
}

#[tokio::test]
async fn a_program_that_never_reads_is_not_waited_for() {
    let outcome = Script { stdin: vec![b'x'; 4 << 20], ..sh("echo done") }.run().await;
    assert_eq!((outcome.end.clone(), output(&outcome)), (End::Exited(0), "done\n"));
}

#[tokio::test]
async fn what_runs_on_in_the_background_does_not_hold_up_the_result() {
    let place = Pids::new();
    let running = tokio::spawn(sh(&place.script("echo last words; exit 0")).run());
    let gone = place.started().await;
    let outcome = running.await.unwrap();
    assert_eq!((outcome.end.clone(), output(&outcome)), (End::Exited(0), "last words\n"));
    for process in gone {
        assert!(!process.is_gone_within(0), "a regular end leaves it alone");
        process.end();
    }
}

#[tokio::test]
async fn output_up_to_the_limit_is_fine_and_beyond_it_the_tree_dies() {
    let exact = Script { stdout_limit: 5, stderr_limit: 5, ..sh("printf 12345; printf 12345 >&2") };
    assert_eq!(exact.run().await.end, End::Exited(0));
    let quick = Script { stdout_limit: 5, ..sh("printf 123456") }.run().await;
    assert_eq!((quick.end.clone(), output(&quick)), (End::TooMuchOutput, "12345"));
    for text in ["exec cat /dev/zero", "exec cat /dev/zero >&2"] {
        let place = Pids::new();
        let running = tokio::spawn(sh(&place.script(text)).run());
        let started = place.started().await;
        let outcome = running.await.unwrap();
        assert_eq!(outcome.failure().as_deref(), Some("too much output"));
        all_gone(started).await;
    }
}

#[tokio::test]
async fn a_late_program_dies_with_all_that_it_started() {
    let place = Pids::new();
    let script =
        Script { timeout: Duration::from_secs(2), ..sh(&place.script("echo so far; wait")) };
    let running = tokio::spawn(script.run());
    let started = place.started().await;
    let outcome = running.await.unwrap();
    assert_eq!((outcome.end.clone(), output(&outcome)), (End::TimedOut, "so far\n"));
    assert_eq!(outcome.failure().as_deref(), Some("timed out"));
    all_gone(started).await;
}

#[tokio::test]
async fn an_abandoned_program_dies_with_all_that_it_started_and_is_reaped() {
    let place = Pids::new();
    let running = tokio::spawn(sh(&place.script("wait")).run());
    let started = place.started().await;
    running.abort();
    all_gone(started).await;
    // Even the dead one is not left lying about.
    let root = std::fs::read_to_string(place.path().with_extension("root")).unwrap();
    let root = format!("/proc/{}", root.trim());
    while std::path::Path::new(&root).exists() {
        tokio::task::yield_now().await;
    }
}

#[test]
fn the_end_of_the_runtime_kills_what_still_runs() {
    let place = Pids::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.spawn(sh(&place.script("wait")).run());
    let started = runtime.block_on(place.started());
    runtime.shutdown_background();
    let other = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    other.block_on(all_gone(started));
}

/// A named pipe over which a script tells the numbers of its processes.
struct Pids {
    dir: tempfile::TempDir,
}

/// A process that can be watched without being its parent.
struct Process {
    pid: Pid,
    handle: rustix::fd::OwnedFd,
}

impl Pids {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        mkfifoat(CWD, dir.path().join("pids"), Mode::RUSR | Mode::WUSR).unwrap();
        Self { dir }
    }

    fn path(&self) -> std::path::PathBuf {
        self.dir.path().join("pids")
    }

    /// A script that starts a child, a child in a session of its own and a grandchild, and goes on.
    fn script(&self, rest: &str) -> String {
        let pipe = self.path();
        format!(
            "echo $$ >{pipe}.root\n\
             sleep 1000 & one=$!\n\
             setsid sh -c 'sleep 1000 & echo \"$$ $!\" >{pipe}.more; wait' & \n\
             while ! read -r two three <{pipe}.more; do :; done 2>/dev/null\n\
             echo $one $two $three >{pipe}\n{rest}\n",
            pipe = pipe.display(),
        )
    }

    async fn started(&self) -> Vec<Process> {
        let pipe = pipe::OpenOptions::new().read_write(true).open_receiver(self.path()).unwrap();
        let mut line = String::new();
        BufReader::new(pipe).read_line(&mut line).await.unwrap();
        let pids: Vec<i32> = line.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
        assert_eq!(pids.len(), 3, "{line}");
        pids.into_iter().map(|pid| Process::open(Pid::from_raw(pid).unwrap())).collect()
    }
}

impl Process {
    fn open(pid: Pid) -> Self {
        Self { pid, handle: pidfd_open(pid, PidfdFlags::empty()).unwrap() }
    }

    fn is_gone_within(&self, seconds: i64) -> bool {
        let limit = Timespec { tv_sec: seconds, tv_nsec: 0 };
        let mut ended = [PollFd::new(&self.handle, PollFlags::IN)];
        let look = || poll(&mut ended, Some(&limit));
        // Other tests in this process have children that end.
        rustix::io::retry_on_intr(look).unwrap() == 1
    }

    fn end(self) {
        let _ = rustix::process::kill_process(self.pid, rustix::process::Signal::KILL);
        assert!(self.is_gone_within(30));
    }
}

async fn all_gone(processes: Vec<Process>) {
    let look = move || {
        for process in processes {
            assert!(process.is_gone_within(30), "{:?} still runs", process.pid);
        }
    };
    tokio::task::spawn_blocking(look).await.unwrap();
}
