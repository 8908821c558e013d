//! Model calls and tool calls as messages. Messages carry the times of what is stored, so that they are
//! the same when a task is read again.

use rookery_agent::turn::{FAILED, INTERRUPTED};
use rookery_core::{APPROVAL_DENIED, NO_ANSWER, POLICY_DENIED};
use rookery_model::{Item, ItemId, ItemStatus, ModelCall, ToolItem, TurnId};
use serde_json::{Map, Value, json};

use super::tools::{self, Shown};
use super::{Task, diffs, millis};
use crate::wire::{Ask, Change, ClineMessage, Event, Say, ToolName};

/// A tool call with its messages.
#[derive(Debug)]
pub(super) struct Shows {
    pub(super) call_id: String,
    pub(super) tool: ToolItem,
    /// When it began.
    pub(super) at: u64,
    /// The messages that ask, one for each file that is touched.
    pub(super) messages: Vec<usize>,
    pub(super) ask: Option<Ask>,
    /// Whether the asks are in their final form.
    pub(super) is_final: bool,
    /// Whether a request stands behind it.
    pub(super) is_asked: bool,
    /// Whether it was let through.
    pub(super) is_running: bool,
}

impl Shows {
    pub(super) fn new(tool: &ToolItem, ask: Option<Ask>, at: u64) -> Shows {
        Shows {
            call_id: tool.call_id.clone(),
            tool: tool.clone(),
            at,
            messages: Vec::new(),
            ask,
            is_final: false,
            is_asked: false,
            is_running: false,
        }
    }
}

