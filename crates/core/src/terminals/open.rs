//! Opening and closing terminals. A failed open leaves no trace.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rookery_keeper::protocol::{self, Reply, Request};
use rookery_keeper::ring::Ring;
use rookery_model::{
    Error, Event, LaunchSpec, ProjectId, Result, Size, Terminal, TerminalId, TerminalState,
    TerminalUuid,
};
use rookery_store::Change;

use super::engine::{Engine, EngineSettings, screen_size};
use super::live::Live;
use super::meta::Meta;
use super::notes::noted_key;
use super::raw_log::{OpenLog, RawLog};
use crate::clock;
use crate::core::Core;

/// Bounds on terminals.
#[derive(Clone, Debug)]
pub struct TerminalLimits {
    /// Terminals at once, ended ones included.
    pub max_terminals: usize,
    /// Rows of scrollback of a terminal that asks for nothing else.
    pub scrollback: usize,
    /// Most rows of scrollback a terminal may ask for.
    pub max_scrollback: usize,
    /// Bytes of the ring of a terminal that asks for nothing else.
    pub ring_bytes: u64,
    /// Characters of transcript of a terminal that asks for nothing else.
    pub transcript_chars: usize,
    /// Ended terminals that are kept; beyond that the oldest is closed.
    pub keep_exited: usize,
}

impl Default for TerminalLimits {
    fn default() -> Self {
        TerminalLimits {
            max_terminals: 2_000,
            scrollback: 10_000,
            max_scrollback: 200_000,
            ring_bytes: 1 << 20,
            transcript_chars: 131_072,
            keep_exited: 200,
        }
    }
}

/// Characters of transcript at most; the ring must hold them.
const MAX_TRANSCRIPT: usize = 16 << 20;

/// A terminal to be opened.
#[derive(Clone, Debug)]
pub struct OpenTerminal {
    /// Program and arguments; empty for the user's shell.
    pub argv: Vec<String>,
    /// Where to start; the project's directory if not said.
    pub cwd: Option<PathBuf>,
    /// Variables laid over the daemon's environment. They are not stored.
    pub env: Vec<(String, String)>,
    /// Rows and columns.
    pub size: Size,
    /// The project it belongs to; the first one if not said.
    pub project: Option<ProjectId>,
    /// The user's own title.
    pub title: Option<String>,
    /// Rows of scrollback.
    pub scrollback: Option<usize>,
    /// Characters of transcript.
    pub transcript_chars: Option<usize>,
    /// A file that gets every byte.
    pub raw_log: Option<RawLog>,
}

impl Default for OpenTerminal {
    fn default() -> Self {
        OpenTerminal {
            argv: Vec::new(),
            cwd: None,
            env: Vec::new(),
            size: Size::DEFAULT,
            project: None,
            title: None,
            scrollback: None,
            transcript_chars: None,
            raw_log: None,
        }
    }
}

impl Core {
    /// Opens a terminal; when this returns, it is durable.
    pub async fn open(&self, request: OpenTerminal) -> Result<Terminal> {
        let plan = self.plan(request)?;
        self.inner.keeper.ensure(self.notices()).await?;
        let id = self.reserve_id();
        let opened = self.open_as(id, plan).await;
        if opened.is_err() {
            self.give_back_id(id);
        }
        opened
    }

    /// Checks a request and fills in what it leaves out. Nothing has happened yet when this fails.
    fn plan(&self, request: OpenTerminal) -> Result<Plan> {
        let limits = &self.inner.config.limits;
        let world = self.inner.world.lock();
        if world.terminals.len() >= limits.max_terminals {
            return Err(Error::busy(format!(
                "there are {} terminals already",
                world.terminals.len()
            )));
        }
        let project = match request.project {
            Some(id) => world.project(id)?,
            None => world.projects.first().ok_or_else(|| Error::not_found("no project"))?,
        };
        let mut argv = request.argv;
        if argv.is_empty() {
            argv.push(self.inner.config.shell.clone());
        }
        if argv[0].is_empty() {
            return Err(Error::invalid("program", "program must not be empty"));
        }
        let texts = argv.iter().chain(request.env.iter().flat_map(|(key, value)| [key, value]));
        if texts.into_iter().any(|text| text.contains('\0')) {
            return Err(Error::failed(
                "program, arguments and environment must not contain NUL bytes",
            ));
        }
        if let Some((key, _)) =
            request.env.iter().find(|(key, _)| key.is_empty() || key.contains('='))
        {
            return Err(Error::invalid("env", format!("{key:?} is not a name of a variable")));
        }
        if let Some(title) = &request.title {
            crate::workspace::check_name("title", title)?;
        }
        let cwd = request.cwd.unwrap_or_else(|| project.root.clone());
        if !cwd.is_absolute() {
            return Err(Error::invalid(
                "cwd",
                format!("{} is not an absolute path", cwd.display()),
            ));
        }
        let transcript_chars =
            request.transcript_chars.unwrap_or(limits.transcript_chars).min(MAX_TRANSCRIPT);
        Ok(Plan {
            project: project.id,
            argv,
            cwd,
            env: request.env,
            size: request.size,
            title: request.title,
            scrollback: request.scrollback.unwrap_or(limits.scrollback).min(limits.max_scrollback),
            transcript_chars,
            ring_bytes: limits.ring_bytes.max(transcript_chars as u64 * 4 + (64 << 10)),
            raw_log: request.raw_log,
        })
    }

