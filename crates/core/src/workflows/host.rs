//! What the script of a run asks: agents, phases, lines, checkpoints. The engine's host.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::{BoxFuture, FutureExt as _};
use parking_lot::Mutex;
use rookery_model::{Usage, Words as _};
use rookery_scripts::{AgentEnd, Host, HostError, Launch, LaunchKey, Outcome, Tokens};
use serde_json::Value;
use tokio::sync::watch;

use super::dispatch::{Dispatch, Done, Exit, Started, Work};
use super::encode::{KeptResult, NO_PLACE};
use super::live::{ClientGrant, Control, LiveRun, number};
use super::types::{AgentStatus, RunAgent, RunChange, beginning};
use crate::clock;
use crate::core::blocking;
use crate::secrets;
use crate::worktrees::KeptTree;

/// Characters of an answer that are shown in short.
const PREVIEW: usize = 300;
/// Longest answer that a script gets, in bytes.
pub(super) const MAX_OUTPUT: usize = 256 << 10;
/// Longest line that is announced whole, in bytes.
const MAX_LINE: usize = 4 << 10;
/// The phase of agents that are started before any phase began.
const FIRST_PHASE: &str = "main";
/// Characters of a prompt that stand for a description.
const DESCRIPTION: usize = 80;

/// The host of one script.
pub(crate) struct RunHost {
    pub(crate) live: Arc<LiveRun>,
    pub(crate) dispatch: Arc<dyn Dispatch>,
    /// Results from before.
    kept: Mutex<HashMap<LaunchKey, KeptResult>>,
    current: Arc<Mutex<Option<String>>>,
    /// The highest number of an agent whose result was kept.
    highest: u64,
    /// Lines that were announced in an earlier run of the script.
    repeated: Mutex<u32>,
}

impl RunHost {
    pub(crate) fn new(
        live: Arc<LiveRun>,
        dispatch: Arc<dyn Dispatch>,
        mut kept: HashMap<LaunchKey, KeptResult>,
    ) -> RunHost {
        let repeated = Mutex::new(live.look(|run| run.lines));
        let highest = kept.values().map(|kept| number(&kept.agent)).max().unwrap_or(0);
        if !live.control.borrow().reuses_failures {
            kept.retain(|_, kept| kept.status == AgentStatus::Completed);
        }
        RunHost {
            live,
            dispatch,
            kept: Mutex::new(kept),
            current: Arc::default(),
            highest,
            repeated,
        }
    }

    /// Notes an agent in the record, new or known by its key; gives its id.
    fn register(&self, launch: &Launch, kept: Option<&KeptResult>) -> Option<String> {
        let current = self.current.lock().clone();
        self.live.change(|run, changes| {
            let phase = match (&launch.phase, current) {
                (Some(title), _) => run.enter_phase(title, changes),
                (None, Some(current)) => current,
                (None, None) => run.enter_phase(FIRST_PHASE, changes),
            };
            self.current.lock().get_or_insert_with(|| phase.clone());
            let place = run.agents.iter().position(|agent| agent.key == launch.key);
            let is_same = |agent: &RunAgent| match kept {
                Some(kept) => agent.id == kept.agent,
                None => is_of_before(&agent.key, &launch.key) && !agent.status.is_over(),
            };
            let place = place.or_else(|| run.agents.iter().position(is_same));
            if let Some(place) = place {
                run.agents[place].key = launch.key.clone();
            }
            let place = place.unwrap_or_else(|| {
                // One whose result was kept has its id, even if its record was lost.
                let known = run.agents.iter().map(|agent| number(&agent.id)).max().unwrap_or(0);
                let next = || format!("agent-{}", known.max(self.highest) + 1);
                let id = kept.map_or_else(next, |kept| kept.agent.clone());
                run.agents.push(new_agent(id, phase, launch));
                run.agents.len() - 1
            });
            run.agents[place].id.clone()
        })
    }

    /// The result of a launch from before, if there is one.
    fn take_kept(&self, key: &LaunchKey) -> Option<KeptResult> {
        let mut kept = self.kept.lock();
        kept.remove(key).or_else(|| {
            // Of what was noted without its place the first comes first.
            let old = kept.keys().filter(|old| is_of_before(old, key));
            let first = old.min_by_key(|old| old.occurrence)?.clone();
            kept.remove(&first)
        })
    }

