//! The machine itself: which effects follow from an input in which state.

use rookery_model::{
    Item, ItemBody, ItemId, ItemStatus, Timestamp, TurnErrorKind, TurnStatus, Usage,
};

use super::names::Names;
use super::stream::{fill, finish_word};
use super::work::Work;
use super::{CallShape, Effect, End, Input, Message, Offer, Profile, Setup, ToolDone, View};
use crate::provider::{Failure, FailureKind, ModelEvent, Stop};
use crate::tools::COMPLETION;

/// How often a turn is reminded of its open tasks.
const LEDGER_REMINDERS: u32 = 2;
/// Tokens by which a conversation has to grow before it is compacted again.
const HYSTERESIS: u64 = 5_000;

const LEDGER: &str = "task_ledger.update";
const LEDGER_RULE: &str = "Keep the task ledger: list the tasks with task_ledger.update before you \
begin, and mark each as completed, with evidence, when it is done.";
const LEDGER_OPEN: &str = "The task ledger still has open tasks. Finish them, or mark them as \
completed or blocked with task_ledger.update, before you give your final answer.";
const REALLY_DONE: &str = "You called no tool. Check that everything that was asked for is done: if \
something is missing, go on with it; else give your final answer.";
const CHECKPOINT: &str = "Little time is left. Save what can be scored now: write the files and \
results that the task asks for, even if they are not perfect yet.";

/// A turn in progress.
#[derive(Debug)]
pub struct Turn {
    pub(super) setup: Setup,
    pub(super) names: Names,
    pub(super) state: State,
    /// The model call that items belong to now.
    step: u32,
    model_calls: u32,
    tool_rounds: u32,
    failures: u32,
    failures_in_a_row: u32,
    mistakes: u32,
    pub(super) steers: Vec<Message>,
    pub(super) reminders: Vec<String>,
    ledger_reminders: u32,
    nudges: u32,
    pub(super) is_finalizing: bool,
    was_forced: bool,
    /// Whether the agent said that it is done, in the step of now.
    is_completed: bool,
    compacted_at: u64,
    pub(super) usage: Usage,
    call_usage: Usage,
    /// The last thing the agent said, for partial results.
    pub(super) last_text: String,
}

#[derive(Debug)]
pub(super) enum State {
    New,
    Compacting,
    Calling(Box<Calling>),
    Working(Vec<Work>),
    Done,
}

/// What a model call has said so far.
#[derive(Debug, Default)]
pub(super) struct Calling {
    pub(super) text: Option<Item>,
    pub(super) thought: Option<Item>,
    pub(super) work: Vec<Work>,
    pub(super) hosted: Vec<Item>,
    pub(super) has_content: bool,
}

impl Turn {
    /// A turn that has not begun.
    pub fn new(setup: Setup) -> Self {
        let names = Names::new(setup.turn, &setup.used_names);
        Turn {
            setup,
            names,
            state: State::New,
            step: 0,
            model_calls: 0,
            tool_rounds: 0,
            failures: 0,
            failures_in_a_row: 0,
            mistakes: 0,
            steers: Vec::new(),
            reminders: Vec::new(),
            ledger_reminders: 0,
            nudges: 0,
            is_finalizing: false,
            was_forced: false,
            is_completed: false,
            compacted_at: 0,
            usage: Usage::default(),
            call_usage: Usage::default(),
            last_text: String::new(),
        }
    }

    /// A turn as it was when it waited for answers: its items in order, those of tools that have
    /// no result among them. `setup.used_names` holds the names of its items as well.
    pub fn resume(setup: Setup, items: &[Item], usage: Usage) -> Self {
        let mut turn = Turn::new(setup);
        turn.step = items.iter().map(|item| item.step).max().unwrap_or(0);
        turn.model_calls = turn.step + 1;
        turn.usage = usage;
        let waiting = items.iter().filter(|item| {
            item.status == ItemStatus::InProgress && matches!(item.body, ItemBody::Tool(_))
        });
        let work = waiting.map(|item| Work::new(item.clone())).collect();
        turn.state = State::Working(work);
        let mut last = items.iter().filter(|item| item.step == turn.step);
        turn.is_completed = last.any(|item| turn.reports_done(item));
        items.iter().for_each(|item| turn.count_mistake(item));
        turn
    }

