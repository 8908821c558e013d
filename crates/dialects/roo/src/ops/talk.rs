//! Answers: messages and buttons. What they mean depends on what the task waits for, and that is told by
//! the world, so that the first answer counts in whichever dialect it is given.

use rookery_agent::turn::Message;
use rookery_model::{Answer, Asked, ErrorKind, Request, ThreadId};

use super::{Outcome, tasks};
use crate::assign;
use crate::context::{BY, Cx};
use crate::errors::{Code, Failure};
use crate::hub::Answered;
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

/// Settles a request; a late answer is none.
async fn settle(cx: &Cx, request: &Request, answer: Answer) -> Result<(), Failure> {
    let resolved = cx.core.requests().resolve(request.id, answer, BY).await?;
    match resolved.is_now() {
        true => Ok(()),
        false => Err(Failure::new(Code::NoPendingAsk, "it was answered before")),
    }
}

pub(crate) async fn send(cx: Cx, said: wire::SendMessage) -> Result<Outcome, Failure> {
    let id = target(&cx, &said)?;
    if said.text.is_empty() && said.images.is_empty() {
        return Outcome::done();
    }
    match waits(&cx, id).await? {
        Waits::Approval(request) => {
            let message = Some(said.text.clone());
            settle(&cx, &request, Answer::Denied { message }).await?;
            if !said.images.is_empty() {
                offer(&cx, id, String::new(), said.images).await?;
            }
        }
        Waits::Questions(request) => answer(&cx, id, &request, &said.text).await?,
        Waits::Limit(request) => {
            offer(&cx, id, said.text, said.images).await?;
            settle(&cx, &request, Answer::Approved { remember: false }).await?;
        }
        Waits::Works | Waits::Rests(_) => offer(&cx, id, said.text, said.images).await?,
    }
    Outcome::done()
}

async fn answer(cx: &Cx, id: ThreadId, request: &Request, text: &str) -> Result<(), Failure> {
    let Asked::Input { questions } = &request.asked else { return Ok(()) };
    match cx.hub.answer(id, request.id, questions, text).await {
        Answered::Partly => Ok(()),
        Answered::Wholly(answers) => settle(cx, request, Answer::Given(answers)).await,
        Answered::NoQuestion => Err(Failure::new(Code::NoPendingAsk, "it was answered before")),
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
        Waits::Approval(request) | Waits::Limit(request) => {
            settle(&cx, &request, Answer::Approved { remember: false }).await?;
            if has_words {
                offer(&cx, id, said.text, said.images).await?;
            }
        }
        Waits::Rests(Some(
            Boundary::Stopped | Boundary::ProviderFailed | Boundary::LimitReached,
        )) => {
            let message = has_words.then(|| Message {
                text: said.text,
                images: said.images,
                ..Message::default()
            });
            tasks::go_on(&cx, id, message).await?;
        }
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
        Waits::Approval(request) | Waits::Limit(request) => {
            let message = Some(said.text).filter(|text| !text.is_empty());
            settle(&cx, &request, Answer::Denied { message }).await?;
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

pub(crate) async fn unqueue(cx: Cx, data: wire::OneText) -> Result<Outcome, Failure> {
    let id = cx.hub.current(cx.route).ok_or_else(Failure::no_current)?;
    if let Ok(message) = uuid::Uuid::parse_str(&data.0) {
        cx.core.threads().unqueue(id, message.as_u128()).await?;
    }
    Outcome::done()
}
