//! The cells of a screen as JSON, written by hand: a large screen is thousands of nearly equal
//! objects, and a general serializer takes many times as long.

use rookery_term::{
    CellRef, Color, Snapshot, Style as CellStyle, Underline, Width, redact::MaskedLine,
};
use serde_json::value::RawValue;

use crate::wire::snapshot::Cells;

/// More than nearly every cell takes.
const CELL_BYTES: usize = 204;

const NARROW: &str = r#"","wide":false,"wide_continuation":false},"#;
const WIDE: &str = r#"","wide":true,"wide_continuation":false},"#;
const CONTINUATION: &str = r#"","wide":false,"wide_continuation":true},"#;

/// All cells of a screen, row by row. `masks` are lines that show something else, in the same
/// order; styles stay where they are.
pub(crate) fn json(snapshot: &Snapshot, masks: &[MaskedLine]) -> Cells {
    let count = usize::from(snapshot.rows) * usize::from(snapshot.cols);
    let mut out = String::with_capacity(count * CELL_BYTES + 2);
    let columns: Vec<String> = (0..snapshot.cols).map(|col| format!(r#"{{"col":{col}"#)).collect();
    let mut masks = masks.iter().flat_map(|line| line.cells(snapshot.cols)).peekable();
    let mut head = Head::default();
    out.push('[');
    for row in 0..snapshot.rows {
        head.styled = None;
        for (col, cell) in snapshot.row(row).enumerate() {
            out.push_str(&columns[col]);
            out.push_str(head.of(row, cell));
            let here = (row, col);
            let mask = masks.next_if(|mask| (mask.row, usize::from(mask.col)) == here);
            push_escaped(&mut out, |out| match &mask {
                Some(mask) => out.push_str(mask.text),
                None => cell.push_text(out),
            });
            out.push_str(match mask.map_or_else(|| cell.width(), |mask| mask.width) {
                Width::Narrow => NARROW,
                Width::Wide => WIDE,
                Width::Continuation => CONTINUATION,
            });
        }
    }
    if out.ends_with(',') {
        out.pop();
    }
    out.push(']');
    Cells::from(trusted(out))
}

/// The middle of a cell's object, from its row to the start of its text; the same for all
/// neighbors that look alike.
#[derive(Default)]
struct Head<'a> {
    text: String,
    styled: Option<CellRef<'a>>,
}

impl<'a> Head<'a> {
    fn of(&mut self, row: u16, cell: CellRef<'a>) -> &str {
        if !self.styled.is_some_and(|before| before.same_style(&cell)) {
            self.text.clear();
            self.text.push_str(r#","row":"#);
            push_number(&mut self.text, row);
            self.text.push_str(r#","style":"#);
            push_style(&mut self.text, &cell.style());
            self.text.push_str(r#","text":""#);
        }
        self.styled = Some(cell);
        &self.text
    }
}

fn push_style(out: &mut String, style: &CellStyle) {
    out.push_str(r#"{"background":""#);
    push_color(out, style.bg);
    out.push_str(if style.bold { r#"","bold":true"# } else { r#"","bold":false"# });
    out.push_str(if style.dim { r#","dim":true"# } else { r#","dim":false"# });
    out.push_str(r#","foreground":""#);
    push_color(out, style.fg);
    out.push_str(if style.inverse { r#"","inverse":true"# } else { r#"","inverse":false"# });
    out.push_str(if style.italic { r#","italic":true"# } else { r#","italic":false"# });
    let underline = style.underline != Underline::None;
    out.push_str(if underline { r#","underline":true}"# } else { r#","underline":false}"# });
}

fn push_color(out: &mut String, color: Color) {
    match color {
        Color::Default => out.push_str("default"),
        Color::Indexed(index) => {
            out.push_str("idx:");
            push_number(out, index.into());
        }
        Color::Rgb(red, green, blue) => {
            out.push_str("rgb");
            for part in [red, green, blue] {
                out.push(':');
                push_number(out, part.into());
            }
        }
    }
}

/// Appends a number; formatting by the standard library is what would take most of the time.
fn push_number(out: &mut String, number: u16) {
    if number >= 10 {
        push_number(out, number / 10);
    }
    out.push(char::from(b'0' + (number % 10) as u8));
}

/// Appends text as the inside of a JSON string.
fn push_escaped(out: &mut String, push: impl FnOnce(&mut String)) {
    let start = out.len();
    push(out);
    let is_special = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
    match &out.as_bytes()[start..] {
        // The two that ordinary screens are full of.
        [special @ (b'"' | b'\\')] => {
            let special = char::from(*special);
            out.pop();
            out.extend(['\\', special]);
        }
        text if text.iter().any(is_special) => {
            let quoted = serde_json::to_string(&out[start..]).expect("a string can be written");
            out.truncate(start);
            out.push_str(&quoted[1..quoted.len() - 1]);
        }
        _ => {}
    }
}

#[expect(
    unsafe_code,
    reason = "parsing megabytes again that were just written costs more than writing them"
)]
fn trusted(json: String) -> Box<RawValue> {
    // SAFETY: `json` is one array without surrounding white space, and every object in it is
    // complete: texts are escaped and everything else is numbers, booleans and fixed text. The
    // tests compare it with what serde_json writes for the same cells.
    unsafe { RawValue::from_string_unchecked(json) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rookery_term::redact::Policy;
    use serde_json::Value;

    use super::*;
    use crate::{
        screen::testing::screen,
        wire::snapshot::{Cell, Style},
    };

    /// The same by the general serializer.
    fn expected(snapshot: &Snapshot, masks: &[MaskedLine]) -> String {
        let masks: Vec<_> = masks.iter().flat_map(|line| line.cells(snapshot.cols)).collect();
        let mut cells = Vec::new();
        for row in 0..snapshot.rows {
            for (col, cell) in (0..).zip(snapshot.row(row)) {
                let mask = masks.iter().find(|mask| (mask.row, mask.col) == (row, col));
                let width = mask.map_or_else(|| cell.width(), |mask| mask.width);
                cells.push(Cell {
                    col,
                    row,
                    style: Style::from(&cell.style()),
                    text: mask.map_or_else(|| cell.text(), |mask| mask.text.to_owned()),
                    wide: width == Width::Wide,
                    wide_continuation: width == Width::Continuation,
                });
            }
        }
        serde_json::to_string(&cells).unwrap()
    }

    #[test]
    fn the_example_of_the_contract() {
        let snapshot = screen(1, 4, "\x1b[1;32mA\x1b[0m日".as_bytes());
        let plain = r#""style":{"background":"default","bold":false,"dim":false,"foreground":"default","inverse":false,"italic":false,"underline":false}"#;
        let bold = r#""style":{"background":"default","bold":true,"dim":false,"foreground":"idx:2","inverse":false,"italic":false,"underline":false}"#;
        let cells = [
            format!(
                r#"{{"col":0,"row":0,{bold},"text":"A","wide":false,"wide_continuation":false}}"#
            ),
            format!(
                r#"{{"col":1,"row":0,{plain},"text":"日","wide":true,"wide_continuation":false}}"#
            ),
            format!(
                r#"{{"col":2,"row":0,{plain},"text":"","wide":false,"wide_continuation":true}}"#
            ),
            format!(
                r#"{{"col":3,"row":0,{plain},"text":"","wide":false,"wide_continuation":false}}"#
            ),
        ];
        assert_eq!(json(&snapshot, &[]).as_json(), format!("[{}]", cells.join(",")));
    }

    /// What hides this in the text of a screen, every row being a line.
    fn masks(snapshot: &Snapshot, replacement: &str, literal: &str) -> Vec<MaskedLine> {
        let policy = Policy::new(replacement, [literal], [""; 0]).unwrap();
        policy.redact_screen("", snapshot.plain_text(), (0..snapshot.rows).map(|row| row..row + 1))
    }

    #[test]
    fn masks_are_escaped_and_have_their_own_widths() {
        let snapshot = screen(3, 4, "\x1b[1m日\x1b[0m本\r\nb\r\n本".as_bytes());
        let masks = masks(&snapshot, "\"密\n", "本");
        let json = json(&snapshot, &masks);
        assert_eq!(json.as_json(), expected(&snapshot, &masks));
        let cells: Vec<Value> = serde_json::from_str(json.as_json()).unwrap();
        let texts: Vec<_> = cells.iter().map(|cell| cell["text"].as_str().unwrap()).collect();
        assert_eq!(texts, ["日", "", "\"", "", "b", "", "", "", "\"", "密", "", " "]);
        let having = |flag: &str| -> Vec<_> {
            (0..cells.len()).filter(|at| cells[*at][flag] == true).collect()
        };
        assert_eq!((having("wide"), having("wide_continuation")), (vec![0, 9], vec![1, 10]));
        let bold: Vec<_> = cells.iter().map(|cell| cell["style"]["bold"] == true).collect();
        assert_eq!(bold[..4], [true, true, false, false]);
    }

    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![
            3 => "[ -~]{0,12}",
            2 => "[\"\\\\日é👩\u{301}\u{200d}]{0,6}",
            1 => "\r\n",
            1 => Just("\t".to_owned()),
            3 => "\x1b\\[(1|2|3|4|7|9|0|31|97|4:3|48;5;[0-9]{1,3}|38;2;[0-9]{1,3};7;200)m",
            1 => "\x1b\\[[0-9];[0-9]H",
            1 => "\x1b\\[[012]?[JK]",
            1 => Just("\x1b]8;;http://x\x1b\\".to_owned()),
        ]
    }

    proptest! {
        #[test]
        fn equals_the_general_serializer(
            pieces in proptest::collection::vec(piece(), 0..30),
            rows in 1u16..6,
            cols in 1u16..14,
            replacement in proptest::sample::select(vec!["", "\\", "密", "\n\u{301}x"]),
        ) {
            let snapshot = screen(rows, cols, pieces.concat().as_bytes());
            let masks = masks(&snapshot, replacement, " ");
            let plain = json(&snapshot, &[]);
            prop_assert_eq!(plain.as_json(), expected(&snapshot, &[]));
            let masked = json(&snapshot, &masks);
            prop_assert_eq!(masked.as_json(), expected(&snapshot, &masks));
        }
    }
}
