//! Rows for those who may not see secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rookery_term::redact::Policy;
use rookery_term::{RowRef, Screen, Selection, SelectionKind, Width};
use rookery_view::link::RowText;

/// Cells that hold a secret, on the rows that have one. Lines are judged as they were before they
/// wrapped, together with those around them that a secret may go on in.
#[derive(Default)]
pub(crate) struct Masked(BTreeMap<u64, Row>);

#[derive(Default)]
struct Row {
    /// What each cell shows, with its column and how many it takes.
    cells: Vec<(u16, u16, String)>,
    hidden: BTreeSet<u16>,
}

/// The column of what is no cell.
const LINE_END: u16 = u16::MAX;
/// Rows of a selection that are read at a time.
const PIECE: u64 = 512;

impl Masked {
    /// Looks through rows.
    pub(crate) fn of(screen: &Screen, rows: Range<u64>) -> Masked {
        let mut text = String::new();
        // For each byte of the text the cell that it comes from.
        let mut origin: Vec<(u64, u16)> = Vec::new();
        screen.visit_rows(screen.around_secrets(rows.clone()), &mut |row| {
            for (col, _, shown) in cells(&row) {
                text.push_str(&shown);
                origin.resize(text.len(), (row.number, col));
            }
            if !row.is_wrapped() {
                let end = text.trim_end_matches(' ').len();
                text.truncate(end);
                origin.truncate(end);
                text.push('\n');
                origin.push((row.number, LINE_END));
            }
        });
        let mut masked = BTreeMap::<u64, Row>::new();
        for span in Policy::ours().redact_spans(&text) {
            for (row, col) in &origin[span] {
                if rows.contains(row) && *col != LINE_END {
                    masked.entry(*row).or_default().hidden.insert(*col);
                }
            }
        }
        for (number, row) in &mut masked {
            screen.visit_rows(*number..*number + 1, &mut |found| row.cells = cells(&found));
        }
        Masked(masked)
    }

    /// What a row shows instead.
    pub(crate) fn row(&self, number: u64, cols: u16) -> Option<RowText> {
        let row = self.0.get(&number)?;
        let mut text = String::new();
        for (col, width, shown) in &row.cells {
            match row.hidden.contains(col) {
                true => text.extend(std::iter::repeat_n('*', usize::from(*width))),
                false => text.push_str(shown),
            }
        }
        Some(RowText::from_text(text.trim_end(), cols))
    }

    fn hides(&self, number: u64, col: u16) -> bool {
        self.0.get(&number).is_some_and(|row| row.hidden.contains(&col))
    }
}

/// Columns, widths and texts of the characters of a row.
fn cells(row: &RowRef<'_>) -> Vec<(u16, u16, String)> {
    let last = row.cells().len().saturating_sub(1);
    let cells = row.cells().enumerate().filter(|(_, cell)| cell.width() != Width::Continuation);
    let shown = cells.map(|(col, cell)| {
        let width = if cell.width() == Width::Wide { 2 } else { 1 };
        // The last cell of a row is left out for a wide character that begins the next.
        let is_left_out = col == last && row.is_wrapped();
        let shown = if is_left_out { cell.text() } else { cell.shown() };
        (u16::try_from(col).unwrap_or(u16::MAX), width, shown)
    });
    shown.collect()
}

/// The text of a selection as those see it who may not see secrets, up to about `most` bytes, and whether
/// there was more. What is a secret is judged by whole lines, not by what was selected of them.
pub(crate) fn selected(screen: &Screen, selection: &Selection, most: usize) -> (String, bool) {
    let (start, end) = selection.ends();
    let last = end.row.min(screen.first_row() + u64::from(screen.size().rows) - 1);
    let mut from = start.row.max(screen.oldest_shown());
    let (mut text, mut line) = (String::new(), 0);
    while from <= last {
        let piece = from..(from + PIECE).min(last + 1);
        let masked = Masked::of(screen, piece.clone());
        screen.visit_rows(piece.clone(), &mut |row| {
            push_selected(&mut text, &masked, selection, &row, screen.size().cols);
            let runs_on = row.is_wrapped() && selection.kind != SelectionKind::Block;
            if !runs_on {
                text.truncate(line + text[line..].trim_end_matches(' ').len());
                if row.number != last || selection.kind == SelectionKind::Lines {
                    text.push('\n');
                }
                line = text.len();
            }
        });
        if text.len() > most {
            text.truncate(text.floor_char_boundary(most));
            return (text, true);
        }
        from = piece.end;
    }
    text.truncate(line + text[line..].trim_end_matches(' ').len());
    if selection.kind == SelectionKind::Text {
        text.truncate(text.trim_end_matches('\n').len());
    }
    (text, false)
}

