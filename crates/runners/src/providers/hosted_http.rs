//! `hosted-http`: a sandbox elsewhere, behind a small REST interface.
//!
//! The token goes with every call and into no text: answers of the server are shown by their status and
//! a cleaned first line at most.

mod server;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rookery_host::http::Method;
use serde_json::json;

use crate::RunnerError;
use crate::artifacts::Artifact;
use crate::config::Fields;
use crate::local::below;
use crate::provider::{Capabilities, InTerminals, Location, MountSupport, Opening, Provider};
use crate::replies::{
    self, ArtifactAnswer, CommandAnswer, PortAnswer, SessionAnswer, SnapshotAnswer, SnapshotShape,
};
use crate::session::{
    Chunk, Command, CommandEnd, Entry, ExitCause, Port, Session, SessionInfo, Snapshot, Stream,
    TerminalLaunch, Work, Wrapped, command_id, unsupported,
};

use server::{Server, Settings, part};

const ID: &str = "hosted-http";
/// How long the server may be silent.
const IDLE: Duration = Duration::from_secs(30);
/// How long it may be silent beyond what a command may take.
const SLACK: Duration = Duration::from_secs(15);
/// How long a command may take that says nothing of it.
const LONGEST: Duration = Duration::from_secs(3600);
/// How large an answer may be.
const MAX_ANSWER: usize = 32 << 20;
/// How many ports are remembered.
const MAX_PORTS: usize = 256;

pub(crate) const PROVIDER: Provider = Provider {
    id: ID,
    name: "Hosted sandbox",
    description: "Runs commands in a sandbox behind a REST interface",
    in_terminals: InTerminals::Never,
    capabilities: Capabilities {
        command_exec: true,
        file_read: true,
        file_write: true,
        port_preview: true,
        snapshots: true,
        cancellation: true,
        artifact_export: true,
        pausable: false,
        detachable: false,
        mounts: MountSupport { provider_native: true },
    },
    members: &["base_url", "token", "token_env"],
    secrets: &["token"],
    has_default_workspace: false,
    whereabouts: Location::Away,
    makes_place: false,
    programs: |_| Vec::new(),
    check: |config| Settings::read(config).map(drop),
    hint: |env, config| {
        let hint = move || {
            let name = Fields::new(&config).ok()?.text("token_env").ok()??;
            let is_set = env.iter().any(|(known, value)| *known == *name && !value.is_empty());
            (!is_set)
                .then(|| format!("the environment variable {name} is not set; set it to the token"))
        };
        Box::pin(async move { hint() })
    },
    open: |opening| Box::pin(open(opening)),
};

async fn open(opening: Opening) -> Result<Arc<dyn Session>, RunnerError> {
    let settings = Settings::read(&opening.config)?;
    let token = match (&settings.token, &settings.token_env) {
        (Some(token), _) => Some(token.clone()),
        (None, Some(name)) => {
            let value = opening.variable(name).and_then(|value| value.to_str());
            Some(value.map(str::to_owned).ok_or_else(|| {
                RunnerError::Missing(format!("the environment variable {name} is not set"))
            })?)
        }
        (None, None) => None,
    };
    let server = Server { base: settings.base_url.clone(), token, client: opening.http.clone() };
    let known = opening.found.as_ref().and_then(|found| found.get("remote_session")?.as_str());
    let answer: SessionAnswer = match known {
        Some(id) => server.json(Method::Get, &format!("/sessions/{}", part(id)), None).await?,
        None => {
            let config = crate::find(ID).map(|it| it.without_secrets(&opening.config).0);
            let body = json!({
                "destination_id": opening.destination,
                "provider_id": ID,
                "manifest": opening.manifest,
                "config": config,
            });
            server.json(Method::Post, "/sessions", Some(body)).await?
        }
    };
    let root = answer.root.filter(|root| root.starts_with('/')).unwrap_or_else(|| "/".to_owned());
    let info = SessionInfo {
        id: opening.session.clone(),
        provider: ID,
        root: PathBuf::from(root),
        local_root: None,
        runs_here: false,
        metadata: json!({"remote_session": answer.session_id, "base_url": settings.base_url}),
    };
    let base = format!("/sessions/{}", part(&answer.session_id));
    Ok(Arc::new(Hosted { info, server, base, ports: parking_lot::Mutex::default() }))
}

struct Hosted {
    info: SessionInfo,
    server: Server,
    base: String,
    ports: parking_lot::Mutex<std::collections::BTreeMap<u16, Port>>,
}

impl Hosted {
    fn path(&self, path: &str) -> Result<String, RunnerError> {
        let root = &self.info.root;
        let below = below(root, path)?;
        match below.as_os_str().is_empty() {
            true => Ok(root.to_string_lossy().into_owned()),
            false => Ok(root.join(below).to_string_lossy().into_owned()),
        }
    }

    fn file(&self, path: &str) -> Result<String, RunnerError> {
        Ok(format!("{}/files?path={}", self.base, part(&self.path(path)?)))
    }

