//! Where a key goes: questions and overlays first, then the keymap, then the page, then the program.

use rookery_term::keys::{Key, KeyKind, KeyPress, Special};
use rookery_view::link::{
    ClipTarget, Confirm, Edit, Page, Palette, PaletteCall, Paste, bound, method,
};

use super::hold::Typed;
use super::{App, Ask, Cx, Edited, Effect, Field, Input, plain_char};
use crate::keymap::Meaning;

/// What is said about input that a viewer without rights cannot send.
pub(crate) const READ_ONLY: &str = "read-only: nothing is sent or decided here";

impl App {
    /// The same as [`App::key`]; whether the picture may be another for it. A key that only goes to a program
    /// shows in what comes of it, and a picture before that is work between the key and its echo.
    pub fn shows_key(&mut self, cx: &Cx<'_>, press: &KeyPress) -> bool {
        let has_sign = self.note.is_some() || self.selection.is_some();
        let may_pass = !has_sign && self.is_typing_into_program(cx);
        let before = self.out.len();
        self.key(cx, press);
        let is_passed = matches!(self.out[before..], [Effect::Input(Input::Key(..))]);
        !(may_pass && is_passed && self.note.is_none())
    }

    /// A key was pressed, repeated or released.
    pub fn key(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        if press.kind == KeyKind::Release {
            if !self.keeps(cx, || Typed::Key(press.clone())) {
                self.release(cx, press);
            }
            return;
        }
        let is_modifier = matches!(press.key, Key::Special(special) if special.is_modifier());
        if is_modifier && !self.is_typing_into_program(cx) {
            // On its own it does nothing of ours: shift on the way to a capital ends no prefix.
            return;
        }
        if self.lost.is_some() {
            return self.key_while_lost(cx.now, press);
        }
        self.note = None;
        // Esc is the card's own way back from there.
        if !is(press, Special::Enter) && !is(press, Special::Escape) {
            self.unarm();
        }
        if self.paste_key(cx, press) {
            return;
        }
        if self.question_key(press)
            || self.keeps(cx, || Typed::Key(press.clone()))
            || self.dialog_key(cx, press)
            || self.menu_key(cx, press)
            || self.capture_key(press)
        {
            return;
        }
        if self.prefix {
            return self.key_after_prefix(cx, press);
        }
        if self.around.only_inbox && self.is_interrupt(cx, press) {
            return self.push(Effect::Leave);
        }
        if self.palette_key(cx, press) || self.rename_key(cx, press) {
            return;
        }
        // Also where these chords are actions of the face.
        if self.find.is_some() && super::find::is_option(press) {
            return self.find_key(cx, press);
        }
        match self.keymap.meaning(press) {
            Meaning::Prefix => self.prefix = true,
            Meaning::Action(action) => self.run(cx, &action),
            Meaning::Free => self.free_key(cx, press),
        }
    }

    /// Control with `c` or `d` on a page that has no program to give it to.
    fn is_interrupt(&self, cx: &Cx<'_>, press: &KeyPress) -> bool {
        is_ctrl(press)
            && matches!(press.key, Key::Char('c' | 'd'))
            && matches!(App::page(cx), Page::Inbox { .. })
            && !self.pages.card.has_field()
    }

    fn free_key(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        if self.find.is_some() {
            return self.find_key(cx, press);
        }
        if self.copy.is_some() {
            return self.copy_mode_key(cx, press);
        }
        if self.sidebar.is_some() {
            return self.sidebar_key(cx, press);
        }
        if self.is_unseen && !self.pages.new_thread.is_open {
            // A message decides nothing before Enter, so it is not lost.
            let is_message = matches!(App::page(cx), Page::Thread { .. })
                && self.pages.thread.at.is_none()
                && super::field::typed(press).is_some();
            if !is_message {
                if matches!(App::page(cx), Page::Workspace { .. }) {
                    self.push(Effect::Bell);
                    self.warn("not sent");
                }
                return;
            }
        }
        if self.pages.new_thread.is_open || !matches!(App::page(cx), Page::Workspace { .. }) {
            return self.page_key(cx, press);
        }
        match App::focused(cx) {
            Some(terminal) => self.type_key(cx, terminal, press.clone()),
            None => self.empty_key(cx, press),
        }
    }