    /// Whether it has come to its end.
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Whether something that a user said waits for the next call.
    pub fn has_steers(&self) -> bool {
        !self.steers.is_empty()
    }

    /// Takes an input and says what is to be done.
    pub fn step(&mut self, input: Input, view: View) -> Vec<Effect> {
        let mut out = Vec::new();
        if self.is_done() {
            return out;
        }
        match input {
            Input::Begin(messages) => {
                self.steers = messages;
                if self.setup.needs_ledger {
                    self.reminders.push(LEDGER_RULE.to_owned());
                }
                self.advance(view, &mut out);
            }
            Input::Resume => self.run_tools(view, &mut out),
            Input::Steer(messages) => self.steers.extend(messages),
            Input::Model(event) => self.model(event, view, &mut out),
            Input::ModelGone => {
                let message = "the model's answer was cut off".to_owned();
                let failure = Failure { message, kind: FailureKind::Unavailable };
                self.model(ModelEvent::Failed(failure), view, &mut out);
            }
            Input::ToolDone { item, done } => self.tool_done(&item, *done, view, &mut out),
            Input::Compacted(result) => self.compacted(result, view, &mut out),
            Input::Interrupt => self.stop(TurnStatus::Interrupted, None, &mut out),
            Input::Checkpoint => self.reminders.push(CHECKPOINT.to_owned()),
            Input::Reserve => self.reserve(&mut out),
            Input::Deadline => self.deadline(&mut out),
        }
        out
    }

    /// Steers that came too late to be answered; the driver offers them once more before it ends the turn.
    pub fn reopen(&mut self, messages: Vec<Message>, view: View) -> Vec<Effect> {
        let mut out = Vec::new();
        self.steers.extend(messages);
        self.state = State::New;
        self.is_completed = false;
        self.advance(view, &mut out);
        out
    }

    /// The head of the loop: what the user said in between, limits, compaction, the next model call.
    fn advance(&mut self, view: View, out: &mut Vec<Effect>) {
        if self.model_calls > 0 {
            self.step += 1;
        }
        self.drain_steers(out);
        if self.model_calls >= self.setup.limits.model_calls {
            let message = format!("the turn made {} model calls", self.model_calls);
            return self.fail(message, TurnErrorKind::ReliabilityLimit, out);
        }
        let is_over = self.setup.compact_at.is_some_and(|limit| view.tokens > limit);
        if is_over && view.tokens >= self.compacted_at + HYSTERESIS {
            self.compacted_at = view.tokens;
            self.state = State::Compacting;
            out.push(Effect::Compact { is_forced: false });
            return;
        }
        self.call(out);
    }

    pub(super) fn drain_steers(&mut self, out: &mut Vec<Effect>) {
        for Message { text, images, context } in std::mem::take(&mut self.steers) {
            let id = self.names.of_turn("user");
            let body = ItemBody::User { text, images, context };
            out.push(Effect::Completed(self.item(id, ItemStatus::Completed, body)));
        }
    }

    fn call(&mut self, out: &mut Vec<Effect>) {
        self.model_calls += 1;
        self.state = State::Calling(Box::default());
        let offer = if self.is_finalizing {
            Offer::None
        } else if self.setup.needs_ledger
            && self.setup.profile == Profile::Eval
            && self.model_calls == 1
        {
            Offer::Only(LEDGER)
        } else {
            Offer::All
        };
        let reminders = std::mem::take(&mut self.reminders);
        out.push(Effect::CallModel(CallShape { offer, reminders }));
    }

    fn compacted(
        &mut self,
        result: Result<Option<(String, rookery_model::Pruning)>, String>,
        view: View,
        out: &mut Vec<Effect>,
    ) {
        if !matches!(self.state, State::Compacting) {
            return;
        }
        match result {
            Ok(Some((summary, pruning))) => {
                let id = self.names.of_turn("compaction");
                let body = ItemBody::Compaction { summary, pruning };
                out.push(Effect::Started(self.item(
                    id.clone(),
                    ItemStatus::InProgress,
                    body.clone(),
                )));
                out.push(Effect::Completed(self.item(id, ItemStatus::Completed, body)));
                self.compacted_at = view.tokens;
            }
            Ok(None) if self.was_forced => {
                let message = "the conversation is too long for the model and cannot be shortened";
                return self.fail(message.to_owned(), TurnErrorKind::Provider, out);
            }
            Ok(None) => {}
            Err(reason) => {
                out.push(Effect::Warn(format!("the conversation was not shortened: {reason}")));
                if self.was_forced {
                    return self.fail(reason, TurnErrorKind::Provider, out);
                }
            }
        }
        self.drain_steers(out);
        self.call(out);
    }

