//! Dialogs that were read from screens: requests like all others, answered by typing.
//!
//! Core neither reads screens nor knows what a key means to an agent. A screen watcher, which does, says what is
//! shown ([`Requests::show_dialog`]) and types the answers ([`Responder`]), each only while the very dialog
//! that was decided about still stands there.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use rookery_model::{
    Answer, Asked, Category, Error, ErrorKind, QueueItem, Request, RequestId, Result, SessionId,
    Source, TerminalId,
};

use super::Resolved;
use super::chosen::{Chosen, chosen};
use crate::clock;
use crate::core::Core;
use crate::log::RequestChange;
use crate::queue::NewItem;
use crate::rooms::Requests;
use crate::sessions::SessionHome;
use crate::sessions::session_of;
use crate::terminals::KeyMark;
use crate::world::Tx;
use crate::world::draw;

/// Who settles a dialog that went without an answer.
const BY_SCREEN: &str = "screen";
/// Who settles a dialog that was answered at its terminal.
const BY_TERMINAL: &str = "terminal";

/// How long a program may take to take a dialog away that was answered.
const TAKEN_AWAY: Duration = Duration::from_secs(3);

/// Dialogs whose first sight is remembered; beyond that what was chosen is not known.
const MAX_NOTES: usize = 1_024;

/// What becomes of what was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// It is known now.
    Known,
    /// It was answered a moment ago and should be gone soon. If nothing changes until then, it is
    /// worth another look.
    Answered(Duration),
}

/// A dialog as it stands on a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenDialog {
    /// What tells it from the next.
    pub id: String,
    /// In a few words.
    pub title: String,
    /// What it says.
    pub text: String,
    /// Whether it can be answered with yes or no.
    pub is_decidable: bool,
    /// What can be chosen in it, as it stands there; empty if it is no menu.
    pub options: Vec<String>,
    /// Which of them is marked, from 1, if that shows.
    pub focus: Option<usize>,
}

/// A dialog as it was when it was first seen, and what had been typed until then.
pub(crate) struct DialogNote {
    options: Vec<String>,
    focus: Option<usize>,
    keys: KeyMark,
}

/// What becomes of typing an answer.
pub type Typing = Pin<Box<dyn Future<Output = Result<bool>> + Send>>;

/// Types answers to dialogs on screens.
pub trait Responder: Send + Sync {
    /// Types yes or no if this dialog stands on that terminal; false if it does not.
    fn answer(&self, core: &Core, terminal: TerminalId, dialog: &str, is_yes: bool) -> Typing;
}

impl Requests {
    /// From now on this one answers dialogs. The first one stays.
    pub fn set_responder(&self, responder: std::sync::Arc<dyn Responder>) {
        let _ = self.core.inner.requests.responder.set(responder);
    }