impl Task {
    pub(super) fn call_started(&mut self, call: (TurnId, u32), at: u64) {
        if self.calls.contains_key(&call) {
            return;
        }
        self.has_streamed = false;
        if std::mem::take(&mut self.is_start_due) {
            self.change(Change::Started);
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
        if ended.error.is_none() && !ended.was_cut {
            self.failures = 0;
        }
        if let Some(error) = &ended.error {
            text.insert("cancelReason".into(), "streaming_failed".into());
            text.insert("streamingFailedMessage".into(), error.as_str().into());
        } else if ended.was_cut {
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
        self.has_streamed = true;
        self.tally.tried(tools::tool_name(&tool.name));
        let texts = asks(&tools::shown(tool, &self.about, None));
        let mut shows = Shows::new(tool, texts.as_ref().map(|(ask, _)| *ask), millis(item.at));
        for text in texts.into_iter().flat_map(|(_, texts)| texts) {
            let Some(ask) = shows.ask else { break };
            let partial = Some(true);
            let message = ClineMessage { partial, ..ClineMessage::ask(ask, Some(text)) };
            shows.messages.push(self.create(shows.at, message));
        }
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
    pub(super) fn finalize(&mut self, id: &ItemId, preview: Option<&str>) {
        let Some(shows) = self.shown.get_mut(id) else { return };
        if std::mem::replace(&mut shows.is_final, true) {
            return;
        }
        let (at, tool) = (shows.at, shows.tool.clone());
        let mut messages = std::mem::take(&mut shows.messages);
        let texts = asks(&tools::shown(&tool, &self.about, preview));
        let Some((ask, texts)) = texts else { return };
        for (number, text) in texts.into_iter().enumerate() {
            let index = match messages.get(number) {
                Some(index) => *index,
                None => {
                    let message = ClineMessage::ask(ask, Some(text.clone()));
                    let message = ClineMessage { partial: Some(true), ..message };
                    messages.push(self.create(at, message));
                    messages[number]
                }
            };
            let is_protected = ask == Ask::Tool && tools::is_of_protected(&text);
            self.update(index, |message| {
                (message.text, message.partial) = (Some(text), Some(false));
                message.is_protected = Some(is_protected);
            });
        }
        if let Some(shows) = self.shown.get_mut(id) {
            shows.messages = messages;
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
    pub(super) fn tool_runs(&mut self, id: &ItemId) {
        let Some(shows) = self.shown.get_mut(id).filter(|shows| shows.ask.is_some()) else {
            return;
        };
        if std::mem::replace(&mut shows.is_running, true) {
            return;
        }
        let (is_mcp, at) = (shows.ask == Some(Ask::UseMcpServer), shows.at);
        // What changes files is shown with what it has changed, once that is known.
        if !shows.is_asked && !tools::changes_files(&shows.tool.name) {
            self.let_through(id, None);
        }
        if is_mcp {
            self.create(at, ClineMessage::say(Say::McpServerRequestStarted, ""));
        }
    }

    /// Shows a call that was not asked about as asked and answered.
    fn let_through(&mut self, id: &ItemId, diff: Option<&str>) {
        if self.shown.get(id).is_none_or(|shows| shows.is_final || shows.ask.is_none()) {
            return;
        }
        self.finalize(id, diff);
        self.mark_answered(id);
        self.change(Change::AskResponded);
    }

    pub(super) fn tool_completed(&mut self, turn: TurnId, item: &Item, tool: &ToolItem, now: u64) {
        self.tool_started(turn, item, tool, now);
        if let Some(shows) = self.shown.get_mut(&item.id) {
            shows.tool = tool.clone();
        }
        let error = tool.error.as_deref().filter(|_| item.status == ItemStatus::Failed);
        let is_own_failure = self.close_ask(&item.id, tool, error);
        let name = tools::tool_name(&tool.name);
        let at = millis(item.at);
        let has_run = error.is_none() || tool.exit_code.is_some();
        match name {
            ToolName::ExecuteCommand if has_run => {
                self.finish_command(&item.id, tools::command_output(tool), at, now);
            }
            ToolName::UseMcpTool if has_run => {
                let text = tool.output.clone().unwrap_or_default();
                self.create(at, ClineMessage::say(Say::McpServerResponse, text));
            }
            ToolName::AttemptCompletion => {
                let input: Value = serde_json::from_str(&tool.input).unwrap_or_default();
                self.result = input.get("result").and_then(Value::as_str).map(str::to_owned);
            }
            _ => self.close_stream(&item.id),
        }
        if let Some(error) = error.filter(|_| is_own_failure && !has_run) {
            self.tool_failed(name, error, at);
        }
        self.shown.remove(&item.id);
        self.counted(now);
    }

    /// Ends the asks of a call that is over, as it went. False if a person stopped it.
    fn close_ask(&mut self, id: &ItemId, tool: &ToolItem, error: Option<&str>) -> bool {
        let (is_final, is_asked, at) = match self.shown.get(id) {
            Some(shows) => (shows.is_final, shows.is_asked, shows.at),
            None => return true,
        };
        let was_denied = tool.approval == Some(Some(false))
            || error.is_some_and(|text| text.starts_with(APPROVAL_DENIED));
        match error {
            _ if was_denied => {
                // Told when it was answered, unless that was long ago.
                if !is_final && self.shown.get(id).is_some_and(|shows| shows.ask.is_some()) {
                    self.finalize(id, None);
                    self.change(Change::AskResponded);
                    let said = error.and_then(|text| text.strip_prefix(APPROVAL_DENIED));
                    let said = said.and_then(|text| text.strip_prefix(": "));
                    if let Some(text) = said.filter(|text| *text != NO_ANSWER) {
                        self.feedback(text, at);
                    }
                }
            }
            Some(text) if text.starts_with(POLICY_DENIED) => {
                if !is_final && self.shown.get(id).is_some_and(|shows| shows.ask.is_some()) {
                    self.finalize(id, None);
                    self.change(Change::AskResponded);
                }
            }
            // The end of the turn says what became of it.
            Some(text) if [INTERRUPTED, FAILED].contains(&text) => {
                self.finalize(id, None);
                return false;
            }
            _ if is_asked => {}
            _ => {
                self.tool_runs(id);
                let diff = diffs::of_details(tool.data.as_deref());
                self.let_through(id, diff.as_deref());
            }
        }
        !was_denied
    }

    fn tool_failed(&mut self, tool: ToolName, error: &str, at: u64) {
        self.tally.failed(tool);
        let error = match error.strip_prefix(POLICY_DENIED) {
            Some(reason) => format!("permission_denied: {reason}"),
            None => error.to_owned(),
        };
        let task = self.about.id.clone();
        self.out.push(Event::ToolFailed { task, tool, error: error.clone() });
        self.create(at, ClineMessage::say(Say::Error, error));
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
