//! Turns and items as they are kept and announced, within transactions.

use rookery_model::{Item, ItemBody, ThreadId, Turn, TurnId};
use rookery_store::Change;

use super::live::LiveThread;
use crate::log::{ItemChange, NoticeBody};
use crate::world::Tx;

impl Tx<'_> {
    /// Stores a turn as it is now, unless its thread is kept in memory only.
    pub(super) fn save_turn(&mut self, turn: &Turn) {
        if self.is_kept(turn.thread) {
            self.save(Change::TurnUpserted(Box::new(turn.clone())));
        }
    }

    pub(super) fn save_item(&mut self, thread: ThreadId, turn: TurnId, position: u64, item: &Item) {
        if self.is_kept(thread) {
            let item = Box::new(item.clone());
            self.save(Change::ItemUpserted { thread, turn, position, item });
        }
    }

    fn is_kept(&self, thread: ThreadId) -> bool {
        self.world.thread(thread).is_ok_and(|state| !state.thread.ephemeral)
    }

    /// Keeps an item in its final form and tells of it.
    pub(super) fn complete_item(&mut self, live: &LiveThread, turn: TurnId, item: Item) {
        if matches!(item.body, ItemBody::User { .. }) {
            self.record_steer(live.id, turn);
        }
        self.keep_item(live, turn, item);
    }

    /// The same for what was not accepted as something said to the turn.
    pub(super) fn keep_item(&mut self, live: &LiveThread, turn: TurnId, mut item: Item) {
        let position = self.edit(live).put(turn, &mut item);
        self.save_item(live.id, turn, position, &item);
        let is_message = matches!(item.body, ItemBody::User { .. } | ItemBody::Agent { .. });
        if is_message && let Ok(state) = self.world.thread_mut(live.id) {
            state.thread.message_count += 1;
        }
        self.trace_item(live.id, &item);
        if self.is_kept(live.id) && has_images(&item.body) {
            let (media, thread, item) = (self.core.media(), live.id, item.clone());
            self.afterwards(move || media.keep_images_of(thread, turn, &item));
        }
        if item.is_shown() {
            let completed = ItemChange::Completed(Box::new(item));
            self.announce(live.id, NoticeBody::Item(turn, completed));
        }
    }

    /// Tells of an item that begins; a tool's is kept, since it may have to wait for an answer.
    pub(super) fn begin_item(&mut self, live: &LiveThread, turn: TurnId, mut item: Item) {
        let position = self.edit(live).put(turn, &mut item);
        if matches!(item.body, ItemBody::Tool(_)) {
            self.save_item(live.id, turn, position, &item);
            self.trace_item(live.id, &item);
        }
        self.announce(live.id, NoticeBody::Item(turn, ItemChange::Started(Box::new(item))));
    }
}

fn has_images(body: &ItemBody) -> bool {
    match body {
        ItemBody::User { images, .. } => !images.is_empty(),
        ItemBody::Tool(tool) => !tool.images.is_empty(),
        _ => false,
    }
}
