//! The JSON twin of a thread's place at a runner.

use std::borrow::Cow;

use rookery_model as model;
use serde::{Deserialize, Serialize};

use super::PathJson;

#[derive(Serialize, Deserialize)]
pub(super) struct RunnerJson<'a> {
    destination: Cow<'a, str>,
    provider: Cow<'a, str>,
    workspace: PathJson<'a>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    read_roots: Vec<PathJson<'a>>,
}

impl<'a> RunnerJson<'a> {
    pub(super) fn of(bound: &'a model::RunnerBinding) -> Self {
        let model::RunnerBinding { destination, provider, workspace, read_roots } = bound;
        Self {
            destination: destination.into(),
            provider: provider.into(),
            workspace: PathJson::of(workspace),
            read_roots: read_roots.iter().map(|path| PathJson::of(path)).collect(),
        }
    }

    pub(super) fn into_model(self) -> model::RunnerBinding {
        model::RunnerBinding {
            destination: self.destination.into_owned(),
            provider: self.provider.into_owned(),
            workspace: self.workspace.into_path(),
            read_roots: self.read_roots.into_iter().map(PathJson::into_path).collect(),
        }
    }
}
