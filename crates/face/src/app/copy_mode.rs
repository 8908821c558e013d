//! Copy mode: walking over a terminal's rows by keys, selecting and copying. Output goes on; the
//! view stays.

use rookery_term::keys::{Key, KeyPress, Mods, Special};
use rookery_view::link::{Scroll, ScrollTo, Select, SelectKind, method};

use super::{App, Ask, Cx, FindBar, Selection, keys::is, plain_char};
use crate::picture::Term;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyMode {
    pub terminal: u64,
    /// Row number and column.
    pub at: (u64, u16),
    /// Where the selection began, and its shape.
    pub anchor: Option<((u64, u16), SelectKind)>,
    /// What was searched last, and whether towards newer rows.
    pub search: Option<(FindBar, bool)>,
    /// Whether it goes to the first row of the view when that has moved from this one.
    follows_from: Option<u64>,
}

impl CopyMode {
    /// Copy mode at a place.
    pub fn new(terminal: u64, at: (u64, u16)) -> CopyMode {
        CopyMode { terminal, at, anchor: None, search: None, follows_from: None }
    }
}

/// The text of a row as cells, one character each; halves of wide ones are blank.
fn cells(term: &dyn Term, row: u64) -> Vec<char> {
    let mut out = Vec::new();
    if let Some(row) = term.row(row) {
        for (text, cells) in row.text.clusters() {
            out.push(text.chars().next().unwrap_or(' '));
            out.extend(std::iter::repeat_n(' ', usize::from(cells.saturating_sub(1))));
        }
    }
    out
}

fn is_blank_row(term: &dyn Term, row: u64) -> bool {
    cells(term, row).iter().all(|c| c.is_whitespace())
}

/// Where a motion goes.
fn moved(term: &dyn Term, at: (u64, u16), key: char, page: u64) -> Option<(u64, u16)> {
    let (row, col) = at;
    let cols = term.size().cols.max(1);
    let view = term.view();
    let last = view.first + u64::from(term.size().rows).saturating_sub(1);
    let line = cells(term, row);
    let end = line.iter().rposition(|c| !c.is_whitespace()).unwrap_or(0);
    let clamp = |row: u64| row.clamp(view.oldest, last);
    Some(match key {
        'h' => (row, col.saturating_sub(1)),
        'l' => (row, (col + 1).min(cols - 1)),
        'j' => (clamp(row + 1), col),
        'k' => (clamp(row.saturating_sub(1)), col),
        '0' => (row, 0),
        '^' => (row, u16::try_from(line.iter().position(|c| !c.is_whitespace())?).ok()?),
        '$' => (row, u16::try_from(end).ok()?),
        'g' => (view.oldest, 0),
        'G' => (last, 0),
        'u' => (clamp(row.saturating_sub(page / 2)), col),
        'd' => (clamp(row + page / 2), col),
        'b' => (clamp(row.saturating_sub(page)), col),
        'f' => (clamp(row + page), col),
        '{' => {
            let mut to = clamp(row.saturating_sub(1));
            while to > view.top && !is_blank_row(term, to) {
                to -= 1;
            }
            (to, 0)
        }
        '}' => {
            let mut to = clamp(row + 1);
            while to < last && !is_blank_row(term, to) {
                to += 1;
            }
            (to, 0)
        }
        _ => return None,
    })
}

/// Where a motion by words goes: `w`, `b` or `e`.
fn by_word(term: &dyn Term, at: (u64, u16), key: char) -> (u64, u16) {
    let last = term.view().first + u64::from(term.size().rows).saturating_sub(1);
    let line = cells(term, at.0);
    let is_word = |index: usize| line.get(index).is_some_and(|c| !c.is_whitespace());
    let mut col = usize::from(at.1);
    let column = |col: usize| u16::try_from(col).unwrap_or(u16::MAX);
    match key {
        'b' => {
            while col > 0 && !is_word(col - 1) {
                col -= 1;
            }
            while col > 0 && is_word(col - 1) {
                col -= 1;
            }
            if col == 0 && usize::from(at.1) == 0 && at.0 > term.view().oldest {
                let above = cells(term, at.0 - 1);
                return (at.0 - 1, column(above.len().saturating_sub(1)));
            }
        }
        'e' => {
            col += 1;
            while col < line.len() && !is_word(col) {
                col += 1;
            }
            while col + 1 < line.len() && is_word(col + 1) {
                col += 1;
            }
        }
        _ => {
            while col < line.len() && is_word(col) {
                col += 1;
            }
            while col < line.len() && !is_word(col) {
                col += 1;
            }
        }
    }
    if col >= line.len() && key != 'b' {
        return if at.0 < last { (at.0 + 1, 0) } else { at };
    }
    (at.0, column(col))
}

