//! What is new about one terminal.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use rookery_term::redact::Policy;
use rookery_term::{Colors, Mark, PointerShape, Screen};

use super::super::{
    Cursor, Ended, Found, Hex, Owner, Row, RowText, RowsFound, Term, TermSize, View, modes, sum,
};
use super::row;
use super::styles::{Numbers, Table};

/// What a row shows instead of its own text, for viewers that may not see secrets.
pub type Mask<'a> = &'a dyn Fn(u64) -> Option<RowText>;

/// A terminal as a viewer shall see it now.
pub struct TermNow<'a> {
    /// Its number.
    pub t: u64,
    pub screen: &'a Screen,
    /// The first row that the viewer shows; none follows the output.
    pub top: Option<u64>,
    /// How its child ended.
    pub ended: Option<Ended>,
    /// Whose size it has.
    pub owner: Option<Owner>,
    /// Matches that a find came upon since the last frame.
    pub found: Option<Found>,
    /// For viewers that may not see secrets.
    pub mask: Option<Mask<'a>>,
}

impl<'a> TermNow<'a> {
    /// A terminal that runs, shown at its end.
    pub fn new(t: u64, screen: &'a Screen) -> TermNow<'a> {
        TermNow { t, screen, top: None, ended: None, owner: None, found: None, mask: None }
    }

    fn view(&self) -> View {
        let (first, oldest) = (self.screen.first_row(), self.screen.oldest_shown());
        View { top: self.top.map_or(first, |top| top.clamp(oldest, first)), first, oldest }
    }

    /// Links as the viewer may see them.
    fn shown_links(&self, mut links: Vec<(u32, String)>) -> Vec<(u32, String)> {
        if self.mask.is_some() {
            for (_, uri) in &mut links {
                if let Cow::Owned(hidden) = Policy::ours().redact(uri) {
                    *uri = hidden;
                }
            }
        }
        links
    }

    fn encode(
        &self,
        row: rookery_term::RowRef<'_>,
        table: &mut Table,
        numbers: &mut Numbers,
    ) -> Row {
        let cols = self.screen.size().cols;
        if let Some(text) = self.mask.and_then(|mask| mask(row.number)) {
            let flags = if row.is_wrapped() { Row::RUNS_ON } else { 0 };
            return Row { number: row.number, text, runs: Vec::new(), flags };
        }
        row::encode(row, cols, self.screen.colors(), table, numbers)
    }
}

/// What one viewer was sent of one terminal.
#[derive(Debug, Default)]
pub(super) struct Sent {
    known: Option<Known>,
    table: Table,
    /// Whether the table was given up and the viewer must be informed.
    reset: bool,
    is_behind: bool,
}

/// What the viewer has.
#[derive(Debug)]
struct Known {
    mark: Mark,
    size: TermSize,
    view: View,
    rows: BTreeMap<u64, Row>,
    cursor: Cursor,
    pointer: PointerShape,
    modes: u32,
    ended: Option<Ended>,
    owner: Option<Owner>,
    colors: Arc<Colors>,
}

impl Sent {
    /// Numbers of styles begin anew.
    pub(super) fn forget(&mut self) {
        *self = Sent { reset: true, ..Sent::default() };
    }

    pub(super) fn rows_held(&self) -> usize {
        self.known.as_ref().map_or(0, |known| known.rows.len())
    }

    pub(super) fn is_behind(&self) -> bool {
        self.is_behind || self.reset
    }

    pub(super) fn diff(
        &mut self,
        now: &TermNow<'_>,
        numbers: &mut Numbers,
        room: &mut usize,
        check: bool,
    ) -> Option<Term> {
        let epoch = now.screen.epoch();
        if self.known.as_ref().is_some_and(|known| known.mark.epoch != epoch) {
            *self = Sent { reset: self.reset, ..Sent::default() };
        }
        let mut entry = Term {
            t: now.t,
            seq: now.screen.sequence(),
            styles_reset: std::mem::take(&mut self.reset),
            ..Term::default()
        };
        let mut known = match self.known.take() {
            Some(known) => known,
            None => self.begin(now, &mut entry),
        };
        self.compare(now, &mut known, &mut entry);
        self.changed_rows(now, &mut known, &mut entry, numbers, room);
        entry.styles = std::mem::take(&mut self.table.new_styles);
        entry.links = now.shown_links(std::mem::take(&mut self.table.new_links));
        entry.found.clone_from(&now.found);
        let is_news = entry != Term { t: entry.t, seq: entry.seq, ..Term::default() };
        if is_news && check && !self.is_behind {
            entry.sum = Some(sum(known.rows.values()));
        }
        known.mark = now.screen.mark();
        self.known = Some(known);
        is_news.then_some(entry)
    }

