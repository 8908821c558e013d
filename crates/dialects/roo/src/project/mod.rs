//! A thread as a task: what happens to it becomes events of this dialect. Pure: facts and the time in,
//! events out. It has no clock, waits for nothing and asks nothing of the world.

mod asks;
mod calls;
mod diffs;
mod replay;
mod retry;
mod streams;
mod tally;
mod timers;
pub(crate) mod tools;
mod turns;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;

use rookery_core::{ItemChange, NoticeBody, RequestChange, ThreadChange, TurnChange};
use rookery_model::{Assignment, ItemId, Prices, QueuedMessage, Thread, Timestamp, TurnId};

use self::asks::Pending;
use self::calls::Shows;
use self::retry::Retry;
use self::streams::Stream;
use self::tally::Tally;
pub(crate) use self::tally::cost;
pub(crate) use self::turns::Boundary;
use crate::wire::{
    self, Action, Change, ClineMessage, Event, TokenUsage, ToolName, ToolUsage, Waiting,
};

/// What a task is, as far as its events depend on it.
#[derive(Clone, Debug)]
pub(crate) struct About {
    pub(crate) id: String,
    /// The directory it works in.
    pub(crate) root: PathBuf,
    /// The task that waits for its result.
    pub(crate) lead: Option<String>,
    /// What tokens cost.
    pub(crate) prices: Option<Prices>,
    /// The protocol that its provider speaks.
    pub(crate) protocol: &'static str,
    /// After how many seconds a provider that failed is asked again by itself; never if there is none.
    pub(crate) retry_delay: Option<u64>,
    /// What modes are called, by their slugs.
    modes: Vec<(String, String)>,
}

impl About {
    pub(crate) fn of(thread: &Thread) -> About {
        let assignment = thread.assignment.as_deref();
        let provider = thread.choice.provider.as_str();
        About {
            id: thread.id.to_string(),
            root: thread.cwd.clone(),
            lead: assignment.and_then(|it| it.lead).map(|lead| lead.to_string()),
            prices: assignment.and_then(|it| it.prices),
            protocol: if provider.contains("anthropic") { "anthropic" } else { "openai" },
            retry_delay: assignment.filter(|it| it.unasked.is_on).map(retry_delay),
            modes: modes(assignment),
        }
    }

    /// What a mode is called; its slug if that is not known.
    fn mode_name(&self, slug: &str) -> String {
        let found = self.modes.iter().find(|(known, _)| known == slug);
        found.map_or(slug, |(_, name)| name).to_owned()
    }

    #[cfg(test)]
    fn example() -> About {
        About {
            id: "T".into(),
            root: "/w".into(),
            lead: None,
            prices: None,
            protocol: "openai",
            retry_delay: None,
            modes: modes(None),
        }
    }
}

/// The names of the modes that are there in any case, and of those that the task brought.
fn modes(assignment: Option<&Assignment>) -> Vec<(String, String)> {
    let own = assignment.map(|it| it.roles.clone()).unwrap_or_default();
    let all = own.into_iter().chain(rookery_agent::roles::built_ins());
    all.map(|role| (role.slug, role.name)).collect()
}

/// How long the first wait for a provider that failed is, in seconds.
fn retry_delay(assignment: &Assignment) -> u64 {
    const USUAL: u64 = 5;
    let settings: serde_json::Value =
        serde_json::from_str(&assignment.settings).unwrap_or_default();
    let wanted = settings.get("requestDelaySeconds").and_then(serde_json::Value::as_f64);
    // Without a wait a provider that is down would be asked without end.
    wanted.map_or(USUAL, |seconds| seconds.ceil() as u64).max(1)
}

/// A task with all its messages.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) about: About,
    messages: Vec<ClineMessage>,
    last_ts: u64,
    out: Vec<Event>,
    streams: HashMap<ItemId, Stream>,
    shown: HashMap<ItemId, Shows>,
    /// Items that are whole.
    done: HashSet<ItemId>,
    /// Turns that were seen, and whether they are over.
    turns: HashMap<TurnId, bool>,
    /// The message of each model call.
    calls: HashMap<(TurnId, u32), usize>,
    asks: VecDeque<Pending>,
    boundary: Option<Boundary>,
    /// The state that was announced while something waits.
    waiting: Option<Waiting>,
    state_due: Option<(u64, Waiting)>,
    usage_due: Option<u64>,
    retry: Option<Retry>,
    /// How often a provider failed in a row.
    failures: u32,
    tally: Tally,
    /// Whether the first message was shown.
    has_begun: bool,
    /// Whether the agent's start is still to be announced.
    is_start_due: bool,
    /// Whether it was closed, so that its end is no news.
    is_closed: bool,
    /// Whether the model said or did anything in its last call.
    has_streamed: bool,
    /// Whether what it takes has happened long ago.
    is_replayed: bool,
    last_text: Option<String>,
    result: Option<String>,
}