fn push_selected(
    text: &mut String,
    masked: &Masked,
    selection: &Selection,
    row: &RowRef<'_>,
    cols: u16,
) {
    let Some(columns) = selection.columns_on(row.number, cols) else { return };
    for (col, width, shown) in cells(row) {
        // The second half of a wide character stands for all of it.
        if col >= columns.end || col + width <= columns.start {
            continue;
        }
        match masked.hides(row.number, col) {
            true => text.push('*'),
            false => text.push_str(&shown),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rookery_term::{MemoryBlocks, NoTranscript, Palette, Place, ScreenConfig, ScreenSize};

    use super::*;

    const COLS: u16 = 80;

    fn screen(text: &str) -> Screen {
        let size = ScreenSize::new(4, COLS);
        let config = ScreenConfig { size, scrollback: 1000, palette: Palette::default() };
        let mut screen = Screen::new(config, Box::<MemoryBlocks>::default());
        screen.feed(text.replace('\n', "\r\n").as_bytes(), &NoTranscript, Duration::ZERO);
        screen
    }

    fn shown(screen: &Screen, number: u64) -> Option<String> {
        let masked = Masked::of(screen, number..number + 1);
        masked.row(number, COLS).map(|row| row.to_string())
    }

    fn copied(screen: &Screen, anchor: (u64, u16), head: (u64, u16)) -> String {
        let place = |(row, col)| Place { row, col };
        let kind = SelectionKind::Text;
        let selection = Selection { anchor: place(anchor), head: place(head), kind };
        selected(screen, &selection, usize::MAX).0
    }

    #[test]
    fn a_value_is_hidden_whatever_of_it_is_asked_for() {
        let screen = screen("日 password=hunter2hunter2 é end\nplain");
        let hidden = "日 password=************** é end";
        assert_eq!(shown(&screen, 0).as_deref(), Some(hidden));
        assert_eq!(shown(&screen, 1), None);
        assert_eq!(copied(&screen, (0, 12), (0, 25)), "*".repeat(14), "the value alone");
        assert_eq!(copied(&screen, (0, 14), (0, 17)), "****", "and any of it");
        assert_eq!(copied(&screen, (0, 1), (1, 4)), format!("{hidden}\nplain"));
    }

    #[test]
    fn a_row_of_a_private_key_is_hidden_wherever_the_key_begins_and_ends() {
        let line = "MIIEowIBAAKCAQEAx7Qm2Vf0c3u5tJ9zW8kLd1rNhYpB6sXgE4aFoTiCvUjDqHwS\n";
        let key = line.repeat(50);
        let text = format!("-----BEGIN PRIVATE KEY-----\n{key}-----END PRIVATE KEY-----\nend");
        let screen = screen(&text);
        for number in 1..=50 {
            assert_eq!(shown(&screen, number), Some("*".repeat(64)), "row {number}");
            assert_eq!(copied(&screen, (number, 0), (number, 9)), "*".repeat(10));
        }
        assert_eq!(shown(&screen, 52), None);
    }

    #[test]
    fn what_is_no_secret_is_copied_as_the_screen_has_it() {
        let screen = screen("one  \n\n日本 two\nthree");
        let place = |row, col| Place { row, col };
        for kind in [SelectionKind::Text, SelectionKind::Lines, SelectionKind::Block] {
            for (anchor, head) in
                [(place(0, 1), place(3, 2)), (place(2, 1), place(2, 2)), (place(3, 9), place(0, 0))]
            {
                let selection = Selection { anchor, head, kind };
                let whole = screen.selected_text_within(&selection, usize::MAX);
                assert_eq!(selected(&screen, &selection, usize::MAX), whole, "{selection:?}");
            }
        }
        let all = Selection { anchor: place(0, 0), head: place(3, 9), kind: SelectionKind::Text };
        assert_eq!(selected(&screen, &all, 6), ("one\n\n".to_owned(), true));
    }
}
