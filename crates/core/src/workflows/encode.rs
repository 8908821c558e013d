//! Runs, results and consents as their files have them: JSON, written and read here alone.
//!
//! What cannot be read is none; the file is then moved aside by whoever reads it.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use rookery_model::{Timestamp, Usage};
use rookery_scripts::{LaunchKey, Limits};
use serde_json::{Map, Value, json};

use super::types::{
    AgentStatus, CostEstimate, Phase, PhaseStatus, Run, RunAgent, RunApproval, RunDecision,
    RunStatus, ScriptInfo, ScriptKind,
};
use crate::worktrees::KeptTree;

/// A word for each value, in both directions.
macro_rules! words {
    ($Type:ident: $($Variant:ident = $word:literal),* $(,)?) => {
        impl $Type {
            /// Its word in our own files.
            pub fn word(self) -> &'static str {
                match self {
                    $($Type::$Variant => $word,)*
                }
            }

            /// What a word stands for.
            pub fn from_word(word: &str) -> Option<$Type> {
                match word {
                    $($word => Some($Type::$Variant),)*
                    _ => None,
                }
            }
        }
    };
}

words!(ScriptKind: Generated = "generated", BuiltIn = "built_in", User = "user", Workspace = "workspace");
words!(RunStatus: AwaitingApproval = "awaiting_approval", Queued = "queued", Running = "running",
    Paused = "paused", Completed = "completed", Failed = "failed", Stopped = "stopped");
words!(PhaseStatus: Queued = "queued", Running = "running", Completed = "completed",
    Failed = "failed", Skipped = "skipped");
words!(AgentStatus: Queued = "queued", Running = "running", Completed = "completed",
    Failed = "failed", Timeout = "timeout", Cancelled = "cancelled");
words!(RunDecision: RunOnce = "run_once",
    AlwaysForScriptAndWorkspace = "always_for_script_and_workspace", Deny = "deny");

/// A result that was kept: what a script gets again without asking.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KeptResult {
    pub(crate) key: LaunchKey,
    pub(crate) agent: String,
    pub(crate) output: Option<String>,
    pub(crate) structured: Option<Value>,
    pub(crate) usage: Option<Usage>,
    pub(crate) worktree: Option<KeptTree>,
}

/// What was said once and for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Consent {
    pub(crate) script_hash: String,
    /// The scripts that it may run, by name and hash.
    pub(crate) nested: BTreeMap<String, String>,
    pub(crate) workspace: Option<PathBuf>,
    pub(crate) path: Option<PathBuf>,
    pub(crate) decided_at: Timestamp,
    pub(crate) expires_at: Option<Timestamp>,
}

/// Reads members of an object.
struct Members<'a>(&'a Map<String, Value>);

impl<'a> Members<'a> {
    fn of(value: &'a Value) -> Option<Members<'a>> {
        value.as_object().map(Members)
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.as_str().map(str::to_owned)
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.as_u64()
    }

    fn small(&self, name: &str) -> Option<u32> {
        u32::try_from(self.number(name)?).ok()
    }

    fn time(&self, name: &str) -> Option<Timestamp> {
        self.get(name)?.as_i64().map(Timestamp::from_micros)
    }

    fn parsed<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.as_str()?.parse().ok()
    }
}

fn time(time: Timestamp) -> Value {
    time.as_micros().into()
}

fn path(path: &Option<PathBuf>) -> Value {
    path.as_ref().map(|path| path.to_string_lossy().into_owned()).into()
}

fn limits(limits: &Limits) -> Value {
    limits.values().to_vec().into()
}

fn read_limits(value: &Value) -> Option<Limits> {
    let values: Option<Vec<u64>> = value.as_array()?.iter().map(Value::as_u64).collect();
    values?.try_into().ok().map(Limits::from_values)
}

fn usage(usage: &Usage) -> Value {
    json!([usage.prompt, usage.completion, usage.cached, usage.cache_creation])
}

fn read_usage(value: &Value) -> Option<Usage> {
    let at = |place: usize| value.get(place)?.as_u64();
    Some(Usage { prompt: at(0)?, completion: at(1)?, cached: at(2)?, cache_creation: at(3)? })
}

fn worktree(tree: &KeptTree) -> Value {
    json!({"path": tree.path.to_string_lossy(), "branch": tree.branch})
}

fn read_worktree(value: &Value) -> Option<KeptTree> {
    let members = Members::of(value)?;
    Some(KeptTree { path: members.path("path")?, branch: members.text("branch") })
}

fn read_nested(value: Option<&Value>) -> BTreeMap<String, String> {
    let members = value.and_then(Value::as_object).into_iter().flatten();
    members.filter_map(|(name, hash)| Some((name.clone(), hash.as_str()?.to_owned()))).collect()
}

fn key(key: &LaunchKey) -> Value {
    json!({
        "occurrence": key.occurrence,
        "prompt_hash": key.prompt_hash,
        "model": key.model,
        "lane": key.lane,
        "schema_hash": key.schema_hash,
    })
}

