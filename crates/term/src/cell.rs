//! Cells, styles and colors as the rest of Rookery sees them.

use std::sync::Arc;

use alacritty_terminal::term::cell::{Cell as EngineCell, Flags};
use alacritty_terminal::vte::ansi::{Color as EngineColor, NamedColor};

use crate::row::{self, WRITTEN};

/// A color as a program asked for it; themes are applied by the painter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Color {
    /// The terminal's default foreground or background.
    #[default]
    Default,
    /// An index into the 256-color palette.
    Indexed(u8),
    /// Red, green and blue.
    Rgb(u8, u8, u8),
}

/// How a cell is underlined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Underline {
    /// Not at all.
    #[default]
    None,
    /// One line.
    Single,
    /// Two lines.
    Double,
    /// A wave.
    Curl,
    /// Dots.
    Dotted,
    /// Dashes.
    Dashed,
}

/// Colors and attributes of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Style {
    /// Foreground color.
    pub fg: Color,
    /// Background color.
    pub bg: Color,
    pub bold: bool,
    /// Dim, also called faint.
    pub dim: bool,
    pub italic: bool,
    /// Foreground and background exchanged.
    pub inverse: bool,
    /// Concealed.
    pub hidden: bool,
    /// Struck through.
    pub strikeout: bool,
    /// A line above.
    pub overline: bool,
    /// Underline style.
    pub underline: Underline,
    /// Color of the underline, if it differs from the text.
    pub underline_color: Option<Color>,
    /// Target of a hyperlink.
    pub link: Option<Arc<str>>,
}

/// How much room the character of a cell takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// One column.
    Narrow,
    /// Two columns; the next cell is its continuation.
    Wide,
    /// The second column of a wide character.
    Continuation,
}

/// One cell of the screen, borrowed from a snapshot.
#[derive(Clone, Copy)]
pub struct CellRef<'a>(pub(crate) &'a EngineCell);

impl CellRef<'_> {
    /// Appends the text of the cell: nothing for untouched, erased and continuation cells.
    pub fn push_text(&self, out: &mut String) {
        let cell = self.0;
        if cell.flags.intersects(Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER) {
            return;
        }
        match cell.c {
            ' ' | '\t' if !cell.flags.contains(WRITTEN) => return,
            '\t' => out.push(' '),
            c => out.push(c),
        }
        if let Some(extra) = cell.zerowidth() {
            out.extend(extra);
        }
    }

    /// The text of the cell as an owned string.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.push_text(&mut out);
        out
    }

    /// Appends what the cell shows: its character, or a space where there is none.
    pub fn push_shown(&self, out: &mut String) {
        let before = out.len();
        self.push_text(out);
        if out.len() == before {
            out.push(' ');
        }
    }

    /// What the cell shows as an owned string.
    pub fn shown(&self) -> String {
        let mut out = String::new();
        self.push_shown(&mut out);
        out
    }

    /// How much room its character takes.
    pub fn width(&self) -> Width {
        if self.0.flags.contains(Flags::WIDE_CHAR) {
            Width::Wide
        } else if self.0.flags.contains(Flags::WIDE_CHAR_SPACER) {
            Width::Continuation
        } else {
            Width::Narrow
        }
    }

    /// Whether two cells look the same, so that a style need not be computed again.
    pub fn same_style(&self, other: &CellRef<'_>) -> bool {
        const SHAPE: Flags = Flags::WIDE_CHAR
            .union(Flags::WIDE_CHAR_SPACER)
            .union(Flags::LEADING_WIDE_CHAR_SPACER)
            .union(Flags::WRAPLINE)
            .union(WRITTEN);
        self.0.fg == other.0.fg
            && self.0.bg == other.0.bg
            && self.0.flags.difference(SHAPE) == other.0.flags.difference(SHAPE)
            && self.0.extra.is_none()
            && other.0.extra.is_none()
    }

    /// Colors and attributes.
    pub fn style(&self) -> Style {
        let cell = self.0;
        let has = |flag| cell.flags.contains(flag);
        Style {
            fg: color(cell.fg),
            bg: color(cell.bg),
            bold: has(Flags::BOLD),
            dim: has(Flags::DIM),
            italic: has(Flags::ITALIC),
            inverse: has(Flags::INVERSE),
            hidden: has(Flags::HIDDEN),
            strikeout: has(Flags::STRIKEOUT),
            overline: row::has_overline(cell.flags),
            underline: underline(row::without_overline(cell.flags)),
            underline_color: cell.extra.as_ref().and_then(|_| cell.underline_color()).map(color),
            link: row::link_of(cell),
        }
    }
}

fn underline(flags: Flags) -> Underline {
    [
        (Flags::UNDERLINE, Underline::Single),
        (Flags::DOUBLE_UNDERLINE, Underline::Double),
        (Flags::UNDERCURL, Underline::Curl),
        (Flags::DOTTED_UNDERLINE, Underline::Dotted),
        (Flags::DASHED_UNDERLINE, Underline::Dashed),
    ]
    .into_iter()
    .find(|(flag, _)| flags.contains(*flag))
    .map_or(Underline::None, |(_, underline)| underline)
}

fn color(color: EngineColor) -> Color {
    match color {
        EngineColor::Named(NamedColor::Foreground | NamedColor::Background) => Color::Default,
        EngineColor::Named(name) => {
            u8::try_from(name as usize).map_or(Color::Default, Color::Indexed)
        }
        EngineColor::Indexed(index) => Color::Indexed(index),
        EngineColor::Spec(rgb) => Color::Rgb(rgb.r, rgb.g, rgb.b),
    }
}