    /// The viewer knows nothing yet.
    fn begin(&mut self, now: &TermNow<'_>, entry: &mut Term) -> Known {
        let colors = now.screen.colors();
        self.table = Table::default();
        self.table.own_default(colors);
        let size = now.screen.size();
        let size = TermSize { rows: size.rows, cols: size.cols };
        let cursor = Cursor::of(now.screen.cursor(), now.screen.first_row(), size.cols);
        let modes = modes::of(&now.screen.modes());
        entry.cursor_color = own_cursor(colors).map(Some);
        let pointer = now.screen.pointer();
        entry.pointer = (pointer != PointerShape::default()).then(|| pointer.name().to_owned());
        entry.full = true;
        entry.epoch = Some(now.screen.epoch());
        (entry.size, entry.view) = (Some(size), Some(now.view()));
        (entry.cursor, entry.modes) = (Some(cursor), Some(modes));
        entry.ended.clone_from(&now.ended);
        entry.owner = now.owner.clone().map(Some);
        Known {
            mark: now.screen.mark(),
            size,
            view: now.view(),
            rows: BTreeMap::new(),
            cursor,
            pointer,
            modes,
            ended: now.ended.clone(),
            owner: now.owner.clone(),
            colors: Arc::clone(colors),
        }
    }

    /// Everything but rows.
    fn compare(&mut self, now: &TermNow<'_>, known: &mut Known, entry: &mut Term) {
        let view = now.view();
        if view != known.view {
            (known.view, entry.view) = (view, Some(view));
        }
        let cursor = Cursor::of(now.screen.cursor(), view.first, known.size.cols);
        if cursor != known.cursor {
            (known.cursor, entry.cursor) = (cursor, Some(cursor));
        }
        let pointer = now.screen.pointer();
        if pointer != known.pointer {
            (known.pointer, entry.pointer) = (pointer, Some(pointer.name().to_owned()));
        }
        let modes = modes::of(&now.screen.modes());
        if modes != known.modes {
            (known.modes, entry.modes) = (modes, Some(modes));
        }
        if now.ended != known.ended {
            known.ended.clone_from(&now.ended);
            entry.ended.clone_from(&now.ended);
        }
        if now.owner != known.owner {
            known.owner.clone_from(&now.owner);
            entry.owner = Some(now.owner.clone());
        }
        let colors = now.screen.colors();
        if !Arc::ptr_eq(colors, &known.colors) && **colors != *known.colors {
            let color = own_cursor(colors);
            if color != own_cursor(&known.colors) {
                entry.cursor_color = Some(color);
            }
            known.colors = Arc::clone(colors);
            self.table.recolor(colors);
        }
    }

    fn changed_rows(
        &mut self,
        now: &TermNow<'_>,
        known: &mut Known,
        entry: &mut Term,
        numbers: &mut Numbers,
        room: &mut usize,
    ) {
        let view = known.view.top..known.view.top + u64::from(known.size.rows);
        known.rows.retain(|number, _| view.contains(number));
        // What is behind a mask may change with its neighbors, so all of it is looked at.
        let since = Some(known.mark).filter(|_| now.mask.is_none());
        let mut found: BTreeMap<u64, Row> = BTreeMap::new();
        let mut late: BTreeSet<u64> = BTreeSet::new();
        let mut told = 0;
        for (range, is_known) in stretches(&view, &known.rows) {
            let since = since.filter(|_| is_known);
            now.screen.rows_since(since, range.clone(), &mut |row| {
                let number = row.number;
                if *room == 0 {
                    late.insert(number);
                    return;
                }
                let row = now.encode(row, &mut self.table, numbers);
                let is_news = known.rows.get(&number) != Some(&row);
                // Styles and links go out with the rows that need them, so they take of the same room.
                let weight = self.table.weight();
                let own = if is_news { row.weight() } else { 0 };
                *room = room.saturating_sub(own + weight.saturating_sub(told));
                told = weight;
                if is_news {
                    found.insert(number, row);
                }
            });
            if !is_known {
                // History can get lost; its rows are blank then.
                for number in range.filter(|number| !late.contains(number)) {
                    found.entry(number).or_insert_with(|| Row::blank(number));
                }
            }
        }
        self.is_behind = !late.is_empty();
        known.rows.retain(|number, _| !late.contains(number));
        for (number, row) in found {
            known.rows.insert(number, row.clone());
            entry.rows.push(row);
        }
    }

    pub(super) fn rows(
        &mut self,
        now: &TermNow<'_>,
        rows: Range<u64>,
        numbers: &mut Numbers,
        mut found: RowsFound,
    ) -> RowsFound {
        let known = (self.table.new_styles.len(), self.table.new_links.len());
        now.screen.visit_rows(rows, &mut |row| {
            found.rows.push(now.encode(row, &mut self.table, numbers));
        });
        // The next frame has them as well, since it may be read before this answer.
        found.styles = self.table.new_styles[known.0..].to_vec();
        found.links = now.shown_links(self.table.new_links[known.1..].to_vec());
        found
    }
}

/// A view in stretches of rows that the viewer has, and of rows that it lacks.
fn stretches(view: &Range<u64>, rows: &BTreeMap<u64, Row>) -> Vec<(Range<u64>, bool)> {
    let mut found: Vec<(Range<u64>, bool)> = Vec::new();
    for number in view.clone() {
        let is_known = rows.contains_key(&number);
        match found.last_mut() {
            Some((range, before)) if *before == is_known => range.end = number + 1,
            _ => found.push((number..number + 1, is_known)),
        }
    }
    found
}

/// The color that the program gave the cursor; none if it is the theme's.
fn own_cursor(colors: &Colors) -> Option<Hex> {
    (colors.cursor() != colors.theme().cursor).then(|| Hex(colors.cursor()))
}
