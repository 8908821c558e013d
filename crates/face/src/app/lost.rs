//! The daemon is away: what is said, and which keys still do something.

use rookery_term::keys::KeyPress;

use super::{App, Effect, plain_char};

/// Keys that come this soon after one another are one word, in milliseconds.
const WORD: u64 = 1000;

/// The daemon is away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// It stopped on purpose, so none is started unasked.
    pub stopping: bool,
    /// When it went, on the clock of [`super::Cx::now`].
    pub since: u64,
    /// How many inputs may not have arrived.
    pub unsure: usize,
    /// What they type.
    pub text: String,
}

impl Lost {
    /// Seconds since it went.
    pub fn away(&self, now: u64) -> u64 {
        now.saturating_sub(self.since) / 1000
    }

    /// What may not have arrived, in one line.
    pub fn unsure_line(&self) -> Option<String> {
        if self.text.is_empty() {
            return None;
        }
        let shown: String = self.text.chars().take(60).flat_map(char::escape_debug).collect();
        // Sizes and motions of the mouse are numbered too, but are no keys.
        let count = self.unsure.min(self.text.chars().count());
        let noun = if count == 1 { "key" } else { "keys" };
        Some(format!("{count} {noun} may not have arrived: \"{shown}\""))
    }
}

impl App {
    /// The connection broke.
    pub fn lose(&mut self, mut lost: Lost) {
        let (count, text) = self.let_go_of_keys();
        lost.unsure += count;
        for paste in std::mem::take(&mut self.pasting) {
            // Named by its beginning; what came from a clipboard is not known here.
            let begin = paste.get(..paste.floor_char_boundary(64)).unwrap_or_default();
            lost.unsure += begin.chars().count();
            lost.text.push_str(begin);
        }
        lost.text.push_str(&text);
        self.typed_while_lost = None;
        self.lost = Some(lost);
        self.prefix = false;
        self.drag = None;
        self.hover = super::Hover::default();
        // A decision that was half made is not made.
        self.pages.card.disarm();
        self.pages.thread.card.disarm();
        self.has_unsent = self.pages.thread.take_back();
    }

    /// The connection is back.
    pub fn regain(&mut self) {
        let unsure = self.lost.take().and_then(|lost| lost.unsure_line());
        match (unsure, std::mem::take(&mut self.has_unsent)) {
            (Some(line), _) => self.warn(line),
            (None, true) => {
                self.warn("your message may not have arrived; it is in the field again")
            }
            (None, false) => self.note = None,
        }
    }

    /// A key while the daemon is away: it is told that nothing was sent.
    pub(super) fn key_while_lost(&mut self, now: u64, press: &KeyPress) {
        if self.prefix {
            self.prefix = false;
            if matches!(self.keymap.after_prefix(press).as_deref(), Some("leave")) {
                self.push(Effect::Leave);
            }
            return;
        }
        if self.keymap.is_prefix(press) {
            self.prefix = true;
            return;
        }
        // No daemon is started by a letter within a word.
        let is_u = plain_char(press) == Some('u');
        let before = self.typed_while_lost.filter(|at| now < at + WORD);
        self.typed_while_lost = plain_char(press).filter(|_| !is_u).map(|_| now);
        if is_u && before.is_none() {
            self.push(Effect::StartDaemon);
            return;
        }
        self.push(Effect::Bell);
        self.warn("not sent");
    }
}
