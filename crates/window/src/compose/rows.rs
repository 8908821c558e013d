//! Rows of the link as rows of cells. A row that looks as it did is the same `Arc` again, so that
//! painting knows that nothing is to be drawn there.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;
use std::sync::Arc;

use rookery_face::app::{FindBar, Hover, Selection};
use rookery_face::picture::Term;
use rookery_term::{Colors, Underline, Width};
use rookery_view::link::{self, SelectKind, Style, Tint, attr};
use rookery_view::scene::grid::{Cell, Cursor, CursorShape, Glyph, Grid, Look, Row, Scroll, mix};
use rookery_view::scene::{Preedit, Rgb};
use rookery_view::theme::Theme;

/// Rows that are remembered, of all terminals; more than any picture has.
const MOST_ROWS: usize = 20_000;

/// Rows that were made before.
#[derive(Default)]
pub(crate) struct Rows {
    made: HashMap<(u64, u64), (u64, Arc<Row>)>,
}

/// What a person did to a terminal's view.
#[derive(Default)]
pub(crate) struct Touched<'a> {
    pub(crate) selection: Option<Selection>,
    pub(crate) find: Option<&'a FindBar>,
    /// Where copy mode stands.
    pub(crate) copy: Option<(u64, u16)>,
    /// The link that the mouse is over.
    pub(crate) hover: Hover,
    pub(crate) has_keyboard: bool,
    pub(crate) preedit: Option<&'a Preedit>,
}

impl Rows {
    /// A terminal as it is shown.
    pub(crate) fn grid(
        &mut self,
        id: u64,
        term: &dyn Term,
        theme: &Theme,
        touched: &Touched<'_>,
    ) -> Grid {
        if self.made.len() > MOST_ROWS {
            self.made.clear();
        }
        let (size, view) = (term.size(), term.view());
        let plain = look_of(term.style(0), theme);
        let rows = (0..u64::from(size.rows)).map(|index| {
            let number = view.top + index;
            self.row(id, term, number, theme, plain, touched)
        });
        let mut grid = Grid {
            cols: size.cols,
            rows: rows.collect(),
            background: plain.bg,
            selection_background: selection_of(theme),
            cursor: cursor(term, theme, plain, touched),
            scroll: Scroll {
                back: view.first.saturating_sub(view.top),
                history: view.first.saturating_sub(view.oldest),
            },
        };
        if let Some(preedit) = touched.preedit {
            grid.lay_over(preedit, plain);
        }
        grid
    }

    fn row(
        &mut self,
        id: u64,
        term: &dyn Term,
        number: u64,
        theme: &Theme,
        plain: Look,
        touched: &Touched<'_>,
    ) -> Arc<Row> {
        let cols = term.size().cols;
        let selected = touched.selection.and_then(|it| selected_on(&it, number, cols));
        let found = touched.find.map(|find| found_on(find, number)).unwrap_or_default();
        let linked = touched.hover.columns(id, number);
        let source = term.row(number);
        let mut hasher = DefaultHasher::new();
        (plain, cols, &selected, &found, &linked).hash(&mut hasher);
        if let Some(row) = source {
            hash_row(row, term, &mut hasher);
        }
        let looks = hasher.finish();
        if let Some((before, row)) = self.made.get(&(id, number))
            && *before == looks
        {
            return Arc::clone(row);
        }
        let mut cells = source.map(|row| cells(row, term, theme, plain)).unwrap_or_default();
        if let Some(columns) = linked {
            underline(&mut cells, columns);
        }
        let row = Arc::new(Row { cells, selected, found });
        self.made.insert((id, number), (looks, Arc::clone(&row)));
        row
    }
}

/// Underlines a link, unless it is in its own way.
fn underline(cells: &mut [Cell], columns: Range<u16>) {
    let end = usize::from(columns.end).min(cells.len());
    let start = usize::from(columns.start).min(end);
    for cell in &mut cells[start..end] {
        if cell.look.underline == Underline::None {
            cell.look.underline = Underline::Single;
            cell.look.underline_color = cell.look.fg;
        }
    }
}

fn hash_row(row: &link::Row, term: &dyn Term, hasher: &mut DefaultHasher) {
    for (text, cells) in row.text.clusters() {
        (text, cells).hash(hasher);
    }
    row.runs.hash(hasher);
    for style in row.styles().filter_map(|id| term.style(id)) {
        (style.raw, style.ink, style.ground).hash(hasher);
    }
}

fn cells(row: &link::Row, term: &dyn Term, theme: &Theme, plain: Look) -> Vec<Cell> {
    let mut out = Vec::with_capacity(usize::from(term.size().cols));
    let mut runs = row.runs.chunks_exact(2).map(|run| (run[0], run[1]));
    let mut left = 0;
    let mut look = plain;
    let mut next = |left: &mut u32, look: &mut Look| {
        while *left == 0 {
            let (cells, style) = runs.next().unwrap_or((u32::MAX, 0));
            *left = cells;
            *look = if style == 0 { plain } else { look_of(term.style(style), theme) };
        }
    };
    for (text, wide) in row.text.clusters() {
        next(&mut left, &mut look);
        let width = if wide > 1 { Width::Wide } else { Width::Narrow };
        out.push(Cell { glyph: text.into(), look, width });
        for _ in 1..wide {
            out.push(Cell { glyph: Glyph::Blank, look, width: Width::Continuation });
        }
        left = left.saturating_sub(u32::from(wide.max(1)));
    }
    // Styles go on behind the text: a colored bar that ends in blanks.
    while out.len() < usize::from(term.size().cols) {
        next(&mut left, &mut look);
        if left > u32::from(u16::MAX) {
            break;
        }
        out.push(Cell { glyph: Glyph::Blank, look, width: Width::Narrow });
        left -= 1;
    }
    out
}