    /// Says which dialog stands on a terminal now, if any. The same again changes nothing; another
    /// one takes back what was asked before.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub async fn show_dialog(&self, id: TerminalId, seen: Option<SeenDialog>) -> Result<Shown> {
        {
            let world = self.core.hold();
            let Ok(terminal) = world.terminal(id) else { return Ok(Shown::Known) };
            let session = session_of(terminal.uuid);
            if let Some(left) = self.answered_lately(session, seen.as_ref()) {
                return Ok(Shown::Answered(left));
            }
            let asked: Vec<&str> =
                world.requests.of_session(session).filter_map(dialog_of).collect();
            self.note_dialog(session, id, seen.as_ref());
            let is_known = match &seen {
                Some(seen) if seen.is_decidable => asked == [seen.id.as_str()],
                Some(_) => false,
                None => asked.is_empty() && !world.queue.open_of(Some(session)).any(is_vague),
            };
            if is_known {
                return Ok(Shown::Known);
            }
        }
        self.core
            .transact_durably(|tx| {
                let Ok(terminal) = tx.world.terminal(id) else { return Ok(Shown::Known) };
                let session = session_of(terminal.uuid);
                self.take_back_dialogs(tx, session, seen.as_ref());
                match seen {
                    Some(seen) if seen.is_decidable => tx.ask_dialog(session, seen),
                    Some(seen) => tx.file_dialog(session, seen),
                    None => tx.resolve_items(session, is_vague),
                }
                Ok(Shown::Known)
            })
            .await
    }

    /// How much longer the dialog of a session may stand there after its answer, if it is the one
    /// that was answered last. What was answered is forgotten as soon as something else is seen.
    fn answered_lately(&self, session: SessionId, seen: Option<&SeenDialog>) -> Option<Duration> {
        let mut answered = self.core.inner.requests.answered.lock();
        let (dialog, at) = answered.get(&session)?;
        let left = TAKEN_AWAY.checked_sub(at.elapsed()).filter(|left| !left.is_zero());
        let is_it = seen.is_some_and(|seen| seen.id == *dialog);
        if !is_it || left.is_none() {
            answered.remove(&session);
            return None;
        }
        left
    }

    /// Takes back what was asked about dialogs that do not stand there any more.
    fn take_back_dialogs(&self, tx: &mut Tx<'_>, session: SessionId, seen: Option<&SeenDialog>) {
        let typing = self.core.inner.requests.typing.lock();
        let is_over = |request: &&Request| {
            // Whoever types an answer says how it was settled.
            dialog_of(request).is_some_and(|one| seen.is_none_or(|seen| seen.id != one))
                && !typing.contains(&request.id)
        };
        let over: Vec<RequestId> =
            tx.world.requests.of_session(session).filter(is_over).map(|it| it.id).collect();
        drop(typing);
        for id in over {
            let (answer, by) = self.how_answered(tx, session, id);
            tx.resolve_request(id, answer, &by);
        }
    }

    /// Notes how a dialog looks when it is first seen: keys count from then on.
    fn note_dialog(&self, session: SessionId, id: TerminalId, seen: Option<&SeenDialog>) {
        let Some(seen) = seen.filter(|seen| seen.is_decidable) else { return };
        let Some(live) = self.core.terminals().live(id) else { return };
        let mut dialogs = self.core.inner.requests.dialogs.lock();
        let place = (session, seen.id.clone());
        if dialogs.contains_key(&place) {
            return;
        }
        if dialogs.len() >= MAX_NOTES {
            dialogs.clear();
        }
        let keys = live.keys.mark();
        // A key that is still on its way to the screen may have moved the mark.
        let focus = seen.focus.filter(|_| keys.is_settled);
        dialogs.insert(place, DialogNote { options: seen.options.clone(), focus, keys });
    }

    fn take_note(&self, session: SessionId, dialog: &str) -> Option<DialogNote> {
        self.core.inner.requests.dialogs.lock().remove(&(session, dialog.to_owned()))
    }

    /// How a dialog that does not stand there any more was answered, as far as can be determined.
    fn how_answered(&self, tx: &Tx<'_>, session: SessionId, id: RequestId) -> (Answer, String) {
        if let Some(promised) = self.core.inner.requests.promised.lock().remove(&id) {
            return promised;
        }
        let dialog = tx.world.requests.get(id).and_then(dialog_of);
        let note = dialog.and_then(|dialog| self.take_note(session, dialog));
        let terminal = tx.world.session(session).and_then(|session| match session.home {
            SessionHome::Terminal(terminal) => Some(terminal),
            SessionHome::Thread(_) => None,
        });
        let live = terminal.and_then(|terminal| self.core.terminals().live(terminal));
        let chosen = match (note, live) {
            (Some(note), Some(live)) => {
                let keys = live.keys.since(note.keys);
                keys.map_or(Chosen::Unknown, |keys| chosen(&note.options, note.focus, &keys))
            }
            _ => Chosen::Nothing,
        };
        match chosen {
            Chosen::Yes => (Answer::Approved { remember: false }, BY_TERMINAL.to_owned()),
            Chosen::No => (Answer::Denied { message: None }, BY_TERMINAL.to_owned()),
            Chosen::Unknown => (Answer::AtTerminal, BY_TERMINAL.to_owned()),
            Chosen::Nothing => (Answer::Cancelled, BY_SCREEN.to_owned()),
        }
    }

    /// The last daemon accepted this answer and may have typed it: whether it did shows the screen.
    pub(crate) fn note_promised(&self, id: RequestId, answer: Answer, by: String) {
        self.core.inner.requests.promised.lock().insert(id, (answer, by));
    }

    /// Whether this is a dialog that waits to be answered on a screen.
    pub(crate) fn is_dialog(&self, id: RequestId) -> bool {
        let world = self.core.look();
        world.requests.get(id).is_some_and(|one| matches!(one.asked, Asked::Dialog { .. }))
    }

    /// Answers a dialog by typing, and settles it then. Late if another client is about to, or it was
    /// settled before. Goes on even if the caller is gone.
    ///
    /// # Errors
    /// Conflict if the dialog does not stand there any more, and whatever keeps it from being typed.
    pub(crate) async fn answer_dialog(
        &self,
        id: RequestId,
        answer: Answer,
        by: &str,
    ) -> Result<Resolved> {
        let (core, by) = (self.core.clone(), by.to_owned());
        let work = self
            .core
            .inner
            .runtime
            .spawn(async move { core.requests().type_answer(id, answer, &by).await });
        let is_given = work.await.map_err(|error| Error::failed(error.to_string()))??;
        Ok(if is_given { Resolved::Now } else { Resolved::Late })
    }

    async fn type_answer(&self, id: RequestId, answer: Answer, by: &str) -> Result<bool> {
        let is_yes = match &answer {
            Answer::Approved { .. } => true,
            Answer::Denied { .. } => false,
            _ => return Err(Error::invalid("id", "the request asks for something else")),
        };
        let Some((session, terminal, dialog)) = self.dialog(id) else { return Ok(false) };
        let Some(_claim) = Claim::new(&self.core, id) else { return Ok(false) };
        let no_responder = || Error::failed("no screen watcher can type into that terminal");
        let responder = self.core.inner.requests.responder.get().ok_or_else(no_responder)?;
        // Recorded before it is typed: what cannot be recorded is not typed at all.
        self.promise_answer(id, &answer, by).await?;
        let typed = responder.answer(&self.core, terminal, &dialog, is_yes).await;
        let settled = match &typed {
            Ok(true) => {
                self.take_note(session, &dialog);
                self.note_answered(session, dialog);
                Some((answer, by))
            }
            Ok(false) | Err(_) => None,
        };
        let is_gone = matches!(typed, Ok(false));
        let given = self.core.transact(|tx| {
            let is_pending = tx.world.requests.contains(id);
            if let Some((answer, by)) = settled {
                tx.decider = self.core.caller.decider();
                tx.resolve_request(id, answer, by);
            } else if is_gone {
                let (answer, by) = self.how_answered(tx, session, id);
                tx.resolve_request(id, answer, &by);
            }
            tx.done(id.get());
            Ok(is_pending)
        });
        let was_pending = self.keep_promise(id, given).await?;
        match typed? {
            true => Ok(was_pending),
            false => Err(Error::new(ErrorKind::Conflict, "that dialog is not shown any more")),
        }
    }

    fn note_answered(&self, session: SessionId, dialog: String) {
        let mut answered = self.core.inner.requests.answered.lock();
        answered.retain(|_, (_, at)| at.elapsed() < TAKEN_AWAY);
        answered.insert(session, (dialog, Instant::now()));
    }

    fn dialog(&self, id: RequestId) -> Option<(SessionId, TerminalId, String)> {
        let world = self.core.look();
        let request = world.requests.get(id)?;
        let Asked::Dialog { dialog, .. } = &request.asked else { return None };
        let session = world.session(request.session()?)?;
        match session.home {
            SessionHome::Terminal(terminal) => Some((session.id, terminal, dialog.clone())),
            SessionHome::Thread(_) => None,
        }
    }
}

