//! The record of decisions, read from its end.

use rookery_model as model;

use crate::{
    Cx, Error,
    wire::{Audit, AuditList, Decision},
};

/// The default and maximum number of decisions.
const USUAL: usize = 100;
const MOST: usize = 1_000;
/// Decisions read at once, and how often at most, until enough are found.
const STEP: usize = 1_000;
const STEPS: usize = 200;

pub(crate) async fn list(cx: Cx, params: AuditList) -> Result<Audit, Error> {
    let limit = match params.limit {
        None => USUAL,
        Some(0) => return Err(Error::invalid("limit", "limit must be at least 1")),
        Some(limit) => limit.min(MOST),
    };
    let mut query = model::DecisionQuery {
        thread: params.thread.as_deref().map(thread).transpose()?,
        since: params.since.as_deref().map(moment).transpose()?,
        before: params.before,
    };
    let is_wanted = |decision: &Decision| {
        params.by.as_ref().is_none_or(|by| decision.by == *by)
            && params.verdict.is_none_or(|verdict| decision.verdict == verdict)
    };
    // Newest first while they are gathered.
    let mut found: Vec<Decision> = Vec::new();
    let mut more = None;
    for _ in 0..STEPS {
        let page = cx.core.requests().decisions(query, STEP).await?;
        let first = page.first().map(|one| one.number).filter(|number| *number > 0);
        let is_last = page.len() < STEP;
        let wanted = page.iter().map(Decision::from).rev().filter(is_wanted);
        found.extend(wanted.take(limit + 1 - found.len()));
        if found.len() > limit {
            found.truncate(limit);
            more = found.last().map(|one| one.number).filter(|number| *number > 0);
            break;
        }
        match first {
            Some(number) if !is_last => query.before = Some(number),
            _ => break,
        }
    }
    found.reverse();
    Ok(Audit { decisions: found, before: more })
}

fn thread(text: &str) -> Result<model::ThreadId, Error> {
    text.parse().map_err(|_| Error::invalid("thread", "thread must be the id of a thread"))
}

fn moment(text: &str) -> Result<model::Timestamp, Error> {
    let moment: jiff::Timestamp = text.parse().map_err(|_| {
        Error::invalid("since", "since must be a time such as 2026-03-01T12:00:00Z")
    })?;
    Ok(model::Timestamp::from_micros(moment.as_microsecond()))
}
