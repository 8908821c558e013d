//! `ssh` through a local shim, and `docker` through a client that notes how it is called.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rookery_runners::{Command, ExitCause, Opening, RunnerError, Session, TerminalLaunch, find};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// Runs what it is given in a shell of this machine, as the other side would, and notes its options.
const SSH: &str = r#"#!/bin/sh
echo "$@" | head -n 1 >>"$SHIM_LOG"
for last; do :; done
for word; do [ "$word" = -O ] && exit 0; done
exec sh -c "$last"
"#;

/// Knows just enough of docker.
const DOCKER: &str = r#"#!/bin/sh
for word; do printf '%s|' "$word"; done | tr '\n' ' ' >>"$SHIM_LOG"; echo >>"$SHIM_LOG"
case "$1" in
version) [ -z "$NO_DAEMON" ] || { echo "Cannot connect to the Docker daemon" >&2; exit 1; }; echo 27.0;;
run) echo 0123456789ab;;
port) echo "3000/tcp -> 127.0.0.1:49153";;
commit) echo sha256:abcdef;;
inspect) echo true;;
exec) shift; while [ "$1" != sh ]; do shift; done; shift 3; note=$1; shift
  case "$1" in sleep) echo started; exec sleep 1000;; *) exec "$@";; esac;;
esac
"#;

struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { dir: tempfile::tempdir().unwrap() };
        for (name, text) in [("bin/ssh", SSH), ("bin/docker", DOCKER)] {
            let path = bench.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        std::fs::create_dir_all(bench.path("root/in")).unwrap();
        std::fs::create_dir_all(bench.path("tmp")).unwrap();
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    fn opening(&self, config: Value) -> Opening {
        let own = std::env::var("PATH").unwrap();
        let path = format!("{}:{own}", self.path("bin").display());
        let env = [
            ("PATH", path),
            ("SHIM_LOG", self.path("log").display().to_string()),
            ("TMPDIR", self.path("tmp").display().to_string()),
        ];
        Opening {
            env: env.map(|(name, value)| (name.into(), value.into())).into(),
            run: self.path("run"),
            ..Opening::new("d", config, self.path("root"), self.path("data"))
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    async fn ssh(&self) -> Arc<dyn Session> {
        let config = json!({"host": "far", "user": "me", "port": 2222, "root": self.path("root"), "options": ["StrictHostKeyChecking=yes"]});
        find("ssh").unwrap().open(self.opening(config)).await.unwrap()
    }

    async fn docker(&self, config: Value) -> Arc<dyn Session> {
        find("docker").unwrap().open(self.opening(config)).await.unwrap()
    }
}

#[tokio::test]
async fn commands_run_on_the_other_machine_by_one_connection() {
    let bench = Bench::new();
    let session = bench.ssh().await;
    let mut command =
        Command::new(["sh", "-c", "pwd; echo \"$X|$1\"; cat; exit 7", "sh", "it's \"a\" $(b)\n*"]);
    command.cwd = Some("in".into());
    command.env = vec![("X".into(), "a 'b' $c".into())];
    command.stdin = b"input".to_vec();
    let end = session.exec(command).await.unwrap();
    let expected =
        format!("{}\na 'b' $c|it's \"a\" $(b)\n*\ninput", bench.path("root/in").display());
    assert_eq!(String::from_utf8(end.stdout).unwrap(), expected);
    assert_eq!((end.how, end.exit_code), (ExitCause::Exited, Some(7)));
    let log = bench.log();
    let control = format!("ControlPath={}", bench.path("run").display());
    for line in log.lines() {
        for word in ["BatchMode=yes", "-p 2222", "StrictHostKeyChecking=yes", "me@far", &control] {
            assert!(line.contains(word), "{word}: {line}");
        }
    }
    assert_eq!(log.lines().filter(|line| line.contains("ControlMaster=yes")).count(), 1);
    session.close(false).await.unwrap();
    assert!(matches!(session.exec(Command::new(["true"])).await, Err(RunnerError::Closed)));
    assert_eq!(std::fs::read_dir(bench.path("tmp")).unwrap().count(), 0, "notes are removed");
}

#[tokio::test]
async fn a_command_there_is_ended_with_its_group() {
    let bench = Bench::new();
    let session = bench.ssh().await;
    let (sender, mut output) = mpsc::channel(8);
    let mut command =
        Command::new(["sh", "-c", "trap '' TERM; sleep 1000 & echo $! $$; sleep 1000"]);
    command.output = Some(sender);
    let cancel = command.cancel.clone();
    let cancelling = async {
        let said = output.recv().await.unwrap().bytes;
        cancel.cancel();
        String::from_utf8(said.to_vec()).unwrap()
    };
    let (end, pids) = tokio::join!(session.exec(command), cancelling);
    assert_eq!(end.unwrap().how, ExitCause::Cancelled);
    for pid in pids.split_whitespace() {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(state.is_empty() || state.contains(") Z"), "{pid} lives: {state}");
    }
    // What is left when the connection ends is ended by the other side itself.
    let launch = TerminalLaunch {
        id: None,
        argv: ["sh", "-c", "echo $$ >left; exec sleep 1000"].map(str::to_owned).into(),
        cwd: None,
        env: Vec::new(),
        has_terminal: false,
    };
    let wrapped = session.in_terminal(&launch).unwrap().unwrap();
    let argv: Vec<String> = wrapped.argv;
    let here = bench.opening(Value::Null);
    let left = rookery_host::Program::start(rookery_host::ProgramCommand {
        argv: argv.into_iter().map(Into::into).collect(),
        env: here.env,
        cwd: "/".into(),
        has_input: false,
    });
    let left = left.await.unwrap();
    let pid = loop {
        match session.read_file("left", 20).await {
            Ok(bytes) if bytes.ends_with(b"\n") => break String::from_utf8(bytes).unwrap(),
            _ => tokio::task::yield_now().await,
        }
    };
    session.detach().await.unwrap();
    tokio::time::timeout(Duration::from_secs(20), left.control().wait()).await.unwrap();
    let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z"), "{state}");
}

#[tokio::test]
async fn a_file_that_is_made_there_has_the_permissions_that_it_is_given() {
    let bench = Bench::new();
    let session = bench.ssh().await;
    let here = |name: &str| {
        std::fs::metadata(bench.path("root").join(name)).unwrap().permissions().mode() & 0o7777
    };
    for mode in [0o755, 0o600, 0o444, 0o4711] {
        let name = format!("in/new/{mode:o}");
        session.make_file(&name, b"#!/bin/sh\n".to_vec(), mode).await.unwrap();
        assert_eq!((here(&name), session.mode(&name).await.unwrap()), (mode, Some(mode)));
    }
    // What is replaced keeps its own.
    session.write_file("in/new/755", b"other".to_vec()).await.unwrap();
    assert_eq!(here("in/new/755"), 0o755);
    std::os::unix::fs::symlink(bench.path(""), bench.path("root/out")).unwrap();
    std::fs::write(bench.path("secret"), "s").unwrap();
    for path in ["out/secret", "../secret"] {
        assert!(matches!(session.mode(path).await, Err(RunnerError::Outside(_))), "{path}");
        let made = session.make_file(path, Vec::new(), 0o777).await;
        assert!(matches!(made, Err(RunnerError::Outside(_))), "{path}");
    }
    assert!(matches!(session.mode("none").await, Err(RunnerError::NotFound(_))));
}

#[tokio::test]
async fn files_there_stay_below_the_root() {
    let bench = Bench::new();
    std::fs::write(bench.path("secret"), "s").unwrap();
    std::os::unix::fs::symlink(bench.path("secret"), bench.path("root/link")).unwrap();
    std::os::unix::fs::symlink(bench.path(""), bench.path("root/out")).unwrap();
    std::os::unix::fs::symlink("in", bench.path("root/good")).unwrap();
    let session = bench.ssh().await;
    let odd = "in/new dir/it's a \"file\"";
    let bytes: Vec<u8> = (0..200_000_u32).map(|number| (number % 251) as u8).collect();
    session.write_file(odd, bytes.clone()).await.unwrap();
    assert_eq!(session.read_file(odd, 1 << 20).await.unwrap(), bytes);
    assert!(matches!(session.read_file(odd, 10).await, Err(RunnerError::TooLarge { .. })));
    session.write_file("good/through", b"x".to_vec()).await.unwrap();
    assert!(bench.path("root/in/through").exists());
    for path in ["link", "out/secret", "../secret", "/etc/passwd"] {
        let read = session.read_file(path, 10).await.unwrap_err().to_string();
        assert!(read.contains("outside workspace"), "{path}: {read}");
        let written = session.write_file(path, b"x".to_vec()).await.unwrap_err().to_string();
        assert!(written.contains("outside workspace"), "{path}: {written}");
    }
    assert!(session.write_file("out/fresh/file", b"x".to_vec()).await.is_err());
    assert!(!bench.path("fresh").exists());
    assert_eq!(std::fs::read_to_string(bench.path("secret")).unwrap(), "s");
    let names: Vec<String> =
        session.list(".").await.unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["good", "in", "link", "out"]);
    assert!(matches!(session.read_file("none", 1).await, Err(RunnerError::NotFound(_))));
    assert_eq!(session.find(".", 9).await.unwrap(), [odd, "in/through"]);
    session.remove_file(odd).await.unwrap();
    assert!(matches!(session.remove_file(odd).await, Err(RunnerError::NotFound(_))));
    let mut command = Command::new(["true"]);
    command.cwd = Some("out".into());
    assert!(matches!(session.exec(command).await, Err(RunnerError::Outside(_))));
}

#[tokio::test]
async fn a_root_that_is_not_there_and_a_client_that_is_not_are_reported() {
    let bench = Bench::new();
    let provider = find("ssh").unwrap();
    let opening = bench.opening(json!({"host": "far", "root": "/none/at/all"}));
    let error = provider.open(opening).await.err().unwrap().to_string();
    assert!(error.contains("config.root is not a directory"), "{error}");
    let opening =
        bench.opening(json!({"host": "far", "root": "/", "ssh_command": "no-such-client"}));
    let error = provider.open(opening).await.err().unwrap();
    assert!(matches!(error, RunnerError::Missing(_)), "{error}");
    let opening = bench.opening(json!({"host": "far", "root": "/", "ssh_command": "false"}));
    assert!(provider.open(opening).await.err().unwrap().to_string().contains("cannot connect"));
}

#[tokio::test]
async fn snapshots_are_archives_and_ports_are_forwards() {
    let bench = Bench::new();
    let session = bench.ssh().await;
    session.write_file("in/file", b"kept".to_vec()).await.unwrap();
    let taken = session.snapshot(Some("one")).await.unwrap().unwrap();
    let path = PathBuf::from(taken.metadata["path"].as_str().unwrap());
    assert!(path.starts_with(bench.path("data/runner-snapshots")));
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let listed = rookery_host::Script::new(["tar", "-tf", path.to_str().unwrap()]).run().await;
    assert!(String::from_utf8(listed.stdout).unwrap().contains("./in/file"));
    let port = session.expose(8080, Some("web")).await.unwrap();
    let local = port.local_port.unwrap();
    assert_eq!(port.url, Some(format!("http://127.0.0.1:{local}")));
    assert_eq!(session.ports().await.unwrap(), [port]);
    let rule = format!("-O forward -L 127.0.0.1:{local}:127.0.0.1:8080");
    assert!(bench.log().contains(&rule), "{}", bench.log());
    assert!(session.conceal(8080).await.unwrap());
    assert!(bench.log().contains("-O cancel"));
}

#[tokio::test]
async fn a_container_is_started_used_and_removed() {
    let bench = Bench::new();
    let session = bench.docker(json!({"image": "alpine:3", "ports": [3000]})).await;
    let name = format!("rookery-{}", session.info().id);
    let log = bench.log();
    let run = log.lines().find(|line| line.starts_with("run|")).unwrap();
    let root = bench.path("root");
    let expected = format!(
        "run|-d|--rm|--init|--name|{name}|--label|rookery.session={}|-v|{}:/workspace|-w|/workspace|-p|127.0.0.1::3000|alpine:3|sleep|infinity|",
        session.info().id,
        root.display()
    );
    assert_eq!(run, expected);
    let mut command = Command::new(["sh", "-c", "echo $X"]);
    command.env = vec![("X".into(), "hunter2".into())];
    command.cwd = Some("/workspace/in".into());
    assert_eq!(session.exec(command).await.unwrap().stdout, b"hunter2\n");
    let log = bench.log();
    let exec = log.lines().last().unwrap();
    assert!(exec.starts_with("exec|-i|-w|/workspace/in|-e|X|"), "{exec}");
    assert!(!exec.contains("hunter2"), "values are in no list of processes");
    session.write_file("/workspace/in/f", b"x".to_vec()).await.unwrap();
    assert!(root.join("in/f").exists());
    assert!(matches!(session.read_file("/etc/passwd", 9).await, Err(RunnerError::Outside(_))));
    let ports = session.ports().await.unwrap();
    assert_eq!((ports[0].port, ports[0].local_port), (3000, Some(49153)));
    assert!(session.expose(9, None).await.is_err());
    assert_eq!(session.snapshot(None).await.unwrap().unwrap().id, "sha256:abcdef");
    session.pause().await.unwrap();
    session.resume().await.unwrap();
    session.close(false).await.unwrap();
    let log = bench.log();
    let last: Vec<&str> = log.lines().rev().take(3).collect();
    let expected = [format!("rm|-f|{name}|"), format!("unpause|{name}|"), format!("pause|{name}|")];
    assert_eq!(last, expected);
}

#[tokio::test]
async fn a_cancelled_command_ends_alone_in_its_container() {
    let bench = Bench::new();
    let session = bench.docker(Value::Null).await;
    let (sender, mut output) = mpsc::channel(8);
    let mut command = Command::new(["sleep"]);
    command.output = Some(sender);
    let cancel = command.cancel.clone();
    let cancelling = async {
        output.recv().await.unwrap();
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(session.exec(command), cancelling);
    assert_eq!(end.unwrap().how, ExitCause::Cancelled);
    let log = bench.log();
    assert!(log.contains("kill -TERM -$p"), "{log}");
    assert!(!log.contains("rm|-f|"), "the container lives on");
}

#[tokio::test]
async fn a_daemon_that_does_not_answer_is_named() {
    let bench = Bench::new();
    let provider = find("docker").unwrap();
    let mut opening = bench.opening(Value::Null);
    opening.env.push(("NO_DAEMON".into(), "1".into()));
    let hint = provider.setup_hint(opening.env.clone(), Value::Null).await.unwrap();
    assert!(hint.contains("Cannot connect to the Docker daemon"), "{hint}");
    assert!(matches!(provider.open(opening).await.err().unwrap(), RunnerError::Missing(_)));
    let nothing = provider.setup_hint(Vec::new(), Value::Null).await;
    assert!(nothing.is_none_or(|hint| hint.contains("docker")));
}

#[tokio::test]
async fn files_of_another_machine_and_of_a_container_are_handed_out() {
    let bench = Bench::new();
    let target = bench.path("data/runner-artifacts");
    let docker = find("docker").unwrap().open(bench.opening(Value::Null)).await.unwrap();
    for session in [bench.ssh().await, docker] {
        session.write_file("in/a b", b"one".to_vec()).await.unwrap();
        let made = session.export("in/a b", false, &target).await.unwrap();
        let path = target.join(&made.id).join("a b");
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        let all = session.export("in", true, &target).await.unwrap();
        assert_eq!((&all.metadata["files"], &all.metadata["bytes"]), (&json!(1), &json!(3)));
        let outside = session.export("../x", true, &target).await.unwrap_err();
        assert!(matches!(outside, RunnerError::Outside(_)), "{outside}");
    }
}
