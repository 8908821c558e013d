//! The history of a terminal while attached to it: rows to look at, keys that move, and one line that
//! names them. Pure: the caller reads the keyboard and writes to the terminal.

use rookery_native::wire::Size;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::keys::Keys;
use crate::output::{printable, shorten};

/// The most rows of history that are asked for.
pub(super) const MOST_ROWS: usize = 100_000;

/// What a key means in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    Lines(isize),
    Pages(isize),
    Top,
    Bottom,
    Leave,
}

/// Bytes of keys and what they mean; longer ones first where one begins another.
const KEYS: &[(&[u8], Move)] = &[
    (b"\x1b[5~", Move::Pages(-1)),
    (b"\x1b[6~", Move::Pages(1)),
    (b"\x1b[1~", Move::Top),
    (b"\x1b[4~", Move::Bottom),
    (b"\x1b[A", Move::Lines(-1)),
    (b"\x1bOA", Move::Lines(-1)),
    (b"\x1b[B", Move::Lines(1)),
    (b"\x1bOB", Move::Lines(1)),
    (b"\x1b[H", Move::Top),
    (b"\x1bOH", Move::Top),
    (b"\x1b[F", Move::Bottom),
    (b"\x1bOF", Move::Bottom),
    (b"k", Move::Lines(-1)),
    (b"j", Move::Lines(1)),
    (b"b", Move::Pages(-1)),
    (b" ", Move::Pages(1)),
    (b"g", Move::Top),
    (b"G", Move::Bottom),
    (b"q", Move::Leave),
    (b"\r", Move::Leave),
    (b"\x03", Move::Leave),
];

/// What follows from what was typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Scrolled {
    /// Go on looking.
    On,
    /// Back to the program.
    Back,
    Detach,
}

/// The history on this terminal.
pub(super) struct Scroll<'a> {
    keys: &'a Keys,
    text: String,
    size: Size,
    /// The text as rows of this width.
    rows: Vec<String>,
    /// The first row that is shown.
    top: usize,
}

impl<'a> Scroll<'a> {
    /// Begins one page above the end of the text.
    pub(super) fn new(text: String, size: Size, keys: &'a Keys) -> Self {
        let mut scroll = Self { keys, text, size, rows: Vec::new(), top: 0 };
        scroll.rows = scroll.wrapped();
        scroll.top = scroll.last_top();
        scroll.go(Move::Pages(-1));
        scroll
    }

    /// Takes another size of this terminal; stays about where it is.
    pub(super) fn resize(&mut self, size: Size) {
        let (before, top) = (self.rows.len().max(1), self.top);
        self.size = size;
        self.rows = self.wrapped();
        self.top = (top * self.rows.len() / before).min(self.last_top());
    }

    /// Takes what was typed.
    pub(super) fn typed(&mut self, typed: &[u8]) -> Scrolled {
        if self.keys.detach.find(typed).is_some() {
            return Scrolled::Detach;
        }
        // A terminal sends each sequence whole, so an escape at the end is the key.
        if typed.ends_with(b"\x1b") {
            return Scrolled::Back;
        }
        let mut rest = typed;
        while !rest.is_empty() {
            let (step, used) = self.key(rest);
            rest = &rest[used..];
            match step {
                Some(Move::Leave) => return Scrolled::Back,
                // Down from the last page is the way back as well.
                Some(Move::Pages(1)) if self.top == self.last_top() => return Scrolled::Back,
                Some(step) => self.go(step),
                None => {}
            }
        }
        Scrolled::On
    }

    /// The meaning of the first key, and how many bytes it has.
    fn key(&self, typed: &[u8]) -> (Option<Move>, usize) {
        if let Some(found) = self.keys.scroll.find(typed).filter(|found| found.start == 0) {
            return (Some(Move::Pages(-1)), found.end);
        }
        let known = KEYS.iter().find(|(bytes, _)| typed.starts_with(bytes));
        known.map_or((None, 1), |(bytes, step)| (Some(*step), bytes.len()))
    }

    fn go(&mut self, step: Move) {
        let page = self.page().saturating_sub(1).max(1) as isize;
        let moved = match step {
            Move::Lines(lines) => self.top.saturating_add_signed(lines),
            Move::Pages(pages) => self.top.saturating_add_signed(pages * page),
            Move::Top => 0,
            Move::Bottom => self.last_top(),
            Move::Leave => self.top,
        };
        self.top = moved.min(self.last_top());
    }

    /// Rows of text on the screen; one is the status line's.
    fn page(&self) -> usize {
        usize::from(self.size.rows).saturating_sub(1).max(1)
    }

