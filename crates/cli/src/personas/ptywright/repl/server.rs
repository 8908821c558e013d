//! The server a console talks to: one that listens, one that is started to stay, or a command of its own.

use std::{
    io,
    os::{fd::OwnedFd, unix::process::CommandExt as _},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use rookery_daemon::serve::{FramingKind, PtywrightHome};
use rookery_wire::{Client, transport::unix};
use tokio::{
    net::unix::pipe,
    time::{Instant, sleep},
};

use crate::{
    daemon_process::{self, Process},
    failure::{Failure, Outcome},
};

/// How long a server may take until it listens, and to end.
const PATIENCE: Duration = Duration::from_secs(10);
const PROBE_EVERY: Duration = Duration::from_millis(20);

/// A connection, and the command at its other side if it is ours.
pub(super) struct Server {
    pub(super) client: Client,
    child: Option<Child>,
}

impl Server {
    /// The one that listens at this path.
    pub(super) async fn at(path: &Path, framing: FramingKind) -> Outcome<Server> {
        let client = connect(path, framing).await;
        let client = client.map_err(|error| Failure::new(format!("io error: {error}")))?;
        Ok(Server { client, child: None })
    }

    /// The one at the usual place; if there is none it is started, and stays.
    pub(super) async fn usual(home: &PtywrightHome, framing: FramingKind) -> Outcome<Server> {
        let path = home.socket();
        let is_absent = match connect(&path, framing).await {
            Ok(client) => return Ok(Server { client, child: None }),
            Err(error) => {
                matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
            }
        };
        if is_absent {
            let mut server = start_in_background(framing)?;
            let until = Instant::now() + PATIENCE;
            while Instant::now() < until && matches!(server.try_wait(), Ok(None)) {
                if let Ok(client) = connect(&path, framing).await {
                    return Ok(Server { client, child: None });
                }
                sleep(PROBE_EVERY).await;
            }
        }
        // Another process may have started it at the same time; else this reports what is wrong.
        Server::at(&path, framing).await
    }

    /// A command that serves on its stdin and stdout.
    #[expect(clippy::disallowed_methods, reason = "the server that the user asked for")]
    pub(super) fn start(command: &[String], framing: FramingKind) -> Outcome<Server> {
        let (program, args) = command.split_first().ok_or_else(|| Failure::new("no command"))?;
        let failed = |error| Failure::new(format!("io error: cannot start {program}: {error}"));
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let pipes = pipes(&mut child).map_err(failed)?;
        Ok(Server { client: Client::over(pipes, framing.decoder()), child: Some(child) })
    }

    /// Disconnects. A command that we started has no client left, and is waited for.
    pub(super) async fn end(self) {
        drop(self.client);
        let Some(mut child) = self.child else { return };
        if let Some(process) = Process::open(child.id())
            && !process.ended_within(PATIENCE).await
        {
            let _ = child.kill();
        }
        let _ = child.wait();
    }
}

fn pipes(child: &mut Child) -> io::Result<tokio::io::Join<pipe::Receiver, pipe::Sender>> {
    let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let input = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let output = pipe::Receiver::from_owned_fd(OwnedFd::from(output))?;
    Ok(tokio::io::join(output, pipe::Sender::from_owned_fd(OwnedFd::from(input))?))
}

async fn connect(path: &Path, framing: FramingKind) -> io::Result<Client> {
    Ok(Client::over(unix::connect(path).await?, framing.decoder()))
}

/// `serve` without a word, in a session of its own.
#[expect(clippy::disallowed_methods, reason = "the one place where a server is started to stay")]
fn start_in_background(framing: FramingKind) -> Outcome<Child> {
    let framing = match framing {
        FramingKind::Ndjson => "ndjson",
        FramingKind::Lsp => "lsp",
    };
    let mut command = Command::new(daemon_process::executable()?);
    command.arg0("rookery").args(["serve", "--background", "--framing", framing]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(Failure::doing("cannot start a server"))
}
