//! Answers to calls.

use rookery_view::link::{
    CommandsFound, Copied, Done, Found, LinkFound, ModelsFound, Pasted, PrefsFound, Selected,
    ThreadRef,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{App, Ask, CallError, Cx, Effect, READ_ONLY, Reply};
use crate::daemon;
use crate::words::line;

/// The code of an answer to something that has changed meanwhile.
const CHANGED: i64 = -32011;

impl App {
    /// An answer came.
    pub fn reply(&mut self, cx: &Cx<'_>, ask: Ask, reply: Reply) {
        let Ask::Moving(ask) = ask else { return self.replied(cx, ask, reply) };
        self.replied(cx, *ask, reply);
        self.moved();
    }

    fn replied(&mut self, cx: &Cx<'_>, ask: Ask, reply: Reply) {
        if matches!(ask, Ask::Paste(..) | Ask::Pasted) && !self.pasting.is_empty() {
            self.pasting.remove(0);
        }
        let value = match reply {
            Ok(value) => value,
            Err(error) => return self.failed(cx, &ask, &error),
        };
        match ask {
            Ask::Quiet | Ask::Pasted | Ask::Moving(_) => {}
            Ask::Say(text) => self.say(text),
            Ask::WebOn => {
                self.call(Ask::WebPaired, daemon::WEB_PAIR, Done {});
            }
            Ask::WebPaired => self.ask_pairing(&value),
            Ask::Card(serial) => self.pages.card_came(serial, value),
            Ask::Decide(done) => match value["settled"].as_bool() {
                Some(false) => self.warn("already settled"),
                _ => self.say(done),
            },
            Ask::Paste(terminal, text) => {
                let pasted: Pasted = read(value);
                if !pasted.pasted {
                    let why = match pasted.why {
                        Some(rookery_view::link::PasteDoubt::Controls) => "controls",
                        Some(_) => "lines",
                        None => "always",
                    };
                    self.ask_paste(terminal, pasted.text.unwrap_or(text), why);
                }
            }
            Ask::Copy => self.copied(&read(value)),
            Ask::CopyDragged => {
                let copied: Copied = read(value);
                // A click that selected nothing is no news.
                if !copied.text.is_empty() {
                    self.push(Effect::CopyDragged(copied));
                }
            }
            Ask::Copied(copied, how) => self.has_copied(&copied, &how),
            Ask::Find(serial) => self.found(cx, serial, read::<Found>(value)),
            Ask::Link(terminal) => self.link_found(terminal, &read(value)),
            Ask::Hovered(terminal, at) => self.link_hovered((terminal, at), &read(value)),
            Ask::Select => self.settled(&read(value)),
            Ask::Thread(thread) => self.pages.thread.opened(&thread, read(value)),
            Ask::Sent(thread) => self.pages.thread.was_sent(&thread),
            Ask::Older => self.pages.thread.older(read(value)),
            Ask::NewThread => {
                let thread = read::<ThreadRef>(value).thread;
                self.pages.new_thread.end();
                self.go(rookery_view::link::Page::Thread { thread });
            }
            Ask::List(page) => self.pages.list.filled(page, value),
            Ask::MoreThreads(after) => self.pages.list.more_threads(&after, value),
            Ask::Review => self.pages.review.came(value),
            Ask::Diff(serial, file) => {
                if let Some(file) = self.pages.review.diff_came(serial, file, read(value)) {
                    self.load_file(&file);
                }
                self.load_more_lines();
            }
            Ask::DiffMore(serial, file, from) => {
                self.pages.review.more_came(serial, &file, from, read(value));
                self.load_more_lines();
            }
            Ask::Listed(page, text) => {
                self.say(text);
                match page {
                    "worktrees" => self.load_worktrees(cx),
                    page => self.load_list(page),
                }
            }
            Ask::Restored => {
                let safety = value["safety"]["id"].as_str().unwrap_or_default();
                let title = value["safety"]["title"].as_str().unwrap_or_default();
                let text = format!("restored; what was there is checkpoint {safety} {title}");
                self.say(line(&text));
                self.load_list("checkpoints");
            }
            Ask::Landed => {
                let into = value["into"].as_str().unwrap_or("its branch");
                self.say(line(&format!("landed {} commits on {into}", value["commits"])));
                self.load_worktrees(cx);
            }
            Ask::Opened => {
                let terminal = value["id"].as_u64();
                self.go(rookery_view::link::Page::Workspace { terminal });
            }
            Ask::Prefs => self.take_prefs(&read::<PrefsFound>(value)),
            Ask::ModelMenu => self.model_menu(&read::<ModelsFound>(value).models),
            Ask::Models => self.pages.new_thread.models_came(read::<ModelsFound>(value).models),
            Ask::Commands(thread) => {
                let commands = read::<CommandsFound>(value).commands;
                self.pages.thread.commands_came(&thread, commands);
            }
            Ask::Item(from) => self.pages.thread.item_came(from, read(value)),
        }
    }

    fn failed(&mut self, cx: &Cx<'_>, ask: &Ask, error: &CallError) {
        if error.code == 0 {
            // The connection broke; that is told in its own place.
            return;
        }
        if matches!(ask, Ask::Decide(_)) {
            if error.code == CHANGED {
                self.reload_card(cx);
                return self.warn("it changed: nothing was decided, read it again");
            }
            self.reload_card(cx);
        }
        if let Ask::Hovered(terminal, at) = ask {
            return self.link_hovered((*terminal, *at), &LinkFound::default());
        }
        if matches!(ask, Ask::Prefs | Ask::Models | Ask::Commands(_)) {
            // Conveniences: what was asked for goes on without them.
            if *ask == Ask::Models {
                self.pages.new_thread.models_came(Vec::new());
            }
            return;
        }
        if error.message.starts_with("this viewer may not call") {
            return self.warn(READ_ONLY);
        }
        if let Ask::Sent(_) = ask {
            self.pages.thread.take_back();
        }
        if let Ask::List(_) | Ask::MoreThreads(_) = ask {
            self.pages.list.failed();
        }
        if let Ask::DiffMore(..) = ask {
            self.pages.review.more_failed();
        }
        self.note = Some((rookery_view::link::Tone::Error, line(&error.message)));
    }

    pub(super) fn copied(&mut self, copied: &Copied) {
        if copied.text.is_empty() {
            return self.warn("nothing is selected");
        }
        self.push(Effect::Copy(copied.clone()));
    }

    /// A text is where it was to be copied to; `how` says which way it took, if that is not certain.
    pub fn has_copied(&mut self, copied: &Copied, how: &str) {
        let part = if copied.cut { " (only a part: there was more)" } else { "" };
        let what = self.copying.take().map(|what| format!("{what}: ")).unwrap_or_default();
        self.say(format!("{what}{how}{part}"));
    }

    fn settled(&mut self, settled: &Selected) {
        if let (Some(selection), Some(anchor), Some(head)) =
            (&mut self.selection, settled.anchor, settled.head)
        {
            selection.anchor = anchor;
            selection.head = head;
        }
    }
}

/// An answer as its type; a daemon that is older or newer may leave members off.
pub(crate) fn read<T: DeserializeOwned + Default>(value: Value) -> T {
    serde_json::from_value(value).unwrap_or_default()
}