impl App {
    /// Where an arrow with Shift goes: by half of the pane, which shows the part of a larger terminal that the
    /// cursor is in.
    fn panned(&self, term: &dyn Term, mode: &CopyMode, press: &KeyPress) -> Option<(u64, u16)> {
        if press.mods.without(Mods::CAPS | Mods::NUM) != Mods::SHIFT {
            return None;
        }
        let size = term.size();
        let pane = self.drawn.panes.iter().find(|(t, ..)| *t == mode.terminal);
        let (cols, rows) = pane.map_or((size.cols, size.rows), |(_, at, _)| (at.cols, at.rows));
        let (across, down) = ((cols / 2).max(1), u64::from((rows / 2).max(1)));
        let (row, col) = mode.at;
        let view = term.view();
        let last = view.first + u64::from(size.rows).saturating_sub(1);
        Some(match press.key {
            Key::Special(Special::Left) => (row, col.saturating_sub(across)),
            Key::Special(Special::Right) => {
                (row, col.saturating_add(across).min(size.cols.saturating_sub(1)))
            }
            Key::Special(Special::Up) => (row.saturating_sub(down).max(view.oldest), col),
            Key::Special(Special::Down) => ((row + down).min(last), col),
            _ => return None,
        })
    }

    pub(super) fn copy_mode_key(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        if let Some(mode) = &mut self.copy {
            mode.follows_from = None;
        }
        let Some(mode) = self.copy.clone() else { return };
        let Some(term) = cx.picture.term(mode.terminal) else {
            self.copy = None;
            return;
        };
        if is(press, Special::Escape) || plain_char(press) == Some('q') {
            return self.copy_mode_back();
        }
        if is(press, Special::Enter) || plain_char(press) == Some('y') {
            return self.copy_mode_copy(cx);
        }
        if let Some(to) = self.panned(term, &mode, press) {
            return self.copy_mode_go(cx, to);
        }
        let page = u64::from(term.size().rows.saturating_sub(1).max(1));
        let ctrl = press.mods == Mods::CTRL;
        let key = match press.key {
            Key::Special(Special::Left) => Some('h'),
            Key::Special(Special::Right) => Some('l'),
            Key::Special(Special::Up) => Some('k'),
            Key::Special(Special::Down) => Some('j'),
            Key::Special(Special::Home) => Some('0'),
            Key::Special(Special::End) => Some('$'),
            Key::Special(Special::PageUp) => Some('B'),
            Key::Special(Special::PageDown) => Some('F'),
            Key::Char(c @ ('u' | 'd' | 'b' | 'f')) if ctrl => Some(match c {
                'b' => 'B',
                'f' => 'F',
                c => c,
            }),
            Key::Char('v') if ctrl => return self.copy_mode_select(cx, SelectKind::Block),
            _ => plain_char(press),
        };
        let Some(key) = key else { return };
        match key {
            'v' => return self.copy_mode_select(cx, SelectKind::Text),
            'V' => return self.copy_mode_select(cx, SelectKind::Lines),
            'o' => return self.copy_mode_swap(cx),
            '/' | '?' => {
                let mut bar = FindBar::new(mode.terminal);
                bar.newer = key == '/';
                self.find = Some(bar);
                return;
            }
            'n' | 'N' => return self.copy_mode_step(cx, key == 'n'),
            '[' | ']' => {
                let to = if key == '[' { ScrollTo::PromptBefore } else { ScrollTo::PromptAfter };
                if let Some(mode) = &mut self.copy {
                    mode.follows_from = Some(term.view().top);
                }
                return self.scroll(Scroll { t: mode.terminal, to: Some(to), by: None, row: None });
            }
            _ => {}
        }
        let to = match key {
            'w' | 'e' => Some(by_word(term, mode.at, key)),
            'b' if !ctrl => Some(by_word(term, mode.at, 'b')),
            'B' => moved(term, mode.at, 'b', page),
            'F' => moved(term, mode.at, 'f', page),
            // Half pages only with Control: `u` and `d` alone do nothing.
            'u' | 'd' if !ctrl => None,
            key => moved(term, mode.at, key, page),
        };
        if let Some(to) = to {
            self.copy_mode_go(cx, to);
        }
    }

    /// Takes over what the find bar found, and goes to the nearest match in its direction.
    pub(super) fn copy_mode_found(&mut self, cx: &Cx<'_>, bar: FindBar) {
        let (newer, is_waiting) = (bar.newer, bar.is_waiting);
        if let Some(mode) = &mut self.copy {
            mode.search = Some((bar, newer));
            if !is_waiting {
                self.copy_mode_step(cx, true);
            }
        }
    }

