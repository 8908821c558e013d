//! Redaction of screen cells: lines that redaction changes are laid out anew over their own rows,
//! so that cells and text say the same. Knows nothing of styles or of the emulator.

use super::Policy;
use super::edits::{self, Redaction};
use crate::cell::Width;
use std::borrow::Cow;
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// A line of a screen that shows something else than was written there: all of its cells are
/// replaced. Rows joined by automatic wrap are one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskedLine {
    rows: Range<u16>,
    /// Without control characters.
    text: String,
}

/// What a cell of such a line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskedCell<'a> {
    /// Screen row.
    pub row: u16,
    /// Screen column.
    pub col: u16,
    /// A character with its combining marks; empty where the text has ended, in the second column
    /// of a wide character, and in the last column of a row if a wide character follows.
    pub text: &'a str,
    /// How much room it takes.
    pub width: Width,
}

impl Policy {
    /// The text of a screen without its secrets, given what of its first line has scrolled off: a
    /// secret that began there is hidden as well.
    pub fn redact_below<'t>(&self, above: &str, text: &'t str) -> Cow<'t, str> {
        let redactions = self.redactions_below(above, text);
        if redactions.is_empty() { text.into() } else { edits::apply(text, &redactions).into() }
    }

    fn redactions_below(&self, above: &str, text: &str) -> Vec<Redaction> {
        if above.is_empty() {
            return self.redactions(text);
        }
        let cut = above.len();
        let mut redactions = self.redactions(&[above, text].concat());
        redactions.retain(|redaction| redaction.range.end > cut);
        for redaction in &mut redactions {
            let Range { start, end } = redaction.range;
            redaction.range = start.saturating_sub(cut)..end - cut;
        }
        redactions
    }

    /// What [`Policy::redact_below`] changes in the text of a screen, line by line from the top.
    /// `rows` are those of each line of `text`. Lines not mentioned keep their cells.
    ///
    /// A line shows what the redacted text has of it. Where a secret goes over several lines, the
    /// replacement is on the first of them, and what follows the secret stays on the last.
    pub fn redact_screen(
        &self,
        above: &str,
        text: &str,
        rows: impl IntoIterator<Item = Range<u16>>,
    ) -> Vec<MaskedLine> {
        let mut redactions = self.redactions_below(above, text);
        if redactions.is_empty() {
            return Vec::new();
        }
        for redaction in &mut redactions {
            keep_line_count(text, redaction);
        }
        let shown = edits::apply(text, &redactions);
        text.split('\n')
            .zip(shown.split('\n'))
            .zip(rows)
            .filter(|((line, shown), _)| line != shown)
            .map(|((_, shown), rows)| MaskedLine { rows, text: shown.to_owned() })
            .collect()
    }
}

/// Gives a replacement as many line ends as it takes away, so that every line stays on its rows.
/// Line ends too many become spaces, like all control characters.
fn keep_line_count(text: &str, redaction: &mut Redaction) {
    let mut missing = text[redaction.range.clone()].matches('\n').count();
    let fit = |c: char| match c {
        '\n' if missing > 0 => {
            missing -= 1;
            c
        }
        '\u{2028}' | '\u{2029}' => ' ',
        c if c.is_control() => ' ',
        c => c,
    };
    let mut fitted: String = redaction.text.chars().map(fit).collect();
    fitted.extend(std::iter::repeat_n('\n', missing));
    redaction.text = fitted;
}

impl MaskedLine {
    /// The rows it takes.
    pub fn rows(&self) -> Range<u16> {
        self.rows.clone()
    }

    /// All of its text, also what does not fit into its rows.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All cells of its rows on a screen with this many columns, left to right and down. Text that
    /// does not fit is cut off.
    pub fn cells(&self, cols: u16) -> impl Iterator<Item = MaskedCell<'_>> {
        let places = self.rows.clone().flat_map(move |row| (0..cols).map(move |col| (row, col)));
        let mut rest = self.text.as_str();
        let mut is_second = false;
        places.map(move |(row, col)| {
            let blank = MaskedCell { row, col, text: "", width: Width::Narrow };
            if std::mem::take(&mut is_second) {
                return MaskedCell { width: Width::Continuation, ..blank };
            }
            let (text, width) = first_cell(rest);
            // A wide one needs both its columns side by side.
            if width == Width::Wide && col + 1 == cols {
                if cols < 2 {
                    rest = "";
                }
                return blank;
            }
            is_second = width == Width::Wide;
            rest = &rest[text.len()..];
            MaskedCell { text, width, ..blank }
        })
    }
}

