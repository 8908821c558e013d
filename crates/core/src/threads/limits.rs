//! How much the agent of a thread with an assignment may do before a person is asked: calls of its
//! model, and what they cost; and how fast its calls may follow one another.

use std::time::Duration;

use rookery_agent::turn::CallShape;
use rookery_model::{
    Answer, Asked, Asker, Assignment, Choice, ItemBody, Request, RequestId, RequestState, Settled,
    ThreadId, Timestamp,
};

use super::asks::BY_ASSIGNMENT;
use super::live::Contents;
use super::run::Runner;
use super::tools::Resumed;
use crate::clock;
use crate::core::Core;
use crate::requests::BY_MODE;
use crate::world::World;

/// The names under which a turn asks to go on.
const CALLS: &str = "limit-calls";
const COST: &str = "limit-cost";

/// A bound that the next call of the model would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    /// This number of calls followed one another.
    Calls(u64),
    /// This was spent, in millionths of a dollar.
    Cost(u64),
    /// No more than this may be spent, and what is spent is not known.
    Unpriced(u64),
}

impl Limit {
    fn call_id(self) -> &'static str {
        match self {
            Limit::Calls(_) => CALLS,
            Limit::Cost(_) | Limit::Unpriced(_) => COST,
        }
    }

    /// The action names the number, for dialects that show nothing else.
    fn asked(self) -> Asked {
        let dollars = |cost: u64| format!("${:.2}", cost as f64 / 1_000_000.0);
        let (title, summary, action) = match self {
            Limit::Calls(calls) => (
                "Go on?",
                format!("{calls} calls of the model were made without a person"),
                format!("ask the model again, after {calls} calls"),
            ),
            Limit::Cost(cost) => (
                "Spend more?",
                format!("the calls of the model cost {}", dollars(cost)),
                format!("ask the model again, after {}", dollars(cost)),
            ),
            Limit::Unpriced(most) => (
                "Spend without a limit?",
                format!(
                    "what this model costs is not known, so that the limit of {} cannot be kept",
                    dollars(most)
                ),
                format!("ask the model, whatever it costs: the limit is {}", dollars(most)),
            ),
        };
        Asked::Permission { title: title.to_owned(), summary, action, scope: None }
    }
}

impl Runner {
    /// Asks the model, once that is allowed: at its pace, and if it would exceed what is allowed without
    /// a person, after asking that person.
    pub(super) async fn call_within_limits(&mut self, shape: CallShape) {
        let threads = &self.core.inner.threads;
        let before = [CALLS, COST]
            .into_iter()
            .find_map(|call| threads.resumed.lock().remove(&(self.turn.id, call.to_owned())));
        let limit = if before.is_none() { self.limit() } else { None };
        let pause = self.pause();
        if before.is_none() && limit.is_none() && pause.is_zero() {
            return self.begin_call(shape).await;
        }
        let (core, until) = (self.core.detached(), tokio::time::Instant::now() + pause);
        let request = limit.map(|limit| self.limit_request(limit));
        self.limits.spawn(async move {
            let is_allowed = match (before, request) {
                (Some(Resumed { id, deadline, answer }), _) => {
                    is_yes(core.requests().await_answer(id, answer, deadline).await)
                }
                (None, Some(request)) => is_allowed(&core, request).await,
                (None, None) => true,
            };
            if is_allowed {
                tokio::time::sleep_until(until).await;
            }
            is_allowed
        });
        self.held = Some(shape);
    }

    /// How long the next call has to wait so that the calls of the thread keep their distance.
    fn pause(&self) -> Duration {
        let between = {
            let world = self.core.look();
            let state = world.threads.get(&self.live.id);
            let set = state.and_then(|state| state.thread.assignment.as_deref());
            set.and_then(|set| set.bounds.between_calls)
        };
        let Some(between) = between.map(Duration::from_millis) else { return Duration::ZERO };
        let contents = self.live.read();
        let last = contents.turns.iter().flat_map(|turn| &turn.calls).map(|call| call.at).max();
        let Some(last) = last else { return Duration::ZERO };
        // A clock that was set back holds it up no longer than it may be held up at all.
        let passed = clock::wall().as_micros().saturating_sub(last.as_micros()).max(0);
        between.saturating_sub(Duration::from_micros(passed as u64))
    }

