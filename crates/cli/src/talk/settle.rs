//! Answering a request from the command line, and the message if another client was first.

use std::process::ExitCode;

use rookery_native::{
    code,
    wire::{AnswerRequest, Answered, EventBody, EventList, EventPage, GetStatus, Request, Status},
};
use rookery_view::safe;
use rookery_wire::{Client, ClientError};
use serde_json::json;

use super::requests;
use crate::{
    args::RequestTarget,
    failure::{Failure, Outcome},
    link::{self, call},
    output,
};

/// The code of an answer that came too late.
const TOO_LATE: u8 = 4;
/// Events asked for at once, and how many of the last ones are looked at.
const PAGE: usize = 1000;
const LOOKBACK: u64 = 10_000;

/// An answer to the request that is meant, with nothing said yet.
pub(crate) fn answer_to(target: &RequestTarget) -> AnswerRequest {
    AnswerRequest {
        id: requests::bare_id(target.id.trim()).to_owned(),
        approved: None,
        message: None,
        remember: false,
        answers: None,
        shown: None,
    }
}

/// Gives an answer, and says what came of it; `done` is what the answer makes of the request.
pub(crate) async fn settle(target: &RequestTarget, answer: AnswerRequest, done: &str) -> Outcome {
    let client = link::connect().await?;
    let id = answer.id.clone();
    match client.send(answer).await {
        Ok(answered @ Answered { settled: true, .. }) => {
            if target.json {
                output::json(&answered)?;
            } else {
                output::line(format!("{done} {}", answered.id))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Ok(Answered { id, settled: false }) => too_late(&client, target, &id).await,
        Err(ClientError::Rpc(error)) if error.code == code::NOT_FOUND => {
            too_late(&client, target, &id).await
        }
        Err(ClientError::Rpc(error)) if error.code == code::INVALID => {
            Err(Failure::new(error.message).hint("run `rookery inbox` to see what it asks for"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Tells how a request that does not wait was settled, if there was one.
async fn too_late(client: &Client, target: &RequestTarget, id: &str) -> Outcome {
    let Some(request) = settled_before(client, id).await? else {
        return Err(Failure::new(format!("there is no open request {}", safe::line(id)))
            .hint("run `rookery inbox` to list open requests"));
    };
    if target.json {
        output::json(&json!({
            "id": request.id, "settled": false, "state": request.state,
            "settledBy": request.settled_by,
        }))?;
    }
    let by = request.settled_by.as_deref().map(|by| format!(" by {}", safe::line(by)));
    let state = requests::state(request.state);
    let message = format!("request {} was already {state}{}", request.id, by.unwrap_or_default());
    Err(Failure::new(message).code(TOO_LATE))
}

/// The last request with this end of its id that the log has as settled.
async fn settled_before(client: &Client, id: &str) -> Outcome<Option<Request>> {
    let id = id.to_ascii_uppercase();
    let status: Status = call(client, GetStatus).await?;
    let mut after = status.last_event.saturating_sub(LOOKBACK);
    let mut found = None;
    loop {
        let params = EventList { after, limit: Some(PAGE) };
        let page: EventPage = call(client, params).await?;
        for event in page.events {
            if let EventBody::RequestSettled { request } = event.body
                && request.id.ends_with(&id)
            {
                found = Some(request);
            }
        }
        if page.next >= status.last_event || page.next <= after {
            return Ok(found);
        }
        after = page.next;
    }
}
