//! The JSON twins of the domain types, as stored in `body` columns.
//!
//! The format is stable: fields and kinds are only ever added. Decoding ignores unknown
//! fields; an unknown kind of event is an error here and skipped by readers of the log.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rookery_model as model;
use serde::{Deserialize, Serialize};
use thiserror::Error;

mod accepted;
mod activity;
mod assignment;
mod change;
mod child;
mod decision;
mod event;
mod item;
mod plan;
mod record;
mod request;
mod runner;
mod task;
mod thread;
mod waiting;
mod word;

use activity::ActivityJson;
use change::ChangeRecordJson;
use child::TraceJson;
use decision::DecisionJson;
use event::EventJson;
use item::ItemJson;
use record::RecordJson;
use request::RequestJson;
use task::{LogJson, TaskJson};
use thread::{ThreadJson, TurnJson};

pub(crate) use waiting::{
    queued_from_json, queued_to_json, steers_from_json, steers_to_json, texts_from_json,
    texts_to_json,
};

/// Why stored text could not be turned back into a domain value.
#[derive(Debug, Error)]
pub(crate) enum DecodeError {
    /// Not JSON, or not of the expected shape.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A terminal size outside the bounds.
    #[error(transparent)]
    Size(#[from] model::SizeError),
    /// A terminal uuid that is not 32 hexadecimal digits.
    #[error("{0:?} is not a uuid of 32 hexadecimal digits")]
    Uuid(String),
    /// The id of a thread, a turn or a request that is none.
    #[error("{0:?} is not an id")]
    Id(String),
    /// A place in a list that does not fit this machine.
    #[error("index {0} is too large")]
    Index(u64),
}

/// A path: text where it is UTF-8, else its bytes as numbers.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PathJson<'a> {
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
}

impl<'a> PathJson<'a> {
    fn of(path: &'a Path) -> Self {
        match path.to_str() {
            Some(text) => PathJson::Text(text.into()),
            None => PathJson::Bytes(path.as_os_str().as_bytes().into()),
        }
    }

