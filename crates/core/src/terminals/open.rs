//! Opening and closing terminals. A failed open leaves no trace.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use rookery_host::shell_integration;
use rookery_keeper::protocol::{self, Reply};
use rookery_keeper::ring::Ring;
use rookery_model::{Error, ErrorKind, Event, ProjectId, Result, Terminal, TerminalUuid};

use super::capture::Capture;
use super::engine::Engine;
use super::live::Live;
use super::meta::Meta;
use super::plan::{Home, Ids, Plan};
use super::raw_log::{OpenLog, RawLog};
use super::request::OpenTerminal;
use crate::core::blocking;
use crate::keeper_link::ending;
use crate::rooms::Terminals;
use crate::secrets;
use crate::workspace::Beside;
use crate::world::Active;
use crate::world::Tx;

/// How an opened terminal is put into the world.
struct Placement {
    home: Home,
    activate: bool,
    beside: Option<Beside>,
}

/// Name of the project that is made for a terminal when there is none.
const FIRST_PROJECT: &str = "Default";

/// Characters of transcript at most; the ring must hold them.
const MAX_TRANSCRIPT: usize = 16 << 20;

impl Terminals {
    /// Opens a terminal; when this returns, it is durable.
    pub fn open(&self, request: OpenTerminal) -> BoxFuture<'_, Result<Terminal>> {
        Box::pin(self.open_inner(request))
    }

    async fn open_inner(&self, request: OpenTerminal) -> Result<Terminal> {
        self.core.sessions().ensure_saving()?;
        let cwd = self.usable_cwd(&request).await?;
        let plan = self.plan(request, cwd)?;
        self.core.inner.terminals.keeper.ensure(self.notices()).await?;
        let (home, activate) = (plan.home, plan.activate);
        let ids = self.reserve_ids(home);
        let opened = self.open_as(ids, plan).await;
        // A keeper that answers too late still knows the number.
        if opened.as_ref().is_err_and(|error| error.kind() != ErrorKind::Busy) {
            self.give_back_ids(ids, home);
        }
        let mut opened = opened?;
        if activate {
            self.core.seats().fit_shown().await;
            opened.size = self.describe(ids.terminal).map_or(opened.size, |now| now.size);
        }
        Ok(opened)
    }

    /// Where to start: the directory asked for, else the project's, else home.
    async fn usable_cwd(&self, request: &OpenTerminal) -> Result<PathBuf> {
        let asked = request.cwd.clone().filter(|cwd| !cwd.as_os_str().is_empty());
        let root = {
            let world = self.core.look();
            let project = match request.project {
                Some(id) => Some(world.project(id)?),
                None => world.usual_project(),
            };
            project.map(|project| project.root.clone())
        };
        let home = self.core.inner.config.home.clone();
        if !request.any_cwd {
            let root = root.filter(|root| root.is_absolute());
            return Ok(asked.or(root).unwrap_or(home));
        }
        let candidates = [asked, root, Some(home)];
        blocking(move || {
            let mut candidates = candidates.into_iter().flatten();
            let found = candidates.find(|dir| dir.is_absolute() && dir.is_dir());
            found.unwrap_or_else(|| PathBuf::from("/"))
        })
        .await
    }

    /// Checks a request and fills in what it leaves out. Nothing has happened yet when this fails.
    fn plan(&self, request: OpenTerminal, cwd: PathBuf) -> Result<Plan> {
        let limits = &self.core.inner.config.limits;
        let home = {
            let world = self.core.look();
            if world.terminals.len() >= limits.max_terminals {
                return Err(Error::busy(format!(
                    "there are {} terminals already",
                    world.terminals.len()
                )));
            }
            match request.project {
                Some(id) => Home::Asked(world.project(id)?.id),
                None => world.usual_project().map_or(Home::New, |project| Home::Usual(project.id)),
            }
        };
        let mut argv = request.argv;
        if argv.is_empty() {
            argv.push(self.core.inner.config.shell.clone());
        }
        check_launch(&argv, &request.env)?;
        let (mut title, mut first_title) = (request.title, request.first_title);
        for title in [&mut title, &mut first_title].into_iter().flatten() {
            crate::workspace::check_name("title", title)?;
            secrets::hide(title);
        }
        if !cwd.is_absolute() {
            return Err(Error::invalid(
                "cwd",
                format!("{} is not an absolute path", cwd.display()),
            ));
        }
        let transcript_chars =
            request.transcript_chars.unwrap_or(limits.transcript_chars).min(MAX_TRANSCRIPT);
        Ok(Plan {
            home,
            argv,
            cwd,
            env: request.env,
            env_remove: request.env_remove,
            size: request.size,
            title,
            first_title,
            activate: request.activate,
            on_exit: request.on_exit,
            integrate: request.integrate,
            scrollback: request.scrollback.unwrap_or(limits.scrollback).min(limits.max_scrollback),
            transcript_chars,
            ring_bytes: limits.ring_bytes.max(transcript_chars as u64 * 4 + (64 << 10)),
            raw_log: request.raw_log,
            tap: request.tap,
            uuid: request.uuid,
            checkout: request.checkout,
            beside: request.beside,
            origin: request.origin.unwrap_or_else(|| self.core.caller().origin()),
        })
    }

    /// Numbers for the terminal and, in a world without projects, for one to put it in.
    fn reserve_ids(&self, home: Home) -> Ids {
        self.core.adjust(|world| {
            let terminal = world.mint_terminal();
            let project = match home {
                Home::Asked(id) | Home::Usual(id) => id,
                Home::New => world.mint_project(),
            };
            Ids { terminal, project }
        })
    }

    /// Numbers that were never shown may be given to the next ones.
    fn give_back_ids(&self, ids: Ids, home: Home) {
        let new_project = (home == Home::New).then_some(ids.project);
        self.core.adjust(|world| world.unmint(ids.terminal, new_project));
    }

    fn open_as(&self, ids: Ids, plan: Plan) -> BoxFuture<'_, Result<Terminal>> {
        Box::pin(self.open_as_inner(ids, plan))
    }

    async fn open_as_inner(&self, ids: Ids, plan: Plan) -> Result<Terminal> {
        let id = ids.terminal;
        let raw_log = match plan.raw_log.clone() {
            Some(log) => Some(blocking(move || OpenLog::create(&log)).await??),
            None => None,
        };
        let fresh = || TerminalUuid(*uuid::Uuid::new_v4().as_bytes());
        let uuid = plan.uuid.unwrap_or_else(fresh);
        let meta = plan.meta(ids.project, uuid, raw_log.as_ref().map(|log| log.base));
        let spawn = self.spawn_request(ids, &plan, uuid, &meta);
        // The number may have been another's, whose opening failed.
        self.forget_early_exit(id);
        // Until it is among the live ones, a child that asks for something waits to learn whose it is.
        let opening = self.core.inner.terminals.openings.read().await;
        let spawned = self.core.inner.terminals.keeper.spawn(spawn).await;
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
            ending(id.get())
                .into_iter()
                .for_each(|request| self.core.inner.terminals.keeper.post(request));
            remove_new_log(plan.raw_log.as_ref());
            return Err(Error::failed(
                "this daemon has no descriptors left for another terminal; \
                 close some, or raise the limit of open files",
            ));
        };
        let ring = Ring::open(ring).map_err(|error| Error::failed(error.to_string()))?;
        let engine = Engine::new(ring, plan.settings(&self.core));
        let capture = Capture::new(self.core.inner.config.limits.captured_input);
        let (pid, clock) = (pid.unsigned_abs(), self.core.inner.terminals.clock);
        let live = Live::new(id, pid, pty, engine, clock, meta.encode(), capture);
        let live = Arc::new(live);
        self.activate_live(&live);
        drop(opening);
        let placement = Placement { home: plan.home, activate: plan.activate, beside: plan.beside };
        let raw = raw_log.map(OpenLog::start).or_else(|| plan.tap.clone());
        let terminal = plan.terminal(ids, uuid, live.pid, &meta);
        let recorded = self.record_opened(terminal, placement).await;
        self.core.inner.terminals.shards.run(self.core.clone(), Arc::clone(&live), raw);
        match recorded {
            Ok(terminal) => {
                // Now it is in the world as well; who looked a moment ago did not find it there.
                self.roster_changed();
                Ok(terminal)
            }
            Err(error) => {
                // Whatever the store says: what was refused must not run.
                self.close_refused(id).await;
                Err(error)
            }
        }
    }

    async fn record_opened(
        &self,
        mut terminal: Terminal,
        placement: Placement,
    ) -> Result<Terminal> {
        let Placement { home, activate, beside } = placement;
        self.core
            .transact_durably(|tx| {
                // Projects come and go while a child is started; one that was asked for must be there.
                let there = tx.world.project(terminal.project).map(drop);
                match home {
                    Home::Asked(_) => there?,
                    Home::Usual(_) if there.is_ok() => {}
                    Home::Usual(_) | Home::New => {
                        let reserved = (home == Home::New).then_some(terminal.project);
                        let usual = tx.world.usual_project().map(|project| project.id);
                        terminal.project = usual
                            .unwrap_or_else(|| tx.first_project(reserved, &terminal.launch.cwd));
                    }
                }
                let id = terminal.id;
                terminal.position = tx.world.next_position(terminal.project);
                tx.world.terminals.insert(id, terminal.clone());
                // A pane that closed meanwhile leaves it a tab of its own.
                if let Some(beside) = beside
                    && tx.put_beside(id, beside).is_ok()
                {
                    terminal.position = tx.world.terminal(id)?.position;
                }
                tx.save_terminal(id);
                let is_active = activate || tx.world.active.terminal.is_none();
                let opened = Box::new(terminal.clone());
                tx.emit(Event::TerminalOpened { terminal: opened, is_active });
                if is_active {
                    tx.select(Active { project: Some(terminal.project), terminal: Some(id) });
                }
                Ok(terminal)
            })
            .await
    }

    fn spawn_request(
        &self,
        ids: Ids,
        plan: &Plan,
        uuid: TerminalUuid,
        meta: &Meta,
    ) -> protocol::Spawn {
        let mut env = self.child_env(ids, uuid, &plan.env);
        for name in plan.env_remove.iter().filter(|name| !is_set(&plan.env, name)) {
            env.remove(name.as_bytes());
        }
        let argv = self.integrated(plan, &mut env);
        protocol::Spawn {
            terminal_id: ids.terminal.get(),
            argv: argv.into_iter().map(String::into_bytes).collect(),
            env: env.into_iter().map(|(key, value)| [&key[..], b"=", &value].concat()).collect(),
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

    /// What is really started: a shell may get our integration on its way.
    fn integrated(&self, plan: &Plan, env: &mut Environment) -> Vec<String> {
        let resources = self.core.inner.config.resources.clone().filter(|_| plan.integrate);
        let Some(resources) = resources.filter(|_| self.core.inner.seats.integrates_shells())
        else {
            return plan.argv.clone();
        };
        let known = |name: &str| Some(OsString::from_vec(env.get(name.as_bytes())?.clone()));
        let prepared = shell_integration::prepare(plan.argv.clone(), known, &resources);
        for (key, value) in prepared.set {
            env.insert(key.as_bytes().to_vec(), value.into_vec());
        }
        prepared.argv
    }

    /// The daemon's environment, what every child gets, and what the caller adds; later wins.
    fn child_env(&self, ids: Ids, uuid: TerminalUuid, extra: &[(String, String)]) -> Environment {
        let config = &self.core.inner.config;
        let mut env: Environment = config
            .env
            .iter()
            .map(|(key, value)| (key.as_bytes().to_vec(), value.as_bytes().to_vec()))
            .collect();
        // Programs rely on it, and a daemon may be started without.
        env.entry(b"SHELL".to_vec()).or_insert_with(|| config.shell.clone().into_bytes());
        self.show_helpers(&mut env);
        let name = |uuid: uuid::Uuid| uuid.to_string().to_uppercase();
        let own = [
            ("TERM", "xterm-256color".to_owned()),
            ("COLORTERM", "truecolor".to_owned()),
            ("TERM_PROGRAM", "rookery".to_owned()),
            ("TERM_PROGRAM_VERSION", env!("CARGO_PKG_VERSION").to_owned()),
            ("ROOKERY_TERMINAL_ID", ids.terminal.to_string()),
            ("ROOST_TAB_ID", ids.terminal.to_string()),
            (rookery_host::TERMINAL_MARK, session_mark(uuid)),
            ("IDX0_PROJECT_ID", name(project_uuid(ids.project))),
        ];
        let own = own.into_iter().map(|(key, value)| (key.to_owned(), value));
        for (key, value) in own.chain(config.child_env.iter().cloned()).chain(extra.iter().cloned())
        {
            env.insert(key.into_bytes(), value.into_bytes());
        }
        // Left over from a terminal that the daemon itself was started in.
        for key in ["TMUX", "TMUX_PANE", "STY", "WINDOWID", "LINES", "COLUMNS", "TERMINFO"] {
            if !is_set(extra, key) {
                env.remove(key.as_bytes());
            }
        }
        env
    }

    /// Where our own programs are: in a variable, and first in the search path. There is nothing else
    /// in that directory, so that no other program is hidden.
    fn show_helpers(&self, env: &mut Environment) {
        let Some(dir) = &self.core.inner.config.helpers else { return };
        let dir = dir.as_os_str().as_bytes();
        env.insert(b"IDX0_SHELL_INTEGRATION".to_vec(), dir.to_vec());
        let Some(path) = env.get_mut(&b"PATH"[..]) else { return };
        // A path has no way to say that a colon belongs to a name.
        if !dir.contains(&b':') && path.split(|byte| *byte == b':').next() != Some(dir) {
            *path = [dir, b":", path].concat();
        }
    }
}

/// The name of a terminal in the environment of its processes.
pub(super) fn session_mark(uuid: TerminalUuid) -> String {
    uuid::Uuid::from_bytes(uuid.0).to_string().to_uppercase()
}

/// The name of a project for tools that want a universally unique one; it follows from the number.
fn project_uuid(id: ProjectId) -> uuid::Uuid {
    uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, format!("rookery/project/{id}").as_bytes())
}

