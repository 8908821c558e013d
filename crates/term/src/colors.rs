//! The colors a terminal shows now: what its program set, over the theme.
//!
//! One place decides what a styled cell looks like, for painters and descriptions.

use std::fmt::Write as _;

use crate::cell::{Color, Style};
use crate::palette::Palette;

/// Red, green and blue.
pub type Rgb = (u8, u8, u8);

/// Index of the text color, behind the 256 of the palette.
pub(crate) const FOREGROUND: usize = 256;
pub(crate) const BACKGROUND: usize = 257;
pub(crate) const CURSOR: usize = 258;
/// How many colors a program can set.
pub(crate) const COUNT: usize = 259;

/// The live colors of a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colors {
    theme: Palette,
    /// What the program set.
    set: [Option<Rgb>; COUNT],
    /// What shows.
    live: [Rgb; COUNT],
}

/// What a cell looks like once theme, program and attributes are taken into account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Text color after bold and inverse.
    pub fg: Rgb,
    /// Background color after inverse.
    pub bg: Rgb,
    /// Whether the background was asked for, by a color or by inverse.
    pub has_explicit_bg: bool,
    /// What to paint the text with: `fg`, faded if the cell is dim, `bg` if it is hidden.
    pub ink: Rgb,
}

impl Resolved {
    /// Black on black, with nothing asked for.
    pub const BLANK: Resolved =
        Resolved { fg: (0, 0, 0), bg: (0, 0, 0), has_explicit_bg: false, ink: (0, 0, 0) };
}

impl Colors {
    /// The colors of a theme, before a program set any.
    pub fn new(theme: Palette) -> Colors {
        let live = std::array::from_fn(|index| theme.rgb(index));
        Colors { theme, set: [None; COUNT], live }
    }

    /// What a cell of this style looks like.
    pub fn resolve(&self, style: &Style) -> Resolved {
        let bold = if style.bold { self.theme.bold } else { None };
        let mut fg = match style.fg {
            Color::Default => bold.unwrap_or(self.foreground()),
            color => self.color(color, self.foreground()),
        };
        let mut bg = self.color(style.bg, self.background());
        if style.inverse {
            std::mem::swap(&mut fg, &mut bg);
        }
        let ink = match (style.hidden, style.dim) {
            (true, _) => bg,
            (false, true) => faded(fg, bg),
            (false, false) => fg,
        };
        let has_explicit_bg = style.inverse || style.bg != Color::Default;
        Resolved { fg, bg, has_explicit_bg, ink }
    }

    /// The color of an underline, which is the text's unless it has one of its own.
    pub fn underline(&self, style: &Style) -> Rgb {
        let ink = self.resolve(style).ink;
        style.underline_color.map_or(ink, |color| self.color(color, ink))
    }

    /// A color as a program asked for it; `default` stands for the default color.
    pub fn color(&self, color: Color, default: Rgb) -> Rgb {
        match color {
            Color::Default => default,
            Color::Indexed(index) => self.indexed(index),
            Color::Rgb(r, g, b) => (r, g, b),
        }
    }

    /// An entry of the 256-color palette.
    pub fn indexed(&self, index: u8) -> Rgb {
        self.live[usize::from(index)]
    }

    /// The text color.
    pub fn foreground(&self) -> Rgb {
        self.live[FOREGROUND]
    }

    /// The background color.
    pub fn background(&self) -> Rgb {
        self.live[BACKGROUND]
    }

    /// The cursor color.
    pub fn cursor(&self) -> Rgb {
        self.live[CURSOR]
    }

    /// Background of selected text, if the theme has one.
    pub fn selection(&self) -> Option<Rgb> {
        self.theme.selection
    }

    /// The theme below what the program set.
    pub fn theme(&self) -> &Palette {
        &self.theme
    }

    /// Whether the program set a palette entry.
    pub fn is_set(&self, index: u8) -> bool {
        self.set[usize::from(index)].is_some()
    }

    pub(crate) fn rgb(&self, index: usize) -> Rgb {
        self.live.get(index).copied().unwrap_or_default()
    }

