//! The one thread that writes: group commit, publication, retries.
//!
//! All that is queued goes into one transaction. Only when that is committed are its events
//! published and its tickets completed, in commit order. It never holds a lock of others'.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use rookery_model::{Event, EventSeq, NumberedEvent};
use rusqlite::{Connection, TransactionBehavior};
use thiserror::Error;

use crate::change::{Change, append_event, set_commits, set_numbers};
use crate::decision;
use crate::error::is_refusal;
use crate::prune::{self, Retention};
use crate::reserved::{Numbers, Reserved};
use crate::scrub::Scrub;
use crate::tail::Tail;
use crate::ticket::Completer;
use crate::{Batch, StoreError};

/// Shown every event once it is durable, in order.
pub type Sink = Box<dyn Fn(&[Arc<NumberedEvent>]) + Send>;

/// Done once a batch is durable.
pub type After = Box<dyn FnOnce() + Send>;

/// Hides what must be neither saved nor shown.
#[derive(Clone, Copy, Debug)]
pub struct Mask {
    pub change: fn(&mut Change),
    /// In what happened.
    pub event: fn(&mut Event),
}

/// After this number of failures in a row the tickets are notified. The batches stay queued.
const TRIES: u32 = 5;

/// The pause after the first failure; it doubles up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Old events and decisions are pruned after this number of new ones.
const PRUNE_EVERY: usize = 1_000;

/// What the writer shares with the handles.
pub(crate) struct Shared {
    queue: Mutex<Queue>,
    work: Condvar,
    ended: Condvar,
    /// Batches that are not durable yet.
    unsaved: AtomicUsize,
    /// Whether tickets were notified of failures, and the failed batch still waits.
    is_failing: AtomicBool,
    pub(crate) tail: Mutex<Tail>,
    pub(crate) sink: Mutex<Option<Sink>>,
    pub(crate) mask: Mutex<Option<Mask>>,
}

struct Queue {
    batches: VecDeque<Queued>,
    next_event: EventSeq,
    closing: bool,
    ended: bool,
}

struct Queued {
    changes: Vec<Change>,
    events: Vec<Arc<NumberedEvent>>,
    after: Option<After>,
    ticket: Option<Completer>,
    /// Whether it is forgotten instead of tried again once its ticket was notified of a failure.
    is_optional: bool,
}

impl Shared {
    pub(crate) fn new(next_event: EventSeq) -> Self {
        Shared {
            queue: Mutex::new(Queue {
                batches: VecDeque::new(),
                next_event,
                closing: false,
                ended: false,
            }),
            work: Condvar::new(),
            ended: Condvar::new(),
            unsaved: AtomicUsize::new(0),
            is_failing: AtomicBool::new(false),
            tail: Mutex::new(Tail::new(next_event)),
            sink: Mutex::new(None),
            mask: Mutex::new(None),
        }
    }

    /// Queues a batch, or says why not.
    pub(crate) fn push(
        &self,
        batch: Batch,
        after: Option<After>,
        is_optional: bool,
        ticket: Completer,
    ) -> Result<(), (Completer, StoreError)> {
        let events: Vec<_> = batch.events.into_iter().map(Arc::new).collect();
        let mut queue = self.queue.lock();
        if queue.closing || queue.ended {
            return Err((ticket, StoreError::Closed));
        }
        let mut expected = queue.next_event;
        for event in &events {
            if event.seq != expected {
                return Err((ticket, StoreError::OutOfOrder { expected, got: event.seq }));
            }
            expected = expected.next();
        }
        queue.next_event = expected;
        let ticket = Some(ticket);
        queue.batches.push_back(Queued {
            changes: batch.changes,
            events,
            after,
            ticket,
            is_optional,
        });
        self.unsaved.fetch_add(1, Ordering::Relaxed);
        drop(queue);
        self.work.notify_one();
        Ok(())
    }

    pub(crate) fn unsaved(&self) -> usize {
        self.unsaved.load(Ordering::Relaxed)
    }

    pub(crate) fn is_failing(&self) -> bool {
        self.is_failing.load(Ordering::Relaxed)
    }

    /// Asks the writer to save what is queued and end. Says whether it did so in time.
    pub(crate) fn end(&self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        let mut queue = self.queue.lock();
        queue.closing = true;
        self.work.notify_one();
        while !queue.ended {
            if self.ended.wait_until(&mut queue, deadline).timed_out() {
                return queue.ended;
            }
        }
        true
    }
}

