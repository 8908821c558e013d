//! Colors as the outer terminal can show them.

use crate::canvas::Ink;

/// How many colors the outer terminal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// None: attributes only.
    None,
    /// 16.
    Few,
    /// 256.
    Palette,
    /// 24 bits.
    True,
}

impl Depth {
    /// What the environment says: `NO_COLOR`, `COLORTERM`, `TERM`.
    pub fn from_env(no_color: bool, colorterm: &str, term: &str) -> Depth {
        if no_color || term == "dumb" || term == "vt100" || term == "vt220" {
            Depth::None
        } else if matches!(colorterm, "truecolor" | "24bit") || term.contains("direct") {
            Depth::True
        } else if term.contains("256color") {
            Depth::Palette
        } else {
            Depth::Few
        }
    }

    /// An ink that this terminal has, nearest to the wanted one.
    pub fn reduce(self, ink: Ink) -> Ink {
        match (self, ink) {
            (Depth::None, _) => Ink::Default,
            (Depth::Palette, Ink::Rgb(r, g, b)) => Ink::Index(nearest_256((r, g, b))),
            (Depth::Few, Ink::Rgb(r, g, b)) => Ink::Index(nearest_16((r, g, b))),
            (Depth::Few, Ink::Index(index)) if index > 15 => {
                Ink::Index(nearest_16(rgb_of_index(index)))
            }
            (_, ink) => ink,
        }
    }
}

const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// xterm's 16 colors.
const NAMED: [(u8, u8, u8); 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    let part = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    part(a.0, b.0) + part(a.1, b.1) + part(a.2, b.2)
}

fn rgb_of_index(index: u8) -> (u8, u8, u8) {
    match index {
        0..=15 => NAMED[usize::from(index)],
        16..=231 => {
            let at = usize::from(index - 16);
            (LEVELS[at / 36], LEVELS[at / 6 % 6], LEVELS[at % 6])
        }
        _ => {
            let gray = 8 + 10 * (index - 232);
            (gray, gray, gray)
        }
    }
}

/// The nearest of the 240 colors that are the same everywhere.
pub fn nearest_256(rgb: (u8, u8, u8)) -> u8 {
    (16..=255).min_by_key(|index| distance(rgb, rgb_of_index(*index))).unwrap_or(16)
}

/// The nearest of the 16 named colors.
pub fn nearest_16(rgb: (u8, u8, u8)) -> u8 {
    (0..16).min_by_key(|index| distance(rgb, rgb_of_index(*index))).unwrap_or(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_decides() {
        assert_eq!(Depth::from_env(true, "truecolor", "xterm"), Depth::None);
        assert_eq!(Depth::from_env(false, "truecolor", "xterm"), Depth::True);
        assert_eq!(Depth::from_env(false, "", "xterm-256color"), Depth::Palette);
        assert_eq!(Depth::from_env(false, "", "linux"), Depth::Few);
        assert_eq!(Depth::from_env(false, "", "dumb"), Depth::None);
    }

    #[test]
    fn the_nearest_color_is_taken() {
        assert_eq!(nearest_256((255, 255, 255)), 231);
        assert_eq!(nearest_256((95, 135, 175)), 67);
        assert_eq!(nearest_256((8, 8, 8)), 232);
        assert_eq!(nearest_16((250, 10, 10)), 9);
        assert_eq!(Depth::Few.reduce(Ink::Index(196)), Ink::Index(9));
        assert_eq!(Depth::None.reduce(Ink::Index(1)), Ink::Default);
        assert_eq!(Depth::True.reduce(Ink::Rgb(1, 2, 3)), Ink::Rgb(1, 2, 3));
    }
}