    fn limit(&self) -> Option<Limit> {
        let world = self.core.look();
        let assignment = world.threads.get(&self.live.id)?.thread.assignment.as_deref()?;
        let contents = self.live.read();
        let calls = self.too_many_calls(&world, assignment, &contents);
        calls.or_else(|| self.too_much_cost(&world, assignment, &contents))
    }

    fn too_many_calls(
        &self,
        world: &World,
        set: &Assignment,
        contents: &Contents,
    ) -> Option<Limit> {
        let most = set.unasked.max_calls.filter(|_| set.unasked.is_on)?;
        let since = last_user_input(world, self.live.id, contents);
        let calls = contents.turns.iter().flat_map(|turn| &turn.calls);
        let count = calls.filter(|call| call.at > since).count() as u64;
        (count >= most).then_some(Limit::Calls(count))
    }

    /// What is spent is limited whether or not anything may be done without asking.
    fn too_much_cost(&self, world: &World, set: &Assignment, contents: &Contents) -> Option<Limit> {
        let most = set.unasked.max_cost?;
        let is_allowed = |request: &Request, settled: &Settled| {
            request.call_id == COST && matches!(settled.answer, Answer::Approved { .. })
        };
        let registry = &self.core.inner.agents.registry;
        let prices =
            |choice: &Choice| registry.prices(&choice.provider, &choice.model).or(set.prices);
        let choice = &self.turn.settings.choice;
        if prices(choice).is_none() {
            // What was allowed for one model says nothing about another.
            let is_same = |request: &Request| {
                let turn = request.turn().and_then(|turn| contents.turn(turn));
                turn.is_some_and(|turn| turn.settings.choice == *choice)
            };
            let allowed = last_answer(world, self.live.id, |request, settled| {
                is_allowed(request, settled) && is_same(request)
            });
            return (allowed == Timestamp::default()).then_some(Limit::Unpriced(most));
        }
        let since = last_answer(world, self.live.id, is_allowed);
        let costs = contents.turns.iter().filter_map(|turn| {
            let prices = prices(&turn.settings.choice)?;
            let calls = turn.calls.iter().filter(|call| call.at > since);
            Some(calls.map(|call| prices.cost(&call.usage)).fold(0, u64::saturating_add))
        });
        let cost = costs.fold(0, u64::saturating_add);
        (cost >= most).then_some(Limit::Cost(cost))
    }

    fn limit_request(&self, limit: Limit) -> Request {
        Request {
            id: RequestId::new(uuid::Uuid::now_v7().as_u128()),
            asker: Asker::Turn { thread: self.live.id, turn: self.turn.id },
            call_id: limit.call_id().to_owned(),
            tool: String::new(),
            asked: limit.asked(),
            asked_at: clock::wall(),
            deadline: self.core.requests().approval_deadline(),
            is_deferred: false,
            given: Vec::new(),
            state: RequestState::Pending,
        }
    }
}

async fn is_allowed(core: &Core, request: Request) -> bool {
    let (id, deadline) = (request.id, request.deadline);
    match core.requests().ask(request, None).await {
        Ok(answer) => is_yes(core.requests().await_answer(id, answer, deadline).await),
        Err(_) => false,
    }
}

fn is_yes(answer: rookery_model::Result<Answer>) -> bool {
    matches!(answer, Ok(Answer::Approved { .. }))
}

/// When a person last said something in a thread.
fn last_user_input(world: &World, thread: ThreadId, contents: &Contents) -> Timestamp {
    let answered = last_answer(world, thread, |_, settled| {
        let is_answer = matches!(
            settled.answer,
            Answer::Approved { .. } | Answer::Denied { .. } | Answer::Given(_)
        );
        is_answer && settled.by != BY_MODE && settled.by != BY_ASSIGNMENT
    });
    let said = contents.items.iter().rev();
    let said = said.map(|placed| &placed.item);
    let said = said.filter(|item| matches!(item.body, ItemBody::User { .. })).map(|item| item.at);
    said.take(1).fold(answered, Timestamp::max)
}

/// When a request of a thread that fits was last settled; at the beginning if none was.
fn last_answer(
    world: &World,
    thread: ThreadId,
    fits: impl Fn(&Request, &Settled) -> bool,
) -> Timestamp {
    let of_thread = world.settled.values().filter(|request| request.thread() == Some(thread));
    let answers = of_thread.filter_map(|request| match &request.state {
        RequestState::Settled(settled) if fits(request, settled) => Some(settled.at),
        _ => None,
    });
    answers.max().unwrap_or_default()
}
