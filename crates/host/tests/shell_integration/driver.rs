//! A shell in a terminal and a home of its own, driven by typing and read by what it writes.

use std::ffi::OsString;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rookery_host::shell_integration::{install, prepare};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tempfile::TempDir;

/// How long a shell may take to do anything at all.
const PATIENCE: Duration = Duration::from_secs(30);

/// A home for shells, with the scripts installed at a place whose name needs quoting.
pub(crate) struct Home {
    dir: TempDir,
    env: Vec<(String, String)>,
    /// Where the scripts are.
    pub(crate) resources: PathBuf,
}

impl Home {
    /// A home with nothing of interest.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let resources = install(&dir.path().join("re$ources of 'ours'")).unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        let home = dir.path().join("home").to_str().unwrap().to_owned();
        let path = std::env::var("PATH").unwrap();
        let env = [
            ("LOG", format!("{home}/log")),
            ("HOME", home),
            ("PATH", path),
            ("LANG", "C.UTF-8".to_owned()),
            ("TERM", "xterm-256color".to_owned()),
            ("ROOST_TAB_ID", "7".to_owned()),
        ];
        let env = env.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        // Without any file, zsh greets a new user with questions, and fish reads all manuals.
        let home = Home { dir, env, resources }.with(".zshrc", "");
        home.with(".local/share/fish/generated_completions/none", "")
    }

    /// The same with a file in the home.
    pub(crate) fn with(self, name: &str, text: &str) -> Self {
        let file = self.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
        self
    }

    /// The same with a variable in the environment.
    pub(crate) fn env(mut self, key: &str, value: &str) -> Self {
        self.env.retain(|(name, _)| name != key);
        self.env.push((key.to_owned(), value.to_owned()));
        self
    }

    /// The same with an `ssh` that logs its arguments.
    pub(crate) fn with_ssh(self) -> Self {
        let text = "#!/bin/sh\nfor arg; do echo \"ssh:$arg\" >>\"$LOG\"; done\n";
        let home = self.with("bin/ssh", text);
        let program = home.path().join("bin/ssh");
        fs::set_permissions(program, fs::Permissions::from_mode(0o700)).unwrap();
        let path = format!("{}/bin:{}", home.path().display(), std::env::var("PATH").unwrap());
        home.env("PATH", &path)
    }

    /// The same with a session to report to, and agents in the search path.
    ///
    /// The reporter writes down what it was sent once the one before it is gone, as the real one does.
    pub(crate) fn with_agents(self) -> Self {
        let reporter = "#!/bin/sh\ncase $1 in\n--after) after=$2; shift 2;;\n\
            --after=*) after=${1#--after=}; shift;;\nesac\n\
            while [ -n \"$after\" ] && kill -0 \"$after\" 2>/dev/null &&\n\
            ! grep -q ') Z ' \"/proc/$after/stat\"; do :; done 2>/dev/null\n\
            printf '%s|' \"$@\" >>\"$LOG\"; echo >>\"$LOG\"\n";
        let programs =
            ["ours/idx0-notify", "bin/claude", "bin/cursor-agent", "bin/rookery", "bin/roo"];
        let mut home = self;
        for name in programs {
            let is_reporter = name.ends_with("notify");
            home = home
                .with(name, if is_reporter { reporter } else { "#!/bin/sh\nexit \"${1-0}\"\n" });
            let program = home.path().join(name);
            fs::set_permissions(program, fs::Permissions::from_mode(0o700)).unwrap();
        }
        let at = home.path().display().to_string();
        let path = format!("{at}/bin:{}", std::env::var("PATH").unwrap());
        home.env("PATH", &path)
            .env("IDX0_SHELL_INTEGRATION", &format!("{at}/ours"))
            .env("IDX0_SESSION_ID", "11111111-1111-1111-1111-111111111111")
            .env("IDX0_IPC_SOCKET", "/nowhere")
    }

    /// Waits until this number of lines was logged, and discards them.
    #[track_caller]
    pub(crate) fn logged(&self, count: usize) -> Vec<String> {
        let started = std::time::Instant::now();
        let file = self.path().join("log");
        loop {
            let text = fs::read_to_string(&file).unwrap_or_default();
            if text.matches('\n').count() >= count {
                return self.log();
            }
            assert!(started.elapsed() < PATIENCE, "waited in vain for {count} lines: {text:?}");
            std::thread::yield_now();
        }
    }

    /// The home itself.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// The lines that were logged, and forgets them.
    pub(crate) fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path().join("log")).unwrap_or_default();
        let _ = fs::remove_file(self.path().join("log"));
        text.lines().map(str::to_owned).collect()
    }

    /// Starts a shell as a terminal of ours does.
    pub(crate) fn start(&self, argv: &[&str]) -> Shell {
        let (argv, set) = self.prepared(argv);
        Shell::spawn(self, &argv, set)
    }

    /// Starts a shell as anyone else does.
    pub(crate) fn start_plain(&self, argv: &[&str]) -> Shell {
        let argv: Vec<_> = argv.iter().map(|&arg| arg.to_owned()).collect();
        Shell::spawn(self, &argv, Vec::new())
    }

    /// What is to be run and set for a start.
    pub(crate) fn prepared(&self, argv: &[&str]) -> (Vec<String>, Vec<(&'static str, OsString)>) {
        let look = |key: &str| {
            self.env.iter().find(|(name, _)| name == key).map(|(_, value)| OsString::from(value))
        };
        let argv = argv.iter().map(|&arg| arg.to_owned()).collect();
        let prepared = prepare(argv, look, &self.resources);
        (prepared.argv, prepared.set)
    }
}

