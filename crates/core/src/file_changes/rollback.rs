//! Takes a hunk back, once, and says what came of it.

use futures_util::future::BoxFuture;
use rookery_agent::tools::{self, RollbackError};
use rookery_changes::{Reverted, expected};
use rookery_model::{ChangeRecord, Error, ErrorKind, Hunk, Result, Rollback, ThreadId, Undone};

use crate::log::FileChange;
use crate::rooms::FileChanges;
use crate::threads::LiveThread;
use crate::world::{Tx, no_thread};

/// What is said to a client that did not confirm.
const UNCONFIRMED: &str = "rollback requires confirmation";
const ALREADY: &str = "the hunk was already rolled back";
const UNDER_WAY: &str = "the hunk is being rolled back already";

/// What came of taking a hunk back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolledBack {
    /// Why it was not; none if it was.
    pub error: Option<String>,
}

/// A hunk that is being taken back. Dropped, it is not any more.
struct UnderWay<'a> {
    changes: &'a FileChanges,
    key: (ThreadId, String),
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.changes.core.inner.file_changes.rolling_back.lock().remove(&self.key);
    }
}

impl FileChanges {
    /// Takes a hunk of a thread back, if that is confirmed. The file has its old lines then, or is as it was.
    ///
    /// # Errors
    /// If there is no such thread or hunk, or the outcome cannot be kept.
    pub async fn roll_back(
        &self,
        thread: ThreadId,
        id: &str,
        is_confirmed: bool,
    ) -> Result<RolledBack> {
        let live = self.core.threads().live(thread).await.map_err(|_| no_thread(thread))?;
        let hunk = self.hunk(thread, id).await.ok_or_else(|| no_hunk(id))?;
        let requested = FileChange::RollbackRequested { turn: hunk.turn, hunk: id.to_owned() };
        self.announce(&hunk, requested);
        if !is_confirmed {
            return Ok(self.completed(&hunk, Some(UNCONFIRMED.to_owned())));
        }
        // A caller that goes away meanwhile does not stop it half way.
        let this = self.clone();
        let work = tokio::spawn(async move {
            let outcome = this.rolled_back(&live, &hunk).await;
            let error = match &outcome {
                Ok(error) => error.clone(),
                Err(error) => Some(error.to_string()),
            };
            let done = this.completed(&hunk, error);
            outcome.map(|_| done)
        });
        work.await.map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?
    }

    /// Says what came of it.
    fn completed(&self, hunk: &Hunk, error: Option<String>) -> RolledBack {
        let (turn, id) = (hunk.turn, hunk.id.clone());
        let done = FileChange::RollbackCompleted { turn, hunk: id, error: error.clone() };
        self.announce(hunk, done);
        RolledBack { error }
    }

    fn announce(&self, hunk: &Hunk, change: FileChange) {
        self.core.inner.log.spine().send(Some(hunk.thread), [change.into()]);
    }

    /// Takes it back; why it was not.
    fn rolled_back<'a>(
        &'a self,
        live: &'a LiveThread,
        hunk: &'a Hunk,
    ) -> BoxFuture<'a, Result<Option<String>>> {
        Box::pin(self.rolled_back_inner(live, hunk))
    }

    async fn rolled_back_inner(&self, live: &LiveThread, hunk: &Hunk) -> Result<Option<String>> {
        let key = (hunk.thread, hunk.id.clone());
        if !self.core.inner.file_changes.rolling_back.lock().insert(key.clone()) {
            return Ok(Some(UNDER_WAY.to_owned()));
        }
        let _under_way = UnderWay { changes: self, key };
        // As it is now that no other does it.
        let Some(hunk) = self.hunk(hunk.thread, &hunk.id).await else {
            return Ok(Some("the hunk is not kept any more".to_owned()));
        };
        match &hunk.rollback {
            Rollback::Applied => return Ok(Some(ALREADY.to_owned())),
            Rollback::Unavailable(reason) => return Ok(Some(reason.clone())),
            Rollback::Available | Rollback::Conflict(_) => {}
        }
        let seen = self.core.threads().get(hunk.thread).ok_or_else(|| no_thread(hunk.thread))?;
        let context = match self.core.threads().file_context(&seen.thread).await {
            Ok(context) => context,
            Err(error) => return Ok(Some(error.to_string())),
        };
        // Known before anything is done, so that what a dying daemon did can be determined.
        self.note(live, &hunk, |hunk| hunk.is_begun = true).await?;
        let at = self.place_of(live, &hunk);
        let result = tools::roll_back(context, hunk.edit.clone(), at, hunk.is_begun).await;
        self.settle(live, &hunk, result).await
    }

    /// Where its lines should be by now.
    fn place_of(&self, live: &LiveThread, hunk: &Hunk) -> u64 {
        let records = live.read().changes.clone();
        let all = records.iter().filter_map(|record| match &**record {
            ChangeRecord::Hunk(hunk) => Some(hunk),
            ChangeRecord::Observation(_) => None,
        });
        expected(hunk, &all.collect::<Vec<_>>())
    }

    /// Notes what came of it; why it was not taken back.
    async fn settle(
        &self,
        live: &LiveThread,
        hunk: &Hunk,
        result: std::result::Result<Reverted, RollbackError>,
    ) -> Result<Option<String>> {
        match result {
            Ok(Reverted { at, removed, added, .. }) => {
                let number = live.stream().next_change();
                self.note(live, hunk, |hunk| {
                    hunk.rollback = Rollback::Applied;
                    hunk.undone = Some(Undone { number, at, removed, added });
                })
                .await?;
                Ok(None)
            }
            Err(RollbackError::Already) => {
                self.note(live, hunk, |hunk| hunk.rollback = Rollback::Applied).await?;
                Ok(Some(ALREADY.to_owned()))
            }
            Err(RollbackError::Conflict(reason)) => {
                let message = reason.clone();
                self.note(live, hunk, |hunk| {
                    hunk.rollback = Rollback::Conflict(message);
                    hunk.is_begun = false;
                })
                .await?;
                Ok(Some(reason))
            }
            Err(RollbackError::Failed(reason)) => {
                self.note(live, hunk, |hunk| hunk.is_begun = false).await?;
                Ok(Some(reason))
            }
        }
    }

    /// Changes what is kept of a hunk.
    async fn note(
        &self,
        live: &LiveThread,
        hunk: &Hunk,
        change: impl FnOnce(&mut Hunk) + Send,
    ) -> Result<()> {
        self.core
            .transact_durably(|tx: &mut Tx<'_>| {
                let mut hunk = hunk.clone();
                change(&mut hunk);
                tx.keep_change(live, ChangeRecord::Hunk(hunk));
                Ok(())
            })
            .await
    }
}

fn no_hunk(id: &str) -> Error {
    let shown: String = id.chars().take(128).collect();
    Error::not_found(format!("unknown hunk {shown:?}"))
}
