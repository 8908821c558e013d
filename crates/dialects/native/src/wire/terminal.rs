//! Terminals: what they are, and what can be asked of them.

use std::{collections::BTreeMap, path::PathBuf};

use rookery_model as model;
use rookery_wire::call;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Agent, Base64, Empty, RunState, Time, format_time};
use crate::{
    ids::{ProjectRef, TerminalRef},
    text::{redacted, redacted_words},
};

/// Rows and columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Size {
    /// Number of rows.
    pub rows: u16,
    /// Number of columns.
    pub cols: u16,
}

impl From<model::Size> for Size {
    fn from(size: model::Size) -> Self {
        Self { rows: size.rows(), cols: size.cols() }
    }
}

/// How a child ended: `{"code": 0}`, `{"signal": 9}` or `{"unknown": true}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Exit {
    /// It called exit with this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
    /// It is not known.
    Unknown(bool),
}

impl From<model::ExitStatus> for Exit {
    fn from(status: model::ExitStatus) -> Self {
        match status {
            model::ExitStatus::Code(code) => Self::Code(code),
            model::ExitStatus::Signal(signal) => Self::Signal(signal),
            model::ExitStatus::Unknown => Self::Unknown(true),
        }
    }
}

/// Where a terminal is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TerminalState {
    /// The child runs.
    Running,
    /// The child ended.
    Exited,
    /// The keeper died.
    Lost,
}

/// A terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Terminal {
    pub id: u64,
    /// Its universally unique name.
    pub uuid: String,
    /// The project it belongs to.
    pub project: u64,
    /// The title to show.
    pub title: String,
    /// Whether the user gave that title.
    pub renamed: bool,
    /// What was asked to run.
    pub argv: Vec<String>,
    /// The directory to show; what is no UTF-8 in it is replaced.
    pub cwd: String,
    /// Process id of the child.
    pub pid: u32,
    /// Rows and columns.
    pub size: Size,
    /// Where it is in its life.
    pub state: TerminalState,
    /// How the child ended, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    /// What goes on in it.
    #[serde(default, skip_serializing_if = "RunState::is_none")]
    pub activity: RunState,
    /// The agent that runs in it, if one was recognised or speaks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// When it was opened.
    pub created_at: Time,
    /// When the child ended, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exited_at: Option<Time>,
}

pub(crate) fn uuid(uuid: model::TerminalUuid) -> String {
    Uuid::from_bytes(uuid.0).to_string()
}

impl From<&model::Terminal> for Terminal {
    fn from(terminal: &model::Terminal) -> Self {
        let (state, exit) = match terminal.state {
            model::TerminalState::Running => (TerminalState::Running, None),
            model::TerminalState::Exited(status) => (TerminalState::Exited, Some(status.into())),
            model::TerminalState::Lost => (TerminalState::Lost, None),
        };
        Self {
            id: terminal.id.get(),
            uuid: uuid(terminal.uuid),
            project: terminal.project.get(),
            title: redacted(&terminal.title()).into_owned(),
            renamed: terminal.user_title.is_some(),
            argv: redacted_words(&terminal.launch.argv),
            cwd: terminal.cwd().to_string_lossy().into_owned(),
            pid: terminal.pid,
            size: terminal.size.into(),
            state,
            exit,
            activity: terminal.activity.state().into(),
            agent: terminal.is_alive().then(|| Agent::of(&terminal.activity)).flatten(),
            created_at: format_time(terminal.created_at),
            exited_at: terminal.exited_at.map(format_time),
        }
    }
}

/// Params of `rookery/terminals/list`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TerminalFilter {
    /// Only those of this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectRef>,
}

call!("rookery/terminals/list" TerminalFilter -> TerminalList);

/// Result of `rookery/terminals/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalList {
    /// The terminals, in workspace order.
    pub terminals: Vec<Terminal>,
    /// The active one, whether or not it is listed.
    #[serde(default)]
    pub active: Option<u64>,
}

/// Params of `rookery/terminals/get`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalGet {
    pub terminal: TerminalRef,
}

call!("rookery/terminals/get" TerminalGet -> Terminal);

/// Params of `rookery/terminals/activate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalActivate {
    pub terminal: TerminalRef,
}

call!("rookery/terminals/activate" TerminalActivate -> Empty);

/// Params of `rookery/terminals/open`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TerminalOpen {
    /// Program and arguments; the user's shell unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// Working directory; the project's root unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// Variables laid over the daemon's environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Rows, 24 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u16>,
    /// Columns, 80 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cols: Option<u16>,
    /// The project it goes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectRef>,
    /// A title that wins over the program's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Lines of history to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrollback: Option<usize>,
}

call!("rookery/terminals/open" TerminalOpen -> Terminal);

/// Params of `rookery/terminals/rename`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalRename {
    pub terminal: TerminalRef,
    /// The title that wins over the program's; null gives that back.
    pub title: Option<String>,
}

call!("rookery/terminals/rename" TerminalRename -> Empty);

/// Params of `rookery/terminals/move`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalMove {
    pub terminal: TerminalRef,
    /// To which project; its own unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectRef>,
    /// Its place there, from 0.
    pub index: usize,
}

call!("rookery/terminals/move" TerminalMove -> Empty);

/// Params of `rookery/terminals/write`: exactly one of `data` and `text`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalWrite {
    pub terminal: TerminalRef,
    /// Bytes to write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Base64>,
    /// Text to write, as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The size of the client that types; the terminal takes it first if it has another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
}

call!("rookery/terminals/write" TerminalWrite -> Empty);

/// Params of `rookery/terminals/press`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalPress {
    pub terminal: TerminalRef,
    /// Keys such as `enter`, `ctrl+c`, `C-a` or `PPage`, pressed one after the other.
    pub keys: Vec<String>,
    /// The size of the client that types; the terminal takes it first if it has another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
}

call!("rookery/terminals/press" TerminalPress -> Empty);

/// Params of `rookery/terminals/paste`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalPaste {
    pub terminal: TerminalRef,
    /// The text; it goes in brackets if the program asked for them.
    pub text: String,
    /// The size of the client that types; the terminal takes it first if it has another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
}

call!("rookery/terminals/paste" TerminalPaste -> Empty);

/// Params of `rookery/terminals/resize`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalResize {
    pub terminal: TerminalRef,
    /// Number of rows.
    pub rows: u16,
    /// Number of columns.
    pub cols: u16,
}

call!("rookery/terminals/resize" TerminalResize -> Empty);

/// A signal by name or number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Signal {
    Number(i32),
    /// Its name, with or without `SIG`.
    Name(String),
}

/// Params of `rookery/terminals/signal`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalSignal {
    pub terminal: TerminalRef,
    pub signal: Signal,
    /// Send it to the whole process group, not only to the child.
    #[serde(default)]
    pub group: bool,
}

call!("rookery/terminals/signal" TerminalSignal -> Empty);
