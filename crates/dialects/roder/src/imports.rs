//! Imports of core as this dialect shows them, and what is reported of them.

use rookery_core as core;
use rookery_imports as imports;
use rookery_model as model;
use serde::Serialize;
use serde_json::Value;

use crate::show;
use crate::wire::import::{
    ImportConflict, ImportDecision, ImportDisabled, ImportEnabled, ImportError, ImportFailed,
    ImportItem, ImportPreviewed, ImportScan, ImportSource, ImportStale, ImportsDetected, name,
};
use crate::wire::skill::{SkillDescriptor, SkillSource};

pub(crate) fn scan(scan: &imports::Scan) -> ImportScan {
    ImportScan {
        workspace: scan.workspace.to_string_lossy().into_owned(),
        items: scan.items.iter().map(item).collect(),
        errors: errors(&scan.errors),
    }
}

fn errors(errors: &[imports::ScanError]) -> Vec<ImportError> {
    let error = |error: &imports::ScanError| ImportError {
        path: error.path.clone(),
        message: error.message.clone(),
    };
    errors.iter().map(error).collect()
}

pub(crate) fn item(item: &imports::Item) -> ImportItem {
    let conflict = |one: &imports::Conflict| ImportConflict {
        field: one.field.clone(),
        existing: one.existing.clone(),
        incoming: one.incoming.clone(),
        detail: one.detail.clone(),
    };
    ImportItem {
        id: item.id.clone(),
        title: item.title.clone(),
        summary: item.summary.clone(),
        source: source(&item.source),
        state: item.state.word().to_owned(),
        risk: item.risk.word().to_owned(),
        command_capable: item.is_command_capable,
        approval_required: item.needs_approval,
        preview: item.preview.clone(),
        conflicts: item.conflicts.iter().map(conflict).collect(),
        enabled_at: item.enabled_at.map(show::time),
        live: item.is_live,
    }
}

pub(crate) fn source(source: &imports::Source) -> ImportSource {
    ImportSource {
        source_type: source.kind.word().to_owned(),
        path: source.path.clone(),
        name: source.name.clone(),
        hash: source.hash.clone(),
        detected_at: show::time(source.detected_at),
    }
}

pub(crate) fn decision(decision: &imports::Decision) -> ImportDecision {
    ImportDecision {
        item_id: decision.item_id.clone(),
        decision: decision.kind.word().to_owned(),
        source_hash: decision.source_hash.clone(),
        approved_side_effects: decision.approved_side_effects,
        decided_at: show::time(decision.decided_at),
        workspace: decision.workspace.clone(),
        path: decision.path.clone(),
        name: decision.name.clone(),
    }
}

/// A skill as published clients read it.
pub(crate) fn skill(item: &imports::Item) -> SkillDescriptor {
    let skill = item.content.skill().cloned().unwrap_or_default();
    let (name, description) = (skill.name, skill.description);
    let source = match &item.plugin {
        Some(plugin) => SkillSource::Plugin { plugin_id: plugin.name.clone() },
        None if item.source.path.starts_with('/') => SkillSource::User,
        None => SkillSource::Workspace,
    };
    let activation = if imports::is_active(item) { "enabled" } else { "disabled" };
    SkillDescriptor {
        id: item.id.clone(),
        name,
        canonical_path: item.file.to_string_lossy().into_owned(),
        source,
        exposure: "global".to_owned(),
        activation: activation.to_owned(),
        description,
        experimental: false,
        diagnostics: item.conflicts.iter().map(|conflict| conflict.detail.clone()).collect(),
    }
}

/// What is reported of a change.
pub(crate) fn notification(
    at: model::Timestamp,
    change: &core::ImportChange,
) -> (&'static str, Value) {
    use core::ImportChange;
    let timestamp = show::time(at);
    match change {
        ImportChange::Detected(found) => {
            let ImportScan { workspace, items, errors } = scan(found);
            notice_of(name::DETECTED, ImportsDetected { workspace, items, errors, timestamp })
        }
        ImportChange::Previewed(shown) => {
            notice_of(name::PREVIEWED, ImportPreviewed { item: item(shown), timestamp })
        }
        ImportChange::Enabled(enabled, decided) => {
            let (item, decision) = (item(enabled), decision(decided));
            notice_of(name::ENABLED, ImportEnabled { item, decision, timestamp })
        }
        ImportChange::Disabled(decided) => {
            let (item_id, decision) = (decided.item_id.clone(), decision(decided));
            notice_of(name::DISABLED, ImportDisabled { item_id, decision, timestamp })
        }
        ImportChange::Stale { item: stale, previous_hash } => {
            let (item, previous_hash) = (item(stale), previous_hash.clone());
            notice_of(name::STALE, ImportStale { item, previous_hash, timestamp })
        }
        ImportChange::Failed { item, path, message } => {
            let error = ImportError { path: path.clone(), message: message.clone() };
            notice_of(name::FAILED, ImportFailed { item_id: Some(item.clone()), error, timestamp })
        }
    }
}

fn notice_of(name: &'static str, params: impl Serialize) -> (&'static str, Value) {
    (name, serde_json::to_value(params).unwrap_or_default())
}
