//! The JSON twins of what goes on in a terminal.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rookery_model::{self as model, Words as _};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ShellJson {
    #[default]
    Unknown,
    AtPrompt,
    Foreground,
}

/// Pairs of domain values and their twins, each in one place for both directions.
const SHELLS: [(model::ShellState, ShellJson); 3] = [
    (model::ShellState::Unknown, ShellJson::Unknown),
    (model::ShellState::AtPrompt, ShellJson::AtPrompt),
    (model::ShellState::Foreground, ShellJson::Foreground),
];

#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LifecycleJson {
    #[default]
    Inactive,
    Working,
    Waiting,
    Finished,
    Failed,
}

const LIFECYCLES: [(model::Lifecycle, LifecycleJson); 5] = [
    (model::Lifecycle::Inactive, LifecycleJson::Inactive),
    (model::Lifecycle::Working, LifecycleJson::Working),
    (model::Lifecycle::Waiting, LifecycleJson::Waiting),
    (model::Lifecycle::Finished, LifecycleJson::Finished),
    (model::Lifecycle::Failed, LifecycleJson::Failed),
];

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RunStateJson {
    Quiet,
    Running,
    NeedsInput,
    Idle,
}

const RUN_STATES: [(model::RunState, RunStateJson); 4] = [
    (model::RunState::Quiet, RunStateJson::Quiet),
    (model::RunState::Running, RunStateJson::Running),
    (model::RunState::NeedsInput, RunStateJson::NeedsInput),
    (model::RunState::Idle, RunStateJson::Idle),
];

impl RunStateJson {
    pub(super) fn of(state: model::RunState) -> Self {
        twin(&RUN_STATES, state, RunStateJson::Quiet)
    }

    pub(super) fn into_model(self) -> model::RunState {
        original(&RUN_STATES, self)
    }
}

fn twin<M: Copy + PartialEq, J: Copy>(pairs: &[(M, J)], value: M, otherwise: J) -> J {
    pairs.iter().find(|(model, _)| *model == value).map_or(otherwise, |(_, json)| *json)
}

fn original<M: Copy + Default, J: Copy + PartialEq>(pairs: &[(M, J)], value: J) -> M {
    pairs.iter().find(|(_, json)| *json == value).map_or_else(M::default, |(model, _)| *model)
}

#[derive(Serialize, Deserialize)]
struct OwnerJson<'a> {
    source: Cow<'a, str>,
    #[serde(default)]
    session: Cow<'a, str>,
    #[serde(default)]
    detail: Cow<'a, str>,
    #[serde(default)]
    metadata: Cow<'a, BTreeMap<String, String>>,
    #[serde(default)]
    last_event_at: i64,
}

#[derive(Serialize, Deserialize)]
struct PendingJson<'a> {
    title: Cow<'a, str>,
    body: Cow<'a, str>,
    at: i64,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ActivityJson<'a> {
    shell: ShellJson,
    lifecycle: LifecycleJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<OwnerJson<'a>>,
    has_spoken: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<PendingJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    requests: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<AgentJson<'a>>,
}

#[derive(Serialize, Deserialize)]
struct AgentJson<'a> {
    tool: Cow<'a, str>,
    state: Cow<'a, str>,
}

impl<'a> ActivityJson<'a> {
    pub(super) fn of(activity: &'a model::Activity) -> Self {
        let model::Activity { shell, lifecycle, owner, has_spoken, pending, requests, agent } =
            activity;
        ActivityJson {
            shell: twin(&SHELLS, *shell, ShellJson::Unknown),
            lifecycle: twin(&LIFECYCLES, *lifecycle, LifecycleJson::Inactive),
            owner: owner.as_ref().map(|owner| OwnerJson {
                source: (&owner.source).into(),
                session: (&owner.session).into(),
                detail: (&owner.detail).into(),
                metadata: Cow::Borrowed(&owner.metadata),
                last_event_at: owner.last_event_at.as_micros(),
            }),
            has_spoken: *has_spoken,
            pending: pending.as_ref().map(|pending| PendingJson {
                title: (&pending.text.title).into(),
                body: (&pending.text.body).into(),
                at: pending.at.as_micros(),
            }),
            requests: requests.iter().map(ToString::to_string).collect(),
            agent: agent.as_ref().map(|agent| AgentJson {
                tool: (&agent.tool).into(),
                state: agent.state.word().into(),
            }),
        }
    }

    pub(super) fn into_model(self) -> model::Activity {
        model::Activity {
            shell: original(&SHELLS, self.shell),
            lifecycle: original(&LIFECYCLES, self.lifecycle),
            owner: self.owner.map(|owner| model::Owner {
                source: owner.source.into_owned(),
                session: owner.session.into_owned(),
                detail: owner.detail.into_owned(),
                metadata: owner.metadata.into_owned(),
                last_event_at: model::Timestamp::from_micros(owner.last_event_at),
            }),
            has_spoken: self.has_spoken,
            pending: self.pending.map(|pending| model::Pending {
                text: model::NotificationText {
                    title: pending.title.into_owned(),
                    body: pending.body.into_owned(),
                },
                at: model::Timestamp::from_micros(pending.at),
            }),
            // One that is no id is no request of ours.
            requests: self.requests.iter().filter_map(|id| id.parse().ok()).collect(),
            agent: self.agent.and_then(|agent| {
                let state = model::AgentState::from_word(&agent.state)?;
                Some(model::RunningAgent { tool: agent.tool.into_owned(), state })
            }),
        }
    }
}
