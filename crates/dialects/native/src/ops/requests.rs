//! What agents wait for: listed, and answered.

use rookery_core::{Core, Resolution};
use rookery_model as model;

use crate::{
    Cx, Error,
    wire::{AnswerRequest, Answered, DeferRequest, Deferred, RequestList, Requests},
};

pub(crate) async fn list(cx: Cx, params: RequestList) -> Result<Requests, Error> {
    let requests = cx.core.requests().list();
    let wanted = requests.iter().filter(|request| {
        params.thread.as_ref().is_none_or(|thread| crate::wire::thread_of(request) == *thread)
    });
    Ok(Requests { requests: wanted.map(Into::into).collect() })
}

pub(crate) async fn answer(cx: Cx, params: AnswerRequest) -> Result<Answered, Error> {
    let id = find(&cx.core, &params.id)?;
    let answer = match (params.approved, params.answers) {
        (Some(true), None) => model::Answer::Approved { remember: params.remember },
        (Some(false), None) => model::Answer::Denied { message: params.message },
        (None, Some(answers)) => model::Answer::Given(answers.to_string()),
        (Some(_), Some(_)) | (None, None) => {
            return Err(Error::invalid("approved", "give either approved or answers"));
        }
    };
    let answer = Resolution::from(answer).as_shown(params.shown);
    let resolved = cx.core.requests().resolve(id, answer, cx.by()).await?;
    Ok(Answered { id: id.to_string(), settled: resolved.is_now() })
}

pub(crate) async fn defer(cx: Cx, params: DeferRequest) -> Result<Deferred, Error> {
    let id = find(&cx.core, &params.id)?;
    let later = Resolution::later().or_revise();
    cx.core.requests().resolve(id, later, cx.by()).await?.or_error(id)?;
    Ok(Deferred { id: id.to_string() })
}

/// A request by its id, or by the end of it. One that does not wait any more is found by its whole id
/// only.
fn find(core: &Core, text: &str) -> Result<model::RequestId, Error> {
    let text = text.trim().to_ascii_uppercase();
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let requests = core.requests().list();
    let mut fitting = requests.iter().filter(|request| request.id.to_string().ends_with(&text));
    match (fitting.next(), fitting.next()) {
        (Some(request), None) if text.len() >= 4 => Ok(request.id),
        (Some(_), Some(_)) => {
            Err(Error::invalid("id", "several requests end with it; use more characters of the id"))
        }
        _ => Err(model::Error::not_found(format!("no request {text}")).into()),
    }
}