    /// A key for a program.
    fn type_key(&mut self, cx: &Cx<'_>, terminal: u64, press: KeyPress) {
        if self.may_reach(cx, terminal) {
            self.push(Effect::Input(Input::Key(terminal, press)));
        }
    }

    /// Whether a program takes what is typed; else it is said why not. What was selected there is not any
    /// more.
    fn may_reach(&mut self, cx: &Cx<'_>, terminal: u64) -> bool {
        let why = if !self.may_type() {
            READ_ONLY
        } else if self.around.own_terminal == Some(terminal) {
            "this is the terminal that Rookery itself runs in"
        } else if cx.picture.term(terminal).is_some_and(|term| term.ended().is_some()) {
            "the program has ended; x after the prefix closes the tab"
        } else {
            self.selection = self.selection.filter(|selection| selection.terminal != terminal);
            return true;
        };
        self.warn(why);
        false
    }

    /// Releases matter to programs that asked for them, and to nothing of ours.
    fn release(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        let is_program = matches!(App::page(cx), Page::Workspace { .. })
            && self.is_typing_into_program(cx)
            && matches!(self.keymap.meaning(press), Meaning::Free);
        if let Some(terminal) = App::focused(cx)
            && is_program
            && self.may_type()
        {
            self.push(Effect::Input(Input::Key(terminal, press.clone())));
        }
    }

    /// Whether the next letter goes to a program.
    pub fn is_typing_into_program(&self, cx: &Cx<'_>) -> bool {
        let scene = cx.picture.scene();
        let is_covered = scene.palette.as_ref().is_some_and(Option::is_some)
            || scene.dialog.as_ref().is_some_and(Option::is_some)
            || self.question.is_some()
            || self.menu.is_some()
            || self.rename.is_some()
            || self.find.is_some()
            || self.copy.is_some()
            || self.sidebar.is_some()
            || self.pages.new_thread.is_open
            || self.prefix
            || self.lost.is_some();
        !is_covered && matches!(App::page(cx), Page::Workspace { .. }) && App::focused(cx).is_some()
    }

    fn key_after_prefix(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        self.prefix = false;
        if self.keymap.is_prefix(press) {
            if let Some(terminal) = App::focused(cx) {
                self.type_key(cx, terminal, press.clone());
            }
            return;
        }
        if press.key == Key::Special(Special::Escape) && press.mods.is_empty() {
            return;
        }
        match self.keymap.after_prefix(press) {
            Some(action) => {
                self.find = None;
                if action != "copy" {
                    self.copy = None;
                }
                self.run(cx, &action);
            }
            None => self.warn(format!("{press} does nothing after the prefix; ? lists every key")),
        }
    }

    fn question_key(&mut self, press: &KeyPress) -> bool {
        let Some(question) = &mut self.question else { return false };
        if is(press, Special::Escape) {
            self.question = None;
            return true;
        }
        if let Some(field) = &mut question.field
            && field.key(press) == Edited::Yes
        {
            return true;
        }
        let letter = plain_char(press);
        let chosen =
            question.choices.iter().find(|(key, _)| Some(*key) == letter).map(|(_, word)| *word);
        if chosen.is_some() || (question.choices.is_empty() && is(press, Special::Enter)) {
            self.confirm(chosen);
        }
        true
    }

    fn dialog_key(&mut self, cx: &Cx<'_>, press: &KeyPress) -> bool {
        if !cx.picture.scene().dialog.as_ref().is_some_and(Option::is_some) {
            return false;
        }
        let yes = is(press, Special::Enter);
        if yes || is(press, Special::Escape) {
            self.call(Ask::Quiet, method::CONFIRM, Confirm { yes });
        }
        true
    }

