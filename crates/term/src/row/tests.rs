//! Rows come back from their compact form as they were.

use alacritty_terminal::vte::ansi::Rgb;
use proptest::prelude::*;

use super::*;

fn written(c: char) -> Cell {
    Cell { c, flags: WRITTEN, ..Cell::default() }
}

fn roundtrip(cells: &[Cell]) -> Vec<Cell> {
    let mut bytes = Vec::new();
    encode(cells, &mut bytes);
    let mut reader = Reader(&bytes);
    let mut back = decode(&mut reader, cells.len()).unwrap();
    assert!(reader.0.is_empty());
    back.resize(cells.len(), Cell::default());
    back
}

#[test]
fn a_plain_row_costs_little_more_than_its_text() {
    let mut cells: Vec<Cell> = "hello".chars().map(written).collect();
    cells.resize(80, Cell::default());
    let mut bytes = Vec::new();
    encode(&cells, &mut bytes);
    assert_eq!(bytes.len(), 5 + 4);
    assert_eq!(roundtrip(&cells), cells);
}

#[test]
fn wide_linked_and_wrapped_cells_come_back() {
    let mut wide = written('日');
    wide.flags |= Flags::WIDE_CHAR;
    let mut spacer = written(' ');
    spacer.flags |= Flags::WIDE_CHAR_SPACER;
    let mut linked = written('e');
    linked.push_zerowidth('\u{301}');
    linked.set_hyperlink(Some(Hyperlink::new(Some("id"), "https://example.com".to_owned())));
    linked.set_underline_color(Some(Color::Indexed(3)));
    let mut last = written('x');
    last.flags |= Flags::WRAPLINE | Flags::BOLD;
    last.fg = Color::Spec(Rgb { r: 1, g: 2, b: 3 });
    let cells = [wide, spacer, linked, Cell::default(), last];
    assert_eq!(roundtrip(&cells), cells);
}

fn any_cell() -> impl Strategy<Value = Cell> {
    let color = prop_oneof![
        Just(DEFAULT_FG),
        Just(DEFAULT_BG),
        any::<u8>().prop_map(Color::Indexed),
        any::<[u8; 3]>().prop_map(|[r, g, b]| Color::Spec(Rgb { r, g, b })),
    ];
    let c = prop_oneof![Just(' '), Just('\t'), Just('a'), Just('日'), Just('é')];
    (c, color.clone(), color, any::<u16>()).prop_map(|(c, fg, bg, bits)| Cell {
        c,
        fg,
        bg,
        flags: Flags::from_bits_retain(bits),
        extra: None,
    })
}

proptest! {
    #[test]
    fn any_row_comes_back(cells in prop::collection::vec(any_cell(), 1..40)) {
        prop_assert_eq!(roundtrip(&cells), cells);
    }

    #[test]
    fn garbage_rows_are_refused_without_panic(bytes: Vec<u8>) {
        let _ = decode(&mut Reader(&bytes), 200);
    }
}
