//! What agents may do without asking: the mode of the world, and of threads that have their own.

use rookery_agent::policy::{self, Verdict};
use rookery_model::{
    Answer, Asked, Asker, Event, Mode, Profile, Request, RequestId, Result, ThreadId, ToolKind,
};
use rookery_store::{Change, ValueKey};

use crate::log::{NoticeBody, ThreadChange};
use crate::requests::BY_MODE;
use crate::rooms::Threads;
use crate::world::Tx;
use crate::world::World;

/// The warning when nothing is asked for any more.
const BYPASSED: &str = "the policy mode is bypass: every tool call runs without being asked for";

impl Threads {
    /// The mode that holds for a thread, or for all that have none of their own.
    pub fn mode(&self, thread: Option<ThreadId>) -> Mode {
        let world = self.core.look();
        thread.map_or(world.mode, |thread| world.mode_of(thread))
    }

    /// How a client last spelled the mode that asks, if one ever did.
    pub fn asking_spelling(&self) -> Option<String> {
        self.core.look().asking_spelling.clone()
    }

    /// Sets the mode of a thread, or of all that have none of their own. What waits for an approval
    /// is judged again.
    ///
    /// # Errors
    /// If there is no such thread, or it cannot be kept.
    pub async fn set_mode(
        &self,
        thread: Option<ThreadId>,
        mode: Mode,
        word: Option<String>,
        reason: Option<String>,
    ) -> Result<()> {
        self.core
            .transact_durably(|tx| {
                if let Some(thread) = thread {
                    tx.world.thread(thread)?;
                }
                self.apply_mode(tx, thread, mode, word, reason);
                Ok(())
            })
            .await
    }

    /// Sets a mode, and warns if nothing is asked for any more.
    pub(super) fn switch_mode(
        &self,
        tx: &mut Tx<'_>,
        thread: Option<ThreadId>,
        mode: Mode,
        word: Option<String>,
        reason: Option<String>,
        settled: u64,
    ) {
        let before = thread.map_or(tx.world.mode, |thread| tx.world.mode_of(thread));
        tx.set_mode(thread, mode, word, reason, settled);
        let is_new = mode == Mode::Bypass && before != Mode::Bypass;
        if is_new && self.core.inner.agents.settings().policy.warn_on_bypass {
            tx.announce(thread, NoticeBody::Warning(BYPASSED.to_owned()));
        }
    }

    /// Sets a mode, and settles what waits for an approval and is decided by it: the record says how
    /// many that were.
    fn apply_mode(
        &self,
        tx: &mut Tx<'_>,
        thread: Option<ThreadId>,
        mode: Mode,
        word: Option<String>,
        reason: Option<String>,
    ) {
        let decided: Vec<(RequestId, Answer)> = tx
            .world
            .requests
            .values()
            .filter(|request| tx.world.is_reached(request, thread))
            .filter_map(|request| {
                let mode = tx.world.capped(request, thread, mode);
                Some((request.id, self.decided(request, mode)?))
            })
            .collect();
        self.switch_mode(tx, thread, mode, word, reason, decided.len() as u64);
        for (id, answer) in decided {
            tx.resolve_request(id, answer, BY_MODE);
        }
    }

