//! The queue: what asks for attention, the most urgent first; and the timeline, what happened.

mod items;
mod observe;
mod timeline;

use std::cmp::Reverse;

use rookery_model::{
    Category, Event, QueueItem, QueueItemId, Record, RecordKind, Related, Result, SessionId, Source,
};

use crate::clock;
use crate::rooms::Queue;
use crate::world::{Tx, World, draw};

pub(crate) use items::{Items, MAX_ITEMS};
pub(crate) use timeline::MAX_LINES;

/// What became of the agent that a session was to start, as the queue has it. A dialect may have words of
/// its own for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentStart {
    Started,
    /// The one that was named did not start.
    Failed,
    /// The usual one did not start.
    UsualFailed,
    /// The daemon stopped meanwhile, so it is not known.
    Interrupted,
}

impl AgentStart {
    const ALL: [AgentStart; 4] =
        [AgentStart::Started, AgentStart::Failed, AgentStart::UsualFailed, AgentStart::Interrupted];

    pub(crate) fn title(self) -> &'static str {
        match self {
            AgentStart::Started => "Agent started",
            AgentStart::Failed => "Agent not started",
            AgentStart::UsualFailed => "Usual agent not started",
            AgentStart::Interrupted => "Agent start interrupted",
        }
    }

    /// What an item says of such a start, if it does.
    pub fn of(item: &QueueItem) -> Option<AgentStart> {
        let is_ours = item.source == Source::Protocol && item.related.is_none();
        AgentStart::ALL.into_iter().find(|start| is_ours && start.title() == item.title)
    }
}

/// An item to be filed.
#[derive(Clone, Debug)]
pub(crate) struct NewItem {
    pub(crate) session: Option<SessionId>,
    pub(crate) related: Option<Related>,
    pub(crate) category: Category,
    pub(crate) title: String,
    pub(crate) subtitle: Option<String>,
    pub(crate) source: Source,
}

impl Queue {
    /// Open items, the most urgent first and the newest of one urgency before others.
    pub fn list(&self) -> Vec<QueueItem> {
        self.core.look().open_items().into_iter().cloned().collect()
    }

    /// Resolves an item. False if there is no such item, or it was resolved before.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub async fn resolve(&self, id: QueueItemId) -> Result<bool> {
        self.core
            .transact_durably(|tx| {
                let open = tx.world.queue.open_item(id).cloned();
                let is_open = open.is_some();
                tx.resolve(open);
                Ok(is_open)
            })
            .await
    }
}

impl World {
    /// Open items, in the order in which they are looked at.
    pub(crate) fn open_items(&self) -> Vec<&QueueItem> {
        let mut open: Vec<&QueueItem> = self.queue.open(clock::wall()).collect();
        open.sort_by_cached_key(|item| (item.category, Reverse((item.created_at, item.order))));
        open
    }
}

impl Tx<'_> {
    /// Files an item. That a session is done is said once, as it was said last.
    pub(crate) fn file(&mut self, new: NewItem) -> QueueItemId {
        self.sweep_queue();
        if new.category == Category::Completed && new.related.is_none() {
            let session = new.session;
            self.resolve_items(session, |item| is_word(item, Category::Completed));
        }
        let NewItem { session, related, category, title, subtitle, source } = new;
        let item = QueueItem {
            id: QueueItemId::new(draw()),
            session,
            related,
            category,
            title,
            subtitle,
            source,
            created_at: clock::wall(),
            order: self.world.next_order(),
            is_pinned: false,
            resolved_at: None,
        };
        let id = item.id;
        self.keep(Record::Queue(item.clone()));
        self.emit(Event::QueueItemFiled(Box::new(item)));
        id
    }

    /// Files an item unless one of its urgency about the same thing is open already.
    pub(crate) fn file_once(&mut self, new: NewItem) {
        let items = &self.world.queue;
        let is_same =
            |item: &QueueItem| item.category == new.category && item.related == new.related;
        let is_filed = match new.related {
            Some(related) => items.open_about(related).any(is_same),
            None => items.open_of(new.session).any(is_same),
        };
        if !is_filed {
            self.file(new);
        }
    }

    /// Whether such an item of a session, or of none, is open.
    pub(crate) fn has_open_item(
        &self,
        session: impl Into<Option<SessionId>>,
        is_wanted: impl Fn(&QueueItem) -> bool,
    ) -> bool {
        self.world.queue.open_of(session.into()).any(is_wanted)
    }

    /// Resolves all open items about one thing.
    pub(crate) fn resolve_related(&mut self, related: Related) {
        let open: Vec<QueueItem> = self.world.queue.open_about(related).cloned().collect();
        self.resolve(open);
    }

    /// Resolves such open items of a session, or of none.
    pub(crate) fn resolve_items(
        &mut self,
        session: impl Into<Option<SessionId>>,
        is_wanted: impl Fn(&QueueItem) -> bool,
    ) {
        let open = self.world.queue.open_of(session.into());
        let wanted: Vec<QueueItem> = open.filter(|item| is_wanted(item)).cloned().collect();
        self.resolve(wanted);
    }

    fn resolve(&mut self, open: impl IntoIterator<Item = QueueItem>) {
        for mut item in open {
            item.resolved_at = Some(clock::wall());
            let (id, session) = (item.id, item.session);
            self.keep(Record::Queue(item));
            self.emit(Event::QueueItemResolved { id, session });
        }
    }

    /// Drops what is past its time, and the least of all if there is too much.
    fn sweep_queue(&mut self) {
        for id in self.world.queue.surplus(clock::wall()) {
            self.world.queue.remove(id);
            self.forget(RecordKind::Queue, id.get());
        }
    }
}

/// Whether an item is a mere word of its session: about nothing that could be decided.
pub(crate) fn is_word(item: &QueueItem, category: Category) -> bool {
    item.related.is_none() && item.category == category
}
