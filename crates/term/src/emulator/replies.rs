//! Answers to what programs ask their terminal.

use alacritty_terminal::term::TermMode;
use alacritty_terminal::vte::ansi::{Mode, NamedMode, NamedPrivateMode, PrivateMode};

use super::Emulator;

/// Cell size in pixels that we report when no painter told us one.
const DEFAULT_CELL: (u16, u16) = (8, 16);

impl Emulator {
    /// DA1: a VT102, as the engine behaves. DA2: our version as one number.
    pub(super) fn reply_identity(&mut self, intermediate: Option<char>) {
        match intermediate {
            None => self.reply("\x1b[?6c"),
            Some('>') => self.reply(&format!("\x1b[>0;{};1c", version_number())),
            Some(_) => {}
        }
    }

    /// XTVERSION.
    pub(crate) fn reply_version(&mut self) {
        self.reply(concat!("\x1bP>|rookery ", env!("CARGO_PKG_VERSION"), "\x1b\\"));
    }

    pub(super) fn reply_status(&mut self, what: usize) {
        match what {
            5 => self.reply("\x1b[0n"),
            6 => {
                let point = self.term.grid().cursor.point;
                self.reply(&format!("\x1b[{};{}R", point.line.0 + 1, point.column.0 + 1));
            }
            _ => {}
        }
    }

    pub(super) fn reply_mode(&mut self, mode: Mode) {
        let state = match mode {
            Mode::Named(NamedMode::Insert) => {
                set_or_reset(self.term.mode().contains(TermMode::INSERT))
            }
            Mode::Named(NamedMode::LineFeedNewLine) => {
                set_or_reset(self.term.mode().contains(TermMode::LINE_FEED_NEW_LINE))
            }
            Mode::Unknown(_) => 0,
        };
        self.reply(&format!("\x1b[{};{state}$y", mode.raw()));
    }

    pub(super) fn reply_private_mode(&mut self, mode: PrivateMode) {
        let state = self.private_mode_state(mode);
        self.reply(&format!("\x1b[?{};{state}$y", mode.raw()));
    }

    fn private_mode_state(&self, mode: PrivateMode) -> u8 {
        let flag = match mode {
            PrivateMode::Unknown(47 | 1047) => TermMode::ALT_SCREEN,
            PrivateMode::Unknown(_) => return 0,
            PrivateMode::Named(name) => match name {
                NamedPrivateMode::CursorKeys => TermMode::APP_CURSOR,
                NamedPrivateMode::Origin => TermMode::ORIGIN,
                NamedPrivateMode::LineWrap => TermMode::LINE_WRAP,
                NamedPrivateMode::ShowCursor => TermMode::SHOW_CURSOR,
                NamedPrivateMode::ReportMouseClicks => TermMode::MOUSE_REPORT_CLICK,
                NamedPrivateMode::ReportCellMouseMotion => TermMode::MOUSE_DRAG,
                NamedPrivateMode::ReportAllMouseMotion => TermMode::MOUSE_MOTION,
                NamedPrivateMode::ReportFocusInOut => TermMode::FOCUS_IN_OUT,
                NamedPrivateMode::Utf8Mouse => TermMode::UTF8_MOUSE,
                NamedPrivateMode::SgrMouse => TermMode::SGR_MOUSE,
                NamedPrivateMode::AlternateScroll => TermMode::ALTERNATE_SCROLL,
                NamedPrivateMode::UrgencyHints => TermMode::URGENCY_HINTS,
                NamedPrivateMode::SwapScreenAndSetRestoreCursor => TermMode::ALT_SCREEN,
                NamedPrivateMode::BracketedPaste => TermMode::BRACKETED_PASTE,
                NamedPrivateMode::BlinkingCursor => {
                    return set_or_reset(
                        self.shadow.cursor_style.is_some_and(|style| style.blinking),
                    );
                }
                NamedPrivateMode::SyncUpdate => return 2,
                NamedPrivateMode::ColumnMode => return 0,
            },
        };
        set_or_reset(self.term.mode().contains(flag))
    }

    pub(super) fn reply_color(&mut self, prefix: &str, index: usize, terminator: &str) {
        let known = if index < alacritty_terminal::term::color::COUNT {
            self.term.colors()[index]
        } else {
            None
        };
        let color = known.unwrap_or_else(|| self.palette.rgb(index));
        let (r, g, b) = (color.r, color.g, color.b);
        self.reply(&format!(
            "\x1b]{prefix};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}{terminator}"
        ));
    }

    /// 14t: the text area in pixels.
    pub(super) fn reply_text_area_pixels(&mut self) {
        let (width, height) = self.cell_pixels();
        let (rows, cols) = (self.rows(), self.cols());
        self.reply(&format!(
            "\x1b[4;{};{}t",
            rows * usize::from(height),
            cols * usize::from(width)
        ));
    }

    /// 16t: one cell in pixels.
    pub(crate) fn reply_cell_pixels(&mut self) {
        let (width, height) = self.cell_pixels();
        self.reply(&format!("\x1b[6;{height};{width}t"));
    }

    fn cell_pixels(&self) -> (u16, u16) {
        let size = self.size;
        match (size.pixel_width / size.cols.max(1), size.pixel_height / size.rows.max(1)) {
            (0, _) | (_, 0) => DEFAULT_CELL,
            known => known,
        }
    }
}

fn set_or_reset(is_set: bool) -> u8 {
    if is_set { 1 } else { 2 }
}

fn version_number() -> u32 {
    let part = |text: &str| text.parse::<u32>().unwrap_or(0);
    part(env!("CARGO_PKG_VERSION_MAJOR")) * 10_000
        + part(env!("CARGO_PKG_VERSION_MINOR")) * 100
        + part(env!("CARGO_PKG_VERSION_PATCH"))
}
