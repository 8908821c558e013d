//! A task from what is stored of its thread: the same messages as if it had been watched.

use rookery_core::TurnView;
use rookery_model::{
    Item, ItemBody, ItemStatus, ModelCall, Request, ToolItem, Turn, TurnId, TurnStatus,
};

use super::{Task, millis};
use crate::wire::{Ask, ClineMessage, Say};

impl Task {
    /// Takes all turns, and what waits. Nothing of it is news.
    pub(crate) fn replay(&mut self, turns: &[TurnView], pending: &[Request], now: u64) {
        self.is_replayed = true;
        for seen in turns {
            self.turn_started(&seen.turn);
            let (mut next_call, mut last_step) = (0, None);
            for (place, item) in seen.items.iter().enumerate() {
                let is_spoken = matches!(item.body, ItemBody::User { .. });
                if !is_spoken {
                    next_call = self.replay_calls(seen, next_call, item.step);
                }
                // Calls of one step were announced together, before any of them was over.
                if matches!(item.body, ItemBody::Tool(_))
                    && last_step.replace(item.step) != Some(item.step)
                {
                    self.replay_starts(seen, place);
                }
                self.replay_item(seen.turn.id, item);
            }
            self.replay_calls(seen, next_call, u32::MAX);
            if seen.turn.completed_at.is_some() {
                self.turn_ended(&seen.turn, seen.turn.completed_at.map_or(now, millis));
            }
        }
        self.is_replayed = false;
        for request in pending {
            self.asked(request, now);
        }
        self.out.clear();
        self.stop_waiting();
        self.usage_due = None;
    }

    /// Model calls up to the one that an item belongs to.
    fn replay_calls(&mut self, seen: &TurnView, from: usize, step: u32) -> usize {
        let upto = (step as usize).saturating_add(1).min(seen.turn.calls.len());
        for (index, call) in seen.turn.calls.iter().enumerate().take(upto).skip(from) {
            let name = (seen.turn.id, u32::try_from(index).unwrap_or(u32::MAX));
            self.call_started(name, millis(call.at));
            let is_over = call.is_done || call.error.is_some() || seen.turn.completed_at.is_some();
            if is_over {
                self.call_ended(name, &ended(call, &seen.turn), millis(call.at));
            }
        }
        from.max(upto)
    }

    fn replay_starts(&mut self, seen: &TurnView, place: usize) {
        let step = seen.items[place].step;
        for item in seen.items[place..].iter().filter(|item| item.step == step) {
            if let ItemBody::Tool(tool) = &item.body {
                self.tool_started(seen.turn.id, item, tool, millis(item.at));
            }
        }
    }

    fn replay_item(&mut self, turn: TurnId, item: &Item) {
        if item.status == ItemStatus::InProgress {
            match &item.body {
                ItemBody::Tool(_) => self.item_started(turn, item, millis(item.at)),
                _ => self.stale_stream(item),
            }
            return;
        }
        if let ItemBody::Tool(tool) = &item.body
            && tool.name == "request_user_input"
        {
            self.replay_questions(tool, millis(item.at));
        }
        if self.done.insert(item.id.clone()) {
            self.item_completed(turn, item, millis(item.at));
        }
    }

    /// Questions that were answered before.
    fn replay_questions(&mut self, tool: &ToolItem, at: u64) {
        let Ok(arguments) = serde_json::from_str(&tool.input) else { return };
        let Ok(questions) = rookery_agent::tools::questions(arguments) else { return };
        let data: serde_json::Value = tool
            .data
            .as_deref()
            .and_then(|data| serde_json::from_str(data).ok())
            .unwrap_or_default();
        for question in questions {
            let text = super::asks::question_text(&question);
            let answer = data
                .get("answers")
                .map(|answers| super::asks::given(&answers.to_string(), &question.id));
            let is_answered = answer.is_some().then_some(true);
            let (partial, ask) = (Some(false), ClineMessage::ask(Ask::Followup, Some(text)));
            self.create(at, ClineMessage { partial, is_answered, ..ask });
            if let Some(answer) = answer {
                let images = Some(Vec::new());
                self.create(
                    at,
                    ClineMessage { images, ..ClineMessage::say(Say::UserFeedback, answer) },
                );
            }
        }
    }
}

/// A call as it ended; one that was cut off when the daemon died failed with its turn.
fn ended(call: &ModelCall, turn: &Turn) -> ModelCall {
    let mut ended = call.clone();
    if !call.is_done && call.error.is_none() && turn.status == TurnStatus::Failed {
        ended.error = turn.error.as_ref().map(|error| error.message.clone());
    }
    ended
}
