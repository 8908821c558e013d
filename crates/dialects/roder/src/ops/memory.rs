//! Memories: listed, read, saved, changed, deleted and searched, and what a turn would be given.

use rookery_core as core;
use rookery_model as model;
use rookery_wire::rpc::NoParams;

use crate::context::Cx;
use crate::errors::Error;
use crate::wire::memory::{
    MemoryDeleteResult, MemoryIdParams, MemoryListParams, MemoryListResult, MemoryModel,
    MemoryProvider, MemoryProviderListResult, MemoryQueryParams, MemoryQueryResult,
    MemoryReadResult, MemoryRecallPreviewParams, MemoryRecallPreviewResult, MemorySaveParams,
    MemorySaveResult, MemorySelection, MemoryUpdateParams, MemoryUpdateResult, ScopeParam,
};
use crate::{ids, memories};

/// How many memories are listed, unless it is said; and the most.
const LISTED: (usize, usize) = (50, 200);
/// How many are found.
const FOUND: (usize, usize) = (10, 100);
/// How many a preview shows.
const PREVIEWED: (usize, usize) = (5, 100);

pub(crate) async fn list(cx: Cx, params: MemoryListParams) -> Result<MemoryListResult, Error> {
    let limit = clamped(params.limit, LISTED);
    let found = cx.core.memories().list(&place(&cx), named(params.scope), limit).await?;
    Ok(MemoryListResult { memories: found.iter().map(memories::record).collect() })
}

pub(crate) async fn read(cx: Cx, params: MemoryIdParams) -> Result<MemoryReadResult, Error> {
    let memory = cx.core.memories().read(&params.memory_id).await?;
    Ok(MemoryReadResult { memory: memory.as_ref().map(memories::record) })
}

pub(crate) async fn save(cx: Cx, params: MemorySaveParams) -> Result<MemorySaveResult, Error> {
    let (memories, place) = (cx.core.memories(), place(&cx));
    let saved = memories.save(&place, params.scope.0, params.text, params.metadata).await;
    let (memory, deduplicated) = saved?;
    cx.flush().await;
    Ok(MemorySaveResult { memory_id: memory.id, deduplicated })
}

pub(crate) async fn update(
    cx: Cx,
    params: MemoryUpdateParams,
) -> Result<MemoryUpdateResult, Error> {
    // Published clients write null where nothing was said.
    let metadata = Some(params.metadata).filter(|metadata| !metadata.is_null());
    let memories = cx.core.memories();
    let memory = memories.update(&params.memory_id, params.text, metadata).await?;
    cx.flush().await;
    Ok(MemoryUpdateResult { memory_id: memory.id })
}

pub(crate) async fn delete(cx: Cx, params: MemoryIdParams) -> Result<MemoryDeleteResult, Error> {
    let deleted = cx.core.memories().delete(&params.memory_id).await?;
    cx.flush().await;
    Ok(MemoryDeleteResult { deleted })
}

pub(crate) async fn query(cx: Cx, params: MemoryQueryParams) -> Result<MemoryQueryResult, Error> {
    let (memories, place) = (cx.core.memories(), place(&cx));
    let (scope, limit) = (named(params.scope), clamped(params.limit, FOUND));
    let found = memories.query(&place, scope, &params.text, limit, params.include_global).await?;
    cx.flush().await;
    let results = found.hits.iter().map(memories::result).collect();
    Ok(MemoryQueryResult { results, degraded: found.is_degraded })
}

pub(crate) async fn providers(cx: Cx, _: NoParams) -> Result<MemoryProviderListResult, Error> {
    let memories = cx.core.memories();
    let selected = memories::selection(&memories.chosen().await?);
    let provider = |view: core::MemoryProviderView| MemoryProvider {
        id: view.id,
        name: view.name,
        default_model: view.models.first().map(|model| model.id.clone()).unwrap_or_default(),
        models: view
            .models
            .into_iter()
            .enumerate()
            .map(|(place, model)| MemoryModel {
                id: model.id,
                dimensions: model.dimensions,
                default: place == 0,
            })
            .collect(),
    };
    let providers = memories.providers().into_iter().map(provider).collect();
    Ok(MemoryProviderListResult { providers, selected })
}

pub(crate) async fn set_provider(
    cx: Cx,
    params: MemorySelection,
) -> Result<MemorySelection, Error> {
    let choice = cx.core.memories().choose(&params.provider_id, &params.model).await?;
    cx.flush().await;
    Ok(memories::selection(&choice))
}

pub(crate) async fn preview_recall(
    cx: Cx,
    params: MemoryRecallPreviewParams,
) -> Result<MemoryRecallPreviewResult, Error> {
    let thread = ids::thread(&params.thread_id)?;
    let (scope, limit) = (named(params.scope), clamped(params.limit, PREVIEWED));
    let memories = cx.core.memories();
    let found =
        memories.preview_recall(thread, scope, &params.text, limit, params.include_global).await?;
    Ok(MemoryRecallPreviewResult {
        citations: found.hits.iter().map(|hit| memories::citation(&hit.citation)).collect(),
        results: found.hits.iter().map(memories::result).collect(),
        degraded: found.is_degraded,
    })
}

/// Where this client is.
fn place(cx: &Cx) -> core::MemoryPlace {
    core::MemoryPlace { cwd: cx.cwd(), turn: None }
}

fn named(scope: Option<ScopeParam>) -> Option<model::ScopeName> {
    scope.map(|scope| scope.0)
}

fn clamped(limit: Option<i64>, (usual, most): (usize, usize)) -> usize {
    let wanted = limit.map(|limit| usize::try_from(limit.max(1)).unwrap_or(most));
    wanted.unwrap_or(usual).min(most)
}
