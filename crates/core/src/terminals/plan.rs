//! A terminal as it is going to be: everything that a request left out is filled in.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use rookery_model::{
    Activity, Checkout, LaunchSpec, OnExit, Origin, ProjectId, Size, Terminal, TerminalId,
    TerminalState, TerminalUuid,
};
use tokio::sync::mpsc;

use super::engine::{EngineSettings, screen_size};
use super::meta::Meta;
use super::raw_log::RawLog;
use crate::clock;
use crate::core::Core;
use crate::secrets;
use crate::workspace::Beside;

/// The project that a terminal is put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// This one and no other.
    Asked(ProjectId),
    /// This one, or another if it is gone meanwhile.
    Usual(ProjectId),
    /// One that is made for it, since there is none.
    New,
}

/// The numbers that were reserved for a terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    pub(super) terminal: TerminalId,
    /// That of its project, which may be new.
    pub(super) project: ProjectId,
}

/// A checked request with everything filled in.
pub(super) struct Plan {
    pub(super) home: Home,
    pub(super) argv: Vec<String>,
    pub(super) cwd: PathBuf,
    pub(super) env: Vec<(String, String)>,
    pub(super) env_remove: Vec<String>,
    pub(super) size: Size,
    pub(super) title: Option<String>,
    pub(super) first_title: Option<String>,
    pub(super) activate: bool,
    pub(super) on_exit: OnExit,
    pub(super) integrate: bool,
    pub(super) scrollback: usize,
    pub(super) transcript_chars: usize,
    pub(super) ring_bytes: u64,
    pub(super) raw_log: Option<RawLog>,
    pub(super) tap: Option<mpsc::Sender<Bytes>>,
    pub(super) uuid: Option<TerminalUuid>,
    pub(super) checkout: Option<Checkout>,
    pub(super) beside: Option<Beside>,
    pub(super) origin: Origin,
}

impl Plan {
    pub(super) fn meta(
        &self,
        project: ProjectId,
        uuid: TerminalUuid,
        log_base: Option<u64>,
    ) -> Meta {
        Meta {
            uuid,
            project,
            // What is started is started; from here on its words are only shown.
            argv: secrets::hidden_words(&self.argv),
            cwd: self.cwd.clone(),
            user_title: self.title.clone(),
            created_at: clock::wall(),
            size: self.size,
            scrollback: self.scrollback as u64,
            transcript_chars: self.transcript_chars as u64,
            raw_log: self
                .raw_log
                .as_ref()
                .zip(log_base)
                .map(|(log, base)| (absolute(&log.path), base)),
            origin: self.origin,
        }
    }

    pub(super) fn settings(&self, core: &Core) -> EngineSettings {
        EngineSettings {
            size: screen_size(self.size),
            scrollback: self.scrollback,
            transcript_chars: self.transcript_chars,
            palette: core.inner.seats.colors(),
            wants_raw: self.raw_log.is_some() || self.tap.is_some(),
        }
    }

    pub(super) fn terminal(self, ids: Ids, uuid: TerminalUuid, pid: u32, meta: &Meta) -> Terminal {
        Terminal {
            id: ids.terminal,
            uuid,
            project: ids.project,
            position: 0,
            // Values of variables may be secrets, so they are not kept.
            launch: LaunchSpec { argv: meta.argv.clone(), cwd: self.cwd, env: Vec::new() },
            pid,
            size: self.size,
            program_title: self.first_title,
            user_title: self.title,
            reported_cwd: None,
            state: TerminalState::Running,
            created_at: meta.created_at,
            exited_at: None,
            last_active: meta.created_at,
            on_exit: self.on_exit,
            activity: Activity::default(),
            checkout: self.checkout,
            origin: self.origin,
        }
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
