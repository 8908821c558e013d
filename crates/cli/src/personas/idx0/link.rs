//! One request to an idx0 server, and its reply.

use std::{
    io::{Read as _, Write as _},
    net::Shutdown,
    os::unix::net::UnixStream,
    path::PathBuf,
    time::Duration,
};

use rookery_daemon::homes::Homes;
use rookery_idx0::envelope::{Reply, Request};

use super::Result;

/// How long a server may take; a wait for a decision may take ten minutes.
const PATIENCE: Duration = Duration::from_secs(660);
/// The longest path of a socket, with its end.
const MAX_PATH: usize = 108;

/// Asks, and waits for the reply.
pub(super) fn ask(request: &Request) -> Result<Reply> {
    let path = socket()?;
    if path.as_os_str().len() >= MAX_PATH {
        return Err("IPC socket path is too long for Unix domain sockets.".to_owned());
    }
    let unreachable = |_| "Could not connect to idx0 (is the app running?).".to_owned();
    let mut stream = UnixStream::connect(path).map_err(unreachable)?;
    let unsent = |_| "Failed sending request to idx0.".to_owned();
    stream.set_read_timeout(Some(PATIENCE)).map_err(unsent)?;
    let bytes = serde_json::to_vec(request).map_err(|_| "Failed sending request to idx0.")?;
    stream.write_all(&bytes).map_err(unsent)?;
    stream.shutdown(Shutdown::Write).map_err(unsent)?;
    let undecoded = || "Failed to decode IPC response.".to_owned();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).map_err(|_| undecoded())?;
    serde_json::from_slice(&reply).map_err(|_| undecoded())
}

/// Where the server listens: what a session was told, else the usual place.
fn socket() -> Result<PathBuf> {
    if let Some(told) = std::env::var_os("IDX0_IPC_SOCKET").filter(|told| !told.is_empty()) {
        return Ok(told.into());
    }
    Homes::from_env().map(|homes| homes.idx0_socket()).map_err(|error| error.to_string())
}
