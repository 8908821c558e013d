//! Children that were at work when the daemon ended. Those that waited for a person wait again, and their
//! parents for them; the others have failed, and so say their traces.

use std::sync::Arc;

use rookery_model::{ChildExit, ParentTurn, ThreadId, Trace};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::drive::{CANCELLED, RESTARTED, outcome};
use super::room::Active;
use crate::rooms::Children;
use crate::threads::LiveThread;

impl Children {
    /// Takes up the trace of a child whose turn is open, before anything happens in it.
    pub(crate) async fn adopt(&self, child: ThreadId) {
        let threads = self.core.threads();
        let Some(of) = threads.get(child).and_then(|seen| seen.thread.child) else { return };
        let (Some(parent), Some(trace)) = (of.parent, of.trace) else { return };
        let Ok(live) = threads.live(parent.thread).await else { return };
        let active = Active {
            parent: Some(parent),
            trace: Some((trace, live)),
            stop: CancellationToken::new(),
            waits: watch::Sender::new(true),
        };
        // There are no more of them than there were.
        let _ = self.core.inner.children.enter(child, Arc::new(active));
    }

    /// Ends the traces of a turn whose children do not work any more.
    pub(crate) async fn settle_lost(&self, live: &LiveThread, parent: ParentTurn) {
        let open: Vec<Trace> = {
            let contents = live.read();
            let of_turn = contents.traces.iter().filter(|trace| trace.parent == parent);
            of_turn.filter(|trace| !trace.status.is_final()).cloned().collect()
        };
        for trace in open {
            let threads = self.core.threads();
            let seen = threads.get(trace.child);
            if seen.as_ref().is_some_and(|seen| seen.status.active_turn.is_some()) {
                continue;
            }
            let turn = match trace.child_turn {
                Some(turn) => threads.turn(trace.child, turn).await.ok().flatten(),
                None => None,
            };
            let lost = (ChildExit::Failed, Some(RESTARTED));
            let (exit, trouble) = turn.as_ref().map_or(lost, |turn| outcome(turn, u32::MAX, None));
            let error = trouble.map(|trouble| trouble.category.to_owned());
            let usage = turn.map(|turn| turn.usage).filter(|usage| !usage.is_zero());
            let ended = self.core.transact_durably(|tx| {
                tx.end_trace(live, trace.id, exit, error, usage);
                Ok(())
            });
            if let Err(error) = ended.await {
                tracing::error!(%error, "the end of a child agent was not recorded");
            }
        }
    }

    /// Stops children that no turn waits for any more.
    pub(crate) async fn stop_abandoned(&self) {
        let abandoned: Vec<ThreadId> = {
            let world = self.core.look();
            let is_active = |parent: ParentTurn| {
                let active = world.threads.get(&parent.thread).and_then(|it| it.active.as_ref());
                active.is_some_and(|active| active.turn == parent.turn)
            };
            let active = world.threads.iter().filter(|(_, state)| state.active.is_some());
            let lost = active.filter(|(_, state)| {
                let parent = state.thread.child.as_deref().and_then(|child| child.parent);
                parent.is_some_and(|parent| !is_active(parent))
            });
            lost.map(|(id, _)| *id).collect()
        };
        for child in abandoned {
            if let Err(error) = self.core.threads().stop_turn(child).await {
                tracing::warn!(%error, "a child agent without a parent goes on");
            }
            let error = Some(CANCELLED.category.to_owned());
            self.end_trace(child, ChildExit::Cancelled, error, None).await;
            self.core.inner.children.leave(child);
        }
    }
}
