//! Seeing more of what is there: the rest of a question, the rest of a terminal that is larger than its
//! room, and where a link begins and ends.

use rookery_face::app::plain_char;
use rookery_model::TerminalId;
use rookery_term::keys::{Key, KeyPress, Mods, Special};
use rookery_term::mouse::MouseMods;
use rookery_view::link::modes;
use rookery_view::scene::layout::{Bar, Hit};

use super::Controller;
use super::mouse::LINE;

/// Rows and columns that one key pans by.
const PAN: (i32, i32) = (1, 4);

impl Controller {
    /// Keys that move what a question is about, where it has more than fits; and the first yes before its
    /// end was seen, which only shows that.
    pub(super) fn scrolls_question(&mut self, press: &KeyPress) -> bool {
        let Some(picture) = self.picture.clone() else { return false };
        let Some(scroll) = picture.plan.scroll(Bar::Question).filter(|it| it.most > 0.0) else {
            return false;
        };
        let Some(question) = &self.driver.app.question else { return false };
        let letter = plain_char(press);
        let is_yes = question.choices.iter().any(|(key, _)| Some(*key) == letter)
            || (question.choices.is_empty() && press.key == Key::Special(Special::Enter));
        let by = match press.key {
            Key::Special(Special::Up) => -LINE,
            Key::Special(Special::Down) => LINE,
            Key::Special(Special::PageUp) => -scroll.view,
            Key::Special(Special::PageDown) => scroll.view,
            _ if is_yes => return self.is_end_unseen(),
            _ => return false,
        };
        self.own.asked_scroll = (scroll.at + by).clamp(0.0, scroll.most);
        true
    }

    /// Whether a question is about more than was seen; its end is shown then.
    pub(super) fn is_end_unseen(&mut self) -> bool {
        let plan = self.picture.as_ref().map(|picture| &picture.plan);
        let Some(scroll) = plan.and_then(|plan| plan.scroll(Bar::Question)) else { return false };
        if self.driver.app.question.is_none() || scroll.at + 1.0 >= scroll.most {
            return false;
        }
        self.own.asked_scroll = scroll.most;
        self.driver.is_dirty = true;
        self.driver.app.warn("this is its end: say it again to mean it");
        true
    }

    /// In copy mode Shift and an arrow show another part of a terminal that is larger than its room; any
    /// other key goes back to the part with the cursor.
    pub(super) fn pans(&mut self, press: &KeyPress) -> bool {
        let Some(copy) = &self.driver.app.copy else { return false };
        let terminal = copy.terminal;
        let (down, right) = match press.key {
            Key::Special(Special::Up) => (-PAN.0, 0),
            Key::Special(Special::Down) => (PAN.0, 0),
            Key::Special(Special::Left) => (0, -PAN.1),
            Key::Special(Special::Right) => (0, PAN.1),
            Key::Special(special) if special.is_modifier() => return false,
            _ => {
                self.own.pan = None;
                return false;
            }
        };
        let locks = Mods::CAPS | Mods::NUM;
        if press.mods.without(locks) != Mods::SHIFT {
            self.own.pan = None;
            return false;
        }
        let Some(picture) = self.picture.clone() else { return false };
        let id = TerminalId::new(terminal);
        let pane = picture.scene.stage.panes().iter().find(|pane| pane.terminal == id);
        let (Some(pane), Some(place)) = (pane, picture.layout.terminal(id)) else { return false };
        let (part, grid) = (place.part, &pane.grid);
        if usize::from(part.rows) >= grid.rows.len() && part.cols >= grid.cols {
            return false;
        }
        let rows = u16::try_from(grid.rows.len()).unwrap_or(u16::MAX);
        let step = |at: u16, by: i32, own: u16, room: u16| {
            let most = i32::from(own.saturating_sub(room));
            u16::try_from((i32::from(at) + by).clamp(0, most)).unwrap_or(0)
        };
        let row = step(part.row, down, rows, part.rows);
        let col = step(part.col, right, grid.cols, part.cols);
        self.own.pan = Some((terminal, (row, col)));
        true
    }

    /// With the link modifier held, what is under the mouse may be a link; a program that has the mouse
    /// keeps it.
    pub(super) fn hover_link(&mut self, hit: Hit, mods: MouseMods, has_super: bool) {
        let is_held = match self.driver.app.settings.link_modifier.as_str() {
            "alt" => mods.alt,
            "super" => has_super,
            _ => mods.ctrl,
        };
        let over = match hit {
            Hit::Cell { terminal, row, col } if is_held && !self.mouse.is_busy() => {
                let t = terminal.get();
                let term = self.driver.face.mirror().term(t);
                let term = term.filter(|term| mods.shift || term.modes & modes::MOUSE == 0);
                term.map(|term| (t, (term.view.top + u64::from(row), col)))
            }
            _ => None,
        };
        self.driver.is_dirty |= self.driver.app.point_at_link(over);
    }
}
