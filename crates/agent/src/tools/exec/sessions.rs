//! Commands that go on after the call that started them, by number.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use parking_lot::Mutex;
use rookery_model::ThreadId;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::clean::Cleaner;
use super::dropped;
use super::process::{Launch, Process, exit_code};

/// How many commands of one thread may run at once.
const MAX_PER_THREAD: usize = 16;
/// How many commands of all threads may run at once.
const MAX_IN_ALL: usize = 128;

/// All commands that were started and not yet reported as ended.
#[derive(Default)]
pub struct Sessions {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    last: u64,
    sessions: BTreeMap<u64, Arc<Session>>,
}

/// A command that can be asked about.
pub(super) struct Session {
    pub(super) id: u64,
    pub(super) launch: Launch,
    pub(super) timeout: Option<Duration>,
    pub(super) process: Process,
    pub(super) started: Instant,
    thread: ThreadId,
    was_late: AtomicBool,
    reader: tokio::sync::Mutex<Reader>,
    _watched: DropGuard,
}

#[derive(Default)]
struct Reader {
    offset: u64,
    cleaner: Cleaner,
}

/// What is new of a command.
pub(super) struct News {
    /// What it wrote since it was last asked.
    pub(super) text: String,
    /// How many bytes of that are gone.
    pub(super) lost: u64,
    /// How it ended: its code, and whether it was ended because it took too long.
    pub(super) ended: Option<(i32, bool)>,
}

impl Sessions {
    /// A registry without commands.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends all commands of a thread, with all that they started.
    pub async fn end_thread(&self, thread: ThreadId) {
        let mut gone = Vec::new();
        self.table.lock().sessions.retain(|_, session| {
            let stays = session.thread != thread;
            if !stays {
                gone.push(session.clone());
            }
            stays
        });
        end(gone).await;
    }

    /// Ends all commands of all threads.
    pub async fn end_all(&self) {
        let gone = std::mem::take(&mut self.table.lock().sessions);
        end(gone.into_values().collect()).await;
    }

    /// Whether a command of a thread was not reported as ended yet.
    pub fn has(&self, thread: ThreadId, id: u64) -> bool {
        self.find(thread, id).is_some()
    }

    /// A command of a thread.
    pub(super) fn find(&self, thread: ThreadId, id: u64) -> Option<Arc<Session>> {
        let table = self.table.lock();
        table.sessions.get(&id).filter(|session| session.thread == thread).cloned()
    }

    /// Fails if a thread has as many commands as it may. Those that have ended do not count, and
    /// are forgotten.
    pub(super) async fn make_room(&self, thread: ThreadId) -> Result<(), String> {
        if self.has_room(thread) {
            return Ok(());
        }
        let all: Vec<Arc<Session>> = self.table.lock().sessions.values().cloned().collect();
        for session in all {
            if session.has_ended().await {
                self.forget(session.id);
            }
        }
        if self.has_room(thread) {
            return Ok(());
        }
        Err(format!(
            "too many commands are running: {MAX_PER_THREAD} in this thread, {MAX_IN_ALL} in all"
        ))
    }

    fn has_room(&self, thread: ThreadId) -> bool {
        let table = self.table.lock();
        let mine = table.sessions.values().filter(|session| session.thread == thread).count();
        mine < MAX_PER_THREAD && table.sessions.len() < MAX_IN_ALL
    }

    /// Takes a command in and gives it a number. Ends it when its time is over.
    pub(super) fn add(
        &self,
        thread: ThreadId,
        launch: Launch,
        process: Process,
        timeout: Option<Duration>,
    ) -> Arc<Session> {
        let watched = CancellationToken::new();
        let mut table = self.table.lock();
        table.last += 1;
        let session = Arc::new(Session {
            id: table.last,
            launch,
            timeout,
            process,
            started: Instant::now(),
            thread,
            was_late: AtomicBool::new(false),
            reader: tokio::sync::Mutex::default(),
            _watched: watched.clone().drop_guard(),
        });
        table.sessions.insert(session.id, session.clone());
        drop(table);
        if let Some(timeout) = timeout {
            tokio::spawn(end_when_late(Arc::downgrade(&session), timeout, watched));
        }
        session
    }

    /// Forgets a command whose end was reported.
    pub(super) fn forget(&self, id: u64) {
        self.table.lock().sessions.remove(&id);
    }
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sessions").field("count", &self.table.lock().sessions.len()).finish()
    }
}

/// Ends commands side by side: each may take its time.
async fn end(sessions: Vec<Arc<Session>>) {
    join_all(sessions.iter().map(|session| session.process.end())).await;
}

async fn end_when_late(
    session: std::sync::Weak<Session>,
    timeout: Duration,
    watched: CancellationToken,
) {
    tokio::select! {
        () = tokio::time::sleep(timeout) => {}
        () = watched.cancelled() => return,
    }
    if let Some(session) = session.upgrade()
        && !session.has_ended().await
    {
        session.was_late.store(true, Ordering::Release);
        session.process.end().await;
    }
}

impl Session {
    /// Waits for the end or for some time to pass, and tells what is new since the last time.
    pub(super) async fn news(&self, wait: Duration) -> Result<News, String> {
        let mut reader = self.reader.lock().await;
        let output = self.process.output(reader.offset, wait).await?;
        reader.offset = output.next;
        reader.cleaner.push(&output.bytes);
        let mut text = reader.cleaner.take();
        if output.lost > 0 {
            text.insert_str(0, &dropped(output.lost));
        }
        let was_late = self.was_late.load(Ordering::Acquire);
        let ended = output.ended.map(|code| match was_late {
            true => (-1, true),
            false => (exit_code(code), false),
        });
        Ok(News { text, ended, lost: output.lost })
    }

    async fn has_ended(&self) -> bool {
        // Nothing is after the last byte, so only the end is reported.
        let output = self.process.output(u64::MAX, Duration::ZERO).await;
        output.is_ok_and(|output| output.ended.is_some())
    }
}
