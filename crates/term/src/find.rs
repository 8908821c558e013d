//! Finding text in history and on the screen, newest first, a step at a time.
//!
//! Lines are joined where they wrapped, as a dump joins them. The regular expressions are linear in
//! time, and whoever has a clock decides how many steps are taken at once.

use std::ops::Range;

use alacritty_terminal::term::cell::{Cell, Flags};
use regex::{Regex, RegexBuilder};

use crate::redact::Policy;
use crate::row;
use crate::screen::Screen;
use crate::selection::Place;

/// Bytes of a pattern.
pub const MAX_PATTERN: usize = 1024;
/// Memory of a compiled pattern.
const MAX_COMPILED: usize = 1 << 20;
/// Rows that are read in one step.
const STEP_ROWS: u64 = 256;
/// Rows that are followed up a wrapped line; a longer one is parted there.
const MAX_LINE_ROWS: u64 = 4096;

/// Whether capitals count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// They do if there is one in the pattern.
    #[default]
    Smart,
    /// They always do.
    Sensitive,
    /// They never do.
    Insensitive,
}

/// Why a pattern cannot be searched for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// It has no characters.
    #[error("there is nothing to find")]
    Empty,
    #[error("a pattern has at most {MAX_PATTERN} bytes")]
    TooLong,
    /// It is no regular expression.
    #[error("{0}")]
    Bad(String),
}

/// Where a pattern was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// Its first cell.
    pub start: Place,
    /// Cells from the first to the last, going on in the next row where the line does.
    pub cells: u32,
}

/// A search that is under way.
#[derive(Clone, Debug)]
pub struct Finder {
    pattern: Regex,
    /// The epoch whose row numbers it goes by; none before the first step.
    epoch: Option<u64>,
    /// Rows before this one have not been looked at.
    to: u64,
    limit: usize,
    total: usize,
    is_done: bool,
    /// Whether what is a secret is not there for it.
    is_blind: bool,
}

impl Finder {
    /// Prepares a search that ends after `limit` matches.
    pub fn new(text: &str, is_regex: bool, case: Case, limit: usize) -> Result<Finder, FindError> {
        if text.is_empty() {
            return Err(FindError::Empty);
        }
        if text.len() > MAX_PATTERN {
            return Err(FindError::TooLong);
        }
        let escaped = if is_regex { text.to_owned() } else { regex::escape(text) };
        let ignores_case = match case {
            Case::Smart => !has_capital(text, is_regex),
            Case::Sensitive => false,
            Case::Insensitive => true,
        };
        let pattern = RegexBuilder::new(&escaped)
            .case_insensitive(ignores_case)
            .size_limit(MAX_COMPILED)
            .dfa_size_limit(MAX_COMPILED)
            .build()
            .map_err(|error| FindError::Bad(error.to_string()))?;
        Ok(Finder { pattern, epoch: None, to: 0, limit, total: 0, is_done: false, is_blind: false })
    }

    /// The same for those who may not see secrets: it finds what they are shown, so that no secret can
    /// be guessed piece by piece.
    #[must_use]
    pub fn without_secrets(self) -> Finder {
        Finder { is_blind: true, ..self }
    }

    /// Matches so far.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Whether everything was looked at, as many matches as wanted were found, or row numbers changed.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// The epoch that matches belong to; none before the first step.
    pub fn epoch(&self) -> Option<u64> {
        self.epoch
    }

    /// Looks at some hundred rows more, from the newest to the oldest, and gives the matches on them,
    /// newest first.
    pub fn step(&mut self, screen: &Screen) -> Vec<Match> {
        let epoch = *self.epoch.get_or_insert_with(|| {
            self.to = screen.first_row() + u64::from(screen.size().rows);
            screen.epoch()
        });
        let oldest = screen.oldest_shown();
        if self.is_done || epoch != screen.epoch() || self.to <= oldest {
            self.is_done = true;
            return Vec::new();
        }
        let rows = lines_before(screen, oldest, self.to);
        self.to = rows.start;
        let mut found = self.matches(screen, rows);
        found.reverse();
        found.truncate(self.limit - self.total);
        self.total += found.len();
        self.is_done = self.total >= self.limit || self.to <= oldest;
        found
    }

    /// The matches on whole lines, in order.
    fn matches(&self, screen: &Screen, rows: Range<u64>) -> Vec<Match> {
        let mut found = Vec::new();
        if self.is_blind {
            for line in masked_lines(screen, rows) {
                line.search(&self.pattern, screen, &mut found);
            }
            return found;
        }
        let mut line = Line::default();
        screen.visit_cells(rows, &mut |number, cells| {
            line.push(number, cells);
            if !row::is_wrapped(cells) {
                line.search(&self.pattern, screen, &mut found);
                line.clear();
            }
        });
        line.search(&self.pattern, screen, &mut found);
        found
    }
}

