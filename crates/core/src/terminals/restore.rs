//! Taking charge of terminals that lived on without a daemon.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rookery_keeper::protocol::{Entry, Reply, Request, State};
use rookery_keeper::ring::Ring;
use rookery_model::{
    Activity, Error, Event, ExitStatus, LaunchSpec, OnExit, ProjectId, Result, Size, Terminal,
    TerminalId, TerminalState, Timestamp,
};
use rookery_store::{Change, ValueKey};
use rookery_term::ScreenSize;

use super::effects::Effects;
use super::engine::{Engine, EngineSettings};
use super::live::Live;
use super::meta::Meta;
use super::notices::exit_status;
use super::raw_log::OpenLog;
use super::request::OpenTerminal;
use crate::rooms::Terminals;

/// A terminal fetched from the keeper and replayed, not yet in charge.
struct Restored {
    live: Arc<Live>,
    effects: Effects,
    raw_log: Option<OpenLog>,
    raw_missing: bytes::Bytes,
    state: State,
    exited_at: u64,
}

impl Terminals {
    /// Brings the world and the keeper's terminals together. Returns how many live on.
    pub(crate) async fn restore(&self) -> Result<usize> {
        let is_same_place = self.is_same_place().await;
        let keeper = &self.core.inner.terminals.keeper;
        let (entries, is_past_known) = match keeper.connect_existing(self.notices()).await? {
            true => (keeper.list().await?, true),
            false => (Vec::new(), is_same_place && !keeper.has_left_socket().await),
        };
        let _ = self.core.inner.terminals.is_past_known.set(is_past_known);
        let entries = self.end_half_closed(entries).await;
        self.adopt_unknown(&entries)?;
        let missed = self.forget_vanished(&entries)?;
        let mut replays = tokio::task::JoinSet::new();
        for entry in entries {
            let core = self.core.clone();
            let attached = self
                .core
                .inner
                .terminals
                .keeper
                .request(Request::Attach { terminal_id: entry.terminal_id }, Vec::new())
                .await;
            let Ok(incoming) = attached else { continue };
            // The state may have moved on since the list was made.
            let entry = match incoming.reply {
                Reply::Attached(newer) => newer,
                _ => entry,
            };
            let Ok([pty, ring]) = <[OwnedFd; 2]>::try_from(incoming.fds) else {
                tracing::error!(
                    terminal = entry.terminal_id,
                    "no descriptors are left for a terminal; the keeper holds it for the next daemon"
                );
                continue;
            };
            replays.spawn_blocking(move || core.terminals().replay(&entry, pty, ring));
        }
        let mut running = 0;
        while let Some(replayed) = replays.join_next().await {
            match replayed {
                Ok(Ok(restored)) => {
                    running += usize::from(restored.state == State::Running);
                    self.take_charge(restored).await;
                }
                Ok(Err(error)) => tracing::error!(%error, "a terminal could not be restored"),
                Err(error) => tracing::error!(%error, "a terminal could not be replayed"),
            }
        }
        self.replace_vanished(missed).await;
        Ok(running)
    }

    /// Terminals that the store does not know (it was damaged, or the daemon died just after the start).
    fn adopt_unknown(&self, entries: &[Entry]) -> Result<()> {
        let unknown: Vec<(&Entry, Meta)> = {
            let world = self.core.look();
            entries
                .iter()
                .filter(|entry| !world.terminals.contains_key(&TerminalId::new(entry.terminal_id)))
                .filter_map(|entry| Some((entry, Meta::decode(&entry.meta)?)))
                .collect()
        };
        self.core
            .transact(|tx| {
                for (entry, meta) in unknown {
                    let id = TerminalId::new(entry.terminal_id);
                    let project = known_project(tx, meta.project, &self.core.inner.config.home);
                    let terminal = Terminal {
                        id,
                        uuid: meta.uuid,
                        project,
                        position: tx.world.next_position(project),
                        launch: LaunchSpec { argv: meta.argv, cwd: meta.cwd, env: Vec::new() },
                        pid: entry.pid.unsigned_abs(),
                        size: meta.size,
                        program_title: None,
                        user_title: meta.user_title,
                        reported_cwd: None,
                        state: TerminalState::Running,
                        created_at: meta.created_at,
                        exited_at: None,
                        last_active: meta.created_at,
                        on_exit: OnExit::Keep,
                        activity: Activity::default(),
                        checkout: None,
                        origin: meta.origin,
                    };
                    tx.world.terminals.insert(id, terminal.clone());
                    tx.world.next_terminal = tx.world.next_terminal.max(id.next());
                    tx.save_terminal(id);
                    tx.emit(Event::TerminalOpened {
                        terminal: Box::new(terminal),
                        is_active: false,
                    });
                }
                Ok(())
            })
            .map(drop)
    }

