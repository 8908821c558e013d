//! Rows of cells as text and as compact bytes.
//!
//! The compact form is text plus style runs; it is what history blocks and
//! checkpoints are made of, so its layout may only grow behind a version number.

mod color;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use alacritty_terminal::term::cell::{Cell, Flags, Hyperlink};
use alacritty_terminal::vte::ansi::{Color, NamedColor};
use unicode_width::UnicodeWidthChar;

use self::color::{read_color, write_color};
use crate::bin::{Damaged, Read, Reader, Writer};

/// Marks a cell that a program wrote, as opposed to one that was erased or never touched.
/// The emulator leaves the top flag bit alone, so it travels with the cell.
pub(crate) const WRITTEN: Flags = Flags::from_bits_retain(1 << 15);

/// Whether a cell has a line above it. The emulator knows no such attribute and has no bit left, but of
/// the five bits for lines below it sets at most one: all of them turned around say that there is a
/// line above as well, and travel with the cell as they are.
pub(crate) fn has_overline(flags: Flags) -> bool {
    flags.intersection(Flags::ALL_UNDERLINES).bits().count_ones() > 1
}

/// The same flags as the emulator knows them.
pub(crate) fn without_overline(flags: Flags) -> Flags {
    match has_overline(flags) {
        true => flags.symmetric_difference(Flags::ALL_UNDERLINES),
        false => flags,
    }
}

/// The flags with or without a line above.
pub(crate) fn with_overline(flags: Flags, has: bool) -> Flags {
    match has_overline(flags) == has {
        true => flags,
        false => flags.symmetric_difference(Flags::ALL_UNDERLINES),
    }
}

/// Zero-width characters kept per cell; more would let a stream grow a cell without bound.
pub(crate) const MAX_ZERO_WIDTH: usize = 16;

const BLANK: char = '\0';
const SPACER: char = '\u{1}';
const LEADING_SPACER: char = '\u{2}';

const DEFAULT_FG: Color = Color::Named(NamedColor::Foreground);
const DEFAULT_BG: Color = Color::Named(NamedColor::Background);

/// Whether the row continues on the next one because text wrapped automatically.
pub(crate) fn is_wrapped(cells: &[Cell]) -> bool {
    cells.last().is_some_and(|cell| cell.flags.contains(Flags::WRAPLINE))
}

/// Number of cells up to the last one that shows or holds something: those that the text of a row is
/// made of.
pub(crate) fn text_len(cells: &[Cell]) -> usize {
    cells
        .iter()
        .rposition(|cell| cell.flags.contains(WRITTEN) || !matches!(cell.c, ' ' | '\t'))
        .map_or(0, |last| last + 1)
}

/// Appends the row's text: written trailing spaces are kept, untouched cells in between become spaces.
pub(crate) fn push_text(cells: &[Cell], out: &mut String) {
    let mut rest = &cells[..text_len(cells)];
    let mut ascii = [0u8; 128];
    while !rest.is_empty() {
        // Plain ASCII, as most of it is, goes through a buffer and is appended in one piece.
        let count = rest
            .iter()
            .zip(&mut ascii)
            .take_while(|(cell, _)| is_simple(cell))
            .map(|(cell, slot)| *slot = if cell.c == '\t' { b' ' } else { cell.c as u8 })
            .count();
        if let Ok(text) = std::str::from_utf8(&ascii[..count]) {
            out.push_str(text);
        }
        rest = &rest[count..];
        if count < ascii.len()
            && let Some((cell, after)) = rest.split_first()
        {
            push_cell_text(cell, out);
            rest = after;
        }
    }
}

/// Whether a cell contributes exactly its one ASCII character to the text.
fn is_simple(cell: &Cell) -> bool {
    let spacer = Flags::WIDE_CHAR_SPACER.union(Flags::LEADING_WIDE_CHAR_SPACER);
    cell.c.is_ascii() && cell.extra.is_none() && !cell.flags.intersects(spacer)
}

/// Appends what one cell contributes to the text of its row.
fn push_cell_text(cell: &Cell, out: &mut String) {
    if cell.flags.intersects(Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER) {
        return;
    }
    out.push(if cell.c == '\t' { ' ' } else { cell.c });
    if let Some(extra) = cell.zerowidth() {
        out.extend(extra);
    }
}

