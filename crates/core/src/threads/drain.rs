//! The end of turns before the daemon ends: those that run are stopped, those that wait go on waiting
//! for the next daemon.

use std::time::Duration;

use rookery_model::{ThreadId, TurnErrorKind, TurnId};

use crate::core::Core;
use crate::rooms::Threads;

/// What became of the turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// Turns that were stopped.
    pub interrupted: Vec<TurnId>,
    /// Turns that were not over in time.
    pub remaining: Vec<TurnId>,
    /// Commands of clients that were ended.
    pub stopped_processes: Vec<String>,
}

impl Threads {
    /// Takes no new turns and commands, and stops those that run.
    pub async fn drain(&self, limit: Duration) -> Drained {
        self.core.inner.agents.drain(true);
        let turns = self.stop_turns(limit, |_, _, _| true);
        let commands = self.core.commands();
        let processes = tokio::time::timeout(limit, commands.stop_all());
        let (drained, stopped) = tokio::join!(turns, processes);
        // The daemon outlives the client that drains it, and so do its other clients.
        self.core.inner.agents.drain(false);
        Drained { stopped_processes: stopped.unwrap_or_default(), ..drained }
    }

    /// Before the daemon ends: turns that only wait for an answer are left as they are.
    pub(crate) async fn rest_turns(&self) {
        self.core.inner.agents.drain(true);
        let limit = self.core.inner.agents.lifecycle().shutdown_drain_timeout;
        self.stop_turns(limit, |core, thread, turn| !core.look().waits(thread, turn)).await;
    }

    async fn stop_turns(
        &self,
        limit: Duration,
        is_stopped: impl Fn(&Core, ThreadId, TurnId) -> bool,
    ) -> Drained {
        let active: Vec<(ThreadId, TurnId)> = {
            let world = self.core.look();
            let active = world.threads.iter();
            active.filter_map(|(id, state)| Some((*id, state.active.as_ref()?.turn))).collect()
        };
        let wanted = active.into_iter();
        let wanted = wanted.filter(|(thread, turn)| is_stopped(&self.core, *thread, *turn));
        let wanted: Vec<(ThreadId, TurnId)> = wanted.collect();
        for (thread, turn) in &wanted {
            if let Err(error) = self.stop_for(*thread, Some(*turn), Some(TurnErrorKind::Shutdown)) {
                tracing::warn!(%error, "a turn cannot be stopped");
            }
        }
        let ends = wanted.iter().map(|(thread, turn)| self.turn_ended(*thread, *turn));
        let all = futures_util::future::join_all(ends);
        let is_clean = tokio::time::timeout(limit, all).await.is_ok();
        let is_over = |thread: ThreadId, turn: TurnId| {
            self.get(thread).is_none_or(|seen| seen.status.active_turn != Some(turn))
        };
        let (interrupted, remaining) = wanted
            .into_iter()
            .partition::<Vec<_>, _>(|(thread, turn)| is_clean || is_over(*thread, *turn));
        let turns =
            |list: Vec<(ThreadId, TurnId)>| list.into_iter().map(|(_, turn)| turn).collect();
        let (interrupted, remaining) = (turns(interrupted), turns(remaining));
        Drained { interrupted, remaining, ..Drained::default() }
    }
}
