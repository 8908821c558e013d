//! Runners: which destinations there are, which is selected, their sessions, and which threads work there.
//!
//! How a place is reached is the engine's business ([`rookery_runners`]). Here is decided when a session is
//! opened, found again, let go of and closed, and that what is written down of a destination has no
//! secret in it. Sessions are opened at their first use and closed when they are deleted or idle.

mod bind;
mod choose;
mod gains;
mod lifecycle;
mod open;
mod permit;
mod records;
mod remote;
mod running;
mod tasks;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use rookery_model::{Error, RecordKind, Result, ThreadId, shown_destination};
use rookery_runners::{Capabilities, Manifest, PROVIDERS, Provider, RunnerError, Session};
use rookery_store::{Change, ValueKey};
use serde_json::Value;
use tokio::time::Instant;

use crate::log::{RunnerChange, Shows, Signalled, Signals};
use crate::rooms::Runners;

pub use bind::{RunnerRequest, RunnerUse};
pub use lifecycle::{RunnerActed, RunnerAction};
pub use permit::Opener;
pub(crate) use remote::RunnerContext;
pub use running::RunnerProcess;
pub(crate) use tasks::TaskPlace;

/// How long an id of a destination may be.
const MAX_ID: usize = 128;

/// Where runners keep what they make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerDirs {
    /// Worktrees and snapshots.
    pub data: PathBuf,
    /// Control sockets.
    pub run: PathBuf,
}

/// Where a destination stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunnerState {
    /// Chosen, without a session.
    Configured,
    /// Its session is open, or was open before a restart and is opened at its next use.
    Active,
    /// Its session is held.
    Paused,
    /// Its session was let go of and can be found again.
    Detached,
    /// Its session could not be opened or was lost.
    Failed,
    /// It is no longer there.
    Deleted,
}

/// A destination as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerStatus {
    /// Its id as it was chosen; earlier ones of that id differ in their session.
    pub destination: String,
    pub provider: String,
    /// Where it stands.
    pub state: RunnerState,
    pub session: Option<String>,
}

/// A provider and what is missing before it can be used.
#[derive(Clone, Debug)]
pub struct ProviderView {
    pub id: &'static str,
    /// What it can do.
    pub capabilities: Capabilities,
    /// What is missing.
    pub setup_hint: Option<String>,
}

/// All there is.
#[derive(Clone, Debug)]
pub struct RunnersView {
    /// The selected destination.
    pub active: Option<RunnerStatus>,
    /// All providers, usable or not.
    pub providers: Vec<ProviderView>,
    /// All destinations with a session.
    pub sessions: Vec<RunnerStatus>,
}

/// A session as others see it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunnerSession {
    /// Its destination.
    pub status: RunnerStatus,
    /// What its provider tells of it.
    pub metadata: Value,
    /// The last snapshot that was taken of it: its id.
    pub snapshot: Option<TakenSnapshot>,
}

/// A snapshot of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenSnapshot {
    /// The provider that keeps it.
    pub provider: String,
    /// What that calls it.
    pub id: String,
    /// Details.
    pub metadata: Value,
}

/// A destination to be selected.
#[derive(Clone, Debug)]
pub struct NewDestination {
    pub id: String,
    pub provider: String,
    /// Its configuration, secrets included.
    pub config: Value,
    /// What its session is to have in it.
    pub manifest: Value,
    /// Where work is done if the configuration does not say it.
    pub cwd: PathBuf,
}

/// What became of a destination that was to be deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// Whether there was one.
    pub deleted: bool,
    /// Where work is that was not destroyed.
    pub kept: Option<PathBuf>,
}

/// What is done with ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortAction {
    /// They are listed.
    List,
    /// One is made reachable.
    Expose(u16, Option<String>),
    /// That is taken back.
    Close(u16),
}

/// Destinations and their sessions.
pub(crate) struct Room {
    table: Mutex<Table>,
    /// Commands of tools.
    running: Signalled<running::Running>,
}

impl Room {
    /// With what was written down.
    pub(crate) fn new(kept: Option<String>, signals: &Signals) -> Self {
        Self {
            table: Mutex::new(kept.map(|text| records::read(&text)).unwrap_or_default()),
            running: Signalled::new(running::Running::default(), Shows::Commands, signals),
        }
    }
}

#[derive(Default)]
struct Table {
    selected: Option<String>,
    /// By their keys: see [`choose`].
    destinations: BTreeMap<String, Destination>,
    /// How many keys were made for ids that were taken.
    made: u64,
}

/// One destination.
struct Destination {
    provider: &'static Provider,
    /// With its secrets; in memory only.
    config: Value,
    /// Names of secrets that it had before a restart.
    missing: Vec<String>,
    manifest: Manifest,
    cwd: PathBuf,
    state: RunnerState,
    /// Id and metadata of the session, also of one that is not open now.
    session: Option<(String, Value)>,
    snapshot: Option<TakenSnapshot>,
    live: Option<Arc<dyn Session>>,
    /// Held while it is opened or closed, so that it is opened once.
    gate: Arc<tokio::sync::Mutex<()>>,
    /// Held while a person is asked whether it may be opened.
    asking: Arc<tokio::sync::Mutex<()>>,
    /// Whether its next session may be opened.
    is_permitted: bool,
    used: Instant,
}

