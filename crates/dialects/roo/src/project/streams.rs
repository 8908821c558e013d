//! Texts that come piece by piece: what the agent says and thinks, and what commands put out.

use rookery_agent::turn::Delta;
use rookery_model::{Item, ItemBody, ItemId, TurnId};

use super::{Task, millis};
use crate::wire::{Ask, Change, ClineMessage, Condensed, Say};

/// The shortest time between two frames of a message that grows, in milliseconds.
const PACE: u64 = 50;
/// How much of the output of a command is shown: its last characters.
const OUTPUT_CHARS: usize = 100_000;

/// A text on its way.
#[derive(Debug)]
pub(super) struct Stream {
    say: Say,
    at: u64,
    text: String,
    /// The message, once there is something to show.
    index: Option<usize>,
    /// When its last frame was sent.
    sent_at: u64,
    is_dirty: bool,
    /// Whether part of it was already there when it was first looked at: only its end is sent.
    is_stale: bool,
}

impl Stream {
    fn new(say: Say, at: u64) -> Stream {
        Stream {
            say,
            at,
            text: String::new(),
            index: None,
            sent_at: 0,
            is_dirty: false,
            is_stale: false,
        }
    }
}

impl Task {
    pub(super) fn item_started(&mut self, turn: TurnId, item: &Item, now: u64) {
        let say = match &item.body {
            ItemBody::Agent { .. } => Say::Text,
            ItemBody::Reasoning { .. } => Say::Reasoning,
            ItemBody::Tool(tool) => return self.tool_started(turn, item, tool, now),
            ItemBody::User { .. }
            | ItemBody::Compaction { .. }
            | ItemBody::Error { .. }
            | ItemBody::Raw { .. } => return,
        };
        self.has_streamed = true;
        let stream = Stream::new(say, millis(item.at));
        self.streams.entry(item.id.clone()).or_insert(stream);
    }

    pub(super) fn item_grown(&mut self, id: &ItemId, delta: &Delta, now: u64) {
        let text = match delta {
            Delta::Text { text, .. } | Delta::Thought { text } | Delta::Summary { text, .. } => {
                text
            }
            Delta::SummaryPart { .. } => "\n\n",
        };
        let Some(stream) = self.streams.get_mut(id).filter(|stream| !stream.is_stale) else {
            return;
        };
        if stream.text.is_empty() && text.trim().is_empty() {
            return;
        }
        stream.text.push_str(text);
        stream.is_dirty = true;
        self.emit_stream(id, now);
    }

    /// A command put something out.
    pub(super) fn command_grown(&mut self, id: &ItemId, text: &str, now: u64) {
        self.tool_runs(id);
        let Some(at) = self.shown.get(id).map(|shows| shows.at) else { return };
        if text.is_empty() || self.done.contains(id) {
            return;
        }
        self.grow_output(id, text, at, now);
    }

    fn grow_output(&mut self, id: &ItemId, text: &str, at: u64, now: u64) {
        if !self.streams.contains_key(id) {
            self.create(at, ClineMessage::ask(Ask::CommandOutput, Some(String::new())));
            self.streams.insert(id.clone(), Stream::new(Say::CommandOutput, at));
        }
        let Some(stream) = self.streams.get_mut(id) else { return };
        let is_first = stream.index.is_none();
        stream.text.push_str(text);
        keep_tail(&mut stream.text);
        stream.is_dirty = true;
        self.emit_stream(id, now);
        if is_first {
            // Answered by itself: commands always may put something out.
            self.change(Change::AskResponded);
        }
    }

    /// Sends a frame of a stream unless the last one is too recent.
    fn emit_stream(&mut self, id: &ItemId, now: u64) {
        let Some(stream) = self.streams.get_mut(id).filter(|stream| stream.is_dirty) else {
            return;
        };
        if now < stream.sent_at + PACE {
            return;
        }
        (stream.is_dirty, stream.sent_at) = (false, now);
        let (say, at, text, index) = (stream.say, stream.at, stream.text.clone(), stream.index);
        match index {
            Some(index) => self.update(index, |message| message.text = Some(text)),
            None => {
                let message = ClineMessage { partial: Some(true), ..ClineMessage::say(say, text) };
                let index = self.create(at, message);
                if let Some(stream) = self.streams.get_mut(id) {
                    stream.index = Some(index);
                }
            }
        }
    }

    /// When a stream that was held back is due.
    pub(super) fn streams_due(&self) -> Option<u64> {
        let held = self.streams.values().filter(|stream| stream.is_dirty);
        held.map(|stream| stream.sent_at + PACE).min()
    }

