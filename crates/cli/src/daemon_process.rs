//! The daemon as a background process: starting it, and waiting for processes to end.

use std::{
    fs,
    os::{fd::OwnedFd, unix::process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use rookery_daemon::homes::Homes;
use rookery_native::wire::GetStatus;
use rookery_trust::TrustedDir;
use rookery_wire::Client;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};
use tokio::time::{Instant, sleep, timeout_at};

use crate::{
    failure::{Failure, Outcome},
    link,
};

/// How long a new daemon may take until its socket answers.
const START_PATIENCE: Duration = Duration::from_secs(10);
/// How often the socket of a new daemon is tried.
const PROBE_EVERY: Duration = Duration::from_millis(20);
/// Its name in the state directory.
const LOG: &str = "daemon.log";
/// A log that grew beyond this is put aside when a daemon starts.
const LARGEST_LOG: u64 = 8 << 20;
/// What a daemon sets in its terminals. It must not be taken for settings of a user who starts a
/// daemon from inside one.
const SET_IN_TERMINALS: &[&str] = &[
    "ROOKERY_SOCKET",
    "ROOKERY_TERMINAL_ID",
    "ROOST_SOCKET",
    "ROOST_TAB_ID",
    "IDX0_SESSION_ID",
    "IDX0_PROJECT_ID",
    "IDX0_SHELL_INTEGRATION",
    "IDX0_IPC_SOCKET",
];

/// A connection to the daemon, for commands that make something: starts one if none runs.
pub(crate) async fn connect_or_start() -> Outcome<Client> {
    let homes = link::homes()?;
    match link::try_connect(&homes).await? {
        Some(client) => Ok(client),
        None => Ok(ensure(&homes).await?.0),
    }
}

/// A connection to the daemon; starts one if none runs, and says whether it did.
pub(crate) async fn ensure(homes: &Homes) -> Outcome<(Client, bool)> {
    ensure_without(homes, None).await
}

/// The same; a daemon that is started does not get this variable.
pub(crate) async fn ensure_without(homes: &Homes, secret: Option<&str>) -> Outcome<(Client, bool)> {
    // One that is just dying may still accept; only an answer counts.
    if let Some(client) = link::try_connect_own(homes).await?
        && is_ready(&client, Instant::now() + START_PATIENCE).await
    {
        return Ok((client, false));
    }
    let log = homes.log_file();
    let file = open_log(&homes.state_dir()).map_err(|error| {
        Failure::new(format!("cannot start a daemon: {error}"))
            .hint("fix it, or set ROOKERY_HOME to a directory that you own")
    })?;
    let mut child = start(file, secret)?;
    let until = Instant::now() + START_PATIENCE;
    while Instant::now() < until {
        if let Some(client) = link::try_connect_own(homes).await?
            && is_ready(&client, until).await
        {
            return Ok((client, true));
        }
        if let Ok(Some(status)) = child.try_wait() {
            // Another process may have started one at the same time; then ours has exited.
            if let Some(client) = link::try_connect_own(homes).await? {
                return Ok((client, false));
            }
            return Err(Failure::new(format!("the daemon could not start: {}", last_words(&log)))
                .hint(format!("it exited with {status}; see {}", log.display())));
        }
        sleep(PROBE_EVERY).await;
    }
    Err(Failure::new("the daemon did not become ready in time")
        .hint(format!("see its log in {}", log.display())))
}

/// Whether the daemon answers; its socket is there before it has found all terminals.
async fn is_ready(client: &Client, until: Instant) -> bool {
    let status = client.send(GetStatus);
    timeout_at(until, status).await.is_ok_and(|reply| reply.is_ok())
}

/// The last line of the log, which says why a daemon ended.
fn last_words(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    last.map_or_else(|| "it printed no error".to_owned(), crate::output::printable)
}

/// This executable, also when another was put in its place while it ran.
pub(crate) fn executable() -> Outcome<PathBuf> {
    let path = std::env::current_exe().map_err(Failure::doing("cannot find this executable"))?;
    let replaced = path.to_str().and_then(|path| path.strip_suffix(" (deleted)"));
    Ok(match replaced {
        Some(original) if Path::new(original).exists() => original.into(),
        _ => path,
    })
}

#[expect(clippy::disallowed_methods, reason = "the one place where a daemon is started")]
fn start(log: fs::File, secret: Option<&str>) -> Outcome<Child> {
    let second = log.try_clone().map_err(Failure::doing("cannot log"))?;
    let installed = executable()?;
    // Removed and not replaced: what runs here is all there is.
    let program =
        if installed.exists() { installed } else { rookery_host::own_program(&installed) };
    let mut command = Command::new(program);
    // The file may have the name of a persona.
    command.arg0("rookery").args(["daemon", "--background"]).current_dir("/");
    if let Ok(here) = std::env::current_dir() {
        command.arg("--started-in").arg(here);
    }
    command.stdin(Stdio::null()).stdout(log).stderr(second);
    if std::env::var_os("ROOKERY_TERMINAL_ID").is_some() {
        for name in SET_IN_TERMINALS {
            command.env_remove(name);
        }
    }
    if let Some(name) = secret.filter(|name| !name.is_empty()) {
        command.env_remove(name);
    }
    command.spawn().map_err(Failure::doing("cannot start the daemon"))
}

/// The log in the state directory, which is made and closed to others first.
fn open_log(state: &Path) -> std::io::Result<fs::File> {
    let dir = TrustedDir::private(state)?;
    let file = dir.append(LOG)?;
    if file.metadata()?.len() <= LARGEST_LOG {
        return Ok(file);
    }
    dir.rename(LOG, &format!("{LOG}.old"))?;
    dir.append(LOG)
}

/// A process whose end can be waited for. The number alone could come to mean another process.
pub(crate) struct Process(OwnedFd);

impl Process {
    /// None if it is gone already.
    pub(crate) fn open(pid: u32) -> Option<Self> {
        let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
        pidfd_open(pid, PidfdFlags::empty()).ok().map(Self)
    }

    /// Waits until it has ended; false if that takes too long.
    pub(crate) async fn ended_within(self, patience: Duration) -> bool {
        let wait = move || {
            let limit = Timespec { tv_sec: patience.as_secs().cast_signed(), tv_nsec: 0 };
            let mut polled = [PollFd::new(&self.0, PollFlags::IN)];
            loop {
                match poll(&mut polled, Some(&limit)) {
                    Err(rustix::io::Errno::INTR) => {}
                    other => return other.is_ok_and(|ready| ready > 0),
                }
            }
        };
        tokio::task::spawn_blocking(wait).await.unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "a process to wait for")]
    fn process(program: &str) -> Child {
        Command::new(program).stdin(Stdio::piped()).spawn().unwrap()
    }

    #[tokio::test]
    async fn the_end_of_a_process_is_seen() {
        let mut child = process("cat");
        let open = || Process::open(child.id()).unwrap();
        assert!(!open().ended_within(Duration::ZERO).await);
        let waiting = open();
        drop(child.stdin.take());
        assert!(waiting.ended_within(Duration::from_secs(60)).await);
        child.wait().unwrap();
        assert!(Process::open(child.id()).is_none());
    }

    #[test]
    fn the_log_is_private_and_does_not_grow_forever() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("state");
        let log = state.join(LOG);
        open_log(&state).unwrap();
        assert_eq!(fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
        fs::OpenOptions::new().write(true).open(&log).unwrap().set_len(LARGEST_LOG + 1).unwrap();
        open_log(&state).unwrap();
        assert_eq!(fs::metadata(&log).unwrap().len(), 0);
        assert!(log.with_extension("log.old").exists());
    }

    #[test]
    fn attack_a_log_that_is_a_link_is_not_written_through() {
        let home = tempfile::tempdir().unwrap();
        let victim = home.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let state = home.path().join("state");
        fs::create_dir(&state).unwrap();
        std::os::unix::fs::symlink(&victim, state.join(LOG)).unwrap();
        let error = open_log(&state).unwrap_err().to_string();
        assert!(error.contains("is a link"), "{error}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    }

    #[test]
    fn last_words_are_the_last_line() {
        let home = tempfile::tempdir().unwrap();
        let log = home.path().join("log");
        assert_eq!(last_words(&log), "it printed no error");
        fs::write(&log, "one\n\x1b[31mtwo\n\n").unwrap();
        assert_eq!(last_words(&log), "[31mtwo");
    }
}
