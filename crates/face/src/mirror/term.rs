//! One terminal of the mirror.

use std::collections::BTreeMap;
use std::ops::Range;

use rookery_view::link::{Cursor, Ended, Found, Hex, Owner, Row, Style, Term, TermSize, View, sum};

/// Rows of a terminal; a larger one cannot be.
const MOST_ROWS: u16 = 4096;

/// A terminal as a viewer sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MirrorTerm {
    /// What row numbers belong to.
    pub epoch: u64,
    /// The sequence number of this state.
    pub seq: u64,
    pub size: TermSize,
    /// Which rows are shown.
    pub view: View,
    pub cursor: Cursor,
    /// The color that the program gave the cursor, if it did.
    pub cursor_color: Option<Hex>,
    /// The shape of the mouse that the program wants, by its W3C name; none if it wants none.
    pub pointer: Option<String>,
    /// See [`rookery_view::link::modes`].
    pub modes: u32,
    /// How its child ended.
    pub ended: Option<Ended>,
    /// Whose size it has.
    pub owner: Option<Owner>,
    /// What the last find came upon.
    pub found: Option<Found>,
    rows: BTreeMap<u64, Row>,
    styles: BTreeMap<u32, Style>,
    links: BTreeMap<u32, String>,
}

impl MirrorTerm {
    /// A terminal that comes in full; none if something is missing from it.
    pub(super) fn begin(entry: Term) -> Option<MirrorTerm> {
        let size = entry.size.filter(|size| (1..=MOST_ROWS).contains(&size.rows))?;
        let mut term = MirrorTerm {
            epoch: entry.epoch?,
            size,
            view: entry.view?,
            cursor: entry.cursor?,
            modes: entry.modes?,
            ..MirrorTerm::default()
        };
        term.apply(Term { epoch: None, size: None, ..entry }).then_some(term)
    }

    /// Takes an entry over; false if it does not fit to what is known, which must then be asked for again.
    pub(super) fn apply(&mut self, entry: Term) -> bool {
        // These never change without a new beginning.
        if entry.epoch.is_some_and(|epoch| epoch != self.epoch)
            || entry.size.is_some_and(|size| size != self.size)
        {
            return false;
        }
        self.seq = entry.seq;
        self.view = entry.view.unwrap_or(self.view);
        self.cursor = entry.cursor.unwrap_or(self.cursor);
        self.modes = entry.modes.unwrap_or(self.modes);
        self.ended = entry.ended.or(self.ended.take());
        if let Some(owner) = entry.owner {
            self.owner = owner;
        }
        if let Some(color) = entry.cursor_color {
            self.cursor_color = color;
        }
        if let Some(pointer) = entry.pointer {
            self.pointer = Some(pointer).filter(|name| name != "default");
        }
        self.found = entry.found.or(self.found.take());
        self.learn(&entry.styles, &entry.links);
        let shown = self.shown();
        self.rows.retain(|number, _| shown.contains(number));
        for row in entry.rows {
            if !shown.contains(&row.number) || !self.knows(&row) {
                return false;
            }
            self.rows.insert(row.number, row);
        }
        entry.sum.is_none_or(|expected| sum(self.rows.values()) == expected)
    }

    pub(super) fn learn(&mut self, styles: &[Style], links: &[(u32, String)]) {
        self.styles.extend(styles.iter().map(|style| (style.id, style.clone())));
        self.links.extend(links.iter().cloned());
    }

    /// Whether everything is known that a row refers to.
    fn knows(&self, row: &Row) -> bool {
        row.runs.len().is_multiple_of(2)
            && row.styles().all(|id| {
                id == 0
                    || self.styles.get(&id).is_some_and(|style| {
                        style.raw.l.is_none_or(|link| self.links.contains_key(&link))
                    })
            })
    }

    /// Numbers of the rows in view.
    pub fn shown(&self) -> Range<u64> {
        self.view.top..self.view.top.saturating_add(u64::from(self.size.rows))
    }

    /// A row in view; none if it has not come yet.
    pub fn row(&self, number: u64) -> Option<&Row> {
        self.rows.get(&number)
    }

    /// Rows in view from the top; one that has not come yet is left out.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.values()
    }

    /// Texts of the rows in view from the top.
    pub fn texts(&self) -> Vec<String> {
        let text = |number| self.row(number).map(|row| row.text.to_string()).unwrap_or_default();
        self.shown().map(text).collect()
    }

    /// What a style looks like. Style 0 is the theme's unless the program set colors of its own.
    pub fn style(&self, id: u32) -> Option<&Style> {
        self.styles.get(&id)
    }

    /// Where a link leads.
    pub fn link(&self, id: u32) -> Option<&str> {
        self.links.get(&id).map(String::as_str)
    }
}
