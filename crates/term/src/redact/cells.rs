//! Redaction of screen cells: the same spans as in the text, laid over the columns they came from.
//! Works on plain positions; knows nothing of styles or of the emulator.

use super::Policy;
use super::edits::Redaction;
use unicode_width::UnicodeWidthChar;

/// One cell of a screen, as far as redaction cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellText<'a> {
    /// Screen row.
    pub row: u16,
    /// Screen column.
    pub col: u16,
    /// Columns it covers: 1, 2 for a wide character, 0 for a spacer that adds no text.
    pub width: u8,
    /// Its text, base character with combining marks; empty if nothing was written there.
    pub text: &'a str,
}

/// The cells of one line as the application wrote it: rows joined where they wrapped by themselves.
pub type LogicalLine<'a> = Vec<CellText<'a>>;

/// What a masked column shows instead. It is one column wide, whatever stood there before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskedCell {
    /// Screen row.
    pub row: u16,
    /// Screen column.
    pub col: u16,
    /// One character of the replacement, or empty where the span is longer than it. The second
    /// column of a wide replacement character is empty too.
    pub text: String,
}

impl Policy {
    /// The columns to overwrite so that the cells hide what [`Policy::redact`] hides in the text of
    /// the same lines. Columns not mentioned keep their text, position and style.
    pub fn redact_cells(&self, lines: &[LogicalLine<'_>]) -> Vec<MaskedCell> {
        let (text, places) = join(lines);
        let mut masked = Vec::new();
        let mut place = 0;
        for redaction in self.redactions(&text) {
            // A cell that a span only touches is masked whole, and belongs to the first span.
            while places.get(place).is_some_and(|found| found.end <= redaction.range.start) {
                place += 1;
            }
            let first = place;
            while places.get(place).is_some_and(|found| found.start < redaction.range.end) {
                place += 1;
            }
            lay_out(&redaction, &places[first..place], &mut masked);
        }
        masked
    }
}

/// The bytes of the joined text that came from one cell.
struct Place {
    start: usize,
    end: usize,
    row: u16,
    col: u16,
    width: u8,
}

/// The text of the lines, the way a screen is read out: unwritten cells are spaces unless nothing
/// follows them, hard line ends are line feeds, trailing blank lines are left out.
fn join(lines: &[LogicalLine<'_>]) -> (String, Vec<Place>) {
    let written = |line: &LogicalLine<'_>| line.iter().rposition(|cell| !cell.text.is_empty());
    let last_line = lines.iter().rposition(|line| written(line).is_some()).map_or(0, |n| n + 1);
    let mut text = String::new();
    let mut places = Vec::new();
    for (number, line) in lines[..last_line].iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        let len = written(line).map_or(0, |n| n + 1);
        for cell in line[..len].iter().filter(|cell| cell.width > 0) {
            let start = text.len();
            text.push_str(if cell.text.is_empty() { " " } else { cell.text });
            let end = text.len();
            places.push(Place { start, end, row: cell.row, col: cell.col, width: cell.width });
        }
    }
    (text, places)
}

/// Writes the replacement over the columns of a span, one column per character, and blanks the rest.
fn lay_out(redaction: &Redaction, places: &[Place], masked: &mut Vec<MaskedCell>) {
    let first = masked.len();
    for place in places {
        for offset in 0..u16::from(place.width) {
            let col = place.col.saturating_add(offset);
            masked.push(MaskedCell { row: place.row, col, text: String::new() });
        }
    }
    let columns = &mut masked[first..];
    let mut next = 0_usize;
    for c in redaction.text.chars() {
        match c.width() {
            None => {}
            Some(0) => {
                if let Some(before) = next.checked_sub(1).and_then(|last| columns.get_mut(last)) {
                    before.text.push(c);
                }
            }
            // A wide one needs both its columns side by side; half of it would disturb the row.
            Some(2) if !pair_at(columns, next) => next += 1,
            Some(width) => {
                if let Some(column) = columns.get_mut(next) {
                    column.text.push(c);
                }
                next += width;
            }
        }
        if next >= columns.len() {
            return;
        }
    }
}

fn pair_at(columns: &[MaskedCell], first: usize) -> bool {
    match (columns.get(first), columns.get(first + 1)) {
        (Some(left), Some(right)) => left.row == right.row && left.col + 1 == right.col,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    /// Lays text out on `cols` columns; every `\n` ends a logical line.
    fn screen(text: &str, cols: u16) -> Vec<Vec<(u16, u16, u8, String)>> {
        let mut row = 0;
        let mut lines = Vec::new();
        for line in text.split('\n') {
            let mut cells: Vec<(u16, u16, u8, String)> = Vec::new();
            let mut col = 0;
            for c in line.chars() {
                let width = c.width().unwrap_or(0) as u16;
                if width == 0 {
                    if let Some(last) = cells.iter_mut().rev().find(|cell| cell.2 > 0) {
                        last.3.push(c);
                    }
                    continue;
                }
                if col + width > cols {
                    if col < cols {
                        cells.push((row, col, 0, String::new()));
                    }
                    row += 1;
                    col = 0;
                }
                cells.push((row, col, width as u8, c.to_string()));
                if width == 2 {
                    cells.push((row, col + 1, 0, String::new()));
                }
                col += width;
            }
            lines.push(cells);
            row += 1;
        }
        lines
    }

    fn borrow(lines: &[Vec<(u16, u16, u8, String)>]) -> Vec<LogicalLine<'_>> {
        fn cell((row, col, width, text): &(u16, u16, u8, String)) -> CellText<'_> {
            CellText { row: *row, col: *col, width: *width, text }
        }
        lines.iter().map(|line| line.iter().map(cell).collect()).collect()
    }

