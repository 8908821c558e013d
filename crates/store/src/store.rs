//! The handle: opening, committing, reading the log, closing.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;
use rookery_model::{
    DecisionQuery, EventSeq, NumberedDecision, NumberedEvent, QueuedMessage, Request, RequestId,
    Steer, TaskId, TaskLog, TerminalId, ThreadId, Timestamp, TurnId,
};
use rusqlite::{Connection, OptionalExtension, params};

use crate::change::{self, next_event};
use crate::decision;
use crate::encode::event_from_json;
use crate::kept::ValueKey;
use crate::open::{Opened, open, open_in_memory};
use crate::thread;
use crate::ticket::ticket;
use crate::writer::{After, Mask, Shared, Sink, Writer};
use crate::{Batch, Change, Loaded, Retention, StoreError, ThreadContents, Ticket};

/// From this number of queued batches on, callers should refuse new work as busy. The store itself
/// takes whatever it is given, because numbers once assigned must not be lost.
pub const MAX_QUEUED: usize = 65_536;

/// What may be set at open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long events are kept.
    pub retention: Retention,
    /// How long one try to save waits for another program that has the database locked.
    pub busy_timeout: Duration,
    /// How long [`Store::close`] waits for the rest to be saved.
    pub close_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            retention: Retention::default(),
            busy_timeout: Duration::from_secs(1),
            close_timeout: Duration::from_secs(10),
        }
    }
}

/// A piece of the event log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPage {
    /// The events, in order.
    pub events: Vec<Arc<NumberedEvent>>,
    /// Events left out because this version cannot read them: a newer one wrote them, or they
    /// are damaged. They stay in the log.
    pub skipped: u64,
    /// The oldest event still kept; equal to `end` if none is. If it is above the number that was
    /// asked for, those in between are gone.
    pub oldest: EventSeq,
    /// Where to go on reading. All has been read when it is not below `end`.
    pub next: EventSeq,
    /// The number that the next event to be saved will get.
    pub end: EventSeq,
}

/// The open store. Clones share it; the last one to go closes it.
#[derive(Clone, Debug)]
pub struct Store(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    reading: Mutex<Connection>,
    thread: Mutex<Option<JoinHandle<()>>>,
    close_timeout: Duration,
}

impl Store {
    /// Opens the store in this directory, which is created if need be. See [`Store::open_with`].
    pub fn open(dir: &Path) -> Result<(Store, Loaded), StoreError> {
        Store::open_with(dir, Options::default())
    }

    /// Opens the store. A damaged one is moved aside and reported in [`Loaded::damage`]; an error
    /// means that the directory cannot be used, or that a newer version wrote the database.
    ///
    /// The caller sees to it that no other process has it open.
    pub fn open_with(dir: &Path, options: Options) -> Result<(Store, Loaded), StoreError> {
        Store::run(open(dir, options.busy_timeout)?, options, dir)
    }

    /// A new store that is kept nowhere and ends with this process.
    pub fn in_memory() -> Result<(Store, Loaded), StoreError> {
        let options = Options::default();
        Store::run(open_in_memory(options.busy_timeout)?, options, Path::new("memory"))
    }

