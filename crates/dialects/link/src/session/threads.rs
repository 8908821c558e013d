//! What happens in the thread that a viewer has open: items that grow, whole ones, and its head.
//!
//! What is heard only says which items are news. What is told is read from the thread, so that it does not
//! matter what was missed or heard twice.

use std::collections::{BTreeMap, BTreeSet};

use rookery_core::{
    Core, FollowedThread, ItemChange, News, Notice, NoticeBody, PlacedItem, RequestChange,
    Subscription, Topics,
};
use rookery_model::{self as model, Item, ItemId, ItemStatus, ThreadId, TurnId};
use rookery_view::link::{ThreadNews, bound};
use rookery_view::prose::Prose;

use crate::make;

/// An open thread, and what happens in it.
pub(crate) struct OpenThread {
    news: Subscription,
    feed: Feed,
}

impl OpenThread {
    /// Follows a thread; what is read of it afterwards misses nothing.
    pub(crate) async fn new(core: &Core, id: ThreadId) -> model::Result<OpenThread> {
        let news = core.log().subscribe(Topics::NOTICES.of_thread(id), None);
        let thread = core.threads().follow(id).await?;
        Ok(OpenThread { news, feed: Feed::new(thread) })
    }

    pub(crate) fn id(&self) -> ThreadId {
        self.feed.thread.id()
    }

    /// Waits until something happens; true if it may show around the thread as well.
    pub(crate) async fn wait(&mut self, core: &Core) -> bool {
        match self.news.next().await {
            Ok(news) => self.feed.apply_news(&news),
            Err(error) => {
                // Cut off for being too far behind. A daemon that stops ends its viewers by itself.
                if error.kind() != model::ErrorKind::Busy {
                    return std::future::pending().await;
                }
                let topics = Topics::NOTICES.of_thread(self.id());
                self.news = core.log().subscribe(topics, None);
                self.resend();
                false
            }
        }
    }

    /// What the viewer has may be anything by now.
    pub(crate) fn resend(&mut self) {
        self.feed.resend();
    }

    pub(crate) fn is_due(&self) -> bool {
        self.feed.is_due()
    }

    /// Reads what items changed in files that are to be told now.
    pub(crate) async fn read_edits(&mut self, core: &Core) {
        let due = self.feed.due.iter().filter_map(|item| self.feed.thread.item(item));
        let turns: BTreeSet<TurnId> =
            due.filter(|placed| make::may_edit(&placed.item)).map(|placed| placed.turn).collect();
        self.feed.edits = make::Edits::default();
        for turn in turns {
            self.feed.edits.extend(make::Edits::read(core, self.id(), Some(turn)).await);
        }
    }

    /// What is to be told now, as much as a frame may have.
    pub(crate) fn take(&mut self, core: &Core) -> Vec<ThreadNews> {
        self.feed.take(core)
    }
}

/// What was heard and not told yet.
struct Feed {
    thread: FollowedThread,
    /// Items that have to be told.
    due: BTreeSet<ItemId>,
    /// Items that grow, as the viewer has them.
    growing: BTreeMap<ItemId, Growing>,
    is_head_due: bool,
    /// What was read of changed files for items that are due.
    edits: make::Edits,
}

/// An item that grows.
struct Growing {
    text: String,
    prose: Prose,
    is_cut: bool,
}

impl Growing {
    fn new(item: &Item) -> Growing {
        let (text, is_cut) = text_of(item);
        let mut prose = Prose::default();
        prose.push(&text);
        Growing { text, prose, is_cut }
    }

    /// The first block that is another by now, if there is one; an error if the item is not what it was
    /// with more behind it.
    fn grow(&mut self, item: &Item) -> Result<Option<usize>, ()> {
        let (text, is_cut) = text_of(item);
        let more = text.strip_prefix(&self.text).filter(|_| is_cut == self.is_cut).ok_or(())?;
        if more.is_empty() {
            return Ok(None);
        }
        self.text.push_str(more);
        Ok(Some(self.prose.push(more)))
    }
}

/// What an item that may grow says so far, and whether that is more than is told.
fn text_of(item: &Item) -> (String, bool) {
    let mut text = make::text_of(item);
    let cut = text.floor_char_boundary(bound::ITEM_BYTES);
    let is_cut = cut < text.len();
    text.truncate(cut);
    (text, is_cut)
}

impl Feed {
    fn new(thread: FollowedThread) -> Feed {
        let (due, growing) = (BTreeSet::new(), BTreeMap::new());
        Feed { thread, due, growing, is_head_due: false, edits: make::Edits::default() }
    }