    fn palette_key(&mut self, cx: &Cx<'_>, press: &KeyPress) -> bool {
        let Some(open) = cx.picture.scene().palette.as_ref().and_then(Option::as_ref) else {
            self.palette = None;
            return false;
        };
        let page = i64::from(self.drawn.page_rows.max(1));
        let call = match press.key {
            Key::Special(Special::Escape) => {
                // What was written belongs to the frame that goes.
                self.palette = None;
                PaletteCall::Back(true)
            }
            Key::Special(Special::Up) => PaletteCall::Move(-1),
            Key::Special(Special::Down) => PaletteCall::Move(1),
            Key::Char('p') if is_ctrl(press) => PaletteCall::Move(-1),
            Key::Char('n') if is_ctrl(press) => PaletteCall::Move(1),
            Key::Special(Special::PageUp) => PaletteCall::Move(-page),
            Key::Special(Special::PageDown) => PaletteCall::Move(page),
            Key::Special(Special::Enter) => {
                let chosen = open.rows.get(open.selected as usize).map(|row| row.id.clone());
                return self.choose_in_palette(cx, chosen, None);
            }
            _ => {
                let query = open.query.clone();
                let field = self.palette.get_or_insert_with(|| Field::new(query));
                if field.key(press) == Edited::No {
                    return true;
                }
                PaletteCall::Query(field.text().to_owned())
            }
        };
        self.call(Ask::Quiet, method::PALETTE, call);
        true
    }

    /// A row of the palette was chosen: actions of this face are done here.
    pub(super) fn choose_in_palette(
        &mut self,
        cx: &Cx<'_>,
        id: Option<String>,
        index: Option<u32>,
    ) -> bool {
        self.palette = None;
        if let Some(id) = id
            && (super::act::is_local(&id) || (self.around.is_window && id == "paste"))
        {
            self.call(Ask::Quiet, method::PALETTE, PaletteCall::Close(true));
            self.run(cx, &id);
            return true;
        }
        self.call(Ask::Quiet, method::PALETTE, PaletteCall::Activate(index));
        true
    }

    fn rename_key(&mut self, cx: &Cx<'_>, press: &KeyPress) -> bool {
        let Some(start) = renamed(cx) else {
            self.rename = None;
            return false;
        };
        let field = self.rename.get_or_insert_with(|| Field::new(start));
        if is(press, Special::Enter) {
            let text = Some(field.take());
            self.rename = None;
            self.call(Ask::Quiet, method::EDIT, Edit { text, cancel: false });
        } else if is(press, Special::Escape) {
            self.rename = None;
            self.call(Ask::Quiet, method::EDIT, Edit { text: None, cancel: true });
        } else {
            field.key(press);
        }
        true
    }

    /// Keys of the page on which nothing runs yet.
    fn empty_key(&mut self, cx: &Cx<'_>, press: &KeyPress) {
        match plain_char(press) {
            Some('c') => self.run(cx, "new_tab"),
            Some('t') => self.run(cx, "new_thread"),
            Some('g') => self.start_agent(cx),
            Some('?') => self.run(cx, "help"),
            Some(' ') => self.run(cx, "command_palette"),
            _ => {}
        }
    }

    /// The chord that pastes, where a field over everything has the keyboard: it would take it for a key
    /// that edits. Behind a change of place it waits as every key does.
    fn paste_key(&mut self, cx: &Cx<'_>, press: &KeyPress) -> bool {
        if !self.around.is_window || self.pages.settings.is_capturing() {
            return false;
        }
        let is_paste =
            matches!(self.keymap.meaning(press), Meaning::Action(action) if action == "paste");
        let has_field = match &self.question {
            Some(question) => question.field.is_some(),
            None => open_palette(cx).is_some() || renamed(cx).is_some(),
        };
        if !is_paste || !has_field {
            return false;
        }
        if self.question.is_some() || !self.keeps(cx, || Typed::Key(press.clone())) {
            self.push(Effect::Paste(false));
        }
        true
    }

    /// An input method committed a text. It keeps its place among keys; where no program takes it, it is
    /// typed letter by letter.
    pub fn commit(&mut self, cx: &Cx<'_>, text: String) {
        let is_free = self.lost.is_none() && self.question.is_none();
        if is_free && self.keeps(cx, || Typed::Text(text.clone())) {
            return;
        }
        match App::focused(cx).filter(|_| self.is_typing_into_program(cx)) {
            Some(terminal) => {
                self.note = None;
                if self.may_reach(cx, terminal) {
                    self.push(Effect::Input(Input::Text(terminal, text)));
                }
            }
            None => {
                for c in text.chars() {
                    let press = KeyPress { text: Some(c.into()), ..KeyPress::new(Key::Char(c)) };
                    self.key(cx, &press);
                }
            }
        }
    }

