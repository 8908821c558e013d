//! Pictures written into real and into odd terminals.

use std::time::Duration;

use proptest::prelude::*;
use rookery_term::{MemoryBlocks, NoTranscript, Palette, Screen, ScreenConfig, ScreenSize};

use super::*;
use rookery_face::cells::Rect;

fn screen(cols: u16, rows: u16) -> Screen {
    let size = ScreenSize::new(rows, cols);
    let config = ScreenConfig { size, scrollback: 0, palette: Palette::default() };
    Screen::new(config, Box::new(MemoryBlocks::default()))
}

/// A cell that a picture may hold: text, cells that it takes, and a number for its look.
fn any_cell() -> impl Strategy<Value = (&'static str, u16, u8)> {
    let texts = proptest::sample::select(vec![
        ("a", 1),
        (" ", 1),
        ("é", 1),
        ("e\u{301}", 1),
        ("日", 2),
        ("👩", 2),
        ("שׁ", 1),
        ("│", 1),
        ("😀", 2),
    ]);
    (texts, 0u8..4).prop_map(|((text, cells), look)| (text, cells, look))
}

fn pen(look: u8) -> Pen {
    match look {
        0 => Pen::default(),
        1 => Pen::new(Ink::Index(3), Ink::Default).with(attr::BOLD),
        2 => Pen::new(Ink::Rgb(1, 2, 3), Ink::Index(200)),
        _ => Pen { underline: 3, attrs: attr::ITALIC | attr::INVERSE, ..Pen::default() },
    }
}