    /// Takes what happened; true if it may show around the thread as well.
    fn apply_news(&mut self, news: &[News]) -> bool {
        let mut shows_around = false;
        for one in news {
            match one {
                News::Notice(notice) => {
                    let Notice { thread, body, .. } = &**notice;
                    if *thread == Some(self.thread.id()) {
                        self.apply_notice(body);
                    }
                    shows_around |= matches!(body, NoticeBody::Thread(_) | NoticeBody::Turn(_));
                }
                // Whatever came to its end since then is reported; what goes on may have grown.
                News::DeltasMissed(_) => self.due.extend(self.thread.in_progress()),
                News::EventsMissed(_) | News::Event(_) => {}
            }
        }
        shows_around
    }

    fn apply_notice(&mut self, body: &NoticeBody) {
        match body {
            NoticeBody::Item(_, ItemChange::Started(item) | ItemChange::Completed(item)) => {
                self.send_whole(item.id.clone());
            }
            NoticeBody::Item(_, ItemChange::Delta(item, _)) => drop(self.due.insert(item.clone())),
            // The end of what a tool writes is in its item.
            NoticeBody::Item(_, ItemChange::Output(..)) => {}
            NoticeBody::Request(
                RequestChange::Asked(request)
                | RequestChange::Part(request)
                | RequestChange::Reworded(request)
                | RequestChange::Settled(request, _),
            ) => {
                self.is_head_due = true;
                // It shows in the item of the call that waits for it.
                let item = self.thread.item_of_call(request.turn(), &request.call_id);
                if let Some(item) = item {
                    self.send_whole(item);
                }
            }
            NoticeBody::Thread(_)
            | NoticeBody::Turn(_)
            | NoticeBody::Trace(_)
            | NoticeBody::Runner(_)
            | NoticeBody::Stopping(_)
            | NoticeBody::Team(_)
            | NoticeBody::Settings(_)
            | NoticeBody::Files(_)
            | NoticeBody::Plan(_)
            | NoticeBody::Task(_)
            | NoticeBody::Workflow(_)
            | NoticeBody::Memory(_)
            | NoticeBody::Import(_)
            | NoticeBody::Marketplace(_)
            | NoticeBody::Media(_)
            | NoticeBody::Warning(_) => self.is_head_due = true,
        }
    }

    fn send_whole(&mut self, item: ItemId) {
        self.growing.remove(&item);
        self.due.insert(item);
    }

    fn resend(&mut self) {
        self.growing.clear();
        self.due.extend(self.thread.newest(bound::THREAD_ITEMS as usize));
        self.is_head_due = true;
    }

    fn is_due(&self) -> bool {
        self.is_head_due || !self.due.is_empty()
    }

    fn take(&mut self, core: &Core) -> Vec<ThreadNews> {
        let mut news = Vec::new();
        let id = self.thread.id();
        if std::mem::take(&mut self.is_head_due)
            && let Some(seen) = core.threads().get(id)
        {
            let head = Some(Box::new(make::head(core, &seen, &make::Ends::new(core))));
            news.push(ThreadNews { thread: id.to_string(), head, ..ThreadNews::default() });
        }
        let due = std::mem::take(&mut self.due);
        let mut items: Vec<PlacedItem> =
            due.iter().filter_map(|item| self.thread.item(item)).collect();
        items.sort_by_key(|item| item.position);
        let mut room = bound::FRAME_THREAD_BYTES;
        for placed in items {
            if room == 0 {
                self.due.insert(placed.item.id);
                continue;
            }
            if let Some(one) = self.news_of(core, &placed) {
                room = room.saturating_sub(make::weight(&one));
                news.push(one);
            }
        }
        news
    }

    fn news_of(&mut self, core: &Core, placed: &PlacedItem) -> Option<ThreadNews> {
        let item = &placed.item;
        let news = ThreadNews {
            thread: self.thread.id().to_string(),
            item: item.id.to_string(),
            ..ThreadNews::default()
        };
        if let Some(growing) = self.growing.get_mut(&item.id)
            && let Ok(grown) = growing.grow(item)
        {
            let first = grown?;
            let blocks = growing.prose.blocks().iter().skip(first).cloned().collect();
            let from = u32::try_from(first).unwrap_or(u32::MAX);
            return Some(ThreadNews { from, blocks, ..news });
        }
        self.growing.remove(&item.id);
        if item.status == ItemStatus::InProgress && make::grows(item) {
            self.growing.insert(item.id.clone(), Growing::new(item));
        }
        let whole = make::item(core, placed.turn, item, &self.edits);
        Some(ThreadNews { whole: Some(Box::new(whole)), ..news })
    }
}
