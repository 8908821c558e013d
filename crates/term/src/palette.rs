//! The colors a terminal reports when a program asks and has not set its own.

/// Default colors, as red, green, blue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Text color.
    pub foreground: (u8, u8, u8),
    /// Background color.
    pub background: (u8, u8, u8),
    /// Cursor color.
    pub cursor: (u8, u8, u8),
    /// The sixteen named colors.
    pub named: [(u8, u8, u8); 16],
    /// Color of bold text that has no color of its own.
    pub bold: Option<(u8, u8, u8)>,
    /// Background of selected text.
    pub selection: Option<(u8, u8, u8)>,
}

impl Default for Palette {
    fn default() -> Self {
        Palette {
            foreground: (0xd8, 0xdb, 0xe2),
            background: (0x16, 0x18, 0x1d),
            cursor: (0xd8, 0xdb, 0xe2),
            named: [
                (0x1d, 0x20, 0x27),
                (0xe0, 0x6c, 0x75),
                (0x8f, 0xc1, 0x7b),
                (0xe2, 0xb8, 0x6b),
                (0x6c, 0xa8, 0xee),
                (0xc5, 0x86, 0xd8),
                (0x5f, 0xbf, 0xc8),
                (0xb4, 0xba, 0xc6),
                (0x5c, 0x63, 0x70),
                (0xf0, 0x8a, 0x92),
                (0xa9, 0xd9, 0x96),
                (0xf0, 0xcf, 0x8e),
                (0x8e, 0xc0, 0xf7),
                (0xd9, 0xa5, 0xe8),
                (0x83, 0xd6, 0xde),
                (0xf0, 0xf2, 0xf5),
            ],
            bold: None,
            selection: None,
        }
    }
}

impl Palette {
    /// The color behind an engine index: 0 to 255 the palette, 256 text, 257 background, 258 cursor.
    pub(crate) fn rgb(&self, index: usize) -> (u8, u8, u8) {
        match index {
            0..=15 => self.named[index],
            16..=231 => {
                let step = |level: usize| if level == 0 { 0 } else { (level * 40 + 55) as u8 };
                let cube = index - 16;
                (step(cube / 36), step(cube / 6 % 6), step(cube % 6))
            }
            232..=255 => {
                let gray = ((index - 232) * 10 + 8) as u8;
                (gray, gray, gray)
            }
            257 => self.background,
            258 => self.cursor,
            _ => self.foreground,
        }
    }

    /// Whether the background is light: its luminance is above one half.
    pub fn is_light(&self) -> bool {
        let (r, g, b) = self.background;
        let weighted = 2126 * u32::from(r) + 7152 * u32::from(g) + 722 * u32::from(b);
        2 * weighted > 255 * 10_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cube_and_the_grays_are_xterms() {
        let palette = Palette::default();
        assert_eq!(palette.rgb(16), (0, 0, 0));
        assert_eq!(palette.rgb(231), (255, 255, 255));
        assert_eq!(palette.rgb(196), (255, 0, 0));
        assert_eq!(palette.rgb(232), (8, 8, 8));
    }

    #[test]
    fn a_light_background_is_distinguished_from_a_dark_one() {
        let with = |background| Palette { background, ..Palette::default() }.is_light();
        assert!(!with((0, 0, 0)) && !with((0x1e, 0x1e, 0x1e)) && !with((127, 127, 127)));
        assert!(with((128, 128, 128)) && with((255, 255, 255)) && with((0, 200, 0)));
        assert!(!with((255, 0, 255)));
    }
}
