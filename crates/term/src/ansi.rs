//! Paints a screen as escape sequences, for a terminal that attaches to it.

use std::fmt::Write as _;

use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};

use crate::cell::{CellRef, Color, Style, Underline};
use crate::emulator::Emulator;
use crate::row;
use crate::snapshot::CursorShape;

/// Modes to set again on the attaching terminal, by number.
const MODES: &[(TermMode, u16)] = &[
    (TermMode::APP_CURSOR, 1),
    (TermMode::MOUSE_REPORT_CLICK, 1000),
    (TermMode::MOUSE_DRAG, 1002),
    (TermMode::MOUSE_MOTION, 1003),
    (TermMode::FOCUS_IN_OUT, 1004),
    (TermMode::UTF8_MOUSE, 1005),
    (TermMode::SGR_MOUSE, 1006),
    (TermMode::BRACKETED_PASTE, 2004),
];

/// Bytes that turn any terminal of the same size into this screen.
pub(crate) fn redraw(emulator: &Emulator) -> Vec<u8> {
    let mut out = String::with_capacity(emulator.rows() * emulator.cols() * 2);
    out.push_str("\x1b[!p\x1b[?7h\x1b[0m\x1b(B\x0f");
    out.push_str(if emulator.is_alt() { "\x1b[?1049h" } else { "\x1b[?1049l" });
    out.push_str("\x1b[H\x1b[2J");
    for row in 0..emulator.rows() {
        let _ = write!(out, "\x1b[{};1H", row + 1);
        paint_row(emulator.row(row), &mut out);
    }
    out.push_str("\x1b[0m");
    paint_state(emulator, &mut out);
    out.into_bytes()
}

fn paint_row(cells: &[Cell], out: &mut String) {
    let blank = Cell::default();
    let used = cells.iter().rposition(|cell| *cell != blank).map_or(0, |last| last + 1);
    let mut current = Style::default();
    out.push_str("\x1b[0m");
    for (col, cell) in cells[..used].iter().enumerate() {
        if cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
            continue;
        }
        let style = CellRef(cell).style();
        if style != current {
            push_sgr(&style, out);
            push_link(&current, &style, out);
            current = style;
        }
        // A cell that was never written is skipped unless its background shows.
        let before = out.len();
        CellRef(cell).push_text(out);
        if out.len() == before {
            let _ = if current.bg == Color::Default {
                write!(out, "\x1b[{}G", col + 2)
            } else {
                write!(out, "\x1b[X\x1b[{}G", col + 2)
            };
        }
    }
    if current.link.is_some() {
        out.push_str("\x1b]8;;\x1b\\");
    }
}

fn push_link(old: &Style, new: &Style, out: &mut String) {
    if old.link != new.link {
        let _ = write!(out, "\x1b]8;;{}\x1b\\", new.link.as_deref().unwrap_or(""));
    }
}

/// The SGR sequence that sets exactly this style.
fn push_sgr(style: &Style, out: &mut String) {
    out.push_str("\x1b[0");
    let flags = [
        (style.bold, "1"),
        (style.dim, "2"),
        (style.italic, "3"),
        (style.inverse, "7"),
        (style.hidden, "8"),
        (style.strikeout, "9"),
        (style.overline, "53"),
    ];
    for (_, code) in flags.iter().filter(|(is_on, _)| *is_on) {
        out.push(';');
        out.push_str(code);
    }
    out.push_str(match style.underline {
        Underline::None => "",
        Underline::Single => ";4",
        Underline::Double => ";4:2",
        Underline::Curl => ";4:3",
        Underline::Dotted => ";4:4",
        Underline::Dashed => ";4:5",
    });
    push_color(style.fg, 38, out);
    push_color(style.bg, 48, out);
    if let Some(color) = style.underline_color {
        push_color(color, 58, out);
    }
    out.push('m');
}

fn push_color(color: Color, base: u8, out: &mut String) {
    let _ = match color {
        Color::Default => Ok(()),
        Color::Indexed(index) => write!(out, ";{base};5;{index}"),
        Color::Rgb(r, g, b) => write!(out, ";{base};2;{r};{g};{b}"),
    };
}

/// Modes, margins, cursor and title, after the cells are painted.
fn paint_state(emulator: &Emulator, out: &mut String) {
    let mode = emulator.term.mode();
    // What is off comes first: to most terminals, switching one way to follow the mouse off switches
    // all of them off.
    for (is_on, end) in [(false, 'l'), (true, 'h')] {
        for (_, number) in MODES.iter().filter(|(flag, _)| mode.contains(*flag) == is_on) {
            let _ = write!(out, "\x1b[?{number}{end}");
        }
    }
    let (top, bottom) = emulator.shadow.region;
    if (top, bottom) != (0, emulator.rows()) {
        let _ = write!(out, "\x1b[{};{bottom}r", top + 1);
    }
    out.push_str(if mode.contains(TermMode::APP_KEYPAD) { "\x1b=" } else { "\x1b>" });
    if let Some(title) = emulator.shadow.title.as_deref() {
        let safe: String = title.chars().filter(|c| !c.is_control()).collect();
        let _ = write!(out, "\x1b]2;{safe}\x1b\\");
    }
    let flags = emulator.shadow.keyboard_flags();
    if flags != 0 {
        let _ = write!(out, "\x1b[={flags};1u");
    }
    let cursor = emulator.cursor();
    out.push_str(match cursor.shape {
        CursorShape::Default => "\x1b[0 q",
        CursorShape::Block => "\x1b[2 q",
        CursorShape::Underline => "\x1b[4 q",
        CursorShape::Beam => "\x1b[6 q",
    });
    place_cursor(emulator, out);
    out.push_str(if cursor.visible { "\x1b[?25h" } else { "\x1b[?25l" });
}

/// Puts the cursor in place; a pending wrap comes back by printing the last character again.
fn place_cursor(emulator: &Emulator, out: &mut String) {
    let cursor = emulator.cursor();
    let col = usize::from(cursor.col);
    if col < emulator.cols() {
        let _ = write!(out, "\x1b[{};{}H", cursor.row + 1, cursor.col + 1);
        return;
    }
    let cells = emulator.row(usize::from(cursor.row));
    let wide = cells.last().is_some_and(|cell| cell.flags.contains(Flags::WIDE_CHAR_SPACER));
    let start = cells.len() - 1 - usize::from(wide && cells.len() > 1);
    let _ = write!(out, "\x1b[{};{}H", cursor.row + 1, start + 1);
    let style = CellRef(&cells[start]).style();
    push_sgr(&style, out);
    push_link(&Style::default(), &style, out);
    let mut text = String::new();
    row::push_text(&cells[start..=start], &mut text);
    out.push_str(if text.is_empty() { " \x1b[X" } else { &text });
    push_link(&style, &Style::default(), out);
    out.push_str("\x1b[0m");
}
