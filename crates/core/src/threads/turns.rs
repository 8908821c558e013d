//! Turns: started, steered and interrupted from outside.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use rookery_agent::commands::Expanded;
use rookery_agent::providers::Loan;
use rookery_agent::turn::{self, Effect, Input, Message, Setup, View};
use rookery_model::{
    Choice, Error, Event, Mode, Profile, Result, ThreadId, Timestamp, Turn, TurnErrorKind, TurnId,
    TurnSettings, TurnStatus, Usage,
};

use super::extras::Extras;
use super::live::LiveThread;
use super::run::Runner;
use super::{ActiveTurn, LifecycleState, TurnLifecycle};
use crate::agents::choose::FittedChoice;
use crate::clock;
use crate::core::Core;
use crate::log::{NoticeBody, TurnChange};
use crate::memories::Recalled;
use crate::rooms::Threads;
use crate::teams::LeadMessages;
use crate::world::Tx;

/// Numbers of notifications that are set aside for a thread at a time.
const SEQ_BLOCK: u64 = 1_000_000;
/// How much of what the user first said is shown in lists.
const PREVIEW: usize = 72;

/// A turn to be started.
#[derive(Clone, Debug, Default)]
pub struct NewTurn {
    /// What the user says.
    pub message: Message,
    /// Which model answers; what is empty is the thread's.
    pub choice: Choice,
    /// What the client tells the model for this turn only.
    pub developer_context: Option<String>,
    /// The only tools it may use, beside the thread's own list.
    pub allowed_tools: Option<Vec<String>>,
    /// Whether the ledger has to be kept.
    pub needs_ledger: bool,
    /// How many seconds it may take.
    pub deadline_seconds: Option<u64>,
    /// Who is there; as the settings say if it is not said.
    pub profile: Option<Profile>,
    /// The mode to set first.
    pub mode: Option<(Mode, String)>,
    /// Whether the model is asked again with what is there: the turn begins without a message.
    pub is_continued: bool,
    /// Whether it may not be added to a turn that runs.
    pub must_be_new: bool,
    /// Whether it is the work of a child agent, whose giver waits for what comes of it.
    pub is_given: bool,
    /// The connection of the client that starts it; see [`Threads::set_client_mode`].
    pub client: Option<u64>,
    /// Keys that the client lends for it.
    pub keys: Vec<Loan>,
}

impl NewTurn {
    /// The turn that a slash command asks for.
    pub fn of_command(expanded: &Expanded) -> Self {
        let context = expanded.blocks.iter();
        let context = context.map(|block| format!("[context:{}]\n{}", block.id, block.text));
        let allowed = &expanded.allowed_tools;
        Self {
            message: Message {
                text: expanded.message.clone(),
                context: context.collect(),
                ..Message::default()
            },
            choice: Choice {
                model: expanded.model.clone().unwrap_or_default(),
                ..Choice::default()
            },
            allowed_tools: (!allowed.is_empty()).then(|| allowed.clone()),
            must_be_new: true,
            ..Self::default()
        }
    }
}

/// What became of a turn to be started.
#[derive(Clone, Debug)]
pub enum StartedTurn {
    /// It runs.
    New(Box<Turn>),
    /// One ran already, which takes the message.
    Steered(TurnId),
}

/// What became of steering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Steered {
    /// The turn takes it up.
    Accepted(TurnId),
    /// Another turn runs, or none.
    Mismatch(Option<TurnId>),
}

