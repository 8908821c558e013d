//! What edit tools changed, and taking it back; what commands were seen to change.

use rookery_core::HunkQuery;

use crate::context::Cx;
use crate::errors::Error;
use crate::wire::hunk::{
    HunkListParams, HunkListResult, HunkPage, HunkReadParams, HunkReadResult, HunkRollbackParams,
    HunkRollbackResult, WorkspaceChangesListParams, WorkspaceChangesListResult,
};
use crate::{changes, ids, plans};

/// Lines of a page, unless the client says how many.
const USUAL: u64 = 100;

pub(crate) async fn list(cx: Cx, params: HunkListParams) -> Result<HunkListResult, Error> {
    // What is not known has no hunks.
    let nothing = Ok(HunkListResult { hunks: Vec::new() });
    let Ok(thread) = params.thread_id.parse() else { return nothing };
    let mut query = HunkQuery { path: params.path, ..HunkQuery::default() };
    if let Some(turn) = params.turn_id {
        let Ok(turn) = turn.parse() else { return nothing };
        query.turn = Some(turn);
    }
    if let Some(review) = params.review_id {
        let Some(plan) = plans::read(&review) else { return nothing };
        query.plan = Some(plan);
    }
    let hunks = cx.core.file_changes().hunks(thread, &query).await;
    Ok(HunkListResult { hunks: hunks.iter().map(changes::hunk).collect() })
}

pub(crate) async fn read(cx: Cx, params: HunkReadParams) -> Result<HunkReadResult, Error> {
    let found = match params.thread_id.parse() {
        Ok(thread) => cx.core.file_changes().hunk(thread, &params.hunk_id).await,
        Err(_) => None,
    };
    let limit = params.limit.unwrap_or(USUAL).max(1);
    let page = found.map(|found| {
        let hunk = changes::hunk(&found);
        let total = hunk.diff.len() as u64;
        let offset = params.offset.min(total);
        let end = offset.saturating_add(limit).min(total);
        let lines = hunk.diff[offset as usize..end as usize].to_vec();
        let next_offset = (end < total).then_some(end);
        HunkPage { hunk, offset, limit, total_lines: total, lines, next_offset }
    });
    Ok(HunkReadResult { page })
}

pub(crate) async fn rollback(
    cx: Cx,
    params: HunkRollbackParams,
) -> Result<HunkRollbackResult, Error> {
    let thread = ids::thread(&params.thread_id)?;
    let changes = cx.core.file_changes();
    let done = changes.roll_back(thread, &params.hunk_id, params.confirmed).await;
    cx.flush().await;
    let error = done?.error;
    Ok(HunkRollbackResult { rolled_back: error.is_none(), error })
}

pub(crate) async fn observed(
    cx: Cx,
    params: WorkspaceChangesListParams,
) -> Result<WorkspaceChangesListResult, Error> {
    let nothing = Ok(WorkspaceChangesListResult { changes: Vec::new() });
    let Ok(thread) = params.thread_id.parse() else { return nothing };
    let Ok(turn) = params.turn_id.map(|turn| turn.parse()).transpose() else { return nothing };
    let seen = cx.core.file_changes().observations(thread, turn).await;
    Ok(WorkspaceChangesListResult { changes: seen.iter().map(changes::observation).collect() })
}
