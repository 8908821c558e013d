//! Modes of the outer terminal: what is switched on when the face begins, and exactly undone on
//! every way out.

/// Asked at the start: the kitty keyboard protocol's flags, then who the terminal is. Every
/// terminal answers the second, so silence on the first is an answer too.
pub const QUESTIONS: &str = "\x1b[?u\x1b[c";

/// What is switched on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// Buttons and drags of the mouse are reported.
    pub mouse: bool,
    /// Every motion of the mouse is.
    pub motion: bool,
    /// Flags of the kitty keyboard protocol, if it is used.
    pub kitty: Option<u8>,
    /// Whether the title is ours to restore.
    pub title: bool,
}

impl Modes {
    /// Enters the face's own screen. Wrapping is off, so that no cell in the last column can move
    /// anything.
    pub fn enter(&self) -> String {
        let mut out = String::new();
        if self.title {
            out.push_str("\x1b[22;0t");
        }
        out.push_str("\x1b[?1049h\x1b[?7l\x1b[?2004h\x1b[?1004h");
        if self.mouse {
            out.push_str("\x1b[?1002h\x1b[?1006h");
        }
        if let Some(flags) = self.kitty {
            out.push_str(&format!("\x1b[>{flags}u"));
        }
        out
    }

    /// What changes from these modes to others while the face is shown.
    pub fn change(&self, to: &Modes) -> String {
        let mut out = String::new();
        if self.mouse != to.mouse {
            out.push_str(if to.mouse {
                "\x1b[?1002h\x1b[?1006h"
            } else {
                "\x1b[?1006l\x1b[?1002l"
            });
        }
        if self.motion != to.motion {
            out.push_str(if to.motion { "\x1b[?1003h" } else { "\x1b[?1003l\x1b[?1002h" });
        }
        match (self.kitty, to.kitty) {
            (Some(old), Some(new)) if old != new => out.push_str(&format!("\x1b[={new};1u")),
            (None, Some(new)) => out.push_str(&format!("\x1b[>{new}u")),
            (Some(_), None) => out.push_str("\x1b[<u"),
            _ => {}
        }
        out
    }

    /// Leaves everything as it was. Also right if only a part had been switched on.
    pub fn leave(&self) -> String {
        let mut out = String::from("\x1b[?2026l");
        if self.kitty.is_some() {
            out.push_str("\x1b[<u");
        }
        out.push_str("\x1b[?1003l\x1b[?1006l\x1b[?1002l\x1b[?1004l\x1b[?2004l\x1b[0m\x1b[0 q");
        out.push_str("\x1b[?7h\x1b[?25h\x1b[?1049l");
        if self.title {
            out.push_str("\x1b[23;0t");
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rookery_term::{MemoryBlocks, NoTranscript, Palette, Screen, ScreenConfig, ScreenSize};

    use super::*;

    #[test]
    fn leaving_restores_every_mode() {
        let size = ScreenSize::new(24, 80);
        let config = ScreenConfig { size, scrollback: 10, palette: Palette::default() };
        let mut screen = Screen::new(config, Box::new(MemoryBlocks::default()));
        screen.feed(b"$ rookery tui\r\n", &NoTranscript, Duration::ZERO);
        let (before, text) = (screen.modes(), screen.plain_text());
        let mut modes = Modes { mouse: true, motion: false, kitty: Some(1), title: true };
        screen.feed(modes.enter().as_bytes(), &NoTranscript, Duration::ZERO);
        assert_ne!(screen.modes(), before);
        let more = Modes { motion: true, kitty: Some(31), ..modes };
        screen.feed(modes.change(&more).as_bytes(), &NoTranscript, Duration::ZERO);
        modes = more;
        screen.feed(modes.leave().as_bytes(), &NoTranscript, Duration::ZERO);
        assert_eq!(screen.modes(), before);
        assert_eq!(screen.plain_text(), text);
        assert!(screen.cursor().visible);
    }
}
