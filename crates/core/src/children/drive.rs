//! A child at work: it waits for its place, runs its turn, is stopped in time, and says what came of it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use rookery_agent::providers::Loan;
use rookery_agent::turn::Message;
use rookery_model::{
    ChildExit, Error, ExternalTool, Lane, ParentTurn, Profile, Result, ThreadId, Timestamp, Trace,
    TraceId, TraceStatus, Turn, TurnErrorKind, TurnId, TurnStatus,
};
use rookery_scripts::structured::Schema;
use serde_json::Value;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::plan::{Parent, Plan};
use super::room::{Active, Membership};
use super::{Child, ChildDone, NewChild};
use crate::clock;
use crate::core::{Core, blocking};
use crate::rooms::Children;
use crate::runners::RunnerUse;
use crate::threads::{NewThread, NewTurn, StartedTurn};

/// How often a child may mend an answer that does not fit its schema.
const MENDINGS: u32 = 1;

/// What went wrong: the category, and words that are safe to be shown. Those of providers are not.
#[derive(Clone, Copy)]
pub(super) struct ChildFailure {
    pub(super) category: &'static str,
    reason: &'static str,
}

impl ChildFailure {
    pub(super) fn text(self) -> String {
        format!("{}: {}", self.category, self.reason)
    }
}

const fn failure(category: &'static str, reason: &'static str) -> ChildFailure {
    ChildFailure { category, reason }
}

pub(super) const INTERNAL: ChildFailure = failure("internal_error", "the child agent is gone");
pub(super) const RESTARTED: ChildFailure =
    failure("runtime_restart", "the daemon ended while the child agent worked");
const TIMEOUT: ChildFailure = failure("timeout", "the child agent worked as long as it may");
pub(super) const CANCELLED: ChildFailure = failure("cancelled", "the child agent was stopped");
const MAX_TURNS: ChildFailure =
    failure("max_turns", "the child agent called its model as often as it may");
const PROVIDER: ChildFailure = failure("provider_error", "the provider of the model failed");
const TOOLS: ChildFailure = failure("tool_errors", "too many tools of the child agent failed");
const SHUTDOWN: ChildFailure = failure("shutdown", "the daemon stops");
const OTHER: ChildFailure = failure("failed", "the child agent failed");
const NOT_STARTED: ChildFailure = failure("not_started", "the child agent could not be started");
const MISFIT: ChildFailure = failure("schema_mismatch", "the answer does not fit its schema");

/// A child on its way.
pub(super) struct Driver {
    pub(super) core: Core,
    pub(super) child: ThreadId,
    pub(super) member: Membership,
    pub(super) agent: String,
    pub(super) model: String,
    pub(super) lane: Option<Lane>,
    pub(super) schema: Option<Schema>,
    pub(super) timeout: Duration,
    pub(super) max_chars: usize,
    pub(super) max_calls: u32,
    pub(super) profile: Profile,
    pub(super) client: Option<u64>,
    pub(super) keys: Vec<Loan>,
    pub(super) turn: watch::Sender<Option<TurnId>>,
}

impl Children {
    /// Starts a child; it may be queued behind others. Dropping the handle stops it.
    ///
    /// # Errors
    /// If a part of the request is wrong or too many wait; nothing has happened then.
    pub async fn start(&self, new: NewChild) -> Result<Child> {
        let id = ThreadId::new(uuid::Uuid::now_v7().as_u128());
        self.start_as(id, new).await
    }