    /// Terminals that the keeper does not hold any more: it died while no daemon was there, or the
    /// machine was started anew. Returns those whose users want a fresh shell in their place.
    fn forget_vanished(&self, entries: &[Entry]) -> Result<Vec<Terminal>> {
        self.core
            .transact(|tx| {
                let held =
                    |id: &TerminalId| entries.iter().any(|entry| entry.terminal_id == id.get());
                let vanished: Vec<TerminalId> =
                    tx.world.terminals.keys().filter(|id| !held(id)).copied().collect();
                let mut missed = Vec::new();
                for id in vanished {
                    let terminal = tx.world.terminal_mut(id)?;
                    let before = terminal.clone();
                    if before.is_alive() {
                        terminal.state = TerminalState::Exited(ExitStatus::Unknown);
                        tx.emit(Event::TerminalExited { id, status: ExitStatus::Unknown });
                    }
                    if before.is_alive() && before.on_exit == OnExit::Close {
                        tx.take_out(id)?;
                        missed.push(before);
                    } else {
                        tx.close_terminal(id)?;
                    }
                    tx.save(Change::KeptSet { what: ValueKey::Closing(id), value: None });
                }
                Ok(missed)
            })
            .map(|(missed, _)| missed)
    }

    /// Opens a fresh shell in the place of each terminal that is gone for good.
    async fn replace_vanished(&self, missed: Vec<Terminal>) {
        for lost in missed {
            let was_active = self.core.workspace().active() == Some(lost.id);
            let request = OpenTerminal {
                cwd: Some(lost.cwd().to_owned()),
                env: self.core.inner.config.tab_env.clone(),
                size: lost.size,
                project: Some(lost.project),
                title: lost.user_title.clone(),
                activate: was_active,
                on_exit: lost.on_exit,
                any_cwd: true,
                integrate: true,
                ..OpenTerminal::default()
            };
            let opened = self.open(request).await;
            let settled = self.core.transact(|tx| {
                match &opened {
                    Ok(fresh) => {
                        let project = tx.world.terminal(fresh.id)?.project;
                        tx.world.terminals.place(fresh.id, project, lost.position);
                        tx.save_terminal(fresh.id);
                    }
                    Err(error) => tracing::error!(%error, "a tab could not be opened again"),
                }
                tx.left_project(lost.id, lost.project);
                Ok(())
            });
            if let Err(error) = settled {
                tracing::error!(%error, "a tab could not be put in its place");
            }
        }
    }

    /// Rebuilds a terminal's screen. Blocking: it parses up to a ring full of bytes.
    fn replay(&self, entry: &Entry, pty: OwnedFd, ring: OwnedFd) -> Result<Restored> {
        let id = TerminalId::new(entry.terminal_id);
        let limits = &self.core.inner.config.limits;
        let meta = Meta::decode(&entry.meta);
        let ring = Ring::open(ring).map_err(|error| Error::failed(error.to_string()))?;
        let raw_log = meta
            .as_ref()
            .and_then(|meta| meta.raw_log.as_ref())
            .and_then(|(path, base)| OpenLog::reopen(path, *base));
        let settings = EngineSettings {
            size: pty_size(&pty, meta.as_ref().map_or(Size::DEFAULT, |meta| meta.size)),
            scrollback: meta.as_ref().map_or(limits.scrollback, |meta| meta.scrollback as usize),
            transcript_chars: meta
                .map_or(limits.transcript_chars, |meta| meta.transcript_chars as usize),
            palette: self.core.inner.seats.colors(),
            wants_raw: raw_log.is_some(),
        };
        let noted = self.core.inner.store.noted(id).ok().flatten().unwrap_or(0);
        let (engine, effects) =
            Engine::replay(ring, settings, noted, self.core.inner.terminals.clock.now());
        let raw_missing =
            raw_log.as_ref().map(|(_, offset)| engine.bytes_since(*offset)).unwrap_or_default();
        let live = Live::new(
            id,
            entry.pid.unsigned_abs(),
            pty,
            engine,
            self.core.inner.terminals.clock,
            entry.meta.clone(),
            super::capture::Capture::new(self.core.inner.config.limits.captured_input),
        );
        Ok(Restored {
            live: Arc::new(live),
            effects,
            raw_log: raw_log.map(|(log, _)| log),
            raw_missing,
            state: entry.state,
            exited_at: entry.exited_at_micros,
        })
    }

