//! Accepted work: recorded before it is promised, and taken up again after a restart.
//!
//! What was accepted is finished, or undone and reported in the queue. Whatever it makes carries a
//! name that follows from what was recorded, so that the half-made is found and removed.

use std::time::Duration;

use rookery_host::git::worktree::{self, ReturnOutcome};
use rookery_host::git::{Repository, snapshot};
use rookery_host::wait_for_processes_naming;
use rookery_model::{
    Accepted, AcceptedSession, AcceptedWork, Answer, Category, CheckpointId, Error, PlannedTree,
    Record, RecordKind, RequestId, Result, ReviewId, SessionId, Source, TerminalUuid,
};
use rookery_store::Change;

use super::create::{planned, worktree_error};
use crate::checkpoints::NewCheckpoint;
use crate::clock;
use crate::queue::{AgentStart, NewItem};
use crate::rooms::Sessions;
use crate::world::Tx;

/// How long programs of the last daemon may go on before their work is taken over.
const ORPHANS: Duration = Duration::from_secs(60);

impl Sessions {
    /// Refuses new work while the store cannot save. Nothing of it has happened then, and nothing of
    /// it happens later.
    pub(crate) fn ensure_saving(&self) -> Result<()> {
        match self.core.inner.store.is_failing() {
            true => Err(Error::failed(
                "the store cannot save at present, so nothing was done; make room on its disk and try again",
            )),
            false => Ok(()),
        }
    }

    /// Records work, durably, before anyone is promised that it will be done. The same work again
    /// replaces what was recorded.
    ///
    /// # Errors
    /// If it cannot be recorded. Then it was not accepted, and no trace of it is left.
    pub(crate) async fn accept(&self, work: AcceptedWork) -> Result<()> {
        let accepted = Record::Accepted(Box::new(Accepted { at: clock::wall(), work }));
        let change = Change::RecordUpserted(Box::new(accepted));
        self.core.promise([change]).await
    }

    /// Forgets work that was done, or will not be.
    pub(crate) fn give_up(&self, id: u128) {
        let forgotten = self.core.transact(|tx| {
            tx.done(id);
            Ok(())
        });
        if let Err(error) = forgotten {
            tracing::warn!(%error, "work that is over will be looked at once more");
        }
    }

    /// Takes up what the last daemon accepted and did not finish. Answers at once, for turns wait for
    /// them; the rest in the background.
    pub(crate) fn resume_accepted(&self) {
        let taken = self.core.transact(|tx| Ok(std::mem::take(&mut *tx.world.unfinished)));
        for accepted in taken.map(|(unfinished, _)| unfinished).unwrap_or_default() {
            tracing::info!(at = %accepted.at.as_micros(), "work that was accepted is taken up again");
            match accepted.work {
                AcceptedWork::Answer { request, answer, by } => {
                    self.resume_answer(request, answer, by);
                }
                other => {
                    let core = self.core.clone();
                    let work = async move { core.sessions().resume_work(other).await };
                    self.core.inner.background.spawn_on(work, &self.core.inner.runtime);
                }
            }
        }
    }

    fn resume_answer(&self, request: RequestId, answer: Answer, by: String) {
        if self.core.requests().is_dialog(request) {
            // Whether it was typed shows the screen: if the dialog is gone, it was.
            self.core.requests().note_promised(request, answer, by);
            return self.give_up(request.get());
        }
        let resumed = self.core.transact(|tx| {
            tx.resolve_request(request, answer, &by);
            tx.done(request.get());
            Ok(())
        });
        if let Err(error) = resumed {
            tracing::error!(%error, %request, "an answer that was accepted is not given yet");
        }
    }

    async fn resume_work(&self, work: AcceptedWork) {
        match work {
            AcceptedWork::Answer { .. } => {}
            AcceptedWork::Checkpoint { checkpoint, place, title, summary, review } => {
                let new = NewCheckpoint { place, title, summary, review };
                self.resume_checkpoint(checkpoint, new).await;
            }
            AcceptedWork::Session(session) => self.resume_session(*session).await,
            AcceptedWork::Worktree(tree) => self.resume_worktree(tree).await,
            AcceptedWork::LentWorktree(tree) => self.resume_lent(tree).await,
            AcceptedWork::Delivery(review) => self.resume_delivery(review).await,
        }
    }

    async fn resume_checkpoint(&self, id: CheckpointId, new: NewCheckpoint) {
        if let Some(place) = self.directory_of(&new.place)
            && let Ok(repo) = Repository::discover(&place).await
            && let Err(error) = snapshot::tidy(&repo).await
        {
            tracing::warn!(%error, "what a checkpoint left behind is not removed yet");
        }
        if self.core.checkpoints().get(id).is_ok() {
            return self.give_up(id.get());
        }
        // What goes wrong is in the queue.
        drop(self.core.checkpoints().finish(id, new).await);
    }