/// A shell that runs.
pub(crate) struct Shell {
    child: Child,
    master: fs::File,
    reader: Option<JoinHandle<()>>,
    seen: Arc<(Mutex<Vec<u8>>, Condvar)>,
    /// How much of what it wrote was waited for.
    read: usize,
}

impl Shell {
    #[expect(clippy::disallowed_methods, reason = "the one place where these tests start shells")]
    pub(crate) fn spawn(home: &Home, argv: &[String], set: Vec<(&'static str, OsString)>) -> Self {
        assert!(
            is_installed(&argv[0]),
            "{0} is not on this machine; `cargo xtask test` installs it if it may (Debian package {0})",
            argv[0]
        );
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let far = ioctl_tiocgptpeer(&master, flags).unwrap();
        let size = Winsize { ws_row: 24, ws_col: 500, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait"]).args(argv).current_dir(home.path()).env_clear();
        command.envs(home.env.iter().map(|(key, value)| (key, value))).envs(set);
        command.stdin(Stdio::from(far.try_clone().unwrap()));
        command.stdout(Stdio::from(far.try_clone().unwrap())).stderr(Stdio::from(far));
        let child = command.spawn().unwrap();
        drop(command);
        let master = fs::File::from(master);
        let seen = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let (mut input, shared) = (master.try_clone().unwrap(), Arc::clone(&seen));
        let reader = std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = input.read(&mut chunk) {
                shared.0.lock().unwrap().extend_from_slice(&chunk[..count]);
                shared.1.notify_all();
            }
        });
        Shell { child, master, reader: Some(reader), seen, read: 0 }
    }

    /// Types.
    pub(crate) fn send(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).unwrap();
    }

    /// Waits until the shell has written a text, and returns all since the last wait, that included.
    #[track_caller]
    pub(crate) fn until(&mut self, text: &str) -> String {
        let (seen, changed) = &*self.seen;
        let end = |seen: &Vec<u8>| {
            let rest = &seen[self.read..];
            let at = rest.windows(text.len()).position(|part| part == text.as_bytes());
            at.map(|at| self.read + at + text.len())
        };
        let guard = seen.lock().unwrap();
        let (seen, late) =
            changed.wait_timeout_while(guard, PATIENCE, |seen| end(seen).is_none()).unwrap();
        let new = String::from_utf8_lossy(&seen[self.read..]).into_owned();
        let found = end(&seen);
        if late.timed_out() {
            // The reader goes on, so it must not find a poisoned lock.
            drop(seen);
            panic!("waited in vain for {text:?}; the shell wrote {new:?}");
        }
        let end = found.unwrap();
        let new = String::from_utf8_lossy(&seen[self.read..end]).into_owned();
        self.read = end;
        new
    }

    /// Waits for a prompt with its marks, and returns all since the last wait.
    #[track_caller]
    pub(crate) fn prompt(&mut self) -> String {
        self.until("\x1b]133;B\x07")
    }

    /// Types a line, waits for the next prompt with its marks, and returns all in between.
    #[track_caller]
    pub(crate) fn run(&mut self, line: &str) -> String {
        self.send(&format!("{line}\r"));
        self.prompt()
    }

    /// Types a line, and returns all until it is done, in a shell whose prompts have no marks.
    #[track_caller]
    pub(crate) fn run_unmarked(&mut self, line: &str) -> String {
        self.send(&format!("{line}\recho 'it is '\"done\"\r"));
        self.until("it is done")
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        rookery_host::kill_tree(self.child.id());
        rookery_host::kill_session(self.child.id());
        let _ = self.child.kill();
        let _ = self.child.wait();
        // With the last process gone the far side is closed, which ends the reader.
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

/// The bodies of the marks, directories and titles in what a shell wrote.
pub(crate) fn reports(text: &str) -> Vec<String> {
    let parts = text.split("\x1b]").skip(1).filter_map(|part| part.split('\x07').next());
    let is_ours = |part: &&str| ["133;", "7;", "0;"].iter().any(|kind| part.starts_with(kind));
    parts.filter(is_ours).map(str::to_owned).collect()
}

/// The marks alone, without their number.
pub(crate) fn marks(text: &str) -> Vec<String> {
    let all = reports(text);
    all.iter().filter_map(|part| part.strip_prefix("133;")).map(str::to_owned).collect()
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).any(|dir| Path::new(&dir).join(program).is_file())
}
