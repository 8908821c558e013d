//! Waits that can be cancelled by name, from any connection.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// Pending waits by name.
#[derive(Clone, Default)]
pub(crate) struct Waits(Arc<Mutex<BTreeMap<String, Pending>>>);

struct Pending {
    adapter: String,
    cancel: oneshot::Sender<()>,
}

/// A pending wait; its name is free again when this is dropped.
pub(crate) struct Ticket {
    name: Option<(Waits, String)>,
    cancelled: Option<oneshot::Receiver<()>>,
}

impl Waits {
    /// Takes a name for a wait on an adapter; none if it is taken. A wait without a name always can.
    pub(crate) fn enter(&self, name: Option<&str>, adapter: &str) -> Option<Ticket> {
        let Some(name) = name else { return Some(Ticket { name: None, cancelled: None }) };
        let mut pending = self.0.lock();
        if pending.contains_key(name) {
            return None;
        }
        let (cancel, cancelled) = oneshot::channel();
        pending.insert(name.to_owned(), Pending { adapter: adapter.to_owned(), cancel });
        Some(Ticket { name: Some((self.clone(), name.to_owned())), cancelled: Some(cancelled) })
    }

    /// Cancels a wait; the adapter that waited, or none if there is no such wait.
    pub(crate) fn cancel(&self, name: &str) -> Option<String> {
        let pending = self.0.lock().remove(name)?;
        // A wait that ended this very moment does not need it.
        let _ = pending.cancel.send(());
        Some(pending.adapter)
    }
}

impl Ticket {
    /// Resolves when the wait is cancelled.
    pub(crate) async fn cancelled(&mut self) {
        let is_cancelled = match &mut self.cancelled {
            Some(cancelled) => cancelled.await.is_ok(),
            None => false,
        };
        if !is_cancelled {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // Once cancelled the name belongs to whoever took it next.
        let was_cancelled = match &mut self.cancelled {
            Some(cancelled) => {
                !matches!(cancelled.try_recv(), Err(oneshot::error::TryRecvError::Empty))
            }
            None => true,
        };
        if let (Some((waits, name)), false) = (&self.name, was_cancelled) {
            waits.0.lock().remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_name_is_taken_until_the_wait_ends_or_is_cancelled() {
        let waits = Waits::default();
        let mut first = waits.enter(Some("w"), "e1").unwrap();
        assert!(waits.enter(Some("w"), "e2").is_none());
        assert!(waits.enter(None, "e2").is_some(), "who has no name takes none");
        assert_eq!(waits.cancel("w").as_deref(), Some("e1"));
        assert_eq!(waits.cancel("w"), None);
        let second = waits.enter(Some("w"), "e2").unwrap();
        first.cancelled().await;
        drop(first);
        assert!(waits.enter(Some("w"), "e3").is_none(), "the name of another is not given away");
        drop(second);
        assert!(waits.enter(Some("w"), "e3").is_some());
    }
}
