//! What notifications are about, as far as a turn that is followed cares.

use rookery_roder::wire::notification::{name, twin};
use serde::Deserialize;

use crate::talk::requests;

/// Names of the notifications that come under a newer name as well.
pub(super) fn older_names() -> Vec<String> {
    let twins = [
        twin::APPROVAL_REQUESTED,
        twin::APPROVAL_RESOLVED,
        twin::USER_INPUT_REQUESTED,
        twin::USER_INPUT_RESOLVED,
        twin::PLAN_EXIT_REQUESTED,
        twin::PLAN_EXIT_RESOLVED,
    ];
    twins.iter().map(|[older, _]| (*older).to_owned()).collect()
}

/// What most notifications say of themselves.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct About {
    pub(super) thread_id: Option<String>,
    pub(super) thread: Option<ThreadOnly>,
    pub(super) approval_id: Option<String>,
    pub(super) request_id: Option<String>,
    pub(super) approved: Option<bool>,
    pub(super) source: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ThreadOnly {
    pub(super) id: String,
}

impl About {
    pub(super) fn request(&self) -> Option<&str> {
        self.approval_id.as_deref().or(self.request_id.as_deref()).map(requests::bare_id)
    }
}

pub(super) fn asks(method: &str) -> bool {
    let names =
        [twin::APPROVAL_REQUESTED[1], twin::USER_INPUT_REQUESTED[1], twin::PLAN_EXIT_REQUESTED[1]];
    names.contains(&method) || method == name::TOOL_EXECUTION_REQUESTED
}

pub(super) fn settles(method: &str) -> bool {
    let names =
        [twin::APPROVAL_RESOLVED[1], twin::USER_INPUT_RESOLVED[1], twin::PLAN_EXIT_RESOLVED[1]];
    names.contains(&method)
}