    fn into_path(self) -> PathBuf {
        match self {
            PathJson::Text(text) => text.into_owned().into(),
            PathJson::Bytes(Cow::Borrowed(bytes)) => OsStr::from_bytes(bytes).into(),
            PathJson::Bytes(Cow::Owned(bytes)) => OsString::from_vec(bytes).into(),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct ProjectJson<'a> {
    id: u64,
    name: Cow<'a, str>,
    root: PathJson<'a>,
    #[serde(default)]
    position: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    selected: Option<u64>,
    created_at: i64,
}

impl<'a> ProjectJson<'a> {
    fn of(project: &'a model::Project) -> Self {
        let model::Project { id, name, root, position, selected, created_at } = project;
        ProjectJson {
            id: id.get(),
            name: name.into(),
            root: PathJson::of(root),
            position: *position,
            selected: selected.map(model::TerminalId::get),
            created_at: created_at.as_micros(),
        }
    }

    fn into_model(self) -> model::Project {
        model::Project {
            id: model::ProjectId::new(self.id),
            name: self.name.into_owned(),
            root: self.root.into_path(),
            position: self.position,
            selected: self.selected.map(model::TerminalId::new),
            created_at: model::Timestamp::from_micros(self.created_at),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct SizeJson {
    rows: u16,
    cols: u16,
    #[serde(default)]
    pixel_width: u16,
    #[serde(default)]
    pixel_height: u16,
}

impl SizeJson {
    fn of(size: model::Size) -> Self {
        SizeJson {
            rows: size.rows(),
            cols: size.cols(),
            pixel_width: size.pixel_width,
            pixel_height: size.pixel_height,
        }
    }

    fn into_model(self) -> Result<model::Size, DecodeError> {
        Ok(model::Size::new(self.rows, self.cols)?.with_pixels(self.pixel_width, self.pixel_height))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ExitJson {
    Code(i32),
    Signal(i32),
    Unknown,
}

impl ExitJson {
    fn of(status: model::ExitStatus) -> Self {
        match status {
            model::ExitStatus::Code(code) => ExitJson::Code(code),
            model::ExitStatus::Signal(signal) => ExitJson::Signal(signal),
            model::ExitStatus::Unknown => ExitJson::Unknown,
        }
    }

    fn into_model(self) -> model::ExitStatus {
        match self {
            ExitJson::Code(code) => model::ExitStatus::Code(code),
            ExitJson::Signal(signal) => model::ExitStatus::Signal(signal),
            ExitJson::Unknown => model::ExitStatus::Unknown,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StateJson {
    Running,
    Exited(ExitJson),
    Lost,
}

impl StateJson {
    fn of(state: model::TerminalState) -> Self {
        match state {
            model::TerminalState::Running => StateJson::Running,
            model::TerminalState::Exited(status) => StateJson::Exited(ExitJson::of(status)),
            model::TerminalState::Lost => StateJson::Lost,
        }
    }

    fn into_model(self) -> model::TerminalState {
        match self {
            StateJson::Running => model::TerminalState::Running,
            StateJson::Exited(status) => model::TerminalState::Exited(status.into_model()),
            StateJson::Lost => model::TerminalState::Lost,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct TerminalJson<'a> {
    id: u64,
    uuid: String,
    project: u64,
    #[serde(default)]
    position: i32,
    argv: Vec<Cow<'a, str>>,
    cwd: PathJson<'a>,
    #[serde(default)]
    env: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    pid: u32,
    size: SizeJson,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program_title: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_title: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reported_cwd: Option<PathJson<'a>>,
    state: StateJson,
    created_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exited_at: Option<i64>,
    /// Stored by older versions without it: then it is when the terminal was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_active: Option<i64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    closes_on_exit: bool,
    /// Absent while nothing is known to go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    activity: Option<ActivityJson<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checkout: Option<CheckoutJson<'a>>,
    /// Absent if a person opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Cow<'a, str>>,
}

/// Where a terminal works in a repository.
#[derive(Serialize, Deserialize)]
struct CheckoutJson<'a> {
    repo: PathJson<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branch: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worktree: Option<PathJson<'a>>,
}

impl<'a> CheckoutJson<'a> {
    fn of(checkout: &'a model::Checkout) -> Self {
        let model::Checkout { repo, branch, worktree } = checkout;
        CheckoutJson {
            repo: PathJson::of(repo),
            branch: branch.as_ref().map(Cow::from),
            worktree: worktree.as_deref().map(PathJson::of),
        }
    }

    fn into_model(self) -> model::Checkout {
        model::Checkout {
            repo: self.repo.into_path(),
            branch: self.branch.map(Cow::into_owned),
            worktree: self.worktree.map(PathJson::into_path),
        }
    }
}

impl<'a> TerminalJson<'a> {
    fn of(terminal: &'a model::Terminal) -> Self {
        // Taken apart in full, so that a new field cannot be forgotten here.
        let model::Terminal {
            id,
            uuid,
            project,
            position,
            launch: model::LaunchSpec { argv, cwd, env },
            pid,
            size,
            program_title,
            user_title,
            reported_cwd,
            state,
            created_at,
            exited_at,
            last_active,
            on_exit,
            activity,
            checkout,
            origin,
        } = terminal;
        TerminalJson {
            id: id.get(),
            uuid: format!("{:032x}", u128::from_be_bytes(uuid.0)),
            project: project.get(),
            position: *position,
            argv: argv.iter().map(Cow::from).collect(),
            cwd: PathJson::of(cwd),
            env: env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            pid: *pid,
            size: SizeJson::of(*size),
            program_title: program_title.as_ref().map(Cow::from),
            user_title: user_title.as_ref().map(Cow::from),
            reported_cwd: reported_cwd.as_deref().map(PathJson::of),
            state: StateJson::of(*state),
            created_at: created_at.as_micros(),
            exited_at: exited_at.map(model::Timestamp::as_micros),
            last_active: Some(last_active.as_micros()),
            closes_on_exit: *on_exit == model::OnExit::Close,
            activity: (*activity != model::Activity::default()).then(|| ActivityJson::of(activity)),
            checkout: checkout.as_ref().map(CheckoutJson::of),
            origin: (*origin != model::Origin::Person).then(|| origin.to_string().into()),
        }
    }

    fn into_model(self) -> Result<model::Terminal, DecodeError> {
        Ok(model::Terminal {
            id: model::TerminalId::new(self.id),
            uuid: uuid_from_text(&self.uuid)?,
            project: model::ProjectId::new(self.project),
            position: self.position,
            launch: model::LaunchSpec {
                argv: self.argv.into_iter().map(Cow::into_owned).collect(),
                cwd: self.cwd.into_path(),
                env: self.env.into_iter().map(|(n, v)| (n.into_owned(), v.into_owned())).collect(),
            },
            pid: self.pid,
            size: self.size.into_model()?,
            program_title: self.program_title.map(Cow::into_owned),
            user_title: self.user_title.map(Cow::into_owned),
            reported_cwd: self.reported_cwd.map(PathJson::into_path),
            state: self.state.into_model(),
            created_at: model::Timestamp::from_micros(self.created_at),
            exited_at: self.exited_at.map(model::Timestamp::from_micros),
            last_active: model::Timestamp::from_micros(self.last_active.unwrap_or(self.created_at)),
            on_exit: if self.closes_on_exit { model::OnExit::Close } else { model::OnExit::Keep },
            activity: self.activity.map(ActivityJson::into_model).unwrap_or_default(),
            checkout: self.checkout.map(CheckoutJson::into_model),
            origin: self.origin.map_or(model::Origin::Person, |text| model::Origin::read(&text)),
        })
    }
}

fn uuid_from_text(text: &str) -> Result<model::TerminalUuid, DecodeError> {
    let wrong = || DecodeError::Uuid(text.to_owned());
    // `from_str_radix` alone would take a sign and any length.
    if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    let number = u128::from_str_radix(text, 16).map_err(|_| wrong())?;
    Ok(model::TerminalUuid(number.to_be_bytes()))
}

fn id_from_text<T: FromStr<Err = model::IdError>>(text: &str) -> Result<T, DecodeError> {
    text.parse().map_err(|_| DecodeError::Id(text.to_owned()))
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("twins have string keys only and cannot fail to serialize")
}

/// The stored form of an event, without its number and time.
pub(crate) fn event_to_json(event: &model::Event) -> String {
    to_json(&EventJson::of(event))
}

/// Reads [`event_to_json`] back.
pub(crate) fn event_from_json(text: &str) -> Result<model::Event, DecodeError> {
    serde_json::from_str::<EventJson<'_>>(text)?.into_model()
}

/// The stored form of a project.
pub(crate) fn project_to_json(project: &model::Project) -> String {
    to_json(&ProjectJson::of(project))
}

/// Reads [`project_to_json`] back.
pub(crate) fn project_from_json(text: &str) -> Result<model::Project, DecodeError> {
    Ok(serde_json::from_str::<ProjectJson<'_>>(text)?.into_model())
}

/// The stored form of a terminal.
pub(crate) fn terminal_to_json(terminal: &model::Terminal) -> String {
    to_json(&TerminalJson::of(terminal))
}

/// Reads [`terminal_to_json`] back.
pub(crate) fn terminal_from_json(text: &str) -> Result<model::Terminal, DecodeError> {
    serde_json::from_str::<TerminalJson<'_>>(text)?.into_model()
}

/// The stored form of a thread.
pub(crate) fn thread_to_json(thread: &model::Thread) -> String {
    to_json(&ThreadJson::of(thread))
}

/// Reads [`thread_to_json`] back.
pub(crate) fn thread_from_json(text: &str) -> Result<model::Thread, DecodeError> {
    serde_json::from_str::<ThreadJson<'_>>(text)?.into_model()
}

/// The stored form of a turn.
pub(crate) fn turn_to_json(turn: &model::Turn) -> String {
    to_json(&TurnJson::of(turn))
}

/// Reads [`turn_to_json`] back.
pub(crate) fn turn_from_json(text: &str) -> Result<model::Turn, DecodeError> {
    serde_json::from_str::<TurnJson<'_>>(text)?.into_model()
}

/// The stored form of a trace.
pub(crate) fn trace_to_json(trace: &model::Trace) -> String {
    to_json(&TraceJson::of(trace))
}

/// Reads [`trace_to_json`] back.
pub(crate) fn trace_from_json(text: &str) -> Result<model::Trace, DecodeError> {
    serde_json::from_str::<TraceJson<'_>>(text)?.into_model()
}

/// The stored form of what happened to files.
pub(crate) fn change_to_json(record: &model::ChangeRecord) -> String {
    to_json(&ChangeRecordJson::of(record))
}

/// Reads [`change_to_json`] back.
pub(crate) fn change_from_json(text: &str) -> Result<model::ChangeRecord, DecodeError> {
    serde_json::from_str::<ChangeRecordJson<'_>>(text)?.into_model()
}

/// The stored form of an item, without its thread, turn and position.
pub(crate) fn item_to_json(item: &model::Item) -> String {
    to_json(&ItemJson::of(item))
}

/// Reads [`item_to_json`] back.
pub(crate) fn item_from_json(text: &str) -> Result<model::Item, DecodeError> {
    Ok(serde_json::from_str::<ItemJson<'_>>(text)?.into_model())
}

/// The stored form of a request.
pub(crate) fn request_to_json(request: &model::Request) -> String {
    to_json(&RequestJson::of(request))
}

/// Reads [`request_to_json`] back.
pub(crate) fn request_from_json(text: &str) -> Result<model::Request, DecodeError> {
    serde_json::from_str::<RequestJson<'_>>(text)?.into_model()
}

/// The stored form of a decision.
pub(crate) fn decision_to_json(decision: &model::Decision) -> String {
    to_json(&DecisionJson::of(decision))
}

/// Reads [`decision_to_json`] back.
pub(crate) fn decision_from_json(text: &str) -> Result<model::Decision, DecodeError> {
    serde_json::from_str::<DecisionJson<'_>>(text)?.into_model()
}

/// The stored form of what supervision keeps.
pub(crate) fn record_to_json(record: &model::Record) -> String {
    to_json(&RecordJson::of(record))
}

/// Reads [`record_to_json`] back.
pub(crate) fn record_from_json(text: &str) -> Result<model::Record, DecodeError> {
    serde_json::from_str::<RecordJson<'_>>(text)?.into_model()
}

/// The stored form of a background task.
pub(crate) fn task_to_json(task: &model::Task) -> String {
    to_json(&TaskJson::of(task))
}

/// Reads [`task_to_json`] back.
pub(crate) fn task_from_json(text: &str) -> Result<model::Task, DecodeError> {
    serde_json::from_str::<TaskJson<'_>>(text)?.into_model()
}

/// The stored form of what a task wrote.
pub(crate) fn task_log_to_json(log: &model::TaskLog) -> String {
    to_json(&LogJson::of(log))
}

/// Reads [`task_log_to_json`] back; what was never written is empty.
pub(crate) fn task_log_from_json(text: &str) -> Result<model::TaskLog, DecodeError> {
    if text.is_empty() {
        return Ok(model::TaskLog::default());
    }
    Ok(serde_json::from_str::<LogJson<'_>>(text)?.into_model())
}

#[cfg(test)]
mod tests;
