//! Projects.

use std::path::PathBuf;

use rookery_model as model;
use rookery_wire::{call, empty_calls};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Empty, Time, format_time};
use crate::ids::ProjectRef;

empty_calls! {
    /// Params of `rookery/projects/list`, which takes none.
    pub ListProjects: "rookery/projects/list" -> ProjectList,
}

/// A named group of terminals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    pub id: u64,
    /// What users call it.
    pub name: String,
    /// Where its terminals start; what is no UTF-8 in it is replaced.
    pub root: String,
    /// When it was created.
    pub created_at: Time,
}

impl From<&model::Project> for Project {
    fn from(project: &model::Project) -> Self {
        Self {
            id: project.id.get(),
            name: project.name.clone(),
            root: project.root.to_string_lossy().into_owned(),
            created_at: format_time(project.created_at),
        }
    }
}

/// Result of `rookery/projects/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectList {
    /// All projects, in their order.
    pub projects: Vec<Project>,
}

/// Params of `rookery/projects/create`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectCreate {
    /// What users call it.
    pub name: String,
    /// Where its terminals start; absolute.
    pub root: PathBuf,
}

call!("rookery/projects/create" ProjectCreate -> Project);

/// Params of `rookery/projects/rename`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectRename {
    pub project: ProjectRef,
    /// Its new name.
    pub name: String,
}

call!("rookery/projects/rename" ProjectRename -> Empty);

/// Params of `rookery/projects/reorder`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectReorder {
    /// These first, in this order; the others follow as they were.
    pub projects: Vec<ProjectRef>,
}

call!("rookery/projects/reorder" ProjectReorder -> Empty);

/// Params of `rookery/projects/delete`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectDelete {
    /// Which project; its terminals are closed.
    pub project: ProjectRef,
}

call!("rookery/projects/delete" ProjectDelete -> Empty);