    async fn resume_session(&self, mut accepted: AcceptedSession) {
        let id = accepted.session;
        let uuid = TerminalUuid(id.get().to_be_bytes());
        let opened =
            self.core.terminals().list().into_iter().find(|terminal| terminal.uuid == uuid);
        if let Some(terminal) = opened {
            match accepted.is_launching {
                false if terminal.is_alive() => self.start_agent(&terminal, &mut accepted).await,
                false => {}
                true => self.report_unsure_launch(id).await,
            }
            return self.give_up(id.get());
        }
        if let Some(tree) = accepted.tree.take()
            && let Err(error) = undo_tree(&tree).await
        {
            let title = "Session creation failed";
            return self
                .core
                .checkpoints()
                .file_failure_of(id, title, &error, Some(id.get()))
                .await;
        }
        // What goes wrong is in the queue.
        drop(self.finish(accepted).await);
    }

    /// Whether the command was typed is unknown, and typing it twice would start two agents.
    async fn report_unsure_launch(&self, session: SessionId) {
        let filed = self.core.transact_durably(|tx| {
            let text = "the daemon stopped while the agent was being started; \
                        look whether it runs, and start it if it does not";
            tx.file(NewItem {
                session: Some(session),
                related: None,
                category: Category::Blocked,
                title: AgentStart::Interrupted.title().to_owned(),
                subtitle: Some(text.to_owned()),
                source: Source::Protocol,
            });
            tx.done(session.get());
            Ok(())
        });
        if let Err(error) = filed.await {
            tracing::error!(%error, "an interrupted launch could not be reported");
        }
    }

    /// No client was answered, so it is undone.
    async fn resume_worktree(&self, tree: PlannedTree) {
        let id = AcceptedWork::Worktree(tree.clone()).id();
        let undone = undo_tree(&tree).await;
        self.core.worktrees().raise_changed();
        let error = match undone {
            Ok(()) => Error::failed("the daemon stopped while it was made; it was undone"),
            Err(error) => error,
        };
        let title = format!("Worktree {} not created", tree.path.display());
        self.core.checkpoints().file_failure_of(None, &title, &error, Some(id)).await;
    }

    /// The agent that worked in it is over: it goes unless there is work in it.
    async fn resume_lent(&self, tree: PlannedTree) {
        let id = AcceptedWork::LentWorktree(tree.clone()).id();
        let kept = match ended_in(&tree).await {
            Ok(()) => worktree::give_back(&planned(&tree)).await.map_err(worktree_error),
            Err(error) => Err(error),
        };
        let shown = tree.path.display();
        match kept {
            Ok(ReturnOutcome::Removed) => {
                self.core.worktrees().raise_changed();
                self.give_up(id);
            }
            Ok(ReturnOutcome::Kept(branch)) => {
                let branch = branch.map(|branch| format!(", branch {branch}"));
                let text = format!("{shown}{}", branch.unwrap_or_default());
                self.report_kept(text, id).await;
            }
            Err(error) => {
                let title = format!("Worktree {shown} not given back");
                let checkpoints = self.core.checkpoints();
                checkpoints.file_failure_of(None, &title, &error, Some(id)).await;
            }
        }
    }

    async fn report_kept(&self, text: String, accepted: u128) {
        let filed = self.core.transact_durably(|tx| {
            tx.file(NewItem {
                session: None,
                related: None,
                category: Category::Informational,
                title: "Work of an interrupted agent was kept".to_owned(),
                subtitle: Some(text.clone()),
                source: Source::Protocol,
            });
            tx.done(accepted);
            Ok(())
        });
        if let Err(error) = filed.await {
            tracing::error!(%error, text, "kept work of an agent could not be reported");
        }
    }

    /// It may have reached the agent already, so it is not said a second time.
    async fn resume_delivery(&self, id: ReviewId) {
        let review = self.core.reviews().get(id).ok();
        let is_open = |comments: &[rookery_model::ReviewComment]| {
            comments.iter().any(|comment| !comment.is_delivered)
        };
        match review.filter(|review| is_open(&review.comments)) {
            None => self.give_up(id.get()),
            Some(review) => {
                let error = Error::failed(
                    "the daemon stopped while comments went to the agent; deliver again if they did not arrive",
                );
                let title = "Review not delivered";
                let session = review.place.session();
                self.core
                    .checkpoints()
                    .file_failure_of(session, title, &error, Some(id.get()))
                    .await;
            }
        }
    }
}

/// Removes what was made of a worktree, once the last daemon's git has let go of it.
async fn undo_tree(tree: &PlannedTree) -> Result<()> {
    ended_in(tree).await?;
    worktree::undo_planned(&planned(tree)).await.map_err(worktree_error)
}

/// Waits for the last daemon's programs to let go of a worktree.
async fn ended_in(tree: &PlannedTree) -> Result<()> {
    let word = tree.path.to_string_lossy().into_owned();
    match wait_for_processes_naming(&word, ORPHANS).await {
        true => Ok(()),
        false => Err(Error::busy(format!("a program still works on {word}"))),
    }
}

impl Tx<'_> {
    /// Accepted work is done, or will not be.
    pub(crate) fn done(&mut self, id: u128) {
        self.forget(RecordKind::Accepted, id);
    }
}
