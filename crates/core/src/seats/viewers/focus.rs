//! Programs that asked for it are notified when their terminal gets or loses the keyboard.

use std::collections::BTreeSet;

use rookery_model::TerminalId;

use crate::rooms::Seats;

impl Seats {
    /// Tells programs whose terminal got or lost a keyboard since then.
    pub(crate) fn send_focus_changes(&self, before: &BTreeSet<TerminalId>) {
        let now = self.core.look().focused();
        for id in before.difference(&now) {
            self.send_focus(Some(*id), false);
        }
        for id in now.difference(before) {
            self.send_focus(Some(*id), true);
        }
    }
}