/// The character that a text begins with, and the marks on it. A mark on nothing counts as one.
fn first_cell(text: &str) -> (&str, Width) {
    let is_mark = |c: char| c.width() == Some(0);
    let mut chars = text.char_indices();
    let width = match chars.next().and_then(|(_, first)| first.width()) {
        None | Some(0 | 1) => Width::Narrow,
        Some(_) => Width::Wide,
    };
    let end = chars.find(|(_, c)| !is_mark(*c)).map_or(text.len(), |(at, _)| at);
    (&text[..end], width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    /// Rows that lines of these texts take, laid out without gaps.
    fn rows_of(text: &str, cols: u16) -> Vec<Range<u16>> {
        let mut next = 0;
        let rows = text.split('\n').map(|line| {
            let whole = MaskedLine { rows: 0..u16::MAX, text: line.to_owned() };
            let last = whole.cells(cols).scan(0, |seen, cell| {
                *seen += cell.text.len();
                Some((cell.row, *seen))
            });
            let count = last.skip_while(|(_, seen)| *seen < line.len()).map(|(row, _)| row + 1);
            let first = next;
            next += count.take(1).next().unwrap_or(1);
            first..next
        });
        rows.collect()
    }

    /// The rows of a line, with `_` for empty cells and `>` for second columns.
    fn drawn(line: &MaskedLine, cols: u16) -> Vec<String> {
        let mut rows = vec![String::new(); line.rows.len()];
        for cell in line.cells(cols) {
            let row = &mut rows[usize::from(cell.row - line.rows.start)];
            row.push_str(match (cell.text, cell.width) {
                ("", Width::Continuation) => ">",
                ("", _) => "_",
                (text, _) => text,
            });
        }
        rows
    }

    /// The rows that are shown instead of others, by number.
    fn masked(policy: &Policy, text: &str, cols: u16) -> Vec<(u16, String)> {
        let lines = policy.redact_screen("", text, rows_of(text, cols));
        lines.iter().flat_map(|line| line.rows.clone().zip(drawn(line, cols))).collect()
    }

    fn masked_rows(policy: &Policy, text: &str, cols: u16) -> Vec<String> {
        masked(policy, text, cols).into_iter().map(|(_, row)| row).collect()
    }

    fn custom(replacement: &str, literal: &str, regex: &str) -> Policy {
        let regexes = Some(regex).filter(|regex| !regex.is_empty());
        Policy::ptywright_compatible().customize(replacement, [literal], regexes).unwrap()
    }

    #[test]
    fn a_changed_line_is_laid_out_anew_and_cut_at_the_edge() {
        let policy = Policy::ptywright_compatible();
        assert_eq!(masked_rows(&policy, "token=abc,def", 22), ["token=[REDACTED],def__"]);
        assert_eq!(masked_rows(&policy, "token=abc,def", 18), ["token=[REDACTED],d"]);
        assert_eq!(masked_rows(&policy, "token=abc", 9), ["token=[RE"]);
        assert_eq!(masked_rows(&policy, "token=abcdefghijklmn x", 22), ["token=[REDACTED] x____"]);
    }

    #[test]
    fn lines_without_secrets_keep_their_cells() {
        let policy = Policy::ptywright_compatible();
        assert_eq!(masked(&policy, "one\ntwo", 8), []);
        let expected = [(2, "token=[R".into()), (3, "EDACTED]".into())];
        assert_eq!(masked(&policy, "one\ntwo\ntoken=abcdefg\nlast", 8), expected);
    }

    #[test]
    fn a_wrapped_line_is_laid_out_over_its_own_rows() {
        let policy = Policy::ptywright_compatible();
        assert_eq!(
            masked_rows(&policy, "token=abcdefghijklmnopq end\nnext", 10),
            ["token=[RED", "ACTED] end", "__________"]
        );
        assert_eq!(masked_rows(&policy, "token=abc", 2), ["to", "ke", "n=", "[R", "ED"]);
    }

    #[test]
    fn a_value_on_the_next_line_is_hidden_there() {
        let policy = Policy::ptywright_compatible();
        let expected = [(1, "[REDACTED] rest_____".into())];
        assert_eq!(masked(&policy, "password:\nhunter2 rest", 20), expected);
    }

    #[test]
    fn a_block_leaves_its_lines_blank() {
        let policy = custom("#", "one\ntwo\nthree", "");
        let expected = [(0, "a #____".into()), (1, "_______".into()), (2, " b_____".into())];
        assert_eq!(masked(&policy, "a one\ntwo\nthree b\nend", 7), expected);
    }

    #[test]
    fn line_ends_of_a_replacement_keep_to_the_lines_of_the_secret() {
        let same = custom("<$1\n$2>", "", "(a+)\n(b+)");
        assert_eq!(masked_rows(&same, "x aa\nbb y", 8), ["x <aa___", "bb> y___"]);
        let more = custom("1\n2\r3\u{7}4\u{2028}5", "a\nb", "");
        assert_eq!(masked_rows(&more, "xa\nby", 9), ["x1_______", "2 3 4 5y_"]);
        let on_one_line = custom("1\n2", "a", "");
        assert_eq!(masked_rows(&on_one_line, "xay", 6), ["x1 2y_"]);
        let fewer = custom("1\n2", "a\nb\nc", "");
        assert_eq!(masked_rows(&fewer, "xa\nb\ncy", 3), ["x1_", "2__", "y__"]);
    }

    #[test]
    fn wide_characters_take_two_columns_and_are_not_halved() {
        let policy = Policy::ptywright_compatible();
        let text = "日本 token=abc 語";
        assert_eq!(masked_rows(&policy, text, 24), ["日>本> token=[REDACTED] 語>"]);
        assert_eq!(masked_rows(&policy, text, 23), ["日>本> token=[REDACTED] _"]);
        assert_eq!(masked_rows(&policy, text, 14), ["日>本> token=[RE", "DACTED] 語>____"]);
        assert_eq!(masked_rows(&policy, "token=日本語x end", 20), ["token=[REDACTED] end"]);
        let wide = custom("密x", "", "");
        assert_eq!(masked_rows(&wide, "token=abcd", 10), ["token=密>x_"]);
        assert_eq!(masked_rows(&wide, "token=a", 7), ["token=_"]);
        assert_eq!(masked_rows(&wide, "token=ab cdef", 7), ["token=_", "密>x cde"]);
    }

    #[test]
    fn a_screen_of_one_column_shows_what_is_before_a_wide_character() {
        let wide = custom("a密b", "xyz", "");
        assert_eq!(masked_rows(&wide, "xyz", 1), ["a", "_", "_"]);
    }

    #[test]
    fn combining_marks_go_with_their_base() {
        let policy = Policy::ptywright_compatible();
        let text = "e\u{301}日\u{302} bearer abcdefgh\u{301} x";
        let shown = "e\u{301}日\u{302}> bearer [REDACTED]\u{301} x__";
        assert_eq!(masked_rows(&policy, text, 25), [shown]);
        // Its base is gone with the secret.
        assert_eq!(masked_rows(&custom("", "e", ""), "e\u{301}a", 3), ["\u{301}a_"]);
    }

    #[test]
    fn lines_that_have_no_rows_are_left_out() {
        let policy = Policy::ptywright_compatible();
        assert_eq!(policy.redact_screen("", "a\ntoken=b", std::iter::once(0..1)), []);
        let empty = &policy.redact_screen("", "token=b", std::iter::once(0..0))[0];
        assert_eq!((empty.cells(9).count(), empty.cells(0).count()), (0, 0));
    }

    fn texts() -> impl Strategy<Value = String> {
        let parts = proptest::sample::select(vec![
            "token=",
            "bearer ",
            "sk-",
            "abcdefghijklmnop",
            "日本",
            " ",
            "\n",
            ",",
            "x",
            "é",
            "e\u{301}",
            "password:",
            "AKIAABCDEFGHIJKLMNOP",
            "ghp_abcdefghijklmnopqrst",
            "-----BEGIN PRIVATE KEY-----\n",
            "\n-----END PRIVATE KEY-----",
            "MIIEvQIBADANBgkqhkiG\n",
        ]);
        proptest::collection::vec(parts, 0..12).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn cells_of_changed_lines_are_the_redacted_text_cut_off(
            text in texts(),
            cols in 2u16..30,
            replacement in proptest::sample::select(vec!["[REDACTED]", "", "密", "<$1>", "a\nb", "\u{301}"]),
            is_strict in any::<bool>(),
        ) {
            let base = if is_strict { Policy::strict() } else { Policy::ptywright_compatible() };
            let policy = base.customize(replacement, ["x日"], ["(é)[^é]*é"]).unwrap();
            let rows = rows_of(&text, cols);
            let masked = policy.redact_screen("", &text, rows.clone());
            let mut lines: Vec<&str> = text.split('\n').collect();
            for line in &masked {
                let at = rows.iter().position(|rows| *rows == line.rows).unwrap();
                lines[at] = &line.text;
                let cells: Vec<_> = line.cells(cols).collect();
                prop_assert_eq!(cells.len(), line.rows.len() * usize::from(cols));
                let shown: String = cells.iter().map(|cell| cell.text).collect();
                prop_assert!(line.text.starts_with(&shown));
                // It is cut off only if no more has room; a wide one may leave a column at each edge.
                let room = line.rows.len() * (usize::from(cols) - 1);
                prop_assert!(shown == line.text || shown.width() >= room);
            }
            // Apart from where lines end, all of it is the redacted text.
            let shown: String = lines.concat();
            let redacted = policy.redact(&text).into_owned();
            prop_assert_eq!(shown.replace(' ', ""), redacted.replace([' ', '\n'], ""));
            if redacted.matches('\n').count() == text.matches('\n').count()
                && !replacement.contains('\n')
            {
                prop_assert_eq!(lines.join("\n"), redacted);
            }
        }
    }
}
