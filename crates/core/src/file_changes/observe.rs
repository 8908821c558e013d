//! What commands change: a work tree is looked at before and after, and what differs is written down.
//!
//! Only version control is asked, within bounds; where there is none, or it takes too long, nothing is
//! written down. Who of several changed a file that all of them could change is not distinguished.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rookery_host::git::GitError;
use rookery_host::git::changes::{self, FileChange as TreeFile, State, StateLimits, Status};
use rookery_model::{
    ChangeRecord, FileStatus, ItemId, Observation, ObservedFile, ThreadId, TurnId,
};

use crate::clock;
use crate::log::FileChange;
use crate::rooms::FileChanges;
use crate::threads::LiveThread;
use crate::world::Tx;

/// What one look at a work tree may cost.
const LIMITS: StateLimits =
    StateLimits { time: Duration::from_secs(2), files: 5_000, file: 4 << 20, bytes: 64 << 20 };
/// How long a directory is left alone whose work tree took too long.
const TOO_SLOW_FOR: Duration = Duration::from_secs(60);
/// Directories that are remembered for that.
const MAX_SLOW: usize = 64;
/// Files of one observation.
const MAX_FILES: usize = 1_000;

/// Whose command it was.
#[derive(Clone, Debug)]
pub(crate) struct ObservedBy {
    pub(crate) thread: ThreadId,
    /// For which turn; none if a client ran it.
    pub(crate) turn: Option<TurnId>,
    /// The call, or the command's own name.
    pub(crate) call: String,
    /// The item of the call, if a turn made it.
    pub(crate) item: Option<ItemId>,
    pub(crate) tool: String,
}

/// A stretch of time in which a tool may change files. Dropped, it is over.
pub(crate) struct Window {
    all: Arc<Mutex<Windows>>,
    id: u64,
    /// Whether others were open at the same time, at the same place.
    is_shared: Arc<AtomicBool>,
    before: Option<State>,
}

impl Drop for Window {
    fn drop(&mut self) {
        self.all.lock().open.retain(|it| it.id != self.id);
    }
}

/// All windows that are open.
#[derive(Default)]
pub(super) struct Windows {
    last: u64,
    open: Vec<Place>,
}

/// Where a window is open.
struct Place {
    id: u64,
    directory: PathBuf,
    is_shared: Arc<AtomicBool>,
}

impl Windows {
    fn open(&mut self, directory: PathBuf) -> (u64, Arc<AtomicBool>) {
        self.last += 1;
        let (id, is_shared) = (self.last, Arc::new(AtomicBool::new(false)));
        self.open.push(Place { id, directory, is_shared: Arc::clone(&is_shared) });
        self.meet(id);
        (id, is_shared)
    }

    /// A window is open for a whole work tree.
    fn widen(&mut self, id: u64, top: &Path) {
        if let Some(place) = self.open.iter_mut().find(|place| place.id == id) {
            top.clone_into(&mut place.directory);
        }
        self.meet(id);
    }

