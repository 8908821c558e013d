//! Which terminals there are.

use std::path::Path;
use std::sync::Arc;

use rookery_model::{Event, Result, Terminal, TerminalId};
use tokio::sync::watch;

use super::{Live, TerminalHandle};
use crate::keeper_link::KeeperNotices;
use crate::rooms::Terminals;
use crate::secrets;
use crate::workspace::check_name;
use crate::world::no_terminal;

impl Terminals {
    /// All terminals, in workspace order.
    pub fn list(&self) -> Vec<Arc<Terminal>> {
        self.core.look().ordered_terminals()
    }

    /// Those that run in a directory or below it.
    pub(crate) fn below(&self, place: &Path) -> Vec<TerminalId> {
        let world = self.core.look();
        let living = world.terminals.values().filter(|terminal| terminal.is_alive());
        living.filter(|terminal| terminal.cwd().starts_with(place)).map(|one| one.id).collect()
    }

    /// One terminal as the world knows it.
    pub fn describe(&self, id: TerminalId) -> Result<Terminal> {
        self.core.look().terminal(id).cloned()
    }

    /// Gives a terminal the user's own title, or takes it back.
    pub async fn set_user_title(&self, id: TerminalId, mut title: Option<String>) -> Result<()> {
        self.core.check_report(id)?;
        if let Some(title) = &mut title {
            check_name("title", title)?;
            secrets::hide(title);
        }
        self.core
            .transact_durably(|tx| {
                let terminal = tx.world.terminal_mut(id)?;
                let before = terminal.title().into_owned();
                terminal.user_title = title;
                let after = terminal.title().into_owned();
                tx.save_terminal(id);
                if before != after {
                    tx.emit(Event::TerminalTitleChanged { id, title: after });
                }
                Ok(())
            })
            .await
    }

    /// A terminal to work with.
    pub fn get(&self, id: TerminalId) -> Result<TerminalHandle> {
        let live = self.core.inner.terminals.live.read().get(&id).cloned();
        match live {
            Some(live) => Ok(TerminalHandle::new(self.core.clone(), live)),
            None => Err(no_terminal(id)),
        }
    }

    pub(crate) fn all_live(&self) -> Vec<Arc<Live>> {
        self.core.inner.terminals.live.read().values().cloned().collect()
    }

    /// Makes a terminal one to work with, and tells it of its child's end if that came before.
    pub(crate) fn activate_live(&self, live: &Arc<Live>) {
        self.core.inner.terminals.live.write().insert(live.id, Arc::clone(live));
        self.roster_changed();
        let early = self.core.inner.terminals.notices.early.lock().remove(&live.id);
        if let Some((status, at)) = early {
            live.child_exited(status, at);
        }
    }

    /// Forgets an end that no terminal will take.
    pub(crate) fn forget_early_exit(&self, id: TerminalId) {
        self.core.inner.terminals.notices.early.lock().remove(&id);
    }

    pub(crate) fn notices(&self) -> Arc<dyn KeeperNotices> {
        Arc::clone(&self.core.inner.terminals.notices) as Arc<dyn KeeperNotices>
    }

    /// Changes whenever a terminal comes or goes.
    pub fn roster(&self) -> watch::Receiver<u64> {
        self.core.inner.terminals.roster.subscribe()
    }

    pub(crate) fn roster_changed(&self) {
        self.core.inner.terminals.roster.send_modify(|version| *version += 1);
    }

    /// A terminal at work, if its child is ours.
    pub(crate) fn live(&self, id: TerminalId) -> Option<Arc<Live>> {
        self.core.inner.terminals.live.read().get(&id).cloned()
    }

    /// The process of the keeper, while it is connected.
    pub(crate) fn keeper_pid(&self) -> Option<u32> {
        self.core.inner.terminals.keeper.pid()
    }

    /// Waits until no child runs whose terminal is not live yet.
    pub(crate) async fn all_opened(&self) {
        drop(self.core.inner.terminals.openings.write().await);
    }

    /// Leaves all terminals to the keeper.
    pub(crate) fn let_go_of_all(&self) {
        let live: Vec<Arc<Live>> =
            self.core.inner.terminals.live.write().drain().map(|(_, live)| live).collect();
        for live in &live {
            live.detach();
        }
        self.core.inner.terminals.keeper.disconnect();
    }
}
