//! The connection to the daemon: where it is, and calls with failures that people can read.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use rookery_daemon::{
    config::Config,
    homes::Homes,
    running::{self, Record, Running},
};
use rookery_dialects::Dialect;
use rookery_native::code;
use rookery_wire::{Call, Client, ClientError};
use tokio::time::{Instant, sleep};

use crate::failure::{Failure, Outcome};

/// How long a daemon may take to replace another.
const RECONNECT_PATIENCE: Duration = Duration::from_secs(30);
/// How long a daemon whose sockets are gone may take to make them again.
const LISTEN_PATIENCE: Duration = Duration::from_secs(5);
/// How long a process that took the lock may take to write its pid into it.
const NAME_PATIENCE: Duration = Duration::from_secs(1);
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The homes of this user.
pub(crate) fn homes() -> Outcome<Homes> {
    Homes::from_env().map_err(|error| {
        Failure::new(format!("cannot find a directory for sockets and state: {error:#}"))
            .hint("set ROOKERY_HOME to a directory that you own")
    })
}

/// The socket of the daemon of these homes.
pub(crate) fn own_socket(homes: &Homes) -> PathBuf {
    expected_socket(homes, OWN).unwrap_or_else(|| homes.rookery_socket())
}

/// The name of our own endpoint.
const OWN: &str = "rookery";

/// Where an endpoint of the daemon of these homes is expected; none if it is turned off.
fn expected_socket(homes: &Homes, name: &str) -> Option<PathBuf> {
    let (config, _) = Config::load(homes);
    rookery_daemon::socket(Dialect::at(name)?, homes, &config)
}

/// Where an endpoint of the daemon is: where it is expected, or else where the daemon says that it listens. The login
/// of the process that started it may have had another runtime directory. None if it is turned off.
pub(crate) fn endpoint_socket(homes: &Homes, name: &str) -> Option<PathBuf> {
    expected_socket(homes, name).map(|expected| living(homes, name, expected))
}

/// The socket itself if it is there, or another one of the daemon that had it.
pub(crate) fn living(homes: &Homes, name: &str, wanted: PathBuf) -> PathBuf {
    if wanted.exists() {
        return wanted;
    }
    let record = Record::read(homes);
    let other = record.sockets(name).iter().find(|path| path.exists());
    other.cloned().unwrap_or(wanted)
}

/// The socket of the terminal's variable, or another one of its daemon if it was removed with a login session.
pub(crate) fn moved(homes: &Homes, name: &str, named: PathBuf) -> PathBuf {
    if !named.exists() && Record::read(homes).knows(name, &named) {
        return living(homes, name, named);
    }
    named
}

/// The socket commands talk to, if it is not that of these homes: inside one of its terminals that is the terminal's
/// own daemon, unless another home was chosen explicitly.
fn socket_from_env() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    match (variable("ROOKERY_HOME"), variable("ROOKERY_SOCKET")) {
        (None, Some(socket)) => Some(socket.into()),
        _ => None,
    }
}

/// The socket that commands talk to.
pub(crate) fn socket() -> Outcome<PathBuf> {
    let homes = homes()?;
    Ok(match socket_from_env() {
        Some(named) => moved(&homes, OWN, named),
        None => living(&homes, OWN, own_socket(&homes)),
    })
}

/// A connection to the daemon, if one runs.
pub(crate) async fn try_connect(homes: &Homes) -> Outcome<Option<Client>> {
    let Some(named) = socket_from_env() else { return try_connect_own(homes).await };
    if let Some(client) = connect_to(&named).await? {
        return Ok(Some(client));
    }
    // The socket may have gone with a login; its daemon may still be there.
    if Record::read(homes).knows(OWN, &named) {
        return try_connect_own(homes).await;
    }
    Ok(None)
}

/// A connection to the daemon, if one runs and listens: nothing is waited for, and nothing is asked of it.
pub(crate) async fn try_reach(homes: &Homes) -> Option<Client> {
    let named = socket_from_env();
    let first = named.clone().unwrap_or_else(|| own_socket(homes));
    match (connect_to(&first).await, named) {
        (Ok(Some(client)), _) => Some(client),
        (_, Some(named)) if !Record::read(homes).knows(OWN, &named) => None,
        _ => connect_elsewhere(homes).await,
    }
}

/// A connection to the daemon of these homes, whichever terminal this runs in and whatever became of its sockets.
pub(crate) async fn try_connect_own(homes: &Homes) -> Outcome<Option<Client>> {
    let expected = connect_to(&own_socket(homes)).await;
    if let Ok(Some(client)) = expected {
        return Ok(Some(client));
    }
    if let Some(client) = connect_elsewhere(homes).await {
        return Ok(Some(client));
    }
    match expected {
        Err(failure) => Err(failure),
        Ok(_) => wake(homes).await,
    }
}

