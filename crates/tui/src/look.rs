//! How things look: pens and lines.

use rookery_face::words::Signs;
use rookery_view::link::{Hex, Mood, Theme, attr};

use crate::canvas::{Ink, Pen};
use crate::out::Depth;

/// Which colors are painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorMode {
    /// The resolved colors of the theme.
    Theme,
    /// The program's own indices and the terminal's defaults.
    Terminal,
}

/// Signs and pens for one frame.
#[derive(Clone, Debug)]
pub struct Look {
    /// Which colors.
    pub mode: ColorMode,
    /// Signs that the terminal shows.
    pub signs: Signs,
    /// No lines drawn, one column of text.
    pub plain: bool,
    theme: Theme,
    has_color: bool,
}

impl Look {
    /// The look in a surrounding. `colors` is the setting `tui-colors`.
    pub fn new(theme: Option<&Theme>, colors: &str, depth: Depth, utf8: bool, plain: bool) -> Look {
        let theme = theme.cloned().unwrap_or_default();
        let mode = match colors {
            "theme" => ColorMode::Theme,
            "terminal" | "none" => ColorMode::Terminal,
            _ if depth == Depth::True => ColorMode::Theme,
            _ => ColorMode::Terminal,
        };
        // A theme that has not come yet is no theme.
        let mode = if theme.named.len() < 16 { ColorMode::Terminal } else { mode };
        let signs = Signs { utf8 };
        Look { mode, signs, plain, theme, has_color: depth != Depth::None && colors != "none" }
    }

    /// The depth that a setting allows.
    pub fn depth(colors: &str, depth: Depth) -> Depth {
        if colors == "none" { Depth::None } else { depth }
    }

    fn hex(color: Hex) -> Ink {
        let (r, g, b) = color.0;
        Ink::Rgb(r, g, b)
    }

    fn named(&self, index: u8) -> Ink {
        match self.mode {
            ColorMode::Theme => self
                .theme
                .named
                .get(usize::from(index))
                .map_or(Ink::Index(index), |color| Look::hex(*color)),
            ColorMode::Terminal => Ink::Index(index),
        }
    }

    /// Plain text.
    pub fn text(&self) -> Pen {
        match self.mode {
            ColorMode::Theme => {
                Pen::new(Look::hex(self.theme.foreground), Look::hex(self.theme.background))
            }
            ColorMode::Terminal => Pen::default(),
        }
    }

    /// What matters less.
    pub fn dim(&self) -> Pen {
        match self.mode {
            ColorMode::Theme => {
                self.text().inked(mix(self.theme.foreground, self.theme.background))
            }
            ColorMode::Terminal => Pen::default().with(attr::DIM),
        }
    }

    /// What matters more.
    pub fn bold(&self) -> Pen {
        self.text().with(attr::BOLD)
    }

    /// The selected row of a list.
    pub fn selected(&self) -> Pen {
        if !self.has_color {
            return self.text().with(attr::INVERSE);
        }
        match self.mode {
            ColorMode::Theme => self.text().on(Look::hex(self.theme.selection)),
            ColorMode::Terminal => Pen::default().with(attr::INVERSE),
        }
    }

    /// Bars above and below.
    pub fn bar(&self) -> Pen {
        match self.mode {
            ColorMode::Theme => {
                let (ink, ground) = (self.theme.foreground, self.theme.background);
                self.text().on(blend(ground, ink, 10))
            }
            ColorMode::Terminal => Pen::default(),
        }
    }

    /// Keys in hints, the focused pane's line, the active tab.
    pub fn accent(&self) -> Pen {
        match self.mode {
            ColorMode::Theme => self.text().inked(Look::hex(self.theme.accent)).with(attr::BOLD),
            ColorMode::Terminal => Pen::default().inked(Ink::Index(6)).with(attr::BOLD),
        }
    }

    pub fn error(&self) -> Pen {
        self.text().inked(self.named(1)).with(attr::BOLD)
    }

    /// A line that was added.
    pub fn added(&self) -> Pen {
        self.text().inked(self.named(2))
    }

    /// A line that was removed.
    pub fn removed(&self) -> Pen {
        self.text().inked(self.named(1))
    }

    /// Selected cells of a terminal, matches of a search.
    pub fn marked(&self, pen: &mut Pen, is_current: bool) {
        if self.mode == ColorMode::Theme && self.has_color {
            pen.ground = if is_current { self.named(3) } else { Look::hex(self.theme.selection) };
            if is_current {
                pen.ink = Look::hex(self.theme.background);
            }
        } else {
            pen.attrs ^= attr::INVERSE;
            if is_current {
                pen.attrs |= attr::BOLD;
            }
        }
    }

    /// The pen of a mood.
    pub fn mood(&self, mood: Mood) -> Pen {
        let moods = &self.theme.moods;
        let (color, index) = match mood {
            Mood::Waiting => (moods.waiting, 3),
            Mood::Failed => (moods.failed, 1),
            Mood::Working => (moods.working, 4),
            Mood::Done => (moods.done, 2),
            Mood::Quiet => return self.dim(),
        };
        match self.mode {
            ColorMode::Theme => self.text().inked(Look::hex(color)),
            ColorMode::Terminal => Pen::default().inked(Ink::Index(index)),
        }
        .with(attr::BOLD)
    }

    /// The line between two panes, and below a bar.
    pub fn line(&self, is_upright: bool) -> &'static str {
        match (is_upright, self.signs.utf8 && !self.plain) {
            _ if self.plain => " ",
            (true, true) => "│",
            (false, true) => "─",
            (true, false) => "|",
            (false, false) => "-",
        }
    }

    /// Dots where a terminal has no cells.
    pub fn dot(&self) -> &'static str {
        if self.signs.utf8 && !self.plain { "·" } else { "." }
    }
}

fn mix(a: Hex, b: Hex) -> Ink {
    blend(b, a, 55)
}

/// `a` mixed with a percentage of `b`.
fn blend(a: Hex, b: Hex, percent: u16) -> Ink {
    let part = |a: u8, b: u8| {
        let sum = u16::from(a) * (100 - percent) + u16::from(b) * percent;
        u8::try_from(sum / 100).unwrap_or(u8::MAX)
    };
    Ink::Rgb(part(a.0.0, b.0.0), part(a.0.1, b.0.1), part(a.0.2, b.0.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mood_has_its_own_sign() {
        for utf8 in [true, false] {
            let look = Look::new(None, "none", Depth::None, utf8, false);
            let moods = [Mood::Waiting, Mood::Failed, Mood::Working, Mood::Done, Mood::Quiet];
            let signs: std::collections::BTreeSet<_> = moods.map(|mood| look.signs.of(mood)).into();
            assert_eq!(signs.len(), 5);
        }
    }
}