/// Appends the compact form of a row.
pub(crate) fn encode(cells: &[Cell], out: &mut Vec<u8>) {
    let count = cells.iter().rposition(|cell| !is_blank(cell)).map_or(0, |last| last + 1);
    let wrapped = count == cells.len() && is_wrapped(cells);
    let cells = &cells[..count];
    if encode_plain(cells, wrapped, out) || (!wrapped && encode_unstyled(cells, out)) {
        return;
    }
    let mut writer = Writer(out);
    writer.bool(wrapped);
    writer.uint(count as u64);
    encode_runs(cells, wrapped, &mut writer);
    encode_text(cells, &mut writer);
}

/// The whole row in one tight pass, if it is ASCII that a program wrote without any style, as nearly all
/// rows are. A wrapped row's last cell carries the mark of that besides.
fn encode_plain(cells: &[Cell], wrapped: bool, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let mut writer = Writer(out);
    writer.bool(wrapped);
    writer.uint(cells.len() as u64);
    writer.uint(0);
    writer.uint(cells.len() as u64);
    let text = out.len();
    out.resize(text + cells.len(), 0);
    let (last, body) = match cells.split_last() {
        Some((last, body)) if wrapped => (Some(last), body),
        _ => (None, cells),
    };
    // Judged at the end instead of cell by cell: there is hardly ever a reason to stop early.
    let mut is_plain = true;
    for (slot, cell) in out[text..].iter_mut().zip(body) {
        is_plain &= (cell.c as u32) < 0x80
            && cell.flags.bits() == WRITTEN.bits()
            && matches!(cell.fg, DEFAULT_FG)
            && matches!(cell.bg, DEFAULT_BG)
            && has_no_extra(cell);
        *slot = cell.c as u8;
    }
    if let (Some(last), Some(slot)) = (last, out.last_mut()) {
        is_plain &=
            last.c.is_ascii() && last.flags == WRITTEN | Flags::WRAPLINE && has_no_style(last);
        *slot = last.c as u8;
    }
    if !is_plain {
        out.truncate(start);
    }
    is_plain
}

/// The whole row in one pass, if no cell has a style.
fn encode_unstyled(cells: &[Cell], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let mut writer = Writer(out);
    writer.bool(false);
    writer.uint(cells.len() as u64);
    writer.uint(0);
    let length_at = out.len();
    out.extend([0; LENGTH_BYTES]);
    let mut follows_wide = false;
    for cell in cells {
        let is_spacer = cell.flags == WRITTEN | Flags::WIDE_CHAR_SPACER && cell.c == ' ';
        if is_spacer != follows_wide || !push_unstyled(cell, out) {
            out.truncate(start);
            return false;
        }
        follows_wide = cell.flags.contains(Flags::WIDE_CHAR);
    }
    let length = out.len() - length_at - LENGTH_BYTES;
    if follows_wide || length >= 1 << (7 * LENGTH_BYTES) {
        out.truncate(start);
        return false;
    }
    // A number may be written longer than it needs to be; so its place can be kept free beforehand.
    for (index, byte) in out[length_at..length_at + LENGTH_BYTES].iter_mut().enumerate() {
        let more = if index + 1 < LENGTH_BYTES { 0x80 } else { 0 };
        *byte = (length >> (7 * index)) as u8 & 0x7f | more;
    }
    true
}

/// Bytes that the length of an unstyled row's text takes.
const LENGTH_BYTES: usize = 3;

