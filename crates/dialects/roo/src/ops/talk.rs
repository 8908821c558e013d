//! Answers: messages and buttons. What they mean depends on what the task waits for, and that is told by
//! the world, so that the first answer counts in whichever dialect it is given.

use rookery_model::{Answer, Asked, ErrorKind, Request, RequestId, ThreadId};

use super::{Outcome, tasks};
use crate::assign;
use crate::context::{BY, Cx};
use crate::errors::{Code, Failure};
use crate::project::Boundary;
use crate::wire;

/// How often a message is offered to a task whose turn begins or ends at the same moment.
const ATTEMPTS: usize = 8;

/// What a task waits for.
enum Waits {
    /// Yes or no.
    Approval(Box<Request>),
    /// Yes or no to going beyond a limit.
    Limit(Box<Request>),
    /// Answers.
    Questions(Box<Request>),
    /// Nothing: it works.
    Works,
    /// Nothing: its last turn is over.
    Rests(Option<Boundary>),
}

async fn waits(cx: &Cx, id: ThreadId) -> Result<Waits, Failure> {
    let mut requests = cx.core.requests().list();
    requests.retain(|request| request.thread() == Some(id));
    requests.sort_by_key(|request| (request.asked_at, request.id));
    for request in requests {
        let request = Box::new(request);
        match &request.asked {
            Asked::Approval { .. } | Asked::PlanExit(_) => return Ok(Waits::Approval(request)),
            Asked::Permission { .. } => return Ok(Waits::Limit(request)),
            Asked::Input { .. } => return Ok(Waits::Questions(request)),
            Asked::External(_) | Asked::Dialog { .. } => {}
        }
    }
    let seen = cx.core.threads().get(id).ok_or_else(|| Failure::no_task(&id.to_string()))?;
    if seen.status.active_turn.is_some() {
        return Ok(Waits::Works);
    }
    Ok(Waits::Rests(cx.hub.boundary(id).await?))
}

/// The task that is spoken to.
fn target(cx: &Cx, said: &wire::SendMessage) -> Result<ThreadId, Failure> {
    let id = cx.task_or_current(said.task.as_deref())?.ok_or_else(Failure::no_current)?;
    cx.open(id).map(|_| id)
}

fn no_ask() -> Failure {
    Failure::new(Code::NoPendingAsk, "the ask was answered before, or elsewhere a moment ago")
}

/// Settles a request; a late answer is none.
async fn settle(cx: &Cx, request: RequestId, answer: Answer) -> Result<(), Failure> {
    cx.hub.answers(cx.route, request);
    match cx.core.requests().resolve(request, answer, BY).await {
        Ok(resolved) if resolved.is_now() => Ok(()),
        Ok(_) => {
            cx.hub.release(request);
            Err(no_ask())
        }
        Err(error) => {
            cx.hub.release(request);
            Err(error.into())
        }
    }
}

/// Settles the request that a button answers: the one that was shown, and only if it is meant.
async fn press(cx: &Cx, id: ThreadId, answer: Answer) -> Result<(), Failure> {
    let request = cx.hub.press(cx.route, id).await?.ok_or_else(no_ask)?;
    settle(cx, request, answer).await
}

pub(crate) async fn send(cx: Cx, said: wire::SendMessage) -> Result<Outcome, Failure> {
    let id = target(&cx, &said)?;
    if said.text.is_empty() && said.images.is_empty() {
        return Outcome::done();
    }
    match waits(&cx, id).await? {
        // What comes with images is said as a message of its own, since a denial has words only.
        Waits::Approval(request) if !said.images.is_empty() => {
            settle(&cx, request.id, Answer::Denied { message: None }).await?;
            offer(&cx, id, said.text, said.images).await?;
        }
        Waits::Approval(request) => {
            settle(&cx, request.id, Answer::Denied { message: Some(said.text) }).await?;
        }
        Waits::Questions(request) => {
            answer(&cx, &request, &said.text).await?;
            if !said.images.is_empty() {
                offer(&cx, id, String::new(), said.images).await?;
            }
        }
        Waits::Limit(request) => {
            offer(&cx, id, said.text, said.images).await?;
            settle(&cx, request.id, Answer::Approved { remember: false }).await?;
        }
        Waits::Works | Waits::Rests(_) => offer(&cx, id, said.text, said.images).await?,
    }
    Outcome::done()
}

