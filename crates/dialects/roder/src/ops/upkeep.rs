//! Upkeep of threads: putting away, naming, forking, shortening.

use crate::context::Cx;
use crate::errors::Error;
use crate::wire::upkeep::{
    Fork, ForkOwnership, ForkProvenance, ThreadArchiveResult, ThreadCompactParams,
    ThreadCompactResult, ThreadDeleteResult, ThreadForkParams, ThreadForkResult, ThreadIdParams,
    ThreadNameResult, ThreadNameSetParams, ThreadResult, ThreadRollbackParams,
};
use crate::{ids, show};

/// Who provides the directory of a fork: it is shared with the thread that was forked.
const SHARED: &str = "shared";
const SAME_DIRECTORY: &str = "the fork works in the directory of the thread that was forked";

pub(crate) async fn archive(cx: Cx, params: ThreadIdParams) -> Result<ThreadArchiveResult, Error> {
    put_away(&cx, params, true).await
}

pub(crate) async fn unarchive(
    cx: Cx,
    params: ThreadIdParams,
) -> Result<ThreadArchiveResult, Error> {
    put_away(&cx, params, false).await
}

async fn put_away(
    cx: &Cx,
    params: ThreadIdParams,
    is_archived: bool,
) -> Result<ThreadArchiveResult, Error> {
    let thread_id = params.thread_id;
    let id = ids::thread(&thread_id)?;
    cx.core.threads().archive(id, is_archived).await?;
    let archived = cx.core.threads().get(id).is_some_and(|seen| seen.thread.archived);
    Ok(ThreadArchiveResult { thread_id, archived })
}

pub(crate) async fn delete(cx: Cx, params: ThreadIdParams) -> Result<ThreadDeleteResult, Error> {
    let id = ids::thread(&params.thread_id)?;
    let deleted = cx.flushed(cx.core.threads().delete(id)).await?;
    Ok(ThreadDeleteResult { thread_id: params.thread_id, deleted })
}

pub(crate) async fn set_name(
    cx: Cx,
    params: ThreadNameSetParams,
) -> Result<ThreadNameResult, Error> {
    let id = ids::thread(&params.thread_id)?;
    cx.core.threads().rename(id, Some(params.name)).await?;
    let name = cx.core.threads().get(id).and_then(|seen| seen.thread.name);
    Ok(ThreadNameResult { thread_id: id.to_string(), name })
}

pub(crate) async fn fork(cx: Cx, params: ThreadForkParams) -> Result<ThreadForkResult, Error> {
    let id = ids::thread(&params.thread_id)?;
    let from = params.from_turn_id.as_deref().map(ids::turn).transpose()?;
    let seen = cx.core.threads().fork(id, from, params.name).await?;
    let thread = show::thread(&cx, &seen);
    let other = params.provider.filter(|provider| provider != SHARED);
    let warn = |provider| format!("fork provider {provider} is not there; {SAME_DIRECTORY}");
    let fork = Fork {
        id: thread.id.clone(),
        ownership: ForkOwnership {
            creator_thread_id: id.to_string(),
            owner_thread_id: thread.id.clone(),
        },
        provider_id: SHARED.to_owned(),
        source_workspace: thread.cwd.clone(),
        workspace: thread.cwd.clone(),
        status: "active".to_owned(),
        provenance: ForkProvenance { created_at: show::time(seen.thread.created_at) },
        cleanup: "explicit".to_owned(),
    };
    Ok(ThreadForkResult { thread, fork, warnings: other.map(warn).into_iter().collect() })
}

pub(crate) async fn rollback(cx: Cx, params: ThreadRollbackParams) -> Result<ThreadResult, Error> {
    let id = ids::thread(&params.thread_id)?;
    let seen = cx.core.threads().roll_back(id, params.num_turns as usize).await?;
    Ok(ThreadResult { thread: show::thread(&cx, &seen) })
}

pub(crate) async fn compact(
    cx: Cx,
    params: ThreadCompactParams,
) -> Result<ThreadCompactResult, Error> {
    let id = ids::thread(&params.thread_id)?;
    let compacted =
        cx.core.threads().compact(id, params.preserve_hint.as_deref(), &cx.client.keys()).await?;
    Ok(ThreadCompactResult {
        compacted: compacted.is_shorter,
        reason: compacted.reason,
        estimated_tokens_before: compacted.before,
        estimated_tokens_after: compacted.after,
    })
}
