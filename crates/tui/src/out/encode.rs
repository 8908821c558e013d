//! The difference of two pictures as bytes, in one piece between the marks of synchronized output.
//!
//! Terminals disagree about widths. So the cursor is addressed anew after every cell that is not
//! ASCII, and the cell after a wide character is written before it: whatever the outer terminal
//! makes of a character, the cells beside it stay where they are.

use std::fmt::Write as _;

use super::color::Depth;
use crate::canvas::{Canvas, Cell, Glyph, Ink, Pen};
use rookery_view::link::attr;

/// Where typing happens, and how the cursor looks there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caret {
    /// Its column.
    pub col: u16,
    pub row: u16,
    /// 0 default, 1 block, 2 underline, 3 beam.
    pub shape: u8,
}

/// Makes bytes of pictures; remembers the last one.
#[derive(Debug)]
pub struct Encoder {
    depth: Depth,
    shown: Option<Canvas>,
    caret: Option<Option<Caret>>,
}

impl Encoder {
    /// An encoder for a terminal of which nothing is known yet.
    pub fn new(depth: Depth) -> Encoder {
        Encoder { depth, shown: None, caret: None }
    }

    /// Forgets what is shown: the next picture is written whole.
    pub fn forget(&mut self) {
        self.shown = None;
        self.caret = None;
    }

    /// Other colors from now on.
    pub fn set_depth(&mut self, depth: Depth) {
        if depth != self.depth {
            self.depth = depth;
            self.forget();
        }
    }

    /// The bytes that turn what is shown into `next`; none if it is the same.
    pub fn frame(&mut self, next: Canvas, caret: Option<Caret>) -> Vec<u8> {
        let same_size = self
            .shown
            .as_ref()
            .is_some_and(|shown| (shown.cols(), shown.rows()) == (next.cols(), next.rows()));
        let is_same = same_size && self.shown.as_ref() == Some(&next);
        if is_same && self.caret == Some(caret) {
            return Vec::new();
        }
        let mut out = Out { text: String::from("\x1b[?2026h\x1b[?25l"), at: None, pen: None };
        if !is_same {
            if !same_size {
                out.text.push_str("\x1b[0m\x1b[2J");
                out.pen = Some(Pen::default());
                self.shown = Some(Canvas::new(next.cols(), next.rows()));
            }
            if let Some(shown) = &self.shown {
                for row in 0..next.rows() {
                    write_row(&mut out, self.depth, shown.row(row), next.row(row), row);
                }
            }
        }
        out.end_pen();
        if let Some(caret) = caret {
            let shape = match caret.shape {
                1 => 2,
                2 => 4,
                3 => 6,
                _ => 0,
            };
            let (row, col) = (caret.row + 1, caret.col + 1);
            let was = self.caret.flatten().map(|caret| caret.shape);
            if was != Some(caret.shape) {
                let _ = write!(out.text, "\x1b[{shape} q");
            }
            let _ = write!(out.text, "\x1b[{row};{col}H\x1b[?25h");
        }
        out.text.push_str("\x1b[?2026l");
        self.shown = Some(next);
        self.caret = Some(caret);
        out.text.into_bytes()
    }
}

struct Out {
    text: String,
    /// Where the cursor certainly is.
    at: Option<(u16, u16)>,
    /// With what is written now.
    pen: Option<Pen>,
}

impl Out {
    fn go(&mut self, col: u16, row: u16) {
        if self.at != Some((col, row)) {
            let _ = write!(self.text, "\x1b[{};{}H", row + 1, col + 1);
            self.at = Some((col, row));
        }
    }

    fn end_pen(&mut self) {
        if self.pen.as_ref().is_some_and(|pen| pen.link.is_some()) {
            self.text.push_str("\x1b]8;;\x1b\\");
        }
        if self.pen.as_ref().is_none_or(|pen| *pen != Pen::default()) {
            self.text.push_str("\x1b[0m");
        }
        self.pen = None;
    }

