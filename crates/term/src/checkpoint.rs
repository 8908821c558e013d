//! Checkpoints: the whole state of a screen as bytes, and back.
//!
//! Written into shared memory by one daemon and read by the next, which may be
//! newer. A reader that does not know the version refuses, and the caller falls
//! back to replaying what bytes it has.

use std::sync::Arc;

use alacritty_terminal::grid::{Cursor, Grid};
use alacritty_terminal::index::{Column, Line, Point};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::Cell;
use alacritty_terminal::vte::ansi::{
    CharsetIndex, CursorShape, CursorStyle, Handler, NamedMode, NamedPrivateMode, Processor,
    StandardCharset,
};

use crate::bin::{Damaged, Read, Reader, Writer};
use crate::colors::{self, Rgb};
use crate::emulator::{Emulator, Prompts, Shadow, row_of};
use crate::history::{BlockStore, History};
use crate::pointer::PointerShape;
use crate::row;
use crate::scanner::Scanner;
use crate::screen::{Screen, ScreenConfig, ScreenSize};
use crate::tally::Tally;

const VERSION: u64 = 1;
const MAX_SIDE: u64 = 4096;

/// Modes that a private-mode sequence sets.
const PRIVATE_MODES: &[(TermMode, NamedPrivateMode)] = &[
    (TermMode::APP_CURSOR, NamedPrivateMode::CursorKeys),
    (TermMode::LINE_WRAP, NamedPrivateMode::LineWrap),
    (TermMode::SHOW_CURSOR, NamedPrivateMode::ShowCursor),
    (TermMode::MOUSE_REPORT_CLICK, NamedPrivateMode::ReportMouseClicks),
    (TermMode::MOUSE_DRAG, NamedPrivateMode::ReportCellMouseMotion),
    (TermMode::MOUSE_MOTION, NamedPrivateMode::ReportAllMouseMotion),
    (TermMode::FOCUS_IN_OUT, NamedPrivateMode::ReportFocusInOut),
    (TermMode::UTF8_MOUSE, NamedPrivateMode::Utf8Mouse),
    (TermMode::SGR_MOUSE, NamedPrivateMode::SgrMouse),
    (TermMode::ALTERNATE_SCROLL, NamedPrivateMode::AlternateScroll),
    (TermMode::URGENCY_HINTS, NamedPrivateMode::UrgencyHints),
    (TermMode::BRACKETED_PASTE, NamedPrivateMode::BracketedPaste),
];

pub(crate) fn save(screen: &mut Screen) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16 * 1024);
    let mut writer = Writer(&mut bytes);
    let emulator = &mut screen.emulator;
    writer.uint(VERSION);
    save_size(&mut writer, emulator.size);
    writer.uint(emulator.sequence);
    writer.uint(u64::from(emulator.term.mode().bits()));
    save_shadow(&mut writer, &emulator.shadow);
    save_colors(&mut writer, emulator);
    emulator.history.save(&mut writer);
    let is_alt = emulator.is_alt();
    writer.bool(is_alt);
    if is_alt {
        save_grid(&mut writer, emulator.term.grid());
    }
    let mut primary = Vec::new();
    emulator.with_primary(|grid| save_grid(&mut Writer(&mut primary), grid));
    writer.0.extend_from_slice(&primary);
    emulator.tally.save(&mut writer);
    save_requests(&mut writer, &emulator.shadow);
    writer.uint(emulator.stamps.epoch());
    emulator.prompts.save(&mut writer);
    bytes
}

pub(crate) fn load(
    bytes: &[u8],
    config: ScreenConfig,
    blocks: Box<dyn BlockStore>,
) -> Read<Screen> {
    let mut reader = Reader(bytes);
    if reader.uint()? != VERSION {
        return Err(Damaged);
    }
    let size = load_size(&mut reader)?;
    let sequence = reader.uint()?;
    let mode = TermMode::from_bits_truncate(u32::try_from(reader.uint()?).map_err(|_| Damaged)?);
    let mut shadow = load_shadow(&mut reader, size)?;
    let colors = load_colors(&mut reader)?;
    let history = History::load(&mut reader, config.scrollback, blocks)?;
    let mut emulator = Emulator::new(size, config.palette, history);
    let alternate = if reader.bool()? { Some(load_grid(&mut reader, size)?) } else { None };
    let primary = load_grid(&mut reader, size)?;
    let tally = Tally::load(&mut reader)?;
    load_requests(&mut reader, &mut shadow)?;
    let (epoch, prompts) = load_numbers(&mut reader)?;
    restore_modes(&mut emulator, mode, &shadow);
    let live = Arc::make_mut(&mut emulator.colors);
    colors.into_iter().for_each(|(index, color)| live.set(index, color));
    primary.apply(emulator.term.grid_mut());
    if let Some(alternate) = alternate {
        emulator.term.swap_alt();
        alternate.apply(emulator.term.grid_mut());
    }
    emulator.shadow = shadow;
    emulator.reapply_keyboard_flags();
    emulator.sequence = sequence;
    emulator.tally = tally;
    emulator.stamps.restore(epoch, sequence);
    emulator.prompts = prompts;
    emulator.replies.clear();
    emulator.events.clear();
    Ok(Screen {
        emulator,
        processor: Processor::new(),
        scanner: Scanner::default(),
        partial: Vec::new(),
    })
}

