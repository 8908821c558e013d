//! Agents that already exist, as providers: programs that speak the Agent Client Protocol on their pipes.
//!
//! [`Acp`] keeps one program for each thread, within a bound, and ends idle ones. What is
//! said to one is in `talk`, how it is started in `live`; `prompt`, `updates`
//! and `choice` translate, and are pure.
//! The program runs its own tools; it asks before it does, and the answer comes from our policy.

mod choice;
mod lines;
mod live;
mod permission;
mod prompt;
mod talk;
mod updates;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::provider::{
    Failure, FailureKind, Listing, ModelEvent, ModelInfo, ModelRequest, ModelStream,
    PermissionAnswer, Provider,
};
use crate::providers::Loan;
use crate::settings::Secret;
use live::Live;
use talk::{Call, Ending};

/// How many events may wait for a slow reader.
const QUEUE: usize = 64;

/// How many answers to questions may wait.
const ANSWERS: usize = 16;

/// The model of an agent that settings name none for: whichever it likes.
pub(crate) const DEFAULT_MODEL: &str = "default";

/// How an agent is started, and how long it is waited for.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The provider's id.
    pub(crate) id: String,
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    /// Variables over what is inherited; some are keys.
    pub(crate) env: Vec<(String, Secret)>,
    /// How many may run at once.
    pub(crate) limit: usize,
    /// How long one may take from its start to a session.
    pub(crate) startup: Duration,
    /// How long one may be silent while it is asked something.
    pub(crate) silence: Duration,
    /// How long one is kept without being asked anything.
    pub(crate) keep: Duration,
    /// How long one may take to stop after a cancel.
    pub(crate) settle: Duration,
}

impl Options {
    /// The usual patience.
    pub(crate) fn new(id: &str, command: Vec<String>, env: Vec<(String, Secret)>) -> Self {
        Self {
            id: id.to_owned(),
            command,
            env,
            limit: 16,
            startup: Duration::from_secs(120),
            silence: Duration::from_secs(600),
            keep: Duration::from_secs(600),
            settle: Duration::from_secs(10),
        }
    }
}

/// A provider that is a program. When the last of its clones is dropped, programs that no turn listens
/// to end at once, and the others when they have answered.
#[derive(Clone)]
pub(crate) struct Acp {
    shared: Arc<Shared>,
    _owner: Arc<Owner>,
}

/// What all clones of a provider hold together.
struct Owner(Arc<Shared>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.stopped.cancel();
        self.0.slots.lock().clear();
    }
}

struct Shared {
    options: Options,
    slots: Mutex<HashMap<String, Arc<Slot>>>,
    /// Whether the last one that was started takes images; believed until one says no.
    takes_images: AtomicBool,
    /// Cancelled when the last clone of the provider is dropped.
    stopped: CancellationToken,
}

/// The place of a thread's agent.
struct Slot {
    live: tokio::sync::Mutex<Option<Live>>,
    used: Mutex<Instant>,
    expiry: Mutex<Option<AbortHandle>>,
}

impl Acp {
    /// A provider whose programs are started when they are needed.
    pub(crate) fn new(options: Options) -> Self {
        let (takes_images, stopped) = (AtomicBool::new(true), CancellationToken::new());
        let shared = Shared { options, slots: Mutex::default(), takes_images, stopped };
        let shared = Arc::new(shared);
        Self { _owner: Arc::new(Owner(Arc::clone(&shared))), shared }
    }

    /// Whether it takes images, as far as its program has said.
    pub(crate) fn takes_images(&self) -> bool {
        self.shared.takes_images.load(Ordering::Relaxed)
    }
}

impl Provider for Acp {
    fn call(&self, request: ModelRequest) -> ModelStream {
        let (events, received) = mpsc::channel(QUEUE);
        let (answers, answered) = mpsc::channel(ANSWERS);
        let cancel = CancellationToken::new();
        let call = Call { request, events, answers: answered, cancel: cancel.clone() };
        tokio::spawn(Arc::clone(&self.shared).run(call));
        ModelStream { events: received, answers: Some(answers), guard: cancel.drop_guard() }
    }

    fn models(&self, _key: Option<Loan>) -> Listing<'_> {
        Box::pin(async { Ok(default_models()) })
    }
}

/// The models of an agent that settings name none for.
pub(crate) fn default_models() -> Vec<ModelInfo> {
    let named = |name: &str| name.to_owned();
    vec![ModelInfo { id: named(DEFAULT_MODEL), name: named("Default"), ..ModelInfo::default() }]
}

