//! What happens to threads, in the words of core: one enum for each noun.

use rookery_agent::turn::Delta;
use rookery_model::{
    Goal, Item, ItemId, Mode, ModelCall, QueuedMessage, Request, Thread, ThreadId, Timestamp, Turn,
    TurnId,
};

use crate::threads::{Status, TurnLifecycle};

/// Something that happened to a thread.
#[derive(Debug)]
pub struct Notice {
    /// When it was sent.
    pub at: Timestamp,
    /// The thread it is about.
    pub thread: Option<ThreadId>,
    /// Its number among what happened to items of that thread; 0 if it is not about one.
    pub seq: u64,
    /// What happened.
    pub body: NoticeBody,
}

/// What happened, by what it happened to.
#[derive(Clone, Debug)]
pub enum NoticeBody {
    /// To the thread itself.
    Thread(ThreadChange),
    /// To a turn.
    Turn(TurnChange),
    /// To an item of this turn.
    Item(TurnId, ItemChange),
    /// To a request.
    Request(RequestChange),
    /// To what all threads share.
    Settings(SettingsChange),
    /// Something that people should read.
    Warning(String),
}

/// What happens to threads.
#[derive(Clone, Debug)]
pub enum ThreadChange {
    /// It began.
    Started(Box<Thread>, Status),
    /// It does something else.
    Status(Status),
    /// It was put away.
    Archived,
    /// It got another name, or lost its own.
    Renamed(Option<String>),
    /// Its goal was set or changed.
    GoalSet(Box<Goal>),
    /// Its goal was taken away.
    GoalCleared,
    /// Its assignment was set or taken away; the thread has it.
    Assigned,
    /// Its agent works in another role from now on.
    Role {
        /// The slug of the one before; none if it had none.
        previous: Option<String>,
        /// The slug of the one now.
        role: String,
    },
    /// Messages wait in it, or were taken: all that wait now.
    Queued(Vec<QueuedMessage>),
    /// Its mode changed; without a thread, that of all that have none of their own.
    Mode {
        /// What held before.
        previous: Mode,
        /// What holds now.
        mode: Mode,
        /// Why, if a reason was given.
        reason: Option<String>,
    },
}

/// What happens to turns.
#[derive(Clone, Debug)]
pub enum TurnChange {
    /// It began.
    Started(Box<Turn>),
    /// It is at another place in its life. The last one comes before its end.
    Lifecycle(TurnLifecycle),
    /// It has this much of a result so far.
    PartialResult(TurnId, String),
    /// It ran out of time, with this much of a result.
    DeadlineExceeded(TurnId, Option<Timestamp>, String),
    /// It asks its model; the call has this number in it and began then.
    CallStarted(TurnId, u32, Timestamp),
    /// A tool call was let through, by policy or because it was approved, and runs.
    ToolRuns(TurnId, ItemId),
    /// That call is over.
    CallEnded(TurnId, u32, ModelCall),
    /// It came to its end.
    Ended(Box<Turn>),
}

/// What happens to items.
#[derive(Clone, Debug)]
pub enum ItemChange {
    /// It began.
    Started(Box<Item>),
    /// It grew.
    Delta(ItemId, Delta),
    /// The command that it runs printed these lines. In its final form it has all of them.
    Output(ItemId, String),
    /// It is in its final form.
    Completed(Box<Item>),
}

/// What happens to requests.
#[derive(Clone, Debug)]
pub enum RequestChange {
    /// It waits for an answer.
    Asked(Box<Request>),
    /// The last of the answers that it has now was given, and it waits for others.
    Part(Box<Request>),
    /// It was settled, and this mode holds now.
    Settled(Box<Request>, Mode),
}

/// What happens to settings of agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsChange {
    /// Providers, models or their keys.
    Providers,
    /// Anything else.
    Other,
}

impl NoticeBody {
    pub(super) fn is_of_item(&self) -> bool {
        matches!(self, NoticeBody::Item(..))
    }

    /// Whether a reader that missed it still learns all of it, from the item that follows.
    pub(super) fn is_delta(&self) -> bool {
        matches!(self, NoticeBody::Item(_, ItemChange::Delta(..) | ItemChange::Output(..)))
    }
}

/// A change is what happened.
macro_rules! becomes_body {
    ($($Change:ident => $Variant:ident),*) => {
        $(impl From<$Change> for NoticeBody {
            fn from(change: $Change) -> NoticeBody {
                NoticeBody::$Variant(change)
            }
        })*
    };
}

becomes_body!(ThreadChange => Thread, TurnChange => Turn, RequestChange => Request, SettingsChange => Settings);
