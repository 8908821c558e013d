//! The receipt for a queued batch: a small one-shot that knows no runtime.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::{Condvar, Mutex};

use crate::StoreError;

/// Completes when its batch is durable, or when that failed.
///
/// Await it, or call [`Ticket::wait_blocking`] outside of async code. A dropped ticket
/// changes nothing: its batch is saved all the same.
#[derive(Debug)]
#[must_use = "a promise may only be given once its ticket has completed"]
pub struct Ticket(Arc<Slot>);

/// The other end. Dropped without an answer, it answers [`StoreError::Closed`].
#[derive(Debug)]
pub(crate) struct Completer(Option<Arc<Slot>>);

#[derive(Debug, Default)]
struct Slot {
    state: Mutex<State>,
    done: Condvar,
}

#[derive(Debug, Default)]
struct State {
    result: Option<Result<(), StoreError>>,
    waker: Option<Waker>,
}

pub(crate) fn ticket() -> (Completer, Ticket) {
    let slot = Arc::new(Slot::default());
    (Completer(Some(slot.clone())), Ticket(slot))
}

impl Ticket {
    /// Blocks this thread until the batch is durable or has failed.
    pub fn wait_blocking(self) -> Result<(), StoreError> {
        let mut state = self.0.state.lock();
        loop {
            if let Some(result) = &state.result {
                return result.clone();
            }
            self.0.done.wait(&mut state);
        }
    }
}

impl Future for Ticket {
    type Output = Result<(), StoreError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.0.state.lock();
        match &state.result {
            Some(result) => Poll::Ready(result.clone()),
            None => {
                match &mut state.waker {
                    Some(waker) => waker.clone_from(context.waker()),
                    none => *none = Some(context.waker().clone()),
                }
                Poll::Pending
            }
        }
    }
}

impl Completer {
    pub(crate) fn complete(mut self, result: Result<(), StoreError>) {
        self.answer(result);
    }

    fn answer(&mut self, result: Result<(), StoreError>) {
        let Some(slot) = self.0.take() else { return };
        let waker = {
            let mut state = slot.state.lock();
            state.result = Some(result);
            state.waker.take()
        };
        slot.done.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Drop for Completer {
    fn drop(&mut self) {
        self.answer(Err(StoreError::Closed));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn polling_wakes_once_and_then_gives_the_result() {
        let (completer, mut ticket) = ticket();
        let count = Arc::new(Count(AtomicUsize::new(0)));
        let waker = Waker::from(count.clone());
        let mut context = Context::from_waker(&waker);
        assert_eq!(Pin::new(&mut ticket).poll(&mut context), Poll::Pending);
        assert_eq!(Pin::new(&mut ticket).poll(&mut context), Poll::Pending);
        assert_eq!(count.0.load(Ordering::SeqCst), 0);
        completer.complete(Ok(()));
        assert_eq!(count.0.load(Ordering::SeqCst), 1);
        assert_eq!(Pin::new(&mut ticket).poll(&mut context), Poll::Ready(Ok(())));
    }

    #[test]
    fn a_dropped_completer_answers_closed() {
        let (completer, ticket) = ticket();
        drop(completer);
        assert_eq!(ticket.wait_blocking(), Err(StoreError::Closed));
    }

    #[test]
    fn a_blocked_thread_is_released() {
        let (completer, ticket) = ticket();
        let waiter = std::thread::spawn(move || ticket.wait_blocking());
        completer.complete(Err(StoreError::Refused("no".to_owned())));
        assert_eq!(waiter.join().unwrap(), Err(StoreError::Refused("no".to_owned())));
    }
}