    /// The same with an id that was drawn before.
    pub(crate) fn start_as(&self, id: ThreadId, new: NewChild) -> BoxFuture<'_, Result<Child>> {
        Box::pin(self.start_as_inner(id, new))
    }

    async fn start_as_inner(&self, id: ThreadId, new: NewChild) -> Result<Child> {
        if self.core.inner.agents.is_draining() {
            return Err(Error::failed("the server is shutting down and takes no new agents"));
        }
        let mut plan = self.plan(&new).await?;
        let key = plan.parent.as_ref().map(Parent::key);
        let trace = key.map(|_| TraceId::new(uuid::Uuid::now_v7().as_u128()));
        plan.child.trace = trace;
        let live = match key {
            Some(key) => Some(self.core.threads().live(key.thread).await?),
            None => None,
        };
        let active = Arc::new(Active {
            parent: key.filter(|_| !plan.child.outlives_turn),
            trace: trace.zip(live),
            stop: CancellationToken::new(),
            waits: watch::Sender::new(false),
        });
        self.core.inner.children.enter(id, Arc::clone(&active))?;
        let member = Membership { core: self.core.detached(), child: id, active };
        let started = self.core.threads().start(new_thread(id, &new, &plan)).await?;
        let model = started.thread.choice.model;
        if let (Some(trace), Some(parent)) = (trace, key) {
            let queued = queued(trace, parent, id, &new, &plan, &model);
            if let Err(error) = self.create_trace(queued, plan.child.outlives_turn).await {
                self.core.threads().delete(id).await?;
                return Err(error);
            }
        }
        if let Some(warning) = plan.warning {
            self.core.log().warn(key.map(|key| key.thread), warning);
        }
        let (turn, watched) = watch::channel(None);
        let driver = Driver {
            core: self.core.detached(),
            child: id,
            agent: plan.child.agent,
            model,
            lane: new.lane,
            schema: plan.schema,
            timeout: plan.timeout,
            max_chars: plan.max_chars,
            max_calls: plan.child.max_calls,
            profile: plan.parent.as_ref().map_or_else(|| self.profile(), Parent::profile),
            client: new.client,
            keys: new.keys,
            turn,
            member,
        };
        Ok(self.launch(driver, watched, |driver| driver.run(new.prompt)))
    }

    pub(super) fn profile(&self) -> Profile {
        self.core.inner.agents.profile()
    }

    pub(super) fn launch<Fut>(
        &self,
        driver: Driver,
        turn: watch::Receiver<Option<TurnId>>,
        run: impl FnOnce(Driver) -> Fut,
    ) -> Child
    where
        Fut: Future<Output = ChildDone> + Send + 'static,
    {
        let (thread, agent) = (driver.child, driver.agent.clone());
        let active = Arc::clone(&driver.member.active);
        let (send, done) = oneshot::channel();
        let work = run(driver);
        self.core.inner.runtime.spawn(async move {
            // Whoever waited may be gone.
            let _ = send.send(work.await);
        });
        let stop = active.stop.clone();
        let guard = stop.clone().drop_guard();
        let trace = active.trace.as_ref().map(|(trace, _)| *trace);
        Child { thread, trace, agent, turn, done, stop, guard }
    }
}

fn new_thread(id: ThreadId, new: &NewChild, plan: &Plan) -> NewThread {
    let of = plan.around.as_ref();
    // What a client runs is of no kind that we know, and a client that waits for no turn runs nothing.
    let is_open = plan.parent.as_ref().is_some_and(Parent::is_at_work)
        && !plan.child.read_only
        && plan.child.lane.is_none();
    let is_listed = |tool: &&ExternalTool| {
        plan.child.tools.as_ref().is_none_or(|list| list.contains(&tool.name))
    };
    let external = of.into_iter().flat_map(|thread| &thread.external_tools);
    NewThread {
        id: Some(id),
        cwd: plan.cwd.clone(),
        root: Some(plan.root.clone()),
        place: of.and_then(|thread| thread.place.clone()).filter(|_| new.tree.is_none()),
        choice: plan.choice.clone(),
        ephemeral: of.is_some_and(|thread| thread.ephemeral),
        name: Some(new.description.trim().to_owned()),
        developer_instructions: of.and_then(|thread| thread.developer_instructions.clone()),
        external_tools: external.filter(|_| is_open).filter(is_listed).cloned().collect(),
        mode: plan.mode(),
        assignment: plan.assignment(),
        child: Some(plan.child.clone()),
        // Its tools run where those of its parent do, and never here by mistake.
        runner: match of {
            Some(thread) if new.tree.is_none() => RunnerUse::Like(thread.id),
            _ => RunnerUse::None,
        },
        keys: new.keys.clone(),
        ..NewThread::default()
    }
}

