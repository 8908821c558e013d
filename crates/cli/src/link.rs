//! The connection to the daemon: where it is, and calls whose failures can be told to people.

use std::{io, path::PathBuf, time::Duration};

use rookery_daemon::{ENDPOINTS, config::Config, homes::Homes};
use rookery_native::code;
use rookery_wire::{Client, ClientError};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::{Instant, sleep};

use crate::failure::{Failure, Outcome};

/// How long a daemon may take to replace another.
const RECONNECT_PATIENCE: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The homes of this user.
pub(crate) fn homes() -> Outcome<Homes> {
    Homes::from_env().map_err(|error| {
        Failure::new(format!("cannot find a place for sockets and state: {error:#}"))
            .hint("set ROOKERY_HOME to a directory of your own")
    })
}

/// The socket of the daemon of these homes.
pub(crate) fn own_socket(homes: &Homes) -> PathBuf {
    let (config, _) = Config::load(homes);
    let endpoint = ENDPOINTS.iter().find(|endpoint| endpoint.name == "rookery");
    endpoint
        .and_then(|endpoint| endpoint.socket(homes, &config))
        .unwrap_or_else(|| homes.rookery_socket())
}

/// The socket commands talk to. Inside one of its terminals that is the terminal's own daemon,
/// unless another home was chosen explicitly.
fn socket(homes: &Homes) -> PathBuf {
    let told = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    match (told("ROOKERY_HOME"), told("ROOKERY_SOCKET")) {
        (None, Some(socket)) => socket.into(),
        _ => own_socket(homes),
    }
}

/// A connection to the daemon, if one runs.
pub(crate) async fn try_connect(homes: &Homes) -> Outcome<Option<Client>> {
    connect_to(socket(homes)).await
}

/// A connection to the daemon of these homes, whichever terminal this runs in.
pub(crate) async fn try_connect_own(homes: &Homes) -> Outcome<Option<Client>> {
    connect_to(own_socket(homes)).await
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
            return Err(Failure::new("the daemon is gone and no other took its place")
                .hint("start one with `rookery up`; terminals are still there"));
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn connect_to(path: PathBuf) -> Outcome<Option<Client>> {
    match Client::connect_unix(&path).await {
        Ok(client) => Ok(Some(client)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(Failure::new(format!("cannot reach the daemon: {error}"))
            .hint("see what is wrong with `rookery doctor`")),
    }
}

/// A connection to the daemon, which must run.
pub(crate) async fn connect() -> Outcome<Client> {
    try_connect(&homes()?).await?.ok_or_else(Failure::no_daemon)
}

/// Calls a method.
pub(crate) async fn call<R: DeserializeOwned>(
    client: &Client,
    method: &str,
    params: impl Serialize,
) -> Outcome<R> {
    Ok(client.call(method, params).await?)
}

/// Calls a method about something that may not be there; `see` says where to look for it.
pub(crate) async fn ask<R: DeserializeOwned>(
    client: &Client,
    method: &str,
    params: impl Serialize,
    see: &str,
) -> Outcome<R> {
    match client.call(method, params).await {
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
