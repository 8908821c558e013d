//! Children that were at work when the daemon ended. Those that waited for a person wait again if a turn
//! waits for their answer; the others have failed, and so say their traces.

use std::sync::Arc;
use std::time::Duration;

use rookery_model::{
    ChildExit, ChildOf, Error, ParentTurn, Result, ThreadId, Timestamp, Trace, TraceBody,
    TraceEntry, TraceStatus, Turn, TurnId, TurnStatus,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::drive::{Allowance, CANCELLED, Driver, RESTARTED, outcome};
use super::room::{Active, Membership};
use super::{Child, ChildDone};
use crate::rooms::Children;
use crate::threads::{LiveThread, is_awaited};

/// What an open turn of the last daemon is to those who gave it as work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing: a person began it, or something else that does not wait.
    Own,
    /// A call of this turn waits for what comes of it.
    Awaited(ParentTurn),
    /// Who waited for it is gone with the last daemon. This was its parent.
    Abandoned(Option<ParentTurn>),
}

impl Children {
    /// Looks at an open turn of the last daemon, and takes up the trace of a child that is waited for,
    /// before anything happens in it.
    pub(crate) async fn find(&self, turn: &Turn) -> Found {
        let threads = self.core.threads();
        let Some(of) = threads.get(turn.thread).and_then(|seen| seen.thread.child) else {
            return Found::Own;
        };
        let live = match of.parent {
            Some(parent) => threads.live(parent.thread).await.ok(),
            None => None,
        };
        let trace = of.trace.zip(live.as_deref());
        let trace = trace.and_then(|(id, live)| live.read().trace(id).cloned());
        let is_traced = trace
            .is_some_and(|trace| !trace.status.is_final() && trace.child_turn == Some(turn.id));
        if !turn.settings.is_given && !is_traced {
            return Found::Own;
        }
        let waiting = of.parent.zip(live.clone()).filter(|(parent, live)| {
            let contents = live.read();
            let parent = contents.turn(parent.turn);
            let is_open = parent.is_some_and(|parent| parent.status == TurnStatus::InProgress);
            is_open && is_awaited(&contents, turn.thread)
        });
        let (Some((parent, live)), Some(trace), true) = (waiting, of.trace, is_traced) else {
            return Found::Abandoned(of.parent);
        };
        let active = Active {
            parent: Some(parent),
            trace: Some((trace, live)),
            stop: CancellationToken::new(),
            waits: watch::Sender::new(true),
        };
        // There are no more of them than there were.
        let _ = self.core.inner.children.enter(turn.thread, Arc::new(active));
        Found::Awaited(parent)
    }

    /// A child that was found has not been taken up again.
    pub(crate) fn let_go(&self, child: ThreadId) {
        self.core.inner.children.leave(child);
    }

    /// Stops a child that was taken up again for a turn that was not.
    pub(crate) async fn stop_abandoned(&self, child: ThreadId) {
        if let Err(error) = self.core.threads().stop_turn(child).await {
            tracing::warn!(%error, "a child agent without a parent goes on");
        }
        let error = Some(CANCELLED.category.to_owned());
        self.end_trace(child, ChildExit::Cancelled, error, None).await;
        self.let_go(child);
    }

