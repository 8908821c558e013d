//! Numbers for styles and links: what a row says instead of colors.
//!
//! Numbers are counted for the whole viewer, but each terminal has a table of its own, because the same
//! style comes to other colors where a program has set some.

use std::collections::HashMap;
use std::sync::Arc;

use rookery_term::{Color, Colors, Style as Asked, Underline};

use super::super::{Hex, RawStyle, Style, Tint, attr, bound};

/// Bytes of a style on the wire, about.
const STYLE_WEIGHT: usize = 64;
/// Bytes of a link on the wire beside its address, about.
const LINK_WEIGHT: usize = 12;

/// Where the next numbers come from.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    styles: u32,
    links: u32,
    /// Whether a style or a link was needed and there was no number left.
    overflowed: bool,
}

impl Numbers {
    /// Whether the tables are used up; all terminals begin anew then.
    pub(super) fn are_used_up(&self) -> bool {
        self.overflowed
    }

    /// What got no number is shown without it.
    pub(super) fn do_without(&mut self) {
        self.overflowed = false;
    }
}

/// The styles and links of one terminal that a viewer knows.
#[derive(Debug, Default)]
pub(super) struct Table {
    ids: HashMap<RawStyle, u32>,
    links: HashMap<Arc<str>, u32>,
    /// Since the last entry.
    pub(super) new_styles: Vec<Style>,
    pub(super) new_links: Vec<(u32, String)>,
    /// Whether the terminal's own default colors were sent, as style 0.
    has_default: bool,
}

impl Table {
    /// The number of a style, which may be new. Without numbers left a style looks like the default.
    pub(super) fn id(&mut self, asked: &Asked, colors: &Colors, numbers: &mut Numbers) -> u32 {
        if *asked == Asked::default() {
            return 0;
        }
        let raw = RawStyle { l: self.link(asked, numbers), ..raw_style(asked) };
        if let Some(id) = self.ids.get(&raw) {
            return *id;
        }
        if numbers.styles as usize >= bound::STYLES {
            numbers.overflowed = true;
            return 0;
        }
        numbers.styles += 1;
        let id = numbers.styles;
        self.ids.insert(raw, id);
        self.new_styles.push(resolved(id, raw, colors));
        id
    }

    fn link(&mut self, asked: &Asked, numbers: &mut Numbers) -> Option<u32> {
        let uri = asked.link.as_ref()?;
        if let Some(id) = self.links.get(uri) {
            return Some(*id);
        }
        // A text without its link is better than no text.
        if uri.len() > bound::LINK_BYTES {
            return None;
        }
        if numbers.links as usize >= bound::LINKS {
            numbers.overflowed = true;
            return None;
        }
        numbers.links += 1;
        self.links.insert(Arc::clone(uri), numbers.links);
        self.new_links.push((numbers.links, uri.to_string()));
        Some(numbers.links)
    }

    /// Bytes that what is new takes on the wire, about.
    pub(super) fn weight(&self) -> usize {
        let links = self.new_links.iter().map(|(_, uri)| uri.len() + LINK_WEIGHT);
        self.new_styles.len() * STYLE_WEIGHT + links.sum::<usize>()
    }

    /// Every style anew, because the colors are others.
    pub(super) fn recolor(&mut self, colors: &Colors) {
        self.new_styles = self.ids.iter().map(|(raw, id)| resolved(*id, *raw, colors)).collect();
        self.new_styles.sort_by_key(|style| style.id);
        self.own_default(colors);
    }

    /// Style 0 is the theme's, unless the program set these colors itself.
    pub(super) fn own_default(&mut self, colors: &Colors) {
        let theme = colors.theme();
        let is_own =
            (colors.foreground(), colors.background()) != (theme.foreground, theme.background);
        if is_own || self.has_default {
            self.new_styles.insert(0, resolved(0, RawStyle::default(), colors));
        }
        self.has_default |= is_own;
    }
}

/// The colors that a style comes to.
fn resolved(id: u32, raw: RawStyle, colors: &Colors) -> Style {
    let found = colors.resolve(&asked_style(raw));
    Style { id, raw, ink: Hex(found.ink), ground: Hex(found.bg) }
}

fn raw_style(asked: &Asked) -> RawStyle {
    let bits = [
        (attr::BOLD, asked.bold),
        (attr::DIM, asked.dim),
        (attr::ITALIC, asked.italic),
        (attr::INVERSE, asked.inverse),
        (attr::HIDDEN, asked.hidden),
        (attr::STRIKEOUT, asked.strikeout),
        (attr::OVERLINE, asked.overline),
    ];
    RawStyle {
        f: tint(asked.fg),
        b: tint(asked.bg),
        a: bits.into_iter().filter(|(_, on)| *on).map(|(bit, _)| bit).sum(),
        u: match asked.underline {
            Underline::None => 0,
            Underline::Single => 1,
            Underline::Double => 2,
            Underline::Curl => 3,
            Underline::Dotted => 4,
            Underline::Dashed => 5,
        },
        uc: asked.underline_color.and_then(tint),
        l: None,
    }
}

fn tint(color: Color) -> Option<Tint> {
    match color {
        Color::Default => None,
        Color::Indexed(index) => Some(Tint::Index(index)),
        Color::Rgb(red, green, blue) => Some(Tint::Rgb(Hex((red, green, blue)))),
    }
}

/// As much of a style as its colors depend on.
fn asked_style(raw: RawStyle) -> Asked {
    let color = |tint: Option<Tint>| match tint {
        None => Color::Default,
        Some(Tint::Index(index)) => Color::Indexed(index),
        Some(Tint::Rgb(Hex((red, green, blue)))) => Color::Rgb(red, green, blue),
    };
    Asked {
        fg: color(raw.f),
        bg: color(raw.b),
        bold: raw.a & attr::BOLD != 0,
        dim: raw.a & attr::DIM != 0,
        inverse: raw.a & attr::INVERSE != 0,
        hidden: raw.a & attr::HIDDEN != 0,
        ..Asked::default()
    }
}
