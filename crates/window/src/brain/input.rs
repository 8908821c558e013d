//! What a person does, into the state machine.

use rookery_face::app::App;
use rookery_face::driver::cx;
use rookery_term::keys::{Key, KeyKind, KeyPress};
use rookery_view::link;
use rookery_view::scene::Preedit;

use super::Brain;
use crate::Event;

impl Brain {
    pub(super) async fn event(&mut self, event: Event) {
        match event {
            Event::Painted(n) => return self.painted(n).await,
            Event::Key(press) => self.key(&press).await,
            Event::Commit(text) => self.commit(text).await,
            Event::Preedit(text, cursor) => self.preedit(text, cursor).await,
            Event::Button(button) => self.button(button),
            Event::Moved(point, mods) => return self.moved(point, mods),
            Event::Gone => {
                self.own.hover = None;
                self.own.drop = None;
            }
            Event::Wheel(wheel) => self.wheel(wheel),
            Event::Focus(has) => {
                self.own.has_focus = has;
                self.driver.app.focus(has);
            }
            Event::Visible(is_visible) => self.visible(is_visible).await,
            Event::Resized(window, scale) => self.resized(window, scale),
            Event::Placed(place) => {
                self.place = place;
                return;
            }
            Event::Dropped(path) => self.dropped(&path),
            Event::Close => return,
        }
        self.driver.is_dirty = true;
    }

    async fn key(&mut self, press: &KeyPress) {
        // Releases and modifiers by themselves are only for programs that asked for them.
        let is_modifier = matches!(press.key, Key::Special(special) if special.is_modifier());
        if (is_modifier || press.kind == KeyKind::Release) && !self.has_kitty() {
            return;
        }
        let before = (self.driver.app.pages.card.scroll, self.driver.app.pages.thread.scroll);
        self.driver.with(|app, cx| app.key(cx, press));
        if before != (self.driver.app.pages.card.scroll, self.driver.app.pages.thread.scroll) {
            self.follow_scroll();
        }
    }

    /// Whether the program that keys go to speaks the kitty protocol.
    fn has_kitty(&self) -> bool {
        let cx = cx(&self.driver.face, self.driver.now());
        let term = App::focused(&cx).and_then(|t| self.driver.face.mirror().term(t));
        term.is_some_and(|term| term.modes & link::modes::KITTY != 0)
    }

    /// Text that an input method, or a key that was composed of several, came to.
    async fn commit(&mut self, text: String) {
        self.own.preedit = Preedit::default();
        let cx = cx(&self.driver.face, self.driver.now());
        let terminal = App::focused(&cx);
        match terminal {
            Some(t)
                if self.driver.app.is_typing_into_program(&cx) && self.driver.app.may_type() =>
            {
                self.driver.app.note = None;
                if self.driver.face.text(link::Text { n: 0, t, text }).await.is_err() {
                    self.driver.app.warn("not sent");
                }
            }
            _ => {
                for c in text.chars() {
                    let press = KeyPress { text: Some(c.into()), ..KeyPress::new(Key::Char(c)) };
                    self.driver.with(|app, cx| app.key(cx, &press));
                }
            }
        }
    }

    async fn preedit(&mut self, text: String, cursor: Option<usize>) {
        if self.own.preedit.text == text && self.own.preedit.cursor == cursor {
            return;
        }
        let cx = cx(&self.driver.face, self.driver.now());
        let terminal = App::focused(&cx);
        if let Some(t) = terminal
            && self.driver.app.is_typing_into_program(&cx)
        {
            let before = cursor.and_then(|at| text.get(..at));
            let chars = before.and_then(|before| u32::try_from(before.chars().count()).ok());
            let shown = link::Preedit { n: 0, t, text: text.clone(), cursor: chars };
            let _ = self.driver.face.preedit(shown).await;
        }
        self.own.preedit = Preedit { text, cursor };
    }

    async fn visible(&mut self, is_visible: bool) {
        if self.driver.is_visible == is_visible {
            return;
        }
        self.driver.is_visible = is_visible;
        self.is_drawing = false;
        let has = self.own.has_focus && is_visible;
        let _ = self.driver.face.focus(link::Focus { n: 0, has, visible: is_visible }).await;
        if !is_visible {
            // Nothing is drawn while it cannot be seen; what came is taken as seen.
            self.driver.face.painted().await;
        }
    }

    /// A file was dropped: its path is typed as a shell reads it.
    fn dropped(&mut self, path: &std::path::Path) {
        let Some(path) = path.to_str() else {
            return self.driver.app.warn("the name of this file is not text");
        };
        self.driver.with(|app, cx| app.paste(cx, format!("{} ", quoted(path)), false));
    }
}

/// A path as one word for a shell.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./+:@%,=".contains(c);
    if !path.is_empty() && path.chars().all(is_plain) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_for_a_shell() {
        assert_eq!(quoted("/home/ada/a.txt"), "/home/ada/a.txt");
        assert_eq!(quoted("/tmp/two words"), "'/tmp/two words'");
        assert_eq!(quoted("/tmp/it's"), r"'/tmp/it'\''s'");
        assert_eq!(quoted("/tmp/$(rm -rf ~)"), "'/tmp/$(rm -rf ~)'");
        assert_eq!(quoted(""), "''");
    }
}