fn restore_modes(emulator: &mut Emulator, mode: TermMode, shadow: &Shadow) {
    let term = &mut emulator.term;
    for (flag, name) in PRIVATE_MODES {
        if mode.contains(*flag) {
            term.set_private_mode((*name).into());
        } else {
            term.unset_private_mode((*name).into());
        }
    }
    for (flag, name) in [
        (TermMode::INSERT, NamedMode::Insert),
        (TermMode::LINE_FEED_NEW_LINE, NamedMode::LineFeedNewLine),
    ] {
        if mode.contains(flag) {
            term.set_mode(name.into());
        }
    }
    if mode.contains(TermMode::APP_KEYPAD) {
        term.set_keypad_application_mode();
    }
    term.set_active_charset(shadow.charset);
    term.clear_tabs(alacritty_terminal::vte::ansi::TabulationClearMode::All);
    for (col, _) in shadow.tabs.iter().enumerate().filter(|(_, stop)| **stop) {
        term.goto(0, col);
        term.set_horizontal_tabstop();
    }
    term.set_scrolling_region(shadow.region.0 + 1, Some(shadow.region.1));
    // Last, because it changes what cursor movements mean; the cursor itself is laid back afterwards.
    if mode.contains(TermMode::ORIGIN) {
        term.set_private_mode(NamedPrivateMode::Origin.into());
    }
}

fn save_size(writer: &mut Writer<'_>, size: ScreenSize) {
    for side in [size.rows, size.cols, size.pixel_width, size.pixel_height] {
        writer.uint(u64::from(side));
    }
}

fn load_size(reader: &mut Reader<'_>) -> Read<ScreenSize> {
    let rows = reader.uint_to(MAX_SIDE)? as u16;
    let cols = reader.uint_to(MAX_SIDE)? as u16;
    let pixel_width = reader.uint_to(u64::from(u16::MAX))? as u16;
    let pixel_height = reader.uint_to(u64::from(u16::MAX))? as u16;
    if rows == 0 || cols == 0 {
        return Err(Damaged);
    }
    Ok(ScreenSize { rows, cols, pixel_width, pixel_height })
}

fn save_shadow(writer: &mut Writer<'_>, shadow: &Shadow) {
    writer.uint(shadow.region.0 as u64);
    writer.uint(shadow.region.1 as u64);
    let tabs: Vec<u8> = shadow.tabs.iter().map(|stop| u8::from(*stop)).collect();
    writer.bytes(&tabs);
    writer.u8(charset_number(shadow.charset));
    writer.bool(shadow.cursor_style.is_some());
    if let Some(style) = shadow.cursor_style {
        writer.u8(shape_number(style.shape));
        writer.bool(style.blinking);
    }
    writer.optional_text(shadow.title.as_deref());
    writer.uint(shadow.titles.len() as u64);
    for title in &shadow.titles {
        writer.optional_text(title.as_deref());
    }
    writer.bytes(&shadow.keyboard);
    writer.bytes(&shadow.hidden_keyboard);
    writer.u8(shadow.modify_other_keys);
    writer.uint(shadow.links);
    writer.uint(shadow.last_char.map_or(0, |c| u64::from(u32::from(c)) + 1));
}

fn load_shadow(reader: &mut Reader<'_>, size: ScreenSize) -> Read<Shadow> {
    let rows = usize::from(size.rows);
    let mut shadow = Shadow::new(rows, usize::from(size.cols));
    shadow.region = (reader.uint_to(MAX_SIDE)?, reader.uint_to(rows as u64)?);
    if shadow.region.0 >= shadow.region.1 {
        return Err(Damaged);
    }
    shadow.tabs = reader.bytes()?.iter().map(|stop| *stop != 0).collect();
    if shadow.tabs.len() != usize::from(size.cols) {
        return Err(Damaged);
    }
    shadow.charset = charset_from(reader.u8()?)?;
    if reader.bool()? {
        let shape = shape_from(reader.u8()?)?;
        shadow.cursor_style = Some(CursorStyle { shape, blinking: reader.bool()? });
    }
    shadow.title = reader.optional_text()?;
    for _ in 0..reader.uint_to(1024)? {
        shadow.titles.push(reader.optional_text()?);
    }
    shadow.keyboard = reader.bytes()?.to_vec();
    shadow.hidden_keyboard = reader.bytes()?.to_vec();
    shadow.modify_other_keys = reader.u8()?;
    shadow.links = reader.uint()?;
    shadow.last_char = match reader.uint()? {
        0 => None,
        code => u32::try_from(code - 1).ok().and_then(char::from_u32),
    };
    Ok(shadow)
}

fn save_requests(writer: &mut Writer<'_>, shadow: &Shadow) {
    writer.u8(shadow.pointer.number());
    writer.bool(shadow.wants_theme);
    writer.bool(shadow.wants_size);
}

