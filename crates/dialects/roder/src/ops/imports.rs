//! Imports of other agents' files: found, shown, enabled, ignored and removed; and skills.

use std::path::PathBuf;

use rookery_core as core;
use rookery_imports as engine;

use crate::context::Cx;
use crate::errors::Error;
use crate::imports;
use crate::wire::import::{
    WorkflowEnableParams, WorkflowEnableResult, WorkflowIgnoreResult, WorkflowItemParams,
    WorkflowPreviewParams, WorkflowPreviewResult, WorkflowRefreshParams, WorkflowRefreshResult,
    WorkflowRemoveResult, WorkflowScanParams, WorkflowScanResult,
};
use crate::wire::skill::{
    Selector, Skill, SkillsListParams, SkillsListResult, SkillsReadParams, SkillsReadResult,
    SkillsSetEnabledParams,
};

pub(crate) async fn scan(cx: Cx, params: WorkflowScanParams) -> Result<WorkflowScanResult, Error> {
    let workspace = workspace(&cx, params.workspace);
    let scan = cx.core.imports().scan(&workspace, params.include_user).await?;
    cx.flush().await;
    Ok(WorkflowScanResult { scan: imports::scan(&scan) })
}

pub(crate) async fn preview(
    cx: Cx,
    params: WorkflowPreviewParams,
) -> Result<WorkflowPreviewResult, Error> {
    let workspace = workspace(&cx, params.workspace);
    let items = cx.core.imports().preview(&workspace, params.item_id.as_deref()).await?;
    cx.flush().await;
    Ok(WorkflowPreviewResult { items: items.iter().map(imports::item).collect() })
}

pub(crate) async fn enable(
    cx: Cx,
    params: WorkflowEnableParams,
) -> Result<WorkflowEnableResult, Error> {
    let workspace = workspace(&cx, params.workspace);
    let new = core::NewImport {
        id: params.item_id,
        approves: params.approve_side_effects,
        hash: params.source_hash,
    };
    match cx.core.imports().enable(&workspace, new).await? {
        core::EnabledImport::Done(item, decision) => {
            cx.flush().await;
            let (item, decision) = (imports::item(&item), imports::decision(&decision));
            Ok(WorkflowEnableResult { item, decision })
        }
        core::EnabledImport::NeedsApproval(item) => {
            let source = serde_json::to_value(imports::source(&item.source)).unwrap_or_default();
            Err(Error::import_needs_approval(&item.id, source, item.risk.word()))
        }
    }
}

pub(crate) async fn ignore(
    cx: Cx,
    params: WorkflowItemParams,
) -> Result<WorkflowIgnoreResult, Error> {
    let workspace = workspace(&cx, params.workspace);
    let decision = cx.core.imports().ignore(&workspace, &params.item_id).await?;
    cx.flush().await;
    Ok(WorkflowIgnoreResult { item_id: params.item_id, decision: imports::decision(&decision) })
}

pub(crate) async fn refresh(
    cx: Cx,
    params: WorkflowRefreshParams,
) -> Result<WorkflowRefreshResult, Error> {
    let workspace = workspace(&cx, params.workspace);
    let refreshed = cx.core.imports().refresh(&workspace).await?;
    cx.flush().await;
    Ok(WorkflowRefreshResult {
        scan: imports::scan(&refreshed.scan),
        stale: refreshed.stale.iter().map(imports::item).collect(),
        missing: refreshed.missing.iter().map(imports::decision).collect(),
    })
}

pub(crate) async fn remove(
    cx: Cx,
    params: WorkflowItemParams,
) -> Result<WorkflowRemoveResult, Error> {
    let workspace = workspace(&cx, params.workspace);
    let decision = cx.core.imports().remove(&workspace, &params.item_id).await?;
    cx.flush().await;
    Ok(WorkflowRemoveResult {
        item_id: params.item_id,
        state: engine::State::Removed.word().to_owned(),
        decision: imports::decision(&decision),
    })
}

pub(crate) async fn skills(cx: Cx, params: SkillsListParams) -> Result<SkillsListResult, Error> {
    let named = params.workspace.or(params.cwd).map(PathBuf::from);
    let place = match (named, params.workspace_id) {
        (Some(named), _) => named,
        (None, None) => cx.cwd(),
        (None, id) => {
            let (agents, root) = (cx.core.agents(), params.root_id.as_deref());
            agents.place_for(None, id.as_deref(), root, &cx.cwd()).await?.root
        }
    };
    Ok(listed(cx.core.imports().skills(&place).await?))
}

pub(crate) async fn read_skill(
    cx: Cx,
    params: SkillsReadParams,
) -> Result<SkillsReadResult, Error> {
    let workspace = workspace(&cx, params.workspace.or(params.cwd));
    let selector = selector(params.selector);
    let item = cx.core.imports().find_skill(&workspace, &selector).await?;
    let skill = item.map(|item| {
        let body = item.content.skill().map(|skill| skill.body.clone()).unwrap_or_default();
        Skill { descriptor: imports::skill(&item), body }
    });
    Ok(SkillsReadResult { skill })
}

pub(crate) async fn set_skill(
    cx: Cx,
    params: SkillsSetEnabledParams,
) -> Result<SkillsListResult, Error> {
    let workspace = workspace(&cx, params.workspace.or(params.cwd));
    let selector = selector(params.selector);
    let list = cx.core.imports().set_skill(&workspace, &selector, params.enabled).await?;
    cx.flush().await;
    Ok(listed(list))
}

fn listed(list: core::SkillList) -> SkillsListResult {
    let diagnostic = |error: &engine::ScanError| format!("{}: {}", error.path, error.message);
    SkillsListResult {
        skills: list.skills.iter().map(imports::skill).collect(),
        diagnostics: list.errors.iter().map(diagnostic).collect(),
    }
}

fn selector(selector: Selector) -> core::SkillSelector {
    match selector {
        Selector::Name(name) => core::SkillSelector::Name(name),
        Selector::Path(path) => core::SkillSelector::Path(path),
    }
}

/// The directory that is meant: the one that is named, or the client's.
fn workspace(cx: &Cx, named: Option<String>) -> PathBuf {
    named.map_or_else(|| cx.cwd(), PathBuf::from)
}
