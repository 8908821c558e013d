//! What happens in the thread that a viewer has open: items that grow, whole ones, and its head.

use std::collections::BTreeMap;

use rookery_agent::turn::Delta;
use rookery_core::{Core, ItemChange, NoticeBody};
use rookery_model::{Item, ThreadId, TurnId};
use rookery_view::link::ThreadNews;
use rookery_view::prose::Prose;

use crate::make;

/// Items that may wait to be told; beyond them the thread is read anew.
const MOST_ITEMS: usize = 256;

/// What was heard and not told yet.
pub(crate) struct Feed {
    thread: ThreadId,
    /// Items that are being written, as far as they are known.
    growing: BTreeMap<String, Growing>,
    /// Items that have to be told.
    due: BTreeMap<String, TurnId>,
    whole: BTreeMap<String, Item>,
    is_head_due: bool,
}

/// An item that grows.
#[derive(Default)]
struct Growing {
    prose: Prose,
    /// The first block that the viewer does not have as it is by now.
    from: Option<usize>,
}

impl Feed {
    pub(crate) fn new(thread: ThreadId) -> Feed {
        Feed {
            thread,
            growing: BTreeMap::new(),
            due: BTreeMap::new(),
            whole: BTreeMap::new(),
            is_head_due: false,
        }
    }

    /// Takes what happened.
    pub(crate) fn hear(&mut self, body: &NoticeBody) {
        if let NoticeBody::Item(turn, change) = body {
            self.hear_item(*turn, change);
        } else {
            self.is_head_due = true;
        }
        if self.due.len() > MOST_ITEMS {
            self.lose();
        }
    }

    fn hear_item(&mut self, turn: TurnId, change: &ItemChange) {
        let name = match change {
            ItemChange::Started(item) | ItemChange::Completed(item) => {
                let growing = self.growing.entry(item.id.to_string()).or_default();
                // What is added later goes on from here.
                *growing = Growing::default();
                growing.prose.push(make::said(item));
                self.whole.insert(item.id.to_string(), (**item).clone());
                item.id.to_string()
            }
            ItemChange::Delta(item, delta) => {
                let text = match delta {
                    Delta::Text { text, .. }
                    | Delta::Thought { text }
                    | Delta::Summary { text, .. } => text.as_str(),
                    Delta::SummaryPart { .. } => "\n\n",
                };
                let growing = self.growing.entry(item.to_string()).or_default();
                let from = growing.prose.push(text);
                growing.from = Some(growing.from.map_or(from, |known| known.min(from)));
                item.to_string()
            }
            // The end of what a tool writes is in its item.
            ItemChange::Output(..) => return,
        };
        self.due.insert(name, turn);
    }

    /// Something was missed: the head is told, and what is whole when it is.
    pub(crate) fn lose(&mut self) {
        self.growing.clear();
        self.due.clear();
        self.whole.clear();
        self.is_head_due = true;
    }

    /// What is to be told now.
    pub(crate) fn take(&mut self, core: &Core) -> Vec<ThreadNews> {
        let thread = self.thread.to_string();
        let mut news = Vec::new();
        for (item, turn) in std::mem::take(&mut self.due) {
            if let Some(whole) = self.whole.remove(&item) {
                let whole = make::item(core, turn, &whole, false);
                news.push(ThreadNews {
                    thread: thread.clone(),
                    item,
                    whole: Some(Box::new(whole)),
                    ..ThreadNews::default()
                });
                continue;
            }
            let Some(growing) = self.growing.get_mut(&item) else { continue };
            let first = growing.from.take().unwrap_or(0);
            let from = u32::try_from(first).unwrap_or(u32::MAX);
            let blocks = growing.prose.blocks().iter().skip(first).cloned().collect();
            news.push(ThreadNews {
                thread: thread.clone(),
                item,
                from,
                blocks,
                ..ThreadNews::default()
            });
        }
        if std::mem::take(&mut self.is_head_due)
            && let Some(seen) = core.threads().get(self.thread)
        {
            let head = Some(Box::new(make::head(core, &seen)));
            news.push(ThreadNews { thread, head, ..ThreadNews::default() });
        }
        news
    }
}
