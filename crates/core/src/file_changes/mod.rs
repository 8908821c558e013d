//! What happened to files in threads: edits of tools, which can be taken back, and what commands were
//! seen to change.
//!
//! Both are kept with their thread, in one order. How an edit is taken back is an engine's business.

mod observe;
mod record;
mod rollback;
mod room;
mod sessions;

use std::sync::Arc;

use rookery_model::{ChangeRecord, Hunk, Observation, PlanKey, ThreadId, TurnId};

use crate::rooms::FileChanges;

pub(crate) use observe::{ObservedBy, Window};
pub(crate) use record::EditsMade;
pub use rollback::RolledBack;
pub(crate) use room::Room;

/// Which hunks of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HunkQuery {
    /// Only those of this turn.
    pub turn: Option<TurnId>,
    /// Only those that carried out this plan.
    pub plan: Option<PlanKey>,
    /// Only those of this file.
    pub path: Option<String>,
}

impl HunkQuery {
    fn fits(&self, hunk: &Hunk) -> bool {
        let is_of =
            |path: &String| hunk.edit.path == *path || hunk.edit.old_path.as_ref() == Some(path);
        self.turn.is_none_or(|turn| hunk.turn == Some(turn))
            && self.plan.as_ref().is_none_or(|plan| hunk.plan.as_ref() == Some(plan))
            && self.path.as_ref().is_none_or(is_of)
    }
}

impl FileChanges {
    /// The hunks of a thread, in the order in which they were made. None if there is no such thread.
    pub async fn hunks(&self, thread: ThreadId, query: &HunkQuery) -> Vec<Hunk> {
        let records = self.records(thread).await;
        let hunks = records.iter().filter_map(|record| match &**record {
            ChangeRecord::Hunk(hunk) if query.fits(hunk) => Some(hunk.clone()),
            _ => None,
        });
        hunks.collect()
    }

    /// One hunk of a thread.
    pub async fn hunk(&self, thread: ThreadId, id: &str) -> Option<Hunk> {
        let records = self.records(thread).await;
        records.iter().find_map(|record| match &**record {
            ChangeRecord::Hunk(hunk) if hunk.id == id => Some(hunk.clone()),
            _ => None,
        })
    }

    /// What commands of a thread were seen to change, in the order in which it was seen.
    pub async fn observations(&self, thread: ThreadId, turn: Option<TurnId>) -> Vec<Observation> {
        let records = self.records(thread).await;
        let seen = records.iter().filter_map(|record| match &**record {
            ChangeRecord::Observation(seen) if turn.is_none_or(|it| seen.turn == Some(it)) => {
                Some(seen.clone())
            }
            _ => None,
        });
        seen.collect()
    }

    async fn records(&self, thread: ThreadId) -> Vec<Arc<ChangeRecord>> {
        match self.core.threads().live(thread).await {
            Ok(live) => live.read().changes.clone(),
            Err(_) => Vec::new(),
        }
    }
}