impl Threads {
    /// Starts a turn, or steers the one that runs.
    ///
    /// # Errors
    /// If there is no such thread or provider, or the daemon is stopping; nothing has happened then.
    pub fn start_turn(&self, id: ThreadId, new: NewTurn) -> BoxFuture<'_, Result<StartedTurn>> {
        Box::pin(self.start_turn_inner(id, new))
    }

    async fn start_turn_inner(&self, id: ThreadId, new: NewTurn) -> Result<StartedTurn> {
        if self.core.inner.agents.is_draining() {
            return Err(Error::failed("the server is shutting down and takes no new turns"));
        }
        let thread = self.get(id).ok_or_else(|| crate::world::no_thread(id))?.thread;
        let fitted =
            self.core.agents().fit_choice(new.choice.clone(), &thread.choice, &new.keys).await?;
        let live = self.live(id).await?;
        if self.is_idle(id) {
            self.core.imports().prepare(&thread).await;
        }
        let extras = match self.is_idle(id) && !new.is_continued {
            true => self.extras(&thread, &new.message).await?,
            false => Extras::default(),
        };
        let given = extras.recalled.as_ref().map(Recalled::ids);
        let teams = self.core.teams();
        let from_team = teams.take_for_lead(id);
        let extras =
            Extras { from_team: from_team.iter().map(message_from_team).collect(), ..extras };
        let started = self.core.transact(|tx| self.begin(tx, &live, new, fitted, extras));
        let (begun, ticket) = match started {
            Ok((StartOutcome::New(begun), ticket)) => (begun, ticket),
            Ok((StartOutcome::Steered(turn), ticket)) => {
                teams.put_back(from_team).await;
                ticket.await?;
                return Ok(StartedTurn::Steered(turn));
            }
            Err(error) => {
                teams.put_back(from_team).await;
                return Err(error);
            }
        };
        teams.mark_delivered(from_team);
        let (turn, effects) = (begun.runner.turn.clone(), begun.effects);
        // The turn is in the world, so it runs even if the store is slow to say so.
        let durable = ticket.await;
        if let Some(given) = given {
            self.core.memories().were_given(given);
        }
        self.core.inner.threads.turns.spawn(begun.runner.run(effects));
        durable?;
        Ok(StartedTurn::New(Box::new(turn)))
    }

    /// Whether a message would begin a turn.
    fn is_idle(&self, id: ThreadId) -> bool {
        self.core.look().threads.get(&id).is_some_and(|state| state.active.is_none())
    }

    fn begin(
        &self,
        tx: &mut Tx<'_>,
        live: &Arc<LiveThread>,
        mut new: NewTurn,
        fitted: FittedChoice,
        extras: Extras,
    ) -> Result<StartOutcome> {
        let state = tx.world.thread_mut(live.id)?;
        if state.thread.archived {
            return Err(crate::world::no_thread(live.id));
        }
        if let Some(active) = &mut state.active {
            if new.must_be_new || new.is_continued {
                return Err(Error::conflict("a turn is running"));
            }
            let turn = active.turn;
            tx.accept_steer(live.id, new.message);
            return Ok(StartOutcome::Steered(turn));
        }
        if new.is_continued && live.read().items.is_empty() {
            return Err(Error::conflict("nothing was said in the thread yet"));
        }
        if let Some((mode, word)) = new.mode {
            if let Some(client) = new.client {
                tx.end_client_mode(client);
            }
            self.switch_mode(tx, None, mode, Some(word), None, 0);
        }
        let now = clock::wall();
        let profile = new.profile.unwrap_or_else(|| self.core.inner.agents.profile());
        let settings = TurnSettings {
            choice: fitted.choice,
            developer_context: new.developer_context,
            allowed_tools: new.allowed_tools,
            needs_ledger: new.needs_ledger,
            deadline: self.core.inner.agents.deadline(new.deadline_seconds, profile, now),
            profile,
            is_given: new.is_given,
        };
        let turn = Turn {
            id: TurnId::new(uuid::Uuid::now_v7().as_u128()),
            thread: live.id,
            status: TurnStatus::InProgress,
            error: None,
            started_at: now,
            completed_at: None,
            usage: Usage::default(),
            finish_reason: None,
            settings,
            calls: Vec::new(),
        };
        let mut used_names = live.read().used_names(turn.id);
        used_names.extend_from_slice(&tx.world.thread(live.id)?.thread.retired);
        let mut machine = turn::Turn::new(self.setup(&turn, used_names));
        let active = ActiveTurn { client: new.client, ..ActiveTurn::new(turn.id) };
        let wake = Arc::clone(&active.wake);
        self.note_beginning(tx, live.id, &new.message, active, now)?;
        tx.edit(live).put_turn(&turn);
        tx.save_turn(&turn);
        tx.emit_of(live.id, Event::TurnStarted { thread: live.id, turn: turn.id });
        tx.announce(live.id, TurnChange::Started(Box::new(turn.clone())));
        tx.announce(live.id, TurnChange::Lifecycle(TurnLifecycle::of(&turn, None)));
        tx.announce_status(live.id);
        new.message.images.extend(extras.images);
        tx.take_attached(live.id, &extras.attached);
        new.message.context.extend(extras.context);
        if let Some(recalled) = extras.recalled {
            let change = recalled.change(live.id, turn.id);
            tx.announce(live.id, NoticeBody::Memory(Box::new(change)));
            new.message.context.push(recalled.text);
        }
        tx.trace_turn(live.id, turn.id);
        let view = View { tokens: self.tokens(live, &turn), has_open_tasks: false };
        // What was said about plans while no turn ran comes first.
        let mut said = tx.take_undelivered(live.id);
        said.extend((!new.is_continued).then_some(new.message));
        said.extend(extras.from_team);
        let mut effects = machine.step(Input::Begin(said), view);
        // What the user said is part of the beginning; what the turn does comes after the reply.
        let spoken =
            effects.iter().take_while(|effect| matches!(effect, Effect::Completed(_))).count();
        for effect in effects.drain(..spoken) {
            if let Effect::Completed(item) = effect {
                tx.complete_item(live, turn.id, item);
            }
        }
        if let Some(warning) = fitted.warning {
            tx.announce(live.id, NoticeBody::Warning(warning));
        }
        let mut runner = Runner::new(self.core.detached(), Arc::clone(live), turn, machine, wake);
        runner.keys = new.keys;
        Ok(StartOutcome::New(Box::new(BegunTurn { runner, effects })))
    }

    /// What the thread itself shows of a new turn.
    fn note_beginning(
        &self,
        tx: &mut Tx<'_>,
        id: ThreadId,
        message: &Message,
        active: ActiveTurn,
        now: Timestamp,
    ) -> Result<()> {
        let thread = &mut tx.world.thread_mut(id)?.thread;
        thread.updated_at = now;
        if thread.preview.is_empty() {
            thread.preview = preview(&message.text);
        }
        tx.world.threads.set_active(id, Some(active));
        self.reserve_numbers(tx, id);
        Ok(())
    }

    /// Notifications of a thread are counted on from the highest number that any daemon may have
    /// used, and a further block of numbers is set aside for this one.
    pub(super) fn reserve_numbers(&self, tx: &mut Tx<'_>, id: ThreadId) {
        let Ok(state) = tx.world.thread_mut(id) else { return };
        let (spine, thread) = (self.core.inner.log.spine(), &mut state.thread);
        if spine.seq(id) == 0 && thread.seq_reserved > 0 {
            spine.set_seq(id, thread.seq_reserved);
        }
        thread.seq_reserved = thread.seq_reserved.max(spine.seq(id) + SEQ_BLOCK);
        tx.save_thread(id);
    }

    /// How the machine of a turn is set up.
    pub(super) fn setup(&self, turn: &Turn, used_names: Vec<String>) -> Setup {
        let agents = &self.core.inner.agents;
        let thread = self.get(turn.thread).map(|seen| seen.thread);
        let child = thread.as_ref().and_then(|thread| thread.child.as_deref());
        let mut limits = agents.limits();
        if let Some(child) = child {
            limits.model_calls = limits.model_calls.min(child.max_calls);
        }
        let assignment = thread.and_then(|thread| thread.assignment);
        let mistakes = assignment.as_ref().and_then(|set| set.bounds.failures_in_a_row);
        if let Some(most) = mistakes.filter(|most| *most > 0) {
            limits.mistakes = u32::try_from(most).unwrap_or(u32::MAX);
        }
        Setup {
            turn: turn.id,
            used_names,
            profile: turn.settings.profile,
            limits,
            needs_ledger: turn.settings.needs_ledger,
            compact_at: agents.compact_at(&turn.settings.choice),
            parallel_tools: agents.has_parallel_tools(&turn.settings.choice.provider),
            is_assigned: assignment.is_some(),
        }
    }

    /// About how many tokens the conversation has.
    pub(super) fn tokens(&self, live: &LiveThread, turn: &Turn) -> u64 {
        if self.core.inner.agents.compact_at(&turn.settings.choice).is_none() {
            return 0;
        }
        turn::estimate_items(live.read().items_by_turn())
    }

    /// Tells the turn that runs something. It hears of it before the model is asked next.
    ///
    /// # Errors
    /// If there is no such thread.
    pub async fn steer(
        &self,
        id: ThreadId,
        expected: TurnId,
        message: Option<Message>,
    ) -> Result<Steered> {
        self.core
            .transact_durably(|tx| {
                let state = tx.world.thread_mut(id)?;
                match &mut state.active {
                    Some(active) if active.turn == expected && !active.is_interrupting => {
                        if let Some(message) = message {
                            tx.accept_steer(id, message);
                        }
                        Ok(Steered::Accepted(expected))
                    }
                    active => Ok(Steered::Mismatch(active.as_ref().map(|active| active.turn))),
                }
            })
            .await
    }

    /// Stops the turn that runs. False if that turn does not run.
    ///
    /// # Errors
    /// If there is no such thread.
    pub fn interrupt(&self, id: ThreadId, turn: Option<TurnId>) -> Result<Option<TurnId>> {
        self.stop_for(id, turn, None)
    }

    /// Has a turn stop; without a reason of ours, since someone asked for it.
    pub(super) fn stop_for(
        &self,
        id: ThreadId,
        turn: Option<TurnId>,
        reason: Option<TurnErrorKind>,
    ) -> Result<Option<TurnId>> {
        let (stopped, _ticket) = self.core.transact(|tx| {
            let state = tx.world.thread_mut(id)?;
            let Some(active) = &mut state.active else { return Ok(None) };
            if turn.is_some_and(|turn| turn != active.turn) {
                return Ok(None);
            }
            active.is_interrupting = true;
            let wake = Arc::clone(&active.wake);
            let turn = active.turn;
            let is_first = active.interrupted_at.is_none();
            // Who was first has stopped it.
            active.is_shut_down |= is_first && reason == Some(TurnErrorKind::Shutdown);
            let at = *active.interrupted_at.get_or_insert_with(clock::wall);
            // At once: a turn stops even if the store is stuck.
            tx.once_visible(move || wake.notify_one());
            tx.announce_status(id);
            if is_first {
                let state = LifecycleState::InterruptRequested;
                tx.announce(
                    id,
                    TurnChange::Lifecycle(TurnLifecycle { turn, state, error: reason, at }),
                );
            }
            Ok(Some(turn))
        })?;
        Ok(stopped)
    }

    /// A turn of a thread, running or over.
    pub async fn turn(&self, id: ThreadId, turn: TurnId) -> Result<Option<Turn>> {
        let live = self.live(id).await?;
        let contents = live.read();
        Ok(contents.turn(turn).cloned())
    }

    /// Resolves when a turn has come to its end and all subscribers have that.
    pub async fn turn_ended(&self, id: ThreadId, turn: TurnId) {
        let mut roster = self.core.inner.threads.turns_ended.subscribe();
        let is_over = |core: &Core| {
            let world = core.look();
            world
                .threads
                .get(&id)
                .and_then(|state| state.active.as_ref())
                .is_none_or(|active| active.turn != turn)
        };
        while !is_over(&self.core) {
            if roster.changed().await.is_err() {
                return;
            }
        }
    }
}

fn message_from_team(from_team: &LeadMessages) -> Message {
    Message { text: from_team.text.clone(), ..Message::default() }
}

enum StartOutcome {
    New(Box<BegunTurn>),
    Steered(TurnId),
}

struct BegunTurn {
    runner: Runner,
    effects: Vec<Effect>,
}

/// The beginning of a text, on one line.
fn preview(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(PREVIEW) {
        None => line,
        Some((end, _)) => line[..end].to_owned(),
    }
}
