//! All runs: those that are not over, and of the others a short form.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use rookery_agent::settings::WorkflowSettings;
use rookery_model::{Error, Result, ThreadId};
use rookery_scripts::Limits;
use tokio::sync::{OnceCell, Semaphore};

use super::dispatch::Dispatch;
use super::encode::Consent;
use super::files::RunFiles;
use super::live::LiveRun;
use super::progress::Ended;
use super::scan::Scripts;
use super::types::{Run, RunStatus, RunSummary};
use crate::core::{Core, blocking};
use crate::rooms::Workflows;

/// Runs that are kept; the oldest that is over makes room.
const MAX_RUNS: usize = 1_000;
/// Scripts that run at the same time; more wait.
const MAX_ACTIVE: usize = 16;
/// Runs that are listed unless the request says otherwise.
const LISTED: usize = 50;
/// What a run that the last daemon ran is paused for.
const RESTARTED: &str = "daemon restarted";

/// A run.
#[derive(Clone)]
pub(crate) enum Entry {
    /// Not over.
    Live(Arc<LiveRun>),
    /// Over, and on disk.
    Ended(Box<RunSummary>),
}

/// What belongs to workflows alone.
pub(crate) struct Room {
    pub(super) files: RunFiles,
    runs: Mutex<BTreeMap<String, Entry>>,
    /// Scripts of files that were read.
    pub(super) scripts: Arc<Scripts>,
    loaded: OnceCell<()>,
    pub(super) active: Arc<Semaphore>,
    /// Held while consents are changed.
    pub(super) consents: tokio::sync::Mutex<Option<Vec<Consent>>>,
    /// What is new for those who follow runs that came to their end.
    pub(super) ended: Mutex<Ended>,
    /// Who runs agents, if not the room of children; tests say so.
    pub(super) dispatch: Mutex<Option<Arc<dyn Dispatch>>>,
}

impl Room {
    pub(crate) fn new(dir: Option<PathBuf>) -> Room {
        Room {
            files: RunFiles::new(dir),
            runs: Mutex::default(),
            scripts: Arc::default(),
            loaded: OnceCell::new(),
            active: Arc::new(Semaphore::new(MAX_ACTIVE)),
            consents: tokio::sync::Mutex::default(),
            ended: Mutex::default(),
            dispatch: Mutex::default(),
        }
    }
}

impl Workflows {
    pub(super) fn room(&self) -> &Room {
        &self.core.inner.workflows
    }

    pub(super) fn settings(&self) -> WorkflowSettings {
        self.core.agents().settings().workflows.clone()
    }

    /// The limits of every run; scripts may lower them.
    pub(super) fn limits(&self) -> Limits {
        let set = self.settings();
        Limits::from_values([
            set.max_concurrent_agents,
            set.max_agents_per_run,
            set.agent_timeout_seconds,
            set.run_timeout_seconds,
            set.checkpoint_bytes,
            set.report_bytes,
        ])
    }

    /// Takes up what the last daemon left, without holding its successor up.
    pub(crate) fn restore_soon(&self) {
        let workflows = self.core.detached().workflows();
        self.core.inner.runtime.spawn(async move { workflows.restored().await });
    }

    /// Writes what was gathered, before the daemon ends.
    pub(crate) async fn flush(&self) {
        let live: Vec<Arc<LiveRun>> = {
            let runs = self.room().runs.lock();
            let live = runs.values().filter_map(|entry| match entry {
                Entry::Live(live) => Some(Arc::clone(live)),
                Entry::Ended(_) => None,
            });
            live.collect()
        };
        for live in live.iter().filter(|live| live.has_unsaved()) {
            if let Err(error) = live.save().await {
                tracing::warn!(%error, run = live.id, "the last of a workflow is not on disk");
            }
        }
    }

    /// A run that was over is not any more.
    pub(super) fn revive(&self, live: &Arc<LiveRun>) {
        self.room().runs.lock().insert(live.id.clone(), Entry::Live(Arc::clone(live)));
    }

    pub(super) fn remove_entry(&self, run: &str) {
        self.room().runs.lock().remove(run);
    }

    /// Refuses everything if workflows are switched off.
    pub(crate) fn ensure_enabled(&self) -> Result<()> {
        match self.settings().is_enabled {
            true => Ok(()),
            false => Err(Error::failed(
                "dynamic workflows are switched off: set enabled in the section dynamic_workflows",
            )),
        }
    }

    /// Takes up what the last daemon left, once. Everything here waits for it.
    pub(crate) async fn restored(&self) {
        let restore = async || {
            let files = self.room().files.clone();
            let runs = blocking(move || files.load_all()).await.unwrap_or_default();
            let mut waiting = Vec::new();
            for run in runs {
                if run.status.is_terminal() && self.room().files.is_kept() {
                    let summary = Box::new(run.summary());
                    self.room().runs.lock().insert(run.id.clone(), Entry::Ended(summary));
                    continue;
                }
                let live = self.take_up(run).await;
                if live.status() == RunStatus::AwaitingApproval {
                    waiting.push(live);
                }
            }
            for live in waiting {
                if let Err(error) = self.ask_again(&live).await {
                    tracing::warn!(%error, run = live.id, "a run cannot ask for its approval again");
                }
            }
            if let Err(error) = self.drop_questions().await {
                tracing::warn!(%error, "a question about a run that is gone stays");
            }
        };
        self.room().loaded.get_or_init(restore).await;
    }