    /// Marks a window, and those that are open at the same place.
    fn meet(&self, id: u64) {
        let Some(this) = self.open.iter().find(|place| place.id == id) else { return };
        let here = &this.directory;
        for other in self.open.iter().filter(|place| place.id != id) {
            if other.directory.starts_with(here) || here.starts_with(&other.directory) {
                other.is_shared.store(true, Ordering::Relaxed);
                this.is_shared.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl FileChanges {
    /// Says that an edit tool works in a directory. What it changes it says itself.
    pub(crate) fn editing(&self, directory: &Path) -> Window {
        let all = Arc::clone(&self.core.inner.file_changes.windows);
        let (id, is_shared) = all.lock().open(directory.to_owned());
        Window { all, id, is_shared, before: None }
    }

    /// Looks at the work tree around a directory before a command runs there. None if there is none, or
    /// it cannot be looked at within bounds.
    pub(crate) async fn watch(&self, directory: &Path) -> Option<Window> {
        let room = &self.core.inner.file_changes;
        room.slow.lock().retain(|_, since| since.elapsed() < TOO_SLOW_FOR);
        if room.slow.lock().contains_key(directory) {
            return None;
        }
        let mut window = self.editing(directory);
        let state = self.look(directory, Vec::new()).await?;
        room.windows.lock().widen(window.id, state.top());
        window.before = Some(state);
        Some(window)
    }

    async fn look(&self, directory: &Path, also: Vec<Vec<u8>>) -> Option<State> {
        match changes::state(directory, also, LIMITS).await {
            Ok(state) => Some(state),
            Err(GitError::TimedOut(_) | GitError::TooMuchOutput(_)) => {
                let mut slow = self.core.inner.file_changes.slow.lock();
                if slow.len() < MAX_SLOW {
                    slow.insert(directory.to_owned(), Instant::now());
                }
                tracing::debug!(directory = %directory.display(), "too slow to be observed");
                None
            }
            Err(_) => None,
        }
    }

    /// Looks again after the command, and keeps what differs. `merges` adds to what was seen of the same
    /// call before. The window goes on from here, if it can.
    pub(crate) async fn observe(
        &self,
        window: &mut Window,
        by: &ObservedBy,
        merges: bool,
    ) -> Option<()> {
        let before = window.before.take()?;
        let also = before.listed().map(<[u8]>::to_vec).collect();
        let after = self.look(before.top(), also).await?;
        let moved = changes::moved(&before, &after, LIMITS).await.ok()?;
        let differing = before.differing(&after, &moved);
        if !differing.is_empty() {
            let files = self.described(&after, &differing).await;
            let is_shared = window.is_shared.load(Ordering::Relaxed);
            self.keep_observation(by, files, is_shared, merges).await;
        }
        window.before = Some(after);
        Some(())
    }

    /// The files as version control sees them now.
    async fn described(&self, after: &State, differing: &BTreeSet<Vec<u8>>) -> Vec<ObservedFile> {
        let listed = changes::list(after.top()).await.map(|list| list.files).unwrap_or_default();
        let known: BTreeMap<&[u8], &TreeFile> =
            listed.iter().map(|file| (file.path.as_slice(), file)).collect();
        // The old name of a file that has a new one goes with that.
        let renamed: BTreeSet<&[u8]> = listed
            .iter()
            .filter(|file| differing.contains(&file.path))
            .filter_map(|file| file.old_path.as_deref())
            .collect();
        let wanted = differing.iter().filter(|path| !renamed.contains(path.as_slice()));
        let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        let file = |path: &Vec<u8>| match known.get(path.as_slice()) {
            Some(file) => ObservedFile {
                path: text(path),
                old_path: file.old_path.as_deref().map(text),
                status: status(file.status),
                additions: file.additions,
                deletions: file.deletions,
                is_binary: file.is_binary,
            },
            // As it was committed, or gone without a trace.
            None => ObservedFile {
                path: text(path),
                old_path: None,
                status: match after.has(path) {
                    true => FileStatus::Modified,
                    false => FileStatus::Deleted,
                },
                additions: 0,
                deletions: 0,
                is_binary: false,
            },
        };
        wanted.take(MAX_FILES).map(file).collect()
    }

    async fn keep_observation(
        &self,
        by: &ObservedBy,
        files: Vec<ObservedFile>,
        is_shared: bool,
        merges: bool,
    ) {
        let Ok(live) = self.core.threads().live(by.thread).await else { return };
        let kept = self.core.transact_durably(|tx| {
            tx.world.thread(by.thread)?;
            tx.keep_observation(&live, by, files, is_shared, merges);
            Ok(())
        });
        if let Err(error) = kept.await {
            tracing::error!(%error, "what a command changed was not recorded");
        }
    }
}

fn status(status: Status) -> FileStatus {
    match status {
        Status::Added => FileStatus::Added,
        Status::Modified => FileStatus::Modified,
        Status::Deleted => FileStatus::Deleted,
        Status::Renamed => FileStatus::Renamed,
        Status::Untracked => FileStatus::Untracked,
    }
}

impl Tx<'_> {
    fn keep_observation(
        &mut self,
        live: &LiveThread,
        by: &ObservedBy,
        files: Vec<ObservedFile>,
        is_shared: bool,
        merges: bool,
    ) {
        let base = by.item.as_ref().map_or(by.call.as_str(), ItemId::as_str);
        let id = format!("{base}-workspace-observed");
        let known = observation(live, &id);
        let seen = match known {
            Some(known) if merges => merged(known, files, is_shared),
            known => Observation {
                number: self.edit(live).next_change(),
                id: match known {
                    Some(_) => free_id(live, &id),
                    None => id,
                },
                thread: by.thread,
                turn: by.turn,
                call: by.call.clone(),
                tool: by.tool.clone(),
                is_shared,
                files,
                at: clock::wall(),
            },
        };
        self.keep_change(live, ChangeRecord::Observation(seen.clone()));
        self.announce(by.thread, FileChange::Observed(Box::new(seen)));
    }
}

/// What was seen under a name.
fn observation(live: &LiveThread, id: &str) -> Option<Observation> {
    let contents = live.read();
    contents.changes.iter().rev().find_map(|record| match &**record {
        ChangeRecord::Observation(seen) if seen.id == id => Some(seen.clone()),
        _ => None,
    })
}

/// A name that nothing has: this one with a number behind it.
fn free_id(live: &LiveThread, id: &str) -> String {
    let contents = live.read();
    let is_free = |name: &String| contents.changes.iter().all(|record| record.id() != name);
    let mut names = (2..).map(|number| format!("{id}-{number}"));
    names.find(is_free).unwrap_or_else(|| id.to_owned())
}

/// The same with what was seen later.
fn merged(mut seen: Observation, files: Vec<ObservedFile>, is_shared: bool) -> Observation {
    for file in files {
        seen.files.retain(|known| known.path != file.path);
        seen.files.push(file);
    }
    seen.files.sort_by(|a, b| a.path.cmp(&b.path));
    seen.files.truncate(MAX_FILES);
    seen.is_shared |= is_shared;
    seen
}
