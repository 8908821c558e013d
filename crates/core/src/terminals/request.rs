//! What a terminal can be asked to be.

use std::path::PathBuf;

use bytes::Bytes;
use rookery_model::{Checkout, OnExit, Origin, ProjectId, Size, TerminalUuid};
use tokio::sync::mpsc;

use super::raw_log::RawLog;
use crate::workspace::Beside;

/// A terminal to be opened.
#[derive(Clone, Debug)]
pub struct OpenTerminal {
    /// Program and arguments; empty for the user's shell.
    pub argv: Vec<String>,
    /// Where to start; the project's directory if not said.
    pub cwd: Option<PathBuf>,
    /// Variables laid over the daemon's environment. They are not stored.
    pub env: Vec<(String, String)>,
    /// Variables that the child does not get. What `env` sets stays set.
    pub env_remove: Vec<String>,
    /// Rows and columns.
    pub size: Size,
    /// The project it belongs to; the selected or first one if not said, a new one if there is none.
    pub project: Option<ProjectId>,
    /// The user's own title.
    pub title: Option<String>,
    /// A title until the program says its own.
    pub first_title: Option<String>,
    /// Whether to select it.
    pub activate: bool,
    /// What becomes of it when its child ends.
    pub on_exit: OnExit,
    /// Whether to start elsewhere when the directory is not there.
    pub any_cwd: bool,
    /// Whether a shell may be given our integration.
    pub integrate: bool,
    /// Rows of scrollback.
    pub scrollback: Option<usize>,
    /// Characters of transcript.
    pub transcript_chars: Option<usize>,
    /// A file that gets every byte.
    pub raw_log: Option<RawLog>,
    /// Gets every byte when there is no such file. The terminal waits for whoever reads it, so
    /// nothing is lost, and goes on alone when the other end is gone.
    pub tap: Option<mpsc::Sender<Bytes>>,
    /// Its universally unique name, if it was given one before.
    pub uuid: Option<TerminalUuid>,
    /// The repository that it is opened for.
    pub checkout: Option<Checkout>,
    /// The pane beside which it gets its own.
    pub beside: Option<Beside>,
    /// Who opens it; the caller if not said.
    pub origin: Option<Origin>,
}

impl Default for OpenTerminal {
    fn default() -> Self {
        OpenTerminal {
            argv: Vec::new(),
            cwd: None,
            env: Vec::new(),
            env_remove: Vec::new(),
            size: Size::DEFAULT,
            project: None,
            title: None,
            first_title: None,
            activate: false,
            on_exit: OnExit::Keep,
            any_cwd: false,
            integrate: false,
            scrollback: None,
            transcript_chars: None,
            raw_log: None,
            tap: None,
            uuid: None,
            checkout: None,
            beside: None,
            origin: None,
        }
    }
}