    /// A text was pasted.
    pub fn paste(&mut self, cx: &Cx<'_>, text: String, is_cut: bool) {
        if self.lost.is_some() {
            return self.warn("not sent");
        }
        if self.question.is_none() && self.keeps(cx, || Typed::Paste(text.clone(), is_cut)) {
            return;
        }
        self.note = None;
        if is_cut {
            self.warn("the paste was too long and was cut off");
        }
        if let Some(question) = &mut self.question {
            if let Some(field) = &mut question.field {
                field.insert(&text);
            }
            return;
        }
        // Either may be open without a letter having been written.
        if let Some(query) = open_palette(cx).map(|open| open.query.clone()) {
            let field = self.palette.get_or_insert_with(|| Field::new(query));
            field.insert(&text.replace(['\r', '\n'], " "));
            let query = field.text().to_owned();
            return self.call(Ask::Quiet, method::PALETTE, PaletteCall::Query(query));
        }
        if let Some(start) = renamed(cx) {
            let field = self.rename.get_or_insert_with(|| Field::new(start));
            return field.insert(&text.replace(['\r', '\n'], " "));
        }
        if let Some(find) = self.find.as_mut() {
            find.field.insert(&text.replace(['\r', '\n'], " "));
            return self.search(cx);
        }
        if self.pages.paste(cx, &text) {
            if self.pages.inbox.filtering && matches!(App::page(cx), Page::Inbox { .. }) {
                self.inbox_filtered();
            }
            return;
        }
        match App::focused(cx) {
            Some(_) if text.len() > bound::PASTE_BYTES => {
                self.warn("that is too much to paste: 16 MiB are the most");
            }
            Some(t) if self.is_typing_into_program(cx) && self.may_type() => {
                match self.settings.paste_warning.as_str() {
                    "never" => self.paste_surely(t, text),
                    "always" => self.ask_paste(t, text, "always"),
                    _ => {
                        let paste = Paste { t, text: text.clone(), ..Paste::default() };
                        self.pasting.push(text.clone());
                        self.call(Ask::Paste(t, text), method::PASTE, paste);
                    }
                }
            }
            Some(_) if !self.may_type() => self.warn(READ_ONLY),
            _ => self.warn("cannot paste here"),
        }
    }

    /// What lies on a clipboard of the daemon's machine is pasted, with the same questions.
    pub(super) fn paste_from(&mut self, terminal: Option<u64>, from: ClipTarget) {
        let Some(t) = terminal else { return self.warn("cannot paste here") };
        if !self.may_type() {
            return self.warn(READ_ONLY);
        }
        let paste = Paste {
            t,
            from: Some(from),
            sure: self.settings.paste_warning == "never",
            ask: self.settings.paste_warning == "always",
            ..Paste::default()
        };
        self.pasting.push(String::new());
        self.call(Ask::Paste(t, String::new()), method::PASTE, paste);
    }

    /// The outer terminal got the keyboard, or lost it.
    pub fn focus(&mut self, has: bool) {
        self.has_focus = has;
        if self.lost.is_none() {
            self.push(Effect::Input(Input::Focus(has)));
        }
    }
}

/// The palette, while it is open.
fn open_palette<'a>(cx: &Cx<'a>) -> Option<&'a Palette> {
    cx.picture.scene().palette.as_ref().and_then(Option::as_ref)
}

/// The name that is being edited in place.
pub fn renamed(cx: &Cx<'_>) -> Option<String> {
    let scene = cx.picture.scene();
    let tabs = scene.strip.iter().flat_map(|strip| &strip.groups).flat_map(|group| &group.tabs);
    let of_tab = tabs.filter_map(|tab| tab.rename.clone());
    let projects = scene.sidebar.iter().flat_map(|sidebar| &sidebar.projects);
    let of_project = projects.filter_map(|project| project.rename.clone());
    of_tab.chain(of_project).next()
}

/// Whether a key is this one, without modifiers.
pub(crate) fn is(press: &KeyPress, special: Special) -> bool {
    let locks = rookery_term::keys::Mods::CAPS | rookery_term::keys::Mods::NUM;
    press.key == Key::Special(special) && press.mods.without(locks).is_empty()
}

/// Whether exactly Control is held.
pub(crate) fn is_ctrl(press: &KeyPress) -> bool {
    press.mods == rookery_term::keys::Mods::CTRL
}
