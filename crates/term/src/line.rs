//! One line of text as it was before it wrapped, with the place of every character: what words, lines
//! and links are found in.

use std::borrow::Cow;

use alacritty_terminal::term::cell::{Cell, Flags};

use crate::links;
use crate::row;
use crate::screen::Screen;
use crate::selection::{Place, Selection, SelectionKind};

/// Characters that belong to a word besides letters and digits, unless the user says otherwise.
pub const WORD_CHARS: &str = "_-.+~/:@%";

/// Rows followed up and down a wrapped line; a longer one is looked at in part.
const MAX_ROWS: u64 = 256;

/// A part of the terminal's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first cell.
    pub start: Place,
    /// Its last cell; the second half of a wide character, if it ends with one.
    pub end: Place,
    pub text: String,
}

impl Span {
    /// The selection that covers it.
    pub fn selection(&self) -> Selection {
        Selection { anchor: self.start, head: self.end, kind: SelectionKind::Text }
    }
}

/// A link somewhere in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub uri: String,
    /// Its first cell.
    pub start: Place,
    /// Its last cell.
    pub end: Place,
}

/// A character of a line and where it is.
struct Spot {
    c: char,
    /// Byte offset in the line's text.
    offset: usize,
    place: Place,
    /// Its last column, which is not the first for a wide one.
    last_col: u16,
    /// Id and target of a link, as the program gave them.
    link: Option<(String, String)>,
}

/// A line before it wrapped.
struct Line {
    spots: Vec<Spot>,
    text: String,
}

impl Screen {
    /// The word at a place: letters, digits and `extra` characters, also across a wrap. None where
    /// there is no such character.
    pub fn word_at(&self, place: Place, extra: &str) -> Option<Span> {
        let line = Line::around(self, place.row)?;
        let at = line.spot_at(place)?;
        let is_word = |c: char| c.is_alphanumeric() || extra.contains(c);
        let clicked = line.spots[at].c;
        if clicked.is_whitespace() {
            return None;
        }
        // Signs that belong to no word are one with their neighbors of the same kind.
        let belongs = |spot: &&Spot| match is_word(clicked) {
            true => is_word(spot.c),
            false => !is_word(spot.c) && !spot.c.is_whitespace(),
        };
        let before = line.spots[..at].iter().rev().take_while(belongs).count();
        let after = line.spots[at..].iter().take_while(belongs).count();
        Some(self.span(&line.spots[at - before], &line.spots[at + after - 1]))
    }

    /// The whole line on a row, also across wraps, without the blanks at its end. None if it is blank.
    pub fn line_at(&self, row: u64) -> Option<Span> {
        let line = Line::around(self, row)?;
        let last = line.spots.iter().rfind(|spot| spot.c != ' ')?;
        Some(self.span(line.spots.first()?, last))
    }

    /// The link at a place: one that the program made, or an address in the text.
    pub fn link_at(&self, place: Place) -> Option<Link> {
        let line = Line::around(self, place.row)?;
        let at = line.spot_at(place)?;
        if let Some(link) = &line.spots[at].link {
            let is_same = |spot: &&Spot| spot.link.as_ref() == Some(link);
            let before = line.spots[..at].iter().rev().take_while(is_same).count();
            let after = line.spots[at..].iter().take_while(is_same).count();
            let (start, end) = (&line.spots[at - before], &line.spots[at + after - 1]);
            return Some(Link { uri: link.1.clone(), start: start.place, end: end.last() });
        }
        let offset = line.spots[at].offset;
        let range = links::find(&line.text).into_iter().find(|range| range.contains(&offset))?;
        let inside = |spot: &&Spot| range.contains(&spot.offset);
        let (start, end) = (line.spots.iter().find(inside)?, line.spots.iter().rfind(inside)?);
        Some(Link { uri: line.text[range.clone()].to_owned(), start: start.place, end: end.last() })
    }

    fn span(&self, start: &Spot, end: &Spot) -> Span {
        let span = Span { start: start.place, end: end.last(), text: String::new() };
        Span { text: self.selected_text(&span.selection()), ..span }
    }

    /// A row by its number, as it is stored or shown.
    fn row_numbered(&self, number: u64) -> Option<Cow<'_, [Cell]>> {
        match number.checked_sub(self.first_row()) {
            Some(row) if row < u64::from(self.size().rows) => {
                Some(self.emulator.row(row as usize).into())
            }
            Some(_) => None,
            None => self.history_rows(number, number + 1).pop().map(Cow::Owned),
        }
    }
}

impl Line {
    /// The line that a row is part of.
    fn around(screen: &Screen, row: u64) -> Option<Line> {
        // The alternate screen does not go on from history.
        let oldest = screen.first_row() - screen.emulator.history_len() as u64;
        let mut first = row;
        while first > oldest && row - first < MAX_ROWS {
            let above = screen.row_numbered(first - 1);
            if !above.is_some_and(|cells| row::is_wrapped(&cells)) {
                break;
            }
            first -= 1;
        }
        if row < oldest {
            return None;
        }
        let mut line = Line { spots: Vec::new(), text: String::new() };
        let mut cells = screen.row_numbered(row).and_then(|_| screen.row_numbered(first))?;
        let mut number = first;
        loop {
            line.push_row(number, &cells);
            if !row::is_wrapped(&cells) || number - row.min(number) >= MAX_ROWS {
                return Some(line);
            }
            number += 1;
            let Some(next) = screen.row_numbered(number) else { return Some(line) };
            cells = next;
        }
    }

    fn push_row(&mut self, row: u64, cells: &[Cell]) {
        for (col, cell) in cells.iter().enumerate() {
            let col = u16::try_from(col).unwrap_or(u16::MAX);
            if cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
                if let Some(spot) = self.spots.last_mut().filter(|spot| spot.place.row == row) {
                    spot.last_col = col;
                }
                continue;
            }
            if cell.flags.contains(Flags::LEADING_WIDE_CHAR_SPACER) {
                continue;
            }
            let c = if cell.c == '\t' { ' ' } else { cell.c };
            let link = cell.extra.as_ref().and_then(|_| cell.hyperlink());
            self.spots.push(Spot {
                c,
                offset: self.text.len(),
                place: Place { row, col },
                last_col: col,
                link: link.map(|link| (link.id().to_owned(), link.uri().to_owned())),
            });
            self.text.push(c);
            self.text.extend(cell.zerowidth().unwrap_or(&[]));
        }
    }

    /// The character that covers a place.
    fn spot_at(&self, place: Place) -> Option<usize> {
        self.spots.iter().position(|spot| {
            spot.place.row == place.row && (spot.place.col..=spot.last_col).contains(&place.col)
        })
    }
}

impl Spot {
    fn last(&self) -> Place {
        Place { row: self.place.row, col: self.last_col }
    }
}
