//! Pages that take the place of the workspace: inbox and card, thread, review, lists. Each has its
//! state, its keys and its drawing; nothing here decides without [`card::CardPage`].

pub mod attach;
pub mod card;
pub mod inbox;
pub mod keys;
pub mod list;
pub mod load;
pub mod new_thread;
pub mod review;
pub mod settings;
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
    /// What the sidebar is filtered by.
    pub sidebar: sidebar::SidebarPage,
    /// The card of its selected row.
    pub card: card::CardPage,
    /// The prompt of a new thread.
    pub new_thread: new_thread::NewThread,
    /// The thread that is open.
    pub thread: thread::ThreadPage,
    /// The review that is open.
    pub review: review::ReviewPage,
    /// Whichever list is open.
    pub list: list::ListPage,
    /// What is being changed in the settings.
    pub settings: settings::SettingsPage,
    /// Where browsers can look in, if they can.
    pub web: Option<String>,
    /// The checkpoint whose diff is shown once their page is.
    pub wanted_checkpoint: Option<String>,
    /// Where a drag began that selects nothing yet.
    pub pending_selection: Option<Selection>,
    /// The sidebar's width, if the user dragged it.
    pub sidebar_width: Option<u16>,
}

impl Pages {
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
        let is_text = self.new_thread.has_text();
        let field = match App::page(cx) {
            _ if self.new_thread.is_open => Some(&mut self.new_thread.text).filter(|_| is_text),
            Page::Inbox { .. } if self.inbox.filtering => self.inbox.filter.as_mut(),
            Page::Inbox { .. } => self.card.field(),
            Page::Thread { .. } => self.thread.field(),
            Page::Review { .. } => self.review.comment.as_mut(),
            Page::Workspace { .. } => None,
            Page::Settings => self.settings.field().or(self.list.filter_field()),
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
