//! What agents may do without asking: the mode of the world, and of threads that have their own.

use rookery_agent::policy::{self, Verdict};
use rookery_model::{Answer, Asked, Event, Mode, Profile, RequestId, Result, ThreadId};
use rookery_store::Change;

use super::NoticeBody;
use crate::core::Core;
use crate::requests::BY_MODE;
use crate::transact::Tx;

/// Where the world's mode is kept.
pub(crate) const MODE_KEY: &str = "policy_mode";
/// Where the word for the mode that asks is kept.
pub(crate) const ASKING_KEY: &str = "asking_mode";

/// What is said when nobody will be asked any more.
const BYPASSED: &str = "the policy mode is bypass: every tool call runs without being asked for";

/// Whether a word is one of the two for the mode that asks.
pub(crate) fn is_asking(word: &str) -> bool {
    matches!(word, "ask" | "default")
}

impl Core {
    /// The mode that holds for a thread, or for all that have none of their own.
    pub fn mode(&self, thread: Option<ThreadId>) -> Mode {
        let world = self.inner.world.lock();
        thread.map_or(world.mode, |thread| world.mode_of(thread))
    }

    /// The word by which the world's mode was last set.
    pub fn mode_word(&self) -> String {
        self.inner.world.lock().mode_word.clone()
    }

    /// The word by which the mode that asks was last called: `ask` or `default`.
    pub fn asking_word(&self) -> String {
        self.inner.world.lock().asking_word.clone()
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
        self.transact_durably(|tx| {
            if let Some(thread) = thread {
                tx.world.thread(thread)?;
            }
            self.switch_mode(tx, thread, mode, word, reason);
            self.judge_again(tx);
            Ok(())
        })
        .await
    }

    /// Sets a mode, and warns if nobody will be asked any more.
    pub(super) fn switch_mode(
        &self,
        tx: &mut Tx<'_>,
        thread: Option<ThreadId>,
        mode: Mode,
        word: Option<String>,
        reason: Option<String>,
    ) {
        let before = thread.map_or(tx.world.mode, |thread| tx.world.mode_of(thread));
        tx.set_mode(thread, mode, word, reason);
        let is_new = mode == Mode::Bypass && before != Mode::Bypass;
        if is_new && self.inner.agents.settings().policy.warn_on_bypass {
            tx.announce(thread, NoticeBody::Warning(BYPASSED.to_owned()));
        }
    }

    /// Settles approvals that the modes of now decide by themselves.
    fn judge_again(&self, tx: &mut Tx<'_>) {
        let agents = &self.inner.agents;
        let judged: Vec<(RequestId, Verdict)> = tx
            .world
            .requests
            .values()
            .filter_map(|request| {
                let Asked::Approval { kind, input, argv, env, .. } = &request.asked else {
                    return None;
                };
                let mode = tx.world.mode_of(request.thread);
                let judgement = match request.thread() {
                    Some(_) => {
                        agents.judge(&request.tool, *kind, input, mode, Profile::Interactive)
                    }
                    None => agents.judge_argv(argv, env, mode, Profile::Interactive),
                };
                Some((request.id, judgement.verdict))
            })
            .collect();
        for (id, verdict) in judged {
            match verdict {
                Verdict::Allow | Verdict::AutoApprove => {
                    self.settle_in(tx, id, Answer::Approved { remember: false }, BY_MODE);
                }
                Verdict::Deny => {
                    let message = Some(policy::DENIED.to_owned());
                    self.settle_in(tx, id, Answer::Denied { message }, BY_MODE);
                }
                Verdict::Ask => {}
            }
        }
    }
}

impl Tx<'_> {
    /// Sets a mode and tells of it.
    pub(crate) fn set_mode(
        &mut self,
        thread: Option<ThreadId>,
        mode: Mode,
        word: Option<String>,
        reason: Option<String>,
    ) {
        if let Some(word) = word.as_deref().filter(|word| is_asking(word))
            && self.world.asking_word != word
        {
            word.clone_into(&mut self.world.asking_word);
            let (key, value) = (ASKING_KEY.to_owned(), Some(word.to_owned()));
            self.save(Change::MetaSet { key, value });
        }
        let previous = match thread {
            Some(id) => {
                let previous = self.world.mode_of(id);
                let Ok(state) = self.world.thread_mut(id) else { return };
                state.thread.mode = Some(mode);
                self.save_thread(id);
                previous
            }
            None => {
                let previous = std::mem::replace(&mut self.world.mode, mode);
                self.world.mode_word = word.unwrap_or_else(|| policy::mode_name(mode).to_owned());
                // What allows more than asking is for now; a new daemon begins as it was set up.
                let is_kept = matches!(mode, Mode::Default | Mode::Plan);
                let value = is_kept.then(|| self.world.mode_word.clone());
                self.save(Change::MetaSet { key: MODE_KEY.to_owned(), value });
                previous
            }
        };
        if previous == mode {
            return;
        }
        let event = Event::ModeChanged { thread, from: previous, to: mode, reason: reason.clone() };
        match thread {
            Some(id) => self.emit_of(id, event),
            None => self.emit(event),
        }
        self.announce(thread, NoticeBody::ModeChanged { previous, mode, reason });
    }
}
