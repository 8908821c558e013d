//! Themes: names and colors, built in and the user's own.
//!
//! A theme is a short text of `key = value` lines. The code that reads the user's directory hands the
//! texts in; this module reads no files.

mod builtin;

use std::collections::BTreeMap;

use rookery_term::Palette;

use crate::scene::Rgb;
use crate::settings::{Warning, line};

/// The theme that fills what others leave out, and stands in for unknown names.
pub const DEFAULT_THEME: &str = "roost-dark";

/// A larger file is no theme and need not be read.
pub const MOST_BYTES: usize = 64 * 1024;
/// The maximum number of the user's own themes.
pub const MOST_USER_THEMES: usize = 1000;

/// A set of colors under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Its name as users write it.
    pub name: String,
    /// Its colors.
    pub palette: Palette,
}

impl Theme {
    /// The theme everything falls back to.
    pub fn fallback() -> Self {
        Self { name: DEFAULT_THEME.to_owned(), palette: builtin::fallback_palette() }
    }

    /// Reads a theme. What the text leaves out or gets wrong comes from [`Theme::fallback`].
    pub fn parse(name: &str, text: &str) -> (Self, Vec<Warning>) {
        let mut theme = Self { name: name.to_owned(), ..Self::fallback() };
        let mut warnings = Vec::new();
        for (number, entry) in line::entries(text) {
            let done = match entry {
                Ok(entry) => theme.apply(entry.key, entry.unquoted()),
                Err(error) => Err(error),
            };
            if let Err(message) = done {
                Warning::push(&mut warnings, number, message);
            }
        }
        (theme, warnings)
    }

    fn apply(&mut self, key: &str, value: &str) -> Result<(), String> {
        let palette = &mut self.palette;
        match key {
            "palette" => return self.apply_named(value),
            "background" => palette.background = color(value)?,
            "foreground" => palette.foreground = color(value)?,
            "cursor-color" => palette.cursor = color(value)?,
            "bold-color" => palette.bold = Some(color(value)?),
            "selection-background" => palette.selection = Some(color(value)?),
            _ => {}
        }
        Ok(())
    }

    /// `N=#rrggbb`. Colors above 15 are the same in every terminal here, so they are passed over.
    fn apply_named(&mut self, value: &str) -> Result<(), String> {
        let (index, rgb) =
            value.split_once('=').ok_or("a palette line is `palette = N=#rrggbb`")?;
        let index: u8 = index
            .trim()
            .parse()
            .map_err(|_| "a palette index is a number from 0 to 255".to_owned())?;
        let rgb = color(rgb.trim())?;
        if let Some(named) = self.palette.named.get_mut(usize::from(index)) {
            *named = rgb;
        }
        Ok(())
    }

    /// Whether its background is light, by luminance above one half.
    pub fn is_light(&self) -> bool {
        let (red, green, blue) = self.palette.background;
        let luminance =
            0.2126 * f64::from(red) + 0.7152 * f64::from(green) + 0.0722 * f64::from(blue);
        luminance / 255.0 > 0.5
    }
}

/// Reads `#rrggbb`, `#rgb`, either also without the sign.
fn color(text: &str) -> Result<Rgb, String> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    let bad = || "a color is written `#rrggbb`".to_owned();
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(bad());
    }
    let number = u32::from_str_radix(digits, 16).map_err(|_| bad())?;
    let byte = |shift: u32| (number >> shift & 0xff) as u8;
    let nibble = |shift: u32| (number >> shift & 0xf) as u8 * 0x11;
    match digits.len() {
        6 => Ok((byte(16), byte(8), byte(0))),
        3 => Ok((nibble(8), nibble(4), nibble(0))),
        _ => Err(bad()),
    }
}

/// All themes there are. Names are compared without case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Themes {
    by_name: BTreeMap<String, Theme>,
}

impl Default for Themes {
    fn default() -> Self {
        Self::new([])
    }
}

impl Themes {
    /// The built-in themes with the user's `(name, text)` pairs over them.
    pub fn new<'a>(user: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut by_name = BTreeMap::new();
        for (name, text) in
            builtin::TEXTS.iter().copied().chain(user.into_iter().take(MOST_USER_THEMES))
        {
            by_name.insert(fold(name), Theme::parse(name, text).0);
        }
        Self { by_name }
    }

    /// The theme of this name, if there is one.
    pub fn find(&self, name: &str) -> Option<&Theme> {
        self.by_name.get(&fold(name))
    }

    /// The theme of this name, else the default one.
    pub fn get(&self, name: &str) -> Theme {
        let found = self.find(name).or_else(|| self.find(DEFAULT_THEME));
        found.cloned().unwrap_or_else(Theme::fallback)
    }

    /// All names, sorted without case.
    pub fn names(&self) -> Vec<String> {
        self.by_name.values().map(|theme| theme.name.clone()).collect()
    }
}

fn fold(name: &str) -> String {
    name.trim().to_lowercase()
}

#[cfg(test)]
mod tests;