    async fn take_charge(&self, restored: Restored) {
        let Restored { live, mut effects, raw_log, raw_missing, state, exited_at } = restored;
        self.activate_live(&live);
        effects.sequence = live.with_engine(|engine| engine.screen().sequence());
        if !effects.events.is_empty() {
            let events = std::mem::take(&mut effects.events);
            self.note_screen_events(live.id, events, effects.end).await;
        }
        live.carry_out(&mut effects);
        live.with_engine(Engine::mark_handled);
        let raw_log = raw_log.map(OpenLog::start);
        if let Some(log) = &raw_log
            && !raw_missing.is_empty()
        {
            let _ = log.send(raw_missing).await;
        }
        if let State::Exited(status) = state {
            let at = Timestamp::from_micros(i64::try_from(exited_at).unwrap_or(i64::MAX));
            live.child_exited(exit_status(status), at);
        }
        self.core.inner.terminals.shards.run(self.core.clone(), live, raw_log);
    }

    /// After a keeper died: hands the terminals we still hold to a new one, so that they survive us as well.
    /// They stay marked as lost, because how their children end will not be known.
    pub(crate) async fn readopt(&self) {
        let lost = self.all_live();
        if lost.iter().all(|live| live.exit_status().is_some()) {
            return;
        }
        if let Err(error) = self.core.inner.terminals.keeper.ensure(self.notices()).await {
            tracing::error!(%error, "no keeper can be had; terminals will end with this daemon");
            return;
        }
        for live in lost.into_iter().filter(|live| live.exit_status().is_none()) {
            if let Err(error) = self.give_to_keeper(&live).await {
                tracing::error!(%error, terminal = %live.id, "a terminal could not be handed to the new keeper");
            }
        }
    }

    async fn give_to_keeper(&self, live: &Arc<Live>) -> Result<()> {
        let duplicate =
            |fd: &OwnedFd| fd.try_clone().map_err(|error| Error::failed(error.to_string()));
        let pty = duplicate(&live.pty)?;
        let ring = live.with_engine(|engine| engine.ring_file())?;
        let meta = live.meta.clone();
        let pid = i32::try_from(live.pid).map_err(|_| Error::failed("no such process id"))?;
        let request = Request::Adopt { terminal_id: live.id.get(), pid, meta };
        self.core.inner.terminals.keeper.request(request, vec![pty, ring]).await.map(drop)
    }
}

/// The size the kernel knows, which outlives every record of ours.
fn pty_size(pty: &OwnedFd, fallback: Size) -> ScreenSize {
    match rustix::termios::tcgetwinsize(pty) {
        Ok(size) if size.ws_row > 0 && size.ws_col > 0 => ScreenSize {
            rows: size.ws_row,
            cols: size.ws_col,
            pixel_width: size.ws_xpixel,
            pixel_height: size.ws_ypixel,
        },
        _ => super::engine::screen_size(fallback),
    }
}

/// The project of a terminal, or a stand-in when it is not known.
fn known_project(
    tx: &mut crate::world::Tx<'_>,
    wanted: ProjectId,
    home: &std::path::Path,
) -> ProjectId {
    if tx.world.project(wanted).is_ok() {
        return wanted;
    }
    if let Some(first) = tx.world.projects.first() {
        return first.id;
    }
    tx.world.next_project = tx.world.next_project.max(wanted);
    let id = tx.world.mint_project();
    tx.create_project(id, "recovered".to_owned(), home.to_owned());
    id
}