/// Appends the text of a cell whose look its stored character implies; false if it has any other look.
fn push_unstyled(cell: &Cell, out: &mut Vec<u8>) -> bool {
    let is_known = matches!(cell.flags, WRITTEN)
        || (cell.flags.is_empty() && cell.c == ' ')
        || cell.flags == WRITTEN | Flags::WIDE_CHAR
        || cell.flags == WRITTEN | Flags::WIDE_CHAR_SPACER;
    if !is_known || cell.fg != DEFAULT_FG || cell.bg != DEFAULT_BG {
        return false;
    }
    let c = stored_char(cell);
    if c.is_ascii() {
        out.push(c as u8);
    } else {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    if cell.extra.is_none() {
        return true;
    }
    for mark in cell.zerowidth().unwrap_or(&[]).iter().take(MAX_ZERO_WIDTH) {
        out.extend_from_slice(mark.encode_utf8(&mut [0; 4]).as_bytes());
    }
    cell.underline_color().is_none() && cell.hyperlink().is_none()
}

fn has_no_style(cell: &Cell) -> bool {
    cell.fg == DEFAULT_FG && cell.bg == DEFAULT_BG && has_no_extra(cell)
}

/// The engine leaves empty extras behind where it takes marks away; they mean nothing.
fn has_no_extra(cell: &Cell) -> bool {
    cell.extra.is_none()
        || (zero_width_count(cell) == 0
            && cell.underline_color().is_none()
            && cell.hyperlink().is_none())
}

/// A cell as it is before anything happened to it.
fn is_blank(cell: &Cell) -> bool {
    cell.c == ' ' && cell.flags.is_empty() && has_no_style(cell)
}

fn encode_text(cells: &[Cell], writer: &mut Writer<'_>) {
    // Nearly every row is ASCII: one byte a cell, and the length is known beforehand.
    if cells.iter().all(|cell| cell.c.is_ascii() && cell.extra.is_none()) {
        writer.uint(cells.len() as u64);
        writer.0.extend(cells.iter().map(|cell| stored_char(cell) as u8));
        return;
    }
    let mut text = String::with_capacity(cells.len() * 2);
    for cell in cells {
        text.push(stored_char(cell));
        if let Some(extra) = cell.zerowidth() {
            text.extend(extra.iter().take(MAX_ZERO_WIDTH));
        }
    }
    writer.bytes(text.as_bytes());
}

/// The one base character that stands for a cell in the stored text.
fn stored_char(cell: &Cell) -> char {
    match cell.c {
        ' ' if cell.flags.contains(Flags::WIDE_CHAR_SPACER) => SPACER,
        ' ' if cell.flags.contains(Flags::LEADING_WIDE_CHAR_SPACER) => LEADING_SPACER,
        ' ' if !cell.flags.contains(WRITTEN) => BLANK,
        other => other,
    }
}

/// The flags that a stored character implies, so that ordinary rows need no style runs.
fn implied_flags(stored: char, next: Option<char>) -> Flags {
    match stored {
        BLANK => Flags::empty(),
        SPACER => WRITTEN | Flags::WIDE_CHAR_SPACER,
        LEADING_SPACER => WRITTEN | Flags::LEADING_WIDE_CHAR_SPACER,
        _ if next == Some(SPACER) => WRITTEN | Flags::WIDE_CHAR,
        _ => WRITTEN,
    }
}

/// What a style run holds beyond its length. `flags` is the difference to the implied flags.
#[derive(Clone, PartialEq)]
struct RunStyle {
    flags: u16,
    fg: Color,
    bg: Color,
    underline: Option<Color>,
    link: Option<Hyperlink>,
}

impl RunStyle {
    const PLAIN: RunStyle =
        RunStyle { flags: 0, fg: DEFAULT_FG, bg: DEFAULT_BG, underline: None, link: None };

    fn of(cell: &Cell, difference: u16) -> RunStyle {
        let (underline, link) = match &cell.extra {
            None => (None, None),
            Some(_) => (cell.underline_color(), cell.hyperlink()),
        };
        RunStyle { flags: difference, fg: cell.fg, bg: cell.bg, underline, link }
    }

    fn fits(&self, cell: &Cell, difference: u16) -> bool {
        if self.flags != difference || self.fg != cell.fg || self.bg != cell.bg {
            return false;
        }
        match &cell.extra {
            None => self.underline.is_none() && self.link.is_none(),
            Some(_) => self.underline == cell.underline_color() && self.link == cell.hyperlink(),
        }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.uint(u64::from(self.flags));
        write_color(writer, self.fg);
        write_color(writer, self.bg);
        let extras = u8::from(self.underline.is_some()) | u8::from(self.link.is_some()) << 1;
        writer.u8(extras);
        if let Some(color) = self.underline {
            write_color(writer, color);
        }
        if let Some(link) = &self.link {
            writer.bytes(link.id().as_bytes());
            writer.bytes(link.uri().as_bytes());
        }
    }

    fn read(reader: &mut Reader<'_>) -> Read<RunStyle> {
        let flags = reader.uint_to(u64::from(u16::MAX))? as u16;
        let fg = read_color(reader)?;
        let bg = read_color(reader)?;
        let extras = reader.u8()?;
        let underline = if extras & 1 != 0 { Some(read_color(reader)?) } else { None };
        let link = if extras & 2 != 0 {
            let id = reader.text()?.to_owned();
            Some(Hyperlink::new(Some(id), reader.text()?.to_owned()))
        } else {
            None
        };
        Ok(RunStyle { flags, fg, bg, underline, link })
    }

    fn apply(&self, cell: &mut Cell, implied: Flags) {
        cell.flags = Flags::from_bits_retain(implied.bits() ^ self.flags);
        cell.fg = self.fg;
        cell.bg = self.bg;
        if self.underline.is_some() {
            cell.set_underline_color(self.underline);
        }
        if self.link.is_some() {
            cell.set_hyperlink(self.link.clone());
        }
    }
}

fn encode_runs(cells: &[Cell], wrapped: bool, writer: &mut Writer<'_>) {
    let mut runs: Vec<(u64, RunStyle)> = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        let next = cells.get(index + 1).map(stored_char);
        let mut implied = implied_flags(stored_char(cell), next);
        if wrapped && index + 1 == cells.len() {
            implied |= Flags::WRAPLINE;
        }
        let difference = cell.flags.bits() ^ implied.bits();
        match runs.last_mut() {
            Some((count, style)) if style.fits(cell, difference) => *count += 1,
            _ => runs.push((1, RunStyle::of(cell, difference))),
        }
    }
    if let [(_, style)] = runs.as_slice()
        && *style == RunStyle::PLAIN
    {
        runs.clear();
    }
    writer.uint(runs.len() as u64);
    for (count, style) in runs {
        writer.uint(count);
        style.write(writer);
    }
}

