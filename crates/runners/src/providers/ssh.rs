//! `ssh`: a directory of another machine, through the `ssh` program.
//!
//! One connection carries everything. It runs a small script over there which waits for its input to end,
//! so that it learns when the connection or this daemon is gone; then it ends the commands that are left and
//! removes their notes. Nothing has to be installed there but a shell and what every system has.

mod connect;
mod script;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rookery_host::{Program, ProgramControl, files};
use serde_json::json;
use tokio::sync::mpsc;

use crate::RunnerError;
use crate::config::Fields;
use crate::local::{below, blocking, run};
use crate::provider::{
    Capabilities, InTerminals, Location, MountSupport, Opening, Provider, has_program,
};
use crate::replies;
use crate::session::{
    Chunk, Command, CommandEnd, Entry, ExitCause, Port, Session, SessionInfo, Snapshot, Stream,
    TerminalLaunch, Work, Wrapped, command_id, unsupported,
};
use connect::{Client, Settings, greet};
use script::{Leader, Remote};

const ID: &str = "ssh";
/// How long the connection may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(20);
/// How long one operation on files, or the end of a command, may take.
const FILE_LIMIT: Duration = Duration::from_secs(60);
/// How long a snapshot may take, and how large it may be.
const SNAPSHOT_LIMIT: Duration = Duration::from_secs(600);
const SNAPSHOT_BYTES: u64 = 4 << 30;
/// How much the first words of the other side may be.
const GREETING: usize = 16 << 10;
/// How many names of files are read.
const NAMES: usize = 4 << 20;
/// How often a free port is looked for.
const PORT_ATTEMPTS: usize = 3;

pub(crate) const PROVIDER: Provider = Provider {
    id: ID,
    name: "SSH",
    description: "Runs commands in a directory of another machine, reached by ssh",
    in_terminals: InTerminals::WithDaemon,
    capabilities: Capabilities {
        command_exec: true,
        file_read: true,
        file_write: true,
        port_preview: true,
        snapshots: true,
        cancellation: true,
        artifact_export: true,
        pausable: false,
        detachable: true,
        mounts: MountSupport { provider_native: false },
    },
    members: &["host", "user", "port", "root", "identity", "ssh_command", "options"],
    secrets: &[],
    has_default_workspace: false,
    whereabouts: Location::Away,
    makes_place: false,
    programs: connect::programs,
    check: |config| Settings::read(config).map(drop),
    hint: |env, config| {
        Box::pin(async move {
            let named = Fields::new(&config).ok().and_then(|it| it.text("ssh_command").ok()?);
            let program = named.unwrap_or_else(|| "ssh".to_owned());
            let wanted = program.clone();
            let found = tokio::task::spawn_blocking(move || has_program(&wanted, &env)).await;
            let hint = || format!("{program} is not installed; install an SSH client");
            (!found.unwrap_or(false)).then(hint)
        })
    },
    open: |opening| Box::pin(open(opening)),
};

async fn open(opening: Opening) -> Result<Arc<dyn Session>, RunnerError> {
    let settings = Settings::read(&opening.config)?;
    let control = opening.run.join(format!("{}.ssh", short(&opening.session)));
    let folder = opening.run.clone();
    let failed = |error: std::io::Error| RunnerError::failed(format!("control socket: {error}"));
    blocking(move || files::make_private_dir(&folder).map_err(failed)).await?;
    let client = Client { settings: settings.clone(), control, env: opening.env.clone() };
    let (master, remote) = greet(&client, &opening.session).await?;
    let info = SessionInfo {
        id: opening.session.clone(),
        provider: ID,
        root: PathBuf::from(&remote.root),
        local_root: None,
        runs_here: false,
        metadata: json!({"host": settings.target, "root": remote.root}),
    };
    let snapshots = opening.data.join("runner-snapshots");
    let (forwards, taken) = (Mutex::default(), Mutex::default());
    let control = master.control();
    let master = tokio::sync::Mutex::new(Some(master));
    Ok(Arc::new(Ssh {
        info,
        client,
        remote,
        master,
        control,
        is_closed: AtomicBool::new(false),
        forwards,
        snapshots,
        taken,
    }))
}

