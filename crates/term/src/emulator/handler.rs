//! The engine's handler, wrapped: watchers look and history keeps before the engine acts.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use alacritty_terminal::term::TermMode;
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, ClearMode, CursorShape, CursorStyle, Handler, Hyperlink, KeyboardModes,
    KeyboardModesApplyBehavior, LineClearMode, Mode, ModifyOtherKeys, NamedMode, NamedPrivateMode, PrivateMode, Rgb,
    StandardCharset, TabulationClearMode,
};
use unicode_width::UnicodeWidthChar;

use super::Emulator;
use crate::matcher::Facts;
use crate::row::{self, WRITTEN};
use crate::screen::{ScreenEvent, Transcript};
use crate::watch::{Matched, Occasion};

/// The emulator in the middle of a feed, with what watchers need to judge.
pub(crate) struct Hand<'a> {
    pub(crate) emulator: &'a mut Emulator,
    pub(crate) transcript: &'a dyn Transcript,
    pub(crate) matched: &'a mut Vec<Matched>,
    pub(crate) now: Duration,
}

/// What matchers are judged by, rendered only when asked for.
struct Moment<'a> {
    emulator: &'a Emulator,
    transcript: &'a dyn Transcript,
    text: &'a OnceCell<String>,
    tail: &'a OnceCell<Arc<str>>,
    stable_for: Duration,
}