/// Reads a row back. The result has as many cells as were stored; the caller pads it.
pub(crate) fn decode(reader: &mut Reader<'_>, max_cells: usize) -> Read<Vec<Cell>> {
    let wrapped = reader.bool()?;
    let count = reader.uint_to(max_cells as u64)?;
    let runs = (0..reader.uint_to(count as u64)?)
        .map(|_| Ok((reader.uint_to(count as u64)?, RunStyle::read(reader)?)))
        .collect::<Read<Vec<_>>>()?;
    let mut cells = decode_text(reader.text()?, count)?;
    let stored: Vec<char> = cells.iter().map(|cell| cell.c).collect();
    let mut styles = runs.iter().flat_map(|(count, style)| std::iter::repeat_n(style, *count));
    for (index, cell) in cells.iter_mut().enumerate() {
        let mut implied = implied_flags(stored[index], stored.get(index + 1).copied());
        if wrapped && index + 1 == count {
            implied |= Flags::WRAPLINE;
        }
        if matches!(cell.c, BLANK | SPACER | LEADING_SPACER) {
            cell.c = ' ';
        }
        match (runs.is_empty(), styles.next()) {
            (true, _) => RunStyle::PLAIN.apply(cell, implied),
            (false, Some(style)) => style.apply(cell, implied),
            (false, None) => return Err(Damaged),
        }
    }
    Ok(cells)
}

fn decode_text(text: &str, count: usize) -> Read<Vec<Cell>> {
    let mut cells: Vec<Cell> = Vec::with_capacity(count);
    for c in text.chars() {
        if c.width() == Some(0) {
            cells.last_mut().ok_or(Damaged)?.push_zerowidth(c);
        } else {
            cells.push(Cell { c, ..Cell::default() });
        }
    }
    if cells.len() == count { Ok(cells) } else { Err(Damaged) }
}

/// Writes one template cell (cursor attributes): its style without text.
pub(crate) fn write_template(writer: &mut Writer<'_>, cell: &Cell) {
    RunStyle::of(cell, cell.flags.bits()).write(writer);
}

/// Reads what [`write_template`] wrote.
pub(crate) fn read_template(reader: &mut Reader<'_>) -> Read<Cell> {
    let mut cell = Cell::default();
    RunStyle::read(reader)?.apply(&mut cell, Flags::empty());
    Ok(cell)
}

/// Drops zero-width characters beyond the bound; used before a cell is stored.
pub(crate) fn zero_width_count(cell: &Cell) -> usize {
    cell.extra.as_ref().map_or(0, |_| cell.zerowidth().map_or(0, <[char]>::len))
}

/// The link target of a cell, if it carries one.
pub(crate) fn link_of(cell: &Cell) -> Option<Arc<str>> {
    cell.extra.as_ref()?;
    cell.hyperlink().map(|link| Arc::from(link.uri()))
}