/// Answers the question that is asked now: the first that has no answer.
async fn answer(cx: &Cx, request: &Request, text: &str) -> Result<(), Failure> {
    let Asked::Input { questions } = &request.asked else { return Ok(()) };
    let is_open = |id: &str| !request.given.iter().any(|given| given.question == id);
    let question = questions.iter().find(|question| is_open(&question.id)).ok_or_else(no_ask)?;
    cx.hub.answers(cx.route, request.id);
    let answered = cx.core.requests().answer_part(request.id, &question.id, text, BY).await;
    match answered {
        Ok(0) => Ok(()),
        Ok(_) => {
            cx.hub.release(request.id);
            Ok(())
        }
        Err(error) => {
            cx.hub.release(request.id);
            Err(if error.kind() == ErrorKind::Conflict { no_ask() } else { error.into() })
        }
    }
}

/// Gives a task a message: now if it rests, else when it next takes what a user says.
async fn offer(cx: &Cx, id: ThreadId, text: String, images: Vec<String>) -> Result<(), Failure> {
    let thread = cx.open(id)?;
    let message = assign::message(cx, &thread.cwd, text, images).await?;
    let mut last = None;
    for _ in 0..ATTEMPTS {
        let is_running =
            cx.core.threads().get(id).is_some_and(|seen| seen.status.active_turn.is_some());
        let given = match is_running {
            true => cx.core.threads().enqueue(id, message.clone()).await.map(drop),
            false => {
                let new = rookery_core::NewTurn {
                    message: message.clone(),
                    must_be_new: true,
                    ..rookery_core::NewTurn::default()
                };
                cx.core.threads().start_turn(id, new).await.map(drop)
            }
        };
        match given {
            Ok(()) => return Ok(()),
            // A turn began or ended in between.
            Err(error) if error.kind() == ErrorKind::Conflict => last = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    let why = last.map(|error| error.to_string()).unwrap_or_default();
    Err(Failure::new(Code::InternalError, format!("the task does not take the message: {why}")))
}

pub(crate) async fn press_primary(cx: Cx, data: wire::Press) -> Result<Outcome, Failure> {
    let said = data.0;
    let id = target(&cx, &said)?;
    let has_words = !said.text.is_empty() || !said.images.is_empty();
    match waits(&cx, id).await? {
        Waits::Approval(_) | Waits::Limit(_) => {
            press(&cx, id, Answer::Approved { remember: false }).await?;
            if has_words {
                offer(&cx, id, said.text, said.images).await?;
            }
        }
        Waits::Rests(Some(
            Boundary::Stopped | Boundary::ProviderFailed | Boundary::LimitReached,
        )) if !has_words => tasks::go_on(&cx, id).await?,
        Waits::Rests(Some(
            Boundary::Stopped | Boundary::ProviderFailed | Boundary::LimitReached,
        )) => offer(&cx, id, said.text, said.images).await?,
        Waits::Questions(_)
        | Waits::Works
        | Waits::Rests(None | Some(Boundary::Completed | Boundary::CompletedAgain)) => {}
    }
    Outcome::done()
}

pub(crate) async fn press_secondary(cx: Cx, data: wire::Press) -> Result<Outcome, Failure> {
    let said = data.0;
    let id = target(&cx, &said)?;
    match waits(&cx, id).await? {
        Waits::Approval(_) | Waits::Limit(_) if !said.images.is_empty() => {
            press(&cx, id, Answer::Denied { message: None }).await?;
            offer(&cx, id, said.text, said.images).await?;
        }
        Waits::Approval(_) | Waits::Limit(_) => {
            let message = Some(said.text).filter(|text| !text.is_empty());
            press(&cx, id, Answer::Denied { message }).await?;
        }
        Waits::Works => tasks::stop(&cx, id).await?,
        Waits::Rests(Some(
            Boundary::Stopped | Boundary::ProviderFailed | Boundary::LimitReached,
        )) => tasks::put_away(&cx, id).await?,
        Waits::Questions(_)
        | Waits::Rests(None | Some(Boundary::Completed | Boundary::CompletedAgain)) => {}
    }
    Outcome::done()
}

/// Takes a message back that waits, in the current task or in one that it works for.
pub(crate) async fn unqueue(cx: Cx, data: wire::OneText) -> Result<Outcome, Failure> {
    let stack = cx.hub.stack(cx.route);
    if stack.is_empty() {
        return Err(Failure::no_current());
    }
    let Ok(message) = uuid::Uuid::parse_str(&data.0) else { return Outcome::done() };
    for id in stack.into_iter().rev() {
        if cx.core.threads().unqueue(id, message.as_u128()).await? {
            break;
        }
    }
    Outcome::done()
}
