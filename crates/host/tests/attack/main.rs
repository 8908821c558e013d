//! Attacks on the sandbox for commands that only read: each call is made for real, once outside,
//! where it works, and once inside, where it must not. As this user, and as another if we are root.

mod calls;
mod reads;
#[path = "../sandboxed/mod.rs"]
#[expect(dead_code, reason = "shared with tests that look at files")]
mod sandboxed;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Output, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};
use rookery_host::sandbox::{Sandbox, support, wrap};

/// The first argument of this program when it is to make one call and say what came of it.
const PROBE: &str = "__probe";
/// The first argument of this program when it only waits, to be attacked.
const VICTIM: &str = "__victim";
/// The user id of attacks by a user that is not root.
const UNPRIVILEGED: u32 = 65_534;
/// How a probe ends that was refused.
const REFUSED: i32 = 3;

#[expect(clippy::print_stderr, reason = "a test says why it has little to do")]
fn main() -> ExitCode {
    if let Some(code) = sandboxed::second_life() {
        return code;
    }
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some(PROBE) => return calls::probe(&args[2..]),
        Some(VICTIM) => {
            // Until the other end is closed.
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let mut trials = Vec::new();
    match support().missing() {
        Some(missing) => eprintln!("skipped, nothing to test here: {missing}"),
        None => {
            trials.extend(calls::trials());
            trials.extend(reads::trials());
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trial(name: String, run: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    Trial::test(format!("attack::{name}"), run)
}

/// Who attacks: root and another user, or only the user that runs the tests.
fn attackers() -> Vec<Option<u32>> {
    let is_root = rustix::process::geteuid().is_root();
    if is_root { vec![None, Some(UNPRIVILEGED)] } else { vec![None] }
}

/// A place that every attacker can reach, with a copy of this program.
struct Ground {
    dir: tempfile::TempDir,
    user: Option<u32>,
}

impl Ground {
    fn new(user: Option<u32>) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let ground = Self { dir, user };
        fs::set_permissions(ground.path(), fs::Permissions::from_mode(0o755)).expect("its mode");
        let exe = std::env::current_exe().expect("the test has a path");
        if user.is_some() {
            fs::copy(exe, ground.path().join("exe")).expect("a copy");
        } else {
            std::os::unix::fs::symlink(exe, ground.path().join("exe")).expect("a link");
        }
        ground.dir("work");
        ground
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    fn own(&self, path: &Path) {
        if let Some(user) = self.user {
            std::os::unix::fs::chown(path, Some(user), Some(user)).expect("its owner");
        }
    }

    fn dir(&self, name: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(&path).expect("a directory");
        self.own(&path);
        path
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.at(name);
        if let Some(dir) = Path::new(name).parent().and_then(Path::to_str) {
            self.dir(dir);
        }
        fs::write(&path, text).expect("a file");
        self.own(&path);
        path
    }

    #[expect(clippy::disallowed_methods, reason = "the test starts itself")]
    fn command(&self, argv: &[String]) -> Command {
        let mut command = Command::new(&argv[0]);
        command.args(&argv[1..]).current_dir(self.at("work"));
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    fn exe(&self) -> PathBuf {
        fs::canonicalize(self.at("exe")).expect("it is there")
    }

    /// Runs a command, inside of a sandbox or as it is.
    fn run(&self, sandbox: Option<&Sandbox>, argv: &[&str]) -> Output {
        let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
        let argv = match sandbox {
            Some(sandbox) => wrap(&self.exe(), sandbox, &argv),
            None => argv,
        };
        self.command(&argv).output().expect("it starts")
    }

    /// A process of the same user that does nothing.
    fn victim(&self) -> Victim {
        let argv = [self.exe().display().to_string(), VICTIM.to_owned()];
        let mut command = self.command(&argv);
        command.process_group(0).stdin(Stdio::piped()).env("VICTIM_SECRET", "hunter2");
        Victim(command.spawn().expect("it starts"))
    }
}

struct Victim(Child);

impl Victim {
    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