fn look_of(style: Option<&Style>, theme: &Theme) -> Look {
    let Some(Style { raw, ink, ground, .. }) = style else {
        let (fg, bg) = (theme.palette.foreground, theme.palette.background);
        return Look {
            fg,
            bg,
            bold: false,
            italic: false,
            strikeout: false,
            overline: false,
            underline: Underline::None,
            underline_color: fg,
        };
    };
    let has = |bit| raw.a & bit != 0;
    // Resolved colors have inverse, dim and hidden in them already.
    Look {
        fg: ink.0,
        bg: ground.0,
        bold: has(attr::BOLD),
        italic: has(attr::ITALIC),
        strikeout: has(attr::STRIKEOUT),
        overline: has(attr::OVERLINE),
        underline: match raw.u {
            1 => Underline::Single,
            2 => Underline::Double,
            3 => Underline::Curl,
            4 => Underline::Dotted,
            5 => Underline::Dashed,
            _ => Underline::None,
        },
        underline_color: raw.uc.map_or(ink.0, |tint| color_of(tint, theme)),
    }
}

fn color_of(tint: Tint, theme: &Theme) -> Rgb {
    match tint {
        Tint::Rgb(color) => color.0,
        Tint::Index(index) => match theme.palette.named.get(usize::from(index)) {
            Some(named) => *named,
            None => Colors::new(theme.palette.clone()).indexed(index),
        },
    }
}

/// A quiet ground for selected text, for themes that name none.
fn selection_of(theme: &Theme) -> Rgb {
    let palette = &theme.palette;
    palette.selection.unwrap_or_else(|| mix(palette.background, palette.named[4], 0.4))
}

fn selected_on(selection: &Selection, number: u64, cols: u16) -> Option<Range<u16>> {
    let (from, to) = if selection.anchor <= selection.head {
        (selection.anchor, selection.head)
    } else {
        (selection.head, selection.anchor)
    };
    if number < from.0 || number > to.0 {
        return None;
    }
    Some(match selection.kind {
        SelectKind::Lines => 0..cols,
        SelectKind::Block => {
            let left = selection.anchor.1.min(selection.head.1);
            let right = selection.anchor.1.max(selection.head.1);
            left..right.saturating_add(1)
        }
        SelectKind::Text => {
            let start = if number == from.0 { from.1 } else { 0 };
            let end = if number == to.0 { to.1.saturating_add(1) } else { cols };
            start..end
        }
    })
}

fn found_on(find: &FindBar, number: u64) -> Vec<(Range<u16>, bool)> {
    let matches = find.matches.iter().enumerate().filter(|(_, (row, ..))| *row == number);
    matches
        .map(|(index, (_, col, cells))| {
            let end = col.saturating_add(u16::try_from(*cells).unwrap_or(u16::MAX));
            (*col..end, index == find.current)
        })
        .collect()
}

fn cursor(term: &dyn Term, theme: &Theme, plain: Look, touched: &Touched<'_>) -> Option<Cursor> {
    let sent = term.cursor();
    let (row, col) = touched.copy.unwrap_or((sent.row, sent.col));
    let row = row.checked_sub(term.view().top).and_then(|row| u16::try_from(row).ok())?;
    if row >= term.size().rows {
        return None;
    }
    let shape = match (touched.copy.is_some(), sent.shape) {
        (true, _) | (false, 0 | 1) => CursorShape::Block,
        (false, 2) => CursorShape::Underline,
        (false, _) => CursorShape::Beam,
    };
    let is_hollow = shape == CursorShape::Block && !touched.has_keyboard && touched.copy.is_none();
    Some(Cursor {
        row,
        col: col.min(term.size().cols.saturating_sub(1)),
        shape: if is_hollow { CursorShape::Hollow } else { shape },
        is_visible: touched.copy.is_some() || sent.is_visible,
        color: term.cursor_color().map_or(theme.palette.cursor, |color| color.0),
        text_color: plain.bg,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(anchor: (u64, u16), head: (u64, u16), kind: SelectKind) -> Selection {
        Selection { terminal: 1, anchor, head, kind }
    }

    #[test]
    fn a_selection_takes_whole_rows_between_its_ends() {
        let text = selection((5, 10), (3, 4), SelectKind::Text);
        assert_eq!(selected_on(&text, 2, 80), None);
        assert_eq!(selected_on(&text, 3, 80), Some(4..80));
        assert_eq!(selected_on(&text, 4, 80), Some(0..80));
        assert_eq!(selected_on(&text, 5, 80), Some(0..11));
        assert_eq!(selected_on(&text, 6, 80), None);
        let block = selection((3, 10), (5, 4), SelectKind::Block);
        assert_eq!(selected_on(&block, 4, 80), Some(4..11));
        let lines = selection((3, 10), (3, 4), SelectKind::Lines);
        assert_eq!(selected_on(&lines, 3, 80), Some(0..80));
    }

    #[test]
    fn matches_are_marked_where_they_are() {
        let mut find = FindBar::default();
        find.matches = vec![(7, 3, 4), (7, 10, 2), (9, 0, 1)];
        find.current = 1;
        assert_eq!(found_on(&find, 7), [(3..7, false), (10..12, true)]);
        assert!(found_on(&find, 8).is_empty());
    }
}
