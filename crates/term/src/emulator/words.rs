//! Operating system commands that change or ask for the terminal's own state.

use std::sync::Arc;

use super::Emulator;
use crate::colors::{self, FOREGROUND, parse_spec};
use crate::osc::Osc;
use crate::palette::Palette;
use crate::screen::ScreenEvent;

impl Emulator {
    /// Acts upon what a program said, or passes it on as an event.
    pub(crate) fn handle_osc(&mut self, osc: Osc) {
        match osc {
            // These belong to the text and are seen to where that is.
            Osc::Link { .. } | Osc::CursorShape(_) => {}
            Osc::Title(title) => self.set_title(Some(title)),
            Osc::Palette { index, spec } => {
                self.color_word(&format!("4;{index}"), usize::from(index), &spec);
            }
            Osc::DynamicColor { which, spec } => {
                self.color_word(&which.to_string(), dynamic_index(which), &spec);
            }
            Osc::ResetPalette(indices) => self.reset_colors(indices.into_iter().map(usize::from)),
            Osc::ResetDynamicColor(which) => self.reset_colors([dynamic_index(which)]),
            Osc::PointerShape(shape) => self.shadow.pointer = shape,
            Osc::Mark(mark) => {
                let row = self.history.next() + u64::from(self.cursor().row);
                // The alternate screen has no rows to come back to.
                if !self.is_alt() {
                    self.prompts.push(row, mark);
                }
                self.events.push(ScreenEvent::Mark(mark, row));
            }
            Osc::KittyNotify(part) => {
                self.events.extend(self.notification.take(part).map(ScreenEvent::Osc));
            }
            other => self.events.push(ScreenEvent::Osc(other)),
        }
    }

    fn set_title(&mut self, title: Option<String>) {
        self.shadow.title.clone_from(&title);
        self.events.push(ScreenEvent::Title(title));
    }

    pub(crate) fn pop_title(&mut self) {
        if let Some(title) = self.shadow.titles.pop() {
            self.set_title(title);
        }
    }

    /// Puts another theme below what the program set; gives what the program is to be told.
    pub(crate) fn set_theme(&mut self, theme: Palette) -> Vec<u8> {
        if *self.colors.theme() == theme {
            return Vec::new();
        }
        let scheme = if theme.is_light() { 2 } else { 1 };
        Arc::make_mut(&mut self.colors).set_theme(theme);
        self.sequence += 1;
        if self.shadow.wants_theme {
            format!("\x1b[?997;{scheme}n").into_bytes()
        } else {
            Vec::new()
        }
    }

    /// Answers a question for a color or sets it; a word that is no color changes nothing.
    fn color_word(&mut self, prefix: &str, index: usize, spec: &str) {
        if spec == "?" {
            self.reply_color(prefix, index);
        } else if let Some(color) = parse_spec(spec) {
            Arc::make_mut(&mut self.colors).set(index, color);
        }
    }

    fn reset_colors(&mut self, indices: impl IntoIterator<Item = usize>) {
        let colors = Arc::make_mut(&mut self.colors);
        indices.into_iter().for_each(|index| colors.reset(index));
    }
}

/// Where OSC 10, 11 and 12 lie among the colors.
fn dynamic_index(which: u8) -> usize {
    (FOREGROUND + usize::from(which.saturating_sub(10))).min(colors::CURSOR)
}
