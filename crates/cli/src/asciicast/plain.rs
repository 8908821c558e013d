//! Terminal output as lines of text: what was written, without how and where it was shown.

use super::sequences::{Piece, Sequences};

/// The longest line; more is the next line.
const LONGEST: usize = 64 * 1024;

/// Makes lines of text out of output.
#[derive(Debug, Default)]
pub(crate) struct PlainText {
    sequences: Sequences,
    line: String,
    /// The cursor is back at the start of the line; what follows would stand over it.
    is_returned: bool,
}

impl PlainText {
    /// The lines that have ended.
    pub(crate) fn push(&mut self, text: &str) -> String {
        let mut lines = String::new();
        let Self { sequences, line, is_returned } = self;
        sequences.push(text, &mut |piece| match piece {
            Piece::Text(c) => {
                if std::mem::take(is_returned) || line.len() >= LONGEST {
                    end_line(line, &mut lines);
                }
                line.push(c);
            }
            Piece::Control('\n' | '\x0b' | '\x0c') => {
                *is_returned = false;
                lines.push_str(line.trim_end());
                lines.push('\n');
                line.clear();
            }
            Piece::Control('\r') => *is_returned = !line.is_empty(),
            Piece::Control('\t') => line.push('\t'),
            Piece::Control('\x08') => {
                line.pop();
            }
            // Wherever the cursor went, it is another line.
            Piece::Csi(body) if body.ends_with(['A', 'B', 'E', 'F', 'H', 'd', 'f', 'J']) => {
                *is_returned = false;
                end_line(line, &mut lines);
            }
            _ => {}
        });
        lines
    }

    /// The last line.
    pub(crate) fn end(mut self) -> String {
        let mut lines = String::new();
        end_line(&mut self.line, &mut lines);
        lines
    }
}

/// Ends a line that has any text.
fn end_line(line: &mut String, lines: &mut String) {
    let text = line.trim_end();
    if !text.is_empty() {
        lines.push_str(text);
        lines.push('\n');
    }
    line.clear();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_the_text_is_left() {
        for (output, expected) in [
            ("\x1b[1mone\x1b[0m\r\n\r\ntwo", "one\n\ntwo\n"),
            ("10%\r20%\r\nend\r\n", "10%\n20%\nend\n"),
            ("ab\x08 \x08c\n", "ac\n"),
            ("\x1b[H\x1b[2Ja\x1b[2;1Hb\x1b[3;1H\x1b[4;1H", "a\nb\n"),
            ("\x1b]0;title\x07\x1b]52;c;aGk=\x1b\\\u{9b}1mx", "1mx\n"),
            ("", ""),
        ] {
            let mut plain = PlainText::default();
            let lines = plain.push(output);
            assert_eq!(lines + &plain.end(), expected, "{output:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_but_text_tabs_and_line_ends_comes_out(output in "(\\PC|\\p{Cc}|\x1b[\\[\\]]){0,60}") {
            let mut plain = PlainText::default();
            let lines = plain.push(&output) + &plain.end();
            prop_assert!(!lines.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')));
        }
    }
}
