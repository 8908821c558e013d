//! The emulator: the one module that owns the engine crate's terminal.
//!
//! It keeps beside the engine what the engine does not let out again (scroll
//! region, tab stops, titles, keyboard stacks), moves rows that scroll off into
//! our own history, and lets watchers look before anything is destroyed.

mod context;
mod dirty;
mod handler;
mod notifications;
mod print;
mod prompts;
mod reflow;
mod replies;
mod resize;
mod sgr;
mod shadow;
mod stamps;
mod words;

use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::Line;
use alacritty_terminal::term::cell::Cell;
use alacritty_terminal::term::{Config, Term, TermMode};
use alacritty_terminal::vte::ansi::CursorShape as EngineShape;

pub(crate) use context::FeedContext;
use dirty::Dirty;
use notifications::Notification;
pub(crate) use prompts::Prompts;
pub(crate) use resize::row_of;
pub(crate) use shadow::Shadow;
use stamps::Stamps;

use crate::colors::Colors;
use crate::history::History;
use crate::palette::Palette;
use crate::row::{self, WRITTEN};
use crate::screen::{ScreenEvent, ScreenSize};
use crate::snapshot::{Cursor, CursorShape, Detail, MAX_ABOVE, Modes, Snapshot};
use crate::tally::Tally;
use crate::watch::WatchSet;

pub(crate) type EngineTerm = Term<VoidListener>;

/// The engine's idea of a size.
pub(crate) struct Dims {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
}

impl Dimensions for Dims {
    fn total_lines(&self) -> usize {
        self.rows
    }
    fn screen_lines(&self) -> usize {
        self.rows
    }
    fn columns(&self) -> usize {
        self.cols
    }
}

/// The terminal state proper.
pub(crate) struct Emulator {
    pub(crate) term: EngineTerm,
    pub(crate) history: History,
    pub(crate) shadow: Shadow,
    pub(crate) size: ScreenSize,
    pub(crate) colors: Arc<Colors>,
    /// The colors as they were before the chunk being fed: the answer to a program's query.
    pub(crate) told_colors: Arc<Colors>,
    pub(crate) sequence: u64,
    pub(crate) watch: WatchSet,
    pub(crate) dirty: Dirty,
    pub(crate) stamps: Stamps,
    pub(crate) prompts: Prompts,
    /// The cursor jumped since the last character, so the next one may overwrite something unseen.
    pub(crate) jumped: bool,
    /// Bytes to send back to the program.
    pub(crate) replies: Vec<u8>,
    pub(crate) events: Vec<ScreenEvent>,
    pub(crate) notification: Notification,
    /// When output last arrived.
    pub(crate) last_output: Duration,
    pub(crate) exited: bool,
    pub(crate) tally: Tally,
}

/// Replies beyond this are dropped: a program that asks this much in one chunk does not read.
const MAX_REPLIES: usize = 64 * 1024;

