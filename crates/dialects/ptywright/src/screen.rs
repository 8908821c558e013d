//! A snapshot of the terminal engine as this dialect shows it: text, cells and title, with the same
//! secrets hidden in all of them.

use std::{borrow::Cow, ops::Range, sync::Arc};

use rookery_model::Size;
use rookery_term::{
    Detail, Snapshot, Tail,
    redact::{MaskedLine, Policy},
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

    /// The end of a transcript with its secrets hidden, also one that began before the cut.
    pub(crate) fn tail<'t>(&self, tail: &'t Tail) -> Cow<'t, str> {
        match &self.policy {
            Some(policy) => policy.redact_piece(tail.context(), tail.text()),
            None => Cow::Borrowed(tail.text()),
        }
    }

    /// The text of a screen with its secrets hidden, also one that began above its first row.
    pub(crate) fn plain_text<'s>(&self, snapshot: &'s Snapshot) -> Cow<'s, str> {
        let text = snapshot.plain_text();
        match &self.policy {
            Some(policy) => policy.redact_below(snapshot.above(), text),
            None => Cow::Borrowed(text),
        }
    }

    /// How much of a screen is needed for it.
    pub(crate) fn detail(&self) -> Detail {
        if self.cells { Detail::Cells } else { Detail::Text }
    }

    /// A whole screen. `size` supplies the pixels, which the engine does not know.
    pub(crate) fn screen(
        &self,
        snapshot: &Arc<Snapshot>,
        size: Size,
        cache: &CellCache,
    ) -> ScreenSnapshot {
        let shown = self.plain_text(snapshot);
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

/// The lines that show something else because they hold secrets.
fn masks(snapshot: &Snapshot, policy: &Policy) -> Vec<MaskedLine> {
    policy.redact_screen(snapshot.above(), snapshot.plain_text(), line_rows(snapshot))
}

/// The rows of each line of the plain text: rows that wrapped by themselves are one line.
fn line_rows(snapshot: &Snapshot) -> impl Iterator<Item = Range<u16>> {
    let mut first = 0;
    (0..snapshot.rows).filter_map(move |row| {
        let is_end = !snapshot.is_wrapped(row) || row + 1 == snapshot.rows;
        is_end.then(|| std::mem::replace(&mut first, row + 1)..row + 1)
    })
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
        resized(&[(rows, cols, output)])
    }

    /// The screen after these sizes, rows and columns, and the output at each of them.
    pub(crate) fn resized(steps: &[(u16, u16, &[u8])]) -> Snapshot {
        let mut size = ScreenSize::new(steps[0].0, steps[0].1);
        let config = ScreenConfig { size, scrollback: 10, palette: Palette::default() };
        let mut screen = Screen::new(config, Box::new(MemoryBlocks::default()));
        for (rows, cols, output) in steps {
            let before = std::mem::replace(&mut size, ScreenSize::new(*rows, *cols));
            if size != before {
                screen.resize(size, &NoTranscript, Duration::ZERO);
            }
            screen.feed(output, &NoTranscript, Duration::ZERO);
        }
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
    fn a_secret_whose_beginning_scrolled_off_is_hidden() {
        // Four rows of ten; the first two go, and with them the name of the secret.
        let output = "token=abcdefghijklmnopqrstuvwxyz end\r\nl\r\nm";
        let screen = shown(&view(true, None), 4, 10, output);
        assert_eq!(screen["plain_text"], "[REDACTED] end\nl\nm");
        assert_eq!(rows(&screen), ["[REDACTED]", " end______", "l_________", "m_________"]);
        let exposed = shown(&view(false, None), 4, 10, output);
        assert_eq!(exposed["plain_text"], "opqrstuvwxyz end\nl\nm");
    }

    #[test]
    fn a_secret_that_wraps_is_hidden_in_text_and_cells() {
        let output = "token=abcdefghijklmnopq end\r\nnext";
        let screen = shown(&view(true, None), 4, 10, output);
        assert_eq!(screen["plain_text"], "token=[REDACTED] end\nnext");
        assert_eq!(rows(&screen), ["token=[RED", "ACTED] end", "__________", "next______"]);
        let exposed = shown(&view(false, None), 4, 10, output);
        assert_eq!(exposed["plain_text"], output.replace('\r', ""));
        assert_eq!(rows(&exposed)[1], "efghijklmn");
    }

    #[test]
    fn a_secret_on_the_next_row_is_hidden_in_text_and_cells() {
        let screen = shown(&view(true, None), 3, 12, "password:\r\nhunter2 rest");
        assert_eq!(screen["plain_text"], "password:\n[REDACTED] rest");
        assert_eq!(rows(&screen), ["password:___", "[REDACTED] r", "____________"]);
    }

    #[test]
    fn a_private_key_leaves_its_rows_blank() {
        let key = "-----BEGIN PRIVATE KEY-----\r\nMIIEvQIBADANBgkqhkiG9w0B\r\nAQEFAASCBKcwggSjAgEAAoIB\r\n-----END PRIVATE KEY-----\r\n$ ";
        let screen = shown(&view(true, None), 6, 30, key);
        let blank = "_".repeat(30);
        assert_eq!(
            screen["plain_text"],
            "-----BEGIN PRIVATE KEY-----\n[REDACTED]\n-----END PRIVATE KEY-----\n$ "
        );
        let expected = [
            "-----BEGIN PRIVATE KEY-----___",
            "[REDACTED]____________________",
            &blank,
            "-----END PRIVATE KEY-----_____",
            "$ ____________________________",
            &blank,
        ];
        assert_eq!(rows(&screen), expected);
    }

    #[test]
    fn styles_stay_with_their_columns() {
        let screen = shown(&view(true, None), 1, 20, "token=\x1b[7mabc\x1b[0m end");
        assert_eq!(rows(&screen), ["token=[REDACTED] end"]);
        let inverse: Vec<_> =
            (0..20).filter(|col| screen["cells"][*col]["style"]["inverse"] == true).collect();
        assert_eq!(inverse, [6, 7, 8]);
    }

    #[test]
    fn wide_characters_in_a_secret_leave_nothing_behind() {
        // The third one does not fit in the first row and leaves its last column empty.
        let screen = shown(&view(true, None), 2, 11, "token=日本語 x");
        assert_eq!(screen["plain_text"], "token=[REDACTED] x");
        assert_eq!(rows(&screen), ["token=[REDA", "CTED] x____"]);
        let flags: Vec<&Value> =
            ["wide", "wide_continuation"].map(|flag| &screen["cells"][6][flag]).into();
        assert_eq!(flags, [false, false]);
    }

    #[test]
    fn a_secret_behind_skipped_columns_is_hidden() {
        // The wide character does not fit behind the two columns that were skipped.
        let screen = shown(&view(true, None), 3, 10, "token:\x1b[1;10H日本 x");
        assert_eq!(screen["plain_text"], "token:   [REDACTED] x");
        assert_eq!(rows(&screen)[..2], ["token:   [", "REDACTED] "]);
    }

    #[test]
    fn a_custom_policy_reaches_the_cells() {
        let policy = json!({"enabled": true, "replacement": "#", "extra_literals": ["blue"]});
        let screen = shown(&view(true, Some(policy)), 1, 8, "a blue b");
        assert_eq!(screen["plain_text"], "a # b");
        assert_eq!(rows(&screen), ["a # b___"]);
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

    /// The text of the cells in these rows, as far as it goes; a column that a wide character left
    /// at the edge is not part of it.
    fn text_of(screen: &Value, lines: Range<u16>) -> String {
        let cols = screen["size"]["cols"].as_u64().unwrap() as usize;
        let cells = screen["cells"].as_array().unwrap();
        let cells = &cells[usize::from(lines.start) * cols..usize::from(lines.end) * cols];
        let mut text = String::new();
        for (at, cell) in cells.iter().enumerate() {
            let is_left =
                (at + 1) % cols == 0 && cells.get(at + 1).is_some_and(|next| next["wide"] == true);
            match cell["text"].as_str().unwrap() {
                "" if is_left || cell["wide_continuation"] == true => {}
                "" => text.push(' '),
                shown => text.push_str(shown),
            }
        }
        text.truncate(text.trim_end_matches(' ').len());
        text
    }

    /// Wide characters are followed by their continuation, and by nothing else.
    fn has_whole_characters(screen: &Value, lines: Range<u16>) -> bool {
        let cols = screen["size"]["cols"].as_u64().unwrap() as usize;
        let cells = screen["cells"].as_array().unwrap();
        let mut rows = cells.chunks(cols).take(lines.end.into()).skip(lines.start.into());
        rows.all(|row| {
            let wide = row.iter().map(|cell| cell["wide"] == true);
            let second = row.iter().map(|cell| cell["wide_continuation"] == true);
            std::iter::once(false).chain(wide).zip(second.chain([false])).all(|(a, b)| a == b)
        })
    }

    /// Found by a rule, and by a literal.
    const SECRETS: [&str; 3] = ["ghp_Zq9Zq9Zq9Zq9Zq9Zq9Zq", "Zq9日Zq\u{301}9", "Zq9"];

    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![
            2 => "[a-c ]{0,6}",
            2 => "[日本é]{0,4}",
            1 => "(token|password)[:=]",
            4 => proptest::sample::select(SECRETS.to_vec()).prop_map(str::to_owned),
            1 => "\r\n",
            1 => Just("\t".to_owned()),
            1 => "\x1b\\[[1-5];[1-9]H",
            1 => "\x1b\\[[012]?[JKXLMP@]",
            1 => "\x1b\\[[17]m",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn cells_are_consistent_with_the_text(
            pieces in proptest::collection::vec(piece(), 0..20),
            more in proptest::collection::vec(piece(), 0..8),
            sizes in [(1u16..8, 1u16..40), (1u16..8, 1u16..40)],
            replacement in proptest::sample::select(vec!["[REDACTED]", "", "密", "#\t\u{7}", "<$1>"]),
        ) {
            let [first, last] = sizes;
            let (pieces, more) = (pieces.concat(), more.concat());
            let steps = [(first.0, first.1, pieces.as_bytes()), (last.0, last.1, more.as_bytes())];
            let snapshot = Arc::new(testing::resized(&steps));
            let policy = json!({
                "enabled": true,
                "replacement": replacement,
                "extra_literals": [SECRETS[1], SECRETS[2]],
                "extra_regexes": ["(c+)b"],
            });
            let size = Size::new(last.0, last.1).unwrap();
            let shown = |view: View| {
                serde_json::to_value(view.screen(&snapshot, size, &CellCache::default())).unwrap()
            };
            let (exposed, redacted) = (shown(view(false, None)), shown(view(true, Some(policy))));
            let plain = |screen: &Value| -> Vec<String> {
                screen["plain_text"].as_str().unwrap().split('\n').map(str::to_owned).collect()
            };
            let (before, after) = (plain(&exposed), plain(&redacted));
            prop_assert_eq!(before.len(), after.len());
            let lines: Vec<_> = line_rows(&snapshot).collect();
            prop_assert!(before.len() <= lines.len());
            prop_assert_eq!(lines.iter().map(ExactSizeIterator::len).sum::<usize>(), usize::from(last.0));
            for (at, rows) in lines.into_iter().enumerate() {
                let text = text_of(&redacted, rows.clone());
                for secret in SECRETS {
                    // Where one was taken out of the middle of another, the text may show it.
                    let is_plain = after.get(at).is_some_and(|line| line.contains(secret));
                    prop_assert!(is_plain || !text.contains(secret), "{}", text);
                }
                if before.get(at) == after.get(at) {
                    let cells = |screen: &Value| -> Vec<Value> {
                        let cells = screen["cells"].as_array().unwrap().iter();
                        let is_here = |cell: &&Value| rows.contains(&(cell["row"].as_u64().unwrap() as u16));
                        cells.filter(is_here).cloned().collect()
                    };
                    prop_assert_eq!(cells(&exposed), cells(&redacted));
                    continue;
                }
                let expected = after[at].replace(char::is_control, " ");
                prop_assert!(expected.starts_with(&text), "{:?} of {:?}", text, expected);
                // Cut off only at the edge, or where there is no room for a wide character.
                let rest = expected[text.len()..].trim_start_matches(' ');
                let last_cell = &redacted["cells"][usize::from(rows.end) * usize::from(last.1) - 1];
                let is_full = last_cell["text"] != "" || last_cell["wide_continuation"] == true;
                prop_assert!(rest.is_empty() || is_full || rest.starts_with(['日', '本', '密']));
                prop_assert!(has_whole_characters(&redacted, rows));
            }
        }
    }
}
