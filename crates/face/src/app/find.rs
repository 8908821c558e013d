//! The find bar: what is searched in a terminal and its history, and which match is shown.

use rookery_term::keys::{Key, KeyPress, Mods, Special};
use rookery_view::link::{Case, Find, Found, Scroll, ScrollTo, method};

use super::{App, Ask, Cx, Edited, Field, keys::is};

/// What is searched, and what was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindBar {
    pub terminal: u64,
    /// What is searched.
    pub field: Field,
    /// As an expression.
    pub regex: bool,
    /// Capitals count.
    pub exact_case: bool,
    /// Row, column and cells of each match, newest first.
    pub matches: Vec<(u64, u16, u32)>,
    /// All matches, those included that were not sent.
    pub total: u32,
    /// Which one is shown.
    pub current: usize,
    /// In copy mode: towards newer rows.
    pub newer: bool,
    /// Whether the answer to the last search is on its way.
    pub is_waiting: bool,
    serial: u64,
}

impl FindBar {
    /// A bar for a terminal.
    pub fn new(terminal: u64) -> FindBar {
        FindBar { terminal, ..FindBar::default() }
    }

    fn take(&mut self, found: Found) {
        self.matches = found.matches;
        self.total = found.total;
        self.current = 0;
        self.is_waiting = false;
    }

    /// `2 of 7`.
    pub fn count(&self) -> String {
        let at = if self.matches.is_empty() { 0 } else { self.current + 1 };
        format!("{at} of {}", self.total)
    }

    /// Whether a cell is part of a match, and of the one that is shown.
    pub fn marks(&self, row: u64, col: u16) -> Option<bool> {
        let hit = |(at, from, cells): &(u64, u16, u32)| {
            *at == row && col >= *from && u32::from(col - *from) < *cells
        };
        let index = self.matches.iter().position(hit)?;
        Some(index == self.current)
    }
}

/// Whether a key changes what the find bar looks for.
pub(super) fn is_option(press: &KeyPress) -> bool {
    press.mods == Mods::ALT && matches!(press.key, Key::Char('r' | 'c'))
}

impl App {
    pub(super) fn find_key(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        let Some(find) = &mut self.find else { return };
        let alt = press.mods == Mods::ALT;
        match press.key {
            _ if is(press, Special::Escape) => self.find = None,
            // In copy mode the bar is done with Enter, and `n` goes on.
            Key::Special(Special::Enter) if self.copy.is_some() => {
                if let Some(bar) = self.find.take() {
                    self.copy_mode_found(cx, bar);
                }
            }
            Key::Special(Special::Enter) if press.mods.contains(Mods::SHIFT) => {
                self.step(cx, false)
            }
            Key::Special(Special::Enter) | Key::Special(Special::Up) => self.step(cx, true),
            Key::Special(Special::Down) => self.step(cx, false),
            Key::Char('r') if alt => {
                find.regex = !find.regex;
                self.search(cx);
            }
            Key::Char('c') if alt => {
                find.exact_case = !find.exact_case;
                self.search(cx);
            }
            _ => {
                if find.field.key(press) == Edited::Yes {
                    self.search(cx);
                }
            }
        }
    }

    /// Searches for what is written.
    pub(super) fn search(&mut self, _cx: &Cx<'_>) {
        let Some(find) = &mut self.find else { return };
        find.serial = crate::pages::next_serial();
        find.current = 0;
        if find.field.is_empty() {
            find.matches.clear();
            find.total = 0;
            return;
        }
        let call = Find {
            t: find.terminal,
            text: find.field.text().to_owned(),
            regex: find.regex,
            case: Some(if find.exact_case { Case::Sensitive } else { Case::Smart }),
            limit: Some(1000),
        };
        let serial = find.serial;
        find.is_waiting = true;
        self.call(Ask::Find(serial), method::FIND, call);
    }

    pub(super) fn found(&mut self, cx: &Cx<'_>, serial: u64, found: Found) {
        let searched = self.copy.as_mut().and_then(|copy| copy.search.as_mut());
        if let Some((bar, _)) = searched.filter(|(bar, _)| bar.is_waiting && bar.serial == serial) {
            bar.take(found);
            return self.copy_mode_step(cx, true);
        }
        let Some(find) = self.find.as_mut().filter(|find| find.serial == serial) else { return };
        find.take(found);
        // Copy mode goes to a match once the search is done.
        if self.copy.is_none() {
            self.show_match(cx);
        }
    }

    /// Further matches of a search that took longer.
    pub fn found_more(&mut self, terminal: u64, found: &Found) {
        // Until its own reply came, what arrives is of the search before.
        let is_of = |find: &&mut FindBar| find.terminal == terminal && !find.is_waiting;
        let Some(find) = self.find.as_mut().filter(is_of) else { return };
        find.matches.extend_from_slice(&found.matches);
        find.total = found.total;
    }

    fn step(&mut self, cx: &Cx<'_>, older: bool) {
        let Some(find) = &mut self.find else { return };
        let count = find.matches.len();
        if count == 0 {
            return;
        }
        let by = if older { 1 } else { count - 1 };
        find.current = (find.current + by) % count;
        self.show_match(cx);
    }

    /// Scrolls to the match, if it is not in view.
    fn show_match(&mut self, cx: &Cx<'_>) {
        let Some(find) = &self.find else { return };
        let Some((row, _, _)) = find.matches.get(find.current).copied() else { return };
        let Some(term) = cx.picture.term(find.terminal) else { return };
        let (top, rows) = (term.view().top, u64::from(term.size().rows));
        if row < top || row >= top + rows {
            let to = row.saturating_sub(rows / 2);
            let t = find.terminal;
            self.scroll(Scroll { t, to: Some(ScrollTo::Row), row: Some(to), by: None });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Environment;

    fn found(row: u64) -> Found {
        Found { epoch: 1, matches: vec![(row, 0, 2)], total: 1, more: true }
    }

    #[test]
    fn what_arrives_before_the_reply_is_of_the_search_before() {
        let mut app = App::new((80, 24), Environment::default());
        app.find = Some(FindBar { is_waiting: true, ..FindBar::new(1) });
        app.found_more(1, &found(7));
        assert!(app.find.as_ref().unwrap().matches.is_empty());
        app.find.as_mut().unwrap().take(found(3));
        app.found_more(1, &found(9));
        assert_eq!(app.find.unwrap().matches, [(3, 0, 2), (9, 0, 2)]);
    }
}
