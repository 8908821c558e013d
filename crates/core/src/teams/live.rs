//! One team in memory, and its file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rookery_host::files;
use rookery_model::{Error, Result, TeamId, ThreadId, Timestamp, TurnId};
use rookery_teams::{Change, Letter, Team, TurnEnd, file};

use crate::core::blocking;

/// A team with all that is known of it.
pub(super) struct LiveTeam {
    pub(super) id: TeamId,
    state: Mutex<State>,
    /// Where it is kept; none keeps it in memory only.
    path: Option<PathBuf>,
    /// Which state the file has. Held while it is written, so that no older state comes last.
    written: tokio::sync::Mutex<Written>,
    /// Whether a task is about to write.
    is_saving: AtomicBool,
    /// Held by what is asked for, which goes one after the other.
    pub(super) order: tokio::sync::Mutex<()>,
}

/// A team and what is on its way to members.
pub(super) struct State {
    pub(super) team: Team,
    pub(super) letters: Vec<Letter>,
    /// The last turn of each thread whose end was noted.
    ended: HashMap<ThreadId, TurnId>,
    /// Counts changes.
    revision: u64,
}

impl State {
    /// A turn of a member is over; noted once, and with its beginning if that was not noted in time.
    pub(super) fn end_turn(
        &mut self,
        thread: ThreadId,
        turn: TurnId,
        end: TurnEnd,
        at: Timestamp,
    ) -> Vec<Change> {
        let known = self.team.of_thread(thread).and_then(|member| member.turn);
        let is_new = [known, self.ended.get(&thread).copied()].into_iter().flatten().max();
        let mut changes = match is_new.is_none_or(|last| last < turn) {
            true => self.team.begin_turn(thread, turn, at),
            false => Vec::new(),
        };
        let ended = self.team.end_turn(thread, turn, end, at);
        if !ended.is_empty() {
            self.ended.insert(thread, turn);
        }
        changes.extend(ended);
        changes
    }
}

enum Written {
    /// Up to this change.
    Revision(u64),
    /// It was removed, and must not come back.
    Removed,
}

impl LiveTeam {
    pub(super) fn new(team: Team, path: Option<PathBuf>) -> Arc<LiveTeam> {
        Arc::new(LiveTeam {
            id: team.id,
            state: Mutex::new(State {
                team,
                letters: Vec::new(),
                ended: HashMap::new(),
                revision: 1,
            }),
            path,
            written: tokio::sync::Mutex::new(Written::Revision(0)),
            is_saving: AtomicBool::new(false),
            order: tokio::sync::Mutex::default(),
        })
    }

    /// The team as it is now.
    pub(super) fn team(&self) -> Team {
        self.state.lock().team.clone()
    }

    /// Looks at the state.
    pub(super) fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.state.lock())
    }

    /// Changes the state.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock();
        state.revision += 1;
        change(&mut state)
    }

    /// Writes the file, unless it has all of this already.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) async fn save(&self) -> Result<()> {
        let Some(path) = self.path.clone() else { return Ok(()) };
        let mut written = self.written.lock().await;
        let (revision, bytes) = {
            let state = self.state.lock();
            match &*written {
                Written::Removed => return Ok(()),
                Written::Revision(known) if *known >= state.revision => return Ok(()),
                Written::Revision(_) => (state.revision, file::write(&state.team)),
            }
        };
        let bytes = bytes.map_err(Error::failed)?;
        let cannot = |error| Error::failed(format!("the team cannot be saved: {error}"));
        blocking(move || files::replace(&path, &bytes)).await?.map_err(cannot)?;
        *written = Written::Revision(revision);
        Ok(())
    }

    /// Writes the file some time soon; what changes until then goes along.
    pub(super) fn save_soon(self: &Arc<Self>, runtime: &tokio::runtime::Handle) {
        if self.is_saving.swap(true, Ordering::AcqRel) {
            return;
        }
        let live = Arc::clone(self);
        runtime.spawn(async move {
            // Before the state is taken, so that no later change is forgotten.
            live.is_saving.store(false, Ordering::Release);
            if let Err(error) = live.save().await {
                tracing::error!(%error, team = %live.id, "a team could not be written");
            }
        });
    }

    /// Removes the file for good.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub(super) async fn remove(&self) -> Result<()> {
        let mut written = self.written.lock().await;
        if let Some(path) = self.path.clone() {
            let cannot = |error| Error::failed(format!("the team cannot be removed: {error}"));
            blocking(move || files::remove(&path)).await?.map_err(cannot)?;
        }
        *written = Written::Removed;
        Ok(())
    }
}

/// The team in a file, or why there is none. Blocks.
pub(super) fn load(path: &Path) -> std::result::Result<Team, String> {
    match files::read_range(path, 0, None, file::LARGEST) {
        Ok(bytes) => file::read(&bytes),
        Err(files::ReadError::Io(error)) => Err(error.to_string()),
        Err(files::ReadError::TooLarge { limit }) => Err(format!("longer than {limit} bytes")),
    }
}