impl Facts for Moment<'_> {
    fn screen_text(&self) -> &str {
        self.text.get_or_init(|| self.emulator.plain_text())
    }
    fn transcript_tail(&self) -> &str {
        self.tail.get_or_init(|| self.transcript.tail().into())
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

impl Hand<'_> {
    /// Shows the watchers what is there, and collects the waits that hold.
    pub(crate) fn look(&mut self, occasion: Occasion) {
        let mut watch = std::mem::take(&mut self.emulator.watch);
        let emulator = &*self.emulator;
        let lines = if watch.wants_lines() { emulator.dirty_lines() } else { String::new() };
        let (text, tail) = (OnceCell::new(), OnceCell::new());
        let now = self.now;
        let transcript = self.transcript;
        let done = watch.look(occasion, &lines, &|matcher, started| {
            let stable_for = now.saturating_sub(emulator.last_output.max(started));
            matcher.holds(&Moment { emulator, transcript, text: &text, tail: &tail, stable_for })
        });
        if !done.is_empty() {
            let snapshot = Arc::new(emulator.snapshot());
            let tail = tail.into_inner().unwrap_or_else(|| transcript.tail().into());
            let found = done.into_iter().map(|id| Matched {
                id,
                snapshot: Arc::clone(&snapshot),
                transcript_tail: Arc::clone(&tail),
            });
            self.matched.extend(found);
        }
        self.emulator.watch = watch;
        self.emulator.dirty.clear();
    }

    pub(super) fn is_watched(&self) -> bool {
        !self.emulator.watch.is_empty()
    }

    /// Call before whole rows lose anything that watchers have not seen.
    fn before_rows_loss(&mut self, rows: Range<usize>) {
        if self.is_watched() && !self.emulator.dirty.is_empty() {
            let changed = self.emulator.dirty_rows();
            if changed.start < rows.end && rows.start < changed.end {
                self.look(Occasion::Changed);
            }
        }
    }

    fn before_screen_loss(&mut self) {
        self.before_rows_loss(0..self.emulator.rows());
    }

    /// Call before these columns of the cursor's row lose anything that watchers have not seen.
    pub(super) fn before_row_loss(&mut self, cols: Range<usize>) {
        if self.is_watched() && self.emulator.dirty.touches(self.emulator.cursor_row(), cols) {
            self.look(Occasion::Changed);
        }
    }

    /// Columns from the cursor to the end of its row, which most line operations touch.
    fn cols_from_cursor(&self) -> Range<usize> {
        self.emulator.term.grid().cursor.point.column.0..self.emulator.cols()
    }

    pub(super) fn mark(&mut self, cols: Range<usize>) {
        if self.is_watched() {
            let row = self.emulator.cursor_row();
            self.emulator.dirty.mark(row, cols);
        }
    }

    fn mark_row(&mut self) {
        self.mark(0..self.emulator.cols());
    }

    fn mark_screen(&mut self) {
        if self.is_watched() {
            let cols = self.emulator.cols();
            for row in 0..self.emulator.rows() {
                self.emulator.dirty.mark(row, 0..cols);
            }
        }
    }

    fn jump(&mut self) {
        self.emulator.jumped = true;
    }

    /// Call before the engine scrolls the region up by `lines`, starting at `top`.
    fn before_scroll_up(&mut self, top: usize, lines: usize) {
        let bottom = self.emulator.shadow.region.1;
        let lines = lines.min(bottom.saturating_sub(top));
        self.before_rows_loss(top..top + lines);
        if top == 0 && !self.emulator.is_alt() {
            self.emulator.keep_top_rows(lines);
        }
        if top == 0 && bottom == self.emulator.rows() {
            self.emulator.dirty.shift_up(lines);
        } else if !self.emulator.dirty.is_empty() {
            self.mark_screen();
        }
    }

    /// Call before the engine moves the cursor one line down, which scrolls at the end of the region.
    fn before_line_down(&mut self) {
        let (top, bottom) = self.emulator.shadow.region;
        if self.emulator.cursor_row() + 1 == bottom {
            self.before_scroll_up(top, 1);
        }
    }

    /// Call before the engine wraps, if it is about to.
    fn before_wrap(&mut self) {
        let wraps = self.emulator.term.mode().contains(TermMode::LINE_WRAP);
        if wraps {
            let (top, bottom) = self.emulator.shadow.region;
            if self.emulator.cursor_row() + 1 == bottom {
                self.before_scroll_up(top, 1);
            }
        }
    }

    /// Keeps the mark of written cells in the cursor's template, which some operations reset.
    fn keep_written_mark(&mut self) {
        self.emulator.term.grid_mut().cursor.template.flags.insert(WRITTEN);
    }

    fn apply_keyboard_flags(&mut self) {
        let flags = KeyboardModes::from_bits_truncate(self.emulator.shadow.keyboard_flags());
        Handler::set_keyboard_mode(&mut self.emulator.term, flags, KeyboardModesApplyBehavior::Replace);
    }

    fn swap_screen(&mut self, to_alt: bool) {
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
        self.mark_screen();
        self.jump();
    }

    fn zero_width_has_room(&self) -> bool {
        let grid = self.emulator.term.grid();
        let mut col = grid.cursor.point.column;
        if !grid.cursor.input_needs_wrap {
            col.0 = col.0.saturating_sub(1);
        }
        let cells = &grid[grid.cursor.point.line];
        let back = usize::from(cells[col].flags.contains(alacritty_terminal::term::cell::Flags::WIDE_CHAR_SPACER));
        col.0 = col.0.saturating_sub(back);
        row::zero_width_count(&cells[col]) < row::MAX_ZERO_WIDTH
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
}

impl Handler for Hand<'_> {
    fn input(&mut self, c: char) {
        let mut c = c;
        let width = if c.is_ascii() { 1 } else { c.width().unwrap_or(0) };
        if width == 0 && !self.zero_width_has_room() {
            return;
        }
        let cols = self.emulator.cols();
        // The engine would write a wide character past the edge of a one-column screen.
        if width == 2 && cols < 2 {
            c = char::REPLACEMENT_CHARACTER;
        }
        let cursor = &self.emulator.term.grid().cursor;
        let wraps = cursor.input_needs_wrap || (width == 2 && cols >= 2 && cursor.point.column.0 + 1 >= cols);
        if wraps && width > 0 {
            self.before_wrap();
            // Without wrapping the last column is written over and over.
            self.jump();
        }
        if self.is_watched() {
            let inserts = self.emulator.term.mode().contains(TermMode::INSERT);
            if inserts || (self.emulator.jumped && !self.emulator.cursor_cell_is_blank()) {
                self.before_row_loss(0..cols);
                self.emulator.jumped = false;
            }
        }
        self.emulator.shadow.last_char = Some(c);
        self.emulator.term.input(c);
        self.mark_row();
    }

    fn linefeed(&mut self) {
        self.before_line_down();
        self.emulator.term.linefeed();
    }

    fn newline(&mut self) {
        self.before_line_down();
        self.emulator.term.newline();
    }

    fn put_tab(&mut self, count: u16) {
        if self.emulator.term.grid().cursor.input_needs_wrap {
            self.before_wrap();
        }
        self.emulator.term.put_tab(count);
        self.mark_row();
    }

    fn scroll_up(&mut self, lines: usize) {
        let top = self.emulator.shadow.region.0;
        self.before_scroll_up(top, lines);
        self.emulator.term.scroll_up(lines);
        self.mark_screen();
    }

    fn scroll_down(&mut self, lines: usize) {
        self.before_screen_loss();
        self.emulator.term.scroll_down(lines);
        self.mark_screen();
    }

    fn reverse_index(&mut self) {
        if self.emulator.cursor_row() == self.emulator.shadow.region.0 {
            self.before_screen_loss();
            self.mark_screen();
        }
        self.emulator.term.reverse_index();
        self.jump();
    }

    fn insert_blank_lines(&mut self, lines: usize) {
        self.before_screen_loss();
        self.emulator.term.insert_blank_lines(lines);
        self.mark_screen();
    }

    fn delete_lines(&mut self, lines: usize) {
        self.before_screen_loss();
        self.emulator.term.delete_lines(lines);
        self.mark_screen();
    }

    fn insert_blank(&mut self, count: usize) {
        self.before_row_loss(self.cols_from_cursor());
        self.emulator.term.insert_blank(count);
        self.mark_row();
    }

    fn erase_chars(&mut self, count: usize) {
        self.before_row_loss(self.cols_from_cursor());
        self.emulator.term.erase_chars(count);
        self.mark(self.cols_from_cursor());
    }

    fn delete_chars(&mut self, count: usize) {
        self.before_row_loss(self.cols_from_cursor());
        self.emulator.term.delete_chars(count);
        self.mark_row();
    }

    fn clear_line(&mut self, mode: LineClearMode) {
        let cols = match mode {
            LineClearMode::Right => self.cols_from_cursor(),
            LineClearMode::Left | LineClearMode::All => 0..self.emulator.cols(),
        };
        self.before_row_loss(cols.clone());
        self.emulator.term.clear_line(mode);
        self.mark(cols);
    }

    fn clear_screen(&mut self, mode: ClearMode) {
        match mode {
            ClearMode::Saved => return self.emulator.history.clear(),
            ClearMode::All if !self.emulator.is_alt() => {
                self.before_screen_loss();
                let used = self.emulator.used_rows();
                self.emulator.keep_top_rows(used);
            }
            ClearMode::All | ClearMode::Above | ClearMode::Below => self.before_screen_loss(),
        }
        self.emulator.term.clear_screen(mode);
        self.mark_screen();
    }

    fn decaln(&mut self) {
        self.before_screen_loss();
        self.emulator.term.decaln();
        self.mark_screen();
    }

    fn reset_state(&mut self) {
        self.before_screen_loss();
        self.emulator.term.reset_state();
        self.emulator.history.clear();
        let (rows, cols) = (self.emulator.rows(), self.emulator.cols());
        self.emulator.shadow.reset(rows, cols);
        self.keep_written_mark();
        self.mark_screen();
        self.jump();
    }

    fn goto(&mut self, line: i32, col: usize) {
        self.emulator.term.goto(line, col);
        self.jump();
    }

    fn goto_line(&mut self, line: i32) {
        self.emulator.term.goto_line(line);
        self.jump();
    }

    fn goto_col(&mut self, col: usize) {
        self.emulator.term.goto_col(col);
        self.jump();
    }

    fn move_up(&mut self, lines: usize) {
        self.emulator.term.move_up(lines);
        self.jump();
    }

    fn move_down(&mut self, lines: usize) {
        self.emulator.term.move_down(lines);
        self.jump();
    }

    fn move_forward(&mut self, cols: usize) {
        self.emulator.term.move_forward(cols);
        self.jump();
    }

    fn move_backward(&mut self, cols: usize) {
        self.emulator.term.move_backward(cols);
        self.jump();
    }

    fn move_down_and_cr(&mut self, lines: usize) {
        self.emulator.term.move_down_and_cr(lines);
        self.jump();
    }

    fn move_up_and_cr(&mut self, lines: usize) {
        self.emulator.term.move_up_and_cr(lines);
        self.jump();
    }

    fn move_backward_tabs(&mut self, count: u16) {
        self.emulator.term.move_backward_tabs(count);
        self.jump();
    }

    fn move_forward_tabs(&mut self, count: u16) {
        self.emulator.term.move_forward_tabs(count);
        self.jump();
    }

    fn backspace(&mut self) {
        self.emulator.term.backspace();
        self.jump();
    }

    fn carriage_return(&mut self) {
        self.emulator.term.carriage_return();
        self.jump();
    }

    fn save_cursor_position(&mut self) {
        self.emulator.term.save_cursor_position();
    }

    fn restore_cursor_position(&mut self) {
        self.emulator.term.restore_cursor_position();
        self.keep_written_mark();
        self.jump();
    }

    fn terminal_attribute(&mut self, attr: Attr) {
        self.emulator.term.terminal_attribute(attr);
        self.keep_written_mark();
    }

    fn set_hyperlink(&mut self, link: Option<Hyperlink>) {
        // The engine would name links from a counter of the whole process, which no replay could repeat.
        let link = link.map(|link| {
            let shadow = &mut self.emulator.shadow;
            shadow.links += 1;
            Hyperlink { id: link.id.or_else(|| Some(format!("link-{}", shadow.links))), uri: link.uri }
        });
        self.emulator.term.set_hyperlink(link);
    }

    fn set_horizontal_tabstop(&mut self) {
        let col = self.emulator.term.grid().cursor.point.column.0;
        if let Some(stop) = self.emulator.shadow.tabs.get_mut(col) {
            *stop = true;
        }
        self.emulator.term.set_horizontal_tabstop();
    }

    fn clear_tabs(&mut self, mode: TabulationClearMode) {
        let col = self.emulator.term.grid().cursor.point.column.0;
        let tabs = &mut self.emulator.shadow.tabs;
        match mode {
            TabulationClearMode::Current => {
                if let Some(stop) = tabs.get_mut(col) {
                    *stop = false;
                }
            }
            TabulationClearMode::All => tabs.fill(false),
        }
        self.emulator.term.clear_tabs(mode);
    }

    fn set_scrolling_region(&mut self, top: usize, bottom: Option<usize>) {
        let rows = self.emulator.rows();
        let bottom = bottom.unwrap_or(rows).min(rows);
        let top = top.max(1);
        if top >= bottom {
            return;
        }
        self.emulator.shadow.region = (top - 1, bottom);
        self.emulator.term.set_scrolling_region(top, Some(bottom));
        self.jump();
    }

    fn set_active_charset(&mut self, index: CharsetIndex) {
        self.emulator.shadow.charset = index;
        self.emulator.term.set_active_charset(index);
    }

    fn configure_charset(&mut self, index: CharsetIndex, charset: StandardCharset) {
        self.emulator.term.configure_charset(index, charset);
    }

    fn set_mode(&mut self, mode: Mode) {
        self.emulator.term.set_mode(mode);
    }

    fn unset_mode(&mut self, mode: Mode) {
        self.emulator.term.unset_mode(mode);
    }

    fn set_private_mode(&mut self, mode: PrivateMode) {
        match mode {
            PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor)
            | PrivateMode::Unknown(47 | 1047) => self.swap_screen(true),
            PrivateMode::Unknown(1048) => self.save_cursor_position(),
            PrivateMode::Named(NamedPrivateMode::BlinkingCursor) => self.set_blinking(true),
            PrivateMode::Named(NamedPrivateMode::ColumnMode) => self.column_mode(mode, true),
            _ => self.emulator.term.set_private_mode(mode),
        }
        self.jump();
    }

    fn unset_private_mode(&mut self, mode: PrivateMode) {
        match mode {
            PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor)
            | PrivateMode::Unknown(47 | 1047) => self.swap_screen(false),
            PrivateMode::Unknown(1048) => self.restore_cursor_position(),
            PrivateMode::Named(NamedPrivateMode::BlinkingCursor) => self.set_blinking(false),
            PrivateMode::Named(NamedPrivateMode::ColumnMode) => self.column_mode(mode, false),
            _ => self.emulator.term.unset_private_mode(mode),
        }
        self.jump();
    }

    fn set_keypad_application_mode(&mut self) {
        self.emulator.term.set_keypad_application_mode();
    }

    fn unset_keypad_application_mode(&mut self) {
        self.emulator.term.unset_keypad_application_mode();
    }

    fn set_cursor_style(&mut self, style: Option<CursorStyle>) {
        self.emulator.shadow.cursor_style = style;
    }

    fn set_cursor_shape(&mut self, shape: CursorShape) {
        self.emulator.shadow.cursor_style.get_or_insert_with(Default::default).shape = shape;
    }

    fn set_color(&mut self, index: usize, color: Rgb) {
        self.emulator.term.set_color(index, color);
    }

    fn reset_color(&mut self, index: usize) {
        self.emulator.term.reset_color(index);
    }

    fn set_title(&mut self, title: Option<String>) {
        self.emulator.shadow.title.clone_from(&title);
        self.emulator.events.push(ScreenEvent::Title(title));
    }

    fn push_title(&mut self) {
        self.emulator.shadow.push_title();
    }

    fn pop_title(&mut self) {
        if let Some(title) = self.emulator.shadow.titles.pop() {
            self.set_title(title);
        }
    }

    fn push_keyboard_mode(&mut self, mode: KeyboardModes) {
        self.emulator.shadow.push_keyboard(mode.bits());
        self.apply_keyboard_flags();
    }

    fn pop_keyboard_modes(&mut self, count: u16) {
        self.emulator.shadow.pop_keyboard(usize::from(count));
        self.apply_keyboard_flags();
    }

    fn set_keyboard_mode(&mut self, mode: KeyboardModes, apply: KeyboardModesApplyBehavior) {
        let old = self.emulator.shadow.keyboard_flags();
        let new = match apply {
            KeyboardModesApplyBehavior::Replace => mode.bits(),
            KeyboardModesApplyBehavior::Union => old | mode.bits(),
            KeyboardModesApplyBehavior::Difference => old & !mode.bits(),
        };
        self.emulator.shadow.set_keyboard(new);
        self.apply_keyboard_flags();
    }

    fn set_modify_other_keys(&mut self, mode: ModifyOtherKeys) {
        self.emulator.shadow.modify_other_keys = match mode {
            ModifyOtherKeys::Reset => 0,
            ModifyOtherKeys::EnableExceptWellDefined => 1,
            ModifyOtherKeys::EnableAll => 2,
        };
    }

    fn bell(&mut self) {
        if !matches!(self.emulator.events.last(), Some(ScreenEvent::Bell)) {
            self.emulator.events.push(ScreenEvent::Bell);
        }
    }

    fn identify_terminal(&mut self, intermediate: Option<char>) {
        self.emulator.reply_identity(intermediate);
    }

    fn device_status(&mut self, what: usize) {
        self.emulator.reply_status(what);
    }

    fn report_mode(&mut self, mode: Mode) {
        self.emulator.reply_mode(mode);
    }

    fn report_private_mode(&mut self, mode: PrivateMode) {
        self.emulator.reply_private_mode(mode);
    }

    fn report_keyboard_mode(&mut self) {
        let flags = self.emulator.shadow.keyboard_flags();
        self.emulator.reply(&format!("\x1b[?{flags}u"));
    }

    fn report_modify_other_keys(&mut self) {
        let level = self.emulator.shadow.modify_other_keys;
        self.emulator.reply(&format!("\x1b[>4;{level}m"));
    }

    fn dynamic_color_sequence(&mut self, prefix: String, index: usize, terminator: &str) {
        self.emulator.reply_color(&prefix, index, terminator);
    }

    fn text_area_size_pixels(&mut self) {
        self.emulator.reply_text_area_pixels();
    }

    fn text_area_size_chars(&mut self) {
        let (rows, cols) = (self.emulator.rows(), self.emulator.cols());
        self.emulator.reply(&format!("\x1b[8;{rows};{cols}t"));
    }
}

impl Hand<'_> {
    fn set_blinking(&mut self, blinking: bool) {
        self.emulator.shadow.cursor_style.get_or_insert_with(Default::default).blinking = blinking;
    }

    /// DECCOLM clears the screen and the margins; the width stays.
    fn column_mode(&mut self, mode: PrivateMode, on: bool) {
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