    fn set_pen(&mut self, pen: &Pen, depth: Depth) {
        if self.pen.as_ref() == Some(pen) {
            return;
        }
        let old_link = self.pen.as_ref().and_then(|pen| pen.link.as_ref());
        if old_link != pen.link.as_ref() {
            let target = pen.link.as_deref().unwrap_or_default();
            let _ = write!(self.text, "\x1b]8;;{target}\x1b\\");
        }
        self.text.push_str("\x1b[0");
        let attrs = [
            (attr::BOLD, 1),
            (attr::DIM, 2),
            (attr::ITALIC, 3),
            (attr::INVERSE, 7),
            (attr::HIDDEN, 8),
            (attr::STRIKEOUT, 9),
            (attr::OVERLINE, 53),
        ];
        for (bit, code) in attrs {
            if pen.attrs & bit != 0 {
                let _ = write!(self.text, ";{code}");
            }
        }
        match pen.underline {
            0 => {}
            1 => self.text.push_str(";4"),
            style => {
                let _ = write!(self.text, ";4:{style}");
            }
        }
        push_ink(&mut self.text, depth.reduce(pen.ink), 30);
        push_ink(&mut self.text, depth.reduce(pen.ground), 40);
        if let Some(ink) = pen.underline_ink {
            match depth.reduce(ink) {
                Ink::Default => {}
                Ink::Index(index) => {
                    let _ = write!(self.text, ";58:5:{index}");
                }
                Ink::Rgb(r, g, b) => {
                    let _ = write!(self.text, ";58:2::{r}:{g}:{b}");
                }
            }
        }
        self.text.push('m');
        self.pen = Some(pen.clone());
    }

    /// Writes what a cell shows; the cursor is known afterwards only if that was ASCII.
    fn glyph(&mut self, cell: &Cell, col: u16, row: u16, depth: Depth) {
        self.go(col, row);
        self.set_pen(&cell.pen, depth);
        match &cell.glyph {
            Glyph::Char(c) => {
                self.text.push(*c);
                self.at = c.is_ascii().then_some((col + 1, row));
            }
            Glyph::Cluster(text) => {
                self.text.push_str(text);
                self.at = None;
            }
            Glyph::Half => {
                self.text.push(' ');
                self.at = Some((col + 1, row));
            }
        }
    }
}

fn push_ink(text: &mut String, ink: Ink, base: u8) {
    let _ = match ink {
        Ink::Default => Ok(()),
        Ink::Index(index @ 0..=7) => write!(text, ";{}", base + index),
        Ink::Index(index @ 8..=15) => write!(text, ";{}", base + 60 + index - 8),
        Ink::Index(index) => write!(text, ";{};5;{index}", base + 8),
        Ink::Rgb(r, g, b) => write!(text, ";{};2;{r};{g};{b}", base + 8),
    };
}

fn is_ascii(cell: &Cell) -> bool {
    matches!(cell.glyph, Glyph::Char(c) if c.is_ascii())
}

/// Which cells of a row have to be written. What stands beside a character that may be wider than
/// its cells, on either picture, may have been touched by it.
fn marks(old: &[Cell], new: &[Cell]) -> Vec<bool> {
    let mut marks: Vec<bool> = old.iter().zip(new).map(|(old, new)| old != new).collect();
    // A change within a wide character, old or new, is a change of all of it.
    for cells in [old, new] {
        for at in (1..cells.len()).rev() {
            if cells[at].glyph == Glyph::Half && marks[at] {
                marks[at - 1] = true;
            }
        }
        for at in 1..cells.len() {
            if cells[at].glyph == Glyph::Half && marks[at - 1] {
                marks[at] = true;
            }
        }
    }
    for at in 1..marks.len() {
        let spills = !is_ascii(&old[at - 1]) || !is_ascii(&new[at - 1]);
        if marks[at - 1] && spills {
            marks[at] = true;
        }
    }
    // A cell that is written again must have its whole character with it.
    for at in (1..new.len()).rev() {
        if new[at].glyph == Glyph::Half && marks[at] {
            marks[at - 1] = true;
        }
    }
    marks
}

fn write_row(out: &mut Out, depth: Depth, old: &[Cell], new: &[Cell], row: u16) {
    if old == new {
        return;
    }
    let marks = marks(old, new);
    let mut col = 0;
    while col < new.len() {
        let halves = new[col + 1..].iter().take_while(|cell| cell.glyph == Glyph::Half).count();
        if marks[col] {
            for half in 1..=halves {
                out.glyph(&new[col + half], at(col + half), row, depth);
            }
            out.glyph(&new[col], at(col), row, depth);
        }
        col += 1 + halves;
    }
}

fn at(col: usize) -> u16 {
    u16::try_from(col).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests;
