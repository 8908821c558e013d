//! Sessions that are held, let go of and taken up again, on behalf of a thread.

use std::sync::Arc;

use rookery_model::{Error, Result, ThreadId};
use rookery_runners::RunnerError;

use super::{Opener, RunnerState, failed, refused};
use crate::rooms::Runners;

/// What is done with a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunnerAction {
    /// Everything in it is held.
    Pause,
    /// It goes on.
    Resume,
    /// It is let go of.
    Detach,
    /// It is taken up again.
    Rejoin,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerActed {
    pub provider: String,
    pub session: Option<String>,
    /// Whether it is held.
    pub is_paused: bool,
    /// Whether it was let go of.
    pub is_detached: bool,
}

impl Runners {
    /// Does something with the session of a thread. `sandbox` names the session that is meant, if it is given.
    ///
    /// # Errors
    /// If the thread is bound to no runner, the provider cannot do it, or it fails.
    pub async fn act(
        &self,
        thread: ThreadId,
        action: RunnerAction,
        sandbox: Option<&str>,
    ) -> Result<RunnerActed> {
        if !self.core.look().threads.contains_key(&thread) {
            return Err(Error::invalid("thread_id", format!("unknown thread: {thread}")));
        }
        let id = self.destination_of(Some(thread)).ok_or_else(|| {
            Error::invalid("thread_id", format!("thread {thread} is bound to no runner"))
        })?;
        let (provider, session) = {
            let table = self.table();
            let it = table.destinations.get(&id);
            let it = it.ok_or_else(|| {
                Error::invalid("thread_id", format!("runner destination {id} was deleted"))
            })?;
            (it.provider, it.session.as_ref().map(|(session, _)| session.clone()))
        };
        let (can, what) = match action {
            RunnerAction::Pause => (provider.capabilities.pausable, "pause a session"),
            RunnerAction::Resume => (provider.capabilities.pausable, "resume a session"),
            RunnerAction::Detach => (provider.capabilities.detachable, "detach a session"),
            RunnerAction::Rejoin => (provider.capabilities.detachable, "rejoin a session"),
        };
        if !can {
            return Err(refused(RunnerError::Unsupported { provider: provider.id, what }));
        }
        if let Some(wanted) = sandbox.filter(|wanted| session.as_deref() != Some(*wanted)) {
            return Err(Error::invalid(
                "sandbox",
                format!("sandbox {wanted:?} is not the session of this thread"),
            ));
        }
        let by = Opener::from(thread);
        match action {
            RunnerAction::Pause => self.pause(&id, by).await?,
            RunnerAction::Resume => self.resume(&id, by).await?,
            RunnerAction::Detach => self.detach(&id, by).await?,
            RunnerAction::Rejoin => {
                self.wake(&id, &[RunnerState::Detached]);
                self.open(&id, by).await?;
            }
        }
        let status = self.active(Some(thread));
        let status =
            status.ok_or_else(|| Error::failed("the destination was deleted meanwhile"))?;
        Ok(RunnerActed {
            provider: status.provider,
            session: status.session,
            is_paused: status.state == RunnerState::Paused,
            is_detached: status.state == RunnerState::Detached,
        })
    }

    async fn pause(&self, id: &str, by: Opener) -> Result<()> {
        if self.state(id) == Some(RunnerState::Paused) {
            return Ok(());
        }
        let session = self.open(id, by).await?;
        session.pause().await.map_err(failed)?;
        self.set_state(id, RunnerState::Paused, true).await
    }

    async fn resume(&self, id: &str, by: Opener) -> Result<()> {
        if self.state(id) != Some(RunnerState::Paused) {
            return self.open(id, by).await.map(drop);
        }
        self.wake(id, &[RunnerState::Paused]);
        let resumed = match self.open(id, by).await {
            Ok(session) => session.resume().await.map_err(failed),
            Err(error) => Err(error),
        };
        let state = if resumed.is_ok() { RunnerState::Active } else { RunnerState::Paused };
        self.set_state(id, state, true).await?;
        resumed
    }

    async fn detach(&self, id: &str, by: Opener) -> Result<()> {
        if self.state(id) == Some(RunnerState::Detached) {
            return Ok(());
        }
        let session = self.open(id, by).await?;
        let Some(gate) = self.gate(id) else { return Ok(()) };
        let _alone = gate.lock().await;
        session.detach().await.map_err(failed)?;
        self.set_state(id, RunnerState::Detached, false).await
    }

    fn state(&self, id: &str) -> Option<RunnerState> {
        self.table().destinations.get(id).map(|it| it.state)
    }

    /// What is held while a destination's session is opened or ended.
    pub(super) fn gate(&self, id: &str) -> Option<Arc<tokio::sync::Mutex<()>>> {
        self.table().destinations.get(id).map(|it| Arc::clone(&it.gate))
    }

    /// A session in one of these states may be used again.
    pub(super) fn wake(&self, id: &str, states: &[RunnerState]) {
        if let Some(it) = self.table().destinations.get_mut(id)
            && states.contains(&it.state)
        {
            it.state = RunnerState::Active;
        }
    }

    async fn set_state(&self, id: &str, state: RunnerState, stays_live: bool) -> Result<()> {
        if let Some(it) = self.table().destinations.get_mut(id) {
            it.state = state;
            if !stays_live {
                it.live = None;
            }
        }
        self.save().await?;
        self.changed(id);
        Ok(())
    }
}
