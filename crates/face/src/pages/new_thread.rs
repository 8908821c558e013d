//! The prompt of a new thread: what the agent shall do, and where, with which model and mode.

use rookery_term::keys::{Key, KeyPress, Mods, Special};
use rookery_view::link::{Done, ModelRow, Project, ThreadNew, method};
use rookery_view::scene::pages::Button;

use super::text::{Line, Tint};
use crate::app::{App, Ask, Cx, Field, is};
use crate::words::{Signs, line};

/// Modes that a thread can begin with, in plain words beside.
pub(crate) const MODES: &[(&str, &str)] = &[
    ("default", "asks before it changes anything"),
    ("plan", "plans first and changes nothing"),
    ("accept_all", "edits files without asking"),
];

/// What the keyboard is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    #[default]
    Text,
    Project,
    Model,
    Mode,
}

/// The prompt.
#[derive(Debug, Default)]
pub struct NewThread {
    /// Whether it is shown.
    pub is_open: bool,
    /// What is written.
    pub text: Field,
    at: At,
    project: Option<u64>,
    models: Vec<ModelRow>,
    /// Whether the daemon has said which there are.
    has_models: bool,
    /// None is the usual one.
    model: Option<usize>,
    mode: usize,
}

impl NewThread {
    pub fn models_came(&mut self, models: Vec<ModelRow>) {
        self.models = models;
        self.has_models = true;
        self.model = self.model.filter(|at| *at < self.models.len());
    }

    /// Whether letters go into the text.
    pub fn has_text(&self) -> bool {
        self.at == At::Text
    }

    /// Letters go into the text again.
    pub(crate) fn go_to_text(&mut self) -> &mut Field {
        self.at = At::Text;
        &mut self.text
    }

    /// A button beside the text: it has the keyboard, and the next choice is taken.
    pub(crate) fn press(&mut self, cx: &Cx<'_>, button: Button) {
        self.at = match button {
            Button::Project => At::Project,
            Button::Model => At::Model,
            _ => At::Mode,
        };
        self.turn(cx, 1);
    }

    /// The button that the keyboard is at.
    pub fn focus(&self) -> Option<Button> {
        match self.at {
            At::Text => None,
            At::Project => Some(Button::Project),
            At::Model => Some(Button::Model),
            At::Mode => Some(Button::Mode),
        }
    }

    /// The project in which the thread would be: its name and its directory.
    pub fn project(&self, cx: &Cx<'_>) -> Option<(String, String)> {
        let row = projects(cx).into_iter().find(|row| Some(row.id) == self.project)?;
        Some((line(&row.name), line(&row.root)))
    }

    /// The model that is chosen; none is the usual one.
    pub fn model(&self) -> Option<String> {
        let row = self.model.and_then(|at| self.models.get(at))?;
        Some(line(&format!("{}/{}", row.provider, row.model)))
    }

    /// The mode that is chosen, and what it means.
    pub fn mode(&self) -> (&'static str, &'static str) {
        MODES[self.mode]
    }

    /// It ends; nothing of it is kept.
    pub fn end(&mut self) {
        *self = NewThread::default();
    }

    /// What is chosen, in one line each.
    pub fn lines(&self, cx: &Cx<'_>, cwd: &str, signs: Signs) -> Vec<Line> {
        let place = match self.project(cx) {
            Some((name, root)) => format!("{name}  {root}"),
            None => line(cwd),
        };
        let model = self.model().unwrap_or_else(|| match self.has_models {
            true => "the usual one".to_owned(),
            false => "the usual one  (asking which there are)".to_owned(),
        });
        let (mode, words) = self.mode();
        let rows = [
            (At::Project, "project", place),
            (At::Model, "model", model),
            (At::Mode, "mode", format!("{mode}  {words}")),
        ];
        let row = |(at, name, value): (At, &str, String)| {
            let is_here = self.at == at;
            let lead = if is_here { signs.pointer() } else { " " };
            let tint = if is_here { Tint::Bold } else { Tint::Text };
            Line::of_pieces(vec![(format!(" {lead} {name:<9}"), Tint::Dim), (value, tint)])
        };
        rows.map(row).into()
    }

