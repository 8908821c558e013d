//! What of terminal output draws on the screen, and nothing else: no clipboard, titles, pictures,
//! questions, printers or modes of keyboard and mouse. A list of what may pass, not of what may not.

use super::sequences::{Piece, Sequences};

/// Control sequences without a mark or intermediates, by their last character.
const CSI: &str = "@ABCDEFGHIJKLMPSTXZ`abdefghlmrsu";

/// Private modes of the screen.
const MODES: [&str; 12] =
    ["5", "6", "7", "12", "25", "45", "47", "69", "1047", "1048", "1049", "2026"];

/// Passes on what draws.
#[derive(Debug, Default)]
pub(crate) struct Drawing {
    sequences: Sequences,
}

impl Drawing {
    /// The part of the output that draws. A sequence is given once it is whole.
    pub(crate) fn push(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        self.sequences.push(text, &mut |piece| pass(piece, &mut out));
        out
    }
}

fn pass(piece: Piece<'_>, out: &mut String) {
    match piece {
        Piece::Text(c) => out.push(c),
        Piece::Control(c) => {
            if matches!(c, '\x07'..='\x0f') {
                out.push(c);
            }
        }
        Piece::Escape(body) => {
            if is_drawing_escape(body) {
                out.extend(["\x1b", body]);
            }
        }
        Piece::Csi(body) => pass_csi(body, out),
        Piece::String(body) => {
            if body.starts_with("]8;") && !body.contains(char::is_control) {
                out.extend(["\x1b", body, "\x1b\\"]);
            }
        }
    }
}

/// Cursor, index, tabs, reset, character sets and line sizes.
fn is_drawing_escape(body: &str) -> bool {
    match body.as_bytes() {
        [only] => b"78DEMHcNOno|}~".contains(only),
        [b'(' | b')' | b'*' | b'+', _] => true,
        [b'#', size] => b"34568".contains(size),
        _ => false,
    }
}

fn pass_csi(body: &str, out: &mut String) {
    let Some((end, body)) = body.char_indices().next_back().map(|(at, end)| (end, &body[..at]))
    else {
        return;
    };
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, ';' | ':');
    let params = body.trim_end_matches(|c| matches!(c, ' '..='/'));
    let between = &body[params.len()..];
    let (mark, params) = match params.strip_prefix('?') {
        Some(params) => ("?", params),
        None => ("", params),
    };
    if !params.chars().all(is_number) {
        return;
    }
    let modes = |known: &[&str]| {
        let kept: Vec<&str> = params.split(';').filter(|mode| known.contains(mode)).collect();
        kept.join(";")
    };
    let kept = match (mark, between, end) {
        ("", "", 'h' | 'l') => modes(&["4"]),
        ("?", "", 'h' | 'l') => modes(&MODES),
        // With more numbers it is about the mouse.
        ("", "", 'T') if params.contains(';') => return,
        ("", "", end) if CSI.contains(end) => params.to_owned(),
        ("?", "", 'J' | 'K') | ("", "!", 'p') | ("", " ", 'q') => params.to_owned(),
        _ => return,
    };
    if kept.is_empty() && matches!(end, 'h' | 'l') {
        return;
    }
    out.extend(["\x1b[", mark, &kept, between]);
    out.push(end);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn drawn(text: &str) -> String {
        Drawing::default().push(text)
    }

    #[test]
    fn what_draws_passes() {
        for text in [
            "plain ü 日\r\n\t\x08",
            "\x1b[31;1mred\x1b[0m\x1b[38:2::1:2:3m",
            "\x1b[?25l\x1b[2J\x1b[H\x1b[3;4r\x1b[?2026h",
            "\x1b7\x1b8\x1bM\x1bc",
            "\x1b(0lq\x1b(B\x0e\x0f",
            "\x1b]8;;http://x/?a\x1b\\link\x1b]8;;\x1b\\",
            "\x1b[2 q\x1b[!p\x1b[?1049h\x1b[4h\x1b[2T",
        ] {
            assert_eq!(drawn(text), text);
        }
        assert_eq!(drawn("\x1b[?25;1000;7h"), "\x1b[?25;7h");
        assert_eq!(drawn("\x1b]8;;x\x07a"), "\x1b]8;;x\x1b\\a");
        assert_eq!(drawn("\x1b[3\n1mx"), "\n\x1b[31mx");
    }

    #[test]
    fn everything_else_does_not() {
        for text in [
            "\x1b]52;c;aGk=\x07",
            "\x1b]0;title\x07",
            "\x1b]2;title\x1b\\",
            "\x1b]11;?\x07",
            "\x1b]4;1;#fff\x1b\\",
            "\x1b]1337;File=:aaaa\x07",
            "\x1bP+q544e\x1b\\",
            "\x1bPtmux;\x1b\\",
            "\x1b_Gt=f;L2V0Yw==\x1b\\",
            "\x1b^pm\x1b\\\x1bXsos\x07\x1b\\",
            "\x1b[c\x1b[>c\x1b[=c\x1b[0c",
            "\x1b[5n\x1b[6n\x1b[?6n",
            "\x1b[21t\x1b[8;24;80t\x1b[14t",
            "\x1b[5i\x1b[?5i",
            "\x1b[?1000h\x1b[?1004h\x1b[?2004h\x1b[?9001h",
            "\x1b[2h\x1b[12h\x1b[h",
            "\x1b[>1u\x1b[=1;1u\x1b[?u\x1b[>4;2m",
            "\x1b[1;2;3;4;5T",
            "\x1b[?2026$p\x1b[20$p\x1b[1;1;1;1;1;1*y",
            "\x1bZ\x1b=\x1b>\x1b%@",
            "\x05\x00\x11\x13\x7f",
            "\u{9b}\u{9d}\u{90}\u{85}",
            "\x1b[1\x18\x1b]52;\x1a",
        ] {
            assert_eq!(drawn(&format!("a{text}b")).replace('6', ""), drawn("ab"), "{text:?}");
        }
        assert_eq!(drawn("\x1b]52;c;\x1b[1mx"), "\x1b[1mx");
        assert_eq!(drawn(&format!("a\x1b]8;;{}\x07b", "x".repeat(100_000))), "ab");
    }

    proptest! {
        #[test]
        fn no_split_matters_and_a_second_time_changes_nothing(
            text in "([a-zé\x1b\x07\x18\\[\\]P8;?0-9hmc\\\\]|\x1b\\[|\x1b\\]8;;|\x1b\\]52;){0,40}",
            cut in any::<prop::sample::Index>(),
        ) {
            let whole = drawn(&text);
            let (before, after) = text.split_at(text.floor_char_boundary(cut.index(text.len() + 1)));
            let mut drawing = Drawing::default();
            prop_assert_eq!(&(drawing.push(before) + &drawing.push(after)), &whole);
            prop_assert_eq!(drawn(&whole), whole);
        }
    }
}