impl Task {
    pub(crate) fn new(about: About) -> Task {
        Task {
            tally: Tally::new(about.prices),
            about,
            messages: Vec::new(),
            last_ts: 0,
            out: Vec::new(),
            streams: HashMap::new(),
            shown: HashMap::new(),
            done: HashSet::new(),
            turns: HashMap::new(),
            calls: HashMap::new(),
            asks: VecDeque::new(),
            boundary: None,
            waiting: None,
            state_due: None,
            usage_due: None,
            retry: None,
            failures: 0,
            has_begun: false,
            is_start_due: true,
            is_closed: false,
            has_streamed: false,
            is_replayed: false,
            last_text: None,
            result: None,
        }
    }

    /// Its messages, in order.
    pub(crate) fn messages(&self) -> &[ClineMessage] {
        &self.messages
    }

    /// Its tokens.
    pub(crate) fn usage(&self) -> TokenUsage {
        self.tally.usage()
    }

    pub(crate) fn tools(&self) -> &ToolUsage {
        self.tally.tools()
    }

    /// The result of its last piece of work.
    pub(crate) fn result(&self) -> Option<&str> {
        self.result.as_deref().or(self.last_text.as_deref())
    }

    /// What it waits for beyond its turns.
    pub(crate) fn boundary(&self) -> Option<Boundary> {
        self.boundary
    }

    /// Whether nothing will happen to it unless something happens to its thread.
    pub(crate) fn is_idle(&self) -> bool {
        self.due().is_none() && self.turns.values().all(|is_over| *is_over)
    }

    /// Whether it was closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Whether it works, waits, or was stopped before it came to a result.
    pub(crate) fn is_unfinished(&self) -> bool {
        let is_stopped = |boundary: Boundary| {
            !matches!(boundary, Boundary::Completed | Boundary::CompletedAgain)
        };
        let is_working = self.turns.values().any(|is_over| !is_over);
        is_working
            || self.has_ask()
            || self.retry.is_some()
            || self.boundary.is_some_and(is_stopped)
    }

    /// Whether it waits for the result of another task.
    pub(crate) fn is_delegating(&self) -> bool {
        let is_open = |shows: &Shows| tools::tool_name(&shows.tool.name) == ToolName::NewTask;
        self.shown.values().any(is_open)
    }

    /// About how many bytes it holds.
    pub(crate) fn size(&self) -> usize {
        let of = |message: &ClineMessage| {
            let images = message.images.iter().flatten().map(String::len).sum::<usize>();
            size_of::<ClineMessage>() + message.text.as_ref().map_or(0, String::len) + images
        };
        self.messages.iter().map(of).sum()
    }