    pub(super) fn emit_streams(&mut self, now: u64) {
        let due = |stream: &Stream| stream.is_dirty && stream.sent_at + PACE <= now;
        let due: Vec<ItemId> =
            self.streams.iter().filter(|(_, it)| due(it)).map(|(id, _)| id.clone()).collect();
        for id in due {
            self.emit_stream(&id, now);
        }
    }

    /// The whole text is there: the last frame of a text says so.
    fn finish_stream(&mut self, id: &ItemId, say: Say, at: u64, text: String) {
        let stream = self.streams.remove(id).unwrap_or_else(|| Stream::new(say, at));
        if text.is_empty() && stream.index.is_none() {
            return;
        }
        let index = match stream.index {
            Some(index) => index,
            None => {
                let partial = Some(true);
                self.create(
                    stream.at,
                    ClineMessage { partial, ..ClineMessage::say(say, text.clone()) },
                )
            }
        };
        self.update(index, |message| {
            message.text = Some(text);
            message.partial = Some(false);
        });
    }

    /// A command came to its end.
    pub(super) fn finish_command(&mut self, id: &ItemId, mut output: String, at: u64, now: u64) {
        keep_tail(&mut output);
        if !self.streams.contains_key(id) {
            if output.is_empty() {
                return;
            }
            self.grow_output(id, &output, at, now);
        }
        self.finish_stream(id, Say::CommandOutput, at, output);
    }

    /// Ends the stream of an item with the text so far.
    pub(super) fn close_stream(&mut self, id: &ItemId) {
        let Some(stream) = self.streams.remove(id) else { return };
        if let Some(index) = stream.index {
            self.update(index, |message| {
                (message.text, message.partial) = (Some(stream.text), Some(false));
            });
        }
    }

    pub(super) fn item_completed(&mut self, turn: TurnId, item: &Item, now: u64) {
        let at = millis(item.at);
        match &item.body {
            ItemBody::User { text, images, .. } => self.push_user_message(text, images, at, now),
            ItemBody::Agent { text, .. } => {
                if !text.is_empty() {
                    self.last_text = Some(text.clone());
                }
                self.finish_stream(&item.id, Say::Text, at, text.clone());
            }
            ItemBody::Reasoning { summary, content } => {
                let parts = if content.iter().all(String::is_empty) { summary } else { content };
                let text = parts.join("\n\n").trim().to_owned();
                self.finish_stream(&item.id, Say::Reasoning, at, text);
            }
            ItemBody::Tool(tool) => self.tool_completed(turn, item, tool, now),
            ItemBody::Compaction { summary, .. } => self.condensed(summary, at),
            ItemBody::Error { .. } | ItemBody::Raw { .. } => {}
        }
    }

    /// What the user said: the first message is the task itself.
    fn push_user_message(&mut self, text: &str, images: &[String], at: u64, now: u64) {
        // What was said before is no answer to this.
        (self.result, self.last_text) = (None, None);
        if std::mem::replace(&mut self.has_begun, true) {
            let images = Some(images.to_vec());
            self.create(at, ClineMessage { images, ..ClineMessage::say(Say::UserFeedback, text) });
            return;
        }
        let images = (!images.is_empty()).then(|| images.to_vec());
        self.create(at, ClineMessage { images, ..ClineMessage::say(Say::Text, text) });
        self.emit_usage(now);
        // Zeros are no change: the first one is sent at once.
        self.tally.sent_at = None;
    }

    fn condensed(&mut self, summary: &str, at: u64) {
        let before = self.tally.usage().context_tokens;
        // About four characters a token, as everywhere where none counts them.
        let after = summary.len() as u64 / 4;
        let condensed = Condensed {
            cost: 0.0,
            prev_context_tokens: before,
            new_context_tokens: after,
            summary: summary.to_owned(),
        };
        self.tally.shorten_context(after);
        let message = ClineMessage::say(Say::CondenseContext, "");
        let message = ClineMessage { text: None, context_condense: Some(condensed), ..message };
        self.create(at, message);
    }

    /// A text of which only the end will be sent, since its beginning was not seen.
    pub(super) fn stale_stream(&mut self, item: &Item) {
        let say = match &item.body {
            ItemBody::Reasoning { .. } => Say::Reasoning,
            _ => Say::Text,
        };
        let stream = Stream { is_stale: true, ..Stream::new(say, millis(item.at)) };
        self.streams.insert(item.id.clone(), stream);
    }

    /// Closes what is still open when a turn is over.
    pub(super) fn close_streams(&mut self) {
        let open: Vec<ItemId> = self.streams.keys().cloned().collect();
        open.iter().for_each(|id| self.close_stream(id));
    }
}

/// Keeps the last characters.
fn keep_tail(text: &mut String) {
    if text.len() <= OUTPUT_CHARS {
        return;
    }
    let cut = text.ceil_char_boundary(text.len() - OUTPUT_CHARS);
    text.drain(..cut);
}
