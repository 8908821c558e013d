//! The emulator in the middle of a feed: what must happen before the engine acts.
//!
//! Watchers look before anything is lost, and rows are kept before they scroll off.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use alacritty_terminal::index::Point;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, CursorShape as EngineShape, Handler, KeyboardModes,
    KeyboardModesApplyBehavior, NamedMode, NamedPrivateMode, PrivateMode, StandardCharset,
};

use super::Emulator;
use crate::matcher::Facts;
use crate::row::{self, WRITTEN};
use crate::screen::Transcript;
use crate::snapshot::{CursorShape, Detail};
use crate::tail::Tail;
use crate::watch::{Matched, Occasion};

/// The emulator in the middle of a feed, with what watchers need to judge.
pub(crate) struct FeedContext<'a> {
    pub(crate) emulator: &'a mut Emulator,
    pub(crate) transcript: &'a dyn Transcript,
    pub(crate) matched: &'a mut Vec<Matched>,
    pub(crate) now: Duration,
}

/// What matchers are judged by, rendered only when asked for.
struct MatchFacts<'a> {
    emulator: &'a Emulator,
    transcript: &'a dyn Transcript,
    text: &'a OnceCell<String>,
    tail: &'a OnceCell<Tail>,
    stable_for: Duration,
}

impl Facts for MatchFacts<'_> {
    fn screen_text(&self) -> &str {
        self.text.get_or_init(|| self.emulator.plain_text())
    }
    fn transcript_tail(&self) -> &str {
        self.tail.get_or_init(|| self.transcript.tail()).text()
    }
    fn cursor(&self) -> (u16, u16) {
        let cursor = self.emulator.cursor();
        (cursor.row, cursor.col)
    }
    fn stable_for(&self) -> Duration {
        self.stable_for
    }
    fn has_exited(&self) -> bool {
        self.emulator.exited
    }
}

