//! `rookery down`: stops the daemon and waits until its process is gone.

use std::time::Duration;

use rookery_daemon::{homes::Homes, running::Running};
use rookery_native::wire::{GetStatus, Shutdown, Status};
use rookery_wire::{Client, ClientError};

use crate::{
    commands::done,
    daemon_process::{self, Process},
    failure::{Failure, Outcome},
    link::{self, call},
    output,
};

/// How long a daemon may take to end; with terminals it gives each some time first.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) async fn run(all: bool) -> Outcome {
    let homes = link::homes()?;
    let client = match link::try_connect_own(&homes).await {
        Ok(Some(client)) => client,
        // Terminals outlive a daemon that was killed; only another daemon knows how to end them.
        Ok(None) if all && has_keeper(&homes) => daemon_process::ensure(&homes).await?.0,
        Ok(None) => {
            output::note("no daemon is running");
            return done();
        }
        Err(failure) if all => return Err(failure),
        Err(failure) => {
            stop_by_signal(&homes, failure).await?;
            return done();
        }
    };
    stop(&homes, &client, Shutdown { all, restart: false }).await?;
    done()
}

fn has_keeper(homes: &Homes) -> bool {
    homes.keeper_socket().exists() || homes.former_keeper_socket().exists()
}

/// Stops a daemon that no client can reach any more. Its lock says which process it is.
pub(super) async fn stop_by_signal(homes: &Homes, failure: Failure) -> Outcome<()> {
    let Ok(Some(running)) = Running::find(homes) else { return Err(failure) };
    let Some(process) = Process::open(running.pid) else { return Ok(()) };
    if running.ask_to_stop().is_err() || process.ended_within(PATIENCE).await {
        return Ok(());
    }
    let pid = running.pid;
    Err(Failure::new(format!("the daemon is still running after {} seconds", PATIENCE.as_secs()))
        .hint(format!("end it with `kill -9 {pid}`; terminals keep running")))
}

/// Stops the daemon of this connection and waits for its end.
pub(super) async fn stop(homes: &Homes, client: &Client, how: Shutdown) -> Outcome<()> {
    let status: Status = call(client, GetStatus).await?;
    let keeper = status.keeper.filter(|_| how.all).map(|keeper| ("keeper", keeper.pid));
    // Opened before the request: afterwards the numbers could mean other processes.
    let processes: Vec<_> = std::iter::once(("daemon", status.pid))
        .chain(keeper)
        .filter_map(|(name, pid)| Some((name, pid, Process::open(pid)?)))
        .collect();
    let reply = client.send(how).await;
    if let Err(error @ (ClientError::Rpc(_) | ClientError::Json(_))) = reply {
        return Err(error.into());
    }
    for (name, pid, process) in processes {
        if !process.ended_within(PATIENCE).await {
            let waited = PATIENCE.as_secs();
            return Err(Failure::new(format!(
                "the {name} is still running after {waited} seconds"
            ))
            .hint(format!("end it with `kill {pid}`")));
        }
    }
    match link::try_connect_own(homes).await? {
        None => Ok(()),
        Some(_) => Err(Failure::new("another daemon has taken over the socket")
            .hint("check it with `rookery status`")),
    }
}