    fn run(opened: Opened, options: Options, place: &Path) -> Result<(Store, Loaded), StoreError> {
        let Opened { writing, reading, reserved, next, commits, loaded } = opened;
        let shared = Arc::new(Shared::new(next.event));
        let writer =
            Writer::new(shared.clone(), writing, reserved, options.retention, next, commits);
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || writer.run())
            .map_err(|error| StoreError::unusable(place, error))?;
        let inner = Inner {
            shared,
            reading: Mutex::new(reading),
            thread: Mutex::new(Some(thread)),
            close_timeout: options.close_timeout,
        };
        Ok((Store(Arc::new(inner)), loaded))
    }

    /// Sets who is shown every event once it is durable. To be called before the first commit.
    ///
    /// The sink runs on the writer's thread, so it must be quick, and must not hold a [`Store`].
    /// An event is in [`Store::tail`] before the sink sees it: who starts listening first and
    /// then reads the tail misses nothing, and drops by number what came twice.
    pub fn on_published(&self, sink: Sink) {
        *self.0.shared.sink.lock() = Some(sink);
    }

    /// Sets what is hidden in everything before it is saved or shown. To be called before the first
    /// commit.
    ///
    /// It runs on the writer's thread, so that commits do not wait for it.
    pub fn mask_with(&self, mask: Mask) {
        *self.0.shared.mask.lock() = Some(mask);
    }

    /// Queues a batch to be saved after all those before it. Never blocks.
    ///
    /// Call it in commit order, under the lock that gives out event numbers. While saving fails,
    /// batches stay queued and are tried again; their tickets are told
    /// [`StoreError::Unavailable`] after some tries, but what they hold is saved, and its events
    /// published, as soon as that is possible. So there is no gap in the numbers. A batch that
    /// contradicts what is stored loses its changes ([`StoreError::Refused`]), but not its events.
    pub fn commit(&self, batch: Batch) -> Ticket {
        self.queue(batch, None, false)
    }

    /// Queues changes that are saved or forgotten: if their ticket completes with an error, they have
    /// no effect, now or later. Such a batch has no events, since those keep their numbers.
    pub fn commit_or_forget(&self, changes: Vec<Change>) -> Ticket {
        self.queue(Batch { changes, events: Vec::new() }, None, true)
    }

    /// Queues a batch like [`Store::commit`], and something to be done once it is durable.
    ///
    /// That is done on the writer's thread, in commit order, after the sink was shown the batch's
    /// events and before its ticket completes; only a ticket that was told
    /// [`StoreError::Unavailable`] completed earlier. It must be quick, and must not wait for a
    /// ticket. It is done for a batch whose changes were refused as well, but never for one that
    /// was not queued or that is lost when the store closes: then it is dropped.
    pub fn commit_then(&self, batch: Batch, after: After) -> Ticket {
        self.queue(batch, Some(after), false)
    }

    fn queue(&self, batch: Batch, after: Option<After>, is_optional: bool) -> Ticket {
        let (completer, ticket) = ticket();
        let pushed = self.0.shared.push(batch, after, is_optional, completer);
        if let Err((completer, error)) = pushed {
            tracing::error!(%error, "a batch was not queued");
            completer.complete(Err(error));
        }
        ticket
    }

    /// How many batches are not durable yet. Callers keep this below [`MAX_QUEUED`].
    pub fn queued(&self) -> usize {
        self.0.shared.unsaved()
    }

    /// Whether saving fails at present and batches wait for it to work again. Callers should then
    /// refuse new work before anything of it has happened.
    pub fn is_failing(&self) -> bool {
        self.0.shared.is_failing()
    }

    /// All published events from this number on, if memory still has all of them. `None` also
    /// for a number that lies beyond the next event.
    pub fn tail(&self, from: EventSeq) -> Option<Vec<Arc<NumberedEvent>>> {
        self.0.shared.tail.lock().since(from)
    }

    /// At most `limit` (at least one) events from this number on, from disk. Blocks.
    pub fn events(&self, from: EventSeq, limit: usize) -> Result<EventPage, StoreError> {
        self.read(|connection| read_page(connection, from, limit))
    }

    /// A single value, as last made durable. Blocks.
    pub fn kept(&self, what: &ValueKey) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
                .query_row([what.to_string()], |row| row.get(0))
                .optional()
        })
    }

    /// Up to which offset a terminal's output was noted, as last made durable. Blocks.
    pub fn noted(&self, id: TerminalId) -> Result<Option<u64>, StoreError> {
        self.read(|connection| {
            let noted: Option<Option<i64>> = connection
                .prepare_cached("SELECT noted FROM terminals WHERE id = ?1")?
                .query_row([change::sql_int(id.get())?], |row| row.get(0))
                .optional()?;
            Ok(noted.flatten().and_then(|offset| u64::try_from(offset).ok()))
        })
    }

    /// The artifacts whose images wait for the next turn of a thread, as last made durable. Blocks.
    pub fn attached(&self, id: ThreadId) -> Result<Vec<String>, StoreError> {
        self.read(|connection| thread::attached(connection, id))
    }

    /// The messages that wait for the agent of a thread, as last made durable. Blocks.
    pub fn queued_messages(&self, id: ThreadId) -> Result<Vec<QueuedMessage>, StoreError> {
        self.read(|connection| thread::queued(connection, id))
    }

    /// What was said to a turn and no item held, as last made durable. Blocks.
    pub fn steers(&self, id: TurnId) -> Result<Vec<Steer>, StoreError> {
        self.read(|connection| thread::steers(connection, id))
    }

    /// What was said and done in a thread, as last made durable; nothing if there is no such
    /// thread. Blocks.
    pub fn thread_contents(&self, id: ThreadId) -> Result<ThreadContents, StoreError> {
        self.read(|connection| thread::contents(connection, id))
    }

    /// A request that waits or was settled, as last made durable. Blocks.
    pub fn request(&self, id: RequestId) -> Result<Option<Request>, StoreError> {
        self.read(|connection| thread::request(connection, id))
    }

    /// The settled requests of a thread, by id, as last made durable. Those that cannot be read
    /// are left out. Blocks.
    pub fn settled_requests(&self, id: ThreadId) -> Result<Vec<Request>, StoreError> {
        self.read(|connection| thread::settled_requests(connection, id))
    }

    /// The end of what a task wrote, as last made durable; empty if there is no such task. Blocks.
    pub fn task_log(&self, id: TaskId) -> Result<TaskLog, StoreError> {
        self.read(|connection| change::task_log(connection, id))
    }

    /// The newest decisions that are wanted, at most `limit`, oldest first, as last made durable.
    /// Those that cannot be read are left out. Blocks.
    pub fn decisions(
        &self,
        query: &DecisionQuery,
        limit: usize,
    ) -> Result<Vec<NumberedDecision>, StoreError> {
        self.read(|connection| decision::read(connection, query, limit))
    }

    /// Queues a single value to be stored; `None` removes it.
    pub fn keep(&self, what: ValueKey, value: Option<&str>) -> Ticket {
        let change = Change::KeptSet { what, value: value.map(str::to_owned) };
        self.commit(Batch { changes: vec![change], events: Vec::new() })
    }

    /// Saves what is queued, ends the writer and copies the log into the database. Blocks, but
    /// not for longer than [`Options::close_timeout`]. Later commits fail; reading goes on.
    pub fn close(&self) -> Result<(), StoreError> {
        self.0.close()
    }

    fn read<T>(
        &self,
        read: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        read(&mut self.0.reading.lock()).map_err(|error| StoreError::Unreadable(error.to_string()))
    }
}

