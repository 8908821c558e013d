//! The branch that each project stands on. It is read beside the frames, after something around them
//! changed, and never while nothing does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use rookery_core::Core;
use tokio::time::sleep;

use super::Session;

/// The shortest time between two looks.
const PACE: Duration = Duration::from_secs(1);

/// What is known of branches, and whether they are being looked at.
#[derive(Default)]
pub(crate) struct Branches {
    known: BTreeMap<PathBuf, String>,
    roots: Vec<PathBuf>,
    is_looking: bool,
    /// Something changed since the look began.
    is_due: bool,
}

impl Branches {
    pub(crate) fn of(&self, root: &Path) -> Option<String> {
        self.known.get(root).cloned()
    }
}

impl Session {
    /// Something around terminals changed, so a project may stand on another branch.
    pub(crate) fn look_at_branches(self: &Arc<Self>, core: &Core, roots: Vec<PathBuf>) {
        let begins = self.look(|state| {
            state.branches.roots = roots;
            state.branches.is_due = true;
            !std::mem::replace(&mut state.branches.is_looking, true)
        });
        if begins {
            tokio::spawn(look(core.clone(), Arc::downgrade(self)));
        }
    }
}

async fn look(core: Core, session: Weak<Session>) {
    loop {
        let Some(now) = session.upgrade() else { return };
        let roots = now.look(|state| {
            let is_due = std::mem::take(&mut state.branches.is_due);
            state.branches.is_looking = is_due;
            is_due.then(|| state.branches.roots.clone())
        });
        let Some(roots) = roots else { return };
        drop(now);
        let found = core.worktrees().branches(roots).await;
        let Some(now) = session.upgrade() else { return };
        if now.look(|state| state.branches.known != found) {
            now.change(|state| state.branches.known = found);
        }
        drop(now);
        sleep(PACE).await;
    }
}