/// Why saving failed as a whole.
#[derive(Debug, Error)]
enum SaveError {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error("cannot reserve numbers: {0}")]
    Reserve(#[from] std::io::Error),
}

pub(crate) struct Writer {
    shared: Arc<Shared>,
    connection: Connection,
    reserved: Reserved,
    retention: Retention,
    /// The numbers that come after all that is durable.
    next: Numbers,
    /// How many commits there were, ever.
    commits: u64,
    /// Taken from the queue, not durable yet, oldest first.
    pending: Vec<Queued>,
    /// Whether commits wait for the disk at present; they do not when the store is opened.
    waits_for_disk: bool,
    failures: u32,
    events_since_prune: usize,
    prune_due: bool,
    scrub: Scrub,
}

impl Writer {
    pub(crate) fn new(
        shared: Arc<Shared>,
        connection: Connection,
        reserved: Reserved,
        retention: Retention,
        next: Numbers,
        commits: u64,
    ) -> Self {
        Writer {
            commits,
            shared,
            connection,
            reserved,
            retention,
            next,
            pending: Vec::new(),
            waits_for_disk: false,
            failures: 0,
            events_since_prune: 0,
            prune_due: true,
            scrub: Scrub::Unknown,
        }
    }

    /// Works until the store is closed.
    pub(crate) fn run(mut self) {
        loop {
            let closing = self.take_work();
            if self.pending.is_empty() && !self.has_own_work() {
                if closing {
                    break;
                }
                continue;
            }
            if !self.pending.is_empty() {
                match self.save() {
                    Ok(refusals) => self.publish(refusals),
                    Err(error) if self.gives_up(&error, closing) => break,
                    Err(_) => continue,
                }
            }
            self.prune();
            if closing && self.pending.is_empty() {
                // The rest of the old rows is for the next time.
                self.scrub = Scrub::Done;
            }
            self.hide_in_old_rows();
        }
        self.finish();
    }

    /// Whether there is something to do though nothing is queued.
    fn has_own_work(&self) -> bool {
        self.prune_due || matches!(self.scrub, Scrub::At(..))
    }

