//! The thread that talks to the desktop's clipboards, and what happens when it hangs.
//!
//! A thread whose call does not return is left alone, and another one takes over; it ends by
//! itself as soon as it can. The number of hanging calls is bounded; beyond it, only the copy in memory is used.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use arboard::{Clipboard, Error, GetExtLinux as _, LinuxClipboardKind, SetExtLinux as _};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::{Answer, CLIPBOARD_LIMIT, ClipboardTarget, Memory};

/// How many questions may wait for the thread.
const QUEUE: usize = 64;
/// How many threads may exist, those that hang included.
const THREADS: usize = 4;
/// How long after a failure a display is looked for again.
const PAUSE: Duration = Duration::from_secs(5);

const BOTH: [ClipboardTarget; 2] = [ClipboardTarget::System, ClipboardTarget::Selection];

/// What the thread is asked to do. Whatever it is, it carries first what the desktop lacks.
enum Job {
    Carry,
    Read(ClipboardTarget, oneshot::Sender<Answer>),
    /// Says whether the desktop has what was written last.
    Confirm(ClipboardTarget, oneshot::Sender<bool>),
}

/// The desktop's clipboards as seen by those who use them.
pub(super) struct Desktop {
    shared: Arc<Shared>,
    worker: Mutex<Option<Worker>>,
}

/// What all threads have in common.
struct Shared {
    memory: Arc<Memory>,
    threads: AtomicUsize,
    has_complained: AtomicBool,
}

/// A running thread: it ends when its queue is closed.
struct Worker {
    queue: SyncSender<Job>,
    /// Set when a call took too long, cleared by the thread when it has time again.
    is_stuck: Arc<AtomicBool>,
}

impl Desktop {
    /// Starts the thread. It connects by itself.
    pub(super) fn start(memory: Arc<Memory>) -> Self {
        let shared = Arc::new(Shared {
            memory,
            threads: AtomicUsize::new(0),
            has_complained: AtomicBool::new(false),
        });
        let worker = Mutex::new(Worker::start(&shared));
        Self { shared, worker }
    }

    /// Wakes the thread to carry what was written. With a full queue it is awake anyway.
    pub(super) fn carry(&self) {
        if let Some(worker) = &*self.worker.lock() {
            let _ = worker.queue.try_send(Job::Carry);
        }
    }

    /// Asks for a text. False if there is no owner to answer.
    pub(super) fn ask(&self, target: ClipboardTarget, reply: oneshot::Sender<Answer>) -> bool {
        self.queue(Job::Read(target, reply))
    }

    /// Asks whether the last text is on the desktop. False if there is no owner to answer.
    pub(super) fn confirm(&self, target: ClipboardTarget, reply: oneshot::Sender<bool>) -> bool {
        self.queue(Job::Confirm(target, reply))
    }

    fn queue(&self, job: Job) -> bool {
        let worker = self.worker.lock();
        worker.as_ref().is_some_and(|worker| {
            !worker.is_stuck.load(Ordering::Relaxed) && worker.queue.try_send(job).is_ok()
        })
    }

    /// The thread did not answer in time: another one takes its place, if there is room.
    pub(super) fn hangs(&self) {
        self.shared.complain("it does not answer");
        let mut worker = self.worker.lock();
        if let Some(worker) = &*worker {
            worker.is_stuck.store(true, Ordering::Relaxed);
        }
        if let Some(next) = Worker::start(&self.shared) {
            let _ = next.queue.try_send(Job::Carry);
            *worker = Some(next);
        }
    }
}

impl Shared {
    fn complain(&self, reason: &str) {
        if !self.has_complained.swap(true, Ordering::Relaxed) {
            tracing::warn!(reason, "the desktop's clipboard cannot be used; ours stays in memory");
        }
    }
}