    fn model(&mut self, event: ModelEvent, view: View, out: &mut Vec<Effect>) {
        if !matches!(self.state, State::Calling(_)) {
            return;
        }
        match event {
            ModelEvent::Text { text, phase } => self.text(&text, phase, out),
            ModelEvent::TextDone { opaque } => self.close_text(false, opaque, out),
            ModelEvent::Reasoning { text, summary } => self.thought(&text, summary, out),
            ModelEvent::ReasoningDone { opaque } => self.thought_done(opaque, out),
            ModelEvent::ToolCall { id, name, arguments, opaque } => {
                self.tool_call(id, name, arguments, opaque, out);
            }
            ModelEvent::HostedTool(tool) => self.hosted(&tool, out),
            ModelEvent::Permission { id, tool } => {
                self.hosted(&tool, out);
                if let Some(item) = self.hosted_item(&tool.id) {
                    out.push(Effect::Judge { permission: id, item, tool });
                }
            }
            ModelEvent::Usage(usage) => self.call_usage = usage,
            ModelEvent::Retrying { attempt, delay, reason } => {
                let delay = delay.as_secs_f64();
                out.push(Effect::Warn(format!("{reason}; attempt {attempt} in {delay:.1} s")));
            }
            ModelEvent::Done { stop } => self.model_done(&stop, view, out),
            ModelEvent::Failed(failure) => self.model_failed(failure, out),
        }
    }

    fn model_done(&mut self, stop: &Stop, view: View, out: &mut Vec<Effect>) {
        self.close_thought(true, None, out);
        self.close_text(false, None, out);
        self.close_hosted("the provider did not say what came of it", out);
        self.call_over(None, false, out);
        let calling = std::mem::take(self.calling());
        if !calling.work.is_empty() {
            self.tool_rounds += 1;
            self.state = State::Working(calling.work);
            return self.run_tools(view, out);
        }
        if *stop == Stop::Pause || !self.steers.is_empty() {
            return self.advance(view, out);
        }
        let is_reminded = self.setup.needs_ledger
            && self.setup.profile == Profile::Eval
            && view.has_open_tasks
            && !self.is_finalizing
            && self.ledger_reminders < LEDGER_REMINDERS;
        if is_reminded {
            self.ledger_reminders += 1;
            self.reminders.push(LEDGER_OPEN.to_owned());
            return self.advance(view, out);
        }
        let is_nudged = self.setup.profile.is_unattended()
            && !self.is_finalizing
            && self.nudges < self.setup.limits.nudges;
        if is_nudged {
            self.nudges += 1;
            self.reminders.push(REALLY_DONE.to_owned());
            return self.advance(view, out);
        }
        self.complete(stop, out);
    }

    fn complete(&mut self, stop: &Stop, out: &mut Vec<Effect>) {
        self.state = State::Done;
        out.push(Effect::Finish(End {
            status: TurnStatus::Completed,
            error: None,
            finish_reason: Some(finish_word(stop)),
            usage: self.usage,
        }));
    }

    /// The call of the model is over: what it cost is counted and published.
    pub(super) fn call_over(&mut self, error: Option<String>, is_cut: bool, out: &mut Vec<Effect>) {
        let usage = std::mem::take(&mut self.call_usage);
        self.usage.add(usage);
        out.push(Effect::CallEnded { usage, error, is_cut });
    }

    fn model_failed(&mut self, failure: Failure, out: &mut Vec<Effect>) {
        let has_content = self.calling().has_content;
        if failure.kind == FailureKind::ContextTooLong && !self.was_forced && !has_content {
            self.was_forced = true;
            self.model_calls -= 1;
            self.call_over(Some(failure.message), false, out);
            self.state = State::Compacting;
            out.push(Effect::Compact { is_forced: true });
            return;
        }
        self.fail(failure.message, TurnErrorKind::Provider, out);
    }