/// A checkpoint of an older version ends before these.
fn load_requests(reader: &mut Reader<'_>, shadow: &mut Shadow) -> Read<()> {
    if reader.0.is_empty() {
        return Ok(());
    }
    shadow.pointer = PointerShape::from_number(reader.u8()?);
    shadow.wants_theme = reader.bool()?;
    shadow.wants_size = reader.bool()?;
    Ok(())
}

/// What row numbers are worth, and the rows of prompts. A checkpoint of an older version ends before.
fn load_numbers(reader: &mut Reader<'_>) -> Read<(u64, Prompts)> {
    if reader.0.is_empty() {
        return Ok((1, Prompts::default()));
    }
    Ok((reader.uint()?, Prompts::load(reader)?))
}

fn save_colors(writer: &mut Writer<'_>, emulator: &Emulator) {
    writer.uint(emulator.colors.program_set().count() as u64);
    for (index, (r, g, b)) in emulator.colors.program_set() {
        writer.uint(index as u64);
        writer.0.extend([r, g, b]);
    }
}

fn load_colors(reader: &mut Reader<'_>) -> Read<Vec<(usize, Rgb)>> {
    let count = colors::COUNT as u64;
    (0..reader.uint_to(count)?)
        .map(|_| {
            let index = reader.uint_to(count - 1)?;
            Ok((index, (reader.u8()?, reader.u8()?, reader.u8()?)))
        })
        .collect()
}

fn save_grid(writer: &mut Writer<'_>, grid: &Grid<Cell>) {
    use alacritty_terminal::grid::Dimensions;
    save_cursor(writer, &grid.cursor);
    save_cursor(writer, &grid.saved_cursor);
    for line in 0..grid.screen_lines() as i32 {
        row::encode(&grid[Line(line)][..], writer.0);
    }
}

/// A grid as read from a checkpoint.
struct SavedGrid {
    cursor: Cursor<Cell>,
    saved_cursor: Cursor<Cell>,
    rows: Vec<Vec<Cell>>,
    cols: usize,
}

fn load_grid(reader: &mut Reader<'_>, size: ScreenSize) -> Read<SavedGrid> {
    let cols = usize::from(size.cols);
    let cursor = load_cursor(reader, size)?;
    let saved_cursor = load_cursor(reader, size)?;
    let rows = (0..size.rows).map(|_| row::decode(reader, cols)).collect::<Read<_>>()?;
    Ok(SavedGrid { cursor, saved_cursor, rows, cols })
}

impl SavedGrid {
    fn apply(self, grid: &mut Grid<Cell>) {
        for (line, cells) in self.rows.iter().enumerate() {
            grid[Line(line as i32)] = row_of(cells, self.cols);
        }
        grid.cursor = self.cursor;
        grid.saved_cursor = self.saved_cursor;
    }
}

fn save_cursor(writer: &mut Writer<'_>, cursor: &Cursor<Cell>) {
    writer.uint(cursor.point.line.0.max(0) as u64);
    writer.uint(cursor.point.column.0 as u64);
    writer.bool(cursor.input_needs_wrap);
    row::write_template(writer, &cursor.template);
    for index in 0..4 {
        let is_drawing = charset_from(index).is_ok_and(|index| {
            cursor.charsets[index] == StandardCharset::SpecialCharacterAndLineDrawing
        });
        writer.bool(is_drawing);
    }
}

fn load_cursor(reader: &mut Reader<'_>, size: ScreenSize) -> Read<Cursor<Cell>> {
    let line = reader.uint_to(u64::from(size.rows) - 1)?;
    let column = reader.uint_to(u64::from(size.cols) - 1)?;
    let mut cursor = Cursor::<Cell> {
        point: Point::new(Line(line as i32), Column(column)),
        input_needs_wrap: reader.bool()?,
        template: row::read_template(reader)?,
        charsets: Default::default(),
    };
    for index in 0..4 {
        if reader.bool()? {
            cursor.charsets[charset_from(index)?] = StandardCharset::SpecialCharacterAndLineDrawing;
        }
    }
    Ok(cursor)
}

fn charset_number(index: CharsetIndex) -> u8 {
    match index {
        CharsetIndex::G0 => 0,
        CharsetIndex::G1 => 1,
        CharsetIndex::G2 => 2,
        CharsetIndex::G3 => 3,
    }
}

fn charset_from(number: u8) -> Read<CharsetIndex> {
    [CharsetIndex::G0, CharsetIndex::G1, CharsetIndex::G2, CharsetIndex::G3]
        .get(usize::from(number))
        .copied()
        .ok_or(Damaged)
}

const SHAPES: [CursorShape; 5] = [
    CursorShape::Block,
    CursorShape::Underline,
    CursorShape::Beam,
    CursorShape::HollowBlock,
    CursorShape::Hidden,
];

fn shape_number(shape: CursorShape) -> u8 {
    SHAPES.iter().position(|known| *known == shape).unwrap_or(0) as u8
}

fn shape_from(number: u8) -> Read<CursorShape> {
    SHAPES.get(usize::from(number)).copied().ok_or(Damaged)
}
