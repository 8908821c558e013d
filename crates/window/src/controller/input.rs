//! What a person does, into the state machine.

use rookery_face::app::App;
use rookery_face::driver::cx;
use rookery_term::keys::{Key, KeyKind, KeyPress};
use rookery_view::link;
use rookery_view::scene::Preedit;

use super::Controller;
use crate::Event;

impl Controller {
    pub(super) async fn event(&mut self, event: Event) {
        if self.is_unseen && shows_life(&event) {
            self.visible(true).await;
        }
        match event {
            Event::Painted(n, made) => return self.painted(n, made).await,
            Event::Key(press) => return self.key(&press),
            Event::Commit(text) => {
                self.own.preedit = Preedit::default();
                self.driver.with(|app, cx| app.commit(cx, text));
            }
            Event::Preedit(text, cursor) => self.preedit(text, cursor).await,
            Event::Button(button) => self.button(button),
            Event::Moved(point, mods, has_super) => {
                return self.moved(point, mods, has_super);
            }
            Event::Gone => {
                self.own.hover = None;
                self.own.drop = None;
                self.mouse.leave();
                self.driver.app.point_at_link(None);
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

    fn key(&mut self, press: &KeyPress) {
        // Releases and modifiers by themselves are only for programs that asked for them.
        let is_modifier = matches!(press.key, Key::Special(special) if special.is_modifier());
        if (is_modifier || press.kind == KeyKind::Release) && !self.has_kitty() {
            return;
        }
        if press.kind != KeyKind::Release && (self.scrolls_question(press) || self.pans(press)) {
            self.driver.is_dirty = true;
            return;
        }
        self.take_scroll();
        let before = (self.driver.app.pages.card.scroll, self.driver.app.pages.thread.scroll);
        // What only went to a program is shown with what comes of it.
        let was_dirty = self.driver.is_dirty;
        let shows = self.driver.with(|app, cx| app.shows_key(cx, press));
        self.driver.is_dirty = was_dirty || shows;
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

    pub(super) async fn visible(&mut self, is_visible: bool) {
        self.is_unseen = false;
        if self.driver.is_visible == is_visible {
            return;
        }
        self.driver.is_visible = is_visible;
        self.drawing = None;
        let has = self.own.has_focus && is_visible;
        let _ = self.driver.face.focus(link::Focus { n: 0, has, visible: is_visible }).await;
        if !is_visible {
            // Nothing is drawn while it cannot be seen; what came is taken as seen.
            self.driver.face.painted().await;
        }
    }
}

/// Whether a window to which this happens can be seen.
fn shows_life(event: &Event) -> bool {
    matches!(
        event,
        Event::Painted(..)
            | Event::Key(_)
            | Event::Button(_)
            | Event::Wheel(_)
            | Event::Moved(..)
            | Event::Resized(..)
            | Event::Focus(true)
    )
}
