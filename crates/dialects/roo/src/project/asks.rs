//! Requests as asks: one can be answered at a time, the others wait behind it.

use std::collections::VecDeque;

use rookery_model::{
    Answer, Asked, ItemId, PartAnswer, Question, Request, RequestId, RequestState, ToolItem,
};
use serde_json::{Value, json};

use super::calls::Shows;
use super::{Task, millis};
use crate::wire::{Ask, ClineMessage, Say};

/// Names of the calls behind which limits stand, and what they are called here.
const LIMITS: &[(&str, &str)] = &[("limit-calls", "requests"), ("limit-cost", "cost")];

/// A request that waits.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) request: RequestId,
    /// The time of its messages.
    at: u64,
    kind: PendingKind,
    /// Whether its asks can be answered.
    is_shown: bool,
}

#[derive(Debug)]
enum PendingKind {
    /// A tool call, with what it would change.
    Call(ItemId, Option<String>),
    /// Questions that are not answered yet, with the message of the first.
    Questions { questions: VecDeque<Question>, message: Option<usize> },
    /// Another ask, with its text and its message.
    Other(Ask, String, Option<usize>),
}

impl Task {
    pub(super) fn asked(&mut self, request: &Request, now: u64) {
        if self.asks.iter().any(|pending| pending.request == request.id) {
            return;
        }
        let kind = match &request.asked {
            Asked::Approval { input, preview, .. } => {
                let item = self.asking_item(request, input);
                PendingKind::Call(item, preview.clone())
            }
            Asked::PlanExit(plan) => {
                let input = json!({ "target_mode": "code", "summary": plan.summary }).to_string();
                let item = self.asking_item(request, &input);
                self.word_plan(&item, &plan.summary);
                PendingKind::Call(item, None)
            }
            Asked::Input { questions } => {
                let is_open =
                    |one: &Question| !request.given.iter().any(|it| it.question == one.id);
                for given in &request.given {
                    self.replay_answer(questions, given, millis(request.asked_at));
                }
                let questions = questions.iter().filter(|one| is_open(one)).cloned().collect();
                PendingKind::Questions { questions, message: None }
            }
            Asked::Permission { title, summary, action, .. } => {
                match LIMITS.iter().find(|(call, _)| *call == request.call_id) {
                    Some((_, kind)) => {
                        let text = limit_text(summary, kind);
                        PendingKind::Other(Ask::AutoApprovalMaxReqReached, text, None)
                    }
                    None => {
                        let text = format!("{title}\n{summary}\n{action}");
                        PendingKind::Other(Ask::Command, text, None)
                    }
                }
            }
            // A client runs the tool, or a terminal shows the dialog: neither can be answered here.
            Asked::External(_) | Asked::Dialog { .. } => return,
        };
        let item = self.item_of(&request.call_id).and_then(|item| self.shown.get(&item));
        let at = item.map_or_else(|| millis(request.asked_at), |shows| shows.at);
        self.asks.push_back(Pending { request: request.id, at, kind, is_shown: false });
        self.show_next(now);
    }

    /// A plan was rewritten while it waits: its ask has the new text.
    pub(super) fn reworded(&mut self, request: &Request) {
        let Asked::PlanExit(plan) = &request.asked else { return };
        let Some(pending) = self.asks.iter().find(|it| it.request == request.id) else { return };
        let (PendingKind::Call(item, _), is_shown) = (&pending.kind, pending.is_shown) else {
            return;
        };
        let item = item.clone();
        self.word_plan(&item, &plan.summary);
        if is_shown {
            self.finalize(&item, None);
        }
    }

    /// Has a call show the plan that waits, which need not be the one that it was made with.
    fn word_plan(&mut self, item: &ItemId, summary: &str) {
        let Some(shows) = self.shown.get_mut(item) else { return };
        let Ok(Value::Object(mut input)) = serde_json::from_str(&shows.tool.input) else { return };
        input.insert("summary".to_owned(), summary.into());
        shows.tool.input = Value::Object(input).to_string();
        shows.is_final = false;
    }

