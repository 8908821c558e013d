//! A real daemon: its own process, its own home, and nothing left of either afterwards.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::binary::rookery_binary;
use crate::caller::{Caller, PATIENCE};
use crate::patience::{eventually, wait_until};
use crate::processes::{Process, is_alive, kill, kill_all_of, processes_of};

/// A temporary home. Dropping it ends every process that belongs to it.
pub struct Home {
    dir: TempDir,
}

impl Home {
    /// A new, empty home with a short path: socket paths have at most 107 bytes.
    pub fn new() -> Home {
        let private = fs::Permissions::from_mode(0o700);
        let dir = tempfile::Builder::new().prefix("rk").permissions(private).tempdir_in("/tmp");
        Home { dir: dir.unwrap() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A path inside.
    pub fn join(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }

    /// A program in this home's environment, which has nothing of ours but `ROOKERY_HOME`.
    #[expect(clippy::disallowed_methods, reason = "the one place where tests start programs")]
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("ROOKERY_HOME", self.path());
        command.env("HOME", self.path()).env("SHELL", "/bin/sh").env("LANG", "C.UTF-8");
        // Programs of the test itself are found before those of the machine.
        let mut path = self.join("bin").into_os_string();
        if let Some(others) = std::env::var_os("PATH") {
            path.push(":");
            path.push(others);
        }
        command.env("PATH", path);
        command.stdin(Stdio::null());
        command
    }

    /// Runs `rookery` with these arguments to its end.
    #[track_caller]
    pub fn rookery(&self, args: &[&str]) -> Finished {
        self.run(rookery_binary(), args)
    }

    /// Runs a program to its end.
    #[track_caller]
    pub fn run(&self, program: &Path, args: &[&str]) -> Finished {
        let mut command = self.command(program);
        command.args(args);
        Finished::of(command)
    }

    /// Every process that belongs to this home.
    pub fn processes(&self) -> Vec<Process> {
        processes_of(self.path())
    }

    /// Panics unless every process of this home is gone, or about to be.
    #[track_caller]
    pub fn assert_no_processes_left(&self) {
        let until = Instant::now() + Duration::from_secs(5);
        let left = eventually("the processes are counted", PATIENCE, || {
            let left = self.processes();
            (left.is_empty() || Instant::now() > until).then_some(left)
        });
        assert_eq!(left, [], "processes are left behind");
    }
}

impl Default for Home {
    fn default() -> Self {
        Home::new()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        kill_all_of(self.path());
    }
}

/// A program that ran to its end.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl Finished {
    /// Runs a command to its end, which must come in time.
    #[track_caller]
    pub fn of(command: Command) -> Finished {
        Finished::within(command, PATIENCE)
    }

    /// The same for one that may take this long.
    #[track_caller]
    pub fn within(mut command: Command, limit: Duration) -> Finished {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = read_in_background(child.stdout.take().unwrap());
        let stderr = read_in_background(child.stderr.take().unwrap());
        let pid = child.id();
        let status = eventually(&format!("{command:?} ends"), limit, || child.try_wait().unwrap());
        // A process that inherited a pipe may hold it open for longer than the program lived.
        let text = |read: mpsc::Receiver<Vec<u8>>, name| match read.recv_timeout(PATIENCE) {
            Ok(bytes) => String::from_utf8(bytes).unwrap(),
            Err(_) => panic!("{name} of process {pid} is still open although it has ended"),
        };
        Finished { status, stdout: text(stdout, "stdout"), stderr: text(stderr, "stderr") }
    }

    /// Its stdout, if it succeeded.
    #[track_caller]
    pub fn success(self) -> String {
        assert!(self.status.success(), "{self:?}");
        self.stdout
    }

    /// Its stdout as JSON, if it succeeded.
    #[track_caller]
    pub fn json(self) -> Value {
        let stdout = self.success();
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
    }

    /// Its stderr, if it failed with this code.
    #[track_caller]
    pub fn failure(self, code: i32) -> String {
        assert_eq!(self.status.code(), Some(code), "{self:?}");
        self.stderr
    }
}

