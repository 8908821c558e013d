//! The JSON twins of child agents and their traces.

use std::borrow::Cow;
use std::time::Duration;

use rookery_model as model;
use serde::{Deserialize, Serialize};

use super::thread::UsageJson;
use super::word::{ChildExitJson, LaneJson, TraceStatusJson};
use super::{DecodeError, id_from_text};

#[derive(Serialize, Deserialize)]
struct ParentTurnJson {
    thread: String,
    turn: String,
}

impl ParentTurnJson {
    fn of(parent: model::ParentTurn) -> Self {
        let model::ParentTurn { thread, turn } = parent;
        ParentTurnJson { thread: thread.to_string(), turn: turn.to_string() }
    }

    fn into_model(self) -> Result<model::ParentTurn, DecodeError> {
        let (thread, turn) = (id_from_text(&self.thread)?, id_from_text(&self.turn)?);
        Ok(model::ParentTurn { thread, turn })
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct ChildOfJson<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<ParentTurnJson>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    outlives_turn: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
    agent: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lane: Option<LaneJson>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    read_only: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tools: Option<Cow<'a, [String]>>,
    #[serde(default)]
    instructions: Cow<'a, str>,
    max_calls: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_chars: Option<u32>,
    /// In milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
}

impl<'a> ChildOfJson<'a> {
    pub(super) fn of(child: &'a model::ChildOf) -> Self {
        let model::ChildOf {
            parent,
            outlives_turn,
            trace,
            agent,
            lane,
            read_only,
            tools,
            instructions,
            max_calls,
            max_chars,
            timeout,
        } = child;
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        ChildOfJson {
            parent: parent.map(ParentTurnJson::of),
            outlives_turn: *outlives_turn,
            trace: trace.map(|id| id.to_string()),
            agent: agent.into(),
            lane: lane.map(LaneJson::of),
            read_only: *read_only,
            tools: tools.as_deref().map(Cow::Borrowed),
            instructions: instructions.into(),
            max_calls: *max_calls,
            max_chars: *max_chars,
            timeout_ms: timeout.map(millis),
        }
    }

    pub(super) fn into_model(self) -> Result<model::ChildOf, DecodeError> {
        Ok(model::ChildOf {
            parent: self.parent.map(ParentTurnJson::into_model).transpose()?,
            outlives_turn: self.outlives_turn,
            trace: self.trace.map(|id| id_from_text(&id)).transpose()?,
            agent: self.agent.into_owned(),
            lane: self.lane.map(LaneJson::into_model),
            read_only: self.read_only,
            tools: self.tools.map(Cow::into_owned),
            instructions: self.instructions.into_owned(),
            max_calls: self.max_calls,
            max_chars: self.max_chars,
            timeout: self.timeout_ms.map(Duration::from_millis),
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TraceBodyJson<'a> {
    Said(Cow<'a, str>),
    Called(Cow<'a, str>),
    Returned(Cow<'a, str>),
    Status(TraceStatusJson),
    Cut,
}

impl<'a> TraceBodyJson<'a> {
    fn of(body: &'a model::TraceBody) -> Self {
        match body {
            model::TraceBody::Text(item) => Self::Said(item.as_str().into()),
            model::TraceBody::Called(item) => Self::Called(item.as_str().into()),
            model::TraceBody::Returned(item) => Self::Returned(item.as_str().into()),
            model::TraceBody::Status(status) => Self::Status(TraceStatusJson::of(*status)),
            model::TraceBody::Cut => Self::Cut,
        }
    }

    fn into_model(self) -> model::TraceBody {
        match self {
            Self::Said(item) => model::TraceBody::Text(model::ItemId::new(item)),
            Self::Called(item) => model::TraceBody::Called(model::ItemId::new(item)),
            Self::Returned(item) => model::TraceBody::Returned(model::ItemId::new(item)),
            Self::Status(status) => model::TraceBody::Status(status.into_model()),
            Self::Cut => model::TraceBody::Cut,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct TraceEntryJson<'a> {
    at: i64,
    body: TraceBodyJson<'a>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct TraceJson<'a> {
    id: String,
    parent: ParentTurnJson,
    child: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    child_turn: Option<String>,
    title: Cow<'a, str>,
    agent: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lane: Option<LaneJson>,
    status: TraceStatusJson,
    created_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    started_at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended_at: Option<i64>,
    /// Absent while nothing was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<UsageJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    activity: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit: Option<ChildExitJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    entries: Vec<TraceEntryJson<'a>>,
}

impl<'a> TraceJson<'a> {
    pub(super) fn of(trace: &'a model::Trace) -> Self {
        let model::Trace {
            id,
            parent,
            child,
            child_turn,
            title,
            agent,
            model,
            lane,
            status,
            created_at,
            started_at,
            ended_at,
            usage,
            activity,
            exit,
            error,
            entries,
        } = trace;
        let entry = |entry: &'a model::TraceEntry| TraceEntryJson {
            at: entry.at.as_micros(),
            body: TraceBodyJson::of(&entry.body),
        };
        TraceJson {
            id: id.to_string(),
            parent: ParentTurnJson::of(*parent),
            child: child.to_string(),
            child_turn: child_turn.map(|id| id.to_string()),
            title: title.into(),
            agent: agent.into(),
            model: model.as_ref().map(Cow::from),
            lane: lane.map(LaneJson::of),
            status: TraceStatusJson::of(*status),
            created_at: created_at.as_micros(),
            started_at: started_at.map(model::Timestamp::as_micros),
            ended_at: ended_at.map(model::Timestamp::as_micros),
            usage: usage.as_ref().and_then(UsageJson::of),
            activity: activity.as_ref().map(Cow::from),
            exit: exit.map(ChildExitJson::of),
            error: error.as_ref().map(Cow::from),
            entries: entries.iter().map(entry).collect(),
        }
    }

    pub(super) fn into_model(self) -> Result<model::Trace, DecodeError> {
        let entry = |entry: TraceEntryJson<'_>| model::TraceEntry {
            at: model::Timestamp::from_micros(entry.at),
            body: entry.body.into_model(),
        };
        Ok(model::Trace {
            id: id_from_text(&self.id)?,
            parent: self.parent.into_model()?,
            child: id_from_text(&self.child)?,
            child_turn: self.child_turn.map(|id| id_from_text(&id)).transpose()?,
            title: self.title.into_owned(),
            agent: self.agent.into_owned(),
            model: self.model.map(Cow::into_owned),
            lane: self.lane.map(LaneJson::into_model),
            status: self.status.into_model(),
            created_at: model::Timestamp::from_micros(self.created_at),
            started_at: self.started_at.map(model::Timestamp::from_micros),
            ended_at: self.ended_at.map(model::Timestamp::from_micros),
            usage: self.usage.map(UsageJson::into_model),
            activity: self.activity.map(Cow::into_owned),
            exit: self.exit.map(ChildExitJson::into_model),
            error: self.error.map(Cow::into_owned),
            entries: self.entries.into_iter().map(entry).collect(),
        })
    }
}