/// Lines with a star for each byte of a secret, so that everything else stays where it is.
fn masked_lines(screen: &Screen, rows: Range<u64>) -> Vec<Line> {
    let around = screen.around_secrets(rows.clone());
    let above = lines_of(screen, around.start..rows.start);
    let below = lines_of(screen, rows.end..around.end);
    let mut lines = lines_of(screen, rows);
    let mut text: String = above.iter().flat_map(|line| [line.text.as_str(), "\n"]).collect();
    let mut starts = Vec::with_capacity(lines.len());
    for line in &lines {
        starts.push(text.len());
        text.push_str(&line.text);
        text.push('\n');
    }
    text.extend(below.iter().flat_map(|line| [line.text.as_str(), "\n"]));
    for span in Policy::ours().redact_spans(&text) {
        let first = starts.partition_point(|start| *start <= span.start).saturating_sub(1);
        for (line, start) in lines.iter_mut().zip(&starts).skip(first) {
            if *start >= span.end {
                break;
            }
            let end = start + line.text.len();
            line.hide(span.start.clamp(*start, end) - start..span.end.clamp(*start, end) - start);
        }
    }
    lines
}

/// Rows joined to lines where they wrapped.
fn lines_of(screen: &Screen, rows: Range<u64>) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut line = Line::default();
    screen.visit_cells(rows, &mut |number, cells| {
        line.push(number, cells);
        if !row::is_wrapped(cells) {
            lines.push(std::mem::take(&mut line));
        }
    });
    if !line.rows.is_empty() {
        lines.push(line);
    }
    lines
}

/// Whether a pattern has a capital that stands for itself; `\S` and `\W` have none.
fn has_capital(text: &str, is_regex: bool) -> bool {
    let mut is_escaped = false;
    text.chars().any(|c| {
        let counts = c.is_uppercase() && !is_escaped;
        is_escaped = is_regex && c == '\\' && !is_escaped;
        counts
    })
}

/// Some rows before another that begin with a line.
fn lines_before(screen: &Screen, oldest: u64, to: u64) -> Range<u64> {
    let mut from = to.saturating_sub(STEP_ROWS).max(oldest);
    let stop = from.saturating_sub(MAX_LINE_ROWS).max(oldest);
    while from > stop {
        // Whether the row above runs on, read in pieces, since rows of history are stored in blocks.
        let piece = from.saturating_sub(STEP_ROWS).max(stop)..from;
        let mut begins = None;
        screen.visit_cells(piece.clone(), &mut |number, cells| {
            if !row::is_wrapped(cells) {
                begins = Some(number + 1);
            }
        });
        match begins {
            Some(begins) => return begins..to,
            None => from = piece.start,
        }
    }
    from..to
}

/// A line that is being put together.
#[derive(Default)]
struct Line {
    text: String,
    /// Row numbers and the offsets at which their text begins.
    rows: Vec<(u64, usize)>,
}

impl Line {
    fn push(&mut self, number: u64, cells: &[Cell]) {
        self.rows.push((number, self.text.len()));
        row::push_text(cells, &mut self.text);
    }

    fn clear(&mut self) {
        self.text.clear();
        self.rows.clear();
    }

    /// Puts stars in the place of bytes.
    fn hide(&mut self, bytes: Range<usize>) {
        let whole =
            self.text.is_char_boundary(bytes.start) && self.text.is_char_boundary(bytes.end);
        if whole {
            let stars = "*".repeat(bytes.len());
            self.text.replace_range(bytes, &stars);
        }
    }

    /// Adds the matches.
    fn search(&self, pattern: &Regex, screen: &Screen, found: &mut Vec<Match>) {
        let cols = u64::from(screen.size().cols);
        for place in pattern.find_iter(&self.text).filter(|place| !place.is_empty()) {
            let start = self.place(place.start(), screen);
            // The last character, which may be wide.
            let last = self.text[..place.end()].char_indices().next_back();
            let last = self.place(last.map_or(place.start(), |(at, _)| at), screen);
            let end = screen.whole_char(last.row, last.col).1;
            let cells = (last.row - start.row) * cols + u64::from(end) + 1;
            let cells = cells.saturating_sub(u64::from(start.col));
            found.push(Match { start, cells: u32::try_from(cells).unwrap_or(u32::MAX) });
        }
    }

    /// The cell of a character, or the one that a combining character stands in.
    fn place(&self, offset: usize, screen: &Screen) -> Place {
        let at = self.rows.partition_point(|(_, start)| *start <= offset).saturating_sub(1);
        let (row, start) = self.rows.get(at).copied().unwrap_or_default();
        let mut col = 0;
        screen.visit_cells(row..row + 1, &mut |_, cells| {
            col = column(cells, offset - start);
        });
        Place { row, col }
    }
}

/// The column whose text begins at an offset or goes over it.
fn column(cells: &[Cell], offset: usize) -> u16 {
    let mut length = 0;
    let mut last = 0;
    for (col, cell) in cells.iter().enumerate() {
        if cell.flags.intersects(Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER) {
            continue;
        }
        last = col;
        let extra = cell.extra.as_ref().and_then(|_| cell.zerowidth()).unwrap_or(&[]);
        length += cell.c.len_utf8() + extra.iter().map(|c| c.len_utf8()).sum::<usize>();
        if length > offset {
            break;
        }
    }
    u16::try_from(last).unwrap_or(u16::MAX)
}
