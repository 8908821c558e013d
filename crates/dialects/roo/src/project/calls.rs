//! Model calls and tool calls as messages.

use rookery_model::{Item, ItemId, ItemStatus, ModelCall, ToolItem, TurnId};
use serde_json::{Map, Value, json};

use super::tools::{self, Shown};
use super::{Task, millis};
use crate::wire::{Ask, ClineMessage, Event, Say, ToolName};

/// What a refusal by policy begins with, in the words for the model.
const REFUSED: &str = "policy denied tool call: ";

/// A tool call with its messages.
#[derive(Debug)]
pub(super) struct Shows {
    pub(super) call_id: String,
    pub(super) tool: ToolItem,
    /// The messages that ask, one for each file that is touched.
    pub(super) messages: Vec<usize>,
    pub(super) ask: Option<Ask>,
    /// Whether the asks are in their final form.
    pub(super) is_final: bool,
    /// Whether a request stands behind it.
    pub(super) is_asked: bool,
}

impl Task {
    pub(super) fn call_started(&mut self, call: (TurnId, u32), at: u64) {
        if self.calls.contains_key(&call) {
            return;
        }
        if std::mem::take(&mut self.is_start_due) {
            self.change(crate::wire::Change::Started);
        }
        let text = json!({ "apiProtocol": self.about.protocol }).to_string();
        let index = self.create(at, ClineMessage::say(Say::ApiReqStarted, text));
        self.calls.insert(call, index);
    }

    pub(super) fn call_ended(&mut self, call: (TurnId, u32), ended: &ModelCall, now: u64) {
        self.call_started(call, millis(ended.at));
        self.tally.count(call, ended.usage);
        let usage = ended.usage;
        let mut text = Map::new();
        text.insert("apiProtocol".into(), self.about.protocol.into());
        text.insert("tokensIn".into(), usage.prompt.into());
        text.insert("tokensOut".into(), usage.completion.into());
        text.insert("cacheWrites".into(), usage.cache_creation.into());
        text.insert("cacheReads".into(), usage.cached.into());
        text.insert("cost".into(), self.tally.cost(usage).into());
        if ended.is_done && ended.error.is_none() {
            self.failures = 0;
        }
        if let Some(error) = &ended.error {
            text.insert("cancelReason".into(), "streaming_failed".into());
            text.insert("streamingFailedMessage".into(), error.as_str().into());
        } else if !ended.is_done {
            text.insert("cancelReason".into(), "user_cancelled".into());
        }
        if let Some(&index) = self.calls.get(&call) {
            self.update(index, |message| message.text = Some(Value::Object(text).to_string()));
        }
        self.counted(now);
    }

    /// A tool was called. Whether it asks is not known yet, so that its message cannot be answered.
    pub(super) fn tool_started(&mut self, turn: TurnId, item: &Item, tool: &ToolItem, now: u64) {
        if self.shown.contains_key(&item.id) {
            return;
        }
        self.tally.tried(tools::tool_name(&tool.name));
        let texts = asks(&tools::shown(tool, &self.about.root, None));
        let ask = texts.as_ref().map(|(ask, _)| *ask);
        let mut messages = Vec::new();
        for text in texts.into_iter().flat_map(|(_, texts)| texts) {
            let Some(ask) = ask else { break };
            let partial = Some(true);
            let message = ClineMessage { partial, ..ClineMessage::ask(ask, Some(text)) };
            messages.push(self.create(millis(item.at), message));
        }
        let (call_id, tool) = (tool.call_id.clone(), tool.clone());
        let shows = Shows { call_id, tool, messages, ask, is_final: false, is_asked: false };
        self.shown.insert(item.id.clone(), shows);
        self.turns.entry(turn).or_insert(false);
        self.counted(now);
    }

    /// The item of a call.
    pub(super) fn item_of(&self, call_id: &str) -> Option<ItemId> {
        let open = self.shown.iter().filter(|(id, _)| !self.done.contains(id));
        open.into_iter().find(|(_, shows)| shows.call_id == call_id).map(|(id, _)| id.clone())
    }