    /// What has happened since it was last asked.
    pub(crate) fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.out)
    }

    /// It is there, and looked at.
    pub(crate) fn announce(&mut self) {
        self.is_closed = false;
        self.change(Change::Created);
        self.change(Change::Focused);
    }

    /// It was closed by its client or put away.
    pub(crate) fn close(&mut self, now: u64) {
        if std::mem::replace(&mut self.is_closed, true) {
            return;
        }
        self.close_streams();
        self.end_retry();
        self.change(Change::Unfocused);
        self.flush_usage(now);
        self.change(Change::Aborted);
        self.stop_waiting();
        (self.boundary, self.retry) = (None, None);
        self.asks.clear();
    }

    /// Takes something that happened to the thread. A closed task emits nothing, unless it
    /// begins to work again.
    pub(crate) fn take(&mut self, body: &NoticeBody, now: u64) {
        if self.is_closed && matches!(body, NoticeBody::Turn(TurnChange::Started(_))) {
            self.announce();
        }
        let (is_news, before) = (!self.is_closed, self.out.len());
        self.apply(body, now);
        if !is_news {
            self.out.truncate(before);
            self.stop_waiting();
            self.usage_due = None;
        }
    }

    fn apply(&mut self, body: &NoticeBody, now: u64) {
        match body {
            NoticeBody::Thread(change) => self.thread_changed(change, now),
            NoticeBody::Turn(change) => self.turn_changed(change, now),
            NoticeBody::Item(turn, change) => self.item_changed(*turn, change, now),
            NoticeBody::Request(RequestChange::Asked(request)) => self.asked(request, now),
            NoticeBody::Request(RequestChange::Settled(request, _)) => self.settled(request, now),
            NoticeBody::Request(RequestChange::Part(request)) => self.part_answered(request, now),
            NoticeBody::Request(RequestChange::Reworded(request)) => self.reworded(request),
            // A child agent is a task of its own, or none of this dialect's.
            NoticeBody::Trace(_)
            | NoticeBody::Runner(_)
            | NoticeBody::Stopping(_)
            | NoticeBody::Settings(_)
            | NoticeBody::Files(_)
            | NoticeBody::Plan(_)
            | NoticeBody::Task(_)
            | NoticeBody::Workflow(_)
            | NoticeBody::Team(_)
            | NoticeBody::Memory(_)
            | NoticeBody::Import(_)
            | NoticeBody::Marketplace(_)
            | NoticeBody::Media(_)
            | NoticeBody::Warning(_) => {}
        }
    }

    fn thread_changed(&mut self, change: &ThreadChange, now: u64) {
        match change {
            ThreadChange::Archived => self.close(now),
            ThreadChange::Role { role, .. } => {
                let (task, slug) = (self.about.id.clone(), role.clone());
                self.out.push(Event::ModeSwitched { task, slug });
            }
            ThreadChange::Queued(messages) => {
                let messages = messages.iter().map(queued).collect();
                self.out.push(Event::Queued { task: self.about.id.clone(), messages });
            }
            ThreadChange::Started(..)
            | ThreadChange::Status(_)
            | ThreadChange::Renamed(_)
            | ThreadChange::GoalSet(_)
            | ThreadChange::GoalCleared
            | ThreadChange::Assigned
            | ThreadChange::Mode { .. } => {}
        }
    }

    fn turn_changed(&mut self, change: &TurnChange, now: u64) {
        match change {
            TurnChange::Started(turn) => self.turn_started(turn),
            TurnChange::CallStarted(turn, index, at) => {
                self.call_started((*turn, *index), millis(*at));
            }
            TurnChange::CallEnded(turn, index, call) => self.call_ended((*turn, *index), call, now),
            TurnChange::ToolRuns(_, item) => self.tool_runs(item),
            TurnChange::Ended(turn) => self.turn_ended(turn, now),
            TurnChange::Lifecycle(_)
            | TurnChange::PartialResult(..)
            | TurnChange::DeadlineExceeded(..) => {}
        }
    }

    fn item_changed(&mut self, turn: TurnId, change: &ItemChange, now: u64) {
        match change {
            ItemChange::Started(item) if !self.done.contains(&item.id) => {
                self.item_started(turn, item, now);
            }
            ItemChange::Delta(item, delta) => self.item_grown(item, delta, now),
            ItemChange::Output(item, text) => self.command_grown(item, text, now),
            ItemChange::Completed(item) if self.done.insert(item.id.clone()) => {
                self.item_completed(turn, item, now);
            }
            ItemChange::Started(_) | ItemChange::Completed(_) => {}
        }
    }

    fn change(&mut self, change: Change) {
        self.out.push(Event::Task(change, self.about.id.clone()));
    }

    /// Adds a message under a number of its own: its time, or the next that is free.
    fn create(&mut self, at: u64, message: ClineMessage) -> usize {
        self.last_ts = at.max(self.last_ts + 1);
        self.messages.push(ClineMessage { ts: self.last_ts, ..message });
        let index = self.messages.len() - 1;
        self.emit(index, Action::Created);
        index
    }

    /// Emits all of a message as it is now.
    fn emit(&mut self, index: usize, action: Action) {
        let Some(message) = self.messages.get(index) else { return };
        let message = Box::new(message.clone());
        self.out.push(Event::Message { task: self.about.id.clone(), action, message });
    }

    /// Changes a message and emits it.
    fn update(&mut self, index: usize, change: impl FnOnce(&mut ClineMessage)) {
        if let Some(message) = self.messages.get_mut(index) {
            change(message);
            self.emit(index, Action::Updated);
        }
    }
}

/// Milliseconds since the epoch.
pub(crate) fn millis(at: Timestamp) -> u64 {
    u64::try_from(at.as_micros() / 1000).unwrap_or(0)
}

/// A message that waits, as it is shown.
pub(crate) fn queued(message: &QueuedMessage) -> wire::QueuedMessage {
    wire::QueuedMessage {
        timestamp: millis(message.at),
        id: uuid::Uuid::from_u128(message.id).to_string(),
        text: message.text.clone(),
        images: message.images.clone(),
    }
}

#[cfg(test)]
mod tests;