fn read_key(value: &Value) -> Option<LaunchKey> {
    let members = Members::of(value)?;
    Some(LaunchKey {
        occurrence: members.small("occurrence")?,
        prompt_hash: members.text("prompt_hash")?,
        model: members.text("model"),
        lane: members.text("lane"),
        schema_hash: members.text("schema_hash"),
    })
}

impl KeptResult {
    /// One line of the journal.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "key": key(&self.key),
            "agent_id": self.agent,
            "output": self.output,
            "structured": self.structured,
            "usage": self.usage.as_ref().map(usage),
            "worktree": self.worktree.as_ref().map(worktree),
        })
    }

    pub(super) fn from_json(value: &Value) -> Option<KeptResult> {
        let members = Members::of(value)?;
        Some(KeptResult {
            key: read_key(members.get("key")?)?,
            agent: members.text("agent_id")?,
            output: members.text("output"),
            structured: members.get("structured").cloned(),
            usage: members.get("usage").and_then(read_usage),
            worktree: members.get("worktree").and_then(read_worktree),
        })
    }
}

impl Consent {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "script_hash": self.script_hash,
            "nested": self.nested,
            "workspace": path(&self.workspace),
            "source_path": path(&self.path),
            "approved_capabilities": ["child_agents"],
            "decided_at": time(self.decided_at),
            "expires_at": self.expires_at.map(time),
        })
    }

    pub(super) fn from_json(value: &Value) -> Option<Consent> {
        let members = Members::of(value)?;
        Some(Consent {
            script_hash: members.text("script_hash")?,
            nested: read_nested(members.get("nested")),
            workspace: members.path("workspace"),
            path: members.path("source_path"),
            decided_at: members.time("decided_at")?,
            expires_at: members.time("expires_at"),
        })
    }
}

fn script(script: &ScriptInfo) -> Value {
    json!({
        "script_id": script.id,
        "name": script.name,
        "description": script.description,
        "kind": script.kind.word(),
        "path": path(&script.path),
        "hash": script.hash,
        "arguments_schema": script.arguments_schema,
        "body": script.body,
        "limits": limits(&script.limits),
        "created_at": time(script.created_at),
        "updated_at": time(script.updated_at),
    })
}

fn read_script(value: &Value) -> Option<ScriptInfo> {
    let members = Members::of(value)?;
    Some(ScriptInfo {
        id: members.text("script_id")?,
        name: members.text("name")?,
        description: members.text("description"),
        kind: ScriptKind::from_word(&members.text("kind")?)?,
        path: members.path("path"),
        hash: members.text("hash")?,
        arguments_schema: members.get("arguments_schema").cloned(),
        body: members.text("body"),
        limits: read_limits(members.get("limits")?)?,
        created_at: members.time("created_at")?,
        updated_at: members.time("updated_at")?,
    })
}

fn phase(phase: &Phase) -> Value {
    json!({
        "phase_id": phase.id,
        "name": phase.name,
        "status": phase.status.word(),
        "description": phase.description,
        "started_at": phase.started_at.map(time),
        "completed_at": phase.completed_at.map(time),
    })
}

fn read_phase(value: &Value) -> Option<Phase> {
    let members = Members::of(value)?;
    Some(Phase {
        id: members.text("phase_id")?,
        name: members.text("name")?,
        status: PhaseStatus::from_word(&members.text("status")?)?,
        description: members.text("description"),
        queued_agents: 0,
        completed_agents: 0,
        failed_agents: 0,
        started_at: members.time("started_at"),
        completed_at: members.time("completed_at"),
    })
}

fn agent(agent: &RunAgent) -> Value {
    json!({
        "agent_id": agent.id,
        "key": key(&agent.key),
        "phase_id": agent.phase,
        "description": agent.description,
        "label": agent.label,
        "status": agent.status.word(),
        "lane": agent.lane,
        "model": agent.model,
        "thread_id": agent.thread.map(|thread| thread.to_string()),
        "turn_id": agent.turn.map(|turn| turn.to_string()),
        "usage": agent.usage.as_ref().map(usage),
        "exit_reason": agent.exit_reason,
        "error": agent.error,
        "output_preview": agent.output_preview,
        "cached": agent.is_cached,
        "attempt": agent.attempt,
        "worktree": agent.worktree.as_ref().map(worktree),
        "started_at": agent.started_at.map(time),
        "completed_at": agent.completed_at.map(time),
    })
}