/// A connection to the daemon at a place that it names itself.
async fn connect_elsewhere(homes: &Homes) -> Option<Client> {
    for path in Record::read(homes).sockets(OWN) {
        if let Ok(Some(client)) = connect_to(path).await {
            return Some(client);
        }
    }
    None
}

/// A connection to a daemon that runs but cannot be reached: its sockets were removed, or it is just starting.
async fn wake(homes: &Homes) -> Outcome<Option<Client>> {
    let Some(running) = find_running(homes).await? else { return Ok(None) };
    // Its own runtime directory may be gone for good, so it is to listen in ours. It may also end at any moment,
    // which is found out below.
    let _ = running::want_sockets(homes).and_then(|()| running.ask_to_listen());
    let own = own_socket(homes);
    let until = Instant::now() + LISTEN_PATIENCE;
    while !running.has_ended() {
        if let Ok(Some(client)) = connect_to(&own).await {
            return Ok(Some(client));
        }
        if let Some(client) = connect_elsewhere(homes).await {
            return Ok(Some(client));
        }
        if Instant::now() >= until {
            let pid = running.pid;
            return Err(Failure::new(format!("the daemon (process {pid}) is not listening")).hint(
                format!("see its log, or end it with `kill {pid}`; terminals keep running"),
            ));
        }
        sleep(FIRST_PAUSE).await;
    }
    Ok(None)
}

/// The daemon that holds the lock. One that has just taken it needs a moment to say who it is.
async fn find_running(homes: &Homes) -> Outcome<Option<Running>> {
    let until = Instant::now() + NAME_PATIENCE;
    loop {
        match Running::find(homes) {
            Ok(found) => return Ok(found),
            Err(_) if Instant::now() < until => sleep(FIRST_PAUSE).await,
            Err(error) => {
                return Err(Failure::new(format!("cannot reach the daemon: {error}"))
                    .hint("fix that, or set ROOKERY_HOME to a directory that you own"));
            }
        }
    }
}

/// Lets the daemon listen where this login looks for it, if it does not.
pub(crate) async fn bring_here(homes: &Homes) -> Outcome<()> {
    let own = own_socket(homes);
    if matches!(connect_to(&own).await, Ok(Some(_))) {
        return Ok(());
    }
    let trouble = |error: io::Error| {
        Failure::new(format!("the daemon is running, but not at {}: {error}", own.display()))
    };
    running::want_sockets(homes).map_err(trouble)?;
    let Some(running) = find_running(homes).await? else { return Ok(()) };
    running.ask_to_listen().map_err(trouble)?;
    let until = Instant::now() + LISTEN_PATIENCE;
    while !matches!(connect_to(&own).await, Ok(Some(_))) {
        if Instant::now() >= until {
            crate::output::note(format!(
                "the daemon cannot listen at {}; commands find it anyway",
                own.display()
            ));
            return Ok(());
        }
        sleep(FIRST_PAUSE).await;
    }
    Ok(())
}

/// A connection to the daemon that replaces one that is gone; waits a while for it.
pub(crate) async fn reconnect() -> Outcome<Client> {
    let homes = homes()?;
    let mut pause = FIRST_PAUSE;
    let until = Instant::now() + RECONNECT_PATIENCE;
    loop {
        if let Ok(Some(client)) = try_connect(&homes).await {
            return Ok(client);
        }
        if Instant::now() >= until {
            return Err(Failure::new("the daemon has stopped and no other has started")
                .hint("start one with `rookery up`; terminals keep running"));
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn connect_to(path: &Path) -> Outcome<Option<Client>> {
    match Client::connect_unix(path).await {
        Ok(client) => Ok(Some(client)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound
                    | io::ErrorKind::NotADirectory
                    | io::ErrorKind::ConnectionRefused
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(Failure::new(format!("cannot reach the daemon: {error}"))
            .hint("run `rookery doctor` to find the problem")),
    }
}

/// A connection to the daemon, which must run.
pub(crate) async fn connect() -> Outcome<Client> {
    try_connect(&homes()?).await?.ok_or_else(Failure::no_daemon)
}

/// Calls a method.
pub(crate) async fn call<P: Call>(client: &Client, params: P) -> Outcome<P::Reply> {
    Ok(client.send(params).await?)
}

/// Calls a method about something that may not be there; `see` says where to look for it.
pub(crate) async fn ask<P: Call>(client: &Client, params: P, see: &str) -> Outcome<P::Reply> {
    match client.send(params).await {
        Ok(result) => Ok(result),
        Err(ClientError::Rpc(error)) if error.code == code::NOT_FOUND => {
            Err(Failure::new(error.message).hint(see))
        }
        Err(ClientError::Rpc(error)) if error.code == code::BUSY => {
            Err(Failure::new(error.message).hint("try again in a moment"))
        }
        Err(error) => Err(error.into()),
    }
}