impl Destination {
    fn status(&self, id: &str) -> RunnerStatus {
        RunnerStatus {
            destination: shown_destination(id).to_owned(),
            provider: self.provider.id.to_owned(),
            state: self.state,
            session: self.session.as_ref().map(|(session, _)| session.clone()),
        }
    }
}

impl Table {
    fn status(&self, id: &str) -> Option<RunnerStatus> {
        self.destinations.get(id).map(|destination| destination.status(id))
    }
}

impl Runners {
    fn table(&self) -> parking_lot::MutexGuard<'_, Table> {
        self.core.inner.runners.table.lock()
    }

    /// All providers and sessions, and what is selected.
    pub async fn list(&self) -> RunnersView {
        let mut providers = Vec::new();
        for provider in PROVIDERS {
            let setup_hint = provider.setup_hint(self.environment(), Value::Null).await;
            let capabilities = provider.capabilities;
            providers.push(ProviderView { id: provider.id, capabilities, setup_hint });
        }
        let table = self.table();
        let with_session = table.destinations.iter().filter(|(_, it)| it.session.is_some());
        RunnersView {
            active: table.selected.as_ref().and_then(|id| table.status(id)),
            providers,
            sessions: with_session.map(|(id, it)| it.status(id)).collect(),
        }
    }

    /// The selected destination, or that of a thread.
    pub fn active(&self, thread: Option<ThreadId>) -> Option<RunnerStatus> {
        let id = self.destination_of(thread)?;
        self.table().status(&id)
    }

    /// The key of the selected destination, or of a thread's.
    fn destination_of(&self, thread: Option<ThreadId>) -> Option<String> {
        match thread {
            Some(thread) => {
                let world = self.core.look();
                let bound = world.threads.get(&thread)?.thread.runner.as_ref()?;
                Some(bound.destination.clone())
            }
            None => self.table().selected.clone(),
        }
    }

    /// The session of a thread's runner or of the selected one, as it is; with `ensure` it is opened if
    /// it is not.
    ///
    /// # Errors
    /// If it cannot be opened, or may not be.
    pub async fn session(&self, by: Opener, ensure: bool) -> Result<Option<RunnerSession>> {
        let Some(id) = self.destination_of(by.thread) else { return Ok(None) };
        if ensure {
            self.open(&id, by).await?;
        }
        let table = self.table();
        let Some(destination) = table.destinations.get(&id) else { return Ok(None) };
        let Some((_, metadata)) = &destination.session else { return Ok(None) };
        let (status, metadata) = (destination.status(&id), metadata.clone());
        Ok(Some(RunnerSession { status, metadata, snapshot: destination.snapshot.clone() }))
    }

    /// Says that a destination changed.
    fn changed(&self, id: &str) {
        let Some(status) = self.table().status(id) else { return };
        self.announce(status);
    }

    fn announce(&self, status: RunnerStatus) {
        let RunnerStatus { destination, provider, state, session } = status;
        let change = RunnerChange { destination, provider, state, session };
        self.core.inner.log.spine().send(None, [change.into()]);
    }

    /// Writes down which destinations there are, without their secrets.
    async fn save(&self) -> Result<()> {
        self.save_with(&[]).await
    }

    /// The same, and forgets the records of what belongs to them from now on.
    async fn save_with(&self, settled: &[u128]) -> Result<()> {
        let text = records::write(&self.table());
        self.core
            .transact_durably(|tx| {
                tx.save(Change::KeptSet { what: ValueKey::Runners, value: text });
                settled.iter().for_each(|id| tx.forget(RecordKind::Accepted, *id));
                Ok(())
            })
            .await
    }
}

fn find(id: &str) -> Option<&'static Provider> {
    rookery_runners::find(id)
}

fn unknown(id: &str) -> String {
    let shown: String = id.chars().take(MAX_ID).collect();
    format!("unknown runner provider {shown:?}")
}

/// An error about what was asked for.
fn refused(error: RunnerError) -> Error {
    match &error {
        RunnerError::Invalid { member, .. } => Error::invalid(member, error.to_string()),
        RunnerError::Missing(_) => Error::invalid("provider_id", error.to_string()),
        RunnerError::Outside(_) => Error::invalid("path", error.to_string()),
        RunnerError::Unsupported { .. } => Error::invalid("action", error.to_string()),
        RunnerError::NotFound(_)
        | RunnerError::TooLarge { .. }
        | RunnerError::Closed
        | RunnerError::Failed(_) => Error::failed(error.to_string()),
    }
}

/// An error of the place.
fn failed(error: RunnerError) -> Error {
    Error::failed(error.to_string())
}