impl Worker {
    fn start(shared: &Arc<Shared>) -> Option<Self> {
        if shared.threads.fetch_add(1, Ordering::Relaxed) >= THREADS {
            shared.threads.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        let (queue, jobs) = sync_channel(QUEUE);
        let is_stuck = Arc::new(AtomicBool::new(false));
        let bridge = Bridge {
            shared: Arc::clone(shared),
            is_stuck: Arc::clone(&is_stuck),
            clipboard: None,
            failed_at: None,
        };
        let thread = std::thread::Builder::new().name("clipboard".into());
        if let Err(error) = thread.spawn(move || bridge.run(&jobs)) {
            shared.threads.fetch_sub(1, Ordering::Relaxed);
            shared.complain(&error.to_string());
            return None;
        }
        Some(Self { queue, is_stuck })
    }
}

/// What one thread owns.
struct Bridge {
    shared: Arc<Shared>,
    is_stuck: Arc<AtomicBool>,
    clipboard: Option<Clipboard>,
    failed_at: Option<Instant>,
}

impl Bridge {
    fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(job) = jobs.recv() {
            BOTH.into_iter().for_each(|target| self.carry(target));
            match job {
                Job::Read(target, reply) if !reply.is_closed() => {
                    if let Some(answer) = self.read(target) {
                        let _ = reply.send(answer);
                    }
                }
                Job::Confirm(target, reply) => {
                    let _ = reply.send(self.shared.memory.version_on_desktop(target).is_some());
                }
                Job::Carry | Job::Read(..) => {}
            }
            self.is_stuck.store(false, Ordering::Relaxed);
        }
        // Leaving the display may take its time as well, so it comes before the thread is counted off.
        self.clipboard = None;
        self.shared.threads.fetch_sub(1, Ordering::Relaxed);
    }

    /// Brings the desktop what it lacks.
    fn carry(&mut self, target: ClipboardTarget) {
        let memory = Arc::clone(&self.shared.memory);
        // A newer text may be written while an older one is on its way, but not for ever.
        for _ in 0..8 {
            let Some((version, text)) = memory.uncarried(target) else { return };
            if !self.set(target, &text) {
                return;
            }
            memory.carried(target, version);
        }
    }

    fn set(&mut self, target: ClipboardTarget, text: &str) -> bool {
        let Some(clipboard) = self.connected() else { return false };
        let set = match text {
            "" => {
                use arboard::ClearExtLinux as _;
                clipboard.clear_with().clipboard(kind(target))
            }
            text => clipboard.set().clipboard(kind(target)).text(text),
        };
        set.map_err(|error| self.failed(&error)).is_ok()
    }

    /// What the desktop has, if it can tell and has our last write at least.
    fn read(&mut self, target: ClipboardTarget) -> Option<Answer> {
        let memory = Arc::clone(&self.shared.memory);
        let (version, is_fresh) = memory.version_on_desktop(target)?;
        let clipboard = self.connected()?;
        match clipboard.get().clipboard(kind(target)).text() {
            Ok(text) if text.len() <= CLIPBOARD_LIMIT => Some(Answer { version, text }),
            Err(Error::ContentNotAvailable) if is_fresh && !memory.text(target).is_empty() => {
                // The news that another program lost to us may arrive after our own text and wipe it out.
                self.set(target, &memory.text(target));
                None
            }
            Ok(_) | Err(Error::ContentNotAvailable | Error::ConversionFailure) => {
                Some(Answer { version, text: String::new() })
            }
            Err(error) => {
                self.failed(&error);
                None
            }
        }
    }

    fn connected(&mut self) -> Option<&mut Clipboard> {
        if self.clipboard.is_none() && self.failed_at.is_none_or(|at| at.elapsed() > PAUSE) {
            match Clipboard::new() {
                Ok(clipboard) => self.clipboard = Some(clipboard),
                Err(error) => {
                    self.failed_at = Some(Instant::now());
                    self.failed(&error);
                }
            }
        }
        self.clipboard.as_mut()
    }

    fn failed(&self, error: &Error) {
        match error {
            // Some desktops have no selection; that one stays in memory, and nothing is wrong.
            Error::ClipboardNotSupported => tracing::debug!(%error, "clipboard not supported"),
            error => self.shared.complain(&error.to_string()),
        }
    }
}

fn kind(target: ClipboardTarget) -> LinuxClipboardKind {
    match target {
        ClipboardTarget::System => LinuxClipboardKind::Clipboard,
        ClipboardTarget::Selection => LinuxClipboardKind::Primary,
    }
}