    fn work_of(&self, launch: &Launch, id: &str, description: String) -> Work {
        let (thread, turn, limits, cwd) =
            self.live.look(|run| (run.thread, run.turn, run.limits, run.workspace.clone()));
        let tree = || self.live.look(|run| format!("{} {id}", run.script.name));
        let ClientGrant { client, keys } = self.live.grant.lock().clone();
        Work {
            parent: thread.zip(turn),
            thread,
            tree: launch.in_worktree.then(tree),
            description,
            prompt: launch.prompt.clone(),
            agent_type: launch.agent_type.clone(),
            lane: launch.lane.clone(),
            model: launch.model.clone(),
            schema: launch.schema.clone(),
            timeout: limits.agent_timeout(launch.timeout_seconds),
            cwd,
            client,
            keys,
        }
    }
}

impl Host for RunHost {
    fn launch(&self, launch: Launch) -> BoxFuture<'static, Result<Outcome, HostError>> {
        let kept = self.take_kept(&launch.key);
        let Some(id) = self.register(&launch, kept.as_ref()) else {
            return async { Err(HostError::Refused("the run is over".to_owned())) }.boxed();
        };
        let agent = Worker {
            live: Arc::clone(&self.live),
            dispatch: Arc::clone(&self.dispatch),
            current: Arc::clone(&self.current),
            id,
            key: launch.key.clone(),
        };
        if let Some(kept) = kept {
            agent.reuse(&kept);
            return async move { Ok(agent.outcome(kept)) }.boxed();
        }
        let description = self.live.look(|run| {
            let agent = run.agents.iter().find(|one| one.id == agent.id);
            agent.map(|agent| agent.description.clone()).unwrap_or_default()
        });
        let work = self.work_of(&launch, &agent.id, description);
        agent.queue();
        agent.work(work).boxed()
    }

    fn phase(&self, title: String) {
        let mut current = self.current.lock();
        self.live.change(|run, changes| {
            let id = run.enter_phase(&title, changes);
            run.settle_phases(Some(&id), changes);
            *current = Some(id);
        });
    }

    fn log(&self, message: String) {
        let mut repeated = self.repeated.lock();
        if *repeated > 0 {
            // It was announced before the script was run again.
            *repeated -= 1;
            return;
        }
        let phase = self.current.lock().clone();
        self.live.change(|run, changes| {
            run.lines += 1;
            changes.push(output(phase, &message));
        });
    }

    fn checkpoint(&self, key: String, value: Value) -> BoxFuture<'static, Result<(), HostError>> {
        let (live, phase) = (Arc::clone(&self.live), self.current.lock().clone());
        async move {
            let (files, run, name) = (live.files.clone(), live.id.clone(), key.clone());
            let bytes = value.to_string().len() as u64;
            let kept = blocking(move || files.add_checkpoint(&run, &name, &value)).await;
            kept.and_then(|kept| kept).map_err(|error| HostError::Store(error.to_string()))?;
            live.announce_change(RunChange::Checkpoint { phase, key, bytes });
            Ok(())
        }
        .boxed()
    }

    fn script(&self, name: String) -> BoxFuture<'static, Result<String, HostError>> {
        let core = self.live.core.clone();
        let (workspace, approved) =
            self.live.look(|run| (run.workspace.clone(), run.nested.get(&name).cloned()));
        async move {
            let found = core.workflows().find_script(&name, workspace).await;
            let found = found.map_err(|error| HostError::Refused(error.to_string()))?;
            if approved.as_ref() != Some(&found.hash) {
                let what = if approved.is_some() { "changed since" } else { "not named when" };
                let message = format!("the workflow {name} was {what} this run was planned");
                return Err(HostError::Refused(message));
            }
            found.body.ok_or_else(|| HostError::Refused(format!("the workflow {name} has no text")))
        }
        .boxed()
    }
}

/// Whether a key that was noted without its place is of the same content.
fn is_of_before(old: &LaunchKey, key: &LaunchKey) -> bool {
    let (path, occurrence) = (key.path.clone(), key.occurrence);
    old.path == NO_PLACE && LaunchKey { path, occurrence, ..old.clone() } == *key
}

