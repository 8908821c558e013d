//! Memories: listed, read, saved, changed, deleted and searched.

use std::path::PathBuf;

use rookery_core::MemoryPlace;
use rookery_model as model;

use super::named::absolute;
use crate::{
    Cx, Error,
    wire::{
        Empty, Memories, Memory, MemoryChoice, MemoryChoose, MemoryDelete, MemoryGet, MemoryList,
        MemoryProviderList, MemoryProviders, MemoryRecall, MemoryResults, MemorySave, MemorySaved,
        MemorySearch, MemoryUpdate,
    },
};

/// How many memories are listed, unless it is said; and the most.
const LISTED: (u32, u32) = (50, 200);
/// How many are found.
const FOUND: (u32, u32) = (10, 100);
/// How many a turn would be given.
const RECALLED: (u32, u32) = (5, 100);

pub(crate) async fn list(cx: Cx, params: MemoryList) -> Result<Memories, Error> {
    let place = place(&cx, params.cwd)?;
    let (scope, limit) = (scope(params.scope.as_deref())?, clamped(params.limit, LISTED));
    let found = cx.core.memories().list(&place, scope, limit).await?;
    Ok(Memories { memories: found.iter().map(Memory::from).collect() })
}

pub(crate) async fn get(cx: Cx, params: MemoryGet) -> Result<Memory, Error> {
    let found = cx.core.memories().read(&params.memory).await?;
    found.as_ref().map(Memory::from).ok_or_else(|| unknown(&params.memory))
}

pub(crate) async fn save(cx: Cx, params: MemorySave) -> Result<MemorySaved, Error> {
    let place = place(&cx, params.cwd)?;
    let scope = scope(params.scope.as_deref())?.unwrap_or(model::ScopeName::Here);
    let memories = cx.core.memories();
    let (memory, deduplicated) = memories.save(&place, scope, params.text, params.metadata).await?;
    Ok(MemorySaved { memory: (&memory).into(), deduplicated })
}

pub(crate) async fn update(cx: Cx, params: MemoryUpdate) -> Result<Memory, Error> {
    let metadata = Some(params.metadata).filter(|metadata| !metadata.is_null());
    let changed = cx.core.memories().update(&params.memory, params.text, metadata).await;
    let changed = changed.map_err(|error| match error.field() {
        Some("memory_id") => unknown(&params.memory),
        _ => error.into(),
    })?;
    Ok((&changed).into())
}

pub(crate) async fn delete(cx: Cx, params: MemoryDelete) -> Result<Empty, Error> {
    match cx.core.memories().delete(&params.memory).await? {
        true => Ok(Empty {}),
        false => Err(unknown(&params.memory)),
    }
}

pub(crate) async fn query(cx: Cx, params: MemorySearch) -> Result<MemoryResults, Error> {
    let place = place(&cx, params.cwd)?;
    let (scope, limit) = (scope(params.scope.as_deref())?, clamped(params.limit, FOUND));
    let memories = cx.core.memories();
    let found = memories.query(&place, scope, &params.text, limit, params.include_global).await?;
    let results = found.hits.iter().map(Into::into).collect();
    Ok(MemoryResults { results, degraded: found.is_degraded })
}

pub(crate) async fn recall(cx: Cx, params: MemoryRecall) -> Result<MemoryResults, Error> {
    let wrong = |_| Error::invalid("thread", "thread must be the id of a thread");
    let thread = params.thread.parse().map_err(wrong)?;
    let (memories, limit) = (cx.core.memories(), clamped(params.limit, RECALLED));
    let found = memories.preview_recall(thread, None, &params.text, limit, true).await?;
    let results = found.hits.iter().map(Into::into).collect();
    Ok(MemoryResults { results, degraded: found.is_degraded })
}

pub(crate) async fn providers(cx: Cx, _: MemoryProviders) -> Result<MemoryProviderList, Error> {
    let memories = cx.core.memories();
    let selected = memories.chosen().await?.into();
    Ok(MemoryProviderList {
        providers: memories.providers().into_iter().map(Into::into).collect(),
        selected,
    })
}

pub(crate) async fn choose(cx: Cx, params: MemoryChoose) -> Result<MemoryChoice, Error> {
    let memories = cx.core.memories();
    let usual = || {
        let all = memories.providers();
        let found = all.into_iter().find(|one| one.id == params.provider);
        found.and_then(|one| one.models.into_iter().next()).map(|model| model.id)
    };
    let model = params.model.clone().or_else(usual).unwrap_or_default();
    Ok(memories.choose(&params.provider, &model).await?.into())
}

fn place(cx: &Cx, cwd: Option<PathBuf>) -> Result<MemoryPlace, Error> {
    if let Some(cwd) = &cwd {
        absolute("cwd", cwd)?;
    }
    let cwd = cwd.unwrap_or_else(|| cx.core.agents().cwd());
    Ok(MemoryPlace { cwd, turn: None })
}

fn scope(text: Option<&str>) -> Result<Option<model::ScopeName>, Error> {
    let parse = |text: &str| {
        let wanted = "global, project, user, project:ID, user:ID or thread:ID";
        model::ScopeName::parse(text)
            .ok_or_else(|| Error::invalid("scope", format!("scope must be {wanted}")))
    };
    text.map(parse).transpose()
}

fn clamped(limit: Option<u32>, (usual, most): (u32, u32)) -> usize {
    limit.unwrap_or(usual).clamp(1, most) as usize
}

fn unknown(id: &str) -> Error {
    let shown: String = id.chars().take(128).collect();
    model::Error::not_found(format!("no memory {shown}")).into()
}
