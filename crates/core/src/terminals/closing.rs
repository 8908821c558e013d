//! Closing terminals: gone from the world at once, ended in their own time.

use futures_util::future::BoxFuture;
use rookery_host::{Leftover, Root};
use rookery_keeper::protocol::{Entry, Request};
use rookery_model::{ErrorKind, Result, TerminalId};
use rookery_store::{Change, ValueKey};

use super::handle::StrayAction;
use super::meta::Meta;
use super::open::session_mark;
use crate::rooms::Terminals;

impl Terminals {
    /// Ends a terminal and forgets it; returns when its child is gone.
    pub async fn close(&self, id: TerminalId) -> Result<()> {
        self.close_with(id, StrayAction::Report).await.map(drop)
    }

    /// The same, and says which processes that left the terminal's session live on. Those of a
    /// tool's terminal never do.
    pub async fn close_with(&self, id: TerminalId, strays: StrayAction) -> Result<Vec<Leftover>> {
        self.core.check_use(id)?;
        self.core.sessions().ensure_saving()?;
        self.close_anyway(id, strays).await
    }

    /// Ends a terminal and forgets it, even if that cannot be saved at present: the world has let go
    /// of it, so its child must not live on.
    fn close_anyway(
        &self,
        id: TerminalId,
        strays: StrayAction,
    ) -> BoxFuture<'_, Result<Vec<Leftover>>> {
        Box::pin(self.close_anyway_inner(id, strays))
    }

    async fn close_anyway_inner(
        &self,
        id: TerminalId,
        strays: StrayAction,
    ) -> Result<Vec<Leftover>> {
        let strays = self.strays_of(id, strays);
        let forgotten = self.forget(id).await;
        // Also one that is not in the world: its opening failed halfway, or another closes it.
        let left = self.end(id, strays).await;
        forgotten.map(|()| left)
    }

    /// Ends a terminal whose opening was refused because it could not be saved.
    pub(super) async fn close_refused(&self, id: TerminalId) {
        if let Err(error) = self.close_anyway(id, StrayAction::End).await {
            tracing::warn!(%error, terminal = %id, "that a refused terminal was closed is saved later");
        }
    }

    /// Ends a terminal and forgets it; returns when it is forgotten, while its child is ended.
    pub async fn close_soon(&self, id: TerminalId) -> Result<()> {
        self.core.check_use(id)?;
        self.core.sessions().ensure_saving()?;
        let strays = self.strays_of(id, StrayAction::Report);
        let forgotten = self.forget(id).await;
        if !matches!(&forgotten, Err(error) if error.kind() == ErrorKind::NotFound) {
            self.end_soon(id, strays);
        }
        forgotten
    }

    async fn forget(&self, id: TerminalId) -> Result<()> {
        self.core.transact_durably(|tx| tx.close_terminal(id)).await
    }

    /// What a tool started ends with its terminal; what others started only if that is wanted.
    fn strays_of(&self, id: TerminalId, wanted: StrayAction) -> StrayAction {
        if self.core.is_agents(id) { StrayAction::End } else { wanted }
    }

    /// Ends the child of a terminal that is gone from the world.
    pub(crate) fn end_in_background(&self, id: TerminalId) {
        self.end_soon(id, self.strays_of(id, StrayAction::Report));
    }

    fn end_soon(&self, id: TerminalId, strays: StrayAction) {
        if let Ok(handle) = self.get(id) {
            // Who waits on it is notified now, not when the child has let go.
            handle.give_up();
        }
        let core = self.core.clone();
        let end = async move { drop(core.terminals().end(id, strays).await) };
        self.core.inner.background.spawn_on(end, &self.core.inner.runtime);
    }

    /// Ends the child of a terminal and lets go of everything of it. Gives what lives on.
    async fn end(&self, id: TerminalId, strays: StrayAction) -> Vec<Leftover> {
        let mut left = Vec::new();
        if let Ok(handle) = self.get(id) {
            handle.give_up();
            left = handle.end_child(strays).await;
        }
        self.let_go(id).await;
        left
    }

    /// Lets go of a terminal whose child is gone.
    pub(crate) async fn let_go(&self, id: TerminalId) {
        let live = self.core.inner.terminals.live.write().remove(&id);
        if let Some(live) = &live {
            live.shut();
            self.roster_changed();
            self.release_memory_soon();
        }
        // Waited for, so that a keeper with nothing left to keep ends when we let go of it.
        let _ = self
            .core
            .inner
            .terminals
            .keeper
            .request(Request::Release { terminal_id: id.get() }, Vec::new())
            .await;
        self.forget_early_exit(id);
        let forgotten = self.core.transact(|tx| {
            tx.save(Change::KeptSet { what: ValueKey::Closing(id), value: None });
            Ok(())
        });
        if let Err(error) = forgotten {
            tracing::warn!(%error, terminal = %id, "a closed terminal will be looked for once more");
        }
    }

    /// Terminals that a daemon closed but did not live to end: ends them and leaves the others.
    pub(crate) async fn end_half_closed(&self, entries: Vec<Entry>) -> Vec<Entry> {
        let mut left = Vec::new();
        let mut ending = tokio::task::JoinSet::new();
        for entry in entries {
            let id = TerminalId::new(entry.terminal_id);
            let is_closing =
                self.core.inner.store.kept(&ValueKey::Closing(id)).ok().flatten().is_some();
            if !is_closing {
                left.push(entry);
                continue;
            }
            let uuid = Meta::decode(&entry.meta).map(|meta| meta.uuid);
            let mark = uuid.map_or_else(String::new, session_mark);
            let root = Root { leader: entry.pid.unsigned_abs(), mark };
            let core = self.core.clone();
            ending.spawn(async move {
                core.terminals().sweep(root, true).await;
                core.terminals().let_go(id).await;
            });
        }
        while ending.join_next().await.is_some() {}
        left
    }

    /// The child of a terminal ended; one that was to go with it is gone from the world already.
    pub(super) fn end_if_closed(&self, id: TerminalId) {
        if self.describe(id).is_err() {
            self.end_in_background(id);
        }
    }

    /// Closes every terminal and ends everything that any of them started.
    pub(crate) async fn end_all(&self) {
        let mut ids: Vec<TerminalId> =
            self.core.inner.terminals.live.read().keys().copied().collect();
        ids.extend(self.core.look().terminals.keys().copied());
        ids.sort_unstable();
        ids.dedup();
        let mut closing = tokio::task::JoinSet::new();
        for id in ids {
            let core = self.core.clone();
            closing.spawn(async move { core.terminals().close_anyway(id, StrayAction::End).await });
        }
        while closing.join_next().await.is_some() {}
        if let Some(keeper) = self.core.inner.terminals.keeper.pid() {
            let _ = tokio::task::spawn_blocking(move || rookery_host::kill_tree(keeper)).await;
        }
    }
}
