//! Notifications: raised for a terminal, seen when the user looks at it.

use rookery_model::{
    Event, NotificationText, Pending, Project, Result, Source, Terminal, TerminalId,
};

use crate::clock;
use crate::rooms::Workspace;
use crate::secrets;
use crate::world::Tx;

/// Rows of the inbox at most.
const MAX_INBOX: usize = 10;

impl Workspace {
    /// Raises a notification for a terminal.
    pub async fn notify(&self, id: TerminalId, text: NotificationText) -> Result<()> {
        self.core.check_report(id)?;
        self.core
            .transact_durably(|tx| {
                tx.living(id)?;
                tx.raise_attention(id, text, Source::Report)
            })
            .await
    }

    /// Nothing waits to be seen in a terminal any more; says so even if nothing did.
    pub async fn clear_attention(&self, id: TerminalId) -> Result<()> {
        self.core.check_report(id)?;
        self.core
            .transact_durably(|tx| {
                tx.living(id)?;
                tx.world.terminal_mut(id)?.activity.pending = None;
                tx.save_terminal(id);
                tx.emit(Event::TerminalAttention { id, is_pending: false });
                tx.dismiss_notifications(id);
                Ok(())
            })
            .await
    }

    /// Nothing waits to be seen anywhere any more.
    pub async fn clear_all_attention(&self) -> Result<()> {
        self.core
            .transact_durably(|tx| {
                let pending: Vec<TerminalId> = tx.world.terminals.keys().copied().collect();
                for id in pending {
                    tx.lower_attention(id)?;
                    tx.dismiss_notifications(id);
                }
                Ok(())
            })
            .await
    }

    /// Terminals with something to be seen, newest first.
    pub fn inbox(&self) -> Vec<(Project, Terminal, Pending)> {
        let world = self.core.look();
        let mut rows: Vec<(Project, Terminal, Pending)> = world
            .terminals
            .values()
            .filter(|terminal| terminal.is_alive())
            .filter_map(|terminal| {
                let project = world.project(terminal.project).ok()?;
                Some((project.clone(), terminal.clone(), terminal.activity.pending.clone()?))
            })
            .collect();
        rows.sort_by_key(|(_, terminal, pending)| std::cmp::Reverse((pending.at, terminal.id)));
        rows.truncate(MAX_INBOX);
        rows
    }
}

impl Tx<'_> {
    /// Raises a notification, unless the user looks at the terminal right now.
    pub(crate) fn raise_attention(
        &mut self,
        id: TerminalId,
        mut text: NotificationText,
        source: Source,
    ) -> Result<()> {
        secrets::hide_in_notification(&mut text);
        if self.world.is_seen(id) {
            return Ok(());
        }
        let pending = Pending { text: text.clone(), at: clock::wall() };
        self.world.terminal_mut(id)?.activity.pending = Some(pending);
        self.save_terminal(id);
        self.emit(Event::TerminalAttention { id, is_pending: true });
        self.emit(Event::TerminalNotified { id, text, source });
        Ok(())
    }

    /// Takes a notification back, if there is one.
    pub(crate) fn lower_attention(&mut self, id: TerminalId) -> Result<()> {
        if self.world.terminal_mut(id)?.activity.pending.take().is_some() {
            self.save_terminal(id);
            self.emit(Event::TerminalAttention { id, is_pending: false });
        }
        Ok(())
    }
}
