//! Which terminals are shown in which: one that shows itself, be it through others, would feed itself
//! without end.

use std::sync::Arc;

use parking_lot::Mutex;
use rookery_model::{Error, Result, TerminalId};

use crate::rooms::Terminals;

/// All that are shown now: where, and which.
#[derive(Clone, Default)]
pub(crate) struct Views(Arc<Mutex<Vec<(TerminalId, TerminalId)>>>);

/// A terminal that is shown in another, for as long as this lives.
pub struct View {
    views: Views,
    view: (TerminalId, TerminalId),
}

impl Views {
    fn open(&self, inside: TerminalId, shown: TerminalId) -> Option<View> {
        let mut all = self.0.lock();
        // Whatever the shown one shows, and so on.
        let (mut reached, mut next) = (vec![shown], 0);
        while let Some(&one) = reached.get(next) {
            if one == inside {
                return None;
            }
            let further = all.iter().filter(|(place, _)| *place == one).map(|(_, shown)| *shown);
            let new: Vec<_> = further.filter(|shown| !reached.contains(shown)).collect();
            reached.extend(new);
            next += 1;
        }
        all.push((inside, shown));
        Some(View { views: self.clone(), view: (inside, shown) })
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let mut all = self.views.0.lock();
        if let Some(at) = all.iter().position(|view| *view == self.view) {
            all.swap_remove(at);
        }
    }
}

impl Terminals {
    /// Notes that the caller shows a terminal where it runs; none if it runs in no terminal of ours.
    ///
    /// # Errors
    /// If the terminal would show itself.
    pub fn show_where_caller_is(&self, shown: TerminalId) -> Result<Option<View>> {
        let decider = self.core.caller().decider();
        let Some(inside) = decider.and_then(|decider| decider.terminal) else { return Ok(None) };
        let looped = || match inside == shown {
            true => Error::conflict(format!("this is terminal {shown} itself")),
            false => Error::conflict(format!(
                "terminal {shown} shows this one, terminal {inside}, and would show itself"
            )),
        };
        self.core.inner.terminals.views.open(inside, shown).map(Some).ok_or_else(looped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_terminal_shows_itself() {
        let views = Views::default();
        let id = TerminalId::new;
        let open = |inside, shown| views.open(id(inside), id(shown));
        assert!(open(1, 1).is_none());
        let first = open(1, 2).unwrap();
        let again = open(1, 2).unwrap();
        let second = open(2, 3).unwrap();
        assert!(open(3, 1).is_none(), "1 shows 2, which shows 3");
        assert!(open(2, 1).is_none());
        assert!(open(3, 4).is_some() && open(4, 1).is_some(), "4 is shown nowhere any more");
        drop(first);
        assert!(open(3, 1).is_none(), "it is still shown once");
        drop(again);
        assert!(open(3, 1).is_some());
        drop(second);
        assert!(views.0.lock().is_empty());
    }
}