    /// Ends the traces of a turn whose children are neither queued nor at work any more.
    pub(crate) async fn settle_lost(&self, live: &LiveThread, parent: ParentTurn) {
        let room = &self.core.inner.children;
        let lost: Vec<Trace> = {
            let contents = live.read();
            let of_turn = contents.traces.iter().filter(|trace| trace.parent == parent);
            let open = of_turn.filter(|trace| !trace.status.is_final());
            open.filter(|trace| room.get(trace.child).is_none()).cloned().collect()
        };
        for trace in lost {
            let turn = match trace.child_turn {
                Some(turn) => self.core.threads().turn(trace.child, turn).await.ok().flatten(),
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

    /// The same for a turn that is not taken up itself.
    pub(crate) async fn settle_lost_of(&self, parent: ParentTurn) {
        if let Ok(live) = self.core.threads().live(parent.thread).await {
            self.settle_lost(&live, parent).await;
        }
    }

    /// Waits for a child that another daemon started and this one took up again.
    pub(crate) async fn rejoin(&self, id: ThreadId) -> Result<Child> {
        let seen = self.core.threads().get(id).ok_or_else(|| crate::world::no_thread(id))?;
        let gone = || Error::conflict("the child agent is over");
        let of = seen.thread.child.ok_or_else(gone)?;
        let active = self.core.inner.children.get(id).ok_or_else(gone)?;
        // It may have come to its end since it was taken up.
        let last = self.core.threads().live(id).await?.read().turns.last().map(|it| it.id);
        let begun = seen.status.active_turn.or(last).ok_or_else(gone)?;
        let trace = active.trace.as_ref();
        let worked =
            trace.and_then(|(id, live)| live.read().trace(*id).map(|it| worked(&it.entries)));
        let bounds = self.bounds(&of);
        let (turn, watched) = watch::channel(Some(begun));
        let driver = Driver {
            core: self.core.detached(),
            child: id,
            member: Membership { core: self.core.detached(), child: id, active },
            agent: of.agent.clone(),
            model: seen.thread.choice.model,
            lane: of.lane,
            schema: None,
            timeout: bounds.0.saturating_sub(worked.unwrap_or_default()),
            max_chars: bounds.1,
            max_calls: of.max_calls,
            profile: self.profile(),
            client: None,
            keys: Vec::new(),
            turn,
        };
        Ok(self.launch(driver, watched, move |driver| driver.resume(begun)))
    }

    /// How long a child may work, and how many characters of its answer count.
    fn bounds(&self, of: &ChildOf) -> (Duration, usize) {
        let settings = self.core.inner.agents.settings();
        let set = &settings.subagents;
        let usual = of.lane.map_or(set.timeout, |lane| set.lane(lane).timeout.min(set.timeout));
        let chars = of.max_chars.unwrap_or(set.max_result_chars);
        (of.timeout.unwrap_or(usual), usize::try_from(chars).unwrap_or(usize::MAX))
    }
}

impl Driver {
    /// Goes on with a child that waited when the last daemon ended.
    async fn resume(self, turn: TurnId) -> ChildDone {
        let Some(_place) = self.core.inner.children.place(self.lane).await else {
            let cancelled = (ChildExit::Cancelled, Some(CANCELLED));
            return self.finish(Some(turn), cancelled, None).await;
        };
        let mut left = Allowance(self.timeout);
        let outcome = self.watch(turn, &mut left).await;
        self.finish(Some(turn), outcome, None).await
    }
}

/// How long a child has worked by what its trace says. What it waited for a person does not count, and
/// neither does what happened after the trace was full.
fn worked(entries: &[TraceEntry]) -> Duration {
    let (mut all, mut since) = (Duration::ZERO, None::<Timestamp>);
    for entry in entries {
        match entry.body {
            TraceBody::Status(TraceStatus::Running) => since = since.or(Some(entry.at)),
            TraceBody::Status(_) | TraceBody::Cut => {
                let Some(began) = since.take() else { continue };
                let micros = entry.at.as_micros().saturating_sub(began.as_micros());
                all += Duration::from_micros(u64::try_from(micros).unwrap_or(0));
            }
            TraceBody::Text(_) | TraceBody::Called(_) | TraceBody::Returned(_) => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use rookery_model::ItemId;

    use super::*;

    #[test]
    fn what_a_child_waits_for_a_person_is_no_work() {
        let at = |seconds: i64, body| TraceEntry {
            at: Timestamp::from_micros(seconds * 1_000_000),
            body,
        };
        let status = TraceBody::Status;
        let entries = vec![
            at(0, status(TraceStatus::Running)),
            at(2, TraceBody::Text(ItemId::new("a"))),
            at(3, status(TraceStatus::Waiting)),
            at(60, status(TraceStatus::Running)),
            at(64, status(TraceStatus::Waiting)),
        ];
        assert_eq!(worked(&entries), Duration::from_secs(7));
        let back = [at(9, status(TraceStatus::Running)), at(1, TraceBody::Cut)];
        assert_eq!(worked(&back), Duration::ZERO);
        assert_eq!(worked(&[]), Duration::ZERO);
    }
}