    /// Puts the asks of a call into their final form, from what the call would change.
    pub(super) fn finalize(&mut self, id: &ItemId, preview: Option<&str>, at: u64) {
        let Some(shows) = self.shown.get_mut(id) else { return };
        if std::mem::replace(&mut shows.is_final, true) {
            return;
        }
        let (messages, tool) = (shows.messages.clone(), shows.tool.clone());
        let Some((ask, texts)) = asks(&tools::shown(&tool, &self.about.root, preview)) else {
            return;
        };
        let mut all = messages.clone();
        for (at_text, text) in texts.into_iter().enumerate() {
            let index = match messages.get(at_text) {
                Some(index) => *index,
                None => {
                    let partial = Some(true);
                    let message =
                        ClineMessage { partial, ..ClineMessage::ask(ask, Some(text.clone())) };
                    let index = self.create(at, message);
                    all.push(index);
                    index
                }
            };
            let is_protected = text.contains("\"isProtected\":true");
            self.update(index, |message| {
                (message.text, message.partial) = (Some(text), Some(false));
                message.is_protected = Some(is_protected);
            });
        }
        if let Some(shows) = self.shown.get_mut(id) {
            shows.messages = all;
        }
    }

    /// Marks the asks of a call as answered with yes.
    pub(super) fn mark_answered(&mut self, id: &ItemId) {
        let Some(shows) = self.shown.get(id) else { return };
        if shows.ask != Some(Ask::Tool) {
            return;
        }
        for index in shows.messages.clone() {
            self.update(index, |message| message.is_answered = Some(true));
        }
    }

    /// A call was let through and runs.
    pub(super) fn tool_runs(&mut self, id: &ItemId, now: u64) {
        let Some(shows) = self.shown.get(id) else { return };
        if shows.is_asked || shows.is_final || shows.ask.is_none() {
            return;
        }
        let is_mcp = shows.ask == Some(Ask::UseMcpServer);
        self.finalize(id, None, now);
        self.mark_answered(id);
        self.change(crate::wire::Change::AskResponded);
        if is_mcp {
            self.create(now, ClineMessage::say(Say::McpServerRequestStarted, ""));
        }
    }

    pub(super) fn tool_completed(&mut self, turn: TurnId, item: &Item, tool: &ToolItem, now: u64) {
        self.tool_started(turn, item, tool, now);
        let name = tools::tool_name(&tool.name);
        let was_refused = tool.approval == Some(Some(false));
        let error = tool.error.clone().filter(|_| item.status == ItemStatus::Failed);
        if let Some(shows) = self.shown.get_mut(&item.id) {
            shows.tool = tool.clone();
        }
        match &error {
            Some(text) if text.starts_with(REFUSED) => self.finalize(&item.id, None, now),
            _ => self.tool_runs(&item.id, now),
        }
        match name {
            ToolName::ExecuteCommand if error.is_none() => {
                self.finish_command(&item.id, tools::command_output(tool), now);
            }
            ToolName::UseMcpTool if error.is_none() => {
                let text = tool.output.clone().unwrap_or_default();
                self.create(now, ClineMessage::say(Say::McpServerResponse, text));
            }
            ToolName::AttemptCompletion => {
                let input: Value = serde_json::from_str(&tool.input).unwrap_or_default();
                self.result = input.get("result").and_then(Value::as_str).map(str::to_owned);
            }
            _ => {}
        }
        if let Some(error) = error.filter(|_| !was_refused) {
            self.tool_failed(name, error, now);
        }
        self.shown.remove(&item.id);
        self.counted(now);
    }

    fn tool_failed(&mut self, tool: ToolName, error: String, now: u64) {
        self.tally.failed(tool);
        let error = match error.strip_prefix(REFUSED) {
            Some(reason) => format!("permission_denied: {reason}"),
            None => error,
        };
        let task = self.about.id.clone();
        self.out.push(Event::ToolFailed { task, tool, error: error.clone() });
        self.create(now, ClineMessage::say(Say::Error, error));
    }
}

/// What a call asks, with the texts of its messages; none if other messages show it.
fn asks(shown: &Shown) -> Option<(Ask, Vec<String>)> {
    let json = |value: Result<String, serde_json::Error>| value.unwrap_or_default();
    Some(match shown {
        Shown::Elsewhere => return None,
        Shown::Command(line) => (Ask::Command, vec![line.clone()]),
        Shown::Mcp(used) => (Ask::UseMcpServer, vec![json(serde_json::to_string(used))]),
        Shown::Tools(tools) => {
            let texts = tools.iter().map(|tool| json(serde_json::to_string(tool)));
            (Ask::Tool, texts.collect())
        }
    })
}
