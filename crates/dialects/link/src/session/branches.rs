//! What is read of directories: the branch that each project stands on, and how many files those changed
//! that work in one. It is read beside the frames, after something around them changed, and never while
//! nothing does.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use rookery_core::Core;
use tokio::time::sleep;

use super::{Session, State};

/// What is known of directories, and whether they are being looked at.
pub(crate) struct Places<T> {
    known: BTreeMap<PathBuf, T>,
    dirs: Vec<PathBuf>,
    is_looking: bool,
    /// Something changed since the look began.
    is_due: bool,
}

impl<T> Default for Places<T> {
    fn default() -> Self {
        Self { known: BTreeMap::new(), dirs: Vec::new(), is_looking: false, is_due: false }
    }
}

impl<T: Clone> Places<T> {
    pub(crate) fn of(&self, dir: &Path) -> Option<T> {
        self.known.get(dir).cloned()
    }
}

type Reading<T> = Pin<Box<dyn Future<Output = BTreeMap<PathBuf, T>> + Send>>;

/// Something that is read of directories.
pub(super) struct Reader<T: 'static> {
    part: fn(&mut State) -> &mut Places<T>,
    read: fn(Core, Vec<PathBuf>) -> Reading<T>,
    /// The shortest time between two looks.
    pace: Duration,
}

/// The branches that projects stand on, which costs next to nothing.
pub(super) const BRANCHES: Reader<String> = Reader {
    part: |state| &mut state.branches,
    read: |core, dirs| Box::pin(async move { core.worktrees().branches(dirs).await }),
    pace: Duration::from_secs(1),
};

/// How many files were changed, which git has to count.
pub(super) const CHANGES: Reader<u32> = Reader {
    part: |state| &mut state.changes,
    read: |core, dirs| Box::pin(async move { core.worktrees().changed_files(dirs).await }),
    pace: Duration::from_secs(5),
};

impl Session {
    /// Something around terminals changed, so what is read of directories may be something else.
    pub(super) fn look_at<T: PartialEq + Send>(
        self: &Arc<Self>,
        core: &Core,
        reader: &'static Reader<T>,
        dirs: Vec<PathBuf>,
    ) {
        let begins = self.look(|state| {
            let places = (reader.part)(state);
            (places.dirs, places.is_due) = (dirs, true);
            !std::mem::replace(&mut places.is_looking, true)
        });
        if begins {
            tokio::spawn(look(core.clone(), Arc::downgrade(self), reader));
        }
    }
}

async fn look<T: PartialEq + Send>(core: Core, session: Weak<Session>, reader: &'static Reader<T>) {
    loop {
        let Some(now) = session.upgrade() else { return };
        let dirs = now.look(|state| {
            let places = (reader.part)(state);
            let is_due = std::mem::take(&mut places.is_due);
            places.is_looking = is_due;
            is_due.then(|| places.dirs.clone())
        });
        let Some(dirs) = dirs else { return };
        drop(now);
        let found = (reader.read)(core.clone(), dirs).await;
        let Some(now) = session.upgrade() else { return };
        if now.look(|state| (reader.part)(state).known != found) {
            now.change(|state| (reader.part)(state).known = found);
        }
        drop(now);
        sleep(reader.pace).await;
    }
}
