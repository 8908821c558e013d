//! Imports of other agents' files: found, shown, enabled, ignored and removed; and skills.

use std::path::{Path, PathBuf};

use rookery_core as core;
use rookery_imports as engine;
use rookery_model as model;

use super::named::absolute;
use crate::{
    Cx, Error,
    wire::{
        Import, ImportDecided, ImportEnable, ImportEnabled, ImportGet, ImportIgnore, ImportProblem,
        ImportRefresh, ImportRemove, ImportScan, Imports, Skill, SkillGet, SkillList, SkillSet,
        Skills,
    },
};

/// The fewest letters that name an item by the end of its id.
const SHORTEST_END: usize = 4;

pub(crate) async fn scan(cx: Cx, params: ImportScan) -> Result<Imports, Error> {
    let workspace = workspace(&cx, params.cwd)?;
    Ok((&cx.core.imports().scan(&workspace, params.include_user).await?).into())
}

pub(crate) async fn get(cx: Cx, params: ImportGet) -> Result<Import, Error> {
    let workspace = workspace(&cx, params.cwd)?;
    let id = named(&cx, &workspace, &params.item).await?;
    let items = cx.core.imports().preview(&workspace, Some(&id)).await?;
    items.first().map(Import::from).ok_or_else(|| unknown(&params.item))
}

pub(crate) async fn enable(cx: Cx, params: ImportEnable) -> Result<ImportEnabled, Error> {
    let workspace = workspace(&cx, params.cwd)?;
    let id = named(&cx, &workspace, &params.item).await?;
    let new = core::NewImport { id, approves: params.approve, hash: params.hash };
    Ok(match cx.core.imports().enable(&workspace, new).await? {
        core::EnabledImport::Done(item, _) => {
            ImportEnabled { item: (&*item).into(), is_enabled: true }
        }
        core::EnabledImport::NeedsApproval(item) => {
            ImportEnabled { item: (&*item).into(), is_enabled: false }
        }
    })
}

pub(crate) async fn ignore(cx: Cx, params: ImportIgnore) -> Result<ImportDecided, Error> {
    let workspace = workspace(&cx, params.cwd)?;
    let id = named(&cx, &workspace, &params.item).await?;
    Ok((&cx.core.imports().ignore(&workspace, &id).await?).into())
}

pub(crate) async fn remove(cx: Cx, params: ImportRemove) -> Result<ImportDecided, Error> {
    let workspace = workspace(&cx, params.cwd)?;
    // One whose file is gone has its whole id only.
    let id = named(&cx, &workspace, &params.item).await.unwrap_or_else(|_| params.item.clone());
    let removed = cx.core.imports().remove(&workspace, &id).await;
    let removed = removed.map_err(|error| match error.field() {
        Some("item_id") => unknown(&params.item),
        _ => error.into(),
    })?;
    Ok((&removed).into())
}

pub(crate) async fn refresh(cx: Cx, params: ImportRefresh) -> Result<Imports, Error> {
    let workspace = workspace(&cx, params.cwd)?;
    let refreshed = cx.core.imports().refresh(&workspace).await?;
    let missing = refreshed.missing.into_iter().map(|decision| decision.item_id).collect();
    Ok(Imports { missing, ..(&refreshed.scan).into() })
}

pub(crate) async fn skills(cx: Cx, params: SkillList) -> Result<Skills, Error> {
    let workspace = workspace(&cx, params.cwd)?;
    Ok(listed(cx.core.imports().skills(&workspace).await?))
}

pub(crate) async fn get_skill(cx: Cx, params: SkillGet) -> Result<Skill, Error> {
    let workspace = workspace(&cx, params.cwd)?;
    let found = cx.core.imports().find_skill(&workspace, &selector(&params.skill)).await?;
    let item = found.ok_or_else(|| unknown_skill(&params.skill))?;
    let body = item.content.skill().map(|skill| skill.body.clone());
    Ok(Skill { body, ..(&item).into() })
}

pub(crate) async fn set_skill(cx: Cx, params: SkillSet) -> Result<Skills, Error> {
    let workspace = workspace(&cx, params.cwd)?;
    let selector = selector(&params.skill);
    let set = cx.core.imports().set_skill(&workspace, &selector, params.is_enabled).await;
    let list = set.map_err(|error| match error.field() {
        Some("selector") => unknown_skill(&params.skill),
        _ => error.into(),
    })?;
    Ok(listed(list))
}

fn listed(list: core::SkillList) -> Skills {
    let problem =
        |error: engine::ScanError| ImportProblem { path: error.path, message: error.message };
    Skills {
        skills: list.skills.iter().map(Skill::from).collect(),
        errors: list.errors.into_iter().map(problem).collect(),
    }
}

/// A skill by the path of its file, or by its name.
fn selector(text: &str) -> core::SkillSelector {
    match text.contains('/') {
        true => core::SkillSelector::Path(text.to_owned()),
        false => core::SkillSelector::Name(text.to_owned()),
    }
}

/// The item that an id, the end of one or its file names.
async fn named(cx: &Cx, workspace: &Path, text: &str) -> Result<String, Error> {
    let scan = cx.core.imports().look(workspace).await?;
    let path = text.strip_prefix("./").unwrap_or(text);
    let is_named = |item: &&engine::Item| {
        item.id == text || text.len() >= SHORTEST_END && item.id.ends_with(text)
    };
    let is_file = |item: &&engine::Item| item.source.path == path;
    let one = |mut fitting: Vec<&engine::Item>, why: &str| match fitting.as_slice() {
        [] => Ok(None),
        [_] => Ok(fitting.pop().map(|item| item.id.clone())),
        [..] => {
            let shown: String = text.chars().take(64).collect();
            let message = format!("several items {why} {shown:?}; give the whole id");
            Err(Error::invalid("item", message))
        }
    };
    let by_id = one(scan.items.iter().filter(is_named).collect(), "end with")?;
    let found = match by_id {
        Some(id) => Some(id),
        None => one(scan.items.iter().filter(is_file).collect(), "are in")?,
    };
    found.ok_or_else(|| unknown(text))
}

fn unknown(text: &str) -> Error {
    let shown: String = text.chars().take(64).collect();
    model::Error::not_found(format!("there is no import {shown:?}")).into()
}

fn unknown_skill(text: &str) -> Error {
    let shown: String = text.chars().take(64).collect();
    model::Error::not_found(format!("there is no skill {shown:?}")).into()
}

/// The workspace that is meant: the one that is named, or where threads usually work.
fn workspace(cx: &Cx, cwd: Option<PathBuf>) -> Result<PathBuf, Error> {
    match cwd {
        Some(cwd) => absolute("cwd", &cwd).map(|()| cwd),
        None => Ok(cx.core.agents().cwd()),
    }
}
