//! The task of a turn: waits for what happens next, steps the machine, performs the effects.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use rookery_agent::provider::{ModelEvent, ModelStream, PermissionAnswer};
use rookery_agent::providers::Loan;
use rookery_agent::tool::ToolOutput;
use rookery_agent::turn::{CallShape, Effect, Input, ToolDone, Turn as Machine, View};
use rookery_model::{ItemId, PlanStepStatus, Profile, Pruning, Timestamp, Turn};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::live::LiveThread;
use crate::clock;
use crate::core::Core;

/// When little time is left to save what can be scored.
const CHECKPOINT: Duration = Duration::from_secs(180);

/// A turn at work.
pub(super) struct Runner {
    pub(super) core: Core,
    pub(super) live: Arc<LiveThread>,
    pub(super) turn: Turn,
    pub(super) machine: Machine,
    wake: Arc<Notify>,
    pub(super) model: Option<ModelStream>,
    pub(super) tools: JoinSet<(ItemId, ToolDone)>,
    /// Told when the last tool call was asked for, or need not be.
    pub(super) last_call: Option<oneshot::Receiver<()>>,
    /// Permissions that an agent behind a provider waits for.
    pub(super) judged: JoinSet<PermissionAnswer>,
    /// How the model is to be asked, once that is allowed.
    pub(super) held: Option<CallShape>,
    /// Whether more calls are allowed than the assignment says, while that is asked.
    pub(super) limits: JoinSet<bool>,
    pub(super) compaction: JoinSet<Result<Option<(String, Pruning)>, String>>,
    /// Keys that whoever started the turn lends for it; a turn that is resumed has none.
    pub(super) keys: Vec<Loan>,
    /// Whether another daemon began the turn.
    pub(super) is_resumed: bool,
    /// How often hooks objected to the end of the turn.
    pub(super) stop_hooks: u32,
    /// Cancelled to stop the tools of now.
    pub(super) stop: CancellationToken,
    alarms: Vec<(Timestamp, Alarm)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alarm {
    Checkpoint,
    Reserve,
    Deadline,
}

impl Runner {
    pub(super) fn new(
        core: Core,
        live: Arc<LiveThread>,
        turn: Turn,
        machine: Machine,
        wake: Arc<Notify>,
    ) -> Self {
        let alarms = alarms(&turn);
        Runner {
            core,
            live,
            turn,
            machine,
            wake,
            model: None,
            tools: JoinSet::new(),
            last_call: None,
            judged: JoinSet::new(),
            held: None,
            limits: JoinSet::new(),
            compaction: JoinSet::new(),
            keys: Vec::new(),
            is_resumed: false,
            stop_hooks: 0,
            stop: CancellationToken::new(),
            alarms,
        }
    }

    /// Runs to the end of the turn. A fault of ours ends the turn as failed, and nothing else.
    pub(super) async fn run(mut self, effects: Vec<Effect>) {
        let outcome = AssertUnwindSafe(self.drive(effects)).catch_unwind().await;
        self.core.file_changes().turn_ends(self.live.id).await;
        if outcome.is_err() {
            tracing::error!(turn = %self.turn.id, "a turn panicked");
            self.abandon("internal error: the turn panicked").await;
        }
        self.core.inner.threads.turns_ended.send_modify(|count| *count += 1);
    }

    async fn drive(&mut self, mut effects: Vec<Effect>) {
        loop {
            effects = self.perform(effects).await;
            if !effects.is_empty() {
                continue;
            }
            if self.machine.is_done() {
                return;
            }
            let input = self.next().await;
            let view = if input.needs_view() { self.view() } else { View::default() };
            effects = self.machine.step(input, view);
        }
    }

    pub(super) fn view(&self) -> View {
        let world = self.core.look();
        let ledger = world.threads.get(&self.live.id).map(|state| &state.thread.ledger);
        let has_open_tasks = ledger.is_some_and(|ledger| {
            ledger.iter().any(|task| {
                matches!(task.status, PlanStepStatus::Pending | PlanStepStatus::InProgress)
            })
        });
        drop(world);
        View { tokens: self.core.threads().tokens(&self.live, &self.turn), has_open_tasks }
    }