fn read_in_background(mut pipe: impl std::io::Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

/// A daemon in the foreground of a temporary home. Dropping it ends it and everything below.
pub struct TestDaemon {
    home: Home,
    program: PathBuf,
    running: Option<Running>,
}

struct Running {
    child: Child,
    lines: mpsc::Receiver<String>,
    ready: Option<Value>,
}

impl TestDaemon {
    /// A daemon in a new home, ready.
    #[track_caller]
    pub fn start() -> TestDaemon {
        TestDaemon::start_in(Home::new())
    }

    /// A daemon in a home that was prepared, ready.
    #[track_caller]
    pub fn start_in(home: Home) -> TestDaemon {
        TestDaemon::start_by(home, rookery_binary().to_owned())
    }

    /// The same, started by a program that becomes the daemon.
    #[track_caller]
    pub fn start_by(home: Home, program: PathBuf) -> TestDaemon {
        let mut daemon = TestDaemon { home, program, running: None };
        daemon.restart();
        daemon
    }

    /// Starts a daemon on the same home once more and waits until it is ready.
    #[track_caller]
    pub fn restart(&mut self) {
        self.launch();
        self.wait_ready();
    }

    /// Starts a daemon on the same home once more, without waiting for it.
    #[track_caller]
    pub fn launch(&mut self) {
        assert!(self.running.is_none(), "the daemon still runs");
        let log = File::options().create(true).append(true).open(self.log()).unwrap();
        let mut command = self.home.command(&self.program);
        command.arg("daemon").stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        self.running = Some(Running { child, lines, ready: None });
    }

    /// Waits for the `ready` line of a daemon that was launched.
    #[track_caller]
    pub fn wait_ready(&mut self) {
        let log = self.log();
        let running = self.running.as_mut().expect("a daemon was launched");
        let line = running.lines.recv_timeout(PATIENCE).unwrap_or_else(|error| {
            panic!("the daemon did not become ready ({error}): {}", tail(&log))
        });
        let json = line.strip_prefix("ready ").unwrap_or_else(|| panic!("not ready: {line}"));
        running.ready = Some(serde_json::from_str(json).unwrap());
    }

    /// What the daemon said with its `ready` line.
    pub fn ready(&self) -> &Value {
        let running = self.running.as_ref().expect("the daemon runs");
        running.ready.as_ref().expect("the daemon is ready")
    }

    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Its own socket.
    pub fn socket(&self) -> PathBuf {
        self.home.join("run/rookery/rookery.sock")
    }

    pub fn ptywright_socket(&self) -> PathBuf {
        self.home.join("run/ptywright/ptywright.sock")
    }

    /// What its processes wrote to stderr.
    pub fn log(&self) -> PathBuf {
        self.home.join("daemon.err")
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.running.as_ref().expect("the daemon runs").child.id()
    }

    /// The process id of its keeper.
    #[track_caller]
    pub fn keeper_pid(&self) -> u32 {
        let pid = self.client().status()["keeper"]["pid"].as_u64();
        u32::try_from(pid.expect("there is a keeper")).unwrap()
    }

    /// A new connection to its own socket.
    #[track_caller]
    pub fn client(&self) -> Caller {
        Caller::connect(&self.socket()).unwrap()
    }

    /// Kills the daemon with SIGKILL and waits for its end.
    pub fn kill9(&mut self) {
        let mut running = self.running.take().expect("the daemon runs");
        running.child.kill().unwrap();
        running.child.wait().unwrap();
    }

    /// Waits until the daemon has ended by itself.
    #[track_caller]
    pub fn wait_ended(&mut self) -> ExitStatus {
        let mut running = self.running.take().expect("the daemon runs");
        eventually("the daemon ends", PATIENCE, || running.child.try_wait().unwrap())
    }

    /// Whether the daemon has ended.
    pub fn has_ended(&mut self) -> bool {
        let running = self.running.as_mut().expect("the daemon runs");
        running.child.try_wait().unwrap().is_some()
    }

    /// Kills a process with SIGKILL and waits for its end.
    #[track_caller]
    pub fn kill_process(&self, pid: u32) {
        kill(pid);
        wait_until("a killed process is gone", PATIENCE, || !is_alive(pid));
    }

    /// Runs `rookery` with these arguments to its end, in the daemon's home.
    #[track_caller]
    pub fn rookery(&self, args: &[&str]) -> Finished {
        self.home.rookery(args)
    }
}

impl Drop for TestDaemon {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("the daemon's log ends with:\n{}", tail(&self.log()));
        }
        if let Some(mut running) = self.running.take() {
            let _ = running.child.kill();
            let _ = running.child.wait();
        }
        // The home ends the rest.
    }
}

/// The last lines of a log.
fn tail(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