impl Emulator {
    pub(crate) fn new(size: ScreenSize, palette: Palette, history: History) -> Emulator {
        let dims = Dims { rows: usize::from(size.rows), cols: usize::from(size.cols) };
        let config = Config { scrolling_history: 0, kitty_keyboard: true, ..Config::default() };
        let mut term = Term::new(config, &dims, VoidListener);
        let colors = Arc::new(Colors::new(palette));
        term.grid_mut().cursor.template.flags.insert(WRITTEN);
        Emulator {
            term,
            history,
            shadow: Shadow::new(dims.rows, dims.cols),
            size,
            told_colors: Arc::clone(&colors),
            colors,
            sequence: 0,
            watch: WatchSet::default(),
            dirty: Dirty::new(dims.rows),
            stamps: Stamps::new(dims.rows),
            prompts: Prompts::default(),
            jumped: false,
            replies: Vec::new(),
            events: Vec::new(),
            notification: Notification::default(),
            last_output: Duration::ZERO,
            exited: false,
            tally: Tally::default(),
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.term.screen_lines()
    }

    pub(crate) fn cols(&self) -> usize {
        self.term.columns()
    }

    pub(crate) fn row(&self, row: usize) -> &[Cell] {
        &self.term.grid()[Line(row as i32)][..]
    }

    pub(crate) fn is_alt(&self) -> bool {
        self.term.mode().contains(TermMode::ALT_SCREEN)
    }

    pub(crate) fn reply(&mut self, text: &str) {
        if self.replies.len() + text.len() <= MAX_REPLIES {
            self.replies.extend_from_slice(text.as_bytes());
        }
    }

    /// The rows of the lines that changed, each line whole even where it wraps.
    pub(crate) fn dirty_rows(&self) -> Range<usize> {
        let changed = self.dirty.rows();
        if changed.is_empty() {
            return changed;
        }
        let rows = self.rows();
        let mut low = changed.start.min(rows);
        let mut high = changed.end.min(rows);
        while low > 0 && row::is_wrapped(self.row(low - 1)) {
            low -= 1;
        }
        while high < rows && high > 0 && row::is_wrapped(self.row(high - 1)) {
            high += 1;
        }
        low..high
    }

    /// Text of the changed lines, for watchers to look at.
    pub(crate) fn dirty_lines(&self) -> String {
        let rows = self.dirty_rows();
        let mut out = String::with_capacity(rows.len() * (self.cols() + 1));
        crate::snapshot::join_rows(rows.map(|row| self.row(row)), &mut out);
        out
    }

    pub(crate) fn plain_text(&self) -> String {
        let mut out = String::with_capacity(self.rows() * self.cols() / 2);
        crate::snapshot::join_rows((0..self.rows()).map(|row| self.row(row)), &mut out);
        out.truncate(out.trim_end_matches('\n').len());
        out
    }

    pub(crate) fn cursor(&self) -> Cursor {
        let cursor = &self.term.grid().cursor;
        let pending = usize::from(cursor.input_needs_wrap);
        Cursor {
            row: cursor.point.line.0.max(0) as u16,
            col: (cursor.point.column.0 + pending) as u16,
            visible: self.term.mode().contains(TermMode::SHOW_CURSOR),
            shape: match self.shadow.cursor_style.map(|style| style.shape) {
                None => CursorShape::Default,
                Some(EngineShape::Underline) => CursorShape::Underline,
                Some(EngineShape::Beam) => CursorShape::Beam,
                Some(EngineShape::Block | EngineShape::HollowBlock | EngineShape::Hidden) => {
                    CursorShape::Block
                }
            },
        }
    }

    pub(crate) fn modes(&self) -> Modes {
        let mode = self.term.mode();
        let has = |flag| mode.contains(flag);
        Modes {
            alternate_screen: has(TermMode::ALT_SCREEN),
            application_cursor: has(TermMode::APP_CURSOR),
            application_keypad: has(TermMode::APP_KEYPAD),
            bracketed_paste: has(TermMode::BRACKETED_PASTE),
            focus_events: has(TermMode::FOCUS_IN_OUT),
            mouse_clicks: has(TermMode::MOUSE_REPORT_CLICK),
            mouse_drag: has(TermMode::MOUSE_DRAG),
            mouse_motion: has(TermMode::MOUSE_MOTION),
            mouse_sgr: has(TermMode::SGR_MOUSE),
            alternate_scroll: has(TermMode::ALTERNATE_SCROLL),
            mouse_utf8: has(TermMode::UTF8_MOUSE),
            theme_reports: self.shadow.wants_theme,
            size_reports: self.shadow.wants_size,
            line_wrap: has(TermMode::LINE_WRAP),
            kitty_keyboard: self.shadow.keyboard_flags(),
            modify_other_keys: self.shadow.modify_other_keys,
        }
    }

    /// The screen now. `text` is its text, if that is known already.
    pub(crate) fn snapshot(&self, detail: Detail, text: Option<String>) -> Snapshot {
        let mut cells = Vec::new();
        if detail == Detail::Cells {
            cells.reserve_exact(self.rows() * self.cols());
            (0..self.rows()).for_each(|row| cells.extend_from_slice(self.row(row)));
        }
        let text = text.or_else(|| (detail == Detail::Text).then(|| self.plain_text()));
        self.snapshot_of(cells, text, 0, self.text_above())
    }

    /// The screen scrolled back by `offset` rows of history, or as many as there are.
    pub(crate) fn snapshot_back(&self, offset: usize, detail: Detail) -> Snapshot {
        let offset = offset.min(self.history_len());
        if offset == 0 {
            return self.snapshot(detail, None);
        }
        let first = self.history.next() - offset as u64;
        let stored = self.history.rows(first, first + self.rows() as u64);
        // Blocks of history can get lost; what is left of them stays next to the screen.
        let lost = offset.min(self.rows()).saturating_sub(stored.len());
        let mut cells = vec![Cell::default(); lost * self.cols()];
        for row in &stored {
            let end = cells.len() + self.cols();
            cells.extend(row.iter().take(self.cols()).cloned());
            cells.resize(end, Cell::default());
        }
        let live = self.rows().saturating_sub(offset);
        (0..live).for_each(|row| cells.extend_from_slice(self.row(row)));
        let snapshot = self.snapshot_of(cells, None, offset, String::new());
        if detail == Detail::Text {
            let text = snapshot.plain_text().to_owned();
            return Snapshot { cells: Vec::new(), text: OnceLock::from(text), ..snapshot };
        }
        snapshot
    }

    /// Rows of history that belong to what is shown: the alternate screen has none.
    pub(crate) fn history_len(&self) -> usize {
        if self.is_alt() { 0 } else { self.history.len() }
    }

    fn snapshot_of(
        &self,
        cells: Vec<Cell>,
        text: Option<String>,
        offset: usize,
        above: String,
    ) -> Snapshot {
        Snapshot {
            sequence: self.sequence,
            rows: self.rows() as u16,
            cols: self.cols() as u16,
            cursor: self.cursor(),
            modes: self.modes(),
            title: self.shadow.title.clone(),
            pointer: self.shadow.pointer,
            first_row: self.history.next() - offset as u64,
            offset,
            history_len: self.history_len(),
            colors: Arc::clone(&self.colors),
            cells,
            text: text.map(OnceLock::from).unwrap_or_default(),
            above,
        }
    }

    /// What scrolled off of the line that runs on into the first row.
    fn text_above(&self) -> String {
        if self.is_alt() { String::new() } else { self.history.unfinished_line(MAX_ABOVE) }
    }

    /// Number of the last row that holds anything, plus one.
    fn used_rows(&self) -> usize {
        use alacritty_terminal::grid::GridCell;
        (0..self.rows())
            .rev()
            .find(|&row| !self.row(row).iter().all(Cell::is_empty))
            .map_or(0, |row| row + 1)
    }

    /// Forgets the scrollback, and with it what row numbers meant.
    fn clear_history(&mut self) {
        self.history.clear();
        self.prompts.clear();
        self.stamps.renumber(self.rows(), self.sequence);
    }

    /// Moves the top `lines` rows of the primary screen into history.
    fn keep_top_rows(&mut self, lines: usize) {
        for row in 0..lines.min(self.rows()) {
            let cells = &self.term.grid()[Line(row as i32)][..];
            self.history.push(cells);
        }
    }

    fn cursor_row(&self) -> usize {
        self.term.grid().cursor.point.line.0.max(0) as usize
    }
}