    /// Takes a step through what was saved without a mask, if there is one now.
    fn hide_in_old_rows(&mut self) {
        let Some(mask) = *self.shared.mask.lock() else { return };
        self.scrub = self.scrub.step(&mut self.connection, mask).unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot hide secrets in old rows; the next start tries again");
            Scrub::Done
        });
    }

    /// Waits for something to do and takes all that is queued. Says whether the store is closing.
    fn take_work(&mut self) -> bool {
        let shared = Arc::clone(&self.shared);
        let mut queue = shared.queue.lock();
        if self.failures > 0 {
            self.pause(&shared, &mut queue);
        } else if !self.has_own_work() {
            while queue.batches.is_empty() && !queue.closing {
                shared.work.wait(&mut queue);
            }
        }
        let fresh = self.pending.len();
        self.pending.extend(queue.batches.drain(..));
        let closing = queue.closing;
        drop(queue);
        self.hide_secrets(fresh);
        closing
    }

    /// Hides what must not be saved in the batches from this place on.
    fn hide_secrets(&mut self, fresh: usize) {
        let Some(mask) = *self.shared.mask.lock() else { return };
        for batch in &mut self.pending[fresh..] {
            batch.changes.iter_mut().for_each(mask.change);
            // Nothing else has them before they are published.
            batch.events.iter_mut().for_each(|event| (mask.event)(&mut Arc::make_mut(event).event));
        }
    }

    /// Lets some time pass after a failure; new batches do not cut it short, closing does.
    fn pause(&self, shared: &Shared, queue: &mut MutexGuard<'_, Queue>) {
        let pause = FIRST_PAUSE * 2u32.pow(self.failures.min(10) - 1);
        let deadline = Instant::now() + pause.min(LONGEST_PAUSE);
        while !queue.closing && !shared.work.wait_until(queue, deadline).timed_out() {}
    }

    /// Saves all that is pending in one transaction. Gives the places of batches whose changes
    /// were refused, with the reason.
    fn save(&mut self) -> Result<Vec<(usize, StoreError)>, SaveError> {
        let mut next = self.next;
        for batch in &self.pending {
            next = batch.changes.iter().fold(next, |next, change| change.raises(next));
            if let Some(event) = batch.events.last() {
                next.event = event.seq.next();
            }
        }
        self.reserved.cover(next)?;
        self.wait_for_disk()?;
        let saved = match self.save_all(next) {
            // Some batch contradicts the store and would do so for ever. It must not hold up the
            // others, so we go through them again, each on its own.
            Err(error) if is_refusal(&error) => self.save_each(next),
            saved => saved.map(|()| Vec::new()),
        }?;
        (self.next, self.commits) = (next, self.commits + 1);
        self.reserved.mark(self.next, self.commits);
        Ok(saved)
    }

    fn save_all(&mut self, next: Numbers) -> rusqlite::Result<()> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for batch in &self.pending {
            batch.changes.iter().try_for_each(|change| change.apply(&transaction))?;
            batch.events.iter().try_for_each(|event| append_event(&transaction, event))?;
        }
        set_numbers(&transaction, next)?;
        set_commits(&transaction, self.commits + 1)?;
        transaction.commit()
    }

    fn save_each(&mut self, next: Numbers) -> rusqlite::Result<Vec<(usize, StoreError)>> {
        let mut refused = Vec::new();
        let mut transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (place, batch) in self.pending.iter().enumerate() {
            let savepoint = transaction.savepoint()?;
            match batch.changes.iter().try_for_each(|change| change.apply(&savepoint)) {
                Ok(()) => savepoint.commit()?,
                Err(error) if is_refusal(&error) => {
                    // Dropping the savepoint undoes the batch's changes.
                    drop(savepoint);
                    tracing::error!(%error, "the store refused a batch");
                    refused.push((place, StoreError::Refused(error.to_string())));
                }
                Err(error) => return Err(error),
            }
            // The world has gone on with these events, so they keep their place in the log.
            batch.events.iter().try_for_each(|event| append_event(&transaction, event))?;
        }
        set_numbers(&transaction, next)?;
        set_commits(&transaction, self.commits + 1)?;
        transaction.commit()?;
        Ok(refused)
    }

    /// Sets whether the next commit waits for the disk itself.
    fn wait_for_disk(&mut self) -> rusqlite::Result<()> {
        let mut changes = self.pending.iter().flat_map(|batch| &batch.changes);
        let waits = changes.any(Change::needs_disk);
        if waits != self.waits_for_disk {
            let mode = if waits { "full" } else { "normal" };
            self.connection.pragma_update(None, "synchronous", mode)?;
            self.waits_for_disk = waits;
        }
        Ok(())
    }

    /// Shows what has become durable: to those who ask later, to the sink, to the tickets.
    fn publish(&mut self, refusals: Vec<(usize, StoreError)>) {
        if self.failures > 0 {
            tracing::info!(failures = self.failures, "the store can save again");
            self.failures = 0;
            self.shared.is_failing.store(false, Ordering::Relaxed);
        }
        let batches = std::mem::take(&mut self.pending);
        let events: Vec<_> = batches.iter().flat_map(|batch| &batch.events).cloned().collect();
        let changes = batches.iter().flat_map(|batch| &batch.changes);
        let decisions = changes.filter(|change| matches!(change, Change::DecisionMade(_))).count();
        self.events_since_prune += events.len() + decisions;
        self.shared.tail.lock().extend(&events);
        if !events.is_empty()
            && let Some(sink) = &*self.shared.sink.lock()
            && catch_unwind(AssertUnwindSafe(|| sink(&events))).is_err()
        {
            tracing::error!("the sink of published events panicked");
        }
        self.shared.unsaved.fetch_sub(batches.len(), Ordering::Relaxed);
        let mut refusals = refusals.into_iter().peekable();
        for (place, batch) in batches.into_iter().enumerate() {
            let refusal = refusals.next_if(|(refused, _)| *refused == place);
            if let Some(after) = batch.after
                && catch_unwind(AssertUnwindSafe(after)).is_err()
            {
                tracing::error!("what was to follow a commit panicked");
            }
            if let Some(ticket) = batch.ticket {
                ticket.complete(refusal.map_or(Ok(()), |(_, error)| Err(error)));
            }
        }
    }

    /// Counts a failure and tells those who have waited long enough. Says whether to stop trying.
    fn gives_up(&mut self, error: &SaveError, closing: bool) -> bool {
        self.failures = self.failures.saturating_add(1);
        if self.failures < TRIES {
            return false;
        }
        if self.failures == TRIES {
            tracing::error!(%error, batches = self.pending.len(), "the store cannot save");
        }
        let before = self.pending.len();
        let refused: Vec<Completer> =
            self.pending.iter_mut().filter_map(|batch| batch.ticket.take()).collect();
        // Gone before their tickets say so: what was refused must not happen later.
        self.pending.retain(|batch| !batch.is_optional);
        self.shared.unsaved.fetch_sub(before - self.pending.len(), Ordering::Relaxed);
        self.shared.is_failing.store(!self.pending.is_empty(), Ordering::Relaxed);
        for ticket in refused {
            ticket.complete(Err(StoreError::Unavailable(error.to_string())));
        }
        closing
    }

    fn prune(&mut self) {
        if self.events_since_prune >= PRUNE_EVERY {
            self.prune_due = true;
        }
        if !self.prune_due {
            return;
        }
        self.events_since_prune = 0;
        self.prune_due = prune::step(&mut self.connection, &self.retention, self.next.event)
            .and_then(|has_events| Ok(decision::prune(&self.connection)? || has_events))
            .inspect_err(|error| tracing::warn!(%error, "cannot remove what is old"))
            .unwrap_or(false);
    }

    fn finish(&mut self) {
        let lost = self.pending.len();
        if lost > 0 {
            tracing::error!(batches = lost, "the store closes with unsaved batches");
        }
        let checkpoint = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
        match checkpoint {
            Ok(0) if lost == 0 => {
                if let Err(error) = self.reserved.close() {
                    tracing::warn!(%error, "cannot note that the store was closed");
                }
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "cannot copy the log into the database"),
        }
    }
}