fn queued(
    id: TraceId,
    parent: ParentTurn,
    child: ThreadId,
    new: &NewChild,
    plan: &Plan,
    model: &str,
) -> Trace {
    let now: Timestamp = clock::wall();
    Trace {
        id,
        parent,
        child,
        child_turn: None,
        title: new.description.trim().to_owned(),
        agent: plan.child.agent.clone(),
        model: Some(model.to_owned()),
        lane: new.lane,
        status: TraceStatus::Queued,
        created_at: now,
        started_at: None,
        ended_at: None,
        usage: None,
        activity: None,
        exit: None,
        error: None,
        entries: Vec::new(),
    }
}

/// How long a child may still work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allowance(pub(super) Duration);

impl Allowance {
    /// Time passed; what a child waits for a person does not count.
    pub(super) fn spend(&mut self, time: Duration, is_waiting: bool) {
        if !is_waiting {
            self.0 = self.0.saturating_sub(time);
        }
    }

    pub(super) fn is_spent(self) -> bool {
        self.0.is_zero()
    }
}

/// How a child ended, and why if it did not answer.
pub(super) type Outcome = (ChildExit, Option<ChildFailure>);

impl Driver {
    async fn run(self, prompt: String) -> ChildDone {
        let stop = self.member.active.stop.clone();
        let place = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            place = self.core.inner.children.place(self.lane) => place,
        };
        let Some(_place) = place else {
            let done = self.finish(None, (ChildExit::Cancelled, Some(CANCELLED)), None).await;
            // Nothing was said in it.
            if let Err(error) = self.core.threads().delete(self.child).await {
                tracing::warn!(%error, "the thread of a child that never began is left");
            }
            return done;
        };
        let mut left = Allowance(self.timeout);
        let mut message = prompt;
        for mending in 0.. {
            let turn = match self.begin(message).await {
                Ok(turn) => turn,
                Err(error) => {
                    tracing::debug!(%error, "a child agent could not be started");
                    return self.finish(None, (ChildExit::Failed, Some(NOT_STARTED)), None).await;
                }
            };
            self.turn.send_replace(Some(turn));
            let outcome = self.watch(turn, &mut left).await;
            let Some(schema) = self.schema.clone().filter(|_| outcome.1.is_none()) else {
                return self.finish(Some(turn), outcome, None).await;
            };
            let said = self.last_message(turn).await;
            let value = blocking(move || schema.value(&said)).await;
            match value.unwrap_or_else(|error| Err(error.to_string())) {
                Ok(value) => return self.finish(Some(turn), outcome, Some(value)).await,
                Err(reason) if mending < MENDINGS && !stop.is_cancelled() => {
                    message = format!("{reason}. Answer again with the JSON value alone.");
                }
                Err(_) => {
                    return self.finish(Some(turn), (ChildExit::Failed, Some(MISFIT)), None).await;
                }
            }
        }
        self.finish(None, (ChildExit::Failed, Some(MISFIT)), None).await
    }

    async fn begin(&self, text: String) -> Result<TurnId> {
        let first = NewTurn {
            message: Message { text, ..Message::default() },
            profile: Some(self.profile),
            must_be_new: true,
            is_given: true,
            client: self.client,
            keys: self.keys.clone(),
            ..NewTurn::default()
        };
        match self.core.threads().start_turn(self.child, first).await? {
            StartedTurn::New(turn) => Ok(turn.id),
            StartedTurn::Steered(_) => Err(Error::conflict("a turn is running")),
        }
    }

    /// Waits for the end of a turn, and stops it when it was cancelled or has worked too long. What it
    /// waits for a person does not count.
    pub(super) async fn watch(&self, turn: TurnId, left: &mut Allowance) -> Outcome {
        let (threads, active) = (self.core.threads(), &self.member.active);
        let mut waits = active.waits.subscribe();
        let mut stopped: Option<Outcome> = None;
        let ended = threads.turn_ended(self.child, turn);
        tokio::pin!(ended);
        loop {
            let is_waiting = *waits.borrow_and_update();
            let since = Instant::now();
            let pulse = self.core.inner.children.pulse.lock().min(left.0);
            tokio::select! {
                () = &mut ended => break,
                changed = waits.changed() => {
                    left.spend(since.elapsed(), is_waiting);
                    if changed.is_err() {
                        ended.await;
                        break;
                    }
                }
                () = active.stop.cancelled(), if stopped.is_none() => {
                    stopped = Some((ChildExit::Cancelled, Some(CANCELLED)));
                    self.interrupt(turn);
                }
                () = tokio::time::sleep(pulse), if !is_waiting && stopped.is_none() => {
                    left.spend(since.elapsed(), is_waiting);
                    if left.is_spent() {
                        stopped = Some((ChildExit::Timeout, Some(TIMEOUT)));
                        self.interrupt(turn);
                    } else {
                        self.core.children().pulse(self.child);
                    }
                }
            }
        }
        let turn = threads.turn(self.child, turn).await.ok().flatten();
        turn.map_or((ChildExit::Failed, Some(INTERNAL)), |turn| {
            outcome(&turn, self.max_calls, stopped)
        })
    }

    fn interrupt(&self, turn: TurnId) {
        if let Err(error) = self.core.threads().interrupt(self.child, Some(turn)) {
            tracing::debug!(%error, "a child agent that is to stop is gone");
        }
    }

    async fn last_message(&self, turn: TurnId) -> String {
        let said = self.core.threads().result(self.child, turn).await;
        said.ok().flatten().unwrap_or_default()
    }

    /// Ends the trace, and says what came of the child.
    pub(super) async fn finish(
        &self,
        turn: Option<TurnId>,
        (exit, failure): Outcome,
        structured: Option<Value>,
    ) -> ChildDone {
        let turn = turn.or(*self.turn.borrow());
        let message = match turn {
            Some(turn) => shortened(self.last_message(turn).await, self.max_chars),
            None => String::new(),
        };
        let usage = self.core.threads().get(self.child).map(|seen| seen.thread.usage);
        let usage = usage.filter(|usage| !usage.is_zero());
        let error = failure.map(|failure| failure.category.to_owned());
        self.core.children().end_trace(self.child, exit, error, usage).await;
        ChildDone {
            thread: self.child,
            turn,
            agent_type: self.agent.clone(),
            model: Some(self.model.clone()),
            message,
            structured,
            usage,
            exit,
            error: failure.map(ChildFailure::text),
        }
    }
}

