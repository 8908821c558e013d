//! Pages that take the place of the workspace: inbox and card, thread, review, lists. Each has its
//! state, its keys and its drawing; nothing here decides without [`card::CardPage`].

pub mod card;
pub mod inbox;
pub mod keys;
pub mod list;
pub mod load;
pub mod review;
pub mod sidebar;
pub mod text;
pub mod thread;

use rookery_view::link::{Card, Page};
use serde_json::Value;

use crate::app::{App, Cx, Selection};

/// The state of every page.
#[derive(Default)]
pub struct Pages {
    /// The inbox's list.
    pub inbox: inbox::InboxPage,
    /// The card of its selected row.
    pub card: card::CardPage,
    /// The thread that is open, or being begun.
    pub thread: thread::ThreadPage,
    /// The review that is open.
    pub review: review::ReviewPage,
    /// Whichever list is open.
    pub list: list::ListPage,
    /// Where a drag began that selects nothing yet.
    pub pending_selection: Option<Selection>,
    /// The sidebar's width, if the user dragged it.
    pub sidebar_width: Option<u16>,
}

impl Pages {
    /// A card came.
    pub fn card_came(&mut self, serial: u64, value: Value) {
        let card: Card = crate::app::read(value);
        if self.card.serial() == serial {
            self.card.came(card);
        } else if self.thread.card.serial() == serial {
            self.thread.card.came(card);
        }
    }

    /// A paste goes into the field of a page, if it has one that is open.
    pub fn paste(&mut self, cx: &Cx<'_>, text: &str) -> bool {
        let field = match App::page(cx) {
            _ if self.thread.is_new() => self.thread.field(),
            Page::Inbox { .. } => self.card.field(),
            Page::Thread { .. } => self.thread.field(),
            Page::Review { .. } => self.review.comment.as_mut(),
            Page::Workspace { .. } => None,
            _ => self.list.filter_field(),
        };
        match field {
            Some(field) => {
                field.insert(text);
                true
            }
            None => false,
        }
    }
}

/// Cards are numbered over all pages, so that an answer finds its own.
pub(crate) fn next_serial() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
