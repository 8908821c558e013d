//! What a model streams, as items: texts, thoughts, and calls of tools.

use rookery_model::{Item, ItemBody, ItemId, ItemStatus, ToolItem};
use serde_json::Value;

use super::machine::{Calling, State, Turn};
use super::work::Work;
use super::{Delta, Effect, ToolDone};
use crate::provider::{HostedTool, Stop};

/// What a text of the agent belongs to unless the provider says otherwise.
const FINAL_ANSWER: &str = "final_answer";

/// The name of thoughts that show nothing, so that those that do are counted without them.
const UNSEEN_THOUGHT: &str = "agent-unseen";

impl Turn {
    pub(super) fn calling(&mut self) -> &mut Calling {
        if !matches!(self.state, State::Calling(_)) {
            self.state = State::Calling(Box::default());
        }
        match &mut self.state {
            State::Calling(calling) => calling,
            _ => unreachable!("the state was just set"),
        }
    }

    pub(super) fn text(&mut self, text: &str, phase: Option<String>, out: &mut Vec<Effect>) {
        if text.is_empty() {
            return;
        }
        self.close_thought(true, None, out);
        let open_phase = match &self.calling().text {
            Some(Item { body: ItemBody::Agent { phase, .. }, .. }) => Some(phase.clone()),
            _ => None,
        };
        let phase = phase.or_else(|| open_phase.clone()).unwrap_or_else(|| FINAL_ANSWER.to_owned());
        if open_phase.is_some_and(|open| open != phase) {
            self.close_text(false, None, out);
        }
        if self.calling().text.is_none() {
            let id = self.names.of_turn(&format!("agent-{phase}"));
            let body =
                ItemBody::Agent { text: String::new(), phase: phase.clone(), partial: false };
            let item = self.item(id, ItemStatus::InProgress, body);
            out.push(Effect::Started(item.clone()));
            self.calling().text = Some(item);
        }
        let calling = self.calling();
        calling.has_content = true;
        if let Some(Item { id, body: ItemBody::Agent { text: whole, .. }, .. }) = &mut calling.text
        {
            whole.push_str(text);
            for text in pieces(text) {
                let delta = Delta::Text { text, phase: phase.clone() };
                out.push(Effect::Delta { item: id.clone(), delta });
            }
        }
    }

    pub(super) fn close_text(
        &mut self,
        is_partial: bool,
        opaque: Option<Value>,
        out: &mut Vec<Effect>,
    ) {
        let Some(mut item) = self.calling().text.take() else { return };
        item.status = ItemStatus::Completed;
        item.opaque = opaque.map(|value| value.to_string());
        if let ItemBody::Agent { partial, text, .. } = &mut item.body {
            *partial = is_partial;
            self.last_text.clone_from(text);
        }
        out.push(Effect::Completed(item));
    }

    pub(super) fn thought(&mut self, text: &str, summary: Option<u32>, out: &mut Vec<Effect>) {
        // A part that begins has nothing to show yet, and may stay so.
        if text.is_empty() && self.calling().thought.is_none() {
            return;
        }
        self.close_text(false, None, out);
        if self.calling().thought.is_none() {
            let id = self.names.of_turn("agent-reasoning");
            let body = ItemBody::Reasoning { summary: Vec::new(), content: Vec::new() };
            let item = self.item(id, ItemStatus::InProgress, body);
            out.push(Effect::Started(item.clone()));
            self.calling().has_content = true;
            self.calling().thought = Some(item);
        }
        let calling = self.calling();
        let Some(item) = &mut calling.thought else { return };
        let ItemBody::Reasoning { summary: parts, content } = &mut item.body else { return };
        match summary {
            None => {
                match content.last_mut() {
                    Some(whole) => whole.push_str(text),
                    None => content.push(text.to_owned()),
                }
                for text in pieces(text) {
                    let delta = Delta::Thought { text };
                    out.push(Effect::Delta { item: item.id.clone(), delta });
                }
            }
            Some(index) => {
                // Providers count parts from 0 without gaps; a wild number must not grow the list.
                let index = index.min(parts.len() as u32);
                if index as usize == parts.len() {
                    parts.push(String::new());
                    let delta = Delta::SummaryPart { index };
                    out.push(Effect::Delta { item: item.id.clone(), delta });
                }
                parts[index as usize].push_str(text);
                for text in pieces(text) {
                    let delta = Delta::Summary { text, index };
                    out.push(Effect::Delta { item: item.id.clone(), delta });
                }
            }
        }
    }

    /// A thought that shows no text is kept all the same if the provider wants it back, but is no
    /// news: it was never begun.
    pub(super) fn thought_done(&mut self, opaque: Option<Value>, out: &mut Vec<Effect>) {
        if self.calling().thought.is_none() && opaque.is_some() {
            self.close_text(false, None, out);
            let id = self.names.of_turn(UNSEEN_THOUGHT);
            let body = ItemBody::Reasoning { summary: Vec::new(), content: Vec::new() };
            self.calling().thought = Some(self.item(id, ItemStatus::InProgress, body));
        }
        self.close_thought(true, opaque, out);
    }