    /// A run that was not over: what ran is paused.
    async fn take_up(&self, mut run: Run) -> Arc<LiveRun> {
        let was_at_work = matches!(run.status, RunStatus::Running | RunStatus::Queued);
        if was_at_work {
            run.status = RunStatus::Paused;
            run.reason = Some(RESTARTED.to_owned());
        }
        let (files, id) = (self.room().files.clone(), run.id.clone());
        let kept = blocking(move || files.results(&id)).await.and_then(|kept| kept);
        match kept {
            Ok(kept) => run.recall(kept.into_values().filter_map(|kept| kept.record)),
            Err(error) => tracing::warn!(%error, run = run.id, "its agents cannot be read"),
        }
        for agent in run.agents.iter_mut().filter(|agent| !agent.status.is_over()) {
            agent.status = super::types::AgentStatus::Queued;
        }
        run.count_phases();
        let live = self.add_live(run, None, Vec::new());
        if was_at_work && let Err(error) = live.save().await {
            tracing::warn!(%error, run = live.id, "a paused run is not on disk yet");
        }
        live
    }

    pub(super) fn add_live(
        &self,
        run: Run,
        client: Option<u64>,
        keys: Vec<rookery_agent::providers::Loan>,
    ) -> Arc<LiveRun> {
        let core: Core = self.core.detached();
        let live = LiveRun::new(core, self.room().files.clone(), run, client, keys);
        self.room().runs.lock().insert(live.id.clone(), Entry::Live(Arc::clone(&live)));
        live
    }

    /// Makes room for one more run.
    pub(super) async fn make_room(&self) -> Result<()> {
        let oldest = {
            let runs = self.room().runs.lock();
            if runs.len() < MAX_RUNS {
                return Ok(());
            }
            let over = runs.iter().filter_map(|(id, entry)| match entry {
                Entry::Ended(summary) => Some((summary.created_at, id.clone())),
                Entry::Live(live) => {
                    let (status, at) = live.look(|run| (run.status, run.created_at));
                    status.is_terminal().then(|| (at, id.clone()))
                }
            });
            over.min()
        };
        let Some((_, oldest)) = oldest else {
            return Err(Error::busy("too many workflows are planned or running: stop one first"));
        };
        let (files, run) = (self.room().files.clone(), oldest.clone());
        blocking(move || files.remove(&run)).await??;
        self.room().runs.lock().remove(&oldest);
        Ok(())
    }

    /// A run that is over needs no more than its short form, if it can be read again.
    pub(super) fn retire(&self, live: &Arc<LiveRun>) {
        let mut runs = self.room().runs.lock();
        if live.status().is_terminal() && self.room().files.is_kept() {
            self.room().ended.lock().keep(&live.id, &live.progress);
            let summary = Box::new(live.look(Run::summary));
            runs.insert(live.id.clone(), Entry::Ended(summary));
        }
    }

    /// A run, as far as the last daemon's were taken up.
    pub(super) fn known(&self, run: &str) -> Option<Entry> {
        self.room().runs.lock().get(run).cloned()
    }

    pub(super) async fn entry(&self, run: &str) -> Result<Entry> {
        self.restored().await;
        self.known(run).ok_or_else(|| {
            let shown: String = run.chars().take(128).collect();
            Error::failed(format!("no workflow run {shown}"))
        })
    }

    /// A run that is not over, or one that was read again.
    pub(super) async fn read(&self, run: &str) -> Result<Run> {
        match self.entry(run).await? {
            Entry::Live(live) => Ok(live.run()),
            Entry::Ended(_) => {
                let (files, id) = (self.room().files.clone(), run.to_owned());
                let read = blocking(move || files.load(&id)).await?;
                read.ok_or_else(|| Error::failed(format!("the record of {run} cannot be read")))
            }
        }
    }

    /// Runs in short, the newest first.
    pub async fn list(
        &self,
        thread: Option<ThreadId>,
        with_terminal: bool,
        limit: Option<usize>,
    ) -> Vec<RunSummary> {
        self.restored().await;
        let entries: Vec<Entry> = self.room().runs.lock().values().cloned().collect();
        let all = entries.into_iter().map(|entry| match entry {
            Entry::Live(live) => live.look(Run::summary),
            Entry::Ended(summary) => *summary,
        });
        let meant = all.filter(|run| {
            (with_terminal || !run.status.is_terminal())
                && (thread.is_none() || run.thread == thread)
        });
        let mut runs: Vec<RunSummary> = meant.collect();
        runs.sort_by(|one, other| (other.created_at, &other.id).cmp(&(one.created_at, &one.id)));
        runs.truncate(limit.unwrap_or(LISTED));
        runs
    }

    /// One run.
    ///
    /// # Errors
    /// If there is none of that id.
    pub async fn get(&self, run: &str, with_body: bool, with_agents: bool) -> Result<Run> {
        Ok(self.read(run).await?.trimmed(with_body, with_agents))
    }
}