    /// What happens next. What the user wants comes before what the model says.
    async fn next(&mut self) -> Input {
        loop {
            if let Some(input) = self.asked() {
                return input;
            }
            let alarm = self.alarms.last().copied();
            tokio::select! {
                biased;
                () = self.wake.notified() => {}
                event = next_event(&mut self.model) => {
                    return match event {
                        Some(event) => {
                            if matches!(event, ModelEvent::Done { .. } | ModelEvent::Failed(_)) {
                                self.model = None;
                            }
                            Input::Model(self.explained(event))
                        }
                        None => {
                            self.model = None;
                            Input::ModelGone
                        }
                    };
                }
                Some(done) = self.tools.join_next() => {
                    if let Some(input) = self.tool_ended(done) {
                        return input;
                    }
                }
                Some(judged) = self.judged.join_next() => self.permit(judged).await,
                Some(answer) = self.limits.join_next() => {
                    match (answer, self.held.take()) {
                        (Ok(true), Some(shape)) => self.begin_call(shape).await,
                        _ => return Input::Interrupt,
                    }
                }
                Some(compacted) = self.compaction.join_next() => {
                    return Input::Compacted(compacted.unwrap_or_else(|_| Err("internal error".into())));
                }
                () = until(alarm) => {
                    self.alarms.pop();
                    return match alarm.map(|(_, alarm)| alarm) {
                        Some(Alarm::Checkpoint) => Input::Checkpoint,
                        Some(Alarm::Reserve) => Input::Reserve,
                        Some(Alarm::Deadline) | None => Input::Deadline,
                    };
                }
            }
        }
    }

    /// What clients asked of the turn since it last looked.
    fn asked(&self) -> Option<Input> {
        let world = self.core.look();
        let active = world.threads.get(&self.live.id)?.active.as_ref()?;
        if active.is_interrupting {
            return Some(Input::Interrupt);
        }
        if active.steers.is_empty() {
            return None;
        }
        let steers = self
            .core
            .adjust(|world| Some(std::mem::take(&mut world.turn(self.live.id)?.steers)))?;
        (!steers.is_empty()).then_some(Input::Steer(steers))
    }

    fn tool_ended(
        &mut self,
        ended: Result<(ItemId, ToolDone), tokio::task::JoinError>,
    ) -> Option<Input> {
        match ended {
            Ok((item, done)) => Some(Input::ToolDone { item, done: Box::new(done) }),
            // Panics are caught where the item is known; what is left was aborted.
            Err(_) => None,
        }
    }

    async fn permit(&mut self, judged: Result<PermissionAnswer, tokio::task::JoinError>) {
        let (Ok(answer), Some(stream)) = (judged, &self.model) else { return };
        if let Some(answers) = &stream.answers {
            // An agent that is gone will be noticed by its stream.
            let _ = answers.send(answer).await;
        }
    }
}

/// The next event of the model; never if none is asked.
async fn next_event(model: &mut Option<ModelStream>) -> Option<ModelEvent> {
    let events: Option<&mut mpsc::Receiver<ModelEvent>> =
        model.as_mut().map(|stream| &mut stream.events);
    match events {
        Some(events) => events.recv().await,
        None => std::future::pending().await,
    }
}

async fn until(alarm: Option<(Timestamp, Alarm)>) {
    let Some((at, _)) = alarm else { return std::future::pending().await };
    let left = at.as_micros().saturating_sub(clock::wall().as_micros()).max(0);
    tokio::time::sleep(Duration::from_micros(left as u64)).await;
}

/// When a turn with a deadline has to be given which input, the earliest last.
fn alarms(turn: &Turn) -> Vec<(Timestamp, Alarm)> {
    let Some(deadline) = turn.settings.deadline else { return Vec::new() };
    let back = |before: Duration| {
        Timestamp::from_micros(deadline.as_micros().saturating_sub(before.as_micros() as i64))
    };
    let total = deadline.as_micros().saturating_sub(turn.started_at.as_micros()).max(0);
    let mut alarms = vec![(deadline, Alarm::Deadline)];
    if turn.settings.profile == Profile::Eval {
        alarms.push((back(reserve(Duration::from_micros(total as u64))), Alarm::Reserve));
        if turn.settings.needs_ledger {
            alarms.push((back(CHECKPOINT), Alarm::Checkpoint));
        }
    }
    alarms.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    alarms
}

/// The time kept for the answer: 30 s of two minutes or more, a quarter of less.
fn reserve(total: Duration) -> Duration {
    let whole = Duration::from_secs(30);
    if total >= Duration::from_secs(120) {
        return whole;
    }
    (total / 4).clamp(Duration::from_secs(1), whole)
}

/// A tool that panicked, as its model is informed of it.
pub(super) fn panicked() -> ToolDone {
    let output = ToolOutput::error("internal error: the tool panicked");
    ToolDone { output, ..ToolDone::default() }
}