    pub(super) fn close_thought(
        &mut self,
        is_whole: bool,
        opaque: Option<Value>,
        out: &mut Vec<Effect>,
    ) {
        let Some(mut item) = self.calling().thought.take() else { return };
        item.status = if is_whole { ItemStatus::Completed } else { ItemStatus::Failed };
        item.opaque = opaque.map(|value| value.to_string());
        out.push(Effect::Completed(item));
    }

    pub(super) fn tool_call(
        &mut self,
        call_id: String,
        name: String,
        input: String,
        opaque: Option<Value>,
        out: &mut Vec<Effect>,
    ) {
        self.close_thought(true, None, out);
        self.close_text(false, None, out);
        let id = self.names.of_call(&call_id);
        // Providers find a result by its call's name, so that name is unique as well.
        let call_id = id.as_str().to_owned();
        let tool = ToolItem { call_id, name, input, ..ToolItem::default() };
        let mut item = self.item(id, ItemStatus::InProgress, ItemBody::Tool(Box::new(tool)));
        item.opaque = opaque.map(|value| value.to_string());
        out.push(Effect::Started(item.clone()));
        let calling = self.calling();
        calling.has_content = true;
        calling.work.push(Work::new(item));
    }

    pub(super) fn hosted_item(&mut self, call_id: &str) -> Option<ItemId> {
        let is_it =
            |item: &&Item| matches!(&item.body, ItemBody::Tool(tool) if tool.call_id == call_id);
        self.calling().hosted.iter().find(is_it).map(|item| item.id.clone())
    }

    /// A tool that the provider runs: shown like any other, but not run here.
    pub(super) fn hosted(&mut self, tool: &HostedTool, out: &mut Vec<Effect>) {
        if self.hosted_item(&tool.id).is_none() {
            self.close_thought(true, None, out);
            self.close_text(false, None, out);
            let id = self.names.of_call(&tool.id);
            let body = ItemBody::Tool(Box::new(ToolItem {
                call_id: tool.id.clone(),
                name: tool.name.clone(),
                input: tool.input.to_string(),
                hosted: true,
                ..ToolItem::default()
            }));
            let item = self.item(id, ItemStatus::InProgress, body);
            out.push(Effect::Started(item.clone()));
            let calling = self.calling();
            calling.has_content = true;
            calling.hosted.push(item);
        }
        if !tool.is_done {
            return;
        }
        let calling = self.calling();
        let place = calling
            .hosted
            .iter()
            .position(|item| matches!(&item.body, ItemBody::Tool(open) if open.call_id == tool.id));
        let Some(mut item) = place.map(|place| calling.hosted.remove(place)) else { return };
        if let ItemBody::Tool(done) = &mut item.body {
            if !tool.input.is_null() {
                done.input = tool.input.to_string();
            }
            let output = tool.output.clone().unwrap_or_default();
            match tool.is_error {
                true => done.error = Some(output),
                false => done.output = Some(output),
            }
        }
        item.status = if tool.is_error { ItemStatus::Failed } else { ItemStatus::Completed };
        out.push(Effect::Completed(item));
    }

    pub(super) fn close_hosted(&mut self, why: &str, out: &mut Vec<Effect>) {
        for mut item in std::mem::take(&mut self.calling().hosted) {
            item.status = ItemStatus::Failed;
            if let ItemBody::Tool(tool) = &mut item.body {
                tool.error = Some(why.to_owned());
            }
            out.push(Effect::Completed(item));
        }
    }
}

/// The most that is added to an item at once: clients read lines of limited length.
const LONGEST_DELTA: usize = 64 << 10;

/// A text in pieces that are not too long, cut between characters.
fn pieces(mut text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    while text.len() > LONGEST_DELTA {
        let end = (0..=LONGEST_DELTA).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let (piece, rest) = text.split_at(end);
        pieces.push(piece.to_owned());
        text = rest;
    }
    pieces.push(text.to_owned());
    pieces
}

/// What came of a tool, as its item shows it.
pub(super) fn fill(tool: &mut ToolItem, done: ToolDone) {
    let ToolDone { output, approval, duration_ms } = done;
    match output.is_error {
        true => tool.error = Some(output.text),
        false => tool.output = Some(output.text),
    }
    tool.data = (!output.data.is_null()).then(|| output.data.to_string());
    tool.exit_code = output.exit_code;
    tool.terminal = output.terminal;
    tool.images = output.images;
    tool.duration_ms = duration_ms;
    if approval.is_some() {
        tool.approval = Some(approval);
    }
}

/// The word for why a model stopped.
pub(super) fn finish_word(stop: &Stop) -> String {
    let word = match stop {
        Stop::Stop | Stop::Pause => "stop",
        Stop::Length => "length",
        Stop::ToolUse => "toolUse",
        Stop::ContentFilter => "contentFilter",
        Stop::Refusal => "refusal",
        Stop::Other(word) => word,
    };
    word.to_owned()
}