    /// The screen after masking, rows as strings with `_` for blanked columns.
    fn masked_rows(policy: &Policy, text: &str, cols: u16) -> Vec<String> {
        let lines = screen(text, cols);
        let masked = policy.redact_cells(&borrow(&lines));
        let mut grid: Vec<Vec<String>> = Vec::new();
        for (row, col, _, text) in lines.iter().flatten() {
            let row = usize::from(*row);
            grid.resize(grid.len().max(row + 1), vec![String::new(); usize::from(cols)]);
            grid[row][usize::from(*col)] = text.clone();
        }
        for cell in masked {
            let text = if cell.text.is_empty() { "_".into() } else { cell.text };
            grid[usize::from(cell.row)][usize::from(cell.col)] = text;
        }
        grid.into_iter().map(|row| row.concat()).collect()
    }

    #[test]
    fn short_spans_truncate_and_long_ones_blank() {
        let policy = Policy::ptywright_compatible();
        assert_eq!(masked_rows(&policy, "token=abc,def", 20), ["token=[RE,def"]);
        assert_eq!(masked_rows(&policy, "token=abcdefghijklmn x", 30), ["token=[REDACTED]____ x"]);
    }

    #[test]
    fn wrapped_secret_is_masked_on_every_row() {
        let policy = Policy::ptywright_compatible();
        assert_eq!(
            masked_rows(&policy, "token=abcdefghijklmnopq end", 10),
            ["token=[RED", "ACTED]____", "___ end"]
        );
        assert_eq!(masked_rows(&policy, "tok\n", 2), ["to", "k"]);
        assert_eq!(masked_rows(&policy, "token=abc", 2), ["to", "ke", "n=", "[R", "E"]);
    }

    #[test]
    fn value_on_the_next_row_is_masked() {
        let policy = Policy::ptywright_compatible();
        assert_eq!(
            masked_rows(&policy, "password:\nhunter2 rest", 20),
            ["password:", "[REDACT rest"]
        );
    }

    #[test]
    fn wide_characters_keep_the_columns() {
        let policy = Policy::ptywright_compatible();
        assert_eq!(masked_rows(&policy, "日本 token=abc 語", 30), ["日本 token=[RE 語"]);
        assert_eq!(masked_rows(&policy, "token=日本語x end", 30), ["token=[REDACT end"]);
        let lines = screen("token=日", 30);
        let masked = policy.redact_cells(&borrow(&lines));
        let at: Vec<_> = masked.iter().map(|cell| (cell.col, cell.text.as_str())).collect();
        assert_eq!(at, [(6, "["), (7, "R")]);
    }

    #[test]
    fn wide_replacement_characters_are_not_halved() {
        let policy = Policy::ptywright_compatible().customize("密x", [""; 0], [""; 0]).unwrap();
        assert_eq!(masked_rows(&policy, "token=abcd", 30), ["token=密_x_"]);
        assert_eq!(masked_rows(&policy, "token=a", 30), ["token=_"]);
    }

    #[test]
    fn combining_marks_go_with_their_cell() {
        let policy = Policy::ptywright_compatible();
        assert_eq!(masked_rows(&policy, "bearer abcdefgh\u{301} x", 30), ["bearer [REDACTE x"]);
    }

    #[test]
    fn unwritten_cells_are_spaces() {
        let cell = |col, text| CellText { row: 0, col, width: 1, text };
        let line: LogicalLine<'_> = "token"
            .char_indices()
            .map(|(at, _)| cell(at as u16, &"token"[at..=at]))
            .chain([cell(5, ""), cell(6, "="), cell(7, ""), cell(8, "v"), cell(9, "")])
            .collect();
        let masked = Policy::ptywright_compatible().redact_cells(&[line, Vec::new()]);
        assert_eq!(masked, [MaskedCell { row: 0, col: 8, text: "[".into() }]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn cells_hide_exactly_the_spans(
            parts in proptest::collection::vec(proptest::sample::select(vec![
                "token=", "bearer ", "sk-", "abcdefghijklmnop", "日本", " ", "\n", ",", "x", "é", "e\u{301}",
                "password:", "AKIAABCDEFGHIJKLMNOP", "ghp_abcdefghijklmnopqrst",
            ]), 0..12),
            cols in 2u16..12,
        ) {
            let text = parts.concat();
            let policy = Policy::strict();
            let lines = screen(&text, cols);
            let borrowed = borrow(&lines);
            let (joined, _) = join(&borrowed);
            prop_assert_eq!(joined.as_str(), text.trim_end_matches('\n'));
            let columns: usize = policy
                .redact_spans(&joined)
                .iter()
                .map(|span| joined[span.clone()].replace('\n', "").width())
                .sum();
            prop_assert_eq!(policy.redact_cells(&borrowed).len(), columns);
        }
    }
}
