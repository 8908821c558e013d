//! Answers to what programs ask their terminal.

use alacritty_terminal::term::TermMode;
use alacritty_terminal::vte::ansi::{Mode, NamedMode, NamedPrivateMode, PrivateMode};

use super::Emulator;

/// Cell size in pixels that we report when no painter reported one.
const DEFAULT_CELL: (u16, u16) = (8, 16);

impl Emulator {
    /// DA1: a VT220 with color. DA2: our version as one number. DA3: no unit of its own.
    pub(super) fn reply_identity(&mut self, intermediate: Option<char>) {
        match intermediate {
            None => self.reply("\x1b[?62;22c"),
            Some('>') => self.reply(&format!("\x1b[>0;{};1c", version_number())),
            Some('=') => self.reply("\x1bP!|00000000\x1b\\"),
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
            PrivateMode::Unknown(2031) => return set_or_reset(self.shadow.wants_theme),
            PrivateMode::Unknown(2048) => return set_or_reset(self.shadow.wants_size),
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

    /// A color as it was before this chunk; ended by BEL however the question ended.
    pub(super) fn reply_color(&mut self, prefix: &str, index: usize) {
        let (r, g, b) = self.told_colors.rgb(index);
        self.reply(&format!("\x1b]{prefix};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}\x07"));
    }

    /// 21t: always an empty title. What is answered is typed into whatever reads the terminal next, so
    /// a program that sets a title and asks for it could type what it chose into the person's shell.
    pub(crate) fn reply_title(&mut self) {
        self.reply("\x1b]l\x1b\\");
    }

    /// Mode 2048: the size in cells and pixels.
    pub(crate) fn reply_size(&mut self) {
        let (width, height) = self.cell_pixels();
        let (rows, cols) = (self.rows(), self.cols());
        let (tall, wide) = (rows * usize::from(height), cols * usize::from(width));
        self.reply(&format!("\x1b[48;{rows};{cols};{tall};{wide}t"));
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
