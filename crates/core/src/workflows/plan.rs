//! A run is planned: its script is found or written, read, and asked for.

use std::collections::BTreeMap;
use std::path::PathBuf;

use futures_util::future::BoxFuture;
use rookery_agent::providers::Loan;
use rookery_model::{Error, Result, ThreadId, TurnId};
use rookery_scripts::{Form, Limits, Script, built_in};
use serde_json::Value;

use super::types::{
    CostEstimate, Phase, PhaseStatus, Run, RunApproval, RunChange, RunDecision, RunStatus,
    ScriptInfo, ScriptKind,
};
use crate::clock;
use crate::core::blocking;
use crate::rooms::Workflows;
use crate::secrets;

/// Longest prompt, in bytes.
const MAX_PROMPT: usize = 1 << 20;
/// Longest arguments, in bytes.
const MAX_ARGUMENTS: usize = 1 << 20;
/// What is said of a script of which the number of agents is not known.
const UNBOUNDED: &str = "the script decides while it runs how many agents it starts";

/// A run to be planned.
#[derive(Clone, Debug, Default)]
pub struct NewRun {
    /// What is asked for.
    pub prompt: String,
    /// The thread it belongs to.
    pub thread: Option<ThreadId>,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// Where its agents work.
    pub workspace: Option<PathBuf>,
    /// What the script is given.
    pub arguments: Value,
    /// The text of the script.
    pub script: Option<String>,
    /// The name of a script that was saved.
    pub name: Option<String>,
    /// Its id, instead or as well.
    pub script_id: Option<String>,
    /// Where it has to come from, if that is said.
    pub kind: Option<ScriptKind>,
    /// Limits that lower those of the settings and of the script; as scripts write them.
    pub limits: Option<Value>,
    /// The connection of the client.
    pub client: Option<u64>,
    /// Keys that the client lends.
    pub keys: Vec<Loan>,
}

/// A run that was planned.
#[derive(Clone, Debug)]
pub struct Planned {
    pub run: Run,
    /// Whether it waits for approval; else it starts.
    pub needs_approval: bool,
}

impl Workflows {
    /// Plans a run. No agent is started unless the script has a consent, or none is needed.
    ///
    /// # Errors
    /// If a part of the request is wrong, or the script is; nothing has happened then.
    pub async fn plan(&self, new: NewRun) -> Result<Planned> {
        let run = self.draft(&new, format!("workflow-{}", uuid::Uuid::now_v7())).await?;
        let consent = self.consent_for(&run).await;
        self.make_room().await?;
        let needs_approval = self.settings().requires_approval && consent.is_none();
        let live = self.add_live(run, new.client, new.keys);
        let drafted = live.decide(|run, changes| {
            changes.push(RunChange::Drafted(Box::new(run.trimmed(false, false))));
            Ok(())
        });
        if let Err(error) = drafted.await {
            self.forget(&live.id);
            return Err(error);
        }
        if needs_approval {
            if let Err(error) = self.ask(&live).await {
                self.forget(&live.id);
                return Err(error);
            }
            return Ok(Planned { run: live.run(), needs_approval });
        }
        let decision = match consent {
            Some(_) => RunDecision::AlwaysForScriptAndWorkspace,
            None => RunDecision::RunOnce,
        };
        self.carry_out(&live, decision, Some(consent.unwrap_or(UNASKED).to_owned())).await?;
        Ok(Planned { run: live.run(), needs_approval })
    }

    /// Finds and reads a script and checks all of the request, and leaves it at that: nothing is kept, asked
    /// for or started.
    ///
    /// # Errors
    /// As for [`Workflows::plan`].
    pub async fn preview(&self, new: &NewRun) -> Result<Planned> {
        let run = self.draft(new, PREVIEW.to_owned()).await?;
        let is_free = !self.settings().requires_approval || self.consent_for(&run).await.is_some();
        Ok(Planned { run, needs_approval: !is_free })
    }

    /// Finds and reads the script, and checks all of the request.
    pub(super) fn draft<'a>(&'a self, new: &'a NewRun, id: String) -> BoxFuture<'a, Result<Run>> {
        Box::pin(self.draft_inner(new, id))
    }

    async fn draft_inner(&self, new: &NewRun, id: String) -> Result<Run> {
        self.ensure_enabled()?;
        self.restored().await;
        check(new)?;
        let workspace = self.workspace_of(new)?;
        let found = self.source_of(new, &workspace).await?;
        let source = found.body.clone().unwrap_or_default();
        let arguments = new.arguments.clone();
        let script = blocking(move || {
            let script = Script::read(&source).map_err(|error| Error::failed(error.to_string()))?;
            script.check_arguments(&arguments).map_err(|why| {
                Error::invalid("arguments", format!("arguments do not fit: {why}"))
            })?;
            Ok::<_, Error>(script)
        });
        let script = script.await??;
        let limits = self.limits_for(&script)?.lowered(new.limits.as_ref());
        let limits = limits.map_err(|error| Error::invalid("limits", error.message))?;
        let nested = self.nested_of(&script, &new.arguments, &workspace).await?;
        let cost = cost(found.kind, &limits);
        let phases = declared(&script);
        let now = clock::wall();
        Ok(Run {
            id,
            thread: new.thread,
            turn: new.turn,
            script: ScriptInfo { limits, ..found },
            status: RunStatus::AwaitingApproval,
            reason: None,
            limits,
            phases,
            agents: Vec::new(),
            approval: None,
            nested,
            cost,
            error: None,
            report: None,
            workspace: Some(workspace),
            prompt: secrets::hidden(&new.prompt).into_owned(),
            arguments: new.arguments.clone(),
            concurrency_peak: 0,
            lines: 0,
            created_at: now,
            updated_at: now,
            started_at: None,
            completed_at: None,
        })
    }