impl Shared {
    async fn run(self: Arc<Self>, mut call: Call) {
        let thread = call.request.thread.clone();
        let slot = match self.slot(&thread) {
            Ok(slot) => slot,
            Err(failure) => return call.emit(ModelEvent::Failed(failure)).await,
        };
        // An earlier call of this thread that was given up may still be winding down.
        let cancel = call.cancel.clone();
        let mut live = tokio::select! {
            biased;
            () = cancel.cancelled() => return,
            live = slot.live.lock() => live,
        };
        if let Some(expiry) = slot.expiry.lock().take() {
            expiry.abort();
        }
        let ended = async {
            cancel.cancelled().await;
            self.stopped.cancelled().await;
        };
        let ending = tokio::select! {
            biased;
            () = ended => Ending::ABANDONED,
            ending = talk::talk(&self, &mut live, &mut call) => ending,
        };
        if !ending.is_kept {
            *live = None;
        }
        let is_kept = live.is_some();
        drop(live);
        *slot.used.lock() = Instant::now();
        match is_kept {
            true => self.expire_later(&thread, &slot),
            false => self.forget(&thread, &slot),
        }
        if let Some(failure) = ending.failure {
            call.emit(ModelEvent::Failed(failure)).await;
        }
    }

    /// The thread's slot. When there are too many, the one that was idle longest makes room.
    fn slot(&self, thread: &str) -> Result<Arc<Slot>, Failure> {
        let mut slots = self.slots.lock();
        if let Some(slot) = slots.get(thread) {
            return Ok(Arc::clone(slot));
        }
        if slots.len() >= self.options.limit {
            let is_idle = |slot: &Arc<Slot>| Arc::strong_count(slot) == 1;
            let idle = slots.iter().filter(|(_, slot)| is_idle(slot));
            let oldest = idle.min_by_key(|(_, slot)| *slot.used.lock());
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else {
                let message = format!("{}: too many agents are at work already", self.options.id);
                return Err(Failure { message, kind: FailureKind::Unavailable });
            };
            slots.remove(&oldest);
        }
        let slot = Arc::new(Slot {
            live: tokio::sync::Mutex::new(None),
            used: Mutex::new(Instant::now()),
            expiry: Mutex::default(),
        });
        slots.insert(thread.to_owned(), Arc::clone(&slot));
        Ok(slot)
    }

    /// Ends the thread's agent when it has been idle for long.
    fn expire_later(self: &Arc<Self>, thread: &str, slot: &Arc<Slot>) {
        let (shared, same) = (Arc::downgrade(self), Arc::downgrade(slot));
        let (thread, keep) = (thread.to_owned(), self.options.keep);
        let expiry = tokio::spawn(async move {
            tokio::time::sleep(keep).await;
            let (shared, same): (Option<Arc<Self>>, _) = (Weak::upgrade(&shared), same.upgrade());
            if let (Some(shared), Some(slot)) = (shared, same) {
                shared.forget(&thread, &slot);
            }
        });
        if let Some(earlier) = slot.expiry.lock().replace(expiry.abort_handle()) {
            earlier.abort();
        }
    }

    /// Takes a slot out of the table, unless another task uses it. Its agent ends with it.
    fn forget(&self, thread: &str, slot: &Arc<Slot>) {
        let mut slots = self.slots.lock();
        let is_same = slots.get(thread).is_some_and(|known| Arc::ptr_eq(known, slot));
        // The table and the caller hold it, so a third is another call.
        if is_same && Arc::strong_count(slot) <= 2 {
            slots.remove(thread);
        }
    }
}

impl Call {
    /// Sends an event to the listener, if there still is one.
    async fn emit(&self, event: ModelEvent) {
        let _ = self.events.send(event).await;
    }
}

/// What comes back to a question: used by `talk`, named here because the provider hands it out.
type Answers = mpsc::Receiver<PermissionAnswer>;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn there_are_never_more_than_may_be() {
        let options = Options { limit: 2, ..Options::new("few", vec!["cat".into()], Vec::new()) };
        let acp = Acp::new(options);
        let (first, second) = (acp.shared.slot("a").unwrap(), acp.shared.slot("b").unwrap());
        assert!(Arc::ptr_eq(&first, &acp.shared.slot("a").unwrap()));
        let failure = acp.shared.slot("c").err().unwrap();
        assert_eq!(failure.message, "few: too many agents are at work already");
        *first.used.lock() += Duration::from_secs(1);
        let oldest = Arc::downgrade(&second);
        drop((first, second));
        let third = acp.shared.slot("c").unwrap();
        assert!(oldest.upgrade().is_none(), "the one that was idle longest made room");
        let mut known: Vec<String> = acp.shared.slots.lock().keys().cloned().collect();
        known.sort();
        assert_eq!(known, ["a", "c"]);
        acp.shared.forget("a", &third);
        assert_eq!(acp.shared.slots.lock().len(), 2, "only one's own place is given up");
        acp.shared.forget("c", &third);
        assert_eq!(acp.shared.slots.lock().len(), 1);
    }

    #[test]
    fn keys_are_not_shown() {
        let env = vec![("KEY".to_owned(), Secret::new("sk-secret"))];
        assert!(!format!("{:?}", Options::new("x", Vec::new(), env)).contains("sk-"));
    }
}
