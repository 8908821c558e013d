//! Tasks: started, stopped, closed and brought back.

use std::time::Duration;

use rookery_core::{NewThread, NewTurn};
use rookery_model::{Assignment, ThreadId};
use serde_json::json;

use super::Outcome;
use crate::assign;
use crate::context::Cx;
use crate::errors::Failure;
use crate::wire;

/// How long a turn that is stopped may take before its task is put away nevertheless.
const STOP_LIMIT: Duration = Duration::from_secs(10);

pub(crate) async fn start(cx: Cx, data: wire::StartNewTask) -> Result<Outcome, Failure> {
    let id = new_id(&cx, data.task.as_deref())?;
    let plan = assign::plan(&cx, data.configuration).await?;
    let message = assign::message(&cx, &plan.cwd, data.text, data.images).await?;
    if !data.new_tab
        && let Some(previous) = cx.hub.own_current(cx.route)
    {
        put_away(&cx, previous).await?;
    }
    let before = cx.hub.own(cx.route, id);
    let announced = cx.hub.expect(id);
    let new = NewThread {
        id: Some(id),
        cwd: plan.cwd,
        mode: cx.listener.mode,
        choice: plan.choice,
        assignment: Some(plan.assignment),
        ..NewThread::default()
    };
    if let Err(error) = cx.core.threads().start(new).await {
        cx.hub.disown(cx.route, id, before);
        return Err(error.into());
    }
    // Without it the order of the first events is lost, but not the task.
    let _ = tokio::time::timeout(STOP_LIMIT, announced).await;
    let turn = NewTurn { message, must_be_new: true, ..NewTurn::default() };
    if let Err(error) = cx.core.threads().start_turn(id, turn).await {
        cx.core.threads().delete(id).await?;
        cx.hub.disown(cx.route, id, before);
        return Err(error.into());
    }
    Outcome::of(&id.to_string())
}

/// The id of a new task: the client's if it chose one that is free.
fn new_id(cx: &Cx, chosen: Option<&str>) -> Result<ThreadId, Failure> {
    let Some(text) = chosen else { return Ok(ThreadId::new(uuid::Uuid::now_v7().as_u128())) };
    let id: Option<ThreadId> = text.parse().ok();
    let id = id.filter(|id| id.to_string() == text);
    let id = id.ok_or_else(|| Failure::invalid("taskId", "must be a UUID in lower case"))?;
    match cx.core.threads().get(id) {
        None => Ok(id),
        Some(_) => Err(Failure::invalid("taskId", "is the id of another task")),
    }
}

pub(crate) async fn cancel(cx: Cx, data: wire::SomeTask) -> Result<Outcome, Failure> {
    let id = match data.0.as_deref() {
        Some(text) => Some(cx.assigned(text)?),
        None => cx.hub.current(cx.route),
    };
    if let Some(id) = id {
        stop(&cx, id).await?;
    }
    Outcome::done()
}

pub(crate) async fn cancel_current(cx: Cx, _: wire::Nothing) -> Result<Outcome, Failure> {
    cancel(cx, wire::SomeTask(None)).await
}

/// Stops what a task does; it can be resumed.
pub(crate) async fn stop(cx: &Cx, id: ThreadId) -> Result<(), Failure> {
    if cx.core.threads().interrupt(id, None)?.is_none() {
        cx.hub.stop_retrying(id).await?;
    }
    Ok(())
}

/// Closes the task that is named, or the connection's own: not just the one that works for it now.
pub(crate) async fn close(cx: Cx, data: wire::SomeTask) -> Result<Outcome, Failure> {
    let own = || cx.hub.own_current(cx.route).or_else(|| cx.hub.current(cx.route));
    let id = match data.0.as_deref() {
        Some(text) => Some(cx.assigned(text)?),
        None => own(),
    };
    if let Some(id) = id {
        put_away(&cx, id).await?;
    }
    Outcome::done()
}

pub(crate) async fn clear(cx: Cx, _last_message: wire::SomeText) -> Result<Outcome, Failure> {
    close(cx, wire::SomeTask(None)).await
}

/// Stops a task with all that work for it and takes them off the stack; they stay in the history.
pub(crate) async fn put_away(cx: &Cx, id: ThreadId) -> Result<(), Failure> {
    let threads = cx.core.threads();
    if threads.get(id).is_none_or(|seen| seen.thread.archived) {
        return Ok(());
    }
    let mut all = threads.below(id);
    all.reverse();
    all.push(id);
    for one in &all {
        cx.hub.close(*one).await?;
    }
    // The one that waits for the others first, so that it does not go on with half of their work.
    for one in all.into_iter().rev() {
        if let Some(turn) = threads.interrupt(one, None)? {
            let ended = threads.turn_ended(one, turn);
            if tokio::time::timeout(STOP_LIMIT, ended).await.is_err() {
                tracing::warn!(task = %one, "a task that was closed does not stop");
            }
        }
        threads.archive(one, true).await?;
    }
    Ok(())
}

pub(crate) async fn resume(cx: Cx, data: wire::OneTask) -> Result<Outcome, Failure> {
    let id = cx.task(&data.0)?;
    let threads = cx.core.threads();
    let previous = cx.hub.own_current(cx.route);
    // One that works for the connection's own task is brought back beside it.
    let is_below = previous.is_some_and(|previous| threads.below(previous).contains(&id));
    let is_above = previous.is_some_and(|previous| threads.below(id).contains(&previous));
    if let Some(previous) = previous.filter(|previous| *previous != id && !is_below && !is_above) {
        put_away(&cx, previous).await?;
    }
    let thread =
        threads.get(id).map(|seen| seen.thread).ok_or_else(|| Failure::no_task(&data.0))?;
    if thread.archived {
        threads.archive(id, false).await?;
    }
    if thread.assignment.is_none() {
        // A conversation of another dialect becomes a task: nothing is done in it unasked.
        let settings = json!({}).to_string();
        threads.assign(id, Some(Assignment { settings, ..Assignment::default() })).await?;
    }
    if !is_below {
        cx.hub.own(cx.route, id);
    }
    cx.hub.resume(id).await?;
    Outcome::done()
}

pub(crate) async fn stack(cx: Cx, _: wire::Nothing) -> Result<Outcome, Failure> {
    let stack: Vec<String> = cx.hub.stack(cx.route).iter().map(ToString::to_string).collect();
    Outcome::of(&stack)
}

/// Goes on with a task that has stopped.
pub(crate) async fn go_on(cx: &Cx, id: ThreadId) -> Result<(), Failure> {
    let turn = NewTurn { is_continued: true, must_be_new: true, ..NewTurn::default() };
    cx.core.threads().start_turn(id, turn).await?;
    Ok(())
}