    /// The program sets a color; an index without one is passed over.
    pub(crate) fn set(&mut self, index: usize, color: Rgb) {
        if let Some(slot) = self.set.get_mut(index) {
            *slot = Some(color);
            self.live[index] = color;
        }
    }

    /// The program gives a color back to the theme.
    pub(crate) fn reset(&mut self, index: usize) {
        if let Some(slot) = self.set.get_mut(index) {
            *slot = None;
            self.live[index] = self.theme.rgb(index);
        }
    }

    /// Another theme; what the program set stays.
    pub(crate) fn set_theme(&mut self, theme: Palette) {
        self.live =
            std::array::from_fn(|index| self.set[index].unwrap_or_else(|| theme.rgb(index)));
        self.theme = theme;
    }

    /// What the program set, by index.
    pub(crate) fn program_set(&self) -> impl Iterator<Item = (usize, Rgb)> + '_ {
        self.set.iter().enumerate().filter_map(|(index, color)| Some((index, (*color)?)))
    }
}

/// Dim text: halfway towards what is behind it.
fn faded(fg: Rgb, bg: Rgb) -> Rgb {
    let mix = |front: u8, back: u8| u16::midpoint(u16::from(front), u16::from(back)) as u8;
    (mix(fg.0, bg.0), mix(fg.1, bg.1), mix(fg.2, bg.2))
}

/// A color as clients of every dialect know it: `#rrggbb`.
pub fn hex((r, g, b): Rgb) -> String {
    let mut out = String::with_capacity(7);
    let _ = write!(out, "#{r:02x}{g:02x}{b:02x}");
    out
}

/// Reads a color specification: `rgb:` with one to four hexadecimal digits a channel, or `#` with
/// three, six, nine or twelve digits.
pub fn parse_spec(spec: &str) -> Option<Rgb> {
    if let Some(digits) = spec.strip_prefix('#') {
        let width = digits.len() / 3;
        if !digits.is_ascii() || digits.len() % 3 != 0 {
            return None;
        }
        // A short form gives the high digits: `#fff` is not quite white in X11, but is everywhere else.
        return Some((
            channel(digits.get(..width)?)?,
            channel(digits.get(width..2 * width)?)?,
            channel(digits.get(2 * width..)?)?,
        ));
    }
    let mut parts = spec.strip_prefix("rgb:")?.split('/');
    let color = (channel(parts.next()?)?, channel(parts.next()?)?, channel(parts.next()?)?);
    parts.next().is_none().then_some(color)
}

