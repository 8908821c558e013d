//! How much the agent of a thread with an assignment may do before a person is asked: calls of its
//! model, and what they cost.

use rookery_agent::turn::CallShape;
use rookery_model::{
    Answer, Asked, Asker, ItemBody, Request, RequestId, RequestState, Settled, ThreadId, Timestamp,
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
    /// So many calls followed one another.
    Calls(u64),
    /// So much was spent, in millionths of a dollar.
    Cost(u64),
}

impl Limit {
    fn call_id(self) -> &'static str {
        match self {
            Limit::Calls(_) => CALLS,
            Limit::Cost(_) => COST,
        }
    }

    fn asked(self) -> Asked {
        let (title, summary) = match self {
            Limit::Calls(calls) => (
                "Go on?".to_owned(),
                format!("{calls} calls of the model were made without a person"),
            ),
            Limit::Cost(cost) => {
                let cost = cost as f64 / 1_000_000.0;
                ("Spend more?".to_owned(), format!("the calls of the model cost ${cost:.2}"))
            }
        };
        let action = "ask the model again".to_owned();
        Asked::Permission { title, summary, action, scope: None }
    }
}

impl Runner {
    /// Asks the model; if that would exceed what is allowed without a person, asks that person first.
    pub(super) async fn call_within_limits(&mut self, shape: CallShape) {
        let threads = &self.core.inner.threads;
        let before = [CALLS, COST]
            .into_iter()
            .find_map(|call| threads.resumed.lock().remove(&(self.turn.id, call.to_owned())));
        let core = self.core.detached();
        if let Some(Resumed { id, deadline, answer }) = before {
            self.limits.spawn(async move {
                is_yes(core.requests().await_answer(id, answer, deadline).await)
            });
        } else if let Some(limit) = self.limit() {
            let request = self.limit_request(limit);
            self.limits.spawn(async move { is_allowed(&core, request).await });
        } else {
            return self.begin_call(shape).await;
        }
        self.held = Some(shape);
    }

    fn limit(&self) -> Option<Limit> {
        let world = self.core.look();
        let assignment = world.threads.get(&self.live.id)?.thread.assignment.as_deref()?;
        let unasked = Some(&assignment.unasked).filter(|unasked| unasked.is_on)?;
        let contents = self.live.contents.lock();
        let calls = |since: Timestamp| {
            let calls = contents.turns.iter().flat_map(|turn| &turn.calls);
            calls.filter(move |call| call.at > since)
        };
        if let Some(most) = unasked.max_calls {
            let count = calls(last_heard(&world, self.live.id, &contents)).count() as u64;
            if count >= most {
                return Some(Limit::Calls(count));
            }
        }
        let (most, prices) = (unasked.max_cost?, assignment.prices?);
        let since = last_answer(&world, self.live.id, |request, settled| {
            request.call_id == COST && matches!(settled.answer, Answer::Approved { .. })
        });
        let costs = calls(since).map(|call| prices.cost(&call.usage));
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
fn last_heard(world: &World, thread: ThreadId, contents: &Contents) -> Timestamp {
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