impl FeedContext<'_> {
    /// Shows the watchers what is there, and collects the waits that hold.
    pub(crate) fn look(&mut self, occasion: Occasion) {
        let mut watch = std::mem::take(&mut self.emulator.watch);
        let emulator = &*self.emulator;
        let lines = if watch.wants_lines() { emulator.dirty_lines() } else { String::new() };
        let (text, tail) = (OnceCell::new(), OnceCell::new());
        let now = self.now;
        let transcript = self.transcript;
        let done = watch.look(occasion, &lines, now, &|matcher, started| {
            let stable_for = now.saturating_sub(emulator.last_output.max(started));
            matcher.holds(&MatchFacts {
                emulator,
                transcript,
                text: &text,
                tail: &tail,
                stable_for,
            })
        });
        if !done.is_empty() {
            let detail = done.iter().map(|done| done.detail).max().unwrap_or(Detail::Text);
            let snapshot = Arc::new(emulator.snapshot(detail, text.into_inner()));
            let tail = tail.into_inner().unwrap_or_else(|| transcript.tail());
            let found = done.into_iter().map(|done| Matched {
                id: done.id,
                snapshot: Arc::clone(&snapshot),
                transcript_tail: tail.clone(),
                stable_for: now.saturating_sub(emulator.last_output.max(done.started)),
                exited: emulator.exited,
                chars_written: emulator.tally.chars(),
            });
            self.matched.extend(found);
        }
        self.emulator.watch = watch;
        // A wait that was just added looked for itself alone; what changed is still news to others.
        if occasion != Occasion::Added {
            self.emulator.dirty.clear();
        }
    }

    pub(super) fn is_watched(&self) -> bool {
        !self.emulator.watch.is_empty()
    }

    /// Call before whole rows lose anything that watchers have not seen.
    pub(super) fn before_rows_loss(&mut self, rows: Range<usize>) {
        if self.is_watched() && !self.emulator.dirty.is_empty() {
            let changed = self.emulator.dirty_rows();
            if changed.start < rows.end && rows.start < changed.end {
                self.look(Occasion::Changed);
            }
        }
    }

    pub(super) fn before_screen_loss(&mut self) {
        self.before_rows_loss(0..self.emulator.rows());
    }

    /// Call before these columns of the cursor's row lose what they hold, if the row has changes that
    /// watchers have not seen. Blank cells hold nothing to lose.
    pub(super) fn before_row_loss(&mut self, cols: Range<usize>) {
        let row = self.emulator.cursor_row();
        if self.is_watched() && self.emulator.dirty.contains(row) && self.holds_text(cols) {
            self.look(Occasion::Changed);
        }
    }

    /// Call before these columns of the cursor's row are written. Going on where the last character was
    /// written is no loss: what stood there was seen when the writing began.
    pub(super) fn before_write(&mut self, cols: Range<usize>) {
        if !self.is_watched() || !self.emulator.jumped {
            return;
        }
        if !self.emulator.dirty.contains(self.emulator.cursor_row()) {
            self.emulator.jumped = false;
        } else if self.holds_text(cols) {
            self.look(Occasion::Changed);
            self.emulator.jumped = false;
        }
    }

    /// Whether these columns of the cursor's row show anything.
    fn holds_text(&self, cols: Range<usize>) -> bool {
        let cells = &self.emulator.row(self.emulator.cursor_row())[cols];
        cells.iter().any(|cell| !matches!(cell.c, ' ' | '\t'))
    }

    /// Columns from the cursor to the end of its row, which most line operations touch.
    pub(super) fn cols_from_cursor(&self) -> Range<usize> {
        self.emulator.term.grid().cursor.point.column.0..self.emulator.cols()
    }

    pub(super) fn mark_row(&mut self) {
        let row = self.emulator.cursor_row();
        self.emulator.stamps.touch(row, self.emulator.sequence);
        if self.is_watched() {
            self.emulator.dirty.mark(row);
        }
    }

    pub(super) fn mark_screen(&mut self) {
        self.emulator.stamps.touch_all(self.emulator.sequence);
        if self.is_watched() {
            self.emulator.dirty.mark_all();
        }
    }

    pub(super) fn jump(&mut self) {
        self.emulator.jumped = true;
    }

    /// Call before the engine scrolls the region up by `lines`, starting at `top`.
    pub(super) fn before_scroll_up(&mut self, top: usize, lines: usize) {
        let bottom = self.emulator.shadow.region.1;
        let lines = lines.min(bottom.saturating_sub(top));
        self.before_rows_loss(top..top + lines);
        if top == 0 && !self.emulator.is_alt() {
            self.emulator.keep_top_rows(lines);
        }
        let sequence = self.emulator.sequence;
        if top == 0 && bottom == self.emulator.rows() && !self.emulator.is_alt() {
            self.emulator.stamps.shift_up(lines, sequence);
        } else {
            // Text moves to other row numbers.
            self.emulator.stamps.touch_all(sequence);
        }
        if top == 0 && bottom == self.emulator.rows() {
            self.emulator.dirty.shift_up(lines);
        } else if !self.emulator.dirty.is_empty() {
            self.mark_screen();
        }
    }

    /// Call before the engine moves the cursor one line down, which scrolls at the end of the region.
    pub(super) fn before_line_down(&mut self) {
        let (top, bottom) = self.emulator.shadow.region;
        if self.emulator.cursor_row() + 1 == bottom {
            self.before_scroll_up(top, 1);
        }
    }

    /// Call before the engine wraps, if it is about to.
    pub(super) fn before_wrap(&mut self) {
        // That it runs on is a change of the row that is left.
        self.emulator.stamps.touch(self.emulator.cursor_row(), self.emulator.sequence);
        let wraps = self.emulator.term.mode().contains(TermMode::LINE_WRAP);
        let (top, bottom) = self.emulator.shadow.region;
        let row = self.emulator.cursor_row();
        if wraps && row + 1 == bottom {
            if row == top {
                self.before_rows_loss(top..bottom);
                self.mark_wrap();
            }
            self.before_scroll_up(top, 1);
        }
    }

    /// Where a single row scrolls, the one that wraps is the one that scrolls off: so the engine's mark
    /// must be on it before it is kept.
    fn mark_wrap(&mut self) {
        let grid = self.emulator.term.grid_mut();
        let Point { line, column } = grid.cursor.point;
        if !grid.cursor.input_needs_wrap {
            // A wide character does not fit into the last column; a spacer takes its place.
            let mut spacer = Cell { c: ' ', ..grid.cursor.template.clone() };
            spacer.flags.insert(Flags::LEADING_WIDE_CHAR_SPACER);
            let replaced = std::mem::replace(&mut grid[line][column], spacer);
            if replaced.flags.contains(Flags::WIDE_CHAR_SPACER) && column > 0 {
                grid[line][column - 1].clear_wide();
            }
        }
        grid[line][column].flags.insert(Flags::WRAPLINE);
    }

    /// Keeps the mark of written cells in the cursor's template, which some operations reset.
    pub(super) fn keep_written_mark(&mut self) {
        self.emulator.term.grid_mut().cursor.template.flags.insert(WRITTEN);
    }

    /// Whether what is written now gets a line above it.
    pub(super) fn has_overline(&mut self) -> bool {
        row::has_overline(self.emulator.term.grid().cursor.template.flags)
    }

    pub(super) fn set_overline(&mut self, has: bool) {
        let flags = &mut self.emulator.term.grid_mut().cursor.template.flags;
        *flags = row::with_overline(*flags, has);
    }

    pub(super) fn apply_keyboard_flags(&mut self) {
        let flags = KeyboardModes::from_bits_truncate(self.emulator.shadow.keyboard_flags());
        Handler::set_keyboard_mode(
            &mut self.emulator.term,
            flags,
            KeyboardModesApplyBehavior::Replace,
        );
    }

    pub(super) fn swap_screen(&mut self, to_alt: bool) {
        if self.emulator.is_alt() == to_alt {
            return;
        }
        self.before_screen_loss();
        self.emulator.term.swap_alt();
        if to_alt {
            // A cursor saved on an earlier visit would be state that nothing shows.
            let grid = self.emulator.term.grid_mut();
            grid.saved_cursor = grid.cursor.clone();
        }
        let shadow = &mut self.emulator.shadow;
        std::mem::swap(&mut shadow.keyboard, &mut shadow.hidden_keyboard);
        self.apply_keyboard_flags();
        self.keep_written_mark();
        self.emulator.stamps.renumber(self.emulator.rows(), self.emulator.sequence);
        self.mark_screen();
        self.jump();
    }

    /// Whether the cell that a zero-width character would join can take one more. The cell counts as
    /// written from then on: it shows something, even if its own character is an untouched blank.
    pub(super) fn make_room_for_zero_width(&mut self) -> bool {
        let grid = self.emulator.term.grid_mut();
        let mut col = grid.cursor.point.column;
        if !grid.cursor.input_needs_wrap {
            col.0 = col.0.saturating_sub(1);
        }
        let line = grid.cursor.point.line;
        let cells = &mut grid[line];
        let back = usize::from(cells[col].flags.contains(Flags::WIDE_CHAR_SPACER));
        col.0 = col.0.saturating_sub(back);
        let cell = &mut cells[col];
        let has_room = row::zero_width_count(cell) < row::MAX_ZERO_WIDTH;
        if has_room {
            cell.flags.insert(row::WRITTEN);
        }
        has_room
    }

    /// DECSTR: modes, margins and attributes as after power-on; screen and cursor stay.
    pub(crate) fn soft_reset(&mut self) {
        let point = self.emulator.term.grid().cursor.point;
        self.unset_mode(NamedMode::Insert.into());
        for mode in [NamedPrivateMode::CursorKeys, NamedPrivateMode::Origin] {
            self.unset_private_mode(mode.into());
        }
        for mode in [NamedPrivateMode::LineWrap, NamedPrivateMode::ShowCursor] {
            self.set_private_mode(mode.into());
        }
        self.unset_keypad_application_mode();
        self.set_scrolling_region(1, None);
        self.terminal_attribute(Attr::Reset);
        for index in [CharsetIndex::G0, CharsetIndex::G1, CharsetIndex::G2, CharsetIndex::G3] {
            self.configure_charset(index, StandardCharset::Ascii);
        }
        self.set_active_charset(CharsetIndex::G0);
        self.goto(point.line.0, point.column.0);
        self.emulator.term.grid_mut().saved_cursor = Default::default();
    }

    /// OSC 50, which only sets the shape.
    pub(crate) fn cursor_shape(&mut self, shape: CursorShape) {
        let shape = match shape {
            CursorShape::Underline => EngineShape::Underline,
            CursorShape::Beam => EngineShape::Beam,
            CursorShape::Default | CursorShape::Block => EngineShape::Block,
        };
        Handler::set_cursor_shape(self, shape);
    }

    pub(super) fn set_blinking(&mut self, blinking: bool) {
        self.emulator.shadow.cursor_style.get_or_insert_with(Default::default).blinking = blinking;
    }

    /// DECCOLM clears the screen and the margins; the width stays.
    pub(super) fn column_mode(&mut self, mode: PrivateMode, on: bool) {
        self.before_screen_loss();
        let rows = self.emulator.rows();
        self.emulator.shadow.region = (0, rows);
        if on {
            self.emulator.term.set_private_mode(mode);
        } else {
            self.emulator.term.unset_private_mode(mode);
        }
        self.mark_screen();
    }
}