    fn reserve_id(&self) -> TerminalId {
        let mut world = self.inner.world.lock();
        let id = world.next_terminal;
        world.next_terminal = id.next();
        id
    }

    /// A number that was never shown to anybody may be given to the next terminal.
    fn give_back_id(&self, id: TerminalId) {
        let mut world = self.inner.world.lock();
        if world.next_terminal == id.next() && !world.terminals.contains_key(&id) {
            world.next_terminal = id;
        }
    }

    async fn open_as(&self, id: TerminalId, plan: Plan) -> Result<Terminal> {
        let raw_log = match plan.raw_log.clone() {
            Some(log) => Some(blocking(move || OpenLog::create(&log)).await??),
            None => None,
        };
        let uuid = TerminalUuid(*uuid::Uuid::new_v4().as_bytes());
        let meta = plan.meta(uuid, raw_log.as_ref().map(|log| log.base));
        let spawn = Request::Spawn(self.spawn_request(id, &plan, uuid, &meta));
        // The number may have been another's, whose opening failed.
        self.forget_early_exit(id);
        let spawned = self.inner.keeper.request(spawn, Vec::new()).await;
        let incoming = match spawned {
            Ok(incoming) => incoming,
            Err(error) => {
                remove_new_log(plan.raw_log.as_ref());
                return Err(error);
            }
        };
        let (Reply::Spawned { pid, .. }, Ok([pty, ring])) =
            (incoming.reply, <[_; 2]>::try_from(incoming.fds))
        else {
            self.inner.keeper.post(Request::Release { terminal_id: id.get() });
            return Err(Error::failed("the keeper handed over no terminal"));
        };
        let ring = Ring::open(ring).map_err(|error| Error::failed(error.to_string()))?;
        let engine = Engine::new(ring, plan.settings(self));
        let live = Live::new(id, pid.unsigned_abs(), pty, engine, self.inner.clock, meta.encode());
        let live = Arc::new(live);
        self.enliven(&live);
        let terminal = plan.terminal(id, uuid, live.pid, &meta);
        let recorded = self.record_opened(terminal.clone()).await;
        self.inner.shards.run(self.clone(), Arc::clone(&live), raw_log.map(OpenLog::start));
        if let Err(error) = recorded {
            let _ = self.close(id).await;
            return Err(error);
        }
        // Now it is in the world as well; who looked a moment ago did not find it there.
        self.roster_changed();
        Ok(terminal)
    }

    async fn record_opened(&self, terminal: Terminal) -> Result<()> {
        self.transact_durably(|tx| {
            // The project may have gone while the child was started.
            tx.world.project(terminal.project)?;
            let id = terminal.id;
            tx.world.insert_terminal(terminal.clone());
            tx.save_terminal(id);
            tx.emit(Event::TerminalOpened(terminal));
            if tx.world.active.is_none() {
                tx.world.active = Some(id);
                tx.save(Change::ActiveSet(Some(id)));
                tx.emit(Event::ActiveTerminalChanged { id: Some(id) });
            }
            Ok(())
        })
        .await
    }

    fn spawn_request(
        &self,
        id: TerminalId,
        plan: &Plan,
        uuid: TerminalUuid,
        meta: &Meta,
    ) -> protocol::Spawn {
        protocol::Spawn {
            terminal_id: id.get(),
            argv: plan.argv.iter().map(|arg| arg.clone().into_bytes()).collect(),
            env: self.child_env(id, uuid, &plan.env),
            cwd: plan.cwd.as_os_str().as_bytes().to_vec(),
            size: protocol::Size {
                rows: plan.size.rows(),
                cols: plan.size.cols(),
                xpixel: plan.size.pixel_width,
                ypixel: plan.size.pixel_height,
            },
            ring_bytes: plan.ring_bytes,
            meta: meta.encode(),
        }
    }

