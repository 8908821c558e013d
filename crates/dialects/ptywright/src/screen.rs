//! A snapshot of the terminal engine as this dialect shows it: text, cells and title, with the same
//! secrets hidden in all of them.

use std::{borrow::Cow, sync::Arc};

use rookery_model::Size;
use rookery_term::{
    Snapshot, Width,
    redact::{CellText, LogicalLine, MaskedCell, Policy},
};

use crate::{
    cache::{CellCache, Flavor},
    cells,
    wire::{
        redaction::InForce,
        snapshot::{Cells, Cursor, ScreenSize, ScreenSnapshot},
    },
};

/// How a request wants to see a screen.
pub(crate) struct View {
    /// What to hide; nothing if none.
    pub(crate) policy: Option<InForce>,
    /// Whether to show the cells.
    pub(crate) cells: bool,
}

impl View {
    /// A text with its secrets hidden.
    pub(crate) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.policy.as_ref().map_or(Cow::Borrowed(text), |policy| policy.redact(text))
    }

    /// A whole screen. `size` supplies the pixels, which the engine does not know.
    pub(crate) fn screen(
        &self,
        snapshot: &Arc<Snapshot>,
        size: Size,
        cache: &CellCache,
    ) -> ScreenSnapshot {
        let plain = snapshot.plain_text();
        let shown = self.text(&plain);
        // Redaction borrows what it does not change.
        let is_clean = matches!(shown, Cow::Borrowed(_));
        ScreenSnapshot {
            alternate_screen: snapshot.modes.alternate_screen,
            application_cursor: snapshot.modes.application_cursor,
            application_keypad: snapshot.modes.application_keypad,
            cells: self.cells(snapshot, is_clean, cache),
            cursor: Cursor {
                col: snapshot.cursor.col,
                row: snapshot.cursor.row,
                visible: snapshot.cursor.visible,
            },
            sequence: snapshot.sequence,
            size: ScreenSize {
                cols: snapshot.cols,
                pixel_height: size.pixel_height,
                pixel_width: size.pixel_width,
                rows: snapshot.rows,
            },
            title: snapshot.title.as_deref().map(|title| self.text(title).into_owned()),
            plain_text: shown.into_owned(),
            process: None,
        }
    }

    fn cells(&self, snapshot: &Arc<Snapshot>, is_clean: bool, cache: &CellCache) -> Cells {
        match &self.policy {
            _ if !self.cells => Cells::none(),
            Some(Cow::Borrowed(policy)) if !is_clean => {
                cache.get_or(snapshot, Flavor::Redacted, || {
                    cells::json(snapshot, &masks(snapshot, policy))
                })
            }
            Some(Cow::Owned(policy)) if !is_clean => {
                cells::json(snapshot, &masks(snapshot, policy))
            }
            Some(_) | None => {
                cache.get_or(snapshot, Flavor::Exposed, || cells::json(snapshot, &[]))
            }
        }
    }
}

/// What to show instead of the cells that hold secrets, row by row.
fn masks(snapshot: &Snapshot, policy: &Policy) -> Vec<MaskedCell> {
    let texts = Texts::of(snapshot);
    let mut masks = policy.redact_cells(&texts.lines(snapshot, Blanks::Dropped));
    if (0..snapshot.rows).any(|row| texts.is_ambiguous(snapshot, row)) {
        masks.extend(policy.redact_cells(&texts.lines(snapshot, Blanks::Kept)));
    }
    masks.sort_by_key(|mask| (mask.row, mask.col));
    masks.dedup_by_key(|mask| (mask.row, mask.col));
    masks
}

/// How to read the blank columns at the end of a row that wrapped.
///
/// They are spaces if a wide character did not fit behind them and left the last column empty, and
/// nothing otherwise. The cells do not tell, so what either reading hides is hidden.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blanks {
    Dropped,
    Kept,
}

/// The texts of all cells, one after another.
struct Texts {
    joined: String,
    ends: Vec<usize>,
}

impl Texts {
    fn of(snapshot: &Snapshot) -> Self {
        let mut texts = Self { joined: String::new(), ends: Vec::new() };
        for cell in (0..snapshot.rows).flat_map(|row| snapshot.row(row)) {
            cell.push_text(&mut texts.joined);
            texts.ends.push(texts.joined.len());
        }
        texts
    }

