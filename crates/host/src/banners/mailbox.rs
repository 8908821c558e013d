//! Requests that wait for the bus: the newest one of each tab, in the order of their tabs' first.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// For how many tabs a request may wait.
const LIMIT: usize = 1024;

/// What a tab wants of its banner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Show { title: String, body: String },
    Retire,
}

/// Filled by any task, emptied by one.
#[derive(Default)]
pub(super) struct Mailbox {
    waiting: Mutex<Waiting>,
    arrived: Notify,
}

#[derive(Default)]
struct Waiting {
    order: VecDeque<u64>,
    requests: HashMap<u64, Request>,
    is_closed: bool,
}

impl Mailbox {
    /// Leaves a request in place of an older one. False if there is no room.
    pub(super) fn put(&self, tab: u64, request: Request) -> bool {
        let mut waiting = self.waiting.lock();
        if !waiting.requests.contains_key(&tab) {
            if waiting.order.len() >= LIMIT {
                return false;
            }
            waiting.order.push_back(tab);
        }
        waiting.requests.insert(tab, request);
        self.arrived.notify_one();
        true
    }

    /// Nothing will be left any more.
    pub(super) fn close(&self) {
        self.waiting.lock().is_closed = true;
        self.arrived.notify_one();
    }

    /// The next request; None when the mailbox is closed and empty. Cancel-safe.
    pub(super) async fn take(&self) -> Option<(u64, Request)> {
        loop {
            if let Some(taken) = self.try_take() {
                return taken;
            }
            self.arrived.notified().await;
        }
    }

    fn try_take(&self) -> Option<Option<(u64, Request)>> {
        let mut waiting = self.waiting.lock();
        while let Some(tab) = waiting.order.pop_front() {
            if let Some(request) = waiting.requests.remove(&tab) {
                return Some(Some((tab, request)));
            }
        }
        waiting.is_closed.then_some(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(title: &str) -> Request {
        Request::Show { title: title.into(), body: String::new() }
    }

    #[tokio::test]
    async fn the_last_request_of_a_tab_replaces_its_first() {
        let mailbox = Mailbox::default();
        mailbox.put(1, show("a"));
        mailbox.put(2, show("b"));
        mailbox.put(1, Request::Retire);
        mailbox.close();
        assert_eq!(mailbox.take().await, Some((1, Request::Retire)));
        assert_eq!(mailbox.take().await, Some((2, show("b"))));
        assert_eq!(mailbox.take().await, None);
    }

    #[test]
    fn it_does_not_grow_without_end() {
        let mailbox = Mailbox::default();
        for tab in 0..LIMIT as u64 {
            assert!(mailbox.put(tab, Request::Retire));
        }
        assert!(!mailbox.put(u64::MAX, Request::Retire));
        assert!(mailbox.put(5, show("known tabs may still change their minds")));
    }
}
