//! Notices for those who do not look: one for each thing that asks for attention, taken back when it is
//! dealt with anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use rookery_core::{Core, Page, SessionHome, Viewer};
use rookery_model::{Category, QueueItem, Related, Request, RequestId, Timestamp, ViewerId};
use rookery_view::inbox;
use rookery_view::link::{self, NewNotice, Notice, Urgency};

use super::scene::{title_of, waits};
use crate::ids::millis;
use crate::make;

/// What a viewer was sent.
pub(super) struct Notices {
    /// The newest item that was there when it came; older ones are no news.
    since: u64,
    /// Items that it was sent, or was looking at, and that are still there.
    known: BTreeSet<u64>,
    notified: BTreeSet<u64>,
    refusals: u64,
}

/// Notices about the connection itself have numbers of their own.
const REFUSALS: u64 = 1 << 48;

impl Notices {
    pub(super) fn new(core: &Core) -> Notices {
        let since = core.queue().list().iter().map(|item| item.order).max().unwrap_or(0);
        Notices { since, known: BTreeSet::new(), notified: BTreeSet::new(), refusals: REFUSALS }
    }

    /// What is new, and what is settled.
    pub(super) fn news(&mut self, core: &Core, id: ViewerId) -> Vec<Notice> {
        let Ok(viewer) = core.seats().viewer(id) else { return Vec::new() };
        core.requests().with_queue(|requests, items| self.news_of(core, &viewer, requests, items))
    }

    fn news_of(
        &mut self,
        core: &Core,
        viewer: &Viewer,
        requests: &[&Request],
        items: &[&QueueItem],
    ) -> Vec<Notice> {
        // Only those were ever told: there may be thousands that are older.
        let newer = items.iter().filter(|item| item.order > self.since);
        let newer: BTreeMap<u64, &QueueItem> = newer.map(|item| (item.order, *item)).collect();
        let is_gone = |order: &&u64| !newer.contains_key(order);
        let gone: Vec<u64> = self.notified.iter().filter(is_gone).copied().collect();
        self.notified.retain(|order| newer.contains_key(order));
        self.known.retain(|order| newer.contains_key(order));
        let mut news: Vec<Notice> = gone.into_iter().map(|gone| Notice::Gone { gone }).collect();
        for item in items.iter().filter(|item| newer.contains_key(&item.order)) {
            let is_told = waits(item.category) || item.category == Category::Completed;
            if is_told && self.known.insert(item.order) && !is_looking(core, viewer, item) {
                self.notified.insert(item.order);
                let asks = requests.iter().find(|it| item.related == Some(Related::Request(it.id)));
                let said = NewNotice { body: body(item, asks.copied()), ..notice(core, item) };
                news.push(Notice::New(said));
            }
        }
        news
    }

    /// Input that was refused.
    pub(super) fn refusal(&mut self, text: String) -> Notice {
        self.refusals += 1;
        Notice::New(NewNotice {
            id: self.refusals,
            urgency: Urgency::High,
            title: text,
            body: String::new(),
            page: None,
            at: millis(now()),
        })
    }
}

fn now() -> Timestamp {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// Whether a viewer with the keyboard shows what an item is about.
fn is_looking(core: &Core, viewer: &Viewer, item: &QueueItem) -> bool {
    // A client's question lies over everything that this viewer shows.
    if let Some(Related::Request(request)) = item.related
        && core.seats().is_asked_at(viewer.id, request)
    {
        return true;
    }
    if !viewer.has_keyboard {
        return false;
    }
    match item.session.and_then(|id| core.sessions().get(id)).map(|session| session.home) {
        Some(SessionHome::Terminal(id)) => core.seats().shown(viewer.id).contains(&id),
        Some(SessionHome::Thread(id)) => viewer.page == Page::Thread(id),
        None => false,
    }
}

/// What a viewer reads below the title: of a request what would be done, as its row of the inbox has it.
fn body(item: &QueueItem, request: Option<&Request>) -> String {
    let row = inbox::Item { item, request }.row("");
    match (request, row.subtitle.is_empty()) {
        (Some(_), false) => row.subtitle,
        _ => make::line(item.subtitle.as_deref().unwrap_or_default()),
    }
}

/// The notice of a request that waits, as its item in the queue tells it. It leaves this machine, so what would be
/// done is not in it.
pub fn notice_of(core: &Core, request: RequestId) -> Option<NewNotice> {
    let about = Some(Related::Request(request));
    let items = core.queue().list();
    items.iter().find(|item| item.related == about).map(|item| notice(core, item))
}

fn notice(core: &Core, item: &QueueItem) -> NewNotice {
    let session = item.session.map_or_else(String::new, |id| title_of(core, id));
    let title = make::line(&item.title);
    NewNotice {
        id: item.order,
        urgency: match item.category {
            Category::ApprovalNeeded | Category::Error => Urgency::High,
            Category::ReviewRequested | Category::Blocked => Urgency::Normal,
            Category::Completed | Category::Informational => Urgency::Low,
        },
        title: if session.is_empty() { title } else { format!("{session}: {title}") },
        body: make::line(item.subtitle.as_deref().unwrap_or_default()),
        page: Some(match item.related {
            Some(Related::Review(id)) => link::Page::Review { review: id.to_string(), file: None },
            _ => link::Page::Inbox { item: Some(item.id.to_string()) },
        }),
        at: millis(item.created_at),
    }
}
