//! ptywright 0.3.0, where it is installed: `ROOKERY_BENCH_PTYWRIGHT`, the path, or cargo's directory of programs.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use tempfile::TempDir;

use super::{SOON, SessionServer};
use crate::client::Client;
use crate::gate::pause;
use crate::process;

/// Names the binary to measure.
pub(crate) const VARIABLE: &str = "ROOKERY_BENCH_PTYWRIGHT";

/// The release that figures are compared with.
const VERSION: &str = "ptywright 0.3.0";

/// Where the release is, and its version; or why there is none.
pub(crate) fn find() -> Result<(PathBuf, String), String> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    // Where `cargo xtask compare ptywright --install` puts it.
    let in_target =
        || Some(process::peers_dir().join("bin/ptywright")).filter(|file| file.is_file());
    let found = named
        .or_else(in_target)
        .or_else(|| process::find("ptywright"))
        .or_else(|| process::in_cargo("ptywright"));
    let Some(binary) = found else {
        return Err(format!(
            "ptywright is not there (cargo xtask compare ptywright --install, or {VARIABLE}=PATH)"
        ));
    };
    match process::output(process::program(&binary).arg("--version")) {
        Ok(version) if version == VERSION => Ok((binary, version)),
        Ok(version) => Err(format!("{} is {version}, not {VERSION}", binary.display())),
        Err(error) => Err(format!("{error:#}")),
    }
}

/// A running server.
pub(crate) struct Ptywright {
    _home: TempDir,
    socket: PathBuf,
    server: Child,
}

impl Ptywright {
    /// Starts a server with nothing in it.
    pub(crate) fn start(binary: &Path) -> anyhow::Result<Ptywright> {
        let home = tempfile::Builder::new().prefix("rkb-").tempdir_in("/tmp")?;
        let socket = home.path().join("s");
        let server = process::program(binary)
            .args(["serve", "--socket"])
            .arg(&socket)
            .env("PTYWRIGHT_HOME", home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let peer = Ptywright { _home: home, socket, server };
        // It does not say when it listens.
        let start = Instant::now();
        while let Err(error) = peer.connect() {
            if start.elapsed() > SOON {
                bail!("ptywright does not listen: {error:#}");
            }
            pause(Duration::from_millis(2))?;
        }
        Ok(peer)
    }
}

impl SessionServer for Ptywright {
    fn connect(&self) -> anyhow::Result<Client> {
        Client::connect(&self.socket)
    }

    fn processes(&self) -> anyhow::Result<Vec<u32>> {
        Ok(vec![self.server.id()])
    }

    fn pending_waits(&self, _client: &mut Client) -> anyhow::Result<Option<usize>> {
        Ok(None)
    }
}

impl Drop for Ptywright {
    fn drop(&mut self) {
        process::kill(self.server.id());
        let _ = self.server.wait();
    }
}
