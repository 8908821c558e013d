//! The JSON twins of background tasks and of what they wrote.

use std::borrow::Cow;
use std::time::Duration;

use rookery_model as model;
use serde::{Deserialize, Serialize};

use super::word::{FateJson, LifetimeJson, LogStreamJson, LostJson, TaskStateJson};
use super::{DecodeError, PathJson, id_from_text};

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Serialize, Deserialize)]
pub(super) struct TaskJson<'a> {
    id: Cow<'a, str>,
    space: Cow<'a, str>,
    by: Cow<'a, str>,
    key: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    needs: Vec<Cow<'a, str>>,
    spec: SpecJson<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thread: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<String>,
    lifetime: LifetimeJson,
    origin: String,
    #[serde(default)]
    retry: RetryJson,
    lost: LostJson,
    state: TaskStateJson,
    #[serde(default)]
    epoch: u64,
    #[serde(default)]
    message: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    holder: Option<HolderJson<'a>>,
    #[serde(default, skip_serializing_if = "is_false")]
    maybe_twice: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    attempts: Vec<AttemptJson<'a>>,
    #[serde(default)]
    attempt_count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cancel: Option<CancelJson<'a>>,
    created_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    started_at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended_at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<ResultJson<'a>>,
    #[serde(default)]
    revision: u64,
}

#[derive(Serialize, Deserialize)]
struct SpecJson<'a> {
    executor: Cow<'a, str>,
    input: Cow<'a, str>,
    workspace: PathJson<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    terminal: Option<TerminalJson<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    runner: Option<RunnerJson<'a>>,
    #[serde(default, skip_serializing_if = "is_false")]
    is_reading: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    is_unasked: bool,
}

#[derive(Serialize, Deserialize)]
struct RunnerJson<'a> {
    destination: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workspace: Option<PathJson<'a>>,
}

#[derive(Serialize, Deserialize)]
struct TerminalJson<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    project: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cols: Option<u16>,
    #[serde(default, skip_serializing_if = "is_false")]
    keep: bool,
}

#[derive(Default, Serialize, Deserialize)]
struct RetryJson {
    #[serde(default)]
    max: u32,
    #[serde(default, skip_serializing_if = "is_false")]
    on_lost: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    on_failed: bool,
    #[serde(default)]
    backoff_ms: u64,
}

#[derive(Serialize, Deserialize)]
struct HolderJson<'a> {
    node: Cow<'a, str>,
    since: i64,
}

#[derive(Serialize, Deserialize)]
struct AttemptJson<'a> {
    epoch: u64,
    node: Cow<'a, str>,
    from: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<i64>,
    fate: FateJson,
}

#[derive(Serialize, Deserialize)]
struct CancelJson<'a> {
    by: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<Cow<'a, str>>,
    at: i64,
}

#[derive(Serialize, Deserialize)]
struct ResultJson<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payload: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error_kind: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    partial: Option<Cow<'a, str>>,
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

fn text(text: &Option<String>) -> Option<Cow<'_, str>> {
    text.as_deref().map(Cow::Borrowed)
}

fn owned(text: Option<Cow<'_, str>>) -> Option<String> {
    text.map(Cow::into_owned)
}

fn time(micros: i64) -> model::Timestamp {
    model::Timestamp::from_micros(micros)
}

impl<'a> TaskJson<'a> {
    pub(super) fn of(task: &'a model::Task) -> Self {
        let model::Task {
            id,
            space,
            by,
            key,
            needs,
            spec,
            thread,
            turn,
            lifetime,
            origin,
            retry,
            lost,
            state,
            epoch,
            message,
            holder,
            maybe_twice,
            attempts,
            attempt_count,
            cancel,
            created_at,
            started_at,
            ended_at,
            result,
            revision,
        } = task;
        TaskJson {
            id: id.to_string().into(),
            space: space.into(),
            by: by.into(),
            key: key.into(),
            needs: needs.iter().map(Into::into).collect(),
            spec: SpecJson::of(spec),
            thread: thread.map(|id| id.to_string()),
            turn: turn.map(|id| id.to_string()),
            lifetime: LifetimeJson::of(*lifetime),
            origin: origin.to_string(),
            retry: RetryJson {
                max: retry.max,
                on_lost: retry.on_lost,
                on_failed: retry.on_failed,
                backoff_ms: millis(retry.backoff),
            },
            lost: LostJson::of(*lost),
            state: TaskStateJson::of(*state),
            epoch: *epoch,
            message: *message,
            holder: holder.as_ref().map(|model::Holder { node, since }| HolderJson {
                node: node.into(),
                since: since.as_micros(),
            }),
            maybe_twice: *maybe_twice,
            attempts: attempts.iter().map(AttemptJson::of).collect(),
            attempt_count: *attempt_count,
            cancel: cancel.as_ref().map(|model::Cancel { by, reason, at }| CancelJson {
                by: by.into(),
                reason: text(reason),
                at: at.as_micros(),
            }),
            created_at: created_at.as_micros(),
            started_at: started_at.map(model::Timestamp::as_micros),
            ended_at: ended_at.map(model::Timestamp::as_micros),
            result: result.as_ref().map(ResultJson::of),
            revision: *revision,
        }
    }

