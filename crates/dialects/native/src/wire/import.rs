//! Params and results about imports: files of other agents that take effect here; and skills.

use std::path::PathBuf;

use rookery_imports as imports;
use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::format_time;

/// Params of `rookery/import/scan`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportScan {
    /// The workspace; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// Whether files of the user's home and installed plugins are scanned as well.
    #[serde(default)]
    pub include_user: bool,
}

call!("rookery/import/scan" ImportScan -> Imports);

/// Result of `rookery/import/scan` and `rookery/import/refresh`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Imports {
    pub workspace: String,
    /// Sorted by id.
    pub items: Vec<Import>,
    /// Files that could not be read or understood.
    pub errors: Vec<ImportProblem>,
    /// Ids of items that are enabled and whose files are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// A file that could not be read or understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportProblem {
    pub path: String,
    pub message: String,
}

/// Something that can be imported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Import {
    pub id: String,
    /// `guidance`, `rule`, `skill`, `slashCommand`, `agent`, `mcpServer`, `hook` or `plugin`.
    pub kind: String,
    pub title: String,
    pub summary: String,
    /// From the workspace on; absolute for files of the user.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// SHA-256 of the file.
    pub hash: String,
    /// `detected`, `previewed`, `enabled`, `ignored`, `disabled`, `stale` or `failed`.
    pub state: String,
    /// `passive`, `startsProcess`, `runsHook` or `unknown`.
    pub risk: String,
    /// Whether it starts programs or contacts servers, which has to be approved.
    pub needs_approval: bool,
    /// Whether it takes effect without a decision.
    pub is_live: bool,
    /// What it holds, without secrets.
    pub preview: Value,
    /// What has the same name.
    pub conflicts: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled_at: Option<String>,
}

impl From<&imports::Item> for Import {
    fn from(item: &imports::Item) -> Self {
        let conflict = |one: &imports::Conflict| format!("{}: {}", one.existing, one.detail);
        Self {
            id: item.id.clone(),
            kind: item.source.kind.word().to_owned(),
            title: item.title.clone(),
            summary: item.summary.clone(),
            path: item.source.path.clone(),
            name: item.source.name.clone(),
            hash: item.source.hash.clone(),
            state: item.state.word().to_owned(),
            risk: item.risk.word().to_owned(),
            needs_approval: item.needs_approval,
            is_live: item.is_live,
            preview: item.preview.clone(),
            conflicts: item.conflicts.iter().map(conflict).collect(),
            enabled_at: item.enabled_at.map(format_time),
        }
    }
}

impl From<&imports::Scan> for Imports {
    fn from(scan: &imports::Scan) -> Self {
        let problem = |error: &imports::ScanError| ImportProblem {
            path: error.path.clone(),
            message: error.message.clone(),
        };
        Self {
            workspace: scan.workspace.to_string_lossy().into_owned(),
            items: scan.items.iter().map(Import::from).collect(),
            errors: scan.errors.iter().map(problem).collect(),
            missing: Vec::new(),
        }
    }
}

/// Params of `rookery/import/get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportGet {
    /// Its id, or the end of it that no other has.
    pub item: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
}

call!("rookery/import/get" ImportGet -> Import);

/// Params of `rookery/import/enable`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportEnable {
    pub item: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// Approves that it starts programs or contacts servers.
    #[serde(default)]
    pub approve: bool,
    /// The hash of the item when it was shown; another one is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

call!("rookery/import/enable" ImportEnable -> ImportEnabled);

/// Result of `rookery/import/enable`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportEnabled {
    pub item: Import,
    /// Whether it is enabled now; if not, it has to be approved.
    pub is_enabled: bool,
}

/// Params of `rookery/import/ignore`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportIgnore {
    pub item: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
}

call!("rookery/import/ignore" ImportIgnore -> ImportDecided);

/// Params of `rookery/import/remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportRemove {
    /// Its whole id if its file is gone.
    pub item: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
}

call!("rookery/import/remove" ImportRemove -> ImportDecided);

/// Result of `rookery/import/ignore` and `rookery/import/remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportDecided {
    pub item: String,
    /// `ignore` or `remove`.
    pub decision: String,
    pub path: String,
}

impl From<&imports::Decision> for ImportDecided {
    fn from(decision: &imports::Decision) -> Self {
        Self {
            item: decision.item_id.clone(),
            decision: decision.kind.word().to_owned(),
            path: decision.path.clone(),
        }
    }
}

/// Params of `rookery/import/refresh`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportRefresh {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
}

call!("rookery/import/refresh" ImportRefresh -> Imports);

/// Params of `rookery/skill/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillList {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
}

call!("rookery/skill/list" SkillList -> Skills);

/// Params of `rookery/skill/get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillGet {
    /// Its name, or the path of its file.
    pub skill: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
}

call!("rookery/skill/get" SkillGet -> Skill);

/// Params of `rookery/skill/set`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillSet {
    pub skill: String,
    pub is_enabled: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
}

call!("rookery/skill/set" SkillSet -> Skills);

/// Result of `rookery/skill/list` and `rookery/skill/set`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Skills {
    /// By name, without their texts.
    pub skills: Vec<Skill>,
    pub errors: Vec<ImportProblem>,
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Skill {
    pub id: String,
    pub name: String,
    pub description: String,
    /// Its file.
    pub path: String,
    pub is_enabled: bool,
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

impl From<&imports::Item> for Skill {
    fn from(item: &imports::Item) -> Self {
        let skill = item.content.skill().cloned().unwrap_or_default();
        let (name, description) = (skill.name, skill.description);
        Self {
            id: item.id.clone(),
            name,
            description,
            path: item.source.path.clone(),
            is_enabled: imports::is_active(item),
            body: None,
        }
    }
}