    /// The answer to a request that a mode gives by itself.
    fn decided(&self, request: &Request, mode: Mode) -> Option<Answer> {
        let Asked::Approval { kind, input, argv, env, reason, .. } = &request.asked else {
            return None;
        };
        let agents = &self.core.inner.agents;
        let judgement = match request.thread() {
            Some(thread) if self.core.runners().is_elsewhere(thread) => {
                agents.judge_unheld(&request.tool, *kind, input, mode, Profile::Interactive)
            }
            Some(_) => agents.judge(&request.tool, *kind, input, mode, Profile::Interactive),
            None => agents.judge_argv(&request.tool, argv, env, mode, Profile::Interactive),
        };
        let asks = !matches!(mode, Mode::AcceptAll | Mode::Bypass);
        match judgement.verdict {
            // What asks besides the policy, as a workflow does, is not answered by a mode that asks.
            Verdict::Allow if *kind == ToolKind::Internal && asks => None,
            // A client wants to be asked, whatever the mode is.
            Verdict::Allow | Verdict::AutoApprove if policy::unasked::is_wanted(reason) => None,
            Verdict::Allow | Verdict::AutoApprove => Some(Answer::Approved { remember: false }),
            Verdict::Deny => Some(Answer::Denied { message: Some(policy::DENIED.to_owned()) }),
            Verdict::Ask => None,
        }
    }
}

impl World {
    /// The mode that a request is judged by once this one holds for a thread: that of a child agent is
    /// never looser than that of the turn it works for, and may be stricter.
    fn capped(&self, request: &Request, thread: Option<ThreadId>, mode: Mode) -> Mode {
        let Some(asker) = request.thread() else { return mode };
        let Some(parent) = self.led_by(asker) else { return mode };
        let other = match thread == Some(asker) {
            true => Some(self.mode_of_turn(parent.thread, parent.turn)),
            false => self.threads.get(&asker).and_then(|state| state.thread.mode),
        };
        other.map_or(mode, |other| mode.stricter(other))
    }

    /// Whether what a request waits for is decided by the mode of this thread; by the world's, if none
    /// is named.
    fn is_reached(&self, request: &Request, thread: Option<ThreadId>) -> bool {
        let parent = request.thread().and_then(|asker| self.led_by(asker));
        // A child agent has the mode of the turn that it works for.
        let decides = parent.map(|parent| parent.thread).or_else(|| request.thread());
        let has_own = || {
            let state = decides.and_then(|thread| self.threads.get(&thread));
            let own = state.and_then(|state| state.thread.mode);
            let is_clients = match request.asker {
                Asker::Turn { thread, turn } => self.has_client_mode(thread, turn),
                Asker::Caller(_) | Asker::Client | Asker::Session(_) => false,
            };
            own.is_some() || is_clients
        };
        match thread {
            Some(thread) => request.thread() == Some(thread) || decides == Some(thread),
            None => !has_own(),
        }
    }
}

impl Tx<'_> {
    /// Sets a mode and announces it, with the number of requests that it settles.
    pub(crate) fn set_mode(
        &mut self,
        thread: Option<ThreadId>,
        mode: Mode,
        word: Option<String>,
        reason: Option<String>,
        settled: u64,
    ) {
        let spelled = word.filter(|_| mode == Mode::Default);
        if spelled.is_some() && self.world.asking_spelling != spelled {
            self.world.asking_spelling.clone_from(&spelled);
            self.save(Change::KeptSet { what: ValueKey::AskingSpelling, value: spelled });
        }
        let previous = match thread {
            Some(id) => {
                self.world.client_modes.release(id);
                let previous = self.world.mode_of(id);
                let Ok(state) = self.world.thread_mut(id) else { return };
                state.thread.mode = Some(mode);
                self.save_thread(id);
                previous
            }
            None => {
                let previous = std::mem::replace(&mut self.world.mode, mode);
                // What allows more than asking is for now; a new daemon begins as it was set up.
                let is_kept = matches!(mode, Mode::Default | Mode::Plan);
                let value = is_kept.then(|| policy::mode_name(mode).to_owned());
                self.save(Change::KeptSet { what: ValueKey::Mode, value });
                previous
            }
        };
        if previous == mode && settled == 0 {
            return;
        }
        let (from, to) = (previous, mode);
        let event = Event::ModeChanged { thread, from, to, reason: reason.clone(), settled };
        match thread {
            Some(id) => self.emit_of(id, event),
            None => self.emit(event),
        }
        self.announce(thread, ThreadChange::Mode { previous, mode, reason });
    }
}