impl Tx<'_> {
    /// Makes a project in a world that has none, and selects it.
    fn first_project(&mut self, reserved: Option<ProjectId>, root: &Path) -> ProjectId {
        let id = reserved.unwrap_or_else(|| self.world.mint_project());
        self.create_project(id, FIRST_PROJECT.to_owned(), root.to_owned());
        self.select(Active { project: Some(id), terminal: None });
        id
    }
}

fn is_set(env: &[(String, String)], name: &str) -> bool {
    env.iter().any(|(known, _)| known == name)
}

/// A log file that was created for a terminal that never came to be.
fn remove_new_log(log: Option<&RawLog>) {
    if let Some(RawLog { path, append: false }) = log {
        let _ = std::fs::remove_file(path);
    }
}

/// Variables by name; neither need be UTF-8.
type Environment = std::collections::BTreeMap<Vec<u8>, Vec<u8>>;

fn check_launch(argv: &[String], env: &[(String, String)]) -> Result<()> {
    if argv.first().is_none_or(String::is_empty) {
        return Err(Error::invalid("program", "program must not be empty"));
    }
    let texts = argv.iter().chain(env.iter().flat_map(|(key, value)| [key, value]));
    if texts.into_iter().any(|text| text.contains('\0')) {
        return Err(Error::failed("program, arguments and environment must not contain NUL bytes"));
    }
    match env.iter().find(|(key, _)| key.is_empty() || key.contains('=')) {
        Some((key, _)) => {
            Err(Error::invalid("env", format!("{key:?} is not a name of a variable")))
        }
        None => Ok(()),
    }
}