/// One channel of one to four digits, scaled to eight bits.
fn channel(digits: &str) -> Option<u8> {
    if !(1..=4).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let value = u32::from_str_radix(digits, 16).ok()?;
    let max = (1 << (4 * digits.len())) - 1;
    u8::try_from((value * 255 + max / 2) / max).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn theme() -> Palette {
        Palette {
            foreground: (0xee, 0xee, 0xee),
            background: (0x10, 0x10, 0x10),
            bold: Some((0xff, 0xff, 0xff)),
            selection: Some((1, 2, 3)),
            ..Palette::default()
        }
    }

    fn resolve(style: Style) -> (String, String, bool) {
        let found = Colors::new(theme()).resolve(&style);
        (hex(found.fg), hex(found.bg), found.has_explicit_bg)
    }

    fn seen(fg: &str, bg: &str, explicit: bool) -> (String, String, bool) {
        (fg.to_owned(), bg.to_owned(), explicit)
    }

    #[test]
    fn a_style_resolves_to_what_is_seen() {
        let plain = Style::default();
        assert_eq!(resolve(plain.clone()), seen("#eeeeee", "#101010", false));
        let bold = Style { bold: true, ..plain.clone() };
        assert_eq!(resolve(bold.clone()), seen("#ffffff", "#101010", false));
        let colored = Style { fg: Color::Indexed(196), ..bold };
        assert_eq!(resolve(colored), seen("#ff0000", "#101010", false));
        let behind = Style { bg: Color::Indexed(244), ..plain.clone() };
        assert_eq!(resolve(behind), seen("#eeeeee", "#808080", true));
        let exact = Style { fg: Color::Rgb(1, 2, 3), bg: Color::Rgb(4, 5, 6), ..plain };
        assert_eq!(resolve(exact), seen("#010203", "#040506", true));
    }

    #[test]
    fn inverse_swaps_what_was_resolved() {
        let inverse = Style { inverse: true, ..Style::default() };
        assert_eq!(resolve(inverse.clone()), seen("#101010", "#eeeeee", true));
        let bold = Style { bold: true, ..inverse };
        assert_eq!(resolve(bold), seen("#101010", "#ffffff", true));
    }

    #[test]
    fn dim_and_hidden_change_only_the_ink() {
        let colors = Colors::new(theme());
        let dim = colors.resolve(&Style { dim: true, ..Style::default() });
        assert_eq!((hex(dim.fg).as_str(), hex(dim.ink).as_str()), ("#eeeeee", "#7f7f7f"));
        let hidden = colors.resolve(&Style { hidden: true, ..Style::default() });
        assert_eq!((hidden.fg, hidden.ink), ((0xee, 0xee, 0xee), hidden.bg));
        let plain = colors.resolve(&Style::default());
        assert_eq!(plain.ink, plain.fg);
    }

    #[test]
    fn what_a_program_set_survives_a_theme_and_a_reset_gives_it_back() {
        let mut colors = Colors::new(theme());
        colors.set(1, (9, 9, 9));
        colors.set(FOREGROUND, (8, 8, 8));
        colors.set(999, (7, 7, 7));
        colors.set_theme(Palette::default());
        assert_eq!((colors.indexed(1), colors.foreground()), ((9, 9, 9), (8, 8, 8)));
        assert_eq!(colors.background(), Palette::default().background);
        assert_eq!(colors.indexed(2), Palette::default().named[2]);
        assert!(colors.is_set(1) && !colors.is_set(2));
        colors.reset(1);
        colors.reset(FOREGROUND);
        colors.reset(999);
        assert_eq!(colors, Colors::new(Palette::default()));
    }

    #[test]
    fn the_ends_of_the_cube_and_the_grays_are_known() {
        let colors = Colors::new(theme());
        for (index, expected) in [
            (16, "#000000"),
            (17, "#00005f"),
            (18, "#000087"),
            (59, "#5f5f5f"),
            (145, "#afafaf"),
            (188, "#d7d7d7"),
            (231, "#ffffff"),
            (232, "#080808"),
            (255, "#eeeeee"),
        ] {
            assert_eq!(hex(colors.indexed(index)), expected, "{index}");
        }
    }

    #[test]
    fn specifications_are_read_exactly() {
        for (spec, expected) in [
            ("rgb:f/0/8", Some("#ff0088")),
            ("rgb:ff/00/80", Some("#ff0080")),
            ("rgb:fff/000/800", Some("#ff0080")),
            ("rgb:ffff/0000/8080", Some("#ff0080")),
            ("rgb:1e1e/FF/0", Some("#1eff00")),
            ("#fff", Some("#ffffff")),
            ("#1e2a3b", Some("#1e2a3b")),
            ("#1E2A3B", Some("#1e2a3b")),
            ("#fff000800", Some("#ff0080")),
            ("#1e1e2a2a3b3b", Some("#1e2a3b")),
            ("#ffff", None),
            ("#", None),
            ("#ffffffffffffffff", None),
            ("#ffffffffffffffffff", None),
            ("#+f+f+f", None),
            ("#ééé", None),
            ("rgb:ff/00", None),
            ("rgb:ff/00/00/00", None),
            ("rgb:fffff/0/0", None),
            ("rgb://", None),
            ("rgba:ff/00/00/00", None),
            ("red", None),
            ("", None),
        ] {
            assert_eq!(parse_spec(spec).map(hex).as_deref(), expected, "{spec:?}");
        }
    }
}
