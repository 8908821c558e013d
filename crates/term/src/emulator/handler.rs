//! The engine's handler, wrapped: every operation first lets [`FeedContext`] see to what would be lost.

use alacritty_terminal::term::TermMode;
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, ClearMode, CursorShape, CursorStyle, Handler, Hyperlink, KeyboardModes,
    KeyboardModesApplyBehavior, LineClearMode, Mode, ModifyOtherKeys, NamedPrivateMode,
    PrivateMode, ScpCharPath, ScpUpdateMode, StandardCharset, TabulationClearMode,
};
use unicode_width::UnicodeWidthChar;

use super::context::FeedContext;
use crate::screen::ScreenEvent;

impl Handler for FeedContext<'_> {
    fn input(&mut self, c: char) {
        let mut c = c;
        let width = if c.is_ascii() { 1 } else { c.width().unwrap_or(0) };
        if width == 0 && !self.make_room_for_zero_width() {
            return;
        }
        let cols = self.emulator.cols();
        // The engine would write a wide character past the edge of a one-column screen.
        if width == 2 && cols < 2 {
            c = char::REPLACEMENT_CHARACTER;
        }
        let cursor = &self.emulator.term.grid().cursor;
        let wraps = cursor.input_needs_wrap
            || (width == 2 && cols >= 2 && cursor.point.column.0 + 1 >= cols);
        if wraps && width > 0 {
            self.before_wrap();
            // Without wrapping the last column is written over and over.
            self.jump();
        }
        if self.emulator.term.mode().contains(TermMode::INSERT) {
            self.before_row_loss(self.cols_from_cursor());
        }
        // Half of a wide character takes the other half with it.
        let col = self.emulator.term.grid().cursor.point.column.0;
        self.before_write(col.saturating_sub(1)..(col + width + 1).min(cols));
        self.emulator.shadow.last_char = Some(c);
        self.emulator.term.input(c);
        self.mark_row();
    }

    fn linefeed(&mut self) {
        self.before_line_down();
        self.emulator.term.linefeed();
        self.jump();
    }

    fn newline(&mut self) {
        self.before_line_down();
        self.emulator.term.newline();
        self.jump();
    }

    fn put_tab(&mut self, count: u16) {
        if self.emulator.term.grid().cursor.input_needs_wrap {
            self.before_wrap();
        }
        self.emulator.term.put_tab(count);
        self.mark_row();
        self.jump();
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
        self.mark_row();
    }

    fn delete_chars(&mut self, count: usize) {
        self.before_row_loss(self.cols_from_cursor());
        // With more than the row has left, the engine would also clear cells before the cursor.
        let count = count.min(self.cols_from_cursor().len());
        self.emulator.term.delete_chars(count);
        self.mark_row();
    }

    fn clear_line(&mut self, mode: LineClearMode) {
        let cols = match mode {
            LineClearMode::Right => self.cols_from_cursor(),
            LineClearMode::Left | LineClearMode::All => 0..self.emulator.cols(),
        };
        self.before_row_loss(cols);
        self.emulator.term.clear_line(mode);
        self.mark_row();
    }

    fn clear_screen(&mut self, mode: ClearMode) {
        match mode {
            ClearMode::Saved => return self.emulator.clear_history(),
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
        self.emulator.clear_history();
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
        let keeps_overline = attr != Attr::Reset && self.has_overline();
        self.set_overline(false);
        self.emulator.term.terminal_attribute(attr);
        self.set_overline(keeps_overline);
        self.keep_written_mark();
    }

    /// Never sent by a program that means it: stands for lines above text, see [`crate::feed`].
    fn set_scp(&mut self, path: ScpCharPath, update: ScpUpdateMode) {
        if let ScpUpdateMode::PresentationToData = update {
            self.set_overline(matches!(path, ScpCharPath::LTR));
        }
    }

    fn set_hyperlink(&mut self, link: Option<Hyperlink>) {
        // The engine would name links from a counter of the whole process, which no replay could repeat.
        let link = link.map(|link| {
            let shadow = &mut self.emulator.shadow;
            shadow.links += 1;
            Hyperlink {
                id: link.id.or_else(|| Some(format!("link-{}", shadow.links))),
                uri: link.uri,
            }
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
            PrivateMode::Unknown(2031) => self.emulator.shadow.wants_theme = true,
            PrivateMode::Unknown(2048) => {
                self.emulator.shadow.wants_size = true;
                self.emulator.reply_size();
            }
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
            PrivateMode::Unknown(2031) => self.emulator.shadow.wants_theme = false,
            PrivateMode::Unknown(2048) => self.emulator.shadow.wants_size = false,
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

    fn text_area_size_pixels(&mut self) {
        self.emulator.reply_text_area_pixels();
    }

    fn text_area_size_chars(&mut self) {
        let (rows, cols) = (self.emulator.rows(), self.emulator.cols());
        self.emulator.reply(&format!("\x1b[8;{rows};{cols}t"));
    }
}