    /// The item whose call asks; one that stands for the request if there is none.
    fn asking_item(&mut self, request: &Request, input: &str) -> ItemId {
        if let Some(item) = self.item_of(&request.call_id) {
            if let Some(shows) = self.shown.get_mut(&item) {
                shows.is_asked = true;
            }
            return item;
        }
        let id = ItemId::new(format!("request-{}", request.id));
        let tool = ToolItem {
            call_id: request.call_id.clone(),
            name: request.tool.clone(),
            input: input.to_owned(),
            ..ToolItem::default()
        };
        let at = millis(request.asked_at);
        let shows = Shows { is_asked: true, ..Shows::new(&tool, Some(Ask::Tool), at) };
        self.shown.insert(id.clone(), shows);
        id
    }

    /// Makes the first of what waits answerable.
    pub(super) fn show_next(&mut self, now: u64) {
        let Some(first) = self.asks.front_mut().filter(|first| !first.is_shown) else { return };
        first.is_shown = true;
        let at = first.at;
        let waiting = match &first.kind {
            PendingKind::Call(item, preview) => {
                let (item, preview) = (item.clone(), preview.clone());
                self.finalize(&item, preview.as_deref());
                Ask::Tool.waiting()
            }
            PendingKind::Questions { questions, .. } => {
                let question = questions.front().cloned();
                let index = question.map(|question| self.ask_question(&question, at));
                if let Some(Pending { kind: PendingKind::Questions { message, .. }, .. }) =
                    self.asks.front_mut()
                {
                    *message = index;
                }
                Ask::Followup.waiting()
            }
            PendingKind::Other(ask, text, _) => {
                let (ask, text) = (*ask, text.clone());
                let index = self.create(at, ClineMessage::ask(ask, Some(text)));
                if let Some(Pending { kind: PendingKind::Other(_, _, message), .. }) =
                    self.asks.front_mut()
                {
                    *message = Some(index);
                }
                ask.waiting()
            }
        };
        self.wait(waiting, now);
    }

    /// Asks a question: first the bare words, then with what may be answered.
    fn ask_question(&mut self, question: &Question, at: u64) -> usize {
        let partial = Some(true);
        let bare = ClineMessage::ask(Ask::Followup, Some(question.question.clone()));
        let index = self.create(at, ClineMessage { partial, ..bare });
        let text = question_text(question);
        self.update(index, |message| (message.text, message.partial) = (Some(text), Some(false)));
        index
    }

    /// Some of several questions were answered, and the next one is asked.
    pub(super) fn part_answered(&mut self, request: &Request, now: u64) {
        for given in &request.given {
            let Some(pending) = self.asks.iter_mut().find(|it| it.request == request.id) else {
                return;
            };
            let PendingKind::Questions { questions, message } = &mut pending.kind else { return };
            let Some(place) = questions.iter().position(|it| it.id == given.question) else {
                continue;
            };
            questions.remove(place);
            let asked = if place == 0 { message.take() } else { None };
            if asked.is_some() {
                pending.is_shown = false;
                let at = pending.at;
                self.question_answered(asked, &given.text, at);
            }
        }
        self.show_next(now);
    }

    /// Shows a question that was answered before.
    fn replay_answer(&mut self, questions: &[Question], given: &PartAnswer, at: u64) {
        let Some(question) = questions.iter().find(|it| it.id == given.question) else { return };
        let index = self.ask_question(question, at);
        self.update(index, |message| message.is_answered = Some(true));
        self.feedback(&given.text, at);
    }

    fn question_answered(&mut self, message: Option<usize>, answer: &str, at: u64) {
        if let Some(index) = message {
            self.update(index, |message| message.is_answered = Some(true));
        }
        self.responded();
        self.feedback(answer, at);
    }

    pub(super) fn feedback(&mut self, text: &str, at: u64) {
        let images = Some(Vec::new());
        self.create(at, ClineMessage { images, ..ClineMessage::say(Say::UserFeedback, text) });
    }

