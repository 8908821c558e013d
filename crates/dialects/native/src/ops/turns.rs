//! Turns: started, steered, interrupted.

use rookery_agent::tools::read_image;
use rookery_agent::turn::Message;
use rookery_core::{NewTurn, StartedTurn, Steered};
use rookery_model as model;

use super::named::absolute;
use super::threads::{find, turn_id};
use crate::{
    Cx, Error,
    wire::{TurnInterrupt, TurnOnly, TurnStart, TurnStarted, TurnSteer},
};

/// What an address of an image may begin with.
const SCHEMES: &[&str] = &["data:", "http://", "https://"];

pub(crate) async fn start(cx: Cx, params: TurnStart) -> Result<TurnStarted, Error> {
    let thread = find(&cx.core, &params.thread)?;
    let new = NewTurn {
        choice: model::Choice {
            provider: params.provider.clone().unwrap_or_default(),
            model: params.model.clone().unwrap_or_default(),
            reasoning: params.reasoning.clone(),
        },
        deadline_seconds: params.deadline_seconds,
        keys: cx.keys(),
        message: message(params).await?,
        ..NewTurn::default()
    };
    let (turn, steered) = match cx.core.threads().start_turn(thread, new).await? {
        StartedTurn::New(turn) => (turn.id, false),
        StartedTurn::Steered(turn) => (turn, true),
    };
    Ok(TurnStarted { thread: thread.to_string(), turn: turn.to_string(), steered })
}

async fn message(params: TurnStart) -> Result<Message, Error> {
    let is_blank = params.text.trim().is_empty()
        && params.images.is_empty()
        && params.image_files.is_empty()
        && params.files.is_empty();
    if is_blank {
        return Err(Error::invalid("text", "say something: text, images or files"));
    }
    let is_known = |url: &String| SCHEMES.iter().any(|scheme| url.starts_with(scheme));
    if !params.images.iter().all(is_known) {
        return Err(Error::invalid("images", "an image is a data: or http address"));
    }
    params.image_files.iter().try_for_each(|file| absolute("imageFiles", file))?;
    params.files.iter().try_for_each(|file| absolute("files", file))?;
    let mut images = params.images;
    for file in params.image_files {
        let read = tokio::task::spawn_blocking(move || read_image(&file));
        let read = read
            .await
            .map_err(|error| model::Error::new(model::ErrorKind::Internal, error.to_string()))?;
        images.push(read.map_err(|message| Error::invalid("imageFiles", message))?);
    }
    let named =
        |file: &std::path::PathBuf| format!("The user refers to the file {}", file.display());
    let context = params.files.iter().map(named).collect();
    Ok(Message { text: params.text, images, context })
}

pub(crate) async fn steer(cx: Cx, params: TurnSteer) -> Result<TurnOnly, Error> {
    let thread = find(&cx.core, &params.thread)?;
    let turn = turn_id(&params.turn)?;
    if params.text.trim().is_empty() {
        return Err(Error::invalid("text", "text must not be blank"));
    }
    let message = Message { text: params.text, ..Message::default() };
    match cx.core.threads().steer(thread, turn, Some(message)).await? {
        Steered::Accepted(turn) => Ok(TurnOnly { turn: turn.to_string() }),
        Steered::Mismatch(Some(other)) => {
            Err(model::Error::conflict(format!("turn {other} is running instead")).into())
        }
        Steered::Mismatch(None) => Err(model::Error::conflict("no turn is running").into()),
    }
}

pub(crate) async fn interrupt(cx: Cx, params: TurnInterrupt) -> Result<TurnOnly, Error> {
    let thread = find(&cx.core, &params.thread)?;
    let turn = params.turn.as_deref().map(turn_id).transpose()?;
    if let Some(stopped) = cx.core.threads().interrupt(thread, turn)? {
        return Ok(TurnOnly { turn: stopped.to_string() });
    }
    let Some(turn) = turn else {
        return Err(model::Error::conflict("no turn is running").into());
    };
    // One that has ended already is as good as interrupted.
    match cx.core.threads().turn(thread, turn).await? {
        Some(ended) => Ok(TurnOnly { turn: ended.id.to_string() }),
        None => Err(model::Error::not_found(format!("no turn {turn}")).into()),
    }
}