    pub(super) fn into_model(self) -> Result<model::Task, DecodeError> {
        Ok(model::Task {
            id: id_from_text(&self.id)?,
            space: self.space.into_owned(),
            by: self.by.into_owned(),
            key: self.key.into_owned(),
            needs: self.needs.into_iter().map(Cow::into_owned).collect(),
            spec: self.spec.into_model(),
            thread: self.thread.as_deref().map(id_from_text).transpose()?,
            turn: self.turn.as_deref().map(id_from_text).transpose()?,
            lifetime: self.lifetime.into_model(),
            origin: model::Origin::read(&self.origin),
            retry: model::Retry {
                max: self.retry.max,
                on_lost: self.retry.on_lost,
                on_failed: self.retry.on_failed,
                backoff: Duration::from_millis(self.retry.backoff_ms),
            },
            lost: self.lost.into_model(),
            state: self.state.into_model(),
            epoch: self.epoch,
            message: self.message,
            holder: self.holder.map(|HolderJson { node, since }| model::Holder {
                node: node.into_owned(),
                since: time(since),
            }),
            maybe_twice: self.maybe_twice,
            attempts: self.attempts.into_iter().map(AttemptJson::into_model).collect(),
            attempt_count: self.attempt_count,
            cancel: self.cancel.map(|CancelJson { by, reason, at }| model::Cancel {
                by: by.into_owned(),
                reason: owned(reason),
                at: time(at),
            }),
            created_at: time(self.created_at),
            started_at: self.started_at.map(time),
            ended_at: self.ended_at.map(time),
            result: self.result.map(ResultJson::into_model),
            revision: self.revision,
        })
    }
}

impl<'a> SpecJson<'a> {
    fn of(spec: &'a model::TaskSpec) -> Self {
        let model::TaskSpec {
            executor,
            input,
            workspace,
            timeout,
            terminal,
            runner,
            is_reading,
            is_unasked,
        } = spec;
        SpecJson {
            executor: executor.into(),
            input: input.into(),
            workspace: PathJson::of(workspace),
            timeout_ms: timeout.map(millis),
            terminal: terminal.as_ref().map(
                |model::TaskTerminal { project, title, rows, cols, keep }| TerminalJson {
                    project: project.map(model::ProjectId::get),
                    title: text(title),
                    rows: *rows,
                    cols: *cols,
                    keep: *keep,
                },
            ),
            runner: runner.as_ref().map(|model::TaskRunner { destination, workspace }| {
                let workspace = workspace.as_ref().map(|path| PathJson::of(path));
                RunnerJson { destination: destination.into(), workspace }
            }),
            is_reading: *is_reading,
            is_unasked: *is_unasked,
        }
    }

    fn into_model(self) -> model::TaskSpec {
        model::TaskSpec {
            executor: self.executor.into_owned(),
            input: self.input.into_owned(),
            workspace: self.workspace.into_path(),
            timeout: self.timeout_ms.map(Duration::from_millis),
            terminal: self.terminal.map(|one| model::TaskTerminal {
                project: one.project.map(model::ProjectId::new),
                title: owned(one.title),
                rows: one.rows,
                cols: one.cols,
                keep: one.keep,
            }),
            runner: self.runner.map(|RunnerJson { destination, workspace }| model::TaskRunner {
                destination: destination.into_owned(),
                workspace: workspace.map(PathJson::into_path),
            }),
            is_reading: self.is_reading,
            is_unasked: self.is_unasked,
        }
    }
}

impl<'a> AttemptJson<'a> {
    fn of(attempt: &'a model::Attempt) -> Self {
        let model::Attempt { epoch, node, from, to, fate } = attempt;
        AttemptJson {
            epoch: *epoch,
            node: node.into(),
            from: from.as_micros(),
            to: to.map(model::Timestamp::as_micros),
            fate: FateJson::of(*fate),
        }
    }

    fn into_model(self) -> model::Attempt {
        model::Attempt {
            epoch: self.epoch,
            node: self.node.into_owned(),
            from: time(self.from),
            to: self.to.map(time),
            fate: self.fate.into_model(),
        }
    }
}

impl<'a> ResultJson<'a> {
    fn of(result: &'a model::TaskResult) -> Self {
        let model::TaskResult { exit_code, payload, error, error_kind, partial } = result;
        ResultJson {
            exit_code: *exit_code,
            payload: text(payload),
            error: text(error),
            error_kind: text(error_kind),
            partial: text(partial),
        }
    }

    fn into_model(self) -> model::TaskResult {
        model::TaskResult {
            exit_code: self.exit_code,
            payload: owned(self.payload),
            error: owned(self.error),
            error_kind: owned(self.error_kind),
            partial: owned(self.partial),
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct LogJson<'a> {
    #[serde(default)]
    chunks: Vec<ChunkJson<'a>>,
    #[serde(default, skip_serializing_if = "is_zero")]
    dropped: u64,
    #[serde(default)]
    last_seq: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    offset: u64,
}

#[derive(Serialize, Deserialize)]
struct ChunkJson<'a> {
    seq: u64,
    stream: LogStreamJson,
    at: i64,
    text: Cow<'a, str>,
}

impl<'a> LogJson<'a> {
    pub(super) fn of(log: &'a model::TaskLog) -> Self {
        let model::TaskLog { chunks, dropped, last_seq, offset } = log;
        let chunk = |model::LogChunk { seq, stream, at, text }: &'a model::LogChunk| ChunkJson {
            seq: *seq,
            stream: LogStreamJson::of(*stream),
            at: at.as_micros(),
            text: text.into(),
        };
        LogJson {
            chunks: chunks.iter().map(chunk).collect(),
            dropped: *dropped,
            last_seq: *last_seq,
            offset: *offset,
        }
    }

    pub(super) fn into_model(self) -> model::TaskLog {
        let chunk = |one: ChunkJson<'_>| model::LogChunk {
            seq: one.seq,
            stream: one.stream.into_model(),
            at: time(one.at),
            text: one.text.into_owned(),
        };
        model::TaskLog {
            chunks: self.chunks.into_iter().map(chunk).collect(),
            dropped: self.dropped,
            last_seq: self.last_seq,
            offset: self.offset,
        }
    }
}