    fn turn(&mut self, cx: &Cx<'_>, step: isize) {
        let around = |at: usize, count: usize| {
            at.checked_add_signed(step).unwrap_or(count.saturating_sub(1)) % count.max(1)
        };
        match self.at {
            At::Text => {}
            At::Project => {
                let ids: Vec<u64> = projects(cx).iter().map(|row| row.id).collect();
                let at = ids.iter().position(|id| Some(*id) == self.project).unwrap_or(0);
                self.project = ids.get(around(at, ids.len())).copied();
            }
            At::Model => {
                // The usual one is the first of them all.
                let at = self.model.map_or(0, |at| at + 1);
                self.model = around(at, self.models.len() + 1).checked_sub(1);
            }
            At::Mode => self.mode = around(self.mode, MODES.len()),
        }
    }
}

fn projects<'a>(cx: &Cx<'a>) -> Vec<&'a Project> {
    cx.picture.scene().sidebar.iter().flat_map(|sidebar| &sidebar.projects).collect()
}

impl App {
    /// Opens the prompt in the project that is shown.
    pub(crate) fn begin_thread(&mut self, cx: &Cx<'_>) {
        let active = projects(cx).into_iter().find(|project| project.active).map(|row| row.id);
        let page = &mut self.pages.new_thread;
        page.is_open = true;
        page.project = active;
        self.call(Ask::Models, method::THREAD_MODELS, Done {});
    }

    pub(crate) fn new_thread_key(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        let page = &mut self.pages.new_thread;
        let shift = press.mods.contains(Mods::SHIFT);
        match press.key {
            _ if is(press, Special::Escape) => page.end(),
            Key::Special(Special::Tab) => {
                page.at = match (page.at, shift) {
                    (At::Text, false) | (At::Model, true) => At::Project,
                    (At::Project, false) | (At::Mode, true) => At::Model,
                    (At::Model, false) | (At::Text, true) => At::Mode,
                    (At::Mode, false) | (At::Project, true) => At::Text,
                };
            }
            Key::Special(Special::Enter) if press.mods.intersects(Mods::SHIFT | Mods::ALT) => {
                page.text.insert("\n");
            }
            _ if is(press, Special::Enter) => self.start_thread(),
            _ if page.at == At::Text => drop(page.text.key(press)),
            _ if is(press, Special::Left) => page.turn(cx, -1),
            _ if is(press, Special::Right) || press.key == Key::Char(' ') => page.turn(cx, 1),
            _ => self.say("left and right choose; tab moves to the next field"),
        }
    }

    pub(crate) fn start_thread(&mut self) {
        let page = &self.pages.new_thread;
        let text = page.text.text().to_owned();
        if text.trim().is_empty() {
            return self.warn("enter a prompt first");
        }
        if !self.may_decide() {
            return self.warn("read-only: nothing is sent or decided here");
        }
        let model = page.model.and_then(|at| page.models.get(at));
        let new = ThreadNew {
            cwd: page.project.is_none().then(|| self.around.cwd.clone()),
            project: page.project,
            provider: model.map(|row| row.provider.clone()),
            model: model.map(|row| row.model.clone()),
            mode: (page.mode > 0).then(|| MODES[page.mode].0.to_owned()),
            text,
        };
        self.call(Ask::NewThread, method::THREAD_NEW, new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::fixed::Fixed;

    #[test]
    fn choices_go_around() {
        let fixed = Fixed::default();
        let cx = Cx { picture: &fixed, now: 0, wall: 0 };
        let row = |model: &str| ModelRow { model: model.to_owned(), ..ModelRow::default() };
        let mut page = NewThread::default();
        page.models_came(vec![row("a"), row("b")]);
        page.at = At::Model;
        let mut seen = Vec::new();
        for step in [1, 1, 1, -1, -1] {
            page.turn(&cx, step);
            seen.push(page.model);
        }
        assert_eq!(seen, [Some(0), Some(1), None, Some(1), Some(0)]);
        page.at = At::Mode;
        page.turn(&cx, -1);
        assert_eq!(page.mode, MODES.len() - 1);
        page.at = At::Project;
        page.turn(&cx, 1);
        assert_eq!(page.project, None);
    }
}
