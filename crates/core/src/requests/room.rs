//! What belongs to requests alone: who waits for an answer, and who types one.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::Mutex;
use rookery_model::{Answer, RequestId, SessionId};
use tokio::sync::{oneshot, watch};

use super::{DialogNote, Responder};

/// Whether an answer is one of those that a request takes.
pub(super) type Check = Box<dyn Fn(&Answer) -> bool + Send>;

/// Who waits, who answers, and what is being answered.
#[derive(Default)]
pub(crate) struct Room {
    /// Who waits for the answer to a request.
    pub(super) waiters: Mutex<HashMap<RequestId, oneshot::Sender<Answer>>>,
    /// What may be answered, where not every answer of its kind is one.
    pub(super) checks: Mutex<HashMap<RequestId, Check>>,
    /// Answers that are being recorded, and what tells that they were.
    pub(super) answering: Mutex<HashMap<RequestId, watch::Receiver<()>>>,
    /// What answers dialogs on screens.
    pub(super) responder: OnceLock<Arc<dyn Responder>>,
    /// Dialogs that are being answered.
    pub(super) typing: Mutex<HashSet<RequestId>>,
    /// Dialogs that were answered last, which may still stand there for a moment.
    pub(super) answered: Mutex<HashMap<SessionId, (String, Instant)>>,
    /// Dialogs as they were when they were first seen.
    pub(super) dialogs: Mutex<HashMap<(SessionId, String), DialogNote>>,
    /// Answers to dialogs that the last daemon accepted and may have typed.
    pub(super) promised: Mutex<HashMap<RequestId, (Answer, String)>>,
}