    /// A request was settled, by whichever dialect.
    pub(super) fn settled(&mut self, request: &Request, now: u64) {
        let Some(at) = self.asks.iter().position(|pending| pending.request == request.id) else {
            return;
        };
        let RequestState::Settled(settled) = &request.state else { return };
        let Some(pending) = self.asks.remove(at) else { return };
        if matches!(settled.answer, Answer::Cancelled) {
            // The end of its turn says what became of it.
            if pending.is_shown {
                self.stop_waiting();
            }
            return self.show_next(now);
        }
        if let PendingKind::Call(item, preview) = &pending.kind {
            self.finalize(item, preview.as_deref());
        }
        // Another ask waits on if this one was not the one to be answered.
        let kept = (!pending.is_shown).then(|| (self.state_due, self.waiting.take()));
        self.answered(&pending, &settled.answer);
        if let Some(kept) = kept {
            (self.state_due, self.waiting) = kept;
        }
        self.show_next(now);
    }

    fn answered(&mut self, pending: &Pending, answer: &Answer) {
        match (&pending.kind, answer) {
            (PendingKind::Call(item, _), Answer::Approved { .. }) => {
                self.mark_answered(item);
                self.responded();
            }
            (PendingKind::Questions { questions, message }, Answer::Given(answers)) => {
                let id = questions.front().map(|question| question.id.as_str());
                let answer = given(answers, id.unwrap_or_default());
                self.question_answered(*message, &answer, pending.at);
            }
            (_, Answer::Denied { message }) => {
                self.responded();
                if let Some(text) = message.as_deref().filter(|text| !text.trim().is_empty()) {
                    self.feedback(text, pending.at);
                }
            }
            _ => self.responded(),
        }
    }

    /// The request that can be answered now.
    pub(crate) fn answerable(&self) -> Option<RequestId> {
        self.asks.front().filter(|first| first.is_shown).map(|first| first.request)
    }

    /// Repeats what waits, for a client that was not there.
    pub(super) fn repeat_ask(&mut self, now: u64) {
        let Some(first) = self.asks.front() else { return };
        let (messages, ask) = match &first.kind {
            PendingKind::Call(item, _) => {
                let shows = self.shown.get(item);
                (shows.map(|shows| shows.messages.clone()).unwrap_or_default(), Ask::Tool)
            }
            PendingKind::Questions { message, .. } => {
                (message.iter().copied().collect(), Ask::Followup)
            }
            PendingKind::Other(ask, _, message) => (message.iter().copied().collect(), *ask),
        };
        for index in messages {
            self.emit(index, crate::wire::Action::Created);
        }
        self.wait(ask.waiting(), now);
    }

    /// Whether something of the turn waits for an answer.
    pub(crate) fn has_ask(&self) -> bool {
        !self.asks.is_empty()
    }
}

/// A question with what may be answered, as clients read it.
pub(super) fn question_text(question: &Question) -> String {
    let suggest: Vec<Value> = question
        .options
        .iter()
        .map(|option| json!({ "answer": option.label, "mode": Value::Null }))
        .collect();
    json!({ "question": question.question, "suggest": suggest }).to_string()
}

/// A limit that was reached, as clients read it: the number is in the words for people.
fn limit_text(summary: &str, kind: &str) -> String {
    let is_digit = |c: &char| c.is_ascii_digit() || *c == '.';
    let count: String =
        summary.chars().skip_while(|c| !c.is_ascii_digit()).take_while(is_digit).collect();
    let count = match (kind, count.parse::<u64>()) {
        ("requests", count) => Value::from(count.unwrap_or(0)),
        _ if count.is_empty() => Value::from("0.00"),
        _ => Value::from(count),
    };
    json!({ "count": count, "type": kind }).to_string()
}

/// The answer to a question, whichever way a client wrote it.
pub(super) fn given(answers: &str, id: &str) -> String {
    let value: Value = serde_json::from_str(answers).unwrap_or_default();
    let inner = value.get("answers").unwrap_or(&value);
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(list) => {
            let texts: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
            (!texts.is_empty()).then(|| texts.join(", "))
        }
        _ => None,
    };
    let found = inner.get(id).and_then(|found| text(found).or_else(|| text(found.get("answers")?)));
    found.or_else(|| text(inner)).unwrap_or_else(|| answers.to_owned())
}