fn read_agent(value: &Value) -> Option<RunAgent> {
    let members = Members::of(value)?;
    Some(RunAgent {
        id: members.text("agent_id")?,
        key: read_key(members.get("key")?)?,
        phase: members.text("phase_id")?,
        description: members.text("description")?,
        label: members.text("label"),
        status: AgentStatus::from_word(&members.text("status")?)?,
        lane: members.text("lane"),
        model: members.text("model"),
        thread: members.parsed("thread_id"),
        turn: members.parsed("turn_id"),
        usage: members.get("usage").and_then(read_usage),
        exit_reason: members.text("exit_reason"),
        error: members.text("error"),
        output_preview: members.text("output_preview"),
        is_cached: members.get("cached").and_then(Value::as_bool).unwrap_or(false),
        attempt: members.small("attempt")?,
        worktree: members.get("worktree").and_then(read_worktree),
        started_at: members.time("started_at"),
        completed_at: members.time("completed_at"),
    })
}

fn approval(approval: &RunApproval) -> Value {
    json!({
        "script_hash": approval.script_hash,
        "workspace": path(&approval.workspace),
        "decision": approval.decision.word(),
        "reason": approval.reason,
        "decided_at": time(approval.decided_at),
    })
}

fn read_approval(run: &str, value: &Value) -> Option<RunApproval> {
    let members = Members::of(value)?;
    Some(RunApproval {
        run: run.to_owned(),
        script_hash: members.text("script_hash")?,
        workspace: members.path("workspace"),
        decision: RunDecision::from_word(&members.text("decision")?)?,
        reason: members.text("reason"),
        decided_at: members.time("decided_at")?,
    })
}

impl Run {
    /// The whole record.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "version": 1,
            "run_id": self.id,
            "thread_id": self.thread.map(|thread| thread.to_string()),
            "turn_id": self.turn.map(|turn| turn.to_string()),
            "script": script(&self.script),
            "status": self.status.word(),
            "reason": self.reason,
            "limits": limits(&self.limits),
            "phases": self.phases.iter().map(phase).collect::<Vec<_>>(),
            "agents": self.agents.iter().map(agent).collect::<Vec<_>>(),
            "approval": self.approval.as_ref().map(approval),
            "cost": [self.cost.min_agents, self.cost.max_agents],
            "cost_warning": self.cost.warning,
            "nested": self.nested,
            "error": self.error,
            "report": self.report,
            "workspace": path(&self.workspace),
            "prompt": self.prompt,
            "arguments": self.arguments,
            "concurrency_peak": self.concurrency_peak,
            "lines": self.lines,
            "created_at": time(self.created_at),
            "updated_at": time(self.updated_at),
            "started_at": self.started_at.map(time),
            "completed_at": self.completed_at.map(time),
        })
    }

    pub(super) fn from_json(value: &Value) -> Option<Run> {
        let members = Members::of(value)?;
        let id = members.text("run_id")?;
        let list = |name: &str| members.get(name).and_then(Value::as_array).map(Vec::as_slice);
        let phases: Option<Vec<Phase>> = list("phases")?.iter().map(read_phase).collect();
        let agents: Option<Vec<RunAgent>> = list("agents")?.iter().map(read_agent).collect();
        let cost =
            |at: usize| list("cost")?.get(at)?.as_u64().and_then(|it| u32::try_from(it).ok());
        let mut run = Run {
            thread: members.parsed("thread_id"),
            turn: members.parsed("turn_id"),
            script: read_script(members.get("script")?)?,
            status: RunStatus::from_word(&members.text("status")?)?,
            reason: members.text("reason"),
            limits: read_limits(members.get("limits")?)?,
            phases: phases?,
            agents: agents?,
            approval: members.get("approval").and_then(|it| read_approval(&id, it)),
            cost: CostEstimate {
                min_agents: cost(0)?,
                max_agents: cost(1)?,
                warning: members.text("cost_warning"),
            },
            nested: read_nested(members.get("nested")),
            error: members.text("error"),
            report: members.text("report"),
            workspace: members.path("workspace"),
            prompt: members.text("prompt").unwrap_or_default(),
            arguments: members.0.get("arguments").cloned().unwrap_or_default(),
            concurrency_peak: members.small("concurrency_peak").unwrap_or(0),
            lines: members.small("lines").unwrap_or(0),
            created_at: members.time("created_at")?,
            updated_at: members.time("updated_at")?,
            started_at: members.time("started_at"),
            completed_at: members.time("completed_at"),
            id,
        };
        run.count_phases();
        Some(run)
    }

    /// Counts the agents of each phase anew, in one pass: there may be a thousand of both.
    pub(super) fn count_phases(&mut self) {
        let mut counts: HashMap<&str, [u32; 3]> = HashMap::new();
        for agent in &self.agents {
            let at = match agent.status {
                status if !status.is_over() => 0,
                AgentStatus::Completed => 1,
                _ => 2,
            };
            counts.entry(agent.phase.as_str()).or_default()[at] += 1;
        }
        for phase in &mut self.phases {
            let counted = counts.get(phase.id.as_str()).copied().unwrap_or_default();
            [phase.queued_agents, phase.completed_agents, phase.failed_agents] = counted;
        }
    }
}