    /// Runs a small command of our own and gives what it printed.
    async fn output(&self, path: &str, argv: &[&str]) -> Result<Vec<u8>, RunnerError> {
        let mut command = Command::new(argv.iter().copied());
        command.timeout = Some(IDLE);
        command.cwd = Some(path.to_owned());
        command.output_limit = MAX_ANSWER;
        let end = self.exec(command).await?;
        match (end.how, end.exit_code) {
            (ExitCause::Exited, Some(0)) => Ok(end.stdout),
            _ => {
                let said = String::from_utf8_lossy(&end.stderr).into_owned();
                let last = said.lines().last().unwrap_or("it failed").trim().to_owned();
                Err(RunnerError::failed(format!("{path}: {last}")))
            }
        }
    }

    async fn cancel(&self, id: &str) {
        let path = format!("{}/commands/{id}", self.base);
        let cancelled = self.server.call(Method::Delete, &path, None, IDLE).await;
        if let Err(error) = cancelled {
            tracing::warn!(%error, "a command on a runner server may not have ended");
        }
    }
}

/// The newest bytes of an output.
fn tail(text: String, limit: usize) -> (Vec<u8>, u64) {
    let mut bytes = text.into_bytes();
    let over = bytes.len().saturating_sub(limit);
    bytes.drain(..over);
    (bytes, over as u64)
}

impl Session for Hosted {
    fn info(&self) -> &SessionInfo {
        &self.info
    }