    /// The daemon's environment, what every child is told, and what the caller adds; later wins.
    fn child_env(
        &self,
        id: TerminalId,
        uuid: TerminalUuid,
        extra: &[(String, String)],
    ) -> Vec<Vec<u8>> {
        let config = &self.inner.config;
        let mut env: std::collections::BTreeMap<Vec<u8>, Vec<u8>> = config
            .env
            .iter()
            .map(|(key, value)| (key.as_bytes().to_vec(), value.as_bytes().to_vec()))
            .collect();
        // Programs rely on it, and a daemon may be started without.
        env.entry(b"SHELL".to_vec()).or_insert_with(|| config.shell.clone().into_bytes());
        let uuid = uuid::Uuid::from_bytes(uuid.0).to_string().to_uppercase();
        let own = [
            ("TERM", "xterm-256color".to_owned()),
            ("COLORTERM", "truecolor".to_owned()),
            ("TERM_PROGRAM", "rookery".to_owned()),
            ("TERM_PROGRAM_VERSION", env!("CARGO_PKG_VERSION").to_owned()),
            ("ROOKERY_TERMINAL_ID", id.to_string()),
            ("ROOST_TAB_ID", id.to_string()),
            ("IDX0_SESSION_ID", uuid),
        ];
        let own = own.into_iter().map(|(key, value)| (key.to_owned(), value));
        for (key, value) in own.chain(config.child_env.iter().cloned()).chain(extra.iter().cloned())
        {
            env.insert(key.into_bytes(), value.into_bytes());
        }
        // Left over from a terminal that the daemon itself was started in.
        for key in ["TMUX", "TMUX_PANE", "STY", "WINDOWID", "LINES", "COLUMNS"] {
            if !extra.iter().any(|(name, _)| name == key) {
                env.remove(key.as_bytes());
            }
        }
        env.into_iter()
            .map(|(key, value)| [key.as_slice(), b"=", value.as_slice()].concat())
            .collect()
    }

    /// Ends a terminal and forgets it.
    pub async fn close(&self, id: TerminalId) -> Result<()> {
        let handle = self.terminal(id);
        if let Ok(handle) = &handle {
            // Who waits on it is told now, not when the child has let go.
            handle.give_up();
            handle.end_child().await;
        }
        let live = self.inner.live.write().remove(&id);
        if let Some(live) = &live {
            live.shut();
            self.roster_changed();
        }
        // Waited for, so that a keeper with nothing left to keep ends when we let go of it.
        let _ =
            self.inner.keeper.request(Request::Release { terminal_id: id.get() }, Vec::new()).await;
        self.forget_early_exit(id);
        let forgotten = self
            .transact_durably(|tx| {
                tx.world.terminal(id)?;
                tx.world.remove_terminal(id);
                tx.save(Change::TerminalDeleted(id));
                tx.save(Change::MetaSet { key: noted_key(id), value: None });
                tx.emit(Event::TerminalClosed { id });
                if tx.world.active == Some(id) {
                    let next = tx.world.ordered_terminals().first().map(|terminal| terminal.id);
                    tx.world.active = next;
                    tx.save(Change::ActiveSet(next));
                    tx.emit(Event::ActiveTerminalChanged { id: next });
                }
                Ok(())
            })
            .await;
        // A terminal whose opening failed halfway was live but never in the world.
        if live.is_some() && handle.is_ok() { forgotten.or(Ok(())) } else { forgotten }
    }

    /// Closes every terminal and ends everything that any of them started.
    pub(crate) async fn end_all_terminals(&self) {
        let ids: Vec<TerminalId> = self.inner.world.lock().terminals.keys().copied().collect();
        let mut closing = tokio::task::JoinSet::new();
        for id in ids {
            let core = self.clone();
            closing.spawn(async move { core.close(id).await });
        }
        while closing.join_next().await.is_some() {}
        if let Some(keeper) = self.inner.keeper.pid() {
            let _ = tokio::task::spawn_blocking(move || rookery_host::kill_tree(keeper)).await;
        }
    }
}

/// A log file that was created for a terminal that never came to be.
fn remove_new_log(log: Option<&RawLog>) {
    if let Some(RawLog { path, append: false }) = log {
        let _ = std::fs::remove_file(path);
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Error::failed(error.to_string()))
}

/// A checked request with everything filled in.
struct Plan {
    project: ProjectId,
    argv: Vec<String>,
    cwd: PathBuf,
    env: Vec<(String, String)>,
    size: Size,
    title: Option<String>,
    scrollback: usize,
    transcript_chars: usize,
    ring_bytes: u64,
    raw_log: Option<RawLog>,
}

impl Plan {
    fn meta(&self, uuid: TerminalUuid, log_base: Option<u64>) -> Meta {
        Meta {
            uuid,
            project: self.project,
            argv: self.argv.clone(),
            cwd: self.cwd.clone(),
            user_title: self.title.clone(),
            created_at: clock::wall(),
            size: self.size,
            scrollback: self.scrollback as u64,
            transcript_chars: self.transcript_chars as u64,
            raw_log: self
                .raw_log
                .as_ref()
                .zip(log_base)
                .map(|(log, base)| (absolute(&log.path), base)),
        }
    }

    fn settings(&self, core: &Core) -> EngineSettings {
        EngineSettings {
            size: screen_size(self.size),
            scrollback: self.scrollback,
            transcript_chars: self.transcript_chars,
            palette: core.inner.config.palette.clone(),
            wants_raw: self.raw_log.is_some(),
        }
    }

    fn terminal(self, id: TerminalId, uuid: TerminalUuid, pid: u32, meta: &Meta) -> Terminal {
        Terminal {
            id,
            uuid,
            project: self.project,
            // Values of variables may be secrets, so they are not kept.
            launch: LaunchSpec { argv: self.argv, cwd: self.cwd, env: Vec::new() },
            pid,
            size: self.size,
            program_title: None,
            user_title: self.title,
            reported_cwd: None,
            state: TerminalState::Running,
            created_at: meta.created_at,
            exited_at: None,
        }
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