/// The beginning of a session's id: paths of sockets are short.
fn short(session: &str) -> &str {
    session.get(..19).unwrap_or(session)
}

struct Ssh {
    info: SessionInfo,
    client: Client,
    remote: Remote,
    /// The connection; none once it is over.
    master: tokio::sync::Mutex<Option<Program>>,
    /// Tells whether it has ended.
    control: ProgramControl,
    is_closed: AtomicBool,
    /// Forwards: the port there, the one here and its label.
    forwards: Mutex<BTreeMap<u16, (u16, Option<String>)>>,
    snapshots: PathBuf,
    taken: Mutex<u32>,
}

impl Ssh {
    /// Fails once the connection is gone.
    fn alive(&self) -> Result<(), RunnerError> {
        self.is_open().then_some(()).ok_or(RunnerError::Closed)
    }

    fn path(&self, path: &str) -> Result<String, RunnerError> {
        let root = Path::new(&self.remote.root);
        let below = below(root, path)?;
        match below.as_os_str().is_empty() {
            // Joined to nothing it would end with a slash.
            true => Ok(self.remote.root.clone()),
            false => Ok(root.join(below).to_string_lossy().into_owned()),
        }
    }

    async fn file(
        &self,
        path: &str,
        script: impl FnOnce(&Remote, &str) -> String,
        stdin: Vec<u8>,
        limit: usize,
    ) -> Result<Vec<u8>, RunnerError> {
        self.alive()?;
        let end = self.client.ask(&script(&self.remote, &self.path(path)?), stdin, limit).await?;
        script::outcome(path, end)
    }

    async fn end_group(&self, id: &str) {
        let ended = self.client.ask(&script::end(&self.remote, id), Vec::new(), GREETING).await;
        if let Err(error) = ended {
            tracing::warn!(%error, "a command on another machine may not have ended");
        }
    }

    /// Has the master do something with a forward.
    async fn forward(&self, action: &str, local: u16, port: u16) -> Result<(), RunnerError> {
        let rule = format!("127.0.0.1:{local}:127.0.0.1:{port}");
        let argv = self.client.argv(&["-O", action, "-L", &rule]);
        let mut command = Command::new(Vec::<String>::new());
        command.timeout = Some(FILE_LIMIT);
        let end = run(self.client.run(argv), command, || std::future::ready(())).await?;
        if (end.how, end.exit_code) == (ExitCause::Exited, Some(0)) {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&end.stderr);
        let last = said.lines().last().unwrap_or("it was refused").trim().to_owned();
        Err(RunnerError::failed(format!("cannot forward port {port}: {last}")))
    }

    async fn archive(&self, path: &Path) -> Result<u64, RunnerError> {
        let place = path.to_owned();
        let file = blocking(move || {
            let failed = |error: std::io::Error| RunnerError::failed(format!("snapshot: {error}"));
            files::create_private(&place).map_err(failed)
        });
        let mut file = file.await?;
        let (sender, mut chunks) = mpsc::channel::<Chunk>(8);
        let mut command = Command::new(Vec::<String>::new());
        command.timeout = Some(SNAPSHOT_LIMIT);
        command.output = Some(sender);
        command.output_limit = GREETING;
        let cancel = command.cancel.clone();
        let argv = self.client.command(&["-T"], &script::archive(&self.remote));
        let writing = tokio::task::spawn_blocking(move || {
            let mut size = 0;
            while let Some(chunk) = chunks.blocking_recv() {
                if chunk.stream != Stream::Stdout {
                    continue;
                }
                size += chunk.bytes.len() as u64;
                if size > SNAPSHOT_BYTES {
                    cancel.cancel();
                    return Err(RunnerError::failed("the snapshot is too large"));
                }
                let written = file.write_all(&chunk.bytes);
                if let Err(error) = written {
                    cancel.cancel();
                    return Err(RunnerError::failed(format!("snapshot: {error}")));
                }
            }
            let synced = file.sync_all();
            synced.map_err(|error| RunnerError::failed(format!("snapshot: {error}")))?;
            Ok(size)
        });
        let end = run(self.client.run(argv), command, || std::future::ready(())).await?;
        let size = writing.await.map_err(|_| RunnerError::failed("the runtime is ending"))??;
        match (end.how, end.exit_code) {
            (ExitCause::Exited, Some(0)) => Ok(size),
            _ => Err(RunnerError::failed("the snapshot was cut off")),
        }
    }