/// What the script says, as it is announced.
pub(super) fn output(phase: Option<String>, text: &str) -> RunChange {
    let mut end = text.len().min(MAX_LINE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let is_truncated = end < text.len();
    RunChange::Output { phase, text: secrets::hidden(&text[..end]).into_owned(), is_truncated }
}

fn new_agent(id: String, phase: String, launch: &Launch) -> RunAgent {
    let described = launch.description.clone().or_else(|| launch.label.clone());
    let first_line = launch.prompt.lines().next().unwrap_or_default();
    let description = described.unwrap_or_else(|| beginning(first_line, DESCRIPTION));
    RunAgent {
        id,
        key: launch.key.clone(),
        phase,
        description: secrets::hidden(&description).into_owned(),
        label: launch.label.clone(),
        status: AgentStatus::Queued,
        lane: launch.lane.clone(),
        model: launch.model.clone(),
        thread: None,
        turn: None,
        usage: None,
        exit_reason: None,
        error: None,
        output_preview: None,
        is_cached: false,
        attempt: 0,
        worktree: None,
        started_at: None,
        completed_at: None,
    }
}

/// One agent of a run at work.
struct Worker {
    live: Arc<LiveRun>,
    dispatch: Arc<dyn Dispatch>,
    current: Arc<Mutex<Option<String>>>,
    id: String,
    key: LaunchKey,
}

impl Worker {
    fn change(&self, change: impl FnOnce(&mut RunAgent) -> Option<RunChange>) {
        let current = self.current.lock().clone();
        self.live.change(|run, changes| {
            if let Some(agent) = run.agents.iter_mut().find(|agent| agent.id == self.id) {
                changes.extend(change(agent));
            }
            run.settle_phases(current.as_deref(), changes);
            let running =
                run.agents.iter().filter(|one| one.status == AgentStatus::Running).count();
            let running = u32::try_from(running).unwrap_or(u32::MAX);
            run.concurrency_peak = run.concurrency_peak.max(running);
        });
    }

    /// Its result is there already.
    fn reuse(&self, kept: &KeptResult) {
        let is_answer = kept.status == AgentStatus::Completed;
        self.live.reused.fetch_add(u32::from(is_answer), Ordering::Relaxed);
        self.change(|agent| {
            let was_so = agent.status == kept.status;
            agent.status = kept.status;
            agent.is_cached = true;
            agent.usage = kept.usage;
            agent.worktree.clone_from(&kept.worktree);
            agent.error.clone_from(&kept.error);
            if is_answer || !was_so {
                agent.exit_reason = Some(kept.status.word().to_owned());
            }
            if agent.output_preview.is_none() {
                agent.output_preview = kept.output.as_deref().map(preview);
            }
            agent.completed_at.get_or_insert_with(clock::wall);
            (!was_so).then(|| settled(agent))
        });
    }

    fn queue(&self) {
        self.change(|agent| {
            agent.status = AgentStatus::Queued;
            agent.is_cached = false;
            agent.error = None;
            agent.exit_reason = None;
            agent.completed_at = None;
            Some(RunChange::AgentQueued(Box::new(agent.clone())))
        });
    }

    /// Works until there is an outcome. When it is called off, it begins anew as soon as it may.
    async fn work(self, mut work: Work) -> Result<Outcome, HostError> {
        let mut control = self.live.control.subscribe();
        let slots = Arc::clone(&self.live.slots);
        loop {
            if control.wait_for(|control| !control.is_paused).await.is_err() {
                return Err(HostError::Refused("the run is over".to_owned()));
            }
            let Ok(slot) = slots.acquire().await else {
                return Err(HostError::Refused("the run is over".to_owned()));
            };
            let seen = control.borrow_and_update().clone();
            if seen.is_paused {
                continue;
            }
            // Of whoever let it go on, if it was held up or called off.
            ClientGrant { client: work.client, keys: work.keys } = self.live.grant.lock().clone();
            let begun = self.dispatch.run(work.clone(), self.started());
            let done = tokio::select! {
                biased;
                done = begun => done,
                () = self.called_off(&mut control, &seen) => {
                    drop(slot);
                    self.queue();
                    continue;
                }
            };
            // It counts as at work until its result is kept.
            let outcome = self.done(done).await;
            drop(slot);
            return outcome;
        }
    }

    fn started(&self) -> Started {
        let agent = Worker {
            live: Arc::clone(&self.live),
            dispatch: Arc::clone(&self.dispatch),
            current: Arc::clone(&self.current),
            id: self.id.clone(),
            key: self.key.clone(),
        };
        Box::new(move |thread, turn| {
            agent.change(|agent| {
                agent.status = AgentStatus::Running;
                agent.attempt += 1;
                agent.started_at = Some(clock::wall());
                agent.thread = thread.or(agent.thread);
                agent.turn = turn.or(agent.turn);
                Some(RunChange::AgentStarted(Box::new(agent.clone())))
            });
        })
    }

    async fn called_off(&self, control: &mut watch::Receiver<Control>, seen: &Control) {
        let is_off = |control: &Control| {
            control.called_off > seen.called_off
                || control.restarted.get(&self.id) > seen.restarted.get(&self.id)
        };
        if control.wait_for(is_off).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Keeps what came of it, and only then hands it on.
    async fn done(&self, done: Done) -> Result<Outcome, HostError> {
        let status = match done.exit {
            Exit::Completed => AgentStatus::Completed,
            Exit::Timeout => AgentStatus::Timeout,
            Exit::Cancelled => AgentStatus::Cancelled,
            Exit::MaxTurns | Exit::Failed => AgentStatus::Failed,
        };
        let is_good = status == AgentStatus::Completed;
        let mut message = done.message;
        secrets::hide(&mut message);
        truncate(&mut message, MAX_OUTPUT);
        let place = done.kept.as_ref().map(kept_note);
        if let Some(place) = &place {
            message.push_str("\n\n");
            message.push_str(place);
        }
        let error = done.error.map(|error| secrets::hidden(&error).into_owned());
        let error = error.map(|error| match &place {
            Some(place) => format!("{error}. {place}"),
            None => error,
        });
        let now = clock::wall();
        let settle = |agent: &mut RunAgent| {
            agent.status = status;
            agent.thread = done.thread.or(agent.thread);
            agent.turn = done.turn.or(agent.turn);
            agent.model = done.model.clone().or_else(|| agent.model.take());
            agent.usage = done.usage;
            agent.worktree.clone_from(&done.kept);
            agent.exit_reason = Some(done.exit.word().to_owned());
            agent.completed_at = Some(now);
            agent.output_preview = Some(preview(&message)).filter(|text| !text.is_empty());
            agent.error.clone_from(&error);
        };
        let kept = KeptResult {
            key: self.key.clone(),
            agent: self.id.clone(),
            status,
            error: error.clone().filter(|_| !is_good),
            output: is_good.then_some(message.clone()),
            structured: done.structured.clone().filter(|_| is_good),
            usage: done.usage,
            worktree: done.kept.clone(),
            record: self.live.look(|run| run.record_of(&self.id, settle)),
        };
        let (files, run, noted) = (self.live.files.clone(), self.live.id.clone(), kept.clone());
        let written = blocking(move || files.add_result(&run, &noted)).await;
        written.and_then(|kept| kept).map_err(|error| HostError::Store(error.to_string()))?;
        self.change(|agent| {
            settle(agent);
            Some(settled(agent))
        });
        Ok(self.outcome(kept))
    }

    fn outcome(&self, kept: KeptResult) -> Outcome {
        Outcome {
            agent: self.id.clone(),
            end: match kept.status {
                AgentStatus::Completed => AgentEnd::Completed,
                AgentStatus::Timeout => AgentEnd::Timeout,
                AgentStatus::Cancelled => AgentEnd::Cancelled,
                AgentStatus::Failed | AgentStatus::Queued | AgentStatus::Running => {
                    AgentEnd::Failed
                }
            },
            output: kept.output,
            structured: kept.structured,
            error: kept.error,
            usage: kept.usage.map(tokens),
        }
    }
}

/// What is announced of an agent that is over.
pub(super) fn settled(agent: &RunAgent) -> RunChange {
    let shown = Box::new(agent.clone());
    match agent.status {
        AgentStatus::Completed => RunChange::AgentCompleted(shown),
        status => {
            let why = agent.error.clone().unwrap_or_else(|| status.word().to_owned());
            RunChange::AgentFailed(shown, why)
        }
    }
}

/// Where the work of an agent is, as its script reads it.
fn kept_note(kept: &KeptTree) -> String {
    let path = kept.path.display();
    match &kept.branch {
        Some(branch) => format!("[Changes were kept in the worktree {path} on branch {branch}]"),
        None => format!("[Changes were kept in the worktree {path}]"),
    }
}

fn preview(text: &str) -> String {
    beginning(text, PREVIEW)
}

fn tokens(usage: Usage) -> Tokens {
    Tokens { prompt: usage.prompt, completion: usage.completion }
}

fn truncate(text: &mut String, most: usize) {
    text.truncate(text.floor_char_boundary(most));
}
