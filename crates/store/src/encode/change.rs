//! The JSON twins of what happened to files.

use std::borrow::Cow;

use rookery_model as model;
use serde::{Deserialize, Serialize};

use super::word::{FileOperationJson, FileStatusJson, LineKindJson};
use super::{DecodeError, id_from_text};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChangeRecordJson<'a> {
    Hunk(Box<HunkJson<'a>>),
    Observation(ObservationJson<'a>),
}

impl<'a> ChangeRecordJson<'a> {
    pub(super) fn of(record: &'a model::ChangeRecord) -> Self {
        match record {
            model::ChangeRecord::Hunk(hunk) => Self::Hunk(Box::new(HunkJson::of(hunk))),
            model::ChangeRecord::Observation(seen) => Self::Observation(ObservationJson::of(seen)),
        }
    }

    pub(super) fn into_model(self) -> Result<model::ChangeRecord, DecodeError> {
        Ok(match self {
            Self::Hunk(hunk) => model::ChangeRecord::Hunk(hunk.into_model()?),
            Self::Observation(seen) => model::ChangeRecord::Observation(seen.into_model()?),
        })
    }
}

/// What a hunk belongs to, as it is spelled here.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PlanKeyJson<'a> {
    Request(String),
    Call(Cow<'a, str>),
}

impl<'a> PlanKeyJson<'a> {
    pub(super) fn of(key: &'a model::PlanKey) -> Self {
        match key {
            model::PlanKey::Request(id) => Self::Request(id.to_string()),
            model::PlanKey::Call(item) => Self::Call(item.as_str().into()),
        }
    }

    pub(super) fn into_model(self) -> Result<model::PlanKey, DecodeError> {
        Ok(match self {
            Self::Request(id) => model::PlanKey::Request(id_from_text(&id)?),
            Self::Call(item) => model::PlanKey::Call(model::ItemId::new(item)),
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RollbackJson<'a> {
    Available,
    Applied,
    Unavailable(Cow<'a, str>),
    Conflict(Cow<'a, str>),
}

impl<'a> RollbackJson<'a> {
    fn of(rollback: &'a model::Rollback) -> Self {
        match rollback {
            model::Rollback::Available => Self::Available,
            model::Rollback::Applied => Self::Applied,
            model::Rollback::Unavailable(reason) => Self::Unavailable(reason.into()),
            model::Rollback::Conflict(reason) => Self::Conflict(reason.into()),
        }
    }

    fn into_model(self) -> model::Rollback {
        match self {
            Self::Available => model::Rollback::Available,
            Self::Applied => model::Rollback::Applied,
            Self::Unavailable(reason) => model::Rollback::Unavailable(reason.into_owned()),
            Self::Conflict(reason) => model::Rollback::Conflict(reason.into_owned()),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct UndoneJson {
    number: u64,
    at: u64,
    removed: u64,
    added: u64,
}

impl UndoneJson {
    fn of(undone: &model::Undone) -> Self {
        let model::Undone { number, at, removed, added } = *undone;
        UndoneJson { number, at, removed, added }
    }

    fn into_model(self) -> model::Undone {
        let UndoneJson { number, at, removed, added } = self;
        model::Undone { number, at, removed, added }
    }
}

#[derive(Serialize, Deserialize)]
struct LineJson<'a> {
    kind: LineKindJson,
    text: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct HunkJson<'a> {
    number: u64,
    id: Cow<'a, str>,
    thread: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<String>,
    call: Cow<'a, str>,
    tool: Cow<'a, str>,
    path: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    old_path: Option<Cow<'a, str>>,
    operation: FileOperationJson,
    old: (u64, u64),
    new: (u64, u64),
    lines: Vec<LineJson<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    obstacle: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<PlanKeyJson<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checkpoint: Option<String>,
    rollback: RollbackJson<'a>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_begun: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undone: Option<UndoneJson>,
    at: i64,
}

impl<'a> HunkJson<'a> {
    fn of(hunk: &'a model::Hunk) -> Self {
        let model::Hunk {
            number,
            id,
            thread,
            turn,
            call,
            tool,
            edit,
            plan,
            step,
            checkpoint,
            rollback,
            is_begun,
            undone,
            at,
        } = hunk;
        let model::Edit {
            path,
            old_path,
            operation,
            old_start,
            old_lines,
            new_start,
            new_lines,
            lines,
            mode,
            obstacle,
        } = edit;
        let line = |line: &'a model::HunkLine| LineJson {
            kind: LineKindJson::of(line.kind),
            text: line.text.as_str().into(),
        };
        HunkJson {
            number: *number,
            id: id.into(),
            thread: thread.to_string(),
            turn: turn.map(|turn| turn.to_string()),
            call: call.into(),
            tool: tool.into(),
            path: path.into(),
            old_path: old_path.as_deref().map(Cow::from),
            operation: FileOperationJson::of(*operation),
            old: (*old_start, *old_lines),
            new: (*new_start, *new_lines),
            lines: lines.iter().map(line).collect(),
            mode: *mode,
            obstacle: obstacle.as_deref().map(Cow::from),
            plan: plan.as_ref().map(PlanKeyJson::of),
            step: step.as_deref().map(Cow::from),
            checkpoint: checkpoint.map(|checkpoint| checkpoint.to_string()),
            rollback: RollbackJson::of(rollback),
            is_begun: *is_begun,
            undone: undone.as_ref().map(UndoneJson::of),
            at: at.as_micros(),
        }
    }

    fn into_model(self) -> Result<model::Hunk, DecodeError> {
        let line = |line: LineJson<'_>| model::HunkLine {
            kind: line.kind.into_model(),
            text: line.text.into_owned(),
        };
        let edit = model::Edit {
            path: self.path.into_owned(),
            old_path: self.old_path.map(Cow::into_owned),
            operation: self.operation.into_model(),
            old_start: self.old.0,
            old_lines: self.old.1,
            new_start: self.new.0,
            new_lines: self.new.1,
            lines: self.lines.into_iter().map(line).collect(),
            mode: self.mode,
            obstacle: self.obstacle.map(Cow::into_owned),
        };
        Ok(model::Hunk {
            number: self.number,
            id: self.id.into_owned(),
            thread: id_from_text(&self.thread)?,
            turn: self.turn.map(|turn| id_from_text(&turn)).transpose()?,
            call: self.call.into_owned(),
            tool: self.tool.into_owned(),
            edit,
            plan: self.plan.map(PlanKeyJson::into_model).transpose()?,
            step: self.step.map(Cow::into_owned),
            checkpoint: self.checkpoint.map(|id| id_from_text(&id)).transpose()?,
            rollback: self.rollback.into_model(),
            is_begun: self.is_begun,
            undone: self.undone.map(UndoneJson::into_model),
            at: model::Timestamp::from_micros(self.at),
        })
    }
}

#[derive(Serialize, Deserialize)]
struct FileJson<'a> {
    path: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    old_path: Option<Cow<'a, str>>,
    status: FileStatusJson,
    #[serde(default)]
    additions: u64,
    #[serde(default)]
    deletions: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_binary: bool,
}

impl<'a> FileJson<'a> {
    fn of(file: &'a model::ObservedFile) -> Self {
        let model::ObservedFile { path, old_path, status, additions, deletions, is_binary } = file;
        FileJson {
            path: path.into(),
            old_path: old_path.as_deref().map(Cow::from),
            status: FileStatusJson::of(*status),
            additions: *additions,
            deletions: *deletions,
            is_binary: *is_binary,
        }
    }

    fn into_model(self) -> model::ObservedFile {
        model::ObservedFile {
            path: self.path.into_owned(),
            old_path: self.old_path.map(Cow::into_owned),
            status: self.status.into_model(),
            additions: self.additions,
            deletions: self.deletions,
            is_binary: self.is_binary,
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct ObservationJson<'a> {
    number: u64,
    id: Cow<'a, str>,
    thread: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<String>,
    call: Cow<'a, str>,
    tool: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_shared: bool,
    files: Vec<FileJson<'a>>,
    at: i64,
}

impl<'a> ObservationJson<'a> {
    fn of(seen: &'a model::Observation) -> Self {
        let model::Observation { number, id, thread, turn, call, tool, is_shared, files, at } =
            seen;
        ObservationJson {
            number: *number,
            id: id.into(),
            thread: thread.to_string(),
            turn: turn.map(|turn| turn.to_string()),
            call: call.into(),
            tool: tool.into(),
            is_shared: *is_shared,
            files: files.iter().map(FileJson::of).collect(),
            at: at.as_micros(),
        }
    }

    fn into_model(self) -> Result<model::Observation, DecodeError> {
        Ok(model::Observation {
            number: self.number,
            id: self.id.into_owned(),
            thread: id_from_text(&self.thread)?,
            turn: self.turn.map(|turn| id_from_text(&turn)).transpose()?,
            call: self.call.into_owned(),
            tool: self.tool.into_owned(),
            is_shared: self.is_shared,
            files: self.files.into_iter().map(FileJson::into_model).collect(),
            at: model::Timestamp::from_micros(self.at),
        })
    }
}
