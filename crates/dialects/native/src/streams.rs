//! The background tasks of one connection: each forwards something to the peer until it is
//! stopped, its source ends or the connection is over.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use rookery_model as model;
use rookery_wire::Outbox;
use tokio::task::AbortHandle;

/// Tasks one connection may have of a kind.
const LIMIT: usize = 64;

/// The running tasks of one kind, by number. They end when this is dropped.
pub(crate) struct Streams {
    kind: &'static str,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    last: u64,
    /// None until the task is spawned, which happens without the lock: a runtime that shuts down
    /// drops it on the spot.
    tasks: HashMap<u64, Option<AbortHandle>>,
}

impl Streams {
    pub(crate) fn new(kind: &'static str) -> Arc<Self> {
        Arc::new(Self { kind, running: Mutex::default() })
    }

    /// Starts a task that gets its own number, and returns that number.
    ///
    /// The caller must reply without waiting any more, so that the reply goes out first.
    pub(crate) fn start<F>(
        self: &Arc<Self>,
        outbox: Outbox,
        make: impl FnOnce(u64) -> F,
    ) -> model::Result<u64>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let number = self.take_number()?;
        let work = make(number);
        let ended = Ended { streams: Arc::downgrade(self), number };
        let task = tokio::spawn(async move {
            let _ended = ended;
            tokio::select! {
                () = work => {}
                () = outbox.cancelled() => {}
            }
        });
        if let Some(place) = self.running.lock().tasks.get_mut(&number) {
            *place = Some(task.abort_handle());
        }
        Ok(number)
    }

    fn take_number(&self) -> model::Result<u64> {
        let mut running = self.running.lock();
        if running.tasks.len() >= LIMIT {
            let message =
                format!("too many {}s on this connection, the limit is {LIMIT}", self.kind);
            return Err(model::Error::busy(message));
        }
        running.last += 1;
        let number = running.last;
        running.tasks.insert(number, None);
        Ok(number)
    }

    /// Stops a task.
    pub(crate) fn stop(&self, number: u64) -> model::Result<()> {
        let task = self.running.lock().tasks.remove(&number);
        let Some(task) = task else {
            return Err(model::Error::not_found(format!("no {} {number}", self.kind)));
        };
        if let Some(task) = task {
            task.abort();
        }
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.running.lock().tasks.len()
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        for task in self.running.get_mut().tasks.values().flatten() {
            task.abort();
        }
    }
}

/// Takes a task off the list, however it ended.
struct Ended {
    streams: Weak<Streams>,
    number: u64,
}

impl Drop for Ended {
    fn drop(&mut self) {
        if let Some(streams) = self.streams.upgrade() {
            streams.running.lock().tasks.remove(&self.number);
        }
    }
}