/// The right to type the answer to a dialog; one at a time has it.
struct Claim<'a> {
    core: &'a Core,
    id: RequestId,
}

impl<'a> Claim<'a> {
    fn new(core: &'a Core, id: RequestId) -> Option<Claim<'a>> {
        let is_first = core.inner.requests.typing.lock().insert(id);
        is_first.then(|| Claim { core, id })
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.core.inner.requests.typing.lock().remove(&self.id);
    }
}

impl Tx<'_> {
    fn ask_dialog(&mut self, session: SessionId, seen: SeenDialog) {
        let is_it = |request: &Request| dialog_of(request) == Some(&seen.id);
        if self.world.requests.of_session(session).any(is_it) {
            return;
        }
        let SeenDialog { id: dialog, title, text, .. } = seen;
        let tool = title.clone();
        let asked = Asked::Dialog { dialog, title, text };
        let mut request =
            Request::of_session(RequestId::new(draw()), session, asked, clock::wall());
        request.tool = tool;
        self.world.requests.insert(request.clone());
        self.save_request(&request);
        self.announce(None, RequestChange::Asked(Box::new(request)));
    }

    /// A dialog that has to be answered at its terminal.
    fn file_dialog(&mut self, session: SessionId, seen: SeenDialog) {
        if self.waits_already(session) {
            return;
        }
        self.file(NewItem {
            session: Some(session),
            related: None,
            category: Category::ApprovalNeeded,
            title: seen.title,
            subtitle: Some(seen.text).filter(|text| !text.is_empty()),
            source: Source::Screen,
        });
    }

    /// Whether the queue says already that this session waits for a person.
    pub(crate) fn waits_already(&self, session: SessionId) -> bool {
        self.has_open_item(session, |item| item.category == Category::ApprovalNeeded)
    }
}

/// The dialog that a request is about.
fn dialog_of(request: &Request) -> Option<&str> {
    match &request.asked {
        Asked::Dialog { dialog, .. } => Some(dialog),
        _ => None,
    }
}

/// An open word about what was read from this session's screen and cannot be decided here.
fn is_vague(item: &QueueItem) -> bool {
    item.source == Source::Screen && item.related.is_none()
}