    fn exec(&self, command: Command) -> Work<'_, CommandEnd> {
        Box::pin(async move {
            let Some((program, args)) = command.argv.split_first() else {
                return Err(RunnerError::invalid("argv", "no program is named"));
            };
            if !command.stdin.is_empty() {
                return Err(RunnerError::Unsupported {
                    provider: ID,
                    what: "hand a command input",
                });
            }
            let id = command_id(command.id.clone());
            let timeout = command.timeout.map(|limit| limit.as_millis() as u64);
            let body = json!({
                "command_id": id,
                "program": program,
                "args": args,
                "cwd": self.path(command.cwd.as_deref().unwrap_or("."))?,
                "env": command.env,
                "timeout_ms": timeout,
            });
            let idle = command.timeout.unwrap_or(LONGEST).saturating_add(SLACK);
            let path = format!("{}/commands", self.base);
            let guard = Guard { server: Some((self.server.clone(), format!("{path}/{id}"))) };
            let asked =
                self.server.json_within::<CommandAnswer>(Method::Post, &path, Some(body), idle);
            let late = async {
                match command.timeout {
                    Some(limit) => tokio::time::sleep(limit).await,
                    None => std::future::pending().await,
                }
            };
            let (how, answer) = tokio::select! {
                biased;
                () = command.cancel.cancelled() => (ExitCause::Cancelled, None),
                answer = asked => (ExitCause::Exited, Some(answer)),
                () = late => (ExitCause::TimedOut, None),
            };
            guard.done();
            let Some(answer) = answer else {
                self.cancel(&id).await;
                let (stdout, stderr) = (Vec::new(), Vec::new());
                return Ok(CommandEnd { how, exit_code: None, stdout, stderr, dropped: 0 });
            };
            let answer = answer?;
            let (stdout, lost_out) = tail(answer.stdout, command.output_limit);
            let (stderr, lost_err) = tail(answer.stderr, command.output_limit);
            if let Some(output) = &command.output {
                for (stream, bytes) in [(Stream::Stdout, &stdout), (Stream::Stderr, &stderr)] {
                    if !bytes.is_empty() {
                        let bytes = Bytes::copy_from_slice(bytes);
                        let _ = output.send(Chunk { stream, bytes }).await;
                    }
                }
            }
            let (exit_code, dropped) = (answer.exit_code, lost_out + lost_err);
            Ok(CommandEnd { how, exit_code, stdout, stderr, dropped })
        })
    }

    fn read_file<'a>(&'a self, path: &'a str, limit: u64) -> Work<'a, Vec<u8>> {
        Box::pin(async move {
            let asked = self.server.call(Method::Get, &self.file(path)?, None, IDLE).await;
            let bytes = asked.map_err(|error| match error {
                RunnerError::NotFound(_) => RunnerError::NotFound(path.to_owned()),
                other => other,
            })?;
            match bytes.len() as u64 > limit {
                true => Err(RunnerError::TooLarge { path: path.to_owned(), limit }),
                false => Ok(bytes),
            }
        })
    }

    fn write_file<'a>(&'a self, path: &'a str, bytes: Vec<u8>) -> Work<'a, ()> {
        Box::pin(async move {
            let body = ("application/octet-stream", Bytes::from(bytes));
            self.server.call(Method::Put, &self.file(path)?, Some(body), IDLE).await.map(drop)
        })
    }

    fn mode<'a>(&'a self, path: &'a str) -> Work<'a, Option<u32>> {
        Box::pin(async move {
            let full = self.path(path)?;
            // Where there is no such program they stay unknown.
            Ok(self
                .output(".", &["ls", "-ld", "--", &full])
                .await
                .ok()
                .and_then(|it| replies::mode(&it)))
        })
    }

    fn make_file<'a>(&'a self, path: &'a str, bytes: Vec<u8>, mode: u32) -> Work<'a, ()> {
        Box::pin(async move {
            self.write_file(path, bytes).await?;
            let (full, mode) = (self.path(path)?, format!("{mode:04o}"));
            self.output(".", &["chmod", &mode, "--", &full]).await.map(drop)
        })
    }

    fn remove_file<'a>(&'a self, path: &'a str) -> Work<'a, ()> {
        Box::pin(async move {
            let full = self.path(path)?;
            self.output(".", &["rm", "--", &full]).await.map(drop)
        })
    }

    fn list<'a>(&'a self, path: &'a str) -> Work<'a, Vec<Entry>> {
        Box::pin(async move { Ok(replies::entries(&self.output(path, &["ls", "-1Ap"]).await?)) })
    }

    fn find<'a>(&'a self, path: &'a str, most: usize) -> Work<'a, Vec<String>> {
        Box::pin(async move {
            let skip =
                ["(", "-name", ".git", "-o", "-name", ".roder", "-o", "-name", "target", ")"];
            let mut argv = vec!["find", ".", "-type", "d"];
            argv.extend(skip);
            argv.extend(["-prune", "-o", "-type", "f", "-print"]);
            Ok(replies::found(&self.output(path, &argv).await?, b'\n', most))
        })
    }

    fn snapshot<'a>(&'a self, label: Option<&'a str>) -> Work<'a, Option<Snapshot>> {
        Box::pin(async move {
            let path = format!("{}/snapshots", self.base);
            let body = json!({"label": label});
            let answer: SnapshotAnswer = self.server.json(Method::Post, &path, Some(body)).await?;
            Ok(answer.snapshot.map(|snapshot| match snapshot {
                SnapshotShape::Id(id) => Snapshot { id, metadata: json!({"label": label}) },
                SnapshotShape::Whole { snapshot_id, metadata } => {
                    Snapshot { id: snapshot_id, metadata }
                }
            }))
        })
    }

    fn export<'a>(
        &'a self,
        path: &'a str,
        recursive: bool,
        _target: &'a Path,
    ) -> Work<'a, Artifact> {
        Box::pin(async move {
            let to = format!("{}/artifacts", self.base);
            let body = json!({"path": self.path(path)?, "recursive": recursive});
            let answer: ArtifactAnswer =
                self.server.json(Method::Post, &to, Some(body)).await.map_err(
                    |error| match error {
                        RunnerError::NotFound(_) => RunnerError::NotFound(path.to_owned()),
                        other => other,
                    },
                )?;
            let path = answer.path.unwrap_or_else(|| path.to_owned());
            let (id, url, metadata) = (answer.artifact_id, answer.url, answer.metadata);
            Ok(Artifact { path, id, url, metadata })
        })
    }

    fn ports(&self) -> Work<'_, Vec<Port>> {
        let ports = self.ports.lock().values().cloned().collect();
        Box::pin(std::future::ready(Ok(ports)))
    }

    fn expose<'a>(&'a self, port: u16, label: Option<&'a str>) -> Work<'a, Port> {
        Box::pin(async move {
            let path = format!("{}/ports", self.base);
            let body = json!({"port": port, "label": label});
            let answer: PortAnswer = self.server.json(Method::Post, &path, Some(body)).await?;
            let label = label.map(str::to_owned);
            let made = Port { port: answer.port, url: answer.url, label, local_port: None };
            let mut ports = self.ports.lock();
            if ports.len() < MAX_PORTS {
                ports.insert(port, made.clone());
            }
            Ok(made)
        })
    }

    fn conceal(&self, port: u16) -> Work<'_, bool> {
        // The interface has no way to take it back; it is only forgotten here.
        let was_there = self.ports.lock().remove(&port).is_some();
        Box::pin(std::future::ready(Ok(was_there)))
    }

    fn pause(&self) -> Work<'_, ()> {
        unsupported(ID, "pause a session")
    }

    fn resume(&self) -> Work<'_, ()> {
        unsupported(ID, "resume a session")
    }

    fn detach(&self) -> Work<'_, ()> {
        unsupported(ID, "detach a session")
    }

    fn close(&self, _force: bool) -> Work<'_, Option<PathBuf>> {
        Box::pin(async {
            match self.server.call(Method::Delete, &self.base, None, IDLE).await {
                // Gone already is as good.
                Ok(_) | Err(RunnerError::NotFound(_)) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    fn in_terminal(&self, _: &TerminalLaunch) -> Result<Option<Wrapped>, RunnerError> {
        Ok(None)
    }

    fn end_command<'a>(&'a self, id: &'a str) -> Work<'a, ()> {
        Box::pin(async move {
            self.cancel(&part(id)).await;
            Ok(())
        })
    }
}

/// Cancels a command whose caller is gone.
struct Guard {
    server: Option<(Server, String)>,
}

impl Guard {
    fn done(mut self) {
        self.server = None;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Some((server, path)) = self.server.take() else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = server.call(Method::Delete, &path, None, IDLE).await;
            });
        }
    }
}