    fn last_top(&self) -> usize {
        self.rows.len().saturating_sub(self.page())
    }

    /// The text as rows that fit.
    fn wrapped(&self) -> Vec<String> {
        let width = usize::from(self.size.cols).max(1);
        self.text.lines().flat_map(|line| fold(&printable(line), width)).collect()
    }

    /// Bytes that draw it.
    pub(super) fn draw(&self) -> Vec<u8> {
        let mut out = String::from("\x1b[?25l\x1b[H\x1b[0m");
        for at in 0..self.page() {
            // Erased first: behind a row that is full, its last letter would go.
            out.push_str("\x1b[2K");
            out.push_str(self.rows.get(self.top + at).map_or("", String::as_str));
            out.push_str("\r\n");
        }
        let last = (self.top + self.page()).min(self.rows.len());
        let text = format!(
            " history {}-{last} of {} · arrows PgUp PgDn g G · q returns · {} detaches",
            (self.top + 1).min(last),
            self.rows.len(),
            self.keys.detach,
        );
        out.push_str(&bar(&text, self.size.cols));
        out.into_bytes()
    }
}

/// A status line over the whole width, at the cursor.
pub(super) fn bar(text: &str, cols: u16) -> String {
    let cols = usize::from(cols).max(1);
    let text = shorten(&printable(text), cols);
    let blank = " ".repeat(cols.saturating_sub(text.width()));
    format!("\x1b[7m{text}{blank}\x1b[0m")
}

/// A line in pieces of at most this width; an empty line is one piece.
fn fold(line: &str, width: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut used = 0;
    for c in line.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide > width && used > 0 {
            rows.push(String::new());
            used = 0;
        }
        used += wide;
        if let Some(row) = rows.last_mut() {
            row.push(c);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { rows: 5, cols: 120 };

    fn text(lines: usize) -> String {
        (1..=lines).map(|number| format!("line {number}\n")).collect()
    }

    fn shown(scroll: &Scroll<'_>) -> String {
        String::from_utf8(scroll.draw()).unwrap()
    }

    #[test]
    fn keys_move_and_the_status_line_names_them() {
        let keys = Keys::default();
        let mut scroll = Scroll::new(text(20), SIZE, &keys);
        // The end is rows 17 to 20; one page up, with one row in common.
        assert!(shown(&scroll).contains("history 14-17 of 20"), "{}", shown(&scroll));
        assert!(shown(&scroll).contains("q returns"));
        assert!(shown(&scroll).contains("ctrl+\\ detaches"));
        for (typed, first) in [
            (&b"\x1b[A"[..], 13),
            (b"\x1bOB", 14),
            (b"kk", 12),
            (b"\x1b[5~", 9),
            (b"\x1b[5;3~", 6),
            (b"g", 1),
            (b"k", 1),
            (b"G", 17),
            (b"j", 17),
            (b"\x1b[H", 1),
            (b"?", 1),
        ] {
            assert_eq!(scroll.typed(typed), Scrolled::On, "{typed:?}");
            let wanted = format!("history {first}-");
            assert!(shown(&scroll).contains(&wanted), "{typed:?}: {}", shown(&scroll));
        }
    }

    #[test]
    fn there_are_several_ways_out() {
        let keys = Keys::default();
        for typed in [&b"q"[..], b"\x1b", b"\r", b"\x03", b"kkq"] {
            assert_eq!(Scroll::new(text(20), SIZE, &keys).typed(typed), Scrolled::Back);
        }
        let mut scroll = Scroll::new(text(20), SIZE, &keys);
        assert_eq!(scroll.typed(b"G"), Scrolled::On);
        assert_eq!(scroll.typed(b"\x1b[6~"), Scrolled::Back, "down from the end");
        assert_eq!(Scroll::new(text(20), SIZE, &keys).typed(b"\x1c"), Scrolled::Detach);
    }

    #[test]
    fn rows_fit_the_width_and_follow_it() {
        let keys = Keys::default();
        let narrow = Size { rows: 5, cols: 4 };
        let mut scroll = Scroll::new("abcdef\n日本語\n\u{1b}[2Jx\n".to_owned(), narrow, &keys);
        assert_eq!(scroll.rows, ["abcd", "ef", "日本", "語", "[2Jx"]);
        scroll.resize(Size { rows: 5, cols: 80 });
        assert_eq!(scroll.rows, ["abcdef", "日本語", "[2Jx"]);
        let empty = Scroll::new(String::new(), SIZE, &keys);
        assert!(shown(&empty).contains("history 0-0 of 0"), "{}", shown(&empty));
    }
}