    /// Rows as the program wrote them, those that wrapped by themselves being one line.
    fn lines(&self, snapshot: &Snapshot, blanks: Blanks) -> Vec<LogicalLine<'_>> {
        let mut lines = vec![LogicalLine::new()];
        for row in 0..snapshot.rows {
            let line = lines.last_mut().expect("starts with one and only grows");
            let wrapped = snapshot.is_wrapped(row);
            let dropped = match (wrapped, self.blanks(snapshot, row)) {
                (false, _) | (_, 0) => 0,
                (true, count) if blanks == Blanks::Dropped => count,
                (true, _) => 1,
            };
            for (col, cell) in (0..).zip(snapshot.row(row)) {
                let width = match cell.width() {
                    Width::Narrow => u8::from(col < snapshot.cols - dropped),
                    Width::Wide => 2,
                    Width::Continuation => 0,
                };
                line.push(CellText { row, col, width, text: self.at(snapshot, row, col) });
            }
            if !wrapped {
                lines.push(LogicalLine::new());
            }
        }
        lines
    }

    /// Whether the two ways to read blanks differ.
    fn is_ambiguous(&self, snapshot: &Snapshot, row: u16) -> bool {
        snapshot.is_wrapped(row) && self.blanks(snapshot, row) > 1
    }

    /// Columns at the end of a row in which nothing was written.
    fn blanks(&self, snapshot: &Snapshot, row: u16) -> u16 {
        let cells = (0..).zip(snapshot.row(row));
        cells.fold(0, |count, (col, cell)| {
            let is_blank = cell.width() == Width::Narrow && self.at(snapshot, row, col).is_empty();
            if is_blank { count + 1 } else { 0 }
        })
    }

    fn at(&self, snapshot: &Snapshot, row: u16, col: u16) -> &str {
        let index = usize::from(row) * usize::from(snapshot.cols) + usize::from(col);
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.joined[start..self.ends[index]]
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! Screens made of bytes.

    use std::time::Duration;

    use rookery_term::{
        MemoryBlocks, NoTranscript, Palette, Screen, ScreenConfig, ScreenSize, Snapshot,
    };

    /// The screen after this output.
    pub(crate) fn screen(rows: u16, cols: u16, output: &[u8]) -> Snapshot {
        let size = ScreenSize::new(rows, cols);
        let config = ScreenConfig { size, scrollback: 10, palette: Palette::default() };
        let mut screen = Screen::new(config, Box::new(MemoryBlocks::default()));
        screen.feed(output, &NoTranscript, Duration::ZERO);
        screen.snapshot()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{testing::screen, *};
    use crate::wire::redaction;

    fn view(redact: bool, redaction: Option<Value>) -> View {
        View { policy: redaction::policy(redact, redaction).unwrap(), cells: true }
    }

    fn shown(view: &View, rows: u16, cols: u16, output: &str) -> Value {
        let snapshot = Arc::new(screen(rows, cols, output.as_bytes()));
        let cache = CellCache::default();
        let size = Size::new(rows, cols).unwrap().with_pixels(7, 9);
        let first = serde_json::to_value(view.screen(&snapshot, size, &cache)).unwrap();
        let again = serde_json::to_value(view.screen(&snapshot, size, &cache)).unwrap();
        assert_eq!(first, again);
        first
    }

    /// The texts of the cells, a row per string, with `_` for empty ones.
    fn rows(screen: &Value) -> Vec<String> {
        let cols = screen["size"]["cols"].as_u64().unwrap() as usize;
        let text = |cell: &Value| match cell["text"].as_str().unwrap() {
            "" => "_".to_owned(),
            text => text.to_owned(),
        };
        let cells = screen["cells"].as_array().unwrap();
        cells.chunks(cols).map(|row| row.iter().map(text).collect()).collect()
    }

    #[test]
    fn a_screen_has_every_member() {
        let screen = shown(&view(true, None), 2, 3, "\x1b]2;token=abc\x07\x1b[?1h\x1b=hi");
        assert_eq!(screen["plain_text"], "hi");
        assert_eq!(screen["title"], "token=[REDACTED]");
        assert_eq!(screen["application_cursor"], true);
        assert_eq!(screen["application_keypad"], true);
        assert_eq!(screen["alternate_screen"], false);
        assert_eq!(screen["cursor"], json!({"row": 0, "col": 2, "visible": true}));
        let size = json!({"rows": 2, "cols": 3, "pixel_width": 7, "pixel_height": 9});
        assert_eq!(screen["size"], size);
        assert_eq!(screen["sequence"], 1);
        assert_eq!(rows(&screen), ["hi_", "___"]);
    }

    #[test]
    fn a_secret_that_wraps_is_hidden_in_text_and_cells() {
        let output = "token=abcdefghijklmnopq end\r\nnext";
        let screen = shown(&view(true, None), 4, 10, output);
        assert_eq!(screen["plain_text"], "token=[REDACTED] end\nnext");
        assert_eq!(rows(&screen), ["token=[RED", "ACTED]____", "___ end___", "next______"]);
        let exposed = shown(&view(false, None), 4, 10, output);
        assert_eq!(exposed["plain_text"], output.replace('\r', ""));
        assert_eq!(rows(&exposed)[1], "efghijklmn");
    }

    #[test]
    fn a_secret_on_the_next_row_is_hidden_in_text_and_cells() {
        let screen = shown(&view(true, None), 3, 12, "password:\r\nhunter2 rest");
        assert_eq!(screen["plain_text"], "password:\n[REDACTED] rest");
        assert_eq!(rows(&screen)[1], "[REDACT rest");
    }

    #[test]
    fn wide_characters_in_a_secret_become_narrow() {
        // The third one does not fit in the first row and leaves its last column empty.
        let screen = shown(&view(true, None), 2, 11, "token=日本語 x");
        assert_eq!(screen["plain_text"], "token=[REDACTED] x");
        assert_eq!(rows(&screen), ["token=[RED_", "AC x_______"]);
        let flags: Vec<&Value> =
            ["wide", "wide_continuation"].map(|flag| &screen["cells"][6][flag]).into();
        assert_eq!(flags, [false, false]);
    }

    #[test]
    fn a_secret_behind_skipped_columns_is_hidden() {
        // The wide character does not fit behind the two columns that were skipped.
        let screen = shown(&view(true, None), 3, 10, "token:\x1b[1;10H日本 x");
        assert_eq!(screen["plain_text"], "token:   [REDACTED] x");
        assert_eq!(rows(&screen)[..2], ["token:____", "[RED x____"]);
    }

    #[test]
    fn a_custom_policy_reaches_the_cells() {
        let policy = json!({"enabled": true, "replacement": "#", "extra_literals": ["blue"]});
        let screen = shown(&view(true, Some(policy)), 1, 8, "a blue b");
        assert_eq!(screen["plain_text"], "a # b");
        assert_eq!(rows(&screen), ["a #___ b"]);
    }

    #[test]
    fn cells_are_left_out_on_demand() {
        let view = View { cells: false, ..view(true, None) };
        let screen = shown(&view, 1, 8, "token=a");
        assert_eq!(
            (&screen["cells"], &screen["plain_text"]),
            (&json!([]), &json!("token=[REDACTED]"))
        );
    }

    /// The text of lines, as redaction reads them.
    fn joined(lines: &[LogicalLine<'_>]) -> String {
        let mut text = String::new();
        for line in lines {
            let len = line.iter().rposition(|cell| !cell.text.is_empty()).map_or(0, |n| n + 1);
            for cell in line[..len].iter().filter(|cell| cell.width > 0) {
                text.push_str(if cell.text.is_empty() { " " } else { cell.text });
            }
            text.push('\n');
        }
        text.truncate(text.trim_end_matches('\n').len());
        text
    }

    proptest! {
        #[test]
        fn lines_are_the_plain_text(
            pieces in proptest::collection::vec(prop_oneof![
                4 => "[a-c ]{0,6}",
                2 => "[日本é]{0,4}",
                1 => "\r\n",
                1 => Just("\t".to_owned()),
                1 => "\x1b\\[[1-5];[1-9]H",
                // What shifts cells within a row tears wide characters, and halves count as spaces.
                1 => "\x1b\\[[012]?[JKXLM]",
            ], 0..30),
            rows in 1u16..6,
            cols in 1u16..10,
        ) {
            let snapshot = screen(rows, cols, pieces.concat().as_bytes());
            let texts = Texts::of(&snapshot);
            // Spaces at the end of a line hide nothing.
            let trimmed = |text: &str| {
                let lines: Vec<_> = text.trim_end().split('\n').map(str::trim_end).collect();
                lines.join("\n")
            };
            let read = |blanks| trimmed(&joined(&texts.lines(&snapshot, blanks)));
            let plain = trimmed(&snapshot.plain_text());
            // With two ambiguous rows or more, each may be read in its own way.
            match (0..rows).filter(|row| texts.is_ambiguous(&snapshot, *row)).count() {
                0 => prop_assert_eq!(read(Blanks::Dropped), plain),
                1 => prop_assert!([Blanks::Dropped, Blanks::Kept].map(read).contains(&plain)),
                _ => {}
            }
        }
    }
}
