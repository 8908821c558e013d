//! Text on its way to the grid. Runs of ASCII are written straight into their row.
//!
//! This does exactly what the engine does character by character, for the case
//! that nearly all output is: no insertion, no line drawing, no wide characters
//! in the way. Everything else goes the engine's own way.

use alacritty_terminal::index::Column;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{CharsetIndex, Handler, StandardCharset};
use unicode_width::UnicodeWidthChar;

use super::FeedContext;

impl FeedContext<'_> {
    /// Plain text in which no escape sequence stands, as the parser's ground state treats it.
    pub(crate) fn text(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            let length = match first {
                0x20..=0x7e => run_of(rest, |byte| matches!(byte, 0x20..=0x7e)),
                0x80.. => run_of(rest, |byte| byte >= 0x80),
                _ => 1,
            };
            let (run, after) = rest.split_at(length);
            rest = after;
            match first {
                0x20..=0x7e => self.ascii(run),
                0x80.. => self.unicode(run),
                _ => self.control(first),
            }
        }
    }

    /// REP: the last character once more, `count` times.
    pub(crate) fn repeat(&mut self, count: usize) {
        if let Some(last) = self.emulator.shadow.last_char {
            (0..count).for_each(|_| self.input(last));
        }
    }

    fn control(&mut self, byte: u8) {
        match byte {
            0x07 => self.bell(),
            0x08 => self.backspace(),
            0x09 => self.put_tab(1),
            0x0a..=0x0c => self.linefeed(),
            0x0d => self.carriage_return(),
            0x0e => self.set_active_charset(CharsetIndex::G1),
            0x0f => self.set_active_charset(CharsetIndex::G0),
            _ => {}
        }
    }

    fn unicode(&mut self, bytes: &[u8]) {
        for chunk in bytes.utf8_chunks() {
            let mut rest = chunk.valid();
            while let Some(c) = rest.chars().next() {
                let written = self.write_narrow(rest);
                if written > 0 {
                    rest = &rest[written..];
                    continue;
                }
                // C1 controls in their two-byte form do nothing.
                if !('\u{80}'..='\u{9f}').contains(&c) {
                    self.input(c);
                }
                rest = &rest[c.len_utf8()..];
            }
            if !chunk.invalid().is_empty() {
                self.input(char::REPLACEMENT_CHARACTER);
            }
        }
    }

    fn ascii(&mut self, mut run: &[u8]) {
        let is_plain = self.is_plain();
        while let Some(&first) = run.first() {
            let written = if is_plain { self.write_run(run) } else { 0 };
            if written == 0 {
                self.input(char::from(first));
                run = &run[1..];
            } else {
                run = &run[written..];
            }
        }
    }

    /// Writes characters of one column each into the cursor's row; gives the bytes used, 0 where only
    /// the engine knows what to do.
    fn write_narrow(&mut self, text: &str) -> usize {
        let cols = self.emulator.cols();
        let cursor = &self.emulator.term.grid().cursor;
        let (line, start) = (cursor.point.line, cursor.point.column.0);
        if cursor.input_needs_wrap || !self.is_plain() {
            return 0;
        }
        // How far this goes is not known yet; looking once too often does no harm.
        self.before_write(start..cols);
        let cursor = &self.emulator.term.grid().cursor;
        let template = cursor.template.clone();
        let cells = &mut self.emulator.term.grid_mut()[line][Column(start)..Column(cols)];
        let (mut used, mut count) = (0, 0);
        let mut last = None;
        for (cell, c) in cells.iter_mut().zip(text.chars()) {
            let is_wide = cell.flags.intersects(Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER);
            if is_wide || c.width() != Some(1) {
                break;
            }
            put(cell, c, &template);
            used += c.len_utf8();
            count += 1;
            last = Some(c);
        }
        if count > 0 {
            self.emulator.shadow.last_char = last;
            self.advance_cursor(start, count);
        }
        used
    }

    /// Whether characters go to the screen as they are: no line drawing, no insertion.
    fn is_plain(&self) -> bool {
        let shadow = &self.emulator.shadow;
        self.emulator.term.grid().cursor.charsets[shadow.charset] == StandardCharset::Ascii
            && !self.emulator.term.mode().contains(TermMode::INSERT)
    }

    /// The cursor moves past `count` cells just written from `start` on, or waits at the edge to wrap.
    fn advance_cursor(&mut self, start: usize, count: usize) {
        let cols = self.emulator.cols();
        let cursor = &mut self.emulator.term.grid_mut().cursor;
        if start + count < cols {
            cursor.point.column = Column(start + count);
        } else {
            cursor.point.column = Column(cols - 1);
            cursor.input_needs_wrap = true;
        }
        self.mark_row();
    }

    /// Writes as much of the run as fits into the cursor's row; 0 where only the engine knows what to do.
    fn write_run(&mut self, run: &[u8]) -> usize {
        let cols = self.emulator.cols();
        let cursor = &self.emulator.term.grid().cursor;
        if cursor.input_needs_wrap {
            return 0;
        }
        let (line, start) = (cursor.point.line, cursor.point.column.0);
        let count = run.len().min(cols - start);
        let target = Column(start)..Column(start + count);
        let cells = &self.emulator.term.grid()[line][target.clone()];
        if cells
            .iter()
            .any(|cell| cell.flags.intersects(Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER))
        {
            return 0;
        }
        self.before_write(start..start + count);
        let grid = self.emulator.term.grid_mut();
        let template = grid.cursor.template.clone();
        for (cell, byte) in grid[line][target].iter_mut().zip(run) {
            put(cell, char::from(*byte), &template);
        }
        self.emulator.shadow.last_char = Some(char::from(run[count - 1]));
        self.advance_cursor(start, count);
        count
    }
}

/// Writes a character of one column into a cell, in the style of the template.
fn put(cell: &mut Cell, c: char, template: &Cell) {
    cell.c = c;
    cell.fg = template.fg;
    cell.bg = template.bg;
    cell.flags = template.flags;
    // Hardly any cell has extras, and comparing is cheaper than writing.
    if cell.extra.is_some() || template.extra.is_some() {
        cell.extra.clone_from(&template.extra);
    }
}

fn run_of(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !belongs(*byte)).unwrap_or(bytes.len())
}
