//! One request to an idx0 server, and its reply.

use std::{
    io::{Read as _, Write as _},
    net::Shutdown,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use rookery_daemon::homes::Homes;
use rookery_dialects::Dialect;
use rookery_idx0::envelope::{Reply, Request};

use super::Result;
use crate::link;

/// How long a server may take; a wait for a decision may take ten minutes.
const PATIENCE: Duration = Duration::from_secs(660);
/// The longest path of a socket, with its end.
const MAX_PATH: usize = 108;

/// Asks the server of this user, and waits for the reply.
pub(crate) fn ask(request: &Request) -> Result<Reply> {
    ask_at(&socket()?, request, PATIENCE)
}

/// Asks the server of a socket. Each step has so long.
pub(in crate::personas) fn ask_at(
    path: &Path,
    request: &Request,
    patience: Duration,
) -> Result<Reply> {
    if path.as_os_str().len() >= MAX_PATH {
        return Err("IPC socket path is too long for Unix domain sockets.".to_owned());
    }
    let unreachable = |_| "Could not connect to idx0 (is the app running?).".to_owned();
    let mut stream = UnixStream::connect(path).map_err(unreachable)?;
    rookery_trust::check_peer(&stream)
        .map_err(|error| format!("Could not connect to idx0: {error}."))?;
    let unsent = |_| "Failed sending request to idx0.".to_owned();
    stream.set_read_timeout(Some(patience)).map_err(unsent)?;
    stream.set_write_timeout(Some(patience)).map_err(unsent)?;
    let bytes = serde_json::to_vec(request).map_err(|_| "Failed sending request to idx0.")?;
    stream.write_all(&bytes).map_err(unsent)?;
    stream.shutdown(Shutdown::Write).map_err(unsent)?;
    let undecoded = || "Failed to decode IPC response.".to_owned();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).map_err(|_| undecoded())?;
    serde_json::from_slice(&reply).map_err(|_| undecoded())
}

/// Where the server listens: the session's variable, else the daemon's config.
fn socket() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("IDX0_IPC_SOCKET").filter(|named| !named.is_empty()) {
        return Ok(resolve_socket(named.into()));
    }
    let homes = Homes::from_env().map_err(|error| error.to_string())?;
    let usual = || Dialect::named(super::NAME).map(|dialect| homes.socket(&dialect.endpoint));
    link::endpoint_socket(&homes, super::NAME)
        .or_else(usual)
        .ok_or_else(|| "Failed to find the IPC socket.".to_owned())
}

/// The socket of the session's variable, or another one of its daemon if it was removed with a login session.
pub(in crate::personas) fn resolve_socket(named: PathBuf) -> PathBuf {
    match Homes::from_env() {
        Ok(homes) => link::moved(&homes, super::NAME, named),
        Err(_) => named,
    }
}
