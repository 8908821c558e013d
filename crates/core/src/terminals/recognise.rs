//! Recognises coding agents in terminals by the programs that run in the foreground, however they
//! were started, and keeps what their screens show.
//!
//! The kernel tells nothing when another program comes to the foreground. But it always prints
//! something then, so a terminal is looked at when it printed, once it is still for a moment.

use std::collections::HashMap;
use std::sync::Arc;

use rookery_host::foreground_agent;
use rookery_model::{AgentState, Origin, Result, RunningAgent, TerminalId};
use tokio::sync::Semaphore;
use tokio_util::task::AbortOnDropHandle;

use crate::rooms::Terminals;
use crate::terminals::{Progress, TerminalHandle};

/// Terminals that are looked at at the same time; a restart finds hundreds at once.
const LOOKS: usize = 2;

/// An agent that was started in a terminal, or has ended there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSeen {
    pub terminal: TerminalId,
    /// The name of its program.
    pub agent: String,
    /// Whether it runs.
    pub is_running: bool,
}

impl Terminals {
    /// Agents that are started in terminals from now on, and their ends.
    pub fn agents_seen(&self) -> tokio::sync::broadcast::Receiver<AgentSeen> {
        self.core.inner.terminals.agents_seen.subscribe()
    }

    /// Tells that an agent was started or has ended.
    pub(crate) fn see_agent(&self, terminal: TerminalId, agent: &str, is_running: bool) {
        // There may be no subscriber.
        let _ = self.core.inner.terminals.agents_seen.send(AgentSeen {
            terminal,
            agent: agent.to_owned(),
            is_running,
        });
    }

    /// Recognises agents in all terminals until it is dropped.
    pub async fn recognise_agents(self) {
        let mut roster = self.roster();
        let looks = Arc::new(Semaphore::new(LOOKS));
        let mut watched: HashMap<TerminalId, AbortOnDropHandle<()>> = HashMap::new();
        loop {
            roster.mark_unchanged();
            let living: HashMap<TerminalId, TerminalHandle> = self
                .list()
                .into_iter()
                .filter(|it| it.is_alive() && !matches!(it.origin, Origin::Tool(_)))
                .filter_map(|it| Some((it.id, self.get(it.id).ok()?)))
                .collect();
            watched.retain(|id, _| living.contains_key(id));
            for (id, handle) in living {
                watched.entry(id).or_insert_with(|| {
                    let follow = self.clone().follow(handle, Arc::clone(&looks));
                    AbortOnDropHandle::new(tokio::spawn(follow))
                });
            }
            if roster.changed().await.is_err() {
                return;
            }
        }
    }

    /// Follows one terminal to its end.
    async fn follow(self, handle: TerminalHandle, looks: Arc<Semaphore>) {
        let id = handle.id();
        let mut progress = handle.progress();
        let mut known = self.agent_in(id);
        loop {
            let now = *progress.borrow_and_update();
            let is_over = now.is_finished || now.is_closed;
            let found = if is_over { None } else { recognised(handle.clone(), &looks).await };
            if found != known.as_deref() {
                if let Err(error) = self.agent_came_or_went(id, known.as_deref(), found) {
                    tracing::warn!(%error, terminal = %id, "an agent was not noted");
                }
                known = found.map(str::to_owned);
            }
            if is_over || progress.changed().await.is_err() {
                return;
            }
            Progress::settle(&mut progress).await;
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
            let _saved_later = self.core.transact(|tx| {
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
        self.core
            .transact(|tx| {
                tx.change_activity(id, |activity, _| {
                    if let Some(agent) = &mut activity.agent {
                        agent.state = state;
                    }
                })
            })
            .map(drop)
    }
}

/// The agent in the foreground of a terminal.
async fn recognised(handle: TerminalHandle, looks: &Semaphore) -> Option<&'static str> {
    let _look = looks.acquire().await.ok()?;
    let look = move || {
        let group = handle.foreground_group()?;
        foreground_agent(handle.pid(), group).map(|agent| agent.program())
    };
    tokio::task::spawn_blocking(look).await.ok().flatten()
}
