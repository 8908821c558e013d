//! Servers of the Roder dialect on their standard input and output: ours, in front of its daemon or with a world of its
//! own, and roder 0.4.0 where it is installed: `ROOKERY_BENCH_RODER`, where `--install` puts it, the path, or cargo's
//! directory of programs.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::SOON;
use crate::client::Client;
use crate::process;

/// Names the binary to measure.
const VARIABLE: &str = "ROOKERY_BENCH_RODER";

/// The release that figures are compared with.
const VERSION: &str = "0.4.0";

/// How long building it may take: it has hundreds of dependencies.
const INSTALL_LIMIT: Duration = Duration::from_secs(2 * 60 * 60);

/// How long a server may take to end when its input has ended.
const END_LIMIT: Duration = Duration::from_secs(10);

/// Where the release is, and its version; or why there is none.
pub(crate) fn find(may_install: bool) -> Result<(PathBuf, String), String> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    let installed = process::peers_dir().join("bin/roder");
    let in_target = || Some(installed.clone()).filter(|file| file.is_file());
    let found = named
        .or_else(in_target)
        .or_else(|| process::find("roder").filter(|file| is_theirs(file)))
        .or_else(|| process::in_cargo("roder"));
    let binary = match found {
        Some(binary) => binary,
        None if may_install => {
            install().map_err(|error| format!("roder: {error:#}"))?;
            installed
        }
        None => {
            return Err(format!("roder is not there (--install builds it, or {VARIABLE}=PATH)"));
        }
    };
    let said = process::output(process::program(&binary).arg("--version"))
        .map_err(|error| format!("{error:#}"))?;
    if !said.split_whitespace().any(|word| word == VERSION) {
        return Err(format!("{} is {said}, not roder {VERSION}", binary.display()));
    }
    Ok((binary, format!("roder {VERSION}")))
}

/// Our own binary answers to that name as well.
fn is_theirs(file: &Path) -> bool {
    let target = file.canonicalize().unwrap_or_default();
    target.file_name().is_some_and(|name| name != "rookery")
}

fn install() -> anyhow::Result<()> {
    let peers = process::peers_dir();
    eprintln!("roder {VERSION} is not there: building it into {}", peers.display());
    let mut cargo = process::program(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.args(["install", "--quiet", "--locked", &format!("roder@{VERSION}"), "--root"]);
    // A build in our own target directory would share nothing with it.
    cargo.arg(&peers).env("CARGO_TARGET_DIR", peers.join("build"));
    process::output_within(&mut cargo, INSTALL_LIMIT).map(drop)
}

/// Which server it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Ours, which starts a daemon and hands its client through to it.
    Daemon,
    /// Ours, with a world in memory that ends with it.
    Standalone,
    /// The published one.
    Theirs,
}

/// A running server and its only client.
pub(crate) struct AppServer {
    kind: Kind,
    /// The client. It has to go before the server ends by itself.
    client: Option<Client>,
    server: Child,
    home: TempDir,
    work: PathBuf,
}

impl AppServer {
    /// Starts a server in a fresh home, whose settings are `config`. It need not be ready yet.
    pub(crate) fn start(kind: Kind, binary: &Path, config: &str) -> anyhow::Result<AppServer> {
        let home = tempfile::Builder::new().prefix("rkb-").tempdir_in("/tmp")?;
        let work = home.path().join("work");
        std::fs::create_dir(&work)?;
        let theirs = home.path().join("theirs");
        let settings = match kind {
            Kind::Theirs => theirs.clone(),
            Kind::Daemon | Kind::Standalone => home.path().join("config/rookery"),
        };
        if !config.is_empty() {
            std::fs::create_dir_all(&settings)?;
            std::fs::write(settings.join("config.toml"), config)?;
        }
        let mut command = process::program(binary);
        command.arg("app-server").args((kind == Kind::Standalone).then_some("--standalone"));
        command
            .env("ROOKERY_HOME", home.path())
            .env("RODER_CONFIG_DIR", &theirs)
            .env("HOME", home.path())
            .current_dir(&work);
        let (server, client) = Client::of_server(&mut command)?;
        Ok(AppServer { kind, client: Some(client), server, home, work })
    }

    pub(crate) fn client(&mut self) -> anyhow::Result<&mut Client> {
        self.client.as_mut().context("the client is gone")
    }

    /// The process that serves its client. Ours in front of a daemon is not the one that does the work.
    pub(crate) fn id(&self) -> u32 {
        self.server.id()
    }

    /// Params to start a thread that this model answers.
    pub(crate) fn new_thread(&mut self, provider: &str, model: &str) -> anyhow::Result<Value> {
        let roots = json!({"roots": [{"path": self.work}]});
        let created = self.client()?.call("workspace/create", &roots)?;
        let workspace = &created["workspace"];
        Ok(json!({
            "workspaceId": workspace["id"],
            "rootId": workspace["defaultRootId"],
            "modelProvider": provider,
            "model": model,
        }))
    }

    /// The native socket of the daemon that it started.
    fn daemon(&self) -> anyhow::Result<Client> {
        Client::connect(&self.home.path().join("run/rookery/rookery.sock"))
    }
}

impl Drop for AppServer {
    fn drop(&mut self) {
        drop(self.client.take());
        process::finish(&mut self.server, END_LIMIT);
        if self.kind != Kind::Daemon {
            return;
        }
        let Ok(mut daemon) = self.daemon() else { return };
        let status = daemon.call("rookery/status", &json!({})).unwrap_or_default();
        // It may be gone before it has answered.
        let _ = daemon.call("rookery/shutdown", &json!({"all": true}));
        for pid in [&status["pid"], &status["keeper"]["pid"]] {
            if let Some(pid) = pid.as_u64().and_then(|pid| u32::try_from(pid).ok())
                && !process::await_end(pid, SOON)
            {
                process::kill(pid);
            }
        }
    }
}

/// Starts a thread and gives its id.
pub(crate) fn start_thread(client: &mut Client, params: &Value) -> anyhow::Result<String> {
    let started = client.call("thread/start", params)?;
    started["thread"]["id"].as_str().map(str::to_owned).context("thread/start gave no thread")
}
