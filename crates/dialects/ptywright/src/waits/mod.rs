//! Waits that can be cancelled by name, from any connection.

mod until;

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::oneshot;

pub(crate) use until::{Found, until};

/// Pending waits by name.
#[derive(Clone, Default)]
pub(crate) struct Waits(Arc<Mutex<BTreeMap<String, Pending>>>);

struct Pending {
    who: WaitTarget,
    cancel: oneshot::Sender<()>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WaitTarget {
    Adapter(String),
    /// A session, without an adapter.
    Session(String),
}

/// A pending wait; its name is free again when this is dropped.
pub(crate) struct Ticket {
    name: Option<(Waits, String)>,
    cancelled: Option<oneshot::Receiver<()>>,
}

impl Waits {
    /// Takes a name for a wait; none if it is taken. A wait without a name always can.
    pub(crate) fn enter(
        &self,
        name: Option<&str>,
        who: impl FnOnce() -> WaitTarget,
    ) -> Option<Ticket> {
        let Some(name) = name else { return Some(Ticket { name: None, cancelled: None }) };
        let mut pending = self.0.lock();
        if pending.contains_key(name) {
            return None;
        }
        let (cancel, cancelled) = oneshot::channel();
        pending.insert(name.to_owned(), Pending { who: who(), cancel });
        Some(Ticket { name: Some((self.clone(), name.to_owned())), cancelled: Some(cancelled) })
    }

    /// Cancels a wait; who waited, or none if there is no such wait.
    pub(crate) fn cancel(&self, name: &str) -> Option<WaitTarget> {
        let pending = self.0.lock().remove(name)?;
        // A wait that ended this very moment does not need it.
        let _ = pending.cancel.send(());
        Some(pending.who)
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
        let on = |adapter: &str| {
            let who = WaitTarget::Adapter(adapter.to_owned());
            waits.enter(Some("w"), || who)
        };
        let mut first = on("e1").unwrap();
        assert!(on("e2").is_none());
        let nameless = waits.enter(None, || WaitTarget::Session("s1".to_owned()));
        assert!(nameless.is_some(), "who has no name takes none");
        assert_eq!(waits.cancel("w"), Some(WaitTarget::Adapter("e1".to_owned())));
        assert_eq!(waits.cancel("w"), None);
        let second = on("e2").unwrap();
        first.cancelled().await;
        drop(first);
        assert!(on("e3").is_none(), "the name of another is not given away");
        drop(second);
        assert!(on("e3").is_some());
    }
}