fn read_page(
    connection: &mut Connection,
    from: EventSeq,
    limit: usize,
) -> rusqlite::Result<EventPage> {
    // One transaction, so that bounds and rows are of the same moment.
    let transaction = connection.transaction()?;
    let end = next_event(&transaction)?;
    let oldest: Option<i64> =
        transaction.query_row("SELECT min(seq) FROM events", [], |row| row.get(0))?;
    let oldest = oldest.and_then(|seq| u64::try_from(seq).ok()).map_or(end, EventSeq::new);
    let mut page = EventPage { events: Vec::new(), skipped: 0, oldest, next: end, end };
    // Numbers that SQLite cannot hold are beyond the end of any log.
    let from = i64::try_from(from.get()).unwrap_or(i64::MAX);
    let limit = i64::try_from(limit.max(1)).unwrap_or(i64::MAX);
    let mut statement = transaction
        .prepare_cached("SELECT seq, at, body FROM events WHERE seq >= ?1 ORDER BY seq LIMIT ?2")?;
    let mut rows = statement.query(params![from, limit])?;
    let mut read = 0;
    while let Some(row) = rows.next()? {
        let seq = EventSeq::new(u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0));
        let at = Timestamp::from_micros(row.get(1)?);
        match row.get_ref(2)?.as_str().ok().map(event_from_json) {
            Some(Ok(event)) => page.events.push(Arc::new(NumberedEvent { seq, at, event })),
            _ => page.skipped += 1,
        }
        read += 1;
        if read == limit {
            page.next = seq.next();
        }
    }
    Ok(page)
}

impl Inner {
    fn close(&self) -> Result<(), StoreError> {
        let thread = self.thread.lock().take();
        // The writer cannot wait for itself; it ends once it has returned from the sink.
        let on_writer =
            |thread: &JoinHandle<()>| thread.thread().id() == std::thread::current().id();
        let timeout = if thread.as_ref().is_some_and(on_writer) {
            Duration::ZERO
        } else {
            self.close_timeout
        };
        if !self.shared.end(timeout) {
            return Err(StoreError::Unavailable("it did not close in time".to_owned()));
        }
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            return Err(StoreError::Closed);
        }
        match self.shared.unsaved() {
            0 => Ok(()),
            unsaved => Err(StoreError::Unavailable(format!("{unsaved} batches were not saved"))),
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            tracing::error!(%error, "the store did not close cleanly");
        }
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("queued", &self.shared.unsaved()).finish_non_exhaustive()
    }
}
