//! A program on a PTY of its own, which ends with this process, however that ends.

use std::{
    io,
    os::{
        fd::OwnedFd,
        unix::ffi::{OsStrExt as _, OsStringExt as _},
    },
    time::Duration,
};

use rookery_daemon::serve::private_keeper;
use rookery_keeper::{
    client::{self, Replies, Requests},
    protocol::{ExitStatus, MIN_PROTOCOL_VERSION, PROTOCOL_VERSION, Reply, Request, Size, Spawn},
};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::{io::unix::AsyncFd, sync::oneshot};

use crate::daemon_process::{self, Process};

/// How long the keeper may take to end what is left and itself.
const PATIENCE: Duration = Duration::from_secs(6);

/// The program runs under this number; there is no other.
const ID: u64 = 1;

/// A program that runs.
pub(super) struct Child {
    pub(super) master: AsyncFd<OwnedFd>,
    /// Returns how it ended; fails if that cannot be known.
    pub(super) exit: oneshot::Receiver<ExitStatus>,
    requests: Requests,
    keeper: Option<Process>,
}

impl Child {
    /// Starts a program in the current directory with this process's environment. Blocks for a moment.
    pub(super) fn start(command: Vec<String>, (rows, cols): (u16, u16)) -> io::Result<Child> {
        let exe = daemon_process::executable().map_err(|_| io::ErrorKind::NotFound)?;
        let launch = private_keeper(exe);
        let args: Vec<&str> = launch.args.iter().map(String::as_str).collect();
        rookery_keeper::start(&launch.exe, &args, &launch.socket)?;
        let (requests, mut replies) = client::connect(&launch.socket)?;
        let hello = Request::Hello { version: PROTOCOL_VERSION, min_version: MIN_PROTOCOL_VERSION };
        requests.send(1, &hello, &[])?;
        let keeper = match replies.next()?.reply {
            Reply::Hello { pid, .. } => Process::open(pid),
            other => return Err(refused(other)),
        };
        let spawn = Spawn {
            terminal_id: ID,
            argv: command.into_iter().map(String::into_bytes).collect(),
            env: environment(),
            cwd: std::env::current_dir()?.into_os_string().into_vec(),
            size: Size { rows, cols, xpixel: 0, ypixel: 0 },
            // Output is read here and nowhere else.
            ring_bytes: 64 << 10,
            meta: Vec::new(),
        };
        requests.send(2, &Request::Spawn(spawn), &[])?;
        let answer = replies.next()?;
        let (Reply::Spawned { .. }, Some(master)) = (&answer.reply, answer.fds.into_iter().next())
        else {
            return Err(refused(answer.reply));
        };
        rustix::io::ioctl_fionbio(&master, true)?;
        let exit = watch(replies)?;
        Ok(Child { master: register(master)?, exit, requests, keeper })
    }

    /// Tells the program another size.
    pub(super) fn resize(&self, (rows, cols): (u16, u16)) {
        let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
        // The program may be gone already.
        let _ = tcsetwinsize(&self.master, size);
    }

    /// Ends whatever is left of it.
    pub(super) async fn end(self) {
        let _ = self.requests.close();
        drop(self.master);
        if let Some(keeper) = self.keeper {
            keeper.ended_within(PATIENCE).await;
        }
    }
}

#[expect(
    unsafe_code,
    reason = "registering a descriptor with the reactor is a promise about its lifetime"
)]
fn register(master: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor is owned by what is registered, which gives out the same one as long as it lives.
    unsafe { AsyncFd::register(master) }.map_err(io::Error::from)
}

fn refused(reply: Reply) -> io::Error {
    match reply {
        Reply::Error(error) => io::Error::other(error.message),
        other => io::Error::other(format!("the keeper answered {other:?}")),
    }
}

fn environment() -> Vec<Vec<u8>> {
    let mut env: Vec<Vec<u8>> = std::env::vars_os()
        .filter(|(name, _)| name != "LINES" && name != "COLUMNS")
        .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
        .collect();
    if std::env::var_os("TERM").is_none_or(|term| term.is_empty()) {
        env.retain(|variable| !variable.starts_with(b"TERM="));
        env.push(b"TERM=xterm-256color".to_vec());
    }
    env
}

/// Waits for the end of the program on a thread of its own.
fn watch(mut replies: Replies) -> io::Result<oneshot::Receiver<ExitStatus>> {
    let (sender, receiver) = oneshot::channel();
    let wait = move || {
        while let Ok(incoming) = replies.next() {
            if let Reply::Exited { status, .. } = incoming.reply {
                let _ = sender.send(status);
                return;
            }
        }
    };
    std::thread::Builder::new().name("keeper".to_owned()).spawn(wait)?;
    Ok(receiver)
}