fn any_edits() -> impl Strategy<Value = Vec<(u16, u16, (&'static str, u16, u8))>> {
    proptest::collection::vec((0u16..14, 0u16..4, any_cell()), 1..60)
}

fn apply(canvas: &mut Canvas, edits: &[(u16, u16, (&'static str, u16, u8))]) {
    let clip = Rect::new(0, 0, canvas.cols(), canvas.rows());
    for (col, row, (text, cells, look)) in edits {
        canvas.put(clip, *col, *row, text, *cells, &pen(*look));
    }
}

/// What a terminal shows, cell by cell.
fn shown(screen: &Screen) -> Vec<Vec<String>> {
    let snapshot = screen.snapshot();
    (0..screen.size().rows)
        .map(|row| {
            let mut cells = Vec::new();
            let mut is_half = false;
            for cell in snapshot.row(row) {
                cells.push(if is_half { "<".to_owned() } else { cell.shown() });
                is_half = cell.width() == rookery_term::Width::Wide;
            }
            cells
        })
        .collect()
}

fn drawn(canvas: &Canvas) -> Vec<Vec<String>> {
    let text = |cell: &Cell| match &cell.glyph {
        Glyph::Char(c) => c.to_string(),
        Glyph::Cluster(text) => text.to_string(),
        Glyph::Half => "<".to_owned(),
    };
    (0..canvas.rows()).map(|row| canvas.row(row).iter().map(text).collect()).collect()
}

fn blank(text: &str) -> &str {
    if text.is_empty() { " " } else { text }
}

proptest! {
    #[test]
    fn a_terminal_shows_the_picture(steps in proptest::collection::vec(any_edits(), 1..8)) {
        let mut canvas = Canvas::new(14, 4);
        let mut encoder = Encoder::new(Depth::True);
        let mut screen = screen(14, 4);
        for edits in steps {
            apply(&mut canvas, &edits);
            let bytes = encoder.frame(canvas.clone(), None);
            screen.feed(&bytes, &NoTranscript, Duration::ZERO);
            let (shown, drawn) = (shown(&screen), drawn(&canvas));
            for (left, right) in shown.iter().flatten().zip(drawn.iter().flatten()) {
                prop_assert_eq!(blank(left), right.as_str(), "{:?}\n{:?}", shown, drawn);
            }
        }
    }

    #[test]
    fn odd_widths_never_shift_what_is_ascii(
        steps in proptest::collection::vec(any_edits(), 1..8), odd in 1u16..3
    ) {
        let mut canvas = Canvas::new(14, 4);
        let mut encoder = Encoder::new(Depth::True);
        let mut other = Odd::new(14, 4, odd);
        for edits in steps {
            apply(&mut canvas, &edits);
            let bytes = encoder.frame(canvas.clone(), None);
            other.feed(&String::from_utf8(bytes).unwrap());
            for row in 0..4 {
                for col in 0..14 {
                    let Some(Cell { glyph: Glyph::Char(c), .. }) = canvas.cell(col, row) else {
                        continue;
                    };
                    if c.is_ascii() {
                        prop_assert_eq!(other.at(col, row), *c, "{} {}", col, row);
                    }
                }
            }
        }
    }

    #[test]
    fn the_same_picture_costs_nothing(edits in any_edits()) {
        let mut canvas = Canvas::new(14, 4);
        apply(&mut canvas, &edits);
        let mut encoder = Encoder::new(Depth::True);
        prop_assert!(!encoder.frame(canvas.clone(), None).is_empty());
        prop_assert!(encoder.frame(canvas.clone(), None).is_empty());
    }
}

/// A terminal in which every character that is not ASCII takes the same, maybe wrong, room.
struct Odd {
    cols: u16,
    cells: Vec<char>,
    room: u16,
}

impl Odd {
    fn new(cols: u16, rows: u16, room: u16) -> Odd {
        Odd { cols, cells: vec![' '; usize::from(cols * rows)], room }
    }

    fn at(&self, col: u16, row: u16) -> char {
        self.cells[usize::from(row * self.cols + col)]
    }

    fn put(&mut self, col: u16, row: u16, c: char) {
        if col < self.cols {
            self.cells[usize::from(row * self.cols + col)] = c;
        }
    }

    fn feed(&mut self, text: &str) {
        let (mut col, mut row) = (0u16, 0u16);
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\x1b' {
                chars.next();
                let mut body = String::new();
                let last = loop {
                    let next = chars.next().unwrap();
                    if next.is_ascii_alphabetic() {
                        break next;
                    }
                    body.push(next);
                };
                if last == 'H' {
                    let (r, c) = body.split_once(';').unwrap();
                    (row, col) = (r.parse::<u16>().unwrap() - 1, c.parse::<u16>().unwrap() - 1);
                }
                continue;
            }
            if unicode_width::UnicodeWidthChar::width(c) == Some(0) {
                continue;
            }
            let room = if c.is_ascii() { 1 } else { self.room };
            for at in 0..room {
                self.put(col + at, row, if at == 0 { c } else { '<' });
            }
            col += room;
        }
    }
}

#[test]
fn one_changed_letter_is_few_bytes() {
    let mut canvas = Canvas::new(80, 24);
    let mut encoder = Encoder::new(Depth::True);
    encoder.frame(canvas.clone(), None);
    let clip = canvas.area();
    canvas.write(clip, 5, 5, "x", &Pen::default());
    let caret = Some(Caret { col: 6, row: 5, shape: 0 });
    let bytes = encoder.frame(canvas, caret);
    assert!(bytes.len() < 70, "{}: {:?}", bytes.len(), String::from_utf8_lossy(&bytes));
}

#[test]
fn links_are_opened_and_closed() {
    let mut canvas = Canvas::new(10, 1);
    let link = Pen { link: Some("https://a.b/".into()), ..Pen::default() };
    let clip = canvas.area();
    canvas.write(clip, 0, 0, "go", &link);
    let text = String::from_utf8(Encoder::new(Depth::True).frame(canvas, None)).unwrap();
    assert_eq!(text.matches("\x1b]8;;https://a.b/\x1b\\").count(), 1);
    assert_eq!(text.matches("\x1b]8;;\x1b\\").count(), 1);
}

#[test]
fn without_colors_only_attributes_are_written() {
    let mut canvas = Canvas::new(10, 1);
    let clip = canvas.area();
    let pen = Pen::new(Ink::Rgb(1, 2, 3), Ink::Index(4)).with(attr::BOLD);
    canvas.write(clip, 0, 0, "x", &pen);
    let text = String::from_utf8(Encoder::new(Depth::None).frame(canvas, None)).unwrap();
    assert!(
        text.contains("\x1b[0;1m") && !text.contains("38;") && !text.contains(";44"),
        "{text:?}"
    );
}