/// How a turn that has ended makes its child end.
pub(super) fn outcome(turn: &Turn, max_calls: u32, stopped: Option<Outcome>) -> Outcome {
    let failed = |failure| (ChildExit::Failed, Some(failure));
    match (turn.status, turn.error.as_ref().map(|error| error.kind)) {
        (TurnStatus::Completed, _) => (ChildExit::Completed, None),
        (TurnStatus::Interrupted | TurnStatus::InProgress, Some(TurnErrorKind::Shutdown)) => {
            (ChildExit::Cancelled, Some(SHUTDOWN))
        }
        // Someone else may have interrupted it.
        (TurnStatus::Interrupted | TurnStatus::InProgress, _) => {
            stopped.unwrap_or((ChildExit::Cancelled, Some(CANCELLED)))
        }
        (TurnStatus::Failed, Some(TurnErrorKind::ReliabilityLimit)) => {
            let is_spent = turn.calls.len() >= max_calls as usize;
            if is_spent { (ChildExit::MaxTurns, Some(MAX_TURNS)) } else { failed(TOOLS) }
        }
        (TurnStatus::Failed, Some(TurnErrorKind::Provider)) => failed(PROVIDER),
        (TurnStatus::Failed, Some(TurnErrorKind::DeadlineTimeout)) => {
            (ChildExit::Timeout, Some(TIMEOUT))
        }
        (TurnStatus::Failed, Some(TurnErrorKind::RuntimeRestart)) => failed(RESTARTED),
        (TurnStatus::Failed, Some(TurnErrorKind::Shutdown | TurnErrorKind::Other) | None) => {
            failed(OTHER)
        }
    }
}

/// The beginning of a text, with a word on how much was left out.
fn shortened(text: String, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text,
        Some((end, _)) => {
            let left = text[end..].chars().count();
            format!("{}\n[{left} more characters were left out]", &text[..end])
        }
    }
}