    async fn end(&self) -> Result<(), RunnerError> {
        self.is_closed.store(true, Ordering::Release);
        let forwards: Vec<(u16, u16)> =
            self.forwards.lock().iter().map(|(port, (local, _))| (*port, *local)).collect();
        for (port, local) in forwards {
            let _ = self.forward("cancel", local, port).await;
        }
        self.forwards.lock().clear();
        let Some(mut master) = self.master.lock().await.take() else { return Ok(()) };
        let control = master.control();
        // At the end of its input the other side ends what is left, and then itself.
        control.close_input().await;
        let drained = async { while master.next().await.is_some() {} };
        if tokio::time::timeout(CONNECT_LIMIT, drained).await.is_err() {
            control.end().await;
        }
        Ok(())
    }
}

impl Session for Ssh {
    fn info(&self) -> &SessionInfo {
        &self.info
    }

    fn exec(&self, command: Command) -> Work<'_, CommandEnd> {
        Box::pin(async move {
            self.alive()?;
            let id = command_id(command.id.clone());
            let cwd = self.path(command.cwd.as_deref().unwrap_or("."))?;
            let launch =
                script::Launch { id: &id, cwd: &cwd, env: &command.env, argv: &command.argv };
            let line = script::run(&self.remote, &launch, Leader::New);
            let run_it = self.client.run(self.client.command(&["-T"], &line));
            let shown = command.cwd.clone().unwrap_or_default();
            // Dropped before its end, the command is ended over there as well.
            let mut guard =
                Guard { session: Some((self.client.clone(), self.remote.clone(), id.clone())) };
            let end = run(run_it, command, || self.end_group(&id)).await?;
            guard.session = None;
            script::ran(&shown, end)
        })
    }

    fn read_file<'a>(&'a self, path: &'a str, limit: u64) -> Work<'a, Vec<u8>> {
        Box::pin(async move {
            let most = usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1);
            self.alive()?;
            let line = script::read(&self.remote, &self.path(path)?, most);
            let bytes = script::outcome(path, self.client.ask(&line, Vec::new(), most).await?)?;
            match bytes.len() as u64 > limit {
                true => Err(RunnerError::TooLarge { path: path.to_owned(), limit }),
                false => Ok(bytes),
            }
        })
    }

    fn write_file<'a>(&'a self, path: &'a str, bytes: Vec<u8>) -> Work<'a, ()> {
        Box::pin(async move {
            let size = bytes.len();
            let script = |remote: &Remote, path: &str| script::write(remote, path, size, None);
            self.file(path, script, bytes, GREETING).await.map(drop)
        })
    }

    fn mode<'a>(&'a self, path: &'a str) -> Work<'a, Option<u32>> {
        Box::pin(async move {
            Ok(replies::mode(&self.file(path, script::describe, Vec::new(), GREETING).await?))
        })
    }

    fn make_file<'a>(&'a self, path: &'a str, bytes: Vec<u8>, mode: u32) -> Work<'a, ()> {
        Box::pin(async move {
            let size = bytes.len();
            let script =
                |remote: &Remote, path: &str| script::write(remote, path, size, Some(mode));
            self.file(path, script, bytes, GREETING).await.map(drop)
        })
    }

    fn remove_file<'a>(&'a self, path: &'a str) -> Work<'a, ()> {
        Box::pin(
            async move { self.file(path, script::remove, Vec::new(), GREETING).await.map(drop) },
        )
    }

    fn list<'a>(&'a self, path: &'a str) -> Work<'a, Vec<Entry>> {
        Box::pin(async move {
            Ok(replies::entries(&self.file(path, script::list, Vec::new(), NAMES).await?))
        })
    }

    fn find<'a>(&'a self, path: &'a str, most: usize) -> Work<'a, Vec<String>> {
        Box::pin(async move {
            let listed = self.file(path, script::find, Vec::new(), NAMES).await?;
            Ok(replies::found(&listed, 0, most))
        })
    }

    fn snapshot<'a>(&'a self, label: Option<&'a str>) -> Work<'a, Option<Snapshot>> {
        Box::pin(async move {
            self.alive()?;
            let number = {
                let mut taken = self.taken.lock();
                *taken += 1;
                *taken
            };
            let drawn = &uuid::Uuid::new_v4().simple().to_string()[..8];
            let id = format!("{}-{number}-{drawn}", self.info.id);
            let path = self.snapshots.join(format!("{id}.tar"));
            match self.archive(&path).await {
                Ok(bytes) => {
                    let metadata = json!({"path": path, "bytes": bytes, "label": label});
                    Ok(Some(Snapshot { id, metadata }))
                }
                Err(error) => {
                    let _ = blocking(move || {
                        files::remove(&path).map_err(|error| RunnerError::failed(error.to_string()))
                    })
                    .await;
                    Err(error)
                }
            }
        })
    }

    fn ports(&self) -> Work<'_, Vec<Port>> {
        let port = |(port, (local, label)): (&u16, &(u16, Option<String>))| Port {
            port: *port,
            url: Some(format!("http://127.0.0.1:{local}")),
            label: label.clone(),
            local_port: Some(*local),
        };
        let ports = self.forwards.lock().iter().map(port).collect();
        Box::pin(std::future::ready(Ok(ports)))
    }

    fn expose<'a>(&'a self, port: u16, label: Option<&'a str>) -> Work<'a, Port> {
        Box::pin(async move {
            self.alive()?;
            let known = self.forwards.lock().get(&port).map(|(local, _)| *local);
            let mut outcome = Err(RunnerError::failed("no free port"));
            let mut local = known.unwrap_or_default();
            for _ in 0..PORT_ATTEMPTS {
                if known.is_some() {
                    outcome = Ok(());
                    break;
                }
                local = free_port()?;
                outcome = self.forward("forward", local, port).await;
                if outcome.is_ok() {
                    break;
                }
            }
            outcome?;
            let label = label.map(str::to_owned);
            self.forwards.lock().insert(port, (local, label.clone()));
            let url = Some(format!("http://127.0.0.1:{local}"));
            Ok(Port { port, url, label, local_port: Some(local) })
        })
    }

    fn conceal(&self, port: u16) -> Work<'_, bool> {
        Box::pin(async move {
            let Some((local, _)) = self.forwards.lock().remove(&port) else { return Ok(false) };
            self.forward("cancel", local, port).await?;
            Ok(true)
        })
    }

    fn pause(&self) -> Work<'_, ()> {
        unsupported(ID, "pause a session")
    }

    fn resume(&self) -> Work<'_, ()> {
        unsupported(ID, "resume a session")
    }

    fn detach(&self) -> Work<'_, ()> {
        Box::pin(self.end())
    }

    fn close(&self, _force: bool) -> Work<'_, Option<PathBuf>> {
        Box::pin(async {
            self.end().await?;
            Ok(None)
        })
    }

    fn in_terminal(&self, launch: &TerminalLaunch) -> Result<Option<Wrapped>, RunnerError> {
        let id = command_id(launch.id.clone());
        let cwd = self.path(launch.cwd.as_deref().unwrap_or("."))?;
        let (option, leader) = match launch.has_terminal {
            true => ("-tt", Leader::Own),
            false => ("-T", Leader::New),
        };
        let script = script::Launch { id: &id, cwd: &cwd, env: &launch.env, argv: &launch.argv };
        let argv = self.client.command(&[option], &script::run(&self.remote, &script, leader));
        Ok(Some(Wrapped { argv, id }))
    }

    fn end_command<'a>(&'a self, id: &'a str) -> Work<'a, ()> {
        Box::pin(async move {
            self.end_group(id).await;
            Ok(())
        })
    }

    fn is_open(&self) -> bool {
        !self.is_closed.load(Ordering::Acquire) && self.control.ended().is_none()
    }
}

/// Ends a command whose caller is gone.
struct Guard {
    session: Option<(Client, Remote, String)>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Some((client, remote, id)) = self.session.take() else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = client.ask(&script::end(&remote, &id), Vec::new(), GREETING).await;
            });
        }
    }
}

fn free_port() -> Result<u16, RunnerError> {
    let bound = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    bound.map(|at| at.port()).map_err(|error| RunnerError::failed(format!("no free port: {error}")))
}