    fn run_tools(&mut self, view: View, out: &mut Vec<Effect>) {
        let State::Working(work) = &mut self.state else { return };
        if work.iter().all(|work| work.is_done) {
            return self.tools_done(view, out);
        }
        for work in work.iter_mut().filter(|work| !work.is_done) {
            if !work.is_running
                && let ItemBody::Tool(tool) = &work.item.body
            {
                work.is_running = true;
                out.push(Effect::RunTool {
                    item: work.item.id.clone(),
                    name: tool.name.clone(),
                    arguments: tool.input.clone(),
                    call_id: tool.call_id.clone(),
                });
            }
            if !self.setup.parallel_tools {
                break;
            }
        }
    }

    fn tool_done(&mut self, id: &ItemId, done: ToolDone, view: View, out: &mut Vec<Effect>) {
        let State::Working(work) = &mut self.state else { return };
        let Some(work) = work.iter_mut().find(|work| work.item.id == *id && !work.is_done) else {
            return;
        };
        work.is_done = true;
        work.item.status =
            if done.output.is_error { ItemStatus::Failed } else { ItemStatus::Completed };
        let is_error = done.output.is_error;
        if let ItemBody::Tool(tool) = &mut work.item.body {
            fill(tool, done);
        }
        let item = work.item.clone();
        self.is_completed |= self.reports_done(&item);
        self.count_mistake(&item);
        out.push(Effect::Completed(item));
        match is_error {
            true => {
                self.failures += 1;
                self.failures_in_a_row += 1;
            }
            false => self.failures_in_a_row = 0,
        }
        self.run_tools(view, out);
    }

    /// Counts mistakes of the agent one after the other. What a person denied is none, and neither is a
    /// command that ran, however it ended.
    fn count_mistake(&mut self, item: &Item) {
        let ItemBody::Tool(tool) = &item.body else { return };
        let is_denied = tool.approval == Some(Some(false));
        match item.status {
            _ if tool.hosted => {}
            ItemStatus::Failed if tool.exit_code.is_none() && !is_denied => self.mistakes += 1,
            ItemStatus::Failed if is_denied => {}
            ItemStatus::Failed | ItemStatus::Completed => self.mistakes = 0,
            ItemStatus::InProgress => {}
        }
    }

    /// Whether an item is the agent's word that it is done.
    fn reports_done(&self, item: &Item) -> bool {
        let ItemBody::Tool(tool) = &item.body else { return false };
        self.setup.is_assigned && tool.name == COMPLETION && item.status == ItemStatus::Completed
    }

    fn tools_done(&mut self, view: View, out: &mut Vec<Effect>) {
        if std::mem::take(&mut self.is_completed) && self.steers.is_empty() {
            return self.complete(&Stop::Stop, out);
        }
        let limits = self.setup.limits;
        let breach = if self.failures >= limits.tool_failures {
            Some(format!("{} tool calls failed in this turn", self.failures))
        } else if self.mistakes >= limits.mistakes {
            Some(format!("{} tool calls failed one after the other", self.mistakes))
        } else if self.tool_rounds >= limits.tool_rounds {
            Some(format!("the turn had {} rounds of tools", self.tool_rounds))
        } else {
            None
        };
        if let Some(message) = breach {
            return self.fail(message, TurnErrorKind::ReliabilityLimit, out);
        }
        if self.failures_in_a_row >= limits.consecutive_failures {
            let message =
                format!("{} tool calls failed one after the other", self.failures_in_a_row);
            if self.setup.profile.is_unattended() && !limits.continues_on_failures {
                return self.fail(message, TurnErrorKind::ReliabilityLimit, out);
            }
            self.failures_in_a_row = 0;
            self.reminders.push(format!("{message}. Try another way, or say what is in the way."));
        }
        self.advance(view, out);
    }

    pub(super) fn item(&self, id: ItemId, status: ItemStatus, body: ItemBody) -> Item {
        // Whoever keeps it has a clock.
        let at = Timestamp::default();
        Item { id, status, step: self.step, at, body, opaque: None }
    }
}