    /// The saved scripts that a script may run: those whose names it or its arguments have. They are
    /// approved with it, and no other is run.
    async fn nested_of(
        &self,
        script: &Script,
        arguments: &Value,
        workspace: &std::path::Path,
    ) -> Result<BTreeMap<String, String>> {
        if script.form != Form::Bare || !script.source.contains("workflow") {
            return Ok(BTreeMap::new());
        }
        let arguments = arguments.to_string();
        let is_named = |name: &str| script.source.contains(name) || arguments.contains(name);
        let all = self.all(Some(workspace.to_owned())).await?;
        let mut nested = BTreeMap::new();
        for other in all.into_iter().filter(|it| it.name != script.name && is_named(&it.name)) {
            // The first of a name is the one that is run.
            nested.entry(other.name).or_insert(other.hash);
        }
        Ok(nested)
    }

    /// The limits that hold for a script.
    pub(super) fn limits_for(&self, script: &Script) -> Result<Limits> {
        let limits = self.limits().lowered(script.limits.as_ref());
        limits.map_err(|error| Error::failed(error.to_string()))
    }

    fn workspace_of(&self, new: &NewRun) -> Result<PathBuf> {
        let thread = match new.thread {
            Some(id) => {
                let seen = self.core.threads().get(id);
                Some(seen.ok_or_else(|| Error::not_found(format!("no thread {id}")))?.thread)
            }
            None => None,
        };
        match (&new.workspace, thread) {
            (Some(path), _) if !path.is_absolute() => {
                Err(Error::invalid("workspace", "workspace must be an absolute path"))
            }
            (Some(path), _) => Ok(path.clone()),
            (None, Some(thread)) => Ok(thread.cwd),
            (None, None) => Ok(self.core.agents().cwd()),
        }
    }

    async fn source_of(&self, new: &NewRun, workspace: &std::path::Path) -> Result<ScriptInfo> {
        let (id, name) = (new.script_id.as_deref(), new.name.as_deref());
        let text = match (&new.script, id.or(name)) {
            (Some(_), Some(_)) => {
                return Err(Error::invalid("script", "give script or name, not both"));
            }
            (None, Some(_)) => {
                return self.script(id, name, new.kind, Some(workspace.to_owned())).await;
            }
            (Some(text), None) => text.clone(),
            (None, None) => match self.authored(new).await {
                Some(text) => text,
                None => built_in::single_agent(&new.prompt),
            },
        };
        let read = text.clone();
        let script = blocking(move || Script::read(&read)).await?;
        let script = script.map_err(|error| Error::failed(error.to_string()))?;
        let now = clock::wall();
        let kind = ScriptKind::Generated;
        let id = format!("generated:{}", &script.hash[..16]);
        let limits = self.limits_for(&script)?;
        Ok(super::library::info(id, kind, None, script, limits, (now, now)))
    }

    pub(super) fn forget(&self, run: &str) {
        let files = self.room().files.clone();
        self.remove_entry(run);
        let run = run.to_owned();
        self.core.inner.runtime.spawn_blocking(move || files.remove(&run));
    }
}

/// The id of a run that is only looked at.
const PREVIEW: &str = "preview";
/// Why a run starts without being asked for.
const UNASKED: &str = "the settings ask for no approval";

fn check(new: &NewRun) -> Result<()> {
    if new.prompt.trim().is_empty() {
        return Err(Error::invalid("prompt", "prompt must not be blank"));
    }
    if new.prompt.len() > MAX_PROMPT {
        return Err(Error::invalid("prompt", format!("prompt is longer than {MAX_PROMPT} bytes")));
    }
    if new.arguments.to_string().len() > MAX_ARGUMENTS {
        let message = format!("arguments are longer than {MAX_ARGUMENTS} bytes");
        return Err(Error::invalid("arguments", message));
    }
    if new.turn.is_some() && new.thread.is_none() {
        return Err(Error::invalid("turn_id", "turn_id needs thread_id"));
    }
    Ok(())
}

fn cost(kind: ScriptKind, limits: &Limits) -> CostEstimate {
    // Only what we wrote ourselves can be shown to start fewer agents than it may.
    if kind == ScriptKind::Generated && limits.max_agents_per_run == 1 {
        return CostEstimate { min_agents: 0, max_agents: 1, warning: None };
    }
    CostEstimate {
        min_agents: 0,
        max_agents: limits.max_agents_per_run,
        warning: Some(UNBOUNDED.to_owned()),
    }
}

fn declared(script: &Script) -> Vec<Phase> {
    let phases = (1..).zip(&script.phases).map(|(number, phase): (usize, _)| Phase {
        id: format!("phase-{number}"),
        name: phase.title.clone(),
        status: PhaseStatus::Queued,
        description: phase.detail.clone(),
        queued_agents: 0,
        completed_agents: 0,
        failed_agents: 0,
        started_at: None,
        completed_at: None,
    });
    phases.collect()
}

impl RunApproval {
    pub(super) fn of(run: &Run, decision: RunDecision, reason: Option<String>) -> RunApproval {
        RunApproval {
            run: run.id.clone(),
            script_hash: run.script.hash.clone(),
            workspace: run.workspace.clone(),
            decision,
            reason,
            decided_at: clock::wall(),
        }
    }
}
