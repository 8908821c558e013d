//! Turns: started, steered, interrupted, drained.

use std::time::Duration;

use rookery_core::{NewTurn, StartedTurn, Steered};
use rookery_model as model;

use super::input::message;
use crate::context::Cx;
use crate::errors::Error;
use crate::wire::turn::{
    DrainStatus, RuntimeDrainParams, RuntimeDrainResult, TurnIdResult, TurnInterruptParams,
    TurnStartParams, TurnStartResult, TurnSteerParams,
};
use crate::{ids, modes, show};

/// The least and the most milliseconds that a client may give a drain.
const DRAIN_BOUNDS: (u64, u64) = (1, 45_000);

pub(crate) async fn start(cx: Cx, params: TurnStartParams) -> Result<TurnStartResult, Error> {
    cx.client.check_not_drained()?;
    let thread = ids::thread(&params.thread_id)?;
    let mode = params.policy_mode.map(read_mode).transpose()?;
    if mode.is_some() {
        cx.check_is_no_agent()?;
    }
    cx.bring_mode().await?;
    let message = message(params.prompt, params.input).await?;
    let message = message.ok_or_else(|| Error::invalid("turn input is empty"))?;
    let new = NewTurn {
        message,
        choice: model::Choice {
            provider: params.model_provider.unwrap_or_default(),
            model: params.model.unwrap_or_default(),
            reasoning: params.reasoning,
        },
        developer_context: params.developer_context,
        needs_ledger: params.task_ledger_required,
        deadline_seconds: params.deadline_seconds,
        profile: cx.client.link().profile,
        mode,
        client: Some(cx.client.number()),
        keys: cx.client.keys(),
        ..NewTurn::default()
    };
    let turn = match cx.core.threads().start_turn(thread, new).await? {
        StartedTurn::New(turn) => *turn,
        StartedTurn::Steered(turn) => {
            let running = cx.core.threads().turn(thread, turn).await?;
            running.ok_or_else(|| Error::runtime("the turn is gone"))?
        }
    };
    Ok(TurnStartResult { turn_id: turn.id.to_string(), turn: show::turn(&turn, Vec::new()) })
}

pub(crate) fn read_mode(word: String) -> Result<(model::Mode, String), Error> {
    let accepted = || format!("unknown mode: {word}; expected one of {}", modes::spellings());
    let mode = modes::read(&word).ok_or_else(|| Error::invalid(accepted()))?;
    Ok((mode, word))
}

pub(crate) async fn steer(cx: Cx, params: TurnSteerParams) -> Result<TurnIdResult, Error> {
    let thread = ids::thread(&params.thread_id)?;
    let message = message(params.prompt, params.input).await?;
    // A text that is no id names no turn that runs.
    let expected = params.expected_turn_id.parse().unwrap_or(model::TurnId::new(0));
    match cx.core.threads().steer(thread, expected, message).await? {
        Steered::Accepted(turn) => Ok(TurnIdResult { turn_id: turn.to_string() }),
        Steered::Mismatch(active) => {
            let message = match active {
                Some(_) => "another turn is running",
                None => "no active turn to steer",
            };
            Err(Error::turn_mismatch(message, active))
        }
    }
}

pub(crate) async fn interrupt(cx: Cx, params: TurnInterruptParams) -> Result<TurnIdResult, Error> {
    let thread = ids::thread(&params.thread_id)?;
    let Some(text) = params.turn_id else {
        let stopped = cx.core.threads().interrupt(thread, None)?;
        let none = || Error::invalid(format!("no active turn for thread {thread}"));
        return Ok(TurnIdResult { turn_id: stopped.ok_or_else(none)?.to_string() });
    };
    let turn = ids::turn(&text)?;
    if cx.core.threads().interrupt(thread, Some(turn))?.is_none()
        && cx.core.threads().turn(thread, turn).await?.is_none()
    {
        return Err(Error::invalid(format!("turn not found: {turn}")));
    }
    Ok(TurnIdResult { turn_id: turn.to_string() })
}

pub(crate) async fn drain(cx: Cx, params: RuntimeDrainParams) -> Result<RuntimeDrainResult, Error> {
    let (least, most) = DRAIN_BOUNDS;
    let set = cx.core.agents().settings().lifecycle.shutdown_drain_timeout;
    let usual = || u64::try_from(set.as_millis()).unwrap_or(u64::MAX);
    let limit = params.timeout_ms.unwrap_or_else(usual).clamp(least, most);
    cx.client.drained();
    let drained = cx.core.threads().drain(Duration::from_millis(limit)).await;
    let texts = |turns: Vec<model::TurnId>| {
        let texts: Vec<String> = turns.iter().map(ToString::to_string).collect();
        (!texts.is_empty()).then_some(texts)
    };
    let status = match drained.remaining.is_empty() {
        true => DrainStatus::Clean,
        false => DrainStatus::DeadlineExceeded,
    };
    Ok(RuntimeDrainResult {
        status,
        interrupted_turn_ids: texts(drained.interrupted),
        remaining_turn_ids: texts(drained.remaining),
        stopped_process_ids: Some(drained.stopped_processes).filter(|ids| !ids.is_empty()),
    })
}
