//! Recognises coding agents in terminals by the programs that run in the foreground, however they
//! were started, and keeps what their screens show.
//!
//! The kernel tells nothing when another program comes to the foreground. But it always prints
//! something then, so a terminal is looked at when it printed, once it is still for a moment.

use std::collections::HashMap;
use std::time::Duration;

use rookery_host::foreground_agent;
use rookery_model::{AgentState, Origin, Result, RunningAgent, TerminalId};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use crate::core::Core;
use crate::terminals::{Progress, TerminalHandle};

/// A terminal is looked at once it printed nothing for this long,
const STILL: Duration = Duration::from_millis(100);
/// or has printed for this long.
const LONGEST: Duration = Duration::from_secs(1);

impl Core {
    /// Recognises agents in all terminals until it is dropped.
    pub async fn recognise_agents(self) {
        let mut roster = self.roster();
        let mut watched: HashMap<TerminalId, AbortOnDropHandle<()>> = HashMap::new();
        loop {
            roster.mark_unchanged();
            let living: HashMap<TerminalId, TerminalHandle> = self
                .terminals()
                .into_iter()
                .filter(|it| it.is_alive() && !matches!(it.origin, Origin::Tool(_)))
                .filter_map(|it| Some((it.id, self.terminal(it.id).ok()?)))
                .collect();
            watched.retain(|id, _| living.contains_key(id));
            for (id, handle) in living {
                let watch = || AbortOnDropHandle::new(tokio::spawn(self.clone().follow(handle)));
                watched.entry(id).or_insert_with(watch);
            }
            if roster.changed().await.is_err() {
                return;
            }
        }
    }

    /// Follows one terminal to its end.
    async fn follow(self, handle: TerminalHandle) {
        let id = handle.id();
        let mut progress = handle.progress();
        let mut known = self.agent_in(id);
        loop {
            let now = *progress.borrow_and_update();
            let is_over = now.is_finished || now.is_closed;
            let found = if is_over { None } else { recognised(handle.clone()).await };
            if found != known.as_deref() {
                if let Err(error) = self.agent_came_or_went(id, known.as_deref(), found) {
                    tracing::warn!(%error, terminal = %id, "an agent was not noted");
                }
                known = found.map(str::to_owned);
            }
            if is_over || progress.changed().await.is_err() {
                return;
            }
            settle(&mut progress).await;
        }
    }

    /// Which agent was known to run in a terminal, as of before a restart.
    fn agent_in(&self, id: TerminalId) -> Option<String> {
        self.describe(id).ok()?.activity.agent.map(|agent| agent.tool)
    }

    fn agent_came_or_went(
        &self,
        id: TerminalId,
        before: Option<&str>,
        now: Option<&'static str>,
    ) -> Result<()> {
        if self.describe(id).is_ok_and(|terminal| terminal.is_alive()) {
            let _saved_later = self.transact(|tx| {
                let state = AgentState::default();
                let agent = now.map(|tool| RunningAgent { tool: tool.to_owned(), state });
                tx.change_activity(id, |activity, _| activity.agent = agent)
            })?;
        }
        if let Some(before) = before {
            self.see_agent(id, before, false);
        }
        if let Some(now) = now {
            self.see_agent(id, now, true);
        }
        Ok(())
    }

    /// Says what the screen of an agent shows that it is at. Ignored where none is recognised.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub fn show_agent_state(&self, id: TerminalId, state: AgentState) -> Result<()> {
        let agent = self.describe(id)?.activity.agent;
        if agent.is_none_or(|agent| agent.state == state) {
            return Ok(());
        }
        self.transact(|tx| {
            tx.change_activity(id, |activity, _| {
                if let Some(agent) = &mut activity.agent {
                    agent.state = state;
                }
            })
        })
        .map(drop)
    }
}

/// Waits until a terminal is still, within reason.
async fn settle(progress: &mut watch::Receiver<Progress>) {
    let still = async {
        while timeout(STILL, progress.changed()).await.is_ok_and(|changed| changed.is_ok()) {}
    };
    let _ = timeout(LONGEST, still).await;
}

/// The agent in the foreground of a terminal.
async fn recognised(handle: TerminalHandle) -> Option<&'static str> {
    let look = move || {
        let group = handle.foreground_group()?;
        foreground_agent(handle.pid(), group).map(|tool| tool.program)
    };
    tokio::task::spawn_blocking(look).await.ok().flatten()
}