impl Drop for Writer {
    /// However the thread ends, no caller is left waiting: a completer that is dropped answers.
    fn drop(&mut self) {
        self.pending.clear();
        let mut queue = self.shared.queue.lock();
        queue.ended = true;
        let left = std::mem::take(&mut queue.batches);
        drop(queue);
        drop(left);
        self.shared.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use rookery_model::{
        Accepted, AcceptedWork, Answer, Item, ItemBody, ItemId, ItemStatus, Record, RequestId,
        ThreadId, Timestamp, TurnId,
    };

    use super::*;
    use crate::open::{Opened, open};
    use crate::ticket::ticket;

    fn item(status: ItemStatus) -> Batch {
        let body = ItemBody::Raw { payload: String::new() };
        let at = Timestamp::default();
        let item = Item { id: ItemId::new("i"), status, step: 0, at, body, opaque: None };
        let change = Change::ItemUpserted {
            thread: ThreadId::new(1),
            turn: TurnId::new(2),
            position: 3,
            item: Box::new(item),
        };
        Batch { changes: vec![change], events: Vec::new() }
    }

    fn decision(by: Option<&str>) -> Batch {
        let decision = rookery_model::Decision {
            at: Timestamp::from_micros(1),
            thread: None,
            turn: None,
            session: None,
            request: None,
            tool_id: String::new(),
            tool: String::new(),
            mode: rookery_model::Mode::Default,
            verdict: rookery_model::DecisionVerdict::Approved,
            by: by.map(str::to_owned),
            reason: None,
            rule: None,
            source: rookery_model::DecisionSource::Model,
            subject: String::new(),
            decider: None,
        };
        let change = Change::DecisionMade(Box::new(decision));
        Batch { changes: vec![change], events: Vec::new() }
    }

    fn accepted() -> Batch {
        let work = AcceptedWork::Answer {
            request: RequestId::new(7),
            answer: Answer::Approved { remember: false },
            by: "native".to_owned(),
        };
        let accepted = Accepted { at: Timestamp::from_micros(1), work };
        let change = Change::RecordUpserted(Box::new(Record::Accepted(Box::new(accepted))));
        Batch { changes: vec![change], events: Vec::new() }
    }

    #[test]
    fn what_was_promised_or_brought_to_an_end_waits_for_the_disk() {
        let dir = tempfile::tempdir().unwrap();
        let Opened { writing, reserved, next, .. } =
            open(dir.path(), Duration::from_secs(1)).unwrap();
        let shared = Arc::new(Shared::new(next.event));
        let mut writer =
            Writer::new(shared.clone(), writing, reserved, Retention::default(), next, 0);
        let (normal, full) = (1, 2);
        for (batch, expected) in [
            (Batch::default(), normal),
            (item(ItemStatus::Completed), full),
            (item(ItemStatus::Failed), full),
            (item(ItemStatus::InProgress), normal),
            (decision(Some("native")), full),
            (decision(None), normal),
            (accepted(), full),
        ] {
            let (completer, ticket) = ticket();
            assert!(shared.push(batch, None, false, completer).is_ok());
            drop(ticket);
            writer.take_work();
            let refusals = writer.save().unwrap();
            let mode: i64 = writer
                .connection
                .pragma_query_value(None, "synchronous", |row| row.get(0))
                .unwrap();
            assert_eq!(mode, expected);
            writer.publish(refusals);
        }
    }
}
