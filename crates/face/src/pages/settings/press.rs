//! Settings under a mouse: controls, and buttons of the list of keys.

use rookery_term::keys::parse_chord;
use rookery_view::link::Page;

use super::{Kind, ROWS};
use crate::app::{App, Cx, READ_ONLY};

/// What one step of a number is, and the least that it can be.
fn steps(key: &str) -> (f64, f64) {
    match key {
        "answer-guard-ms" => (100.0, 0.0),
        _ => (1.0, 1.0),
    }
}

impl App {
    /// The control of a setting was pressed: the word of a choice; a number's step down or up, or the
    /// number itself; all else as Enter does. What was being written is taken first, a chord that was
    /// waited for is not waited for any more.
    pub fn press_setting(&mut self, cx: &Cx<'_>, index: usize, part: usize) {
        self.note = None;
        let Some(row) = self.list_rows(&Page::Settings, cx.wall).into_iter().nth(index) else {
            return;
        };
        self.pages.list.selected = index;
        self.leave_setting();
        let known = ROWS.iter().find(|(key, ..)| *key == row.id);
        let (Some((key, _, kind)), false) = (known, self.pages.settings.keys) else {
            return self.press_in_settings(cx, "enter");
        };
        let word = match kind {
            Kind::Words(words) => words.get(part).copied().filter(|_| words.len() > 2),
            _ => None,
        };
        match (kind, word) {
            (_, Some(_)) if !self.may_type() => self.warn(READ_ONLY),
            (_, Some(word)) => self.choose(key, word),
            (Kind::Number, None) if part < 2 && self.may_type() => self.step_number(key, part == 1),
            (kind, None) => self.change(key, *kind, 1),
        }
    }

    /// One step of a number.
    fn step_number(&mut self, key: &str, is_up: bool) {
        let (step, least) = steps(key);
        let Ok(now) = self.setting(key).parse::<f64>() else { return };
        let next = (if is_up { now + step } else { now - step }).max(least);
        self.choose(key, &next.to_string());
    }

    /// A key of the page, as its button presses it.
    pub(crate) fn press_in_settings(&mut self, cx: &Cx<'_>, chord: &str) {
        self.pages.list.filtering = false;
        if let Ok(press) = parse_chord(chord) {
            self.list_key(cx, &Page::Settings, &press);
        }
    }

    /// Something else is pressed than what is being changed.
    pub(crate) fn leave_setting(&mut self) {
        self.pages.settings.capture = None;
        let Some((key, mut field)) = self.pages.settings.field.take() else { return };
        let value = field.take();
        if value.trim() != self.setting(key) && !value.trim().is_empty() {
            self.choose(key, value.trim());
        }
    }
}

#[cfg(test)]
mod tests {
    use rookery_view::link::{Rights, method};

    use super::*;
    use crate::app::{Effect, Environment};
    use crate::picture::fixed::Fixed;

    fn page() -> (Fixed, App) {
        let mut fixed = Fixed::default();
        fixed.scene.page = Some(Page::Settings);
        let mut app = App::new((80, 24), Environment { is_window: true, ..Default::default() });
        app.rights = Rights::Full;
        app.settings.guard = 400;
        app.settings.confirm_close = "busy".to_owned();
        (fixed, app)
    }

    fn row(app: &App, id: &str) -> usize {
        app.list_rows(&Page::Settings, 0).iter().position(|row| row.id == id).unwrap()
    }

    fn written(app: &mut App) -> Vec<(String, String)> {
        let set = |effect| match effect {
            Effect::Call(_, name, params) if name == method::SETTINGS.name => {
                let text = |member: &str| params[member].as_str().unwrap_or_default().to_owned();
                Some((text("set"), text("value")))
            }
            _ => None,
        };
        app.take_effects().into_iter().filter_map(set).collect()
    }

    fn one(key: &str, value: &str) -> Vec<(String, String)> {
        vec![(key.to_owned(), value.to_owned())]
    }

    #[test]
    fn words_are_chosen_and_numbers_stepped_by_the_mouse_alone() {
        let (fixed, mut app) = page();
        let cx = Cx { picture: &fixed, now: 10, wall: 0 };
        let close = row(&app, "confirm-close");
        app.press_setting(&cx, close, 2);
        assert_eq!(written(&mut app), one("confirm-close", "never"));
        let guard = row(&app, "answer-guard-ms");
        app.press_setting(&cx, guard, 1);
        assert_eq!(written(&mut app), one("answer-guard-ms", "500"));
        app.press_setting(&cx, guard, 0);
        assert_eq!(written(&mut app), one("answer-guard-ms", "300"));
        app.press_setting(&cx, guard, 2);
        assert!(app.pages.settings.has_field());
        // What was written is taken when something else is pressed.
        app.pages.settings.field().unwrap().take();
        app.pages.settings.field().unwrap().insert("250");
        app.click_row(&cx, close, 1);
        assert_eq!(written(&mut app), one("answer-guard-ms", "250"));
        assert!(!app.pages.settings.has_field());
    }

    #[test]
    fn the_list_of_keys_is_opened_and_left_by_the_mouse() {
        let (fixed, mut app) = page();
        let cx = Cx { picture: &fixed, now: 10, wall: 0 };
        let keys = row(&app, "keybind");
        app.press_setting(&cx, keys, 0);
        assert!(app.pages.settings.keys);
        app.press_setting(&cx, 0, 0);
        assert!(app.pages.settings.is_capturing());
        app.click_row(&cx, 1, 1);
        assert!(!app.pages.settings.is_capturing());
        app.press_button(&cx, rookery_view::scene::pages::Button::Back);
        assert!(!app.pages.settings.keys);
    }

    #[test]
    fn who_only_looks_sets_nothing() {
        let (fixed, mut app) = page();
        let cx = Cx { picture: &fixed, now: 10, wall: 0 };
        app.rights = Rights::Look;
        for id in ["confirm-close", "answer-guard-ms", "theme"] {
            let index = row(&app, id);
            app.press_setting(&cx, index, 1);
            assert_eq!(app.take_effects(), [], "{id}");
        }
    }
}