    /// Goes to the next match in the direction of the search, or against it.
    pub(super) fn copy_mode_step(&mut self, cx: &Cx<'_>, onward: bool) {
        let Some(mode) = &mut self.copy else { return };
        let Some((bar, newer)) = &mut mode.search else {
            return self.warn("/ searches first");
        };
        let at = mode.at;
        let places = bar.matches.iter().map(|(row, col, _)| (*row, *col)).enumerate();
        // Around the ends, as pagers do.
        let found = if *newer == onward {
            places.clone().filter(|(_, place)| *place > at).min_by_key(|(_, place)| *place)
        } else {
            places.clone().filter(|(_, place)| *place < at).max_by_key(|(_, place)| *place)
        };
        let around = match *newer == onward {
            true => places.min_by_key(|(_, place)| *place),
            false => places.max_by_key(|(_, place)| *place),
        };
        let Some((index, to)) = found.or(around) else { return self.warn("not found") };
        bar.current = index;
        self.copy_mode_go(cx, to);
    }

    /// The view moved to another prompt: the cursor goes with it.
    pub(super) fn copy_mode_follow(&mut self, cx: &Cx<'_>) {
        let Some(mode) = &mut self.copy else { return };
        let Some(term) = cx.picture.term(mode.terminal) else { return };
        let top = term.view().top;
        if mode.follows_from.is_some_and(|from| from != top) {
            mode.follows_from = None;
            mode.at = (top, 0);
            self.send_copy_selection(cx);
        }
    }

    /// Shows rows from this one on, or those that are shown, whatever is printed meanwhile.
    pub(super) fn hold_view(&mut self, t: u64, row: Option<u64>) {
        self.scroll(Scroll { t, to: Some(ScrollTo::Hold), row, by: None });
    }

    fn copy_mode_back(&mut self) {
        if let Some(mode) = &mut self.copy
            && mode.anchor.take().is_some()
        {
            let t = mode.terminal;
            self.selection = None;
            return self.call(Ask::Quiet, method::SELECT, Select { t, ..Select::default() });
        }
        if let Some(mode) = self.copy.take() {
            let to = Some(ScrollTo::Bottom);
            self.scroll(Scroll { t: mode.terminal, to, by: None, row: None });
        }
    }

    fn copy_mode_copy(&mut self, cx: &Cx<'_>) {
        let Some(mode) = self.copy.clone() else { return };
        if mode.anchor.is_none() {
            return self.warn("v selects first");
        }
        self.send_copy_selection(cx);
        self.copy_selection(cx);
        self.copy = None;
        let to = Some(ScrollTo::Bottom);
        self.scroll(Scroll { t: mode.terminal, to, by: None, row: None });
    }

    fn copy_mode_select(&mut self, cx: &Cx<'_>, kind: SelectKind) {
        if let Some(mode) = &mut self.copy {
            mode.anchor = match mode.anchor {
                Some((_, old)) if old == kind => None,
                Some((anchor, _)) => Some((anchor, kind)),
                None => Some((mode.at, kind)),
            };
        }
        self.send_copy_selection(cx);
    }

    fn copy_mode_swap(&mut self, cx: &Cx<'_>) {
        let Some(mode) = &mut self.copy else { return };
        if let Some((anchor, kind)) = mode.anchor {
            mode.anchor = Some((mode.at, kind));
            let at = anchor;
            self.copy_mode_go(cx, at);
        }
    }

    fn copy_mode_go(&mut self, cx: &Cx<'_>, to: (u64, u16)) {
        let Some(mode) = &mut self.copy else { return };
        mode.at = to;
        let t = mode.terminal;
        if let Some(term) = cx.picture.term(t) {
            let (top, rows) = (term.view().top, u64::from(term.size().rows));
            let row = if to.0 < top {
                Some(to.0)
            } else if to.0 >= top + rows {
                Some(to.0 + 1 - rows)
            } else {
                None
            };
            if let Some(row) = row {
                self.hold_view(t, Some(row));
            }
        }
        self.send_copy_selection(cx);
    }

    /// Makes the selection of copy mode the viewer's.
    fn send_copy_selection(&mut self, _cx: &Cx<'_>) {
        let Some(mode) = &self.copy else { return };
        let Some((anchor, kind)) = mode.anchor else {
            self.selection = None;
            return;
        };
        let (terminal, head) = (mode.terminal, mode.at);
        self.selection = Some(Selection { terminal, anchor, head, kind });
        let select = Select {
            t: terminal,
            anchor: Some(anchor),
            head: Some(head),
            kind: Some(kind),
            expand: None,
        };
        self.call(Ask::Quiet, method::SELECT, select);
    }
}
