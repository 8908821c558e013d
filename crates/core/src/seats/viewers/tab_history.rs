//! The tabs that were shown before, so that one can go back to the last of them.

use rookery_model::TerminalId;

use crate::world::World;

/// Tabs that are remembered.
const MOST: usize = 32;

/// Tabs that were left, the newest last; each is in it once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TabHistory(Vec<TerminalId>);

impl TabHistory {
    /// Another tab is shown in place of this one.
    pub(crate) fn left(&mut self, from: Option<TerminalId>, to: Option<TerminalId>) {
        let Some(from) = from.filter(|_| from != to) else { return };
        self.0.retain(|known| *known != from);
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        self.0.push(from);
    }

    /// The tab to go back to: the last one that is there still and is not shown beside this one.
    pub(crate) fn last(&self, world: &World, shown: Option<TerminalId>) -> Option<TerminalId> {
        let group = shown.map(|id| world.group_of(id)).unwrap_or_default();
        let is_there = |id: &&TerminalId| world.terminals.get(id).is_some_and(|it| it.is_alive());
        self.0.iter().rev().filter(is_there).find(|id| !group.contains(id)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u64) -> Option<TerminalId> {
        Some(TerminalId::new(number))
    }

    #[test]
    fn what_was_left_last_comes_first_and_is_there_once() {
        let mut tab_history = TabHistory::default();
        tab_history.left(None, id(1));
        tab_history.left(id(1), id(1));
        assert_eq!(tab_history.0, []);
        tab_history.left(id(1), id(2));
        tab_history.left(id(2), id(1));
        tab_history.left(id(1), None);
        assert_eq!(tab_history.0, [TerminalId::new(2), TerminalId::new(1)]);
        (10..100).for_each(|number| tab_history.left(id(number), None));
        assert_eq!((tab_history.0.len(), tab_history.0.last().copied()), (MOST, id(99)));
    }
}
