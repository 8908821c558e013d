//! Rookery itself: a daemon of its own in a home of its own, started from the release binary.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{SOON, SessionServer};
use crate::client::Client;
use crate::gate::await_readable;
use crate::process;

/// A running daemon. It and its terminals end when this is dropped.
pub(crate) struct Rookery {
    binary: PathBuf,
    home: TempDir,
    daemon: Child,
    socket: PathBuf,
    endpoints: Value,
    version: String,
    keeper: Option<u32>,
}

impl Rookery {
    /// Starts a daemon in a fresh home.
    pub(crate) fn start(binary: &Path) -> anyhow::Result<Rookery> {
        // Sockets have short paths, so the home has too.
        let home = tempfile::Builder::new().prefix("rkb-").tempdir_in("/tmp")?;
        let (daemon, ready) = launch(binary, home.path())?;
        let socket =
            ready["endpoints"]["rookery"].as_str().context("no endpoint named rookery")?.into();
        let endpoints = ready["endpoints"].clone();
        let version = ready["version"].as_str().unwrap_or_default().to_owned();
        Ok(Rookery {
            binary: binary.to_owned(),
            home,
            daemon,
            socket,
            endpoints,
            version,
            keeper: None,
        })
    }

    /// The program.
    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// The daemon's process.
    pub(crate) fn pid(&self) -> u32 {
        self.daemon.id()
    }

    /// Where it keeps data.
    pub(crate) fn data_dir(&self) -> PathBuf {
        self.home.path().join("data/rookery")
    }

    /// The socket of an endpoint.
    pub(crate) fn endpoint(&self, name: &str) -> anyhow::Result<PathBuf> {
        let path = self.endpoints[name].as_str();
        path.map(PathBuf::from).with_context(|| format!("no endpoint named {name}"))
    }

    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Remembers the keeper, so that it can be ended whatever happens to the daemon.
    pub(crate) fn note_keeper(&mut self) -> anyhow::Result<()> {
        self.keeper = keeper_pid(&status(&mut self.connect()?)?);
        Ok(())
    }

    /// Kills the daemon as `kill -9` does.
    pub(crate) fn kill(&mut self) -> anyhow::Result<()> {
        self.daemon.kill()?;
        self.daemon.wait()?;
        Ok(())
    }

    /// Starts the daemon again in the same home, and says how long it took until it was ready, and how many terminals it
    /// found alive.
    pub(crate) fn start_again(&mut self) -> anyhow::Result<(Duration, u64)> {
        let start = Instant::now();
        let (daemon, ready) = launch(&self.binary, self.home.path())?;
        let time = start.elapsed();
        self.daemon = daemon;
        Ok((time, ready["terminals"].as_u64().unwrap_or(0)))
    }
}

/// Starts a daemon and waits for its `ready` line.
fn launch(binary: &Path, home: &Path) -> anyhow::Result<(Child, Value)> {
    let log = home.join("daemon.log");
    let mut daemon = process::program(binary)
        .arg("daemon")
        .env("ROOKERY_HOME", home)
        .env("ROOKERY_LOG", "warn")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(File::options().create(true).append(true).open(&log)?)
        .spawn()
        .with_context(|| format!("cannot start {}", binary.display()))?;
    let stdout = daemon.stdout.take().context("the daemon has no output")?;
    let mut line = String::new();
    // One that says nothing is as bad as one that ends.
    if await_readable(&stdout, SOON).is_ok() {
        BufReader::new(stdout).read_line(&mut line)?;
    } else {
        let _ = daemon.kill();
    }
    let Some(ready) = line.strip_prefix("ready ") else {
        process::finish(&mut daemon, SOON);
        bail!(
            "the daemon did not start: {}",
            std::fs::read_to_string(&log).unwrap_or_default().trim()
        );
    };
    Ok((daemon, serde_json::from_str(ready).context("the ready line is not JSON")?))
}

fn status(client: &mut Client) -> anyhow::Result<Value> {
    client.call("rookery/status", &json!({}))
}

fn keeper_pid(status: &Value) -> Option<u32> {
    status["keeper"]["pid"].as_u64()?.try_into().ok()
}

impl SessionServer for Rookery {
    fn connect(&self) -> anyhow::Result<Client> {
        Client::connect(&self.socket)
    }

    fn processes(&self) -> anyhow::Result<Vec<u32>> {
        let keeper = keeper_pid(&status(&mut self.connect()?)?);
        Ok([Some(self.daemon.id()), keeper].into_iter().flatten().collect())
    }

    fn pending_waits(&self, client: &mut Client) -> anyhow::Result<Option<usize>> {
        let pending =
            status(client)?["pendingWaits"].as_u64().context("status without pendingWaits")?;
        Ok(Some(usize::try_from(pending)?))
    }
}

impl Drop for Rookery {
    fn drop(&mut self) {
        let keeper =
            self.processes().ok().and_then(|processes| processes.get(1).copied()).or(self.keeper);
        let asked = self
            .connect()
            .and_then(|mut client| client.call("rookery/shutdown", &json!({"all": true})));
        process::finish(&mut self.daemon, if asked.is_ok() { SOON } else { Duration::ZERO });
        if let Some(keeper) = keeper
            && !process::await_end(keeper, Duration::from_secs(5))
        {
            process::kill(keeper);
        }
    }
}
