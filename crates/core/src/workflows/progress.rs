//! What is new of a run for those who follow it: only what changed since they looked. It is kept in memory,
//! for runs that are not over and for the few that came to their end last.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use rookery_model::{RequestId, Result, ThreadId};

use super::room::Entry;
use super::types::{AgentStatus, Run, RunChange, beginning};
use crate::clock;
use crate::rooms::Workflows;

/// Lines of a run that are kept for those who follow it; the oldest makes room.
const LINES: usize = 200;
/// Characters of a line that are kept.
const LINE: usize = 500;
/// Runs that are over whose last lines are still there.
const ENDED: usize = 16;
/// How far up it is looked for whom a thread works.
const DEEPEST: usize = 16;

/// A line that the script of a run logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLine {
    /// Its number among those that this daemon has seen, from 1.
    pub number: u64,
    pub text: String,
}

/// Something that a run waits for a person to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunWaiting {
    pub request: RequestId,
    /// The agent that asks, or for which another one does.
    pub agent: String,
}

/// A run as those see it who follow it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunProgress {
    /// With the phases and agents that changed; with all of them if it is over, or nothing was known of it.
    pub run: Run,
    /// By what the next look says what is known. It grows, and another daemon's fits nothing.
    pub revision: u64,
    /// The lines that are new, as far as they are kept.
    pub lines: Vec<RunLine>,
    /// What it waits for now.
    pub waiting: Vec<RunWaiting>,
}

/// When what is shown of a run changed.
#[derive(Debug)]
pub(super) struct Progress {
    /// The first revision; what is older is not known here.
    base: u64,
    revision: u64,
    agents: HashMap<String, u64>,
    phases: HashMap<String, u64>,
    lines: VecDeque<(u64, RunLine)>,
    last: u64,
}

impl Default for Progress {
    fn default() -> Self {
        // Above all that an earlier daemon gave out.
        let base = u64::try_from(clock::wall().as_micros()).unwrap_or(0);
        Progress {
            base,
            revision: base,
            agents: HashMap::new(),
            phases: HashMap::new(),
            lines: VecDeque::new(),
            last: 0,
        }
    }
}

impl Progress {
    pub(super) fn note(&mut self, changes: &[RunChange]) {
        self.revision += 1;
        // The report is announced as a line as well; who follows gets it with the run.
        let is_end = changes.iter().any(|change| matches!(change, RunChange::Completed(_)));
        for change in changes {
            match change {
                RunChange::AgentQueued(agent)
                | RunChange::AgentStarted(agent)
                | RunChange::AgentCompleted(agent)
                | RunChange::AgentFailed(agent, _) => {
                    self.agents.insert(agent.id.clone(), self.revision);
                }
                RunChange::PhaseStarted(phase) | RunChange::PhaseCompleted(phase) => {
                    self.phases.insert(phase.id.clone(), self.revision);
                }
                RunChange::Output { text, .. } if !is_end => {
                    self.last += 1;
                    let line = RunLine { number: self.last, text: beginning(text, LINE) };
                    self.lines.push_back((self.revision, line));
                    if self.lines.len() > LINES {
                        self.lines.pop_front();
                    }
                }
                _ => {}
            }
        }
    }

    /// Leaves of a run what changed after a revision, and gives the lines that are new.
    fn trim(&self, run: &mut Run, seen: Option<u64>) -> Vec<RunLine> {
        let seen = seen.filter(|seen| (self.base..=self.revision).contains(seen));
        if let Some(seen) = seen.filter(|_| !run.status.is_terminal()) {
            let is_new = |known: &HashMap<String, u64>, id: &str| {
                known.get(id).is_some_and(|changed| *changed > seen)
            };
            run.agents.retain(|agent| is_new(&self.agents, &agent.id));
            run.phases.retain(|phase| is_new(&self.phases, &phase.id));
        }
        let lines = self.lines.iter().filter(|(at, _)| seen.is_none_or(|seen| *at > seen));
        lines.map(|(_, line)| line.clone()).collect()
    }
}

/// The last that is known of runs that are over.
#[derive(Default)]
pub(super) struct Ended(VecDeque<(String, Arc<Mutex<Progress>>)>);

impl Ended {
    pub(super) fn keep(&mut self, run: &str, progress: &Arc<Mutex<Progress>>) {
        self.0.retain(|(known, _)| known != run);
        self.0.push_back((run.to_owned(), Arc::clone(progress)));
        if self.0.len() > ENDED {
            self.0.pop_front();
        }
    }

    fn of(&self, run: &str) -> Option<Arc<Mutex<Progress>>> {
        let found = self.0.iter().find(|(known, _)| known == run);
        found.map(|(_, progress)| Arc::clone(progress))
    }
}

impl Workflows {
    /// What is new of a run since a revision; all of it if none is named.
    ///
    /// # Errors
    /// If there is no such run.
    pub async fn follow(&self, run: &str, seen: Option<u64>) -> Result<RunProgress> {
        if let Entry::Live(live) = self.entry(run).await? {
            let mut waiting = Vec::new();
            let (run, revision, lines) = live.look(|record| {
                let mut run = record.trimmed(false, true);
                waiting = at_work(&run);
                let progress = live.progress.lock();
                let lines = progress.trim(&mut run, seen);
                (run, progress.revision, lines)
            });
            let waiting = self.waiting(&waiting.into_iter().collect());
            return Ok(RunProgress { run, revision, lines, waiting });
        }
        let known = self.room().ended.lock().of(run);
        let mut run = self.read(run).await?.trimmed(false, true);
        let (revision, lines) = match known {
            Some(progress) => {
                let progress = progress.lock();
                let lines = progress.trim(&mut run, seen);
                (progress.revision, lines)
            }
            None => (0, Vec::new()),
        };
        Ok(RunProgress { run, revision, lines, waiting: Vec::new() })
    }

    /// What agents wait for, by their threads: requests of theirs, and of those that work for them.
    fn waiting(&self, agents: &BTreeMap<ThreadId, String>) -> Vec<RunWaiting> {
        let world = self.core.look();
        let lead = |thread: &ThreadId| world.threads.get(thread)?.thread.lead();
        let asked = world.requests.values().filter(|request| !request.is_deferred);
        let found = asked.filter_map(|request| {
            let mut above = std::iter::successors(request.thread(), lead).take(DEEPEST);
            let agent = above.find_map(|thread| agents.get(&thread))?;
            Some(RunWaiting { request: request.id, agent: agent.clone() })
        });
        found.collect()
    }
}

/// The agents at work, by their threads.
fn at_work(run: &Run) -> Vec<(ThreadId, String)> {
    let at_work = run.agents.iter().filter(|agent| agent.status == AgentStatus::Running);
    at_work.filter_map(|agent| Some((agent.thread?, agent.id.clone()))).collect()
}
