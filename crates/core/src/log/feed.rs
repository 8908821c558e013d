//! What happens to threads, as it happens: durable changes once they are durable, and what is
//! streamed in between.

mod queue;
mod size;

use rookery_agent::turn::Delta;
use rookery_model::{Goal, Item, ItemId, Mode, Request, Thread, ThreadId, Timestamp, Turn, TurnId};

pub(crate) use self::queue::Feed;
pub use self::queue::FeedReader;
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

/// What happened.
#[derive(Clone, Debug)]
pub enum NoticeBody {
    /// A thread began.
    ThreadStarted(Box<Thread>, Status),
    /// What a thread does changed.
    StatusChanged(Status),
    /// A turn began.
    TurnStarted(Box<Turn>),
    /// A turn is at another place in its life. The last one comes before its end is told.
    Lifecycle(TurnLifecycle),
    /// A turn came to its end.
    TurnEnded(Box<Turn>),
    /// An item began.
    ItemStarted(TurnId, Box<Item>),
    /// An item grew.
    ItemDelta(TurnId, ItemId, Delta),
    /// An item is in its final form.
    ItemCompleted(TurnId, Box<Item>),
    /// An agent waits for an answer.
    Requested(Box<Request>),
    /// A request was settled.
    Settled(Box<Request>, Mode),
    /// A mode changed, that of the thread or of all that have none of their own.
    ModeChanged {
        /// What held before.
        previous: Mode,
        /// What holds now.
        mode: Mode,
        /// Why, if a reason was given.
        reason: Option<String>,
    },
    /// What a turn has so far.
    PartialResult(TurnId, String),
    /// A turn ran out of time.
    DeadlineExceeded(TurnId, Option<Timestamp>, String),
    /// A thread was put away.
    Archived,
    /// A thread got another name.
    Renamed(Option<String>),
    /// A goal was set or changed.
    GoalUpdated(Box<Goal>),
    /// A goal was taken away.
    GoalCleared,
    /// Providers, models or their keys changed.
    ProvidersChanged,
    /// Settings changed.
    SettingsChanged,
    /// Something to be told to people.
    Warning(String),
    /// This reader was too far behind and does not get this many deltas; items that were completed
    /// have all of their text.
    DeltasDropped(u64),
}

impl NoticeBody {
    fn is_of_item(&self) -> bool {
        matches!(
            self,
            NoticeBody::ItemStarted(..) | NoticeBody::ItemDelta(..) | NoticeBody::ItemCompleted(..)
        )
    }

    /// Whether a reader that missed it still learns all of it, from the item that follows.
    fn is_delta(&self) -> bool {
        matches!(self, NoticeBody::ItemDelta(..))
    }
}
